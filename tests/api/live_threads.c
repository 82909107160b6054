/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: states of threads, and the barriers that they wait at. */
#include "live.h"

static CUDBGCbuWarpState cbu_of(uint32_t wp)
{
	CUDBGCbuWarpState cbu;
	GOOD(getCbuWarpState, DEV, 0, 1ull << wp, &cbu, 1);
	return cbu;
}

static CUDBGCbuThreadState state_of(uint32_t ln)
{
	return cbu_of(0).threadState[ln];
}

static CUDBGBarrierScope scope_of(uint32_t wp, uint32_t ln)
{
	CUDBGBarrierScope scope;
	char text[100];
	uint32_t size = 0;
	GOOD(getHardwareBarrierInfo, DEV, 0, wp, ln, &scope, text, sizeof text, &size);
	assert_int_equal(size, strlen(text) + 1);
	assert_int_equal(size > 1, scope != CUDBG_BARRIER_SCOPE_NONE);
	return scope;
}

/* A warp of assembled code, at its start. */
static void start_text(const char *text)
{
	struct ws_sim_launch launch = {
		.size = sizeof launch, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }
	};
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
}

static void one_step(uint32_t hint)
{
	(void)step(0, 0, hint, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
}

/* NANOSLEEP and YIELD, one after the other; whoever enters a region that meets yields no more. */
static void threads_sleep_and_yield(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel k\nNOP\nNANOSLEEP 0x64\nNOP\nYIELD\nNOP\n"
				   "NANOSLEEP 0x64\nBSSY B0, `(out)\nBSYNC B0\nout: EXIT\n.end\n";
	static const CUDBGCbuThreadState after[] = {
		CUDBG_CBU_THREAD_STATE_READY,   CUDBG_CBU_THREAD_STATE_SLEEP,
		CUDBG_CBU_THREAD_STATE_READY,   CUDBG_CBU_THREAD_STATE_YIELDED,
		CUDBG_CBU_THREAD_STATE_YIELDED, CUDBG_CBU_THREAD_STATE_SLEEPYIELD,
		CUDBG_CBU_THREAD_STATE_READY,
	};
	start_text(text);
	for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
		one_step(UINT32_MAX);
		for (uint32_t ln = 0; ln < 32; ln += 31)
			assert_int_equal(state_of(ln), after[i]);
		assert_int_equal(scope_of(0, 0), CUDBG_BARRIER_SCOPE_NONE);
	}
	GOOD0(resumeAllDevices);
	expect_end();
}

/* Lanes 0 to 7 wait for all, who end elsewhere. */
static void threads_wait_for_their_warp(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel k\nS2R R0, SR_LANEID\n"
				   "ISETP.GE.U32.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(out)\n"
				   "WARPSYNC.ALL\nNOP\nout: EXIT\n.end\n";
	start_text(text);
	for (int i = 0; i < 4; i++)
		one_step(3);
	for (uint32_t ln = 0; ln < 32; ln++) {
		assert_int_equal(state_of(ln), ln < 8 ? CUDBG_CBU_THREAD_STATE_BLOCKEDALL
						      : CUDBG_CBU_THREAD_STATE_READY);
		assert_int_equal(scope_of(0, ln),
				 ln < 8 ? CUDBG_BARRIER_SCOPE_WARP : CUDBG_BARRIER_SCOPE_NONE);
	}
	one_step(9); /* the others end, and are waited for no more */
	assert_int_equal(state_of(9), CUDBG_CBU_THREAD_STATE_EXITED);
	assert_int_equal(state_of(3), CUDBG_CBU_THREAD_STATE_READY);
	assert_int_equal(scope_of(0, 3), CUDBG_BARRIER_SCOPE_NONE);
	GOOD0(resumeAllDevices);
	expect_end();
}

/* Lanes that wait to meet, and who is to meet them. */
static void lanes_have_barriers_of_their_own(void **state)
{
	(void)state;
	uint64_t meet = start_parted();
	one_step(6);
	uint32_t n_waiting = 0;
	assert_true(pc_of(0, 0, 6) == meet && state_of(6) >= CUDBG_CBU_THREAD_STATE_BLOCKEDB0);
	for (uint32_t ln = 0; ln < 32; ln++) {
		bool waits = state_of(ln) >= CUDBG_CBU_THREAD_STATE_BLOCKEDB0;
		assert_int_equal(scope_of(0, ln),
				 waits ? CUDBG_BARRIER_SCOPE_WARP : CUDBG_BARRIER_SCOPE_NONE);
		n_waiting += waits;
	}
	assert_in_range(n_waiting, 1, 31);
}

/* One of four warps waits for a product of all four. */
static void a_warp_waits_for_its_group(void **state)
{
	(void)state;
	const uint64_t last = start_group();
	assert_int_equal(scope_of(2, 5), CUDBG_BARRIER_SCOPE_NONE);
	(void)step(0, 2, UINT32_MAX, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	assert_true(pc_of(0, 2, 5) == last);
	assert_int_equal(scope_of(2, 5), CUDBG_BARRIER_SCOPE_WARP_GROUP);
	assert_int_equal(scope_of(1, 5), CUDBG_BARRIER_SCOPE_NONE);
	GOOD(resumeWarpsUntilPC, DEV, 0, 0xf, find(WS_OP_EXIT, 0), 0);
	assert_int_equal(scope_of(2, 5), CUDBG_BARRIER_SCOPE_NONE);
	GOOD0(resumeAllDevices);
	expect_end();
}

static enum ws_status pretend(struct ws_sim_guise guise)
{
	guise.size = sizeof guise;
	ws_sim_host_begin(device.target, true);
	enum ws_status st = ws_sim_pretend(device.sim, &guise, NULL);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	return st;
}

/* What no kernel comes to here can be shown all the same, until the warp runs. */
static void all_states_and_scopes_can_be_shown(void **state)
{
	(void)state;
	start_over("calls", 1, 64, false, NULL, 0);
	stop_at_start();
	for (uint32_t to = 1; to <= CUDBG_CBU_THREAD_STATE_BLOCKEDB15; to++) {
		uint32_t scope = to % (CUDBG_BARRIER_SCOPE_KERNEL + 1);
		assert_int_equal(
			pretend((struct ws_sim_guise){
				.lanes = 0x60, .state = to, .scope = scope, .collective = to % 2 }),
			WS_OK);
		for (uint32_t ln = 4; ln < 8; ln++) {
			bool is_shown = 0x60 >> ln & 1;
			assert_int_equal(state_of(ln),
					 is_shown ? to : CUDBG_CBU_THREAD_STATE_READY);
			assert_int_equal(scope_of(0, ln), is_shown ? scope : 0);
		}
		assert_int_equal(cbu_of(0).collectiveMask, to % 2 ? 0x60 : 0);
		assert_int_equal(cbu_of(1).threadState[5], CUDBG_CBU_THREAD_STATE_READY);
	}
	assert_int_equal(pretend((struct ws_sim_guise){ .sm = 2, .lanes = 1, .state = 2 }),
			 WS_ABSENT);
	assert_int_equal(pretend((struct ws_sim_guise){ .lanes = 1, .state = 25 }), WS_ARGUMENT);
	assert_int_equal(pretend((struct ws_sim_guise){ .lanes = 1, .scope = 6 }), WS_ARGUMENT);
	assert_int_equal(pretend((struct ws_sim_guise){ .lanes = 0x60, .state = 6, .scope = 5 }),
			 WS_OK);
	one_step(UINT32_MAX);
	assert_int_equal(state_of(5), CUDBG_CBU_THREAD_STATE_READY);
	assert_int_equal(scope_of(0, 5), CUDBG_BARRIER_SCOPE_NONE);
	GOOD0(resumeAllDevices);
	expect_end();
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_threads_tests[] = {
	TEST(threads_sleep_and_yield),
	TEST(threads_wait_for_their_warp),
	TEST(lanes_have_barriers_of_their_own),
	TEST(a_warp_waits_for_its_group),
	TEST(all_states_and_scopes_can_be_shown),
};
const size_t n_live_threads_tests = sizeof live_threads_tests / sizeof *live_threads_tests;
