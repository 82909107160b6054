/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log is opened once, when the first table is handed out, and flushed after each line, so that
 * it shows the call in which a client died. Host addresses are not shown.
 */
#include "trace/trace.h"

#include <pthread.h>
#include <time.h>

#include <warpscope/out.h>

#include "trace/traced.h"

#include "base/file.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;       /* -1: no tracing */
static struct ws_out out; /* to fd; under lock, as n_lines */
static bool as_text;      /* for people instead of JSON lines */
static uint64_t n_lines;

/* Text when the name begins with "text:", which is no part of it, or ends in ".txt". */
static void open_file(void)
{
	static const char prefix[] = "text:", suffix[] = ".txt";
	const char *path = getenv("WARPSCOPE_TRACE");
	if (!path || !*path)
		return;
	size_t n = strlen(path);
	bool prefixed = !strncmp(path, prefix, sizeof prefix - 1);
	as_text = prefixed || (n >= sizeof suffix && !strcmp(path + n + 1 - sizeof suffix, suffix));
	fd = wsi_file_private(prefixed ? path + sizeof prefix - 1 : path);
	ws_out_init(&out, ws_write_fd, &fd);
}

bool wsi_trace_on(void)
{
	pthread_once(&once, open_file);
	return fd >= 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- JSON lines ---- */

static void put_traced_bytes(const struct wsi_traced_value *value)
{
	ws_out_text(&out, "\"");
	for (size_t i = 0; i < value->n_shown; i++)
		ws_out_printf(&out, "%02x", value->bytes[i]);
	if (value->n_shown < value->n)
		ws_out_printf(&out, "...%" PRIu64 ":%016" PRIx64, value->n, value->hash);
	ws_out_text(&out, "\"");
}

static void put_values(const struct wsi_api_fn *fn, const struct wsi_traced_value *values)
{
	const char *comma = "";
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (values[i].kind == WSI_TRACED_NOTHING)
			continue;
		ws_out_printf(&out, "%s\"%s\":", comma, fn->args[i].name);
		comma = ",";
		if (values[i].kind == WSI_TRACED_NUMBER)
			ws_out_printf(&out, "\"0x%" PRIx64 "\"", values[i].number);
		else if (values[i].kind == WSI_TRACED_BYTES)
			put_traced_bytes(&values[i]);
		else
			ws_out_text(&out,
				    values[i].kind == WSI_TRACED_NULL ? "null" : "\"function\"");
	}
}

static void put_json(const struct wsi_traced *call)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	ws_out_printf(&out, "{\"n\":%" PRIu64 ",\"table\":%u,\"call\":\"%s\",", n_lines,
		      call->table, fn->name);
	if (call->slot == WSI_SLOT(initialize))
		ws_out_printf(&out, "\"capabilities\":\"0x%" PRIx64 "\",", call->capabilities);
	ws_out_text(&out, "\"in\":{");
	put_values(fn, call->in);
	ws_out_printf(&out, "},\"result\":\"%s\",\"out\":{", cudbgGetErrorString(call->result));
	put_values(fn, call->out);
	ws_out_printf(&out, "},\"ns\":%" PRIu64 "}\n", call->ns);
}

/* ---- text ---- */

static void put_traced_text(const struct wsi_traced *call)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	char text[600];
	wsi_traced_text(call, text, sizeof text);
	ws_out_printf(&out, "%" PRIu64 " %u %s = %s", n_lines, call->table, text,
		      cudbgGetErrorString(call->result));
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (call->out[i].kind == WSI_TRACED_NOTHING)
			continue;
		wsi_traced_value_text(&fn->args[i], &call->out[i], text, sizeof text);
		ws_out_printf(&out, " %s=%s", fn->args[i].name, text);
	}
	ws_out_printf(&out, " [%" PRIu64 " ns]\n", call->ns);
}

CUDBGResult wsi_trace_call(wsi_trace_make *make, unsigned session, unsigned slot,
			   const union wsi_api_value *values)
{
	struct wsi_traced call = {
		.table = session,
		.slot = slot,
		.capabilities = cudbgDebuggerCapabilities,
	};
	wsi_traced_inputs(&call, values);
	uint64_t begin = now_ns();
	call.result = make(session, slot, values);
	call.ns = now_ns() - begin;
	wsi_traced_outputs(&call, values);
	pthread_mutex_lock(&lock);
	if (as_text)
		put_traced_text(&call);
	else
		put_json(&call);
	n_lines++;
	if (ws_out_flush(&out, NULL) != WS_OK)
		out.failed = false; /* the next line may fit again; a client must not notice */
	pthread_mutex_unlock(&lock);
	return call.result;
}
