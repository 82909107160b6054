/* SPDX-License-Identifier: Apache-2.0 */
/* What a line map costs: short sequences share parts, and each is still found; an account pays. */
#include "unit.h"

#include <warpscope/line.h>

#include "line_builder.h"

#include "line/map.h"

enum {
	N_SHORT = 3000,
	N_OWNERS = 40,
	BROKEN = 777,
};

struct many {
	struct lb b;
	struct ws_line_reloc reloc[N_SHORT];
};

/* Short sequences, 0x10 bytes each: of each owner one behind the other, owners in turn. */
static void many_init(struct many *m)
{
	m->b = lb_new();
	lb_table(&m->b);
	for (uint32_t i = 0; i < N_SHORT; i++) {
		size_t off = lb_set_address(&m->b, i / N_OWNERS * 0x10);
		m->reloc[i] = (struct ws_line_reloc){ .sec_off = off,
						      .owner = 1 + i % N_OWNERS,
						      .add_stored = true };
		lb_row(&m->b, 0, (int64_t)i);
		if (i == BROKEN)
			lb_u8(&m->b, 0); /* an extended opcode of length 0 */
		lb_end_after(&m->b, 0x10);
	}
	lb_table_end(&m->b);
}

static struct ws_line_map *many_map(struct many *m, struct wsi_line_account *account)
{
	struct ws_line_input input = {
		.line = { m->b.byte, m->b.len, 0 },
		.relocs = m->reloc,
		.n_relocs = N_SHORT,
	};
	struct ws_line_map *map = NULL;
	assert_int_equal(wsi_line_create(&input, account, &map, NULL), WS_OK);
	return map;
}

static void each_of_many_short_sequences_is_found(void **state)
{
	(void)state;
	struct many *m = test_malloc(sizeof *m);
	many_init(m);
	struct ws_line_map *map = many_map(m, NULL);
	assert_true(map->n_parts < N_SHORT / 20);
	for (uint32_t i = 0; i < N_SHORT; i++) {
		struct ws_line_pos pos;
		struct ws_line_seq seq;
		size_t n;
		enum ws_status st = ws_line_find(map, 1 + i % N_OWNERS, i / N_OWNERS * 0x10 + 4,
						 &pos, 1, &n, NULL);
		assert_int_equal(st, i == BROKEN ? WS_MALFORMED : WS_OK);
		if (st == WS_OK)
			assert_int_equal(pos.line, i + 1);
		assert_int_equal(ws_line_owner_seq(map, 1 + i % N_OWNERS, i / N_OWNERS, &seq, NULL),
				 WS_OK);
		assert_int_equal(ws_line_row_at(map, &seq, 1).line, i + 1);
	}
	ws_line_destroy(map);
	test_free(m);
}

static void told_limit(void *user, const struct ws_line_diagnostic *diagnostic)
{
	if (diagnostic->status == WS_LIMIT)
		++*(unsigned *)user;
}

static void what_the_account_cannot_pay_is_left_out_and_told_once(void **state)
{
	(void)state;
	struct many *m = test_malloc(sizeof *m);
	many_init(m);
	for (int64_t missing = 0; missing < 10; missing++) {
		const int64_t earned = (int64_t)m->b.len * WSI_LINE_BYTES_PER_BYTE;
		const int64_t left = -earned * missing / 10;
		struct wsi_line_account account;
		wsi_line_account_init(&account);
		atomic_store(&account.left, left);
		struct ws_line_map *map = many_map(m, &account);
		unsigned n_told = 0, n_found = 0;
		for (uint32_t i = 0; i < N_SHORT; i++) {
			size_t n;
			enum ws_status st = ws_line_find(
				map, 1 + i % N_OWNERS, i / N_OWNERS * 0x10 + 4, NULL, 0, &n, NULL);
			assert_true(st == WS_OK || st == WS_LIMIT || i == BROKEN);
			n_found += st == WS_OK;
		}
		assert_true(n_found < N_SHORT - 1 && (n_found > 0 || missing > 2));
		ws_line_diagnostics(map, told_limit, &n_told);
		assert_int_equal(n_told, 1);
		assert_true(atomic_load(&account.left) >= 0);
		ws_line_destroy(map);
		assert_int_equal(atomic_load(&account.left), left);
	}
	test_free(m);
}

static void entries_of_no_fields_are_not_believed(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.version = 5;
	lb_header_start(&b);
	lb_u8(&b, 0);
	lb_uleb(&b, 20);
	for (int i = 0; i < 30; i++)
		lb_u8(&b, 0);
	lb_header_end(&b);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	assert_int_equal(ws_line_table_at(map, 0)->n_dirs, 0);
	ws_line_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_many_short_sequences_is_found),
		cmocka_unit_test(what_the_account_cannot_pay_is_left_out_and_told_once),
		cmocka_unit_test(entries_of_no_fields_are_not_believed),
	};
	return cmocka_run_group_tests_name("line cost", tests, NULL, NULL);
}
