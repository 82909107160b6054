/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <warpscope/line.h>

#include "line_builder.h"

/* ---- a real table: prototypes of a Python GPU compiler's output, ptxas 13.0, sm_80 ---- */

static const uint8_t triton_line[] = {
	0x9e, 0,    0,   0,   2,    0,    0x3a, 0,    0,   0,    1,    1,    0xfb, 0x0e, 0x0a, 0,
	1,    1,    1,   1,   0,    0,    0,    1,    '/', 's',  'r',  'c',  0,    0,    'u',  's',
	'e',  'r',  '_', 'k', 'e',  'r',  'n',  'e',  'l', '.',  'p',  'y',  0,    1,    0,    0,
	's',  't',  'a', 'n', 'd',  'a',  'r',  'd',  '.', 'p',  'y',  0,    1,    0,    0,    0,
	0,    0,    0,   0, /* string base */
	0,    9,    2,   0,   0,    0,    0,    0,    0,   0,    0,    4,    1,    3,    9,    1,
	0xf1, 3,    1,   2,   0xe0, 0,    1,    0xf0, 4,   2,    0,    3,    0x90, 4,    0,    3,
	0xfd, 1,    1,   4,   1,    0,    3,    0x90, 0,   0,    3,    0x84, 0x7e, 2,    0xe0, 1,
	1,    4,    2,   0,   3,    0x90, 4,    0,    3,   0xfc, 1,    2,    0x10, 1,    0,    3,
	0x90, 7,    5,   3,   0x75, 1,    4,    1,    0,   3,    0x90, 0,    0,    3,    0x8f, 0x7e,
	2,    0x10, 1,   3,   1,    2,    0x20, 1,    2,   0xe0, 4,    0,    1,    1,
};
static const char triton_str[] = "sum_\0_combine";

enum {
	TRITON_SECTION = 7,
	TRITON_ADDRESS_OFF = 0x47,
};

static const struct ws_line_reloc triton_reloc = { .sec_off = TRITON_ADDRESS_OFF,
						   .owner = TRITON_SECTION };

static struct ws_line_map *triton_map(void)
{
	struct ws_line_input input = {
		.line = { triton_line, sizeof triton_line, 0x1000 },
		.str = { (const uint8_t *)triton_str, sizeof triton_str, 0x2000 },
		.relocs = &triton_reloc,
		.n_relocs = 1,
	};
	struct ws_line_map *map = NULL;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	return map;
}

static void chain_of_two_inlined_calls(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_pos pos[4];
	size_t n = 0;
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x17f, pos, 4, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	assert_string_equal(pos[0].function, "_combine");
	assert_string_equal(pos[0].file->name, "standard.py");
	assert_string_equal(pos[0].file->dir, "/src");
	assert_int_equal(pos[0].line, 256);
	assert_int_equal(pos[0].row, 8);
	assert_string_equal(pos[1].function, "sum_");
	assert_int_equal(pos[1].line, 267);
	assert_null(pos[2].function);
	assert_string_equal(pos[2].file->name, "user_kernel.py");
	assert_int_equal(pos[2].line, 14);
	assert_int_equal(pos[2].row, 4);
	ws_line_destroy(map);
}

static void a_small_array_gets_the_innermost_positions(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_pos pos[2] = { 0 };
	size_t n = 0;
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x170, pos, 1, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	assert_int_equal(pos[0].line, 256);
	assert_int_equal(pos[1].line, 0);
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x170, NULL, 0, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	ws_line_destroy(map);
}

static void every_pc_has_the_last_row_at_or_below_it(void **state)
{
	(void)state;
	static const struct {
		uint64_t pc;
		uint32_t row; /* 0: absent */
	} cases[] = {
		{ 0, 1 },      { 0xf, 1 },    { 0x10, 2 },  { 0x6f, 2 },     { 0x70, 3 },
		{ 0x80, 5 },   { 0x15f, 5 },  { 0x160, 6 }, { 0x170, 8 },    { 0x180, 9 },
		{ 0x1a0, 10 }, { 0x3ff, 10 }, { 0x400, 0 }, { 1u << 31, 0 }, { UINT64_MAX, 0 },
	};
	struct ws_line_map *map = triton_map();
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_line_pos pos;
		size_t n;
		enum ws_status st =
			ws_line_find(map, TRITON_SECTION, cases[i].pc, &pos, 1, &n, NULL);
		assert_int_equal(st, cases[i].row ? WS_OK : WS_ABSENT);
		if (st == WS_OK)
			assert_int_equal(pos.row, cases[i].row);
	}
	ws_line_destroy(map);
}

static void another_owner_has_no_lines(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_seq seq;
	size_t n;
	assert_int_equal(ws_line_find(map, 8, 0, NULL, 0, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0, NULL, 0, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_owner_seq(map, TRITON_SECTION, 0, &seq, NULL), WS_OK);
	assert_int_equal(seq.n_rows, 11);
	assert_int_equal(ws_line_owner_seq(map, TRITON_SECTION, 1, &seq, NULL), WS_ABSENT);
	ws_line_destroy(map);
}

/* ---- whose sequences they are ---- */

enum { ANCHORED_1, ANCHORED_2, HIDDEN_1, HIDDEN_2, OF_NONE, ANCHORED_1_THEN_OF_NONE, N_KINDS };

struct owned {
	struct lb b;
	struct ws_line_reloc reloc[8];
	uint32_t owner[8]; /* of sequence i, which covers 0x100 * i and has line 100 + i */
	uint32_t n_relocs, n;
};

static void add_owned(struct owned *o, uint32_t owner, bool is_hidden)
{
	if (is_hidden)
		lb_set_file(&o->b,
			    1); /* what stands before the address says nothing of its owner */
	size_t off = lb_set_address(&o->b, 0x100 * o->n);
	if (owner != WS_LINE_NO_OWNER)
		o->reloc[o->n_relocs++] = (struct ws_line_reloc){ .sec_off = off,
								  .owner = owner,
								  .add_stored = true };
	lb_row(&o->b, 0, 99 + o->n);
	lb_end_after(&o->b, 0x10);
	o->owner[o->n++] = owner;
}

static void add_table_of(struct owned *o, unsigned kind)
{
	lb_table(&o->b);
	if (kind != OF_NONE)
		add_owned(o, kind == ANCHORED_2 || kind == HIDDEN_2 ? 2 : 1,
			  kind == HIDDEN_1 || kind == HIDDEN_2);
	if (kind == OF_NONE || kind == ANCHORED_1_THEN_OF_NONE)
		add_owned(o, WS_LINE_NO_OWNER, false);
	lb_table_end(&o->b);
}

/* All sequences of the owner are found, by their number and by each address, and no other. */
static void assert_owned(const struct ws_line_map *map, const struct owned *o, uint32_t owner)
{
	struct ws_line_seq seq;
	struct ws_line_pos pos;
	uint32_t listed[8] = { 0 };
	size_t n, n_listed = 0;
	for (; ws_line_owner_seq(map, owner, n_listed, &seq, NULL) == WS_OK; n_listed++) {
		assert_true(n_listed < o->n && seq.low / 0x100 < o->n);
		listed[seq.low / 0x100]++;
	}
	for (uint32_t i = 0; i < o->n; i++) {
		bool is_its = o->owner[i] == owner;
		assert_int_equal(listed[i], is_its);
		assert_int_equal(ws_line_find(map, owner, 0x100 * i + 8, &pos, 1, &n, NULL),
				 is_its ? WS_OK : WS_ABSENT);
		if (is_its)
			assert_int_equal(pos.line, 100 + i);
	}
}

static void an_owner_has_its_sequences_whatever_is_between_them(void **state)
{
	(void)state;
	struct owned *o = test_malloc(sizeof *o);
	for (unsigned mix = 0; mix < N_KINDS * N_KINDS * N_KINDS; mix++) {
		*o = (struct owned){ .b = lb_new() };
		add_table_of(o, mix % N_KINDS);
		add_table_of(o, mix / N_KINDS % N_KINDS);
		add_table_of(o, mix / N_KINDS / N_KINDS);
		struct ws_line_input input = {
			.line = { o->b.byte, o->b.len, 0 },
			.relocs = o->reloc,
			.n_relocs = o->n_relocs,
		};
		struct ws_line_map *map = NULL;
		assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
		const uint32_t owners[] = { 2, 0, WS_LINE_NO_OWNER, 1, 3 };
		for (size_t i = 0; i < WSI_COUNT(owners); i++)
			assert_owned(map, o, owners[i]);
		ws_line_destroy(map);
	}
	test_free(o);
}

/* ---- built tables ---- */

/* Two rows of line 3 and 5, the second inlined into the first; ends at 0x30. */
static size_t build_small_sequence(struct lb *b)
{
	size_t off = lb_set_address(b, 0);
	lb_row(b, 0, 2);
	lb_set_file(b, 2);
	lb_call(b, 1, LB_MIDDLE);
	lb_row(b, 0x10, 2);
	lb_end_after(b, 0x20);
	return off;
}

static void check_small_sequence(struct ws_line_map *map, uint32_t owner)
{
	struct ws_line_pos pos[3];
	size_t n;
	assert_int_equal(ws_line_find(map, owner, 0x2f, pos, 3, &n, NULL), WS_OK);
	assert_int_equal(n, 2);
	assert_int_equal(pos[0].line, 5);
	assert_string_equal(pos[0].file->name, "b.h");
	assert_string_equal(pos[0].file->dir, "/src");
	assert_int_equal(pos[0].file->mtime, 2000);
	assert_int_equal(pos[0].file->size_bytes, 20);
	assert_string_equal(pos[0].function, "middle");
	assert_int_equal(pos[1].line, 3);
	assert_string_equal(pos[1].file->name, "a.cu");
	assert_null(pos[1].function);
	assert_int_equal(ws_line_find(map, owner, 0x30, pos, 3, &n, NULL), WS_ABSENT);
}

static void every_version_size_and_byte_order_reads_alike(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4 * 2 * 2 * 2; i++) {
		struct lb b = lb_new();
		b.version = 2 + i % 4;
		b.dwarf64 = i / 4 % 2;
		b.big_endian = i / 8 % 2;
		b.str_base = i / 16 % 2; /* the opcodes are read without the word, too */
		lb_table(&b);
		size_t off = build_small_sequence(&b);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		assert_int_equal(ws_line_table_count(map), 1);
		assert_int_equal(ws_line_table_at(map, 0)->version, b.version);
		assert_int_equal(ws_line_table_at(map, 0)->has_str_base, b.str_base);
		check_small_sequence(map, 1);
		assert_int_equal(ws_line_diagnostics(map, NULL, NULL), 0);
		ws_line_destroy(map);
	}
}

static void string_base_counts_names_of_later_tables(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[2];
	lb_table(&b);
	off[0] = build_small_sequence(&b);
	lb_table_end(&b);
	b.str_base_value = LB_OUTER - LB_MIDDLE;
	lb_table(&b);
	off[1] = build_small_sequence(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, off, 2);
	struct ws_line_pos pos;
	size_t n;
	check_small_sequence(map, 1);
	assert_int_equal(ws_line_find(map, 2, 0x10, &pos, 1, &n, NULL), WS_OK);
	assert_string_equal(pos.function, "outer");
	ws_line_destroy(map);
}

static void string_base_of_an_object_is_relocated(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = b.len - 4;
	build_small_sequence(&b);
	lb_table_end(&b);
	struct ws_line_reloc reloc = { .sec_off = off, .value = LB_OUTER - LB_MIDDLE };
	struct ws_line_input input = { .line = { b.byte, b.len, 0 },
				       .str = { (const uint8_t *)lb_names, sizeof lb_names, 0 },
				       .relocs = &reloc,
				       .n_relocs = 1 };
	struct ws_line_map *map;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	struct ws_line_pos pos;
	size_t n;
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x10, &pos, 1, &n, NULL), WS_OK);
	assert_string_equal(pos.function, "outer");
	ws_line_destroy(map);
}

/* Contexts restart in each sequence: the same number means another row. */
static void contexts_count_within_their_sequence(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[3];
	lb_table(&b);
	for (unsigned i = 0; i < 3; i++) {
		off[i] = lb_set_address(&b, 0);
		lb_row(&b, 0, 100 * (i + 1));
		lb_call(&b, 1, LB_LEAF);
		lb_row(&b, 0x10, 1);
		lb_row(&b, 0x10, 1); /* both registers stay */
		lb_call(&b, 0, 0);
		lb_row(&b, 0x10, 1);
		lb_end_after(&b, 0x10);
	}
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, off, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct ws_line_pos pos[2];
		size_t n;
		assert_int_equal(ws_line_find(map, i + 1, 0x20, pos, 2, &n, NULL), WS_OK);
		assert_int_equal(n, 2);
		assert_string_equal(pos[0].function, "leaf");
		assert_int_equal(pos[1].line, 100 * (i + 1) + 1);
		assert_int_equal(ws_line_find(map, i + 1, 0x30, pos, 2, &n, NULL), WS_OK);
		assert_int_equal(n, 1);
		assert_null(pos[0].function);
	}
	ws_line_destroy(map);
}

static void every_register_reaches_its_row(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.version = 4;
	b.opcode_base = 13;
	b.min_inst = 4;
	lb_table(&b);
	size_t off = lb_set_address(&b, 0x100);
	lb_u8(&b, 5); /* set_column */
	lb_uleb(&b, 77);
	lb_u8(&b, 6);  /* negate_stmt */
	lb_u8(&b, 7);  /* set_basic_block */
	lb_u8(&b, 10); /* set_prologue_end */
	lb_u8(&b, 11); /* set_epilogue_begin */
	lb_u8(&b, 12); /* set_isa */
	lb_uleb(&b, 3);
	lb_u8(&b, 0); /* set_discriminator */
	lb_uleb(&b, 2);
	lb_set_file(&b, 9);
	lb_row(&b, 2, 10);
	lb_u8(&b, 8);           /* const_add_pc: (255 - 13) / 14 = 17 */
	lb_u8(&b, 13 + 5 + 14); /* special: line + 0, one operation */
	lb_u8(&b, 9);           /* fixed_advance_pc: bytes */
	lb_uint(&b, 0x1001, 2);
	lb_set_name(&b, LB_OUTER); /* set_function_name keeps the context */
	lb_u8(&b, 0);              /* of another vendor */
	lb_uleb(&b, 4);
	lb_u8(&b, 0xc0);
	lb_uint(&b, 0xffffff, 3);
	lb_call(&b, 2, LB_LEAF);
	lb_set_name(&b, LB_OUTER);
	lb_row(&b, 0, 1);
	lb_end_sequence(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_seq seq;
	assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
	assert_int_equal(seq.n_rows, 4);
	struct ws_line_row row = ws_line_row_at(map, &seq, 1);
	assert_int_equal(row.address, 0x108);
	assert_int_equal(row.line, 11);
	assert_int_equal(row.column, 77);
	assert_int_equal(row.isa, 3);
	assert_int_equal(row.discriminator, 9);
	assert_int_equal(row.flags,
			 WS_LINE_BASIC_BLOCK | WS_LINE_PROLOGUE_END | WS_LINE_EPILOGUE_BEGIN);
	row = ws_line_row_at(map, &seq, 2);
	assert_int_equal(row.address, 0x108 + 18 * 4);
	assert_int_equal(row.discriminator, 0);
	assert_int_equal(row.column, 77);
	assert_int_equal(row.flags, 0);
	row = ws_line_row_at(map, &seq, 3);
	assert_int_equal(row.address, 0x108 + 18 * 4 + 0x1001);
	assert_int_equal(row.context, 2);
	assert_string_equal(row.function, "outer");
	assert_int_equal(ws_line_row_at(map, &seq, 4).flags, WS_LINE_END_SEQUENCE);
	ws_line_destroy(map);
}

static void several_operations_an_instruction(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.version = 4;
	b.min_inst = 16;
	b.max_ops = 3;
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 2, 0);           /* operation 2 of instruction 0 */
	lb_row(&b, 2, 0);           /* 4: instruction 1, operation 1 */
	lb_u8(&b, 10 + 5 + 14 * 2); /* special: 6: instruction 2, operation 0 */
	lb_end_sequence(&b);
	lb_table_end(&b);
	static const struct {
		uint64_t address;
		uint32_t op_index;
	} expected[] = { { 0, 2 }, { 16, 1 }, { 32, 0 }, { 32, 0 } };
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_seq seq;
	assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
	assert_int_equal(seq.n_rows, WSI_COUNT(expected));
	for (uint32_t i = 0; i < seq.n_rows; i++) {
		struct ws_line_row row = ws_line_row_at(map, &seq, i + 1);
		assert_int_equal(row.address, expected[i].address);
		assert_int_equal(row.op_index, expected[i].op_index);
	}
	ws_line_destroy(map);
}

static void addresses_beyond_32_bits(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 0, 1);
	lb_row(&b, (uint64_t)1 << 40, 1);
	lb_end_after(&b, (uint64_t)1 << 50);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_pos pos;
	size_t n;
	assert_int_equal(ws_line_find(map, 1, ((uint64_t)1 << 40) - 1, &pos, 1, &n, NULL), WS_OK);
	assert_int_equal(pos.row, 1);
	assert_string_equal(pos.file->name, "a.cu");
	assert_int_equal(ws_line_find(map, 1, (uint64_t)1 << 49, &pos, 1, &n, NULL), WS_OK);
	assert_int_equal(pos.row, 2);
	ws_line_destroy(map);
}

static void file_numbers_beyond_16_bits(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 0, 1);
	lb_set_file(&b, 0x10001); /* the low 16 bits are a file of the table */
	lb_row(&b, 0x10, 1);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_seq seq;
	assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
	assert_int_equal(ws_line_row_at(map, &seq, 1).file_number, 1);
	assert_int_equal(ws_line_row_at(map, &seq, 2).file_number, 0x10001);
	assert_null(ws_line_row_at(map, &seq, 2).file);
	ws_line_destroy(map);
}

static void rows_out_of_order_are_found_by_address(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0x100);
	lb_row(&b, 0, 9); /* row 1 at 0x100 */
	lb_set_address(&b, 0x80);
	lb_row(&b, 0, 1); /* row 2 at 0x80 */
	lb_set_address(&b, 0xc0);
	lb_row(&b, 0, 1); /* row 3 at 0xc0 */
	lb_set_address(&b, 0x180);
	lb_end_sequence(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 0);
	static const struct {
		uint64_t pc;
		uint32_t row;
	} cases[] = {
		{ 0x80, 2 }, { 0xbf, 2 }, { 0xc0, 3 }, { 0xff, 3 }, { 0x100, 1 }, { 0x17f, 1 }
	};
	struct ws_line_pos pos;
	size_t n;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		assert_int_equal(
			ws_line_find(map, WS_LINE_NO_OWNER, cases[i].pc, &pos, 1, &n, NULL), WS_OK);
		assert_int_equal(pos.row, cases[i].row);
	}
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x7f, &pos, 1, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x180, &pos, 1, &n, NULL), WS_ABSENT);
	ws_line_destroy(map);
}

/* Behind rows in order, one that is before the last of them. */
static void a_row_that_goes_back_is_found_by_address(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	lb_set_address(&b, 0x100);
	lb_row(&b, 0, 9);    /* row 1 at 0x100 */
	lb_row(&b, 0x10, 1); /* row 2 at 0x110 */
	lb_row(&b, 0x10, 1); /* row 3 at 0x120 */
	lb_set_address(&b, 0x118);
	lb_row(&b, 0, 1); /* row 4 at 0x118 */
	lb_set_address(&b, 0x130);
	lb_end_sequence(&b);
	lb_table_end(&b);
	static const struct {
		uint64_t pc;
		uint32_t row;
	} cases[] = { { 0x100, 1 }, { 0x117, 2 }, { 0x118, 4 }, { 0x11f, 4 }, { 0x120, 3 } };
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_line_pos pos;
		size_t n;
		assert_int_equal(
			ws_line_find(map, WS_LINE_NO_OWNER, cases[i].pc, &pos, 1, &n, NULL), WS_OK);
		assert_int_equal(pos.row, cases[i].row);
	}
	ws_line_destroy(map);
}

static void a_relocation_adds_to_what_is_stored(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0x20);
	lb_row(&b, 0, 1);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	for (unsigned add = 0; add < 2; add++) {
		struct ws_line_reloc reloc = {
			.sec_off = off, .value = 0x1000, .owner = 1, .add_stored = add
		};
		struct ws_line_input input = { .line = { b.byte, b.len, 0 },
					       .relocs = &reloc,
					       .n_relocs = 1 };
		struct ws_line_map *map;
		struct ws_line_seq seq;
		assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
		assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
		assert_int_equal(seq.low, add ? 0x1020 : 0x1000);
		ws_line_destroy(map);
	}
}

static void files_defined_by_the_program(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	lb_u8(&b, 0); /* define_file: number 3 */
	lb_uleb(&b, 1 + 5 + 3);
	lb_u8(&b, 3);
	lb_str(&b, "c.cu");
	lb_uleb(&b, 1);
	lb_uleb(&b, 5);
	lb_uleb(&b, 6);
	lb_set_file(&b, 3);
	lb_row(&b, 0, 1);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	struct ws_line_pos pos;
	size_t n;
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0, &pos, 1, &n, NULL), WS_OK);
	char path[16];
	assert_int_equal(ws_line_path(pos.file, path, sizeof path), 9);
	assert_string_equal(path, "/src/c.cu");
	assert_int_equal(pos.file->size_bytes, 6);
	ws_line_destroy(map);
}

/* ---- from source ---- */

struct hits {
	struct ws_line_hit hit[8];
	size_t n, enough;
};

static bool keep_hit(void *user, const struct ws_line_hit *hit)
{
	struct hits *hits = user;
	assert_true(hits->n < WSI_COUNT(hits->hit));
	hits->hit[hits->n++] = *hit;
	return hits->n != hits->enough;
}

static void a_source_line_gives_all_its_code(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		uint32_t line;
		size_t n;
		uint64_t low[3], high[3];
		uint32_t level[3];
	} cases[] = {
		{ "standard.py", 256, 1, { 0x170 }, { 0x180 }, { 0 } },
		{ "/src/standard.py", 267, 2, { 0x80, 0x170 }, { 0x160, 0x180 }, { 0, 1 } },
		{ "src/user_kernel.py", 14, 2, { 0x80, 0x170 }, { 0x160, 0x180 }, { 1, 2 } },
		{ "user_kernel.py", 15, 2, { 0x160, 0x180 }, { 0x170, 0x1a0 }, { 0, 0 } },
		{ "user_kernel.py", 999, 0, { 0 }, { 0 }, { 0 } },
	};
	struct ws_line_map *map = triton_map();
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct hits hits = { 0 };
		assert_int_equal(ws_line_find_source(map, cases[i].path, cases[i].line, keep_hit,
						     &hits, NULL),
				 WS_OK);
		assert_int_equal(hits.n, cases[i].n);
		for (size_t k = 0; k < hits.n; k++) {
			assert_int_equal(hits.hit[k].low, cases[i].low[k]);
			assert_int_equal(hits.hit[k].high, cases[i].high[k]);
			assert_int_equal(hits.hit[k].level, cases[i].level[k]);
		}
	}
	static const char *const strangers[] = { "kernel.py", "rc/standard.py",    "/standard.py",
						 "",          "x/src/standard.py", "src" };
	for (size_t i = 0; i < WSI_COUNT(strangers); i++) {
		struct hits hits = { 0 };
		assert_int_equal(ws_line_find_source(map, strangers[i], 256, keep_hit, &hits, NULL),
				 WS_ABSENT);
	}
	struct hits one = { .enough = 1 };
	assert_int_equal(ws_line_find_source(map, "user_kernel.py", 15, keep_hit, &one, NULL),
			 WS_OK);
	assert_int_equal(one.n, 1);
	ws_line_destroy(map);
}

/* ---- opcodes ---- */

struct op_log {
	char text[2000];
	size_t len;
};

static bool log_op(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct op_log *log = user;
	(void)table;
	if (op->kind != WS_LINE_OP_EXTENDED || op->opcode < 0x90)
		return true;
	int len = snprintf(log->text + log->len, sizeof log->text - log->len,
			   "%" PRIx64 " %s %d %s\n", op->sec_off, op->name, (int)op->operand[0],
			   op->text);
	log->len += (size_t)len;
	return true;
}

static void raw_opcodes_carry_offsets_operands_and_names(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct op_log log = { 0 };
	assert_int_equal(ws_line_walk(map, 0, log_op, &log, NULL), WS_OK);
	assert_string_equal(log.text, "5e DW_LNE_NVIDIA_inlined_call 4 sum_\n"
				      "69 DW_LNE_NVIDIA_inlined_call 0 sum_\n"
				      "77 DW_LNE_NVIDIA_inlined_call 4 sum_\n"
				      "82 DW_LNE_NVIDIA_inlined_call 7 _combine\n"
				      "8c DW_LNE_NVIDIA_inlined_call 0 sum_\n");
	assert_int_equal(ws_line_walk(map, 1, log_op, &log, NULL), WS_ARGUMENT);
	ws_line_destroy(map);
}

struct step_log {
	uint64_t address[4];
	int64_t lines[4];
	size_t n;
};

static bool log_step(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct step_log *log = user;
	(void)table;
	log->address[log->n] = op->address_advance;
	log->lines[log->n++] = op->line_advance;
	return log->n < WSI_COUNT(log->address);
}

static void raw_opcodes_tell_how_far_they_advance(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	lb_set_address(&b, 0x300);
	lb_u8(&b, 3); /* advance_line */
	lb_sleb(&b, -2);
	lb_u8(&b, 2); /* advance_pc */
	lb_uleb(&b, 0x20);
	lb_u8(&b, 10 + 5 + 3 + 14); /* special: line + 3, one operation */
	lb_end_sequence(&b);
	lb_table_end(&b);
	static const struct step_log expected = { { 0x300, 0, 0x20, 1 }, { 0, -2, 0, 3 }, 4 };
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	struct step_log log = { 0 };
	assert_int_equal(ws_line_walk(map, 0, log_step, &log, NULL), WS_OK);
	assert_memory_equal(&log, &expected, sizeof log);
	ws_line_destroy(map);
}

struct row_log {
	uint32_t row[8], owner[8];
	size_t n;
};

static bool log_row(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct row_log *log = user;
	(void)table;
	if (op->row) {
		log->row[log->n] = op->row;
		log->owner[log->n++] = op->owner;
	}
	return log->n < 4; /* stops at the last row */
}

static void raw_rows_are_numbered_in_their_sequence(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[3];
	lb_table(&b);
	off[0] = build_small_sequence(&b);
	off[1] = b.len; /* not an operand of set_address: all is one part */
	off[2] = build_small_sequence(&b);
	lb_table_end(&b);
	static const struct row_log expected = { { 1, 2, 3, 1 }, { 1, 1, 1, 3 }, 4 };
	for (size_t n_relocs = 0; n_relocs <= 3; n_relocs += 3) {
		struct ws_line_map *map = lb_map(&b, off, n_relocs);
		struct row_log log = { 0 };
		assert_int_equal(ws_line_walk(map, 0, log_row, &log, NULL), WS_OK);
		assert_int_equal(log.n, 4);
		assert_memory_equal(log.row, expected.row, sizeof log.row);
		if (n_relocs)
			assert_memory_equal(log.owner, expected.owner, sizeof log.owner);
		ws_line_destroy(map);
	}
}

/* ---- PTX ---- */

/* "ld NUMBER", or nothing for 0. */
static int print_line(char *text, size_t cap, int number)
{
	return number ? snprintf(text, cap, "ld %d", number) : snprintf(text, cap, "%s", "");
}

static void ptx_lines_are_counted_from_one(void **state)
{
	(void)state;
	char text[400] = { 0 };
	size_t len = 0;
	for (int i = 1; i <= 40; i++) /* every fourth is empty */
		len += 1 + (size_t)print_line(text + len, sizeof text - len, i % 4 ? i : 0);
	struct ws_line_ptx *ptx;
	struct ws_str line;
	assert_int_equal(
		ws_line_ptx_create((struct ws_span){ (uint8_t *)text, len, 0 }, &ptx, NULL), WS_OK);
	assert_int_equal(ws_line_ptx_count(ptx), 40);
	for (int i = 1; i <= 40; i++) {
		char expected[16];
		print_line(expected, sizeof expected, i % 4 ? i : 0);
		assert_int_equal(ws_line_ptx_at(ptx, (uint64_t)i, &line, NULL), WS_OK);
		assert_true(ws_str_equal(line, ws_str_of(expected)));
	}
	assert_int_equal(ws_line_ptx_at(ptx, 0, &line, NULL), WS_ABSENT);
	assert_int_equal(ws_line_ptx_at(ptx, 41, &line, NULL), WS_ABSENT);
	ws_line_ptx_destroy(ptx);
	assert_int_equal(ws_line_ptx_create((struct ws_span){ 0 }, &ptx, NULL), WS_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_of_two_inlined_calls),
		cmocka_unit_test(a_small_array_gets_the_innermost_positions),
		cmocka_unit_test(every_pc_has_the_last_row_at_or_below_it),
		cmocka_unit_test(another_owner_has_no_lines),
		cmocka_unit_test(an_owner_has_its_sequences_whatever_is_between_them),
		cmocka_unit_test(every_version_size_and_byte_order_reads_alike),
		cmocka_unit_test(string_base_counts_names_of_later_tables),
		cmocka_unit_test(string_base_of_an_object_is_relocated),
		cmocka_unit_test(contexts_count_within_their_sequence),
		cmocka_unit_test(every_register_reaches_its_row),
		cmocka_unit_test(several_operations_an_instruction),
		cmocka_unit_test(addresses_beyond_32_bits),
		cmocka_unit_test(file_numbers_beyond_16_bits),
		cmocka_unit_test(rows_out_of_order_are_found_by_address),
		cmocka_unit_test(a_row_that_goes_back_is_found_by_address),
		cmocka_unit_test(a_relocation_adds_to_what_is_stored),
		cmocka_unit_test(files_defined_by_the_program),
		cmocka_unit_test(a_source_line_gives_all_its_code),
		cmocka_unit_test(raw_opcodes_carry_offsets_operands_and_names),
		cmocka_unit_test(raw_opcodes_tell_how_far_they_advance),
		cmocka_unit_test(raw_rows_are_numbered_in_their_sequence),
		cmocka_unit_test(ptx_lines_are_counted_from_one),
	};
	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
