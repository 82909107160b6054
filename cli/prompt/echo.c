/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts print: echo and printf. */
#include "prompt/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The character that an escape at `*at` stands for; moves past it. -1: none, a line's end. */
static int escaped(const char **at)
{
	static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
	const char *c = *at + 1, *name = *c ? strchr(names, *c) : NULL;
	int value = 0;
	if (*c >= '0' && *c <= '7') {
		for (unsigned i = 0; i < 3 && *c >= '0' && *c <= '7'; i++)
			value = value * 8 + (*c++ - '0');
		*at = c;
		return value & 0xff;
	}
	*at = *c ? c + 1 : c;
	return !*c ? -1 : name ? values[name - names] : *c;
}

/* A byte of the user's own text: only what a terminal shows. */
static void put_user_byte(struct ws_out *out, int c)
{
	char text[1] = { (char)c };
	if (c == '\n')
		ws_out_text(out, "\n");
	else if (c == '\t')
		ws_out_text(out, "\t");
	else
		ws_out_escaped(out, (struct ws_str){ text, 1 });
}

void debug_echo(struct debugger *d, const char *text)
{
	while (*text) {
		int c = (unsigned char)*text;
		if (c == '\\')
			c = escaped(&text);
		else
			text++;
		if (c >= 0)
			put_user_byte(&d->cli->out, c);
	}
}

/* The end of an expression in a list: the comma behind it, or the end of the text. */
static const char *expression_end(const char *text)
{
	int depth = 0;
	for (; *text && (*text != ',' || depth > 0); text++) {
		if (*text == '"' && strchr(text + 1, '"'))
			text = strchr(text + 1, '"');
		depth += *text == '(' || *text == '[' ? 1 : *text == ')' || *text == ']' ? -1 : 0;
	}
	return text;
}

/* Takes the next expression of the list. */
static bool next_value(struct debugger *d, const char **at, struct ws_value *ret_value)
{
	if (**at != ',') {
		cli_say("printf has too few expressions.\n");
		return false;
	}
	const char *end = expression_end(*at + 1);
	char *text = cli_copy(*at + 1, (size_t)(end - *at - 1));
	bool good = debug_value(d, text, ret_value);
	free(text);
	*at = end;
	return good;
}

/* One number, by the flags, width and precision between % and its letter. */
static bool print_echo_value(struct ws_out *out, const char *flags, size_t n, char letter,
			     const struct ws_number *value)
{
	char format[40] = "%", text[400];
	bool real = strchr("fFeEgG", letter) != NULL;
	while (n > 0 && strchr("hljzt", flags[n - 1]))
		n--;
	for (size_t i = 0, digits = 0; i < n; i++) {
		digits = flags[i] >= '0' && flags[i] <= '9' ? digits + 1 : 0;
		if (!strchr("-+ #0123456789.", flags[i]) || digits > 2)
			return false;
	}
	if (n > 20 || !strchr("diuxXocpfFeEgG", letter))
		return false;
	memcpy(format + 1, flags, n);
	const char *modifier = real || letter == 'c' ? "" : "ll";
	memcpy(format + 1 + n, modifier, strlen(modifier));
	format[1 + n + strlen(modifier)] = letter == 'p' ? 'x' : letter;
	double as_real = value->is_float ? value->real : (double)value->whole;
	long long whole = value->is_float ? (long long)value->real : (long long)value->whole;
	if (letter == 'c') {
		put_user_byte(out, (int)(whole & 0xff));
		return true;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (real)
		snprintf(text, sizeof text, format, as_real);
	else
		snprintf(text, sizeof text, format, whole);
#pragma GCC diagnostic pop
	if (letter == 'p')
		ws_out_text(out, "0x");
	ws_out_escaped(out, ws_str_of(text));
	return true;
}

static void pad(struct ws_out *out, size_t n, size_t width)
{
	for (; n < width; n++)
		ws_out_text(out, " ");
}

/* %s: characters that the value is, or leads to, by the flags, width and precision before it. */
static bool print_echo_text(struct debugger *d, const char *flags, size_t n,
			    const struct ws_value *value)
{
	enum { MOST = 1 << 12 };
	char *text = cli_alloc(MOST, 1), *end;
	struct ws_error err;
	bool good = ws_vars_text(d->vars, value, text, MOST, &err) == WS_OK;
	const size_t skipped = strspn(flags, "-+ #0");
	const bool is_left = memchr(flags, '-', skipped < n ? skipped : n) != NULL;
	const unsigned long width = strtoul(flags + skipped, &end, 10);
	const unsigned long most = *end == '.' ? strtoul(end + 1, NULL, 10) : MOST;
	size_t len = strlen(text);
	if (most < len)
		text[len = most] = '\0';
	const size_t padded = width < MOST ? width : 0;
	if (good && !is_left)
		pad(&d->cli->out, len, padded);
	for (const char *c = text; good && *c; c++)
		put_user_byte(&d->cli->out, (unsigned char)*c);
	if (good && is_left)
		pad(&d->cli->out, len, padded);
	if (!good)
		cli_say("%s.\n", err.message);
	free(text);
	return good;
}

/* The quote that ends a format, or NULL. */
static const char *format_end(const char *text)
{
	for (; *text && *text != '"'; text++)
		text += *text == '\\' && text[1] ? 1 : 0;
	return *text ? text : NULL;
}

/* False with a word to the user. */
static bool print_formatted(struct debugger *d, const char *text)
{
	const char *end = *text == '"' ? format_end(text + 1) : NULL;
	const char *at = end ? end + 1 + strspn(end + 1, " ") : NULL;
	struct ws_value value;
	struct ws_number number;
	struct ws_error err;
	if (!end) {
		cli_say("printf \"FORMAT\", EXPRESSION... is expected.\n");
		return false;
	}
	for (const char *c = text + 1; c < end;) {
		size_t n = *c == '%' ? strspn(c + 1, "-+ #0123456789.hljzt") : 0;
		if (*c == '\\') {
			put_user_byte(&d->cli->out, escaped(&c));
		} else if (*c != '%') {
			put_user_byte(&d->cli->out, (unsigned char)*c++);
		} else if (c[1] == '%') {
			put_user_byte(&d->cli->out, '%');
			c += 2;
		} else if (!next_value(d, &at, &value)) {
			return false;
		} else if (c[1 + n] == 's') {
			if (!print_echo_text(d, c + 1, n, &value))
				return false;
			c += n + 2;
		} else if (ws_vars_number(d->vars, &value, &number, &err) != WS_OK) {
			cli_say("%s.\n", err.message);
			return false;
		} else if (!print_echo_value(&d->cli->out, c + 1, n, c[1 + n], &number)) {
			cli_say("'%.*s' is not a format for a number.\n", (int)(n + 2), c);
			return false;
		} else {
			c += n + 2;
		}
	}
	return true;
}

void debug_printf(struct debugger *d, const char *text)
{
	(void)print_formatted(d, text);
}

void debug_eval(struct debugger *d, const char *text)
{
	struct cli *cli = d->cli;
	bool (*page)(void *user, const char *bytes, size_t len) = cli->page;
	void *page_user = cli->page_user;
	struct cli_bytes line = { 0 };
	cli_flush(cli);
	cli->page = cli_bytes_write;
	cli->page_user = &line;
	const bool good = print_formatted(d, text);
	cli_flush(cli);
	cli->page = page;
	cli->page_user = page_user;
	cli_bytes_write(&line, "", 1);
	if (good)
		gdb_execute(&d->gdb, line.ptr, false);
	free(line.ptr);
}
