/* SPDX-License-Identifier: Apache-2.0 */
/* What the device is. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

CU_API(cuDeviceGetCount)(int *ret_n)
{
	if (!driver.ready)
		DONE(CUDA_ERROR_NOT_INITIALIZED);
	if (!ret_n)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_n = 1;
	DONE(CUDA_SUCCESS);
}

CU_API(cuDeviceGet)(CUdevice *ret_device, int ordinal)
{
	CUresult result = ret_device ? device_check(ordinal) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_device = 0;
	DONE(result);
}

CU_API(cuDeviceGetName)(char *ret_name, int size, CUdevice device)
{
	CUresult result = ret_name && size > 0 ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		snprintf(ret_name, (size_t)size, "%s", driver.device.name);
	DONE(result);
}

CU_API(cuDeviceGetUuid_v2)(CUuuid *ret_uuid, CUdevice device)
{
	CUresult result = ret_uuid ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) /* one for all of these: they are all the same */
		memcpy(ret_uuid->bytes, "warpscope-gpu-00", 16);
	DONE(result);
}

CU_API(cuDeviceGetUuid)(CUuuid *ret_uuid, CUdevice device)
{
	DONE_BY(cuDeviceGetUuid_v2(ret_uuid, device));
}

CU_API(cuDeviceTotalMem_v2)(size_t *ret_bytes, CUdevice device)
{
	CUresult result = ret_bytes ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_bytes = driver.device.limits.memory_bytes;
	DONE(result);
}

CU_API(cuDeviceComputeCapability)(int *ret_major, int *ret_minor, CUdevice device)
{
	CUresult result = ret_major && ret_minor ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		*ret_major = (int)(driver.device.limits.sm / 10);
		*ret_minor = (int)(driver.device.limits.sm % 10);
	}
	DONE(result);
}

/* Attributes by their documented numbers; those that are not here are 0. */
static int device_attribute(int number)
{
	const struct ws_sim_limits *d = &driver.device.limits;
	switch (number) {
	case 1: /* MAX_THREADS_PER_BLOCK */
	case 2: /* MAX_BLOCK_DIM_X */
	case 3: /* _Y */
		return 1024;
	case 4: /* MAX_BLOCK_DIM_Z */
		return 64;
	case 5: /* MAX_GRID_DIM_X */
		return 2147483647;
	case 6: /* MAX_GRID_DIM_Y */
	case 7: /* _Z */
		return 65535;
	case 8: /* MAX_SHARED_MEMORY_PER_BLOCK: without opting in */
		return 48 * 1024;
	case 9: /* TOTAL_CONSTANT_MEMORY */
		return 64 * 1024;
	case 10: /* WARP_SIZE */
		return 32;
	case 11: /* MAX_PITCH */
		return 2147483647;
	case 12: /* MAX_REGISTERS_PER_BLOCK */
	case 82: /* MAX_REGISTERS_PER_MULTIPROCESSOR */
		return (int)d->n_regs;
	case 13: /* CLOCK_RATE, kHz: nothing is counted in it */
	case 36: /* MEMORY_CLOCK_RATE */
		return 1000000;
	case 14: /* TEXTURE_ALIGNMENT */
	case 30: /* SURFACE_ALIGNMENT */
		return 512;
	case 51: /* TEXTURE_PITCH_ALIGNMENT */
		return 32;
	case 15:  /* GPU_OVERLAP */
	case 40:  /* ASYNC_ENGINE_COUNT */
	case 19:  /* CAN_MAP_HOST_MEMORY */
	case 41:  /* UNIFIED_ADDRESSING */
	case 78:  /* STREAM_PRIORITIES_SUPPORTED */
	case 83:  /* MANAGED_MEMORY */
	case 89:  /* CONCURRENT_MANAGED_ACCESS */
	case 91:  /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
	case 95:  /* COOPERATIVE_LAUNCH */
	case 99:  /* HOST_REGISTER_SUPPORTED: see registered.c */
	case 102: /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
	case 115: /* MEMORY_POOLS_SUPPORTED */
	case 79:  /* GLOBAL_L1_CACHE_SUPPORTED */
	case 80:  /* LOCAL_L1_CACHE_SUPPORTED */
	case 90:  /* COMPUTE_PREEMPTION_SUPPORTED */
		return 1;
	case 120: /* CLUSTER_LAUNCH */
	case 127: /* TENSOR_MAP_ACCESS_SUPPORTED */
		return d->sm >= 90;
	case 16: /* MULTIPROCESSOR_COUNT */
		return (int)d->n_sms;
	case 33: /* PCI_BUS_ID */
		return 1;
	case 37: /* GLOBAL_MEMORY_BUS_WIDTH */
		return 256;
	case 38: /* L2_CACHE_SIZE */
		return 32 << 20;
	case 39: /* MAX_THREADS_PER_MULTIPROCESSOR */
		return (int)(d->n_warps * 32);
	case 75: /* COMPUTE_CAPABILITY_MAJOR */
		return (int)(d->sm / 10);
	case 76: /* COMPUTE_CAPABILITY_MINOR */
		return (int)(d->sm % 10);
	case 81: /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
		return (int)d->sm_shared_bytes;
	case 87: /* SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO */
		return 2;
	case 97: /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
		return (int)d->block_shared_bytes;
	case 106: /* MAX_BLOCKS_PER_MULTIPROCESSOR */
		return (int)d->n_blocks;
	case 111: /* RESERVED_SHARED_MEMORY_PER_BLOCK */
		return (int)d->kept_shared_bytes;
	default:
		return 0;
	}
}

enum { N_ATTRIBUTES = 150 };

CU_API(cuDeviceGetAttribute)(int *ret_value, int number, CUdevice device)
{
	CUresult result = ret_value && number > 0 && number < N_ATTRIBUTES
				  ? device_check(device)
				  : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_value = device_attribute(number);
	DONE(result);
}

CU_API(cuDeviceCanAccessPeer)(int *ret_can, CUdevice device, CUdevice peer)
{
	CUresult result = ret_can ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	result = result == CUDA_SUCCESS ? device_check(peer) : result;
	if (result == CUDA_SUCCESS)
		*ret_can = 0;
	DONE(result);
}

static const char bus[] = "0000:01:00.0";

CU_API(cuDeviceGetPCIBusId)(char *ret_id, int size, CUdevice device)
{
	CUresult result = ret_id && size > 0 ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		snprintf(ret_id, (size_t)size, "%s", bus);
	DONE(result);
}

CU_API(cuDeviceGetByPCIBusId)(CUdevice *ret_device, const char *id)
{
	CUresult result = ret_device && id ? device_check(0) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && strcmp(id, bus) != 0)
		result = CUDA_ERROR_INVALID_DEVICE;
	if (result == CUDA_SUCCESS)
		*ret_device = 0;
	DONE(result);
}

/* There is no profiler to tell. */
CU_API(cuProfilerStart)(void)
{
	DONE(driver_check());
}

CU_API(cuProfilerStop)(void)
{
	DONE(driver_check());
}
