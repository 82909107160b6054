/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getDeviceInfo: the state of a whole device in one buffer, depth first.
 *
 *   CUDBGDeviceInfo, device attributes
 *     CUDBGSMInfo, SM attributes             for each SM that is updated and has a valid warp
 *       CUDBGWarpInfo, warp attributes       for each warp that is updated and valid
 *         CUDBGLaneInfo                      for each lane that is updated and valid
 *
 * Attributes stand in the order of their flag bits. A mask of SMs has whole 64-bit words. A full
 * response carries no update masks, which means that everything is updated. An update response has
 * the SMs and warps that changed since the last response; when nothing did, no SM.
 */
#include "cudbg-functions.h"

/* Bytes of a mask of SMs: whole words, at least one. */
static uint32_t mask_bytes(const struct wsi_device_row *device)
{
	uint32_t words = (device->n_sms + 63) / 64;
	return (words ? words : 1) * 8;
}

/* Bytes of a response with so many SMs, warps and lanes and all attributes. */
static uint64_t most_bytes(const CUDBGDeviceInfoSizes *sizes, uint64_t n_sms, uint64_t n_warps,
			   uint64_t n_lanes)
{
	uint64_t per_device = sizes->deviceInfoSize, per_warp = sizes->warpInfoSize;
	for (unsigned i = 0; i < CUDBG_DEVICE_ATTRIBUTE_COUNT; i++)
		per_device += sizes->deviceInfoAttributeSizes[i];
	for (unsigned i = 0; i < CUDBG_WARP_ATTRIBUTE_COUNT; i++)
		per_warp += sizes->warpInfoAttributeSizes[i];
	uint64_t per_sm = sizes->smInfoSize +
			  sizes->smInfoAttributeSizes[CUDBG_SM_ATTRIBUTE_WARP_UPDATE_MASK];
	return per_device + n_sms * per_sm + n_warps * per_warp + n_lanes * sizes->laneInfoSize;
}

/* What a response is about: warps of each SM. */
struct updates {
	bool full;
	uint64_t sms[CUDBG_MAX_SMS / 64]; /* where `warps` is not 0, or was made so */
	uint64_t warps[CUDBG_MAX_SMS];
};

static void find_updates(struct wsi_cudbg *s, const struct wsi_device_row *device, uint64_t told,
			 struct updates *ret)
{
	struct ws_change changes[WS_MAX_CHANGES];
	uint32_t n = 0;
	memset(ret, 0, sizeof *ret);
	ret->full = !told || !ws_target_changes(s->target, told - 1, changes, &n);
	for (uint32_t sm = 0; ret->full && sm < device->n_sms; sm++)
		ret->warps[sm] = device->sms[sm].valid;
	for (uint32_t i = 0; !ret->full && i < n; i++) {
		struct ws_sm sm;
		if (ws_target_sm(s->target, changes[i].sm_index, &sm, NULL) != WS_OK ||
		    sm.device_index != device->index || sm.id >= device->n_sms)
			continue;
		ret->sms[sm.id / 64] |= 1ull << sm.id % 64;
		ret->warps[sm.id] |= changes[i].warps & device->sms[sm.id].valid;
	}
}

/* Bytes that a response about these needs at most. */
static uint64_t update_bytes(const struct wsi_device_row *device, const CUDBGDeviceInfoSizes *sizes,
			     const struct updates *updates)
{
	uint64_t n_sms = 0, n_warps = 0;
	for (uint32_t sm = 0; sm < device->n_sms; sm++) {
		n_sms += updates->full ? device->sms[sm].valid != 0
				       : updates->sms[sm / 64] >> sm % 64 & 1;
		n_warps += (uint64_t)__builtin_popcountll(updates->warps[sm]);
	}
	return most_bytes(sizes, n_sms, n_warps, n_warps * device->n_lanes);
}

static void get_sizes(const struct wsi_device_row *device, CUDBGDeviceInfoSizes *sizes)
{
	memset(sizes, 0, sizeof *sizes);
	uint32_t mask = mask_bytes(device);
	sizes->deviceInfoSize = sizeof(CUDBGDeviceInfo);
	sizes->deviceInfoAttributeSizes[CUDBG_DEVICE_ATTRIBUTE_SM_UPDATE_MASK] = mask;
	sizes->deviceInfoAttributeSizes[CUDBG_DEVICE_ATTRIBUTE_SM_ACTIVE_MASK] = mask;
	sizes->deviceInfoAttributeSizes[CUDBG_DEVICE_ATTRIBUTE_SM_EXCEPTION_MASK] = mask;
	sizes->smInfoSize = sizeof(CUDBGSMInfo);
	sizes->smInfoAttributeSizes[CUDBG_SM_ATTRIBUTE_WARP_UPDATE_MASK] = sizeof(uint64_t);
	sizes->warpInfoSize = sizeof(CUDBGWarpInfo);
	uint32_t *warp = sizes->warpInfoAttributeSizes;
	warp[CUDBG_WARP_ATTRIBUTE_LANE_UPDATE_MASK] = sizeof(uint32_t);
	warp[CUDBG_WARP_ATTRIBUTE_LANE_ATTRIBUTES] = 0;
	warp[CUDBG_WARP_ATTRIBUTE_EXCEPTION] = sizeof(uint32_t);
	warp[CUDBG_WARP_ATTRIBUTE_ERRORPC] = sizeof(uint64_t);
	warp[CUDBG_WARP_ATTRIBUTE_CLUSTERIDX] = sizeof(CuDim3);
	warp[CUDBG_WARP_ATTRIBUTE_CLUSTERDIM] = sizeof(CuDim3);
	warp[CUDBG_WARP_ATTRIBUTE_CLUSTER_EXCEPTION_TARGET_BLOCK_IDX] = sizeof(CuDim3);
	warp[CUDBG_WARP_ATTRIBUTE_IN_SYSCALL_LANES] = sizeof(uint32_t);
	warp[CUDBG_WARP_ATTRIBUTE_HIT_BREAKPOINT_HANDLE] = sizeof(CUDBGBreakpointHandle);
	sizes->laneInfoSize = sizeof(CUDBGLaneInfo);
	/* At most 256 SMs of 64 warps of 32 lanes: far below 4 GiB. */
	sizes->requiredBufferSize = (uint32_t)most_bytes(
		sizes, device->n_sms, (uint64_t)device->n_sms * device->n_warps,
		(uint64_t)device->n_sms * device->n_warps * device->n_lanes);
}

CUDBGResult wsi_cudbg_getDeviceInfoSizes(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					 CUDBGDeviceInfoSizes *sizes)
{
	(void)s;
	get_sizes(at->device, sizes);
	return CUDBG_SUCCESS;
}

/* ---- writing the response ---- */

struct response {
	uint8_t *ptr;
	uint32_t used, size;
	bool full;
};

static void put_response(struct response *out, const void *bytes, uint32_t size)
{
	if (out->full || size > out->size - out->used) {
		out->full = true;
		return;
	}
	memcpy(out->ptr + out->used, bytes, size);
	out->used += size;
}

/* The index of lane 0, from the first lane that is there. */
static CuDim3 base_index(const struct ws_lane *lane, const struct ws_grid *grid)
{
	struct ws_dim3 dim = grid->block_dim;
	uint64_t x = dim.x ? dim.x : 1, y = dim.y ? dim.y : 1;
	uint64_t linear = lane->thread.x + lane->thread.y * x + lane->thread.z * x * y;
	linear = linear >= lane->id ? linear - lane->id : 0;
	return (CuDim3){ (uint32_t)(linear % x), (uint32_t)(linear / x % y),
			 (uint32_t)(linear / (x * y)) };
}

struct warp_facts {
	const struct ws_warp *warp;
	const struct ws_block *block;
	const struct ws_sm *sm;
	struct ws_lane lane[WS_MAX_LANES]; /* those that are valid, in order */
	uint32_t n_lanes, valid;
	struct ws_grid grid; /* zero when the block names none */
};

/* Attributes of a warp; with `out` NULL only their flags. */
static uint32_t put_warp_attributes(const struct wsi_cudbg_at *at, const struct warp_facts *facts,
				    struct response *out)
{
	uint32_t flags = 0, exception = CUDBG_EXCEPTION_NONE;
	const struct ws_warp *warp = facts->warp;
#define ATTRIBUTE(bit, condition, bytes, size)                      \
	do {                                                        \
		if (condition) {                                    \
			flags |= 1u << (bit);                       \
			if (out)                                    \
				put_response(out, (bytes), (size)); \
		}                                                   \
	} while (0)
	for (uint32_t i = 0; i < facts->n_lanes && exception == CUDBG_EXCEPTION_NONE; i++)
		exception = facts->lane[i].exception;
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_EXCEPTION, exception != CUDBG_EXCEPTION_NONE, &exception,
		  sizeof exception);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_ERRORPC, warp->error_pc_valid, &warp->error_pc,
		  sizeof warp->error_pc);
	struct ws_dim3 dim = facts->block->have & WS_BLOCK_CLUSTER_DIM ? facts->block->cluster_dim
								       : facts->grid.cluster_dim;
	bool clustered = dim.x && dim.y && dim.z;
	CuDim3 idx3 = wsi_dim3(facts->block->cluster_idx), dim3 = wsi_dim3(dim);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_CLUSTERIDX,
		  clustered && (facts->block->have & WS_BLOCK_CLUSTER_IDX), &idx3, sizeof idx3);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_CLUSTERDIM, clustered, &dim3, sizeof dim3);
	CuDim3 target = wsi_dim3(facts->sm->cluster_target);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_CLUSTER_EXCEPTION_TARGET_BLOCK_IDX,
		  facts->sm->cluster_target_valid && wsi_cudbg_is_cluster_exception(exception),
		  &target, sizeof target);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_IN_SYSCALL_LANES, warp->have & WS_WARP_CBU,
		  &warp->in_syscall_lanes, sizeof warp->in_syscall_lanes);
	ATTRIBUTE(CUDBG_WARP_ATTRIBUTE_HIT_BREAKPOINT_HANDLE, warp->broken, &at->slot->hit,
		  sizeof at->slot->hit);
#undef ATTRIBUTE
	return flags;
}

/*
 * Lanes of a warp that are valid and recorded, in order. One that is not recorded is not shown as
 * valid here: a lost lane must not cost the whole device.
 */
static CUDBGResult get_lanes(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
			     struct warp_facts *facts)
{
	struct ws_error err;
	uint32_t n = 0;
	facts->n_lanes = facts->valid = 0;
	enum ws_status st = ws_target_lanes(s->target, at->slot->warp_index, facts->lane, &n, &err);
	if (st != WS_OK && st != WS_ABSENT && st != WS_TRUNCATED)
		return wsi_cudbg_row_status(s, st, &err);
	for (uint32_t i = 0; st == WS_OK && i < n; i++) {
		uint32_t id = facts->lane[i].id;
		if (id >= at->device->n_lanes || !(at->slot->valid >> id & 1))
			continue;
		facts->valid |= 1u << id;
		if (facts->n_lanes != i)
			facts->lane[facts->n_lanes] = facts->lane[i];
		facts->n_lanes++;
	}
	return CUDBG_SUCCESS;
}

static CUDBGResult put_warp(struct wsi_cudbg *s, struct wsi_cudbg_at *at, const struct ws_sm *sm,
			    struct warp_facts *facts, struct response *out)
{
	CUDBGResult result;
	facts->sm = sm;
	facts->block = wsi_cudbg_block(s, at, &result);
	facts->warp = facts->block ? wsi_cudbg_warp(s, at, &result) : NULL;
	if (!facts->warp)
		return result;
	result = get_lanes(s, at, facts);
	if (result != CUDBG_SUCCESS)
		return result;
	memset(&facts->grid, 0, sizeof facts->grid);
	if (facts->block->grid_index != WS_NONE) {
		result = wsi_cudbg_grid_of(s, at, &facts->grid);
		if (result != CUDBG_SUCCESS)
			return result;
	}
	CUDBGWarpInfo info = {
		.gridId = (uint64_t)facts->block->grid_id,
		.blockIdx = wsi_dim3(facts->block->idx),
		.validLanes = facts->valid,
		.activeLanes = at->slot->active,
		.warpAttributeFlags = put_warp_attributes(at, facts, NULL),
	};
	if (facts->n_lanes)
		info.baseThreadIdx = base_index(&facts->lane[0], &facts->grid);
	put_response(out, &info, sizeof info);
	(void)put_warp_attributes(at, facts, out);
	for (uint32_t i = 0; i < facts->n_lanes; i++) {
		const CUDBGLaneInfo lane = { facts->lane[i].pc };
		put_response(out, &lane, sizeof lane);
	}
	return CUDBG_SUCCESS;
}

static CUDBGResult put_sm(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
			  const struct updates *updates, struct warp_facts *facts,
			  struct response *out)
{
	struct ws_sm sm;
	struct ws_error err;
	enum ws_status st = ws_target_sm(s->target, at->row->sm_index, &sm, &err);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	if (at->row->broken_unknown)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "the target does not tell which warps are stopped");
	uint64_t warps = updates->warps[at->sm];
	const CUDBGSMInfo info = { at->row->valid, at->row->broken,
				   updates->full ? 0 : 1u << CUDBG_SM_ATTRIBUTE_WARP_UPDATE_MASK };
	put_response(out, &info, sizeof info);
	if (!updates->full)
		put_response(out, &warps, sizeof warps);
	for (uint32_t wp = 0; wp < at->device->n_warps; wp++) {
		if (!(warps >> wp & 1))
			continue;
		at->wp = wp;
		at->slot = &at->row->slot[wp];
		CUDBGResult result = put_warp(s, at, &sm, facts, out);
		if (result != CUDBG_SUCCESS)
			return result;
	}
	return CUDBG_SUCCESS;
}

static CUDBGResult put_device(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
			      const struct updates *updates, struct response *out)
{
	const struct wsi_faults *faults = wsi_cudbg_faults(s, at->device);
	if (!faults)
		return CUDBG_ERROR_INTERNAL;
	uint64_t active[CUDBG_MAX_SMS / 64] = { 0 };
	uint64_t faulted[CUDBG_MAX_SMS / 64], any = 0;
	for (uint32_t sm = 0; sm < at->device->n_sms; sm++)
		if (at->device->sms[sm].valid)
			active[sm / 64] |= 1ull << sm % 64;
	for (unsigned i = 0; i < WSI_COUNT(faulted); i++)
		any |= faulted[i] = wsi_cudbg_fault_word(s, faults, i);
	uint32_t mask = mask_bytes(at->device);
	const CUDBGDeviceInfo info = {
		updates->full ? CUDBG_RESPONSE_TYPE_FULL : CUDBG_RESPONSE_TYPE_UPDATE,
		(updates->full ? 0 : 1u << CUDBG_DEVICE_ATTRIBUTE_SM_UPDATE_MASK) |
			1u << CUDBG_DEVICE_ATTRIBUTE_SM_ACTIVE_MASK |
			(any ? 1u << CUDBG_DEVICE_ATTRIBUTE_SM_EXCEPTION_MASK : 0),
	};
	put_response(out, &info, sizeof info);
	if (!updates->full)
		put_response(out, updates->sms, mask);
	put_response(out, active, mask);
	if (any)
		put_response(out, faulted, mask);
	struct warp_facts facts;
	for (uint32_t sm = 0; sm < at->device->n_sms; sm++) {
		if (!at->device->sms[sm].valid ||
		    (!updates->full && !(updates->sms[sm / 64] >> sm % 64 & 1)))
			continue;
		at->sm = sm;
		at->row = &at->device->sms[sm];
		CUDBGResult result = put_sm(s, at, updates, &facts, out);
		if (result != CUDBG_SUCCESS)
			return result;
	}
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getDeviceInfo(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				    CUDBGDeviceInfoQueryType_t type, void *buffer, uint32_t length,
				    uint32_t *dataLength)
{
	if (type != CUDBG_RESPONSE_TYPE_FULL && type != CUDBG_RESPONSE_TYPE_UPDATE)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is no request type %u",
				      (unsigned)type);
	CUDBGDeviceInfoSizes sizes;
	get_sizes(at->device, &sizes);
	struct updates updates;
	find_updates(s, at->device,
		     type == CUDBG_RESPONSE_TYPE_FULL ? 0 : atomic_load(&at->device->told),
		     &updates);
	/* Written aside, so that a failure leaves the buffer alone. */
	uint32_t size = (uint32_t)wsi_min_u64(length, update_bytes(at->device, &sizes, &updates));
	wsi_scoped_free uint8_t *aside = wsi_zalloc((size_t)size + 1);
	if (!aside)
		return wsi_cudbg_status(s, WS_NO_MEMORY, NULL);
	struct response out = { .ptr = aside, .size = size };
	CUDBGResult result = put_device(s, at, &updates, &out);
	if (result != CUDBG_SUCCESS)
		return result;
	if (out.full)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "the response needs more than %u bytes, at most %u", length,
				      sizes.requiredBufferSize);
	memcpy(buffer, aside, out.used);
	*dataLength = out.used;
	atomic_store(&at->device->told, s->generation + 1);
	return CUDBG_SUCCESS;
}
