/* SPDX-License-Identifier: Apache-2.0 */
/* Records and the JSON that they are read from: what holds for any input. */
#include "unit.h"

#include "text/json_read.h"
#include "triage/internal.h"
#include "triage/tree.h"

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
		while (wsi_text_json_member(reader, &key, &inner)) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)key.len, key.ptr);
			ws_json_key(out, name);
			if (depth == 0)
				wsi_text_json_skip(reader, &inner), ws_json_null(out);
			else
				walk(reader, &inner, out, depth - 1);
		}
		ws_json_end(out);
		break;
	case WSI_JSON_ARRAY:
		ws_json_array(out);
		while (wsi_text_json_element(reader, &inner))
			walk(reader, &inner, out, depth - 1);
		ws_json_end(out);
		break;
	}
}

struct text {
	char bytes[8192];
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
	wsi_text_json_reader_init(&reader, copy, len);
	if (!wsi_text_json_read(&reader, &value))
		return NULL;
	walk(&reader, &value, &json, depth);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	if (text.len && text.bytes[text.len - 1] == '\n')
		text.bytes[--text.len] = '\0';
	return wsi_text_json_is_end(&reader) ? text.bytes : NULL;
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
		      { "1e3", true, 1000 },
		      { "1E+3", true, 1000 },
		      { "1000.0", true, 1000 },
		      { "1.234e3", true, 1234 },
		      { "1.2345e3", false, 0 },
		      { "10e-1", true, 1 },
		      { "1e-1", false, 0 },
		      { "0.0", true, 0 },
		      { "0e-5", true, 0 },
		      { "100.000000000000000000000000000", true, 100 },
		      { "1.8446744073709551615e19", true, UINT64_MAX },
		      { "1.8446744073709551616e19", false, 0 },
		      { "1e999999999", false, 0 },
		      { "0e999999999", true, 0 },
		      { "1e9999999999", false, 0 },
		      { "1e", false, 0 },
		      { "1e+", false, 0 },
		      { "1e1.0", false, 0 },
		      { "1.0.0", false, 0 } };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_json_value value = { .kind = WSI_JSON_NUMBER,
						.text = ws_str_of(cases[i].text) };
		uint64_t number = 7;
		assert_int_equal(wsi_text_json_u64(&value, &number), cases[i].fits);
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
	struct wsi_triage_record record;
	struct ws_out out;
	(void)state;
	text.len = 0;
	ws_out_init(&out, put, &text);
	ws_triage_record_failed(&file, "no \"way\"\n", false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(text.bytes[text.len - 1], '\n');
	assert_true(wsi_triage_record_read(text.bytes, text.len - 1, &record));
	assert_true(ws_str_equal(record.path, ws_str_of(file.path)));
	assert_true(ws_str_equal(record.why, ws_str_of("no \"way\"\n")));
	assert_true(ws_str_equal(record.host, ws_str_of("node1")));
	assert_true(record.bytes == 1234 && record.written == 5 && record.pid == 77);
	assert_true(record.rank == WSI_NO_NUMBER && record.line == WSI_NO_NUMBER);
	assert_null(record.signature.ptr);
}

/* Whatever its texts are, a record has its size, and signatures of two records stay comparable. */
static void records_have_their_size(void **state)
{
	static const char fill[] = { 'x', '\n', '"', '\x01', (char)0xc3 };
	static char whole[8192], text[3000];
	struct wsi_triage_record record, read;
	(void)state;
	for (size_t k = 0; k < WSI_COUNT(fill); k++) {
		for (size_t len = 1; len < sizeof text; len = len * 3 / 2 + 1) {
			static struct text cut;
			struct ws_out out;
			memset(text, fill[k], len);
			wsi_triage_record_init(&record);
			memcpy(record.key, "0123456789abcdef0123456789abcdef", WS_TRIAGE_KEY_BYTES);
#define S(name) record.name = (struct ws_str){ text, len };
#define N(name) record.name = UINT64_MAX - 1;
#define B(name) record.name = true;
			WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
			record.signature.len = wsi_min_u64(len, 150);
			cut.len = 0;
			ws_out_init(&out, put, &cut);
			wsi_triage_record_write(&record, false, &out);
			assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
			assert_true(cut.len <= WS_TRIAGE_RECORD_BYTES);
			memcpy(whole, cut.bytes, cut.len);
			assert_true(wsi_triage_record_read(whole, cut.len - 1, &read));
			if (fill[k] != (char)0xc3) /* which is no text by itself */
				assert_true(ws_str_equal(read.signature, record.signature));
		}
	}
}

/* A record that has just the size is written as it is. */
static void a_record_may_have_its_whole_size(void **state)
{
	static struct text cut, whole;
	static char text[600];
	struct wsi_triage_record record;
	struct ws_out out;
	bool have_longest = false;
	(void)state;
	memset(text, 'x', sizeof text);
	for (size_t len = 1; len <= 512; len++) {
		wsi_triage_record_init(&record);
		memcpy(record.key, "0123456789abcdef0123456789abcdef", WS_TRIAGE_KEY_BYTES);
#define S(name) record.name = (struct ws_str){ text, 100 };
#define N(name)
#define B(name)
		WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
		record.summary.len = len;
		cut.len = whole.len = 0;
		ws_out_init(&out, put, &cut);
		wsi_triage_record_write(&record, false, &out);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		ws_out_init(&out, put, &whole);
		wsi_triage_record_write(&record, true, &out);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		bool fits = whole.len <= WS_TRIAGE_RECORD_BYTES;
		assert_int_equal(strcmp(cut.bytes, whole.bytes) == 0, fits);
		have_longest |= whole.len == WS_TRIAGE_RECORD_BYTES;
	}
	assert_true(have_longest);
}

/* What is too long is cut: its start, "~", and 16 digits that depend on all of it. */
static void long_texts_are_cut_to_their_start_and_a_hash(void **state)
{
	(void)state;
	static struct text one, other;
	static char why[1200];
	for (size_t len = 511; len <= 514; len++) {
		struct wsi_triage_record record;
		struct ws_out out;
		memset(why, 'x', len);
		why[len] = 0;
		one.len = other.len = 0;
		ws_out_init(&out, put, &one);
		ws_triage_record_failed(&file, why, false, &out);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		why[len - 1] = 'y';
		ws_out_init(&out, put, &other);
		ws_triage_record_failed(&file, why, false, &out);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		assert_true(wsi_triage_record_read(one.bytes, one.len - 1, &record));
		assert_int_equal(record.why.len, len <= 512 ? len : 512);
		bool is_cut = record.why.ptr[512 - 17] == '~';
		assert_int_equal(is_cut, len > 512);
		assert_true(memcmp(one.bytes, other.bytes, one.len) != 0);
	}
	/* it counts how long it is as it is written */
	memset(why, '\x01', 400);
	why[400] = 0;
	one.len = 0;
	struct ws_out escaped;
	ws_out_init(&escaped, put, &one);
	ws_triage_record_failed(&file, why, false, &escaped);
	assert_int_equal(ws_out_flush(&escaped, NULL), WS_OK);
	const char *written = strstr(one.bytes, "\"why\":\"");
	assert_non_null(written);
	size_t written_len = strcspn(written + 7, "\"");
	assert_true(written_len <= 512 && written_len > 400);
	assert_memory_equal(written + 7, "\\u0001\\u0001", 12);
	/* a character is not taken apart: of two bytes each, from the second byte on */
	struct wsi_triage_record record;
	struct ws_out out;
	why[0] = 'x';
	for (size_t i = 1; i < 1001; i += 2)
		memcpy(why + i, "\xc3\xa9", 2);
	why[1001] = 0;
	one.len = 0;
	ws_out_init(&out, put, &one);
	ws_triage_record_failed(&file, why, false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_null(strstr(one.bytes, "\xef\xbf\xbd"));
	assert_true(wsi_triage_record_read(one.bytes, one.len - 1, &record));
	const char *tilde = memchr(record.why.ptr, '~', record.why.len);
	assert_non_null(tilde);
	assert_int_equal((tilde - record.why.ptr) % 2, 1);
	assert_int_equal(record.why.len - (size_t)(tilde - record.why.ptr), 17);
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

/* Which dumps were seen is remembered for one part, in both looks. */
static void dumps_are_forgotten_with_their_part(void **state)
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
	for (int i = 0; i < 6; i++) {
		memcpy(line, text.bytes, text.len);
		assert_int_equal(ws_triage_add(triage, line, text.len - 1, NULL), WS_OK);
		if (i % 2)
			ws_triage_next_part(triage);
	}
	assert_int_equal(ws_triage_choose(triage, NULL), WS_OK);
	for (int i = 0; i < 6; i++) {
		memcpy(line, text.bytes, text.len);
		assert_int_equal(ws_triage_look(triage, line, text.len - 1, NULL), WS_OK);
		if (i % 2)
			ws_triage_next_part(triage);
	}
	assert_int_equal(ws_triage_judge(triage, &result, NULL), WS_OK);
	assert_true(result->n_dumps == 3 && result->n_again == 3 && result->jobs[0].n_rows == 3);
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

/* ---- names ---- */

static void names_are_read_by_their_pattern(void **state)
{
	(void)state;
	static const uint64_t none = WSI_NO_NUMBER;
	static const struct {
		const char *pattern, *path, *host, *job; /* host NULL: it does not fit */
		uint64_t pid, time, rank;
	} cases[] = {
		{ NULL, "a/core_r3_5_h_7.nvcudmp", "h", "", 7, 5, 3 },
		{ NULL, "core_t3_5_h_7.nvcudmp", "h", "", 7, 5, none },
		{ NULL, "core_5_h_7.nvcudmp.gz", "h", "", 7, 5, none },
		{ NULL, "core_5_my_h_7.nvcudmp.zst", "my_h", "", 7, 5, none },
		{ NULL, "core.cuda.h.7", "h", "", 7, none, none },
		{ NULL, "core_5_h_7", "h", "", 7, 5, none },
		{ NULL, "core_5_h_7.other", NULL, "", none, none, none },
		{ NULL, "core_5_h_.nvcudmp", NULL, "", none, none, none },
		{ NULL, "core_5__7.nvcudmp", NULL, "", none, none, none },
		{ NULL, ".gz", NULL, "", none, none, none },
		/* as many names of the path as the pattern has */
		{ "%h", "a/b/c", "c", "", none, none, none },
		{ "%j/%h", "a/b/c", "c", "b", none, none, none },
		{ "%j/%h", "b/c", "c", "b", none, none, none },
		{ "%j/%h", "c", NULL, "", none, none, none },
		{ "b%h", "a/b", NULL, "", none, none, none },
		/* what stands for any text, none too; and for itself */
		{ "*_r%r", "x_y_r2", "", "", none, none, 2 },
		{ "*_r%r", "_r2", "", "", none, none, 2 },
		{ "%h-*", "a-b-", "a-b", "", none, none, none },
		{ "%%%p", "%7", "", "", 7, none, none },
		{ "%p%%", "7%", "", "", 7, none, none },
		{ "%p%%", "7x", NULL, "", none, none, none },
		{ "%p.%t", "7.8x", NULL, "", none, none, none },
		{ "x%p", "7", NULL, "", none, none, none },
		/* the first takes as much as it can */
		{ "%h_%j", "a_b_c", "a_b", "c", none, none, none },
		{ "%p", "1234567890123456789", "", "", 1234567890123456789, none, none },
		{ "%p", "12345678901234567890", NULL, "", none, none, none },
		{ "%p_%h.gz", "7_a.gz", "a", "", 7, none, none },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_dump_name name;
		struct ws_str path = ws_str_of(cases[i].path);
		bool fits = wsi_dump_name_read(cases[i].pattern, path, &name);
		if (fits != (cases[i].host != NULL))
			fail_msg("%s", cases[i].path);
		assert_true(ws_str_equal(name.host, ws_str_of(cases[i].host)));
		assert_true(ws_str_equal(name.job, ws_str_of(cases[i].job)));
		assert_true(name.pid == cases[i].pid && name.time == cases[i].time);
		assert_true(name.rank == cases[i].rank);
		assert_int_equal(ws_triage_pattern_fits(cases[i].pattern, cases[i].path), fits);
	}
}

static void a_pattern_has_its_bounds(void **state)
{
	(void)state;
	char pattern[80] = "", path[4200];
	struct ws_error err;
	for (unsigned i = 0; i < 16; i++) /* 32 pieces */
		memcpy(pattern + 3 * i, "%p.", 4);
	assert_int_equal(ws_triage_pattern_check(pattern, &err), WS_OK);
	memcpy(pattern + 48, "%p", 3);
	assert_int_equal(ws_triage_pattern_check(pattern, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "a pattern of names has at most 32 pieces");
	assert_int_equal(ws_triage_pattern_check("%h*", &err), WS_ARGUMENT);
	assert_string_equal(err.message,
			    "%h* in a pattern of names: nothing says where the first one ends");
	assert_int_equal(ws_triage_pattern_check("*%%*", &err), WS_OK);
	memset(path, 'x', sizeof path);
	for (size_t n = 4096; n <= 4097; n++) { /* longer names fit none */
		struct wsi_dump_name name;
		assert_int_equal(wsi_dump_name_read("%h", (struct ws_str){ path, n }, &name),
				 n == 4096);
	}
}

/* ---- trees ---- */

static bool tree_of(struct wsi_tree *tree, const char *text)
{
	static char copy[4096];
	size_t len = strlen(text);
	assert_true(len < sizeof copy);
	memcpy(copy, text, len);
	return wsi_tree_read_json(tree, copy, len);
}

static void trees_of_json_have_numbers_and_truths(void **state)
{
	(void)state;
	struct wsi_tree tree;
	int64_t n = 5;
	assert_true(tree_of(&tree,
			    "{\"l\":[1,\"-2\",-3,\"x\",true,false,null,1.5,9223372036854775807,"
			    "9223372036854775808,\"-\",\"\"],\"t\":\"text\",\"m\":{\"k\":7}}"));
	const struct wsi_tree_node *root = wsi_tree_root(&tree),
				   *list = wsi_tree_get(&tree, root, "l");
	static const int64_t numbers[] = { 1, -2, -3 };
	for (uint32_t i = 0; i < 12; i++) {
		bool is = wsi_tree_number(wsi_tree_at(&tree, list, i), &n);
		assert_int_equal(is, i < 3 || i == 8);
		assert_true(!is || n == (i == 8 ? INT64_MAX : numbers[i]));
		assert_int_equal(wsi_tree_is_true(wsi_tree_at(&tree, list, i)), i == 4);
	}
	assert_null(wsi_tree_at(&tree, list, 12));
	assert_true(ws_str_equal(wsi_tree_text(wsi_tree_get(&tree, root, "t")), ws_str_of("text")));
	assert_int_equal(wsi_tree_text(list).len, 0);
	assert_null(wsi_tree_get(&tree, root, "no"));
	assert_null(wsi_tree_get(&tree, list, "l"));
	assert_null(wsi_tree_at(&tree, root, 0));
	assert_true(wsi_tree_number(wsi_tree_get(&tree, wsi_tree_get(&tree, root, "m"), "k"), &n));
	assert_int_equal(n, 7);
	assert_false(wsi_tree_is_true(NULL) || wsi_tree_number(NULL, &n));
	wsi_tree_fini(&tree);
}

static void trees_have_their_bounds(void **state)
{
	(void)state;
	static char text[4096];
	struct wsi_tree tree;
	for (size_t depth = 64; depth <= 65; depth++) { /* of lists in lists */
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		text[2 * depth] = 0;
		assert_int_equal(tree_of(&tree, text), depth == 64);
		wsi_tree_fini(&tree);
	}
	size_t n = 1; /* keys are looked for among the first 256 */
	text[0] = '{';
	for (unsigned i = 0; i < 257; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%u\":%u", i ? "," : "", i, i);
	text[n++] = '}';
	text[n] = 0;
	assert_true(tree_of(&tree, text));
	assert_non_null(wsi_tree_get(&tree, wsi_tree_root(&tree), "255"));
	assert_null(wsi_tree_get(&tree, wsi_tree_root(&tree), "256"));
	wsi_tree_fini(&tree);
	assert_false(tree_of(&tree, "[1] x"));
	wsi_tree_fini(&tree);
	assert_false(tree_of(&tree, "{\"a\":1,}"));
	wsi_tree_fini(&tree);
}

/* ---- pickles ---- */

#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

/* Plain data of each operation: {"a": <value>} with the number 7, or a text that says 7. */
static void pickles_are_read_as_data(void **state)
{
	static const struct ws_str cases[] = {
		BYTES("\x80\x02}(X\1\0\0\0aK\7u."),
		BYTES("\x80\x02}q\0(X\1\0\0\0aq\1M\7\0u."),
		BYTES("\x80\x02}X\1\0\0\0aJ\7\0\0\0s."),
		BYTES("\x80\x02}(X\1\0\0\0a\x8a\1\7u."),
		BYTES("\x80\x02}(X\1\0\0\0a\x8a\x08\7\0\0\0\0\0\0\0u."),
		BYTES("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94\x8c\1a\x94\x8c\1"
		      "7s."),
		BYTES("\x80\x05}\x8d\1\0\0\0\0\0\0\0aC\1"
		      "7s."),
		BYTES("\x80\x02K\7r\0\0\0\0000}(X\1\0\0\0ah\0u."),
		BYTES("\x80\x02K\7q\0000}(X\1\0\0\0aj\0\0\0\0u."),
		BYTES("\x80\x02}(X\1\0\0\0bN\x89G\0\0\0\0\0\0\0\0X\1\0\0\0aK\7u."),
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_tree tree;
		int64_t number = 0;
		assert_true(wsi_tree_read_pickle(&tree, cases[i].ptr, cases[i].len));
		assert_true(
			wsi_tree_number(wsi_tree_get(&tree, wsi_tree_root(&tree), "a"), &number));
		assert_int_equal(number, 7);
		wsi_tree_fini(&tree);
		for (size_t cut = 0; cut < cases[i].len; cut++) {
			assert_false(wsi_tree_read_pickle(&tree, cases[i].ptr, cut));
			wsi_tree_fini(&tree);
		}
	}
}

/* Lists, tuples, negative numbers, and one list in two places. */
static void pickles_have_lists(void **state)
{
	static const struct ws_str one = BYTES(
		"\x80\x02](]q\0(K\1K\2eh\0K\3\x85K\4K\5\x86K\6K\7K\x08\x87(K\x09t)J\xff\xff\xff\xff"
		"]K\x0a"
		"a\x8a\1\xfe"
		"e.");
	static const int64_t second[] = { 2, 2, -9, 5, 7, -9, -9, -9, -9 };
	struct wsi_tree tree;
	(void)state;
	assert_true(wsi_tree_read_pickle(&tree, one.ptr, one.len));
	const struct wsi_tree_node *root = wsi_tree_root(&tree);
	for (uint32_t i = 0; i < WSI_COUNT(second); i++) {
		int64_t number = -9;
		(void)wsi_tree_number(wsi_tree_at(&tree, wsi_tree_at(&tree, root, i), 1), &number);
		assert_int_equal(number, second[i]);
	}
	int64_t number = 0;
	assert_true(wsi_tree_number(wsi_tree_at(&tree, root, 7), &number) && number == -1);
	assert_true(wsi_tree_number(wsi_tree_at(&tree, root, 9), &number) && number == -2);
	assert_true(wsi_tree_number(wsi_tree_at(&tree, wsi_tree_at(&tree, root, 8), 0), &number));
	assert_int_equal(number, 10);
	assert_null(wsi_tree_at(&tree, root, 10));
	wsi_tree_fini(&tree);
}

/* What looks up, calls or builds something, and what takes from where nothing is. */
static void other_pickles_are_refused(void **state)
{
	static const struct ws_str cases[] = {
		BYTES("\x80\x02"
		      "cos\nsystem\n."),
		BYTES("\x80\x02"
		      "cos\nsystem\n(X\1\0\0\0atR."),
		BYTES("\x80\x04\x8c\2os\x8c\6system\x93."),
		BYTES("\x80\x02(ios\nsystem\n."),
		BYTES("\x80\x02)\x81."),
		BYTES("\x80\x02}}b."),
		BYTES("\x80\x02P1\n."),
		BYTES("\x80\x02K\1Q."),
		BYTES("\x80\x02\x82\1."),
		BYTES("\x80\x02."),
		BYTES("\x80\x02K\1K\2."),
		BYTES("\x80\x02(K\1."),
		BYTES("\x80\x02u."),
		BYTES("\x80\x02(u."),
		BYTES("\x80\x02](K\1u."),
		BYTES("\x80\x02}(K\1u."),
		BYTES("\x80\x02}(K\1e."),
		BYTES("\x80\x02K\1"
		      "a."),
		BYTES("\x80\x02"
		      "0."),
		BYTES("\x80\x02h\0."),
		BYTES("\x80\x02q\0."),
		BYTES("\x80\x02K\1q\1."),
		BYTES("\x80\x02X\xff\xff\xff\xff"
		      "a."),
		BYTES("\x80\x02K\1.K"),
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_tree tree;
		assert_false(wsi_tree_read_pickle(&tree, cases[i].ptr, cases[i].len));
		wsi_tree_fini(&tree);
	}
}

/* As a value of a map each operation that is none of plain data is what makes it refused. */
static void no_other_operation_is_read(void **state)
{
	static const char known[] = "\x80\x81}])aesut\x85\x86\x87NG\x88\x89JKM\x8a\x8c"
				    "CXB\x8d\x95(0qr\x94hj.";
	char pickle[] = "\x80\x02}(X\1\0\0\0a?u.";
	const size_t at = sizeof pickle - 4;
	(void)state;
	for (int operation = 0; operation < 256; operation++) {
		struct wsi_tree tree;
		if (operation != 0x81 && operation && strchr(known, operation))
			continue;
		pickle[at] = (char)operation;
		assert_false(wsi_tree_read_pickle(&tree, pickle, sizeof pickle - 1));
		wsi_tree_fini(&tree);
	}
	pickle[at] = 'N';
	struct wsi_tree tree;
	assert_true(wsi_tree_read_pickle(&tree, pickle, sizeof pickle - 1));
	wsi_tree_fini(&tree);
}

/* ---- files beside dumps ---- */

static const char recorder[] =
	"{\"pg_config\":{\"0\":{\"desc\":\"default_pg\",\"ranks\":\"[0, 1]\"}},"
	"\"pg_status\":{\"0\":{\"last_enqueued_collective\":\"5\",\"last_completed_collective\":\"-"
	"1\"}},"
	"\"entries\":[{\"process_group\":[\"0\",\"default_pg\"],\"collective_seq_id\":6,\"state\":"
	"\"started\"}]}";
static const char ras[] =
	"{\"communicators\":[{\"hash\":\"0x1\",\"size\":2,\"ranks\":[{\"rank\":0,\"pid\":7,"
	"\"collective_counts\":{\"AllReduce\":3}}],\"missing_ranks\":[{\"rank\":1,\"pid\":8,"
	"\"status\":{\"considered_dead\":true}}]}]}";

static enum ws_status take_snapshot(struct ws_triage *triage, const char *name, const char *text)
{
	char copy[1024];
	size_t len = strlen(text);
	memcpy(copy, text, len);
	return ws_triage_snapshot(triage, name, copy, len, NULL);
}

static void snapshots_tell_of_ranks(void **state)
{
	struct ws_triage_options options = { .size = sizeof options };
	struct ws_triage *triage;
	(void)state;
	assert_int_equal(ws_triage_create(&options, &triage, NULL), WS_OK);
	assert_int_equal(take_snapshot(triage, "a/nccl_trace_rank_1", recorder), WS_OK);
	const struct wsi_count *count = wsi_count_of(triage, 0, 1);
	assert_non_null(count);
	assert_true(count->enqueued == 6 && count->completed == 0);
	assert_int_equal(triage->evidence.groups[0].n_ranks, 2);
	assert_int_equal(take_snapshot(triage, "ras.json", ras), WS_OK);
	assert_int_equal(triage->evidence.n_members, 2);
	assert_true(triage->evidence.n_gone == 1 && triage->evidence.gone[0] == 1);
	assert_int_equal(take_snapshot(triage, "12/trace", recorder), WS_MALFORMED); /* no rank */
	assert_int_equal(take_snapshot(triage, "x_1", "{\"entries\":[{}"), WS_MALFORMED);
	assert_int_equal(take_snapshot(triage, "x_1", "\x80\x02}"), WS_MALFORMED);
	assert_int_equal(take_snapshot(triage, "x_1", "{\"message\":\"a log\"}"), WS_ABSENT);
	assert_int_equal(take_snapshot(triage, "x_1", "{ no JSON"), WS_ABSENT);
	ws_triage_destroy(triage);
}

static void snapshots_without_memory_are_told(void **state)
{
	static const char *const texts[] = { recorder, ras };
	struct ws_triage_options options = { .size = sizeof options };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(texts); i++) {
		enum ws_status st = WS_NO_MEMORY;
		for (failing = 1; st != WS_OK; failing++) {
			struct ws_triage *triage;
			assert_true(failing < 100);
			assert_int_equal(ws_triage_create(&options, &triage, NULL), WS_OK);
			allocations = 0;
			wsi_alloc_should_fail = fails;
			st = take_snapshot(triage, "x_1", texts[i]);
			wsi_alloc_should_fail = NULL;
			ws_triage_destroy(triage);
			assert_true(st == WS_OK || st == WS_NO_MEMORY);
		}
		assert_true(failing > 5);
	}
}

/* ---- what exec recorded ---- */

#define LINE(more) "{\"schema\":\"warpscope-exec-1\",\"host\":\"h\",\"pid\":7," more "}"
#define SLURM ",\"SLURM_PROCID\":1,\"SLURM_STEP_NUM_TASKS\":2"

/* Rank and why there is none of the process 7 on h, after these lines. */
static void ask(const char *const *lines, size_t n, struct wsi_triage_record *ret_record)
{
	struct ws_triage_processes *processes;
	char copy[400];
	wsi_triage_record_init(ret_record);
	ret_record->path = ws_str_of("core_5_h_7.nvcudmp");
	assert_int_equal(ws_triage_processes_create(&processes, NULL), WS_OK);
	for (size_t i = 0; i < n; i++) {
		snprintf(copy, sizeof copy, "%s", lines[i]);
		assert_int_equal(ws_triage_processes_add(processes, copy, strlen(copy), NULL),
				 WS_OK);
	}
	wsi_triage_record_name(ret_record, NULL, processes);
	ws_triage_processes_destroy(processes);
}

static void a_process_is_the_rank_that_was_recorded(void **state)
{
	static const struct {
		const char *lines[2];
		uint64_t rank, ranks;
	} cases[] = {
		{ { LINE("\"started\":1,\"RANK\":3,\"WORLD_SIZE\":8") }, 3, 8 },
		{ { LINE("\"started\":1,\"RANK\":8,\"WORLD_SIZE\":8") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"PMIX_RANK\":3,\"RANK\":null") }, 3, 0 },
		{ { LINE("\"started\":1,\"OMPI_COMM_WORLD_RANK\":3,\"OMPI_COMM_WORLD_SIZE\":4") },
		  3,
		  4 },
		{ { LINE("\"started\":1,\"PMI_RANK\":0,\"PMI_SIZE\":1") }, 0, 1 },
		{ { LINE("\"started\":1,\"PMI_RANK\":0,\"PMI_SIZE\":1,\"RANK\":2") }, 2, 0 },
		{ { LINE("\"started\":1,\"PMIX_RANK\":5" SLURM) }, 5, 0 },
		{ { LINE("\"started\":1,\"RANK\":9223372036854775808") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"title\":\"my_job::x_TP2\"") }, 2, 0 },
		{ { LINE("\"started\":1,\"title\":\"a:b_TP2\"") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"title\":\"VLLM::_TP2\"") }, 2, 0 },
		{ { LINE("\"started\":1,\"title\":\"VLLM::\"") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"title\":\"VLLM::Worker_\"") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1" SLURM) }, 1, 2 },
		{ { LINE("\"started\":1,\"SLURM_PROCID\":0") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"SLURM_PROCID\":0,\"SLURM_STEP_NUM_TASKS\":1") },
		  WSI_NO_NUMBER,
		  0 },
		{ { LINE("\"started\":1,\"title\":\"VLLM::Worker_TP5\"" SLURM) }, 5, 0 },
		{ { LINE("\"started\":1,\"title\":\"VLLM::Worker_PP1_TP5\"") }, WSI_NO_NUMBER, 0 },
		{ { LINE("\"started\":1,\"title\":\"sglang::scheduler_TP2\"") }, 2, 0 },
		{ { LINE("\"started\":1,\"title\":\"job_TP2\"") }, WSI_NO_NUMBER, 0 },
		/* a later line of the process, and another process with its number */
		{ { LINE("\"started\":1,\"RANK\":3"), LINE("\"started\":1,\"RANK\":4") }, 4, 0 },
		{ { LINE("\"started\":1,\"RANK\":3"), LINE("\"started\":2,\"RANK\":4") },
		  WSI_NO_NUMBER,
		  0 },
		{ { LINE("\"started\":1,\"RANK\":3"), LINE("\"started\":2,\"RANK\":3") }, 3, 0 },
		{ { "{\"schema\":\"warpscope-exec-1\",\"host\":\"g\",\"pid\":7,\"RANK\":3}" },
		  WSI_NO_NUMBER,
		  0 },
		{ { "{\"schema\":\"other\",\"host\":\"h\",\"pid\":7,\"RANK\":3}" },
		  WSI_NO_NUMBER,
		  0 },
		{ { "{\"schema\":\"warpscope-exec-1\",\"host\":\"h\",\"pid\":7,\"RANK\":3" },
		  WSI_NO_NUMBER,
		  0 },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_triage_record record;
		ask(cases[i].lines, cases[i].lines[1] ? 2 : 1, &record);
		assert_true(record.rank == cases[i].rank);
		assert_true(record.ranks == (cases[i].ranks ? cases[i].ranks : WSI_NO_NUMBER));
		assert_true((record.rank == WSI_NO_NUMBER) == (record.rank_why.ptr != NULL));
		assert_true(record.rank == WSI_NO_NUMBER ||
			    ws_str_equal(record.rank_from, ws_str_of("exec")));
	}
}

static void why_a_process_has_no_rank_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *lines[2], *why;
	} cases[] = {
		{ { LINE("\"started\":1") }, "exec recorded the process without a rank" },
		{ { "{}" }, "exec has not recorded the process" },
		{ { LINE("\"started\":1,\"RANK\":3"), LINE("\"started\":2,\"RANK\":4") },
		  "exec recorded two processes with its number" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_triage_record record;
		ask(cases[i].lines, cases[i].lines[1] ? 2 : 1, &record);
		assert_true(ws_str_equal(record.rank_why, ws_str_of(cases[i].why)));
	}
}

static void an_attempt_is_a_job(void **state)
{
	static const char *const lines[] = {
		LINE("\"started\":1,\"RANK\":3,\"TORCHELASTIC_RESTART_COUNT\":2"),
		LINE("\"started\":1,\"RANK\":3,\"TORCHELASTIC_RESTART_COUNT\":0"),
	};
	struct wsi_triage_record record;
	(void)state;
	ask(lines, 1, &record);
	assert_true(ws_str_equal(record.job, ws_str_of("attempt 2")));
	wsi_triage_record_name(&record, "core_%t_%h_%p.nvcudmp", NULL); /* as a merge with --name */
	assert_true(record.rank == 3 && ws_str_equal(record.job, ws_str_of("attempt 2")));
	ask(lines, 2, &record);
	assert_null(record.job.ptr);
}

static void a_name_decides_before_the_record(void **state)
{
	struct ws_triage_processes *processes;
	struct wsi_triage_record record;
	char line[] = LINE("\"started\":1,\"RANK\":3,\"WORLD_SIZE\":4");
	(void)state;
	wsi_triage_record_init(&record);
	record.path = ws_str_of("a/core_r2_5_h_7.nvcudmp");
	assert_int_equal(ws_triage_processes_create(&processes, NULL), WS_OK);
	assert_int_equal(ws_triage_processes_add(processes, line, strlen(line), NULL), WS_OK);
	wsi_triage_record_name(&record, NULL, processes);
	assert_true(record.rank == 2 && record.ranks == 4);
	assert_true(ws_str_equal(record.rank_from, ws_str_of("name")));
	wsi_triage_record_init(&record);
	record.path = ws_str_of("a/core_t2_5_h_7.nvcudmp"); /* a task of Slurm may have many */
	wsi_triage_record_name(&record, NULL, processes);
	assert_true(record.rank == 3 && record.pid == 7 && record.time == 5);
	assert_true(ws_str_equal(record.rank_from, ws_str_of("exec")));
	ws_triage_processes_destroy(processes);
}

/* Processes of three hosts in no order, one of whose names begins another; each is found, and no
 * other. */
static void every_process_of_many_is_found(void **state)
{
	static const char *const hosts[] = { "node", "node1", "mode" };
	static const unsigned pids[] = { 7, 3, 9, 1, 5 };
	struct ws_triage_processes *processes;
	struct wsi_process found;
	(void)state;
	assert_int_equal(ws_triage_processes_create(&processes, NULL), WS_OK);
	for (unsigned i = 0; i < 15; i++) {
		char line[200];
		snprintf(line, sizeof line,
			 "{\"schema\":\"warpscope-exec-1\",\"host\":\"%s\",\"pid\":%u,"
			 "\"started\":1,\"RANK\":%u,\"WORLD_SIZE\":15}",
			 hosts[i % 3], pids[i / 3], i);
		assert_int_equal(ws_triage_processes_add(processes, line, strlen(line), NULL),
				 WS_OK);
	}
	for (unsigned i = 0; i < 15; i++) {
		assert_int_equal(
			wsi_process_find(processes, ws_str_of(hosts[i % 3]), pids[i / 3], &found),
			WSI_KNOWN);
		assert_true(found.rank == i && found.n_ranks == 15);
		assert_int_equal(wsi_process_find(processes, ws_str_of(hosts[i % 3]),
						  pids[i / 3] + 1, &found),
				 WSI_UNKNOWN);
	}
	assert_int_equal(wsi_process_find(processes, ws_str_of("nod"), 7, &found), WSI_UNKNOWN);
	ws_triage_processes_destroy(processes);
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(dumps_are_forgotten_with_their_part);
	assert_frees_all(pickles_have_lists);
	assert_frees_all(other_pickles_are_refused);
	assert_frees_all(trees_have_their_bounds);
	assert_frees_all(every_process_of_many_is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_read_as_it_is),
		cmocka_unit_test(numbers_that_do_not_fit_are_none),
		cmocka_unit_test(a_record_comes_back_as_it_was_written),
		cmocka_unit_test(records_have_their_size),
		cmocka_unit_test(a_record_may_have_its_whole_size),
		cmocka_unit_test(long_texts_are_cut_to_their_start_and_a_hash),
		cmocka_unit_test(damaged_records_are_refused_or_read),
		cmocka_unit_test(dumps_are_forgotten_with_their_part),
		cmocka_unit_test(missing_memory_is_told),
		cmocka_unit_test(names_are_read_by_their_pattern),
		cmocka_unit_test(a_pattern_has_its_bounds),
		cmocka_unit_test(trees_of_json_have_numbers_and_truths),
		cmocka_unit_test(trees_have_their_bounds),
		cmocka_unit_test(pickles_are_read_as_data),
		cmocka_unit_test(pickles_have_lists),
		cmocka_unit_test(other_pickles_are_refused),
		cmocka_unit_test(no_other_operation_is_read),
		cmocka_unit_test(snapshots_tell_of_ranks),
		cmocka_unit_test(snapshots_without_memory_are_told),
		cmocka_unit_test(a_process_is_the_rank_that_was_recorded),
		cmocka_unit_test(why_a_process_has_no_rank_is_told),
		cmocka_unit_test(an_attempt_is_a_job),
		cmocka_unit_test(a_name_decides_before_the_record),
		cmocka_unit_test(every_process_of_many_is_found),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
