/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel failed: what the driver calls it. */
#include "agent.h"

#include <warpscope/cudadebugger.h>

static enum ws_cuda_result exception_result_of(uint32_t exception)
{
	switch (exception) {
	case CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_ADDRESS:
	case CUDBG_EXCEPTION_WARP_MMU_FAULT:
	case CUDBG_EXCEPTION_DEVICE_ILLEGAL_ADDRESS:
	case CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS:
		return WS_CUDA_ERROR_ILLEGAL_ADDRESS;
	case CUDBG_EXCEPTION_WARP_HARDWARE_STACK_OVERFLOW:
		return WS_CUDA_ERROR_HARDWARE_STACK_ERROR;
	case CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION:
		return WS_CUDA_ERROR_ILLEGAL_INSTRUCTION;
	case CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS:
		return WS_CUDA_ERROR_MISALIGNED_ADDRESS;
	case CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE:
		return WS_CUDA_ERROR_INVALID_ADDRESS_SPACE;
	case CUDBG_EXCEPTION_WARP_INVALID_PC:
		return WS_CUDA_ERROR_INVALID_PC;
	case CUDBG_EXCEPTION_WARP_ASSERT:
		return WS_CUDA_ERROR_ASSERT;
	default:
		return WS_CUDA_ERROR_LAUNCH_FAILED;
	}
}

enum ws_cuda_result agent_fault(const struct ws_sim_fault *fault)
{
	if (fault->exception == WS_SIM_UNIMPLEMENTED)
		agent_say("%s", fault->text);
	return exception_result_of(fault->exception);
}
