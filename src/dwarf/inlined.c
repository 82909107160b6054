/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are inlined at an address. */
#include "dwarf/dwarf.h"

enum {
	MAX_CALLS = 511, /* within each other, as in line maps */
	MAX_ORIGINS = 4, /* entries that stand for one another */
};

/* The calls that hold an address, outermost first, as indices of dwarf->calls. */
struct call_chain {
	uint32_t call[MAX_CALLS];
	size_t n;
};

static void chain_find(const struct ws_dwarf *dwarf, uint64_t function, uint64_t pc,
		       struct call_chain *chain)
{
	const struct wsi_dwarf_call *calls = dwarf->calls;
	uint32_t last = UINT32_MAX;
	chain->n = 0;
	for (size_t i = WSI_BISECT(k, 0, dwarf->n_calls, calls[k].off < function);
	     i < dwarf->n_calls && calls[i].function == function; i++) {
		if (pc < calls[i].low || pc >= calls[i].high)
			continue;
		if (calls[i].parent == last && chain->n < MAX_CALLS) {
			chain->call[chain->n++] = last = (uint32_t)i;
			continue;
		}
		/* a second one of the same caller: what they have in common is their callers */
		size_t n = 0;
		while (n < chain->n && calls[chain->call[n]].parent != calls[i].parent)
			n++;
		if (n < chain->n) {
			chain->n = n;
			return;
		}
	}
}

/* The name of what an entry is a copy of. */
static struct ws_str origin_name(struct wsi_dwarf_look *look, const struct wsi_dwarf_attrs *attrs)
{
	struct wsi_dwarf_attrs now = *attrs;
	struct ws_str name = { NULL, 0 };
	for (unsigned i = 0; i < MAX_ORIGINS && now.has & WSI_HAS_ORIGIN; i++) {
		struct wsi_dwarf_at at;
		if (wsi_dwarf_entry_at(look, now.origin, &at, NULL) != WS_OK)
			break;
		now = at.attrs;
		struct ws_str linkage = wsi_dwarf_name(look, &now.linkage);
		if (linkage.len)
			return linkage;
		if (!name.len)
			name = wsi_dwarf_name(look, &now.name);
	}
	return name;
}

static uint32_t number_of(uint64_t number)
{
	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static enum ws_status call_read(const struct ws_dwarf *dwarf, uint64_t off,
				struct ws_dwarf_inlined *ret_inlined, struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	enum ws_status st = wsi_dwarf_entry_at(&look, off, &at, err);
	if (st != WS_OK)
		return st;
	*ret_inlined = (struct ws_dwarf_inlined){
		.name = origin_name(&look, &at.attrs),
		.info_off = off,
		.call_file = number_of(at.attrs.call_file),
		.call_line = number_of(at.attrs.call_line),
		.call_column = number_of(at.attrs.call_column),
	};
	return WS_OK;
}

enum ws_status ws_dwarf_inlined(const struct ws_dwarf *dwarf,
				const struct ws_dwarf_function *function, uint64_t rel_pc,
				struct ws_dwarf_inlined *ret_inlined, size_t cap, size_t *ret_n,
				struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	struct call_chain chain;
	enum ws_status st = wsi_dwarf_entry_at(&look, function->info_off, &at, err);
	if (st != WS_OK)
		return st;
	chain_find(dwarf, function->info_off, at.attrs.low_pc + rel_pc, &chain);
	for (size_t i = 0; i < chain.n && i < cap; i++) {
		st = call_read(dwarf, dwarf->calls[chain.call[i]].off, &ret_inlined[i], err);
		if (st != WS_OK)
			return st;
	}
	*ret_n = chain.n;
	return WS_OK;
}
