/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for what. Each warp is divided into parts: lanes at one pc in one state, usually all of
 * its lanes. The code at its group's pc shows what a part waits for (code.c); parts at the
 * same instruction, reached through the same calls and waiting for the same barrier, are one wait.
 * Then, block by block and warp by warp, who is missing at barriers.
 */
#include "base/sort.h"

#include "wait/wait.h"

enum {
	MAX_CLASSIFIED = 512, /* groups, those of most threads first */
	MAX_BARRIER = 16,     /* barriers of a block */
};

bool wsi_wait_reads_word(enum ws_wait_kind kind)
{
	return kind == WS_WAIT_SPIN || kind == WS_WAIT_MBARRIER || kind == WS_WAIT_GRID;
}

const char *ws_wait_kind_text(enum ws_wait_kind kind)
{
	static const char *const texts[] = { "barrier", "cluster", "convergence", "mbarrier",
					     "grid",    "spin",    "sleep",       "registers" };
	return (size_t)kind < WSI_COUNT(texts) ? texts[kind] : "unknown";
}

const char *ws_wait_unit_text(enum ws_wait_kind kind)
{
	return kind == WS_WAIT_MBARRIER ? "arrival" : kind == WS_WAIT_GRID ? "block" : "thread";
}

const char *ws_absentee_state_text(enum ws_absentee_state state)
{
	static const char *const texts[] = { "exited", "faulted", "trapped",     "waits",
					     "runs",   "unknown", "not resident" };
	return (size_t)state < WSI_COUNT(texts) ? texts[state] : "unknown";
}

/* ---- stacks ---- */

static void read_lane_stack(const struct wsi_build *build, uint32_t warp_index, uint32_t lane,
			    struct wsi_stack *ret_stack)
{
	uint32_t n = 0;
	if (ws_target_call_stack(build->target, warp_index, lane, ret_stack->at, WSI_MAX_STACK, &n,
				 NULL) != WS_OK)
		n = 0;
	ret_stack->n = n < WSI_MAX_STACK ? n : WSI_MAX_STACK;
}

void wsi_part_stack(const struct wsi_waits *w, const struct wsi_part *part,
		    struct wsi_stack *ret_stack)
{
	read_lane_stack(w->build, part->warp, wsi_first_bit(part->lanes), ret_stack);
}

static uint64_t stack_hash_of(const struct wsi_stack *stack)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint32_t i = 0; i < stack->n; i++)
		hash = (hash ^ stack->at[i].address) * UINT64_C(0x100000001b3);
	return hash;
}

/* ---- what groups wait for ---- */

static struct wsi_map_key group_key(uint32_t device_index, uint32_t context_index, uint64_t pc,
				    enum ws_thread_state state)
{
	return (struct wsi_map_key){ { (uint64_t)device_index << 32 | context_index, pc,
				       (uint64_t)state, 0 } };
}

static enum ws_status classify_groups(struct wsi_waits *w)
{
	struct wsi_build *build = w->build;
	w->n_code = build->n_groups < MAX_CLASSIFIED ? build->n_groups : MAX_CLASSIFIED;
	w->code = wsi_zalloc_array(w->n_code, sizeof *w->code);
	if (!w->code)
		return WS_NO_MEMORY;
	for (size_t i = 0; i < build->n_groups; i++) {
		const struct wsi_group *group = &build->groups[i];
		struct wsi_map_key key =
			group_key(group->where.device_index, group->where.context_index,
				  group->g.pc, group->g.state);
		bool is_new;
		if (!wsi_map_put(&w->group_at, &key, (uint32_t)i, &is_new))
			return WS_NO_MEMORY;
		if (i >= w->n_code || group->is_host_pc || group->g.state <= WS_THREAD_TRAPPED)
			continue;
		struct wsi_stack stack;
		read_lane_stack(build, group->g.example.warp_index, group->g.example.lane, &stack);
		enum ws_status st =
			wsi_wait_classify(build, &w->flows, &group->where, group->g.pc,
					  group->g.state == WS_THREAD_BARRIER, &stack, &w->code[i]);
		w->code[i].stack_hash = stack_hash_of(&stack);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

/* ---- parts ---- */

static struct wsi_part *add_waiting_part(struct wsi_waits *w, const struct wsi_part *part)
{
	if (!wsi_grow(&w->parts, &w->cap_parts, w->n_parts, sizeof *w->parts, UINT32_MAX - 1))
		return NULL;
	w->parts[w->n_parts] = *part;
	return &w->parts[w->n_parts++];
}

static enum ws_thread_state lane_state_of(const struct ws_report_warp *warp, uint32_t lane)
{
	if (warp->lanes_faulted >> lane & 1)
		return WS_THREAD_FAULTED;
	if (!(warp->lanes_active >> lane & 1))
		return WS_THREAD_DIVERGENT;
	return warp->state >= WS_THREAD_TRAPPED && warp->state <= WS_THREAD_ACTIVE
		       ? (enum ws_thread_state)warp->state
		       : WS_THREAD_ACTIVE;
}

/* The group of a lane, or WS_NONE. */
static uint32_t find_group(struct wsi_waits *w, const struct ws_report_warp *warp, uint64_t pc,
			   uint32_t lane)
{
	const struct wsi_build *build = w->build;
	uint32_t kernel = WS_NONE;
	if (warp->block < build->report->map.n_blocks)
		kernel = build->report->map.blocks[warp->block].kernel;
	if (kernel >= build->report->n_kernels)
		return WS_NONE;
	struct wsi_where where = wsi_where_of_grid(build, build->kernels[kernel].device_index,
						   build->kernels[kernel].grid_index);
	struct wsi_map_key key =
		group_key(where.device_index, where.context_index, pc, lane_state_of(warp, lane));
	bool is_new;
	uint32_t *found = wsi_map_put(&w->group_at, &key, WS_NONE, &is_new);
	return found ? *found : WS_NONE;
}

/* A warp whose lanes are not all together. */
static enum ws_status cut_warp(struct wsi_waits *w, uint32_t index)
{
	const struct ws_report_warp *warp = &w->build->report->map.warps[index];
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0, seen = 0;
	size_t first = w->n_parts;
	if (ws_target_lanes(w->build->target, index, lanes, &n, NULL) != WS_OK)
		return WS_OK;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = lanes[i].id;
		if (id >= WS_MAX_LANES || !(warp->lanes_valid >> id & 1) || seen >> id & 1)
			continue;
		seen |= 1u << id;
		uint32_t group = find_group(w, warp, lanes[i].pc, id);
		size_t at = first;
		while (at < w->n_parts && w->parts[at].group != group)
			at++;
		struct wsi_part part = { .warp = index,
					 .block = warp->block,
					 .group = group,
					 .wait = WS_NONE,
					 .barrier = WS_NONE };
		if (at == w->n_parts && !add_waiting_part(w, &part))
			return WS_NO_MEMORY;
		w->parts[at].lanes |= 1u << id;
	}
	return WS_OK;
}

static enum ws_status cut_warps(struct wsi_waits *w)
{
	const struct ws_report_map *map = &w->build->report->map;
	for (uint32_t i = 0; i < map->n_warps; i++) {
		const struct ws_report_warp *warp = &map->warps[i];
		struct wsi_part part = { .warp = i,
					 .block = warp->block,
					 .lanes = warp->lanes_valid,
					 .group = warp->group,
					 .wait = WS_NONE,
					 .barrier = WS_NONE };
		if (!warp->known || !warp->lanes_valid)
			continue;
		bool together = warp->lanes_active == warp->lanes_valid &&
				(!warp->lanes_faulted || warp->lanes_faulted == warp->lanes_valid);
		enum ws_status st = WS_OK;
		if (!together)
			st = cut_warp(w, i);
		else if (!add_waiting_part(w, &part))
			st = WS_NO_MEMORY;
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

/* ---- waits ---- */

struct ws_report_thread wsi_part_thread(const struct wsi_waits *w, const struct wsi_part *part)
{
	const struct wsi_build *build = w->build;
	struct ws_report_thread at = { .device = WS_NONE,
				       .sm = WS_NONE,
				       .warp = WS_NONE,
				       .lane = wsi_first_bit(part->lanes),
				       .warp_index = part->warp,
				       .block_status = WS_ABSENT };
	struct ws_warp warp;
	struct ws_sm sm;
	struct ws_lane lane;
	if (ws_target_warp(build->target, part->warp, &warp, NULL) == WS_OK) {
		at.warp = warp.id;
		if (warp.device_index < build->report->n_devices)
			at.device = build->devices[warp.device_index].state.id;
		if (ws_target_sm(build->target, warp.sm_index, &sm, NULL) == WS_OK)
			at.sm = sm.id;
	}
	if (part->block < build->report->map.n_blocks &&
	    build->report->map.blocks[part->block].status == WS_OK) {
		at.block_status = WS_OK;
		at.block = build->report->map.blocks[part->block].idx;
	}
	if (ws_target_lane(build->target, part->warp, at.lane, &lane, NULL) == WS_OK)
		at.thread = lane.thread;
	return at;
}

/* The calls that lead to the instruction that waits: from the thread's callers and, where it reads
 * in a function that its loop calls, from the loop. */
static struct wsi_stack callers_of(const struct wsi_wait_code *code, const struct wsi_stack *stack)
{
	struct wsi_stack callers = { .n = 0 };
	for (uint32_t i = 0; i < code->n_path; i++)
		callers.at[callers.n++] = (struct ws_return_address){ .address = code->path[i] };
	for (uint32_t i = code->level; i < stack->n && callers.n < WSI_MAX_STACK; i++)
		callers.at[callers.n++] = stack->at[i];
	return callers;
}

/* Frames of a wait: the instruction's place, then its callers. */
static enum ws_status find_frames(struct wsi_waits *w, const struct wsi_part *part,
				  const struct wsi_stack *callers, struct ws_report_wait *wait)
{
	struct wsi_build *build = w->build;
	const struct wsi_group *group = &build->groups[part->group];
	struct wsi_frames frames = { 0 };
	struct ws_place place;
	enum ws_status st = wsi_frames_at(build, &group->where, wait->pc, false, &frames, &place);
	for (uint32_t i = 0; i < callers->n && st == WS_OK; i++)
		st = wsi_frames_at(build, &group->where, callers->at[i].address, true, &frames,
				   &place);
	struct ws_report_frame *kept = NULL;
	if (st == WS_OK)
		kept = wsi_arena_zalloc_array(build->arena, frames.n, sizeof *kept);
	if (kept) {
		memcpy(kept, frames.at, frames.n * sizeof *kept);
		for (size_t i = 0; i < frames.n; i++) {
			kept[i].level = (uint32_t)i;
			kept[i].source.status = WS_ABSENT;
		}
		wait->frames = kept;
		wait->n_frames = (uint32_t)frames.n;
		wait->user_frame = wsi_frames_user(kept, frames.n);
	} else {
		st = WS_NO_MEMORY;
	}
	wsi_free(frames.at);
	return st;
}

/* Functions on the stack, or the kernel, that are known to wait for others. */
static void name_known(const struct wsi_waits *w, struct ws_report_wait *wait)
{
	bool grid = false;
	for (uint32_t i = 0; i < wait->n_frames && !wait->collective; i++) {
		wait->collective = wsi_wait_known(wait->frames[i].function, &grid);
		if (!wait->collective)
			wait->collective = wsi_wait_known(wait->frames[i].function_mangled, &grid);
	}
	if (!wait->collective && wait->kernel < w->build->report->n_kernels)
		wait->collective = wsi_wait_known(w->build->kernels[wait->kernel].name, &grid);
	if (!grid && !wait->collective && wait->kind == WS_WAIT_SPIN && wait->n_frames)
		(void)wsi_wait_known(wait->frames[0].file, &grid);
	if (grid) {
		wait->collective = NULL;
		if (wait->kind == WS_WAIT_SPIN || wait->kind == WS_WAIT_BARRIER)
			wait->kind = WS_WAIT_GRID;
	}
}

static enum ws_status new_wait(struct wsi_waits *w, const struct wsi_part *part,
			       const struct wsi_stack *callers)
{
	const struct wsi_wait_code *code = &w->code[part->group];
	const struct wsi_group *group = &w->build->groups[part->group];
	uint64_t count = 0;
	struct ws_report_wait wait = {
		.kind = code->kind,
		.pc = code->pc,
		.instruction = code->instruction,
		.claim = { .evidence = code->evidence, .confidence = code->confidence },
		.kernel = group->g.kernel,
		.user_frame = WS_NONE,
		.example = wsi_part_thread(w, part),
		.barrier_status = WS_ABSENT,
		.address_status = WS_ABSENT,
		.value_status = WS_ABSENT,
		.space = code->space,
		.until_status = WS_ABSENT,
		.object = { .status = WS_ABSENT },
		.owner = { .ordinal = WS_NONE, .root_ordinal = WS_NONE, .range_status = WS_ABSENT },
		.one_address = true
	};
	if (!wsi_grow(&w->list, &w->cap_list, w->n_list, sizeof *w->list, WSI_MAX_WAITS))
		return WS_NO_MEMORY;
	if (code->kind == WS_WAIT_BARRIER && part->barrier != WS_NONE) {
		wait.barrier_status = WS_OK;
		wait.barrier = part->barrier;
	} else if (code->id.place != WSI_NOT_GIVEN && code->id.kind == WS_OPERAND_BREG) {
		wait.barrier_status = WS_OK;
		wait.barrier = code->id.number;
	}
	if (code->count.place != WSI_NOT_GIVEN &&
	    wsi_wait_operand(w, part, wait.example.lane, &code->count, &count))
		wait.expected = (uint32_t)(code->packed ? count >> 16 & 0xfff : count);
	enum ws_status st = find_frames(w, part, callers, &wait);
	name_known(w, &wait);
	w->first_part[w->n_list] = (size_t)(part - w->parts);
	w->list[w->n_list++] = wait;
	return st;
}

/* Reads which barrier, and which lanes, a part waits for. */
static void read_barrier(struct wsi_waits *w, struct wsi_part *part)
{
	const struct wsi_wait_code *code = &w->code[part->group];
	uint64_t value = 0;
	bool known = code->id.place != WSI_NOT_GIVEN &&
		     wsi_wait_operand(w, part, wsi_first_bit(part->lanes), &code->id, &value);
	if (code->packed)
		value &= 0xf;
	if (code->kind == WS_WAIT_BARRIER && known && value < MAX_BARRIER)
		part->barrier = (uint32_t)value;
	if (code->kind == WS_WAIT_CONVERGENCE)
		part->mask = known && value ? (uint32_t)value : UINT32_MAX;
}

/* The wait of a part that waits: found or new. */
static enum ws_status enter_wait(struct wsi_waits *w, struct wsi_part *part)
{
	const struct wsi_wait_code *code = &w->code[part->group];
	const struct wsi_group *group = &w->build->groups[part->group];
	struct wsi_stack stack;
	wsi_part_stack(w, part, &stack);
	if (code->level && stack_hash_of(&stack) != code->stack_hash)
		return WS_OK; /* another loop, which was not looked at */
	struct wsi_stack callers = callers_of(code, &stack);
	read_barrier(w, part);
	struct wsi_map_key key = {
		{ (uint64_t)group->where.device_index << 32 | group->where.context_index, code->pc,
		  (uint64_t)part->barrier << 32 | group->g.kernel, stack_hash_of(&callers) }
	};
	if (w->n_list == WSI_MAX_WAITS)
		return WS_OK;
	bool is_new;
	uint32_t *at = wsi_map_put(&w->by_key, &key, (uint32_t)w->n_list, &is_new);
	if (!at)
		return WS_NO_MEMORY;
	part->wait = *at;
	return is_new ? new_wait(w, part, &callers) : WS_OK;
}

/* Lanes that name different barriers of their block become parts of their own. */
static enum ws_status split_part(struct wsi_waits *w, size_t i)
{
	struct wsi_part part = w->parts[i];
	const struct wsi_wait_code *code = &w->code[part.group];
	uint32_t same = 0;
	uint64_t first = 0, value;
	if (code->kind != WS_WAIT_BARRIER || code->id.place == WSI_NOT_GIVEN ||
	    code->id.kind != WS_OPERAND_REG)
		return WS_OK;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(part.lanes >> lane & 1) ||
		    !wsi_wait_operand(w, &part, lane, &code->id, &value))
			continue;
		first = same ? first : value;
		same |= value == first ? 1u << lane : 0;
	}
	if (!same || same == part.lanes)
		return WS_OK;
	w->parts[i].lanes = same;
	part.lanes &= ~same;
	return add_waiting_part(w, &part) ? WS_OK : WS_NO_MEMORY;
}

static enum ws_status find_waits(struct wsi_waits *w)
{
	uint32_t last_warp[WSI_MAX_WAITS], last_block[WSI_MAX_WAITS];
	memset(last_warp, 0xff, sizeof last_warp);
	memset(last_block, 0xff, sizeof last_block);
	for (size_t i = 0; i < w->n_parts; i++) {
		if (w->parts[i].group >= w->n_code || !w->code[w->parts[i].group].waits)
			continue;
		enum ws_status st = split_part(w, i);
		struct wsi_part *part = &w->parts[i];
		if (st == WS_OK)
			st = enter_wait(w, part);
		if (st != WS_OK)
			return st;
		if (part->wait == WS_NONE)
			continue;
		struct ws_report_wait *wait = &w->list[part->wait];
		wait->n_lanes += wsi_count_bits(part->lanes);
		wait->n_warps += last_warp[part->wait] != part->warp;
		wait->n_blocks += last_block[part->wait] != part->block;
		wait->n_hardware_warps +=
			(wait->kind == WS_WAIT_BARRIER || wait->kind == WS_WAIT_CLUSTER) &&
			last_warp[part->wait] != part->warp &&
			w->build->groups[part->group].g.state == WS_THREAD_BARRIER;
		last_warp[part->wait] = part->warp;
		last_block[part->wait] = part->block;
	}
	return WS_OK;
}

/* ---- order, words, the whole ---- */

/* Parts by block and warp, waits by their number of threads. */
static enum ws_status sort_lists(struct wsi_waits *w)
{
	size_t most = w->n_parts > w->n_list ? w->n_parts : w->n_list;
	struct wsi_keyed *keys = wsi_zalloc_array(most, sizeof *keys);
	struct wsi_part *parts = wsi_zalloc_array(w->n_parts, sizeof *parts);
	struct ws_report_wait *list = wsi_zalloc_array(w->n_list, sizeof *list);
	uint32_t *place = wsi_zalloc_array(w->n_list, sizeof *place);
	bool done = keys && parts && list && place;
	for (size_t i = 0; i < w->n_list && done; i++)
		keys[i] = (struct wsi_keyed){ UINT64_MAX - w->list[i].n_lanes, (uint32_t)i };
	done = done && wsi_sort_keyed(keys, w->n_list);
	for (size_t i = 0; i < w->n_list && done; i++) {
		list[i] = w->list[keys[i].value];
		place[keys[i].value] = (uint32_t)i;
	}
	for (size_t i = 0; i < w->n_parts && done; i++)
		keys[i] = (struct wsi_keyed){ (uint64_t)w->parts[i].block << 32 | w->parts[i].warp,
					      (uint32_t)i };
	done = done && wsi_sort_keyed(keys, w->n_parts);
	for (size_t i = 0; i < w->n_parts && done; i++) {
		parts[i] = w->parts[keys[i].value];
		if (parts[i].wait != WS_NONE)
			parts[i].wait = place[parts[i].wait];
	}
	if (done && w->n_parts)
		memcpy(w->parts, parts, w->n_parts * sizeof *parts);
	if (done && w->n_list)
		memcpy(w->list, list, w->n_list * sizeof *list);
	wsi_free(keys);
	wsi_free(parts);
	wsi_free(list);
	wsi_free(place);
	return done ? WS_OK : WS_NO_MEMORY;
}

/* Whether a wait holds up threads: a barrier that all have come to, or an object whose phase is
 * over, is about to let them go. */
static bool holds_up(const struct ws_report_wait *wait)
{
	if (wait->kind == WS_WAIT_SLEEP)
		return false;
	if (wait->kind == WS_WAIT_BARRIER && wait->barrier_status == WS_OK && !wait->expected &&
	    !wait->n_hardware_warps)
		return wait->n_missing > 0;
	return !wait->one_address || !(wait->until_met || wait->object.over);
}

/* Warps all of whose lanes wait for others. */
static void count_waiting(struct wsi_waits *w)
{
	struct ws_report *report = w->build->report;
	for (size_t from = 0, to; from < w->n_parts; from = to) {
		bool all = true;
		for (to = from; to < w->n_parts && w->parts[to].warp == w->parts[from].warp; to++) {
			uint32_t wait = w->parts[to].wait;
			all &= wait != WS_NONE && holds_up(&w->list[wait]);
		}
		report->n_waiting_warps += all;
		for (size_t i = from; i < to && all; i++)
			report->n_waiting_threads[w->list[w->parts[i].wait].kind] +=
				wsi_count_bits(w->parts[i].lanes);
	}
}

/* What the hardware says and what the code says. */
static bool say_evidence(struct wsi_waits *w, struct ws_report_wait *wait)
{
	if (wait->n_hardware_warps == wait->n_warps) {
		wait->claim.evidence = "the hardware reports it for these warps";
		wait->claim.confidence = WS_CONFIDENCE_CERTAIN;
	} else if (wait->n_hardware_warps) {
		wait->claim.evidence = wsi_build_text(
			w->build,
			"the hardware reports it for %" PRIu64
			" of the warps; the others are at the instruction that waits",
			wait->n_hardware_warps);
		wait->claim.confidence = WS_CONFIDENCE_LIKELY;
	}
	return wait->claim.evidence != NULL;
}

/* What is waited for, but for numbers that the page shows on lines of their own. */
static const char *what_is_waited_for(struct wsi_build *build, const struct ws_report_wait *wait)
{
	const char *their = wait->n_lanes == 1 ? "its" : "their";
	switch (wait->kind) {
	case WS_WAIT_BARRIER:
		if (wait->barrier_status != WS_OK)
			return wsi_build_text(build, "at a barrier of %s block", their);
		return wait->expected
			       ? wsi_build_text(build, "at barrier %u of %s block, for %u threads",
						wait->barrier, their, wait->expected)
			       : wsi_build_text(build, "at barrier %u of %s block", wait->barrier,
						their);
	case WS_WAIT_CLUSTER:
		return wsi_build_text(build, "at the barrier of %s cluster", their);
	case WS_WAIT_CONVERGENCE:
		return wsi_build_text(build, "for other lanes of %s warp", their);
	case WS_WAIT_MBARRIER:
		return "for a barrier object (mbarrier) in shared memory";
	case WS_WAIT_GRID:
		return "for all blocks of the grid";
	case WS_WAIT_SPIN:
		return wait->space == WS_SPACE_SHARED   ? "for shared memory to change"
		       : wait->space == WS_SPACE_GLOBAL ? "for global memory to change"
							: "for memory to change";
	case WS_WAIT_REGISTERS:
		return "for registers that other warps have to give back (setmaxnreg)";
	case WS_WAIT_SLEEP:
		break;
	}
	return "in a nanosleep";
}

static bool say_wait_head(struct wsi_waits *w, struct ws_report_wait *wait)
{
	const char *what = what_is_waited_for(w->build, wait);
	if (!what)
		return false;
	wait->claim.text = wsi_build_text(
		w->build, "wait%s %s%s%s%s%s", wait->n_lanes == 1 ? "s" : "", what,
		wait->n_lanes > 1 && wait->address_status == WS_OK && wait->one_address &&
				wsi_wait_reads_word(wait->kind)
			? ", all at the same address"
			: "",
		wait->collective ? ", in a collective operation (" : "",
		wait->collective ? wait->collective : "", wait->collective ? ")" : "");
	return wait->claim.text != NULL;
}

/* Without the launch nobody knows where all of the others stand. */
static bool knows_launch(const struct wsi_build *build, const struct ws_report_wait *wait)
{
	return wait->kernel != WS_NONE && build->kernels[wait->kernel].grid_status == WS_OK;
}

/* How many are missing, and whether they can come. */
static bool say_missing_threads(struct wsi_waits *w, struct ws_report_wait *wait)
{
	struct wsi_build *build = w->build;
	const char *unit = ws_wait_unit_text(wait->kind);
	if (wait->kernel != WS_NONE && !knows_launch(build, wait))
		wait->missing_is_most = true;
	const char *plural = wait->n_missing == 1 ? "" : "s";
	const char *have = wait->n_missing == 1 ? "has" : "have";
	const char *never = "";
	if (wait->n_missing == 0) {
		if (wait->kind == WS_WAIT_BARRIER && wait->barrier_status == WS_OK)
			wait->missing_text =
				wait->expected ? "all have arrived"
					       : "all threads that have not ended have arrived";
		return true;
	}
	if (wait->n_never)
		never = wait->n_never == wait->n_missing
				? "; none of them can arrive any more"
				: wsi_build_text(build, "; %" PRIu64 " of them never can",
						 wait->n_never);
	if (!never)
		return false;
	if (wait->kind == WS_WAIT_MBARRIER) /* `needs` has the number */
		wait->missing_text = wait->nobody_left ? "no other thread of the block is left "
							 "that could arrive"
						       : NULL;
	else
		wait->missing_text = wsi_build_text(
			build, "%s%" PRIu64 " %s%s %s not arrived%s%s",
			wait->missing_is_most ? "at most " : "", wait->n_missing, unit, plural,
			have,
			wait->missing_is_most ? ": some may have arrived before, without waiting"
					      : "",
			never);
	return wait->missing_text || wait->kind == WS_WAIT_MBARRIER;
}

static enum ws_status keep_waits(struct wsi_waits *w)
{
	struct ws_report_wait *kept =
		wsi_arena_zalloc_array(w->build->arena, w->n_list, sizeof *kept);
	if (!kept)
		return WS_NO_MEMORY;
	for (size_t i = 0; i < w->n_list; i++) {
		if (!say_wait_head(w, &w->list[i]) || !say_missing_threads(w, &w->list[i]) ||
		    !say_evidence(w, &w->list[i]))
			return WS_NO_MEMORY;
		kept[i] = w->list[i];
	}
	w->build->report->waits = kept;
	w->build->report->n_waits = (uint32_t)w->n_list;
	uint32_t root = wsi_wait_root(kept, (uint32_t)w->n_list);
	if (root != WS_NONE) {
		w->build->report->root_wait = &kept[root];
		w->build->report->root_status =
			knows_launch(w->build, &kept[root]) ? WS_OK : WS_ABSENT;
	}
	return WS_OK;
}

enum ws_status wsi_waits(struct wsi_build *build)
{
	static enum ws_status (*const steps[])(struct wsi_waits *) = {
		classify_groups, cut_warps,      find_waits,         wsi_wait_words,
		sort_lists,      wsi_wait_masks, wsi_wait_absentees, keep_waits,
	};
	struct wsi_waits w = { .build = build };
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < WSI_COUNT(steps) && st == WS_OK; i++)
		st = steps[i](&w);
	if (st == WS_OK)
		count_waiting(&w);
	wsi_wait_flows_fini(&w.flows);
	wsi_free(w.code);
	wsi_free(w.parts);
	wsi_free(w.list);
	wsi_map_fini(&w.by_key);
	wsi_map_fini(&w.group_at);
	return st;
}
