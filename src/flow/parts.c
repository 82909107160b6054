/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction's sources: its operands gathered by their place in the text. */
#include "base/base.h"
#include "flow/flow.h"

static void add_base(struct wsi_source *source, const struct ws_operand *op)
{
	if (op->kind == WS_OPERAND_UREG) {
		source->has_ubase = true;
		source->ubase = (uint8_t)op->number;
		source->ubase_count = op->count;
	} else {
		source->has_base = true;
		source->base = (uint8_t)op->number;
		source->base_count = op->count;
		source->scale = op->scale;
	}
}

static void add_source_parts(struct wsi_source *source, const struct ws_operand *op)
{
	switch (op->role) {
	case WS_ROLE_ADDRESS_BASE:
		source->address = !source->constant;
		add_base(source, op);
		break;
	case WS_ROLE_OFFSET:
		source->address = !source->constant;
		source->value = op->value;
		break;
	case WS_ROLE_BANK:
		source->constant = true;
		source->bindless = op->kind != WS_OPERAND_IMMEDIATE;
		source->bank = (uint8_t)op->value;
		source->negated = op->negated;
		source->absolute = op->absolute;
		break;
	case WS_ROLE_READ:
	case WS_ROLE_UPDATED:
		source->kind = op->kind;
		source->number = (uint8_t)op->number;
		source->count = op->count;
		source->negated = op->negated;
		source->absolute = op->absolute;
		source->value = op->value;
		break;
	case WS_ROLE_DESCRIPTOR:
	case WS_ROLE_TARGET:
	case WS_ROLE_WRITTEN:
		break;
	}
}

void wsi_parts_of(const struct ws_flow *flow, size_t at, struct wsi_parts *ret_parts)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	int place = -1;

	*ret_parts = (struct wsi_parts){ .at = at };
	wsi_flow_insn(flow, at, &ret_parts->insn);
	ret_parts->op = ws_sass_plain_operation(ret_parts->insn.operation);
	size_t n = ws_sass_operands(&ret_parts->insn, wsi_flow_pc(flow, at), ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		if (ops[i].role == WS_ROLE_WRITTEN) {
			ret_parts->carries |= ws_operand_is_predicate(ops[i].kind) &&
					      !ws_operand_is_fixed(ops[i].kind, ops[i].number);
			continue;
		}
		if (ops[i].place != place) {
			if (ret_parts->n_sources == WSI_COUNT(ret_parts->source))
				break;
			place = ops[i].place;
			ret_parts->source[ret_parts->n_sources++].scale = 1;
		}
		add_source_parts(&ret_parts->source[ret_parts->n_sources - 1], &ops[i]);
	}
	ret_parts->n_mods =
		ws_sass_modifiers(&ret_parts->insn, ret_parts->mods, WSI_COUNT(ret_parts->mods));
}
