/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: memory that is reached by copies, textures and surfaces. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EXTENT = 1 << 17, MAX_LAYERS = 2048, FACES = 6 };
enum { ALL_FLAGS = CU_ARRAY_LAYERED | CU_ARRAY_SURFACE | CU_ARRAY_CUBE | CU_ARRAY_GATHER };

unsigned array_component(int format)
{
	switch (format) {
	case CU_FORMAT_U8:
	case CU_FORMAT_S8:
		return 1;
	case CU_FORMAT_U16:
	case CU_FORMAT_S16:
	case CU_FORMAT_HALF:
		return 2;
	case CU_FORMAT_U32:
	case CU_FORMAT_S32:
	case CU_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

/* What the extents of a description have to be. */
static CUresult check_array_extents(const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	bool is_layered = about->flags & CU_ARRAY_LAYERED, is_cube = about->flags & CU_ARRAY_CUBE;
	if (about->flags & ~(unsigned)ALL_FLAGS || array_component(about->format) == 0)
		return CUDA_ERROR_NOT_SUPPORTED; /* sparse, depth, colour; block and planar formats
						  */
	if (about->n_channels != 1 && about->n_channels != 2 && about->n_channels != 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (about->width == 0 || about->width > MAX_EXTENT || about->height > MAX_EXTENT ||
	    about->depth > MAX_EXTENT)
		return CUDA_ERROR_INVALID_VALUE;
	if (is_layered ? about->depth == 0 || about->depth > MAX_LAYERS
		       : about->depth > 0 && about->height == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (is_cube && (about->width != about->height || about->depth % FACES != 0 ||
			about->depth == 0 || (!is_layered && about->depth != FACES)))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult driver_array_create(CUarray *ret_array, const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	CUresult result = ret_array && about ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = check_array_extents(about);
	if (result != CUDA_SUCCESS)
		return result;
	struct array *array = calloc(1, sizeof *array);
	if (!array)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*array = (struct array){
		.magic = MAGIC_ARRAY,
		.about = *about,
		.row_bytes = about->width * array_component(about->format) * about->n_channels,
		.n_rows = about->height ? about->height : 1,
		.n_slices = about->depth ? about->depth : 1,
	};
	CUdeviceptr address;
	result =
		memory_allocate(&address, array->row_bytes * array->n_rows * array->n_slices, NULL);
	array->address = address;
	if (result == CUDA_SUCCESS)
		*ret_array = array;
	else
		free(array);
	return result;
}

CU_API(cuArray3DCreate_v2)(CUarray *ret_array, const CUDA_ARRAY3D_DESCRIPTOR *about)
{
	DONE(driver_array_create(ret_array, about));
}

CU_API(cuArrayCreate_v2)(CUarray *ret_array, const CUDA_ARRAY_DESCRIPTOR *about)
{
	if (!about)
		DONE(CUDA_ERROR_INVALID_VALUE);
	const CUDA_ARRAY3D_DESCRIPTOR full = { .width = about->width,
					       .height = about->height,
					       .format = about->format,
					       .n_channels = about->n_channels };
	DONE(driver_array_create(ret_array, &full));
}

CU_API(cuArrayDestroy)(CUarray array)
{
	if (!IS(array, MAGIC_ARRAY))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	CUresult result = memory_release(array->address);
	if (result == CUDA_SUCCESS) {
		array->magic = MAGIC_GONE;
		free(array);
	}
	DONE(result);
}

CU_API(cuArray3DGetDescriptor_v2)(CUDA_ARRAY3D_DESCRIPTOR *ret_about, CUarray array)
{
	if (!ret_about)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (!IS(array, MAGIC_ARRAY))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_about = array->about;
	DONE(CUDA_SUCCESS);
}

CU_API(cuArrayGetDescriptor_v2)(CUDA_ARRAY_DESCRIPTOR *ret_about, CUarray array)
{
	if (!ret_about)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (!IS(array, MAGIC_ARRAY))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_about = (CUDA_ARRAY_DESCRIPTOR){ array->about.width, array->about.height,
					      array->about.format, array->about.n_channels };
	DONE(CUDA_SUCCESS);
}
