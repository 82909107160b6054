/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the image with the focus's code was built: identity, architecture, compiler, lines.
 *
 * Of the options that the compiler recorded, pages get only those that may be shown:
 * cubin/options.h.
 */
#include "cubin/options.h"
#include "report/build.h"

static enum ws_status filter_options(struct wsi_build *build, struct ws_report_image *image)
{
	struct wsi_options words = wsi_options_of(image->facts.options);
	char *shown = wsi_arena_zalloc(build->arena, image->facts.options.len + 1);
	struct ws_str word;
	size_t len = 0;
	bool is_shown;
	if (!shown)
		return WS_NO_MEMORY;
	while (wsi_option_next(&words, &word, &is_shown)) {
		image->options_left_out |= !is_shown;
		if (!is_shown)
			continue;
		if (len)
			shown[len++] = ' ';
		memcpy(shown + len, word.ptr, word.len);
		len += word.len;
	}
	image->options_shown = (struct ws_str){ shown, len };
	return WS_OK;
}

enum ws_status wsi_image(struct wsi_build *build)
{
	struct ws_report *report = build->report;
	struct ws_report_image *image = &report->image;
	const struct ws_report_exception *focus = report->focus;
	struct ws_place place;
	report->image_status = WS_ABSENT;
	if (!focus || focus->n_frames == 0)
		return WS_OK;
	struct wsi_where where = { WS_NONE, WS_NONE, WS_NONE, WS_NONE };
	if (focus->kernel != WS_NONE)
		where = wsi_where_of_grid(build, build->kernels[focus->kernel].device_index,
					  build->kernels[focus->kernel].grid_index);
	struct ws_cubin_hint hint = { where.module_index, where.device_index, where.context_index };
	enum ws_status st =
		ws_cubin_set_find_address(build->cubins, focus->frames[0].pc, &hint, &place, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	report->image_status = st;
	if (st != WS_OK)
		return WS_OK;
	ws_cubin_facts(place.cubin, &image->facts);
	image->lines = ws_cubin_explain_lines(place.cubin, NULL, 0);
	image->lines_borrowed_from = focus->frames[0].borrowed_from;
	image->code_id_status = place.function ? ws_cubin_code_id(place.cubin, place.function,
								  &image->code_id, NULL)
					       : WS_ABSENT;
	image->image_id_status = ws_cubin_image_id(place.cubin, &image->image_id, NULL);
	if (image->code_id_status == WS_NO_MEMORY || image->image_id_status == WS_NO_MEMORY)
		return WS_NO_MEMORY;
	st = wsi_report_tuned(build, &place, image);
	return st == WS_OK ? filter_options(build, image) : st;
}
