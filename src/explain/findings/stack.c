/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about a stack that is used up or overwritten: which functions are on it how
 * often, what a call takes, and where the stack pointer is. R1 is the stack pointer; the stack lies
 * in local memory and grows down [public doc: CUDA binary utilities and PTX writers' guides to
 * interoperability]. A kernel loads R1 first from constant bank 0 [measured: nvcc 13.0], so that
 * word is where the stack starts.
 */
#include "explain/explain.h"

enum {
	STACK_REG = 1,
	MAX_ENTRY = 8,        /* instructions of a kernel that may load R1 */
	LARGE_FRAME = 1024,   /* bytes; the default stack limit of a thread */
	WINDOW_TOP = 1 << 24, /* local memory ends there at most */
	MAX_FUNCTIONS = 32,   /* told apart on a stack */
};

/* A function on the stack. */
struct user {
	struct ws_str name;
	uint32_t calls;       /* times on the stack, as a caller or at the top */
	uint32_t frame_bytes; /* or WS_UNKNOWN */
};

/* ---- who is on the stack ---- */

static uint32_t frame_bytes(const struct wsi_scene *scene, const struct ws_report_frame *frame)
{
	struct ws_cubin_hint hint = { scene->where.module_index, scene->where.device_index,
				      scene->where.context_index };
	struct ws_place place;
	uint64_t pc = frame->caller ? frame->pc - 1 : frame->pc;
	if (ws_cubin_set_find_address(scene->build->cubins, pc, &hint, &place, NULL) != WS_OK ||
	    !place.function)
		return WS_UNKNOWN;
	return place.function->frame_bytes;
}

/* Counts the functions of the frames, without inlined ones. */
static size_t count_users(const struct wsi_scene *scene, struct user users[MAX_FUNCTIONS])
{
	const struct ws_report_exception *e = scene->e;
	size_t n = 0;
	for (uint32_t i = 0; i < e->n_frames && i < e->pc_frames_from; i++) {
		const struct ws_report_frame *frame = &e->frames[i];
		if (frame->inlined || frame->function_status != WS_OK)
			continue;
		size_t at = 0;
		while (at < n && users[at].name.ptr != frame->function_short.ptr)
			at++;
		if (at == MAX_FUNCTIONS)
			continue;
		if (at == n)
			users[n++] = (struct user){ frame->function_short, 0,
						    frame_bytes(scene, frame) };
		users[at].calls++;
	}
	return n;
}

static void find_users(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct user users[MAX_FUNCTIONS];
	size_t n = count_users(scene, users);
	char left_out[60] = "";
	if (e->n_callers_left_out)
		wsi_format(left_out, " (%u more return addresses were not looked at)",
			   e->n_callers_left_out);
	for (size_t i = 0; i < n; i++) {
		if (users[i].calls < 2)
			continue;
		wsi_fact(scene, WSI_FACT_RECURSION,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the return addresses",
				   "%s is on the call stack %u times: it calls itself, directly "
				   "or through others%s",
				   wsi_build_name(scene->build, users[i].name), users[i].calls,
				   left_out));
	}
	for (size_t i = 0; i < n; i++) {
		if (users[i].frame_bytes == WS_UNKNOWN || users[i].frame_bytes == 0)
			continue;
		const char *text = wsi_found(
			scene, WS_CONFIDENCE_CERTAIN, "attributes of the image",
			"%s has a stack frame of %u bytes",
			wsi_build_name(scene->build, users[i].name), users[i].frame_bytes);
		if (users[i].frame_bytes > LARGE_FRAME)
			wsi_fact(scene, WSI_FACT_BIG_FRAME, text);
	}
}

/* ---- the stack pointer ---- */

/* Where the stack of the kernel's threads starts: what its first instructions load into R1. */
static bool stack_top(struct wsi_scene *scene, uint64_t *ret_top)
{
	const struct wsi_build *build = scene->build;
	struct wsi_function_code code;
	bool found = false;
	if (scene->e->kernel == WS_NONE)
		return false;
	uint64_t entry = build->kernels[scene->e->kernel].grid.function_entry;
	if (wsi_code_open(scene->build, &scene->where, entry, &code) != WS_OK)
		return false;
	for (uint64_t i = 0; i < MAX_ENTRY && !found; i++) {
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		struct ws_insn insn;
		uint64_t bank = UINT64_MAX;
		if (!wsi_code_insn(&code, entry + i * WS_SASS_BYTES, &insn))
			break;
		size_t n = ws_sass_operands(&insn, entry, ops, WSI_COUNT(ops));
		if (n == 0 || ops[0].kind != WS_OPERAND_REG || ops[0].number != STACK_REG ||
		    ops[0].role != WS_ROLE_WRITTEN)
			continue;
		for (size_t k = 1; k < n; k++) {
			if (ops[k].role == WS_ROLE_BANK)
				bank = (uint64_t)ops[k].value;
			else if (ops[k].role == WS_ROLE_OFFSET && bank == 0)
				found = wsi_scene_memory(scene, 0, WS_SPACE_CONST, 0,
							 (uint64_t)ops[k].value, 4,
							 ret_top) == WS_OK;
		}
		break;
	}
	wsi_code_close(&code);
	return found && *ret_top > 0 && *ret_top <= WINDOW_TOP;
}

/* R1 against the local memory that there is. */
static void find_bounds(struct wsi_scene *scene, uint32_t lane, uint64_t pointer)
{
	const char *evidence = scene->build->report->dump_status == WS_OK
				       ? "R1 at the pc, and the local memory in the dump"
				       : "R1 at the pc, and the local memory of the device";
	const struct ws_report_access all = { .space = WS_SPACE_LOCAL };
	struct wsi_range local;
	uint64_t word, below;
	if (!wsi_window_of(scene, &all, lane, &local)) {
		enum ws_status st =
			wsi_scene_memory(scene, lane, WS_SPACE_LOCAL, 0, pointer, 4, &word);
		const char *text = wsi_found(
			scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
			"the local memory of lane %u, whose size is the stack limit, is %s", lane,
			wsi_lost_words(st));
		if (st == WS_EXCLUDED)
			wsi_fact(scene, WSI_FACT_NO_LOCAL, text);
	} else if (wsi_below_local(pointer, &local, &below)) {
		wsi_fact(scene, WSI_FACT_STACK_OUT,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
				   "the stack pointer of lane %u, R1 = 0x%" PRIx64 ", is %" PRIu64
				   " bytes below the thread's local memory (%" PRIu64
				   " bytes from 0x%" PRIx64 ")",
				   lane, pointer, below, local.size, local.start));
	} else if (pointer < local.start || pointer > local.start + local.size) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
			  "the stack pointer of lane %u, R1 = 0x%" PRIx64
			  ", lies outside the thread's local memory (%" PRIu64
			  " bytes from 0x%" PRIx64 "): it is damaged, or not a stack pointer here",
			  lane, pointer, local.size, local.start);
	} else {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
			  "%" PRIu64 " of the %" PRIu64
			  " bytes of local memory of lane %u are left "
			  "below its stack pointer, R1 = 0x%" PRIx64,
			  pointer - local.start, local.size, lane, pointer);
	}
}

static void find_pointer(struct wsi_scene *scene)
{
	uint32_t lane = wsi_scene_lane(scene);
	uint64_t pointer, top;
	if (lane == WS_NONE)
		return;
	if (wsi_scene_register(scene, lane, WS_OPERAND_REG, STACK_REG, 1, &pointer) != WS_OK) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of registers",
			  "the stack pointer, R1, is not recorded");
		return;
	}
	find_bounds(scene, lane, pointer);
	if (stack_top(scene, &top) && pointer <= top)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN,
			  "R1 at the pc, and what the kernel loads into it at its start",
			  "lane %u has used %" PRIu64 " bytes of stack", lane, top - pointer);
}

/* What a launch reserves at least. */
static void find_minimum(struct wsi_scene *scene)
{
	struct ws_cubin_hint hint = { scene->where.module_index, scene->where.device_index,
				      scene->where.context_index };
	struct ws_place place;
	if (scene->e->kernel == WS_NONE)
		return;
	uint64_t entry = scene->build->kernels[scene->e->kernel].grid.function_entry;
	if (ws_cubin_set_find_address(scene->build->cubins, entry, &hint, &place, NULL) != WS_OK ||
	    !place.function || place.function->min_stack_bytes == WS_UNKNOWN ||
	    place.function->min_stack_bytes == 0)
		return;
	wsi_found(scene, WS_CONFIDENCE_CERTAIN, "attributes of the image",
		  "the kernel needs at least %u bytes of stack per thread, not counting recursion "
		  "and calls through pointers",
		  place.function->min_stack_bytes);
}

/* The function whose guard was changed. */
static void find_guard(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	if (e->n_frames && e->frames[0].function_status == WS_OK)
		wsi_found(scene, WS_CONFIDENCE_LIKELY, "the code at the error PC",
			  "the guard lies in the stack frame of %s: one of its local arrays was "
			  "overrun, or an array of a function that it called",
			  wsi_build_name(scene->build,
					 e->frames[e->user_frame != WS_NONE ? e->user_frame : 0]
						 .owner_short));
}

enum ws_status wsi_find_stack(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	if (e->kind && e->kind->code == CUDBG_EXCEPTION_WARP_STACK_CANARY)
		find_guard(scene);
	find_users(scene);
	if (e->at.warp != WS_NONE)
		find_pointer(scene);
	find_minimum(scene);
	return WS_OK;
}
