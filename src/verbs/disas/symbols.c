/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/assemble.h>

#include "verbs/disas/disas.h"

static void asm_name_add(struct wsi_disas_symbols *names, struct ws_str name, uint32_t index,
			 int kind, enum ws_symbol_kind of)
{
	if (name.len == 0 || !wsi_disas_grow(names->d, &names->symbols, &names->cap, names->n,
					     sizeof *names->symbols))
		return;
	struct wsi_disas_symbol *symbol = &names->symbols[names->n++];
	*symbol = (struct wsi_disas_symbol){ .name = name, .index = index };
	symbol->kind = kind;
	symbol->of = of;
}

static void add_relocated_names(struct wsi_disas_symbols *names, struct ws_cubin *cubin,
				uint32_t section)
{
	size_t n;
	struct ws_reloc *relocs = wsi_disas_relocs(names->d, cubin, section, &n);
	for (size_t i = 0; i < n; i++)
		asm_name_add(names, relocs[i].symbol, relocs[i].symbol_index, ASM_USED,
			     relocs[i].symbol_kind);
	wsi_free(relocs);
}

static int symbol_order(const void *left, const void *right)
{
	const struct wsi_disas_symbol *a = left, *b = right;
	int order = wsi_str_order(a->name, b->name);
	order = order ? order : WSI_ORDER(a->index, b->index);
	return order ? order : WSI_ORDER(a->kind, b->kind);
}

static int index_order(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return WSI_ORDER(*a, *b);
}

/* Leaves each symbol once, and finds those that share a name. */
static void settle_names(struct wsi_disas_symbols *names)
{
	size_t n = 0;
	if (names->n > 0)
		qsort(names->symbols, names->n, sizeof *names->symbols, symbol_order);
	for (size_t i = 0; i < names->n; i++) {
		struct wsi_disas_symbol *s = &names->symbols[i],
					*last = &names->symbols[n - (n > 0)];
		bool same = n > 0 && ws_str_equal(last->name, s->name);
		if (same && last->index == s->index)
			continue;
		last->is_shared |= same;
		s->is_shared = same;
		names->symbols[n++] = *s;
	}
	names->n = n;
	names->shared = wsi_disas_alloc(names->d, n, sizeof *names->shared);
	for (size_t i = 0; names->shared && i < n; i++)
		if (names->symbols[i].is_shared)
			names->shared[names->n_shared++] = names->symbols[i].index;
	if (names->shared)
		qsort(names->shared, names->n_shared, sizeof *names->shared, index_order);
}

/* One underscore more than any symbol has behind the first letters of our own names. */
static unsigned underscores(const struct wsi_disas_symbols *names)
{
	static const char *const ours[] = { ".L", "param", "shared" };
	unsigned most = 0;
	for (size_t i = 0; i < names->n; i++) {
		struct ws_str name = names->symbols[i].name;
		for (size_t k = 0; k < WSI_COUNT(ours); k++) {
			size_t start = strlen(ours[k]), at = start;
			if (!wsi_str_begins(name, ours[k]))
				continue;
			while (at < name.len && name.ptr[at] == '_')
				at++;
			most = at - start > most ? (unsigned)(at - start) : most;
		}
	}
	return most + 1;
}

void wsi_disas_symbols_init(struct wsi_disas *d, struct wsi_disas_symbols *names,
			    struct ws_cubin *cubin, const struct wsi_disas_constants *constants,
			    bool (*is_declared)(const struct ws_variable *variable))
{
	const struct ws_function *functions;
	const struct ws_variable *variables;
	size_t n_functions = 0, n_variables = 0;
	*names = (struct wsi_disas_symbols){ .d = d };
	if (ws_cubin_functions(cubin, &functions, &n_functions, NULL) != WS_OK ||
	    ws_cubin_variables(cubin, &variables, &n_variables, NULL) != WS_OK)
		d->no_memory = true;
	for (size_t i = 0; i < n_functions; i++) {
		const struct ws_function *f = &functions[i];
		asm_name_add(names, f->symbol, f->symbol_index,
			     f->section ? ASM_DEFINED : ASM_EXTERN_FUNCTION, WS_SYMBOL_FUNCTION);
		if (f->section && !f->is_inner)
			add_relocated_names(names, cubin, f->section);
	}
	for (size_t i = 0; i < n_variables; i++)
		if (is_declared(&variables[i]))
			asm_name_add(names, variables[i].name, variables[i].symbol_index,
				     ASM_DEFINED, WS_SYMBOL_DATA);
	for (size_t i = 0; i < constants->n; i++)
		if (constants->at[i].section)
			asm_name_add(names, constants->at[i].symbol, constants->at[i].symbol_index,
				     ASM_USED, constants->at[i].symbol_kind);
	settle_names(names);
	names->n_underscores = underscores(names);
}

void wsi_disas_symbols_fini(struct wsi_disas_symbols *names)
{
	wsi_free(names->symbols);
	wsi_free(names->shared);
}

bool wsi_disas_symbol_is_shared(const struct wsi_disas_symbols *names, uint32_t index)
{
	return names->n_shared > 0 &&
	       bsearch(&index, names->shared, names->n_shared, sizeof *names->shared, index_order);
}

size_t wsi_disas_symbol_write(const struct wsi_disas_symbols *names, uint32_t index,
			      struct ws_str name, char *buffer, size_t size)
{
	if (!names || !wsi_disas_symbol_is_shared(names, index))
		return ws_assemble_name(name, buffer, size);
	char *text = wsi_disas_alloc(names->d, name.len + 16, 1);
	if (!text)
		return 0;
	memcpy(text, name.ptr, name.len);
	size_t n = name.len + (size_t)snprintf(text + name.len, 16, "@%u", (unsigned)index);
	n = ws_assemble_name((struct ws_str){ text, n }, buffer, size);
	wsi_free(text);
	return n;
}
