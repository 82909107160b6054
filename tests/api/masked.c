/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report over a provider that lacks functions: our own table over a dump, with slots taken
 * away. For test_masks.py.
 *
 * usage: masked DUMP
 *
 * Each line of standard input is a provider: "MAJOR MINOR HOW PAST SLOT ...". HOW is what the slots
 * named do: n they are NULL, s they answer NOT_SUPPORTED, u UNKNOWN; m they are NULL, and the masks
 * of SMs with exceptions have none, as masks that were made from lanes only. Slots from PAST on
 * must not even be touched: who calls one ends the program. For each line the report follows as
 * JSON, after its length in bytes; or what failed, after a minus sign.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>
#include <warpscope/provider.h>
#include <warpscope/report.h>

enum { SLOTS = sizeof(struct CUDBGAPI_st) / sizeof(void *) };

static CUDBGResult not_supported(void)
{
	return CUDBG_ERROR_NOT_SUPPORTED;
}

static CUDBGResult unknown(void)
{
	return CUDBG_ERROR_UNKNOWN;
}

static CUDBGResult no_sm(uint32_t dev, uint64_t *mask, uint32_t n_words)
{
	(void)dev;
	memset(mask, 0, n_words * sizeof *mask);
	return CUDBG_SUCCESS;
}

static CUDBGResult none_of_64_sms(uint32_t dev, uint64_t *mask)
{
	return no_sm(dev, mask, 1);
}

static CUDBGResult past_the_end(void)
{
	fprintf(stderr, "a slot was called that this version does not have\n");
	abort();
}

static void replace(struct CUDBGAPI_st *table, unsigned long slot, CUDBGResult (*with)(void))
{
	if (slot < SLOTS)
		memcpy((char *)table + slot * sizeof with, &with, sizeof with);
}

struct text {
	char *bytes;
	size_t n, cap;
};

static bool append(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	if (text->n + len > text->cap) {
		text->cap = 2 * (text->n + len);
		text->bytes = realloc(text->bytes, text->cap);
		if (!text->bytes)
			abort();
	}
	memcpy(text->bytes + text->n, bytes, len);
	text->n += len;
	return true;
}

static enum ws_status report_of(struct CUDBGAPI_st *table, uint32_t major, uint32_t minor,
				struct text *text, struct ws_error *err)
{
	struct ws_target *target = NULL;
	const struct ws_report *report = NULL;
	const struct ws_report_options options = { .size = sizeof options, .no_source = true };
	enum ws_status st = ws_target_from_api(table, major, minor, &target, err);
	if (st != WS_OK)
		return st;
	st = ws_report_create(target, &options, &report, err);
	if (st == WS_OK) {
		struct ws_out out;
		ws_out_init(&out, append, text);
		ws_report_json(report, &out);
		st = ws_out_flush(&out, err);
	}
	ws_report_destroy(report);
	ws_target_close(target);
	return st;
}

static void answer(CUDBGAPI api, char *line)
{
	struct CUDBGAPI_st table = *api;
	struct text text = { NULL, 0, 0 };
	struct ws_error err = { .status = WS_OK };
	char *at = line;
	uint32_t major = (uint32_t)strtoul(at, &at, 10), minor = (uint32_t)strtoul(at, &at, 10);
	char how = at[1];
	at += 2;
	unsigned long past = strtoul(at, &at, 10);
	for (;;) {
		char *end;
		unsigned long slot = strtoul(at, &end, 10);
		if (end == at)
			break;
		at = end;
		replace(&table, slot, how == 's' ? not_supported : how == 'u' ? unknown : NULL);
	}
	if (how == 'm') {
		table.readDeviceExceptionState = no_sm;
		table.readDeviceExceptionState80 = none_of_64_sms;
	}
	for (; past < SLOTS; past++)
		replace(&table, past, past_the_end);
	enum ws_status st = report_of(&table, major, minor, &text, &err);
	if (st == WS_OK)
		printf("%zu\n%.*s", text.n, (int)text.n, text.bytes);
	else
		printf("-%s\n", err.message);
	free(text.bytes);
}

int main(int argc, char **argv)
{
	struct ws_target *target = NULL;
	struct ws_error err;
	static char line[4096];
	if (argc != 2 || ws_core_open(argv[1], NULL, &target, &err) != WS_OK) {
		fprintf(stderr, "usage: masked DUMP\n");
		return 2;
	}
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS;
	while (fgets(line, sizeof line, stdin)) {
		CUDBGAPI api; /* one for each provider: a session that nobody ends must not stay */
		if (ws_cudbg_api(target, &api, &err) != WS_OK)
			return 3;
		answer(api, line);
		ws_cudbg_release(api);
	}
	ws_target_close(target);
	return 0;
}
