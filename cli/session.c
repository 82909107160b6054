/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <string.h>

int session_open(struct cli_session *session, struct cli *cli, const char *path)
{
	memset(session, 0, sizeof *session);
	session->cli = cli;
	session->path = path;
	int status = cli_target_open(cli, path, &session->target);
	if (status != CLI_ANSWERED)
		return status;
	if (ws_threads_init(&session->threads, session->target, cli->focus, NULL) != WS_OK)
		cli_out_of_memory();
	return CLI_ANSWERED;
}

void session_close(struct cli_session *session)
{
	ws_threads_fini(&session->threads);
	cli_target_close(session->cli, session->target);
	memset(session, 0, sizeof *session);
}

bool session_suspect(const struct cli_session *session, struct ws_report_thread *ret_thread)
{
	if (session->cli->focus) /* the user has chosen */
		return false;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	const struct ws_report *report;
	struct ws_error err;
	if (ws_report_create(session->target, &options, &report, &err) != WS_OK) {
		cli_warn("%s: %s", session->path, err.message);
		return false;
	}
	bool found = report->focus && report->focus->suspect.lane != WS_NONE;
	if (found)
		*ret_thread = report->focus->suspect;
	else if (session->threads.have_focus)
		cli_warn("%s: no thread is left that can be guilty; showing cuda-gdb's focus",
			 session->path);
	ws_report_destroy(report);
	return found;
}

void session_limit_to_suspect(const struct cli_session *session, struct ws_filter *filter)
{
	static const enum ws_filter_word words[] = { WS_FILTER_device, WS_FILTER_sm, WS_FILTER_warp,
						     WS_FILTER_lane };
	struct ws_report_thread at = { .lane = WS_NONE };
	bool found = session_suspect(session, &at);
	const uint32_t numbers[] = { at.device, at.sm, at.warp, at.lane };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!found) {
			ws_filter_current(filter, &session->threads.at, words[i]);
			continue;
		}
		filter->word[words[i]].limited[0] = true;
		filter->word[words[i]].number[0] = numbers[i];
	}
}

void session_warn_doubt(const struct cli_session *session, uint32_t n_rows)
{
	if (n_rows)
		cli_warn("%s: the rows marked with ? (%u) hold values that cannot be or that "
			 "contradict other rows, and prove nothing; see: warpscope check %s",
			 session->path, n_rows, session->path);
}
