/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of a thread, and where each has its registers.
 *
 * Return addresses are the target's. Registers of a caller are those of its callee, but for what
 * the callee saved or may have changed, as the call frames of its code say; the stack pointer is
 * the callee's canonical frame address.
 *
 * That is not so where the callee aligned its frame: then the address is the aligned one, and the
 * caller's stack pointer lies up to the alignment above it. It is the place from which the caller's
 * own return address is found where its call frames say; without such a proof it is lost. The same
 * proof finds the stack pointer of who called code without call frames, such as a system call.
 * [measured: nvcc 13.0, -G, sm_80 to sm_120]
 */
#include "cubin/cubin.h"
#include "vars/vars.h"

enum { STACK_POINTER = 1 };

enum ws_status ws_vars_create(const struct ws_target *target, struct ws_vars **ret_vars,
			      struct ws_error *err)
{
	struct ws_vars *vars = wsi_zalloc(sizeof *vars);
	if (vars) {
		vars->target = target;
		vars->callers = wsi_zalloc_array(WS_VARS_MAX_FRAMES, sizeof *vars->callers);
		vars->known = wsi_zalloc_array(WSI_KNOWN_CFIS, sizeof *vars->known);
		vars->list = wsi_zalloc_array(WS_VARS_MAX_LIST, sizeof *vars->list);
	}
	if (!vars || !vars->callers || !vars->known || !vars->list) {
		ws_vars_destroy(vars);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "variables");
	}
	*ret_vars = vars;
	return WS_OK;
}

void ws_vars_destroy(struct ws_vars *vars)
{
	if (!vars)
		return;
	wsi_free(vars->frames);
	wsi_free(vars->callers);
	wsi_free(vars->known);
	wsi_free(vars->list);
	wsi_params_free(vars->params);
	wsi_free(vars);
}

/* ---- frames ---- */

/* `known`: the pc is a device address. */
static bool frame_push(struct ws_vars *vars, const struct ws_cubin_hint *hint, uint64_t pc,
		       bool known)
{
	size_t cap = vars->cap_frames;
	if (!wsi_grow(&vars->frames, &cap, vars->n_frames, sizeof *vars->frames,
		      WS_VARS_MAX_FRAMES + 1))
		return false;
	vars->cap_frames = (uint32_t)cap;
	struct ws_frame *frame = &vars->frames[vars->n_frames];
	*frame = (struct ws_frame){ .level = vars->n_frames,
				    .is_caller = vars->n_frames > 0,
				    .pc = pc };
	vars->n_frames++;
	uint64_t looked_up = frame->is_caller && pc ? pc - 1 : pc;
	frame->status = known ? ws_cubin_set_find_address(vars->cubins, looked_up, hint,
							  &frame->place, NULL)
			      : WS_UNSUPPORTED;
	if (frame->status == WS_OK)
		frame->rel_pc = frame->place.rel_pc + (pc - looked_up);
	return frame->status != WS_NO_MEMORY;
}

/*
 * All frames. Addresses of the classic back end are those of a copy of the code in the host's
 * memory; only the outermost function is surely the kernel, whose entry is known.
 */
static bool stack_frames_push(struct ws_vars *vars, const struct ws_cubin_hint *hint,
			      bool is_classic, const struct ws_grid *grid, uint32_t n)
{
	const bool by_entry = is_classic && grid && !vars->n_left_out;
	if (!frame_push(vars, hint,
			by_entry && n == 0 ? grid->function_entry + vars->lane.rel_pc
					   : vars->lane.pc,
			!is_classic || (by_entry && n == 0)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ws_return_address *caller = &vars->callers[i];
		const bool is_kernel = by_entry && i + 1 == n;
		if (!frame_push(vars, hint,
				is_kernel ? grid->function_entry + caller->rel_address
					  : caller->address,
				!is_classic || is_kernel))
			return false;
	}
	/* cuda-gdb hides them; one that is not called is shown */
	vars->n_hidden = vars->lane.syscall_call_depth <= n ? vars->lane.syscall_call_depth : 0;
	for (uint32_t i = 0; i < vars->n_frames; i++)
		vars->frames[i].level = i > vars->n_hidden ? i - vars->n_hidden : 0;
	vars->selected = vars->n_hidden;
	return true;
}

static void look_at_nothing(struct ws_vars *vars)
{
	vars->has_thread = vars->has_code = vars->have_homes = false;
	vars->n_frames = vars->selected = vars->n_hidden = vars->n_left_out = vars->position = 0;
}

/* What was read of images may be that of others since. */
static void follow_target(struct ws_vars *vars)
{
	if (vars->generation != vars->target->generation) {
		memset(vars->known, 0, WSI_KNOWN_CFIS * sizeof *vars->known);
		wsi_params_free(vars->params);
		vars->params = NULL;
	}
	vars->generation = vars->target->generation;
}

enum ws_status wsi_vars_look_at_code(struct ws_vars *vars, uint64_t pc, struct ws_error *err)
{
	const struct ws_cubin_hint anywhere = { WS_NONE, WS_NONE, WS_NONE };
	look_at_nothing(vars);
	follow_target(vars);
	enum ws_status st = ws_target_cubins(vars->target, &vars->cubins, err);
	if (st == WS_OK && !frame_push(vars, &anywhere, pc, true))
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "frames");
	vars->has_code = st == WS_OK;
	return st;
}

enum ws_status ws_vars_look(struct ws_vars *vars, const struct ws_focus *focus,
			    struct ws_error *err)
{
	struct ws_cubin_hint hint = { WS_NONE, WS_NONE, WS_NONE };
	struct ws_grid grid;
	uint32_t n = 0;
	look_at_nothing(vars);
	if (!focus)
		return WS_OK;
	struct ws_dump_facts facts;
	const bool is_dump = ws_target_dump_facts(vars->target, &facts, NULL) == WS_OK;
	vars->is_stripped = is_dump && facts.stripped & WS_STRIP_VALUES;
	hint.device_index = focus->device_index;
	vars->focus = *focus;
	follow_target(vars);
	enum ws_status st = ws_target_cubins(vars->target, &vars->cubins, err);
	if (st == WS_OK)
		st = ws_target_lane(vars->target, focus->warp_index, focus->lane, &vars->lane, err);
	if (st != WS_OK)
		return st;
	const bool has_grid = focus->grid_index != WS_NONE &&
			      ws_target_grid(vars->target, focus->grid_index, &grid, NULL) == WS_OK;
	if (has_grid) {
		hint.module_index = grid.module_index;
		hint.context_index = grid.context_index;
	}
	st = ws_target_call_stack(vars->target, focus->warp_index, focus->lane, vars->callers,
				  WS_VARS_MAX_FRAMES, &n, err);
	if (st != WS_OK && st != WS_ABSENT)
		return st;
	n = st == WS_OK ? n : 0;
	vars->n_left_out = n > WS_VARS_MAX_FRAMES ? n - WS_VARS_MAX_FRAMES : 0;
	n -= vars->n_left_out;
	if (!stack_frames_push(vars, &hint, is_dump && facts.classic, has_grid ? &grid : NULL, n))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "frames");
	vars->has_thread = true;
	return WS_OK;
}

uint32_t ws_vars_frames(const struct ws_vars *vars)
{
	return vars->has_thread ? vars->n_frames - vars->n_hidden : 0;
}

uint32_t ws_vars_frames_in_system(const struct ws_vars *vars)
{
	return vars->n_hidden;
}

const struct ws_frame *ws_vars_frame(const struct ws_vars *vars, uint32_t level)
{
	assert(level < vars->n_frames - vars->n_hidden);
	return &vars->frames[vars->n_hidden + level];
}

uint32_t ws_vars_frames_left_out(const struct ws_vars *vars)
{
	return vars->n_left_out;
}

enum ws_status ws_vars_select(struct ws_vars *vars, uint32_t level, struct ws_error *err)
{
	if (level >= ws_vars_frames(vars))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no frame %" PRIu32, level);
	vars->selected = vars->n_hidden + level;
	vars->position = WSI_OUTERMOST;
	return WS_OK;
}

enum ws_status ws_vars_select_inlined(struct ws_vars *vars, uint32_t level, uint32_t position,
				      struct ws_error *err)
{
	enum ws_status st = ws_vars_select(vars, level, err);
	if (st == WS_OK)
		vars->position = position;
	return st;
}

uint32_t wsi_vars_selected(const struct ws_vars *vars)
{
	return vars->selected - vars->n_hidden;
}

/* ---- registers ---- */

static enum ws_status cfi_of(struct ws_vars *vars, const struct ws_frame *frame,
			     const struct ws_cfi **ret_cfi)
{
	uint64_t pc = frame->is_caller && frame->pc ? frame->pc - 1 : frame->pc;
	struct wsi_known_cfi *known = &vars->known[pc / 16 % WSI_KNOWN_CFIS];
	if (frame->status != WS_OK)
		return frame->status;
	if (known->pc != pc || pc == 0) {
		known->pc = pc;
		known->status = wsi_cubin_cfi(frame->place.cubin, pc, &known->cfi, NULL);
	}
	*ret_cfi = &known->cfi;
	return known->status;
}

static enum ws_status local_word(const struct ws_vars *vars, uint32_t address, uint32_t *ret_word)
{
	struct ws_address at = wsi_address(vars, WS_SPACE_LOCAL, address);
	uint8_t bytes[4];
	size_t n;
	enum ws_status st = ws_target_read_memory(vars->target, &at, bytes, sizeof bytes, &n, NULL);
	if (st == WS_OK)
		*ret_word = wsi_load_u32(bytes);
	return st;
}

static enum ws_value_kind home_read(const struct ws_vars *vars, const struct wsi_homes *homes,
				    uint32_t number, uint32_t *ret_word, enum ws_status *ret_status)
{
	uint32_t n;
	*ret_status = WS_OK;
	switch ((enum wsi_home)homes->kind[number]) {
	case WSI_HOME_LOST:
		return WS_VALUE_NOT_SAVED;
	case WSI_HOME_VALUE:
		*ret_word = homes->where[number];
		return WS_VALUE_BYTES;
	case WSI_HOME_LOCAL:
		*ret_status = local_word(vars, homes->where[number], ret_word);
		break;
	case WSI_HOME_LIVE:
		*ret_status =
			ws_target_registers(vars->target, vars->focus.warp_index, vars->focus.lane,
					    WS_REG_R, number, 1, ret_word, &n, NULL);
		break;
	}
	return *ret_status == WS_OK ? WS_VALUE_BYTES : WS_VALUE_MISSING;
}

/* The frame's canonical frame address, by the homes of its registers. */
static bool cfa_find(struct ws_vars *vars, const struct ws_frame *frame,
		     const struct wsi_homes *homes, uint64_t *ret_cfa)
{
	const struct ws_cfi *cfi;
	enum ws_status st;
	uint32_t base;
	if (cfi_of(vars, frame, &cfi) != WS_OK ||
	    home_read(vars, homes, cfi->cfa_reg, &base, &st) != WS_VALUE_BYTES)
		return false;
	*ret_cfa = (uint32_t)(base + (uint64_t)cfi->cfa_offset);
	return true;
}

/* To how many bytes the prologue of a function aligns its frame; 8: it does not. */
static uint32_t alignment_of(const struct ws_frame *frame)
{
	enum { PROLOGUE = 16, USUAL = 8, LARGEST = 1024 };
	struct ws_cubin_facts facts;
	struct ws_span code;
	if (frame->status != WS_OK || !frame->place.function ||
	    ws_cubin_code(frame->place.cubin, frame->place.function, &code, NULL) != WS_OK)
		return USUAL;
	ws_cubin_facts(frame->place.cubin, &facts);
	for (size_t i = 0; i < PROLOGUE && (i + 1) * WS_SASS_BYTES <= code.len; i++) {
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		struct ws_insn insn;
		ws_sass_decode(facts.sm, code.ptr + i * WS_SASS_BYTES, &insn);
		if (!insn.known || insn.operation != WS_OP_LOP3)
			continue;
		size_t n = ws_sass_operands(&insn, 0, ops, WSI_COUNT(ops));
		bool aligns = n > 0 && n <= WSI_COUNT(ops) && ops[0].kind == WS_OPERAND_REG &&
			      ops[0].number == STACK_POINTER;
		for (size_t k = 1; k < n && aligns; k++) {
			uint32_t mask = (uint32_t)ops[k].value, least = 0 - mask;
			if (ops[k].kind == WS_OPERAND_IMMEDIATE && least > USUAL &&
			    least <= LARGEST && !(least & (least - 1)))
				return least;
		}
	}
	return USUAL;
}

/* The caller of a frame; NULL: it is the outermost. */
static struct ws_frame *caller_of(const struct ws_vars *vars, const struct ws_frame *frame)
{
	const size_t next = (size_t)(frame - vars->frames) + 1;
	return next < vars->n_frames ? &vars->frames[next] : NULL;
}

/* Whether a caller whose stack pointer is `sp` finds its own return address in its frame. */
static bool is_proven(struct ws_vars *vars, struct ws_frame *caller, uint32_t sp)
{
	const struct ws_frame *next = caller_of(vars, caller);
	const struct ws_cfi *cfi;
	uint32_t word;
	if (!next || cfi_of(vars, caller, &cfi) != WS_OK || cfi->cfa_reg != STACK_POINTER ||
	    cfi->return_reg >> 24 != WS_REG_CLASS_FULL)
		return false;
	const struct ws_saved *saved = &cfi->reg[cfi->return_reg & 0xff];
	uint64_t at = sp + (uint64_t)cfi->cfa_offset + (uint64_t)saved->offset;
	return saved->kind == WS_SAVED_LOCAL && local_word(vars, (uint32_t)at, &word) == WS_OK &&
	       word == (uint32_t)next->pc;
}

/* The stack pointer of a frame's caller. */
static bool caller_sp(struct ws_vars *vars, const struct ws_frame *frame, uint32_t cfa,
		      uint32_t *ret_sp)
{
	uint32_t alignment = alignment_of(frame), n = 0;
	struct ws_frame *caller = caller_of(vars, frame);
	*ret_sp = cfa;
	if (!caller || alignment <= alignment_of(caller))
		return true;
	for (uint32_t more = 0; more < alignment; more += alignment_of(caller)) {
		if (!is_proven(vars, caller, cfa + more))
			continue;
		*ret_sp = cfa + more;
		n++;
	}
	return n == 1;
}

/* From the registers of a frame to those of its caller. */
static void unwind(struct ws_vars *vars, const struct ws_frame *frame, struct wsi_homes *homes)
{
	const struct ws_cfi *cfi;
	struct ws_frame *caller = caller_of(vars, frame);
	enum ws_status st;
	uint32_t sp;
	uint64_t cfa;
	if (!cfa_find(vars, frame, homes, &cfa)) {
		const bool same =
			caller &&
			home_read(vars, homes, STACK_POINTER, &sp, &st) == WS_VALUE_BYTES &&
			is_proven(vars, caller, sp);
		memset(homes->kind, WSI_HOME_LOST, sizeof homes->kind);
		homes->kind[STACK_POINTER] = same ? WSI_HOME_VALUE : WSI_HOME_LOST;
		homes->where[STACK_POINTER] = same ? sp : 0;
		return;
	}
	if (cfi_of(vars, frame, &cfi) != WS_OK)
		return;
	for (size_t i = 0; i < WSI_COUNT(homes->kind); i++) {
		if (cfi->reg[i].kind == WS_SAVED_LOST) {
			homes->kind[i] = WSI_HOME_LOST;
		} else if (cfi->reg[i].kind == WS_SAVED_LOCAL) {
			homes->kind[i] = WSI_HOME_LOCAL;
			homes->where[i] = (uint32_t)(cfa + (uint64_t)cfi->reg[i].offset);
		}
	}
	bool known = caller_sp(vars, frame, (uint32_t)cfa, &homes->where[STACK_POINTER]);
	homes->kind[STACK_POINTER] = known ? WSI_HOME_VALUE : WSI_HOME_LOST;
}

static const struct wsi_homes *homes_of(struct ws_vars *vars)
{
	if (!vars->have_homes || vars->homes_level > vars->selected) {
		memset(vars->homes.kind, WSI_HOME_LIVE, sizeof vars->homes.kind);
		vars->homes_level = 0;
		vars->have_homes = true;
	}
	while (vars->homes_level < vars->selected)
		unwind(vars, &vars->frames[vars->homes_level++], &vars->homes);
	return &vars->homes;
}

enum ws_value_kind wsi_vars_register(struct ws_vars *vars, uint32_t number, uint32_t *ret_word,
				     enum ws_status *ret_status)
{
	*ret_status = WS_ABSENT;
	if (number > 255 || !vars->has_thread)
		return WS_VALUE_MISSING;
	if (number == 255) { /* RZ */
		*ret_word = 0;
		return WS_VALUE_BYTES;
	}
	return home_read(vars, homes_of(vars), number, ret_word, ret_status);
}

bool wsi_vars_cfa(struct ws_vars *vars, uint64_t *ret_cfa)
{
	return vars->has_thread &&
	       cfa_find(vars, &vars->frames[vars->selected], homes_of(vars), ret_cfa);
}

enum ws_status ws_vars_frame_address(struct ws_vars *vars, uint64_t *ret_address,
				     struct ws_error *err)
{
	return wsi_vars_cfa(vars, ret_address) ? WS_OK
					       : wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
							  "nothing tells where the frame begins");
}

enum ws_status ws_vars_saved_register(struct ws_vars *vars, uint32_t number, uint64_t *ret_address,
				      struct ws_error *err)
{
	const struct ws_cfi *cfi;
	uint64_t cfa;
	if (number >= WSI_COUNT(cfi->reg) || !wsi_vars_cfa(vars, &cfa) ||
	    cfi_of(vars, &vars->frames[vars->selected], &cfi) != WS_OK ||
	    cfi->reg[number].kind != WS_SAVED_LOCAL)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the register was not saved here");
	*ret_address = (uint32_t)(cfa + (uint64_t)cfi->reg[number].offset);
	return WS_OK;
}
