/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the runtime API on the software GPU, as nvcc makes them with -cudart shared: the
 * images are registered before the first call. usage: test_runtime FATBIN
 *
 * Kernels: tests/sim/kernels/driver.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt.h"

/* Places in the program that stand for kernels and variables of the device. */
static char add, store, say, shared, unknown, scale, total;

static void register_program(const char *path)
{
	static const struct kernel_name kernels[] = {
		{ &add, "add" }, { &store, "store" }, { &say, "say" }, { &shared, "shared" }
	};
	void **image = register_image(path, kernels, N_OF(kernels));
	__cudaRegisterVar(image, &scale, &scale, "scale", 0, 4, 1, 0);
	__cudaRegisterVar(image, &total, &total, "total", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
}

/* As <<<blocks, threads>>> is compiled: the brackets first, then the kernel's stub. */
static cudaError_t launch(char *kernel, unsigned blocks, unsigned threads, size_t shared_bytes,
			  void **args)
{
	const dim3 asked_grid = { blocks, 1, 1 }, asked_block = { threads, 1, 1 };
	dim3 grid, block;
	size_t bytes;
	cudaStream_t stream;
	assert_int_equal(__cudaPushCallConfiguration(asked_grid, asked_block, shared_bytes, NULL),
			 0);
	OK(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
	return cudaLaunchKernel(kernel, grid, block, args, bytes, stream);
}

static void a_kernel_adds(void **state)
{
	enum { N = 300 };
	unsigned a[N], b[N], sum[N], n = N, five = 5;
	void *da, *db, *dsum, *args[] = { &da, &db, &dsum, &n };
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		a[i] = i;
		b[i] = 1;
	}
	OK(cudaMalloc(&da, sizeof a));
	OK(cudaMalloc(&db, sizeof b));
	OK(cudaMalloc(&dsum, sizeof sum));
	OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault));
	OK(cudaMemcpyToSymbol(&scale, &five, 4, 0, cudaMemcpyHostToDevice));
	OK(launch(&add, 3, 128, 0, args));
	OK(cudaMemcpy(sum, dsum, sizeof sum, cudaMemcpyDefault));
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(sum[i], i + 5);
	OK(cudaFree(da));
	OK(cudaFree(db));
	OK(cudaFree(dsum));
	OK(cudaFree(NULL));
}

/* Of an image for sm_100a alone, on the device of sm_90a. */
static char for_another;

static void code_for_another_device_is_told(void **state)
{
	enum { NO_KERNEL_IMAGE = 209 }; /* cudaErrorNoKernelImageForDevice */
	const dim3 one = { 1, 1, 1 };
	const void *kernel = NULL;
	void *args[1] = { NULL };
	(void)state;
	assert_int_equal(launch(&for_another, 1, 1, 0, args), NO_KERNEL_IMAGE);
	for (unsigned i = 0; i < 2; i++) { /* as nvcc 13.0 has it called */
		assert_int_equal(__cudaGetKernel(&kernel, &for_another), NO_KERNEL_IMAGE);
		assert_int_equal(__cudaLaunchKernel(kernel, one, one, args, 0, NULL),
				 NO_KERNEL_IMAGE);
		assert_int_equal(cudaGetLastError(), NO_KERNEL_IMAGE);
	}
}

static void variables_are_copied(void **state)
{
	unsigned value = 77, back = 0;
	(void)state;
	OK(cudaMemcpyToSymbol(&total, &value, 4, 0, cudaMemcpyHostToDevice));
	OK(cudaMemcpyFromSymbol(&back, &total, 4, 0, cudaMemcpyDeviceToHost));
	assert_int_equal(back, 77);
	assert_int_equal(cudaMemcpyFromSymbol(&back, &total, 4, 2, cudaMemcpyDeviceToHost),
			 cudaErrorInvalidValue);
	assert_int_equal(cudaMemcpyFromSymbol(&back, &unknown, 4, 0, cudaMemcpyDeviceToHost),
			 cudaErrorInvalidSymbol);
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidSymbol);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidSymbol);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void the_device_has_properties(void **state)
{
	struct cudaDeviceProp p;
	struct cudaFuncAttributes f;
	int n;
	(void)state;
	memset(&p, 0xff, sizeof p);
	OK(cudaGetDeviceCount(&n));
	assert_int_equal(n, 1);
	OK(cudaGetDeviceProperties(&p, 0));
	assert_string_equal(p.name, "Warpscope software GPU sm_90a");
	assert_int_equal(p.major * 10 + p.minor, 90);
	assert_int_equal(p.multiProcessorCount, 132);
	assert_int_equal(p.warpSize, 32);
	assert_int_equal(p.maxThreadsDim[2], 64);
	assert_int_equal(p.maxGridSize[0], 2147483647);
	assert_int_equal(p.totalConstMem, 65536);
	assert_int_equal(p.totalGlobalMem, 1u << 30);
#ifdef USE_VENDOR_HEADER
	assert_int_equal(p.sharedMemPerBlockOptin, 227 * 1024);
	assert_int_equal(p.maxThreadsPerMultiProcessor, 2048);
	assert_int_equal(p.regsPerMultiprocessor, 65536);
	assert_int_equal(p.maxBlocksPerMultiProcessor, 32);
	assert_int_equal(p.reservedSharedMemPerBlock, 1024);
	assert_int_equal(p.managedMemory, 1);
	assert_int_equal(p.clusterLaunch, 1);
#endif
	assert_int_equal(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
	OK(cudaFuncGetAttributes(&f, &add));
	assert_true(f.numRegs > 0 && f.numRegs < 256);
	assert_int_equal(f.binaryVersion, 90);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &add, 1024, 0));
	assert_int_equal(n, 2);
}

static void pointers_have_kinds(void **state)
{
	struct {
		struct cudaPointerAttributes a;
		unsigned after[16]; /* the structure is smaller in CUDA 12 */
	} room;
	struct cudaPointerAttributes a;
	const struct cudaMemLocation host = { 2, 0 };
	void *at;
	int here = 0;
	(void)state;
	memset(&room, 0x5a, sizeof room);
	OK(cudaPointerGetAttributes(&room.a, &here));
	for (int i = 0; i < 16; i++)
		assert_int_equal(room.after[i], 0x5a5a5a5a);
	OK(cudaMallocManaged(&at, 4096, cudaMemAttachGlobal));
#ifdef USE_CUDA_12
	OK(cudaMemAdvise(at, 4096, cudaMemAdviseSetReadMostly, 0));
	OK(cudaMemPrefetchAsync(at, 4096, -1, NULL));
	OK(cudaMemAdvise_v2(at, 4096, cudaMemAdviseSetReadMostly, host));
	OK(cudaMemPrefetchAsync_v2(at, 4096, host, 0, NULL));
#else
	OK(cudaMemAdvise(at, 4096, cudaMemAdviseSetReadMostly, host));
	OK(cudaMemPrefetchAsync(at, 4096, host, 0, NULL));
#endif
	OK(cudaMemset(at, 1, 4096));
	assert_int_equal(((unsigned *)at)[1023], 0x01010101);
	OK(cudaPointerGetAttributes(&a, at));
	assert_int_equal(a.type, cudaMemoryTypeManaged);
	OK(cudaPointerGetAttributes(&a, &here));
	assert_int_equal(a.type, cudaMemoryTypeUnregistered);
	OK(cudaFree(at));
}

static unsigned long long of_pool(cudaMemPool_t pool, int attribute)
{
	unsigned long long value = 1;
	OK(cudaMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static void pools_tell_what_is_used(void **state)
{
	struct cudaMemPoolProps props;
	cudaMemPool_t usual, pool, now;
	unsigned long long keep = 1 << 20, none = 0;
	void *a, *b;
	(void)state;
	OK(cudaDeviceGetDefaultMemPool(&usual, 0));
	OK(cudaMallocAsync(&a, 4096, NULL));
	OK(cudaMemset(a, 1, 4096));
	assert_int_equal(of_pool(usual, cudaMemPoolAttrUsedMemCurrent), 4096);
	OK(cudaFreeAsync(a, NULL));
	OK(cudaDeviceSynchronize());
	assert_int_equal(of_pool(usual, cudaMemPoolAttrUsedMemCurrent), 0);
	assert_int_equal(of_pool(usual, cudaMemPoolAttrUsedMemHigh), 4096);
	OK(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrUsedMemHigh, &none));
	assert_int_equal(of_pool(usual, cudaMemPoolAttrUsedMemHigh), 0);

	memset(&props, 0, sizeof props);
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.maxSize = 8192;
	OK(cudaMemPoolCreate(&pool, &props));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	assert_int_equal(of_pool(pool, cudaMemPoolAttrReleaseThreshold), keep);
	OK(cudaMallocFromPoolAsync(&a, 4096, pool, NULL));
	assert_int_equal(cudaMallocFromPoolAsync(&b, 4097, pool, NULL), cudaErrorMemoryAllocation);
	OK(cudaDeviceSetMemPool(0, pool));
	OK(cudaDeviceGetMemPool(&now, 0));
	assert_ptr_equal(now, pool);
	OK(cudaMallocAsync(&b, 100, NULL));
	assert_int_equal(of_pool(pool, cudaMemPoolAttrUsedMemCurrent), 4196);
	OK(cudaFree(b));
	assert_int_equal(of_pool(pool, cudaMemPoolAttrUsedMemCurrent), 4096);
	OK(cudaMemPoolDestroy(pool)); /* the usual one is chosen again */
	OK(cudaDeviceGetMemPool(&now, 0));
	assert_ptr_equal(now, usual);
	OK(cudaFree(a));
	props.handleTypes = 1;
	assert_int_equal(cudaMemPoolCreate(&pool, &props), cudaErrorNotSupported);
	(void)cudaGetLastError();
}

static void what_is_wrong_is_told(void **state)
{
	int n = 1;
	void *args[] = { &n };
	char out[4];
	(void)state;
	assert_int_equal(launch(&say, 1, 2000, 0, args), cudaErrorInvalidConfiguration);
	assert_int_equal(launch(&unknown, 1, 1, 0, args), cudaErrorInvalidDeviceFunction);
	assert_int_equal(launch(&shared, 1, 1, 100000, args), cudaErrorInvalidConfiguration);
	OK(cudaFuncSetAttribute(&shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
	assert_int_equal(cudaMemcpy(out, &n, 4, 17), cudaErrorInvalidMemcpyDirection);
	assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
	assert_int_equal(cudaCtxResetPersistingL2Cache(), cudaErrorNotSupported);
	(void)cudaGetLastError();
}

static void a_fault_stays_until_a_reset(void **state)
{
	void *at;
	unsigned far = 1u << 30, near = 0, first = 1;
	void *args[] = { &at, &far }, *good[] = { &at, &near };
	(void)state;
	OK(cudaMalloc(&at, 256));
	OK(launch(&store, 1, 32, 0, args));
	assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	assert_string_equal(cudaGetErrorName(cudaGetLastError()), "cudaErrorIllegalAddress");
	assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress),
			    "an illegal memory access was encountered");
	assert_int_equal(cudaMalloc(&at, 256), cudaErrorIllegalAddress);
	OK(cudaDeviceReset());
	OK(cudaMalloc(&at, 256)); /* the image is loaded once more */
	OK(launch(&store, 1, 32, 0, good));
	OK(cudaMemcpy(&first, at, 4, cudaMemcpyDeviceToHost));
	assert_int_equal(first, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_adds),
		cmocka_unit_test(code_for_another_device_is_told),
		cmocka_unit_test(variables_are_copied),
		cmocka_unit_test(the_device_has_properties),
		cmocka_unit_test(pointers_have_kinds),
		cmocka_unit_test(pools_tell_what_is_used),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(a_fault_stays_until_a_reset),
	};
	static const struct kernel_name other[] = { { &for_another, "k" } };
	if (argc != 3)
		return 2;
	register_program(argv[1]);
	__cudaRegisterFatBinaryEnd(register_image(argv[2], other, N_OF(other)));
	return cmocka_run_group_tests_name("a program of the runtime API", tests, NULL, NULL);
}
