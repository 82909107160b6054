/* SPDX-License-Identifier: Apache-2.0 */
/* What a linker or loader fills in: addresses and offsets in machine code, and in data. */
#include "cubin/relocs.h"
#include "cubin/internal.h"

/* What each type of code fills. [measured: ptxas 13.0, sm_75 to sm_120, with and without -c; names
 * and texts of nvdisasm 13.2] */
static const struct wsi_code_reloc code_relocs[] = {
	{ WSI_R_CUDA_ABS32, WS_RELOC_NUMBER, 32, 32, 0 },
	{ WSI_R_CUDA_ABS32_LO_32, WS_RELOC_LOW, 32, 32, 0 },
	{ WSI_R_CUDA_ABS32_HI_32, WS_RELOC_HIGH, 32, 32, 0 },
	{ WSI_R_CUDA_ABS47_34, WS_RELOC_CALL, 34, 47, 0 },
	{ WSI_R_CUDA_FUNC_DESC32_LO, WS_RELOC_KERNEL_LOW, 32, 32, 0 },
	{ WSI_R_CUDA_FUNC_DESC32_HI, WS_RELOC_KERNEL_HIGH, 32, 32, 0 },
	{ WSI_R_CUDA_CONST_OFFSET, WS_RELOC_NUMBER, 32, 32, 0 },
	{ WSI_R_CUDA_CONST19_40, WS_RELOC_CONSTANT, 40, 19, 0 },
	{ WSI_R_CUDA_TEXTURE14_40, WS_RELOC_NUMBER, 40, 14, 0 },
	{ WSI_R_CUDA_CONST21_38, WS_RELOC_CONSTANT, 38, 21, 0 },
	{ WSI_R_CUDA_ABS24_40, WS_RELOC_NUMBER, 40, 24, 0 },
	{ WSI_R_CUDA_ABS55_16_34, WS_RELOC_CALL, 34, 47, 16 },
	{ WSI_R_CUDA_ABS20_44, WS_RELOC_NUMBER, 44, 20, 0 },
	{ WSI_R_CUDA_UNIFIED_LO_32, WS_RELOC_UNIFIED_LOW, 32, 32, 0 },
	{ WSI_R_CUDA_UNIFIED_HI_32, WS_RELOC_UNIFIED_HIGH, 32, 32, 0 },
	{ WSI_R_CUDA_UNIFIED_CALL, WS_RELOC_UNIFIED_CALL, 34, 47, 16 },
	{ WSI_R_CUDA_CONST22_37, WS_RELOC_CONSTANT, 37, 22, 0 },
};

struct wsi_code_reloc wsi_cubin_code_reloc(uint32_t type)
{
	for (size_t i = 0; i < WSI_COUNT(code_relocs); i++)
		if (code_relocs[i].type == type)
			return code_relocs[i];
	return (struct wsi_code_reloc){ type, WS_RELOC_OTHER, 0, 0, 0 };
}

/* The tables of relocations of a section; 0: none. Linked code may have both kinds. */
static void tables_of(const struct ws_cubin *cubin, uint32_t section, uint32_t ret_tables[2])
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	ret_tables[0] = code ? code->rel_section : 0;
	ret_tables[1] = code ? code->rela_section : 0;
	for (uint32_t i = 1; !code && section != 0 && i < cubin->n_sections; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		if (shdr.info == section && shdr.type == WSI_SHT_REL)
			ret_tables[0] = i;
		else if (shdr.info == section && shdr.type == WSI_SHT_RELA)
			ret_tables[1] = i;
	}
}

static struct ws_str reloc_symbol_name(struct ws_span symtab, struct ws_span names, uint32_t symbol)
{
	struct ws_str name = { "", 0 };
	struct ws_span rest;
	if (symbol >= symtab.len / WSI_SYM_BYTES)
		return name;
	uint64_t off = wsi_elf_sym(symtab, symbol).name;
	if (off >= names.len ||
	    !ws_span_sub(names, off, wsi_min_u64(names.len - off, WS_RELOC_NAME_MAX + 1), &rest) ||
	    !wsi_span_cstr(rest, 0, &name))
		return (struct ws_str){ "", 0 };
	return name;
}

static enum ws_symbol_kind symbol_kind(struct ws_span symtab, uint32_t symbol)
{
	if (symbol >= symtab.len / WSI_SYM_BYTES)
		return WS_SYMBOL_OTHER;
	struct wsi_sym sym = wsi_elf_sym(symtab, symbol);
	switch (sym.info & 15) {
	case WSI_STT_FUNC:
		return WS_SYMBOL_FUNCTION;
	case WSI_STT_OBJECT:
		return WS_SYMBOL_DATA;
	case WSI_STT_CUDA_TEXTURE:
		return WS_SYMBOL_TEXTURE;
	case WSI_STT_CUDA_SURFACE:
		return WS_SYMBOL_SURFACE;
	case WSI_STT_CUDA_OBJECT:
		return sym.other & WSI_STO_CUDA_CONSTANT ? WS_SYMBOL_CONST
		       : sym.other & WSI_STO_CUDA_SHARED ? WS_SYMBOL_SHARED
							 : WS_SYMBOL_GLOBAL;
	default:
		return WS_SYMBOL_OTHER;
	}
}

static int reloc_order(const void *left, const void *right)
{
	const struct ws_reloc *a = left, *b = right;
	return WSI_ORDER(a->sec_off, b->sec_off);
}

enum ws_status ws_cubin_relocs(const struct ws_cubin *cubin, uint32_t section,
			       struct ws_reloc *ret_relocs, size_t cap, size_t *ret_n,
			       struct ws_error *err)
{
	uint32_t tables[2];
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	struct ws_span names =
		cubin->symtab ? wsi_cubin_symbol_names(cubin) : (struct ws_span){ .ptr = NULL };
	tables_of(cubin, section, tables);
	size_t counts[] = { wsi_cubin_n_relocs(cubin, tables[0]),
			    wsi_cubin_n_relocs(cubin, tables[1]) };
	size_t n = counts[0] + counts[1], done = 0;
	if (cap > 0 && n > 0) { /* all are needed to know the first */
		wsi_scoped_free struct ws_reloc *all = wsi_zalloc_array(n, sizeof *all);
		if (!all)
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "relocations");
		for (unsigned t = 0; t < 2; t++) {
			for (size_t i = 0; i < counts[t]; i++) {
				struct wsi_reloc r = wsi_cubin_reloc(cubin, tables[t], i);
				struct wsi_code_reloc what = wsi_cubin_code_reloc(r.type);
				all[done++] = (struct ws_reloc){
					.sec_off = r.off,
					.kind = what.kind,
					.type = r.type,
					.lo = what.lo,
					.len = what.len,
					.symbol = reloc_symbol_name(symtab, names, r.symbol),
					.symbol_index = r.symbol,
					.symbol_kind = symbol_kind(symtab, r.symbol),
					.addend = r.addend,
					.has_addend = r.has_addend,
				};
			}
		}
		qsort(all, n, sizeof *all, reloc_order);
		memcpy(ret_relocs, all, (n < cap ? n : cap) * sizeof *all);
	}
	*ret_n = n;
	return WS_OK;
}
