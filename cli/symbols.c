/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open-addressing table from (pc, device, context) to what is known of it: a dump has many lanes
 * and few places. Contexts have address spaces of their own, so the address alone is no key.
 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>
#include <warpscope/line.h>

#include "names.h"

struct entry {
	bool used;
	uint64_t pc;
	uint32_t device_index, context_index;
	struct symbol symbol; /* strings owned */
};

struct symbols {
	const struct ws_target *target; /* borrowed */
	struct ws_cubin_set *set;       /* the target's */
	struct entry *entry;            /* owned; a power of two */
	size_t n_entries, n_used;
};

struct symbols *symbols_create(const struct ws_target *target)
{
	struct symbols *symbols = cli_alloc(1, sizeof *symbols);
	symbols->target = target;
	symbols->n_entries = 256;
	symbols->entry = cli_alloc(symbols->n_entries, sizeof *symbols->entry);
	if (ws_target_cubins(target, &symbols->set, NULL) != WS_OK)
		cli_out_of_memory();
	return symbols;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n_entries; i++) {
		free(symbols->entry[i].symbol.function);
		free(symbols->entry[i].symbol.path);
	}
	free(symbols->entry);
	free(symbols);
}

struct ws_cubin_set *symbols_modules(struct symbols *symbols)
{
	return symbols->set;
}

/* ---- looking up ---- */

static void line_look_up(const struct ws_place *place, struct symbol *symbol)
{
	struct ws_line_pos pos;
	size_t n;
	symbol->line_status =
		ws_cubin_line_find(place->cubin, place->section, place->sec_off, &pos, 1, &n, NULL);
	if (symbol->line_status != WS_OK)
		return;
	symbol->line = pos.line;
	if (pos.function && n > 1) {
		symbol->function_status = WS_OK;
		symbol->function = name_copy(ws_str_of(pos.function), NAME_SHORT);
	}
	size_t size = pos.file ? ws_line_path(pos.file, NULL, 0) + 1 : 1;
	char *path = cli_alloc(size, 1);
	if (pos.file)
		ws_line_path(pos.file, path, size);
	symbol->path = path;
}

static void look_up(struct symbols *symbols, struct entry *entry, uint32_t module_index)
{
	struct symbol *symbol = &entry->symbol;
	struct ws_cubin_hint hint = { .module_index = module_index,
				      .device_index = entry->device_index,
				      .context_index = entry->context_index };
	struct ws_place place;
	enum ws_status st = ws_cubin_set_find_address(symbols->set, entry->pc, &hint, &place, NULL);
	symbol->function_status = symbol->line_status = st;
	if (st != WS_OK)
		return;
	symbol->rel_pc = place.rel_pc;
	line_look_up(&place, symbol);
	if (!symbol->function && place.function)
		symbol->function = name_copy(place.function->name, NAME_SHORT);
	symbol->function_status = symbol->function ? WS_OK : WS_ABSENT;
}

static struct entry *slot(struct entry *entries, size_t n_entries, uint64_t pc,
			  uint32_t device_index, uint32_t context_index)
{
	uint64_t hash = (pc >> 4 ^ (uint64_t)device_index << 40 ^ (uint64_t)context_index << 48) *
			UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = hash >> 32;; i++) {
		struct entry *entry = &entries[i & (n_entries - 1)];
		if (!entry->used || (entry->pc == pc && entry->device_index == device_index &&
				     entry->context_index == context_index))
			return entry;
	}
}

static void grow(struct symbols *symbols)
{
	size_t n_entries = symbols->n_entries * 2;
	struct entry *entries = cli_alloc(n_entries, sizeof *entries);
	for (size_t i = 0; i < symbols->n_entries; i++) {
		const struct entry *old = &symbols->entry[i];
		if (old->used)
			*slot(entries, n_entries, old->pc, old->device_index, old->context_index) =
				*old;
	}
	free(symbols->entry);
	symbols->entry = entries;
	symbols->n_entries = n_entries;
}

const struct symbol *symbols_find(struct symbols *symbols, uint32_t device_index,
				  const struct ws_grid *grid, uint64_t pc)
{
	uint32_t context = grid ? grid->context_index : WS_NONE;
	struct entry *entry = slot(symbols->entry, symbols->n_entries, pc, device_index, context);
	if (entry->used)
		return &entry->symbol;
	if (++symbols->n_used * 2 > symbols->n_entries) {
		grow(symbols);
		entry = slot(symbols->entry, symbols->n_entries, pc, device_index, context);
	}
	entry->used = true;
	entry->pc = pc;
	entry->device_index = device_index;
	entry->context_index = context;
	look_up(symbols, entry, grid ? grid->module_index : WS_NONE);
	return &entry->symbol;
}

enum ws_status symbols_place(struct symbols *symbols, uint32_t device_index,
			     const struct ws_grid *grid, uint64_t pc, struct ws_place *ret_place)
{
	struct ws_cubin_hint hint = { .module_index = grid ? grid->module_index : WS_NONE,
				      .device_index = device_index,
				      .context_index = grid ? grid->context_index : WS_NONE };
	return ws_cubin_set_find_address(symbols->set, pc, &hint, ret_place, NULL);
}

char *symbols_kernel(struct symbols *symbols, const struct ws_grid *grid)
{
	struct ws_cubin_hint hint = { .module_index = grid->module_index,
				      .device_index = grid->device_index,
				      .context_index = grid->context_index };
	struct ws_place place;
	if (ws_cubin_set_find_address(symbols->set, grid->function_entry, &hint, &place, NULL) !=
		    WS_OK ||
	    (!place.owner && !place.function))
		return NULL;
	return name_copy(place.owner ? place.owner->name : place.function->name, NAME_KERNEL);
}
