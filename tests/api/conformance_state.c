/* SPDX-License-Identifier: Apache-2.0 */
/* What the functions that read state answer. */
#include "conformance.h"

#include <unistd.h>

#include <warpscope/cubin.h>

/* ---- what is answered ---- */

void device_properties(void **state)
{
	(void)state;
	uint32_t n, bus, device;
	char text[16];
	start_ready(false, 0);
	assert_int_equal(CALL(getNumDevices, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 3);
	assert_int_equal(CALL(getNumSMs, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 130);
	assert_int_equal(CALL(getNumWarps, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 8);
	assert_int_equal(CALL(getNumLanes, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 32);
	assert_int_equal(CALL(getNumRegisters, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 255);
	assert_int_equal(CALL(getNumPredicates, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 7);
	assert_int_equal(CALL(getNumUniformRegisters, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 63);
	assert_int_equal(CALL(getNumUniformPredicates, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 7);
	assert_int_equal(CALL(getDevicePCIBusInfo, 2, &bus, &device), CUDBG_SUCCESS);
	assert_int_equal(bus, 7);
	assert_int_equal(device, 1);
	assert_int_equal(CALL(getDeviceName, 0, text, 9), CUDBG_SUCCESS);
	assert_string_equal(text, "Fake GPU");
	assert_int_equal(CALL(getDeviceName, 0, text, 8), CUDBG_ERROR_BUFFER_TOO_SMALL);
	assert_int_equal(CALL(getDeviceType, 0, text, 6), CUDBG_SUCCESS);
	assert_string_equal(text, "FA100");
	assert_int_equal(CALL(getDeviceType, 0, text, 5), CUDBG_ERROR_BUFFER_TOO_SMALL);
	assert_int_equal(CALL(getSmType, 0, text, 6), CUDBG_SUCCESS);
	assert_string_equal(text, "sm_80");
	assert_int_equal(CALL(getSmType, 0, text, 0), CUDBG_ERROR_BUFFER_TOO_SMALL);
	stop();
}

/* Where a target does not say of a warp whether it is broken, nobody says that none is. */
void broken_warps_are_told_or_missing(void **state)
{
	(void)state;
	static uint8_t buffer[1 << 20];
	for (uint32_t i = 0; i < 5; i++) { /* at last of none */
		const CUDBGResult want = i < 4 ? CUDBG_ERROR_MISSING_DATA : CUDBG_SUCCESS;
		uint32_t length;
		uint64_t mask;
		start(false);
		if (i < 4)
			fake.warp[i].have &= ~(uint32_t)WS_WARP_BROKEN;
		assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
		assert_int_equal(CALL(readBrokenWarps, 0, 1, &mask), want);
		assert_int_equal(CALL(readValidWarps, 0, 1, &mask), CUDBG_SUCCESS);
		assert_int_equal(mask, 0xe1);
		assert_int_equal(CALL(getDeviceInfo, 0, CUDBG_RESPONSE_TYPE_FULL, buffer,
				      sizeof buffer, &length),
				 want);
		stop();
	}
}

void warp_masks_and_places(void **state)
{
	(void)state;
	uint64_t mask, id, pc;
	uint32_t lanes, id50, tid;
	CuDim3 d3;
	CuDim2 d2;
	bool valid;
	start_ready(false, 0);
	assert_int_equal(CALL(readValidWarps, 0, 1, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 0xe1);
	assert_int_equal(CALL(readValidWarps, 0, 0, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 0);
	assert_int_equal(CALL(readBrokenWarps, 0, 1, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 1);
	assert_int_equal(CALL(readValidLanes, 0, 1, 0, &lanes), CUDBG_SUCCESS);
	assert_int_equal(lanes, 0x7fffffff);
	assert_int_equal(CALL(readActiveLanes, 0, 1, 0, &lanes), CUDBG_SUCCESS);
	assert_int_equal(lanes, 1);
	assert_int_equal(CALL(readGridId, 0, 1, 7, &id), CUDBG_SUCCESS);
	assert_int_equal(id, 77);
	assert_int_equal(CALL(readGridId50, 0, 1, 0, &id50), CUDBG_SUCCESS);
	assert_int_equal(id50, 1);
	assert_int_equal(CALL(readBlockIdx, 0, 1, 5, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 1 && d3.y == 1 && d3.z == 2);
	assert_int_equal(CALL(readBlockIdx32, 0, 1, 5, &d2), CUDBG_SUCCESS);
	assert_true(d2.x == 1 && d2.y == 1);
	assert_int_equal(CALL(readClusterIdx, 0, 1, 5, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 1 && d3.y == 0 && d3.z == 0);
	assert_int_equal(CALL(getClusterDim, 0, 1, 0, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 2 && d3.y == 1 && d3.z == 1);
	assert_int_equal(CALL(getClusterDim, 0, 1, 5, &d3), CUDBG_SUCCESS); /* of the grid */
	assert_true(d3.x == 2 && d3.y == 1 && d3.z == 1);
	assert_int_equal(CALL(getClusterDim, 0, 1, 7, &d3), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridDim, 0, 1, 0, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 4 && d3.y == 5 && d3.z == 6);
	assert_int_equal(CALL(getGridDim, 0, 1, 7, &d3), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridDim32, 0, 1, 0, &d2), CUDBG_SUCCESS);
	assert_true(d2.x == 4 && d2.y == 5);
	assert_int_equal(CALL(getGridDim32, 0, 1, 7, &d2), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getBlockDim, 0, 1, 0, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 8 && d3.y == 4 && d3.z == 2);
	assert_int_equal(CALL(getBlockDim, 0, 1, 7, &d3), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getTID, 0, 1, 0, &tid), CUDBG_SUCCESS);
	assert_int_equal(tid, 4711);
	assert_int_equal(CALL(getTID, 0, 1, 5, &tid), CUDBG_ERROR_INVALID_CONTEXT);
	assert_int_equal(CALL(getTID, 0, 1, 7, &tid), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(readErrorPC, 0, 1, 0, &pc, &valid), CUDBG_SUCCESS);
	assert_true(valid && pc == FAKE_CODE + 16);
	assert_int_equal(CALL(readErrorPC, 0, 1, 5, &pc, &valid), CUDBG_SUCCESS);
	assert_true(!valid && pc == 0);
	stop();
}

void lane_fields(void **state)
{
	(void)state;
	CuDim3 d3;
	uint64_t pc;
	uint32_t n, lo, hi;
	bool error;
	CUDBGException_t exception;
	start_ready(false, 0);
	assert_int_equal(CALL(readThreadIdx, 0, 1, 0, 10, &d3), CUDBG_SUCCESS);
	assert_true(d3.x == 2 && d3.y == 1 && d3.z == 0);
	assert_int_equal(CALL(readPC, 0, 1, 0, 0, &pc), CUDBG_SUCCESS);
	assert_int_equal(pc, 32);
	assert_int_equal(CALL(readVirtualPC, 0, 1, 0, 0, &pc), CUDBG_SUCCESS);
	assert_int_equal(pc, FAKE_CODE + 32);
	assert_int_equal(CALL(readVirtualPC, 0, 1, 6, 3, &pc), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readLaneStatus, 0, 1, 0, 2, &error), CUDBG_SUCCESS);
	assert_true(error);
	assert_int_equal(CALL(readLaneStatus, 0, 1, 0, 3, &error), CUDBG_SUCCESS);
	assert_false(error);
	assert_int_equal(CALL(readLaneException, 0, 1, 0, 2, &exception), CUDBG_SUCCESS);
	assert_int_equal(exception, CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT);
	assert_int_equal(CALL(readCCRegister, 0, 1, 0, 2, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 9);
	assert_int_equal(CALL(readSyscallCallDepth, 0, 1, 0, 2, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 0); /* whatever the target says: this table is of the newest version */
	assert_int_equal(CALL(readRpcRegisters, 0, 1, 0, 2, &lo, &hi), CUDBG_SUCCESS);
	assert_true(lo == 0x10 && hi == 0x20);
	assert_int_equal(CALL(readRpcRegisters, 0, 1, 5, 2, &lo, &hi), CUDBG_ERROR_MISSING_DATA);
	stop();
}

void call_stacks(void **state)
{
	(void)state;
	uint64_t ra, addrs[64];
	uint32_t depth, syscall_depth;
	start_ready(false, 0);
	assert_int_equal(CALL(readCallDepth, 0, 1, 0, 0, &depth), CUDBG_SUCCESS);
	assert_int_equal(depth, 2);
	assert_int_equal(CALL(readCallDepth32, 0, 1, 0, &depth), CUDBG_SUCCESS);
	assert_int_equal(depth, 2);
	assert_int_equal(CALL(readCallDepth32, 0, 1, 5, &depth), CUDBG_ERROR_INVALID_LANE);
	assert_int_equal(CALL(readReturnAddress, 0, 1, 0, 0, 1, &ra), CUDBG_SUCCESS);
	assert_int_equal(ra, 16);
	assert_int_equal(CALL(readReturnAddress, 0, 1, 0, 0, 2, &ra),
			 CUDBG_ERROR_INVALID_CALL_LEVEL);
	assert_int_equal(CALL(readReturnAddress, 0, 1, 5, 0, 1, &ra), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readVirtualReturnAddress, 0, 1, 0, 1, 39, &ra), CUDBG_SUCCESS);
	assert_int_equal(ra, FAKE_CODE + 39 * 16);
	assert_int_equal(CALL(readVirtualReturnAddress, 0, 1, 0, 1, UINT32_MAX, &ra),
			 CUDBG_ERROR_INVALID_CALL_LEVEL);
	assert_int_equal(CALL(readReturnAddress32, 0, 1, 0, 1, &ra), CUDBG_SUCCESS);
	assert_int_equal(ra, 16);
	assert_int_equal(CALL(readReturnAddress32, 0, 1, 0, 7, &ra),
			 CUDBG_ERROR_INVALID_CALL_LEVEL);
	assert_int_equal(CALL(readReturnAddress32, 0, 1, 5, 0, &ra), CUDBG_ERROR_INVALID_LANE);
	assert_int_equal(CALL(readVirtualReturnAddress32, 0, 1, 0, 1, &ra), CUDBG_SUCCESS);
	assert_int_equal(ra, FAKE_CODE + 16);
	assert_int_equal(CALL(readVirtualReturnAddress32, 0, 1, 0, 2, &ra),
			 CUDBG_ERROR_INVALID_CALL_LEVEL);
	assert_int_equal(CALL(readVirtualReturnAddress32, 0, 1, 5, 0, &ra),
			 CUDBG_ERROR_INVALID_LANE);
	memset(addrs, 0, sizeof addrs);
	assert_int_equal(
		CALL(readAllVirtualReturnAddresses, 0, 1, 0, 1, addrs, 64, &depth, &syscall_depth),
		CUDBG_SUCCESS);
	assert_true(depth == 40 && syscall_depth == 0 && addrs[39] == FAKE_CODE + 39 * 16 &&
		    addrs[40] == 0);
	assert_int_equal(
		CALL(readAllVirtualReturnAddresses, 0, 1, 0, 1, NULL, 0, &depth, &syscall_depth),
		CUDBG_SUCCESS);
	assert_int_equal(
		CALL(readAllVirtualReturnAddresses, 0, 1, 0, 1, NULL, 1, &depth, &syscall_depth),
		CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(
		CALL(readAllVirtualReturnAddresses, 0, 1, 5, 0, addrs, 2, &depth, &syscall_depth),
		CUDBG_ERROR_MISSING_DATA);
	stop();
}

void registers(void **state)
{
	(void)state;
	uint32_t value[300], n;
	start_ready(false, 0);
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, 15, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 115);
	/* past the warp's last: 0, up to the last that a lane of the device can have */
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, 16, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 0);
	value[0] = 1;
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, 254, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 0);
	/* the grid says 40, 16 are recorded */
	assert_int_equal(CALL(readRegister, 0, 1, 5, 0, 16, value), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readRegister, 0, 1, 5, 0, 39, value), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readRegister, 0, 1, 5, 0, 40, value), CUDBG_SUCCESS);
	assert_int_equal(CALL(readRegisterRange60, 0, 1, 5, 0, 8, 16, value),
			 CUDBG_ERROR_MISSING_DATA);
	/* no row says how many: those recorded are all */
	assert_int_equal(CALL(readRegister, 0, 1, 7, 0, 15, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 115);
	assert_int_equal(CALL(readRegister, 0, 1, 7, 0, 16, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 0);
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, 255, value), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readRegister, 0, 1, 0, 0, UINT32_MAX, value),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readRegisterRange, 0, 1, 0, 0, 14, 4, value, &n), CUDBG_SUCCESS);
	assert_true(n == 2 && value[1] == 115 && value[2] == 0 && value[3] == 0);
	memset(value, 0xff, sizeof value);
	assert_int_equal(CALL(readRegisterRange, 0, 1, 0, 0, 16, 16, value, &n), CUDBG_SUCCESS);
	assert_true(n == 0 && value[0] == 0 && value[15] == 0 && value[16] == UINT32_MAX);
	assert_int_equal(CALL(readRegisterRange, 0, 1, 5, 0, 8, 16, value, &n), CUDBG_SUCCESS);
	assert_true(n == 8 && value[7] == 115); /* the count tells that there are no more */
	assert_int_equal(CALL(readRegisterRange, 0, 1, 5, 0, 8, 16, value, NULL),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readRegisterRange, 0, 1, 0, 0, 2, 0, value, NULL), CUDBG_SUCCESS);
	assert_int_equal(CALL(readRegisterRange, 0, 1, 0, 0, UINT32_MAX, 2, value, &n),
			 CUDBG_ERROR_INVALID_ARGS);
	memset(value, 0xff, sizeof value);
	assert_int_equal(CALL(readRegisterRange60, 0, 1, 0, 0, 0, 255, value), CUDBG_SUCCESS);
	assert_true(value[15] == 115 && value[16] == 0 && value[254] == 0 &&
		    value[255] == UINT32_MAX);
	assert_int_equal(CALL(readRegisterRange60, 0, 1, 0, 0, 0, 256, value),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readPredicates, 0, 1, 0, 0, 7, value), CUDBG_SUCCESS);
	assert_true(value[0] == 0 && value[1] == 1 && value[6] == 0);
	assert_int_equal(CALL(readPredicates, 0, 1, 0, 0, 8, value), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readUniformPredicates, 0, 1, 0, 2, value), CUDBG_SUCCESS);
	assert_int_equal(CALL(readUniformPredicates, 0, 1, 0, 8, value), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readUniformRegisterRange, 0, 1, 0, 1, 7, value), CUDBG_SUCCESS);
	assert_int_equal(value[0], 1);
	assert_int_equal(CALL(readUniformRegisterRange, 0, 1, 0, 1, 8, value),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readUniformRegisterRange, 0, 1, 0, 60, 4, value),
			 CUDBG_ERROR_INVALID_ARGS);
	stop();
}

void grids(void **state)
{
	(void)state;
	CUDBGGridInfo info;
	CUDBGGridInfo120 info120;
	CUDBGGridInfo55 info55;
	CUDBGGridStatus status;
	CUDBGAttributeValuePair pairs[2] = { { CUDBG_ATTR_GRID_TID, 0 },
					     { CUDBG_ATTR_GRID_LAUNCH_BLOCKING, 0 } };
	uint64_t value, address, stack[2];
	uint32_t size, total;
	CuDim3 d3;
	start_ready(false, 0);
	assert_int_equal(CALL(getGridInfo, 0, 1, &info), CUDBG_SUCCESS);
	assert_true(info.dev == 0 && info.tid == 4711 && info.context == 0xc0 &&
		    info.module == 0x100 && info.functionEntry == FAKE_CODE &&
		    info.preferredClusterDim.x == 4 && info.type == CUDBG_KNL_TYPE_APPLICATION);
	assert_int_equal(CALL(getGridInfo120, 0, 1, &info120), CUDBG_SUCCESS);
	assert_memory_equal(&info, &info120, sizeof info120);
	assert_int_equal(CALL(getGridInfo55, 0, 1, &info55), CUDBG_SUCCESS);
	assert_memory_equal(&info, &info55, sizeof info55);
	assert_int_equal(CALL(getGridInfo, 0, 99, &info), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridInfo120, 0, 99, &info120), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridInfo55, 0, 99, &info55), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridInfo, 0, 2, &info), CUDBG_ERROR_INVALID_CONTEXT);
	assert_int_equal(CALL(getGridInfo120, 0, 2, &info120), CUDBG_ERROR_INVALID_CONTEXT);
	assert_int_equal(CALL(getGridInfo55, 0, 2, &info55), CUDBG_ERROR_INVALID_CONTEXT);
	assert_int_equal(CALL(getGridStatus, 0, 0x500000001, &status), CUDBG_SUCCESS);
	assert_int_equal(status, CUDBG_GRID_STATUS_ACTIVE);
	assert_int_equal(CALL(getGridStatus, 0, 99, &status), CUDBG_SUCCESS);
	assert_int_equal(status, CUDBG_GRID_STATUS_INVALID);
	assert_int_equal(CALL(getGridStatus50, 0, 1, &status), CUDBG_SUCCESS);
	assert_int_equal(status, CUDBG_GRID_STATUS_ACTIVE);
	assert_int_equal(CALL(getGridStatus50, 0, 99, &status), CUDBG_SUCCESS);
	assert_int_equal(status, CUDBG_GRID_STATUS_INVALID);
	assert_int_equal(CALL(getGridAttribute, 0, 1, 0, CUDBG_ATTR_GRID_LAUNCH_BLOCKING, &value),
			 CUDBG_SUCCESS);
	assert_int_equal(value, 1);
	assert_int_equal(CALL(getGridAttribute, 0, 1, 0, (CUDBGAttribute)2, &value),
			 CUDBG_ERROR_INVALID_ATTRIBUTE);
	assert_int_equal(CALL(getGridAttribute, 0, 1, 7, CUDBG_ATTR_GRID_TID, &value),
			 CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridAttributes, 0, 1, 0, pairs, 2), CUDBG_SUCCESS);
	assert_true(pairs[0].value == 4711 && pairs[1].value == 1);
	assert_int_equal(CALL(getGridAttributes, 0, 1, 0, pairs, 0), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getGridAttributes, 0, 1, 7, pairs, 2), CUDBG_ERROR_INVALID_GRID);
	pairs[0].value = 1;
	pairs[1].attribute = (CUDBGAttribute)9;
	assert_int_equal(CALL(getGridAttributes, 0, 1, 0, pairs, 2), CUDBG_ERROR_INVALID_ATTRIBUTE);
	assert_int_equal(pairs[0].value, 1);
	assert_int_equal(CALL(getClusterDim120, 0, 1, &d3), CUDBG_SUCCESS);
	assert_int_equal(d3.x, 2);
	assert_int_equal(CALL(getClusterDim120, 0, 99, &d3), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getConstBankAddress, 0, 1, 3, &address, &size), CUDBG_SUCCESS);
	assert_true(address == FAKE_BANK && size == FAKE_BANK_BYTES);
	assert_int_equal(CALL(getConstBankAddress, 0, 1, 4, &address, &size),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getConstBankAddress, 0, 99, 3, &address, &size),
			 CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getConstBankAddress123, 0, 1, 0, 3, 8, &address), CUDBG_SUCCESS);
	assert_int_equal(address, FAKE_BANK + 8);
	assert_int_equal(CALL(getConstBankAddress123, 0, 1, 0, 3, FAKE_BANK_BYTES, &address),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(getConstBankAddress123, 0, 1, 7, 3, 8, &address),
			 CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getConstBankAddress123, 0, 1, 0, 0, 8, &address),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readCPUCallStack, 0, 1, stack, 2, &total), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readCPUCallStack, 0, 99, stack, 2, &total), CUDBG_ERROR_INVALID_GRID);
	stop();
}

void exceptions_of_exited_warps_need_the_capability(void **state)
{
	(void)state;
	uint64_t mask[4], pc;
	bool valid;
	CUDBGException_t exception;
	start_ready(false, 0);
	memset(mask, 0xff, sizeof mask);
	assert_int_equal(CALL(readDeviceExceptionState, 0, mask, 4), CUDBG_SUCCESS);
	assert_true(mask[0] == 2 && mask[1] == 0 && mask[2] == 0 && mask[3] == 0);
	assert_int_equal(CALL(readDeviceExceptionState, 0, mask, 2), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readDeviceExceptionState80, 0, mask), CUDBG_SUCCESS);
	assert_int_equal(mask[0], 2);
	assert_int_equal(CALL(readSmException, 0, 129, &exception, &pc, &valid), CUDBG_SUCCESS);
	assert_true(exception == CUDBG_EXCEPTION_NONE && !valid && pc == 0);
	stop();
	start_ready(false, CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS);
	assert_int_equal(CALL(readDeviceExceptionState, 0, mask, 3), CUDBG_SUCCESS);
	assert_true(mask[0] == 2 && mask[1] == 0 && mask[2] == 2);
	assert_int_equal(CALL(readSmException, 0, 129, &exception, &pc, &valid), CUDBG_SUCCESS);
	assert_true(exception == CUDBG_EXCEPTION_WARP_ASSERT && valid && pc == FAKE_CODE + 16);
	stop();
}

/* Targets of older drivers tell of exceptions in lanes only. */
void exceptions_of_lanes_are_enough_for_the_mask(void **state)
{
	(void)state;
	uint64_t mask, pc;
	bool valid;
	char text[64];
	CuDim3 d3;
	CUDBGException_t exception;
	start(false);
	fake_hide_sm_exceptions(&fake);
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_int_equal(CALL(readDeviceExceptionState80, 0, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 2);
	assert_int_equal(CALL(readSmException, 0, 1, &exception, &pc, &valid),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getClusterExceptionTargetBlock, 0, 1, 0, &d3, &valid),
			 CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(getCudaExceptionString, 0, 1, 0, 0, text, 64, NULL),
			 CUDBG_ERROR_MISSING_DATA);
	stop();
}

void exception_texts_and_barriers(void **state)
{
	(void)state;
	char text[64];
	uint32_t size;
	CuDim3 d3;
	bool valid;
	CUDBGBarrierScope scope;
	CUDBGCbuWarpState cbu[2];
	CUDBGWarpResources resources;
	start_ready(false, 0);
	assert_int_equal(CALL(getCudaExceptionString, 0, 1, 0, 2, NULL, 0, &size), CUDBG_SUCCESS);
	assert_int_equal(CALL(getCudaExceptionString, 0, 1, 0, 2, text, size, NULL), CUDBG_SUCCESS);
	assert_string_equal(text, "the block is gone");
	assert_int_equal(CALL(getCudaExceptionString, 0, 1, 0, 2, text, size - 1, NULL),
			 CUDBG_ERROR_BUFFER_TOO_SMALL);
	assert_int_equal(CALL(getHardwareBarrierInfo, 0, 1, 0, 0, &scope, text, 64, &size),
			 CUDBG_SUCCESS);
	assert_int_equal(scope, CUDBG_BARRIER_SCOPE_BLOCK);
	assert_string_equal(text, "waits for its block");
	assert_int_equal(CALL(getHardwareBarrierInfo, 0, 1, 0, 0, &scope, text, 3, &size),
			 CUDBG_ERROR_BUFFER_TOO_SMALL);
	assert_int_equal(CALL(getHardwareBarrierInfo, 0, 1, 5, 0, &scope, text, 64, &size),
			 CUDBG_SUCCESS);
	assert_true(scope == CUDBG_BARRIER_SCOPE_INVALID && size == 1);
	assert_int_equal(CALL(getClusterExceptionTargetBlock, 0, 1, 0, &d3, &valid), CUDBG_SUCCESS);
	assert_true(valid && d3.x == 1 && d3.y == 2 && d3.z == 3);
	assert_int_equal(CALL(getClusterExceptionTargetBlock, 0, 1, 5, &d3, &valid), CUDBG_SUCCESS);
	assert_false(valid);
	assert_int_equal(CALL(getCbuWarpState, 0, 1, 1, cbu, 1), CUDBG_SUCCESS);
	assert_true(cbu[0].activeMask == 1 && cbu[0].exitedMask == 0x80000000 &&
		    cbu[0].collectiveMask == 4 && cbu[0].barrierMasks[1] == 1 &&
		    cbu[0].threadState[0] == CUDBG_CBU_THREAD_STATE_BLOCKEDB1 &&
		    cbu[0].threadState[31] == CUDBG_CBU_THREAD_STATE_EXITED);
	assert_int_equal(CALL(getCbuWarpState, 0, 1, 0x21, cbu, 2), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getCbuWarpState, 0, 1, 3, cbu, 2), CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(getCbuWarpState, 0, 1, 0, cbu, 2), CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(getCbuWarpState, 0, 1, 0x21, cbu, 1), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readWarpResources, 0, 1, 0, &resources), CUDBG_SUCCESS);
	assert_true(resources.numRegisters == 16 && resources.sharedMemSize == 64);
	assert_int_equal(CALL(readWarpResources, 0, 1, 5, &resources), CUDBG_SUCCESS);
	assert_true(resources.numRegisters == 40 && resources.sharedMemSize == 0);
	assert_int_equal(CALL(readWarpResources, 0, 1, 7, &resources), CUDBG_ERROR_INVALID_GRID);
	for (int i = 0; i < 4; i++)
		fake.grid[i].have &= ~(uint32_t)WS_GRID_N_REGS;
	assert_int_equal(CALL(readWarpResources, 0, 1, 5, &resources), CUDBG_ERROR_MISSING_DATA);
	stop();
}

void warp_states_of_all_versions(void **state)
{
	(void)state;
	CUDBGWarpState now;
	CUDBGWarpState127 v127;
	CUDBGWarpState120 v120;
	CUDBGWarpState60 v60;
	start_ready(false, 0);
	assert_int_equal(CALL(readWarpState, 0, 1, 0, &now), CUDBG_SUCCESS);
	assert_true(now.gridId == 1 && now.errorPCValid && now.errorPC == FAKE_CODE + 16 &&
		    now.validLanes == 0x7fffffff && now.activeLanes == 1 &&
		    now.lane[2].exception == CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT &&
		    now.lane[31].virtualPC == 0 && now.clusterDim.x == 2 &&
		    now.clusterExceptionTargetBlockIdxValid == 1 &&
		    now.clusterExceptionTargetBlockIdx.z == 3 && now.inSyscallLanes == 2);
	assert_int_equal(CALL(readWarpState127, 0, 1, 0, &v127), CUDBG_SUCCESS);
	assert_memory_equal(&now, &v127, sizeof v127);
	assert_int_equal(CALL(readWarpState120, 0, 1, 0, &v120), CUDBG_SUCCESS);
	assert_memory_equal(&now, &v120, sizeof v120);
	assert_int_equal(CALL(readWarpState60, 0, 1, 0, &v60), CUDBG_SUCCESS);
	assert_memory_equal(&now, &v60, sizeof v60);
	assert_int_equal(CALL(readWarpState, 0, 1, 6, &now), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readWarpState, 0, 1, 7, &now), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(readWarpState127, 0, 1, 7, &v127), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(readWarpState120, 0, 1, 7, &v120), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(readWarpState60, 0, 1, 7, &v60), CUDBG_ERROR_INVALID_GRID);
	stop();
}

void memory_of_all_spaces(void **state)
{
	(void)state;
	uint8_t bytes[8192];
	uint64_t host;
	CUDBGMemoryInfo regions[4];
	uint32_t n;
	start_ready(false, 0);
	assert_int_equal(CALL(readGlobalMemory, FAKE_GLOBAL + 3, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(bytes[3], 6);
	assert_int_equal(CALL(readGlobalMemory, FAKE_GLOBAL, bytes, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(readGlobalMemory, FAKE_GLOBAL + 250, bytes, 8),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGlobalMemory, FAKE_GLOBAL, bytes, sizeof bytes),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGlobalMemory, UINT64_MAX - 3, bytes, 16),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(readGlobalMemory, FAKE_MANAGED, bytes, 8), CUDBG_SUCCESS);
	assert_int_equal(CALL(readConstMemory129, 0, FAKE_GLOBAL, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(readConstMemory129, 0, 1, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(readConstMemory129, 0, FAKE_GLOBAL + 250, bytes, 8),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readSharedMemory, 0, 1, 0, 60, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(bytes[0], 60);
	assert_int_equal(CALL(readSharedMemory, 0, 1, 0, 61, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readSharedMemory, 0, 1, 5, 0, bytes, 4), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readLocalMemory, 0, 1, 0, 0, 0x1000, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(readLocalMemory, 0, 1, 0, 0, 0x2000, bytes, 4),
			 CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(readLocalMemory, 0, 1, 0, 1, 0x1000, bytes, 4),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readParamMemory, 0, 1, 0, 0x210, bytes, 32), CUDBG_SUCCESS);
	assert_int_equal(CALL(readParamMemory, 0, 1, 0, 0x20c, bytes, 4), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readParamMemory, 0, 1, 5, 0x210, bytes, 4), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readCodeMemory, 0, FAKE_CODE, bytes, 16), CUDBG_SUCCESS);
	assert_int_equal(CALL(readCodeMemory, 0, FAKE_CODE + 120, bytes, 16),
			 CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(readPinnedMemory, 0x1000, bytes, 4), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getHostAddrFromDeviceAddr, 0, FAKE_MANAGED + 5, &host),
			 CUDBG_SUCCESS);
	assert_int_equal(host, FAKE_MANAGED + 5);
	assert_int_equal(CALL(getHostAddrFromDeviceAddr, 0, FAKE_GLOBAL, &host),
			 CUDBG_ERROR_INVALID_MEMORY_SEGMENT);
	assert_int_equal(CALL(getManagedMemoryRegionInfo, 0, regions, 4, &n), CUDBG_SUCCESS);
	assert_true(n == 2 && regions[0].startAddress == FAKE_MANAGED &&
		    regions[1].startAddress == FAKE_MANAGED + 4096);
	assert_int_equal(CALL(getManagedMemoryRegionInfo, FAKE_MANAGED + 4100, regions, 4, &n),
			 CUDBG_SUCCESS);
	assert_true(n == 1 && regions[0].startAddress == FAKE_MANAGED + 4096);
	assert_int_equal(CALL(getManagedMemoryRegionInfo, 5, regions, 4, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 0);
	assert_int_equal(CALL(getManagedMemoryRegionInfo, 0, regions, 0, &n),
			 CUDBG_ERROR_INVALID_ARGS);
	stop();
}

void generic_addresses_use_coordinates_only_where_needed(void **state)
{
	(void)state;
	uint8_t bytes[16];
	start_ready(false, 0);
	assert_int_equal(CALL(readGenericMemory, 0, 9999, 9999, 9999, FAKE_GLOBAL, bytes, 4),
			 CUDBG_SUCCESS);
	assert_int_equal(CALL(readGenericMemory, 0, 0, 0, 0, FAKE_GLOBAL + 255, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGenericMemory, 0, 0, 0, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(readGenericMemory, 0, 1, 0, 99, FAKE_GENERIC_SHARED + 8, bytes, 4),
			 CUDBG_SUCCESS);
	assert_int_equal(bytes[0], 8);
	assert_int_equal(CALL(readGenericMemory, 0, 1, 1, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(readGenericMemory, 0, 500, 1, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(readGenericMemory, 0, 1, 0, 0, FAKE_GENERIC_LOCAL + 0x1000, bytes, 4),
			 CUDBG_SUCCESS);
	assert_int_equal(
		CALL(readGlobalMemory55, 0, 1, 0, 0, FAKE_GENERIC_LOCAL + 0x1000, bytes, 4),
		CUDBG_SUCCESS);
	assert_int_equal(CALL(readGlobalMemory55, 0, 1, 1, 0, FAKE_GENERIC_LOCAL, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP);
	assert_int_equal(CALL(readGlobalMemory55, 0, 1, 1, 0, FAKE_GLOBAL + 255, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGlobalMemory55, 0, 1, 1, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(readGlobalMemory31, 0, FAKE_GLOBAL, bytes, 4), CUDBG_SUCCESS);
	assert_int_equal(CALL(readGlobalMemory31, 0, FAKE_GLOBAL + 255, bytes, 4),
			 CUDBG_ERROR_INVALID_MEMORY_ACCESS);
	assert_int_equal(CALL(readGlobalMemory31, 0, 5, bytes, 4),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	assert_int_equal(CALL(readGlobalMemory31, 0, FAKE_GENERIC_SHARED, bytes, 4),
			 CUDBG_ERROR_INVALID_WARP); /* SM 0 is empty */
	stop();
}

void images_by_warp_and_by_handle(void **state)
{
	(void)state;
	void *image;
	uint64_t size;
	uint32_t size32;
	uint8_t bytes[64];
	CUDBGLoadedFunctionInfo info[2];
	start_ready(false, 0);
	assert_int_equal(CALL(getElfImage, 0, 1, 0, true, &image, &size), CUDBG_SUCCESS);
	assert_int_equal(size, 40);
	assert_int_equal(CALL(getElfImage, 0, 1, 0, false, &image, &size),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getElfImage, 0, 1, 6, true, &image, &size), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getElfImage, 0, 1, 7, true, &image, &size), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getElfImage32, 0, 1, 0, true, &image, &size32), CUDBG_SUCCESS);
	assert_int_equal(size32, 40);
	assert_int_equal(CALL(getElfImage32, 0, 1, 7, true, &image, &size32),
			 CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(
		CALL(getElfImageByHandle, 0, 0x100, CUDBG_ELF_IMAGE_TYPE_RELOCATED, bytes, 40),
		CUDBG_SUCCESS);
	assert_memory_equal(bytes, image, 40);
	assert_int_equal(
		CALL(getElfImageByHandle, 0, 0x100, CUDBG_ELF_IMAGE_TYPE_RELOCATED, bytes, 39),
		CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(
		CALL(getElfImageByHandle, 0, 0x100, CUDBG_ELF_IMAGE_TYPE_NONRELOCATED, bytes, 64),
		CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(
		CALL(getElfImageByHandle, 0, 0x101, CUDBG_ELF_IMAGE_TYPE_RELOCATED, bytes, 64),
		CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(
		CALL(getElfImageByHandle, 2, 0x100, CUDBG_ELF_IMAGE_TYPE_RELOCATED, bytes, 64),
		CUDBG_ERROR_INVALID_ARGS); /* it is of device 0 */
	assert_int_equal(CALL(getElfImageByHandle, 0, 0x100, (CUDBGElfImageType)2, bytes, 64),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, 0, 2),
			 CUDBG_ERROR_NOT_SUPPORTED); /* it is no cubin */
	assert_int_equal(CALL(getLoadedFunctionInfo118, 0, 0x55, info, 2),
			 CUDBG_ERROR_INVALID_ARGS);
	stop();
}

/* The code of the function at an address; it lies in the image. */
static struct ws_span code_at(struct ws_span image, uint64_t address)
{
	struct ws_cubin *cubin;
	struct ws_place place;
	struct ws_span code;
	assert_int_equal(ws_cubin_open(image, &cubin, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_address(cubin, address, &place, NULL), WS_OK);
	assert_int_equal(ws_cubin_code(cubin, place.function, &code, NULL), WS_OK);
	ws_cubin_close(cubin);
	return code;
}

/* Text of the code of a real image; `sm` 0 leaves its architecture as it is. */
static void disassemble_image(struct ws_span image, uint8_t sm)
{
	char text[200] = "", exact[200];
	uint32_t n = 0;
	CUDBGLoadedFunctionInfo info;
	uint8_t *copy = wsi_zalloc(image.len);
	assert_non_null(copy);
	memcpy(copy, image.ptr, image.len);
	if (sm)
		copy[48 + (copy[8] >= 8)] = sm; /* e_flags, where the ABI version has it */
	start(true);
	fake.module[0].relocated = (struct ws_span){ copy, image.len, 0 };
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, &info, 0, 1), CUDBG_SUCCESS);
	fake.code = info.address;
	fake.code_text = code_at(fake.module[0].relocated, info.address);
	CUDBGResult result = CALL(disassemble, 0, info.address, &n, text, sizeof text);
	if (sm) {
		assert_int_equal(result, CUDBG_ERROR_NOT_SUPPORTED);
	} else {
		assert_int_equal(result, CUDBG_SUCCESS);
		assert_int_equal(n, 16);
		assert_string_equal(text, "LDC R1, c[0x0][0x28]");
		uint32_t bytes = (uint32_t)strlen(text) + 1;
		n = 5;
		assert_int_equal(CALL(disassemble, 0, info.address, &n, exact, bytes - 1),
				 CUDBG_ERROR_INVALID_ARGS);
		assert_int_equal(CALL(disassemble, 0, info.address, &n, exact, 0),
				 CUDBG_ERROR_INVALID_ARGS);
		assert_int_equal(CALL(disassemble, 0, info.address + 8, &n, exact, bytes),
				 CUDBG_ERROR_INVALID_ADDRESS);
		assert_int_equal(n, 5);
		assert_int_equal(CALL(disassemble, 0, info.address, &n, exact, bytes),
				 CUDBG_SUCCESS);
		assert_string_equal(exact, text);
		fake.fail_op = FAKE_READ;
		fake.fail_status = WS_ABSENT;
		assert_int_equal(CALL(disassemble, 0, info.address, &n, text, sizeof text),
				 CUDBG_ERROR_INVALID_ADDRESS);
		fake.fail_status = WS_TRUNCATED;
		assert_int_equal(CALL(disassemble, 0, info.address, &n, text, sizeof text),
				 CUDBG_ERROR_INTERNAL);
		assert_int_equal(CALL(disassemble, 0, info.address, &n, NULL, 0), CUDBG_SUCCESS);
	}
	stop();
	wsi_free(copy);
}

/* What generateCoredump writes can be opened; flags and failures go through. */
void dumps_of_the_target(void **state)
{
	(void)state;
	const char *path = api_call_file();
	struct ws_target *target;
	struct ws_counts counts;
	struct ws_dump_facts facts;
	start_ready(true, 0);
	assert_int_equal(CALL(generateCoredump, path, CUDBG_COREDUMP_DEFAULT_FLAGS), CUDBG_SUCCESS);
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	ws_target_counts(target, &counts);
	assert_int_equal(counts.warps, 4);
	ws_target_close(target);
	assert_int_equal(CALL(generateCoredump, path, CUDBG_COREDUMP_LIGHTWEIGHT_FLAGS),
			 CUDBG_SUCCESS);
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_int_equal(facts.flags, CUDBG_COREDUMP_LIGHTWEIGHT_FLAGS);
	ws_target_close(target);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(CALL(generateCoredump, "", 0), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(generateCoredump, path, 1 << 4), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(generateCoredump, path, 1 << 8), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(generateCoredump, "/dev/null", 0), CUDBG_ERROR_NOT_SUPPORTED);
	assert_int_equal(CALL(generateCoredump, "/dev/null/x", 0), CUDBG_ERROR_INTERNAL);
	fake.runs[0] = true;
	assert_int_equal(CALL(generateCoredump, path, 0), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(access(path, F_OK), -1);
	stop();
}

/* A client that knows of functions that are loaded late is told how many there are by then. */
void functions_of_an_image_are_told_if_asked(void **state)
{
	(void)state;
	struct ws_module module;
	struct ws_target *target = open_real("WS_TEST_DUMP", &module);
	for (uint32_t asked = 0; asked < 2; asked++) {
		CUDBGLoadedFunctionInfo info[64];
		CUDBGEvent event;
		uint32_t told = 0, n = 0;
		start(false);
		fake.module[0].relocated = module.relocated;
		cudbgDebuggerCapabilities =
			asked ? CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING : 0;
		assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
		memset(info, 0xff, sizeof info);
		assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, 0, 64), CUDBG_SUCCESS);
		while (n < 64 && info[n].sectionIndex != UINT64_MAX)
			n++;
		while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS) {
			if (event.kind != CUDBG_EVENT_FUNCTIONS_LOADED)
				continue;
			assert_true(event.cases.functionsLoaded.module == 0x100 &&
				    event.cases.functionsLoaded.count == n);
			told++;
		}
		assert_true(n > 0 && told == asked);
		stop();
	}
	ws_target_close(target);
}

/* The image of a real dump behind the scripted state. */
void code_of_a_real_image(void **state)
{
	(void)state;
	struct ws_module module;
	struct ws_target *target = open_real("WS_TEST_DUMP", &module);
	start(true);
	fake.module[0].relocated = module.relocated;
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	CUDBGLoadedFunctionInfo info[64];
	memset(info, 0xff, sizeof info);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, 0, 64), CUDBG_SUCCESS);
	uint32_t n = 0;
	while (n < 64 && info[n].sectionIndex != UINT64_MAX)
		n++;
	assert_in_range(n, 1, 63);
	uint64_t first = info[0].address, adjusted;
	assert_int_equal(CALL(getLoadedFunctionInfo118, 0, 0x100, info, 1), CUDBG_SUCCESS);
	assert_int_equal(info[0].address, first);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, n, 1), CUDBG_SUCCESS);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, n + 1, 1),
			 CUDBG_ERROR_INVALID_ARGS);
	bool yes;
	assert_int_equal(CALL(isDeviceCodeAddress, first, &yes), CUDBG_SUCCESS);
	assert_true(yes);
	assert_int_equal(CALL(isDeviceCodeAddress55, 16, &yes), CUDBG_SUCCESS);
	assert_false(yes);
	assert_int_equal(
		CALL(getAdjustedCodeAddress, 0, first + 35, &adjusted, CUDBG_ADJ_CURRENT_ADDRESS),
		CUDBG_SUCCESS);
	assert_int_equal(adjusted, first + 32);
	assert_int_equal(
		CALL(getAdjustedCodeAddress, 0, first + 35, &adjusted, CUDBG_ADJ_PREVIOUS_ADDRESS),
		CUDBG_SUCCESS);
	assert_int_equal(adjusted, first + 16);
	assert_int_equal(
		CALL(getAdjustedCodeAddress, 0, first + 35, &adjusted, CUDBG_ADJ_NEXT_ADDRESS),
		CUDBG_SUCCESS);
	assert_int_equal(adjusted, first + 48);
	assert_int_equal(CALL(getAdjustedCodeAddress, 0, first, &adjusted, (CUDBGAdjAddrAction)3),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getAdjustedCodeAddress, 0, 16, &adjusted, CUDBG_ADJ_CURRENT_ADDRESS),
			 CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(disassemble, 0, first, &n, NULL, 0), CUDBG_SUCCESS);
	assert_int_equal(n, 16);
	assert_int_equal(CALL(disassemble, 0, 16, &n, NULL, 0), CUDBG_ERROR_INVALID_ADDRESS);
	fake.code = first;
	assert_int_equal(CALL(setBreakpoint31, first), CUDBG_SUCCESS);
	assert_int_equal(CALL(unsetBreakpoint31, first), CUDBG_SUCCESS);
	assert_int_equal(CALL(unsetBreakpoint31, first), CUDBG_ERROR_INVALID_ARGS);
	fake.fail_status = WS_RUNNING;
	fake.fail_op = FAKE_PLANT;
	assert_int_equal(CALL(setBreakpoint31, first), CUDBG_ERROR_RUNNING_DEVICE);
	fake.fail_op = FAKE_NOTHING;
	assert_int_equal(CALL(setBreakpoint31, first), CUDBG_SUCCESS);
	fake.fail_op = FAKE_UNPLANT;
	assert_int_equal(CALL(unsetBreakpoint31, first), CUDBG_ERROR_RUNNING_DEVICE);
	fake.fail_op = FAKE_NOTHING;
	stop();
	start(false);
	fake.module[0].relocated_status = WS_ABSENT;
	fake.module[0].relocated = (struct ws_span){ NULL, 0, 0 };
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_int_equal(CALL(getLoadedFunctionInfo, 0, 0x100, info, 0, 1),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getLoadedFunctionInfo118, 0, 0x100, info, 1),
			 CUDBG_ERROR_MISSING_DATA);
	stop();
	disassemble_image(module.relocated, 0);
	disassemble_image(module.relocated, 20);
	ws_target_close(target);
}
