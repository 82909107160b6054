/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments and variables of the function that faulted, where it was compiled with -G, and of those
 * that are inlined there.
 *
 * A page is passed on: it shows addresses, and numbers that the address of the access was computed
 * from, never what is in memory. That a variable takes part is proven: an instruction that computes
 * the address reads the register that the variable is in, and until the pc nothing writes that
 * register.
 */
#include "cubin/cubin.h"
#include "explain/explain.h"

#include <warpscope/vars.h>

enum { MAX_VARIABLES = 128, MAX_LEVEL = 8, MAX_TEXT = 256, MAX_CHAIN = 64 };

struct variables_work {
	struct wsi_scene *scene;
	const struct ws_report_access *access; /* NULL: none is known */
	struct ws_vars *vars;                  /* owned */
	const struct ws_frame *frame;
	uint32_t level; /* of the frame */
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
};

/* The register that holds a variable at the pc, or the lower one of a pair; false: none does. */
static bool piece_of(const struct variables_work *work, const struct ws_dwarf_variable *variable,
		     struct ws_reg_piece *ret_piece, unsigned *ret_n)
{
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	struct ws_where where;
	size_t n;
	if (ws_dwarf_where(work->dwarf, work->function, work->frame->rel_pc, variable, &where,
			   NULL) != WS_OK ||
	    where.kind != WS_WHERE_REGISTER ||
	    wsi_cubin_find_register(work->frame->place.cubin, work->frame->place.function->name,
				    ws_str_of(where.reg), work->frame->rel_pc, pieces,
				    &n) != WS_REGMAP_FOUND)
		return false;
	*ret_piece = pieces[0];
	*ret_n = (unsigned)n;
	bool is_pair = n == 1 || (n == 2 && pieces[1].number == pieces[0].number + 1);
	return is_pair && pieces[0].part == 0 && pieces[0].reg_class == WS_REG_CLASS_FULL;
}

/* Whether what a register holds at `pc` is still there at the frame's pc. */
static bool is_kept(const struct variables_work *work, uint64_t pc, uint32_t number, unsigned n)
{
	struct ws_flow_written written;
	return pc == work->frame->pc ||
	       (ws_flow_written(work->scene->code.flow, pc, work->frame->pc, &written, NULL) ==
			WS_OK &&
		!written.unknown_direct &&
		ws_flow_registers_spare(&written.direct, WS_OPERAND_REG, number, n));
}

/* One instruction on the way back from the access. */
struct variable_way {
	bool is_part[256]; /* registers that become part of the address */
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n;
};

static bool way_read(const struct variables_work *work, struct variable_way *way, uint64_t pc)
{
	if (!wsi_code_insn(&work->scene->code, pc, &way->insn))
		return false;
	way->n =
		(size_t)wsi_min_u64(ws_sass_operands(&way->insn, pc, way->ops, WSI_COUNT(way->ops)),
				    WSI_COUNT(way->ops));
	return ws_insn_explained(&way->insn);
}

/* Adds the registers that an instruction reads; whether `number` is among them. */
static bool way_adds(struct variable_way *way, bool only_address, uint32_t number)
{
	bool found = false;
	for (size_t i = 0; i < way->n; i++) {
		const struct ws_operand *op = &way->ops[i];
		bool address = op->role == WS_ROLE_ADDRESS_BASE || op->role == WS_ROLE_OFFSET;
		bool read = op->role == WS_ROLE_READ || op->role == WS_ROLE_UPDATED;
		if (op->kind != WS_OPERAND_REG || !(address || (read && !only_address)))
			continue;
		for (uint32_t k = op->number;
		     k < 255 && k < op->number + (op->count ? op->count : 1u); k++) {
			way->is_part[k] = true;
			found |= k == number;
		}
	}
	return found;
}

/* Every register that it reads is part of what it writes; not so of a choice between two, of what
 * another lane has, or of what is read from memory. */
static bool way_computes(const struct variable_way *way)
{
	switch (way->insn.operation) {
	case WS_OP_MOV:
	case WS_OP_IADD:
	case WS_OP_IADD3:
	case WS_OP_VIADD:
	case WS_OP_IMAD:
	case WS_OP_IMUL:
	case WS_OP_LEA:
	case WS_OP_SHF:
	case WS_OP_LOP3:
	case WS_OP_PRMT:
	case WS_OP_SGXT:
	case WS_OP_IABS:
		return true;
	default:
		return false;
	}
}

/* Takes away what an instruction writes; whether any of it was part of the address. */
static bool way_takes(struct variable_way *way)
{
	bool found = false;
	for (size_t i = 0; i < way->n; i++) {
		const struct ws_operand *op = &way->ops[i];
		if (op->kind != WS_OPERAND_REG ||
		    (op->role != WS_ROLE_WRITTEN && op->role != WS_ROLE_UPDATED))
			continue;
		for (uint32_t k = op->number;
		     k < 255 && k < op->number + (op->count ? op->count : 4u); k++) {
			found |= way->is_part[k];
			way->is_part[k] = false;
		}
	}
	return found;
}

/*
 * Whether the value of a variable is part of the address of the access: back from there, as far as
 * the code has one way only, an instruction that the address needs reads the variable's register.
 */
static bool is_in_address(const struct variables_work *work,
			  const struct ws_dwarf_variable *variable)
{
	const struct ws_flow *flow = work->scene->code.flow;
	uint64_t start = work->frame->pc - work->frame->rel_pc;
	struct variable_way way = { .n = 0 };
	struct ws_reg_piece piece;
	size_t n_blocks;
	unsigned n;
	if (!work->access || !piece_of(work, variable, &piece, &n))
		return false;
	size_t block = ws_flow_block_find(flow, work->access->pc);
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n_blocks);
	for (uint64_t pc = work->access->pc; block < n_blocks && pc >= blocks[block].pc;
	     pc -= WS_SASS_BYTES) {
		bool is_access = pc == work->access->pc;
		if (!way_read(work, &way, pc))
			return false;
		if (!is_access && !way_takes(&way))
			continue;
		if (!is_access && (way.insn.guard != 7 || way.insn.guard_negated))
			return false;
		if (!is_access && !way_computes(&way))
			continue; /* not the variable's value any more */
		if (way_adds(&way, is_access, piece.index) && pc - start > piece.first &&
		    pc - start <= piece.last && is_kept(work, pc, piece.index, n))
			return true;
	}
	return false;
}

/* ---- one variable ---- */

static bool value_text_append(void *user, const char *bytes, size_t n)
{
	char *text = user;
	size_t len = strlen(text), room = MAX_TEXT - 1 - len;
	memcpy(text + len, bytes, n < room ? n : room);
	text[len + (n < room ? n : room)] = '\0';
	return true;
}

/* The value of a number, as a debugger prints it. */
static const char *value_number_text(struct variables_work *work, const struct ws_value *value)
{
	char text[MAX_TEXT] = "";
	struct ws_out out;
	ws_out_init(&out, value_text_append, text);
	enum ws_status st = ws_vars_print(work->vars, value, (struct ws_value_format){ 0 }, &out);
	(void)!ws_out_flush(&out, NULL);
	return st == WS_OK ? wsi_build_text(work->scene->build, "%s", text) : NULL;
}

static const char *why_variable_missing(const struct ws_value *value)
{
	switch (value->kind) {
	case WS_VALUE_GONE:
		return "optimized out";
	case WS_VALUE_NOT_HERE:
		return "not live at the pc";
	case WS_VALUE_NOT_SAVED:
		return "not saved by the callee";
	case WS_VALUE_MEMORY:
		return "in memory, which is not shown";
	case WS_VALUE_MISSING:
		return wsi_lost_words(value->status);
	case WS_VALUE_BYTES:
		break;
	}
	return NULL;
}

/* Fills text or why there is none. */
static void value_fill(struct variables_work *work, const struct ws_variable_value *from,
		       struct ws_report_variable *to)
{
	struct ws_type type = { .kind = WS_KIND_VOID };
	uint64_t plain;
	uint32_t words[2];
	to->why = why_variable_missing(&from->value);
	if (to->why)
		return;
	if (ws_dwarf_plain(work->dwarf, from->variable.type, &plain, NULL) != WS_OK ||
	    ws_dwarf_type(work->dwarf, plain, &type, NULL) != WS_OK)
		type.kind = WS_KIND_OTHER;
	bool is_pointer = type.kind == WS_KIND_POINTER || type.kind == WS_KIND_REFERENCE ||
			  type.kind == WS_KIND_RVALUE_REFERENCE;
	bool is_number = type.kind == WS_KIND_ENUM ||
			 (type.kind == WS_KIND_BASE && type.encoding != WS_ENCODING_FLOAT);
	memcpy(words, from->value.bytes, sizeof words);
	to->in_address = (is_pointer || is_number) && is_in_address(work, &from->variable);
	if (wsi_explain_is_replaced(work->scene->build, words, type.size_bytes == 8 ? 2 : 1))
		to->why = "replaced by strip";
	else if (is_pointer)
		to->text = wsi_build_text(work->scene->build, "0x%016" PRIx64,
					  words[0] | (uint64_t)words[1] << 32);
	else if (is_number && to->in_address)
		to->text = value_number_text(work, &from->value);
	else
		to->why = "not part of the address";
}

static enum ws_status variable_add(struct variables_work *work,
				   const struct ws_variable_value *from, struct ws_str function,
				   struct ws_report_variable *to)
{
	char type[MAX_TEXT];
	ws_vars_spell(work->vars, &from->value.type, type, sizeof type);
	const char *copy = wsi_arena_str(work->scene->build->arena, type, strlen(type));
	const char *name = wsi_arena_str(work->scene->build->arena, from->variable.name.ptr,
					 from->variable.name.len);
	if (!copy || !name)
		return WS_NO_MEMORY;
	to->name = (struct ws_str){ name, from->variable.name.len };
	to->type = ws_str_of(copy);
	to->function = function;
	to->is_param = from->variable.is_param;
	value_fill(work, from, to);
	return to->text || to->why ? WS_OK : WS_NO_MEMORY;
}

/* ---- all of them ---- */

/* Looks at the frame of the function of the instruction; its debug information is known. */
static enum ws_status variable_frame_find(struct variables_work *work, uint32_t lane)
{
	const struct wsi_scene *scene = work->scene;
	const struct ws_focus focus = {
		.device_index = scene->where.device_index,
		.sm_index = scene->warp.sm_index,
		.warp_index = scene->e->suspect.warp_index,
		.block_index = scene->warp.block_index,
		.grid_index = scene->grid_index,
		.lane = lane,
	};
	enum ws_status st = ws_vars_look(work->vars, &focus, NULL);
	if (st != WS_OK)
		return st;
	for (uint32_t level = 0; level < MAX_LEVEL && level < ws_vars_frames(work->vars); level++) {
		work->frame = ws_vars_frame(work->vars, level);
		if (work->frame->status != WS_OK ||
		    work->frame->place.function != scene->code.place.function)
			continue;
		work->level = level;
		return ws_dwarf_find_function(work->dwarf, work->frame->place.function->name,
					      &work->function, NULL);
	}
	return WS_ABSENT;
}

/* Adds those of one of the functions at the place, of which 0 is the innermost. */
static enum ws_status frame_function_take(struct variables_work *work, uint32_t position,
					  struct ws_str function, struct ws_variable_value *list,
					  struct ws_report_variable *variables, uint32_t *n_kept)
{
	size_t n = 0;
	enum ws_status st = ws_vars_select_inlined(work->vars, work->level, position, NULL);
	if (st == WS_OK)
		st = ws_vars_list(work->vars, list, MAX_VARIABLES, &n, NULL);
	n = (size_t)wsi_min_u64(n, MAX_VARIABLES);
	for (unsigned pass = 0; pass < 2; pass++) { /* arguments first */
		for (size_t i = 0; i < n && st == WS_OK && *n_kept < MAX_VARIABLES; i++)
			if (list[i].variable.name.len && list[i].variable.is_param == (pass == 0))
				st = variable_add(work, &list[i], function,
						  &variables[(*n_kept)++]);
	}
	return st;
}

static enum ws_status lane_variables_take(struct variables_work *work, uint32_t lane,
					  struct ws_variable_value *list)
{
	struct ws_report_exception *e = work->scene->e;
	const struct ws_place *place = &work->frame->place;
	struct ws_line_pos chain[MAX_CHAIN];
	struct ws_report_variable *variables =
		wsi_arena_zalloc_array(work->scene->build->arena, MAX_VARIABLES, sizeof *variables);
	size_t n = 0;
	if (!variables)
		return WS_NO_MEMORY;
	enum ws_status st = ws_cubin_line_find(place->cubin, place->section, place->sec_off, chain,
					       MAX_CHAIN, &n, NULL);
	if (st != WS_OK || n == 0 || n > MAX_CHAIN)
		n = 1;
	st = st == WS_NO_MEMORY ? st : WS_OK;
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		struct ws_str function = { NULL, 0 };
		if (i + 1 < n && chain[i].function) {
			const struct wsi_name *name = wsi_report_name_of(
				work->scene->build, ws_str_of(chain[i].function));
			if (!name)
				return WS_NO_MEMORY;
			function = name->brief;
		}
		st = frame_function_take(work, i, function, list, variables, &e->n_variables);
	}
	e->variables = variables;
	e->variables_lane = lane;
	return st;
}

enum ws_status wsi_variables(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	struct variables_work work = { .scene = scene };
	uint32_t lane = wsi_scene_lane(scene);
	const struct wsi_build *build = scene->build;
	bool is_focus = e == (build->n_faults ? &build->faults[0].e : &build->calm.e);
	e->variables_status = is_focus ? WS_ABSENT : WS_LIMIT;
	if (!is_focus || !scene->code.flow || lane == WS_NONE || !scene->have_warp ||
	    ws_cubin_dwarf(scene->code.place.cubin, &work.dwarf, NULL) != WS_OK)
		return WS_OK;
	if (e->n_accesses)
		work.access = &e->accesses[0];
	wsi_scoped_free struct ws_variable_value *list =
		wsi_zalloc_array(MAX_VARIABLES, sizeof *list);
	enum ws_status st =
		list ? ws_vars_create(scene->build->target, &work.vars, NULL) : WS_NO_MEMORY;
	if (st == WS_OK)
		st = variable_frame_find(&work, lane);
	if (st == WS_OK)
		st = lane_variables_take(&work, lane, list);
	ws_vars_destroy(work.vars);
	e->variables_status = st;
	return st == WS_NO_MEMORY ? st : WS_OK;
}
