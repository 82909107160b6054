/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole path over any bytes: dump, modules, lines, report, pages, JSON. Beyond not crashing:
 * the groups hold as many threads as the devices, the focus is the first exception, JSON and pages
 * are written, no text of the dump brings a bracket into the HTML page or a control character into
 * any.
 */
#include "fuzz.h"

#include <warpscope/core.h>
#include <warpscope/report.h>

/* What a page was made of. */
struct counted {
	int64_t brackets; /* those that open, less those that close */
	bool controls;
};

static bool count_bytes(void *user, const char *bytes, size_t len)
{
	struct counted *counted = user;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		counted->brackets += (c == '<') - (c == '>');
		counted->controls |= (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
	}
	return true;
}

typedef enum ws_status render_fn(const struct ws_report *report,
				 const struct ws_text_options *options, struct ws_out *out,
				 struct ws_error *err);

static int64_t check_page(const struct ws_report *report, render_fn *render)
{
	struct counted counted = { 0 };
	struct ws_out out;
	ws_out_init(&out, count_bytes, &counted);
	FUZZ_CHECK(render(report, NULL, &out, NULL) == WS_OK);
	FUZZ_CHECK(ws_out_flush(&out, NULL) == WS_OK);
	FUZZ_CHECK(!counted.controls);
	return counted.brackets;
}

static void check_report(const struct ws_report *report)
{
	uint64_t grouped = 0, resident = 0;
	for (uint32_t i = 0; i < report->n_groups; i++)
		grouped += report->groups[i].n_lanes;
	for (uint32_t i = 0; i < report->n_devices; i++)
		resident += report->devices[i].resident_lanes;
	FUZZ_CHECK(grouped == resident);
	FUZZ_CHECK(report->n_exceptions == 0 || report->focus == report->exceptions);
	FUZZ_CHECK(report->summary && *report->summary);
	struct counted counted = { 0 };
	struct ws_out out;
	ws_out_init(&out, count_bytes, &counted);
	ws_report_json(report, &out);
	FUZZ_CHECK(ws_out_flush(&out, NULL) == WS_OK);
	check_page(report, ws_report_text);
	check_page(report, ws_report_markdown);
	/* every tag has both brackets; the script's comparisons are in the empty page too */
	static const struct ws_report empty = { .summary = "" };
	static int64_t of_empty;
	if (of_empty == 0)
		of_empty = check_page(&empty, ws_report_html);
	FUZZ_CHECK(check_page(report, ws_report_html) == of_empty);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	if (ws_core_open_memory((struct ws_span){ data, size, 0 }, NULL, &target, NULL) != WS_OK)
		return 0;
	if (ws_report_create(target, &options, &report, NULL) == WS_OK) {
		check_report(report);
		ws_report_destroy(report);
	}
	ws_target_close(target);
	return 0;
}
