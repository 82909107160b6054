/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a line of a trace. It is JSON of one known shape, written by trace.c, but may be damaged or
 * made by hand: members may come in any order, unknown ones are skipped, and whatever does not fit
 * the named function is an error.
 */
#include "trace/traced.h"

enum { MAX_DEPTH = 8 };

/* The rest of the line. */
struct trace_scan {
	const uint8_t *at, *end;
	const uint8_t *start; /* of the line */
	uint64_t origin;      /* of the line in its file */
};

static enum ws_status broken(const struct trace_scan *scan, const char *what, struct ws_error *err)
{
	return wsi_fail(err, WS_MALFORMED, scan->origin + (uint64_t)(scan->at - scan->start), "%s",
			what);
}

static void skip_space(struct trace_scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

/* Takes a character if it comes next. */
static bool trace_char_take(struct trace_scan *scan, char c)
{
	skip_space(scan);
	if (scan->at == scan->end || *scan->at != (uint8_t)c)
		return false;
	scan->at++;
	return true;
}

static bool take_trace_word(struct trace_scan *scan, const char *word)
{
	size_t n = strlen(word);
	skip_space(scan);
	if ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, word, n) != 0)
		return false;
	scan->at += n;
	return true;
}

/* A string without escapes: nothing that a trace holds needs any. */
static bool take_string(struct trace_scan *scan, struct ws_str *ret)
{
	struct trace_scan from = *scan;
	if (!trace_char_take(&from, '"'))
		return false;
	const uint8_t *begin = from.at;
	while (from.at < from.end && *from.at != '"' && *from.at != '\\' && *from.at >= ' ')
		from.at++;
	if (from.at == from.end || *from.at != '"')
		return false;
	*ret = (struct ws_str){ (const char *)begin, (size_t)(from.at - begin) };
	scan->at = from.at + 1;
	return true;
}

/* Digits of a base up to the first other character. */
static bool digits_number_of(struct ws_str text, unsigned base, uint64_t *ret)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = wsi_hex_digit(text.ptr[i]);
		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*ret = value;
	return text.len > 0;
}

static bool hex_number(struct ws_str text, uint64_t *ret)
{
	return text.len > 2 && text.ptr[0] == '0' && text.ptr[1] == 'x' &&
	       digits_number_of((struct ws_str){ text.ptr + 2, text.len - 2 }, 16, ret);
}

static bool take_decimal(struct trace_scan *scan, uint64_t *ret)
{
	struct trace_scan from = *scan;
	skip_space(&from);
	const uint8_t *begin = from.at;
	while (from.at < from.end && *from.at >= '0' && *from.at <= '9')
		from.at++;
	if (!digits_number_of((struct ws_str){ (const char *)begin, (size_t)(from.at - begin) }, 10,
			      ret))
		return false;
	scan->at = from.at;
	return true;
}

static bool pass_value(struct trace_scan *scan, unsigned depth)
{
	struct ws_str text;
	if (take_string(scan, &text) || take_trace_word(scan, "null") ||
	    take_trace_word(scan, "true") || take_trace_word(scan, "false"))
		return true;
	bool object = trace_char_take(scan, '{');
	if (!object && !trace_char_take(scan, '[')) {
		const uint8_t *begin = scan->at;
		while (scan->at < scan->end && strchr("+-.0123456789eE", *scan->at) && *scan->at)
			scan->at++;
		return scan->at > begin;
	}
	if (depth == MAX_DEPTH)
		return false;
	if (trace_char_take(scan, object ? '}' : ']'))
		return true;
	do {
		if (object && (!take_string(scan, &text) || !trace_char_take(scan, ':')))
			return false;
		if (!pass_value(scan, depth + 1))
			return false;
	} while (trace_char_take(scan, ','));
	return trace_char_take(scan, object ? '}' : ']');
}

/* ---- values ---- */

/* "0a1b" or "0a1b...9000:0123456789abcdef". */
static bool traced_bytes_of(struct ws_str text, struct wsi_traced_value *ret, uint8_t **scratch)
{
	size_t n = 0;
	uint64_t byte;
	uint8_t *bytes = *scratch;
	while (2 * n + 1 < text.len &&
	       digits_number_of((struct ws_str){ text.ptr + 2 * n, 2 }, 16, &byte))
		bytes[n++] = (uint8_t)byte;
	*ret = (struct wsi_traced_value){
		.kind = WSI_TRACED_BYTES, .bytes = bytes, .n_shown = n, .n = n
	};
	*scratch += n;
	struct ws_str rest = { text.ptr + 2 * n, text.len - 2 * n };
	if (!rest.len)
		return true;
	if (rest.len < 21 || memcmp(rest.ptr, "...", 3) != 0 || rest.ptr[rest.len - 17] != ':')
		return false;
	return digits_number_of((struct ws_str){ rest.ptr + 3, rest.len - 20 }, 10, &ret->n) &&
	       digits_number_of((struct ws_str){ rest.ptr + rest.len - 16, 16 }, 16, &ret->hash) &&
	       ret->n > n;
}

static bool argument_value_of(const struct wsi_api_arg *arg, struct ws_str text,
			      struct wsi_traced_value *ret, uint8_t **scratch)
{
	uint64_t number;
	if (arg->way != WSI_API_VALUE)
		return traced_bytes_of(text, ret, scratch);
	if (strstr(arg->type, "Callback")) {
		ret->kind = WSI_TRACED_FUNCTION;
		return ws_str_equal(text, ws_str_of("function"));
	}
	if (!hex_number(text, &number) || (arg->size < 8 && number >> 8 * arg->size))
		return false;
	*ret = (struct wsi_traced_value){ .kind = WSI_TRACED_NUMBER, .number = number };
	return true;
}

/* The object behind "in" or "out". */
static enum ws_status take_values(struct trace_scan *scan, const struct wsi_api_fn *fn,
				  struct wsi_traced_value *values, uint8_t **scratch,
				  struct ws_error *err)
{
	struct ws_str name, text;
	if (!trace_char_take(scan, '{'))
		return broken(scan, "the arguments are not an object", err);
	if (trace_char_take(scan, '}'))
		return WS_OK;
	do {
		unsigned i = 0;
		if (!take_string(scan, &name) || !trace_char_take(scan, ':'))
			return broken(scan, "the name of an argument is missing", err);
		while (i < fn->n_args && !ws_str_equal(name, ws_str_of(fn->args[i].name)))
			i++;
		if (i == fn->n_args || values[i].kind != WSI_TRACED_NOTHING)
			return broken(scan, "an argument that the function lacks, or twice", err);
		if (take_trace_word(scan, "null"))
			values[i].kind = WSI_TRACED_NULL;
		else if (!take_string(scan, &text) ||
			 !argument_value_of(&fn->args[i], text, &values[i], scratch))
			return broken(scan, "the value does not fit the argument", err);
	} while (trace_char_take(scan, ','));
	return trace_char_take(scan, '}') ? WS_OK : broken(scan, "arguments without an end", err);
}

/* ---- the line ---- */

static bool named_result_of(struct ws_str name, CUDBGResult *ret)
{
	for (unsigned code = 0; code < sizeof CUDBGResultNames / sizeof *CUDBGResultNames; code++)
		if (ws_str_equal(name, ws_str_of(CUDBGResultNames[code]))) {
			*ret = (CUDBGResult)code;
			return true;
		}
	return false;
}

static bool trace_slot_of(struct ws_str name, unsigned *ret)
{
	for (*ret = 0; *ret < WSI_API_SLOTS; ++*ret)
		if (ws_str_equal(name, ws_str_of(wsi_api_functions[*ret].name)))
			return true;
	return false;
}

/* Members of the line whose value is no object. */
static bool take_traced_member(struct trace_scan *scan, struct ws_str name, struct wsi_traced *call,
			       bool *has_result)
{
	struct ws_str text;
	uint64_t table;
	if (ws_str_equal(name, ws_str_of("ns")))
		return take_decimal(scan, &call->ns);
	if (ws_str_equal(name, ws_str_of("table"))) {
		bool good = take_decimal(scan, &table) && table < UINT32_MAX;
		call->table = good ? (unsigned)table : 0;
		return good;
	}
	if (ws_str_equal(name, ws_str_of("capabilities")))
		return take_string(scan, &text) && hex_number(text, &call->capabilities);
	if (ws_str_equal(name, ws_str_of("result")))
		return *has_result =
			       take_string(scan, &text) && named_result_of(text, &call->result);
	return pass_value(scan, 0);
}

/* What the function needs is there, and as long as it must be. */
static enum ws_status check_values(const struct trace_scan *scan, const struct wsi_traced *call,
				   struct ws_error *err)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	union wsi_api_value counts[WSI_API_MAX_ARGS];
	for (unsigned i = 0; i < fn->n_args; i++)
		counts[i].number = call->in[i].number;
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		const struct wsi_traced_value *in = &call->in[i], *out = &call->out[i];
		bool writes = arg->way == WSI_API_OUT || arg->way == WSI_API_INOUT;
		if (in->kind == WSI_TRACED_NOTHING && arg->way != WSI_API_OUT)
			return broken(scan, "an argument is missing", err);
		if (out->kind != WSI_TRACED_NOTHING &&
		    (!writes || out->kind == WSI_TRACED_NULL || in->kind == WSI_TRACED_NULL))
			return broken(scan, "an impossible output", err);
		if (arg->way == WSI_API_OUT && in->kind == WSI_TRACED_BYTES)
			return broken(scan, "an output among the inputs", err);
		uint64_t room = arg->string || arg->way == WSI_API_OPAQUE || !arg->size
					? UINT64_MAX
					: wsi_call_api_room(fn, i, counts);
		bool reads = arg->way == WSI_API_IN || arg->way == WSI_API_INOUT;
		if (in->kind == WSI_TRACED_BYTES && reads && !arg->string && in->n != room)
			return broken(scan, "an input of another size than its count", err);
		if (out->kind == WSI_TRACED_BYTES && out->n > room)
			return broken(scan, "an output longer than its buffer", err);
		if (arg->string && in->kind == WSI_TRACED_BYTES && in->n_shown &&
		    memchr(in->bytes, 0, in->n_shown))
			return broken(scan, "a text with a NUL inside", err);
	}
	return WS_OK;
}

enum ws_status wsi_traced_read(struct ws_span line, struct wsi_traced *ret_call, uint8_t *scratch,
			       struct ws_error *err)
{
	const uint8_t *end = line.len ? line.ptr + line.len : line.ptr;
	struct trace_scan scan = { line.ptr, end, line.ptr, line.origin };
	struct trace_scan parts[2] = { scan, scan }; /* "in" and "out" */
	bool has_parts[2] = { false, false }, has_slot = false, has_result = false;
	struct ws_str name, text;
	memset(ret_call, 0, sizeof *ret_call);
	if (!trace_char_take(&scan, '{'))
		return broken(&scan, "the line is not a JSON object", err);
	do {
		if (!take_string(&scan, &name) || !trace_char_take(&scan, ':'))
			return broken(&scan, "the name of a member is missing", err);
		bool in = ws_str_equal(name, ws_str_of("in"));
		bool good = true;
		if (in || ws_str_equal(name, ws_str_of("out"))) {
			skip_space(&scan);
			has_parts[!in] = true;
			parts[!in].at = scan.at;
			good = pass_value(&scan, 0);
		} else if (ws_str_equal(name, ws_str_of("call"))) {
			good = take_string(&scan, &text) && trace_slot_of(text, &ret_call->slot);
			has_slot = good;
		} else {
			good = take_traced_member(&scan, name, ret_call, &has_result);
		}
		if (!good)
			return broken(&scan, "the value of a member is wrong", err);
	} while (trace_char_take(&scan, ','));
	if (!trace_char_take(&scan, '}'))
		return broken(&scan, "the line has no end", err);
	if (!has_slot || !has_result || !has_parts[0] || !has_parts[1])
		return broken(&scan, "the line lacks call, in, result or out", err);
	const struct wsi_api_fn *fn = &wsi_api_functions[ret_call->slot];
	enum ws_status st = take_values(&parts[0], fn, ret_call->in, &scratch, err);
	if (st == WS_OK)
		st = take_values(&parts[1], fn, ret_call->out, &scratch, err);
	return st == WS_OK ? check_values(&scan, ret_call, err) : st;
}
