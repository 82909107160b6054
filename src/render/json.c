/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as JSON, by docs/schema/warpscope-report-1.json. Fields may be added there and here;
 * none is renamed. Whatever is missing is null, with the reason beside it.
 */
#include <warpscope/report.h>

#include "base/base.h"

static void key_text(struct ws_json *json, const char *key, const char *text)
{
	if (text) {
		ws_json_key(json, key);
		ws_json_text(json, text);
	} else {
		ws_json_missing(json, key, WS_ABSENT);
	}
}

static void key_str(struct ws_json *json, const char *key, struct ws_str text,
		    enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_str(json, text);
}

static void key_u64(struct ws_json *json, const char *key, uint64_t value)
{
	ws_json_key(json, key);
	ws_json_u64(json, value);
}

/* A number that is WS_NONE when there is none. */
static void key_number(struct ws_json *json, const char *key, uint32_t value)
{
	if (value == WS_NONE)
		ws_json_missing(json, key, WS_ABSENT);
	else
		key_u64(json, key, value);
}

static void key_hex(struct ws_json *json, const char *key, uint64_t value, enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_hex(json, value);
}

static void key_dim3(struct ws_json *json, const char *key, struct ws_dim3 dim,
		     enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_dim3(json, dim);
}

static void key_bool(struct ws_json *json, const char *key, bool value)
{
	ws_json_key(json, key);
	ws_json_bool(json, value);
}

static enum ws_status status_if(bool present)
{
	return present ? WS_OK : WS_ABSENT;
}

/* ---- parts ---- */

static void json_dump(struct ws_json *json, const struct ws_report *report)
{
	const struct ws_dump_facts *dump = &report->dump;
	if (report->dump_status != WS_OK) {
		ws_json_missing(json, "dump", report->dump_status);
		return;
	}
	ws_json_key(json, "dump");
	ws_json_object(json);
	key_str(json, "path", ws_str_of(dump->path), WS_OK);
	key_u64(json, "bytes", dump->bytes);
	char text[40];
	wsi_format(text, "%u.%u", dump->driver_major, dump->driver_minor);
	key_text(json, "driver", dump->have_metadata ? text : NULL);
	wsi_format(text, "%u.%u", dump->cuda_major, dump->cuda_minor);
	key_text(json, "cuda", dump->have_metadata ? text : NULL);
	key_bool(json, "complete", dump->complete);
	key_text(json, "layout", dump->layout);
	key_str(json, "generator", dump->generator, status_if(dump->have_metadata));
	key_hex(json, "flags", dump->flags, status_if(dump->have_flags));
	if (dump->have_time)
		key_u64(json, "timestamp", dump->timestamp);
	else
		ws_json_missing(json, "timestamp", WS_ABSENT);
	key_bool(json, "classic", dump->classic);
	ws_json_end(json);
}

static void json_device(struct ws_json *json, const struct ws_report_device *device)
{
	const struct ws_device *state = &device->state;
	ws_json_object(json);
	if (device->status != WS_OK) {
		ws_json_missing(json, "id", device->status);
		ws_json_end(json);
		return;
	}
	key_u64(json, "id", state->id);
	key_str(json, "name", state->name, WS_OK);
	key_str(json, "type", state->type, WS_OK);
	key_str(json, "sm_type", state->sm_type, WS_OK);
	key_u64(json, "sms", state->n_sms);
	key_u64(json, "warps_per_sm", state->n_warps_per_sm);
	key_u64(json, "pci_bus", state->pci_bus);
	key_u64(json, "pci_device", state->pci_device);
	key_u64(json, "status", state->status);
	key_u64(json, "resident_warps", device->resident_warps);
	key_u64(json, "resident_threads", device->resident_lanes);
	key_u64(json, "faulted_sms", device->faulted_sms);
	ws_json_end(json);
}

static void json_kernel(struct ws_json *json, const struct ws_report_kernel *kernel)
{
	const struct ws_grid *grid = &kernel->grid;
	enum ws_status there = kernel->grid_status;
	char id[24];
	wsi_format(id, "%" PRId64, grid->id);
	ws_json_object(json);
	key_u64(json, "id", kernel->id);
	key_number(json, "device", kernel->device);
	key_str(json, "grid", ws_str_of(id), there);
	key_str(json, "name", kernel->name, kernel->name_status);
	key_str(json, "name_short", kernel->name_short, kernel->name_status);
	key_str(json, "name_mangled", kernel->name_mangled, kernel->name_status);
	key_dim3(json, "gridDim", grid->grid_dim, there);
	key_dim3(json, "blockDim", grid->block_dim, there);
	key_dim3(json, "clusterDim", grid->cluster_dim, status_if(grid->have & WS_GRID_CLUSTER));
	key_hex(json, "entry", grid->function_entry, there);
	key_number(json, "registers", there == WS_OK ? grid->n_regs : WS_NONE);
	key_u64(json, "resident_blocks", kernel->resident_blocks);
	key_u64(json, "resident_warps", kernel->resident_warps);
	ws_json_end(json);
}

static void json_source(struct ws_json *json, const struct ws_report_source *source)
{
	if (source->status != WS_OK) {
		ws_json_missing(json, "source", source->status);
		return;
	}
	ws_json_key(json, "source");
	ws_json_object(json);
	key_text(json, "path", source->path);
	key_bool(json, "changed", source->changed);
	key_u64(json, "first_line", source->first_line);
	ws_json_key(json, "lines");
	ws_json_array(json);
	for (uint32_t i = 0; i < source->n_lines; i++)
		ws_json_str(json, source->lines[i]);
	ws_json_end(json);
	ws_json_end(json);
}

/* Function, file and line: what frames and groups have alike. */
static void json_place(struct ws_json *json, const struct ws_report_frame *frame)
{
	key_str(json, "function", frame->function, frame->function_status);
	key_str(json, "function_short", frame->function_short, frame->function_status);
	key_str(json, "function_mangled", frame->function_mangled, frame->function_status);
	key_str(json, "file", frame->file, frame->line_status);
	if (frame->line_status == WS_OK && frame->line)
		key_u64(json, "line", frame->line);
	else
		ws_json_missing(json, "line",
				frame->line_status == WS_OK ? WS_ABSENT : frame->line_status);
}

static void json_frame(struct ws_json *json, const struct ws_report_frame *frame)
{
	ws_json_object(json);
	key_u64(json, "level", frame->level);
	json_place(json, frame);
	key_bool(json, "inlined", frame->inlined);
	key_hex(json, "pc", frame->pc, WS_OK);
	enum ws_status owned = status_if(frame->owner_short.len > 0);
	key_str(json, "owner", frame->owner_short, owned);
	key_hex(json, "rel_pc", frame->rel_pc, owned);
	key_bool(json, "caller", frame->caller);
	key_bool(json, "library", frame->library);
	if (frame->borrowed_from)
		key_text(json, "lines_borrowed_from", frame->borrowed_from);
	json_source(json, &frame->source);
	ws_json_end(json);
}

static void json_thread(struct ws_json *json, const struct ws_report_thread *at)
{
	key_number(json, "device", at->device);
	key_number(json, "sm", at->sm);
	key_number(json, "warp", at->warp);
	key_number(json, "lane", at->lane);
	key_dim3(json, "blockIdx", at->block, at->block_status);
	key_dim3(json, "threadIdx", at->thread, status_if(at->lane != WS_NONE));
	key_dim3(json, "clusterIdx", at->cluster, status_if(at->have_cluster));
}

static void json_kind(struct ws_json *json, const struct ws_report_exception *e)
{
	static const char *const blames[] = { "lane", "suspects", "sm", "trap", "nobody" };
	key_u64(json, "code", e->code);
	key_text(json, "name", e->name);
	key_text(json, "label", e->label);
	key_text(json, "cuda_gdb", e->cuda_gdb);
	key_text(json, "headline", e->headline);
	key_text(json, "attribution", blames[e->blame]);
	if (e->kind) {
		key_text(json, "family", ws_exception_family_text(e->kind->family));
		key_bool(json, "knows_instruction", e->kind->knows_instruction);
		key_bool(json, "knows_lane", e->kind->knows_lane);
		key_text(json, "meaning", e->kind->meaning);
		key_text(json, "causes", e->kind->causes);
		key_text(json, "checks", e->kind->checks);
	}
}

static void json_exception(struct ws_json *json, const struct ws_report_exception *e)
{
	ws_json_object(json);
	json_kind(json, e);
	json_thread(json, &e->at);
	key_hex(json, "pc", e->pc, e->pc_status);
	key_hex(json, "errorpc", e->errorpc, e->errorpc_status);
	key_number(json, "kernel", e->kernel);
	key_u64(json, "lanes", e->n_lanes);
	key_u64(json, "warps", e->n_warps);
	key_u64(json, "sms", e->n_sms);
	enum ws_status warp = status_if(e->at.warp != WS_NONE);
	key_hex(json, "lanes_blamed", e->lanes_blamed, warp);
	key_hex(json, "lanes_active", e->lanes_active, warp);
	key_hex(json, "lanes_valid", e->lanes_valid, warp);
	key_str(json, "driver_text", e->text, e->text_status);
	key_dim3(json, "target_block", e->target_block, status_if(e->have_target_block));
	key_number(json, "user_frame", e->user_frame);
	key_number(json, "pc_frames_from", e->pc_frames_from);
	key_u64(json, "callers_left_out", e->n_callers_left_out);
	if (e->pc_frame) {
		ws_json_key(json, "pc_frame");
		json_frame(json, e->pc_frame);
	} else {
		ws_json_missing(json, "pc_frame", WS_ABSENT);
	}
	ws_json_key(json, "frames");
	ws_json_array(json);
	for (uint32_t i = 0; i < e->n_frames; i++)
		json_frame(json, &e->frames[i]);
	ws_json_end(json);
	ws_json_end(json);
}

static void json_group(struct ws_json *json, const struct ws_report_group *group)
{
	ws_json_object(json);
	json_place(json, &group->frame);
	key_hex(json, "pc", group->pc, WS_OK);
	key_text(json, "state", ws_thread_state_text(group->state));
	key_u64(json, "warps", group->n_warps);
	key_u64(json, "lanes", group->n_lanes);
	key_number(json, "kernel", group->kernel);
	ws_json_key(json, "user");
	ws_json_object(json);
	json_place(json, &group->user);
	ws_json_end(json);
	ws_json_key(json, "example");
	ws_json_object(json);
	json_thread(json, &group->example);
	ws_json_end(json);
	ws_json_end(json);
}

static void json_diagnostic(struct ws_json *json, const struct ws_diagnostic *one)
{
	ws_json_object(json);
	key_text(json, "what", one->what);
	if (one->file_off == WS_NO_OFFSET)
		ws_json_missing(json, "offset", WS_ABSENT);
	else
		key_u64(json, "offset", one->file_off);
	key_text(json, "message", one->message);
	key_u64(json, "repeats", one->repeats);
	ws_json_end(json);
}

static void json_missing(struct ws_json *json, const struct ws_report_missing *one)
{
	ws_json_object(json);
	key_text(json, "what", one->what);
	key_text(json, "why", ws_missing_word(one->why));
	key_text(json, "advice", one->advice);
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

/* A key with all elements of one of the report's lists. */
#define JSON_LIST(json, report, list, write)                      \
	do {                                                      \
		ws_json_key(json, #list);                         \
		ws_json_array(json);                              \
		for (uint32_t i = 0; i < (report)->n_##list; i++) \
			write(json, &(report)->list[i]);          \
		ws_json_end(json);                                \
	} while (0)

void ws_report_json(const struct ws_report *report, struct ws_out *out)
{
	struct ws_json writer, *json = &writer;
	ws_json_init(json, out, false);
	ws_json_object(json);
	key_text(json, "schema", "warpscope-report-1");
	json_dump(json, report);
	ws_json_key(json, "verdict");
	ws_json_object(json);
	key_text(json, "kind", ws_verdict_kind_text(report->verdict));
	key_text(json, "summary", report->summary);
	key_u64(json, "resident_warps", report->n_warps);
	key_u64(json, "barrier_warps", report->n_barrier_warps);
	ws_json_end(json);
	JSON_LIST(json, report, devices, json_device);
	JSON_LIST(json, report, kernels, json_kernel);
	JSON_LIST(json, report, exceptions, json_exception);
	if (report->focus) {
		ws_json_key(json, "focus");
		json_exception(json, report->focus);
	} else {
		ws_json_missing(json, "focus", WS_ABSENT);
	}
	JSON_LIST(json, report, groups, json_group);
	JSON_LIST(json, report, code, json_name);
	JSON_LIST(json, report, missing, json_missing);
	JSON_LIST(json, report, next, json_next);
	JSON_LIST(json, report, diagnostics, json_diagnostic);
	ws_json_end(json);
}
