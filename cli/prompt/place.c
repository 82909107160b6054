/* SPDX-License-Identifier: Apache-2.0 */
/* From source to code, and back. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>

enum { MAX_SHOWN = 100 /* instructions of a line */ };

/* ---- from code to source ---- */

bool debug_frame_position(struct debugger *d, struct ws_line_pos *ret_position)
{
	struct ws_debug_position position;
	struct ws_error err;
	uint64_t pc;
	if (d->cli->frame > 0) {
		*ret_position = d->frame_position;
		return d->has_frame_position;
	}
	if (ws_debug_frame_pc(d->session, &pc, &err) != WS_OK)
		return false;
	ws_debug_position(d->session, pc, &position);
	if (position.n > 0)
		*ret_position = position.chain[0];
	return position.n > 0;
}

uint64_t debug_function_address(const struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	return ws_debug_place(d->session, pc, &place) ? pc - place.rel_pc : 0;
}

static void print_debug_where(const struct debugger *d, const struct ws_debug_position *position,
			      const struct ws_place *place)
{
	struct ws_out *out = &d->cli->out;
	const char *inlined = position->n > 1 ? position->chain[0].function : NULL;
	ws_name_text(out,
		     inlined           ? ws_str_of(inlined)
		     : place->function ? place->function->name
				       : (struct ws_str){ NULL, 0 },
		     false);
	if (position->n > 0) {
		ws_out_text(out, " at ");
		ws_position_text(out, &position->chain[0], false);
	}
	if (inlined) {
		ws_out_text(out, ", inlined into ");
		ws_name_text(out,
			     place->function ? place->function->name : (struct ws_str){ NULL, 0 },
			     false);
	}
	ws_out_text(out, "\n");
}

void debug_print_place(const struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	struct ws_debug_position position;
	if (!ws_debug_place(d->session, pc, &place)) {
		ws_out_text(&d->cli->out, "outside all known code\n");
		return;
	}
	ws_debug_position(d->session, pc, &position);
	print_debug_where(d, &position, &place);
}

/* The text of the instruction at a place; false: its bytes are not known. */
static bool place_instruction_text(const struct debugger *d, const struct ws_place *place,
				   uint64_t pc, char ret_text[WS_SASS_TEXT_MAX])
{
	struct ws_device device;
	struct ws_span bytes;
	struct ws_insn insn;
	if (ws_target_device(d->target, debug_focus(d).device_index, &device, NULL) != WS_OK ||
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
	ws_name_text(out, place->function ? place->function->name : (struct ws_str){ NULL, 0 },
		     false);
	if (place->rel_pc)
		ws_out_printf(out, "+%" PRIu64, place->rel_pc);
	ws_out_text(out, ">");
}

/* Keys "function", "function_mangled", and where a place is in it. */
static void json_function_at(struct ws_json *json, const struct ws_place *place)
{
	if (place->function) {
		ws_name_json(json, place->function->name);
	} else {
		ws_json_missing(json, "function", WS_ABSENT);
		ws_json_missing(json, "function_mangled", WS_ABSENT);
	}
	ws_json_key_u64(json, "offset", place->rel_pc);
}

/* Instructions as objects of the array that is open. */
static void json_insn_range(struct debugger *d, uint64_t address, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, address += WS_SASS_BYTES) {
		struct ws_place place;
		char text[WS_SASS_TEXT_MAX];
		if (!ws_debug_place(d->session, address, &place) ||
		    !place_instruction_text(d, &place, address, text))
			return;
		ws_json_object(&d->json);
		ws_json_key_hex(&d->json, "pc", address);
		json_function_at(&d->json, &place);
		ws_json_key_text(&d->json, "text", text);
		ws_json_end(&d->json);
	}
}

/* `brief`: only the offset in the function, not its name. */
static void print_insn_range(struct debugger *d, uint64_t address, uint64_t count, bool brief)
{
	struct ws_out *out = &d->cli->out;
	struct ws_lane lane = { 0 };
	struct ws_warp warp = { 0 };
	char text[WS_SASS_TEXT_MAX];
	const struct ws_focus *focus = ws_debug_focus(d->session);
	const bool here =
		focus &&
		ws_target_lane(d->target, focus->warp_index, focus->lane, &lane, NULL) == WS_OK &&
		ws_target_warp(d->target, focus->warp_index, &warp, NULL) == WS_OK;
	if (d->cli->json) {
		json_insn_range(d, address, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++, address += WS_SASS_BYTES) {
		struct ws_place place;
		bool is_pc = here && lane.pc == address;
		bool failed = here && warp.error_pc_valid && warp.error_pc == address;
		if (!ws_debug_place(d->session, address, &place) ||
		    !place_instruction_text(d, &place, address, text)) {
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
	print_insn_range(d, address, count, false);
}

void debug_print_function(struct debugger *d, uint64_t address)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	if (!ws_debug_place(d->session, address, &place) || !place.function) {
		cli_say("No function contains specified address.\n");
		return;
	}
	const uint64_t bytes = place.function->size_bytes;
	const uint64_t n = bytes > place.rel_pc ? bytes : place.rel_pc + WS_SASS_BYTES;
	ws_out_text(out, "Dump of assembler code for function ");
	ws_out_escaped(out, place.function->name);
	ws_out_text(out, ":\n");
	print_insn_range(d, address - place.rel_pc, n / WS_SASS_BYTES, true);
	ws_out_text(out, "End of assembler dump.\n");
}

void debug_print_instruction(struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	char text[WS_SASS_TEXT_MAX];
	if (ws_debug_place(d->session, pc, &place) && place_instruction_text(d, &place, pc, text))
		debug_print_code(d, pc, 1);
	else
		ws_out_printf(&d->cli->out, "=>  0x%016" PRIx64 "\n", pc);
}

static bool is_on_line(const struct debugger *d, uint64_t pc, const struct ws_place *of,
		       const struct ws_line_pos *line)
{
	struct ws_place place;
	struct ws_debug_position position;
	if (!ws_debug_place(d->session, pc, &place) || place.function != of->function)
		return false;
	ws_debug_position(d->session, pc, &position);
	return position.n > 0 && position.chain[0].file == line->file &&
	       position.chain[0].line == line->line;
}

/* From where to where code is of one line. */
static void extent(const struct debugger *d, uint64_t pc, const struct ws_place *place,
		   const struct ws_line_pos *line, uint64_t *ret_first, uint64_t *ret_end)
{
	*ret_first = *ret_end = pc - pc % WS_SASS_BYTES;
	while (is_on_line(d, *ret_first - WS_SASS_BYTES, place, line))
		*ret_first -= WS_SASS_BYTES;
	while (is_on_line(d, *ret_end, place, line))
		*ret_end += WS_SASS_BYTES;
}

uint64_t debug_print_line_code(struct debugger *d, uint64_t pc)
{
	struct ws_place place;
	struct ws_debug_position position;
	uint64_t first, end;
	ws_debug_position(d->session, pc, &position);
	if (!ws_debug_place(d->session, pc, &place) || position.n == 0)
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
		      const struct ws_debug_position *position)
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
		ws_chain_json(json, position->chain, position->n);
	} else {
		ws_json_missing(json, "positions", WS_ABSENT);
	}
	ws_json_end(json);
}

bool debug_print_line(struct debugger *d, uint64_t pc)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	struct ws_debug_position position;
	uint64_t first, end;
	if (!ws_debug_place(d->session, pc, &place)) {
		cli_say("No code is known at 0x%" PRIx64 ".\n", pc);
		return false;
	}
	ws_debug_position(d->session, pc, &position);
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
	ws_path_text(out, position.chain[0].file, false);
	ws_out_printf(out, "\" starts at address 0x%" PRIx64 " ", first);
	if (ws_debug_place(d->session, first, &place))
		print_offset(out, &place);
	ws_out_printf(out, " and ends at 0x%" PRIx64 " ", end);
	place.rel_pc += end - first;
	print_offset(out, &place);
	for (size_t i = 1; i < position.n; i++) {
		ws_out_text(out, i == 1 ? ", inlined at " : ", at ");
		ws_position_text(out, &position.chain[i], false);
	}
	ws_out_text(out, ".\n");
	return true;
}

void debug_print_line_without_code(struct debugger *d, uint64_t pc, uint32_t line)
{
	struct ws_out *out = &d->cli->out;
	struct ws_place place;
	struct ws_debug_position position;
	ws_debug_position(d->session, pc, &position);
	if (!ws_debug_place(d->session, pc, &place) || position.n == 0)
		return;
	ws_out_printf(out, "Line %" PRIu32 " of \"", line);
	ws_path_text(out, position.chain[0].file, false);
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
	const bool is_code = ws_debug_place(d->session, address, &place) && place.function;
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
	ws_name_text(out, name, true);
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

bool debug_locate(struct debugger *d, const char *text, bool stops,
		  struct ws_debug_places *ret_places)
{
	struct ws_error err;
	return debug_good(ws_debug_locate(d->session, text, stops, ret_places, &err), &err);
}
