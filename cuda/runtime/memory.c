/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, copies and fills. */
#include "runtime.h"

#include <string.h>

static CUdeviceptr device(const void *at)
{
	return (uintptr_t)at;
}

/* ---- memory ---- */

RT_API(cudaMalloc)(void **ret_at, size_t n_bytes)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS && n_bytes > 0)
		result = (int)cuMemAlloc_v2(&at, n_bytes);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaMallocAsync)(void **ret_at, size_t n_bytes, CUstream stream)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS && n_bytes > 0)
		result = (int)cuMemAllocAsync(&at, n_bytes, stream);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaMallocFromPoolAsync)
(void **ret_at, size_t n_bytes, CUmemoryPool pool, CUstream stream)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS && n_bytes > 0)
		result = (int)cuMemAllocFromPoolAsync(&at, n_bytes, pool, stream);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaFree)(void *at)
{
	RT_CALL(cuMemFree_v2(device(at)));
}

RT_API(cudaFreeAsync)(void *at, CUstream stream)
{
	RT_CALL(cuMemFreeAsync(device(at), stream));
}

RT_API(cudaMallocPitch)(void **ret_at, size_t *ret_pitch, size_t width, size_t height)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuMemAllocPitch_v2(&at, ret_pitch, width, height, 4);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaMallocManaged)(void **ret_at, size_t n_bytes, unsigned flags)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuMemAllocManaged(&at, n_bytes, flags);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaMallocHost)(void **ret_host, size_t n_bytes)
{
	RT_CALL(cuMemAllocHost_v2(ret_host, n_bytes));
}

RT_API(cudaHostAlloc)(void **ret_host, size_t n_bytes, unsigned flags)
{
	RT_CALL(cuMemHostAlloc(ret_host, n_bytes, flags));
}

RT_API(cudaFreeHost)(void *host)
{
	RT_CALL(host ? cuMemFreeHost(host) : CUDA_SUCCESS);
}

RT_API(cudaHostRegister)(void *host, size_t n_bytes, unsigned flags)
{
	RT_CALL(cuMemHostRegister_v2(host, n_bytes, flags));
}

RT_API(cudaHostUnregister)(void *host)
{
	RT_CALL(cuMemHostUnregister(host));
}

RT_API(cudaHostGetDevicePointer)(void **ret_at, void *host, unsigned flags)
{
	CUdeviceptr at = 0;
	int result = ret_at ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuMemHostGetDevicePointer_v2(&at, host, flags);
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)at;
	return rt_done(result);
}

RT_API(cudaHostGetFlags)(unsigned *ret_flags, void *host)
{
	RT_CALL(cuMemHostGetFlags(ret_flags, host));
}

RT_API(cudaMemGetInfo)(size_t *ret_free, size_t *ret_total)
{
	RT_CALL(cuMemGetInfo_v2(ret_free, ret_total));
}

/* ---- pools: structures and numbers are the driver's ---- */

RT_API(cudaMemPoolCreate)(CUmemoryPool *ret_pool, const CUmemPoolProps *props)
{
	RT_CALL(cuMemPoolCreate(ret_pool, props));
}

RT_API(cudaMemPoolDestroy)(CUmemoryPool pool)
{
	RT_CALL(cuMemPoolDestroy(pool));
}

RT_API(cudaMemPoolTrimTo)(CUmemoryPool pool, size_t n_bytes)
{
	RT_CALL(cuMemPoolTrimTo(pool, n_bytes));
}

RT_API(cudaMemPoolSetAttribute)(CUmemoryPool pool, int attribute, void *value)
{
	RT_CALL(cuMemPoolSetAttribute(pool, attribute, value));
}

RT_API(cudaMemPoolGetAttribute)(CUmemoryPool pool, int attribute, void *ret_value)
{
	RT_CALL(cuMemPoolGetAttribute(pool, attribute, ret_value));
}

RT_API(cudaMemPoolSetAccess)(CUmemoryPool pool, const CUmemAccessDesc *access, size_t n)
{
	RT_CALL(cuMemPoolSetAccess(pool, access, n));
}

RT_API(cudaMemPoolGetAccess)(int *ret_flags, CUmemoryPool pool, CUmemLocation *location)
{
	RT_CALL(cuMemPoolGetAccess(ret_flags, pool, location));
}

RT_API(cudaDeviceGetDefaultMemPool)(CUmemoryPool *ret_pool, int number)
{
	RT_CALL(cuDeviceGetDefaultMemPool(ret_pool, number));
}

RT_API(cudaDeviceGetMemPool)(CUmemoryPool *ret_pool, int number)
{
	RT_CALL(cuDeviceGetMemPool(ret_pool, number));
}

RT_API(cudaDeviceSetMemPool)(int number, CUmemoryPool pool)
{
	RT_CALL(cuDeviceSetMemPool(number, pool));
}

struct pointer_attributes {
	int type; /* 0: not known to the device, 1: host, 2: device, 3: managed */
	int device;
	void *device_pointer, *host_pointer; /* more, all 0, from CUDA 13 on */
};

RT_API(cudaPointerGetAttributes)(struct pointer_attributes *ret, const void *at)
{
	int result = ret ? rt_begin() : RT_INVALID_VALUE;
	unsigned type = 0;
	int managed = 0;
	if (result != RT_SUCCESS)
		return rt_done(result);
	memset(ret, 0, rt_version.pointer_bytes);
	ret->device = -2;
	ret->host_pointer = (void *)(uintptr_t)at;
	if (cuPointerGetAttribute(&type, 2, device(at)) != CUDA_SUCCESS)
		return rt_done(RT_SUCCESS);
	(void)cuPointerGetAttribute(&managed, 8, device(at));
	ret->type = managed ? 3 : (int)type;
	ret->device = 0;
	ret->device_pointer = (void *)(uintptr_t)at;
	if (ret->type == CU_MEMORYTYPE_DEVICE)
		ret->host_pointer = NULL;
	return rt_done(RT_SUCCESS);
}

/* ---- copies ---- */

enum { TO_HOST_HOST, TO_DEVICE, TO_HOST, TO_DEVICE_DEVICE, BY_ADDRESS, N_DIRECTIONS };

static unsigned pointer_type_of(const void *at)
{
	unsigned type = CU_MEMORYTYPE_HOST;
	return cuPointerGetAttribute(&type, 2, device(at)) == CUDA_SUCCESS ? type
									   : CU_MEMORYTYPE_HOST;
}

static int copy_pitched_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			     size_t width, size_t height, int direction, bool waits,
			     CUstream stream)
{
	int result = rt_begin();
	if (result == RT_SUCCESS && (direction < 0 || direction >= N_DIRECTIONS))
		result = RT_INVALID_DIRECTION;
	if (result != RT_SUCCESS || width == 0 || height == 0)
		return result;
	bool to_device = direction == TO_DEVICE || direction == TO_DEVICE_DEVICE;
	bool from_device = direction == TO_HOST || direction == TO_DEVICE_DEVICE;
	if (direction == BY_ADDRESS) {
		to_device = pointer_type_of(to) == CU_MEMORYTYPE_DEVICE;
		from_device = pointer_type_of(from) == CU_MEMORYTYPE_DEVICE;
	}
	const CUDA_MEMCPY2D c = {
		.src_type = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
		.src_host = from,
		.src_device = device(from),
		.src_pitch = from_pitch,
		.dst_type = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
		.dst_host = to,
		.dst_device = device(to),
		.dst_pitch = to_pitch,
		.width = width,
		.height = height,
	};
	return (int)(waits ? cuMemcpy2D_v2(&c) : cuMemcpy2DAsync_v2(&c, stream));
}

RT_API(cudaMemcpy)(void *to, const void *from, size_t n, int direction)
{
	return rt_done(copy_pitched_rows(to, n, from, n, n, 1, direction, true, NULL));
}

RT_API(cudaMemcpyAsync)(void *to, const void *from, size_t n, int direction, CUstream stream)
{
	return rt_done(copy_pitched_rows(to, n, from, n, n, 1, direction, false, stream));
}

RT_API(cudaMemcpy2D)
(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
 int direction)
{
	return rt_done(copy_pitched_rows(to, to_pitch, from, from_pitch, width, height, direction,
					 true, NULL));
}

RT_API(cudaMemcpy2DAsync)
(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
 int direction, CUstream stream)
{
	return rt_done(copy_pitched_rows(to, to_pitch, from, from_pitch, width, height, direction,
					 false, stream));
}

int rt_place(const void *symbol, size_t offset, size_t n, void **ret_at)
{
	CUdeviceptr at;
	size_t n_bytes;
	int result = rt_variable(symbol, &at, &n_bytes);
	if (result == RT_SUCCESS && (offset > n_bytes || n > n_bytes - offset))
		result = RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		*ret_at = (void *)(uintptr_t)(at + offset);
	return result;
}

RT_API(cudaMemcpyToSymbolAsync)
(const void *symbol, const void *from, size_t n, size_t offset, int direction, CUstream stream)
{
	void *to = NULL;
	int result = rt_place(symbol, offset, n, &to);
	return rt_done(result ? result
			      : copy_pitched_rows(to, n, from, n, n, 1, direction, false, stream));
}

RT_API(cudaMemcpyToSymbol)
(const void *symbol, const void *from, size_t n, size_t offset, int direction)
{
	void *to = NULL;
	int result = rt_place(symbol, offset, n, &to);
	return rt_done(result ? result
			      : copy_pitched_rows(to, n, from, n, n, 1, direction, true, NULL));
}

RT_API(cudaMemcpyFromSymbolAsync)
(void *to, const void *symbol, size_t n, size_t offset, int direction, CUstream stream)
{
	void *from = NULL;
	int result = rt_place(symbol, offset, n, &from);
	return rt_done(result ? result
			      : copy_pitched_rows(to, n, from, n, n, 1, direction, false, stream));
}

RT_API(cudaMemcpyFromSymbol)(void *to, const void *symbol, size_t n, size_t offset, int direction)
{
	void *from = NULL;
	int result = rt_place(symbol, offset, n, &from);
	return rt_done(result ? result
			      : copy_pitched_rows(to, n, from, n, n, 1, direction, true, NULL));
}

RT_API(cudaGetSymbolAddress)(void **ret_at, const void *symbol)
{
	return rt_done(ret_at ? rt_place(symbol, 0, 0, ret_at) : RT_INVALID_VALUE);
}

RT_API(cudaGetSymbolSize)(size_t *ret_bytes, const void *symbol)
{
	CUdeviceptr at;
	return rt_done(ret_bytes ? rt_variable(symbol, &at, ret_bytes) : RT_INVALID_VALUE);
}

/* ---- fills ---- */

RT_API(cudaMemset)(void *at, int value, size_t n)
{
	RT_CALL(cuMemsetD8_v2(device(at), (unsigned char)value, n));
}

RT_API(cudaMemsetAsync)(void *at, int value, size_t n, CUstream stream)
{
	RT_CALL(cuMemsetD8Async(device(at), (unsigned char)value, n, stream));
}

RT_API(cudaMemset2D)(void *at, size_t pitch, int value, size_t width, size_t height)
{
	RT_CALL(cuMemsetD2D8_v2(device(at), pitch, (unsigned char)value, width, height));
}

RT_API(cudaMemset2DAsync)
(void *at, size_t pitch, int value, size_t width, size_t height, CUstream stream)
{
	RT_CALL(cuMemsetD2D8Async(device(at), pitch, (unsigned char)value, width, height, stream));
}
