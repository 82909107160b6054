/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run control, breakpoints and events, handed to the provider. What a device is doing is what the
 * last call or event said; when devices stand again all rows below them are made anew, so indices
 * change then, as the contract of these members says.
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
	pthread_mutex_lock(&t->lock);
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
	pthread_mutex_unlock(&t->lock);
	return st;
}

enum ws_status wsi_api_resume(struct ws_target *target, uint32_t device_index, struct ws_error *err)
{
	struct api_target *t = target->state;
	CUDBGResult result = CUDBG_SUCCESS;
	pthread_mutex_lock(&t->lock);
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
	enum ws_status st = wsi_api_status(t, result, "resume", err);
	if (st == WS_OK)
		set_runs(t, device_index, true);
	pthread_mutex_unlock(&t->lock);
	return st;
}

/* A warp that cannot run alone, or an address without code, is none of the usual meanings. */
static enum ws_status moved(struct api_target *t, CUDBGResult result, const char *what,
			    struct ws_error *err)
{
	if (result == CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s: %s", what,
				cudbgGetErrorString(result));
	return wsi_api_status(t, result, what, err);
}

static uint32_t step_flags(uint32_t flags)
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
				step_flags(step->flags), ret_warps);
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
	pthread_mutex_lock(&t->lock);
	enum ws_status st = moved(t, step_warp(t, &at, step, &warps), "singleStepWarp", err);
	if (st == WS_OK && !(step->flags & WS_STEP_NO_WAIT))
		st = wsi_api_renew(t, err);
	pthread_mutex_unlock(&t->lock);
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
	pthread_mutex_lock(&t->lock);
	if (API_HAS(t, resumeWarpsUntilPC))
		result = API_CALL(t, resumeWarpsUntilPC, dev, sm, warp_mask, pc, step_flags(flags));
	else if (!(flags & WS_STEP_NO_WAIT) && API_HAS(t, resumeWarpsUntilPC60))
		result = API_CALL(t, resumeWarpsUntilPC60, dev, sm, warp_mask, pc);
	enum ws_status st = moved(t, result, "resumeWarpsUntilPC", err);
	if (st == WS_OK && !(flags & WS_STEP_NO_WAIT))
		st = wsi_api_renew(t, err);
	pthread_mutex_unlock(&t->lock);
	return st;
}

/* ---- breakpoints: without handles, which every version has ---- */

enum ws_status wsi_api_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			     struct ws_error *err)
{
	struct api_target *t = target->state;
	pthread_mutex_lock(&t->lock);
	enum ws_status st =
		wsi_api_status(t, API_CALL(t, setBreakpoint, t->devices[device_index].id, pc),
			       "setBreakpoint", err);
	pthread_mutex_unlock(&t->lock);
	return st;
}

enum ws_status wsi_api_unplant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			       struct ws_error *err)
{
	struct api_target *t = target->state;
	pthread_mutex_lock(&t->lock);
	enum ws_status st =
		wsi_api_status(t, API_CALL(t, unsetBreakpoint, t->devices[device_index].id, pc),
			       "unsetBreakpoint", err);
	pthread_mutex_unlock(&t->lock);
	return st;
}

enum ws_status wsi_api_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err)
{
	struct api_target *t = target->state;
	const CUDBGBreakpointHandle handle = CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&t->lock);
	if (API_HAS(t, disableBreakpoint))
		result = on ? API_CALL(t, enableBreakpoint, handle)
			    : API_CALL(t, disableBreakpoint, handle);
	if (result == CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT)
		result = CUDBG_SUCCESS; /* it is that way already */
	enum ws_status st = wsi_api_status(t, result, "break on launch", err);
	pthread_mutex_unlock(&t->lock);
	return st;
}

/* ---- events ---- */

static void kernel_ready(const CUDBGEvent *event, struct ws_event *ret)
{
	ret->kind = WS_EVENT_GRID_READY;
	ret->device_id = event->cases.kernelReady.dev;
	ret->host_tid = event->cases.kernelReady.tid;
	ret->context_id = event->cases.kernelReady.context;
	ret->image_handle = event->cases.kernelReady.module;
	ret->grid = (struct ws_grid){
		.id = (int64_t)event->cases.kernelReady.gridId,
		.context_id = event->cases.kernelReady.context,
		.module_handle = event->cases.kernelReady.module,
		.function = event->cases.kernelReady.function,
		.function_entry = event->cases.kernelReady.functionEntry,
		.grid_dim = wsi_api_dim3(event->cases.kernelReady.gridDim),
		.block_dim = wsi_api_dim3(event->cases.kernelReady.blockDim),
		.type = event->cases.kernelReady.type,
		.parent_id = (int64_t)event->cases.kernelReady.parentGridId,
		.origin = event->cases.kernelReady.origin,
		.host_tid = event->cases.kernelReady.tid,
		.context_index = WS_NONE,
		.image_index = WS_NONE,
	};
}

static void kernel_finished(const CUDBGEvent *event, struct ws_event *ret)
{
	ret->kind = WS_EVENT_GRID_FINISHED;
	ret->device_id = event->cases.kernelFinished.dev;
	ret->host_tid = event->cases.kernelFinished.tid;
	ret->context_id = event->cases.kernelFinished.context;
	ret->image_handle = event->cases.kernelFinished.module;
	ret->grid = (struct ws_grid){
		.id = (int64_t)event->cases.kernelFinished.gridId,
		.context_id = event->cases.kernelFinished.context,
		.module_handle = event->cases.kernelFinished.module,
		.function = event->cases.kernelFinished.function,
		.function_entry = event->cases.kernelFinished.functionEntry,
		.host_tid = event->cases.kernelFinished.tid,
		.context_index = WS_NONE,
		.image_index = WS_NONE,
	};
}

static void step_done(const CUDBGEvent *event, struct ws_event *ret)
{
	ret->kind = WS_EVENT_STEP_DONE;
	ret->device_id = event->cases.singleStepComplete.dev;
	ret->sm_id = event->cases.singleStepComplete.sm;
	ret->context_id = event->cases.singleStepComplete.context;
	ret->asked_warps = event->cases.singleStepComplete.originalWarpMask;
	ret->stepped_warps = event->cases.singleStepComplete.finalWarpMask;
	ret->broken_devices = event->cases.singleStepComplete.brokenDevicesMask;
	ret->faulted_devices = event->cases.singleStepComplete.faultedDevicesMask;
	ret->until_pc =
		event->cases.singleStepComplete.type != CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP;
}

/* False for events that a target does not tell. */
static bool event_of(const CUDBGEvent *event, struct ws_event *ret)
{
	memset(ret, 0, sizeof *ret);
	switch (event->kind) {
	case CUDBG_EVENT_CTX_CREATE:
	case CUDBG_EVENT_CTX_DESTROY:
		ret->kind = event->kind == CUDBG_EVENT_CTX_CREATE ? WS_EVENT_CONTEXT_CREATED
								  : WS_EVENT_CONTEXT_DESTROYED;
		ret->device_id = event->cases.contextCreate.dev;
		ret->host_tid = event->cases.contextCreate.tid;
		ret->context_id = event->cases.contextCreate.context;
		return true;
	case CUDBG_EVENT_ELF_IMAGE_LOADED:
	case CUDBG_EVENT_ELF_IMAGE_UNLOADED: /* the same but for the properties */
		ret->kind = event->kind == CUDBG_EVENT_ELF_IMAGE_LOADED ? WS_EVENT_IMAGE_LOADED
									: WS_EVENT_IMAGE_UNLOADED;
		ret->device_id = event->cases.elfImageLoaded.dev;
		ret->context_id = event->cases.elfImageLoaded.context;
		ret->image_handle = event->cases.elfImageLoaded.handle;
		ret->image_bytes = event->cases.elfImageLoaded.size;
		return true;
	case CUDBG_EVENT_FUNCTIONS_LOADED:
		ret->kind = WS_EVENT_FUNCTIONS_LOADED;
		ret->device_id = event->cases.functionsLoaded.dev;
		ret->context_id = event->cases.functionsLoaded.context;
		ret->image_handle = event->cases.functionsLoaded.module;
		ret->n_functions = event->cases.functionsLoaded.count;
		return true;
	case CUDBG_EVENT_KERNEL_READY:
		kernel_ready(event, ret);
		return true;
	case CUDBG_EVENT_KERNEL_FINISHED:
		kernel_finished(event, ret);
		return true;
	case CUDBG_EVENT_ALL_DEVICES_SUSPENDED:
		ret->kind = WS_EVENT_STOPPED;
		ret->broken_devices = event->cases.allDevicesSuspended.brokenDevicesMask;
		ret->faulted_devices = event->cases.allDevicesSuspended.faultedDevicesMask;
		return true;
	case CUDBG_EVENT_SINGLE_STEP_COMPLETE:
		step_done(event, ret);
		return true;
	case CUDBG_EVENT_INTERNAL_ERROR:
		ret->kind = WS_EVENT_FAILED;
		ret->status = WS_IO;
		return true;
	case CUDBG_EVENT_INVALID:
	case CUDBG_EVENT_CTX_PUSH:
	case CUDBG_EVENT_CTX_POP:
	case CUDBG_EVENT_TIMEOUT:
	case CUDBG_EVENT_ATTACH_COMPLETE:
	case CUDBG_EVENT_DETACH_COMPLETE:
	case CUDBG_EVENT_CUDA_LOGS_AVAILABLE:
	case CUDBG_EVENT_CUDA_LOGS_THRESHOLD_REACHED:
	case CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED:
		break;
	}
	return false; /* also for kinds that later versions may add */
}

/* What an event changes in the rows. They are made anew when devices stopped, or a step is done. */
static enum ws_status follow(struct api_target *t, const CUDBGEvent *event,
			     const struct ws_event *told, struct ws_error *err)
{
	if (told->kind == WS_EVENT_STOPPED)
		set_runs(t, WS_NONE, false);
	if (told->kind == WS_EVENT_STOPPED || told->kind == WS_EVENT_STEP_DONE)
		return wsi_api_renew(t, err);
	enum ws_status st = wsi_api_add_event(t, event, err);
	if (t->n.contexts != t->base.counts.contexts || t->n.images != t->base.counts.images)
		ws_target_changed(&t->base, &t->n);
	return st;
}

enum ws_status wsi_api_next_event(struct ws_target *target, struct ws_event *ret_event,
				  struct ws_error *err)
{
	struct api_target *t = target->state;
	enum ws_status st = WS_ABSENT;
	pthread_mutex_lock(&t->lock);
	for (int type = 0; type < 2 && st == WS_ABSENT; type++) {
		CUDBGEvent event;
		struct ws_event told;
		while (st == WS_ABSENT && API_CALL(t, getNextEvent, (CUDBGEventQueueType)type,
						   &event) == CUDBG_SUCCESS) {
			if (!event_of(&event, &told))
				continue;
			told.sync = type == CUDBG_EVENT_QUEUE_TYPE_SYNC;
			st = follow(t, &event, &told, err);
			if (st == WS_OK)
				*ret_event = told;
		}
	}
	pthread_mutex_unlock(&t->lock);
	return st == WS_ABSENT ? wsi_fail(err, st, WS_NO_OFFSET, "no event is pending") : st;
}

enum ws_status wsi_api_acknowledge(struct ws_target *target, struct ws_error *err)
{
	struct api_target *t = target->state;
	pthread_mutex_lock(&t->lock);
	enum ws_status st = API_HAS(t, acknowledgeSyncEvents)
				    ? wsi_api_status(t, t->api->acknowledgeSyncEvents(),
						     "acknowledgeSyncEvents", err)
				    : WS_OK;
	pthread_mutex_unlock(&t->lock);
	return st;
}

/* On a thread of the provider. */
static void notified(CUDBGEventCallbackData *data)
{
	struct api_target *t = data->userData;
	pthread_mutex_lock(&t->wake_lock);
	if (t->wake)
		t->wake(t->wake_data);
	pthread_mutex_unlock(&t->wake_lock);
}

/* Versions before 13.0 pass no data to the callback: with them events are only found by looking. */
void wsi_api_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	struct api_target *t = target->state;
	pthread_mutex_lock(&t->wake_lock);
	bool was = t->wake != NULL;
	t->wake = wake;
	t->wake_data = data;
	pthread_mutex_unlock(&t->wake_lock);
	if (was != (wake != NULL) && API_HAS(t, setNotifyNewEventCallback))
		(void)API_CALL(t, setNotifyNewEventCallback, wake ? notified : NULL,
			       wake ? t : NULL);
}
