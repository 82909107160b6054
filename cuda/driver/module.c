/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries, kernels, variables. A library is a module; a kernel is a function. */
#define _GNU_SOURCE /* memmem */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	USUAL_SHARED = 48 * 1024,       /* dynamic shared memory without opting in */
	FATBIN_MAGIC = (int)0xba55ed50, /* [public: many readers of the format] */
	WRAPPER_MAGIC = 0x466243b1,
	EAGER_LOADING = 1,
	LAZY_LOADING = 2,
};

/* ---- how long an image is: callers give a pointer only ---- */

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t n_bytes; /* behind the header */
};

struct fatbin_wrapper {
	uint32_t magic, version;
	const void *image, *more;
};

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A number of a file's header, little-endian. */
static uint64_t header_number(const uint8_t *at, unsigned n_bytes)
{
	uint64_t value = 0;
	memcpy(&value, at, n_bytes);
	return value;
}

enum { ELF_BYTES = 64, SECTION_BYTES = 64, SECTION_NOBITS = 8 };

/* To the end of what the headers of an ELF file tell of. */
static uint64_t elf_bytes(const uint8_t *image)
{
	uint64_t programs = header_number(image + 32, 8), sections = header_number(image + 40, 8);
	uint64_t n_sections = header_number(image + 60, 2), size = header_number(image + 58, 2);
	uint64_t end = max(sections + n_sections * size,
			   programs + header_number(image + 56, 2) * header_number(image + 54, 2));
	for (uint64_t i = 0; size == SECTION_BYTES && i < n_sections; i++) {
		const uint8_t *section = image + sections + i * SECTION_BYTES;
		if (header_number(section + 4, 4) != SECTION_NOBITS)
			end = max(end,
				  header_number(section + 24, 8) + header_number(section + 32, 8));
	}
	return end;
}

/* The bytes of an image; 0: nothing that can be loaded, `*ret_result` says why. */
static uint64_t image_bytes(const void **image, CUresult *ret_result)
{
	struct fatbin_wrapper wrapper;
	struct fatbin_header fatbin;
	memcpy(&wrapper, *image, sizeof wrapper.magic);
	if (wrapper.magic == WRAPPER_MAGIC) {
		memcpy(&wrapper, *image, sizeof wrapper);
		*image = wrapper.image;
	}
	memcpy(&fatbin.magic, *image, sizeof fatbin.magic);
	if (fatbin.magic == (uint32_t)FATBIN_MAGIC) {
		memcpy(&fatbin, *image, sizeof fatbin);
		return fatbin.header_bytes + fatbin.n_bytes;
	}
	if (memcmp(*image, "\177ELF", 4) == 0)
		return elf_bytes(*image);
	/* PTX is text; there is no compiler here */
	*ret_result = CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
	return 0;
}

/* ---- loading ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module *modules; /* all */

static void module_free(struct module *module)
{
	for (size_t i = 0; i < module->n_kernels; i++) {
		free(module->kernels[i].name);
		free(module->kernels[i].params);
	}
	free(module->kernels);
	free(module);
}

/* From the agent's description: the kernel, its parameters, its name. */
static bool kernel_read(struct driver_kernel *kernel, const uint8_t *bytes, size_t n)
{
	struct wire_kernel *about = &kernel->about;
	memcpy(about, bytes, sizeof *about);
	size_t params = about->n_params * sizeof *kernel->params;
	if (n != sizeof *about + params + about->n_name)
		return false;
	kernel->params = malloc(params ? params : 1);
	kernel->name = malloc(about->n_name + (size_t)1);
	if (!kernel->params || !kernel->name)
		return false;
	memcpy(kernel->params, bytes + sizeof *about, params);
	memcpy(kernel->name, bytes + sizeof *about + params, about->n_name);
	kernel->name[about->n_name] = '\0';
	for (uint32_t i = 0; i < about->n_params; i++)
		kernel->args_bytes =
			(unsigned)max(kernel->args_bytes, (uint64_t)kernel->params[i].offset +
								  kernel->params[i].n_bytes);
	kernel->dynamic_shared =
		USUAL_SHARED > about->shared_bytes ? USUAL_SHARED - about->shared_bytes : 0;
	kernel->carveout = -1;
	return true;
}

static CUresult read_module_kernels(struct module *module)
{
	for (;;) {
		uint64_t word[WIRE_WORDS] = { module->number, module->n_kernels };
		void *more = NULL;
		size_t n = 0;
		CUresult result = driver_call(WIRE_KERNEL, word, NULL, 0, -1, &more, &n);
		if (result != CUDA_SUCCESS)
			return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
		void *grown =
			realloc(module->kernels, (module->n_kernels + 1) * sizeof *module->kernels);
		bool ok = grown != NULL;
		if (ok) {
			module->kernels = grown;
			struct driver_kernel *kernel = &module->kernels[module->n_kernels++];
			*kernel = (struct driver_kernel){ .magic = MAGIC_KERNEL, .module = module };
			ok = n >= sizeof kernel->about && kernel_read(kernel, more, n);
		}
		free(more);
		if (!ok)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
}

static CUresult load_module(struct module **ret_module, const void *image)
{
	CUresult result = image && ret_module ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	uint64_t n = result == CUDA_SUCCESS ? image_bytes(&image, &result) : 0;
	if (result == CUDA_SUCCESS && (n == 0 || n > WIRE_IMAGE))
		result = CUDA_ERROR_INVALID_IMAGE;
	if (result != CUDA_SUCCESS)
		return result;
	result = memory_share_managed();
	if (result != CUDA_SUCCESS)
		return result;
	struct module *module = calloc(1, sizeof *module);
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	uint64_t word[WIRE_WORDS] = { 0 };
	module->magic = MAGIC_MODULE;
	result = driver_call(WIRE_LOAD, word, image, n, -1, NULL, NULL);
	module->number = (uint32_t)word[0];
	if (result == CUDA_SUCCESS)
		memory_use_managed((size_t)word[1]);
	if (result == CUDA_SUCCESS)
		result = read_module_kernels(module);
	if (result != CUDA_SUCCESS) {
		module_free(module);
		return result;
	}
	pthread_mutex_lock(&lock);
	module->next = modules;
	modules = module;
	pthread_mutex_unlock(&lock);
	*ret_module = module;
	return CUDA_SUCCESS;
}

void modules_forget(void)
{
	pthread_mutex_lock(&lock);
	for (struct module *module = modules; module; module = module->next)
		module->magic = MAGIC_GONE;
	pthread_mutex_unlock(&lock);
}

static CUresult load_file(struct module **ret_module, const char *path)
{
	FILE *file = path ? fopen(path, "rb") : NULL;
	uint8_t *bytes = NULL;
	size_t n = 0, cap = 0, got = 1;
	if (!file)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	while (got > 0 && n < WIRE_IMAGE) {
		if (cap - n < ELF_BYTES) {
			cap = cap ? 2 * cap : 1 << 16;
			void *grown = realloc(bytes, cap);
			if (!grown)
				break;
			bytes = grown;
		}
		got = fread(bytes + n, 1, cap - n - ELF_BYTES, file);
		n += got;
	}
	fclose(file);
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	if (got == 0) {
		CUresult why = CUDA_ERROR_INVALID_IMAGE;
		const void *image = bytes;
		memset(bytes + n, 0, cap - n);
		result = n > ELF_BYTES && image_bytes(&image, &why) <= n
				 ? load_module(ret_module, bytes)
				 : CUDA_ERROR_INVALID_IMAGE;
	}
	free(bytes);
	return result;
}

CU_API(cuModuleLoadData)(CUmodule *ret_module, const void *image)
{
	DONE(load_module(ret_module, image));
}

CU_API(cuModuleLoadDataEx)
(CUmodule *ret_module, const void *image, unsigned n, int *options, void **values)
{
	(void)n, (void)options, (void)values; /* of a compiler */
	DONE(load_module(ret_module, image));
}

CU_API(cuModuleLoadFatBinary)(CUmodule *ret_module, const void *image)
{
	DONE(load_module(ret_module, image));
}

CU_API(cuModuleLoad)(CUmodule *ret_module, const char *path)
{
	DONE(load_file(ret_module, path));
}

CU_API(cuModuleUnload)(CUmodule module)
{
	CUresult result = IS(module, MAGIC_MODULE) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS) {
		result = queue_drain();
		module->magic = MAGIC_GONE;
	}
	DONE(result);
}

CU_API(cuModuleGetLoadingMode)(int *ret_mode)
{
	if (!ret_mode)
		DONE(CUDA_ERROR_INVALID_VALUE);
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS)
		*ret_mode = driver.device.is_lazy ? LAZY_LOADING : EAGER_LOADING;
	DONE(result);
}

CU_API(cuLibraryLoadData)
(CUlibrary *ret_library, const void *image, int *jit, void **jit_values, unsigned n_jit,
 int *options, void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	DONE(load_module(ret_library, image));
}

CU_API(cuLibraryLoadFromFile)
(CUlibrary *ret_library, const char *path, int *jit, void **jit_values, unsigned n_jit,
 int *options, void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)n_jit, (void)options, (void)values, (void)n;
	DONE(load_file(ret_library, path));
}

CU_API(cuLibraryUnload)(CUlibrary library)
{
	DONE_BY(cuModuleUnload(library));
}

CU_API(cuLibraryGetModule)(CUmodule *ret_module, CUlibrary library)
{
	if (!ret_module || !IS(library, MAGIC_MODULE))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_module = library;
	DONE(CUDA_SUCCESS);
}

/* ---- kernels ---- */

static CUresult find_module_kernel(CUfunction *ret_kernel, struct module *module, const char *name)
{
	if (!ret_kernel || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!IS(module, MAGIC_MODULE))
		return CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < module->n_kernels; i++)
		if (strcmp(module->kernels[i].name, name) == 0) {
			*ret_kernel = &module->kernels[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

/* Asks whether the code of a kernel is loaded; if it is to be, it is afterwards. */
static CUresult code_is_loaded(struct driver_kernel *kernel, bool load, int *ret_is_loaded)
{
	uint64_t word[WIRE_WORDS] = { kernel->module->number, load };
	*ret_is_loaded = 1;
	if (!driver.device.is_lazy || atomic_load(&kernel->is_loaded))
		return CUDA_SUCCESS;
	CUresult result = driver_call(WIRE_FUNCTION, word, kernel->name, kernel->about.n_name, -1,
				      NULL, NULL);
	if (result == CUDA_SUCCESS) {
		*ret_is_loaded = word[0] != 0;
		atomic_store(&kernel->is_loaded, word[0] != 0);
	}
	return result;
}

static CUresult load_code(struct driver_kernel *kernel)
{
	int is_loaded;
	return code_is_loaded(kernel, true, &is_loaded);
}

CU_API(cuModuleGetFunction)(CUfunction *ret_kernel, CUmodule module, const char *name)
{
	struct driver_kernel *kernel;
	CUresult result =
		ret_kernel ? find_module_kernel(&kernel, module, name) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = load_code(kernel);
	if (result == CUDA_SUCCESS)
		*ret_kernel = kernel;
	DONE(result);
}

CU_API(cuFuncLoad)(CUfunction kernel)
{
	DONE(IS(kernel, MAGIC_KERNEL) ? load_code(kernel) : CUDA_ERROR_INVALID_HANDLE);
}

CU_API(cuFuncIsLoaded)(int *ret_state, CUfunction kernel)
{
	if (!ret_state)
		DONE(CUDA_ERROR_INVALID_VALUE);
	DONE(IS(kernel, MAGIC_KERNEL) ? code_is_loaded(kernel, false, ret_state)
				      : CUDA_ERROR_INVALID_HANDLE);
}

CU_API(cuLibraryGetKernel)(CUfunction *ret_kernel, CUlibrary library, const char *name)
{
	DONE(find_module_kernel(ret_kernel, library, name));
}

CU_API(cuModuleGetFunctionCount)(unsigned *ret_n, CUmodule module)
{
	if (!ret_n || !IS(module, MAGIC_MODULE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_n = (unsigned)module->n_kernels;
	DONE(CUDA_SUCCESS);
}

CU_API(cuModuleEnumerateFunctions)(CUfunction *ret_kernels, unsigned n, CUmodule module)
{
	if (!ret_kernels || !IS(module, MAGIC_MODULE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	for (unsigned i = 0; i < n && i < module->n_kernels; i++)
		ret_kernels[i] = &module->kernels[i];
	DONE(CUDA_SUCCESS);
}

CU_API(cuLibraryGetKernelCount)(unsigned *ret_n, CUlibrary library)
{
	DONE_BY(cuModuleGetFunctionCount(ret_n, library));
}

CU_API(cuLibraryEnumerateKernels)(CUfunction *ret_kernels, unsigned n, CUlibrary library)
{
	DONE_BY(cuModuleEnumerateFunctions(ret_kernels, n, library));
}

CU_API(cuKernelGetFunction)(CUfunction *ret_function, CUfunction kernel)
{
	if (!ret_function || !IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	CUresult result = load_code(kernel);
	if (result == CUDA_SUCCESS)
		*ret_function = kernel;
	DONE(result);
}

CU_API(cuFuncGetModule)(CUmodule *ret_module, CUfunction kernel)
{
	if (!ret_module || !IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_module = kernel->module;
	DONE(CUDA_SUCCESS);
}

CU_API(cuKernelGetLibrary)(CUlibrary *ret_library, CUfunction kernel)
{
	DONE_BY(cuFuncGetModule(ret_library, kernel));
}

CU_API(cuFuncGetName)(const char **ret_name, CUfunction kernel)
{
	if (!ret_name || !IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_name = kernel->name;
	DONE(CUDA_SUCCESS);
}

CU_API(cuKernelGetName)(const char **ret_name, CUfunction kernel)
{
	DONE_BY(cuFuncGetName(ret_name, kernel));
}

CU_API(cuFuncGetParamInfo)(CUfunction kernel, size_t i, size_t *ret_offset, size_t *ret_bytes)
{
	if (!IS(kernel, MAGIC_KERNEL) || !ret_offset || i >= kernel->about.n_params)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_offset = kernel->params[i].offset;
	if (ret_bytes)
		*ret_bytes = kernel->params[i].n_bytes;
	DONE(CUDA_SUCCESS);
}

CU_API(cuKernelGetParamInfo)(CUfunction kernel, size_t i, size_t *ret_offset, size_t *ret_bytes)
{
	DONE_BY(cuFuncGetParamInfo(kernel, i, ret_offset, ret_bytes));
}

CU_API(cuFuncGetAttribute)(int *ret_value, int number, CUfunction kernel)
{
	CUresult result = ret_value ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && !IS(kernel, MAGIC_KERNEL))
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	const int values[] = {
		[0] = (int)(kernel->about.bound_threads < kernel->about.max_threads
				    ? kernel->about.bound_threads
				    : kernel->about.max_threads), /* MAX_THREADS_PER_BLOCK */
		[1] = (int)kernel->about.shared_bytes,
		[3] = (int)kernel->about.local_bytes,
		[4] = (int)kernel->about.n_regs,
		[5] = (int)driver.device.limits.sm, /* PTX_VERSION */
		[6] = (int)driver.device.limits.sm, /* BINARY_VERSION */
		[8] = (int)kernel->dynamic_shared,
		[9] = kernel->carveout,
		[11] = (int)kernel->about.cluster[0],
		[12] = (int)kernel->about.cluster[1],
		[13] = (int)kernel->about.cluster[2],
		[15] = 0,
	};
	if (number < 0 || (size_t)number >= sizeof values / sizeof values[0])
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_value = values[number];
	DONE(CUDA_SUCCESS);
}

CU_API(cuKernelGetAttribute)(int *ret_value, int number, CUfunction kernel, CUdevice device)
{
	(void)device;
	DONE_BY(cuFuncGetAttribute(ret_value, number, kernel));
}

CU_API(cuFuncSetAttribute)(CUfunction kernel, int number, int value)
{
	CUresult result = IS(kernel, MAGIC_KERNEL) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	unsigned most = driver.device.limits.block_shared_bytes - kernel->about.shared_bytes;
	switch (number) {
	case 8: /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
		if (value < 0 || (unsigned)value > most)
			DONE(CUDA_ERROR_INVALID_VALUE);
		kernel->dynamic_shared = (unsigned)value;
		DONE(CUDA_SUCCESS);
	case 9: /* PREFERRED_SHARED_MEMORY_CARVEOUT */
		kernel->carveout = value;
		DONE(value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
	case 14: /* NON_PORTABLE_CLUSTER_SIZE_ALLOWED: always */
	case 15: /* CLUSTER_SCHEDULING_POLICY_PREFERENCE */
		DONE(CUDA_SUCCESS);
	default:
		DONE(CUDA_ERROR_INVALID_VALUE);
	}
}

CU_API(cuKernelSetAttribute)(int number, int value, CUfunction kernel, CUdevice device)
{
	(void)device;
	DONE_BY(cuFuncSetAttribute(kernel, number, value));
}

CU_API(cuFuncSetCacheConfig)(CUfunction kernel, int config)
{
	(void)config; /* a preference */
	DONE(IS(kernel, MAGIC_KERNEL) ? driver_check() : CUDA_ERROR_INVALID_HANDLE);
}

CU_API(cuKernelSetCacheConfig)(CUfunction kernel, int config, CUdevice device)
{
	(void)device;
	DONE_BY(cuFuncSetCacheConfig(kernel, config));
}

CU_API(cuFuncSetSharedMemConfig)(CUfunction kernel, int config)
{
	DONE_BY(cuFuncSetCacheConfig(kernel, config));
}

/* ---- variables ---- */

static CUresult find_variable(CUdeviceptr *ret_address, size_t *ret_bytes, struct module *module,
			      const char *name)
{
	uint64_t word[WIRE_WORDS] = { 0 };
	struct driver_range known;
	CUresult result =
		name && (ret_address || ret_bytes) ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && !IS(module, MAGIC_MODULE))
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		return result;
	word[0] = module->number;
	result = driver_call(WIRE_SYMBOL, word, name, strlen(name), -1, NULL, NULL);
	if (result != CUDA_SUCCESS)
		return result;
	const struct driver_range range = { .start = word[0],
					    .n_bytes = word[1],
					    .kind = memory_is_managed(word[0]) ? RANGE_MANAGED
									       : RANGE_DEVICE,
					    .is_variable = true,
					    .context = driver_context() };
	if (!range_find(range.start, &known) && !range_add(&range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (ret_address)
		*ret_address = range.start;
	if (ret_bytes)
		*ret_bytes = range.n_bytes;
	return CUDA_SUCCESS;
}

CU_API(cuModuleGetGlobal_v2)
(CUdeviceptr *ret_address, size_t *ret_bytes, CUmodule module, const char *name)
{
	DONE(find_variable(ret_address, ret_bytes, module, name));
}

CU_API(cuLibraryGetGlobal)
(CUdeviceptr *ret_address, size_t *ret_bytes, CUlibrary library, const char *name)
{
	DONE(find_variable(ret_address, ret_bytes, library, name));
}
