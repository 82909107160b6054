/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commonest accesses of all: a whole warp accesses words one behind the other, or all lanes the
 * same ones. What holds for the first and the last lane holds for all: one look-up, one check of
 * bounds. Whatever else it is, and whatever is wrong with it, access.c finds out lane by lane.
 */
#include "sim/event/watchpoint.h"
#include "sim/exec/access.h"

enum { LINE = 64 }; /* of the host's caches, roughly */

/* Whether the registers of an address say so; `*ret_address` is of lane 0, `*ret_step` what lies
 * between two lanes: the bytes of the access, or nothing. */
static bool find_step(const struct wsi_run *run, const struct wsi_op *op, bool wide,
		      uint64_t *ret_address, uint32_t *ret_step)
{
	const struct wsi_warp *warp = run->warp;
	const struct wsi_op_address *at = &op->at[0];
	if (at->reg_words == 0 || at->shift != 0)
		return false;
	const uint32_t *low = wsi_reg(warp, at->reg), *high = low + WSI_LANES;
	uint32_t step = low[1] - low[0], wrong = 0;
	if (step != 0 && step != op->bytes)
		return false;
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		wrong |= low[lane] ^ (low[0] + lane * step);
	if (at->reg_words > 1)
		for (unsigned lane = 0; lane < WSI_LANES; lane++)
			wrong |= high[lane] ^ high[0];
	if (wrong != 0 || low[0] > UINT32_MAX - (WSI_LANES - 1) * step)
		return false;
	uint64_t address = wsi_at_base(warp, at) + low[0];
	if (at->reg_words > 1)
		address += (uint64_t)high[0] << 32;
	*ret_address = wide ? address : (uint32_t)address;
	*ret_step = step;
	return true;
}

static uint8_t *find_shared_row(const struct wsi_run *run, uint64_t address, uint64_t len)
{
	uint32_t offset;
	const struct wsi_block *block = wsi_shared_owner(run, (uint32_t)address, &offset);
	return block ? wsi_shared_bytes(block, offset, len) : NULL;
}

bool wsi_sim_row_find(struct wsi_run *run, const struct wsi_op *op, bool write,
		      struct wsi_access_row *ret_row)
{
	bool wide = op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL;
	struct wsi_region *region;
	uint64_t address;
	uint32_t step;
	if (run->mask != UINT32_MAX || op->bytes < 4 ||
	    !find_step(run, op, wide, &address, &step) || address % op->bytes != 0)
		return false;
	uint64_t len = (uint64_t)step * (WSI_LANES - 1) + op->bytes;
	if (run->sim->watches && wsi_watch_near(run, op->space, address, len, write))
		return false;
	*ret_row = (struct wsi_access_row){ .kind = step ? WSI_ROW_LANES : WSI_ROW_SAME };
	if (wide) {
		ret_row->bytes = wsi_sim_global_bytes(run, address, len, write, &region);
		for (uint64_t i = 0; ret_row->bytes && i < len; i += LINE) /* all misses at once */
			__builtin_prefetch(ret_row->bytes + i);
	} else if (op->space == WS_SASS_SPACE_SHARED) {
		ret_row->bytes = find_shared_row(run, address, len);
	} else if (step == 0 && address + op->bytes <= run->warp->block->grid->local_bytes) {
		ret_row->bytes = wsi_local_byte(run->sim, run->warp, 0, address);
		run->no_memory |= !ret_row->bytes;
		ret_row->kind = WSI_ROW_LOCAL;
	}
	return ret_row->bytes != NULL;
}

/* Loops of which compilers make a few moves of vectors; once inlined, gcc 12 has forgotten that
 * nothing overlaps. */
#define WSI_MOVES static __attribute__((noinline)) void

WSI_MOVES load_singles(const uint8_t *restrict from, uint32_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		to[lane] = wsi_load_u32(from + 4 * lane);
}

WSI_MOVES load_pairs(const uint8_t *restrict from, uint32_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		to[lane] = wsi_load_u32(from + 8 * lane);
		to[WSI_LANES + lane] = wsi_load_u32(from + 8 * lane + 4);
	}
}

WSI_MOVES load_quads(const uint8_t *restrict from, uint32_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		to[lane] = wsi_load_u32(from + 16 * lane);
		to[WSI_LANES + lane] = wsi_load_u32(from + 16 * lane + 4);
		to[2 * WSI_LANES + lane] = wsi_load_u32(from + 16 * lane + 8);
		to[3 * WSI_LANES + lane] = wsi_load_u32(from + 16 * lane + 12);
	}
}

WSI_MOVES store_singles(const uint32_t *restrict from, uint8_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		wsi_store_u32(to + 4 * lane, from[lane]);
}

WSI_MOVES store_pairs(const uint32_t *restrict from, uint8_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		wsi_store_u32(to + 8 * lane, from[lane]);
		wsi_store_u32(to + 8 * lane + 4, from[WSI_LANES + lane]);
	}
}

WSI_MOVES store_quads(const uint32_t *restrict from, uint8_t *restrict to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		wsi_store_u32(to + 16 * lane, from[lane]);
		wsi_store_u32(to + 16 * lane + 4, from[WSI_LANES + lane]);
		wsi_store_u32(to + 16 * lane + 8, from[2 * WSI_LANES + lane]);
		wsi_store_u32(to + 16 * lane + 12, from[3 * WSI_LANES + lane]);
	}
}

void wsi_sim_row_load(const struct wsi_access_row *row, unsigned words, uint32_t *to)
{
	if (row->kind == WSI_ROW_LANES && words == 4)
		load_quads(row->bytes, to);
	else if (row->kind == WSI_ROW_LANES && words == 2)
		load_pairs(row->bytes, to);
	else
		for (unsigned k = 0; k < words; k++, to += WSI_LANES) {
			if (row->kind != WSI_ROW_SAME)
				load_singles(row->bytes + 4 * WSI_LANES * k, to);
			else
				for (unsigned lane = 0; lane < WSI_LANES; lane++)
					to[lane] = wsi_load_u32(row->bytes + 4 * k);
		}
}

void wsi_sim_row_store(const struct wsi_access_row *row, unsigned words, const uint32_t *from)
{
	if (row->kind == WSI_ROW_LANES && words == 4)
		store_quads(from, row->bytes);
	else if (row->kind == WSI_ROW_LANES && words == 2)
		store_pairs(from, row->bytes);
	else
		for (unsigned k = 0; k < words; k++, from += WSI_LANES) {
			if (row->kind != WSI_ROW_SAME)
				store_singles(from, row->bytes + 4 * WSI_LANES * k);
			else /* the last lane's stays */
				wsi_store_u32(row->bytes + 4 * k, from[WSI_LANES - 1]);
		}
}
