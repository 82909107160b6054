/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory snapshot of PyTorch tells, as JSON. */
#include "render/json.h"

static void json_python(struct ws_json *json, const char *key,
			const struct ws_report_python *python)
{
	if (!wsi_json_object(json, key, python->status))
		return;
	ws_json_key_str(json, "file", python->file);
	ws_json_key_u64(json, "line", python->line);
	ws_json_key_str(json, "function", python->function);
	ws_json_end(json);
}

static void json_segment(struct ws_json *json, const struct ws_report_allocation *one)
{
	if (!wsi_json_object(json, "segment", one->segment_status))
		return;
	ws_json_key_hex(json, "start", one->segment_start);
	ws_json_key_u64(json, "bytes", one->segment_size);
	ws_json_end(json);
}

static void json_block(struct ws_json *json, const struct ws_report_allocation *one)
{
	if (!wsi_json_object(json, "block", one->block_status))
		return;
	ws_json_key_hex(json, "start", one->block_start);
	wsi_json_key_u64(json, "bytes", one->block_size, one->size_status);
	wsi_json_key_u64(json, "requested", one->requested, one->requested_status);
	ws_json_key_bool(json, "freed", one->was_freed);
	ws_json_key_bool(json, "freed_after_dump", one->freed_after);
	wsi_json_key_u64(json, "freed_before_us", one->freed_before_us, one->before_status);
	json_python(json, "allocated_at", &one->allocated);
	json_python(json, "freed_at", &one->freed);
	ws_json_end(json);
}

static void json_allocation(struct ws_json *json, const struct ws_report_allocation *one)
{
	bool is_parameter = one->use == WS_ALLOCATION_PARAMETER;
	ws_json_object(json);
	wsi_json_key_text(json, "use", ws_allocation_use_text(one->use));
	wsi_json_key_number(json, "wait", one->use == WS_ALLOCATION_WAIT ? one->index : WS_NONE);
	wsi_json_key_number(json, "parameter", is_parameter ? one->index : WS_NONE);
	wsi_json_key_str(json, "field", one->field, wsi_status_if(one->field.len > 0));
	ws_json_key_hex(json, "address", one->address);
	wsi_json_key_text(json, "state", ws_allocation_state_text(one->state));
	json_segment(json, one);
	json_block(json, one);
	wsi_json_key_text(json, "text", one->text);
	ws_json_end(json);
}

void wsi_json_snapshot(struct ws_json *json, const struct ws_report *report)
{
	const struct ws_report_snapshot *snapshot = &report->snapshot;
	if (snapshot->status == WS_ABSENT) /* nobody asked */
		return;
	bool is_read = snapshot->status == WS_OK;
	ws_json_key_object(json, "memory_snapshot");
	wsi_json_key_text(json, "path", snapshot->path);
	ws_json_key_bool(json, "used", !snapshot->why);
	wsi_json_key_text(json, "reason", snapshot->why);
	wsi_json_key_u64(json, "segments", snapshot->n_segments, snapshot->status);
	wsi_json_key_u64(json, "segments_inside", snapshot->n_inside,
			 is_read ? snapshot->inside_status : snapshot->status);
	wsi_json_key_u64(json, "blocks", snapshot->n_blocks, snapshot->status);
	wsi_json_key_u64(json, "events", snapshot->n_events, snapshot->status);
	wsi_json_key_text(json, "assumed", snapshot->assumed);
	WSI_JSON_LIST(json, snapshot, allocations, json_allocation);
	ws_json_end(json);
}
