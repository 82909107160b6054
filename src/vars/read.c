/* SPDX-License-Identifier: Apache-2.0 */
/* From a variable to its place, and from there to its bytes. */
#include "cubin/cubin.h"
#include "vars/vars.h"

enum { CONST_BANK = 3, CONST_BANK_BYTES = 64 << 10 };

struct ws_address wsi_address(const struct ws_vars *vars, enum ws_space space, uint64_t address)
{
	return (struct ws_address){
		.space = space,
		.bank = CONST_BANK,
		.device_index = vars->focus.device_index,
		.grid_index = vars->focus.grid_index,
		.warp_index = vars->focus.warp_index,
		.lane = vars->focus.lane,
		.address = address,
	};
}

enum ws_status wsi_value_read(struct ws_vars *vars, const struct ws_value *value, uint64_t offset,
			      void *buffer, size_t n, struct ws_error *err)
{
	struct ws_address at = value->at;
	size_t got;
	if (value->kind == WS_VALUE_BYTES) {
		if (offset > sizeof value->bytes || n > sizeof value->bytes - offset)
			return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the value is shorter");
		memcpy(buffer, value->bytes + offset, n);
		return WS_OK;
	}
	if (value->kind == WS_VALUE_MISSING)
		return wsi_fail(err, value->status, WS_NO_OFFSET, "the value is not there");
	if (value->kind != WS_VALUE_MEMORY)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the value is %s",
				ws_value_missing_text(value));
	at.address += offset;
	return ws_target_read_memory(vars->target, &at, buffer, n, &got, err);
}

const char *ws_value_missing_text(const struct ws_value *value)
{
	switch (value->kind) {
	case WS_VALUE_BYTES:
	case WS_VALUE_MEMORY:
		break;
	case WS_VALUE_GONE:
		return "<optimized out>";
	case WS_VALUE_NOT_HERE:
		return "<not live at this pc>";
	case WS_VALUE_NOT_SAVED:
		return "<not saved>";
	case WS_VALUE_MISSING:
		return value->status == WS_EXCLUDED      ? "<left out of the dump>"
		       : value->status == WS_UNSUPPORTED ? "<not supported>"
							 : "<not in the dump>";
	}
	return "";
}

/* ---- registers ---- */

/* Bits of one piece of a register of PTX. */
static enum ws_value_kind piece_read(struct ws_vars *vars, const struct ws_reg_piece *piece,
				     uint32_t *ret_word, enum ws_status *ret_status)
{
	const struct ws_focus *focus = &vars->focus;
	enum ws_reg_kind kind = WS_REG_P;
	enum ws_value_kind found;
	uint32_t n, index = piece->index;
	switch (piece->reg_class) {
	case WS_REG_CLASS_FULL:
		return wsi_vars_register(vars, index, ret_word, ret_status);
	case WS_REG_CLASS_HALF:
		found = wsi_vars_register(vars, index / 2, ret_word, ret_status);
		*ret_word = index & 1 ? *ret_word >> 16 : *ret_word & 0xffff;
		return found;
	case WS_REG_CLASS_PRED:
		break;
	case WS_REG_CLASS_UPRED:
		kind = WS_REG_UP;
		break;
	case WS_REG_CLASS_UFULL:
		kind = WS_REG_UR;
		break;
	case WS_REG_CLASS_UHALF:
		kind = WS_REG_UR;
		index /= 2;
		break;
	case WS_REG_CLASS_LOCAL_REG:
		found = wsi_vars_register(vars, index >> 16, ret_word, ret_status);
		if (found != WS_VALUE_BYTES)
			return found;
		index = *ret_word + (index & 0xffff);
		/* fall through */
	case WS_REG_CLASS_LOCAL: {
		struct ws_address at = wsi_address(vars, WS_SPACE_LOCAL, index);
		uint8_t bytes[4] = { 0 };
		size_t got;
		*ret_status =
			ws_target_read_memory(vars->target, &at, bytes, sizeof bytes, &got, NULL);
		*ret_word = wsi_load_u32(bytes);
		return *ret_status == WS_OK ? WS_VALUE_BYTES : WS_VALUE_MISSING;
	}
	default:
		*ret_status = WS_UNSUPPORTED;
		return WS_VALUE_MISSING;
	}
	if (vars->selected > 0) { /* a callee may have changed it, and no call frame tells */
		*ret_status = WS_OK;
		return WS_VALUE_NOT_SAVED;
	}
	*ret_status = ws_target_registers(vars->target, focus->warp_index, focus->lane, kind, index,
					  1, ret_word, &n, NULL);
	if (piece->reg_class == WS_REG_CLASS_UHALF)
		*ret_word = piece->index & 1 ? *ret_word >> 16 : *ret_word & 0xffff;
	return *ret_status == WS_OK ? WS_VALUE_BYTES : WS_VALUE_MISSING;
}

/* The value of a register of PTX, of which `wanted` words are needed. */
static void from_register(struct ws_vars *vars, const struct ws_frame *frame, const char *reg,
			  uint64_t wanted, struct ws_value *value)
{
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	size_t n;
	enum ws_regmap_answer answer =
		wsi_cubin_find_register(frame->place.cubin, frame->place.function->name,
					ws_str_of(reg), frame->rel_pc, pieces, &n);
	value->kind = answer == WS_REGMAP_NOT_HERE ? WS_VALUE_NOT_HERE : WS_VALUE_GONE;
	if (answer != WS_REGMAP_FOUND)
		return;
	uint64_t have = 0;
	value->kind = WS_VALUE_BYTES;
	for (size_t i = 0; i < n && value->kind == WS_VALUE_BYTES; i++) {
		uint32_t word = 0;
		value->kind = piece_read(vars, &pieces[i], &word, &value->status);
		wsi_store_u32(value->bytes + 4 * (size_t)pieces[i].part, word);
		have |= UINT64_C(1) << pieces[i].part;
	}
	if (value->kind == WS_VALUE_BYTES && wanted <= WS_REG_MAX_PIECES &&
	    ~have & ((UINT64_C(1) << wanted) - 1))
		value->kind = WS_VALUE_NOT_HERE; /* a part of it is not live */
	value->in_register =
		n == 1 && pieces[0].reg_class == WS_REG_CLASS_FULL && vars->selected == 0;
	value->reg_kind = WS_REG_R;
	value->reg = pieces[0].index;
	bool pair = n == 2 && pieces[1].reg_class == WS_REG_CLASS_FULL && pieces[0].part == 0 &&
		    pieces[1].part == 1 && pieces[1].index == pieces[0].index + 1;
	if (pieces[0].reg_class == WS_REG_CLASS_FULL && (n == 1 || pair))
		value->source = wsi_record_register(vars, WS_REG_R, pieces[0].index, (uint32_t)n);
	else if (pieces[0].reg_class == WS_REG_CLASS_PRED && n == 1)
		value->source = wsi_record_register(vars, WS_REG_P, pieces[0].index, 1);
	else
		wsi_record_lose(vars);
}

/* ---- variables ---- */

static struct ws_address class_place_of(const struct ws_vars *vars, uint32_t address_class,
					uint64_t address)
{
	enum ws_space space = wsi_space_of_class(address_class);
	/* images in a dump have device addresses of constants; what is too small for one counts
	 * from the start of the bank */
	if (space == WS_SPACE_CONST && address >= CONST_BANK_BYTES)
		space = WS_SPACE_GLOBAL;
	return wsi_address(vars, space, address);
}

static uint64_t type_words(const struct ws_vtype *type)
{
	struct wsi_type_shape shape;
	return wsi_shape(type, &shape, NULL) != WS_OK || shape.size == WS_SIZE_UNKNOWN
		       ? 0
		       : (shape.size + 3) / 4;
}

/* What a register has the address of. A kernel counts its parameters from the first; no generic
 * address is that small. [measured: clang 22] */
static void from_address(struct ws_vars *vars, const struct ws_frame *frame,
			 const struct ws_where *where, struct ws_value *value)
{
	struct ws_value base = { .kind = WS_VALUE_GONE };
	struct ws_function_info info;
	from_register(vars, frame, where->reg, 2, &base);
	value->kind = base.kind;
	value->status = base.status;
	if (base.kind != WS_VALUE_BYTES)
		return;
	const uint64_t address = wsi_load_u64(base.bytes) + (uint64_t)where->number;
	value->kind = WS_VALUE_MEMORY;
	value->at = wsi_address(vars, WS_SPACE_GENERIC, address);
	if (frame->place.function->is_kernel &&
	    ws_cubin_function_info(frame->place.cubin, frame->place.function, &info, NULL, 0, NULL,
				   0, NULL) == WS_OK &&
	    address < info.param_bytes)
		value->at = wsi_address(vars, WS_SPACE_PARAM, info.param_bank_offset + address);
}

/* The value of a variable. WS_UNSUPPORTED: a place of a kind that is not known. */
static enum ws_status variable_value(struct ws_vars *vars, const struct ws_dwarf *dwarf,
				     const struct ws_dwarf_function *function,
				     const struct ws_dwarf_variable *variable,
				     struct ws_value *ret_value, struct ws_error *err)
{
	const struct ws_frame *frame = &vars->frames[vars->selected];
	struct ws_value value = { .type = wsi_vars_dwarf_vtype(dwarf, variable->type) };
	uint64_t rel_pc = frame->rel_pc, cfa;
	struct ws_where where;
	enum ws_status st = ws_dwarf_where(dwarf, function, rel_pc, variable, &where, err);
	if (st != WS_OK)
		return st;
	switch (where.kind) {
	case WS_WHERE_GONE:
		value.kind = WS_VALUE_GONE;
		break;
	case WS_WHERE_NOT_HERE:
		value.kind = WS_VALUE_NOT_HERE;
		break;
	case WS_WHERE_VALUE:
		value.kind = WS_VALUE_BYTES;
		wsi_store_u64(value.bytes, (uint64_t)where.number);
		break;
	case WS_WHERE_REGISTER:
		from_register(vars, frame, where.reg, type_words(&value.type), &value);
		break;
	case WS_WHERE_BASED:
		wsi_record_lose(vars); /* only the place is followed, not what it is made of */
		from_address(vars, frame, &where, &value);
		break;
	case WS_WHERE_FRAME:
		wsi_record_lose(vars); /* the stack pointer is the thread's */
		value.kind = wsi_vars_cfa(vars, &cfa) ? WS_VALUE_MEMORY : WS_VALUE_NOT_SAVED;
		if (value.kind == WS_VALUE_MEMORY)
			value.at = wsi_address(vars, WS_SPACE_LOCAL,
					       (uint32_t)(cfa + (uint64_t)where.number));
		break;
	case WS_WHERE_ADDRESS:
		value.kind = WS_VALUE_MEMORY;
		value.at = class_place_of(vars, variable->address_class, (uint64_t)where.number);
		break;
	}
	*ret_value = value;
	return WS_OK;
}

enum ws_status wsi_vars_dwarf(struct ws_vars *vars, const struct ws_dwarf **ret_dwarf,
			      const struct ws_dwarf_function **ret_function, struct ws_error *err)
{
	if (!vars->has_thread && !vars->has_code)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no thread");
	const struct ws_frame *frame = &vars->frames[vars->selected];
	if (frame->status != WS_OK || !frame->place.function)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no image has the code at 0x%" PRIx64,
				frame->pc);
	enum ws_status st = ws_cubin_dwarf(frame->place.cubin, ret_dwarf, err);
	*ret_function = NULL;
	if (st == WS_OK && ws_dwarf_find_function(*ret_dwarf, frame->place.function->name,
						  ret_function, NULL) != WS_OK)
		*ret_function = NULL;
	return st;
}

/* Which of the variables in scope are those of the function that is looked at. */
struct scope {
	bool is_told;     /* else a name may be any of them */
	bool is_empty;    /* no list can be made */
	uint32_t n_calls; /* that are inlined around them */
};

static struct scope scope_find(const struct ws_vars *vars, const struct ws_dwarf *dwarf,
			       const struct ws_dwarf_function *function, uint64_t rel_pc)
{
	const struct ws_place *place = &vars->frames[vars->selected].place;
	const bool outermost = vars->position == WSI_OUTERMOST;
	struct scope scope = { .is_told = false };
	size_t n_calls = 0, n = 0;
	if (ws_dwarf_inlined(dwarf, function, rel_pc, NULL, 0, &n_calls, NULL) != WS_OK)
		n_calls = 0;
	if (n_calls == 0 && outermost)
		return scope;
	if (ws_cubin_line_find(place->cubin, place->section, place->sec_off, NULL, 0, &n, NULL) !=
	    WS_OK)
		n = 0;
	scope.is_told = n == n_calls + 1;
	if (outermost || vars->position + UINT64_C(1) >= n)
		return scope;
	scope.is_empty = !scope.is_told;
	scope.n_calls = scope.is_told ? (uint32_t)n_calls - vars->position : 0;
	return scope;
}

/* Variables of the frame into vars->list. */
static enum ws_status list_frame_read(struct ws_vars *vars, const struct ws_dwarf **ret_dwarf,
				      const struct ws_dwarf_function **ret_function,
				      struct scope *ret_scope, size_t *ret_n, struct ws_error *err)
{
	enum ws_status st = wsi_vars_dwarf(vars, ret_dwarf, ret_function, err);
	if (st != WS_OK)
		return st;
	if (!*ret_function)
		return wsi_fail(
			err, WS_ABSENT, WS_NO_OFFSET,
			"the function has no debug information: it was not compiled with -G");
	const struct ws_frame *frame = &vars->frames[vars->selected];
	uint64_t rel_pc = frame->rel_pc && frame->is_caller ? frame->rel_pc - 1 : frame->rel_pc;
	st = ws_dwarf_variables(*ret_dwarf, *ret_function, rel_pc, vars->list, WS_VARS_MAX_LIST,
				ret_n, err);
	if (st == WS_OK) {
		*ret_n = (size_t)wsi_min_u64(*ret_n, WS_VARS_MAX_LIST);
		*ret_scope = scope_find(vars, *ret_dwarf, *ret_function, rel_pc);
	}
	return st;
}

/* Also a variable whose place cannot be understood is one. That of a dump that was stripped is
 * gone, wherever it was. */
static void value_or_why(struct ws_vars *vars, const struct ws_dwarf *dwarf,
			 const struct ws_dwarf_function *function,
			 const struct ws_dwarf_variable *variable, struct ws_value *ret_value)
{
	enum ws_status st = vars->is_stripped ? WS_EXCLUDED
					      : variable_value(vars, dwarf, function, variable,
							       ret_value, NULL);
	if (st != WS_OK)
		*ret_value = (struct ws_value){
			.kind = WS_VALUE_MISSING,
			.status = st,
			.type = wsi_vars_dwarf_vtype(dwarf, variable->type),
		};
}

enum ws_status ws_vars_list(struct ws_vars *vars, struct ws_variable_value *ret_list, size_t cap,
			    size_t *ret_n, struct ws_error *err)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	struct scope scope;
	size_t n_all = 0, n = 0;
	enum ws_status st = list_frame_read(vars, &dwarf, &function, &scope, &n_all, err);
	if (st != WS_OK)
		return st;
	for (size_t i = 0; i < n_all && !scope.is_empty; i++) {
		if (vars->list[i].n_calls != scope.n_calls)
			continue;
		if (n < cap) {
			ret_list[n].variable = vars->list[i];
			value_or_why(vars, dwarf, function, &vars->list[i], &ret_list[n].value);
		}
		n++;
	}
	*ret_n = n;
	return WS_OK;
}

enum ws_status wsi_vars_local_find(struct ws_vars *vars, struct ws_str name,
				   struct ws_value *ret_value, struct ws_error *err)
{
	const struct ws_dwarf *dwarf = NULL;
	const struct ws_dwarf_function *function = NULL;
	struct scope scope;
	size_t n = 0;
	enum ws_status st = list_frame_read(vars, &dwarf, &function, &scope, &n, err);
	for (size_t i = n; st == WS_OK && i > 0; i--) {
		if (!ws_str_equal(vars->list[i - 1].name, name) ||
		    (scope.is_told && vars->list[i - 1].n_calls != scope.n_calls))
			continue;
		value_or_why(vars, dwarf, function, &vars->list[i - 1], ret_value);
		return WS_OK;
	}
	if (!function && wsi_param_find(vars, name, ret_value, NULL) == WS_OK)
		return WS_OK;
	return st != WS_OK ? st
			   : wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				      "the function has no such variable here");
}

enum ws_status wsi_vars_global_value(struct ws_vars *vars, const struct ws_dwarf *dwarf,
				     const struct ws_dwarf_named *named, struct ws_value *ret_value,
				     struct ws_error *err)
{
	struct ws_dwarf_variable variable;
	enum ws_status st = ws_dwarf_variable_at(dwarf, named->info_off, &variable, err);
	if (st == WS_OK)
		value_or_why(vars, dwarf, NULL, &variable, ret_value);
	return st;
}

/* ---- for callers ---- */

enum ws_status ws_vars_keep(struct ws_vars *vars, struct ws_value *value, struct ws_error *err)
{
	struct wsi_type_shape shape;
	struct ws_value kept = *value;
	kept.in_register = false;
	enum ws_status st = wsi_shape(&value->type, &shape, err);
	if (st == WS_OK && value->kind == WS_VALUE_MEMORY && shape.size <= sizeof kept.bytes &&
	    shape.kind != WS_KIND_FUNCTION && shape.kind != WS_KIND_VOID) {
		st = wsi_value_read(vars, value, 0, kept.bytes, (size_t)shape.size, err);
		kept.kind = WS_VALUE_BYTES;
	}
	if (st == WS_OK)
		*value = kept;
	return st;
}

/* Characters in memory, up to a NUL byte. */
static enum ws_status read_string_text(struct ws_vars *vars, struct ws_address at, char *text,
				       uint64_t most, struct ws_error *err)
{
	size_t got;
	for (uint64_t n = 0; n < most; n++, at.address++) {
		enum ws_status st =
			ws_target_read_memory(vars->target, &at, &text[n], 1, &got, err);
		text[n + 1] = '\0';
		if (st != WS_OK || !text[n])
			return st;
	}
	return WS_OK;
}

enum ws_status ws_vars_text(struct ws_vars *vars, const struct ws_value *value, char *ret_text,
			    size_t size, struct ws_error *err)
{
	struct wsi_type_shape shape, element;
	uint8_t bytes[8];
	ret_text[0] = '\0';
	enum ws_status st = wsi_shape(&value->type, &shape, err);
	bool is_array = st == WS_OK && shape.kind == WS_KIND_ARRAY;
	bool is_many = is_array || (st == WS_OK && shape.kind == WS_KIND_POINTER);
	if (is_many)
		st = wsi_shape(&shape.target, &element, err);
	if (st != WS_OK)
		return st;
	if (!is_many || element.size != 1)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the value is not a string");
	if (is_array) {
		uint64_t most = wsi_min_u64(shape.size, size - 1);
		if (value->kind == WS_VALUE_MEMORY)
			return read_string_text(vars, value->at, ret_text, most, err);
		st = wsi_value_read(vars, value, 0, ret_text, (size_t)most, err);
		ret_text[st == WS_OK ? most : 0] = '\0';
		return st;
	}
	st = wsi_value_read(vars, value, 0, bytes, sizeof bytes, err);
	return st != WS_OK
		       ? st
		       : read_string_text(vars, wsi_address(vars, shape.space, wsi_load_u64(bytes)),
					  ret_text, size - 1, err);
}
