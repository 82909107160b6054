/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in machine code that a loader fills in. */
#include "cubin/internal.h"

static enum ws_reloc_kind reloc_kind(uint32_t type)
{
	switch (type) {
	case WSI_R_CUDA_ABS32_LO_32:
		return WS_RELOC_LOW;
	case WSI_R_CUDA_ABS32_HI_32:
		return WS_RELOC_HIGH;
	case WSI_R_CUDA_ABS47_34:
	case WSI_R_CUDA_ABS55_16_34:
		return WS_RELOC_CALL;
	default:
		return WS_RELOC_OTHER;
	}
}

static struct ws_str symbol_name(struct ws_span symtab, struct ws_span names, uint32_t symbol)
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

static int reloc_order(const void *left, const void *right)
{
	const struct ws_reloc *a = left, *b = right;
	return (a->sec_off > b->sec_off) - (a->sec_off < b->sec_off);
}

enum ws_status ws_cubin_relocs(const struct ws_cubin *cubin, uint32_t section,
			       struct ws_reloc *ret_relocs, size_t cap, size_t *ret_n,
			       struct ws_error *err)
{
	const struct wsi_code *code = wsi_cubin_code_of(cubin, section);
	uint32_t tables[] = { code ? code->rel_section : 0, code ? code->rela_section : 0 };
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	struct ws_span names =
		cubin->symtab ? wsi_cubin_symbol_names(cubin) : (struct ws_span){ .ptr = NULL };
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
				all[done++] = (struct ws_reloc){
					.sec_off = r.off,
					.kind = reloc_kind(r.type),
					.type = r.type,
					.symbol = symbol_name(symtab, names, r.symbol),
					.addend = r.addend,
				};
			}
		}
		qsort(all, n, sizeof *all, reloc_order);
		memcpy(ret_relocs, all, (n < cap ? n : cap) * sizeof *all);
	}
	*ret_n = n;
	return WS_OK;
}
