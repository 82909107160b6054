/* SPDX-License-Identifier: Apache-2.0 */
/* src/state/doubt.c: rows that can be raise no doubt; each rule that one of them breaks raises one.
 */
#include "unit.h"

#include <warpscope/doubt.h>

/* What is doubted of one SM with one warp of 4 valid lanes, 2 of which are active. */
struct rows {
	struct ws_device device;
	struct ws_sm sm, sm_before;
	struct ws_warp warp, warp_before;
	struct ws_lane lanes[5];
	uint32_t n_lanes;
	bool has_before;
	struct ws_block block;
	struct ws_grid grid;
};

static struct rows sound(void)
{
	struct rows rows = {
		.device = { .n_sms = 4, .n_warps_per_sm = 8 },
		.sm = { .id = 3 },
		.sm_before = { .id = 2 },
		.warp = { .id = 7, .have = WS_WARP_BROKEN, .valid_lanes = 0xf, .active_lanes = 3 },
		.warp_before = { .id = 6 },
		.n_lanes = 4,
		.has_before = true,
	};
	for (uint32_t i = 0; i < WSI_COUNT(rows.lanes); i++)
		rows.lanes[i].id = rows.lanes[i].thread.x = i;
	return rows;
}

struct told {
	char text[2000]; /* "kind [lane]: message", each with a newline */
	unsigned hangs;  /* doubts that hide no fault, but who waits */
};

static void note(void *user, const struct ws_doubt *doubt)
{
	struct told *told = user;
	size_t n = strlen(told->text);
	char lane[16] = "";
	if (doubt->lane != WS_NONE)
		snprintf(lane, sizeof lane, " [%u]", doubt->lane);
	snprintf(told->text + n, sizeof told->text - n, "%d%s: %s\n", (int)doubt->kind, lane,
		 doubt->message);
	told->hangs += doubt->hides == WS_HIDES_HANG;
}

static struct told ask(const struct rows *rows)
{
	struct told told = { "", 0 };
	ws_device_doubts(&rows->device, note, &told);
	ws_sm_doubts(&rows->device, rows->has_before ? &rows->sm_before : NULL, &rows->sm, note,
		     &told);
	ws_warp_doubts(&rows->device, &rows->grid, rows->has_before ? &rows->warp_before : NULL,
		       &rows->warp, rows->lanes, rows->n_lanes, note, &told);
	ws_block_doubts(&rows->block, &rows->grid, note, &told);
	ws_grid_doubts(&rows->grid, note, &told);
	return told;
}

static void expect(const struct rows *rows, enum ws_doubt_kind kind, const char *lane,
		   const char *message)
{
	char wanted[300];
	struct told told = ask(rows);
	snprintf(wanted, sizeof wanted, "%d%s: %s\n", (int)kind, lane, message);
	assert_string_equal(told.text, wanted);
	assert_int_equal(told.hangs, kind >= WS_DOUBT_BLOCK_ROW);
}

static void rows_that_can_be_raise_no_doubt(void **state)
{
	(void)state;
	struct rows rows = sound();
	assert_string_equal(ask(&rows).text, "");
	rows.has_before = false; /* the first of its list */
	rows.sm_before.id = rows.sm.id;
	rows.warp_before.id = rows.warp.id;
	assert_string_equal(ask(&rows).text, "");
	rows.n_lanes = 5; /* a lane that has ended, in a warp that runs */
	assert_string_equal(ask(&rows).text, "");
	rows.device.n_sms = rows.device.n_warps_per_sm = 0; /* not known */
	rows.sm.id = rows.warp.id = 1000;
	assert_string_equal(ask(&rows).text, "");
}

static void devices_and_sms(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.device.status = 9;
	expect(&rows, WS_DOUBT_DEVICE_STATUS, "",
	       "the driver could not collect this device: result 9");
	rows = sound();
	rows.sm.id = 4;
	expect(&rows, WS_DOUBT_SM_ID, "", "SM 4; the device has 4");
	rows = sound();
	rows.sm_before.id = 3;
	expect(&rows, WS_DOUBT_SM_TWICE, "", "SM 3 is also in another row");
	rows = sound();
	rows.sm.damaged = true;
	expect(&rows, WS_DOUBT_SM_ROW, "",
	       "SM 3: its row holds values that are impossible or contradict other rows");
}

static void warps(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.warp.id = 8;
	expect(&rows, WS_DOUBT_WARP_ID, "", "warp 8; an SM of the device has 8");
	rows = sound();
	rows.warp_before.id = 7;
	expect(&rows, WS_DOUBT_WARP_TWICE, "", "warp 7 is also in another row");
	rows = sound();
	rows.warp.damaged = true;
	expect(&rows, WS_DOUBT_WARP_ROW, "",
	       "warp 7: its row holds values that are impossible or contradict other rows");
	rows = sound();
	rows.warp.have = 0;
	expect(&rows, WS_DOUBT_WARP_BROKEN, "",
	       "warp 7: nothing tells whether it stopped at a trap");
	rows = sound();
	rows.warp.active_lanes = 0x11;
	expect(&rows, WS_DOUBT_WARP_ACTIVE, "",
	       "warp 7: active lanes 0x11 are not all among the valid ones 0xf");
}

static void lanes(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.n_lanes = 3;
	expect(&rows, WS_DOUBT_LANES_MISSING, "", "warp 7: no rows of lanes 0x8, which are valid");
	rows.lanes[0].id = WS_MAX_LANES; /* no lane at all, so not one that is missing either */
	rows.lanes[0].exception = 14;
	expect(&rows, WS_DOUBT_LANES_MISSING, "", "warp 7: no rows of lanes 0x9, which are valid");
	rows = sound();
	rows.n_lanes = 5;
	rows.lanes[4].exception = 14;
	expect(&rows, WS_DOUBT_LANES_EXTRA, "", "warp 7: rows of lanes 0x10, which are not valid");
	rows = sound();
	rows.warp.valid_lanes = rows.warp.active_lanes = 0;
	rows.n_lanes = 1;
	expect(&rows, WS_DOUBT_LANES_EXTRA, "", "warp 7: rows of lanes 0x1, which are not valid");
	rows = sound();
	rows.lanes[2].damaged = true;
	expect(&rows, WS_DOUBT_LANE_ROW, " [2]",
	       "warp 7, lane 2: its row holds values that are impossible or contradict other rows");
}

/* The lanes of a warp are threads that follow on each other, from a multiple of 32 on. */
static void threads_are_where_they_can_be(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.grid.block_dim = (struct ws_dim3){ 2, 20, 1 };
	for (uint32_t i = 0; i < WSI_COUNT(rows.lanes); i++)
		rows.lanes[i].thread = (struct ws_dim3){ i % 2, 16 + i / 2, 0 };
	assert_string_equal(ask(&rows).text, "");
	rows.lanes[1].thread.x = 0; /* one is another's */
	expect(&rows, WS_DOUBT_LANE_PLACE, " [1]",
	       "warp 7, lane 1: thread (0,16,0) cannot be in this lane");
	rows.lanes[1].thread.x = 2;
	expect(&rows, WS_DOUBT_LANE_PLACE, " [1]",
	       "warp 7, lane 1: thread (2,16,0) is outside its extent (2,20,1)");
	rows.lanes[1].thread.x = 1;
	rows.lanes[4].thread.x = 9; /* of a lane that has ended */
	assert_string_equal(ask(&rows).text, "");
	for (uint32_t i = 0; i < WSI_COUNT(rows.lanes); i++)
		rows.lanes[i].thread.y++; /* those of no warp */
	assert_int_equal(ws_lanes_astray(&rows.grid, &rows.warp, rows.lanes, 4), 0xf);
	rows.grid.damaged = true; /* then it does not count, but they follow on each other */
	assert_int_equal(ws_lanes_astray(&rows.grid, &rows.warp, rows.lanes, 4), 0);
	assert_int_equal(ws_lanes_astray(NULL, &rows.warp, rows.lanes, 4), 0);
	for (uint32_t i = 0; i < WSI_COUNT(rows.lanes); i++)
		rows.lanes[i].thread = (struct ws_dim3){ 7, 7, 7 };
	assert_int_equal(ws_lanes_astray(NULL, &rows.warp, rows.lanes, 4), 0xf);
	rows.lanes[2].thread.z = 64;
	rows.n_lanes = 1;
	assert_int_equal(ws_lanes_astray(NULL, &rows.warp, &rows.lanes[2], 1), 1);
}

static void rows_that_others_contradict(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.device.damaged = true; /* its numbers of SMs and warps do not count any more */
	rows.sm.id = rows.warp.id = 1000;
	expect(&rows, WS_DOUBT_DEVICE_ROW, "",
	       "device 0: its row holds values that are impossible or "
	       "contradict other rows");
	rows = sound();
	rows.grid.damaged = true;
	expect(&rows, WS_DOUBT_GRID_ROW, "",
	       "grid 0: its row holds values that are "
	       "impossible or contradict other rows");
	rows = sound();
	rows.block.damaged = true;
	rows.block.idx.y = 3;
	expect(&rows, WS_DOUBT_BLOCK_ROW, "", "block (0,3,0) is outside its extent (0,0,0)");
	rows.block.idx.y = 70000;
	expect(&rows, WS_DOUBT_BLOCK_ROW, "", "block (0,70000,0): no grid is that large");
}

static void blocks_and_grids(void **state)
{
	(void)state;
	struct rows rows = sound();
	rows.block.grid_index = WS_NONE;
	rows.block.grid_id = -5;
	expect(&rows, WS_DOUBT_BLOCK_GRID, "",
	       "grid -5 of a block is not in the grid table of the device");
	rows = sound();
	rows.grid.id = 6;
	rows.grid.module_index = WS_NONE;
	rows.grid.module_handle = 0x40;
	expect(&rows, WS_DOUBT_GRID_MODULE, "",
	       "module 0x40 of grid 6 is not in the module table of its context");
	rows.grid.context_index = WS_NONE; /* whose modules nobody knows: said once */
	rows.grid.context_id = 0x30;
	expect(&rows, WS_DOUBT_GRID_CONTEXT, "",
	       "context 0x30 of grid 6 is not in the context table of the device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_can_be_raise_no_doubt),
		cmocka_unit_test(devices_and_sms),
		cmocka_unit_test(warps),
		cmocka_unit_test(lanes),
		cmocka_unit_test(threads_are_where_they_can_be),
		cmocka_unit_test(rows_that_others_contradict),
		cmocka_unit_test(blocks_and_grids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
