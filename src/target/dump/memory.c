/* SPDX-License-Identifier: Apache-2.0 */
/* Reading memory, and saying why it cannot be read. Generic addresses: resolve.c. */
#include "target/dump/dump.h"

/* ---- why something is missing ---- */

/* Until CUDA 12.6 gave constant banks a flag of their own, the one of global memory covered them.
 */
static bool banks_go_with_global(const struct ws_dump_facts *facts)
{
	return facts->cuda_major < 12 || (facts->cuda_major == 12 && facts->cuda_minor < 6);
}

static const char *flag_that_explains(const struct ws_core *core, enum ws_space space)
{
	const struct ws_dump_facts *facts = &core->facts;
	uint32_t skip = wsi_skip_of(space);
	if ((facts->flags | facts->left_out) & skip)
		return ws_dump_flag_text(skip);
	if ((space == WS_SPACE_CONST || space == WS_SPACE_PARAM) &&
	    facts->flags & WS_WRITE_SKIP_GLOBAL && banks_go_with_global(facts))
		return "skip_global_memory (which left out constant banks too, before CUDA 12.6)";
	return NULL;
}

/*
 * Without recorded flags: a process with a context always has global memory, and a resident block
 * shared memory (1 KiB of it is the system's, since sm_80), so when there is none at all it was
 * left out. Local memory may well not be used; only when global memory was left out too is that
 * likely.
 */
static bool looks_left_out(const struct ws_core *core, enum ws_space space)
{
	bool no_global = core->n_globals == 0 && core->contexts.n > 0;
	switch (space) {
	case WS_SPACE_SHARED:
		return core->kind_counts[WSI_KIND_SHARED] == 0 && core->blocks.n > 0;
	case WS_SPACE_LOCAL:
		return core->kind_counts[WSI_KIND_LOCAL] == 0 && no_global;
	case WS_SPACE_PARAM:
		return core->kind_counts[WSI_KIND_PARAM] == 0 && no_global;
	case WS_SPACE_GLOBAL:
	case WS_SPACE_CONST:
		return no_global;
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
	return false;
}

/* Fails with the reason why the dump does not have `what` of a space: left out (by which flag), cut
 * off, or never there. */
static enum ws_status memory_missing(const struct ws_core *core, enum ws_space space,
				     const char *what, struct ws_error *err)
{
	const char *flag = flag_that_explains(core, space);
	if (flag)
		return wsi_fail(err, WS_EXCLUDED, WS_NO_OFFSET,
				"%s: left out of the dump by the flag %s", what, flag);
	if (core->headers_lost)
		return wsi_fail(err, WS_TRUNCATED, core->source.size,
				"%s: not in what is left of the truncated dump", what);
	if (!core->facts.have_flags && looks_left_out(core, space))
		return wsi_fail(
			err, WS_EXCLUDED, WS_NO_OFFSET,
			"%s: the dump has no memory of this kind at all, so it was left out "
			"(inferred; its driver did not record the flags)",
			what);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "%s: never mapped as far as the dump knows",
			what);
}

/* ---- reading ---- */

/* A read in progress. */
struct memory_reading {
	const struct ws_core *core;
	uint8_t *buffer;
	size_t len, done;
	struct ws_error *err;
};

/* Takes what is wanted of some bytes. WS_IO: they cannot be read. */
static enum ws_status reading_take(struct memory_reading *r, struct wsi_slice there)
{
	size_t n = (size_t)wsi_min_u64(there.len, r->len - r->done);
	if (n == 0)
		return WS_OK;
	enum ws_status st =
		wsi_input_read(&r->core->source, there.off, r->buffer + r->done, n, r->err);
	r->done += st == WS_OK ? n : 0;
	return st;
}

static enum ws_status fail_cut(const struct memory_reading *r, uint32_t section)
{
	return wsi_fail(
		r->err, WS_TRUNCATED, r->core->source.size,
		"the dump is truncated: it ends inside or before section %u, which holds this",
		section);
}

static enum ws_status dump_read_global(struct memory_reading *r, uint64_t address)
{
	while (r->done < r->len) {
		struct wsi_global global;
		if (!wsi_core_global_at(r->core, address, &global)) {
			char what[64];
			(void)wsi_format(what, "global memory at 0x%" PRIx64, address);
			return memory_missing(r->core, WS_SPACE_GLOBAL, what, r->err);
		}
		enum ws_status st = reading_take(r, global.extent);
		if (st != WS_OK)
			return st;
		if (r->done < r->len && global.extent.len < global.claimed)
			return fail_cut(r, global.section);
		address += global.claimed; /* no section claims the last byte there is: no wrap */
	}
	return WS_OK;
}

uint64_t wsi_core_global_present(const struct ws_core *core, uint64_t address, uint64_t size)
{
	uint64_t present = 0;
	struct wsi_global global;
	while (present < size && wsi_core_global_at(core, address, &global)) {
		present += global.extent.len;
		if (global.extent.len < global.claimed)
			break;
		address += global.claimed;
	}
	return wsi_min_u64(present, size);
}

/* A section whose first byte has address `start`; `words` is what it is in a message. */
static enum ws_status read_section(struct memory_reading *r, uint32_t section, uint64_t start,
				   uint64_t address, const char *words)
{
	uint64_t size = wsi_elf_shdr(&r->core->elf, section).size;
	if (address < start || address - start >= size)
		return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET,
				"0x%" PRIx64 " is outside the %s, which is 0x%" PRIx64
				" bytes from 0x%" PRIx64,
				address, words, size, start);
	uint64_t off = address - start;
	struct wsi_slice there;
	bool whole = wsi_core_extent(r->core, section, &there);
	off = wsi_min_u64(off, there.len);
	enum ws_status st = reading_take(r, (struct wsi_slice){ there.off + off, there.len - off });
	if (st != WS_OK || r->done == r->len)
		return st;
	if (!whole)
		return fail_cut(r, section);
	return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET, "the %s ends at 0x%" PRIx64, words,
			start + size);
}

static enum ws_status dump_read_shared(struct memory_reading *r, uint32_t block_index,
				       uint64_t address)
{
	uint32_t section = wsi_core_slot(r->core, r->core->blocks.at[block_index], WSI_KIND_SHARED);
	if (!section)
		return memory_missing(r->core, WS_SPACE_SHARED, "shared memory of the block",
				      r->err);
	return read_section(r, section, 0, address, "shared memory of the block");
}

static enum ws_status dump_read_local(struct memory_reading *r, const struct ws_address *at)
{
	struct wsi_ref lane;
	if (!wsi_core_lane_row(r->core, at->warp_index, at->lane, &lane))
		return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET,
				"the warp has no lane %u in the dump", at->lane);
	uint32_t section = wsi_core_slot(r->core, lane, WSI_KIND_LOCAL);
	if (!section)
		return memory_missing(r->core, WS_SPACE_LOCAL, "local memory of the lane", r->err);
	return read_section(r, section, wsi_elf_shdr(&r->core->elf, section).addr, at->address,
			    "local memory of the lane");
}

bool wsi_core_bank(const struct ws_core *core, uint32_t grid_index, uint32_t row,
		   struct ws_bank *ret_bank)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[WSI_KIND_BANK];
	uint32_t section = wsi_core_slot(core, core->grids.at[grid_index], WSI_KIND_BANK);
	if (!section || row >= info->max_rows)
		return false;
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	struct wsi_slice there;
	(void)wsi_elf_extent(&core->elf, &shdr, &there);
	if (shdr.entsize < info->base_bytes || shdr.entsize > UINT32_MAX ||
	    there.len / shdr.entsize <= row)
		return false;
	enum { BANK_BYTES = WSI_AT_bank_id + WSI_BYTES_U32 };
	uint8_t scratch[BANK_BYTES];
	const uint8_t *at =
		wsi_input_view(&core->source, there.off + row * shdr.entsize, BANK_BYTES, scratch);
	if (!at)
		return false;
	(void)wsi_bank_read((struct ws_span){ at, BANK_BYTES, 0 }, core->strtab, ret_bank);
	return true;
}

static enum ws_status dump_read_bank(struct memory_reading *r, uint32_t grid_index,
				     uint32_t bank_id, uint64_t address)
{
	struct ws_bank bank;
	uint32_t row = 0;
	while (wsi_core_bank(r->core, grid_index, row, &bank) && bank.id != bank_id)
		row++;
	if (!wsi_core_bank(r->core, grid_index, row, &bank))
		return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET,
				"the dump lists no constant bank %u of this grid", bank_id);
	if (address >= bank.size)
		return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET,
				"constant bank %u has 0x%x bytes; 0x%" PRIx64 " is outside",
				bank_id, bank.size, address);
	struct memory_reading inner = *r;
	uint64_t left = bank.size - address;
	inner.len = (size_t)wsi_min_u64(r->len, left);
	uint64_t global = bank.address + address;
	enum ws_status st = global < bank.address ? WS_ABSENT : dump_read_global(&inner, global);
	r->done = inner.done;
	if (st == WS_OK && r->done < r->len)
		return wsi_fail(r->err, WS_ABSENT, WS_NO_OFFSET, "constant bank %u ends at 0x%x",
				bank_id, bank.size);
	if (st == WS_OK || st == WS_TRUNCATED)
		return st;
	char what[48];
	(void)wsi_format(what, "constant bank %u", bank_id);
	return memory_missing(r->core, WS_SPACE_CONST, what, r->err);
}

/* Parameters have a section of their own; else they may be found in constant bank 0, where they
 * live behind what else it has. */
static enum ws_status read_params(struct memory_reading *r, uint32_t grid_index, uint64_t address)
{
	struct wsi_ref grid = r->core->grids.at[grid_index];
	uint32_t section = wsi_core_slot(r->core, grid, WSI_KIND_PARAM);
	uint64_t start = wsi_at_u64(wsi_core_row(r->core, grid), WSI_AT_grid_params_offset);
	struct ws_bank bank;
	bool has_bank = wsi_core_bank(r->core, grid_index, 0, &bank);
	if (section && (address >= start || !has_bank))
		return read_section(r, section, start, address, "parameters of the grid");
	if (has_bank)
		return dump_read_bank(r, grid_index, 0, address);
	return memory_missing(r->core, WS_SPACE_PARAM, "parameters of the grid", r->err);
}

/* Grid that an address means: the one it names, else that of its warp. WS_NONE: neither is known.
 */
static uint32_t memory_grid_of(const struct ws_core *core, const struct ws_address *at)
{
	struct ws_block block;
	if (at->grid_index != WS_NONE)
		return at->grid_index;
	if (at->warp_index >= core->warps.n ||
	    ws_target_block(&core->target, wsi_core_block_of(core, at->warp_index), &block, NULL) !=
		    WS_OK)
		return WS_NONE;
	return block.grid_index;
}

static enum ws_status need_warp(const struct ws_core *core, const struct ws_address *at,
				struct ws_error *err)
{
	if (at->warp_index < core->warps.n)
		return WS_OK;
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
			"this kind of memory belongs to a warp; there is no warp index %u",
			at->warp_index);
}

static enum ws_status read_of_grid(struct memory_reading *r, const struct ws_address *at)
{
	uint32_t grid = memory_grid_of(r->core, at);
	if (grid >= r->core->grids.n)
		return wsi_fail(
			r->err, WS_ARGUMENT, WS_NO_OFFSET,
			"this kind of memory belongs to a grid, and none is given or known");
	return at->space == WS_SPACE_PARAM ? read_params(r, grid, at->address)
					   : dump_read_bank(r, grid, at->bank, at->address);
}

static enum ws_status dump_read_generic(struct memory_reading *r, const struct ws_address *at)
{
	struct wsi_resolved to;
	enum ws_status st = wsi_core_resolve(r->core, at, &to, r->err);
	if (st != WS_OK)
		return st;
	if (to.at.space == WS_SPACE_GLOBAL)
		return dump_read_global(r, to.at.address);
	if (to.at.space == WS_SPACE_LOCAL)
		return dump_read_local(r, &to.at);
	return dump_read_shared(r, to.block_index, to.at.address);
}

static enum ws_status read_any(struct memory_reading *r, const struct ws_address *at)
{
	enum ws_status st = WS_OK;
	switch (at->space) {
	case WS_SPACE_GLOBAL:
		return dump_read_global(r, at->address);
	case WS_SPACE_SHARED:
	case WS_SPACE_LOCAL:
	case WS_SPACE_GENERIC:
		st = need_warp(r->core, at, r->err);
		if (st != WS_OK)
			return st;
		if (at->space == WS_SPACE_GENERIC)
			return dump_read_generic(r, at);
		if (at->space == WS_SPACE_LOCAL)
			return dump_read_local(r, at);
		return dump_read_shared(r, wsi_core_block_of(r->core, at->warp_index), at->address);
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		return read_of_grid(r, at);
	case WS_SPACE_CODE:
		break;
	}
	return wsi_fail(r->err, WS_ARGUMENT, WS_NO_OFFSET, "no memory space %d", (int)at->space);
}

static __attribute__((noinline)) enum ws_status read_recorded(const struct ws_core *core,
							      const struct ws_address *at,
							      void *buffer, size_t len,
							      size_t *ret_n, struct ws_error *err)
{
	struct memory_reading r = { core, buffer, len, 0, err };
	enum ws_status st = read_any(&r, at);
	*ret_n = r.done;
	return st;
}

enum ws_status wsi_core_read_memory(const struct ws_target *target, const struct ws_address *at,
				    void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	if (at->space != WS_SPACE_CODE)
		return read_recorded(wsi_core_of(target), at, buffer, len, ret_n, err);
	*ret_n = 0;
	return WS_UNSUPPORTED; /* it is in the images; nobody reads why */
}
