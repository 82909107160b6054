/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame words mean; info frame: where it is, and what it saved. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>

#include "look.h"

/* Where the frame of a level begins; the one that is looked at comes back. False: not known. */
static bool frame_address(struct ws_stack *stack, uint32_t level, uint64_t *ret_address)
{
	bool found = ws_vars_select(stack->vars, level, NULL) == WS_OK &&
		     ws_vars_frame_address(stack->vars, ret_address, NULL) == WS_OK;
	(void)!ws_stack_select(stack, stack->at, NULL);
	return found;
}

/* ---- words for a frame ---- */

/* The innermost frame of a function; SIZE_MAX: none. */
static size_t of_function(const struct ws_stack *stack, const char *name)
{
	size_t number = 0;
	while (number < stack->n_frames && !ws_stack_is_function(stack, number, name))
		number++;
	return number < stack->n_frames ? number : SIZE_MAX;
}

/* The frame that begins at an address of local memory, as `info frame` shows it; SIZE_MAX: none. */
static size_t at_address(struct ws_stack *stack, uint64_t address)
{
	uint64_t begin;
	for (size_t i = 0; i < stack->n_frames; i++)
		if (!stack->frames[i].inlined &&
		    frame_address(stack, stack->frames[i].level, &begin) && begin == address)
			return i;
	return SIZE_MAX;
}

bool debug_frame_find(struct debugger *d, struct ws_stack *stack, const char *text,
		      size_t *ret_number)
{
	const char *name = gdb_behind(text, "function"), *level = gdb_behind(text, "level");
	const char *where = gdb_behind(text, "address");
	uint64_t number = stack->at;
	if (where && !debug_number_in(d, where, &number))
		return false;
	text = level ? level : text;
	if (name) {
		*ret_number = of_function(stack, name);
		if (*ret_number == SIZE_MAX)
			cli_say("No frame for function \"%s\".\n", name);
	} else if (where) {
		*ret_number = at_address(stack, number);
		if (*ret_number == SIZE_MAX)
			cli_say("No frame at address %s.\n", where);
	} else if (*text && !cli_number(text, &number)) {
		*ret_number = SIZE_MAX;
		cli_say("'%s' is not a frame.\n", text);
	} else {
		*ret_number = number < stack->n_frames ? (size_t)number : SIZE_MAX;
		if (*ret_number == SIZE_MAX)
			cli_say("No frame at level %" PRIu64 ".\n", number);
	}
	return *ret_number != SIZE_MAX;
}

/* ---- info frame ---- */

static bool json_frame(struct debugger *d, struct ws_stack *stack)
{
	const uint32_t level = stack->frames[stack->at].level;
	const bool has_caller = level + 1 < ws_vars_frames(stack->vars);
	struct ws_json *json = &d->json;
	uint64_t cfa = 0, at;
	char name[8];
	struct ws_error err;
	debug_answer(d, "frame");
	ws_json_object(json);
	ws_json_key(json, "frame");
	if (ws_stack_frame_json(stack, stack->at, false, json, &err) != WS_OK)
		return cli_fail(NULL, &err) == CLI_ANSWERED;
	if (ws_json_key_or_null(json, "cfa", frame_address(stack, level, &cfa)))
		ws_json_hex(json, cfa);
	if (ws_json_key_or_null(json, "saved_pc", has_caller))
		ws_json_hex(json, ws_vars_frame(stack->vars, level + 1)->pc);
	ws_json_key_array(json, "saved_registers");
	for (uint32_t i = 0; i < 255; i++) {
		if (ws_vars_saved_register(stack->vars, i, &at, NULL) != WS_OK)
			continue;
		ws_json_object(json);
		snprintf(name, sizeof name, "R%" PRIu32, i);
		ws_json_key_text(json, "register", name);
		ws_json_key_hex(json, "at", at);
		ws_json_end(json);
	}
	ws_json_end(json);
	ws_json_end(json);
	return true;
}

/* The frames beside it, as gdb says it. */
static void print_neighbours(struct ws_stack *stack, struct ws_out *out)
{
	const struct ws_stack_frame *shown = &stack->frames[stack->at];
	const bool has_caller = shown->level + 1 < ws_vars_frames(stack->vars);
	uint64_t address;
	const char *before = " ";
	if (shown->inlined)
		ws_out_printf(out, " inlined into frame %zu\n", stack->at + 1);
	if (!has_caller)
		ws_out_text(out, " Outermost frame: the kernel\n");
	if (has_caller && frame_address(stack, shown->level + 1, &address)) {
		ws_out_printf(out, " called by frame at 0x%" PRIx64, address);
		before = ", ";
	}
	if (shown->level > 0 && frame_address(stack, shown->level - 1, &address)) {
		ws_out_printf(out, "%scaller of frame at 0x%" PRIx64, before, address);
		before = ", ";
	}
	ws_out_text(out, *before == ',' ? "\n" : "");
}

/* What is in the frame: gdb's words, also for places that are the same. */
static void print_contents(struct ws_stack *stack, uint64_t address, struct ws_out *out)
{
	uint64_t at;
	bool any = false;
	ws_out_printf(out, " Arglist at 0x%" PRIx64 ", args:", address);
	if (ws_stack_arguments_text(stack, WS_ARGUMENTS_BARE, out, NULL) != WS_OK)
		cli_out_of_memory();
	ws_out_printf(out, "\n Locals at 0x%" PRIx64 ",", address);
	for (uint32_t i = 0; i < 255; i++) {
		if (ws_vars_saved_register(stack->vars, i, &at, NULL) != WS_OK)
			continue;
		ws_out_text(out, any ? ", " : " Saved registers:\n  ");
		ws_out_printf(out, "R%" PRIu32 " at 0x%" PRIx64, i, at);
		any = true;
	}
	ws_out_text(out, "\n");
}

/* `named`: the user said which. */
static void print_frame(struct ws_stack *stack, bool named, struct ws_out *out)
{
	const struct ws_stack_frame *shown = &stack->frames[stack->at];
	const struct ws_frame *frame = ws_vars_frame(stack->vars, shown->level);
	struct ws_dwarf_unit unit;
	uint64_t address;
	const bool has_address = frame_address(stack, shown->level, &address);
	if (named && has_address)
		ws_out_text(out, "Stack frame");
	else
		ws_out_printf(out, "Stack level %zu%s", stack->at, has_address ? ", frame" : "");
	if (has_address)
		ws_out_printf(out, " at 0x%" PRIx64, address);
	ws_out_printf(out, ":\n pc = 0x%" PRIx64 " in ", frame->pc);
	ws_stack_name_text(stack, stack->at, out);
	if (shown->has_position) {
		ws_out_text(out, " (");
		ws_position_text(out, &shown->position, false);
		ws_out_text(out, ")");
	}
	if (shown->level + 1 < ws_vars_frames(stack->vars))
		ws_out_printf(out, "; saved pc = 0x%" PRIx64 "\n",
			      ws_vars_frame(stack->vars, shown->level + 1)->pc);
	else
		ws_out_text(out, "; saved pc = <not saved>\n");
	print_neighbours(stack, out);
	ws_out_printf(out, " source language %s.\n",
		      debug_unit_at(stack->threads->target, frame->pc - frame->is_caller, &unit)
			      ? debug_language(&unit)
			      : "unknown");
	if (has_address && !shown->inlined)
		print_contents(stack, address, out);
}

bool debug_info_frame(struct debugger *d, const char *text)
{
	struct frame_look look = { .stack = { .vars = NULL } };
	struct ws_error err;
	size_t number;
	bool good = debug_frames_open(d, &look) && debug_frame_find(d, &look.stack, text, &number);
	if (good && ws_stack_select(&look.stack, number, &err) != WS_OK)
		good = cli_fail(NULL, &err) == CLI_ANSWERED;
	if (good && d->cli->json)
		good = json_frame(d, &look.stack);
	else if (good)
		print_frame(&look.stack, *text, &d->cli->out);
	look_close(&look);
	return good;
}
