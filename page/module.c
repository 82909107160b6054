/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module of warpscope.html: the program's verbs, over a dump that stays open.
 *
 * The page asks as a user of the program does, with a verb and its words, so an answer is byte for
 * byte that of the program, and the page can show the command that gives it elsewhere. What differs
 * is who opens the dump: page_open() once, for all that is asked afterwards. Other files (cubins,
 * what is dropped beside a dump) are opened by the verb that names them.
 *
 * The page's script calls the functions with PAGE_EXPORT, in a worker; library.js has those that
 * are called here. docs/decisions/0089-a-page.md says why it is like this.
 */
#include <emscripten.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/triage.h>

#include "cli.h"

#define PAGE_EXPORT EMSCRIPTEN_KEEPALIVE

/* ---- what the compiler's library lacks ---- */

/* Of -fstack-protector-strong: the word at the end of a frame, and what is done when it is another.
 */
uintptr_t __stack_chk_guard = 0x0aff0d57;
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
	__builtin_trap();
}

/* ---- library.js ---- */

/* Takes what a verb prints. */
extern void page_print(const char *bytes, size_t len);
/* Bytes of a file that was dropped: how many of `n`, from `off` on (exact up to 2^53). */
extern size_t page_read(int file, double off, void *buffer, size_t n);

static bool print_write(void *user, const char *bytes, size_t len)
{
	(void)user;
	page_print(bytes, len);
	return true;
}

/* ---- the dump ---- */

/* A file of the page, which is read where it is asked for. */
struct page_file {
	int number;
};

static size_t file_read(void *user, uint64_t off, void *buffer, size_t n)
{
	const struct page_file *file = user;
	return page_read(file->number, (double)off, buffer, n);
}

/* `file` stays until the target is closed. */
static enum ws_status file_open(struct page_file *file, double bytes, const char *name,
				struct ws_target **ret_target, struct ws_error *err)
{
	const struct ws_core_source source = {
		.size = sizeof source,
		.n_bytes = (uint64_t)bytes,
		.read = file_read,
		.user = file,
	};
	struct ws_core_options options = { .size = sizeof options };
	return ws_core_open_source(&source, name, &options, ret_target, err);
}

static struct ws_target *dump; /* owned; NULL: none is open */
static struct page_file dump_file;
static uint64_t dump_bytes;

PAGE_EXPORT void page_close(void)
{
	ws_target_close(dump);
	dump = NULL;
	dump_bytes = 0;
}

/* Opens a dump for all questions that follow. False: it is none that can be read; then verbs open
 * the file themselves, and say what it is. */
PAGE_EXPORT bool page_open(int file, double bytes, const char *name)
{
	struct ws_dump_facts facts;
	page_close();
	dump_file.number = file;
	if (file_open(&dump_file, bytes, name, &dump, NULL) != WS_OK)
		return false;
	if (ws_target_dump_facts(dump, &facts, NULL) == WS_OK)
		dump_bytes = facts.bytes;
	return true;
}

/* ---- questions ---- */

enum { MOST_WORDS = 64 };

/* Answers a command line: `words`, each with its NUL, `len` bytes. An exit status of the program.
 * `of_dump`: it is about the dump that is open. */
PAGE_EXPORT int page_ask(char *words, size_t len, bool of_dump)
{
	char *argv[MOST_WORDS + 1] = { NULL };
	int argc = 0;
	for (size_t at = 0; at < len && argc < MOST_WORDS; at += strlen(words + at) + 1)
		argv[argc++] = words + at;
	const struct cli_client client = { .live = of_dump ? dump : NULL,
					   .live_bytes = of_dump ? dump_bytes : 0,
					   .write = print_write };
	return cli_run(&client, argc, argv);
}

/* ---- triage: a record of each dump, which `triage --merge` reads ---- */

/* Prints the record of a dump, one line; a file that is no dump has none, unless its name is that
 * of one. `why`: it could not be read, as its reader ended; or NULL. */
PAGE_EXPORT void page_record(int number, const char *path, double bytes, double written_ms,
			     const char *why)
{
	struct page_file source = { number };
	const struct ws_triage_file file = { .path = path,
					     .bytes = (uint64_t)bytes,
					     .written_ns = (int64_t)written_ms * 1000000 };
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_target *target = NULL;
	const struct ws_report *report = NULL;
	struct ws_error err;
	struct ws_out out;
	ws_out_init(&out, print_write, NULL);
	if (why) {
		ws_triage_record_failed(&file, why, false, &out);
	} else if (file_open(&source, bytes, path, &target, &err) != WS_OK) {
		if (strstr(path, ".nvcudmp") || ws_triage_pattern_fits(NULL, path))
			ws_triage_record_failed(&file, err.message, false, &out);
	} else if (ws_report_create(target, &options, &report, &err) != WS_OK) {
		ws_triage_record_failed(&file, err.message, false, &out);
	} else {
		ws_triage_record(report, &file, false, &out);
	}
	(void)ws_out_flush(&out, NULL);
	ws_report_destroy(report);
	ws_target_close(target);
}

/* ---- verbs that are not here ---- */

/* They start processes, or look at them, and a page has none. */
#define ABSENT(name)                                                                \
	const struct cli_option verb_##name##_options[] = { { 0 } };                \
	int verb_##name(struct cli *cli, int argc, char **argv)                     \
	{                                                                           \
		(void)cli;                                                          \
		(void)argc;                                                         \
		(void)argv;                                                         \
		cli_say("warpscope: " #name " needs processes; a page has none\n"); \
		return CLI_NO_ANSWER;                                               \
	}
ABSENT(exec)
ABSENT(trigger)
ABSENT(env)
