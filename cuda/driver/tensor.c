/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps for copies of tiles and of pixels: the agent encodes them, as its device reads them.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/sim.h>

enum { MAP_ALIGNMENT = 64, L2_256B = 3 };

/* False: of a type that the device does not copy. */
static bool tensor_type_of(int type, enum ws_sim_tensor_type *ret_type)
{
	static const enum ws_sim_tensor_type types[] = {
		WS_SIM_TENSOR_U8,  WS_SIM_TENSOR_U16,  WS_SIM_TENSOR_U32, WS_SIM_TENSOR_S32,
		WS_SIM_TENSOR_U64, WS_SIM_TENSOR_S64,  WS_SIM_TENSOR_F16, WS_SIM_TENSOR_F32,
		WS_SIM_TENSOR_F64, WS_SIM_TENSOR_BF16,
	};
	if (type < 0 || (size_t)type >= sizeof types / sizeof types[0])
		return false;
	*ret_type = types[type];
	return true;
}

static CUresult encode(const struct ws_sim_tensor *tensor, void *ret_map)
{
	uint64_t word[WIRE_WORDS] = { 0 };
	void *map = NULL;
	size_t n = 0;
	CUresult result = driver_call(WIRE_TENSOR_MAP, word, tensor, sizeof *tensor, -1, &map, &n);
	if (result == CUDA_SUCCESS && n == WS_SIM_TENSOR_MAP_BYTES)
		memcpy(ret_map, map, n);
	free(map);
	return result;
}

/* What both kinds of maps have: a tensor, and how copies go through it. */
static CUresult take_tensor(struct ws_sim_tensor *tensor, const void *ret_map, int type,
			    const uint64_t *dims, const uint64_t *strides,
			    const uint32_t *element_strides, int interleave, int l2_promotion,
			    int oob_fill)
{
	uint32_t n_dims = tensor->n_dims;
	if (!ret_map || (uintptr_t)ret_map % MAP_ALIGNMENT != 0 || !tensor->address || !dims ||
	    !element_strides || n_dims < 1 || n_dims > WS_SIM_TENSOR_DIMS ||
	    (n_dims > 1 && !strides) || l2_promotion < 0 || l2_promotion > L2_256B)
		return CUDA_ERROR_INVALID_VALUE;
	if (driver.device.limits.sm < 90 || interleave != 0 || oob_fill != 0 ||
	    (int)tensor->swizzle < 0 || tensor->swizzle > WS_SIM_SWIZZLE_128B ||
	    !tensor_type_of(type, &tensor->type))
		return CUDA_ERROR_NOT_SUPPORTED;
	for (uint32_t i = 0; i < n_dims; i++) {
		if (element_strides[i] == 0)
			return CUDA_ERROR_INVALID_VALUE;
		tensor->dims[i] = dims[i];
		tensor->element_strides[i] = element_strides[i];
		if (i > 0)
			tensor->strides[i - 1] = strides[i - 1];
	}
	return CUDA_SUCCESS;
}

CU_API(cuTensorMapEncodeTiled)
(void *ret_map, int type, uint32_t n_dims, void *address, const uint64_t *dims,
 const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides, int interleave,
 int swizzle, int l2_promotion, int oob_fill)
{
	struct ws_sim_tensor tensor = { .size = sizeof tensor,
					.address = (uintptr_t)address,
					.n_dims = n_dims,
					.swizzle = (enum ws_sim_tensor_swizzle)swizzle };
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS && !box)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = take_tensor(&tensor, ret_map, type, dims, strides, element_strides,
				     interleave, l2_promotion, oob_fill);
	if (result != CUDA_SUCCESS)
		DONE(result);
	memcpy(tensor.box, box, n_dims * sizeof *box);
	DONE(encode(&tensor, ret_map));
}

/* The manual calls the corners' offsets those of D, H and W; they are taken in the order of the
 * dimensions, W first, as CUTLASS gives them [guess]. */
CU_API(cuTensorMapEncodeIm2col)
(void *ret_map, int type, uint32_t n_dims, void *address, const uint64_t *dims,
 const uint64_t *strides, const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
 const uint32_t *element_strides, int interleave, int swizzle, int l2_promotion, int oob_fill)
{
	struct ws_sim_tensor tensor = { .size = sizeof tensor,
					.address = (uintptr_t)address,
					.n_dims = n_dims,
					.swizzle = (enum ws_sim_tensor_swizzle)swizzle,
					.im2col = true,
					.channels = channels,
					.pixels = pixels };
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS && (!lower || !upper || n_dims < 3))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = take_tensor(&tensor, ret_map, type, dims, strides, element_strides,
				     interleave, l2_promotion, oob_fill);
	if (result != CUDA_SUCCESS)
		DONE(result);
	memcpy(tensor.lower, lower, (n_dims - 2) * sizeof *lower);
	memcpy(tensor.upper, upper, (n_dims - 2) * sizeof *upper);
	DONE(encode(&tensor, ret_map));
}
