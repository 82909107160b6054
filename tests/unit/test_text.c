/* SPDX-License-Identifier: Apache-2.0 */
/* src/text: the sink, what it escapes, printf, JSON, tables. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "text/escape.h"
#include "text/utf8.h"
#include "text/width.h"

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

static struct text text;
static struct ws_out out;

/* What was printed since the last call. */
static const char *written(void)
{
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	text.len = 0;
	return text.bytes;
}

static void start(void)
{
	text = (struct text){ .len = 0 };
	ws_out_init(&out, text_write, &text);
}

static void input_text_cannot_harm_a_terminal(void **state)
{
	(void)state;
	start();
	ws_out_escaped(&out, ws_str_of("a\x1b[31m\n\xc3\xa9\xc2\x9b\xff z"));
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, "a\\x1b[31m\\x0a\xc3\xa9\\xc2\\x9b\\xff z");
}

/* Plain text goes through in words of eight bytes. */
static void one_byte_is_escaped_wherever_it_is(void **state)
{
	(void)state;
	enum { LONGEST = 33 };
	static const char bytes[] = { '\x1b', '\x1f', '\x7f', '\x80', '\xff' };
	char plain[LONGEST + 1] = "";
	memset(plain, 'a', LONGEST);
	start();
	for (size_t len = 1; len <= LONGEST; len++)
		for (size_t i = 0; i < len * sizeof bytes; i++) {
			char from[LONGEST], to[LONGEST + 4];
			size_t at = i / sizeof bytes;
			char byte = bytes[i % sizeof bytes];
			memset(from, 'a', len);
			from[at] = byte;
			snprintf(to, sizeof to, "%.*s\\x%02x%.*s", (int)at, plain,
				 (unsigned char)byte, (int)(len - at - 1), plain);
			ws_out_escaped(&out, (struct ws_str){ from, len });
			assert_string_equal(written(), to);
		}
}

static bool refuse(void *user, const char *bytes, size_t len)
{
	(void)user, (void)bytes, (void)len;
	errno = ENOSPC;
	return false;
}

static void what_is_not_seen_is_escaped_and_what_is_stays(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *why;
	} cases[] = {
		{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8", "U+2028" },
		{ "\xe2\x80\xa9", "\\xe2\\x80\\xa9", "U+2029" },
		{ "\xe2\x80\x8b", "\\xe2\\x80\\x8b", "U+200B" },
		{ "\xe2\x80\x8f", "\\xe2\\x80\\x8f", "U+200F" },
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae", "U+202E" },
		{ "\xe2\x81\xa6", "\\xe2\\x81\\xa6", "U+2066" },
		{ "\xe2\x81\xa9", "\\xe2\\x81\\xa9", "U+2069" },
		{ "\xd8\x9c", "\\xd8\\x9c", "U+061C" },
		{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf", "U+FEFF" },
		{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81", "U+E0041" },
		{ "\xc2\x85", "\\xc2\\x85", "U+0085" },
		{ "\x7f", "\\x7f", "DEL" },
		{ "\t", "\\x09", "tab" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "a surrogate" },
		{ "\xe2\x80", "\\xe2\\x80", "cut" },
		{ "\xf4\x8f\xbf\xbf", "\\xf4\\x8f\\xbf\\xbf", "the last code, no character" },
		{ "\xc2\xa0", "\xc2\xa0", "U+00A0" },
		{ "\xe2\x80\x90", "\xe2\x80\x90", "U+2010, behind U+200F" },
		{ "\xe2\x80\xaf", "\xe2\x80\xaf", "U+202F, behind U+202E" },
		{ "\xe6\xbc\xa2", "\xe6\xbc\xa2", "U+6F22" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "U+1F600" },
		{ "~ `", "~ `", "ASCII" },
	};
	start();
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		ws_out_escaped(&out, ws_str_of(cases[i].from));
		assert_string_equal(written(), cases[i].to);
		assert_int_equal(ws_escaped_width(ws_str_of(cases[i].from)),
				 wsi_text_width(cases[i].to, strlen(cases[i].to)));
	}
	ws_out_in_quotes(&out, ws_str_of("a\"b\\c\x1b\xe2\x80\xa8"));
	assert_string_equal(written(), "a\\\"b\\\\c\\\\x1b\\\\xe2\\\\x80\\\\xa8");
}

static void printf_escapes_its_strings_and_nothing_else(void **state)
{
	(void)state;
	start();
	ws_out_printf(&out, "\x1b[1m%s\n%c|%.3s|%.*s", "\x1b\n", '\r',
		      "a\x9b"
		      "cd",
		      2, "xyz");
	assert_string_equal(written(), "\x1b[1m\\x1b\\x0a\n\\x0d|a\\x9bc|xy");
	ws_out_printf(&out, "[%6s][%-6s][%2s]", "\n", "\n", "\n");
	assert_string_equal(written(), "[  \\x0a][\\x0a  ][\\x0a]");
	const char *volatile none = NULL;
	ws_out_printf(&out, "%s", none);
	assert_string_equal(written(), "(null)");
}

/* Prints the same with the C library and compares. */
#define SAME(...)                                                 \
	do {                                                      \
		char expected[200];                               \
		snprintf(expected, sizeof expected, __VA_ARGS__); \
		ws_out_printf(&out, __VA_ARGS__);                 \
		assert_string_equal(written(), expected);         \
	} while (0)

static void printf_is_that_of_c(void **state)
{
	(void)state;
	static const int64_t numbers[] = { 0,    1,         -1,        9,         10,       255,
					   -300, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
	start();
	for (size_t i = 0; i < WSI_COUNT(numbers); i++) {
		int64_t n = numbers[i];
		int small = (int)n;
		SAME("%d|%5d|%-5d|%05d|%+d|% d|%.4d|%8.3d|%-8.3d|%i", small, small, small, small,
		     small, small, small, small, small, small);
		SAME("%u|%x|%X|%#x|%08x|%-10x|%o|%3u", (unsigned)n, (unsigned)n, (unsigned)n,
		     (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n);
		SAME("%ld|%lu|%lx|%+lld|%llx|%zu|%zd|%jd|%td|%hhu|%hu", (long)n, (unsigned long)n,
		     (unsigned long)n, (long long)n, (unsigned long long)n, (size_t)n, (ptrdiff_t)n,
		     (intmax_t)n, (ptrdiff_t)n, (unsigned char)n, (unsigned short)n);
		SAME("%0*" PRIx64 "|%-*" PRId64 "|%*d|%.*d", 20, (uint64_t)n, 22, n, -7, small, 5,
		     small);
	}
	SAME("%.0d|%.0u|%5.0x|%%|%c|%3c|%-3c|", 0, 0u, 0u, 'a', 'b', 'c');
	SAME("%f|%.1f|%g|%.9g|%.17g|%e|%10.3f|%-10.2f|%g", 1.5, 2.25, 1e9, 0.1, 0.1, 12345.678,
	     3.14159, 2.5, 1e300);
	SAME("%s|%10s|%-10s|%.2s|%.*s|%-5.2s|", "abc", "abc", "abc", "abc", 1, "abc", "abc");
	SAME("%.0s|%.s|%.*s|%.*s|%4.0s|%-4.0s|", "abc", "abc", 0, "abc", -1, "abc", "abc", "abc");
	SAME("%p", (void *)0x1234);
}

static void failed_output_is_reported_once_at_the_end(void **state)
{
	(void)state;
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
	struct ws_json json;
	start();
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

static void json_escapes_what_is_not_seen(void **state)
{
	(void)state;
	struct ws_json json;
	start();
	ws_json_init(&json, &out, true);
	ws_json_str(&json, ws_str_of("\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf\xd8\x9c\xc2\x9b\x7f"
				     "\xf3\xa0\x81\x81\xf0\x9f\x98\x80\xff"));
	assert_string_equal(written(), "\"\\u2028\\u202e\\ufeff\\u061c\\u009b\\u007f\\udb40\\udc41"
				       "\xf0\x9f\x98\x80\\ufffd\"");
}

static void table_aligns_and_leaves_no_trailing_spaces(void **state)
{
	(void)state;
	static const struct ws_column columns[] = { { "SM", WS_ALIGN_RIGHT },
						    { "Name", WS_ALIGN_LEFT },
						    { "PC", WS_ALIGN_RIGHT } };
	struct ws_table *table = NULL;
	assert_int_equal(ws_table_create(columns, 3, &table, NULL), WS_OK);
	ws_table_printf(table, "%d", 7);
	ws_table_cell(table, ws_str_of("k\xc3\xa9rnel"));
	ws_table_cell(table, ws_str_of(""));
	ws_table_printf(table, "%d", 131);
	ws_table_cell(table, ws_str_of("k"));
	ws_table_printf(table, "0x%x", 16);
	assert_int_equal(ws_table_rows(table), 2);
	start();
	assert_int_equal(ws_table_print(table, &out, 1, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, "  SM  Name      PC\n"
					"   7  k\xc3\xa9rnel\n"
					" 131  k       0x10\n");
	ws_table_destroy(table);
}

static void tables_fit_a_width(void **state)
{
	(void)state;
	static const struct ws_column columns[] = { { "Name", WS_ALIGN_LEFT },
						    { "PC", WS_ALIGN_RIGHT } };
	struct ws_table *table = NULL;
	assert_int_equal(ws_table_create(columns, 2, &table, NULL), WS_OK);
	ws_table_cell(table, ws_str_of("a\033 kernel with a long n\xc3\xa4me"));
	ws_table_printf(table, "0x7f0000001000");
	ws_table_cell(table, ws_str_of("short"));
	ws_table_printf(table, "0x10");
	ws_table_fit(table, 36);
	start();
	assert_int_equal(ws_table_print(table, &out, 2, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, "  Name\n"
					"      PC\n"
					"  a\\x1b kernel with a long n\xc3\xa4me\n"
					"      0x7f0000001000\n"
					"  short\n"
					"      0x10\n");
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
		start();
		if (ws_table_create(columns, 1, &table, NULL) == WS_OK) {
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

static void each_byte_is_escaped_wherever_it_stands(void **state)
{
	(void)state;
	start();
	for (size_t len = 1; len <= 20; len++) {
		for (size_t at = 0; at < len; at++) {
			for (int c = 1; c < 256; c++) {
				char from[24], to[32];
				bool shown = c >= ' ' && c <= '~';
				memset(from, 'a', len);
				from[at] = (char)c;
				from[len] = 0;
				snprintf(to, sizeof to, shown ? "%.*s%c%s" : "%.*s\\x%02x%s",
					 (int)at, from, c, from + at + 1);
				ws_out_escaped(&out, ws_str_of(from));
				assert_string_equal(written(), to);
			}
		}
	}
}

/* [public doc: The Unicode Standard, DerivedCoreProperties, Default_Ignorable_Code_Point] and, as
 * docs/trust.md says, controls, separators, annotations and noncharacters. */
static void ranges_that_are_not_seen_are_hidden_to_their_ends(void **state)
{
	(void)state;
	static const uint32_t hidden[][2] = {
		{ 0x7f, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
		{ 0x61c, 0x61c },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
		{ 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfdd0, 0xfdef },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff },   { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0x1fffe, 0x1ffff }, { 0xdfffe, 0xe0fff },
	};
	assert_true(wsi_text_is_hidden(0) && wsi_text_is_hidden(0x1f) && !wsi_text_is_hidden(0x20));
	assert_true(!wsi_text_is_hidden(0x10fffd) && wsi_text_is_hidden(0x10fffe) &&
		    wsi_text_is_hidden(0x10ffff));
	for (size_t i = 0; i < WSI_COUNT(hidden); i++) {
		assert_false(wsi_text_is_hidden(hidden[i][0] - 1));
		for (uint32_t code = hidden[i][0]; code <= hidden[i][1]; code++)
			assert_true(wsi_text_is_hidden(code));
		assert_false(wsi_text_is_hidden(hidden[i][1] + 1));
	}
}

/* [public doc: The Unicode Standard, table 3-7] */
static void characters_are_as_long_as_unicode_says(void **state)
{
	(void)state;
	static const char *const sound[] = { "~",
					     "\xc2\x80",
					     "\xdf\xbf",
					     "\xe0\xa0\x80",
					     "\xe1\x80\x80",
					     "\xed\x9f\xbf",
					     "\xee\x80\x80",
					     "\xef\xbf\xbf",
					     "\xf0\x90\x80\x80",
					     "\xf1\x80\x80\x80",
					     "\xf4\x8f\xbf\xbf" };
	static const char *const wrong[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2\x7f",
		"\xc2\xc0",
		"\xe0\x9f\xbf",
		"\xe1\x7f\x80",
		"\xe1\x80\xc0",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf0\x90\x80\x7f",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff\x80\x80\x80",
	};
	for (size_t i = 0; i < WSI_COUNT(sound); i++) {
		size_t len = strlen(sound[i]);
		assert_int_equal(wsi_utf8_len(sound[i], len), len);
		assert_int_equal(wsi_utf8_len(sound[i], len + 1), len);
		if (len > 1)
			assert_int_equal(wsi_utf8_len(sound[i], len - 1), 0);
	}
	for (size_t i = 0; i < WSI_COUNT(wrong); i++)
		assert_int_equal(wsi_utf8_len(wrong[i], strlen(wrong[i])), 0);
}

/* ---- the sink ---- */

struct collected {
	char bytes[1 << 19];
	size_t len;
};

static bool collect(void *user, const char *bytes, size_t len)
{
	struct collected *collected = user;
	if (len == 0 || len > sizeof collected->bytes - collected->len)
		return false;
	memcpy(collected->bytes + collected->len, bytes, len);
	collected->len += len;
	return true;
}

static void the_sink_gets_all_bytes_in_order(void **state)
{
	(void)state;
	static struct collected got, want;
	static char piece[20000];
	size_t lengths[] = { 0, 1, 7, 8, 9, 31, 32, 33, 64, 65, 4096, 8191, 8192, 8193, 20000 - 1 };
	got.len = want.len = 0;
	ws_out_init(&out, collect, &got);
	for (size_t round = 0; round < 40; round++) {
		size_t len = lengths[round * 7 % WSI_COUNT(lengths)];
		for (size_t i = 0; i < len; i++)
			piece[i] = (char)('!' + (i + round) % 90);
		piece[len] = 0;
		ws_out_bytes(&out, piece, len);
		assert_true(len == 0 || collect(&want, piece, len));
		len = lengths[round % 11];
		piece[len] = 0;
		ws_out_text(&out, piece);
		assert_true(strlen(piece) == 0 || collect(&want, piece, strlen(piece)));
		memset(piece, ' ', len);
		ws_out_spaces(&out, len);
		assert_true(len == 0 || collect(&want, piece, len));
	}
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.bytes, want.bytes, want.len);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(got.len, want.len);
}

static void a_file_gets_what_fits_and_says_when_no_more_does(void **state)
{
	(void)state;
	int ends[2];
	static char bytes[1 << 20], back[1 << 20];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_true(ws_write_fd(&ends[1], bytes, 100));
	assert_false(
		ws_write_fd(&ends[1], bytes + 100, sizeof bytes - 100)); /* no pipe is so large */
	assert_int_equal(errno, EAGAIN);
	ssize_t n = read(ends[0], back, sizeof back);
	assert_true(n > 100);
	assert_memory_equal(back, bytes, (size_t)n);
	close(ends[0]);
	close(ends[1]);
	assert_false(ws_write_fd(&ends[1], bytes, 1));
	assert_int_equal(errno, EBADF);
}

static void json_is_indented_but_for_lines_of_their_own(void **state)
{
	(void)state;
	struct ws_json json;
	start();
	ws_json_init(&json, &out, false);
	ws_json_object(&json);
	ws_json_key_object(&json, "none");
	ws_json_end(&json);
	ws_json_key_array_line(&json, "line");
	ws_json_u64(&json, 1);
	ws_json_object(&json);
	ws_json_key_bool(&json, "a", true);
	ws_json_key_text(&json, "b", NULL);
	ws_json_end(&json);
	ws_json_array(&json);
	ws_json_i64(&json, INT64_MIN);
	ws_json_bool(&json, false);
	ws_json_end(&json);
	ws_json_end(&json);
	ws_json_key_array(&json, "list");
	ws_json_text(&json, "c");
	ws_json_object(&json);
	ws_json_key_dim3(&json, "d", (struct ws_dim3){ 1, 2, 3 });
	ws_json_end(&json);
	ws_json_end(&json);
	ws_json_end(&json);
	assert_string_equal(written(), "{\n"
				       "  \"none\": {},\n"
				       "  \"line\": [1, {\"a\": true, \"b\": null}, "
				       "[-9223372036854775808, false]],\n"
				       "  \"list\": [\n"
				       "    \"c\",\n"
				       "    {\n"
				       "      \"d\": [1, 2, 3]\n"
				       "    }\n"
				       "  ]\n"
				       "}\n");
}

static void what_is_missing_has_one_of_four_words(void **state)
{
	(void)state;
	assert_string_equal(ws_missing_word(WS_ABSENT), "absent");
	assert_string_equal(ws_missing_word(WS_EXCLUDED), "excluded");
	static const enum ws_status unsupported[] = { WS_UNSUPPORTED, WS_RUNNING, WS_ARGUMENT,
						      WS_LIMIT, WS_NO_MEMORY };
	for (size_t i = 0; i < WSI_COUNT(unsupported); i++)
		assert_string_equal(ws_missing_word(unsupported[i]), "unsupported");
	static const enum ws_status damaged[] = { WS_MALFORMED, WS_TRUNCATED, WS_IO };
	for (size_t i = 0; i < WSI_COUNT(damaged); i++)
		assert_string_equal(ws_missing_word(damaged[i]), "damaged");
}

static void columns_that_do_not_fit_begin_another_line(void **state)
{
	(void)state;
	static const struct {
		size_t width[4], room, expected[4];
		bool begins[4];
	} cases[] = {
		{ { 5, 10, 5, 8 }, 36, { 5, 10, 5, 8 }, { false, false, false, false } },
		{ { 5, 10, 5, 8 }, 35, { 5, 10, 5, 8 }, { false, false, false, true } },
		{ { 5, 10, 5, 8 }, 25, { 5, 10, 5, 8 }, { false, false, true, false } },
		{ { 5, 10, 5, 8 }, 14, { 5, 8, 5, 8 }, { false, true, true, true } },
		/* a column that is too wide has a line of its own */
		{ { 50, 3, 0, 8 }, 21, { 19, 3, 0, 8 }, { false, true, false, false } },
		{ { 5, 50, 3, 8 }, 20, { 5, 14, 3, 8 }, { false, true, true, false } },
		{ { 5, 10, 5, 8 }, 3, { 1, 10, 5, 8 }, { false, true, true, true } },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		size_t width[4];
		bool begins[4];
		memcpy(width, cases[i].width, sizeof width);
		ws_columns_fold(width, 4, 2, 2, cases[i].room, begins);
		assert_memory_equal(width, cases[i].expected, sizeof width);
		assert_memory_equal(begins, cases[i].begins, sizeof begins);
	}
}

static void a_table_holds_many_long_cells(void **state)
{
	(void)state;
	static const struct ws_column columns[] = { { "A", WS_ALIGN_LEFT },
						    { "B", WS_ALIGN_LEFT } };
	static char cell[400], line[400];
	static struct collected got;
	struct ws_table *table = NULL;
	got.len = 0;
	memset(cell, 'x', sizeof cell - 1);
	assert_int_equal(ws_table_create(columns, 0, &table, NULL), WS_ARGUMENT);
	assert_int_equal(ws_table_create(columns, 65, &table, NULL), WS_ARGUMENT);
	assert_int_equal(ws_table_create(columns, 2, &table, NULL), WS_OK);
	for (int i = 0; i < 300; i++) {
		ws_table_printf(table, "%s", cell); /* 300 bytes of it */
		ws_table_printf(table, "%d", i);
	}
	ws_table_cell(table, ws_str_of("no whole row"));
	assert_int_equal(ws_table_rows(table), 300);
	ws_table_cell(table, ws_str_of(""));
	ws_out_init(&out, collect, &got);
	assert_int_equal(ws_table_print(table, &out, 0, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	const char *at = got.bytes + strlen("A") + 299 + 2 + strlen("B\n");
	for (int i = 0; i < 300; i++) {
		snprintf(line, sizeof line, "%.300s  %d\n", cell, i);
		assert_memory_equal(at, line, strlen(line));
		at += strlen(line);
	}
	assert_int_equal(got.bytes + got.len - at, strlen("no whole row\n"));
	ws_table_destroy(table);
}

static void styles_are_those_of_a_terminal(void **state)
{
	(void)state;
	start();
	ws_out_style(&out, WS_STYLE_BOLD);
	ws_out_style(&out, WS_STYLE_DIM);
	ws_out_style(&out, WS_STYLE_RED);
	ws_out_style(&out, WS_STYLE_PLAIN);
	assert_string_equal(written(), "\033[1m\033[2m\033[1;31m\033[0m");
	ws_out_style(&out, (enum ws_style)(WS_STYLE_RED + 1));
	ws_out_style(&out, (enum ws_style) - 1);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(input_text_cannot_harm_a_terminal),
		cmocka_unit_test(one_byte_is_escaped_wherever_it_is),
		cmocka_unit_test(what_is_not_seen_is_escaped_and_what_is_stays),
		cmocka_unit_test(printf_escapes_its_strings_and_nothing_else),
		cmocka_unit_test(printf_is_that_of_c),
		cmocka_unit_test(failed_output_is_reported_once_at_the_end),
		cmocka_unit_test(json_is_exact_and_escaped),
		cmocka_unit_test(json_escapes_what_is_not_seen),
		cmocka_unit_test(table_aligns_and_leaves_no_trailing_spaces),
		cmocka_unit_test(tables_fit_a_width),
		cmocka_unit_test(table_survives_any_failed_allocation),
		cmocka_unit_test(each_byte_is_escaped_wherever_it_stands),
		cmocka_unit_test(ranges_that_are_not_seen_are_hidden_to_their_ends),
		cmocka_unit_test(characters_are_as_long_as_unicode_says),
		cmocka_unit_test(the_sink_gets_all_bytes_in_order),
		cmocka_unit_test(a_file_gets_what_fits_and_says_when_no_more_does),
		cmocka_unit_test(json_is_indented_but_for_lines_of_their_own),
		cmocka_unit_test(what_is_missing_has_one_of_four_words),
		cmocka_unit_test(columns_that_do_not_fit_begin_another_line),
		cmocka_unit_test(a_table_holds_many_long_cells),
		cmocka_unit_test(styles_are_those_of_a_terminal),
	};
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
