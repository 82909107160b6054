/* SPDX-License-Identifier: Apache-2.0 */
/* What code without debug information still names: parameters of the kernel, and what registers
 * hold of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <warpscope/report.h>

#include "look/look.h"

enum { MOST_PARAMS = 4096, MOST_HELD = 512 };

/* "arg0 = 0x7f3a00000000  (float*, 8 bytes at c[0x0][0x160])"; without a type, as gdb's /x. */
static void print_param(struct look *look, const struct ws_kernel_param *param, struct ws_out *out)
{
	const bool typed = param->type.len > 0;
	ws_out_printf(out, "%s = ", param->name);
	(void)ws_vars_print(look->vars, &param->value,
			    (struct ws_value_format){ .letter = typed ? 0 : 'x' }, out);
	ws_out_text(out, "  (");
	ws_out_escaped(out, param->type);
	ws_out_printf(out, "%s%" PRIu32 " byte%s at c[0x0][0x%" PRIx32 "])\n", typed ? ", " : "",
		      param->size_bytes, param->size_bytes == 1 ? "" : "s", param->bank_offset);
}

static void json_param(struct look *look, const struct ws_kernel_param *param, struct ws_json *json)
{
	const bool typed = param->type.len > 0;
	ws_json_object(json);
	ws_json_key_text(json, "name", param->name);
	ws_json_key(json, "signature_type");
	if (typed)
		ws_json_str(json, param->type);
	else
		ws_json_null(json);
	look_json_value(look, &param->value, (struct ws_value_format){ .letter = typed ? 0 : 'x' },
			json);
	ws_json_key_u64(json, "offset", param->bank_offset);
	ws_json_key_u64(json, "size", param->size_bytes);
	ws_json_end(json);
}

size_t look_list_params(struct look *look, struct ws_out *out, struct ws_json *json,
			enum ws_status *ret_status, struct ws_error *err)
{
	struct ws_kernel_param *list = cli_alloc(MOST_PARAMS, sizeof *list);
	size_t n = 0;
	*ret_status = ws_vars_params(look->vars, list, MOST_PARAMS, &n, err);
	n = *ret_status != WS_OK ? 0 : n < MOST_PARAMS ? n : MOST_PARAMS;
	for (size_t i = 0; i < n; i++) {
		if (json)
			json_param(look, &list[i], json);
		else
			print_param(look, &list[i], out);
	}
	free(list);
	return n;
}

static const char *doubt_text(enum ws_held_doubt doubt)
{
	return ws_confidence_text(doubt == WS_HELD_CERTAIN  ? WS_CONFIDENCE_CERTAIN
				  : doubt == WS_HELD_LIKELY ? WS_CONFIDENCE_LIKELY
							    : WS_CONFIDENCE_POSSIBLE);
}

size_t look_list_held(struct look *look, struct ws_out *out, struct ws_json *json)
{
	struct ws_held *list = cli_alloc(MOST_HELD, sizeof *list);
	size_t n = 0;
	if (ws_vars_held(look->vars, list, MOST_HELD, &n, NULL) != WS_OK)
		n = 0;
	n = n < MOST_HELD ? n : MOST_HELD;
	if (n && !json)
		ws_out_text(out, "What registers hold, by the code:\n");
	for (size_t i = 0; i < n; i++) {
		const struct ws_held *held = &list[i];
		const char *kind = held->kind == WS_REG_UR ? "UR" : "R";
		char name[16], value[24];
		snprintf(name, sizeof name, "%s%s%" PRIu32, kind, held->n == 2 ? "D" : "",
			 held->number);
		if (held->n == 2)
			snprintf(value, sizeof value, "0x%" PRIx64, held->value);
		else
			snprintf(value, sizeof value, "%" PRId32, (int32_t)held->value);
		if (json) {
			ws_json_object(json);
			ws_json_key_text(json, "register", name);
			ws_json_key_text(json, "value", value);
			ws_json_key_text(json, "holds", held->text);
			ws_json_key_text(json, "confidence", doubt_text(held->doubt));
			ws_json_end(json);
		} else {
			ws_out_printf(out, "$%s = %s  %s (%s)\n", name, value, held->text,
				      doubt_text(held->doubt));
		}
	}
	free(list);
	return n;
}
