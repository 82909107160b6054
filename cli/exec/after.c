/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exec does about dumps: finds those of its run, has them triaged by a process of its own, and
 * leaves the first screen where a container's owner looks (Kubernetes: the termination message).
 */
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/triage.h>

#include "guard.h"

enum {
	MESSAGE_BYTES = 4096, /* Kubernetes takes no more */
	TRIGGER_TIMEOUT = 60,
	PAGE_BYTES = 1 << 22, /* more of a page is not shown */
};

/* ---- the dumps of this run ---- */

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/* A dump of this run is named as the variables said, for this host and this part of
 * the job, and is not older than the record of the run. */
static bool is_dump_ours(const struct exec *exec, const char *name, const char *path,
			 struct stat *at)
{
	char pattern[EXEC_HOST_BYTES + 80];
	exec_dump_name(exec->part, exec->host, pattern, sizeof pattern);
	return ws_triage_pattern_fits(pattern, name) && lstat(path, at) == 0 &&
	       S_ISREG(at->st_mode) && !is_before(at->st_mtim, exec_record_made(exec->record));
}

void exec_dumps_find(const struct exec *exec, struct exec_dumps *ret_dumps)
{
	struct exec_dumps dumps = { 0 };
	DIR *dir = opendir(exec->folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[EXEC_PATH_BYTES + 260];
		struct stat at;
		int len = snprintf(path, sizeof path, "%s/%s", exec->folder, entry->d_name);
		if (len < 0 || (size_t)len >= sizeof path ||
		    !is_dump_ours(exec, entry->d_name, path, &at))
			continue;
		cli_grow(&dumps.path, &dumps.cap, dumps.n, sizeof *dumps.path);
		dumps.path[dumps.n++] = cli_copy(path, strlen(path));
		dumps.bytes += (uint64_t)at.st_size;
	}
	if (dir)
		closedir(dir);
	*ret_dumps = dumps;
}

void exec_dumps_fini(struct exec_dumps *dumps)
{
	for (size_t i = 0; i < dumps->n; i++)
		free(dumps->path[i]);
	free(dumps->path);
	*dumps = (struct exec_dumps){ 0 };
}

struct dump_search {
	const char *folder;
	size_t len;
	bool found;
};

static bool take_left_file(void *user, int number, const char *path)
{
	struct dump_search *search = user;
	(void)number;
	search->found = strncmp(path, search->folder, search->len) == 0 &&
			strncmp(path + search->len, "/core_", 6) == 0;
	return !search->found;
}

bool exec_dumps_are_written(const struct exec *exec, pid_t root)
{
	struct dump_search search = { exec->folder, strlen(exec->folder), false };
	struct exec_processes below;
	exec_proc_below(root, &below);
	for (size_t i = 0; i < below.n && !search.found; i++)
		(void)exec_proc_files(below.item[i].pid, take_left_file, &search);
	free(below.item);
	return search.found;
}

/* ---- triage, in a process of its own ---- */

static void take_new_dump(void *user, const char *path)
{
	struct exec_dumps *dumps = user;
	cli_grow(&dumps->path, &dumps->cap, dumps->n, sizeof *dumps->path);
	dumps->path[dumps->n++] = cli_copy(path, strlen(path));
}

/* One dump: its report. Several: their triage; it has a sandbox for each of its processes. */
_Noreturn static void page_make(const struct exec *exec, const struct exec_dumps *dumps)
{
	/* in a job array the other tasks do not look at our dumps */
	static char *const triage[] = { "triage", "--shard",  "1/1",  "--color",
					"never",  "--format", "text", "--" };
	static char *const report[] = { "report", "--color", "never", "--format", "text", "--" };
	struct cli *cli = exec->cli;
	size_t n =
		dumps->n == 1 ? sizeof report / sizeof report[0] : sizeof triage / sizeof triage[0];
	char **argv = cli_alloc(n + dumps->n + 1, sizeof *argv);
	memcpy(argv, dumps->n == 1 ? report : triage, n * sizeof *argv);
	char **format = &argv[n - 2];
	for (size_t i = 0; i < dumps->n; i++)
		argv[n + i] = dumps->path[i];
	n += dumps->n;
	cli->columns = cli_error_columns(); /* it is shown there */
	guard_enter(argv[0], (int)n, argv);
	(void)!cli_verb(cli, (int)n, argv);
	if (exec->args->annotations) {
		*format = (char *)(uintptr_t)exec->args->annotations;
		(void)!cli_verb(cli, (int)n, argv);
	}
	cli_flush(cli);
	_exit(0);
}

_Noreturn static void helper_run(const struct exec *exec, const struct exec_dumps *dumps,
				 pid_t root, int page)
{
	struct exec_dumps triggered = { 0 };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* a key pressed is for exec, which ends this process when it wants to */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	dup2(page, 1);
	if (!dumps) {
		if (exec_trigger_below(root, TRIGGER_TIMEOUT, take_new_dump, &triggered) == 0)
			cli_say("warpscope exec: no process below has a pipe for dumps on request "
				"open\n");
		signal(SIGPIPE, SIG_DFL);
		dumps = &triggered;
	}
	if (dumps->n)
		page_make(exec, dumps);
	_exit(0);
}

bool exec_helper_start(const struct exec *exec, const struct exec_dumps *dumps, pid_t root,
		       int life, struct exec_helper *ret_helper)
{
	struct exec_helper helper = { .page = tmpfile() };
	pid_t self = getpid();
	if (!helper.page)
		return false;
	helper.pid = fork();
	if (helper.pid == 0) {
		guard_end_with(self);
		close(life); /* the keeper waits for its end */
		helper_run(exec, dumps, root, fileno(helper.page));
	}
	if (helper.pid < 0) {
		fclose(helper.page);
		return false;
	}
	*ret_helper = helper;
	return true;
}

/* ---- where it is shown ---- */

/* The file, or NULL: there is none. A container's first process has one in Kubernetes. */
static const char *message_path(const struct exec *exec)
{
	static const char by_default[] = "/dev/termination-log";
	struct stat at;
	if (exec->args->message)
		return exec->args->message;
	return getpid() == 1 && stat(by_default, &at) == 0 && S_ISREG(at.st_mode) ? by_default
										  : NULL;
}

/* As many whole lines as fit. */
static size_t first_lines(const char *text, size_t len)
{
	if (len <= MESSAGE_BYTES)
		return len;
	size_t n = MESSAGE_BYTES;
	while (n > 0 && text[n - 1] != '\n')
		n--;
	return n ? n : MESSAGE_BYTES;
}

void exec_message_write(const struct exec *exec, const char *text, size_t len)
{
	const char *path = message_path(exec);
	struct stat at;
	if (!path)
		return;
	/* in place: it is one file that is mounted there, by root for a container's user. In a
	 * folder of all, somebody else may have put a link or a file of his own there. */
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		      0600);
	bool is_link = fd < 0 && errno == ELOOP, is_known = fd >= 0 && fstat(fd, &at) == 0;
	len = first_lines(text, len);
	if (is_link || (is_known && !S_ISREG(at.st_mode)))
		cli_say("warpscope exec: %s: is not a regular file\n", path);
	else if (is_known && ((at.st_uid != geteuid() && at.st_uid != 0) || at.st_nlink > 1))
		cli_say("warpscope exec: %s: is a file of another user, or has another name too\n",
			path);
	else if (fd < 0 || !ws_write_fd(&fd, text, len) || ftruncate(fd, (off_t)len) != 0)
		cli_say("warpscope exec: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

void exec_helper_show(const struct exec *exec, struct exec_helper *helper, const char *title)
{
	static int to = STDERR_FILENO;
	struct cli_bytes text = { 0 };
	size_t head = strlen(title), n;
	char chunk[4096];
	cli_bytes_write(&text, title, head);
	rewind(helper->page);
	while (text.len < PAGE_BYTES && (n = fread(chunk, 1, sizeof chunk, helper->page)) > 0)
		cli_bytes_write(&text, chunk, n);
	if (text.len > head) {
		(void)!ws_write_fd(&to, text.ptr + head, text.len - head);
		exec_message_write(exec, text.ptr, text.len);
	}
	free(text.ptr);
	fclose(helper->page);
	*helper = (struct exec_helper){ 0 };
}
