/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of a kernel with debug information, as tests/builders/variables.py wrote it: each kind
 * of place, what is said of those that are not there, and how values of each kind are printed.
 */
#include "unit.h"

#include <warpscope/focus.h>
#include <warpscope/vars.h>

#include "base/file.h"
#include "target/fake.h"

enum { PC = 32 };

static struct fake fake;
static struct wsi_file image;
static struct ws_focus focus;
static struct ws_vars *vars;

/* P and UP differ; the halves of UR i are 0xa000 + i and 0xb000 + i. */
static enum ws_status registers(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				enum ws_reg_kind kind, uint32_t first, uint32_t n,
				uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err)
{
	(void)target, (void)warp_index, (void)lane;
	if (kind == WS_REG_R && first + n > WSI_COUNT(fake.registers))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "not recorded");
	for (uint32_t i = first; i < first + n; i++)
		ret_values[i - first] = kind == WS_REG_R    ? fake.registers[i]
					: kind == WS_REG_UR ? 0xb000a000 + 0x10001 * i
					: kind == WS_REG_P  ? i & 1
							    : ~i & 1;
	*ret_n = n;
	return WS_OK;
}

static int look(void **state)
{
	char path[1000];
	(void)state;
	assert_true(wsi_format(path, "%s/variables.cubin", getenv("WS_TEST_BUILT")));
	assert_int_equal(wsi_file_open(path, &image, NULL), WS_OK);
	fake_init_still(&fake);
	fake.ops.registers = registers;
	fake.module[0].relocated = image.bytes;
	fake.n_callers[0][0] = 0;
	for (uint32_t i = 0; i < WSI_COUNT(fake.registers); i++)
		fake.registers[i] = 0x50004000 + 0x10001 * i;
	fake.registers[5] = 0x1000; /* a pointer to local memory */
	memset(fake.shared, 0, sizeof fake.shared);
	fake.lane[0][0].pc = FAKE_CODE + PC;
	assert_int_equal(ws_focus_find(&fake.target, &focus, NULL), WS_OK);
	focus.lane = 0;
	assert_int_equal(ws_vars_create(&fake.target, &vars, NULL), WS_OK);
	return ws_vars_look(vars, &focus, NULL) != WS_OK;
}

static int leave(void **state)
{
	(void)state;
	ws_vars_destroy(vars);
	ws_target_close(&fake.target);
	wsi_file_close(&image);
	return 0;
}

/* ---- what is printed ---- */

struct text {
	char at[4000];
	size_t len;
};

static bool keep(void *user, const char *bytes, size_t len)
{
	struct text *text = user;
	assert_true(text->len + len < sizeof text->at);
	memcpy(text->at + text->len, bytes, len);
	text->len += len;
	text->at[text->len] = 0;
	return true;
}

/* What `print` writes; of what fails, "!" and why. "/x " before the text is a format. */
static struct text said(const char *text)
{
	struct text ret = { "", 0 };
	struct ws_value value;
	struct ws_error err = { .message = "" };
	struct ws_value_format format = { .is_whole = true };
	struct ws_out out;
	if (text[0] == '/') {
		format.letter = text[1];
		text += 3;
	}
	ws_out_init(&out, keep, &ret);
	if (ws_vars_evaluate(vars, text, &value, &err) != WS_OK)
		(void)snprintf(ret.at, sizeof ret.at, "!%s", err.message);
	else
		(void)!ws_vars_print(vars, &value, format, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	return ret;
}

static struct ws_variable_value variable_of(const char *name)
{
	static struct ws_variable_value list[200];
	size_t n;
	assert_int_equal(ws_vars_list(vars, list, WSI_COUNT(list), &n, NULL), WS_OK);
	assert_true(n <= WSI_COUNT(list));
	for (size_t i = 0; i < n; i++)
		if (ws_str_equal(list[i].variable.name, ws_str_of(name)))
			return list[i];
	fail_msg("no variable %s", name);
	return list[0];
}

/* "" where it has no place. */
static struct text place_of(const char *name)
{
	struct text ret = { "", 0 };
	struct ws_variable_value variable = variable_of(name);
	struct ws_out out;
	ws_out_init(&out, keep, &ret);
	enum ws_status st = ws_vars_print_place(vars, &variable, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(st, ret.len ? WS_OK : WS_ABSENT);
	return ret;
}

struct row {
	const char *text, *wanted;
};

static void check(const struct row *rows, size_t n)
{
	bool good = true;
	for (size_t i = 0; i < n; i++) {
		struct text got = said(rows[i].text);
		if (strcmp(got.at, rows[i].wanted) != 0) {
			print_message("%s\n   is %s\n  not %s\n", rows[i].text, got.at,
				      rows[i].wanted);
			good = false;
		}
	}
	assert_true(good);
}

#define CHECK(...)                                            \
	do {                                                  \
		static const struct row rows[] = __VA_ARGS__; \
		check(rows, WSI_COUNT(rows));                 \
	} while (0)

/* ---- places ---- */

static const char not_in_dump[] = "<not in the dump>", not_live[] = "<not live at this pc>";

static const struct {
	const char *name, *place, *value, *in_caller; /* NULL: the same */
} places[] = {
	{ "whole", "$R4", "0x50044004", "<not saved>" },
	{ "lower", "the lower half of $R3", "0x4003", "<not saved>" },
	{ "upper", "the upper half of $R3", "0x5003", "<not saved>" },
	{ "ulower", "the lower half of $UR3", "0xa003", "<not saved>" },
	{ "uupper", "the upper half of $UR3", "0xb003", "<not saved>" },
	{ "uniform", "$UR5", "0xb005a005", "<not saved>" },
	{ "no", "$P2", "0x0", "<not saved>" },
	{ "yes", "$P3", "0x1", "<not saved>" },
	{ "uno", "$UP3", "0x0", "<not saved>" },
	{ "uyes", "$UP2", "0x1", "<not saved>" },
	{ "zero", "$R255", "0x0", NULL },                     /* of every frame */
	{ "spilled", "(@local) 0x103c", "0x3f3e3d3c", NULL }, /* the last of it */
	{ "beyond", "(@local) 0x1040", not_in_dump, NULL },
	{ "indirect", "(@local) $R5 + 0x24", "0x27262524", "<not saved>" },
	{ "lost", "(@local) $R40 + 0x24", not_in_dump, "<not saved>" },
	{ "odd", "a register of an unknown class", "<not supported>", NULL },
	{ "gone", "$R40", not_in_dump, "<not saved>" },
	{ "unnamed", "", "<optimized out>", NULL },
	{ "nowhere", "", "<optimized out>", NULL },
	{ "pair", "$R8 and $R9", "0x5009400950084008", "<not saved>" },
	{ "swapped", "$R9 and $R8", "0x5008400850094009", "<not saved>" },
	{ "twice", "$R8 and $R8", "0x5008400850084008", "<not saved>" },
	{ "mixed", "$R8 and (@local) 0x1010", "0x1312111050084008", "<not saved>" },
	{ "low", "$R8", not_live, "<not saved>" }, /* of 8 bytes the lower 4 are live */
	{ "high", "$R8", not_live, "<not saved>" },
	{ "hole", "$R8 and $R9", not_live, "<not saved>" },
	{ "late", "$R8 and $R9", not_live, "<not saved>" },
	{ "four", "$R8, $R9, $R10 and $UR5",
	  "{x = 0x50084008, y = 0x50094009, z = 0x500a400a, w = 0xb005a005}", "<not saved>" },
	{ "three", "$R8, $R9 and $R10", not_live, "<not saved>" },
	{ "known", "", "0xfffffffb", NULL },
	{ "real", "(@shared) 0x0", "0x0", NULL },
};

static void a_variable_is_where_the_register_map_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(places); i++) {
		char text[40];
		assert_true(wsi_format(text, "/x %s", places[i].name));
		assert_string_equal(place_of(places[i].name).at, places[i].place);
		assert_string_equal(said(text).at, places[i].value);
	}
}

/* A callee that has no call frames may have changed every register of its caller. */
static void registers_of_a_caller_are_not_those_of_the_thread(void **state)
{
	(void)state;
	fake.n_callers[0][0] = 1;
	fake.callers[0] = (struct ws_return_address){ 0, FAKE_CODE + 64, 64 };
	for (uint32_t i = 0; i < WS_MAX_LANES; i++)
		fake.lane[0][i].syscall_call_depth = 0;
	fake.lane[0][0].pc = 0x30000000; /* code of no image */
	assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
	assert_int_equal(ws_vars_select(vars, 1, NULL), WS_OK);
	for (size_t i = 0; i < WSI_COUNT(places); i++) {
		char text[40];
		assert_true(wsi_format(text, "/x %s", places[i].name));
		assert_string_equal(said(text).at,
				    places[i].in_caller ? places[i].in_caller : places[i].value);
	}
}

/* A block of the function has its variables at its instructions; a caller stands at its call, which
 * may be the last of one. */
static void variables_of_a_block_are_there_within_it(void **state)
{
	static const struct {
		unsigned pc;
		bool is_caller;
		const char *inner, *early, *call, *behind;
	} rows[] = {
		{ 0x00, false, NULL, NULL, NULL, NULL }, { 0x10, false, "16", "16", NULL, NULL },
		{ 0x1f, false, "16", "16", NULL, NULL }, { 0x20, false, NULL, NULL, NULL, NULL },
		{ 0x30, false, "48", NULL, "48", NULL }, { 0x40, false, "64", NULL, NULL, "64" },
		{ 0x30, true, NULL, NULL, NULL, NULL },  { 0x40, true, "48", NULL, "48", NULL },
		{ 0x50, true, "64", NULL, NULL, "64" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		fake.n_callers[0][0] = rows[i].is_caller;
		fake.callers[0] =
			(struct ws_return_address){ 0, FAKE_CODE + rows[i].pc, rows[i].pc };
		for (uint32_t k = 0; k < WS_MAX_LANES; k++)
			fake.lane[0][k].syscall_call_depth = 0;
		fake.lane[0][0].pc = rows[i].is_caller ? 0x30000000 : FAKE_CODE + rows[i].pc;
		assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
		assert_int_equal(ws_vars_select(vars, rows[i].is_caller, NULL), WS_OK);
		const char *const names[] = { "inner", "early", "call", "behind" };
		const char *const wanted[] = { rows[i].inner, rows[i].early, rows[i].call,
					       rows[i].behind };
		for (size_t k = 0; k < WSI_COUNT(names); k++) {
			struct text got = said(names[k]);
			if (wanted[k] ? strcmp(got.at, wanted[k]) != 0 : got.at[0] != '!')
				fail_msg("at 0x%x %s is %s", rows[i].pc, names[k], got.at);
		}
	}
}

/* By its call frames the callee keeps the stack pointer and R4, and may change the others. */
static void registers_of_a_caller_with_call_frames(void **state)
{
	(void)state;
	fake.n_callers[0][0] = 1;
	fake.callers[0] = (struct ws_return_address){ 0, FAKE_CODE + 0xb0, 0xb0 };
	for (uint32_t k = 0; k < WS_MAX_LANES; k++)
		fake.lane[0][k].syscall_call_depth = 0;
	fake.lane[0][0].pc = FAKE_CODE + 0x120;
	assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
	assert_int_equal(ws_vars_select(vars, 1, NULL), WS_OK);
	CHECK({
		{ "/x $R0", "<not saved>" },
		{ "/x $R1", "0x50014001" }, /* the stack pointer: the callee has no frame */
		{ "/x $R4", "0x50044004" }, /* where it returns to */
		{ "/x $R15", "<not saved>" },
		{ "$R255", "0" },
		{ "$RD254", "<not saved>" },
		{ "/x whole", "0x50044004" },
		{ "pair", "<not saved>" },
		{ "yes", "<not saved>" },
	});
}

/* ---- values ---- */

static void set_shared(const char *bytes, size_t n)
{
	memset(fake.shared, 0, sizeof fake.shared);
	memcpy(fake.shared, bytes, n);
}

/* What is no number has the bits of its fraction, as gdb has it. */
static void values_that_are_no_number(void **state)
{
	static const struct {
		char bytes[9];
		const char *name, *wanted;
	} rows[] = {
		{ "\0\0\xc0\x7f", "single", "nan(0x400000)" },
		{ "\1\0\xc0\xff", "single", "-nan(0x400001)" },
		{ "\0\0\x80\x7f", "single", "inf" },
		{ "\0\0\x80\xff", "single", "-inf" },
		{ "\0\0\0\0\0\0\xf8\x7f", "real", "nan(0x8000000000000)" },
		{ "\5\0\0\0\0\0\xf8\xff", "real", "-nan(0x8000000000005)" },
		{ "\0\0\0\0\0\0\xf0\xff", "real", "-inf" },
		{ "\0\0\xc0\x7f", "/f 2143289344", "nan(0x400000)" },
		{ "\0\0\0\0", "wide", "<a number of an unknown kind>" },
		{ "\0\0\0\0", "wide + 1", "!the value is not a number" },
		{ "\1", "color", "RED" },
		{ "\xc8", "color", "BLUE" }, /* 200, though the type does not say it is unsigned */
		{ "\xc9", "color", "-55" },
		{ "\2", "color", "2" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		set_shared(rows[i].bytes, 8);
		assert_string_equal(said(rows[i].name).at, rows[i].wanted);
	}
}

static void structures_become_others_of_their_size(void **state)
{
	(void)state;
	set_shared("\0\0\x80\x3f"
		   "abc\0",
		   8);
	CHECK({
		{ "(Mixed)ints", "{f = 1, c = \"abc\"}" },
		{ "((Mixed)ints).c[1]", "98 'b'" },
		{ "(Ints)mix", "{a = 1065353216, b = 6513249}" },
		{ "(Ints)either", "{a = 1065353216, b = 6513249}" },
		{ "(Half)ints", "!a value cannot become one of that type" },
		{ "(Ints)half", "!a value cannot become one of that type" },
		{ "(int)half", "!the value is not a number" },
		{ "&(Mixed)ints", "(@shared Mixed*) 0x0" },
		{ "/x (Mixed)boxed", "{f = 0x50084008, c = {0x9, 0x40, 0x9, 0x50}}" },
		{ "/x boxed.b", "0x50094009" },
		{ "&boxed", "!Attempt to take address of value not located in memory" },
	});
}

static void what_cannot_be_printed(void **state)
{
	(void)state;
	set_shared("\1\0\0\0\2\0\0\0", 8);
	CHECK({
		{ "broken", "{in = 1, out = <damaged debug information>, "
			    "big = <damaged debug information>}" },
		{ "empty", "{<No data fields>}" },
		{ "open", "<its size is not known, or too large>" },
		{ "huge", "<its size is not known, or too large>" },
		{ "large", "<not recorded>" },
		{ "huge[4]", "2 '\\002'" },
		{ "open[1]", "2" },
		{ "ints.c", "!There is no member named c" },
		{ "bits", "{low = 1, top = 0, all = 1}" },
		{ "known + 1", "-4" },
	});
	set_shared("\0\0\0\xa0", 4);
	CHECK({ { "bits", "{low = 0, top = -3, all = 2684354560}" } });
}

/* Structures are followed to a depth; what lies deeper is shown as such. */
static void structures_within_structures(void **state)
{
	(void)state;
	CHECK({
		{ "deep19", "{m = {m = {m = {m = {m = {m = {m = {m = {m = {m = "
			    "{m = {m = {m = {m = {m = {m = {m = {m = {m = 0}}}}}}}}}}}}}}}}}}}" },
		{ "deep20",
		  "{m = {m = {m = {m = {m = {m = {m = {m = {m = {m = "
		  "{m = {m = {m = {m = {m = {m = {m = {m = {m = {m = {...}}}}}}}}}}}}}}}}}}}}}" },
	});
}

static void references(void **state)
{
	(void)state;
	set_shared("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x7\0\0\0", 20);
	CHECK({
		{ "reference", "(@shared int&) @0x10: 7" },
		{ "/x rvalue", "(@shared int&&) @0x10: 0x7" },
		{ "reference + 1", "8" },
		{ "rvalue * 2", "14" },
		{ "&reference", "(@shared int*) 0x10" },
		{ "sizeof(reference)", "8" },
		{ "(char)rvalue", "7 '\\a'" },
		{ "holder", "{to = @0x10}" },
		{ "*reference", "<not recorded>" }, /* the long at 7 */
	});
}

static void types_are_described(void **state)
{
	static const struct row rows[] = {
		{ "qualified", "const volatile struct Ints {\n    int a;\n    int b;\n}" },
		{ "&ints", "@shared struct Ints {\n    int a;\n    int b;\n} *" },
		{ "either", "union Either {\n    int i;\n    long q;\n}" },
		{ "color", "enum Color {RED = 1, BLUE = 200}" },
		{ "bits", "struct Bits {\n    unsigned int low : 3;\n    int top : 3;\n"
			  "    unsigned int all : 32;\n}" },
		{ "mix", "struct Mixed {\n    float f;\n    char c[4];\n}" },
		{ "holder", "struct Holder {\n    int &to;\n}" },
		{ "reference", "int&" },
		{ "empty", "struct Empty {\n}" },
		{ "known", "int" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct text got = { "", 0 };
		struct ws_vtype type;
		struct ws_out out;
		ws_out_init(&out, keep, &got);
		assert_int_equal(ws_vars_type(vars, rows[i].text, &type, NULL), WS_OK);
		ws_vars_describe(vars, &type, &out);
		assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		assert_string_equal(got.at, rows[i].wanted);
	}
}

/* ---- conditions: of other lanes ---- */

/* Register i of a lane has its number in the lower half, the lane above; P3 is set in odd lanes. */
static bool reg_of(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
		   uint32_t words, unsigned lane, uint64_t *ret_bits)
{
	(void)arrival;
	*ret_bits = kind == WS_REG_P ? lane & 1 : number | (uint64_t)lane << 16;
	if (words == 2)
		*ret_bits |= (number + 1ull) << 32;
	return kind == WS_REG_R || (kind == WS_REG_P && number == 3);
}

static uint32_t index_of(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			 unsigned lane)
{
	(void)arrival, (void)dim, (void)axis;
	return lane;
}

static bool nothing_at(const struct ws_arrival *arrival, const struct ws_address *at, void *buffer,
		       size_t len)
{
	(void)arrival, (void)at, (void)buffer, (void)len;
	return false;
}

/* A condition goes by registers of each lane; what is in several, or in none, cannot be told. */
static void conditions(void **state)
{
	static const struct {
		const char *text;
		enum ws_status status;
		uint32_t holds; /* in lanes 0 to 3 */
	} rows[] = {
		{ "whole == 0x10004", WS_OK, 2 },
		{ "yes", WS_OK, 10 },
		{ "!yes", WS_OK, 5 },
		{ "pair == 0x900020008", WS_OK, 4 },
		{ "boxed.a == 0x30008", WS_OK, 8 },
		{ "boxed.b == 9", WS_OK, 15 },
		{ "known == -5", WS_OK, 15 },
		{ "swapped == 0", WS_UNSUPPORTED, 0 },
		{ "twice == 0", WS_UNSUPPORTED, 0 },
		{ "mixed == 0", WS_UNSUPPORTED, 0 },
		{ "uniform == 0", WS_UNSUPPORTED, 0 },
		{ "lower == 0", WS_UNSUPPORTED, 0 },
		{ "uyes", WS_UNSUPPORTED, 0 },
		{ "spilled == 0", WS_UNSUPPORTED, 0 },
		{ "four.x == 0", WS_UNSUPPORTED, 0 },
	};
	const struct ws_arrival arrival = { 15, NULL, reg_of, index_of, nothing_at };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_condition *condition = NULL;
		assert_int_equal(ws_vars_condition(vars, rows[i].text, &condition, NULL),
				 rows[i].status);
		if (rows[i].status != WS_OK)
			continue;
		if (ws_condition_holds(condition, &arrival) != rows[i].holds)
			fail_msg("%s: holds in 0x%x", rows[i].text,
				 ws_condition_holds(condition, &arrival));
		ws_condition_free(condition);
	}
}

static enum ws_status store(const char *to, int64_t whole)
{
	struct ws_value place;
	const struct ws_number number = { .whole = whole, .real = (double)whole };
	assert_int_equal(ws_vars_evaluate(vars, to, &place, NULL), WS_OK);
	return ws_vars_store(vars, &fake.target, &place, &number, NULL);
}

static void stores(void **state)
{
	(void)state;
	fake_may_run(&fake);
	assert_int_equal(store("whole", 77), WS_OK);
	assert_int_equal(fake.registers[4], 77);
	assert_int_equal(fake.registers[3], 0x50034003);
	assert_int_equal(store("single", 1), WS_OK);
	assert_memory_equal(fake.shared, "\0\0\x80\x3f", 5);
	assert_int_equal(store("half.b", -2), WS_OK);
	assert_memory_equal(fake.shared, "\0\0\xfe\xff", 5);
	static const char *const refused[] = { "pair",    "lower",    "upper", "uniform", "yes",
					       "boxed.b", "bits.low", "ints",  "known" };
	for (size_t i = 0; i < WSI_COUNT(refused); i++)
		assert_int_equal(store(refused[i], 1), WS_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_variable_is_where_the_register_map_says, look,
						leave),
		cmocka_unit_test_setup_teardown(registers_of_a_caller_are_not_those_of_the_thread,
						look, leave),
		cmocka_unit_test_setup_teardown(variables_of_a_block_are_there_within_it, look,
						leave),
		cmocka_unit_test_setup_teardown(registers_of_a_caller_with_call_frames, look,
						leave),
		cmocka_unit_test_setup_teardown(values_that_are_no_number, look, leave),
		cmocka_unit_test_setup_teardown(structures_become_others_of_their_size, look,
						leave),
		cmocka_unit_test_setup_teardown(what_cannot_be_printed, look, leave),
		cmocka_unit_test_setup_teardown(structures_within_structures, look, leave),
		cmocka_unit_test_setup_teardown(references, look, leave),
		cmocka_unit_test_setup_teardown(types_are_described, look, leave),
		cmocka_unit_test_setup_teardown(conditions, look, leave),
		cmocka_unit_test_setup_teardown(stores, look, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
