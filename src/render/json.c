/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as JSON, by docs/schema/warpscope-report-1.json. Fields may be added there and here;
 * none is renamed. Whatever is missing is null, with the reason beside it.
 */
#include "render/json.h"

static void json_diagnostic(struct ws_json *json, const struct ws_diagnostic *one)
{
	static const char *const hides[] = {
		[WS_HIDES_NOTHING] = NULL, [WS_HIDES_HANG] = "hang", [WS_HIDES_FAULT] = "fault"
	};
	ws_json_object(json);
	wsi_json_key_text(json, "what", one->what);
	wsi_json_key_u64(json, "offset", one->file_off,
			 wsi_status_if(one->file_off != WS_NO_OFFSET));
	wsi_json_key_text(json, "message", one->message);
	ws_json_key_u64(json, "repeats", one->repeats);
	wsi_json_key_text(json, "hides", hides[one->hides]);
	ws_json_end(json);
}

static void json_missing(struct ws_json *json, const struct ws_report_missing *one)
{
	ws_json_object(json);
	wsi_json_key_text(json, "what", one->what);
	wsi_json_key_text(json, "why", ws_missing_word(one->why));
	wsi_json_key_text(json, "advice", one->advice);
	ws_json_end(json);
}

static void json_name(struct ws_json *json, const struct ws_str *one)
{
	ws_json_str(json, *one);
}

static void json_next(struct ws_json *json, const char *const *one)
{
	ws_json_text(json, *one);
}

void ws_report_json(const struct ws_report *report, struct ws_out *out)
{
	struct ws_json writer, *json = &writer;
	ws_json_begin(json, out, "warpscope-report-1");
	wsi_json_dump(json, report);
	ws_json_key_object(json, "verdict");
	wsi_json_key_text(json, "kind", ws_verdict_kind_text(report->verdict));
	wsi_json_key_text(json, "summary", report->summary);
	wsi_json_key_text(json, "doubt", report->doubt);
	ws_json_key_u64(json, "resident_warps", report->n_warps);
	wsi_json_key_number(json, "barrier_warps",
			    report->barriers_untold ? WS_NONE : report->n_barrier_warps);
	ws_json_key_u64(json, "waiting_warps", report->n_waiting_warps);
	ws_json_end(json);
	WSI_JSON_LIST(json, report, devices, wsi_json_device);
	WSI_JSON_LIST(json, report, kernels, wsi_json_kernel);
	WSI_JSON_LIST(json, report, exceptions, wsi_json_exception);
	if (report->focus) {
		ws_json_key(json, "focus");
		wsi_json_exception(json, report->focus);
	} else {
		ws_json_missing(json, "focus", WS_ABSENT);
	}
	WSI_JSON_LIST(json, report, groups, wsi_json_group);
	wsi_json_waits(json, report);
	wsi_json_snapshot(json, report);
	wsi_json_key_text(json, "signature", report->signature);
	wsi_json_key_text(json, "signature_rule", report->signature_rule);
	wsi_json_key_text(json, "signature_parts", report->signature_parts);
	wsi_json_image(json, report);
	wsi_json_map(json, report);
	WSI_JSON_LIST(json, report, code, json_name);
	WSI_JSON_LIST(json, report, missing, json_missing);
	WSI_JSON_LIST(json, report, next, json_next);
	WSI_JSON_LIST(json, report, diagnostics, json_diagnostic);
	ws_json_end(json);
}
