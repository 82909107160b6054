/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between two targets: fields of rows.
 *
 * What a row of a dump is made of is known in one place (wsi_row_fields), so a field that is added
 * there is compared here. Rows match by what stays the same from run to run: ids, and places in the
 * grid. What is told otherwise, and where a warp happened to run, is left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>

#include "verbs/diff.h"

/* ---- two rows ---- */

/* Fields that the other kinds of difference tell, and the slot of a warp. */
static bool is_left_out(enum ws_row row, const char *name)
{
	static const struct {
		enum ws_row row;
		const char *name;
	} fields[] = { { WS_ROW_DEVICE, "name" },   { WS_ROW_DEVICE, "sm_type" },
		       { WS_ROW_GRID, "grid_dim" }, { WS_ROW_GRID, "block_dim" },
		       { WS_ROW_WARP, "id" },       { WS_ROW_LANE, "rel_pc" },
		       { WS_ROW_LANE, "exception" } };
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		if (fields[i].row == row && strcmp(fields[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool has_masks(const char *name)
{
	size_t len = strlen(name);
	return strcmp(name, "flags") == 0 || (len > 6 && strcmp(name + len - 6, "_lanes") == 0);
}

static void field_text(char text[DIFF_TEXT], const struct ws_field *field, const void *member)
{
	const struct ws_dim3 *dim = member;
	const struct ws_str *str = member;
	switch (field->type) {
	case WS_FIELD_U32:
		snprintf(text, DIFF_TEXT, has_masks(field->name) ? "0x%" PRIx32 : "%" PRIu32,
			 *(const uint32_t *)member);
		break;
	case WS_FIELD_U64:
		snprintf(text, DIFF_TEXT, "0x%" PRIx64, *(const uint64_t *)member);
		break;
	case WS_FIELD_I64:
		snprintf(text, DIFF_TEXT, "%" PRId64, *(const int64_t *)member);
		break;
	case WS_FIELD_FLAG:
		snprintf(text, DIFF_TEXT, "%s", *(const bool *)member ? "yes" : "no");
		break;
	case WS_FIELD_DIM3:
		snprintf(text, DIFF_TEXT, "(%u,%u,%u)", dim->x, dim->y, dim->z);
		break;
	case WS_FIELD_TEXT:
		snprintf(text, DIFF_TEXT, "%.*s", (int)(str->len > 200 ? 200 : str->len),
			 str->len ? str->ptr : "");
		break;
	}
}

static bool same_member(const struct ws_field *field, const char *a, const char *b)
{
	const struct ws_str *left = (const void *)a, *right = (const void *)b;
	switch (field->type) {
	case WS_FIELD_U32:
		return memcmp(a, b, sizeof(uint32_t)) == 0;
	case WS_FIELD_U64:
	case WS_FIELD_I64:
		return memcmp(a, b, sizeof(uint64_t)) == 0;
	case WS_FIELD_FLAG:
		return *(const bool *)a == *(const bool *)b;
	case WS_FIELD_DIM3:
		return memcmp(a, b, sizeof(struct ws_dim3)) == 0;
	case WS_FIELD_TEXT:
		return left->len == right->len &&
		       (left->len == 0 || memcmp(left->ptr, right->ptr, left->len) == 0);
	}
	return false;
}

void wsi_diff_row(struct wsi_diff *diff, enum ws_row row, const char *key, const void *a,
		  const void *b)
{
	size_t n;
	const struct ws_field *fields = wsi_row_fields(row, &n);
	const void *const rows[2] = { a, b };
	for (size_t i = 0; i < n; i++) {
		const struct ws_field *field = &fields[i];
		char text[2][DIFF_TEXT], name[DIFF_TEXT];
		bool has[2];
		if (is_left_out(row, field->name))
			continue;
		for (int s = 0; s < 2; s++)
			has[s] = (wsi_row_have(row, rows[s]) & field->have) == field->have;
		if ((!has[0] && !has[1]) || (has[0] && has[1] &&
					     same_member(field, (const char *)a + field->offset,
							 (const char *)b + field->offset)))
			continue;
		for (int s = 0; s < 2; s++)
			field_text(text[s], field, (const char *)rows[s] + field->offset);
		snprintf(name, DIFF_TEXT, "%.340s %.40s", key, field->name);
		wsi_diff_tell(diff, WS_DIFF_field, name, has[0] ? text[0] : NULL,
			      has[1] ? text[1] : NULL);
	}
}

/* ---- tables ---- */

enum { MAX_KEY = 8 };

union any_row {
	struct ws_device device;
	struct ws_context context;
	struct ws_grid grid;
	struct ws_sm sm;
	struct ws_block block;
	struct ws_warp warp;
};

struct keyed {
	uint64_t key[MAX_KEY];
	uint32_t index;
};

static uint32_t field_count_of(const struct ws_counts *counts, enum ws_row row)
{
	return row == WS_ROW_DEVICE    ? counts->devices
	       : row == WS_ROW_CONTEXT ? counts->contexts
	       : row == WS_ROW_GRID    ? counts->grids
	       : row == WS_ROW_SM      ? counts->sms
	       : row == WS_ROW_BLOCK   ? counts->blocks
				       : counts->warps;
}

static uint64_t device_id(const struct wsi_diff_side *side, uint32_t index)
{
	struct ws_device device;
	return ws_target_device(side->target, index, &device, NULL) == WS_OK ? device.id : WS_NONE;
}

/* The grid, the block, and the first thread; false: the block or the lanes cannot be read. */
static bool warp_key(const struct wsi_diff_side *side, const struct ws_warp *warp, uint32_t index,
		     uint64_t key[MAX_KEY])
{
	struct ws_block block;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_block(side->target, warp->block_index, &block, NULL) != WS_OK ||
	    ws_target_lanes(side->target, index, lanes, &n, NULL) != WS_OK || n == 0)
		return false;
	const struct ws_dim3 *thread = &lanes[0].thread;
	const uint64_t place[] = { (uint64_t)block.grid_id,
				   block.idx.z,
				   block.idx.y,
				   block.idx.x,
				   thread->z,
				   thread->y,
				   thread->x };
	memcpy(&key[1], place, sizeof place);
	return true;
}

/* A row and what it is found by on the other side: the device, then what tells it from others. */
static bool row_get(const struct wsi_diff_side *side, enum ws_row row, uint32_t index,
		    union any_row *ret, uint64_t key[MAX_KEY])
{
	const struct ws_target *t = side->target;
	uint32_t device = WS_NONE;
	memset(key, 0, MAX_KEY * sizeof *key);
	if (row == WS_ROW_DEVICE && ws_target_device(t, index, &ret->device, NULL) == WS_OK) {
		key[0] = ret->device.id;
		return true;
	} else if (row == WS_ROW_CONTEXT &&
		   ws_target_context(t, index, &ret->context, NULL) == WS_OK) {
		device = ret->context.device_index;
		key[1] = ret->context.id;
	} else if (row == WS_ROW_GRID && ws_target_grid(t, index, &ret->grid, NULL) == WS_OK) {
		device = ret->grid.device_index;
		key[1] = (uint64_t)ret->grid.id;
	} else if (row == WS_ROW_SM && ws_target_sm(t, index, &ret->sm, NULL) == WS_OK) {
		device = ret->sm.device_index;
		key[1] = ret->sm.id;
	} else if (row == WS_ROW_BLOCK && ws_target_block(t, index, &ret->block, NULL) == WS_OK) {
		device = ret->block.device_index;
		key[1] = (uint64_t)ret->block.grid_id;
		key[2] = ret->block.idx.z;
		key[3] = ret->block.idx.y;
		key[4] = ret->block.idx.x;
	} else if (row == WS_ROW_WARP && ws_target_warp(t, index, &ret->warp, NULL) == WS_OK &&
		   warp_key(side, &ret->warp, index, key)) {
		device = ret->warp.device_index;
	} else {
		return false;
	}
	key[0] = device_id(side, device);
	return true;
}

static void key_text(char text[DIFF_TEXT], enum ws_row row, const uint64_t key[MAX_KEY])
{
	int n = snprintf(text, DIFF_TEXT, "device %" PRIu64, key[0]);
	char *at = text + n;
	size_t room = DIFF_TEXT - (size_t)n;
	if (row == WS_ROW_CONTEXT)
		snprintf(at, room, " context 0x%" PRIx64, key[1]);
	else if (row == WS_ROW_SM)
		snprintf(at, room, " SM %" PRIu64, key[1]);
	else if (row == WS_ROW_GRID)
		snprintf(at, room, " grid %" PRId64, (int64_t)key[1]);
	else if (row != WS_ROW_DEVICE)
		n = snprintf(at, room,
			     " grid %" PRId64 " block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")",
			     (int64_t)key[1], key[4], key[3], key[2]);
	if (row == WS_ROW_WARP)
		snprintf(at + n, room - (size_t)n, " thread (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")",
			 key[7], key[6], key[5]);
}

static int key_order(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	for (size_t i = 0; i < MAX_KEY; i++) {
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	}
	return 0;
}

static struct keyed *keys_of(struct wsi_diff *diff, int s, enum ws_row row, uint32_t *ret_n)
{
	const struct wsi_diff_side *side = &diff->side[s];
	uint32_t count = field_count_of(&side->counts, row), n = 0;
	struct keyed *keys = wsi_zalloc_array((size_t)count + 1, sizeof *keys);
	union any_row any;
	diff->is_out_of_memory |= !keys;
	for (uint32_t i = 0; keys && i < count; i++) {
		if (row_get(side, row, i, &any, keys[n].key))
			keys[n++].index = i;
	}
	if (n)
		qsort(keys, n, sizeof *keys, key_order);
	*ret_n = n;
	return keys;
}

void wsi_diff_match(struct wsi_diff *diff, enum ws_row row, const char *alone,
		    wsi_diff_pair_fn *pair)
{
	const enum ws_diff_kind kind = row == WS_ROW_WARP ? WS_DIFF_warp : WS_DIFF_field;
	uint32_t n[2], at[2] = { 0, 0 };
	struct keyed *keys[2];
	for (int s = 0; s < 2; s++)
		keys[s] = keys_of(diff, s, row, &n[s]);
	while (at[0] < n[0] || at[1] < n[1]) {
		const struct keyed *a = at[0] < n[0] ? &keys[0][at[0]] : NULL;
		const struct keyed *b = at[1] < n[1] ? &keys[1][at[1]] : NULL;
		int order = !a ? 1 : !b ? -1 : key_order(a, b);
		char text[DIFF_TEXT];
		at[0] += order <= 0;
		at[1] += order >= 0;
		key_text(text, row, order <= 0 ? a->key : b->key);
		if (order == 0)
			pair(diff, row, (const uint32_t[2]){ a->index, b->index }, text);
		else if (alone)
			wsi_diff_tell(diff, kind, text, order < 0 ? alone : NULL,
				      order < 0 ? NULL : alone);
	}
	wsi_free(keys[0]);
	wsi_free(keys[1]);
}

/* A `wsi_diff_pair_fn`. */
static void fields_compare(struct wsi_diff *diff, enum ws_row row, const uint32_t rows[2],
			   const char *key)
{
	union any_row any[2];
	uint64_t keys[MAX_KEY];
	if (row_get(&diff->side[0], row, rows[0], &any[0], keys) &&
	    row_get(&diff->side[1], row, rows[1], &any[1], keys))
		wsi_diff_row(diff, row, key, &any[0], &any[1]);
}

static void metadata_compare(struct wsi_diff *diff)
{
	struct ws_dump_facts facts[2] = { { 0 }, { 0 } };
	for (int s = 0; s < 2; s++)
		(void)!ws_target_dump_facts(diff->side[s].target, &facts[s], NULL);
	if (facts[0].have_metadata && facts[1].have_metadata)
		wsi_diff_row(diff, WS_ROW_METADATA, "dump", &facts[0], &facts[1]);
	else if (facts[0].have_metadata || facts[1].have_metadata)
		wsi_diff_tell(diff, WS_DIFF_field, "dump metadata",
			      facts[0].have_metadata ? "recorded" : NULL,
			      facts[1].have_metadata ? "recorded" : NULL);
}

void wsi_diff_tables(struct wsi_diff *diff)
{
	metadata_compare(diff);
	wsi_diff_match(diff, WS_ROW_DEVICE, NULL, fields_compare); /* in a list of their own, too */
	wsi_diff_match(diff, WS_ROW_CONTEXT, "recorded", fields_compare);
	wsi_diff_match(diff, WS_ROW_GRID, NULL, fields_compare); /* likewise */
	wsi_diff_match(diff, WS_ROW_SM, "recorded", fields_compare);
	wsi_diff_match(diff, WS_ROW_BLOCK, "recorded", fields_compare);
}

/* ---- call stacks ---- */

void wsi_diff_stacks(struct wsi_diff *diff, const uint32_t warps[2], uint32_t lane, const char *key)
{
	uint32_t n[2];
	char text[DIFF_TEXT];
	for (int s = 0; s < 2; s++) {
		n[s] = 0;
		if (ws_target_call_stack(diff->side[s].target, warps[s], lane, diff->frames[s],
					 DIFF_MAX_DEPTH, &n[s], NULL) != WS_OK)
			n[s] = 0;
		n[s] = n[s] > DIFF_MAX_DEPTH ? DIFF_MAX_DEPTH : n[s];
	}
	for (uint32_t i = 0; i < n[0] || i < n[1]; i++) {
		snprintf(text, DIFF_TEXT, "%.360s caller %u", key, i);
		if (i < n[0] && i < n[1])
			wsi_diff_row(diff, WS_ROW_FRAME, text, &diff->frames[0][i],
				     &diff->frames[1][i]);
		else
			wsi_diff_tell(diff, WS_DIFF_field, text, i < n[0] ? "recorded" : NULL,
				      i < n[1] ? "recorded" : NULL);
	}
}
