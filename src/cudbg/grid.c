/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: by the warp that runs one, and by id. */
#include "cudbg-functions.h"

/* ---- by warp ---- */

#define DEFINE_OF_GRID(name, value)                                                \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, \
				     CuDim3 *ret_dim)                              \
	{                                                                          \
		struct ws_grid grid;                                               \
		CUDBGResult result = wsi_cudbg_grid_of(s, at, &grid);              \
		if (result == CUDBG_SUCCESS)                                       \
			*ret_dim = wsi_dim3(value);                                \
		return result;                                                     \
	}

DEFINE_OF_GRID(getGridDim, grid.grid_dim)
DEFINE_OF_GRID(getBlockDim, grid.block_dim)

CUDBGResult wsi_cudbg_readGridId50(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t *gridId)
{
	uint64_t id = 0;
	CUDBGResult result = wsi_cudbg_readGridId(s, at, &id);
	if (result == CUDBG_SUCCESS)
		*gridId = (uint32_t)id;
	return result;
}

CUDBGResult wsi_cudbg_getTID(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t *tid)
{
	struct ws_grid grid;
	struct ws_context context;
	CUDBGResult result = wsi_cudbg_grid_of(s, at, &grid);
	if (result == CUDBG_SUCCESS)
		result = wsi_cudbg_context_of(s, &grid, &context);
	if (result == CUDBG_SUCCESS)
		*tid = context.host_tid;
	return result;
}

static bool attribute_of(const struct ws_grid *grid, CUDBGAttribute attr, uint64_t *ret_value)
{
	if (attr == CUDBG_ATTR_GRID_LAUNCH_BLOCKING)
		*ret_value = grid->launch_blocking;
	else if (attr == CUDBG_ATTR_GRID_TID)
		*ret_value = grid->host_tid;
	else
		return false;
	return true;
}

static CUDBGResult no_attribute(struct wsi_cudbg *s, CUDBGAttribute attr)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ATTRIBUTE, "grids have no attribute %u",
			      (unsigned)attr);
}

CUDBGResult wsi_cudbg_getGridAttribute(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				       CUDBGAttribute attr, uint64_t *value)
{
	struct ws_grid grid;
	uint64_t found;
	CUDBGResult result = wsi_cudbg_grid_of(s, at, &grid);
	if (result != CUDBG_SUCCESS)
		return result;
	if (!attribute_of(&grid, attr, &found))
		return no_attribute(s, attr);
	*value = found;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getGridAttributes(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					CUDBGAttributeValuePair *pairs, uint32_t numPairs)
{
	struct ws_grid grid;
	uint64_t value;
	if (!numPairs)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "no attribute is requested");
	CUDBGResult result = wsi_cudbg_grid_of(s, at, &grid);
	if (result != CUDBG_SUCCESS)
		return result;
	for (uint32_t i = 0; i < numPairs; i++) /* all or nothing */
		if (!attribute_of(&grid, pairs[i].attribute, &value))
			return no_attribute(s, pairs[i].attribute);
	for (uint32_t i = 0; i < numPairs; i++)
		(void)attribute_of(&grid, pairs[i].attribute, &pairs[i].value);
	return CUDBG_SUCCESS;
}

/* ---- by id ---- */

CUDBGResult wsi_cudbg_getGridInfo(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t gridId64,
				  CUDBGGridInfo *gridInfo)
{
	struct ws_grid grid;
	struct ws_context context;
	uint32_t index;
	CUDBGResult result = wsi_cudbg_grid_by_id(s, at, gridId64, UINT64_MAX, &grid, &index);
	if (result == CUDBG_SUCCESS)
		result = wsi_cudbg_context_of(s, &grid, &context);
	if (result != CUDBG_SUCCESS)
		return result;
	CUDBGGridInfo info = {
		.dev = at->dev,
		.gridId64 = gridId64,
		.tid = grid.host_tid,
		.context = grid.context_id,
		.module = grid.module_handle,
		.function = grid.function,
		.functionEntry = grid.function_entry,
		.gridDim = wsi_dim3(grid.grid_dim),
		.blockDim = wsi_dim3(grid.block_dim),
		.type = (CUDBGKernelType)grid.type,
		.parentGridId = (uint64_t)grid.parent_id,
		.origin = (CUDBGKernelOrigin)grid.origin,
		.clusterDim = wsi_dim3(grid.cluster_dim),
		.preferredClusterDim = wsi_dim3(grid.preferred_cluster_dim),
	};
	*gridInfo = info;
	return CUDBG_SUCCESS;
}

/* Whether an id, under a mask, was given to a grid that the target lists no more. */
static bool was_given(const struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t id,
		      uint64_t id_mask)
{
	struct ws_counts counts;
	struct ws_context context;
	ws_target_counts(s->target, &counts);
	for (uint32_t i = 0; i < counts.contexts; i++)
		if (ws_target_context(s->target, i, &context, NULL) == WS_OK &&
		    context.device_index == at->device->index &&
		    ((id - context.first_grid) & id_mask) < context.n_grids)
			return true;
	return false;
}

/* A grid that is not listed has a status, too: it was once, or there is none. */
static CUDBGResult grid_status_of(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t id,
				  uint64_t id_mask, CUDBGGridStatus *status)
{
	struct ws_grid grid;
	uint32_t index;
	CUDBGResult result = wsi_cudbg_grid_by_id(s, at, id, id_mask, &grid, &index);
	if (result == CUDBG_ERROR_INVALID_GRID) {
		wsi_cudbg_clear_failure(s);
		*status = was_given(s, at, id, id_mask) ? CUDBG_GRID_STATUS_UNDETERMINED
							: CUDBG_GRID_STATUS_INVALID;
		return CUDBG_SUCCESS;
	}
	if (result == CUDBG_SUCCESS)
		*status = (CUDBGGridStatus)grid.status;
	return result;
}

CUDBGResult wsi_cudbg_getGridStatus(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t gridId64,
				    CUDBGGridStatus *status)
{
	return grid_status_of(s, at, gridId64, UINT64_MAX, status);
}

CUDBGResult wsi_cudbg_getGridStatus50(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t gridId,
				      CUDBGGridStatus *status)
{
	return grid_status_of(s, at, gridId, UINT32_MAX, status);
}

CUDBGResult wsi_cudbg_getClusterDim120(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				       uint64_t gridId64, CuDim3 *clusterDim)
{
	struct ws_grid grid;
	uint32_t index;
	CUDBGResult result = wsi_cudbg_grid_by_id(s, at, gridId64, UINT64_MAX, &grid, &index);
	if (result == CUDBG_SUCCESS)
		*clusterDim = wsi_dim3(grid.cluster_dim);
	return result;
}

CUDBGResult wsi_cudbg_readCPUCallStack(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				       uint64_t gridId64, uint64_t *addrs, uint32_t numAddrs,
				       uint32_t *totalNumAddrs)
{
	struct ws_grid grid;
	struct ws_error err;
	uint32_t index;
	if (!addrs && numAddrs)
		return wsi_cudbg_null(s, "addrs");
	CUDBGResult result = wsi_cudbg_grid_by_id(s, at, gridId64, UINT64_MAX, &grid, &index);
	if (result != CUDBG_SUCCESS)
		return result;
	enum ws_status st =
		ws_target_launch_stack(s->target, index, addrs, numAddrs, totalNumAddrs, &err);
	if (st == WS_UNSUPPORTED || st == WS_ABSENT || st == WS_EXCLUDED)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "no call stack of the launch was kept");
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_row_status(s, st, &err);
}

/* ---- constant banks ---- */

/* The range of a constant bank of a grid; MISSING_DATA when the target does not know it. */
static CUDBGResult find_bank(struct wsi_cudbg *s, uint32_t grid_index, uint32_t bank,
			     struct ws_memory_range *ret_range)
{
	struct ws_memory_range range;
	struct ws_error err;
	enum ws_status st;
	for (uint32_t i = ws_target_first_range(s->target, WS_SPACE_CONST, grid_index, 0);
	     (st = ws_target_memory_range(s->target, i, &range, &err)) == WS_OK; i++) {
		if (range.space != WS_SPACE_CONST || range.grid_index != grid_index)
			break;
		if (range.bank == bank) {
			*ret_range = range;
			return CUDBG_SUCCESS;
		}
	}
	if (st != WS_OK && st != WS_ABSENT && st != WS_UNSUPPORTED)
		return wsi_cudbg_row_status(s, st, &err);
	return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
			      "constant bank %u of the grid is not recorded", bank);
}

CUDBGResult wsi_cudbg_getConstBankAddress(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					  uint64_t gridId64, uint32_t bank, uint64_t *address,
					  uint32_t *size)
{
	struct ws_grid grid;
	struct ws_memory_range range;
	uint32_t index;
	CUDBGResult result = wsi_cudbg_grid_by_id(s, at, gridId64, UINT64_MAX, &grid, &index);
	if (result == CUDBG_SUCCESS)
		result = find_bank(s, index, bank, &range);
	if (result != CUDBG_SUCCESS)
		return result;
	*address = range.start;
	*size = (uint32_t)range.size;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getConstBankAddress123(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					     uint32_t bank, uint32_t offset, uint64_t *address)
{
	CUDBGResult result;
	struct ws_memory_range range;
	const struct ws_block *block = wsi_cudbg_block(s, at, &result);
	if (!block)
		return result;
	if (block->grid_index == WS_NONE)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_GRID, "grid %" PRId64 " is not known",
				      block->grid_id);
	result = find_bank(s, block->grid_index, bank, &range);
	if (result != CUDBG_SUCCESS)
		return result;
	if (offset >= range.size)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_MEMORY_ACCESS,
				      "bank %u has %" PRIu64 " bytes, offset %u is outside", bank,
				      range.size, offset);
	*address = range.start + offset;
	return CUDBG_SUCCESS;
}
