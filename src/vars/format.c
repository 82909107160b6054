/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as gdb prints them: {x = 1, y = 2}, {0 <repeats 20 times>}, 65 'A', 0x7f00 "text".
 */
#include "vars/vars.h"

#include <math.h>

enum {
	ELEMENTS = 200, /* printed of arrays and strings, as gdb does */
	MAX_ELEMENTS = 1 << 16,
	REPEATS = 10,        /* equal ones that are counted instead */
	MAX_DEPTH = 20,      /* structures and arrays within each other */
	MAX_BYTES = 1 << 20, /* of a value that are read */
};

struct printer {
	struct ws_vars *vars;
	struct ws_out *out;
	char letter;
	unsigned depth;
	uint32_t elements, repeats;
	bool is_pretty, has_indexes;
	uint32_t radix;
	uint64_t left; /* scalars that may still be printed */
};

void ws_vars_set_style(struct ws_vars *vars, struct ws_value_style style)
{
	vars->style = style;
}

static void print_bytes(struct printer *p, const struct ws_vtype *type, const uint8_t *bytes,
			uint32_t bit_off, uint32_t bit_size);

/* ---- numbers ---- */

static void print_real(struct printer *p, double number, int digits)
{
	if (isnan(number))
		ws_out_text(p->out, signbit(number) ? "-nan" : "nan");
	else if (isinf(number))
		ws_out_text(p->out, number < 0 ? "-inf" : "inf");
	else
		ws_out_printf(p->out, "%.*g", digits, number);
}

/* Fraction bits of a NaN, which gdb shows. */
static void print_nan_bits(struct printer *p, const struct wsi_type_shape *shape, uint64_t bits)
{
	uint64_t fraction = shape->size == 4 ? bits & 0x7fffff : bits & 0xfffffffffffff;
	if (shape->small == WSI_FLOAT_IEEE)
		ws_out_printf(p->out, "(0x%" PRIx64 ")", fraction);
}

static void print_float_value(struct printer *p, const struct wsi_type_shape *shape,
			      const uint8_t *bytes, const struct ws_number *number)
{
	static const struct {
		enum wsi_small_float small;
		int digits;
	} precise[] = { { WSI_FLOAT_HALF, 5 }, { WSI_FLOAT_BF16, 4 } };
	int digits = shape->size == 8 ? 17 : 9;
	for (size_t i = 0; i < WSI_COUNT(precise); i++)
		digits = shape->small == precise[i].small ? precise[i].digits : digits;
	print_real(p, number->real, digits);
	if (isnan(number->real))
		print_nan_bits(p, shape, wsi_load_le(bytes, (unsigned)shape->size));
}

/* One character between quotes, or in a string. */
static void print_char(struct ws_out *out, uint8_t c, char quote)
{
	static const char escapes[] = "a\ab\bf\fn\nr\rt\tv\v";
	for (size_t i = 0; i + 1 < sizeof escapes; i += 2) {
		if (c == (uint8_t)escapes[i + 1]) {
			ws_out_printf(out, "\\%c", escapes[i]);
			return;
		}
	}
	if (c == 27)
		ws_out_text(out, "\\033");
	else if (c < 32 || c > 126)
		ws_out_printf(out, "\\%03o", c);
	else if (c == '\\' || c == (uint8_t)quote)
		ws_out_printf(out, "\\%c", c);
	else
		ws_out_printf(out, "%c", c);
}

static bool is_char(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_BASE && shape->size == 1 &&
	       (shape->encoding == WS_ENCODING_SIGNED_CHAR ||
		shape->encoding == WS_ENCODING_UNSIGNED_CHAR);
}

static void print_binary_value(struct ws_out *out, uint64_t bits)
{
	unsigned n = 64;
	while (n > 1 && !(bits >> (n - 1) & 1))
		n--;
	for (; n > 0; n--)
		ws_out_text(out, bits >> (n - 1) & 1 ? "1" : "0");
}

static void print_symbol(struct printer *p, uint64_t address)
{
	struct ws_place place;
	char name[200];
	if (!p->vars->cubins ||
	    ws_cubin_set_find_address(p->vars->cubins, address, NULL, &place, NULL) != WS_OK ||
	    !place.function)
		return;
	ws_demangle(place.function->name, name, sizeof name);
	ws_out_text(p->out, " <");
	ws_out_escaped(p->out, ws_str_of(name));
	if (place.rel_pc)
		ws_out_printf(p->out, "+%" PRIu64, place.rel_pc);
	ws_out_text(p->out, ">");
}

/* With a letter; false: it says nothing of such a value. */
static bool print_lettered(struct printer *p, const struct wsi_type_shape *shape,
			   const uint8_t *bytes, const struct ws_number *number)
{
	const bool is_real = number->is_float;
	unsigned width = 8 * (unsigned)shape->size; /* of a bit-field too, as cuda-gdb does */
	uint64_t bits =
		is_real ? wsi_load_le(bytes, (unsigned)shape->size) : (uint64_t)number->whole;
	bits = width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
	unsigned unused = 64 - (width ? width : 64);
	int64_t whole = (int64_t)(bits << unused) >> unused;
	switch (p->letter) {
	case 'x':
		ws_out_printf(p->out, "0x%" PRIx64, bits);
		return true;
	case 'z':
		ws_out_printf(p->out, "0x%0*" PRIx64, (int)width / 4, bits);
		return true;
	case 'd':
		ws_out_printf(p->out, "%" PRId64, whole);
		return true;
	case 'u':
		ws_out_printf(p->out, "%" PRIu64, bits);
		return true;
	case 'o':
		ws_out_printf(p->out, bits ? "0%" PRIo64 : "%" PRIo64, bits);
		return true;
	case 't':
		print_binary_value(p->out, bits);
		return true;
	case 'a':
		ws_out_printf(p->out, "0x%" PRIx64, bits);
		print_symbol(p, bits);
		return true;
	case 'c':
		ws_out_printf(p->out, "%" PRId64 " '",
			      shape->encoding == WS_ENCODING_UNSIGNED_CHAR ? (int64_t)(bits & 0xff)
									   : (int64_t)(int8_t)bits);
		print_char(p->out, (uint8_t)bits, '\'');
		ws_out_text(p->out, "'");
		return true;
	case 'f':
		if (!is_real && (width == 32 || width == 64)) {
			struct wsi_type_shape as = { .kind = WS_KIND_BASE,
						     .encoding = WS_ENCODING_FLOAT,
						     .size = width / 8 };
			struct ws_number seen;
			uint8_t raw[8];
			wsi_store_u64(raw, bits);
			(void)wsi_number_of(&as, raw, 0, 0, &seen);
			print_float_value(p, &as, raw, &seen);
			return true;
		}
		return false;
	default:
		return false;
	}
}

void wsi_print_enumerator(struct ws_str name, struct ws_out *out)
{
	char text[512];
	const bool plain = name.len < 256 && ws_demangle(name, text, sizeof text);
	ws_out_escaped(out, plain ? ws_str_of(text) : name);
}

static void print_enum(struct printer *p, const struct ws_vtype *type,
		       const struct wsi_type_shape *shape, const struct ws_number *number)
{
	struct ws_str name;
	int64_t value = number->whole;
	enum ws_status st =
		type->dwarf ? ws_dwarf_enumerator(type->dwarf, shape->plain, value, &name, NULL)
			    : WS_ABSENT;
	if (st != WS_OK && value < 0 && shape->size < 8) { /* of an unsigned one */
		value &= (int64_t)((UINT64_C(1) << 8 * shape->size) - 1);
		st = ws_dwarf_enumerator(type->dwarf, shape->plain, value, &name, NULL);
	}
	if (st == WS_OK && name.len)
		wsi_print_enumerator(name, p->out);
	else
		ws_out_printf(p->out, "%" PRId64, number->whole);
}

/* ---- strings ---- */

static void print_string(struct printer *p, const uint8_t *bytes, size_t n, bool cut)
{
	bool open = false, first = true;
	if (n == 0)
		ws_out_text(p->out, "\"\"");
	for (size_t i = 0; i < n;) {
		size_t same = 1;
		while (i + same < n && bytes[i + same] == bytes[i])
			same++;
		if (same >= p->repeats) {
			ws_out_text(p->out, open ? "\", '" : first ? "'" : ", '");
			print_char(p->out, bytes[i], '\'');
			ws_out_printf(p->out, "' <repeats %zu times>", same);
			open = false;
		} else {
			ws_out_text(p->out, open ? "" : first ? "\"" : ", \"");
			for (size_t k = 0; k < same; k++)
				print_char(p->out, bytes[i], '"');
			open = true;
		}
		first = false;
		i += same;
	}
	ws_out_text(p->out, open ? "\"" : "");
	ws_out_text(p->out, cut ? "..." : "");
}

/* What a pointer to characters leads to. */
static void print_pointed(struct printer *p, const struct wsi_type_shape *shape, uint64_t address)
{
	struct ws_address at = wsi_address(p->vars, shape->space, address);
	wsi_scoped_free uint8_t *text = wsi_zalloc(p->elements);
	size_t n = 0, got;
	if (address == 0 || !text)
		return;
	while (n < p->elements) {
		if (ws_target_read_memory(p->vars->target, &at, &text[n], 1, &got, NULL) != WS_OK)
			break;
		if (text[n] == '\0') {
			ws_out_text(p->out, " ");
			print_string(p, text, n, false);
			return;
		}
		n++;
		at.address++;
	}
	if (n == p->elements) {
		ws_out_text(p->out, " ");
		print_string(p, text, n, true);
	} else {
		ws_out_text(p->out, " <its text is not in the dump>");
	}
}

static void print_pointer(struct printer *p, const struct wsi_type_shape *shape, uint64_t address)
{
	struct wsi_type_shape target;
	ws_out_printf(p->out, "0x%" PRIx64, address);
	if (wsi_shape(&shape->target, &target, NULL) != WS_OK)
		return;
	if (is_char(&target))
		print_pointed(p, shape, address);
	else if (target.kind == WS_KIND_FUNCTION || shape->space == WS_SPACE_CODE)
		print_symbol(p, address);
}

/* ---- scalars ---- */

static void print_in_radix(struct printer *p, const struct wsi_type_shape *shape,
			   const struct ws_number *number)
{
	const unsigned width = 8 * (unsigned)shape->size;
	uint64_t bits = (uint64_t)number->whole;
	bits = width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
	if (p->radix == 16)
		ws_out_printf(p->out, "0x%" PRIx64, bits);
	else
		ws_out_printf(p->out, bits ? "0%" PRIo64 : "%" PRIo64, bits);
}

static void print_scalar(struct printer *p, const struct ws_vtype *type,
			 const struct wsi_type_shape *shape, const uint8_t *bytes, uint32_t bit_off,
			 uint32_t bit_size)
{
	struct ws_number number;
	if (p->left == 0 || !wsi_number_of(shape, bytes, bit_off, bit_size, &number)) {
		ws_out_text(p->out, p->left == 0 ? "..." : "<a number of an unknown kind>");
		return;
	}
	p->left--;
	if (p->letter && print_lettered(p, shape, bytes, &number))
		return;
	if (shape->kind == WS_KIND_POINTER)
		print_pointer(p, shape, (uint64_t)number.whole);
	else if (shape->kind == WS_KIND_ENUM)
		print_enum(p, type, shape, &number);
	else if (number.is_float)
		print_float_value(p, shape, bytes, &number);
	else if (shape->encoding == WS_ENCODING_BOOL && (uint64_t)number.whole <= 1)
		ws_out_text(p->out, number.whole ? "true" : "false");
	else if (p->radix)
		print_in_radix(p, shape, &number);
	else if (number.is_unsigned)
		ws_out_printf(p->out, "%" PRIu64, (uint64_t)number.whole);
	else
		ws_out_printf(p->out, "%" PRId64, number.whole);
	if (is_char(shape) && !p->letter && !p->radix) {
		ws_out_text(p->out, " '");
		print_char(p->out, (uint8_t)number.whole, '\'');
		ws_out_text(p->out, "'");
	}
}

/* ---- what has parts ---- */

static bool is_string(const struct printer *p, const struct wsi_type_shape *element)
{
	return is_char(element) && (p->letter == 0 || p->letter == 's');
}

static void print_array(struct printer *p, const struct wsi_type_shape *shape, const uint8_t *bytes)
{
	struct wsi_type_shape element;
	if (wsi_shape(&shape->target, &element, NULL) != WS_OK || element.size == 0 ||
	    element.size == WS_SIZE_UNKNOWN || shape->size > MAX_BYTES) {
		ws_out_text(p->out, "{...}");
		return;
	}
	uint64_t n = shape->size / element.size;
	if (is_string(p, &element)) {
		bool cut = n > p->elements;
		n = cut ? p->elements : n;
		n -= n && !cut && bytes[n - 1] == '\0';
		print_string(p, bytes, (size_t)n, cut);
		return;
	}
	ws_out_text(p->out, "{");
	uint64_t i = 0;
	for (unsigned printed = 0; i < n && printed < p->elements && p->left; printed++) {
		const uint8_t *at = bytes + i * element.size;
		uint64_t same = 1;
		while (i + same < n &&
		       memcmp(at, at + same * element.size, (size_t)element.size) == 0)
			same++;
		if (i > 0)
			ws_out_text(p->out, ", ");
		if (p->has_indexes)
			ws_out_printf(p->out, "[%" PRIu64 "] = ", i);
		print_bytes(p, &shape->target, at, 0, 0);
		if (same >= p->repeats) {
			ws_out_printf(p->out, " <repeats %" PRIu64 " times>", same);
			i += same;
			printed += p->repeats - 1;
		} else {
			i++;
		}
	}
	ws_out_text(p->out, i < n ? "...}" : "}");
}

/* Between members: a blank, or where the next line begins. */
static void print_member_gap(struct printer *p, bool first, unsigned level)
{
	if (!p->is_pretty) {
		ws_out_text(p->out, first ? "" : " ");
		return;
	}
	ws_out_text(p->out, "\n");
	for (unsigned i = 0; i < level; i++)
		ws_out_text(p->out, "  ");
}

static void print_member_values(struct printer *p, const struct ws_vtype *type,
				const struct wsi_type_shape *shape, const uint8_t *bytes)
{
	wsi_scoped_free struct wsi_type_member *members =
		wsi_zalloc_array(WSI_MAX_MEMBERS, sizeof *members);
	size_t n = 0;
	if (!members || wsi_members(shape, type, members, WSI_MAX_MEMBERS, &n, NULL) != WS_OK ||
	    n > WSI_MAX_MEMBERS) {
		ws_out_text(p->out, "{...}");
		return;
	}
	ws_out_text(p->out, "{");
	for (size_t i = 0; i < n; i++) {
		const struct wsi_type_member *member = &members[i];
		struct wsi_type_shape part;
		ws_out_text(p->out, i ? "," : "");
		print_member_gap(p, i == 0, p->depth);
		enum ws_status st = wsi_shape(&member->type, &part, NULL);
		if (member->is_base) {
			ws_out_text(p->out, "<");
			ws_out_escaped(p->out, st == WS_OK ? part.name : ws_str_of("?"));
			ws_out_text(p->out, "> = ");
		} else if (member->name.len) {
			ws_out_escaped(p->out, member->name);
			ws_out_text(p->out, " = ");
		}
		if (st != WS_OK || part.size > shape->size ||
		    member->offset > shape->size - part.size)
			ws_out_text(p->out, "<damaged debug information>");
		else
			print_bytes(p, &member->type, bytes + member->offset, member->bit_off,
				    member->bit_size);
	}
	if (n)
		print_member_gap(p, true, p->depth - 1);
	ws_out_text(p->out, n ? "}" : "<No data fields>}");
}

static void print_reference(struct printer *p, const struct wsi_type_shape *shape,
			    const uint8_t *bytes)
{
	const struct ws_value to = {
		.kind = WS_VALUE_MEMORY,
		.type = shape->target,
		.at = wsi_address(p->vars, shape->space, wsi_load_u64(bytes)),
	};
	ws_out_printf(p->out, "@0x%" PRIx64 ": ", wsi_load_u64(bytes));
	const struct ws_value_format format = { .letter = p->letter, .is_flat = !p->is_pretty };
	(void)ws_vars_print(p->vars, &to, format, p->out);
}

/* The bytes of the type are there. */
static void print_bytes(struct printer *p, const struct ws_vtype *type, const uint8_t *bytes,
			uint32_t bit_off, uint32_t bit_size)
{
	struct wsi_type_shape shape;
	if (p->depth == MAX_DEPTH || wsi_shape(type, &shape, NULL) != WS_OK) {
		ws_out_text(p->out, "{...}");
		return;
	}
	p->depth++;
	if (wsi_vars_is_scalar(&shape))
		print_scalar(p, type, &shape, bytes, bit_off, bit_size);
	else if (shape.kind == WS_KIND_ARRAY)
		print_array(p, &shape, bytes);
	else if (shape.kind == WS_KIND_STRUCT || shape.kind == WS_KIND_UNION)
		print_member_values(p, type, &shape, bytes);
	else if (shape.kind == WS_KIND_REFERENCE || shape.kind == WS_KIND_RVALUE_REFERENCE)
		ws_out_printf(p->out, "@0x%" PRIx64, wsi_load_u64(bytes));
	else
		ws_out_text(p->out, shape.kind == WS_KIND_VOID ? "void" : "{...}");
	p->depth--;
}

/* Before a pointer that is printed alone: "(@global int *) ". */
static void print_pointer_type(struct printer *p, const struct ws_vtype *type)
{
	char text[512];
	ws_vars_spell_spaces(p->vars, type, text, sizeof text);
	ws_out_text(p->out, "(");
	ws_out_escaped(p->out, ws_str_of(text));
	ws_out_text(p->out, ") ");
}

enum ws_status ws_vars_print(struct ws_vars *vars, const struct ws_value *value,
			     struct ws_value_format format, struct ws_out *out)
{
	const struct ws_value_style *style = &vars->style;
	struct printer p = {
		.vars = vars,
		.out = out,
		.letter = format.letter,
		.elements = style->elements ? style->elements : ELEMENTS,
		.repeats = style->repeats ? style->repeats : REPEATS,
		.is_pretty = style->is_pretty && !format.is_flat,
		.has_indexes = style->has_indexes,
		.radix = style->radix,
		.left = MAX_ELEMENTS,
	};
	struct wsi_type_shape shape;
	struct ws_error err = { 0 };
	p.elements = p.elements < MAX_ELEMENTS ? p.elements : MAX_ELEMENTS;
	if (*ws_value_missing_text(value)) {
		ws_out_printf(out, "%s", ws_value_missing_text(value));
		return value->kind == WS_VALUE_MISSING ? value->status : WS_ABSENT;
	}
	enum ws_status st = wsi_shape(&value->type, &shape, &err);
	if (st == WS_OK && shape.kind != WS_KIND_VOID && shape.kind != WS_KIND_FUNCTION &&
	    (shape.size == WS_SIZE_UNKNOWN || shape.size > MAX_BYTES))
		st = wsi_fail(&err, WS_LIMIT, WS_NO_OFFSET, "its size is not known, or too large");
	size_t size = st == WS_OK && shape.size != WS_SIZE_UNKNOWN ? (size_t)shape.size : 0;
	wsi_scoped_free uint8_t *bytes = wsi_zalloc(size + 8);
	if (st == WS_OK && !bytes)
		st = wsi_fail(&err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	if (st == WS_OK && size && shape.kind != WS_KIND_VOID && shape.kind != WS_KIND_FUNCTION)
		st = wsi_value_read(vars, value, 0, bytes, size, &err);
	if (st != WS_OK) {
		ws_out_printf(out, "<%s>", err.message);
	} else if (shape.kind == WS_KIND_FUNCTION && value->kind == WS_VALUE_MEMORY) {
		char text[512];
		ws_vars_spell(vars, &value->type, text, sizeof text);
		ws_out_text(out, "{");
		ws_out_escaped(out, ws_str_of(text));
		ws_out_printf(out, "} 0x%" PRIx64, value->at.address);
		print_symbol(&p, value->at.address);
	} else if (shape.kind == WS_KIND_REFERENCE || shape.kind == WS_KIND_RVALUE_REFERENCE) {
		if (format.is_whole)
			print_pointer_type(&p, &value->type);
		print_reference(&p, &shape, bytes);
	} else {
		if (format.is_whole && shape.kind == WS_KIND_POINTER && !format.letter)
			print_pointer_type(&p, &value->type);
		print_bytes(&p, &value->type, bytes, value->bit_off, value->bit_size);
	}
	return st;
}
