/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties dwarf.h to an image.
 *
 * No relocation is applied: functions are found by name, and the words that relocations of objects
 * fill in, offsets in `.debug_abbrev` and `.debug_str`, hold the right number before and after
 * [measured: docs/formats/dwarf.md].
 */
#include "cubin/internal.h"

static enum ws_status dwarf_make(struct ws_cubin *cubin, struct ws_error *err)
{
	struct ws_dwarf_input input = {
		.info = wsi_cubin_bytes(cubin, cubin->debug_info),
		.abbrev = wsi_cubin_bytes(cubin, cubin->debug_abbrev),
		.str = wsi_cubin_bytes(cubin, cubin->debug_str),
		.demangle = ws_demangle,
	};
	enum ws_status st = ws_dwarf_create(&input, &cubin->dwarf, err);
	return st == WS_ABSENT ? WS_OK : st;
}

enum ws_status ws_cubin_dwarf(struct ws_cubin *cubin, const struct ws_dwarf **ret_dwarf,
			      struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need(cubin, &cubin->have_dwarf, dwarf_make, err);
	if (st != WS_OK)
		return st;
	if (!cubin->dwarf)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the image has no .debug_info: it was not compiled with -G");
	*ret_dwarf = cubin->dwarf;
	return WS_OK;
}
