/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a cubin and runs its first kernel: load CUBIN [COPIES]. With COPIES the cubin is loaded
 * that many times, so that the process has many modules; the kernel of the last one runs. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                           \
	do {                                                                \
		CUresult result = (call);                                   \
		const char *name = "?";                                     \
		cuGetErrorName(result, &name);                              \
		if (result)                                                 \
			printf("%.60s: %d %s\n", #call, (int)result, name); \
	} while (0)

static void *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		exit(9);
	long n = ftell(file);
	char *bytes = n > 0 ? malloc((size_t)n) : NULL;
	rewind(file);
	if (!bytes || fread(bytes, 1, (size_t)n, file) != (size_t)n)
		exit(9);
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	CUdevice device;
	CUcontext context;
	CUmodule cubin = NULL;
	CUfunction kernel = NULL;
	CUdeviceptr memory = 0;
	unsigned n = 7;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 9;
	void *image = read_file(argv[1]);
	int copies = argc > 2 ? atoi(argv[2]) : 1;
	TRY(cuInit(0));
	TRY(cuDeviceGet(&device, 0));
	TRY(cuCtxCreate(&context, NULL, 0, device));
	for (int i = 0; i < copies; i++)
		TRY(cuModuleLoadData(&cubin, image));
	TRY(cuModuleEnumerateFunctions(&kernel, 1, cubin));
	TRY(cuMemAlloc(&memory, 65536));
	void *arguments[] = { &memory, &n };
	TRY(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, 0, arguments, 0));
	TRY(cuCtxSynchronize());
	fflush(stdout);
	_Exit(0);
}
