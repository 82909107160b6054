/* SPDX-License-Identifier: Apache-2.0 */
/* Many dumps as JSON, by docs/schema/warpscope-triage-page-1.json. */
#include <warpscope/triage.h>

#include "render/json.h"

/* A text, or null where it is empty. */
static void key_some(struct ws_json *json, const char *key, struct ws_str text)
{
	wsi_json_key_str(json, key, text, wsi_status_if(text.len > 0));
}

static void key_time(struct ws_json *json, const char *key, uint64_t seconds)
{
	wsi_json_key_u64(json, key, seconds, wsi_status_if(seconds != 0));
}

static void json_group(struct ws_json *json, const struct ws_triage_group *group)
{
	ws_json_object(json);
	ws_json_key_str(json, "signature", group->signature);
	ws_json_key_str(json, "verdict", group->verdict);
	ws_json_key_u64(json, "dumps", group->n_dumps);
	ws_json_key_bool(json, "known", group->known);
	key_some(json, "ranks", ws_str_of(group->ranks));
	key_time(json, "first", group->first);
	key_time(json, "last", group->last);
	key_some(json, "place", group->place);
	ws_json_key_str(json, "example", group->example);
	ws_json_key_bool(json, "in_doubt", group->in_doubt);
	ws_json_end(json);
}

static void json_triage_row(struct ws_json *json, const struct ws_triage_row *row)
{
	ws_json_object(json);
	wsi_json_key_u64(json, "rank", (uint64_t)row->rank, wsi_status_if(row->rank >= 0));
	if (row->rank < 0)
		wsi_json_key_text(json, "rank_reason", row->rank_why);
	ws_json_key_str(json, "name", row->name);
	ws_json_key_str(json, "path", row->path);
	wsi_json_key_text(json, "state", ws_triage_role_text(row->role));
	key_some(json, "what", row->what);
	key_some(json, "collective", row->waits);
	key_some(json, "kernel", row->kernel);
	key_some(json, "place", row->place);
	wsi_json_key_text(json, "evidence", row->evidence);
	wsi_json_key_text(json, "signature", row->signature);
	key_time(json, "time", row->time);
	wsi_json_key_u64(json, "event", row->event, wsi_status_if(row->event != 0));
	ws_json_end(json);
}

static void json_name(struct ws_json *json, const char *const *one)
{
	ws_json_text(json, *one);
}

static void json_job(struct ws_json *json, const struct ws_triage_job *job)
{
	ws_json_object(json);
	ws_json_key_str(json, "name", job->name);
	ws_json_key_u64(json, "dumps", job->n_dumps);
	wsi_json_key_text(json, "sentence", job->sentence);
	wsi_json_key_number(json, "culprit", job->culprit);
	wsi_json_key_number(json, "read", job->read);
	WSI_JSON_LIST(json, job, reasons, json_name);
	key_some(json, "missing", ws_str_of(job->missing));
	wsi_json_key_text(json, "missing_reason", job->missing_why);
	WSI_JSON_LIST(json, job, rows, json_triage_row);
	ws_json_end(json);
}

static void json_gpu(struct ws_json *json, const struct ws_triage_gpu *gpu)
{
	ws_json_object(json);
	ws_json_key_str(json, "name", gpu->name);
	ws_json_key_u64(json, "faults", gpu->n_faults);
	ws_json_key_u64(json, "jobs", gpu->n_jobs);
	ws_json_key_u64(json, "signatures", gpu->n_signatures);
	ws_json_end(json);
}

void ws_triage_json(const struct ws_triage_result *result, struct ws_out *out)
{
	struct ws_json writer, *json = &writer;
	ws_json_begin(json, out, "warpscope-triage-page-1");
	wsi_json_key_text(json, "sentence", result->sentence);
	wsi_json_key_text(json, "read", result->read);
	ws_json_key_u64(json, "signature_version", WS_SIGNATURE_VERSION);
	ws_json_key_object(json, "dumps");
	ws_json_key_u64(json, "all", result->n_dumps);
	ws_json_key_u64(json, "fault", result->n_faults);
	ws_json_key_u64(json, "hang", result->n_hangs);
	ws_json_key_u64(json, "none", result->n_none);
	ws_json_key_u64(json, "unknown", result->n_unknown);
	ws_json_key_u64(json, "failed", result->n_failed);
	ws_json_key_u64(json, "again", result->n_again);
	ws_json_end(json);
	ws_json_key_u64(json, "not_records", result->n_not_records);
	if (result->n_unread_logs) {
		ws_json_key_object(json, "unread_logs");
		ws_json_key_u64(json, "all", result->n_unread_logs);
		wsi_json_key_text(json, "first", result->unread_log);
		wsi_json_key_text(json, "reason", result->unread_why);
		ws_json_end(json);
	}
	ws_json_key_bool(json, "has_baseline", result->has_baseline);
	ws_json_key_u64(json, "new_dumps", result->n_new_dumps);
	WSI_JSON_LIST(json, result, groups, json_group);
	ws_json_key_u64(json, "jobs_in_all", result->n_jobs_in_all);
	WSI_JSON_LIST(json, result, jobs, json_job);
	WSI_JSON_LIST(json, result, gpus, json_gpu);
	ws_json_end(json);
}
