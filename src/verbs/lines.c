/* SPDX-License-Identifier: Apache-2.0 */
/* Line maps of code: rows of functions, chains of a pc, code of a source line. */
#include <warpscope/verbs.h>

#include "verbs/code.h"

/* What is shown, at the image where the answer is. */
struct line_answer {
	const struct ws_lines *query;
	const struct ws_answer_style *style;
	struct ws_out *out;
	struct ws_json *json; /* NULL: text */
	const struct ws_code_image *image;
	struct ws_line_map *map;
	size_t n_shown, n_dropped; /* dropped: of functions that the linker dropped */
};

static void json_function_keys(struct ws_json *json, const struct ws_function *function)
{
	if (!function) {
		ws_json_missing(json, "function", WS_ABSENT);
		return;
	}
	ws_name_json(json, function->name);
	ws_json_key_bool(json, "kernel", function->is_kernel);
}

/* ---- rows ---- */

/* Rows of a sequence that lie in one function; offsets count from its first instruction. */
struct rows_extent {
	const struct ws_line_map *map;
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

static void print_line_row(struct ws_out *out, bool full_names, const struct rows_extent *e,
			   uint32_t number)
{
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_line_row row = ws_line_row_at(e->map, &e->seq, number);
	uint64_t bytes = row_bytes_of(e, number, &row);
	char offset[24];
	snprintf(offset, sizeof offset, "0x%llx", (unsigned long long)(row.address - e->low));
	ws_out_printf(out, "%6u %8s ", (unsigned)number, offset);
	if (row.flags & WS_LINE_END_SEQUENCE) {
		ws_out_text(out, "      -  end\n");
		return;
	}
	if (bytes)
		ws_out_printf(out, "%7llu  ", (unsigned long long)bytes);
	else
		ws_out_text(out, "      -  ");
	size_t n = ws_line_chain(e->map, &e->seq, number, pos, WS_CHAIN_MOST);
	ws_position_text(out, &pos[0], true);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 == n && !pos[i].call_site_lost)
			break;
		ws_out_text(out, i == 0 ? "  in " : " in ");
		ws_name_text(out, ws_str_of(pos[i].function), full_names);
		ws_out_text(out, " <- ");
		if (i + 1 < n)
			ws_position_text(out, &pos[i + 1], true);
		else
			ws_out_text(out, "(damaged call site)");
	}
	ws_out_text(out, "\n");
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

static void print_extent_head(const struct line_answer *lines, const struct rows_extent *e)
{
	struct ws_out *out = lines->out;
	ws_out_text(out, "\n");
	if (e->function) {
		ws_out_text(out, e->function->is_kernel ? "kernel " : "function ");
		ws_name_text(out, e->function->name, lines->query->full_names);
	} else {
		ws_out_text(out, "code of an unknown function");
	}
	ws_out_printf(out, ", %llu bytes%s\n", (unsigned long long)(e->high - e->low),
		      e->seq.status == WS_OK ? "" : ", damaged");
	ws_out_text(out, "   row   offset   bytes  position\n");
}

static void show_extent(const struct line_answer *lines, const struct rows_extent *e)
{
	struct ws_json *json = lines->json;
	if (json) {
		ws_json_object(json);
		json_function_keys(json, e->function);
		ws_json_key_u64(json, "bytes", e->high - e->low);
		ws_json_key_bool(json, "complete", e->seq.status == WS_OK);
		ws_json_key_array(json, "rows");
	} else {
		print_extent_head(lines, e);
	}
	for (uint32_t i = 1; i <= e->seq.n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(e->map, &e->seq, i);
		if (!extent_has(e, &row))
			continue;
		if (json)
			json_line_row(json, e, i);
		else
			print_line_row(lines->out, lines->query->full_names, e, i);
	}
	if (json) {
		ws_json_end(json);
		ws_json_end(json);
	}
}

/* Where a function starts, by the addresses that rows have: a sequence may begin behind that. */
static uint64_t function_low(const struct rows_extent *e)
{
	uint64_t sec_off = e->function ? e->function->sec_off : e->place.sec_off;
	return e->seq.low + sec_off - e->place.sec_off;
}

/* The part of a sequence that a query asks for; false: none. */
static bool query_extent_of(const struct line_answer *lines, size_t index, struct rows_extent *ret)
{
	struct ws_cubin *cubin = lines->image->cubin;
	const char *wanted = lines->query->function;
	*ret = (struct rows_extent){ .map = lines->map };
	if (ws_line_seq_at(lines->map, index, &ret->seq, NULL) != WS_OK)
		return false;
	ret->low = ret->seq.low;
	ret->high = ret->seq.high;
	bool known = ws_cubin_seq_place(cubin, &ret->seq, &ret->place, NULL) == WS_OK;
	if (known) {
		ret->function = ret->place.owner ? ret->place.owner : ret->place.function;
		ret->low = function_low(ret);
	}
	if (!wanted)
		return true;
	const struct ws_function *functions;
	size_t n;
	if (!known || ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (functions[i].section != ret->place.section ||
		    !ws_name_is(&functions[i], wanted))
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

static enum ws_status lines_rows(struct line_answer *lines, struct ws_error *err)
{
	size_t n = 0;
	struct rows_extent extent;
	enum ws_status st = ws_line_seq_count(lines->map, &n, err);
	for (size_t i = 0; st == WS_OK && i < n; i++) {
		if (!query_extent_of(lines, i, &extent))
			continue;
		if (ws_cubin_seq_is_dropped(lines->image->cubin, &extent.seq)) {
			lines->n_dropped++;
			continue;
		}
		lines->n_shown++;
		show_extent(lines, &extent);
	}
	return st;
}

/* ---- a pc ---- */

static enum ws_status show_pc(struct line_answer *lines, const struct ws_function *function,
			      struct ws_error *err)
{
	const struct ws_lines *query = lines->query;
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_error why;
	size_t n;
	enum ws_status st =
		ws_cubin_line_find(lines->image->cubin, function->section,
				   function->sec_off + query->pc, pos, WS_CHAIN_MOST, &n, &why);
	if (st != WS_OK) {
		return st != WS_ABSENT || query->function ? wsi_verbs_tell(lines->style, &why, err)
							  : WS_OK;
	}
	lines->n_shown++;
	if (lines->json) {
		ws_json_object(lines->json);
		json_function_keys(lines->json, function);
		ws_json_key_hex(lines->json, "offset", query->pc);
		ws_json_key(lines->json, "positions");
		ws_chain_json(lines->json, pos, n);
		ws_json_end(lines->json);
		return WS_OK;
	}
	ws_name_text(lines->out, function->name, query->full_names);
	ws_out_printf(lines->out, "+0x%llx\n", (unsigned long long)query->pc);
	ws_chain_text(lines->out, pos, n, query->full_names);
	return WS_OK;
}

static enum ws_status lines_pc(struct line_answer *lines, struct ws_error *err)
{
	const struct ws_lines *query = lines->query;
	const struct ws_function *functions;
	size_t n = 0;
	enum ws_status st = ws_cubin_functions(lines->image->cubin, &functions, &n, err);
	for (size_t i = 0; st == WS_OK && i < n; i++) {
		bool wanted = query->function ? ws_name_is(&functions[i], query->function)
					      : !functions[i].is_inner;
		if (functions[i].section && wanted && query->pc < functions[i].size_bytes)
			st = show_pc(lines, &functions[i], err);
	}
	return st;
}

/* ---- a source line ---- */

static void print_line_hit(const struct line_answer *lines, const struct ws_line_hit *hit,
			   const struct ws_function *owner, uint64_t offset)
{
	struct ws_out *out = lines->out;
	struct ws_line_pos pos[WS_CHAIN_MOST];
	size_t n = ws_line_chain(lines->map, hit->seq, hit->row, pos, WS_CHAIN_MOST);
	if (owner)
		ws_name_text(out, owner->name, lines->query->full_names);
	else
		ws_out_text(out, "?");
	ws_out_printf(out, "+0x%llx, %llu bytes", (unsigned long long)offset,
		      (unsigned long long)(hit->high - hit->low));
	for (size_t i = 0; i < n && n > 1; i++) {
		ws_out_text(out, i == 0 ? ": " : " <- ");
		ws_position_text(out, &pos[i], true);
		if (i + 1 == n)
			break;
		ws_out_text(out, " in ");
		ws_name_text(out, ws_str_of(pos[i].function), lines->query->full_names);
	}
	ws_out_text(out, "\n");
}

static bool show_hit(void *user, const struct ws_line_hit *hit)
{
	struct line_answer *lines = user;
	struct ws_json *json = lines->json;
	struct ws_place place = { 0 };
	bool known = ws_cubin_seq_place(lines->image->cubin, hit->seq, &place, NULL) == WS_OK;
	const struct ws_function *owner = known ? place.owner : NULL;
	if (ws_cubin_seq_is_dropped(lines->image->cubin, hit->seq)) {
		lines->n_dropped++;
		return true;
	}
	uint64_t offset = hit->low - hit->seq->low + place.sec_off;
	lines->n_shown++;
	if (!json) {
		print_line_hit(lines, hit, owner, offset);
		return true;
	}
	ws_json_object(json);
	json_function_keys(json, owner);
	ws_json_key_hex(json, "offset", offset);
	ws_json_key_u64(json, "bytes", hit->high - hit->low);
	ws_json_key_u64(json, "level", hit->level);
	ws_json_key_u64(json, "row", hit->row);
	ws_json_end(json);
	return true;
}

/* ---- images ---- */

/* What describes functions that the linker dropped is left out, and counted. */
static void dropped_tell(const struct line_answer *lines)
{
	if (lines->n_dropped > 0 && lines->json)
		ws_json_key_u64(lines->json, "dropped", lines->n_dropped);
	else if (lines->n_dropped > 0)
		wsi_verbs_say(lines->style, "left out: %zu %s of functions that the linker dropped",
			      lines->n_dropped, lines->n_dropped == 1 ? "piece" : "pieces");
}

static enum ws_status lines_with_map(struct line_answer *lines, struct ws_error *err)
{
	const struct ws_lines *query = lines->query;
	const size_t before = lines->n_shown;
	struct ws_error why;
	enum ws_status st = WS_OK, found = WS_OK;
	lines->n_dropped = 0;
	if (query->raw) {
		lines->n_shown += wsi_verbs_lines_raw(lines->map, lines->out, lines->json);
		return WS_OK;
	}
	if (lines->json)
		ws_json_key_array(lines->json, query->has_pc   ? "answers"
					       : query->source ? "code"
							       : "functions");
	if (query->has_pc)
		st = lines_pc(lines, err);
	else if (query->source)
		found = ws_line_find_source(lines->map, query->source, query->source_line, show_hit,
					    lines, &why);
	else
		st = lines_rows(lines, err);
	if (lines->json)
		ws_json_end(lines->json);
	dropped_tell(lines);
	if (found == WS_NO_MEMORY)
		return wsi_verbs_tell(lines->style, &why, err);
	if (found != WS_OK)
		wsi_verbs_say(lines->style, "%s: %s", query->source, why.message);
	else if (query->source && lines->n_shown == before)
		wsi_verbs_say(lines->style, "no code was made from %s:%u", query->source,
			      (unsigned)query->source_line);
	return st;
}

static void json_damage(void *user, const struct ws_line_diagnostic *diagnostic)
{
	struct ws_json *json = user;
	ws_json_object(json);
	ws_json_key_text(json, "what", ws_status_name(diagnostic->status));
	ws_json_key_hex(json, "offset", diagnostic->file_off);
	ws_json_key_text(json, "message", diagnostic->message);
	ws_json_end(json);
}

static enum ws_status lines_of_image(struct line_answer *lines, struct ws_error *err)
{
	struct ws_json *json = lines->json;
	struct ws_cubin *cubin = lines->image->cubin;
	struct ws_error why;
	char text[400];
	if (json)
		ws_json_key_bool(json, "relocatable", lines->image->facts.relocatable);
	enum ws_status found = ws_cubin_line_map(cubin, &lines->map, &why), st = WS_OK;
	if (found == WS_OK) {
		st = lines_with_map(lines, err);
	} else if (found == WS_ABSENT) {
		ws_cubin_explain_lines(cubin, text, sizeof text);
		wsi_verbs_say(lines->style, "%s", text);
	} else {
		st = wsi_verbs_tell(lines->style, &why, err);
	}
	if (json) {
		ws_json_key_array(json, "diagnostics");
		if (found == WS_OK)
			ws_line_diagnostics(lines->map, json_damage, json);
		ws_json_end(json);
		ws_json_end(json);
	} else if (found == WS_OK && !lines->query->has_pc && lines->style->tell) {
		/* a lookup decodes no more than it needs */
		ws_line_diagnostics(lines->map, lines->style->tell, lines->style->user);
	}
	return st;
}

enum ws_status ws_lines_answer(const struct ws_code_images *images, const struct ws_lines *query,
			       const struct ws_answer_style *style, bool *ret_shown,
			       struct ws_error *err)
{
	struct ws_json json;
	struct line_answer lines = { .query = query,
				     .style = style,
				     .out = style->out,
				     .json = style->json ? &json : NULL };
	enum ws_status st = WS_OK;
	wsi_verbs_code_begin(images, "warpscope-lines-1", style, &json);
	for (size_t i = 0; st == WS_OK && i < images->n; i++) {
		lines.image = &images->item[i];
		wsi_verbs_image_begin(images, lines.image, i > 0, style->out, lines.json);
		st = lines_of_image(&lines, err);
	}
	if (lines.json) {
		ws_json_end(&json);
		ws_json_end(&json);
	}
	*ret_shown = lines.n_shown > 0;
	return st;
}
