/* SPDX-License-Identifier: Apache-2.0 */
/* Events, stepping, breakpoints, alteration. */
#include "conformance.h"

/* ---- events ---- */

void initialize_queues_what_there_is(void **state)
{
	(void)state;
	CUDBGEvent event;
	start_ready(false, CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
		assert_true(event.kind == CUDBG_EVENT_CTX_CREATE &&
			    event.cases.contextCreate.context == 0xc0 &&
			    event.cases.contextCreate.tid == 4711);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
		assert_true(event.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
			    event.cases.elfImageLoaded.size == 40 &&
			    event.cases.elfImageLoaded.handle == 0x100 &&
			    event.cases.elfImageLoaded.properties ==
				    CUDBG_ELF_IMAGE_PROPERTIES_SYSTEM);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
		assert_true(event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
			    event.cases.allDevicesSuspended.brokenDevicesMask == 1 &&
			    event.cases.allDevicesSuspended.faultedDevicesMask == 1);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS); /* grid 3 is of the GPU, 4 not resident */
		assert_true(event.kind == CUDBG_EVENT_KERNEL_READY &&
			    event.cases.kernelReady.gridId == 1);
		assert_int_equal(
			CALL(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER),
			CUDBG_SUCCESS);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_ERROR_NO_EVENT_AVAILABLE);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event),
				 CUDBG_ERROR_NO_EVENT_AVAILABLE);
		assert_int_equal(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS);
		assert_int_equal(CALL0(acknowledgeEvents42), CUDBG_SUCCESS);
		assert_int_equal(CALL(acknowledgeEvent30, NULL), CUDBG_SUCCESS);
		assert_int_equal(CALL0(finalize), CUDBG_SUCCESS);
		assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	}
	assert_int_equal(CALL(getNextEvent, (CUDBGEventQueueType)2, &event),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(setKernelLaunchNotificationMode, (CUDBGKernelLaunchNotifyMode)2),
			 CUDBG_ERROR_INVALID_ARGS);
	stop();
}

void events_in_old_layouts(void **state)
{
	(void)state;
	CUDBGEvent30 e30;
	CUDBGEvent32 e32;
	CUDBGEvent42 e42;
	CUDBGEvent50 e50;
	CUDBGEvent55 e55;
	start_ready(true, 0);
	assert_int_equal(CALL(getNextEvent30, &e30), CUDBG_SUCCESS); /* skips the context */
	assert_true(e30.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		    e30.cases.elfImageLoaded.size == 40 &&
		    e30.cases.elfImageLoaded.relocatedElfImage &&
		    !e30.cases.elfImageLoaded.nonRelocatedElfImage);
	assert_int_equal(CALL(getNextEvent30, &e30), CUDBG_SUCCESS);
	assert_true(e30.kind == CUDBG_EVENT_KERNEL_READY && e30.cases.kernelReady.gridId == 1);
	CALL(getNextEvent30, &e30);
	assert_int_equal(CALL(getNextEvent30, &e30), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	CALL0(finalize);
	CALL0(initialize);
	assert_int_equal(CALL(getNextEvent32, &e32), CUDBG_SUCCESS);
	assert_true(e32.kind == CUDBG_EVENT_CTX_CREATE && e32.cases.contextCreate.context == 0xc0);
	assert_int_equal(CALL(getNextEvent32, &e32), CUDBG_SUCCESS);
	assert_true(e32.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		    e32.cases.elfImageLoaded.module == 0x100);
	assert_int_equal(CALL(getNextEvent42, &e42), CUDBG_SUCCESS);
	assert_true(e42.kind == CUDBG_EVENT_KERNEL_READY && e42.cases.kernelReady.gridDim.z == 6);
	CALL0(finalize);
	CALL0(initialize);
	assert_int_equal(CALL(getNextSyncEvent50, &e50), CUDBG_SUCCESS);
	assert_true(e50.kind == CUDBG_EVENT_CTX_CREATE && e50.cases.contextCreate.tid == 4711);
	assert_int_equal(CALL(getNextSyncEvent50, &e50), CUDBG_SUCCESS);
	assert_int_equal(e50.cases.elfImageLoaded.size, 40);
	assert_int_equal(CALL(getNextSyncEvent55, &e55), CUDBG_SUCCESS);
	assert_true(e55.kind == CUDBG_EVENT_KERNEL_READY && e55.cases.kernelReady.gridId64 == 1 &&
		    e55.cases.kernelReady.origin == CUDBG_KNL_ORIGIN_CPU);
	CALL(getNextSyncEvent55, &e55);
	assert_int_equal(CALL(getNextSyncEvent55, &e55), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(CALL(getNextSyncEvent50, &e50), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(CALL(getNextAsyncEvent50, &e50), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(CALL(getNextAsyncEvent55, &e55), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(CALL(getNextEvent32, &e32), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(CALL(getNextEvent42, &e42), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	struct ws_event finished = { .kind = WS_EVENT_GRID_FINISHED,
				     .grid = { .id = 0x700000005 } };
	fake_event(&fake, &finished);
	assert_int_equal(CALL(getNextAsyncEvent50, &e50), CUDBG_SUCCESS);
	assert_true(e50.kind == CUDBG_EVENT_KERNEL_FINISHED &&
		    e50.cases.kernelFinished.gridId == 5);
	fake_event(&fake, &finished);
	assert_int_equal(CALL(getNextAsyncEvent55, &e55), CUDBG_SUCCESS);
	assert_int_equal(e55.cases.kernelFinished.gridId64, 0x700000005);
	struct ws_event failed = { .kind = WS_EVENT_FAILED, .sync = true };
	fake_event(&fake, &failed);
	assert_int_equal(CALL(getNextSyncEvent50, &e50), CUDBG_SUCCESS);
	assert_true(e50.kind == CUDBG_EVENT_INTERNAL_ERROR &&
		    e50.cases.internalError.errorType == CUDBG_ERROR_INTERNAL);
	assert_int_equal(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS);
	assert_int_equal(fake.n_waiting, 0);
	stop();
}

void events_of_a_running_target(void **state)
{
	(void)state;
	CUDBGEvent event;
	start_ready(true, CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				  CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING |
				  CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	static const struct {
		enum ws_event_kind from;
		CUDBGEventKind to;
	} kinds[] = {
		{ WS_EVENT_CONTEXT_DESTROYED, CUDBG_EVENT_CTX_DESTROY },
		{ WS_EVENT_MODULE_LOADED, CUDBG_EVENT_ELF_IMAGE_LOADED },
		{ WS_EVENT_MODULE_UNLOADED, CUDBG_EVENT_ELF_IMAGE_UNLOADED },
		{ WS_EVENT_FUNCTIONS_LOADED, CUDBG_EVENT_FUNCTIONS_LOADED },
		{ WS_EVENT_GRID_READY, CUDBG_EVENT_KERNEL_READY },
		{ WS_EVENT_STOPPED, CUDBG_EVENT_ALL_DEVICES_SUSPENDED },
		{ WS_EVENT_STEP_DONE, CUDBG_EVENT_SINGLE_STEP_COMPLETE },
		{ WS_EVENT_CONTEXT_PUSHED, CUDBG_EVENT_CTX_PUSH },
		{ WS_EVENT_CONTEXT_POPPED, CUDBG_EVENT_CTX_POP },
		{ WS_EVENT_ATTACHED, CUDBG_EVENT_ATTACH_COMPLETE },
		{ WS_EVENT_DETACHED, CUDBG_EVENT_DETACH_COMPLETE },
		{ WS_EVENT_LOGS_AVAILABLE, CUDBG_EVENT_CUDA_LOGS_AVAILABLE },
		{ WS_EVENT_LOGS_THRESHOLD, CUDBG_EVENT_CUDA_LOGS_THRESHOLD_REACHED },
		{ WS_EVENT_LOG_RULES, CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED },
		{ WS_EVENT_FAILED, CUDBG_EVENT_INTERNAL_ERROR },
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct ws_event from = { .kind = kinds[i].from,
					       .sync = true,
					       .context_id = 0xc1,
					       .ruleset = 9,
					       .stepped_warps = 6 };
		fake_event(&fake, &from);
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
		assert_int_equal(event.kind, kinds[i].to);
		if (event.kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE)
			assert_int_equal(event.cases.singleStepComplete.finalWarpMask, 6);
		if (event.kind == CUDBG_EVENT_CTX_PUSH)
			assert_int_equal(event.cases.contextPush.context, 0xc1);
		if (event.kind == CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED)
			assert_int_equal(event.cases.cudaLogsRulesetChanged.rulesetIndex, 9);
	}
	stop();
}

/* Images that came and went while the device runs, until it stands. */
void images_are_known_as_they_are_told(void **state)
{
	(void)state;
	static const char *const text[] = { "first", "second" };
	char bytes[8];
	CUDBGEvent event;
	start_ready(true, 0);
	assert_int_equal(CALL(resumeDevice, 0), CUDBG_SUCCESS);
	for (uint32_t gone = 0; gone < 3; gone++) { /* both, then one of them less each */
		for (uint32_t i = 0; i < 2; i++) {
			struct ws_event one = { .kind = WS_EVENT_MODULE_LOADED,
						.module_handle = 0x700 + i,
						.relocated = { (const uint8_t *)text[i], 5, 0 } };
			if (gone > 0 && i == gone - 1)
				one.kind = WS_EVENT_MODULE_UNLOADED;
			else if (gone > 0)
				continue;
			fake_event(&fake, &one);
			while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event) ==
			       CUDBG_SUCCESS)
				continue;
		}
		for (uint32_t i = 0; i < 2; i++) {
			CUDBGResult result = CALL(getElfImageByHandle, 0, 0x700 + i,
						  CUDBG_ELF_IMAGE_TYPE_RELOCATED, bytes, 5);
			assert_int_equal(result,
					 i < gone ? CUDBG_ERROR_RUNNING_DEVICE : CUDBG_SUCCESS);
			if (i >= gone)
				assert_memory_equal(bytes, text[i], 5);
		}
	}
	stop();
}

/* ---- running ---- */

void stepping(void **state)
{
	(void)state;
	uint64_t mask;
	start_ready(true, 0);
	assert_int_equal(
		CALL(singleStepWarp, 0, 1, 0, 2, 3, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask),
		CUDBG_SUCCESS);
	assert_true(mask == 0x21 && fake.last_step.lane == 2 && fake.last_step.steps == 3 &&
		    fake.last_step.flags == WS_STEP_NO_WAIT);
	assert_int_equal(CALL(singleStepWarp65, 0, 1, 0, 4, &mask), CUDBG_SUCCESS);
	assert_true(fake.last_step.steps == 4 && fake.last_step.flags == WS_STEP_INTO_BARRIERS &&
		    fake.last_step.lane == WS_NONE);
	assert_int_equal(CALL(singleStepWarp41, 0, 1, 0, &mask), CUDBG_SUCCESS);
	assert_int_equal(fake.last_step.steps, 1);
	assert_int_equal(CALL(singleStepWarp40, 0, 1, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(singleStepWarp, 0, 1, 0, UINT32_MAX, 0, 0, &mask),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(singleStepWarp, 0, 1, 0, UINT32_MAX, 1, 8, &mask),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(singleStepWarp, 0, 1, 0, 32, 1, 0, &mask), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(resumeWarpsUntilPC, 0, 1, 0x21, FAKE_CODE, 2), CUDBG_SUCCESS);
	assert_int_equal(fake.until_flags, WS_STEP_NO_WAIT);
	assert_int_equal(CALL(resumeWarpsUntilPC, 0, 1, 0x21, FAKE_CODE, 1),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(resumeWarpsUntilPC, 0, 1, 0, FAKE_CODE, 0),
			 CUDBG_ERROR_INVALID_WARP_MASK);
	assert_int_equal(CALL(resumeWarpsUntilPC, 0, 1, 2, FAKE_CODE, 0),
			 CUDBG_ERROR_INVALID_WARP_MASK);
	assert_int_equal(CALL(resumeWarpsUntilPC, 0, 1, 1, 5, 0), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(resumeWarpsUntilPC60, 0, 1, 1, FAKE_CODE), CUDBG_SUCCESS);
	assert_int_equal(CALL(resumeWarpsUntilPC60, 0, 1, 1, 5), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(resumeWarpsUntilPC60, 0, 1, 2, FAKE_CODE),
			 CUDBG_ERROR_INVALID_WARP_MASK);
	stop();
}

void breakpoints(void **state)
{
	(void)state;
	CUDBGBreakpointHandle a, b, hit;
	uint32_t enabled;
	start_ready(true, 0);
	assert_int_equal(CALL(insertBreakpoint, 0, FAKE_CODE, &a), CUDBG_SUCCESS);
	assert_int_equal(a, 1);
	assert_int_equal(CALL(insertBreakpoint, 0, FAKE_CODE, &b),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(CALL(insertBreakpoint, 0, 5, &b), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(insertBreakpoint, 0, FAKE_CODE + 32, &b), CUDBG_SUCCESS);
	assert_int_equal(CALL(setBreakpoint, 0, FAKE_CODE), CUDBG_SUCCESS); /* beside a handle */
	assert_int_equal(CALL(setBreakpoint, 0, FAKE_CODE), CUDBG_SUCCESS);
	assert_int_equal(CALL(setBreakpoint, 0, 5), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(fake.n_planted, 2);
	assert_int_equal(CALL(isBreakpointEnabled, a, &enabled), CUDBG_SUCCESS);
	assert_int_equal(enabled, 1);
	assert_int_equal(CALL(enableBreakpoint, a), CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(CALL(disableBreakpoint, a), CUDBG_SUCCESS);
	assert_int_equal(CALL(disableBreakpoint, a), CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(fake.n_planted, 2); /* the one without a handle is still there */
	assert_int_equal(CALL(unsetBreakpoint, 0, FAKE_CODE), CUDBG_SUCCESS);
	assert_int_equal(CALL(unsetBreakpoint, 0, FAKE_CODE), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(fake.n_planted, 1);
	fake.fail_op = FAKE_PLANT;
	fake.fail_status = WS_RUNNING;
	assert_int_equal(CALL(enableBreakpoint, a), CUDBG_ERROR_RUNNING_DEVICE);
	fake.fail_op = FAKE_NOTHING;
	assert_int_equal(CALL(enableBreakpoint, a), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_true(hit == CUDBG_BREAKPOINT_HANDLE_TRAP); /* it stopped before that was there */
	assert_int_equal(CALL(removeBreakpoint, b), CUDBG_SUCCESS);
	assert_int_equal(CALL(removeBreakpoint, b), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 5, &hit), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(setBreakpoint31, FAKE_CODE), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(unsetBreakpoint31, FAKE_CODE), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH),
			 CUDBG_SUCCESS);
	assert_true(fake.at_launch);
	assert_int_equal(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(
		CALL(isBreakpointEnabled, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH, &enabled),
		CUDBG_SUCCESS);
	assert_int_equal(enabled, 1);
	assert_int_equal(CALL(removeBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(removeBreakpoint, CUDBG_BREAKPOINT_HANDLE_TRAP),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_ALL_USER_BREAKPOINTS),
			 CUDBG_SUCCESS);
	assert_int_equal(fake.n_planted, 0);
	assert_int_equal(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_ALL_USER_BREAKPOINTS),
			 CUDBG_SUCCESS);
	assert_int_equal(CALL(removeBreakpoint, CUDBG_BREAKPOINT_HANDLE_ALL_USER_BREAKPOINTS),
			 CUDBG_SUCCESS);
	assert_int_equal(fake.n_planted, 0);
	CALL(insertBreakpoint, 0, FAKE_CODE, &a);
	CALL0(finalize);
	assert_true(fake.n_planted == 0 && !fake.at_launch);
	stop();
}

/* What stopped a warp is told of the moment when it did. */
void causes_of_stops_stay(void **state)
{
	(void)state;
	static const struct {
		enum ws_stop stop;
		CUDBGBreakpointHandle handle;
	} others[] = { { WS_STOP_LAUNCH, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH },
		       { WS_STOP_INTERNAL, CUDBG_BREAKPOINT_HANDLE_INTERNAL },
		       { WS_STOP_TRAP, CUDBG_BREAKPOINT_HANDLE_TRAP } };
	CUDBGBreakpointHandle a, hit;
	uint64_t mask;
	start_ready(true, 0);
	assert_int_equal(CALL(insertBreakpoint, 0, FAKE_CODE + 32, &a), CUDBG_SUCCESS);
	fake.warp[0].stop = WS_STOP_PLANTED;
	assert_int_equal(CALL(singleStepWarp40, 0, 1, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_int_equal(hit, a);
	assert_int_equal(CALL(disableBreakpoint, a), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_int_equal(hit, a);
	assert_int_equal(CALL(removeBreakpoint, a), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_int_equal(hit, a);
	assert_int_equal(CALL(setBreakpoint, 0, FAKE_CODE + 32), CUDBG_SUCCESS);
	assert_int_equal(CALL(singleStepWarp41, 0, 1, 0, &mask), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_true(hit == CUDBG_BREAKPOINT_HANDLE_LEGACY);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		fake.warp[0].stop = others[i].stop; /* with one planted at the very place */
		assert_int_equal(CALL(singleStepWarp41, 0, 1, 0, &mask), CUDBG_SUCCESS);
		assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
		assert_true(hit == others[i].handle);
	}
	fake.warp[0].have &= ~(uint32_t)WS_WARP_STOP; /* not told: then the place counts */
	assert_int_equal(CALL(singleStepWarp41, 0, 1, 0, &mask), CUDBG_SUCCESS);
	assert_int_equal(CALL(getWarpHitBreakpoint, 0, 1, 0, &hit), CUDBG_SUCCESS);
	assert_true(hit == CUDBG_BREAKPOINT_HANDLE_LEGACY);
	stop();
}

/* A host thread waits until its own event was read and acknowledged. */
void acknowledged_is_what_was_read(void **state)
{
	(void)state;
	const struct ws_event created = { .kind = WS_EVENT_CONTEXT_CREATED, .sync = true };
	CUDBGEvent event;
	start_ready(true, 0);
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	fake_event(&fake, &created);
	fake_event(&fake, &created);
	fake_event(&fake, &created);
	assert_int_equal(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS);
	assert_int_equal(fake.n_waiting, 3);
	for (size_t left = 3; left-- > 0;) {
		assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
		assert_int_equal(fake.n_events, 0); /* all were pulled */
		assert_int_equal(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS);
		assert_int_equal(fake.n_waiting, left);
	}
	fake_event(&fake, &created);
	assert_int_equal(CALL0(finalize), CUDBG_SUCCESS);
	assert_int_equal(fake.n_waiting, 0); /* nobody is left to read it */
	stop();
}

/* All but the printed text, which nobody flushes; of what does not run, the first four. */
void a_target_has_its_capabilities(void **state)
{
	CUDBGCapabilityFlags flags;
	(void)state;
	start_ready(true, 0);
	assert_int_equal(CALL(getSupportedDebuggerCapabilities, &flags), CUDBG_SUCCESS);
	assert_int_equal(flags, 0xff & ~CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND);
	stop();
	start_ready(false, 0);
	assert_int_equal(CALL(getSupportedDebuggerCapabilities, &flags), CUDBG_SUCCESS);
	assert_int_equal(flags, 0x0f);
	stop();
}

/* What the client asked for reaches the target. */
void the_target_knows_what_is_wanted(void **state)
{
	(void)state;
	start_ready(true, CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				  CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND);
	assert_int_equal(fake.wants, WS_WANT_STOPS | WS_WANT_PRINTF | WS_WANT_CONTEXT_SWITCHES |
					     WS_WANT_LAUNCHES);
	const struct ws_event ready = { .kind = WS_EVENT_GRID_READY, .sync = true };
	fake_event(&fake, &ready);
	assert_int_equal(fake.n_waiting, 1);
	assert_int_equal(CALL(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER),
			 CUDBG_SUCCESS);
	assert_int_equal(fake.n_waiting, 0); /* a launch that is not told does not wait */
	assert_false(fake.wants & WS_WANT_LAUNCHES);
	uint32_t wants = fake.wants, n;
	static const uint32_t asked[] = { UINT32_MAX, 0 };
	for (unsigned i = 0; i < 2; i++) { /* only two capabilities may change now */
		cudbgDebuggerCapabilities = asked[i];
		assert_int_equal(CALL(getNumDevices, &n), CUDBG_SUCCESS);
		assert_int_equal(fake.wants,
				 wants | (i ? 0 : WS_WANT_LOGS | WS_WANT_LAUNCH_STACKS));
	}
	assert_int_equal(CALL0(finalize), CUDBG_SUCCESS);
	assert_int_equal(fake.wants, 0);
	cudbgEnableLaunchBlocking = 1;
	cudbgDebuggerCapabilities = UINT32_MAX;
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	cudbgEnableLaunchBlocking = 0;
	assert_int_equal(fake.wants, WS_WANT_LAUNCHES | WS_WANT_BLOCKING_LAUNCHES |
					     WS_WANT_FUNCTIONS | WS_WANT_STOPS |
					     WS_WANT_LEFT_EXCEPTIONS | WS_WANT_LOGS |
					     WS_WANT_LAUNCH_STACKS | WS_WANT_PRINTF);
	stop();
}

static bool no_memory(void)
{
	return true;
}

void events_wait_for_memory(void **state)
{
	(void)state;
	const struct ws_event finished = { .kind = WS_EVENT_GRID_FINISHED };
	CUDBGEvent event;
	start_ready(true, 0);
	fake_event(&fake, &finished);
	wsi_alloc_should_fail = no_memory;
	CUDBGResult result = CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event);
	wsi_alloc_should_fail = NULL;
	assert_int_equal(result, CUDBG_ERROR_INTERNAL);
	assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event), CUDBG_SUCCESS);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_FINISHED);
	stop();
}

void alteration(void **state)
{
	(void)state;
	uint32_t value, ones[9] = { 1, 1, 2 };
	uint8_t bytes[4] = { 9, 9, 9, 9 }, back[4];
	start_ready(true, 0);
	assert_int_equal(CALL(writeRegister, 0, 1, 0, 0, 3, 7), CUDBG_SUCCESS);
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, 3, &value), CUDBG_SUCCESS);
	assert_int_equal(value, 7);
	assert_int_equal(CALL(writeRegister, 0, 1, 0, 0, 255, 7), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(writeRegister, 0, 1, 0, 0, 16, 7), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(writePredicates, 0, 1, 0, 0, 2, ones), CUDBG_SUCCESS);
	assert_int_equal(CALL(writePredicates, 0, 1, 0, 0, 3, ones), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(writePredicates, 0, 1, 0, 0, 8, ones), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(writeUniformPredicates, 0, 1, 0, 2, ones), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeUniformPredicates, 0, 1, 0, 3, ones), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(writeUniformRegister, 0, 1, 0, 3, 7), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeUniformRegister, 0, 1, 0, 63, 7), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(writeUniformRegister, 0, 1, 0, 9, 7), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(writeCCRegister, 0, 1, 0, 0, 7), CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(writeSharedMemory, 0, 1, 0, 8, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(readSharedMemory, 0, 1, 0, 8, back, 4), CUDBG_SUCCESS);
	assert_memory_equal(bytes, back, 4);
	assert_int_equal(CALL(writeSharedMemory, 0, 1, 0, 62, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeLocalMemory, 0, 1, 0, 0, 0x1000, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeLocalMemory, 0, 1, 0, 0, 0x2000, bytes, 4),
			 CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(writeParamMemory, 0, 1, 0, 0x210, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeGlobalMemory, FAKE_GLOBAL, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeGlobalMemory, FAKE_GLOBAL + 254, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeGenericMemory, 0, 0, 0, 0, FAKE_GLOBAL + 254, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeGlobalMemory55, 0, 0, 0, 0, FAKE_GLOBAL + 254, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeGlobalMemory31, 0, FAKE_GLOBAL + 254, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeGlobalMemory, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(writeGenericMemory, 0, 1, 0, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_SUCCESS);
	assert_int_equal(CALL(writeGenericMemory, 0, 1, 1, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(writeGenericMemory, 0, 0, 0, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(writeGlobalMemory55, 0, 1, 0, 0, FAKE_GLOBAL, bytes, 4),
			 CUDBG_SUCCESS);
	assert_int_equal(CALL(writeGlobalMemory55, 0, 1, 1, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(writeGlobalMemory55, 0, 0, 0, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(writeGlobalMemory31, 0, FAKE_GLOBAL, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(writeGlobalMemory31, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(writeGlobalMemory31, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(writeGlobalMemory31, 2, FAKE_GLOBAL, bytes, 4), /* from Hopper on */
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(writePinnedMemory, FAKE_HOST_ADDRESS + 60, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(writePinnedMemory, FAKE_HOST_ADDRESS + 62, bytes, 4),
			 CUDBG_ERROR_MEMORY_MAPPING_FAILED);
	assert_int_equal(CALL(readPinnedMemory, FAKE_HOST_ADDRESS + 60, back, 4), CUDBG_SUCCESS);
	assert_memory_equal(bytes, back, 4);
	assert_int_equal(CALL(readPinnedMemory, FAKE_HOST_ADDRESS + 62, back, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readPinnedMemory, 0x1000, back, 4),
			 CUDBG_ERROR_MEMORY_MAPPING_FAILED);
	uint64_t host;
	assert_int_equal(CALL(getHostAddrFromDeviceAddr, 0, FAKE_GLOBAL + 8, &host), CUDBG_SUCCESS);
	assert_true(host == FAKE_HOST_ADDRESS + 8);
	assert_int_equal(CALL(getHostAddrFromDeviceAddr, 0, FAKE_MANAGED + 8, &host),
			 CUDBG_SUCCESS);
	assert_true(host == FAKE_MANAGED + 8);
	fake.fail_op = FAKE_READ;
	fake.fail_status = WS_ARGUMENT; /* other memory on each device */
	assert_int_equal(CALL(readGlobalMemory, FAKE_GLOBAL, back, 4),
			 CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS);
	fake.fail_op = FAKE_NOTHING;
	assert_int_equal(CALL(requestCleanupOnDetach, 1), CUDBG_SUCCESS);
	assert_int_equal(fake.detached, 1);
	assert_int_equal(CALL0(requestCleanupOnDetach55), CUDBG_SUCCESS);
	assert_int_equal(fake.detached, 0);
	stop();
	start_ready(false, 0);
	assert_int_equal(CALL(writePinnedMemory, 0x1000, bytes, 4), CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(requestCleanupOnDetach, 1), CUDBG_SUCCESS);
	stop();
}

/* What a dump cannot do is answered by one code, through the same code as on a running target. */
void a_target_that_cannot_run_says_so(void **state)
{
	(void)state;
	start_ready(false, 0);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		bool alters =
			!strncmp(fn->name, "write", 5) || !strncmp(fn->name, "single", 6) ||
			!strncmp(fn->name, "resume", 6) ||
			(strstr(fn->name, "Breakpoint") && slot != SLOT(getWarpHitBreakpoint));
		if (alters)
			assert_int_equal(run_good(slot), CUDBG_ERROR_NOT_SUPPORTED);
	}
	assert_int_equal(CALL(suspendDevice, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	stop();
}

/* ---- the host's side ---- */

void the_log_of_the_driver(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 records[4];
	CUDBGCudaLogMessage old[4];
	CUDBGCudaLogRule rules[2] = { { 0, 0, UINT64_MAX, NULL }, { 2, 1, 77, "out.*" } };
	struct ws_log said;
	uint32_t n = 9, set = 0;
	start_ready(true, 0);
	assert_int_equal(CALL(consumeCudaLogs134, records, 4, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(n, 9);
	fake.n_logs = 7;
	assert_int_equal(CALL(consumeCudaLogs134, records, 3, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 3);
	fake_log(2, &said);
	assert_true(records[2].unixTimestampNs == said.time_ns &&
		    records[2].osThreadId == said.host_tid && records[2].logLevel == said.level &&
		    records[2].matchedRulesetIndex == 7 && records[2].matchedRuleIndex == 2);
	assert_string_equal(records[2].message, said.text);
	assert_int_equal(CALL(consumeCudaLogs, old, 2, &n), CUDBG_SUCCESS);
	fake_log(4, &said);
	assert_true(n == 2 && old[1].unixTimestampNs == said.time_ns && old[1].osThreadId == 4 &&
		    old[1].logLevel == said.level);
	assert_string_equal(old[1].message, said.text);
	assert_int_equal(CALL(consumeCudaLogs, old, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 0);
	assert_int_equal(CALL(consumeCudaLogs, old, 4, &n), CUDBG_SUCCESS);
	assert_true(n == 2 && old[1].message[0] == 'a' + 6);
	assert_int_equal(CALL(consumeCudaLogs, old, 4, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);

	assert_int_equal(CALL(setCudaLogRules, rules, 2, &set), CUDBG_SUCCESS);
	assert_true(set == 1 && fake.n_rules == 2 && fake.rules[1].action == 2 &&
		    fake.rules[1].level == 1 && fake.rules[1].host_tid == 77 &&
		    fake.rules[1].regex && !fake.rules[0].regex);
	assert_int_equal(CALL(setCudaLogRules, rules, 0, &set), CUDBG_SUCCESS);
	assert_true(set == 2 && fake.n_rules == 0);
	rules[0].action = (CUDBGCudaLogRuleAction)9;
	assert_int_equal(CALL(setCudaLogRules, rules, 1, &set), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(set, 2);
	stop();
}

void who_launched_a_grid(void **state)
{
	(void)state;
	uint64_t addresses[4] = { 0 };
	uint32_t n = 0;
	start_ready(true, 0);
	assert_int_equal(CALL(readCPUCallStack, 0, 1, addresses, 2, &n), CUDBG_SUCCESS);
	assert_true(n == 3 && addresses[0] == 0x5500001000u && addresses[1] == 0x5500001001u &&
		    addresses[2] == 0);
	assert_int_equal(CALL(readCPUCallStack, 0, 1, NULL, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 3);
	assert_int_equal(CALL(readCPUCallStack, 0, 1, NULL, 2, &n), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readCPUCallStack, 0, 3, addresses, 2, &n), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readCPUCallStack, 0, 99, addresses, 2, &n), CUDBG_ERROR_INVALID_GRID);
	stop();
}
