/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs that lie beside dumps, as evidence: from files that anybody may have written, so they decide
 * only where they are matched by host and process, or by rank. What is not one of the known kinds
 * is passed over.
 */
#include "base/file.h"
#include "triage/internal.h"

enum {
	MAX_SNAPSHOT = 1 << 26, /* of a file about collectives, which is read as a whole */
	STEP = 1 << 24,         /* of a log, which then need not stay in memory */
};

/* ---- lines; each false: memory is out ---- */

static bool take_xid(struct ws_triage *triage, uint32_t log, struct ws_str line)
{
	struct wsi_xid xid;
	return !wsi_log_xid(line, &xid) || wsi_evidence_xid(triage, log, &xid);
}

static bool take_nccl(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_comm_member member;
	return !wsi_log_member(line, &member) || wsi_evidence_member(triage, &member);
}

static bool take_watchdog_line(struct ws_triage *triage, struct ws_str line)
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
	if (take_xid(triage, log, text) && take_nccl(triage, text) &&
	    take_watchdog_line(triage, text) && take_server(triage, text))
		return WS_OK;
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "lines of logs");
}

/* ---- files ---- */

static bool is_elf(struct ws_span bytes)
{
	return bytes.len >= 4 && memcmp(bytes.ptr, "\177ELF", 4) == 0;
}

/* A packed dump is no log: its first bytes are enough. */
static uint64_t needs(const struct wsi_input *source)
{
	struct ws_span so_far = source->mapped;
	return is_elf(so_far) ? so_far.len : UINT64_MAX;
}

static enum ws_status take_lines(struct ws_triage *triage, uint32_t log,
				 const struct wsi_file *file, struct ws_error *err)
{
	const char *at = (const char *)file->bytes.ptr, *end;
	size_t left = file->bytes.len, released = 0;
	enum ws_status st = WS_OK;
	/* a line without an end may go on: it is being written */
	while (st == WS_OK && left > 0 && (end = memchr(at, '\n', left))) {
		st = ws_triage_log(triage, log, at, (size_t)(end - at), err);
		left -= (size_t)(end + 1 - at);
		at = end + 1;
		if (file->bytes.len - left - released > STEP) {
			released = file->bytes.len - left;
			wsi_file_release(file, released);
		}
	}
	return st;
}

static enum ws_status take_file_snapshot(struct ws_triage *triage, const char *path,
					 struct ws_span bytes, struct ws_error *err)
{
	wsi_scoped_free char *copy = wsi_zalloc(bytes.len);
	if (!copy)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", path);
	memcpy(copy, bytes.ptr, bytes.len);
	return ws_triage_snapshot(triage, path, copy, bytes.len, err);
}

static enum ws_status take_log_bytes(struct ws_triage *triage, uint32_t log, const char *path,
				     const struct wsi_file *file, struct ws_error *err)
{
	enum ws_status st = WS_ABSENT;
	if (wsi_triage_is_snapshot(file->bytes) && file->bytes.len <= MAX_SNAPSHOT)
		st = take_file_snapshot(triage, path, file->bytes, err);
	return st == WS_ABSENT ? take_lines(triage, log, file, err) : st;
}

static enum ws_status read_log_file(struct ws_triage *triage, uint32_t log, const char *path,
				    uint64_t max_unpacked_bytes, bool *ret_is_cut,
				    struct ws_error *err)
{
	struct wsi_file_options options = { .max_unpacked_bytes = max_unpacked_bytes,
					    .needs = needs };
	struct wsi_file file;
	enum ws_status st = wsi_file_open_any(path, &options, &file, err);
	if (st != WS_OK)
		return st;
	*ret_is_cut = file.is_cut || file.is_damaged;
	if (is_elf(file.bytes))
		st = wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "an ELF file is no log");
	else
		st = take_log_bytes(triage, log, path, &file, err);
	wsi_file_close(&file);
	return st;
}

enum ws_status ws_triage_read_log(struct ws_triage *triage, uint32_t log, const char *path,
				  uint64_t max_unpacked_bytes, bool *ret_is_cut,
				  struct ws_error *err)
{
	struct ws_triage_result *result = &triage->result;
	struct ws_error own;
	err = err ? err : &own;
	enum ws_status st = read_log_file(triage, log, path, max_unpacked_bytes, ret_is_cut, err);
	if (st == WS_OK || st == WS_ABSENT || st == WS_NO_MEMORY)
		return st;
	if (result->n_unread_logs++ == 0) {
		result->unread_log = wsi_keep_format(triage, "%s", path);
		result->unread_why = wsi_keep_format(triage, "%s", err->message);
		if (!result->unread_log || !result->unread_why)
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", path);
	}
	return st;
}
