/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays traces on another provider, or compares them with another trace. Files are read line by
 * line, so memory does not grow with them, except for the pairs of handles.
 */
#include <warpscope/trace.h>

#include "base/file.h"
#include "trace/traced.h"

enum {
	LOOK_AHEAD = 64,             /* calls searched for the place where two traces meet again */
	MAX_CALL_BYTES = 64u << 20,  /* of one call's buffers */
	MAX_LINE_BYTES = 256u << 20, /* longer ones are damaged */
};

/* Where in a trace. */
struct replay_place {
	uint64_t at, line;
};

struct replay_trace {
	struct wsi_file file;
	struct replay_place place; /* behind `call` */
	uint64_t line;             /* of `call` */
	struct wsi_traced call;
	uint8_t *scratch; /* owned: bytes of `call` */
	size_t cap;
};

struct replay_session {
	const struct ws_trace_options *options;
	struct ws_trace_counts counts;
	struct wsi_handles handles;
	bool has_table;
	unsigned table;
	/* the calls that are compared */
	char text[600];
	uint64_t line_a, line_b;
};

/* ---- telling ---- */

static void tell_replay_difference(struct replay_session *s, enum ws_trace_kind kind,
				   const char *what, const char *a, const char *b)
{
	const struct ws_trace_difference difference = {
		kind, s->line_a, s->line_b, s->text, what ? what : "", a, b,
	};
	s->counts.found[kind]++;
	if (s->options->tell)
		s->options->tell(s->options->user, &difference);
}

static void tell_compared(void *user, const char *what, const char *a, const char *b)
{
	tell_replay_difference(user, what ? WS_TRACE_OUTPUT : WS_TRACE_RESULT, what, a, b);
}

static void tell_damaged(struct replay_session *s, uint64_t line, bool is_b,
			 const struct ws_error *err)
{
	s->line_a = is_b ? 0 : line;
	s->line_b = is_b ? line : 0;
	s->text[0] = '\0';
	tell_replay_difference(s, WS_TRACE_DAMAGED, NULL, is_b ? NULL : err->message,
			       is_b ? err->message : NULL);
}

/* ---- walking ---- */

/* The line at a place; false at the end. Lines without anything are passed over. */
static bool line_at(const struct replay_trace *t, struct replay_place *place,
		    struct ws_span *ret_line)
{
	struct ws_span file = t->file.bytes, line;
	do {
		if (place->at >= file.len)
			return false;
		const uint8_t *begin = file.ptr + place->at;
		const uint8_t *end = memchr(begin, '\n', file.len - place->at);
		size_t n = end ? (size_t)(end - begin) : (size_t)(file.len - place->at);
		line = (struct ws_span){ begin, n, place->at };
		place->at += n + 1;
		place->line++;
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
	} while (!line.len);
	*ret_line = line;
	return true;
}

static enum ws_status read_traced_call(struct replay_session *s, struct ws_span line,
				       struct wsi_traced *ret_call, uint8_t **scratch, size_t *cap,
				       struct ws_error *err)
{
	if (line.len > MAX_LINE_BYTES)
		return wsi_fail(err, WS_MALFORMED, line.origin, "a line of %zu bytes", line.len);
	if (*cap < line.len) {
		wsi_free(*scratch);
		*cap = line.len;
		*scratch = wsi_zalloc(*cap);
	}
	if (!*scratch) {
		*cap = 0;
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "room for a line");
	}
	enum ws_status st = wsi_traced_read(line, ret_call, *scratch, err);
	if (st != WS_OK)
		return st;
	if (!s->has_table) {
		s->has_table = true;
		s->table = s->options->one_table ? s->options->table : ret_call->table;
	}
	return WS_OK;
}

/* Reads the next call of the table; false at the end. */
static bool trace_next(struct replay_session *s, struct replay_trace *t, bool is_b)
{
	struct ws_span line;
	while (line_at(t, &t->place, &line)) {
		struct ws_error err;
		t->line = t->place.line;
		enum ws_status st = read_traced_call(s, line, &t->call, &t->scratch, &t->cap, &err);
		if (st != WS_OK)
			tell_damaged(s, t->line, is_b, &err);
		else if (t->call.table == s->table)
			return true;
		else
			s->counts.other_tables++;
	}
	return false;
}

/* A file whose first line is no call, and which has no other, is no trace. */
static enum ws_status trace_open(struct replay_session *s, struct replay_trace *t, const char *path,
				 struct ws_error *err)
{
	struct ws_span line;
	struct ws_error first = { .status = WS_OK };
	struct replay_place place = { 0, 0 };
	struct wsi_traced call;
	enum ws_status st = wsi_file_open_any(path, NULL, &t->file, err);
	if (st != WS_OK)
		return st;
	while (line_at(t, &place, &line)) {
		st = read_traced_call(s, line, &call, &t->scratch, &t->cap,
				      first.status == WS_OK ? &first : err);
		if (st == WS_OK)
			return WS_OK;
	}
	if (first.status == WS_OK)
		return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET, "%s: no calls in it", path);
	return wsi_fail(err, WS_MALFORMED, first.file_off, "%s is not a trace in JSON lines: %s",
			path, first.message);
}

static void trace_close(struct replay_trace *t)
{
	wsi_file_close(&t->file);
	wsi_free(t->scratch);
}

/* ---- two traces ---- */

/* Calls from a place on until one equals `call`; 0: not among the next ones. */
static unsigned meets(struct replay_session *s, const struct replay_trace *in,
		      const struct wsi_traced *call, bool call_is_a, struct replay_trace *scratch)
{
	struct replay_place place = in->place;
	struct ws_span line;
	struct wsi_traced other;
	for (unsigned n = 1; n <= LOOK_AHEAD && line_at(in, &place, &line);) {
		if (read_traced_call(s, line, &other, &scratch->scratch, &scratch->cap, NULL) !=
			    WS_OK ||
		    other.table != s->table)
			continue;
		if (call_is_a ? wsi_traced_same_inputs(call, &other, &s->handles)
			      : wsi_traced_same_inputs(&other, call, &s->handles))
			return n;
		n++;
	}
	return 0;
}

static void tell_only(struct replay_session *s, const struct replay_trace *t, bool is_b)
{
	s->line_a = is_b ? 0 : t->line;
	s->line_b = is_b ? t->line : 0;
	wsi_traced_text(&t->call, s->text, sizeof s->text);
	const char *result = cudbgGetErrorString(t->call.result);
	tell_replay_difference(s, is_b ? WS_TRACE_ONLY_B : WS_TRACE_ONLY_A, NULL,
			       is_b ? NULL : result, is_b ? result : NULL);
}

static void compare_calls(struct replay_session *s, const struct wsi_traced *a,
			  const struct wsi_traced *b)
{
	wsi_traced_text(a, s->text, sizeof s->text);
	s->counts.compared++;
	s->counts.same += wsi_traced_compare(a, b, &s->handles, tell_compared, s);
}

/* Passes over the calls that only one of the traces has. */
static void resynchronize(struct replay_session *s, struct replay_trace *t, bool *has,
			  struct replay_trace *scratch)
{
	unsigned skip_a = meets(s, &t[0], &t[1].call, false, scratch);
	unsigned skip_b = meets(s, &t[1], &t[0].call, true, scratch);
	bool only_b = skip_b && (!skip_a || skip_b < skip_a);
	if (!skip_a && !skip_b) {
		for (int i = 0; i < 2; i++) {
			tell_only(s, &t[i], i == 1);
			has[i] = trace_next(s, &t[i], i == 1);
		}
		return;
	}
	for (unsigned n = only_b ? skip_b : skip_a; n > 0 && has[only_b]; n--) {
		tell_only(s, &t[only_b], only_b);
		has[only_b] = trace_next(s, &t[only_b], only_b);
	}
}

static void diff_calls(struct replay_session *s, struct replay_trace *t,
		       struct replay_trace *scratch)
{
	bool has[2];
	for (int i = 0; i < 2; i++)
		has[i] = trace_next(s, &t[i], i == 1);
	while (has[0] && has[1]) {
		if (!wsi_traced_same_inputs(&t[0].call, &t[1].call, &s->handles)) {
			resynchronize(s, t, has, scratch);
			continue;
		}
		s->line_a = t[0].line;
		s->line_b = t[1].line;
		compare_calls(s, &t[0].call, &t[1].call);
		for (int i = 0; i < 2; i++)
			has[i] = trace_next(s, &t[i], i == 1);
	}
	for (int i = 0; i < 2; i++)
		for (; has[i]; has[i] = trace_next(s, &t[i], i == 1))
			tell_only(s, &t[i], i == 1);
}

static const struct ws_trace_options defaults = { .size = sizeof defaults };

enum ws_status ws_trace_diff(const char *a, const char *b, const struct ws_trace_options *options,
			     struct ws_trace_counts *ret_counts, struct ws_error *err)
{
	struct replay_session s = { .options = options ? options : &defaults };
	struct replay_trace t[2], scratch;
	memset(t, 0, sizeof t);
	memset(&scratch, 0, sizeof scratch);
	if (!a || !b || !ret_counts)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "two traces are needed");
	enum ws_status st = trace_open(&s, &t[0], a, err);
	if (st == WS_OK)
		st = trace_open(&s, &t[1], b, err);
	if (st == WS_OK) {
		diff_calls(&s, t, &scratch);
		*ret_counts = s.counts;
	}
	wsi_handles_fini(&s.handles);
	trace_close(&t[0]);
	trace_close(&t[1]);
	trace_close(&scratch);
	return st;
}

/* ---- a trace and a provider ---- */

/* Buffers of one call made again. */
struct again {
	union wsi_api_value v[WSI_API_MAX_ARGS];
	uint8_t *block[WSI_API_MAX_ARGS]; /* owned */
};

/* Why a call is not made; NULL: it is. */
static const char *why_not(const struct ws_provider *provider, const struct wsi_traced *call)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	union wsi_api_value counts[WSI_API_MAX_ARGS];
	uint64_t total = 0;
	if (call->slot == WSI_SLOT(generateCoredump))
		return "it writes a file";
	if (!ws_provider_has(provider, call->slot * sizeof(void *)))
		return "the provider lacks the function";
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (call->in[i].kind == WSI_TRACED_FUNCTION)
			return "it names a callback";
		if (call->in[i].n_shown < call->in[i].n)
			return "the trace has cut an input";
		counts[i].number = call->in[i].number;
	}
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].way == WSI_API_OUT && call->in[i].kind != WSI_TRACED_NULL)
			total = wsi_add_sat(total, wsi_call_api_room(fn, i, counts));
	return total > MAX_CALL_BYTES ? "its buffers are too big" : NULL;
}

static bool again_init(struct again *again, const struct wsi_traced *call,
		       const struct wsi_handles *handles)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	memset(again, 0, sizeof *again);
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].way == WSI_API_VALUE && call->in[i].kind == WSI_TRACED_NUMBER)
			again->v[i].number =
				wsi_handles_map(handles, fn->args[i].handle, call->in[i].number);
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		const struct wsi_traced_value *in = &call->in[i], *out = &call->out[i];
		if (arg->way == WSI_API_VALUE || arg->way == WSI_API_OPAQUE ||
		    in->kind == WSI_TRACED_NULL)
			continue;
		size_t n =
			arg->way == WSI_API_OUT ? wsi_call_api_room(fn, i, again->v) : in->n_shown;
		again->block[i] = wsi_zalloc(n + 1); /* texts end in NUL */
		if (!again->block[i])
			return false;
		/* What a call leaves alone in a list must not look like a difference. */
		const struct wsi_traced_value *from = arg->way != WSI_API_OUT ? in : out;
		if (from->n_shown && (arg->way != WSI_API_OUT || arg->count >= 0))
			memcpy(again->block[i], from->bytes, from->n_shown);
		again->v[i].pointer = again->block[i];
	}
	return true;
}

static void again_fini(struct again *again)
{
	for (unsigned i = 0; i < WSI_API_MAX_ARGS; i++)
		wsi_free(again->block[i]);
}

static enum ws_status replay_call(struct replay_session *s, const struct ws_provider *provider,
				  const struct replay_trace *t, struct ws_error *err)
{
	const struct wsi_traced *call = &t->call;
	const char *why = why_not(provider, call);
	s->line_a = t->line;
	s->line_b = 0;
	if (why) {
		wsi_traced_text(call, s->text, sizeof s->text);
		tell_replay_difference(s, WS_TRACE_NOT_REPLAYED, NULL,
				       cudbgGetErrorString(call->result), why);
		return WS_OK;
	}
	struct again again;
	struct wsi_traced answer = { .slot = call->slot, .table = call->table };
	bool good = again_init(&again, call, &s->handles);
	if (good) {
		if (call->slot == WSI_SLOT(initialize) && provider->capabilities)
			*provider->capabilities = (uint32_t)call->capabilities;
		answer.result = wsi_api_invoke(provider->api, call->slot, again.v);
		wsi_traced_outputs(&answer, again.v);
		compare_calls(s, call, &answer);
	}
	again_fini(&again);
	return good ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "buffers of a call");
}

enum ws_status ws_trace_replay(const char *trace, const struct ws_provider *provider,
			       const struct ws_trace_options *options,
			       struct ws_trace_counts *ret_counts, struct ws_error *err)
{
	struct replay_session s = { .options = options ? options : &defaults };
	struct replay_trace t;
	memset(&t, 0, sizeof t);
	if (!trace || !provider || !provider->api || !ret_counts)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a trace and a table are needed");
	enum ws_status st = trace_open(&s, &t, trace, err);
	while (st == WS_OK && trace_next(&s, &t, false))
		st = replay_call(&s, provider, &t, err);
	if (st == WS_OK)
		*ret_counts = s.counts;
	wsi_handles_fini(&s.handles);
	trace_close(&t);
	return st;
}
