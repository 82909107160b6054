/* SPDX-License-Identifier: Apache-2.0 */
/* Targets joined, when what a part tells comes late. What they promise as any target is in the
 * suite of all back ends (test_target.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/join.h>

#include "base/base.h"
#include "fake.h"

static struct fake parts[2];
static struct ws_target *both;

static int join_two(void **state)
{
	struct ws_target *targets[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		fake_init(&parts[i], 1, 1, 32);
		fake_may_run(&parts[i]);
		targets[i] = &parts[i].target;
	}
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
	assert_int_equal(ws_target_want(both, WS_WANT_STOPS, NULL), WS_OK);
	return 0;
}

static int part_two(void **state)
{
	(void)state;
	ws_target_close(both);
	for (int i = 0; i < 2; i++)
		ws_target_close(&parts[i].target);
	return 0;
}

/* A part stops by itself. Its thread does not come to tell. */
static void stops_untold(struct fake *part)
{
	const struct ws_event event = { .kind = WS_EVENT_STOPPED,
					.sync = true,
					.broken_devices = 1 };
	part->runs[0] = false;
	part->wake = NULL;
	fake_event(part, &event);
}

static void a_stop_from_before_a_resume_stops_nobody_after_it(void **state)
{
	struct ws_event event;
	(void)state;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, 0, true, NULL), WS_OK);
	while (ws_target_next_event(both, &event, NULL) == WS_OK)
		continue;
	stops_untold(&parts[1]);
	assert_int_equal(ws_target_resume(both, 0, NULL), WS_OK);
	assert_true(ws_target_running(both, 0));
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_OK);
	assert_int_equal(event.kind, WS_EVENT_STOPPED);
	assert_int_equal(event.broken_devices, 2);
	assert_true(ws_target_running(both, 0));
}

static void a_stop_of_one_stops_the_other(void **state)
{
	struct ws_event event;
	(void)state;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	stops_untold(&parts[1]);
	(void)!ws_target_next_event(both, &event, NULL);
	assert_false(ws_target_running(both, 0));
}

static void only_targets_that_run_are_joined_and_not_too_many(void **state)
{
	enum { MANY = WS_MAX_JOINED + 1 };
	static struct fake fakes[MANY];
	struct ws_target *targets[MANY], *joined = NULL;
	struct ws_counts counts;
	struct ws_error err;
	(void)state;
	for (int i = 0; i < MANY; i++) {
		fake_init(&fakes[i], 1, 1, 32);
		fake_may_run(&fakes[i]);
		targets[i] = &fakes[i].target;
	}
	assert_int_equal(ws_target_join(targets, 0, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "0 targets");
	assert_int_equal(ws_target_join(targets, MANY, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "33 targets");
	assert_int_equal(ws_target_join(targets, WS_MAX_JOINED, &joined, &err), WS_OK);
	ws_target_counts(joined, &counts);
	assert_int_equal(counts.devices, WS_MAX_JOINED);
	assert_int_equal(counts.warps, WS_MAX_JOINED);
	assert_int_equal(ws_target_resume(joined, WS_NONE, &err), WS_OK);
	for (uint32_t i = 0; i < WS_MAX_JOINED; i++)
		assert_true(ws_target_running(joined, i));
	stops_untold(&fakes[WS_MAX_JOINED - 1]);
	(void)!ws_target_next_event(joined, &(struct ws_event){ .kind = 0 }, NULL);
	for (uint32_t i = 0; i < WS_MAX_JOINED; i++)
		assert_false(ws_target_running(joined, i));
	ws_target_close(joined);
	fakes[1].device[0].id = 1; /* its only one is not device 0 */
	assert_int_equal(ws_target_join(targets, 2, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "target 1 cannot be joined");
	fakes[1].device[0].id = 0;
	ws_target_close(&fakes[0].target);
	fake_init(&fakes[0], 1, 1, 32); /* it cannot run */
	assert_int_equal(ws_target_join(targets, 2, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "target 0 cannot be joined");
	for (int i = 0; i < MANY; i++)
		ws_target_close(&fakes[i].target);
}

/* ---- what goes to which part ---- */

enum { FIRST = 0, SECOND = 1 }; /* parts, of two devices each */

/* What the members that no fake has were asked last. */
static struct {
	const struct ws_target *target;
	uint32_t device_index, number;
	uint64_t pc;
	const void *condition;
	struct ws_watch watch;
} asked;
static uint32_t next_number;
static struct ws_memory_range ranges[2][5];
static uint32_t n_ranges[2];
static struct ws_watch_hit hits[2][2];
static uint32_t n_hits[2];

static int part_of(const struct ws_target *target)
{
	return target == &parts[SECOND].target;
}

static enum ws_status stop_if(struct ws_target *target, uint32_t device_index, uint64_t pc,
			      ws_stop_if_fn *holds, const void *condition, struct ws_error *err)
{
	(void)holds, (void)err;
	asked.target = target;
	asked.device_index = device_index;
	asked.pc = pc;
	asked.condition = condition;
	return WS_OK;
}

static enum ws_status watch(struct ws_target *target, const struct ws_watch *what,
			    uint32_t *ret_number, struct ws_error *err)
{
	(void)err;
	asked.target = target;
	asked.watch = *what;
	*ret_number = next_number;
	return WS_OK;
}

static enum ws_status unwatch(struct ws_target *target, uint32_t number, struct ws_error *err)
{
	(void)err;
	asked.target = target;
	asked.number = number;
	return WS_OK;
}

static enum ws_status watch_hit(const struct ws_target *target, uint32_t index,
				struct ws_watch_hit *ret_hit, struct ws_error *err)
{
	(void)err;
	int part = part_of(target);
	if (index >= n_hits[part])
		return WS_ABSENT;
	*ret_hit = hits[part][index];
	return WS_OK;
}

static enum ws_status memory_range(const struct ws_target *target, uint32_t index,
				   struct ws_memory_range *ret_range, struct ws_error *err)
{
	(void)err;
	int part = part_of(target);
	if (index >= n_ranges[part])
		return WS_ABSENT;
	*ret_range = ranges[part][index];
	return WS_OK;
}

/* Parts with rows of every kind, that can do all that there is. */
static int join_whole(void **state)
{
	struct ws_target *targets[2];
	(void)state;
	memset(&asked, 0, sizeof asked);
	for (int i = 0; i < 2; i++) {
		fake_init_running(&parts[i]);
		parts[i].device[1].id = 1;
		parts[i].ops.stop_if = stop_if;
		parts[i].ops.watch = watch;
		parts[i].ops.unwatch = unwatch;
		parts[i].ops.watch_hit = watch_hit;
		targets[i] = &parts[i].target;
		n_hits[i] = n_ranges[i] = 0;
	}
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
	assert_int_equal(ws_target_want(both, UINT32_MAX, NULL), WS_OK);
	return 0;
}

static uint32_t moved(uint32_t index, uint32_t start)
{
	return index == WS_NONE ? WS_NONE : index + start;
}

/* Rows of the second part come after those of the first; nothing of a row is another but indices.
 */
static void indices_in_rows_are_those_of_the_whole(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t part = i / 4, own = i % 4, rows = part * 4, pairs = part * 2;
		struct ws_grid grid;
		struct ws_block block;
		struct ws_warp warp;
		assert_int_equal(ws_target_grid(both, i, &grid, NULL), WS_OK);
		struct ws_grid its_grid = parts[part].grid[own];
		assert_int_equal(grid.device_index, its_grid.device_index + pairs);
		assert_int_equal(grid.context_index, moved(its_grid.context_index, part));
		assert_int_equal(grid.module_index, moved(its_grid.module_index, part));
		assert_true(grid.id == its_grid.id);
		assert_int_equal(ws_target_block(both, i, &block, NULL), WS_OK);
		struct ws_block its_block = parts[part].block[own];
		assert_int_equal(block.device_index, its_block.device_index + pairs);
		assert_int_equal(block.sm_index, its_block.sm_index + pairs);
		assert_int_equal(block.grid_index, moved(its_block.grid_index, rows));
		assert_int_equal(ws_target_warp(both, i, &warp, NULL), WS_OK);
		struct ws_warp its_warp = parts[part].warp[own];
		assert_int_equal(warp.device_index, its_warp.device_index + pairs);
		assert_int_equal(warp.sm_index, its_warp.sm_index + pairs);
		assert_int_equal(warp.block_index, its_warp.block_index + rows);
		assert_int_equal(warp.id, its_warp.id);
	}
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t part = i / 2;
		struct ws_sm sm;
		struct ws_device device;
		assert_int_equal(ws_target_sm(both, i, &sm, NULL), WS_OK);
		assert_int_equal(sm.id, parts[part].sm[i % 2].id);
		assert_int_equal(sm.device_index, part * 2);
		assert_int_equal(sm.first_warp_index,
				 parts[part].sm[i % 2].first_warp_index + part * 4);
		assert_int_equal(ws_target_device(both, i, &device, NULL), WS_OK);
		assert_int_equal(device.id, i);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct ws_context context;
		struct ws_module module;
		assert_int_equal(ws_target_context(both, i, &context, NULL), WS_OK);
		assert_int_equal(context.device_index, i * 2);
		assert_int_equal(ws_target_module(both, i, &module, NULL), WS_OK);
		assert_int_equal(module.device_index, i * 2);
		assert_int_equal(module.context_index, i);
	}
}

static void a_call_goes_to_the_part_that_has_the_row(void **state)
{
	(void)state;
	const uint32_t values[] = { 7, 8 };
	uint64_t mask, addresses[4], host;
	uint32_t n;
	assert_int_equal(ws_target_stop_if(both, 3, 0x50, NULL, values, NULL), WS_OK);
	assert_true(asked.target == &parts[SECOND].target && asked.device_index == 1 &&
		    asked.pc == 0x50 && asked.condition == values);
	assert_int_equal(ws_target_stop_if(both, 1, 0x60, NULL, NULL, NULL), WS_OK);
	assert_true(asked.target == &parts[FIRST].target && asked.device_index == 1);
	assert_int_equal(ws_target_write_rpc(both, 5, 3, 0x30, 0x40, NULL), WS_OK);
	assert_true(parts[SECOND].written_rpc[0] == 0x30 && parts[SECOND].written_rpc[1] == 0x40);
	assert_int_equal(parts[FIRST].written_rpc[0], 0);
	assert_int_equal(ws_target_write_registers(both, 3, 0, WS_REG_R, 4, 2, values, NULL),
			 WS_OK);
	assert_true(parts[FIRST].registers[5] == 8 && parts[SECOND].registers[5] == 105);
	const struct ws_step step = { .warp_index = 6, .lane = 1, .steps = 2 };
	assert_int_equal(ws_target_step(both, &step, &mask, NULL), WS_OK);
	assert_int_equal(parts[SECOND].last_step.warp_index, 2);
	assert_int_equal(ws_target_run_until(both, 2, 1, FAKE_CODE, WS_STEP_NO_WAIT, NULL), WS_OK);
	assert_int_equal(parts[SECOND].until_flags, WS_STEP_NO_WAIT);
	assert_int_equal(parts[FIRST].until_flags, 0);
	assert_int_equal(ws_target_plant(both, 2, FAKE_CODE, NULL), WS_OK);
	assert_true(parts[SECOND].n_planted == 1 && parts[FIRST].n_planted == 0);
	assert_int_equal(ws_target_unplant(both, 1, FAKE_CODE, NULL), WS_OK);
	assert_int_equal(parts[SECOND].n_planted, 1);
	assert_int_equal(ws_target_unplant(both, 3, FAKE_CODE, NULL), WS_OK);
	assert_int_equal(parts[SECOND].n_planted, 0);
	assert_int_equal(ws_target_launch_stack(both, 4, addresses, 4, &n, NULL), WS_OK);
	assert_int_equal(ws_target_launch_stack(both, 3, addresses, 4, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_target_host_address(both, 2, FAKE_GLOBAL + 4, &host, NULL), WS_OK);
	assert_true(host == FAKE_HOST_ADDRESS + 4);
	for (int on = 1; on >= 0; on--) {
		assert_int_equal(ws_target_stop_at_launch(both, on, NULL), WS_OK);
		assert_true(parts[FIRST].at_launch == on && parts[SECOND].at_launch == on);
	}
	assert_int_equal(ws_target_detach(both, true, NULL), WS_OK);
	assert_true(parts[FIRST].detached == 1 && parts[SECOND].detached == 1);
}

/* The first that cannot ends it, and says why. */
static void what_is_asked_of_all_ends_with_the_first_that_cannot(void **state)
{
	(void)state;
	uint32_t set;
	for (int part = 0; part < 2; part++) {
		parts[part].fail_status = WS_IO;
		parts[part].fail_op = FAKE_LAUNCH;
		parts[FIRST].at_launch = parts[SECOND].at_launch = false;
		assert_int_equal(ws_target_stop_at_launch(both, true, NULL), WS_IO);
		assert_int_equal(parts[FIRST].at_launch, part == SECOND);
		assert_false(parts[SECOND].at_launch);
		parts[part].fail_op = FAKE_RULES;
		assert_int_equal(ws_target_log_rules(both, NULL, 0, &set, NULL), WS_IO);
		parts[part].fail_op = FAKE_DETACH;
		assert_int_equal(ws_target_detach(both, true, NULL), WS_IO);
		parts[part].fail_op = FAKE_WANT;
		assert_int_equal(ws_target_want(both, 0, NULL), WS_IO);
		parts[part].fail_op = FAKE_UPDATE;
		assert_int_equal(ws_target_update(both, NULL), WS_IO);
		parts[part].fail_op = FAKE_RESUME;
		assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_IO);
		assert_int_equal(parts[FIRST].runs[0], part == SECOND);
		assert_false(parts[SECOND].runs[0]);
		parts[part].fail_op = FAKE_SUSPEND;
		assert_int_equal(ws_target_suspend(both, WS_NONE, true, NULL), WS_IO);
		parts[part].fail_op = FAKE_NOTHING;
		assert_int_equal(ws_target_suspend(both, WS_NONE, true, NULL), WS_OK);
	}
}

/* ---- watchpoints ---- */

static void watchpoints_of_parts_have_numbers_of_the_whole(void **state)
{
	(void)state;
	struct ws_watch what = { .at = { .space = WS_SPACE_SHARED,
					 .device_index = WS_NONE,
					 .grid_index = WS_NONE,
					 .warp_index = 6,
					 .address = 8 },
				 .size_bytes = 4,
				 .kinds = WS_WATCH_WRITE };
	struct ws_watch_hit hit;
	uint32_t first = 0, second = 0;
	next_number = 3;
	assert_int_equal(ws_target_watch(both, &what, &second, NULL), WS_OK);
	assert_true(asked.target == &parts[SECOND].target && asked.watch.at.warp_index == 2 &&
		    asked.watch.size_bytes == 4);
	what.at.warp_index = 2;
	assert_int_equal(ws_target_watch(both, &what, &first, NULL), WS_OK);
	assert_true(asked.target == &parts[FIRST].target && asked.watch.at.warp_index == 2);
	assert_int_not_equal(first, second);
	n_hits[FIRST] = 1;
	n_hits[SECOND] = 2;
	hits[FIRST][0] = (struct ws_watch_hit){ .number = 3, .warp_index = 1, .lane = 1 };
	hits[SECOND][0] = (struct ws_watch_hit){ .number = 3, .warp_index = 1, .lane = 2 };
	hits[SECOND][1] = (struct ws_watch_hit){ .number = 4, .warp_index = WS_NONE, .lane = 3 };
	assert_int_equal(ws_target_watch_hit(both, 0, &hit, NULL), WS_OK);
	assert_true(hit.number == first && hit.warp_index == 1 && hit.lane == 1);
	assert_int_equal(ws_target_watch_hit(both, 1, &hit, NULL), WS_OK);
	assert_true(hit.number == second && hit.warp_index == 5 && hit.lane == 2);
	assert_int_equal(ws_target_watch_hit(both, 2, &hit, NULL), WS_OK);
	assert_true(hit.warp_index == WS_NONE && hit.lane == 3);
	assert_int_equal(ws_target_watch_hit(both, 3, &hit, NULL), WS_ABSENT);
	assert_int_equal(ws_target_unwatch(both, second, NULL), WS_OK);
	assert_true(asked.target == &parts[SECOND].target && asked.number == 3);
	assert_int_equal(ws_target_unwatch(both, first, NULL), WS_OK);
	assert_true(asked.target == &parts[FIRST].target && asked.number == 3);
	asked.target = NULL;
	assert_int_equal(ws_target_unwatch(both, first + 2, NULL), WS_OK); /* of no part */
	assert_null(asked.target);
}

/* A number that the whole cannot have is given back; so is memory that all devices share. */
static void what_cannot_be_watched_is_not(void **state)
{
	(void)state;
	struct ws_watch what = { .at = { .space = WS_SPACE_GLOBAL,
					 .device_index = 2,
					 .grid_index = WS_NONE,
					 .warp_index = WS_NONE,
					 .address = FAKE_MANAGED },
				 .size_bytes = 4,
				 .kinds = WS_WATCH_WRITE };
	struct ws_error err;
	uint32_t number = 0;
	next_number = UINT32_MAX / WS_MAX_JOINED - 1;
	assert_int_equal(ws_target_watch(both, &what, &number, NULL), WS_OK);
	assert_int_equal(number, next_number * WS_MAX_JOINED + SECOND);
	next_number++;
	assert_int_equal(ws_target_watch(both, &what, &number, &err), WS_LIMIT);
	assert_string_equal(err.message, "too many watchpoints");
	assert_true(asked.target == &parts[SECOND].target && asked.number == next_number);
	asked.target = NULL;
	what.at.address = FAKE_GLOBAL; /* pinned memory of the host */
	assert_int_equal(ws_target_watch(both, &what, &number, &err), WS_UNSUPPORTED);
	assert_null(asked.target);
	parts[FIRST].fail_op = FAKE_HOST; /* of one device only */
	parts[FIRST].fail_status = WS_ABSENT;
	next_number = 1;
	assert_int_equal(ws_target_watch(both, &what, &number, &err), WS_OK);
}

/* ---- memory ---- */

static void memory_is_that_of_the_part(void **state)
{
	(void)state;
	static const uint8_t code[] = { 9, 8, 7, 6 };
	const uint8_t bytes[] = { 21, 22 };
	struct ws_address at = { .space = WS_SPACE_SHARED,
				 .device_index = WS_NONE,
				 .grid_index = WS_NONE,
				 .warp_index = 4,
				 .address = 8 };
	struct ws_error err;
	uint8_t back[2];
	size_t n;
	assert_int_equal(ws_target_write_memory(both, &at, bytes, 2, NULL), WS_OK);
	assert_true(parts[SECOND].shared[8] == 21 && parts[FIRST].shared[8] == 8);
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_OK);
	assert_true(n == 2 && back[0] == 21);
	at = (struct ws_address){ .space = WS_SPACE_PARAM, .grid_index = 4, .address = 0x210 };
	at.device_index = WS_NONE;
	assert_int_equal(ws_target_write_memory(both, &at, bytes, 2, NULL), WS_OK);
	assert_int_equal(parts[SECOND].written.grid_index, 0);
	at.space = WS_SPACE_GLOBAL; /* is of a device, whatever warp is named */
	at.warp_index = 0;
	at.device_index = 3;
	at.address = FAKE_MANAGED;
	assert_int_equal(ws_target_write_memory(both, &at, bytes, 2, NULL), WS_OK);
	assert_true(parts[SECOND].written.address == FAKE_MANAGED);
	/* where no device is named: the one that has it, unless several have other memory there */
	parts[SECOND].code = 0x70000000;
	parts[SECOND].code_text = (struct ws_span){ code, sizeof code, 0 };
	at.space = WS_SPACE_CODE;
	at.device_index = WS_NONE;
	at.address = 0x70000001;
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_OK);
	assert_true(back[0] == 8 && back[1] == 7);
	at.address = FAKE_CODE + 3;
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_OK);
	assert_int_equal(back[0], 3);
	at.device_index = 4; /* there is none: as if none was named */
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_OK);
	at.address = 16;
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_ABSENT);
	at.space = WS_SPACE_GLOBAL;
	at.device_index = WS_NONE;
	at.address = FAKE_MANAGED;
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "devices 0 and 2 have other memory there");
	assert_int_equal(n, 0);
	at.address = FAKE_GLOBAL + 1; /* the host's, and the same */
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_OK);
	parts[SECOND].fail_op = FAKE_READ;
	parts[SECOND].fail_status = WS_ABSENT;
	at.address = FAKE_GLOBAL + FAKE_GLOBAL_BYTES - 1; /* it has one byte there */
	assert_int_equal(ws_target_read_memory(both, &at, back, 1, &n, NULL), WS_OK);
	parts[FIRST].fail_op = FAKE_READ; /* no part: the first one says why */
	parts[FIRST].fail_status = WS_EXCLUDED;
	assert_int_equal(ws_target_read_memory(both, &at, back, 1, &n, NULL), WS_EXCLUDED);
	at.space = WS_SPACE_SHARED;
	at.device_index = 1;
	at.warp_index = 8; /* no warp: then that of the device */
	assert_int_equal(ws_target_read_memory(both, &at, back, 1, &n, NULL), WS_EXCLUDED);
	at.space = WS_SPACE_PARAM;
	at.warp_index = 0;
	at.grid_index = 8; /* no grid: then that of the warp */
	assert_int_equal(ws_target_read_memory(both, &at, back, 1, &n, NULL), WS_EXCLUDED);
	at.space = WS_SPACE_GLOBAL;
	at.device_index = WS_NONE;
	parts[FIRST].fail_op = FAKE_NOTHING;
	parts[SECOND].fail_op = FAKE_READ;
	parts[SECOND].fail_status = WS_RUNNING; /* nobody knows what it has */
	assert_int_equal(ws_target_read_memory(both, &at, back, 2, &n, NULL), WS_RUNNING);
}

static void ranges_of_parts_are_one_sorted_list(void **state)
{
	(void)state;
	const struct ws_memory_range none = { .device_index = WS_NONE,
					      .grid_index = WS_NONE,
					      .block_index = WS_NONE,
					      .warp_index = WS_NONE,
					      .lane = WS_NONE };
	struct ws_memory_range range;
	struct ws_counts counts;
	for (int i = 0; i < 2; i++) {
		parts[i].ops.memory_range = memory_range;
		n_ranges[i] = 5;
		for (int k = 0; k < 5; k++)
			ranges[i][k] = none;
		ranges[i][0].space = WS_SPACE_GLOBAL;
		ranges[i][0].device_index = 1;
		ranges[i][0].start = 0x2000u - 0x1000u * (unsigned)i;
		ranges[i][1].space = WS_SPACE_GLOBAL;
		ranges[i][1].start = 0x3000;
		ranges[i][2].space = WS_SPACE_SHARED;
		ranges[i][2].block_index = 3;
		ranges[i][3].space = WS_SPACE_LOCAL;
		ranges[i][3].warp_index = 2;
		ranges[i][3].lane = 6;
		ranges[i][4].space = WS_SPACE_CONST;
		ranges[i][4].grid_index = 1;
	}
	ws_target_counts(both, &counts);
	assert_int_equal(counts.blocks, 8);
	static const struct {
		enum ws_space space;
		uint32_t device, owner;
		uint64_t start;
	} want[] = {
		{ WS_SPACE_GLOBAL, 3, 0, 0x1000 }, { WS_SPACE_GLOBAL, 1, 0, 0x2000 },
		{ WS_SPACE_GLOBAL, 0, 0, 0x3000 }, { WS_SPACE_GLOBAL, 2, 0, 0x3000 },
		{ WS_SPACE_SHARED, 0, 3, 0 },      { WS_SPACE_SHARED, 2, 7, 0 },
		{ WS_SPACE_LOCAL, 0, 2, 0 },       { WS_SPACE_LOCAL, 2, 6, 0 },
		{ WS_SPACE_CONST, 0, 1, 0 },       { WS_SPACE_CONST, 2, 5, 0 },
	};
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(ws_target_memory_range(both, i, &range, NULL), WS_OK);
		assert_int_equal(range.space, want[i].space);
		assert_int_equal(range.device_index, want[i].device);
		assert_int_equal(ws_memory_range_owner(&range), want[i].owner);
		assert_true(range.start == want[i].start);
	}
	assert_int_equal(ws_target_memory_range(both, 10, &range, NULL), WS_ABSENT);
	n_ranges[SECOND] = 1; /* asked for again only after a change */
	assert_int_equal(ws_target_memory_range(both, 9, &range, NULL), WS_OK);
	const struct ws_step step = { .warp_index = 6, .steps = 1 };
	assert_int_equal(ws_target_step(both, &step, &(uint64_t){ 0 }, NULL), WS_OK);
	assert_int_equal(ws_target_memory_range(both, 5, &range, NULL), WS_OK);
	assert_int_equal(ws_target_memory_range(both, 6, &range, NULL), WS_ABSENT);
}

/* The first that has pinned memory at an address; another answer than "nothing there" ends it. */
static void memory_of_the_host_is_that_of_any_part(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 5, 6 };
	uint8_t back[2];
	size_t n;
	assert_int_equal(ws_target_write_host(both, FAKE_HOST_ADDRESS, bytes, 2, NULL), WS_OK);
	assert_true(parts[FIRST].host[1] == 6 && parts[SECOND].host[1] == 0);
	parts[FIRST].fail_op = FAKE_HOST;
	parts[FIRST].fail_status = WS_ABSENT;
	assert_int_equal(ws_target_write_host(both, FAKE_HOST_ADDRESS, bytes, 2, NULL), WS_OK);
	assert_int_equal(parts[SECOND].host[1], 6);
	assert_int_equal(ws_target_read_host(both, FAKE_HOST_ADDRESS, back, 2, &n, NULL), WS_OK);
	assert_true(n == 2 && back[0] == 5 && back[1] == 6);
	parts[FIRST].fail_status = WS_IO;
	assert_int_equal(ws_target_write_host(both, FAKE_HOST_ADDRESS, bytes, 2, NULL), WS_IO);
	assert_int_equal(ws_target_read_host(both, FAKE_HOST_ADDRESS, back, 2, &n, NULL), WS_IO);
	parts[FIRST].fail_op = FAKE_NOTHING; /* it has a part of the bytes */
	uint64_t last = FAKE_HOST_ADDRESS + sizeof parts[FIRST].host - 1;
	assert_int_equal(ws_target_read_host(both, last, back, 2, &n, NULL), WS_ABSENT);
	assert_int_equal(n, 1);
}

/* ---- events and logs ---- */

/* A part has an event; its thread does not come to tell. */
static void tell(struct fake *part, const struct ws_event *event)
{
	part->wake = NULL;
	fake_event(part, event);
}

static struct ws_event told(void)
{
	struct ws_event event;
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_OK);
	return event;
}

static void devices_in_events_are_those_of_the_whole(void **state)
{
	(void)state;
	const struct ws_event stepped = { .kind = WS_EVENT_STEP_DONE,
					  .device_id = 1,
					  .broken_devices = 2,
					  .faulted_devices = 1 };
	struct ws_event event;
	tell(&parts[SECOND], &stepped);
	event = told();
	assert_int_equal(event.device_id, 3);
	assert_true(event.broken_devices == 8 && event.faulted_devices == 4);
	tell(&parts[FIRST], &stepped);
	event = told();
	assert_true(event.device_id == 1 && event.broken_devices == 2 &&
		    event.faulted_devices == 1);
	/* a stop is told once, with what all of them say */
	const struct ws_event stopped = { .kind = WS_EVENT_STOPPED, .broken_devices = 1 };
	const struct ws_event faulted = { .kind = WS_EVENT_STOPPED, .faulted_devices = 2 };
	tell(&parts[FIRST], &stopped);
	event = told();
	assert_true(event.broken_devices == 1 && event.faulted_devices == 0 && event.sync);
	parts[FIRST].fail_op = FAKE_ACKNOWLEDGE; /* it is the whole that tells: no part waits */
	parts[FIRST].fail_status = WS_IO;
	assert_int_equal(ws_target_acknowledge(both, event.sequence, NULL), WS_OK);
	parts[FIRST].fail_op = FAKE_NOTHING;
	tell(&parts[SECOND], &faulted);
	event = told();
	assert_true(event.broken_devices == 1 && event.faulted_devices == 8);
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, WS_NONE, true, NULL), WS_OK);
	tell(&parts[SECOND], &stopped); /* what was before the resume is over */
	event = told();
	assert_true(event.broken_devices == 4 && event.faulted_devices == 0);
}

static void each_part_is_let_go_by_its_own_events(void **state)
{
	(void)state;
	const struct ws_event ready = { .kind = WS_EVENT_GRID_READY, .sync = true };
	const struct ws_event later = { .kind = WS_EVENT_GRID_FINISHED };
	tell(&parts[SECOND], &ready);
	struct ws_event first = told();
	tell(&parts[FIRST], &later);
	tell(&parts[FIRST], &ready);
	assert_int_equal(told().kind, WS_EVENT_GRID_FINISHED);
	struct ws_event last = told();
	assert_true(last.sequence == first.sequence + 2);
	assert_int_equal(ws_target_acknowledge(both, first.sequence, NULL), WS_OK);
	assert_true(parts[SECOND].n_waiting == 0 && parts[FIRST].n_waiting == 1);
	parts[FIRST].fail_op = FAKE_ACKNOWLEDGE;
	parts[FIRST].fail_status = WS_IO;
	assert_int_equal(ws_target_acknowledge(both, last.sequence, NULL), WS_IO);
	parts[FIRST].fail_op = FAKE_NOTHING;
	assert_int_equal(ws_target_acknowledge(both, last.sequence, NULL), WS_OK);
	assert_int_equal(parts[FIRST].n_waiting, 0);
	tell(&parts[SECOND], &ready); /* all of them, also those that were not read */
	assert_int_equal(ws_target_acknowledge(both, UINT64_MAX, NULL), WS_OK);
	assert_int_equal(parts[SECOND].n_waiting, 0);
}

/* What each part tells of a thing that there is once. */
static void what_there_is_once_is_told_once(void **state)
{
	(void)state;
	static const enum ws_event_kind once[] = { WS_EVENT_LOG_RULES, WS_EVENT_DETACHED };
	struct ws_event event;
	struct ws_log logs[8];
	uint32_t n;
	for (int i = 0; i < 2; i++) {
		const struct ws_event each = { .kind = once[i] };
		for (int part = 1; part >= 0; part--)
			tell(&parts[part], &each);
		assert_int_equal(told().kind, once[i]);
		assert_int_equal(ws_target_next_event(both, &event, NULL), WS_ABSENT);
	}
	const struct ws_event changed = { .kind = WS_EVENT_LOG_RULES };
	tell(&parts[SECOND], &changed); /* the first part does so, too */
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_ABSENT);
	const struct ws_event there = { .kind = WS_EVENT_LOGS_AVAILABLE };
	for (int part = 0; part < 2; part++) {
		tell(&parts[part], &there);
		parts[part].n_logs = 3;
	}
	assert_int_equal(told().kind, WS_EVENT_LOGS_AVAILABLE);
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_take_logs(both, logs, 4, &n, NULL), WS_OK);
	assert_true(n == 4 && logs[2].rule == 2 && logs[3].rule == 0);
	tell(&parts[FIRST], &there); /* there are more: the client knows */
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_take_logs(both, logs, 8, &n, NULL), WS_OK);
	assert_true(n == 2 && logs[0].rule == 1);
	tell(&parts[FIRST], &there);
	assert_int_equal(told().kind, WS_EVENT_LOGS_AVAILABLE);
	parts[FIRST].n_logs = 1; /* what was taken is not lost by what fails after it */
	parts[SECOND].fail_op = FAKE_LOGS;
	parts[SECOND].fail_status = WS_IO;
	assert_int_equal(ws_target_take_logs(both, logs, 8, &n, NULL), WS_OK);
	assert_int_equal(n, 1);
	assert_int_equal(ws_target_take_logs(both, logs, 8, &n, NULL), WS_IO);
}

/* A client that asks one device to stop wants no other to. */
static void a_device_that_is_asked_stops_alone(void **state)
{
	(void)state;
	const struct ws_event stopped = { .kind = WS_EVENT_STOPPED, .sync = true };
	struct ws_event broke = stopped;
	struct ws_event event;
	broke.broken_devices = 1;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, 2, false, NULL), WS_OK);
	tell(&parts[SECOND], &stopped);
	event = told();
	assert_true(event.kind == WS_EVENT_STOPPED && parts[FIRST].runs[0]);
	/* unless it broke before it was asked */
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, 2, false, NULL), WS_OK);
	tell(&parts[SECOND], &broke);
	event = told();
	assert_true(event.broken_devices == 4 && !parts[FIRST].runs[0] && !parts[FIRST].runs[1]);
	/* and all that are asked are told of once */
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, WS_NONE, false, NULL), WS_OK);
	tell(&parts[FIRST], &stopped);
	tell(&parts[SECOND], &stopped);
	assert_int_equal(told().kind, WS_EVENT_STOPPED);
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_ABSENT);
}

static void (*woken)(void *data);
static void *woken_data;

/* The part goes, and breaks before the next one is asked to go. */
static enum ws_status goes_and_breaks(struct ws_target *target, uint32_t device_index,
				      struct ws_error *err)
{
	const struct ws_event broke = { .kind = WS_EVENT_STOPPED, .broken_devices = 1 };
	(void)target, (void)device_index, (void)err;
	tell(&parts[FIRST], &broke);
	woken(woken_data);
	return WS_OK;
}

static void who_breaks_amid_a_resume_stops_those_that_go_after_it(void **state)
{
	(void)state;
	woken = parts[FIRST].wake;
	woken_data = parts[FIRST].wake_data;
	parts[FIRST].ops.resume = goes_and_breaks;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_true(!parts[SECOND].runs[0] && !parts[SECOND].runs[1]);
	assert_int_equal(told().broken_devices, 1);
	assert_int_equal(ws_target_next_event(both, &(struct ws_event){ 0 }, NULL), WS_ABSENT);
}

static enum ws_status no_next_event(struct ws_target *target, struct ws_event *ret_event,
				    struct ws_error *err)
{
	(void)target, (void)ret_event;
	*err = (struct ws_error){ .status = WS_IO, .message = "the line is cut" };
	return WS_IO;
}

/* Of a call that fails and events that cannot be read after it, the call is told. */
static void the_first_that_fails_is_told(void **state)
{
	(void)state;
	struct ws_error err;
	for (int part = 0; part < 2; part++) {
		parts[part].wake = NULL;
		parts[part].ops.next_event = no_next_event;
	}
	assert_int_equal(ws_target_suspend(both, WS_NONE, true, &err), WS_IO);
	assert_string_equal(err.message, "the line is cut");
	assert_int_equal(ws_target_next_event(both, &(struct ws_event){ 0 }, &err), WS_IO);
	parts[FIRST].fail_op = FAKE_SUSPEND;
	parts[FIRST].fail_status = WS_UNSUPPORTED;
	for (int part = 0; part < 2; part++)
		parts[part].ops.next_event = NULL;
	assert_int_equal(ws_target_suspend(both, WS_NONE, true, &err), WS_UNSUPPORTED);
	assert_string_equal(err.message, "made to fail");
}

static unsigned n_allocations;

static bool fails_once(void)
{
	return n_allocations-- == 0;
}

/* What there is no memory for is told later. */
static void events_wait_for_memory(void **state)
{
	(void)state;
	const struct ws_event ready = { .kind = WS_EVENT_GRID_READY, .sync = true };
	for (unsigned i = 0; i < 2; i++) { /* room to take it in, and to keep that it is read */
		struct ws_event event;
		struct ws_error err;
		tell(&parts[SECOND], &ready);
		n_allocations = 0;
		wsi_alloc_should_fail = fails_once;
		enum ws_status st = ws_target_next_event(both, &event, &err);
		wsi_alloc_should_fail = NULL;
		assert_int_equal(st, WS_NO_MEMORY);
		assert_string_equal(err.message, "an event");
		if (i == 1) {
			assert_int_equal(told().kind, WS_EVENT_GRID_READY);
			assert_int_equal(told().kind, WS_EVENT_GRID_READY);
		}
	}
	assert_int_equal(ws_target_next_event(both, &(struct ws_event){ 0 }, NULL), WS_ABSENT);
}

/* Parts outlive the whole, and what it wanted of them. */
static void parts_are_left_as_they_were(void **state)
{
	struct ws_target *targets[2] = { &parts[FIRST].target, &parts[SECOND].target }, *joined;
	(void)state;
	ws_target_close(both);
	for (int i = 0; i < 2; i++)
		assert_true(!parts[i].wake && parts[i].wants == 0 && parts[i].n_waiting == 0);
	parts[SECOND].fail_op = FAKE_WANT;
	parts[SECOND].fail_status = WS_IO;
	assert_int_equal(ws_target_join(targets, 2, &joined, NULL), WS_IO);
	assert_true(!parts[FIRST].wake && !parts[SECOND].wake && parts[FIRST].wants == 0);
	parts[SECOND].fail_op = FAKE_NOTHING;
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
}

static unsigned wakes;

static void wake(void *data)
{
	assert_ptr_equal(data, &wakes);
	wakes++;
}

/* What a part that has an event calls, without a lock of its own: the join asks it at once. */
static void part_wakes(const struct fake *part)
{
	if (part->wake)
		part->wake(part->wake_data);
}

static void any_part_wakes_the_client(void **state)
{
	(void)state;
	wakes = 0;
	part_wakes(&parts[FIRST]); /* nobody listens */
	ws_target_on_event(both, wake, &wakes);
	part_wakes(&parts[FIRST]);
	part_wakes(&parts[SECOND]);
	assert_int_equal(wakes, 2);
	ws_target_on_event(both, NULL, NULL);
	part_wakes(&parts[SECOND]);
	assert_int_equal(wakes, 2);
}

#define WHOLE(name) cmocka_unit_test_setup_teardown(name, join_whole, part_two)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stop_from_before_a_resume_stops_nobody_after_it,
						join_two, part_two),
		cmocka_unit_test_setup_teardown(a_stop_of_one_stops_the_other, join_two, part_two),
		cmocka_unit_test(only_targets_that_run_are_joined_and_not_too_many),
		WHOLE(indices_in_rows_are_those_of_the_whole),
		WHOLE(a_call_goes_to_the_part_that_has_the_row),
		WHOLE(what_is_asked_of_all_ends_with_the_first_that_cannot),
		WHOLE(watchpoints_of_parts_have_numbers_of_the_whole),
		WHOLE(what_cannot_be_watched_is_not),
		WHOLE(memory_is_that_of_the_part),
		WHOLE(ranges_of_parts_are_one_sorted_list),
		WHOLE(memory_of_the_host_is_that_of_any_part),
		WHOLE(devices_in_events_are_those_of_the_whole),
		WHOLE(each_part_is_let_go_by_its_own_events),
		WHOLE(what_there_is_once_is_told_once),
		WHOLE(a_device_that_is_asked_stops_alone),
		WHOLE(who_breaks_amid_a_resume_stops_those_that_go_after_it),
		WHOLE(the_first_that_fails_is_told),
		WHOLE(events_wait_for_memory),
		WHOLE(parts_are_left_as_they_were),
		WHOLE(any_part_wakes_the_client),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
