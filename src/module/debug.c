/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties dwarf.h to an image.
 *
 * No relocation is applied: functions are found by name, and the words that relocations of objects
 * fill in, offsets in `.debug_abbrev` and `.debug_str`, hold the right number before and after
 * [measured: docs/formats/dwarf.md].
 */
#include "module/internal.h"

static enum ws_status dwarf_make(struct ws_module *module, struct ws_error *err)
{
	struct ws_dwarf_input input = {
		.info = wsi_module_bytes(module, module->debug_info),
		.abbrev = wsi_module_bytes(module, module->debug_abbrev),
		.str = wsi_module_bytes(module, module->debug_str),
		.demangle = ws_demangle,
	};
	enum ws_status st = ws_dwarf_create(&input, &module->dwarf, err);
	return st == WS_ABSENT ? WS_OK : st;
}

enum ws_status ws_module_dwarf(struct ws_module *module, const struct ws_dwarf **ret_dwarf,
			       struct ws_error *err)
{
	enum ws_status st = WS_OK;
	if (!atomic_load_explicit(&module->have_dwarf, memory_order_acquire)) {
		pthread_mutex_lock(&module->lock);
		if (!atomic_load_explicit(&module->have_dwarf, memory_order_relaxed)) {
			st = dwarf_make(module, err);
			atomic_store_explicit(&module->have_dwarf, st == WS_OK,
					      memory_order_release);
		}
		pthread_mutex_unlock(&module->lock);
	}
	if (st != WS_OK)
		return st;
	if (!module->dwarf)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the image has no .debug_info: it was not compiled with -G");
	*ret_dwarf = module->dwarf;
	return WS_OK;
}
