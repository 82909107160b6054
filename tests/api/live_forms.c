/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: older forms of functions, and fixed answers. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t sm, wp;

/* Stands in the innermost function of `calls`. */
static void stop_inside(void)
{
	start_over("calls", 1, 40, false, NULL, 0);
	GOOD(setBreakpoint, DEV, find(WS_OP_RET, 0));
	GOOD0(resumeAllDevices);
	expect_stop();
	one_broken(&sm, &wp);
}

static void old_states_of_warps_are_the_new_one(void **state)
{
	(void)state;
	CUDBGWarpState now;
	CUDBGWarpState60 v60;
	CUDBGWarpState120 v120;
	CUDBGWarpState127 v127;
	uint64_t pc;
	stop_inside();
	pc = pc_of(sm, wp, 5);
	GOOD(readWarpState, DEV, sm, wp, &now);
	GOOD(readWarpState60, DEV, sm, wp, &v60);
	GOOD(readWarpState120, DEV, sm, wp, &v120);
	GOOD(readWarpState127, DEV, sm, wp, &v127);
	assert_true(now.lane[5].virtualPC == pc && v60.lane[5].virtualPC == pc &&
		    v120.lane[5].virtualPC == pc && v127.lane[5].virtualPC == pc);
	assert_true(now.validLanes == v60.validLanes && now.validLanes == v120.validLanes &&
		    now.validLanes == v127.validLanes && now.activeLanes == v127.activeLanes);
	assert_true(now.gridId == 1 && v60.gridId == 1 && v120.gridId == 1 && v127.gridId == 1);
	assert_true(now.lane[5].threadIdx.x == wp * 32 + 5);
}

static void old_call_stacks_are_the_new_one(void **state)
{
	(void)state;
	uint64_t all[4] = { 0 }, one, virtual_one;
	uint32_t depth = 0, inner = 9, n;
	stop_inside();
	GOOD(readAllVirtualReturnAddresses, DEV, sm, wp, 5, all, 4, &depth, &inner);
	assert_true(depth == 2 && inner == 0);
	for (uint32_t level = 0; level < depth; level++) {
		GOOD(readVirtualReturnAddress32, DEV, sm, wp, level, &virtual_one);
		assert_true(virtual_one == all[level]);
		GOOD(readReturnAddress, DEV, sm, wp, 5, level, &one);
		assert_true(one < virtual_one);
		GOOD(readReturnAddress32, DEV, sm, wp, level, &virtual_one);
		assert_true(virtual_one == one);
	}
	GOOD(readSyscallCallDepth, DEV, sm, wp, 5, &n);
	assert_int_equal(n, 0);
	uint32_t a[8], b[8], got;
	GOOD(readRegisterRange, DEV, sm, wp, 5, 0, 8, a, &got);
	GOOD(readRegisterRange60, DEV, sm, wp, 5, 0, 8, b);
	assert_int_equal(got, 8);
	assert_memory_equal(a, b, sizeof a);
}

static void old_grids_are_the_new_one(void **state)
{
	(void)state;
	CUDBGGridInfo now;
	CUDBGGridInfo55 v55;
	CUDBGGridInfo120 v120;
	CUDBGGridStatus status;
	CuDim3 dim;
	CuDim2 flat;
	uint64_t value;
	uint32_t n;
	stop_inside();
	GOOD(getGridInfo, DEV, 1, &now);
	GOOD(getGridInfo55, DEV, 1, &v55);
	GOOD(getGridInfo120, DEV, 1, &v120);
	assert_true(now.functionEntry == entry() && v55.functionEntry == now.functionEntry &&
		    v120.functionEntry == now.functionEntry);
	assert_true(now.context == v55.context && now.module == v120.module);
	GOOD(getGridStatus50, DEV, 1, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_ACTIVE);
	GOOD(getGridDim32, DEV, sm, wp, &flat);
	assert_int_equal(flat.x, 1);
	GOOD(getTID, DEV, sm, wp, &n);
	GOOD(getGridAttribute, DEV, sm, wp, CUDBG_ATTR_GRID_TID, &value);
	assert_int_equal(value, n);
	CUDBGAttributeValuePair pair = { .attribute = CUDBG_ATTR_GRID_LAUNCH_BLOCKING, .value = 9 };
	GOOD(getGridAttributes, DEV, sm, wp, &pair, 1);
	assert_int_equal(pair.value, 0);
	/* no clusters: dimensions of 0 */
	(void)CALL(getClusterDim, DEV, sm, wp, &dim);
	(void)CALL(getClusterDim120, DEV, 1, &dim);
	(void)CALL(readClusterIdx, DEV, sm, wp, &dim);
	uint64_t bank = 0, old_bank = 0;
	GOOD(getConstBankAddress, DEV, 1, 0, &bank, &n);
	GOOD(getConstBankAddress123, DEV, sm, wp, 0, 0x210, &old_bank);
	assert_true(old_bank == bank + 0x210 && n > 0x218);
	GOOD(readConstMemory129, DEV, old_bank, &value, sizeof value);
	assert_true(value == device.out);
}

static void code_is_found_by_name_and_address(void **state)
{
	(void)state;
	CUDBGLoadedFunctionInfo infos[64], old[64];
	uintptr_t address = 0;
	bool yes = false;
	char text[200], name[] = "calls";
	uint32_t bytes = 0, small = 0;
	uint64_t size;
	void *image = NULL;
	stop_inside();
	GOOD(lookupDeviceCodeSymbol, name, &yes, &address);
	assert_true(yes && address == entry());
	GOOD(isDeviceCodeAddress, address + 16, &yes);
	assert_true(yes);
	GOOD(isDeviceCodeAddress55, 64, &yes);
	assert_false(yes);
	GOOD(disassemble, DEV, entry(), &bytes, text, sizeof text);
	assert_int_equal(bytes, 16);
	assert_true(strstr(text, "LDC") || strstr(text, "MOV"));
	/* the section of each function that is loaded, one at least with the kernel's address */
	memset(infos, 0, sizeof infos);
	GOOD(getLoadedFunctionInfo, DEV, 1, infos, 0, 6);
	GOOD(getLoadedFunctionInfo118, DEV, 1, old, 6);
	assert_memory_equal(infos, old, 6 * sizeof *infos);
	bool found = false;
	for (int i = 0; i < 6; i++)
		found = found || infos[i].address == entry();
	assert_true(found);
	GOOD(getElfImage, DEV, sm, wp, true, &image, &size);
	assert_memory_equal(image, "\177ELF", 4);
	GOOD(getElfImage32, DEV, sm, wp, true, &image, &small);
	assert_int_equal(small, size);
}

/* What registers %rd1 and on, of two parts, hold now; whether one of them is `value`. */
static bool holds_value(uint64_t value)
{
	uint32_t numbers[4] = { 0 }, old[4] = { 0 }, n = 0, n_old = 0, words[2];
	CUDBGRegClass class, old_class;
	char name[16];
	for (int i = 1; i < 20; i++) {
		snprintf(name, sizeof name, "%%rd%d", i);
		uint64_t pc = pc_of(sm, wp, 0);
		if (CALL(getPhysicalRegister40, DEV, sm, wp, pc, name, numbers, 4, &n, &class) !=
			    CUDBG_SUCCESS ||
		    n == 0)
			continue;
		GOOD(getPhysicalRegister30, pc, name, old, 4, &n_old, &old_class);
		assert_true(n == 2 && n_old == 2 && class == old_class);
		assert_memory_equal(numbers, old, 2 * sizeof *old);
		if (class != REG_CLASS_REG_FULL || numbers[1] >> 24 != REG_CLASS_REG_FULL)
			continue;
		for (int k = 0; k < 2; k++)
			GOOD(readRegister, DEV, sm, wp, 0, numbers[k] & 0xffffff, &words[k]);
		if ((words[0] | (uint64_t)words[1] << 32) == value)
			return true;
	}
	return false;
}

/* Of a kernel compiled with -G: the registers that the map names hold the kernel's argument. */
static void registers_of_ptx_hold_what_they_should(void **state)
{
	(void)state;
	const char *optimised = kernels;
	unsigned n_seen = 0;
	kernels = debug_kernels;
	start_over("calls", 1, 32, false, NULL, 0);
	kernels = optimised;
	stop_at_start();
	one_broken(&sm, &wp);
	for (int steps = 0; steps < 60; steps++) {
		n_seen += holds_value(device.out);
		(void)step(sm, wp, UINT32_MAX, 1, 0);
	}
	assert_in_range(n_seen, 5, 60);
}

static void a_fault_is_told_in_every_way(void **state)
{
	(void)state;
	uint64_t pc, mask[4] = { 0 };
	bool yes;
	char text[200];
	uint32_t length, word = 0;
	CuDim3 dim;
	CUDBGException_t exception;
	run_into_fault();
	expect_stop();
	one_broken(&sm, &wp);
	GOOD(readSmException, DEV, sm, &exception, &pc, &yes);
	assert_true(exception == CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS && yes &&
		    pc == pc_of(sm, wp, 8));
	GOOD(readDeviceExceptionState, DEV, mask, 4);
	assert_true(mask[0] == 1u << sm);
	GOOD(getCudaExceptionString, DEV, sm, wp, 8, text, sizeof text, &length);
	assert_true(length > 10);
	GOOD(getClusterExceptionTargetBlock, DEV, sm, wp, &dim, &yes);
	assert_false(yes);
	GOOD(readGlobalMemory, device.out + 4, &word, sizeof word);
	assert_int_equal(word, 0); /* what a thread that could read has left: in[1] */
}

static void a_barrier_is_told(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	CUDBGBarrierScope scope;
	char text[100];
	uint32_t length;
	CUDBGCbuWarpState cbu;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0);
	GOOD(resumeWarpsUntilPC, DEV, 0, 4, barrier + 16, 0); /* it waits there: early */
	assert_true(pc_of(0, 2, 0) == barrier);
	GOOD(getHardwareBarrierInfo, DEV, 0, 2, 0, &scope, text, sizeof text, &length);
	assert_int_equal(scope, CUDBG_BARRIER_SCOPE_BLOCK);
	GOOD(getHardwareBarrierInfo, DEV, 0, 3, 0, &scope, text, sizeof text, &length);
	assert_int_equal(scope, CUDBG_BARRIER_SCOPE_NONE);
	GOOD(getCbuWarpState, DEV, 0, 4, &cbu, 1);
	assert_true(cbu.exitedMask == 0);
}

static void memory_of_all_forms(void **state)
{
	(void)state;
	const uint64_t rounds = 2;
	uint32_t word = 0x11223344, back = 0;
	CUDBGMemoryInfo regions[2];
	uint32_t n = 9;
	start_over("meets", 1, 64, false, &rounds, 1);
	stop_at_start();
	GOOD(writeSharedMemory, DEV, 0, 1, 1024, &word, sizeof word);
	GOOD(readSharedMemory, DEV, 0, 0, 1024, &back, sizeof back); /* of the same block */
	assert_int_equal(back, word);
	assert_int_equal(CALL(readSharedMemory, DEV, 0, 0, 1 << 20, &back, sizeof back),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	GOOD(writeGlobalMemory55, DEV, 0, 0, 0, device.out + 400, &word, sizeof word);
	back = 0;
	GOOD(readGlobalMemory55, DEV, 0, 0, 0, device.out + 400, &back, sizeof back);
	assert_int_equal(back, word);
	word = 77;
	assert_int_equal(CALL(writeGlobalMemory31, DEV, device.out + 400, &word, sizeof word),
			 CUDBG_ERROR_NOT_SUPPORTED); /* from Hopper on */
	GOOD(writeGlobalMemory, device.out + 400, &word, sizeof word);
	GOOD(readGlobalMemory31, DEV, device.out + 400, &back, sizeof back);
	assert_int_equal(back, 77);
	GOOD(readGenericMemory, DEV, 0, 0, 0, device.out + 400, &back, sizeof back);
	assert_int_equal(back, 77);
	assert_int_equal(CALL(readGlobalMemory, 64, &back, sizeof back),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(
		CALL(readGlobalMemory, device.out + 4 * DEVICE_WORDS - 2, &back, sizeof back),
		CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	GOOD(getManagedMemoryRegionInfo, 0, regions, 2, &n);
	assert_int_equal(n, 0);
}

static void some_answers_are_fixed(void **state)
{
	(void)state;
	uint32_t n = 9, coordinates[1] = { 0 };
	uint64_t address;
	char text[100];
	ptxStorageKind storage;
	CUDBGCapabilityFlags capabilities;
	stop_inside();
	assert_int_equal(CALL(executeInternalCommand, "x", text, sizeof text),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(memcheckReadErrorAddress, DEV, sm, wp, 5, &address, &storage),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(readTextureMemory, DEV, sm, wp, 0, 1, coordinates, text, 4),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(readTextureMemoryBindless, DEV, sm, wp, 0, 1, coordinates, text, 4),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(getBindlessConstAddress, DEV, 0, &address, &n),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(writeCCRegister, DEV, sm, wp, 5, 0), CUDBG_ERROR_NOT_SUPPORTED);
	(void)CALL(readCCRegister, DEV, sm, wp, 5, &n);
	GOOD(getDeviceName, DEV, text, sizeof text);
	assert_non_null(strstr(text, "software GPU"));
	GOOD(getDeviceType, DEV, text, sizeof text);
	GOOD(getNumRegisters, DEV, &n);
	assert_int_equal(n, 255);
	GOOD(getNumPredicates, DEV, &n);
	assert_int_equal(n, 7);
	GOOD(getNumUniformRegisters, DEV, &n);
	assert_int_equal(n, 63);
	GOOD(getNumUniformPredicates, DEV, &n);
	assert_int_equal(n, 7);
	GOOD(getSupportedDebuggerCapabilities, &capabilities);
	GOOD0(initializeAttachStub);
	GOOD0(clearAttachState);
	assert_int_equal(CALL(getNumSMs, 7, &n), CUDBG_ERROR_INVALID_ARGS);
	GOOD(getErrorStringEx, text, sizeof text, &n);
	assert_non_null(strstr(text, "getNumSMs"));
	GOOD0(acknowledgeEvents42);
	GOOD(acknowledgeEvent30, NULL);
	CUDBGBreakpointHandle handle;
	GOOD(insertBreakpoint, DEV, entry(), &handle);
	GOOD(removeBreakpoint, handle);
	assert_int_equal(CALL(removeBreakpoint, handle), CUDBG_ERROR_INVALID_ARGS);
	GOOD(unsetBreakpoint, DEV, find(WS_OP_RET, 0));
}

/* Each of the old calls that take an event tells of a grid that has ended. */
static void old_calls_take_events(void **state)
{
	(void)state;
	CUDBGEvent50 e50;
	CUDBGEvent55 e55;
	CUDBGEvent30 e30;
	CUDBGEvent32 e32;
	CUDBGEvent42 e42;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD0(resumeAllDevices);
	memset(&e50, 0, sizeof e50);
	for (int i = 0; i < 50000 && CALL(getNextAsyncEvent50, &e50) != CUDBG_SUCCESS; i++)
		doze();
	assert_true(e50.kind == CUDBG_EVENT_KERNEL_FINISHED &&
		    e50.cases.kernelFinished.gridId == 1);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 1, 32, args, 1);
	memset(&e55, 0, sizeof e55);
	for (int i = 0; i < 50000 && CALL(getNextAsyncEvent55, &e55) != CUDBG_SUCCESS; i++)
		doze();
	assert_true(e55.kind == CUDBG_EVENT_KERNEL_FINISHED &&
		    e55.cases.kernelFinished.gridId64 == 2);
	/* launches that are told, by each of the calls of the other queue */
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	for (uint32_t i = 0; i < 5; i++) {
		(void)device_launch_later(&device, "calls", 1, 32, args, 1);
		CUDBGResult result = i == 0   ? CALL(getNextEvent30, &e30)
				     : i == 1 ? CALL(getNextEvent32, &e32)
				     : i == 2 ? CALL(getNextEvent42, &e42)
				     : i == 3 ? CALL(getNextSyncEvent50, &e50)
					      : CALL(getNextSyncEvent55, &e55);
		assert_int_equal(result, CUDBG_SUCCESS);
		uint64_t id = i == 0   ? e30.cases.kernelReady.gridId
			      : i == 1 ? e32.cases.kernelReady.gridId
			      : i == 2 ? e42.cases.kernelReady.gridId
			      : i == 3 ? e50.cases.kernelReady.gridId
				       : e55.cases.kernelReady.gridId64;
		assert_int_equal(id, 3 + i);
		GOOD0(acknowledgeSyncEvents);
		expect_end();
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_forms_tests[] = {
	TEST(old_states_of_warps_are_the_new_one),
	TEST(old_call_stacks_are_the_new_one),
	TEST(old_grids_are_the_new_one),
	TEST(code_is_found_by_name_and_address),
	TEST(registers_of_ptx_hold_what_they_should),
	TEST(a_fault_is_told_in_every_way),
	TEST(a_barrier_is_told),
	TEST(memory_of_all_forms),
	TEST(some_answers_are_fixed),
	TEST(old_calls_take_events),
};
const size_t n_live_forms_tests = sizeof live_forms_tests / sizeof *live_forms_tests;
