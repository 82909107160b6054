/* SPDX-License-Identifier: Apache-2.0 */
/* info where ADDRESS: which registers of which lanes hold the address, or one beside it. */
#include "verbs/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_REGS = 256, WARP_SIZE = WS_MAX_LANES };

struct holders {
	struct wsi_info *info;
	uint64_t address, first, last; /* what counts as beside it */
	struct ws_rows *rows;
	uint32_t (*value)[MAX_REGS]; /* of the lanes at hand */
	uint32_t n[WARP_SIZE];
};

static const struct ws_rows_column columns[] = {
	{ "Register", "register", WS_ROWS_LEFT },
	{ "Dev", "device", 0 },
	{ "SM", "sm", 0 },
	{ "Wp", "warp", 0 },
	{ "Lanes", "lanes", 0 },
	{ "Count", "count", 0 },
	{ "Lowest", "lowest", 0 },
	{ "Highest", "highest", 0 },
	{ "Exact", "exact", 0 },
};

/* What register `i` of lane `k` holds as an address: of 64 bits two neighbours, the lower one even.
 */
static bool register_value_at(const struct holders *holders, uint32_t k, uint32_t i,
			      uint64_t *ret_value)
{
	const uint32_t *value = holders->value[k];
	bool wide = holders->address > UINT32_MAX;
	if (i + wide >= holders->n[k])
		return false;
	*ret_value = wide ? (uint64_t)value[i + 1] << 32 | value[i] : value[i];
	return *ret_value >= holders->first && *ret_value <= holders->last;
}

/* A row for register `i` when one of `n_lanes` lanes holds it. */
static void register_row_of(struct holders *holders, const struct ws_resident *place,
			    const char *letters, uint32_t i, uint32_t n_lanes)
{
	uint64_t lowest = UINT64_MAX, highest = 0, value, lanes = 0, exact = 0;
	uint32_t count = 0;
	bool of_lane = n_lanes > 0;
	for (uint32_t k = 0; k < (of_lane ? n_lanes : 1); k++) {
		if (!register_value_at(holders, k, i, &value))
			continue;
		uint64_t bit =
			of_lane ? UINT64_C(1) << place->lanes[k].id : place->warp.valid_lanes;
		lanes |= bit;
		exact |= value == holders->address ? bit : 0;
		lowest = value < lowest ? value : lowest;
		highest = value > highest ? value : highest;
		count++;
	}
	if (count == 0)
		return;
	char name[24];
	if (holders->address > UINT32_MAX)
		snprintf(name, sizeof name, "%s%u:%s%u", letters, i, letters, i + 1);
	else
		snprintf(name, sizeof name, "%s%u", letters, i);
	ws_rows_begin(holders->rows, ws_threads_has_focus(holders->info->threads, place));
	ws_rows_text(holders->rows, name);
	ws_rows_number(holders->rows, place->device->id);
	ws_rows_number(holders->rows, place->sm.id);
	ws_rows_number(holders->rows, place->warp.id);
	ws_rows_mask(holders->rows, &lanes, WARP_SIZE);
	ws_rows_number(holders->rows, (uint64_t)__builtin_popcountll(lanes));
	ws_rows_hex(holders->rows, lowest, 1);
	ws_rows_hex(holders->rows, highest, 1);
	ws_rows_mask(holders->rows, &exact, WARP_SIZE);
	ws_rows_end(holders->rows);
}

static void visit_holder(void *user, const struct ws_resident *place)
{
	struct holders *holders = user;
	const struct ws_target *target = holders->info->threads->target;
	uint32_t step = holders->address > UINT32_MAX ? 2 : 1, most = 0;
	for (uint32_t k = 0; k < place->n_lanes; k++) {
		if (ws_target_registers(target, place->warp_index, place->lanes[k].id, WS_REG_R, 0,
					MAX_REGS, holders->value[k], &holders->n[k], NULL) != WS_OK)
			holders->n[k] = 0;
		most = holders->n[k] > most ? holders->n[k] : most;
	}
	for (uint32_t i = 0; i < most && i < MAX_REGS; i += step)
		register_row_of(holders, place, "R", i, place->n_lanes);
	if (place->n_lanes == 0 ||
	    ws_target_registers(target, place->warp_index, place->lanes[0].id, WS_REG_UR, 0,
				MAX_REGS, holders->value[0], &holders->n[0], NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < holders->n[0] && i < MAX_REGS; i += step)
		register_row_of(holders, place, "UR", i, 0);
}

static void produce_holders(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	struct holders *holders = info->holders;
	holders->rows = rows;
	ws_threads_walk(info->threads, &info->filter, WS_WALK_LANES, visit_holder, holders);
}

void wsi_info_holders(struct wsi_info *info, uint64_t address, uint64_t first, uint64_t last)
{
	enum { MOST_IN_TEXT = 20, MOST_IN_JSON = 1000 };
	struct holders holders = { .info = info, .address = address, .first = first, .last = last };
	holders.value = wsi_info_alloc(info, WARP_SIZE, sizeof *holders.value);
	if (!holders.value) {
		wsi_info_nothing(info);
		return;
	}
	info->holders = &holders;
	if (!info->is_limited)
		info->style.limit = info->json ? MOST_IN_JSON : MOST_IN_TEXT;
	info->is_limited = true;
	INFO_ROWS(info, columns, produce_holders);
	info->holders = NULL;
	wsi_free(holders.value);
}
