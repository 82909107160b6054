/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under a debugger, and the debugger: two processes of a test, each with the driver's
 * library as its documentation has it. The program does a step when it is told to, so that the
 * debugger knows what an event is of.
 */
#ifndef WARPSCOPE_TESTS_DEBUGGED_H
#define WARPSCOPE_TESTS_DEBUGGED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include <warpscope/cudadebugger.h>

enum {
	STOPS = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS,
	LAZY = CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING,
	NO_SWITCHES = CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS,
	PRINTF = CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND,
	LOGS = CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS,
	STACKS = CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES,
	AT_LAUNCH = CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH,
	MOST_MS = 60000,
	SAYS = 64, /* lines that a kernel prints */
};

struct debugged {
	pid_t pid;
	int tell, hear, out; /* the last is its standard output */
};

extern struct debugged program;
extern CUDBGAPI api;
extern CUDBGEvent events[64];
extern unsigned n_events;
extern atomic_uint n_calls; /* of called() */
extern bool acknowledges;

/* A step of the program. */
__attribute__((noinline)) bool do_step(char step);
void called(CUDBGEventCallbackData *data);
/* `begins`: as its debugger has it from the beginning on. */
void start(uint32_t wanted, bool begins);
void bury(void);
void end(void);
void take_events(void);
/* What the program said within a time; 0: nothing. */
char hear(int ms);
void tell(char step);
void do_steps(const char *steps);
unsigned count(CUDBGEventKind kind);
/* Number of the first of a kind among the events. */
unsigned first(CUDBGEventKind kind);
/* Until the device has stopped, which is not always told. */
void await_stop(void);
/* A fault stops the device; the program learns of it when the debugger lets it go on. */
void let_fail(void);

/* Runs the tests; `argv` names a fatbin. */
#define DEBUGGED_MAIN(argc, argv, tests) \
	(debugged_init(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2)
bool debugged_init(int argc, char **argv);

#endif
