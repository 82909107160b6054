/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that a debugger starts, by ptrace: as little of it as a debugger of its GPU needs. Only
 * its first thread is traced, and only one breakpoint is set at a time.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MARK_BYTES = 4 };

struct process {
	pid_t pid;
	int memory;    /* /proc/PID/mem */
	uint64_t mark; /* where the breakpoint is; 0: there is none */
	uint8_t was[MARK_BYTES];
	int signal; /* to be delivered when it goes on */
	int status; /* as of waitpid(), when it has ended */
	bool stands, has_ended;
};

enum process_news {
	PROCESS_RUNS,    /* nothing is new */
	PROCESS_BEGINS,  /* it stands at the first instruction of a new program */
	PROCESS_AT_MARK, /* it stands at the breakpoint, which is gone */
	PROCESS_ENDED,
};

/* It stands before its first instruction. False: there is no such program, and that is told. */
bool process_start(struct process *p, char *const argv[]);
/* What happened to it since the last call; `waits`: until something did. It goes on by itself
 * after what is not news. */
enum process_news process_look(struct process *p, bool waits);
void process_go(struct process *p);
/* False: it has ended. */
bool process_stop(struct process *p);
/* While it stands. */
bool process_mark(struct process *p, uint64_t place);
/* At the first instruction of a function that does nothing: it returns. */
void process_return(struct process *p);
/* Calls a function of it that takes nothing, and waits for its end. */
bool process_call(struct process *p, uint64_t function);
/* It goes on alone. */
void process_leave(struct process *p);

bool process_read(const struct process *p, uint64_t address, void *ret_bytes, size_t n);
bool process_write(const struct process *p, uint64_t address, const void *bytes, size_t n);
/* The path of a file that is mapped in it, by a part of its name. */
bool process_file(const struct process *p, const char *part, char *ret_path, size_t n);
/* Where it has what this process has at `here`, in a file that both have mapped; 0: it has not. */
uint64_t process_place(const struct process *p, const void *here);

#endif
