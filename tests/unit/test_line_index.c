/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ways to the same rows, and two to the row of a pc: random programs of every opcode, most of
 * them of the kinds that are decoded in runs, must give the rows that single steps give
 * (ws_line_walk()), and a lookup the row that a plain search gives.
 */
#include "unit.h"

#include <warpscope/line.h>

#include "line_builder.h"

#include "line/map.h"

enum {
	N_PROGRAMS = 400,
	N_OPCODES = 600,
	MAX_ROWS = N_OPCODES,
};

struct random {
	uint64_t state;
	bool wild;     /* numbers of any size happen */
	unsigned rare; /* percent of opcodes that no run knows */
};

static uint64_t next_random(struct random *random, uint64_t below)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (random->state >> 33) % below;
}

/* Mostly small; in a wild program now and then of any number of bytes. */
static uint64_t random_number(struct random *random, uint64_t small)
{
	if (!random->wild || next_random(random, 60))
		return next_random(random, small);
	return (next_random(random, UINT32_MAX) << 32 | next_random(random, UINT32_MAX)) >>
	       next_random(random, 64);
}

static void random_call(struct lb *b, struct random *random)
{
	lb_call(b, next_random(random, 4) ? next_random(random, 12) : 0,
		next_random(random, 30) ? next_random(random, sizeof lb_names) : 1000);
}

/* A call of two short operands, and two bytes more inside its length. */
static void long_call(struct lb *b, struct random *random)
{
	lb_u8(b, 0);
	lb_uleb(b, 5);
	lb_u8(b, 0x90);
	lb_u8(b, (unsigned)next_random(random, 12));
	lb_u8(b, LB_MIDDLE);
	lb_u8(b, 1);
	lb_u8(b, 1);
}

static void random_rare_opcode(struct lb *b, struct random *random)
{
	switch (next_random(random, 6)) {
	case 0:
		lb_u8(b, 5); /* set_column, to 0 most often */
		lb_uleb(b, next_random(random, 4) == 0);
		break;
	case 1:
		lb_u8(b, 6 + (unsigned)next_random(random, 3)); /* negate_stmt to const_add_pc */
		break;
	case 2:
		lb_u8(b, 9); /* fixed_advance_pc */
		lb_uint(b, next_random(random, 64), 2);
		break;
	case 3:
		long_call(b, random);
		break;
	case 4:
		lb_set_address(b, random_number(random, 0x800));
		break;
	default:
		lb_u8(b, 0); /* of another vendor */
		lb_uleb(b, 3);
		lb_u8(b, 0xc0);
		lb_uint(b, next_random(random, UINT16_MAX), 2);
	}
}

static void random_opcode(struct lb *b, struct random *random)
{
	uint64_t kind = next_random(random, 100);
	if (kind < random->rare) {
		random_rare_opcode(b, random);
	} else if (kind < 30) {
		random_call(b, random);
	} else if (kind < 50) {
		lb_u8(b, b->opcode_base +
				 (unsigned)next_random(random,
						       random->wild ? 256u - b->opcode_base : 60));
	} else if (kind < 55) {
		lb_set_file(b, random_number(random, 600) & UINT32_MAX);
	} else if (kind < 90) {
		if (next_random(random, 2))
			lb_set_file(b, random_number(random, 600) & UINT32_MAX);
		lb_u8(b, 3);
		lb_sleb(b, (int64_t)random_number(random, 300) - 150);
		if (next_random(random, 2)) {
			lb_u8(b, 2);
			lb_uleb(b, random_number(random, 8));
		}
		if (next_random(random, 8))
			lb_u8(b, 1);
	} else {
		lb_u8(b, 1);
	}
}

static struct lb random_program(struct random *random, size_t *ret_off)
{
	struct lb b = lb_new();
	b.version = 2 + (unsigned)next_random(random, 4);
	b.min_inst = (uint8_t)(1u << 2 * next_random(random, 3));
	b.opcode_base = next_random(random, 4) ? 10 : 13;
	b.line_range = next_random(random, 4) ? 14 : 1 + (uint8_t)next_random(random, 255);
	random->wild = next_random(random, 2);
	random->rare = next_random(random, 2) ? 1 : 10;
	lb_table(&b);
	*ret_off = lb_set_address(&b, next_random(random, 2) ? 0 : UINT64_MAX - 0x1000);
	lb_row(&b, 0, 1);
	for (unsigned i = 0; i < N_OPCODES; i++)
		random_opcode(&b, random);
	lb_end_after(&b, 16);
	lb_table_end(&b);
	return b;
}

/* ---- rows ---- */

struct expected {
	struct ws_line_op op[MAX_ROWS + 8];
	size_t n;
};

static bool keep_row(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct expected *expected = user;
	(void)table;
	if (op->row) {
		assert_true(expected->n < WSI_COUNT(expected->op));
		expected->op[expected->n++] = *op;
	}
	return true;
}

static void assert_rows(const struct ws_line_map *map, const struct ws_line_seq *seq,
			const struct expected *expected)
{
	assert_int_equal(seq->n_rows, expected->n);
	for (uint32_t i = 1; i <= seq->n_rows; i++) {
		const struct ws_line_op *op = &expected->op[i - 1];
		const struct ws_line_row row = ws_line_row_at(map, seq, i);
		assert_int_equal(op->row, i);
		assert_int_equal(row.address, op->address);
		assert_int_equal(row.line, op->line);
		assert_int_equal(row.file_number, op->file);
		assert_int_equal(row.column, op->column);
		assert_int_equal(row.context, op->context);
		assert_int_equal(row.name_off, op->name_off);
		assert_int_equal(row.flags & WS_LINE_IS_STMT ? 1 : 0, op->is_stmt);
		assert_int_equal(row.flags & WS_LINE_BAD_CONTEXT ? 1 : 0, op->context >= i);
		if (op->context && op->context < i)
			assert_int_equal(row.depth,
					 ws_line_row_at(map, seq, op->context).depth + 1);
		else
			assert_int_equal(row.depth, 0);
	}
}

/* ---- lookups ---- */

static uint32_t plain_search(const struct ws_line_map *map, const struct ws_line_seq *seq,
			     uint64_t pc)
{
	uint32_t best = 0;
	uint64_t best_address = 0;
	for (uint32_t i = 1; i <= seq->n_rows; i++) {
		uint64_t address = ws_line_row_at(map, seq, i).address;
		if (address <= pc && (!best || address >= best_address)) {
			best = i;
			best_address = address;
		}
	}
	return best;
}

static void assert_lookup(const struct ws_line_map *map, const struct ws_line_seq *seq, uint64_t pc)
{
	struct ws_line_pos found[16], chain[16];
	size_t n = 0;
	enum ws_status st = ws_line_find(map, 1, pc, found, WSI_COUNT(found), &n, NULL);
	if (pc < seq->low || pc >= seq->high) {
		assert_int_equal(st, WS_ABSENT);
		return;
	}
	assert_int_equal(st, WS_OK);
	size_t n_chain =
		ws_line_chain(map, seq, plain_search(map, seq, pc), chain, WSI_COUNT(chain));
	assert_int_equal(n, n_chain);
	for (size_t i = 0; i < n && i < WSI_COUNT(found); i++) {
		assert_int_equal(found[i].row, chain[i].row);
		assert_int_equal(found[i].line, chain[i].line);
		assert_int_equal(found[i].column, chain[i].column);
		assert_ptr_equal(found[i].file, chain[i].file);
		assert_ptr_equal(found[i].function, chain[i].function);
		assert_int_equal(found[i].call_site_lost, chain[i].call_site_lost);
	}
}

static void runs_give_the_rows_of_single_steps(void **state)
{
	(void)state;
	static struct expected expected;
	struct random random = { .state = 1 };
	for (unsigned i = 0; i < N_PROGRAMS; i++) {
		size_t off;
		struct lb b = random_program(&random, &off);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		struct ws_line_seq seq;
		expected.n = 0;
		assert_int_equal(ws_line_walk(map, 0, keep_row, &expected, NULL), WS_OK);
		assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
		assert_rows(map, &seq, &expected);
		ws_line_destroy(map);
	}
}

static void lookups_give_the_row_of_a_plain_search(void **state)
{
	(void)state;
	struct random random = { .state = 2 };
	for (unsigned i = 0; i < N_PROGRAMS; i++) {
		size_t off;
		struct lb b = random_program(&random, &off);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		struct ws_line_seq seq;
		assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
		for (uint32_t k = 1; k <= seq.n_rows; k += 1 + seq.n_rows / 50) {
			uint64_t address = ws_line_row_at(map, &seq, k).address;
			assert_lookup(map, &seq, address);
			assert_lookup(map, &seq, address - 1);
			assert_lookup(map, &seq, address + 15);
		}
		ws_line_destroy(map);
	}
}

/* More rows at one address than the index counts, or deeper ones. */
static void check_crowd(unsigned depth)
{
	enum {
		N_ROWS = 700,
	};
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 0, 1);
	for (unsigned i = 1; i < N_ROWS; i++) {
		if (i < depth)
			lb_call(&b, i, LB_LEAF);
		lb_row(&b, i % 350 == 0 ? 16 : 0, 1);
	}
	lb_call(&b, 0, 0);
	lb_end_after(&b, 160);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_seq seq;
	assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
	assert_int_equal(seq.high, 176);
	for (uint64_t pc = 0; pc <= seq.high; pc++)
		assert_lookup(map, &seq, pc);
	ws_line_destroy(map);
}

static void a_crowded_address_is_found(void **state)
{
	(void)state;
	check_crowd(0);
	check_crowd(400);
}

/* Speed alone shows whether an index is there: without one the rows are searched. */
static void long_sequences_have_an_index(void **state)
{
	(void)state;
	enum { N_SEQS = 3, N_ROWS = 40 };
	struct lb b = lb_new();
	lb_table(&b);
	for (unsigned i = 0; i < N_SEQS; i++) {
		lb_set_address(&b, i * 0x1000);
		for (unsigned k = 0; k < N_ROWS; k++)
			lb_row(&b, k ? 16 : 0, 1);
		lb_end_after(&b, 16);
	}
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	const struct wsi_line_rows *rows = wsi_line_part_rows(map, 0);
	assert_non_null(rows);
	assert_non_null(rows->block);
	assert_int_equal(rows->n_seqs, N_SEQS);
	for (uint32_t i = 0, n_blocks = 0; i < N_SEQS; i++) {
		const struct wsi_line_seq *seq = &rows->seq[i];
		assert_true(seq->is_direct);
		assert_int_equal(seq->slot_shift, 4); /* a slot for each instruction */
		assert_int_equal(seq->n_blocks, N_ROWS / WSI_LINE_BLOCK_SLOTS + 1);
		assert_int_equal(seq->first_block, n_blocks);
		n_blocks += seq->n_blocks;
	}
	ws_line_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_give_the_rows_of_single_steps),
		cmocka_unit_test(lookups_give_the_row_of_a_plain_search),
		cmocka_unit_test(a_crowded_address_is_found),
		cmocka_unit_test(long_sequences_have_an_index),
	};
	return cmocka_run_group_tests_name("line index", tests, NULL, NULL);
}
