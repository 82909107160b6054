/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes, call stacks, registers and memory, read from the provider on demand. */
#include "target/api/api.h"

/* ---- lanes ---- */

enum { OF_LANES = API_PC | API_REL_PC | API_THREAD | API_EXCEPTION | API_CALL_DEPTH };

enum ws_status wsi_api_lanes(const struct ws_target *target, uint32_t warp_index,
			     struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, warp_index);
	struct api_warp_facts facts = { .known = 0 };
	CUDBGCbuWarpState cbu;
	uint32_t n = 0;
	wsi_hold(&t->lock);
	CUDBGResult result = wsi_api_ask_warp(t, &at, API_VALID | OF_LANES, &facts);
	uint32_t lacks = (API_VALID | OF_LANES) & ~facts.known, grid;
	if (lacks == API_REL_PC && (grid = wsi_api_grid_of_warp(t, warp_index)) != WS_NONE &&
	    t->grids[grid].module_index != WS_NONE &&
	    wsi_api_ask_image_offsets(&t->modules[t->grids[grid].module_index].module, &facts))
		result = CUDBG_SUCCESS;
	enum ws_status st = wsi_api_status(
		t, result, wsi_api_fact_text((API_VALID | OF_LANES) & ~facts.known), err);
	bool have_cbu = st == WS_OK && API_CALL(t, getCbuWarpState, at.dev, at.sm, 1ull << at.wp,
						&cbu, 1) == CUDBG_SUCCESS;
	for (uint32_t ln = 0; st == WS_OK && ln < WS_MAX_LANES; ln++) {
		if (!((facts.valid_lanes & ~facts.lost_lanes) >> ln & 1))
			continue;
		struct ws_lane *lane = &ret_lanes[n++];
		*lane = (struct ws_lane){
			.id = ln,
			.pc = facts.lane[ln].pc,
			.rel_pc = facts.lane[ln].rel_pc,
			.thread = wsi_api_dim3(facts.lane[ln].thread),
			.exception = (uint32_t)facts.lane[ln].exception,
			.call_depth = facts.lane[ln].call_depth,
		};
		(void)API_CALL(t, readSyscallCallDepth, at.dev, at.sm, at.wp, ln,
			       &lane->syscall_call_depth);
		if (API_CALL(t, readCCRegister, at.dev, at.sm, at.wp, ln, &lane->cc_register) ==
		    CUDBG_SUCCESS)
			lane->have |= WS_LANE_CC;
		if (have_cbu && cbu.threadState[ln] != CUDBG_CBU_THREAD_STATE_INVALID) {
			lane->have |= WS_LANE_CBU_STATE;
			lane->cbu_state = cbu.threadState[ln];
		}
		if (API_CALL(t, readRpcRegisters, at.dev, at.sm, at.wp, ln, &lane->rpc_lo,
			     &lane->rpc_hi) == CUDBG_SUCCESS)
			lane->have |= WS_LANE_RPC;
	}
	if (st == WS_OK)
		*ret_n = n;
	return st;
}

/* ---- call stacks ---- */

/* The return address of a level, one by one or with all others. */
static CUDBGResult ask_return_address(struct api_target *t, const struct api_place *at,
				      uint32_t lane, uint32_t level, uint64_t *ret)
{
	CUDBGResult result =
		API_CALL(t, readVirtualReturnAddress, at->dev, at->sm, at->wp, lane, level, ret);
	if (!wsi_api_not_offered(result))
		return result;
	uint32_t depth, syscall_depth;
	wsi_scoped_free uint64_t *all = wsi_zalloc_array((size_t)level + 1, sizeof *all);
	if (!all)
		return CUDBG_ERROR_INTERNAL;
	result = API_CALL(t, readAllVirtualReturnAddresses, at->dev, at->sm, at->wp, lane, all,
			  level + 1, &depth, &syscall_depth);
	if (result == CUDBG_SUCCESS && depth <= level)
		return CUDBG_ERROR_INVALID_CALL_LEVEL;
	if (result == CUDBG_SUCCESS)
		*ret = all[level];
	return result;
}

enum ws_status wsi_api_call_stack(const struct ws_target *target, uint32_t warp_index,
				  uint32_t lane, struct ws_return_address *ret_addresses,
				  uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, warp_index);
	struct api_warp_facts facts = { .known = API_VALID, .valid_lanes = 1u << lane };
	wsi_hold(&t->lock);
	enum ws_status st = wsi_api_status(t, wsi_api_ask_warp(t, &at, API_CALL_DEPTH, &facts),
					   wsi_api_fact_text(API_CALL_DEPTH), err);
	uint32_t depth = facts.lane[lane].call_depth;
	for (uint32_t i = 0; st == WS_OK && i < depth; i++) {
		struct ws_return_address frame = { .level = i };
		CUDBGResult result = ask_return_address(t, &at, lane, i, &frame.address);
		if (result == CUDBG_SUCCESS)
			result = API_CALL(t, readReturnAddress, at.dev, at.sm, at.wp, lane, i,
					  &frame.rel_address);
		if (result == CUDBG_ERROR_MISSING_DATA || result == CUDBG_ERROR_INVALID_CALL_LEVEL)
			depth = i; /* fewer are recorded */
		else
			st = wsi_api_status(t, result, "a return address", err);
		if (st == WS_OK && i < cap && i < depth)
			ret_addresses[i] = frame;
	}
	if (st == WS_OK)
		*ret_n = depth;
	return st;
}

/* ---- registers ---- */

/* Older forms read 0 for what does not exist: the caller knows how many there are. */
static CUDBGResult read_r(struct api_target *t, const struct api_place *at, uint32_t lane,
			  uint32_t first, uint32_t n, uint32_t *values, uint32_t *ret_n)
{
	CUDBGResult result = API_CALL(t, readRegisterRange, at->dev, at->sm, at->wp, lane, first, n,
				      values, ret_n);
	if (!wsi_api_not_offered(result))
		return result == CUDBG_SUCCESS && !*ret_n ? CUDBG_ERROR_MISSING_DATA : result;
	*ret_n = n;
	result = API_CALL(t, readRegisterRange60, at->dev, at->sm, at->wp, lane, first, n, values);
	if (!wsi_api_not_offered(result))
		return result;
	result = CUDBG_SUCCESS;
	for (uint32_t i = 0; i < n && result == CUDBG_SUCCESS; i++)
		result = API_CALL(t, readRegister, at->dev, at->sm, at->wp, lane, first + i,
				  &values[i]);
	return result;
}

static CUDBGResult read_barriers(struct api_target *t, const struct api_place *at, uint32_t first,
				 uint32_t n, uint32_t *values, uint32_t *ret_n)
{
	CUDBGCbuWarpState cbu;
	CUDBGResult result = API_CALL(t, getCbuWarpState, at->dev, at->sm, 1ull << at->wp, &cbu, 1);
	for (*ret_n = 0; result == CUDBG_SUCCESS && *ret_n < n; ++*ret_n)
		values[*ret_n] = cbu.barrierMasks[first + *ret_n];
	return result;
}

/* Before 12.8 no function tells how many registers a warp has, but the code uses no others. */
static uint32_t registers_of_code(struct api_target *t, uint32_t warp_index)
{
	uint32_t grid = wsi_api_grid_of_warp(t, warp_index);
	if (grid == WS_NONE || t->grids[grid].module_index == WS_NONE)
		return 0;
	if (t->image_grid_index != grid || !t->n_image_regs) {
		t->image_grid_index = grid;
		t->n_image_regs = wsi_api_ask_image_registers(
			&t->modules[t->grids[grid].module_index].module, &t->grids[grid]);
	}
	return t->n_image_regs;
}

/* As many as exist, where a function tells; 0 where reading would make up those that do not. */
uint32_t wsi_api_register_limit(struct api_target *t, uint32_t warp_index, enum ws_reg_kind kind)
{
	const struct ws_warp *warp = &t->warps[warp_index];
	const struct ws_device *device = &t->devices[warp->device_index];
	uint32_t n = CUDBG_MAX_WARP_BARRIERS;
	if (kind == WS_REG_R && (warp->have & WS_WARP_N_REGS))
		n = warp->n_regs;
	else if (kind == WS_REG_R && API_HAS(t, readRegisterRange))
		n = device->n_regs_per_lane;
	else if (kind == WS_REG_R)
		n = registers_of_code(t, warp_index);
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
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, warp_index);
	uint32_t values[WSI_API_MAX_REGISTERS], got;
	wsi_hold(&t->lock);
	uint32_t limit = wsi_api_register_limit(t, warp_index, kind);
	if (first >= limit)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %u registers of this kind",
				limit);
	if (n > limit - first)
		n = limit - first;
	got = n;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	switch (kind) {
	case WS_REG_R:
		result = read_r(t, &at, lane, first, n, values, &got);
		break;
	case WS_REG_P: /* always from P0 */
		result = API_CALL(t, readPredicates, at.dev, at.sm, at.wp, lane, first + n, values);
		break;
	case WS_REG_UR:
		result = API_CALL(t, readUniformRegisterRange, at.dev, at.sm, at.wp, first, n,
				  values);
		break;
	case WS_REG_UP:
		result =
			API_CALL(t, readUniformPredicates, at.dev, at.sm, at.wp, first + n, values);
		break;
	case WS_REG_BARRIER:
		result = read_barriers(t, &at, first, n, values, &got);
		break;
	}
	enum ws_status st = wsi_api_status(t, result, "registers", err);
	if (st != WS_OK)
		return st;
	const uint32_t *from = kind == WS_REG_P || kind == WS_REG_UP ? values + first : values;
	memcpy(ret_values, from, got * sizeof *from);
	*ret_n = got;
	return WS_OK;
}

/* ---- memory ---- */

uint32_t wsi_api_grid_of_warp(const struct api_target *t, uint32_t warp_index)
{
	uint32_t block = t->warps[warp_index].block_index;
	return block == WS_NONE ? WS_NONE : t->blocks[block].grid_index;
}

bool wsi_api_warp_of_grid(const struct api_target *t, uint32_t grid_index, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < t->n.warps; i++)
		if (wsi_api_grid_of_warp(t, i) == grid_index) {
			*ret_index = i;
			return true;
		}
	return false;
}

static CUDBGResult api_read_generic(struct api_target *t, const struct api_place *p, uint32_t lane,
				    uint64_t address, void *buffer, uint32_t len)
{
	CUDBGResult result =
		API_CALL(t, readGenericMemory, p->dev, p->sm, p->wp, lane, address, buffer, len);
	if (wsi_api_not_offered(result))
		result = API_CALL(t, readGlobalMemory55, p->dev, p->sm, p->wp, lane, address,
				  buffer, len);
	return result;
}

/* Where devices have other memory at one address, a generic read names the device. */
CUDBGResult wsi_api_read_global(struct api_target *t, uint32_t device_index, uint64_t address,
				void *buffer, uint32_t len)
{
	CUDBGResult result = API_CALL(t, readGlobalMemory, address, buffer, len);
	if (result != CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS || device_index >= t->n.devices)
		return result;
	const struct api_place p = { t->devices[device_index].id, 0, 0 };
	return api_read_generic(t, &p, 0, address, buffer, len);
}

/* Bytes of a constant bank, by the address of the bank or by that of the first byte. */
static CUDBGResult read_const(struct api_target *t, uint32_t grid_index, uint32_t bank,
			      uint64_t offset, void *buffer, uint32_t len)
{
	uint64_t base;
	uint32_t size, warp;
	const struct ws_grid *grid = &t->grids[grid_index];
	CUDBGResult result = API_CALL(t, getConstBankAddress, t->devices[grid->device_index].id,
				      (uint64_t)grid->id, bank, &base, &size);
	if (result == CUDBG_SUCCESS)
		return offset > size || len > size - offset
			       ? CUDBG_ERROR_INVALID_MEMORY_ACCESS
			       : wsi_api_read_global(t, grid->device_index, base + offset, buffer,
						     len);
	if (!wsi_api_not_offered(result) || offset > UINT32_MAX ||
	    !wsi_api_warp_of_grid(t, grid_index, &warp))
		return result;
	struct api_place p = wsi_api_place(t, warp);
	result = API_CALL(t, getConstBankAddress123, p.dev, p.sm, p.wp, bank, (uint32_t)offset,
			  &base);
	return result == CUDBG_SUCCESS
		       ? wsi_api_read_global(t, grid->device_index, base, buffer, len)
		       : result;
}

static CUDBGResult read_piece(struct api_target *t, const struct ws_address *at, void *buffer,
			      uint32_t len)
{
	struct api_place p = { 0, 0, 0 };
	uint32_t warp = at->warp_index, grid = at->grid_index;
	bool by_grid = at->space == WS_SPACE_PARAM || at->space == WS_SPACE_CONST;
	if (by_grid && grid == WS_NONE && warp < t->n.warps)
		grid = wsi_api_grid_of_warp(t, warp);
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
		return wsi_api_read_global(t, at->device_index, at->address, buffer, len);
	case WS_SPACE_SHARED:
		return API_CALL(t, readSharedMemory, p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_LOCAL:
		return API_CALL(t, readLocalMemory, p.dev, p.sm, p.wp, at->lane, at->address,
				buffer, len);
	case WS_SPACE_PARAM:
		return API_CALL(t, readParamMemory, p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_CONST:
		return read_const(t, grid, at->bank, at->address, buffer, len);
	case WS_SPACE_CODE:
		return API_CALL(t, readCodeMemory, dev, at->address, buffer, len);
	case WS_SPACE_GENERIC:
		return api_read_generic(t, &p, at->lane, at->address, buffer, len);
	}
	return CUDBG_ERROR_NOT_SUPPORTED;
}

/* The API reads all or nothing; the part that can be read is found by halving. */
enum ws_status wsi_api_read_memory(const struct ws_target *target, const struct ws_address *at,
				   void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	struct api_target *t = target->state;
	struct ws_address piece = *at;
	uint8_t *out = buffer;
	enum ws_status st = WS_OK;
	size_t done = 0, step = len < 1u << 20 ? len : 1u << 20;
	if (!t->n.devices)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no device");
	wsi_hold(&t->lock);
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
	*ret_n = done;
	return done == len ? WS_OK : st;
}

enum ws_status wsi_api_memory_range(const struct ws_target *target, uint32_t index,
				    struct ws_memory_range *ret_range, struct ws_error *err)
{
	const struct api_target *t = target->state;
	if (index >= t->n_ranges)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %zu ranges", t->n_ranges);
	*ret_range = t->ranges[index];
	return WS_OK;
}
