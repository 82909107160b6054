/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the CUDA driver API's types the functions here take: sizes, numbers and places as the
 * API documents them, names as in it. Declared anew; nothing of the vendor's header is here.
 */
#ifndef WARPSCOPE_DRIVER_CUDA_H
#define WARPSCOPE_DRIVER_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "results.h"

typedef enum cu_result CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct kernel *CUfunction; /* also a CUkernel */
typedef struct module *CUlibrary;
typedef struct stream *CUstream;
typedef struct event *CUevent;

typedef struct {
	char bytes[16];
} CUuuid;

/* Streams that are not handles. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

enum {
	CU_MEMORYTYPE_HOST = 1,
	CU_MEMORYTYPE_DEVICE,
	CU_MEMORYTYPE_ARRAY,
	CU_MEMORYTYPE_UNIFIED,
};

enum {
	CU_EVENT_DISABLE_TIMING = 2,
	CU_CTX_FLAGS_MASK = 0xff,
	CU_MEMHOSTALLOC_ALL = 7,
};

typedef struct {
	size_t src_x, src_y;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x, dst_y;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width, height;
} CUDA_MEMCPY2D;

typedef struct {
	size_t src_x, src_y, src_z, src_lod;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_device;
	void *src_array, *reserved0;
	size_t src_pitch, src_height;
	size_t dst_x, dst_y, dst_z, dst_lod;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_device;
	void *dst_array, *reserved1;
	size_t dst_pitch, dst_height;
	size_t width, height, depth;
} CUDA_MEMCPY3D;

enum {
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
};

typedef struct {
	int id;
	char pad[8 - sizeof(int)];
	union {
		char bytes[64];
		int cooperative;
		unsigned cluster[3];
	} value;
} CUlaunchAttribute;

typedef struct {
	unsigned grid[3], block[3], shared_bytes;
	CUstream stream;
	CUlaunchAttribute *attributes;
	unsigned n_attributes;
} CUlaunchConfig;

/* Entries of `extra` of cuLaunchKernel(). */
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

#endif
