/* SPDX-License-Identifier: Apache-2.0 */
/* info: what is not a table of the verb. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>

#include "info/info.h"

/* Whether a place in the code is of a line, if the text behind the last colon is one; `*ret_line`.
 */
static bool is_of_line(struct debugger *d, uint64_t pc, const char *text, uint32_t *ret_line)
{
	const char *colon = strrchr(text, ':');
	struct ws_debug_position position;
	uint64_t line;
	if (!cli_number(colon ? colon + 1 : text, &line))
		return true;
	*ret_line = (uint32_t)line;
	ws_debug_position(d->session, pc, &position);
	bool is = position.n == 0;
	for (size_t i = 0; i < position.n; i++)
		is |= position.chain[i].line == line;
	return is;
}

/* info line [*ADDRESS|LOCATION] */
static bool info_line(struct debugger *d, const char *text)
{
	struct ws_debug_places at = { .n = 0 };
	char here[24];
	uint64_t pc;
	if (!*text && !debug_focus_pc(d, &pc))
		return false;
	if (!*text)
		snprintf(here, sizeof here, "*0x%" PRIx64, pc);
	bool good = debug_locate(d, *text ? text : here, false, &at);
	const bool in_json = d->cli->json && good && debug_function_address(d, at.pc[0]);
	if (in_json) {
		debug_answer(d, "line");
		ws_json_array(&d->json);
	}
	for (size_t i = 0; i < at.n; i++) {
		uint32_t line;
		if (!in_json && !is_of_line(d, at.pc[i], text, &line))
			debug_print_line_without_code(d, at.pc[i], line);
		else
			good &= debug_print_line(d, at.pc[i]);
	}
	if (in_json)
		ws_json_end(&d->json);
	return good;
}

/* ---- registers, as gdb shows them ---- */

static void print_register(struct debugger *d, const char *name)
{
	struct ws_out *out = &d->cli->out;
	const bool is_pc = strcmp(name, "pc") == 0 || strcmp(name, "errorpc") == 0;
	struct ws_value value;
	struct ws_error err;
	char expression[40];
	snprintf(expression, sizeof expression, "$%s", name);
	ws_out_printf(out, "%-15s", name);
	if (!debug_peek(d, expression, &value, &err)) {
		ws_out_text(out, "<unavailable>\n");
		return;
	}
	struct cli_bytes hex = { 0 };
	struct ws_out text;
	ws_out_init(&text, cli_bytes_write, &hex);
	(void)ws_vars_print(d->vars, &value, (struct ws_value_format){ .letter = 'x' }, &text);
	(void)!ws_out_flush(&text, NULL);
	cli_bytes_write(&hex, "", 1);
	ws_out_printf(out, "%-19s ", hex.ptr);
	(void)ws_vars_print(d->vars, &value,
			    (struct ws_value_format){ .letter = is_pc ? 'a' : 'd' }, out);
	ws_out_text(out, "\n");
	free(hex.ptr);
}

static void print_register_kind(struct debugger *d, enum ws_reg_kind kind, const char *prefix)
{
	enum { MOST = 256 };
	uint32_t words[MOST], n = 0;
	char name[16];
	if (ws_target_registers(d->target, debug_focus(d).warp_index, debug_focus(d).lane, kind, 0,
				MOST, words, &n, NULL) != WS_OK &&
	    n == 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s%" PRIu32, prefix, i);
		print_register(d, name);
	}
}

/* info registers [NAME...]; "system" are predicates, as cuda-gdb has it. */
static bool info_registers(struct debugger *d, const char *text)
{
	struct ws_value value;
	struct ws_error err;
	const bool all = !*text, system = strcmp(text, "system") == 0;
	if (!debug_has_thread(d))
		return false;
	if (all)
		print_register_kind(d, WS_REG_R, "R");
	if (all)
		print_register(d, "pc");
	if (all || system)
		print_register_kind(d, WS_REG_P, "P");
	if (all)
		print_register_kind(d, WS_REG_UR, "UR");
	if (all || system)
		print_register_kind(d, WS_REG_UP, "UP");
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
	return true;
}

/* ---- code ---- */

enum { MOST_IN_SCOPE = 4096 };

/* Variables that can be named at an address; free() them. Their function in `*ret_dwarf`; NULL: it
 * was not compiled with -G. */
static struct ws_dwarf_variable *scope_read(struct debugger *d, uint64_t pc, size_t *ret_n,
					    const struct ws_dwarf **ret_dwarf)
{
	struct ws_cubin_set *set;
	struct ws_place place;
	const struct ws_dwarf_function *function;
	struct ws_dwarf_variable *list = cli_alloc(MOST_IN_SCOPE, sizeof *list);
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK ||
	    ws_cubin_set_find_address(set, pc, NULL, &place, NULL) != WS_OK || !place.function ||
	    ws_cubin_dwarf(place.cubin, ret_dwarf, NULL) != WS_OK ||
	    ws_dwarf_find_function(*ret_dwarf, place.function->name, &function, NULL) != WS_OK ||
	    ws_dwarf_variables(*ret_dwarf, function, place.rel_pc, list, MOST_IN_SCOPE, ret_n,
			       NULL) != WS_OK)
		*ret_dwarf = NULL;
	*ret_n = !*ret_dwarf ? 0 : *ret_n < MOST_IN_SCOPE ? *ret_n : MOST_IN_SCOPE;
	return list;
}

static void print_in_scope(struct debugger *d, const struct ws_dwarf *dwarf,
			   const struct ws_dwarf_variable *variable)
{
	struct ws_out *out = &d->cli->out;
	struct ws_json *json = &d->json;
	struct ws_type type;
	char name[512];
	const bool sized = ws_dwarf_type(dwarf, variable->type, &type, NULL) == WS_OK &&
			   type.size_bytes != WS_SIZE_UNKNOWN;
	(void)!ws_dwarf_spell(dwarf, variable->type, name, sizeof name);
	if (d->cli->json) {
		ws_json_object(json);
		ws_json_key_str(json, "name", variable->name);
		ws_json_key_text(json, "type", name);
		ws_json_key_bool(json, "is_argument", variable->is_param);
		if (ws_json_key_given(json, "size", sized ? WS_OK : WS_ABSENT))
			ws_json_u64(json, type.size_bytes);
		ws_json_key_u64(json, "line", variable->line);
		ws_json_key_u64(json, "block", variable->depth);
		ws_json_end(json);
		return;
	}
	ws_out_text(out, "Symbol ");
	ws_out_escaped(out, variable->name);
	ws_out_text(out,
		    variable->is_param ? " is an argument of type " : " is a variable of type ");
	ws_out_escaped(out, ws_str_of(name));
	if (sized)
		ws_out_printf(out, ", length %" PRIu64, type.size_bytes);
	ws_out_text(out, ".\n");
}

/* info scope LOCATION */
static bool info_scope(struct debugger *d, const char *text)
{
	struct ws_out *out = &d->cli->out;
	struct ws_debug_places at = { .n = 0 };
	const struct ws_dwarf *dwarf = NULL;
	size_t n;
	if (!*text)
		cli_say("requires an argument (function, line or *addr) to define a scope\n");
	else if (debug_locate(d, text, true, &at)) {
		struct ws_dwarf_variable *list = scope_read(d, at.pc[0], &n, &dwarf);
		if (d->cli->json) {
			debug_answer(d, "scope");
			ws_json_array(&d->json);
		} else {
			ws_out_text(out, "Scope for ");
			ws_out_escaped(out, ws_str_of(text));
			ws_out_text(out, ":\n");
			if (n == 0)
				ws_out_text(out,
					    dwarf ? "contains no locals or arguments.\n"
						  : "contains no locals or arguments: the code "
						    "was not compiled with -G.\n");
		}
		for (size_t i = 0; i < n; i++)
			print_in_scope(d, dwarf, &list[i]);
		if (d->cli->json)
			ws_json_end(&d->json);
		free(list);
	}
	return at.n > 0;
}

/* [-q] [-t TYPE] [NAME], both regular expressions, which the verb has as options. */
static bool info_held(struct debugger *d, const char *which, const char *text)
{
	enum { MOST = 8 };
	char *copy = cli_copy(text, strlen(text)), *words[MOST];
	const int n = gdb_split(copy, words, MOST);
	const size_t size = strlen(which) + strlen(text) + MOST * sizeof " --name=";
	char *line = cli_alloc(size, 1);
	size_t len = (size_t)snprintf(line, size, "%s", which);
	for (int i = 0; i < n; i++) {
		const bool is_type = strcmp(words[i], "-t") == 0 && i + 1 < n;
		i += is_type;
		if (is_type || (strcmp(words[i], "-q") != 0 && strcmp(words[i], "--") != 0))
			len += (size_t)snprintf(line + len, size - len, " --%s=%s",
						is_type ? "type" : "name", words[i]);
	}
	if (debug_has_thread(d))
		(void)debug_verb(d, "locals", line);
	free(line);
	free(copy);
	return true;
}

static bool info_args(struct debugger *d, const char *text)
{
	return info_held(d, "--only=args", text);
}

static bool info_locals(struct debugger *d, const char *text)
{
	return info_held(d, "--only=locals", text);
}

static bool info_watchpoints(struct debugger *d, const char *text)
{
	if (ws_debug_breakpoint_next(d->session, 0))
		return debug_breakpoints_list(d, text);
	ws_out_text(&d->cli->out, "No watchpoints.\n");
	return true;
}

static bool info_symbol(struct debugger *d, const char *text)
{
	uint64_t address;
	return debug_number_in(d, text, &address) && debug_print_symbol(d, address, text);
}

static bool info_program(struct debugger *d, const char *text)
{
	static const char *const says[] = {
		[WS_DEBUG_EMPTY] = "No kernel has begun.",
		[WS_DEBUG_FIXED] = "The program being debugged is not being run.",
		[WS_DEBUG_FRESH] = "No kernel has begun.",
		[WS_DEBUG_STANDS] = "The kernels have begun.",
		[WS_DEBUG_OVER] = "All kernels have ended.",
		[WS_DEBUG_LOST] = "The kernels have begun.",
	};
	(void)text;
	ws_out_printf(&d->cli->out, "%s\n", says[ws_debug_state(d->session)]);
	return true;
}

static bool info_stack(struct debugger *d, const char *text)
{
	debug_backtrace(d, text);
	return true;
}

static const char no_host[] = "There is no host program here: only what runs on the GPU.";

static bool info_target(struct debugger *d, const char *text)
{
	struct ws_out *out = &d->cli->out;
	(void)text;
	if (d->dump) {
		ws_out_text(out, "Local CUDA core dump file:\n\t`");
		ws_out_escaped(out, ws_str_of(d->dump));
	}
	ws_out_printf(out, "%s\n", d->dump ? "'." : no_host);
	return true;
}

static bool info_inferiors(struct debugger *d, const char *text)
{
	(void)text;
	if (d->dump)
		ws_out_text(&d->cli->out,
			    "  Num  Description       Connection           Executable\n");
	ws_out_printf(&d->cli->out, "%s\n",
		      d->dump ? "* 1    <main task>       1 (cudacore)" : no_host);
	return true;
}

/* info cuda line ADDRESS */
static void info_cuda_line(struct debugger *d, const char *text)
{
	struct ws_out *out = &d->cli->out;
	struct ws_debug_position position;
	uint64_t pc;
	if (!*text)
		cli_say("Argument required (expression to compute).\n");
	if (!*text || !debug_number_in(d, *text == '*' ? text + 1 : text, &pc))
		return;
	ws_debug_position(d->session, pc, &position);
	ws_out_printf(out, "PC 0x%" PRIx64 " is at ", pc);
	if (position.n)
		ws_position_text(out, &position.chain[0], false);
	else
		ws_out_text(out, "??");
	ws_out_text(out, "\n");
}

static bool info_cuda(struct debugger *d, const char *text)
{
	const char *rest = gdb_behind(text, "line");
	char *word = cli_copy(text, strcspn(text, " "));
	if (rest)
		info_cuda_line(d, rest);
	else if (!*word)
		cli_say("Missing option.\n");
	else if (!info_has_table(word))
		cli_say("Unrecognized option: '%s'.\n", word);
	else
		debug_verb(d, "info", text);
	free(word);
	return true;
}

static const struct about_subject {
	const char *word;
	bool (*run)(struct debugger *d, const char *text);
	const char *help; /* NULL: it is another's short form */
	bool is_answer;   /* of a dump, for a verb, too */
	const char *says; /* without a function */
} abouts[] = {
	{ "address", debug_info_address, "where a variable or a function is", true, NULL },
	{ "all-registers", info_registers, "as info registers", false, NULL },
	{ "args", info_args, "arguments of the frame: [-q] [-t TYPE] [NAME]", false, NULL },
	{ "auxv", NULL, "accepted: of programs of the host", false, no_host },
	{ "b", debug_breakpoints_list, NULL, false, NULL },
	{ "breakpoints", debug_breakpoints_list, "breakpoints and watchpoints", false, NULL },
	{ "cuda", info_cuda, "tables of the GPU: help info cuda", false, NULL },
	{ "display", debug_display_list, "what display prints", false, NULL },
	{ "f", debug_info_frame, NULL, false, NULL },
	{ "files", info_target, "as info target", false, NULL },
	{ "frame", debug_info_frame, "where a frame is, and what it saved", true, NULL },
	{ "functions", debug_info_functions, "names of functions: [REGEX]", true, NULL },
	{ "inferiors", info_inferiors, "the only one", false, NULL },
	{ "line", info_line, "the code of a line, and the line of code", true, NULL },
	{ "locals", info_locals, "variables of the frame: [-q] [-t TYPE] [NAME]", false, NULL },
	{ "proc", NULL, "accepted: of programs of the host", false, no_host },
	{ "program", info_program, "whether it runs", false, NULL },
	{ "r", info_registers, NULL, false, NULL },
	{ "registers", info_registers, "registers of the frame: [NAME...], or system", false,
	  NULL },
	{ "s", info_stack, NULL, false, NULL },
	{ "scope", info_scope, "what can be named at a place", true, NULL },
	{ "sharedlibrary", NULL, "accepted: of programs of the host", false,
	  "No shared libraries loaded at this time." },
	{ "signals", NULL, "accepted: of programs of the host", false, no_host },
	{ "source", debug_list_info, "the source file of the frame", true, NULL },
	{ "sources", debug_info_sources, "names of source files: [REGEX]", true, NULL },
	{ "stack", info_stack, "as backtrace", false, NULL },
	{ "symbol", info_symbol, "the function or variable at an address", true, NULL },
	{ "target", info_target, "the file of the dump", false, NULL },
	{ "types", debug_info_types, "names of types: [REGEX]", true, NULL },
	{ "variables", debug_info_variables, "variables of no function: [REGEX]", true, NULL },
	{ "watchpoints", info_watchpoints, "as info breakpoints", false, NULL },
};

enum { N_ABOUTS = sizeof abouts / sizeof abouts[0] };

const char *debug_info_name(size_t index)
{
	return index < N_ABOUTS ? abouts[index].word : NULL;
}

static const struct about_subject *answer_find(const char *word)
{
	for (size_t i = 0; i < N_ABOUTS; i++)
		if (abouts[i].is_answer && strcmp(abouts[i].word, word) == 0)
			return &abouts[i];
	return NULL;
}

bool debug_info_is_answer(const char *word)
{
	return answer_find(word) != NULL;
}

bool debug_info_answer(struct debugger *d, const char *word, const char *text)
{
	return answer_find(word)->run(d, text);
}

void debug_help_info(struct debugger *d)
{
	ws_out_text(&d->cli->out, "List of info subcommands:\n\n");
	for (size_t i = 0; i < N_ABOUTS; i++)
		if (abouts[i].help)
			ws_out_printf(&d->cli->out, "info %s -- %s\n", abouts[i].word,
				      abouts[i].help);
}

void debug_help_info_cuda(struct debugger *d)
{
	struct ws_out *out = &d->cli->out;
	ws_out_text(out,
		    "List of info cuda tables, which info has without the word cuda, too:\n\n");
	for (size_t i = 0; strcmp(ws_info_table_name(i), "where") != 0; i++) {
		const char *name = ws_info_table_name(i);
		const size_t n = strcspn(name, "_"); /* launch_trace is two words there */
		ws_out_printf(out, "info cuda %.*s%s%s\n", (int)n, name, name[n] ? " " : "",
			      name[n] ? name + n + 1 : "");
	}
	ws_out_text(out,
		    "info cuda line ADDRESS\n\n"
		    "Each takes filters: device, sm, warp, lane, kernel, grid, cluster, block, "
		    "thread, with a\nnumber, any, all or current: info cuda warps sm 3\n");
}

static void say_ambiguous(const char *word)
{
	const char *before = "";
	char names[400] = "";
	for (size_t i = 0; i < N_ABOUTS; i++) {
		const size_t len = strlen(names);
		if (strncmp(abouts[i].word, word, strlen(word)) != 0)
			continue;
		snprintf(names + len, sizeof names - len, "%s%s", before, abouts[i].word);
		before = ", ";
	}
	cli_say("Ambiguous info command \"%s\": %s.\n", word, names);
}

void debug_info(struct debugger *d, const char *text)
{
	size_t n = strcspn(text, " ");
	const struct about_subject *about = NULL;
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
	char *word = cli_copy(text, n);
	if (matches == 1 && about->says)
		ws_out_printf(&d->cli->out, "%s\n", about->says);
	else if (matches == 1)
		(void)about->run(d, text + n + strspn(text + n, " "));
	else if (info_has_table(word))
		debug_verb(d, "info", text);
	else if (matches > 1)
		say_ambiguous(word);
	else if (n)
		cli_say("Undefined info command: \"%s\".  Try \"help info\".\n", word);
	else
		debug_help_info(d);
	free(word);
}
