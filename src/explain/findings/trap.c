/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a warp stopped itself, if the code around the trap shows it: checks that the compiler
 * inserts. Such a trap has no exception number.
 */
#include "explain/explain.h"

enum { MAX_BACK = 6 /* instructions from a check to its trap */ };

/* The compiler's checks of tensor memory are functions of such names [measured: nvcc 13.0,
 * sm_100a]. */
static const char guard_rail[] = "__cuda_sm10x_tcgen05_guardrail_trap_";

bool wsi_is_guard_rail(struct ws_str name)
{
	return name.len > sizeof guard_rail - 1 &&
	       memcmp(name.ptr, guard_rail, sizeof guard_rail - 1) == 0;
}

static bool find_guard_rail(struct wsi_scene *scene)
{
	const struct ws_function *function = scene->code.place.function;
	size_t len = sizeof guard_rail - 1;
	char words[100];
	if (!function || !wsi_is_guard_rail(function->name) ||
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
	wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at the pc", "the warp stopped at `%s`",
		  text);
	return WS_OK;
}
