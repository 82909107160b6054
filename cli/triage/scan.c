/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands dumps to workers and takes their records. Each worker reads one dump at a time, and sends
 * its record before it reads the next one: when it dies or takes too long, that is the dump whose
 * row is lost. A worker of small dumps has more of them waiting, so that it need not wait itself,
 * and so that this process looks at it for many of them at once: to be woken for each costs more
 * than all the rest that is done here. When it dies, another worker gets what waited.
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
	MAX_TASKS = 64,         /* of one worker: the dump that it reads, and those that wait */
	MAX_WAITING = 1 << 22,  /* bytes of dumps that another one may wait for */
	MAX_REQUESTS = 1 << 14, /* bytes of requests that are on the way: a socket takes them */
	MANY = MAX_TASKS / 4,   /* a worker is busy with these for a while: */
	PAUSE_MILLISECONDS = 2,
};

/* A dump to read. */
struct task {
	char *path; /* owned; NULL: none */
	struct triage_request request;
};

struct worker {
	pid_t pid;
	int fd;
	struct task task[MAX_TASKS]; /* a ring; the first is the dump that it reads */
	unsigned first, n;
	uint64_t dump_bytes; /* of all that it has, and of the requests for them */
	size_t request_bytes;
	struct timespec since;
	char *bytes; /* of its answer so far; owned */
	size_t have, cap;
};

struct triage_scan {
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
	struct cli_bytes requests; /* to one worker, on the way; owned */
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

static struct timespec scan_now(void)
{
	struct timespec time = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static uint64_t seconds_since(struct timespec then)
{
	struct timespec time = scan_now();
	return (uint64_t)(time.tv_sec - then.tv_sec - (time.tv_nsec < then.tv_nsec));
}

/* ---- workers ---- */

static bool worker_start(struct triage_scan *scan, struct worker *worker)
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

static struct task *task_at(struct worker *worker, unsigned i)
{
	return &worker->task[(worker->first + i) % MAX_TASKS];
}

static size_t request_bytes(const struct task *task)
{
	return sizeof task->request + task->request.path_len;
}

/* The first is done. */
static void task_drop(struct worker *worker)
{
	struct task *task = task_at(worker, 0);
	worker->dump_bytes -= task->request.bytes;
	worker->request_bytes -= request_bytes(task);
	free(task->path);
	worker->first = (worker->first + 1) % MAX_TASKS;
	worker->n--;
}

static void worker_free(struct worker *worker)
{
	while (worker->n)
		task_drop(worker);
	free(worker->bytes);
	worker->bytes = NULL;
	worker->have = worker->cap = 0;
}

/* ---- records ---- */

static void print_records(struct triage_scan *scan)
{
	struct ws_error err;
	if (scan->print && ws_out_flush(&scan->cli->out, &err) != WS_OK &&
	    scan->status == CLI_ANSWERED)
		scan->status = err.os_errno == EPIPE ? CLI_NO_ANSWER : cli_fail(NULL, &err);
	scan->printed = scan_now();
}

static void keep_line(struct triage_scan *scan, const char *line, size_t len)
{
	if (scan->status != CLI_ANSWERED)
		return;
	scan->n_done++;
	scan->status = triage_records_append(scan->records, line, len);
	if (scan->print && scan->status == CLI_ANSWERED)
		ws_out_bytes(&scan->cli->out, line, len);
}

/* The row of a dump that no worker could read. */
static void keep_failed(struct triage_scan *scan, const char *path,
			const struct triage_request *request, const char *why)
{
	struct ws_triage_file file = { path, request->bytes, request->written_ns,
				       scan->args->pattern, NULL };
	struct cli_bytes text = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &text);
	ws_triage_record_failed(&file, why, scan->args->whole, &out);
	if (ws_out_flush(&out, NULL) == WS_OK)
		keep_line(scan, text.ptr, text.len);
	free(text.ptr);
}

/* ---- handing out ---- */

/* The next dump that is not done yet; false: there is none. */
static bool next_dump(struct triage_scan *scan, struct triage_request *request, char **ret_path)
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

static void request_add(struct triage_scan *scan, const struct task *task)
{
	cli_bytes_write(&scan->requests, (const char *)&task->request, sizeof task->request);
	cli_bytes_write(&scan->requests, task->path, task->request.path_len);
}

static void requests_send(struct triage_scan *scan, const struct worker *worker)
{
	/* a socket takes them at once (MAX_REQUESTS); a failure shows as the worker's end */
	int fd = worker->fd;
	if (scan->requests.len)
		(void)!ws_write_fd(&fd, scan->requests.ptr, scan->requests.len);
	scan->requests.len = 0;
}

/* Whether another dump may wait for the worker: small ones of many, so that no other worker would
 * have been free for it. */
static bool may_wait(const struct triage_scan *scan, const struct worker *worker)
{
	uint64_t left = scan->list->n - scan->n_handed - scan->n_skipped;
	return worker->n < MAX_TASKS && worker->n <= left / (4 * (uint64_t)scan->n) &&
	       worker->dump_bytes < MAX_WAITING && worker->request_bytes < MAX_REQUESTS;
}

static void hand_out(struct triage_scan *scan, struct worker *worker)
{
	if (worker->fd < 0 || scan->status != CLI_ANSWERED)
		return;
	while (worker->n == 0 || may_wait(scan, worker)) {
		struct task *task = task_at(worker, worker->n);
		if (!next_dump(scan, &task->request, &task->path))
			break;
		if (worker->n++ == 0)
			worker->since = scan_now();
		worker->dump_bytes += task->request.bytes;
		worker->request_bytes += request_bytes(task);
		scan->n_handed++;
		request_add(scan, task);
	}
	requests_send(scan, worker);
}

/* The worker is gone, or has to go because of `fault`: its dump has a row that says so, and another
 * worker comes, for the dumps that waited, too. */
static void replace_worker(struct triage_scan *scan, struct worker *worker, const char *fault)
{
	char why[120];
	worker_end(worker, fault != NULL, why, sizeof why);
	if (fault)
		snprintf(why, sizeof why, "%s", fault);
	if (worker->n) {
		keep_failed(scan, task_at(worker, 0)->path, &task_at(worker, 0)->request, why);
		task_drop(worker);
	}
	if ((worker->n || !scan->at_end) && scan->status == CLI_ANSWERED &&
	    !worker_start(scan, worker)) {
		cli_warn("a worker: %s", strerror(errno));
		scan->status = CLI_NO_ANSWER;
	}
	if (scan->status != CLI_ANSWERED)
		return;
	worker->since = scan_now();
	for (unsigned i = 0; i < worker->n; i++)
		request_add(scan, task_at(worker, i));
	requests_send(scan, worker);
}

/* Takes the answer at `*at` of what came of a worker; false: it is not whole. */
static bool take_one(struct triage_scan *scan, struct worker *worker, size_t *at, bool *ret_is_bad)
{
	struct triage_answer answer;
	size_t left = worker->have - *at;
	if (left < sizeof answer)
		return false;
	memcpy(&answer, worker->bytes + *at, sizeof answer);
	*ret_is_bad = answer.len > MAX_RECORD || worker->n == 0;
	if (*ret_is_bad || left - sizeof answer < answer.len)
		return false;
	const char *line = worker->bytes + *at + sizeof answer;
	const char *end = answer.len ? memchr(line, '\n', answer.len) : NULL;
	*ret_is_bad = answer.is_dump && (!end || end != line + answer.len - 1);
	if (*ret_is_bad)
		return false;
	if (answer.is_dump) {
		scan->cli->input_bytes += task_at(worker, 0)->request.bytes;
		keep_line(scan, line, answer.len);
	} else {
		scan->n_others++;
	}
	*at += sizeof answer + answer.len;
	task_drop(worker);
	return true;
}

/* Takes what a worker sent; false: it is gone, or it sent what no worker sends. */
static bool take_answers(struct triage_scan *scan, struct worker *worker, bool *ret_is_bad)
{
	size_t at = 0;
	if (worker->have == worker->cap) {
		worker->cap = worker->cap ? 2 * worker->cap : 16 * WS_TRIAGE_RECORD_BYTES;
		worker->bytes = cli_realloc(worker->bytes, worker->cap, 1);
	}
	ssize_t n = read(worker->fd, worker->bytes + worker->have, worker->cap - worker->have);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	worker->have += (size_t)n;
	while (take_one(scan, worker, &at, ret_is_bad))
		worker->since = scan_now();
	worker->have -= at;
	memmove(worker->bytes, worker->bytes + at, worker->have);
	return !*ret_is_bad;
}

static void say_progress(struct triage_scan *scan)
{
	if (!scan->is_told || seconds_since(scan->said) < PROGRESS_SECONDS)
		return;
	scan->said = scan_now();
	cli_say("\r\033[K%" PRIu64 " of %" PRIu64 " files read",
		scan->n_done + scan->n_others + scan->n_skipped, scan->list->n);
}

/* Waits until something happens, and deals with it. False: nobody works any more. */
static bool step_scan(struct triage_scan *scan)
{
	struct pollfd polled[MAX_WORKERS];
	unsigned n_busy = 0, n_with_many = 0;
	for (unsigned i = 0; i < scan->n; i++) {
		struct worker *worker = &scan->workers[i];
		hand_out(scan, worker);
		n_busy += worker->n > 0;
		n_with_many += worker->n >= MANY;
		polled[i] = (struct pollfd){ .fd = worker->n ? worker->fd : -1, .events = POLLIN };
	}
	if (n_busy == 0)
		return false;
	if (n_with_many == n_busy)
		(void)!poll(NULL, 0, PAUSE_MILLISECONDS);
	if (poll(polled, scan->n, 1000) < 0 && errno != EINTR)
		return false;
	for (unsigned i = 0; i < scan->n; i++) {
		struct worker *worker = &scan->workers[i];
		if (worker->n == 0)
			continue;
		bool is_bad = false;
		if (polled[i].revents && !take_answers(scan, worker, &is_bad))
			replace_worker(scan, worker, is_bad ? "its reader sent no record" : NULL);
		else if (worker->n && seconds_since(worker->since) >= scan->args->timeout.value)
			replace_worker(scan, worker, "it took too long (--timeout)");
	}
	if (scan->status == CLI_ANSWERED)
		scan->status = triage_records_flush(scan->records);
	if (seconds_since(scan->printed) >= 1)
		print_records(scan);
	say_progress(scan);
	return true;
}

int triage_scan(struct cli *cli, const struct triage_args *args, struct triage_list *list,
		struct triage_records *records, bool print)
{
	char why[120];
	struct triage_scan scan = { .cli = cli,
				    .args = args,
				    .list = list,
				    .records = records,
				    .print = print,
				    .is_told = isatty(STDERR_FILENO) && !cli_terminal_is_dumb(),
				    .said = scan_now(),
				    .printed = scan_now() };
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
	while (scan.status == CLI_ANSWERED && step_scan(&scan))
		;
	int status = triage_records_end(records);
	if (scan.status == CLI_ANSWERED)
		scan.status = status;
	for (unsigned i = 0; i < scan.n; i++) {
		worker_end(&scan.workers[i], scan.workers[i].n > 0, why, sizeof why);
		worker_free(&scan.workers[i]);
	}
	print_records(&scan);
	signal(SIGPIPE, SIG_DFL);
	free(scan.workers);
	free(scan.requests.ptr);
	if (scan.is_told)
		cli_say("\r\033[K");
	return scan.status;
}
