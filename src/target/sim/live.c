/* SPDX-License-Identifier: Apache-2.0 */
/* Run control of a software GPU: what clients ask, and what they then see. */
#include "target/sim/live.h"

bool sim_runs(const struct sim_target *t)
{
	return t->live && atomic_load_explicit(&t->live->runs, memory_order_acquire);
}

uint32_t sim_contexts(const struct sim_target *t, uint32_t *ret_host_tid)
{
	*ret_host_tid = t->live ? t->live->context_tid : 0;
	return !t->live || t->live->has_context;
}

const struct ws_grid *sim_done_grids(const struct sim_target *t, uint32_t *ret_n)
{
	*ret_n = t->live ? t->live->n_done : 0;
	return t->live ? t->live->done : NULL;
}

uint64_t sim_gone_grids(const struct sim_target *t)
{
	return t->live ? t->live->gone_grids : 0;
}

struct sim_stack sim_done_stack(const struct sim_target *t, uint32_t index)
{
	return t->live->done_stack[index];
}

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
}

static enum ws_status is_running(struct ws_error *err)
{
	return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
}

/* ---- what changed: under lock, when the worker is not at work ---- */

/* Adds warps of a block that a barrier let go on, but that executed nothing since. */
static void add_released(uint64_t *moved, const struct wsi_block *block)
{
	for (uint32_t i = 0; i < block->n_warps; i++) {
		struct wsi_warp *warp = block->warps[i];
		moved[block->sm] |= warp->released ? UINT64_C(1) << warp->slot : 0;
		warp->released = false;
	}
}

/* The lists stay: tells of the warps that changed, at the cost of these. */
static void tell_changes(struct sim_target *t)
{
	uint64_t *moved = t->sim->debug->moved;
	struct ws_change changes[WS_MAX_CHANGES];
	uint32_t n = 0;
	for (uint32_t sm = 0; sm < t->sim->options.n_sms; sm++) {
		uint32_t first = t->rows.first_warp[sm], end = t->rows.first_warp[sm + 1];
		for (uint32_t i = moved[sm] ? first : end; i < end; i++) {
			const struct wsi_block *block = t->rows.warps[i]->block;
			if (!(moved[sm] >> t->rows.warps[i]->slot & 1))
				continue;
			add_released(moved, block);
			for (uint32_t k = 0; block->cluster && k < block->cluster->n; k++)
				if (block->cluster->peers[k])
					add_released(moved, block->cluster->peers[k]);
		}
	}
	for (uint32_t sm = 0; sm < t->sim->options.n_sms; sm++) {
		if (!moved[sm])
			continue;
		if (n < WS_MAX_CHANGES)
			changes[n] = (struct ws_change){ sm, moved[sm] };
		n++;
		moved[sm] = 0;
	}
	if (n > 0)
		ws_target_changed_warps(&t->target, changes, n);
}

enum ws_status sim_renew(struct sim_target *t, bool all, struct ws_error *err)
{
	struct wsi_stub *debug = t->sim->debug;
	struct ws_counts counts;
	if (!all && !debug->new_lists && t->sim->n_modules == t->rows.counts.modules &&
	    t->sim->n_loads == t->rows.n_loads) {
		tell_changes(t);
		atomic_store(&t->ranges_known, false);
		return WS_OK;
	}
	enum ws_status st = sim_collect(t, &counts, err);
	if (st != WS_OK) { /* as if it ran: the lists are not what they were */
		atomic_store(&t->live->runs, true);
		t->live->halted = true;
		return st;
	}
	debug->new_lists = false;
	memset(debug->moved, 0, t->sim->options.n_sms * sizeof *debug->moved);
	ws_target_changed(&t->target, &counts);
	return WS_OK;
}

/* The client learns that the device stands. */
static enum ws_status take_stop(struct sim_live *live, struct ws_error *err)
{
	live->halted = false;
	atomic_store(&live->runs, false);
	return sim_renew(live->t, false, err);
}

static enum ws_status sim_update(struct ws_target *target, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	enum ws_status st = WS_OK;
	wsi_hold(&live->lock);
	if (live->runs && live->halted && !live->lent)
		st = take_stop(live, err);
	return st;
}

static bool sim_running(const struct ws_target *target, uint32_t device_index)
{
	(void)device_index;
	return sim_runs(sim_of(target));
}

/* ---- stop and go ---- */

static enum ws_status sim_suspend(struct ws_target *target, uint32_t device_index, bool wait,
				  struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	enum ws_status st = WS_OK;
	(void)device_index;
	wsi_hold(&live->lock);
	if (live->runs && !live->halted) {
		live->stop_asked = true;
		live->stop_tell |= !wait;
		ws_sim_stop(live->t->sim);
		pthread_cond_broadcast(&live->cond);
	}
	while (wait && live->runs && (!live->halted || live->lent))
		pthread_cond_wait(&live->cond, &live->lock);
	if (wait && live->runs)
		st = take_stop(live, err);
	return st;
}

/* Warps that stood go on. */
static void release_all(struct sim_target *t)
{
	struct wsi_stub *debug = t->sim->debug;
	for (uint32_t sm = 0; sm < t->sim->options.n_sms; sm++) {
		debug->moved[sm] |= debug->broken[sm]; /* they are broken no more */
		uint32_t end = t->rows.first_warp[sm + 1];
		for (uint32_t i = t->rows.first_warp[sm]; debug->broken[sm] && i < end; i++)
			if (debug->broken[sm] >> t->rows.warps[i]->slot & 1)
				wsi_stub_release(t->sim, t->rows.warps[i]);
	}
	debug->halted = false;
	wsi_watch_forget(t->sim);
}

/* From here on the worker has the device. */
static void worker_go(struct sim_live *live, enum sim_job job)
{
	live->job = job;
	live->promised++;
	atomic_store(&live->runs, true);
	sim_nudge(live);
}

static enum ws_status sim_resume(struct ws_target *target, uint32_t device_index,
				 struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	struct sim_live *live = t->live;
	enum ws_status st = WS_OK;
	(void)device_index;
	wsi_hold(&live->lock);
	if (!live->runs && !sim_has_room(live)) {
		st = no_memory(err);
	} else if (!live->runs) {
		release_all(t);
		if (t->sim->faulted) {
			wsi_launch_kill(t->sim);
			t->sim->host_changes++;
		}
		worker_go(live, SIM_JOB_RUN);
	}
	return st;
}

/* ---- steps ---- */

enum wsi_stepped sim_do_step(struct sim_target *t, const struct ws_step *step)
{
	struct wsi_warp *warp = t->rows.warps[step->warp_index];
	struct wsi_action action = {
		.at = wsi_position(t->sim),
		.sm = warp->block->sm,
		.slot = warp->slot,
		.lane = step->lane,
		.n = step->steps,
		.over = !(step->flags & WS_STEP_INTO_BARRIERS),
	};
	wsi_history_begin(t->sim, false);
	enum wsi_stepped how = wsi_stub_step(t->sim, warp, step->lane, step->steps, action.over);
	action.end = wsi_position(t->sim);
	wsi_history_did(t->sim, &action);
	return how;
}

enum wsi_stepped sim_do_until(struct sim_target *t, uint32_t sm, uint64_t warps, uint64_t pc)
{
	struct wsi_action action = {
		.at = wsi_position(t->sim), .until = true, .sm = sm, .warps = warps, .pc = pc
	};
	wsi_history_begin(t->sim, false);
	enum wsi_stepped how = wsi_stub_run_until(t->sim, sm, warps, pc);
	action.end = wsi_position(t->sim);
	wsi_history_did(t->sim, &action);
	return how;
}

/* After a step in the caller's thread. `*ret_warps`: who moved on an SM. */
static enum ws_status after_sim_step(struct sim_live *live, enum wsi_stepped how, uint32_t sm,
				     uint64_t *ret_warps, struct ws_error *err)
{
	pthread_mutex_lock(&live->lock);
	if (live->t->sim->faulted)
		sim_note_fault(live);
	sim_flush(live);
	*ret_warps = live->t->sim->debug->moved[sm];
	(void)!sim_tell(live); /* what could not be told is when it runs again */
	enum ws_status st = sim_renew(live->t, false, err);
	pthread_mutex_unlock(&live->lock);
	sim_wake(live);
	return how == WSI_STEPPED_NO_MEMORY ? wsi_account_fail(&live->t->sim->account, err) : st;
}

/* Has the worker step, and returns. */
static enum ws_status step_later(struct sim_live *live, enum sim_job job, uint32_t sm,
				 uint64_t warps, struct ws_error *err)
{
	wsi_hold(&live->lock);
	bool ok = sim_has_room(live);
	if (ok) {
		live->until_sm = sm;
		live->asked_warps = warps;
		worker_go(live, job);
	}
	return ok ? WS_OK : no_memory(err);
}

static enum ws_status sim_step(struct ws_target *target, const struct ws_step *step,
			       uint64_t *ret_warps, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	if (sim_runs(t))
		return is_running(err);
	struct wsi_warp *warp = t->rows.warps[step->warp_index];
	uint32_t sm = warp->block->sm;
	uint64_t moved = 0, own = UINT64_C(1) << warp->slot;
	if (t->sim->faulted)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"after an exception nothing can be stepped");
	if (step->flags & WS_STEP_NO_WAIT) {
		t->live->step = *step;
		*ret_warps = own;
		return step_later(t->live, SIM_JOB_STEP, sm, own, err);
	}
	atomic_store(&t->sim->stop, false);
	enum wsi_stepped how = sim_do_step(t, step);
	enum ws_status st = after_sim_step(t->live, how, sm, &moved, err);
	if (st == WS_OK && moved == 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the warp waits, and nobody can go on");
	if (st == WS_OK)
		*ret_warps = moved;
	return st;
}

static enum ws_status sim_run_until(struct ws_target *target, uint32_t sm_index, uint64_t warp_mask,
				    uint64_t pc, uint32_t flags, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	uint64_t moved;
	if (sim_runs(t))
		return is_running(err);
	if (t->sim->faulted)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"after an exception nothing can run on");
	/* planted and taken out: is there code, and memory? */
	enum ws_status st = wsi_stub_plant(t->sim, pc, true, err);
	if (st != WS_OK)
		return st;
	wsi_stub_unplant(t->sim, pc, true);
	if (flags & WS_STEP_NO_WAIT) {
		t->live->until_pc = pc;
		return step_later(t->live, SIM_JOB_UNTIL, sm_index, warp_mask, err);
	}
	atomic_store(&t->sim->stop, false);
	return after_sim_step(t->live, sim_do_until(t, sm_index, warp_mask, pc), sm_index, &moved,
			      err);
}

/* ---- breakpoints: also while it runs, between two slices ---- */

static enum ws_status sim_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
				struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	(void)device_index;
	wsi_hold(&t->live->lock);
	sim_take(t->live, true);
	enum ws_status st = wsi_stub_plant(t->sim, pc, false, err);
	sim_give(t->live);
	return st;
}

static enum ws_status sim_unplant(struct ws_target *target, uint32_t device_index, uint64_t pc,
				  struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	(void)device_index;
	(void)err;
	wsi_hold(&t->live->lock);
	sim_take(t->live, true);
	wsi_stub_unplant(t->sim, pc, false);
	sim_give(t->live);
	return WS_OK;
}

static enum ws_status sim_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	(void)err;
	wsi_hold(&t->live->lock);
	sim_take(t->live, true);
	t->sim->debug->stop_at_launch = on;
	sim_give(t->live);
	return WS_OK;
}

/* ---- the end of debugging ---- */

/* The device goes on without breakpoints, and nobody waits for an acknowledgment. */
static enum ws_status sim_detach(struct ws_target *target, bool runs, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	const struct ws_event event = { .kind = WS_EVENT_DETACHED, .sync = true };
	uint64_t sequence;
	pthread_mutex_lock(&live->lock);
	sim_take(live, true);
	wsi_stub_unplant_all(live->t->sim);
	live->t->sim->debug->stop_at_launch = false;
	sim_give(live);
	bool ok = !runs || sim_post(live, &event, false, false, &sequence);
	pthread_mutex_unlock(&live->lock);
	if (!ok)
		return no_memory(err);
	enum ws_status st = sim_acknowledge(target, UINT64_MAX, err);
	if (st == WS_OK && runs)
		st = sim_resume(target, WS_NONE, err);
	sim_wake(live);
	return st;
}

/* ---- opening ---- */

static const struct ws_target_ops live_ops = {
	SIM_READING_MEMBERS,
	.update = sim_update,
	.running = sim_running,
	.suspend = sim_suspend,
	.resume = sim_resume,
	.step = sim_step,
	.run_until = sim_run_until,
	.plant = sim_plant,
	.unplant = sim_unplant,
	.stop_at_launch = sim_stop_at_launch,
	.stop_if = sim_stop_if,
	.watch = sim_watch,
	.unwatch = sim_unwatch,
	.watch_hit = sim_watch_hit,
	.keep_history = sim_keep_history,
	.go_back = sim_go_back,
	.write_memory = sim_write_memory,
	.write_registers = sim_write_registers,
	.write_rpc = sim_write_rpc,
	.next_event = sim_next_event,
	.acknowledge = sim_acknowledge,
	.want = sim_want,
	.on_event = sim_on_event,
	.launch_stack = sim_launch_stack,
	.take_logs = sim_take_logs,
	.log_rules = sim_log_rules,
	.read_host = sim_read_host,
	.write_host = sim_write_host,
	.host_address = sim_host_address,
	.detach = sim_detach,
};

static void live_free(struct sim_live *live)
{
	wsi_free(live->events);
	wsi_free(live->waiters);
	sim_logs_fini(live);
	pthread_mutex_destroy(&live->wake_lock);
	pthread_cond_destroy(&live->cond);
	pthread_mutex_destroy(&live->lock);
	wsi_free(live);
}

void sim_live_fini(struct sim_target *t)
{
	struct sim_live *live = t->live;
	if (!live)
		return;
	pthread_mutex_lock(&live->lock);
	live->quit = true;
	ws_sim_stop(t->sim);
	pthread_cond_broadcast(&live->cond);
	pthread_mutex_unlock(&live->lock);
	pthread_join(live->thread, NULL);
	atomic_store(&t->sim->stop, false);
	for (struct wsi_grid *grid = t->sim->queue; grid; grid = grid->next)
		grid->held = false;
	for (size_t i = 0; i < t->sim->n_blocks; i++)
		for (uint32_t w = 0; w < t->sim->blocks[i]->n_warps; w++)
			wsi_stub_release(t->sim, t->sim->blocks[i]->warps[w]);
	live_free(live);
	wsi_history_fini(t->sim);
	wsi_stub_detach(t->sim);
}

static enum ws_status live_start(struct sim_target *t, struct ws_error *err)
{
	struct sim_live *live = wsi_zalloc(sizeof *live);
	if (!live)
		return no_memory(err);
	live->t = t;
	live->ops = live_ops;
	live->ops.flushes = t->sim->options.print != NULL;
	live->n_modules = (uint32_t)t->sim->n_modules;
	live->n_loads = t->sim->n_loads;
	for (uint32_t i = 0; i < live->n_modules; i++)
		t->sim->modules[i].n_told = t->sim->modules[i].n_loaded;
	live->has_context = true;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->cond, NULL);
	pthread_mutex_init(&live->wake_lock, NULL);
	if (pthread_create(&live->thread, NULL, sim_worker, live) != 0) {
		live_free(live);
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "a thread could not start");
	}
	for (struct wsi_grid *grid = t->sim->queue; grid; grid = grid->next)
		grid->told = grid->next_block > 0;
	t->live = live;
	t->target.ops = &live->ops;
	return WS_OK;
}

enum ws_status ws_sim_target_live(struct ws_sim *sim, struct ws_target **ret_target,
				  struct ws_error *err)
{
	struct sim_target *t = NULL;
	if (sim->debug)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the device has a debugger");
	enum ws_status st = wsi_stub_attach(sim, err);
	if (st != WS_OK)
		return st;
	st = sim_open(sim, &live_ops, &t, err);
	if (st == WS_OK)
		st = live_start(t, err);
	if (st == WS_OK) {
		*ret_target = &t->target;
		return WS_OK;
	}
	if (t)
		ws_target_close(&t->target);
	wsi_stub_detach(sim);
	return st;
}
