/* SPDX-License-Identifier: Apache-2.0 */
/* From code to source, and from a place of the source to code. */
#include "debug/session.h"

#include <errno.h>

#include <warpscope/sass.h>
#include <warpscope/symbols.h>

enum {
	MAX_LINES = 50,        /* that are tried for one without code */
	NAME_BYTES = 128 << 10 /* of a C++ name */
};

/* ---- from code to source ---- */

bool ws_debug_place(const struct ws_debug *d, uint64_t pc, struct ws_place *ret_place)
{
	struct ws_cubin_set *set;
	return ws_target_cubins(d->target, &set, NULL) == WS_OK &&
	       ws_cubin_set_find_address(set, pc, NULL, ret_place, NULL) == WS_OK;
}

void ws_debug_position(const struct ws_debug *d, uint64_t pc,
		       struct ws_debug_position *ret_position)
{
	struct ws_place place;
	if (!ws_debug_place(d, pc, &place) ||
	    ws_cubin_line_find(place.cubin, place.section, place.sec_off, ret_position->chain,
			       WSI_COUNT(ret_position->chain), &ret_position->n, NULL) != WS_OK)
		ret_position->n = 0;
}

/* Where code of -G has its arguments in their places, for an address before that; others stay. A
 * line of its own is there, or one that goes on: gdb's rule. Optimized code keeps arguments where
 * they are, and its lines say nothing of them. */
uint64_t wsi_debug_past_prologue(const struct ws_debug *d, uint64_t pc)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	struct ws_place place;
	struct ws_debug_position position;
	if (!ws_debug_place(d, pc, &place) || !place.function ||
	    ws_cubin_dwarf(place.cubin, &dwarf, NULL) != WS_OK ||
	    ws_dwarf_find_function(dwarf, place.function->name, &function, NULL) != WS_OK)
		return pc;
	const uint64_t entry = pc - place.rel_pc, end = entry + place.function->size_bytes;
	ws_debug_position(d, entry, &position);
	struct ws_line_pos last = position.chain[0];
	for (uint64_t at = entry; position.n > 0 && at < end; at += WS_SASS_BYTES) {
		const struct ws_line_pos *here = &position.chain[0];
		const bool inlined = position.n > 1;
		if (here->row != last.row &&
		    (inlined || here->file != last.file || here->line >= last.line))
			return pc > at ? pc : at;
		last = *here;
		ws_debug_position(d, at + WS_SASS_BYTES, &position);
	}
	return pc;
}

/* ---- from source to code ---- */

enum ws_status wsi_places_add(struct wsi_places *places, uint64_t pc, struct ws_error *err)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->pc[i] == pc)
			return WS_OK;
	if (!wsi_grow(&places->pc, &places->cap, places->n, sizeof pc, SIZE_MAX))
		return wsi_debug_no_memory(err);
	places->pc[places->n++] = pc;
	return WS_OK;
}

/* The first code of a line in one copy of it: a function has one for each place where it is
 * inlined. */
struct copy {
	uint64_t sec_off;
	uint32_t context;
	uint64_t pc;
};

struct copies {
	struct ws_cubin *cubin;
	struct ws_line_map *map;
	struct copy *item; /* owned */
	size_t n, cap;
	bool no_memory;
};

/* Device address of an address of a sequence's owner; false: not loaded. */
static bool loaded_address(const struct copies *copies, const struct ws_line_seq *seq,
			   uint64_t address, uint64_t *ret_pc)
{
	struct ws_place place;
	if (ws_cubin_seq_place(copies->cubin, seq, &place, NULL) != WS_OK || !place.function ||
	    !place.function->gpu_va)
		return false;
	uint64_t first = ws_line_row_at(copies->map, seq, 1).address;
	*ret_pc = place.function->gpu_va + place.rel_pc + (address - first);
	return true;
}

/* A `ws_line_hit_fn`. */
static bool take_hit(void *user, const struct ws_line_hit *hit)
{
	struct copies *copies = user;
	struct copy found = { .sec_off = hit->seq->sec_off };
	uint32_t row = hit->row;
	for (uint32_t i = 0; i < hit->level; i++)
		row = ws_line_row_at(copies->map, hit->seq, row).context;
	found.context = ws_line_row_at(copies->map, hit->seq, row).context;
	if (!loaded_address(copies, hit->seq, hit->low, &found.pc))
		return true;
	for (size_t i = 0; i < copies->n; i++) {
		struct copy *one = &copies->item[i];
		if (one->sec_off == found.sec_off && one->context == found.context) {
			one->pc = found.pc < one->pc ? found.pc : one->pc;
			return true;
		}
	}
	copies->no_memory =
		!wsi_grow(&copies->item, &copies->cap, copies->n, sizeof found, SIZE_MAX);
	if (!copies->no_memory)
		copies->item[copies->n++] = found;
	return !copies->no_memory;
}

/* The code of a line in one image. */
static enum ws_status find_line(struct ws_debug *d, struct copies *copies, const char *file,
				uint32_t line, bool tells, struct wsi_places *to,
				struct ws_error *err)
{
	struct ws_error damage;
	enum ws_status st = ws_line_find_source(copies->map, file, line, take_hit, copies, &damage);
	if (st != WS_OK && st != WS_ABSENT && tells)
		wsi_debug_tell(d, WS_DEBUG_PROBLEM, NULL, &damage);
	st = copies->no_memory ? wsi_debug_no_memory(err) : WS_OK;
	for (size_t k = 0; k < copies->n && st == WS_OK; k++)
		st = wsi_places_add(to, copies->item[k].pc, err);
	wsi_free(copies->item);
	return st;
}

/* Appends the addresses of a line that has code. */
static enum ws_status add_line(struct ws_debug *d, const char *file, uint32_t line, bool tells,
			       struct wsi_places *to, struct ws_error *err)
{
	struct ws_cubin_set *set;
	enum ws_status st = WS_OK;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return WS_OK;
	for (uint32_t i = 0; i < ws_cubin_set_count(set) && st == WS_OK; i++) {
		struct copies copies = { 0 };
		if (ws_cubin_set_cubin(set, i, &copies.cubin, NULL) == WS_OK &&
		    ws_cubin_line_map(copies.cubin, &copies.map, NULL) == WS_OK)
			st = find_line(d, &copies, file, line, tells, to, err);
	}
	return st;
}

/* A line, or the next one that has code. */
static enum ws_status locate_line(struct ws_debug *d, const char *file, uint32_t line, bool tells,
				  struct wsi_places *to, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < MAX_LINES && to->n == 0 && st == WS_OK; i++)
		st = add_line(d, file, line + i, tells, to, err);
	return st;
}

/* Whether a name is that of a function, or but for its namespaces and classes; `text` has
 * NAME_BYTES. */
static bool is_function(const struct ws_function *function, const char *name, char *text)
{
	if (ws_name_is(function, name))
		return true;
	ws_demangle_short(function->name, text, NAME_BYTES);
	const size_t n = strlen(text), part = strlen(name);
	return n >= part && strcmp(text + n - part, name) == 0 &&
	       (n == part || (n > part + 2 && memcmp(text + n - part - 2, "::", 2) == 0));
}

static enum ws_status locate_function(const struct ws_debug *d, const char *name,
				      struct wsi_places *to, struct ws_error *err)
{
	struct ws_cubin_set *set;
	wsi_scoped_free char *text = wsi_zalloc(NAME_BYTES);
	enum ws_status st = text ? WS_OK : wsi_debug_no_memory(err);
	if (st != WS_OK || ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return st;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		struct ws_cubin *cubin;
		const struct ws_function *functions;
		size_t n;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) != WS_OK ||
		    ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n && st == WS_OK; k++)
			if (functions[k].gpu_va && is_function(&functions[k], name, text))
				st = wsi_places_add(to, functions[k].gpu_va, err);
	}
	return st;
}

/* A line of the file that the focus is in. */
static enum ws_status locate_here(struct ws_debug *d, uint32_t line, bool tells,
				  struct wsi_places *to, struct ws_error *err)
{
	struct ws_debug_position position = { .n = 0 };
	struct ws_lane lane;
	if (d->has_focus &&
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK)
		ws_debug_position(d, lane.pc, &position);
	if (position.n == 0 || !position.chain[0].file)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"Which file? There is no thread whose source is known");
	const size_t size = ws_line_path(position.chain[0].file, NULL, 0) + 1;
	wsi_scoped_free char *path = wsi_zalloc(size);
	if (!path)
		return wsi_debug_no_memory(err);
	ws_line_path(position.chain[0].file, path, size);
	return locate_line(d, path, line, tells, to, err);
}

/* The number that a whole text is, decimal or 0x. */
static bool text_number_of(const char *text, uint64_t *ret_number)
{
	const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;
	if (!wsi_is_digit(*text))
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, is_hex ? 16 : 10);
	return !*end && !errno;
}

static enum ws_status locate_places(struct ws_debug *d, const char *where, bool tells,
				    struct wsi_places *to, struct ws_error *err)
{
	const char *colon = strrchr(where, ':');
	struct ws_number value;
	uint64_t line;
	if (*where == '*') {
		const enum ws_status st = ws_debug_number(d, where + 1, &value, err);
		return st == WS_OK ? wsi_places_add(to, (uint64_t)value.whole, err) : st;
	}
	if (colon && text_number_of(colon + 1, &line)) {
		wsi_scoped_free char *file = wsi_strdup(where);
		if (!file)
			return wsi_debug_no_memory(err);
		file[colon - where] = '\0';
		return locate_line(d, file, (uint32_t)line, tells, to, err);
	}
	if (text_number_of(where, &line))
		return locate_here(d, (uint32_t)line, tells, to, err);
	return *where ? locate_function(d, where, to, err) : WS_OK;
}

enum ws_status wsi_debug_locate(struct ws_debug *d, const char *where, bool stops, bool tells,
				struct wsi_places *to, struct ws_error *err)
{
	struct wsi_places found = { 0 };
	enum ws_status st = locate_places(d, where, tells, &found, err);
	for (size_t i = 0; i < found.n && st == WS_OK; i++)
		st = wsi_places_add(to,
				    stops && *where != '*' ? wsi_debug_past_prologue(d, found.pc[i])
							   : found.pc[i],
				    err);
	wsi_free(found.pc);
	if (st != WS_OK || to->n > 0)
		return st;
	if (!*where)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"Where? FILE:LINE, LINE, FUNCTION or *ADDRESS is expected");
	const bool is_name = !strchr("*0123456789", *where) && !strchr(where, ':');
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
			is_name ? "Function \"%s\" not defined" : "No code is at '%s'", where);
}

enum ws_status ws_debug_locate(struct ws_debug *d, const char *where, bool stops,
			       struct ws_debug_places *ret_places, struct ws_error *err)
{
	d->found.n = 0;
	const enum ws_status st = wsi_debug_locate(d, where, stops, true, &d->found, err);
	if (st == WS_OK)
		*ret_places = (struct ws_debug_places){ d->found.pc, d->found.n };
	return st;
}

enum ws_status ws_debug_locate_line(struct ws_debug *d, const char *file, uint32_t line,
				    struct ws_debug_places *ret_places, struct ws_error *err)
{
	d->found.n = 0;
	const enum ws_status st = add_line(d, file, line, true, &d->found, err);
	if (st == WS_OK)
		*ret_places = (struct ws_debug_places){ d->found.pc, d->found.n };
	return st == WS_OK && d->found.n == 0
		       ? wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no code belongs to that line")
		       : st;
}
