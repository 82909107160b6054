/* SPDX-License-Identifier: Apache-2.0 */
/* info: what is not a table of the verb. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>

#include "look/look.h"

/* info frame */
static void info_frame(struct debugger *d)
{
	struct look look = { .vars = NULL };
	struct ws_out *out = &d->cli->out;
	if (!debug_has_thread(d))
		return;
	if (look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
		      (struct cli_given){ 0 }) == CLI_ANSWERED) {
		const struct shown_frame *shown = &look.frames[look.at];
		const struct ws_frame *frame = ws_vars_frame(look.vars, shown->level);
		ws_out_printf(out, "Stack level %zu", look.at);
		if (frame->has_cfa)
			ws_out_printf(out, ", frame at 0x%" PRIx64, frame->cfa);
		ws_out_printf(out, ":\n pc = 0x%" PRIx64 " in ", frame->pc);
		look_print_call(&look, look.at, out);
		if (shown->level + 1 < ws_vars_frames(look.vars))
			ws_out_printf(out, " saved pc = 0x%" PRIx64 "\n",
				      ws_vars_frame(look.vars, shown->level + 1)->pc);
	}
	look_close(&look);
}

/* info line [*ADDRESS|LOCATION] */
static void info_line(struct debugger *d, const char *text)
{
	struct breakpoint at = { 0 };
	uint64_t pc;
	if (!*text && debug_focus_pc(d, &pc))
		debug_print_line(d, pc);
	else if (*text == '*' && debug_number_in(d, text + 1, &pc))
		debug_print_line(d, pc);
	else if (*text && *text != '*' && debug_locate(d, text, &at))
		for (size_t i = 0; i < at.n_pcs; i++)
			debug_print_line(d, at.pc[i]);
	free(at.pc);
}

/* ---- registers, as gdb shows them ---- */

static void print_register(struct debugger *d, const char *name)
{
	struct ws_out *out = &d->cli->out;
	struct ws_value value;
	struct ws_error err;
	char expression[40];
	snprintf(expression, sizeof expression, "$%s", name);
	ws_out_printf(out, "%-15s", name);
	struct cli_bytes hex = { 0 };
	struct ws_out text;
	ws_out_init(&text, cli_bytes_write, &hex);
	if (!debug_peek(d, expression, &value, &err)) {
		ws_out_text(out, "<unavailable>\n");
		return;
	}
	(void)ws_vars_print(d->vars, &value, (struct ws_value_format){ .letter = 'x' }, &text);
	(void)!ws_out_flush(&text, NULL);
	cli_bytes_write(&hex, "", 1);
	ws_out_printf(out, "%-19s ", hex.ptr);
	const bool is_pc = strcmp(name, "pc") == 0 || strcmp(name, "errorpc") == 0;
	(void)ws_vars_print(d->vars, &value,
			    (struct ws_value_format){ .letter = is_pc ? 'a' : 'd' }, out);
	ws_out_text(out, "\n");
	free(hex.ptr);
}

static void print_kind(struct debugger *d, enum ws_reg_kind kind, const char *prefix)
{
	enum { MOST = 256 };
	uint32_t words[MOST], n = 0;
	char name[16];
	if (ws_target_registers(d->target, d->focus.warp_index, d->focus.lane, kind, 0, MOST, words,
				&n, NULL) != WS_OK &&
	    n == 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s%" PRIu32, prefix, i);
		print_register(d, name);
	}
}

/* info registers [NAME...]; "system" are predicates, as cuda-gdb has it. */
static void info_registers(struct debugger *d, const char *text)
{
	struct ws_value value;
	struct ws_error err;
	const bool all = !*text, system = strcmp(text, "system") == 0;
	if (!debug_has_thread(d))
		return;
	if (all)
		print_kind(d, WS_REG_R, "R");
	if (all)
		print_register(d, "pc");
	if (all || system)
		print_kind(d, WS_REG_P, "P");
	if (all)
		print_kind(d, WS_REG_UR, "UR");
	if (all || system)
		print_kind(d, WS_REG_UP, "UP");
	if (all && debug_peek(d, "$errorpc", &value, &err))
		print_register(d, "errorpc");
	while (!all && !system && *text) {
		size_t n = strcspn(text, " ");
		const char *start = *text == '$' ? text + 1 : text;
		char *name = cli_copy(start, (size_t)(text + n - start));
		enum ws_reg_kind kind;
		uint32_t number;
		if (ws_register_find(name, &kind, &number) || strcmp(name, "pc") == 0 ||
		    strcmp(name, "errorpc") == 0)
			print_register(d, name);
		else
			ws_out_printf(&d->cli->out, "Invalid register `%s'\n", name);
		free(name);
		text += n + strspn(text + n, " ");
	}
}

/* ---- code ---- */

/* Variables that can be named at an address. */
static void print_scope(struct debugger *d, uint64_t pc, const char *text)
{
	enum { MOST = 4096 };
	struct ws_out *out = &d->cli->out;
	struct ws_cubin_set *set;
	struct ws_place place;
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	struct ws_dwarf_variable *list = cli_alloc(MOST, sizeof *list);
	size_t n = 0;
	char name[512];
	bool good =
		ws_target_cubins(d->target, &set, NULL) == WS_OK &&
		ws_cubin_set_find_address(set, pc, NULL, &place, NULL) == WS_OK && place.function &&
		ws_cubin_dwarf(place.cubin, &dwarf, NULL) == WS_OK &&
		ws_dwarf_find_function(dwarf, place.function->name, &function, NULL) == WS_OK &&
		ws_dwarf_variables(dwarf, function, place.rel_pc, list, MOST, &n, NULL) == WS_OK;
	n = n < MOST ? n : MOST;
	if (!good || n == 0) {
		ws_out_text(out, "Symbol table has no variables at ");
		ws_out_escaped(out, ws_str_of(text));
		ws_out_text(out, good ? ".\n" : ": the code was not compiled with -G.\n");
	}
	for (size_t i = 0; good && i < n; i++) {
		struct ws_type type;
		ws_out_text(out, list[i].is_param ? "Argument " : "Variable ");
		ws_out_escaped(out, list[i].name);
		(void)!ws_dwarf_spell(dwarf, list[i].type, name, sizeof name);
		ws_out_text(out, " of type ");
		ws_out_escaped(out, ws_str_of(name));
		if (ws_dwarf_type(dwarf, list[i].type, &type, NULL) == WS_OK &&
		    type.size_bytes != WS_SIZE_UNKNOWN)
			ws_out_printf(out, ", length %" PRIu64, type.size_bytes);
		ws_out_text(out, "\n");
	}
	free(list);
}

/* info scope LOCATION */
static void info_scope(struct debugger *d, const char *text)
{
	struct breakpoint at = { 0 };
	if (!*text)
		cli_say("requires an argument (function, line or *addr) to define a scope\n");
	else if (debug_locate_stop(d, text, &at))
		print_scope(d, at.pc[0], text);
	free(at.pc);
}

static void info_args(struct debugger *d, const char *text)
{
	(void)text;
	if (debug_has_thread(d))
		debug_verb(d, "locals", "--only args");
}

static void info_locals(struct debugger *d, const char *text)
{
	(void)text;
	if (debug_has_thread(d))
		debug_verb(d, "locals", "--only locals");
}

static void info_breakpoints(struct debugger *d, const char *text)
{
	(void)text;
	debug_breakpoints_list(d);
}

static void info_display(struct debugger *d, const char *text)
{
	(void)text;
	debug_display_list(d);
}

static void info_source(struct debugger *d, const char *text)
{
	(void)text;
	debug_list_info(d);
}

static void info_frame_of(struct debugger *d, const char *text)
{
	(void)text;
	info_frame(d);
}

static void info_symbol(struct debugger *d, const char *text)
{
	uint64_t address;
	if (debug_number_in(d, text, &address))
		debug_print_symbol(d, address);
}

static void info_program(struct debugger *d, const char *text)
{
	(void)text;
	ws_out_text(&d->cli->out, d->dump      ? "The program being debugged is not being run.\n"
				  : d->over    ? "All kernels have ended.\n"
				  : d->started ? "The kernels have begun.\n"
					       : "No kernel has begun.\n");
}

static void info_host(struct debugger *d, const char *text)
{
	(void)text;
	ws_out_text(&d->cli->out, "There is no host program here: only what runs on the GPU.\n");
}

static void info_cuda(struct debugger *d, const char *text)
{
	const char *rest = debug_behind(text, "line");
	if (rest)
		info_line(d, rest);
	else
		debug_verb(d, "info", text);
}

static const struct about {
	const char *word;
	void (*run)(struct debugger *d, const char *text);
} abouts[] = {
	{ "breakpoints", info_breakpoints },
	{ "b", info_breakpoints },
	{ "watchpoints", info_breakpoints },
	{ "registers", info_registers },
	{ "r", info_registers },
	{ "all-registers", info_registers },
	{ "line", info_line },
	{ "symbol", info_symbol },
	{ "frame", info_frame_of },
	{ "f", info_frame_of },
	{ "source", info_source },
	{ "locals", info_locals },
	{ "args", info_args },
	{ "display", info_display },
	{ "scope", info_scope },
	{ "functions", debug_info_functions },
	{ "types", debug_info_types },
	{ "variables", debug_info_variables },
	{ "sources", debug_info_sources },
	{ "address", debug_info_address },
	{ "program", info_program },
	{ "inferiors", info_host },
	{ "sharedlibrary", info_host },
	{ "signals", info_host },
	{ "files", info_host },
	{ "cuda", info_cuda },
};

enum { N_ABOUTS = sizeof abouts / sizeof abouts[0] };

const char *debug_info_name(size_t index)
{
	return index < N_ABOUTS ? abouts[index].word : NULL;
}

void debug_info(struct debugger *d, const char *text)
{
	size_t n = strcspn(text, " ");
	const struct about *about = NULL;
	unsigned matches = 0;
	for (size_t i = 0; i < N_ABOUTS && n; i++) {
		const bool whole = strlen(abouts[i].word) == n;
		if (strncmp(abouts[i].word, text, n) != 0)
			continue;
		about = &abouts[i];
		matches = whole ? 1 : matches + 1;
		if (whole)
			break;
	}
	if (matches == 1)
		about->run(d, text + n + strspn(text + n, " "));
	else
		debug_verb(d, "info", text);
}
