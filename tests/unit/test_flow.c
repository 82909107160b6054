/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a function and what is written between two of its instructions. */
#include "assemble.h"

#include <warpscope/flow.h>

static struct ws_flow *flow_of(struct assembled *code, unsigned sm, uint64_t base,
			       const char *const *lines)
{
	struct ws_flow *flow = NULL;
	struct ws_span span = assemble(code, sm, base, lines);
	assert_int_equal(ws_flow_create(sm, span, base, NULL, 0, &flow, NULL), WS_OK);
	return flow;
}

/* "0>1,2 1>2 2>" with E for exits, R returns, C calls, I indirect, O open. */
static void describe(const struct ws_flow *flow, char *text, size_t size)
{
	size_t n, at = 0;
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	text[0] = '\0';
	for (size_t i = 0; i < n && at < size; i++) {
		static const char letters[] = "?CRELIOU!c";
		at += (size_t)snprintf(text + at, size - at, "%s%zu", i ? " " : "", i);
		for (unsigned flag = 1; flag < 10 && at < size; flag++)
			if (blocks[i].flags >> flag & 1)
				at += (size_t)snprintf(text + at, size - at, "%c", letters[flag]);
		for (uint32_t k = 0; k < blocks[i].n_succ && at < size; k++)
			at += (size_t)snprintf(text + at, size - at, "%s%" PRIu32, k ? "," : ">",
					       blocks[i].succ[k]);
	}
}

static void blocks_follow_the_branches(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		const char *lines[12];
		const char *text, *why;
	} cases[] = {
		{ 80, { "MOV R0, R1", "EXIT" }, "0E", "one block" },
		{ 80,
		  { "@P0 BRA 0x1020", "MOV R0, R1", "EXIT" },
		  "0>1,2 1>2 2E",
		  "a guarded branch may fall through" },
		{ 80, { "@P0 EXIT", "BRA 0x1010" }, "0E>1 1>1", "a guarded exit too" },
		{ 80,
		  { "BRA !P1, 0x1020", "NOP", "RET.REL.NODEC R20 0x1000" },
		  "0>1,2 1>2 2R",
		  "a predicate operand" },
		{ 80, { "BRA 0x1020", "NOP", "EXIT" }, "0>2 1>2 2E", "no fall-through" },
		{ 80,
		  { "CALL.REL.NOINC 0x1020", "EXIT", "RET.REL.NODEC R20 0x1000" },
		  "0C>1 1E 2Rc",
		  "a call returns; what it calls is an entry" },
		{ 80, { "BRA 0x9000", "EXIT" }, "0L 1E", "out of the code" },
		{ 80, { "BRX R2 -0x1010", "EXIT" }, "0IO 1E", "indirect without targets" },
		{ 80, { "MOV R0, R1" }, "0U", "no end" },
		{ 80,
		  { "BSSY B0, 0x1040", "@P0 BRA 0x1030", "NOP", "BSYNC B0", "EXIT" },
		  "0>1,2 1>2 2>3 3E",
		  "lanes meet behind BSYNC" },
		{ 80,
		  { "BSSY B0, 0x1040", "@P0 BRA 0x1030", "BSYNC B0", "BSYNC B0", "EXIT" },
		  "0>1,2 1>2,3 2>3 3E",
		  "or where BSSY said" },
		{ 90,
		  { "@!UP0 UIADD3 UR4, UR4, 0x1, URZ", "BRA.U UP0, 0x1030", "NOP", "EXIT" },
		  "0>1,2 1>2 2E",
		  "a uniform predicate" },
		{ 100,
		  { "WARPSYNC.COLLECTIVE R3, 0x1020", "EXIT", "ENDCOLLECTIVE", "BRA 0x1010" },
		  "0>1,2 1E 2>1",
		  "a collective goes to its code" },
		{ 80, { "@!PT BRA 0x1020", "NOP", "EXIT" }, "0E", "never taken" },
		{ 80, { "@!PT EXIT", "NOP", "EXIT" }, "0E", "nor is this one" },
		{ 80, { "EXIT !P0", "NOP", "EXIT" }, "0E>1 1E", "an exit with a predicate" },
		{ 80, { "JMP 0x1020", "NOP", "EXIT" }, "0>2 1>2 2E", "to an absolute place" },
		{ 80,
		  { "BRA.DIV ~URZ, 0x1020", "NOP", "EXIT" },
		  "0>1,2 1>2 2E",
		  "taken if lanes are missing" },
		{ 80,
		  { "@!PT BRA.CONV ~URZ, 0x1020", "NOP", "EXIT" },
		  "0>1,2 1>2 2E",
		  "the guard only says whose lanes count" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct assembled code;
		char text[256];
		struct ws_flow *flow = flow_of(&code, cases[i].sm, 0x1000, cases[i].lines);
		describe(flow, text, sizeof text);
		if (strcmp(text, cases[i].text) != 0)
			fail_msg("%s: %s, not %s", cases[i].why, text, cases[i].text);
		ws_flow_destroy(flow);
	}
}

static void known_targets_close_an_indirect_branch(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow *flow = NULL;
	char text[256];
	static const char *const lines[] = { "BRX R2 -0x1010", "NOP", "EXIT", "EXIT", NULL };
	static const struct ws_flow_edge edges[] = {
		{ 0x1000, 0x1030 }, { 0x1000, 0x1010 }, { 0x1000, 0x1030 }, { 0x1010, 0x1000 },
		{ 0x1000, 0x1034 }, { 0x1000, 0x8000 }, { 0x7000, 0x1000 },
	};
	struct ws_span span = assemble(&code, 80, 0x1000, lines);
	assert_int_equal(ws_flow_create(80, span, 0x1000, edges, WSI_COUNT(edges), &flow, NULL),
			 WS_OK);
	describe(flow, text, sizeof text);
	assert_string_equal(text, "0I>1,2 1E 2E");
	size_t n;
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	assert_int_equal(blocks[2].n_pred, 1);
	assert_int_equal(blocks[2].pred[0], 0);
	assert_int_equal(ws_flow_block_find(flow, 0x1020), 1);
	assert_true(ws_flow_block_find(flow, 0x1024) == SIZE_MAX);
	assert_true(ws_flow_block_find(flow, 0xff0) == SIZE_MAX);
	assert_true(ws_flow_block_find(flow, 0x1040) == SIZE_MAX);
	ws_flow_destroy(flow);
}

static void no_code_has_no_blocks(void **state)
{
	(void)state;
	struct ws_flow *flow = NULL;
	struct ws_error err;
	uint8_t bytes[31];
	size_t n = 1;
	memset(bytes, 0xff, sizeof bytes);
	struct ws_span none = { NULL, 0, 0 }, odd = { bytes, sizeof bytes, 0 };
	assert_int_equal(ws_flow_create(80, none, 0, NULL, 0, &flow, &err), WS_OK);
	ws_flow_blocks(flow, &n);
	assert_int_equal(n, 0);
	ws_flow_destroy(flow);
	assert_int_equal(ws_flow_create(80, odd, 0, NULL, 0, &flow, &err), WS_OK);
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	assert_int_equal(n, 1);
	assert_true(blocks[0].flags & WS_FLOW_UNKNOWN);
	ws_flow_destroy(flow);
	assert_int_equal(ws_flow_create(35, none, 0, NULL, 0, &flow, &err), WS_UNSUPPORTED);
	ws_flow_destroy(NULL);
}

/* ---- written between ---- */

static const char *const loop[] = {
	/* 00 */ "MOV R1, R9",
	/* 10 */ "LDG.E R2, [R4.64]", /* the loop */
	/* 20 */ "IADD3 R3, R3, R2, RZ",
	/* 30 */ "IADD3 R4, P1, R4, 0x4, RZ",
	/* 40 */ "@P0 BRA 0x10",
	/* 50 */ "MOV R6, R3",
	/* 60 */ "EXIT",
	NULL,
};

static bool has(const struct ws_flow_registers *set, unsigned number)
{
	return !ws_flow_registers_spare(set, WS_OPERAND_REG, number, 1);
}

static void a_straight_way_writes_what_lies_on_it(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow_written w;
	struct ws_flow *flow = flow_of(&code, 80, 0, loop);
	assert_int_equal(ws_flow_written(flow, 0x10, 0x30, &w, NULL), WS_OK);
	assert_int_equal(w.n_direct, 2);
	assert_true(has(&w.direct, 2) && has(&w.direct, 3));
	assert_false(has(&w.direct, 4) || has(&w.direct, 6) || w.direct.pred);
	assert_true(w.loop);
	assert_true(has(&w.any, 4) && w.any.pred == 2);
	assert_false(has(&w.any, 6) || has(&w.any, 1));
	assert_false(ws_flow_registers_spare(&w.direct, WS_OPERAND_REG, 1, 2));
	assert_true(ws_flow_registers_spare(&w.direct, WS_OPERAND_REG, 4, 2));
	assert_true(ws_flow_registers_spare(&w.any, WS_OPERAND_REG, 255, 1));
	ws_flow_destroy(flow);
}

static void a_way_may_go_round_a_loop(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow_written w;
	struct ws_flow *flow = flow_of(&code, 80, 0, loop);
	assert_int_equal(ws_flow_written(flow, 0x30, 0x20, &w, NULL), WS_OK);
	assert_true(has(&w.direct, 4) && has(&w.direct, 2));
	assert_false(has(&w.direct, 3));
	assert_true(has(&w.any, 3));
	assert_int_equal(w.n_direct, 3);
	assert_int_equal(ws_flow_written(flow, 0x10, 0x60, &w, NULL), WS_OK);
	assert_true(has(&w.direct, 6) && has(&w.direct, 4) && !has(&w.any, 1));
	assert_true(w.loop);
	assert_int_equal(ws_flow_written(flow, 0x10, 0x10, &w, NULL), WS_OK);
	assert_int_equal(w.n_direct, 0);
	assert_true(!has(&w.direct, 2) && has(&w.any, 2) && w.loop);
	assert_int_equal(ws_flow_written(flow, 0x0, 0x60, &w, NULL), WS_OK);
	assert_false(w.loop);
	assert_int_equal(ws_flow_written(flow, 0x60, 0x10, &w, NULL), WS_ABSENT);
	assert_int_equal(ws_flow_written(flow, 0x50, 0x10, &w, NULL), WS_ABSENT);
	assert_int_equal(ws_flow_written(flow, 0x12, 0x10, &w, NULL), WS_ARGUMENT);
	assert_int_equal(ws_flow_written(flow, 0x10, 0x70, &w, NULL), WS_ARGUMENT);
	ws_flow_destroy(flow);
}

static void registers_keep_what_nothing_overwrites(void **state)
{
	(void)state;
	static const struct {
		uint64_t from, at;
		bool behind, kept;
		unsigned number;
		const char *why;
	} rows[] = {
		{ 0x10, 0x20, true, true, 2, "nothing lies between" },
		{ 0x10, 0x60, true, true, 2, "rounds before the last do not count" },
		{ 0x30, 0x20, true, true, 4, "the next round has it from this one" },
		{ 0x20, 0x40, false, false, 3, "the instruction itself overwrites it" },
		{ 0x20, 0x40, true, true, 3, "it is what the instruction writes" },
		{ 0x10, 0x10, false, true, 4, "as it is" },
		{ 0x10, 0x10, true, false, 2, "in this round nobody has written it" },
		{ 0x00, 0x20, true, true, 1, "the loop does not write it" },
		{ 0x00, 0x20, true, false, 3, "rounds that pass the second do count" },
		{ 0x60, 0x10, true, false, 1, "no way leads there" },
	};
	struct assembled code;
	struct ws_flow *flow = flow_of(&code, 80, 0, loop);
	for (size_t i = 0; i < WSI_COUNT(rows); i++)
		if (ws_flow_keeps(flow, rows[i].from, rows[i].behind, rows[i].at, WS_OPERAND_REG,
				  rows[i].number, 1) != rows[i].kept)
			fail_msg("%s", rows[i].why);
	assert_false(ws_flow_keeps(flow, 0x00, true, 0x20, WS_OPERAND_UREG, 1, 1));
	ws_flow_destroy(flow);
}

static void both_arms_of_a_branch_count(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow_written w;
	static const char *const lines[] = {
		/* 00 */ "LDG.E R2, [R4.64]",
		/* 10 */ "@P0 BRA 0x40",
		/* 20 */ "@P2 MOV R8, R2",
		/* 30 */ "BRA 0x50",
		/* 40 */ "UMOV UR4, 0x1",
		/* 50 */ "MOV R4, R2",
		/* 60 */ "EXIT",
		/* 70 */ "MOV R30, R2",
		NULL,
	};
	struct ws_flow *flow = flow_of(&code, 80, 0, lines);
	assert_int_equal(ws_flow_written(flow, 0x0, 0x50, &w, NULL), WS_OK);
	assert_true(has(&w.direct, 2) && has(&w.direct, 8) && !has(&w.direct, 4));
	assert_false(ws_flow_registers_spare(&w.direct, WS_OPERAND_UREG, 4, 1));
	assert_false(w.loop || w.call || w.unknown_any);
	assert_int_equal(w.n_direct, 5);
	assert_memory_equal(&w.direct, &w.any, sizeof w.any);
	ws_flow_destroy(flow);
}

static void a_call_writes_what_its_callee_writes(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow_written w;
	static const char *const lines[] = {
		/* 100 */ "LDG.E R2, [R4.64]",
		/* 110 */ "CALL.REL.NOINC 0x140",
		/* 120 */ "CALL.ABS.NOINC 0x0",
		/* 130 */ "EXIT",
		/* 140 */ "@P0 BRA 0x140",
		/* 150 */ "MOV R7, R8",
		/* 160 */ "RET.REL.NODEC R20 0x100",
		NULL,
	};
	struct ws_flow *flow = flow_of(&code, 80, 0x100, lines);
	assert_int_equal(ws_flow_written(flow, 0x100, 0x120, &w, NULL), WS_OK);
	assert_true(w.call && has(&w.direct, 2) && has(&w.direct, 7) && !has(&w.direct, 8));
	assert_int_equal(ws_flow_written(flow, 0x120, 0x130, &w, NULL), WS_OK);
	assert_true(w.call && has(&w.direct, 8) && has(&w.direct, 0) && !w.unknown_direct);
	assert_false(has(&w.direct, 1) || has(&w.direct, 2) || has(&w.direct, 16) ||
		     has(&w.direct, 31));
	ws_flow_destroy(flow);
}

static void unknown_code_takes_trust_away(void **state)
{
	(void)state;
	struct assembled code;
	struct ws_flow_written w;
	static const char *const lines[] = { "MOV R1, R2",   "NOP",  "@P0 BRA 0x0",
					     "BRX R4 -0x10", "EXIT", NULL };
	struct ws_span span = assemble(&code, 80, 0, lines);
	struct ws_flow *flow = NULL;
	memset(code.bytes + 16, 0xff, 16);
	assert_int_equal(ws_flow_create(80, span, 0, NULL, 0, &flow, NULL), WS_OK);
	assert_int_equal(ws_flow_written(flow, 0x0, 0x10, &w, NULL), WS_OK);
	assert_true(!w.unknown_direct && w.unknown_any);
	assert_int_equal(ws_flow_written(flow, 0x0, 0x20, &w, NULL), WS_OK);
	assert_true(w.unknown_direct);
	assert_int_equal(ws_flow_written(flow, 0x0, 0x40, &w, NULL), WS_ABSENT);
	ws_flow_destroy(flow);
}

/* ---- loops ---- */

static void a_loop_waits_for_what_decides_it(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		const char *lines[12];
		uint64_t pc, source;
		uint32_t n_insns;
		bool stores, endless;
		const char *why;
	} cases[] = {
		{ 90,
		  { "LDG.E.STRONG.SYS R0, desc[UR6][R6.64]", "YIELD",
		    "ISETP.GE.U32.AND P0, PT, R0, UR5, PT", "@!P0 BRA 0x1000", "EXIT" },
		  0x1010,
		  0x1000,
		  4,
		  false,
		  false,
		  "a flag" },
		{ 80,
		  { "LD.E R4, [R4.64]", "MOV R0, R4", "ISETP.NE.AND P0, PT, R0, RZ, PT",
		    "PLOP3.LUT P0, PT, P0, PT, PT, 0x8, 0x0", "@P0 BRA 0x1060", "BRA 0x1000",
		    "EXIT" },
		  0x1040,
		  0x1000,
		  6,
		  false,
		  false,
		  "through copies and a negated predicate" },
		{ 90,
		  { "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R5", "@!P0 BRA 0x1000", "EXIT" },
		  0x1000,
		  0x1000,
		  2,
		  false,
		  false,
		  "a try" },
		{ 80,
		  { "ATOMG.E.CAS.STRONG.GPU PT, R4, [R2], R8, R9",
		    "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA 0x1000", "EXIT" },
		  0x1000,
		  0x1000,
		  3,
		  false,
		  false,
		  "a lock" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "STG.E [R6.64], R2", "IADD3 R3, R3, 0x1, RZ",
		    "ISETP.NE.AND P0, PT, R3, R9, PT", "@P0 BRA 0x1000", "EXIT" },
		  0x1020,
		  0,
		  5,
		  true,
		  false,
		  "a counted loop" },
		{ 80, { "BRA 0x1000" }, 0x1000, 0, 1, false, true, "no way out" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "ISETP.NE.AND P0, PT, R2, RZ, PT", "@P0 BRA 0x1000",
		    "IADD3 R3, R3, 0x1, RZ", "ISETP.NE.AND P1, PT, R3, R9, PT", "@P1 BRA 0x1000",
		    "EXIT" },
		  0x1000,
		  0x1000,
		  3,
		  false,
		  false,
		  "the inner of two" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct assembled code;
		struct ws_flow_loop found;
		struct ws_flow *flow = flow_of(&code, cases[i].sm, 0x1000, cases[i].lines);
		enum ws_status st = ws_flow_loop(flow, cases[i].pc, &found, NULL);
		if (st != WS_OK || found.n_insns != cases[i].n_insns ||
		    found.n_sources != (cases[i].source != 0) ||
		    (cases[i].source && found.source_pc[0] != cases[i].source) ||
		    found.stores != cases[i].stores || found.endless != cases[i].endless)
			fail_msg("%s: %s, %u instructions, %zu sources", cases[i].why,
				 ws_status_name(st), found.n_insns, found.n_sources);
		ws_flow_destroy(flow);
	}
	struct assembled code;
	struct ws_flow_loop found;
	struct ws_flow *flow = flow_of(&code, 80, 0, loop);
	assert_int_equal(ws_flow_loop(flow, 0x50, &found, NULL), WS_ABSENT);
	assert_int_equal(ws_flow_loop(flow, 0x51, &found, NULL), WS_ARGUMENT);
	ws_flow_destroy(flow);
}

/* What a loop is, in letters: S it stores, C it computes, M a condition is mixed, L it is limited;
 * then the number of conditions that only what is read decides, and what that must be. */
static void a_loop_that_computes_is_told_from_one_that_waits(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		const char *lines[12];
		const char *what;
		const char *why;
	} cases[] = {
		{ 90,
		  { "LDG.E.STRONG.SYS R0, desc[UR6][R6.64]", "YIELD",
		    "ISETP.GE.U32.AND P0, PT, R0, UR5, PT", "@!P0 BRA 0x1000", "EXIT" },
		  "1 at least",
		  "a counter of others" },
		{ 80,
		  { "LD.E R4, [R8.64]", "ISETP.EQ.AND P0, PT, R4, RZ, PT",
		    "PLOP3.LUT P0, PT, P0, PT, PT, 0x8, 0x0", "@P0 BRA 0x1050", "BRA 0x1000",
		    "EXIT" },
		  "1 other",
		  "a flag, by a negated predicate" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "IADD3 R3, R3, 0x1, RZ", "ISETP.LT.AND P0, PT, R3, R2, PT",
		    "@P0 BRA 0x1000", "EXIT" },
		  "M0 none",
		  "a limit in memory" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "FADD R3, R3, R7", "ISETP.NE.AND P0, PT, R2, RZ, PT",
		    "@!P0 BRA 0x1000", "EXIT" },
		  "C1 other",
		  "a sum until a flag is set" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "IADD3 R3, R3, 0x1, RZ", "ISETP.NE.AND P0, PT, R2, RZ, PT",
		    "ISETP.LT.AND P1, PT, R3, R9, PT", "@!P0 BRA P1, 0x1000", "EXIT" },
		  "L1 other",
		  "a flag, tried so many times" },
		{ 80,
		  { "LDG.E R2, [R4.64]", "IADD3 R4, R4, 0x4, RZ", "ISETP.NE.AND P0, PT, R2, RZ, PT",
		    "@P0 BRA 0x1000", "EXIT" },
		  "CM0 none",
		  "the end of a string" },
		{ 80,
		  { "LDG.E R4, [R4.64]", "ISETP.NE.AND P0, PT, R4, RZ, PT", "@P0 BRA 0x1000",
		    "EXIT" },
		  "M0 none",
		  "the end of a list" },
		{ 80,
		  { "ATOMG.E.ADD.STRONG.GPU PT, R2, [R4], R8", "ISETP.LT.AND P0, PT, R2, R9, PT",
		    "@P0 BRA 0x1000", "EXIT" },
		  "S1 at least",
		  "tickets" },
		{ 80,
		  { "ATOMG.E.ADD.STRONG.GPU PT, R2, [R4], RZ", "ISETP.NE.AND P0, PT, R2, RZ, PT",
		    "@!P0 BRA 0x1000", "EXIT" },
		  "1 other",
		  "a flag, read by an atomic" },
		{ 80,
		  { "NANOSLEEP R3", "LDG.E R2, [R4.64]", "IADD3 R3, R3, R3, RZ",
		    "ISETP.NE.AND P0, PT, R2, 0x7, PT", "@P0 BRA 0x1000", "EXIT" },
		  "1 equal",
		  "a sleep that becomes longer" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct assembled code;
		struct ws_flow_loop found;
		char text[40];
		struct ws_flow *flow = flow_of(&code, cases[i].sm, 0x1000, cases[i].lines);
		assert_int_equal(ws_flow_loop(flow, 0x1000, &found, NULL), WS_OK);
		wsi_format(text, "%s%s%s%s%u %s", found.stores ? "S" : "",
			   found.computes ? "C" : "", found.mixed ? "M" : "",
			   found.limited ? "L" : "", found.n_conditions,
			   ws_flow_test_text(found.test));
		if (strcmp(text, cases[i].what) != 0)
			fail_msg("%s: %s, not %s", cases[i].why, text, cases[i].what);
		ws_flow_destroy(flow);
	}
}

/* ---- stores ---- */

/* One letter an instruction: H hits, U is not sure, any other misses. */
static enum ws_flow_hit judge_letter(void *context, uint64_t pc)
{
	const char *letters = context;
	char letter = letters[(pc - 0x1000) / 16];
	return letter == 'H' ? WS_FLOW_HIT : letter == 'U' ? WS_FLOW_UNSURE : WS_FLOW_MISS;
}

static void stores_are_followed_against_the_edges(void **state)
{
	(void)state;
	static const struct {
		const char *lines[12]; /* the last one asks */
		char letters[12];
		const char *text, *why;
	} cases[] = {
		{ { "STL [R1], R4", "STL.64 [R1], R8", "EXIT" }, "HH.", "1:R8", "the last one" },
		{ { "STL [R1], R4", "ST.E.64 [R2.64], R8", "EXIT" }, "HM.", "0:R4", "one misses" },
		{ { "STL [R1], R4", "STG.E [R2.64], R8", "EXIT" },
		  "HU.",
		  "0:R4",
		  "no store of the thread's memory is not asked about" },
		{ { "STL [R1], R4", "STL [R1], R8", "EXIT" }, "HU.", "?", "a part" },
		{ { "MOV R2, R3", "EXIT" }, "..", "entry", "none" },
		{ { "@P0 STL [R1], R4", "EXIT" }, "H.", "0:R4 entry", "under a guard" },
		{ { "STL [R1], R5", "@P0 BRA 0x1030", "STL [R1], R4", "EXIT" },
		  "H.H.",
		  "0:R5 2:R4",
		  "two ways" },
		{ { "STL [R1], RZ", "NOP", "STL [R1], R4", "@P0 BRA 0x1010", "EXIT" },
		  "H.H..",
		  "2:R4",
		  "a loop that stores" },
		{ { "STL [R1], R5", "CALL.REL.NOINC 0x1030", "EXIT", "RET.REL.NODEC R20 0x1000" },
		  "H...",
		  "0:R5 calls",
		  "over a call" },
		{ { "STL [R1], R4", "ATOM.E.ADD.STRONG.GPU PT, R6, [R2.64], R8", "EXIT" },
		  "HH.",
		  "?",
		  "what an atomic leaves is not what it adds" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct assembled code;
		struct ws_flow_stores stores;
		char text[100] = "";
		size_t at = 0, n = 0;
		struct ws_flow *flow = flow_of(&code, 80, 0x1000, cases[i].lines);
		while (cases[i].lines[n + 1])
			n++;
		if (strstr(cases[i].lines[n], "RET"))
			n--;
		enum ws_status st =
			ws_flow_find_stores(flow, 0x1000 + 16 * n, judge_letter,
					    (void *)(uintptr_t)cases[i].letters, &stores, NULL);
		for (size_t k = 0; st == WS_OK && k < stores.n; k++)
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%u:R%u",
					       k ? " " : "",
					       (unsigned)(stores.store[k].pc - 0x1000) / 16,
					       stores.store[k].number);
		if (st == WS_OK && stores.entry)
			at += (size_t)snprintf(text + at, sizeof text - at, "%sentry",
					       at ? " " : "");
		if (st == WS_OK && stores.calls)
			snprintf(text + at, sizeof text - at, " calls");
		if (st != WS_OK) {
			assert_int_equal(st, WS_LIMIT);
			snprintf(text, sizeof text, "?");
		}
		if (strcmp(text, cases[i].text) != 0)
			fail_msg("%s: \"%s\", expected \"%s\"", cases[i].why, text, cases[i].text);
		ws_flow_destroy(flow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_follow_the_branches),
		cmocka_unit_test(known_targets_close_an_indirect_branch),
		cmocka_unit_test(no_code_has_no_blocks),
		cmocka_unit_test(a_straight_way_writes_what_lies_on_it),
		cmocka_unit_test(a_way_may_go_round_a_loop),
		cmocka_unit_test(registers_keep_what_nothing_overwrites),
		cmocka_unit_test(both_arms_of_a_branch_count),
		cmocka_unit_test(a_call_writes_what_its_callee_writes),
		cmocka_unit_test(unknown_code_takes_trust_away),
		cmocka_unit_test(a_loop_waits_for_what_decides_it),
		cmocka_unit_test(a_loop_that_computes_is_told_from_one_that_waits),
		cmocka_unit_test(stores_are_followed_against_the_edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
