/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <warpscope/assemble.h>

#include "verbs/disas/disas.h"

static int target_order(const void *left, const void *right)
{
	const struct ws_branch_target *a = left, *b = right;
	return WSI_ORDER_THEN(a->sec_off, b->sec_off, WSI_ORDER(a->target, b->target));
}

void wsi_disas_names_init(struct wsi_disas *d, struct wsi_disas_names *names,
			  struct ws_cubin *cubin, uint32_t section)
{
	size_t n = 0;
	*names = (struct wsi_disas_names){ .d = d, .cubin = cubin, .section = section };
	names->relocs = wsi_disas_relocs(d, cubin, section, &names->n_relocs);
	ws_cubin_branch_targets(cubin, section, NULL, 0, &n);
	if (n > 0)
		names->targets = wsi_disas_alloc(d, n, sizeof *names->targets);
	if (names->targets) {
		ws_cubin_branch_targets(cubin, section, names->targets, n, &n);
		qsort(names->targets, n, sizeof *names->targets, target_order);
		names->n_targets = n;
	}
}

void wsi_disas_names_fini(struct wsi_disas_names *names)
{
	wsi_free(names->relocs);
	wsi_free(names->targets);
	wsi_free(names->text);
}

/* The elements of an array, `size` bytes each, that begin with `sec_off`: by offset. */
static const void *find_all_at(const void *array, size_t n, size_t size, uint64_t sec_off,
			       size_t *ret_n)
{
	const char *bytes = array;
#define SEC_OFF(i) (*(const uint64_t *)(const void *)(bytes + (i)*size))
	const size_t first = WSI_BISECT(i, (size_t)0, n, SEC_OFF(i) < sec_off);
	size_t end = first;
	while (end < n && SEC_OFF(end) == sec_off)
		end++;
#undef SEC_OFF
	*ret_n = end - first;
	return end > first ? bytes + first * size : NULL;
}

_Static_assert(offsetof(struct ws_reloc, sec_off) == 0, "find_all_at() reads it");
_Static_assert(offsetof(struct ws_branch_target, sec_off) == 0, "find_all_at() reads it");

const struct ws_reloc *wsi_disas_names_relocs(const struct wsi_disas_names *names, uint64_t sec_off,
					      size_t *ret_n)
{
	return find_all_at(names->relocs, names->n_relocs, sizeof *names->relocs, sec_off, ret_n);
}

const struct ws_branch_target *wsi_disas_names_targets(const struct wsi_disas_names *names,
						       uint64_t sec_off, size_t *ret_n)
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

const struct ws_reloc *wsi_disas_names_style(struct wsi_disas_names *names, uint64_t sec_off,
					     const struct ws_insn *insn,
					     struct ws_sass_style *style)
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
	size_t n, size = names->for_assembler ? DISAS_NAME_QUOTED_MAX : DISAS_NAME_TEXT_MAX;
	const struct ws_reloc *reloc = wsi_disas_names_relocs(names, sec_off, &n);
	while (n > 0 && (reloc->kind == WS_RELOC_OTHER || reloc->symbol.len == 0)) {
		reloc++;
		n--;
	}
	if (n == 0 ||
	    ((names->for_assembler || !reloc->has_addend) && !field_is_empty(insn, reloc)) ||
	    (names->for_assembler &&
	     (!is_spelled(reloc) ||
	      wsi_disas_symbol_write(names->for_assembler, reloc->symbol_index, reloc->symbol, NULL,
				     0) +
			      DISAS_NAME_AROUND >
		      size)))
		return NULL;
	char addend[24] = "";
	if (!names->text)
		names->text = wsi_disas_alloc(names->d, size, 1);
	char *text = names->text;
	if (!text)
		return NULL;
	if (reloc->addend)
		snprintf(addend, sizeof addend, "%c0x%" PRIx64, reloc->addend < 0 ? '-' : '+',
			 reloc->addend < 0 ? 0 - (uint64_t)reloc->addend : (uint64_t)reloc->addend);
	n = (size_t)snprintf(text, size, "%s", around[reloc->kind].start);
	if (names->for_assembler)
		n += wsi_disas_symbol_write(names->for_assembler, reloc->symbol_index,
					    reloc->symbol, text + n, size - n);
	else
		n += (size_t)snprintf(text + n, size - n, "%.*s", (int)reloc->symbol.len,
				      reloc->symbol.ptr);
	snprintf(text + n, size - n, "%s%s", addend, around[reloc->kind].end);
	style->relocated = text;
	style->relocated_lo = reloc->lo;
	style->relocated_len = reloc->len;
	return reloc;
}

const struct ws_function *wsi_disas_names_function(const struct wsi_disas_names *names,
						   uint64_t sec_off)
{
	struct ws_place place;
	if (ws_cubin_find_offset(names->cubin, names->section, sec_off, &place, NULL) != WS_OK)
		return NULL;
	return place.rel_pc == 0 ? place.function : NULL;
}
