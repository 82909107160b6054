/* SPDX-License-Identifier: Apache-2.0 */
/* See texture.h: objects are made and found. */
#include "sim/exec/texture.h"

enum { MAX_EXTENT = 1 << 27, MAX_LAYERS = 2048, MAX_OBJECTS = 1 << 20, FACES = 6 };

static enum ws_status invalid(struct ws_error *err, const char *why)
{
	return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "%s", why);
}

/* ---- making them ---- */

static const struct {
	uint8_t n_axes;
	bool is_layered, has_faces;
} shapes[] = {
	[WS_SIM_IMAGE_1D] = { 1, false, false },
	[WS_SIM_IMAGE_2D] = { 2, false, false },
	[WS_SIM_IMAGE_3D] = { 3, false, false },
	[WS_SIM_IMAGE_1D_LAYERED] = { 1, true, false },
	[WS_SIM_IMAGE_2D_LAYERED] = { 2, true, false },
	[WS_SIM_IMAGE_CUBE] = { 2, false, true },
	[WS_SIM_IMAGE_CUBE_LAYERED] = { 2, true, true },
};

/* Extents and the numbers that follow from them. */
static enum ws_status take_texture_shape(struct wsi_object *object, struct ws_error *err)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 4, 2, 4 };
	struct ws_sim_image *image = &object->of.image;
	uint32_t given[WSI_TEXTURE_AXES] = { image->width, image->height, image->depth };
	uint32_t n = image->n_components;
	if ((unsigned)image->shape >= WSI_COUNT(shapes) ||
	    (unsigned)image->texel >= WSI_COUNT(bytes))
		return invalid(err, "no such shape or type of texels");
	if (n != 1 && n != 2 && n != WSI_COMPONENTS)
		return invalid(err, "texels have 1, 2 or 4 components");
	bool is_layered = shapes[image->shape].is_layered;
	object->component = bytes[image->texel];
	object->texel = object->component * n;
	object->n_axes = shapes[image->shape].n_axes;
	for (unsigned i = 0; i < WSI_TEXTURE_AXES; i++) {
		bool has = i < object->n_axes;
		if (has ? given[i] == 0 || given[i] > MAX_EXTENT : given[i] != 0)
			return invalid(err, "width, height or depth do not fit the shape");
		object->extent[i] = has ? given[i] : 1;
	}
	if (is_layered ? image->n_layers == 0 || image->n_layers > MAX_LAYERS
		       : image->n_layers != 0)
		return invalid(err, "layers do not fit the shape");
	if (shapes[image->shape].has_faces && image->width != image->height)
		return invalid(err, "faces of a cube are squares");
	object->n_slices = object->extent[2] * (is_layered ? image->n_layers : 1) *
			   (shapes[image->shape].has_faces ? FACES : 1);
	return WS_OK;
}

/* So many pieces of `bytes` with `step` bytes from one to the next: how many bytes in all, if they
 * are not more than there are, and do not overlap. */
static bool spread_texture(uint64_t bytes, uint64_t step, uint32_t n, uint64_t room,
			   uint64_t *ret_bytes)
{
	if (bytes > step || bytes > room || (n > 1 && step > (room - bytes) / (n - 1)))
		return false;
	*ret_bytes = bytes + step * (n - 1);
	return true;
}

/* Where rows and slices are. */
static enum ws_status take_memory(struct ws_sim *sim, struct wsi_object *object,
				  struct ws_error *err)
{
	struct ws_sim_image *image = &object->of.image;
	uint64_t row = (uint64_t)object->extent[0] * object->texel, slice, all;
	if (image->row_bytes == 0)
		image->row_bytes = row;
	if (image->slice_bytes == 0)
		image->slice_bytes = image->row_bytes * object->extent[1];
	if (image->address % object->texel != 0 || image->row_bytes % object->texel != 0 ||
	    image->slice_bytes % object->texel != 0)
		return invalid(err, "the address or the bytes between rows or slices are no "
				    "multiple of a texel's");
	const struct wsi_region *region = wsi_memory_find(&sim->memory, image->address);
	uint64_t room = region ? region->size - (image->address - region->start) : 0;
	if (!spread_texture(row, image->row_bytes, object->extent[1], room, &slice) ||
	    !spread_texture(slice, image->slice_bytes, object->n_slices, room, &all))
		return invalid(err, "rows or slices overlap, or are not all in one allocation");
	return WS_OK;
}

static enum ws_status take_sampler(struct wsi_object *object, struct ws_error *err)
{
	const struct ws_sim_texture *texture = &object->of;
	bool has_border = false, is_real = texture->image.texel >= WS_SIM_TEXEL_F16;
	if (texture->as_float && !is_real && object->component > 2)
		return invalid(err, "integers of 32 bits cannot be read as floating point");
	object->is_float = is_real || texture->as_float;
	for (unsigned i = 0; i < WSI_COMPONENTS; i++)
		has_border |= texture->border[i] != 0;
	if (!object->is_float && (texture->linear || has_border))
		return invalid(err, "a linear filter or a border needs floating point");
	for (unsigned i = 0; i < WSI_TEXTURE_AXES; i++)
		if ((unsigned)texture->mode[i] > WS_SIM_ADDRESS_BORDER)
			return invalid(err, "no such address mode");
	return WS_OK;
}

static enum ws_status texture_object_add(struct ws_sim *sim, struct wsi_object *object,
					 uint64_t *ret_handle, struct ws_error *err)
{
	enum ws_status st = take_texture_shape(object, err);
	if (st == WS_OK)
		st = take_memory(sim, object, err);
	if (st == WS_OK)
		st = take_sampler(object, err);
	if (st != WS_OK)
		return st;
	if (!wsi_account_fix(&sim->account, "a texture or surface", sizeof *sim->objects))
		return wsi_account_fail(&sim->account, err);
	if (!wsi_grow(&sim->objects, &sim->cap_objects, sim->n_objects, sizeof *sim->objects,
		      MAX_OBJECTS - 1))
		return wsi_cuda_no_memory(err);
	sim->objects[sim->n_objects++] = *object;
	*ret_handle = sim->n_objects;
	return WS_OK;
}

enum ws_status ws_sim_texture(struct ws_sim *sim, const struct ws_sim_texture *texture,
			      uint64_t *ret_handle, struct ws_error *err)
{
	struct wsi_object object = { .of = *texture };
	if (texture->size != sizeof *texture)
		return invalid(err, "the texture is not filled in");
	return texture_object_add(sim, &object, ret_handle, err);
}

enum ws_status ws_sim_surface(struct ws_sim *sim, const struct ws_sim_image *image,
			      uint64_t *ret_handle, struct ws_error *err)
{
	struct wsi_object object = { .of.image = *image, .is_surface = true };
	return texture_object_add(sim, &object, ret_handle, err);
}

/* ---- using them ---- */

const struct wsi_object *wsi_object_find(struct wsi_run *run, unsigned lane, uint32_t handle,
					 bool is_surface)
{
	const struct ws_sim *sim = run->sim;
	if (handle != 0 && handle <= sim->n_objects &&
	    sim->objects[handle - 1].is_surface == is_surface)
		return &sim->objects[handle - 1];
	wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, 1u << lane,
		  "0x%x is the handle of no %s", handle, is_surface ? "surface" : "texture");
	return NULL;
}

bool wsi_object_postpone(struct wsi_run *run, uint32_t lanes)
{
	struct ws_sim *sim = run->sim;
	bool first = sim->late == 0, access = sim->fault.exception < WS_SIM_UNIMPLEMENTED;
	if (!first || (access && sim->fault.exception != CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM))
		return wsi_fault_postpone(run, lanes);
	sim->fault.lanes = lanes;
	return false;
}

uint64_t wsi_object_address(const struct wsi_object *object, const struct wsi_texel *place,
			    uint64_t x_bytes)
{
	const struct ws_sim_image *image = &object->of.image;
	return image->address + (uint64_t)(place->slice + place->at[2]) * image->slice_bytes +
	       (uint64_t)place->at[1] * image->row_bytes + x_bytes;
}

bool wsi_sim_take_handle(struct wsi_op *op, unsigned n_first)
{
	struct wsi_alu_value *source = &op->alu.source[n_first];
	unsigned n = op->alu.n_sources - n_first;
	op->kind = (uint8_t)n_first;
	if (n >= 2 && source[0].place == WSI_ALU_NUMBER && source[1].place == WSI_ALU_NUMBER) {
		source[0] = (struct wsi_alu_value){
			.place = WSI_ALU_CONSTANT,
			.number = (uint8_t)source[0].value,
			.words = 1,
			.value = source[1].value * 4,
		};
		return source[0].number < WSI_BANKS;
	}
	return n >= 1 && source[0].place != WSI_ALU_NUMBER;
}
