/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records and logs: each line is taken as a record, twice, and as a line of a log; then all are
 * judged, and every page is made.
 */
#include <string.h>

#include <warpscope/triage.h>

#include "base/base.h"
#include "fuzz.h"

#undef abort

static bool swallow(void *user, const char *bytes, size_t len)
{
	(void)user;
	(void)bytes;
	(void)len;
	return true;
}

static enum ws_status take(struct ws_triage *triage, int look, const uint8_t *line, size_t len)
{
	/* exactly as much as promised, so that a checker sees what goes beyond */
	char *copy = wsi_zalloc(len);
	if (!copy)
		return WS_NO_MEMORY;
	if (len)
		memcpy(copy, line, len);
	enum ws_status st = look == 0   ? ws_triage_add(triage, copy, len, NULL)
			    : look == 1 ? ws_triage_log(triage, 0, copy, len, NULL)
					: ws_triage_look(triage, copy, len, NULL);
	wsi_free(copy);
	return st == WS_MALFORMED ? WS_OK : st;
}

static void show(const struct ws_triage_result *result)
{
	struct ws_out out;
	ws_out_init(&out, swallow, NULL);
	if (ws_triage_text(result, NULL, &out, NULL) != WS_OK ||
	    ws_triage_markdown(result, NULL, &out, NULL) != WS_OK ||
	    ws_triage_html(result, NULL, &out, NULL) != WS_OK)
		abort();
	ws_triage_json(result, &out);
	if (ws_out_flush(&out, NULL) != WS_OK)
		abort();
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_triage_options options = { .size = sizeof options };
	const struct ws_triage_result *result;
	struct ws_triage *triage;
	if (ws_triage_create(&options, &triage, NULL) != WS_OK)
		return 0;
	for (int look = 0; look < 3; look++) {
		for (size_t at = 0, n; at < size; at += n + 1) {
			const uint8_t *end = memchr(data + at, '\n', size - at);
			n = end ? (size_t)(end - (data + at)) : size - at;
			if (take(triage, look, data + at, n) != WS_OK)
				abort();
		}
		if (look == 1 && ws_triage_choose(triage, NULL) != WS_OK)
			abort();
	}
	if (ws_triage_judge(triage, &result, NULL) != WS_OK)
		abort();
	show(result);
	ws_triage_destroy(triage);
	return 0;
}
