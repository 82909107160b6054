/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over everything that is resident. It looks at states and pcs only and never at code:
 * 270,000 lanes stand at a few dozen pcs, and those are looked up afterwards.
 */
#include <warpscope/doubt.h>
#include <warpscope/focus.h>

#include "report/build.h"
#include "state/possible.h"

/* The walk's own state. */
struct report_scan {
	struct wsi_build *build;
	struct wsi_map groups_at, faults_at; /* key -> index in the build's list */
	struct wsi_map_key fault_key, group_key;
	size_t fault_last, group_last; /* entry of the last key; SIZE_MAX: none yet */
	bool *sm_taken;                /* by SM index: a warp took up its exception */

	/* the warp being looked at */
	uint32_t warp_index;
	struct ws_warp warp;
	struct ws_sm sm;
	uint32_t sm_index;  /* of `sm`; WS_NONE: none read yet */
	uint32_t unclaimed; /* exception of `sm` that no lane carries */
	enum ws_status block_status;
	struct ws_block block;
	struct wsi_where where;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n_lanes;
	uint32_t exception;      /* that was attributed to it; 0: none */
	struct ws_warp before;   /* the warp that was looked at last, if any_before */
	bool any_before, failed; /* failed: memory is out */
};

enum {
	BARRIER_NONE = 0, /* [public doc: CUDBGBarrierScope] */
};
#define BARRIER_INVALID UINT32_MAX

static const struct ws_device *device_at(const struct report_scan *s, uint32_t device_index)
{
	return device_index < s->build->report->n_devices &&
			       s->build->devices[device_index].status == WS_OK
		       ? &s->build->devices[device_index].state
		       : NULL;
}

static uint32_t device_id(const struct wsi_build *build, uint32_t device_index)
{
	const struct ws_device *device = device_index < build->report->n_devices
						 ? &build->devices[device_index].state
						 : NULL;
	bool known = device && (!device->damaged || wsi_state_device_possible(device));
	return known ? device->id : WS_NONE;
}

/* Where a lane's code is: a device address when `*ret_is_host` is false. */
static uint64_t lane_pc(const struct report_scan *s, const struct ws_lane *lane, bool *ret_is_host)
{
	*ret_is_host = false;
	if (!s->build->classic)
		return lane->pc;
	/* host addresses; the offset counts from the lane's function, which is the kernel only
	 * when nothing was called */
	if (s->where.grid_index != WS_NONE && lane->call_depth == 0) {
		uint32_t kernel = s->build->kernel_of_grid[s->where.grid_index];
		return s->build->kernels[kernel].grid.function_entry + lane->rel_pc;
	}
	*ret_is_host = true;
	return lane->pc;
}

static struct ws_report_thread thread_at(const struct report_scan *s, const struct ws_lane *lane)
{
	const struct ws_device *device = device_at(s, s->warp.device_index);
	bool limits = device && !device->damaged;
	bool sm_known = !s->sm.damaged || (limits && s->sm.id < ws_device_most_sms(device));
	bool warp_known = !s->warp.damaged || (limits && s->warp.id < ws_device_most_warps(device));
	struct ws_report_thread at = {
		.device = device_id(s->build, s->warp.device_index),
		.sm = sm_known ? s->sm.id : WS_NONE,
		.warp = warp_known ? s->warp.id : WS_NONE,
		.lane = lane ? lane->id : WS_NONE,
		.warp_index = s->warp_index,
		.block_status = s->block_status,
	};
	if (s->block_status == WS_OK) {
		at.block = s->block.idx;
		at.have_cluster = s->block.have & WS_BLOCK_CLUSTER_IDX;
		at.cluster = s->block.cluster_idx;
	}
	if (lane)
		at.thread = lane->thread;
	return at;
}

/* ---- faults ---- */

/* The entry for a fault at this place, new or found; NULL when memory is out. */
static struct wsi_fault *fault_entry(struct report_scan *s, const struct wsi_fault *fault)
{
	struct wsi_build *build = s->build;
	const struct ws_report_exception *e = &fault->e;
	bool by_error = e->errorpc_status == WS_OK;
	struct wsi_map_key key = { {
		(uint64_t)fault->device_index << 32 | fault->where.context_index,
		by_error ? e->errorpc : e->pc,
		(uint64_t)e->code << 32 | fault->where.grid_index,
		(uint64_t)e->blame << 8 | (uint64_t)by_error << 1 | (e->pc_status == WS_OK),
	} };
	if (s->fault_last != SIZE_MAX && memcmp(&key, &s->fault_key, sizeof key) == 0)
		return &build->faults[s->fault_last];
	bool is_new;
	uint32_t *index = wsi_map_put(&s->faults_at, &key, (uint32_t)build->n_faults, &is_new);
	if (!index)
		return NULL;
	if (is_new) {
		if (!wsi_grow(&build->faults, &build->cap_faults, build->n_faults,
			      sizeof *build->faults, UINT32_MAX - 1))
			return NULL;
		build->faults[build->n_faults] = *fault;
		build->faults[build->n_faults].last_warp_index = WS_NONE;
		build->faults[build->n_faults].last_sm_index = WS_NONE;
		build->n_faults++;
	}
	s->fault_key = key;
	s->fault_last = *index;
	return &build->faults[*index];
}

static bool fault_count(struct report_scan *s, const struct wsi_fault *fault, uint32_t n_lanes)
{
	struct wsi_fault *entry = fault_entry(s, fault);
	if (!entry)
		return false;
	entry->e.n_lanes += n_lanes;
	if (fault->e.at.warp_index != WS_NONE && entry->last_warp_index != fault->e.at.warp_index) {
		entry->last_warp_index = fault->e.at.warp_index;
		entry->e.n_warps++;
	}
	if (entry->last_sm_index != fault->sm_index) {
		entry->last_sm_index = fault->sm_index;
		entry->e.n_sms++;
	}
	return true;
}

/* The kernel of the current warp: its index, or WS_NONE. */
static uint32_t kernel_index(const struct report_scan *s)
{
	return s->where.grid_index == WS_NONE ? WS_NONE
					      : s->build->kernel_of_grid[s->where.grid_index];
}

static struct ws_report_kernel *kernel_at(const struct report_scan *s)
{
	uint32_t index = kernel_index(s);
	return index == WS_NONE ? NULL : &s->build->kernels[index];
}

/* What the SM's row adds to an exception. */
static void fault_add_sm(struct wsi_fault *fault, const struct ws_sm *sm)
{
	fault->e.text_status =
		sm->have & WS_SM_EXCEPTION_TEXT && sm->exception_text.len ? WS_OK : WS_ABSENT;
	fault->e.text = sm->exception_text;
	fault->e.target_block_told = sm->have & WS_SM_CLUSTER_TARGET;
	fault->e.have_target_block = fault->e.target_block_told && sm->cluster_target_valid;
	fault->e.target_block = sm->cluster_target;
}

/* A fault of the current warp, of `lane` (NULL: no lane is recorded). */
static struct wsi_fault warp_fault(const struct report_scan *s, uint32_t code,
				   enum ws_attribution blame, uint32_t blamed,
				   const struct ws_lane *lane)
{
	struct wsi_fault fault = {
		.e = {
			.code = code,
			.blame = blame,
			.at = thread_at(s, lane),
			.pc_status = lane ? WS_OK : WS_ABSENT,
			.errorpc_status = s->warp.error_pc_valid ? WS_OK : WS_ABSENT,
			.errorpc = s->warp.error_pc,
			.lanes_active = s->warp.active_lanes,
			.lanes_valid = s->warp.valid_lanes,
			.lanes_blamed = blamed,
			.kernel = kernel_index(s),
		},
		.where = s->where,
		.device_index = s->warp.device_index,
		.sm_index = s->warp.sm_index,
	};
	bool is_host = false;
	if (lane)
		fault.e.pc = lane_pc(s, lane, &is_host);
	if (is_host)
		fault.e.pc_status = WS_UNSUPPORTED;
	fault_add_sm(&fault, &s->sm);
	return fault;
}

/* The SM of the current warp has an exception. */
static void sm_count(struct report_scan *s)
{
	if (!s->sm_taken[s->sm_index] && s->warp.device_index < s->build->report->n_devices)
		s->build->devices[s->warp.device_index].faulted_sms++;
	s->sm_taken[s->sm_index] = true;
}

/*
 * Faults of the current warp, by the order of attribution of report.h. `*ret_faulted` gets the
 * lanes that carry or share an exception. False when memory is out.
 */
static bool scanned_warp_faults(struct report_scan *s, uint32_t *ret_faulted)
{
	struct ws_blame blame;
	ws_focus_blame(&s->warp, s->lanes, s->n_lanes, s->unclaimed, &blame);
	s->exception = 0;
	*ret_faulted = 0;
	if (blame.by == WS_BLAME_NOBODY)
		return true;
	if (blame.by != WS_BLAME_TRAP) {
		sm_count(s);
		s->exception = blame.code;
		*ret_faulted = blame.lanes;
	}
	if (!blame.lanes) { /* the warp is known, its lanes are not */
		struct wsi_fault fault = warp_fault(s, blame.code, blame.by, 0, NULL);
		return fault_count(s, &fault, 0);
	}
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		const struct ws_lane *lane = &s->lanes[i];
		if (!(blame.lanes >> lane->id & 1))
			continue;
		if (!s->exception && blame.by == WS_BLAME_LANE)
			s->exception = lane->exception;
		struct wsi_fault fault =
			warp_fault(s, blame.by == WS_BLAME_LANE ? lane->exception : blame.code,
				   blame.by, blame.lanes, lane);
		if (!fault_count(s, &fault, 1))
			return false;
	}
	return true;
}

/* ---- what cannot be ---- */

/* Rows that break the rules prove nothing. */
static void doubt_note(void *user, const struct ws_doubt *doubt)
{
	struct report_scan *s = user;
	if (wsi_diagnose_doubt(s->build, doubt) != WS_OK)
		s->failed = true;
}

static void doubt_sm(struct report_scan *s, uint32_t sm_index, const struct ws_sm *sm)
{
	const struct ws_device *device = device_at(s, sm->device_index);
	struct ws_sm before;
	bool any = sm_index > 0 &&
		   ws_target_sm(s->build->target, sm_index - 1, &before, NULL) == WS_OK &&
		   before.device_index == sm->device_index;
	if (device)
		ws_sm_doubts(device, any ? &before : NULL, sm, doubt_note, s);
}

/* The grid of the warp's block, or NULL. */
static const struct ws_grid *grid_of(const struct report_scan *s)
{
	const struct ws_report_kernel *kernel = kernel_at(s);
	return kernel && kernel->grid_status == WS_OK ? &kernel->grid : NULL;
}

static void doubt_warp(struct report_scan *s, const struct ws_lane *lanes, uint32_t n_lanes)
{
	const struct ws_device *device = device_at(s, s->warp.device_index);
	bool any = s->any_before && s->before.sm_index == s->warp.sm_index;
	if (device)
		ws_warp_doubts(device, grid_of(s), any ? &s->before : NULL, &s->warp, lanes,
			       n_lanes, doubt_note, s);
	s->before = s->warp;
	s->any_before = true;
}

/* Notes what is wrong with the SMs of one device. */
static enum ws_status scan_sms(struct report_scan *s, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct ws_sm sm;
		struct ws_error err;
		if (ws_target_sm(s->build->target, i, &sm, &err) != WS_OK) {
			if (wsi_diagnose(s->build, "SM", WS_HIDES_FAULT, &err) != WS_OK)
				return WS_NO_MEMORY;
			continue;
		}
		s->build->sms_untold |= !(sm.have & WS_SM_EXCEPTION);
		doubt_sm(s, i, &sm);
	}
	return WS_OK;
}

/* Exceptions of SMs that no warp took up. */
static enum ws_status scan_lone_sms(struct report_scan *s)
{
	uint32_t end = 0;
	bool misread = false;
	for (uint32_t i = 0; i < s->build->counts.sms; i++) {
		struct ws_sm sm;
		enum ws_status st = WS_OK;
		if (i == end) {
			misread = ws_focus_misread(s->build->target, i, &end);
			st = scan_sms(s, i, end);
		}
		if (st != WS_OK)
			return st;
		if (s->sm_taken[i] || misread ||
		    ws_target_sm(s->build->target, i, &sm, NULL) != WS_OK ||
		    !(sm.have & WS_SM_EXCEPTION) || sm.exception == 0 || sm.damaged)
			continue;
		if (sm.device_index < s->build->report->n_devices)
			s->build->devices[sm.device_index].faulted_sms++;
		struct wsi_fault fault = {
			.e = {
				.code = sm.exception,
				.blame = WS_BLAME_SM,
				.at = { .device = device_id(s->build, sm.device_index), .sm = sm.id,
					.warp = WS_NONE, .lane = WS_NONE, .warp_index = WS_NONE,
					.block_status = WS_ABSENT },
				.pc_status = WS_ABSENT,
				.errorpc_status = sm.error_pc_valid ? WS_OK : WS_ABSENT,
				.errorpc = sm.error_pc,
				.kernel = WS_NONE,
			},
			.where = { sm.device_index, WS_NONE, WS_NONE, WS_NONE },
			.device_index = sm.device_index,
			.sm_index = i,
		};
		fault_add_sm(&fault, &sm);
		if (!fault_count(s, &fault, 0))
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

/* ---- groups ---- */

static bool warp_waits(const struct ws_warp *warp)
{
	return warp->have & WS_WARP_BARRIER && warp->barrier_scope != BARRIER_NONE &&
	       warp->barrier_scope != BARRIER_INVALID;
}

static enum ws_thread_state lane_scanned_state(const struct report_scan *s, uint32_t lane,
					       uint32_t faulted)
{
	uint32_t bit = 1u << lane;
	if (faulted & bit)
		return WS_THREAD_FAULTED;
	if (!(s->warp.active_lanes & bit))
		return WS_THREAD_DIVERGENT;
	if (s->warp.broken)
		return WS_THREAD_TRAPPED;
	return warp_waits(&s->warp) ? WS_THREAD_BARRIER : WS_THREAD_ACTIVE;
}

/* The group of a lane in this state; NULL when memory is out. */
static struct wsi_group *group_entry(struct report_scan *s, const struct ws_lane *lane,
				     enum ws_thread_state state)
{
	struct wsi_build *build = s->build;
	bool is_host;
	uint64_t pc = lane_pc(s, lane, &is_host);
	struct wsi_map_key key = { {
		(uint64_t)s->where.device_index << 32 | s->where.context_index,
		pc,
		(uint64_t)state << 1 | is_host,
		0,
	} };
	if (s->group_last != SIZE_MAX && memcmp(&key, &s->group_key, sizeof key) == 0)
		return &build->groups[s->group_last];
	bool is_new;
	uint32_t *index = wsi_map_put(&s->groups_at, &key, (uint32_t)build->n_groups, &is_new);
	if (!index)
		return NULL;
	if (is_new) {
		if (!wsi_grow(&build->groups, &build->cap_groups, build->n_groups,
			      sizeof *build->groups, UINT32_MAX - 1))
			return NULL;
		build->groups[build->n_groups] = (struct wsi_group){
			.g = { .state = state,
			       .pc = pc,
			       .kernel = kernel_index(s),
			       .example = thread_at(s, lane) },
			.where = s->where,
			.is_host_pc = is_host,
			.last_warp_index = WS_NONE,
			.found = (uint32_t)build->n_groups,
		};
		build->n_groups++;
	}
	s->group_key = key;
	s->group_last = *index;
	return &build->groups[*index];
}

/* The first lane in the state that stands for the whole warp; its id, or WS_NONE. */
static uint32_t leading_lane(const struct report_scan *s, uint32_t faulted)
{
	uint32_t wanted = faulted ? faulted : s->warp.active_lanes;
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		if (wanted >> s->lanes[i].id & 1)
			return s->lanes[i].id;
	}
	return s->n_lanes ? s->lanes[0].id : WS_NONE;
}

static enum ws_thread_state warp_state(const struct report_scan *s)
{
	if (s->exception)
		return WS_THREAD_FAULTED;
	if (s->warp.broken)
		return WS_THREAD_TRAPPED;
	if (!s->warp.active_lanes)
		return WS_THREAD_DIVERGENT;
	return warp_waits(&s->warp) ? WS_THREAD_BARRIER : WS_THREAD_ACTIVE;
}

/* Number in its block of the thread of lane 0. */
static uint32_t first_thread(const struct report_scan *s)
{
	if (s->n_lanes == 0 || s->where.grid_index == WS_NONE)
		return WS_NONE;
	uint32_t kernel = s->build->kernel_of_grid[s->where.grid_index];
	const struct ws_dim3 *dim = &s->build->kernels[kernel].grid.block_dim;
	const struct ws_dim3 *at = &s->lanes[0].thread;
	uint64_t number = ((uint64_t)at->z * dim->y + at->y) * dim->x + at->x;
	if (at->x >= dim->x || at->y >= dim->y || number >= WS_NONE || number < s->lanes[0].id)
		return WS_NONE;
	return (uint32_t)number - s->lanes[0].id;
}

/* The warp's place in the map but for its group. */
static struct ws_report_warp *map_warp(struct report_scan *s, uint32_t faulted)
{
	struct ws_report_warp *at = &s->build->map_warps[s->warp_index];
	*at = (struct ws_report_warp){
		.known = true,
		.state = (uint8_t)warp_state(s),
		.id = s->warp.id,
		.exception = s->exception,
		.lanes_valid = s->warp.valid_lanes,
		.lanes_active = s->warp.active_lanes,
		.lanes_faulted = faulted,
		.group = WS_NONE,
		.block = s->block_status == WS_OK ? s->warp.block_index : WS_NONE,
		.first_thread = first_thread(s),
	};
	return at;
}

static bool warp_groups(struct report_scan *s, uint32_t faulted)
{
	struct ws_report_warp *at = map_warp(s, faulted);
	uint32_t leader = leading_lane(s, faulted);
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		const struct ws_lane *lane = &s->lanes[i];
		struct wsi_group *group =
			group_entry(s, lane, lane_scanned_state(s, lane->id, faulted));
		if (!group)
			return false;
		group->g.n_lanes++;
		if (group->last_warp_index != s->warp_index) {
			group->last_warp_index = s->warp_index;
			group->g.n_warps++;
		}
		if (lane->id == leader)
			at->group = group->found;
	}
	return true;
}

/* ---- the walk ---- */

/* Lowest device and grid, then lowest block, then first in the order of the walk. */
static bool comes_before(const struct report_scan *s, const struct wsi_fault *other)
{
	const struct ws_report_kernel *mine = kernel_at(s), *its = NULL;
	if (other->e.kernel != WS_NONE)
		its = &s->build->kernels[other->e.kernel];
	if (!mine || !its)
		return mine && !its;
	if (s->where.device_index != other->where.device_index)
		return s->where.device_index < other->where.device_index;
	if (mine->grid.id != its->grid.id)
		return mine->grid.id < its->grid.id;
	const struct ws_dim3 *a = &s->block.idx, *b = &other->e.at.block;
	if (a->z != b->z)
		return a->z < b->z;
	return a->y != b->y ? a->y < b->y : a->x < b->x;
}

/* Remembers the thread to show of a target without exceptions. */
static void consider_calm(struct report_scan *s)
{
	struct wsi_build *build = s->build;
	if (s->n_lanes == 0 || (build->have_calm && !comes_before(s, &build->calm)))
		return;
	build->calm = warp_fault(s, 0, WS_BLAME_NOBODY, 0, &s->lanes[0]);
	build->calm.e.n_lanes = build->calm.e.n_warps = build->calm.e.n_sms = 1;
	build->have_calm = true;
}

/* Reads the warp's block, and from it where the warp's code is. */
static void scan_read_block(struct report_scan *s)
{
	s->where = (struct wsi_where){ s->warp.device_index, WS_NONE, WS_NONE, WS_NONE };
	s->block_status = WS_ABSENT;
	if (s->warp.block_index == WS_NONE)
		return;
	s->block_status = ws_target_block(s->build->target, s->warp.block_index, &s->block, NULL);
	if (s->block_status != WS_OK)
		return;
	s->where = wsi_where_of_grid(s->build, s->warp.device_index, s->block.grid_index);
	ws_block_doubts(&s->block, grid_of(s), doubt_note, s);
	if (s->block.damaged)
		s->block_status = WS_MALFORMED; /* it is somewhere else */
}

/* Lanes that hold a thread, by ids below 32 and each once. */
static enum ws_status read_lanes(struct report_scan *s, struct ws_error *err)
{
	uint32_t n, seen = 0;
	s->n_lanes = 0;
	enum ws_status st = ws_target_lanes(s->build->target, s->warp_index, s->lanes, &n, err);
	if (st != WS_OK)
		return st;
	doubt_warp(s, s->lanes, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = s->lanes[i].id;
		bool valid = s->warp.damaged || s->warp.valid_lanes >> (id & 31) & 1;
		if (id >= WS_MAX_LANES || !valid || seen >> id & 1)
			continue;
		seen |= 1u << id;
		if (s->n_lanes != i)
			s->lanes[s->n_lanes] = s->lanes[i];
		s->n_lanes++;
	}
	return WS_OK;
}

static void count_warp(struct report_scan *s)
{
	struct wsi_build *build = s->build;
	build->report->n_warps++;
	build->report->n_barrier_warps += warp_waits(&s->warp);
	build->report->barriers_untold |= !(s->warp.have & WS_WARP_BARRIER);
	if (s->warp.device_index < build->report->n_devices) {
		build->devices[s->warp.device_index].resident_warps++;
		build->devices[s->warp.device_index].resident_lanes += s->n_lanes;
	}
	struct ws_report_kernel *kernel = kernel_at(s);
	if (kernel)
		kernel->resident_warps++;
}

static enum ws_status scan_warp(struct report_scan *s, uint32_t warp_index)
{
	struct ws_error err;
	s->warp_index = warp_index;
	enum ws_status st = ws_target_warp(s->build->target, warp_index, &s->warp, &err);
	if (st != WS_OK)
		return wsi_diagnose(s->build, "warp", WS_HIDES_FAULT, &err);
	if (s->warp.sm_index != s->sm_index) {
		st = ws_target_sm(s->build->target, s->warp.sm_index, &s->sm, &err);
		if (st != WS_OK)
			return wsi_diagnose(s->build, "SM", WS_HIDES_FAULT, &err);
		s->sm_index = s->warp.sm_index;
		s->unclaimed = ws_focus_unclaimed(s->build->target, s->sm_index);
	}
	scan_read_block(s);
	st = read_lanes(s, &err);
	if (st != WS_OK && wsi_diagnose(s->build, "lanes", WS_HIDES_FAULT, &err) != WS_OK)
		return WS_NO_MEMORY;
	count_warp(s);
	consider_calm(s);
	uint32_t faulted;
	if (!scanned_warp_faults(s, &faulted) || !warp_groups(s, faulted))
		return WS_NO_MEMORY;
	return WS_OK;
}

enum ws_status wsi_scan(struct wsi_build *build)
{
	struct report_scan s = {
		.build = build, .sm_index = WS_NONE, .fault_last = SIZE_MAX, .group_last = SIZE_MAX
	};
	enum ws_status st = WS_NO_MEMORY;
	s.sm_taken = wsi_zalloc_array(build->counts.sms, sizeof *s.sm_taken);
	if (!s.sm_taken)
		goto out;
	for (uint32_t i = 0; i < build->counts.warps; i++) {
		st = scan_warp(&s, i);
		if (st != WS_OK)
			goto out;
	}
	for (uint32_t i = 0; i < build->report->n_devices; i++)
		if (device_at(&s, i))
			ws_device_doubts(device_at(&s, i), doubt_note, &s);
	st = scan_lone_sms(&s);
	if (st == WS_OK && s.failed)
		st = WS_NO_MEMORY;
out:
	wsi_free(s.sm_taken);
	wsi_map_fini(&s.groups_at);
	wsi_map_fini(&s.faults_at);
	return st;
}
