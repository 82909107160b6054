/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the CUDA driver API that writes outside of its memory. It needs no GPU and no
 * toolkit: warpscope exec --software-gpu -- example-program FATBIN
 *
 * FATBIN: tests/data/sim/driver.O3.fatbin; the kernel is `store` of tests/sim/kernels/driver.cu.
 */
#include <stdio.h>

/* What it uses of the API, as its documentation declares it. */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoad(void **module, const char *path);
int cuModuleGetFunction(void **kernel, void *module, const char *name);
int cuMemAlloc_v2(unsigned long long *address, size_t n_bytes);
int cuLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
		   void *stream, void **args, void **extra);
int cuCtxSynchronize(void);
int cuGetErrorString(int result, const char **text);

static int failed(const char *call, int result)
{
	const char *text = "?";
	if (result == 0)
		return 0;
	(void)cuGetErrorString(result, &text);
	fprintf(stderr, "%s: %s\n", call, text);
	return 1;
}

int main(int argc, char **argv)
{
	void *context, *module, *store;
	unsigned long long numbers;
	unsigned first = 512; /* of 1,024; the last of 1,024 threads writes number 1,535 */
	void *args[] = { &numbers, &first };
	if (argc != 2)
		return 2;
	if (failed("cuInit", cuInit(0)) ||
	    failed("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0)) ||
	    failed("cuCtxSetCurrent", cuCtxSetCurrent(context)) ||
	    failed("cuModuleLoad", cuModuleLoad(&module, argv[1])) ||
	    failed("cuModuleGetFunction", cuModuleGetFunction(&store, module, "store")) ||
	    failed("cuMemAlloc", cuMemAlloc_v2(&numbers, 1024 * sizeof(unsigned))) ||
	    failed("cuLaunchKernel",
		   cuLaunchKernel(store, 1, 1, 1, 1024, 1, 1, 0, NULL, args, NULL)) ||
	    failed("cuCtxSynchronize", cuCtxSynchronize()))
		return 1;
	printf("all numbers are written\n");
	return 0;
}
