/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about breakpoints and watchpoints. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The expression behind " if " of a text, or NULL; the text before it is a copy, free() it. */
static const char *condition_of(const char *text, char **ret_where)
{
	const char *condition = strstr(text, " if ");
	*ret_where = cli_copy(text, condition ? (size_t)(condition - text) : strlen(text));
	return condition ? condition + 4 : NULL;
}

static const struct ws_debug_breakpoint *breakpoint_find(const struct debugger *d, uint64_t number)
{
	const struct ws_debug_breakpoint *one = ws_debug_breakpoint_find(d->session, number);
	if (!one)
		cli_say("There is no breakpoint %" PRIu64 ".\n", number);
	return one;
}

/* ---- made ---- */

bool debug_break(struct debugger *d, const char *text, bool temporary)
{
	struct ws_out *out = &d->cli->out;
	const struct ws_debug_breakpoint *made;
	struct ws_error err;
	char *where;
	const char *condition = condition_of(text, &where);
	const bool good =
		ws_debug_break(d->session, where, condition, temporary, &made, &err) == WS_OK;
	free(where);
	if (!good) {
		cli_say("%s.\n", err.message);
		return false;
	}
	d->last_breakpoint = made->number;
	if (made->n_pcs == 0) {
		ws_out_printf(out, "Breakpoint %u (", made->number);
		ws_out_escaped(out, ws_str_of(made->where));
		ws_out_text(out, ") pending.\n");
		return true;
	}
	ws_out_printf(out, "%s %u at 0x%" PRIx64, temporary ? "Temporary breakpoint" : "Breakpoint",
		      made->number, made->pc[0]);
	if (made->n_pcs > 1)
		ws_out_printf(out, " and %zu more", made->n_pcs - 1);
	ws_out_text(out, ": ");
	debug_print_place(d, made->pc[0]);
	return true;
}

/* ADDRESS [LENGTH], of 4 bytes without one. */
static bool parse_watched_memory(const struct debugger *d, const char *text,
				 struct ws_debug_memory *ret_memory)
{
	char *end;
	uint64_t length = 4;
	const uint64_t address = strtoull(text, &end, 0);
	if (end == text || (*end && *end != ' '))
		return false;
	end += strspn(end, " ");
	if (*end && (!cli_number(end, &length) || length == 0))
		return false;
	*ret_memory = (struct ws_debug_memory){
		.at = { .space = WS_SPACE_GENERIC,
			.grid_index = debug_focus(d).grid_index,
			.address = address },
		.size_bytes = length,
	};
	return true;
}

bool debug_memory(struct debugger *d, const char *text, struct ws_debug_memory *ret_memory)
{
	struct cli_range range;
	struct ws_error err;
	if (!*text) {
		cli_say("What? An expression, SPACE:ADDRESS+LENGTH or ADDRESS [LENGTH] is "
			"expected.\n");
		return false;
	}
	if (cli_range(text, &range)) {
		*ret_memory = (struct ws_debug_memory){
			.at = { .space = range.space,
				.bank = range.bank,
				.address = range.address,
				.grid_index = WS_NONE },
			.size_bytes = range.len,
		};
		return true;
	}
	if (parse_watched_memory(d, text, ret_memory) ||
	    ws_debug_memory(d->session, text, ret_memory, &err) == WS_OK)
		return true;
	cli_say("%s.\n", err.message);
	return false;
}

/* "Watchpoint", "Read watchpoint" or "Access watchpoint". */
static const char *watchpoint_word(const struct ws_debug_breakpoint *watchpoint)
{
	return watchpoint->watches == WS_WATCH_CHANGE ? "Watchpoint"
	       : watchpoint->watches == WS_WATCH_READ ? "Read watchpoint"
						      : "Access watchpoint";
}

void debug_watch(struct debugger *d, const char *text, uint32_t kinds)
{
	const struct ws_debug_breakpoint *made;
	struct ws_debug_memory memory;
	struct ws_error err;
	char *where;
	if (!ws_target_can(d->target, WS_CAN_WATCH)) {
		cli_say("Watchpoints are not offered by this provider.\n");
		return;
	}
	const char *condition = condition_of(text, &where);
	if (!debug_memory(d, where, &memory)) {
		free(where);
		return;
	}
	if (ws_debug_watch(d->session, where, &memory, kinds, condition, &made, &err) == WS_OK) {
		d->last_breakpoint = made->number;
		ws_out_printf(&d->cli->out, "%s %u: ", watchpoint_word(made), made->number);
		ws_out_escaped(&d->cli->out, ws_str_of(where));
		ws_out_text(&d->cli->out, "\n");
	} else {
		cli_say("%s.\n", err.message);
	}
	free(where);
}

/* ---- changed ---- */

static void breakpoint_change(struct debugger *d, uint64_t number, int how)
{
	if (how == DEBUG_DELETE)
		ws_debug_remove(d->session, number);
	else
		ws_debug_enable(d->session, number, how == DEBUG_ENABLE);
}

void debug_breakpoints_change(struct debugger *d, const char *text, int how)
{
	const struct ws_debug_breakpoint *one = NULL;
	while (!*text && (one = ws_debug_breakpoint_next(d->session, one ? one->number : 0)))
		breakpoint_change(d, one->number, how);
	while (*text) {
		char *end;
		uint64_t number = strtoull(text, &end, 10);
		if (end == text || (*end && *end != ' ')) {
			cli_say("'%s' is not a breakpoint number.\n", text);
			return;
		}
		if (breakpoint_find(d, number))
			breakpoint_change(d, number, how);
		text = end + strspn(end, " ");
	}
}

void debug_breakpoint_condition(struct debugger *d, const char *text)
{
	char *end;
	struct ws_error err;
	uint64_t number = strtoull(text, &end, 10);
	if (end == text)
		cli_say("condition takes the number of a breakpoint, and an expression.\n");
	if (end == text || !breakpoint_find(d, number))
		return;
	end += strspn(end, " ");
	(void)debug_good(ws_debug_set_condition(d->session, number, *end ? end : NULL, &err), &err);
}

void debug_breakpoint_ignore(struct debugger *d, const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10), count = 0;
	const bool is_there = end > text && breakpoint_find(d, number);
	const bool is_number = end > text;
	end += strspn(end, " ");
	if (!is_there || !cli_number(end, &count)) {
		if (is_there || !is_number)
			cli_say("ignore takes the number of a breakpoint, and a count.\n");
		return;
	}
	ws_debug_ignore(d->session, number, count);
	if (count)
		ws_out_printf(&d->cli->out,
			      "Will ignore next %" PRIu64 " crossing%s of breakpoint %" PRIu64
			      ".\n",
			      count, count == 1 ? "" : "s", number);
	else
		ws_out_printf(&d->cli->out,
			      "Will stop next time breakpoint %" PRIu64 " is reached.\n", number);
}

void debug_breakpoint_commands(struct debugger *d, const char *text)
{
	uint64_t number = d->last_breakpoint;
	struct ws_error err;
	struct gdb_lines lines = gdb_take_lines(&d->gdb, false);
	if (*text && !cli_number(text, &number))
		cli_say("'%s' is not a breakpoint number.\n", text);
	else if (number == 0)
		cli_say("No breakpoints specified.\n");
	else if (breakpoint_find(d, number) &&
		 ws_debug_set_commands(d->session, number, (const char *const *)lines.item, lines.n,
				       &err) != WS_OK)
		cli_say("%s.\n", err.message);
	gdb_lines_free(&lines);
}

/* ---- shown ---- */

/* "        stop only if x == 3" and the other lines below one of the table. */
static void list_breakpoint_more(struct ws_out *out, const struct ws_debug_breakpoint *one)
{
	if (one->condition) {
		ws_out_text(out, "\tstop only if ");
		ws_out_escaped(out, ws_str_of(one->condition));
		ws_out_text(out, "\n");
	}
	if (one->hits)
		ws_out_printf(out, "\tbreakpoint already hit %" PRIu64 " time%s\n", one->hits,
			      one->hits == 1 ? "" : "s");
	if (one->ignored)
		ws_out_printf(out, "\tignore next %" PRIu64 " hits\n", one->ignored);
	for (size_t i = 0; i < one->n_commands; i++) {
		ws_out_text(out, "        ");
		ws_out_escaped(out, ws_str_of(one->commands[i]));
		ws_out_text(out, "\n");
	}
}

static void list_breakpoint(const struct debugger *d, const struct ws_debug_breakpoint *one,
			    int width)
{
	struct ws_out *out = &d->cli->out;
	ws_out_printf(out, "%-7u %-*s %-4s %c   ", one->number, width,
		      !one->watches                     ? "breakpoint"
		      : one->watches == WS_WATCH_CHANGE ? "hw watchpoint"
		      : one->watches == WS_WATCH_READ   ? "read watchpoint"
							: "acc watchpoint",
		      one->is_temporary ? "del" : "keep", one->is_enabled ? 'y' : 'n');
	if (one->n_pcs == 1) {
		ws_out_printf(out, "0x%016" PRIx64 " in ", one->pc[0]);
		debug_print_place(d, one->pc[0]);
	} else if (one->n_pcs > 1) {
		ws_out_text(out, "<MULTIPLE>\n");
	} else {
		ws_out_printf(out, "%-19s", one->watches ? "" : "<PENDING>");
		ws_out_escaped(out, ws_str_of(one->where));
		ws_out_text(out, "\n");
	}
	list_breakpoint_more(out, one);
	for (size_t k = 0; one->n_pcs > 1 && k < one->n_pcs; k++) {
		ws_out_printf(out, "%u.%-32zu y   0x%016" PRIx64 " in ", one->number, k + 1,
			      one->pc[k]);
		debug_print_place(d, one->pc[k]);
	}
}

/* gdb's table. */
bool debug_breakpoints_list(struct debugger *d, const char *text)
{
	(void)text;
	struct ws_out *out = &d->cli->out;
	const struct ws_debug_breakpoint *one = ws_debug_breakpoint_next(d->session, 0);
	int width = 14; /* of a type; gdb's, too, grows */
	if (!one)
		ws_out_text(out, "No breakpoints or watchpoints.\n");
	for (; one; one = ws_debug_breakpoint_next(d->session, one->number))
		width = one->watches == WS_WATCH_READ ? 15 : width;
	one = ws_debug_breakpoint_next(d->session, 0);
	if (one)
		ws_out_printf(out, "Num     %-*s Disp Enb Address            What\n", width,
			      "Type");
	for (; one; one = ws_debug_breakpoint_next(d->session, one->number))
		list_breakpoint(d, one, width);
	return true;
}

/* ---- hit ---- */

static void print_bytes(struct ws_out *out, const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ws_out_printf(out, "%s%02x", i ? " " : "", bytes[i]);
}

/* `value`: the number, or NULL where only bytes are known. */
static void print_watched_value(struct ws_out *out, const char *word,
				const struct ws_debug_memory *memory, const uint8_t *value,
				const uint8_t *bytes, uint32_t n)
{
	const struct run_type type = {
		.bytes = memory->number_bytes,
		.kind = memory->is_float      ? 'f'
			: memory->is_unsigned ? 'u'
					      : 's',
	};
	ws_out_printf(out, "%s", word);
	if (value)
		run_value_print(&type, value, out);
	else
		print_bytes(out, bytes, n);
	ws_out_text(out, "\n");
}

/* "Watchpoint 2: total (i == 3)" */
static void print_watchpoint(struct ws_out *out, const struct ws_debug_breakpoint *one)
{
	ws_out_printf(out, "%s %u: ", watchpoint_word(one), one->number);
	ws_out_escaped(out, ws_str_of(one->where));
	if (one->condition) {
		ws_out_text(out, " (");
		ws_out_escaped(out, ws_str_of(one->condition));
		ws_out_text(out, ")");
	}
	ws_out_text(out, "\n");
}

static void print_hit(const struct debugger *d, const struct ws_debug_hit *hit)
{
	struct ws_out *out = &d->cli->out;
	const struct ws_watch_hit *access = &hit->access;
	const struct ws_debug_memory *memory = &hit->watchpoint->memory;
	const bool known = hit->has_number, changed = access->kinds & WS_WATCH_CHANGE;
	print_watchpoint(out, hit->watchpoint);
	if (!known)
		ws_out_printf(out, "At 0x%" PRIx64 "\n", access->address);
	if (changed)
		print_watched_value(out, "Old value = ", memory, known ? hit->old : NULL,
				    access->before, access->n);
	print_watched_value(out, changed ? "New value = " : "Value = ", memory,
			    known ? hit->now : NULL, access->now, access->n);
	ws_out_printf(out, "%s by %u thread%s in ",
		      access->kinds & WS_WATCH_WRITE ? "Written" : "Read",
		      (unsigned)__builtin_popcount(access->lanes),
		      access->lanes & (access->lanes - 1) ? "s" : "");
	debug_print_place(d, access->pc);
}

/* One that is about to be hit. */
static void print_ahead(const struct debugger *d, const struct ws_debug_breakpoint *one)
{
	const struct ws_debug_memory *memory = &one->memory;
	const uint32_t most = memory->number_bytes ? memory->number_bytes : 4;
	const uint32_t len = most < memory->size_bytes ? most : (uint32_t)memory->size_bytes;
	struct ws_address at = memory->at;
	uint8_t bytes[8];
	size_t n = 0;
	at.warp_index = debug_focus(d).warp_index;
	at.grid_index = debug_focus(d).grid_index;
	print_watchpoint(&d->cli->out, one);
	if (ws_target_read_memory(d->target, &at, bytes, len, &n, NULL) == WS_OK)
		print_watched_value(&d->cli->out, "Value = ", memory,
				    memory->number_bytes ? bytes : NULL, bytes, len);
}

void debug_watch_tell(const struct debugger *d, const struct ws_debug_stop *stop)
{
	for (size_t i = 0; i < stop->n_hits; i++)
		print_hit(d, &stop->hits[i]);
	if (stop->n_hits == 0)
		print_ahead(d, stop->breakpoint);
}
