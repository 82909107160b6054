/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of the runtime API share. Included once by each, after cmocka.h. */
#ifndef RT_H
#define RT_H

#include <stdio.h>
#include <stdlib.h>

#include "runtime_api.h"

static void check(cudaError_t result, const char *what, int line)
{
	if (result != cudaSuccess)
		fail_msg("line %d: %s: %s", line, what, cudaGetErrorName(result));
}

#define OK(call) check((call), #call, __LINE__)

/* A place in the program that stands for a kernel, and the kernel's name. */
struct kernel_name {
	char *host;
	const char *name;
};

/* Registers an image and kernels of it, as compilers do before main(). */
static void **register_image(const char *path, const struct kernel_name *kernels, size_t n)
{
	enum { MOST = 4 << 20 };
	struct wrapper {
		unsigned magic, version;
		void *image, *more;
	} *wrapper = calloc(1, sizeof *wrapper); /* it stays as long as the program */
	char *bytes = calloc(MOST, 1);
	FILE *file = fopen(path, "rb");
	if (!file || !wrapper || !bytes || fread(bytes, 1, MOST, file) == 0)
		exit(2);
	fclose(file);
	*wrapper = (struct wrapper){ 0x466243b1, 1, bytes, NULL };
	void **image = __cudaRegisterFatBinary(wrapper);
	for (size_t i = 0; i < n; i++)
		__cudaRegisterFunction(image, kernels[i].host, kernels[i].host, kernels[i].name, -1,
				       NULL, NULL, NULL, NULL, NULL);
	return image;
}

#define N_OF(list) (sizeof(list) / sizeof(list)[0])

#endif
