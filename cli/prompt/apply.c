/* SPDX-License-Identifier: Apache-2.0 */
/* A command in many frames, and in "all threads", which scripts ask for: cuda-gdb has one for the
 * GPU of a dump. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"

/* ---- frames ---- */

/* False: there is no such frame; no word about that. */
static bool select_quietly(struct debugger *d, const struct ws_stack *stack, uint64_t number)
{
	if (number >= stack->n_frames)
		return false;
	debug_frame_on(d, stack, (size_t)number);
	return true;
}

struct applied {
	const char *command;
	bool quiet, silent; /* no word about the frames; nothing of those where it fails */
	bool goes_on;       /* to the next one, where it fails */
	bool failed;
	struct frame_look look;
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
	const uint64_t muted = cli_mute();
	gdb_execute(&d->gdb, command, false);
	cli->page = page;
	cli->page_user = page_user;
	if (cli_unmute(muted))
		text.len = 0;
	return text;
}

static void execute_applied(struct debugger *d, struct applied *applied)
{
	const uint64_t failures = cli_failures();
	gdb_execute(&d->gdb, applied->command, false);
	if (applied->goes_on)
		cli_forgive(failures);
	applied->failed = cli_failures() != failures;
}

/* Runs it behind the line of the frame in focus, or of the thread. */
static void run_applied(struct debugger *d, struct applied *applied, bool in_frame)
{
	struct cli *cli = d->cli;
	struct cli_bytes text = { 0 };
	if (applied->silent)
		text = without_failure(d, applied->command);
	const bool is_headed = !applied->quiet && (!applied->silent || text.len);
	if (is_headed && in_frame)
		look_print_frame(&applied->look, cli->frame, true);
	else if (is_headed)
		ws_out_text(&cli->out, "\nThread 1 (<main task>):\n");
	cli_flush(cli);
	if (!applied->silent)
		execute_applied(d, applied);
	else if (text.len)
		gdb_write(cli, text.ptr, text.len);
	free(text.ptr);
}

static void apply_to(struct debugger *d, struct applied *applied, size_t number)
{
	if (!d->gdb.quits && !applied->failed && select_quietly(d, &applied->look.stack, number))
		run_applied(d, applied, true);
}

/* Takes "-q", "-c" and "-s"; what follows them. */
static const char *flags_take(struct applied *applied, const char *text)
{
	while (*text == '-' && strcspn(text, " ") > 1) {
		const size_t n = strcspn(text, " ");
		applied->quiet |= memchr(text, 'q', n) != NULL;
		applied->silent |= memchr(text, 's', n) != NULL;
		applied->goes_on |= memchr(text, 'c', n) != NULL;
		text += n + strspn(text + n, " ");
	}
	return text;
}

/* N and N-N */
static void apply_to_levels(struct debugger *d, struct applied *applied, const char *text)
{
	const size_t n = applied->look.stack.n_frames;
	while (*text >= '0' && *text <= '9') {
		char *end;
		size_t from = strtoul(text, &end, 10), to = from;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			to = strtoul(end + 1, &end, 10);
		for (; from <= to && from < n && !ws_debug_interrupted(d->session); from++)
			apply_to(d, applied, from);
		text = end + strspn(end, " ");
	}
}

void debug_frame_apply(struct debugger *d, const char *text)
{
	struct applied applied = { .quiet = false };
	const char *levels = gdb_behind(text, "level"), *rest = gdb_behind(text, "all");
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
	if (debug_frames_open(d, &applied.look)) {
		const size_t n = applied.look.stack.n_frames;
		const uint64_t most = count < 0 ? -(uint64_t)count : (uint64_t)count;
		const size_t last = count > 0 && most < n ? (size_t)most : n;
		if (levels)
			apply_to_levels(d, &applied, levels);
		for (size_t i = count < 0 && most < n ? n - (size_t)most : 0;
		     !levels && i < last && !ws_debug_interrupted(d->session); i++)
			apply_to(d, &applied, i);
		(void)select_quietly(d, &applied.look.stack, before);
	}
	look_close(&applied.look);
}

/* ---- threads ---- */

/* Whether the numbers of a list ("1 2-4") hold that of the only thread. */
static bool is_first_in(const char *list, size_t n)
{
	for (const char *at = list, *end = list + n; at < end; at += strspn(at, " ")) {
		char *behind;
		const unsigned long from = strtoul(at, &behind, 10);
		const unsigned long to = *behind == '-' ? strtoul(behind + 1, &behind, 10) : from;
		if (from <= 1 && to >= 1)
			return true;
		at = behind > at ? behind : end;
	}
	return false;
}

/* all|LIST [-qcs] COMMAND */
static void thread_apply(struct debugger *d, const char *text)
{
	struct applied applied = { .quiet = false };
	const char *all = gdb_behind(text, "all"), *rest = all;
	if (!all) {
		rest = text + strspn(text, "0123456789- ");
		while (rest > text && rest[-1] == '-') /* of a flag */
			rest--;
	}
	applied.command = flags_take(&applied, gdb_behind(rest, "-ascending") ? rest + 11 : rest);
	applied.command += strspn(applied.command, " ");
	if (rest == text || !*applied.command) {
		cli_say(rest == text ? "Please specify a thread ID list\n"
				     : "Please specify a command at the end of 'thread apply'\n");
		return;
	}
	if (debug_has_thread(d) && (all || is_first_in(text, (size_t)(rest - text))))
		run_applied(d, &applied, false);
}

void debug_thread(struct debugger *d, const char *text)
{
	const char *rest = gdb_behind(text, "apply");
	uint64_t number;
	if (rest) {
		thread_apply(d, rest);
	} else if (!*text || gdb_behind(text, "name") || gdb_behind(text, "find")) {
		ws_out_text(&d->cli->out, "Focus not set on any host thread.\n");
	} else if (!cli_number(text, &number) || number != 1) {
		cli_say(cli_number(text, &number) ? "Unknown thread %s.\n"
						  : "Invalid thread ID: %s\n",
			text);
	} else if (debug_has_thread(d)) {
		ws_out_text(&d->cli->out, "[Switching to thread 1 (<main task>)]\n");
		debug_frame(d, "0");
	}
}

void debug_apply_to(struct debugger *d, const char *text, int what)
{
	const char *words =
		what == DEBUG_THREADS_AND_FRAMES ? "all -s frame apply all -s" : "all -s";
	const size_t size = strlen(words) + strlen(text) + 2;
	char *line = cli_alloc(size, 1);
	snprintf(line, size, "%s %s", words, text);
	(what == DEBUG_FRAMES ? debug_frame_apply : thread_apply)(d, line);
	free(line);
}
