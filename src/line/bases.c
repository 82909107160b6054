/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String bases that a linker left at 0 (docs/formats/linemap.md, "Header").
 *
 *   .debug_str   | names of object 0 | names of object 1      | ... names of object n |
 *                ^ base of table 0   ^ base of table 1        ^
 *
 * A linker puts the names of the objects one behind the other, in the order of their tables. So
 *
 *   - a table's names end where the next one's base is, or before: names that no row uses, and
 * those of objects without such a table, may be between;
 *   - at the right base, each name that a row uses begins where a string begins.
 *
 * From the first table on, the lowest base that fits behind the names of the tables before; then,
 * from the last one back, the highest that fits before those behind. The right one is between
 * them: where they are the same it is proved. All others are lost, with their names.
 */
#include "line/map.h"
#include "line/program.h"

enum {
	STEPS_PER_BYTE = 64, /* of searching, for each byte of the two sections */
};

/* A table whose rows use names. */
struct names_used {
	struct ws_line_table *table;
	size_t first, n; /* of the search's operands: rising */
	uint64_t low;    /* of the possible bases; NO_BASE: none */
};

static const uint64_t NO_BASE = UINT64_MAX;

struct bases {
	struct ws_line_map *map;
	uint32_t *operand; /* owned: of the names, table by table */
	size_t n_operands, operands_cap;
	uint64_t steps_left;
	bool failed; /* out of memory */
};

/* ---- the names that rows use ---- */

static void operand_add(struct bases *b, uint32_t operand)
{
	if (!wsi_grow(&b->operand, &b->operands_cap, b->n_operands, sizeof *b->operand, UINT32_MAX))
		b->failed = true;
	else
		b->operand[b->n_operands++] = operand;
}

static void operands_of_stretch(struct bases *b, uint32_t table,
				const struct wsi_line_stretch *stretch)
{
	struct wsi_reader r;
	const struct wsi_line_program p = wsi_line_program_of(b->map, table, stretch, &r);
	struct wsi_line_regs regs = wsi_line_regs_start(p.table);
	struct wsi_line_insn insn;
	enum wsi_line_step step = WSI_LINE_STEP;
	uint32_t last = 0; /* neighbours often have one name */
	bool any = false;
	while (wsi_reader_left(&r) > 0 && !b->failed && step != WSI_LINE_BROKEN) {
		step = wsi_line_step(&p, &r, &regs, &insn);
		if (step == WSI_LINE_ROW && regs.context && (!any || regs.name_off != last)) {
			operand_add(b, regs.name_off - p.table->str_base);
			last = regs.name_off;
			any = true;
		}
		if (step == WSI_LINE_END)
			regs = wsi_line_regs_start(p.table);
	}
}

static int operand_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return WSI_ORDER(*x, *y);
}

/* The names of the next table, whose first part is `*part`. */
static struct names_used named_next(struct bases *b, size_t *part)
{
	const struct ws_line_map *map = b->map;
	const uint32_t table = map->part[*part].table;
	struct names_used named = { .table = &b->map->table[table].pub, .first = b->n_operands };
	for (; *part < map->n_parts && map->part[*part].table == table; ++*part) {
		struct wsi_line_stretch it = wsi_line_stretches(&map->part[*part]);
		while (named.table->has_str_base &&
		       wsi_line_stretch_next(map, &map->part[*part], &it))
			operands_of_stretch(b, table, &it);
	}
	size_t n = b->n_operands - named.first;
	uint32_t *operand = n > 0 ? b->operand + named.first : NULL;
	if (n > 1)
		qsort(operand, n, sizeof *operand, operand_compare);
	for (size_t i = 0; i < n; i++) {
		if (named.n == 0 || operand[i] != operand[named.n - 1])
			operand[named.n++] = operand[i];
	}
	b->n_operands = named.first + named.n;
	return named;
}

/* ---- bases that are possible ---- */

static bool string_begins(const struct wsi_line_strings *names, uint64_t at)
{
	return at < names->end && names->ptr[at] && (at == 0 || names->ptr[at - 1] == 0);
}

/* Behind the string at `at`. */
static uint64_t string_end(const struct wsi_line_strings *names, uint64_t at)
{
	return at + strlen(names->ptr + at) + 1;
}

static bool base_fits(struct bases *b, const struct names_used *named, uint64_t base)
{
	for (size_t i = named->n; i-- > 0;) { /* the last one first: it may be outside */
		if (b->steps_left == 0 ||
		    !string_begins(&b->map->names, base + b->operand[named->first + i]))
			return false;
		b->steps_left--;
	}
	return true;
}

/* The first possible base from `from` on, at which the names end at `to` or before; or NO_BASE. */
static uint64_t base_next(struct bases *b, const struct names_used *named, uint64_t from,
			  uint64_t to)
{
	const struct wsi_line_strings *names = &b->map->names;
	const uint64_t last = b->operand[named->first + named->n - 1];
	while (from < to && last < to - from && b->steps_left > 0) {
		if (string_begins(names, from) && base_fits(b, named, from))
			return string_end(names, from + last) <= to ? from : NO_BASE;
		uint64_t next = string_end(names, from);
		b->steps_left -= wsi_min_u64(b->steps_left, next - from);
		from = next;
	}
	return NO_BASE;
}

/* Where the names of a table end if it has that base. */
static uint64_t named_end(const struct bases *b, const struct names_used *named, uint64_t base)
{
	return string_end(&b->map->names, base + b->operand[named->first + named->n - 1]);
}

/* Lowest bases, from the first table on. */
static void bases_lowest(struct bases *b, struct names_used *named, size_t n)
{
	uint64_t from = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ws_line_table *table = named[i].table;
		if (table->base == WS_LINE_BASE_LOST)
			named[i].low = base_next(b, &named[i], from, b->map->names.end);
		else
			named[i].low = base_fits(b, &named[i], table->str_base) ? table->str_base
										: NO_BASE;
		if (named[i].low != NO_BASE)
			from = wsi_max_u64(from, named_end(b, &named[i], named[i].low));
	}
}

/* Highest ones, from the last table back: sets those that can only be the lowest. */
static void bases_highest(struct bases *b, const struct names_used *named, size_t n)
{
	uint64_t to = b->map->names.end;
	for (size_t i = n; i-- > 0;) {
		struct ws_line_table *table = named[i].table;
		if (named[i].low == NO_BASE)
			continue;
		uint64_t high = named[i].low, next = high;
		while (table->base == WS_LINE_BASE_LOST && next != NO_BASE) {
			high = next;
			next = base_next(b, &named[i], string_end(&b->map->names, high), to);
		}
		if (named_end(b, &named[i], high) > to || b->steps_left == 0)
			continue;
		if (table->base == WS_LINE_BASE_LOST && high == named[i].low) {
			table->base = WS_LINE_BASE_FOUND;
			table->str_base = (uint32_t)high;
		}
		to = high;
	}
}

/* ---- the map ---- */

static bool base_is_0(const struct ws_line_table *table)
{
	return table->has_str_base && table->str_base == 0;
}

/* Whether bases of 0 were left by a linker: names of two tables cannot begin at 0. Those of the
 * section's first table do. */
static bool bases_are_unset(const struct ws_line_map *map, bool expected)
{
	size_t n_zeros = 0, n_behind = 0;
	for (size_t i = 0; i < map->n_tables; i++) {
		const struct ws_line_table *table = &map->table[i].pub;
		n_zeros += base_is_0(table);
		n_behind += base_is_0(table) && table->sec_off > 0;
	}
	return n_behind > 0 && (expected || n_zeros > 1);
}

static void bases_tell(struct ws_line_map *map)
{
	size_t n_lost = 0;
	const struct ws_line_table *first = NULL;
	for (size_t i = map->n_tables; i-- > 0;) {
		if (map->table[i].pub.base != WS_LINE_BASE_LOST)
			continue;
		n_lost++;
		first = &map->table[i].pub;
	}
	if (first)
		wsi_line_diag(&map->diags, WS_MALFORMED, map->line.origin + first->program_off - 4,
			      "names of inlined functions are lost in %zu of %zu line tables: the "
			      "linker left their base at 0",
			      n_lost, map->n_tables);
}

enum ws_status wsi_line_find_bases(struct ws_line_map *map, const struct ws_line_input *input,
				   struct ws_error *err)
{
	if (!bases_are_unset(map, input->bases_unset))
		return WS_OK;
	struct bases b = { .map = map,
			   .steps_left = STEPS_PER_BYTE * (map->line.len + map->names.end) };
	wsi_scoped_free struct names_used *named = wsi_zalloc_array(map->n_tables, sizeof *named);
	size_t n = 0;
	for (size_t part = 0; named && part < map->n_parts && !b.failed;) {
		named[n] = named_next(&b, &part);
		n += named[n].n > 0;
	}
	if (!named || b.failed) {
		wsi_free(b.operand);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "names of line tables");
	}
	for (size_t i = 0; i < n; i++) {
		if (named[i].table->str_base == 0 && named[i].table->sec_off > 0)
			named[i].table->base = WS_LINE_BASE_LOST;
	}
	if (!input->str_is_cut) {
		bases_lowest(&b, named, n);
		bases_highest(&b, named, n);
	}
	wsi_free(b.operand);
	bases_tell(map);
	return WS_OK;
}
