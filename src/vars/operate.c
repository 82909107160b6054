/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions do to values. */
#include "vars/condition.h"

enum { MAX_BASES = 16 };

struct ws_value wsi_value_number(const struct ws_vtype *type, const struct ws_number *number)
{
	struct ws_value value = { .kind = WS_VALUE_BYTES, .type = *type };
	struct wsi_type_shape shape;
	if (wsi_shape(type, &shape, NULL) == WS_OK)
		wsi_number_bytes(&shape, number, value.bytes);
	return value;
}

struct ws_value wsi_value_int(int64_t number)
{
	struct ws_vtype type = wsi_c_type(number == (int32_t)number ? WSI_C_INT : WSI_C_LONG);
	struct ws_number whole = wsi_whole(number);
	return wsi_value_number(&type, &whole);
}

enum ws_status wsi_vars_operand_of(struct ws_vars *vars, const struct ws_value *value,
				   struct wsi_operand *ret, struct ws_error *err)
{
	struct ws_value followed = *value;
	struct wsi_type_shape shape;
	uint8_t bytes[8] = { 0 };
	enum ws_status st = wsi_follow(vars, &followed, err);
	if (st == WS_OK)
		st = wsi_shape(&followed.type, &shape, err);
	if (st != WS_OK)
		return st;
	*ret = (struct wsi_operand){
		.step = followed.source,
		.shape = shape,
		.bit_off = followed.bit_off,
		.bit_size = followed.bit_size,
	};
	if ((shape.kind == WS_KIND_ARRAY || shape.kind == WS_KIND_FUNCTION) &&
	    followed.kind == WS_VALUE_MEMORY) { /* its address */
		ret->number = wsi_whole((int64_t)followed.at.address);
		ret->number.is_unsigned = true;
		ret->shape =
			(struct wsi_type_shape){ .kind = WS_KIND_POINTER, .size = sizeof bytes };
		return WS_OK;
	}
	if (!wsi_vars_is_scalar(&shape) || shape.size > sizeof bytes)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the value is not a number");
	st = wsi_value_read(vars, &followed, 0, bytes, (size_t)shape.size, err);
	if (st == WS_OK &&
	    !wsi_number_of(&shape, bytes, followed.bit_off, followed.bit_size, &ret->number))
		st = wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			      "the value is a number of an unknown kind");
	if (st == WS_OK && followed.kind == WS_VALUE_MEMORY)
		ret->step =
			wsi_record_load(vars, &followed.at, followed.source, (uint32_t)shape.size);
	return st;
}

enum ws_status ws_vars_number(struct ws_vars *vars, const struct ws_value *value,
			      struct ws_number *ret_number, struct ws_error *err)
{
	struct wsi_operand operand;
	enum ws_status st = wsi_vars_operand_of(vars, value, &operand, err);
	if (st != WS_OK)
		return st;
	if (operand.step)
		wsi_record_lose(vars);
	*ret_number = operand.number;
	return WS_OK;
}

enum ws_status ws_vars_size(const struct ws_value *value, uint64_t *ret_bytes, struct ws_error *err)
{
	struct wsi_type_shape shape;
	enum ws_status st = wsi_shape(&value->type, &shape, err);
	if (st == WS_OK)
		*ret_bytes = shape.size;
	return st;
}

/* ---- addresses ---- */

static enum ws_status through(struct ws_vars *vars, const struct ws_value *value,
			      const struct wsi_type_shape *shape, struct ws_value *ret_value,
			      struct ws_error *err)
{
	uint8_t bytes[8];
	enum ws_status st = wsi_value_read(vars, value, 0, bytes, sizeof bytes, err);
	if (st == WS_OK)
		*ret_value = (struct ws_value){
			.kind = WS_VALUE_MEMORY,
			.type = shape->target,
			.at = wsi_address(vars, shape->space, wsi_load_u64(bytes)),
			.source = value->kind == WS_VALUE_MEMORY
					  ? wsi_record_load(vars, &value->at, value->source,
							    sizeof bytes)
					  : value->source,
		};
	return st;
}

enum ws_status wsi_follow(struct ws_vars *vars, struct ws_value *value, struct ws_error *err)
{
	struct wsi_type_shape shape;
	enum ws_status st = wsi_shape(&value->type, &shape, err);
	if (st != WS_OK ||
	    (shape.kind != WS_KIND_REFERENCE && shape.kind != WS_KIND_RVALUE_REFERENCE))
		return st;
	return through(vars, value, &shape, value, err);
}

enum ws_status wsi_dereference(struct ws_vars *vars, const struct ws_value *pointer,
			       struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value value = *pointer;
	struct wsi_type_shape shape;
	enum ws_status st = wsi_follow(vars, &value, err);
	if (st == WS_OK)
		st = wsi_shape(&value.type, &shape, err);
	if (st != WS_OK)
		return st;
	if (shape.kind == WS_KIND_ARRAY)
		return wsi_elements(vars, &value, 0, 0, ret_value, err);
	if (shape.kind == WS_KIND_FUNCTION) {
		*ret_value = value;
		return WS_OK;
	}
	const bool is_whole = shape.kind == WS_KIND_BASE && !wsi_vars_is_float(&shape);
	if (is_whole) { /* as gdb does: of a long */
		struct ws_vtype type = wsi_c_type(WSI_C_LONG);
		struct ws_value number = value;
		(void)!wsi_vtype_point_bare(&type);
		st = wsi_cast(vars, &number, &type, &value, err);
		if (st == WS_OK)
			st = wsi_shape(&value.type, &shape, err);
		if (st != WS_OK)
			return st;
	}
	if (shape.kind != WS_KIND_POINTER)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"Attempt to take contents of a non-pointer value");
	return through(vars, &value, &shape, ret_value, err);
}

enum ws_status wsi_address_of(struct ws_vars *vars, const struct ws_value *value,
			      struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value followed = *value;
	struct ws_number number = { .is_unsigned = true };
	enum ws_status st = wsi_follow(vars, &followed, err);
	if (st != WS_OK)
		return st;
	if (followed.kind != WS_VALUE_MEMORY || followed.bit_size)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"Attempt to take address of value not located in memory");
	struct ws_vtype type = followed.type;
	if (!wsi_vtype_point(&type, followed.at.space))
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "too many pointers within each other");
	number.whole = (int64_t)followed.at.address;
	*ret_value = wsi_value_number(&type, &number);
	ret_value->source = followed.source;
	return WS_OK;
}

/* A part of a value. */
static enum ws_status value_part_of(struct ws_vars *vars, const struct ws_value *value,
				    uint64_t offset, const struct ws_vtype *type,
				    struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value part = *value;
	struct wsi_type_shape shape;
	part.type = *type;
	part.in_register = false;
	part.bit_off = part.bit_size = 0;
	part.source = wsi_record_part(vars, value->source, offset, value->kind == WS_VALUE_MEMORY);
	if (value->kind == WS_VALUE_MEMORY) {
		part.at.address += offset;
	} else if (value->kind == WS_VALUE_BYTES) {
		enum ws_status st = wsi_shape(type, &shape, err);
		if (st != WS_OK)
			return st;
		size_t n = (size_t)wsi_min_u64(shape.size, sizeof part.bytes);
		st = wsi_value_read(vars, value, offset, part.bytes, n, err);
		if (st != WS_OK)
			return st;
	}
	*ret_value = part;
	return WS_OK;
}

/* ---- members ---- */

/* Looks in a structure, then in what it has without a name. `*ret_found` false: not there. */
static enum ws_status member_find(struct ws_vars *vars, const struct ws_value *value,
				  struct ws_str name, unsigned depth, bool *ret_found,
				  struct ws_value *ret_value, struct ws_error *err)
{
	wsi_scoped_free struct wsi_type_member *members =
		wsi_zalloc_array(WSI_MAX_MEMBERS, sizeof *members);
	struct wsi_type_shape shape;
	size_t n;
	if (!members)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "members");
	enum ws_status st = wsi_shape(&value->type, &shape, err);
	if (st == WS_OK && shape.kind != WS_KIND_STRUCT && shape.kind != WS_KIND_UNION)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the value has no members");
	if (st == WS_OK)
		st = wsi_members(&shape, &value->type, members, WSI_MAX_MEMBERS, &n, err);
	if (st != WS_OK)
		return st;
	n = (size_t)wsi_min_u64(n, WSI_MAX_MEMBERS);
	for (unsigned inner = 0; inner < 2; inner++) {
		for (size_t i = 0; i < n && !*ret_found; i++) {
			struct ws_value part;
			if (inner ? members[i].name.len != 0 || depth == MAX_BASES
				  : !ws_str_equal(members[i].name, name))
				continue;
			st = value_part_of(vars, value, members[i].offset, &members[i].type, &part,
					   err);
			if (st != WS_OK)
				return st;
			part.bit_off = members[i].bit_off;
			part.bit_size = members[i].bit_size;
			*ret_found = !inner;
			if (inner) {
				if (member_find(vars, &part, name, depth + 1, ret_found, ret_value,
						NULL) == WS_NO_MEMORY)
					return WS_NO_MEMORY;
			} else {
				*ret_value = part;
			}
		}
	}
	return WS_OK;
}

enum ws_status wsi_value_member(struct ws_vars *vars, const struct ws_value *value,
				struct ws_str name, struct ws_value *ret_value,
				struct ws_error *err)
{
	struct ws_value whole = *value;
	struct wsi_type_shape shape;
	bool found = false;
	enum ws_status st = wsi_follow(vars, &whole, err);
	if (st == WS_OK)
		st = wsi_shape(&whole.type, &shape, err);
	if (st == WS_OK && shape.kind == WS_KIND_POINTER)
		st = wsi_dereference(vars, &whole, &whole, err);
	if (st == WS_OK)
		st = member_find(vars, &whole, name, 0, &found, ret_value, err);
	if (st == WS_OK && !found)
		st = wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "There is no member named %.*s",
			      (int)wsi_min_u64(name.len, 100), name.ptr);
	return st;
}

/* ---- arrays ---- */

enum ws_status wsi_elements(struct ws_vars *vars, const struct ws_value *value, int64_t first,
			    uint64_t n, struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value whole = *value;
	struct wsi_type_shape shape, element;
	enum ws_status st = wsi_follow(vars, &whole, err);
	if (st == WS_OK)
		st = wsi_shape(&whole.type, &shape, err);
	if (st == WS_OK && shape.kind == WS_KIND_POINTER)
		st = through(vars, &whole, &shape, &whole, err);
	else if (st == WS_OK && shape.kind != WS_KIND_ARRAY)
		st = wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
			      "only an array or a pointer has elements");
	if (st == WS_OK)
		st = wsi_shape(&shape.target, &element, err);
	if (st != WS_OK)
		return st;
	if (element.size == WS_SIZE_UNKNOWN || element.size == 0)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"the size of an element is not known");
	struct ws_vtype type = shape.target;
	if (n && (n > INT32_MAX || !wsi_vtype_repeat(&type, n)))
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "too many elements");
	return value_part_of(vars, &whole, (uint64_t)first * element.size, &type, ret_value, err);
}

/* ---- casts ---- */

enum ws_status wsi_cast(struct ws_vars *vars, const struct ws_value *value,
			const struct ws_vtype *type, struct ws_value *ret_value,
			struct ws_error *err)
{
	struct wsi_type_shape from, to;
	struct ws_value followed = *value;
	struct wsi_operand operand;
	enum ws_status st = wsi_follow(vars, &followed, err);
	if (st == WS_OK)
		st = wsi_shape(&followed.type, &from, err);
	if (st == WS_OK)
		st = wsi_shape(type, &to, err);
	if (st != WS_OK)
		return st;
	if (to.kind == WS_KIND_VOID) {
		*ret_value = ws_value_void();
		return WS_OK;
	}
	if (!wsi_vars_is_scalar(&to)) {
		if (from.size != to.size)
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					"a value cannot become one of that type");
		return value_part_of(vars, &followed, 0, type, ret_value, err);
	}
	st = wsi_vars_operand_of(vars, &followed, &operand, err);
	if (st != WS_OK)
		return st;
	*ret_value = wsi_value_number(type, &operand.number);
	ret_value->source = wsi_record_cast(vars, &operand, &to);
	return WS_OK;
}

/* ---- operators ---- */

static enum ws_status for_wholes(struct ws_error *err)
{
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "this operator is for whole numbers");
}

/* Comparisons and logic; false: the operation is none of them. */
static bool compare_numbers(enum wsi_operation operation, const struct ws_number *a,
			    const struct ws_number *b, bool *ret_true)
{
	int order;
	bool real = a->is_float || b->is_float, unordered = false;
	if (real) {
		order = WSI_ORDER(a->real, b->real);
		unordered = order == 0 && !(a->real == b->real);
	} else if (a->is_unsigned || b->is_unsigned) {
		uint64_t ua = (uint64_t)a->whole, ub = (uint64_t)b->whole;
		order = WSI_ORDER(ua, ub);
	} else {
		order = WSI_ORDER(a->whole, b->whole);
	}
	bool ta = a->is_float ? a->real != 0 : a->whole != 0;
	bool tb = b->is_float ? b->real != 0 : b->whole != 0;
	switch ((int)operation) {
	case WSI_OR:
		*ret_true = ta || tb;
		return true;
	case WSI_AND:
		*ret_true = ta && tb;
		return true;
	case WSI_EQ:
		*ret_true = order == 0 && !unordered;
		return true;
	case WSI_NE:
		*ret_true = order != 0 || unordered;
		return true;
	case WSI_LE:
		*ret_true = order <= 0 && !unordered;
		return true;
	case WSI_GE:
		*ret_true = order >= 0 && !unordered;
		return true;
	case WSI_LT:
		*ret_true = order < 0;
		return true;
	case WSI_GT:
		*ret_true = order > 0;
		return true;
	default:
		return false;
	}
}

static enum ws_status of_reals(enum wsi_operation operation, double a, double b,
			       struct ws_number *ret, struct ws_error *err)
{
	ret->is_float = true;
	switch ((int)operation) {
	case WSI_ADD:
		ret->real = a + b;
		return WS_OK;
	case WSI_SUB:
		ret->real = a - b;
		return WS_OK;
	case WSI_MUL:
		ret->real = a * b;
		return WS_OK;
	case WSI_DIV:
		ret->real = a / b;
		return WS_OK;
	default:
		return for_wholes(err);
	}
}

static int64_t divide(bool rest, bool no_sign, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	if (no_sign)
		return (int64_t)(rest ? ua % ub : ua / ub);
	if (b == -1)
		return rest ? 0 : (int64_t)(0 - ua);
	return rest ? a % b : a / b;
}

static enum ws_status of_wholes(enum wsi_operation operation, int64_t a, int64_t b, bool no_sign,
				int64_t *ret, struct ws_error *err)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	switch ((int)operation) {
	case WSI_BITOR:
		*ret = a | b;
		return WS_OK;
	case WSI_XOR:
		*ret = a ^ b;
		return WS_OK;
	case WSI_BITAND:
		*ret = a & b;
		return WS_OK;
	case WSI_SHL:
		*ret = ub < 64 ? (int64_t)(ua << ub) : 0;
		return WS_OK;
	case WSI_SHR:
		*ret = no_sign ? (int64_t)(ub < 64 ? ua >> ub : 0) : a >> (ub < 64 ? ub : 63);
		return WS_OK;
	case WSI_ADD:
		*ret = (int64_t)(ua + ub);
		return WS_OK;
	case WSI_SUB:
		*ret = (int64_t)(ua - ub);
		return WS_OK;
	case WSI_MUL:
		*ret = (int64_t)(ua * ub);
		return WS_OK;
	case WSI_DIV:
	case WSI_MOD:
		if (b == 0)
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "Division by zero");
		*ret = divide(operation == WSI_MOD, no_sign, a, b);
		return WS_OK;
	default:
		return for_wholes(err);
	}
}

/* The type of what is computed of two numbers, as C has it. */
static struct ws_vtype common_type(const struct wsi_type_shape *a, const struct wsi_type_shape *b)
{
	bool fa = wsi_vars_is_float(a), fb = wsi_vars_is_float(b);
	if (fa || fb)
		return wsi_c_type((fa && a->size == 8) || (fb && b->size == 8) ? WSI_C_DOUBLE
									       : WSI_C_FLOAT);
	uint64_t size = wsi_max_u64(wsi_max_u64(a->size, b->size), 4);
	bool no_sign = false;
	const struct wsi_type_shape *both[] = { a, b };
	for (unsigned i = 0; i < 2; i++)
		no_sign |= both[i]->size == size && (both[i]->encoding == WS_ENCODING_UNSIGNED ||
						     both[i]->kind == WS_KIND_POINTER);
	return wsi_c_type(size <= 4 ? (no_sign ? WSI_C_UINT : WSI_C_INT)
				    : (no_sign ? WSI_C_ULONG : WSI_C_LONG));
}

/* A pointer or array with a number added, or the distance of two. */
static enum ws_status of_pointers(struct ws_vars *vars, enum wsi_operation operation,
				  const struct ws_value *a, const struct ws_value *b, bool other,
				  struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value element;
	struct wsi_type_shape shape;
	struct ws_number x, y;
	enum ws_status st = ws_vars_number(vars, b, &y, err);
	if (st == WS_OK && other)
		st = ws_vars_number(vars, a, &x, err);
	if (st == WS_OK && other) {
		st = wsi_dereference(vars, a, &element, err);
		if (st == WS_OK)
			st = wsi_shape(&element.type, &shape, err);
		uint64_t size =
			st == WS_OK && shape.size != WS_SIZE_UNKNOWN && shape.size ? shape.size : 1;
		if (st == WS_OK)
			*ret_value = wsi_value_int(
				(int64_t)((uint64_t)x.whole - (uint64_t)y.whole) / (int64_t)size);
		return st;
	}
	int64_t n = operation == WSI_SUB ? (int64_t)(0 - (uint64_t)y.whole) : y.whole;
	if (st == WS_OK)
		st = wsi_elements(vars, a, n, 0, &element, err);
	return st == WS_OK ? wsi_address_of(vars, &element, ret_value, err) : st;
}

static bool points(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_POINTER || shape->kind == WS_KIND_ARRAY;
}

enum ws_status wsi_compute(enum wsi_operation operation, const struct ws_number *a,
			   const struct ws_number *b, bool no_sign, struct ws_number *ret,
			   struct ws_error *err)
{
	bool truth;
	*ret = (struct ws_number){ 0 };
	if (compare_numbers(operation, a, b, &truth)) {
		ret->whole = truth;
		return WS_OK;
	}
	if (a->is_float || b->is_float)
		return of_reals(operation, a->real, b->real, ret, err);
	return of_wholes(operation, a->whole, b->whole, no_sign, &ret->whole, err);
}

/* Whether an operation says yes or no. */
static bool is_truth(enum wsi_operation operation)
{
	return operation <= WSI_AND || (operation >= WSI_EQ && operation <= WSI_GT);
}

/* What a reference leads to; a function is its address. */
static enum ws_status operand_ready(struct ws_vars *vars, struct ws_value *value,
				    struct wsi_type_shape *ret_shape, struct ws_error *err)
{
	struct ws_value function;
	enum ws_status st = wsi_follow(vars, value, err);
	if (st == WS_OK)
		st = wsi_shape(&value->type, ret_shape, err);
	if (st != WS_OK || ret_shape->kind != WS_KIND_FUNCTION)
		return st;
	function = *value;
	st = wsi_address_of(vars, &function, value, err);
	return st == WS_OK ? wsi_shape(&value->type, ret_shape, err) : st;
}

/* Whether the result depends on the sign of what is computed. */
static bool depends_on_sign(enum wsi_operation operation)
{
	return (operation >= WSI_EQ && operation <= WSI_GT) || operation == WSI_SHR ||
	       operation == WSI_DIV || operation == WSI_MOD;
}

/* Where one of two is an unsigned int, so is the other: -1 == 0xffffffff, -7 / 2u == 2147483644. */
static enum ws_status make_common(struct ws_vars *vars, struct ws_value *value,
				  struct wsi_type_shape *shape, const struct ws_vtype *common,
				  struct ws_error *err)
{
	struct ws_value of = *value;
	if (common->type != WSI_C_UINT || wsi_vars_is_unsigned(shape))
		return WS_OK;
	enum ws_status st = wsi_cast(vars, &of, common, value, err);
	return st == WS_OK ? wsi_shape(common, shape, err) : st;
}

enum ws_status wsi_binary(struct ws_vars *vars, enum wsi_operation operation,
			  const struct ws_value *a, const struct ws_value *b,
			  struct ws_value *ret_value, struct ws_error *err)
{
	struct ws_value one = *a, two = *b;
	struct wsi_operand x, y;
	struct wsi_type_shape sa, sb, to;
	struct ws_number result;
	enum ws_status st = operand_ready(vars, &one, &sa, err);
	if (st == WS_OK)
		st = operand_ready(vars, &two, &sb, err);
	if (st != WS_OK)
		return st;
	bool sums = operation == WSI_ADD || operation == WSI_SUB;
	if (sums && points(&sa))
		return of_pointers(vars, operation, &one, &two, points(&sb), ret_value, err);
	if (operation == WSI_ADD && points(&sb))
		return of_pointers(vars, operation, &two, &one, false, ret_value, err);
	const struct ws_vtype common = common_type(&sa, &sb);
	if (depends_on_sign(operation)) {
		st = make_common(vars, &one, &sa, &common, err);
		if (st == WS_OK)
			st = make_common(vars, &two, &sb, &common, err);
	}
	if (st == WS_OK)
		st = wsi_vars_operand_of(vars, &one, &x, err);
	if (st == WS_OK)
		st = wsi_vars_operand_of(vars, &two, &y, err);
	if (st != WS_OK)
		return st;
	struct ws_vtype type = is_truth(operation) ? wsi_c_type(WSI_C_BOOL) : common;
	st = wsi_shape(&type, &to, err);
	if (st == WS_OK)
		st = wsi_compute(operation, &x.number, &y.number, wsi_vars_is_unsigned(&to),
				 &result, err);
	if (st != WS_OK)
		return st;
	*ret_value = wsi_value_number(&type, &result);
	ret_value->source = wsi_record_binary(vars, operation, &x, &y, &to);
	return WS_OK;
}

/* ---- stores ---- */

enum ws_status ws_vars_store(struct ws_vars *vars, struct ws_target *target,
			     const struct ws_value *to, const struct ws_number *number,
			     struct ws_error *err)
{
	struct ws_value place = *to;
	struct wsi_type_shape shape;
	uint8_t bytes[8];
	enum ws_status st = wsi_follow(vars, &place, err);
	if (st == WS_OK)
		st = wsi_shape(&place.type, &shape, err);
	if (st != WS_OK)
		return st;
	if (!wsi_vars_is_scalar(&shape) || shape.size > sizeof bytes || place.bit_size ||
	    (place.kind != WS_VALUE_MEMORY && !place.in_register))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "that cannot be set");
	if (place.in_register && number->is_float &&
	    !place.type.dwarf) { /* registers have no type */
		shape.kind = WS_KIND_BASE;
		shape.encoding = WS_ENCODING_FLOAT;
	}
	wsi_number_bytes(&shape, number, bytes);
	if (place.in_register) {
		uint32_t words[2] = { wsi_load_u32(bytes), wsi_load_u32(bytes + 4) };
		return ws_target_write_registers(target, vars->focus.warp_index, vars->focus.lane,
						 place.reg_kind, place.reg, shape.size == 8 ? 2 : 1,
						 words, err);
	}
	return ws_target_write_memory(target, &place.at, bytes, (size_t)shape.size, err);
}
