/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel failed: what the driver calls it, and the dump that CUDA's variables ask for. */
#include "agent.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/cudadebugger.h>
#include <warpscope/sim_target.h>
#include <warpscope/write.h>

static enum cu_result result_of(uint32_t exception)
{
	switch (exception) {
	case CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_ADDRESS:
	case CUDBG_EXCEPTION_WARP_MMU_FAULT:
	case CUDBG_EXCEPTION_DEVICE_ILLEGAL_ADDRESS:
	case CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS:
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	case CUDBG_EXCEPTION_WARP_HARDWARE_STACK_OVERFLOW:
		return CUDA_ERROR_HARDWARE_STACK_ERROR;
	case CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION:
		return CUDA_ERROR_ILLEGAL_INSTRUCTION;
	case CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS:
		return CUDA_ERROR_MISALIGNED_ADDRESS;
	case CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE:
		return CUDA_ERROR_INVALID_ADDRESS_SPACE;
	case CUDBG_EXCEPTION_WARP_INVALID_PC:
		return CUDA_ERROR_INVALID_PC;
	case CUDBG_EXCEPTION_WARP_ASSERT:
		return CUDA_ERROR_ASSERT;
	default:
		return CUDA_ERROR_LAUNCH_FAILED;
	}
}

/* Writes the dump. False: told why not. */
static bool dump(struct agent *agent, const char *path, uint32_t flags)
{
	const struct ws_write_options options = { .size = sizeof options, .flags = flags };
	struct ws_target *target;
	struct ws_error err;
	if (ws_sim_target(agent->sim, &target, &err) != WS_OK)
		return agent_say("the dump %s could not be made: %s", path, err.message);
	bool ok = ws_write_target(target, path, &options, &err) == WS_OK;
	ws_target_close(target);
	return ok || agent_say("the dump %s could not be made: %s", path, err.message);
}

enum cu_result agent_fault(struct agent *agent, bool *ret_aborts)
{
	struct ws_sim_fault fault;
	struct ws_str unknown;
	char path[4096];
	const char *on = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
	uint32_t flags = ws_write_flags_parse(getenv("CUDA_COREDUMP_GENERATION_FLAGS"), &unknown);
	*ret_aborts = false;
	if (!ws_sim_fault(agent->sim, &fault))
		return CUDA_ERROR_UNKNOWN;
	if (on && strcmp(on, "1") == 0) {
		if (!ws_write_name(getenv("CUDA_COREDUMP_FILE"), agent->process, path, sizeof path))
			agent_say("CUDA_COREDUMP_FILE is too long");
		else if (dump(agent, path, flags & WS_WRITE_KNOWN_FLAGS))
			*ret_aborts = (flags & WS_WRITE_SKIP_ABORT) == 0;
	}
	if (fault.exception == WS_SIM_UNIMPLEMENTED)
		agent_say("%s", fault.text);
	return result_of(fault.exception);
}
