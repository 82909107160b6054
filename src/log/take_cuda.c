/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of CUDA calls, as programs print them: by name (CUDA_ERROR_ILLEGAL_ADDRESS,
 * cudaErrorIllegalAddress), by message, or by number behind words such as "CUDA error".
 */
#include "log/cursor.h"
#include "log/internal.h"

enum { NEAR = 300 /* bytes behind such words in which the error stands */ };

static const char *const marks[] = { "CUDA error",        "CUDA Error",   "Cuda failure",
				     "CUDA failure",      "Error [CUDA]", "CUDA driver error",
				     "CUDA runtime error" };

/* Errors that programs expect, and go on. */
static const char *const harmless[] = { "CUDA_ERROR_NOT_READY",
					"CUDA_ERROR_DEINITIALIZED",
					"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
					"cudaErrorNotReady",
					"cudaErrorCudartUnloading",
					"cudaErrorPeerAccessAlreadyEnabled" };

static bool is(struct ws_str text, const char *name)
{
	return name && ws_str_equal(text, ws_str_of(name));
}

static bool is_harmless(struct ws_str name)
{
	for (size_t i = 0; i < WSI_COUNT(harmless); i++)
		if (is(name, harmless[i]))
			return true;
	return false;
}

static void tell_cuda_error(struct ws_log *log, const struct wsi_cuda_error *error)
{
	(void)wsi_log_tell(log, &(struct wsi_told){ .kind = WS_LOG_CUDA,
						    .code = error->topic.code,
						    .topic = &error->topic });
}

static void tell_any(struct ws_log *log, const char *detail)
{
	(void)wsi_log_tell(log, &(struct wsi_told){ .kind = WS_LOG_CUDA,
						    .topic = &wsi_cuda_topic_any,
						    .detail = detail });
}

/* A name that begins with `start`. True: the line has one, be it harmless. */
static bool take_error_name(struct ws_log *log, const char *start, bool is_marked)
{
	const struct wsi_cuda_error *one;
	struct ws_str rest = log->piece.text;
	char detail[80];
	if (!wsi_behind(&rest, start))
		return false;
	rest = (struct ws_str){ rest.ptr - strlen(start), rest.len + strlen(start) };
	struct ws_str name = wsi_log_name(rest, 64);
	if (is_harmless(name))
		return true;
	for (size_t i = 0; (one = wsi_log_cuda_error_at(i)); i++) {
		if (!is(name, one->driver) && !is(name, one->runtime))
			continue;
		tell_cuda_error(log, one);
		return true;
	}
	/* a name that is not listed may be that of a type or function */
	if (!is_marked || name.len < strlen(start) + 3)
		return false;
	snprintf(detail, sizeof detail, "%.*s", (int)name.len, name.ptr);
	tell_any(log, detail);
	return true;
}

static bool take_message(struct ws_log *log, struct ws_str text, bool is_marked)
{
	const struct wsi_cuda_error *one;
	for (size_t i = 0; (one = wsi_log_cuda_error_at(i)); i++) {
		struct ws_str rest = text;
		if ((!is_marked && !one->is_distinct) || !wsi_behind(&rest, one->topic.title))
			continue;
		tell_cuda_error(log, one);
		return true;
	}
	return false;
}

/* Behind "CUDA error" and the like: a message, a number, or something that is not known. */
static void take_marked(struct ws_log *log, struct ws_str rest)
{
	uint64_t number;
	char detail[40];
	rest.len = (size_t)wsi_min_u64(rest.len, NEAR);
	if (take_message(log, rest, true))
		return;
	const bool is_end = !rest.len || !memchr(" :(=[", *rest.ptr, 5);
	while (rest.len && memchr(" :(=[", *rest.ptr, 5))
		rest = wsi_str_skip(rest, 1);
	if (is_end || !rest.len)
		return; /* as in `GGML_ASSERT: !"CUDA error"`: another line says more */
	if (wsi_take_number(&rest, 10, &number)) {
		const struct wsi_cuda_error *error = wsi_log_cuda_error_find(number);
		if (error) {
			tell_cuda_error(log, error);
		} else if (number > 0 && number < 2000) {
			snprintf(detail, sizeof detail, "error %" PRIu64, number);
			tell_any(log, detail);
		}
		return;
	}
	/* "CUDA error: " and no more is said by a heading; what follows ": " is an error */
	tell_any(log, NULL);
}

/* "CUBLAS_STATUS_EXECUTION_FAILED" */
static bool take_library(struct ws_log *log)
{
	static const char *const starts[] = { "CUBLAS_STATUS_", "CUDNN_STATUS_", "CUSOLVER_STATUS_",
					      "CUSPARSE_STATUS_", "CUFFT_STATUS_" };
	for (size_t i = 0; i < WSI_COUNT(starts); i++) {
		struct ws_str rest = log->piece.text;
		char detail[80];
		if (!wsi_behind(&rest, starts[i]))
			continue;
		struct ws_str name = wsi_log_name(rest, 40);
		if (is(name, "SUCCESS"))
			continue;
		snprintf(detail, sizeof detail, "%s%.*s", starts[i], (int)name.len, name.ptr);
		(void)wsi_log_tell(log,
				   &(struct wsi_told){ .kind = WS_LOG_LIBRARY,
						       .topic = wsi_other_topic(WS_LOG_LIBRARY, 0),
						       .detail = detail });
		return true;
	}
	return false;
}

void wsi_log_take_cuda(struct ws_log *log)
{
	const bool is_marked = wsi_log_has(log, WSI_WORD_MARK_1, WSI_WORD_MARK_7);
	bool found = false;
	if (wsi_log_has(log, WSI_WORD_LIBRARY_1, WSI_WORD_LIBRARY_5))
		found = take_library(log);
	if (wsi_log_has(log, WSI_WORD_DRIVER_NAME, WSI_WORD_DRIVER_NAME))
		found |= take_error_name(log, "CUDA_ERROR_", true);
	if (wsi_log_has(log, WSI_WORD_RUNTIME_NAME, WSI_WORD_RUNTIME_NAME))
		found |= take_error_name(log, "cudaError", is_marked);
	if (wsi_log_has(log, WSI_WORD_MEMORY, WSI_WORD_MEMORY)) {
		tell_cuda_error(log, wsi_log_cuda_error_find(2));
		found = true;
	}
	if (!found && wsi_log_has(log, WSI_WORD_MESSAGE, WSI_WORD_MESSAGE))
		found = take_message(log, log->piece.text, false);
	for (size_t i = 0; i < WSI_COUNT(marks) && !found; i++) {
		struct ws_str rest = log->piece.text;
		if ((found = wsi_behind(&rest, marks[i])))
			take_marked(log, rest);
	}
}
