/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line map over any bytes. An input is
 *
 *   flags (bit 0: big endian, bit 1: REL) | number of relocations | u16 offset of each |
 *   u16 length of the string section | strings | the rest: the line section
 *
 * Beyond not crashing: the answer to a pc is that of a plain search over the rows; chains are as
 * long as they say and lead to earlier rows; raw opcodes, which are decoded one by one, emit the
 * rows that are there.
 */
#include "fuzz.h"

#include <warpscope/line.h>

enum {
	MAX_RELOCS = 64,
	MAX_SEQS = 16, /* looked at one by one; all are decoded */
	MAX_ROWS = 96,
	MAX_SEARCHES = 4,
	MAX_CHAIN = WS_LINE_MAX_DEPTH + 1,
	N_OWNERS = 8,
};

struct source {
	const uint8_t *ptr;
	size_t len;
};

static unsigned take(struct source *in, unsigned n_bytes)
{
	unsigned value = 0;
	for (unsigned i = 0; i < n_bytes && in->len > 0; i++, in->len--)
		value |= (unsigned)*in->ptr++ << (8 * i);
	return value;
}

static struct ws_span take_span(struct source *in, size_t len)
{
	len = len < in->len ? len : in->len;
	struct ws_span span = { in->ptr, len, 0 };
	in->ptr += len;
	in->len -= len;
	return span;
}

/* The row of a pc by looking at all rows of a sequence: 0 for none. */
static uint32_t plain_search(const struct ws_line_map *map, const struct ws_line_seq *seq,
			     uint64_t pc)
{
	uint32_t best = 0;
	uint64_t best_address = 0;
	for (uint32_t i = 1; i <= seq->n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(map, seq, i);
		if (row.address <= pc && (!best || row.address >= best_address)) {
			best = i;
			best_address = row.address;
		}
	}
	return best;
}

static void check_chain(const struct ws_line_map *map, const struct ws_line_seq *seq,
			uint32_t number)
{
	struct ws_line_pos pos[MAX_CHAIN];
	struct ws_line_row row = ws_line_row_at(map, seq, number);
	size_t n = ws_line_chain(map, seq, number, pos, MAX_CHAIN);
	FUZZ_CHECK(n >= 1 && n <= MAX_CHAIN && n == row.depth + 1);
	FUZZ_CHECK(pos[0].row == number && pos[0].line == row.line && pos[0].file == row.file);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(i == 0 || pos[i].row < pos[i - 1].row);
		FUZZ_CHECK(!pos[i].call_site_lost || i == n - 1);
		if (pos[i].file) {
			char path[64];
			FUZZ_CHECK(ws_line_path(pos[i].file, path, sizeof path) >=
				   strlen(pos[i].file->name));
		}
		if (pos[i].function)
			FUZZ_CHECK(strlen(pos[i].function) < SIZE_MAX);
	}
}

/* The only sequence of an owner answers; of several that overlap the shortest does. */
static void check_seq(const struct ws_line_map *map, const struct ws_line_seq *seq)
{
	struct ws_line_seq other;
	FUZZ_CHECK(ws_line_owner_seq(map, seq->owner, 0, &other, NULL) == WS_OK);
	bool is_only = ws_line_owner_seq(map, seq->owner, 1, &other, NULL) != WS_OK;
	uint32_t n_rows = seq->n_rows < MAX_ROWS ? seq->n_rows : MAX_ROWS;
	for (uint32_t i = 1; i <= n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(map, seq, i);
		check_chain(map, seq, i);
		struct ws_line_pos pos;
		size_t n;
		enum ws_status st = ws_line_find(map, seq->owner, row.address, &pos, 1, &n, NULL);
		if (!is_only || seq->n_rows > MAX_ROWS)
			continue;
		if (row.address < seq->high)
			FUZZ_CHECK(st == WS_OK && pos.row == plain_search(map, seq, row.address));
	}
}

/* The rows of all sequences, one after the other, as the raw opcodes are walked. */
struct rows {
	const struct ws_line_map *map;
	struct ws_line_seq seq;
	size_t n_seqs, n_rows;
};

static void check_row(struct rows *rows, const struct ws_line_op *op)
{
	if (op->row == 1) { /* a sequence without rows has no opcode that emits one */
		do
			FUZZ_CHECK(ws_line_seq_at(rows->map, rows->n_seqs++, &rows->seq, NULL) ==
				   WS_OK);
		while (rows->seq.n_rows == 0);
	}
	FUZZ_CHECK(op->row <= rows->seq.n_rows);
	const struct ws_line_row row = ws_line_row_at(rows->map, &rows->seq, op->row);
	FUZZ_CHECK(row.address == op->address && row.line == op->line);
	FUZZ_CHECK(row.file_number == op->file && row.column == op->column);
	FUZZ_CHECK(row.context == op->context && row.name_off == op->name_off);
	FUZZ_CHECK(row.op_index == op->op_index);
	FUZZ_CHECK(!(row.flags & WS_LINE_IS_STMT) == !op->is_stmt);
	rows->n_rows++;
}

static bool check_op(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	if (op->row)
		check_row(user, op);
	FUZZ_CHECK(op->sec_off >= table->program_off);
	FUZZ_CHECK(op->size_bytes > 0 && op->sec_off + op->size_bytes <= table->end_off);
	if (op->text)
		FUZZ_CHECK(strlen(op->text) < SIZE_MAX);
	return true;
}

static bool check_hit(void *user, const struct ws_line_hit *hit)
{
	const struct rows *rows = user;
	struct ws_line_pos pos[MAX_CHAIN];
	size_t n = ws_line_chain(rows->map, hit->seq, hit->row, pos, MAX_CHAIN);
	FUZZ_CHECK(hit->level < n && hit->low < hit->high);
	FUZZ_CHECK(pos[hit->level].line == 14);
	return true;
}

static void check_map(const struct ws_line_map *map)
{
	size_t n_seqs = 0, n_rows = 0;
	struct rows rows = { .map = map };
	for (uint32_t owner = 0; owner < N_OWNERS; owner++) {
		size_t n;
		(void)!ws_line_find(map, owner, owner * 16, NULL, 0, &n, NULL);
	}
	for (size_t t = 0; t < ws_line_table_count(map); t++) {
		const struct ws_line_table *table = ws_line_table_at(map, t);
		(void)!ws_line_walk(map, t, check_op, &rows, NULL);
		if (table->n_files > 1 && t < MAX_SEARCHES)
			(void)!ws_line_find_source(map, table->files[1].name, 14, check_hit, &rows,
						   NULL);
	}
	FUZZ_CHECK(ws_line_seq_count(map, &n_seqs, NULL) == WS_OK);
	for (size_t i = 0; i < n_seqs; i++) {
		struct ws_line_seq seq;
		FUZZ_CHECK(ws_line_seq_at(map, i, &seq, NULL) == WS_OK);
		n_rows += seq.n_rows;
		if (i < MAX_SEQS)
			check_seq(map, &seq);
	}
	FUZZ_CHECK(n_rows == rows.n_rows);
	ws_line_diagnostics(map, NULL, NULL);
}

static void check_ptx(struct ws_span text)
{
	struct ws_line_ptx *ptx;
	if (ws_line_ptx_create(text, &ptx, NULL) != WS_OK)
		return;
	struct ws_str line;
	size_t n = ws_line_ptx_count(ptx), n_bytes = 0;
	for (size_t i = 1; i <= n; i++) {
		FUZZ_CHECK(ws_line_ptx_at(ptx, i, &line, NULL) == WS_OK);
		n_bytes += line.len + 1;
	}
	FUZZ_CHECK(n_bytes == text.len || n_bytes == text.len + 1);
	FUZZ_CHECK(ws_line_ptx_at(ptx, n + 1, &line, NULL) == WS_ABSENT);
	ws_line_ptx_destroy(ptx);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct source in = { data, size };
	struct ws_line_reloc relocs[MAX_RELOCS];
	unsigned flags = take(&in, 1);
	size_t n_relocs = take(&in, 1) % MAX_RELOCS;
	for (size_t i = 0; i < n_relocs; i++)
		relocs[i] = (struct ws_line_reloc){ .sec_off = take(&in, 2),
						    .owner = (uint32_t)(i % N_OWNERS),
						    .add_stored = flags & 2 };
	struct ws_span str = take_span(&in, take(&in, 2));
	struct ws_line_input input = {
		.line = { in.ptr, in.len, 0 },
		.str = str,
		.line_str = str,
		.relocs = relocs,
		.n_relocs = n_relocs,
		.big_endian = flags & 1,
		.bases_unset = flags & 4,
	};
	struct ws_line_map *map;
	if (ws_line_create(&input, &map, NULL) == WS_OK) {
		check_map(map);
		ws_line_destroy(map);
	}
	check_ptx(str);
	return 0;
}
