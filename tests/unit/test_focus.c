/* SPDX-License-Identifier: Apache-2.0 */
/* The focus, whose exception an SM's is, and kernel ids: what cuda-gdb 12.4 shows for such dumps.
 */
#include "unit.h"

#include <warpscope/focus.h>

/* Two SMs of a device with two warps each, four lanes a warp; one block per warp. Warps 0 and 1 are
 * on SM 0. Block i is of grid grid_of[i]. */
enum { N_WARPS = 4, N_LANES = 4, N_GRIDS = 4 };

struct scene {
	struct ws_target target;
	struct ws_sm sm[2];
	struct ws_warp warp[N_WARPS];
	uint32_t exception[N_WARPS][N_LANES];
	uint32_t grid_of[N_WARPS];
	bool unreadable[N_WARPS];
};

static const struct scene *scene_of(const struct ws_target *target)
{
	return (const struct scene *)target;
}

static enum ws_status scene_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			       struct ws_error *err)
{
	(void)err;
	*ret_sm = scene_of(target)->sm[index];
	return WS_OK;
}

static enum ws_status scene_block(const struct ws_target *target, uint32_t index,
				  struct ws_block *ret_block, struct ws_error *err)
{
	(void)err;
	*ret_block = (struct ws_block){ .sm_index = index / 2,
					.grid_index = scene_of(target)->grid_of[index] };
	return WS_OK;
}

static enum ws_status scene_warp(const struct ws_target *target, uint32_t index,
				 struct ws_warp *ret_warp, struct ws_error *err)
{
	(void)err;
	*ret_warp = scene_of(target)->warp[index];
	return WS_OK;
}

static enum ws_status scene_lanes(const struct ws_target *target, uint32_t warp_index,
				  struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	(void)err;
	const struct scene *scene = scene_of(target);
	if (scene->unreadable[warp_index])
		return WS_TRUNCATED;
	for (uint32_t i = 0; i < N_LANES; i++)
		ret_lanes[i] =
			(struct ws_lane){ .id = i, .exception = scene->exception[warp_index][i] };
	*ret_n = N_LANES;
	return WS_OK;
}

static const struct ws_target_ops scene_ops = {
	.name = "scene",
	.sm = scene_sm,
	.block = scene_block,
	.warp = scene_warp,
	.lanes = scene_lanes,
};

static struct scene scene_make(void)
{
	struct scene scene = { .target = { &scene_ops,
					   { .devices = 1,
					     .grids = N_GRIDS,
					     .sms = 2,
					     .blocks = N_WARPS,
					     .warps = N_WARPS } } };
	for (uint32_t s = 0; s < 2; s++)
		scene.sm[s] = (struct ws_sm){
			.have = WS_SM_EXCEPTION, .id = s, .first_warp_index = 2 * s, .n_warps = 2
		};
	for (uint32_t w = 0; w < N_WARPS; w++) {
		scene.warp[w] = (struct ws_warp){ .sm_index = w / 2,
						  .block_index = w,
						  .id = w % 2,
						  .valid_lanes = 0xf,
						  .active_lanes = 0xf };
		scene.grid_of[w] = w;
	}
	return scene;
}

static void check_focus(const struct scene *scene, uint32_t warp_index, uint32_t lane)
{
	struct ws_focus focus;
	assert_int_equal(ws_focus_find(&scene->target, &focus, NULL), WS_OK);
	assert_int_equal(focus.warp_index, warp_index);
	assert_int_equal(focus.lane, lane);
	assert_int_equal(focus.sm_index, warp_index / 2);
	assert_int_equal(focus.block_index, warp_index);
	assert_int_equal(focus.grid_index, scene->grid_of[warp_index]);
}

static void focus_without_fault_is_the_first_lane_active_or_not(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.warp[0].active_lanes = 0xc;
	check_focus(&scene, 0, 0);
}

static void trap_beats_place_and_exception_beats_trap(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.warp[1].broken = true;
	scene.warp[1].active_lanes = 0xe;
	check_focus(&scene, 1, 1);
	scene.exception[3][2] = 14;
	check_focus(&scene, 3, 2);
}

static void exception_of_an_sm_goes_to_active_lanes_with_an_error_pc(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.sm[1].exception = 14;
	scene.warp[3].error_pc_valid = true;
	scene.warp[3].active_lanes = 0x8;
	assert_int_equal(ws_focus_unclaimed(&scene.target, 1), 14);
	check_focus(&scene, 3, 3);
	scene.exception[2][1] = 6; /* a lane that carries one leaves nothing to share */
	assert_int_equal(ws_focus_unclaimed(&scene.target, 1), 0);
	check_focus(&scene, 2, 1);
}

static void exception_without_a_warp_moves_no_focus(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.sm[1].exception = 14;
	check_focus(&scene, 0, 0);
}

static void exception_that_the_layout_lacks_is_none(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.sm[1].exception = 14;
	scene.sm[1].have = 0;
	assert_int_equal(ws_focus_unclaimed(&scene.target, 1), 0);
}

static void no_thread_is_absent(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	struct ws_focus focus;
	struct ws_error err;
	for (int w = 0; w < N_WARPS; w++)
		scene.unreadable[w] = true;
	assert_int_equal(ws_focus_find(&scene.target, &focus, &err), WS_ABSENT);
}

static void kernel_ids_start_on_the_sm_of_the_focus(void **state)
{
	(void)state;
	struct scene scene = scene_make();
	scene.grid_of[0] = 2;
	scene.grid_of[1] = 0;
	scene.grid_of[2] = 3;
	scene.grid_of[3] = 3; /* grid 1 has no block */
	uint32_t ids[N_GRIDS];
	ws_focus_kernel_ids(&scene.target, NULL, ids);
	assert_memory_equal(ids, ((uint32_t[]){ 1, 3, 0, 2 }), sizeof ids);
	struct ws_focus focus = { .sm_index = 1 };
	ws_focus_kernel_ids(&scene.target, &focus, ids);
	assert_memory_equal(ids, ((uint32_t[]){ 2, 3, 1, 0 }), sizeof ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(focus_without_fault_is_the_first_lane_active_or_not),
		cmocka_unit_test(trap_beats_place_and_exception_beats_trap),
		cmocka_unit_test(exception_of_an_sm_goes_to_active_lanes_with_an_error_pc),
		cmocka_unit_test(exception_without_a_warp_moves_no_focus),
		cmocka_unit_test(exception_that_the_layout_lacks_is_none),
		cmocka_unit_test(no_thread_is_absent),
		cmocka_unit_test(kernel_ids_start_on_the_sm_of_the_focus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
