/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target over a provider that runs: what the waist asks must reach the scripted target at the far
 * end of target/api -> cudbg -> fake, and what happens there must be told here.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <warpscope/cudbg.h>
#include <warpscope/provider.h>
#include <warpscope/write.h>

#include "base/base.h"
#include "route.h"
#include "target/fake.h"

static struct fake fake;
static CUDBGAPI api;
static struct ws_target *target;

static void start(bool running)
{
	if (running)
		fake_init_running(&fake);
	else
		fake_init_still(&fake);
	assert_int_equal(route_open(&fake.target, &api), WS_OK);
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	assert_int_equal(ws_target_from_api(api, UINT32_MAX, 0, &target, NULL), WS_OK);
}

static int stop(void **state)
{
	(void)state;
	ws_target_close(target);
	route_close(api);
	ws_target_close(&fake.target);
	target = NULL;
	api = NULL;
	return 0;
}

static uint32_t count_warps(void)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	return counts.warps;
}

static void a_provider_over_a_dump_cannot_run(void **state)
{
	(void)state;
	start(false);
	assert_false(ws_target_can(target, WS_CAN_RUN));
	assert_false(ws_target_can(target, WS_CAN_WRITE));
	assert_int_equal(ws_target_resume(target, 0, NULL), WS_UNSUPPORTED);
	assert_int_equal(count_warps(), 4);
}

/* ---- the state in one call ---- */

static CUDBGAPI second;

static CUDBGResult overrun(uint32_t dev, CUDBGDeviceInfoQueryType_t type, void *buffer,
			   uint32_t length, uint32_t *ret_length)
{
	CUDBGResult result = second->getDeviceInfo(dev, type, buffer, length, ret_length);
	*ret_length -= *ret_length > 100 ? 9 : 0;
	return result;
}

static CUDBGResult garbage(uint32_t dev, CUDBGDeviceInfoQueryType_t type, void *buffer,
			   uint32_t length, uint32_t *ret_length)
{
	CUDBGResult result = second->getDeviceInfo(dev, type, buffer, length, ret_length);
	memset((uint8_t *)buffer + 40, 0xff, *ret_length > 40 ? *ret_length - 40 : 0);
	return result;
}

static void same_rows(const struct ws_target *one, const struct ws_target *other)
{
	struct ws_counts a, b;
	ws_target_counts(one, &a);
	ws_target_counts(other, &b);
	assert_memory_equal(&a, &b, sizeof a);
	for (uint32_t i = 0; i < a.warps; i++) {
		struct ws_warp x, y;
		struct ws_block p, q;
		assert_int_equal(ws_target_warp(one, i, &x, NULL), WS_OK);
		assert_int_equal(ws_target_warp(other, i, &y, NULL), WS_OK);
		assert_true(x.id == y.id && x.sm_index == y.sm_index && x.broken == y.broken &&
			    x.active_lanes == y.active_lanes && x.have == y.have &&
			    x.error_pc_valid == y.error_pc_valid && x.error_pc == y.error_pc);
		/* getDeviceInfo leaves out a lane that is lost; single calls call it valid */
		assert_int_equal(i == 2 ? x.valid_lanes | 8 : x.valid_lanes, y.valid_lanes);
		assert_int_equal(ws_target_block(one, x.block_index, &p, NULL), WS_OK);
		assert_int_equal(ws_target_block(other, y.block_index, &q, NULL), WS_OK);
		assert_memory_equal(&p, &q, /* but for what pads it */
				    offsetof(struct ws_block, cluster_dim) + sizeof p.cluster_dim);
	}
}

/* By getDeviceInfo, without it, and when what it gives is cut or makes no sense. */
static void stock_in_one_call_is_the_same(void **state)
{
	(void)state;
	start(false);
	for (int how = 0; how < 3; how++) {
		assert_int_equal(route_open(&fake.target, &second), WS_OK);
		struct CUDBGAPI_st table = *second;
		struct ws_target *other;
		table.getDeviceInfo = how == 0 ? NULL : how == 1 ? overrun : garbage;
		assert_int_equal(ws_target_from_api(&table, UINT32_MAX, 0, &other, NULL), WS_OK);
		same_rows(target, other);
		ws_target_close(other);
		route_close(second);
	}
}

static void devices_stop_and_go(void **state)
{
	(void)state;
	start(true);
	assert_false(ws_target_running(target, 0));
	assert_int_equal(ws_target_resume(target, 1, NULL), WS_OK);
	assert_true(fake.runs[1] && !fake.runs[0]);
	assert_true(ws_target_running(target, 1) && !ws_target_running(target, 0));
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	assert_true(fake.runs[0] && fake.runs[1] && ws_target_running(target, 0));
	assert_int_equal(ws_target_resume(target, 0, NULL), WS_OK); /* it does already */
	uint32_t n, value;
	assert_int_equal(ws_target_registers(target, 0, 0, WS_REG_R, 0, 1, &value, &n, NULL),
			 WS_RUNNING);
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
	assert_true(!fake.runs[0] && !fake.runs[1] && !ws_target_running(target, 0));
	assert_true(fake.waited);
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(target, WS_NONE, false, NULL), WS_OK);
	assert_false(fake.waited);
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(target, 0, true, NULL), WS_OK);
	assert_int_equal(count_warps(), 4);
	fake.fail_op = FAKE_RESUME;
	fake.fail_status = WS_IO;
	assert_int_equal(ws_target_resume(target, 0, NULL), WS_MALFORMED);
	assert_false(ws_target_running(target, 0));
	fake.fail_op = FAKE_NOTHING;
}

static void warps_are_stepped(void **state)
{
	(void)state;
	struct ws_step step = { .warp_index = 1, .lane = 2, .steps = 3 };
	uint64_t warps = 0;
	start(true);
	assert_int_equal(ws_target_step(target, &step, &warps, NULL), WS_OK);
	assert_int_equal(warps, 0x21);
	assert_int_equal(fake.last_step.warp_index, 1);
	assert_int_equal(fake.last_step.lane, 2);
	assert_int_equal(fake.last_step.steps, 3);
	assert_int_equal(fake.last_step.flags, 0);
	step.flags = WS_STEP_INTO_BARRIERS | WS_STEP_NO_WAIT;
	assert_int_equal(ws_target_step(target, &step, &warps, NULL), WS_OK);
	assert_int_equal(fake.last_step.flags, step.flags);
	fake.fail_op = FAKE_STEP;
	fake.fail_status = WS_UNSUPPORTED;
	assert_int_equal(ws_target_step(target, &step, &warps, NULL), WS_UNSUPPORTED);
	fake.fail_op = FAKE_NOTHING;
	assert_int_equal(ws_target_run_until(target, 1, 1, FAKE_CODE + 16, WS_STEP_NO_WAIT, NULL),
			 WS_OK);
	assert_int_equal(fake.until_flags, WS_STEP_NO_WAIT);
	assert_int_equal(ws_target_run_until(target, 1, 1, 16, 0, NULL), WS_ABSENT);
}

static void breakpoints_are_planted(void **state)
{
	(void)state;
	start(true);
	assert_int_equal(ws_target_plant(target, 0, FAKE_CODE + 16, NULL), WS_OK);
	assert_true(fake.n_planted == 1 && fake.planted[0] == FAKE_CODE + 16);
	assert_int_equal(ws_target_unplant(target, 0, FAKE_CODE + 16, NULL), WS_OK);
	assert_int_equal(fake.n_planted, 0);
	assert_int_equal(ws_target_plant(target, 0, 16, NULL), WS_ABSENT);
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(ws_target_stop_at_launch(target, true, NULL), WS_OK);
	assert_true(fake.at_launch);
	assert_int_equal(ws_target_stop_at_launch(target, false, NULL), WS_OK);
	assert_false(fake.at_launch);
}

static void state_is_altered(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 1, 2, 3, 4 };
	const uint32_t values[] = { 7, 8, 0 };
	uint8_t back[4];
	uint32_t n;
	size_t got;
	struct ws_address at = { .space = WS_SPACE_SHARED,
				 .device_index = 0,
				 .grid_index = WS_NONE,
				 .warp_index = 0,
				 .lane = 0,
				 .address = 8 };
	start(true);
	assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL), WS_OK);
	assert_memory_equal(fake.shared + 8, bytes, 4);
	assert_int_equal(ws_target_read_memory(target, &at, back, 4, &got, NULL), WS_OK);
	assert_memory_equal(back, bytes, 4);
	static const struct {
		enum ws_space space;
		uint64_t address;
		enum ws_status status;
	} places[] = {
		{ WS_SPACE_GLOBAL, FAKE_GLOBAL, WS_OK },
		{ WS_SPACE_GLOBAL, 16, WS_ABSENT },
		{ WS_SPACE_LOCAL, 0x1000, WS_OK },
		{ WS_SPACE_PARAM, 0x210, WS_OK },
		{ WS_SPACE_GENERIC, FAKE_GENERIC_SHARED, WS_OK },
		{ WS_SPACE_CODE, FAKE_CODE, WS_UNSUPPORTED },
		{ WS_SPACE_CONST, 0, WS_UNSUPPORTED },
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		at.space = places[i].space;
		at.address = places[i].address;
		assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL),
				 places[i].status);
		if (places[i].status == WS_OK)
			assert_true(fake.written.space == places[i].space &&
				    fake.written.address == places[i].address);
	}
	at.warp_index = WS_NONE;
	at.grid_index = 0;
	at.space = WS_SPACE_PARAM;
	at.address = 0x210;
	assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL), WS_OK);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_R, 3, 2, values, NULL),
			 WS_OK);
	assert_true(fake.registers[3] == 7 && fake.registers[4] == 8);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_R, 15, 2, values, NULL),
			 WS_ABSENT);
	assert_int_equal(fake.registers[15], 115);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_P, 2, 1, values + 2, NULL),
			 WS_OK);
	assert_true(fake.written_kind == WS_REG_P && fake.n_written == 3);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_UP, 1, 1, values + 2, NULL),
			 WS_OK);
	assert_true(fake.written_kind == WS_REG_UP && fake.n_written == 2);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_UR, 1, 1, values, NULL),
			 WS_OK);
	assert_true(fake.written_kind == WS_REG_UR && fake.n_written == 2);
	assert_int_equal(
		ws_target_write_registers(target, 0, 0, WS_REG_BARRIER, 0, 1, values, NULL),
		WS_UNSUPPORTED);
	assert_int_equal(ws_target_write_rpc(target, 0, 0, 0x30, 0x40, NULL), WS_OK);
	assert_true(fake.written_rpc[0] == 0x30 && fake.written_rpc[1] == 0x40);
	assert_int_equal(
		ws_target_registers(target, 0, 0, WS_REG_R, 3, 1, (uint32_t *)back, &n, NULL),
		WS_OK);
}

/* ---- events ---- */

static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake_cond = PTHREAD_COND_INITIALIZER;
static unsigned wakes;

static void wake(void *data)
{
	assert_ptr_equal(data, &wakes);
	pthread_mutex_lock(&wake_lock);
	wakes++;
	pthread_cond_signal(&wake_cond);
	pthread_mutex_unlock(&wake_lock);
}

static void await_wake(void)
{
	pthread_mutex_lock(&wake_lock);
	while (!wakes)
		pthread_cond_wait(&wake_cond, &wake_lock);
	wakes = 0;
	pthread_mutex_unlock(&wake_lock);
}

static void events_come_through(void **state)
{
	(void)state;
	struct ws_event event, ready = { .kind = WS_EVENT_GRID_READY,
					 .sync = true,
					 .host_tid = 5,
					 .context_id = 0xc0,
					 .module_handle = 0x100,
					 .grid = { .id = 77,
						   .context_id = 0xc0,
						   .module_handle = 0x100,
						   .function_entry = FAKE_CODE,
						   .grid_dim = { 1, 2, 3 },
						   .host_tid = 5,
						   .origin = CUDBG_KNL_ORIGIN_CPU } };
	start(true);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_want(target, WS_WANT_LAUNCHES | WS_WANT_STOPS, NULL), WS_OK);
	ws_target_on_event(target, wake, &wakes);
	fake_event(&fake, &ready);
	await_wake();
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_OK);
	assert_int_equal(event.kind, WS_EVENT_GRID_READY);
	assert_true(event.sync && event.grid.id == 77 && event.grid.grid_dim.z == 3 &&
		    event.grid.function_entry == FAKE_CODE && event.context_id == 0xc0);
	assert_int_equal(fake.n_waiting, 1);
	assert_int_equal(ws_target_acknowledge(target, event.sequence, NULL), WS_OK);
	assert_int_equal(fake.n_waiting, 0);
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	fake.runs[0] = fake.runs[1] = false;
	fake_event(&fake, &(struct ws_event){
				  .kind = WS_EVENT_STOPPED, .sync = true, .broken_devices = 1 });
	await_wake();
	assert_true(ws_target_running(target, 0)); /* until it is told */
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_OK);
	assert_true(event.kind == WS_EVENT_STOPPED && event.broken_devices == 1);
	assert_true(ws_target_running(target, 0)); /* until readers may see it */
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	assert_false(ws_target_running(target, 0));
	assert_int_equal(count_warps(), 4);
	fake_event(&fake, &(struct ws_event){ .kind = WS_EVENT_CONTEXT_CREATED,
					      .device_id = 2,
					      .context_id = 0xc1,
					      .host_tid = 6 });
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_OK);
	assert_true(event.kind == WS_EVENT_CONTEXT_CREATED && event.context_id == 0xc1);
	struct ws_counts counts;
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	ws_target_counts(target, &counts);
	assert_int_equal(counts.contexts, 2);
	ws_target_on_event(target, NULL, NULL);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
}

/* The API lets all go that were read, and this target reads ahead: it lets nobody go too early. */
static void who_was_not_read_is_not_let_go(void **state)
{
	(void)state;
	const struct ws_event created = { .kind = WS_EVENT_CONTEXT_CREATED, .sync = true };
	const struct ws_event ready = { .kind = WS_EVENT_GRID_READY, .sync = true };
	struct ws_event first, second_one;
	start(true);
	assert_int_equal(ws_target_want(target, WS_WANT_LAUNCHES, NULL), WS_OK);
	fake_event(&fake, &created);
	fake_event(&fake, &created);
	assert_int_equal(ws_target_next_event(target, &first, NULL), WS_OK);
	assert_int_equal(ws_target_next_event(target, &second_one, NULL), WS_OK);
	assert_true(second_one.sequence > first.sequence);
	assert_int_equal(ws_target_acknowledge(target, first.sequence, NULL), WS_OK);
	assert_int_equal(fake.n_waiting, 2);
	assert_int_equal(ws_target_acknowledge(target, second_one.sequence, NULL), WS_OK);
	assert_int_equal(fake.n_waiting, 0);
	/* a launch that is told no more is let go, and so is one that nobody asked for */
	fake_event(&fake, &ready);
	assert_int_equal(ws_target_next_event(target, &first, NULL), WS_OK);
	assert_int_equal(fake.n_waiting, 1);
	assert_int_equal(ws_target_want(target, 0, NULL), WS_OK);
	assert_int_equal(fake.n_waiting, 0);
	fake.wants = UINT32_MAX; /* a provider that tells more than it was asked */
	const struct ws_event pushed = { .kind = WS_EVENT_CONTEXT_PUSHED, .sync = true };
	fake_event(&fake, &pushed);
	assert_int_equal(fake.n_waiting, 1);
	assert_int_equal(ws_target_next_event(target, &first, NULL), WS_ABSENT);
	assert_int_equal(fake.n_waiting, 0);
}

static bool no_memory(void)
{
	return true;
}

static void events_wait_for_memory(void **state)
{
	(void)state;
	const struct ws_event stopped = { .kind = WS_EVENT_STOPPED };
	struct ws_event event;
	start(true);
	assert_int_equal(ws_target_want(target, WS_WANT_STOPS, NULL), WS_OK);
	fake_event(&fake, &stopped);
	wsi_alloc_should_fail = no_memory;
	enum ws_status st = ws_target_next_event(target, &event, NULL);
	wsi_alloc_should_fail = NULL;
	assert_int_equal(st, WS_NO_MEMORY);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_OK);
	assert_int_equal(event.kind, WS_EVENT_STOPPED);
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	assert_int_equal(count_warps(), 4);
}

static void stops_are_told_with_their_cause(void **state)
{
	(void)state;
	struct ws_warp warp;
	uint64_t moved;
	start(true);
	assert_int_equal(ws_target_plant(target, 0, FAKE_CODE + 16, NULL), WS_OK);
	const struct ws_step step = { .warp_index = 0, .lane = WS_NONE, .steps = 1 };
	static const enum ws_stop stops[] = { WS_STOP_PLANTED, WS_STOP_LAUNCH, WS_STOP_TRAP,
					      WS_STOP_INTERNAL };
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
		fake.warp[0].stop = stops[i];
		fake.warp[0].stop_pc = fake.lane[0][0].pc = FAKE_CODE + 16;
		assert_int_equal(ws_target_step(target, &step, &moved, NULL), WS_OK);
		assert_int_equal(ws_target_warp(target, 0, &warp, NULL), WS_OK);
		assert_true(warp.have & WS_WARP_STOP);
		assert_int_equal(warp.stop, stops[i]);
		assert_true(warp.stop_pc == FAKE_CODE + 16);
	}
	assert_int_equal(ws_target_warp(target, 1, &warp, NULL), WS_OK);
	assert_false(warp.have & WS_WARP_STOP); /* it is not broken */
}

/* ---- the host's side ---- */

static void host_memory_comes_through(void **state)
{
	(void)state;
	uint8_t bytes[4] = { 5, 6, 7, 8 }, back[4] = { 0 };
	uint64_t address = 0;
	size_t n = 9;
	start(true);
	assert_int_equal(ws_target_write_host(target, FAKE_HOST_ADDRESS + 8, bytes, 4, NULL),
			 WS_OK);
	assert_int_equal(ws_target_read_host(target, FAKE_HOST_ADDRESS + 8, back, 4, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 4);
	assert_memory_equal(bytes, back, 4);
	assert_int_equal(ws_target_write_host(target, 16, bytes, 4, NULL), WS_ABSENT);
	assert_int_equal(ws_target_read_host(target, 16, back, 4, &n, NULL), WS_ABSENT);
	assert_int_equal(n, 0);
	assert_int_equal(ws_target_host_address(target, 0, FAKE_GLOBAL + 4, &address, NULL), WS_OK);
	assert_true(address == FAKE_HOST_ADDRESS + 4);
	assert_int_equal(ws_target_host_address(target, 0, 16, &address, NULL), WS_ABSENT);
	assert_int_equal(fake.detached, -1);
	assert_int_equal(ws_target_detach(target, true, NULL), WS_OK);
	assert_int_equal(fake.detached, 1);
	fake.fail_op = FAKE_READ;
	fake.fail_status = WS_ARGUMENT; /* other memory on each device */
	const struct ws_address at = { .space = WS_SPACE_GLOBAL,
				       .device_index = WS_NONE,
				       .warp_index = WS_NONE,
				       .grid_index = WS_NONE,
				       .address = FAKE_GLOBAL };
	assert_int_equal(ws_target_read_memory(target, &at, back, 4, &n, NULL), WS_ARGUMENT);
}

static CUDBGResult too_many(CUDBGCudaLogMessage134 *records, uint32_t n, uint32_t *ret_n)
{
	CUDBGResult result = second->consumeCudaLogs134(records, n, ret_n);
	*ret_n += 100;
	return result;
}

static void logs_and_launches_come_through(void **state)
{
	(void)state;
	struct ws_log logs[40], said;
	const struct ws_log_rule rules[2] = { { .host_tid = UINT64_MAX }, { 2, 1, 77, "out.*" } };
	uint64_t addresses[4];
	uint32_t n = 9, set = 0;
	start(true);
	assert_int_equal(ws_target_take_logs(target, logs, 40, &n, NULL), WS_OK);
	assert_int_equal(n, 0);
	fake.n_logs = 22; /* more than are asked for at once */
	assert_int_equal(ws_target_take_logs(target, logs, 20, &n, NULL), WS_OK);
	assert_int_equal(n, 20);
	for (uint32_t i = 0; i < n; i++) {
		fake_log(i, &said);
		assert_memory_equal(&logs[i], &said, sizeof said);
	}
	assert_int_equal(ws_target_take_logs(target, logs, 40, &n, NULL), WS_OK);
	assert_int_equal(n, 2);
	assert_int_equal(ws_target_log_rules(target, rules, 2, &set, NULL), WS_OK);
	assert_true(set == 1 && fake.n_rules == 2 && fake.rules[1].level == 1 &&
		    fake.rules[1].host_tid == 77 && fake.rules[1].regex);
	assert_int_equal(
		ws_target_log_rules(target, &(struct ws_log_rule){ .action = 9 }, 1, &set, NULL),
		WS_ARGUMENT);
	assert_int_equal(ws_target_launch_stack(target, 0, addresses, 4, &n, NULL), WS_OK);
	assert_true(n == 3 && addresses[2] == 0x5500001002u);
	assert_int_equal(ws_target_launch_stack(target, 0, NULL, 0, &n, NULL), WS_OK);
	assert_int_equal(ws_target_launch_stack(target, 1, addresses, 4, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_target_launch_stack(target, 99, addresses, 4, &n, NULL), WS_ARGUMENT);
}

/* Without 13.4's function the older one is asked; without both there is no log. */
static void logs_of_older_providers(void **state)
{
	(void)state;
	struct ws_log logs[4], said;
	uint64_t addresses[1];
	uint32_t n = 0, set = 0;
	start(true);
	for (int how = 0; how < 3; how++) {
		assert_int_equal(route_open(&fake.target, &second), WS_OK);
		struct CUDBGAPI_st table = *second;
		struct ws_target *other;
		if (how < 2)
			table.consumeCudaLogs134 = NULL;
		if (how == 1)
			table.consumeCudaLogs = NULL;
		if (how == 1)
			table.setCudaLogRules = NULL;
		if (how == 1)
			table.readCPUCallStack = NULL;
		if (how == 2)
			table.consumeCudaLogs134 = too_many;
		assert_int_equal(ws_target_from_api(&table, UINT32_MAX, 0, &other, NULL), WS_OK);
		fake.n_logs = 3;
		fake.logged = 0;
		enum ws_status st = ws_target_take_logs(other, logs, 4, &n, NULL);
		assert_int_equal(st, how == 0 ? WS_OK : how == 1 ? WS_UNSUPPORTED : WS_MALFORMED);
		if (how == 0) {
			fake_log(2, &said);
			assert_true(n == 3 && logs[2].time_ns == said.time_ns &&
				    logs[2].host_tid == 2 && logs[2].rule == UINT32_MAX);
			assert_string_equal(logs[2].text, said.text);
		}
		if (how == 1) {
			assert_int_equal(ws_target_log_rules(other, NULL, 0, &set, NULL),
					 WS_UNSUPPORTED);
			assert_int_equal(ws_target_launch_stack(other, 0, addresses, 1, &n, NULL),
					 WS_UNSUPPORTED);
		}
		ws_target_close(other);
		route_close(second);
	}
}

/* ---- texts without an end ---- */

static CUDBGResult endless_134(CUDBGCudaLogMessage134 *records, uint32_t n, uint32_t *ret_n)
{
	memset(records, 'x', n * sizeof *records);
	*ret_n = n;
	return CUDBG_SUCCESS;
}

static CUDBGResult endless(CUDBGCudaLogMessage *records, uint32_t n, uint32_t *ret_n)
{
	memset(records, 'x', n * sizeof *records);
	*ret_n = n;
	return CUDBG_SUCCESS;
}

static CUDBGResult fails(CUDBGCudaLogMessage *records, uint32_t n, uint32_t *ret_n)
{
	(void)records, (void)n, (void)ret_n;
	return CUDBG_ERROR_INTERNAL;
}

static CUDBGResult endless_words(char *text, uint32_t size, uint32_t *ret_size)
{
	(void)ret_size;
	memset(text, 'x', size);
	return CUDBG_SUCCESS;
}

static CUDBGResult endless_barrier(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln,
				   CUDBGBarrierScope *scope, char *text, uint32_t size,
				   uint32_t *ret_size)
{
	(void)dev, (void)sm, (void)wp, (void)ln;
	*scope = CUDBG_BARRIER_SCOPE_BLOCK;
	return endless_words(text, size, ret_size);
}

/* Of a device: one text of all bytes, then shorter ones, none with an end. */
static CUDBGResult endless_name(uint32_t dev, char *text, uint32_t size)
{
	(void)dev;
	return endless_words(text, size, NULL);
}

static CUDBGResult type_without_end(uint32_t dev, char *text, uint32_t size)
{
	(void)dev, (void)size;
	memcpy(text, "GH100", 5);
	return CUDBG_SUCCESS;
}

static CUDBGResult sm_type_without_end(uint32_t dev, char *text, uint32_t size)
{
	(void)dev, (void)size;
	memcpy(text, "sm_90", 5);
	return CUDBG_SUCCESS;
}

static void assert_device_has_texts(const struct ws_target *other)
{
	struct ws_device device;
	assert_int_equal(ws_target_device(other, 0, &device, NULL), WS_OK);
	assert_int_equal(device.name.len, 255); /* of 256 bytes */
	assert_int_equal(strspn(device.name.ptr, "x"), 255);
	assert_true(ws_str_equal(device.type, ws_str_of("GH100")));
	assert_true(ws_str_equal(device.sm_type, ws_str_of("sm_90")));
	assert_true(device.sm_major == 9 && device.sm_minor == 0);
}

/* What a provider writes into a text is all of its bytes and no end: the text ends, as long as it
 * can be. */
static void texts_of_a_provider_may_lack_their_end(void **state)
{
	(void)state;
	struct ws_log logs[3];
	start(true);
	for (int how = 0; how < 3; how++) {
		assert_int_equal(route_open(&fake.target, &second), WS_OK);
		struct CUDBGAPI_st table = *second;
		struct ws_target *other;
		struct ws_error err;
		uint32_t n = 0;
		table.consumeCudaLogs134 = how == 0 ? endless_134 : NULL;
		table.consumeCudaLogs = how == 1 ? endless : fails;
		table.getErrorStringEx = endless_words;
		table.getHardwareBarrierInfo = endless_barrier;
		table.getDeviceName = endless_name;
		table.getDeviceType = type_without_end;
		table.getSmType = sm_type_without_end;
		assert_int_equal(ws_target_from_api(&table, UINT32_MAX, 0, &other, NULL), WS_OK);
		assert_device_has_texts(other);
		memset(logs, 'y', sizeof logs);
		enum ws_status st = ws_target_take_logs(other, logs, 3, &n, &err);
		assert_int_equal(st, how < 2 ? WS_OK : WS_MALFORMED);
		for (uint32_t i = 0; i < n; i++) {
			assert_non_null(memchr(logs[i].text, 0, sizeof logs[i].text));
			assert_int_equal(strspn(logs[i].text, "x"), sizeof logs[i].text - 1);
		}
		if (how < 2)
			assert_int_equal(n, 3);
		else
			assert_int_equal(strspn(strchr(err.message, 'x'), "x"),
					 strlen(strchr(err.message, 'x')));
		struct ws_warp warp;
		assert_int_equal(ws_target_warp(other, 0, &warp, NULL), WS_OK);
		assert_true(warp.have & WS_WARP_BARRIER);
		assert_int_equal(warp.barrier_text.len, 199); /* of 200 bytes */
		assert_int_equal(strspn(warp.barrier_text.ptr, "x"), 199);
		ws_target_close(other);
		route_close(second);
	}
}

/* ---- dumps ---- */

static char asked_for[4096];
static CUDBGResult answer;

static CUDBGResult generates(const char *path, CUDBGCoredumpGenerationFlags flags)
{
	(void)flags;
	snprintf(asked_for, sizeof asked_for, "%s", path);
	return answer;
}

/* The provider writes the dump, since it knows the memory, and is given a path that means the same
 * in its process. One that cannot leaves it to what the rows tell. */
static void dumps_are_written_by_the_provider(void **state)
{
	static const struct {
		CUDBGResult result;
		enum ws_status st;
		bool file; /* the rows are written */
	} rows[] = {
		{ CUDBG_SUCCESS, WS_OK, false },
		{ CUDBG_ERROR_INVALID_ARGS, WS_ARGUMENT, false },
		{ CUDBG_ERROR_RUNNING_DEVICE, WS_RUNNING, false },
		{ CUDBG_ERROR_NOT_SUPPORTED, WS_OK, true },
	};
	char folder[] = "/tmp/warpscope-provider-XXXXXX", here[4096], want[4200];
	(void)state;
	start(false);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_non_null(getcwd(here, sizeof here));
	snprintf(want, sizeof want, "%s/it.nvcudmp", here);
	for (size_t i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
		bool none = i == sizeof rows / sizeof rows[0];
		struct CUDBGAPI_st table = *api;
		struct ws_target *other;
		table.generateCoredump = none ? NULL : generates;
		answer = none ? CUDBG_ERROR_NOT_SUPPORTED : rows[i].result;
		asked_for[0] = '\0';
		assert_int_equal(ws_target_from_api(&table, UINT32_MAX, 0, &other, NULL), WS_OK);
		assert_int_equal(ws_write_target(other, "it.nvcudmp", NULL, NULL),
				 none ? WS_OK : rows[i].st);
		assert_string_equal(asked_for, none ? "" : want);
		assert_int_equal(unlink("it.nvcudmp"), none || rows[i].file ? 0 : -1);
		ws_target_close(other);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_provider_over_a_dump_cannot_run, stop),
		cmocka_unit_test_teardown(stock_in_one_call_is_the_same, stop),
		cmocka_unit_test_teardown(devices_stop_and_go, stop),
		cmocka_unit_test_teardown(warps_are_stepped, stop),
		cmocka_unit_test_teardown(breakpoints_are_planted, stop),
		cmocka_unit_test_teardown(state_is_altered, stop),
		cmocka_unit_test_teardown(events_come_through, stop),
		cmocka_unit_test_teardown(who_was_not_read_is_not_let_go, stop),
		cmocka_unit_test_teardown(events_wait_for_memory, stop),
		cmocka_unit_test_teardown(stops_are_told_with_their_cause, stop),
		cmocka_unit_test_teardown(host_memory_comes_through, stop),
		cmocka_unit_test_teardown(logs_and_launches_come_through, stop),
		cmocka_unit_test_teardown(logs_of_older_providers, stop),
		cmocka_unit_test_teardown(texts_of_a_provider_may_lack_their_end, stop),
		cmocka_unit_test_teardown(dumps_are_written_by_the_provider, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
