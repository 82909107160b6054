/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs that nvcc compiled call of the CUDA runtime, on the software GPU: as much of it as
 * the algorithms of tests/sim/foreign need. A program that is linked with this in place of the
 * vendor's runtime (`nvcc -cudart none`) runs its kernels, launched by its own host code, on the
 * device that SIM_DEVICE names.
 *
 * The shapes of the functions are those that the compiler's host code calls [measured: undefined
 * symbols and calls of objects of nvcc 13.0; public: CUDA runtime API]. Errors end the program: a
 * test wants to know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>
#include <warpscope/sim.h>

enum { MAX_FUNCTIONS = 4096, MAX_MODULES = 64, MAX_PARAMS = 256 };
enum { EARLY_START = 6 }; /* cudaLaunchAttributeProgrammaticStreamSerialization */
enum { TO_HOST = 2, ON_DEVICE = 3, DEFAULT_WAY = 4, INVALID_VALUE = 1 };

struct fatbin {
	uint32_t magic, version;
	const uint8_t *data;
	void *more;
};

struct function {
	const void *host;
	const char *name;
	uint32_t module;
	size_t n_params;
	struct ws_function function;
};

struct configuration {
	struct ws_dim3 grid, block;
	size_t shared;
	void *stream;
};

static struct ws_sim *sim;
static struct function functions[MAX_FUNCTIONS];
static size_t n_functions;
static struct ws_cubin *cubins[MAX_MODULES];
static uint32_t numbers[MAX_MODULES], n_modules;
static struct configuration pushed;

static void must(enum ws_status st, const struct ws_error *err, const char *what)
{
	if (st == WS_OK)
		return;
	printf("# %s: %s\n", what, err->message);
	exit(1);
}

/* ---- registration ---- */

void **__cudaRegisterFatBinary(const struct fatbin *fatbin);
void **__cudaRegisterFatBinary(const struct fatbin *fatbin)
{
	struct ws_error err;
	struct ws_span image;
	uint64_t bytes;
	const char *seed = getenv("SIM_SEED");
	struct ws_sim_options options = { .size = sizeof options,
					  .device = getenv("SIM_DEVICE"),
					  .seed = seed ? strtoull(seed, NULL, 0) : 0,
					  .schedule = seed ? WS_SIM_RANDOM : WS_SIM_ROUND_ROBIN };
	uint32_t *number = &numbers[n_modules];
	if (!sim)
		must(ws_sim_create(&options, &sim, &err), &err, "device");
	memcpy(&bytes, fatbin->data + 8, sizeof bytes);
	must(ws_sim_load(sim, (struct ws_span){ fatbin->data, bytes + 16, 0 }, number, &err), &err,
	     "load");
	must(ws_sim_module_image(sim, *number, &image, &err), &err, "image");
	must(ws_cubin_open(image, &cubins[n_modules++], &err), &err, "cubin");
	return (void **)number;
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
	while (n_modules > 0)
		ws_cubin_close(cubins[--n_modules]);
	ws_sim_destroy(sim);
	sim = NULL;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		       size_t size, int constant, int global);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		       size_t size, int constant, int global)
{
	(void)handle, (void)host, (void)device, (void)name;
	(void)ext, (void)size, (void)constant, (void)global;
}

void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *size);
void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name,
			    int limit, void *tid, void *bid, void *block, void *grid, int *size)
{
	const struct ws_function *function;
	struct ws_function_info info;
	struct ws_error err;
	uint32_t module = *(uint32_t *)(void *)handle;
	(void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
	if (n_functions == MAX_FUNCTIONS ||
	    ws_cubin_find_function(cubins[module], ws_str_of(name), &function, &err) != WS_OK)
		return;
	must(ws_cubin_function_info(cubins[module], function, &info, NULL, 0, NULL, 0, &err), &err,
	     name);
	functions[n_functions++] = (struct function){ .host = host,
						      .name = name,
						      .module = module,
						      .n_params = info.n_params,
						      .function = *function };
}

/* ---- launches ---- */

static const struct function *find(const void *host)
{
	for (size_t i = 0; i < n_functions; i++)
		if (functions[i].host == host)
			return &functions[i];
	printf("# a kernel that was not registered\n");
	exit(1);
}

unsigned __cudaPushCallConfiguration(struct ws_dim3 grid, struct ws_dim3 block, size_t shared,
				     void *stream);
unsigned __cudaPushCallConfiguration(struct ws_dim3 grid, struct ws_dim3 block, size_t shared,
				     void *stream)
{
	pushed = (struct configuration){ grid, block, shared, stream };
	return 0;
}

int __cudaPopCallConfiguration(struct ws_dim3 *grid, struct ws_dim3 *block, size_t *shared,
			       void *stream);
int __cudaPopCallConfiguration(struct ws_dim3 *grid, struct ws_dim3 *block, size_t *shared,
			       void *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	memcpy(stream, &pushed.stream, sizeof pushed.stream);
	return 0;
}

int __cudaGetKernel(const void **ret_kernel, const void *host);
int __cudaGetKernel(const void **ret_kernel, const void *host)
{
	*ret_kernel = host;
	return 0;
}

int cudaDeviceSynchronize(void);
int cudaDeviceSynchronize(void)
{
	enum ws_sim_outcome outcome;
	struct ws_sim_fault fault;
	struct ws_error err;
	must(ws_sim_run(sim, 0, &outcome, &err), &err, "run");
	if (outcome == WS_SIM_DONE)
		return 0;
	if (ws_sim_fault(sim, &fault))
		printf("# exception 0x%x at 0x%llx: %s\n", fault.exception,
		       (unsigned long long)fault.error_pc, fault.text);
	printf("# the device stopped: outcome %d\n", (int)outcome);
	exit(1);
}

int __cudaLaunchKernel(const void *host, struct ws_dim3 grid, struct ws_dim3 block, void **args,
		       size_t shared, void *stream);
int __cudaLaunchKernel(const void *host, struct ws_dim3 grid, struct ws_dim3 block, void **args,
		       size_t shared, void *stream)
{
	const struct function *function = find(host);
	struct ws_error err;
	struct ws_sim_launch launch = { .size = sizeof launch,
					.module = function->module,
					.kernel = function->name,
					.grid = grid,
					.block = block,
					.shared_bytes = (uint32_t)shared,
					.args = (const void *const *)args,
					.n_args = function->n_params };
	(void)stream;
	must(ws_sim_launch(sim, &launch, &err), &err, function->name);
	return cudaDeviceSynchronize();
}

int cudaLaunchKernel(const void *host, struct ws_dim3 grid, struct ws_dim3 block, void **args,
		     size_t shared, void *stream);
int cudaLaunchKernel(const void *host, struct ws_dim3 grid, struct ws_dim3 block, void **args,
		     size_t shared, void *stream)
{
	return __cudaLaunchKernel(host, grid, block, args, shared, stream);
}

/* struct cudaLaunchConfig_t; an attribute is a number and a value of 64 bytes. */
struct config {
	struct ws_dim3 grid, block;
	size_t shared;
	void *stream;
	const uint64_t (*attributes)[9];
	unsigned n_attributes;
};

int cudaLaunchKernelExC(const struct config *config, const void *host, void **args);
int cudaLaunchKernelExC(const struct config *config, const void *host, void **args)
{
	for (unsigned i = 0; i < config->n_attributes; i++) {
		unsigned attribute = (unsigned)config->attributes[i][0];
		if (attribute == EARLY_START) /* grids run one after the other */
			continue;
		printf("# attribute %u of a launch is not known here\n", attribute);
		exit(1);
	}
	return __cudaLaunchKernel(host, config->grid, config->block, args, config->shared,
				  config->stream);
}

/* ---- memory ---- */

int cudaMalloc(void **ret_at, size_t bytes);
int cudaMalloc(void **ret_at, size_t bytes)
{
	struct ws_error err;
	uint64_t address;
	must(ws_sim_alloc(sim, bytes ? bytes : 1, &address, &err), &err, "cudaMalloc");
	memcpy(ret_at, &address, sizeof address);
	return 0;
}

int cudaFree(void *at);
int cudaFree(void *at)
{
	struct ws_error err;
	must(ws_sim_free(sim, (uint64_t)(uintptr_t)at, &err), &err, "cudaFree");
	return 0;
}

int cudaMemcpy(void *to, const void *from, size_t n, int way);
int cudaMemcpy(void *to, const void *from, size_t n, int way)
{
	struct ws_error err;
	uint64_t target = (uint64_t)(uintptr_t)to, source = (uint64_t)(uintptr_t)from;
	void *between = malloc(n + 1);
	if (way == DEFAULT_WAY || !between)
		return INVALID_VALUE;
	if (n > 0 && way >= TO_HOST)
		must(ws_sim_read(sim, source, between, n, &err), &err, "cudaMemcpy");
	else
		memcpy(between, from, n);
	if (n > 0 && way != TO_HOST)
		must(ws_sim_write(sim, target, between, n, &err), &err, "cudaMemcpy");
	else
		memcpy(to, between, n);
	free(between);
	return 0;
}

int cudaMemcpyAsync(void *to, const void *from, size_t n, int way, void *stream);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int way, void *stream)
{
	(void)stream;
	return cudaMemcpy(to, from, n, way);
}

int cudaMemset(void *at, int value, size_t n);
int cudaMemset(void *at, int value, size_t n)
{
	struct ws_error err;
	void *bytes = malloc(n + 1);
	if (!bytes)
		return INVALID_VALUE;
	memset(bytes, value, n);
	if (n > 0)
		must(ws_sim_write(sim, (uint64_t)(uintptr_t)at, bytes, n, &err), &err,
		     "cudaMemset");
	free(bytes);
	return 0;
}

int cudaMemsetAsync(void *at, int value, size_t n, void *stream);
int cudaMemsetAsync(void *at, int value, size_t n, void *stream)
{
	(void)stream;
	return cudaMemset(at, value, n);
}

int cudaStreamSynchronize(void *stream);
int cudaStreamSynchronize(void *stream)
{
	(void)stream;
	return 0; /* launches have come to their end */
}

/* ---- questions ---- */

const char *cudaGetErrorName(int error);
const char *cudaGetErrorName(int error)
{
	return error ? "an error" : "cudaSuccess";
}

const char *cudaGetErrorString(int error);
const char *cudaGetErrorString(int error)
{
	return cudaGetErrorName(error);
}

int cudaGetLastError(void);
int cudaGetLastError(void)
{
	return 0;
}

int cudaPeekAtLastError(void);
int cudaPeekAtLastError(void)
{
	return 0;
}

int cudaGetDevice(int *ret);
int cudaGetDevice(int *ret)
{
	*ret = 0;
	return 0;
}

int cudaSetDevice(int device);
int cudaSetDevice(int device)
{
	return device == 0 ? 0 : INVALID_VALUE;
}

int cudaGetDeviceCount(int *ret);
int cudaGetDeviceCount(int *ret)
{
	*ret = 1;
	return 0;
}

/* Numbers of cudaDeviceAttr. */
int cudaDeviceGetAttribute(int *ret, int attribute, int device);
int cudaDeviceGetAttribute(int *ret, int attribute, int device)
{
	int sm = atoi(getenv("SIM_DEVICE") + 3);
	(void)device;
	switch (attribute) {
	case 1: /* threads of a block */
		*ret = 1024;
		return 0;
	case 5: /* x of a grid */
		*ret = 0x7fffffff;
		return 0;
	case 8: /* shared memory of a block */
		*ret = 48 * 1024;
		return 0;
	case 10: /* lanes */
		*ret = 32;
		return 0;
	case 16: /* multiprocessors */
		*ret = 16;
		return 0;
	case 75:
		*ret = sm / 10;
		return 0;
	case 76:
		*ret = sm % 10;
		return 0;
	default:
		printf("# attribute %d is not known here\n", attribute);
		return INVALID_VALUE;
	}
}

/* The beginning of struct cudaFuncAttributes. */
struct attributes {
	size_t shared, constant, local;
	int max_threads, n_regs, ptx_version, binary_version;
};

int cudaFuncGetAttributes(struct attributes *ret, const void *host);
int cudaFuncGetAttributes(struct attributes *ret, const void *host)
{
	int sm = atoi(getenv("SIM_DEVICE") + 3);
	const struct function *function = find(host);
	*ret = (struct attributes){ .max_threads = 1024,
				    .n_regs = (int)function->function.n_regs,
				    .ptx_version = sm,
				    .binary_version = sm };
	return 0;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret, const void *host, int threads,
							   size_t shared, unsigned flags);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret, const void *host, int threads,
							   size_t shared, unsigned flags)
{
	(void)host, (void)shared, (void)flags;
	*ret = threads > 512 ? 1 : 2;
	return 0;
}
