/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share that show a stack and its variables: bt, locals, print. */
#ifndef WSI_VERBS_STACK_H
#define WSI_VERBS_STACK_H

#include <warpscope/verbs.h>

#include "base/bytes.h"

enum { WSI_MOST_PARAMS = 4096, WSI_MOST_HELD = 512 };

/* Where lists and texts are made, one at a time. */
struct ws_stack_room {
	struct ws_variable_value list[WS_VARS_MAX_LIST];
	struct ws_kernel_param params[WSI_MOST_PARAMS];
	struct ws_held held[WSI_MOST_HELD];
	struct wsi_bytes text; /* `failed`: memory is out, for this or for copies of it */
};

/* Parameters or variables of the frame that is looked at: a line each, or objects of the array that
 * is open. Returns how many; `*ret_status`: why there are none. */
size_t wsi_stack_list(struct ws_stack *stack, bool params, struct ws_out *out, struct ws_json *json,
		      enum ws_status *ret_status, struct ws_error *err);
/* The parameters of a kernel that was not compiled with -G, in `room->params`. */
enum ws_status wsi_stack_params(struct ws_stack *stack, size_t *ret_n, struct ws_error *err);
/* Its variables, a line each, below its own line. */
enum ws_status wsi_stack_variables_text(struct ws_stack *stack, size_t number, struct ws_out *out,
					struct ws_error *err);

/* A `ws_write_fn` of a struct wsi_bytes. */
bool wsi_verbs_text_write(void *user, const char *bytes, size_t len);
/* A value as text, until the next one. `*ret_status`: whether it is there, as ws_vars_print(). */
const char *wsi_stack_value_text(struct ws_stack *stack, const struct ws_value *value,
				 struct ws_value_format format, enum ws_status *ret_status);
/* Keys "type", "value", "value_why". */
void wsi_stack_value_json(struct ws_stack *stack, const struct ws_value *value,
			  struct ws_value_format format, struct ws_json *json);
/* Begins a document of a schema, with the focus. */
void wsi_verbs_json_begin(const struct ws_threads *threads, const char *schema,
			  struct ws_json *json, struct ws_out *out);
/* Whether memory sufficed for all texts. */
enum ws_status wsi_stack_status(const struct ws_stack *stack, struct ws_error *err);

#endif
