/* SPDX-License-Identifier: Apache-2.0 */
#include "doubt.h"

#include <stdio.h>

#include <warpscope/doubt.h>

struct first {
	struct doubt *doubt; /* its text is empty: nothing yet */
	uint32_t lane; /* rows of other lanes do not matter; WS_NONE: all do, DOUBT_NO_LANE: none
			  does */
};

static void keep_first(void *user, const struct ws_doubt *doubt)
{
	struct first *first = user;
	/* the cell of what nothing tells is empty: that says it */
	if (doubt->lane < WS_MAX_LANES)
		first->doubt->lanes |= UINT32_C(1) << doubt->lane;
	if (*first->doubt->text || doubt->kind == WS_DOUBT_WARP_BROKEN)
		return;
	if (doubt->lane != WS_NONE && first->lane != WS_NONE && first->lane != doubt->lane)
		return;
	snprintf(first->doubt->text, sizeof first->doubt->text, "%s", doubt->message);
}

struct doubt doubt_of_sm(const struct session *session, uint32_t index)
{
	struct doubt ret = { .text = "" };
	struct first first = { &ret, WS_NONE };
	struct ws_sm before, sm;
	if (ws_target_sm(session->target, index, &sm, NULL) != WS_OK)
		return ret;
	bool any = index > 0 && ws_target_sm(session->target, index - 1, &before, NULL) == WS_OK &&
		   before.device_index == sm.device_index;
	const struct ws_device *device = &session->threads.devices[sm.device_index];
	ws_sm_doubts(device, any ? &before : NULL, &sm, keep_first, &first);
	return ret;
}

struct doubt doubt_of_warp(const struct session *session, const struct ws_resident *place,
			   uint32_t lane)
{
	struct doubt ret = { .text = "" };
	struct first first = { &ret, lane };
	struct ws_warp before;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0, index = place->warp_index;
	if (place->lanes_status != WS_OK ||
	    ws_target_lanes(session->target, index, lanes, &n, NULL) != WS_OK)
		return ret; /* counted as unreadable */
	bool any = index > place->sm.first_warp_index &&
		   ws_target_warp(session->target, index - 1, &before, NULL) == WS_OK;
	ws_warp_doubts(place->device, place->grid, any ? &before : NULL, &place->warp, lanes, n,
		       keep_first, &first);
	return ret;
}

void doubt_row_begin(struct rows *rows, bool focus, const struct doubt *doubt, unsigned *n_rows)
{
	if (*doubt->text) {
		rows_doubt(rows);
		*n_rows += !rows->measuring;
	}
	rows_begin(rows, focus);
}

void doubt_cell(struct rows *rows, const struct doubt *doubt)
{
	rows_or_none(rows, 1, *doubt->text);
	rows_text(rows, doubt->text);
}

void doubt_warn(const char *path, unsigned n_rows)
{
	if (n_rows)
		cli_warn("%s: the rows marked with ? (%u) hold values that cannot be or that "
			 "contradict other rows, and prove nothing; see: warpscope check %s",
			 path, n_rows, path);
}
