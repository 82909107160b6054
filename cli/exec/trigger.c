/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps on request: CUDA's process waits at a named pipe, and dumps when something is written
 * there. The path of the pipe may be anything, so it is searched among the files that the process
 * has open, and opened through them, which works into containers, too. Only a pipe whose name is as
 * the process's variables say is written to: a program may read others for purposes of its own.
 */
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/triage.h>

enum {
	DEFAULT_TIMEOUT = 60, /* seconds without any progress */
	PUSH_SECONDS = 2,
	PATIENCE_SECONDS = 10,
	MOST_ENVIRONMENT = 1 << 22,
	STILL_ROUNDS = 5, /* a dump that nobody has open, and that does not grow */
};

static const struct timespec round_time = { .tv_nsec = 100000000 };
enum { ROUNDS_A_SECOND = 10 };

enum trigger_state {
	NO_PIPE, /* with the reason */
	ASKED,   /* something was written */
	WRITING, /* there is a file */
	DUMPED,
	GAVE_UP,
};

struct target {
	pid_t pid;
	enum trigger_state state;
	const char *why; /* static */
	int pipe;        /* to write to, or -1 */
	int number;      /* of the pipe among the process's files; -1: none */
	bool has_gpu, is_enabled, is_pushed;
	char pipe_name[256], file_name[256]; /* the last names of both patterns, %p put in */
	char folder[EXEC_PATH_BYTES];
	struct timespec newest; /* of the files there that fit, before */
	char *dump;             /* path; owned */
	off_t bytes;
	unsigned n_still;
};

/* ---- what the process says ---- */

/* The last name of a pattern, with the process in the place of %p. */
static void dump_name_make(const char *pattern, pid_t pid, char *ret_name, size_t size)
{
	const char *slash = strrchr(pattern, '/');
	size_t len = 0;
	ret_name[0] = '\0';
	for (const char *at = slash ? slash + 1 : pattern; *at && len + 24 < size; at++) {
		if (at[0] == '%' && at[1] == 'p') {
			len += (size_t)snprintf(ret_name + len, size - len, "%d", (int)pid);
			at++;
		} else {
			ret_name[len++] = *at;
			ret_name[len] = '\0';
		}
	}
}

/* The number that the process has within its container, which its names have. */
static pid_t pid_inside(pid_t pid)
{
	size_t len;
	char *text = exec_proc_read(pid, "status", 1 << 16, &len);
	const char *at = text ? strstr(text, "\nNSpid:") : NULL;
	const char *end = at ? strchr(at + 1, '\n') : NULL;
	while (end && end > at && end[-1] >= '0' && end[-1] <= '9')
		end--;
	pid_t inside = end ? (pid_t)atoi(end) : 0;
	free(text);
	return inside > 0 ? inside : pid;
}

static void folder_make(struct target *t, const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	size_t len = slash ? (size_t)(slash - pattern) : 0;
	char link[64], cwd[EXEC_PATH_BYTES] = "";
	if (pattern[0] == '/' && len < sizeof t->folder) {
		snprintf(t->folder, sizeof t->folder, "%.*s", len ? (int)len : 1, pattern);
		return;
	}
	snprintf(link, sizeof link, "/proc/%d/cwd", (int)t->pid);
	ssize_t n = readlink(link, cwd, sizeof cwd - 1);
	cwd[n > 0 ? n : 0] = '\0';
	n = snprintf(t->folder, sizeof t->folder, "%s%s%.*s", cwd, slash ? "/" : "", (int)len,
		     pattern);
	if (n < 0 || (size_t)n >= sizeof t->folder)
		t->folder[0] = '\0';
}

static bool environment_read(struct target *t)
{
	size_t len;
	char *text = exec_proc_read(t->pid, "environ", MOST_ENVIRONMENT, &len);
	if (!text)
		return false;
	const char *on = exec_proc_variable(text, len, "CUDA_ENABLE_USER_TRIGGERED_COREDUMP");
	const char *pipe = exec_proc_variable(text, len, "CUDA_COREDUMP_PIPE");
	const char *file = exec_proc_variable(text, len, "CUDA_COREDUMP_FILE");
	pid_t inside = pid_inside(t->pid);
	t->is_enabled = on && strcmp(on, "1") == 0;
	dump_name_make(pipe && *pipe ? pipe : "corepipe.cuda.%h.%p", inside, t->pipe_name,
		       sizeof t->pipe_name);
	dump_name_make(file && *file ? file : "core_%t_%h_%p.nvcudmp", inside, t->file_name,
		       sizeof t->file_name);
	folder_make(t, file && *file ? file : "core_%t_%h_%p.nvcudmp");
	exec_proc_forget(text, len);
	return true;
}

static bool take_pipe(void *user, int number, const char *path)
{
	struct target *t = user;
	t->has_gpu = t->has_gpu || strncmp(path, "/dev/nvidia", 11) == 0;
	if (path[0] == '/' && t->number < 0 && ws_triage_pattern_fits(t->pipe_name, path)) {
		struct stat at;
		char open_as[64];
		snprintf(open_as, sizeof open_as, "/proc/%d/fd/%d", (int)t->pid, number);
		if (stat(open_as, &at) == 0 && S_ISFIFO(at.st_mode))
			t->number = number;
	}
	return true;
}

/* Opens the pipe for writing, without waiting for a reader. */
static void pipe_open(struct target *t)
{
	char path[64];
	struct stat at;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)t->pid, t->number);
	t->pipe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (t->pipe < 0) {
		t->why = errno == ENXIO ? "nobody reads its pipe"
					: "its pipe cannot be opened for writing";
	} else if (fstat(t->pipe, &at) != 0 || !S_ISFIFO(at.st_mode)) {
		close(t->pipe);
		t->pipe = -1;
		t->why = "it closed its pipe";
	}
}

/* ---- dumps in the folder ---- */

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* The newest file that is named as its dump would be; free() it. NULL: there is none. */
static char *newest_dump_of_target(const struct target *t, struct stat *ret_at)
{
	char *found = NULL;
	struct timespec best = t->newest;
	DIR *dir = opendir(t->folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[EXEC_PATH_BYTES + 260];
		struct stat at;
		snprintf(path, sizeof path, "%s/%s", t->folder, entry->d_name);
		if (!ws_triage_pattern_fits(t->file_name, entry->d_name) || stat(path, &at) != 0 ||
		    !S_ISREG(at.st_mode) || !is_later(at.st_mtim, best))
			continue;
		best = at.st_mtim;
		free(found);
		found = cli_copy(path, strlen(path));
		*ret_at = at;
	}
	if (dir)
		closedir(dir);
	return found;
}

struct opened {
	const char *path;
	bool found;
};

static bool take_same(void *user, int number, const char *path)
{
	struct opened *opened = user;
	(void)number;
	opened->found = strcmp(path, opened->path) == 0;
	return !opened->found;
}

/* Looks for the dump, and whether it is whole. True: something has changed. */
static bool dump_look(struct target *t)
{
	struct stat at = { 0 };
	char *found = newest_dump_of_target(t, &at);
	if (!found)
		return false;
	struct opened opened = { found, false };
	bool moved = !t->dump || strcmp(found, t->dump) != 0 || at.st_size != t->bytes;
	(void)!exec_proc_files(t->pid, take_same, &opened);
	free(t->dump);
	t->dump = found;
	t->bytes = at.st_size;
	t->state = WRITING;
	t->n_still = moved || opened.found ? 0 : t->n_still + 1;
	bool is_gone = kill(t->pid, 0) != 0 && errno == ESRCH;
	if (t->bytes > 0 && (t->n_still >= STILL_ROUNDS || (is_gone && t->n_still)))
		t->state = DUMPED;
	return moved || t->state == DUMPED;
}

/* ---- asking ---- */

static void target_make(struct target *t, pid_t pid)
{
	struct stat at = { 0 };
	*t = (struct target){ .pid = pid, .pipe = -1, .number = -1 };
	if (!environment_read(t) || !exec_proc_files(pid, take_pipe, t)) {
		t->why = kill(pid, 0) != 0 && errno == ESRCH
				 ? "there is no such process"
				 : "its files cannot be seen: it is another user's, or protected";
		return;
	}
	if (t->number < 0) {
		t->why =
			!t->is_enabled ? "it was started without "
					 "CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1, and a process "
					 "cannot get that later; start it by: warpscope exec --for "
					 "hang -- PROGRAM"
			: t->has_gpu ? "it uses a GPU, but has no pipe open; its driver may be too "
				       "old for dumps on request"
				     : "CUDA has not started in it";
		return;
	}
	free(newest_dump_of_target(t, &at));
	t->newest = at.st_mtim;
	pipe_open(t);
	if (t->pipe >= 0)
		t->state = ASKED;
}

/* What is written too much may be taken for a second request: so a byte first, and more only if
 * nobody took it, or nothing came of it, as some readers wait for a full buffer. */
static void push_request(struct target *t, uint64_t rounds)
{
	static const char zeros[(1 << 16) - 1];
	int waiting = 0;
	bool is_time = rounds == PATIENCE_SECONDS * ROUNDS_A_SECOND;
	if (rounds == PUSH_SECONDS * ROUNDS_A_SECOND)
		is_time = ioctl(t->pipe, FIONREAD, &waiting) == 0 && waiting;
	if (!is_time || t->is_pushed)
		return;
	t->is_pushed = true;
	(void)!ws_write_fd(&t->pipe, zeros, sizeof zeros);
}

static bool is_over(const struct target *t)
{
	return t->state == NO_PIPE || t->state == DUMPED || t->state == GAVE_UP;
}

/* Waits until every process has dumped, or none got any further for `timeout` seconds. */
static void wait_for_all_dumps(struct target *targets, size_t n, uint64_t timeout)
{
	uint64_t still = 0, rounds = 0;
	for (bool open = true; open && still < timeout * ROUNDS_A_SECOND; rounds++) {
		bool moved = false;
		open = false;
		nanosleep(&round_time, NULL);
		for (size_t i = 0; i < n; i++) {
			struct target *t = &targets[i];
			if (is_over(t))
				continue;
			if (t->state == ASKED)
				push_request(t, rounds);
			moved = dump_look(t) || moved;
			if (t->state == ASKED && kill(t->pid, 0) != 0 && errno == ESRCH) {
				t->state = GAVE_UP;
				t->why = "it ended without a dump";
			}
			open = open || !is_over(t);
		}
		still = moved ? 0 : still + 1;
	}
	for (size_t i = 0; i < n; i++) {
		int waiting = 0;
		if (targets[i].state == WRITING)
			targets[i].why = "its dump does not grow any more, and is still open";
		else if (targets[i].state == ASKED)
			targets[i].why = ioctl(targets[i].pipe, FIONREAD, &waiting) == 0 && waiting
						 ? "nothing took the request from its pipe: the "
						   "driver's thread hangs, too, or is stopped"
						 : "it took the request, and no dump appeared";
	}
}

static void target_say(const struct target *t, struct ws_json *json)
{
	if (json) {
		ws_json_object(json);
		ws_json_key_u64(json, "pid", (uint64_t)t->pid);
		ws_json_key_text(json, "dump", t->dump);
		ws_json_key_bool(json, "complete", t->state == DUMPED);
		ws_json_key_u64(json, "bytes", t->bytes > 0 ? (uint64_t)t->bytes : 0);
		ws_json_key_text(json, "reason", t->state == DUMPED ? NULL : t->why);
		ws_json_end(json);
		return;
	}
	if (t->state == DUMPED)
		cli_say("warpscope: process %d: %s (%lld bytes)\n", (int)t->pid, t->dump,
			(long long)t->bytes);
	else
		cli_say("warpscope: process %d: no dump: %s%s%s\n", (int)t->pid, t->why,
			t->dump ? ": " : "", t->dump ? t->dump : "");
}

/* ---- all of them ---- */

struct trigger_targets {
	struct target *item; /* owned */
	size_t n, cap;
};

static bool has(const struct trigger_targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->n; i++)
		if (targets->item[i].pid == pid)
			return true;
	return false;
}

/* Adds those of a process and all below it that have a pipe. True: there is one. */
static bool add_below(struct trigger_targets *targets, pid_t root, bool with_root)
{
	struct exec_processes below;
	bool any = false;
	exec_proc_below(root, &below);
	for (size_t i = 0; i < below.n + with_root; i++) {
		pid_t pid = i < below.n ? below.item[i].pid : root;
		bool is_known = has(targets, pid);
		cli_grow(&targets->item, &targets->cap, targets->n, sizeof *targets->item);
		struct target *t = &targets->item[targets->n];
		if (!is_known)
			target_make(t, pid);
		targets->n += !is_known && t->number >= 0;
		any = any || is_known || t->number >= 0;
	}
	free(below.item);
	return any;
}

/* All are asked before any is waited for: the ranks of a job wait for each other. */
static size_t trigger(struct trigger_targets *targets, uint64_t timeout, struct ws_json *json)
{
	size_t n_dumped = 0;
	for (size_t i = 0; i < targets->n; i++)
		if (targets->item[i].state == ASKED)
			(void)!ws_write_fd(&targets->item[i].pipe, "", 1);
	wait_for_all_dumps(targets->item, targets->n, timeout);
	for (size_t i = 0; i < targets->n; i++) {
		target_say(&targets->item[i], json);
		n_dumped += targets->item[i].state == DUMPED;
		if (targets->item[i].pipe >= 0)
			close(targets->item[i].pipe);
	}
	return n_dumped;
}

static void targets_fini(struct trigger_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++)
		free(targets->item[i].dump);
	free(targets->item);
}

size_t exec_trigger_below(pid_t root, uint64_t timeout, exec_took_fn *took, void *user)
{
	struct trigger_targets targets = { 0 };
	(void)add_below(&targets, root, false);
	size_t n = targets.n;
	signal(SIGPIPE, SIG_IGN);
	(void)!trigger(&targets, timeout, NULL);
	for (size_t i = 0; i < n; i++)
		if (targets.item[i].state == DUMPED)
			took(user, targets.item[i].dump);
	targets_fini(&targets);
	return n;
}

/* ---- warpscope trigger ---- */

struct trigger_args {
	struct cli_given timeout;
};

const struct cli_option verb_trigger_options[] = {
	{ "timeout", 0, CLI_NUMBER, .at = offsetof(struct trigger_args, timeout) },
	{ 0 },
};

int verb_trigger(struct cli *cli, int argc, char **argv)
{
	struct trigger_args args = { .timeout = { .value = DEFAULT_TIMEOUT } };
	struct trigger_targets targets = { 0 };
	struct ws_json json;
	int status = cli_options_take(cli, verb_trigger_options, &args, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc == 0)
		return cli_usage("trigger", "which processes?");
	for (int i = 0; i < argc; i++) {
		uint64_t pid;
		if (!cli_number(argv[i], &pid) || pid == 0 || pid > INT32_MAX)
			return cli_usage("trigger", "'%s' is not the number of a process", argv[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < argc; i++) {
		if (add_below(&targets, (pid_t)atoi(argv[i]), true))
			continue;
		/* the one that was named, to say what is wrong with it */
		target_make(&targets.item[targets.n++], (pid_t)atoi(argv[i]));
	}
	if (cli->json) {
		ws_json_begin(&json, &cli->out, "warpscope-trigger-1");
		ws_json_key_array(&json, "processes");
	}
	size_t n_dumped = trigger(&targets, args.timeout.value, cli->json ? &json : NULL);
	if (cli->json) {
		ws_json_end(&json);
		ws_json_end(&json);
	}
	status = n_dumped == targets.n ? CLI_ANSWERED : CLI_NO_ANSWER;
	targets_fini(&targets);
	return status;
}
