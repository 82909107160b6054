/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPSCOPE_GUARD_H
#define WARPSCOPE_GUARD_H

/* Gives up what the program does not need, before it reads anything: what `argv` names is what the
 * user wants read and written. Once. */
void guard_enter(const char *verb, int argc, char **argv);
struct wsi_sandbox_terms;
/* The same later, for a verb whose processes enter it one by one. */
void guard_enter_late(const struct wsi_sandbox_terms *terms);
/* A line for --version: what is active on this machine. */
const char *guard_words(void);

#endif
