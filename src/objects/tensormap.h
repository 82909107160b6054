/* SPDX-License-Identifier: Apache-2.0 */
/* The 128 bytes of a tensor map (CUtensorMap), as far as their layout is known. */
#ifndef WSI_OBJECTS_TENSORMAP_H
#define WSI_OBJECTS_TENSORMAP_H

#include <warpscope/base.h>

enum {
	WSI_TENSOR_MAP_BYTES = 128,
	WSI_TENSOR_MAP_RANK = 5,
};

/* The fields that tensormap.replace can set; those past `rank` mean nothing. */
struct wsi_tensor_map {
	uint64_t address;    /* of the tensor in global memory */
	uint32_t rank;       /* 1 to 8; more than 5 is wrong */
	uint32_t element;    /* PTX's number of the type; WSI_ELEMENT_UNKNOWN */
	uint32_t interleave; /* 0 none, 1 16 bytes, 2 32 bytes; 3 is wrong */
	uint32_t swizzle;    /* 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes */
	bool other_swizzle;  /* a later kind of swizzle, of 96 bytes or by other atoms */
	bool fills_nan;      /* what lies outside is filled with a NaN, not with zeros */
	uint64_t stride[WSI_TENSOR_MAP_RANK - 1]; /* bytes, of dimensions 1 and up */
	uint64_t dim[WSI_TENSOR_MAP_RANK];        /* elements */
	uint32_t box[WSI_TENSOR_MAP_RANK];        /* elements */
	uint32_t step[WSI_TENSOR_MAP_RANK];       /* traversal strides, elements */
	bool all_zero;
	/* Where hardware has what is for im2col is not known: these places are ours. */
	bool im2col;
	int32_t lower[WSI_TENSOR_MAP_RANK - 2], upper[WSI_TENSOR_MAP_RANK - 2];
	uint32_t channels, pixels;
};

void wsi_tensor_map_decode(const uint8_t bytes[WSI_TENSOR_MAP_BYTES],
			   struct wsi_tensor_map *ret_map);
/* The opposite, for elements up to bf16; bits that are in no field are 0. */
void wsi_tensor_map_encode(const struct wsi_tensor_map *map,
			   uint8_t ret_bytes[WSI_TENSOR_MAP_BYTES]);
/* "f16"; NULL for a type that is not known. Static storage. */
const char *wsi_tensor_map_element(const struct wsi_tensor_map *map);
/* Bytes of an element; 0: not known. */
uint32_t wsi_tensor_map_element_bytes(const struct wsi_tensor_map *map);

#endif
