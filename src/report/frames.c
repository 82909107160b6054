/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From addresses to frames.
 *
 * The stack of a fault starts at the error PC, but the return addresses belong to the pc, which the
 * warp reached before it stopped. Usually both lie in one function. Otherwise:
 *
 *   the warp went on into a call     errorpc's function is one of pc's callers: the callers beyond
 *                                    it are errorpc's too, those before it are not
 *   the warp returned                the caller of errorpc's function is pc's function: its place
 *                                    and callers follow, marked, since the call site is not known
 */
#include "report/build.h"

#include "cubin/cubin.h"

enum {
	MAX_CALLERS = 2048, /* return addresses that become frames */
	MAX_SOURCES = 16,   /* exceptions whose frames get source lines */
};

/* ---- names ---- */

/* Cuts a name to WSI_BRIEF_NAME bytes, at the start of a character. */
static const char *brief_of(struct wsi_build *build, char *name)
{
	size_t len = strlen(name);
	if (len > WSI_BRIEF_NAME) {
		len = WSI_BRIEF_NAME - 3;
		while (len > 0 && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--;
		memcpy(name + len, "...", 4);
		len += 3;
	}
	return wsi_arena_str(build->arena, name, len);
}

static bool function_name_make(struct wsi_build *build, struct ws_str mangled,
			       struct wsi_name *ret_name)
{
	char *buffer = build->name_buffer;
	ws_demangle(mangled, buffer, WSI_NAME_BUFFER);
	const char *full = wsi_arena_str(build->arena, buffer, strlen(buffer));
	ws_demangle_short(mangled, buffer, WSI_NAME_BUFFER);
	const char *brief = brief_of(build, buffer);
	if (!full || !brief)
		return false;
	*ret_name = (struct wsi_name){ ws_str_of(full), ws_str_of(brief), mangled };
	return true;
}

const struct wsi_name *wsi_report_name_of(struct wsi_build *build, struct ws_str mangled)
{
	/* the string lies in a module that stays open: its address identifies it */
	struct wsi_map_key key = { { (uintptr_t)mangled.ptr, mangled.len, 1, 0 } };
	bool is_new;
	uint32_t *index = wsi_map_put(&build->cache, &key, (uint32_t)build->n_names, &is_new);
	if (!index)
		return NULL;
	if (!is_new)
		return &build->names[*index];
	if (!wsi_grow(&build->names, &build->cap_names, build->n_names, sizeof *build->names,
		      UINT32_MAX - 1) ||
	    !function_name_make(build, mangled, &build->names[build->n_names]))
		return NULL;
	return &build->names[build->n_names++];
}

static bool frame_name(struct wsi_build *build, struct ws_report_frame *frame,
		       struct ws_str mangled)
{
	const struct wsi_name *name = wsi_report_name_of(build, mangled);
	if (!name)
		return false;
	frame->function_status = WS_OK;
	frame->function = name->full;
	frame->function_short = name->brief;
	frame->function_mangled = name->mangled;
	return true;
}

/* The function whose code it is, not one that was inlined into it. */
static bool frame_owner(struct wsi_build *build, struct ws_report_frame *frame,
			const struct ws_place *place)
{
	return frame_name(build, frame, place->function->name) &&
	       wsi_types_of_frame(build, place, frame) == WS_OK;
}

/* ---- the frames of one address ---- */

/* One more frame at the address of `base`. */
static struct ws_report_frame *inlined_frames_push(struct wsi_frames *frames,
						   const struct ws_report_frame *base)
{
	if (!wsi_grow(&frames->at, &frames->cap, frames->n, sizeof *frames->at, UINT32_MAX - 1))
		return NULL;
	struct ws_report_frame *frame = &frames->at[frames->n];
	*frame = (struct ws_report_frame){ .level = (uint32_t)frames->n++,
					   .pc = base->pc,
					   .rel_pc = base->rel_pc,
					   .owner_short = base->owner_short,
					   .caller = base->caller,
					   .function_status = WS_ABSENT,
					   .line_status = WS_ABSENT,
					   .formals_status = WS_ABSENT,
					   .source = { .status = WS_ABSENT } };
	return frame;
}

static bool frame_line(struct wsi_build *build, struct ws_report_frame *frame,
		       const struct ws_line_pos *pos)
{
	if (!pos->file)
		return true;
	const struct wsi_source_file *file = wsi_report_source_of(build, pos->file);
	if (!file)
		return false;
	frame->line_status = WS_OK;
	frame->file = file->path;
	frame->library = file->library;
	frame->line = pos->line;
	frame->line_added = pos->added;
	return true;
}

/* One position of the inline chain, the `i`th of `n`. */
static bool push_position(struct wsi_build *build, const struct ws_place *place,
			  const struct ws_line_pos *pos, bool outermost, struct wsi_frames *frames,
			  const struct ws_report_frame *base)
{
	struct ws_report_frame *frame = inlined_frames_push(frames, base);
	if (!frame)
		return false;
	frame->borrowed_from = base->borrowed_from;
	frame->inlined = !outermost || pos->call_site_lost;
	if (!frame_line(build, frame, pos))
		return false;
	if (outermost && !pos->call_site_lost && place->function)
		return frame_owner(build, frame, place);
	if (pos->function)
		return frame_name(build, frame, ws_str_of(pos->function));
	if (!outermost) /* its name lies outside the table of names */
		frame->function_status = WS_MALFORMED;
	return true;
}

/* C++ reserves names with two underscores in front: code without lines that has one is a
 * compiler's, as the atomics and divisions that -G calls. */
static bool is_compilers(struct ws_str name)
{
	return wsi_str_begins(name, "__") || wsi_str_begins(name, "$__");
}

/* The function that owns the code, without a line: `why`. */
static bool push_owner(struct wsi_build *build, const struct ws_place *place, enum ws_status why,
		       struct wsi_frames *frames, const struct ws_report_frame *base)
{
	struct ws_report_frame *frame = inlined_frames_push(frames, base);
	if (!frame)
		return false;
	frame->line_status = why;
	if (!place || !place->function)
		return true;
	if (!frame_owner(build, frame, place))
		return false;
	frame->library = why == WS_ABSENT && is_compilers(frame->function);
	return true;
}

struct wsi_lines wsi_report_lines_of(struct wsi_build *build, const struct ws_place *place,
				     struct ws_borrowed *ret_borrowed)
{
	struct wsi_lines own = { place->cubin, place->section, NULL };
	struct ws_borrowed found = { .verdict = WS_BORROW_NO_FUNCTION };
	struct ws_cubin_facts facts;
	if (build->pool && place->function) {
		ws_cubin_facts(place->cubin, &facts);
		if (!facts.has_lines &&
		    ws_borrow_find(build->pool, place->cubin, place->function, &found, NULL) ==
			    WS_OK &&
		    found.verdict == WS_BORROW_EQUAL)
			own = (struct wsi_lines){ found.cubin, found.section, found.path };
	}
	if (ret_borrowed)
		*ret_borrowed = found;
	return own;
}

/* Whether a line of a kernel of cuTile is the first of the function, which is that of a decorator
 * or of the `def`, or the next. */
static bool maybe_def(const struct wsi_lines *lines, const struct ws_place *place, uint32_t line)
{
	struct ws_line_pos first;
	size_t n;
	return place->function && wsi_name_cutile_len(place->function->name) &&
	       ws_cubin_line_find(lines->cubin, lines->section, place->sec_off - place->rel_pc,
				  &first, 1, &n, NULL) == WS_OK &&
	       n == 1 && (line == first.line || line == first.line + 1);
}

enum ws_status wsi_frames_at(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     bool caller, struct wsi_frames *frames, struct ws_place *ret_place)
{
	struct ws_cubin_hint hint = { where->module_index, where->device_index,
				      where->context_index };
	uint64_t looked_up = caller && pc ? pc - 1 : pc;
	struct ws_report_frame base = { .pc = pc, .caller = caller };
	*ret_place = (struct ws_place){ 0 };
	enum ws_status st =
		ws_cubin_set_find_address(build->cubins, looked_up, &hint, ret_place, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	if (st != WS_OK)
		return push_owner(build, NULL, st, frames, &base) ? WS_OK : WS_NO_MEMORY;
	base.rel_pc = ret_place->rel_pc + (pc - looked_up);
	if (ret_place->function) {
		const struct wsi_name *owner = wsi_report_name_of(build, ret_place->function->name);
		if (!owner)
			return WS_NO_MEMORY;
		base.owner_short = owner->brief;
	}

	struct ws_line_pos chain[WS_LINE_MAX_DEPTH + 1];
	size_t n = 0;
	struct wsi_lines lines = wsi_report_lines_of(build, ret_place, NULL);
	base.borrowed_from = lines.borrowed_from;
	st = ws_cubin_line_find(lines.cubin, lines.section, ret_place->sec_off, chain,
				WSI_COUNT(chain), &n, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	if (st != WS_OK)
		return push_owner(build, ret_place, st, frames, &base) ? WS_OK : WS_NO_MEMORY;
	n = n < WSI_COUNT(chain) ? n : WSI_COUNT(chain);
	for (size_t i = 0; i < n; i++) {
		if (!push_position(build, ret_place, &chain[i], i + 1 == n, frames, &base))
			return WS_NO_MEMORY;
	}
	if (n == 1)
		frames->at[frames->n - 1].maybe_def = maybe_def(&lines, ret_place, chain[0].line);
	if (n && chain[n - 1].call_site_lost &&
	    !push_owner(build, ret_place, WS_MALFORMED, frames, &base))
		return WS_NO_MEMORY;
	return WS_OK;
}

uint32_t wsi_frames_user(const struct ws_report_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!frames[i].library && frames[i].function_status == WS_OK)
			return (uint32_t)i;
	}
	return WS_NONE;
}

/* ---- the stack of a fault ---- */

/* What is collected for one fault. */
struct stack {
	struct wsi_build *build;
	struct wsi_fault *fault;
	struct wsi_frames frames; /* owned */
	struct ws_return_address callers[MAX_CALLERS];
	uint32_t n_callers;
	struct ws_place start; /* of the first frame */
};

static void stack_read_callers(struct stack *stack)
{
	struct ws_report_exception *e = &stack->fault->e;
	stack->n_callers = 0;
	e->stack_status = WS_ABSENT;
	if (e->at.lane == WS_NONE)
		return;
	uint32_t n = 0;
	e->stack_status = ws_target_call_stack(stack->build->target, e->at.warp_index, e->at.lane,
					       stack->callers, MAX_CALLERS, &n, NULL);
	if (e->stack_status != WS_OK)
		return;
	stack->n_callers = n < MAX_CALLERS ? n : MAX_CALLERS;
	e->n_callers_left_out = n - stack->n_callers;
}

/* Where a return address leads as a device address; false for one of the classic back end. */
static bool caller_pc(const struct stack *stack, uint32_t level, uint64_t *ret_pc)
{
	const struct ws_return_address *caller = &stack->callers[level];
	*ret_pc = caller->address;
	if (!stack->build->classic)
		return true;
	/* only the outermost caller is surely the kernel, whose entry is known */
	if (level + 1 < stack->n_callers || stack->fault->e.kernel == WS_NONE ||
	    stack->fault->e.n_callers_left_out)
		return false;
	*ret_pc = stack->build->kernels[stack->fault->e.kernel].grid.function_entry +
		  caller->rel_address;
	return true;
}

/* Appends the frames of callers from `level` on. */
static enum ws_status stack_push_callers(struct stack *stack, uint32_t level)
{
	for (; level < stack->n_callers; level++) {
		struct ws_place place;
		uint64_t pc;
		enum ws_status st;
		if (caller_pc(stack, level, &pc)) {
			st = wsi_frames_at(stack->build, &stack->fault->where, pc, true,
					   &stack->frames, &place);
		} else {
			struct ws_report_frame base = { .pc = pc, .caller = true };
			st = push_owner(stack->build, NULL, WS_UNSUPPORTED, &stack->frames, &base)
				     ? WS_OK
				     : WS_NO_MEMORY;
		}
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

/* The level whose caller frame lies in the function of the first frame, or n_callers. */
static uint32_t stack_find_start(struct stack *stack)
{
	const struct wsi_where *where = &stack->fault->where;
	struct ws_cubin_hint hint = { where->module_index, where->device_index,
				      where->context_index };
	for (uint32_t level = 0; level < stack->n_callers; level++) {
		struct ws_place place;
		uint64_t pc;
		if (caller_pc(stack, level, &pc) && pc > 0 &&
		    ws_cubin_set_find_address(stack->build->cubins, pc - 1, &hint, &place, NULL) ==
			    WS_OK &&
		    place.function == stack->start.function)
			return level;
	}
	return stack->n_callers;
}

/* Frames of pc, when the error PC is another address: joins the two stacks (see the top). */
static enum ws_status stack_join(struct stack *stack)
{
	struct ws_report_exception *e = &stack->fault->e;
	struct wsi_frames moved = { 0 };
	struct ws_place place;
	enum ws_status st =
		wsi_frames_at(stack->build, &stack->fault->where, e->pc, false, &moved, &place);
	struct ws_report_frame *kept = NULL;
	if (st == WS_OK && !(kept = wsi_arena_zalloc(stack->build->arena, sizeof *kept)))
		st = WS_NO_MEMORY;
	if (st != WS_OK)
		goto out;
	*kept = moved.at[0];
	e->pc_frame = kept;
	e->pc_apart = place.cubin != stack->start.cubin;
	uint32_t level = 0;
	if (place.function != stack->start.function) {
		level = stack_find_start(stack);
		if (level < stack->n_callers) {
			level++;
		} else {
			level = 0;
			e->pc_frames_from = (uint32_t)stack->frames.n;
			st = wsi_frames_at(stack->build, &stack->fault->where, e->pc, false,
					   &stack->frames, &place);
		}
	}
	if (st == WS_OK)
		st = stack_push_callers(stack, level);
out:
	wsi_free(moved.at);
	return st;
}

/* The first frames: of the error PC where it is known to be code, else of the pc. */
static enum ws_status stack_start(struct stack *stack, bool *ret_by_error)
{
	struct ws_report_exception *e = &stack->fault->e;
	*ret_by_error = e->errorpc_status == WS_OK;
	if (*ret_by_error) {
		enum ws_status st = wsi_frames_at(stack->build, &stack->fault->where, e->errorpc,
						  false, &stack->frames, &stack->start);
		if (st != WS_OK || stack->start.cubin || e->pc_status != WS_OK)
			return st;
		stack->frames.n = 0; /* it leads nowhere: the pc may */
		*ret_by_error = false;
	}
	if (e->pc_status == WS_OK) {
		enum ws_status st = wsi_frames_at(stack->build, &stack->fault->where, e->pc, false,
						  &stack->frames, &stack->start);
		e->pc_apart = stack->start.cubin != NULL; /* which errorpc is not in */
		return st;
	}
	if (e->pc_status != WS_UNSUPPORTED)
		return WS_OK;
	struct ws_report_frame base = { .pc = e->pc };
	return push_owner(stack->build, NULL, WS_UNSUPPORTED, &stack->frames, &base) ? WS_OK
										     : WS_NO_MEMORY;
}

/* The kernel of a fault that has no thread: the one of the device whose code it is, if only one is.
 */
static void find_faulting_kernel(struct stack *stack)
{
	struct ws_report_exception *e = &stack->fault->e;
	const struct wsi_build *build = stack->build;
	if (e->kernel != WS_NONE || !stack->start.owner)
		return;
	uint32_t n = 0, found = WS_NONE;
	for (uint32_t i = 0; i < build->report->n_kernels; i++) {
		if (build->kernels[i].device_index == stack->fault->device_index &&
		    build->kernels[i].grid.function_entry == stack->start.owner->gpu_va) {
			found = i;
			n++;
		}
	}
	if (n == 1)
		e->kernel = found;
}

/* Whether the kernel is Triton's, and its blocks have the numbers of programs: where several blocks
 * are one program, it is one cluster. */
static bool is_program(const struct stack *stack)
{
	const struct ws_report_exception *e = &stack->fault->e;
	const struct ws_report_frame *kernel = e->n_frames ? &e->frames[e->n_frames - 1] : NULL;
	if (!stack->start.cubin || !kernel || kernel->line_status != WS_OK ||
	    !wsi_str_ends(kernel->file, ".py") || !wsi_cubin_is_triton(stack->start.cubin))
		return false;
	if (e->kernel == WS_NONE)
		return true;
	const struct ws_grid *grid = &stack->build->kernels[e->kernel].grid;
	return !(grid->have & WS_GRID_CLUSTER) || wsi_dim3_count(grid->cluster_dim) <= 1;
}

/* Moves the frames into the arena, numbers them, reads their source lines. */
static enum ws_status stack_finish(struct stack *stack)
{
	struct ws_report_exception *e = &stack->fault->e;
	const struct wsi_build *build = stack->build;
	size_t n = stack->frames.n;
	bool with_source =
		stack->fault == &build->calm || stack->fault - build->faults < MAX_SOURCES;
	struct ws_report_frame *frames =
		wsi_arena_zalloc_array(stack->build->arena, n, sizeof *frames);
	if (!frames)
		return WS_NO_MEMORY;
	if (n)
		memcpy(frames, stack->frames.at, n * sizeof *frames);
	for (size_t i = 0; i < n; i++) {
		frames[i].level = (uint32_t)i;
		if (!with_source)
			continue;
		if (i > 0 && frames[i].file.ptr == frames[i - 1].file.ptr &&
		    frames[i].line == frames[i - 1].line) { /* recursion */
			frames[i].source = frames[i - 1].source;
			continue;
		}
		enum ws_status st = wsi_report_source_read(stack->build, &frames[i]);
		if (st != WS_OK)
			return st;
	}
	e->frames = frames;
	e->n_frames = (uint32_t)n;
	e->user_frame = wsi_frames_user(frames, n);
	return WS_OK;
}

enum ws_status wsi_frames_of_fault(struct wsi_build *build, struct wsi_fault *fault)
{
	struct stack stack = { .build = build, .fault = fault };
	struct ws_report_exception *e = &fault->e;
	bool by_error;
	e->pc_frames_from = e->user_frame = WS_NONE;
	enum ws_status st = stack_start(&stack, &by_error);
	if (st == WS_OK) {
		find_faulting_kernel(&stack);
		stack_read_callers(&stack);
		bool join = by_error && e->pc_status == WS_OK && e->pc != e->errorpc;
		st = join ? stack_join(&stack) : stack_push_callers(&stack, 0);
	}
	if (st == WS_OK)
		st = stack_finish(&stack);
	if (st == WS_OK)
		e->is_program = is_program(&stack);
	wsi_free(stack.frames.at);
	return st;
}

enum ws_status wsi_frames_of_group(struct wsi_build *build, struct wsi_group *group,
				   struct wsi_frames *scratch)
{
	struct ws_place place;
	scratch->n = 0;
	if (group->is_host_pc) {
		struct ws_report_frame base = { .pc = group->g.pc };
		if (!push_owner(build, NULL, WS_UNSUPPORTED, scratch, &base))
			return WS_NO_MEMORY;
	} else {
		enum ws_status st =
			wsi_frames_at(build, &group->where, group->g.pc, false, scratch, &place);
		if (st != WS_OK)
			return st;
	}
	uint32_t user = wsi_frames_user(scratch->at, scratch->n);
	group->g.frame = scratch->at[0];
	group->g.user = scratch->at[user == WS_NONE ? 0 : user];
	return WS_OK;
}
