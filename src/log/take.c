/* SPDX-License-Identifier: Apache-2.0 */
/* What a line tells: one function for each kind. */
#include "log/cursor.h"
#include "log/internal.h"

#include <warpscope/exception.h>

struct ws_str wsi_log_name(struct ws_str text, size_t most)
{
	size_t n = 0;
	while (n < text.len && n < most && (wsi_is_alphanumeric(text.ptr[n]) || text.ptr[n] == '_'))
		n++;
	return (struct ws_str){ text.ptr, n };
}

static void tell_log_kind(struct ws_log *log, enum ws_log_kind kind, uint32_t code,
			  const char *detail)
{
	(void)wsi_log_tell(log, &(struct wsi_told){ .kind = kind,
						    .code = code,
						    .topic = wsi_other_topic(kind, code),
						    .detail = detail });
}

/* ---- assertions: FILE:LINE: FUNCTION: block: [1,0,0], thread: [32,0,0] Assertion `...` failed
 * ---- */

/* "[x,y,z]" */
static bool take_position(struct ws_str *rest, const char *word, uint64_t position[3])
{
	if (!wsi_behind(rest, word))
		return false;
	for (unsigned i = 0; i < 3; i++) {
		while (i > 0 && (wsi_take_char(rest, ',') || wsi_take_char(rest, ' ')))
			;
		if (!wsi_take_number(rest, 10, &position[i]))
			return false;
	}
	return wsi_take_char(rest, ']');
}

/* The name of the file, without its folder, and the line: "IndexKernel.cu:92". Empty: none. */
static struct ws_str assert_place_of(struct ws_str text)
{
	for (size_t i = 1; i + 1 < text.len; i++) {
		struct ws_str rest = wsi_str_skip(text, i);
		uint64_t line;
		if (!wsi_take_char(&rest, ':') || !wsi_take_number(&rest, 10, &line) ||
		    !wsi_str_begins(rest, ": "))
			continue;
		size_t start = i;
		while (start > 0 && (wsi_is_alphanumeric(text.ptr[start - 1]) ||
				     memchr("._-+", text.ptr[start - 1], 4)))
			start--;
		if (start < i && memchr(text.ptr + start, '.', i - start))
			return (struct ws_str){ text.ptr + start,
						(size_t)(rest.ptr - (text.ptr + start)) };
	}
	return (struct ws_str){ 0 };
}

static void take_assert(struct ws_log *log)
{
	enum { MOST = 100 }; /* bytes of the expression, and of the place */
	struct ws_str rest = log->piece.text, expression;
	uint64_t block[3], thread[3];
	char detail[WSI_LOG_DETAIL];
	if (!take_position(&rest, "block: [", block) ||
	    !take_position(&rest, "thread: [", thread) || !wsi_behind(&rest, "Assertion `"))
		return; /* one of the host */
	struct ws_str place = assert_place_of(log->piece.text);
	expression = rest;
	if (wsi_behind(&rest, "` failed"))
		expression.len -= rest.len + strlen("` failed");
	const bool is_cut = expression.len > MOST;
	snprintf(detail, sizeof detail,
		 "`%.*s%s`%s%.*s, block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 "), thread (%" PRIu64
		 ",%" PRIu64 ",%" PRIu64 ")",
		 (int)wsi_min_u64(expression.len, MOST), expression.ptr, is_cut ? "..." : "",
		 place.len ? " at " : "", (int)wsi_min_u64(place.len, MOST / 2), place.ptr,
		 block[0], block[1], block[2], thread[0], thread[1], thread[2]);
	tell_log_kind(log, WS_LOG_ASSERT, 0, detail);
}

/* ---- exceptions, by cuda-gdb and by the driver ---- */

/* The label that a text begins with, the longest. */
static const struct ws_exception *by_label(struct ws_str text)
{
	const struct ws_exception *one, *best = NULL;
	for (size_t i = 0; (one = ws_exception_at(i)); i++)
		if (wsi_str_begins(text, one->label) &&
		    (!best || strlen(one->label) > strlen(best->label)))
			best = one;
	return best;
}

static const struct ws_exception *line_exception_of(struct ws_str line)
{
	const struct ws_exception *one;
	struct ws_str rest = line;
	uint64_t number;
	char name[40];
	if (wsi_behind(&rest, "CUDBG_EXCEPTION_")) {
		struct ws_str given = wsi_log_name(rest, 64);
		for (size_t i = 0; (one = ws_exception_at(i)); i++)
			if (ws_str_equal(given, ws_str_of(one->name)))
				return one;
	}
	rest = line;
	if (wsi_behind(&rest, "CUDA Exception: "))
		return by_label(rest);
	rest = line;
	if (!wsi_behind(&rest, "CUDA_EXCEPTION_") || !wsi_take_number(&rest, 10, &number))
		return NULL;
	snprintf(name, sizeof name, "CUDA_EXCEPTION_%" PRIu64, number);
	for (size_t i = 0; (one = ws_exception_at(i)); i++)
		if (one->cuda_gdb && strcmp(one->cuda_gdb, name) == 0)
			return one;
	return NULL;
}

static void take_exception(struct ws_log *log)
{
	const struct ws_exception *exception = line_exception_of(log->piece.text);
	if (exception)
		tell_log_kind(log, WS_LOG_EXCEPTION, exception->code, NULL);
}

/* "... coredump: Writing ELF file to PATH" */
static void take_dump_path(struct ws_log *log)
{
	struct ws_str rest = log->piece.text;
	char detail[WSI_LOG_DETAIL];
	if (!wsi_behind(&rest, "coredump: Writing ELF file to "))
		return;
	while (rest.len && (rest.ptr[rest.len - 1] == ' ' || rest.ptr[rest.len - 1] == '.'))
		rest.len--;
	/* a path that does not fit is not shown: it would lead to another file */
	const bool fits = rest.len > 0 && rest.len < sizeof detail;
	snprintf(detail, sizeof detail, "%.*s", fits ? (int)rest.len : 0, rest.ptr);
	tell_log_kind(log, WS_LOG_DUMP, 0, detail);
}

/* ---- compute-sanitizer ---- */

static void take_sanitizer(struct ws_log *log)
{
	static const char *const memory[] = { "__global__", "__shared__", "__local__" };
	static const char *const ways[] = { "read", "write", "atomic" };
	struct ws_str rest = log->piece.text;
	uint64_t number;
	char detail[WSI_LOG_DETAIL] = "";
	if (!wsi_behind(&rest, "========= "))
		return;
	if (wsi_take_word(&rest, "ERROR SUMMARY: ")) {
		if (!wsi_take_number(&rest, 10, &number) || number == 0)
			return;
	} else if (wsi_take_word(&rest, "Invalid ")) {
		for (size_t i = 0; i < WSI_COUNT(memory); i++)
			for (size_t j = 0; j < WSI_COUNT(ways); j++) {
				struct ws_str at = rest;
				if (!wsi_take_word(&at, memory[i]) || !wsi_take_char(&at, ' ') ||
				    !wsi_take_word(&at, ways[j]) ||
				    !wsi_take_word(&at, " of size ") ||
				    !wsi_take_number(&at, 10, &number))
					continue;
				snprintf(detail, sizeof detail,
					 "invalid %s of %" PRIu64 " bytes in %s memory", ways[j],
					 number, memory[i]);
			}
		if (!*detail)
			return;
	} else if (!wsi_take_word(&rest, "Error: Race reported") &&
		   !wsi_take_word(&rest, "Uninitialized __") &&
		   !wsi_take_word(&rest, "Barrier error detected")) {
		return;
	}
	tell_log_kind(log, WS_LOG_SANITIZER, 0, detail);
}

/* ---- collectives ---- */

/* "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, ..., Timeout(ms)=600000) ran for ..." */
static void take_watchdog_words(struct ws_log *log)
{
	struct ws_str rest = log->piece.text, operation = rest;
	uint64_t sequence, limit;
	char detail[WSI_LOG_DETAIL] = "";
	operation = wsi_behind(&operation, "OpType=") ? wsi_log_name(operation, 40)
						      : (struct ws_str){ 0 };
	if (operation.len && wsi_log_number_behind(rest, "SeqNum=", 10, &sequence)) {
		int len = snprintf(detail, sizeof detail, "%.*s, number %" PRIu64,
				   (int)operation.len, operation.ptr, sequence);
		if (wsi_log_number_behind(rest, "Timeout(ms)=", 10, &limit))
			snprintf(detail + len, sizeof detail - (size_t)len,
				 ", not done after %" PRIu64 " s", limit / 1000);
	}
	tell_log_kind(log, WS_LOG_WATCHDOG, 0, detail);
}

/* Of NCCL's warnings those of connections; what is said of CUDA is an error of CUDA. */
static bool is_of_network(struct ws_str line)
{
	static const char *const words[] = { "Call to recv",       "Call to connect",
					     "Call to send",       "NET/IB : Got completion",
					     "Connection refused", "Connection reset" };
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		struct ws_str rest = line;
		if (wsi_behind(&rest, "NCCL WARN ") && wsi_behind(&rest, words[i]))
			return true;
	}
	return false;
}

static void take_collectives(struct ws_log *log)
{
	if (wsi_log_has(log, WSI_WORD_WATCHDOG, WSI_WORD_WATCHDOG))
		take_watchdog_words(log);
	if (wsi_log_has(log, WSI_WORD_WATCHDOG_STUCK, WSI_WORD_HEARTBEAT))
		tell_log_kind(log, WS_LOG_WATCHDOG, 1, NULL);
	if (wsi_log_has(log, WSI_WORD_DOWN, WSI_WORD_DOWN))
		tell_log_kind(log, WS_LOG_WATCHDOG, 2, NULL);
	if (wsi_log_has(log, WSI_WORD_NCCL_PEER_1, WSI_WORD_NCCL_PEER_2) ||
	    (wsi_log_has(log, WSI_WORD_NCCL_WARN, WSI_WORD_NCCL_WARN) &&
	     is_of_network(log->piece.text)))
		tell_log_kind(log, WS_LOG_NCCL, 1, NULL);
	if (wsi_log_has(log, WSI_WORD_NCCL_CUDA_1, WSI_WORD_NCCL_CUDA_2))
		tell_log_kind(log, WS_LOG_NCCL, 2, NULL);
	if (wsi_log_has(log, WSI_WORD_NCCL_SYSTEM_1, WSI_WORD_NCCL_SYSTEM_2))
		tell_log_kind(log, WS_LOG_NCCL, 3, NULL);
	if (wsi_log_has(log, WSI_WORD_NCCL_INTERNAL, WSI_WORD_NCCL_INTERNAL))
		tell_log_kind(log, WS_LOG_NCCL, 4, NULL);
}

void wsi_log_piece(struct ws_log *log)
{
	if (wsi_log_has(log, WSI_WORD_XID, WSI_WORD_SXID))
		wsi_log_take_xid(log);
	if (wsi_log_has(log, WSI_WORD_DRIVER_NAME, WSI_WORD_LIBRARY_5) ||
	    wsi_log_has(log, WSI_WORD_MESSAGE, WSI_WORD_MESSAGE))
		wsi_log_take_cuda(log);
	if (wsi_log_has(log, WSI_WORD_ASSERT, WSI_WORD_ASSERT))
		take_assert(log);
	if (wsi_log_has(log, WSI_WORD_EXCEPTION_NUMBER, WSI_WORD_EXCEPTION_NAME))
		take_exception(log);
	if (wsi_log_has(log, WSI_WORD_SANITIZER, WSI_WORD_SANITIZER))
		take_sanitizer(log);
	if (wsi_log_has(log, WSI_WORD_DUMP, WSI_WORD_DUMP))
		take_dump_path(log);
	if (wsi_log_has(log, WSI_WORD_AMD, WSI_WORD_AMD))
		tell_log_kind(log, WS_LOG_AMD, 0, NULL);
	take_collectives(log);
}
