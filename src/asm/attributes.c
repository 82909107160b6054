/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of the sections that describe code: notes, `.nv.compat`, `.nv.callgraph`, `.nv.info`.
 * They hold what nvcc 13.0 writes for the same code; attributes whose meaning is not known are
 * copied from what it writes for every kernel of that architecture. [measured: nvcc 13.0, sm_75 to
 * sm_121; docs/formats/cubin.md]
 */
#include "asm/asm.h"
#include "elf/cubin.h"

enum { TOOLKIT = 130 }; /* the release whose layout this is */

/* ---- notes ---- */

static void put_note(struct wsi_bytes *out, uint32_t type, const struct wsi_bytes *description)
{
	static const char owner[12] = "NVIDIA Corp"; /* who defined the note's format */
	wsi_bytes_number(out, sizeof owner, 4);
	wsi_bytes_number(out, description->len, 4);
	wsi_bytes_number(out, type, 4);
	wsi_bytes_put(out, owner, sizeof owner);
	wsi_bytes_put(out, description->ptr, description->len);
	out->failed |= description->failed;
}

void wsi_asm_tkinfo(const struct wsi_asm *a, struct wsi_bytes *out)
{
	char options[32], letter[2] = { a->variant, 0 };
	wsi_format(options, "-arch sm_%" PRIu32 "%s ", a->sm, letter);
	/* object, tool, version, build, options */
	const char *const strings[] = { "", "warpscope as", ws_version(), "", options };
	struct wsi_bytes text = { .ptr = NULL }, description = { .ptr = NULL };
	wsi_bytes_number(&description, 2, 4);
	for (size_t i = 0; i < WSI_COUNT(strings); i++)
		wsi_bytes_number(&description, wsi_bytes_string(&text, ws_str_of(strings[i])), 4);
	wsi_bytes_put(&description, text.ptr, text.len);
	wsi_bytes_align(&description, 4);
	put_note(out, WSI_NOTE_TKINFO, &description);
	out->failed |= text.failed;
	wsi_bytes_fini(&text);
	wsi_bytes_fini(&description);
}

void wsi_asm_cuinfo(const struct wsi_asm *a, struct wsi_bytes *out)
{
	struct wsi_bytes description = { .ptr = NULL };
	wsi_bytes_number(&description, 2, 2);
	wsi_bytes_number(&description, a->sm, 2);
	wsi_bytes_number(&description, TOOLKIT, 4);
	put_note(out, WSI_NOTE_CUINFO, &description);
	wsi_bytes_fini(&description);
}

/* ---- attributes ---- */

static void put_value(struct wsi_bytes *out, unsigned format, uint8_t attribute, uint16_t value)
{
	wsi_bytes_number(out, format, 1);
	wsi_bytes_number(out, attribute, 1);
	wsi_bytes_number(out, value, 2);
}

static void put_words(struct wsi_bytes *out, uint8_t attribute, const uint32_t *words, size_t n)
{
	put_value(out, 4, attribute, (uint16_t)(4 * n));
	for (size_t i = 0; i < n; i++)
		wsi_bytes_number(out, words[i], 4);
}

void wsi_asm_compat(const struct wsi_asm *a, struct wsi_bytes *out)
{
	uint32_t last[2] = { a->sm == 100 ? 9 : a->sm == 120 ? 0x50 : 0, 0 };
	put_value(out, 2, 0x09, a->variant == 'a');
	put_value(out, 2, 0x02, 1);
	put_value(out, 2, 0x05, 5);
	put_value(out, 3, 0x07, 0x101);
	put_value(out, 2, 0x03, 0);
	put_value(out, 2, 0x06, 1);
	put_words(out, 0x0b, last, 2);
}

/* Pairs of caller and callee between markers. */
void wsi_asm_callgraph(const struct wsi_asm *a, struct wsi_bytes *out)
{
	for (uint32_t marker = 1; marker <= 4; marker++) {
		wsi_bytes_number(out, 0, 4);
		wsi_bytes_number(out, 0 - marker, 4);
		for (size_t i = 0; marker == 1 && i < a->n_functions; i++) {
			const struct wsi_asm_function *f = &a->functions[i];
			for (size_t k = 0; k < f->n_relocs; k++) {
				const struct wsi_asm_reloc *r = &a->relocs[f->first_reloc + k];
				bool is_call = r->type == WSI_R_CUDA_ABS47_34 ||
					       r->type == WSI_R_CUDA_ABS55_16_34;
				if (!is_call || r->is_own || r->name == WSI_ASM_NO_NAME)
					continue;
				wsi_bytes_number(out, f->symbol, 4);
				wsi_bytes_number(out, a->names[r->name].symbol, 4);
			}
		}
	}
}

void wsi_asm_info(const struct wsi_asm *a, struct wsi_bytes *out)
{
	for (size_t i = 0; i < a->n_functions; i++) {
		const struct wsi_asm_function *f = &a->functions[i];
		put_words(out, WSI_NV_REGCOUNT, (uint32_t[]){ f->symbol, f->regs }, 2);
		put_words(out, WSI_NV_FRAME_SIZE, (uint32_t[]){ f->symbol, f->frame }, 2);
		if (f->is_kernel && !a->is_object) /* which the linker counts */
			put_words(out, WSI_NV_MIN_STACK_SIZE, (uint32_t[]){ f->symbol, f->stack },
				  2);
	}
	for (size_t i = 0; i < a->n_names; i++) {
		const struct wsi_asm_name *name = &a->names[i];
		if (name->kind == WSI_ASM_INNER)
			put_words(out, WSI_NV_FRAME_SIZE, (uint32_t[]){ name->symbol, name->frame },
				  2);
	}
}

/* What the loader must supply, each once. */
static void put_externs(struct wsi_asm *a, const struct wsi_asm_function *f, struct wsi_bytes *out)
{
	struct wsi_bytes symbols = { .ptr = NULL };
	uint32_t number = (uint32_t)(f - a->functions) + 1;
	for (size_t i = 0; i < f->n_relocs; i++) {
		uint32_t index = a->relocs[f->first_reloc + i].name;
		if (index == WSI_ASM_NO_NAME)
			continue;
		struct wsi_asm_name *name = &a->names[index];
		if (name->kind == WSI_ASM_EXTERN && name->seen_by != number)
			wsi_bytes_number(&symbols, name->symbol, 4);
		name->seen_by = number;
	}
	if (symbols.len > 0 && symbols.len <= UINT16_MAX) {
		put_value(out, 4, WSI_NV_EXTERNS, (uint16_t)symbols.len);
		wsi_bytes_put(out, symbols.ptr, symbols.len);
	}
	out->failed |= symbols.failed;
	wsi_bytes_fini(&symbols);
}

static void put_params(const struct wsi_asm *a, const struct wsi_asm_function *f,
		       struct wsi_bytes *out)
{
	/* size in the bits from 18 on; the flags are the same in each parameter that was seen */
	enum { FLAGS = 0x1f000, SIZE_SHIFT = 18, SPACE_SHIFT = 8 };
	enum { SECOND_SPACE_SHIFT = 24, SECOND_ALIGNMENT_SHIFT = 16 };
	uint32_t ordinal = 0;
	if (f->n_params == 0)
		return;
	put_words(out, WSI_NV_PARAM_CBANK,
		  (uint32_t[]){ f->constant0_symbol, f->param_base | f->param_bytes << 16 }, 2);
	put_value(out, 3, WSI_NV_CBANK_PARAM_SIZE, (uint16_t)f->param_bytes);
	for (size_t i = 0; i < f->n_params; i++)
		ordinal += !a->params[f->first_param + i].is_hidden;
	for (size_t i = f->n_params; i-- > 0;) {
		const struct wsi_asm_param *param = &a->params[f->first_param + i];
		uint32_t space = param->space, shift = param->alignment_shift;
		if (param->is_hidden)
			continue;
		uint32_t words[] = { 0, --ordinal | param->offset << 16,
				     param->size << SIZE_SHIFT | FLAGS | space << SPACE_SHIFT |
					     shift };
		if (f->has_second_records)
			words[2] = param->size | shift << SECOND_ALIGNMENT_SHIFT |
				   space << SECOND_SPACE_SHIFT;
		put_words(out, f->has_second_records ? WSI_NV_KPARAM_INFO_V2 : WSI_NV_KPARAM_INFO,
			  words, 3);
	}
}

/* Branches with their targets: offset, 0, number of targets, their offsets. */
static void put_targets(const struct wsi_asm *a, const struct wsi_asm_function *f,
			struct wsi_bytes *out)
{
	enum { MOST = UINT16_MAX / 4 - 3 }; /* targets in one record */
	const struct wsi_asm_target *at = a->targets + f->first_target;
	for (size_t done = 0, n; done < f->n_targets; done += n) {
		n = 1;
		while (n < MOST && done + n < f->n_targets && at[done + n].off == at[done].off)
			n++;
		put_value(out, 4, WSI_NV_BRANCH_TARGETS, (uint16_t)(4 * (n + 3)));
		wsi_bytes_number(out, at[done].off, 4);
		wsi_bytes_number(out, 0, 4);
		wsi_bytes_number(out, n, 4);
		for (size_t i = 0; i < n; i++)
			wsi_bytes_number(out, at[done + i].target, 4);
	}
}

static void put_shapes(const struct wsi_asm_function *f, struct wsi_bytes *out)
{
	static const uint8_t attributes[] = {
		[WSI_ASM_MAXNTID] = WSI_NV_MAX_THREADS,
		[WSI_ASM_REQNTID] = WSI_NV_REQNTID,
		[WSI_ASM_REQNCTAPERCLUSTER] = WSI_NV_CTA_PER_CLUSTER,
	};
	for (size_t i = 0; i < WSI_COUNT(attributes); i++) {
		const struct ws_dim3 *shape = &f->shapes[i];
		if (shape->x != 0)
			put_words(out, attributes[i], (uint32_t[]){ shape->x, shape->y, shape->z },
				  3);
	}
}

void wsi_asm_function_info(struct wsi_asm *a, const struct wsi_asm_function *f,
			   struct wsi_bytes *out)
{
	put_words(out, WSI_NV_API_VERSION, (uint32_t[]){ TOOLKIT }, 1);
	if (a->sm >= 80 && a->sm <= 88)
		put_value(out, 1, 0x35, 0);
	put_externs(a, f, out);
	if (f->is_kernel) {
		put_params(a, f, out);
		if (a->sm >= 90)
			put_value(out, 3, 0x50, 0);
		put_value(out, 3, WSI_NV_MAXREG_COUNT, 0xff);
	}
	if (f->barriers)
		put_value(out, 2, WSI_NV_NUM_BARRIERS, (uint16_t)f->barriers);
	put_value(out, 3, 0x5f, a->sm >= 90 ? 0x101 : 0);
	if (f->n_targets > 0)
		put_targets(a, f, out);
	if (!f->is_kernel)
		return;
	if (a->sm >= 100)
		put_value(out, 2, 0x4a, 0);
	for (size_t done = 0; done < f->n_exits;) { /* a record has 65,535 bytes at most */
		size_t n = wsi_min_u64(f->n_exits - done, UINT16_MAX / 4);
		put_words(out, WSI_NV_EXIT_OFFSETS, &a->exits[f->first_exit + done], n);
		done += n;
	}
	put_shapes(f, out);
	put_words(out, WSI_NV_CRS_STACK_SIZE, (uint32_t[]){ 0 }, 1);
	if (a->sm == 75 || a->sm == 87 || a->sm >= 90) {
		uint32_t flags = a->sm == 75 ? 1 : a->sm == 87 ? 2 : a->sm >= 120 ? 0 : 8;
		put_words(out, 0x36, &flags, 1);
	}
}
