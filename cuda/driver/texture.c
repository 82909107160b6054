/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects over arrays and memory. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/sim.h>

/* Objects of the device live as long as it does: one that the program has destroyed is used again
 * for the next that is the same. */
struct object {
	struct object *next;
	uint64_t handle;
	bool is_surface, is_alive;
	struct ws_sim_texture made; /* of a surface, only its image */
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects; /* owned */

/* ---- images ---- */

static bool texel_of(int format, enum ws_sim_texel *ret_texel)
{
	static const struct {
		int format;
		enum ws_sim_texel texel;
	} texels[] = {
		{ CU_FORMAT_U8, WS_SIM_TEXEL_U8 },    { CU_FORMAT_U16, WS_SIM_TEXEL_U16 },
		{ CU_FORMAT_U32, WS_SIM_TEXEL_U32 },  { CU_FORMAT_S8, WS_SIM_TEXEL_S8 },
		{ CU_FORMAT_S16, WS_SIM_TEXEL_S16 },  { CU_FORMAT_S32, WS_SIM_TEXEL_S32 },
		{ CU_FORMAT_HALF, WS_SIM_TEXEL_F16 }, { CU_FORMAT_FLOAT, WS_SIM_TEXEL_F32 },
	};
	for (size_t i = 0; i < sizeof texels / sizeof texels[0]; i++)
		if (texels[i].format == format) {
			*ret_texel = texels[i].texel;
			return true;
		}
	return false;
}

static CUresult image_of_array(const struct array *array, struct ws_sim_image *ret_image)
{
	if (!IS(array, MAGIC_ARRAY))
		return CUDA_ERROR_INVALID_HANDLE;
	const CUDA_ARRAY3D_DESCRIPTOR *about = &array->about;
	bool is_layered = about->flags & CU_ARRAY_LAYERED, is_cube = about->flags & CU_ARRAY_CUBE;
	*ret_image = (struct ws_sim_image){
		.address = array->address,
		.n_components = about->n_channels,
		.width = (uint32_t)about->width,
		.height = (uint32_t)about->height,
		.depth = is_layered || is_cube ? 0 : (uint32_t)about->depth,
		.n_layers = !is_layered ? 0 : (uint32_t)about->depth / (is_cube ? 6 : 1),
	};
	if (is_cube)
		ret_image->shape = is_layered ? WS_SIM_IMAGE_CUBE_LAYERED : WS_SIM_IMAGE_CUBE;
	else if (is_layered)
		ret_image->shape =
			about->height ? WS_SIM_IMAGE_2D_LAYERED : WS_SIM_IMAGE_1D_LAYERED;
	else
		ret_image->shape = about->depth    ? WS_SIM_IMAGE_3D
				   : about->height ? WS_SIM_IMAGE_2D
						   : WS_SIM_IMAGE_1D;
	return texel_of(about->format, &ret_image->texel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult image_of_memory(const CUDA_RESOURCE_DESC *resource, struct ws_sim_image *ret_image)
{
	bool is_plane = resource->type == CU_RESOURCE_PITCH2D;
	/* both begin alike */
	size_t texel = (size_t)array_component(resource->res.linear.format) *
		       resource->res.linear.n_channels;
	*ret_image = (struct ws_sim_image){
		.address = resource->res.linear.address,
		.shape = is_plane ? WS_SIM_IMAGE_2D : WS_SIM_IMAGE_1D,
		.n_components = resource->res.linear.n_channels,
	};
	if (!texel_of(resource->res.linear.format, &ret_image->texel) || texel == 0)
		return CUDA_ERROR_INVALID_VALUE;
	size_t width = is_plane ? resource->res.plane.width : resource->res.linear.n_bytes / texel;
	size_t height = is_plane ? resource->res.plane.height : 0;
	if (width > UINT32_MAX || height > UINT32_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	ret_image->width = (uint32_t)width;
	ret_image->height = (uint32_t)height;
	ret_image->row_bytes = is_plane ? resource->res.plane.pitch : 0;
	return CUDA_SUCCESS;
}

static CUresult image_of(const CUDA_RESOURCE_DESC *resource, struct ws_sim_image *ret_image)
{
	switch (resource->type) {
	case CU_RESOURCE_ARRAY:
		return image_of_array(resource->res.array, ret_image);
	case CU_RESOURCE_LINEAR:
	case CU_RESOURCE_PITCH2D:
		return image_of_memory(resource, ret_image);
	case CU_RESOURCE_MIPMAPPED:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ---- objects ---- */

/* How an image is read. */
static CUresult sampler_of(const CUDA_TEXTURE_DESC *texture, struct ws_sim_texture *made)
{
	if (texture->flags & CU_TEXTURE_SRGB)
		return CUDA_ERROR_NOT_SUPPORTED;
	bool is_small = made->image.texel <= WS_SIM_TEXEL_S16;
	made->as_float = is_small && !(texture->flags & CU_TEXTURE_AS_INTEGER);
	made->normalized = texture->flags & CU_TEXTURE_NORMALIZED;
	made->linear = texture->filter == CU_FILTER_LINEAR;
	for (unsigned i = 0; i < 3; i++) /* the numbers are the same */
		made->mode[i] = (enum ws_sim_address_mode)texture->mode[i];
	if (made->as_float || made->image.texel >= WS_SIM_TEXEL_F16)
		memcpy(made->border, texture->border, sizeof made->border);
	return CUDA_SUCCESS;
}

/* Under lock: what the device made, or one that is the same and free. */
static CUresult texture_make(struct object *object, uint64_t *ret_handle)
{
	uint64_t word[WIRE_WORDS] = { object->is_surface };
	for (struct object *old = objects; old; old = old->next)
		if (!old->is_alive && old->is_surface == object->is_surface &&
		    memcmp(&old->made, &object->made, sizeof old->made) == 0) {
			old->resource = object->resource;
			old->texture = object->texture;
			old->is_alive = true;
			*ret_handle = old->handle;
			return CUDA_SUCCESS;
		}
	struct object *kept = malloc(sizeof *kept);
	CUresult result = kept ? driver_call(WIRE_TEXTURE, word, &object->made, sizeof object->made,
					     -1, NULL, NULL)
			       : CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS) {
		free(kept);
		return result;
	}
	*kept = *object;
	kept->handle = *ret_handle = word[0];
	kept->is_alive = true;
	kept->next = objects;
	objects = kept;
	return CUDA_SUCCESS;
}

static CUresult texture_create(uint64_t *ret_handle, const CUDA_RESOURCE_DESC *resource,
			       const CUDA_TEXTURE_DESC *texture)
{
	struct object object;
	CUresult result = ret_handle && resource ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	memset(&object, 0, sizeof object); /* its bytes are compared */
	if (result == CUDA_SUCCESS)
		result = image_of(resource, &object.made.image);
	if (result == CUDA_SUCCESS && texture) {
		object.texture = *texture;
		result = sampler_of(texture, &object.made);
	}
	if (result != CUDA_SUCCESS)
		return result;
	object.made.size = sizeof object.made;
	object.is_surface = !texture;
	object.resource = *resource;
	pthread_mutex_lock(&lock);
	result = texture_make(&object, ret_handle);
	pthread_mutex_unlock(&lock);
	return result;
}

/* Under lock. */
static struct object *texture_find(uint64_t handle, bool is_surface)
{
	for (struct object *o = objects; o; o = o->next)
		if (o->handle == handle && o->is_surface == is_surface && o->is_alive)
			return o;
	return NULL;
}

static CUresult destroy(uint64_t handle, bool is_surface)
{
	CUresult result = queue_drain();
	pthread_mutex_lock(&lock);
	struct object *object = texture_find(handle, is_surface);
	if (object)
		object->is_alive = false;
	else
		result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_unlock(&lock);
	return result;
}

/* What the program said of an object; NULL: that is not asked for. */
static CUresult describe(uint64_t handle, bool is_surface, CUDA_RESOURCE_DESC *ret_resource,
			 CUDA_TEXTURE_DESC *ret_texture)
{
	if (!ret_resource && !ret_texture)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	const struct object *object = texture_find(handle, is_surface);
	if (object && ret_resource)
		*ret_resource = object->resource;
	if (object && ret_texture)
		*ret_texture = object->texture;
	pthread_mutex_unlock(&lock);
	return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void objects_forget(void)
{
	pthread_mutex_lock(&lock);
	while (objects) {
		struct object *next = objects->next;
		free(objects);
		objects = next;
	}
	pthread_mutex_unlock(&lock);
}

CU_API(cuTexObjectCreate)
(unsigned long long *ret_handle, const CUDA_RESOURCE_DESC *resource,
 const CUDA_TEXTURE_DESC *texture, const void *view)
{
	if (view)
		DONE(CUDA_ERROR_NOT_SUPPORTED);
	uint64_t handle = 0;
	CUresult result = ret_handle && texture ? texture_create(&handle, resource, texture)
						: CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_handle = handle;
	DONE(result);
}

CU_API(cuTexObjectDestroy)(unsigned long long handle)
{
	DONE(destroy(handle, false));
}

CU_API(cuTexObjectGetResourceDesc)(CUDA_RESOURCE_DESC *ret_resource, unsigned long long handle)
{
	DONE(describe(handle, false, ret_resource, NULL));
}

CU_API(cuTexObjectGetTextureDesc)(CUDA_TEXTURE_DESC *ret_texture, unsigned long long handle)
{
	DONE(describe(handle, false, NULL, ret_texture));
}

CU_API(cuSurfObjectCreate)(unsigned long long *ret_handle, const CUDA_RESOURCE_DESC *resource)
{
	uint64_t handle = 0;
	bool is_array = resource && resource->type == CU_RESOURCE_ARRAY;
	CUresult result = ret_handle && is_array ? texture_create(&handle, resource, NULL)
						 : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*ret_handle = handle;
	DONE(result);
}

CU_API(cuSurfObjectDestroy)(unsigned long long handle)
{
	DONE(destroy(handle, true));
}

CU_API(cuSurfObjectGetResourceDesc)(CUDA_RESOURCE_DESC *ret_resource, unsigned long long handle)
{
	DONE(describe(handle, true, ret_resource, NULL));
}
