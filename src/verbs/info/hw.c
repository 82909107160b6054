/* SPDX-License-Identifier: Apache-2.0 */
/* info devices, sms, warps, lanes: the hardware's view. */
#include "verbs/info/info.h"

#include <stdio.h>
#include <string.h>

/* ---- devices ---- */

static const struct ws_rows_column device_columns[] = {
	{ "Dev", "device", 0 },
	{ "PCI Bus/Dev ID", "pci_bus", 0 },
	{ "Name", "name", 0 },
	{ "Description", "description", 0 },
	{ "SM Type", "sm_type", 0 },
	{ "SMs", "num_sms", 0 },
	{ "Warps/SM", "num_warps", 0 },
	{ "Lanes/Warp", "num_lanes", 0 },
	{ "Max Regs/Lane", "num_regs", 0 },
	{ "Active SMs Mask", "active_sms_mask", 0 },
	{ "Compute", "compute_capability", WS_ROWS_WIDE },
	{ "Preds", "num_predicates", WS_ROWS_WIDE },
	{ "URegs", "num_uniform_regs", WS_ROWS_WIDE },
	{ "UPreds", "num_uniform_predicates", WS_ROWS_WIDE },
	{ "Barriers", "num_convergence_barriers", WS_ROWS_WIDE },
	{ "Instr Bytes", "instruction_bytes", WS_ROWS_WIDE },
	{ "Warps", "resident_warps", WS_ROWS_WIDE },
	{ "Status", "status", WS_ROWS_WIDE },
	{ NULL, "doubt", WS_ROWS_DATA },
};

enum {
	MASK_WORDS = 16, /* SMs of a device that a mask can show; the largest so far has 192 */
};

/* SMs with warps, and the number of warps. False: the numbers do not fit a mask. */
static bool active_sms(const struct ws_threads *threads, uint32_t device_index, uint64_t *mask,
		       uint64_t *ret_warps)
{
	uint32_t n_sms = threads->devices[device_index].n_sms;
	bool fits = n_sms <= MASK_WORDS * 64;
	*ret_warps = 0;
	for (uint32_t i = 0; i < threads->counts.sms; i++) {
		struct ws_sm sm;
		if (ws_target_sm(threads->target, i, &sm, NULL) != WS_OK ||
		    sm.device_index != device_index || sm.n_warps == 0)
			continue;
		*ret_warps += sm.n_warps;
		fits = fits && sm.id < n_sms;
		if (fits)
			mask[sm.id / 64] |= UINT64_C(1) << sm.id % 64;
	}
	return fits;
}

static void device_row(struct ws_rows *rows, struct wsi_info *info, uint32_t index)
{
	const struct ws_threads *threads = info->threads;
	const struct ws_device *device = &threads->devices[index];
	uint64_t mask[MASK_WORDS] = { 0 }, n_warps;
	char text[40];
	bool fits = active_sms(threads, index, mask, &n_warps);
	const struct wsi_thread_doubt doubt = wsi_threads_doubt_device(threads, index);
	wsi_rows_doubt(rows, doubt.text, &info->told->n_doubted_rows);
	ws_rows_begin(rows, threads->have_focus && threads->focus.device_index == index);
	ws_rows_number(rows, device->id);
	snprintf(text, sizeof text, "%02x:%02x.0", device->pci_bus, device->pci_device);
	ws_rows_text(rows, text);
	ws_rows_str(rows, device->name);
	ws_rows_str(rows, device->type);
	ws_rows_str(rows, device->sm_type);
	ws_rows_number(rows, device->n_sms);
	ws_rows_number(rows, device->n_warps_per_sm);
	ws_rows_number(rows, device->n_lanes_per_warp);
	ws_rows_number(rows, device->n_regs_per_lane);
	ws_rows_given(rows, 1, fits ? WS_OK : WS_MALFORMED);
	ws_rows_mask(rows, mask, device->n_sms);
	snprintf(text, sizeof text, "%u.%u", device->sm_major, device->sm_minor);
	ws_rows_text(rows, text);
	ws_rows_number(rows, device->n_preds_per_lane);
	ws_rows_if(rows, 2, device->have & WS_DEVICE_UNIFORM);
	ws_rows_number(rows, device->n_uniform_regs);
	ws_rows_number(rows, device->n_uniform_preds);
	ws_rows_if(rows, 1, device->have & WS_DEVICE_BARRIERS);
	ws_rows_number(rows, device->n_convergence_barriers);
	ws_rows_number(rows, device->instruction_bytes);
	ws_rows_number(rows, n_warps);
	ws_rows_number(rows, device->status);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void produce_devices(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	for (uint32_t i = 0; i < info->threads->counts.devices; i++) {
		if (ws_filter_number(&info->filter, WS_FILTER_device, info->threads->devices[i].id))
			device_row(rows, info, i);
	}
}

INFO_TABLE(devices, device_columns, produce_devices)

/* ---- SMs ---- */

static const struct ws_rows_column sm_columns[] = {
	{ NULL, "device", WS_ROWS_DATA },
	{ "SM", "sm", 0 },
	{ "Active Warps Mask", "active_warps_mask", 0 },
	{ "Exception", "exception", WS_ROWS_WIDE },
	{ NULL, "exception_code", WS_ROWS_DATA },
	{ "Error PC", "errorpc", WS_ROWS_WIDE },
	{ "Target Block", "cluster_target_block", WS_ROWS_WIDE },
	{ "Driver's Words", "exception_text", WS_ROWS_WIDE | WS_ROWS_LEFT },
	{ NULL, "doubt", WS_ROWS_DATA },
};

/* A value under a flag of the layout: absent without the flag, none when it says so. */
static void sm_fault_cells(struct ws_rows *rows, const struct ws_sm *sm)
{
	ws_rows_if(rows, 3, sm->have & WS_SM_EXCEPTION);
	wsi_info_cell_exception(rows, sm->exception);
	ws_rows_number(rows, sm->exception);
	ws_rows_or_none(rows, 1, sm->error_pc_valid);
	ws_rows_hex(rows, sm->error_pc, 16);
	wsi_info_cells_sm_words(rows, sm);
}

/* Whether the SM has something to show: a warp, or an exception that outlived its warps; with a
 * filter below SMs, a warp that matches it. */
static bool sm_is_shown(const struct wsi_info *info, const struct ws_sm *sm)
{
	if (!wsi_info_asks_below_sm(info))
		return sm->n_warps > 0 || sm->exception != 0;
	for (uint32_t w = 0; w < sm->n_warps; w++) {
		struct ws_resident place;
		if (ws_threads_resident(info->threads, &info->filter, WS_WALK_WARPS,
					sm->first_warp_index + w, &place))
			return true;
	}
	return false;
}

/* Ids of the SM's warps; false when one is not below `n_bits`. */
static bool warps_mask(const struct ws_threads *threads, const struct ws_sm *sm, uint32_t n_bits,
		       uint64_t *mask)
{
	for (uint32_t w = 0; w < sm->n_warps; w++) {
		struct ws_warp warp;
		if (ws_target_warp(threads->target, sm->first_warp_index + w, &warp, NULL) != WS_OK)
			continue;
		if (warp.id >= n_bits)
			return false;
		mask[warp.id / 64] |= UINT64_C(1) << warp.id % 64;
	}
	return true;
}

static void produce_sms(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	for (uint32_t i = 0; i < threads->counts.sms; i++) {
		struct ws_sm sm;
		if (ws_target_sm(threads->target, i, &sm, NULL) != WS_OK)
			continue;
		const struct ws_device *device = &threads->devices[sm.device_index];
		if (!ws_filter_number(&info->filter, WS_FILTER_device, device->id) ||
		    !ws_filter_number(&info->filter, WS_FILTER_sm, sm.id) ||
		    !sm_is_shown(info, &sm))
			continue;
		uint64_t mask[MASK_WORDS] = { 0 };
		ws_rows_heading(rows, "Device %u", device->id);
		const struct wsi_thread_doubt doubt = wsi_threads_doubt_sm(threads, i);
		wsi_rows_doubt(rows, doubt.text, &info->told->n_doubted_rows);
		ws_rows_begin(rows, threads->have_focus && threads->focus.sm_index == i);
		ws_rows_number(rows, device->id);
		ws_rows_number(rows, sm.id);
		bool fits = device->n_warps_per_sm <= MASK_WORDS * 64 &&
			    warps_mask(threads, &sm, device->n_warps_per_sm, mask);
		ws_rows_given(rows, 1, fits ? WS_OK : WS_MALFORMED);
		ws_rows_mask(rows, mask, fits ? device->n_warps_per_sm : 0);
		sm_fault_cells(rows, &sm);
		wsi_rows_text_or_none(rows, doubt.text);
		ws_rows_end(rows);
	}
}

INFO_TABLE(sms, sm_columns, produce_sms)

/* ---- warps ---- */

static const struct ws_rows_column warp_columns[] = {
	{ NULL, "device", WS_ROWS_DATA },
	{ NULL, "sm", WS_ROWS_DATA },
	{ "Wp", "warp", 0 },
	{ "Active Lanes Mask", "active_lanes_mask", 0 },
	{ "Divergent Lanes Mask", "divergent_lanes_mask", 0 },
	{ "Active PC", "active_pc", 0 },
	{ "Kernel", "kernel", 0 },
	{ "BlockIdx", "blockIdx", 0 },
	{ "First Active ThreadIdx", "first_active_threadIdx", 0 },
	{ "Broken", "broken", WS_ROWS_WIDE },
	{ "Error PC", "errorpc", WS_ROWS_WIDE },
	{ "Regs", "num_regs", WS_ROWS_WIDE },
	{ "Shared Bytes", "shared_bytes", WS_ROWS_WIDE },
	{ "In Syscall", "in_syscall_lanes_mask", WS_ROWS_WIDE },
	{ "Waits At", "barrier_scope", WS_ROWS_WIDE },
	{ "Function", "function", WS_ROWS_WIDE | WS_ROWS_LEFT },
	{ "Filename", "filename", WS_ROWS_WIDE },
	{ "Line", "line", WS_ROWS_WIDE },
	{ NULL, "doubt", WS_ROWS_DATA },
};

static const char *const barrier_scopes[] = { "none",  "warp",    "warp group",
					      "block", "cluster", "kernel" };

/* The lowest active lane; NULL when there is none. */
static const struct ws_lane *first_active(const struct ws_resident *place)
{
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		if (place->lanes[i].id < WS_MAX_LANES &&
		    place->warp.active_lanes >> place->lanes[i].id & 1)
			return &place->lanes[i];
	}
	return NULL;
}

static void warp_wide_cells(struct ws_rows *rows, struct wsi_info *info,
			    const struct ws_resident *place, const struct ws_lane *active)
{
	const struct ws_warp *warp = &place->warp;
	ws_rows_if(rows, 1, warp->have & WS_WARP_BROKEN);
	ws_rows_bool(rows, warp->broken);
	ws_rows_or_none(rows, 1, warp->error_pc_valid);
	ws_rows_hex(rows, warp->error_pc, 16);
	ws_rows_if(rows, 1, warp->have & WS_WARP_N_REGS);
	ws_rows_number(rows, warp->n_regs);
	ws_rows_if(rows, 1, warp->have & WS_WARP_SHARED_BYTES);
	ws_rows_number(rows, warp->shared_bytes);
	ws_rows_if(rows, 1, warp->have & WS_WARP_CBU);
	ws_rows_hex(rows, warp->in_syscall_lanes, 8);
	ws_rows_if(rows, 1, warp->have & WS_WARP_BARRIER);
	wsi_info_cell_name(rows, barrier_scopes, sizeof barrier_scopes / sizeof *barrier_scopes,
			   warp->barrier_scope);
	wsi_info_cells_symbol(rows,
			      wsi_info_symbol(info, active && info->with_code, warp->device_index,
					      place->grid, active ? active->pc : 0));
}

struct walk_user {
	struct ws_rows *rows;
	struct wsi_info *info;
	uint32_t unclaimed_sm; /* SM that `unclaimed` is of */
	uint32_t unclaimed;
};

static void warp_row(void *user, const struct ws_resident *matched)
{
	struct walk_user *walk_user = user;
	struct ws_rows *rows = walk_user->rows;
	const struct ws_threads *threads = walk_user->info->threads;
	static const struct ws_filter all;
	struct ws_resident whole; /* with all lanes, whatever the filter asks of them */
	const struct ws_resident *place =
		!matched->all_lanes && ws_threads_resident(threads, &all, WS_WALK_LANES,
							   matched->warp_index, &whole)
			? &whole
			: matched;
	const struct ws_lane *active = first_active(place);
	enum ws_status why = active                         ? WS_OK
			     : place->lanes_status == WS_OK ? WS_ABSENT
							    : place->lanes_status;
	ws_rows_heading(rows, "Device %u SM %u", place->device->id, place->sm.id);
	const struct wsi_thread_doubt doubt = wsi_threads_doubt_warp(threads, place, WS_NONE);
	wsi_rows_doubt(rows, doubt.text, &walk_user->info->told->n_doubted_rows);
	ws_rows_begin(rows, ws_threads_has_focus(threads, place));
	ws_rows_number(rows, place->device->id);
	ws_rows_number(rows, place->sm.id);
	ws_rows_number(rows, place->warp.id);
	ws_rows_hex(rows, place->warp.active_lanes, 8);
	ws_rows_hex(rows, place->warp.valid_lanes & ~place->warp.active_lanes, 8);
	ws_rows_given(rows, 1, why);
	ws_rows_hex(rows, active ? active->pc : 0, 16);
	wsi_info_cell_kernel(rows, place->kernel);
	wsi_info_cell_dim3(rows, place->block_status, place->block.idx);
	ws_rows_given(rows, 1, why);
	ws_rows_dim3(rows, active ? active->thread : (struct ws_dim3){ 0 });
	warp_wide_cells(rows, walk_user->info, place, active);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void produce_warps(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	struct walk_user walk_user = { .rows = rows, .info = info };
	ws_threads_walk(info->threads, &info->filter, WS_WALK_LANES, warp_row, &walk_user);
}

INFO_TABLE(warps, warp_columns, produce_warps)

/* ---- lanes ---- */

static const struct ws_rows_column lane_columns[] = {
	{ NULL, "device", WS_ROWS_DATA },
	{ NULL, "sm", WS_ROWS_DATA },
	{ NULL, "warp", WS_ROWS_DATA },
	{ "Ln", "lane", 0 },
	{ "State", "state", 0 },
	{ "PC", "pc", 0 },
	{ "ThreadIdx", "threadIdx", 0 },
	{ "Exception", "exception", 0 },
	{ NULL, "exception_code", WS_ROWS_DATA },
	{ "Offset", "rel_pc", WS_ROWS_WIDE },
	{ "Calls", "call_depth", WS_ROWS_WIDE },
	{ "Syscalls", "syscall_call_depth", WS_ROWS_WIDE },
	{ "Thread State", "cbu_state", WS_ROWS_WIDE },
	{ "RPC", "rpc", WS_ROWS_WIDE },
	{ "CC", "cc_register", WS_ROWS_WIDE },
	{ "Function", "function", WS_ROWS_WIDE | WS_ROWS_LEFT },
	{ "Filename", "filename", WS_ROWS_WIDE },
	{ "Line", "line", WS_ROWS_WIDE },
	{ NULL, "doubt", WS_ROWS_DATA },
};

static void lane_wide_cells(struct ws_rows *rows, struct wsi_info *info,
			    const struct ws_resident *place, const struct ws_lane *lane)
{
	ws_rows_hex(rows, lane->rel_pc, 4);
	ws_rows_number(rows, lane->call_depth);
	ws_rows_number(rows, lane->syscall_call_depth);
	ws_rows_if(rows, 1, lane->have & WS_LANE_CBU_STATE);
	wsi_info_cell_cbu_state(rows, lane->cbu_state);
	ws_rows_if(rows, 1, lane->have & WS_LANE_RPC);
	ws_rows_hex(rows, (uint64_t)lane->rpc_hi << 32 | lane->rpc_lo, 16);
	ws_rows_if(rows, 1, lane->have & WS_LANE_CC);
	ws_rows_hex(rows, lane->cc_register, 1);
	wsi_info_cells_symbol(rows, wsi_info_symbol(info, info->with_code, place->warp.device_index,
						    place->grid, lane->pc));
}

static void hw_lane_row(struct walk_user *walk_user, const struct ws_resident *place,
			const struct ws_lane *lane, const struct ws_blame *blame)
{
	struct ws_rows *rows = walk_user->rows;
	const struct ws_threads *threads = walk_user->info->threads;
	bool active = lane->id < WS_MAX_LANES && place->warp.active_lanes >> lane->id & 1;
	uint32_t code = lane->exception;
	if (code == 0 && active && blame->by == WS_BLAME_SUSPECT)
		code = blame->code;
	const struct wsi_thread_doubt doubt = wsi_threads_doubt_warp(threads, place, lane->id);
	wsi_rows_doubt(rows, doubt.text, &walk_user->info->told->n_doubted_rows);
	ws_rows_begin(rows,
		      ws_threads_has_focus(threads, place) && threads->focus.lane == lane->id);
	ws_rows_number(rows, place->device->id);
	ws_rows_number(rows, place->sm.id);
	ws_rows_number(rows, place->warp.id);
	ws_rows_number(rows, lane->id);
	ws_rows_text(rows, active ? "active" : "divergent");
	ws_rows_hex(rows, lane->pc, 16);
	ws_rows_dim3(rows, lane->thread);
	wsi_info_cell_exception(rows, code);
	ws_rows_number(rows, code);
	lane_wide_cells(rows, walk_user->info, place, lane);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void hw_lane_rows(void *user, const struct ws_resident *place)
{
	struct walk_user *walk_user = user;
	if (place->sm_index != walk_user->unclaimed_sm) {
		walk_user->unclaimed_sm = place->sm_index;
		walk_user->unclaimed =
			ws_focus_unclaimed(walk_user->info->threads->target, place->sm_index);
	}
	ws_rows_heading(walk_user->rows, "Device %u SM %u Warp %u", place->device->id, place->sm.id,
			place->warp.id);
	struct ws_blame blame;
	ws_focus_blame(&place->warp, place->lanes, place->n_lanes, walk_user->unclaimed, &blame);
	for (uint32_t i = 0; i < place->n_lanes; i++)
		hw_lane_row(walk_user, place, &place->lanes[i], &blame);
	if (place->lanes_status != WS_OK)
		wsi_info_unreadable(walk_user->info, walk_user->rows);
}

static void produce_lanes(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	struct walk_user walk_user = { .rows = rows, .info = info, .unclaimed_sm = WS_NONE };
	ws_threads_walk(info->threads, &info->filter, WS_WALK_LANES, hw_lane_rows, &walk_user);
}

INFO_TABLE(lanes, lane_columns, produce_lanes)
