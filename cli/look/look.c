/* SPDX-License-Identifier: Apache-2.0 */
#include "look/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* ---- frames ---- */

static void frames_make(struct look *look)
{
	for (uint32_t level = 0; level < ws_vars_frames(look->vars); level++) {
		const struct ws_frame *frame = ws_vars_frame(look->vars, level);
		struct ws_line_pos chain[WS_CHAIN_MOST];
		size_t n = 0;
		if (frame->status != WS_OK ||
		    ws_cubin_line_find(frame->place.cubin, frame->place.section,
				       frame->place.sec_off, chain, WS_CHAIN_MOST, &n,
				       NULL) != WS_OK)
			n = 0;
		n = n < WS_CHAIN_MOST ? n : WS_CHAIN_MOST;
		for (size_t i = 0; i < n || i == 0; i++) {
			struct shown_frame shown = { .level = level,
						     .nth = (uint32_t)i,
						     .inlined = i + 1 < n,
						     .has_position = n > 0 };
			if (n > 0)
				shown.position = chain[i];
			cli_grow(&look->frames, &look->cap_frames, look->n_frames, sizeof shown);
			look->frames[look->n_frames++] = shown;
		}
	}
}

enum ws_status look_select(struct look *look, size_t number, struct ws_error *err)
{
	const struct shown_frame *shown = &look->frames[number];
	return shown->inlined ? ws_vars_select_inlined(look->vars, shown->level, shown->nth, err)
			      : ws_vars_select(look->vars, shown->level, err);
}

static int look_at(struct look *look, int argc, char **argv, struct cli_given number)
{
	struct session *session = &look->session;
	struct ws_filter filter;
	struct ws_focus focus;
	struct ws_error err;
	const char *bad = "";
	if (!ws_filter_parse(&filter, ws_threads_focus_coords(&session->threads), argc, argv, &bad))
		return cli_usage(session->cli->verb, "'%s' is not a filter", bad);
	if (argc == 0)
		session_limit_to_suspect(session, &filter);
	if (!ws_threads_first(&session->threads, &filter, &focus)) {
		cli_say("%s: there is no such thread.\n", session->path);
		return CLI_NO_ANSWER;
	}
	ws_threads_focus_on(&session->threads, &focus);
	if (ws_vars_create(session->target, &look->vars, &err) != WS_OK ||
	    ws_vars_look(look->vars, &focus, &err) != WS_OK)
		return cli_fail(session->path, &err);
	look_use_style(look, &(struct look_style){ .pretty = false });
	frames_make(look);
	if (number.given && number.value >= look->n_frames) {
		cli_say("%s: the thread has %zu frames; there is no frame %" PRIu64 ".\n",
			session->path, look->n_frames, number.value);
		return CLI_NO_ANSWER;
	}
	look->at = number.given ? (size_t)number.value : argc == 0 ? session->cli->frame : 0;
	if (look->at >= look->n_frames)
		look->at = 0;
	if (look_select(look, look->at, &err) != WS_OK)
		return cli_fail(session->path, &err);
	return CLI_ANSWERED;
}

void look_use_style(struct look *look, const struct look_style *given)
{
	struct ws_value_style style = look->session.cli->style;
	if (given->elements.given)
		style.elements = cli_most(given->elements.value);
	if (given->repeats.given)
		style.repeats = cli_most(given->repeats.value);
	style.is_pretty = (style.is_pretty || given->pretty) && !look->session.cli->json;
	ws_vars_set_style(look->vars, style);
}

int look_open(struct look *look, struct cli *cli, const char *path, int argc, char **argv,
	      struct cli_given number)
{
	int status = session_open(&look->session, cli, path);
	look->arguments = cli->frame_arguments;
	return status == CLI_ANSWERED ? look_at(look, argc, argv, number) : status;
}

void look_close(struct look *look)
{
	ws_vars_destroy(look->vars);
	free(look->frames);
	session_close(&look->session);
}

/* ---- values ---- */

char *look_text(struct ws_vars *vars, const struct ws_value *value, struct ws_value_format format,
		enum ws_status *ret_status)
{
	struct cli_bytes text = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &text);
	*ret_status = ws_vars_print(vars, value, format, &out);
	(void)!ws_out_flush(&out, NULL);
	cli_bytes_write(&text, "", 1);
	return text.ptr;
}

/* In a word why a value is not there, when printing it gave `st`; NULL: it is. */
static const char *why_missing(const struct ws_value *value, enum ws_status st)
{
	switch (value->kind) {
	case WS_VALUE_BYTES:
	case WS_VALUE_MEMORY:
		return st == WS_OK ? NULL : ws_missing_word(st);
	case WS_VALUE_GONE:
		return "optimized out";
	case WS_VALUE_NOT_HERE:
		return "not live";
	case WS_VALUE_NOT_SAVED:
		return "not saved";
	case WS_VALUE_MISSING:
		return ws_missing_word(value->status);
	}
	return NULL;
}

void look_json_value(struct look *look, const struct ws_value *value, struct ws_value_format format,
		     struct ws_json *json)
{
	char type[512];
	enum ws_status st;
	char *text = look_text(look->vars, value, format, &st);
	const char *why = why_missing(value, st);
	ws_vars_spell(look->vars, &value->type, type, sizeof type);
	ws_json_key_str(json, "type", ws_str_of(type));
	ws_json_key(json, "value");
	if (why)
		ws_json_null(json);
	else
		ws_json_str(json, ws_str_of(text));
	if (why)
		ws_json_key_text(json, "value_why", why);
	free(text);
}

bool look_format(const char **text, struct ws_value_format *ret_format)
{
	const char *at = *text;
	if (*at != '/')
		return true;
	char letter = at[1];
	if (!letter || !strchr("xzduotcfasr", letter) || (at[2] && at[2] != ' ')) {
		cli_say("A format is one of x, z, d, u, o, t, c, f, a and s, not '%.*s'.\n",
			(int)strcspn(at + 1, " "), at + 1);
		return false;
	}
	ret_format->letter = letter == 'r' ? '\0' : letter; /* raw: nothing is dressed here */
	*text = at + 2 + strspn(at + 2, " ");
	return true;
}

/* ---- variables ---- */

/* Whether a value is one word in a list of arguments; else it is shown as "...". */
static bool is_brief(const char *text)
{
	return *text != '{' && *text != '@';
}

static struct ws_variable_value *list_read(struct ws_vars *vars, size_t *ret_n,
					   enum ws_status *ret_status, struct ws_error *err)
{
	struct ws_variable_value *list = cli_alloc(WS_VARS_MAX_LIST, sizeof *list);
	*ret_n = 0;
	*ret_status = ws_vars_list(vars, list, WS_VARS_MAX_LIST, ret_n, err);
	if (*ret_status != WS_OK)
		*ret_n = 0;
	return list;
}

static void json_variable(struct look *look, const struct ws_variable_value *one,
			  struct ws_json *json)
{
	ws_json_object(json);
	ws_json_key_str(json, "name", one->variable.name);
	look_json_value(look, &one->value, (struct ws_value_format){ 0 }, json);
	ws_json_key_u64(json, "line", one->variable.line);
	ws_json_key_u64(json, "block", one->variable.depth);
	ws_json_end(json);
}

static bool is_asked_for(const struct look *look, const struct ws_variable_value *one)
{
	char type[512];
	char *name = cli_copy(one->variable.name.ptr, one->variable.name.len);
	bool is = !look->names || pattern_matches(look->names, name);
	if (is && look->types) {
		ws_vars_spell(look->vars, &one->value.type, type, sizeof type);
		is = pattern_matches(look->types, type);
	}
	free(name);
	return is;
}

size_t look_list(struct look *look, bool params, struct ws_out *out, struct ws_json *json,
		 enum ws_status *ret_status, struct ws_error *err)
{
	size_t n, shown = 0;
	struct ws_variable_value *list = list_read(look->vars, &n, ret_status, err);
	uint32_t deepest = 0;
	for (size_t i = 0; i < n; i++)
		deepest = list[i].variable.depth > deepest ? list[i].variable.depth : deepest;
	for (uint32_t left = deepest + 1; left > 0; left--) { /* inner blocks first, as gdb */
		for (size_t i = 0; i < n; i++) {
			const struct ws_variable_value *one = &list[i];
			if (one->variable.depth != left - 1 || one->variable.is_param != params ||
			    !one->variable.name.len || !is_asked_for(look, one))
				continue;
			shown++;
			if (json) {
				json_variable(look, one, json);
				continue;
			}
			ws_out_escaped(out, one->variable.name);
			ws_out_text(out, " = ");
			(void)ws_vars_print(look->vars, &one->value, (struct ws_value_format){ 0 },
					    out);
			ws_out_text(out, "\n");
		}
	}
	free(list);
	return shown;
}

/* One of a list of arguments; takes `text`. `*before`: what is between it and the one before. */
static void print_argument(struct ws_str name, char *text, bool is_shown, const char **before,
			   struct ws_out *out)
{
	ws_out_printf(out, "%s", *before);
	ws_out_escaped(out, name);
	ws_out_text(out, "=");
	ws_out_escaped(out, ws_str_of(is_shown ? text : "..."));
	*before = ", ";
	free(text);
}

static bool is_argument_shown(enum cli_frame_arguments which, const char *text)
{
	return which == CLI_ARGUMENTS_ALL || (which == CLI_ARGUMENTS_SCALARS && is_brief(text));
}

/* The parameters of a kernel that was not compiled with -G, if the target has their values. */
static void print_params(struct ws_vars *vars, enum cli_frame_arguments which, struct ws_out *out)
{
	enum { MOST = 4096 };
	struct ws_value_format format = { .is_flat = true };
	struct ws_kernel_param *list = cli_alloc(MOST, sizeof *list);
	const char *before = "";
	enum ws_status read;
	size_t n = 0;
	const bool known = ws_vars_params(vars, list, MOST, &n, NULL) == WS_OK && n > 0 &&
			   list[0].value.kind != WS_VALUE_MISSING;
	for (size_t i = 0; known && i < n && i < MOST; i++) {
		format.letter = list[i].type.len ? 0 : 'x';
		char *text = look_text(vars, &list[i].value, format, &read);
		print_argument(ws_str_of(list[i].name), text, is_argument_shown(which, text),
			       &before, out);
	}
	free(list);
}

static bool has_params(const struct ws_variable_value *list, size_t n)
{
	size_t i = 0;
	while (i < n && !list[i].variable.is_param)
		i++;
	return i < n;
}

void look_print_arguments(struct ws_vars *vars, enum look_arguments how,
			  enum cli_frame_arguments which, struct ws_out *out)
{
	static const char *const open[] = { " (", " (", "(", " " }, *const end[] = { ")", ")", ")",
										     "" };
	struct ws_error err;
	enum ws_status st, read;
	size_t n;
	struct ws_variable_value *list = list_read(vars, &n, &st, &err);
	const char *before = "";
	bool any = false;
	if (how == LOOK_INLINED && !has_params(list, n)) {
		free(list);
		return;
	}
	ws_out_printf(out, "%s", open[how]);
	for (size_t i = 0; i < n; i++) {
		if (!list[i].variable.is_param)
			continue;
		any = true;
		if (which == CLI_ARGUMENTS_PRESENCE)
			break;
		char *text = look_text(vars, &list[i].value,
				       (struct ws_value_format){ .is_flat = true }, &read);
		if (how == LOOK_IN_TABLE && strncmp(text, "0x", 2) == 0)
			text[strcspn(text, " ")] = '\0'; /* not what is in memory */
		print_argument(list[i].variable.name, text, is_argument_shown(which, text), &before,
			       out);
	}
	if (any && which == CLI_ARGUMENTS_PRESENCE)
		ws_out_text(out, "...");
	if (st != WS_OK && which != CLI_ARGUMENTS_PRESENCE)
		print_params(vars, which, out);
	ws_out_printf(out, "%s", end[how]);
	free(list);
}

/* Looks at the frame of a number; the one that was looked at comes back with the next call. */
static const struct ws_frame *visit(struct look *look, size_t number)
{
	struct ws_error err;
	if (look_select(look, number, &err) != WS_OK)
		cli_fail(look->session.path, &err);
	return ws_vars_frame(look->vars, look->frames[number].level);
}

/* "<<<(8,1,1),(32,1,1)>>>" behind the name of a kernel. */
static void print_launch(const struct look *look, const struct ws_frame *frame, struct ws_out *out)
{
	const struct session *session = &look->session;
	const uint32_t grid = session->threads.focus.grid_index;
	const bool is_kernel =
		frame->status == WS_OK && frame->place.function && frame->place.function->is_kernel;
	if (!is_kernel || grid >= session->threads.counts.grids)
		return;
	const struct ws_dim3 *blocks = &session->threads.grids[grid].grid_dim;
	const struct ws_dim3 *threads = &session->threads.grids[grid].block_dim;
	ws_out_printf(out,
		      "<<<(%" PRIu32 ",%" PRIu32 ",%" PRIu32 "),(%" PRIu32 ",%" PRIu32 ",%" PRIu32
		      ")>>>",
		      blocks->x, blocks->y, blocks->z, threads->x, threads->y, threads->z);
}

void look_print_name(const struct look *look, size_t number, struct ws_out *out)
{
	const struct shown_frame *shown = &look->frames[number];
	const struct ws_frame *frame = ws_vars_frame(look->vars, shown->level);
	const bool has_function = frame->status == WS_OK && frame->place.function;
	if (shown->inlined)
		ws_name_text(out, ws_str_of(shown->position.function), false);
	else
		ws_name_text(out,
			     has_function ? frame->place.function->name
					  : (struct ws_str){ NULL, 0 },
			     false);
}

void look_print_call(struct look *look, size_t number, struct ws_out *out)
{
	const struct shown_frame *shown = &look->frames[number];
	const struct ws_frame *frame = visit(look, number);
	look_print_name(look, number, out);
	if (!shown->inlined)
		print_launch(look, frame, out);
	look_print_arguments(look->vars, shown->inlined ? LOOK_INLINED : LOOK_IN_FRAME,
			     look->arguments, out);
	if (shown->has_position) {
		ws_out_text(out, " at ");
		ws_position_text(out, &shown->position, false);
	}
	ws_out_text(out, shown->inlined ? " (inlined)\n" : "\n");
	visit(look, look->at);
}

void look_print_frame(struct look *look, size_t number, struct ws_out *out)
{
	const struct shown_frame *shown = &look->frames[number];
	ws_out_printf(out, "#%-3zu", number);
	if (!shown->inlined)
		ws_out_printf(out, "0x%016" PRIx64 " in ",
			      ws_vars_frame(look->vars, shown->level)->pc);
	look_print_call(look, number, out);
}

bool look_is_function(const struct look *look, size_t number, const char *name)
{
	const struct shown_frame *shown = &look->frames[number];
	const struct ws_frame *frame = ws_vars_frame(look->vars, shown->level);
	if (!shown->inlined)
		return frame->status == WS_OK && frame->place.function &&
		       ws_name_is(frame->place.function, name);
	const char *inlined = shown->position.function;
	const struct ws_function function = { .name = ws_str_of(inlined ? inlined : "") };
	return ws_name_is(&function, name);
}

void look_print_variables(struct look *look, size_t number, struct ws_out *out)
{
	struct cli_bytes text = { 0 };
	struct ws_out lines;
	enum ws_status st;
	struct ws_error err;
	visit(look, number);
	ws_out_init(&lines, cli_bytes_write, &text);
	if (look_list(look, false, &lines, NULL, &st, &err) == 0 &&
	    (st == WS_OK || !look->frames[number].inlined))
		ws_out_text(&lines,
			    st == WS_OK ? "No locals.\n" : "No symbol table info available.\n");
	(void)!ws_out_flush(&lines, NULL);
	for (const char *at = text.ptr, *end; at < text.ptr + text.len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text.ptr + text.len - at));
		ws_out_text(out, "        ");
		ws_out_escaped(out, (struct ws_str){ at, (size_t)(end - at) });
		ws_out_text(out, "\n");
	}
	free(text.ptr);
	visit(look, look->at);
}

void look_json_frame(struct look *look, size_t number, bool full, struct ws_json *json)
{
	const struct shown_frame *shown = &look->frames[number];
	const struct ws_frame *frame = visit(look, number);
	struct ws_error err;
	enum ws_status st;
	ws_json_object(json);
	ws_json_key_u64(json, "level", number);
	ws_json_key_hex(json, "pc", frame->pc);
	if (shown->inlined)
		ws_function_json(json, shown->position.function);
	else if (frame->status == WS_OK && frame->place.function)
		ws_name_json(json, frame->place.function->name);
	else {
		const enum ws_status why = frame->status == WS_OK ? WS_ABSENT : frame->status;
		ws_json_missing(json, "function", why);
		ws_json_missing(json, "function_mangled", why);
	}
	if (shown->has_position) {
		ws_path_json(json, shown->position.file);
		ws_json_key_u64(json, "line", shown->position.line);
	} else {
		ws_json_missing(json, "file", WS_ABSENT);
		ws_json_missing(json, "line", WS_ABSENT);
	}
	ws_json_key_bool(json, "inlined", shown->inlined);
	ws_json_key_array(json, "args");
	(void)look_list(look, true, NULL, json, &st, &err);
	ws_json_end(json);
	if (full) {
		ws_json_key_array(json, "locals");
		(void)look_list(look, false, NULL, json, &st, &err);
		ws_json_end(json);
	}
	ws_json_end(json);
	visit(look, look->at);
}
