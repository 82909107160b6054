/* SPDX-License-Identifier: Apache-2.0 */
#include "disas/code_names.h"

#include <warpscope/assemble.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int target_order(const void *left, const void *right)
{
	const struct ws_branch_target *a = left, *b = right;
	if (a->sec_off != b->sec_off)
		return a->sec_off < b->sec_off ? -1 : 1;
	return (a->target > b->target) - (a->target < b->target);
}

void code_names_init(struct code_names *names, struct ws_cubin *cubin, uint32_t section)
{
	size_t n = 0;
	*names = (struct code_names){ .cubin = cubin, .section = section };
	names->relocs = relocs_of(cubin, section, &names->n_relocs);
	ws_cubin_branch_targets(cubin, section, NULL, 0, &n);
	if (n > 0) {
		names->targets = cli_alloc(n, sizeof *names->targets);
		ws_cubin_branch_targets(cubin, section, names->targets, n, &n);
		qsort(names->targets, n, sizeof *names->targets, target_order);
		names->n_targets = n;
	}
}

void code_names_fini(struct code_names *names)
{
	free(names->relocs);
	free(names->targets);
	free(names->text);
	*names = (struct code_names){ 0 };
}

/* The elements of an array, `size` bytes each, that begin with `sec_off`: by offset. */
static const void *find_all_at(const void *array, size_t n, size_t size, uint64_t sec_off,
			       size_t *ret_n)
{
	size_t found = 0;
	*ret_n = 0;
	if (n == 0)
		return NULL;
	const char *at = array, *end = at + n * size;
	while (n > 0) {
		size_t half = n / 2;
		if (*(const uint64_t *)(const void *)(at + half * size) < sec_off) {
			at += (half + 1) * size;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	while (at + found * size < end &&
	       *(const uint64_t *)(const void *)(at + found * size) == sec_off)
		found++;
	*ret_n = found;
	return at;
}

_Static_assert(offsetof(struct ws_reloc, sec_off) == 0, "find_all() reads it");
_Static_assert(offsetof(struct ws_branch_target, sec_off) == 0, "find_all() reads it");

const struct ws_reloc *code_names_relocs(const struct code_names *names, uint64_t sec_off,
					 size_t *ret_n)
{
	return find_all_at(names->relocs, names->n_relocs, sizeof *names->relocs, sec_off, ret_n);
}

const struct ws_branch_target *code_names_targets(const struct code_names *names, uint64_t sec_off,
						  size_t *ret_n)
{
	return find_all_at(names->targets, names->n_targets, sizeof *names->targets, sec_off,
			   ret_n);
}

/* Whether the field that is filled is zero, so that nothing is lost with it. */
static bool field_is_empty(const struct ws_insn *insn, const struct ws_reloc *reloc)
{
	bool is_call = reloc->kind == WS_RELOC_CALL || reloc->kind == WS_RELOC_UNIFIED_CALL;
	return ws_insn_bits(insn, reloc->lo, reloc->len) == 0 &&
	       (!is_call || insn->sm < 90 || ws_insn_bits(insn, 16, 8) == 0);
}

/* Whether ws_assemble() makes this relocation of the name in the operand. */
static bool is_spelled(const struct ws_reloc *reloc)
{
	return reloc->kind == WS_RELOC_LOW || reloc->kind == WS_RELOC_HIGH ||
	       reloc->kind == WS_RELOC_CALL;
}

const struct ws_reloc *code_names_style(struct code_names *names, uint64_t sec_off,
					const struct ws_insn *insn, struct ws_sass_style *style)
{
	static const struct {
		const char *start, *end;
	} around[] = {
		[WS_RELOC_LOW] = { "32@lo(", ")" },
		[WS_RELOC_HIGH] = { "32@hi(", ")" },
		[WS_RELOC_CALL] = { "`(", ")" },
		[WS_RELOC_NUMBER] = { "`(", ")" },
		[WS_RELOC_CONSTANT] = { "`(", ")" },
		[WS_RELOC_UNIFIED_LOW] = { "32@lo(fun@unified(", "))" },
		[WS_RELOC_UNIFIED_HIGH] = { "32@hi(fun@unified(", "))" },
		[WS_RELOC_UNIFIED_CALL] = { "`(", ")" },
		[WS_RELOC_KERNEL_LOW] = { "32@lo(fun@fdesc(", "))" },
		[WS_RELOC_KERNEL_HIGH] = { "32@hi(fun@fdesc(", "))" },
	};
	size_t n, size = names->for_assembler ? CODE_NAMES_QUOTED_MAX : CODE_NAMES_TEXT_MAX;
	const struct ws_reloc *reloc = code_names_relocs(names, sec_off, &n);
	while (n > 0 && (reloc->kind == WS_RELOC_OTHER || reloc->symbol.len == 0)) {
		reloc++;
		n--;
	}
	if (n == 0 ||
	    ((names->for_assembler || !reloc->has_addend) && !field_is_empty(insn, reloc)) ||
	    (names->for_assembler &&
	     (!is_spelled(reloc) ||
	      asm_names_write(names->for_assembler, reloc->symbol_index, reloc->symbol, NULL, 0) +
			      CODE_NAMES_AROUND >
		      size)))
		return NULL;
	char addend[24] = "", *text = names->text ? names->text : cli_alloc(size, 1);
	if (reloc->addend)
		snprintf(addend, sizeof addend, "%c0x%" PRIx64, reloc->addend < 0 ? '-' : '+',
			 reloc->addend < 0 ? 0 - (uint64_t)reloc->addend : (uint64_t)reloc->addend);
	names->text = text;
	n = (size_t)snprintf(text, size, "%s", around[reloc->kind].start);
	if (names->for_assembler)
		n += asm_names_write(names->for_assembler, reloc->symbol_index, reloc->symbol,
				     text + n, size - n);
	else
		n += (size_t)snprintf(text + n, size - n, "%.*s", (int)reloc->symbol.len,
				      reloc->symbol.ptr);
	snprintf(text + n, size - n, "%s%s", addend, around[reloc->kind].end);
	style->relocated = text;
	style->relocated_lo = reloc->lo;
	style->relocated_len = reloc->len;
	return reloc;
}

const struct ws_function *code_names_function(const struct code_names *names, uint64_t sec_off)
{
	struct ws_place place;
	if (ws_cubin_find_offset(names->cubin, names->section, sec_off, &place, NULL) != WS_OK)
		return NULL;
	return place.rel_pc == 0 ? place.function : NULL;
}
