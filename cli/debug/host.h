/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process under ptrace, as far as a debugger of its GPU needs it: it runs or stands with all its
 * threads, comes to a few places, and calls a function for us. All of it by one thread.
 */
#ifndef WARPSCOPE_DEBUG_HOST_H
#define WARPSCOPE_DEBUG_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct debug_host;

enum debug_host_event {
	HOST_NOTHING,
	HOST_AT_PLACE, /* a thread came to a place that was marked */
	HOST_SIGNAL,   /* a thread has got a signal that it does not expect */
	HOST_EXECUTED, /* it is another program now; marks are gone */
	HOST_ENDED,
};

struct debug_host_news {
	enum debug_host_event event;
	pid_t tid;
	uint64_t place;
	int signal; /* that is delivered when it goes on, or has ended it; 0: it exited */
	int status; /* of its end */
};

/* A program that stands before its first instruction; it dies with this process until
 * debug_host_keep(). NULL: errno says why. */
struct debug_host *debug_host_start(char *const argv[]);
/* A process that stands. NULL: errno says why. */
struct debug_host *debug_host_attach(pid_t pid);
/* It lives on when this process ends. */
void debug_host_keep(struct debug_host *host);
/* Lets it go, or kills it; frees `host`. */
void debug_host_leave(struct debug_host *host, bool kills);
pid_t debug_host_pid(const struct debug_host *host);
/* Whose it is. */
uid_t debug_host_uid(const struct debug_host *host);

/* All threads run on, once all that happened is told. */
void debug_host_go(struct debug_host *host);
/* What happened; all threads stand again unless it is HOST_NOTHING. */
struct debug_host_news debug_host_look(struct debug_host *host);
/* All threads stand. False: it has ended. */
bool debug_host_halt(struct debug_host *host);

/* While it stands. */
bool debug_host_mark(struct debug_host *host, uint64_t place);
void debug_host_unmark(struct debug_host *host, uint64_t place);
bool debug_host_read(const struct debug_host *host, uint64_t address, void *ret_bytes, size_t n);
bool debug_host_write(const struct debug_host *host, uint64_t address, const void *bytes, size_t n);
/* Has a thread call a function with a number, while all others stand. */
bool debug_host_call(struct debug_host *host, uint64_t function, uint64_t argument);

/* ---- host_symbol.c ---- */

/* Address of a symbol of a mapped library whose file's name begins so, such as "libcuda.so";
 * 0: there is none. */
uint64_t debug_host_symbol(const struct debug_host *host, const char *library, const char *name);
/* The same of the program that loads libraries into it. */
uint64_t debug_host_loader_symbol(const struct debug_host *host, const char *name);

#endif
