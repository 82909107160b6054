/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that hold what cannot be: the rules of doubt.h, for the tables of SMs, warps and lanes. */
#include <stdio.h>

#include <warpscope/doubt.h>

#include "info/info.h"

struct first {
	char *text; /* empty: nothing yet */
	size_t cap;
	uint32_t lane; /* rows of other lanes do not matter; WS_NONE: all do */
};

static void keep_first(void *user, const struct ws_doubt *doubt)
{
	struct first *first = user;
	/* the cell of what nothing tells is empty: that says it */
	if (*first->text || doubt->kind == WS_DOUBT_WARP_BROKEN)
		return;
	if (doubt->kind == WS_DOUBT_LANE_ROW && first->lane != WS_NONE &&
	    first->lane != doubt->lane)
		return;
	snprintf(first->text, first->cap, "%s", doubt->message);
}

struct info_doubt info_doubt_sm(const struct session *session, uint32_t index)
{
	struct info_doubt ret = { "" };
	struct first first = { ret.text, sizeof ret.text, WS_NONE };
	struct ws_sm before, sm;
	if (ws_target_sm(session->target, index, &sm, NULL) != WS_OK)
		return ret;
	bool any = index > 0 && ws_target_sm(session->target, index - 1, &before, NULL) == WS_OK &&
		   before.device_index == sm.device_index;
	const struct ws_device *device = &session->devices[sm.device_index];
	ws_sm_doubts(device, any ? &before : NULL, &sm, keep_first, &first);
	return ret;
}

struct info_doubt info_doubt_warp(const struct session *session, const struct place *place,
				  uint32_t lane)
{
	struct info_doubt ret = { "" };
	struct first first = { ret.text, sizeof ret.text, lane };
	struct ws_warp before;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0, index = place->warp_index;
	if (place->lanes_status != WS_OK ||
	    ws_target_lanes(session->target, index, lanes, &n, NULL) != WS_OK)
		return ret; /* counted as unreadable */
	bool any = index > place->sm.first_warp_index &&
		   ws_target_warp(session->target, index - 1, &before, NULL) == WS_OK;
	ws_warp_doubts(place->device, any ? &before : NULL, &place->warp, lanes, n, keep_first,
		       &first);
	return ret;
}

void info_row_begin(struct info *info, struct rows *rows, bool focus,
		    const struct info_doubt *doubt)
{
	if (*doubt->text) {
		rows_doubt(rows);
		info->n_doubted_rows += !rows->measuring;
	}
	rows_begin(rows, focus);
}

void info_cell_doubt(struct rows *rows, const struct info_doubt *doubt)
{
	rows_or_none(rows, 1, *doubt->text);
	rows_text(rows, doubt->text);
}
