/* SPDX-License-Identifier: Apache-2.0 */
/* A call as data: taken from the arguments, and shown to readers. */
#include "trace/traced.h"

/* ---- from the arguments of a call ---- */

static uint64_t fnv(const uint8_t *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static struct wsi_traced_value bytes_value(const void *bytes, size_t n, size_t most)
{
	struct wsi_traced_value value = { .kind = WSI_TRACED_BYTES, .bytes = bytes, .n = n };
	value.n_shown = n < most ? n : most;
	if (value.n_shown < n)
		value.hash = fnv(bytes, n);
	return value;
}

/* What the call will write over is kept; no function has two such arguments. */
static struct wsi_traced_value before_value(struct wsi_traced *call, const void *bytes, size_t n)
{
	struct wsi_traced_value value = bytes_value(bytes, n, sizeof call->before);
	memcpy(call->before, bytes, value.n_shown);
	value.bytes = call->before;
	return value;
}

void wsi_traced_inputs(struct wsi_traced *call, const union wsi_api_value *values)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		struct wsi_traced_value *to = &call->in[i];
		if (wsi_api_is_callback(arg))
			to->kind = values[i].code ? WSI_TRACED_FUNCTION : WSI_TRACED_NULL;
		else if (arg->way == WSI_API_VALUE)
			*to = (struct wsi_traced_value){ .kind = WSI_TRACED_NUMBER,
							 .number = values[i].number };
		else if (!values[i].pointer)
			to->kind = WSI_TRACED_NULL;
		else if (arg->way == WSI_API_OPAQUE)
			*to = bytes_value(NULL, 0, 0);
		else if (arg->string)
			*to = bytes_value(values[i].pointer, strlen(values[i].pointer),
					  WSI_TRACED_IN);
		else if (arg->way == WSI_API_IN)
			*to = bytes_value(values[i].pointer, wsi_call_api_room(fn, i, values),
					  WSI_TRACED_IN);
		else if (arg->way == WSI_API_INOUT)
			*to = before_value(call, values[i].pointer,
					   wsi_call_api_room(fn, i, values));
	}
}

void wsi_traced_outputs(struct wsi_traced *call, const union wsi_api_value *values)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	for (unsigned i = 0; i < fn->n_args && call->result == CUDBG_SUCCESS; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (wsi_api_comes_out(arg) && values[i].pointer)
			call->out[i] =
				bytes_value(values[i].pointer, wsi_call_api_written(fn, i, values),
					    WSI_TRACED_OUT);
	}
}

/* ---- for readers ---- */

static bool is_text(const struct wsi_api_arg *arg)
{
	return arg->string || !strcmp(arg->type, "char *");
}

static void number_text(uint64_t number, size_t size, char *text, size_t text_size)
{
	snprintf(text, text_size, size > 4 ? "0x%" PRIx64 : "%" PRIu64, number);
}

void wsi_traced_value_text(const struct wsi_api_arg *arg, const struct wsi_traced_value *value,
			   char *text, size_t size)
{
	uint64_t number = value->number;
	size_t n = value->n_shown, at = 0;
	bool scalar = value->kind == WSI_TRACED_BYTES && n == value->n && n == arg->size &&
		      n <= sizeof number && !arg->string && arg->count < 0;
	if (scalar) {
		number = 0;
		memcpy(&number, value->bytes, n); /* traces are little-endian, as all hosts are */
	}
	if (value->kind == WSI_TRACED_NULL || value->kind == WSI_TRACED_FUNCTION) {
		snprintf(text, size, value->kind == WSI_TRACED_NULL ? "NULL" : "function");
	} else if (scalar || value->kind == WSI_TRACED_NUMBER) {
		number_text(number, scalar ? n : arg->size, text, size);
	} else if (value->kind == WSI_TRACED_BYTES && is_text(arg)) {
		snprintf(text, size, "\"%.*s\"", (int)wsi_min_u64(n, 200),
			 (const char *)value->bytes);
	} else if (value->kind == WSI_TRACED_BYTES) {
		text[0] = '\0';
		for (size_t i = 0; i < n && i < 16 && at + 3 < size; i++, at += 2)
			snprintf(text + at, size - at, "%02x", value->bytes[i]);
		if (value->n > 16 && at + 24 < size)
			snprintf(text + at, size - at, "... (%" PRIu64 " bytes)", value->n);
	}
}

void wsi_traced_text(const struct wsi_traced *call, char *text, size_t size)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	const char *comma = "(";
	size_t at = (size_t)snprintf(text, size, "%s", fn->name);
	for (unsigned i = 0; i < fn->n_args; i++) {
		char value[256];
		if (call->in[i].kind == WSI_TRACED_NOTHING || fn->args[i].way == WSI_API_OPAQUE)
			continue;
		wsi_traced_value_text(&fn->args[i], &call->in[i], value, sizeof value);
		if (at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s=%s", comma,
					       fn->args[i].name, value);
		comma = ", ";
	}
	if (at < size)
		snprintf(text + at, size - at, comma[0] == '(' ? "()" : ")");
}
