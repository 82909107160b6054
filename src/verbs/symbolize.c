/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a file, and chains of calls at places in their code. */
#include "verbs/code.h"

void ws_code_image_arch(const struct ws_code_image *image, char ret_text[WS_ARCH_BYTES])
{
	const char variant[2] = { image->facts.variant, '\0' };
	if (image->facts.sm)
		snprintf(ret_text, WS_ARCH_BYTES, "sm_%u%s", (unsigned)image->facts.sm, variant);
	else
		snprintf(ret_text, WS_ARCH_BYTES, "sm_?");
}

enum ws_status wsi_verbs_tell(const struct ws_answer_style *style, const struct ws_error *damage,
			      struct ws_error *err)
{
	const struct ws_line_diagnostic told = { damage->status, damage->file_off,
						 damage->message };
	if (damage->status == WS_NO_MEMORY)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", damage->message);
	if (style->tell)
		style->tell(style->user, &told);
	return WS_OK;
}

void wsi_verbs_say(const struct ws_answer_style *style, const char *format, ...)
{
	char text[4400]; /* a path, and words */
	const struct ws_line_diagnostic told = { WS_OK, WS_NO_OFFSET, text };
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (style->tell)
		style->tell(style->user, &told);
}

void wsi_verbs_code_begin(const struct ws_code_images *images, const char *schema,
			  const struct ws_answer_style *style, struct ws_json *json)
{
	if (!style->json)
		return;
	ws_json_begin(json, style->out, schema);
	ws_json_key_text(json, "path", images->path);
	ws_json_key_array(json, "images");
}

void wsi_verbs_image_begin(const struct ws_code_images *images, const struct ws_code_image *image,
			   bool was_shown, struct ws_out *out, struct ws_json *json)
{
	char arch[WS_ARCH_BYTES];
	ws_code_image_arch(image, arch);
	if (json) {
		ws_json_object(json);
		ws_json_key_u64(json, "image", image->index);
		ws_json_key_text(json, "arch", arch);
	} else if (images->n > 1) {
		ws_out_text(out, was_shown ? "\n" : "");
		ws_out_printf(out, "image %zu, %s\n", image->index, arch);
	}
}

/* ---- places ---- */

static const struct ws_function *find_function(struct ws_cubin *cubin, const char *name)
{
	const struct ws_function *functions;
	size_t n;
	if (ws_cubin_find_function(cubin, ws_str_of(name), &functions, NULL) == WS_OK)
		return functions;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (functions[i].section && ws_name_is(&functions[i], name))
			return &functions[i];
	}
	return NULL;
}

static bool has_place(struct ws_cubin *cubin, const char *name, uint64_t offset,
		      struct ws_place *ret_place)
{
	if (!name)
		return ws_cubin_find_address(cubin, offset, ret_place, NULL) == WS_OK;
	const struct ws_function *function = find_function(cubin, name);
	return function && function->section &&
	       ws_cubin_find_offset(cubin, function->section, function->sec_off + offset, ret_place,
				    NULL) == WS_OK;
}

void ws_symbolize(const struct ws_code_image *images, size_t n_images, const char *function,
		  uint64_t offset, struct ws_symbolized *ret_answer)
{
	struct ws_place at;
	ret_answer->image = NULL;
	ret_answer->status = WS_ABSENT;
	ret_answer->n = 0;
	for (size_t i = 0; i < n_images; i++) {
		if (!has_place(images[i].cubin, function, offset, &at))
			continue;
		ret_answer->image = &images[i];
		ret_answer->status = ws_cubin_line_find(images[i].cubin, at.section, at.sec_off,
							ret_answer->chain, WS_CHAIN_MOST,
							&ret_answer->n, &ret_answer->err);
		return;
	}
}

void ws_symbolized_text(const struct ws_symbolized *answer, const char *place, bool full_names,
			struct ws_out *out)
{
	ws_out_escaped(out, ws_str_of(place));
	ws_out_text(out, "\n");
	if (answer->status == WS_OK)
		ws_chain_text(out, answer->chain, answer->n, full_names);
	else
		ws_out_printf(out, "  ? %s\n",
			      answer->image ? answer->err.message : "no such code");
	ws_out_text(out, "\n");
}

void ws_symbolized_json(const struct ws_symbolized *answer, const char *place, struct ws_json *json)
{
	ws_json_object(json);
	ws_json_key_text(json, "place", place);
	if (answer->image) {
		char arch[WS_ARCH_BYTES];
		ws_code_image_arch(answer->image, arch);
		ws_json_key_u64(json, "image", answer->image->index);
		ws_json_key_text(json, "arch", arch);
	}
	if (ws_json_key_given(json, "positions", answer->status))
		ws_chain_json(json, answer->chain, answer->n);
	ws_json_end(json);
}
