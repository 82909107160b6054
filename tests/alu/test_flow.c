/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/flow and src/explain say that an instruction computes, against src/alu: random words of
 * every row of the instruction table with random operands. Where an expression is known it must
 * give what the operation gives, and an operation that src/alu does not know must have none. usage:
 * test_alu_flow [WORDS]
 */
#include "alu/machine.h"
#include "explain/explain.h"

#include <warpscope/flow.h>

static unsigned words = 60;

enum { OP12S = 1 << 12, PLACES = 8, MOST_CODE = PLACES + 2 };

/* ---- instructions ---- */

static void set_bits(uint64_t word[2], unsigned lo, unsigned len, uint64_t value)
{
	for (unsigned i = 0; i < len; i++) {
		uint64_t bit = UINT64_C(1) << (lo + i) % 64;
		uint64_t *part = &word[(lo + i) / 64];
		*part = value >> i & 1 ? *part | bit : *part & ~bit;
	}
}

static struct ws_insn decoded(unsigned sm, const uint64_t word[2])
{
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_insn insn;
	memcpy(bytes, word, sizeof bytes);
	ws_sass_decode(sm, bytes, &insn);
	return insn;
}

/*
 * Random modifiers and numbers; registers R4 to R11 or RZ as sources, R2 as the result, no guard,
 * no predicate but PT: which those are src/flow does not follow.
 */
static void make_word(unsigned op12, uint64_t word[2], uint64_t *seed)
{
	uint64_t x = machine_random(seed);
	word[0] = machine_random(seed);
	word[1] = machine_random(seed) & machine_random(seed) & machine_random(seed);
	if (x & 1)
		set_bits(word, 32, 32, machine_word(seed) & (x & 2 ? 0x3f : UINT32_MAX));
	set_bits(word, 0, 12, op12);
	set_bits(word, 12, 4, 7);
	set_bits(word, 16, 8, 2);
	set_bits(word, 24, 8, x >> 8 & 7 ? 4 : 255);
	set_bits(word, 64, 8, x >> 16 & 3 ? 8 : 255);
	if (op12 >> 9 != 2 && op12 >> 9 != 4)
		set_bits(word, 32, 8, x >> 24 & 7 ? 6 : 255);
	set_bits(word, 81, 6, x >> 32 & 3 ? 63 : 0);
	set_bits(word, 87, 4, 7 | (x >> 34 & 1) << 3);
	set_bits(word, 77, 4, x >> 36 & 1 ? 15 : machine_random(seed));
	set_bits(word, 91, 1, x >> 37 & 1);
	if (x >> 38 & 1) /* a mask of all */
		set_bits(word, 72, 4, 15);
	set_bits(word, 105, 23, 0);
}

static bool has_unknown(const struct ws_insn *insn)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods));
	for (size_t i = 0; i < n; i++)
		if (mods[i] == WS_MOD_UNKNOWN)
			return true;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].suffix[0] == WS_MOD_UNKNOWN)
			return true;
	return insn->unknown[0] || insn->unknown[1];
}

/* Constants are the same to both: none of their business. */
static bool has_constant(const struct ws_insn *insn)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].role == WS_ROLE_BANK)
			return true;
	return false;
}

/* ---- running and asking ---- */

struct code {
	uint64_t word[MOST_CODE][2];
	size_t n;
};

static void add_move(struct code *code, unsigned sm, bool uniform, unsigned to, uint32_t value)
{
	uint8_t bytes[WS_SASS_BYTES];
	char text[64];
	struct ws_error err;
	snprintf(text, sizeof text, "%sMOV %sR%u, 0x%x", uniform ? "U" : "", uniform ? "U" : "", to,
		 value);
	assert_int_equal(ws_sass_encode(sm, text, 0, bytes, &err), WS_OK);
	memcpy(code->word[code->n++], bytes, sizeof bytes);
}

/* The registers that an instruction reads get their values from moves in front of it. */
static bool add_moves(struct code *code, unsigned sm, const struct ws_insn *insn,
		      const struct machine *m)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	bool done[2][256] = { { false } };
	size_t n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		bool uniform = ops[i].kind == WS_OPERAND_UREG;
		if (ops[i].kind != WS_OPERAND_REG && !uniform)
			continue;
		if (ops[i].role != WS_ROLE_READ || ops[i].number == 255)
			continue;
		for (unsigned k = 0; k < ops[i].count; k++) {
			unsigned r = ops[i].number + k;
			if (done[uniform][r])
				continue;
			if (code->n == PLACES || r >= MACHINE_REGS)
				return false;
			done[uniform][r] = true;
			add_move(code, sm, uniform, r, uniform ? m->ur[r] : m->r[r][0]);
		}
	}
	return true;
}

/* What the expression of a register behind the instruction gives; false when it is not known. */
static bool ask(const struct code *code, unsigned sm, enum ws_operand_kind kind, unsigned bits,
		uint64_t *ret_value)
{
	static struct ws_flow_slice slice;
	static struct wsi_scene scene;
	struct ws_span span = { (const uint8_t *)code->word, code->n * WS_SASS_BYTES, 0 };
	struct ws_flow *flow;
	struct ws_error err;
	unsigned uses = 0;
	bool known = false;
	assert_int_equal(ws_flow_create(sm, span, 0, NULL, 0, &flow, &err), WS_OK);
	if (ws_flow_slice(flow, (code->n - 1) * WS_SASS_BYTES, kind, AT_TO, bits, &slice, &err) ==
	    WS_OK)
		known = slice.n && wsi_eval(&scene, &slice, 0, 0, 0, ret_value, &uses);
	ws_flow_destroy(flow);
	return known;
}

struct tally {
	unsigned known[WS_OP_YIELD + 1], compared;
};

static const struct wsi_alu_value *only_result(const struct wsi_alu *alu)
{
	bool one = alu->n_results == 1 && alu->result[0].number == AT_TO &&
		   (alu->result[0].words == 1 || alu->result[0].words == 2);
	return one ? &alu->result[0] : NULL;
}

static void compare(unsigned sm, const struct ws_insn *insn, struct tally *tally, uint64_t *seed)
{
	static struct machine m;
	struct code code = { .n = 0 };
	struct wsi_alu alu;
	char text[WS_SASS_TEXT_MAX];
	enum wsi_alu_status st = wsi_alu_prepare(insn, &alu);
	if (st == WSI_ALU_ELSEWHERE)
		return;
	machine_fill(&m, seed);
	if (has_constant(insn) || !add_moves(&code, sm, insn, &m))
		return;
	memcpy(code.word[code.n++], insn->word, sizeof insn->word);
	memcpy(code.word[code.n++], decoded(sm, (uint64_t[]){ 0x7918, 0 }).word, WS_SASS_BYTES);
	ws_sass_format(insn, 0, NULL, text, sizeof text);
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	bool uniform = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops)) &&
		       insn->flags & WS_SASS_UNIFORM_GUARD;
	enum ws_operand_kind kind = uniform ? WS_OPERAND_UREG : WS_OPERAND_REG;
	uint64_t said;
	if (st == WSI_ALU_MISSING) {
		/* What is not known may be what a predicate is told. */
		if (ws_insn_bits(insn, 81, 6) == 63 && ask(&code, sm, kind, 32, &said))
			fail_msg("sm_%u %s: has an expression, but no operation", sm, text);
		return;
	}
	const struct wsi_alu_value *to = only_result(&alu);
	if (!to)
		return;
	machine_run(&m, &alu);
	for (unsigned bits = 32; bits <= 32u * to->words; bits *= 2) {
		if (!ask(&code, sm, kind, bits, &said))
			continue;
		uint64_t got = uniform ? m.ur[AT_TO] | (uint64_t)m.ur[AT_TO + 1] << 32
				       : machine_pair(&m, AT_TO, 0);
		got = bits == 32 ? got & UINT32_MAX : got;
		if (got != said)
			fail_msg("sm_%u %s: R4 %08x R6 %08x R8 %08x: expression %llx, operation "
				 "%llx",
				 sm, text, m.r[AT_A][0], m.r[AT_B][0], m.r[AT_C][0],
				 (unsigned long long)said, (unsigned long long)got);
		tally->known[insn->operation]++;
		tally->compared++;
	}
}

static void test_expressions(void **state)
{
	static const unsigned architectures[] = { 75, 80, 90, 100, 120 };
	static const enum ws_operation expected[] = {
		WS_OP_MOV,  WS_OP_IADD3, WS_OP_IADD, WS_OP_VIADD,  WS_OP_IMAD,   WS_OP_LEA,
		WS_OP_SHF,  WS_OP_LOP3,  WS_OP_SEL,  WS_OP_IMNMX,  WS_OP_VIMNMX, WS_OP_UMOV,
		WS_OP_USHF, WS_OP_ULOP3, WS_OP_ULEA, WS_OP_UIADD3, WS_OP_UIMAD,
	};
	static struct tally tally;
	uint64_t seed = 1;
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(architectures); i++) {
		unsigned sm = architectures[i];
		for (unsigned op12 = 0; op12 < OP12S; op12++) {
			for (unsigned n = 0, found = 0; n < 4 * words && found < words; n++) {
				uint64_t word[2];
				make_word(op12, word, &seed);
				struct ws_insn insn = decoded(sm, word);
				word[0] ^= insn.unknown[0]; /* as usual */
				word[1] ^= insn.unknown[1];
				insn = decoded(sm, word);
				if (!insn.known || has_unknown(&insn))
					continue;
				found++;
				compare(sm, &insn, &tally, &seed);
			}
		}
	}
	for (size_t i = 0; i < WSI_COUNT(expected); i++)
		if (!tally.known[expected[i]])
			fail_msg("%s: never compared", ws_sass_operation_name(expected[i]));
	assert_true(tally.compared > 1000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_expressions) };
	if (argc > 1)
		words = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
