/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failure is, where systems that build and test read it: a line of text that GitHub's runner
 * finds in the output of a step, or the list of findings that GitLab takes as a report of code
 * quality.
 */
#include <string.h>

#include <warpscope/report.h>
#include <warpscope/triage.h>

#include "base/base.h"
#include "base/sha256.h"

/* Text in a line for the runner: '%' stands for what is escaped, and in a property ':' and ','
 * end it. */
static void github_text(struct ws_out *out, struct ws_str text, bool is_property)
{
	for (size_t i = 0; i < text.len;) {
		const char *special = is_property ? "%:," : "%";
		size_t n = i;
		while (n < text.len && !strchr(special, text.ptr[n]))
			n++;
		ws_out_escaped(out, (struct ws_str){ text.ptr + i, n - i });
		if (n < text.len)
			ws_out_printf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[n++]);
		i = n;
	}
}

/* Where people look: the first line of the stack that is theirs; NULL: no line is known. */
static const struct ws_report_frame *annotated_frame(const struct ws_report *report)
{
	const struct ws_report_exception *e = report->focus;
	if (!e || e->user_frame >= e->n_frames)
		return NULL;
	const struct ws_report_frame *frame = &e->frames[e->user_frame];
	return frame->line_status == WS_OK && frame->line ? frame : NULL;
}

/* A path from `folder` on, if it is below that. */
static struct ws_str path_below(struct ws_str path, const char *folder)
{
	const size_t n = folder ? strlen(folder) : 0;
	if (n == 0 || path.len <= n + 1 || memcmp(path.ptr, folder, n) != 0 || path.ptr[n] != '/')
		return path;
	return (struct ws_str){ path.ptr + n + 1, path.len - n - 1 };
}

static void github_annotate(const struct ws_report *report, const char *folder, struct ws_out *out)
{
	const struct ws_report_frame *frame = annotated_frame(report);
	const bool is_known = report->verdict != WS_VERDICT_UNKNOWN;
	ws_out_printf(out, "::%s ", is_known ? "error" : "warning");
	if (frame) {
		ws_out_text(out, "file=");
		github_text(out, path_below(frame->file, folder), true);
		ws_out_printf(out, ",line=%u,", frame->line);
	}
	ws_out_printf(out,
		      "title=GPU %s::", is_known ? ws_verdict_kind_text(report->verdict) : "dump");
	github_text(out, ws_str_of(report->summary), false);
	ws_out_text(out, "\n");
}

static void gitlab_annotate(const struct ws_report *report, const char *folder,
			    struct ws_json *json)
{
	const struct ws_report_frame *frame = annotated_frame(report);
	const char *same = report->signature ? report->signature : report->summary;
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	char fingerprint[2 * WSI_SHA256_BYTES + 1];
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, same, strlen(same));
	wsi_sha256_final(&hash, digest);
	wsi_sha256_text(digest, sizeof digest, fingerprint);
	ws_json_object(json);
	ws_json_key_text(json, "description", report->summary);
	ws_json_key_text(json, "check_name", "warpscope");
	ws_json_key_text(json, "fingerprint", fingerprint);
	ws_json_key_text(json, "severity",
			 report->verdict == WS_VERDICT_UNKNOWN ? "minor" : "critical");
	ws_json_key_object(json, "location");
	ws_json_key_str(json, "path",
			frame ? path_below(frame->file, folder) : ws_str_of("unknown"));
	ws_json_key_object(json, "lines");
	ws_json_key_u64(json, "begin", frame ? frame->line : 1);
	ws_json_end(json);
	ws_json_end(json);
	ws_json_end(json);
}

void ws_report_annotation(const struct ws_report *report, enum ws_annotation_form form,
			  const char *folder, struct ws_out *out)
{
	const bool is_any = report->verdict != WS_VERDICT_NONE;
	struct ws_json json;
	if (form == WS_ANNOTATION_GITHUB) {
		if (is_any)
			github_annotate(report, folder, out);
		return;
	}
	ws_json_init(&json, out, false);
	ws_json_array(&json);
	if (is_any)
		gitlab_annotate(report, folder, &json);
	ws_json_end(&json);
}

void ws_triage_annotations(const struct ws_triage_result *result, struct ws_out *out)
{
	for (uint32_t i = 0; i < result->n_groups; i++) {
		const struct ws_triage_group *group = &result->groups[i];
		ws_out_printf(out, "::%s title=%s::", group->known ? "warning" : "error",
			      group->known ? "known GPU bug" : "GPU bug");
		github_text(out, group->signature, false);
		ws_out_printf(out, " (%llu dump%s)\n", (unsigned long long)group->n_dumps,
			      group->n_dumps == 1 ? "" : "s");
	}
}
