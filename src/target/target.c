/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers around a back end's members: arguments are checked here once, for every back end
 * alike. What is rare stays out of them: walks over all lanes of a big dump come through here.
 */
#include <warpscope/cubin.h>
#include <warpscope/target.h>

#include "base/base.h"
#include "target/internal.h"

enum ws_status ws_target_init(struct ws_target *target, const struct ws_target_ops *ops,
			      void *state, struct ws_error *err)
{
	struct ws_target_own *own = wsi_zalloc(sizeof *own);
	if (!own)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a target");
	pthread_mutex_init(&own->lock, NULL);
	*target = (struct ws_target){ .ops = ops, .state = state, .own = own };
	return WS_OK;
}

void ws_target_close(struct ws_target *target)
{
	if (!target)
		return;
	ws_cubin_set_destroy(target->own->cubins);
	pthread_mutex_destroy(&target->own->lock);
	wsi_free(target->own);
	target->own = NULL;
	target->ops->close(target);
}

bool ws_target_can(const struct ws_target *target, enum ws_ability ability)
{
	const struct ws_target_ops *ops = target->ops;
	switch (ability) {
	case WS_CAN_RUN:
		return ops->running != NULL;
	case WS_CAN_STEP:
		return ops->step != NULL;
	case WS_CAN_RUN_UNTIL:
		return ops->run_until != NULL;
	case WS_CAN_BREAK:
		return ops->plant != NULL;
	case WS_CAN_STOP_AT_LAUNCH:
		return ops->stop_at_launch != NULL;
	case WS_CAN_WRITE:
		return ops->write_memory != NULL;
	case WS_CAN_TELL:
		return ops->next_event != NULL;
	case WS_CAN_WATCH:
		return ops->watch != NULL;
	case WS_CAN_GO_BACK:
		return ops->go_back != NULL;
	case WS_CAN_STOP_IF:
		return ops->stop_if != NULL;
	case WS_CAN_LOG:
		return ops->take_logs != NULL;
	case WS_CAN_KEEP_STACKS:
		return ops->launch_stack != NULL;
	case WS_CAN_FLUSH:
		return ops->flushes;
	}
	return false;
}

void ws_target_counts(const struct ws_target *target, struct ws_counts *ret_counts)
{
	*ret_counts = target->counts;
}

static __attribute__((noinline)) enum ws_status no_element(uint32_t index, uint32_t count,
							   const char *kind, struct ws_error *err)
{
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no %s %u, there are %u", kind, index,
			count);
}

static enum ws_status index_check(uint32_t index, uint32_t count, const char *kind,
				  struct ws_error *err)
{
	return index < count ? WS_OK : no_element(index, count, kind, err);
}

static enum ws_status running_check(const struct ws_target *target, uint32_t device_index,
				    struct ws_error *err)
{
	if (!ws_target_running(target, device_index))
		return WS_OK;
	return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "device %u is running", device_index);
}

/* One list element by index: same checks for each kind of list. */
#define DEFINE_ELEMENT(kind, list, type)                                                \
	enum ws_status ws_target_##kind(const struct ws_target *target, uint32_t index, \
					type *ret_##kind, struct ws_error *err)         \
	{                                                                               \
		if (index >= target->counts.list)                                       \
			return no_element(index, target->counts.list, #kind, err);      \
		return target->ops->kind(target, index, ret_##kind, err);               \
	}

DEFINE_ELEMENT(device, devices, struct ws_device)
DEFINE_ELEMENT(context, contexts, struct ws_context)
DEFINE_ELEMENT(module, modules, struct ws_module)
DEFINE_ELEMENT(grid, grids, struct ws_grid)

/* An element of what changes while its device runs: its row, only while that stands. */
#define DEFINE_STATE(kind, list, type)                                                           \
	static __attribute__((noinline)) enum ws_status kind##_if_stopped(                       \
		const struct ws_target *target, uint32_t index, type *ret_##kind,                \
		struct ws_error *err)                                                            \
	{                                                                                        \
		type row;                                                                        \
		enum ws_status st = target->ops->kind(target, index, &row, err);                 \
		if (st == WS_OK)                                                                 \
			st = running_check(target, row.device_index, err);                       \
		if (st == WS_OK)                                                                 \
			*ret_##kind = row;                                                       \
		return st;                                                                       \
	}                                                                                        \
	enum ws_status ws_target_##kind(const struct ws_target *target, uint32_t index,          \
					type *ret_##kind, struct ws_error *err)                  \
	{                                                                                        \
		if (index >= target->counts.list)                                                \
			return no_element(index, target->counts.list, #kind, err);               \
		return target->ops->running ? kind##_if_stopped(target, index, ret_##kind, err)  \
					    : target->ops->kind(target, index, ret_##kind, err); \
	}

DEFINE_STATE(sm, sms, struct ws_sm)
DEFINE_STATE(block, blocks, struct ws_block)
DEFINE_STATE(warp, warps, struct ws_warp)

static enum ws_status no_warp(const struct ws_target *target, uint32_t warp_index,
			      struct ws_error *err)
{
	return no_element(warp_index, target->counts.warps, "warp", err);
}

static enum ws_status warp_check(const struct ws_target *target, uint32_t warp_index,
				 struct ws_error *err)
{
	return index_check(warp_index, target->counts.warps, "warp", err);
}

enum ws_status ws_target_lanes(const struct ws_target *target, uint32_t warp_index,
			       struct ws_lane ret_lanes[WS_MAX_LANES], uint32_t *ret_n,
			       struct ws_error *err)
{
	if (warp_index >= target->counts.warps)
		return no_warp(target, warp_index, err);
	return target->ops->lanes(target, warp_index, ret_lanes, ret_n, err);
}

enum ws_status ws_target_call_stack(const struct ws_target *target, uint32_t warp_index,
				    uint32_t lane, struct ws_return_address *ret_addresses,
				    uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	if (warp_index >= target->counts.warps)
		return no_warp(target, warp_index, err);
	return target->ops->call_stack(target, warp_index, lane, ret_addresses, cap, ret_n, err);
}

enum ws_status ws_target_registers(const struct ws_target *target, uint32_t warp_index,
				   uint32_t lane, enum ws_reg_kind kind, uint32_t first, uint32_t n,
				   uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err)
{
	if (warp_index >= target->counts.warps)
		return no_warp(target, warp_index, err);
	return target->ops->registers(target, warp_index, lane, kind, first, n, ret_values, ret_n,
				      err);
}

static enum ws_status unsupported(const struct ws_target *target, const char *what,
				  struct ws_error *err)
{
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "a %s target has no %s",
			target->ops->name, what);
}

enum ws_status ws_target_read_memory(const struct ws_target *target, const struct ws_address *at,
				     void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	*ret_n = 0;
	if (!target->ops->read_memory)
		return unsupported(target, "memory", err);
	if (at->space != WS_SPACE_CODE)
		return target->ops->read_memory(target, at, buffer, len, ret_n, err);
	/* most refuse, and nobody reads why: the words would cost as much as the reading */
	enum ws_status st = target->ops->read_memory(target, at, buffer, len, ret_n, NULL);
	if (st == WS_UNSUPPORTED)
		return wsi_target_code_read(target, at, buffer, len, ret_n, err);
	return st == WS_OK ? st : target->ops->read_memory(target, at, buffer, len, ret_n, err);
}

enum ws_status ws_target_memory_range(const struct ws_target *target, uint32_t index,
				      struct ws_memory_range *ret_range, struct ws_error *err)
{
	if (!target->ops->memory_range)
		return unsupported(target, "list of memory ranges", err);
	return target->ops->memory_range(target, index, ret_range, err);
}

/* For back ends that know only all lanes of a warp. */
static __attribute__((noinline)) enum ws_status lane_of_all(const struct ws_target *target,
							    uint32_t warp_index, uint32_t lane,
							    struct ws_lane *ret_lane,
							    struct ws_error *err)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	enum ws_status st = target->ops->lanes(target, warp_index, lanes, &n, err);
	if (st != WS_OK)
		return st;
	for (uint32_t i = 0; i < n; i++)
		if (lanes[i].id == lane) {
			*ret_lane = lanes[i];
			return WS_OK;
		}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "lane %u is not recorded", lane);
}

enum ws_status ws_target_lane(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
			      struct ws_lane *ret_lane, struct ws_error *err)
{
	if (warp_index >= target->counts.warps)
		return no_warp(target, warp_index, err);
	if (lane >= WS_MAX_LANES)
		return no_element(lane, WS_MAX_LANES, "lane", err);
	return target->ops->lane ? target->ops->lane(target, warp_index, lane, ret_lane, err)
				 : lane_of_all(target, warp_index, lane, ret_lane, err);
}

/* ---- run control ---- */

enum ws_status ws_target_update(struct ws_target *target, struct ws_error *err)
{
	return target->ops->update ? target->ops->update(target, err) : WS_OK;
}

bool ws_target_running(const struct ws_target *target, uint32_t device_index)
{
	return target->ops->running && target->ops->running(target, device_index);
}

static enum ws_status device_check(const struct ws_target *target, uint32_t device_index,
				   struct ws_error *err)
{
	return device_index == WS_NONE
		       ? WS_OK
		       : index_check(device_index, target->counts.devices, "device", err);
}

/*
 * The function of a member that a back end may lack: `lacks` is what such a target has none
 * of. The member is called when `check` is WS_OK.
 */
#define DEFINE_OPTIONAL(function, member, lacks, check, parameters, arguments) \
	enum ws_status function parameters                                     \
	{                                                                      \
		if (!target->ops->member)                                      \
			return unsupported(target, lacks, err);                \
		enum ws_status st = check;                                     \
		return st == WS_OK ? target->ops->member arguments : st;       \
	}

DEFINE_OPTIONAL(ws_target_suspend, suspend, "run control", device_check(target, device_index, err),
		(struct ws_target * target, uint32_t device_index, bool wait, struct ws_error *err),
		(target, device_index, wait, err))
DEFINE_OPTIONAL(ws_target_resume, resume, "run control", device_check(target, device_index, err),
		(struct ws_target * target, uint32_t device_index, struct ws_error *err),
		(target, device_index, err))
DEFINE_OPTIONAL(ws_target_step, step, "run control", warp_check(target, step->warp_index, err),
		(struct ws_target * target, const struct ws_step *step, uint64_t *ret_warps,
		 struct ws_error *err),
		(target, step, ret_warps, err))
DEFINE_OPTIONAL(ws_target_run_until, run_until, "run control",
		index_check(sm_index, target->counts.sms, "SM", err),
		(struct ws_target * target, uint32_t sm_index, uint64_t warp_mask, uint64_t pc,
		 uint32_t flags, struct ws_error *err),
		(target, sm_index, warp_mask, pc, flags, err))
DEFINE_OPTIONAL(ws_target_plant, plant, "breakpoints", device_check(target, device_index, err),
		(struct ws_target * target, uint32_t device_index, uint64_t pc,
		 struct ws_error *err),
		(target, device_index, pc, err))
DEFINE_OPTIONAL(ws_target_unplant, unplant, "breakpoints", device_check(target, device_index, err),
		(struct ws_target * target, uint32_t device_index, uint64_t pc,
		 struct ws_error *err),
		(target, device_index, pc, err))
DEFINE_OPTIONAL(ws_target_stop_if, stop_if, "conditions of breakpoints",
		device_check(target, device_index, err),
		(struct ws_target * target, uint32_t device_index, uint64_t pc,
		 ws_stop_if_fn *holds, const void *condition, struct ws_error *err),
		(target, device_index, pc, holds, condition, err))
DEFINE_OPTIONAL(ws_target_stop_at_launch, stop_at_launch, "breakpoints", WS_OK,
		(struct ws_target * target, bool on, struct ws_error *err), (target, on, err))

/* ---- watchpoints ---- */

static enum ws_status watch_check(const struct ws_watch *watch, struct ws_error *err)
{
	const uint32_t all = WS_WATCH_READ | WS_WATCH_WRITE | WS_WATCH_CHANGE;
	if (watch->size_bytes > 0 && watch->kinds != 0 && (watch->kinds & ~all) == 0 &&
	    watch->at.address + (watch->size_bytes - 1) >= watch->at.address)
		return WS_OK;
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no such watchpoint can be");
}

DEFINE_OPTIONAL(ws_target_watch, watch, "watchpoints", watch_check(watch, err),
		(struct ws_target * target, const struct ws_watch *watch, uint32_t *ret_number,
		 struct ws_error *err),
		(target, watch, ret_number, err))
DEFINE_OPTIONAL(ws_target_unwatch, unwatch, "watchpoints", WS_OK,
		(struct ws_target * target, uint32_t number, struct ws_error *err),
		(target, number, err))
DEFINE_OPTIONAL(ws_target_watch_hit, watch_hit, "watchpoints", WS_OK,
		(const struct ws_target *target, uint32_t index, struct ws_watch_hit *ret_hit,
		 struct ws_error *err),
		(target, index, ret_hit, err))

/* ---- going back ---- */

static enum ws_status back_check(const struct ws_target *target, const struct ws_back *back,
				 struct ws_error *err)
{
	bool of_thread = back->kind == WS_BACK_STEP || back->kind == WS_BACK_REGISTER;
	enum ws_status st = of_thread ? warp_check(target, back->warp_index, err) : WS_OK;
	return st == WS_OK && of_thread ? index_check(back->lane, WS_MAX_LANES, "lane", err) : st;
}

DEFINE_OPTIONAL(ws_target_keep_history, keep_history, "history", WS_OK,
		(struct ws_target * target, uint64_t max_bytes, struct ws_error *err),
		(target, max_bytes, err))
DEFINE_OPTIONAL(ws_target_go_back, go_back, "history", back_check(target, back, err),
		(struct ws_target * target, const struct ws_back *back,
		 struct ws_back_found *ret_found, struct ws_error *err),
		(target, back, ret_found, err))

/* ---- alteration ---- */

DEFINE_OPTIONAL(ws_target_write_memory, write_memory, "writable memory", WS_OK,
		(struct ws_target * target, const struct ws_address *at, const void *buffer,
		 size_t len, struct ws_error *err),
		(target, at, buffer, len, err))
DEFINE_OPTIONAL(ws_target_write_registers, write_registers, "writable registers",
		warp_check(target, warp_index, err),
		(struct ws_target * target, uint32_t warp_index, uint32_t lane,
		 enum ws_reg_kind kind, uint32_t first, uint32_t n, const uint32_t *values,
		 struct ws_error *err),
		(target, warp_index, lane, kind, first, n, values, err))
DEFINE_OPTIONAL(ws_target_write_rpc, write_rpc, "a writable RPC",
		warp_check(target, warp_index, err),
		(struct ws_target * target, uint32_t warp_index, uint32_t lane, uint32_t rpc_lo,
		 uint32_t rpc_hi, struct ws_error *err),
		(target, warp_index, lane, rpc_lo, rpc_hi, err))

/* ---- events ---- */

enum ws_status ws_target_next_event(struct ws_target *target, struct ws_event *ret_event,
				    struct ws_error *err)
{
	if (!target->ops->next_event)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no event is pending");
	return target->ops->next_event(target, ret_event, err);
}

enum ws_status ws_target_acknowledge(struct ws_target *target, uint64_t up_to, struct ws_error *err)
{
	return target->ops->acknowledge ? target->ops->acknowledge(target, up_to, err) : WS_OK;
}

enum ws_status ws_target_want(struct ws_target *target, uint32_t wants, struct ws_error *err)
{
	return target->ops->want ? target->ops->want(target, wants, err) : WS_OK;
}

void ws_target_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	if (target->ops->on_event)
		target->ops->on_event(target, wake, data);
}

/* ---- the host's side ---- */

DEFINE_OPTIONAL(ws_target_take_logs, take_logs, "log", WS_OK,
		(struct ws_target * target, struct ws_log *ret_logs, uint32_t cap, uint32_t *ret_n,
		 struct ws_error *err),
		(target, ret_logs, cap, ret_n, err))
DEFINE_OPTIONAL(ws_target_log_rules, log_rules, "log", WS_OK,
		(struct ws_target * target, const struct ws_log_rule *rules, uint32_t n,
		 uint32_t *ret_ruleset, struct ws_error *err),
		(target, rules, n, ret_ruleset, err))
DEFINE_OPTIONAL(ws_target_launch_stack, launch_stack, "call stack of the launch",
		index_check(grid_index, target->counts.grids, "grid", err),
		(struct ws_target * target, uint32_t grid_index, uint64_t *ret_addresses,
		 uint32_t cap, uint32_t *ret_n, struct ws_error *err),
		(target, grid_index, ret_addresses, cap, ret_n, err))

enum ws_status ws_target_read_host(const struct ws_target *target, uint64_t address, void *buffer,
				   size_t len, size_t *ret_n, struct ws_error *err)
{
	*ret_n = 0;
	if (!target->ops->read_host)
		return unsupported(target, "host memory", err);
	return target->ops->read_host(target, address, buffer, len, ret_n, err);
}

DEFINE_OPTIONAL(ws_target_write_host, write_host, "host memory", WS_OK,
		(struct ws_target * target, uint64_t address, const void *buffer, size_t len,
		 struct ws_error *err),
		(target, address, buffer, len, err))
DEFINE_OPTIONAL(ws_target_host_address, host_address, "host addresses",
		index_check(device_index, target->counts.devices, "device", err),
		(const struct ws_target *target, uint32_t device_index, uint64_t address,
		 uint64_t *ret_address, struct ws_error *err),
		(target, device_index, address, ret_address, err))
DEFINE_OPTIONAL(ws_target_detach, detach, "host to detach from", WS_OK,
		(struct ws_target * target, bool runs, struct ws_error *err), (target, runs, err))

DEFINE_OPTIONAL(wsi_target_write_dump, write_dump, "dumps of its own", WS_OK,
		(const struct ws_target *target, const char *path, uint32_t flags,
		 struct ws_error *err),
		(target, path, flags, err))

/* ---- the file ---- */

DEFINE_OPTIONAL(wsi_target_contradictions, contradictions, "file", WS_OK,
		(const struct ws_target *target, uint64_t *ret_n, struct ws_error *err),
		(target, ret_n, err))
DEFINE_OPTIONAL(ws_target_dump_facts, dump_facts, "file", WS_OK,
		(const struct ws_target *target, struct ws_dump_facts *ret_facts,
		 struct ws_error *err),
		(target, ret_facts, err))
DEFINE_OPTIONAL(ws_target_diagnostic, diagnostic, "file", WS_OK,
		(const struct ws_target *target, uint32_t index,
		 struct ws_diagnostic *ret_diagnostic, struct ws_error *err),
		(target, index, ret_diagnostic, err))

uint32_t ws_memory_range_owner(const struct ws_memory_range *range)
{
	switch (range->space) {
	case WS_SPACE_SHARED:
		return range->block_index;
	case WS_SPACE_LOCAL:
		return range->warp_index;
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		return range->grid_index;
	case WS_SPACE_GLOBAL:
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
	return 0;
}

/* False also past the last range. */
static bool range_is_before(const struct ws_target *target, uint32_t index, enum ws_space space,
			    uint32_t owner, uint32_t lane)
{
	struct ws_memory_range range;
	if (ws_target_memory_range(target, index, &range, NULL) != WS_OK)
		return false;
	if (range.space != space)
		return range.space < space;
	uint32_t its_owner = ws_memory_range_owner(&range);
	if (its_owner != owner)
		return its_owner < owner;
	return space == WS_SPACE_LOCAL && range.lane < lane;
}

uint32_t ws_target_first_range(const struct ws_target *target, enum ws_space space, uint32_t owner,
			       uint32_t lane)
{
	uint32_t high = 1;
	while (high < WS_NONE / 2 && range_is_before(target, high - 1, space, owner, lane))
		high *= 2;
	uint32_t low = high / 2;
	return WSI_BISECT(i, low, high, range_is_before(target, i, space, owner, lane));
}

enum ws_status ws_target_find_device(const struct ws_target *target, uint32_t device_id,
				     uint32_t *ret_index, struct ws_error *err)
{
	for (uint32_t i = 0; i < target->counts.devices; i++) {
		struct ws_device device;
		if (target->ops->device(target, i, &device, NULL) == WS_OK &&
		    device.id == device_id) {
			*ret_index = i;
			return WS_OK;
		}
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no device %u", device_id);
}

enum ws_status ws_target_find_sm(const struct ws_target *target, uint32_t device_index,
				 uint32_t sm_id, uint32_t *ret_index, struct ws_error *err)
{
	uint32_t low = 0, high = target->counts.sms; /* sorted by device index, then by SM id */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct ws_sm sm;
		enum ws_status st = target->ops->sm(target, middle, &sm, err);
		if (st != WS_OK)
			return st;
		if (sm.device_index < device_index ||
		    (sm.device_index == device_index && sm.id < sm_id))
			low = middle + 1;
		else
			high = middle;
	}
	struct ws_sm sm;
	if (low < target->counts.sms && target->ops->sm(target, low, &sm, NULL) == WS_OK &&
	    sm.device_index == device_index && sm.id == sm_id) {
		*ret_index = low;
		return WS_OK;
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no SM %u", sm_id);
}

enum ws_status ws_target_find_warp(const struct ws_target *target, uint32_t sm_index,
				   uint32_t warp_id, uint32_t *ret_index, struct ws_error *err)
{
	struct ws_sm sm;
	enum ws_status st = ws_target_sm(target, sm_index, &sm, err);
	if (st != WS_OK)
		return st;
	uint32_t low = sm.first_warp_index, high = low + sm.n_warps;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct ws_warp warp;
		st = target->ops->warp(target, middle, &warp, err);
		if (st != WS_OK)
			return st;
		if (warp.id == warp_id) {
			*ret_index = middle;
			return WS_OK;
		}
		if (warp.id < warp_id)
			low = middle + 1;
		else
			high = middle;
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "SM %u has no warp %u", sm.id, warp_id);
}
