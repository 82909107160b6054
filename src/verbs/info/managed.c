/* SPDX-License-Identifier: Apache-2.0 */
/* info managed: variables that host and device share. */
#include <warpscope/vars.h>

#include "verbs/info/info.h"
#include "verbs/stack.h"

/* The variable as the debug information of the thread's image has it, if it is the same one. */
static bool managed_value_of(struct ws_vars *vars, const struct ws_variable *variable,
			     const char *name, struct ws_value *ret_value)
{
	return vars && ws_vars_evaluate(vars, name, ret_value, NULL) == WS_OK &&
	       ret_value->kind == WS_VALUE_MEMORY && variable->gpu_va &&
	       ret_value->at.address == variable->gpu_va;
}

static void managed_cells(struct ws_rows *rows, struct wsi_info *info, struct ws_vars *vars,
			  const struct ws_variable *variable)
{
	struct ws_value value;
	enum ws_status read = WS_ABSENT;
	char type[512], name[WS_NAME_BYTES];
	struct wsi_bytes text = { 0 };
	struct ws_out out;
	ws_demangle_short(variable->name, name, sizeof name);
	bool typed = managed_value_of(vars, variable, name, &value);
	ws_out_init(&out, wsi_verbs_text_write, &text);
	if (typed)
		read = ws_vars_print(vars, &value, (struct ws_value_format){ 0 }, &out);
	(void)!ws_out_flush(&out, NULL);
	if (text.failed)
		wsi_info_no_memory(info);
	ws_rows_begin(rows, false);
	ws_rows_text(rows, name);
	if (typed)
		ws_vars_spell(vars, &value.type, type, sizeof type);
	ws_rows_given(rows, 1, typed ? WS_OK : WS_ABSENT);
	ws_rows_text(rows, typed ? type : "");
	ws_rows_given(rows, 1, variable->gpu_va ? WS_OK : WS_ABSENT);
	ws_rows_hex(rows, variable->gpu_va, 16);
	ws_rows_number(rows, variable->size_bytes);
	ws_rows_given(rows, 1, read);
	ws_rows_str(rows, (struct ws_str){ (const char *)text.ptr, text.len });
	ws_rows_end(rows);
	wsi_bytes_fini(&text);
}

static void produce_managed(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	struct ws_vars *vars = NULL;
	struct ws_cubin_set *set;
	if (ws_target_cubins(info->threads->target, &set, NULL) != WS_OK)
		return;
	if (info->threads->have_focus &&
	    ws_vars_create(info->threads->target, &vars, NULL) == WS_OK)
		(void)!ws_vars_look(vars, &info->threads->focus, NULL);
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		const struct ws_variable *variables;
		struct ws_cubin *cubin;
		size_t n = 0;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) != WS_OK ||
		    ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n; k++)
			if (variables[k].is_managed)
				managed_cells(rows, info, vars, &variables[k]);
	}
	ws_vars_destroy(vars);
}

static const struct ws_rows_column columns[] = {
	{ "Name", "name", WS_ROWS_LEFT },   { "Type", "type", WS_ROWS_LEFT },
	{ "Address", "address", 0 },        { "Size", "size", 0 },
	{ "Value", "value", WS_ROWS_LEFT },
};

INFO_TABLE(managed, columns, produce_managed)
