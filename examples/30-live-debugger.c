/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger of a program's GPU: it stops once in a device function, says who stands there, goes on
 * to a fault or to the end, and detaches from a program that has failed.
 *
 *   30-live-debugger FUNCTION PROGRAM...
 *
 *   cc -o 30-live-debugger 30-live-debugger.c $(pkg-config --cflags --libs warpscope)
 *   warpscope exec --software-gpu -- 30-live-debugger store example-program FATBIN
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include <warpscope/debug.h>
#include <warpscope/exception.h>

static void tell(void *user, const struct ws_debug_notice *notice)
{
	(void)user;
	if (notice->err)
		fprintf(stderr, "%s\n", notice->err->message);
	else if (notice->news && notice->news->kind == WS_DEBUG_CALL_FAILED)
		printf("%s: %s\n", notice->news->function, notice->news->error);
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
	struct ws_place place;
	printf("stopped: %s\n", exception ? exception->label : "a breakpoint");
	ws_debug_position(session, stop->pc, &at);
	printf("  block %lld, thread %lld", number(session, "blockIdx.x"),
	       number(session, "threadIdx.x"));
	if (at.n)
		printf(", line %" PRIu32, at.chain[0].line);
	if (ws_debug_place(session, stop->pc, &place) && place.function)
		printf(", %.*s+%" PRIu64, (int)place.function->name.len, place.function->name.ptr,
		       place.rel_pc);
	printf("\n");
}

static int run(struct ws_debug *session, const char *function, char *const program[])
{
	const struct ws_debug_breakpoint *made;
	struct ws_debug_stop stop = { .reason = WS_DEBUG_AT_BREAKPOINT };
	struct ws_error err;
	enum ws_status st = ws_debug_start(session, program, &err);
	if (st == WS_OK) /* a temporary one; its code is not loaded yet */
		st = ws_debug_break(session, function, NULL, true, &made, &err);
	while (st == WS_OK &&
	       (stop.reason == WS_DEBUG_AT_BREAKPOINT || stop.reason == WS_DEBUG_AT_PROGRAM)) {
		st = ws_debug_run(session, &stop, &err);
		if (st == WS_OK && stop.has_thread)
			show(session, &stop);
	}
	if (st != WS_OK) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (stop.reason == WS_DEBUG_PROGRAM_GONE) {
		printf("the program has ended\n");
		return 0;
	}
	ws_debug_detach(session); /* it goes on as if nobody had been there */
	ws_debug_leave(session);
	printf("detached\n");
	(void)wait(NULL); /* if it has not ended: it is a child of this process */
	return 0;
}

int main(int argc, char **argv)
{
	const struct ws_debug_client client = { .size = sizeof client, .tell = tell };
	struct ws_debug *session;
	if (argc < 3) {
		fprintf(stderr, "usage: %s FUNCTION PROGRAM...\n", argv[0]);
		return 2;
	}
	if (ws_debug_create(&client, &session, NULL) != WS_OK)
		return 2;
	const int status = run(session, argv[1], argv + 2);
	ws_debug_destroy(session);
	return status;
}
