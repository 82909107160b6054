/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools. Memory of a pool is allocated at once and given back when its turn comes; a pool
 * keeps nothing that is free, so what it has reserved is what is used.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum {
	REUSE_FOLLOWS_EVENTS = 1,
	REUSE_OPPORTUNISTIC,
	REUSE_INTERNAL,
	RELEASE_THRESHOLD,
	RESERVED_CURRENT,
	RESERVED_HIGH,
	USED_CURRENT,
	USED_HIGH,
};
enum { PINNED = 1, LOCATION_DEVICE = 1, PROT_READWRITE = 3 };

/* Those that are gone stay in memory, as the program may name them once more. */
struct pool {
	enum magic magic;
	struct pool *next; /* of all but the usual one */
	uint64_t threshold;
	int reuse[REUSE_INTERNAL + 1];
	_Atomic uint64_t used, high;
	uint64_t limit; /* 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools;
static struct pool usual = { .magic = MAGIC_POOL, .reuse = { 0, 1, 1, 1 } };
static struct pool *chosen = &usual;

void pool_note(struct pool *pool, uint64_t n_bytes, bool is_added)
{
	if (!pool)
		return;
	if (!is_added) {
		atomic_fetch_sub(&pool->used, n_bytes);
		return;
	}
	uint64_t used = atomic_fetch_add(&pool->used, n_bytes) + n_bytes;
	uint64_t high = atomic_load(&pool->high);
	while (high < used && !atomic_compare_exchange_weak(&pool->high, &high, used))
		continue;
}

static CUresult allocate(CUdeviceptr *ret_address, size_t n_bytes, struct pool *pool,
			 CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && !IS(pool, MAGIC_POOL))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && stream_captures(stream))
		result = capture_spoil(stream_of(stream));
	if (result == CUDA_SUCCESS && pool->limit &&
	    n_bytes > pool->limit - atomic_load(&pool->used))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	return result == CUDA_SUCCESS ? memory_allocate(ret_address, n_bytes, pool) : result;
}

CU_API(cuMemAllocAsync)(CUdeviceptr *ret_address, size_t n_bytes, CUstream stream)
{
	DONE(allocate(ret_address, n_bytes, chosen, stream));
}

CU_API(cuMemAllocFromPoolAsync)
(CUdeviceptr *ret_address, size_t n_bytes, CUmemoryPool pool, CUstream stream)
{
	DONE(allocate(ret_address, n_bytes, pool, stream));
}

CU_API(cuMemPoolCreate)(CUmemoryPool *ret_pool, const CUmemPoolProps *props)
{
	if (!ret_pool || !props || props->type != PINNED)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (props->handles != 0 || props->location.type != LOCATION_DEVICE)
		DONE(CUDA_ERROR_NOT_SUPPORTED); /* sharing with processes; memory of the host */
	if (props->location.id != 0)
		DONE(CUDA_ERROR_INVALID_DEVICE);
	struct pool *pool = calloc(1, sizeof *pool);
	if (!pool)
		DONE(CUDA_ERROR_OUT_OF_MEMORY);
	*pool = (struct pool){ .magic = MAGIC_POOL,
			       .reuse = { 0, 1, 1, 1 },
			       .limit = props->limit };
	pthread_mutex_lock(&lock);
	pool->next = pools;
	pools = pool;
	pthread_mutex_unlock(&lock);
	*ret_pool = pool;
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemPoolDestroy)(CUmemoryPool pool)
{
	if (!IS(pool, MAGIC_POOL) || pool == &usual)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	pool->magic = MAGIC_GONE;
	if (chosen == pool)
		chosen = &usual;
	pthread_mutex_unlock(&lock);
	DONE(CUDA_SUCCESS);
}

CU_API(cuDeviceGetDefaultMemPool)(CUmemoryPool *ret_pool, CUdevice device)
{
	if (!ret_pool || device != 0)
		DONE(ret_pool ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
	*ret_pool = &usual;
	DONE(CUDA_SUCCESS);
}

CU_API(cuDeviceGetMemPool)(CUmemoryPool *ret_pool, CUdevice device)
{
	if (!ret_pool || device != 0)
		DONE(ret_pool ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
	*ret_pool = chosen;
	DONE(CUDA_SUCCESS);
}

CU_API(cuDeviceSetMemPool)(CUdevice device, CUmemoryPool pool)
{
	if (device != 0 || !IS(pool, MAGIC_POOL))
		DONE(device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE);
	chosen = pool;
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemPoolTrimTo)(CUmemoryPool pool, size_t n_bytes)
{
	(void)n_bytes; /* nothing is kept */
	DONE(IS(pool, MAGIC_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuMemPoolSetAttribute)(CUmemoryPool pool, int attribute, void *value)
{
	if (!IS(pool, MAGIC_POOL) || !value)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (attribute >= REUSE_FOLLOWS_EVENTS && attribute <= REUSE_INTERNAL) {
		pool->reuse[attribute] = *(int *)value != 0;
		DONE(CUDA_SUCCESS);
	}
	uint64_t number = *(uint64_t *)value;
	if (attribute == RELEASE_THRESHOLD)
		pool->threshold = number;
	else if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && number == 0)
		atomic_store(&pool->high, atomic_load(&pool->used));
	else
		DONE(CUDA_ERROR_INVALID_VALUE);
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemPoolGetAttribute)(CUmemoryPool pool, int attribute, void *ret_value)
{
	if (!IS(pool, MAGIC_POOL) || !ret_value)
		DONE(CUDA_ERROR_INVALID_VALUE);
	switch (attribute) {
	case REUSE_FOLLOWS_EVENTS:
	case REUSE_OPPORTUNISTIC:
	case REUSE_INTERNAL:
		*(int *)ret_value = pool->reuse[attribute];
		DONE(CUDA_SUCCESS);
	case RELEASE_THRESHOLD:
		*(uint64_t *)ret_value = pool->threshold;
		DONE(CUDA_SUCCESS);
	case RESERVED_CURRENT:
	case USED_CURRENT:
		*(uint64_t *)ret_value = atomic_load(&pool->used);
		DONE(CUDA_SUCCESS);
	case RESERVED_HIGH:
	case USED_HIGH:
		*(uint64_t *)ret_value = atomic_load(&pool->high);
		DONE(CUDA_SUCCESS);
	default:
		DONE(CUDA_ERROR_INVALID_VALUE);
	}
}

/* The one device has access in any case; it cannot be taken away. */
CU_API(cuMemPoolSetAccess)(CUmemoryPool pool, const CUmemAccessDesc *access, size_t n)
{
	if (!IS(pool, MAGIC_POOL) || (n > 0 && !access))
		DONE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < n; i++) {
		if (access[i].location.type != LOCATION_DEVICE || access[i].location.id != 0)
			DONE(CUDA_ERROR_INVALID_DEVICE);
		if (access[i].flags != PROT_READWRITE)
			DONE(CUDA_ERROR_NOT_SUPPORTED);
	}
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemPoolGetAccess)(int *ret_flags, CUmemoryPool pool, CUmemLocation *location)
{
	if (!ret_flags || !location || !IS(pool, MAGIC_POOL))
		DONE(CUDA_ERROR_INVALID_VALUE);
	bool here = location->type == LOCATION_DEVICE && location->id == 0;
	*ret_flags = here ? PROT_READWRITE : 0;
	DONE(CUDA_SUCCESS);
}
