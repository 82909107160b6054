/* SPDX-License-Identifier: Apache-2.0 */
#include "disas/code_names.h"

#include <warpscope/assemble.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_names_init(struct code_names *names, struct ws_cubin *cubin, uint32_t section)
{
	size_t n = 0;
	*names = (struct code_names){ .cubin = cubin, .section = section };
	if (ws_cubin_relocs(names->cubin, section, NULL, 0, &n, NULL) != WS_OK || n == 0)
		return;
	names->relocs = cli_alloc(n, sizeof *names->relocs);
	if (ws_cubin_relocs(names->cubin, section, names->relocs, n, &n, NULL) != WS_OK)
		cli_out_of_memory();
	names->n_relocs = n;
}

void code_names_fini(struct code_names *names)
{
	free(names->relocs);
	names->relocs = NULL;
	names->n_relocs = 0;
}

const struct ws_reloc *code_names_reloc(const struct code_names *names, uint64_t sec_off)
{
	size_t low = 0, n = names->n_relocs;
	while (n > 0) {
		size_t half = n / 2;
		if (names->relocs[low + half].sec_off < sec_off) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	bool found = low < names->n_relocs && names->relocs[low].sec_off == sec_off;
	return found ? &names->relocs[low] : NULL;
}

/* Whether the field that the loader fills is zero, so that nothing is lost with it. */
static bool field_is_empty(const struct ws_insn *insn, enum ws_reloc_kind kind)
{
	if (kind != WS_RELOC_CALL)
		return ws_insn_bits(insn, 32, 32) == 0;
	return ws_insn_bits(insn, 34, 47) == 0 && (insn->sm < 90 || !ws_insn_bits(insn, 16, 8));
}

const char *code_names_relocated(struct code_names *names, uint64_t sec_off,
				 const struct ws_insn *insn)
{
	static const char *const start[] = { "32@lo(", "32@hi(", "`(" };
	const struct ws_reloc *reloc = code_names_reloc(names, sec_off);
	if (!reloc || reloc->kind == WS_RELOC_OTHER || reloc->symbol.len == 0 ||
	    !field_is_empty(insn, reloc->kind))
		return NULL;
	char addend[24] = "";
	if (reloc->addend)
		snprintf(addend, sizeof addend, "%c0x%" PRIx64, reloc->addend < 0 ? '-' : '+',
			 reloc->addend < 0 ? 0 - (uint64_t)reloc->addend : (uint64_t)reloc->addend);
	char *text = names->relocated;
	size_t size = sizeof names->relocated,
	       n = (size_t)snprintf(text, size, "%s", start[reloc->kind]);
	if (names->for_assembler)
		n += ws_assemble_name(reloc->symbol, text + n, size - n);
	else
		n += (size_t)snprintf(text + n, size - n, "%.*s", (int)reloc->symbol.len,
				      reloc->symbol.ptr);
	snprintf(text + n, size - n, "%s)", addend);
	return text;
}

const struct ws_function *code_names_function(const struct code_names *names, uint64_t sec_off)
{
	struct ws_place place;
	if (ws_cubin_find_offset(names->cubin, names->section, sec_off, &place, NULL) != WS_OK)
		return NULL;
	return place.rel_pc == 0 ? place.function : NULL;
}
