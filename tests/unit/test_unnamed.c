/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels without debug information: the types of their parameters, by the mangled name, and what
 * registers hold, in words. Images are assembled for the purpose.
 */
#include "unit.h"

#include <stdio.h>

#include <warpscope/assemble.h>
#include <warpscope/focus.h>
#include <warpscope/vars.h>

#include "base/reader.h"
#include "target/fake.h"

enum { SHF_EXECINSTR = 4, MOST = 16 };

static struct fake fake;
static struct ws_focus focus;
static struct ws_assembly *assembly;
static uint8_t image[1 << 16];
static struct ws_vars *vars;

/* An image whose first function is at FAKE_CODE, and a thread that stands at its instruction `at`.
 */
static void look(const char *text, unsigned at)
{
	unsigned n_code = 0;
	struct ws_error err;
	if (ws_assemble(ws_str_of(text), NULL, &assembly, &err) != WS_OK)
		fail_msg("%s: %s", text, err.message);
	struct ws_span made = ws_assembly_image(assembly);
	assert_true(made.len <= sizeof image);
	memcpy(image, made.ptr, made.len);
	uint8_t *header = image + wsi_load_u64(image + 40);
	for (uint64_t i = 0; i < wsi_load_le(image + 60, 2); i++, header += 64)
		if (wsi_load_u64(header + 8) & SHF_EXECINSTR)
			store_le(header + 16, FAKE_CODE + 0x1000ull * n_code++, 8);
	fake_init_still(&fake);
	fake.module[0].relocated = (struct ws_span){ image, made.len, 0 };
	fake.n_callers[0][0] = 0;
	fake.lane[0][0].pc = FAKE_CODE + 16 * at;
	fake.lane[0][0].thread = (struct ws_dim3){ 3, 2, 1 };
	assert_int_equal(ws_focus_find(&fake.target, &focus, NULL), WS_OK);
	focus.lane = 0;
	assert_int_equal(ws_vars_create(&fake.target, &vars, NULL), WS_OK);
	assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
}

static void leave(void)
{
	ws_vars_destroy(vars);
	ws_target_close(&fake.target);
	ws_assembly_destroy(assembly);
}

/* ---- parameters ---- */

static void parameters_have_the_types_of_the_name(void **state)
{
	static const struct {
		const char *name;
		unsigned sizes[4];      /* 0: no more */
		const char *types[4];   /* as the name tells */
		const char *spelled[4]; /* of the value */
	} rows[] = {
		{ "_Z1kPfiPKcd",
		  { 8, 4, 8, 8 },
		  { "float*", "int", "char const*", "double" },
		  { "float*", "int", "char*", "double" } },
		{ "_Z1kPFivES0_", { 8, 8 }, { "int (*)()", "int (*)()" }, { "void*", "void*" } },
		{ "_Z1kPA4_i", { 8 }, { "int (*) [4]" }, { "void*" } },
		{ "_Z1kPPVfRKi",
		  { 8, 8 },
		  { "float volatile**", "int const&" },
		  { "float**", "int*" } },
		{ "_Z1kP3Box3BoxS_",
		  { 8, 12, 12 },
		  { "Box*", "Box", "Box" },
		  { "void*", "unsigned char [12]", "unsigned char [12]" } },
		{ "_Z1k4Pair3OneS_",
		  { 2, 1, 4 },
		  { "Pair", "One", "Pair" },
		  { "unsigned short", "unsigned char", "unsigned int" } },
		{ "_Z1kI3BoxIicEEvT_i",
		  { 8, 4 },
		  { "Box<int, char>", "int" },
		  { "unsigned long", "int" } },
		/* not as many as there are, or of other sizes: not believed */
		{ "_Z1ki", { 4, 4 }, { NULL }, { "unsigned int", "unsigned int" } },
		{ "_Z1kii", { 4 }, { NULL }, { "unsigned int" } },
		{ "_Z1kid", { 4, 4 }, { NULL }, { "unsigned int", "unsigned int" } },
		{ "_Z1kv", { 4 }, { NULL }, { "unsigned int" } },
		{ "k", { 8, 3 }, { NULL }, { "unsigned long", "unsigned char [3]" } },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_kernel_param list[4];
		char text[500], spelled[100];
		uint32_t offset = 0;
		size_t n, len = (size_t)snprintf(text, sizeof text, ".arch sm_90\n.kernel %s\n",
						 rows[i].name);
		for (unsigned k = 0; k < 4 && rows[i].sizes[k]; k++)
			len += (size_t)snprintf(text + len, sizeof text - len, ".param p%u %u\n", k,
						rows[i].sizes[k]);
		snprintf(text + len, sizeof text - len, "EXIT\n.end\n");
		look(text, 0);
		assert_int_equal(ws_vars_params(vars, list, 4, &n, NULL), WS_OK);
		for (unsigned k = 0; k < n; k++) {
			struct ws_kernel_param *param = &list[k];
			char name[12];
			assert_true(wsi_format(name, "arg%u", k));
			assert_string_equal(param->name, name);
			assert_int_equal(param->size_bytes, rows[i].sizes[k]);
			assert_true(k == 0 ? param->bank_offset == 0x210
					   : param->bank_offset >= offset);
			offset = param->bank_offset + param->size_bytes;
			ws_vars_spell(vars, &param->value.type, spelled, sizeof spelled);
			const char *type = rows[i].types[0] ? rows[i].types[k] : "";
			if (strcmp(spelled, rows[i].spelled[k]) != 0 ||
			    !ws_str_equal(param->type, ws_str_of(type)))
				fail_msg("%s: %s is %s, by name %.*s", rows[i].name, name, spelled,
					 (int)param->type.len, param->type.ptr);
			assert_int_equal(param->value.kind, WS_VALUE_MEMORY);
			assert_int_equal(param->value.at.space, WS_SPACE_PARAM);
			assert_int_equal(param->value.at.address, param->bank_offset);
		}
		assert_true(n == 4 || !rows[i].sizes[n]);
		leave();
	}
}

/* ---- registers ---- */

/* Bytes of parameters and of memory count: n is 0x1b1a1918, and `lost` is not in the dump. The
 * thread is (3, 2, 1) of block (0, 1, 2), of blocks of (8, 4, 2) in a grid of (4, 5, 6). */
static const struct held_row {
	const char *code;
	uint64_t value;     /* in R2 and R3 */
	const char *wanted; /* what R2, or both, are said to hold; NULL: nothing */
	enum ws_held_doubt doubt;
} held_rows[] = {
	{ "MOV R2, c[0x0][`(n)]", 0x1b1a1918, "arg1", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][`(n)]", 0x1b1a1919, NULL, WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][`(p)]", 0x13121110, "(bytes 0 to 3 of arg0)", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][`(p+4)]", 0x17161514, "(bytes 4 to 7 of arg0)", WS_HELD_CERTAIN },
	{ "LDC.64 R2, c[0x0][`(p)]", 0x1716151413121110, "arg0", WS_HELD_CERTAIN },
	{ "LDC.64 R2, c[0x0][`(p)]", 0x13121110, "(bytes 0 to 3 of arg0)", WS_HELD_CERTAIN },
	{ "LDC.64 R2, c[0x0][`(n)]", 0x1b1a1918, "arg1", WS_HELD_CERTAIN },
	{ "LDC.U16 R2, c[0x0][`(n+2)]", 0x1b1a, "(bytes 2 to 3 of arg1)", WS_HELD_CERTAIN },
	{ "LDC.U8 R2, c[0x0][`(n+1)]", 0x19, "(byte 1 of arg1)", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][`(s+8)]", 0x2b2a2928, "(bytes 8 to 11 of arg3)", WS_HELD_CERTAIN },
	{ "LDC.64 R2, c[0x0][`(lost)]", 0x4e0000004d, "arg4", WS_HELD_LIKELY },
	{ "MOV R2, c[0x0][`(lost+8)]", 0x0, NULL, WS_HELD_CERTAIN },
	{ "MOV R2, c[0x1][`(n)]", 0x1b1a1918, NULL, WS_HELD_CERTAIN },
	{ "S2R R2, SR_TID.X", 0x3, "threadIdx.x", WS_HELD_CERTAIN },
	{ "S2R R2, SR_CTAID.X", 0x0, "blockIdx.x", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x0]", 0x8, "blockDim.x", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0xc]", 0x4, "gridDim.x", WS_HELD_CERTAIN },
	{ "S2R R2, SR_TID.Y", 0x2, "threadIdx.y", WS_HELD_CERTAIN },
	{ "S2R R2, SR_CTAID.Y", 0x1, "blockIdx.y", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x4]", 0x4, "blockDim.y", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x10]", 0x5, "gridDim.y", WS_HELD_CERTAIN },
	{ "S2R R2, SR_TID.Z", 0x1, "threadIdx.z", WS_HELD_CERTAIN },
	{ "S2R R2, SR_CTAID.Z", 0x2, "blockIdx.z", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x8]", 0x2, "blockDim.z", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x14]", 0x6, "gridDim.z", WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][0x18]", 0x0, NULL, WS_HELD_CERTAIN },
	{ "S2R R2, SR_LANEID", 0x0, NULL, WS_HELD_CERTAIN },
	{ "MOV R2, 0x5", 0x5, NULL, WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIADD3 R2, R4, 0x5, RZ", 0x1b1a191d, "arg1 + 5", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIADD3 R2, R4, -0x5, RZ", 0x1b1a1913, "arg1 - 5", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIADD3 R2, R4, 0x1000, RZ", 0x1b1a2918, "arg1 + 4096",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIADD3 R2, R4, 0x1001, RZ", 0x1b1a2919, "arg1 + 0x1001",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIADD3 R2, RZ, -R4, RZ", 0xe4e5e6e8, "-arg1", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIADD3 R2, -R4, 0x7, R5", 0xe4e5e6f2,
	  "threadIdx.x - arg1 + 7", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIMAD R2, R4, 0x3, R5", 0x514e4b4b,
	  "3*arg1 + threadIdx.x", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIMAD R2, R4, R5, R5", 0x514e4b4b,
	  "arg1*threadIdx.x + threadIdx.x", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nIMAD R2, R4, -0x3, RZ", 0xaeb1b4b8, "-3*arg1", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIADD3 R4, R4, 0x1, R5\nIMAD R2, R4, R5, RZ",
	  0x514e4b54, "(arg1 + threadIdx.x + 1)*threadIdx.x", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIADD3 R4, R4, 0x1, R5\nLOP3.LUT R2, R4, 0xff, "
	  "RZ, 0xc0, !PT",
	  0x1c, "((arg1 + threadIdx.x + 1) & 255)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nLOP3.LUT R2, R4, R5, RZ, 0xfc, !PT", 0x1b1a191b,
	  "(arg1 | threadIdx.x)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nLOP3.LUT R2, R4, R5, RZ, 0x3c, !PT", 0x1b1a191b,
	  "(arg1 ^ threadIdx.x)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nLOP3.LUT R2, RZ, R4, RZ, 0x33, !PT", 0xe4e5e6e7, "~arg1",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIADD3 R4, R4, 0x1, R5\nLOP3.LUT R2, RZ, R4, RZ, "
	  "0x33, !PT",
	  0xe4e5e6e3, "~(arg1 + threadIdx.x + 1)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nSHF.R.U32.HI R2, RZ, 0x4, R4", 0x1b1a191, "(arg1 >> 4)",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nSHF.R.S32.HI R2, RZ, 0x4, R4", 0x1b1a191, "(arg1 >> 4)",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nSHF.L.U32 R2, R4, 0x4, RZ", 0xb1a19180, "16*arg1",
	  WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nSHF.L.U32 R2, R4, R5, RZ", 0xd8d0c8c0,
	  "(arg1 << threadIdx.x)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIMNMX R2, R4, R5, PT", 0x3,
	  "min(arg1, threadIdx.x)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIMNMX R2, R4, R5, !PT", 0x1b1a1918,
	  "max(arg1, threadIdx.x)", WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nS2R R5, SR_TID.X\nIADD3 R4, R4, 0x1, R5\nIMNMX R2, R4, R5, !PT",
	  0x1b1a191c, "max(arg1 + threadIdx.x + 1, threadIdx.x)", WS_HELD_CERTAIN },
	{ "LDC.64 R4, c[0x0][`(p)]\nS2R R6, SR_TID.X\nIMAD.WIDE R2, R6, 0x4, R4",
	  0x171615141312111c, "arg0 + 4*threadIdx.x", WS_HELD_CERTAIN },
	{ "S2R R5, SR_TID.X\nLDS R2, [R5]", 0x6050403, "*(@shared int *)(threadIdx.x)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS R2, [R5]", 0x6050404, NULL, WS_HELD_CERTAIN },
	{ "S2R R5, SR_TID.X\nLDS R2, [R5+0x10]", 0x16151413, "*(@shared int *)(threadIdx.x + 16)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS R2, [R5+-0x2]", 0x4030201, "*(@shared int *)(threadIdx.x - 2)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS.U8 R2, [R5+0x10]", 0x13, "*(@shared char *)(threadIdx.x + 16)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS.S16 R2, [R5+0x10]", 0x1413, "*(@shared short *)(threadIdx.x + 16)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS.64 R2, [R5+0x10]", 0x1a19181716151413,
	  "*(@shared long *)(threadIdx.x + 16)", WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nLDS R2, [R5+0x40]", 0x0, NULL, WS_HELD_CERTAIN },
	{ "S2R R5, SR_TID.X\nLDL R2, [R5+0x1000]", 0x6050403, "*(@local int *)(threadIdx.x + 4096)",
	  WS_HELD_LIKELY },
	{ "S2R R5, SR_TID.X\nATOMS.ADD R2, [R5], R5", 0x6050403, NULL, WS_HELD_CERTAIN },
	{ "MOV R4, c[0x0][`(n)]\nISETP.GE.AND P0, PT, R4, 0x5, PT\nSEL R2, R4, 0x5, P0", 0x1b1a1918,
	  NULL, WS_HELD_CERTAIN },
	{ "MOV R2, c[0x0][`(n)]\nISETP.GE.AND P0, PT, R4, 0x5, PT\n@P0 IADD3 R2, R2, 0x5, RZ",
	  0x1b1a191d, NULL, WS_HELD_CERTAIN },
};

static const char head[] = ".arch sm_90\n.kernel k\n"
			   ".param p 8\n.param n 4\n.param m 4\n.param s 12\n.param lost 8\n";

/* After the lines of a kernel that begins with those parameters. */
static void look_after(const char *code)
{
	char text[1000];
	unsigned lines = 1;
	for (const char *c = code; *c; c++)
		lines += *c == '\n';
	assert_true(wsi_format(text, "%s%s\nEXIT\n.end\n", head, code));
	look(text, lines);
}

static const struct ws_held *held_by(enum ws_reg_kind kind, uint32_t number)
{
	static struct ws_held list[256];
	const struct ws_held *found = NULL;
	size_t n;
	assert_int_equal(ws_vars_held(vars, list, WSI_COUNT(list), &n, NULL), WS_OK);
	assert_true(n <= WSI_COUNT(list));
	for (size_t i = 0; i < n; i++) {
		if (list[i].kind != kind || list[i].number > number ||
		    number >= list[i].number + list[i].n)
			continue;
		assert_null(found);
		found = &list[i];
	}
	return found;
}

static void registers_are_told_in_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(held_rows); i++) {
		const struct held_row *row = &held_rows[i];
		look_after(row->code);
		fake.registers[2] = (uint32_t)row->value;
		fake.registers[3] = (uint32_t)(row->value >> 32);
		const struct ws_held *held = held_by(WS_REG_R, 2);
		const bool is_wide = row->wanted && row->value >> 32;
		if (!row->wanted ? held != NULL : !held || strcmp(held->text, row->wanted) != 0)
			fail_msg("%s: %s", row->code, held ? held->text : "nothing");
		if (held) {
			assert_int_equal(held->doubt, row->doubt);
			assert_int_equal(held->number, 2);
			assert_int_equal(held->n, is_wide ? 2 : 1);
			assert_int_equal(held->value, row->value);
		}
		leave();
	}
	look_after("S2UR UR3, SR_CTAID.Y"); /* a uniform register with an odd number is 1 */
	assert_string_equal(held_by(WS_REG_UR, 3)->text, "blockIdx.y");
	assert_null(held_by(WS_REG_R, 3));
	leave();
}

/* ---- what cannot be told ---- */

static enum ws_status params_status(void)
{
	struct ws_kernel_param list[8];
	struct ws_held held[8];
	size_t n;
	enum ws_status st = ws_vars_params(vars, list, WSI_COUNT(list), &n, NULL);
	assert_int_equal(ws_vars_held(vars, held, WSI_COUNT(held), &n, NULL), st);
	return st;
}

static void the_answer_says_why_there_is_none(void **state)
{
	struct ws_held held[8];
	struct ws_value value;
	struct ws_error err;
	size_t n;
	(void)state;
	look(".arch sm_90\n.func f\nEXIT\n.end\n.kernel k\nEXIT\n.end\n", 0);
	assert_int_equal(params_status(), WS_ABSENT); /* it is no kernel */
	leave();
	look_after("MOV R2, c[0x0][`(n)]");
	assert_int_equal(params_status(), WS_OK);
	assert_int_equal(ws_vars_evaluate(vars, "arg1", &value, NULL), WS_OK);
	assert_int_equal(ws_vars_evaluate(vars, "arg5", &value, NULL), WS_ARGUMENT);
	fake.n_callers[0][0] = 1; /* it called something, which is not looked at */
	fake.callers[0] = (struct ws_return_address){ 0, FAKE_CODE + 16, 16 };
	for (unsigned i = 0; i < WS_MAX_LANES; i++)
		fake.lane[0][i].syscall_call_depth = 0;
	assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
	assert_int_equal(ws_vars_select(vars, 1, NULL), WS_OK);
	assert_int_equal(ws_vars_held(vars, held, WSI_COUNT(held), &n, &err), WS_ABSENT);
	assert_non_null(strstr(err.message, "of a caller"));
	fake.has_facts = true;
	fake.facts.stripped = WS_STRIP_VALUES;
	assert_int_equal(ws_vars_look(vars, &focus, NULL), WS_OK);
	assert_int_equal(ws_vars_held(vars, held, WSI_COUNT(held), &n, NULL), WS_EXCLUDED);
	assert_int_equal(ws_vars_evaluate(vars, "arg1", &value, NULL), WS_OK);
	assert_int_equal(value.kind, WS_VALUE_MISSING);
	assert_int_equal(value.status, WS_EXCLUDED);
	assert_int_equal(ws_vars_look(vars, NULL, NULL), WS_OK); /* no thread */
	assert_int_equal(params_status(), WS_ABSENT);
	leave();
}

/* The `which`-th attribute of .nv.info with a number and a length; docs/formats/cubin.md. */
static uint8_t *attribute(uint8_t number, uint8_t length, unsigned which)
{
	const uint8_t wanted[] = { 4, number, length, 0 };
	for (size_t i = 0; i + sizeof wanted < sizeof image; i++)
		if (memcmp(image + i, wanted, sizeof wanted) == 0 && which-- == 0)
			return image + i + sizeof wanted;
	fail_msg("no attribute 0x%x", number);
	return NULL;
}

/* Attributes PARAM: u32 index, u16 ordinal, u16 offset, u32 with the size in bits 18 to 31; PLACE:
 * u32 symbol, u16 offset in bank 0, u16 size. */
static void damaged_descriptions_of_parameters(void **state)
{
	enum { PLACE = 0x0a, PARAM = 0x17, PARAMS = 5 };
	(void)state;
	for (unsigned i = 0; i < PARAMS; i++) { /* a number that another one has, too */
		look_after("NOP");
		uint8_t *ordinal = attribute(PARAM, 12, i) + 4;
		store_le(ordinal, (wsi_load_le(ordinal, 2) + 1) % PARAMS, 2);
		assert_int_equal(params_status(), WS_MALFORMED);
		leave();
		look_after("NOP"); /* no bytes */
		store_le(attribute(PARAM, 12, i) + 8, 0x3ffff, 4);
		assert_int_equal(params_status(), WS_MALFORMED);
		leave();
		look_after("NOP"); /* one attribute of another kind: the others are parameters */
		attribute(PARAM, 12, i)[-3] = 0xff;
		assert_int_equal(params_status(), WS_OK);
		leave();
	}
	look_after("NOP"); /* nothing says where they are */
	attribute(PLACE, 8, 0)[-3] = 0xff;
	assert_int_equal(params_status(), WS_ABSENT);
	leave();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_the_types_of_the_name),
		cmocka_unit_test(registers_are_told_in_words),
		cmocka_unit_test(the_answer_says_why_there_is_none),
		cmocka_unit_test(damaged_descriptions_of_parameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
