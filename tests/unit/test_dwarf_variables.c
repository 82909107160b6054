/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which variables a function has at an address and where each is, and all that is understood of
 * debug information: the case "blocks" of tests/builders/dwarf.py.
 */
#include "unit.h"

#include <stdio.h>

#include <warpscope/cubin.h>
#include <warpscope/unwind.h>

#include "base/file.h"
#include "base/reader.h"
#include "dwarf/dwarf.h"

enum { LOW_PC = 0x100, MOST = 32 };

static struct wsi_file file;
static struct ws_dwarf_input input;
static struct ws_dwarf *dwarf;
static uint8_t lists[200];

/* Lists of places. */
static struct ws_span lists_make(void)
{
	static const struct {
		uint64_t first, end;
		const char *place;
		uint16_t n;
	} rows[] = {
		{ 0x108, 0x110, "\x90\x25", 2 }, /* "%" */
		{ 0x110, 0x110, "\x91\x01", 2 }, /* nowhere */
		{ UINT64_MAX, 0x100, NULL, 0 },  /* from here on from 0x100 */
		{ 0x10, 0x20, "\x91\x70", 2 },   /* 16 below the frame */
		{ 0x18, 0x28, "\x91\x60", 2 },   /* the first of two counts */
		{ UINT64_MAX, 0, NULL, 0 },
		{ 0x140, 0x141, "\x91\x50\x23\x08", 4 },
		{ 0, 0, NULL, 0 },
	};
	size_t n = 0;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		store_le(lists + n, rows[i].first, 8);
		store_le(lists + n + 8, rows[i].end, 8);
		n += 16;
		if (!rows[i].place)
			continue;
		store_le(lists + n, rows[i].n, 2);
		memcpy(lists + n + 2, rows[i].place, rows[i].n);
		n += 2u + rows[i].n;
	}
	assert_true(n < sizeof lists);
	return (struct ws_span){ lists, n, 0 };
}

static const struct ws_dwarf_function *look(const char *name)
{
	const struct ws_dwarf_function *function;
	char path[1000];
	assert_true(wsi_format(path, "%s/dwarf/%s.dwarf", getenv("WS_TEST_BUILT"), name));
	assert_int_equal(wsi_file_open(path, &file, NULL), WS_OK);
	struct wsi_reader r = wsi_reader_of(file.bytes);
	uint32_t n_info = wsi_read_u32(&r), n_abbrev = wsi_read_u32(&r), n_str = wsi_read_u32(&r);
	input = (struct ws_dwarf_input){ .demangle = ws_demangle, .loc = lists_make() };
	input.info = wsi_read_span(&r, n_info);
	input.abbrev = wsi_read_span(&r, n_abbrev);
	input.str = wsi_read_span(&r, n_str);
	assert_int_equal(ws_dwarf_create(&input, &dwarf, NULL), WS_OK);
	assert_false(ws_dwarf_damage(dwarf, NULL));
	assert_int_equal(ws_dwarf_find_function(dwarf, ws_str_of("blocks"), &function, NULL),
			 WS_OK);
	return function;
}

static void leave(void)
{
	ws_dwarf_destroy(dwarf);
	wsi_file_close(&file);
}

static const char *const versions[] = { "blocks", "blocks-4" };

/* ---- which ---- */

static void a_block_has_its_variables_from_its_first_byte_to_its_end(void **state)
{
	static const struct {
		uint64_t rel_pc;
		const char *names; /* behind those of the function, each with its depth */
	} rows[] = {
		{ 0x00, "" },
		{ 0x0f, "" },
		{ 0x10, "block 1 " },
		{ 0x13, "block 1 " },
		{ 0x14, "block 1 deep 2 " },
		{ 0x17, "block 1 deep 2 " },
		{ 0x18, "block 1 " },
		{ 0x1f, "block 1 " },
		{ 0x20, "" },
		{ 0x2f, "" },
		{ 0x30, "copied 1i1 " },
		{ 0x3f, "copied 1i1 " },
		{ 0x40, "" },
		{ 0x50, "" },
		{ 0x60, "own 1i1 " },
		{ 0x68, "own 1i1 copied 3i2 " },
	};
	(void)state;
	for (size_t v = 0; v < WSI_COUNT(versions); v++) {
		const struct ws_dwarf_function *function = look(versions[v]);
		for (size_t i = 0; i < WSI_COUNT(rows); i++) {
			struct ws_dwarf_variable list[MOST];
			char names[200] = "";
			size_t n, at = 0, len = 0;
			assert_int_equal(ws_dwarf_variables(dwarf, function, rows[i].rel_pc, list,
							    MOST, &n, NULL),
					 WS_OK);
			while (at < n && list[at].depth == 0)
				assert_false(list[at++].n_calls);
			assert_int_equal(at, 10);
			assert_true(list[0].is_param && !list[1].is_param);
			for (; at < n; at++)
				len += (size_t)snprintf(names + len, sizeof names - len,
							list[at].n_calls ? "%.*s %ui%u "
									 : "%.*s %u ",
							(int)list[at].name.len, list[at].name.ptr,
							list[at].depth, list[at].n_calls);
			assert_string_equal(names, rows[i].names);
			if (strstr(names, "copied")) /* what the original says of it */
				assert_int_equal(list[n - 1].line, 7);
			assert_int_equal(ws_dwarf_variables(dwarf, function, rows[i].rel_pc, list,
							    1, &at, NULL),
					 WS_OK);
			assert_int_equal(at, n);
		}
		leave();
	}
}

static void inlined_functions_are_told_outermost_first_unless_two_claim_the_byte(void **state)
{
	static const struct {
		uint64_t rel_pc;
		const char *calls;
	} rows[] = {
		{ 0x00, "" },
		{ 0x2f, "" },
		{ 0x30, "?:0 " }, /* neither of what nor from where */
		{ 0x5f, "" },
		{ 0x60, "_Z6linkedv:300 " },
		{ 0x67, "_Z6linkedv:300 " },
		{ 0x68, "_Z6linkedv:300 inlined:302 " },
		{ 0x6f, "_Z6linkedv:300 inlined:302 " },
		{ 0x70, "_Z6linkedv:300 " },
		{ 0x80, "" },
		{ 0x92, "_Z6linkedv:303 inlined:304 " },
		{ 0x98, "" }, /* two claim it */
		{ 0xa0, "inlined:305 " },
		{ 0xb0, "" }, /* the one around it has no end */
	};
	(void)state;
	for (size_t v = 0; v < WSI_COUNT(versions); v++) {
		const struct ws_dwarf_function *function = look(versions[v]);
		for (size_t i = 0; i < WSI_COUNT(rows); i++) {
			struct ws_dwarf_inlined list[MOST];
			char calls[200] = "";
			size_t n, len = 0, counted;
			assert_int_equal(ws_dwarf_inlined(dwarf, function, rows[i].rel_pc, list,
							  MOST, &n, NULL),
					 WS_OK);
			for (size_t k = 0; k < n; k++) {
				assert_int_equal(list[k].call_file, list[k].call_line ? 3 : 0);
				assert_int_equal(list[k].call_column, list[k].call_line % 7);
				len += (size_t)snprintf(calls + len, sizeof calls - len, "%s:%u ",
							list[k].name.len ? list[k].name.ptr : "?",
							list[k].call_line);
			}
			assert_string_equal(calls, rows[i].calls);
			assert_int_equal(ws_dwarf_inlined(dwarf, function, rows[i].rel_pc, NULL, 0,
							  &counted, NULL),
					 WS_OK);
			assert_int_equal(counted, n);
		}
		leave();
	}
}

/* ---- where ---- */

static const struct {
	const char *name;
	uint64_t rel_pc;
	enum ws_status status;
	enum ws_where_kind kind;
	int64_t number;
	const char *reg;
} places[] = {
	{ "placed", 0, WS_OK, WS_WHERE_ADDRESS, 0x1244, "" },
	{ "register", 0, WS_OK, WS_WHERE_REGISTER, 0, "%r12" },
	{ "block", 0x10, WS_OK, WS_WHERE_FRAME, -8, "" },
	{ "deep", 0x14, WS_OK, WS_WHERE_FRAME, -16, "" },
	{ "gone", 0, WS_OK, WS_WHERE_GONE, 0, "" },
	{ "p", 0, WS_OK, WS_WHERE_GONE, 0, "" },
	{ "constant", 0, WS_OK, WS_WHERE_VALUE, -3, "" },
	{ "unknown", 0, WS_UNSUPPORTED, WS_WHERE_GONE, 0, "" },
	{ "two", 0, WS_UNSUPPORTED, WS_WHERE_GONE, 0, "" },
	{ "short", 0, WS_TRUNCATED, WS_WHERE_GONE, 0, "" },
	{ "cut", 0, WS_MALFORMED, WS_WHERE_GONE, 0, "" },
	{ "listed", 0x07, WS_OK, WS_WHERE_NOT_HERE, 0, "" },
	{ "listed", 0x08, WS_OK, WS_WHERE_REGISTER, 0, "%" },
	{ "listed", 0x0f, WS_OK, WS_WHERE_REGISTER, 0, "%" },
	{ "listed", 0x10, WS_OK, WS_WHERE_FRAME, -16, "" },
	{ "listed", 0x1f, WS_OK, WS_WHERE_FRAME, -16, "" },
	{ "listed", 0x20, WS_OK, WS_WHERE_FRAME, -32, "" },
	{ "listed", 0x28, WS_OK, WS_WHERE_NOT_HERE, 0, "" },
	{ "listed", 0x3f, WS_OK, WS_WHERE_NOT_HERE, 0, "" },
	{ "listed", 0x40, WS_OK, WS_WHERE_FRAME, -40, "" },
	{ "listed", 0x41, WS_OK, WS_WHERE_NOT_HERE, 0, "" },
};

static enum ws_status where(const struct ws_dwarf_function *function, const char *name,
			    uint64_t rel_pc, struct ws_where *ret_where, struct ws_error *err)
{
	struct ws_dwarf_variable list[MOST];
	size_t n;
	assert_int_equal(ws_dwarf_variables(dwarf, function, rel_pc, list, MOST, &n, NULL), WS_OK);
	for (size_t i = 0; i < n; i++)
		if (ws_str_equal(list[i].name, ws_str_of(name)))
			return ws_dwarf_where(dwarf, function, rel_pc, &list[i], ret_where, err);
	fail_msg("no variable %s", name);
	return WS_ABSENT;
}

static void places_of_every_kind(void **state)
{
	(void)state;
	for (size_t v = 0; v < WSI_COUNT(versions); v++) {
		const struct ws_dwarf_function *function = look(versions[v]);
		for (size_t i = 0; i < WSI_COUNT(places); i++) {
			struct ws_where found = { 0 };
			enum ws_status st =
				where(function, places[i].name, places[i].rel_pc, &found, NULL);
			if (st != places[i].status ||
			    (st == WS_OK &&
			     (found.kind != places[i].kind || found.number != places[i].number ||
			      strcmp(found.reg, places[i].reg) != 0)))
				fail_msg("%s at 0x%x: %s, kind %d, %lld, %s", places[i].name,
					 (unsigned)places[i].rel_pc, ws_status_text(st), found.kind,
					 (long long)found.number, found.reg);
		}
		leave();
	}
}

/* However a list is cut, an answer before the cut is right, and none is made up. */
static void a_list_that_is_cut_says_so(void **state)
{
	struct ws_where found;
	struct ws_error err;
	(void)state;
	const struct ws_dwarf_function *function = look("blocks");
	const size_t whole = input.loc.len, first = 16 + 2 + 2;
	for (size_t len = 0; len < whole; len++) {
		ws_dwarf_destroy(dwarf);
		input.loc.len = len;
		assert_int_equal(ws_dwarf_create(&input, &dwarf, NULL), WS_OK);
		assert_int_equal(
			ws_dwarf_find_function(dwarf, ws_str_of("blocks"), &function, NULL), WS_OK);
		assert_int_equal(where(function, "listed", 8, &found, NULL),
				 len >= first ? WS_OK : WS_TRUNCATED);
		assert_int_equal(where(function, "listed", 0x41, &found, &err), WS_TRUNCATED);
		assert_true(err.file_off <= len);
	}
	leave();
}

/* ---- registers ---- */

static void put_u32(struct byte_row *map, uint32_t number)
{
	uint8_t bytes[4];
	store_le(bytes, number, 4);
	byte_row_put(map, bytes, 4);
}

static void put_function(struct byte_row *map, const char *name, uint32_t count)
{
	byte_row_put(map, name, strlen(name) + 1);
	put_u32(map, count);
}

static void put_entry(struct byte_row *map, uint32_t part, const char *reg, uint32_t place,
		      uint32_t first, uint32_t last)
{
	put_u32(map, part);
	byte_row_put(map, reg, strlen(reg) + 1);
	put_u32(map, place);
	put_u32(map, first);
	put_u32(map, last);
}

/* docs/formats/dwarf.md: both ends are included, and the first of several for one part counts. */
static void the_register_map_is_read_to_its_last_byte(void **state)
{
	struct byte_row sass = { .n = 0 }, type = { .n = 0 };
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	size_t n;
	(void)state;
	put_function(&sass, "g", 3);
	put_entry(&sass, 1, "%rd1", 0x05000003, 16, 31);
	put_entry(&sass, 0, "%rd1", 0x04000005, 16, 47);
	put_entry(&sass, 1, "%rd1", 0x05000007, 16, 47);
	const size_t n_g = sass.n;
	put_function(&sass, "f", 1);
	put_entry(&sass, 0, "", 0x05000009, 0, 15); /* the least that an entry takes */
	put_function(&type, "f", 2);                /* not as many as there are */
	byte_row_put(&type, "\1\2", 2);
	put_function(&type, "g", 3);
	byte_row_put(&type, "\7\x8\x9", 3);
	static const struct {
		const char *function, *reg;
		uint64_t rel_pc;
		enum ws_regmap_answer answer;
		size_t n;
		struct {
			uint32_t reg_class, index;
			uint8_t type;
		} part[2];
	} rows[] = {
		{ "f", "", 0, WS_REGMAP_FOUND, 1, { { 5, 9, 0xff } } },
		{ "f", "", 15, WS_REGMAP_FOUND, 1, { { 5, 9, 0xff } } },
		{ "f", "", 16, WS_REGMAP_NOT_HERE, 0, { { 0 } } },
		{ "g", "%rd1", 15, WS_REGMAP_NOT_HERE, 0, { { 0 } } },
		{ "g", "%rd1", 16, WS_REGMAP_FOUND, 2, { { 4, 5, 8 }, { 5, 3, 7 } } },
		{ "g", "%rd1", 31, WS_REGMAP_FOUND, 2, { { 4, 5, 8 }, { 5, 3, 7 } } },
		{ "g", "%rd1", 32, WS_REGMAP_FOUND, 2, { { 4, 5, 8 }, { 5, 7, 9 } } },
		{ "g", "%rd1", 48, WS_REGMAP_NOT_HERE, 0, { { 0 } } },
		{ "g", "%rd", 16, WS_REGMAP_NO_REGISTER, 0, { { 0 } } },
		{ "h", "%rd1", 16, WS_REGMAP_NO_FUNCTION, 0, { { 0 } } },
	};
	const struct ws_span in = { sass.bytes, sass.n, 0 }, types = { type.bytes, type.n, 0 };
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		assert_int_equal(ws_regmap_find(in, types, ws_str_of(rows[i].function),
						ws_str_of(rows[i].reg), rows[i].rel_pc, pieces, &n),
				 rows[i].answer);
		assert_int_equal(n, rows[i].n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(pieces[k].part, k);
			assert_int_equal(pieces[k].n_parts, n);
			assert_int_equal(pieces[k].reg_class, rows[i].part[k].reg_class);
			assert_int_equal(pieces[k].index, rows[i].part[k].index);
			assert_int_equal(pieces[k].type, rows[i].part[k].type);
		}
	}
	for (size_t len = 0; len < n_g; len++) { /* cut: nothing is made up */
		const struct ws_span cut = { sass.bytes, len, 0 };
		enum ws_regmap_answer answer = ws_regmap_find(cut, types, ws_str_of("g"),
							      ws_str_of("%rd1"), 32, pieces, &n);
		assert_true(n < 2);
		assert_true(answer != WS_REGMAP_FOUND || pieces[0].index == 5);
	}
}

/* ---- names ---- */

static void what_is_declared_or_has_no_place_is_no_variable_of_the_image(void **state)
{
	const struct ws_dwarf_named *named;
	struct ws_dwarf_variable variable;
	int64_t value;
	(void)state;
	const struct ws_dwarf_function *function = look("blocks");
	assert_int_equal(
		ws_dwarf_find_named(dwarf, WS_NAMED_VARIABLE, ws_str_of("outside"), &named, NULL),
		WS_OK);
	assert_int_equal(ws_dwarf_variable_at(dwarf, named->info_off, &variable, NULL), WS_OK);
	assert_true(ws_str_equal(variable.name, ws_str_of("outside")));
	assert_int_equal(ws_dwarf_enumerator_value(dwarf, named->info_off, &value, NULL),
			 WS_ARGUMENT);
	static const char *const none[] = { "unplaced", "declared", "placed", "int", "" };
	for (size_t i = 0; i < WSI_COUNT(none); i++)
		assert_int_equal(ws_dwarf_find_named(dwarf, WS_NAMED_VARIABLE, ws_str_of(none[i]),
						     &named, NULL),
				 WS_ABSENT);
	assert_int_equal(ws_dwarf_find_named(dwarf, WS_NAMED_TYPE, ws_str_of("int"), &named, NULL),
			 WS_OK);
	assert_int_equal(ws_dwarf_variable_at(dwarf, named->info_off, &variable, NULL),
			 WS_ARGUMENT);
	uint64_t counts[WS_DWARF_MAX_DIMENSIONS];
	unsigned n;
	assert_int_equal(ws_dwarf_array(dwarf, named->info_off, counts, &n, NULL), WS_ARGUMENT);
	assert_int_equal(ws_dwarf_variable_at(dwarf, function->info_off, &variable, NULL),
			 WS_ARGUMENT);
	leave();
}

/* ---- all that is understood ---- */

struct marks {
	uint8_t info[20000], abbrev[4000]; /* how often each byte was told */
	size_t n_texts;
};

static void mark(struct marks *marks, struct ws_span bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.ptr + i >= input.info.ptr &&
		    bytes.ptr + i < input.info.ptr + input.info.len)
			marks->info[bytes.ptr + i - input.info.ptr]++;
		else
			marks->abbrev[bytes.ptr + i - input.abbrev.ptr]++;
	}
}

static void keep(void *user, struct ws_span bytes)
{
	mark(user, bytes);
}

static void value(void *user, const struct wsi_dwarf_written *written)
{
	struct marks *marks = user;
	mark(marks, written->bytes);
	if (!written->is_text)
		return;
	if (written->in_str)
		assert_true(written->str_off < input.str.len);
	else
		assert_int_equal(written->bytes.ptr[written->bytes.len - 1], 0);
	marks->n_texts++;
}

/* Every byte of units and declarations is told once, and which of them are texts. */
static void a_visitor_is_told_everything_once(void **state)
{
	(void)state;
	for (size_t v = 0; v < WSI_COUNT(versions); v++) {
		static struct marks marks;
		const struct wsi_dwarf_visitor visitor = { &marks, keep, value };
		memset(&marks, 0, sizeof marks);
		(void)look(versions[v]);
		assert_true(input.info.len <= sizeof marks.info &&
			    input.abbrev.len <= sizeof marks.abbrev);
		assert_int_equal(wsi_dwarf_visit(dwarf, &visitor, NULL), WS_OK);
		for (size_t i = 0; i < input.info.len; i++)
			assert_int_equal(marks.info[i], 1);
		for (size_t i = 0; i + 1 < input.abbrev.len; i++)
			assert_int_equal(marks.abbrev[i], 1);
		assert_int_equal(marks.n_texts, 25); /* names in the case "blocks" */
		leave();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_has_its_variables_from_its_first_byte_to_its_end),
		cmocka_unit_test(
			inlined_functions_are_told_outermost_first_unless_two_claim_the_byte),
		cmocka_unit_test(places_of_every_kind),
		cmocka_unit_test(a_list_that_is_cut_says_so),
		cmocka_unit_test(the_register_map_is_read_to_its_last_byte),
		cmocka_unit_test(what_is_declared_or_has_no_place_is_no_variable_of_the_image),
		cmocka_unit_test(a_visitor_is_told_everything_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
