/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels: layout by the image, bytes by the target. */
#include "explain/explain.h"

enum {
	MAX_PARAMS = 4096, /* of one kernel */
	MAX_KERNELS = 64,  /* that get their values */
	PARAM_BANK_MAX = 1 << 16,
};

static int compare_params(const void *left, const void *right)
{
	const struct ws_report_param *a = left, *b = right;
	return WSI_ORDER(a->offset, b->offset);
}

static enum ws_status read_param_value(struct wsi_build *build,
				       const struct ws_report_kernel *kernel,
				       struct ws_report_param *param)
{
	size_t len = wsi_min_u64(param->size_bytes, WS_PARAM_BYTES), n = 0;
	struct ws_address at = { .space = WS_SPACE_PARAM,
				 .device_index = kernel->device_index,
				 .grid_index = kernel->grid_index,
				 .warp_index = WS_NONE,
				 .address = (uint64_t)kernel->params_offset + param->offset };
	uint8_t *bytes = wsi_arena_zalloc(build->arena, len + 1);
	if (!bytes)
		return WS_NO_MEMORY;
	param->value_status = ws_target_read_memory(build->target, &at, bytes, len, &n, NULL);
	if (param->value_status == WS_OK && wsi_explain_memory_is_replaced(build, bytes, len))
		param->value_status = WS_EXCLUDED;
	if (param->value_status == WS_OK)
		param->value = (struct ws_span){ bytes, len, WS_NO_OFFSET };
	return WS_OK;
}

/* Names and types, where there are any; what stands in the way of them is told. */
static enum ws_status types_of(struct wsi_build *build, struct ws_report_kernel *kernel,
			       const struct ws_place *place, const struct ws_param *layout,
			       struct ws_report_param *params)
{
	struct ws_error err;
	kernel->types_status =
		wsi_types_of_kernel(build, place, layout, kernel->n_params, params, &err);
	if (kernel->types_status == WS_OK || kernel->types_status == WS_ABSENT)
		return WS_OK;
	return kernel->types_status == WS_NO_MEMORY
		       ? WS_NO_MEMORY
		       : wsi_diagnose(build, "types of kernel parameters", WS_HIDES_NOTHING, &err);
}

static void hidden_take(struct ws_report_kernel *kernel, const struct ws_function_info *info,
			const struct ws_param *layout, size_t n)
{
	uint32_t offset = 0, bytes = 0;
	for (; ws_params_hidden(info, layout, n, &offset, &bytes); offset += bytes) {
		if (kernel->hidden_bytes == 0)
			kernel->hidden_offset = kernel->params_offset + offset;
		kernel->hidden_bytes += bytes;
	}
	kernel->n_unknown_attributes = info->n_unknown;
	kernel->first_unknown_attribute = info->first_unknown;
}

static enum ws_status report_params_of(struct wsi_build *build, struct ws_report_kernel *kernel)
{
	struct wsi_where where = wsi_where_of_grid(build, kernel->device_index, kernel->grid_index);
	struct ws_cubin_hint hint = { where.module_index, where.device_index, where.context_index };
	struct ws_function_info info;
	struct ws_param *layout = wsi_zalloc_array(MAX_PARAMS, sizeof *layout);
	struct ws_place place;
	if (!layout)
		return WS_NO_MEMORY;
	enum ws_status st = ws_cubin_set_find_address(build->cubins, kernel->grid.function_entry,
						      &hint, &place, NULL);
	if (st == WS_OK && !place.function)
		st = WS_ABSENT;
	if (st == WS_OK)
		st = ws_cubin_function_info(place.cubin, place.function, &info, layout, MAX_PARAMS,
					    NULL, 0, NULL);
	kernel->params_status = st;
	kernel->types_status = st == WS_OK ? WS_ABSENT : st;
	if (st != WS_OK || info.param_bank_offset > PARAM_BANK_MAX)
		goto out;
	uint32_t n = (uint32_t)wsi_min_u64(info.n_params, MAX_PARAMS);
	struct ws_report_param *params = wsi_arena_zalloc_array(build->arena, n, sizeof *params);
	if (!params) {
		st = WS_NO_MEMORY;
		goto out;
	}
	kernel->params = params;
	kernel->n_params = n;
	kernel->params_offset = info.param_bank_offset;
	hidden_take(kernel, &info, layout, n);
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		params[i] = (struct ws_report_param){ .ordinal = layout[i].ordinal,
						      .offset = layout[i].offset,
						      .size_bytes = layout[i].size_bytes };
		st = read_param_value(build, kernel, &params[i]);
	}
	if (st == WS_OK)
		st = types_of(build, kernel, &place, layout, params);
	qsort(params, n, sizeof *params, compare_params);
out:
	wsi_free(layout);
	return st == WS_NO_MEMORY ? st : WS_OK;
}

enum ws_status wsi_explain_params(struct wsi_build *build)
{
	for (uint32_t i = 0; i < build->report->n_kernels && i < MAX_KERNELS; i++) {
		struct ws_report_kernel *kernel = &build->kernels[i];
		if (kernel->name_status != WS_OK)
			continue;
		enum ws_status st = report_params_of(build, kernel);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}
