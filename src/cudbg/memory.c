/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: all spaces, read and written. */
#include "cudbg-functions.h"

/* Bytes read through the stack, so that a failed read leaves the client's buffer alone. */
enum { ON_STACK = 4096 };

/* ---- ranges that the target knows ---- */

bool wsi_cudbg_own_range(struct wsi_cudbg *s, enum ws_space space, uint32_t owner, uint32_t lane,
			 struct ws_memory_range *ret_range)
{
	struct ws_memory_range range;
	uint32_t index = ws_target_first_range(s->target, space, owner, lane);
	bool same = ws_target_memory_range(s->target, index, &range, NULL) == WS_OK &&
		    range.space == space && ws_memory_range_owner(&range) == owner &&
		    (space != WS_SPACE_LOCAL || range.lane == lane);
	if (same)
		*ret_range = range;
	return same;
}

/* ---- reading ---- */

/*
 * What a missing byte means in a space. `recorded`: the target holds memory of that owner, so the
 * address is what is wrong.
 */
static CUDBGResult absent_code(enum ws_space space, bool recorded, size_t n_before)
{
	switch (space) {
	case WS_SPACE_GLOBAL:
	case WS_SPACE_GENERIC:
		return n_before ? CUDBG_ERROR_INVALID_MEMORY_ACCESS
				: CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM;
	case WS_SPACE_SHARED:
		return recorded ? CUDBG_ERROR_INVALID_MEMORY_ACCESS : CUDBG_ERROR_MISSING_DATA;
	case WS_SPACE_LOCAL:
		return recorded ? CUDBG_ERROR_INVALID_ADDRESS : CUDBG_ERROR_MISSING_DATA;
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		return recorded ? CUDBG_ERROR_INVALID_ARGS : CUDBG_ERROR_MISSING_DATA;
	case WS_SPACE_CODE:
		return CUDBG_ERROR_INVALID_ADDRESS;
	}
	return CUDBG_ERROR_INTERNAL;
}

static bool is_recorded(struct wsi_cudbg *s, const struct ws_address *at)
{
	struct ws_memory_range range;
	struct ws_warp warp;
	struct ws_block block;
	if (at->space == WS_SPACE_LOCAL)
		return wsi_cudbg_own_range(s, WS_SPACE_LOCAL, at->warp_index, at->lane, &range);
	if (ws_target_warp(s->target, at->warp_index, &warp, NULL) != WS_OK)
		return false;
	if (at->space == WS_SPACE_SHARED)
		return wsi_cudbg_own_range(s, WS_SPACE_SHARED, warp.block_index, 0, &range);
	return ws_target_block(s->target, warp.block_index, &block, NULL) == WS_OK &&
	       wsi_cudbg_own_range(s, at->space, block.grid_index, 0, &range);
}

static CUDBGResult read_failed(struct wsi_cudbg *s, const struct ws_address *at, size_t n_before,
			       enum ws_status status, const struct ws_error *err)
{
	if (status == WS_ARGUMENT && at->space == WS_SPACE_GLOBAL)
		return wsi_cudbg_fail(s, CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS, "%s", err->message);
	if (status != WS_ABSENT)
		return wsi_cudbg_status(s, status, err);
	bool owned = at->space == WS_SPACE_SHARED || at->space == WS_SPACE_LOCAL ||
		     at->space == WS_SPACE_PARAM;
	return wsi_cudbg_fail(s, absent_code(at->space, owned && is_recorded(s, at), n_before),
			      "0x%" PRIx64 ": %s", at->address + n_before, err->message);
}

/* Reads through `scratch`, piece by piece; `out` NULL only finds out whether all of it is there. */
static CUDBGResult read_pieces(struct wsi_cudbg *s, const struct ws_address *at, uint8_t *out,
			       uint32_t sz)
{
	uint8_t scratch[ON_STACK];
	struct ws_address piece = *at;
	for (uint32_t done = 0, n; done < sz; done += n) {
		n = sz - done < sizeof scratch ? sz - done : (uint32_t)sizeof scratch;
		struct ws_error err; /* not cleared: that would take a tenth of a short read */
		size_t got = 0;
		err.message[0] = '\0';
		piece.address = at->address + done;
		enum ws_status st =
			ws_target_read_memory(s->target, &piece, scratch, n, &got, &err);
		if (st != WS_OK)
			return read_failed(s, at, done + got, st, &err);
		if (out)
			memcpy(out + done, scratch, n);
	}
	return CUDBG_SUCCESS;
}

/* A long read goes twice, so that a failure leaves the client's buffer alone without a copy of it.
 */
static CUDBGResult read_memory(struct wsi_cudbg *s, const struct ws_address *at, void *buf,
			       uint32_t sz)
{
	CUDBGResult result = sz > ON_STACK ? read_pieces(s, at, NULL, sz) : CUDBG_SUCCESS;
	return result == CUDBG_SUCCESS ? read_pieces(s, at, buf, sz) : result;
}

static CUDBGResult write_memory(struct wsi_cudbg *s, const struct ws_address *at, const void *buf,
				uint32_t sz)
{
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_target_write_memory(s->target, at, buf, sz, &err);
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	uint8_t byte;
	size_t n = 0; /* does it begin in memory? */
	(void)!ws_target_read_memory(s->target, at, &byte, 1, &n, NULL);
	return read_failed(s, at, n, st, &err);
}

static struct ws_address space_address(const struct wsi_cudbg_at *at, enum ws_space space,
				       uint64_t addr)
{
	return (struct ws_address){
		.space = space,
		.device_index = at->device->index,
		.grid_index = WS_NONE,
		.warp_index = at->slot ? at->slot->warp_index : WS_NONE,
		.lane = at->ln,
		.address = addr,
	};
}

static struct ws_address global_address(uint64_t addr)
{
	return (struct ws_address){
		.space = WS_SPACE_GLOBAL,
		.device_index = WS_NONE,
		.grid_index = WS_NONE,
		.warp_index = WS_NONE,
		.lane = WS_NONE,
		.address = addr,
	};
}

CUDBGResult wsi_cudbg_readGlobalMemory(struct wsi_cudbg *s, uint64_t addr, void *buf, uint32_t sz)
{
	const struct ws_address at = global_address(addr);
	return read_memory(s, &at, buf, sz);
}

#define DEFINE_SPACE(name, space)                                                       \
	CUDBGResult wsi_cudbg_read##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at,  \
					 uint64_t addr, void *buf, uint32_t sz)         \
	{                                                                               \
		const struct ws_address from = space_address(at, space, addr);          \
		return read_memory(s, &from, buf, sz);                                  \
	}                                                                               \
	CUDBGResult wsi_cudbg_write##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, \
					  uint64_t addr, const void *buf, uint32_t sz)  \
	{                                                                               \
		const struct ws_address to = space_address(at, space, addr);            \
		return write_memory(s, &to, buf, sz);                                   \
	}

DEFINE_SPACE(SharedMemory, WS_SPACE_SHARED)
DEFINE_SPACE(LocalMemory, WS_SPACE_LOCAL)
DEFINE_SPACE(ParamMemory, WS_SPACE_PARAM)

CUDBGResult wsi_cudbg_readCodeMemory(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t addr,
				     void *buf, uint32_t sz)
{
	at->slot = NULL;
	const struct ws_address from = space_address(at, WS_SPACE_CODE, addr);
	return read_memory(s, &from, buf, sz);
}

/* Pinned memory of the host, read or written up to `n`. */
static CUDBGResult host_result(struct wsi_cudbg *s, uint64_t addr, size_t n, enum ws_status st,
			       const struct ws_error *err)
{
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	return st == WS_ABSENT ? wsi_cudbg_fail(s,
						n ? CUDBG_ERROR_INVALID_MEMORY_ACCESS
						  : CUDBG_ERROR_MEMORY_MAPPING_FAILED,
						"0x%" PRIx64 ": %s", addr + n, err->message)
			       : wsi_cudbg_row_status(s, st, err);
}

CUDBGResult wsi_cudbg_readPinnedMemory(struct wsi_cudbg *s, uint64_t addr, void *buf, uint32_t sz)
{
	struct ws_error err;
	size_t n = 0;
	enum ws_status st = ws_target_read_host(s->target, addr, buf, sz, &n, &err);
	if (st == WS_UNSUPPORTED)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "pinned host memory was not recorded");
	return host_result(s, addr, n, st, &err);
}

/* ---- generic addresses ---- */

/* Whether an address is in the shared or the local window of a context: `*ret_space`. */
static bool in_window(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t addr,
		      enum ws_space *ret_space)
{
	static const enum ws_space spaces[] = { WS_SPACE_SHARED, WS_SPACE_LOCAL };
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	for (uint32_t i = 0; i < counts.contexts; i++) {
		struct ws_context context;
		uint64_t offset;
		if (ws_target_context(s->target, i, &context, NULL) != WS_OK ||
		    context.device_index != at->device->index)
			continue;
		for (size_t k = 0; k < WSI_COUNT(spaces); k++) {
			*ret_space = spaces[k];
			if (ws_context_window(&context, spaces[k], false, addr, &offset))
				return true;
		}
	}
	return false;
}

/*
 * Turns a generic address into one for the target. Coordinates count only where the address needs
 * them: for shared and local memory, the lane for local memory only.
 */
static CUDBGResult generic_address(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t sm,
				   uint32_t wp, uint32_t ln, uint64_t addr,
				   struct ws_address *ret_address)
{
	enum ws_space space;
	at->slot = NULL;
	at->ln = WS_NONE;
	if (!in_window(s, at, addr, &space)) {
		*ret_address = global_address(addr);
		ret_address->device_index = at->device->index;
		return CUDBG_SUCCESS;
	}
	const uint32_t where[] = { at->dev, sm, wp, ln };
	CUDBGResult result =
		wsi_cudbg_find(s, space == WS_SPACE_LOCAL ? 4 : 3, where, WSI_STOPPED, at);
	if (result != CUDBG_SUCCESS)
		return result;
	if (ln < at->device->n_lanes)
		at->ln = ln;
	*ret_address = space_address(at, WS_SPACE_GENERIC, addr);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readGenericMemory(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t sm,
					uint32_t wp, uint32_t ln, uint64_t addr, void *buf,
					uint32_t sz)
{
	struct ws_address from;
	CUDBGResult result = generic_address(s, at, sm, wp, ln, addr, &from);
	return result == CUDBG_SUCCESS ? read_memory(s, &from, buf, sz) : result;
}

/* ---- managed memory ---- */

static int by_start(const void *a, const void *b)
{
	const CUDBGMemoryInfo *one = a, *other = b;
	return (one->startAddress > other->startAddress) -
	       (one->startAddress < other->startAddress);
}

/* All managed regions, sorted by address. */
static CUDBGResult managed_regions(struct wsi_cudbg *s, CUDBGMemoryInfo **ret_regions,
				   size_t *ret_n)
{
	CUDBGMemoryInfo *regions = NULL;
	size_t n = 0, cap = 0;
	struct ws_memory_range range;
	struct ws_error err = { .status = WS_ABSENT };
	enum ws_status st;
	for (uint32_t i = 0; (st = ws_target_memory_range(s->target, i, &range, &err)) == WS_OK;
	     i++) {
		if (range.space > WS_SPACE_GLOBAL)
			break;
		if (!range.managed)
			continue;
		if (!wsi_grow(&regions, &cap, n, sizeof *regions, UINT32_MAX)) {
			st = WS_NO_MEMORY;
			break;
		}
		regions[n].startAddress = range.start;
		regions[n++].size = range.size;
	}
	if (st != WS_OK && st != WS_ABSENT) {
		wsi_free(regions);
		return st == WS_UNSUPPORTED ? wsi_cudbg_status(s, st, &err)
					    : wsi_cudbg_row_status(s, st, &err);
	}
	if (n)
		qsort(regions, n, sizeof *regions, by_start);
	*ret_regions = regions;
	*ret_n = n;
	return CUDBG_SUCCESS;
}

static bool region_holds(const CUDBGMemoryInfo *region, uint64_t addr)
{
	return addr >= region->startAddress && addr - region->startAddress < region->size;
}

CUDBGResult wsi_cudbg_getManagedMemoryRegionInfo(struct wsi_cudbg *s, uint64_t startAddress,
						 CUDBGMemoryInfo *memoryInfo,
						 uint32_t memoryInfo_size, uint32_t *numEntries)
{
	wsi_scoped_free CUDBGMemoryInfo *regions = NULL;
	size_t n = 0, first = 0;
	if (!memoryInfo_size)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is room for no region");
	CUDBGResult result = managed_regions(s, &regions, &n);
	if (result != CUDBG_SUCCESS)
		return result;
	while (startAddress && first < n && !region_holds(&regions[first], startAddress))
		first++;
	uint32_t count = (uint32_t)wsi_min_u64(n - first, memoryInfo_size);
	if (count)
		memcpy(memoryInfo, regions + first, count * sizeof *regions);
	*numEntries = count;
	return CUDBG_SUCCESS;
}

/* Managed memory has one address on both sides; of other memory the target may know one. */
CUDBGResult wsi_cudbg_getHostAddrFromDeviceAddr(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
						uint64_t device_addr, uint64_t *host_addr)
{
	wsi_scoped_free CUDBGMemoryInfo *regions = NULL;
	struct ws_error err;
	size_t n = 0;
	enum ws_status st =
		ws_target_host_address(s->target, at->device->index, device_addr, host_addr, &err);
	if (st != WS_UNSUPPORTED && st != WS_ABSENT)
		return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_row_status(s, st, &err);
	CUDBGResult result = managed_regions(s, &regions, &n);
	if (result != CUDBG_SUCCESS)
		return result;
	for (size_t i = 0; i < n; i++)
		if (region_holds(&regions[i], device_addr)) {
			*host_addr = device_addr;
			return CUDBG_SUCCESS;
		}
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_MEMORY_SEGMENT,
			      "0x%" PRIx64 " has no host address", device_addr);
}

/* ---- writing ---- */

CUDBGResult wsi_cudbg_writeGlobalMemory(struct wsi_cudbg *s, uint64_t addr, const void *buf,
					uint32_t sz)
{
	const struct ws_address at = global_address(addr);
	return write_memory(s, &at, buf, sz);
}

CUDBGResult wsi_cudbg_writeGenericMemory(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t sm,
					 uint32_t wp, uint32_t ln, uint64_t addr, const void *buf,
					 uint32_t sz)
{
	struct ws_address to;
	CUDBGResult result = generic_address(s, at, sm, wp, ln, addr, &to);
	return result == CUDBG_SUCCESS ? write_memory(s, &to, buf, sz) : result;
}

/* Not from Hopper on, by the manual. */
CUDBGResult wsi_cudbg_writeGlobalMemory31(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					  uint64_t addr, const void *buf, uint32_t sz)
{
	if (at->device->device.sm_major >= 9 && ws_target_can(s->target, WS_CAN_WRITE))
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
				      "not on Hopper and later: writeGlobalMemory does it");
	return wsi_cudbg_writeGenericMemory(s, at, 0, 0, 0, addr, buf, sz);
}

CUDBGResult wsi_cudbg_writePinnedMemory(struct wsi_cudbg *s, uint64_t addr, const void *buf,
					uint32_t sz)
{
	struct ws_error err;
	enum ws_status st = ws_target_write_host(s->target, addr, buf, sz, &err);
	if (st == WS_UNSUPPORTED)
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
				      "host memory cannot be reached");
	return host_result(s, addr, 0, st, &err);
}
