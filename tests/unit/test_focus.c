/* SPDX-License-Identifier: Apache-2.0 */
/* The focus, whose exception an SM's is, and kernel ids: what cuda-gdb 12.4 shows for such dumps.
 */
#include "unit.h"

#include <warpscope/focus.h>

#include "target/fake.h"

/* Two SMs with two warps each, four lanes a warp; block i, of warp i, is of grid i. */
enum { N_WARPS = 4, N_GRIDS = 4 };

static struct fake fake;

static int scene_make(void **state)
{
	(void)state;
	fake_init(&fake, 2, 2, 4);
	fake.target.counts.grids = N_GRIDS;
	for (uint32_t i = 0; i < N_WARPS; i++)
		fake.block[i].grid_index = i;
	return 0;
}

static int scene_close(void **state)
{
	(void)state;
	ws_target_close(&fake.target);
	return 0;
}

static void check_focus(uint32_t warp_index, uint32_t lane)
{
	struct ws_focus focus;
	assert_int_equal(ws_focus_find(&fake.target, &focus, NULL), WS_OK);
	assert_int_equal(focus.warp_index, warp_index);
	assert_int_equal(focus.lane, lane);
	assert_int_equal(focus.sm_index, warp_index / 2);
	assert_int_equal(focus.block_index, warp_index);
	assert_int_equal(focus.grid_index, fake.block[warp_index].grid_index);
}

static void focus_without_fault_is_the_first_lane_active_or_not(void **state)
{
	(void)state;
	fake.warp[0].active_lanes = 0xc;
	check_focus(0, 0);
}

static void trap_beats_place_and_exception_beats_trap(void **state)
{
	(void)state;
	fake.warp[1].broken = true;
	fake.warp[1].active_lanes = 0xe;
	check_focus(1, 1);
	fake.lane[3][2].exception = 14;
	check_focus(3, 2);
}

static void exception_of_an_sm_goes_to_active_lanes_with_an_error_pc(void **state)
{
	(void)state;
	fake.sm[1].exception = 14;
	fake.warp[3].error_pc_valid = true;
	fake.warp[3].active_lanes = 0x8;
	assert_int_equal(ws_focus_unclaimed(&fake.target, 1), 14);
	check_focus(3, 3);
	fake.lane[2][1].exception = 6; /* a lane that carries one leaves nothing to share */
	assert_int_equal(ws_focus_unclaimed(&fake.target, 1), 0);
	check_focus(2, 1);
}

static void exception_without_a_warp_moves_no_focus(void **state)
{
	(void)state;
	fake.sm[1].exception = 14;
	check_focus(0, 0);
}

static void exception_that_the_layout_lacks_is_none(void **state)
{
	(void)state;
	fake.sm[1].exception = 14;
	fake.sm[1].have = 0;
	assert_int_equal(ws_focus_unclaimed(&fake.target, 1), 0);
}

static void no_thread_is_absent(void **state)
{
	(void)state;
	struct ws_focus focus;
	struct ws_error err;
	for (int w = 0; w < N_WARPS; w++)
		fake.lanes_status[w] = WS_TRUNCATED;
	assert_int_equal(ws_focus_find(&fake.target, &focus, &err), WS_ABSENT);
}

static void kernel_ids_start_on_the_sm_of_the_focus(void **state)
{
	(void)state;
	fake.block[0].grid_index = 2;
	fake.block[1].grid_index = 0;
	fake.block[2].grid_index = 3;
	fake.block[3].grid_index = 3;                   /* grid 1 has no block */
	uint32_t ids[N_GRIDS + 1] = { [N_GRIDS] = 99 }; /* one more, which is not theirs */
	ws_focus_kernel_ids(&fake.target, NULL, ids);
	assert_memory_equal(ids, ((uint32_t[]){ 1, 3, 0, 2, 99 }), sizeof ids);
	struct ws_focus focus = { .sm_index = 1 };
	ws_focus_kernel_ids(&fake.target, &focus, ids);
	assert_memory_equal(ids, ((uint32_t[]){ 2, 3, 1, 0, 99 }), sizeof ids);
}

static void an_exception_of_any_code_counts_but_not_of_a_damaged_row(void **state)
{
	(void)state;
	fake.sm[1].exception = 1;
	assert_int_equal(ws_focus_unclaimed(&fake.target, 1), 1);
	assert_int_equal(ws_focus_unclaimed(&fake.target, 0), 0);
	assert_int_equal(ws_focus_unclaimed(&fake.target, 2), 0); /* no such SM */
	fake.sm[1].damaged = true;
	assert_int_equal(ws_focus_unclaimed(&fake.target, 1), 0);
}

static struct ws_blame blame_of(uint32_t warp_index, uint32_t unclaimed)
{
	struct ws_blame blame;
	ws_focus_blame(&fake.warp[warp_index], fake.lane[warp_index], fake.n_lanes[warp_index],
		       unclaimed, &blame);
	return blame;
}

/* Who carries it, else who may have caused that of the SM, else who stands at a trap. */
static void blame_is_of_lanes_that_can_be(void **state)
{
	(void)state;
	struct ws_warp *warp = &fake.warp[0];
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_NOBODY);
	assert_int_equal(blame_of(0, 14).by, WS_BLAME_NOBODY); /* no error pc */
	warp->error_pc_valid = true;
	warp->active_lanes = 0xb;
	struct ws_blame blame = blame_of(0, 14);
	assert_true(blame.by == WS_BLAME_SUSPECT && blame.lanes == 0xb && blame.code == 14);
	warp->broken = true;
	assert_int_equal(blame_of(0, 14).by, WS_BLAME_SUSPECT);
	blame = blame_of(0, 0);
	assert_true(blame.by == WS_BLAME_TRAP && blame.lanes == 0xb);
	warp->have |= WS_WARP_STOP;
	warp->stop = WS_STOP_PLANTED; /* a debugger's */
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_NOBODY);
	warp->stop = WS_STOP_TRAP;
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_TRAP);
	warp->damaged = true;
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_NOBODY);
	warp->damaged = false;
	warp->active_lanes = 0;
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_NOBODY);
	fake.lane[0][2].exception = 5;
	blame = blame_of(0, 14);
	assert_true(blame.by == WS_BLAME_LANE && blame.lanes == 4);
	fake.lane[0][3].exception = 5;
	fake.lane[0][3].damaged = true; /* proves nothing */
	assert_int_equal(blame_of(0, 0).lanes, 4);
	warp->valid_lanes = 0xb; /* the warp does not have lane 2 */
	assert_int_equal(blame_of(0, 0).by, WS_BLAME_NOBODY);
	warp->damaged = true; /* then what it says of that is not asked */
	blame = blame_of(0, 0);
	assert_true(blame.by == WS_BLAME_LANE && blame.lanes == 4);
}

/* Where most rows cannot be, the SMs of a device are misread; one of two is damaged by itself. */
static void a_device_of_mostly_impossible_sms_is_misread(void **state)
{
	uint32_t end = 0;
	(void)state;
	fake.sm[1].device_index = 1; /* of which nothing else is known */
	assert_false(ws_focus_misread(&fake.target, 0, &end));
	assert_int_equal(end, 1);
	assert_false(ws_focus_misread(&fake.target, 1, &end));
	assert_int_equal(end, 2);
	fake.sm[1].device_index = 0;
	fake.sm[0].id = 2; /* there are two */
	assert_false(ws_focus_misread(&fake.target, 0, &end));
	fake.sm[1].id = 3;
	assert_true(ws_focus_misread(&fake.target, 0, &end));
	assert_int_equal(end, 2);
	fake.sm[0].id = 0;
	assert_false(ws_focus_misread(&fake.target, 0, &end));
	fake.sm[0].id = 2;
	fake.sm[0].id = 0;
	fake.sm[1].id = 1;
	fake.device[0].n_sms = 1; /* one of them is too many */
	assert_true(ws_focus_misread(&fake.target, 0, &end));
	fake.sm[0].damaged = fake.sm[1].damaged = true;
	fake.fail_op = FAKE_DEVICE; /* what it should have is not known */
	fake.fail_status = WS_ABSENT;
	assert_false(ws_focus_misread(&fake.target, 0, &end));
	fake.fail_op = FAKE_SM;
	assert_false(ws_focus_misread(&fake.target, 0, &end));
	assert_int_equal(end, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(focus_without_fault_is_the_first_lane_active_or_not,
						scene_make, scene_close),
		cmocka_unit_test_setup_teardown(trap_beats_place_and_exception_beats_trap,
						scene_make, scene_close),
		cmocka_unit_test_setup_teardown(
			exception_of_an_sm_goes_to_active_lanes_with_an_error_pc, scene_make,
			scene_close),
		cmocka_unit_test_setup_teardown(exception_without_a_warp_moves_no_focus, scene_make,
						scene_close),
		cmocka_unit_test_setup_teardown(exception_that_the_layout_lacks_is_none, scene_make,
						scene_close),
		cmocka_unit_test_setup_teardown(no_thread_is_absent, scene_make, scene_close),
		cmocka_unit_test_setup_teardown(
			an_exception_of_any_code_counts_but_not_of_a_damaged_row, scene_make,
			scene_close),
		cmocka_unit_test_setup_teardown(blame_is_of_lanes_that_can_be, scene_make,
						scene_close),
		cmocka_unit_test_setup_teardown(a_device_of_mostly_impossible_sms_is_misread,
						scene_make, scene_close),
		cmocka_unit_test_setup_teardown(kernel_ids_start_on_the_sm_of_the_focus, scene_make,
						scene_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
