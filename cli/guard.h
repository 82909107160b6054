/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPSCOPE_GUARD_H
#define WARPSCOPE_GUARD_H

#include <sys/types.h>

/* Gives up what the program does not need, before it reads anything: what `argv` names is what the
 * user wants read and written. Once. */
void guard_enter(const char *verb, int argc, char **argv);
struct wsi_sandbox_terms;
/* The same later, for a verb whose processes enter it one by one. */
void guard_enter_late(const struct wsi_sandbox_terms *terms);
/* The caller, a process that `parent` started, is to end with it, whatever ends that one. */
void guard_end_with(pid_t parent);
/* A line for --version: what is active on this machine. */
const char *guard_words(void);

#endif
