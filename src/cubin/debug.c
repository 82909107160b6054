/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties dwarf.h and unwind.h to an image.
 *
 * Functions are found by name, and offsets in `.debug_abbrev` and `.debug_str` hold the right
 * number before and after relocation [measured: docs/formats/dwarf.md]. Scopes, places and call
 * frames need addresses: where a relocation of them is not applied, a copy has it.
 */
#include "cubin/internal.h"

/* Bytes of a word that a relocation of debug information fills; 0: not one of them. */
static size_t relocated_width_of(uint32_t type)
{
	return type == WSI_R_CUDA_64 || type == WSI_R_CUDA_G64   ? 8
	       : type == WSI_R_CUDA_32 || type == WSI_R_CUDA_G32 ? 4
								 : 0;
}

/* What a relocation puts into a word that holds `word` now; false: the symbol is not known. */
static bool relocated_word(const struct ws_cubin *cubin, struct ws_span symtab,
			   const struct wsi_reloc *reloc, uint64_t word, uint64_t *ret_word)
{
	if (reloc->symbol >= symtab.len / WSI_SYM_BYTES)
		return false;
	struct wsi_sym sym = wsi_elf_sym(symtab, reloc->symbol);
	uint32_t section = wsi_cubin_symbol_section(cubin, &sym, reloc->symbol);
	if (section == 0)
		return false;
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	uint64_t base = code ? code->gpu_va : wsi_cubin_shdr(cubin, section).addr;
	uint64_t symbol = base + wsi_cubin_symbol_off(cubin, &sym, section);
	if (reloc->has_addend)
		*ret_word = symbol + (uint64_t)reloc->addend;
	else if (code && base == 0 && word > code->size_bytes)
		*ret_word = symbol; /* relocated, though the code is not loaded yet: see lines.c */
	else                        /* the word holds the addend, until it is relocated */
		*ret_word = base && word < base ? symbol + word : word;
	return true;
}

/* Applies a table of relocations; a copy is made at the first word that has to change. */
static enum ws_status relocate_debug(struct ws_cubin *cubin, uint32_t table, struct ws_span *bytes,
				     uint8_t **copy, struct ws_error *err)
{
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	for (size_t i = 0; i < wsi_cubin_n_relocs(cubin, table); i++) {
		struct wsi_reloc reloc = wsi_cubin_reloc(cubin, table, i);
		size_t width = relocated_width_of(reloc.type);
		struct ws_span at;
		uint64_t word;
		if (width == 0 || !ws_span_sub(*bytes, reloc.off, width, &at))
			continue;
		uint64_t now = wsi_load_le(at.ptr, (unsigned)width);
		if (!relocated_word(cubin, symtab, &reloc, now, &word))
			continue;
		word = width == 4 ? (uint32_t)word : word;
		if (word == now)
			continue;
		if (!*copy) {
			*copy = wsi_zalloc(bytes->len);
			if (!*copy)
				return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET,
						"debug information");
			memcpy(*copy, bytes->ptr, bytes->len);
			bytes->ptr = *copy;
		}
		for (size_t k = 0; k < width; k++)
			(*copy)[reloc.off + k] = (uint8_t)(word >> 8 * k);
	}
	return WS_OK;
}

/* The relocated sections, each with the first relocations that are about it. */
static enum ws_status sections_make(struct ws_cubin *cubin, struct ws_error *err)
{
	const uint32_t section[] = { cubin->debug_info, cubin->debug_loc, cubin->debug_frame };
	struct ws_span *const bytes[] = { &cubin->info, &cubin->loc, &cubin->frame };
	bool done[WSI_COUNT(section)] = { false };
	for (size_t k = 0; k < WSI_COUNT(section); k++)
		*bytes[k] = wsi_cubin_bytes(cubin, section[k]);
	for (uint32_t i = 1; i < cubin->n_sections; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		if (shdr.type != WSI_SHT_REL && shdr.type != WSI_SHT_RELA)
			continue;
		for (size_t k = 0; k < WSI_COUNT(section); k++) {
			if (section[k] == 0 || section[k] != shdr.info || done[k])
				continue;
			done[k] = true;
			enum ws_status st =
				relocate_debug(cubin, i, bytes[k], &cubin->relocated_debug[k], err);
			if (st != WS_OK)
				return st;
		}
	}
	return WS_OK;
}

void wsi_cubin_debug_fini(struct ws_cubin *cubin)
{
	ws_dwarf_destroy(cubin->dwarf);
	for (size_t k = 0; k < WSI_COUNT(cubin->relocated_debug); k++)
		wsi_free(cubin->relocated_debug[k]);
}

static enum ws_status dwarf_make(struct ws_cubin *cubin, struct ws_error *err)
{
	enum ws_status st = sections_make(cubin, err);
	struct ws_dwarf_input input = {
		.info = cubin->info,
		.written = wsi_cubin_bytes(cubin, cubin->debug_info),
		.abbrev = wsi_cubin_bytes(cubin, cubin->debug_abbrev),
		.str = wsi_cubin_bytes(cubin, cubin->debug_str),
		.loc = cubin->loc,
		.demangle = ws_demangle,
	};
	if (st == WS_OK)
		st = ws_dwarf_create(&input, &cubin->dwarf, err);
	if (st == WS_ABSENT)
		return WS_OK;
	for (size_t k = 0; k < WSI_COUNT(cubin->relocated_debug) && st != WS_OK; k++) {
		wsi_free(cubin->relocated_debug[k]); /* it may be tried again */
		cubin->relocated_debug[k] = NULL;
	}
	return st;
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

enum ws_status wsi_cubin_cfi(struct ws_cubin *cubin, uint64_t pc, struct ws_cfi *ret_cfi,
			     struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need(cubin, &cubin->have_dwarf, dwarf_make, err);
	return st == WS_OK ? ws_cfi_find(cubin->frame, pc, ret_cfi, err) : st;
}

enum ws_regmap_answer wsi_cubin_find_register(const struct ws_cubin *cubin, struct ws_str function,
					      struct ws_str reg, uint64_t rel_pc,
					      struct ws_reg_piece ret_pieces[WS_REG_MAX_PIECES],
					      size_t *ret_n)
{
	return ws_regmap_find(wsi_cubin_bytes(cubin, cubin->reg_sass),
			      wsi_cubin_bytes(cubin, cubin->reg_type), function, reg, rel_pc,
			      ret_pieces, ret_n);
}
