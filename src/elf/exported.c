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
