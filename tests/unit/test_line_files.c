/* SPDX-License-Identifier: Apache-2.0 */
/* Files of line tables: their lists, as DWARF 5 has them, and the search for a line of a file. */
#include "unit.h"

#include <warpscope/line.h>

#include "line_builder.h"

/* ---- lists of DWARF 5 ---- */

enum {
	CONTENT_PATH = 1,
	CONTENT_DIR,
	CONTENT_TIME,
	CONTENT_SIZE,
	CONTENT_MD5,
	OF_A_VENDOR = 0x2001
};
enum { FORM_LEB = 0, FORM_OFFSET = 100 }; /* instead of a number of bytes */

static const char line_names[] = "/inc\0of the line table";

static void add_value(struct lb *b, unsigned n_bytes, bool is_signed, uint64_t value)
{
	if (n_bytes != FORM_LEB)
		lb_uint(b, value, n_bytes != FORM_OFFSET ? n_bytes : b->dwarf64 ? 8 : 4);
	else if (is_signed)
		lb_sleb(b, (int64_t)value);
	else
		lb_uleb(b, value);
}

static void add_format(struct lb *b, unsigned content, unsigned form)
{
	lb_uleb(b, content);
	lb_uleb(b, form);
}

/* The directory "/src", then the formats of files. */
static void start_files(struct lb *b, unsigned n_formats)
{
	lb_header_start(b);
	lb_u8(b, 1);
	add_format(b, CONTENT_PATH, 0x08);
	lb_uleb(b, 1);
	lb_str(b, "/src");
	lb_u8(b, n_formats);
}

static struct ws_line_map *map_of_lists(struct lb *b)
{
	lb_header_end(b);
	lb_table_end(b);
	struct ws_line_input input = {
		.line = { b->byte, b->len, 0 },
		.str = { (const uint8_t *)lb_names, sizeof lb_names, 0 },
		.line_str = { (const uint8_t *)line_names, sizeof line_names, 0 },
		.big_endian = b->big_endian,
	};
	struct ws_line_map *map = NULL;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	assert_int_equal(ws_line_diagnostics(map, NULL, NULL), 0);
	return map;
}

/* Whatever a value is for: the next one begins behind it. */
static void every_form_of_an_entry_has_its_length(void **state)
{
	(void)state;
	static const struct {
		unsigned form, n_bytes;
		uint64_t value;
		bool is_signed, is_block;
	} forms[] = {
		{ 0x0b, 1, 0x91, false, false },
		{ 0x0c, 1, 1, false, false },
		{ 0x05, 2, 0x9182, false, false },
		{ 0x06, 4, 0x91828384, false, false },
		{ 0x07, 8, 0x9182838485868788, false, false },
		{ 0x17, FORM_OFFSET, 0x91828384, false, false },
		{ 0x0f, FORM_LEB, 0x123456789, false, false },
		{ 0x0d, FORM_LEB, (uint64_t)-200, true, false },
		{ 0x09, FORM_LEB, 200, false, true },
		{ 0x0a, 1, 200, false, true },
		{ 0x03, 2, 0x102, false, true },
		{ 0x04, 4, 0x102, false, true },
	};
	for (size_t i = 0; i < WSI_COUNT(forms) * 8; i++) {
		const size_t k = i / 8;
		struct lb b = lb_new();
		b.version = 5;
		b.dwarf64 = i & 1;
		b.big_endian = i & 2;
		const bool is_size = i & 4;
		start_files(&b, 2);
		add_format(&b, is_size ? CONTENT_SIZE : OF_A_VENDOR, forms[k].form);
		add_format(&b, CONTENT_PATH, 0x08);
		lb_uleb(&b, 2);
		for (unsigned file = 0; file < 2; file++) {
			add_value(&b, forms[k].n_bytes, forms[k].is_signed, forms[k].value);
			for (uint64_t n = 0; forms[k].is_block && n < forms[k].value; n++)
				lb_u8(&b, 0xee);
			lb_str(&b, file ? "second" : "first");
		}
		struct ws_line_map *map = map_of_lists(&b);
		const struct ws_line_table *table = ws_line_table_at(map, 0);
		const uint64_t size = is_size && !forms[k].is_block ? forms[k].value : 0;
		assert_int_equal(table->n_files, 2);
		assert_string_equal(table->files[0].name, "first");
		assert_string_equal(table->files[1].name, "second");
		assert_true(table->files[0].size_bytes == size);
		assert_true(table->files[1].size_bytes == size);
		ws_line_destroy(map);
	}
}

static void names_are_strings_or_offsets_of_strings(void **state)
{
	(void)state;
	static const uint8_t md5[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	static const struct {
		unsigned form;
		uint64_t off;
		const char *name;
	} cases[] = {
		{ 0x0e, LB_OUTER, "outer" },
		{ 0x0e, sizeof lb_names, "" }, /* outside of .debug_str */
		{ 0x1f, 5, "of the line table" },
		{ 0x1f, sizeof line_names, "" }, /* of .debug_line_str */
	};
	for (size_t i = 0; i < WSI_COUNT(cases) * 2; i++) {
		struct lb b = lb_new();
		b.version = 5;
		b.dwarf64 = i & 1;
		start_files(&b, 4);
		add_format(&b, CONTENT_PATH, cases[i / 2].form);
		add_format(&b, CONTENT_DIR, 0x0b);
		add_format(&b, CONTENT_MD5, 0x1e);
		add_format(&b, CONTENT_TIME, 0x0f);
		lb_uleb(&b, 2);
		for (unsigned dir = 0; dir < 2; dir++) {
			lb_uint(&b, cases[i / 2].off, b.dwarf64 ? 8 : 4);
			lb_u8(&b, dir); /* there is no directory 1 */
			for (size_t k = 0; k < sizeof md5; k++)
				lb_u8(&b, md5[k]);
			lb_uleb(&b, 1000 + dir);
		}
		struct ws_line_map *map = map_of_lists(&b);
		const struct ws_line_table *table = ws_line_table_at(map, 0);
		assert_int_equal(table->n_files, 2);
		assert_string_equal(table->files[0].dir, "/src");
		assert_null(table->files[1].dir);
		for (unsigned file = 0; file < 2; file++) {
			assert_string_equal(table->files[file].name, cases[i / 2].name);
			assert_memory_equal(table->files[file].md5, md5, sizeof md5);
			assert_int_equal(table->files[file].mtime, 1000 + file);
		}
		ws_line_destroy(map);
	}
}

/* An entry has at least a byte, and not more where it is an empty name. */
static void entries_may_fill_the_header(void **state)
{
	(void)state;
	struct lb b = lb_new();
	b.version = 5;
	b.str_base = false;
	start_files(&b, 1);
	add_format(&b, CONTENT_PATH, 0x08);
	lb_uleb(&b, 3);
	for (unsigned i = 0; i < 3; i++)
		lb_str(&b, "");
	struct ws_line_map *map = map_of_lists(&b);
	assert_int_equal(ws_line_table_at(map, 0)->n_files, 3);
	ws_line_destroy(map);
}

/* ---- from source ---- */

struct hits {
	char text[16];
	size_t n;
};

static bool keep_hit(void *user, const struct ws_line_hit *hit)
{
	struct hits *hits = user;
	assert_true(hits->n + 1 < sizeof hits->text);
	assert_int_equal(hit->high, hit->low + 0x10);
	hits->text[hits->n++] = (char)('0' + hit->low / 0x10);
	return true;
}

/* Hits of line 7, of 0x10 bytes each, as digits: which of them, counted by address. NULL: there is
 * no such file. */
static void assert_hits(const struct ws_line_map *map, const char *path, const char *expected)
{
	struct hits hits = { 0 };
	assert_int_equal(ws_line_find_source(map, path, 7, keep_hit, &hits, NULL),
			 expected ? WS_OK : WS_ABSENT);
	assert_string_equal(hits.text, expected ? expected : "");
}

/* A sequence of rows of line 7, one in each of the files, at `first` times 0x10 and on. */
static void add_line_7(struct lb *b, unsigned first, const uint32_t *files, unsigned n)
{
	lb_set_address(b, (uint64_t)first * 0x10);
	for (unsigned i = 0; i < n; i++) {
		lb_set_file(b, files[i]);
		lb_row(b, i ? 0x10 : 0, i ? 0 : 6);
	}
	lb_end_after(b, 0x10);
}

static void define_file(struct lb *b, const char *name)
{
	lb_u8(b, 0);
	lb_uleb(b, 1 + strlen(name) + 1 + 3);
	lb_u8(b, 3);
	lb_str(b, name);
	lb_uleb(b, 1); /* directory */
	lb_uleb(b, 0);
	lb_uleb(b, 0);
}

static void a_source_line_is_sought_in_each_file_of_that_name(void **state)
{
	(void)state;
	static const uint32_t files[] = { 1, 2, 3, 4, 9, 0x10002 };
	struct lb b = lb_new();
	lb_table(&b);
	define_file(&b, "b.h"); /* file 3, and 2 in the list */
	define_file(&b, "c.h"); /* file 4; no list has it */
	add_line_7(&b, 0, files, WSI_COUNT(files));
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	assert_hits(map, "a.cu", "0");
	assert_hits(map, "b.h", "12");
	assert_hits(map, "/src/b.h", "12");
	assert_hits(map, "d.h", NULL);
	ws_line_destroy(map);
}

/* Files are numbered from 1, and from 0 in DWARF 5; of a table, not of a section. */
static void a_file_has_a_number_in_each_table(void **state)
{
	(void)state;
	static const uint32_t files[] = { 0, 1, 2 };
	static const char *const names[] = { "b.h", "a.cu" };
	struct lb b = lb_new();
	lb_table(&b);
	add_line_7(&b, 0, files, 3);
	add_line_7(&b, 3, &files[1], 1);
	lb_table_end(&b);
	lb_header_start(&b);
	lb_u8(&b, 0);
	for (unsigned i = 0; i < 2; i++) {
		lb_str(&b, names[i]);
		for (unsigned k = 0; k < 3; k++)
			lb_u8(&b, 0);
	}
	lb_u8(&b, 0);
	lb_header_end(&b);
	add_line_7(&b, 4, &files[1], 2);
	lb_table_end(&b);
	b.version = 5;
	lb_table(&b);
	add_line_7(&b, 6, files, 3);
	lb_table_end(&b);
	struct ws_line_map *map = lb_map(&b, NULL, 0);
	assert_hits(map, "a.cu", "1357");
	assert_hits(map, "/src/a.cu", "137");
	assert_hits(map, "b.h", "248");
	assert_hits(map, "zero.cu", "6");
	ws_line_destroy(map);
}

static void paths_end_with_whole_names(void **state)
{
	(void)state;
	static const struct {
		const char *dir, *name, *path;
		bool is_it;
	} cases[] = {
		{ "/w/lib", "a.cu", "a.cu", true },
		{ "/w/lib", "a.cu", "lib/a.cu", true },
		{ "/w/lib", "a.cu", "w/lib/a.cu", true },
		{ "/w/lib", "a.cu", "/w/lib/a.cu", true },
		{ "/w/lib", "a.cu", "/v/w/lib/a.cu", false },
		{ "/w/lib", "a.cu", "ib/a.cu", false },
		{ "/w/lib", "a.cu", "lab/a.cu", false },
		{ "/w/lib", "a.cu", "/lib/a.cu", false },
		{ "/w/lib", "a.cu", "/a.cu", false },
		{ "/w/lib", "a.cu", "lib/b.cu", false },
		{ "/w/lib", "a.cu", "lib_a.cu", false },
		{ "/w/lib", "a.cu", ".cu", false },
		{ "/w/lib", "a.cu", "b.cu", false },
		{ "/w", "lib/a.cu", "a.cu", true },
		{ "/w", "lib/a.cu", "lib/a.cu", true },
		{ "/w", "lib/a.cu", "w/lib/a.cu", true },
		{ "/w", "lib/a.cu", "ib/a.cu", false },
		{ "/w", "lib/a.cu", "/a.cu", false },
		{ "/w", "lib/a.cu", "bib/a.cu", false },
		{ "/w", "/lib/a.cu", "/lib/a.cu", true },
		{ "/w", "/lib/a.cu", "/w//lib/a.cu", false },
		{ "", "a.cu", "a.cu", true },
		{ "", "a.cu", "/a.cu", false },
		{ "lib", "a.cu", "lib/a.cu", true },
		{ "lib", "a.cu", "/lib/a.cu", false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct lb b = lb_new();
		static const uint32_t file = 1;
		lb_header_start(&b);
		if (*cases[i].dir)
			lb_str(&b, cases[i].dir);
		lb_u8(&b, 0);
		lb_str(&b, cases[i].name);
		lb_uleb(&b, *cases[i].dir != 0);
		lb_u8(&b, 0);
		lb_u8(&b, 0);
		lb_u8(&b, 0);
		lb_header_end(&b);
		add_line_7(&b, 0, &file, 1);
		lb_table_end(&b);
		struct ws_line_map *map = lb_map(&b, NULL, 0);
		assert_hits(map, cases[i].path, cases[i].is_it ? "0" : NULL);
		ws_line_destroy(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_entry_has_its_length),
		cmocka_unit_test(names_are_strings_or_offsets_of_strings),
		cmocka_unit_test(entries_may_fill_the_header),
		cmocka_unit_test(a_source_line_is_sought_in_each_file_of_that_name),
		cmocka_unit_test(a_file_has_a_number_in_each_table),
		cmocka_unit_test(paths_end_with_whole_names),
	};
	return cmocka_run_group_tests_name("line files", tests, NULL, NULL);
}
