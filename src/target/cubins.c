/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of a target, opened on demand, and code read from them for back ends whose memory has
 * none.
 */
#include <warpscope/cubin.h>
#include <warpscope/target.h>

#include "base/base.h"
#include "cubin/cubin.h"
#include "target/internal.h"

/* An image that cannot be read is added empty: indices stay those of the target. */
static enum ws_status target_images_add(const struct ws_target *target, struct ws_cubin_set *set,
					struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < target->counts.modules && st == WS_OK; i++) {
		struct ws_module module;
		struct ws_cubin_entry entry = { .device_index = WS_NONE, .context_index = WS_NONE };
		if (ws_target_module(target, i, &module, NULL) == WS_OK)
			entry = (struct ws_cubin_entry){ .handle = module.handle,
							 .device_index = module.device_index,
							 .context_index = module.context_index,
							 .relocated = module.relocated,
							 .original = module.original,
							 .version = module.n_loaded };
		st = ws_cubin_set_add(set, &entry, err);
	}
	return st;
}

/* A set of the images as they are now; cubins of the last one stay open. */
static enum ws_status set_renew(const struct ws_target *target, struct ws_target_own *own,
				struct ws_error *err)
{
	struct ws_cubin_set *set = NULL;
	enum ws_status st = ws_cubin_set_create(&set, err);
	if (st == WS_OK)
		st = target_images_add(target, set, err);
	if (st != WS_OK) {
		ws_cubin_set_destroy(set);
		return st;
	}
	if (own->cubins)
		wsi_cubin_set_inherit(set, own->cubins);
	ws_cubin_set_destroy(own->cubins);
	own->cubins = set;
	atomic_store_explicit(&own->current, set, memory_order_release);
	return WS_OK;
}

static __attribute__((noinline)) enum ws_status
modules_make(const struct ws_target *target, struct ws_cubin_set **ret_cubins, struct ws_error *err)
{
	struct ws_target_own *own = target->own;
	enum ws_status st = WS_OK;
	wsi_hold(&own->lock);
	if (!atomic_load_explicit(&own->current, memory_order_relaxed))
		st = set_renew(target, own, err);
	if (st == WS_OK)
		*ret_cubins = own->cubins;
	return st;
}

/* Every read of code comes here: a set that is made is found without the lock. */
enum ws_status ws_target_cubins(const struct ws_target *target, struct ws_cubin_set **ret_cubins,
				struct ws_error *err)
{
	struct ws_cubin_set *set =
		atomic_load_explicit(&target->own->current, memory_order_acquire);
	if (!set)
		return modules_make(target, ret_cubins, err);
	*ret_cubins = set;
	return WS_OK;
}

enum ws_status wsi_target_code_read(const struct ws_target *target, const struct ws_address *at,
				    uint8_t *buffer, size_t len, size_t *ret_n,
				    struct ws_error *err)
{
	struct ws_cubin_hint hint = { WS_NONE, at->device_index, WS_NONE };
	struct ws_cubin_set *cubins;
	enum ws_status st = ws_target_cubins(target, &cubins, err);
	if (st != WS_OK)
		return st;
	while (*ret_n < len) {
		struct ws_place place;
		struct ws_span left;
		uint64_t address = at->address + *ret_n;
		st = address < at->address
			     ? WS_ABSENT
			     : ws_cubin_set_find_address(cubins, address, &hint, &place, NULL);
		if (st != WS_OK)
			return wsi_fail(err, st, WS_NO_OFFSET,
					"no code at 0x%" PRIx64 " in the images", address);
		st = ws_cubin_bytes_at(&place, &left, err);
		if (st != WS_OK)
			return wsi_context(err, st, "the code at 0x%" PRIx64, address);
		size_t n = left.len < len - *ret_n ? left.len : len - *ret_n;
		memcpy(buffer + *ret_n, left.ptr, n);
		*ret_n += n;
		hint.module_index = place.module_index;
	}
	return WS_OK;
}
