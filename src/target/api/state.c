/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, call stacks, registers and memory, asked of the provider when they are wanted. */
#include "target/api/api.h"

static struct api_target *api_of(const struct ws_target *target)
{
	return (struct api_target *)(uintptr_t)target; /* the lock inside is what changes */
}

/* ---- lanes ---- */

/* The state of a warp in the newest layout that the provider has; older ones are its first part. */
static CUDBGResult warp_state(struct api_target *t, const struct api_place *at, CUDBGWarpState *ret)
{
	CUDBGWarpState127 v127;
	CUDBGWarpState120 v120;
	memset(ret, 0, sizeof *ret);
	if (API_HAS(t, readWarpState))
		return t->api->readWarpState(at->dev, at->sm, at->wp, ret);
	CUDBGResult result;
	if (API_HAS(t, readWarpState127)) {
		result = t->api->readWarpState127(at->dev, at->sm, at->wp, &v127);
		memcpy(ret, &v127, sizeof v127);
	} else {
		result = t->api->readWarpState120(at->dev, at->sm, at->wp, &v120);
		memcpy(ret, &v120, sizeof v120);
	}
	return result;
}

enum ws_status wsi_api_lanes(const struct ws_target *target, uint32_t warp_index,
			     struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = api_of(target);
	const struct api_place at = wsi_api_place(t, warp_index);
	CUDBGWarpState state;
	CUDBGCbuWarpState cbu;
	uint32_t n = 0;
	pthread_mutex_lock(&t->lock);
	enum ws_status st = wsi_api_status(t, warp_state(t, &at, &state), "readWarpState", err);
	bool have_cbu =
		st == WS_OK && API_HAS(t, getCbuWarpState) &&
		t->api->getCbuWarpState(at.dev, at.sm, 1ull << at.wp, &cbu, 1) == CUDBG_SUCCESS;
	for (uint32_t ln = 0; st == WS_OK && ln < WS_MAX_LANES; ln++) {
		if (!(state.validLanes >> ln & 1))
			continue;
		struct ws_lane *lane = &ret_lanes[n++];
		*lane = (struct ws_lane){
			.id = ln,
			.pc = state.lane[ln].virtualPC,
			.thread = { state.lane[ln].threadIdx.x, state.lane[ln].threadIdx.y,
				    state.lane[ln].threadIdx.z },
			.exception = (uint32_t)state.lane[ln].exception,
		};
		st = wsi_api_status(t, t->api->readPC(at.dev, at.sm, at.wp, ln, &lane->rel_pc),
				    "readPC", err);
		if (st == WS_OK)
			st = wsi_api_status(
				t,
				t->api->readCallDepth(at.dev, at.sm, at.wp, ln, &lane->call_depth),
				"readCallDepth", err);
		(void)t->api->readCCRegister(at.dev, at.sm, at.wp, ln, &lane->cc_register);
		if (have_cbu && cbu.threadState[ln] != CUDBG_CBU_THREAD_STATE_INVALID) {
			lane->have |= WS_LANE_CBU_STATE;
			lane->cbu_state = cbu.threadState[ln];
		}
		if (API_HAS(t, readRpcRegisters) &&
		    t->api->readRpcRegisters(at.dev, at.sm, at.wp, ln, &lane->rpc_lo,
					     &lane->rpc_hi) == CUDBG_SUCCESS)
			lane->have |= WS_LANE_RPC;
	}
	pthread_mutex_unlock(&t->lock);
	if (st == WS_OK)
		*ret_n = n;
	return st;
}

enum ws_status wsi_api_call_stack(const struct ws_target *target, uint32_t warp_index,
				  uint32_t lane, struct ws_return_address *ret_addresses,
				  uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = api_of(target);
	const struct api_place at = wsi_api_place(t, warp_index);
	uint32_t depth = 0;
	pthread_mutex_lock(&t->lock);
	enum ws_status st = wsi_api_status(
		t, t->api->readCallDepth(at.dev, at.sm, at.wp, lane, &depth), "readCallDepth", err);
	for (uint32_t i = 0; st == WS_OK && i < depth; i++) {
		struct ws_return_address frame = { .level = i };
		CUDBGResult result = t->api->readVirtualReturnAddress(at.dev, at.sm, at.wp, lane, i,
								      &frame.address);
		if (result == CUDBG_SUCCESS)
			result = t->api->readReturnAddress(at.dev, at.sm, at.wp, lane, i,
							   &frame.rel_address);
		if (result == CUDBG_ERROR_MISSING_DATA)
			depth = i; /* fewer are recorded */
		else
			st = wsi_api_status(t, result, "readReturnAddress", err);
		if (st == WS_OK && i < cap && i < depth)
			ret_addresses[i] = frame;
	}
	pthread_mutex_unlock(&t->lock);
	if (st == WS_OK)
		*ret_n = depth;
	return st;
}

/* ---- registers ---- */

static CUDBGResult read_r(struct api_target *t, const struct api_place *at, uint32_t lane,
			  uint32_t first, uint32_t n, uint32_t *values, uint32_t *ret_n)
{
	if (API_HAS(t, readRegisterRange))
		return t->api->readRegisterRange(at->dev, at->sm, at->wp, lane, first, n, values,
						 ret_n);
	*ret_n = n;
	return t->api->readRegisterRange60(at->dev, at->sm, at->wp, lane, first, n, values);
}

static CUDBGResult read_barriers(struct api_target *t, const struct api_place *at, uint32_t first,
				 uint32_t n, uint32_t *values, uint32_t *ret_n)
{
	CUDBGCbuWarpState cbu;
	if (!API_HAS(t, getCbuWarpState))
		return CUDBG_ERROR_NOT_SUPPORTED;
	CUDBGResult result = t->api->getCbuWarpState(at->dev, at->sm, 1ull << at->wp, &cbu, 1);
	for (*ret_n = 0; result == CUDBG_SUCCESS && *ret_n < n; ++*ret_n)
		values[*ret_n] = cbu.barrierMasks[first + *ret_n];
	return result;
}

uint32_t wsi_api_register_limit(const struct api_target *t, uint32_t warp_index,
				enum ws_reg_kind kind)
{
	const struct ws_warp *warp = &t->warps[warp_index];
	const struct ws_device *device = &t->devices[warp->device_index];
	uint32_t n = CUDBG_MAX_WARP_BARRIERS;
	if (kind == WS_REG_R)
		n = warp->have & WS_WARP_N_REGS ? warp->n_regs : device->n_regs_per_lane;
	else if (kind == WS_REG_P)
		n = device->n_preds_per_lane;
	else if (kind == WS_REG_UR)
		n = device->n_uniform_regs;
	else if (kind == WS_REG_UP)
		n = device->n_uniform_preds;
	return (uint32_t)wsi_min_u64(n, WSI_API_MAX_REGISTERS);
}

enum ws_status wsi_api_registers(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				 enum ws_reg_kind kind, uint32_t first, uint32_t n,
				 uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = api_of(target);
	const struct api_place at = wsi_api_place(t, warp_index);
	uint32_t values[WSI_API_MAX_REGISTERS], limit = wsi_api_register_limit(t, warp_index, kind),
						got;
	if (first >= limit)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %u registers of this kind",
				limit);
	if (n > limit - first)
		n = limit - first;
	got = n;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&t->lock);
	switch (kind) {
	case WS_REG_R:
		result = read_r(t, &at, lane, first, n, values, &got);
		break;
	case WS_REG_P: /* always from P0 */
		result = t->api->readPredicates(at.dev, at.sm, at.wp, lane, first + n, values);
		break;
	case WS_REG_UR:
		if (API_HAS(t, readUniformRegisterRange))
			result = t->api->readUniformRegisterRange(at.dev, at.sm, at.wp, first, n,
								  values);
		break;
	case WS_REG_UP:
		if (API_HAS(t, readUniformPredicates))
			result = t->api->readUniformPredicates(at.dev, at.sm, at.wp, first + n,
							       values);
		break;
	case WS_REG_BARRIER:
		result = read_barriers(t, &at, first, n, values, &got);
		break;
	}
	enum ws_status st = wsi_api_status(t, result, "registers", err);
	pthread_mutex_unlock(&t->lock);
	if (st != WS_OK)
		return st;
	const uint32_t *from = kind == WS_REG_P || kind == WS_REG_UP ? values + first : values;
	memcpy(ret_values, from, got * sizeof *from);
	*ret_n = got;
	return WS_OK;
}

/* ---- memory ---- */

bool wsi_api_warp_of_grid(const struct api_target *t, uint32_t grid_index, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < t->n.warps; i++)
		if (t->blocks[t->warps[i].block_index].grid_index == grid_index) {
			*ret_index = i;
			return true;
		}
	return false;
}

static CUDBGResult read_const(struct api_target *t, const struct ws_address *at,
			      uint32_t grid_index, void *buffer, uint32_t len)
{
	uint64_t base;
	uint32_t size;
	const struct ws_grid *grid = &t->grids[grid_index];
	if (!API_HAS(t, getConstBankAddress))
		return CUDBG_ERROR_NOT_SUPPORTED;
	CUDBGResult result = t->api->getConstBankAddress(
		t->devices[grid->device_index].id, (uint64_t)grid->id, at->bank, &base, &size);
	if (result != CUDBG_SUCCESS)
		return result;
	if (at->address > size || len > size - at->address)
		return CUDBG_ERROR_INVALID_MEMORY_ACCESS;
	return t->api->readGlobalMemory(base + at->address, buffer, len);
}

static CUDBGResult read_piece(struct api_target *t, const struct ws_address *at, void *buffer,
			      uint32_t len)
{
	struct api_place p = { 0, 0, 0 };
	uint32_t warp = at->warp_index, grid = at->grid_index;
	bool by_grid = at->space == WS_SPACE_PARAM || at->space == WS_SPACE_CONST;
	if (by_grid && grid == WS_NONE && warp < t->n.warps)
		grid = t->blocks[t->warps[warp].block_index].grid_index;
	if (by_grid && (grid >= t->n.grids ||
			(at->space == WS_SPACE_PARAM && !wsi_api_warp_of_grid(t, grid, &warp))))
		return CUDBG_ERROR_MISSING_DATA;
	if (at->space == WS_SPACE_SHARED || at->space == WS_SPACE_LOCAL ||
	    at->space == WS_SPACE_PARAM || (at->space == WS_SPACE_GENERIC && warp != WS_NONE)) {
		if (warp >= t->n.warps)
			return CUDBG_ERROR_INVALID_ARGS;
		p = wsi_api_place(t, warp);
	}
	uint32_t dev = at->device_index < t->n.devices ? t->devices[at->device_index].id
						       : t->devices[0].id;
	switch (at->space) {
	case WS_SPACE_GLOBAL:
		return t->api->readGlobalMemory(at->address, buffer, len);
	case WS_SPACE_SHARED:
		return t->api->readSharedMemory(p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_LOCAL:
		return t->api->readLocalMemory(p.dev, p.sm, p.wp, at->lane, at->address, buffer,
					       len);
	case WS_SPACE_PARAM:
		return t->api->readParamMemory(p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_CONST:
		return read_const(t, at, grid, buffer, len);
	case WS_SPACE_CODE:
		return t->api->readCodeMemory(dev, at->address, buffer, len);
	case WS_SPACE_GENERIC:
		return t->api->readGenericMemory(p.dev, p.sm, p.wp, at->lane, at->address, buffer,
						 len);
	}
	return CUDBG_ERROR_NOT_SUPPORTED;
}

/* The API reads all or nothing; the part that can be read is found by halving. */
enum ws_status wsi_api_read_memory(const struct ws_target *target, const struct ws_address *at,
				   void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	struct api_target *t = api_of(target);
	struct ws_address piece = *at;
	uint8_t *out = buffer;
	enum ws_status st = WS_OK;
	size_t done = 0, step = len < 1u << 20 ? len : 1u << 20;
	if (!t->n.devices)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no device");
	pthread_mutex_lock(&t->lock);
	while (done < len && step) {
		if (step > len - done)
			step = len - done;
		piece.address = at->address + done;
		st = wsi_api_status(t, read_piece(t, &piece, out + done, (uint32_t)step), "memory",
				    err);
		if (st == WS_OK)
			done += step;
		else
			step /= 2;
	}
	pthread_mutex_unlock(&t->lock);
	*ret_n = done;
	return done == len ? WS_OK : st;
}

enum ws_status wsi_api_memory_range(const struct ws_target *target, uint32_t index,
				    struct ws_memory_range *ret_range, struct ws_error *err)
{
	const struct api_target *t = api_of(target);
	if (index >= t->n_ranges)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %zu ranges", t->n_ranges);
	*ret_range = t->ranges[index];
	return WS_OK;
}
