/* SPDX-License-Identifier: Apache-2.0 */
#include "disas/asm_names.h"

#include <warpscope/assemble.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void asm_name_add(struct asm_names *names, struct ws_str name, uint32_t index, int kind,
			 enum ws_symbol_kind of)
{
	if (name.len == 0)
		return;
	cli_grow(&names->symbols, &names->cap, names->n, sizeof *names->symbols);
	struct asm_symbol *symbol = &names->symbols[names->n++];
	*symbol = (struct asm_symbol){ .name = name, .index = index };
	symbol->kind = kind;
	symbol->of = of;
}

static void add_relocated_names(struct asm_names *names, struct ws_cubin *cubin, uint32_t section)
{
	size_t n;
	struct ws_reloc *relocs = relocs_of(cubin, section, &n);
	for (size_t i = 0; i < n; i++)
		asm_name_add(names, relocs[i].symbol, relocs[i].symbol_index, ASM_USED,
			     relocs[i].symbol_kind);
	free(relocs);
}

static int symbol_order(const void *left, const void *right)
{
	const struct asm_symbol *a = left, *b = right;
	size_t n = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = memcmp(a->name.ptr, b->name.ptr, n);
	if (order == 0)
		order = (a->name.len > b->name.len) - (a->name.len < b->name.len);
	if (order == 0)
		order = (a->index > b->index) - (a->index < b->index);
	return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

static int index_order(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* Leaves each symbol once, and finds those that share a name. */
static void settle_names(struct asm_names *names)
{
	size_t n = 0;
	if (names->n > 0)
		qsort(names->symbols, names->n, sizeof *names->symbols, symbol_order);
	for (size_t i = 0; i < names->n; i++) {
		struct asm_symbol *s = &names->symbols[i], *last = &names->symbols[n - (n > 0)];
		bool same = n > 0 && ws_str_equal(last->name, s->name);
		if (same && last->index == s->index)
			continue;
		last->is_shared |= same;
		s->is_shared = same;
		names->symbols[n++] = *s;
	}
	names->n = n;
	names->shared = cli_alloc(n, sizeof *names->shared);
	for (size_t i = 0; i < n; i++)
		if (names->symbols[i].is_shared)
			names->shared[names->n_shared++] = names->symbols[i].index;
	qsort(names->shared, names->n_shared, sizeof *names->shared, index_order);
}

/* One underscore more than any symbol has behind the first letters of our own names. */
static unsigned underscores(const struct asm_names *names)
{
	static const char *const ours[] = { ".L", "param", "shared" };
	unsigned most = 0;
	for (size_t i = 0; i < names->n; i++) {
		struct ws_str name = names->symbols[i].name;
		for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
			size_t start = strlen(ours[k]), at = start;
			if (name.len < start || memcmp(name.ptr, ours[k], start) != 0)
				continue;
			while (at < name.len && name.ptr[at] == '_')
				at++;
			most = at - start > most ? (unsigned)(at - start) : most;
		}
	}
	return most + 1;
}

void asm_names_init(struct asm_names *names, struct ws_cubin *cubin,
		    const struct constants *constants,
		    bool (*is_declared)(const struct ws_variable *variable))
{
	const struct ws_function *functions;
	const struct ws_variable *variables;
	size_t n_functions = 0, n_variables = 0;
	*names = (struct asm_names){ 0 };
	if (ws_cubin_functions(cubin, &functions, &n_functions, NULL) != WS_OK ||
	    ws_cubin_variables(cubin, &variables, &n_variables, NULL) != WS_OK)
		cli_out_of_memory();
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

void asm_names_fini(struct asm_names *names)
{
	free(names->symbols);
	free(names->shared);
	*names = (struct asm_names){ 0 };
}

bool asm_names_is_shared(const struct asm_names *names, uint32_t index)
{
	return names->n_shared > 0 &&
	       bsearch(&index, names->shared, names->n_shared, sizeof *names->shared, index_order);
}

size_t asm_names_write(const struct asm_names *names, uint32_t index, struct ws_str name,
		       char *buffer, size_t size)
{
	if (!asm_names_is_shared(names, index))
		return ws_assemble_name(name, buffer, size);
	char *text = cli_alloc(name.len + 16, 1);
	memcpy(text, name.ptr, name.len);
	size_t n = name.len + (size_t)snprintf(text + name.len, 16, "@%u", (unsigned)index);
	n = ws_assemble_name((struct ws_str){ text, n }, buffer, size);
	free(text);
	return n;
}
