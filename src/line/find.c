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
	return WSI_BISECT(i, 0, map->n_owners, map->owner[i].owner < owner);
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

static inline struct owner_parts owner_parts_of(const struct ws_line_map *map, uint32_t owner)
{
	return (struct owner_parts){
		.owner = owner,
		.next_owner = owner == WS_LINE_NO_OWNER ? map->n_owners : owner_lower(map, owner),
	};
}

static inline bool owner_parts_next(const struct ws_line_map *map, struct owner_parts *it,
				    size_t *ret_part)
{
	if (it->next_owner < map->n_owners && map->owner[it->next_owner].owner == it->owner) {
		*ret_part = map->owner[it->next_owner++].part;
		return true;
	}
	if (map->n_anchored == map->n_parts && it->owner != WS_LINE_NO_OWNER)
		return false;
	while (it->next_part < map->n_parts) {
		size_t i = it->next_part++;
		if (!wsi_line_is_anchored(&map->part[i]) || it->owner == WS_LINE_NO_OWNER) {
			*ret_part = i;
			return true;
		}
	}
	return false;
}

/* ---- sequences of an owner, in a part ---- */

/* NULL: the part has none of its sequences, or only one sequence at all. */
static const struct wsi_line_group *group_of(const struct wsi_line_rows *rows, uint32_t owner)
{
	size_t lo = WSI_BISECT(i, 0, rows->n_groups, rows->group[i].owner < owner);
	return lo < rows->n_groups && rows->group[lo].owner == owner ? &rows->group[lo] : NULL;
}

/* The sequence of an owner that covers `pc`: of several the shortest, then the last. */
static const struct wsi_line_seq *seq_of_many(const struct wsi_line_rows *rows, uint32_t owner,
					      uint64_t pc)
{
	const struct wsi_line_group *group = group_of(rows, owner);
	if (!group)
		return NULL;
	uint32_t index =
		wsi_segments_find(&rows->by_address, group->first_segment, group->n_segments, pc);
	return index == WSI_NO_INTERVAL ? NULL : &rows->seq[index];
}

/* Nearly always the part has one. */
static inline const struct wsi_line_seq *seq_of_pc(const struct wsi_line_rows *rows, uint32_t owner,
						   uint64_t pc)
{
	if (rows->n_seqs != 1)
		return seq_of_many(rows, owner, pc);
	const struct wsi_line_seq *seq = &rows->seq[0];
	return seq->owner == owner && pc - seq->low < seq->high - seq->low ? seq : NULL;
}

/* Its first damaged sequence, or NULL. */
static const struct wsi_line_seq *broken_seq(const struct wsi_line_rows *rows, uint32_t owner)
{
	if (rows->n_seqs == 1)
		return rows->seq[0].owner == owner && rows->seq[0].status != WS_OK ? &rows->seq[0]
										   : NULL;
	const struct wsi_line_group *group = group_of(rows, owner);
	return group && group->broken != UINT32_MAX ? &rows->seq[group->broken] : NULL;
}

/* ---- chains ---- */

/* Positions of the first `n` of a chain. */
static void chain(const struct ws_line_map *map, const struct wsi_line_rows *rows,
		  const struct wsi_line_seq *seq, uint32_t number, struct ws_line_pos *ret_pos,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t index = seq->first_row + number - 1;
		const struct wsi_line_narrow *at = &rows->row[index];
		const struct wsi_line_wide *wide = seq->is_wide ? &rows->wide[index] : NULL;
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
}

/* Length of the chain of a row. */
static size_t chain_len(const struct wsi_line_rows *rows, const struct wsi_line_seq *seq,
			uint32_t number)
{
	return (size_t)wsi_line_depth(&rows->row[seq->first_row + number - 1]) + 1;
}

/*
 * chain() of a sequence that is not wide. The rows are far from the processor, and each names the
 * next: those just before the first, where most call sites are, are sent for together with it.
 */
static inline void chain_narrow(const struct ws_line_map *map, const struct wsi_line_rows *rows,
				const struct wsi_line_seq *seq, uint32_t number,
				struct ws_line_pos *ret_pos, size_t n)
{
	const struct wsi_line_narrow *first = &rows->row[seq->first_row];
	for (uint32_t back = 3; back <= 9; back += 3) /* rows in 64 bytes: 3.2 */
		__builtin_prefetch(&first[number > back ? number - 1 - back : 0]);
	for (size_t i = 0; i < n; i++) {
		const struct wsi_line_narrow *at = &first[(size_t)number - 1];
		const char *function = wsi_line_str(&map->names, at->name_off);
		ret_pos[i] = (struct ws_line_pos){
			.function = at->context ? function : NULL,
			.file = at->file - 1u < rows->n_named ? &rows->files[at->file]
							      : wsi_line_file(map, rows, at->file),
			.line = at->line,
			.row = number,
			.call_site_lost = wsi_line_flags(at) & WS_LINE_BAD_CONTEXT,
		};
		number = at->context;
	}
}

/* ---- positions of a pc ---- */

/* Number of the last row with an address that is not above `pc`, which the sequence covers. */
static uint32_t row_of_pc(const struct wsi_line_rows *rows, const struct wsi_line_seq *seq,
			  uint64_t pc)
{
	size_t lo = 0, hi = seq->n_rows;
	if (seq->n_blocks > 0) {
		const size_t slot = (size_t)((pc - seq->low) >> seq->slot_shift);
		const struct wsi_line_block *block =
			&rows->block[seq->first_block + slot / WSI_LINE_BLOCK_SLOTS];
		const unsigned count = block->count[slot % WSI_LINE_BLOCK_SLOTS];
		lo = block->n_before;
		hi = count == WSI_LINE_MANY ? seq->n_rows : lo + count;
	}
	lo = WSI_BISECT(i, lo, hi,
			wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, i)) <= pc);
	return (uint32_t)wsi_line_by_address(rows, seq, lo - 1) + 1;
}

static enum ws_status find_in_all(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc,
				  struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
				  struct ws_error *err)
{
	struct owner_parts it = owner_parts_of(map, owner);
	const struct wsi_line_seq *broken = NULL;
	bool is_limited = false;
	size_t part;
	while (owner_parts_next(map, &it, &part)) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, part);
		if (!rows)
			return no_memory(err);
		const struct wsi_line_seq *seq = seq_of_pc(rows, owner, rel_pc);
		if (seq) {
			uint32_t number = row_of_pc(rows, seq, rel_pc);
			*ret_n = chain_len(rows, seq, number);
			chain(map, rows, seq, number, ret_pos, *ret_n < cap ? *ret_n : cap);
			return WS_OK;
		}
		seq = broken_seq(rows, owner);
		if (seq && rel_pc >= seq->high && !broken)
			broken = seq;
		is_limited |= rows->is_limited;
	}
	if (is_limited)
		return wsi_fail(err, WS_LIMIT, map->line.origin,
				"the line tables need too much memory for their size; there may be "
				"a line for 0x%" PRIx64 " in what was left out",
				rel_pc);
	if (broken)
		return wsi_fail(err, (enum ws_status)broken->status, broken->damage_off,
				"the line program broke before 0x%" PRIx64, rel_pc);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line for 0x%" PRIx64, rel_pc);
}

/* The sequence of the owner's first part that covers `pc`, if that part was decoded already. */
static inline const struct wsi_line_seq *owner_first_seq(const struct ws_line_map *map,
							 uint32_t owner, uint64_t pc,
							 const struct wsi_line_rows **ret_rows)
{
	const size_t i = owner_lower(map, owner);
	if (i == map->n_owners || map->owner[i].owner != owner)
		return NULL;
	const struct wsi_line_rows *rows =
		atomic_load_explicit(&map->part[map->owner[i].part].rows, memory_order_acquire);
	*ret_rows = rows;
	return rows ? seq_of_pc(rows, owner, pc) : NULL;
}

enum ws_status ws_line_find(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc,
			    struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
			    struct ws_error *err)
{
	/* Nearly always the first part answers, and the sequence's index says all. */
	const struct wsi_line_rows *rows;
	const struct wsi_line_seq *seq = owner_first_seq(map, owner, rel_pc, &rows);
	if (seq && seq->is_direct) {
		const size_t slot = (size_t)((rel_pc - seq->low) >> seq->slot_shift);
		const struct wsi_line_block *block =
			&rows->block[seq->first_block + slot / WSI_LINE_BLOCK_SLOTS];
		const unsigned count = block->count[slot % WSI_LINE_BLOCK_SLOTS];
		const unsigned depth = block->depth[slot % WSI_LINE_BLOCK_SLOTS];
		if (count != WSI_LINE_MANY && depth != WSI_LINE_MANY) {
			*ret_n = depth + 1;
			chain_narrow(map, rows, seq, block->n_before + count, ret_pos,
				     depth < cap ? depth + 1 : cap);
			return WS_OK;
		}
	}
	return find_in_all(map, owner, rel_pc, ret_pos, cap, ret_n, err);
}

bool wsi_line_has_calls(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc)
{
	struct owner_parts it = owner_parts_of(map, owner);
	size_t part;
	while (owner_parts_next(map, &it, &part)) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(map, part);
		const struct wsi_line_seq *seq = rows ? seq_of_pc(rows, owner, rel_pc) : NULL;
		if (seq)
			return seq->has_calls;
	}
	return false;
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
		.status = (enum ws_status)seq->status,
		.damage_off = seq->damage_off,
		.priv = rows,
		.priv_index = index,
	};
}

/* Sequences before each part, made once. NULL: out of memory. */
static const size_t *seqs_before(const struct ws_line_map *map)
{
	_Atomic(size_t *) *shared = &map->costs->seqs_before;
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
		const struct wsi_line_group *group = group_of(rows, owner);
		size_t n = group ? group->n : rows->n_seqs == 1 ? rows->seq[0].owner == owner : 0;
		if (nth < n) {
			wsi_line_seq_out(rows, group ? rows->by_owner[group->first + nth] : 0,
					 ret_seq);
			return WS_OK;
		}
		nth -= n;
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
	const struct wsi_line_rows *rows = seq->priv;
	size_t n = chain_len(rows, seq_in(seq), number);
	chain(map, rows, seq_in(seq), number, ret_pos, n < cap ? n : cap);
	return n;
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
