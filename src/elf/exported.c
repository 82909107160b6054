/* SPDX-License-Identifier: Apache-2.0 */
/* See exported.h. */
#include "elf/exported.h"

#include "elf/elf.h"

/* A symbol's value in a table of symbols with its strings. */
static uint64_t value_in(struct ws_span table, struct ws_span names, const char *name)
{
	for (size_t i = 1; i < table.len / WSI_SYM_BYTES; i++) { /* the first is no symbol */
		struct wsi_sym symbol = wsi_elf_sym(table, i);
		struct ws_str is;
		if (symbol.shndx != 0 && wsi_span_cstr(names, symbol.name, &is) &&
		    ws_str_equal(is, ws_str_of(name)))
			return symbol.value;
	}
	return 0;
}

uint64_t wsi_elf_exported(struct ws_span file, const char *name)
{
	struct wsi_elf elf;
	if (wsi_elf_open(file, &elf, NULL) != WS_OK)
		return 0;
	for (uint64_t i = 1; i < elf.n_present; i++) {
		struct wsi_shdr section = wsi_elf_shdr(&elf, i);
		struct ws_span table, names;
		if (section.type != WSI_SHT_DYNSYM || section.link >= elf.n_present)
			continue;
		struct wsi_shdr strings = wsi_elf_shdr(&elf, section.link);
		if (wsi_elf_bytes(&elf, &section, &table) && wsi_elf_bytes(&elf, &strings, &names))
			return value_in(table, names, name);
	}
	return 0;
}

/* The dynamic section with its strings. */
static bool dynamic_of(const struct wsi_elf *elf, struct ws_span *ret_table,
		       struct ws_span *ret_names)
{
	for (uint64_t i = 1; i < elf->n_present; i++) {
		struct wsi_shdr section = wsi_elf_shdr(elf, i);
		if (section.type != WSI_SHT_DYNAMIC || section.link >= elf->n_present)
			continue;
		struct wsi_shdr strings = wsi_elf_shdr(elf, section.link);
		return wsi_elf_bytes(elf, &section, ret_table) &&
		       wsi_elf_bytes(elf, &strings, ret_names);
	}
	return false;
}

bool wsi_elf_needs(struct ws_span file, const char *library)
{
	enum { DT_NEEDED = 1, ENTRY = 16 };
	const size_t len = strlen(library);
	struct wsi_elf elf;
	struct ws_span table, names;
	if (wsi_elf_open(file, &elf, NULL) != WS_OK || !dynamic_of(&elf, &table, &names))
		return false;
	for (uint64_t at = 0; at + ENTRY <= table.len; at += ENTRY) {
		struct ws_str name;
		if (wsi_at_u64(table, at) == DT_NEEDED &&
		    wsi_span_cstr(names, wsi_at_u64(table, at + 8), &name) && name.len >= len &&
		    memcmp(name.ptr, library, len) == 0)
			return true;
	}
	return false;
}

bool wsi_elf_has_section(struct ws_span file, const char *name)
{
	struct wsi_elf elf;
	if (wsi_elf_open(file, &elf, NULL) != WS_OK)
		return false;
	for (uint64_t i = 1; i < elf.n_present; i++) {
		const struct wsi_shdr section = wsi_elf_shdr(&elf, i);
		if (ws_str_equal(wsi_elf_name(&elf, &section), ws_str_of(name)))
			return true;
	}
	return false;
}
