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
	WS_DOUBT_DEVICE_ROW,    /**< ws_device.damaged */
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
	WS_DOUBT_LANE_PLACE,   /**< ws_lanes_astray() */
	WS_DOUBT_BLOCK_ROW,    /**< ws_block.damaged */
	WS_DOUBT_BLOCK_GRID,   /**< its grid does not exist */
	WS_DOUBT_GRID_ROW,     /**< ws_grid.damaged */
	WS_DOUBT_GRID_CONTEXT, /**< its context does not exist */
	WS_DOUBT_GRID_MODULE,  /**< its context does not have its module */
};

struct ws_doubt {
	enum ws_doubt_kind kind;
	enum ws_hides hides;
	uint32_t lane;     /**< WS_DOUBT_LANE_...: which; else WS_NONE */
	char message[160]; /**< one plain sentence, no newline */
};

typedef void ws_doubt_fn(void *user, const struct ws_doubt *doubt);

/** Calls `each` for whatever is wrong with a device. */
WS_API void ws_device_doubts(const struct ws_device *device, ws_doubt_fn *each, void *user);

/** Calls `each` for whatever is wrong with a block and the grid that it belongs to, or NULL, and
 * with a grid. */
WS_API void ws_block_doubts(const struct ws_block *block, const struct ws_grid *grid,
			    ws_doubt_fn *each, void *user);
WS_API void ws_grid_doubts(const struct ws_grid *grid, ws_doubt_fn *each, void *user);

/** Calls `each` for whatever is wrong with an SM. `before`: the one before it in the list, if on
 * the same device, or NULL.
 */
WS_API void ws_sm_doubts(const struct ws_device *device, const struct ws_sm *before,
			 const struct ws_sm *sm, ws_doubt_fn *each, void *user);

/**
 * Calls `each` for whatever is wrong with a warp and its lanes. `before`: the one before it, if on
 * the same SM, or NULL. `grid`: what its block belongs to, or NULL.
 */
WS_API void ws_warp_doubts(const struct ws_device *device, const struct ws_grid *grid,
			   const struct ws_warp *before, const struct ws_warp *warp,
			   const struct ws_lane *lanes, uint32_t n_lanes, ws_doubt_fn *each,
			   void *user);

/**
 * Rows of lanes that cannot stand where they do, a mask by their place in the list. Threads fill
 * the lanes of warps in the order of their numbers in the block [public doc: CUDA programming
 * guide, hardware multithreading]: all lanes of a warp count from one multiple of 32, and none lies
 * outside the block. Where no such start is that of most rows, all are astray. `grid`: as above;
 * without it only the order of the lanes is known.
 */
WS_API uint32_t ws_lanes_astray(const struct ws_grid *grid, const struct ws_warp *warp,
				const struct ws_lane *lanes, uint32_t n_lanes);

enum {
	WS_MOST_IDS = 4096, /**< more devices, SMs or warps of an SM than any machine has */
};

/** How many SMs a device can have, and warps one of its SMs. */
static inline uint32_t ws_device_most_sms(const struct ws_device *device)
{
	return device->n_sms && !device->damaged ? device->n_sms : (uint32_t)WS_MOST_IDS;
}
static inline uint32_t ws_device_most_warps(const struct ws_device *device)
{
	return device->n_warps_per_sm && !device->damaged ? device->n_warps_per_sm
							  : (uint32_t)WS_MOST_IDS;
}

/** Whether an exception can have this code: a number that the API has, or may get. With
 * WS_EXCEPTION_DOUBTED in it none can: so a lane is written that proves nothing where it stood. */
#define WS_EXCEPTION_DOUBTED UINT32_C(0x80000000)
static inline bool ws_exception_possible(uint32_t code)
{
	return code < 256 || code == UINT32_MAX;
}

#ifdef __cplusplus
}
#endif
#endif
