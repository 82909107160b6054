/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Several targets as one, as a process that uses several GPUs is one: two software GPUs under one
 * debugger, for instance.
 *
 * Devices are numbered one after the other, and so are all lists; numbers that belong to a device
 * (contexts, modules, grids, SMs) stay what they are. A breakpoint or an exception on one device
 * stops the others, and one event tells of it when all stand. Each device has addresses of its own
 * ("without unified addresses"): what names no device (global memory) is read where the address is,
 * and WS_ARGUMENT where several devices have other memory there.
 */
#ifndef WARPSCOPE_JOIN_H
#define WARPSCOPE_JOIN_H

#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_MAX_JOINED = 32,
};

/**
 * Joins targets that run (ws_target_can() everything), of which one that is to stop without waiting
 * takes that beside all other calls, as those of sim_target.h do. They are borrowed and belong to
 * the new target until it is closed; it wants of them what its own client wants.
 *
 * @retval WS_ARGUMENT  none or more than WS_MAX_JOINED, one that cannot run, or one whose devices
 *                      are not numbered from 0.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_target_join(struct ws_target *const *targets, uint32_t n,
				     struct ws_target **ret_target,
				     struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
