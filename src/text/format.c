/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf to an output. The format is the program's own text and is written as it is; a string among
 * the arguments may come from an input and is escaped, which no later step could do: it would not
 * know which bytes were whose.
 */
#include "text/escape.h"

/* One conversion: %[flags][width][.precision][length]kind. Of C's kinds there are no a, n and long
 * double. */
struct conversion {
	bool left, zeros, plus, space, other; /* the flags - 0 + space # */
	int width;
	int precision; /* -1: none given */
	char length;   /* 'h' (also hh), 'l', 'q' (ll), 'z', 'j', 't', or 0 */
	char kind;
};

/* The arguments, so that functions can take some of them. */
struct format_arguments {
	va_list list;
};

static int format_number_at(const char **at, struct format_arguments *args)
{
	if (**at == '*') {
		++*at;
		return va_arg(args->list, int);
	}
	int number = 0;
	for (; **at >= '0' && **at <= '9' && number < 100000; ++*at)
		number = number * 10 + (**at - '0');
	return number;
}

/* Reads [flags][width][.precision]: all of it stands below the letters. */
static void conversion_layout_read(struct conversion *c, const char **at,
				   struct format_arguments *args)
{
	for (bool more = true; more; *at += more) {
		switch (**at) {
		case '-':
			c->left = true;
			break;
		case '0':
			c->zeros = true;
			break;
		case '+':
			c->plus = true;
			break;
		case ' ':
			c->space = true;
			break;
		case '#':
			c->other = true;
			break;
		default:
			more = false;
		}
	}
	c->width = format_number_at(at, args);
	if (c->width < 0) {
		c->left = true;
		c->width = -c->width;
	}
	if (**at == '.') {
		++*at;
		c->precision = format_number_at(at, args);
	}
}

static bool is_length(char c)
{
	return c == 'h' || c == 'l' || c == 'z' || c == 'j' || c == 't';
}

static bool is_integer(char kind)
{
	return kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' ||
	       kind == 'o' || kind == 'p';
}

/* Reads what follows a '%'; `at` moves behind it. */
static struct conversion conversion_read(const char **at, struct format_arguments *args)
{
	struct conversion c = { .precision = -1 };
	if (**at < 'A')
		conversion_layout_read(&c, at, args);
	if (is_length(**at)) {
		c.length = *(*at)++;
		if (**at == c.length) {
			c.length = c.length == 'l' ? 'q' : c.length;
			++*at;
		}
	}
	c.kind = **at;
	*at += **at != 0;
	return c;
}

static intmax_t take_signed(const struct conversion *c, struct format_arguments *args)
{
	switch (c->length) {
	case 'l':
		return va_arg(args->list, long);
	case 'q':
		return va_arg(args->list, long long);
	case 'z':
	case 't':
		return va_arg(args->list, ptrdiff_t);
	case 'j':
		return va_arg(args->list, intmax_t);
	default:
		return va_arg(args->list, int);
	}
}

static uintmax_t take_unsigned(const struct conversion *c, struct format_arguments *args)
{
	switch (c->length) {
	case 'l':
		return va_arg(args->list, unsigned long);
	case 'q':
		return va_arg(args->list, unsigned long long);
	case 'z':
	case 't':
		return va_arg(args->list, size_t);
	case 'j':
		return va_arg(args->list, uintmax_t);
	default: /* a shorter one was passed as an int, which holds its value */
		return va_arg(args->list, unsigned);
	}
}

static void fill(struct ws_out *out, char c, size_t width, size_t len)
{
	for (size_t i = len; i < width; i++)
		ws_out_bytes(out, &c, 1);
}

/* A number as `before` (sign or base), zeros up to the precision, and its digits. */
static void out_number(struct ws_out *out, const struct conversion *c, const char *before,
		       uintmax_t value)
{
	const char *set = c->kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[64], *at = digits + sizeof digits;
	if (c->kind == 'x' || c->kind == 'X' || c->kind == 'p') {
		for (; value; value /= 16)
			*--at = set[value % 16];
	} else if (c->kind == 'o') {
		for (; value; value /= 8)
			*--at = set[value % 8];
	} else {
		for (; value; value /= 10) /* known to the compiler: no division */
			*--at = set[value % 10];
	}
	size_t n = (size_t)(digits + sizeof digits - at), sign = before[0] ? strlen(before) : 0;
	size_t n_min = c->precision < 0 ? 1 : (size_t)c->precision;
	size_t width = (size_t)c->width;
	if (c->zeros && !c->left && c->precision < 0 && width > sign && n_min < width - sign)
		n_min = width - sign;
	size_t len = sign + (n > n_min ? n : n_min);
	if (!c->left)
		fill(out, ' ', width, len);
	if (sign)
		ws_out_bytes(out, before, sign);
	fill(out, '0', n_min, n);
	ws_out_bytes(out, at, n);
	if (c->left)
		fill(out, ' ', width, len);
}

static void out_integer(struct ws_out *out, const struct conversion *c,
			struct format_arguments *args)
{
	if (c->kind == 'd' || c->kind == 'i') {
		intmax_t value = take_signed(c, args);
		const char *sign = value < 0 ? "-" : c->plus ? "+" : c->space ? " " : "";
		out_number(out, c, sign, value < 0 ? -(uintmax_t)value : (uintmax_t)value);
		return;
	}
	bool pointer = c->kind == 'p';
	uintmax_t value = pointer ? (uintptr_t)va_arg(args->list, void *) : take_unsigned(c, args);
	bool based = pointer || (c->other && value && (c->kind == 'x' || c->kind == 'X'));
	out_number(out, c, based ? "0x" : "", value);
}

static void out_float(struct ws_out *out, const struct conversion *c, struct format_arguments *args)
{
	char text[400];
	double value = va_arg(args->list, double);
	int digits = c->precision < 0 ? 6 : c->precision < 40 ? c->precision : 40;
	int n = c->kind == 'e'   ? snprintf(text, sizeof text, "%.*e", digits, value)
		: c->kind == 'f' ? snprintf(text, sizeof text, "%.*f", digits, value)
				 : snprintf(text, sizeof text, "%.*g", digits, value);
	size_t len = n > 0 ? wsi_min_u64((uint64_t)n, sizeof text - 1) : 0;
	if (!c->left)
		fill(out, ' ', (size_t)c->width, len);
	ws_out_bytes(out, text, len);
	if (c->left)
		fill(out, ' ', (size_t)c->width, len);
}

static void out_string(struct ws_out *out, const struct conversion *c, struct ws_str text,
		       wsi_put_str_fn *put)
{
	size_t len = c->width ? ws_escaped_width(text) : 0;
	if (!c->left)
		fill(out, ' ', (size_t)c->width, len);
	put(out, text);
	if (c->left)
		fill(out, ' ', (size_t)c->width, len);
}

void wsi_out_format(struct ws_out *out, wsi_put_str_fn *put, const char *format, va_list list)
{
	struct format_arguments args;
	va_copy(args.list, list);
	for (;;) {
		if (*format != '%') {
			size_t len = strcspn(format, "%");
			ws_out_bytes(out, format, len);
			format += len;
		}
		if (*format++ == '\0')
			break;
		struct conversion c = conversion_read(&format, &args);
		if (c.kind == 's') {
			const char *text = va_arg(args.list, const char *);
			size_t max = c.precision < 0 ? SIZE_MAX : (size_t)c.precision;
			text = text ? text : "(null)";
			out_string(out, &c, (struct ws_str){ text, strnlen(text, max) }, put);
		} else if (c.kind == 'c') {
			char one = (char)va_arg(args.list, int);
			out_string(out, &c, (struct ws_str){ &one, 1 }, put);
		} else if (c.kind == '%') {
			ws_out_bytes(out, "%", 1);
		} else if (c.kind == 'e' || c.kind == 'f' || c.kind == 'g') {
			out_float(out, &c, &args);
		} else {
			assert(is_integer(c.kind));
			out_integer(out, &c, &args);
		}
	}
	va_end(args.list);
}

void ws_out_vprintf(struct ws_out *out, const char *format, va_list list)
{
	wsi_out_format(out, ws_out_escaped, format, list);
}

void ws_out_printf(struct ws_out *out, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	ws_out_vprintf(out, format, list);
	va_end(list);
}
