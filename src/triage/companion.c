/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of logs that lie beside dumps, as evidence: from files that anybody may have written, so
 * they decide only where they are matched by host and process, or by rank. What is not one of the
 * known kinds is passed over.
 */
#include "triage/internal.h"

/* Each false: memory is out. */

static bool take_xid(struct ws_triage *triage, uint32_t log, struct ws_str line)
{
	struct wsi_xid xid;
	return !wsi_log_xid(line, &xid) || wsi_evidence_xid(triage, log, &xid);
}

static bool take_nccl(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_member member;
	return !wsi_log_member(line, &member) || wsi_evidence_member(triage, &member);
}

static bool take_watchdog(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_watchdog told;
	size_t all;
	if (!wsi_log_watchdog(line, &told))
		return true;
	struct wsi_count count = { .teller = WSI_WATCHDOG,
				   .rank = told.rank,
				   .enqueued = told.enqueued,
				   .completed = told.completed };
	return wsi_evidence_group(triage, ws_str_of(""), NULL, 0, &all) &&
	       wsi_evidence_count(triage, all, &count);
}

static bool take_server(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_server_worker worker;
	if (wsi_log_worker(line, &worker) && !wsi_evidence_worker(triage, &worker))
		return false;
	return !wsi_log_failure(line, &worker) || wsi_evidence_worker(triage, &worker);
}

enum ws_status ws_triage_log(struct ws_triage *triage, uint32_t log, const char *line, size_t len,
			     struct ws_error *err)
{
	struct ws_str text = { line, wsi_min_u64(len, WSI_LOG_LINE) };
	if (take_xid(triage, log, text) && take_nccl(triage, text) && take_watchdog(triage, text) &&
	    take_server(triage, text))
		return WS_OK;
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "lines of logs");
}
