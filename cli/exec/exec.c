/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope exec: runs a program so that a GPU fault or a hang leaves dumps, and says what they
 * show. */
#ifdef __linux__
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/signalfd.h>
#endif
#include "exec/exec.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As env(1) and timeout(1) have them. */
enum { STATUS_FAILED = 125, STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

enum {
	DEFAULT_WAIT = 60, /* seconds for a dump that does not grow */
	FAST_LOOKS = 40,   /* at processes: a few a second, as workers come soon */
	FAST_MS = 250,
	SLOW_MS = 1000,
	SHARE = 50, /* looking takes at most one part of so many of the time */
};

const struct cli_option verb_exec_options[] = {
	{ "dumps", 0, CLI_TEXT, .at = offsetof(struct exec_args, dumps) },
	{ "job", 0, CLI_TEXT, .at = offsetof(struct exec_args, job) },
	{ "for", 0, CLI_TEXT, .at = offsetof(struct exec_args, purpose) },
	{ "on-hang", 0, CLI_NUMBER, .at = offsetof(struct exec_args, on_hang) },
	{ "wait", 0, CLI_NUMBER, .at = offsetof(struct exec_args, wait) },
	{ "dumps-through", 0, CLI_TEXT, .at = offsetof(struct exec_args, through) },
	{ "message", 0, CLI_TEXT, .at = offsetof(struct exec_args, message) },
	{ "annotations", 0, CLI_TEXT, .at = offsetof(struct exec_args, annotations) },
	{ "no-abort", 0, CLI_FLAG, .at = offsetof(struct exec_args, no_abort) },
	{ "software-gpu", 0, CLI_FLAG, .at = offsetof(struct exec_args, software_gpu) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct exec_args, arch) },
	{ .name = "", .value = CLI_REST },
	{ 0 },
};

/* ---- time ---- */

static uint64_t clock_us(clockid_t clock)
{
	struct timespec time = { 0 };
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static uint64_t now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

/* ---- the program's environment ---- */

static void set_variables(const struct exec *exec)
{
	const struct exec_args *args = exec->args;
	struct exec_variables set;
	/* it was made once already, when the folder was checked */
	(void)!exec_variables_make(args->kind, exec->folder, exec->part,
				   args->no_abort ? "skip_abort" : NULL, &set);
	for (size_t i = 0; i < set.n; i++) {
		const struct exec_variable *one = &set.item[i];
		const char *there = getenv(one->name);
		bool is_flags = strcmp(one->name, "CUDA_COREDUMP_GENERATION_FLAGS") == 0;
		if (there && is_flags && !args->purpose) {
			cli_say("warpscope exec: %s stays as it is; --for replaces it\n",
				one->name);
			continue;
		}
		if (there && strcmp(there, one->value) != 0)
			cli_say("warpscope exec: %s was set, and is replaced\n", one->name);
		if (setenv(one->name, one->value, 1) != 0)
			cli_out_of_memory();
	}
	if (args->kind == EXEC_FULL && args->purpose && !args->no_abort)
		unsetenv("CUDA_COREDUMP_GENERATION_FLAGS"); /* nothing is left out */
}

/* ---- one run ---- */

struct exec_run {
	struct exec *exec;
	struct exec_keeper keeper;
	struct exec_relay relay;
	struct exec_helper helper;
	int signals;
	pid_t program;
	bool has_ended;
	int status;      /* of wait() */
	int failed;      /* errno: it was not started */
	bool is_stopped; /* a signal came after the program's end */
	uint64_t next_look, n_looks;
	uint64_t heard, heard_count; /* output: when, and how much by then */
	struct timespec other_heard; /* of other ranks: the time of a file in the folder */
	bool hang_told;
};

/* Keys pressed reach the whole group of processes, and so the program too. */
static bool is_for_the_program(const struct signalfd_siginfo *about)
{
	return about->ssi_code != SI_KERNEL;
}

static void take_news(struct exec_run *run)
{
	struct exec_news news;
	ssize_t n = read(run->keeper.news, &news, sizeof news);
	if (n != sizeof news) {
		close(run->keeper.news);
		run->keeper.news = -1; /* its end is taken by its signal */
		return;
	}
	if (news.kind == EXEC_STARTED)
		run->program = news.value;
	else if (news.kind == EXEC_NOT_STARTED)
		run->failed = news.value;
	else if (!run->failed) {
		run->has_ended = true;
		run->status = news.value;
	}
}

static void take_child(struct exec_run *run)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == run->relay.pid)
			run->relay.pid = 0;
		if (pid == run->helper.pid)
			run->helper.pid = 0;
		if (pid != run->keeper.pid)
			continue; /* as process 1: one that lost its parent */
		run->keeper.pid = 0;
		if (run->has_ended || run->failed)
			continue;
		struct pollfd polled = { run->keeper.news, POLLIN, 0 };
		while (run->keeper.news >= 0 && poll(&polled, 1, 0) > 0) {
			take_news(run);
			polled.fd = run->keeper.news;
		}
		if (run->has_ended || run->failed)
			continue;
		/* somebody killed the keeper: what it kept is below us now */
		exec_proc_kill_below();
		run->has_ended = true;
		run->status = SIGKILL;
	}
}

static void take_signals(struct exec_run *run)
{
	struct signalfd_siginfo about;
	while (read(run->signals, &about, sizeof about) == sizeof about) {
		int number = (int)about.ssi_signo;
		if (number == SIGCHLD)
			take_child(run);
		else if (number == SIGPIPE)
			continue;
		else if (run->program > 0 && !run->has_ended && is_for_the_program(&about))
			kill(run->program, number);
		else if (run->has_ended && (number == SIGTERM || number == SIGINT ||
					    number == SIGHUP || number == SIGQUIT))
			run->is_stopped = true;
	}
}

/* Waits at most `ms`, and deals with what comes. */
static void step_exec(struct exec_run *run, uint64_t ms)
{
	struct pollfd polled[] = { { run->signals, POLLIN, 0 }, { run->keeper.news, POLLIN, 0 } };
	if (poll(polled, 2, (int)ms) <= 0)
		return;
	if (polled[1].revents) /* first: the keeper's end may come with the news of the program's */
		take_news(run);
	if (polled[0].revents)
		take_signals(run);
}

/* Records ranks, when it is time. */
static void look_for_ranks(struct exec_run *run)
{
	if (now_ms() < run->next_look || !run->program)
		return;
	uint64_t start = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	exec_record_look(run->exec->record, run->keeper.pid);
	uint64_t pause = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - start) * SHARE / 1000;
	uint64_t least = run->n_looks++ < FAST_LOOKS ? FAST_MS : SLOW_MS;
	run->next_look = now_ms() + (pause > least ? pause : least);
}

/* ---- hangs ---- */

/* A file that every exec of the job touches when its program says something: a rank that says
 * nothing is no hang while another one goes on. Only that its time changes counts. */
static void share_output(struct exec_run *run, bool is_ours)
{
	char path[EXEC_PATH_BYTES + 16];
	struct stat at;
	snprintf(path, sizeof path, "%s/.output", run->exec->folder);
	if (is_ours) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
		if (fd >= 0) {
			(void)!futimens(fd, NULL);
			close(fd);
		}
	}
	if (stat(path, &at) != 0 || (at.st_mtim.tv_sec == run->other_heard.tv_sec &&
				     at.st_mtim.tv_nsec == run->other_heard.tv_nsec))
		return;
	run->other_heard = at.st_mtim;
	run->heard = now_ms();
	run->hang_told = false;
}

static void watch_output(struct exec_run *run)
{
	const struct exec_args *args = run->exec->args;
	if (!args->on_hang.given)
		return;
	uint64_t count = exec_relay_count(&run->relay);
	bool is_new = count != run->heard_count;
	run->heard_count = count;
	share_output(run, is_new);
	uint64_t silent = now_ms() - run->heard;
	if (silent < args->on_hang.value * 1000 || run->hang_told || run->helper.page)
		return;
	run->hang_told = true;
	cli_say("warpscope exec: no output for %" PRIu64 " seconds; asking for dumps\n",
		args->on_hang.value);
	exec_record_look(run->exec->record, run->keeper.pid);
	if (!exec_helper_start(run->exec, NULL, run->keeper.pid, run->keeper.life, &run->helper))
		cli_say("warpscope exec: no process for that: %s\n", strerror(errno));
}

static void show_helper(struct exec_run *run, const char *title)
{
	if (run->helper.page && run->helper.pid == 0)
		exec_helper_show(run->exec, &run->helper, title);
}

/* ---- afterwards ---- */

/* "`train` (rank 3) ended by signal 6 (Aborted)" */
static void say_end(const struct exec_run *run, const struct exec_dumps *dumps, struct ws_out *out)
{
	const struct exec *exec = run->exec;
	const char *program = exec->args->program[0], *slash = strrchr(program, '/');
	ws_out_printf(out, "warpscope exec: %s", slash ? slash + 1 : program);
	if (exec->part.kind)
		ws_out_printf(out, " (%s %" PRIu64 ")", exec->part.kind, exec->part.number);
	if (WIFSIGNALED(run->status))
		ws_out_printf(out, " was ended by signal %d (%s)", WTERMSIG(run->status),
			      strsignal(WTERMSIG(run->status)));
	else
		ws_out_printf(out, " ended with status %d", WEXITSTATUS(run->status));
	if (dumps->n)
		ws_out_printf(out, " and left %zu GPU dump%s in %s\n", dumps->n,
			      dumps->n == 1 ? "" : "s", exec->folder);
	else if (exec_record_saw_gpu(exec->record))
		ws_out_text(out, " and left no GPU dump\n");
	else
		ws_out_text(out, " and left no GPU dump; no process was seen with a GPU open\n");
}

/* Waits for processes that still write a dump, as long as dumps grow. */
static void wait_for_growing_dumps(struct exec_run *run)
{
	const struct exec_args *args = run->exec->args;
	uint64_t most = (args->wait.given ? args->wait.value : DEFAULT_WAIT) * 1000;
	uint64_t bytes = 0, since = now_ms();
	while (!run->is_stopped && now_ms() - since < most && run->keeper.pid &&
	       exec_dumps_are_written(run->exec, run->keeper.pid)) {
		struct exec_dumps dumps;
		exec_dumps_find(run->exec, &dumps);
		if (dumps.bytes != bytes)
			since = now_ms();
		bytes = dumps.bytes;
		exec_dumps_fini(&dumps);
		step_exec(run, FAST_MS);
	}
}

/* Hands the dumps on, one after the other. */
static void pass_dumps_on(struct exec_run *run, const struct exec_dumps *dumps)
{
	for (size_t i = 0; i < dumps->n && run->exec->args->through && !run->is_stopped; i++) {
		const pid_t pid = exec_through_start(run->exec, dumps->path[i], run->keeper.life);
		if (pid < 0)
			cli_say("warpscope exec: %s stays here: %s\n", dumps->path[i],
				strerror(errno));
		run->helper.pid = pid > 0 ? pid : 0;
		while (run->helper.pid && !run->is_stopped)
			step_exec(run, SLOW_MS);
		if (run->helper.pid)
			kill(run->helper.pid, SIGTERM);
	}
}

/* Says how it ended, at once where a container's owner looks, and then what the dumps show. */
static void conclude_exec(struct exec_run *run)
{
	const struct exec *exec = run->exec;
	struct exec_dumps dumps;
	struct cli_bytes title = { 0 };
	struct ws_out out;
	exec_dumps_find(exec, &dumps);
	if (run->status == 0 && !dumps.n)
		return;
	ws_out_init(&out, cli_bytes_write, &title);
	say_end(run, &dumps, &out);
	if (ws_out_flush(&out, NULL) == WS_OK)
		exec_message_write(exec, title.ptr, title.len);
	exec_dumps_fini(&dumps);
	title.len = 0;
	wait_for_growing_dumps(run);
	exec_dumps_find(exec, &dumps);
	say_end(run, &dumps, &out);
	if (ws_out_flush(&out, NULL) == WS_OK) {
		cli_bytes_write(&title, "", 1);
		title.len--;
		exec_message_write(exec, title.ptr, title.len);
		(void)!ws_write_fd(&(int){ STDERR_FILENO }, title.ptr, title.len);
	}
	if (dumps.n && !run->is_stopped &&
	    exec_helper_start(exec, &dumps, 0, run->keeper.life, &run->helper)) {
		while (run->helper.pid && !run->is_stopped)
			step_exec(run, SLOW_MS);
		if (run->helper.pid)
			kill(run->helper.pid, SIGKILL);
		else
			show_helper(run, title.ptr);
		if (exec->part.kind)
			cli_say("warpscope exec: for all ranks: warpscope triage %s\n",
				exec->folder);
	}
	pass_dumps_on(run, &dumps);
	exec_dumps_fini(&dumps);
	free(title.ptr);
}

/* Ends as the program did. */
static int end_as(struct cli *cli, int status)
{
	cli_flush(cli);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	int number = WTERMSIG(status);
	sigset_t one;
#ifdef __linux__
	prctl(PR_SET_DUMPABLE, 0); /* a core of the program may be wanted; none of this one */
#endif
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + number; /* process 1 cannot end so */
}

/* ---- starting ---- */

/* Signals that are left as they are: of errors, and of jobs in a shell. */
static void signals_take(struct exec_run *run, sigset_t *ret_before)
{
	static const int others[] = { SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGTRAP,
				      SIGABRT, SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t taken;
	sigfillset(&taken);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		sigdelset(&taken, others[i]);
	sigprocmask(SIG_SETMASK, &taken, ret_before);
	signal(SIGCHLD, SIG_DFL); /* who ignores it is told of no end */
	run->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int start_program(struct exec_run *run)
{
	static const int unused[2] = { -1, -1 };
	sigset_t before;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signals_take(run, &before);
	if (run->exec->args->on_hang.given && !exec_relay_start(&run->relay)) {
		cli_warn("cannot start the process that passes the output on: %s", strerror(errno));
		return STATUS_FAILED;
	}
	const int *outputs = run->relay.pid ? run->relay.outputs : unused;
	if (!exec_keeper_start(run->exec->args->program, outputs, &before, &run->keeper)) {
		cli_warn("cannot start the process that keeps the program: %s", strerror(errno));
		return STATUS_FAILED;
	}
	for (int i = 0; i < 2; i++)
		if (outputs[i] >= 0)
			close(outputs[i]);
	return CLI_ANSWERED;
}

static int supervise(struct exec *exec)
{
	struct exec_run run = { .exec = exec, .signals = -1, .heard = now_ms() };
	int status = start_program(&run);
	while (status == CLI_ANSWERED && !run.has_ended && !run.failed) {
		uint64_t now = now_ms();
		step_exec(&run, run.next_look > now && run.next_look - now < SLOW_MS
					? run.next_look - now
				: run.program ? FAST_MS
					      : SLOW_MS);
		look_for_ranks(&run);
		watch_output(&run);
		show_helper(&run, "");
	}
	exec_relay_end(&run.relay);
	if (run.failed) {
		cli_warn("%s: %s", exec->args->program[0], strerror(run.failed));
		status = run.failed == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
	} else if (status == CLI_ANSWERED) {
		if (run.helper.pid) /* it asked for dumps of what has ended since */
			kill(run.helper.pid, SIGKILL);
		conclude_exec(&run);
		status = -1;
	}
	exec_keeper_release(&run.keeper);
	exec_record_close(exec->record);
	return status < 0 ? end_as(exec->cli, run.status) : status;
}

/* ---- arguments ---- */

static int exec_arguments_parse(struct cli *cli, int argc, char **argv, struct exec_args *args)
{
	int status = cli_options_take(cli, verb_exec_options, args, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc == 0)
		return cli_usage("exec", "which program?");
	if (cli->json)
		return cli_usage("exec", "it has no JSON; see: warpscope triage --json");
	args->kind = args->on_hang.given ? EXEC_HANG : EXEC_FAULT;
	if (args->purpose && !exec_purpose_find(args->purpose, &args->kind))
		return cli_usage("exec", "--for takes fault, hang, share or full, not '%s'",
				 args->purpose);
	if (args->on_hang.given && args->kind != EXEC_HANG && args->kind != EXEC_FULL)
		return cli_usage("exec", "--on-hang needs dumps on request: --for hang or full");
	if (args->on_hang.given && (args->on_hang.value == 0 || args->on_hang.value > INT32_MAX))
		return cli_usage("exec", "--on-hang takes a number above 0");
	if (args->annotations && strcmp(args->annotations, "github") != 0)
		return cli_usage("exec",
				 "--annotations takes github, not '%s'; for GitLab: warpscope "
				 "report --format gitlab",
				 args->annotations);
	if (args->arch && !args->software_gpu)
		return cli_usage("exec", "--arch is for --software-gpu");
	if (args->arch && !(args->arch = run_device_find(cli, args->arch)))
		return CLI_USAGE;
	args->program = argv;
	return CLI_ANSWERED;
}

int verb_exec(struct cli *cli, int argc, char **argv)
{
	struct exec_args args = { .dumps = "warpscope-dumps" };
	struct exec exec = { .cli = cli, .args = &args, .part = exec_own_part() };
	int status = exec_arguments_parse(cli, argc, argv, &args);
	if (status != CLI_ANSWERED)
		return status;
	exec_host(exec.host);
	if (args.software_gpu && !exec_gpu_set(args.arch))
		return STATUS_FAILED;
	if (args.software_gpu && exec_gpu_is_foreign(args.program[0]))
		cli_note(
			"warpscope exec: %s has NVIDIA's runtime inside, which works with NVIDIA's "
			"driver only: link it with -cudart shared\n",
			args.program[0]);
	if (exec_check(&exec) != CLI_ANSWERED)
		return STATUS_FAILED;
	exec.record = exec_record_open(&exec);
	if (!exec.record)
		return STATUS_FAILED;
	set_variables(&exec);
	return supervise(&exec);
}
