/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Which thread a debugger looks at first, how kernels are numbered, and which lanes an SM's
 * exception belongs to.
 *
 * cuda-gdb shows numbers that no dump contains: the focus it starts with, and kernel ids.
 * Everything that prints or takes them must agree with cuda-gdb and with itself, so they are
 * decided here, for all back ends. All of it is [measured: cuda-gdb 12.4 on dumps of several
 * devices and kernels].
 *
 * Damage is local: a warp whose lanes cannot be read counts as having none.
 */
#ifndef WARPSCOPE_FOCUS_H
#define WARPSCOPE_FOCUS_H

#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How an exception was attributed. */
enum ws_attribution {
	WS_BLAME_LANE,    /**< lanes carry it */
	WS_BLAME_SUSPECT, /**< the SM's, for a warp with a valid error PC: active lanes are suspects
			   */
	WS_BLAME_SM,      /**< the SM's row alone: no thread is left */
	WS_BLAME_TRAP,    /**< no exception: the warp stopped at a trap, or at a breakpoint that
			       no debugger planted */
	WS_BLAME_NOBODY,  /**< no exception: a thread to look at */
};

/** Which lanes of one warp an exception belongs to. */
struct ws_blame {
	enum ws_attribution by; /**< WS_BLAME_LANE, ..._SUSPECT, ..._TRAP or ..._NOBODY */
	uint32_t lanes;         /**< mask; 0 if the suspects are not known */
	uint32_t code;          /**< WS_BLAME_SUSPECT: the SM's exception; else 0 */
};

/** One thread. Indices are those of the target's lists. */
struct ws_focus {
	uint32_t device_index, sm_index, warp_index, block_index;
	uint32_t grid_index; /**< WS_NONE when the block names no grid of the dump */
	uint32_t lane;       /**< lane id */
};

/**
 * The thread that cuda-gdb focuses on when it opens the target, in the order of devices, SMs, warps
 * and lanes: the first lane with an exception (its own, else as ws_focus_unclaimed() says); else
 * the first active lane of a broken warp; else the first lane, active or not.
 *
 * @retval WS_ABSENT  there is no thread.
 *
 * O(lanes) without a fault.
 */
WS_API enum ws_status ws_focus_find(const struct ws_target *target, struct ws_focus *ret_focus,
				    struct ws_error *err) WS_MUST_USE;

/**
 * The exception of an SM that none of its lanes carries, or 0. It belongs to the active lanes of
 * those of its warps whose error PC is valid; they are suspects, not culprits. Without such a warp
 * only the SM's row remains: the warp had exited before the fault was detected.
 */
WS_API uint32_t ws_focus_unclaimed(const struct ws_target *target, uint32_t sm_index);

/**
 * Whether most rows of the SMs of one device, from its first in the list on, break a rule
 * (doubt.h), or there are more than it has SMs. Then all were read from a wrong place or in a wrong
 * size, and no exception is believed that only the row of an SM tells of. `*ret_end`: the index
 * behind the last of them.
 */
WS_API bool ws_focus_misread(const struct ws_target *target, uint32_t first_sm, uint32_t *ret_end);

/**
 * What the rows of a warp and its SM say together, in the order above: lanes with an exception of
 * their own; else the active ones, for the SM's exception or for a trap. Impossible rows
 * (ws_lane.damaged, lanes that the warp does not have) blame nobody. `unclaimed`:
 * ws_focus_unclaimed() of its SM.
 */
WS_API void ws_focus_blame(const struct ws_warp *warp, const struct ws_lane *lanes,
			   uint32_t n_lanes, uint32_t unclaimed, struct ws_blame *ret_blame);

/**
 * Kernel ids by grid index: the kernels on the focus's SM in the order of its warps, then those
 * found walking devices, SMs and warps, then the grids without a block in the order of the list
 * (cuda-gdb does not list these).
 *
 * @param focus    Where to start; NULL: there is none.
 * @param ret_ids  As many elements as the target has grids.
 *
 * O(warps).
 */
WS_API void ws_focus_kernel_ids(const struct ws_target *target, const struct ws_focus *focus,
				uint32_t *ret_ids);

#ifdef __cplusplus
}
#endif
#endif
