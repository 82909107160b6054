/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands dumps to workers and takes their records. Each worker reads one dump at a time: when it
 * dies or takes too long, that is the dump whose row is lost. A worker of small dumps has the next
 * one waiting, so that it need not wait itself; when it dies, another one gets that.
 */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "triage/triage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_WORKERS = 256,
	DEFAULT_TIMEOUT = 600, /* seconds for one dump */
	MAX_RECORD = 1 << 24,  /* bytes that are taken from a worker */
	PROGRESS_SECONDS = 2,
	SMALL = 1 << 22, /* bytes of a dump that waits, and of the one before it */
};

/* A dump to read. */
struct task {
	char *path; /* owned; NULL: none */
	struct triage_request request;
};

struct worker {
	pid_t pid;
	int fd;
	struct task now, next;
	struct timespec since;
	char *bytes; /* of its answer so far; owned */
	size_t have, cap;
};

struct scan {
	struct cli *cli;
	const struct triage_args *args;
	struct triage_list *list;
	struct triage_records *records;
	bool print, at_end, is_told; /* on a terminal */
	struct worker *workers;
	unsigned n;
	uint64_t n_done, n_skipped, n_others;
	struct timespec said, printed;
	uint64_t n_handed;
	int status;
};

static unsigned core_count(void)
{
#ifdef __linux__
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
#endif
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

static struct timespec now(void)
{
	struct timespec time = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static uint64_t seconds_since(struct timespec then)
{
	struct timespec time = now();
	return (uint64_t)(time.tv_sec - then.tv_sec - (time.tv_nsec < then.tv_nsec));
}

/* ---- workers ---- */

static bool worker_start(struct scan *scan, struct worker *worker)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return false;
	pid_t self = getpid();
	worker->pid = fork();
	if (worker->pid == 0) {
		close(pair[0]);
		for (unsigned i = 0; i < scan->n; i++)
			if (&scan->workers[i] != worker && scan->workers[i].fd >= 0)
				close(scan->workers[i].fd);
		close(scan->records->fd);
		triage_worker(scan->cli, scan->args, scan->list, pair[1], self);
	}
	close(pair[1]);
	worker->fd = pair[0];
	worker->have = 0;
	if (worker->pid > 0 && fcntl(worker->fd, F_SETFL, O_NONBLOCK) == 0)
		return true;
	close(worker->fd);
	worker->fd = -1;
	return false;
}

/* Ends it, and says how it ended. */
static void worker_end(struct worker *worker, bool force, char *ret_why, size_t size)
{
	int status = 0;
	if (worker->fd >= 0)
		close(worker->fd);
	worker->fd = -1;
	if (worker->pid > 0) {
		if (force)
			kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	worker->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(ret_why, size, "its reader crashed (signal %d); please report this dump",
			 WTERMSIG(status));
	else
		snprintf(ret_why, size, "its reader ended early (status %d)", WEXITSTATUS(status));
}

static void worker_free(struct worker *worker)
{
	free(worker->now.path);
	free(worker->next.path);
	free(worker->bytes);
	worker->now.path = worker->next.path = worker->bytes = NULL;
	worker->have = worker->cap = 0;
}

/* ---- records ---- */

static void print_records(struct scan *scan)
{
	struct ws_error err;
	if (scan->print && ws_out_flush(&scan->cli->out, &err) != WS_OK &&
	    scan->status == CLI_ANSWERED)
		scan->status = err.os_errno == EPIPE ? CLI_NO_ANSWER : cli_fail(NULL, &err);
	scan->printed = now();
}

static void keep(struct scan *scan, const char *line, size_t len)
{
	if (scan->status != CLI_ANSWERED)
		return;
	scan->n_done++;
	scan->status = triage_records_append(scan->records, line, len);
	if (scan->print && scan->status == CLI_ANSWERED)
		ws_out_bytes(&scan->cli->out, line, len);
}

/* The row of a dump that no worker could read. */
static void keep_failed(struct scan *scan, const char *path, const struct triage_request *request,
			const char *why)
{
	struct ws_triage_file file = { path, request->bytes, request->written_ns,
				       scan->args->pattern, NULL };
	struct cli_bytes text = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &text);
	ws_triage_record_failed(&file, why, scan->args->whole, &out);
	if (ws_out_flush(&out, NULL) == WS_OK)
		keep(scan, text.ptr, text.len);
	free(text.ptr);
}

/* ---- handing out ---- */

/* The next dump that is not done yet; false: there is none. */
static bool next_dump(struct scan *scan, struct triage_request *request, char **ret_path)
{
	const int64_t second = 1000000000;
	const char *path;
	bool is_named;
	while (!scan->at_end && triage_list_next(scan->list, &path, &is_named)) {
		struct stat at = { 0 };
		char key[WS_TRIAGE_KEY_BYTES] = "";
		int missing = stat(path, &at) != 0 ? errno : 0;
		*request = (struct triage_request){
			.path_len = (uint32_t)strlen(path),
			.is_named = is_named,
			.bytes = (uint64_t)at.st_size,
			.written_ns = (int64_t)at.st_mtim.tv_sec * second + at.st_mtim.tv_nsec,
		};
		struct ws_triage_file file = { path, request->bytes, request->written_ns, NULL,
					       NULL };
		if (scan->records->n_keys)
			ws_triage_key(&file, key);
		if (triage_records_have(scan->records, key)) {
			scan->n_skipped++;
			continue;
		}
		if (missing || !S_ISREG(at.st_mode)) {
			keep_failed(scan, path, request,
				    missing ? strerror(missing) : "not a regular file");
			continue;
		}
		*ret_path = cli_copy(path, strlen(path));
		return true;
	}
	scan->at_end = true;
	return false;
}

static void send_task(const struct worker *worker, const struct task *task)
{
	/* a request is far smaller than what a socket takes at once; a failure shows as its end */
	struct ws_out out;
	int fd = worker->fd;
	ws_out_init(&out, ws_write_fd, &fd);
	ws_out_bytes(&out, (const char *)&task->request, sizeof task->request);
	ws_out_bytes(&out, task->path, task->request.path_len);
	(void)!ws_out_flush(&out, NULL);
}

static void hand_out(struct scan *scan, struct worker *worker, struct task *task)
{
	if (worker->fd < 0 || task->path || scan->status != CLI_ANSWERED ||
	    !next_dump(scan, &task->request, &task->path))
		return;
	scan->n_handed++;
	if (task == &worker->now)
		worker->since = now();
	send_task(worker, task);
}

/* Whether the next dump may wait for a worker: small ones of many, so that no other worker would
 * have been free for it. */
static bool may_wait(const struct scan *scan, const struct worker *worker)
{
	return worker->now.path && worker->now.request.bytes < SMALL &&
	       scan->list->n - scan->n_handed - scan->n_skipped > 8 * (uint64_t)scan->n;
}

/* The worker is gone, or has to go because of `fault`: its dump has a row that says so, and another
 * worker comes, for the dump that waited, too. */
static void replace(struct scan *scan, struct worker *worker, const char *fault)
{
	char why[120];
	struct task waiting = worker->next;
	worker->next.path = NULL;
	worker_end(worker, fault != NULL, why, sizeof why);
	if (fault)
		snprintf(why, sizeof why, "%s", fault);
	if (worker->now.path)
		keep_failed(scan, worker->now.path, &worker->now.request, why);
	worker_free(worker);
	if ((waiting.path || !scan->at_end) && scan->status == CLI_ANSWERED &&
	    !worker_start(scan, worker)) {
		cli_warn("a worker: %s", strerror(errno));
		scan->status = CLI_NO_ANSWER;
	}
	if (!waiting.path || scan->status != CLI_ANSWERED) {
		free(waiting.path);
		return;
	}
	worker->now = waiting;
	worker->since = now();
	send_task(worker, &worker->now);
}

/* Takes the first answer off what came of a worker; false: it is not whole. */
static bool take_one(struct scan *scan, struct worker *worker, bool *ret_is_bad)
{
	struct triage_answer answer;
	if (worker->have < sizeof answer)
		return false;
	memcpy(&answer, worker->bytes, sizeof answer);
	*ret_is_bad = answer.len > MAX_RECORD || !worker->now.path;
	if (*ret_is_bad || worker->have < sizeof answer + answer.len)
		return false;
	const char *line = worker->bytes + sizeof answer;
	const char *end = answer.len ? memchr(line, '\n', answer.len) : NULL;
	*ret_is_bad = answer.is_dump && (!end || end != line + answer.len - 1);
	if (*ret_is_bad)
		return false;
	if (answer.is_dump) {
		scan->cli->input_bytes += worker->now.request.bytes;
		keep(scan, line, answer.len);
	} else {
		scan->n_others++;
	}
	worker->have -= sizeof answer + answer.len;
	memmove(worker->bytes, line + answer.len, worker->have);
	free(worker->now.path);
	worker->now = worker->next;
	worker->next.path = NULL;
	worker->since = now();
	return true;
}

/* Takes what a worker sent; false: it is gone, or it sent what no worker sends. */
static bool take_answers(struct scan *scan, struct worker *worker, bool *ret_is_bad)
{
	if (worker->have == worker->cap) {
		worker->cap = worker->cap ? 2 * worker->cap : 4 * WS_TRIAGE_RECORD_BYTES;
		worker->bytes = cli_realloc(worker->bytes, worker->cap, 1);
	}
	ssize_t n = read(worker->fd, worker->bytes + worker->have, worker->cap - worker->have);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	worker->have += (size_t)n;
	while (take_one(scan, worker, ret_is_bad))
		;
	return !*ret_is_bad;
}

static void say_progress(struct scan *scan)
{
	if (!scan->is_told || seconds_since(scan->said) < PROGRESS_SECONDS)
		return;
	scan->said = now();
	cli_say("\r\033[K%" PRIu64 " of %" PRIu64 " files read",
		scan->n_done + scan->n_others + scan->n_skipped, scan->list->n);
}

/* Waits until something happens, and deals with it. False: nobody works any more. */
static bool step(struct scan *scan)
{
	struct pollfd polled[MAX_WORKERS];
	nfds_t n = 0;
	unsigned busy = 0;
	for (unsigned i = 0; i < scan->n; i++) {
		hand_out(scan, &scan->workers[i], &scan->workers[i].now);
		busy += scan->workers[i].now.path != NULL;
	}
	for (unsigned i = 0; i < scan->n; i++)
		if (may_wait(scan, &scan->workers[i]))
			hand_out(scan, &scan->workers[i], &scan->workers[i].next);
	if (busy == 0)
		return false;
	for (unsigned i = 0; i < scan->n; i++)
		polled[n++] =
			(struct pollfd){ .fd = scan->workers[i].now.path ? scan->workers[i].fd : -1,
					 .events = POLLIN };
	if (poll(polled, n, 1000) < 0 && errno != EINTR)
		return false;
	for (unsigned i = 0; i < scan->n; i++) {
		struct worker *worker = &scan->workers[i];
		if (!worker->now.path)
			continue;
		bool is_bad = false;
		if (polled[i].revents && !take_answers(scan, worker, &is_bad))
			replace(scan, worker, is_bad ? "its reader sent no record" : NULL);
		else if (worker->now.path &&
			 seconds_since(worker->since) >= scan->args->timeout.value)
			replace(scan, worker, "it took too long (--timeout)");
	}
	if (seconds_since(scan->printed) >= 1)
		print_records(scan);
	say_progress(scan);
	return true;
}

int triage_scan(struct cli *cli, const struct triage_args *args, struct triage_list *list,
		struct triage_records *records, bool print)
{
	char why[120];
	struct scan scan = { .cli = cli,
			     .args = args,
			     .list = list,
			     .records = records,
			     .print = print,
			     .is_told = isatty(STDERR_FILENO) && !cli_terminal_is_dumb(),
			     .said = now(),
			     .printed = now() };
	uint64_t wanted = args->workers.given ? args->workers.value : core_count();
	if (wanted > list->n)
		wanted = list->n;
	scan.n = (unsigned)(wanted < 1 ? 1 : wanted > MAX_WORKERS ? MAX_WORKERS : wanted);
	scan.workers = cli_alloc(scan.n, sizeof *scan.workers);
	for (unsigned i = 0; i < scan.n; i++)
		scan.workers[i].fd = -1;
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < scan.n && scan.status == CLI_ANSWERED; i++) {
		if (worker_start(&scan, &scan.workers[i]))
			continue;
		cli_warn("a worker: %s", strerror(errno));
		scan.status = i ? CLI_ANSWERED : CLI_NO_ANSWER;
		break;
	}
	while (scan.status == CLI_ANSWERED && step(&scan))
		;
	if (scan.status == CLI_ANSWERED)
		scan.status = triage_records_end(records);
	for (unsigned i = 0; i < scan.n; i++) {
		worker_end(&scan.workers[i], scan.workers[i].now.path != NULL, why, sizeof why);
		worker_free(&scan.workers[i]);
	}
	print_records(&scan);
	signal(SIGPIPE, SIG_DFL);
	free(scan.workers);
	if (scan.is_told)
		cli_say("\r\033[K");
	return scan.status;
}
