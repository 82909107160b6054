/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report-sweep DUMP STRIDE: the report of a dump cut at every STRIDE-th byte, as text and as JSON.
 * Never a crash; a refusal says why; what opens names what is lost. Prints TAP. Each cut lies in
 * memory of its own size, so that AddressSanitizer sees a read behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/report.h>

struct sweep {
	char problem[300];
	unsigned n_refused, n_opened, n_faults;
};

static bool count_bytes(void *user, const char *bytes, size_t len)
{
	(void)bytes;
	*(size_t *)user += len;
	return true;
}

static void look(struct sweep *sweep, const struct ws_target *target, size_t len, size_t whole)
{
	const struct ws_report *report;
	struct ws_error err;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	if (ws_report_create(target, &options, &report, &err) != WS_OK) {
		snprintf(sweep->problem, sizeof sweep->problem, "%zu bytes: %s", len, err.message);
		return;
	}
	size_t n_text = 0, n_json = 0;
	struct ws_out text, json;
	ws_out_init(&text, count_bytes, &n_text);
	ws_out_init(&json, count_bytes, &n_json);
	ws_report_json(report, &json);
	if (ws_report_text(report, NULL, &text, &err) != WS_OK ||
	    ws_out_flush(&text, &err) != WS_OK || ws_out_flush(&json, &err) != WS_OK || !n_text ||
	    !n_json)
		snprintf(sweep->problem, sizeof sweep->problem, "%zu bytes: no page", len);
	if (len < whole && (report->dump.complete || report->n_diagnostics == 0))
		snprintf(sweep->problem, sizeof sweep->problem,
			 "%zu bytes: nothing is told to be lost", len);
	if (len == whole && (!report->dump.complete || report->verdict == WS_VERDICT_UNKNOWN))
		snprintf(sweep->problem, sizeof sweep->problem, "the whole file: damaged?");
	sweep->n_faults += report->verdict == WS_VERDICT_FAULT;
	ws_report_destroy(report);
}

static void cut_at(struct sweep *sweep, const unsigned char *bytes, size_t len, size_t whole)
{
	unsigned char *copy = malloc(len ? len : 1);
	if (!copy)
		exit(1);
	memcpy(copy, bytes, len);
	struct ws_target *target;
	struct ws_error err = { .message = "" };
	enum ws_status st =
		ws_core_open_memory((struct ws_span){ copy, len, 0 }, "cut", &target, &err);
	if (st == WS_OK) {
		sweep->n_opened++;
		look(sweep, target, len, whole);
		ws_target_close(target);
	} else {
		sweep->n_refused++;
		if (!*err.message || strchr(err.message, '\n'))
			snprintf(sweep->problem, sizeof sweep->problem,
				 "%zu bytes: refused without a reason", len);
	}
	free(copy);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
	size_t stride = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, room = 64u << 20;
	unsigned char *bytes = malloc(room);
	if (!file || !stride || !bytes) {
		fprintf(stderr, "usage: report-sweep DUMP STRIDE\n");
		return 2;
	}
	size_t whole = fread(bytes, 1, room, file);
	fclose(file);
	struct sweep sweep = { .problem = "" };
	for (size_t len = 0; len < whole && !*sweep.problem; len += stride)
		cut_at(&sweep, bytes, len, whole);
	if (!*sweep.problem)
		cut_at(&sweep, bytes, whole, whole);
	printf("1..1\n%sok 1 - cut at every %zu. byte: %u refused, %u opened, %u with a fault\n",
	       *sweep.problem ? "not " : "", stride, sweep.n_refused, sweep.n_opened,
	       sweep.n_faults);
	if (*sweep.problem)
		printf("# %s\n", sweep.problem);
	free(bytes);
	return *sweep.problem != 0;
}
