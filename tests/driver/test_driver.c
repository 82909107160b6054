/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the driver API on the software GPU. usage: test_driver FATBIN
 *
 * Kernels: tests/sim/kernels/driver.cu.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "api.h"

enum { N = 1000 };

static const char *fatbin, *bounds_fatbin;

static void check(CUresult result, const char *what, int line)
{
	const char *name = "?";
	if (result == CUDA_SUCCESS)
		return;
	(void)cuGetErrorName(result, &name);
	fail_msg("line %d: %s: %s", line, what, name);
}

#define OK(call) check((call), #call, __LINE__)

static CUmodule module;

static CUfunction kernel(const char *name)
{
	CUfunction function;
	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

static void launch(const char *name, unsigned blocks, unsigned threads, void **args)
{
	OK(cuLaunchKernel(kernel(name), blocks, 1, 1, threads, 1, 1, 0, NULL, args, NULL));
}

static CUdeviceptr words(size_t n)
{
	CUdeviceptr at;
	OK(cuMemAlloc(&at, 4 * n));
	return at;
}

static int setup(void **state)
{
	CUcontext context;
	(void)state;
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoad(&module, fatbin));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS ? 0 : -1;
}

static void a_kernel_adds(void **state)
{
	unsigned a[N], b[N], sum[N], n = N;
	CUdeviceptr da = words(N), db = words(N), dsum = words(N);
	void *args[] = { &da, &db, &dsum, &n };
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 7 * i;
	}
	OK(cuMemcpyHtoD(da, a, sizeof a));
	OK(cuMemcpyHtoD(db, b, sizeof b));
	launch("add", (N + 127) / 128, 128, args);
	OK(cuMemcpyDtoH(sum, dsum, sizeof sum)); /* after the launch */
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(sum[i], 22 * i);
	OK(cuMemFree(da));
	OK(cuMemFree(db));
	OK(cuMemFree(dsum));
	assert_int_equal(cuMemFree(dsum), CUDA_ERROR_INVALID_VALUE);
}

static void variables_have_addresses(void **state)
{
	CUdeviceptr scale, total;
	size_t n;
	unsigned char step = 5;
	unsigned long long times = 100;
	unsigned value = 0;
	void *args[] = { &step, &times };
	(void)state;
	OK(cuModuleGetGlobal(&scale, &n, module, "scale"));
	assert_int_equal(n, 4);
	OK(cuMemcpyDtoH(&value, scale, 4));
	assert_int_equal(value, 3);
	OK(cuModuleGetGlobal(&total, NULL, module, "total"));
	launch("count", 2, 32, args);
	OK(cuMemcpyDtoH(&value, total, 4));
	assert_int_equal(value, 2 * 100 * 5);
	assert_int_equal(cuModuleGetGlobal(&total, NULL, module, "none"), CUDA_ERROR_NOT_FOUND);
}

/* Arguments as one buffer, as some launchers give them. */
static void arguments_may_be_a_buffer(void **state)
{
	struct {
		CUdeviceptr to;
		unsigned i;
	} args = { words(64), 8 };
	size_t n = sizeof args;
	unsigned out[64];
	void *extra[] = { (void *)1, &args, (void *)2, &n, (void *)0 };
	(void)state;
	OK(cuMemsetD32(args.to, 99, 64));
	OK(cuLaunchKernel(kernel("store"), 1, 1, 1, 16, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH(out, args.to, sizeof out));
	assert_int_equal(out[7], 99);
	assert_int_equal(out[8], 8);
	assert_int_equal(out[23], 8);
	assert_int_equal(out[24], 99);
	OK(cuMemFree(args.to));
}

static void rows_are_copied(void **state)
{
	unsigned char host[6][10], back[4][5];
	CUdeviceptr at;
	(void)state;
	for (unsigned i = 0; i < sizeof host; i++)
		((unsigned char *)host)[i] = (unsigned char)i;
	OK(cuMemAlloc(&at, 6 * 32));
	OK(cuMemsetD8(at, 0xff, 6 * 32));
	CUDA_MEMCPY2D in = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			     .srcHost = host,
			     .srcPitch = 10,
			     .srcXInBytes = 2,
			     .srcY = 1,
			     .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			     .dstDevice = at,
			     .dstPitch = 32,
			     .dstXInBytes = 3,
			     .WidthInBytes = 5,
			     .Height = 4 };
	OK(cuMemcpy2D(&in));
	CUDA_MEMCPY2D out = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = at,
			      .srcPitch = 32,
			      .srcXInBytes = 3,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = back,
			      .dstPitch = 5,
			      .WidthInBytes = 5,
			      .Height = 4 };
	OK(cuMemcpy2D(&out));
	for (unsigned y = 0; y < 4; y++)
		assert_memory_equal(back[y], &host[y + 1][2], 5);
	OK(cuMemcpyDtoH(host, at, 3));
	assert_int_equal(host[0][2], 0xff);
	OK(cuMemFree(at));
}

/* Larger than one piece of the wire. */
static void large_copies_are_whole(void **state)
{
	size_t n = (9u << 20) + 12345;
	unsigned char *a = malloc(n), *b = malloc(n);
	CUdeviceptr at, other;
	(void)state;
	assert_true(a && b);
	for (size_t i = 0; i < n; i++)
		a[i] = (unsigned char)(i * 2654435761u >> 13);
	OK(cuMemAlloc(&at, n));
	OK(cuMemAlloc(&other, n));
	OK(cuMemcpyHtoD(at, a, n));
	OK(cuMemcpyDtoD(other, at, n));
	OK(cuMemcpyDtoH(b, other, n));
	assert_memory_equal(a, b, n);
	OK(cuMemFree(at));
	OK(cuMemFree(other));
	free(a);
	free(b);
}

/* A kernel that waits for the host, through memory that both see. */
static void both_see_shared_memory(void **state)
{
	void *host;
	CUdeviceptr at, managed;
	CUstream stream;
	int is_managed = 0, type = 0;
	(void)state;
	OK(cuMemAllocHost(&host, 64));
	volatile unsigned *flags = host;
	at = (uintptr_t)host;
	void *args[] = { &at };
	OK(cuStreamCreate(&stream, 1));
	OK(cuLaunchKernel(kernel("wait"), 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
	assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	flags[0] = 21;
	OK(cuStreamSynchronize(stream));
	assert_int_equal(flags[1], 42);
	assert_int_equal(cuStreamQuery(stream), CUDA_SUCCESS);
	OK(cuStreamDestroy(stream));
	OK(cuMemFreeHost(host));
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	unsigned *words_of = (unsigned *)(uintptr_t)managed, i = 4;
	void *more[] = { &managed, &i };
	launch("store", 1, 32, more);
	OK(cuCtxSynchronize());
	assert_int_equal(words_of[3], 0);
	assert_int_equal(words_of[4], 4);
	OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed + 100));
	assert_true(is_managed);
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed));
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	OK(cuMemFree(managed));
}

static void note(void *data)
{
	struct {
		unsigned seen, *from;
	} *both = data;
	both->seen = *both->from;
}

static void a_stream_is_in_order(void **state)
{
	unsigned in[32], out[32], i = 0;
	CUdeviceptr at = words(32);
	CUstream stream;
	CUevent start, end;
	float ms = -1;
	struct {
		unsigned seen, *from;
	} both = { 0, out };
	void *args[] = { &at, &i };
	(void)state;
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&start, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuEventRecord(start, stream));
	for (unsigned k = 0; k < 32; k++)
		in[k] = 1000 + k;
	OK(cuMemcpyHtoDAsync(at, in, sizeof in, stream));
	memset(in, 0, sizeof in); /* its bytes were taken */
	OK(cuLaunchKernel(kernel("store"), 1, 1, 1, 8, 1, 1, 0, stream, args, NULL));
	OK(cuMemcpyDtoHAsync(out, at, sizeof out, stream));
	OK(cuLaunchHostFunc(stream, note, &both));
	OK(cuEventRecord(end, stream));
	OK(cuEventSynchronize(end));
	assert_int_equal(out[7], 0);
	assert_int_equal(out[8], 1008);
	assert_int_equal(both.seen, 0);
	OK(cuEventElapsedTime(&ms, start, end));
	assert_true(ms > 0 && ms < 60000);
	OK(cuEventDestroy(start));
	OK(cuEventDestroy(end));
	OK(cuStreamDestroy(stream));
	OK(cuMemFree(at));
}

static void note_thread(void *data)
{
	*(pthread_t *)data = pthread_self();
}

static void functions_of_the_host_have_a_thread(void **state)
{
	pthread_t thread = pthread_self();
	(void)state;
	OK(cuLaunchHostFunc(NULL, note_thread, &thread));
	OK(cuStreamSynchronize(NULL));
	assert_false(pthread_equal(thread, pthread_self()));
}

static void come(void *data)
{
	atomic_store((atomic_int *)data, 1);
}

/* The program only looks at its memory. */
static void work_is_done_though_nobody_waits(void **state)
{
	atomic_int came = 0;
	unsigned i = 0, out[8] = { 1 };
	CUdeviceptr at = words(32);
	void *args[] = { &at, &i };
	(void)state;
	for (unsigned k = 0; k < 20; k++)
		launch("store", 1, 32, args);
	OK(cuMemcpyDtoHAsync(out, at, sizeof out, NULL));
	OK(cuLaunchHostFunc(NULL, come, &came));
	const struct timespec while_ = { .tv_nsec = 1000000 };
	for (int ms = 0; ms < 60000 && !atomic_load(&came); ms++)
		nanosleep(&while_, NULL);
	assert_int_equal(atomic_load(&came), 1);
	assert_int_equal(out[0], 0);
	OK(cuMemFree(at));
}

static void *launch_many(void *data)
{
	CUcontext context = data;
	CUdeviceptr at;
	unsigned i = 0, out = 1;
	void *args[] = { &at, &i };
	CUfunction store = kernel("store");
	OK(cuCtxSetCurrent(context));
	OK(cuMemAlloc(&at, 256));
	for (unsigned k = 0; k < 50; k++) {
		OK(cuLaunchKernel(store, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
		if (k % 3 == 0)
			OK(cuStreamSynchronize(NULL));
		if (k % 7 == 0)
			OK(cuMemcpyDtoH(&out, at, 4));
	}
	OK(cuMemFree(at));
	return out == 0 ? data : NULL;
}

/* Each waits for its own, and does what comes before. */
static void threads_share_the_queue(void **state)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	CUcontext context;
	void *good;
	(void)state;
	OK(cuCtxGetCurrent(&context));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch_many, context), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &good), 0);
		assert_non_null(good);
	}
}

static void addresses_are_the_programs(void **state)
{
	CUmemAllocationProp prop;
	CUmemAccessDesc access;
	CUmemGenericAllocationHandle two, one;
	CUdeviceptr at;
	size_t unit;
	unsigned out[2] = { 0 }, i = 0;
	(void)state;
	memset(&prop, 0, sizeof prop);
	memset(&access, 0, sizeof access);
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	OK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	OK(cuMemAddressReserve(&at, 4 * unit, 0, 0, 0));
	OK(cuMemCreate(&two, 2 * unit, &prop, 0));
	OK(cuMemCreate(&one, unit, &prop, 0));
	OK(cuMemMap(at, 2 * unit, 0, two, 0));
	OK(cuMemMap(at + 2 * unit, unit, 0, one, 0));
	OK(cuMemMap(at + 3 * unit, unit, unit, two, 0)); /* its second half once more */
	assert_int_equal(cuMemMap(at, unit, 0, one, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemMap(at + 4 * unit, unit, 0, one, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemsetD32(at, 1, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemSetAccess(at + unit, unit, &access, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(at + 2 * unit, unit));
	assert_int_equal(cuMemSetAccess(at, 4 * unit, &access, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(at + 2 * unit, unit, 0, one, 0));
	OK(cuMemRelease(one)); /* it is mapped */
	OK(cuMemSetAccess(at, 4 * unit, &access, 1));
	OK(cuMemsetD32(at, 7, 3 * unit / 4)); /* over both */
	CUdeviceptr last = at + 2 * unit - 128;
	void *args[] = { &last, &i };
	launch("store", 1, 64, args);
	OK(cuMemcpyDtoH(out, at + 4 * unit - 132, 8));
	assert_int_equal(out[0], 7);
	assert_int_equal(out[1], 0);
	OK(cuMemcpyDtoH(out, at + 2 * unit + 124, 8));
	assert_int_equal(out[0], 0);
	assert_int_equal(out[1], 7);
	assert_int_equal(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	assert_int_equal(cuMemSetAccess(at, unit, &access, 1), CUDA_ERROR_NOT_SUPPORTED);
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	OK(cuMemSetAccess(at + 2 * unit, unit, &access, 1));
	assert_int_equal(cuMemcpyDtoH(out, at + 2 * unit, 8), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAddressFree(at, 4 * unit), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemUnmap(at, unit), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(at, 4 * unit));
	OK(cuMemAddressFree(at, 4 * unit));
	OK(cuMemRelease(two));
	assert_int_equal(cuMemcpyDtoH(out, at, 8), CUDA_ERROR_INVALID_VALUE);
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	assert_int_equal(cuMemCreate(&two, unit, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void hear(void *data, CUlogLevel level, char *message, size_t length)
{
	assert_int_equal(level, 0);
	assert_int_equal(strlen(message), length);
	strcpy(data, message);
}

static void errors_are_logged(void **state)
{
	char heard[256] = "", text[4096], small[170];
	size_t size = sizeof text, n_small = sizeof small;
	CUlogsCallbackHandle handle;
	CUlogIterator from, here;
	CUdeviceptr at;
	(void)state;
	OK(cuLogsRegisterCallback(hear, heard, &handle));
	OK(cuLogsCurrent(&from, 0));
	here = from;
	assert_int_equal(cuMemAlloc(&at, 0), CUDA_ERROR_INVALID_VALUE);
	assert_string_equal(heard, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2");
	OK(cuLogsUnregisterCallback(handle));
	assert_int_equal(cuMemFree(1), CUDA_ERROR_INVALID_VALUE);
	assert_non_null(strstr(heard, "cuMemAlloc_v2"));
	OK(cuLogsDumpToMemory(&here, text, &size, 0));
	assert_int_equal(strlen(text), size);
	const char *second = strstr(text, "]\n") ? NULL : strchr(text, '\n');
	assert_non_null(second);
	assert_true(text[0] == '[' && strstr(text, "[CUDA][E] Returning 1 ") < second);
	assert_non_null(strstr(second, "from cuMemFree_v2\n"));
	assert_int_equal(here, from + 2);
	size = sizeof text;
	OK(cuLogsDumpToMemory(&here, text, &size, 0)); /* nothing new */
	assert_int_equal(size, 0);
	here = from;
	assert_int_equal(cuLogsDumpToMemory(&here, small, &n_small, 0), CUDA_SUCCESS);
	assert_int_equal(strlen(small), n_small);
	assert_true(small[0] == '('); /* some are left out */
	assert_non_null(strstr(small, "cuMemFree_v2"));
	n_small = 10;
	here = from;
	assert_int_equal(cuLogsDumpToMemory(&here, small, &n_small, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(n_small, 0);
	for (int i = 0; i < 200; i++)
		(void)cuMemFree(1);
	char *all = malloc(1 << 16);
	size = 1 << 16;
	OK(cuLogsDumpToMemory(NULL, all, &size, 0));
	assert_true(all[0] == '(');
	size_t n_lines = 0;
	for (const char *end = all; (end = strchr(end, '\n')); end++)
		n_lines++;
	assert_int_equal(n_lines, 1 + 100);
	free(all);
}

static void *wait_for_it(void *data)
{
	while (!atomic_load((atomic_bool *)data))
		sched_yield();
	return NULL;
}

static void memory_is_registered(void **state)
{
	enum { WORDS = 5000 };
	unsigned *host = malloc(4 * WORDS), *beside = malloc(4 * WORDS), on_stack[64];
	unsigned i = 0, first = WORDS - 64;
	CUdeviceptr at = (uintptr_t)host, other = (uintptr_t)beside;
	void *args[] = { &at, &first }, *more[] = { &other, &i };
	atomic_bool is_over = false;
	pthread_t thread;
	(void)state;
	for (unsigned k = 0; k < WORDS; k++)
		host[k] = beside[k] = k;
#ifdef __SANITIZE_THREAD__ /* it has a thread of its own */
	assert_int_equal(cuMemHostRegister(host, 4 * WORDS, 0), CUDA_ERROR_NOT_SUPPORTED);
	free(host);
	free(beside);
	return;
#endif
	OK(cuMemHostRegister(host, 4 * WORDS, 0));
	assert_int_equal(cuMemHostRegister(host, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostRegister(beside, 4 * WORDS, 0)); /* perhaps in one page with the first */
	launch("store", 1, 64, args);
	launch("store", 1, 32, more);
	OK(cuCtxSynchronize());
	assert_int_equal(host[0], 0);
	assert_int_equal(host[first - 1], first - 1);
	assert_int_equal(host[WORDS - 1], first);
	assert_int_equal(beside[31], 0);
	assert_int_equal(beside[32], 32);
	OK(cuMemHostUnregister(host));
	assert_int_equal(cuMemHostUnregister(host), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	assert_int_equal(cuMemFreeHost(beside), CUDA_ERROR_INVALID_VALUE);
	host[1] = 77; /* it is the program's as before */
	OK(cuMemHostRegister(host, 4 * WORDS, 0));
	assert_int_equal(host[1], 77);
	OK(cuMemHostUnregister(host));
	OK(cuMemHostUnregister(beside));
	assert_int_equal(cuMemsetD32(at, 1, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemHostRegister(on_stack, sizeof on_stack, 0), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &is_over), 0);
	assert_int_equal(cuMemHostRegister(host, 4 * WORDS, 0), CUDA_ERROR_NOT_SUPPORTED);
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	free(host);
	free(beside);
}

/* Each block stores its rank and how many blocks its cluster has. */
static CUresult launch_clusters(CUdeviceptr out, unsigned blocks, unsigned size, unsigned preferred)
{
	void *args[] = { &out };
	CUlaunchAttribute attributes[] = {
		{ .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { size, 1, 1 } },
		{ .id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
		  .value.preferredClusterDim = { preferred, 1, 1 } },
	};
	const CUlaunchConfig config = { .gridDimX = blocks,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 1,
					.blockDimY = 1,
					.blockDimZ = 1,
					.attrs = attributes,
					.numAttrs = preferred ? 2 : 1 };
	return cuLaunchKernelEx(&config, kernel("ranks"), args, NULL);
}

static void blocks_form_clusters(void **state)
{
	enum { BLOCKS = 12 };
	static const unsigned sizes[][2] = { { 1, 0 }, { 3, 0 }, { 2, 0 }, { 2, 4 }, { 1, 12 } };
	CUdeviceptr out = words(BLOCKS);
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		unsigned got[BLOCKS], n = sizes[i][1] ? sizes[i][1] : sizes[i][0];
		OK(launch_clusters(out, BLOCKS, sizes[i][0], sizes[i][1]));
		OK(cuMemcpyDtoH(got, out, sizeof got));
		for (unsigned k = 0; k < BLOCKS; k++) {
			assert_int_equal(got[k] & 0xffff, k % n);
			/* sm_90a tells code of one size only */
			assert_int_equal(got[k] >> 16, sizes[i][0]);
		}
	}
	assert_int_equal(launch_clusters(out, BLOCKS, 17, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	assert_int_equal(launch_clusters(out, BLOCKS, 5, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(launch_clusters(out, BLOCKS, 2, 3), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(launch_clusters(out, BLOCKS, 4, 8), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(launch_clusters(out, 36, 2, 18), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	OK(cuMemFree(out));
}

static void what_is_wrong_is_refused(void **state)
{
	CUdeviceptr at = words(64);
	unsigned i = 0;
	void *args[] = { &at, &i };
	CUfunction f = kernel("store");
	CUmodule other;
	size_t free_bytes, total;
	int value;
	(void)state;
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuModuleGetFunction(&f, module, "none"), CUDA_ERROR_NOT_FOUND);
	assert_int_equal(cuModuleLoadData(&other, ".version 8.0\n.target sm_90\n"),
			 CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
	OK(cuMemGetInfo(&free_bytes, &total));
	assert_true(free_bytes <= total - 4 * 64);
	assert_int_equal(cuMemAlloc(&at, total), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(cuMemAlloc(&at, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemcpyDtoH(&value, at + 4096, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1),
			 CUDA_ERROR_INVALID_DEVICE);
	OK(cuMemFree(at));
}

static void the_device_tells_what_it_is(void **state)
{
	char name[100];
	int n, value;
	(void)state;
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 1);
	OK(cuDeviceGetName(name, sizeof name, 0));
	assert_string_equal(name, "Warpscope software GPU sm_90a");
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	assert_int_equal(value, 32);
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	assert_int_equal(value, 132);
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	assert_int_equal(value, 9);
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel("add")));
	assert_true(value > 0 && value < 256);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel("add"), 1024, 0));
	assert_int_equal(n, 2);
}

static void blocks_are_those_that_a_kernel_was_built_for(void **state)
{
	CUfunction bounded, exact;
	CUmodule own;
	CUdeviceptr at = words(1024);
	void *args[] = { &at };
	int n;
	(void)state;
	OK(cuModuleLoad(&own, bounds_fatbin));
	OK(cuModuleGetFunction(&bounded, own, "bounded"));
	OK(cuModuleGetFunction(&exact, own, "exact"));
	OK(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded));
	assert_int_equal(n, 64);
	OK(cuLaunchKernel(bounded, 1, 1, 1, 8, 8, 1, 0, NULL, args, NULL));
	assert_int_equal(cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, 65, 0));
	assert_int_equal(n, 0);
	OK(cuLaunchKernel(exact, 1, 1, 1, 8, 4, 1, 0, NULL, args, NULL));
	assert_int_equal(cuLaunchKernel(exact, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSynchronize());
	OK(cuModuleUnload(own));
	OK(cuMemFree(at));
}

static void shared_memory_needs_room(void **state)
{
	CUfunction f = kernel("shared");
	CUdeviceptr at = words(64);
	unsigned out[64];
	void *args[] = { &at };
	(void)state;
	OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 256, NULL, args, NULL));
	OK(cuMemcpyDtoH(out, at, sizeof out));
	assert_int_equal(out[0], 63);
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 100000, NULL, args, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
	OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 100000, NULL, args, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemFree(at));
}

static void functions_are_found_by_name(void **state)
{
	CUresult (*get_count)(int *);
	void *function = NULL;
	int n = 0;
	(void)state;
	OK(cuGetProcAddress("cuDeviceGetCount", &function, 12000, 0, NULL));
	memcpy(&get_count, &function, sizeof function);
	OK(get_count(&n));
	assert_int_equal(n, 1);
	OK(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, NULL));
	CUresult (*allocate)(CUdeviceptr *, size_t) = cuMemAlloc;
	assert_memory_equal(&function, &allocate, sizeof function);
	assert_int_equal(cuGetProcAddress("cuNothing", &function, 12000, 0, NULL),
			 CUDA_ERROR_NOT_FOUND);
	assert_null(function);
}

static int flags_of_dumps(bool of_all)
{
	int flags = -1;
	size_t size = sizeof flags;
	OK((of_all ? cuCoredumpGetAttributeGlobal
		   : cuCoredumpGetAttribute)(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
	return flags;
}

static bool wants_dumps(int attribute)
{
	bool on = false;
	size_t size = sizeof on;
	OK(cuCoredumpGetAttribute(attribute, &on, &size));
	return on;
}

static void dumps_are_as_the_program_says(void **state)
{
	bool on = true, off = false;
	int flags = CU_COREDUMP_SKIP_GLOBAL_MEMORY | CU_COREDUMP_SKIP_ABORT, unknown = 1 << 20;
	char name[1024] = "?", small[4], longer[1100];
	size_t size = 0, one = sizeof on, four = sizeof flags, all = sizeof name;
	(void)state;
	OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, NULL, &size));
	assert_int_equal(size, 1024);
	OK(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, NULL, &size));
	assert_int_equal(size, sizeof on);
	assert_false(wants_dumps(CU_COREDUMP_ENABLE_ON_EXCEPTION));
	assert_true(wants_dumps(CU_COREDUMP_TRIGGER_HOST));
	assert_int_equal(flags_of_dumps(false), 0);

	/* what a context has of its own is above what is set for all */
	OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &one));
	assert_true(wants_dumps(CU_COREDUMP_ENABLE_ON_EXCEPTION));
	OK(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &off, &one));
	assert_false(wants_dumps(CU_COREDUMP_ENABLE_ON_EXCEPTION));
	OK(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &four));
	assert_int_equal(flags_of_dumps(false), flags);
	assert_int_equal(flags_of_dumps(true), 0);
	assert_false(wants_dumps(CU_COREDUMP_TRIGGER_HOST));

	/* the older attributes are some of the flags */
	OK(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &one));
	assert_int_equal(flags_of_dumps(false),
			 CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT);
	assert_true(wants_dumps(CU_COREDUMP_LIGHTWEIGHT));
	OK(cuCoredumpSetAttribute(CU_COREDUMP_TRIGGER_HOST, &on, &one));
	OK(cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &off, &one));
	assert_int_equal(flags_of_dumps(false), 0);

	strcpy(name, "dump.%p");
	OK(cuCoredumpSetAttribute(CU_COREDUMP_FILE, name, &all));
	memset(name, 0, sizeof name);
	OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &all));
	assert_string_equal(name, "dump.%p");
	OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, name, &all));
	assert_string_equal(name, "core_%t_%h_%p.nvcudmp");

	/* wrong ones */
	size = sizeof small;
	memset(longer, 'x', sizeof longer);
	assert_int_equal(cuCoredumpGetAttribute(CU_COREDUMP_FILE, small, &size),
			 CUDA_ERROR_INVALID_VALUE);
	size = sizeof longer;
	assert_int_equal(cuCoredumpSetAttribute(CU_COREDUMP_FILE, longer, &size),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &unknown, &four),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &one),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpGetAttribute(0, &flags, &four), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpGetAttribute(8, &flags, &four), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpGetAttribute(CU_COREDUMP_FILE, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_USER_TRIGGER, &on, &one),
			 CUDA_ERROR_NOT_PERMITTED);
	assert_int_equal(cuCoredumpSetAttribute(CU_COREDUMP_PIPE, name, &all),
			 CUDA_ERROR_NOT_PERMITTED);
	OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &off, &one));
}

static void a_fault_stays_until_a_reset(void **state)
{
	CUdeviceptr at = words(64), more;
	unsigned far = 1u << 30;
	void *args[] = { &at, &far };
	const char *text;
	(void)state;
	launch("store", 1, 32, args);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
	assert_string_equal(text, "an illegal memory access was encountered");
	assert_int_equal(cuMemAlloc(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	CUfunction before = kernel("store");
	OK(cuDevicePrimaryCtxReset(0));
	assert_int_equal(cuLaunchKernel(before, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL),
			 CUDA_ERROR_INVALID_HANDLE);
	OK(cuModuleLoad(&module, fatbin));
	OK(cuMemAlloc(&more, 4));
	OK(cuMemFree(more));
}

static void nothing_works_before_the_beginning(void)
{
	CUdeviceptr at;
	int n;
	if (cuMemAlloc(&at, 4) != CUDA_ERROR_NOT_INITIALIZED ||
	    cuDeviceGetCount(&n) != CUDA_ERROR_NOT_INITIALIZED) {
		fprintf(stderr, "a call before cuInit() was answered\n");
		exit(1);
	}
}

/* A handle is no first use, but to ask for it by name is. */
static void functions_are_loaded_late(void **state)
{
	CUmoduleLoadingMode mode;
	CUfunctionLoadingState loaded;
	CUfunction f[2];
	CUmodule own;
	(void)state;
	OK(cuModuleGetLoadingMode(&mode));
	assert_int_equal(mode, CU_MODULE_LAZY_LOADING);
	OK(cuModuleLoad(&own, fatbin));
	OK(cuModuleEnumerateFunctions(f, 2, own));
	for (unsigned i = 0; i < 2; i++) {
		OK(cuFuncIsLoaded(&loaded, f[i]));
		assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_UNLOADED);
	}
	OK(cuFuncLoad(f[1]));
	OK(cuFuncIsLoaded(&loaded, f[1]));
	assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_LOADED);
	OK(cuFuncIsLoaded(&loaded, f[0]));
	assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_UNLOADED);
	OK(cuModuleGetFunction(&f[1], own, "store"));
	OK(cuFuncIsLoaded(&loaded, f[1]));
	assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_LOADED);
	assert_int_equal(cuFuncIsLoaded(NULL, f[0]), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(own));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_adds),
		cmocka_unit_test(variables_have_addresses),
		cmocka_unit_test(arguments_may_be_a_buffer),
		cmocka_unit_test(rows_are_copied),
		cmocka_unit_test(large_copies_are_whole),
		cmocka_unit_test(both_see_shared_memory),
		cmocka_unit_test(a_stream_is_in_order),
		cmocka_unit_test(functions_of_the_host_have_a_thread),
		cmocka_unit_test(work_is_done_though_nobody_waits),
		cmocka_unit_test(threads_share_the_queue),
		cmocka_unit_test(addresses_are_the_programs),
		cmocka_unit_test(errors_are_logged),
		cmocka_unit_test(memory_is_registered),
		cmocka_unit_test(blocks_form_clusters),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(the_device_tells_what_it_is),
		cmocka_unit_test(blocks_are_those_that_a_kernel_was_built_for),
		cmocka_unit_test(shared_memory_needs_room),
		cmocka_unit_test(functions_are_found_by_name),
		cmocka_unit_test(functions_are_loaded_late),
		cmocka_unit_test(dumps_are_as_the_program_says),
		cmocka_unit_test(a_fault_stays_until_a_reset),
	};
	if (argc != 3)
		return 2;
	fatbin = argv[1];
	bounds_fatbin = argv[2];
	nothing_works_before_the_beginning();
	return cmocka_run_group_tests_name("a program of the driver API", tests, setup, teardown);
}
