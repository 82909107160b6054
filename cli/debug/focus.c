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

static void say_no_coordinate(const char *word, size_t len)
{
	cli_say("'%.*s' is no coordinate; there are kernel, grid, cluster, block, thread, device, "
		"sm, "
		"warp, lane.\n",
		(int)len, word);
}

/* Switches to the nearest thread that a text names. False with a word to the user. */
static bool switch_to(struct debugger *d, const struct session *session, const char *text)
{
	char *line = cli_copy(text, strlen(text)), *words[DEBUG_MAX_WORDS];
	struct filter filter;
	struct ws_focus nearest;
	const char *bad;
	bool good = false;
	if (!filter_parse(&filter, session_coords(session),
			  debug_split(line, words, DEBUG_MAX_WORDS), words, &bad)) {
		say_no_coordinate(bad, strlen(bad));
	} else {
		good = session_nearest(session, &filter, &nearest);
		if (good && nearest.warp_index == d->focus.warp_index &&
		    nearest.lane == d->focus.lane)
			ws_out_text(&d->cli->out, "CUDA focus unchanged.\n");
		else if (good)
			debug_focus_on(d, &nearest);
		else
			cli_say("Invalid coordinates requested. CUDA focus unchanged.\n");
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
			if (*before)
				ws_out_text(out, "\n");
			cli_flush(d->cli);
			say_no_coordinate(text, n);
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
	const char *rest = debug_behind(text, *text == '-' ? "-full" : "full");
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

void debug_frame_on(struct debugger *d, const struct look *look, size_t number)
{
	const struct shown_frame *frame = &look->frames[number];
	d->cli->frame = number;
	d->level = frame->level;
	d->has_frame_position = frame->has_position;
	d->frame_position = frame->position;
	debug_list_here(d);
}

/* False: there is no such frame; no word about that. */
static bool select_quietly(struct debugger *d, const struct look *look, uint64_t number)
{
	if (number >= look->n_frames)
		return false;
	debug_frame_on(d, look, (size_t)number);
	return true;
}

/* Frames of the thread in focus; look_close() in any case. */
static bool frames_open(struct debugger *d, struct look *look)
{
	return debug_has_thread(d) && look_open(look, d->cli, d->dump ? d->dump : "device", 0, NULL,
						(struct cli_given){ 0 }) == CLI_ANSWERED;
}

static void select_frame(struct debugger *d, uint64_t number, bool tells)
{
	struct look look = { .vars = NULL };
	if (frames_open(d, &look)) {
		const bool good = select_quietly(d, &look, number);
		if (!good)
			cli_say("No frame at level %" PRIu64 ".\n", number);
		if (good && tells)
			look_print_frame(&look, d->cli->frame, &d->cli->out);
		if (good && tells && !debug_list_line(d))
			debug_list_missing(d);
	}
	look_close(&look);
}

/* ---- a command in many frames ---- */

struct applied {
	const char *command;
	bool quiet, silent; /* no word about the frames; nothing of those where it fails */
	struct look look;
};

/* What a command prints, unless it fails. */
static struct cli_bytes without_failure(struct debugger *d, const char *command)
{
	struct cli *cli = d->cli;
	bool (*page)(void *user, const char *bytes, size_t len) = cli->page;
	void *page_user = cli->page_user;
	struct cli_bytes text = { 0 };
	cli_flush(cli);
	cli->page = cli_bytes_write;
	cli->page_user = &text;
	(void)cli_mute(true);
	debug_execute(d, command, false);
	cli->page = page;
	cli->page_user = page_user;
	if (cli_mute(false))
		text.len = 0;
	return text;
}

static void apply_to(struct debugger *d, struct applied *applied, size_t number)
{
	struct cli *cli = d->cli;
	struct cli_bytes text = { 0 };
	if (d->quits || !select_quietly(d, &applied->look, number))
		return;
	if (applied->silent)
		text = without_failure(d, applied->command);
	if (!applied->quiet && (!applied->silent || text.len))
		look_print_frame(&applied->look, number, &cli->out);
	cli_flush(cli);
	if (!applied->silent)
		debug_execute(d, applied->command, false);
	else if (text.len)
		debug_write(cli, text.ptr, text.len);
	free(text.ptr);
}

/* Takes "-q", "-c" and "-s"; what follows them. */
static const char *flags_take(struct applied *applied, const char *text)
{
	while (*text == '-' && strcspn(text, " ") > 1) {
		const size_t n = strcspn(text, " ");
		applied->quiet |= memchr(text, 'q', n) != NULL;
		applied->silent |= memchr(text, 's', n) != NULL;
		text += n + strspn(text + n, " ");
	}
	return text;
}

/* N and N-N */
static void apply_to_levels(struct debugger *d, struct applied *applied, const char *text)
{
	const size_t n = applied->look.n_frames;
	while (*text >= '0' && *text <= '9') {
		char *end;
		size_t from = strtoul(text, &end, 10), to = from;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			to = strtoul(end + 1, &end, 10);
		for (; from <= to && from < n && !debug_interrupted(); from++)
			apply_to(d, applied, from);
		text = end + strspn(end, " ");
	}
}

/* all|COUNT|-COUNT|level N[-N]... [-qcs] COMMAND */
static void apply(struct debugger *d, const char *text)
{
	struct applied applied = { .look = { .vars = NULL } };
	const char *levels = debug_behind(text, "level"), *rest = debug_behind(text, "all");
	const size_t before = d->cli->frame;
	char *end;
	int64_t count = rest || levels ? 0 : strtoll(text, &end, 10);
	if (levels) {
		rest = levels + strspn(levels, "0123456789- ");
		while (rest > levels && rest[-1] == '-') /* of a flag */
			rest--;
	} else if (!rest) {
		rest = end > text && *end == ' ' ? end + strspn(end, " ") : "";
	}
	applied.command = flags_take(&applied, rest);
	if (!*applied.command) {
		cli_say("all, a count or level N, and a command are expected.\n");
		return;
	}
	if (frames_open(d, &applied.look)) {
		const size_t n = applied.look.n_frames;
		const uint64_t most = count < 0 ? -(uint64_t)count : (uint64_t)count;
		const size_t last = count > 0 && most < n ? (size_t)most : n;
		if (levels)
			apply_to_levels(d, &applied, levels);
		for (size_t i = count < 0 && most < n ? n - (size_t)most : 0;
		     !levels && i < last && !debug_interrupted(); i++)
			apply_to(d, &applied, i);
		(void)select_quietly(d, &applied.look, before);
	}
	look_close(&applied.look);
}

void debug_in_frames(struct debugger *d, const char *text)
{
	const size_t size = strlen(text) + sizeof "all -s ";
	char *line = cli_alloc(size, 1);
	snprintf(line, size, "all -s %s", text);
	apply(d, line);
	free(line);
}

/* ---- one frame ---- */

/* The innermost frame of a function. */
static void select_function(struct debugger *d, const char *name)
{
	struct look look = { .vars = NULL };
	size_t number = SIZE_MAX;
	if (frames_open(d, &look)) {
		for (size_t i = look.n_frames; i > 0; i--)
			if (look_is_function(&look, i - 1, name))
				number = i - 1;
		if (number == SIZE_MAX)
			cli_say("No frame for function \"%s\".\n", name);
	}
	look_close(&look);
	if (number != SIZE_MAX)
		select_frame(d, number, true);
}

static void select_number(struct debugger *d, const char *text, bool tells)
{
	const char *level = debug_behind(text, "level");
	uint64_t number = d->cli->frame;
	text = level ? level : text;
	if (*text && !cli_number(text, &number))
		cli_say("'%s' is no frame.\n", text);
	else
		select_frame(d, number, tells);
}

void debug_select_frame(struct debugger *d, const char *text)
{
	select_number(d, text, false);
}

void debug_frame(struct debugger *d, const char *text)
{
	const char *name = debug_behind(text, "function"), *rest = debug_behind(text, "apply");
	if (name)
		select_function(d, name);
	else if (rest)
		apply(d, rest);
	else
		select_number(d, text, true);
}

/* A frame, or the outermost one; gdb's words where it is that one already. */
static void select_outer(struct debugger *d, uint64_t number)
{
	struct look look = { .vars = NULL };
	size_t last = 0;
	if (frames_open(d, &look) && look.n_frames)
		last = look.n_frames - 1;
	look_close(&look);
	if (!d->has_focus)
		return;
	if (d->cli->frame >= last)
		cli_say("Initial frame selected; you cannot go up.\n");
	else
		select_frame(d, number < last ? number : last, true);
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
		select_frame(d, times < now ? now - times : 0, true);
}

void debug_up(struct debugger *d, const char *text)
{
	move_frame(d, text, true);
}

void debug_down(struct debugger *d, const char *text)
{
	move_frame(d, text, false);
}
