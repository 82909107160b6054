/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stop, step, resume. What the target cannot do it answers itself (NOT_SUPPORTED), so that the same
 * code serves dumps and targets that run.
 */
#include "cudbg-functions.h"

static CUDBGResult status_or(struct wsi_cudbg *s, enum ws_status st, const struct ws_error *err)
{
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	return wsi_cudbg_fail(
		s, st == WS_UNSUPPORTED ? CUDBG_ERROR_NOT_SUPPORTED : CUDBG_ERROR_INTERNAL, "%s",
		err->message);
}

/* Devices that run, of those that are present. */
static uint32_t count_running(const struct wsi_cudbg *s, uint32_t *ret_present)
{
	uint32_t running = 0;
	*ret_present = 0;
	for (uint32_t dev = 0; dev < s->stock->n_devices; dev++) {
		*ret_present += s->stock->device[dev].present;
		running += s->stock->device[dev].present && s->stock->device[dev].running;
	}
	return running;
}

CUDBGResult wsi_cudbg_suspendDevice(struct wsi_cudbg *s, struct wsi_cudbg_at *at)
{
	if (!at->device->running)
		return wsi_cudbg_fail(s, CUDBG_ERROR_SUSPENDED_DEVICE,
				      "device %u is already stopped", at->dev);
	struct ws_error err;
	enum ws_status st = ws_target_suspend(s->target, at->device->index, true, &err);
	return status_or(s, st, &err);
}

CUDBGResult wsi_cudbg_resumeDevice(struct wsi_cudbg *s, struct wsi_cudbg_at *at)
{
	if (at->device->running)
		return wsi_cudbg_fail(s, CUDBG_ERROR_RUNNING_DEVICE, "device %u is already running",
				      at->dev);
	struct ws_error err;
	enum ws_status st = ws_target_resume(s->target, at->device->index, &err);
	return status_or(s, st, &err);
}

CUDBGResult wsi_cudbg_suspendAllDevices(struct wsi_cudbg *s, uint32_t nonBlocking)
{
	uint32_t present;
	if (!count_running(s, &present))
		return wsi_cudbg_fail(s, CUDBG_ERROR_SUSPENDED_DEVICE,
				      "all devices are already stopped");
	struct ws_error err;
	enum ws_status st = ws_target_suspend(s->target, WS_NONE, !nonBlocking, &err);
	return status_or(s, st, &err);
}

CUDBGResult wsi_cudbg_resumeAllDevices(struct wsi_cudbg *s)
{
	uint32_t present;
	if (count_running(s, &present) == present)
		return wsi_cudbg_fail(s, CUDBG_ERROR_RUNNING_DEVICE,
				      "all devices are already running");
	struct ws_error err;
	enum ws_status st = ws_target_resume(s->target, WS_NONE, &err);
	return status_or(s, st, &err);
}

/* ---- stepping ---- */

static uint32_t cudbg_step_flags(uint32_t flags)
{
	return (flags & CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS ? WS_STEP_INTO_BARRIERS
									   : 0u) |
	       (flags & CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING ? WS_STEP_NO_WAIT : 0u);
}

/* A running target that cannot do it to these warps says so by WS_UNSUPPORTED. */
static CUDBGResult after_cudbg_step(struct wsi_cudbg *s, bool can_step, enum ws_status st,
				    const struct ws_error *err)
{
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	if (st == WS_UNSUPPORTED && can_step)
		return wsi_cudbg_fail(s, CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE, "%s", err->message);
	if (st == WS_ABSENT)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS, "%s", err->message);
	return st == WS_UNSUPPORTED ? wsi_cudbg_status(s, st, err)
				    : wsi_cudbg_row_status(s, st, err);
}

CUDBGResult wsi_cudbg_singleStepWarp(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				     uint32_t laneHint, uint32_t nsteps, uint32_t flags,
				     uint64_t *warpMask)
{
	const uint32_t known = CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS |
			       CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING;
	if (!nsteps || flags & ~known ||
	    (laneHint != UINT32_MAX && laneHint >= at->device->n_lanes))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "%u steps, flags 0x%x, lane hint %u", nsteps, flags,
				      laneHint);
	const struct ws_step step = {
		.warp_index = at->slot->warp_index,
		.lane = laneHint,
		.steps = nsteps,
		.flags = cudbg_step_flags(flags),
	};
	struct ws_error err = { .status = WS_OK };
	uint64_t moved = 0;
	enum ws_status st = ws_target_step(s->target, &step, &moved, &err);
	CUDBGResult result = after_cudbg_step(s, ws_target_can(s->target, WS_CAN_STEP), st, &err);
	if (result == CUDBG_SUCCESS)
		*warpMask = moved;
	return result;
}

CUDBGResult wsi_cudbg_resumeWarpsUntilPC(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					 uint64_t warpMask, uint64_t pc, uint32_t flags)
{
	if (flags & ~(uint32_t)CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "flags 0x%x", flags);
	if (!warpMask || warpMask & ~at->row->valid)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_WARP_MASK,
				      "mask 0x%" PRIx64 " of valid warps 0x%" PRIx64, warpMask,
				      at->row->valid);
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_target_run_until(s->target, at->row->sm_index, warpMask, pc,
						cudbg_step_flags(flags), &err);
	return after_cudbg_step(s, ws_target_can(s->target, WS_CAN_RUN_UNTIL), st, &err);
}
