/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What is impossible in the state of a stopped GPU: the rules that rows of devices, SMs, warps and
 * lanes obey, whichever back end provides them. Where a rule is broken a row is damaged, and what
 * it says, or does not say, about an exception proves nothing.
 */
#ifndef WARPSCOPE_DOUBT_H
#define WARPSCOPE_DOUBT_H

#include <warpscope/state.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ws_doubt_kind {
	WS_DOUBT_DEVICE_STATUS, /**< the driver could not collect the device */
	WS_DOUBT_SM_ID,         /**< beyond what the device has */
	WS_DOUBT_SM_TWICE,      /**< the SM before has the same id */
	WS_DOUBT_SM_ROW,        /**< ws_sm.damaged */
	WS_DOUBT_WARP_ID,
	WS_DOUBT_WARP_TWICE,
	WS_DOUBT_WARP_ROW,      /**< ws_warp.damaged */
	WS_DOUBT_WARP_ACTIVE,   /**< active lanes that are not valid */
	WS_DOUBT_WARP_BROKEN,   /**< without WS_WARP_BROKEN */
	WS_DOUBT_LANES_MISSING, /**< valid lanes without a row */
	WS_DOUBT_LANES_EXTRA,  /**< rows of lanes that are not valid, with an exception or in a warp
				  without any valid lane */
	WS_DOUBT_LANE_ROW,     /**< ws_lane.damaged */
	WS_DOUBT_BLOCK_GRID,   /**< its grid does not exist */
	WS_DOUBT_GRID_CONTEXT, /**< its context does not exist */
	WS_DOUBT_GRID_MODULE,  /**< its context does not have its module */
};

struct ws_doubt {
	enum ws_doubt_kind kind;
	enum ws_hides hides;
	uint32_t lane;     /**< WS_DOUBT_LANE_ROW: which; else WS_NONE */
	char message[160]; /**< one plain sentence, no newline */
};

typedef void ws_doubt_fn(void *user, const struct ws_doubt *doubt);

/** Calls `each` for whatever is wrong with a device. */
WS_API void ws_device_doubts(const struct ws_device *device, ws_doubt_fn *each, void *user);

/** The same for a block, and for a grid. */
WS_API void ws_block_doubts(const struct ws_block *block, ws_doubt_fn *each, void *user);
WS_API void ws_grid_doubts(const struct ws_grid *grid, ws_doubt_fn *each, void *user);

/** The same for an SM. `before`: the one before it in the list, if on the same device, or NULL.
 */
WS_API void ws_sm_doubts(const struct ws_device *device, const struct ws_sm *before,
			 const struct ws_sm *sm, ws_doubt_fn *each, void *user);

/** The same for a warp and its lanes. `before`: the one before it, if on the same SM, or NULL.
 */
WS_API void ws_warp_doubts(const struct ws_device *device, const struct ws_warp *before,
			   const struct ws_warp *warp, const struct ws_lane *lanes,
			   uint32_t n_lanes, ws_doubt_fn *each, void *user);

/** Whether an exception can have this code: a number that the API has, or may get. */
static inline bool ws_exception_possible(uint32_t code)
{
	return code < 256 || code == UINT32_MAX;
}

#ifdef __cplusplus
}
#endif
#endif
