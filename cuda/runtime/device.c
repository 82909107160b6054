/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning, errors, the device. */
#include "runtime.h"

#include <pthread.h>
#include <string.h>

#include "driver/report.h"
#include "results.h"

#pragma weak warpscope_runtime_begin
#pragma weak warpscope_runtime_end

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int init_result;
static CUcontext context;
static _Thread_local int last;
static _Thread_local bool has_context;

/* ---- beginning and errors ---- */

static void runtime_init(void)
{
	init_result = (int)cuInit(0);
	if (init_result == RT_SUCCESS)
		init_result = (int)cuDevicePrimaryCtxRetain(&context, 0);
}

int rt_begin(void)
{
	if (warpscope_runtime_begin)
		warpscope_runtime_begin();
	pthread_once(&once, runtime_init);
	if (init_result != RT_SUCCESS || has_context)
		return init_result;
	CUcontext current = NULL;
	if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && !current)
		init_result = (int)cuCtxSetCurrent(context);
	has_context = init_result == RT_SUCCESS;
	return init_result;
}

RT_API(cudaGetLastError)(void)
{
	int result = last;
	last = RT_SUCCESS;
	return result;
}

RT_API(cudaPeekAtLastError)(void)
{
	return last;
}

static const char *result_text(int result, bool name)
{
	switch (result) {
#define X(number, id, text) \
	case number:        \
		return name ? #id : text;
		RT_RESULT_LIST(X)
#undef X
	default:
		return "unrecognized error code";
	}
}

int rt_end(int result, const char *function)
{
	if (warpscope_runtime_end)
		warpscope_runtime_end(result, function, result_text(result, true),
				      result_text(result, false));
	if (result != RT_SUCCESS && result != RT_NOT_READY)
		last = result;
	return result;
}

int entry_failed(const char *function)
{
	return rt_end(RT_NOT_SUPPORTED, function);
}

RT_API_OF(const char *, cudaGetErrorName)(int result)
{
	return result_text(result, true);
}

RT_API_OF(const char *, cudaGetErrorString)(int result)
{
	return result_text(result, false);
}

/* ---- the device ---- */

RT_API(cudaRuntimeGetVersion)(int *ret_version)
{
	if (!ret_version)
		return rt_done(RT_INVALID_VALUE);
	*ret_version = rt_version.number;
	return RT_SUCCESS;
}

RT_API(cudaDriverGetVersion)(int *ret_version)
{
	if (!ret_version)
		return rt_done(RT_INVALID_VALUE);
	return (int)cuDriverGetVersion(ret_version);
}

RT_API(cudaGetDeviceCount)(int *ret_n)
{
	RT_CALL(cuDeviceGetCount(ret_n));
}

RT_API(cudaGetDevice)(int *ret_device)
{
	if (!ret_device)
		return rt_done(RT_INVALID_VALUE);
	*ret_device = 0;
	return rt_done(rt_begin());
}

static int set_device(int device)
{
	int result = rt_begin();
	return result == RT_SUCCESS && device != 0 ? RT_INVALID_DEVICE : result;
}

RT_API(cudaSetDevice)(int device)
{
	return rt_done(set_device(device));
}

RT_API(cudaInitDevice)(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags, (void)flags;
	return rt_done(set_device(device));
}

RT_API(cudaSetDeviceFlags)(unsigned flags)
{
	RT_CALL(cuDevicePrimaryCtxSetFlags_v2(0, flags & 0xff));
}

RT_API(cudaGetDeviceFlags)(unsigned *ret_flags)
{
	RT_CALL(cuCtxGetFlags(ret_flags));
}

RT_API(cudaDeviceSynchronize)(void)
{
	RT_CALL(cuCtxSynchronize());
}

RT_API(cudaDeviceReset)(void)
{
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = (int)cuDevicePrimaryCtxReset_v2(0);
	rt_forget_images();
	last = RT_SUCCESS;
	return rt_done(result);
}

RT_API(cudaDeviceGetAttribute)(int *ret_value, int attribute, int device)
{
	RT_CALL(cuDeviceGetAttribute(ret_value, attribute, device)); /* the same numbers */
}

RT_API(cudaDeviceGetLimit)(size_t *ret_value, int limit)
{
	RT_CALL(cuCtxGetLimit(ret_value, (unsigned)limit));
}

RT_API(cudaDeviceSetLimit)(int limit, size_t value)
{
	RT_CALL(cuCtxSetLimit((unsigned)limit, value));
}

RT_API(cudaDeviceGetCacheConfig)(int *ret_config)
{
	RT_CALL(cuCtxGetCacheConfig(ret_config));
}

RT_API(cudaDeviceSetCacheConfig)(int config)
{
	RT_CALL(cuCtxSetCacheConfig(config));
}

RT_API(cudaDeviceGetStreamPriorityRange)(int *ret_least, int *ret_greatest)
{
	RT_CALL(cuCtxGetStreamPriorityRange(ret_least, ret_greatest));
}

RT_API(cudaDeviceCanAccessPeer)(int *ret_can, int device, int peer)
{
	RT_CALL(cuDeviceCanAccessPeer(ret_can, device, peer));
}

RT_API(cudaDeviceGetPCIBusId)(char *ret_id, int size, int device)
{
	RT_CALL(cuDeviceGetPCIBusId(ret_id, size, device));
}

RT_API(cudaDeviceGetByPCIBusId)(int *ret_device, const char *id)
{
	RT_CALL(cuDeviceGetByPCIBusId(ret_device, id));
}

RT_API(cudaProfilerStart)(void)
{
	RT_CALL(cuProfilerStart());
}

RT_API(cudaProfilerStop)(void)
{
	RT_CALL(cuProfilerStop());
}

/* ---- properties ---- */

enum { NAME_BYTES = 256, UUID_AT = 256, TOTAL_AT = 288 };

/* What is in the same place in every version. */
static const struct rt_member common[] = {
	{ 296, 8 },                          /* sharedMemPerBlock */
	{ 304, 12 },                         /* regsPerBlock */
	{ 308, 10 },                         /* warpSize */
	{ 312, 11 },                         /* memPitch */
	{ 320, 1 },                          /* maxThreadsPerBlock */
	{ 324, 2 },                          /* maxThreadsDim */
	{ 328, 3 },  { 332, 4 }, { 336, 5 }, /* maxGridSize */
	{ 340, 6 },  { 344, 7 }, { 352, 9 }, /* totalConstMem */
	{ 360, 75 },                         /* major */
	{ 364, 76 },                         /* minor */
	{ 368, 14 },                         /* textureAlignment */
	{ 376, 51 },                         /* texturePitchAlignment */
};

static void put_members(unsigned char *to, const struct rt_member *members, size_t n, int device)
{
	for (size_t i = 0; i < n; i++) {
		int value = 0;
		(void)cuDeviceGetAttribute(&value, members[i].attribute, device);
		memcpy(to + members[i].at, &value, sizeof value); /* larger ones: 0 above */
	}
}

int rt_properties(void *ret_properties, size_t n_bytes, const struct rt_member *members, size_t n,
		  int device)
{
	unsigned char *to = ret_properties;
	size_t total = 0;
	int result = to ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuDeviceTotalMem_v2(&total, device);
	if (result != RT_SUCCESS)
		return result;
	memset(to, 0, n_bytes);
	(void)cuDeviceGetName((char *)to, NAME_BYTES, device);
	(void)cuDeviceGetUuid_v2((CUuuid *)(to + UUID_AT), device);
	memcpy(to + TOTAL_AT, &total, sizeof total);
	put_members(to, common, sizeof common / sizeof common[0], device);
	put_members(to, members, n, device);
	return RT_SUCCESS;
}
