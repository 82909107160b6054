/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory whose addresses the program chooses: addresses are reserved, memory is made, and the one
 * is mapped to the other. Memory is a file without a name, so that it may be mapped more than once;
 * the device sees it where access was allowed, the program nowhere.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VIRTUAL_BASE UINT64_C(0x300000000000)

enum { GRANULARITY = 2 << 20 };
enum { PINNED = 1, LOCATION_DEVICE = 1, PROT_NONE_AT_ALL = 0, PROT_READWRITE = 3 };

struct chunk {
	enum magic magic;
	size_t n_bytes;
	unsigned refs; /* handles of the program, and mappings */
	int fd;        /* owned */
};

struct reserved {
	struct reserved *next;
	uint64_t start, n_bytes;
};

struct mapping {
	struct mapping *next;
	uint64_t start, n_bytes, offset;
	struct chunk *chunk; /* a reference is owned */
	bool is_open;        /* the device sees it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reserved *reservations;
static struct mapping *mappings;
static uint64_t next = VIRTUAL_BASE, n_made;

/* ---- under lock ---- */

static void put_chunk(struct chunk *chunk)
{
	if (--chunk->refs > 0)
		return;
	n_made -= chunk->n_bytes;
	chunk->magic = MAGIC_GONE;
	close(chunk->fd);
	free(chunk);
}

static bool overlap(uint64_t a, uint64_t n_a, uint64_t b, uint64_t n_b)
{
	return a - b < n_b || b - a < n_a;
}

static CUresult open_mapping(struct mapping *m)
{
	uint64_t word[WIRE_WORDS] = { m->start, m->n_bytes, m->offset };
	const struct driver_range range = { .start = m->start,
					    .n_bytes = m->n_bytes,
					    .kind = RANGE_DEVICE,
					    .is_variable = true,
					    .context = driver_context() };
	if (m->is_open)
		return CUDA_SUCCESS;
	CUresult result = driver_call(WIRE_SHARE, word, NULL, 0, m->chunk->fd, NULL, NULL);
	if (result == CUDA_SUCCESS && !range_add(&range))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	m->is_open = result == CUDA_SUCCESS;
	return result;
}

static CUresult close_mapping(struct mapping *m)
{
	uint64_t word[WIRE_WORDS] = { m->start };
	struct driver_range range;
	if (!m->is_open)
		return CUDA_SUCCESS;
	m->is_open = false;
	(void)range_remove(m->start, &range);
	return driver_call(WIRE_FREE, word, NULL, 0, -1, NULL, NULL);
}

/* Whether whole mappings, one behind the other, are all of a range. */
static bool is_covered(uint64_t start, uint64_t n_bytes)
{
	uint64_t sum = 0;
	for (const struct mapping *m = mappings; m; m = m->next) {
		if (!overlap(m->start, m->n_bytes, start, n_bytes))
			continue;
		if (m->start < start || m->n_bytes > n_bytes - (m->start - start))
			return false;
		sum += m->n_bytes;
	}
	return sum == n_bytes;
}

static CUresult unmap_range(uint64_t start, uint64_t n_bytes)
{
	CUresult result = CUDA_SUCCESS;
	if (!is_covered(start, n_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	for (struct mapping **at = &mappings; *at;) {
		struct mapping *m = *at;
		if (!overlap(m->start, m->n_bytes, start, n_bytes)) {
			at = &m->next;
			continue;
		}
		CUresult closed = close_mapping(m);
		result = result == CUDA_SUCCESS ? closed : result;
		*at = m->next;
		put_chunk(m->chunk);
		free(m);
	}
	return result;
}

void virtual_forget(void)
{
	pthread_mutex_lock(&lock);
	while (mappings) {
		struct mapping *m = mappings;
		mappings = m->next;
		put_chunk(m->chunk);
		free(m);
	}
	while (reservations) {
		struct reserved *r = reservations;
		reservations = r->next;
		free(r);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- addresses ---- */

CU_API(cuMemAddressReserve)
(CUdeviceptr *ret_address, size_t n_bytes, size_t alignment, CUdeviceptr address,
 unsigned long long flags)
{
	CUresult result = ret_address && n_bytes > 0 && n_bytes % GRANULARITY == 0 &&
					  (alignment & (alignment - 1)) == 0 && flags == 0 &&
					  n_bytes < UINT64_C(1) << 44 && alignment <= n_bytes
				  ? driver_check()
				  : CUDA_ERROR_INVALID_VALUE;
	struct reserved *r = result == CUDA_SUCCESS ? malloc(sizeof *r) : NULL;
	(void)address; /* a wish */
	if (result == CUDA_SUCCESS && !r)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS)
		DONE(result);
	pthread_mutex_lock(&lock);
	uint64_t unit = alignment > GRANULARITY ? alignment : GRANULARITY;
	uint64_t start = (next + unit - 1) / unit * unit;
	next = start + n_bytes + GRANULARITY;
	*r = (struct reserved){ reservations, start, n_bytes };
	reservations = r;
	pthread_mutex_unlock(&lock);
	*ret_address = start;
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemAddressFree)(CUdeviceptr address, size_t n_bytes)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	bool is_used = false;
	pthread_mutex_lock(&lock);
	for (const struct mapping *m = mappings; m; m = m->next)
		is_used |= overlap(m->start, m->n_bytes, address, n_bytes);
	for (struct reserved **at = &reservations; *at && !is_used; at = &(*at)->next)
		if ((*at)->start == address && (*at)->n_bytes == n_bytes) {
			struct reserved *gone = *at;
			*at = gone->next;
			free(gone);
			result = CUDA_SUCCESS;
			break;
		}
	pthread_mutex_unlock(&lock);
	DONE(result);
}

/* ---- memory ---- */

static CUresult check_prop(const CUmemAllocationProp *prop)
{
	if (!prop || prop->type != PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (prop->handles != 0 || prop->location.type != LOCATION_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED; /* sharing with processes; memory of the host */
	if (prop->location.id != 0)
		return CUDA_ERROR_INVALID_DEVICE;
	return CUDA_SUCCESS;
}

CU_API(cuMemGetAllocationGranularity)
(size_t *ret_bytes, const CUmemAllocationProp *prop, int option)
{
	CUresult result = ret_bytes && (option == 0 || option == 1) ? check_prop(prop)
								    : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_bytes = GRANULARITY;
	DONE(result);
}

static CUresult chunk_make(struct chunk **ret_chunk, size_t n_bytes)
{
	CUresult result = CUDA_SUCCESS;
	struct chunk *chunk = malloc(sizeof *chunk);
	int fd = chunk ? memory_make_file(n_bytes) : -1;
	pthread_mutex_lock(&lock);
	if (fd < 0 || n_bytes > driver.device.limits.memory_bytes - n_made)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	else
		n_made += n_bytes;
	pthread_mutex_unlock(&lock);
	if (result == CUDA_SUCCESS) {
		*chunk = (struct chunk){ MAGIC_CHUNK, n_bytes, 1, fd };
		*ret_chunk = chunk;
		return CUDA_SUCCESS;
	}
	if (fd >= 0)
		close(fd);
	free(chunk);
	return result;
}

CU_API(cuMemCreate)
(CUmemGenericAllocationHandle *ret_handle, size_t n_bytes, const CUmemAllocationProp *prop,
 unsigned long long flags)
{
	struct chunk *chunk = NULL;
	CUresult result = ret_handle && n_bytes > 0 && n_bytes % GRANULARITY == 0 && flags == 0
				  ? driver_check()
				  : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = check_prop(prop);
	if (result == CUDA_SUCCESS)
		result = chunk_make(&chunk, n_bytes);
	if (result == CUDA_SUCCESS)
		*ret_handle = (uintptr_t)chunk;
	DONE(result);
}

static struct chunk *chunk_of(CUmemGenericAllocationHandle handle)
{
	struct chunk *chunk = (struct chunk *)(uintptr_t)handle;
	return IS(chunk, MAGIC_CHUNK) ? chunk : NULL;
}

CU_API(cuMemRelease)(CUmemGenericAllocationHandle handle)
{
	struct chunk *chunk = chunk_of(handle);
	if (!chunk)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	put_chunk(chunk);
	pthread_mutex_unlock(&lock);
	DONE(CUDA_SUCCESS);
}

CU_API(cuMemGetAllocationPropertiesFromHandle)
(CUmemAllocationProp *ret_prop, CUmemGenericAllocationHandle handle)
{
	if (!ret_prop || !chunk_of(handle))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_prop = (CUmemAllocationProp){ .type = PINNED, .location = { LOCATION_DEVICE, 0 } };
	DONE(CUDA_SUCCESS);
}

/* ---- mappings ---- */

CU_API(cuMemMap)
(CUdeviceptr address, size_t n_bytes, size_t offset, CUmemGenericAllocationHandle handle,
 unsigned long long flags)
{
	struct chunk *chunk = chunk_of(handle);
	if (!chunk || flags != 0 || n_bytes == 0 || address % GRANULARITY != 0 ||
	    n_bytes % GRANULARITY != 0 || offset % GRANULARITY != 0 || offset > chunk->n_bytes ||
	    n_bytes > chunk->n_bytes - offset)
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct mapping *mapping = malloc(sizeof *mapping);
	if (!mapping)
		DONE(CUDA_ERROR_OUT_OF_MEMORY);
	bool is_inside = false, is_used = false;
	pthread_mutex_lock(&lock);
	for (const struct reserved *r = reservations; r; r = r->next)
		is_inside |= address - r->start < r->n_bytes &&
			     n_bytes <= r->n_bytes - (address - r->start);
	for (const struct mapping *m = mappings; m; m = m->next)
		is_used |= overlap(m->start, m->n_bytes, address, n_bytes);
	bool ok = is_inside && !is_used;
	if (ok) {
		*mapping = (struct mapping){ mappings, address, n_bytes, offset, chunk, false };
		mappings = mapping;
		chunk->refs++;
	}
	pthread_mutex_unlock(&lock);
	if (!ok)
		free(mapping);
	DONE(ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuMemUnmap)(CUdeviceptr address, size_t n_bytes)
{
	CUresult result = queue_drain();
	pthread_mutex_lock(&lock);
	CUresult unmapped = unmap_range(address, n_bytes);
	pthread_mutex_unlock(&lock);
	DONE(result == CUDA_SUCCESS ? unmapped : result);
}

CU_API(cuMemSetAccess)
(CUdeviceptr address, size_t n_bytes, const CUmemAccessDesc *access, size_t n)
{
	CUresult result = n > 0 && access ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	bool opens = false;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
		opens |= access[i].flags == PROT_READWRITE;
		if (access[i].location.type != LOCATION_DEVICE || access[i].location.id != 0)
			result = CUDA_ERROR_INVALID_DEVICE;
		else if (access[i].flags != PROT_READWRITE && access[i].flags != PROT_NONE_AT_ALL)
			result = CUDA_ERROR_NOT_SUPPORTED; /* what may only be read */
	}
	if (result == CUDA_SUCCESS)
		result = queue_drain();
	if (result != CUDA_SUCCESS)
		DONE(result);
	pthread_mutex_lock(&lock);
	if (!is_covered(address, n_bytes))
		result = CUDA_ERROR_INVALID_VALUE;
	for (struct mapping *m = mappings; m && result == CUDA_SUCCESS; m = m->next)
		if (overlap(m->start, m->n_bytes, address, n_bytes))
			result = opens ? open_mapping(m) : close_mapping(m);
	pthread_mutex_unlock(&lock);
	DONE(result);
}

CU_API(cuMemGetAccess)
(unsigned long long *ret_flags, const CUmemLocation *location, CUdeviceptr address)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (const struct mapping *m = mappings; m && ret_flags && location; m = m->next)
		if (address - m->start < m->n_bytes) {
			bool here = location->type == LOCATION_DEVICE && location->id == 0;
			*ret_flags = here && m->is_open ? PROT_READWRITE : PROT_NONE_AT_ALL;
			result = CUDA_SUCCESS;
		}
	pthread_mutex_unlock(&lock);
	DONE(result);
}

CU_API(cuMemRetainAllocationHandle)(CUmemGenericAllocationHandle *ret_handle, void *address)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (struct mapping *m = mappings; m && ret_handle; m = m->next)
		if ((uintptr_t)address - m->start < m->n_bytes) {
			m->chunk->refs++;
			*ret_handle = (uintptr_t)m->chunk;
			result = CUDA_SUCCESS;
		}
	pthread_mutex_unlock(&lock);
	DONE(result);
}
