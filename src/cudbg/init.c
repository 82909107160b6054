/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a session, attach and detach. */
#include "cudbg-functions.h"

/* Opens or finds the target of cudbgGetAPI()'s table. */
static enum ws_status find_api_target(struct wsi_cudbg *s, struct ws_error *err)
{
	if (s->number != 0)
		return WS_OK;
	struct ws_target *target = NULL;
	enum ws_status st = wsi_cudbg_open_core(&target, err);
	if (st == WS_OK && target != s->target) {
		/* The dump of an earlier session stays open until another one takes its place:
		 * calls that other threads are in the middle of may still read it. */
		wsi_cudbg_drop_stock(s);
		ws_target_close(s->target);
		s->target = target;
	}
	return st;
}

static CUDBGResult start_session(struct wsi_cudbg *s)
{
	struct ws_error err = { .status = WS_OK };
	if (find_api_target(s, &err) != WS_OK)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INITIALIZATION_FAILURE, "%s", err.message);
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	if (!counts.devices)
		return wsi_cudbg_fail(s, CUDBG_ERROR_NO_DEVICE_AVAILABLE,
				      "the target has no device");
	bool can_run = ws_target_can(s->target, WS_CAN_RUN);
	atomic_store(&s->capabilities,
		     __atomic_load_n(&cudbgDebuggerCapabilities, __ATOMIC_RELAXED));
	s->launch_mode = CUDBG_KNL_LAUNCH_NOTIFY_EVENT;
	s->next_handle = 1;
	s->detaches = false;
	s->read_sync = 0;
	enum ws_status st = wsi_cudbg_want(s, &err); /* may load functions */
	if (st == WS_OK && (!s->stock || can_run))
		st = wsi_cudbg_take_stock(s, &err);
	for (uint32_t i = 0; st == WS_OK && i < s->stock->n_devices; i++)
		atomic_store(&s->stock->device[i].told, 0);
	if (st == WS_OK)
		st = wsi_cudbg_start_events(s, &err);
	if (st != WS_OK)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INITIALIZATION_FAILURE, "%s", err.message);
	/* First of all, as a callback may begin with a call. */
	atomic_store(&s->mode, WSI_MODE_READY | (can_run ? WSI_MODE_LOCKS : 0u));
	if (!wsi_cudbg_start_telling(s)) {
		atomic_fetch_and(&s->mode, ~(uint32_t)WSI_MODE_READY);
		return wsi_cudbg_fail(s, CUDBG_ERROR_INITIALIZATION_FAILURE,
				      "the callback thread could not start");
	}
	if (s->number == 0)
		cudbgDebuggerInitialized = 1;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_initialize(struct wsi_cudbg *s)
{
	pthread_mutex_lock(&s->lock);
	CUDBGResult result = CUDBG_SUCCESS;
	if (!(atomic_load(&s->mode) & WSI_MODE_READY))
		result = start_session(s);
	pthread_mutex_unlock(&s->lock);
	return result;
}

/*
 * The stock stays for a target that cannot run: it holds no state of the session, and calls of
 * other threads may be in the middle of it. WSI_MODE_LOCKS stays for the lock that the entry holds.
 */
CUDBGResult wsi_cudbg_finalize(struct wsi_cudbg *s)
{
	uint32_t mode = atomic_fetch_and(&s->mode, ~(uint32_t)WSI_MODE_READY);
	if (!(mode & WSI_MODE_READY))
		return wsi_cudbg_fail(s, CUDBG_ERROR_UNINITIALIZED, "another thread was faster");
	wsi_cudbg_stop_events(s);
	wsi_cudbg_let_go(s);
	wsi_cudbg_drop_breakpoints(s);
	if (s->number == 0)
		cudbgDebuggerInitialized = 0;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getSupportedDebuggerCapabilities(struct wsi_cudbg *s,
						       CUDBGCapabilityFlags *capabilities)
{
	unsigned flags = CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING |
			 CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
			 CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
			 CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS;
	static const struct {
		enum ws_ability ability;
		unsigned flag;
	} of[] = {
		{ WS_CAN_STOP_AT_LAUNCH, CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH },
		{ WS_CAN_LOG, CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS },
		{ WS_CAN_KEEP_STACKS,
		  CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES },
		{ WS_CAN_FLUSH, CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND },
	};
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; s->target && i < WSI_COUNT(of); i++)
		flags |= ws_target_can(s->target, of[i].ability) ? of[i].flag : 0;
	pthread_mutex_unlock(&s->lock);
	*capabilities = (CUDBGCapabilityFlags)flags;
	return CUDBG_SUCCESS;
}

/* cuda-gdb lets the device run once more before it takes its breakpoints out, and ends the program
 * with a signal if a warp comes to one. [measured: cuda-gdb 12.4] */
CUDBGResult wsi_cudbg_clearAttachState(struct wsi_cudbg *s)
{
	wsi_cudbg_leave_breakpoints(s);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_initializeAttachStub(struct wsi_cudbg *s)
{
	(void)s;
	return CUDBG_SUCCESS;
}

/* A target without a host has nothing to clean up. */
CUDBGResult wsi_cudbg_requestCleanupOnDetach(struct wsi_cudbg *s, uint32_t appResumeFlag)
{
	struct ws_error err;
	enum ws_status st = ws_target_detach(s->target, appResumeFlag != 0, &err);
	return st == WS_OK || st == WS_UNSUPPORTED
		       ? CUDBG_SUCCESS
		       : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "%s", err.message);
}
