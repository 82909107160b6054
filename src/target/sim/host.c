/* SPDX-License-Identifier: Apache-2.0 */
/* The side of the host program: it has the device between two slices of execution. */
#include "target/sim/live.h"

void ws_sim_host_begin(struct ws_target *target, bool is_client)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	sim_take(live, is_client);
}

bool ws_sim_host_try(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return sim_try(live);
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

/* Whether a host thread waits for an event, or for a grid that is to block it. Under lock. */
static bool is_held(const struct sim_live *live, uint64_t event)
{
	return (live->n_waiters > 0 && live->waiters[0].sequence <= event) ||
	       ((live->wants & WS_WANT_BLOCKING_LAUNCHES) && is_busy(live));
}

bool ws_sim_host_held(struct ws_target *target, uint64_t event)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return is_held(live, event);
}

void ws_sim_host_await(struct ws_target *target, uint64_t event)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	while (is_held(live, event))
		pthread_cond_wait(&live->cond, &live->lock);
}

/* Under lock. */
static bool tell_switch(struct sim_live *live, bool pushed, uint32_t host_tid,
			uint64_t *ret_sequence)
{
	const struct ws_event event = {
		.kind = pushed ? WS_EVENT_CONTEXT_PUSHED : WS_EVENT_CONTEXT_POPPED,
		.sync = true,
		.host_tid = host_tid,
		.context_id = SIM_CONTEXT_ID,
	};
	return sim_post(live, &event, false, true, ret_sequence);
}

enum ws_status ws_sim_host_switch(struct ws_target *target, bool pushed, uint32_t host_tid,
				  struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	uint64_t sequence;
	pthread_mutex_lock(&live->lock);
	bool ok = tell_switch(live, pushed, host_tid, &sequence);
	while (ok && sim_is_awaited(live, sequence))
		pthread_cond_wait(&live->cond, &live->lock);
	pthread_mutex_unlock(&live->lock);
	return ok ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
}

enum ws_status ws_sim_host_switched(struct ws_target *target, bool pushed, uint32_t host_tid,
				    struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	uint64_t sequence;
	wsi_hold(&live->lock);
	return tell_switch(live, pushed, host_tid, &sequence)
		       ? WS_OK
		       : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
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

bool wsi_live_stuck(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return live->runs && !live->halted && live->stalled && live->t->sim->queue;
}

bool wsi_live_idle(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return !is_busy(live);
}

/* How what ran has ended; told once. Under lock. */
static enum ws_sim_outcome live_run_ended(struct sim_live *live)
{
	bool failed = live->failed;
	live->failed = false;
	return failed ? WS_SIM_FAULTED : WS_SIM_DONE;
}

enum ws_sim_outcome ws_sim_host_wait(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	while (is_busy(live))
		pthread_cond_wait(&live->cond, &live->lock);
	return live_run_ended(live);
}

bool ws_sim_host_done(struct ws_target *target, enum ws_sim_outcome *ret_outcome,
		      struct ws_sim_fault *ret_fault)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	if (is_busy(live))
		return false;
	*ret_fault = live->fault;
	*ret_outcome = live_run_ended(live);
	return true;
}

bool ws_sim_host_watched(struct ws_target *target)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	return live->watched;
}

/* ---- the life of the program: by a host thread that has the device ---- */

/* Events before a client listens are not told: it learns how things stand then. Under lock. */
static bool tell(struct sim_live *live, const struct ws_event *event)
{
	uint64_t sequence;
	return !live->watched || sim_post(live, event, false, event->sync, &sequence);
}

static bool tell_context(struct sim_live *live)
{
	return tell(live, &(struct ws_event){
				  .kind = live->has_context ? WS_EVENT_CONTEXT_CREATED
							    : WS_EVENT_CONTEXT_DESTROYED,
				  .sync = true,
				  .host_tid = live->context_tid,
				  .context_id = SIM_CONTEXT_ID,
			  });
}

enum ws_status ws_sim_host_context(struct ws_target *target, bool exists, uint32_t host_tid,
				   struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	wsi_hold(&live->lock);
	if (live->has_context == exists)
		return WS_OK;
	live->has_context = exists;
	live->context_tid = host_tid;
	if (!exists) { /* its grids are gone with it */
		live->n_done = 0;
		live->gone_grids = live->t->sim->n_grids;
	}
	live->t->sim->debug->new_lists = true;
	if (!live->runs && sim_renew(live->t, true, err) != WS_OK)
		return WS_NO_MEMORY;
	return tell_context(live) ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
}

enum ws_status ws_sim_host_attached(struct ws_target *target, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	const struct ws_event event = { .kind = WS_EVENT_ATTACHED, .sync = true };
	uint64_t sequence;
	pthread_mutex_lock(&live->lock);
	bool ok = sim_post(live, &event, false, false, &sequence);
	pthread_mutex_unlock(&live->lock);
	sim_wake(live);
	return ok ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
}

/* Its modules, and its context: there is room. Under lock. */
static void tell_gone(struct sim_live *live)
{
	const struct sim_target *t = live->t;
	for (uint32_t i = 0; i < live->n_modules; i++)
		(void)!tell(live, &(struct ws_event){
					  .kind = WS_EVENT_MODULE_UNLOADED,
					  .sync = true,
					  .host_tid = live->context_tid,
					  .context_id = SIM_CONTEXT_ID,
					  .module_handle = sim_module_handle(t, i),
					  .image_bytes = t->sim->modules[i].image_bytes,
				  });
	const bool had_context = live->has_context;
	live->has_context = false;
	if (had_context)
		(void)!tell_context(live);
}

enum ws_status ws_sim_host_replace(struct ws_target *target, struct ws_sim *fresh,
				   struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	struct sim_live *live = t->live;
	enum ws_status st = wsi_stub_attach(fresh, err);
	if (st != WS_OK)
		return st;
	wsi_hold(&live->lock);
	if (!sim_tell(live) || !sim_reserve(live, live->n_modules + (size_t)1)) {
		wsi_stub_detach(fresh);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "events");
	}
	tell_gone(live);
	fresh->debug->stop_at_launch = t->sim->debug->stop_at_launch;
	fresh->debug->new_lists = true;
	wsi_history_fini(t->sim);
	wsi_stub_detach(t->sim);
	t->gone_modules += t->sim->n_modules;
	t->sim = fresh;
	live->n_modules = live->n_done = 0;
	live->gone_grids = 0;
	live->failed = false;
	return WS_OK;
}
