/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the lists ---- */

union element {
	struct ws_device device;
	struct ws_context context;
	struct ws_module module;
	struct ws_grid grid;
	struct ws_sm sm;
	struct ws_block block;
	struct ws_warp warp;
};

#define GET(kind)                                                                        \
	static enum ws_status get_##kind(const struct ws_target *target, uint32_t index, \
					 union element *ret, struct ws_error *err)       \
	{                                                                                \
		return ws_target_##kind(target, index, &ret->kind, err);                 \
	}
GET(device)
GET(context)
GET(module)
GET(grid)
GET(sm)
GET(block)
GET(warp)

struct list {
	const char *name;
	size_t count; /* offset in struct ws_counts */
	enum ws_status (*get)(const struct ws_target *, uint32_t, union element *,
			      struct ws_error *);
};

static const struct list lists[] = {
	{ "device", offsetof(struct ws_counts, devices), get_device },
	{ "context", offsetof(struct ws_counts, contexts), get_context },
	{ "module", offsetof(struct ws_counts, modules), get_module },
	{ "grid", offsetof(struct ws_counts, grids), get_grid },
	{ "sm", offsetof(struct ws_counts, sms), get_sm },
	{ "block", offsetof(struct ws_counts, blocks), get_block },
	{ "warp", offsetof(struct ws_counts, warps), get_warp },
};

enum { N_LISTS = sizeof lists / sizeof *lists };

static uint32_t length_of(const struct ws_target *target, const struct list *list)
{
	struct ws_counts counts;
	uint32_t n;
	ws_target_counts(target, &counts);
	memcpy(&n, (const char *)&counts + list->count, sizeof n);
	return n;
}

static struct ws_counts counts_of(const struct ws_target *target)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	return counts;
}

/* A row is there, or the target says why not: it is lost, or nobody tells of it. */
static bool is_told(enum ws_status st, const struct ws_error *err)
{
	if (st == WS_OK)
		return true;
	assert_true(st == WS_ABSENT || st == WS_UNSUPPORTED || st == WS_MALFORMED ||
		    st == WS_TRUNCATED);
	assert_int_equal(err->status, st);
	assert_int_not_equal(err->message[0], 0);
	return false;
}

static void elements_up_to_the_count(struct ws_target *target)
{
	union element element;
	struct ws_error err;
	uint32_t told = 0;
	for (const struct list *list = lists; list < lists + N_LISTS; list++)
		for (uint32_t i = 0; i < length_of(target, list); i++)
			told += is_told(list->get(target, i, &element, &err), &err);
	assert_int_not_equal(told, 0);
}

static void no_element_past_the_count(struct ws_target *target)
{
	union element element, before;
	struct ws_error err;
	char wanted[100];
	memset(&before, 0x5a, sizeof before);
	for (const struct list *list = lists; list < lists + N_LISTS; list++) {
		uint32_t n = length_of(target, list);
		const uint32_t past[] = { n, n + 1, WS_NONE };
		for (int i = 0; i < 3; i++) {
			element = before;
			assert_int_equal(list->get(target, past[i], &element, &err), WS_ARGUMENT);
			assert_int_equal(err.status, WS_ARGUMENT);
			snprintf(wanted, sizeof wanted, "no %s %u, there are %u", list->name,
				 past[i], n);
			assert_string_equal(err.message, wanted);
			assert_memory_equal(&element, &before, sizeof element);
		}
	}
}

static void a_warp_past_the_count_has_nothing(struct ws_target *target)
{
	struct ws_lane lanes[WS_MAX_LANES];
	struct ws_return_address callers[2];
	uint32_t value, n = 77, index = counts_of(target).warps;
	assert_int_equal(ws_target_lanes(target, index, lanes, &n, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_lane(target, index, 0, lanes, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_call_stack(target, index, 0, callers, 2, &n, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_registers(target, index, 0, WS_REG_R, 0, 1, &value, &n, NULL),
			 WS_ARGUMENT);
	assert_int_equal(n, 77);
}

static void is_index(uint32_t index, uint32_t count, bool may_be_none)
{
	if (index != WS_NONE || !may_be_none)
		assert_in_range(index, 0, count ? count - 1 : 0);
}

static void indices_name_what_is_there(struct ws_target *target)
{
	struct ws_counts n = counts_of(target);
	union element e;
	struct ws_error err;
	for (uint32_t i = 0; i < n.contexts; i++) {
		if (!is_told(get_context(target, i, &e, &err), &err))
			continue;
		is_index(e.context.device_index, n.devices, false);
	}
	for (uint32_t i = 0; i < n.modules; i++) {
		if (!is_told(get_module(target, i, &e, &err), &err))
			continue;
		is_index(e.module.device_index, n.devices, false);
		is_index(e.module.context_index, n.contexts, true);
	}
	for (uint32_t i = 0; i < n.grids; i++) {
		if (!is_told(get_grid(target, i, &e, &err), &err))
			continue;
		is_index(e.grid.device_index, n.devices, false);
		is_index(e.grid.context_index, n.contexts, true);
		is_index(e.grid.module_index, n.modules, true);
	}
	for (uint32_t i = 0; i < n.blocks; i++) {
		if (!is_told(get_block(target, i, &e, &err), &err))
			continue;
		is_index(e.block.device_index, n.devices, false);
		is_index(e.block.sm_index, n.sms, false);
		is_index(e.block.grid_index, n.grids, true);
	}
	struct ws_memory_range range;
	for (uint32_t i = 0; ws_target_memory_range(target, i, &range, NULL) == WS_OK; i++) {
		is_index(range.device_index, n.devices, true);
		is_index(range.grid_index, n.grids, true);
		is_index(range.block_index, n.blocks, true);
		is_index(range.warp_index, n.warps, true);
		is_index(range.lane, WS_MAX_LANES, true);
	}
}

static void warps_belong_to_their_sm(struct ws_target *target)
{
	struct ws_counts n = counts_of(target);
	uint32_t next = 0, last_device = 0, last_id = 0;
	for (uint32_t i = 0; i < n.sms; i++) {
		struct ws_sm sm;
		uint32_t last_warp = 0;
		assert_int_equal(ws_target_sm(target, i, &sm, NULL), WS_OK);
		is_index(sm.device_index, n.devices, false);
		if (i > 0 && sm.device_index == last_device)
			assert_true(sm.id >= last_id);
		else if (i > 0)
			assert_true(sm.device_index > last_device);
		last_device = sm.device_index;
		last_id = sm.id;
		if (sm.n_warps > 0)
			assert_int_equal(sm.first_warp_index, next);
		for (uint32_t k = 0; k < sm.n_warps; k++) {
			struct ws_warp warp;
			assert_int_equal(ws_target_warp(target, next + k, &warp, NULL), WS_OK);
			assert_int_equal(warp.sm_index, i);
			assert_int_equal(warp.device_index, sm.device_index);
			is_index(warp.block_index, n.blocks, false);
			assert_int_equal(warp.active_lanes & ~warp.valid_lanes, 0);
			assert_true(k == 0 || warp.id >= last_warp);
			last_warp = warp.id;
		}
		next += sm.n_warps;
	}
	assert_int_equal(next, n.warps);
}

/* ---- lanes ---- */

static void lanes_in_the_order_of_ids(struct ws_target *target)
{
	for (uint32_t i = 0; i < counts_of(target).warps; i++) {
		struct ws_lane lanes[WS_MAX_LANES + 1];
		uint32_t n = 77;
		memset(&lanes[WS_MAX_LANES], 0x5a, sizeof *lanes);
		assert_int_equal(ws_target_lanes(target, i, lanes, &n, NULL), WS_OK);
		assert_in_range(n, 0, WS_MAX_LANES);
		for (uint32_t k = 0; k < n; k++) {
			assert_in_range(lanes[k].id, k ? lanes[k - 1].id + 1 : 0, WS_MAX_LANES - 1);
		}
		assert_int_equal(*(const unsigned char *)&lanes[WS_MAX_LANES], 0x5a);
	}
}

static void same_lane(const struct ws_lane *a, const struct ws_lane *b)
{
	assert_int_equal(a->have, b->have);
	assert_int_equal(a->id, b->id);
	assert_true(a->pc == b->pc && a->rel_pc == b->rel_pc);
	assert_memory_equal(&a->thread, &b->thread, sizeof a->thread);
	assert_int_equal(a->exception, b->exception);
	assert_int_equal(a->call_depth, b->call_depth);
	assert_int_equal(a->syscall_call_depth, b->syscall_call_depth);
	assert_int_equal(a->cbu_state, b->cbu_state);
}

static void one_lane_is_that_of_the_list(struct ws_target *target)
{
	for (uint32_t i = 0; i < counts_of(target).warps; i++) {
		struct ws_lane lanes[WS_MAX_LANES], lane;
		uint32_t n = 0, k = 0;
		assert_int_equal(ws_target_lanes(target, i, lanes, &n, NULL), WS_OK);
		for (uint32_t id = 0; id < WS_MAX_LANES; id++) {
			enum ws_status st = ws_target_lane(target, i, id, &lane, NULL);
			if (k < n && lanes[k].id == id) {
				assert_int_equal(st, WS_OK);
				same_lane(&lane, &lanes[k++]);
			} else {
				assert_int_equal(st, WS_ABSENT);
			}
		}
		assert_int_equal(k, n);
		assert_int_equal(ws_target_lane(target, i, WS_MAX_LANES, &lane, NULL), WS_ARGUMENT);
		assert_int_equal(ws_target_lane(target, i, WS_NONE, &lane, NULL), WS_ARGUMENT);
	}
}

enum { MAX_CALLERS = 64 };

static void callers_as_many_as_asked(struct ws_target *target)
{
	for (uint32_t i = 0; i < counts_of(target).warps; i++) {
		struct ws_lane lanes[WS_MAX_LANES];
		struct ws_return_address all[MAX_CALLERS], some[2], none;
		uint32_t n_lanes = 0, n = 77, again = 77;
		assert_int_equal(ws_target_lanes(target, i, lanes, &n_lanes, NULL), WS_OK);
		if (n_lanes == 0)
			continue;
		uint32_t id = lanes[n_lanes - 1].id;
		assert_int_equal(ws_target_call_stack(target, i, id, all, MAX_CALLERS, &n, NULL),
				 WS_OK);
		for (uint32_t k = 0; k < n && k < MAX_CALLERS; k++) {
			assert_int_equal(all[k].level, k);
			/* an offset in its function */
			assert_true(all[k].rel_address <= all[k].address);
		}
		memset(some, 0x5a, sizeof some);
		none = some[0];
		assert_int_equal(ws_target_call_stack(target, i, id, some, 1, &again, NULL), WS_OK);
		assert_int_equal(again, n);
		if (n > 0)
			assert_true(some[0].address == all[0].address);
		assert_memory_equal(&some[1], &none, sizeof none);
		assert_int_equal(ws_target_call_stack(target, i, id, NULL, 0, &again, NULL), WS_OK);
		assert_int_equal(again, n);
	}
}

/* ---- registers ---- */

enum { MANY_REGISTERS = 512 };

/* All registers of a kind at once, one at a time, and past the last. */
static void registers_of(const struct ws_target *target, uint32_t warp, uint32_t lane,
			 enum ws_reg_kind kind)
{
	uint32_t all[MANY_REGISTERS], one[2] = { 0, 0x5a5a5a5a }, n = 77, got = 77;
	enum ws_status st =
		ws_target_registers(target, warp, lane, kind, 0, MANY_REGISTERS, all, &n, NULL);
	if (st != WS_OK) {
		assert_true(st == WS_ABSENT || st == WS_EXCLUDED || st == WS_TRUNCATED);
		return;
	}
	assert_in_range(n, 1, MANY_REGISTERS - 1);
	for (uint32_t i = 0; i<n; i += n> 8 ? n / 4 : 1) {
		st = ws_target_registers(target, warp, lane, kind, i, 1, one, &got, NULL);
		assert_int_equal(st, WS_OK);
		assert_int_equal(got, 1);
		assert_int_equal(one[0], all[i]);
		assert_int_equal(one[1], 0x5a5a5a5a);
	}
	st = ws_target_registers(target, warp, lane, kind, n - 1, 2, one, &got, NULL);
	assert_int_equal(st, WS_OK);
	assert_int_equal(got, 1);
	got = 77;
	one[0] = 0x5a5a5a5a;
	st = ws_target_registers(target, warp, lane, kind, n, 1, one, &got, NULL);
	assert_int_equal(st, WS_ABSENT);
	st = ws_target_registers(target, warp, lane, kind, WS_NONE, 1, one, &got, NULL);
	assert_int_equal(st, WS_ABSENT);
	assert_int_equal(got, 77);
	assert_int_equal(one[0], 0x5a5a5a5a);
}

static void registers_end_where_they_end(struct ws_target *target)
{
	static const enum ws_reg_kind kinds[] = { WS_REG_R, WS_REG_P, WS_REG_UR, WS_REG_UP,
						  WS_REG_BARRIER };
	for (uint32_t i = 0; i < counts_of(target).warps; i++) {
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n = 0;
		assert_int_equal(ws_target_lanes(target, i, lanes, &n, NULL), WS_OK);
		for (int k = 0; n > 0 && k < 5; k++)
			registers_of(target, i, lanes[n / 2].id, kinds[k]);
	}
}

/* ---- memory ---- */

static uint64_t range_key(const struct ws_memory_range *range)
{
	return (uint64_t)range->space << 32 | ws_memory_range_owner(range);
}

static struct ws_address start_of(const struct ws_memory_range *range)
{
	bool bank = range->space == WS_SPACE_CONST;
	return (struct ws_address){ .space = range->space,
				    .bank = range->bank,
				    .device_index = range->device_index,
				    .grid_index = range->grid_index,
				    .warp_index = range->warp_index,
				    .lane = range->lane,
				    .address = bank ? 0 : range->start };
}

static void ranges_are_sorted_and_found(struct ws_target *target)
{
	struct ws_memory_range range, last = { 0 };
	uint32_t n = 0;
	for (; ws_target_memory_range(target, n, &range, NULL) == WS_OK; n++, last = range) {
		uint32_t lane = range.space == WS_SPACE_LOCAL ? range.lane : 0;
		if (n > 0)
			assert_true(range_key(&range) >= range_key(&last));
		uint32_t first = ws_target_first_range(target, range.space,
						       ws_memory_range_owner(&range), lane);
		assert_in_range(first, 0, n);
		struct ws_memory_range found;
		assert_int_equal(ws_target_memory_range(target, first, &found, NULL), WS_OK);
		assert_true(range_key(&found) == range_key(&range));
	}
	assert_int_equal(ws_target_first_range(target, WS_SPACE_GENERIC, 0, 0), n);
	enum ws_status st = ws_target_memory_range(target, n, &range, NULL);
	assert_true(st == WS_ABSENT || (n == 0 && st == WS_UNSUPPORTED));
}

/* Shared memory is read by a warp of its block; the range names the block alone. */
static bool address_a_range(const struct ws_target *target, const struct ws_memory_range *range,
			    struct ws_address *ret)
{
	*ret = start_of(range);
	if (range->space != WS_SPACE_SHARED)
		return true;
	for (uint32_t i = 0; i < counts_of(target).warps; i++) {
		struct ws_warp warp;
		if (ws_target_warp(target, i, &warp, NULL) == WS_OK &&
		    warp.block_index == range->block_index) {
			ret->warp_index = i;
			return true;
		}
	}
	return false;
}

static void ranges_can_be_read_whole(struct ws_target *target)
{
	struct ws_memory_range range;
	for (uint32_t i = 0; ws_target_memory_range(target, i, &range, NULL) == WS_OK; i++) {
		struct ws_address at;
		uint8_t bytes[8];
		size_t n = 77, want = range.bytes_present < 8 ? range.bytes_present : 8;
		if (want == 0 || !address_a_range(target, &range, &at))
			continue;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, want, &n, NULL), WS_OK);
		assert_int_equal(n, want);
		at.address += range.bytes_present - want;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, want, &n, NULL), WS_OK);
		assert_int_equal(n, want);
	}
}

static void reads_stop_where_memory_stops(struct ws_target *target)
{
	const struct ws_address nowhere = { .space = WS_SPACE_GLOBAL,
					    .device_index = WS_NONE,
					    .address = UINT64_MAX - 3 };
	uint8_t bytes[16];
	size_t n = 77;
	enum ws_status st = ws_target_read_memory(target, &nowhere, bytes, sizeof bytes, &n, NULL);
	assert_true(st == WS_ABSENT || st == WS_EXCLUDED || st == WS_UNSUPPORTED);
	assert_int_equal(n, 0);
	const struct ws_address no_code = { .space = WS_SPACE_CODE,
					    .device_index = WS_NONE,
					    .address = 8 };
	n = 77;
	st = ws_target_read_memory(target, &no_code, bytes, sizeof bytes, &n, NULL);
	assert_true(st == WS_ABSENT || st == WS_EXCLUDED || st == WS_UNSUPPORTED);
	assert_int_equal(n, 0);
}

static void nothing_is_read_of_no_bytes(struct ws_target *target)
{
	struct ws_memory_range range;
	struct ws_address at;
	size_t n = 77;
	for (uint32_t i = 0; ws_target_memory_range(target, i, &range, NULL) == WS_OK; i++)
		if (address_a_range(target, &range, &at)) {
			assert_int_equal(ws_target_read_memory(target, &at, NULL, 0, &n, NULL),
					 WS_OK);
			assert_int_equal(n, 0);
			return;
		}
}

/* ---- look-ups by id ---- */

static void ids_find_their_indices(struct ws_target *target)
{
	struct ws_counts n = counts_of(target);
	uint32_t found = 77;
	for (uint32_t i = 0; i < n.devices; i++) {
		struct ws_device device;
		assert_int_equal(ws_target_device(target, i, &device, NULL), WS_OK);
		assert_int_equal(ws_target_find_device(target, device.id, &found, NULL), WS_OK);
		assert_int_equal(found, i);
	}
	for (uint32_t i = 0; i < n.sms; i++) {
		struct ws_sm sm;
		assert_int_equal(ws_target_sm(target, i, &sm, NULL), WS_OK);
		assert_int_equal(ws_target_find_sm(target, sm.device_index, sm.id, &found, NULL),
				 WS_OK);
		assert_int_equal(found, i);
		for (uint32_t k = sm.first_warp_index; k < sm.first_warp_index + sm.n_warps; k++) {
			struct ws_warp warp;
			assert_int_equal(ws_target_warp(target, k, &warp, NULL), WS_OK);
			assert_int_equal(ws_target_find_warp(target, i, warp.id, &found, NULL),
					 WS_OK);
			assert_int_equal(found, k);
		}
	}
}

static void ids_that_are_not_there_are_absent(struct ws_target *target)
{
	struct ws_counts n = counts_of(target);
	uint32_t found = 77;
	assert_int_equal(ws_target_find_device(target, 0x7ffffff0, &found, NULL), WS_ABSENT);
	assert_int_equal(ws_target_find_sm(target, 0, 0x7ffffff0, &found, NULL), WS_ABSENT);
	assert_int_equal(ws_target_find_sm(target, n.devices, 0, &found, NULL), WS_ABSENT);
	assert_int_equal(ws_target_find_warp(target, n.sms, 0, &found, NULL), WS_ARGUMENT);
	if (n.sms > 0)
		assert_int_equal(ws_target_find_warp(target, 0, 0x7ffffff0, &found, NULL),
				 WS_ABSENT);
	assert_int_equal(found, 77);
}

/* ---- optional members ---- */

static void a_missing_member_is_unsupported(struct ws_target *target)
{
	const struct ws_step step = { .steps = 1, .lane = WS_NONE };
	const struct ws_address at = { .space = WS_SPACE_GLOBAL, .device_index = WS_NONE };
	uint64_t moved;
	uint32_t value = 0;
	struct ws_event event;
	if (ws_target_can(target, WS_CAN_RUN))
		return;
	uint64_t address;
	size_t got;
	assert_false(ws_target_running(target, 0));
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	assert_int_equal(ws_target_want(target, UINT32_MAX, NULL), WS_OK);
	assert_int_equal(ws_target_read_host(target, 16, &value, 4, &got, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_write_host(target, 16, &value, 4, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_host_address(target, 0, 16, &address, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_detach(target, false, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_step(target, &step, &moved, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_run_until(target, 0, 1, 16, 0, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_plant(target, 0, 16, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_unplant(target, 0, 16, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_stop_at_launch(target, true, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_write_memory(target, &at, "", 1, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_R, 0, 1, &value, NULL),
			 WS_UNSUPPORTED);
	assert_int_equal(ws_target_write_rpc(target, 0, 0, 1, 2, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_acknowledge(target, UINT64_MAX, NULL), WS_OK);
}

/* ---- what changed ---- */

static void nothing_changes_by_reading(struct ws_target *target)
{
	struct ws_change changes[WS_MAX_CHANGES];
	uint64_t before = target->generation;
	uint32_t n = 77;
	elements_up_to_the_count(target);
	lanes_in_the_order_of_ids(target);
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	assert_true(target->generation == before);
	assert_true(ws_target_changes(target, before, changes, &n));
	assert_int_equal(n, 0);
}

static void diagnostics_end_with_absent(struct ws_target *target)
{
	struct ws_diagnostic diagnostic;
	struct ws_dump_facts facts;
	enum ws_status st = WS_OK;
	uint32_t n = 0;
	for (; n < 1000 && st == WS_OK; n++)
		st = ws_target_diagnostic(target, n, &diagnostic, NULL);
	bool is_file = ws_target_dump_facts(target, &facts, NULL) == WS_OK;
	assert_true(st == WS_ABSENT || (!is_file && st == WS_UNSUPPORTED));
	if (is_file)
		assert_non_null(facts.path);
}

const struct conformance_check conformance_checks[] = {
	{ "every element up to the count is told, or why not", elements_up_to_the_count },
	{ "no element past the count can be had", no_element_past_the_count },
	{ "a warp past the count has nothing", a_warp_past_the_count_has_nothing },
	{ "indices name what is there", indices_name_what_is_there },
	{ "warps follow their SM in the order of ids", warps_belong_to_their_sm },
	{ "lanes come in the order of ids", lanes_in_the_order_of_ids },
	{ "one lane is that of the list", one_lane_is_that_of_the_list },
	{ "callers are written as many as asked", callers_as_many_as_asked },
	{ "registers end where they end", registers_end_where_they_end },
	{ "memory ranges are sorted and found", ranges_are_sorted_and_found },
	{ "memory ranges can be read whole", ranges_can_be_read_whole },
	{ "reads stop where memory stops", reads_stop_where_memory_stops },
	{ "nothing is read of no bytes", nothing_is_read_of_no_bytes },
	{ "ids find their indices", ids_find_their_indices },
	{ "ids that are not there are absent", ids_that_are_not_there_are_absent },
	{ "a missing member is unsupported", a_missing_member_is_unsupported },
	{ "nothing changes by reading", nothing_changes_by_reading },
	{ "the list of diagnostics ends", diagnostics_end_with_absent },
	{ NULL, NULL },
};
