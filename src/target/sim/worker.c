/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that executes while the device runs. */
#include <warpscope/cubin.h>
#include <warpscope/cudadebugger.h>

#include "target/sim/live.h"

/* ---- what happened becomes events: under lock, by who has the device ---- */

static bool tell_finished(struct sim_live *live)
{
	struct wsi_stub *debug = live->t->sim->debug;
	while (debug->finished) {
		struct wsi_grid *grid = debug->finished;
		struct ws_event event = {
			.kind = WS_EVENT_GRID_FINISHED,
			.grid = sim_grid_row(live->t, grid, CUDBG_GRID_STATUS_TERMINATED),
		};
		uint64_t sequence;
		if (!grid->parent && !sim_post(live, &event, false, false, &sequence))
			return false;
		if (live->n_done == SIM_DONE_GRIDS) {
			live->n_done--;
			memmove(live->done, live->done + 1, live->n_done * sizeof *live->done);
			memmove(live->done_stack, live->done_stack + 1,
				live->n_done * sizeof *live->done_stack);
		}
		live->done_stack[live->n_done] = sim_stack_of(grid);
		live->done[live->n_done++] = event.grid;
		debug->finished = grid->next;
		wsi_free(grid);
	}
	return true;
}

/* Its functions that are loaded: so many more than clients know. There is room. */
static void tell_functions(struct sim_live *live, uint32_t index)
{
	struct wsi_module *module = &live->t->sim->modules[index];
	const struct ws_event event = {
		.kind = WS_EVENT_FUNCTIONS_LOADED,
		.sync = true,
		.host_tid = live->context_tid,
		.context_id = SIM_CONTEXT_ID,
		.module_handle = sim_module_handle(live->t, index),
		.n_functions = module->n_loaded,
	};
	uint64_t sequence = 0;
	if (module->n_loaded > module->n_told)
		(void)!sim_post(live, &event, false, true, &sequence);
	if (sequence != 0)
		live->loading = sequence;
	module->n_told = module->n_loaded;
}

static bool tell_modules(struct sim_live *live)
{
	const struct ws_sim *sim = live->t->sim;
	for (; live->n_modules < sim->n_modules; live->n_modules++) {
		const struct wsi_module *module = &sim->modules[live->n_modules];
		struct ws_event event = {
			.kind = WS_EVENT_MODULE_LOADED,
			.sync = true,
			.host_tid = live->context_tid,
			.context_id = SIM_CONTEXT_ID,
			.module_handle = sim_module_handle(live->t, live->n_modules),
			.image_bytes = module->image_bytes,
		};
		uint64_t sequence;
		if (!sim_reserve(live, 2))
			return false;
		if (!sim->options.lazy || sim_loads_all(live)) { /* no function comes later */
			event.relocated = (struct ws_span){ module->image, module->image_bytes, 0 };
			event.original =
				(struct ws_span){ module->original, module->image_bytes, 0 };
		}
		(void)!sim_post(live, &event, false, true, &sequence);
		tell_functions(live, live->n_modules);
	}
	if (live->n_loads == sim->n_loads)
		return true;
	if (!sim_reserve(live, sim->n_modules))
		return false;
	for (uint32_t i = 0; i < sim->n_modules; i++)
		tell_functions(live, i);
	live->n_loads = sim->n_loads;
	return true;
}

/* A launch that is told waits until it is acknowledged, one that is not until the functions are
 * that were loaded for it. Those of the device are not told. */
static bool tell_launches(struct sim_live *live)
{
	const struct ws_sim *sim = live->t->sim;
	for (struct wsi_grid *grid = sim->queue; grid; grid = grid->next) {
		if (!grid->told && !grid->parent)
			grid->blocks = live->wants & WS_WANT_BLOCKING_LAUNCHES;
		const struct ws_event event = {
			.kind = WS_EVENT_GRID_READY,
			.sync = true,
			.grid = sim_grid_row(live->t, grid, CUDBG_GRID_STATUS_PENDING),
		};
		if (!grid->told && !grid->parent &&
		    !sim_post(live, &event, false, true, &grid->event))
			return false;
		if (!grid->told && grid->event == 0)
			grid->event = live->loading;
		sim->debug->new_lists |= !grid->told;
		grid->told = true;
		grid->held = grid->event != 0 && sim_is_awaited(live, grid->event);
	}
	return true;
}

bool sim_loads_all(const struct sim_live *live)
{
	return live->t->sim->options.lazy && live->wants != 0 && !(live->wants & WS_WANT_FUNCTIONS);
}

bool sim_tell(struct sim_live *live)
{
	if (sim_loads_all(live))
		wsi_load_all_code(live->t->sim);
	bool ok = tell_modules(live) && tell_finished(live) && tell_launches(live) &&
		  sim_take_in_logs(live);
	live->starved = !ok;
	return ok;
}

/* Bit 0 for a device that has a broken warp; after a step, of those that it was about. */
static uint64_t broken_mask(const struct sim_live *live, bool of_step)
{
	const struct ws_sim *sim = live->t->sim;
	if (sim->faulted)
		return 1;
	for (uint32_t sm = 0; sm < sim->options.n_sms; sm++) {
		uint64_t asked = sm == live->until_sm ? live->asked_warps : 0;
		uint64_t its = of_step ? sim->debug->moved[sm] | asked : UINT64_MAX;
		if (sim->debug->broken[sm] & its)
			return 1;
	}
	return 0;
}

void sim_flush(struct sim_live *live)
{
	struct ws_sim *sim = live->t->sim;
	if (!(live->wants & WS_WANT_PRINTF) || !sim->options.print || sim->n_printed == 0)
		return;
	size_t n = sim->options.print(sim->options.print_user, sim->printed, sim->n_printed);
	n = (size_t)wsi_min_u64(n, sim->n_printed);
	memmove(sim->printed, sim->printed + n, sim->n_printed - n);
	sim->n_printed -= n;
}

/* The device stands. Nobody is told whose call waits for it. */
static void halt_device(struct sim_live *live, enum ws_event_kind kind, bool tell)
{
	const struct ws_sim *sim = live->t->sim;
	const bool of_step = kind == WS_EVENT_STEP_DONE;
	uint64_t sequence;
	const struct ws_event event = {
		.kind = kind,
		.sync = true,
		.host_tid = of_step ? live->context_tid : 0,
		.context_id = of_step ? SIM_CONTEXT_ID : 0,
		.broken_devices = broken_mask(live, of_step),
		.faulted_devices = sim->faulted && sim_exception_of(&sim->fault) != 0,
		.sm_id = of_step ? live->until_sm : 0,
		.asked_warps = of_step ? live->asked_warps : 0,
		.stepped_warps = of_step ? sim->debug->moved[live->until_sm] : 0,
		.until_pc = of_step && live->job == SIM_JOB_UNTIL,
	};
	sim_flush(live);
	if (tell)
		(void)!sim_post(live, &event, true, false, &sequence); /* there is room */
	else
		live->promised--;
	live->halted = true;
	live->stop_asked = live->stop_tell = false;
	pthread_cond_broadcast(&live->cond);
}

/* ---- the thread ---- */

/* Whether there is something to execute. */
static bool has_work(const struct sim_live *live)
{
	return live->runs && !live->halted && !live->lent && !live->stalled &&
	       (live->hosts == 0 || live->job != SIM_JOB_RUN);
}

static enum ws_sim_outcome run_worker(struct sim_live *live, bool *ret_no_memory)
{
	enum ws_sim_outcome outcome = WS_SIM_STOPPED;
	struct ws_sim *sim = live->t->sim;
	wsi_history_begin(sim, true); /* the host may have done something since */
	*ret_no_memory = ws_sim_run(sim, wsi_history_room(sim), &outcome, NULL) != WS_OK;
	wsi_history_ran(sim);
	return outcome;
}

static enum wsi_stepped step_slice(struct sim_live *live)
{
	if (live->job == SIM_JOB_UNTIL)
		return sim_do_until(live->t, live->until_sm, live->asked_warps, live->until_pc);
	return sim_do_step(live->t, &live->step);
}

/* After a slice: under lock. */
static void after_run(struct sim_live *live, enum ws_sim_outcome outcome, bool no_memory)
{
	const struct wsi_stub *debug = live->t->sim->debug;
	bool ends = outcome == WS_SIM_STUCK || outcome == WS_SIM_DONE;
	bool told = sim_tell(live);
	live->starved |= no_memory; /* the client learns of both, and lets it try again */
	live->stalled = !told || ((no_memory || ends) && !live->nudged);
	if (outcome == WS_SIM_FAULTED)
		sim_note_fault(live);
	if (outcome == WS_SIM_FAULTED || debug->halted)
		halt_device(live, WS_EVENT_STOPPED, true);
	pthread_cond_broadcast(&live->cond);
}

static void after_step(struct sim_live *live)
{
	const struct ws_sim *sim = live->t->sim;
	bool broke = sim->faulted || sim->debug->halted;
	if (sim->faulted)
		sim_note_fault(live);
	(void)!sim_tell(live); /* what could not be told is when it runs again */
	if (broke || live->stop_asked)
		halt_device(live, WS_EVENT_STOPPED, broke || live->stop_tell);
	else
		halt_device(live, WS_EVENT_STEP_DONE, true);
}

/* One slice. Under lock, which is let go meanwhile. */
static void device_work(struct sim_live *live)
{
	bool no_memory = false;
	enum ws_sim_outcome outcome = WS_SIM_STOPPED;
	if (!sim_tell(live)) {
		live->stalled = true;
		return;
	}
	live->at_work = true;
	live->nudged = false;
	atomic_store(&live->t->sim->stop, false); /* whoever stops it from now on sets it again */
	pthread_mutex_unlock(&live->lock);
	sim_wake(live);
	if (live->job == SIM_JOB_RUN)
		outcome = run_worker(live, &no_memory);
	else
		(void)step_slice(live);
	pthread_mutex_lock(&live->lock);
	live->at_work = false;
	if (live->job == SIM_JOB_RUN)
		after_run(live, outcome, no_memory);
	else
		after_step(live);
}

void *sim_worker(void *data)
{
	struct sim_live *live = data;
	pthread_mutex_lock(&live->lock);
	while (!live->quit) {
		bool stops = live->runs && !live->halted && !live->lent && live->stop_asked;
		if (stops)
			halt_device(live, WS_EVENT_STOPPED, live->stop_tell);
		else if (has_work(live))
			device_work(live);
		else {
			pthread_cond_wait(&live->cond, &live->lock);
			continue;
		}
		pthread_mutex_unlock(&live->lock);
		sim_wake(live);
		pthread_mutex_lock(&live->lock);
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

void sim_nudge(struct sim_live *live)
{
	live->stalled = false;
	live->nudged = true;
	pthread_cond_broadcast(&live->cond);
}

void sim_note_fault(struct sim_live *live)
{
	live->failed = true;
	live->fault = live->t->sim->fault;
}

/* Waits for the device: until it runs, too, if it is for the host and may take so long. */
static bool device_take(struct sim_live *live, bool is_client, bool may_wait)
{
	live->hosts++;
	while (live->at_work || live->lent || (!is_client && !live->runs)) {
		if (!is_client && !live->runs && !may_wait)
			break;
		if (live->at_work && live->job == SIM_JOB_RUN)
			ws_sim_stop(live->t->sim);
		pthread_cond_wait(&live->cond, &live->lock);
	}
	live->hosts--;
	bool is_free = !live->at_work && !live->lent && (is_client || live->runs);
	live->lent |= is_free;
	return is_free;
}

void sim_take(struct sim_live *live, bool is_client)
{
	(void)device_take(live, is_client, true);
}

bool sim_try(struct sim_live *live)
{
	return device_take(live, false, false);
}

void sim_give(struct sim_live *live)
{
	live->lent = false;
	sim_nudge(live);
}
