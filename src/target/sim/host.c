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

void ws_sim_host_await(struct ws_target *target, uint64_t event)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	while (live->n_waiters > 0 && live->waiters[0].sequence <= event)
		pthread_cond_wait(&live->cond, &live->lock);
}

bool ws_sim_host_stuck(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return live->runs && !live->halted && live->stalled && live->t->sim->queue;
}

/* Whether anything is left to execute. Under lock. */
static bool is_busy(const struct sim_live *live)
{
	const struct ws_sim *sim = live->t->sim;
	return live->at_work || live->lent || sim->queue || sim->debug->finished || sim->faulted;
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
