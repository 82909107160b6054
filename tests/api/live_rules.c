/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: what stops, steps and stopped warps are, in cases that
 * are less common. */
#include "live.h"

#include <stdatomic.h>

#include "base/base.h"

static void start_kernel(const char *fatbin, const char *kernel, unsigned blocks, unsigned threads)
{
	device_open(&device, fatbin, 4);
	const uint64_t args[] = { device.out, device.in };
	device_launch(&device, kernel, blocks, threads, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
}

/* ---- steps ---- */

/* "Warps can also be resumed in other SMs, but are not reported via the API." */
static void a_step_over_a_cluster_barrier_moves_other_sms(void **state)
{
	(void)state;
	CUDBGBarrierScope scope;
	char text[100];
	uint32_t size;
	start_kernel(cluster_kernels, "cluster_ring", 4, 64);
	uint64_t barrier = find(WS_OP_UCGABAR_WAIT, 0);
	for (uint32_t sm = 0; sm < 4; sm++)
		assert_true(valid(sm) == 3 && pc_of(sm, 0, 0) == entry());
	step_to(0, 0, barrier);
	assert_true(pc_of(1, 0, 0) == entry());
	assert_int_equal(step(0, 0, UINT32_MAX, 1, 0) & ~3u, 0);
	assert_true(pc_of(0, 0, 0) == barrier + WS_SASS_BYTES);
	for (uint32_t sm = 0; sm < 4; sm++)
		assert_true(pc_of(sm, 1, 0) >= barrier);
	assert_int_equal(broken(1), 0);
	expect_nothing();
	/* the next one, by all but one warp */
	uint64_t second = find(WS_OP_UCGABAR_WAIT, 1);
	for (uint32_t sm = 0; sm < 4; sm++)
		GOOD(resumeWarpsUntilPC, DEV, sm, sm ? 3 : 1, second, 0);
	GOOD(resumeWarpsUntilPC, DEV, 1, 3, second + WS_SASS_BYTES, 0); /* early */
	assert_true(pc_of(1, 0, 0) == second);
	GOOD(getHardwareBarrierInfo, DEV, 1, 0, 0, &scope, text, sizeof text, &size);
	assert_int_equal(scope, CUDBG_BARRIER_SCOPE_CLUSTER);
	GOOD0(resumeAllDevices);
	expect_end();
}

/* 65 steps "with no lane hint and the flag", 41 is that with one step, 40 is 41 without a mask:
 * none of them leaves a convergence barrier, which takes a step without the flag. */
static void old_steps_do_not_leave_a_convergence_barrier(void **state)
{
	for (unsigned form = 0; form < 3; form++) {
		uint64_t meet = start_parted(), mask = 0;
		uint32_t here = lanes_at(0, 0, meet), active = 0;
		(void)step(0, 0, 6, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
		for (unsigned i = 0; i < 3; i++) {
			if (form == 0)
				GOOD(singleStepWarp65, DEV, 0, 0, 1, &mask);
			else if (form == 1)
				GOOD(singleStepWarp41, DEV, 0, 0, &mask);
			else
				GOOD(singleStepWarp40, DEV, 0, 0);
			assert_int_equal(mask, form < 2);
			assert_true((here & ~lanes_at(0, 0, meet)) == 0);
		}
		GOOD(readActiveLanes, DEV, 0, 0, &active);
		assert_true(active != 0 && (active & here) == 0);
		if (form < 2)
			(void)stop(state);
	}
}

/* With NON_BLOCKING the mask is who was asked for; a suspend ends the step, and tells so instead.
 */
static void a_suspend_interrupts_a_step(void **state)
{
	(void)state;
	start_spinning(1, 32);
	for (uint32_t waits = 0; waits < 2; waits++) {
		uint64_t mask = 0;
		GOOD(singleStepWarp, DEV, 0, 0, UINT32_MAX, UINT32_MAX,
		     CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
		assert_int_equal(mask, 1);
		assert_int_equal(CALL(singleStepWarp, DEV, 0, 0, UINT32_MAX, 1, 0, &mask),
				 CUDBG_ERROR_RUNNING_DEVICE);
		GOOD(suspendAllDevices, !waits);
		if (!waits)
			expect_stop();
		expect_nothing();
		assert_int_equal(valid(0), 1);
	}
}

/* "errors within CUDA kernels will no longer be reported precisely": the warp has the exception,
 * and no event tells of it. */
static void a_fault_ends_running_to_a_pc(void **state)
{
	(void)state;
	const uint64_t bad = 40;
	CUDBGException_t exception;
	uint64_t pc;
	bool yes;
	start_over("faults", 1, 64, true, &bad, 1);
	stop_at_start();
	uint64_t end = find(WS_OP_EXIT, 0);
	GOOD(resumeWarpsUntilPC, DEV, 0, 3, end, 0);
	assert_true(broken(0) & 2);
	GOOD(readLaneException, DEV, 0, 1, 40 % 32, &exception);
	assert_int_equal(exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	GOOD(readErrorPC, DEV, 0, 1, &pc, &yes);
	assert_true(yes && pc != end && pc_of(0, 1, 40 % 32) != end);
	expect_nothing();
	assert_int_equal(CALL(resumeWarpsUntilPC, DEV, 0, 1, end, 0),
			 CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE);
}

/* Without the capability a suspend that does not wait is seen by its effect only. */
static void without_the_capability_no_stop_is_told(void **state)
{
	(void)state;
	uint64_t mask;
	CUDBGResult result = CUDBG_ERROR_RUNNING_DEVICE;
	device_open(&device, kernels, 4);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "spins", 1, 32, args, 2);
	begin(0);
	run_until(1, 0, 0);
	GOOD0(resumeAllDevices);
	GOOD(suspendAllDevices, 1);
	for (int i = 0; i < 50000 && result == CUDBG_ERROR_RUNNING_DEVICE; i++) {
		doze();
		result = CALL(readValidWarps, DEV, 0, &mask);
	}
	assert_int_equal(result, CUDBG_SUCCESS);
	assert_int_equal(mask, 1);
	expect_nothing();
}

/* ---- what a warp has ---- */

static uint32_t registers_of(uint32_t wp)
{
	CUDBGWarpResources resources;
	GOOD(readWarpResources, DEV, 0, wp, &resources);
	return resources.numRegisters;
}

/* setmaxnreg: four warps give registers away, and the other four take them. */
static void registers_of_a_warp_come_and_go(void **state)
{
	(void)state;
	uint32_t words[2], got;
	start_kernel(bulk_kernels, "set_registers", 1, 256);
	const uint32_t from = registers_of(0);
	assert_in_range(from, 128, 136);
	for (uint32_t wp = 0; wp < 8; wp++) {
		uint32_t to = wp < 4 ? 40 : 208;
		assert_int_equal(registers_of(wp), from);
		for (int i = 0; i < 100 && registers_of(wp) == from; i++)
			(void)step(0, wp, UINT32_MAX, 1, 0);
		assert_int_equal(registers_of(wp), to);
		GOOD(readRegisterRange, DEV, 0, wp, 0, to - 1, 2, words, &got);
		assert_int_equal(got, 1); /* the last one, and none behind it */
	}
	GOOD0(resumeAllDevices);
	expect_end();
}

/* Whether a thread waits at a barrier of its warp that it belongs to. */
static bool is_blocked(const CUDBGCbuWarpState *cbu, uint32_t ln)
{
	uint32_t barrier = cbu->threadState[ln] - CUDBG_CBU_THREAD_STATE_BLOCKEDB0;
	return barrier < CUDBG_MAX_WARP_BARRIERS && (cbu->barrierMasks[barrier] >> ln & 1);
}

/* Lanes that wait to meet say at which barrier; the others run. */
static void states_of_threads_are_those_of_the_kernel(void **state)
{
	(void)state;
	CUDBGCbuWarpState cbu;
	unsigned n_ready = 0;
	uint64_t meet = start_parted();
	(void)step(0, 0, 6, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	GOOD(getCbuWarpState, DEV, 0, 1, &cbu, 1);
	assert_true(pc_of(0, 0, 6) == meet && is_blocked(&cbu, 6));
	for (uint32_t ln = 0; ln < 32; ln++) {
		n_ready += cbu.threadState[ln] == CUDBG_CBU_THREAD_STATE_READY;
		if (cbu.threadState[ln] == CUDBG_CBU_THREAD_STATE_READY)
			continue;
		assert_true(is_blocked(&cbu, ln));
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		GOOD(readCodeMemory, DEV, pc_of(0, 0, ln), bytes, sizeof bytes);
		ws_sass_decode(90, bytes, &insn);
		assert_int_equal(insn.operation, WS_OP_BSYNC);
	}
	assert_in_range(n_ready, 1, 31);
}

/* A thread that has ended is no lane any more, and its state says why. */
static void threads_that_ended_have_exited(void **state)
{
	(void)state;
	static const char text[] =
		".arch sm_90a\n.kernel k\nS2R R0, SR_LANEID\n"
		"ISETP.GE.U32.AND P0, PT, R0, 0x8, PT\n@P0 EXIT\nNOP\nEXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 24, 1, 1 }
	};
	CUDBGCbuWarpState cbu;
	uint32_t lanes;
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	(void)step(0, 0, UINT32_MAX, 3, 0);
	GOOD(readValidLanes, DEV, 0, 0, &lanes);
	assert_int_equal(lanes, 0xff);
	GOOD(getCbuWarpState, DEV, 0, 1, &cbu, 1);
	assert_int_equal(cbu.exitedMask, 0xffff00);
	for (uint32_t ln = 0; ln < 32; ln++)
		assert_int_equal(cbu.threadState[ln], ln < 8    ? CUDBG_CBU_THREAD_STATE_READY
						      : ln < 24 ? CUDBG_CBU_THREAD_STATE_EXITED
								: CUDBG_CBU_THREAD_STATE_INVALID);
}

/* ---- clusters ---- */

/* Six SMs, each with room for one block: the first cluster has the four blocks that are preferred,
 * what is left of the grid goes in as two and two. */
static void clusters_of_one_grid_differ_in_size(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel k\n.param out 8\nS2R R0, SR_CgaCtaId\n"
				   "S2R R2, SR_CTAID.X\nMOV R3, 0x4\n"
				   "IMAD.WIDE.U32 R4, R2, R3, c[0x0][`(out)]\nST.E [R4], R0\n"
				   "EXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "k",
		.grid = { 8, 1, 1 },
		.block = { 32, 1, 1 },
		.cluster = { 2, 1, 1 },
		.preferred_cluster = { 4, 1, 1 },
		.shared_bytes = 150000,
		.args = (const void *const[]){ &device.out },
		.n_args = 1,
	};
	CUDBGGridInfo info;
	uint32_t words[8];
	device_open(&device, kernels, 6);
	launch.module = load_text(text);
	launch.preferred_cluster.x = 3;
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_ARGUMENT);
	launch.preferred_cluster.x = 4;
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	GOOD(getGridInfo, DEV, 1, &info);
	assert_true(info.clusterDim.x == 2 && info.preferredClusterDim.x == 4 &&
		    info.preferredClusterDim.y == 1);
	for (uint32_t sm = 0; sm < 6; sm++) {
		CuDim3 size, index, block;
		assert_int_equal(valid(sm), 1);
		GOOD(readBlockIdx, DEV, sm, 0, &block);
		GOOD(getClusterDim, DEV, sm, 0, &size);
		GOOD(readClusterIdx, DEV, sm, 0, &index);
		assert_int_equal(size.x, block.x < 4 ? 4 : 2);
		assert_int_equal(index.x, block.x / size.x);
	}
	GOOD0(resumeAllDevices);
	expect_end();
	GOOD(suspendAllDevices, 0);
	GOOD(readGlobalMemory, device.out, words, sizeof words);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(words[i], i < 4 ? i : i % 2); /* their ranks */
}

/* ---- memory ---- */

/* An access that begins in an allocation does not leave it, and what fails writes nothing. */
static void an_access_stays_in_one_allocation(void **state)
{
	(void)state;
	uint32_t words[2] = { 5, 6 }, back[2] = { 7, 7 };
	start_over("calls", 1, 32, false, NULL, 0);
	stop_at_start();
	uint64_t last = device.out + 4 * (DEVICE_WORDS - 1);
	assert_int_equal(CALL(writeGlobalMemory, last, words, 8),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(writeGenericMemory, DEV, 0, 0, 0, last, words, 8),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGlobalMemory, last, back, 8), CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	GOOD(readGlobalMemory, last, back, 4);
	assert_int_equal(back[0], 0);
}

/* ---- events ---- */

static atomic_bool none_left;

static bool no_memory(void)
{
	return atomic_load(&none_left);
}

/* "An event is never dropped": what ended while there was no memory is told later. */
static void the_end_of_a_kernel_waits_for_memory(void **state)
{
	(void)state;
	CUDBGEvent event;
	uint32_t one = 1;
	CUDBGResult told = CUDBG_ERROR_NO_EVENT_AVAILABLE;
	wsi_alloc_should_fail = no_memory; /* for good: other threads look at it */
	start_spinning(1, 32);
	GOOD(writeGlobalMemory, device.in, &(uint32_t){ 0 }, 4); /* its page is there */
	GOOD0(resumeAllDevices);
	atomic_store(&none_left, true);
	ws_sim_host_begin(device.target, false);
	assert_int_equal(ws_sim_write(device.sim, device.in, &one, sizeof one, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, false, NULL, NULL), WS_OK);
	for (int i = 0; i < 50000 && told == CUDBG_ERROR_NO_EVENT_AVAILABLE; i++) {
		doze();
		told = CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event);
	}
	atomic_store(&none_left, false);
	assert_int_equal(told, CUDBG_ERROR_INTERNAL);
	expect_end();
	expect_nothing();
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
}

static atomic_int left;

/* One fails, the `left`th from now on. */
static bool one_fails(void)
{
	return atomic_fetch_sub(&left, 1) == 0;
}

/* On the way through a socket, memory is the operating system's. */
static bool is_for_memory(CUDBGResult result)
{
	return result == CUDBG_ERROR_INTERNAL ||
	       (route_is_socket() && result == CUDBG_ERROR_OS_RESOURCES);
}

/* A call that may fail for want of memory, and then does its work when it is repeated. */
#define AGAIN(call)                                       \
	do {                                              \
		CUDBGResult result_ = (call);             \
		if (is_for_memory(result_))               \
			result_ = (call);                 \
		assert_int_equal(result_, CUDBG_SUCCESS); \
	} while (0)

static CUDBGEventKind next_kind(CUDBGEventQueueType queue)
{
	CUDBGEvent event;
	for (int i = 0; i < 50000; i++) {
		CUDBGResult result = CALL(getNextEvent, queue, &event);
		if (result == CUDBG_SUCCESS)
			return event.kind;
		assert_true(result == CUDBG_ERROR_NO_EVENT_AVAILABLE || is_for_memory(result));
		doze();
	}
	return CUDBG_EVENT_INVALID;
}

/* A session in which one allocation fails; how many there were. */
static int session_without(int which)
{
	CUDBGBreakpointHandle handle;
	CUDBGDeviceInfoSizes sizes;
	static uint8_t buffer[1 << 18];
	uint32_t length, words[128];
	uint64_t mask;
	start_over("calls", 2, 64, false, NULL, 0);
	atomic_store(&left, which);
	wsi_alloc_should_fail = one_fails;
	AGAIN(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH));
	AGAIN(CALL0(resumeAllDevices));
	assert_int_equal(next_kind(CUDBG_EVENT_QUEUE_TYPE_SYNC), CUDBG_EVENT_ALL_DEVICES_SUSPENDED);
	AGAIN(CALL(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH));
	AGAIN(CALL(readValidWarps, DEV, 0, &mask));
	assert_int_equal(mask, 3);
	AGAIN(CALL(getDeviceInfoSizes, DEV, &sizes));
	AGAIN(CALL(getDeviceInfo, DEV, CUDBG_RESPONSE_TYPE_FULL, buffer, sizeof buffer, &length));
	AGAIN(CALL(insertBreakpoint, DEV, entry() + 4 * WS_SASS_BYTES, &handle));
	AGAIN(CALL(singleStepWarp, DEV, 0, 0, UINT32_MAX, 3, 0, &mask));
	AGAIN(CALL(writeGlobalMemory, device.in, &(uint32_t){ 1 }, 4));
	for (int i = 0; i < 4; i++) {
		AGAIN(CALL0(resumeAllDevices));
		assert_int_equal(next_kind(CUDBG_EVENT_QUEUE_TYPE_SYNC),
				 CUDBG_EVENT_ALL_DEVICES_SUSPENDED);
	}
	AGAIN(CALL(removeBreakpoint, handle));
	AGAIN(CALL0(resumeAllDevices));
	assert_int_equal(next_kind(CUDBG_EVENT_QUEUE_TYPE_ASYNC), CUDBG_EVENT_KERNEL_FINISHED);
	if (CALL(suspendAllDevices, 0) != CUDBG_SUCCESS) /* what moved could not be listed */
		assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	int used = which - atomic_load(&left);
	atomic_store(&left, -1);
	GOOD(readGlobalMemory, device.out, words, sizeof words);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(words[i], ((i + 2) * 7 + 1) * 3 + i * 7 + 1);
	(void)stop(NULL);
	return used;
}

/* The client sees an error, if it sees anything, and nothing is lost: whichever one it is. */
static void any_allocation_may_fail(void **state)
{
	(void)state;
	int n = session_without(1 << 20);
	assert_in_range(n, 20, 2000);
	for (int i = 0; i < n; i++)
		(void)session_without(i);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_rules_tests[] = {
	TEST(a_step_over_a_cluster_barrier_moves_other_sms),
	TEST(old_steps_do_not_leave_a_convergence_barrier),
	TEST(a_suspend_interrupts_a_step),
	TEST(a_fault_ends_running_to_a_pc),
	TEST(without_the_capability_no_stop_is_told),
	TEST(registers_of_a_warp_come_and_go),
	TEST(states_of_threads_are_those_of_the_kernel),
	TEST(threads_that_ended_have_exited),
	TEST(clusters_of_one_grid_differ_in_size),
	TEST(an_access_stays_in_one_allocation),
	TEST(the_end_of_a_kernel_waits_for_memory),
	TEST(any_allocation_may_fail),
};
const size_t n_live_rules_tests = sizeof live_rules_tests / sizeof *live_rules_tests;
