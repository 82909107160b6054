/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a map: positions of a pc, sequences and their rows, code of a source line, damage.
 */
#include "line/map.h"

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map rows");
}

/* ---- owners ---- */

/* Index of the first anchored part of an owner, in map->owner. */
static size_t owner_lower(const struct ws_line_map *map, uint32_t owner)
{
	size_t lo = 0, hi = map->n_owners;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (map->owner[mid].owner < owner)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Iterates over the parts that can hold sequences of an owner: the anchored ones that are known to,
 * then those about which nothing is known before they are decoded. Nothing is known of any part for
 * WS_LINE_NO_OWNER.
 */
struct owner_parts {
	uint32_t owner;
	size_t next_owner, next_part;
};

static struct owner_parts owner_parts_of(const struct ws_line_map *map, uint32_t owner)
{
	return (struct owner_parts){
		.owner = owner,
		.next_owner = owner == WS_LINE_NO_OWNER ? map->n_owners : owner_lower(map, owner),
	};
}

static bool owner_parts_next(const struct ws_line_map *map, struct owner_parts *it,
			     size_t *ret_part)
{
	if (it->next_owner < map->n_owners && map->owner[it->next_owner].owner == it->owner) {
		*ret_part = map->owner[it->next_owner++].part;
		return true;
	}
	if (map->n_owners == map->n_parts && it->owner != WS_LINE_NO_OWNER)
		return false;
	while (it->next_part < map->n_parts) {
		size_t i = it->next_part++;
		if (!map->part[i].anchored || it->owner == WS_LINE_NO_OWNER) {
			*ret_part = i;
			return true;
		}
	}
	return false;
}

/* ---- chains ---- */

static size_t chain(const struct ws_line_map *map, const struct wsi_line_rows *rows,
		    const struct wsi_line_seq *seq, uint32_t number, struct ws_line_pos *ret_pos,
		    size_t cap)
{
	const struct wsi_line_narrow *row = &rows->row[seq->first_row];
	size_t n = wsi_line_depth(&row[number - 1]) + 1;
	for (size_t i = 0; i < n && i < cap; i++) {
		const struct wsi_line_narrow *at = &row[number - 1];
		const struct wsi_line_wide *wide =
			seq->is_wide ? &rows->wide[seq->first_row + number - 1] : NULL;
		ret_pos[i] = (struct ws_line_pos){
			.function = at->context ? wsi_line_str(&map->names, at->name_off) : NULL,
			.file = wsi_line_file(map, rows, wide ? wide->file : at->file),
			.line = at->line,
			.column = wide ? wide->column : 0,
			.row = number,
			.call_site_lost = wsi_line_flags(at) & WS_LINE_BAD_CONTEXT,
		};
		number = at->context;
	}
	return n;
}

/* Number of the last row with an address that is not above `pc`, which the sequence covers. */
static uint32_t row_of_pc(const struct wsi_line_rows *rows, const struct wsi_line_seq *seq,
			  uint64_t pc)
{
	const uint32_t *slot = &rows->slot[seq->first_slot + ((pc - seq->low) >> seq->slot_shift)];
	size_t lo = slot[0], hi = slot[1];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, mid)) <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)wsi_line_by_address(rows, seq, lo - 1) + 1;
}

enum ws_status ws_line_find(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc,
			    struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
			    struct ws_error *err)
{
	struct owner_parts it = owner_parts_of(map, owner);
	const struct wsi_line_seq *broken = NULL;
	size_t part;
	while (owner_parts_next(map, &it, &part)) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, part);
		if (!rows)
			return no_memory(err);
		for (size_t i = 0; i < rows->n_seqs; i++) {
			const struct wsi_line_seq *seq = &rows->seq[i];
			if (seq->owner != owner)
				continue;
			if (rel_pc >= seq->low && rel_pc < seq->high) {
				uint32_t number = row_of_pc(rows, seq, rel_pc);
				*ret_n = chain(map, rows, seq, number, ret_pos, cap);
				return WS_OK;
			}
			if (seq->status != WS_OK && rel_pc >= seq->high && !broken)
				broken = seq;
		}
	}
	if (broken)
		return wsi_fail(err, broken->status, broken->damage_off,
				"the line program broke before 0x%" PRIx64, rel_pc);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line for 0x%" PRIx64, rel_pc);
}

/* ---- sequences ---- */

void wsi_line_seq_out(const struct wsi_line_rows *rows, size_t index, struct ws_line_seq *ret_seq)
{
	const struct wsi_line_seq *seq = &rows->seq[index];
	*ret_seq = (struct ws_line_seq){
		.owner = seq->owner,
		.n_rows = seq->n_rows,
		.low = seq->low,
		.high = seq->high,
		.sec_off = seq->sec_off,
		.table = rows->part->table,
		.status = seq->status,
		.damage_off = seq->damage_off,
		.priv = rows,
		.priv_index = index,
	};
}

/* Sequences before each part, made once. NULL: out of memory. */
static const size_t *seqs_before(const struct ws_line_map *map)
{
	_Atomic(size_t *) *shared = (_Atomic(size_t *) *)&map->seqs_before;
	size_t *before = atomic_load_explicit(shared, memory_order_acquire);
	if (before)
		return before;
	size_t *made = wsi_zalloc_array(map->n_parts + 1, sizeof *made);
	if (!made)
		return NULL;
	for (size_t i = 0; i < map->n_parts; i++) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, i);
		if (!rows) {
			wsi_free(made);
			return NULL;
		}
		made[i + 1] = made[i] + rows->n_seqs;
	}
	if (atomic_compare_exchange_strong_explicit(shared, &before, made, memory_order_acq_rel,
						    memory_order_acquire))
		return made;
	wsi_free(made);
	return before;
}

enum ws_status ws_line_seq_count(const struct ws_line_map *map, size_t *ret_n, struct ws_error *err)
{
	const size_t *before = seqs_before(map);
	if (!before)
		return no_memory(err);
	*ret_n = before[map->n_parts];
	return WS_OK;
}

enum ws_status ws_line_seq_at(const struct ws_line_map *map, size_t index,
			      struct ws_line_seq *ret_seq, struct ws_error *err)
{
	const size_t *before = seqs_before(map);
	if (!before)
		return no_memory(err);
	if (index >= before[map->n_parts])
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no sequence %zu", index);
	size_t lo = 0, hi = map->n_parts; /* the last part with before[part] <= index */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (before[mid] <= index)
			lo = mid;
		else
			hi = mid;
	}
	const struct wsi_line_rows *rows = wsi_line_part_rows(map, lo);
	if (!rows)
		return no_memory(err);
	wsi_line_seq_out(rows, index - before[lo], ret_seq);
	return WS_OK;
}

enum ws_status ws_line_owner_seq(const struct ws_line_map *map, uint32_t owner, size_t nth,
				 struct ws_line_seq *ret_seq, struct ws_error *err)
{
	struct owner_parts it = owner_parts_of(map, owner);
	size_t part;
	while (owner_parts_next(map, &it, &part)) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, part);
		if (!rows)
			return no_memory(err);
		for (size_t i = 0; i < rows->n_seqs; i++) {
			if (rows->seq[i].owner != owner || nth-- > 0)
				continue;
			wsi_line_seq_out(rows, i, ret_seq);
			return WS_OK;
		}
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line sequence of this code");
}

/* ---- rows ---- */

static const struct wsi_line_seq *seq_in(const struct ws_line_seq *seq)
{
	const struct wsi_line_rows *rows = seq->priv;
	return &rows->seq[seq->priv_index];
}

struct ws_line_row ws_line_row_at(const struct ws_line_map *map, const struct ws_line_seq *seq,
				  uint32_t number)
{
	const struct wsi_line_rows *rows = seq->priv;
	const struct wsi_line_seq *in = seq_in(seq);
	assert(number >= 1 && number <= in->n_rows);
	size_t at = in->first_row + number - 1;
	const struct wsi_line_narrow *row = &rows->row[at];
	struct ws_line_row ret = {
		.address = wsi_line_address(rows, in, number - 1),
		.line = row->line,
		.file_number = row->file,
		.flags = wsi_line_flags(row),
		.context = row->context,
		.depth = wsi_line_depth(row),
		.name_off = row->name_off,
		.function = row->context ? wsi_line_str(&map->names, row->name_off) : NULL,
	};
	if (in->is_wide) {
		const struct wsi_line_wide *wide = &rows->wide[at];
		ret.file_number = wide->file;
		ret.column = wide->column;
		ret.op_index = wide->op_index;
		ret.isa = wide->isa;
		ret.discriminator = wide->discriminator;
	}
	ret.file = wsi_line_file(map, rows, ret.file_number);
	return ret;
}

size_t ws_line_chain(const struct ws_line_map *map, const struct ws_line_seq *seq, uint32_t number,
		     struct ws_line_pos *ret_pos, size_t cap)
{
	assert(number >= 1 && number <= seq->n_rows);
	return chain(map, seq->priv, seq_in(seq), number, ret_pos, cap);
}

/* ---- damage ---- */

size_t ws_line_diagnostics(const struct ws_line_map *map, ws_line_diagnostic_fn *take, void *user)
{
	size_t n = wsi_line_diags_tell(&map->diags, take, user);
	for (size_t i = 0; i < map->n_parts; i++) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, i);
		if (rows)
			n += wsi_line_diags_tell(&rows->diags, take, user);
	}
	return n;
}
