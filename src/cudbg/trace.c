/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log is opened once, when the first table is handed out, and flushed after each line, so that
 * it tells of the call in which a client died. Buffers are shown in hexadecimal as they lie in
 * memory, cut after MAX_SHOWN bytes; addresses are not shown.
 */
#include "cudbg/trace.h"

#include <time.h>

enum { MAX_SHOWN = 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;       /* NULL: no tracing */
static uint64_t n_lines; /* under lock */

static void open_file(void)
{
	const char *path = getenv("WARPSCOPE_TRACE");
	if (path && *path)
		file = fopen(path, "w");
}

CUDBGAPI wsi_trace_table(unsigned session)
{
	pthread_once(&once, open_file);
	return file ? &wsi_trace_tables[session] : &wsi_cudbg_tables[session];
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Bytes behind a pointer argument. */
static size_t bytes_of(const struct wsi_api_fn *fn, unsigned i, const union wsi_api_value *values)
{
	const struct wsi_api_arg *arg = &fn->args[i];
	if (arg->way == WSI_API_OPAQUE)
		return 0;
	if (arg->string)
		return strlen(values[i].pointer);
	uint64_t n = arg->count < 0 ? 1 : values[arg->count].number;
	return n > SIZE_MAX / arg->size ? SIZE_MAX : (size_t)n * arg->size;
}

static void put_bytes(const uint8_t *bytes, size_t n)
{
	fputc('"', file);
	for (size_t i = 0; i < n && i < MAX_SHOWN; i++)
		fprintf(file, "%02x", bytes[i]);
	fputs(n > MAX_SHOWN ? "...\"" : "\"", file);
}

/* The arguments of one kind: what goes in, or what came out. */
static void put_arguments(const struct wsi_api_fn *fn, const union wsi_api_value *values, bool out)
{
	const char *comma = "";
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		bool is_out = arg->way == WSI_API_OUT || arg->way == WSI_API_INOUT;
		if (out ? !is_out : arg->way == WSI_API_OUT && values[i].pointer)
			continue;
		fprintf(file, "%s\"%s\":", comma, arg->name);
		comma = ",";
		if (arg->way == WSI_API_VALUE && strstr(arg->type, "Callback"))
			fputs(values[i].code ? "\"function\"" : "null", file);
		else if (arg->way == WSI_API_VALUE)
			fprintf(file, "\"0x%" PRIx64 "\"", values[i].number);
		else if (!values[i].pointer)
			fputs("null", file);
		else
			put_bytes(values[i].pointer, bytes_of(fn, i, values));
	}
}

CUDBGResult wsi_trace_call(unsigned session, unsigned slot, const union wsi_api_value *values)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	uint64_t begin = now_ns();
	CUDBGResult result = wsi_api_invoke(&wsi_cudbg_tables[session], slot, values);
	uint64_t end = now_ns();
	pthread_mutex_lock(&lock);
	fprintf(file, "{\"n\":%" PRIu64 ",\"table\":%u,\"call\":\"%s\",\"in\":{", n_lines++,
		session, fn->name);
	put_arguments(fn, values, false);
	fprintf(file, "},\"result\":\"%s\",\"out\":{", cudbgGetErrorString(result));
	if (result == CUDBG_SUCCESS)
		put_arguments(fn, values, true);
	fprintf(file, "},\"ns\":%" PRIu64 "}\n", end - begin);
	fflush(file);
	pthread_mutex_unlock(&lock);
	return result;
}
