/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about a jump to a bad address: what lies at the address, which call may
 * have gone there, and where that call's target came from.
 */
#include "explain/explain.h"

#define NULL_BYTES UINT64_C(0x10000) /* addresses that only a null pointer makes */

enum { MAX_UP = 8 /* nodes of a slice that are followed */ };

/* ---- the address ---- */

/* Where the code went, as far as it can be told: the address that is no code. */
static uint64_t bad_address(const struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	bool by_error = e->errorpc_status == WS_OK &&
			(!scene->code.place.cubin || e->errorpc % WS_SASS_BYTES);
	return by_error || e->pc_status != WS_OK ? e->errorpc : e->pc;
}

static void find_jump_target(struct wsi_scene *scene, uint64_t address)
{
	static const char evidence[] = "errorpc and pc";
	struct wsi_range range;
	uint64_t inner;
	uint32_t rank;
	enum ws_space space = wsi_scene_resolve(scene, address, &inner, &rank);
	if (address < NULL_BYTES)
		wsi_fact(scene, WSI_FACT_PC_NULL,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
				   "the code jumped to 0x%" PRIx64 ", as from a null pointer",
				   address));
	else if (space != WS_SPACE_GLOBAL)
		wsi_fact(scene, WSI_FACT_PC_DATA,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
				   "the code jumped to 0x%" PRIx64 ", which is %s memory", address,
				   ws_space_text(space)));
	else if (wsi_range_at(scene->build, address, &range))
		wsi_fact(scene, WSI_FACT_PC_DATA,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
				   "the code jumped to 0x%" PRIx64
				   ", which is global memory: %" PRIu64 " bytes from 0x%" PRIx64,
				   address, range.size, range.start));
	else if (!scene->code.place.cubin || address % WS_SASS_BYTES == 0)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
			  "the code jumped to 0x%" PRIx64 ": no image of the %s has code there",
			  address, wsi_noun(scene->build->report));
	if (address % WS_SASS_BYTES)
		wsi_fact(scene, WSI_FACT_PC_ODD,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
				   "0x%" PRIx64 " is %u byte%s past an instruction boundary (%u "
				   "bytes)",
				   address, (unsigned)(address % WS_SASS_BYTES),
				   address % WS_SASS_BYTES == 1 ? "" : "s", WS_SASS_BYTES));
}

/* ---- the call ---- */

/* The register pair that holds the target of an indirect call; false for a direct one. */
static bool target_register(const struct ws_insn *insn, uint64_t pc, struct ws_operand *ret_reg)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind == WS_OPERAND_REG && ops[i].number < 255) {
			*ret_reg = ops[i];
			return true;
		}
	}
	return false;
}

/* Whether the address of a load is made of something that was itself loaded. */
static bool through_pointer(const struct ws_flow_slice *slice, const struct ws_flow_node *load)
{
	uint16_t at = load->n_args ? load->arg[0] : UINT16_MAX;
	for (unsigned i = 0; i < MAX_UP && at < slice->n; i++) {
		const struct ws_flow_node *node = &slice->node[at];
		if (node->op == WS_FLOW_LOAD)
			return true;
		if (node->n_args == 0)
			return false;
		at = node->arg[0];
	}
	return false;
}

/* Where the target was read from. */
static void find_origin(struct wsi_scene *scene, struct wsi_scene *call, uint32_t lane)
{
	const struct ws_flow_slice *slice = call->slice;
	const struct ws_flow_node *load = &slice->node[0];
	uint64_t address = 0;
	unsigned uses = 0;
	char where[60] = "memory";
	for (unsigned i = 0; i < MAX_UP && load->op != WS_FLOW_LOAD; i++) {
		if (load->n_args == 0 || load->op == WS_FLOW_MERGE || load->op == WS_FLOW_SELECT)
			return;
		load = &slice->node[load->arg[0]];
	}
	if (load->op != WS_FLOW_LOAD)
		return;
	if (load->n_args && lane != WS_NONE &&
	    wsi_eval(call, slice, load->arg[0], lane, 0, &address, &uses))
		wsi_format(where, "0x%" PRIx64, address + (uint64_t)load->value);
	if (through_pointer(slice, load))
		wsi_fact(scene, WSI_FACT_VIRTUAL,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code before the call",
				   "the target was loaded from %s through another loaded pointer, "
				   "as a virtual call does",
				   where));
	else
		wsi_fact(scene, WSI_FACT_TARGET_LOADED,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code before the call",
				   "the target was loaded from %s, as a function pointer is",
				   where));
}

/* What the call's register holds now, against where the code went. */
static void find_call_register(struct wsi_scene *scene, const struct ws_operand *reg, uint32_t lane,
			       uint64_t address)
{
	uint64_t value;
	if (lane == WS_NONE ||
	    wsi_scene_register(scene, lane, WS_OPERAND_REG, reg->number, 2, &value) != WS_OK)
		return;
	if (value == address)
		wsi_found(scene, WS_CONFIDENCE_LIKELY, "the registers of the lane",
			  "R%u.64, the target of that call, holds this very address in lane %u",
			  reg->number, lane);
	else
		wsi_fact(scene, WSI_FACT_NOT_BY_CALL,
			 wsi_found(scene, WS_CONFIDENCE_POSSIBLE, "the registers of the lane",
				   "R%u.64, the target of that call, holds 0x%" PRIx64
				   " in lane %u: it was written since, or control flow went wrong "
				   "later, at a return",
				   reg->number, value, lane));
}

static enum ws_status find_call(struct wsi_scene *scene, struct wsi_scene *call, uint64_t call_pc,
				uint64_t address)
{
	struct ws_operand reg;
	struct ws_insn insn;
	uint32_t lane = wsi_scene_lane(scene);
	if (!wsi_code_insn(&call->code, call_pc, &insn) || !(insn.flags & WS_SASS_CALL))
		return WS_OK;
	const struct wsi_name *name =
		wsi_report_name_of(scene->build, call->code.place.function->name);
	const char *text = wsi_code_text(scene->build, &insn, call_pc);
	if (!name || !text)
		return WS_NO_MEMORY;
	bool indirect = target_register(&insn, call_pc, &reg);
	const char *found = wsi_found(
		scene, WS_CONFIDENCE_CERTAIN, "the return addresses",
		"the last call that has not returned is in %s, `%s` at 0x%" PRIx64 "%s",
		wsi_build_name(scene->build, name->brief), text, call_pc,
		indirect ? "" : ": its target is fixed, so control flow went wrong after it");
	if (!indirect) {
		wsi_fact(scene, WSI_FACT_NOT_BY_CALL, found);
		return WS_OK;
	}
	find_call_register(scene, &reg, lane, address);
	if (!call->code.flow)
		return WS_OK;
	if (!(call->slice = wsi_zalloc(sizeof *call->slice)))
		return WS_NO_MEMORY;
	enum ws_status st = ws_flow_slice(call->code.flow, call_pc, WS_OPERAND_REG, reg.number, 64,
					  call->slice, NULL);
	if (st == WS_OK)
		find_origin(scene, call, lane);
	return st == WS_NO_MEMORY ? st : WS_OK;
}

enum ws_status wsi_find_jump(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct wsi_scene call;
	uint64_t call_pc;
	if (e->errorpc_status != WS_OK && e->pc_status != WS_OK)
		return WS_OK;
	uint64_t address = bad_address(scene);
	find_jump_target(scene, address);
	enum ws_status st = wsi_scene_at_call(scene, &call, &call_pc);
	if (st == WS_OK)
		st = find_call(scene, &call, call_pc, address);
	else if (st == WS_ABSENT)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the return addresses",
			  "no call in the %s's code is on the stack: the address may come from a "
			  "return or a branch",
			  wsi_noun(scene->build->report));
	wsi_scene_fini(&call);
	return st == WS_NO_MEMORY ? st : WS_OK;
}
