/* SPDX-License-Identifier: Apache-2.0 */
/* From source to code, and back. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>

enum { MAX_SHOWN = 100 /* instructions of a line */ };

/* ---- from code to source ---- */

static bool place_of(const struct debugger *d, uint64_t pc, struct ws_place *ret_place)
{
	struct ws_cubin_set *set;
	return ws_target_cubins(d->target, &set, NULL) == WS_OK &&
	       ws_cubin_set_find_address(set, pc, NULL, ret_place, NULL) == WS_OK;
}

void debug_position(const struct debugger *d, uint64_t pc, struct position *ret_position)
{
	struct ws_place place;
	if (!place_of(d, pc, &place) ||
	    ws_cubin_line_find(place.cubin, place.section, place.sec_off, ret_position->chain,
			       POSITIONS_MAX, &ret_position->n, NULL) != WS_OK)
		ret_position->n = 0;
}

bool debug_frame_position(struct debugger *d, struct ws_line_pos *ret_position)
{
	struct position position;
	struct ws_error err;
	uint64_t pc;
	if (d->cli->frame > 0) {
		*ret_position = d->frame_position;
		return d->has_frame_position;
	}
	if (!debug_frame_pc(d, &pc, &err))
		return false;
	debug_position(d, pc, &position);
	if (position.n > 0)
		*ret_position = position.chain[0];
	return position.n > 0;
}

uint64_t debug_function_address(const struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	return place_of(d, pc, &place) ? pc - place.rel_pc : 0;
}

static void print_where(const struct debugger *d, const struct position *position,
			const struct ws_place *place)
{
	struct ws_out *out = &d->cli->out;
	const char *inlined = position->n > 1 ? position->chain[0].function : NULL;
	name_print(out,
		   inlined           ? ws_str_of(inlined)
		   : place->function ? place->function->name
				     : (struct ws_str){ NULL, 0 },
		   false);
	if (position->n > 0) {
		ws_out_text(out, " at ");
		print_position(out, &position->chain[0], false);
	}
	if (inlined) {
		ws_out_text(out, ", inlined into ");
		name_print(out,
			   place->function ? place->function->name : (struct ws_str){ NULL, 0 },
			   false);
	}
	ws_out_text(out, "\n");
}

void debug_print_place(const struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	struct position position;
	if (!place_of(d, pc, &place)) {
		ws_out_text(&d->cli->out, "outside all known code\n");
		return;
	}
	debug_position(d, pc, &position);
	print_where(d, &position, &place);
}

/* The text of the instruction at a place; false: its bytes are not known. */
static bool instruction(const struct debugger *d, const struct ws_place *place, uint64_t pc,
			char ret_text[WS_SASS_TEXT_MAX])
{
	struct ws_device device;
	struct ws_span bytes;
	struct ws_insn insn;
	if (ws_target_device(d->target, d->has_focus ? d->focus.device_index : 0, &device, NULL) !=
		    WS_OK ||
	    ws_cubin_bytes_at(place, &bytes, NULL) != WS_OK || bytes.len < WS_SASS_BYTES)
		return false;
	ws_sass_decode(device.sm_major * 10 + device.sm_minor, bytes.ptr, &insn);
	ws_sass_format(&insn, pc, NULL, ret_text, WS_SASS_TEXT_MAX);
	return true;
}

/* <axpy+48>, as gdb writes it. */
static void print_offset(struct ws_out *out, const struct ws_place *place)
{
	ws_out_text(out, "<");
	name_print(out, place->function ? place->function->name : (struct ws_str){ NULL, 0 },
		   false);
	if (place->rel_pc)
		ws_out_printf(out, "+%" PRIu64, place->rel_pc);
	ws_out_text(out, ">");
}

/* Keys "function", "function_mangled", and where a place is in it. */
static void json_function_at(struct ws_json *json, const struct ws_place *place)
{
	if (place->function) {
		name_json(json, place->function->name);
	} else {
		ws_json_missing(json, "function", WS_ABSENT);
		ws_json_missing(json, "function_mangled", WS_ABSENT);
	}
	ws_json_key_u64(json, "offset", place->rel_pc);
}

/* Instructions as objects of the array that is open. */
static void json_range(struct debugger *d, uint64_t address, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, address += WS_SASS_BYTES) {
		struct ws_place place;
		char text[WS_SASS_TEXT_MAX];
		if (!place_of(d, address, &place) || !instruction(d, &place, address, text))
			return;
		ws_json_object(&d->json);
		ws_json_key_hex(&d->json, "pc", address);
		json_function_at(&d->json, &place);
		ws_json_key_text(&d->json, "text", text);
		ws_json_end(&d->json);
	}
}

/* `brief`: only the offset in the function, not its name. */
static void print_range(struct debugger *d, uint64_t address, uint64_t count, bool brief)
{
	struct ws_out *out = &d->cli->out;
	struct ws_lane lane = { 0 };
	struct ws_warp warp = { 0 };
	char text[WS_SASS_TEXT_MAX];
	bool here = d->has_focus &&
		    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) ==
			    WS_OK &&
		    ws_target_warp(d->target, d->focus.warp_index, &warp, NULL) == WS_OK;
	if (d->cli->json) {
		json_range(d, address, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++, address += WS_SASS_BYTES) {
		struct ws_place place;
		bool is_pc = here && lane.pc == address;
		bool failed = here && warp.error_pc_valid && warp.error_pc == address;
		if (!place_of(d, address, &place) || !instruction(d, &place, address, text)) {
			cli_flush(d->cli);
			cli_say("No code is known at 0x%" PRIx64 ".\n", address);
			return;
		}
		ws_out_printf(out, "%-3s 0x%016" PRIx64 " ",
			      is_pc && failed ? "*=>"
			      : is_pc         ? "=>"
			      : failed        ? "*>"
					      : "",
			      address);
		if (brief)
			ws_out_printf(out, "<+%" PRIu64 ">", place.rel_pc);
		else
			print_offset(out, &place);
		ws_out_text(out, ":\t");
		ws_out_escaped(out, ws_str_of(text));
		ws_out_text(out, "\n");
	}
}

void debug_print_code(struct debugger *d, uint64_t address, uint64_t count)
{
	print_range(d, address, count, false);
}

void debug_print_function(struct debugger *d, uint64_t address)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	if (!place_of(d, address, &place) || !place.function) {
		cli_say("No function contains specified address.\n");
		return;
	}
	const uint64_t bytes = place.function->size_bytes;
	const uint64_t n = bytes > place.rel_pc ? bytes : place.rel_pc + WS_SASS_BYTES;
	ws_out_text(out, "Dump of assembler code for function ");
	ws_out_escaped(out, place.function->name);
	ws_out_text(out, ":\n");
	print_range(d, address - place.rel_pc, n / WS_SASS_BYTES, true);
	ws_out_text(out, "End of assembler dump.\n");
}

void debug_print_instruction(struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	char text[WS_SASS_TEXT_MAX];
	if (place_of(d, pc, &place) && instruction(d, &place, pc, text))
		debug_print_code(d, pc, 1);
	else
		ws_out_printf(&d->cli->out, "=>  0x%016" PRIx64 "\n", pc);
}

static bool same_line(const struct debugger *d, uint64_t pc, const struct ws_place *of,
		      const struct ws_line_pos *line)
{
	struct ws_place place;
	struct position position;
	if (!place_of(d, pc, &place) || place.function != of->function)
		return false;
	debug_position(d, pc, &position);
	return position.n > 0 && position.chain[0].file == line->file &&
	       position.chain[0].line == line->line;
}

/* From where to where code is of one line. */
static void extent(const struct debugger *d, uint64_t pc, const struct ws_place *place,
		   const struct ws_line_pos *line, uint64_t *ret_first, uint64_t *ret_end)
{
	*ret_first = *ret_end = pc - pc % WS_SASS_BYTES;
	while (same_line(d, *ret_first - WS_SASS_BYTES, place, line))
		*ret_first -= WS_SASS_BYTES;
	while (same_line(d, *ret_end, place, line))
		*ret_end += WS_SASS_BYTES;
}

uint64_t debug_print_line_code(struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	struct position position;
	uint64_t first, end;
	debug_position(d, pc, &position);
	if (!place_of(d, pc, &place) || position.n == 0)
		return pc;
	extent(d, pc, &place, &position.chain[0], &first, &end);
	uint64_t n = (end - first) / WS_SASS_BYTES;
	debug_print_code(d, first, n < MAX_SHOWN ? n : MAX_SHOWN);
	if (n > MAX_SHOWN && !d->cli->json)
		ws_out_printf(&d->cli->out, "... and %" PRIu64 " more\n", n - MAX_SHOWN);
	return end;
}

/* The code of a line around an address as an object of the array that is open. */
static void json_line(struct debugger *d, uint64_t pc, const struct ws_place *place,
		      const struct position *position)
{
	struct ws_json *json = &d->json;
	uint64_t first, end;
	ws_json_object(json);
	ws_json_key_hex(json, "pc", pc);
	json_function_at(json, place);
	if (position->n > 0) {
		extent(d, pc, place, &position->chain[0], &first, &end);
		ws_json_key_hex(json, "start", first);
		ws_json_key_hex(json, "end", end);
		ws_json_key(json, "positions");
		json_chain(json, position->chain, position->n);
	} else {
		ws_json_missing(json, "positions", WS_ABSENT);
	}
	ws_json_end(json);
}

bool debug_print_line(struct debugger *d, uint64_t pc)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	struct position position;
	uint64_t first, end;
	if (!place_of(d, pc, &place)) {
		cli_say("No code is known at 0x%" PRIx64 ".\n", pc);
		return false;
	}
	debug_position(d, pc, &position);
	if (d->cli->json) {
		json_line(d, pc, &place, &position);
		return true;
	}
	if (position.n == 0) {
		ws_out_printf(
			out, "No line number information available for address 0x%" PRIx64 " ", pc);
		print_offset(out, &place);
		ws_out_text(out, "\n");
		return true;
	}
	extent(d, pc, &place, &position.chain[0], &first, &end);
	ws_out_printf(out, "Line %" PRIu32 " of \"", position.chain[0].line);
	print_path(out, position.chain[0].file, false);
	ws_out_printf(out, "\" starts at address 0x%" PRIx64 " ", first);
	if (place_of(d, first, &place))
		print_offset(out, &place);
	ws_out_printf(out, " and ends at 0x%" PRIx64 " ", end);
	place.rel_pc += end - first;
	print_offset(out, &place);
	for (size_t i = 1; i < position.n; i++) {
		ws_out_text(out, i == 1 ? ", inlined at " : ", at ");
		print_position(out, &position.chain[i], false);
	}
	ws_out_text(out, ".\n");
	return true;
}

void debug_print_line_without_code(struct debugger *d, uint64_t pc, uint32_t line)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	struct position position;
	debug_position(d, pc, &position);
	if (!place_of(d, pc, &place) || position.n == 0)
		return;
	ws_out_printf(out, "Line %" PRIu32 " of \"", line);
	print_path(out, position.chain[0].file, false);
	ws_out_printf(out, "\" is at address 0x%" PRIx64 " ", pc);
	print_offset(out, &place);
	ws_out_text(out, " but contains no code.\n");
}

bool debug_is_file(const struct ws_line_file *file, const char *name, size_t len)
{
	size_t size = ws_line_path(file, NULL, 0) + 1;
	char *path = cli_alloc(size, 1);
	ws_line_path(file, path, size);
	bool ends = len < size && memcmp(path + size - 1 - len, name, len) == 0 &&
		    (len == size - 1 || path[size - 2 - len] == '/');
	free(path);
	return ends;
}

/* The variable of an image that has an address in global memory; NULL: none. */
static const struct ws_variable *variable_at(const struct debugger *d, uint64_t address,
					     struct ws_cubin **ret_cubin)
{
	struct ws_cubin_set *set;
	const struct ws_variable *variables;
	size_t n;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return NULL;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		if (ws_cubin_set_cubin(set, i, ret_cubin, NULL) != WS_OK ||
		    ws_cubin_variables(*ret_cubin, &variables, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n; k++)
			if (variables[k].gpu_va && address >= variables[k].gpu_va &&
			    address - variables[k].gpu_va < variables[k].size_bytes)
				return &variables[k];
	}
	return NULL;
}

bool debug_print_symbol(struct debugger *d, uint64_t address, const char *text)
{
	struct ws_out *out = &d->cli->out;
	struct ws_json *json = &d->json;
	struct ws_place place;
	struct ws_section section;
	const bool is_code = place_of(d, address, &place) && place.function;
	const struct ws_variable *variable = is_code ? NULL : variable_at(d, address, &place.cubin);
	if (!is_code && !variable) {
		cli_say("No symbol matches %s.\n", text);
		return false;
	}
	const struct ws_str name = is_code ? place.function->name : variable->name;
	const uint64_t offset = is_code ? place.rel_pc : address - variable->gpu_va;
	const bool placed =
		ws_cubin_section(place.cubin, is_code ? place.section : variable->section, &section,
				 NULL) == WS_OK;
	if (d->cli->json) {
		debug_answer(d, "symbol");
		ws_json_object(json);
		ws_json_key_hex(json, "address", address);
		ws_json_key_text(json, "kind", is_code ? "function" : "variable");
		char *plain = name_copy(name, NAME_FULL);
		ws_json_key_text(json, "name", plain);
		ws_json_key_str(json, "name_mangled", name);
		free(plain);
		ws_json_key_u64(json, "offset", offset);
		ws_json_key_str(json, "section", placed ? section.name : (struct ws_str){ "", 0 });
		ws_json_end(json);
		return true;
	}
	name_print(out, name, true);
	if (offset)
		ws_out_printf(out, " + %" PRIu64, offset);
	if (placed) {
		ws_out_text(out, " in section ");
		ws_out_escaped(out, section.name);
	}
	ws_out_text(out, "\n");
	return true;
}

/* ---- from source to code ---- */

/* Where code of -G has its arguments in their places, for an address before that; others stay. A
 * line of its own is there, or one that goes on: gdb's rule. Optimized code keeps arguments where
 * they are, and its lines say nothing of them. */
uint64_t debug_past_prologue(const struct debugger *d, uint64_t pc)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	struct ws_place place;
	struct position position;
	if (!place_of(d, pc, &place) || !place.function ||
	    ws_cubin_dwarf(place.cubin, &dwarf, NULL) != WS_OK ||
	    ws_dwarf_find_function(dwarf, place.function->name, &function, NULL) != WS_OK)
		return pc;
	const uint64_t entry = pc - place.rel_pc, end = entry + place.function->size_bytes;
	debug_position(d, entry, &position);
	struct ws_line_pos last = position.chain[0];
	for (uint64_t at = entry; position.n > 0 && at < end; at += WS_SASS_BYTES) {
		const struct ws_line_pos *here = &position.chain[0];
		const bool inlined = position.n > 1;
		if (here->row != last.row &&
		    (inlined || here->file != last.file || here->line >= last.line))
			return pc > at ? pc : at;
		last = *here;
		debug_position(d, at + WS_SASS_BYTES, &position);
	}
	return pc;
}

static void add(struct breakpoint *to, uint64_t pc)
{
	for (size_t i = 0; i < to->n_pcs; i++)
		if (to->pc[i] == pc)
			return;
	cli_grow(&to->pc, &to->cap_pcs, to->n_pcs, sizeof pc);
	to->pc[to->n_pcs++] = pc;
}

/* The first code of a line in one copy of it: a function has one for each place where it is
 * inlined. */
struct copy {
	size_t priv_index; /* of the sequence */
	uint64_t sec_off;
	uint32_t context;
	uint64_t pc;
};

struct copies {
	struct ws_cubin *cubin;
	struct ws_line_map *map;
	struct copy *item; /* owned */
	size_t n, cap;
};

/* Device address of an address of a sequence's owner; false: not loaded. */
static bool address_of(const struct copies *copies, const struct ws_line_seq *seq, uint64_t address,
		       uint64_t *ret_pc)
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
	if (!address_of(copies, hit->seq, hit->low, &found.pc))
		return true;
	for (size_t i = 0; i < copies->n; i++) {
		struct copy *one = &copies->item[i];
		if (one->sec_off == found.sec_off && one->context == found.context) {
			one->pc = found.pc < one->pc ? found.pc : one->pc;
			return true;
		}
	}
	cli_grow(&copies->item, &copies->cap, copies->n, sizeof found);
	copies->item[copies->n++] = found;
	return true;
}

void debug_locate_line(const struct debugger *d, const char *file, uint32_t line,
		       struct breakpoint *to)
{
	struct ws_cubin_set *set;
	struct ws_error err;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		struct copies copies = { 0 };
		if (ws_cubin_set_cubin(set, i, &copies.cubin, NULL) != WS_OK ||
		    ws_cubin_line_map(copies.cubin, &copies.map, NULL) != WS_OK)
			continue;
		enum ws_status st =
			ws_line_find_source(copies.map, file, line, take_hit, &copies, &err);
		if (st != WS_OK && st != WS_ABSENT)
			cli_fail(NULL, &err);
		for (size_t k = 0; k < copies.n; k++)
			add(to, copies.item[k].pc);
		free(copies.item);
	}
}

/* A line, or the next one that has code. */
static void locate_line(struct debugger *d, const char *file, uint32_t line, struct breakpoint *to)
{
	enum { MAX_LINES = 50 };
	for (uint32_t i = 0; i < MAX_LINES && to->n_pcs == 0; i++)
		debug_locate_line(d, file, line + i, to);
}

/* Whether a name is that of a function but for its namespaces and classes. */
static bool ends_with(const struct ws_function *function, const char *name)
{
	char *full = name_copy(function->name, NAME_SHORT);
	size_t n = strlen(full), part = strlen(name);
	bool ends = n > part + 2 && strcmp(full + n - part, name) == 0 &&
		    memcmp(full + n - part - 2, "::", 2) == 0;
	free(full);
	return ends;
}

static void locate_function(struct debugger *d, const char *name, struct breakpoint *to)
{
	struct ws_cubin_set *set;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		struct ws_cubin *cubin;
		const struct ws_function *functions;
		size_t n;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) != WS_OK ||
		    ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n; k++)
			if (functions[k].gpu_va &&
			    (name_is(&functions[k], name) || ends_with(&functions[k], name)))
				add(to, functions[k].gpu_va);
	}
}

/* A line of the file that the focus is in. */
static bool locate_here(struct debugger *d, uint32_t line, struct breakpoint *to)
{
	struct position position = { .n = 0 };
	struct ws_lane lane;
	if (d->has_focus &&
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK)
		debug_position(d, lane.pc, &position);
	if (position.n == 0 || !position.chain[0].file) {
		cli_say("Which file? There is no thread whose source is known.\n");
		return false;
	}
	size_t size = ws_line_path(position.chain[0].file, NULL, 0) + 1;
	char *path = cli_alloc(size, 1);
	ws_line_path(position.chain[0].file, path, size);
	locate_line(d, path, line, to);
	free(path);
	return true;
}

bool debug_locate_stop(struct debugger *d, const char *text, struct breakpoint *to)
{
	struct breakpoint found = { 0 };
	const bool good = debug_locate(d, text, &found);
	for (size_t i = 0; i < found.n_pcs; i++)
		add(to, *text == '*' ? found.pc[i] : debug_past_prologue(d, found.pc[i]));
	free(found.pc);
	return good;
}

bool debug_locate(struct debugger *d, const char *text, struct breakpoint *to)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;
	struct ws_number value;
	char wrong[200];
	if (*text == '*') {
		if (!debug_evaluate(d, d->has_focus ? &d->focus : NULL, text + 1, &value, wrong)) {
			cli_say("%s.\n", wrong);
			return false;
		}
		add(to, (uint64_t)value.whole);
	} else if (colon && cli_number(colon + 1, &line)) {
		char *file = cli_copy(text, (size_t)(colon - text));
		locate_line(d, file, (uint32_t)line, to);
		free(file);
	} else if (cli_number(text, &line)) {
		if (!locate_here(d, (uint32_t)line, to))
			return false;
	} else if (*text) {
		locate_function(d, text, to);
	}
	const bool is_name = *text && !strchr("*0123456789", *text) && !colon;
	if (to->n_pcs == 0)
		cli_say(is_name ? "Function \"%s\" not defined.\n"
			: *text ? "No code is at '%s'.\n"
				: "Where? FILE:LINE, LINE, FUNCTION or *ADDRESS%s is expected.\n",
			text);
	return to->n_pcs > 0;
}
