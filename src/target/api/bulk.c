/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a whole device in one call: getDeviceInfo's buffer, walked once, SM by SM in their
 * order (src/cudbg/devinfo.c has the drawing). Sizes of structures and attributes are the
 * provider's, so that what a later version adds is skipped. An inconsistent buffer is not used;
 * single calls then answer.
 */
#include "target/api/api.h"

/* Takes `size` bytes, of which the first `n` go to `out`. */
static bool bulk_take(struct api_bulk *bulk, void *out, size_t n, uint32_t size)
{
	if (size > bulk->len - bulk->at || n > size)
		return false;
	if (n)
		memcpy(out, bulk->bytes + bulk->at, n);
	bulk->at += size;
	return true;
}

/* Takes the attributes of a flags word; those wanted go to `out[bit]`, which has `room[bit]` bytes.
 */
static bool take_attributes(struct api_bulk *bulk, uint32_t flags, const uint32_t *sizes,
			    void *const *out, const uint32_t *room, uint32_t n_wanted)
{
	for (uint32_t bit = 0; bit < 32; bit++) {
		bool wanted = bit < n_wanted && out[bit];
		if (flags >> bit & 1 &&
		    !bulk_take(bulk, wanted ? out[bit] : NULL,
			       wanted ? wsi_min_u64(room[bit], sizes[bit]) : 0, sizes[bit]))
			return false;
	}
	return true;
}

bool wsi_api_bulk_open(struct api_target *t, uint32_t dev, struct api_bulk *ret_bulk)
{
	struct api_bulk bulk = { .bytes = NULL };
	CUDBGDeviceInfo info;
	uint32_t length = 0;
	if (API_CALL(t, getDeviceInfoSizes, dev, &bulk.sizes) != CUDBG_SUCCESS ||
	    !bulk.sizes.requiredBufferSize)
		return false;
	bulk.bytes = wsi_zalloc(bulk.sizes.requiredBufferSize);
	void *masks[] = { NULL, bulk.active };
	const uint32_t room[] = { 0, sizeof bulk.active };
	bool good = bulk.bytes &&
		    API_CALL(t, getDeviceInfo, dev, CUDBG_RESPONSE_TYPE_FULL, bulk.bytes,
			     bulk.sizes.requiredBufferSize, &length) == CUDBG_SUCCESS &&
		    length <= bulk.sizes.requiredBufferSize;
	bulk.len = length;
	good = good && bulk_take(&bulk, &info, sizeof info, bulk.sizes.deviceInfoSize) &&
	       info.responseType == CUDBG_RESPONSE_TYPE_FULL &&
	       info.deviceAttributeFlags >> CUDBG_DEVICE_ATTRIBUTE_SM_ACTIVE_MASK & 1 &&
	       take_attributes(&bulk, info.deviceAttributeFlags,
			       bulk.sizes.deviceInfoAttributeSizes, masks, room, WSI_COUNT(room));
	if (!good) {
		wsi_free(bulk.bytes);
		return false;
	}
	*ret_bulk = bulk;
	return true;
}

void wsi_api_bulk_close(struct api_bulk *bulk)
{
	wsi_free(bulk->bytes);
	memset(bulk, 0, sizeof *bulk);
}

bool wsi_api_bulk_sm(struct api_bulk *bulk, uint32_t sm, uint64_t *ret_valid, uint64_t *ret_broken)
{
	CUDBGSMInfo info = { 0 };
	if (sm < CUDBG_MAX_SMS && bulk->active[sm / 64] >> sm % 64 & 1 &&
	    (!bulk_take(bulk, &info, sizeof info, bulk->sizes.smInfoSize) ||
	     !take_attributes(bulk, info.smAttributeFlags, bulk->sizes.smInfoAttributeSizes, NULL,
			      NULL, 0)))
		return false;
	*ret_valid = info.warpValidMask;
	*ret_broken = info.warpBrokenMask;
	return true;
}

/* Lanes are asked for when they are wanted: here they are passed over. */
static bool pass_lanes(struct api_bulk *bulk, const CUDBGWarpInfo *info)
{
	bool attributes = info->warpAttributeFlags >> CUDBG_WARP_ATTRIBUTE_LANE_ATTRIBUTES & 1;
	for (uint32_t ln = 0; ln < 32; ln++) {
		uint32_t flags = 0;
		if (!(info->validLanes >> ln & 1))
			continue;
		if (!bulk_take(bulk, NULL, 0, bulk->sizes.laneInfoSize))
			return false;
		if (attributes && (!bulk_take(bulk, &flags, sizeof flags, sizeof flags) ||
				   !take_attributes(bulk, flags, bulk->sizes.laneInfoAttributeSizes,
						    NULL, NULL, 0)))
			return false;
	}
	return true;
}

bool wsi_api_bulk_warp(struct api_bulk *bulk, struct api_warp_facts *ret_facts)
{
	CUDBGWarpInfo info;
	struct api_warp_facts facts = {
		.known = API_VALID | API_ACTIVE | API_GRID | API_BLOCK | API_ERROR_PC,
	};
	void *out[CUDBG_WARP_ATTRIBUTE_COUNT] = { NULL };
	uint32_t room[CUDBG_WARP_ATTRIBUTE_COUNT] = { 0 };
	out[CUDBG_WARP_ATTRIBUTE_ERRORPC] = &facts.error_pc;
	room[CUDBG_WARP_ATTRIBUTE_ERRORPC] = sizeof facts.error_pc;
	if (!bulk_take(bulk, &info, sizeof info, bulk->sizes.warpInfoSize) ||
	    !take_attributes(bulk, info.warpAttributeFlags, bulk->sizes.warpInfoAttributeSizes, out,
			     room, CUDBG_WARP_ATTRIBUTE_COUNT) ||
	    !pass_lanes(bulk, &info))
		return false;
	facts.valid_lanes = info.validLanes;
	facts.active_lanes = info.activeLanes;
	facts.grid = info.gridId;
	facts.block = info.blockIdx;
	facts.error_pc_valid = info.warpAttributeFlags >> CUDBG_WARP_ATTRIBUTE_ERRORPC & 1;
	*ret_facts = facts;
	return true;
}
