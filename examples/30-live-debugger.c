/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger of a program's GPU: it stops once in a device function and says who stands there. A
 * program that it has started goes on to a fault or to its end. docs/first-live-client.md
 *
 *   30-live-debugger FUNCTION PROGRAM...
 *   30-live-debugger FUNCTION --pid PID descriptor|call|init
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <warpscope/debug.h>
#include <warpscope/exception.h>

static void tell(void *user, const struct ws_debug_notice *notice)
{
	(void)user;
	if (notice->err)
		fprintf(stderr, "%s\n", notice->err->message);
	else if (notice->news && notice->news->kind == WS_DEBUG_CUDA_BEGINS)
		printf("the program begins to use CUDA\n");
	else if (notice->news && notice->news->kind == WS_DEBUG_CALL_FAILED)
		printf("%s: %s\n", notice->news->function, notice->news->error);
}

static enum ws_status begin(struct ws_debug *session, char *const words[], struct ws_error *err)
{
	if (strcmp(words[0], "--pid") != 0)
		return ws_debug_start(session, words, err);
	const char way = words[2][0];
	return ws_debug_attach(session, (uint32_t)strtoul(words[1], NULL, 10),
			       way == 'c'   ? WS_DEBUG_BY_CALL
			       : way == 'i' ? WS_DEBUG_BY_INIT
					    : WS_DEBUG_BY_DESCRIPTOR,
			       err);
}

static long long number(struct ws_debug *session, const char *expression)
{
	struct ws_number value;
	return ws_debug_number(session, expression, &value, NULL) == WS_OK ? value.whole : -1;
}

/* Where the thread in focus is, and which it is. */
static void show(struct ws_debug *session, const struct ws_debug_stop *stop)
{
	const struct ws_exception *exception = ws_exception_find(stop->exception);
	struct ws_debug_position at;
	ws_debug_position(session, stop->pc, &at);
	printf("stopped: %s, block %lld, thread %lld, line %" PRIu32 "\n",
	       exception ? exception->label : "a breakpoint", number(session, "blockIdx.x"),
	       number(session, "threadIdx.x"), at.n ? at.chain[0].line : 0);
}

static int run(struct ws_debug *session, const char *function, char *const words[])
{
	const bool is_ours = strcmp(words[0], "--pid") != 0;
	const struct ws_debug_breakpoint *made;
	struct ws_debug_stop stop = { .reason = WS_DEBUG_AT_PROGRAM };
	struct ws_error err;
	enum ws_status st = begin(session, words, &err);
	if (st == WS_OK) /* a temporary one; its code need not be loaded yet */
		st = ws_debug_break(session, function, NULL, true, &made, &err);
	while (st == WS_OK && (stop.reason == WS_DEBUG_AT_PROGRAM ||
			       (is_ours && stop.reason == WS_DEBUG_AT_BREAKPOINT))) {
		st = ws_debug_run(session, &stop, &err);
		if (st == WS_OK && stop.has_thread)
			show(session, &stop);
	}
	if (st != WS_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (stop.reason == WS_DEBUG_PROGRAM_GONE)
		return 0;
	ws_debug_detach(session); /* it goes on as if nobody had been there */
	ws_debug_leave(session);
	printf("detached\n");
	if (is_ours)
		(void)wait(NULL); /* if it has not ended: it is a child of this process */
	return 0;
}

int main(int argc, char **argv)
{
	const struct ws_debug_client client = { .size = sizeof client, .tell = tell };
	struct ws_debug *session;
	if (argc < 3 || (strcmp(argv[2], "--pid") == 0 && argc != 5)) {
		fprintf(stderr, "usage: %s FUNCTION PROGRAM...\n", argv[0]);
		return 2;
	}
	if (ws_debug_create(&client, &session, NULL) != WS_OK)
		return 2;
	const int status = run(session, argv[1], argv + 2);
	ws_debug_destroy(session);
	return status;
}
