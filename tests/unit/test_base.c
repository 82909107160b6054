/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: statuses, readers, arena, files. */
#include "unit.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/reader.h"
#include "base/stream.h"

#include <fcntl.h>

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

/* clang's UndefinedBehaviorSanitizer refuses to add 0 to no address. */
static void an_empty_input_needs_no_address(void **state)
{
	(void)state;
	struct ws_span none = { 0 }, sub;
	struct ws_str text;
	struct wsi_reader r = wsi_reader_of(none);
	assert_true(ws_span_sub(none, 0, 0, &sub));
	assert_null(wsi_at(none, 0, 0));
	assert_false(wsi_span_cstr(none, 0, &text));
	assert_int_equal(wsi_read_uint(&r, 0), 0);
	assert_int_equal(wsi_read_span(&r, 0).len, 0);
	assert_false(r.failed);
	assert_int_equal(wsi_str_skip((struct ws_str){ 0 }, 0).len, 0);
	assert_int_equal(wsi_read_u8(&r), 0);
	assert_true(r.failed);
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

/* What is appended is read back from anywhere, of the file and of what is not in it yet; the file
 * goes with it. */
static void a_scratch_file_gives_back_what_it_has(void **state)
{
	(void)state;
	enum { N = 3 * WSI_STREAM_BYTES + 1000, PART = 700 };
	struct wsi_scratch scratch = { 0 };
	uint8_t part[PART], back[PART];
	size_t n;
	wsi_scratch_fini(&scratch);
	assert_int_equal(wsi_scratch_init(&scratch, NULL), WS_OK);
	for (uint64_t at = 0; at < N; at += PART) {
		for (unsigned i = 0; i < PART; i++)
			part[i] = (uint8_t)((at + i) * 7 >> 3);
		assert_int_equal(wsi_scratch_append(&scratch, part, PART, NULL), WS_OK);
	}
	const uint64_t size = (N + PART - 1) / PART * PART;
	for (uint64_t at = 0; at < size; at += 3001) {
		memset(back, 0, sizeof back);
		assert_int_equal(wsi_scratch_read(&scratch, at, back, PART, &n, NULL), WS_OK);
		assert_int_equal(n, wsi_min_u64(PART, size - at));
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(back[i], (uint8_t)((at + i) * 7 >> 3));
	}
	assert_int_equal(wsi_scratch_read(&scratch, size, back, PART, &n, NULL), WS_OK);
	assert_int_equal(n, 0);
	const int fd = scratch.fd;
	assert_true(fcntl(fd, F_GETFD) >= 0);
	wsi_scratch_fini(&scratch);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_keeps_place_and_outermost_context_first),
		cmocka_unit_test(long_context_is_cut_not_overrun),
		cmocka_unit_test(an_empty_input_needs_no_address),
		cmocka_unit_test(subspan_cannot_wrap),
		cmocka_unit_test(uleb_accepts_exactly_64_bits),
		cmocka_unit_test(sleb_accepts_exactly_64_bits),
		cmocka_unit_test(failed_reader_stays_put_and_yields_zero),
		cmocka_unit_test(arena_gives_aligned_zeroed_memory_that_stays),
		cmocka_unit_test(growth_stops_at_its_ceiling),
		cmocka_unit_test(files_that_cannot_be_mapped_say_why),
		cmocka_unit_test(a_scratch_file_gives_back_what_it_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
