/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process under ptrace, as far as a debugger of its GPU needs it: it runs or stands with all its
 * threads, comes to a few places, and calls a function for us. All of it by one thread.
 */
#ifndef WSI_DEBUG_HOST_H
#define WSI_DEBUG_HOST_H

#include <sys/types.h>

#include "base/base.h"

struct wsi_host;

enum wsi_host_event {
	WSI_HOST_NOTHING,
	WSI_HOST_AT_PLACE, /* a thread came to a place that was marked */
	WSI_HOST_SIGNAL,   /* a thread has got a signal that it does not expect */
	WSI_HOST_EXECUTED, /* it is another program now; marks are gone */
	WSI_HOST_ENDED,
};

struct wsi_host_news {
	enum wsi_host_event event;
	pid_t tid;
	uint64_t place;
	int signal; /* that is delivered when it goes on, or has ended it; 0: it exited */
	int status; /* of its end */
};

/* A program that stands before its first instruction; it dies with this process until
 * wsi_host_keep(). NULL: errno says why. */
struct wsi_host *wsi_host_start(char *const argv[]);
/* A process that stands. NULL: errno says why. */
struct wsi_host *wsi_host_attach(pid_t pid);
/* It lives on when this process ends. */
void wsi_host_keep(struct wsi_host *host);
/* Lets it go, or kills it; frees `host`. */
void wsi_host_leave(struct wsi_host *host, bool kills);
pid_t wsi_host_pid(const struct wsi_host *host);
/* Whose it is. */
uid_t wsi_host_uid(const struct wsi_host *host);

/* All threads run on, once all that happened is told. */
void wsi_host_go(struct wsi_host *host);
/* What happened; all threads stand again unless it is WSI_HOST_NOTHING. */
struct wsi_host_news wsi_host_look(struct wsi_host *host);
/* All threads stand. False: it has ended. */
bool wsi_host_halt(struct wsi_host *host);

/* While it stands. */
bool wsi_host_mark(struct wsi_host *host, uint64_t place);
void wsi_host_unmark(struct wsi_host *host, uint64_t place);
bool wsi_host_read(const struct wsi_host *host, uint64_t address, void *ret_bytes, size_t n);
bool wsi_host_write(const struct wsi_host *host, uint64_t address, const void *bytes, size_t n);
/* Has a thread call a function with a number, while all others stand. */
bool wsi_host_call(struct wsi_host *host, uint64_t function, uint64_t argument);

/* ---- host_symbol.c ---- */

/* Address of a symbol of a mapped library whose file's name begins so, such as "libcuda.so";
 * 0: there is none. */
uint64_t wsi_host_symbol(const struct wsi_host *host, const char *library, const char *name);
/* Address of a symbol of the dynamic loader; 0: there is none. */
uint64_t wsi_host_loader_symbol(const struct wsi_host *host, const char *name);

#endif
