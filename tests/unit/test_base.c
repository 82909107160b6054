/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: statuses, readers, arena, output, JSON, tables. */
#include "unit.h"

#include <errno.h>

#include <warpscope/out.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/reader.h"

struct text {
	char bytes[4096];
	size_t len;
};

static bool text_write(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	if (len > sizeof text->bytes - 1 - text->len)
		return false;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = 0;
	return true;
}

static void error_keeps_place_and_outermost_context_first(void **state)
{
	(void)state;
	struct ws_error err = { 0 };
	enum ws_status st = wsi_fail(&err, WS_TRUNCATED, 0x1010, "needs %d bytes, has %d", 12, 8);
	st = wsi_context(&err, st, "warp %d", 1);
	assert_int_equal(st, WS_TRUNCATED);
	assert_int_equal(err.file_off, 0x1010);
	assert_string_equal(err.message, "warp 1: needs 12 bytes, has 8");
	assert_int_equal(wsi_context(&err, WS_OK, "later"), WS_OK);
	assert_string_equal(err.message, "warp 1: needs 12 bytes, has 8");
	assert_int_equal(wsi_fail(NULL, WS_ABSENT, 0, "no"), WS_ABSENT);
}

static void long_context_is_cut_not_overrun(void **state)
{
	(void)state;
	char name[300];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	struct ws_error err;
	wsi_fail(&err, WS_MALFORMED, 0, "%s", name);
	wsi_context(&err, WS_MALFORMED, "%s", name);
	assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void subspan_cannot_wrap(void **state)
{
	(void)state;
	uint8_t bytes[16] = { 0 };
	struct ws_span span = { bytes, sizeof bytes, 100 }, sub = { 0 };
	assert_true(ws_span_sub(span, 16, 0, &sub));
	assert_true(ws_span_sub(span, 4, 12, &sub));
	assert_int_equal(sub.origin, 104);
	assert_false(ws_span_sub(span, 4, 13, &sub));
	assert_false(ws_span_sub(span, 17, 0, &sub));
	assert_false(ws_span_sub(span, UINT64_MAX, 2, &sub));
	assert_false(ws_span_sub(span, 8, UINT64_MAX - 4, &sub));
}

static const struct {
	uint8_t bytes[12];
	size_t len;
	bool ok;
	uint64_t value;
	const char *why;
} uleb_cases[] = {
	{ { 0 }, 1, true, 0, "zero" },
	{ { 0x7f }, 1, true, 127, "one byte" },
	{ { 0xe5, 0x8e, 0x26 }, 3, true, 624485, "three bytes" },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
	  10,
	  true,
	  UINT64_MAX,
	  "64 bits" },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 }, 10, false, 0, "65 bits" },
	{ { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },
	  12,
	  true,
	  1,
	  "padded" },
	{ { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 },
	  12,
	  false,
	  0,
	  "bit 77" },
	{ { 0x80, 0x80 }, 2, false, 0, "runs off the end" },
};

static void uleb_accepts_exactly_64_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(uleb_cases); i++) {
		struct wsi_reader r = wsi_reader_of(
			(struct ws_span){ uleb_cases[i].bytes, uleb_cases[i].len, 0 });
		uint64_t value = wsi_read_uleb(&r);
		if (r.failed == uleb_cases[i].ok || value != uleb_cases[i].value)
			fail_msg("%s: failed %d, value %#" PRIx64, uleb_cases[i].why, r.failed,
				 value);
		if (r.failed)
			assert_int_equal(r.pos, 0);
	}
}

static const struct {
	uint8_t bytes[12];
	size_t len;
	bool ok;
	int64_t value;
	const char *why;
} sleb_cases[] = {
	{ { 0x7f }, 1, true, -1, "minus one" },
	{ { 0x40 }, 1, true, -64, "sign bit of the first byte" },
	{ { 0xc0, 0xbb, 0x78 }, 3, true, -123456, "three bytes" },
	{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f },
	  10,
	  true,
	  INT64_MIN,
	  "minimum" },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 },
	  10,
	  true,
	  INT64_MAX,
	  "maximum" },
	{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 }, 10, false, 0, "2^63" },
	{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
	  11,
	  true,
	  -1,
	  "padded" },
	{ { 0xff, 0xff }, 2, false, 0, "runs off the end" },
};

static void sleb_accepts_exactly_64_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(sleb_cases); i++) {
		struct wsi_reader r = wsi_reader_of(
			(struct ws_span){ sleb_cases[i].bytes, sleb_cases[i].len, 0 });
		int64_t value = wsi_read_sleb(&r);
		if (r.failed == sleb_cases[i].ok || value != sleb_cases[i].value)
			fail_msg("%s: failed %d, value %#" PRIx64, sleb_cases[i].why, r.failed,
				 (uint64_t)value);
	}
}

static void failed_reader_stays_put_and_yields_zero(void **state)
{
	(void)state;
	const uint8_t bytes[] = { 1, 2, 3, 4, 5, 'a', 'b', 0 };
	struct wsi_reader r = wsi_reader_of((struct ws_span){ bytes, sizeof bytes, 50 });
	assert_int_equal(wsi_read_u32(&r), 0x04030201);
	assert_int_equal(wsi_read_u64(&r), 0);
	assert_true(r.failed);
	assert_int_equal(r.fail_pos, 4);
	assert_int_equal(wsi_read_u8(&r), 0);
	assert_int_equal(r.pos, 4);

	r = wsi_reader_of((struct ws_span){ bytes + 5, 3, 55 });
	assert_true(ws_str_equal(wsi_read_cstr(&r), ws_str_of("ab")));
	assert_int_equal(wsi_read_cstr(&r).len, 0);
	assert_true(r.failed);

	r = (struct wsi_reader){ .in = { bytes, 4, 0 }, .big_endian = true };
	assert_int_equal(wsi_read_u32(&r), 0x01020304);
}

static void arena_gives_aligned_zeroed_memory_that_stays(void **state)
{
	(void)state;
	struct wsi_arena arena = { 0 };
	uint64_t *first = wsi_arena_zalloc(&arena, sizeof *first);
	assert_non_null(first);
	*first = 42;
	for (int i = 0; i < 10000; i++) {
		uint8_t *p = wsi_arena_zalloc(&arena, (size_t)(i % 300));
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (int k = 0; k < i % 300; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, (size_t)(i % 300));
	}
	assert_non_null(wsi_arena_zalloc(&arena, 1 << 20));
	assert_null(wsi_arena_zalloc_array(&arena, SIZE_MAX / 2, 3));
	assert_null(wsi_arena_zalloc(&arena, SIZE_MAX));
	assert_string_equal(wsi_arena_str(&arena, "text!", 4), "text");
	assert_int_equal(*first, 42);
	wsi_arena_fini(&arena);
	wsi_arena_fini(&arena);
}

static void growth_stops_at_its_ceiling(void **state)
{
	(void)state;
	uint32_t *items = NULL;
	size_t cap = 0, n = 0;
	while (wsi_grow(&items, &cap, n, sizeof *items, 100))
		n++;
	assert_int_equal(n, 100);
	wsi_free(items);
}

static void input_text_cannot_harm_a_terminal(void **state)
{
	(void)state;
	struct text text = { 0 };
	struct ws_out out;
	ws_out_init(&out, text_write, &text);
	ws_out_escaped(&out, ws_str_of("a\x1b[31m\n\xc3\xa9\xc2\x9b\xff z"));
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, "a\\x1b[31m\\x0a\xc3\xa9\\xc2\\x9b\\xff z");
}

static bool refuse(void *user, const char *bytes, size_t len)
{
	(void)user, (void)bytes, (void)len;
	errno = ENOSPC;
	return false;
}

static void failed_output_is_reported_once_at_the_end(void **state)
{
	(void)state;
	struct ws_out out;
	ws_out_init(&out, refuse, NULL);
	for (int i = 0; i < 10000; i++)
		ws_out_text(&out, "some text");
	struct ws_error err;
	assert_int_equal(ws_out_flush(&out, &err), WS_IO);
	assert_int_equal(err.os_errno, ENOSPC);
}

static void json_is_exact_and_escaped(void **state)
{
	(void)state;
	struct text text = { 0 };
	struct ws_out out;
	struct ws_json json;
	ws_out_init(&out, text_write, &text);
	ws_json_init(&json, &out, true);
	ws_json_object(&json);
	ws_json_key(&json, "big");
	ws_json_u64(&json, UINT64_MAX);
	ws_json_key(&json, "pc");
	ws_json_hex(&json, 0x7f00);
	ws_json_missing(&json, "errorpc", WS_TRUNCATED);
	ws_json_key(&json, "name");
	ws_json_str(&json, (struct ws_str){ "a\"\\\n\x80", 5 });
	ws_json_key(&json, "dim");
	ws_json_dim3(&json, (struct ws_dim3){ 1, 2, 3 });
	ws_json_key(&json, "none");
	ws_json_array(&json);
	ws_json_end(&json);
	ws_json_end(&json);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes,
			    "{\"big\":18446744073709551615,\"pc\":\"0x7f00\",\"errorpc\":null,"
			    "\"errorpc_why\":\"damaged\",\"name\":\"a\\\"\\\\\\u000a\\ufffd\","
			    "\"dim\":[1,2,3],\"none\":[]}\n");
}

static void table_aligns_and_leaves_no_trailing_spaces(void **state)
{
	(void)state;
	static const struct ws_column columns[] = { { "SM", WS_ALIGN_RIGHT },
						    { "Name", WS_ALIGN_LEFT },
						    { "PC", WS_ALIGN_RIGHT } };
	struct ws_table *table = NULL;
	assert_int_equal(ws_table_create(columns, 3, &table, NULL), WS_OK);
	ws_table_heading(table, "Device %d", 0);
	ws_table_printf(table, "%d", 7);
	ws_table_cell(table, ws_str_of("k\xc3\xa9rnel"));
	ws_table_cell(table, ws_str_of(""));
	ws_table_printf(table, "%d", 131);
	ws_table_cell(table, ws_str_of("k"));
	ws_table_printf(table, "0x%x", 16);
	assert_int_equal(ws_table_rows(table), 2);
	struct text text = { 0 };
	struct ws_out out;
	ws_out_init(&out, text_write, &text);
	assert_int_equal(ws_table_print(table, &out, 1, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, "  SM  Name      PC\n"
					"Device 0\n"
					"   7  k\xc3\xa9rnel\n"
					" 131  k       0x10\n");
	ws_table_destroy(table);
}

static int fail_after;

static bool fails_in_turn(void)
{
	return fail_after-- <= 0;
}

static void table_survives_any_failed_allocation(void **state)
{
	(void)state;
	static const struct ws_column columns[] = { { "A", WS_ALIGN_LEFT } };
	bool finished = false;
	for (int turn = 0; turn < 50 && !finished; turn++) {
		fail_after = turn;
		wsi_alloc_should_fail = fails_in_turn;
		struct ws_table *table = NULL;
		struct text text = { 0 };
		struct ws_out out;
		ws_out_init(&out, text_write, &text);
		if (ws_table_create(columns, 1, &table, NULL) == WS_OK) {
			ws_table_heading(table, "head");
			for (int i = 0; i < 100; i++)
				ws_table_cell(table, ws_str_of("cell of some length \x1b"));
			enum ws_status st = ws_table_print(table, &out, 0, NULL);
			assert_true(st == WS_OK || st == WS_NO_MEMORY);
			finished = st == WS_OK;
		}
		wsi_alloc_should_fail = NULL;
		ws_table_destroy(table);
	}
	assert_true(finished);
}

static void files_that_cannot_be_mapped_say_why(void **state)
{
	(void)state;
	struct wsi_file file = { 0 };
	struct ws_error err;
	assert_int_equal(wsi_file_open("/nonexistent/x", &file, &err), WS_IO);
	assert_string_equal(err.message, "/nonexistent/x: No such file or directory");
	assert_int_equal(wsi_file_open("/", &file, &err), WS_IO);
	assert_string_equal(err.message, "/: is a directory");
	wsi_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_keeps_place_and_outermost_context_first),
		cmocka_unit_test(long_context_is_cut_not_overrun),
		cmocka_unit_test(subspan_cannot_wrap),
		cmocka_unit_test(uleb_accepts_exactly_64_bits),
		cmocka_unit_test(sleb_accepts_exactly_64_bits),
		cmocka_unit_test(failed_reader_stays_put_and_yields_zero),
		cmocka_unit_test(arena_gives_aligned_zeroed_memory_that_stays),
		cmocka_unit_test(growth_stops_at_its_ceiling),
		cmocka_unit_test(input_text_cannot_harm_a_terminal),
		cmocka_unit_test(failed_output_is_reported_once_at_the_end),
		cmocka_unit_test(json_is_exact_and_escaped),
		cmocka_unit_test(table_aligns_and_leaves_no_trailing_spaces),
		cmocka_unit_test(table_survives_any_failed_allocation),
		cmocka_unit_test(files_that_cannot_be_mapped_say_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
