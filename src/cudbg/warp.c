/* SPDX-License-Identifier: Apache-2.0 */
/* The state of SMs and warps. */
#include "cudbg-functions.h"

/* ---- masks, from the stock ---- */

#define DEFINE_MASK(name, type, value)                                                             \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, type *ret_mask) \
	{                                                                                          \
		(void)s;                                                                           \
		*ret_mask = value;                                                                 \
		return CUDBG_SUCCESS;                                                              \
	}

DEFINE_MASK(readValidWarps, uint64_t, at->row->valid)
DEFINE_MASK(readValidLanes, uint32_t, at->slot->valid)
DEFINE_MASK(readActiveLanes, uint32_t, at->slot->active)

CUDBGResult wsi_cudbg_readBrokenWarps(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				      uint64_t *brokenWarpsMask)
{
	if (at->row->broken_unknown)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "the target does not tell which warps are stopped");
	*brokenWarpsMask = at->row->broken;
	return CUDBG_SUCCESS;
}

/* ---- block and cluster ---- */

#define DEFINE_OF_BLOCK(name, type, value)                                         \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, \
				     type *ret_value)                              \
	{                                                                          \
		CUDBGResult result;                                                \
		const struct ws_block *block = wsi_cudbg_block(s, at, &result);    \
		if (!block)                                                        \
			return result;                                             \
		*ret_value = value;                                                \
		return CUDBG_SUCCESS;                                              \
	}

DEFINE_OF_BLOCK(readGridId, uint64_t, (uint64_t)block->grid_id)
DEFINE_OF_BLOCK(readBlockIdx, CuDim3, wsi_dim3(block->idx))
DEFINE_OF_BLOCK(readClusterIdx, CuDim3, wsi_dim3(block->cluster_idx))

/* The block's own dimensions where the target has them (blocks of one grid may differ). */
CUDBGResult wsi_cudbg_getClusterDim(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				    CuDim3 *clusterDim)
{
	CUDBGResult result;
	struct ws_grid grid;
	const struct ws_block *block = wsi_cudbg_block(s, at, &result);
	if (!block)
		return result;
	if (block->have & WS_BLOCK_CLUSTER_DIM) {
		*clusterDim = wsi_dim3(block->cluster_dim);
		return CUDBG_SUCCESS;
	}
	result = wsi_cudbg_grid_of(s, at, &grid);
	if (result == CUDBG_SUCCESS)
		*clusterDim = wsi_dim3(grid.cluster_dim);
	return result;
}

bool wsi_cudbg_is_cluster_exception(uint32_t exception)
{
	return exception == CUDBG_EXCEPTION_CLUSTER_OUT_OF_RANGE_ADDRESS ||
	       exception == CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT ||
	       exception == CUDBG_EXCEPTION_CLUSTER_POISON;
}

/* The exception of a warp: that of its first valid lane that has one. */
static CUDBGResult warp_exception_of(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				     uint32_t *ret_exception)
{
	*ret_exception = CUDBG_EXCEPTION_NONE;
	for (uint32_t ln = 0; ln < at->device->n_lanes; ln++) {
		CUDBGResult result;
		if (!(at->slot->valid >> ln & 1))
			continue;
		const struct ws_lane *lane = wsi_cudbg_lane(s, at, ln, &result);
		if (!lane && result != CUDBG_ERROR_MISSING_DATA)
			return result;
		if (lane && lane->exception != CUDBG_EXCEPTION_NONE) {
			*ret_exception = lane->exception;
			break;
		}
	}
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getClusterExceptionTargetBlock(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
						     CuDim3 *blockIdx, bool *blockIdxValid)
{
	struct ws_sm sm;
	struct ws_error err;
	uint32_t exception;
	enum ws_status st = ws_target_sm(s->target, at->row->sm_index, &sm, &err);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	if (!(sm.have & WS_SM_CLUSTER_TARGET))
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
				      "the target does not report cluster exceptions");
	CUDBGResult result = warp_exception_of(s, at, &exception);
	if (result != CUDBG_SUCCESS)
		return result;
	*blockIdxValid = sm.cluster_target_valid && wsi_cudbg_is_cluster_exception(exception);
	*blockIdx = *blockIdxValid ? wsi_dim3(sm.cluster_target) : (CuDim3){ 0, 0, 0 };
	return CUDBG_SUCCESS;
}

/* ---- exceptions ---- */

CUDBGResult wsi_cudbg_readErrorPC(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t *errorPC,
				  bool *errorPCValid)
{
	CUDBGResult result;
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	*errorPC = warp->error_pc_valid ? warp->error_pc : 0;
	*errorPCValid = warp->error_pc_valid;
	return CUDBG_SUCCESS;
}

/* The SM's own word; it is not made up from lanes. Drivers before r555 did not record it. */
CUDBGResult wsi_cudbg_readSmException(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				      CUDBGException_t *exception, uint64_t *errorPC,
				      bool *errorPCValid)
{
	struct ws_sm sm = { .have = WS_SM_EXCEPTION, .exception = CUDBG_EXCEPTION_NONE };
	if (at->row->sm_index != WS_NONE) {
		struct ws_error err;
		enum ws_status st = ws_target_sm(s->target, at->row->sm_index, &sm, &err);
		if (st != WS_OK)
			return wsi_cudbg_row_status(s, st, &err);
	}
	if (!(sm.have & WS_SM_EXCEPTION))
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "exceptions of SMs were not recorded");
	if (sm.exception != CUDBG_EXCEPTION_NONE) {
		const struct wsi_faults *faults = wsi_cudbg_faults(s, at->device);
		if (!faults)
			return CUDBG_ERROR_INTERNAL;
		if (!(wsi_cudbg_fault_word(s, faults, at->sm / 64) >> at->sm % 64 & 1))
			sm = (struct ws_sm){ .exception = CUDBG_EXCEPTION_NONE };
	}
	*exception = (CUDBGException_t)sm.exception;
	*errorPC = sm.error_pc_valid ? sm.error_pc : 0;
	*errorPCValid = sm.error_pc_valid;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readDeviceExceptionState(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					       uint64_t *mask, uint32_t numWords)
{
	uint32_t words = (at->device->n_sms + 63) / 64;
	if (numWords < words)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "%u SMs need %u words, there is room for %u",
				      at->device->n_sms, words, numWords);
	const struct wsi_faults *faults = wsi_cudbg_faults(s, at->device);
	if (!faults)
		return CUDBG_ERROR_INTERNAL;
	for (uint32_t i = 0; i < words; i++)
		mask[i] = wsi_cudbg_fault_word(s, faults, i);
	if (numWords > words)
		memset(mask + words, 0, (size_t)(numWords - words) * sizeof *mask);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readDeviceExceptionState80(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
						 uint64_t *exceptionSMMask)
{
	const struct wsi_faults *faults = wsi_cudbg_faults(s, at->device);
	if (!faults)
		return CUDBG_ERROR_INTERNAL;
	*exceptionSMMask = wsi_cudbg_fault_word(s, faults, 0);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getCudaExceptionString(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					     char *buf, uint32_t bufSz, uint32_t *msgSz)
{
	struct ws_sm sm;
	struct ws_error err;
	enum ws_status st = ws_target_sm(s->target, at->row->sm_index, &sm, &err);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	if (!(sm.have & WS_SM_EXCEPTION_TEXT))
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "the target has no exception texts");
	return wsi_cudbg_text_out(s, sm.exception_text, buf, bufSz, msgSz);
}

/* ---- barriers ---- */

static const char *scope_words(CUDBGBarrierScope scope)
{
	static const char *const words[] = {
		[CUDBG_BARRIER_SCOPE_NONE] = "",
		[CUDBG_BARRIER_SCOPE_WARP] = "waits for lanes of its warp",
		[CUDBG_BARRIER_SCOPE_WARP_GROUP] = "waits for its group of warps",
		[CUDBG_BARRIER_SCOPE_BLOCK] = "waits for its block",
		[CUDBG_BARRIER_SCOPE_CLUSTER] = "waits for its cluster",
		[CUDBG_BARRIER_SCOPE_KERNEL] = "waits for its grid",
	};
	return (uint32_t)scope < WSI_COUNT(words) ? words[scope] : "";
}

CUDBGResult wsi_cudbg_getHardwareBarrierInfo(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					     CUDBGBarrierScope *scope, char *buf, uint32_t bufSz,
					     uint32_t *msgSz)
{
	CUDBGResult result;
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	CUDBGBarrierScope its = CUDBG_BARRIER_SCOPE_INVALID;
	struct ws_str text = { NULL, 0 };
	const struct ws_lane *lane = wsi_cudbg_lane(s, at, at->ln, &result);
	if (!lane && result != CUDBG_ERROR_MISSING_DATA)
		return result;
	if (lane && lane->have & WS_LANE_BARRIER) {
		its = (CUDBGBarrierScope)lane->barrier_scope;
		text = ws_str_of(scope_words(its));
	} else if (warp->have & WS_WARP_BARRIER) {
		its = (CUDBGBarrierScope)warp->barrier_scope;
		text = warp->barrier_text.len ? warp->barrier_text : ws_str_of(scope_words(its));
	}
	result = wsi_cudbg_text_out(s, text, buf, bufSz, msgSz);
	if (result == CUDBG_SUCCESS)
		*scope = its;
	return result;
}

/* State of one warp in the convergence barrier unit. */
static CUDBGResult cbu_state(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
			     CUDBGCbuWarpState *ret)
{
	CUDBGResult result;
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	if (!(warp->have & WS_WARP_CBU))
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "the convergence barrier unit was not recorded");
	CUDBGCbuWarpState state = {
		.activeMask = warp->cbu_active_lanes,
		.exitedMask = warp->cbu_exited_lanes,
		.collectiveMask = warp->cbu_collective_lanes,
	};
	for (uint32_t ln = 0; ln < CUDBG_MAX_LANES; ln++) {
		bool exited = warp->cbu_exited_lanes >> ln & 1;
		state.threadState[ln] =
			exited ? CUDBG_CBU_THREAD_STATE_EXITED : CUDBG_CBU_THREAD_STATE_INVALID;
		if (ln >= at->device->n_lanes || !(at->slot->valid >> ln & 1))
			continue;
		const struct ws_lane *lane = wsi_cudbg_lane(s, at, ln, &result);
		if (!lane && result != CUDBG_ERROR_MISSING_DATA)
			return result;
		if (lane && (lane->have & WS_LANE_CBU_STATE))
			state.threadState[ln] = (CUDBGCbuThreadState)lane->cbu_state;
	}
	uint32_t n = at->device->device.n_convergence_barriers, got = 0;
	uint32_t masks[CUDBG_MAX_WARP_BARRIERS] = { 0 };
	n = n < CUDBG_MAX_WARP_BARRIERS ? n : CUDBG_MAX_WARP_BARRIERS;
	if (n) {
		struct ws_error err;
		enum ws_status st = ws_target_registers(s->target, at->slot->warp_index, 0,
							WS_REG_BARRIER, 0, n, masks, &got, &err);
		if (st != WS_OK)
			return wsi_cudbg_status(s, st, &err);
	}
	memcpy(state.barrierMasks, masks, sizeof masks);
	*ret = state;
	return CUDBG_SUCCESS;
}

static uint32_t bits_in(uint64_t mask)
{
	uint32_t n = 0;
	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

CUDBGResult wsi_cudbg_getCbuWarpState(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				      uint64_t warpMask, CUDBGCbuWarpState *warpStates,
				      uint32_t numWarpStates)
{
	CUDBGCbuWarpState states[CUDBG_MAX_WARPS];
	uint32_t n = 0;
	if (!warpMask || warpMask & ~at->row->valid)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_WARP,
				      "mask 0x%" PRIx64 " of valid warps 0x%" PRIx64, warpMask,
				      at->row->valid);
	if (numWarpStates < bits_in(warpMask))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "room for %u warps, the mask names %u", numWarpStates,
				      bits_in(warpMask));
	for (uint32_t wp = 0; wp < CUDBG_MAX_WARPS; wp++) {
		if (!(warpMask >> wp & 1))
			continue;
		at->wp = wp;
		at->slot = &at->row->slot[wp];
		CUDBGResult result = cbu_state(s, at, &states[n++]);
		if (result != CUDBG_SUCCESS)
			return result;
	}
	memcpy(warpStates, states, n * sizeof *states);
	return CUDBG_SUCCESS;
}

/* ---- a whole warp ---- */

/* The number of registers is what clients ask for: it is told where the other size is not known. */
CUDBGResult wsi_cudbg_readWarpResources(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					CUDBGWarpResources *resources)
{
	CUDBGResult result;
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	CUDBGWarpResources found = { 0, 0 };
	if (warp->have & WS_WARP_N_REGS) {
		found.numRegisters = warp->n_regs;
	} else {
		struct ws_grid grid;
		result = wsi_cudbg_grid_of(s, at, &grid);
		if (result != CUDBG_SUCCESS)
			return result;
		if (!(grid.have & WS_GRID_N_REGS))
			return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
					      "the number of registers was not recorded");
		found.numRegisters = grid.n_regs;
	}
	struct ws_memory_range range;
	if (warp->have & WS_WARP_SHARED_BYTES)
		found.sharedMemSize = warp->shared_bytes;
	else if (wsi_cudbg_own_range(s, WS_SPACE_SHARED, warp->block_index, 0, &range))
		found.sharedMemSize = (uint32_t)range.size;
	*resources = found;
	return CUDBG_SUCCESS;
}

static CUDBGResult fill_lanes(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
			      CUDBGWarpState *state)
{
	for (uint32_t ln = 0; ln < at->device->n_lanes; ln++) {
		CUDBGResult result;
		if (!(at->slot->valid >> ln & 1))
			continue;
		const struct ws_lane *lane = wsi_cudbg_lane(s, at, ln, &result);
		if (!lane)
			return result;
		state->lane[ln].virtualPC = lane->pc;
		state->lane[ln].threadIdx = wsi_dim3(lane->thread);
		state->lane[ln].exception = (CUDBGException_t)lane->exception;
	}
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readWarpState(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				    CUDBGWarpState *state)
{
	CUDBGResult result;
	CUDBGWarpState found;
	memset(&found, 0, sizeof found);
	const struct ws_block *block = wsi_cudbg_block(s, at, &result);
	if (!block)
		return result;
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	found.gridId = (uint64_t)block->grid_id;
	found.errorPC = warp->error_pc_valid ? warp->error_pc : 0;
	found.errorPCValid = warp->error_pc_valid;
	found.blockIdx = wsi_dim3(block->idx);
	found.validLanes = at->slot->valid;
	found.activeLanes = at->slot->active;
	found.clusterIdx = wsi_dim3(block->cluster_idx);
	found.inSyscallLanes = warp->in_syscall_lanes;
	CuDim3 dim, target = { 0, 0, 0 };
	bool valid = false;
	result = wsi_cudbg_getClusterDim(s, at, &dim);
	if (result != CUDBG_SUCCESS)
		return result;
	found.clusterDim = dim;
	result = wsi_cudbg_getClusterExceptionTargetBlock(s, at, &target, &valid);
	if (result != CUDBG_SUCCESS && result != CUDBG_ERROR_NOT_SUPPORTED)
		return result;
	found.clusterExceptionTargetBlockIdxValid = valid;
	found.clusterExceptionTargetBlockIdx = target;
	result = fill_lanes(s, at, &found);
	if (result == CUDBG_SUCCESS)
		memcpy(state, &found, sizeof found);
	return result;
}
