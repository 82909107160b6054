/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the assembler in their order, mistakes, and what differs between architectures. */
#include "asm/asm.h"

#include <warpscope/sass.h>

#include "sass/bank.h"

struct ws_assembly {
	struct wsi_bytes image;
};

/* ---- mistakes ---- */

void wsi_asm_error(struct wsi_asm *a, struct wsi_asm_place place, const char *format, ...)
{
	char text[sizeof a->first.message];
	va_list args;
	if (wsi_asm_stopped(a))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (char *c = text; *c; c++) /* parts of the text may be anything */
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	if (a->n_errors++ == 0)
		wsi_fail(&a->first, WS_MALFORMED, WS_NO_OFFSET, "line %" PRIu32 ": %s", place.line,
			 text);
	if (a->options->report)
		a->options->report(a->options->user, place.line, place.column, text);
}

bool wsi_asm_stopped(const struct wsi_asm *a)
{
	return a->no_memory || a->n_errors >= WS_ASSEMBLE_MAX_ERRORS;
}

bool wsi_asm_grow(struct wsi_asm *a, void *ptr, size_t *cap, size_t n, size_t size)
{
	if (!wsi_grow(ptr, cap, n, size, UINT32_MAX))
		a->no_memory = true;
	return !a->no_memory;
}

/* ---- names ---- */

static int asm_name_order(const struct wsi_asm_name *a, uint32_t scope, struct ws_str text)
{
	return WSI_ORDER_THEN(a->scope, scope, wsi_str_order(a->text, text));
}

static struct wsi_asm_name *find_symbol_in(const struct wsi_asm *a, uint32_t scope,
					   struct ws_str text)
{
	size_t low =
		WSI_BISECT(i, (size_t)0, a->n_names, asm_name_order(&a->names[i], scope, text) < 0);
	return low < a->n_names && asm_name_order(&a->names[low], scope, text) == 0 ? &a->names[low]
										    : NULL;
}

struct wsi_asm_name *wsi_asm_find(const struct wsi_asm *a, uint32_t scope, struct ws_str text)
{
	struct wsi_asm_name *found = find_symbol_in(a, scope, text);
	return found ? found : find_symbol_in(a, WSI_ASM_FILE, text);
}

/* ---- architectures ---- */

bool wsi_asm_arch(struct ws_str text, uint32_t *ret_sm, char *ret_variant)
{
	uint32_t sm = 0;
	size_t at = 3;
	if (text.len < 5 || memcmp(text.ptr, "sm_", 3) != 0)
		return false;
	for (; at < text.len && at < 6 && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++)
		sm = sm * 10 + (uint32_t)(text.ptr[at] - '0');
	char variant = at < text.len ? text.ptr[at] : 0;
	if (at == 3 || at + (variant != 0) != text.len ||
	    (variant && variant != 'a' && variant != 'f'))
		return false;
	*ret_sm = sm;
	*ret_variant = variant;
	return true;
}

uint32_t wsi_asm_shared_base(uint32_t sm)
{
	return wsi_bank0(sm)->kept;
}

/* ---- the whole ---- */

static void asm_fini(struct wsi_asm *a)
{
	for (size_t i = 0; i < a->n_functions; i++)
		wsi_bytes_fini(&a->functions[i].code);
	for (unsigned i = 0; i < WSI_ASM_N_AREAS; i++) {
		wsi_bytes_fini(&a->areas[i].bytes);
		wsi_free(a->areas[i].relocs);
	}
	wsi_free(a->functions);
	wsi_free(a->insns);
	wsi_free(a->params);
	wsi_free(a->objects);
	wsi_free(a->fixups);
	wsi_free(a->names);
	wsi_free(a->relocs);
	wsi_free(a->exits);
	wsi_free(a->told);
	wsi_free(a->bank0);
	wsi_free(a->branches);
	wsi_free(a->targets);
	wsi_arena_fini(&a->quoted);
}

static enum ws_status assemble_source(struct wsi_asm *a, struct ws_str source,
				      struct wsi_bytes *image, struct ws_error *err)
{
	if (a->options->arch && !wsi_asm_arch(ws_str_of(a->options->arch), &a->sm, &a->variant))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "'%.40s' is not an architecture",
				a->options->arch);
	a->arch_is_told = a->options->arch != NULL;
	if (a->arch_is_told && !ws_sass_supports(a->sm))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"no instruction table for sm_%" PRIu32, a->sm);
	if (source.len > WS_ASSEMBLE_MAX_SOURCE)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "more than %d bytes of text",
				WS_ASSEMBLE_MAX_SOURCE);
	wsi_asm_parse(a, source);
	if (!wsi_asm_stopped(a))
		wsi_asm_encode(a);
	if (a->n_errors == 0 && !a->no_memory)
		wsi_asm_image(a, image);
	if (a->no_memory || image->failed)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "assembling");
	if (a->n_errors > 0 && err)
		*err = a->first;
	return a->n_errors > 0 ? WS_MALFORMED : WS_OK;
}

enum ws_status ws_assemble(struct ws_str source, const struct ws_assemble_options *options,
			   struct ws_assembly **ret_assembly, struct ws_error *err)
{
	static const struct ws_assemble_options none;
	struct wsi_asm a = { .options = options ? options : &none };
	struct ws_assembly *assembly = wsi_zalloc(sizeof *assembly);
	if (!assembly)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "assembling");
	enum ws_status st = assemble_source(&a, source, &assembly->image, err);
	asm_fini(&a);
	if (st != WS_OK) {
		ws_assembly_destroy(assembly);
		return st;
	}
	*ret_assembly = assembly;
	return WS_OK;
}

struct ws_span ws_assembly_image(const struct ws_assembly *assembly)
{
	return (struct ws_span){ assembly->image.ptr, assembly->image.len, 0 };
}

void ws_assembly_destroy(struct ws_assembly *assembly)
{
	if (!assembly)
		return;
	wsi_bytes_fini(&assembly->image);
	wsi_free(assembly);
}
