/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: statuses, readers, arena, arrays, sorting, scratch files, channels. */
#include "unit.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/channel.h"
#include "base/dim3.h"
#include "base/file.h"
#include "base/map.h"
#include "base/reader.h"
#include "base/sort.h"
#include "base/stream.h"
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void errors_of_the_system_have_its_words(void **state)
{
	(void)state;
	struct ws_error err = { 0 };
	errno = ENOENT;
	assert_int_equal(wsi_fail_errno(&err, "%s %d", "file", 7), WS_IO);
	assert_string_equal(err.message, "file 7: No such file or directory");
	assert_true(err.status == WS_IO && err.os_errno == ENOENT && err.file_off == WS_NO_OFFSET);
	errno = ENOENT;
	assert_int_equal(wsi_fail_errno(NULL, "file"), WS_IO);
	assert_int_equal(wsi_context(NULL, WS_IO, "warp"), WS_IO);
	assert_string_equal(ws_status_name(WS_OK), "WS_OK");
	assert_string_equal(ws_status_name(WS_NO_MEMORY), "WS_NO_MEMORY");
	assert_string_equal(ws_status_name((enum ws_status)1000), "WS_?");
	assert_string_equal(ws_status_text((enum ws_status)1000), "unknown status");
	char name[sizeof err.message]; /* the words before fill all: nothing is added */
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	wsi_fail(&err, WS_MALFORMED, 0, "inner");
	wsi_context(&err, WS_MALFORMED, "%s", name);
	assert_string_equal(err.message, name);
	char few[4];
	assert_true(wsi_format(few, "%s", "abc") && strcmp(few, "abc") == 0);
	assert_false(wsi_format(few, "%s", "abcd"));
	assert_false(ws_str_equal(ws_str_of("ab"), ws_str_of("ac")));
	assert_false(ws_str_equal(ws_str_of("ab"), ws_str_of("abc")));
	assert_true(ws_str_equal(ws_str_of(""), ws_str_of(NULL)));
}

static void large_pieces_of_an_arena_leave_its_room(void **state)
{
	(void)state;
	struct wsi_arena arena = { 0 };
	enum { QUARTER = 16 * 1024, BLOCK = 64 * 1024 };
	uint8_t *large = wsi_arena_zalloc(&arena, QUARTER + 1); /* a block of its own */
	uint8_t *first = wsi_arena_zalloc(&arena, QUARTER);
	assert_non_null(large);
	memset(large, 1, QUARTER + 1);
	assert_non_null(wsi_arena_zalloc(&arena, BLOCK));
	for (unsigned i = 1; i < 4; i++) { /* the rest of the first block */
		uint8_t *next = wsi_arena_zalloc(&arena, QUARTER);
		assert_true(next == first + i * QUARTER);
	}
	uint8_t *other = wsi_arena_zalloc(&arena, 1);
	assert_true(other < first || other >= first + BLOCK);
	assert_int_equal(*wsi_arena_str(&arena, NULL, 0), 0);
	assert_null(wsi_arena_str(&arena, "", SIZE_MAX));
	wsi_arena_fini(&arena);
}

static const char *arena_text(struct wsi_arena *arena, const char *format, ...) WS_PRINTF(2, 3);
static const char *arena_text(struct wsi_arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = wsi_arena_format(arena, format, args);
	va_end(args);
	return text;
}

static void texts_of_an_arena_have_a_length(void **state)
{
	(void)state;
	struct wsi_arena arena = { 0 };
	char fill[1300];
	memset(fill, 'x', sizeof fill);
	assert_string_equal(arena_text(&arena, "%d %s", 7, "a"), "7 a");
	assert_int_equal(strlen(arena_text(&arena, "%.*s", 1200, fill)), 1200);
	assert_int_equal(strlen(arena_text(&arena, "%.*s", 1201, fill)), 1200);
	wsi_arena_fini(&arena);
}

static void arrays_grow_by_doubling(void **state)
{
	(void)state;
	uint8_t *items = NULL;
	size_t cap = 0;
	static const size_t caps[] = { 16, 32, 64, 128, 150 };
	for (size_t i = 0; i < WSI_COUNT(caps); i++) {
		assert_true(wsi_grow(&items, &cap, cap, 1, 150));
		assert_int_equal(cap, caps[i]);
	}
	assert_false(wsi_grow(&items, &cap, 150, 1, 150));
	assert_true(wsi_grow(&items, &cap, 149, 1, 150) && cap == 150);
	cap = 0;
	wsi_free(items);
	items = NULL;
	assert_true(wsi_grow(&items, &cap, 0, 1, 5) && cap == 5);
	assert_null(wsi_realloc_array(items, SIZE_MAX / 2, 3));
	assert_null(wsi_zalloc_array(SIZE_MAX / 2, 3));
	wsi_free(items);
	char *copy = wsi_strdup("text");
	assert_string_equal(copy, "text");
	wsi_free(copy);
	wsi_free(NULL);
}

/* By the whole key, equal ones in their order; few and many, as they are sorted in two ways. */
static void keys_are_sorted_and_equal_ones_stay(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1, 2, 48, 49, 3000 };
	static struct wsi_keyed items[3000];
	for (unsigned shift = 0; shift < 64; shift += 8) {
		for (size_t k = 0; k < WSI_COUNT(sizes); k++) {
			uint64_t x = k;
			for (size_t i = 0; i < sizes[k]; i++) {
				x = x * 6364136223846793005u + 1442695040888963407u;
				items[i] = (struct wsi_keyed){ (x >> 60) << shift | (x >> 58 & 3),
							       (uint32_t)i };
			}
			assert_true(wsi_sort_keyed(items, sizes[k]));
			for (size_t i = 1; i < sizes[k]; i++)
				assert_true(items[i - 1].key < items[i].key ||
					    (items[i - 1].key == items[i].key &&
					     items[i - 1].value < items[i].value));
		}
	}
}

static void bytes_are_appended_and_aligned(void **state)
{
	(void)state;
	struct wsi_bytes bytes = { 0 };
	static const uint8_t expected[] = { 1, 2, 3, 0, 0x78, 0x56, 0x34, 0x12, 'a', 'b', 0, 0 };
	wsi_bytes_put(&bytes, "\1\2\3", 3);
	wsi_bytes_align(&bytes, 4);
	wsi_bytes_align(&bytes, 4); /* it is */
	wsi_bytes_number(&bytes, UINT64_C(0xff12345678), 4);
	assert_int_equal(wsi_bytes_string(&bytes, ws_str_of("ab")), 8);
	wsi_bytes_zero(&bytes, 1);
	wsi_bytes_put(&bytes, NULL, 0);
	assert_int_equal(bytes.len, sizeof expected);
	assert_memory_equal(bytes.ptr, expected, sizeof expected);
	for (unsigned i = 0; i < 1000; i++)
		wsi_bytes_number(&bytes, i, 8);
	assert_int_equal(bytes.len, sizeof expected + 8000);
	assert_memory_equal(bytes.ptr, expected, sizeof expected);
	assert_int_equal(wsi_load_u64(bytes.ptr + sizeof expected + 8 * 999), 999);
	assert_false(bytes.failed);
	wsi_bytes_zero(&bytes, SIZE_MAX / 2); /* once, and for all */
	assert_true(bytes.failed);
	wsi_bytes_put(&bytes, "x", 1);
	assert_int_equal(bytes.len, sizeof expected + 8000);
	wsi_bytes_fini(&bytes);
	assert_true(!bytes.ptr && !bytes.len && !bytes.failed);
}

static void extents_are_counted(void **state)
{
	(void)state;
	const struct ws_dim3 dim = { 3, 4, 5 };
	assert_int_equal(wsi_dim3_count(dim), 60);
	assert_true(wsi_dim3_count((struct ws_dim3){ UINT32_MAX, UINT32_MAX, 1 }) ==
		    UINT64_C(0xfffffffe00000001));
	assert_true(wsi_dim3_count((struct ws_dim3){ UINT32_MAX, UINT32_MAX, 2 }) == UINT64_MAX);
	assert_int_equal(wsi_dim3_count((struct ws_dim3){ 3, 4, 0 }), 0);
	assert_int_equal(wsi_dim3_rank((struct ws_dim3){ 5, 6, 7 }, dim), 2 + 3 * (2 + 4 * 2));
	assert_int_equal(wsi_dim3_rank((struct ws_dim3){ 5, 6, 7 }, (struct ws_dim3){ 0, 0, 0 }),
			 0);
	assert_int_equal(wsi_dim3_rank((struct ws_dim3){ 5, 6, 7 }, (struct ws_dim3){ 1, 1, 1 }),
			 0);
}

static void hashes_depend_on_every_byte(void **state)
{
	(void)state;
	uint8_t bytes[20] = { 0 };
	for (size_t n = 0; n <= sizeof bytes; n++) {
		uint64_t before = wsi_hash_bytes(bytes, n, 1);
		assert_true(before == wsi_hash_bytes(bytes, n, 1));
		assert_true(before != wsi_hash_bytes(bytes, n, 2));
		assert_true(n == sizeof bytes || before != wsi_hash_bytes(bytes, n + 1, 1));
		for (size_t i = 0; i < n; i++) {
			bytes[i] = 1;
			assert_true(before != wsi_hash_bytes(bytes, n, 1));
			bytes[i] = 0;
		}
	}
}

/* A number that a function of bits has, whether its bytes are the last ones or not. */
static void numbers_of_few_bytes_are_those_of_many(void **state)
{
	(void)state;
	uint8_t bytes[20];
	for (unsigned n = 1; n <= 9; n++) {
		uint64_t bits = 7 * n < 64 ? (UINT64_C(1) << 7 * n) - 1 : UINT64_MAX;
		uint64_t value = UINT64_C(0x9e3779b97f4a7c15) & bits;
		value |= UINT64_C(1) << (7 * n - 7); /* of so many bytes */
		memset(bytes, 0xff, sizeof bytes);
		for (unsigned i = 0; i < n; i++)
			bytes[i] = (uint8_t)((value >> 7 * i & 0x7f) | (i + 1 < n ? 0x80 : 0));
		for (size_t len = n; len <= sizeof bytes; len += sizeof bytes - n) {
			struct wsi_reader r = wsi_reader_of((struct ws_span){ bytes, len, 0 });
			assert_true(wsi_read_uleb(&r) == value && r.pos == n && !r.failed);
			r = wsi_reader_of((struct ws_span){ bytes, len, 0 });
			int64_t wanted = (int64_t)(value << (64 - 7 * n)) >> (64 - 7 * n);
			assert_true(wsi_read_sleb(&r) == wanted && r.pos == n && !r.failed);
		}
	}
}

static void packed_blocks_have_their_size(void **state)
{
	(void)state;
	static const uint8_t lz4[] = { 0x50, 'h', 'e', 'l', 'l', 'o' };
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 5,   0x29,
					0,    0,    'h',  'e',  'l',  'l', 'o' };
	static const struct {
		enum ws_status (*unpack)(struct ws_span packed, uint8_t *ret_bytes, size_t size,
					 struct ws_error *err);
		const uint8_t *bytes;
		size_t n;
	} rows[] = { { wsi_unpack_lz4, lz4, sizeof lz4 }, { wsi_unpack_zstd, zstd, sizeof zstd } };
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_span packed = { rows[i].bytes, rows[i].n, 70 };
		struct ws_error err;
		uint8_t out[8];
		enum ws_status st = rows[i].unpack(packed, out, 5, &err);
		if (st == WS_UNSUPPORTED)
			continue;
		assert_int_equal(st, WS_OK);
		assert_memory_equal(out, "hello", 5);
		assert_int_equal(rows[i].unpack(packed, out, 6, &err), WS_MALFORMED);
		assert_int_equal(err.file_off, 70);
		assert_non_null(strstr(err.message, "has 5 bytes, 6 were announced"));
		assert_int_equal(rows[i].unpack(packed, out, 4, &err), WS_MALFORMED);
		packed.len--;
		assert_int_equal(rows[i].unpack(packed, out, 5, &err), WS_MALFORMED);
		assert_non_null(strstr(err.message, "is broken"));
	}
}

/* ---- channels ---- */

static void packets_carry_a_descriptor(void **state)
{
	(void)state;
	int pair[2], fd = open("/dev/zero", O_RDONLY), got;
	char text[8] = "";
	assert_true(fd >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	assert_true(wsi_packet_send(pair[0], "text", 4, fd));
	assert_true(wsi_packet_receive(pair[1], text, 4, &got));
	assert_memory_equal(text, "text", 4);
	struct stat sent, came;
	assert_true(got >= 0 && got != fd && fcntl(got, F_GETFD) == FD_CLOEXEC);
	assert_true(fstat(fd, &sent) == 0 && fstat(got, &came) == 0);
	assert_true(sent.st_rdev == came.st_rdev && sent.st_ino == came.st_ino);
	close(got);
	assert_true(wsi_packet_send(pair[0], "more", 4, -1));
	assert_true(wsi_packet_receive(pair[1], text, 4, &got) && got == -1);
	assert_true(wsi_packet_send(pair[0], "longer", 6, -1)); /* neither longer nor shorter */
	assert_false(wsi_packet_receive(pair[1], text, 4, &got));
	assert_true(wsi_packet_send(pair[0], "abc", 3, -1));
	assert_false(wsi_packet_receive(pair[1], text, 4, &got));
	close(pair[0]);
	assert_false(wsi_packet_receive(pair[1], text, 4, &got) || got != -1);
	assert_false(wsi_packet_send(pair[1], "text", 4, -1)); /* and no signal */
	close(pair[1]);
	close(fd);
}

/* Over a socket, and over two pipes. */
static void channels_pass_messages_whole(void **state)
{
	(void)state;
	enum { BODY = 3 << 20 };
	static uint8_t body[BODY], small[16];
	for (size_t i = 0; i < BODY; i++)
		body[i] = (uint8_t)(i * 7 >> 4);
	for (unsigned pipes = 0; pipes < 2; pipes++) {
		int a[2], b[2];
		assert_int_equal(pipes ? pipe(a) : socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
		assert_int_equal(pipes ? pipe(b) : 0, 0);
		pid_t child = fork();
		if (child == 0) { /* sends two messages */
			static struct wsi_channel c;
			c = (struct wsi_channel){ .in = pipes ? b[0] : a[1],
						  .out = a[1],
						  .stop = -1 };
			const struct wsi_channel_piece parts[] = { { "head", 4 },  { "", 0 },
								   { "tail", 4 },  { body, BODY },
								   { "again", 5 }, { body, 16 } };
			_exit(wsi_channel_send(&c, parts, WSI_COUNT(parts)) ? 0 : 1);
		}
		static struct wsi_channel c;
		struct ws_span got;
		uint8_t *owned, text[8];
		int status;
		c = (struct wsi_channel){ .in = a[0], .out = pipes ? b[1] : a[0], .stop = -1 };
		close(a[1]);
		assert_true(wsi_channel_next(&c, text, 4) && memcmp(text, "head", 4) == 0);
		assert_true(wsi_channel_take(&c, text, 4) && memcmp(text, "tail", 4) == 0);
		assert_true(wsi_channel_body(&c, BODY, small, sizeof small, &owned, &got));
		assert_true(got.ptr == owned && got.len == BODY);
		assert_memory_equal(got.ptr, body, BODY);
		wsi_free(owned);
		assert_true(wsi_channel_next(&c, text, 5) && memcmp(text, "again", 5) == 0);
		assert_true(wsi_channel_body(&c, 16, small, sizeof small, &owned, &got));
		assert_true(!owned && got.ptr == small && memcmp(small, body, 16) == 0);
		assert_false(wsi_channel_body(&c, WSI_CHANNEL_MOST + 1, small, sizeof small, &owned,
					      &got));
		assert_true(waitpid(child, &status, 0) == child && status == 0);
		assert_false(wsi_channel_next(&c, text, 1)); /* its end */
		if (pipes)
			close(b[0]);
		const struct wsi_channel_piece none = { "x", 1 };
		assert_false(wsi_channel_send(&c, &none, 1)); /* and no signal */
		close(a[0]);
		if (pipes)
			close(b[1]);
	}
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(large_pieces_of_an_arena_leave_its_room);
	assert_frees_all(arrays_grow_by_doubling);
	assert_frees_all(bytes_are_appended_and_aligned);
	assert_frees_all(keys_are_sorted_and_equal_ones_stay);
	assert_frees_all(a_scratch_file_gives_back_what_it_has);
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
		cmocka_unit_test(errors_of_the_system_have_its_words),
		cmocka_unit_test(large_pieces_of_an_arena_leave_its_room),
		cmocka_unit_test(texts_of_an_arena_have_a_length),
		cmocka_unit_test(arrays_grow_by_doubling),
		cmocka_unit_test(keys_are_sorted_and_equal_ones_stay),
		cmocka_unit_test(bytes_are_appended_and_aligned),
		cmocka_unit_test(extents_are_counted),
		cmocka_unit_test(hashes_depend_on_every_byte),
		cmocka_unit_test(numbers_of_few_bytes_are_those_of_many),
		cmocka_unit_test(packed_blocks_have_their_size),
		cmocka_unit_test(packets_carry_a_descriptor),
		cmocka_unit_test(channels_pass_messages_whole),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
