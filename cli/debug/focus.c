/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread and which frame the user looks at. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "look/look.h"
#include "session.h"

/* ---- the thread ---- */

/* Words that a word leaves as they are now: the thread of another block is one of that block. */
static void keep(struct filter *filter, const struct coords *now, enum filter_word given,
		 enum filter_word kept)
{
	if (filter_limits(filter, given) && !filter_limits(filter, kept))
		filter_current(filter, now, kept);
}

/* Switches to the first thread that a text names. False with a word to the user. */
static bool switch_to(struct debugger *d, const struct session *session, const char *text)
{
	static const enum filter_word kept[][2] = {
		{ FILTER_thread, FILTER_block }, { FILTER_block, FILTER_grid },
		{ FILTER_lane, FILTER_warp },    { FILTER_warp, FILTER_sm },
		{ FILTER_sm, FILTER_device },
	};
	char *line = cli_copy(text, strlen(text)), *words[DEBUG_MAX_WORDS];
	const struct coords *now = session_coords(session);
	struct filter filter;
	struct ws_focus first;
	const char *bad;
	bool good = false;
	if (!filter_parse(&filter, now, debug_split(line, words, DEBUG_MAX_WORDS), words, &bad)) {
		cli_say("'%s' is no coordinate; there are kernel, block, thread, device, sm, warp, "
			"lane.\n",
			bad);
	} else {
		for (size_t i = 0; now && i < sizeof kept / sizeof kept[0]; i++)
			if (kept[i][0] != FILTER_block || !filter_limits(&filter, FILTER_kernel))
				keep(&filter, now, kept[i][0], kept[i][1]);
		good = session_first(session, &filter, &first);
		if (good && first.warp_index == d->focus.warp_index && first.lane == d->focus.lane)
			ws_out_text(&d->cli->out, "CUDA focus unchanged.\n");
		else if (good)
			debug_focus_on(d, &first);
		else
			cli_say("Request cannot be satisfied. CUDA focus unchanged: there is no "
				"such thread.\n");
	}
	free(line);
	return good;
}

/* "kernel 0, block (1,0,0)": what words without numbers ask for; all of it without words. */
static void print_coordinates(struct debugger *d, const struct session *session, const char *text)
{
	static const char *const names[] = {
#define X(name, n) #name,
		FILTER_WORD_LIST(X)
#undef X
	};
	static const unsigned counts[] = {
#define X(name, n) n,
		FILTER_WORD_LIST(X)
#undef X
	};
	struct ws_out *out = &d->cli->out;
	const char *before = "";
	bool known = *text == '\0';
	if (known) {
		ws_out_text(out, "[Current focus set to CUDA ");
		session_print_focus(session, out);
		ws_out_text(out, "]\n");
		return;
	}
	for (; *text; text += strspn(text, " ")) {
		size_t n = strcspn(text, " "), i = 0;
		while (i < FILTER_N_WORDS &&
		       (strlen(names[i]) != n || strncmp(names[i], text, n) != 0))
			i++;
		if (i == FILTER_N_WORDS) {
			cli_flush(d->cli);
			cli_say("%s'%.*s' is no coordinate; there are kernel, grid, block, thread, "
				"device, sm, warp, lane.\n",
				*before ? "\n" : "", (int)n, text);
			return;
		}
		const int64_t *number = session->at.number[i];
		ws_out_printf(out, "%s%s ", before, names[i]);
		if (!session->at.known[i])
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
	struct session session;
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

/* bt [full] [N|-N], or options of the verb */
void debug_backtrace(struct debugger *d, const char *text)
{
	char line[80];
	uint64_t most;
	const char *rest = debug_behind(text, "full");
	const char *full = rest ? "--full" : "";
	if (!debug_has_thread(d))
		return;
	text = rest ? rest : text;
	if (*text == '-' && cli_number(text + 1, &most))
		snprintf(line, sizeof line, "%s --outer %" PRIu64, full, most);
	else if (cli_number(text, &most))
		snprintf(line, sizeof line, "%s --limit %" PRIu64, full, most);
	debug_verb(d, "bt",
		   cli_number(*text == '-' ? text + 1 : text, &most) ? line
		   : *text ? text
			   : full);
}

static void select_frame(struct debugger *d, uint64_t number)
{
	struct look look = { .vars = NULL };
	if (!debug_has_thread(d))
		return;
	if (look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
		      (struct cli_given){ 0 }) != CLI_ANSWERED) {
		;
	} else if (number >= look.n_frames) {
		cli_say("No frame at level %" PRIu64 ".\n", number);
	} else {
		look.at = (size_t)number;
		d->cli->frame = look.at;
		d->level = look.frames[look.at].level;
		d->has_frame_position = look.frames[look.at].has_position;
		d->frame_position = look.frames[look.at].position;
		debug_list_here(d);
		look_print_frame(&look, look.at, &d->cli->out);
		if (!debug_list_line(d))
			debug_list_missing(d);
	}
	look_close(&look);
}

/* frame [N] */
void debug_frame(struct debugger *d, const char *text)
{
	uint64_t number = d->cli->frame;
	if (*text && !cli_number(text, &number))
		cli_say("'%s' is no frame.\n", text);
	else
		select_frame(d, number);
}

/* The same, or the outermost frame; gdb's words where it is that one already. */
static void select_outer(struct debugger *d, uint64_t number)
{
	struct look look = { .vars = NULL };
	size_t last = 0;
	if (!debug_has_thread(d))
		return;
	if (look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
		      (struct cli_given){ 0 }) == CLI_ANSWERED)
		last = look.n_frames - 1;
	look_close(&look);
	if (d->cli->frame >= last)
		cli_say("Initial frame selected; you cannot go up.\n");
	else
		select_frame(d, number < last ? number : last);
}

static void move_frame(struct debugger *d, const char *text, bool up)
{
	uint64_t times = 1, now = d->cli->frame;
	if (*text && !cli_number(text, &times))
		cli_say("'%s' is no count.\n", text);
	else if (!up && now == 0)
		cli_say("Bottom (innermost) frame selected; you cannot go down.\n");
	else if (up)
		select_outer(d, times < UINT32_MAX ? now + times : times);
	else
		select_frame(d, times < now ? now - times : 0);
}

void debug_up(struct debugger *d, const char *text)
{
	move_frame(d, text, true);
}

void debug_down(struct debugger *d, const char *text)
{
	move_frame(d, text, false);
}
