/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session (debug.h) over a host program on the software GPU, without a prompt. What programs do
 * to it, and who is killed when, is in test_session.py.
 *
 * usage: test_started PROGRAM FATBIN    LD_LIBRARY_PATH has the driver
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <warpscope/cudadebugger.h>
#include <warpscope/debug.h>

enum {
	NOT_SUPPORTED = 801, /* CUDA_ERROR_NOT_SUPPORTED */
	IN = 9,              /* a descriptor: what a program reads */
};

static char *program, *fatbin;
static struct ws_debug *session;
static struct ws_debug_stop stop;
static struct ws_debug_news last;
static struct ws_error err;

static void note(void *user, const struct ws_debug_notice *notice)
{
	(void)user;
	if (notice->kind == WS_DEBUG_PROGRAM_NEWS)
		last = *notice->news;
}

static int begin(void **state)
{
	const struct ws_debug_client client = { .size = sizeof client, .tell = note };
	(void)state;
	last.kind = WS_DEBUG_NO_NEWS;
	return ws_debug_create(&client, &session, &err) == WS_OK ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	ws_debug_destroy(session); /* and kills it */
	return waitpid(-1, NULL, WNOHANG) == -1 ? 0 : -1;
}

/* Its standard input is descriptor 9. */
static void start(char *mode)
{
	char sh[] = "sh", c[] = "-c"; /* a sanitizer looks for leaks by ptrace, too */
	char line[] = "export ASAN_OPTIONS=detect_leaks=0; exec \"$0\" \"$@\" <&9 >/dev/null";
	char *const words[] = { sh, c, line, program, fatbin, mode, NULL };
	assert_int_equal(ws_debug_start(session, words, &err), WS_OK);
	assert_int_equal(last.kind, WS_DEBUG_CUDA_BEGINS);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_FRESH);
	assert_non_null(ws_debug_target(session));
}

static void run_to(enum ws_debug_reason reason)
{
	assert_int_equal(ws_debug_run(session, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, reason);
}

static void a_breakpoint_waits_for_its_code(void **state)
{
	(void)state;
	char mode[] = "say";
	const struct ws_debug_breakpoint *made;
	start(mode);
	assert_int_equal(ws_debug_break(session, "say", NULL, false, &made, &err), WS_OK);
	assert_int_equal(made->n_pcs, 0);
	for (int i = 0; i < 2; i++) {
		run_to(WS_DEBUG_AT_BREAKPOINT);
		assert_int_equal(stop.breakpoint->n_pcs, 1);
		assert_true(stop.has_thread && stop.pc == stop.breakpoint->pc[0]);
		assert_non_null(ws_debug_focus(session));
		ws_debug_leave(session); /* another, whose code is not loaded either */
		start(mode);
		assert_int_equal(ws_debug_breakpoint_find(session, 1)->n_pcs, 0);
	}
	ws_debug_remove(session, 1);
	run_to(WS_DEBUG_PROGRAM_GONE);
	assert_int_equal(stop.news->kind, WS_DEBUG_EXITED);
	assert_int_equal(stop.news->number, 0);
	assert_false(stop.has_thread);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_OVER);
}

static void a_call_that_fails_is_told(void **state)
{
	(void)state;
	char mode[] = "missing";
	start(mode);
	run_to(WS_DEBUG_AT_PROGRAM);
	assert_int_equal(stop.news->kind, WS_DEBUG_CALL_FAILED);
	assert_int_equal(stop.news->number, NOT_SUPPORTED);
	assert_string_equal(stop.news->function, "cuCtxAttach");
	assert_string_equal(stop.news->error, "CUDA_ERROR_NOT_SUPPORTED");
	assert_int_equal(last.kind, WS_DEBUG_CALL_FAILED);
}

static void a_program_that_is_left_goes_on(void **state)
{
	(void)state;
	char mode[] = "lines";
	int input[2], status;
	const int kept = dup(IN);
	assert_int_equal(pipe(input), 0);
	assert_int_equal(fcntl(input[1], F_SETFD, FD_CLOEXEC), 0);
	assert_int_equal(dup2(input[0], IN), IN);
	start(mode);
	ws_debug_detach(session);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_OVER);
	ws_debug_leave(session);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_EMPTY);
	assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
	assert_int_equal(write(input[1], "a line\n", 7), 7);
	close(input[1]);
	close(input[0]);
	assert_int_equal(dup2(kept, IN), IN);
	close(kept);
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_fault_stops_it(void **state)
{
	(void)state;
	char mode[] = "fault";
	start(mode);
	run_to(WS_DEBUG_AT_FAULT);
	assert_int_equal(stop.exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	assert_null(stop.news);
}

static void what_is_no_such_program_is_an_error(void **state)
{
	(void)state;
	char none[] = "/no/such/program", no_cuda[] = "true";
	char *const missing[] = { none, NULL }, *const foreign[] = { no_cuda, NULL };
	assert_int_equal(ws_debug_start(session, missing, &err), WS_IO);
	assert_string_equal(err.message, "/no/such/program: No such file or directory");
	assert_int_equal(ws_debug_start(session, foreign, &err), WS_ABSENT);
	assert_string_equal(err.message, "the program has not begun to use CUDA");
	assert_int_equal(last.kind, WS_DEBUG_EXITED);
	assert_int_equal(ws_debug_attach(session, (uint32_t)getpid(), WS_DEBUG_BY_CALL, &err),
			 WS_IO); /* nobody can trace himself */
	assert_int_equal(ws_debug_state(session), WS_DEBUG_EMPTY);
	assert_null(ws_debug_target(session));
	assert_null(ws_debug_focus(session));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_breakpoint_waits_for_its_code, begin, end),
		cmocka_unit_test_setup_teardown(a_call_that_fails_is_told, begin, end),
		cmocka_unit_test_setup_teardown(a_program_that_is_left_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(a_fault_stops_it, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_such_program_is_an_error, begin, end),
	};
	if (argc != 3)
		return 2;
	if (dup2(STDIN_FILENO, IN) != IN)
		return 2;
	program = argv[1];
	fatbin = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
