/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the code went to an instruction that no correct run reaches, a failed assertion or a trap:
 * the comparisons that the branch in front of it goes by, with the numbers that they compare. A
 * number is computed from what cannot have changed, or from memory as it is now; the branch must
 * follow from them, else something has changed and nothing is told.
 */
#include "explain/explain.h"

enum { MAX_BLOCKS = 6, MAX_TESTS = 2, TRUE_PREDICATE = 7 };

/* One operand of a comparison. */
struct condition_side {
	bool known, is_float;
	uint32_t bits;
	const char *origin; /* NULL: nothing short to say of it */
};

struct test {
	uint64_t pc; /* of the comparison */
	struct ws_insn insn;
	enum ws_operand_kind kind; /* of its predicate */
	uint8_t predicate;
	bool wanted; /* what the branch wants of it to be taken */
	struct condition_side side[2];
};

struct condition_way {
	struct wsi_scene *at; /* of the code */
	uint32_t lane;
	unsigned uses;
	bool convention; /* a register was kept by what was called in between */
	bool taken;      /* the branch was */
	struct test test[MAX_TESTS];
	size_t n;
};

/* ---- the branch ---- */

bool wsi_branch_find(const struct wsi_scene *at, uint64_t pc, uint64_t *ret_branch, bool *ret_taken)
{
	size_t n_blocks, block_at = ws_flow_block_find(at->code.flow, pc);
	const struct ws_flow_block *blocks = ws_flow_blocks(at->code.flow, &n_blocks);
	for (unsigned i = 0; i < MAX_BLOCKS && block_at < n_blocks; i++) {
		const struct ws_flow_block *block = &blocks[block_at];
		if (block->n_pred != 1)
			return false;
		const struct ws_flow_block *before = &blocks[block->pred[0]];
		if (before->n_succ == 2) {
			*ret_taken = before->end_pc != block->pc;
			*ret_branch = before->end_pc - WS_SASS_BYTES;
			return true;
		}
		block_at = block->pred[0];
	}
	return false;
}

/* The predicates that it goes by. */
static bool branch_read(struct condition_way *way, uint64_t branch)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	if (!wsi_code_insn(&way->at->code, branch, &insn) || insn.operation != WS_OP_BRA ||
	    !ws_insn_explained(&insn))
		return false;
	if (insn.guard != TRUE_PREDICATE)
		way->test[way->n++] = (struct test){ .kind = WS_OPERAND_PRED,
						     .predicate = insn.guard,
						     .wanted = !insn.guard_negated };
	size_t n = ws_sass_operands(&insn, branch, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		if (!ws_operand_is_predicate(ops[i].kind) || ops[i].number == TRUE_PREDICATE)
			continue;
		if (way->n == MAX_TESTS)
			return false;
		way->test[way->n++] = (struct test){ .kind = ops[i].kind,
						     .predicate = (uint8_t)ops[i].number,
						     .wanted = !ops[i].negated };
	}
	return way->n > 0;
}

/* ---- the numbers ---- */

/* "kernel parameter 1", of a word of constant bank 0. */
static const char *param_text(const struct wsi_scene *scene, uint64_t offset)
{
	const struct ws_report_kernel *kernel =
		scene->e->kernel == WS_NONE ? NULL : &scene->build->kernels[scene->e->kernel];
	for (uint32_t i = 0; kernel && i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		uint64_t start = (uint64_t)kernel->params_offset + param->offset;
		if (offset >= start && offset - start < param->size_bytes)
			return wsi_build_text(scene->build, "kernel parameter %u", i);
	}
	return NULL;
}

static const char *origin_of(const struct wsi_scene *scene, const struct ws_flow_node *node)
{
	static const char *const places[] = { "threadIdx.x", "threadIdx.y", "threadIdx.z",
					      "blockIdx.x",  "blockIdx.y",  "blockIdx.z" };
	if (node->op == WS_FLOW_CONSTANT && node->number == 0 && node->n_args == 0)
		return param_text(scene, (uint64_t)node->value);
	if (node->op == WS_FLOW_LOAD)
		return "read from memory";
	if (node->op != WS_FLOW_SPECIAL)
		return NULL;
	if (node->number >= WS_SR_TID_X && node->number <= WS_SR_TID_Z)
		return places[node->number - WS_SR_TID_X];
	if (node->number >= WS_SR_CTAID_X && node->number <= WS_SR_CTAID_Z)
		return places[3 + node->number - WS_SR_CTAID_X];
	return NULL;
}

static void register_read(struct condition_way *way, const struct test *test,
			  const struct ws_operand *op, struct condition_side *side)
{
	struct wsi_scene *at = way->at;
	uint64_t value;
	if (ws_operand_is_fixed(op->kind, op->number)) {
		side->known = true;
		return;
	}
	if (!at->slice && !(at->slice = wsi_zalloc(sizeof *at->slice))) {
		at->found.no_memory = true;
		return;
	}
	enum ws_status st =
		ws_flow_slice(at->code.flow, test->pc, op->kind, op->number, 32, at->slice, NULL);
	at->found.no_memory |= st == WS_NO_MEMORY;
	side->known = st == WS_OK && !at->slice->open && !at->slice->partly &&
		      wsi_eval(at, at->slice, 0, way->lane, 0, &value, &way->uses);
	way->convention |= at->slice->convention;
	side->bits = side->known ? (uint32_t)value : 0;
	side->origin = side->known ? origin_of(at, &at->slice->node[0]) : NULL;
}

/* The operand of the text's place `place`. */
static void side_read(struct condition_way *way, struct test *test, const struct ws_operand *ops,
		      size_t n, unsigned place, struct condition_side *side)
{
	uint64_t bank = UINT64_MAX, value;
	for (size_t i = 0; i < n; i++) {
		if (ops[i].place != place)
			continue;
		if (ops[i].negated || ops[i].absolute || ops[i].suffix[0] != WS_MOD_NONE)
			return;
		if (ops[i].role == WS_ROLE_BANK)
			bank = (uint64_t)ops[i].value;
		else if (ops[i].role == WS_ROLE_OFFSET && bank == 0) {
			side->known = wsi_scene_memory(way->at, way->lane, WS_SPACE_CONST, 0,
						       (uint64_t)ops[i].value, 4, &value) == WS_OK;
			side->bits = side->known ? (uint32_t)value : 0;
			side->origin = param_text(way->at, (uint64_t)ops[i].value);
		} else if (ops[i].role == WS_ROLE_READ && (ops[i].kind == WS_OPERAND_IMMEDIATE ||
							   ops[i].kind == WS_OPERAND_FLOAT)) {
			side->known = true;
			side->bits = (uint32_t)ops[i].value;
		} else if (ops[i].role == WS_ROLE_READ &&
			   (ops[i].kind == WS_OPERAND_REG || ops[i].kind == WS_OPERAND_UREG)) {
			register_read(way, test, &ops[i], side);
		}
	}
}

/* ---- the comparison ---- */

static float float_of(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* What the comparison gives: -1: not known. */
static int test_result_of(const struct test *test)
{
	const struct ws_insn *insn = &test->insn;
	const bool is_float = insn->operation == WS_OP_FSETP;
	const bool is_unsigned = ws_sass_has(insn, WS_MOD_U32);
	const uint32_t bits[2] = { test->side[0].bits, test->side[1].bits };
	double value[2];
	for (size_t i = 0; i < 2; i++)
		value[i] = is_float      ? (double)float_of(bits[i])
			   : is_unsigned ? (double)bits[i]
					 : (double)(int32_t)bits[i];
	const bool less = value[0]<value[1], more = value[0]> value[1];
	const bool equal = value[0] == value[1], unordered = !less && !more && !equal;
	const struct {
		enum ws_modifier modifier;
		bool result;
	} results[] = {
		{ WS_MOD_LT, less },
		{ WS_MOD_LE, less || equal },
		{ WS_MOD_GT, more },
		{ WS_MOD_GE, more || equal },
		{ WS_MOD_EQ, equal },
		{ WS_MOD_NE, less || more },
		{ WS_MOD_LTU, less || unordered },
		{ WS_MOD_LEU, less || equal || unordered },
		{ WS_MOD_GTU, more || unordered },
		{ WS_MOD_GEU, more || equal || unordered },
		{ WS_MOD_EQU, equal || unordered },
		{ WS_MOD_NEU, !equal },
		{ WS_MOD_NAN, unordered },
	};
	for (size_t i = 0; i < WSI_COUNT(results); i++)
		if (ws_sass_has(insn, results[i].modifier))
			return results[i].result;
	return -1;
}

/* Whether an instruction writes the predicate; a comparison of two numbers and no more: `*ret_is`.
 */
static bool writes_predicate(const struct ws_insn *insn, const struct ws_operand *ops, size_t n,
			     const struct test *test, bool *ret_is)
{
	bool found = false, plain = true;
	for (size_t i = 0; i < n; i++) {
		if (!ws_operand_is_predicate(ops[i].kind))
			continue;
		if (ops[i].role != WS_ROLE_READ) {
			unsigned count = ops[i].count ? ops[i].count : TRUE_PREDICATE;
			bool here = ops[i].kind == test->kind && test->predicate >= ops[i].number &&
				    test->predicate < ops[i].number + count;
			found |= here;
			plain &= !here || ops[i].place == 0;
		} else {
			plain &= ops[i].number == TRUE_PREDICATE && !ops[i].negated;
		}
	}
	*ret_is = plain && insn->guard == TRUE_PREDICATE && ws_sass_has(insn, WS_MOD_AND) &&
		  !ws_sass_has(insn, WS_MOD_EX) &&
		  (insn->operation == WS_OP_ISETP || insn->operation == WS_OP_UISETP ||
		   insn->operation == WS_OP_FSETP);
	return found;
}

/* The comparison that gave the predicate its value, back from the branch on the only way there. */
static bool test_find(struct condition_way *way, struct test *test, uint64_t branch)
{
	size_t n_blocks, at = ws_flow_block_find(way->at->code.flow, branch);
	const struct ws_flow_block *blocks = ws_flow_blocks(way->at->code.flow, &n_blocks);
	uint64_t pc = branch;
	for (unsigned i = 0; i < MAX_BLOCKS && at < n_blocks; i++) {
		while (pc > blocks[at].pc) {
			struct ws_operand ops[WS_SASS_MAX_OPERANDS];
			bool is;
			pc -= WS_SASS_BYTES;
			if (!wsi_code_insn(&way->at->code, pc, &test->insn) ||
			    !ws_insn_explained(&test->insn))
				return false;
			size_t n = ws_sass_operands(&test->insn, pc, ops, WSI_COUNT(ops));
			if (!writes_predicate(&test->insn, ops, n, test, &is))
				continue;
			test->pc = pc;
			for (unsigned k = 0; is && k < 2; k++) {
				test->side[k].is_float = test->insn.operation == WS_OP_FSETP;
				side_read(way, test, ops, n, 2 + k, &test->side[k]);
			}
			return is && test->side[0].known && test->side[1].known;
		}
		if (blocks[at].n_pred != 1 || blocks[blocks[at].pred[0]].flags & WS_FLOW_CALLS)
			return false;
		at = blocks[at].pred[0];
		pc = blocks[at].end_pc;
	}
	return false;
}

/* ---- in words ---- */

static const char *side_number_text(struct wsi_build *build, const struct test *test,
				    const struct condition_side *side)
{
	const char *before = side->origin ? " (" : "", *behind = side->origin ? ")" : "";
	const char *origin = side->origin ? side->origin : "";
	if (side->is_float)
		return wsi_build_text(build, "%.9g%s%s%s", (double)float_of(side->bits), before,
				      origin, behind);
	if (ws_sass_has(&test->insn, WS_MOD_U32))
		return wsi_build_text(build, "%" PRIu32 "%s%s%s", side->bits, before, origin,
				      behind);
	return wsi_build_text(build, "%" PRId32 "%s%s%s", (int32_t)side->bits, before, origin,
			      behind);
}

static bool tell_condition(struct wsi_scene *scene, const struct condition_way *way,
			   const struct test *test)
{
	struct wsi_build *build = scene->build;
	bool memory = way->uses & WSI_EVAL_MEMORY;
	const char *code = wsi_code_text(build, &test->insn, test->pc);
	const char *a = side_number_text(build, test, &test->side[0]);
	const char *b = side_number_text(build, test, &test->side[1]);
	if (!code || !a || !b)
		return false;
	wsi_found(scene, memory || way->convention ? WS_CONFIDENCE_LIKELY : WS_CONFIDENCE_CERTAIN,
		  memory ? "the code in front of it, and memory as it is now"
			 : "the code in front of it, parameters and the place of the thread",
		  "in lane %u `%s` compared %s with %s: that led there", way->lane, code, a, b);
	return true;
}

enum ws_status wsi_find_condition(struct wsi_scene *scene, struct wsi_scene *at, uint64_t pc)
{
	struct condition_way way = { .at = at, .lane = wsi_scene_lane(at) };
	uint64_t branch;
	bool taken = true, known = true;
	if (!at->code.flow || way.lane == WS_NONE || wsi_values_are_replaced(scene->build) ||
	    !wsi_branch_find(at, pc, &branch, &way.taken) || !branch_read(&way, branch))
		return WS_OK;
	for (size_t i = 0; i < way.n; i++) {
		known &= test_find(&way, &way.test[i], branch);
		int result = known ? test_result_of(&way.test[i]) : -1;
		known &= result >= 0;
		taken &= (result == 1) == way.test[i].wanted;
	}
	if (at->found.no_memory)
		return WS_NO_MEMORY;
	for (size_t i = 0; known && taken == way.taken && i < way.n; i++) {
		bool met = (test_result_of(&way.test[i]) == 1) == way.test[i].wanted;
		if ((way.taken || !met) && !tell_condition(scene, &way, &way.test[i]))
			return WS_NO_MEMORY;
	}
	return WS_OK;
}
