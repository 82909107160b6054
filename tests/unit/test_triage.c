/* SPDX-License-Identifier: Apache-2.0 */
/* Records and the JSON that they are read from: what holds for any input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/json_read.h"
#include "triage/internal.h"

/* Walks a value, and writes what was found. */
static void walk(struct wsi_json_reader *reader, const struct wsi_json_value *value,
		 struct ws_json *out, int depth)
{
	struct wsi_json_value inner;
	struct ws_str key;
	switch (value->kind) {
	case WSI_JSON_NULL:
		ws_json_null(out);
		break;
	case WSI_JSON_BOOL:
		ws_json_bool(out, value->truth);
		break;
	case WSI_JSON_NUMBER:
	case WSI_JSON_STRING:
		ws_json_str(out, value->text);
		break;
	case WSI_JSON_OBJECT:
		ws_json_object(out);
		while (wsi_json_member(reader, &key, &inner)) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)key.len, key.ptr);
			ws_json_key(out, name);
			if (depth == 0)
				wsi_json_skip(reader, &inner), ws_json_null(out);
			else
				walk(reader, &inner, out, depth - 1);
		}
		ws_json_end(out);
		break;
	case WSI_JSON_ARRAY:
		ws_json_array(out);
		while (wsi_json_element(reader, &inner))
			walk(reader, &inner, out, depth - 1);
		ws_json_end(out);
		break;
	}
}

struct text {
	char bytes[4096];
	size_t len;
};

static bool put(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	assert_true(len < sizeof text->bytes - text->len);
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
	return true;
}

/* What is read from `input`, written again; NULL: it is no JSON. */
static const char *read_again(const char *input, int depth)
{
	static struct text text;
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	struct ws_json json;
	struct ws_out out;
	char copy[512];
	size_t len = strlen(input);
	memcpy(copy, input, len);
	text.len = 0;
	ws_out_init(&out, put, &text);
	ws_json_init(&json, &out, true);
	wsi_json_reader_init(&reader, copy, len);
	if (!wsi_json_read(&reader, &value))
		return NULL;
	walk(&reader, &value, &json, depth);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	if (text.len && text.bytes[text.len - 1] == '\n')
		text.bytes[--text.len] = '\0';
	return wsi_json_is_end(&reader) ? text.bytes : NULL;
}

static void json_is_read_as_it_is(void **state)
{
	static const struct {
		const char *input, *expected;
		int depth;
	} cases[] = {
		{ "{}", "{}", 9 },
		{ " [ ] ", "[]", 9 },
		{ "[1,-2.5e3,true,false,null,NaN,-Infinity]",
		  "[\"1\",\"-2.5e3\",true,false,null,null,null]", 9 },
		{ "{\"a\":{\"b\":[{},[]]},\"c\":\"d\"}", "{\"a\":{\"b\":[{},[]]},\"c\":\"d\"}", 9 },
		{ "\"\\u0041\\u00e9\\ud83d\\ude00\\n\\\"\"",
		  "\"A\xc3\xa9\xf0\x9f\x98\x80\\u000a\\\"\"", 9 },
		{ "\"\\ud800x\\udc00\"", "\"\xef\xbf\xbdx\xef\xbf\xbd\"", 9 }, /* half a pair */
		{ "{\"a\":[1,{\"}\":\"]\"}],\"b\":2}", "{\"a\":null,\"b\":null}",
		  0 }, /* passed over */
		{ "{\"a\" 1}", NULL, 9 },
		{ "{\"a\":1 \"b\":2}", NULL, 9 },
		{ "[1 2]", NULL, 9 },
		{ "[1,]", NULL, 9 },
		{ "{\"a\":}", NULL, 9 },
		{ "[", NULL, 9 },
		{ "\"abc", NULL, 9 },
		{ "\"\\u12", NULL, 9 },
		{ "\"\\q\"", NULL, 9 },
		{ "", NULL, 9 },
		{ "nul", NULL, 9 },
		{ "--", NULL, 9 },
		{ "{} x", NULL, 9 },
		{ "{\"a\":[1,2}", NULL, 9 },
		{ "{\"a\":[1,2", NULL, 0 },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		const char *found = read_again(cases[i].input, cases[i].depth);
		if (!cases[i].expected)
			assert_null(found);
		else
			assert_string_equal(found, cases[i].expected);
	}
}

static void numbers_that_do_not_fit_are_none(void **state)
{
	static const struct {
		const char *text;
		bool fits;
		uint64_t value;
	} cases[] = { { "0", true, 0 },
		      { "18446744073709551615", true, UINT64_MAX },
		      { "18446744073709551616", false, 0 },
		      { "99999999999999999999999", false, 0 },
		      { "-1", false, 0 },
		      { "1.5", false, 0 },
		      { "1e3", false, 0 } };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_json_value value = { .kind = WSI_JSON_NUMBER,
						.text = ws_str_of(cases[i].text) };
		uint64_t number = 7;
		assert_int_equal(wsi_json_u64(&value, &number), cases[i].fits);
		assert_true(number == (cases[i].fits ? cases[i].value : 7));
	}
}

/* ---- records ---- */

static const struct ws_triage_file file = { .path = "jobs/core_5_node1_77.nvcudmp",
					    .bytes = 1234,
					    .written_ns = 5000000000 };

static void a_record_comes_back_as_it_was_written(void **state)
{
	static struct text text;
	struct wsi_record record;
	struct ws_out out;
	(void)state;
	text.len = 0;
	ws_out_init(&out, put, &text);
	ws_triage_record_failed(&file, "no \"way\"\n", false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(text.bytes[text.len - 1], '\n');
	assert_true(wsi_record_read(text.bytes, text.len - 1, &record));
	assert_true(ws_str_equal(record.path, ws_str_of(file.path)));
	assert_true(ws_str_equal(record.why, ws_str_of("no \"way\"\n")));
	assert_true(ws_str_equal(record.host, ws_str_of("node1")));
	assert_true(record.bytes == 1234 && record.written == 5 && record.pid == 77);
	assert_true(record.rank == WSI_NO_NUMBER && record.line == WSI_NO_NUMBER);
	assert_null(record.signature.ptr);
}

/* A record that is cut anywhere, or has another byte anywhere, is read or refused, and no more. */
static void damaged_records_are_refused_or_read(void **state)
{
	static struct text text;
	struct ws_triage_options options = { .size = sizeof options };
	const struct ws_triage_result *result;
	struct ws_triage *triage;
	struct ws_out out;
	char line[4096];
	(void)state;
	text.len = 0;
	ws_out_init(&out, put, &text);
	ws_triage_record_failed(&file, "why", false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(ws_triage_create(&options, &triage, NULL), WS_OK);
	for (size_t cut = 0; cut < text.len - 1; cut++) {
		memcpy(line, text.bytes, cut);
		assert_int_equal(ws_triage_add(triage, line, cut, NULL), WS_MALFORMED);
	}
	for (size_t at = 0; at < text.len - 1; at++) {
		memcpy(line, text.bytes, text.len);
		line[at] = (char)((unsigned char)line[at] ^ (at % 255 + 1));
		enum ws_status st = ws_triage_add(triage, line, text.len - 1, NULL);
		assert_true(st == WS_OK || st == WS_MALFORMED);
	}
	assert_int_equal(ws_triage_choose(triage, NULL), WS_OK);
	memcpy(line, text.bytes, text.len);
	assert_int_equal(ws_triage_look(triage, line, text.len - 1, NULL), WS_OK);
	assert_int_equal(ws_triage_judge(triage, &result, NULL), WS_OK);
	assert_true(result->n_not_records >= text.len - 1 && result->n_again > 0);
	ws_triage_destroy(triage);
}

static uint64_t allocations, failing;

static bool fails(void)
{
	return ++allocations == failing;
}

/* Every allocation fails in turn: the answer is "no memory", and nothing leaks. */
static void missing_memory_is_told(void **state)
{
	static struct text text;
	struct ws_triage_options options = { .size = sizeof options,
					     .baseline = "a\nb\n",
					     .baseline_len = 4 };
	struct ws_out out;
	(void)state;
	text.len = 0;
	ws_out_init(&out, put, &text);
	ws_triage_record_failed(&file, "why", false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	enum ws_status st = WS_NO_MEMORY;
	for (failing = 1; st != WS_OK; failing++) {
		const struct ws_triage_result *result;
		struct ws_triage *triage = NULL;
		char line[4096];
		assert_true(failing < 1000);
		allocations = 0;
		wsi_alloc_should_fail = fails;
		st = ws_triage_create(&options, &triage, NULL);
		memcpy(line, text.bytes, text.len);
		if (st == WS_OK)
			st = ws_triage_add(triage, line, text.len - 1, NULL);
		if (st == WS_OK)
			st = ws_triage_choose(triage, NULL);
		memcpy(line, text.bytes, text.len);
		if (st == WS_OK)
			st = ws_triage_look(triage, line, text.len - 1, NULL);
		if (st == WS_OK)
			st = ws_triage_judge(triage, &result, NULL);
		wsi_alloc_should_fail = NULL;
		ws_triage_destroy(triage);
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
		if (allocations < failing)
			break;
		st = WS_NO_MEMORY;
	}
	assert_true(failing > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_read_as_it_is),
		cmocka_unit_test(numbers_that_do_not_fit_are_none),
		cmocka_unit_test(a_record_comes_back_as_it_was_written),
		cmocka_unit_test(damaged_records_are_refused_or_read),
		cmocka_unit_test(missing_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
