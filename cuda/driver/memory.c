/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, and memory of the host that the device sees at the same address. */
#define _GNU_SOURCE /* memfd_create, MAP_FIXED_NOREPLACE */
#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <warpscope/cudadebugger.h>

/* Where memory that both see is laid: out of the way of the device's own. */
#ifdef __SANITIZE_THREAD__ /* lets a program map only some addresses */
#define SHARED_BASE UINT64_C(0x7e8000000000)
#else
#define SHARED_BASE UINT64_C(0x200000000000)
#endif

/* For managed variables; pages that nobody uses are not there. */
#define MANAGED_BASE (SHARED_BASE + (UINT64_C(1) << 38))
#define MANAGED_BYTES (UINT64_C(1) << 30)

enum { PAGE = 1 << 16, PITCH = 512 };

CUresult memory_allocate(CUdeviceptr *ret_address, size_t n_bytes, struct pool *pool)
{
	uint64_t word[WIRE_WORDS] = { n_bytes };
	CUresult result = ret_address && n_bytes > 0 ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = driver_call(WIRE_ALLOC, word, NULL, 0, -1, NULL, NULL);
	if (result != CUDA_SUCCESS)
		return result;
	const struct driver_range range = { .start = word[0],
					    .n_bytes = n_bytes,
					    .kind = RANGE_DEVICE,
					    .pool = pool,
					    .context = driver_context() };
	if (!range_add(&range))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret_address = range.start;
	return CUDA_SUCCESS;
}

/* How large a file may be: one that is larger ends the program. */
static uint64_t file_limit(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}

int memory_make_file(size_t n_bytes)
{
	if (n_bytes > file_limit())
		return -1;
	int fd = memfd_create("cuda host memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && ftruncate(fd, (off_t)n_bytes) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Such a file for memory that both processes see, mapped at an address. */
static int make_shared(uint64_t at, size_t n_bytes)
{
	int fd = memory_make_file(n_bytes);
	void *host = MAP_FAILED;
	if (fd >= 0)
		host = mmap((void *)(uintptr_t)at, n_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	if (host == (void *)(uintptr_t)at)
		return fd;
	if (host != MAP_FAILED) /* a kernel that does not know the flag */
		munmap(host, n_bytes);
	if (fd >= 0) {
		close(fd);
		driver_report_internal(CUDBG_ERROR_MEMORY_MAPPING_FAILED);
	}
	return -1;
}

CUresult memory_share_managed(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_done;
	const uint64_t limit = file_limit() / PAGE * PAGE;
	const size_t n_bytes = limit < MANAGED_BYTES ? limit : MANAGED_BYTES;
	uint64_t word[WIRE_WORDS] = { MANAGED_BASE, n_bytes };
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	if (!is_done && n_bytes > 0) { /* else images with such variables do not load */
		int fd = make_shared(MANAGED_BASE, n_bytes);
		result = fd < 0 ? CUDA_ERROR_OUT_OF_MEMORY
				: driver_call(WIRE_MANAGED, word, NULL, 0, fd, NULL, NULL);
		is_done = result == CUDA_SUCCESS;
		if (is_done) /* most of it stays unused: no part of a core of the program */
			(void)madvise((void *)(uintptr_t)MANAGED_BASE, n_bytes, MADV_DONTDUMP);
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && !is_done)
			munmap((void *)(uintptr_t)MANAGED_BASE, n_bytes);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void memory_use_managed(size_t n_bytes)
{
	if (n_bytes > 0)
		(void)madvise((void *)(uintptr_t)MANAGED_BASE, n_bytes, MADV_DODUMP);
}

bool memory_is_managed(uint64_t address)
{
	return address - MANAGED_BASE < MANAGED_BYTES;
}

/* Memory without a name that both processes see. */
static CUresult share_host_memory(void **ret_host, size_t n_bytes, enum range_kind kind,
				  unsigned flags)
{
	static _Atomic uint64_t next = SHARED_BASE;
	CUresult result = ret_host && n_bytes > 0 && n_bytes <= SIZE_MAX / 2
				  ? driver_check()
				  : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	size_t room = (n_bytes + PAGE - 1) / PAGE * PAGE;
	uint64_t at = atomic_fetch_add(&next, room + PAGE);
	int fd = make_shared(at, room);
	const struct driver_range range = { .start = at,
					    .n_bytes = n_bytes,
					    .kind = kind,
					    .flags = flags,
					    .context = driver_context() };
	uint64_t word[WIRE_WORDS] = { at, n_bytes };
	if (fd < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = driver_call(WIRE_SHARE, word, NULL, 0, fd, NULL, NULL);
	if (result == CUDA_SUCCESS && !range_add(&range))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	close(fd);
	if (result == CUDA_SUCCESS)
		*ret_host = (void *)(uintptr_t)at;
	else
		munmap((void *)(uintptr_t)at, room);
	return result;
}

/* Gives back what one of some kinds of allocation gave, once all work is done. */
static CUresult release_memory(uint64_t address, bool is_host)
{
	uint64_t word[WIRE_WORDS] = { address };
	struct driver_range range;
	CUresult result = driver_check();
	if (result != CUDA_SUCCESS)
		return result;
	if (address == 0)
		return is_host ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	if (!range_find(address, &range) || range.start != address ||
	    (range.kind == RANGE_HOST) != is_host || range.is_variable)
		return CUDA_ERROR_INVALID_VALUE;
	result = queue_drain();
	if (result == CUDA_SUCCESS)
		result = driver_check();
	if (result == CUDA_SUCCESS)
		result = driver_call(WIRE_FREE, word, NULL, 0, -1, NULL, NULL);
	if (result == CUDA_SUCCESS && range_remove(address, &range) && range.kind != RANGE_DEVICE)
		munmap((void *)(uintptr_t)address, (range.n_bytes + PAGE - 1) / PAGE * PAGE);
	return result;
}

CUresult memory_release(uint64_t address)
{
	return release_memory(address, false);
}

CU_API(cuMemAlloc_v2)(CUdeviceptr *ret_address, size_t n_bytes)
{
	DONE(memory_allocate(ret_address, n_bytes, NULL));
}

CU_API(cuMemAllocPitch_v2)
(CUdeviceptr *ret_address, size_t *ret_pitch, size_t width, size_t height, unsigned element)
{
	if (!ret_pitch || (element != 4 && element != 8 && element != 16) || width == 0 ||
	    height == 0 || width > SIZE_MAX / 2 || (width + PITCH) > SIZE_MAX / height)
		DONE(CUDA_ERROR_INVALID_VALUE);
	size_t pitch = (width + PITCH - 1) / PITCH * PITCH;
	CUresult result = memory_allocate(ret_address, pitch * height, NULL);
	if (result == CUDA_SUCCESS)
		*ret_pitch = pitch;
	DONE(result);
}

CU_API(cuMemAllocManaged)(CUdeviceptr *ret_address, size_t n_bytes, unsigned flags)
{
	void *host;
	if (!ret_address || (flags != 1 && flags != 2))
		DONE(CUDA_ERROR_INVALID_VALUE);
	CUresult result = share_host_memory(&host, n_bytes, RANGE_MANAGED, flags);
	if (result == CUDA_SUCCESS)
		*ret_address = (uintptr_t)host;
	DONE(result);
}

CU_API(cuMemFree_v2)(CUdeviceptr address)
{
	DONE(memory_release(address));
}

/* ---- in the order of a stream: there is one, and new memory is there at once ---- */

static CUresult run_release(struct driver_op *op)
{
	struct driver_range range;
	const uint64_t address = op->word[0];
	CUresult result = driver_work(WIRE_FREE, op->word, NULL, 0, NULL, 0);
	if (result == CUDA_SUCCESS)
		(void)range_remove(address, &range);
	return result;
}

CU_API(cuMemFreeAsync)(CUdeviceptr address, CUstream stream)
{
	struct driver_range range;
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && stream_captures(stream))
		result = capture_spoil(stream_of(stream)); /* there are no nodes of memory */
	if (result == CUDA_SUCCESS && (!range_find(address, &range) || range.start != address ||
				       range.kind != RANGE_DEVICE || range.is_variable))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	const struct driver_op op = { .run = run_release, .word = { address } };
	DONE(stream_add(stream, &op));
}

CU_API(cuMemGetInfo_v2)(size_t *ret_free, size_t *ret_total)
{
	CUresult result = ret_free && ret_total ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		*ret_total = driver.device.limits.memory_bytes;
		uint64_t used = ranges_bytes(RANGE_DEVICE);
		*ret_free = used < *ret_total ? *ret_total - used : 0;
	}
	DONE(result);
}

CU_API(cuMemAllocHost_v2)(void **ret_host, size_t n_bytes)
{
	DONE(share_host_memory(ret_host, n_bytes, RANGE_HOST, 0));
}

CU_API(cuMemHostAlloc)(void **ret_host, size_t n_bytes, unsigned flags)
{
	if (flags & ~(unsigned)CU_MEMHOSTALLOC_ALL)
		DONE(CUDA_ERROR_INVALID_VALUE);
	DONE(share_host_memory(ret_host, n_bytes, RANGE_HOST, flags));
}

CU_API(cuMemFreeHost)(void *host)
{
	DONE(release_memory((uintptr_t)host, true));
}

CU_API(cuMemHostGetDevicePointer_v2)(CUdeviceptr *ret_address, void *host, unsigned flags)
{
	struct driver_range range;
	CUresult result = ret_address && flags == 0 ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS &&
	    (!range_find((uintptr_t)host, &range) || range.kind == RANGE_DEVICE))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_address = (uintptr_t)host;
	DONE(result);
}

CU_API(cuMemHostGetFlags)(unsigned *ret_flags, void *host)
{
	struct driver_range range;
	CUresult result = ret_flags ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS &&
	    (!range_find((uintptr_t)host, &range) || range.kind != RANGE_HOST))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_flags = range.flags | 2; /* DEVICEMAP: always */
	DONE(result);
}

CU_API(cuMemGetAddressRange_v2)(CUdeviceptr *ret_start, size_t *ret_bytes, CUdeviceptr address)
{
	struct driver_range range;
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS && !range_find(address, &range))
		result = CUDA_ERROR_NOT_FOUND;
	if (result == CUDA_SUCCESS && ret_start)
		*ret_start = range.start;
	if (result == CUDA_SUCCESS && ret_bytes)
		*ret_bytes = range.n_bytes;
	DONE(result);
}

/* Where memory is best kept: there is one place. */
CU_API(cuMemPrefetchAsync)(CUdeviceptr address, size_t n_bytes, CUdevice device, CUstream stream)
{
	struct driver_range range;
	(void)n_bytes, (void)device;
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && (!range_find(address, &range) || range.kind != RANGE_MANAGED))
		result = CUDA_ERROR_INVALID_VALUE;
	DONE(result);
}

CU_API(cuMemPrefetchAsync_v2)
(CUdeviceptr address, size_t n_bytes, uint64_t location, unsigned flags, CUstream stream)
{
	(void)location, (void)flags;
	DONE_BY(cuMemPrefetchAsync(address, n_bytes, 0, stream));
}

CU_API(cuMemAdvise)(CUdeviceptr address, size_t n_bytes, int advice, CUdevice device)
{
	struct driver_range range;
	(void)n_bytes, (void)advice, (void)device;
	DONE(range_find(address, &range) ? driver_check() : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuMemAdvise_v2)(CUdeviceptr address, size_t n_bytes, int advice, uint64_t location)
{
	(void)location;
	DONE_BY(cuMemAdvise(address, n_bytes, advice, 0));
}

/* ---- pointers ---- */

static CUresult pointer_attribute(void *ret, int number, const struct driver_range *range,
				  CUdeviceptr address)
{
	bool is_host = range->kind == RANGE_HOST, is_managed = range->kind == RANGE_MANAGED;
	switch (number) {
	case 1: /* CONTEXT */
		memcpy(ret, &range->context, sizeof range->context);
		return CUDA_SUCCESS;
	case 2: /* MEMORY_TYPE */
		*(unsigned *)ret = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case 3: /* DEVICE_POINTER */
		*(CUdeviceptr *)ret = address;
		return CUDA_SUCCESS;
	case 4: /* HOST_POINTER */
		*(CUdeviceptr *)ret = is_host || is_managed ? address : 0;
		return is_host || is_managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case 6: /* SYNC_MEMOPS */
		*(int *)ret = 0;
		return CUDA_SUCCESS;
	case 7: /* BUFFER_ID */
		*(uint64_t *)ret = range->id;
		return CUDA_SUCCESS;
	case 8: /* IS_MANAGED */
		*(int *)ret = is_managed;
		return CUDA_SUCCESS;
	case 9: /* DEVICE_ORDINAL */
		*(int *)ret = 0;
		return CUDA_SUCCESS;
	case 11: /* RANGE_START_ADDR */
		*(CUdeviceptr *)ret = range->start;
		return CUDA_SUCCESS;
	case 12: /* RANGE_SIZE */
		*(size_t *)ret = range->n_bytes;
		return CUDA_SUCCESS;
	case 13: /* MAPPED */
		*(int *)ret = 1;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CU_API(cuPointerGetAttribute)(void *ret, int number, CUdeviceptr address)
{
	struct driver_range range;
	CUresult result = ret ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && !range_find(address, &range))
		result = CUDA_ERROR_INVALID_VALUE;
	DONE(result == CUDA_SUCCESS ? pointer_attribute(ret, number, &range, address) : result);
}

/* What an attribute takes; 0: not known. */
static size_t attribute_bytes(int number)
{
	return number == 2 || number == 6 || number == 8 || number == 9 || number == 13 ? 4 : 8;
}

/* Of memory that is not known all are 0. */
CU_API(cuPointerGetAttributes)(unsigned n, int *numbers, void **rets, CUdeviceptr address)
{
	struct driver_range range;
	CUresult result = numbers && rets ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	bool known = range_find(address, &range);
	for (unsigned i = 0; i < n; i++)
		if (!known ||
		    pointer_attribute(rets[i], numbers[i], &range, address) != CUDA_SUCCESS) {
			memset(rets[i], 0, attribute_bytes(numbers[i]));
			if (!known && numbers[i] == 9)
				*(int *)rets[i] = -2; /* as documented */
		}
	DONE(CUDA_SUCCESS);
}
