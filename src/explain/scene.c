/* SPDX-License-Identifier: Apache-2.0 */
/* The warp of an exception, its registers and memory, and the code it ran. */

#include "base/reader.h"
#include "explain/explain.h"
#include "sass/bank.h"

enum {
	MAX_CALLERS = 16, /* functions that a value is followed into */
	MAX_EVALS = 10000,
};

/* ---- code ---- */

enum ws_status wsi_code_find(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     struct wsi_function_code *ret_code)
{
	struct wsi_function_code code = { .base_pc = 0 };
	struct ws_cubin_hint hint = { where->module_index, where->device_index,
				      where->context_index };
	struct ws_cubin_facts facts;
	enum ws_status st = ws_cubin_set_find_address(build->cubins, pc, &hint, &code.place, NULL);
	if (st == WS_OK && !code.place.function)
		st = WS_ABSENT;
	if (st == WS_OK)
		st = ws_cubin_code(code.place.cubin, code.place.function, &code.bytes, NULL);
	if (st != WS_OK)
		return st;
	ws_cubin_facts(code.place.cubin, &facts);
	code.base_pc = pc - code.place.rel_pc;
	code.sm = facts.sm;
	*ret_code = code;
	return WS_OK;
}

enum ws_status wsi_code_open(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     struct wsi_function_code *ret_code)
{
	struct wsi_function_code code;
	enum ws_status st = wsi_code_find(build, where, pc, &code);
	if (st != WS_OK)
		return st;
	st = ws_cubin_flow(code.place.cubin, code.place.function, code.base_pc, &code.flow, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	*ret_code = code;
	return WS_OK;
}

void wsi_code_close(struct wsi_function_code *code)
{
	ws_flow_destroy(code->flow);
	*code = (struct wsi_function_code){ .base_pc = 0 };
}

bool wsi_code_insn(const struct wsi_function_code *code, uint64_t pc, struct ws_insn *ret_insn)
{
	struct ws_span one;
	uint64_t off = pc - code->base_pc;
	if (off % WS_SASS_BYTES || !ws_span_sub(code->bytes, off, WS_SASS_BYTES, &one))
		return false;
	ws_sass_decode(code->sm, one.ptr, ret_insn);
	return true;
}

const char *wsi_code_text(struct wsi_build *build, const struct ws_insn *insn, uint64_t pc)
{
	char text[WS_SASS_TEXT_MAX];
	size_t len = ws_sass_format(insn, pc, NULL, text, sizeof text);
	return wsi_arena_str(build->arena, text, len);
}

/* ---- the warp ---- */

static void scene_read_block(struct wsi_scene *scene)
{
	const struct ws_target *target = scene->build->target;
	scene->have_block =
		scene->warp.block_index != WS_NONE &&
		ws_target_block(target, scene->warp.block_index, &scene->block, NULL) == WS_OK;
	if (scene->have_block)
		scene->grid_index = scene->block.grid_index;
}

static void read_warp(struct wsi_scene *scene)
{
	const struct ws_target *target = scene->build->target;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (scene->e->at.warp_index == WS_NONE)
		return;
	scene->have_warp =
		ws_target_warp(target, scene->e->at.warp_index, &scene->warp, NULL) == WS_OK;
	if (!scene->have_warp)
		return;
	scene_read_block(scene);
	if (ws_target_lanes(target, scene->e->at.warp_index, lanes, &n, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = lanes[i].id;
		if (id >= WS_MAX_LANES || !(scene->warp.valid_lanes >> id & 1))
			continue;
		scene->lanes |= 1u << id;
		scene->lane[id] = lanes[i];
	}
}

/* Opens the functions that called the one of the instruction: those of the frames of the stack,
 * from one on. */
static enum ws_status open_callers(struct wsi_scene *scene, uint32_t first)
{
	const struct ws_report_exception *e = scene->e;
	uint32_t n = 0;
	for (uint32_t i = first; i < e->n_frames && i < e->pc_frames_from; i++)
		n += e->frames[i].caller && (i == 0 || e->frames[i - 1].pc != e->frames[i].pc);
	if (n > MAX_CALLERS)
		n = MAX_CALLERS;
	if (n == 0)
		return WS_OK;
	scene->callers = wsi_zalloc_array(n, sizeof *scene->callers);
	scene->arguments = wsi_zalloc(sizeof *scene->arguments);
	if (!scene->callers || !scene->arguments)
		return WS_NO_MEMORY;
	scene->arguments->n_evals = MAX_EVALS;
	for (uint32_t i = first; i < e->n_frames && scene->n_callers < n; i++) {
		struct wsi_caller *caller = &scene->callers[scene->n_callers];
		if (!e->frames[i].caller || (i > 0 && e->frames[i - 1].pc == e->frames[i].pc))
			continue;
		caller->call_pc = e->frames[i].pc - WS_SASS_BYTES;
		enum ws_status st =
			wsi_code_open(scene->build, &scene->where, caller->call_pc, &caller->code);
		if (st == WS_NO_MEMORY)
			return st;
		if (st != WS_OK)
			break;
		scene->n_callers++;
	}
	return WS_OK;
}

static enum ws_status open_code(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	enum ws_status st = WS_ABSENT;
	if (e->errorpc_status == WS_OK)
		st = wsi_code_open(scene->build, &scene->where, e->errorpc, &scene->code);
	if (st != WS_OK && st != WS_NO_MEMORY && e->pc_status == WS_OK)
		st = wsi_code_open(scene->build, &scene->where, e->pc, &scene->code);
	if (st == WS_OK)
		st = open_callers(scene, 0);
	return st == WS_NO_MEMORY ? st : WS_OK;
}

/*
 * A provider of the debugger API does not tell where the local window lies in generic addresses.
 * The driver puts that into constant bank 0, where the code takes it from.
 */
static void find_local_window(struct wsi_scene *scene)
{
	uint64_t window;
	if (!scene->code.sm || (scene->have_context && scene->context.local_window_base) ||
	    wsi_scene_memory(scene, WS_NONE, WS_SPACE_CONST, 0, wsi_bank0(scene->code.sm)->local, 8,
			     &window) != WS_OK ||
	    window == 0 || window % WS_WINDOW_BYTES)
		return;
	scene->context.local_window_base = window;
	scene->have_context = true;
}

enum ws_status wsi_scene_init(struct wsi_scene *scene, struct wsi_build *build,
			      struct wsi_fault *fault)
{
	const struct ws_target *target = build->target;
	*scene = (struct wsi_scene){
		.build = build,
		.e = &fault->e,
		.where = fault->where,
		.grid_index = fault->where.grid_index,
	};
	if (fault->device_index < build->report->n_devices &&
	    build->devices[fault->device_index].status == WS_OK)
		scene->sm_major = build->devices[fault->device_index].state.sm_major;
	scene->have_context = fault->where.context_index != WS_NONE &&
			      ws_target_context(target, fault->where.context_index, &scene->context,
						NULL) == WS_OK;
	read_warp(scene);
	enum ws_status st = open_code(scene);
	if (st == WS_OK)
		find_local_window(scene);
	return st;
}

/* Opens the code of a call and of the functions around it, whose frames start at `next_frame`. */
static enum ws_status at_call(struct wsi_scene *caller, uint64_t call_pc, uint32_t next_frame)
{
	enum ws_status st = wsi_code_open(caller->build, &caller->where, call_pc, &caller->code);
	return st == WS_OK ? open_callers(caller, next_frame) : st;
}

const char *wsi_code_line_text(struct wsi_build *build, const struct wsi_function_code *code,
			       uint64_t pc)
{
	struct ws_place place;
	struct ws_line_pos pos[1];
	size_t n = 0;
	if (ws_cubin_find_address(code->place.cubin, pc, &place, NULL) != WS_OK)
		return "";
	struct wsi_lines lines = wsi_report_lines_of(build, &place, NULL);
	if (ws_cubin_line_find(lines.cubin, lines.section, place.sec_off, pos, 1, &n, NULL) !=
		    WS_OK ||
	    n == 0 || !pos[0].file || pos[0].line == 0)
		return "";
	const char *slash = strrchr(pos[0].file->name, '/');
	const char *quoted =
		wsi_build_name(build, ws_str_of(slash ? slash + 1 : pos[0].file->name));
	return wsi_build_text(build, " at %.*s:%u`", (int)strlen(quoted) - 1, quoted, pos[0].line);
}

enum ws_status wsi_scene_at_call(const struct wsi_scene *scene, struct wsi_scene *caller,
				 uint64_t *ret_call_pc)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_insn insn;
	uint32_t i = 0;
	*caller = *scene;
	caller->code = (struct wsi_function_code){ .base_pc = 0 };
	caller->slice = NULL;
	caller->have_slice = false;
	caller->callers = NULL;
	caller->n_callers = 0;
	caller->arguments = NULL;
	if (e->errorpc_status == WS_OK && scene->code.place.cubin &&
	    wsi_code_insn(&scene->code, e->errorpc, &insn) && insn.flags & WS_SASS_CALL) {
		*ret_call_pc = e->errorpc;
		return at_call(caller, e->errorpc, 0);
	}
	while (i < e->n_frames && (!e->frames[i].caller || e->frames[i].function_status != WS_OK))
		i++;
	if (i == e->n_frames) /* no call, or none that is known */
		return e->stack_status == WS_OK ? WS_ABSENT : WS_UNSUPPORTED;
	uint32_t next = i + 1;
	while (next < e->n_frames && e->frames[next - 1].inlined)
		next++;
	*ret_call_pc = e->frames[i].pc - WS_SASS_BYTES;
	return at_call(caller, *ret_call_pc, next);
}

void wsi_scene_aim(struct wsi_scene *scene, uint32_t warp_index)
{
	scene->e->at.warp_index = warp_index;
	scene->lanes = 0;
	scene->have_block = false;
	read_warp(scene);
}

void wsi_scene_fini(struct wsi_scene *scene)
{
	wsi_code_close(&scene->code);
	for (uint32_t i = 0; i < scene->n_callers; i++)
		wsi_code_close(&scene->callers[i].code);
	wsi_free(scene->callers);
	for (uint32_t i = 0; scene->arguments && i < scene->arguments->n; i++)
		wsi_free(scene->arguments->at[i].slice);
	wsi_free(scene->arguments);
	wsi_free(scene->slice);
	wsi_free(scene->stored);
	*scene = (struct wsi_scene){ .build = NULL };
}

enum ws_status wsi_scene_trace(struct wsi_scene *scene, uint64_t pc, unsigned which)
{
	scene->have_slice = false;
	if (!scene->code.flow)
		return WS_OK;
	if (!scene->slice && !(scene->slice = wsi_zalloc(sizeof *scene->slice)))
		return WS_NO_MEMORY;
	enum ws_status st = ws_flow_slice_address(scene->code.flow, pc, which, scene->slice, NULL);
	scene->have_slice = st == WS_OK;
	return st == WS_NO_MEMORY ? st : WS_OK;
}

bool wsi_values_are_replaced(const struct wsi_build *build)
{
	return build->report->dump_status == WS_OK &&
	       build->report->dump.stripped & WS_STRIP_VALUES;
}

bool wsi_others_are_dropped(const struct wsi_build *build)
{
	return build->report->dump_status == WS_OK &&
	       build->report->dump.stripped & WS_STRIP_OTHERS;
}

/* ---- values ---- */

enum { STACK_POINTER = 1 };

/* Whether a word is one that values were replaced by, or 0, which stays (enum ws_value_class). */
static bool is_representative(uint32_t word)
{
	return word == 0 || word == 1 || word == 0x3f800000 || word == 0xbaadf00d;
}

bool wsi_explain_is_replaced(const struct wsi_build *build, const uint32_t *words, unsigned n)
{
	if (build->report->dump_status != WS_OK ||
	    !(build->report->dump.stripped & WS_STRIP_VALUES))
		return false;
	if (n == 2 && words[1]) /* a pointer stays, both halves */
		return is_representative(words[1]);
	return (words[0] && is_representative(words[0])) || (n == 2 && words[1]);
}

enum ws_status wsi_scene_register(const struct wsi_scene *scene, uint32_t lane,
				  enum ws_operand_kind kind, unsigned number, unsigned count,
				  uint64_t *ret_value)
{
	static const enum ws_reg_kind kinds[] = {
		[WS_OPERAND_REG] = WS_REG_R,
		[WS_OPERAND_UREG] = WS_REG_UR,
		[WS_OPERAND_PRED] = WS_REG_P,
		[WS_OPERAND_UPRED] = WS_REG_UP,
	};
	uint32_t values[2] = { 0, 0 }, n = 0;
	if ((size_t)kind >= WSI_COUNT(kinds))
		return WS_UNSUPPORTED;
	bool predicate = ws_operand_is_predicate(kind);
	if (ws_operand_is_fixed(kind, number)) {
		*ret_value = predicate;
		return WS_OK;
	}
	if (!scene->have_warp)
		return WS_ABSENT;
	count = count > 1 ? 2 : 1;
	bool is_kept = predicate || (kind == WS_OPERAND_REG && number == STACK_POINTER);
	enum ws_status st = ws_target_registers(scene->build->target, scene->e->at.warp_index, lane,
						kinds[kind], number, count, values, &n, NULL);
	if (st == WS_OK && n < count)
		st = WS_ABSENT;
	if (st == WS_OK && !is_kept && wsi_explain_is_replaced(scene->build, values, count))
		st = WS_EXCLUDED;
	if (st == WS_OK)
		*ret_value = (uint64_t)values[1] << 32 | values[0];
	return st;
}

/*
 * Bank 4 as the image has it: addresses of variables and functions, which the loader fills in and
 * nobody changes [measured: nvcc 13.0, all relocations of `.nv.constant4` are addresses].
 */
static bool read_bank4(const struct wsi_scene *scene, uint64_t offset, unsigned size,
		       uint8_t *bytes)
{
	struct ws_cubin *cubin = scene->code.place.cubin;
	struct ws_cubin_facts facts;
	struct ws_section section;
	struct ws_span one;
	uint32_t index;
	if (!cubin)
		return false;
	ws_cubin_facts(cubin, &facts);
	if (!facts.relocated ||
	    ws_cubin_find_section(cubin, ".nv.constant4", &index, NULL) != WS_OK ||
	    ws_cubin_section(cubin, index, &section, NULL) != WS_OK ||
	    !ws_span_sub(section.bytes, offset, size, &one))
		return false;
	memcpy(bytes, one.ptr, size);
	return true;
}

bool wsi_explain_memory_is_replaced(const struct wsi_build *build, const uint8_t *bytes,
				    size_t size)
{
	if (build->report->dump_status != WS_OK ||
	    !(build->report->dump.stripped & WS_STRIP_VALUES))
		return false;
	if (size != 4 && size != 8)
		return true;
	uint32_t words[2] = { wsi_load_u32(bytes), size == 8 ? wsi_load_u32(bytes + 4) : 0 };
	return wsi_explain_is_replaced(build, words, (unsigned)size / 4);
}

enum ws_status wsi_scene_memory(const struct wsi_scene *scene, uint32_t lane, enum ws_space space,
				uint32_t bank, uint64_t address, unsigned size, uint64_t *ret_value)
{
	uint8_t bytes[8];
	size_t n = 0;
	struct ws_address at = {
		.space = space,
		.bank = bank,
		.device_index = scene->where.device_index,
		.grid_index = scene->grid_index,
		.warp_index = scene->e->at.warp_index,
		.lane = lane,
		.address = address,
	};
	if (size > sizeof bytes)
		size = sizeof bytes;
	enum ws_status st = ws_target_read_memory(scene->build->target, &at, bytes, size, &n, NULL);
	if (wsi_explain_memory_is_replaced(scene->build, bytes, size))
		return WS_EXCLUDED;
	if (st != WS_OK &&
	    !(space == WS_SPACE_CONST && bank == 4 && read_bank4(scene, address, size, bytes)))
		return st;
	*ret_value = wsi_load_le(bytes, size);
	return WS_OK;
}

bool wsi_scene_cluster(const struct wsi_scene *scene, struct ws_dim3 *ret_dim)
{
	if (scene->have_block && scene->block.have & WS_BLOCK_CLUSTER_DIM) {
		*ret_dim = scene->block.cluster_dim;
		return true;
	}
	if (scene->e->kernel == WS_NONE)
		return false;
	const struct ws_grid *grid = &scene->build->kernels[scene->e->kernel].grid;
	*ret_dim = grid->cluster_dim;
	return grid->have & WS_GRID_CLUSTER;
}

bool wsi_scene_rank(const struct wsi_scene *scene, uint64_t *ret_rank)
{
	struct ws_dim3 dim;
	bool known = scene->have_block && wsi_scene_cluster(scene, &dim);
	*ret_rank = known ? wsi_dim3_rank(scene->block.idx, dim) : 0;
	return known;
}

bool wsi_scene_is_own(const struct wsi_scene *scene, uint32_t rank)
{
	uint64_t own;
	(void)!wsi_scene_rank(scene, &own);
	return rank == WS_NONE || rank == own;
}

void wsi_scene_take_rank(const struct wsi_scene *scene, uint64_t *address)
{
	uint64_t own;
	if (wsi_scene_rank(scene, &own) && *address / WS_WINDOW_BYTES == own)
		*address %= WS_WINDOW_BYTES;
}

enum ws_space wsi_scene_resolve(const struct wsi_scene *scene, uint64_t generic,
				uint64_t *ret_address, uint32_t *ret_rank)
{
	bool cluster = scene->sm_major >= 9;
	struct wsi_range range;
	uint64_t offset;
	*ret_rank = WS_NONE;
	*ret_address = generic;
	if (!scene->have_context)
		return WS_SPACE_GLOBAL;
	if (ws_context_window(&scene->context, WS_SPACE_LOCAL, cluster, generic, &offset)) {
		*ret_address = offset;
		return WS_SPACE_LOCAL;
	}
	if (!ws_context_window(&scene->context, WS_SPACE_SHARED, cluster, generic, &offset) ||
	    (offset >= WS_WINDOW_BYTES && wsi_range_at(scene->build, generic, &range)))
		return WS_SPACE_GLOBAL;
	if (cluster)
		*ret_rank = (uint32_t)(offset / WS_WINDOW_BYTES);
	*ret_address = offset % WS_WINDOW_BYTES;
	return WS_SPACE_SHARED;
}
