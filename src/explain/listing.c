/* SPDX-License-Identifier: Apache-2.0 */
/* The code around the fault, with what the operands of the faulting instruction held. */
#include "explain/explain.h"

enum {
	BEFORE = 8,  /* instructions in front of the first marked one */
	AFTER = 4,   /* behind the last */
	FAR_OFF = 32 /* a pc as far from the error PC as this is not shown with it */
};

/* "R2.64 = 0x10, P0 = 0x1 (unknown)" of the lane that is told of. */
static const char *values_text(struct wsi_scene *scene, const struct ws_report_access *access)
{
	char text[600] = "";
	size_t len = 0;
	uint32_t lane = access->lane;
	if (lane == WS_NONE)
		return NULL;
	for (uint32_t i = 0; i < access->n_operands && len + 100 < sizeof text; i++) {
		const struct ws_report_operand *op = &access->operands[i];
		if (op->constant || !wsi_operand_is_shown(op) || !(op->lanes >> lane & 1))
			continue;
		int n = snprintf(text + len, sizeof text - len, "%s%s = 0x%" PRIx64 "%s%s%s",
				 len ? ", " : "", op->name, op->value[lane],
				 op->trust == WS_TRUST_AT_FAULT ? "" : " (",
				 op->trust == WS_TRUST_AT_FAULT ? "" : ws_trust_text(op->trust),
				 op->trust == WS_TRUST_AT_FAULT ? "" : ")");
		len = n > 0 ? wsi_min_u64(len + (size_t)n, sizeof text - 1) : len;
	}
	return len ? wsi_build_text(scene->build, "lane %u: %s", lane, text) : NULL;
}

static const char *mark_of(const struct ws_report_exception *e, uint64_t pc)
{
	bool is_error = e->errorpc_status == WS_OK && e->errorpc == pc;
	bool is_pc = e->pc_status == WS_OK && e->pc == pc;
	if (is_error && is_pc)
		return "errorpc pc";
	return is_error ? "errorpc" : is_pc ? "pc" : NULL;
}

static bool is_in(const struct wsi_function_code *code, uint64_t pc)
{
	return pc - code->base_pc < code->bytes.len;
}

/* First and last instruction to show. */
static bool find_ends(const struct wsi_scene *scene, uint64_t *ret_first, uint64_t *ret_last)
{
	const struct ws_report_exception *e = scene->e;
	const struct wsi_function_code *code = &scene->code;
	bool by_error = e->errorpc_status == WS_OK && is_in(code, e->errorpc);
	bool by_pc = e->pc_status == WS_OK && is_in(code, e->pc);
	if (!by_error && !by_pc)
		return false;
	uint64_t first = by_error ? e->errorpc : e->pc, last = first;
	if (by_error && by_pc) {
		uint64_t gap = e->pc > first ? e->pc - first : first - e->pc;
		if (gap <= (uint64_t)FAR_OFF * WS_SASS_BYTES) {
			first = wsi_min_u64(first, e->pc);
			last = wsi_max_u64(last, e->pc);
		}
	}
	first -= wsi_min_u64(first - code->base_pc, (uint64_t)BEFORE * WS_SASS_BYTES);
	last += (uint64_t)AFTER * WS_SASS_BYTES;
	*ret_first = first;
	*ret_last = last;
	return true;
}

enum ws_status wsi_listing(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	uint64_t first, last;
	if (!scene->code.place.cubin || !find_ends(scene, &first, &last))
		return WS_OK;
	size_t n = (size_t)((last - first) / WS_SASS_BYTES + 1);
	struct ws_report_insn *insns =
		wsi_arena_zalloc_array(scene->build->arena, n, sizeof *insns);
	if (!insns)
		return WS_NO_MEMORY;
	e->insns = insns;
	for (uint64_t pc = first; pc <= last; pc += WS_SASS_BYTES) {
		struct ws_insn insn;
		if (!wsi_code_insn(&scene->code, pc, &insn))
			break;
		struct ws_report_insn *one = &insns[e->n_insns++];
		*one = (struct ws_report_insn){
			.pc = pc,
			.text = wsi_code_text(scene->build, &insn, pc),
			.mark = mark_of(e, pc),
			.flags = insn.known ? insn.flags : 0,
			.known = insn.known,
		};
		for (uint32_t i = 0; i < e->n_accesses && !one->values; i++) {
			if (e->accesses[i].pc == pc)
				one->values = values_text(scene, &e->accesses[i]);
		}
		if (!one->text)
			return WS_NO_MEMORY;
	}
	return WS_OK;
}
