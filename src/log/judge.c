/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came first. Lines of one file are in the order of time. Of lines in two files the times
 * decide if both have one; else what they are does: a fault is no consequence of a time-out that
 * nobody saw come earlier.
 */
#include "log/internal.h"

#include <warpscope/exception.h>

const char *ws_log_verdict_word(enum ws_log_verdict verdict)
{
	static const char *const words[] = {
		[WS_LOG_NOTHING] = "none",
		[WS_LOG_FAILED] = "fault",
		[WS_LOG_HANGS] = "hang",
		[WS_LOG_CANNOT_TELL] = "unknown",
	};
	return (size_t)verdict < WSI_COUNT(words) ? words[verdict] : "?";
}

const char *ws_log_kind_word(enum ws_log_kind kind)
{
	static const char *const words[] = {
#define X(name, word) [WS_LOG_##name] = word,
		WS_LOG_KIND_LIST(X)
#undef X
	};
	return (size_t)kind < WSI_COUNT(words) ? words[kind] : "?";
}

const char *ws_log_role_word(enum ws_log_role role)
{
	static const char *const words[] = {
#define X(name, word) [WS_LOG_ROLE_##name] = word,
		WS_LOG_ROLE_LIST(X)
#undef X
	};
	return (size_t)role < WSI_COUNT(words) ? words[role] : "?";
}

/* ---- order ---- */

static bool has_times(const struct wsi_told_row *a, const struct wsi_told_row *b)
{
	return a->stamp.wall_ns != WSI_NO_NUMBER && b->stamp.wall_ns != WSI_NO_NUMBER;
}

/* Below 0: the first line of `a` came before that of `b`; 0: nobody knows. */
static int log_row_order(const struct wsi_told_row *a, const struct wsi_told_row *b)
{
	if (a->file == b->file)
		return WSI_ORDER(a->off, b->off);
	return has_times(a, b) ? WSI_ORDER(a->stamp.wall_ns, b->stamp.wall_ns) : 0;
}

/* How much a line tells, the most first: where the order of two faults is not known. */
static int weight(const struct wsi_told_row *row)
{
	static const enum ws_log_kind kinds[] = { WS_LOG_XID,    WS_LOG_SXID,      WS_LOG_SANITIZER,
						  WS_LOG_ASSERT, WS_LOG_EXCEPTION, WS_LOG_AMD,
						  WS_LOG_CUDA,   WS_LOG_NCCL,      WS_LOG_LIBRARY };
	int i = 0;
	while ((size_t)i < WSI_COUNT(kinds) && kinds[i] != row->kind)
		i++;
	return i;
}

/* The first row of roles from `first` to `last`; NULL: none. */
static const struct wsi_told_row *first_of(const struct ws_log *log, enum ws_log_role first,
					   enum ws_log_role last)
{
	const struct wsi_told_row *best = NULL;
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct wsi_told_row *one = &log->row[i];
		if (one->topic->role < first || one->topic->role > last)
			continue;
		const int before = best ? log_row_order(one, best) : -1;
		if (before < 0 || (before == 0 && weight(one) < weight(best)))
			best = one;
	}
	return best;
}

/* The row that the others follow from, as far as can be told. */
static const struct wsi_told_row *log_root_of(const struct ws_log *log)
{
	const struct wsi_told_row *fault = first_of(log, WS_LOG_ROLE_FAULT, WS_LOG_ROLE_HARDWARE);
	const struct wsi_told_row *call = first_of(log, WS_LOG_ROLE_CALL, WS_LOG_ROLE_UNKNOWN);
	const struct wsi_told_row *wait = first_of(log, WS_LOG_ROLE_WAIT, WS_LOG_ROLE_WAIT);
	if (fault && wait && log_row_order(wait, fault) < 0)
		return wait;
	if (fault)
		return fault;
	if (call && wait && log_row_order(wait, call) < 0)
		return wait;
	if (call || wait)
		return call ? call : wait;
	return first_of(log, WS_LOG_ROLE_AFTER, WS_LOG_ROLE_AFTER);
}

/* ---- in words ---- */

static const char *what_row_tells(struct ws_log *log, const struct wsi_told_row *row)
{
	const struct wsi_log_topic *topic = row->topic;
	const struct ws_exception *exception = ws_exception_find(row->code);
	switch (row->kind) {
	case WS_LOG_XID:
		return wsi_log_format(log, "Xid %u: %s", (unsigned)row->code, topic->title);
	case WS_LOG_CUDA:
		return row->code ? wsi_log_format(log, "CUDA error %u: %s", (unsigned)row->code,
						  topic->title)
				 : wsi_log_format(log, "another CUDA error: %s", topic->title);
	case WS_LOG_EXCEPTION:
		return wsi_log_format(log, "%s (%s)", exception ? exception->label : "?",
				      topic->title);
	case WS_LOG_SXID:
	case WS_LOG_LIBRARY:
	case WS_LOG_ASSERT:
	case WS_LOG_SANITIZER:
	case WS_LOG_WATCHDOG:
	case WS_LOG_NCCL:
	case WS_LOG_DUMP:
	case WS_LOG_AMD:
		break;
	}
	return topic->title;
}

/* "Out Of Range Address; on 4 SMs, first GPC 1, TPC 3, SM 0" */
static const char *sm_detail(struct ws_log *log)
{
	char text[WSI_LOG_DETAIL] = "";
	const struct wsi_few *at = &log->sms.at;
	const struct wsi_sm_error *error;
	size_t len = 0;
	for (size_t i = 0; (error = wsi_sm_error_at(i)); i++)
		if (log->sms.words & 1u << i)
			len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
						len ? ", " : "", error->words);
	if (!at->n)
		return len ? wsi_log_format(log, "%s", text) : NULL;
	char many[40] = "";
	if (at->n > 1)
		snprintf(many, sizeof many, "%s%u SMs, first ", at->more ? "more than " : "",
			 (unsigned)at->n);
	return wsi_log_format(log, "%s%son %sGPC %u, TPC %u, SM %u", text, len ? "; " : "", many,
			      (unsigned)(at->number[0] >> 16 & 0xff),
			      (unsigned)(at->number[0] >> 8 & 0xff),
			      (unsigned)(at->number[0] & 0xff));
}

/* What Xid 13 means, with what the SMs met. */
static const char *sm_means(struct ws_log *log, const char *means)
{
	const struct wsi_sm_error *error;
	for (size_t i = 0; (error = wsi_sm_error_at(i)) && means; i++)
		if (log->sms.words & 1u << i)
			means = wsi_log_format(log, "%s. \"%s\": %s", means, error->words,
					       error->means);
	return means;
}

static const char *ranks_of(struct ws_log *log, const struct wsi_told_row *row)
{
	const char *text =
		wsi_ranks_text(&log->arena, row->ranks.number, row->ranks.n, row->ranks.more);
	log->no_memory |= !text;
	return text ? wsi_log_format(log, "rank%s %s", row->ranks.n == 1 ? "" : "s", text) : "";
}

static const char *who_of(struct ws_log *log, const struct wsi_told_row *row)
{
	if (!row->n_gpus)
		return row->ranks.n ? ranks_of(log, row) : "";
	const char *text = row->gpu[0];
	for (uint32_t i = 1; i < row->n_gpus && text; i++)
		text = wsi_log_format(log, "%s; %s", text, row->gpu[i]);
	return text && row->more_gpus ? wsi_log_format(log, "%s; and others", text) : text;
}

static void show_log_row(struct ws_log *log, const struct wsi_told_row *row,
			 struct ws_log_row *ret_row)
{
	const struct ws_exception *exception = ws_exception_find(row->code);
	*ret_row = (struct ws_log_row){
		.kind = row->kind,
		.role = row->topic->role,
		.code = row->code,
		.what = what_row_tells(log, row),
		.detail = *row->detail ? row->detail : NULL,
		.count = row->count,
		.file = log->file[row->file],
		.line = row->line,
		.time = *row->stamp.text ? row->stamp.text : NULL,
		.who = who_of(log, row),
		.means = row->topic->means,
		.cannot = row->topic->cannot,
	};
	if (row->kind == WS_LOG_XID && row->code == 13) {
		ret_row->detail = sm_detail(log);
		ret_row->means = sm_means(log, ret_row->means);
	}
	if (row->kind == WS_LOG_EXCEPTION && exception)
		ret_row->means = wsi_log_format(log, "%s Usual causes: %s", exception->meaning,
						exception->causes);
}

/* ---- what it rests on ---- */

/* "3": ranks that no time-out names, up to the highest that is named. */
static const char *missing_ranks(struct ws_log *log, const struct wsi_told_row *row)
{
	uint64_t missing[WSI_FEW], highest = 0;
	size_t n = 0;
	for (uint32_t i = 0; i < row->ranks.n; i++)
		highest = wsi_max_u64(highest, row->ranks.number[i]);
	for (uint64_t rank = 0; rank < highest && n < WSI_FEW && !row->ranks.more; rank++) {
		bool found = false;
		for (uint32_t i = 0; i < row->ranks.n && !found; i++)
			found = row->ranks.number[i] == rank;
		if (!found)
			missing[n++] = rank;
	}
	return n && n < WSI_FEW ? wsi_ranks_text(&log->arena, missing, n, false) : NULL;
}

enum { MOST_DOUBTS = 4 };

static void log_doubt(struct ws_log *log, const char *text)
{
	struct ws_log_result *result = &log->result;
	const char **doubts = (const char **)(uintptr_t)result->doubts;
	if (doubts && text && result->n_doubts < MOST_DOUBTS)
		doubts[result->n_doubts++] = text;
}

static void doubts_of(struct ws_log *log, const struct wsi_told_row *root)
{
	bool by_time = false, unknown = false;
	log->result.doubts = wsi_arena_zalloc_array(&log->arena, MOST_DOUBTS, sizeof(char *));
	log->no_memory |= !log->result.doubts;
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct wsi_told_row *one = &log->row[i];
		if (one->file == root->file || one->topic->role > WS_LOG_ROLE_WAIT)
			continue;
		by_time |= has_times(one, root);
		unknown |= !has_times(one, root);
	}
	if (by_time)
		log_doubt(log,
			  "Lines of different files were ordered by the times in them: that is "
			  "wrong if clocks or time zones differ");
	if (unknown)
		log_doubt(log,
			  "Of some lines in different files the order is not known, as they have "
			  "no times that can be compared: the one that tells most was taken as "
			  "the first");
	const char *missing =
		root->kind == WS_LOG_WATCHDOG && !root->code ? missing_ranks(log, root) : NULL;
	if (missing)
		log_doubt(log,
			  wsi_log_format(log,
					 "No time-out is reported by rank %s: who did not arrive "
					 "may be there, or its log is not here",
					 missing));
}

/* ---- the result ---- */

static const char *sentence_of(struct ws_log *log, const struct ws_log_row *row,
			       const struct wsi_told_row *root)
{
	char who[WSI_LOG_GPU_BYTES + 8] = "";
	if (root->n_gpus)
		snprintf(who, sizeof who, ", %s", root->gpu[0]);
	else if (root->rank != WSI_NO_NUMBER)
		snprintf(who, sizeof who, ", rank %" PRIu64, root->rank);
	return wsi_log_format(log, "%s%s%s%s%s, at %.800s:%" PRIu64, row->what,
			      row->detail ? " (" : "", row->detail ? row->detail : "",
			      row->detail ? ")" : "", who, row->file, row->line);
}

static int shown_order(const void *left, const void *right)
{
	const struct wsi_told_row *a = left, *b = right;
	return WSI_ORDER_THEN(a->file, b->file,
			      a->off != b->off ? WSI_ORDER(a->off, b->off)
					       : WSI_ORDER(weight(a), weight(b)));
}

static enum ws_log_verdict verdict_of(const struct wsi_told_row *root)
{
	if (!root)
		return WS_LOG_NOTHING;
	return root->topic->role == WS_LOG_ROLE_AFTER  ? WS_LOG_CANNOT_TELL
	       : root->topic->role == WS_LOG_ROLE_WAIT ? WS_LOG_HANGS
						       : WS_LOG_FAILED;
}

enum ws_status ws_log_judge(struct ws_log *log, const struct ws_log_result **ret_result,
			    struct ws_error *err)
{
	struct ws_log_result *result = &log->result;
	struct ws_log_row *rows =
		wsi_arena_zalloc_array(&log->arena, log->n_rows + 1, sizeof *rows);
	*result = (struct ws_log_result){ .rows = rows,
					  .n_files = log->n_files,
					  .n_lines = log->n_lines,
					  .n_more = log->n_more };
	log->no_memory |= !rows;
	if (rows && log->n_rows)
		qsort(log->row, log->n_rows, sizeof *log->row, shown_order);
	const struct wsi_told_row *root = rows ? log_root_of(log) : NULL;
	if (root)
		show_log_row(log, root, &rows[result->n_rows++]);
	for (size_t i = 0; rows && i < log->n_rows; i++)
		if (&log->row[i] != root)
			show_log_row(log, &log->row[i], &rows[result->n_rows++]);
	result->verdict = verdict_of(root);
	if (root) {
		result->sentence = sentence_of(log, rows, root);
		doubts_of(log, root);
	} else {
		result->sentence = wsi_log_format(
			log, "No line tells of a GPU failure, of %" PRIu64 " in %" PRIu64 " file%s",
			log->n_lines, result->n_files, result->n_files == 1 ? "" : "s");
	}
	wsi_log_advise(log, root);
	if (log->no_memory)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a log");
	*ret_result = result;
	return WS_OK;
}
