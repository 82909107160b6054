/* SPDX-License-Identifier: Apache-2.0 */
/* See host.h. */
#define _GNU_SOURCE
#include "debug/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the machine ---- */

enum { GENERAL_REGISTERS = 1 /* NT_PRSTATUS */ };

#if defined __x86_64__
typedef struct user_regs_struct regs_type;
static const uint8_t trap[] = { 0xcc };
enum { TRAP_MOVES = 1, RED_ZONE = 128, WORD = 8 };
#define PC(regs) ((regs)->rip)

static void prepare_call(regs_type *regs, uint64_t function, uint64_t argument)
{
	regs->rsp = ((regs->rsp - RED_ZONE) & ~UINT64_C(15)) - WORD;
	regs->rdi = argument;
	regs->rax = 0;
	regs->orig_rax = UINT64_MAX; /* no system call is to be begun again */
	regs->rip = function;
}
#define RETURNS_BY_STACK true
#define STACK(regs) ((regs)->rsp)
#elif defined __aarch64__
typedef struct user_regs_struct regs_type;
static const uint8_t trap[] = { 0x00, 0x00, 0x20, 0xd4 };
enum { TRAP_MOVES = 0 };
#define PC(regs) ((regs)->pc)

static void prepare_call(regs_type *regs, uint64_t function, uint64_t argument)
{
	regs->sp &= ~UINT64_C(15);
	regs->regs[0] = argument;
	regs->regs[30] = 0;
	regs->pc = function;
}
#define RETURNS_BY_STACK false
#define STACK(regs) ((regs)->sp)
#else
#error "the program's registers are not known on this machine"
#endif

/* ---- the process ---- */

enum {
	MOST_MARKS = 4,
	IDLE = 32, /* looks */
	OPTIONS =
		PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC
};

struct mark {
	uint64_t place;
	uint8_t was[sizeof trap];
};

struct marks {
	size_t n;
	struct mark item[MOST_MARKS];
};

struct thread_of {
	pid_t tid;
	bool stands;
	bool has_news; /* ... with a status that was not dealt with */
	int status;
	int signal; /* to be delivered when it goes on */
};

struct wsi_host {
	pid_t pid;
	int memory;
	bool ended;
	bool goes;                 /* all threads are to run */
	unsigned n_idle;           /* looks at which nothing had happened */
	struct thread_of *threads; /* owned */
	size_t n, cap;
	struct marks *marks; /* owned; shared with the guard */
	pid_t guard;         /* 0: there is none */
	int guard_end;
};

pid_t wsi_host_pid(const struct wsi_host *host)
{
	return host->pid;
}

uid_t wsi_host_uid(const struct wsi_host *host)
{
	char path[40];
	struct stat about;
	snprintf(path, sizeof path, "/proc/%d", (int)host->pid);
	return stat(path, &about) == 0 ? about.st_uid : geteuid();
}

bool wsi_host_read(const struct wsi_host *host, uint64_t address, void *ret_bytes, size_t n)
{
	return pread(host->memory, ret_bytes, n, (off_t)address) == (ssize_t)n;
}

bool wsi_host_write(const struct wsi_host *host, uint64_t address, const void *bytes, size_t n)
{
	return pwrite(host->memory, bytes, n, (off_t)address) == (ssize_t)n;
}

static bool get_regs(pid_t tid, regs_type *ret)
{
	struct iovec all = { ret, sizeof *ret };
	return ptrace(PTRACE_GETREGSET, tid, (void *)GENERAL_REGISTERS, &all) == 0;
}

static bool set_regs(pid_t tid, const regs_type *regs)
{
	regs_type copy = *regs;
	struct iovec all = { &copy, sizeof copy };
	return ptrace(PTRACE_SETREGSET, tid, (void *)GENERAL_REGISTERS, &all) == 0;
}

/* False: no memory. */
static bool add_thread(struct wsi_host *host, pid_t tid, bool stands)
{
	for (size_t i = 0; i < host->n; i++)
		if (host->threads[i].tid == tid)
			return true;
	if (!wsi_grow(&host->threads, &host->cap, host->n, sizeof *host->threads, SIZE_MAX))
		return false;
	host->threads[host->n++] = (struct thread_of){ .tid = tid, .stands = stands };
	return true;
}

static void remove_thread(struct wsi_host *host, size_t i)
{
	host->threads[i] = host->threads[--host->n];
}

static bool open_memory(struct wsi_host *host)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)host->pid);
	if (host->memory >= 0)
		close(host->memory);
	host->memory = open(path, O_RDWR | O_CLOEXEC);
	return host->memory >= 0;
}

/* ---- waiting ---- */

/*
 * Takes the statuses of threads that have ended, known or not, so that the first one's comes. Of a
 * traced thread waitid() gives a stop even where only ends are asked for: that one is left to who
 * waits for it.
 */
static void threads_reap(const struct wsi_host *host)
{
	char path[40];
	const struct dirent *entry;
	snprintf(path, sizeof path, "/proc/%d/task", (int)host->pid);
	DIR *tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		siginfo_t info = { .si_pid = 0 };
		if (tid <= 0 || tid == host->pid ||
		    waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
			continue;
		if (info.si_pid == tid && info.si_code != CLD_TRAPPED)
			(void)waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
	}
	if (tasks)
		closedir(tasks);
}

/*
 * Waits for a thread that is to come to a stop. It may be the first one of a process that is being
 * killed: that its others have ended must be taken first, and some of them nobody has told of yet.
 */
static bool wait_for_thread(const struct wsi_host *host, pid_t tid, int *ret_status)
{
	enum { QUICK = 200, PAUSE_NS = 200000 };
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	pid_t got;
	for (unsigned i = 0; (got = waitpid(tid, ret_status, __WALL | WNOHANG)) == 0; i++) {
		if (i < QUICK) {
			(void)sched_yield();
			continue;
		}
		if (tid == host->pid)
			threads_reap(host);
		nanosleep(&pause, NULL);
	}
	return got == tid;
}

/* ---- marks ---- */

static struct mark *mark_at(struct wsi_host *host, uint64_t place)
{
	for (size_t i = 0; i < host->marks->n; i++)
		if (host->marks->item[i].place == place)
			return &host->marks->item[i];
	return NULL;
}

bool wsi_host_mark(struct wsi_host *host, uint64_t place)
{
	struct mark mark = { .place = place };
	if (mark_at(host, place))
		return true;
	if (host->marks->n == MOST_MARKS || !wsi_host_read(host, place, mark.was, sizeof trap))
		return false;
	host->marks->item[host->marks->n++] = mark; /* first: the guard is to know of it */
	if (wsi_host_write(host, place, trap, sizeof trap))
		return true;
	host->marks->n--;
	return false;
}

static void take_out(const struct marks *marks, int memory)
{
	for (size_t i = 0; i < marks->n; i++)
		(void)!pwrite(memory, marks->item[i].was, sizeof trap, (off_t)marks->item[i].place);
}

void wsi_host_unmark(struct wsi_host *host, uint64_t place)
{
	struct mark *mark = mark_at(host, place);
	if (!mark)
		return;
	(void)wsi_host_write(host, place, mark->was, sizeof trap);
	*mark = host->marks->item[--host->marks->n];
}

/* A process that takes out the marks when this one is killed: without it they end the program. */
static void start_guard(struct wsi_host *host)
{
	int ends[2];
	char byte;
	if (host->guard > 0 || pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)setsid();
		(void)!read(ends[0], &byte, 1); /* the end of this process */
		take_out(host->marks, host->memory);
		_exit(0);
	}
	close(ends[0]);
	host->guard = pid > 0 ? pid : 0;
	host->guard_end = ends[1];
	if (pid < 0)
		close(ends[1]);
}

/* A child of a fork has a copy of the marks. */
static void let_child_go(struct wsi_host *host, pid_t child, bool is_copy)
{
	struct wsi_host copy = { .pid = child, .memory = -1 };
	int status;
	if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
		return;
	if (is_copy && open_memory(&copy)) {
		take_out(host->marks, copy.memory);
		close(copy.memory);
	}
	(void)ptrace(PTRACE_DETACH, child, NULL, NULL);
}

/* ---- going ---- */

/* Executes what is behind a mark that a thread stands at; all others stand. */
static void step_over(struct wsi_host *host, struct thread_of *thread)
{
	regs_type regs;
	struct mark *mark = get_regs(thread->tid, &regs) ? mark_at(host, PC(&regs)) : NULL;
	int status;
	if (!mark)
		return;
	(void)wsi_host_write(host, mark->place, mark->was, sizeof trap);
	if (ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, (void *)(intptr_t)thread->signal) == 0 &&
	    wait_for_thread(host, thread->tid, &status)) {
		thread->signal = 0;
		bool is_step =
			WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP && status >> 16 == 0;
		thread->has_news = !is_step;
		thread->status = status;
	}
	(void)wsi_host_write(host, mark->place, trap, sizeof trap);
}

static void resume(struct thread_of *thread)
{
	if (!thread->stands)
		return;
	(void)ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(intptr_t)thread->signal);
	thread->stands = false;
	thread->signal = 0;
}

static bool has_news(const struct wsi_host *host)
{
	for (size_t i = 0; i < host->n; i++)
		if (host->threads[i].has_news)
			return true;
	return false;
}

/* Has all threads run, unless there is something to be told first. */
static void advance(struct wsi_host *host)
{
	for (size_t i = 0; i < host->n && host->goes; i++)
		if (host->threads[i].stands && !host->threads[i].has_news)
			step_over(host, &host->threads[i]);
	for (size_t i = 0; i < host->n && host->goes && !has_news(host); i++)
		resume(&host->threads[i]);
}

void wsi_host_go(struct wsi_host *host)
{
	host->goes = true;
	advance(host);
}

/* Waits until a thread that was asked to stands; what else it has come to is kept. */
static bool await_stop(struct wsi_host *host, struct thread_of *thread)
{
	int status;
	if (!wait_for_thread(host, thread->tid, &status))
		return false;
	if (!WIFSTOPPED(status)) {
		host->ended |= thread->tid == host->pid;
		thread->status = status;
		thread->has_news = thread->tid == host->pid;
		return thread->tid == host->pid;
	}
	thread->stands = true;
	thread->has_news = status >> 16 != PTRACE_EVENT_STOP;
	thread->status = status;
	return true;
}

/* Whether a thread was killed where it stands. */
static bool was_killed(const struct thread_of *thread)
{
	siginfo_t info;
	return ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) != 0 && errno == ESRCH;
}

bool wsi_host_halt(struct wsi_host *host)
{
	host->goes = false;
	for (size_t i = 0; i < host->n && !host->ended;) {
		struct thread_of *thread = &host->threads[i];
		thread->stands = thread->stands && !was_killed(thread);
		if (thread->stands ||
		    (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL), await_stop(host, thread)))
			i++;
		else
			remove_thread(host, i);
	}
	return !host->ended;
}

/* ---- what happened ---- */

/* Signals that programs expect, or that are for us as well. */
static bool is_expected(int signal)
{
	static const int unexpected[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS
	};
	for (size_t i = 0; i < sizeof unexpected / sizeof unexpected[0]; i++)
		if (unexpected[i] == signal)
			return false;
	return true;
}

/* What a status of a thread means. The thread stands, or is gone and no longer there. */
static struct wsi_host_news thread_status_take(struct wsi_host *host, size_t i)
{
	struct thread_of *thread = &host->threads[i];
	struct wsi_host_news news = { .tid = thread->tid };
	const int status = thread->status, event = status >> 16;
	unsigned long message = 0;
	regs_type regs;
	thread->has_news = false;
	if (!WIFSTOPPED(status)) {
		if (thread->tid != host->pid) {
			remove_thread(host, i);
			return news;
		}
		host->ended = true;
		news.event = WSI_HOST_ENDED;
		news.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		news.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		return news;
	}
	const int signal = WSTOPSIG(status);
	(void)ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
	if (event == PTRACE_EVENT_CLONE) {
		if (!add_thread(host, (pid_t)message, false))
			let_child_go(host, (pid_t)message, false);
	} else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) {
		let_child_go(host, (pid_t)message, event == PTRACE_EVENT_FORK);
	} else if (event == PTRACE_EVENT_EXEC) {
		host->marks->n = 0;
		host->n = 0;                             /* the others are gone */
		(void)add_thread(host, host->pid, true); /* there is room */
		(void)open_memory(host);
		news.event = WSI_HOST_EXECUTED;
	} else if (event == PTRACE_EVENT_STOP) {
		; /* a new thread, or one that is to wait for the terminal */
	} else if (signal == SIGTRAP && get_regs(thread->tid, &regs) &&
		   mark_at(host, PC(&regs) - TRAP_MOVES)) {
		PC(&regs) -= TRAP_MOVES;
		(void)set_regs(thread->tid, &regs);
		news.event = WSI_HOST_AT_PLACE;
		news.place = PC(&regs);
	} else if (signal != SIGINT) { /* a key that was pressed for the debugger */
		thread->signal = signal;
		news.event = is_expected(signal) ? WSI_HOST_NOTHING : WSI_HOST_SIGNAL;
		news.signal = signal;
	}
	return news;
}

struct wsi_host_news wsi_host_look(struct wsi_host *host)
{
	for (size_t i = host->n; i > 0; i--) {
		struct thread_of *thread = &host->threads[i - 1];
		if (!thread->stands && !thread->has_news) {
			if (waitpid(thread->tid, &thread->status, __WALL | WNOHANG) != thread->tid)
				continue;
			thread->has_news = true;
			thread->stands = WIFSTOPPED(thread->status);
		}
		if (!thread->has_news)
			continue;
		struct wsi_host_news news = thread_status_take(host, i - 1);
		if (news.event != WSI_HOST_NOTHING) {
			(void)wsi_host_halt(host);
			return news;
		}
	}
	if (++host->n_idle % IDLE == 0)
		threads_reap(host);
	advance(host);
	return (struct wsi_host_news){ .event = WSI_HOST_NOTHING };
}

/* ---- a call ---- */

/* Lets one thread run until its function returns, to address 0. */
static bool run_thread_call(struct wsi_host *host, struct thread_of *thread)
{
	regs_type regs;
	int status;
	for (;;) {
		if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0 ||
		    !wait_for_thread(host, thread->tid, &status))
			return false;
		if (!WIFSTOPPED(status)) {
			thread->status = status;
			thread->has_news = true;
			thread->stands = false;
			return false;
		}
		if (status >> 16 == 0 && WSTOPSIG(status) == SIGSEGV &&
		    get_regs(thread->tid, &regs) && PC(&regs) == 0)
			return true;
		if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP && host->n > 0)
			kill(host->pid, WSTOPSIG(status)); /* once more, when it is over */
	}
}

bool wsi_host_call(struct wsi_host *host, uint64_t function, uint64_t argument)
{
	struct thread_of *thread = NULL;
	const uint64_t nowhere = 0;
	regs_type before, regs;
	for (size_t i = 0; i < host->n && !thread; i++)
		if (host->threads[i].tid == host->pid && host->threads[i].stands)
			thread = &host->threads[i];
	if (!thread || !get_regs(thread->tid, &before))
		return false;
	regs = before;
	prepare_call(&regs, function, argument);
	if ((RETURNS_BY_STACK && !wsi_host_write(host, STACK(&regs), &nowhere, sizeof nowhere)) ||
	    !set_regs(thread->tid, &regs))
		return false;
	bool ok = run_thread_call(host, thread);
	return set_regs(thread->tid, &before) && ok;
}

/* ---- beginning and end ---- */

static struct wsi_host *process_host_of(pid_t pid)
{
	struct wsi_host *host = wsi_zalloc(sizeof *host);
	void *marks = mmap(NULL, sizeof *host->marks, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (host && marks != MAP_FAILED) {
		*host = (struct wsi_host){ .pid = pid, .memory = -1, .marks = marks };
		return host;
	}
	if (marks != MAP_FAILED)
		(void)munmap(marks, sizeof *host->marks);
	wsi_free(host);
	errno = ENOMEM;
	return NULL;
}

static void host_free(struct wsi_host *host)
{
	if (host->guard > 0) {
		host->marks->n = 0;
		close(host->guard_end);
		(void)waitpid(host->guard, NULL, 0);
	}
	(void)munmap(host->marks, sizeof *host->marks);
	if (host->memory >= 0)
		close(host->memory);
	wsi_free(host->threads);
	wsi_free(host);
}

struct wsi_host *wsi_host_start(char *const argv[])
{
	int gate[2], why[2], reason = 0, status;
	char byte;
	if (pipe2(gate, O_CLOEXEC) != 0)
		return NULL;
	if (pipe2(why, O_CLOEXEC) != 0) {
		close(gate[0]);
		close(gate[1]);
		return NULL;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(gate[1]);
		(void)!read(gate[0], &byte, 1); /* until it is traced */
		signal(SIGINT, SIG_DFL);
		execvp(argv[0], argv);
		reason = errno;
		(void)!write(why[1], &reason, sizeof reason);
		_exit(127);
	}
	close(gate[0]);
	close(why[1]);
	struct wsi_host *host = pid > 0 ? process_host_of(pid) : NULL;
	bool ok = host && ptrace(PTRACE_SEIZE, pid, NULL,
				 (void *)(uintptr_t)(OPTIONS | PTRACE_O_EXITKILL)) == 0;
	reason = ok ? 0 : errno;
	close(gate[1]);
	if (ok && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) &&
	    status >> 16 == PTRACE_EVENT_EXEC && open_memory(host) && add_thread(host, pid, true)) {
		close(why[0]);
		return host;
	}
	if (read(why[0], &reason, sizeof reason) != sizeof reason && reason == 0)
		reason = ESRCH;
	close(why[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		(void)waitpid(pid, &status, __WALL);
	}
	if (host)
		host_free(host);
	errno = reason;
	return NULL;
}

/* Takes all threads, until there is none that was not taken. */
static bool seize_all(struct wsi_host *host)
{
	char path[40];
	size_t before;
	bool has_memory = true;
	int first_errno = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)host->pid);
	do {
		DIR *tasks = opendir(path);
		const struct dirent *entry;
		before = host->n;
		while (tasks && (entry = readdir(tasks))) {
			pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
			bool is_known = tid <= 0;
			for (size_t i = 0; i < host->n && !is_known; i++)
				is_known = host->threads[i].tid == tid;
			if (is_known)
				continue;
			if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)OPTIONS) != 0)
				first_errno = first_errno ? first_errno : errno;
			else if (!add_thread(host, tid, false)) {
				(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
				let_child_go(host, tid, false);
				has_memory = false;
			}
		}
		if (tasks)
			closedir(tasks);
	} while (host->n > before && has_memory);
	errno = !has_memory ? ENOMEM : first_errno ? first_errno : ESRCH;
	return host->n > 0 && has_memory;
}

/* What had happened by the time that all stood is dealt with, and nobody is told. */
static void settle_threads(struct wsi_host *host)
{
	while (has_news(host))
		for (size_t i = host->n; i > 0; i--)
			if (i <= host->n && host->threads[i - 1].has_news)
				(void)thread_status_take(host, i - 1);
}

struct wsi_host *wsi_host_attach(pid_t pid)
{
	struct wsi_host *host = process_host_of(pid);
	bool ok = host && seize_all(host) && open_memory(host) && wsi_host_halt(host);
	if (ok) /* it may have been about to become another program */
		settle_threads(host);
	if (ok && !host->ended) {
		start_guard(host);
		return host;
	}
	int reason = ok ? ESRCH : errno;
	if (host)
		wsi_host_leave(host, false);
	errno = reason;
	return NULL;
}

void wsi_host_keep(struct wsi_host *host)
{
	for (size_t i = 0; i < host->n; i++)
		(void)ptrace(PTRACE_SETOPTIONS, host->threads[i].tid, NULL,
			     (void *)(uintptr_t)OPTIONS);
	start_guard(host);
}

void wsi_host_leave(struct wsi_host *host, bool kills)
{
	int status;
	if (kills && !host->ended) {
		kill(host->pid, SIGKILL);
		for (size_t i = host->n; i > 0;
		     i--) /* the first one is not gone before the others */
			while (wait_for_thread(host, host->threads[i - 1].tid, &status) &&
			       WIFSTOPPED(status))
				continue;
	} else if (wsi_host_halt(host)) {
		settle_threads(host); /* one that is at a mark goes on before it */
		while (host->marks->n > 0)
			wsi_host_unmark(host, host->marks->item[0].place);
		for (size_t i = 0; i < host->n; i++)
			(void)ptrace(PTRACE_DETACH, host->threads[i].tid, NULL,
				     (void *)(intptr_t)host->threads[i].signal);
	}
	host_free(host);
}
