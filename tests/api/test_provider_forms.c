/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target over a provider of another kind than ours: every kind of event, with every number of it,
 * and the older forms of functions, which must give what the newest gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static CUDBGResult no_registers(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln, uint32_t first,
				uint32_t n, uint32_t *values, uint32_t *ret_n)
{
	(void)dev, (void)sm, (void)wp, (void)ln, (void)first, (void)n, (void)values;
	*ret_n = 0;
	return CUDBG_SUCCESS;
}

/* Up to the last one that a warp has, and no further; "none" is not zeros. */
static void registers_end_with_the_last(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	uint32_t values[20], n = 0;
	table.readRegisterRange = NULL;
	table.readRegisterRange60 = NULL;
	struct ws_target *target = over(&table);
	assert_int_equal(ws_target_registers(target, 0, 2, WS_REG_R, 10, 20, values, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(values[i], 110 + i);
	assert_int_equal(ws_target_registers(target, 0, 2, WS_REG_R, 16, 1, values, &n, NULL),
			 WS_ABSENT);
	ws_target_close(target);
	table.readRegisterRange = no_registers;
	target = over(&table);
	assert_int_equal(ws_target_registers(target, 0, 2, WS_REG_R, 0, 4, values, &n, NULL),
			 WS_ABSENT);
	ws_target_close(target);
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

/* As many as are recorded, which may be fewer than the depth, and as many of them as there is room
 * for. */
static void callers_are_those_that_are_recorded(void **state)
{
	(void)state;
	struct ws_target *target = over(api);
	for (uint32_t warp = 0; warp < 4; warp++) {
		struct ws_lane lanes[WS_MAX_LANES];
		struct ws_return_address got[8];
		uint32_t n_lanes, n;
		assert_int_equal(ws_target_lanes(target, warp, lanes, &n_lanes, NULL), WS_OK);
		for (uint32_t i = 0; i < n_lanes; i++) {
			uint32_t id = lanes[i].id;
			assert_int_equal(ws_target_call_stack(target, warp, id, got, 8, &n, NULL),
					 WS_OK);
			assert_int_equal(n, fake.n_callers[warp][id]);
			for (uint32_t k = 0; k < n && k < 8; k++)
				assert_true(got[k].level == k &&
					    got[k].address == fake.callers[k].address &&
					    got[k].rel_address == fake.callers[k].rel_address);
		}
	}
	ws_target_close(target);
}

/* ---- memory ---- */

static const struct ws_address nowhere = { .device_index = WS_NONE,
					   .grid_index = WS_NONE,
					   .warp_index = WS_NONE };
static CUDBGResult answer;
static struct {
	uint32_t dev, sm, wp, ln, len;
	uint64_t address;
} generic;

static CUDBGResult read_answer(uint64_t address, void *buffer, uint32_t len)
{
	(void)address, (void)buffer, (void)len;
	return answer;
}

static CUDBGResult write_answer(uint64_t address, const void *buffer, uint32_t len)
{
	(void)address, (void)buffer, (void)len;
	return answer;
}

static CUDBGResult read_generic(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln,
				uint64_t address, void *buffer, uint32_t len)
{
	generic.dev = dev, generic.sm = sm, generic.wp = wp, generic.ln = ln;
	generic.address = address, generic.len = len;
	memset(buffer, 0x77, len);
	return CUDBG_SUCCESS;
}

static CUDBGResult write_generic(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln,
				 uint64_t address, const void *buffer, uint32_t len)
{
	(void)buffer;
	generic.dev = dev, generic.sm = sm, generic.wp = wp, generic.ln = ln;
	generic.address = address, generic.len = len;
	return CUDBG_SUCCESS;
}

/* Memory that each device has other bytes of is read and written by a call that names the device,
 * where one is named; nothing else goes that way. */
static void ambiguous_addresses_are_those_of_the_device(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	struct ws_address at = nowhere;
	uint8_t bytes[4] = { 0 };
	size_t n;
	at.space = WS_SPACE_GLOBAL;
	at.address = 0x1234;
	table.readGlobalMemory = read_answer;
	table.writeGlobalMemory = write_answer;
	table.readGenericMemory = read_generic;
	table.writeGenericMemory = write_generic;
	for (int old = 0; old < 2; old++) {
		if (old) {
			table.readGenericMemory = NULL;
			table.readGlobalMemory55 = read_generic;
		}
		struct ws_target *target = over(&table);
		for (uint32_t device = 0; device < 3; device++) {
			bool named = device < 2; /* there is no third */
			at.device_index = device;
			answer = CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS;
			memset(&generic, 0x5a, sizeof generic);
			assert_int_equal(ws_target_read_memory(target, &at, bytes, 4, &n, NULL),
					 named ? WS_OK : WS_ARGUMENT);
			if (named)
				assert_true(generic.dev == 2 * device && generic.sm == 0 &&
					    generic.wp == 0 && generic.ln == 0 &&
					    generic.address == 0x1234 && generic.len == 4 &&
					    bytes[3] == 0x77);
			memset(&generic, 0x5a, sizeof generic);
			assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL),
					 named ? WS_OK : WS_ARGUMENT);
			if (named)
				assert_true(generic.dev == 2 * device && generic.sm == 0 &&
					    generic.wp == 0 && generic.ln == 0 &&
					    generic.address == 0x1234 && generic.len == 4);
			answer = CUDBG_ERROR_INVALID_MEMORY_SEGMENT;
			generic.len = 0;
			assert_int_equal(ws_target_read_memory(target, &at, bytes, 4, &n, NULL),
					 WS_ABSENT);
			assert_int_equal(n, 0);
			assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL),
					 WS_ABSENT);
			assert_int_equal(generic.len, 0);
		}
		ws_target_close(target);
	}
}

/* Whatever a provider says, a reader learns what kind of "no" it is. */
static void codes_of_providers_have_their_meaning(void **state)
{
	static const struct {
		CUDBGResult code;
		enum ws_status status;
	} cases[] = {
		{ CUDBG_ERROR_NOT_SUPPORTED, WS_UNSUPPORTED },
		{ CUDBG_ERROR_RUNNING_DEVICE, WS_RUNNING },
		{ CUDBG_ERROR_COMMUNICATION_FAILURE, WS_IO },
		{ CUDBG_ERROR_UNKNOWN, WS_ABSENT },
		{ CUDBG_ERROR_MISSING_DATA, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_ADDRESS, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_MEMORY_ACCESS, WS_ABSENT },
		{ CUDBG_ERROR_MEMORY_MAPPING_FAILED, WS_ABSENT },
		{ CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_ARGS, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_DEVICE, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_LANE, WS_ABSENT },
		{ CUDBG_ERROR_INVALID_CALL_LEVEL, WS_ABSENT },
		{ CUDBG_ERROR_INTERNAL, WS_MALFORMED },
		{ CUDBG_ERROR_BUFFER_TOO_SMALL, WS_MALFORMED },
	};
	(void)state;
	struct CUDBGAPI_st table = *api;
	table.readGlobalMemory = read_answer;
	table.getErrorStringEx = NULL; /* then the words of the code */
	struct ws_target *target = over(&table);
	struct ws_address at = nowhere;
	struct ws_error err;
	char want[200];
	uint8_t byte;
	size_t n;
	at.space = WS_SPACE_GLOBAL;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		answer = cases[i].code;
		assert_int_equal(ws_target_read_memory(target, &at, &byte, 1, &n, &err),
				 cases[i].status);
		snprintf(want, sizeof want, "memory: %s", cudbgGetErrorString(cases[i].code));
		assert_string_equal(err.message, want);
	}
	ws_target_close(target);
}

/* The API reads all or nothing: what is there of more than there is comes all the same. */
static void as_much_as_there_is_is_read(void **state)
{
	(void)state;
	struct ws_target *target = over(api);
	struct ws_address at = nowhere;
	uint8_t bytes[FAKE_GLOBAL_BYTES + 64];
	size_t n;
	at.space = WS_SPACE_GLOBAL;
	for (uint32_t off = 0; off < FAKE_GLOBAL_BYTES; off += 85) {
		at.address = FAKE_GLOBAL + off;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, sizeof bytes, &n, NULL),
				 WS_ABSENT);
		assert_int_equal(n, FAKE_GLOBAL_BYTES - off);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(bytes[i], (off + i) & 0xff);
		assert_int_equal(ws_target_read_memory(target, &at, bytes, n, &n, NULL), WS_OK);
		assert_int_equal(n, FAKE_GLOBAL_BYTES - off);
	}
	at.address = FAKE_GLOBAL;
	assert_int_equal(ws_target_read_memory(target, &at, bytes, 0, &n, NULL), WS_OK);
	assert_int_equal(n, 0);
	ws_target_close(target);
}

static uint32_t const_at[6];

static CUDBGResult const_bank_123(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t bank,
				  uint32_t offset, uint64_t *ret_address)
{
	const uint32_t all[] = { dev, sm, wp, bank, offset };
	memcpy(const_at, all, sizeof all);
	*ret_address = FAKE_GLOBAL + offset;
	return CUDBG_SUCCESS;
}

static CUDBGResult const_bank(uint32_t dev, uint64_t grid, uint32_t bank, uint64_t *ret_address,
			      uint32_t *ret_size)
{
	*ret_address = FAKE_GLOBAL;
	*ret_size = 16;
	return dev == 0 && grid == 1 && bank == 3 ? CUDBG_SUCCESS : CUDBG_ERROR_MISSING_DATA;
}

/* By the address of a bank and its size, or before 12.4 by that of the first byte, of a warp. */
static void constants_are_read_by_the_address_of_their_bank(void **state)
{
	(void)state;
	struct ws_address at = nowhere;
	uint8_t bytes[4];
	size_t n;
	at.space = WS_SPACE_CONST;
	at.warp_index = 0; /* its grid is meant */
	for (int old = 0; old < 2; old++) {
		struct CUDBGAPI_st table = *api;
		table.getConstBankAddress = old ? NULL : const_bank;
		table.getConstBankAddress123 = const_bank_123;
		struct ws_target *target = over(&table);
		at.bank = 3;
		at.address = 12;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, 4, &n, NULL), WS_OK);
		assert_int_equal(bytes[0], 12);
		if (old)
			assert_true(const_at[0] == 0 && const_at[1] == 1 && const_at[2] == 0 &&
				    const_at[3] == 3 && const_at[4] == 12);
		at.address = 13;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, 4, &n, NULL),
				 old ? WS_OK : WS_ABSENT);
		assert_int_equal(n, old ? 4 : 3);
		at.address = 17;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, 1, &n, NULL),
				 old ? WS_OK : WS_ABSENT);
		at.address = (uint64_t)UINT32_MAX + 1; /* further than the older form can ask */
		assert_int_equal(ws_target_read_memory(target, &at, bytes, 1, &n, NULL),
				 old ? WS_UNSUPPORTED : WS_ABSENT);
		at.bank = 4;
		at.address = 0;
		assert_int_equal(ws_target_read_memory(target, &at, bytes, 1, &n, NULL),
				 old ? WS_OK : WS_ABSENT);
		ws_target_close(target);
	}
}

/* ---- stop and go ---- */

static CUDBGResult of_device[3]; /* what each device answers, by id */
static unsigned asked;           /* a bit each */

static CUDBGResult one_device(uint32_t dev)
{
	asked |= 1u << dev;
	return of_device[dev];
}

/* Providers without a call for all devices are asked for one after the other; one that is already
 * so is no failure, and another failure ends it. */
static void devices_stop_and_go_one_by_one(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	table.suspendAllDevices = NULL;
	table.resumeAllDevices = NULL;
	table.suspendDevice = one_device;
	table.resumeDevice = one_device;
	struct ws_target *target = over(&table);
	for (int resume = 1; resume >= 0; resume--) {
		CUDBGResult already =
			resume ? CUDBG_ERROR_RUNNING_DEVICE : CUDBG_ERROR_SUSPENDED_DEVICE;
		for (int which = 0; which < 5; which++) {
			uint32_t index = which < 2 ? (uint32_t)which : WS_NONE;
			asked = 0;
			of_device[0] = which == 3   ? already
				       : which == 4 ? CUDBG_ERROR_INTERNAL
						    : CUDBG_SUCCESS;
			of_device[2] = which == 3 ? already : CUDBG_SUCCESS;
			enum ws_status st = resume ? ws_target_resume(target, index, NULL)
						   : ws_target_suspend(target, index, true, NULL);
			assert_int_equal(st, which == 4 ? WS_MALFORMED : WS_OK);
			assert_int_equal(asked, which == 0   ? 1
						: which == 1 ? 4
						: which == 4 ? 1
							     : 5);
			assert_int_equal(ws_target_running(target, 0), resume);
		}
	}
	ws_target_close(target);
}

static CUDBGResult no_step(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t lane, uint32_t n_steps,
			   uint32_t flags, uint64_t *ret_mask)
{
	(void)dev, (void)sm, (void)wp, (void)lane, (void)n_steps, (void)flags;
	*ret_mask = 0xff;
	return CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE;
}

static CUDBGResult no_until(uint32_t dev, uint32_t sm, uint64_t mask, uint64_t pc, uint32_t flags)
{
	(void)dev, (void)sm, (void)mask, (void)pc, (void)flags;
	return CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE;
}

/* A warp that cannot go alone is no damage. */
static void a_warp_that_cannot_go_alone_is_said_so(void **state)
{
	(void)state;
	struct CUDBGAPI_st table = *api;
	const struct ws_step step = { .warp_index = 1, .lane = WS_NONE, .steps = 1 };
	uint64_t warps = 3;
	struct ws_error err;
	table.singleStepWarp = no_step;
	table.resumeWarpsUntilPC = no_until;
	struct ws_target *target = over(&table);
	assert_int_equal(ws_target_step(target, &step, &warps, &err), WS_UNSUPPORTED);
	assert_int_equal(err.status, WS_UNSUPPORTED);
	assert_int_equal(warps, 3);
	assert_int_equal(ws_target_step(target, &step, &warps, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_run_until(target, 0, 1, FAKE_CODE, 0, &err), WS_UNSUPPORTED);
	assert_int_equal(err.status, WS_UNSUPPORTED);
	ws_target_close(target);
}

/* ---- predicates ---- */

static uint32_t written[16], n_written;

static CUDBGResult write_predicates(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln, uint32_t n,
				    const uint32_t *values)
{
	(void)dev, (void)sm, (void)wp, (void)ln;
	memcpy(written, values, n * sizeof *values);
	n_written = n;
	return CUDBG_SUCCESS;
}

static CUDBGResult write_uniform(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t n,
				 const uint32_t *values)
{
	return write_predicates(dev, sm, wp, 0, n, values);
}

/* They are written from the first on: those before stay what they were (P1 and others are true). */
static void predicates_before_those_written_stay(void **state)
{
	(void)state;
	static const uint32_t values[] = { 7, 8 };
	struct CUDBGAPI_st table = *api;
	table.writePredicates = write_predicates;
	table.writeUniformPredicates = write_uniform;
	struct ws_target *target = over(&table);
	for (int uniform = 0; uniform < 2; uniform++)
		for (uint32_t first = 0; first < 6; first++) {
			n_written = 0;
			assert_int_equal(ws_target_write_registers(target, 0, 0,
								   uniform ? WS_REG_UP : WS_REG_P,
								   first, 2, values, NULL),
					 WS_OK);
			assert_int_equal(n_written, first + 2);
			for (uint32_t i = 0; i < first; i++)
				assert_int_equal(written[i], i & 1);
			assert_true(written[first] == 7 && written[first + 1] == 8);
		}
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_P, 6, 2, values, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_target_write_registers(target, 0, 0, WS_REG_P, 7, 0, values, NULL),
			 WS_ABSENT);
	ws_target_close(target);
}

/* Registers of each kind from any number on, as many as there are. */
static void registers_are_read_from_any_number_on(void **state)
{
	static const struct {
		enum ws_reg_kind kind;
		uint32_t n;
	} kinds[] = { { WS_REG_R, 16 }, { WS_REG_P, 7 }, { WS_REG_UP, 7 }, { WS_REG_UR, 8 } };
	(void)state;
	struct ws_target *target = over(api);
	fake.device[0].n_uniform_regs = 8;
	for (size_t i = 0; i < 4; i++)
		for (uint32_t first = 0; first < kinds[i].n; first++) {
			uint32_t got[32], n = 0;
			uint32_t wanted = kinds[i].kind == WS_REG_UR ? kinds[i].n - first : 20;
			assert_int_equal(ws_target_registers(target, 0, 0, kinds[i].kind, first,
							     wanted, got, &n, NULL),
					 WS_OK);
			assert_int_equal(n, kinds[i].n - first);
			for (uint32_t k = 0; k < n; k++)
				assert_int_equal(got[k], kinds[i].kind == WS_REG_R
								 ? 100 + first + k
								 : (first + k) & 1);
		}
	ws_target_close(target);
}

/* ---- versions ---- */

/* The table only grew: a function is there from its version on. The last one of each. */
static void functions_are_there_since_their_version(void **state)
{
	static const struct {
		size_t slot;
		uint32_t major, minor;
	} cases[] = {
		{ offsetof(struct CUDBGAPI_st, writeRpcRegisters), 13, 4 },
		{ offsetof(struct CUDBGAPI_st, resumeAllDevices), 13, 2 },
		{ offsetof(struct CUDBGAPI_st, getHardwareBarrierInfo), 13, 1 },
		{ offsetof(struct CUDBGAPI_st, setNotifyNewEventCallback), 13, 0 },
		{ offsetof(struct CUDBGAPI_st, readCPUCallStack), 12, 9 },
		{ offsetof(struct CUDBGAPI_st, readWarpResources), 12, 8 },
		{ offsetof(struct CUDBGAPI_st, getClusterExceptionTargetBlock), 12, 7 },
		{ offsetof(struct CUDBGAPI_st, executeInternalCommand), 12, 6 },
		{ offsetof(struct CUDBGAPI_st, readSmException), 12, 5 },
		{ offsetof(struct CUDBGAPI_st, singleStepWarp), 12, 4 },
		{ offsetof(struct CUDBGAPI_st, getConstBankAddress123), 12, 3 },
		{ offsetof(struct CUDBGAPI_st, getErrorStringEx), 12, 2 },
		{ offsetof(struct CUDBGAPI_st, readClusterIdx), 12, 0 },
		{ offsetof(struct CUDBGAPI_st, getLoadedFunctionInfo118), 11, 8 },
		{ offsetof(struct CUDBGAPI_st, writeUniformPredicates), 10, 0 },
		{ offsetof(struct CUDBGAPI_st, readDeviceExceptionState), 9, 0 },
		{ offsetof(struct CUDBGAPI_st, singleStepWarp65), 6, 5 },
		{ offsetof(struct CUDBGAPI_st, requestCleanupOnDetach), 6, 0 },
		{ offsetof(struct CUDBGAPI_st, readDeviceExceptionState80), 5, 5 },
		{ offsetof(struct CUDBGAPI_st, getGridStatus50), 5, 0 },
		{ offsetof(struct CUDBGAPI_st, readTextureMemoryBindless), 4, 2 },
		{ offsetof(struct CUDBGAPI_st, readSyscallCallDepth), 4, 1 },
		{ offsetof(struct CUDBGAPI_st, getElfImage), 4, 0 },
		{ offsetof(struct CUDBGAPI_st, setNotifyNewEventCallback40), 3, 2 },
		{ offsetof(struct CUDBGAPI_st, readVirtualReturnAddress32), 3, 1 },
		{ offsetof(struct CUDBGAPI_st, acknowledgeEvent30), 0, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ws_provider provider = { .api = api };
		for (uint32_t major = 0; major < 16; major++)
			for (uint32_t minor = 0; minor < 10; minor++) {
				bool since = major > cases[i].major ||
					     (major == cases[i].major && minor >= cases[i].minor);
				provider.major = major;
				provider.minor = minor;
				if (ws_provider_has(&provider, cases[i].slot) != since)
					fail_msg("%zu: %u.%u", i, major, minor);
			}
	}
	struct ws_target *target = NULL;
	assert_int_equal(ws_target_from_api(api, 5, 5, &target, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_target_from_api(NULL, 13, 0, &target, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_from_api(api, 13, 0, NULL, NULL), WS_ARGUMENT);
	struct CUDBGAPI_st table = *api;
	table.initialize = NULL;
	assert_int_equal(ws_target_from_api(&table, 13, 0, &target, NULL), WS_UNSUPPORTED);
	assert_null(target);
	assert_int_equal(ws_target_from_api(api, 6, 0, &target, NULL), WS_OK);
	ws_target_close(target);
}

static void libraries_that_are_no_provider_are_refused(void **state)
{
	struct ws_provider provider;
	struct ws_target *target = NULL;
	struct ws_error err;
	(void)state;
	assert_int_equal(ws_provider_open(NULL, &provider, NULL), WS_ARGUMENT);
	assert_int_equal(ws_provider_open("libc.so.6", NULL, NULL), WS_ARGUMENT);
	assert_int_equal(ws_provider_open("/nonexistent.so", &provider, &err), WS_IO);
	assert_int_equal(ws_provider_open("libc.so.6", &provider, &err), WS_IO);
	assert_string_equal(err.message, "libc.so.6: the library has no cudbgGetAPI");
	assert_int_equal(ws_provider_open("libc.so.6:its_name", &provider, &err), WS_IO);
	assert_string_equal(err.message, "libc.so.6: the library has no its_name");
	assert_int_equal(ws_provider_open("libc.so.6:getpid", &provider, &err), WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "libc.so.6: getpid: "));
	assert_int_equal(ws_target_open_provider("libc.so.6", &target, &err), WS_IO);
	assert_null(target);
}

#define FORMS(name) cmocka_unit_test_setup_teardown(name, start, stop)

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
		cmocka_unit_test_setup_teardown(callers_are_those_that_are_recorded, start, stop),
		FORMS(registers_end_with_the_last),
		FORMS(ambiguous_addresses_are_those_of_the_device),
		FORMS(codes_of_providers_have_their_meaning),
		FORMS(as_much_as_there_is_is_read),
		FORMS(constants_are_read_by_the_address_of_their_bank),
		FORMS(devices_stop_and_go_one_by_one),
		FORMS(a_warp_that_cannot_go_alone_is_said_so),
		FORMS(predicates_before_those_written_stay),
		FORMS(registers_are_read_from_any_number_on),
		FORMS(functions_are_there_since_their_version),
		FORMS(libraries_that_are_no_provider_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
