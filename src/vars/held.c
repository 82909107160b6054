/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a register holds, in words: the slice of the register at the pc (flow.h), if it is made of
 * parameters of the kernel, the place of the thread, and what is read from memory at such an
 * address. Nothing is said of a register whose value is not the one that the slice gives.
 */
#include "vars/vars.h"

#include <warpscope/flow.h>

#include "sass/bank.h"

#include <stdarg.h>
#include <stdio.h>

enum {
	MAX_CODE = 1 << 20, /* bytes of a function */
	MAX_DEPTH = 24,     /* of an expression that is shown */
	PLACE = 12,         /* bytes of a dim3 */
};

struct held_work {
	struct ws_vars *vars;
	const struct wsi_params *params;
	bool have_block, have_grid;
	struct ws_block block;
	struct ws_grid grid;
	const struct wsi_bank0 *bank; /* where bank 0 has the dimensions */
	struct ws_flow *flow;         /* owned */
	struct ws_flow_slice slice;
	bool loaded; /* the slice goes by memory */
};

/* ---- leaves ---- */

/* A place of a thread or size of a launch that a leaf is. */
struct held_place {
	const char *name;
	const struct ws_dim3 *dim; /* NULL: not known */
	uint32_t axis;
};

static bool place_of_special(struct held_work *work, unsigned number, struct held_place *ret_place)
{
	if (number >= WS_SR_TID_X && number <= WS_SR_TID_Z)
		*ret_place = (struct held_place){ "threadIdx", &work->vars->lane.thread,
						  number - WS_SR_TID_X };
	else if (number >= WS_SR_CTAID_X && number <= WS_SR_CTAID_Z)
		*ret_place =
			(struct held_place){ "blockIdx", work->have_block ? &work->block.idx : NULL,
					     number - WS_SR_CTAID_X };
	else
		return false;
	return true;
}

/* Where the driver puts the dimensions of a launch. */
static bool place_of_constant(struct held_work *work, const struct ws_flow_node *node,
			      struct held_place *ret_place)
{
	const uint64_t at = (uint64_t)node->value;
	if (node->number != 0 || node->n_args || node->bits != 32 || at % 4)
		return false;
	if (at - work->bank->ntid < PLACE)
		*ret_place = (struct held_place){ "blockDim",
						  work->have_grid ? &work->grid.block_dim : NULL,
						  (uint32_t)(at - work->bank->ntid) / 4 };
	else if (at - work->bank->nctaid < PLACE)
		*ret_place = (struct held_place){ "gridDim",
						  work->have_grid ? &work->grid.grid_dim : NULL,
						  (uint32_t)(at - work->bank->nctaid) / 4 };
	else
		return false;
	return true;
}

static bool node_place_of(struct held_work *work, const struct ws_flow_node *node,
			  struct held_place *ret_place)
{
	return node->op == WS_FLOW_SPECIAL
		       ? place_of_special(work, node->number, ret_place)
		       : node->op == WS_FLOW_CONSTANT && place_of_constant(work, node, ret_place);
}

static unsigned bytes_of(const struct ws_flow_node *node)
{
	return node->bytes ? node->bytes : node->bits / 8u;
}

/* The parameter that a constant is, or is of. */
static const struct ws_kernel_param *held_param_of(const struct held_work *work,
						   const struct ws_flow_node *node)
{
	const uint64_t at = (uint64_t)node->value;
	for (uint32_t i = 0; i < work->params->n && node->number == 0 && !node->n_args; i++) {
		const struct ws_kernel_param *param = &work->params->param[i];
		const uint64_t offset = at - param->bank_offset;
		if (offset < param->size_bytes && bytes_of(node) <= param->size_bytes - offset)
			return param;
	}
	return NULL;
}

/* ---- the value ---- */

/* A `ws_flow_leaf_fn`. */
static bool leaf_value(void *user, const struct ws_flow_node *node, const uint64_t *argument,
		       uint64_t *ret_value)
{
	struct held_work *work = user;
	const bool is_constant = node->op == WS_FLOW_CONSTANT;
	const unsigned size = bytes_of(node);
	uint8_t bytes[8] = { 0 };
	struct held_place place;
	size_t n;
	if (!argument)
		return false;
	if (node_place_of(work, node, &place)) {
		*ret_value = place.dim ? wsi_axis(*place.dim, place.axis) : 0;
		return place.dim != NULL;
	}
	if (size > sizeof bytes || (!is_constant && node->op != WS_FLOW_LOAD))
		return false;
	const enum ws_space space = is_constant ? WS_SPACE_PARAM : wsi_space_of(node->space);
	const struct ws_address at =
		wsi_address(work->vars, space, (uint64_t)node->value + *argument);
	if (ws_target_read_memory(work->vars->target, &at, bytes, size, &n, NULL) != WS_OK)
		return false;
	*ret_value = wsi_load_u64(bytes);
	return true;
}

/* ---- the words ---- */

struct held_words {
	struct held_work *work;
	char *text;
	size_t size, len;
	bool failed; /* it has no words, or too many */
	bool named;  /* something of it has a name */
};

static void say_held(struct held_words *words, const char *format, ...) WS_PRINTF(2, 3);
static void say_held(struct held_words *words, const char *format, ...)
{
	const size_t room = words->size - words->len;
	va_list args;
	va_start(args, format);
	const int n = words->failed ? 0 : vsnprintf(words->text + words->len, room, format, args);
	va_end(args);
	words->failed |= n < 0 || (size_t)n >= room;
	words->len += words->failed ? 0 : (size_t)n;
}

enum { LEVEL_SUM, LEVEL_PRODUCT, LEVEL_ONE };

static void say_node(struct held_words *words, uint16_t at, int level, unsigned depth);

static void say_number(struct held_words *words, int64_t number)
{
	if (number >= -4096 && number <= 4096)
		say_held(words, "%" PRId64, number);
	else
		say_held(words, "0x%" PRIx64, (uint64_t)number);
}

/* "2*threadIdx.x", behind a sign of its own unless it is the first. */
static void say_term(struct held_words *words, uint16_t node, int64_t scale, bool is_first,
		     unsigned depth)
{
	const uint64_t size = scale < 0 ? 0 - (uint64_t)scale : (uint64_t)scale;
	say_held(words, "%s", is_first ? scale < 0 ? "-" : "" : scale < 0 ? " - " : " + ");
	if (size != 1) {
		say_number(words, (int64_t)size);
		say_held(words, "*");
	}
	say_node(words, node, size == 1 ? LEVEL_PRODUCT : LEVEL_ONE, depth);
}

static void say_sum(struct held_words *words, uint16_t at, int level, unsigned depth)
{
	const struct ws_flow_slice *slice = &words->work->slice;
	const bool narrow = slice->node[at].bits == 32;
	struct ws_flow_address sum;
	ws_flow_address(slice, at, &sum);
	const bool has_base = sum.base != UINT16_MAX;
	const int64_t offset = narrow ? (int32_t)(uint32_t)sum.offset : sum.offset;
	const bool is_one = !has_base && sum.n_terms == 1 && offset == 0;
	words->failed |= !sum.complete || (!has_base && sum.n_terms == 0);
	if (words->failed)
		return;
	const bool brackets = level > (is_one ? LEVEL_PRODUCT : LEVEL_SUM);
	say_held(words, "%s", brackets ? "(" : "");
	if (has_base)
		say_node(words, sum.base, LEVEL_PRODUCT, depth);
	for (size_t i = 0; i < sum.n_terms && !words->failed; i++) {
		const int64_t scale = sum.term[i].scale;
		words->failed |= sum.term[i].node == at;
		say_term(words, sum.term[i].node, narrow ? (int32_t)(uint32_t)scale : scale,
			 i == 0 && !has_base, depth);
	}
	if (offset) {
		say_held(words, " %c ", offset < 0 ? '-' : '+');
		say_number(words, offset < 0 ? (int64_t)(0 - (uint64_t)offset) : offset);
	}
	say_held(words, "%s", brackets ? ")" : "");
}

static void say_constant(struct held_words *words, const struct ws_flow_node *node)
{
	const struct ws_kernel_param *param = held_param_of(words->work, node);
	struct held_place place;
	if (node_place_of(words->work, node, &place)) {
		say_held(words, "%s.%c", place.name, "xyz"[place.axis]);
	} else if (param) {
		const unsigned size = bytes_of(node);
		const uint32_t from = (uint32_t)node->value - param->bank_offset;
		if (size == param->size_bytes)
			say_held(words, "%s", param->name);
		else if (size == 1)
			say_held(words, "(byte %" PRIu32 " of %s)", from, param->name);
		else
			say_held(words, "(bytes %" PRIu32 " to %" PRIu32 " of %s)", from,
				 from + size - 1, param->name);
	} else {
		words->failed = true;
	}
	words->named = true;
}

static void say_load(struct held_words *words, const struct ws_flow_node *node, unsigned depth)
{
	static const char *const types[] = {
		[1] = "char", [2] = "short", [4] = "int", [8] = "long"
	};
	const unsigned size = bytes_of(node);
	words->work->loaded = true;
	words->failed |= size >= WSI_COUNT(types) || !types[size] || node->n_args != 1;
	if (words->failed)
		return;
	say_held(words, "*(@%s %s *)(", wsi_space_name(wsi_space_of(node->space)), types[size]);
	say_node(words, node->arg[0], LEVEL_SUM, depth);
	if (node->value)
		say_held(words, " %c ", node->value < 0 ? '-' : '+');
	if (node->value)
		say_number(words,
			   node->value < 0 ? (int64_t)(0 - (uint64_t)node->value) : node->value);
	say_held(words, ")");
}

/* "(a & b)", "min(a, b)" */
static void say_two(struct held_words *words, const struct ws_flow_node *node, unsigned depth)
{
	static const char *const between[] = {
		[WS_FLOW_MUL] = "*",    [WS_FLOW_SHL] = " << ", [WS_FLOW_SHR] = " >> ",
		[WS_FLOW_SAR] = " >> ", [WS_FLOW_AND] = " & ",  [WS_FLOW_OR] = " | ",
		[WS_FLOW_XOR] = " ^ ",  [WS_FLOW_MIN] = ", ",   [WS_FLOW_MAX] = ", ",
	};
	const bool is_call = node->op == WS_FLOW_MIN || node->op == WS_FLOW_MAX;
	const bool is_product = node->op == WS_FLOW_MUL;
	words->failed |= node->n_args != 2;
	if (words->failed)
		return;
	say_held(words, "%s",
		 node->op == WS_FLOW_MIN ? "min("
		 : is_call               ? "max("
		 : is_product            ? ""
					 : "(");
	say_node(words, node->arg[0], is_call ? LEVEL_SUM : LEVEL_ONE, depth);
	say_held(words, "%s", between[node->op]);
	say_node(words, node->arg[1], is_call ? LEVEL_SUM : LEVEL_ONE, depth);
	say_held(words, "%s", is_product ? "" : ")");
}

static void say_node(struct held_words *words, uint16_t at, int level, unsigned depth)
{
	const struct ws_flow_node *node = &words->work->slice.node[at];
	if (words->failed || depth == MAX_DEPTH) {
		words->failed = true;
		return;
	}
	depth++;
	switch (node->op) {
	case WS_FLOW_IMMEDIATE:
		say_number(words, node->bits == 32 ? (int32_t)(uint32_t)node->value : node->value);
		break;
	case WS_FLOW_CONSTANT:
	case WS_FLOW_SPECIAL:
		say_constant(words, node);
		break;
	case WS_FLOW_LOAD:
		say_load(words, node, depth);
		break;
	case WS_FLOW_ADD:
	case WS_FLOW_SUB:
		say_sum(words, at, level, depth);
		break;
	case WS_FLOW_SHL:
	case WS_FLOW_MUL:
		if (words->work->slice.node[node->arg[1]].op == WS_FLOW_IMMEDIATE ||
		    (node->op == WS_FLOW_MUL &&
		     words->work->slice.node[node->arg[0]].op == WS_FLOW_IMMEDIATE)) {
			say_sum(words, at, level, depth);
			break;
		}
		/* fall through */
	case WS_FLOW_SHR:
	case WS_FLOW_SAR:
	case WS_FLOW_AND:
	case WS_FLOW_OR:
	case WS_FLOW_XOR:
	case WS_FLOW_MIN:
	case WS_FLOW_MAX:
		say_two(words, node, depth);
		break;
	case WS_FLOW_ZEXT:
	case WS_FLOW_SEXT:
		say_node(words, node->arg[0], level, depth);
		break;
	case WS_FLOW_NOT:
		say_held(words, "~");
		say_node(words, node->arg[0], LEVEL_ONE, depth);
		break;
	case WS_FLOW_NOTHING:
	case WS_FLOW_ENTRY_REG:
	case WS_FLOW_ATOMIC:
	case WS_FLOW_LOW:
	case WS_FLOW_HIGH:
	case WS_FLOW_PAIR:
	case WS_FLOW_SELECT:
	case WS_FLOW_MERGE:
	case WS_FLOW_AGAIN:
	case WS_FLOW_OTHER:
		words->failed = true;
		break;
	}
}

/* ---- registers ---- */

static enum ws_held_doubt doubt_of(const struct held_work *work, bool is_compared)
{
	const struct ws_flow_slice *slice = &work->slice;
	if (slice->partly || slice->cut)
		return WS_HELD_POSSIBLE;
	return work->loaded || !is_compared || slice->convention || slice->spilled || slice->open
		       ? WS_HELD_LIKELY
		       : WS_HELD_CERTAIN;
}

/* What `n` registers from `number` on hold; false: nobody can say. */
static bool held_by(struct held_work *work, enum ws_reg_kind kind, uint32_t number, uint32_t n,
		    struct ws_held *ret_held)
{
	struct ws_vars *vars = work->vars;
	struct held_words words = { .work = work,
				    .text = ret_held->text,
				    .size = sizeof ret_held->text };
	uint32_t at[2] = { 0 }, n_read = 0;
	uint64_t value;
	work->loaded = false;
	if (ws_flow_slice(work->flow, vars->lane.pc,
			  kind == WS_REG_R ? WS_OPERAND_REG : WS_OPERAND_UREG, number, 32 * n,
			  &work->slice, NULL) != WS_OK ||
	    work->slice.node[0].bits != 32 * n)
		return false;
	say_node(&words, 0, LEVEL_SUM, 0);
	if (words.failed || !words.named ||
	    ws_target_registers(vars->target, vars->focus.warp_index, vars->focus.lane, kind,
				number, n, at, &n_read, NULL) != WS_OK ||
	    n_read < n)
		return false;
	ret_held->kind = kind;
	ret_held->number = number;
	ret_held->n = n;
	ret_held->value = at[0] | (uint64_t)at[1] << 32;
	const bool is_compared = ws_flow_value(&work->slice, 0, leaf_value, work, &value);
	if (is_compared ? value != ret_held->value : work->loaded)
		return false;
	ret_held->doubt = doubt_of(work, is_compared);
	return true;
}

static enum ws_status work_init(struct held_work *work, struct ws_vars *vars, struct ws_error *err)
{
	struct ws_cubin_facts facts;
	struct ws_span code;
	work->vars = vars;
	enum ws_status st = wsi_params_of(vars, &work->params, err);
	if (st != WS_OK)
		return st;
	const struct ws_frame *frame = &vars->frames[vars->selected];
	if (vars->selected != 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"registers of a caller are not looked at");
	if (vars->is_stripped)
		return wsi_fail(err, WS_EXCLUDED, WS_NO_OFFSET,
				"registers do not have their values: the dump was stripped");
	st = ws_cubin_code(frame->place.cubin, frame->place.function, &code, err);
	if (st == WS_OK && code.len > MAX_CODE)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "the function is too large");
	if (st != WS_OK)
		return st;
	ws_cubin_facts(frame->place.cubin, &facts);
	work->bank = wsi_bank0(facts.sm);
	work->have_block =
		ws_target_block(vars->target, vars->focus.block_index, &work->block, NULL) == WS_OK;
	work->have_grid =
		vars->focus.grid_index != WS_NONE &&
		ws_target_grid(vars->target, vars->focus.grid_index, &work->grid, NULL) == WS_OK;
	return ws_cubin_flow(frame->place.cubin, frame->place.function, frame->pc - frame->rel_pc,
			     &work->flow, err);
}

enum ws_status ws_vars_held(struct ws_vars *vars, struct ws_held *ret_list, size_t cap,
			    size_t *ret_n, struct ws_error *err)
{
	static const enum ws_reg_kind kinds[] = { WS_REG_R, WS_REG_UR };
	enum { REGISTERS = 255 };
	wsi_scoped_free struct held_work *work = wsi_zalloc(sizeof *work);
	size_t n = 0;
	if (!work)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "registers");
	enum ws_status st = work_init(work, vars, err);
	if (st != WS_OK)
		return st;
	for (size_t kind = 0; kind < WSI_COUNT(kinds); kind++) {
		for (uint32_t number = 0; number < REGISTERS; number++) {
			struct ws_held held = { .n = 1 };
			const bool is_pair = number % 2 == 0 && number + 1 < REGISTERS &&
					     held_by(work, kinds[kind], number, 2, &held);
			if (!is_pair && !held_by(work, kinds[kind], number, 1, &held))
				continue;
			if (n < cap)
				ret_list[n] = held;
			n++;
			number += is_pair;
		}
	}
	ws_flow_destroy(work->flow);
	*ret_n = n;
	return WS_OK;
}
