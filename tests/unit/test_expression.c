/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions without debug information: numbers, operators, casts, registers and memory of a
 * thread, and how values are printed. What an operator gives is what C has; how it is written is
 * what gdb has.
 */
#include "unit.h"

#include <warpscope/focus.h>
#include <warpscope/vars.h>

#include "target/fake.h"
#include "vars/vars.h"

static struct fake fake;
static struct ws_vars *vars;

/* Register i of each lane is 100 + i; global and managed memory has at each address its low byte.
 */
static int look(void **state)
{
	struct ws_focus focus;
	(void)state;
	fake_init_still(&fake);
	for (uint32_t i = 0; i < WSI_COUNT(fake.shared); i++)
		fake.shared[i] = (uint8_t)("warp\0scope\0\xff\x80"[i % 13]);
	fake.grid[0].grid_dim = (struct ws_dim3){ 5, 6, 7 };
	fake.grid[0].block_dim = (struct ws_dim3){ 32, 2, 1 };
	fake.lane[0][0].thread = (struct ws_dim3){ 3, 1, 0 };
	assert_int_equal(ws_focus_find(&fake.target, &focus, NULL), WS_OK);
	focus.lane = 0;
	fake.n_callers[0][0] = 0;
	assert_int_equal(ws_vars_create(&fake.target, &vars, NULL), WS_OK);
	return ws_vars_look(vars, &focus, NULL) != WS_OK;
}

static int leave(void **state)
{
	(void)state;
	ws_vars_destroy(vars);
	ws_target_close(&fake.target);
	return 0;
}

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

#define CHECK(...)                                    \
	static const struct row rows[] = __VA_ARGS__; \
	(void)state;                                  \
	check(rows, WSI_COUNT(rows))

static void numbers(void **state)
{
	CHECK({
		{ "0", "0" },
		{ "017", "15" },
		{ "0x1F", "31" },
		{ "0X1f", "31" },
		{ "2147483647 + 1", "-2147483648" },
		{ "2147483648", "2147483648" },
		{ "2147483648 + 2147483648", "4294967296" },
		{ "0x7fffffff + 1", "-2147483648" },
		{ "0x80000000 + 0x80000000", "0" }, /* unsigned, as it is not decimal */
		{ "0xffffffff + 1", "0" },
		{ "0x100000000 - 1", "4294967295" },
		{ "020000000000 * 2", "0" },
		{ "0x7fffffffL + 1", "2147483648" },
		{ "0x80000000L + 0x80000000L", "4294967296" },
		{ "5u - 6", "4294967295" },
		{ "5U - 6", "4294967295" },
		{ "4294967295u + 1", "0" },
		{ "4294967296u - 1u", "4294967295" },
		{ "5ul - 6", "18446744073709551615" },
		{ "5L - 6", "-1" },
		{ "5LLU - 6", "18446744073709551615" },
		{ "18446744073709551615", "18446744073709551615" },
		{ "9223372036854775807 + 1", "-9223372036854775808" },
		{ "9223372036854775808 - 1", "9223372036854775807" },
		{ "1.5", "1.5" },
		{ "1.5f + 1", "2.5" },
		{ "0.1", "0.10000000000000001" },
		{ "0.1f", "0.100000001" },
		{ "1e3", "1000" },
		{ "25e-1", "2.5" },
		{ "1e400", "inf" },
		{ "-1e400", "-inf" },
		{ "0x1e3", "483" },
		{ ".5", "0.5" },
		{ "'A'", "65 'A'" },
		{ "'\\n'", "10 '\\n'" },
		{ "'\\a'", "7 '\\a'" },
		{ "'\\e'", "27 '\\033'" },
		{ "'\\v'", "11 '\\v'" },
		{ "'\\0'", "0 '\\000'" },
		{ "'\\101'", "65 'A'" },
		{ "'\\1012'", "!a closing ' is missing" },
		{ "'\\x41'", "65 'A'" },
		{ "'\\xff'", "-1 '\\377'" },
		{ "'\\''", "39 '\\''" },
		{ "'\\\\'", "92 '\\\\'" },
		{ "'\"'", "34 '\"'" },
		{ "'~'", "126 '~'" },
		{ "'\\177'", "127 '\\177'" },
		{ "' '", "32 ' '" },
		{ "'\\037'", "31 '\\037'" },
		{ "'ab'", "!No symbol \"ab\" in current context: the code was not compiled with "
			  "-G; registers are $R3" },
		{ "\"text\"", "\"text\"" },
		{ "\"\"", "\"\"" },
		{ "\"a\\\"b\\tc'\"", "\"a\\\"b\\tc'\"" },
		{ "\"open", "!a closing \" is missing" },
		{ "\"1234567890123456789012345678901\"", "\"1234567890123456789012345678901\"" },
		{ "\"12345678901234567890123456789012\"", "!a text has at most 31 characters" },
	});
}

static void operators(void **state)
{
	CHECK({
		{ "7 + 3", "10" },
		{ "7 - 3", "4" },
		{ "7 * 3", "21" },
		{ "7 / 3", "2" },
		{ "7 % 3", "1" },
		{ "-7 / 2", "-3" },
		{ "-7 % 3", "-1" },
		{ "7 / -1", "-7" },
		{ "7 % -1", "0" },
		{ "(-9223372036854775807 - 1) / -1", "-9223372036854775808" },
		{ "(-9223372036854775807 - 1) % -1", "0" },
		{ "-7 / 2u", "2147483644" },
		{ "-7 % 7u", "4" },
		{ "7u / -7", "0" },
		{ "-7 / 2ul", "9223372036854775804" },
		{ "-7 / 2L", "-3" },
		{ "1 / 0", "!Division by zero" },
		{ "1 % 0", "!Division by zero" },
		{ "1 / 0.0", "inf" },
		{ "-1 / 0.0", "-inf" },
		{ "7 / 2.0", "3.5" },
		{ "7.0 - 2", "5" },
		{ "1.5 * 2", "3" },
		{ "1.5 % 2", "!this operator is for whole numbers" },
		{ "1.5 & 2", "!this operator is for whole numbers" },
		{ "1 << 2.0", "!this operator is for whole numbers" },
		{ "6 & 3", "2" },
		{ "6 | 3", "7" },
		{ "6 ^ 3", "5" },
		{ "1 << 4", "16" },
		{ "1 << 31", "-2147483648" },
		{ "1L << 63", "-9223372036854775808" },
		{ "1L << 64", "0" },
		{ "256 >> 4", "16" },
		{ "-256 >> 4", "-16" },
		{ "-256 >> 4u", "268435440" },
		{ "-1L >> 64", "-1" },
		{ "0xffffffff >> 28", "15" },
		{ "0xffffffffffffffff >> 63", "1" },
		{ "0xffffffffffffffff >> 64", "0" },
		{ "~5", "-6" },
		{ "~0u", "4294967295" },
		{ "-5", "-5" },
		{ "- -5", "5" },
		{ "+5", "5" },
		{ "-5u", "4294967291" },
		{ "-1.5", "-1.5" },
		{ "-0.0", "-0" },
		{ "-1.5f", "-1.5" },
		{ "!5", "false" },
		{ "!0", "true" },
		{ "!0.0", "true" },
		{ "!0.5", "false" },
		{ "~1.5", "!this operator is for whole numbers" },
		{ "3 == 3", "true" },
		{ "3 == 4", "false" },
		{ "3 != 3", "false" },
		{ "3 != 4", "true" },
		{ "3 < 3", "false" },
		{ "3 < 4", "true" },
		{ "3 <= 3", "true" },
		{ "4 <= 3", "false" },
		{ "3 > 3", "false" },
		{ "4 > 3", "true" },
		{ "3 >= 3", "true" },
		{ "3 >= 4", "false" },
		{ "-1 < 1", "true" },
		{ "-1 < 1u", "false" },
		{ "-1 < 1ul", "false" },
		{ "-1 > 1u", "true" },
		{ "0xffffffff == -1", "true" },
		{ "0xffffffffffffffff == -1", "true" },
		{ "0xffffffffffffffff > 1", "true" },
		{ "1.5 < 2", "true" },
		{ "1.5 > 2", "false" },
		{ "1.5 == 1.5f", "true" },
		{ "0.0 / 0 == 0.0 / 0", "false" },
		{ "0.0 / 0 != 0.0 / 0", "true" },
		{ "0.0 / 0 <= 1", "false" },
		{ "0.0 / 0 >= 1", "false" },
		{ "0.0 / 0 < 1", "false" },
		{ "0.0 / 0 > 1", "false" },
		{ "0 || 0", "false" },
		{ "0 || 2", "true" },
		{ "2 || 0", "true" },
		{ "0.5 || 0", "true" },
		{ "0 && 1", "false" },
		{ "1 && 0", "false" },
		{ "1 && 2", "true" },
		{ "0.5 && 0.5", "true" },
		{ "0.0 && 1", "false" },
		{ "0 && 1 / 0", "false" },
		{ "1 || 1 / 0", "true" },
		{ "1 && 1 / 0", "!Division by zero" },
		{ "0 || 1 / 0", "!Division by zero" },
		{ "0.5 || 1 / 0", "true" },
		{ "1 ? 2 : 3", "2" },
		{ "0 ? 2 : 3", "3" },
		{ "0.0 ? 2 : 3", "3" },
		{ "0.5 ? 2 : 3", "2" },
		{ "1 ? 2 : 1 / 0", "2" },
		{ "0 ? 1 / 0 : 3", "3" },
		{ "0 ? 1 : 0 ? 2 : 4", "4" },
		{ "1 ? 0 ? 5 : 6 : 7", "6" },
		{ "1 ? 2", "!':' is expected behind the first value of a condition" },
		{ "1, 2, 3", "3" },
		{ "1 / 0, 2", "!Division by zero" },
		{ "(1, 2) + 3", "5" },
	});
}

static void precedence(void **state)
{
	CHECK({
		{ "1 + 2 * 3", "7" },      { "(1 + 2) * 3", "9" },     { "10 - 3 - 2", "5" },
		{ "100 / 10 / 2", "5" },   { "1 << 1 + 2", "8" },      { "1 << 2 << 3", "32" },
		{ "1 < 2 == 1", "true" },  { "3 > 2 > 1", "false" },   { "1 << 2 < 5", "true" },
		{ "1 == 1 & 1", "1" },     { "4 | 2 == 2", "5" },      { "6 ^ 2 & 3", "4" },
		{ "1 | 6 ^ 2", "5" },      { "1 || 0 && 0", "true" },  { "0 | 2 && 0", "false" },
		{ "1 ? 2 : 3 + 10", "2" }, { "0 ? 2 : 3 + 10", "13" }, { "- 2 * 3", "-6" },
		{ "~ 1 + 1", "-1" },       { "!0 + 1", "2" },          { "7 >= 7 != 0", "true" },
		{ "8 >> 1 + 1", "2" },     { "1+2*3-4/2%3", "5" },
	});
}

static void types_of_results(void **state)
{
	CHECK({
		{ "sizeof(1)", "4" },
		{ "sizeof 1L", "8" },
		{ "sizeof(1 == 1)", "1" },
		{ "sizeof('a' + 'a')", "4" },
		{ "sizeof((short)1 + (char)1)", "4" },
		{ "sizeof(1 + 1L)", "8" },
		{ "sizeof(1.0f + 1)", "4" },
		{ "sizeof(1.0f + 1.0)", "8" },
		{ "sizeof(1.0 + 1.0f)", "8" },
		{ "sizeof(char)", "1" },
		{ "sizeof(unsigned long long int)", "8" },
		{ "sizeof(dim3)", "12" },
		{ "sizeof(int [3])", "12" },
		{ "sizeof(int [3][5])", "60" },
		{ "sizeof(char (*)[5])", "8" },
		{ "sizeof(sizeof(int))", "8" },
		{ "sizeof", "!A syntax error in expression, near `'" },
		{ "(char)321", "65 'A'" },
		{ "(signed char)200", "-56 '\\310'" },
		{ "(unsigned char)456", "200 '\\310'" },
		{ "(short)65537", "1" },
		{ "(short)40000", "-25536" },
		{ "(unsigned short)-1", "65535" },
		{ "(int)2.9", "2" },
		{ "(int)-2.9", "-2" },
		{ "(unsigned)-1", "4294967295" },
		{ "(long)-1", "-1" },
		{ "(unsigned long)-1", "18446744073709551615" },
		{ "(long)(unsigned)-1", "4294967295" },
		{ "(float)1", "1" },
		{ "(double)1 / 3", "0.33333333333333331" },
		{ "(float)1 / 3", "0.333333343" },
		{ "(bool)5", "true" },
		{ "(bool)0", "false" },
		{ "(void)5", "void" },
		{ "(u8)300", "44" },
		{ "(int64_t)-5", "-5" },
		{ "(size_t)1", "1" },
		{ "(const volatile int)5", "5" },
		{ "(int *)16", "(int*) 0x10" },
		{ "(int **)16", "(int**) 0x10" },
		{ "(@shared int *)16", "(@shared int*) 0x10" },
		{ "(@nowhere int *)16", "!there is no space '@nowhere'" },
		{ "(@global nothing)16", "!a type is expected at 'nothing)16'" },
		{ "(int (*)[3])16", "(int (*)[3]) 0x10" },
	});
}

/* Words for types that need no debug information: their size, and whether they have a sign. */
static void types_of_c(void **state)
{
	static const struct {
		const char *name;
		unsigned size;
		char kind; /* signed, unsigned, float */
	} rows[] = {
		{ "bool", 1, 'u' },
		{ "char", 1, 's' },
		{ "signed char", 1, 's' },
		{ "unsigned char", 1, 'u' },
		{ "short", 2, 's' },
		{ "short int", 2, 's' },
		{ "unsigned short", 2, 'u' },
		{ "unsigned short int", 2, 'u' },
		{ "int", 4, 's' },
		{ "signed", 4, 's' },
		{ "signed int", 4, 's' },
		{ "unsigned", 4, 'u' },
		{ "unsigned int", 4, 'u' },
		{ "long", 8, 's' },
		{ "long int", 8, 's' },
		{ "unsigned long", 8, 'u' },
		{ "unsigned long int", 8, 'u' },
		{ "long unsigned int", 8, 'u' },
		{ "long long", 8, 's' },
		{ "long long int", 8, 's' },
		{ "unsigned long long", 8, 'u' },
		{ "unsigned long long int", 8, 'u' },
		{ "size_t", 8, 'u' },
		{ "int8_t", 1, 's' },
		{ "uint8_t", 1, 'u' },
		{ "int16_t", 2, 's' },
		{ "uint16_t", 2, 'u' },
		{ "int32_t", 4, 's' },
		{ "uint32_t", 4, 'u' },
		{ "int64_t", 8, 's' },
		{ "uint64_t", 8, 'u' },
		{ "s8", 1, 's' },
		{ "u8", 1, 'u' },
		{ "s16", 2, 's' },
		{ "u16", 2, 'u' },
		{ "s32", 4, 's' },
		{ "u32", 4, 'u' },
		{ "s64", 8, 's' },
		{ "u64", 8, 'u' },
		{ "float", 4, 'f' },
		{ "f32", 4, 'f' },
		{ "double", 8, 'f' },
		{ "f64", 8, 'f' },
		{ "__half", 2, 'f' },
		{ "half", 2, 'f' },
		{ "__nv_bfloat16", 2, 'f' },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		char text[80], size[8];
		assert_true(wsi_format(text, "sizeof(%s)", rows[i].name));
		assert_true(wsi_format(size, "%u", rows[i].size));
		assert_string_equal(said(text).at, size);
		assert_true(wsi_format(text, "(double)(%s)-1 < 0", rows[i].name));
		assert_string_equal(said(text).at, rows[i].kind == 'u' ? "false" : "true");
		assert_true(wsi_format(text, "(%s)1 / 2 == 0", rows[i].name));
		assert_string_equal(said(text).at, rows[i].kind == 'f' ? "false" : "true");
	}
}

static void pointers_and_memory(void **state)
{
	CHECK({
		{ "*(@global int *)0x10000000", "50462976" },
		{ "/x *(@global int *)0x10000004", "0x7060504" },
		{ "*(@global unsigned char *)0x10000041", "65 'A'" },
		{ "((@global short *)0x10000000)[2]", "1284" },
		{ "((@global int *)0x10000010)[-1]", "252579084" },
		{ "(@global int *)0x10000000 + 3", "(@global int*) 0x1000000c" },
		{ "3 + (@global int *)0x10000000", "(@global int*) 0x1000000c" },
		{ "(@global int *)0x10000010 - 3", "(@global int*) 0x10000004" },
		{ "(@global int *)0x10000010 - (@global int *)0x10000000", "4" },
		{ "(@global int *)0x10000000 - (@global int *)0x10000010", "-4" },
		{ "(@global int *)0x10000010 > (@global int *)0x10000000", "true" },
		{ "(@global int *)0x10000010 == 0x10000010", "true" },
		{ "!(int *)0", "true" },
		{ "!(int *)8", "false" },
		{ "&*(@global int *)0x10000000", "(@global int*) 0x10000000" },
		{ "*&*(@global int *)0x10000000", "50462976" },
		{ "*(@global int *)0x10000000@3", "{50462976, 117835012, 185207048}" },
		{ "((@global int *)0x10000000)[1:3]", "{117835012, 185207048}" },
		{ "((@global int *)0x10000000)[1:1]",
		  "!a slice is [FIRST:END], with an end behind the first" },
		{ "((@global int *)0x10000000)[2:1]",
		  "!a slice is [FIRST:END], with an end behind the first" },
		{ "((@global int *)0x10000000)[1", "!']' is missing" },
		{ "*(@global int *)0x10000000@0", "!Invalid number 0 of repetitions" },
		{ "*(@global int *)0x10000000@-1", "!Invalid number -1 of repetitions" },
		{ "5@3", "!Only values in memory can be extended with '@'" },
		{ "&5", "!Attempt to take address of value not located in memory" },
		{ "*5.5", "!Attempt to take contents of a non-pointer value" },
		{ "5[1]", "!only an array or a pointer has elements" },
		{ "5.x", "!A syntax error in expression, near `x'" },
		{ "(5).x", "!the value has no members" },
		{ "threadIdx.q", "!There is no member named q" },
		{ "threadIdx.", "!the name of a member is expected" },
		{ "*(@global int *)0x30000000", "<not recorded>" },
		{ "*(@global int *)0x100000fd", "<not recorded>" },
		{ "{@global int} 0x10000004", "117835012" },
		{ "{@global int} (0x10000000 + 4)", "117835012" },
		{ "{int} (@global int *)0x10000004", "117835012" },
		{ "{@global int 5", "!a type is expected at '5'" },
		{ "{5} 5", "!A syntax error in expression, near `5} 5'" },
		{ "*(@shared char (*)[10])0", "\"warp\\000scope\"" },
		{ "*(@shared char (*)[5])0", "\"warp\"" },
		{ "(@shared char *)0", "(@shared char*) 0x0" },
		{ "(@shared char *)1", "(@shared char*) 0x1 \"arp\"" },
		{ "*(@shared char *)12", "-128 '\\200'" },
		{ "*(@shared unsigned char *)11", "255 '\\377'" },
		{ "(@global char *)0x10000080",
		  "(@global char*) 0x10000080 <its text is not in the dump>" },
	});
}

static void what_a_thread_has(void **state)
{
	CHECK({
		{ "$R0", "100" },
		{ "$R15", "115" },
		{ "$R16", "!R16 is not there" },
		{ "$R255", "0" },
		{ "$RZ", "0" },
		{ "$URZ", "0" },
		{ "$PT", "1" },
		{ "$P7", "1" },
		{ "$UP7", "1" },
		{ "$UPT", "1" },
		{ "$R256", "!'$R256' is not a register" },
		{ "$R0x", "!'$R0x' is not a register" },
		{ "$R007", "107" },
		{ "$R0007", "!'$R0007' is not a register" },
		{ "$R", "!'$R' is not a register" },
		{ "$RD2", "442381631590" }, /* 103 << 32 | 102 */
		{ "$RD15", "!RD15 is not there" },
		{ "$P1", "1" },
		{ "$P2", "0" },
		{ "$UR3", "1" },
		{ "$UR4", "0" },
		{ "$UP1", "1" },
		{ "$B1", "1" },
		{ "$B2", "!B2 is not there" },
		{ "$R1 + $R2", "203" },
		{ "sizeof($R1)", "4" },
		{ "sizeof($RD2)", "8" },
		{ "-1 < $P0", "false" }, /* predicates have no sign */
		{ "-1 < $R0", "true" },
		{ "$pc", "(void (*)(void)) 0x40000020" },
		{ "$pc == 0x40000020", "true" },
		{ "$errorpc", "(void (*)(void)) 0x40000010" },
		{ "$sp", "!Standard register ``$sp'' is not available for this target" },
		{ "$ps", "!Standard register ``$ps'' is not available for this target" },
		{ "$nothing", "!'$nothing' is not a register" },
		{ "$nothing(\"a\")", "!there is no $nothing(\"a\")" },
		{ "$_isvoid((void)0)", "1" },
		{ "$_isvoid(0)", "0" },
		{ "$_isvoid(0", "!')' is missing" },
		{ "$_isvoid", "!$_isvoid(EXPRESSION) is expected" },
		{ "$_cuda_const_bank(3, 16)", "(@global unsigned int*) 0x50000010" },
		{ "*$_cuda_const_bank(3, 16)",
		  "<not recorded>" }, /* constants are no global memory */
		{ "$_cuda_const_bank(2, 0)", "!The requested constbank c[0x2] is not valid" },
		{ "$_cuda_const_bank(3)", "!$_cuda_const_bank(BANK, OFFSET) is expected" },
		{ "$_cuda_const_bank(3, 16", "!')' is missing" },
		{ "$_cuda_const_bank(1 / 0, 16)", "!Division by zero" },
		{ "threadIdx", "{x = 3, y = 1, z = 0}" },
		{ "threadIdx.x", "3" },
		{ "blockDim", "{x = 32, y = 2, z = 1}" },
		{ "gridDim.z", "7" },
		{ "blockIdx.x", "0" },
		{ "warpSize", "32" },
		{ "threadIdx.x - 4", "4294967295" },
		{ "nothing", "!No symbol \"nothing\" in current context: the code was not compiled "
			     "with -G; registers are $R3" },
		{ "a::b", "!there is no 'b' in 'a'" },
	});
}

static void formats(void **state)
{
	CHECK({
		{ "/x 255", "0xff" },
		{ "/x -1", "0xffffffff" },
		{ "/x (char)-1", "0xff" },
		{ "/x -1L", "0xffffffffffffffff" },
		{ "/x 1.5f", "0x3fc00000" },
		{ "/z 5", "0x00000005" },
		{ "/z (char)5", "0x05" },
		{ "/z 5L", "0x0000000000000005" },
		{ "/d 0xffffffff", "-1" },
		{ "/d (unsigned char)255", "-1" },
		{ "/u -1", "4294967295" },
		{ "/u (char)-1", "255" },
		{ "/o 8", "010" },
		{ "/o 0", "0" },
		{ "/o -1", "037777777777" },
		{ "/t 10", "1010" },
		{ "/t 0", "0" },
		{ "/t 1", "1" },
		{ "/t 1L << 63",
		  "1000000000000000000000000000000000000000000000000000000000000000" },
		{ "/a 4096", "0x1000" },
		{ "/c 65", "65 'A'" },
		{ "/c 321", "65 'A'" },
		{ "/c 255", "-1 '\\377'" },
		{ "/c (unsigned char)200", "200 '\\310'" },
		{ "/f 0x3fc00000", "1.5" },
		{ "/f 0x3ff8000000000000", "1.5" },
		{ "/f 0x7fc00001", "nan(0x400001)" },
		{ "/f (short)5", "5" },
		{ "/f 1.5", "1.5" },
		{ "/s 65", "65" },
		{ "/x threadIdx", "{x = 0x3, y = 0x1, z = 0x0}" },
		{ "/d *(@global short *)0x10000000@3", "{256, 770, 1284}" },
		{ "/x (@global int *)16", "0x10" },
		{ "/x true", "!No symbol \"true\" in current context: the code was not compiled "
			     "with -G; registers are $R3" },
	});
}

static void styles(void **state)
{
	static const struct {
		struct ws_value_style style;
		const char *text, *wanted;
	} rows[] = {
		{ { .elements = 2 }, "*(@shared char (*)[5])0", "\"wa\"..." },
		{ { .elements = 5 }, "*(@shared char (*)[5])0", "\"warp\"" },
		{ { .elements = 2 }, "(@shared char *)1", "(@shared char*) 0x1 \"ar\"..." },
		{ { .elements = 4 }, "(@shared char *)1", "(@shared char*) 0x1 \"arp\"" },
		{ { .elements = 3 }, "(@shared char *)1", "(@shared char*) 0x1 \"arp\"..." },
		{ { .elements = 2 }, "*(@global u8 *)0x10000000@4", "{0, 1...}" },
		{ { .elements = 4 }, "*(@global u8 *)0x10000000@4", "{0, 1, 2, 3}" },
		{ { .repeats = 2 }, "/d *(@global u8 *)0x10000000@2", "{0, 1}" },
		{ { .has_indexes = true }, "*(@global u8 *)0x10000000@2", "{[0] = 0, [1] = 1}" },
		{ { .is_pretty = true }, "threadIdx", "{\n  x = 3,\n  y = 1,\n  z = 0\n}" },
		{ { .radix = 16 }, "255", "0xff" },
		{ { .radix = 16 }, "(char)-1", "0xff" },
		{ { .radix = 16 }, "-1L", "0xffffffffffffffff" },
		{ { .radix = 8 }, "8", "010" },
		{ { .radix = 8 }, "0", "0" },
		{ { .radix = 16 }, "/d 255", "255" },
		{ { .radix = 16 }, "1.5", "1.5" },
		{ { .radix = 16 }, "1 == 1", "true" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		ws_vars_set_style(vars, rows[i].style);
		assert_string_equal(said(rows[i].text).at, rows[i].wanted);
	}
}

/* Equal ones in a row are counted from 10 on, or from as many as the style says. */
static void repeats(void **state)
{
	static const struct {
		unsigned same, repeats;
		const char *as_numbers, *as_text;
	} rows[] = {
		{ 9, 0, "{7, 7, 7, 7, 7, 7, 7, 7, 7, 8}", "\"\\a\\a\\a\\a\\a\\a\\a\\a\\a\\b\"" },
		{ 10, 0, "{7 <repeats 10 times>, 8}", "'\\a' <repeats 10 times>, \"\\b\"" },
		{ 3, 3, "{7 <repeats 3 times>, 8}", "'\\a' <repeats 3 times>, \"\\b\"" },
		{ 3, 4, "{7, 7, 7, 8}", "\"\\a\\a\\a\\b\"" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		char text[60];
		ws_vars_set_style(vars, (struct ws_value_style){ .repeats = rows[i].repeats });
		memset(fake.shared, 7, rows[i].same);
		fake.shared[rows[i].same] = 8;
		assert_true(wsi_format(text, "*(@shared u8 *)0@%u", rows[i].same + 1));
		assert_string_equal(said(text).at, rows[i].as_numbers);
		assert_true(wsi_format(text, "*(@shared char *)0@%u", rows[i].same + 1));
		assert_string_equal(said(text).at, rows[i].as_text);
	}
	/* counted ones are as many of those that are printed at most as it takes to be counted */
	memset(fake.shared, 7, 12);
	fake.shared[12] = 8;
	fake.shared[13] = 9;
	ws_vars_set_style(vars, (struct ws_value_style){ .elements = 11 });
	assert_string_equal(said("*(@shared u8 *)0@14").at, "{7 <repeats 12 times>, 8...}");
	ws_vars_set_style(vars, (struct ws_value_style){ .elements = 12 });
	assert_string_equal(said("*(@shared u8 *)0@14").at, "{7 <repeats 12 times>, 8, 9}");
	ws_vars_set_style(vars, (struct ws_value_style){ .repeats = 4 });
	memcpy(fake.shared, "ab\7\7\7\7cd", 8);
	assert_string_equal(said("*(@shared char *)0@8").at,
			    "\"ab\", '\\a' <repeats 4 times>, \"cd\"");
}

static void a_text_may_end_where_memory_does(void **state)
{
	(void)state;
	memcpy(fake.shared + 61, "ab", 3);
	assert_string_equal(said("(@shared char *)61").at, "(@shared char*) 0x3d \"ab\"");
	fake.shared[63] = 'c';
	assert_string_equal(said("(@shared char *)61").at,
			    "(@shared char*) 0x3d <its text is not in the dump>");
}

static void texts(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: it is none */
		enum ws_status status;
	} rows[] = {
		{ "(@shared char *)0", "warp", WS_OK },
		{ "(@shared u8 *)5", "scope", WS_OK },
		{ "(@shared char *)4", "", WS_OK },
		{ "*(@shared char (*)[3])0", "war", WS_OK },
		{ "*(@shared char (*)[8])0", "warp", WS_OK },
		{ "\"text\"", "text", WS_OK },
		{ "(@shared char *)64", NULL, WS_ABSENT },
		{ "(@shared short *)0", NULL, WS_ARGUMENT },
		{ "'c'", NULL, WS_ARGUMENT },
		{ "threadIdx", NULL, WS_ARGUMENT },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_value value;
		char text[8] = "before";
		assert_int_equal(ws_vars_evaluate(vars, rows[i].text, &value, NULL), WS_OK);
		assert_int_equal(ws_vars_text(vars, &value, text, sizeof text, NULL),
				 rows[i].status);
		assert_string_equal(text, rows[i].wanted ? rows[i].wanted : "");
	}
	struct ws_value value;
	char text[5] = "";
	assert_int_equal(ws_vars_evaluate(vars, "(@shared u8 *)5", &value, NULL), WS_OK);
	assert_int_equal(ws_vars_text(vars, &value, text, sizeof text, NULL), WS_OK);
	assert_string_equal(text, "scop"); /* what there is room for */
}

static void names_of_registers(void **state)
{
	static const struct {
		const char *name;
		enum ws_reg_kind kind;
		uint32_t number;
	} rows[] = {
		{ "R0", WS_REG_R, 0 },     { "R255", WS_REG_R, 255 },   { "RD12", WS_REG_R, 12 },
		{ "UR63", WS_REG_UR, 63 }, { "URD4", WS_REG_UR, 4 },    { "P6", WS_REG_P, 6 },
		{ "UP3", WS_REG_UP, 3 },   { "B1", WS_REG_BARRIER, 1 },
	};
	enum ws_reg_kind kind;
	uint32_t number;
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		kind = WS_REG_BARRIER;
		assert_true(ws_register_find(rows[i].name, &kind, &number));
		assert_int_equal(kind, rows[i].kind);
		assert_int_equal(number, rows[i].number);
	}
	static const char *const none[] = { "R", "R256", "R0000", "pc", "", "Q1", "R1x", "RZ" };
	for (size_t i = 0; i < WSI_COUNT(none); i++)
		assert_false(ws_register_find(none[i], &kind, &number));
}

static enum ws_status store(const char *to, const char *what)
{
	struct ws_value place, value;
	struct ws_number number;
	assert_int_equal(ws_vars_evaluate(vars, to, &place, NULL), WS_OK);
	assert_int_equal(ws_vars_evaluate(vars, what, &value, NULL), WS_OK);
	assert_int_equal(ws_vars_number(vars, &value, &number, NULL), WS_OK);
	return ws_vars_store(vars, &fake.target, &place, &number, NULL);
}

static void stores(void **state)
{
	(void)state;
	fake_may_run(&fake);
	assert_int_equal(store("$R3", "-5"), WS_OK);
	assert_int_equal(fake.registers[3], (uint32_t)-5);
	assert_int_equal(fake.registers[4], 104);
	assert_int_equal(store("$R3", "1.5"), WS_OK); /* as the bits of a float */
	assert_int_equal(fake.registers[3], 0x3fc00000);
	assert_int_equal(store("$RD4", "0x0000000500000006"), WS_OK);
	assert_int_equal(fake.registers[4], 6);
	assert_int_equal(fake.registers[5], 5);
	assert_int_equal(fake.registers[6], 106);
	assert_int_equal(store("$RD4", "1.5"), WS_OK);
	assert_int_equal(fake.registers[4], 0);
	assert_int_equal(fake.registers[5], 0x3ff80000);
	assert_int_equal(store("$UR2", "1"), WS_OK);
	assert_int_equal(fake.written_kind, WS_REG_UR);
	assert_int_equal(fake.n_written, 3);
	memset(fake.shared, 0xee, sizeof fake.shared);
	assert_int_equal(store("*(@shared short *)4", "0x12345"), WS_OK);
	assert_memory_equal(fake.shared + 3, "\xee\x45\x23\xee", 4);
	assert_int_equal(store("*(@shared float *)8", "1.5"), WS_OK);
	assert_memory_equal(fake.shared + 7, "\xee\0\0\xc0\x3f\xee", 6);
	assert_int_equal(store("*(@shared int *)16", "2.9"), WS_OK);
	assert_memory_equal(fake.shared + 16, "\2\0\0\0", 4);
	assert_int_equal(store("*(@global int *)0x10000010", "7"), WS_OK);
	assert_int_equal(fake.written.space, WS_SPACE_GLOBAL);
	assert_int_equal(fake.written.address, 0x10000010);
	static const char *const refused[] = { "5", "threadIdx.x", "$R3 + 1",
					       "*(@shared int (*)[2])0" };
	for (size_t i = 0; i < WSI_COUNT(refused); i++)
		assert_int_equal(store(refused[i], "1"), WS_ARGUMENT);
	assert_int_equal(store("*(@shared int *)62", "1"), WS_ABSENT); /* across the end */
}

/* ---- conditions: one expression for the lanes of a warp ---- */

enum { N_ASKED = 4 /* lanes 0 to 3 */ };

/* Register i of a lane is 10 i + lane; it has no R9. */
static bool reg_of(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
		   uint32_t words, unsigned lane, uint64_t *ret_bits)
{
	(void)arrival;
	*ret_bits = 10 * number + lane;
	if (words == 2)
		*ret_bits |= (uint64_t)(10 * (number + 1) + lane) << 32;
	return kind == WS_REG_R && number != 9;
}

/* threadIdx is {lane, 1, 2}, of the others nothing depends on the lane. */
static uint32_t place_of(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			 unsigned lane)
{
	(void)arrival;
	return dim ? 100 * dim + axis : axis ? axis : lane;
}

/* At each address is its low byte, up to one. */
static bool byte_of(const struct ws_arrival *arrival, const struct ws_address *at, void *buffer,
		    size_t len)
{
	(void)arrival;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buffer)[i] = (uint8_t)(at->address + i);
	return at->space == WS_SPACE_SHARED && at->address + len <= 0x22;
}

static void conditions(void **state)
{
	static const struct {
		const char *text;
		double wanted[N_ASKED];
		uint32_t known;
	} rows[] = {
		{ "$R2", { 20, 21, 22, 23 }, 0xf },
		{ "$R9", { 0 }, 0 },
		{ "$R1 * 100 - $R2", { 980, 1079, 1178, 1277 }, 0xf },
		{ "$R2 / ($R1 - 10)", { 0, 21, 11, 7 }, 0xe },
		{ "(char)($R1 * 13)", { -126, -113, -100, -87 }, 0xf },
		{ "(float)$R1 / 4", { 2.5, 2.75, 3, 3.25 }, 0xf },
		{ "-$R1", { -10, -11, -12, -13 }, 0xf },
		{ "$R1 - 11 > 1u", { 1, 0, 0, 1 }, 0xf },
		{ "($R1 - 11) / 2u", { 2147483647, 0, 0, 1 }, 0xf },
		{ "$RD1 >> 32", { 20, 21, 22, 23 }, 0xf },
		{ "threadIdx.x", { 0, 1, 2, 3 }, 0xf },
		{ "threadIdx.y + threadIdx.z", { 3, 3, 3, 3 }, 0xf },
		{ "blockIdx.x", { 100, 100, 100, 100 }, 0xf },
		{ "blockDim.y", { 201, 201, 201, 201 }, 0xf },
		{ "gridDim.z", { 302, 302, 302, 302 }, 0xf },
		{ "threadIdx.x && $R9", { 0 }, 1 },
		{ "threadIdx.x == 0 || $R9", { 1 }, 1 },
		{ "$R9 || 1", { 0 }, 0 },
		{ "*(@shared char *)$R2", { 20, 21, 22, 23 }, 0xf },
		{ "*(@shared short *)($R1 + 20)",
		  { 30 + 256 * 31, 31 + 256 * 32, 32 + 256 * 33 },
		  7 },
		{ "((@shared char *)$R1)[2]", { 12, 13, 14, 15 }, 0xf },
		{ "5", { 5, 5, 5, 5 }, 0xf },
	};
	struct ws_arrival arrival = { (1u << N_ASKED) - 1, NULL, reg_of, place_of, byte_of };
	(void)state;
	for (uint32_t i = 0; i < WSI_COUNT(fake.registers); i++)
		fake.registers[i] = 10 * i + 1; /* the thread that is looked at */
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_condition *condition;
		struct ws_lane_number numbers[WS_MAX_LANES];
		uint32_t holds = 0;
		enum ws_status st = ws_vars_condition(vars, rows[i].text, &condition, NULL);
		if (st != WS_OK)
			fail_msg("%s: %s", rows[i].text, ws_status_text(st));
		uint32_t known_lanes = ws_condition_read(condition, &arrival, numbers);
		if (known_lanes != rows[i].known)
			fail_msg("%s: known in 0x%x", rows[i].text, known_lanes);
		for (unsigned lane = 0; lane < N_ASKED; lane++) {
			bool known = rows[i].known >> lane & 1;
			if (known && numbers[lane].number.real != rows[i].wanted[lane])
				fail_msg("%s: lane %u has %g", rows[i].text, lane,
					 numbers[lane].number.real);
			/* what cannot be told stops, to be looked at */
			holds |= !known || rows[i].wanted[lane] != 0 ? 1u << lane : 0;
		}
		if (ws_condition_holds(condition, &arrival) != holds)
			fail_msg("%s: holds in 0x%x", rows[i].text,
				 ws_condition_holds(condition, &arrival));
		ws_condition_free(condition);
	}
	struct ws_condition *condition;
	assert_int_equal(ws_vars_condition(vars, "1 / 0", &condition, NULL), WS_ARGUMENT);
	assert_int_equal(ws_vars_condition(vars, "1 / (threadIdx.x - 3)", &condition, NULL),
			 WS_UNSUPPORTED); /* it fails in this thread, which is the fourth */
	assert_int_equal(ws_vars_condition(vars, "$errorpc == 0", &condition, NULL),
			 WS_UNSUPPORTED);
}

static void spelled(void **state)
{
	static const struct row rows[] = {
		{ "int", "int" },
		{ "unsigned  long   int", "unsigned long int" },
		{ "long unsigned int", "long unsigned int" },
		{ "int *", "int*" },
		{ "int**", "int**" },
		{ "@shared int *", "@shared int*" },
		{ "int * @shared *", "int* @shared*" },
		{ "@global int * @shared *", "@global int* @shared*" },
		{ "@local int *", "@local int*" },
		{ "@constant int *", "@constant int*" },
		{ "@const int *", "@constant int*" },
		{ "@param int *", "@parameter int*" },
		{ "@parameter int *", "@parameter int*" },
		{ "@generic int *", "@generic int*" },
		{ "@managed_global int *", "@global int*" },
		{ "const int * const", "int*" },
		{ "struct dim3", "dim3" },
		{ "int [3]", "int [3]" },
		{ "int [3][4]", "int [3][4]" },
		{ "int (*)[3]", "int (*)[3]" },
		{ "char (**)[3]", "char (**)[3]" },
		{ "1 + 2", "int" },
		{ "$RD2", "long" },
		{ "&*(@shared float *)0", "@shared float*" },
		{ "threadIdx", "dim3" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_vtype type;
		char text[100];
		assert_int_equal(ws_vars_type(vars, rows[i].text, &type, NULL), WS_OK);
		ws_vars_spell_spaces(vars, &type, text, sizeof text);
		assert_string_equal(text, rows[i].wanted);
		ws_vars_spell_spaces(vars, &type, text, 4); /* what fits */
		assert_int_equal(strncmp(text, rows[i].wanted, 3), 0);
		assert_int_equal(strlen(text), 3);
	}
	struct ws_vtype type;
	struct ws_error err;
	assert_int_equal(ws_vars_type(vars, "1 +", &type, &err), WS_ARGUMENT);
	assert_int_equal(ws_vars_type(vars, "int [4][4][4][4][4][4][4]", &type, &err), WS_ARGUMENT);
}

static void mistakes(void **state)
{
	CHECK({
		{ "", "!A syntax error in expression, near `'" },
		{ "1 +", "!A syntax error in expression, near `'" },
		{ "1 2", "!A syntax error in expression, near `2'" },
		{ "(1", "!')' is missing" },
		{ "1)", "!A syntax error in expression, near `)'" },
		{ ")", "!A syntax error in expression, near `)'" },
		{ "1 = 2", "!A syntax error in expression, near `= 2'" },
		{ "$R1 $R2", "!A syntax error in expression, near `$R2'" },
	});
}

/* A name is looked up as it is, however long. */
static void long_names(void **state)
{
	char name[600], wanted[200];
	(void)state;
	for (size_t n = 100; n <= 500; n += 100) {
		memset(name, 'x', n);
		memcpy(name + n, "::y", 4);
		assert_true(wsi_format(wanted, "!there is no 'y' in '%.60s'", name));
		assert_string_equal(said(name).at, wanted);
	}
}

/* As many operators within each other as are followed, and one more. */
static void depth(void **state)
{
	(void)state;
	for (unsigned most = 95; most <= 110; most++) {
		char minus[200], parens[300];
		memset(minus, '~', most);
		memset(parens, '(', most);
		memset(parens + most + 1, ')', most);
		minus[most] = parens[most] = '5';
		minus[most + 1] = parens[2 * most + 1] = 0;
		assert_string_equal(said(minus).at, most > 98  ? "!too many operators are nested"
						    : most % 2 ? "-6"
							       : "5");
		assert_int_equal(said(parens).at[0], most > 49 ? '!' : '5');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, look, leave),
		cmocka_unit_test_setup_teardown(operators, look, leave),
		cmocka_unit_test_setup_teardown(precedence, look, leave),
		cmocka_unit_test_setup_teardown(types_of_results, look, leave),
		cmocka_unit_test_setup_teardown(types_of_c, look, leave),
		cmocka_unit_test_setup_teardown(pointers_and_memory, look, leave),
		cmocka_unit_test_setup_teardown(what_a_thread_has, look, leave),
		cmocka_unit_test_setup_teardown(formats, look, leave),
		cmocka_unit_test_setup_teardown(styles, look, leave),
		cmocka_unit_test_setup_teardown(repeats, look, leave),
		cmocka_unit_test_setup_teardown(a_text_may_end_where_memory_does, look, leave),
		cmocka_unit_test_setup_teardown(texts, look, leave),
		cmocka_unit_test_setup_teardown(names_of_registers, look, leave),
		cmocka_unit_test_setup_teardown(stores, look, leave),
		cmocka_unit_test_setup_teardown(conditions, look, leave),
		cmocka_unit_test_setup_teardown(spelled, look, leave),
		cmocka_unit_test_setup_teardown(mistakes, look, leave),
		cmocka_unit_test_setup_teardown(long_names, look, leave),
		cmocka_unit_test_setup_teardown(depth, look, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
