/* SPDX-License-Identifier: Apache-2.0 */
/* One exception as JSON. */
#include "render/json.h"

static void json_exception_kind(struct ws_json *json, const struct ws_report_exception *e)
{
	static const char *const blames[] = { "lane", "suspects", "sm", "trap", "nobody" };
	ws_json_key_u64(json, "code", e->code);
	wsi_json_key_text(json, "name", e->name);
	wsi_json_key_text(json, "label", e->label);
	wsi_json_key_text(json, "cuda_gdb", e->cuda_gdb);
	wsi_json_key_text(json, "headline", e->headline);
	wsi_json_key_text(json, "attribution", blames[e->blame]);
	if (e->kind) {
		wsi_json_key_text(json, "family", ws_exception_family_text(e->kind->family));
		ws_json_key_bool(json, "knows_instruction", e->kind->knows_instruction);
		ws_json_key_bool(json, "knows_lane", e->kind->knows_lane);
		wsi_json_key_text(json, "causes", e->kind->causes);
		wsi_json_key_text(json, "checks", e->kind->checks);
	}
	if (e->meaning)
		wsi_json_key_text(json, "meaning", e->meaning);
}

static void json_assertion(struct ws_json *json, const struct ws_report_assertion *assertion)
{
	if (!wsi_json_object(json, "assertion", assertion->status))
		return;
	wsi_json_key_str(json, "message", assertion->message,
			 wsi_status_if(assertion->message.len));
	wsi_json_key_str(json, "file", assertion->file, wsi_status_if(assertion->file.len));
	wsi_json_key_number(json, "line", assertion->line ? assertion->line : WS_NONE);
	wsi_json_key_str(json, "function", assertion->function,
			 wsi_status_if(assertion->function.len));
	if (assertion->why)
		wsi_json_key_text(json, "lost", assertion->why);
	wsi_json_key_claim(json, "claim", &assertion->claim);
	ws_json_end(json);
}

static void json_suspect(struct ws_json *json, const char *key, const struct ws_report_thread *at)
{
	ws_json_key_object(json, key);
	wsi_json_thread(json, at);
	ws_json_end(json);
}

static void json_suspects(struct ws_json *json, const struct ws_report_exception *e)
{
	bool any = e->suspect.lane != WS_NONE && e->blame != WS_BLAME_NOBODY;
	if (!wsi_json_object(json, "suspects", wsi_status_if(any)))
		return;
	ws_json_key_bool(json, "stands_out", e->suspect_stands_out);
	json_suspect(json, "thread", &e->suspect);
	json_suspect(json, "first", &e->first_suspect);
	json_suspect(json, "last", &e->last_suspect);
	ws_json_key_hex(json, "lanes", e->lanes_suspect);
	ws_json_key_u64(json, "threads", e->n_suspects);
	ws_json_key_hex(json, "elsewhere", e->lanes_elsewhere);
	ws_json_end(json);
}

static void json_variables(struct ws_json *json, const struct ws_report_exception *e)
{
	wsi_json_key_number(json, "variables_lane",
			    e->variables_status == WS_OK ? e->variables_lane : WS_NONE);
	if (!wsi_json_array(json, "variables", e->variables_status))
		return;
	for (uint32_t i = 0; i < e->n_variables; i++) {
		const struct ws_report_variable *variable = &e->variables[i];
		ws_json_object(json);
		ws_json_key_str(json, "name", variable->name);
		ws_json_key_str(json, "type", variable->type);
		if (variable->function.len)
			ws_json_key_str(json, "function", variable->function);
		ws_json_key_bool(json, "parameter", variable->is_param);
		ws_json_key_bool(json, "in_address", variable->in_address);
		if (ws_json_key_or_null(json, "value", variable->text))
			ws_json_str(json, ws_str_of(variable->text));
		if (variable->why)
			ws_json_key_text(json, "value_why", variable->why);
		ws_json_end(json);
	}
	ws_json_end(json);
}

void wsi_json_exception(struct ws_json *json, const struct ws_report_exception *e)
{
	ws_json_object(json);
	json_exception_kind(json, e);
	wsi_json_thread(json, &e->at);
	json_suspects(json, e);
	wsi_json_key_hex(json, "pc", e->pc, e->pc_status);
	wsi_json_key_hex(json, "errorpc", e->errorpc, e->errorpc_status);
	wsi_json_key_number(json, "kernel", e->kernel);
	ws_json_key_u64(json, "lanes", e->n_lanes);
	ws_json_key_u64(json, "warps", e->n_warps);
	ws_json_key_u64(json, "sms", e->n_sms);
	enum ws_status warp = wsi_status_if(e->at.warp != WS_NONE);
	wsi_json_key_hex(json, "lanes_blamed", e->lanes_blamed, warp);
	wsi_json_key_hex(json, "lanes_active", e->lanes_active, warp);
	wsi_json_key_hex(json, "lanes_valid", e->lanes_valid, warp);
	wsi_json_key_str(json, "driver_text", e->text, e->text_status);
	wsi_json_key_dim3(json, "target_block", e->target_block,
			  wsi_status_if(e->have_target_block));
	if (e->is_program)
		wsi_json_key_dim3(json, "program_ids", e->at.block, e->at.block_status);
	wsi_json_key_number(json, "user_frame", e->user_frame);
	wsi_json_key_number(json, "pc_frames_from", e->pc_frames_from);
	ws_json_key_u64(json, "callers_left_out", e->n_callers_left_out);
	if (ws_json_key_given(json, "pc_frame", wsi_status_if(e->pc_frame)))
		wsi_json_frame(json, e->pc_frame);
	ws_json_key_array(json, "frames");
	for (uint32_t i = 0; i < e->n_frames; i++)
		wsi_json_frame(json, &e->frames[i]);
	ws_json_end(json);
	wsi_json_key_claim(json, "precision", &e->precision);
	wsi_json_key_claim(json, "precision_instruction", &e->precision_instruction);
	wsi_json_key_claim(json, "precision_thread", &e->precision_thread);
	json_assertion(json, &e->assertion);
	WSI_JSON_LIST(json, e, findings, wsi_json_claim);
	json_variables(json, e);
	wsi_json_accesses(json, e);
	ws_json_end(json);
}
