/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beside dumps: the bytes are what PyTorch's flight recorder of a rank wrote (JSON or a
 * pickle), or the status of NCCL's RAS; where they are neither, lines of a log, or of the record of
 * `warpscope exec`. Then a job of two ranks that wait is judged by them.
 */
#include <string.h>

#include <warpscope/triage.h>

#include "base/base.h"
#include "fuzz.h"
#include "two_ranks.h"

#undef abort

static bool nowhere(void *user, const char *bytes, size_t len)
{
	(void)user;
	(void)bytes;
	return len > 0;
}

static void add_lines(struct ws_triage *triage, const uint8_t *data, size_t size)
{
	for (size_t at = 0, n; at < size; at += n + 1) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		n = end ? (size_t)(end - (data + at)) : size - at;
		if (ws_triage_log(triage, 0, (const char *)data + at, n, NULL) != WS_OK)
			abort();
	}
}

/* The same lines as what exec recorded of processes; a dump of one of them asks. */
static void add_processes(const uint8_t *data, size_t size)
{
	struct ws_triage_file file = { .path = "core_5_h_10.nvcudmp" };
	struct ws_out out;
	if (ws_triage_processes_create(&file.processes, NULL) != WS_OK)
		abort();
	for (size_t at = 0, n; at < size; at += n + 1) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		n = end ? (size_t)(end - (data + at)) : size - at;
		char *line = wsi_zalloc(n + 1); /* it is used up */
		if (!line)
			abort();
		memcpy(line, data + at, n);
		if (ws_triage_processes_add(file.processes, line, n, NULL) != WS_OK)
			abort();
		wsi_free(line);
	}
	ws_out_init(&out, nowhere, NULL);
	ws_triage_record_failed(&file, "why", false, &out);
	if (ws_out_flush(&out, NULL) != WS_OK)
		abort();
	ws_triage_processes_destroy(file.processes);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_triage_options options = { .size = sizeof options };
	const struct ws_triage_result *result;
	struct ws_triage *triage;
	char *copy = wsi_zalloc(size); /* exactly as much as promised */
	if (!copy || ws_triage_create(&options, &triage, NULL) != WS_OK)
		abort();
	if (size)
		memcpy(copy, data, size);
	fuzz_add_two_ranks(triage, 1);
	if (ws_triage_choose(triage, NULL) != WS_OK)
		abort();
	enum ws_status st = ws_triage_snapshot(triage, "nccl_trace_rank_1", copy, size, NULL);
	if (st == WS_ABSENT) {
		add_lines(triage, data, size);
		add_processes(data, size);
	} else if (st != WS_OK && st != WS_MALFORMED)
		abort();
	fuzz_add_two_ranks(triage, 2);
	if (ws_triage_judge(triage, &result, NULL) != WS_OK || !result->sentence)
		abort();
	ws_triage_destroy(triage);
	wsi_free(copy);
	return 0;
}
