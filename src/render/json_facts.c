/* SPDX-License-Identifier: Apache-2.0 */
/* The dump, how the code was built, devices and kernels as JSON. */
#include "report/build.h"

#include "render/json.h"

/* What `strip` took away, as a list of words. */
static void json_stripped(struct ws_json *json, uint32_t stripped)
{
	static const char *const words[] = { "others", "values", "ptx", "paths" };
	ws_json_key_array_line(json, "stripped");
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		if (stripped >> i & 1)
			ws_json_text(json, words[i]);
	}
	ws_json_end(json);
}

void wsi_json_dump(struct ws_json *json, const struct ws_report *report)
{
	const struct ws_dump_facts *dump = &report->dump;
	if (!wsi_json_object(json, "dump", report->dump_status))
		return;
	ws_json_key_str(json, "path", ws_str_of(dump->path));
	ws_json_key_u64(json, "bytes", dump->bytes);
	char text[40];
	wsi_format(text, "%u.%u", dump->driver_major, dump->driver_minor);
	wsi_json_key_text(json, "driver", dump->driver_major ? text : NULL);
	wsi_format(text, "%u.%u", dump->cuda_major, dump->cuda_minor);
	wsi_json_key_text(json, "cuda", dump->cuda_major ? text : NULL);
	ws_json_key_bool(json, "complete", dump->complete);
	wsi_json_key_text(json, "layout", dump->layout);
	wsi_json_key_str(json, "generator", dump->generator, wsi_status_if(dump->have_metadata));
	wsi_json_key_hex(json, "flags", dump->flags, wsi_status_if(dump->have_flags));
	json_stripped(json, dump->stripped);
	wsi_json_key_u64(json, "timestamp", dump->timestamp, wsi_status_if(dump->have_time));
	ws_json_key_bool(json, "classic", dump->classic);
	ws_json_end(json);
}

static void json_code_id(struct ws_json *json, const char *key, const struct ws_code_id *id,
			 enum ws_status status)
{
	char text[WS_CODE_ID_TEXT];
	ws_code_id_text(id, text);
	wsi_json_key_str(json, key, ws_str_of(text), status);
}

static void json_note(struct ws_json *json, const char *key, struct ws_str text)
{
	wsi_json_key_str(json, key, text, wsi_status_if(text.len > 0));
}

static void json_tuned(struct ws_json *json, const struct ws_report_image *image)
{
	ws_json_key_array(json, "tuned");
	for (uint32_t i = 0; i < image->n_tuned; i++) {
		const struct ws_report_tuned *one = &image->tuned[i];
		ws_json_object(json);
		wsi_json_key_text(json, "path", one->path);
		ws_json_key_u64(json, "files", one->n_files);
		for (size_t k = 0; k < WS_TUNED_OPTIONS; k++) {
			if (one->option[k])
				ws_json_key_u64(json, wsi_report_tuned_options[k], one->option[k]);
		}
		ws_json_end(json);
	}
	ws_json_end(json);
}

void wsi_json_image(struct ws_json *json, const struct ws_report *report)
{
	static const char *const lines[] = { "present", "not built", "removed", "unknown" };
	const struct ws_report_image *image = &report->image;
	const struct ws_cubin_facts *facts = &image->facts;
	char text[40];
	if (!wsi_json_object(json, "image", report->image_status))
		return;
	wsi_format(text, "sm_%" PRIu32 "%.1s", facts->sm,
		   facts->variant ? (char[]){ facts->variant, 0 } : "");
	wsi_json_key_text(json, "arch", facts->sm ? text : NULL);
	wsi_json_key_number(json, "virtual_arch", facts->virtual_sm);
	wsi_format(text, "%" PRIu32 ".%" PRIu32, facts->toolkit / 10, facts->toolkit % 10);
	wsi_json_key_text(json, "toolkit", facts->toolkit != WS_UNKNOWN ? text : NULL);
	json_note(json, "tool", facts->tool);
	json_note(json, "tool_version", facts->tool_version);
	json_note(json, "tool_build", facts->tool_build);
	json_note(json, "options", facts->options);
	json_note(json, "options_shown", image->options_shown);
	wsi_json_key_text(json, "lines", lines[image->lines]);
	wsi_json_key_text(json, "lines_borrowed_from", image->lines_borrowed_from);
	if (image->n_tuned)
		json_tuned(json, image);
	ws_json_key_bool(json, "debug_info", facts->has_debug_info);
	ws_json_key_bool(json, "ptx", facts->has_ptx);
	json_code_id(json, "code_id", &image->code_id, image->code_id_status);
	json_code_id(json, "image_id", &image->image_id, image->image_id_status);
	ws_json_end(json);
}

void wsi_json_device(struct ws_json *json, const struct ws_report_device *device)
{
	const struct ws_device *state = &device->state;
	ws_json_object(json);
	if (device->status != WS_OK) {
		ws_json_missing(json, "id", device->status);
		ws_json_end(json);
		return;
	}
	ws_json_key_u64(json, "id", state->id);
	ws_json_key_str(json, "name", state->name);
	ws_json_key_str(json, "type", state->type);
	ws_json_key_str(json, "sm_type", state->sm_type);
	ws_json_key_u64(json, "sms", state->n_sms);
	ws_json_key_u64(json, "warps_per_sm", state->n_warps_per_sm);
	ws_json_key_u64(json, "pci_bus", state->pci_bus);
	ws_json_key_u64(json, "pci_device", state->pci_device);
	ws_json_key_u64(json, "status", state->status);
	ws_json_key_u64(json, "resident_warps", device->resident_warps);
	ws_json_key_u64(json, "resident_threads", device->resident_lanes);
	ws_json_key_u64(json, "faulted_sms", device->faulted_sms);
	ws_json_end(json);
}

void wsi_json_kernel(struct ws_json *json, const struct ws_report_kernel *kernel)
{
	const struct ws_grid *grid = &kernel->grid;
	enum ws_status there = kernel->grid_status;
	char id[24];
	wsi_format(id, "%" PRId64, grid->id);
	ws_json_object(json);
	ws_json_key_u64(json, "id", kernel->id);
	wsi_json_key_number(json, "device", kernel->device);
	wsi_json_key_str(json, "grid", ws_str_of(id), there);
	wsi_json_key_str(json, "name", kernel->name, kernel->name_status);
	wsi_json_key_str(json, "name_short", kernel->name_short, kernel->name_status);
	wsi_json_key_str(json, "name_mangled", kernel->name_mangled, kernel->name_status);
	wsi_json_key_dim3(json, "gridDim", grid->grid_dim, there);
	wsi_json_key_dim3(json, "blockDim", grid->block_dim, there);
	wsi_json_key_dim3(json, "clusterDim", grid->cluster_dim,
			  wsi_status_if(grid->have & WS_GRID_CLUSTER));
	wsi_json_key_hex(json, "entry", grid->function_entry, there);
	wsi_json_key_number(json, "registers",
			    grid->have & WS_GRID_N_REGS ? grid->n_regs : WS_NONE);
	ws_json_key_u64(json, "resident_blocks", kernel->resident_blocks);
	ws_json_key_u64(json, "resident_warps", kernel->resident_warps);
	wsi_json_params(json, kernel);
	ws_json_end(json);
}
