/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triage --watch: looks at the folders again and again, and reads what is new there. By polling, as
 * file systems that hosts share tell of no changes. A file is read when two looks found it the
 * same, as dumps take their time to be written. Nothing is changed in the folders.
 */
#include "triage/triage.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"

enum { SHARE = 10 }; /* looking takes at most one part of so many of the time */

typedef char triage_key[WS_TRIAGE_KEY_BYTES];

struct watch_keys {
	triage_key *item; /* owned */
	size_t n, cap;
};

struct watch {
	const struct triage_records *records;
	struct watch_keys
		before;        /* files that the last look found, and that are not read; sorted */
	struct watch_keys now; /* the same of this look */
	struct watch_keys chosen; /* to be read now */
};

static int key_order(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void add(struct watch_keys *keys, const char *key)
{
	cli_grow(&keys->item, &keys->cap, keys->n, sizeof *keys->item);
	memcpy(keys->item[keys->n++], key, sizeof *keys->item);
}

/* For triage_list_keep(). */
static bool is_file_wanted(void *user, const char *path)
{
	struct watch *watch = user;
	struct stat at;
	triage_key key;
	if (stat(path, &at) != 0 || !S_ISREG(at.st_mode))
		return false;
	struct ws_triage_file file = {
		.path = path,
		.bytes = (uint64_t)at.st_size,
		.written_ns = (int64_t)at.st_mtim.tv_sec * 1000000000 + at.st_mtim.tv_nsec,
	};
	ws_triage_key(&file, key);
	if (triage_records_have(watch->records, key))
		return false;
	bool was_there = watch->before.n && bsearch(key, watch->before.item, watch->before.n,
						    sizeof *watch->before.item, key_order);
	add(was_there ? &watch->chosen : &watch->now, key);
	return was_there;
}

/* A page of all records, by a process of its own, as it enters the sandbox for good. */
static void show_watch_page(struct cli *cli, const struct triage_args *args,
			    const struct triage_list *list, const struct triage_records *records)
{
	pid_t self = getpid(), pid = fork();
	if (pid == 0) {
		guard_end_with(self);
		(void)!triage_page(cli, args, list, records);
		cli_flush(cli);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* One look; what is new is read, and shown. */
static int look_once(struct cli *cli, const struct triage_args *args,
		     struct triage_records *records, struct watch *watch)
{
	struct triage_list list;
	watch->now.n = watch->chosen.n = 0;
	int status = triage_list_make(args, &list);
	if (status == CLI_ANSWERED)
		status = triage_list_keep(&list, is_file_wanted, watch);
	if (status == CLI_ANSWERED && list.n) {
		status = triage_scan(cli, args, &list, records, args->jsonl);
		triage_records_note(records, watch->chosen.item, watch->chosen.n);
	}
	if (status == CLI_ANSWERED && list.n && !args->jsonl)
		show_watch_page(cli, args, &list, records);
	triage_list_fini(&list);
	struct watch_keys before = watch->before;
	watch->before = watch->now;
	watch->now = before;
	if (watch->before.n)
		qsort(watch->before.item, watch->before.n, sizeof *watch->before.item, key_order);
	return status;
}

int triage_watch(struct cli *cli, const struct triage_args *args, struct triage_records *records)
{
	struct watch watch = { .records = records };
	int status = CLI_ANSWERED;
	while (status == CLI_ANSWERED) {
		struct timespec start, end, pause = { .tv_sec = (time_t)args->interval.value };
		clock_gettime(CLOCK_MONOTONIC, &start);
		status = look_once(cli, args, records, &watch);
		clock_gettime(CLOCK_MONOTONIC, &end);
		time_t least = (end.tv_sec - start.tv_sec) * SHARE;
		if (pause.tv_sec < least)
			pause.tv_sec = least;
		if (status == CLI_ANSWERED)
			nanosleep(&pause, NULL);
	}
	free(watch.before.item);
	free(watch.now.item);
	free(watch.chosen.item);
	return status;
}
