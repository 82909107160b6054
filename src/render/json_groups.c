/* SPDX-License-Identifier: Apache-2.0 */
/* A group of threads as JSON. */
#include "render/json.h"

void wsi_json_group(struct ws_json *json, const struct ws_report_group *group)
{
	ws_json_object(json);
	wsi_json_place(json, &group->frame);
	ws_json_key_hex(json, "pc", group->pc);
	wsi_json_key_text(json, "state", ws_thread_state_text(group->state));
	ws_json_key_u64(json, "warps", group->n_warps);
	ws_json_key_u64(json, "lanes", group->n_lanes);
	wsi_json_key_number(json, "kernel", group->kernel);
	ws_json_key_object(json, "user");
	wsi_json_place(json, &group->user);
	ws_json_end(json);
	wsi_json_example(json, &group->example);
	ws_json_end(json);
}
