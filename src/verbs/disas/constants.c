/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/disas/disas.h"

enum {
	MAX_TABLES = 1000, /* of relocations that are read: an image has a few */
	ADDRESS_BYTES = 8,
	NUMBER_BYTES = 4, /* of a texture or surface */
};

struct ws_reloc *wsi_disas_relocs(struct wsi_disas *d, const struct ws_cubin *cubin,
				  uint32_t section, size_t *ret_n)
{
	struct ws_reloc *relocs = NULL;
	size_t n = 0;
	*ret_n = 0;
	enum ws_status st = ws_cubin_relocs(cubin, section, NULL, 0, &n, NULL);
	if (st == WS_OK && n > 0)
		relocs = wsi_disas_alloc(d, n, sizeof *relocs);
	if (relocs)
		st = ws_cubin_relocs(cubin, section, relocs, n, ret_n, NULL);
	d->no_memory |= st == WS_NO_MEMORY;
	return relocs;
}

static void constant_add(struct wsi_disas *d, struct wsi_disas_constants *constants,
			 struct wsi_disas_constant constant)
{
	if (wsi_disas_grow(d, &constants->at, &constants->cap, constants->n, sizeof constant))
		constants->at[constants->n++] = constant;
}

/* What the loader fills into a section of constants. */
static void add_relocated_constants(struct wsi_disas *d, struct wsi_disas_constants *constants,
				    const struct ws_cubin *cubin, uint32_t index,
				    struct wsi_disas_constant constant)
{
	size_t n;
	struct ws_reloc *relocs = wsi_disas_relocs(d, cubin, index, &n);
	for (size_t i = 0; i < n; i++) {
		constant.offset = relocs[i].sec_off;
		constant.type = relocs[i].type;
		constant.symbol = relocs[i].symbol;
		constant.symbol_index = relocs[i].symbol_index;
		constant.symbol_kind = relocs[i].symbol_kind;
		if (relocs[i].symbol.len && relocs[i].addend == 0)
			constant_add(d, constants, constant);
	}
	wsi_free(relocs);
}

static void add_tables(struct wsi_disas *d, struct wsi_disas_constants *constants,
		       const struct ws_cubin *cubin)
{
	enum { RELA = 4, REL = 9 }; /* ELF's */
	unsigned left = MAX_TABLES;
	for (uint32_t i = 1; i < ws_cubin_n_sections(cubin) && left > 0; i++) {
		struct ws_section table, filled;
		if (ws_cubin_section(cubin, i, &table, NULL) != WS_OK ||
		    (table.type != REL && table.type != RELA) ||
		    ws_cubin_section(cubin, table.info, &filled, NULL) != WS_OK)
			continue;
		struct wsi_disas_constant constant = { .size = ADDRESS_BYTES,
						       .is_address = true,
						       .bank = 4 };
		if (wsi_str_begins(filled.name, ".nv.constant0."))
			constant = (struct wsi_disas_constant){ .section = filled.info,
								.size = NUMBER_BYTES };
		else if (!ws_str_equal(filled.name, ws_str_of(".nv.constant4")))
			continue;
		add_relocated_constants(d, constants, cubin, table.info, constant);
		left--;
	}
}

static int order_of(const struct wsi_disas_constant *a, uint32_t section, uint32_t bank,
		    uint64_t offset)
{
	return WSI_ORDER_THEN(a->section, section,
			      WSI_ORDER_THEN(a->bank, bank, WSI_ORDER(a->offset, offset)));
}

static int constant_order(const void *left, const void *right)
{
	const struct wsi_disas_constant *b = right;
	return order_of(left, b->section, b->bank, b->offset);
}

void wsi_disas_constants_init(struct wsi_disas *d, struct wsi_disas_constants *constants,
			      struct ws_cubin *cubin)
{
	const struct ws_variable *variables;
	size_t n = 0;
	*constants = (struct wsi_disas_constants){ 0 };
	if (ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
		d->no_memory = true;
	for (size_t i = 0; i < n; i++) {
		const struct ws_variable *v = &variables[i];
		if (v->space == WS_SPACE_CONST && v->bank == 3 && v->section && v->name.len)
			constant_add(
				d, constants,
				(struct wsi_disas_constant){ .bank = v->bank,
							     .offset = v->offset,
							     .size = v->size_bytes,
							     .symbol = v->name,
							     .symbol_index = v->symbol_index });
	}
	add_tables(d, constants, cubin);
	if (constants->n > 0)
		qsort(constants->at, constants->n, sizeof *constants->at, constant_order);
}

/* Number of the first constant behind a place. */
static size_t first_behind(const struct wsi_disas_constants *constants, uint32_t section,
			   uint32_t bank, uint64_t offset)
{
	return WSI_BISECT(i, (size_t)0, constants->n,
			  order_of(&constants->at[i], section, bank, offset) <= 0);
}

const struct wsi_disas_constant *
wsi_disas_constants_of_kernel(const struct wsi_disas_constants *constants, uint32_t section,
			      size_t *ret_n)
{
	size_t end = first_behind(constants, section, 0, UINT64_MAX), first = end;
	while (first > 0 && constants->at[first - 1].section == section)
		first--;
	*ret_n = end - first;
	return end > first ? &constants->at[first] : NULL;
}

/* The constant that holds an offset of a bank. */
static const struct wsi_disas_constant *
find_bank_constant(const struct wsi_disas_constants *constants, uint32_t section, uint32_t bank,
		   uint64_t offset)
{
	size_t low = first_behind(constants, section, bank, offset);
	const struct wsi_disas_constant *found = low > 0 ? &constants->at[low - 1] : NULL;
	bool holds = found && found->section == section && found->bank == bank &&
		     (offset == found->offset || offset - found->offset < found->size);
	return holds ? found : NULL;
}

const struct wsi_disas_constant *
wsi_disas_constants_find(const struct wsi_disas_constants *constants, uint32_t section,
			 const struct ws_insn *insn, uint64_t *ret_offset)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, 0, ops, WS_SASS_MAX_OPERANDS);
	bool is_texture = ws_sass_category(insn->operation) == WS_CATEGORY_TEXTURE ||
			  ws_sass_category(insn->operation) == WS_CATEGORY_SURFACE;
	for (size_t i = 1; i < n && i < WS_SASS_MAX_OPERANDS; i++) {
		const struct ws_operand *bank = &ops[i - 1], *op = &ops[i];
		if (bank->kind != WS_OPERAND_IMMEDIATE || op->kind != WS_OPERAND_IMMEDIATE)
			continue;
		bool is_place = bank->role == WS_ROLE_BANK && op->role == WS_ROLE_OFFSET;
		/* bank and offset / 4, which are two operands of textures up to sm_89 */
		bool is_number = is_texture && bank->role == WS_ROLE_READ && bank->value == 0;
		if (!is_place && !is_number)
			continue;
		uint64_t offset = (uint64_t)op->value * (is_place ? 1 : NUMBER_BYTES);
		uint32_t number = (uint32_t)bank->value;
		const struct wsi_disas_constant *found =
			find_bank_constant(constants, number == 0 ? section : 0, number, offset);
		if (!found)
			continue;
		*ret_offset = offset - found->offset;
		return found;
	}
	return NULL;
}
