/* SPDX-License-Identifier: Apache-2.0 */
/* Targets joined: the lists. */
#include "target/join/join.h"

static uint32_t start_of(const struct join_part *part, size_t list)
{
	uint32_t start;
	memcpy(&start, (const char *)&part->start + list, sizeof start);
	return start;
}

struct join_part *join_part_of(struct join *j, size_t list, uint32_t *index)
{
	uint32_t i = j->n - 1;
	while (i > 0 && start_of(&j->parts[i], list) > *index)
		i--;
	*index -= start_of(&j->parts[i], list);
	return &j->parts[i];
}

/* ---- rows ---- */

static enum ws_status join_device(const struct ws_target *target, uint32_t index,
				  struct ws_device *ret_device, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &index);
	enum ws_status st = ws_target_device(part->target, index, ret_device, err);
	if (st == WS_OK)
		ret_device->id += part->start.devices;
	return st;
}

/* A row whose indices of other rows are moved. */
#define DEFINE_ROW(kind, list, type, moves)                                               \
	static enum ws_status join_##kind(const struct ws_target *target, uint32_t index, \
					  type *ret, struct ws_error *err)                \
	{                                                                                 \
		const struct join_part *part = JOIN_PART(join_of(target), list, &index);  \
		enum ws_status st = ws_target_##kind(part->target, index, ret, err);      \
		if (st == WS_OK) {                                                        \
			join_move(&ret->device_index, part->start.devices);               \
			moves;                                                            \
		}                                                                         \
		return st;                                                                \
	}

DEFINE_ROW(context, contexts, struct ws_context, (void)0)
DEFINE_ROW(module, modules, struct ws_module, join_move(&ret->context_index, part->start.contexts))
DEFINE_ROW(grid, grids, struct ws_grid,
	   (join_move(&ret->context_index, part->start.contexts),
	    join_move(&ret->module_index, part->start.modules)))
DEFINE_ROW(sm, sms, struct ws_sm, join_move(&ret->first_warp_index, part->start.warps))
DEFINE_ROW(block, blocks, struct ws_block,
	   (join_move(&ret->sm_index, part->start.sms),
	    join_move(&ret->grid_index, part->start.grids)))
DEFINE_ROW(warp, warps, struct ws_warp,
	   (join_move(&ret->sm_index, part->start.sms),
	    join_move(&ret->block_index, part->start.blocks)))

static enum ws_status join_lanes(const struct ws_target *target, uint32_t warp_index,
				 struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), warps, &warp_index);
	return ws_target_lanes(part->target, warp_index, ret_lanes, ret_n, err);
}

static enum ws_status join_call_stack(const struct ws_target *target, uint32_t warp_index,
				      uint32_t lane, struct ws_return_address *ret_addresses,
				      uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), warps, &warp_index);
	return ws_target_call_stack(part->target, warp_index, lane, ret_addresses, cap, ret_n, err);
}

static enum ws_status join_registers(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				     uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				     struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), warps, &warp_index);
	return ws_target_registers(part->target, warp_index, lane, kind, first, n, ret_values,
				   ret_n, err);
}

/* ---- the lists ---- */

static void collect_counts(struct join *j, struct ws_counts *ret_counts)
{
	struct ws_counts all = { 0 };
	for (uint32_t i = 0; i < j->n; i++) {
		struct ws_counts counts;
		ws_target_counts(j->parts[i].target, &counts);
		j->parts[i].start = all;
		j->parts[i].generation = j->parts[i].target->generation;
		all.devices += counts.devices;
		all.contexts += counts.contexts;
		all.modules += counts.modules;
		all.grids += counts.grids;
		all.sms += counts.sms;
		all.blocks += counts.blocks;
		all.warps += counts.warps;
	}
	*ret_counts = all;
}

void join_follow(struct join *j)
{
	bool moved = false, all = false;
	for (uint32_t i = 0; i < j->n; i++) {
		struct ws_change changes[WS_MAX_CHANGES];
		struct join_part *part = &j->parts[i];
		uint32_t n = 0;
		if (part->target->generation == part->generation)
			continue;
		moved = true;
		if (!ws_target_changes(part->target, part->generation, changes, &n)) {
			all = true;
			continue;
		}
		part->generation = part->target->generation;
		for (uint32_t k = 0; k < n; k++)
			changes[k].sm_index += part->start.sms;
		ws_target_changed_warps(&j->base, changes, n);
	}
	if (moved)
		atomic_store(&j->ranges_known, false);
	if (all) {
		struct ws_counts counts;
		collect_counts(j, &counts);
		ws_target_changed(&j->base, &counts);
	}
}

/* ---- opening and closing ---- */

static void join_close(struct ws_target *target)
{
	struct join *j = join_of(target);
	for (uint32_t i = 0; i < j->n; i++) {
		ws_target_on_event(j->parts[i].target, NULL, NULL);
		(void)!ws_target_want(j->parts[i].target, 0, NULL);
		(void)!ws_target_acknowledge(j->parts[i].target, UINT64_MAX, NULL);
	}
	pthread_mutex_destroy(&j->lock);
	pthread_mutex_destroy(&j->wake_lock);
	pthread_mutex_destroy(&j->range_lock);
	wsi_free(j->ranges);
	wsi_free(j->queue.items);
	wsi_free(j->held.items);
	wsi_free(j);
}

static const struct ws_target_ops join_ops = {
	.name = "join",
	.close = join_close,
	.device = join_device,
	.context = join_context,
	.module = join_module,
	.grid = join_grid,
	.sm = join_sm,
	.block = join_block,
	.warp = join_warp,
	.lanes = join_lanes,
	.call_stack = join_call_stack,
	.registers = join_registers,
	.read_memory = join_read_memory,
	.memory_range = join_memory_range,
	.update = join_update,
	.running = join_running,
	.suspend = join_suspend,
	.resume = join_resume,
	.step = join_step,
	.run_until = join_run_until,
	.plant = join_plant,
	.unplant = join_unplant,
	.stop_at_launch = join_stop_at_launch,
	.stop_if = join_stop_if,
	.watch = join_watch,
	.unwatch = join_unwatch,
	.watch_hit = join_watch_hit,
	.write_memory = join_write_memory,
	.write_registers = join_write_registers,
	.write_rpc = join_write_rpc,
	.next_event = join_next_event,
	.acknowledge = join_acknowledge,
	.want = join_want,
	.on_event = join_on_event,
	.take_logs = join_take_logs,
	.log_rules = join_log_rules,
	.launch_stack = join_launch_stack,
	.read_host = join_read_host,
	.write_host = join_write_host,
	.host_address = join_host_address,
	.detach = join_detach,
};

static bool fits_join(const struct ws_target *target)
{
	struct ws_counts counts;
	struct ws_device device;
	ws_target_counts(target, &counts);
	for (uint32_t i = 0; i < counts.devices; i++)
		if (ws_target_device(target, i, &device, NULL) != WS_OK || device.id != i)
			return false;
	for (int ability = WS_CAN_RUN; ability <= WS_CAN_TELL; ability++)
		if (!ws_target_can(target, (enum ws_ability)ability))
			return false;
	return true;
}

enum ws_status ws_target_join(struct ws_target *const *targets, uint32_t n,
			      struct ws_target **ret_target, struct ws_error *err)
{
	if (n == 0 || n > WS_MAX_JOINED)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "%u targets", n);
	for (uint32_t i = 0; i < n; i++)
		if (!fits_join(targets[i]))
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					"target %u cannot be joined", i);
	struct join *j = wsi_zalloc(sizeof *j);
	if (!j)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "targets");
	j->ops = join_ops;
	j->ops.flushes = true;
	for (uint32_t i = 0; i < n; i++) {
		j->ops.flushes &= ws_target_can(targets[i], WS_CAN_FLUSH);
		if (!ws_target_can(targets[i], WS_CAN_STOP_IF))
			j->ops.stop_if = NULL;
		if (!ws_target_can(targets[i], WS_CAN_WATCH))
			j->ops.watch = NULL;
	}
	enum ws_status st = ws_target_init(&j->base, &j->ops, j, err);
	if (st != WS_OK) {
		wsi_free(j);
		return st;
	}
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->wake_lock, NULL);
	pthread_mutex_init(&j->range_lock, NULL);
	j->n = n;
	uint32_t n_devices = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct ws_counts counts;
		ws_target_counts(targets[i], &counts);
		j->parts[i] = (struct join_part){ .join = j,
						  .target = targets[i],
						  .first_device = n_devices,
						  .n_devices = counts.devices };
		n_devices += counts.devices;
	}
	collect_counts(j, &j->base.counts);
	st = join_want(&j->base, 0, err);
	for (uint32_t i = 0; i < n; i++)
		ws_target_on_event(targets[i], join_woken, &j->parts[i]);
	if (st != WS_OK)
		ws_target_close(&j->base);
	else
		*ret_target = &j->base;
	return st;
}
