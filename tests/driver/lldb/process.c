/* SPDX-License-Identifier: Apache-2.0 */
/* See 30-process.h. */
#define _GNU_SOURCE /* dladdr */
#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the machine ---- */

#if defined __x86_64__
static const uint8_t trap[] = { 0xcc };
enum { TRAP_MOVES = 1 };
#define PC(regs) ((regs)->rip)

static void begin_call(const struct process *p, struct user_regs_struct *regs, uint64_t function)
{
	const uint64_t nowhere = 0;
	regs->rsp = ((regs->rsp - 128) & ~UINT64_C(15)) - sizeof nowhere; /* below the red zone */
	regs->orig_rax = UINT64_MAX; /* no system call is to be begun again */
	regs->rip = function;
	(void)process_write(p, regs->rsp, &nowhere, sizeof nowhere);
}

static void end_call(const struct process *p, struct user_regs_struct *regs)
{
	uint64_t to = 0;
	(void)process_read(p, regs->rsp, &to, sizeof to);
	regs->rsp += sizeof to;
	regs->rip = to;
}
#elif defined __aarch64__
static const uint8_t trap[] = { 0x00, 0x00, 0x20, 0xd4 };
enum { TRAP_MOVES = 0 };
#define PC(regs) ((regs)->pc)

static void begin_call(const struct process *p, struct user_regs_struct *regs, uint64_t function)
{
	(void)p;
	regs->sp &= ~UINT64_C(15);
	regs->regs[30] = 0;
	regs->pc = function;
}

static void end_call(const struct process *p, struct user_regs_struct *regs)
{
	(void)p;
	regs->pc = regs->regs[30];
}
#else
#error "the registers of this machine are not known"
#endif

static bool registers(const struct process *p, bool writes, struct user_regs_struct *regs)
{
	struct iovec all = { regs, sizeof *regs };
	return ptrace(writes ? PTRACE_SETREGSET : PTRACE_GETREGSET, p->pid,
		      (void *)1 /* NT_PRSTATUS */, &all) == 0;
}

/* ---- its memory ---- */

bool process_read(const struct process *p, uint64_t address, void *ret_bytes, size_t n)
{
	return pread(p->memory, ret_bytes, n, (off_t)address) == (ssize_t)n;
}

bool process_write(const struct process *p, uint64_t address, const void *bytes, size_t n)
{
	return pwrite(p->memory, bytes, n, (off_t)address) == (ssize_t)n;
}

/* The next file that is mapped from its beginning on: where, and its path. */
static bool next_file(FILE *maps, uint64_t *ret_start, char path[PATH_MAX])
{
	char line[PATH_MAX + 200];
	uint64_t offset;
	while (maps && fgets(line, sizeof line, maps)) {
		int n = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", ret_start, &offset,
			   &n) == 2 &&
		    n > 0 && offset == 0 && line[n] == '/') {
			snprintf(path, PATH_MAX, "%s", line + n);
			return true;
		}
	}
	return false;
}

/* The first such file whose path ends with `path`, or has `part` in it; its start, or 0. */
static uint64_t find_file(const struct process *p, const char *path, const char *part,
			  char ret_path[PATH_MAX])
{
	char name[40];
	uint64_t start, found = 0;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)p->pid);
	FILE *maps = fopen(name, "re");
	while (!found && next_file(maps, &start, ret_path))
		if (path ? !strcmp(ret_path, path) : strstr(ret_path, part) != NULL)
			found = start;
	if (maps)
		fclose(maps);
	return found;
}

bool process_file(const struct process *p, const char *part, char *ret_path, size_t n)
{
	char path[PATH_MAX];
	return find_file(p, NULL, part, path) && snprintf(ret_path, n, "%s", path) < (int)n;
}

uint64_t process_place(const struct process *p, const void *here)
{
	char path[PATH_MAX], found[PATH_MAX];
	Dl_info of;
	if (!here || !dladdr(here, &of) || !realpath(of.dli_fname, path))
		return 0;
	uint64_t start = find_file(p, path, NULL, found);
	return start ? start + ((uintptr_t)here - (uintptr_t)of.dli_fbase) : 0;
}

/* ---- the breakpoint, and calls ---- */

bool process_mark(struct process *p, uint64_t place)
{
	if (!process_read(p, place, p->was, sizeof trap) ||
	    !process_write(p, place, trap, sizeof trap))
		return false;
	p->mark = place;
	return true;
}

static bool is_at_mark(struct process *p)
{
	struct user_regs_struct regs;
	if (!p->mark || !registers(p, false, &regs) || PC(&regs) - TRAP_MOVES != p->mark)
		return false;
	PC(&regs) = p->mark;
	(void)process_write(p, p->mark, p->was, sizeof trap);
	p->mark = 0;
	return registers(p, true, &regs);
}

void process_return(struct process *p)
{
	struct user_regs_struct regs;
	if (!registers(p, false, &regs))
		return;
	end_call(p, &regs);
	(void)registers(p, true, &regs);
}

bool process_call(struct process *p, uint64_t function)
{
	struct user_regs_struct before, regs;
	int status;
	if (!function || !registers(p, false, &before))
		return false;
	regs = before;
	begin_call(p, &regs, function);
	if (!registers(p, true, &regs))
		return false;
	do { /* it returns to address 0; signals that come meanwhile are lost, in this example */
		if (ptrace(PTRACE_CONT, p->pid, NULL, NULL) != 0 ||
		    waitpid(p->pid, &status, __WALL) != p->pid || !WIFSTOPPED(status))
			return false;
	} while (WSTOPSIG(status) != SIGSEGV || !registers(p, false, &regs) || PC(&regs) != 0);
	return registers(p, true, &before);
}

/* ---- going, standing ---- */

static bool open_memory(struct process *p)
{
	char name[40];
	snprintf(name, sizeof name, "/proc/%d/mem", (int)p->pid);
	if (p->memory >= 0)
		close(p->memory);
	p->memory = open(name, O_RDWR | O_CLOEXEC);
	return p->memory >= 0;
}

bool process_start(struct process *p, char *const argv[])
{
	int gate[2];
	char byte;
	*p = (struct process){ .memory = -1 };
	if (pipe2(gate, O_CLOEXEC) != 0)
		return false;
	p->pid = fork();
	if (p->pid == 0) {
		close(gate[1]);
		(void)!read(gate[0], &byte, 1); /* until it is traced */
		execvp(argv[0], argv);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	close(gate[0]);
	bool ok = p->pid > 0 &&
		  ptrace(PTRACE_SEIZE, p->pid, NULL,
			 (void *)(uintptr_t)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) == 0;
	close(gate[1]);
	return ok && process_look(p, true) == PROCESS_BEGINS;
}

void process_go(struct process *p)
{
	if (!p->stands || p->has_ended)
		return;
	(void)ptrace(PTRACE_CONT, p->pid, NULL, (void *)(intptr_t)p->signal);
	p->stands = false;
	p->signal = 0;
}

/* What a status of it means. */
static enum process_news take(struct process *p, int status)
{
	p->stands = WIFSTOPPED(status);
	if (!p->stands) {
		p->has_ended = true;
		p->status = status;
		return PROCESS_ENDED;
	}
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		p->mark = 0;
		return open_memory(p) ? PROCESS_BEGINS : PROCESS_RUNS;
	}
	if (status >> 16 != 0) /* it was asked to stand */
		return PROCESS_RUNS;
	if (WSTOPSIG(status) == SIGTRAP && is_at_mark(p))
		return PROCESS_AT_MARK;
	p->signal = WSTOPSIG(status);
	return PROCESS_RUNS;
}

enum process_news process_look(struct process *p, bool waits)
{
	int status;
	while (!p->has_ended &&
	       waitpid(p->pid, &status, __WALL | (waits ? 0 : WNOHANG)) == p->pid) {
		enum process_news news = take(p, status);
		if (news != PROCESS_RUNS)
			return news;
		process_go(p);
	}
	return p->has_ended ? PROCESS_ENDED : PROCESS_RUNS;
}

bool process_stop(struct process *p)
{
	int status;
	if (p->stands || p->has_ended)
		return p->stands;
	if (ptrace(PTRACE_INTERRUPT, p->pid, NULL, NULL) == 0 &&
	    waitpid(p->pid, &status, __WALL) == p->pid)
		(void)take(p, status);
	return p->stands;
}

void process_leave(struct process *p)
{
	if (process_stop(p))
		(void)ptrace(PTRACE_DETACH, p->pid, NULL, (void *)(intptr_t)p->signal);
	if (p->memory >= 0)
		close(p->memory);
	p->memory = -1;
}
