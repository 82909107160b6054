/* SPDX-License-Identifier: Apache-2.0 */
#include "call/made.h"

size_t wsi_call_api_room(const struct wsi_api_fn *fn, unsigned arg,
			 const union wsi_api_value *values)
{
	const struct wsi_api_arg *a = &fn->args[arg];
	uint64_t n = a->count < 0 ? 1 : values[a->count].number;
	return n > SIZE_MAX / a->size ? SIZE_MAX : (size_t)n * a->size;
}

size_t wsi_call_api_written(const struct wsi_api_fn *fn, unsigned i,
			    const union wsi_api_value *values)
{
	const struct wsi_api_arg *arg = &fn->args[i];
	size_t room = wsi_call_api_room(fn, i, values);
	if (!strcmp(arg->type, "char *"))
		return strnlen(values[i].pointer, room);
	if (arg->used < 0 || !values[arg->used].pointer)
		return room;
	uint32_t used;
	memcpy(&used, values[arg->used].pointer, sizeof used);
	return (size_t)wsi_min_u64((uint64_t)used * arg->size, room);
}

enum { ALIGNED = 16 };

uint64_t wsi_made_most = WSI_MADE_MOST;

static size_t aligned(size_t n)
{
	return (n + ALIGNED - 1) / ALIGNED * ALIGNED;
}

CUDBGResult wsi_made_init(struct wsi_made *made, unsigned present)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[made->slot];
	uint64_t total = 0;
	made->bytes = NULL;
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (arg->way == WSI_API_VALUE)
			continue;
		if (!(present >> i & 1))
			made->n[i] = 0;
		else if (arg->way == WSI_API_OPAQUE)
			made->n[i] = WSI_MADE_OPAQUE;
		else if (!arg->string)
			made->n[i] = wsi_call_api_room(fn, i, made->v);
		if (made->n[i] > wsi_made_most)
			return CUDBG_ERROR_OS_RESOURCES;
		total += aligned(made->n[i] + 1);
	}
	if (total > wsi_made_most)
		return CUDBG_ERROR_OS_RESOURCES;
	uint8_t *at = made->small;
	if (total > sizeof made->small)
		at = made->bytes = wsi_zalloc((size_t)total);
	else
		memset(made->small, 0, (size_t)total);
	if (!at)
		return CUDBG_ERROR_OS_RESOURCES;
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (fn->args[i].way == WSI_API_VALUE)
			continue;
		made->v[i].pointer = present >> i & 1 ? at : NULL;
		at += aligned(made->n[i] + 1);
	}
	return CUDBG_SUCCESS;
}

void wsi_made_fini(struct wsi_made *made)
{
	wsi_free(made->bytes);
	made->bytes = NULL;
}

size_t wsi_made_written(const struct wsi_api_fn *fn, unsigned i, const union wsi_api_value *values)
{
	const struct wsi_api_arg *arg = &fn->args[i];
	size_t room = wsi_call_api_room(fn, i, values), n = wsi_call_api_written(fn, i, values);
	/* where a client need not ask how much is filled, the rest has been, too */
	if (arg->used >= 0 && fn->args[arg->used].optional)
		return room;
	bool is_text = !strcmp(arg->type, "char *");
	return n + (is_text && n < room);
}
