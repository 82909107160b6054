/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions that reach an instruction: a walk against the edges, block by block, that ends at
 * sure writes. Predicated writes are collected on the way: behind `@P0 MOV R2, ..` the walk knows
 * that P0 was false, so that a write under `@!P0` before it is sure. Such knowledge holds until the
 * predicate is written and is dropped at the start of a block.
 */
#include "base/base.h"
#include "flow/flow.h"

/* What is known of predicates at the place of the walk. */
struct facts {
	uint8_t known, value;   /* P */
	uint8_t uknown, uvalue; /* UP */
};

enum ws_status wsi_reach_init(struct wsi_reach *reach, const struct ws_flow *flow,
			      struct ws_error *err)
{
	*reach = (struct wsi_reach){ .flow = flow, .steps = WSI_MAX_STEPS };
	reach->seen = wsi_zalloc_array(flow->n_blocks, sizeof *reach->seen);
	reach->work = wsi_zalloc_array(flow->n_blocks, sizeof *reach->work);
	if (reach->seen && reach->work)
		return WS_OK;
	wsi_reach_fini(reach);
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "search for definitions");
}

void wsi_reach_fini(struct wsi_reach *reach)
{
	wsi_free(reach->seen);
	wsi_free(reach->work);
	reach->seen = reach->work = NULL;
}

/* By place; what comes in at an entry before what its first instruction writes. */
static uint64_t order_of(const struct wsi_def *def)
{
	return (uint64_t)def->at << 2 | (def->kind == WSI_DEF_ENTRY ? 0u : 1u + def->kind);
}

static void add_def(struct wsi_defs *defs, struct wsi_def def)
{
	size_t at = 0;
	while (at < defs->n && order_of(&defs->def[at]) < order_of(&def))
		at++;
	if (at < defs->n && order_of(&defs->def[at]) == order_of(&def)) {
		if (def.guard == 7)
			defs->def[at].guard = 7;
		return;
	}
	if (defs->n == WSI_MAX_DEFS) {
		defs->more = true;
		return;
	}
	memmove(&defs->def[at + 1], &defs->def[at], (defs->n - at) * sizeof def);
	defs->def[at] = def;
	defs->n++;
}

/* ---- guards ---- */

static void learn(struct facts *facts, uint8_t guard, bool holds)
{
	uint8_t bit = (uint8_t)(1u << (guard & 7));
	bool value = holds != (bool)(guard & 8);
	uint8_t *known = guard & 16 ? &facts->uknown : &facts->known;
	uint8_t *values = guard & 16 ? &facts->uvalue : &facts->value;
	if ((guard & 7) == 7)
		return;
	*known |= bit;
	*values = (uint8_t)(value ? *values | bit : *values & ~bit);
}

static void forget(struct facts *facts, const struct wsi_effect *effect)
{
	facts->known &= (uint8_t)~effect->pred;
	facts->uknown &= (uint8_t)~effect->upred;
}

/* 1: the guard holds, -1: it does not, 0: not known. */
static int guard_holds(const struct facts *facts, const struct wsi_effect *effect)
{
	if (!(effect->flags & WSI_EFFECT_GUARDED))
		return 1;
	uint8_t bit = (uint8_t)(1u << (effect->guard & 7));
	uint8_t known = effect->guard & 16 ? facts->uknown : facts->known;
	uint8_t values = effect->guard & 16 ? facts->uvalue : facts->value;
	if (!(known & bit))
		return 0;
	return (bool)(values & bit) != (bool)(effect->guard & 8) ? 1 : -1;
}

/* ---- one instruction ---- */

static bool writes_wanted(const struct wsi_effect *effect, const struct wsi_want *want)
{
	unsigned number = want->number;
	switch (want->kind) {
	case WS_OPERAND_REG:
		for (size_t i = 0; i < WSI_COUNT(effect->reg); i++)
			if (number >= effect->reg[i] && number - effect->reg[i] < effect->n_reg[i])
				return true;
		return false;
	case WS_OPERAND_UREG:
		return number >= effect->ureg && number - effect->ureg < effect->n_ureg;
	case WS_OPERAND_PRED:
		return effect->pred >> number & 1;
	case WS_OPERAND_UPRED:
		return effect->upred >> number & 1;
	case WS_OPERAND_BREG:
	case WS_OPERAND_SCOREBOARD:
	case WS_OPERAND_IMMEDIATE:
	case WS_OPERAND_FLOAT:
	case WS_OPERAND_TARGET:
	case WS_OPERAND_SPECIAL:
		break;
	}
	return false;
}

/* Whether a store fills a stack slot: 1 all of it, -1 in part, 0 not as far as its registers tell.
 */
static int stores_slot(struct wsi_reach *reach, size_t at, const struct wsi_want *want)
{
	struct wsi_parts parts;
	wsi_parts_of(reach->flow, at, &parts);
	for (size_t i = 0; i < parts.n_sources; i++) {
		const struct wsi_source *to = &parts.source[i];
		if (!to->address)
			continue;
		if (!to->has_base || to->has_ubase || to->base != want->number ||
		    !(parts.insn.flags & WS_SASS_LOCAL)) {
			reach->spilled = true; /* through a pointer: assumed to go elsewhere */
			return 0;
		}
		int64_t bytes = ws_sass_access_bytes(&parts.insn);
		if (to->value >= want->offset + want->slot_bytes ||
		    want->offset >= to->value + bytes)
			return 0;
		return to->value <= want->offset &&
				       to->value + bytes >= want->offset + want->slot_bytes
			       ? 1
			       : -1;
	}
	return 0;
}

enum reach_step { GO_ON, PATH_ENDS };

static enum reach_step lose(struct wsi_defs *defs, size_t at, const char *why)
{
	add_def(defs, (struct wsi_def){ .kind = WSI_DEF_LOST, .at = at, .guard = 7, .why = why });
	return PATH_ENDS;
}

static enum reach_step step_call(struct wsi_reach *reach, size_t at, const struct wsi_want *want,
				 struct wsi_defs *defs)
{
	const struct ws_flow *flow = reach->flow;
	uint32_t callee = flow->blocks[flow->block_of[at]].callee;
	if (want->slot || want->judge)
		reach->spilled = true;
	if (want->judge)
		return GO_ON;
	if (callee != WS_FLOW_NO_BLOCK) {
		struct ws_flow_registers set;
		if (!wsi_callee_writes(flow, callee, &reach->steps, &set))
			return lose(defs, at, "a call whose callee cannot be followed");
		return ws_flow_registers_spare(&set, want->kind, want->number, 1)
			       ? GO_ON
			       : lose(defs, at, "written by a called function");
	}
	if (wsi_flow_call_may_write(want->kind, want->number))
		return lose(defs, at, "written by a called function");
	reach->convention = true;
	return GO_ON;
}

static enum reach_step step_back_insn(struct wsi_reach *reach, size_t at,
				      const struct wsi_want *want, struct facts *facts,
				      struct wsi_defs *defs)
{
	const struct wsi_effect *effect = &reach->flow->effect[at];
	if (effect->flags & WSI_EFFECT_UNKNOWN)
		return lose(defs, at, "an unknown instruction");
	reach->partly |= (effect->flags & WSI_EFFECT_PARTLY) != 0;
	forget(facts, effect);
	if (effect->flags & WSI_EFFECT_CALL && step_call(reach, at, want, defs) == PATH_ENDS)
		return PATH_ENDS;
	bool hit = writes_wanted(effect, want);
	if (want->slot) {
		int store = effect->flags & WSI_EFFECT_STORE ? stores_slot(reach, at, want) : 0;
		if (hit || store < 0)
			return lose(defs, at, hit ? "the stack moves" : "a part of it is stored");
		hit = store > 0;
	}
	if (want->judge && effect->flags & WSI_EFFECT_STORE) {
		enum ws_flow_hit found = want->judge(want->context, wsi_flow_pc(reach->flow, at));
		if (found == WS_FLOW_UNSURE)
			return lose(defs, at, "a store that is not sure");
		hit = found == WS_FLOW_HIT;
	}
	int holds = hit ? guard_holds(facts, effect) : -1;
	if (holds < 0)
		return GO_ON;
	add_def(defs, (struct wsi_def){ .kind = WSI_DEF_INSN,
					.at = at,
					.guard = holds > 0 ? 7 : effect->guard });
	if (holds > 0)
		return PATH_ENDS;
	learn(facts, effect->guard, false);
	return GO_ON;
}

/* ---- the walk ---- */

/* Walks from before `end` to the start of its block; true when the start is reached. */
static bool walk_block(struct wsi_reach *reach, size_t end, size_t start,
		       const struct wsi_want *want, struct facts facts, struct wsi_defs *defs)
{
	for (size_t at = end; at-- > start;) {
		if (reach->steps == 0) {
			lose(defs, at, "the search is too long");
			return false;
		}
		reach->steps--;
		if (step_back_insn(reach, at, want, &facts, defs) == PATH_ENDS || defs->more)
			return false;
	}
	return true;
}

/* Goes on before the start of a block; returns the new number of blocks to walk. */
static size_t enter_preds(struct wsi_reach *reach, uint32_t at, size_t n_work,
			  struct wsi_defs *defs)
{
	const struct ws_flow *flow = reach->flow;
	const struct ws_flow_block *block = &flow->blocks[at];
	size_t first = wsi_flow_first(flow, at);
	if (block->flags & (WS_FLOW_ENTRY | WS_FLOW_CALLED))
		add_def(defs, (struct wsi_def){ .kind = WSI_DEF_ENTRY, .at = first, .guard = 7 });
	else if (block->n_pred == 0 || block->flags & WS_FLOW_UNREACHED)
		lose(defs, first, "no known path leads here");
	for (uint32_t i = 0; i < block->n_pred; i++) {
		if (reach->seen[block->pred[i]] == reach->search ||
		    flow->blocks[block->pred[i]].flags & WS_FLOW_UNREACHED)
			continue;
		reach->seen[block->pred[i]] = reach->search;
		reach->work[n_work++] = block->pred[i];
	}
	return n_work;
}

void wsi_reach_find(struct wsi_reach *reach, size_t at, const struct wsi_want *want,
		    struct wsi_defs *ret_defs)
{
	const struct ws_flow *flow = reach->flow;
	struct facts facts = { 0 };
	size_t n_work = 0;
	uint32_t block = flow->block_of[at];

	*ret_defs = (struct wsi_defs){ .n = 0 };
	reach->search++;
	if (flow->effect[at].flags & WSI_EFFECT_GUARDED)
		learn(&facts, flow->effect[at].guard, true);
	if (walk_block(reach, at, wsi_flow_first(flow, block), want, facts, ret_defs))
		n_work = enter_preds(reach, block, n_work, ret_defs);
	while (n_work && !ret_defs->more) {
		block = reach->work[--n_work];
		if (walk_block(reach, wsi_flow_end(flow, block), wsi_flow_first(flow, block), want,
			       (struct facts){ 0 }, ret_defs))
			n_work = enter_preds(reach, block, n_work, ret_defs);
	}
}

size_t wsi_reach_only(struct wsi_reach *reach, size_t at, enum ws_operand_kind kind,
		      unsigned number)
{
	struct wsi_want want = { .kind = kind, .number = (uint8_t)number };
	struct wsi_defs defs;
	wsi_reach_find(reach, at, &want, &defs);
	return wsi_defs_only(&defs);
}
