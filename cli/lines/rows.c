/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of functions, chains of a pc, code of a source line. */
#include "lines/lines.h"

#include <stdio.h>
#include <string.h>

static void json_function_keys(struct ws_json *json, const struct ws_function *function)
{
	if (!function) {
		ws_json_missing(json, "function", WS_ABSENT);
		return;
	}
	ws_name_json(json, function->name);
	ws_json_key_bool(json, "kernel", function->is_kernel);
}

/* What describes functions that the linker dropped is left out, and counted. */
static void say_dropped(const struct lines_query *query, size_t n, struct ws_json *json)
{
	if (n > 0 && json)
		ws_json_key_u64(json, "dropped", n);
	else if (n > 0)
		cli_warn("%s: left out: %zu %s of functions that the linker dropped", query->path,
			 n, n == 1 ? "piece" : "pieces");
}

/* ---- rows ---- */

/* Rows of a sequence that lie in one function; offsets count from its first instruction. */
struct rows_extent {
	struct ws_line_map *map;
	struct ws_line_seq seq;
	struct ws_place place;              /* of the sequence's first address */
	const struct ws_function *function; /* NULL: nobody knows whose code it is */
	uint64_t low, high;                 /* its code, by the addresses that rows have */
	bool is_inner;                      /* `function` is a part of the sequence */
};

/* Whether a row is to be shown: those of the whole sequence, or those of an inner function. */
static bool extent_has(const struct rows_extent *e, const struct ws_line_row *row)
{
	return !e->is_inner || (row->address >= e->low && row->address < e->high);
}

/* Bytes of code that a row covers; 0 for a mere call site. */
static uint64_t row_bytes_of(const struct rows_extent *e, uint32_t number,
			     const struct ws_line_row *row)
{
	if (number == e->seq.n_rows || (row->flags & WS_LINE_END_SEQUENCE))
		return 0;
	uint64_t next = ws_line_row_at(e->map, &e->seq, number + 1).address;
	return next > row->address ? next - row->address : 0;
}

static void print_line_row(struct cli *cli, const struct lines_query *query,
			   const struct rows_extent *e, uint32_t number)
{
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_line_row row = ws_line_row_at(e->map, &e->seq, number);
	uint64_t bytes = row_bytes_of(e, number, &row);
	char offset[24];
	snprintf(offset, sizeof offset, "0x%llx", (unsigned long long)(row.address - e->low));
	ws_out_printf(&cli->out, "%6u %8s ", (unsigned)number, offset);
	if (row.flags & WS_LINE_END_SEQUENCE) {
		ws_out_text(&cli->out, "      -  end\n");
		return;
	}
	if (bytes)
		ws_out_printf(&cli->out, "%7llu  ", (unsigned long long)bytes);
	else
		ws_out_text(&cli->out, "      -  ");
	size_t n = ws_line_chain(e->map, &e->seq, number, pos, WS_CHAIN_MOST);
	ws_position_text(&cli->out, &pos[0], true);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n && !pos[i].call_site_lost)
			break;
		ws_out_text(&cli->out, i == 0 ? "  in " : " in ");
		ws_name_text(&cli->out, ws_str_of(pos[i].function), query->full_names);
		ws_out_text(&cli->out, " <- ");
		if (i + 1 < n)
			ws_position_text(&cli->out, &pos[i + 1], true);
		else
			ws_out_text(&cli->out, "(damaged call site)");
	}
	ws_out_text(&cli->out, "\n");
}

static void print_extent(struct cli *cli, const struct lines_query *query,
			 const struct rows_extent *e)
{
	ws_out_text(&cli->out, "\n");
	if (e->function) {
		ws_out_text(&cli->out, e->function->is_kernel ? "kernel " : "function ");
		ws_name_text(&cli->out, e->function->name, query->full_names);
	} else {
		ws_out_text(&cli->out, "code of an unknown function");
	}
	ws_out_printf(&cli->out, ", %llu bytes%s\n", (unsigned long long)(e->high - e->low),
		      e->seq.status == WS_OK ? "" : ", damaged");
	ws_out_text(&cli->out, "   row   offset   bytes  position\n");
	for (uint32_t i = 1; i <= e->seq.n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(e->map, &e->seq, i);
		if (extent_has(e, &row))
			print_line_row(cli, query, e, i);
	}
}

static void json_line_row(struct ws_json *json, const struct rows_extent *e, uint32_t number)
{
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_line_row row = ws_line_row_at(e->map, &e->seq, number);
	ws_json_object(json);
	ws_json_key_u64(json, "row", number);
	ws_json_key_hex(json, "offset", row.address - e->low);
	ws_json_key_u64(json, "bytes", row_bytes_of(e, number, &row));
	ws_path_json(json, row.file);
	ws_json_key_u64(json, "line", row.line);
	if (row.column)
		ws_json_key_u64(json, "column", row.column);
	ws_json_key_bool(json, "is_stmt", row.flags & WS_LINE_IS_STMT);
	ws_json_key_bool(json, "end_sequence", row.flags & WS_LINE_END_SEQUENCE);
	ws_json_key_u64(json, "context", row.context);
	if (row.context) {
		size_t n = ws_line_chain(e->map, &e->seq, number, pos, WS_CHAIN_MOST);
		ws_function_json(json, pos[0].function);
		ws_json_key_array_line(json, "call_sites");
		for (size_t i = 1; i < n; i++)
			ws_json_u64(json, pos[i].row);
		ws_json_end(json);
	}
	ws_json_end(json);
}

static void json_extent(struct ws_json *json, const struct rows_extent *e)
{
	ws_json_object(json);
	json_function_keys(json, e->function);
	ws_json_key_u64(json, "bytes", e->high - e->low);
	ws_json_key_bool(json, "complete", e->seq.status == WS_OK);
	ws_json_key_array(json, "rows");
	for (uint32_t i = 1; i <= e->seq.n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(e->map, &e->seq, i);
		if (extent_has(e, &row))
			json_line_row(json, e, i);
	}
	ws_json_end(json);
	ws_json_end(json);
}

/* Where a function starts, by the addresses that rows have: a sequence may begin behind that. */
static uint64_t function_low(const struct rows_extent *e)
{
	uint64_t sec_off = e->function ? e->function->sec_off : e->place.sec_off;
	return e->seq.low + sec_off - e->place.sec_off;
}

/* The part of a sequence that a query asks for; false: none. */
static bool query_extent_of(const struct lines_query *query, const struct ws_code_image *image,
			    struct ws_line_map *map, size_t index, struct rows_extent *ret)
{
	*ret = (struct rows_extent){ .map = map };
	if (ws_line_seq_at(map, index, &ret->seq, NULL) != WS_OK)
		return false;
	ret->low = ret->seq.low;
	ret->high = ret->seq.high;
	bool known = ws_cubin_seq_place(image->cubin, &ret->seq, &ret->place, NULL) == WS_OK;
	if (known) {
		ret->function = ret->place.owner ? ret->place.owner : ret->place.function;
		ret->low = function_low(ret);
	}
	if (!query->function)
		return true;
	const struct ws_function *functions;
	size_t n;
	if (!known || ws_cubin_functions(image->cubin, &functions, &n, NULL) != WS_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (functions[i].section != ret->place.section ||
		    !ws_name_is(&functions[i], query->function))
			continue;
		ret->function = &functions[i];
		ret->low = function_low(ret);
		if (functions[i].is_inner) {
			ret->high = ret->low + functions[i].size_bytes;
			ret->is_inner = true;
		}
		return true;
	}
	return false;
}

bool lines_rows(struct cli *cli, const struct lines_query *query, const struct ws_code_image *image,
		struct ws_line_map *map, struct ws_json *json)
{
	size_t n = 0, n_dropped = 0;
	struct rows_extent extent;
	bool shown = false;
	if (ws_line_seq_count(map, &n, NULL) != WS_OK)
		cli_out_of_memory();
	if (json)
		ws_json_key_array(json, "functions");
	for (size_t i = 0; i < n; i++) {
		if (!query_extent_of(query, image, map, i, &extent))
			continue;
		if (ws_cubin_seq_is_dropped(image->cubin, &extent.seq)) {
			n_dropped++;
			continue;
		}
		shown = true;
		if (json)
			json_extent(json, &extent);
		else
			print_extent(cli, query, &extent);
	}
	if (json)
		ws_json_end(json);
	say_dropped(query, n_dropped, json);
	return shown;
}

/* ---- a pc ---- */

static bool show_pc(struct cli *cli, const struct lines_query *query,
		    const struct ws_code_image *image, const struct ws_function *function,
		    struct ws_json *json)
{
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_error err;
	size_t n;
	enum ws_status st = ws_cubin_line_find(image->cubin, function->section,
					       function->sec_off + query->pc.value, pos,
					       WS_CHAIN_MOST, &n, &err);
	if (st != WS_OK) {
		if (st != WS_ABSENT || query->function)
			cli_fail(query->path, &err);
		return false;
	}
	if (json) {
		ws_json_object(json);
		json_function_keys(json, function);
		ws_json_key_hex(json, "offset", query->pc.value);
		ws_json_key(json, "positions");
		ws_chain_json(json, pos, n);
		ws_json_end(json);
		return true;
	}
	ws_name_text(&cli->out, function->name, query->full_names);
	ws_out_printf(&cli->out, "+0x%llx\n", (unsigned long long)query->pc.value);
	ws_chain_text(&cli->out, pos, n, query->full_names);
	return true;
}

bool lines_pc(struct cli *cli, const struct lines_query *query, const struct ws_code_image *image,
	      struct ws_json *json)
{
	const struct ws_function *functions;
	size_t n = 0;
	bool shown = false;
	if (ws_cubin_functions(image->cubin, &functions, &n, NULL) != WS_OK)
		cli_out_of_memory();
	if (json)
		ws_json_key_array(json, "answers");
	for (size_t i = 0; i < n; i++) {
		bool wanted = query->function ? ws_name_is(&functions[i], query->function)
					      : !functions[i].is_inner;
		if (functions[i].section && wanted && query->pc.value < functions[i].size_bytes)
			shown |= show_pc(cli, query, image, &functions[i], json);
	}
	if (json)
		ws_json_end(json);
	return shown;
}

/* ---- a source line ---- */

struct hits {
	struct cli *cli;
	const struct lines_query *query;
	const struct ws_code_image *image;
	struct ws_line_map *map;
	struct ws_json *json;
	size_t n, n_dropped;
};

static bool show_hit(void *user, const struct ws_line_hit *hit)
{
	struct hits *h = user;
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_place place = { 0 };
	bool known = ws_cubin_seq_place(h->image->cubin, hit->seq, &place, NULL) == WS_OK;
	const struct ws_function *owner = known ? place.owner : NULL;
	if (ws_cubin_seq_is_dropped(h->image->cubin, hit->seq)) {
		h->n_dropped++;
		return true;
	}
	size_t n = ws_line_chain(h->map, hit->seq, hit->row, pos, WS_CHAIN_MOST);
	uint64_t offset = hit->low - hit->seq->low + place.sec_off;
	h->n++;
	if (h->json) {
		ws_json_object(h->json);
		json_function_keys(h->json, owner);
		ws_json_key_hex(h->json, "offset", offset);
		ws_json_key_u64(h->json, "bytes", hit->high - hit->low);
		ws_json_key_u64(h->json, "level", hit->level);
		ws_json_key_u64(h->json, "row", hit->row);
		ws_json_end(h->json);
		return true;
	}
	if (owner)
		ws_name_text(&h->cli->out, owner->name, h->query->full_names);
	else
		ws_out_text(&h->cli->out, "?");
	ws_out_printf(&h->cli->out, "+0x%llx, %llu bytes", (unsigned long long)offset,
		      (unsigned long long)(hit->high - hit->low));
	for (size_t i = 0; i + 1 < n; i++) {
		ws_out_text(&h->cli->out, i == 0 ? ": " : " <- ");
		ws_position_text(&h->cli->out, &pos[i], true);
		ws_out_text(&h->cli->out, " in ");
		ws_name_text(&h->cli->out, ws_str_of(pos[i].function), h->query->full_names);
	}
	if (n > 1) {
		ws_out_text(&h->cli->out, " <- ");
		ws_position_text(&h->cli->out, &pos[n - 1], true);
	}
	ws_out_text(&h->cli->out, "\n");
	return true;
}

bool lines_source(struct cli *cli, const struct lines_query *query,
		  const struct ws_code_image *image, struct ws_line_map *map, struct ws_json *json)
{
	struct hits hits = { cli, query, image, map, json, 0, 0 };
	struct ws_error err;
	if (json)
		ws_json_key_array(json, "code");
	enum ws_status st =
		ws_line_find_source(map, query->source, query->source_line, show_hit, &hits, &err);
	if (json)
		ws_json_end(json);
	say_dropped(query, hits.n_dropped, json);
	if (st != WS_OK)
		cli_warn("%s: %s: %s", query->path, query->source, err.message);
	else if (hits.n == 0)
		cli_warn("%s: no code was made from %s:%u", query->path, query->source,
			 (unsigned)query->source_line);
	return hits.n > 0;
}
