/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two calls; what is numbered differently in each run counts as the same while it stays
 * paired.
 */
#include "trace/traced.h"

/* ---- handles ---- */

void wsi_handles_fini(struct wsi_handles *handles)
{
	wsi_map_fini(&handles->map);
	wsi_free(handles->counterpart);
	memset(handles, 0, sizeof *handles);
}

/* What a handle is paired with; with `b` when it was never seen. */
static uint64_t pair(struct wsi_handles *handles, uint8_t kind, uint64_t a, uint64_t b)
{
	const struct wsi_map_key key = { { kind, a, 0, 0 } };
	bool is_new;
	if (!wsi_grow(&handles->counterpart, &handles->cap, handles->n,
		      sizeof *handles->counterpart, UINT32_MAX))
		return b;
	uint32_t *index = wsi_map_put(&handles->map, &key, (uint32_t)handles->n, &is_new);
	if (!index)
		return b;
	if (is_new)
		handles->counterpart[handles->n++] = b;
	return handles->counterpart[*index];
}

/* 0 and the special handles of breakpoints mean the same in every run. */
static bool is_fixed(uint64_t value)
{
	return value == 0 || value > UINT64_MAX - 16;
}

uint64_t wsi_handles_map(const struct wsi_handles *handles, uint8_t kind, uint64_t value)
{
	const struct wsi_map_key key = { { kind, value, 0, 0 } };
	const uint32_t *index = is_fixed(value) ? NULL : wsi_map_find(&handles->map, &key);
	return index ? handles->counterpart[*index] : value;
}

static bool same_number(struct wsi_handles *handles, uint8_t kind, uint64_t a, uint64_t b)
{
	if (kind == 0 || is_fixed(a) || is_fixed(b))
		return a == b;
	return kind == WSI_API_ADDRESS || pair(handles, kind, a, b) == b;
}

/* ---- inputs ---- */

bool wsi_traced_same_inputs(const struct wsi_traced *a, const struct wsi_traced *b,
			    const struct wsi_handles *handles)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[a->slot];
	if (a->slot != b->slot)
		return false;
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_traced_value *x = &a->in[i], *y = &b->in[i];
		if (x->kind != y->kind || x->n != y->n || x->hash != y->hash ||
		    x->n_shown != y->n_shown)
			return false;
		if (x->kind == WSI_TRACED_BYTES && x->n_shown &&
		    memcmp(x->bytes, y->bytes, x->n_shown) != 0)
			return false;
		uint8_t kind = fn->args[i].handle;
		uint64_t number = kind ? wsi_handles_map(handles, kind, x->number) : x->number;
		if (x->kind == WSI_TRACED_NUMBER && number != y->number)
			return false;
	}
	return true;
}

/* ---- outputs ---- */

struct trace_compare {
	const struct wsi_api_arg *arg;
	const struct wsi_traced_value *a, *b;
	struct wsi_handles *handles;
	wsi_traced_tell *tell;
	void *user;
	bool same;
};

/* `n` bytes at an offset of both: numbers of up to 8 bytes, else plain bytes. */
static void compare_part(struct trace_compare *c, const char *name, size_t at, size_t n,
			 uint8_t kind)
{
	uint64_t x = 0, y = 0;
	const struct wsi_api_arg as = { .type = "", .size = n, .count = -1 };
	bool number = n <= sizeof x;
	if (number) {
		memcpy(&x, c->a->bytes + at, n);
		memcpy(&y, c->b->bytes + at, n);
	}
	if (number ? same_number(c->handles, kind, x, y)
		   : !memcmp(c->a->bytes + at, c->b->bytes + at, n))
		return;
	struct wsi_traced_value part = { .kind = WSI_TRACED_BYTES, .n_shown = n, .n = n };
	char text[2][64];
	part.bytes = c->a->bytes + at;
	wsi_traced_value_text(&as, &part, text[0], sizeof text[0]);
	part.bytes = c->b->bytes + at;
	wsi_traced_value_text(&as, &part, text[1], sizeof text[1]);
	c->same = false;
	c->tell(c->user, name, text[0], text[1]);
}

/* Fields of the structure that begins at `at`. */
static void compare_fields(struct trace_compare *c, const char *name, size_t at, size_t end)
{
	uint32_t event = 0;
	if (end - at >= sizeof event)
		memcpy(&event, c->a->bytes + at, sizeof event);
	for (size_t i = 0; i < c->arg->n_fields; i++) {
		const struct wsi_api_field *field = &c->arg->fields[i];
		char path[120];
		if (field->offset + (size_t)field->size > end - at ||
		    (field->when >= 0 && event != (uint32_t)field->when))
			continue;
		snprintf(path, sizeof path, "%s.%s", name, field->name);
		compare_part(c, path, at + field->offset, field->size, field->handle);
	}
}

/* Bytes without structure: the first stretch that differs is shown. */
static void compare_traced_bytes(struct trace_compare *c, size_t n)
{
	char name[80];
	size_t at = 0;
	while (at < n && c->a->bytes[at] == c->b->bytes[at])
		at++;
	if (at == n)
		return;
	at -= at % 8;
	snprintf(name, sizeof name, "%s[%zu]", c->arg->name, at);
	size_t len = n - at < 16 ? n - at : 16;
	compare_part(c, name, at, len, 0);
}

static void compare_elements(struct trace_compare *c, size_t n)
{
	size_t unit = c->arg->size;
	char name[80];
	for (size_t at = 0; at < n; at += unit) {
		if (c->arg->count < 0)
			wsi_format(name, "%s", c->arg->name);
		else
			wsi_format(name, "%s[%zu]", c->arg->name, at / unit);
		if (c->arg->n_fields)
			compare_fields(c, name, at, n);
		else
			compare_part(c, name, at, n - at < unit ? n - at : unit, c->arg->handle);
	}
}

static void compare_output(struct trace_compare *c)
{
	const struct wsi_traced_value *a = c->a, *b = c->b;
	char text[2][256];
	size_t n = a->n_shown < b->n_shown ? a->n_shown : b->n_shown;
	bool is_text = !strcmp(c->arg->type, "char *");
	if (a->kind == WSI_TRACED_NOTHING && b->kind == WSI_TRACED_NOTHING)
		return;
	if (a->kind != b->kind || (is_text && a->n != b->n) ||
	    (is_text && n && memcmp(a->bytes, b->bytes, n) != 0)) {
		wsi_traced_value_text(c->arg, a, text[0], sizeof text[0]);
		wsi_traced_value_text(c->arg, b, text[1], sizeof text[1]);
		c->same = false;
		c->tell(c->user, c->arg->name, a->kind ? text[0] : "nothing",
			b->kind ? text[1] : "nothing");
		return;
	}
	if (is_text)
		return;
	if (c->arg->size > 1 || c->arg->count < 0)
		compare_elements(c, n);
	else
		compare_traced_bytes(c, n);
	if (a->n != b->n) {
		wsi_format(text[0], "%" PRIu64 " bytes", a->n);
		wsi_format(text[1], "%" PRIu64 " bytes", b->n);
	} else if (c->same && a->hash != b->hash) {
		wsi_format(text[0], "hash %016" PRIx64, a->hash);
		wsi_format(text[1], "hash %016" PRIx64, b->hash);
	} else {
		return;
	}
	c->same = false;
	c->tell(c->user, c->arg->name, text[0], text[1]);
}

bool wsi_traced_compare(const struct wsi_traced *a, const struct wsi_traced *b,
			struct wsi_handles *handles, wsi_traced_tell *tell, void *user)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[a->slot];
	bool same = true;
	if (fn->own_words)
		return true;
	if (a->result != b->result) {
		tell(user, NULL, cudbgGetErrorString(a->result), cudbgGetErrorString(b->result));
		return false;
	}
	for (unsigned i = 0; i < fn->n_args; i++) {
		struct trace_compare c = { &fn->args[i], &a->out[i], &b->out[i], handles,
					   tell,         user,       true };
		compare_output(&c);
		same = same && c.same;
	}
	return same;
}
