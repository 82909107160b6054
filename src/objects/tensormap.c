/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA calls a tensor map opaque. What is read here are the fields that PTX's tensormap.replace
 * sets, at the places where the compiler's code for it sets them:
 *
 *   bytes 0 to 7     address
 *   word at 8        bits 4 to 6 rank - 1, 7 to 10 element type, 11 to 12 interleave, 13 to 14
 *                    swizzle, 15 fill, 16 TF32, 19 to 22 another kind of swizzle
 *   words at 12 + 4i lower 32 bits of stride i / 16, i from 0 to 3
 *   word at 28       bits 4i to 4i + 3: its upper 4 bits
 *   words at 32 + 4i size of dimension i - 1, i from 0 to 4
 *   word at 52       bits 3i to 3i + 2 traversal stride i - 1; bits 24 to 31 box 0 - 1
 *   bytes 56 + i     box i + 1 - 1, i from 0 to 3
 *
 * and of maps for im2col, ours:
 *
 *   word at 64       1
 *   16 bits at 68 + 2i, 74 + 2i  lower and upper corner, i from 0 to 2
 *   16 bits at 80, 82            channels, pixels
 *
 * [measured: ptxas 13.0, tensormap.replace of each field, sm_90a, sm_100a and sm_120a: they agree].
 * What cuTensorMapEncodeTiled writes was not measured; a public emulator (semu, tests of its tensor
 * maps) has the same places for it.
 */
#include "objects/tensormap.h"

#include "base/reader.h"

enum { TF32 = 11, F32 = 7 };

void wsi_tensor_map_decode(const uint8_t bytes[WSI_TENSOR_MAP_BYTES],
			   struct wsi_tensor_map *ret_map)
{
	struct wsi_tensor_map map = { .all_zero = true };
	for (size_t i = 0; i < WSI_TENSOR_MAP_BYTES; i++)
		map.all_zero &= bytes[i] == 0;
	uint32_t word = wsi_load_u32(bytes + 8), high = wsi_load_u32(bytes + 28);
	uint32_t steps = wsi_load_u32(bytes + 52);
	map.address = wsi_load_u64(bytes);
	map.rank = (word >> 4 & 7) + 1;
	map.element = word >> 7 & 15;
	if (word >> 16 & 1) /* TF32, rounded and not, are F32 with a mark */
		map.element = map.element - F32 + TF32;
	map.interleave = word >> 11 & 3;
	map.swizzle = word >> 13 & 3;
	map.fills_nan = word >> 15 & 1;
	map.other_swizzle = word >> 19 & 15;
	for (size_t i = 0; i < WSI_TENSOR_MAP_RANK; i++) {
		map.dim[i] = (uint64_t)wsi_load_u32(bytes + 32 + 4 * i) + 1;
		map.step[i] = (steps >> 3 * i & 7) + 1;
		map.box[i] = (i ? bytes[55 + i] : steps >> 24) + 1u;
	}
	for (size_t i = 0; i < WSI_TENSOR_MAP_RANK - 1; i++)
		map.stride[i] =
			((uint64_t)(high >> 4 * i & 15) << 32 | wsi_load_u32(bytes + 12 + 4 * i))
			<< 4;
	map.im2col = wsi_load_u32(bytes + 64) == 1;
	for (size_t i = 0; i < WSI_TENSOR_MAP_RANK - 2 && map.im2col; i++) {
		map.lower[i] = (int16_t)wsi_load_u16(bytes + 68 + 2 * i);
		map.upper[i] = (int16_t)wsi_load_u16(bytes + 74 + 2 * i);
	}
	if (map.im2col) {
		map.channels = wsi_load_u16(bytes + 80);
		map.pixels = wsi_load_u16(bytes + 82);
	}
	*ret_map = map;
}

void wsi_tensor_map_encode(const struct wsi_tensor_map *map,
			   uint8_t ret_bytes[WSI_TENSOR_MAP_BYTES])
{
	uint32_t high = 0, steps = (map->box[0] - 1) << 24, boxes = 0;
	memset(ret_bytes, 0, WSI_TENSOR_MAP_BYTES);
	wsi_store_u64(ret_bytes, map->address);
	wsi_store_u32(ret_bytes + 8, (map->rank - 1) << 4 | map->element << 7 |
					     map->interleave << 11 | map->swizzle << 13 |
					     (uint32_t)map->fills_nan << 15);
	for (uint32_t i = 0; i < map->rank; i++) {
		wsi_store_u32(ret_bytes + 32 + 4 * i, (uint32_t)(map->dim[i] - 1));
		steps |= (map->step[i] - 1) << 3 * i;
		if (i == 0)
			continue;
		uint64_t stride = map->stride[i - 1] >> 4;
		wsi_store_u32(ret_bytes + 8 + 4 * i, (uint32_t)stride);
		high |= (uint32_t)(stride >> 32) << 4 * (i - 1);
		boxes |= (map->box[i] - 1) << 8 * (i - 1);
	}
	wsi_store_u32(ret_bytes + 28, high);
	wsi_store_u32(ret_bytes + 52, steps);
	wsi_store_u32(ret_bytes + 56, boxes);
	if (!map->im2col)
		return;
	wsi_store_u32(ret_bytes + 64, 1);
	for (uint32_t i = 0; i < WSI_TENSOR_MAP_RANK - 2; i++) {
		wsi_store_u16(ret_bytes + 68 + 2 * i, (uint16_t)map->lower[i]);
		wsi_store_u16(ret_bytes + 74 + 2 * i, (uint16_t)map->upper[i]);
	}
	wsi_store_u16(ret_bytes + 80, (uint16_t)map->channels);
	wsi_store_u16(ret_bytes + 82, (uint16_t)map->pixels);
}

/* In the order of PTX's numbers [public doc: PTX ISA 8.7, tensormap.replace]. */
static const struct {
	const char *name;
	uint8_t bytes;
} elements[] = {
	{ "u8", 1 },   { "u16", 2 },  { "u32", 4 },      { "s32", 4 },     { "u64", 8 },
	{ "s64", 8 },  { "f16", 2 },  { "f32", 4 },      { "f32.ftz", 4 }, { "f64", 8 },
	{ "bf16", 2 }, { "tf32", 4 }, { "tf32.ftz", 4 },
};

const char *wsi_tensor_map_element(const struct wsi_tensor_map *map)
{
	return map->element < WSI_COUNT(elements) ? elements[map->element].name : NULL;
}

uint32_t wsi_tensor_map_element_bytes(const struct wsi_tensor_map *map)
{
	return map->element < WSI_COUNT(elements) ? elements[map->element].bytes : 0;
}
