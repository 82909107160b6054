/* SPDX-License-Identifier: Apache-2.0 */
/* What begins with '$' in an expression: registers, functions of the debugger, names of a prompt.
 */
#include "vars/parse.h"

#include <stdlib.h>

static const struct reg {
	const char *prefix;
	enum ws_reg_kind kind;
	enum wsi_c_type type;
} regs[] = {
	{ "RD", WS_REG_R, WSI_C_LONG },      { "R", WS_REG_R, WSI_C_INT },
	{ "URD", WS_REG_UR, WSI_C_LONG },    { "UR", WS_REG_UR, WSI_C_INT },
	{ "UP", WS_REG_UP, WSI_C_UINT },     { "P", WS_REG_P, WSI_C_UINT },
	{ "B", WS_REG_BARRIER, WSI_C_UINT },
};

/* NULL: the word is no register. */
static const struct reg *reg_find(struct ws_str word, uint32_t *ret_number)
{
	for (size_t i = 0; i < WSI_COUNT(regs); i++) {
		size_t prefix = strlen(regs[i].prefix), digits = word.len - prefix;
		if (word.len <= prefix || digits > 3 ||
		    strncmp(word.ptr, regs[i].prefix, prefix) != 0 ||
		    strspn(word.ptr + prefix, "0123456789") < digits)
			continue;
		unsigned long number = strtoul(word.ptr + prefix, NULL, 10);
		if (number > 255)
			continue;
		*ret_number = (uint32_t)number;
		return &regs[i];
	}
	return NULL;
}

bool ws_register_find(const char *name, enum ws_reg_kind *ret_kind, uint32_t *ret_number)
{
	const struct reg *reg = reg_find(ws_str_of(name), ret_number);
	if (reg)
		*ret_kind = reg->kind;
	return reg != NULL;
}

static struct ws_value reg_value(struct wsi_parser *p, const struct reg *reg, uint32_t number)
{
	const struct ws_focus *focus = &p->vars->focus;
	const uint32_t want = reg->type == WSI_C_LONG ? 2 : 1;
	uint32_t words[2] = { 0 }, n = 0;
	enum ws_value_kind found = WS_VALUE_BYTES;
	enum ws_status st = WS_OK;
	const bool unwound = reg->kind == WS_REG_R && p->vars->selected != p->vars->n_hidden;
	/* RZ has no row */
	const uint32_t rows = reg->kind == WS_REG_R && number + want > 255 ? 255 - number : want;
	if (unwound) {
		for (uint32_t i = 0; i < want && found == WS_VALUE_BYTES; i++)
			found = wsi_vars_register(p->vars, number + i, &words[i], &st);
	} else if (rows) {
		st = ws_target_registers(p->vars->target, focus->warp_index, focus->lane, reg->kind,
					 number, rows, words, &n, NULL);
		found = st == WS_OK && n == rows ? WS_VALUE_BYTES : WS_VALUE_MISSING;
	}
	struct ws_value value = wsi_value_words(reg->type, words);
	if (found == WS_VALUE_MISSING) {
		wsi_record_lose(p->vars); /* another thread may have it */
		return wsi_parse_fail(p, "%s%u is not there", reg->prefix, (unsigned)number);
	}
	value.kind = found;
	value.in_register = !unwound;
	value.reg_kind = reg->kind;
	value.reg = number;
	if (value.in_register && !(reg->kind == WS_REG_R && number == 255))
		value.source = wsi_record_register(p->vars, reg->kind, number, want);
	else if (!value.in_register)
		wsi_record_lose(p->vars);
	return value;
}

/* Registers that always hold the same; false: the word is none. */
static bool fixed_register(struct ws_str word, struct ws_value *ret_value)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = { { "RZ", 0 }, { "URZ", 0 }, { "PT", 1 },
		      { "P7", 1 }, { "UPT", 1 }, { "UP7", 1 } };
	for (size_t i = 0; i < WSI_COUNT(known); i++) {
		if (!ws_str_equal(word, ws_str_of(known[i].name)))
			continue;
		*ret_value = wsi_value_int(known[i].value);
		return true;
	}
	return false;
}

/* The device address of a constant bank of the thread's kernel; false: the target does not tell. */
static bool bank_find(const struct ws_vars *vars, uint32_t bank, uint64_t *ret_address)
{
	struct ws_memory_range range;
	for (uint32_t i = 0; ws_target_memory_range(vars->target, i, &range, NULL) == WS_OK; i++) {
		if (range.space != WS_SPACE_CONST || range.bank != bank ||
		    range.grid_index != vars->focus.grid_index)
			continue;
		*ret_address = range.start;
		return true;
	}
	return false;
}

/* cuda-gdb's $_cuda_const_bank(BANK, OFFSET), behind its name: a pointer. */
static struct ws_value const_bank(struct wsi_parser *p)
{
	struct ws_number number[2] = { 0 };
	struct ws_error err;
	enum ws_status st = WS_OK;
	for (unsigned i = 0; i < 2; i++) {
		if (!wsi_parse_take(p, i ? "," : "("))
			return wsi_parse_fail(p, "$_cuda_const_bank(BANK, OFFSET) is expected");
		struct ws_value value = wsi_parse_expression(p);
		if (p->status == WS_OK)
			st = st == WS_OK ? ws_vars_number(p->vars, &value, &number[i], &err) : st;
	}
	if (!wsi_parse_take(p, ")"))
		return wsi_parse_fail(p, "')' is missing");
	if (p->status != WS_OK || st != WS_OK)
		return wsi_parse_checked(p, st, &(struct ws_value){ 0 }, &err);
	struct ws_vtype type = wsi_c_type(WSI_C_UINT);
	uint64_t address = 0;
	if (p->idle)
		return ws_value_int(0);
	if (!p->vars->has_thread ||
	    !bank_find(p->vars, (uint32_t)wsi_min_u64((uint64_t)number[0].whole, UINT32_MAX),
		       &address))
		return wsi_parse_fail(p, "The requested constbank c[0x%" PRIx64 "] is not valid",
				      (uint64_t)number[0].whole);
	(void)!wsi_vtype_point(&type, WS_SPACE_GLOBAL);
	number[1].whole = (int64_t)(address + (uint64_t)number[1].whole);
	return wsi_value_number(&type, &number[1]);
}

/* gdb's $_isvoid(EXPRESSION), behind its name. */
static struct ws_value is_void(struct wsi_parser *p)
{
	struct wsi_type_shape shape = { .kind = WS_KIND_OTHER };
	if (!wsi_parse_take(p, "("))
		return wsi_parse_fail(p, "$_isvoid(EXPRESSION) is expected");
	struct ws_value value = wsi_parse_expression(p);
	if (!wsi_parse_take(p, ")"))
		return wsi_parse_fail(p, "')' is missing");
	const bool known = p->status == WS_OK && wsi_shape(&value.type, &shape, NULL) == WS_OK;
	return wsi_value_int(known && shape.kind == WS_KIND_VOID);
}

/* $NAME("ARGUMENT"), behind its name: "" without one. */
static struct ws_str argument_take(struct wsi_parser *p)
{
	struct ws_str argument = { "", 0 };
	const char *start = p->at;
	if (wsi_parse_take(p, "(") && wsi_parse_take(p, "\"")) {
		argument = (struct ws_str){ p->at, strcspn(p->at, "\"") };
		p->at += argument.len;
		if (wsi_parse_take(p, "\"") && wsi_parse_take(p, ")"))
			return argument;
	}
	p->at = start;
	return (struct ws_str){ "", 0 };
}

/* $fp, where the frame begins in local memory, and gdb's other names for registers, of which a GPU
 * has none; false: the word is none. */
static bool frame_register(struct wsi_parser *p, struct ws_str word, struct ws_value *ret_value)
{
	static const char *const missing[] = { "sp", "ps" };
	struct ws_vtype type = wsi_c_type(WSI_C_VOID);
	struct ws_number number = { .is_unsigned = true };
	uint64_t address;
	for (size_t i = 0; i < WSI_COUNT(missing); i++) {
		if (!ws_str_equal(word, ws_str_of(missing[i])))
			continue;
		*ret_value = wsi_parse_fail(
			p, "Standard register ``$%s'' is not available for this target",
			missing[i]);
		return true;
	}
	if (!ws_str_equal(word, ws_str_of("fp")))
		return false;
	wsi_record_lose(p->vars);
	*ret_value = ws_value_void();
	if (p->vars->has_thread && ws_vars_frame_address(p->vars, &address, NULL) == WS_OK) {
		number.whole = (int64_t)address;
		(void)!wsi_vtype_point(&type, WS_SPACE_LOCAL);
		*ret_value = wsi_value_number(&type, &number);
	}
	return true;
}

/* A register of the thread by its name; false: it is none. */
static bool thread_register(struct wsi_parser *p, struct ws_str word, struct ws_value *ret_value)
{
	uint32_t number;
	struct ws_warp warp;
	bool is_pc = ws_str_equal(word, ws_str_of("pc"));
	bool is_errorpc = ws_str_equal(word, ws_str_of("errorpc"));
	const struct reg *reg = reg_find(word, &number);
	const uint32_t at = p->vars->selected == p->vars->n_hidden ? 0 : p->vars->selected;
	if (!is_pc && !is_errorpc && !reg && !fixed_register(word, ret_value))
		return false;
	if (is_errorpc)
		wsi_record_lose(p->vars);
	if (!p->vars->has_thread)
		*ret_value = p->idle ? ws_value_int(0) : wsi_parse_fail(p, "there is no thread");
	else if (is_pc)
		*ret_value = ws_value_address(p->vars->frames[at].pc);
	else if (is_errorpc &&
		 ws_target_warp(p->vars->target, p->vars->focus.warp_index, &warp, NULL) == WS_OK &&
		 warp.error_pc_valid)
		*ret_value = ws_value_address(warp.error_pc);
	else if (is_errorpc)
		*ret_value = wsi_parse_fail(p, "there is no errorpc");
	else if (!fixed_register(word, ret_value))
		*ret_value = reg_value(p, reg, number);
	return true;
}

struct ws_value wsi_parse_dollar(struct wsi_parser *p)
{
	struct ws_str word = { p->at, 0 };
	struct ws_value value;
	while (wsi_is_word(word.ptr[word.len]) || (word.len == 0 && *word.ptr == '$') ||
	       (word.len == 1 && *word.ptr == '$' && wsi_is_word(word.ptr[1])))
		word.len++;
	p->at += word.len;
	if (thread_register(p, word, &value) || frame_register(p, word, &value))
		return value;
	wsi_record_lose(p->vars); /* what follows may change between two threads */
	if (ws_str_equal(word, ws_str_of("_cuda_const_bank")))
		return const_bank(p);
	if (ws_str_equal(word, ws_str_of("_isvoid")))
		return is_void(p);
	const struct ws_str argument = argument_take(p);
	if (p->vars->find_name && p->vars->find_name(p->vars->names_user, word, argument, &value))
		return value;
	if (argument.len)
		return wsi_parse_fail(p, "there is no $%.*s(\"%.*s\")",
				      (int)wsi_min_u64(word.len, 60), word.ptr,
				      (int)wsi_min_u64(argument.len, 60), argument.ptr);
	return wsi_parse_fail(p, "'$%.*s' is not a register", (int)wsi_min_u64(word.len, 60),
			      word.ptr);
}
