/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target over a provider of another kind than ours: every kind of event, with every number of it,
 * and the older forms of functions, which must give what the newest gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/cudbg.h>
#include <warpscope/provider.h>

#include "route.h"
#include "target/fake.h"

static struct fake fake;
static CUDBGAPI api;

static int start(void **state)
{
	(void)state;
	fake_init_running(&fake);
	return route_open(&fake.target, &api) != WS_OK;
}

static int stop(void **state)
{
	(void)state;
	route_close(api);
	ws_target_close(&fake.target);
	return 0;
}

/* The target over a changed table. */
static struct ws_target *over(const struct CUDBGAPI_st *table)
{
	struct ws_target *target;
	assert_int_equal(ws_target_from_api(table, UINT32_MAX, 0, &target, NULL), WS_OK);
	return target;
}

/* ---- events ---- */

static CUDBGEvent next;
static CUDBGEventQueueType next_type;
static bool has_next;

static CUDBGResult next_event(CUDBGEventQueueType type, CUDBGEvent *ret_event)
{
	if (!has_next || type != next_type)
		return CUDBG_ERROR_NO_EVENT_AVAILABLE;
	has_next = false;
	*ret_event = next;
	return CUDBG_SUCCESS;
}

static enum ws_status send(struct ws_target *target, CUDBGEventKind kind,
			   struct ws_event *ret_event)
{
	next.kind = kind;
	has_next = true;
	memset(ret_event, 0, sizeof *ret_event);
	enum ws_status st = ws_target_next_event(target, ret_event, NULL);
	assert_false(has_next);
	return st;
}

static void contexts_and_images(struct ws_target *target)
{
	static const struct {
		CUDBGEventKind kind;
		enum ws_event_kind told;
	} contexts[] = {
		{ CUDBG_EVENT_CTX_CREATE, WS_EVENT_CONTEXT_CREATED },
		{ CUDBG_EVENT_CTX_DESTROY, WS_EVENT_CONTEXT_DESTROYED },
		{ CUDBG_EVENT_CTX_PUSH, WS_EVENT_CONTEXT_PUSHED },
		{ CUDBG_EVENT_CTX_POP, WS_EVENT_CONTEXT_POPPED },
	};
	struct ws_event event;
	for (size_t i = 0; i < sizeof contexts / sizeof contexts[0]; i++) {
		memset(&next, 0, sizeof next);
		next.cases.contextCreate.dev = 1;
		next.cases.contextCreate.tid = 44;
		next.cases.contextCreate.context = 0x1122334455;
		assert_int_equal(send(target, contexts[i].kind, &event), WS_OK);
		assert_int_equal(event.kind, contexts[i].told);
		assert_true(event.device_id == 1 && event.host_tid == 44 &&
			    event.context_id == 0x1122334455 && !event.sync);
	}
	for (int i = 0; i < 2; i++) {
		memset(&next, 0, sizeof next);
		next.cases.elfImageLoaded.dev = 1;
		next.cases.elfImageLoaded.context = 0x11;
		next.cases.elfImageLoaded.module = 0x22;
		next.cases.elfImageLoaded.size = 0x33;
		next.cases.elfImageLoaded.handle = 0x44;
		assert_int_equal(
			send(target,
			     i ? CUDBG_EVENT_ELF_IMAGE_UNLOADED : CUDBG_EVENT_ELF_IMAGE_LOADED,
			     &event),
			WS_OK);
		assert_int_equal(event.kind, i ? WS_EVENT_MODULE_UNLOADED : WS_EVENT_MODULE_LOADED);
		assert_true(event.device_id == 1 && event.context_id == 0x11 &&
			    event.module_handle == 0x44 && event.image_bytes == 0x33);
	}
	memset(&next, 0, sizeof next);
	next.cases.functionsLoaded.dev = 1;
	next.cases.functionsLoaded.count = 9;
	next.cases.functionsLoaded.context = 0x11;
	next.cases.functionsLoaded.module = 0x22;
	assert_int_equal(send(target, CUDBG_EVENT_FUNCTIONS_LOADED, &event), WS_OK);
	assert_true(event.kind == WS_EVENT_FUNCTIONS_LOADED && event.device_id == 1 &&
		    event.n_functions == 9 && event.context_id == 0x11 &&
		    event.module_handle == 0x22);
}

static void launches(struct ws_target *target)
{
	struct ws_event event;
	memset(&next, 0, sizeof next);
	next.cases.kernelReady.dev = 1;
	next.cases.kernelReady.tid = 44;
	next.cases.kernelReady.gridId = 0x55;
	next.cases.kernelReady.context = 0x11;
	next.cases.kernelReady.module = 0x22;
	next.cases.kernelReady.function = 0x33;
	next.cases.kernelReady.functionEntry = 0x66;
	next.cases.kernelReady.gridDim = (CuDim3){ 1, 2, 3 };
	next.cases.kernelReady.blockDim = (CuDim3){ 4, 5, 6 };
	next.cases.kernelReady.type = CUDBG_KNL_TYPE_APPLICATION;
	next.cases.kernelReady.parentGridId = 0x77;
	next.cases.kernelReady.origin = CUDBG_KNL_ORIGIN_GPU;
	assert_int_equal(send(target, CUDBG_EVENT_KERNEL_READY, &event), WS_OK);
	assert_true(event.kind == WS_EVENT_GRID_READY && event.device_id == 1 &&
		    event.host_tid == 44 && event.context_id == 0x11 &&
		    event.module_handle == 0x22);
	assert_true(event.grid.id == 0x55 && event.grid.context_id == 0x11 &&
		    event.grid.module_handle == 0x22 && event.grid.function == 0x33 &&
		    event.grid.function_entry == 0x66 && event.grid.host_tid == 44 &&
		    event.grid.parent_id == 0x77);
	assert_true(event.grid.grid_dim.x == 1 && event.grid.grid_dim.y == 2 &&
		    event.grid.grid_dim.z == 3 && event.grid.block_dim.x == 4 &&
		    event.grid.block_dim.y == 5 && event.grid.block_dim.z == 6);
	assert_int_equal(event.grid.type, CUDBG_KNL_TYPE_APPLICATION);
	assert_int_equal(event.grid.origin, CUDBG_KNL_ORIGIN_GPU);
	assert_true(event.grid.context_index == WS_NONE && event.grid.module_index == WS_NONE);

	memset(&next, 0, sizeof next);
	next.cases.kernelFinished.dev = 1;
	next.cases.kernelFinished.tid = 44;
	next.cases.kernelFinished.context = 0x11;
	next.cases.kernelFinished.module = 0x22;
	next.cases.kernelFinished.function = 0x33;
	next.cases.kernelFinished.functionEntry = 0x66;
	next.cases.kernelFinished.gridId = 0x55;
	assert_int_equal(send(target, CUDBG_EVENT_KERNEL_FINISHED, &event), WS_OK);
	assert_true(event.kind == WS_EVENT_GRID_FINISHED && event.device_id == 1 &&
		    event.host_tid == 44 && event.context_id == 0x11 &&
		    event.module_handle == 0x22);
	assert_true(event.grid.id == 0x55 && event.grid.context_id == 0x11 &&
		    event.grid.module_handle == 0x22 && event.grid.function == 0x33 &&
		    event.grid.function_entry == 0x66 && event.grid.host_tid == 44);
	assert_true(event.grid.context_index == WS_NONE && event.grid.module_index == WS_NONE);
}

static void stops(struct ws_target *target)
{
	struct ws_event event;
	for (int i = 0; i < 2; i++) {
		memset(&next, 0, sizeof next);
		next.cases.singleStepComplete.dev = 1;
		next.cases.singleStepComplete.sm = 3;
		next.cases.singleStepComplete.context = 0x11;
		next.cases.singleStepComplete.originalWarpMask = 0x80;
		next.cases.singleStepComplete.finalWarpMask = 0x81;
		next.cases.singleStepComplete.brokenDevicesMask = 2;
		next.cases.singleStepComplete.faultedDevicesMask = 4;
		next.cases.singleStepComplete.type =
			i ? CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC
			  : CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP;
		assert_int_equal(send(target, CUDBG_EVENT_SINGLE_STEP_COMPLETE, &event), WS_OK);
		assert_true(event.kind == WS_EVENT_STEP_DONE && event.device_id == 1 &&
			    event.sm_id == 3 && event.context_id == 0x11 &&
			    event.asked_warps == 0x80 && event.stepped_warps == 0x81 &&
			    event.broken_devices == 2 && event.faulted_devices == 4);
		assert_int_equal(event.until_pc, i);
	}
	memset(&next, 0, sizeof next);
	next.cases.allDevicesSuspended.brokenDevicesMask = 2;
	next.cases.allDevicesSuspended.faultedDevicesMask = 4;
	assert_int_equal(send(target, CUDBG_EVENT_ALL_DEVICES_SUSPENDED, &event), WS_OK);
	assert_true(event.kind == WS_EVENT_STOPPED && event.broken_devices == 2 &&
		    event.faulted_devices == 4);
}

static void every_kind_of_event_is_told_with_its_numbers(void **state)
{
	(void)state;
	static const struct {
		CUDBGEventKind kind;
		enum ws_event_kind told;
	} plain[] = {
		{ CUDBG_EVENT_INTERNAL_ERROR, WS_EVENT_FAILED },
		{ CUDBG_EVENT_ATTACH_COMPLETE, WS_EVENT_ATTACHED },
		{ CUDBG_EVENT_DETACH_COMPLETE, WS_EVENT_DETACHED },
		{ CUDBG_EVENT_CUDA_LOGS_AVAILABLE, WS_EVENT_LOGS_AVAILABLE },
		{ CUDBG_EVENT_CUDA_LOGS_THRESHOLD_REACHED, WS_EVENT_LOGS_THRESHOLD },
		{ CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED, WS_EVENT_LOG_RULES },
	};
	struct CUDBGAPI_st table = *api;
	struct ws_event event;
	table.getNextEvent = next_event;
	next_type = CUDBG_EVENT_QUEUE_TYPE_ASYNC;
	struct ws_target *target = over(&table);
	assert_int_equal(ws_target_want(target, UINT32_MAX, NULL), WS_OK);
	contexts_and_images(target);
	launches(target);
	stops(target);
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		memset(&next, 0, sizeof next);
		next.cases.cudaLogsRulesetChanged.rulesetIndex = 6;
		assert_int_equal(send(target, plain[i].kind, &event), WS_OK);
		assert_int_equal(event.kind, plain[i].told);
		assert_int_equal(event.status, plain[i].told == WS_EVENT_FAILED ? WS_IO : WS_OK);
		assert_int_equal(event.ruleset, plain[i].told == WS_EVENT_LOG_RULES ? 6 : 0);
	}
	/* what says nothing, and what a later version may add, is passed over */
	uint64_t last = event.sequence;
	assert_int_equal(send(target, CUDBG_EVENT_TIMEOUT, &event), WS_ABSENT);
	assert_int_equal(send(target, (CUDBGEventKind)999, &event), WS_ABSENT);
	/* without a wish for launches none is told */
	assert_int_equal(ws_target_want(target, 0, NULL), WS_OK);
	assert_int_equal(send(target, CUDBG_EVENT_KERNEL_READY, &event), WS_ABSENT);
	assert_int_equal(send(target, CUDBG_EVENT_CTX_PUSH, &event), WS_ABSENT);
	next_type = CUDBG_EVENT_QUEUE_TYPE_SYNC;
	assert_int_equal(send(target, CUDBG_EVENT_CTX_CREATE, &event), WS_OK);
	assert_true(event.sync && event.sequence == last + 1);
	ws_target_close(target);
}

/* ---- steps ---- */

static unsigned stepped[3]; /* calls of each form, the newest first */
static uint32_t steps_asked;

static bool is_second_warp(uint32_t dev, uint32_t sm, uint32_t wp)
{
	const struct ws_warp *warp = &fake.warp[1];
	const struct ws_sm *row = &fake.sm[warp->sm_index];
	return dev == fake.device[row->device_index].id && sm == row->id && wp == warp->id;
}

static CUDBGResult step_newest(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t lane,
			       uint32_t n_steps, uint32_t flags, uint64_t *ret_mask)
{
	(void)flags, (void)lane;
	assert_true(is_second_warp(dev, sm, wp));
	stepped[0]++;
	steps_asked = n_steps;
	*ret_mask = 2;
	return CUDBG_SUCCESS;
}

static CUDBGResult step_65(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t n_steps,
			   uint64_t *ret_mask)
{
	assert_true(is_second_warp(dev, sm, wp));
	stepped[1]++;
	steps_asked = n_steps;
	*ret_mask = 2;
	return CUDBG_SUCCESS;
}

static CUDBGResult step_41(uint32_t dev, uint32_t sm, uint32_t wp, uint64_t *ret_mask)
{
	assert_true(is_second_warp(dev, sm, wp));
	*ret_mask = 1ull << ++stepped[2];
	return CUDBG_SUCCESS;
}

static void older_forms_step_as_the_newest_does(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct CUDBGAPI_st table = *api;
		uint64_t warps = 0;
		struct ws_step step = { .warp_index = 1, .steps = 3 };
		memset(stepped, 0, sizeof stepped);
		table.singleStepWarp = how == 0 ? step_newest : NULL;
		table.singleStepWarp65 = how == 1 ? step_65 : NULL;
		table.singleStepWarp41 = how == 2 ? step_41 : NULL;
		struct ws_target *target = over(&table);
		assert_int_equal(ws_target_step(target, &step, &warps, NULL), WS_OK);
		assert_int_equal(stepped[how], how < 2 ? 1 : 3);
		assert_int_equal(stepped[0] + stepped[1] + stepped[2], how < 2 ? 1 : 3);
		if (how < 2)
			assert_int_equal(steps_asked, 3);
		assert_int_equal(warps, how < 2 ? 2 : 0xe);
		step.flags = WS_STEP_NO_WAIT; /* the older ones cannot */
		assert_int_equal(ws_target_step(target, &step, &warps, NULL),
				 how == 0 ? WS_OK : WS_UNSUPPORTED);
		ws_target_close(target);
	}
}

static uint64_t until_mask, until_pc;

static CUDBGResult until_60(uint32_t dev, uint32_t sm, uint64_t mask, uint64_t pc)
{
	assert_true(dev == 0 && sm == 0);
	until_mask = mask;
	until_pc = pc;
	return CUDBG_SUCCESS;
}

static void warps_run_until_a_pc_by_the_older_form(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	table.resumeWarpsUntilPC = NULL;
	table.resumeWarpsUntilPC60 = until_60;
	struct ws_target *target = over(&table);
	assert_int_equal(ws_target_run_until(target, 0, 3, FAKE_CODE + 32, WS_STEP_NO_WAIT, NULL),
			 WS_UNSUPPORTED);
	assert_int_equal(until_pc, 0);
	assert_int_equal(ws_target_run_until(target, 0, 3, FAKE_CODE + 32, 0, NULL), WS_OK);
	assert_true(until_mask == 3 && until_pc == FAKE_CODE + 32);
	ws_target_close(target);
}

/* ---- registers and callers ---- */

static void older_forms_read_the_same_registers(void **state)
{
	(void)state;
	struct ws_target *newest = over(api);
	uint32_t wanted[6], values[6], n = 0, count;
	assert_int_equal(ws_target_registers(newest, 1, 2, WS_REG_R, 1, 6, wanted, &count, NULL),
			 WS_OK);
	assert_true(count == 6 && wanted[0] != wanted[1]);
	for (int how = 0; how < 2; how++) {
		struct CUDBGAPI_st table = *api;
		table.readRegisterRange = NULL;
		if (how)
			table.readRegisterRange60 = NULL;
		struct ws_target *target = over(&table);
		memset(values, 0x5a, sizeof values);
		assert_int_equal(
			ws_target_registers(target, 1, 2, WS_REG_R, 1, 6, values, &n, NULL), WS_OK);
		assert_int_equal(n, 6);
		assert_memory_equal(values, wanted, sizeof wanted);
		ws_target_close(target);
	}
	ws_target_close(newest);
}

static void return_addresses_are_the_same_all_at_once(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	struct ws_return_address wanted[8], got[8];
	uint32_t n_wanted = 0, n = 0, warp = 0, lane = 0;
	for (; warp < 4 && n_wanted < 2; warp++)
		for (lane = 0; lane < 32 && n_wanted < 2; lane++)
			(void)!ws_target_call_stack(&fake.target, warp, lane, wanted, 8, &n_wanted,
						    NULL);
	assert_true(n_wanted >= 2);
	warp--;
	lane--;
	struct ws_target *newest = over(api);
	assert_int_equal(ws_target_call_stack(newest, warp, lane, wanted, 8, &n_wanted, NULL),
			 WS_OK);
	table.readVirtualReturnAddress = NULL;
	struct ws_target *target = over(&table);
	assert_int_equal(ws_target_call_stack(target, warp, lane, got, 8, &n, NULL), WS_OK);
	assert_int_equal(n, n_wanted);
	for (uint32_t i = 0; i < n && i < 8; i++)
		assert_true(got[i].address == wanted[i].address &&
			    got[i].rel_address == wanted[i].rel_address &&
			    got[i].level == wanted[i].level && got[i].level == i);
	assert_true(got[0].address != got[1].address);
	ws_target_close(target);
	ws_target_close(newest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind_of_event_is_told_with_its_numbers, start,
						stop),
		cmocka_unit_test_setup_teardown(older_forms_step_as_the_newest_does, start, stop),
		cmocka_unit_test_setup_teardown(warps_run_until_a_pc_by_the_older_form, start,
						stop),
		cmocka_unit_test_setup_teardown(older_forms_read_the_same_registers, start, stop),
		cmocka_unit_test_setup_teardown(return_addresses_are_the_same_all_at_once, start,
						stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
