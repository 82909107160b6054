/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of GPU functions as text: of all images of a file. */
#include "verbs/disas/disas.h"

void *wsi_disas_alloc(struct wsi_disas *d, size_t n, size_t size)
{
	void *ptr = wsi_zalloc_array(n ? n : 1, size);
	d->no_memory |= !ptr;
	return ptr;
}

bool wsi_disas_grow(struct wsi_disas *d, void *ptr, size_t *cap, size_t n, size_t size)
{
	const bool grown = wsi_grow(ptr, cap, n, size, SIZE_MAX / size);
	d->no_memory |= !grown;
	return grown;
}

void wsi_disas_tell(struct wsi_disas *d, const struct ws_error *damage)
{
	d->no_memory |= wsi_verbs_tell(d->style, damage, NULL) != WS_OK;
}

enum ws_status wsi_disas_end(const struct wsi_disas *d, struct ws_disas_told *ret_told,
			     struct ws_error *err)
{
	*ret_told = d->told;
	return d->no_memory ? wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory") : WS_OK;
}

/* Whether a function's code is part of another's listing: with blocks, which lead into it. */
static bool is_part(const struct ws_disas *query, const struct ws_function *functions,
		    const struct ws_function *function)
{
	return query->blocks && !query->function && function->is_inner &&
	       function->owner != WS_UNKNOWN &&
	       function->sec_off < functions[function->owner].size_bytes;
}

/* `has_inner`: for each function of the image, whether others lie in its section. */
static void show_function(struct wsi_disas *d, const struct ws_code_image *image,
			  const struct ws_function *function, const bool *has_inner,
			  const struct wsi_disas_constants *constants)
{
	const struct ws_disas *query = d->query;
	struct wsi_disas_code code;
	if (!wsi_disas_code_init(&code, d, image->cubin, function))
		return;
	if (constants->n > 0 && !image->facts.relocatable) /* a linker still moves them */
		code.constants = constants;
	if (query->has_pc) {
		code.marks[0].off = query->pc;
		code.marks[0].flags = DISAS_PC;
		code.n_marks = 1;
	}
	if (query->blocks) {
		wsi_disas_cfg(&code);
	} else if (!query->has_pc || query->pc < code.code.len) {
		code.without_inner = has_inner[function->index];
		wsi_disas_code_show(&code);
		if (d->json)
			ws_json_end(d->json);
	}
	wsi_disas_code_fini(&code);
}

static void show_functions(struct wsi_disas *d, const struct ws_code_image *image)
{
	const struct ws_function *functions;
	struct wsi_disas_constants constants = { 0 };
	size_t n = 0;
	struct ws_error err;
	if (ws_cubin_functions(image->cubin, &functions, &n, &err) != WS_OK)
		wsi_disas_tell(d, &err);
	bool *has_inner = wsi_disas_alloc(d, n, sizeof *has_inner);
	if (!has_inner)
		return;
	wsi_disas_constants_init(d, &constants, image->cubin);
	for (size_t i = 0; i < n; i++)
		if (functions[i].is_inner && functions[i].owner != WS_UNKNOWN)
			has_inner[functions[i].owner] = true;
	for (size_t i = 0; i < n; i++)
		if (functions[i].section &&
		    (!d->query->function || ws_name_is(&functions[i], d->query->function)) &&
		    !is_part(d->query, functions, &functions[i]))
			show_function(d, image, &functions[i], has_inner, &constants);
	wsi_free(constants.at);
	wsi_free(has_inner);
}

static void show_image(struct wsi_disas *d, const struct ws_code_images *images,
		       const struct ws_code_image *image)
{
	char arch[WS_ARCH_BYTES];
	ws_code_image_arch(image, arch);
	if (!ws_sass_supports(image->facts.sm))
		wsi_verbs_say(d->style, "no decoder for %s; its code is shown as raw words", arch);
	wsi_verbs_image_begin(images, image, d->told.shown, d->out, d->json);
	if (d->json)
		ws_json_key_array(d->json, "functions");
	show_functions(d, image);
	if (d->json) {
		ws_json_end(d->json);
		ws_json_end(d->json);
	}
}

enum ws_status ws_disas_answer(const struct ws_code_images *images, const struct ws_disas *query,
			       const struct ws_answer_style *style, struct ws_disas_told *ret_told,
			       struct ws_error *err)
{
	struct ws_json json;
	struct wsi_disas d = { .query = query,
			       .style = style,
			       .out = style->out,
			       .json = style->json ? &json : NULL };
	wsi_verbs_code_begin(images, "warpscope-disas-1", style, &json);
	for (size_t i = 0; i < images->n; i++) {
		if (query->assembly)
			wsi_disas_asm(&d, &images->item[i]);
		else
			show_image(&d, images, &images->item[i]);
	}
	if (d.json) {
		ws_json_end(&json);
		ws_json_key_u64(&json, "instructions", d.told.n_total);
		ws_json_key_u64(&json, "unexplained", d.told.n_unknown);
		ws_json_end(&json);
	}
	return wsi_disas_end(&d, ret_told, err);
}
