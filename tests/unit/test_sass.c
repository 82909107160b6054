/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding, printing, operands and encoding of single instructions. */
#include "unit.h"

#include <warpscope/sass.h>

#include "sass/table.h"

struct word {
	uint64_t low, high;
};

static struct ws_insn decode(unsigned sm, struct word word)
{
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_insn insn;
	for (unsigned i = 0; i < WS_SASS_BYTES; i++)
		bytes[i] = (uint8_t)((i < 8 ? word.low : word.high) >> i % 8 * 8);
	ws_sass_decode(sm, bytes, &insn);
	return insn;
}

static const struct word fadd = { 0x0000000608097221, 0x000fe20000000000 };
static const struct word load = { 0x0000100404047981, 0x000fe2000c1e9d00 }; /* sm_90 */

static void text_is_the_disassemblers(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		struct word word;
		uint64_t pc;
		const char *text;
	} cases[] = {
		{ 80, { 0x0000000608097221, 0x000fe20000000000 }, 0, "FADD R9, R8, R6" },
		{ 80, { 0x0000000608098221, 0x000fe20000010000 }, 0, "@!P0 FADD.FTZ R9, R8, R6" },
		{ 80,
		  { 0x3f800000ff007424, 0x000fe200078e00ff },
		  0,
		  "IMAD.MOV.U32 R0, RZ, RZ, 0x3f800000" },
		{ 80, { 0xfffffff000007947, 0x000fe2000383ffff }, 0x40, "BRA 0x40" },
		/* the reuse bits mean nothing without the yield bit */
		{ 80, { 0x0000000608097221, 0x040fe20000000000 }, 0, "FADD R9, R8.reuse, R6" },
		{ 80, { 0x0000000608097221, 0x040fc20000000000 }, 0, "FADD R9, R8, R6" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char text[WS_SASS_TEXT_MAX];
		struct ws_insn insn = decode(cases[i].sm, cases[i].word);
		struct ws_sass_style style = { .hide_unknown = true };
		size_t n = ws_sass_format(&insn, cases[i].pc, &style, text, sizeof text);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(n, strlen(cases[i].text));
	}
}

static void a_word_without_a_row_is_shown_as_unknown(void **state)
{
	(void)state;
	char text[WS_SASS_TEXT_MAX];
	struct ws_insn insn = decode(80, (struct word){ 0x71ff, 0 });
	assert_false(insn.known);
	ws_sass_format(&insn, 0, NULL, text, sizeof text);
	assert_string_equal(text, "/* unknown instruction */ .word 0x71ff");
	assert_int_equal(ws_sass_operands(&insn, 0, NULL, 0), 0);
}

static void an_unexplained_bit_is_shown(void **state)
{
	(void)state;
	char text[WS_SASS_TEXT_MAX];
	struct word word = fadd;
	word.high |= UINT64_C(1) << (88 - 64);
	struct ws_insn insn = decode(80, word);
	assert_true(insn.known);
	assert_int_equal(insn.unknown[1], UINT64_C(1) << (88 - 64));
	ws_sass_format(&insn, 0, NULL, text, sizeof text);
	assert_string_equal(text, "FADD R9, R8, R6 /* unknown bits 0x10000000000000000000000 */");
}

/* Words of compiled code of which not every bit had been told. */
static void every_bit_of_compiled_words_is_explained(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		struct word word;
		const char *text;
	} cases[] = {
		{ 70, { 0x03c0000000ff731c, 0x000e220000004000 }, "B2R.RESULT RZ, P0" },
		{ 86,
		  { 0x0000001009097291, 0x000fe4000f8fda3f },
		  "ULEA.HI.SX32 UR9, UR9, UR16, 0x1b" },
		{ 80,
		  { 0x00c0180006117a11, 0x000fe200000e04ff },
		  "LEA.X R17, R6, c[0x3][0x60], 0x0, P0" },
		{ 90, { 0x00000006060f7c11, 0x000fe200080e04ff }, "LEA.X R15, R6, UR6, 0x0, P0" },
		{ 90, { 0x000000003f3f782f, 0x000fe40008000100 }, "ELECT P0, URZ, ~URZ" },
		{ 100, { 0x0000040004047891, 0x000fe2000f8ec0ff }, "ULEA UR4, UR4, 0x400, 0x18" },
		{ 100,
		  { 0x3f80000002027449, 0x020fe40000200004 },
		  "FFMA2 R2, R2.F32x2.HI_LO, R4.F32x2.HI_LO, 1" },
		{ 103, { 0x3f8000000808744b, 0x000fe20000200000 }, "FADD2 R8, R8.F32x2.HI_LO, 1" },
		{ 103, { 0x3f8000000808784a, 0x000fe20001000000 }, "FMUL2 R8, R8.F32x2.HI_LO, 1" },
		{ 120,
		  { 0x8000000906ff79a8, 0x0044e2000c1ee104 },
		  "ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R6.64+UR4], R9" },
		{ 120,
		  { 0x24924924ff0a78a4, 0x000fc800080e060b },
		  "UIMAD.X UR10, URZ, 0x24924924, UR11, UP0" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_insn insn = decode(cases[i].sm, cases[i].word);
		char text[WS_SASS_TEXT_MAX];
		ws_sass_format(&insn, 0, NULL, text, sizeof text);
		assert_string_equal(text, cases[i].text);
	}
}

static void an_architecture_without_a_table_decodes_to_nothing(void **state)
{
	(void)state;
	static const unsigned archs[] = { 70, 72,  75,  80,  86,  87,  88,  89,
					  90, 100, 101, 103, 107, 110, 120, 121 };
	for (unsigned sm = 0, at = 0; sm < 300; sm++) {
		bool is_known = at < WSI_COUNT(archs) && archs[at] == sm;
		assert_int_equal(ws_sass_supports(sm), is_known);
		at += is_known;
	}
	assert_false(decode(60, fadd).known);
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_error err;
	assert_int_equal(ws_sass_encode(60, "NOP", 0, bytes, &err), WS_UNSUPPORTED);
}

/* Before sm_75 bit 91 stands for nothing. */
static void volta_has_no_uniform_datapath(void **state)
{
	(void)state;
	struct word word = fadd;
	uint8_t bytes[WS_SASS_BYTES];
	assert_true(decode(70, word).known && decode(72, word).known);
	word.high |= UINT64_C(1) << (91 - 64);
	assert_true(decode(75, word).known);
	assert_false(decode(70, word).known || decode(72, word).known);
	assert_int_equal(ws_sass_encode(75, "DADD R2, R4, cx[UR4][0x8]", 0, bytes, NULL), WS_OK);
	assert_int_equal(ws_sass_encode(70, "DADD R2, R4, c[0x0][0x8]", 0, bytes, NULL), WS_OK);
	assert_int_equal(ws_sass_encode(70, "DADD R2, R4, cx[UR4][0x8]", 0, bytes, NULL),
			 WS_MALFORMED);
	assert_int_equal(ws_sass_encode(70, "ULDC UR4, c[0x0][0x8]", 0, bytes, NULL), WS_ABSENT);
	assert_int_equal(ws_sass_encode(70, "IMNMX R2, R4, R5, PT", 0, bytes, NULL), WS_ABSENT);
	assert_int_equal(ws_sass_encode(72, "IMNMX R2, R4, R5, PT", 0, bytes, NULL), WS_OK);
}

static void addresses_tell_how_their_terms_add_up(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		const char *text;
		size_t at; /* operand */
		unsigned count, scale;
		bool is_u32;
	} cases[] = {
		{ 80, "LDS R5, [R0.X4+0x8]", 1, 1, 4, false },
		{ 80, "LDS R5, [R0.X16+UR4]", 1, 1, 16, false },
		{ 80, "LDS R5, [R0.X16+UR4]", 2, 1, 1, false },
		{ 80, "LDG.E R5, [R2.U32+UR4]", 1, 1, 1, true },
		{ 80, "LDG.E R5, [R2.64+UR4]", 1, 2, 1, false },
		{ 90, "LDG.E R5, desc[UR4][R2.64+0x8]", 2, 2, 1, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		assert_int_equal(ws_sass_encode(cases[i].sm, cases[i].text, 0, bytes, NULL), WS_OK);
		ws_sass_decode(cases[i].sm, bytes, &insn);
		assert_true(ws_sass_operands(&insn, 0, ops, WSI_COUNT(ops)) > cases[i].at);
		assert_int_equal(ops[cases[i].at].count, cases[i].count);
		assert_int_equal(ops[cases[i].at].scale, cases[i].scale);
		assert_int_equal(ops[cases[i].at].is_u32, cases[i].is_u32);
	}
}

static void operands_have_roles_and_widths(void **state)
{
	(void)state;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn = decode(90, load);
	assert_true(insn.flags & WS_SASS_LOAD && insn.flags & WS_SASS_GLOBAL);
	assert_int_equal(ws_sass_access_bytes(&insn), 16);
	size_t n = ws_sass_operands(&insn, 0, ops, WSI_COUNT(ops));
	assert_int_equal(n, 4);
	assert_int_equal(ops[0].role, WS_ROLE_WRITTEN);
	assert_int_equal(ops[0].number, 4);
	assert_int_equal(ops[0].count, 4);
	assert_int_equal(ops[1].role, WS_ROLE_DESCRIPTOR);
	assert_int_equal(ops[1].kind, WS_OPERAND_UREG);
	assert_int_equal(ops[2].role, WS_ROLE_ADDRESS_BASE);
	assert_int_equal(ops[2].count, 2);
	assert_int_equal(ops[3].role, WS_ROLE_OFFSET);
	assert_int_equal(ops[3].value, 0x10);
	assert_int_equal(ws_sass_operands(&insn, 0, NULL, 0), n);
}

static void modifiers_name_their_fields(void **state)
{
	(void)state;
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	struct ws_insn insn = decode(80, (struct word){ 0x0000000608097221, 0x000fe2000000c000 });
	assert_int_equal(insn.operation, WS_OP_FADD);
	assert_int_equal(ws_sass_modifiers(&insn, mods, WSI_COUNT(mods)), 1);
	assert_int_equal(mods[0], WS_MOD_RZ);
	assert_string_equal(ws_sass_modifier_name(mods[0]), "RZ");
	assert_true(ws_sass_has(&insn, WS_MOD_RZ));
	assert_false(ws_sass_has(&insn, WS_MOD_FTZ));
}

static void properties_are_those_of_the_row(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		const char *text;
		enum ws_operation operation, plain;
		enum ws_modifier modifier; /* WS_MOD_NONE: none is asked for */
		enum ws_category category;
		enum ws_sass_space space;
		unsigned bytes;
	} cases[] = {
		{ 90, "@UP0 SYNCS.EXCH.64 URZ, [UR4], UR6", WS_OP_SYNCS, WS_OP_SYNCS, WS_MOD_EXCH,
		  WS_CATEGORY_BARRIER, WS_SASS_SPACE_SHARED, 8 },
		{ 80, "BAR.ARV 0x1, 0x40", WS_OP_BAR, WS_OP_BAR, WS_MOD_ARV, WS_CATEGORY_BARRIER,
		  WS_SASS_SPACE_NONE, 0 },
		{ 80, "IMAD.WIDE R2, R4, R5, R6", WS_OP_IMAD, WS_OP_IMAD, WS_MOD_WIDE,
		  WS_CATEGORY_INTEGER, WS_SASS_SPACE_NONE, 0 },
		{ 80, "UIADD3 UR4, UR4, 0x1, URZ", WS_OP_UIADD3, WS_OP_IADD3, WS_MOD_NONE,
		  WS_CATEGORY_INTEGER, WS_SASS_SPACE_NONE, 0 },
		{ 80, "LDS.U8 R5, [R0+0x8]", WS_OP_LDS, WS_OP_LDS, WS_MOD_U8, WS_CATEGORY_MEMORY,
		  WS_SASS_SPACE_SHARED, 1 },
		{ 80, "LDSM.16.M88.4 R4, [R0]", WS_OP_LDSM, WS_OP_LDSM, WS_MOD_4,
		  WS_CATEGORY_MEMORY, WS_SASS_SPACE_SHARED, 16 },
		{ 80, "LDC.64 R2, c[0x3][R4]", WS_OP_LDC, WS_OP_LDC, WS_MOD_64, WS_CATEGORY_MEMORY,
		  WS_SASS_SPACE_CONSTANT, 8 },
		{ 90, "UTMALDG.2D [UR16], [UR6]", WS_OP_UTMALDG, WS_OP_UTMALDG, WS_MOD_2D,
		  WS_CATEGORY_TENSOR_MAP, WS_SASS_SPACE_GLOBAL, 0 },
		{ 90, "PRMT.F4E R2, R4, 0x3210, R5", WS_OP_PRMT, WS_OP_PRMT, WS_MOD_F4E,
		  WS_CATEGORY_MOVE, WS_SASS_SPACE_NONE, 0 },
		{ 80, "MEMBAR.SC.INVALID4", WS_OP_MEMBAR, WS_OP_MEMBAR, WS_MOD_UNKNOWN,
		  WS_CATEGORY_CACHE, WS_SASS_SPACE_NONE, 0 },
		{ 90, "PRMT.INVALID7 R2, R4, 0x3210, R5", WS_OP_PRMT, WS_OP_PRMT, WS_MOD_UNKNOWN,
		  WS_CATEGORY_MOVE, WS_SASS_SPACE_NONE, 0 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		print_message("# %s\n", cases[i].text);
		assert_int_equal(ws_sass_encode(cases[i].sm, cases[i].text, 0, bytes, NULL), WS_OK);
		ws_sass_decode(cases[i].sm, bytes, &insn);
		assert_int_equal(insn.operation, cases[i].operation);
		assert_int_equal(ws_sass_plain_operation(insn.operation), cases[i].plain);
		assert_int_equal(ws_sass_category(insn.operation), cases[i].category);
		assert_int_equal(ws_sass_space(&insn), cases[i].space);
		assert_int_equal(ws_sass_access_bytes(&insn), cases[i].bytes);
		assert_true(cases[i].modifier == WS_MOD_NONE ||
			    ws_sass_has(&insn, cases[i].modifier));
	}
	struct ws_insn s2r = decode(80, (struct word){ 0x0000000000007919, 0x000fe20000002100 });
	struct ws_operand ops[2];
	assert_int_equal(ws_sass_operands(&s2r, 0, ops, WSI_COUNT(ops)), 2);
	assert_int_equal(ops[1].kind, WS_OPERAND_SPECIAL);
	assert_int_equal(ops[1].number, WS_SR_TID_X);
	assert_string_equal(ws_sass_modifier_name((enum ws_modifier)65535), "");
	assert_string_equal(ws_sass_modifier_name((enum ws_modifier)wsi_isa_n_modifiers), "");
	const unsigned none = (unsigned)wsi_isa_n_ops;
	assert_string_equal(ws_sass_operation_name(none), "?");
	assert_int_equal(ws_sass_plain_operation(none), none);
	assert_int_equal(ws_sass_category(none), WS_CATEGORY_SYSTEM);
}

static void the_encoder_says_where_it_stopped(void **state)
{
	(void)state;
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_error err;
	assert_int_equal(ws_sass_encode(80, "FROB R1", 0, bytes, &err), WS_ABSENT);
	assert_int_equal(ws_sass_encode(80, "FADD R1, R2, Q3", 0, bytes, &err), WS_MALFORMED);
	assert_int_equal(err.file_off, 13);
	assert_int_equal(ws_sass_encode(80, "", 0, bytes, &err), WS_MALFORMED);
	assert_int_equal(ws_sass_encode(80, "@P9 NOP", 0, bytes, &err), WS_MALFORMED);
	assert_int_equal(ws_sass_encode(80, "NOP /* open", 0, bytes, NULL), WS_MALFORMED);
	assert_int_equal(ws_sass_encode(80, "  @!P0   FADD.FTZ  R9, R8,   R6 ;", 0, bytes, &err),
			 WS_OK);
}

static void a_long_name_is_cut_where_it_is_told(void **state)
{
	(void)state;
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_error err;
	assert_int_equal(
		ws_sass_encode(80, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 R1", 0, bytes, &err),
		WS_ABSENT);
	assert_string_equal(err.message,
			    "sm_80 has no operation 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'");
}

/* Each field of a control word, with the most that it holds. */
static void control_words_are_written_field_by_field(void **state)
{
	(void)state;
	static const struct {
		const char *comment;
		struct ws_sass_control control;
	} fit[] = {
		{ "stall 0", { .write_barrier = 7, .read_barrier = 7 } },
		{ "stall 15", { .stall = 15, .write_barrier = 7, .read_barrier = 7 } },
		{ "stall 1 yield",
		  { .stall = 1, .yield = true, .write_barrier = 7, .read_barrier = 7 } },
		{ "stall 1 wr 0", { .stall = 1, .read_barrier = 7 } },
		{ "stall 1 wr 5 rd 0", { .stall = 1, .write_barrier = 5 } },
		{ "stall 1 rd 6", { .stall = 1, .write_barrier = 7, .read_barrier = 6 } },
		{ "stall 1 wait 0x3f",
		  { .stall = 1, .write_barrier = 7, .read_barrier = 7, .wait_mask = 63 } },
		{ "stall 1 reuse 0xf",
		  { .stall = 1, .write_barrier = 7, .read_barrier = 7, .reuse = 15 } },
		{ "stall 2 yield wr 1 rd 2 wait 0x21 reuse 0x5", { 2, true, 1, 2, 0x21, 5 } },
	};
	static const char *const beyond[] = {
		"stall 16",         "stall 1 wr 8",    "stall 1 rd 8", "stall 1 wait 0x40",
		"stall 1 reuse 16", "stall 1 pause 1", "stall",        "stall 1 wr"
	};
	uint8_t bytes[WS_SASS_BYTES];
	char text[100];
	for (size_t i = 0; i < WSI_COUNT(fit); i++) {
		struct ws_insn insn;
		struct ws_sass_style style = { .control = true };
		assert_true(wsi_format(text, "FADD R9, R8, R6 /* %s */", fit[i].comment));
		assert_int_equal(ws_sass_encode(80, text, 0, bytes, NULL), WS_OK);
		ws_sass_decode(80, bytes, &insn);
		struct ws_sass_control control = ws_insn_control(&insn), want = fit[i].control;
		assert_int_equal(control.stall, want.stall);
		assert_int_equal(control.yield, want.yield);
		assert_int_equal(control.write_barrier, want.write_barrier);
		assert_int_equal(control.read_barrier, want.read_barrier);
		assert_int_equal(control.wait_mask, want.wait_mask);
		assert_int_equal(control.reuse, want.reuse);
		char again[WS_SASS_TEXT_MAX];
		ws_sass_format(&insn, 0, &style, again, sizeof again);
		assert_non_null(strstr(again, fit[i].comment));
	}
	for (size_t i = 0; i < WSI_COUNT(beyond); i++) {
		assert_true(wsi_format(text, "FADD R9, R8, R6 /* %s */", beyond[i]));
		assert_int_equal(ws_sass_encode(80, text, 0, bytes, NULL), WS_MALFORMED);
	}
}

static void a_short_buffer_cuts_the_text(void **state)
{
	(void)state;
	struct ws_insn insn = decode(80, fadd);
	char text[8];
	for (size_t size = 1; size <= sizeof text; size++) {
		memset(text, 'x', sizeof text);
		size_t n = ws_sass_format(&insn, 0, NULL, text, size);
		assert_in_range(n, size < 3 ? 0 : size - 2,
				size - 1); /* a space at the end is trimmed */
		assert_memory_equal(text, "FADD R9, R8", n);
		assert_int_equal(text[n], '\0');
	}
	assert_int_equal(ws_sass_format(&insn, 0, NULL, text, 0), 0);
}

static bool name_leaf(void *user, uint64_t pc, char *buffer, size_t size)
{
	if (pc != *(uint64_t *)user)
		return false;
	return snprintf(buffer, size, "leaf") > 0;
}

static void targets_get_names(void **state)
{
	(void)state;
	uint64_t leaf = 0x40;
	struct ws_sass_style style = { .name = name_leaf, .user = &leaf };
	struct ws_insn insn = decode(80, (struct word){ 0xfffffff000007947, 0x000fe2000383ffff });
	char text[WS_SASS_TEXT_MAX];
	ws_sass_format(&insn, 0x40, &style, text, sizeof text);
	assert_string_equal(text, "BRA `(leaf)");
	struct ws_operand op;
	assert_int_equal(ws_sass_operands(&insn, 0x40, &op, 1), 1);
	assert_int_equal(op.role, WS_ROLE_TARGET);
	assert_int_equal(op.value, 0x40);
}

static void addresses_of_the_loader_get_names(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		struct word word;
		uint8_t lo, len;
		const char *relocated, *text;
	} cases[] = {
		{ 80,
		  { 0x00000000000147802, 0x000fe40000000f00 },
		  32,
		  32,
		  "32@lo(leaf)",
		  "MOV R20, 32@lo(leaf) /* stall 2 yield */" },
		{ 80,
		  { 0x0000000000007943, 0x001fea0003c00000 },
		  34,
		  47,
		  "`(leaf)",
		  "CALL.ABS.NOINC `(leaf) /* stall 5 yield wait 0x1 */" },
		{ 80,
		  { 0x0000000608097221, 0x000fe20001000000 }, /* a bit that no row explains */
		  32,
		  32,
		  "32@lo(leaf)",
		  "FADD R9, R8, R6 /* bits 0x10000000000000000000000 */ /* stall 1 yield */" },
		/* an offset of 0 is not shown without a name */
		{ 80,
		  { 0x0000000605007388, 0x0001e80000004800 },
		  40,
		  24,
		  "`(tile)",
		  "STS [R5.X4+`(tile)], R6 /* stall 4 yield rd 0 */" },
		{ 80,
		  { 0x00000000ff037984, 0x000e280000000800 },
		  40,
		  24,
		  "`(tile)",
		  "LDS R3, [`(tile)] /* stall 4 yield wr 0 */" },
		/* bank and offset of a constant are one name */
		{ 80,
		  { 0x0000000003037621, 0x000fca0000000000 },
		  40,
		  19,
		  "`(k+0xc)",
		  "FADD R3, R3, c[`(k+0xc)] /* stall 5 */" },
		{ 90,
		  { 0x00c00000ff0b7b82, 0x000ee20000000800 },
		  38,
		  21,
		  "`(k)",
		  "LDC R11, c[`(k)] /* stall 1 yield wr 3 */" },
		{ 90,
		  { 0x0080000000027b82, 0x000e240000000800 },
		  38,
		  21,
		  "`(k-0x8000)",
		  "LDC R2, c[R0+`(k-0x8000)] /* stall 2 yield wr 0 */" },
		{ 100,
		  { 0x00c00000ff0477ac, 0x001e640008000800 },
		  37,
		  22,
		  "`(k)",
		  "LDCU UR4, c[`(k)] /* stall 2 yield wr 1 wait 0x1 */" },
		{ 80,
		  { 0x3000000606037b66, 0x000f6800009e01ff },
		  40,
		  14,
		  "`(tex)",
		  "TLD.SCR.LZ RZ, R3, R6, R6, 0x0, `(tex), 2D, 0x1 /* stall 4 yield wr 5 */" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char text[WS_SASS_TEXT_MAX];
		struct ws_insn insn = decode(cases[i].sm, cases[i].word);
		struct ws_sass_style style = { .control = true,
					       .relocated = cases[i].relocated,
					       .relocated_lo = cases[i].lo,
					       .relocated_len = cases[i].len };
		ws_sass_format(&insn, 0, &style, text, sizeof text);
		assert_string_equal(text, cases[i].text);
	}
}

/* xorshift64*: the same words every time. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Any bytes decode; what no row explains is in the text; the lossless text encodes to the bytes. */
static void random_words_hide_nothing(void **state)
{
	(void)state;
	static const unsigned archs[] = {
		70, 72, 75, 80, 86, 89, 90, 100, 103, 107, 110, 120, 121
	};
	enum { WORDS = 10000 };
	uint64_t seed = 1;
	unsigned n_known = 0, n_unknown_bits = 0;
	for (unsigned i = 0; i < WORDS * WSI_COUNT(archs); i++) {
		unsigned sm = archs[i % WSI_COUNT(archs)];
		uint64_t low = next_random(&seed), high = next_random(&seed);
		struct ws_insn insn = decode(sm, (struct word){ low, high });
		char plain[WS_SASS_TEXT_MAX], lossless[WS_SASS_TEXT_MAX];
		struct ws_sass_style style = { .control = true };
		size_t n = ws_sass_format(&insn, 0, NULL, plain, sizeof plain);
		assert_true(n == strlen(plain) && n < sizeof plain - 1);
		assert_true(insn.word[0] == low && insn.word[1] == high);
		if (!insn.known) {
			assert_non_null(strstr(plain, "/* unknown instruction */ .word 0x"));
			continue;
		}
		bool has_unknown = insn.unknown[0] | insn.unknown[1];
		assert_int_equal(strstr(plain, "/* unknown bits 0x") != NULL, has_unknown);
		n_known++;
		n_unknown_bits += has_unknown;

		uint8_t bytes[WS_SASS_BYTES], again[WS_SASS_BYTES];
		for (unsigned k = 0; k < WS_SASS_BYTES; k++)
			bytes[k] = (uint8_t)((k < 8 ? low : high) >> k % 8 * 8);
		ws_sass_format(&insn, 0, &style, lossless, sizeof lossless);
		assert_int_equal(ws_sass_encode(sm, lossless, 0, again, NULL), WS_OK);
		assert_memory_equal(bytes, again, sizeof bytes);
	}
	print_message("# %u of %u have a row, %u of them unknown bits\n", n_known,
		      (unsigned)(WORDS * WSI_COUNT(archs)), n_unknown_bits);
	assert_true(n_known > 500 && n_unknown_bits > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_the_disassemblers),
		cmocka_unit_test(a_word_without_a_row_is_shown_as_unknown),
		cmocka_unit_test(an_unexplained_bit_is_shown),
		cmocka_unit_test(every_bit_of_compiled_words_is_explained),
		cmocka_unit_test(an_architecture_without_a_table_decodes_to_nothing),
		cmocka_unit_test(operands_have_roles_and_widths),
		cmocka_unit_test(volta_has_no_uniform_datapath),
		cmocka_unit_test(addresses_tell_how_their_terms_add_up),
		cmocka_unit_test(modifiers_name_their_fields),
		cmocka_unit_test(properties_are_those_of_the_row),
		cmocka_unit_test(the_encoder_says_where_it_stopped),
		cmocka_unit_test(a_long_name_is_cut_where_it_is_told),
		cmocka_unit_test(control_words_are_written_field_by_field),
		cmocka_unit_test(a_short_buffer_cuts_the_text),
		cmocka_unit_test(targets_get_names),
		cmocka_unit_test(addresses_of_the_loader_get_names),
		cmocka_unit_test(random_words_hide_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
