/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open-addressing table from (pc, device, context) to what is known of it: a dump has many lanes
 * and few places. Contexts have address spaces of their own, so the address alone is no key.
 */
#include <warpscope/symbols.h>

#include "base/base.h"

struct symbol_entry {
	bool used;
	uint64_t pc;
	uint32_t device_index, context_index;
	struct ws_symbol symbol;
	char *function, *path; /* owned: its strings */
};

struct ws_symbols {
	struct ws_cubin_set *set;   /* the target's */
	struct symbol_entry *entry; /* owned; a power of two */
	size_t n_entries, n_used;
};

enum ws_status ws_symbols_create(const struct ws_target *target, struct ws_symbols **ret_symbols,
				 struct ws_error *err)
{
	struct ws_symbols *symbols = wsi_zalloc(sizeof *symbols);
	*ret_symbols = NULL;
	if (symbols) {
		symbols->n_entries = 256;
		symbols->entry = wsi_zalloc_array(symbols->n_entries, sizeof *symbols->entry);
	}
	if (!symbols || !symbols->entry) {
		wsi_free(symbols);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for names of code");
	}
	enum ws_status st = ws_target_cubins(target, &symbols->set, err);
	if (st != WS_OK)
		ws_symbols_destroy(symbols);
	else
		*ret_symbols = symbols;
	return st;
}

void ws_symbols_destroy(struct ws_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n_entries; i++) {
		wsi_free(symbols->entry[i].function);
		wsi_free(symbols->entry[i].path);
	}
	wsi_free(symbols->entry);
	wsi_free(symbols);
}

/* ---- looking up ---- */

/* The short C++ name; NULL: out of memory. */
static char *short_name_of(struct ws_str mangled)
{
	char text[WS_NAME_BYTES];
	ws_demangle_short(mangled, text, sizeof text);
	return wsi_strdup(text);
}

static char *path_of(const struct ws_line_file *file)
{
	size_t size = file ? ws_line_path(file, NULL, 0) + 1 : 1;
	char *path = wsi_zalloc(size);
	if (path && file)
		ws_line_path(file, path, size);
	return path;
}

static void line_look_up(const struct ws_place *place, struct symbol_entry *entry)
{
	struct ws_symbol *symbol = &entry->symbol;
	struct ws_line_pos pos;
	size_t n;
	symbol->line_status =
		ws_cubin_line_find(place->cubin, place->section, place->sec_off, &pos, 1, &n, NULL);
	if (symbol->line_status != WS_OK)
		return;
	symbol->line = pos.line;
	if (pos.function && n > 1)
		entry->function = short_name_of(ws_str_of(pos.function));
	entry->path = path_of(pos.file);
	if (!entry->path)
		symbol->line_status = WS_NO_MEMORY;
}

static void look_up(struct ws_symbols *symbols, struct symbol_entry *entry,
		    const struct ws_grid *grid)
{
	struct ws_symbol *symbol = &entry->symbol;
	struct ws_place place;
	enum ws_status st = ws_symbols_place(symbols, entry->device_index, grid, entry->pc, &place);
	symbol->function_status = symbol->line_status = st;
	if (st != WS_OK)
		return;
	symbol->rel_pc = place.rel_pc;
	line_look_up(&place, entry);
	if (!entry->function && place.function)
		entry->function = short_name_of(place.function->name);
	symbol->function_status = entry->function  ? WS_OK
				  : place.function ? WS_NO_MEMORY
						   : WS_ABSENT;
	symbol->function = entry->function;
	symbol->path = entry->path;
}

static struct symbol_entry *slot(struct symbol_entry *entries, size_t n_entries, uint64_t pc,
				 uint32_t device_index, uint32_t context_index)
{
	uint64_t hash = (pc >> 4 ^ (uint64_t)device_index << 40 ^ (uint64_t)context_index << 48) *
			UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = hash >> 32;; i++) {
		struct symbol_entry *entry = &entries[i & (n_entries - 1)];
		if (!entry->used || (entry->pc == pc && entry->device_index == device_index &&
				     entry->context_index == context_index))
			return entry;
	}
}

static bool symbols_grow(struct ws_symbols *symbols)
{
	size_t n_entries = symbols->n_entries * 2;
	struct symbol_entry *entries = wsi_zalloc_array(n_entries, sizeof *entries);
	if (!entries)
		return false;
	for (size_t i = 0; i < symbols->n_entries; i++) {
		const struct symbol_entry *old = &symbols->entry[i];
		if (old->used)
			*slot(entries, n_entries, old->pc, old->device_index, old->context_index) =
				*old;
	}
	wsi_free(symbols->entry);
	symbols->entry = entries;
	symbols->n_entries = n_entries;
	return true;
}

const struct ws_symbol *ws_symbols_find(struct ws_symbols *symbols, uint32_t device_index,
					const struct ws_grid *grid, uint64_t pc)
{
	uint32_t context = grid ? grid->context_index : WS_NONE;
	struct symbol_entry *entry =
		slot(symbols->entry, symbols->n_entries, pc, device_index, context);
	if (entry->used)
		return &entry->symbol;
	if ((symbols->n_used + 1) * 2 > symbols->n_entries) {
		static const struct ws_symbol lost = { .function_status = WS_NO_MEMORY,
						       .line_status = WS_NO_MEMORY };
		if (!symbols_grow(symbols))
			return &lost;
		entry = slot(symbols->entry, symbols->n_entries, pc, device_index, context);
	}
	symbols->n_used++;
	entry->used = true;
	entry->pc = pc;
	entry->device_index = device_index;
	entry->context_index = context;
	look_up(symbols, entry, grid);
	return &entry->symbol;
}

enum ws_status ws_symbols_place(struct ws_symbols *symbols, uint32_t device_index,
				const struct ws_grid *grid, uint64_t pc, struct ws_place *ret_place)
{
	struct ws_cubin_hint hint = { .module_index = grid ? grid->module_index : WS_NONE,
				      .device_index = device_index,
				      .context_index = grid ? grid->context_index : WS_NONE };
	return ws_cubin_set_find_address(symbols->set, pc, &hint, ret_place, NULL);
}
