/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: what one response tells of a whole device, and the ends
 * of its memory. */
#include "live.h"

/* ---- responses ---- */

static bool same_dim(CuDim3 a, CuDim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Of each warp what the functions tell that are about one; its cluster: that of its own block. */
static void a_response_has_what_is_told_one_by_one(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel k\nNOP\nEXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "k",
		.grid = { 8, 1, 1 },
		.block = { 24, 2, 1 },
		.cluster = { 2, 1, 1 },
		.preferred_cluster = { 4, 1, 1 },
		.shared_bytes = 150000,
	};
	device_open(&device, kernels, 6);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	const struct told *told = ask_info(CUDBG_RESPONSE_TYPE_FULL);
	assert_true(!told->is_update && told->active == 0x3f && told->faulted == 0);
	for (uint32_t sm = 0; sm < 6; sm++) {
		assert_true(told->sm[sm].warpValidMask == valid(sm) && valid(sm) == 3 &&
			    told->sm[sm].warpBrokenMask == broken(sm));
		for (uint32_t wp = 0; wp < 2; wp++) {
			const struct told_warp *warp = &told->warp[sm][wp];
			CUDBGWarpResources resources;
			CuDim3 index, size, thread;
			uint32_t lanes;
			GOOD(readClusterIdx, DEV, sm, wp, &index);
			GOOD(getClusterDim, DEV, sm, wp, &size);
			assert_true(same_dim(warp->cluster_idx, index) &&
				    same_dim(warp->cluster_dim, size));
			assert_int_equal(size.x, warp->info.blockIdx.x < 4 ? 4 : 2);
			GOOD(readValidLanes, DEV, sm, wp, &lanes);
			assert_int_equal(warp->info.validLanes, lanes);
			GOOD(readThreadIdx, DEV, sm, wp, 0, &thread);
			assert_true(same_dim(warp->info.baseThreadIdx, thread));
			assert_int_equal(thread.y, wp); /* thread 32 is (8, 1) */
			assert_int_equal(warp->info.gridId, 1);
			GOOD(readWarpResources, DEV, sm, wp, &resources);
			assert_in_range(resources.sharedMemSize, 150000, 152000);
		}
	}
}

static void a_response_tells_of_a_fault(void **state)
{
	(void)state;
	run_into_fault();
	expect_stop();
	const struct told *told = ask_info(CUDBG_RESPONSE_TYPE_FULL);
	uint32_t sm, wp;
	uint64_t pc;
	bool yes;
	one_broken(&sm, &wp);
	GOOD(readErrorPC, DEV, sm, wp, &pc, &yes);
	assert_int_equal(told->faulted, 1u << sm);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < 2; k++) {
			bool is_it = i == sm && k == wp;
			const struct told_warp *warp = &told->warp[i][k];
			assert_int_equal(warp->exception,
					 is_it ? CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS : 0);
			assert_true(warp->error_pc == (is_it ? pc : 0));
		}
	assert_true(yes);
}

/* "Request state information for all changed": since the last response of either kind. A warp that
 * stood at a breakpoint and does so no more has changed, whether it moved or not. */
static void a_response_tells_what_changed_since_the_last(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	CUDBGBreakpointHandle handle;
	const struct told *told;
	start_over("meets", 1, 64, false, &rounds, 1);
	stop_at_start();
	GOOD(resumeWarpsUntilPC, DEV, 0, 2, entry() + 2 * WS_SASS_BYTES, 0);
	GOOD(insertBreakpoint, DEV, entry() + WS_SASS_BYTES, &handle);
	assert_int_equal(broken(0), 3);
	(void)ask_info(CUDBG_RESPONSE_TYPE_FULL);
	told = ask_info(CUDBG_RESPONSE_TYPE_UPDATE);
	assert_true(told->is_update && told->updated == 0);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(broken(0) == 1 && hit(0, 0) == handle);
	told = ask_info(CUDBG_RESPONSE_TYPE_UPDATE);
	assert_true(told->is_update && told->updated == 1 && told->updated_warps[0] == 3);
	assert_true(told->warp[0][0].handle == handle && told->warp[0][1].handle == 0);
}

/* Who waits for a cluster goes on when its last warp comes, and executes nothing for that. */
static void who_a_cluster_barrier_lets_go_has_changed(void **state)
{
	(void)state;
	uint64_t updated = 0;
	device_open(&device, cluster_kernels, 4);
	const uint64_t args[] = { device.out, device.in };
	device_launch(&device, "cluster_ring", 4, 64, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	uint64_t barrier = find(WS_OP_UCGABAR_WAIT, 0);
	for (uint32_t sm = 0; sm < 4; sm++) { /* all but one warp wait there */
		GOOD(resumeWarpsUntilPC, DEV, sm, sm ? 3 : 2, barrier + WS_SASS_BYTES, 0);
		assert_true(pc_of(sm, 1, 0) == barrier);
	}
	(void)ask_info(CUDBG_RESPONSE_TYPE_FULL);
	for (int i = 0; i < 2000 && pc_of(0, 0, 0) != barrier + WS_SASS_BYTES; i++) {
		assert_int_equal(step(0, 0, UINT32_MAX, 1, 0), 1);
		const struct told *told = ask_info(CUDBG_RESPONSE_TYPE_UPDATE);
		assert_true(told->is_update);
		updated |= told->updated;
	}
	assert_true(pc_of(0, 0, 0) == barrier + WS_SASS_BYTES);
	assert_int_equal(updated, 0xf);
	assert_true(pc_of(3, 1, 0) == barrier + WS_SASS_BYTES); /* let go */
}

/* ---- the ends of memory ---- */

/* An access that leaves a segment does nothing, wherever it begins. */
static void nothing_is_written_past_an_end(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel k\n.stack 64\n.shared s 256\nNOP\nEXIT\n"
				   ".end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }
	};
	static uint8_t pinned[256];
	const uint64_t at = UINT64_C(0x200000000);
	const uint8_t ones[4] = { 1, 1, 1, 1 };
	uint8_t back[2] = { 9, 9 };
	CUDBGWarpResources resources;
	uint64_t host, local = 0;
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_map(device.sim, at, pinned, sizeof pinned, NULL), WS_OK);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	GOOD(readWarpResources, DEV, 0, 0, &resources);
	const uint64_t shared = resources.sharedMemSize;
	assert_in_range(shared, 256, 4096);
	assert_int_equal(CALL(writeSharedMemory, DEV, 0, 0, shared - 2, ones, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	GOOD(readSharedMemory, DEV, 0, 0, shared - 2, back, 2);
	assert_true(back[0] == 0 && back[1] == 0);
	while (CALL(readLocalMemory, DEV, 0, 0, 3, local, back, 1) == CUDBG_SUCCESS)
		local++;
	assert_in_range(local, 64, 4096);
	GOOD(writeLocalMemory, DEV, 0, 0, 3, 0, ones, 4); /* none is recorded before that */
	assert_int_equal(CALL(writeLocalMemory, DEV, 0, 0, 3, local - 2, ones, 4),
			 CUDBG_ERROR_INVALID_ADDRESS);
	GOOD(readLocalMemory, DEV, 0, 0, 3, local - 2, back, 2);
	assert_true(back[0] == 0 && back[1] == 0);
	GOOD(getHostAddrFromDeviceAddr, DEV, at, &host);
	assert_int_equal(CALL(writePinnedMemory, host + 254, ones, 4),
			 CUDBG_ERROR_MEMORY_MAPPING_FAILED);
	assert_true(pinned[254] == 0 && pinned[255] == 0);
}

/* A generic address of local memory is of the lane that is named. */
static void a_generic_address_is_of_a_lane(void **state)
{
	(void)state;
	struct ws_context context;
	uint32_t word = 0x55aa, back = 0;
	uint64_t bad = 40;
	start_over("faults", 1, 64, true, &bad, 1);
	stop_at_start();
	assert_int_equal(ws_target_context(device.target, 0, &context, NULL), WS_OK);
	const uint64_t at = context.local_window_base + 96;
	GOOD(writeLocalMemory, DEV, 0, 0, 5, 96, &word, sizeof word);
	GOOD(readGenericMemory, DEV, 0, 0, 5, at, &back, sizeof back);
	assert_int_equal(back, word);
	GOOD(readGenericMemory, DEV, 0, 0, 6, at, &back, sizeof back);
	assert_int_equal(back, 0);
	word = 0x66bb;
	GOOD(writeGenericMemory, DEV, 0, 0, 6, at, &word, sizeof word);
	GOOD(readLocalMemory, DEV, 0, 0, 6, 96, &back, sizeof back);
	assert_int_equal(back, word);
	GOOD(readLocalMemory, DEV, 0, 0, 5, 96, &back, sizeof back);
	assert_int_equal(back, 0x55aa);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_info_tests[] = {
	TEST(a_response_has_what_is_told_one_by_one),
	TEST(a_response_tells_of_a_fault),
	TEST(a_response_tells_what_changed_since_the_last),
	TEST(who_a_cluster_barrier_lets_go_has_changed),
	TEST(nothing_is_written_past_an_end),
	TEST(a_generic_address_is_of_a_lane),
};
const size_t n_live_info_tests = sizeof live_info_tests / sizeof *live_info_tests;
