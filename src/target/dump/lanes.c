/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a warp: lanes, call stacks, registers. Read in place, on demand.
 */
#include "base/sort.h"
#include "target/dump/dump.h"

enum { MAX_LANE_ROWS = WS_MAX_LANES * 4 }; /* looked at in one table; a sound one has 32 at most */

static enum ws_status no_such_lane(const struct ws_core *core, uint32_t warp_index, uint32_t lane,
				   struct ws_error *err)
{
	uint32_t warp = wsi_at_u32(wsi_core_row(core, core->warps.at[warp_index]), WSI_AT_warp_id);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "warp %u has no lane %u in the dump", warp,
			lane);
}

/* First row of a warp's lanes; returns how many rows are looked at. */
static inline uint32_t dump_lane_rows(const struct ws_core *core, uint32_t warp_index,
				      struct wsi_ref *ret_first)
{
	uint32_t number = core->lane_tables[warp_index];
	if (!number)
		return 0;
	*ret_first = (struct wsi_ref){ number - 1, 0 };
	uint32_t n = core->tables[number - 1].n_rows;
	return n < MAX_LANE_ROWS ? n : MAX_LANE_ROWS;
}

static inline uint32_t lane_id(const struct ws_core *core, struct wsi_ref lane)
{
	return wsi_at_u32(wsi_core_row(core, lane), WSI_AT_lane_id);
}

/*
 * Of rows with the same lane id (a damaged dump) one counts: the row with the lane's number, which
 * is its place in a full warp; else the row where the mask of valid lanes puts it; else the first.
 */
static uint32_t place_rank(const struct ws_core *core, struct wsi_ref warp, uint32_t lane,
			   uint32_t row)
{
	if (row == lane)
		return 2;
	uint32_t valid = wsi_at_u32(wsi_core_row(core, warp), WSI_AT_warp_valid_lanes);
	uint32_t below = valid & ((UINT32_C(1) << lane) - 1);
	return row == (uint32_t)__builtin_popcount(below);
}

/* The row of any lane that does not stand in the row of its number; WS_NONE: it has none. */
static uint32_t lane_row_search(const struct ws_core *core, uint32_t warp_index, uint32_t lane)
{
	struct wsi_ref ref = { 0 };
	uint32_t n = dump_lane_rows(core, warp_index, &ref), best = 0, found = WS_NONE;
	for (; ref.row < n; ref.row++) {
		if (lane_id(core, ref) != lane)
			continue;
		uint32_t rank = place_rank(core, core->warps.at[warp_index], lane, ref.row);
		if (found != WS_NONE && rank <= best)
			continue;
		found = ref.row;
		best = rank;
	}
	return found;
}

static inline bool dump_lane_row(const struct ws_core *core, uint32_t warp_index, uint32_t lane,
				 struct wsi_ref *ret_ref)
{
	if (lane >= WS_MAX_LANES)
		return false;
	uint32_t n = dump_lane_rows(core, warp_index, ret_ref);
	ret_ref->row = lane;
	if (lane < n && lane_id(core, *ret_ref) == lane)
		return true;
	ret_ref->row = n ? lane_row_search(core, warp_index, lane) : WS_NONE;
	return ret_ref->row != WS_NONE;
}

bool wsi_core_lane_row(const struct ws_core *core, uint32_t warp_index, uint32_t lane,
		       struct wsi_ref *ret_ref)
{
	return dump_lane_row(core, warp_index, lane, ret_ref);
}

/* Whether the two rows nearest to this one are of no lane, or of the same: one row may be damaged,
 * three were read from a wrong place. Where the next one is of no lane, other bytes may begin
 * within this one. Few lanes have an exception: out of the way of the others. */
static __attribute__((noinline)) bool is_misread(const struct ws_core *core, struct wsi_ref ref)
{
	uint32_t n = core->tables[ref.table].n_rows, id = lane_id(core, ref);
	struct wsi_ref next = { ref.table, ref.row + 1 };
	if (next.row < n && lane_id(core, next) >= WS_MAX_LANES)
		return true;
	if (n < 3)
		return false;
	uint32_t near[] = { ref.row ? ref.row - 1 : 2,
			    ref.row + 1 < n ? ref.row + 1 : ref.row - 2 };
	for (size_t i = 0; i < WSI_COUNT(near); i++) {
		uint32_t other = lane_id(core, (struct wsi_ref){ ref.table, near[i] });
		if (other != id && other < WS_MAX_LANES)
			return false;
	}
	return true;
}

static inline void lane_fill(const struct ws_core *core, struct wsi_ref ref,
			     struct ws_lane *ret_lane)
{
	struct ws_span in = wsi_core_row(core, ref);
	*ret_lane = (struct ws_lane){ .have = wsi_lane_have(in.len) };
	bool sound = wsi_lane_read(in, core->strtab, ret_lane);
	/* a row of zeros is what an erased table has: no code lies at address 0 */
	ret_lane->damaged = !sound ||
			    ret_lane->call_depth > wsi_kind_infos[WSI_KIND_FRAMES].max_rows ||
			    !(ret_lane->pc | ret_lane->rel_pc | ret_lane->id | ret_lane->thread.x |
			      ret_lane->exception) ||
			    (ret_lane->exception && is_misread(core, ref));
}

uint32_t wsi_core_lanes_rows(const struct ws_core *core, uint32_t warp_index,
			     struct ws_lane *ret_lanes, uint32_t *ret_n)
{
	struct wsi_ref ref = { 0 };
	uint32_t n_rows = dump_lane_rows(core, warp_index, &ref), in_place = 0,
		 seen = 0; /* lanes that have a row, of those above */
	uint8_t row_of[WS_MAX_LANES];
	for (; ref.row < n_rows && ref.row < WS_MAX_LANES; ref.row++, in_place++) {
		lane_fill(core, ref, &ret_lanes[in_place]); /* nearly always it is in its row */
		if (ret_lanes[in_place].id != in_place)
			break;
	}
	*ret_n = in_place;
	for (; ref.row < n_rows; ref.row++) {
		uint32_t lane = lane_id(core, ref);
		if (lane >= WS_MAX_LANES || lane < in_place ||
		    (seen >> lane & 1 &&
		     place_rank(core, core->warps.at[warp_index], lane, ref.row) <=
			     place_rank(core, core->warps.at[warp_index], lane, row_of[lane])))
			continue;
		seen |= UINT32_C(1) << lane;
		row_of[lane] = (uint8_t)ref.row;
	}
	for (; seen; seen &= seen - 1) {
		ref.row = row_of[__builtin_ctz(seen)];
		lane_fill(core, ref, &ret_lanes[(*ret_n)++]);
	}
	return n_rows;
}

enum ws_status wsi_core_lanes(const struct ws_target *target, uint32_t warp_index,
			      struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	uint32_t n_rows = wsi_core_lanes_rows(core, warp_index, ret_lanes, ret_n);
	wsi_core_judge_lanes(core, warp_index, n_rows, ret_lanes, *ret_n);
	return WS_OK;
}

enum ws_status wsi_core_lane(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
			     struct ws_lane *ret_lane, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	struct wsi_ref ref;
	if (!dump_lane_row(core, warp_index, lane, &ref))
		return no_such_lane(core, warp_index, lane, err);
	lane_fill(core, ref, ret_lane);
	if (ret_lane->exception) /* what it proves, the others tell */
		ret_lane->damaged = wsi_core_judge_lane(core, warp_index, lane);
	return WS_OK;
}

/* Where a lane's leaf is by the run of its kind; false when there is no such run. */
static inline bool run_extent(const struct ws_core *core, struct wsi_ref lane, enum wsi_kind kind,
			      struct wsi_slice *ret_extent)
{
	if (wsi_run_of(kind) == WSI_N_RUNS)
		return false;
	const struct wsi_table *table = &core->tables[lane.table];
	const struct wsi_row_run *run = &table->run[wsi_run_of(kind)];
	*ret_extent = (struct wsi_slice){ run->off + (uint64_t)lane.row * run->pitch, run->bytes };
	return run->n == table->n_rows && ret_extent->off <= core->source.size &&
	       ret_extent->len <= core->source.size - ret_extent->off;
}

/* ---- call stacks ---- */

struct frames {
	const struct wsi_input *source;
	struct wsi_slice extent;
	uint32_t stride, n;
	bool failed; /* one of them could not be read */
};

/* Inlined: each lane of a walk comes here. */
static inline __attribute__((always_inline)) struct ws_return_address
inlined_frame_at(struct frames *frames, uint32_t row)
{
	enum { FRAME_BYTES = WSI_AT_frame_level + WSI_BYTES_U32 };
	uint8_t scratch[FRAME_BYTES];
	struct ws_return_address frame = { 0 };
	const uint8_t *at =
		wsi_input_view(frames->source, frames->extent.off + (uint64_t)row * frames->stride,
			       FRAME_BYTES, scratch);
	if (at)
		(void)wsi_frame_read((struct ws_span){ at, FRAME_BYTES, 0 }, (struct ws_span){ 0 },
				     &frame);
	else
		frames->failed = true;
	return frame;
}

/* The frames section of a lane; false when there is none or it cannot be read. */
static bool frames_find(const struct ws_core *core, struct wsi_ref lane, struct frames *ret_frames)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[WSI_KIND_FRAMES];
	uint64_t stride;
	ret_frames->source = &core->source;
	if (run_extent(core, lane, WSI_KIND_FRAMES, &ret_frames->extent)) {
		stride = core->tables[lane.table].frame_stride;
	} else {
		uint32_t section = wsi_core_slot(core, lane, WSI_KIND_FRAMES);
		if (!section)
			return false;
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
		(void)wsi_elf_extent(&core->elf, &shdr, &ret_frames->extent);
		stride = shdr.entsize;
	}
	if (stride < info->base_bytes || stride > UINT32_MAX)
		return false;
	ret_frames->stride = (uint32_t)stride;
	ret_frames->n = (uint32_t)wsi_min_u64(ret_frames->extent.len / stride, info->max_rows);
	return true;
}

static enum ws_status frames_sorted(struct frames *frames, struct ws_return_address *ret_addresses,
				    uint32_t cap, struct ws_error *err)
{
	wsi_scoped_free struct wsi_keyed *items = wsi_zalloc_array(frames->n, sizeof *items);
	if (!items)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%u frames", frames->n);
	for (uint32_t i = 0; i < frames->n; i++)
		items[i] = (struct wsi_keyed){ inlined_frame_at(frames, i).level, i };
	if (!wsi_sort_keyed(items, frames->n))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%u frames", frames->n);
	for (uint32_t i = 0; i < frames->n && i < cap; i++)
		ret_addresses[i] = inlined_frame_at(frames, items[i].value);
	return WS_OK;
}

enum ws_status wsi_core_call_stack(const struct ws_target *target, uint32_t warp_index,
				   uint32_t lane, struct ws_return_address *ret_addresses,
				   uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	struct wsi_ref ref;
	if (!dump_lane_row(core, warp_index, lane, &ref))
		return no_such_lane(core, warp_index, lane, err);
	struct frames frames = { 0 };
	enum ws_status st = WS_OK;
	bool sorted = true;
	uint32_t last = 0;
	if (frames_find(core, ref, &frames)) {
		for (uint32_t i = 0; i < frames.n; i++) {
			struct ws_return_address frame = inlined_frame_at(&frames, i);
			sorted = sorted && frame.level >= last;
			last = frame.level;
			if (i < cap)
				ret_addresses[i] = frame;
		}
	}
	if (frames.failed)
		return wsi_fail(err, WS_IO, frames.extent.off, "the call stack cannot be read");
	if (!sorted)
		st = frames_sorted(&frames, ret_addresses, cap, err);
	if (st == WS_OK)
		*ret_n = frames.n;
	return st;
}

/* ---- registers ---- */

static enum ws_status no_such_registers(const struct ws_core *core, enum wsi_kind kind,
					struct ws_error *err)
{
	return wsi_fail(err, core->headers_lost ? WS_TRUNCATED : WS_ABSENT, WS_NO_OFFSET,
			"no %s were saved%s", wsi_kind_infos[kind].words,
			core->headers_lost ? ", or they were cut off" : "");
}

static inline enum ws_status registers_copy(const struct ws_core *core, uint64_t off, uint32_t n,
					    uint32_t *ret_values, struct ws_error *err)
{
	const size_t n_bytes = (size_t)n * 4;
	if (core->source.windows) { /* in place */
		enum ws_status st = wsi_input_read(&core->source, off, ret_values, n_bytes, err);
		for (uint32_t i = 0; i < n && st == WS_OK; i++)
			ret_values[i] = wsi_load_u32((const uint8_t *)&ret_values[i]);
		return st;
	}
	wsi_copy_u32(core->source.mapped, off, n, ret_values);
	return WS_OK;
}

enum ws_status wsi_core_registers(const struct ws_target *target, uint32_t warp_index,
				  uint32_t lane, enum ws_reg_kind kind, uint32_t first, uint32_t n,
				  uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	enum wsi_kind section_kind = wsi_kind_of_registers(kind);
	if (section_kind == WSI_KIND_NONE)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no kind of register %d",
				(int)kind);
	struct wsi_ref ref;
	if (wsi_kind_infos[section_kind].parent != WSI_KIND_LANE)
		ref = core->warps.at[warp_index];
	else if (!dump_lane_row(core, warp_index, lane, &ref))
		return no_such_lane(core, warp_index, lane, err);
	struct wsi_slice there;
	bool whole = true;
	if (!run_extent(core, ref, section_kind, &there)) {
		uint32_t section = wsi_core_slot(core, ref, section_kind);
		if (!section)
			return no_such_registers(core, section_kind, err);
		whole = wsi_core_extent(core, section, &there);
	}
	uint64_t saved = there.len / 4;
	if (first >= saved)
		return wsi_fail(err, whole ? WS_ABSENT : WS_TRUNCATED, there.off + there.len,
				whole ? "only %" PRIu64 " %s were saved"
				      : "the file ends after %" PRIu64 " %s",
				saved, wsi_kind_infos[section_kind].words);
	uint32_t count = (uint32_t)wsi_min_u64(n, saved - first);
	*ret_n = count;
	return count ? registers_copy(core, there.off + (uint64_t)first * 4, count, ret_values, err)
		     : WS_OK;
}
