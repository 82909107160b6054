/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction writes, and where execution goes after it. */
#include "base/base.h"
#include "flow/flow.h"

/* ---- registers ---- */

void wsi_registers_add(struct ws_flow_registers *set, enum ws_operand_kind kind, unsigned number,
		       unsigned count)
{
	for (unsigned r = number; r < number + count && !ws_operand_is_fixed(kind, r); r++) {
		if (kind == WS_OPERAND_REG)
			set->reg[r / 32] |= 1u << r % 32;
		else if (kind == WS_OPERAND_UREG)
			set->ureg[r / 32] |= 1u << r % 32;
		else if (kind == WS_OPERAND_PRED)
			set->pred |= (uint8_t)(1u << r);
		else if (kind == WS_OPERAND_UPRED)
			set->upred |= (uint8_t)(1u << r);
	}
}

bool ws_flow_registers_spare(const struct ws_flow_registers *set, enum ws_operand_kind kind,
			     unsigned number, unsigned count)
{
	struct ws_flow_registers asked = { 0 };
	wsi_registers_add(&asked, kind, number, count);
	uint32_t hit = (asked.pred & set->pred) | (asked.upred & set->upred);
	for (size_t i = 0; i < WSI_COUNT(asked.reg); i++)
		hit |= (asked.reg[i] & set->reg[i]) | (asked.ureg[i] & set->ureg[i]);
	return hit == 0;
}

bool wsi_flow_call_may_write(enum ws_operand_kind kind, unsigned number)
{
	if (kind != WS_OPERAND_REG)
		return true;
	return number != 1 && number != 2 && (number < 16 || number > 31);
}

void wsi_registers_add_effect(struct ws_flow_registers *set, const struct wsi_effect *effect)
{
	for (size_t i = 0; i < WSI_COUNT(effect->reg); i++)
		wsi_registers_add(set, WS_OPERAND_REG, effect->reg[i], effect->n_reg[i]);
	wsi_registers_add(set, WS_OPERAND_UREG, effect->ureg, effect->n_ureg);
	set->pred |= effect->pred;
	set->upred |= effect->upred;
	if (!(effect->flags & WSI_EFFECT_CALL))
		return;
	for (unsigned r = 0; r < 255; r++)
		if (wsi_flow_call_may_write(WS_OPERAND_REG, r))
			wsi_registers_add(set, WS_OPERAND_REG, r, 1);
	wsi_registers_add(set, WS_OPERAND_UREG, 0, 255);
	wsi_registers_add(set, WS_OPERAND_PRED, 0, 7);
	wsi_registers_add(set, WS_OPERAND_UPRED, 0, 7);
}

/* ---- writes ---- */

/* More results than an effect has room for, or an unknown number of them, make it unknown. */
static void add_written(struct wsi_effect *effect, const struct ws_operand *op)
{
	if (ws_operand_is_fixed(op->kind, op->number))
		return;
	bool pred = op->kind == WS_OPERAND_PRED, upred = op->kind == WS_OPERAND_UPRED;
	if (pred || upred) {
		for (unsigned i = op->number; i < 7u && i < op->number + (unsigned)op->count; i++)
			*(pred ? &effect->pred : &effect->upred) |= (uint8_t)(1u << i);
	} else if (op->kind == WS_OPERAND_REG && op->count && effect->n_reg[1] == 0) {
		size_t at = effect->n_reg[0] != 0;
		effect->reg[at] = (uint8_t)op->number;
		effect->n_reg[at] = op->count;
	} else if (op->kind == WS_OPERAND_UREG && op->count && effect->n_ureg == 0) {
		effect->ureg = (uint8_t)op->number;
		effect->n_ureg = op->count;
	} else if (op->kind == WS_OPERAND_REG || op->kind == WS_OPERAND_UREG) {
		effect->flags |= WSI_EFFECT_UNKNOWN;
	}
}

static bool writes_local(const struct ws_insn *insn)
{
	return insn->flags & (WS_SASS_STORE | WS_SASS_ATOMIC) &&
	       insn->flags & (WS_SASS_LOCAL | WS_SASS_GENERIC);
}

void wsi_effect_of(const struct ws_insn *insn, struct wsi_effect *ret_effect)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct wsi_effect effect = { 0 };

	*ret_effect = effect;
	if (!insn->known) {
		ret_effect->flags = WSI_EFFECT_UNKNOWN;
		return;
	}
	if (insn->guard == 7 && insn->guard_negated)
		return; /* @!PT: never */
	bool uniform = insn->flags & WS_SASS_UNIFORM_GUARD;
	effect.guard =
		(uint8_t)(insn->guard | (insn->guard_negated ? 8u : 0) | (uniform ? 16u : 0));
	if (insn->guard != 7)
		effect.flags |= WSI_EFFECT_GUARDED;
	if (!ws_insn_explained(insn))
		effect.flags |= WSI_EFFECT_PARTLY;
	size_t n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].role == WS_ROLE_WRITTEN || ops[i].role == WS_ROLE_UPDATED)
			add_written(&effect, &ops[i]);
	if (insn->flags & WS_SASS_CALL)
		effect.flags |= WSI_EFFECT_CALL;
	if (writes_local(insn))
		effect.flags |= WSI_EFFECT_STORE;
	*ret_effect = effect;
}

/* ---- where it goes ---- */

/* Branches that ask which lanes are there: of them, the guard says only who counts. */
static bool asks_for_lanes(const struct ws_insn *insn)
{
	return ws_sass_has(insn, WS_MOD_DIV) || ws_sass_has(insn, WS_MOD_CONV);
}

/* Whether a branch may also not be taken: a guard, a predicate, a mask of lanes. */
static bool is_conditional(const struct ws_insn *insn, const struct ws_operand *ops, size_t n)
{
	if (insn->guard != 7)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (ws_operand_is_predicate(ops[i].kind) && (ops[i].number != 7 || ops[i].negated))
			return true;
	}
	return asks_for_lanes(insn);
}

static bool is_absolute(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_JMP || insn->operation == WS_OP_CALL;
}

/* The place that the operands name; false when it is in a register or in memory. */
static bool find_operand_target(const struct ws_insn *insn, const struct ws_operand *ops, size_t n,
				uint64_t *ret_target)
{
	bool found = false;
	for (size_t i = 0; i < n; i++) {
		bool data = ops[i].kind == WS_OPERAND_REG ||
			    (ops[i].kind == WS_OPERAND_UREG && !is_absolute(insn) &&
			     insn->operation != WS_OP_BRA) ||
			    ops[i].role == WS_ROLE_BANK || ops[i].role == WS_ROLE_OFFSET;
		if (data && insn->operation != WS_OP_WARPSYNC)
			return false;
		bool number = ops[i].kind == WS_OPERAND_IMMEDIATE && is_absolute(insn);
		if (ops[i].kind == WS_OPERAND_TARGET || number) {
			*ret_target = (uint64_t)ops[i].value;
			found = true;
		}
	}
	return found;
}

static bool names_absolute(const struct ws_operand *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].kind == WS_OPERAND_TARGET)
			return false;
	return true;
}

static uint16_t leave_kind(const struct ws_insn *insn)
{
	if (insn->flags & WS_SASS_CALL)
		return WSI_LEAVE_END | WSI_LEAVE_CALL | WSI_LEAVE_NEXT;
	if (insn->flags & WS_SASS_RET)
		return WSI_LEAVE_END | WSI_LEAVE_RETURN;
	if (insn->flags & WS_SASS_EXIT)
		return WSI_LEAVE_END | WSI_LEAVE_EXIT;
	if (insn->flags & WS_SASS_BRANCH)
		return WSI_LEAVE_END;
	if (insn->operation == WS_OP_BSSY)
		return WSI_LEAVE_NEXT | WSI_LEAVE_SPLIT;
	if (insn->operation == WS_OP_BSYNC)
		return WSI_LEAVE_NEXT | WSI_LEAVE_END | WSI_LEAVE_SYNC;
	return WSI_LEAVE_NEXT;
}

void wsi_leave_of(const struct ws_insn *insn, uint64_t pc, bool relocated,
		  struct wsi_leave *ret_leave)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];

	*ret_leave = (struct wsi_leave){ .flags = WSI_LEAVE_NEXT };
	bool sync = insn->operation == WS_OP_WARPSYNC;
	if (!insn->known)
		return;
	if (insn->guard == 7 && insn->guard_negated && !asks_for_lanes(insn))
		return; /* @!PT: never */
	uint16_t flags = leave_kind(insn);
	if (flags == WSI_LEAVE_NEXT && !sync)
		return;
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].kind == WS_OPERAND_BREG)
			ret_leave->barrier = (uint8_t)ops[i].number;
	bool returns = flags & (WSI_LEAVE_RETURN | WSI_LEAVE_EXIT);
	bool named = !returns && find_operand_target(insn, ops, n, &ret_leave->target);
	if (named && (relocated || !names_absolute(ops, n)))
		flags |= WSI_LEAVE_TARGET;
	else if (insn->flags & WS_SASS_BRANCH)
		flags |= WSI_LEAVE_INDIRECT;
	if (sync && flags & WSI_LEAVE_TARGET)
		flags |= WSI_LEAVE_END; /* .COLLECTIVE */
	if (flags & WSI_LEAVE_END && is_conditional(insn, ops, n))
		flags |= WSI_LEAVE_NEXT;
	ret_leave->flags = flags;
}
