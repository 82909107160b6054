/* SPDX-License-Identifier: Apache-2.0 */
/* An open target with its threads, as the verbs that show its state look at it. */
#ifndef WARPSCOPE_CLI_SESSION_H
#define WARPSCOPE_CLI_SESSION_H

#include <warpscope/report.h>
#include <warpscope/threads.h>

#include "cli.h"

struct cli_session {
	struct cli *cli;          /* borrowed */
	const char *path;         /* borrowed */
	struct ws_target *target; /* owned */
	struct ws_threads threads;
};

/* Opens what the command line names, as cli_target_open(). An exit status; CLI_ANSWERED is success.
 */
int session_open(struct cli_session *session, struct cli *cli, const char *path);
void session_close(struct cli_session *session);

/*
 * The thread that the report speaks of: one that can be guilty of the fault, else the thread to
 * look at; not cuda-gdb's focus, which may be innocent. False when no such thread is left; that is
 * told where there is a focus.
 */
bool session_suspect(const struct cli_session *session, struct ws_report_thread *ret_thread);

/* Says that a table has marked rows, if it has. */
void session_warn_doubt(const struct cli_session *session, uint32_t n_rows);

/* Limits a filter to that thread; without one to the focus. */
void session_limit_to_suspect(const struct cli_session *session, struct ws_filter *filter);
#endif
