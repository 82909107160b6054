/* SPDX-License-Identifier: Apache-2.0 */
/* Run control of targets joined. */
#include "target/join/join.h"

/* Goes through the parts that a device index, or WS_NONE, means; `local` is the index there. */
#define EACH_PART(j, part, device_index, local)                                       \
	for (struct join_part *part = (j)->parts; part < (j)->parts + (j)->n; part++) \
		if (means(j, part, device_index, &(local)))

static bool means(struct join *j, const struct join_part *part, uint32_t device_index,
		  uint32_t *ret_local)
{
	*ret_local = device_index;
	return device_index == WS_NONE || JOIN_PART(j, devices, ret_local) == part;
}

bool join_running(const struct ws_target *target, uint32_t device_index)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &device_index);
	return ws_target_running(part->target, device_index);
}

/* What exclusive members end with: what the parts went through is taken over. */
static enum ws_status done(struct join *j, enum ws_status st, struct ws_error *err)
{
	join_follow(j);
	enum ws_status told = join_pump(j, st == WS_OK ? err : NULL);
	return st == WS_OK ? told : st;
}

enum ws_status join_update(struct ws_target *target, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < j->n && st == WS_OK; i++)
		st = ws_target_update(j->parts[i].target, err);
	join_follow(j);
	return st;
}

enum ws_status join_suspend(struct ws_target *target, uint32_t device_index, bool wait,
			    struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	uint32_t local;
	EACH_PART(j, part, device_index, local)
	{
		pthread_mutex_lock(&j->lock);
		part->alone = !wait && device_index != WS_NONE;
		pthread_mutex_unlock(&j->lock);
		if (st == WS_OK)
			st = ws_target_suspend(part->target, local, wait, err);
	}
	return done(j, st, err);
}

enum ws_status join_resume(struct ws_target *target, uint32_t device_index, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	uint32_t local;
	/* a stop that its part has not told yet would stop again what goes on now; one for which
	 * there is no memory is told later */
	(void)!join_pump(j, NULL);
	join_begin_resume(j);
	EACH_PART(j, part, device_index, local)
	{
		pthread_mutex_lock(&j->lock);
		part->broken = part->faulted = 0;
		part->alone = part->stood = false;
		pthread_mutex_unlock(&j->lock);
		if (st == WS_OK)
			st = ws_target_resume(part->target, local, err);
	}
	join_end_resume(j);
	return done(j, st, err);
}

enum ws_status join_step(struct ws_target *target, const struct ws_step *step, uint64_t *ret_warps,
			 struct ws_error *err)
{
	struct join *j = join_of(target);
	struct ws_step its = *step;
	const struct join_part *part = JOIN_PART(j, warps, &its.warp_index);
	return done(j, ws_target_step(part->target, &its, ret_warps, err), err);
}

enum ws_status join_run_until(struct ws_target *target, uint32_t sm_index, uint64_t warp_mask,
			      uint64_t pc, uint32_t flags, struct ws_error *err)
{
	struct join *j = join_of(target);
	const struct join_part *part = JOIN_PART(j, sms, &sm_index);
	return done(j, ws_target_run_until(part->target, sm_index, warp_mask, pc, flags, err), err);
}

enum ws_status join_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			  struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &device_index);
	return ws_target_plant(part->target, device_index, pc, err);
}

enum ws_status join_unplant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			    struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &device_index);
	return ws_target_unplant(part->target, device_index, pc, err);
}

enum ws_status join_stop_if(struct ws_target *target, uint32_t device_index, uint64_t pc,
			    ws_stop_if_fn *holds, const void *condition, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &device_index);
	return ws_target_stop_if(part->target, device_index, pc, holds, condition, err);
}

/* Whether devices of other parts have the same memory at an address. */
static bool is_shared(const struct join *j, const struct join_part *part,
		      const struct ws_address *at)
{
	uint64_t own, host;
	if (ws_target_host_address(part->target, 0, at->address, &own, NULL) != WS_OK)
		return false;
	for (const struct join_part *one = j->parts; one < j->parts + j->n; one++)
		if (one != part &&
		    ws_target_host_address(one->target, 0, at->address, &host, NULL) == WS_OK)
			return true;
	return false;
}

/* The number of a watchpoint says which part has it: the rest of a division. */
enum ws_status join_watch(struct ws_target *target, const struct ws_watch *watch,
			  uint32_t *ret_number, struct ws_error *err)
{
	struct join *j = join_of(target);
	struct ws_watch its = *watch;
	struct join_part *part = NULL;
	enum ws_status st = join_resolve(j, &watch->at, &part, &its.at, err);
	uint32_t number = 0;
	if (st == WS_OK && is_shared(j, part, &its.at))
		st = wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			      "memory of the host that several devices use cannot be watched");
	if (st == WS_OK)
		st = ws_target_watch(part->target, &its, &number, err);
	if (st == WS_OK && number > UINT32_MAX / WS_MAX_JOINED - 1) {
		(void)!ws_target_unwatch(part->target, number, NULL);
		st = wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "too many watchpoints");
	}
	if (st == WS_OK)
		*ret_number = number * WS_MAX_JOINED + (uint32_t)(part - j->parts);
	return st;
}

enum ws_status join_unwatch(struct ws_target *target, uint32_t number, struct ws_error *err)
{
	struct join *j = join_of(target);
	uint32_t part = number % WS_MAX_JOINED;
	return part < j->n ? ws_target_unwatch(j->parts[part].target, number / WS_MAX_JOINED, err)
			   : WS_OK;
}

enum ws_status join_watch_hit(const struct ws_target *target, uint32_t index,
			      struct ws_watch_hit *ret_hit, struct ws_error *err)
{
	const struct join *j = join_of(target);
	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t k = 0;; k++) {
			enum ws_status st =
				ws_target_watch_hit(j->parts[i].target, k, ret_hit, err);
			if (st == WS_ABSENT)
				break;
			if (st != WS_OK)
				return st;
			if (index-- > 0)
				continue;
			ret_hit->number = ret_hit->number * WS_MAX_JOINED + i;
			join_move(&ret_hit->warp_index, j->parts[i].start.warps);
			return WS_OK;
		}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no more watchpoints were hit");
}

enum ws_status join_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < j->n && st == WS_OK; i++)
		st = ws_target_stop_at_launch(j->parts[i].target, on, err);
	return st;
}

enum ws_status join_write_registers(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				    enum ws_reg_kind kind, uint32_t first, uint32_t n,
				    const uint32_t *values, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), warps, &warp_index);
	return ws_target_write_registers(part->target, warp_index, lane, kind, first, n, values,
					 err);
}

enum ws_status join_write_rpc(struct ws_target *target, uint32_t warp_index, uint32_t lane,
			      uint32_t rpc_lo, uint32_t rpc_hi, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), warps, &warp_index);
	return ws_target_write_rpc(part->target, warp_index, lane, rpc_lo, rpc_hi, err);
}

enum ws_status join_detach(struct ws_target *target, bool runs, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < j->n && st == WS_OK; i++)
		st = ws_target_detach(j->parts[i].target, runs, err);
	return done(j, st, err);
}
