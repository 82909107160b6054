/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory on its way into a dump. Bytes are copied range by range, from the mapping of a dump
 * without a detour, else through one buffer.
 *
 * Constant banks have no sections of their own: their bytes are global memory. So when one of the
 * two is left out and the other is not, ranges of global memory are cut at the banks' addresses.
 * They are also cut where devices contest an address.
 */
#include <warpscope/core.h>

#include "target/dump/dump.h"
#include "write/job.h"

/* ---- the list of ranges ---- */

static bool range_at(const struct wsi_write_job *job, uint32_t number,
		     struct ws_memory_range *ret_range)
{
	return ws_target_memory_range(job->target, number, ret_range, NULL) == WS_OK;
}

uint32_t wsi_job_first_range(const struct wsi_write_job *job, enum ws_space space, uint32_t owner)
{
	bool none = job->first_range[space] == job->first_range[space + 1];
	return none ? job->first_range[space] : ws_target_first_range(job->target, space, owner, 0);
}

bool wsi_job_range(const struct wsi_write_job *job, uint32_t number, enum ws_space space,
		   uint32_t owner, struct ws_memory_range *ret_range)
{
	return number < job->first_range[space + 1] && range_at(job, number, ret_range) &&
	       ret_range->space == space && ws_memory_range_owner(ret_range) == owner;
}

/* ---- addresses of global memory that stay or go ---- */

static enum ws_status no_memory(struct wsi_write_job *job)
{
	return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
}

static enum ws_status addresses_init(struct wsi_write_job *job, struct wsi_addresses *addresses,
				     struct wsi_interval *intervals, size_t n)
{
	if (!wsi_segments_init(&addresses->segments, n))
		return no_memory(job);
	wsi_segments_append(&addresses->segments, intervals, n);
	return WS_OK;
}

/* Whether an address is among them, and up to where that holds. */
static bool addresses_have(const struct wsi_addresses *addresses, uint64_t address,
			   uint64_t *ret_end)
{
	*ret_end = UINT64_MAX;
	return addresses->segments.n &&
	       wsi_segments_find_until(&addresses->segments, 0, addresses->segments.n, address,
				       ret_end) != WSI_NO_INTERVAL;
}

static struct wsi_interval interval_of(uint64_t start, uint64_t len)
{
	return (struct wsi_interval){ start, wsi_add_sat(start, len), 0 };
}

/* The part of a bank that is to be kept, as addresses of global memory. */
static struct wsi_interval kept_of_bank(const struct ws_write_keep *keep,
					const struct ws_memory_range *bank)
{
	if (keep->space != WS_SPACE_CONST || keep->bank != bank->bank ||
	    keep->address >= bank->size)
		return (struct wsi_interval){ 0 };
	return interval_of(wsi_add_sat(bank->start, keep->address),
			   wsi_min_u64(keep->len, bank->size - keep->address));
}

static enum ws_status banks_init(struct wsi_write_job *job)
{
	uint32_t first = job->first_range[WS_SPACE_CONST];
	size_t n = job->first_range[WS_SPACE_CODE] - first, n_kept = 0;
	wsi_scoped_free struct wsi_interval *banks = wsi_zalloc_array(n, sizeof *banks);
	wsi_scoped_free struct wsi_interval *kept =
		wsi_zalloc_array((n + 1) * (job->n_keeps + 1), sizeof *kept);
	if (!banks || !kept)
		return no_memory(job);
	for (size_t i = 0; i < n; i++) {
		struct ws_memory_range bank;
		if (!range_at(job, first + (uint32_t)i, &bank))
			continue;
		banks[i] = interval_of(bank.start, bank.size);
		if (job->selection && !wsi_selected(job->selection->grids, bank.grid_index))
			continue;
		for (size_t k = 0; k < job->n_keeps; k++)
			kept[n_kept++] = kept_of_bank(&job->keeps[k], &bank);
	}
	for (size_t k = 0; k < job->n_keeps; k++) {
		if (job->keeps[k].space == WS_SPACE_GLOBAL)
			kept[n_kept++] = interval_of(job->keeps[k].address, job->keeps[k].len);
	}
	enum ws_status st = addresses_init(job, &job->banks, banks, n);
	return st == WS_OK ? addresses_init(job, &job->kept, kept, n_kept) : st;
}

/* Whether two ranges of global memory have addresses in common: `ret`. */
static bool overlap_of(const struct ws_memory_range *a, const struct ws_memory_range *b,
		       struct wsi_interval *ret)
{
	uint64_t start = wsi_max_u64(a->start, b->start);
	uint64_t end = wsi_min_u64(wsi_add_sat(a->start, a->size), wsi_add_sat(b->start, b->size));
	*ret = interval_of(start, end > start ? end - start : 0);
	return end > start;
}

/* Whether what is at an address depends on the device that is asked. */
static bool is_contested(const struct wsi_write_job *job, uint64_t address)
{
	const struct ws_address at = { .space = WS_SPACE_GLOBAL,
				       .device_index = WS_NONE,
				       .grid_index = WS_NONE,
				       .warp_index = WS_NONE,
				       .lane = WS_NONE,
				       .address = address };
	uint8_t byte;
	size_t n;
	return ws_target_read_memory(job->target, &at, &byte, 1, &n, NULL) == WS_ARGUMENT;
}

/* A dump has one address space for all devices: where two of them have memory of their own it
 * would answer for one with what the other has. */
static enum ws_status contested_init(struct wsi_write_job *job)
{
	uint32_t end = job->first_range[WS_SPACE_GLOBAL + 1];
	wsi_scoped_free struct wsi_interval *found = NULL;
	struct wsi_interval common;
	struct ws_memory_range a, b;
	size_t n = 0, cap = 0;
	for (uint32_t i = job->first_range[WS_SPACE_GLOBAL]; i < end; i++) {
		if (!range_at(job, i, &a) || a.device_index == WS_NONE)
			continue;
		for (uint32_t k = i + 1;
		     k < end && range_at(job, k, &b) && overlap_of(&a, &b, &common); k++) {
			if (a.device_index == b.device_index || !is_contested(job, common.start))
				continue;
			if (!wsi_grow(&found, &cap, n, sizeof *found, UINT32_MAX))
				return no_memory(job);
			found[n++] = common;
		}
	}
	return n ? addresses_init(job, &job->contested, found, n) : WS_OK;
}

enum ws_status wsi_job_memory_init(struct wsi_write_job *job)
{
	for (unsigned space = 0; space <= WS_SPACE_CODE; space++)
		job->first_range[space] =
			ws_target_first_range(job->target, (enum ws_space)space, 0, 0);
	enum ws_status st = banks_init(job);
	return st == WS_OK ? contested_init(job) : st;
}

void wsi_job_memory_fini(struct wsi_write_job *job)
{
	wsi_segments_fini(&job->banks.segments);
	wsi_segments_fini(&job->kept.segments);
	wsi_segments_fini(&job->contested.segments);
}

/* ---- copying ---- */

/* Some bytes of a range as they lie in the file of a dump; they fit in the buffer. */
static bool range_in_file(const struct wsi_write_job *job, const struct ws_memory_range *range,
			  uint64_t off, uint64_t len, struct ws_span *ret_bytes)
{
	if (!job->core || range->file_off == WS_NO_OFFSET || len == 0)
		return false;
	const struct wsi_input *source = wsi_core_input(job->core);
	off = wsi_add_sat(range->file_off, off);
	if (wsi_input_clip(source, off, len).len < len)
		return false;
	const uint8_t *at = wsi_input_view(source, off, (size_t)len, job->buffer);
	*ret_bytes = (struct ws_span){ at, (size_t)len, off };
	return at != NULL;
}

static enum ws_status part_append(struct wsi_write_job *job, const struct ws_memory_range *range,
				  uint64_t off, struct ws_span bytes)
{
	job->memory_bytes += bytes.len;
	if (!job->edit || !job->edit->memory)
		return ws_writer_memory_append(job->writer, bytes.ptr, bytes.len, job->err);
	if (bytes.ptr != job->buffer)
		memcpy(job->buffer, bytes.ptr, bytes.len);
	job->edit->memory(job->edit->user, range->start + off, job->buffer, bytes.len);
	return ws_writer_memory_append(job->writer, job->buffer, bytes.len, job->err);
}

/* A range of a dump that was cut before it. */
static bool nothing_left(const struct ws_memory_range *range)
{
	return range->size > 0 && range->bytes_present == 0;
}

/* Copies `len` bytes of a range from `off` on. What cannot be read ends it early. */
static enum ws_status range_copy(struct wsi_write_job *job, const struct ws_memory_range *range,
				 uint32_t warp_index, uint64_t off, uint64_t len)
{
	struct ws_address at = { range->space,
				 range->bank,
				 range->device_index,
				 range->grid_index,
				 warp_index,
				 range->lane,
				 0 };
	while (len > 0) {
		/* pieces end at multiples of the buffer's size: no word is cut in two */
		uint64_t room = WSI_JOB_BUFFER - (range->start + off) % WSI_JOB_BUFFER;
		struct ws_span bytes;
		bool at_hand = range_in_file(job, range, off, wsi_min_u64(len, room), &bytes);
		if (!at_hand) {
			size_t n = 0;
			at.address = range->start + off;
			enum ws_status st =
				ws_target_read_memory(job->target, &at, job->buffer,
						      (size_t)wsi_min_u64(len, room), &n, job->err);
			if (st != WS_OK && !wsi_is_missing(st))
				return st;
			bytes = (struct ws_span){ job->buffer, n, 0 };
		}
		enum ws_status st = part_append(job, range, off, bytes);
		if (st != WS_OK || bytes.len < wsi_min_u64(len, room))
			return st;
		off += bytes.len;
		len -= bytes.len;
	}
	return WS_OK;
}

static enum ws_status stretch_write(struct wsi_write_job *job, const struct ws_memory_range *range,
				    const struct ws_write_memory *where, uint32_t warp_index,
				    uint64_t off, uint64_t len)
{
	enum ws_status st = ws_writer_memory_begin(job->writer, where, job->err);
	if (st == WS_OK)
		st = range_copy(job, range, warp_index, off, len);
	return st == WS_OK ? ws_writer_memory_end(job->writer, job->err) : st;
}

/* ---- global memory ---- */

/* Whether the byte of global memory at an address is wanted, and up to where that holds. */
static bool wanted_at(const struct wsi_write_job *job, uint64_t address, uint64_t *ret_end)
{
	uint64_t bank_end, kept_end, contested_end;
	bool in_bank = addresses_have(&job->banks, address, &bank_end);
	bool kept = addresses_have(&job->kept, address, &kept_end);
	bool contested = addresses_have(&job->contested, address, &contested_end);
	uint32_t skip = in_bank ? WS_WRITE_SKIP_BANKS : WS_WRITE_SKIP_GLOBAL;
	*ret_end = wsi_min_u64(wsi_min_u64(bank_end, kept_end), contested_end);
	return !contested && (kept || !(job->flags & skip));
}

static enum ws_status global_cut(struct wsi_write_job *job, const struct ws_memory_range *range)
{
	uint64_t end = wsi_add_sat(range->start, range->bytes_present), at = range->start;
	enum ws_status st = WS_OK;
	while (at < end && st == WS_OK) {
		uint64_t next, start = at;
		bool wanted = wanted_at(job, at, &next);
		at = wsi_min_u64(next, end);
		while (at < end && wanted_at(job, at, &next) == wanted)
			at = wsi_min_u64(next, end);
		struct ws_write_memory where = { .space = WS_SPACE_GLOBAL,
						 .managed = range->managed,
						 .start = start };
		if (wanted)
			st = stretch_write(job, range, &where, WS_NONE, start - range->start,
					   at - start);
	}
	return st;
}

enum ws_status wsi_job_global(struct wsi_write_job *job)
{
	enum ws_status st = WS_OK;
	uint32_t end = job->first_range[WS_SPACE_GLOBAL + 1];
	bool cut = job->contested.segments.n > 0 ||
		   (job->flags & (WS_WRITE_SKIP_GLOBAL | WS_WRITE_SKIP_BANKS));
	for (uint32_t i = job->first_range[WS_SPACE_GLOBAL]; i < end && st == WS_OK; i++) {
		struct ws_memory_range range;
		if (!range_at(job, i, &range) || nothing_left(&range))
			continue;
		struct ws_write_memory where = { .space = WS_SPACE_GLOBAL,
						 .managed = range.managed,
						 .start = range.start };
		st = cut ? global_cut(job, &range)
			 : stretch_write(job, &range, &where, WS_NONE, 0, range.bytes_present);
	}
	return st;
}

/* ---- memory with an owner ---- */

/* Writes one stretch of a range: `off` is not 0 only where a section can say where it starts. */
static enum ws_status owned_write(struct wsi_write_job *job, const struct ws_memory_range *range,
				  uint32_t warp_index, const struct ws_write_table *parent,
				  uint32_t row, uint64_t off, uint64_t len)
{
	struct ws_write_memory where = {
		.space = range->space, .start = range->start + off, .parent = parent, .row = row
	};
	return stretch_write(job, range, &where, warp_index, off, len);
}

enum ws_status wsi_job_owned(struct wsi_write_job *job, const struct ws_memory_range *range,
			     uint32_t warp_index, const struct ws_write_table *parent, uint32_t row)
{
	if (nothing_left(range))
		return WS_OK;
	if (!(job->flags & wsi_skip_of(range->space)))
		return owned_write(job, range, warp_index, parent, row, 0, range->bytes_present);
	/* an owner has one section: from the first byte that is kept to the last one */
	uint64_t first = UINT64_MAX, end = 0;
	for (size_t i = 0; i < job->n_keeps; i++) {
		const struct ws_write_keep *keep = &job->keeps[i];
		uint64_t keep_end = wsi_add_sat(keep->address, keep->len);
		uint64_t range_end = wsi_add_sat(range->start, range->bytes_present);
		if (keep->space != range->space || keep->address >= range_end ||
		    keep_end <= range->start)
			continue;
		first = wsi_min_u64(first, wsi_max_u64(keep->address, range->start));
		end = wsi_max_u64(end, wsi_min_u64(keep_end, range_end));
	}
	if (first >= end)
		return WS_OK;
	if (range->space != WS_SPACE_LOCAL)
		first = range->start;
	return owned_write(job, range, warp_index, parent, row, first - range->start, end - first);
}
