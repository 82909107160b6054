/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of registers, coordinates and memory:
 *
 *   $R3 $UR4 $P0 $UP1 $B2   registers; R and UR are signed numbers of 32 bits
 *   $RD4                    R4 and R5 as a number of 64 bits
 *   $pc $errorpc            addresses
 *   threadIdx.x ...         also blockIdx, blockDim, gridDim
 *   *(TYPE *)A              memory at a generic address
 *   *(@SPACE TYPE *)A       in global, shared or local memory, or of the parameters
 *
 * with C's operators and their precedence, on numbers of 64 bits, or on real numbers.
 */
#include "debug/debug.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

struct parser {
	const struct debugger *d;
	const struct ws_focus *focus; /* NULL: there is no thread */
	const char *at;
	unsigned depth;
	bool failed;
	char *wrong;
};

static struct value whole(int64_t number)
{
	return (struct value){ .whole = number };
}

static struct value fail(struct parser *p, const char *format, ...) WS_PRINTF(2, 3);
static struct value fail(struct parser *p, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!p->failed)
		vsnprintf(p->wrong, 200, format, args);
	va_end(args);
	p->failed = true;
	return whole(0);
}

static void skip(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

/* Takes a text if it is next. */
static bool take(struct parser *p, const char *text)
{
	size_t n = strlen(text);
	skip(p);
	if (strncmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static size_t word_length(const char *at)
{
	size_t n = 0;
	while (is_word(at[n]))
		n++;
	return n;
}

/* ---- registers and coordinates ---- */

struct reg {
	const char *prefix;
	enum ws_reg_kind kind;
	bool is_pair;
};

/* The register that a word names; false: none. */
static bool reg_find(const char *word, size_t n, struct reg *ret, uint32_t *ret_number)
{
	static const struct reg regs[] = {
		{ "RD", WS_REG_R, true },       { "R", WS_REG_R, false },
		{ "URD", WS_REG_UR, true },     { "UR", WS_REG_UR, false },
		{ "UP", WS_REG_UP, false },     { "P", WS_REG_P, false },
		{ "B", WS_REG_BARRIER, false },
	};
	for (size_t i = 0; i < sizeof regs / sizeof regs[0]; i++) {
		size_t prefix = strlen(regs[i].prefix);
		char digits[8] = "";
		uint64_t number;
		if (n <= prefix || n - prefix >= sizeof digits ||
		    strncmp(word, regs[i].prefix, prefix) != 0)
			continue;
		memcpy(digits, word + prefix, n - prefix);
		if (digits[0] == '0' && digits[1] == 'x')
			return false;
		if (!cli_number(digits, &number) || number > 255)
			continue;
		*ret = regs[i];
		*ret_number = (uint32_t)number;
		return true;
	}
	return false;
}

static struct value reg_value(struct parser *p, const struct reg *reg, uint32_t number)
{
	uint32_t words[2] = { 0 }, n = 0, want = reg->is_pair ? 2 : 1;
	struct ws_error err;
	if (ws_target_registers(p->d->target, p->focus->warp_index, p->focus->lane, reg->kind,
				number, want, words, &n, &err) != WS_OK ||
	    n < want)
		return fail(p, "%s%" PRIu32 " is not there", reg->prefix, number);
	if (reg->is_pair)
		return whole((int64_t)((uint64_t)words[1] << 32 | words[0]));
	return whole(reg->kind == WS_REG_R || reg->kind == WS_REG_UR ? (int32_t)words[0]
								     : (int64_t)words[0]);
}

static struct value special(struct parser *p, const char *word, size_t n)
{
	struct ws_lane lane;
	struct ws_warp warp;
	if (ws_target_lane(p->d->target, p->focus->warp_index, p->focus->lane, &lane, NULL) !=
		    WS_OK ||
	    ws_target_warp(p->d->target, p->focus->warp_index, &warp, NULL) != WS_OK)
		return fail(p, "the thread cannot be read");
	if (n == 2 && memcmp(word, "pc", n) == 0)
		return whole((int64_t)lane.pc);
	if (n == 7 && memcmp(word, "errorpc", n) == 0)
		return warp.error_pc_valid ? whole((int64_t)warp.error_pc)
					   : fail(p, "there is no errorpc");
	return fail(p, "'$%.*s' is no register", (int)n, word);
}

/* The register behind a '$'. */
static struct value dollar(struct parser *p)
{
	size_t n = word_length(p->at);
	const char *word = p->at;
	struct reg reg;
	uint32_t number;
	p->at += n;
	if (!p->focus)
		return fail(p, "there is no thread");
	if (reg_find(word, n, &reg, &number))
		return reg_value(p, &reg, number);
	return special(p, word, n);
}

static struct value coordinate(struct parser *p, struct ws_dim3 dim)
{
	if (take(p, ".x"))
		return whole(dim.x);
	if (take(p, ".y"))
		return whole(dim.y);
	if (take(p, ".z"))
		return whole(dim.z);
	return fail(p, ".x, .y or .z is expected");
}

static struct value name(struct parser *p)
{
	size_t n = word_length(p->at);
	const char *word = p->at;
	struct ws_lane lane = { 0 };
	struct ws_block block = { 0 };
	struct ws_grid grid = { 0 };
	if (!p->focus)
		return fail(p, "there is no thread");
	bool ok = ws_target_lane(p->d->target, p->focus->warp_index, p->focus->lane, &lane, NULL) ==
			  WS_OK &&
		  ws_target_block(p->d->target, p->focus->block_index, &block, NULL) == WS_OK &&
		  ws_target_grid(p->d->target, p->focus->grid_index, &grid, NULL) == WS_OK;
	const struct {
		const char *name;
		struct ws_dim3 dim;
	} known[] = {
		{ "threadIdx", lane.thread },
		{ "blockIdx", block.idx },
		{ "blockDim", grid.block_dim },
		{ "gridDim", grid.grid_dim },
	};
	p->at += n;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, word, n) == 0)
			return ok ? coordinate(p, known[i].dim)
				  : fail(p, "the thread cannot be read");
	return fail(p, "'%.*s' is not known; registers are $R3, variables cannot be read yet",
		    (int)n, word);
}

/* ---- memory ---- */

struct pointer {
	enum ws_space space;
	const struct run_type *type;
};

/* "(@SPACE TYPE *)" behind a '*'. */
static bool pointer_parse(struct parser *p, struct pointer *ret)
{
	ret->space = WS_SPACE_GENERIC;
	if (!take(p, "("))
		return false;
	if (take(p, "@")) {
		size_t n = word_length(p->at);
		if (!cli_space(p->at, n, &ret->space))
			return false;
		p->at += n;
	}
	skip(p);
	size_t n = word_length(p->at);
	ret->type = run_type_find(p->at, n);
	p->at += n;
	return ret->type && take(p, "*") && take(p, ")");
}

static struct ws_address address_of(const struct parser *p, enum ws_space space, uint64_t address)
{
	return (struct ws_address){
		.space = space,
		.device_index = p->focus->device_index,
		.grid_index = p->focus->grid_index,
		.warp_index = p->focus->warp_index,
		.lane = p->focus->lane,
		.address = address,
	};
}

static struct value value_of(const struct run_type *type, const uint8_t bytes[8])
{
	struct value value = { .is_float = type->kind == 'f' };
	uint64_t bits = 0;
	float single;
	for (unsigned i = 0; i < type->bytes; i++)
		bits |= (uint64_t)bytes[i] << 8 * i;
	unsigned unused = 64 - 8 * type->bytes;
	value.whole = type->kind == 's' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
	if (value.is_float && type->bytes == 4) {
		memcpy(&single, bytes, sizeof single);
		value.real = (double)single;
	} else if (value.is_float) {
		memcpy(&value.real, bytes, sizeof value.real);
	}
	return value;
}

static struct value unary(struct parser *p);

static struct value memory(struct parser *p)
{
	struct pointer pointer;
	uint8_t bytes[8] = { 0 };
	size_t n;
	struct ws_error err;
	if (!pointer_parse(p, &pointer))
		return fail(p,
			    "(TYPE *) or (@SPACE TYPE *) is expected behind *, TYPE as u32 or f32");
	struct value address = unary(p);
	if (p->failed)
		return whole(0);
	if (!p->focus)
		return fail(p, "there is no thread");
	struct ws_address at = address_of(p, pointer.space, (uint64_t)address.whole);
	if (ws_target_read_memory(p->d->target, &at, bytes, pointer.type->bytes, &n, &err) != WS_OK)
		return fail(p, "cannot read 0x%" PRIx64 ": %.150s", at.address, err.message);
	return value_of(pointer.type, bytes);
}

/* ---- operators ---- */

static struct value binary(struct parser *p, unsigned level);

static struct value number(struct parser *p)
{
	char *end;
	size_t n = strspn(p->at, "0123456789abcdefxABCDEFX.");
	if (memchr(p->at, '.', n)) {
		struct value value = { .is_float = true, .real = strtod(p->at, &end) };
		p->at = end;
		return value;
	}
	uint64_t value = strtoull(p->at, &end, 0);
	if (end == p->at)
		return fail(p, "an expression is expected at '%.40s'", p->at);
	p->at = end;
	return whole((int64_t)value);
}

static struct value unary(struct parser *p)
{
	struct value value = whole(0);
	skip(p);
	if (++p->depth > MAX_DEPTH) {
		value = fail(p, "too many operators are nested");
	} else if (take(p, "-")) {
		value = unary(p);
		value.whole = (int64_t)(0 - (uint64_t)value.whole);
		value.real = -value.real;
	} else if (take(p, "!")) {
		value = unary(p);
		value = whole(value.is_float ? value.real == 0 : value.whole == 0);
	} else if (take(p, "~")) {
		value = unary(p);
		value = value.is_float ? fail(p, "~ is for whole numbers") : whole(~value.whole);
	} else if (take(p, "*")) {
		value = memory(p);
	} else if (take(p, "(")) {
		value = binary(p, 0);
		if (!take(p, ")"))
			value = fail(p, "')' is missing");
	} else if (take(p, "$")) {
		value = dollar(p);
	} else if (*p->at >= '0' && *p->at <= '9') {
		value = number(p);
	} else if (is_word(*p->at)) {
		value = name(p);
	} else {
		value = number(p);
	}
	p->depth--;
	return value;
}

enum operation {
	OR,
	AND,
	BITOR,
	XOR,
	BITAND,
	EQ,
	NE,
	LE,
	GE,
	LT,
	GT,
	SHL,
	SHR,
	ADD,
	SUB,
	MUL,
	DIV,
	MOD
};

static const struct {
	const char *text;
	unsigned level;
	enum operation operation;
} operators[] = {
	{ "||", 0, OR },   { "&&", 1, AND }, { "==", 5, EQ },    { "!=", 5, NE }, { "<=", 6, LE },
	{ ">=", 6, GE },   { "<<", 7, SHL }, { ">>", 7, SHR },   { "<", 6, LT },  { ">", 6, GT },
	{ "|", 2, BITOR }, { "^", 3, XOR },  { "&", 4, BITAND }, { "+", 8, ADD }, { "-", 8, SUB },
	{ "*", 9, MUL },   { "/", 9, DIV },  { "%", 9, MOD },
};

enum { N_OPERATORS = sizeof operators / sizeof operators[0], N_LEVELS = 10 };

static struct value real(double number)
{
	return (struct value){ .is_float = true, .real = number };
}

static struct value of_reals(struct parser *p, enum operation operation, double a, double b)
{
	switch (operation) {
	case OR:
		return whole(a != 0 || b != 0);
	case AND:
		return whole(a != 0 && b != 0);
	case EQ:
		return whole(a == b);
	case NE:
		return whole(a != b);
	case LE:
		return whole(a <= b);
	case GE:
		return whole(a >= b);
	case LT:
		return whole(a < b);
	case GT:
		return whole(a > b);
	case ADD:
		return real(a + b);
	case SUB:
		return real(a - b);
	case MUL:
		return real(a * b);
	case DIV:
		return real(a / b);
	case BITOR:
	case XOR:
	case BITAND:
	case SHL:
	case SHR:
	case MOD:
		break;
	}
	return fail(p, "this operator is for whole numbers");
}

static struct value divide(struct parser *p, enum operation operation, int64_t a, int64_t b)
{
	if (b == 0)
		return fail(p, "division by zero");
	if (b == -1)
		return whole(operation == DIV ? (int64_t)(0 - (uint64_t)a) : 0);
	return whole(operation == DIV ? a / b : a % b);
}

static struct value of_wholes(struct parser *p, enum operation operation, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	switch (operation) {
	case OR:
		return whole(a || b);
	case AND:
		return whole(a && b);
	case BITOR:
		return whole(a | b);
	case XOR:
		return whole(a ^ b);
	case BITAND:
		return whole(a & b);
	case EQ:
		return whole(a == b);
	case NE:
		return whole(a != b);
	case LE:
		return whole(a <= b);
	case GE:
		return whole(a >= b);
	case LT:
		return whole(a < b);
	case GT:
		return whole(a > b);
	case SHL:
		return whole(ub < 64 ? (int64_t)(ua << ub) : 0);
	case SHR:
		return whole(ub < 64 ? (int64_t)(ua >> ub) : 0);
	case ADD:
		return whole((int64_t)(ua + ub));
	case SUB:
		return whole((int64_t)(ua - ub));
	case MUL:
		return whole((int64_t)(ua * ub));
	case DIV:
	case MOD:
		break;
	}
	return divide(p, operation, a, b);
}

static struct value combine(struct parser *p, enum operation operation, struct value a,
			    struct value b)
{
	if (!a.is_float && !b.is_float)
		return of_wholes(p, operation, a.whole, b.whole);
	return of_reals(p, operation, a.is_float ? a.real : (double)a.whole,
			b.is_float ? b.real : (double)b.whole);
}

/* The operator of a level that is next; N_OPERATORS: none. */
static size_t operator_next(struct parser *p, unsigned level)
{
	skip(p);
	for (size_t i = 0; i < N_OPERATORS; i++)
		if (strncmp(p->at, operators[i].text, strlen(operators[i].text)) == 0)
			return operators[i].level == level ? i : N_OPERATORS;
	return N_OPERATORS;
}

static struct value binary(struct parser *p, unsigned level)
{
	if (level == N_LEVELS)
		return unary(p);
	struct value value = binary(p, level + 1);
	for (size_t i; !p->failed && (i = operator_next(p, level)) < N_OPERATORS;) {
		p->at += strlen(operators[i].text);
		value = combine(p, operators[i].operation, value, binary(p, level + 1));
	}
	return value;
}

bool debug_evaluate(const struct debugger *d, const struct ws_focus *focus, const char *text,
		    struct value *ret_value, char ret_wrong[200])
{
	struct parser p = { .d = d, .focus = focus, .at = text, .wrong = ret_wrong };
	*ret_value = binary(&p, 0);
	skip(&p);
	if (*p.at)
		fail(&p, "'%.40s' is not understood", p.at);
	return !p.failed;
}

bool debug_register(const char *text, enum ws_reg_kind *ret_kind, uint32_t *ret_number)
{
	struct reg reg;
	size_t n = *text == '$' ? word_length(text + 1) : 0;
	if (n == 0 || text[1 + n] || !reg_find(text + 1, n, &reg, ret_number))
		return false;
	*ret_kind = reg.kind;
	return true;
}

bool debug_memory(const struct debugger *d, const struct ws_focus *focus, const char **text,
		  struct ws_address *ret_at, const struct run_type **ret_type, char ret_wrong[200])
{
	struct parser p = { .d = d, .focus = focus, .at = *text, .wrong = ret_wrong };
	struct pointer pointer;
	if (!focus)
		fail(&p, "there is no thread");
	else if (!take(&p, "*") || !pointer_parse(&p, &pointer))
		fail(&p, "*(TYPE *)ADDRESS or *(@SPACE TYPE *)ADDRESS is expected");
	struct value address = p.failed ? whole(0) : unary(&p);
	if (p.failed)
		return false;
	skip(&p);
	*ret_at = address_of(&p, pointer.space, (uint64_t)address.whole);
	*ret_type = pointer.type;
	*text = p.at;
	return true;
}

/* ---- print and set ---- */

void debug_print(struct debugger *d, const char *text)
{
	struct value value;
	char wrong[200], format = 'd';
	if (*text == '/' && text[1]) {
		format = text[1];
		text += 2;
	}
	if (!strchr("xduf", format))
		cli_say("A format is x, d, u or f, not '%c'.\n", format);
	else if (!debug_evaluate(d, d->has_focus ? &d->focus : NULL, text, &value, wrong))
		cli_say("%s.\n", wrong);
	else if (value.is_float)
		ws_out_printf(&d->cli->out, "%.9g\n", value.real);
	else if (format == 'f') {
		uint32_t bits = (uint32_t)value.whole;
		float single;
		memcpy(&single, &bits, sizeof single);
		ws_out_printf(&d->cli->out, "%.9g\n", (double)single);
	} else if (format == 'x')
		ws_out_printf(&d->cli->out, "0x%" PRIx64 "\n", (uint64_t)value.whole);
	else if (format == 'u')
		ws_out_printf(&d->cli->out, "%" PRIu64 "\n", (uint64_t)value.whole);
	else
		ws_out_printf(&d->cli->out, "%" PRId64 "\n", value.whole);
}

static void set_register(struct parser *p, const struct reg *reg, uint32_t number_of,
			 struct value value)
{
	const uint64_t bits = (uint64_t)value.whole;
	uint32_t words[2] = { (uint32_t)bits, (uint32_t)(bits >> 32) };
	const float single = (float)value.real;
	struct ws_error err;
	if (value.is_float && !reg->is_pair)
		memcpy(words, &single, sizeof single);
	else if (value.is_float)
		memcpy(words, &value.real, sizeof value.real);
	if (ws_target_write_registers(p->d->target, p->focus->warp_index, p->focus->lane, reg->kind,
				      number_of, reg->is_pair ? 2 : 1, words, &err) != WS_OK)
		fail(p, "%.190s", err.message);
}

/* As a conversion of hardware: what does not fit is the nearest that does, and NaN is 0. */
static int64_t truncated(double number)
{
	const double limit = 9223372036854775808.0;
	if (isnan(number))
		return 0;
	if (number >= limit)
		return INT64_MAX;
	return number < -limit ? INT64_MIN : (int64_t)number;
}

static void set_memory(struct parser *p, const struct pointer *pointer, uint64_t address,
		       struct value value)
{
	uint8_t bytes[8];
	const double as_double = value.is_float ? value.real : (double)value.whole;
	const float single = (float)as_double;
	const int64_t as_whole = value.is_float ? truncated(value.real) : value.whole;
	struct ws_address at = address_of(p, pointer->space, address);
	struct ws_error err;
	memcpy(bytes, &as_whole, sizeof bytes);
	if (pointer->type->kind == 'f' && pointer->type->bytes == 4)
		memcpy(bytes, &single, sizeof single);
	else if (pointer->type->kind == 'f')
		memcpy(bytes, &as_double, sizeof as_double);
	if (ws_target_write_memory(p->d->target, &at, bytes, pointer->type->bytes, &err) != WS_OK)
		fail(p, "%.190s", err.message);
}

/* The last '=' that is no part of an operator. */
static const char *assignment(const char *text)
{
	const char *at = text;
	while ((at = strchr(at, '='))) {
		if (at > text && at[1] != '=' && !strchr("=!<>", at[-1]))
			return at;
		at += at[1] == '=' ? 2 : 1;
	}
	return NULL;
}

void debug_set(struct debugger *d, const char *text)
{
	char wrong[200];
	struct value value, address = { 0 };
	struct reg reg;
	struct pointer pointer;
	uint32_t number_of;
	const char *equals = assignment(text);
	struct parser p = { .d = d, .focus = &d->focus, .wrong = wrong };
	if (!debug_has_thread(d))
		return;
	char *left = cli_copy(text, equals ? (size_t)(equals - text) : 0);
	p.at = left;
	size_t n = *left == '$' ? word_length(left + 1) : 0;
	if (!equals) {
		fail(&p, "$REGISTER = VALUE or *(TYPE *)ADDRESS = VALUE is expected");
	} else if (!debug_evaluate(d, &d->focus, equals + 1, &value, wrong)) {
		p.failed = true;
	} else if (n && left[1 + n + strspn(left + 1 + n, " ")] == '\0' &&
		   reg_find(left + 1, n, &reg, &number_of)) {
		set_register(&p, &reg, number_of, value);
	} else if (take(&p, "*") && pointer_parse(&p, &pointer)) {
		address = unary(&p);
		skip(&p);
		if (!p.failed && *p.at)
			fail(&p, "'%.40s' is not understood", p.at);
		if (!p.failed)
			set_memory(&p, &pointer, (uint64_t)address.whole, value);
	} else {
		fail(&p, "'%.40s' cannot be set", left);
	}
	if (p.failed)
		cli_say("%s.\n", wrong);
	free(left);
}
