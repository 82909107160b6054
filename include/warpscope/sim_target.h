/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The software GPU as a target: a stopped device of sim.h, for reports, dumps and the debugger API.
 *
 * All rows that a debugger sees of hardware are there: SMs, blocks, warps, lanes, call stacks,
 * registers, memory, images with device addresses. Lanes that wait stand at the instruction that
 * they wait at. What hardware has no number for: a trap is a broken warp without an exception, and
 * an instruction that the software GPU cannot execute is an illegal one, whose text says why.
 */
#ifndef WARPSCOPE_SIM_TARGET_H
#define WARPSCOPE_SIM_TARGET_H

#include <warpscope/sim.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The state of a device as it is now. The device is borrowed: until the target is closed it must
 * not run, change or be destroyed. Any number of threads may read the target.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_target(struct ws_sim *sim, struct ws_target **ret_target,
				    struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
