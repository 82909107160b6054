/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, places and threads as JSON. */
#include "render/json.h"

static void json_frame_source(struct ws_json *json, const struct ws_report_source *source)
{
	if (!wsi_json_object(json, "source", source->status))
		return;
	wsi_json_key_text(json, "path", source->path);
	ws_json_key_bool(json, "changed", source->changed);
	ws_json_key_bool(json, "other_time", source->other_time);
	ws_json_key_u64(json, "first_line", source->first_line);
	ws_json_key_array(json, "lines");
	for (uint32_t i = 0; i < source->n_lines; i++)
		ws_json_str(json, source->lines[i]);
	ws_json_end(json);
	ws_json_end(json);
}

/* Function, file and line: what frames and groups have alike. */
void wsi_json_place(struct ws_json *json, const struct ws_report_frame *frame)
{
	wsi_json_key_str(json, "function", frame->function, frame->function_status);
	wsi_json_key_str(json, "function_short", frame->function_short, frame->function_status);
	wsi_json_key_str(json, "function_mangled", frame->function_mangled, frame->function_status);
	wsi_json_key_str(json, "file", frame->file, frame->line_status);
	wsi_json_key_u64(json, "line", frame->line,
			 frame->line_status == WS_OK ? wsi_status_if(frame->line)
						     : frame->line_status);
}

static void json_formals(struct ws_json *json, const struct ws_report_frame *frame)
{
	ws_json_key_array(json, "params");
	for (uint32_t i = 0; i < frame->n_formals; i++) {
		const struct ws_report_formal *formal = &frame->formals[i];
		ws_json_object(json);
		wsi_json_key_str(json, "name", formal->name, wsi_status_if(formal->name.len));
		wsi_json_key_str(json, "type", formal->type, formal->type.len ? WS_OK : WS_LIMIT);
		ws_json_end(json);
	}
	ws_json_end(json);
}

void wsi_json_frame(struct ws_json *json, const struct ws_report_frame *frame)
{
	ws_json_object(json);
	ws_json_key_u64(json, "level", frame->level);
	wsi_json_place(json, frame);
	ws_json_key_bool(json, "inlined", frame->inlined);
	ws_json_key_hex(json, "pc", frame->pc);
	enum ws_status owned = wsi_status_if(frame->owner_short.len > 0);
	wsi_json_key_str(json, "owner", frame->owner_short, owned);
	wsi_json_key_hex(json, "rel_pc", frame->rel_pc, owned);
	ws_json_key_bool(json, "caller", frame->caller);
	ws_json_key_bool(json, "library", frame->library);
	if (frame->line_added)
		ws_json_key_u64(json, "line_in_image", frame->line + frame->line_added);
	if (frame->borrowed_from)
		wsi_json_key_text(json, "lines_borrowed_from", frame->borrowed_from);
	if (frame->formals_status == WS_OK)
		json_formals(json, frame);
	else
		ws_json_missing(json, "params", frame->formals_status);
	json_frame_source(json, &frame->source);
	ws_json_end(json);
}

void wsi_json_thread(struct ws_json *json, const struct ws_report_thread *at)
{
	wsi_json_key_number(json, "device", at->device);
	wsi_json_key_number(json, "sm", at->sm);
	wsi_json_key_number(json, "warp", at->warp);
	wsi_json_key_number(json, "lane", at->lane);
	wsi_json_key_dim3(json, "blockIdx", at->block, at->block_status);
	wsi_json_key_dim3(json, "threadIdx", at->thread, wsi_status_if(at->lane != WS_NONE));
	wsi_json_key_dim3(json, "clusterIdx", at->cluster, wsi_status_if(at->have_cluster));
}

void wsi_json_example(struct ws_json *json, const struct ws_report_thread *at)
{
	ws_json_key_object(json, "example");
	wsi_json_thread(json, at);
	ws_json_end(json);
}
