/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

struct wsi_wire_greeting wsi_wire_greeting(void)
{
	struct wsi_wire_greeting greeting = { .version = WSI_WIRE_VERSION,
					      .n_slots = WSI_API_SLOTS };
	memcpy(greeting.magic, WSI_WIRE_MAGIC, sizeof greeting.magic);
	return greeting;
}

static void image_add(struct wsi_wire_image *images, size_t *n, void *place, uint64_t n_bytes)
{
	const void *pointer;
	memcpy(&pointer, place, sizeof pointer);
	if (!pointer)
		return;
	assert(*n < WSI_WIRE_IMAGES);
	images[(*n)++] = (struct wsi_wire_image){ place, n_bytes };
}

size_t wsi_wire_images(const struct wsi_api_fn *fn, const union wsi_api_value *values,
		       struct wsi_wire_image ret_images[WSI_WIRE_IMAGES])
{
	size_t n = 0;
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		uint8_t *at = values[i].pointer;
		int32_t kind;
		if (!wsi_api_comes_out(arg) || !at)
			continue;
		const void *told = arg->image >= 0 ? values[arg->image].pointer : NULL;
		if (arg->image >= 0)
			image_add(ret_images, &n, at,
				  told ? wsi_load_le(told, (unsigned)fn->args[arg->image].size)
				       : 0);
		for (size_t f = 0; f < arg->n_fields; f++) {
			const struct wsi_api_field *field = &arg->fields[f], *size;
			if (field->handle != WSI_API_ADDRESS || field->image < 0)
				continue;
			memcpy(&kind, at, sizeof kind);
			size = &arg->fields[field->image];
			if (field->when == -1 || field->when == kind)
				image_add(ret_images, &n, at + field->offset,
					  wsi_load_le(at + size->offset, size->size));
		}
	}
	return n;
}
