/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a warp stopped itself, if the code around the trap shows it: checks that the compiler
 * inserts. Such a trap has no exception number.
 */
#include "explain/explain.h"

enum {
	MAX_BACK = 6,      /* instructions from a check of the stack's end to its trap */
	MAX_GUARD = 9,     /* from the start of a check of a guard */
	MAX_PROLOGUE = 24, /* instructions of a function that may put its guard in place */
	STACK_REG = 1,
	GUARD_BYTES = 8,
};

/* The compiler's checks of tensor memory are functions of such names [measured: nvcc 13.0,
 * sm_100a]. */
static const char guard_rail[] = "__cuda_sm10x_tcgen05_guardrail_trap_";

bool wsi_explain_is_guard_rail(struct ws_str name)
{
	return name.len > sizeof guard_rail - 1 &&
	       memcmp(name.ptr, guard_rail, sizeof guard_rail - 1) == 0;
}

static bool find_guard_rail(struct wsi_scene *scene)
{
	const struct ws_function *function = scene->code.place.function;
	size_t len = sizeof guard_rail - 1;
	char words[100];
	if (!function || !wsi_explain_is_guard_rail(function->name) ||
	    function->name.len - len >= sizeof words)
		return false;
	for (size_t i = len; i < function->name.len; i++)
		words[i - len] = function->name.ptr[i] == '_' ? ' ' : function->name.ptr[i];
	words[function->name.len - len] = 0;
	wsi_fact(scene, WSI_FACT_GUARD_RAIL,
		 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the name of the function that traps",
			   "a tensor memory check that the compiler inserted failed: %s", words));
	return true;
}

/* A debug build (-G) compares the stack pointer at the start of a function with the end of the
 * local memory, and traps [measured: nvcc 13.0, -G]. */
static bool is_stack_check(const struct wsi_scene *scene, uint64_t pc)
{
	for (uint64_t back = 1; back <= MAX_BACK; back++) {
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		struct ws_insn insn;
		uint64_t at = pc - back * WS_SASS_BYTES;
		if (at < scene->code.base_pc || !wsi_code_insn(&scene->code, at, &insn))
			return false;
		size_t n = ws_sass_operands(&insn, at, ops, WSI_COUNT(ops));
		for (size_t i = 0; i < n; i++)
			if (ops[i].kind == WS_OPERAND_SPECIAL && ops[i].number == WS_SR_LMEMHIOFF)
				return true;
	}
	return false;
}

/*
 * With -device-stack-protector a function keeps a copy of a number that the driver put into
 * constant bank 0 above its local arrays, and compares the two before it returns:
 *
 *   LDL.64 R8, [R1+0x40];  LDC.64 R6, c[0x0][0xc0];  ISETP.EQ P0, R6, R8;  ISETP.EQ P0, R9, R7, P0
 *   @P0 BRA (over the trap);  BPT.TRAP 0x1
 *
 * [measured: nvcc 13.0, sm_75 to sm_120, -G and -O3]
 */
struct guard {
	bool is_loaded, is_compared, is_stored, has_constant;
	uint16_t reg; /* of the two that were read from the stack, the lower */
	int64_t offset;
};

/* Whether it reads or writes `GUARD_BYTES` of the stack at R1 + *ret_offset. */
static bool is_slot(const struct ws_insn *insn, const struct ws_operand *ops, size_t n,
		    uint16_t *ret_reg, int64_t *ret_offset)
{
	bool on_stack = false;
	*ret_offset = 0;
	*ret_reg = UINT16_MAX;
	for (size_t i = 0; i < n; i++) {
		if (ops[i].role == WS_ROLE_ADDRESS_BASE)
			on_stack |= ops[i].kind == WS_OPERAND_REG && ops[i].number == STACK_REG;
		else if (ops[i].role == WS_ROLE_OFFSET)
			*ret_offset = ops[i].value;
		else if (ops[i].kind == WS_OPERAND_REG && ops[i].count == GUARD_BYTES / 4)
			*ret_reg = ops[i].number;
	}
	return on_stack && *ret_reg != UINT16_MAX && ws_sass_has(insn, WS_MOD_64);
}

static void guard_take(struct guard *guard, const struct ws_insn *insn,
		       const struct ws_operand *ops, size_t n)
{
	uint16_t reg;
	int64_t offset;
	for (size_t i = 0; i < n; i++) {
		guard->has_constant |= ops[i].role == WS_ROLE_BANK && ops[i].value == 0;
		guard->is_compared |= guard->is_loaded && insn->operation == WS_OP_ISETP &&
				      ops[i].kind == WS_OPERAND_REG && ops[i].number == guard->reg;
	}
	if (insn->operation == WS_OP_LDL && is_slot(insn, ops, n, &reg, &offset)) {
		guard->is_loaded = true;
		guard->is_compared = false;
		guard->reg = reg;
		guard->offset = offset;
	}
}

/* Whether the trap at `pc` is such a check. */
static bool is_guard_check(const struct wsi_scene *scene, uint64_t pc, int64_t *ret_offset)
{
	const struct ws_place *place = &scene->code.place;
	uint64_t start = scene->code.base_pc, back = MAX_GUARD * WS_SASS_BYTES;
	struct guard guard = { .is_loaded = false };
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	for (uint64_t at = pc - start > back ? pc - back : start; at < pc; at += WS_SASS_BYTES)
		if (wsi_code_insn(&scene->code, at, &insn))
			guard_take(&guard, &insn, ops,
				   ws_sass_operands(&insn, at, ops, WSI_COUNT(ops)));
	if (!guard.is_compared || !guard.has_constant || !place->function)
		return false;
	start = scene->e->pc - place->rel_pc; /* the function, which another one may contain */
	for (unsigned i = 0; i < MAX_PROLOGUE && !guard.is_stored; i++) {
		uint64_t at = start + i * WS_SASS_BYTES;
		uint16_t reg;
		if (!wsi_code_insn(&scene->code, at, &insn) || insn.operation != WS_OP_STL)
			continue;
		size_t n = ws_sass_operands(&insn, at, ops, WSI_COUNT(ops));
		guard.is_stored =
			is_slot(&insn, ops, n, &reg, ret_offset) && *ret_offset == guard.offset;
	}
	return guard.is_stored;
}

/* The trap at the pc, or in front of it: a warp may stop at either. */
static bool trap_pc(const struct wsi_scene *scene, uint64_t *ret_pc)
{
	struct ws_insn insn;
	uint64_t pc = scene->e->pc;
	for (unsigned i = 0; i < 2; i++, pc -= WS_SASS_BYTES) {
		if (wsi_code_insn(&scene->code, pc, &insn) && insn.known &&
		    insn.flags & WS_SASS_TRAP) {
			*ret_pc = pc;
			return true;
		}
	}
	return false;
}

/* Surface instructions with .TRAP stop the warp when a coordinate is outside [PTX ISA, sust]. */
static bool is_at_surface(const struct wsi_scene *scene, struct ws_insn *ret_insn)
{
	return wsi_code_insn(&scene->code, scene->e->pc, ret_insn) && ret_insn->known &&
	       ret_insn->flags & WS_SASS_TEXTURE && ws_sass_has(ret_insn, WS_MOD_TRAP);
}

/* The barrier of cooperative groups for a whole grid traps where the launch was not cooperative
 * [measured: nvcc 13.0, cooperative_groups.h]. */
static void find_grid_barrier(struct wsi_scene *scene)
{
	static const char name[] = "cooperative_groups::", barrier[] = "::grid_group::sync()";
	const struct ws_report_exception *e = scene->e;
	const struct ws_str function = e->n_frames ? e->frames[0].function : ws_str_of("");
	bool found = false;
	for (size_t i = 0; i + sizeof barrier - 1 <= function.len; i++)
		found |= memcmp(function.ptr + i, barrier, sizeof barrier - 1) == 0;
	if (found && wsi_str_begins(function, name))
		wsi_fact(scene, WSI_FACT_GRID_BARRIER,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the function that traps",
				   "the warp stopped in the barrier of cooperative groups for the "
				   "whole grid, which traps where the launch was not cooperative"));
}

/* A wait that was given up in front of the trap, or of the call of a function that only traps. */
static enum ws_status find_wait(struct wsi_scene *scene, uint64_t pc)
{
	struct wsi_scene call;
	uint64_t call_pc, branch;
	bool taken;
	enum ws_status st = wsi_find_gave_up(scene, scene, pc);
	if (st != WS_OK || (scene->code.flow && wsi_branch_find(scene, pc, &branch, &taken)))
		return st;
	st = wsi_scene_at_call(scene, &call, &call_pc);
	if (st == WS_OK) {
		st = wsi_find_gave_up(scene, &call, call_pc);
		scene->found.no_memory |= call.found.no_memory;
	}
	wsi_scene_fini(&call);
	return st == WS_NO_MEMORY ? st : WS_OK;
}

enum ws_status wsi_find_trap(struct wsi_scene *scene)
{
	struct ws_insn insn;
	uint64_t pc;
	if (!scene->code.place.cubin || scene->e->pc_status != WS_OK)
		return WS_OK;
	if (is_at_surface(scene, &insn)) {
		const char *access = wsi_code_text(scene->build, &insn, scene->e->pc);
		if (!access)
			return WS_NO_MEMORY;
		wsi_fact(scene, WSI_FACT_SURFACE,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at the pc",
				   "the warp stopped at `%s`, which traps when a coordinate is "
				   "outside of the surface",
				   access));
		return WS_OK;
	}
	if (!trap_pc(scene, &pc))
		return WS_OK;
	if (!wsi_code_insn(&scene->code, pc, &insn) || find_guard_rail(scene))
		return WS_OK;
	const char *text = wsi_code_text(scene->build, &insn, pc);
	if (!text)
		return WS_NO_MEMORY;
	if (is_stack_check(scene, pc)) {
		wsi_fact(scene, WSI_FACT_STACK_CHECK,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code in front of the trap",
				   "the trap `%s` is the stack check that a debug build makes at "
				   "the start of a function: the stack is used up",
				   text));
		return wsi_find_stack(scene);
	}
	int64_t offset;
	if (is_guard_check(scene, pc, &offset)) {
		const struct wsi_name *name =
			wsi_report_name_of(scene->build, scene->code.place.function->name);
		if (!name)
			return WS_NO_MEMORY;
		wsi_fact(
			scene, WSI_FACT_STACK_GUARD,
			wsi_found(scene, WS_CONFIDENCE_CERTAIN,
				  "the code in front of the trap, and the start of the function",
				  "the trap `%s` is the check that `-device-stack-protector` makes "
				  "before a function returns: the guard value that %s put on its "
				  "stack, at R1+0x%" PRIx64 ", was overwritten",
				  text, wsi_build_name(scene->build, name->brief),
				  (uint64_t)offset));
		return wsi_find_stack(scene);
	}
	wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at the pc", "the warp stopped at `%s`",
		  text);
	find_grid_barrier(scene);
	enum ws_status st = find_wait(scene, pc);
	return st == WS_OK ? wsi_find_condition(scene, scene, pc) : st;
}
