/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and registers written through the provider. */
#include "target/api/api.h"

/* As wsi_api_read_global(). */
static CUDBGResult api_write_global(struct api_target *t, const struct ws_address *at,
				    const void *buffer, uint32_t len)
{
	CUDBGResult result = API_CALL(t, writeGlobalMemory, at->address, buffer, len);
	if (result != CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS || at->device_index >= t->n.devices)
		return result;
	return API_CALL(t, writeGenericMemory, t->devices[at->device_index].id, 0, 0, 0,
			at->address, buffer, len);
}

static CUDBGResult write_at(struct api_target *t, const struct ws_address *at, const void *buffer,
			    uint32_t len)
{
	struct api_place p = { 0, 0, 0 };
	uint32_t warp = at->warp_index;
	if (at->space == WS_SPACE_PARAM && warp == WS_NONE &&
	    !wsi_api_warp_of_grid(t, at->grid_index, &warp))
		return CUDBG_ERROR_MISSING_DATA;
	bool by_warp = at->space == WS_SPACE_SHARED || at->space == WS_SPACE_LOCAL ||
		       at->space == WS_SPACE_PARAM ||
		       (at->space == WS_SPACE_GENERIC && warp != WS_NONE);
	if (by_warp && warp >= t->n.warps)
		return CUDBG_ERROR_INVALID_ARGS;
	if (by_warp)
		p = wsi_api_place(t, warp);
	switch (at->space) {
	case WS_SPACE_GLOBAL:
		return api_write_global(t, at, buffer, len);
	case WS_SPACE_SHARED:
		return API_CALL(t, writeSharedMemory, p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_LOCAL:
		return API_CALL(t, writeLocalMemory, p.dev, p.sm, p.wp, at->lane, at->address,
				buffer, len);
	case WS_SPACE_PARAM:
		return API_CALL(t, writeParamMemory, p.dev, p.sm, p.wp, at->address, buffer, len);
	case WS_SPACE_GENERIC:
		return API_CALL(t, writeGenericMemory, p.dev, p.sm, p.wp, at->lane, at->address,
				buffer, len);
	case WS_SPACE_CONST:
	case WS_SPACE_CODE:
		break; /* the API has no function for these */
	}
	return CUDBG_ERROR_NOT_SUPPORTED;
}

enum ws_status wsi_api_write_memory(struct ws_target *target, const struct ws_address *at,
				    const void *buffer, size_t len, struct ws_error *err)
{
	struct api_target *t = target->state;
	if (len > UINT32_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "%zu bytes at once", len);
	wsi_hold(&t->lock);
	return wsi_api_status(t, write_at(t, at, buffer, (uint32_t)len), "memory", err);
}

/* Predicates are written from the first on: those before are read and written back. */
static CUDBGResult api_write_predicates(struct api_target *t, const struct api_place *at,
					uint32_t lane, bool uniform, uint32_t first, uint32_t n,
					const uint32_t *values)
{
	uint32_t all[WSI_API_MAX_REGISTERS];
	CUDBGResult result = CUDBG_SUCCESS;
	if (first && uniform)
		result = API_CALL(t, readUniformPredicates, at->dev, at->sm, at->wp, first, all);
	else if (first)
		result = API_CALL(t, readPredicates, at->dev, at->sm, at->wp, lane, first, all);
	if (result != CUDBG_SUCCESS)
		return result;
	memcpy(all + first, values, n * sizeof *all);
	return uniform ? API_CALL(t, writeUniformPredicates, at->dev, at->sm, at->wp, first + n,
				  all)
		       : API_CALL(t, writePredicates, at->dev, at->sm, at->wp, lane, first + n,
				  all);
}

enum ws_status wsi_api_write_registers(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				       enum ws_reg_kind kind, uint32_t first, uint32_t n,
				       const uint32_t *values, struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, warp_index);
	uint32_t limit = wsi_api_register_limit(t, warp_index, kind);
	CUDBGResult result = CUDBG_SUCCESS;
	if (first >= limit || n > limit - first)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %u registers of this kind",
				limit);
	wsi_hold(&t->lock);
	switch (kind) {
	case WS_REG_R:
		for (uint32_t i = 0; i < n && result == CUDBG_SUCCESS; i++)
			result = API_CALL(t, writeRegister, at.dev, at.sm, at.wp, lane, first + i,
					  values[i]);
		break;
	case WS_REG_UR:
		for (uint32_t i = 0; i < n && result == CUDBG_SUCCESS; i++)
			result = API_CALL(t, writeUniformRegister, at.dev, at.sm, at.wp, first + i,
					  values[i]);
		break;
	case WS_REG_P:
	case WS_REG_UP:
		result = api_write_predicates(t, &at, lane, kind == WS_REG_UP, first, n, values);
		break;
	case WS_REG_BARRIER:
		result = CUDBG_ERROR_NOT_SUPPORTED;
		break;
	}
	return wsi_api_status(t, result, "registers", err);
}

enum ws_status wsi_api_write_rpc(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				 uint32_t rpc_lo, uint32_t rpc_hi, struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct api_place at = wsi_api_place(t, warp_index);
	wsi_hold(&t->lock);
	return wsi_api_status(
		t, API_CALL(t, writeRpcRegisters, at.dev, at.sm, at.wp, lane, &rpc_lo, &rpc_hi),
		"the RPC", err);
}
