/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged and hostile line maps: what is lost, what is told, what goes on. */
#include "unit.h"

#include <pthread.h>

#include <warpscope/line.h>

#include "line_builder.h"

/* ---- what was told ---- */

struct told {
	enum ws_status status;
	uint64_t file_off;
	char message[120];
	size_t n;
};

static void keep_first(void *user, const struct ws_line_diagnostic *diagnostic)
{
	struct told *told = user;
	if (told->n++ > 0)
		return;
	told->status = diagnostic->status;
	told->file_off = diagnostic->file_off;
	wsi_format(told->message, "%s", diagnostic->message);
}

/* The first of the map's diagnostics; `n` is how many were kept: of each part the first 16. */
static struct told told_by(const struct ws_line_map *map)
{
	struct told told = { .file_off = WS_NO_OFFSET };
	size_t n = ws_line_diagnostics(map, keep_first, &told);
	assert_true(n == told.n || (n > told.n && told.n >= 16));
	return told;
}

static void assert_told(const struct ws_line_map *map, uint64_t file_off, const char *part)
{
	struct told told = told_by(map);
	assert_true(told.n > 0);
	assert_non_null(strstr(told.message, part));
	if (file_off != WS_NO_OFFSET)
		assert_int_equal(told.file_off, file_off);
}

/* A sequence of one row for line 10 from 0 to 0x10. */
static size_t good_sequence(struct lb *b)
{
	size_t off = lb_set_address(b, 0);
	lb_row(b, 0, 9);
	lb_end_after(b, 0x10);
	return off;
}

static void assert_good(const struct ws_line_map *map, uint32_t owner)
{
	struct ws_line_pos pos;
	size_t n;
	assert_int_equal(ws_line_find(map, owner, 4, &pos, 1, &n, NULL), WS_OK);
	assert_int_equal(pos.line, 10);
}

/* ---- contexts and names ---- */

static void a_context_that_is_no_earlier_row_cuts_the_chain(void **state)
{
	(void)state;
	static const uint64_t contexts[] = { 2, 3, 1000, UINT32_MAX };
	for (size_t i = 0; i < WSI_COUNT(contexts); i++) {
		struct lb b = lb_new();
		lb_table(&b);
		size_t off = lb_set_address(&b, 0);
		lb_row(&b, 0, 0);
		lb_call(&b, contexts[i], LB_LEAF); /* row 2 names itself or a later row */
		size_t row_at = b.len + 2;
		lb_row(&b, 0x10, 0);
		lb_call(&b, 2, LB_MIDDLE); /* row 3 leads to it */
		lb_row(&b, 0x10, 0);
		lb_u8(&b, 2);
		lb_uleb(&b, 0x10);
		lb_call(&b, 0, 0);
		lb_end_sequence(&b);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		struct ws_line_pos pos[4];
		size_t n;
		assert_int_equal(ws_line_find(map, 1, 0x20, pos, 4, &n, NULL), WS_OK);
		assert_int_equal(n, 2);
		assert_false(pos[0].call_site_lost);
		assert_true(pos[1].call_site_lost);
		assert_string_equal(pos[1].function, "leaf");
		assert_told(map, row_at, "itself or a later row");
		assert_int_equal(told_by(map).n, 1);
		ws_line_destroy(map);
	}
}

static void a_chain_deeper_than_the_limit_is_cut_and_told(void **state)
{
	(void)state;
	enum {
		N_ROWS = 3000,
	};
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 0, 0);
	for (unsigned i = 1; i < N_ROWS; i++) {
		lb_call(&b, i, LB_LEAF);
		lb_row(&b, 1, 0);
	}
	lb_call(&b, 0, 0);
	lb_end_after(&b, 1);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_pos pos[WS_LINE_MAX_DEPTH + 1];
	size_t n, deepest = 0;
	for (unsigned pc = 0; pc < N_ROWS; pc++) {
		assert_int_equal(ws_line_find(map, 1, pc, pos, WSI_COUNT(pos), &n, NULL), WS_OK);
		assert_int_equal(n, pc % (WS_LINE_MAX_DEPTH + 1) + 1); /* each cut begins anew */
		deepest = n > deepest ? n : deepest;
	}
	assert_int_equal(deepest, WS_LINE_MAX_DEPTH + 1);
	struct told told = told_by(map);
	assert_int_equal(told.status, WS_LIMIT);
	assert_int_equal(told.n, N_ROWS / (WS_LINE_MAX_DEPTH + 1));
	ws_line_destroy(map);
}

static void damages_beyond_the_first_are_counted(void **state)
{
	(void)state;
	for (unsigned n_bad = 15; n_bad <= 18; n_bad++) {
		struct lb b = lb_new();
		lb_table(&b);
		size_t off = lb_set_address(&b, 0);
		lb_row(&b, 0, 0);
		lb_call(&b, 1000, LB_LEAF);
		for (unsigned i = 0; i < n_bad; i++)
			lb_row(&b, 1, 0);
		lb_call(&b, 0, 0);
		lb_end_after(&b, 1);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		size_t n;
		assert_int_equal(ws_line_seq_count(map, &n, NULL), WS_OK);
		assert_int_equal(ws_line_diagnostics(map, NULL, NULL), n_bad);
		assert_int_equal(told_by(map).n, n_bad < 16 ? n_bad : 16);
		ws_line_destroy(map);
	}
}

static void a_name_outside_the_strings_is_none(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = lb_set_address(&b, 0);
	lb_row(&b, 0, 0);
	lb_call(&b, 1, sizeof lb_names);
	lb_row(&b, 0x10, 1);
	lb_call(&b, 1, UINT32_MAX);
	lb_row(&b, 0x10, 1);
	lb_call(&b, 0, UINT32_MAX); /* means nothing: no fault */
	lb_row(&b, 0x10, 1);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_pos pos[2];
	size_t n;
	for (uint64_t pc = 0x10; pc <= 0x20; pc += 0x10) {
		assert_int_equal(ws_line_find(map, 1, pc, pos, 2, &n, NULL), WS_OK);
		assert_int_equal(n, 2);
		assert_null(pos[0].function);
	}
	assert_told(map, WS_NO_OFFSET, "outside .debug_str");
	assert_int_equal(told_by(map).n, 2);
	ws_line_destroy(map);
}

static void strings_without_an_end_are_no_names(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	lb_set_address(&b, 0);
	lb_row(&b, 0, 0);
	lb_call(&b, 1, 1);
	lb_row(&b, 0x10, 1);
	lb_call(&b, 1, 3);
	lb_row(&b, 0x10, 1);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	struct ws_line_input input = { .line = { b.byte, b.len, 0 },
				       .str = { (const uint8_t *)"ab\0cd", 5, 0 } };
	struct ws_line_map *map;
	struct ws_line_pos pos;
	size_t n;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x10, &pos, 1, &n, NULL), WS_OK);
	assert_string_equal(pos.function, "b");
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x20, &pos, 1, &n, NULL), WS_OK);
	assert_null(pos.function);
	ws_line_destroy(map);
}

/* ---- opcodes that break a sequence, and the next sequence ---- */

static void break_length_zero(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, 0);
}

static void break_length_lies(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, 1u << 20);
	lb_u8(b, 0x90);
}

static void break_length_of_64_bits(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, UINT64_MAX);
	lb_u8(b, 2);
}

static void break_operand_past_length(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, 2);
	lb_u8(b, 0x90);
	lb_u8(b, 1); /* the name is missing */
}

static void break_operand_of_40_bits(struct lb *b)
{
	lb_set_file(b, (uint64_t)1 << 40);
}

static void break_address_size(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, 4);
	lb_u8(b, 2);
	lb_uint(b, 0, 3);
}

static void break_uleb_of_70_bits(struct lb *b)
{
	lb_u8(b, 2);
	for (int i = 0; i < 9; i++)
		lb_u8(b, 0xff);
	lb_u8(b, 0x7f);
}

static void a_broken_sequence_costs_no_other(void **state)
{
	(void)state;
	static const struct {
		void (*build)(struct lb *b);
		const char *why;
	} cases[] = {
		{ break_length_zero, "length that cannot be" },
		{ break_length_lies, "length that cannot be" },
		{ break_length_of_64_bits, "length that cannot be" },
		{ break_operand_past_length, "cut by the opcode's length" },
		{ break_operand_of_40_bits, "larger than 32 bits" },
		{ break_address_size, "address of an unknown size" },
		{ break_uleb_of_70_bits, "larger than 64 bits" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct lb b = lb_new();
		size_t off[3];
		lb_table(&b);
		off[0] = good_sequence(&b);
		off[1] = lb_set_address(&b, 0);
		lb_row(&b, 0, 1);
		lb_row(&b, 0x10, 1);
		size_t bad_at = b.len;
		cases[i].build(&b);
		lb_row(&b, 0x10, 1);
		lb_end_sequence(&b); /* the next part is known to begin behind this */
		off[2] = good_sequence(&b);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, off, 3);
		assert_good(map, 1);
		assert_good(map, 3);
		struct ws_line_pos pos;
		struct ws_error err;
		size_t n;
		assert_int_equal(ws_line_find(map, 2, 8, &pos, 1, &n, NULL), WS_OK);
		assert_int_equal(ws_line_find(map, 2, 0x10, &pos, 1, &n, &err), WS_MALFORMED);
		assert_int_equal(err.file_off, bad_at);
		assert_told(map, bad_at, cases[i].why);
		ws_line_destroy(map);
	}
}

static void a_sequence_without_an_end_is_told(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[2];
	lb_table(&b);
	off[0] = good_sequence(&b);
	off[1] = lb_set_address(&b, 0);
	lb_row(&b, 0, 1);
	lb_row(&b, 0x10, 1);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, off, 2);
	struct ws_line_pos pos;
	size_t n;
	assert_good(map, 1);
	assert_int_equal(ws_line_find(map, 2, 0xf, &pos, 1, &n, NULL), WS_OK);
	assert_int_equal(ws_line_find(map, 2, 0x10, &pos, 1, &n, NULL), WS_MALFORMED);
	assert_told(map, b.len, "without an end_sequence");
	ws_line_destroy(map);
}

/* The header says that there was more: the file is cut, not its program broken. */
static void a_sequence_that_the_section_cuts_is_cut(void **state)
{
	(void)state;
	for (unsigned dwarf64 = 0; dwarf64 < 2; dwarf64++) {
		struct lb b = lb_new();
		b.dwarf64 = dwarf64;
		lb_table(&b);
		size_t off = lb_set_address(&b, 0);
		lb_row(&b, 0, 1);
		lb_row(&b, 0x10, 1);
		lb_end_sequence(&b);
		lb_table_end(&b);
		b.len -= 3; /* the end of the sequence */
		struct ws_line_map *map = lb_map(&b, &off, 1);
		struct ws_error err;
		size_t n;
		assert_int_equal(ws_line_find(map, 1, 0xf, NULL, 0, &n, NULL), WS_OK);
		assert_int_equal(ws_line_find(map, 1, 0x10, NULL, 0, &n, &err), WS_TRUNCATED);
		assert_int_equal(err.file_off, b.len);
		ws_line_destroy(map);
	}
}

static void only_whose_sequence_broke_is_told_of_it(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	lb_set_address(&b, 0);
	lb_row(&b, 0, 1);
	lb_row(&b, 0x10, 1);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	size_t n;
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0xf, NULL, 0, &n, NULL), WS_OK);
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0x10, NULL, 0, &n, NULL),
			 WS_MALFORMED);
	assert_int_equal(ws_line_find(map, 1, 0x10, NULL, 0, &n, NULL), WS_ABSENT);
	ws_line_destroy(map);
}

static bool take_any(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	(void)table;
	(void)op;
	++*(unsigned *)user;
	return true;
}

/* The first damage of a table, by its place in the file; what is behind it is shown. */
static void raw_opcodes_end_where_they_cannot_be_read(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[3], bad_at[3];
	lb_table(&b);
	for (unsigned i = 0; i < 3; i++) {
		off[i] = lb_set_address(&b, 0);
		lb_row(&b, 0, 1);
		bad_at[i] = b.len;
		if (i > 0)
			(i == 1 ? break_length_zero : break_address_size)(&b);
		lb_end_sequence(&b);
	}
	lb_table_end(&b);
	struct ws_line_reloc relocs[3];
	for (uint32_t i = 0; i < 3; i++)
		relocs[i] = (struct ws_line_reloc){ .sec_off = off[i], .owner = i };
	struct ws_line_input input = { .line = { b.byte, b.len, 0x4000 },
				       .relocs = relocs,
				       .n_relocs = 3 };
	struct ws_line_map *map = NULL;
	struct ws_error err;
	unsigned n_taken = 0;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	assert_int_equal(ws_line_walk(map, 0, take_any, &n_taken, &err), WS_MALFORMED);
	assert_int_equal(err.file_off, 0x4000 + bad_at[1]);
	assert_non_null(strstr(err.message, "length that cannot be"));
	assert_int_equal(n_taken, 4 + 3 + 3); /* address, line, copy, and one end */
	ws_line_destroy(map);
}

/* ---- headers that lie, and the next table ---- */

static void lie_version(struct lb *b)
{
	b->version = 6;
	lb_table(b);
	b->version = 2;
}

static void lie_version_before_dwarf(struct lb *b)
{
	b->version = 1;
	lb_table(b);
	b->version = 2;
}

static void lie_header_length(struct lb *b)
{
	lb_table(b);
	lb_set(b, b->header_at, 1u << 30, 4);
}

static void lie_line_range(struct lb *b)
{
	b->line_range = 0;
	lb_table(b);
	b->line_range = 14;
}

static void lie_opcode_base(struct lb *b)
{
	b->opcode_base = 0;
	lb_table(b);
	b->opcode_base = 10;
}

static void lie_short_header(struct lb *b)
{
	lb_table(b);
	lb_set(b, b->header_at, 3, 4);
}

static void a_lying_header_costs_its_table(void **state)
{
	(void)state;
	static const struct {
		void (*build)(struct lb *b);
		const char *why;
	} cases[] = {
		{ lie_version, "of version 6" },
		{ lie_version_before_dwarf, "of version 1" },
		{ lie_header_length, "past the end of its table" },
		{ lie_line_range, "without usable parameters" },
		{ lie_opcode_base, "without usable parameters" },
		{ lie_short_header, "without usable parameters" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct lb b = lb_new();
		size_t off[3];
		lb_table(&b);
		off[0] = good_sequence(&b);
		lb_table_end(&b);
		size_t bad_at = b.len;
		cases[i].build(&b);
		off[1] = good_sequence(&b);
		lb_table_end(&b);
		lb_table(&b);
		off[2] = good_sequence(&b);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, off, 3);
		assert_int_equal(ws_line_table_count(map), 2);
		assert_good(map, 1);
		assert_good(map, 3);
		size_t n;
		assert_int_equal(ws_line_find(map, 2, 0, NULL, 0, &n, NULL), WS_ABSENT);
		assert_told(map, bad_at, cases[i].why);
		ws_line_destroy(map);
	}
}

static void a_reserved_length_ends_the_section(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off = good_sequence(&b);
	lb_table_end(&b);
	size_t bad_at = b.len;
	lb_uint(&b, 0xfffffff1, 4);
	lb_uint(&b, 0, 8);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	assert_good(map, 1);
	assert_told(map, bad_at, "reserved length");
	ws_line_destroy(map);
}

/* Counts of 4 GB and entries of no size may cost neither time nor memory. */
static void counts_of_a_lying_list_are_not_believed(void **state)
{
	(void)state;
	for (unsigned formats = 0; formats < 2; formats++) {
		struct lb b = lb_new();
		b.version = 5;
		b.str_base = false;
		lb_header_start(&b);
		lb_u8(&b, formats);
		if (formats) {
			lb_uleb(&b, 1);
			lb_uleb(&b, 0x08);
		}
		size_t bad_at = b.len + 5; /* behind the count */
		lb_uleb(&b, UINT32_MAX);
		lb_str(&b, "/src");
		lb_header_end(&b);
		size_t off = good_sequence(&b);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, &off, 1);
		assert_told(map, bad_at, "directory or file list");
		assert_int_equal(ws_line_table_at(map, 0)->n_dirs, 0);
		assert_good(map, 1); /* rows survive; only their files are lost */
		ws_line_destroy(map);
	}
}

static void forms_that_nobody_knows_end_the_list(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.version = 5;
	b.str_base = false;
	lb_header_start(&b);
	lb_u8(&b, 1);
	lb_uleb(&b, 1);
	lb_uleb(&b, 0x7777);
	lb_uleb(&b, 1);
	lb_str(&b, "/src");
	lb_header_end(&b);
	size_t off = good_sequence(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	assert_told(map, WS_NO_OFFSET, "directory or file list");
	assert_good(map, 1);
	ws_line_destroy(map);
}

static void declared_operands_of_opcodes_are_skipped(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.opcode_base = 16; /* 13 to 15 are unknown, with one operand each */
	lb_header_start(&b);
	b.byte[b.len - 15 + 5] = 2; /* negate_stmt, with two operands: not the one we know */
	lb_lists(&b);
	lb_header_end(&b);
	size_t off = lb_set_address(&b, 0);
	lb_u8(&b, 14);
	lb_uleb(&b, 0x12345);
	lb_u8(&b, 6);
	lb_uleb(&b, 1);
	lb_uleb(&b, 300);
	lb_row(&b, 0, 9);
	lb_end_after(&b, 0x10);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, &off, 1);
	struct ws_line_seq seq;
	assert_good(map, 1);
	assert_int_equal(ws_line_owner_seq(map, 1, 0, &seq, NULL), WS_OK);
	assert_int_equal(ws_line_row_at(map, &seq, 1).flags, WS_LINE_IS_STMT);
	ws_line_destroy(map);
}

/* ---- relocations that lie ---- */

static void relocations_into_nowhere_change_nothing(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off[5];
	off[0] = good_sequence(&b);
	off[1] = good_sequence(&b);
	lb_table_end(&b);
	off[2] = off[0] + 1; /* inside an operand: the table is decoded as one part */
	off[3] = b.len + 1000;
	off[4] = 2;
	struct ws_line_map *map = lb_map(&b, off, 5);
	assert_good(map, 1);
	assert_good(map, 2);
	size_t n;
	assert_int_equal(ws_line_find(map, 3, 0, NULL, 0, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_seq_count(map, &n, NULL), WS_OK);
	assert_int_equal(n, 2);
	ws_line_destroy(map);
}

static void two_relocations_of_one_word_count_once(void **state)
{
	(void)state;
	struct lb b = lb_new();
	lb_table(&b);
	size_t off[3];
	off[0] = off[1] = good_sequence(&b);
	off[2] = good_sequence(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, off, 3);
	size_t n;
	assert_int_equal(ws_line_seq_count(map, &n, NULL), WS_OK);
	assert_int_equal(n, 2);
	assert_good(map, 1);
	assert_good(map, 3);
	ws_line_destroy(map);
}

/* ---- sweeps ---- */

static size_t build_both(struct lb *b, size_t *off)
{
	for (unsigned i = 0; i < 3; i++) {
		b->version = i == 1 ? 5 : 2;
		b->str_base_value = i;
		lb_table(b);
		off[2 * i] = good_sequence(b);
		off[2 * i + 1] = lb_set_address(b, 0);
		lb_row(b, 0, 4);
		lb_call(b, 1, LB_LEAF);
		lb_row(b, 0x10, 1);
		lb_end_after(b, 0x10);
		lb_table_end(b);
	}
	return 6;
}

/* Asks everything there is to ask. */
static void ask_all(struct ws_line_map *map)
{
	size_t n_seqs = 0, n;
	assert_int_equal(ws_line_seq_count(map, &n_seqs, NULL), WS_OK);
	for (size_t i = 0; i < n_seqs; i++) {
		struct ws_line_seq seq;
		struct ws_line_pos pos[4];
		assert_int_equal(ws_line_seq_at(map, i, &seq, NULL), WS_OK);
		for (uint32_t k = 1; k <= seq.n_rows; k++) {
			struct ws_line_row row = ws_line_row_at(map, &seq, k);
			assert_int_equal(ws_line_chain(map, &seq, k, pos, 4), row.depth + 1);
		}
	}
	for (uint32_t owner = 0; owner < 8; owner++)
		(void)!ws_line_find(map, owner, 0x10, NULL, 0, &n, NULL);
}

/* At every cut the sequences before it are whole, and the cut is told with its offset. */
static void every_cut_is_told_and_costs_only_what_is_behind(void **state)
{
	(void)state;
	struct lb whole = lb_new();
	size_t off[6], table_end[3], n_tables = 0, n_relocs = build_both(&whole, off);
	struct ws_line_map *map = lb_map(&whole, off, n_relocs);
	assert_int_equal(ws_line_diagnostics(map, NULL, NULL), 0);
	for (; n_tables < ws_line_table_count(map); n_tables++)
		table_end[n_tables] = (size_t)ws_line_table_at(map, n_tables)->end_off;
	assert_int_equal(n_tables, 3);
	ws_line_destroy(map);
	for (size_t cut = 1; cut < whole.len; cut++) {
		uint8_t *exact = test_malloc(cut); /* so that checkers see reads beyond the cut */
		memcpy(exact, whole.byte, cut);
		struct ws_line_reloc relocs[6];
		for (size_t i = 0; i < n_relocs; i++)
			relocs[i] = (struct ws_line_reloc){ .sec_off = off[i],
							    .owner = (uint32_t)i + 1 };
		struct ws_line_input input = {
			.line = { exact, cut, 0 },
			.str = { (const uint8_t *)lb_names, sizeof lb_names, 0 },
			.relocs = relocs,
			.n_relocs = n_relocs,
		};
		assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
		ask_all(map);
		bool at_end = cut == table_end[0] || cut == table_end[1] || cut == table_end[2];
		struct told told = told_by(map);
		assert_true(at_end ? told.n == 0 : told.n > 0);
		if (!at_end)
			assert_true(told.file_off <= cut);
		for (size_t i = 0; i < 3; i++) {
			if (cut >= table_end[i])
				assert_good(map, (uint32_t)(2 * i + 1));
		}
		ws_line_destroy(map);
		test_free(exact);
	}
}

static void every_byte_may_be_any_byte(void **state)
{
	(void)state;
	struct lb whole = lb_new();
	size_t off[6], n_relocs = build_both(&whole, off);
	static const uint8_t values[] = { 0, 1, 2, 9, 0x7f, 0x80, 0x90, 0xff };
	for (size_t at = 0; at < whole.len; at++) {
		for (size_t i = 0; i < WSI_COUNT(values); i++) {
			struct lb b = whole;
			b.byte[at] = values[i];
			struct ws_line_map *map = lb_map(&b, off, n_relocs);
			ask_all(map);
			ws_line_destroy(map);
		}
	}
}

static int fail_after;

static bool fails_in_turn(void)
{
	return fail_after-- == 0;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[6], n_relocs = build_both(&b, off);
	struct ws_line_reloc relocs[6];
	for (size_t i = 0; i < n_relocs; i++)
		relocs[i] = (struct ws_line_reloc){ .sec_off = off[i], .owner = (uint32_t)i + 1 };
	struct ws_line_input input = { .line = { b.byte, b.len, 0 },
				       .relocs = relocs,
				       .n_relocs = n_relocs };
	bool finished = false;
	int turn = 0;
	for (; turn < 200 && !finished; turn++) {
		fail_after = turn;
		wsi_alloc_should_fail = fails_in_turn;
		struct ws_line_map *map = NULL;
		size_t n;
		enum ws_status st = ws_line_create(&input, &map, NULL);
		if (st == WS_OK)
			st = ws_line_find(map, 1, 0, NULL, 0, &n, NULL);
		if (st == WS_OK)
			st = ws_line_seq_count(map, &n, NULL);
		finished = st == WS_OK && fail_after >= 0;
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
		wsi_alloc_should_fail = NULL;
		if (map && st == WS_NO_MEMORY) /* the next try succeeds */
			assert_int_equal(ws_line_seq_count(map, &n, NULL), WS_OK);
		ws_line_destroy(map);
	}
	assert_true(finished);
	assert_in_range(turn, 20, 199);
}

/* ---- threads ---- */

enum {
	N_THREADS = 8,
};

static void *look_up_all(void *user)
{
	const struct ws_line_map *map = user;
	for (uint32_t owner = 1; owner <= 6; owner++) {
		struct ws_line_pos pos[4];
		size_t n;
		if (ws_line_find(map, owner, 0, pos, 4, &n, NULL) != WS_OK || n != 1)
			return NULL;
	}
	size_t n_seqs;
	bool ok = ws_line_seq_count(map, &n_seqs, NULL) == WS_OK && n_seqs == 6;
	return ok ? user : NULL;
}

static void threads_share_one_map(void **state)
{
	(void)state;
	struct lb b = lb_new();
	size_t off[6], n_relocs = build_both(&b, off);
	for (int round = 0; round < 50; round++) {
		struct ws_line_map *map = lb_map(&b, off, n_relocs);
		pthread_t thread[N_THREADS];
		for (int i = 0; i < N_THREADS; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, look_up_all, map), 0);
		for (int i = 0; i < N_THREADS; i++) {
			void *result = NULL;
			assert_int_equal(pthread_join(thread[i], &result), 0);
			assert_ptr_equal(result, map);
		}
		ws_line_destroy(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_that_is_no_earlier_row_cuts_the_chain),
		cmocka_unit_test(a_chain_deeper_than_the_limit_is_cut_and_told),
		cmocka_unit_test(damages_beyond_the_first_are_counted),
		cmocka_unit_test(a_name_outside_the_strings_is_none),
		cmocka_unit_test(strings_without_an_end_are_no_names),
		cmocka_unit_test(a_broken_sequence_costs_no_other),
		cmocka_unit_test(a_sequence_without_an_end_is_told),
		cmocka_unit_test(a_sequence_that_the_section_cuts_is_cut),
		cmocka_unit_test(only_whose_sequence_broke_is_told_of_it),
		cmocka_unit_test(raw_opcodes_end_where_they_cannot_be_read),
		cmocka_unit_test(a_lying_header_costs_its_table),
		cmocka_unit_test(a_reserved_length_ends_the_section),
		cmocka_unit_test(counts_of_a_lying_list_are_not_believed),
		cmocka_unit_test(forms_that_nobody_knows_end_the_list),
		cmocka_unit_test(declared_operands_of_opcodes_are_skipped),
		cmocka_unit_test(relocations_into_nowhere_change_nothing),
		cmocka_unit_test(two_relocations_of_one_word_count_once),
		cmocka_unit_test(every_cut_is_told_and_costs_only_what_is_behind),
		cmocka_unit_test(every_byte_may_be_any_byte),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(threads_share_one_map),
	};
	return cmocka_run_group_tests_name("line damage", tests, NULL, NULL);
}
