/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions, by descent: C's operators with their precedence, and of gdb `a@n`. Slices are those
 * of other debuggers: `a[first:end]`. What is read has a depth; nothing else limits it but the
 * length of the text.
 */
#include "vars/parse.h"

#include <stdlib.h>

enum { MAX_DEPTH = 100 };

struct ws_value wsi_parse_fail(struct wsi_parser *p, const char *format, ...)
{
	char text[160];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (p->status == WS_OK)
		p->status = wsi_fail(&p->err, WS_ARGUMENT, WS_NO_OFFSET, "%s", text);
	return wsi_value_int(0);
}

struct ws_value wsi_parse_checked(struct wsi_parser *p, enum ws_status st,
				  const struct ws_value *value, const struct ws_error *err)
{
	if (st == WS_OK && p->status == WS_OK)
		return *value;
	if (p->status == WS_OK && !p->idle) {
		p->status = st;
		p->err = *err;
	}
	return wsi_value_int(0);
}

/* A number; 0 of what is only read. */
static enum ws_status value_number_of(struct wsi_parser *p, const struct ws_value *value,
				      struct ws_number *ret_number, struct ws_error *err)
{
	*ret_number = (struct ws_number){ 0 };
	return p->status != WS_OK || p->idle ? p->status
					     : ws_vars_number(p->vars, value, ret_number, err);
}

static void skip(struct wsi_parser *p)
{
	p->at += strspn(p->at, " \t");
}

bool wsi_parse_take(struct wsi_parser *p, const char *text)
{
	size_t n = strlen(text);
	skip(p);
	if (strncmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* ---- names ---- */

static struct ws_value dim3_value(struct ws_dim3 dim)
{
	struct ws_value value = { .kind = WS_VALUE_BYTES, .type = wsi_c_type(WSI_C_DIM3) };
	wsi_store_u32(value.bytes, dim.x);
	wsi_store_u32(value.bytes + 4, dim.y);
	wsi_store_u32(value.bytes + 8, dim.z);
	return value;
}

/* What CUDA gives each thread; false: the name is none of it. */
static bool builtin(struct wsi_parser *p, struct ws_str name, struct ws_value *ret_value)
{
	const struct ws_focus *focus = &p->vars->focus;
	struct ws_block block = { 0 };
	struct ws_grid grid = { 0 };
	const struct {
		const char *name;
		const struct ws_dim3 *dim;
	} known[] = {
		{ "threadIdx", &p->vars->lane.thread }, { "blockIdx", &block.idx },
		{ "blockDim", &grid.block_dim },        { "gridDim", &grid.grid_dim },
		{ "clusterIdx", &block.cluster_idx },   { "clusterDim", &block.cluster_dim },
	};
	if (ws_str_equal(name, ws_str_of("warpSize"))) {
		*ret_value = wsi_value_int(WS_MAX_LANES);
		return true;
	}
	for (size_t i = 0; i < WSI_COUNT(known); i++) {
		if (!ws_str_equal(name, ws_str_of(known[i].name)))
			continue;
		bool ok =
			p->vars->has_thread &&
			ws_target_block(p->vars->target, focus->block_index, &block, NULL) ==
				WS_OK &&
			(focus->grid_index == WS_NONE ||
			 ws_target_grid(p->vars->target, focus->grid_index, &grid, NULL) == WS_OK);
		*ret_value = ok || p->idle ? dim3_value(*known[i].dim)
					   : wsi_parse_fail(p, "the thread cannot be read");
		ret_value->source = wsi_record_dim(p->vars, (uint32_t)i);
		return true;
	}
	return false;
}

static const struct ws_dwarf *parser_dwarf_of(struct wsi_parser *p)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	return wsi_vars_dwarf(p->vars, &dwarf, &function, NULL) == WS_OK ? dwarf : NULL;
}

/* "index", "ns::index", "kernel::index", "'file.cu'::index", "'tiles<4>'::index", "::index" */
struct name {
	struct ws_str scope; /* what is before the last "::"; empty: nothing */
	struct ws_str last;
	struct ws_str whole; /* of both */
	bool is_global;      /* it begins with "::" */
	bool is_quoted;      /* its scope is */
};

/* Those of an enumeration in a scope have mangled names: "_ZN4Mode2ONE" of "Mode::ON". */
static struct ws_str mangled(const struct name *name, char text[2 * WSI_MAX_NAME])
{
	const char *at = name->whole.ptr, *end = at + name->whole.len;
	size_t n = (size_t)snprintf(text, 2 * WSI_MAX_NAME, "_ZN");
	if (!name->scope.len || name->whole.len > WSI_MAX_NAME)
		return name->last;
	while (at < end && wsi_is_word(*at)) {
		const struct ws_str word = wsi_word_at(at);
		n += (size_t)snprintf(text + n, 2 * WSI_MAX_NAME - n, "%zu%.*s", word.len,
				      (int)word.len, word.ptr);
		if ((size_t)(end - at) < word.len + 2)
			break;
		at += word.len + 2;
	}
	n += (size_t)snprintf(text + n, 2 * WSI_MAX_NAME - n, "E");
	return (struct ws_str){ text, n };
}

static bool enumerator(struct wsi_parser *p, const struct name *name, struct ws_value *ret_value)
{
	const struct ws_dwarf *dwarf = parser_dwarf_of(p);
	const struct ws_dwarf_named *named;
	char text[2 * WSI_MAX_NAME];
	struct ws_number number = wsi_whole(0);
	if (!dwarf ||
	    (ws_dwarf_find_named(dwarf, WS_NAMED_ENUMERATOR, mangled(name, text), &named, NULL) !=
		     WS_OK &&
	     ws_dwarf_find_named(dwarf, WS_NAMED_ENUMERATOR, name->last, &named, NULL) != WS_OK) ||
	    ws_dwarf_enumerator_value(dwarf, named->info_off, &number.whole, NULL) != WS_OK)
		return false;
	const struct ws_vtype type = wsi_vars_dwarf_vtype(dwarf, named->type);
	*ret_value = named->type == WS_TYPE_VOID ? wsi_value_int(number.whole)
						 : wsi_value_number(&type, &number);
	return true;
}

/* A name with its scopes, of which debug information has the last part only. */
static struct ws_str name_take(struct wsi_parser *p)
{
	struct ws_str name = wsi_word_at(p->at);
	p->at += name.len;
	while (p->at[0] == ':' && p->at[1] == ':' && wsi_is_word(p->at[2])) {
		p->at += 2;
		name = wsi_word_at(p->at);
		p->at += name.len;
	}
	return name;
}

/* A name in quotes alone: its scope is what is before the last "::" of its part that is a name. */
static void name_split(struct name *name)
{
	const struct ws_str whole = name->last;
	const size_t n = wsi_min_u64(whole.len, WSI_MAX_NAME);
	for (size_t i = 0; i + 2 < n && whole.ptr[i] != '(' && whole.ptr[i] != '<'; i++) {
		if (whole.ptr[i] != ':' || whole.ptr[i + 1] != ':')
			continue;
		name->scope = (struct ws_str){ whole.ptr, i };
		name->last = (struct ws_str){ whole.ptr + i + 2, whole.len - i - 2 };
	}
}

static struct name name_read(struct wsi_parser *p)
{
	struct name name = { .is_global = wsi_parse_take(p, "::") };
	const char *start = p->at, *end = *start == '\'' ? strchr(start + 1, '\'') : NULL;
	if (end) {
		name.last = (struct ws_str){ start + 1, (size_t)(end - start) - 1 };
		p->at = end + 1;
		name.is_quoted = p->at[0] == ':' && p->at[1] == ':' && wsi_is_word(p->at[2]);
		name.whole = name.last;
		name.scope = name.is_quoted ? name.last : name.scope;
		if (!name.is_quoted)
			name_split(&name);
		p->at += name.is_quoted ? 2 : 0;
	}
	if (!end || name.is_quoted)
		name.last = name_take(p);
	if (!end && name.last.ptr > start)
		name.scope = (struct ws_str){ start, (size_t)(name.last.ptr - start) - 2 };
	if (!end || name.is_quoted)
		name.whole = (struct ws_str){ start, (size_t)(p->at - start) };
	return name;
}

/* A member of the object that a method is of. */
static bool own_member(struct wsi_parser *p, struct ws_str name, struct ws_value *ret_value)
{
	struct ws_value this;
	return wsi_vars_variable_find(p->vars, ws_str_of("this"), false, &this, NULL) == WS_OK &&
	       wsi_value_member(p->vars, &this, name, ret_value, NULL) == WS_OK;
}

static struct ws_value nothing_in(struct wsi_parser *p, const struct name *name)
{
	return wsi_parse_fail(p, "there is no '%.*s' in '%.*s'",
			      (int)wsi_min_u64(name->last.len, 60), name->last.ptr,
			      (int)wsi_min_u64(name->scope.len, 60), name->scope.ptr);
}

/* What a name with a scope is; its function, file or class comes first. */
static struct ws_value scoped_value(struct wsi_parser *p, const struct name *name)
{
	struct ws_value value;
	struct ws_vtype type;
	struct ws_error err = { 0 };
	const bool is_file = name->is_quoted && (memchr(name->scope.ptr, '.', name->scope.len) ||
						 memchr(name->scope.ptr, '/', name->scope.len));
	if (is_file && wsi_vars_file_variable(p->vars, name->scope, name->last, &value) == WS_OK)
		return value;
	if (is_file)
		return nothing_in(p, name);
	const enum ws_status st =
		wsi_function_variable(p->vars, name->scope, name->last, &value, &err);
	if (st == WS_OK || wsi_vars_variable_find(p->vars, name->last, true, &value, NULL) == WS_OK)
		return value;
	/* a constructor is called as its class */
	if ((st == WS_ABSENT || wsi_type_find(parser_dwarf_of(p), name->scope, &type)) &&
	    own_member(p, name->last, &value))
		return value;
	if (enumerator(p, name, &value) ||
	    wsi_function_find(p->vars, name->is_quoted ? name->last : name->whole, &value))
		return value;
	if (st != WS_ABSENT)
		return wsi_parse_checked(p, st, &value, &err);
	return nothing_in(p, name);
}

static struct ws_value name_value(struct wsi_parser *p)
{
	struct ws_value value;
	struct ws_error err = { 0 };
	const struct name name = name_read(p);
	if (name.scope.len)
		return scoped_value(p, &name);
	if (!name.is_global && builtin(p, name.last, &value))
		return value;
	enum ws_status st =
		wsi_vars_variable_find(p->vars, name.last, name.is_global, &value, &err);
	if (st == WS_OK)
		return value;
	if (!name.is_global && own_member(p, name.last, &value))
		return value;
	if (enumerator(p, &name, &value) || wsi_function_find(p->vars, name.last, &value))
		return value;
	if (!p->vars->has_thread && !p->vars->has_code)
		return wsi_parse_fail(p, "there is no thread");
	if (st != WS_ABSENT)
		return wsi_parse_checked(p, st, &value, &err);
	return wsi_parse_fail(
		p, "No symbol \"%.*s\" in current context%s", (int)wsi_min_u64(name.last.len, 100),
		name.last.ptr,
		parser_dwarf_of(p) ? "" : ": the code was not compiled with -G; registers are $R3");
}

/* ---- types ---- */

static bool space_take(struct wsi_parser *p, enum ws_space *ret_space)
{
	if (!wsi_parse_take(p, "@"))
		return false;
	struct ws_str word = wsi_word_at(p->at);
	p->at += word.len;
	if (wsi_space_find(word, ret_space))
		return true;
	wsi_parse_fail(p, "there is no space '@%.*s'", (int)wsi_min_u64(word.len, 60), word.ptr);
	return true;
}

static void qualifiers(struct wsi_parser *p)
{
	static const char *const words[] = {
		"const", "volatile", "struct", "class", "union", "enum"
	};
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		skip(p);
		if (!ws_str_equal(wsi_word_at(p->at), ws_str_of(words[i])))
			continue;
		p->at += strlen(words[i]);
		i = SIZE_MAX; /* from the first again */
	}
}

/* The type before its pointers. */
static bool base_type(struct wsi_parser *p, struct ws_vtype *ret_type)
{
	char name[WSI_MAX_NAME];
	const char *end;
	size_t n = wsi_c_words(p->at, name, &end);
	bool found = n && wsi_c_type_find((struct ws_str){ name, n }, ret_type);
	if (!found) {
		n = wsi_template_name(p->at, name, &end);
		found = n &&
			(wsi_type_find(parser_dwarf_of(p), (struct ws_str){ name, n }, ret_type) ||
			 wsi_c_type_find((struct ws_str){ name, n }, ret_type));
	}
	if (!found) { /* debug information has no namespaces */
		const char *start = p->at;
		struct ws_str last = name_take(p);
		end = p->at;
		p->at = start;
		found = last.ptr != start && wsi_type_find(parser_dwarf_of(p), last, ret_type);
	}
	if (found)
		p->at = end;
	return found;
}

/* "[3][4]" of a type, if it is next; false: no dimensions. */
static bool dimensions_parse(struct wsi_parser *p, struct ws_vtype *type)
{
	uint64_t count[6];
	size_t n = 0;
	while (wsi_parse_take(p, "[")) {
		char *end;
		skip(p);
		if (n == WSI_COUNT(count) || *p->at < '0' || *p->at > '9')
			return false;
		count[n] = strtoull(p->at, &end, 0);
		p->at = end;
		if (count[n] == 0 || count[n] > UINT32_MAX || !wsi_parse_take(p, "]"))
			return false;
		n++;
	}
	while (n > 0) /* the last is the innermost */
		if (!wsi_vtype_repeat(type, count[--n]))
			return false;
	return true;
}

/* The space that the next pointer leads to. */
struct spaced {
	bool is_said;
	enum ws_space space;
};

/* The outer pointers are those of values. */
static bool point_spaced(struct ws_vtype *type, struct spaced *to)
{
	const bool good =
		to->is_said ? wsi_vtype_point(type, to->space) : wsi_vtype_point_bare(type);
	to->is_said = false;
	return good;
}

/* "(*)[3]", "[3]" behind a type: what it is made of comes last. */
static bool declarator_take(struct wsi_parser *p, struct ws_vtype *type, struct spaced *to)
{
	const char *start = p->at;
	unsigned pointers = 0;
	if (wsi_parse_take(p, "(")) {
		while (wsi_parse_take(p, "*"))
			pointers++;
		if (pointers == 0 || !wsi_parse_take(p, ")")) {
			p->at = start;
			return true;
		}
	}
	bool good = dimensions_parse(p, type);
	for (; good && pointers > 0; pointers--)
		good = point_spaced(type, to);
	return good;
}

/* "[@SPACE] TYPE [*]..." and what closes it, a parenthesis or a brace. `*ret_to`: the space of what
 * has that type, as far as it is said. False, and nothing taken: no type. */
static bool spaced_type_take(struct wsi_parser *p, const char *closing, struct ws_vtype *ret_type,
			     struct spaced *ret_to)
{
	const char *start = p->at;
	enum ws_space later;
	struct spaced to = { .space = WS_SPACE_GENERIC };
	struct ws_vtype type;
	const bool spaced = to.is_said = space_take(p, &to.space);
	qualifiers(p);
	bool ok = p->status == WS_OK && base_type(p, &type);
	while (ok) {
		qualifiers(p);
		if (space_take(p, &later)) {
			to.space = to.is_said ? to.space : later;
			to.is_said = true;
		} else if (wsi_parse_take(p, "*")) {
			ok = point_spaced(&type, &to);
		} else {
			break;
		}
	}
	ok = ok && declarator_take(p, &type, &to);
	if (!ok || !wsi_parse_take(p, closing) || p->status != WS_OK) {
		if (spaced && p->status == WS_OK)
			wsi_parse_fail(p, "a type is expected at '%.40s'", p->at);
		p->at = start;
		return false;
	}
	*ret_type = type;
	*ret_to = to;
	return true;
}

static bool type_take(struct wsi_parser *p, struct ws_vtype *ret_type)
{
	struct spaced to;
	return spaced_type_take(p, ")", ret_type, &to);
}

/* ---- operators ---- */

static struct ws_value list(struct wsi_parser *p);
static struct ws_value parse_binary(struct wsi_parser *p, unsigned level);
static struct ws_value unary(struct wsi_parser *p);

static struct ws_value number_value(struct wsi_parser *p)
{
	char *end;
	size_t n = strspn(p->at, "0123456789abcdefxABCDEFX.");
	bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
	if (!hex && (memchr(p->at, '.', n) || memchr(p->at, 'e', n))) {
		struct ws_number number = { .is_float = true, .real = strtod(p->at, &end) };
		struct ws_vtype type = wsi_c_type(*end == 'f' ? WSI_C_FLOAT : WSI_C_DOUBLE);
		p->at = end + (*end == 'f');
		return wsi_value_number(&type, &number);
	}
	const bool is_decimal = *p->at != '0';
	uint64_t value = strtoull(p->at, &end, 0);
	if (end == p->at)
		return wsi_parse_fail(p, "A syntax error in expression, near `%.40s'", p->at);
	size_t suffix = strspn(end, "uUlL"); /* only this much of the text is looked at */
	bool no_sign = memchr(end, 'u', suffix) || memchr(end, 'U', suffix);
	bool is_long = memchr(end, 'l', suffix) || memchr(end, 'L', suffix);
	p->at = end + suffix;
	/* as in C, one that is not decimal may have no sign */
	no_sign |= !is_decimal && !is_long && value > INT32_MAX && value <= UINT32_MAX;
	is_long |= value > (no_sign ? UINT32_MAX : INT32_MAX);
	struct ws_number whole = wsi_whole((int64_t)value);
	struct ws_vtype type =
		wsi_c_type(no_sign || value > INT64_MAX ? is_long ? WSI_C_ULONG : WSI_C_UINT
			   : is_long                    ? WSI_C_LONG
							: WSI_C_INT);
	return wsi_value_number(&type, &whole);
}

/* The character that is next, or that an escape of C stands for. */
static char character_take(struct wsi_parser *p)
{
	static const char names[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
	const char *name;
	char *end;
	if (p->at[0] != '\\' || !p->at[1])
		return *p->at ? *p->at++ : '\0';
	p->at++;
	const size_t n_octal = strspn(p->at, "01234567");
	if (n_octal > 0) {
		unsigned value = 0;
		for (size_t i = 0; i < n_octal && i < 3; i++)
			value = 8 * value + (unsigned)(*p->at++ - '0');
		return (char)value;
	}
	if (p->at[0] == 'x' && strspn(p->at + 1, "0123456789abcdefABCDEF")) {
		const unsigned long value = strtoul(p->at + 1, &end, 16);
		p->at = end;
		return (char)value;
	}
	name = strchr(names, *p->at);
	const char c = name ? values[name - names] : *p->at;
	p->at++;
	return c;
}

static struct ws_value letter_value(struct wsi_parser *p)
{
	struct ws_number number = wsi_whole((signed char)character_take(p));
	struct ws_vtype type = wsi_c_type(WSI_C_CHAR);
	if (!wsi_parse_take(p, "'"))
		return wsi_parse_fail(p, "a closing ' is missing");
	return wsi_value_number(&type, &number);
}

/* What is between brackets: a number, or two with a colon. */
static struct ws_value index_value(struct wsi_parser *p, const struct ws_value *of)
{
	struct ws_error err;
	struct ws_value value = *of, index = parse_binary(p, 0), end;
	struct ws_number first, last;
	enum ws_status st = value_number_of(p, &index, &first, &err);
	uint64_t n = 0;
	if (st == WS_OK && wsi_parse_take(p, ":")) {
		end = parse_binary(p, 0);
		st = value_number_of(p, &end, &last, &err);
		n = (uint64_t)last.whole - (uint64_t)first.whole;
		if (st == WS_OK && !p->idle && last.whole <= first.whole)
			return wsi_parse_fail(
				p, "a slice is [FIRST:END], with an end behind the first");
	}
	if (st == WS_OK && !wsi_parse_take(p, "]"))
		return wsi_parse_fail(p, "']' is missing");
	if (st == WS_OK)
		st = wsi_elements(p->vars, of, first.whole, n, &value, &err);
	return wsi_parse_checked(p, st, &value, &err);
}

/* A short text: an array of characters. */
static struct ws_value text_value(struct wsi_parser *p)
{
	char text[sizeof((struct ws_value *)NULL)->bytes - 1];
	size_t n = 0;
	for (; *p->at && *p->at != '"'; n++) {
		if (n == sizeof text)
			return wsi_parse_fail(p, "a text has at most %zu characters", sizeof text);
		text[n] = character_take(p);
	}
	return wsi_parse_take(p, "\"") ? ws_value_text((struct ws_str){ text, n })
				       : wsi_parse_fail(p, "a closing \" is missing");
}

static struct ws_value primary(struct wsi_parser *p)
{
	struct ws_value value;
	if (wsi_parse_take(p, "(")) {
		value = list(p);
		return wsi_parse_take(p, ")") ? value : wsi_parse_fail(p, "')' is missing");
	}
	if (wsi_parse_take(p, "$"))
		return wsi_parse_dollar(p);
	/* a name of one letter needs no quotes */
	if (*p->at == '\'' &&
	    (p->at[1] == '\\' || (p->at[1] && p->at[2] == '\'') || !strchr(p->at + 1, '\''))) {
		p->at++;
		return letter_value(p);
	}
	if (*p->at == '\'' || strncmp(p->at, "::", 2) == 0)
		return name_value(p);
	if (wsi_parse_take(p, "\""))
		return text_value(p);
	if (wsi_is_word(*p->at) && !(*p->at >= '0' && *p->at <= '9'))
		return name_value(p);
	return number_value(p);
}

static struct ws_value postfix(struct wsi_parser *p)
{
	struct ws_value value = primary(p);
	struct ws_error err;
	while (p->status == WS_OK) {
		struct ws_value of = value;
		skip(p);
		if (wsi_parse_take(p, "[")) {
			value = index_value(p, &of);
		} else if (wsi_parse_take(p, "->") || (p->at[0] == '.' && wsi_parse_take(p, "."))) {
			skip(p);
			struct ws_str name = wsi_word_at(p->at);
			p->at += name.len;
			if (!name.len)
				return wsi_parse_fail(p, "the name of a member is expected");
			enum ws_status st = wsi_value_member(p->vars, &of, name, &value, &err);
			value = wsi_parse_checked(p, st, &value, &err);
		} else {
			break;
		}
	}
	return value;
}

static struct ws_value negated(struct wsi_parser *p, char sign, const struct ws_value *of)
{
	const struct ws_value zero = wsi_value_int(0), ones = wsi_value_int(-1);
	struct ws_value value = *of;
	struct ws_error err;
	struct ws_number number;
	struct wsi_type_shape shape;
	enum ws_status st = p->status == WS_OK ? wsi_follow(p->vars, &value, &err) : p->status;
	if (st == WS_OK)
		st = wsi_shape(&value.type, &shape, &err);
	if (st == WS_OK && sign == '-' && wsi_vars_is_float(&shape)) {
		st = value_number_of(p, of, &number, &err);
		number.real = -number.real; /* also of 0 */
		value = wsi_value_number(&of->type, &number);
	} else if (st == WS_OK) {
		st = wsi_binary(p->vars,
				sign == '-'   ? WSI_SUB
				: sign == '!' ? WSI_EQ
					      : WSI_XOR,
				sign == '~' ? &ones : &zero, of, &value, &err);
	}
	return wsi_parse_checked(p, st, &value, &err);
}

static struct ws_value size_value(struct wsi_parser *p)
{
	struct ws_vtype type;
	struct wsi_type_shape shape;
	struct ws_error err;
	struct ws_value value;
	const char *start = p->at;
	if (!wsi_parse_take(p, "(") || !type_take(p, &type)) {
		p->at = start;
		value = unary(p);
		type = value.type;
	}
	enum ws_status st = p->status == WS_OK ? wsi_shape(&type, &shape, &err) : p->status;
	struct ws_number number = wsi_whole(st == WS_OK ? (int64_t)shape.size : 0);
	struct ws_vtype size_type = wsi_c_type(WSI_C_ULONG);
	value = wsi_value_number(&size_type, &number);
	return wsi_parse_checked(p, st, &value, &err);
}

/* {TYPE} ADDRESS, behind its brace: what is there. */
static struct ws_value placed(struct wsi_parser *p)
{
	struct ws_value of, value = wsi_value_int(0);
	struct ws_vtype type;
	struct spaced to;
	struct wsi_type_shape shape;
	struct ws_error err;
	if (!spaced_type_take(p, "}", &type, &to))
		return wsi_parse_fail(p, "A syntax error in expression, near `%.40s'", p->at);
	of = unary(p);
	enum ws_status st = p->status;
	if (st == WS_OK && !to.is_said && wsi_shape(&of.type, &shape, NULL) == WS_OK &&
	    shape.kind == WS_KIND_POINTER)
		to = (struct spaced){ .is_said = true, .space = shape.space };
	if (st == WS_OK && !point_spaced(&type, &to))
		st = wsi_fail(&err, WS_LIMIT, WS_NO_OFFSET, "too many pointers within each other");
	if (st == WS_OK)
		st = wsi_cast(p->vars, &of, &type, &value, &err);
	if (st == WS_OK) {
		of = value;
		st = wsi_dereference(p->vars, &of, &value, &err);
	}
	return wsi_parse_checked(p, st, &value, &err);
}

static struct ws_value prefixed(struct wsi_parser *p)
{
	struct ws_value of, value = wsi_value_int(0);
	struct ws_vtype type;
	struct ws_error err;
	enum ws_status st;
	skip(p);
	const char first = *p->at;
	if (first == '-' || first == '!' || first == '~') {
		p->at++;
		of = unary(p);
		return negated(p, first, &of);
	}
	if (wsi_parse_take(p, "+"))
		return unary(p);
	if (wsi_parse_take(p, "{"))
		return placed(p);
	if (ws_str_equal(wsi_word_at(p->at), ws_str_of("sizeof"))) {
		p->at += strlen("sizeof");
		return size_value(p);
	}
	if (first == '*' || first == '&') {
		p->at++;
		of = unary(p);
		st = p->status != WS_OK ? p->status
		     : first == '*'     ? wsi_dereference(p->vars, &of, &value, &err)
					: wsi_address_of(p->vars, &of, &value, &err);
		return wsi_parse_checked(p, st, &value, &err);
	}
	const char *start = p->at;
	if (wsi_parse_take(p, "(")) {
		if (type_take(p, &type)) {
			of = unary(p);
			st = p->status == WS_OK ? wsi_cast(p->vars, &of, &type, &value, &err)
						: p->status;
			return wsi_parse_checked(p, st, &value, &err);
		}
		p->at = start;
	}
	return postfix(p);
}

static struct ws_value unary(struct wsi_parser *p)
{
	struct ws_value value = ++p->depth > MAX_DEPTH
					? wsi_parse_fail(p, "too many operators are nested")
					: prefixed(p);
	p->depth--;
	return value;
}

static const struct {
	const char *text;
	unsigned level;
	enum wsi_operation operation;
} operators[] = {
	{ "||", 0, WSI_OR },    { "&&", 1, WSI_AND }, { "==", 5, WSI_EQ },   { "!=", 5, WSI_NE },
	{ "<=", 6, WSI_LE },    { ">=", 6, WSI_GE },  { "<<", 7, WSI_SHL },  { ">>", 7, WSI_SHR },
	{ "<", 6, WSI_LT },     { ">", 6, WSI_GT },   { "|", 2, WSI_BITOR }, { "^", 3, WSI_XOR },
	{ "&", 4, WSI_BITAND }, { "+", 8, WSI_ADD },  { "-", 8, WSI_SUB },   { "*", 9, WSI_MUL },
	{ "/", 9, WSI_DIV },    { "%", 9, WSI_MOD },
};

enum { REPEAT_LEVEL = 10 };

/* VALUE@N: so many of them, one behind the other. */
static struct ws_value repeated_value(struct wsi_parser *p)
{
	struct ws_value value = unary(p), one;
	struct ws_number n;
	struct ws_error err;
	while (p->status == WS_OK && wsi_parse_take(p, "@")) {
		struct ws_value count = unary(p), of = value;
		enum ws_status st = value_number_of(p, &count, &n, &err);
		if (st == WS_OK && !p->idle && of.kind != WS_VALUE_MEMORY)
			return wsi_parse_fail(p, "Only values in memory can be extended with '@'");
		if (st == WS_OK && !p->idle && n.whole <= 0)
			return wsi_parse_fail(p, "Invalid number %" PRId64 " of repetitions",
					      n.whole);
		if (st == WS_OK)
			st = wsi_address_of(p->vars, &of, &one, &err);
		if (st == WS_OK)
			st = wsi_elements(p->vars, &one, 0, (uint64_t)n.whole, &value, &err);
		value = wsi_parse_checked(p, st, &value, &err);
	}
	return value;
}

/* The operator of a level that is next; WSI_COUNT(operators): none. */
static size_t operator_next(struct wsi_parser *p, unsigned level)
{
	skip(p);
	for (size_t i = 0; i < WSI_COUNT(operators); i++)
		if (strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0)
			return operators[i].level == level ? i : WSI_COUNT(operators);
	return WSI_COUNT(operators);
}

/* Whether a value is true; of one that is not computed, or failed, it is not asked. */
static bool is_value_true(struct wsi_parser *p, const struct ws_value *value)
{
	struct ws_number number;
	struct ws_error err;
	(void)wsi_parse_checked(p, value_number_of(p, value, &number, &err), value, &err);
	return number.is_float ? number.real != 0 : number.whole != 0;
}

/* The right side of an operator, that && and || compute only if it matters. What is recorded is for
 * other threads: there it may. */
static struct ws_value right_side(struct wsi_parser *p, size_t i, const struct ws_value *left)
{
	enum wsi_operation operation = operators[i].operation;
	if (p->vars->record)
		return parse_binary(p, operators[i].level + 1);
	bool known = (operation == WSI_AND && !is_value_true(p, left)) ||
		     (operation == WSI_OR && is_value_true(p, left));
	p->idle += known;
	struct ws_value right = parse_binary(p, operators[i].level + 1);
	p->idle -= known;
	return known ? wsi_value_int(0) : right;
}

static struct ws_value parse_binary(struct wsi_parser *p, unsigned level)
{
	struct ws_error err;
	if (level == REPEAT_LEVEL)
		return repeated_value(p);
	struct ws_value value = parse_binary(p, level + 1);
	for (size_t i;
	     p->status == WS_OK && (i = operator_next(p, level)) < WSI_COUNT(operators);) {
		p->at += strlen(operators[i].text);
		struct ws_value left = value, right = right_side(p, i, &left);
		enum ws_status st = p->status == WS_OK ? wsi_binary(p->vars, operators[i].operation,
								    &left, &right, &value, &err)
						       : p->status;
		value = wsi_parse_checked(p, st, &value, &err);
	}
	return value;
}

struct ws_value wsi_parse_expression(struct wsi_parser *p)
{
	if (++p->depth > MAX_DEPTH) {
		p->depth--;
		return wsi_parse_fail(p, "too many operators are nested");
	}
	struct ws_value value = parse_binary(p, 0);
	if (p->status == WS_OK && wsi_parse_take(p, "?")) {
		bool first = is_value_true(p, &value);
		p->idle += !first;
		struct ws_value a = wsi_parse_expression(p);
		p->idle -= !first;
		if (p->status == WS_OK && !wsi_parse_take(p, ":"))
			wsi_parse_fail(p, "':' is expected behind the first value of a condition");
		p->idle += first;
		struct ws_value b = wsi_parse_expression(p);
		p->idle -= first;
		value = first ? a : b;
	}
	p->depth--;
	return value;
}

/* A, B: the last one. */
static struct ws_value list(struct wsi_parser *p)
{
	struct ws_value value = wsi_parse_expression(p);
	while (p->status == WS_OK && wsi_parse_take(p, ","))
		value = wsi_parse_expression(p);
	return value;
}

enum ws_status ws_vars_evaluate(struct ws_vars *vars, const char *text, struct ws_value *ret_value,
				struct ws_error *err)
{
	struct wsi_parser p = { .vars = vars, .at = text };
	struct ws_value value = list(&p);
	skip(&p);
	if (p.status == WS_OK && *p.at)
		wsi_parse_fail(&p, "A syntax error in expression, near `%.40s'", p.at);
	if (p.status == WS_OK)
		*ret_value = value;
	else if (err)
		*err = p.err;
	return p.status;
}

enum ws_status wsi_vars_check(struct ws_vars *vars, uint64_t pc, const char *text,
			      struct ws_error *err)
{
	struct wsi_parser p = { .vars = vars, .at = text, .idle = 1 };
	enum ws_status st = wsi_vars_look_at_code(vars, pc, err);
	if (st != WS_OK)
		return st;
	(void)list(&p);
	skip(&p);
	if (p.status == WS_OK && *p.at)
		wsi_parse_fail(&p, "A syntax error in expression, near `%.40s'", p.at);
	if (p.status != WS_OK && err)
		*err = p.err;
	st = ws_vars_look(vars, NULL, NULL);
	return p.status != WS_OK ? p.status : st;
}

enum ws_status ws_vars_type(struct ws_vars *vars, const char *text, struct ws_vtype *ret_type,
			    struct ws_error *err)
{
	struct ws_value value;
	size_t len = strlen(text);
	wsi_scoped_free char *closed = wsi_zalloc(len + 2);
	if (!closed)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an expression");
	memcpy(closed, text, len);
	closed[len] = ')';
	struct wsi_parser p = { .vars = vars, .at = closed };
	if (type_take(&p, ret_type) && !*p.at)
		return WS_OK;
	enum ws_status st = ws_vars_evaluate(vars, text, &value, err);
	if (st == WS_OK)
		*ret_type = value.type;
	return st;
}

void wsi_vars_names(struct ws_vars *vars, ws_vars_name_fn *find, void *user)
{
	vars->find_name = find;
	vars->names_user = user;
}
