/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole path over any bytes: dump, modules, lines, report, page, JSON. Beyond not crashing: the
 * groups hold as many threads as the devices, the focus is the first exception, JSON and page are
 * written.
 */
#include "fuzz.h"

#include <warpscope/core.h>
#include <warpscope/report.h>

static bool take_nothing(void *user, const char *bytes, size_t len)
{
	(void)user;
	(void)bytes;
	(void)len;
	return true;
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
	struct ws_out out;
	ws_out_init(&out, take_nothing, NULL);
	ws_report_json(report, &out);
	FUZZ_CHECK(ws_report_text(report, NULL, &out, NULL) == WS_OK);
	FUZZ_CHECK(ws_out_flush(&out, NULL) == WS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ws_core *core;
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	if (ws_core_open_memory((struct ws_span){ data, size, 0 }, NULL, &core, NULL) != WS_OK)
		return 0;
	FUZZ_CHECK(ws_target_from_core(core, true, &target, NULL) == WS_OK);
	if (ws_report_create(target, &options, &report, NULL) == WS_OK) {
		check_report(report);
		ws_report_destroy(report);
	}
	ws_target_close(target);
	return 0;
}
