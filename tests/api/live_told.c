/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: what events say, who waits for them, who is called, and
 * which records the log keeps. */
#include "live.h"

#include <stdatomic.h>
#include <time.h>

/* ---- events ---- */

static uint64_t host_does(enum ws_status (*what)(void))
{
	uint64_t event = 0;
	bool stands = !ws_target_running(device.target, 0);
	ws_sim_host_begin(device.target, stands);
	assert_int_equal(what(), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, stands, &event, NULL), WS_OK);
	return event;
}

static const uint64_t *args_of_calls(void)
{
	static uint64_t args[1];
	args[0] = device.out;
	return args;
}

static enum ws_status launch_big(void)
{
	const struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "calls",
		.grid = { 2, 3, 4 },
		.block = { 8, 2, 3 },
		.args = (const void *const[]){ args_of_calls() },
		.n_args = 1,
		.host_tid = 4321,
		.is_system = true,
	};
	return ws_sim_launch(device.sim, &launch, NULL);
}

static void the_events_of_a_kernel_describe_it(void **state)
{
	(void)state;
	CUDBGGridInfo info;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	GOOD0(resumeAllDevices);
	(void)host_does(launch_big);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_READY);
	GOOD(suspendAllDevices, 0);
	const uint64_t where = entry();
	GOOD0(resumeAllDevices);
	GOOD(getGridInfo, DEV, 1, &info);
	assert_true(info.tid == 4321 && info.context == 1 && info.module == 1 &&
		    info.function != 0 && info.functionEntry == where);
#define SAME(member)                                                                   \
	assert_true(event.cases.member.dev == DEV && event.cases.member.gridId == 1 && \
		    event.cases.member.tid == info.tid &&                              \
		    event.cases.member.context == info.context &&                      \
		    event.cases.member.module == info.module &&                        \
		    event.cases.member.function == info.function &&                    \
		    event.cases.member.functionEntry == info.functionEntry)
	SAME(kernelReady);
	const CuDim3 grid = event.cases.kernelReady.gridDim,
		     block = event.cases.kernelReady.blockDim;
	assert_true(grid.x == 2 && grid.y == 3 && grid.z == 4);
	assert_true(block.x == 8 && block.y == 2 && block.z == 3);
	assert_true(event.cases.kernelReady.type == CUDBG_KNL_TYPE_SYSTEM &&
		    event.cases.kernelReady.origin == CUDBG_KNL_ORIGIN_CPU &&
		    event.cases.kernelReady.parentGridId == 0);
	GOOD0(acknowledgeSyncEvents);
	event = await(CUDBG_EVENT_QUEUE_TYPE_ASYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_FINISHED);
	SAME(kernelFinished);
#undef SAME
}

static void functions_that_are_loaded_are_counted(void **state)
{
	(void)state;
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = 4, .lazy = true };
	CUDBGLoadedFunctionInfo infos[8];
	bool found = false;
	device_make(&device, &options, kernels);
	begin(CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING);
	GOOD0(resumeAllDevices);
	uint64_t waited = device_launch_later(&device, "calls", 1, 32, args_of_calls(), 1);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_FUNCTIONS_LOADED &&
		    event.cases.functionsLoaded.dev == DEV &&
		    event.cases.functionsLoaded.context == 1 &&
		    event.cases.functionsLoaded.module == 1);
	const uint32_t n = event.cases.functionsLoaded.count;
	assert_in_range(n, 1, 8);
	assert_true(ws_sim_host_held(device.target, waited));
	GOOD(suspendAllDevices, 0);
	GOOD(getLoadedFunctionInfo, DEV, 1, infos, 0, n);
	for (uint32_t i = 0; i < n; i++)
		found = found || infos[i].address == entry();
	assert_true(found);
	GOOD0(resumeAllDevices);
	expect_nothing(); /* the launch waits until that is acknowledged */
	GOOD0(acknowledgeSyncEvents);
	expect_end();
}

/* "SYNC events that haven't been read are not acknowledged and will continue to prevent their
 * corresponding processes from proceeding." */
static void what_was_not_read_is_not_acknowledged(void **state)
{
	(void)state;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	GOOD0(resumeAllDevices);
	const uint64_t waited[] = {
		device_launch_later(&device, "calls", 1, 32, args_of_calls(), 1),
		device_launch_later(&device, "calls", 1, 32, args_of_calls(), 1),
	};
	for (uint64_t i = 0; i < 2; i++) {
		GOOD0(acknowledgeSyncEvents);
		assert_true(ws_sim_host_held(device.target, waited[i]));
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(event.kind == CUDBG_EVENT_KERNEL_READY &&
			    event.cases.kernelReady.gridId == i + 1);
		GOOD0(acknowledgeSyncEvents);
		assert_false(ws_sim_host_held(device.target, waited[i]));
		event = await(CUDBG_EVENT_QUEUE_TYPE_ASYNC);
		assert_true(event.kind == CUDBG_EVENT_KERNEL_FINISHED &&
			    event.cases.kernelFinished.gridId == i + 1);
	}
}

static enum ws_status lose_context(void)
{
	return ws_sim_host_context(device.target, false, 77, NULL);
}

static enum ws_status make_context(void)
{
	return ws_sim_host_context(device.target, true, 77, NULL);
}

static enum ws_status load_more(void)
{
	struct ws_span image;
	enum ws_status st = ws_sim_module_image(device.sim, 0, &image, NULL);
	return st == WS_OK ? ws_sim_load(device.sim, image, NULL, NULL) : st;
}

/* As many as the threshold, less the one that told of them. */
static enum ws_status log_many(void)
{
	for (int i = 0; i < 64; i++)
		if (ws_sim_log(device.sim, WS_SIM_LOG_WARNING, 5, "many", NULL) != WS_OK)
			return WS_NO_MEMORY;
	return WS_OK;
}

/* "(Sync)", "resumes any process that was interrupted by the synchronous event (e.g. a context
 * creation, a module load, etc.)" */
static void who_causes_a_sync_event_waits(void **state)
{
	(void)state;
	static const struct {
		enum ws_status (*what)(void);
		CUDBGEventKind kind;
	} of[] = {
		{ lose_context, CUDBG_EVENT_CTX_DESTROY },
		{ make_context, CUDBG_EVENT_CTX_CREATE },
		{ load_more, CUDBG_EVENT_ELF_IMAGE_LOADED },
		{ log_many, CUDBG_EVENT_CUDA_LOGS_THRESHOLD_REACHED },
	};
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	GOOD0(resumeAllDevices);
	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		uint64_t waited = host_does(of[i].what);
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_int_equal(event.kind, of[i].kind);
		assert_true(ws_sim_host_held(device.target, waited));
		if (i < 2)
			assert_true(event.cases.contextCreate.dev == DEV &&
				    event.cases.contextCreate.tid == 77 &&
				    event.cases.contextCreate.context == 1);
		if (i == 2)
			assert_true(event.cases.elfImageLoaded.context == 1 &&
				    event.cases.elfImageLoaded.module == 2 &&
				    event.cases.elfImageLoaded.handle == 2);
		GOOD0(acknowledgeSyncEvents);
		assert_false(ws_sim_host_held(device.target, waited));
	}
}

/* What the host's next device has is told as new, and what the old one had is gone. */
static void a_reset_takes_grids_and_images_with_it(void **state)
{
	(void)state;
	CUDBGGridStatus status = CUDBG_GRID_STATUS_PENDING;
	struct device fresh;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD0(resumeAllDevices);
	expect_end();
	GOOD(suspendAllDevices, 0);
	device_open(&fresh, kernels, 4);
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_host_replace(device.target, fresh.sim, NULL), WS_OK);
	assert_int_equal(ws_sim_host_context(device.target, true, 77, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ELF_IMAGE_UNLOADED &&
		    event.cases.elfImageUnloaded.module == 1 &&
		    event.cases.elfImageUnloaded.handle == 1 &&
		    event.cases.elfImageUnloaded.context == 1 &&
		    event.cases.elfImageUnloaded.size > 0);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CTX_DESTROY);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CTX_CREATE);
	event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		    event.cases.elfImageLoaded.handle == 2);
	GOOD0(acknowledgeSyncEvents);
	GOOD(getGridStatus, DEV, 1, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_INVALID);
	ws_sim_destroy(device.sim);
	device.sim = fresh.sim;
	(void)device_launch_later(&device, "calls", 1, 32, &fresh.out, 1);
	GOOD0(resumeAllDevices);
	expect_end();
}

/* ---- callbacks ---- */

static atomic_uint told_tid;

static void note_tid(CUDBGEventCallbackData *data)
{
	atomic_store((atomic_uint *)data->userData, data->tid);
}

static void note_tid40(CUDBGEventCallbackData40 *data)
{
	atomic_store(&told_tid, data->tid);
}

static void note_tid41(CUDBGEventCallbackData41 *data)
{
	atomic_store(&told_tid, data->tid);
}

/* "Host thread id of the context generating the event." */
static void a_callback_is_told_the_host_thread(void **state)
{
	(void)state;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	GOOD0(resumeAllDevices);
	for (int form = 0; form < 3; form++) {
		if (form == 0)
			GOOD(setNotifyNewEventCallback, note_tid, &told_tid);
		else if (form == 1)
			GOOD(setNotifyNewEventCallback40, note_tid40);
		else
			GOOD(setNotifyNewEventCallback41, note_tid41);
		atomic_store(&told_tid, 0);
		(void)host_does(launch_big);
		for (int i = 0; i < 50000 && atomic_load(&told_tid) == 0; i++)
			doze();
		assert_int_equal(atomic_load(&told_tid), 4321);
		expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_KERNEL_READY);
		expect_end();
	}
}

/* ---- the log ---- */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void a_record_says_when_and_who(void **state)
{
	(void)state;
	CUDBGCudaLogMessage old;
	CUDBGCudaLogMessage134 records[4];
	struct ws_sim_launch launch = host_launch;
	uint32_t n;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	uint64_t before = now_ns();
	log_of(31, "one");
	log_of(32, "two");
	launch.kernel = "no_such_kernel";
	ws_sim_host_begin(device.target, true);
	assert_int_not_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	GOOD(consumeCudaLogs, &old, 1, &n);
	assert_true(n == 1 && old.osThreadId == 31 && old.unixTimestampNs >= before &&
		    old.unixTimestampNs <= now_ns());
	GOOD(consumeCudaLogs134, records, 4, &n);
	assert_true(n == 2 && records[0].osThreadId == 32 &&
		    records[0].unixTimestampNs >= old.unixTimestampNs);
	assert_int_equal(records[1].osThreadId, host_launch.host_tid);
}

static void rules_choose_by_level_and_thread(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 records[9];
	const CUDBGCudaLogRule rules[] = {
		{ CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE, CUDBG_CUDA_LOG_LEVEL_FILTER_ERROR, UINT64_MAX,
		  "warned" },
		{ CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE, CUDBG_CUDA_LOG_LEVEL_FILTER_ANY, 5, NULL },
	};
	uint32_t n, set = 0, next = 0;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	GOOD(setCudaLogRules, rules, 2, &set);
	GOOD(setCudaLogRules, rules, 2, &next);
	assert_int_equal(next, set + 1);
	for (uint32_t i = set; i <= next; i++) {
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_ASYNC);
		assert_true(event.kind == CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED &&
			    event.cases.cudaLogsRulesetChanged.rulesetIndex == i);
	}
	log_of(5, "of thread five");
	expect_nothing();
	log_of(6, "warned");
	GOOD(consumeCudaLogs134, records, 9, &n);
	assert_true(n == 1 && records[0].osThreadId == 6 && records[0].matchedRulesetIndex == next);
	assert_string_equal(records[0].message, "warned");
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_told_tests[] = {
	TEST(the_events_of_a_kernel_describe_it),
	TEST(functions_that_are_loaded_are_counted),
	TEST(what_was_not_read_is_not_acknowledged),
	TEST(who_causes_a_sync_event_waits),
	TEST(a_reset_takes_grids_and_images_with_it),
	TEST(a_callback_is_told_the_host_thread),
	TEST(a_record_says_when_and_who),
	TEST(rules_choose_by_level_and_thread),
};
const size_t n_live_told_tests = sizeof live_told_tests / sizeof *live_told_tests;
