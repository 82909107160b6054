/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread and which frame the user looks at. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "session.h"
#include <warpscope/threads.h>

/* ---- the thread ---- */

static void say_no_coordinate(const char *word, size_t len)
{
	cli_say("'%.*s' is not a coordinate; there are kernel, grid, cluster, block, thread, "
		"device, sm, warp, lane.\n",
		(int)len, word);
}

/* Switches to the nearest thread that a text names. False with a word to the user. */
static bool switch_to(struct debugger *d, const struct cli_session *session, const char *text)
{
	char *line = cli_copy(text, strlen(text)), *words[GDB_MAX_WORDS];
	struct ws_filter filter;
	struct ws_focus nearest;
	const char *bad;
	bool good = false;
	if (!ws_filter_parse(&filter, &session->threads.at, gdb_split(line, words, GDB_MAX_WORDS),
			     words, &bad)) {
		say_no_coordinate(bad, strlen(bad));
	} else {
		good = ws_threads_nearest(&session->threads, &filter, &nearest);
		if (good && nearest.warp_index == debug_focus(d).warp_index &&
		    nearest.lane == debug_focus(d).lane)
			ws_out_text(&d->cli->out, "CUDA focus unchanged.\n");
		else if (good)
			(void)debug_focus_on(d, nearest.warp_index, nearest.lane);
		else
			cli_say("Invalid coordinates requested. CUDA focus unchanged.\n");
	}
	free(line);
	return good;
}

/* "kernel 0, block (1,0,0)": what words without numbers ask for; all of it without words. */
static void print_coordinates(struct debugger *d, const struct cli_session *session,
			      const char *text)
{
	static const char *const names[] = {
#define X(name, n) #name,
		WS_FILTER_WORD_LIST(X)
#undef X
	};
	static const unsigned counts[] = {
#define X(name, n) n,
		WS_FILTER_WORD_LIST(X)
#undef X
	};
	struct ws_out *out = &d->cli->out;
	const char *before = "";
	bool known = *text == '\0';
	if (known) {
		ws_out_text(out, "[Current focus set to CUDA ");
		ws_threads_focus_text(&session->threads, out);
		ws_out_text(out, "]\n");
		return;
	}
	for (; *text; text += strspn(text, " ")) {
		size_t n = strcspn(text, " "), i = 0;
		while (i < WS_FILTER_N_WORDS &&
		       (strlen(names[i]) != n || strncmp(names[i], text, n) != 0))
			i++;
		if (i == WS_FILTER_N_WORDS) {
			if (*before)
				ws_out_text(out, "\n");
			cli_flush(d->cli);
			say_no_coordinate(text, n);
			return;
		}
		const int64_t *number = session->threads.at.number[i];
		ws_out_printf(out, "%s%s ", before, names[i]);
		if (!session->threads.at.known[i])
			ws_out_text(out, "not known");
		else if (counts[i] == 3)
			ws_out_printf(out, "(%" PRId64 ",%" PRId64 ",%" PRId64 ")", number[0],
				      number[1], number[2]);
		else
			ws_out_printf(out, "%" PRId64, number[0]);
		before = ", ";
		text += n;
	}
	ws_out_text(out, "\n");
}

/* cuda [WORD NUMBER]... */
void debug_cuda(struct debugger *d, const char *text)
{
	struct cli_session session;
	if (!debug_has_thread(d))
		return;
	int status = session_open(&session, d->cli, "device");
	if (status == CLI_ANSWERED && !strpbrk(text, "0123456789*"))
		print_coordinates(d, &session, text);
	else if (status == CLI_ANSWERED && switch_to(d, &session, text))
		debug_print_switch(d);
	session_close(&session);
	if (d->told.function == 0) /* to another thread */
		debug_print_thread(d);
}

/* ---- frames ---- */

/* What the verb bt calls a word of gdb's bt, with room for a number; "": nothing that it has. NULL:
 * the word is none of gdb's. `*ret_values`: the words behind it that are its own. */
static const char *backtrace_word(const char *word, char text[40], unsigned *ret_values)
{
	static const struct {
		const char *word, *option;
		unsigned values;
	} known[] = {
		{ "full", "--full", 0 },
		{ "-full", "--full", 0 },
		{ "no-filters", "", 0 },
		{ "-no-filters", "", 0 },
		{ "hide", "", 0 },
		{ "-hide", "", 0 },
		{ "-past-main", "", 0 },
		{ "-past-entry", "", 0 },
		{ "-raw-frame-arguments", "", 0 },
		{ "-frame-info", "", 1 },
		{ "-entry-values", "", 1 },
		{ "-frame-arguments", "--frame-arguments", 0 },
	};
	uint64_t most;
	*ret_values = 0;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(word, known[i].word) != 0)
			continue;
		*ret_values = known[i].values;
		return known[i].option;
	}
	if (!cli_number(*word == '-' ? word + 1 : word, &most))
		return NULL;
	snprintf(text, 40, "--%s=%" PRIu64, *word == '-' ? "outer" : "limit", most);
	return text;
}

/* bt [-OPTION...] [full] [N|-N], or options of the verb */
void debug_backtrace(struct debugger *d, const char *text)
{
	enum { ROOM = 40 };
	char *copy = cli_copy(text, strlen(text)), *words[GDB_MAX_WORDS], number[ROOM];
	const size_t size = (strlen(text) + 1) * ROOM;
	char *line = cli_alloc(size, 1);
	const int n = gdb_split(copy, words, GDB_MAX_WORDS);
	unsigned values = 0;
	size_t len = 0;
	for (int i = 0; i < n; i++) {
		if (values > 0) {
			values--;
			continue;
		}
		const char *word = backtrace_word(words[i], number, &values);
		word = word ? word : words[i];
		len += (size_t)snprintf(line + len, size - len, "%s ", word);
	}
	if (debug_has_thread(d))
		debug_verb(d, "bt", line);
	free(line);
	free(copy);
}

void debug_frame_on(struct debugger *d, const struct ws_stack *stack, size_t number)
{
	const struct ws_stack_frame *frame = &stack->frames[number];
	d->cli->frame = number;
	ws_debug_select(d->session, frame->level, frame->nth);
	d->has_frame_position = frame->has_position;
	d->frame_position = frame->position;
	debug_list_here(d);
}

bool debug_frames_open(struct debugger *d, struct frame_look *look)
{
	return debug_has_thread(d) && look_open(look, d->cli, d->dump ? d->dump : "device", 0, NULL,
						(struct cli_given){ 0 }) == CLI_ANSWERED;
}

/* ---- one frame ---- */

static void select_frame(struct debugger *d, const char *text, bool tells)
{
	struct frame_look look = { .stack = { .vars = NULL } };
	size_t number;
	if (debug_frames_open(d, &look) && debug_frame_find(d, &look.stack, text, &number)) {
		debug_frame_on(d, &look.stack, number);
		if (tells)
			look_print_frame(&look, number, true);
		if (tells && !debug_list_line(d))
			debug_list_missing(d);
	}
	look_close(&look);
}

static void select_number(struct debugger *d, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64, number);
	select_frame(d, text, true);
}

void debug_select_frame(struct debugger *d, const char *text)
{
	select_frame(d, text, false);
}

void debug_frame(struct debugger *d, const char *text)
{
	const char *rest = gdb_behind(text, "apply");
	if (rest)
		debug_frame_apply(d, rest);
	else
		select_frame(d, text, true);
}

/* A frame, or the outermost one; gdb's words where it is that one already. */
static void select_outer(struct debugger *d, uint64_t number)
{
	struct frame_look look = { .stack = { .vars = NULL } };
	size_t last = 0;
	if (debug_frames_open(d, &look) && look.stack.n_frames)
		last = look.stack.n_frames - 1;
	look_close(&look);
	if (!ws_debug_focus(d->session))
		return;
	if (d->cli->frame >= last)
		cli_say("Initial frame selected; you cannot go up.\n");
	else
		select_number(d, number < last ? number : last);
}

void debug_move_frame(struct debugger *d, const char *text, int up)
{
	uint64_t times = 1, now = d->cli->frame;
	if (*text && !cli_number(text, &times))
		cli_say("'%s' is not a count.\n", text);
	else if (!up && now == 0)
		cli_say("Bottom (innermost) frame selected; you cannot go down.\n");
	else if (up)
		select_outer(d, times < UINT32_MAX ? now + times : times);
	else
		select_number(d, times < now ? now - times : 0);
}
