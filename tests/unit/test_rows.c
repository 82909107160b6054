/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: widths, alignment, the star, headings, what is missing; text and JSON of the same rows.
 */
#include "unit.h"

#include <warpscope/rows.h>

#include "verbs/info/blocks.h"

struct text {
	char bytes[8192];
	size_t len;
};

static bool text_take(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	assert_true(text->len + len < sizeof text->bytes);
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
	return true;
}

static const struct ws_rows_column columns[] = {
	{ NULL, "device", WS_ROWS_DATA },
	{ "N", "n", 0 },
	{ "Name", "name", WS_ROWS_LEFT },
	{ "Address", "address", WS_ROWS_WIDE },
	{ "Dim", "dim", 0 },
};

static void produce(struct ws_rows *rows, void *user)
{
	unsigned n = *(unsigned *)user;
	for (unsigned i = 0; i < n; i++) {
		ws_rows_heading(rows, "Device %u", i / 2);
		ws_rows_begin(rows, i == 1);
		ws_rows_number(rows, i / 2);
		ws_rows_number(rows, i * 1000);
		ws_rows_given(rows, 1, i == 2 ? WS_EXCLUDED : WS_OK);
		ws_rows_text(rows, i ? "a\x1b" : "long name");
		ws_rows_hex(rows, 0x10 + i, 8);
		ws_rows_if(rows, 1, i != 2);
		ws_rows_dim3(rows, (struct ws_dim3){ i, 20, 0 });
		ws_rows_end(rows);
	}
}

static size_t show_style(struct text *text, unsigned n, bool as_json, struct ws_rows_style style)
{
	struct ws_out out;
	struct ws_json json;
	text->len = 0;
	ws_out_init(&out, text_take, text);
	ws_json_init(&json, &out, true);
	style.out = &out;
	style.json = as_json ? &json : NULL;
	size_t rows = ws_rows_show(&style, columns, WSI_COUNT(columns), "No things.", produce, &n);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	return rows;
}

static size_t show(struct text *text, unsigned n, bool wide, bool as_json)
{
	return show_style(text, n, as_json, (struct ws_rows_style){ .wide = wide });
}

static void text_is_aligned_starred_and_grouped(void **state)
{
	(void)state;
	struct text text;
	assert_int_equal(show(&text, 3, false, false), 3);
	assert_string_equal(text.bytes, "     N Name           Dim\n"
					"Device 0\n"
					"     0 long name (0,20,0)\n"
					"* 1000 a\\x1b     (1,20,0)\n"
					"Device 1\n"
					"  2000 excluded         -\n");
}

static void wide_shows_what_is_hidden(void **state)
{
	(void)state;
	struct text text;
	show(&text, 1, true, false);
	assert_string_equal(text.bytes, "  N Name         Address      Dim\n"
					"Device 0\n"
					"  0 long name 0x00000010 (0,20,0)\n");
}

static void rows_after_the_limit_are_counted(void **state)
{
	(void)state;
	struct text text;
	assert_int_equal(show_style(&text, 3, false, (struct ws_rows_style){ .limit = 2 }), 3);
	assert_string_equal(text.bytes, "     N Name           Dim\n"
					"Device 0\n"
					"     0 long name (0,20,0)\n"
					"* 1000 a\\x1b     (1,20,0)\n"
					"... and 1 more row; --limit 0 shows all\n");
	assert_int_equal(show_style(&text, 3, true, (struct ws_rows_style){ .limit = 1 }), 3);
	assert_non_null(strstr(text.bytes, "\"n\":0,"));
	assert_null(strstr(text.bytes, "\"n\":1000,"));
	assert_int_equal(show_style(&text, 3, false, (struct ws_rows_style){ .limit = 3 }), 3);
	assert_null(strstr(text.bytes, "more rows"));
}

static void many_names(struct ws_rows *rows, void *user)
{
	(void)user;
	ws_rows_begin(rows, false);
	ws_rows_text(rows, "a_function_with_a_long_name");
	ws_rows_text(rows, "/a/folder/of/s\303\266urces/file.cu");
	ws_rows_number(rows, 1234567890123);
	ws_rows_end(rows);
}

static void rows_are_folded_to_fit_the_terminal(void **state)
{
	(void)state;
	static const struct ws_rows_column names[] = { { "Function", "function", WS_ROWS_LEFT },
						       { "Filename", "filename", 0 },
						       { "Number", "number", 0 } };
	static const struct {
		unsigned columns;
		const char *shown;
	} cases[] = {
		{ 0, "  a_function_with_a_long_name /a/folder/of/s\303\266urces/file.cu "
		     "1234567890123\n" },
		{ 72, "  a_function_with_a_long_name /a/folder/of/s\303\266urces/file.cu "
		      "1234567890123\n" },
		{ 71, "  a_function_with_a_long_name /a/folder/of/s\303\266urces/file.cu\n"
		      "      1234567890123\n" },
		{ 50, "  a_function_with_a_long_name\n"
		      "      /a/folder/of/s\303\266urces/file.cu 1234567890123\n" },
		{ 10, "  a_function_with_a_long_name\n"
		      "      /a/folder/of/s\303\266urces/file.cu\n"
		      "      1234567890123\n" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct text text = { 0 };
		struct ws_out out;
		ws_out_init(&out, text_take, &text);
		const struct ws_rows_style style = { .out = &out, .columns = cases[i].columns };
		ws_rows_show(&style, names, WSI_COUNT(names), "", many_names, NULL);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		size_t len = strlen(cases[i].shown);
		assert_true(text.len > len);
		assert_string_equal(text.bytes + text.len - len, cases[i].shown);
	}
}

static void no_row_is_a_sentence(void **state)
{
	(void)state;
	struct text text;
	assert_int_equal(show(&text, 0, false, false), 0);
	assert_string_equal(text.bytes, "No things.\n");
	show(&text, 0, false, true);
	assert_string_equal(text.bytes, "[]\n");
}

static void json_has_every_column_and_why(void **state)
{
	(void)state;
	struct text text;
	assert_int_equal(show(&text, 3, false, true), 3);
	assert_non_null(strstr(text.bytes, "{\"current\":true,\"device\":0,\"n\":1000,"
					   "\"name\":\"a\\u001b\",\"address\":\"0x11\","
					   "\"dim\":[1,20,0]}"));
	assert_non_null(strstr(text.bytes, "\"name\":null,\"name_why\":\"excluded\""));
	assert_non_null(strstr(text.bytes, "\"dim\":null,\"dim_why\":\"absent\""));
}

static void mask_row(struct ws_rows *rows, void *user)
{
	(void)user;
	ws_rows_begin(rows, false);
	ws_rows_mask(rows, (uint64_t[]){ 0x8000000000000001, 0x1, 0x8 }, 132);
	ws_rows_end(rows);
}

static void masks_are_as_wide_as_the_hardware(void **state)
{
	(void)state;
	static const struct ws_rows_column mask[] = { { "M", "m", 0 } };
	struct text text = { 0 };
	struct ws_out out;
	ws_out_init(&out, text_take, &text);
	const struct ws_rows_style style = { .out = &out };
	ws_rows_show(&style, mask, 1, "", mask_row, NULL);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_non_null(strstr(text.bytes, "  0x0800000000000000018000000000000001\n"));
}

static void conditional_row(struct ws_rows *rows, void *user)
{
	(void)user;
	ws_rows_begin(rows, false);
	ws_rows_given(rows, 2, WS_MALFORMED);
	ws_rows_or_none(rows, 1, false); /* the first condition counts */
	ws_rows_number(rows, 1);
	ws_rows_text(rows, "two");
	ws_rows_or_none(rows, 1, false);
	ws_rows_hex(rows, 3, 1);
	ws_rows_if(rows, 1, true);
	ws_rows_number(rows, 4);
	ws_rows_end(rows);
}

static void cells_are_hidden_by_conditions(void **state)
{
	(void)state;
	static const struct ws_rows_column four[] = {
		{ "A", "a", 0 }, { "B", "b", 0 }, { "C", "c", 0 }, { "D", "d", 0 }
	};
	struct text text = { 0 };
	struct ws_out out;
	struct ws_json json;
	ws_out_init(&out, text_take, &text);
	ws_json_init(&json, &out, true);
	const struct ws_rows_style style = { .out = &out, .json = &json };
	ws_rows_show(&style, four, WSI_COUNT(four), "", conditional_row, NULL);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes,
			    "[{\"current\":false,\"a\":null,\"a_why\":\"damaged\",\"b\":null,"
			    "\"b_why\":\"damaged\",\"c\":null,\"d\":4}]\n");
}

/* ---- rows that are kept, and rows that are produced again ---- */

struct long_table {
	struct ws_str last; /* text of the last row */
	unsigned n_produced;
	uint32_t n_doubted;
};

static void long_rows(struct ws_rows *rows, void *user)
{
	struct long_table *table = user;
	table->n_produced++;
	for (unsigned i = 0; i < 4; i++) {
		ws_rows_heading(rows, "Device %u", i / 2);
		wsi_rows_doubt(rows, i == 2 ? "it cannot be" : "", &table->n_doubted);
		ws_rows_begin(rows, i == 1);
		ws_rows_given(rows, 1, i == 2 ? WS_EXCLUDED : WS_OK);
		ws_rows_number(rows, i);
		ws_rows_hex(rows, i, 8);
		ws_rows_str(rows, i == 3 ? table->last : ws_str_of("a\x1b"));
		ws_rows_end(rows);
	}
}

/* A sink of the first bytes, terminated. */
static bool text_take_first(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	for (size_t i = 0; i < len && text->len + 1 < sizeof text->bytes; i++)
		text->bytes[text->len++] = bytes[i];
	text->bytes[text->len] = '\0';
	return true;
}

static void show_long(struct long_table *table, uint64_t limit, const char *rest)
{
	static const struct ws_rows_column three[] = { { "N", "n", 0 },
						       { "Hidden", "hidden", WS_ROWS_WIDE },
						       { "Name", "name", WS_ROWS_LEFT } };
	static const char first_rows[] = "         N Name\n"
					 "Device 0\n"
					 "         0 a\\x1b\n"
					 "*        1 a\\x1b\n"
					 "Device 1\n"
					 "? excluded a\\x1b\n";
	struct text text = { .len = 0 };
	struct ws_out out;
	ws_out_init(&out, text_take_first, &text);
	const struct ws_rows_style style = { .out = &out, .limit = limit };
	table->n_produced = table->n_doubted = 0;
	assert_int_equal(ws_rows_show(&style, three, WSI_COUNT(three), "", long_rows, table), 4);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_memory_equal(text.bytes, first_rows, sizeof first_rows - 1);
	assert_memory_equal(text.bytes + sizeof first_rows - 1, rest, strlen(rest));
	assert_int_equal(table->n_doubted, 1);
}

static bool every_allocation_fails(void)
{
	return true;
}

static void rows_are_kept_or_produced_again(void **state)
{
	(void)state;
	enum { TOO_MUCH = 5 << 20 };
	struct long_table table = { .last = ws_str_of("xxx") };
	show_long(&table, 0, "         3 xxx\n");
	assert_int_equal(table.n_produced, 1);
	show_long(&table, 3, "... and 1 more row; --limit 0 shows all\n");
	assert_int_equal(table.n_produced, 1);

	wsi_alloc_should_fail = every_allocation_fails;
	show_long(&table, 0, "         3 xxx\n");
	wsi_alloc_should_fail = NULL;
	assert_int_equal(table.n_produced, 2);

	char *much = malloc(TOO_MUCH);
	assert_non_null(much);
	memset(much, 'x', TOO_MUCH);
	table.last = (struct ws_str){ much, TOO_MUCH };
	show_long(&table, 0, "         3 xxxxxx");
	assert_int_equal(table.n_produced, 2);
	show_long(&table, 3, "... and 1 more row; --limit 0 shows all\n");
	assert_int_equal(table.n_produced, 1);
	free(much);
}

/* ---- neighbours ---- */

static void next_index_wraps_row_by_row(void **state)
{
	(void)state;
	const struct ws_dim3 extent = { 4, 3, 2 };
	static const struct {
		struct ws_dim3 at, next;
		bool follows, wrapped;
	} cases[] = {
		{ { 0, 0, 0 }, { 1, 0, 0 }, true, false },
		{ { 3, 0, 0 }, { 0, 1, 0 }, true, false },
		{ { 3, 2, 0 }, { 0, 0, 1 }, true, false },
		{ { 3, 2, 1 }, { 0, 0, 0 }, true, true },
		{ { 0, 0, 0 }, { 2, 0, 0 }, false, false },
		{ { 2, 0, 0 }, { 0, 1, 0 }, false, false },
		{ { 1, 0, 0 }, { 1, 0, 0 }, false, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		bool wrapped;
		assert_int_equal(wsi_dim3_follows(cases[i].at, cases[i].next, extent, &wrapped),
				 cases[i].follows);
		if (cases[i].follows)
			assert_int_equal(wrapped, cases[i].wrapped);
		assert_int_equal(wsi_dim3_follows(cases[i].at, cases[i].next, extent, NULL),
				 cases[i].follows && !cases[i].wrapped);
	}
}

static void order_has_x_fastest(void **state)
{
	(void)state;
	assert_true(wsi_dim3_compare((struct ws_dim3){ 9, 0, 0 }, (struct ws_dim3){ 0, 1, 0 }) < 0);
	assert_true(wsi_dim3_compare((struct ws_dim3){ 9, 9, 0 }, (struct ws_dim3){ 0, 0, 1 }) < 0);
	assert_true(wsi_dim3_compare((struct ws_dim3){ 2, 0, 0 }, (struct ws_dim3){ 1, 0, 0 }) > 0);
	assert_int_equal(wsi_dim3_compare((struct ws_dim3){ 1, 2, 3 }, (struct ws_dim3){ 1, 2, 3 }),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned_starred_and_grouped),
		cmocka_unit_test(wide_shows_what_is_hidden),
		cmocka_unit_test(no_row_is_a_sentence),
		cmocka_unit_test(rows_after_the_limit_are_counted),
		cmocka_unit_test(rows_are_folded_to_fit_the_terminal),
		cmocka_unit_test(json_has_every_column_and_why),
		cmocka_unit_test(masks_are_as_wide_as_the_hardware),
		cmocka_unit_test(cells_are_hidden_by_conditions),
		cmocka_unit_test(rows_are_kept_or_produced_again),
		cmocka_unit_test(next_index_wraps_row_by_row),
		cmocka_unit_test(order_has_x_fastest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
