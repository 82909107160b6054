/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run control and breakpoints, handed to the provider. What a device is doing is what the last call
 * or event said; when devices stand again all rows below them are made anew.
 */
#include "target/api/api.h"

bool wsi_api_running(const struct ws_target *target, uint32_t device_index)
{
	const struct api_target *t = target->state;
	return atomic_load(&t->runs[device_index]);
}

static void set_runs(struct api_target *t, uint32_t device_index, bool runs)
{
	for (uint32_t i = 0; i < t->n.devices; i++)
		if (device_index == WS_NONE || device_index == i)
			atomic_store(&t->runs[i], runs);
}

/* ---- stop and go ---- */

enum ws_status wsi_api_suspend(struct ws_target *target, uint32_t device_index, bool wait,
			       struct ws_error *err)
{
	struct api_target *t = target->state;
	CUDBGResult result = CUDBG_SUCCESS;
	wsi_hold(&t->lock);
	if (device_index == WS_NONE && API_HAS(t, suspendAllDevices))
		result = API_CALL(t, suspendAllDevices, !wait);
	else
		for (uint32_t i = 0; i < t->n.devices; i++)
			if (device_index == WS_NONE || device_index == i) {
				result = API_CALL(t, suspendDevice, t->devices[i].id);
				if (result != CUDBG_SUCCESS &&
				    result != CUDBG_ERROR_SUSPENDED_DEVICE)
					break;
			}
	if (result == CUDBG_ERROR_SUSPENDED_DEVICE)
		result = CUDBG_SUCCESS;
	enum ws_status st = wsi_api_status(t, result, "suspend", err);
	if (st == WS_OK && (wait || device_index != WS_NONE)) {
		set_runs(t, device_index, false);
		st = wsi_api_renew(t, err);
	}
	return st;
}

enum ws_status wsi_api_resume(struct ws_target *target, uint32_t device_index, struct ws_error *err)
{
	struct api_target *t = target->state;
	CUDBGResult result = CUDBG_SUCCESS;
	enum ws_status st = wsi_api_update(target, err); /* a stop that was told came before */
	if (st != WS_OK)
		return st;
	wsi_hold(&t->lock);
	if (device_index == WS_NONE && API_HAS(t, resumeAllDevices))
		result = t->api->resumeAllDevices();
	else
		for (uint32_t i = 0; i < t->n.devices; i++)
			if (device_index == WS_NONE || device_index == i) {
				result = API_CALL(t, resumeDevice, t->devices[i].id);
				if (result != CUDBG_SUCCESS && result != CUDBG_ERROR_RUNNING_DEVICE)
					break;
			}
	if (result == CUDBG_ERROR_RUNNING_DEVICE)
		result = CUDBG_SUCCESS;
	st = wsi_api_status(t, result, "resume", err);
	if (st == WS_OK)
		set_runs(t, device_index, true);
	return st;
}

/* A warp that cannot run alone, or an address without code, is none of the usual meanings. */
static enum ws_status api_moved(struct api_target *t, CUDBGResult result, const char *what,
				struct ws_error *err)
{
	enum ws_status st = wsi_api_status(t, result, what, err);
	if (result != CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE)
		return st;
	if (err)
		err->status = WS_UNSUPPORTED; /* with the provider's reason */
	return WS_UNSUPPORTED;
}

static uint32_t api_step_flags(uint32_t flags)
{
	return (flags & WS_STEP_INTO_BARRIERS ? CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS
					      : 0u) |
	       (flags & WS_STEP_NO_WAIT ? CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING : 0u);
}

/* Older forms step without flags and hint, the oldest one instruction at a time. */
static CUDBGResult step_warp(struct api_target *t, const struct api_place *at,
			     const struct ws_step *step, uint64_t *ret_warps)
{
	CUDBGResult result = CUDBG_SUCCESS;
	if (API_HAS(t, singleStepWarp))
		return API_CALL(t, singleStepWarp, at->dev, at->sm, at->wp, step->lane, step->steps,
				api_step_flags(step->flags), ret_warps);
	if (step->flags & WS_STEP_NO_WAIT)
		return CUDBG_ERROR_NOT_SUPPORTED;
	if (API_HAS(t, singleStepWarp65))
		return API_CALL(t, singleStepWarp65, at->dev, at->sm, at->wp, step->steps,
				ret_warps);
	*ret_warps = 0;
	for (uint32_t i = 0; i < step->steps && result == CUDBG_SUCCESS; i++) {
		uint64_t warps = 0;
		result = API_CALL(t, singleStepWarp41, at->dev, at->sm, at->wp, &warps);
		*ret_warps |= warps;
	}
	return result;
}

enum ws_status wsi_api_step(struct ws_target *target, const struct ws_step *step,
			    uint64_t *ret_warps, struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, step->warp_index);
	uint64_t warps = 0;
	wsi_hold(&t->lock);
	enum ws_status st = api_moved(t, step_warp(t, &at, step, &warps), "singleStepWarp", err);
	if (st == WS_OK && !(step->flags & WS_STEP_NO_WAIT))
		st = wsi_api_renew(t, err);
	if (st == WS_OK)
		*ret_warps = warps;
	return st;
}

enum ws_status wsi_api_run_until(struct ws_target *target, uint32_t sm_index, uint64_t warp_mask,
				 uint64_t pc, uint32_t flags, struct ws_error *err)
{
	struct api_target *t = target->state;
	uint32_t sm = t->sms[sm_index].id, dev = t->devices[t->sms[sm_index].device_index].id;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	wsi_hold(&t->lock);
	if (API_HAS(t, resumeWarpsUntilPC))
		result = API_CALL(t, resumeWarpsUntilPC, dev, sm, warp_mask, pc,
				  api_step_flags(flags));
	else if (!(flags & WS_STEP_NO_WAIT) && API_HAS(t, resumeWarpsUntilPC60))
		result = API_CALL(t, resumeWarpsUntilPC60, dev, sm, warp_mask, pc);
	enum ws_status st = api_moved(t, result, "resumeWarpsUntilPC", err);
	if (st == WS_OK && !(flags & WS_STEP_NO_WAIT))
		st = wsi_api_renew(t, err);
	return st;
}

/* ---- what happened meanwhile ---- */

static enum ws_status take_api_event(struct api_target *t, const CUDBGEvent *event,
				     struct ws_error *err)
{
	if (event->kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED)
		set_runs(t, WS_NONE, false);
	if (event->kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED ||
	    event->kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE)
		return wsi_api_renew(t, err);
	enum ws_status st = wsi_api_add_event(t, event, err);
	if (t->n.contexts != t->base.counts.contexts || t->n.modules != t->base.counts.modules)
		ws_target_changed(&t->base, &t->n);
	return st;
}

/* An event stays until it could be taken in. */
enum ws_status wsi_api_update(struct ws_target *target, struct ws_error *err)
{
	struct api_target *t = target->state;
	enum ws_status st = WS_OK;
	size_t done = 0;
	pthread_mutex_lock(&t->event_lock);
	pthread_mutex_lock(&t->lock);
	while (done < t->untaken.n && st == WS_OK) {
		st = take_api_event(t, &t->untaken.items[done], err);
		done += st == WS_OK;
	}
	if (done) {
		t->untaken.n -= done;
		memmove(t->untaken.items, t->untaken.items + done,
			t->untaken.n * sizeof *t->untaken.items);
	}
	pthread_mutex_unlock(&t->lock);
	pthread_mutex_unlock(&t->event_lock);
	return st;
}

/* ---- breakpoints: without handles, which every version has ---- */

#define DEFINE_PLANT(name, call)                                                         \
	enum ws_status wsi_api_##name(struct ws_target *target, uint32_t device_index,   \
				      uint64_t pc, struct ws_error *err)                 \
	{                                                                                \
		struct api_target *t = target->state;                                    \
		wsi_hold(&t->lock);                                                      \
		CUDBGResult result = API_CALL(t, call, t->devices[device_index].id, pc); \
		return wsi_api_status(t, result, #call, err);                            \
	}

DEFINE_PLANT(plant, setBreakpoint)
DEFINE_PLANT(unplant, unsetBreakpoint)

enum ws_status wsi_api_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err)
{
	struct api_target *t = target->state;
	const CUDBGBreakpointHandle handle = CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	wsi_hold(&t->lock);
	if (API_HAS(t, disableBreakpoint))
		result = on ? API_CALL(t, enableBreakpoint, handle)
			    : API_CALL(t, disableBreakpoint, handle);
	if (result == CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT)
		result = CUDBG_SUCCESS; /* it is that way already */
	return wsi_api_status(t, result, "break on launch", err);
}
