/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame words mean; info frame: where it is, and what it saved. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>

#include "look/look.h"

/* Where the frame of a level begins; the one that is looked at comes back. False: not known. */
static bool address_of(struct look *look, uint32_t level, uint64_t *ret_address)
{
	bool found = ws_vars_select(look->vars, level, NULL) == WS_OK &&
		     ws_vars_frame_address(look->vars, ret_address, NULL) == WS_OK;
	(void)!look_select(look, look->at, NULL);
	return found;
}

/* ---- words for a frame ---- */

/* The innermost frame of a function; SIZE_MAX: none. */
static size_t of_function(const struct look *look, const char *name)
{
	size_t number = 0;
	while (number < look->n_frames && !look_is_function(look, number, name))
		number++;
	return number < look->n_frames ? number : SIZE_MAX;
}

/* The frame that begins at an address of local memory, as `info frame` shows it; SIZE_MAX: none. */
static size_t at_address(struct look *look, uint64_t address)
{
	uint64_t begin;
	for (size_t i = 0; i < look->n_frames; i++)
		if (!look->frames[i].inlined && address_of(look, look->frames[i].level, &begin) &&
		    begin == address)
			return i;
	return SIZE_MAX;
}

bool debug_frame_find(struct debugger *d, struct look *look, const char *text, size_t *ret_number)
{
	const char *name = gdb_behind(text, "function"), *level = gdb_behind(text, "level");
	const char *where = gdb_behind(text, "address");
	uint64_t number = look->at;
	if (where && !debug_number_in(d, where, &number))
		return false;
	text = level ? level : text;
	if (name) {
		*ret_number = of_function(look, name);
		if (*ret_number == SIZE_MAX)
			cli_say("No frame for function \"%s\".\n", name);
	} else if (where) {
		*ret_number = at_address(look, number);
		if (*ret_number == SIZE_MAX)
			cli_say("No frame at address %s.\n", where);
	} else if (*text && !cli_number(text, &number)) {
		*ret_number = SIZE_MAX;
		cli_say("'%s' is not a frame.\n", text);
	} else {
		*ret_number = number < look->n_frames ? (size_t)number : SIZE_MAX;
		if (*ret_number == SIZE_MAX)
			cli_say("No frame at level %" PRIu64 ".\n", number);
	}
	return *ret_number != SIZE_MAX;
}

/* ---- info frame ---- */

static void json_address(struct ws_json *json, const char *key, bool is_known, uint64_t address)
{
	ws_json_key(json, key);
	if (is_known)
		ws_json_hex(json, address);
	else
		ws_json_null(json);
}

static void json_frame(struct debugger *d, struct look *look)
{
	const uint32_t level = look->frames[look->at].level;
	const bool has_caller = level + 1 < ws_vars_frames(look->vars);
	struct ws_json *json = &d->json;
	uint64_t cfa = 0, at;
	char name[8];
	debug_answer(d, "frame");
	ws_json_object(json);
	ws_json_key(json, "frame");
	look_json_frame(look, look->at, false, json);
	const bool has_cfa = address_of(look, level, &cfa);
	json_address(json, "cfa", has_cfa, cfa);
	json_address(json, "saved_pc", has_caller,
		     has_caller ? ws_vars_frame(look->vars, level + 1)->pc : 0);
	ws_json_key_array(json, "saved_registers");
	for (uint32_t i = 0; i < 255; i++) {
		if (ws_vars_saved_register(look->vars, i, &at, NULL) != WS_OK)
			continue;
		ws_json_object(json);
		snprintf(name, sizeof name, "R%" PRIu32, i);
		ws_json_key_text(json, "register", name);
		json_address(json, "at", true, at);
		ws_json_end(json);
	}
	ws_json_end(json);
	ws_json_end(json);
}

/* The frames beside it, as gdb says it. */
static void print_neighbours(struct look *look, struct ws_out *out)
{
	const struct shown_frame *shown = &look->frames[look->at];
	const bool has_caller = shown->level + 1 < ws_vars_frames(look->vars);
	uint64_t address;
	const char *before = " ";
	if (shown->inlined)
		ws_out_printf(out, " inlined into frame %zu\n", look->at + 1);
	if (!has_caller)
		ws_out_text(out, " Outermost frame: the kernel\n");
	if (has_caller && address_of(look, shown->level + 1, &address)) {
		ws_out_printf(out, " called by frame at 0x%" PRIx64, address);
		before = ", ";
	}
	if (shown->level > 0 && address_of(look, shown->level - 1, &address)) {
		ws_out_printf(out, "%scaller of frame at 0x%" PRIx64, before, address);
		before = ", ";
	}
	ws_out_text(out, *before == ',' ? "\n" : "");
}

/* What is in the frame: gdb's words, also for places that are the same. */
static void print_contents(struct look *look, uint64_t address, struct ws_out *out)
{
	uint64_t at;
	bool any = false;
	ws_out_printf(out, " Arglist at 0x%" PRIx64 ", args:", address);
	look_print_arguments(look->vars, LOOK_BARE, look->arguments, out);
	ws_out_printf(out, "\n Locals at 0x%" PRIx64 ",", address);
	for (uint32_t i = 0; i < 255; i++) {
		if (ws_vars_saved_register(look->vars, i, &at, NULL) != WS_OK)
			continue;
		ws_out_text(out, any ? ", " : " Saved registers:\n  ");
		ws_out_printf(out, "R%" PRIu32 " at 0x%" PRIx64, i, at);
		any = true;
	}
	ws_out_text(out, "\n");
}

/* `named`: the user said which. */
static void print_frame(struct look *look, bool named, struct ws_out *out)
{
	const struct shown_frame *shown = &look->frames[look->at];
	const struct ws_frame *frame = ws_vars_frame(look->vars, shown->level);
	struct ws_dwarf_unit unit;
	uint64_t address;
	const bool has_address = address_of(look, shown->level, &address);
	if (named && has_address)
		ws_out_text(out, "Stack frame");
	else
		ws_out_printf(out, "Stack level %zu%s", look->at, has_address ? ", frame" : "");
	if (has_address)
		ws_out_printf(out, " at 0x%" PRIx64, address);
	ws_out_printf(out, ":\n pc = 0x%" PRIx64 " in ", frame->pc);
	look_print_name(look, look->at, out);
	if (shown->has_position) {
		ws_out_text(out, " (");
		ws_position_text(out, &shown->position, false);
		ws_out_text(out, ")");
	}
	if (shown->level + 1 < ws_vars_frames(look->vars))
		ws_out_printf(out, "; saved pc = 0x%" PRIx64 "\n",
			      ws_vars_frame(look->vars, shown->level + 1)->pc);
	else
		ws_out_text(out, "; saved pc = <not saved>\n");
	print_neighbours(look, out);
	ws_out_printf(out, " source language %s.\n",
		      debug_unit_at(look->session.target, frame->pc - frame->is_caller, &unit)
			      ? debug_language(&unit)
			      : "unknown");
	if (has_address && !shown->inlined)
		print_contents(look, address, out);
}

bool debug_info_frame(struct debugger *d, const char *text)
{
	struct look look = { .vars = NULL };
	struct ws_error err;
	if (!debug_has_thread(d))
		return false;
	bool good = look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
			      (struct cli_given){ 0 }) == CLI_ANSWERED &&
		    debug_frame_find(d, &look, text, &look.at);
	if (good && look_select(&look, look.at, &err) != WS_OK)
		good = cli_fail(NULL, &err) == CLI_ANSWERED;
	if (good && d->cli->json)
		json_frame(d, &look);
	else if (good)
		print_frame(&look, *text, &d->cli->out);
	look_close(&look);
	return good;
}
