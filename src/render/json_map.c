/* SPDX-License-Identifier: Apache-2.0 */
/* The map of the GPU as JSON: one letter for each warp slot, one string for each SM. */
#include "render/json.h"

#include "render/words.h"

enum { MAX_SLOTS = 256 }; /* of an SM, whatever a damaged dump says */

/* One letter for each slot up to the last with a warp. */
static void slots(struct ws_json *json, const struct ws_report_map *map,
		  const struct ws_report_sm *sm)
{
	char text[MAX_SLOTS];
	size_t len = 0;
	memset(text, '.', sizeof text);
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		const struct ws_report_warp *warp = &map->warps[sm->first_warp + i];
		if (!warp->known || warp->id >= MAX_SLOTS)
			continue;
		text[warp->id] = wsi_render_state_letter((enum ws_thread_state)warp->state);
		len = wsi_max_u64(len, warp->id + 1);
	}
	ws_json_key_str(json, "warps", (struct ws_str){ text, len });
}

void wsi_json_map(struct ws_json *json, const struct ws_report *report)
{
	const struct ws_report_map *map = &report->map;
	ws_json_key_array(json, "map");
	for (uint32_t i = 0; i < map->n_sms; i++) {
		const struct ws_report_sm *sm = &map->sms[i];
		if (sm->status != WS_OK || (sm->n_warps == 0 && sm->exception == 0))
			continue;
		ws_json_object(json);
		wsi_json_key_number(json, "device",
				    sm->device_index < report->n_devices
					    ? report->devices[sm->device_index].state.id
					    : WS_NONE);
		ws_json_key_u64(json, "sm", sm->id);
		wsi_json_key_number(json, "exception",
				    sm->exception_status == WS_OK ? sm->exception : WS_NONE);
		slots(json, map, sm);
		ws_json_end(json);
	}
	ws_json_end(json);
}
