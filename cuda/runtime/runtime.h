/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime share: the CUDA runtime API over the public driver API, for
 * programs that are linked with -cudart shared.
 */
#ifndef WARPSCOPE_RUNTIME_H
#define WARPSCOPE_RUNTIME_H

#include <stdbool.h>

#include "driver/cuda.h"

/* A function of the API. Results have the driver's numbers where both have one. */
#define RT_API(name) RT_API_OF(int, name)
#define RT_API_OF(type, name) __attribute__((visibility("default"))) type name

enum {
	RT_SUCCESS = 0,
	RT_INVALID_VALUE = 1,
	RT_OUT_OF_MEMORY = 2,
	RT_INVALID_CONFIGURATION = 9,
	RT_INVALID_SYMBOL = 13,
	RT_INVALID_CHANNEL = 20,
	RT_INVALID_DIRECTION = 21,
	RT_INSUFFICIENT_DRIVER = 35,
	RT_MISSING_CONFIGURATION = 52,
	RT_INVALID_FUNCTION = 98,
	RT_NO_DEVICE = 100,
	RT_INVALID_DEVICE = 101,
	RT_NOT_READY = 600,
	RT_NOT_SUPPORTED = 801,
};

struct rt_dim3 {
	unsigned x, y, z;
};

/* Begins, if that was not done, and makes the device's context the thread's. */
int rt_begin(void);
/* Keeps an error for cudaGetLastError(), tells a debugger of it, and gives it back. */
int rt_end(int result, const char *function);
/* What every function of the API that begins returns through. */
#define rt_done(result) rt_end((result), __func__)
/* Begins, makes a call of the driver if that went well, and is done. */
#define RT_CALL(call)                                        \
	do {                                                 \
		int begun = rt_begin();                      \
		return rt_done(begun ? begun : (int)(call)); \
	} while (0)

/* ---- device.c ---- */

/* A member of cudaDeviceProp, and the attribute that it repeats. */
struct rt_member {
	unsigned at;
	int attribute;
};

/* Fills the structure: what all versions have, and the members of this one. */
int rt_properties(void *ret_properties, size_t n_bytes, const struct rt_member *members, size_t n,
		  int device);

/* ---- cuda12.c, cuda13.c: one of them ---- */

extern const struct rt_version {
	int number;
	unsigned pointer_bytes; /* of cudaPointerAttributes */
} rt_version;

/* ---- memory.c ---- */

/* The place at an offset of a variable, with room for `n` bytes. */
int rt_place(const void *symbol, size_t offset, size_t n, void **ret_at);

/* ---- array.c ---- */

/* The copy that a cudaMemcpy3DParms tells of, for the driver. */
int rt_box(const void *params, CUDA_MEMCPY3D *ret_box);

/* ---- register.c ---- */

/* The kernel behind a function of the host, or what it is itself. */
int rt_function(const void *host, CUfunction *ret_function);
/* The function of the host that stands for a kernel, or the kernel itself. */
const void *rt_host_of(CUfunction function);
/* A variable of the device behind one of the host. */
int rt_variable(const void *host, CUdeviceptr *ret_address, size_t *ret_bytes);
/* Images are to be loaded anew. */
void rt_forget_images(void);

#endif
