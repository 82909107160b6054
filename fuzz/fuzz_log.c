/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log: read whole, and cut into two files at a place that its first byte chooses. Each is judged,
 * and what is said holds: counts are of lines that are there, texts are there, and steps, too.
 */
#include <string.h>

#include <warpscope/log.h>

#include "base/base.h"
#include "fuzz.h"

#undef abort

static void check(const struct ws_log_result *result, uint64_t n_lines)
{
	FUZZ_CHECK(result->sentence && *result->sentence && result->n_steps <= 10);
	FUZZ_CHECK(result->n_lines == n_lines && result->n_rows <= 256);
	FUZZ_CHECK(*ws_log_verdict_word(result->verdict) != '?');
	FUZZ_CHECK((result->verdict == WS_LOG_NOTHING) ||
		   (result->n_rows && strstr(result->sentence, result->rows[0].what)));
	for (uint32_t i = 0; i < result->n_rows; i++) {
		const struct ws_log_row *row = &result->rows[i];
		FUZZ_CHECK(row->what && row->who && row->file && row->count >= 1);
		FUZZ_CHECK(row->line >= 1 && row->line <= n_lines && row->count <= n_lines);
		FUZZ_CHECK(*ws_log_kind_word(row->kind) != '?' &&
			   *ws_log_role_word(row->role) != '?');
	}
	for (uint32_t i = 0; i < result->n_steps; i++)
		FUZZ_CHECK(result->steps[i].why);
	for (uint32_t i = 0; i < result->n_doubts; i++)
		FUZZ_CHECK(result->doubts[i]);
}

static uint64_t lines_of(const char *bytes, size_t len)
{
	uint64_t n = len && bytes[len - 1] != '\n';
	for (size_t i = 0; i < len; i++)
		n += bytes[i] == '\n';
	return n;
}

static void judge(const char *bytes, size_t len, size_t cut)
{
	const struct ws_log_result *result;
	struct ws_log *log;
	uint64_t n_lines = lines_of(bytes, cut) + lines_of(bytes + cut, len - cut);
	if (ws_log_create(&log, NULL) != WS_OK ||
	    ws_log_take(log, "first.log", bytes, cut, NULL) != WS_OK ||
	    (cut < len && ws_log_take(log, "a b\033.log", bytes + cut, len - cut, NULL) != WS_OK) ||
	    ws_log_judge(log, &result, NULL) != WS_OK)
		abort();
	check(result, n_lines);
	ws_log_destroy(log);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	/* exactly as much as promised, so that a checker sees what goes beyond */
	char *copy = wsi_zalloc(size);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	judge(copy, size, size);
	if (size)
		judge(copy, size, (size_t)data[0] * size / 256);
	wsi_free(copy);
	return 0;
}
