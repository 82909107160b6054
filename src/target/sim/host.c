/* SPDX-License-Identifier: Apache-2.0 */
/* The side of the host program: it has the device between two slices of execution. */
#include "target/sim/live.h"

void ws_sim_host_begin(struct ws_target *target, bool is_client)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	sim_take(live, is_client);
}

enum ws_status ws_sim_host_end(struct ws_target *target, bool is_client, uint64_t *ret_event,
			       struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&live->lock);
	bool told = sim_tell(live);
	if (ret_event)
		*ret_event = live->sequence;
	if (is_client && !live->runs)
		st = sim_renew(sim_of(target), true, err);
	sim_give(live);
	pthread_mutex_unlock(&live->lock);
	sim_wake(live);
	return told ? st : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
}

/* Whether anything is left to execute. Under lock. */
static bool is_busy(const struct sim_live *live)
{
	const struct ws_sim *sim = live->t->sim;
	return live->at_work || live->lent || sim->queue || sim->debug->finished || sim->faulted;
}

void ws_sim_host_await(struct ws_target *target, uint64_t event)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	while ((live->n_waiters > 0 && live->waiters[0].sequence <= event) ||
	       ((live->wants & WS_WANT_BLOCKING_LAUNCHES) && is_busy(live)))
		pthread_cond_wait(&live->cond, &live->lock);
}

enum ws_status ws_sim_host_switch(struct ws_target *target, bool pushed, uint32_t host_tid,
				  struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	const struct ws_event event = {
		.kind = pushed ? WS_EVENT_CONTEXT_PUSHED : WS_EVENT_CONTEXT_POPPED,
		.sync = true,
		.host_tid = host_tid,
		.context_id = SIM_CONTEXT_ID,
	};
	uint64_t sequence;
	pthread_mutex_lock(&live->lock);
	bool ok = sim_post(live, &event, false, true, &sequence);
	while (ok && sim_is_awaited(live, sequence))
		pthread_cond_wait(&live->cond, &live->lock);
	pthread_mutex_unlock(&live->lock);
	return ok ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
}

enum ws_status sim_launch_stack(struct ws_target *target, uint32_t grid_index,
				uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
				struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	const struct sim_stack *stack = &t->rows.stacks[grid_index];
	wsi_hold(&t->live->lock);
	if (stack->n == 0 || !(t->live->wants & WS_WANT_LAUNCH_STACKS))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no stack was kept");
	for (uint32_t i = 0; i < stack->n && i < cap; i++)
		ret_addresses[i] = stack->at[i];
	*ret_n = stack->n;
	return WS_OK;
}

bool ws_sim_host_stuck(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return live->runs && !live->halted && live->stalled && live->t->sim->queue;
}

enum ws_sim_outcome ws_sim_host_wait(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	while (is_busy(live))
		pthread_cond_wait(&live->cond, &live->lock);
	bool failed = live->failed;
	live->failed = false;
	return failed ? WS_SIM_FAULTED : WS_SIM_DONE;
}
