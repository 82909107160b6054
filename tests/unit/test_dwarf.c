/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information: what tests/builders/dwarf.py wrote, and real images. */
#include "unit.h"

#include <time.h>

#include <warpscope/cubin.h>

#include "base/file.h"
#include "base/reader.h"

/* ---- fixtures ---- */

/* The sections of a file of the builder, in memory of their own so that overreads are seen. */
struct sections {
	struct wsi_file file;
	struct ws_dwarf_input input;
};

static struct ws_dwarf_input input_of(struct ws_span bytes)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	uint32_t n_info = wsi_read_u32(&r), n_abbrev = wsi_read_u32(&r), n_str = wsi_read_u32(&r);
	struct ws_dwarf_input input = { .demangle = ws_demangle };
	input.info = wsi_read_span(&r, n_info);
	input.abbrev = wsi_read_span(&r, n_abbrev);
	input.str = wsi_read_span(&r, n_str);
	assert_false(r.failed);
	return input;
}

static struct sections sections_open(const char *name)
{
	struct sections s = { 0 };
	char path[1000];
	assert_true(wsi_format(path, "%s/dwarf/%s.dwarf", getenv("WS_TEST_BUILT"), name));
	assert_int_equal(wsi_file_open(path, &s.file, NULL), WS_OK);
	s.input = input_of(s.file.bytes);
	return s;
}

struct fixture {
	struct sections sections;
	struct ws_dwarf *dwarf;
};

static struct fixture fixture_open(const char *name)
{
	struct fixture f = { .sections = sections_open(name) };
	assert_int_equal(ws_dwarf_create(&f.sections.input, &f.dwarf, NULL), WS_OK);
	return f;
}

static void fixture_close(struct fixture *f)
{
	ws_dwarf_destroy(f->dwarf);
	wsi_file_close(&f->sections.file);
}

enum { MAX_PARAMS = 64 };

static size_t params_of(const struct ws_dwarf *dwarf, const char *name,
			struct ws_dwarf_param params[MAX_PARAMS])
{
	const struct ws_dwarf_function *function;
	size_t n = 0;
	assert_int_equal(ws_dwarf_find_function(dwarf, ws_str_of(name), &function, NULL), WS_OK);
	assert_int_equal(ws_dwarf_params(dwarf, function, params, MAX_PARAMS, &n, NULL), WS_OK);
	assert_true(n <= MAX_PARAMS);
	return n;
}

static bool is(struct ws_str text, const char *wanted)
{
	return ws_str_equal(text, ws_str_of(wanted));
}

/* Type of a parameter of the function of "kinds". */
static uint64_t type_of(const struct ws_dwarf *dwarf, const char *param)
{
	struct ws_dwarf_param params[MAX_PARAMS];
	size_t n = params_of(dwarf, "_Z5kindsv", params);
	for (size_t i = 0; i < n; i++) {
		if (is(params[i].name, param))
			return params[i].type;
	}
	fail_msg("no parameter %s", param);
	return 0;
}

/* ---- every kind of type ---- */

static const struct {
	const char *name, *type;
	uint64_t size;
} kinds[] = {
	{ "i", "int", 4 },
	{ "pcf", "float const*", 8 },
	{ "cp", "float* const", 8 },
	{ "ref", "float const&", 8 },
	{ "rref", "int&&", 8 },
	{ "v", "int volatile*", 8 },
	{ "r", "bool* __restrict__", 8 },
	{ "pv", "void*", 8 },
	{ "pn", "void*", 8 },
	{ "real", "real", 4 },
	{ "fp", "float (*)(int, real)", 8 },
	{ "ffp", "float (**)(int, real)", 8 },
	{ "more", "void (*)(int, ...)", 8 },
	{ "row", "int (*) [4]", 8 },
	{ "rows", "int (* [7]) [4]", 56 },
	{ "grid", "float (&) [2][3]", 8 },
	{ "open", "int (*) []", 8 },
	{ "mode", "ns::(anonymous namespace)::Mode", 1 },
	{ "deep", "ns::Out::In", 4 },
	{ "nested", "Nested", 64 },
	{ "bits", "Bits", 4 },
	{ "either", "{unnamed union}", 4 },
	{ "pm", "int ns::Out::*", 8 },
	{ "pmf", "float (ns::Out::*)(int, real)", 16 },
	{ "", "char", 1 },
	{ "overlap", "Holder", 8 },
	{ "bound", "int [5]", 20 },
#if WSI_HAVE_DEMANGLE
	{ "mangled", "ns::inner::Color", 4 },
	{ "sub", "ns::Base", 12 },
#else
	{ "mangled", "_ZN2ns5inner5ColorE", 4 },
	{ "sub", "N2ns4BaseE", 12 },
#endif
};

static void check_kinds(const char *file)
{
	struct fixture f = fixture_open(file);
	struct ws_dwarf_param params[MAX_PARAMS];
	size_t n = params_of(f.dwarf, "_Z5kindsv", params);
	assert_false(ws_dwarf_damage(f.dwarf, NULL));
	assert_int_equal(n, WSI_COUNT(kinds));
	for (size_t i = 0; i < n; i++) {
		char text[200];
		struct ws_type type;
		assert_true(is(params[i].name, kinds[i].name));
		assert_int_equal(params[i].address_class, WS_CLASS_REGISTER);
		assert_int_equal(ws_dwarf_spell(f.dwarf, params[i].type, text, sizeof text), WS_OK);
		assert_string_equal(text, kinds[i].type);
		assert_int_equal(ws_dwarf_type(f.dwarf, params[i].type, &type, NULL), WS_OK);
		assert_int_equal(type.size_bytes, kinds[i].size);
	}
	fixture_close(&f);
}

static void types_of_every_kind_have_names_and_sizes(void **state)
{
	(void)state;
	check_kinds("kinds");
	check_kinds("kinds-4");
	check_kinds("kinds-wide");
	check_kinds("kinds-sparse");
	check_kinds("kinds-descending");
	check_kinds("kinds-twice");
	check_kinds("two-units");
}

static void a_name_that_does_not_fit_is_cut_and_told(void **state)
{
	(void)state;
	struct fixture f = fixture_open("kinds");
	char text[8];
	assert_int_equal(ws_dwarf_spell(f.dwarf, type_of(f.dwarf, "pcf"), text, sizeof text),
			 WS_LIMIT);
	assert_string_equal(text, "float c");
	assert_int_equal(ws_dwarf_spell(f.dwarf, type_of(f.dwarf, "i"), text, sizeof text), WS_OK);
	assert_int_equal(ws_dwarf_spell(f.dwarf, type_of(f.dwarf, "i"), text, 0), WS_ARGUMENT);
	fixture_close(&f);
}

static void functions_are_found_by_linkage_name(void **state)
{
	(void)state;
	struct fixture f = fixture_open("origins");
	struct ws_dwarf_param params[MAX_PARAMS];
	const struct ws_dwarf_function *function;
	assert_int_equal(ws_dwarf_function_count(f.dwarf), 2);
	assert_true(is(ws_dwarf_function_at(f.dwarf, 0)->name, "_Z4memev"));
	assert_int_equal(params_of(f.dwarf, "_Z4memev", params), 1);
	assert_true(is(params[0].name, "p"));
	assert_int_equal(params[0].address_class, WS_CLASS_LOCAL);
	assert_int_equal(params_of(f.dwarf, "plain_c", params), 1);
	assert_true(is(params[0].name, "q"));
	assert_int_equal(params[0].address_class, WS_CLASS_NONE);
	char text[20];
	assert_int_equal(ws_dwarf_spell(f.dwarf, params[0].type, text, sizeof text), WS_OK);
	assert_string_equal(text, "int");
	assert_int_equal(ws_dwarf_find_function(f.dwarf, ws_str_of("meme"), &function, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_dwarf_find_function(f.dwarf, ws_str_of(""), &function, NULL),
			 WS_ABSENT);
	fixture_close(&f);
	f = fixture_open("shared-table");
	assert_int_equal(ws_dwarf_function_count(f.dwarf), 2);
	fixture_close(&f);
}

/* ---- members and fields ---- */

static void members_have_offsets_and_bits(void **state)
{
	(void)state;
	static const char *const files[] = { "kinds", "kinds-4" };
	for (size_t i = 0; i < WSI_COUNT(files); i++) {
		struct fixture f = fixture_open(files[i]);
		struct ws_dwarf_member m[8];
		size_t n;
		assert_int_equal(
			ws_dwarf_members(f.dwarf, type_of(f.dwarf, "nested"), m, 8, &n, NULL),
			WS_OK);
		assert_int_equal(n, 6);
		assert_true(m[0].is_base && m[0].name.len == 0);
		assert_true(is(m[1].name, "first") && m[1].offset == 0);
		assert_true(is(m[3].name, "") && m[3].offset == 16 && !m[3].is_base);
		assert_true(is(m[5].name, "name") && m[5].offset == 44);
		assert_int_equal(
			ws_dwarf_members(f.dwarf, type_of(f.dwarf, "bits"), m, 8, &n, NULL), WS_OK);
		assert_int_equal(n, 1);
		assert_int_equal(m[0].bit_size, 3);
		assert_int_equal(m[0].bit_off, 8);
		assert_int_equal(ws_dwarf_members(f.dwarf, type_of(f.dwarf, "i"), m, 8, &n, NULL),
				 WS_ARGUMENT);
		fixture_close(&f);
	}
}

static const struct {
	const char *param;
	uint64_t offset;
	enum ws_status status;
	const char *path, *type;
	uint64_t start;
} paths[] = {
	{ "nested", 0, WS_OK, "first", "float const*", 0 }, /* not the empty base */
	{ "nested", 7, WS_OK, "first", "float const*", 0 },
	{ "nested", 8, WS_ABSENT, "", "", 0 }, /* `out` has nothing there */
	{ "nested", 12, WS_OK, "out.in.v", "int", 12 },
	{ "nested", 16, WS_ABSENT, "", "", 0 }, /* in a union without a name */
	{ "nested", 20, WS_OK, "grid[0][0].v", "int", 20 },
	{ "nested", 39, WS_OK, "grid[1][1].v", "int", 36 },
	{ "nested", 43, WS_OK, "grid[1][2].v", "int", 40 },
	{ "nested", 46, WS_OK, "name[2]", "char", 46 },
	{ "nested", 48, WS_ABSENT, "", "", 0 }, /* padding */
	{ "nested", 64, WS_ABSENT, "", "", 0 },
	{ "nested", UINT64_MAX, WS_ABSENT, "", "", 0 },
	{ "rows", 17, WS_OK, "[2]", "int (*) [4]", 16 },
	{ "rows", 56, WS_ABSENT, "", "", 0 },
	{ "overlap", 4, WS_OK, "in", "Overlap", 0 },
	{ "i", 0, WS_ABSENT, "", "", 0 },
	{ "open", 0, WS_ABSENT, "", "", 0 },
	{ "either", 0, WS_ABSENT, "", "", 0 },
	{ "bits", 0, WS_ABSENT, "", "", 0 }, /* a bit-field is no bytes */
	{ "bits", 1, WS_ABSENT, "", "", 0 },
};

static void a_byte_leads_to_its_field(void **state)
{
	(void)state;
	struct fixture f = fixture_open("kinds");
	for (size_t i = 0; i < WSI_COUNT(paths); i++) {
		char path[40], text[40];
		struct ws_dwarf_field field;
		enum ws_status st =
			ws_dwarf_find_field(f.dwarf, type_of(f.dwarf, paths[i].param),
					    paths[i].offset, path, sizeof path, &field, NULL);
		assert_int_equal(st, paths[i].status);
		if (st != WS_OK)
			continue;
		assert_string_equal(path, paths[i].path);
		assert_int_equal(field.offset, paths[i].start);
		assert_int_equal(ws_dwarf_spell(f.dwarf, field.type, text, sizeof text), WS_OK);
		assert_string_equal(text, paths[i].type);
	}
	char path[6];
	struct ws_dwarf_field field;
	assert_int_equal(ws_dwarf_find_field(f.dwarf, type_of(f.dwarf, "nested"), 12, path,
					     sizeof path, &field, NULL),
			 WS_LIMIT);
	fixture_close(&f);
}

static void values_of_an_enumeration_have_names(void **state)
{
	(void)state;
	struct fixture f = fixture_open("kinds");
	uint64_t mode = type_of(f.dwarf, "mode");
	struct ws_str name;
	assert_int_equal(ws_dwarf_enumerator(f.dwarf, mode, 200, &name, NULL), WS_OK);
	assert_true(is(name, "B"));
	assert_int_equal(ws_dwarf_enumerator(f.dwarf, mode, -1, &name, NULL), WS_OK);
	assert_true(is(name, "C"));
	assert_int_equal(ws_dwarf_enumerator(f.dwarf, mode, 7, &name, NULL), WS_ABSENT);
	fixture_close(&f);
}

/* ---- damage ---- */

static void damage_costs_the_unit_from_there_on(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum ws_status status;
		bool before;
		uint64_t file_off;
		const char *message;
	} cases[] = {
		{ "unknown-form", WS_UNSUPPORTED, true, 0x48,
		  "debug information: unknown form 0x1f01" },
		{ "huge-attribute", WS_MALFORMED, true, 0xcd,
		  "an abbreviation has attribute 0x7fffffff of form 0xb" },
		{ "huge-tag", WS_MALFORMED, true, 0xc9, "an abbreviation has tag 0x12345678" },
		{ "version-5", WS_UNSUPPORTED, false, 0xc,
		  "debug information: a unit of DWARF version 5" },
		{ "wide-address", WS_UNSUPPORTED, false, 0xc,
		  "debug information: addresses of 16 bytes" },
		{ "no-abbreviation", WS_MALFORMED, true, 0x49,
		  "debug information: no abbreviation 0x7f" },
		{ "endless-number", WS_TRUNCATED, true, 0x48,
		  "debug information: an entry is cut off" },
		{ "wide-number", WS_TRUNCATED, true, 0x48,
		  "debug information: an entry is cut off" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct fixture f = fixture_open(cases[i].file);
		const struct ws_dwarf_function *function;
		struct ws_error err;
		assert_true(ws_dwarf_damage(f.dwarf, &err));
		assert_int_equal(err.status, cases[i].status);
		assert_int_equal(err.file_off, cases[i].file_off);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(
			ws_dwarf_find_function(f.dwarf, ws_str_of("before"), &function, NULL),
			cases[i].before ? WS_OK : WS_ABSENT);
		assert_int_equal(
			ws_dwarf_find_function(f.dwarf, ws_str_of("lost"), &function, NULL),
			WS_ABSENT);
		assert_int_equal(
			ws_dwarf_find_function(f.dwarf, ws_str_of("after"), &function, NULL),
			WS_OK);
		fixture_close(&f);
	}
	struct fixture f = fixture_open("many-ends");
	assert_false(ws_dwarf_damage(f.dwarf, NULL));
	fixture_close(&f);
}

/* A table of abbreviations that is cut says where its bytes end, in the file. */
static void a_table_that_is_cut_says_where(void **state)
{
	enum { ORIGIN = 0x5000, LEAST = 5 /* bytes of a declaration */ };
	(void)state;
	struct sections s = sections_open("kinds");
	const struct ws_span whole = s.input.abbrev;
	for (size_t len = LEAST; len < whole.len; len++) {
		struct ws_dwarf *dwarf;
		struct ws_error err;
		s.input.abbrev = (struct ws_span){ whole.ptr, len, ORIGIN };
		assert_int_equal(ws_dwarf_create(&s.input, &dwarf, NULL), WS_OK);
		assert_true(ws_dwarf_damage(dwarf, &err));
		assert_int_equal(err.status, WS_TRUNCATED);
		/* a number that is cut begins a byte before */
		assert_in_range(err.file_off, ORIGIN + len - 1, ORIGIN + len);
		ws_dwarf_destroy(dwarf);
	}
	wsi_file_close(&s.file);
}

static void types_in_a_circle_are_told(void **state)
{
	(void)state;
	struct fixture f = fixture_open("circles");
	struct ws_dwarf_param params[MAX_PARAMS];
	size_t n = params_of(f.dwarf, "circles", params);
	assert_int_equal(n, 10);
	for (size_t i = 0; i < n; i++) {
		char text[100];
		struct ws_type type;
		struct ws_dwarf_field field;
		uint64_t plain;
		enum ws_status st = ws_dwarf_type(f.dwarf, params[i].type, &type, NULL);
		enum ws_status named = ws_dwarf_spell(f.dwarf, params[i].type, text, sizeof text);
		/* const, alias, array; the other two name what is no type */
		bool sized = i == 2 || i == 4 || i == 5 || i == 6;
		assert_int_equal(st == WS_OK, sized);
		/* an alias, a structure, the broken references end in a name */
		assert_int_equal(named == WS_OK, i == 1 || i == 6 || i >= 8);
		(void)!ws_dwarf_plain(f.dwarf, params[i].type, &plain, NULL);
		assert_int_not_equal(ws_dwarf_find_field(f.dwarf, params[i].type, 4, text,
							 sizeof text, &field, NULL),
				     WS_OK);
	}
	fixture_close(&f);
}

static void asked_about_anything_else_it_refuses(void **state)
{
	(void)state;
	struct fixture f = fixture_open("kinds");
	struct ws_type type;
	uint64_t plain;
	size_t n;
	for (uint64_t off = 1; off < f.sections.input.info.len + 20; off++) {
		char text[64];
		struct ws_dwarf_field field;
		(void)!ws_dwarf_type(f.dwarf, off, &type, NULL);
		(void)!ws_dwarf_spell(f.dwarf, off, text, sizeof text);
		(void)!ws_dwarf_members(f.dwarf, off, NULL, 0, &n, NULL);
		(void)!ws_dwarf_find_field(f.dwarf, off, off % 64, text, sizeof text, &field, NULL);
		(void)!ws_dwarf_plain(f.dwarf, off, &plain, NULL);
	}
	assert_int_equal(ws_dwarf_type(f.dwarf, 3, &type, NULL), WS_ARGUMENT);
	assert_int_equal(ws_dwarf_type(f.dwarf, UINT64_MAX, &type, NULL), WS_ARGUMENT);
	assert_int_equal(ws_dwarf_type(f.dwarf, WS_TYPE_VOID, &type, NULL), WS_OK);
	assert_int_equal(type.kind, WS_KIND_VOID);
	struct ws_dwarf_input none = { 0 };
	struct ws_dwarf *dwarf;
	assert_int_equal(ws_dwarf_create(&none, &dwarf, NULL), WS_ABSENT);
	fixture_close(&f);
}

/* Asks everything about every function. */
static void ask_all(const struct ws_dwarf_input *input)
{
	struct ws_dwarf *dwarf;
	if (ws_dwarf_create(input, &dwarf, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < ws_dwarf_function_count(dwarf); i++) {
		struct ws_dwarf_param params[MAX_PARAMS];
		size_t n = 0;
		const struct ws_dwarf_function *function = ws_dwarf_function_at(dwarf, i);
		if (ws_dwarf_params(dwarf, function, params, MAX_PARAMS, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n && k < MAX_PARAMS; k++) {
			char text[300];
			struct ws_type type;
			struct ws_dwarf_field field;
			struct ws_dwarf_member members[16];
			size_t n_members = 0;
			(void)!ws_dwarf_spell(dwarf, params[k].type, text, sizeof text);
			(void)!ws_dwarf_type(dwarf, params[k].type, &type, NULL);
			(void)!ws_dwarf_find_field(dwarf, params[k].type, 3, text, sizeof text,
						   &field, NULL);
			(void)!ws_dwarf_members(dwarf, params[k].type, members, 16, &n_members,
						NULL);
		}
	}
	ws_dwarf_destroy(dwarf);
}

/* A copy that ends where its memory does. */
static uint8_t *copy_of(struct ws_span from, size_t len)
{
	uint8_t *bytes = wsi_zalloc(len ? len : 1);
	assert_non_null(bytes);
	if (len)
		memcpy(bytes, from.ptr, len);
	return bytes;
}

static void any_cut_and_any_flipped_bit_is_survived(void **state)
{
	(void)state;
	struct sections s = sections_open("kinds");
	struct ws_span *parts[] = { &s.input.info, &s.input.abbrev, &s.input.str };
	for (size_t p = 0; p < WSI_COUNT(parts); p++) {
		struct ws_span whole = *parts[p];
		for (size_t len = 0; len < whole.len; len++) {
			uint8_t *cut = copy_of(whole, len);
			*parts[p] = (struct ws_span){ cut, len, 0 };
			ask_all(&s.input);
			wsi_free(cut);
		}
		uint8_t *copy = copy_of(whole, whole.len);
		*parts[p] = (struct ws_span){ copy, whole.len, 0 };
		for (size_t bit = 0; bit < 8 * whole.len; bit++) {
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			ask_all(&s.input);
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		wsi_free(copy);
		*parts[p] = whole;
	}
	wsi_file_close(&s.file);
}

static double seconds(void)
{
	struct timespec now;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void few_bytes_cannot_ask_for_much(void **state)
{
	(void)state;
	static const char *const files[] = { "overlapping-tables", "one-long-name",
					     "one-long-string",    "deep-scopes",
					     "wide-structures",    "fan" };
	for (size_t i = 0; i < WSI_COUNT(files); i++) {
		struct sections s = sections_open(files[i]);
		double before = seconds();
		ask_all(&s.input);
		assert_true(seconds() - before < 5); /* measured: under 0.1 */
		wsi_file_close(&s.file);
	}
	struct fixture f = fixture_open("overlapping-tables");
	struct ws_error err;
	assert_true(ws_dwarf_damage(f.dwarf, &err));
	assert_int_equal(err.status, WS_LIMIT);
	assert_int_equal(ws_dwarf_function_count(f.dwarf), 1);
	fixture_close(&f);
	f = fixture_open("one-long-name");
	/* names of other entries cost so much of the budget that later functions have none */
	assert_true(ws_dwarf_function_count(f.dwarf) < 30);
	fixture_close(&f);
	f = fixture_open("hollow-entries");
	assert_true(ws_dwarf_damage(f.dwarf, &err));
	assert_int_equal(err.status, WS_LIMIT);
	fixture_close(&f);
	f = fixture_open("tiny-children");
	struct ws_dwarf_param params[MAX_PARAMS];
	size_t n;
	assert_int_equal(params_of(f.dwarf, "tiny", params), 1);
	assert_int_equal(ws_dwarf_members(f.dwarf, params[0].type, NULL, 0, &n, &err), WS_LIMIT);
	assert_string_equal(err.message, "debug information: too many entries");
	fixture_close(&f);
	f = fixture_open("long-members");
	assert_int_equal(params_of(f.dwarf, "names", params), 1);
	assert_int_equal(ws_dwarf_members(f.dwarf, params[0].type, NULL, 0, &n, &err), WS_LIMIT);
	assert_string_equal(err.message, "debug information: too many entries");
	fixture_close(&f);
	f = fixture_open("long-entry");
	assert_int_equal(params_of(f.dwarf, "long_entry", params), 1);
	assert_int_equal(ws_dwarf_members(f.dwarf, params[0].type, NULL, 0, &n, &err), WS_LIMIT);
	assert_string_equal(err.message, "debug information: an entry is too long");
	fixture_close(&f);
}

static int allocations_left;

static bool fails_in_turn(void)
{
	return allocations_left-- == 0;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct sections s = sections_open("two-units");
	enum ws_status st = WS_NO_MEMORY;
	int turn = 0;
	for (; st == WS_NO_MEMORY; turn++) {
		struct ws_dwarf *dwarf = NULL;
		allocations_left = turn;
		wsi_alloc_should_fail = fails_in_turn;
		st = ws_dwarf_create(&s.input, &dwarf, NULL);
		wsi_alloc_should_fail = NULL;
		ws_dwarf_destroy(dwarf);
	}
	assert_int_equal(st, WS_OK);
	assert_true(turn > 5);
	wsi_file_close(&s.file);
}

/* ---- real images ---- */

struct image {
	struct wsi_file file;
	struct ws_cubin *cubin;
};

static struct image image_open(const char *folder_variable, const char *name)
{
	struct image image = { 0 };
	char path[1000];
	assert_true(wsi_format(path, "%s/%s", getenv(folder_variable), name));
	assert_int_equal(wsi_file_open(path, &image.file, NULL), WS_OK);
	assert_int_equal(ws_cubin_open(image.file.bytes, &image.cubin, NULL), WS_OK);
	return image;
}

static void image_close(struct image *image)
{
	ws_cubin_close(image->cubin);
	wsi_file_close(&image->file);
}

/* checksum(const char *bytes, int step, int rows, int *out) and fold(Cursor, int) of calls.cu. */
static void check_calls(struct image *image)
{
	const struct ws_dwarf *dwarf;
	struct ws_dwarf_param params[MAX_PARAMS];
	struct ws_dwarf_field field;
	char text[40];
	assert_int_equal(ws_cubin_dwarf(image->cubin, &dwarf, NULL), WS_OK);
	assert_false(ws_dwarf_damage(dwarf, NULL));
	assert_int_equal(ws_dwarf_function_count(dwarf), 4);
	assert_int_equal(params_of(dwarf, "_Z8checksumPKciiPi", params), 4);
	assert_true(is(params[0].name, "bytes") && is(params[3].name, "out"));
	assert_int_equal(ws_dwarf_spell(dwarf, params[0].type, text, sizeof text), WS_OK);
	assert_string_equal(text, "char const*");
	assert_int_equal(params_of(dwarf, "_Z4fold6Cursori", params), 2);
	assert_int_equal(params[0].address_class, WS_CLASS_LOCAL);
	assert_int_equal(
		ws_dwarf_find_field(dwarf, params[0].type, 8, text, sizeof text, &field, NULL),
		WS_OK);
	assert_string_equal(text, "step");
}

static void images_of_every_form_name_their_parameters(void **state)
{
	(void)state;
	static const char *const plain[] = { "calls.G.sm_80.cubin", "calls.G.sm_90.cubin",
					     "calls.G.sm_100.cubin" };
	static const char *const relocated[] = {
		"calls.G.sm_90.both.cubin",      "calls.G.sm_90.symbols.cubin",
		"calls.G.sm_90.sections.cubin",  "calls.G.sm_90.both+keep.cubin",
		"calls.G.sm_90.both+abi7.cubin",
	};
	for (size_t i = 0; i < WSI_COUNT(plain); i++) {
		struct image image = image_open("WS_TEST_CUBINS", plain[i]);
		check_calls(&image);
		image_close(&image);
	}
	for (size_t i = 0; i < WSI_COUNT(relocated); i++) {
		struct image image = image_open("WS_TEST_BUILT", relocated[i]);
		check_calls(&image);
		image_close(&image);
	}
}

/* sums(const int *in, int *out, span part, float scale) and nothing() of clang_shared.cu. */
static void variables_before_the_parameters_are_passed_over(void **state)
{
	(void)state;
	struct image image = image_open("WS_TEST_CUBINS", "shared.clang.sm_80.cubin");
	const struct ws_dwarf *dwarf;
	struct ws_dwarf_param params[MAX_PARAMS];
	assert_int_equal(ws_cubin_dwarf(image.cubin, &dwarf, NULL), WS_OK);
	assert_int_equal(params_of(dwarf, "_Z4sumsPKiPi4spanf", params), 4);
	assert_true(is(params[0].name, "in") && is(params[1].name, "out") &&
		    is(params[2].name, "part") && is(params[3].name, "scale"));
	assert_int_equal(params_of(dwarf, "_Z7nothingv", params), 0);
	image_close(&image);
}

static void an_image_with_lines_alone_says_so(void **state)
{
	(void)state;
	struct image image = image_open("WS_TEST_CUBINS", "calls.li.sm_90.cubin");
	const struct ws_dwarf *dwarf;
	struct ws_error err;
	assert_int_equal(ws_cubin_dwarf(image.cubin, &dwarf, &err), WS_ABSENT);
	assert_non_null(strstr(err.message, "-G"));
	assert_int_equal(ws_cubin_dwarf(image.cubin, &dwarf, NULL), WS_ABSENT);
	image_close(&image);
}

/* A unit says what it is, wherever in it is asked; what is in none has none. */
static void a_place_leads_to_its_unit(void **state)
{
	(void)state;
	struct fixture f = fixture_open("kinds");
	struct ws_dwarf_unit unit;
	struct ws_error err;
	for (size_t i = 0; i < ws_dwarf_function_count(f.dwarf); i++) {
		const struct ws_dwarf_function *function = ws_dwarf_function_at(f.dwarf, i);
		assert_int_equal(ws_dwarf_unit(f.dwarf, function->info_off, &unit, NULL), WS_OK);
		assert_true(is(unit.name, "unit.cu"));
		assert_true(is(unit.dir, "/src/unit"));
		assert_int_equal(unit.language, 4);
	}
	const uint64_t end = f.sections.input.info.len;
	assert_int_equal(ws_dwarf_unit(f.dwarf, end, &unit, &err), WS_ARGUMENT);
	assert_int_equal(ws_dwarf_unit(f.dwarf, 0, &unit, &err), WS_ARGUMENT);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_of_every_kind_have_names_and_sizes),
		cmocka_unit_test(a_name_that_does_not_fit_is_cut_and_told),
		cmocka_unit_test(functions_are_found_by_linkage_name),
		cmocka_unit_test(members_have_offsets_and_bits),
		cmocka_unit_test(a_byte_leads_to_its_field),
		cmocka_unit_test(a_place_leads_to_its_unit),
		cmocka_unit_test(values_of_an_enumeration_have_names),
		cmocka_unit_test(damage_costs_the_unit_from_there_on),
		cmocka_unit_test(a_table_that_is_cut_says_where),
		cmocka_unit_test(types_in_a_circle_are_told),
		cmocka_unit_test(asked_about_anything_else_it_refuses),
		cmocka_unit_test(any_cut_and_any_flipped_bit_is_survived),
		cmocka_unit_test(few_bytes_cannot_ask_for_much),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(images_of_every_form_name_their_parameters),
		cmocka_unit_test(variables_before_the_parameters_are_passed_over),
		cmocka_unit_test(an_image_with_lines_alone_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
