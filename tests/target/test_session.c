/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger's session (debug.h) without a prompt: over a software GPU, and over a dump.
 *
 * usage: test_session KERNELS DUMP    a fatbin of tests/sim/kernels/debug.cu with -G; of a fault
 */
#include "unit/unit.h"

#include <warpscope/core.h>
#include <warpscope/cudadebugger.h>
#include <warpscope/debug.h>
#include <warpscope/sass.h>

#include "device.h"

enum { FOLDED = 19, LOOP = 20, THREADS = 64 };

static const char *kernels, *dump;
static struct device device;
static struct ws_debug *session;
static struct ws_debug_stop stop;
static struct ws_error err;
static enum ws_debug_notice_kind noticed;
static unsigned n_notices;

static void note(void *user, const struct ws_debug_notice *notice)
{
	(void)user;
	noticed = notice->kind;
	n_notices++;
}

static bool open_session(void)
{
	const struct ws_debug_client client = { .size = sizeof client, .tell = note };
	n_notices = 0;
	return ws_debug_create(&client, &session, &err) == WS_OK;
}

/* `calls` is queued on a device of one SM. */
static void use_device(const char *kernel)
{
	device_open(&device, kernels, 1);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &i, 4, NULL), WS_OK);
	const uint64_t args[] = { device.out, device.in, 100 };
	device_launch(&device, kernel, 1, THREADS, args, strcmp(kernel, "chain") == 0 ? 3 : 2);
	assert_int_equal(ws_debug_use_sim(session, device.sim, false, &err), WS_OK);
	device.target = ws_debug_target(session);
	assert_int_equal(ws_target_keep_history(device.target, 64 << 20, &err), WS_OK);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_FRESH);
	assert_null(ws_debug_focus(session));
}

static void leave(void)
{
	ws_debug_leave(session);
	device.target = NULL;
	device_close(&device);
}

static int begin(void **state)
{
	(void)state;
	assert_true(open_session());
	use_device("calls");
	return 0;
}

static int end(void **state)
{
	(void)state;
	leave();
	assert_int_equal(ws_debug_state(session), WS_DEBUG_EMPTY);
	ws_debug_destroy(session);
	return 0;
}

static unsigned make(const char *where, const char *condition, bool is_temporary)
{
	const struct ws_debug_breakpoint *made;
	assert_int_equal(ws_debug_break(session, where, condition, is_temporary, &made, &err),
			 WS_OK);
	assert_true(made->is_enabled && made->n_pcs > 0 && made->hits == 0);
	return made->number;
}

static void run_to(enum ws_debug_reason reason)
{
	assert_int_equal(ws_debug_run(session, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, reason);
}

static void step_to(enum ws_debug_step_kind how, uint64_t times, enum ws_debug_reason reason)
{
	assert_int_equal(ws_debug_step(session, how, times, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, reason);
}

static int64_t number(const char *text)
{
	struct ws_number value;
	assert_int_equal(ws_debug_number(session, text, &value, &err), WS_OK);
	return value.whole;
}

static uint32_t line_at(uint64_t pc)
{
	static struct ws_debug_position position;
	ws_debug_position(session, pc, &position);
	return position.n ? position.chain[0].line : 0;
}

/* What thread i has before folded(): twice(i + 3) * 5. */
static int64_t before(int64_t i)
{
	return ((2 * (i + 3)) ^ 1) * 5;
}

/* ---- breakpoints ---- */

static void a_condition_stops_one_thread(void **state)
{
	(void)state;
	struct ws_debug_thread thread;
	const unsigned one = make("debug.cu:20", "threadIdx.x == 35", false);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_STANDS);
	assert_int_equal(stop.breakpoint->number, one);
	assert_int_equal(stop.breakpoint->hits, 1);
	assert_true(stop.has_thread && stop.pc == stop.breakpoint->pc[0]);
	assert_int_equal(line_at(stop.pc), LOOP);
	assert_int_equal(line_at(stop.pc - WS_SASS_BYTES), FOLDED); /* it begins here */
	assert_true(ws_debug_thread(session, &thread));
	assert_true(thread.warp_id == 1 && thread.lane == 3);
	assert_int_equal(number("threadIdx.x"), 35);
	assert_int_equal(number("v"), before(35));
	assert_int_equal(ws_debug_set_condition(session, one, "nothing", &err), WS_ARGUMENT);
	assert_string_equal(stop.breakpoint->condition, "threadIdx.x == 35");
	assert_int_equal(ws_debug_set_condition(session, one, "threadIdx.x == 36", &err), WS_OK);
	ws_debug_ignore(session, one, 1);
	run_to(WS_DEBUG_AT_BREAKPOINT); /* the loop's third turn */
	assert_true(number("threadIdx.x") == 36 && number("i") == 2);
	assert_true(stop.breakpoint->hits == 3 && stop.breakpoint->ignored == 0);
	ws_debug_remove(session, one);
	assert_null(ws_debug_breakpoint_find(session, one));
	run_to(WS_DEBUG_ALL_ENDED);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_OVER);
	assert_false(stop.has_thread);
	assert_int_equal(n_notices, 0);
}

static void a_temporary_one_stops_once_and_has_its_commands(void **state)
{
	static const char *const lines[] = { "silent", "print v" };
	(void)state;
	const unsigned one = make("debug.cu:20", NULL, true);
	assert_int_equal(ws_debug_set_commands(session, one, lines, 2, &err), WS_OK);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_null(ws_debug_breakpoint_find(session, one));
	assert_null(ws_debug_breakpoint_next(session, 0));
	assert_true(stop.breakpoint->number == one && stop.breakpoint->is_temporary);
	assert_int_equal(stop.breakpoint->n_commands, 2);
	assert_string_equal(stop.breakpoint->commands[1], "print v");
	run_to(WS_DEBUG_ALL_ENDED);
}

static void the_table_is_in_the_order_of_numbers(void **state)
{
	(void)state;
	unsigned numbers[20], n = 0;
	const struct ws_debug_breakpoint *one = NULL;
	for (size_t i = 0; i < WSI_COUNT(numbers); i++)
		assert_int_equal(numbers[i] = make("calls", NULL, false), i + 1);
	for (size_t i = 0; i < WSI_COUNT(numbers); i += 2)
		ws_debug_remove(session, numbers[i]);
	assert_int_equal(make("calls", NULL, false), 21);
	while ((one = ws_debug_breakpoint_next(session, one ? one->number : 0))) {
		assert_true(one->number % 2 == 0 || one->number == 21);
		assert_ptr_equal(ws_debug_breakpoint_find(session, one->number), one);
		ws_debug_enable(session, one->number, one->number == 4);
		n++;
	}
	assert_int_equal(n, 11);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(stop.breakpoint->number, 4);
	ws_debug_enable(session, 4, false);
	run_to(WS_DEBUG_ALL_ENDED);
}

static void what_is_no_place_is_an_error(void **state)
{
	(void)state;
	const struct ws_debug_breakpoint *made;
	static const struct {
		const char *where, *condition, *message;
		enum ws_status status;
	} wrong[] = {
		{ "nowhere", NULL, "Function \"nowhere\" not defined", WS_ABSENT },
		{ "debug.cu:4000", NULL, "No code is at 'debug.cu:4000'", WS_ABSENT },
		{ "20", NULL, "Which file? There is no thread whose source is known", WS_ARGUMENT },
		{ "calls", "novar > 1", "No symbol \"novar\" in current context", WS_ARGUMENT },
	};
	for (size_t i = 0; i < WSI_COUNT(wrong); i++) {
		assert_int_equal(ws_debug_break(session, wrong[i].where, wrong[i].condition, false,
						&made, &err),
				 wrong[i].status);
		assert_string_equal(err.message, wrong[i].message);
	}
	assert_int_equal(ws_debug_break(session, "*0x10", NULL, false, &made, &err), WS_ABSENT);
	assert_non_null(strstr(err.message, "Breakpoint 1: "));
	assert_int_equal(make("calls", NULL, false), 1);
}

/* A condition that cannot be told stops, and is told. */
static void what_cannot_be_told_counts_as_true(void **state)
{
	(void)state;
	make("debug.cu:20", "*(int *)(0x10 + v) == 3", false);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_true(n_notices > 0);
	assert_int_equal(noticed, WS_DEBUG_CONDITION);
}

/* ---- watchpoints ---- */

static void a_watchpoint_has_both_values(void **state)
{
	(void)state;
	const struct ws_debug_breakpoint *made;
	struct ws_debug_memory memory;
	char text[40];
	snprintf(text, sizeof text, "*(unsigned *)0x%" PRIx64, device.out + 4 * 35);
	assert_int_equal(ws_debug_memory(session, "1 + 2", &memory, &err), WS_ARGUMENT);
	assert_int_equal(ws_debug_memory(session, text, &memory, &err), WS_OK);
	assert_true(memory.size_bytes == 4 && memory.number_bytes == 4 && memory.is_unsigned);
	assert_int_equal(ws_debug_watch(session, text, &memory, WS_WATCH_CHANGE, NULL, &made, &err),
			 WS_OK);
	for (unsigned i = 1; i <= 2; i++) {
		uint32_t old, now;
		run_to(WS_DEBUG_AT_WATCHPOINT);
		assert_int_equal(stop.n_hits, 1);
		assert_true(stop.hits[0].has_number && stop.hits[0].watchpoint == stop.breakpoint);
		assert_int_equal(stop.breakpoint->hits, i);
		memcpy(&old, stop.hits[0].old, 4);
		memcpy(&now, stop.hits[0].now, 4);
		assert_int_equal(old, i == 1 ? 0 : before(35));
		assert_true(i == 1 ? now == before(35) : now > before(35));
		assert_int_equal(number("threadIdx.x"), 35);
	}
	run_to(WS_DEBUG_ALL_ENDED);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ws_debug_run_back(session, &stop, &err), WS_OK);
		assert_int_equal(stop.reason, WS_DEBUG_AT_WATCHPOINT);
		assert_int_equal(number(text), i == 0 ? before(35) : 0);
	}
	assert_int_equal(ws_debug_run_back(session, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, WS_DEBUG_HISTORY_BEGINS);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_STANDS);
}

/* Of two in one stop, one that is to be passed over is. */
static void ignored_hits_are_passed_over(void **state)
{
	(void)state;
	const struct ws_debug_breakpoint *made;
	struct ws_debug_memory memory;
	char text[40];
	for (unsigned i = 0; i < 2; i++) { /* both are written by one instruction */
		snprintf(text, sizeof text, "*(int *)0x%" PRIx64, device.out + 4 * i);
		assert_int_equal(ws_debug_memory(session, text, &memory, &err), WS_OK);
		assert_int_equal(
			ws_debug_watch(session, text, &memory, WS_WATCH_CHANGE, NULL, &made, &err),
			WS_OK);
	}
	ws_debug_ignore(session, 1, 1);
	run_to(WS_DEBUG_AT_WATCHPOINT);
	assert_true(stop.n_hits == 1 && stop.breakpoint->number == 2);
	assert_int_equal(ws_debug_breakpoint_find(session, 1)->hits, 1);
	run_to(WS_DEBUG_AT_WATCHPOINT);
	assert_int_equal(stop.n_hits, 2);
	assert_int_equal(ws_debug_breakpoint_find(session, 1)->hits, 2);
}

/* ---- values ---- */

static void values_have_numbers_and_names(void **state)
{
	(void)state;
	const struct ws_value seven = ws_value_int(7);
	const char *name;
	char many[16];
	size_t kept;
	assert_int_equal(ws_debug_assign(session, "$n = 1", &err), WS_OK); /* without a thread */
	assert_int_equal(ws_debug_assign(session, "$R1 = 1", &err), WS_ABSENT);
	assert_int_equal(ws_debug_assign(session, "1 == 1", &err), WS_ARGUMENT);
	make("folded", "threadIdx.x == 5", true);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(ws_debug_keep(session, &seven, &kept, &err), WS_OK);
	assert_int_equal(kept, 1);
	assert_int_equal(number("$ + $1 + $n"), 15);
	assert_int_equal(ws_debug_assign(session, "$n += $", &err), WS_OK);
	assert_int_equal(ws_debug_assign(session, "$n++", &err), WS_OK);
	assert_int_equal(number("$n"), 9);
	assert_int_equal(ws_debug_assign(session, "$n--", &err), WS_OK);
	assert_int_equal(number("$n"), 8);
	assert_int_equal(ws_debug_assign(session, "v = $n << 1", &err), WS_OK);
	assert_int_equal(number("v"), 16);
	assert_int_equal(number("$_thread"), 1);
	for (int i = 0; i < 1000; i++) {
		snprintf(many, sizeof many, "$n%d = %d", i, i);
		assert_int_equal(ws_debug_assign(session, many, &err), WS_OK);
	}
	assert_int_equal(number("$n999 - $n0"), 999);
	assert_ptr_equal(ws_debug_named(session, 0, &name), ws_debug_named(session, 0, &name));
	assert_string_equal(name, "n");
	assert_null(ws_debug_kept(session, 2));
	assert_null(ws_debug_named(session, 1001, &name));
	leave(); /* they outlive the target */
	use_device("calls");
	assert_int_equal(number("$1 + $n"), 15);
	ws_debug_remove(session, 1);
	run_to(WS_DEBUG_ALL_ENDED);
	assert_int_equal(number("$_exitcode"), 0);
}

/* A condition is about the thread that comes there, also what it says of the GPU. */
static void a_condition_knows_where_its_thread_is(void **state)
{
	(void)state;
	make("folded", "$cuda_focus_lane == 5 && $cuda_focus_warp == 1", true);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(number("threadIdx.x"), 37);
}

/* ---- steps ---- */

static void steps_go_forth_and_back(void **state)
{
	(void)state;
	make("folded", "threadIdx.x == 5", true);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(line_at(stop.pc), FOLDED);
	const uint64_t first = stop.pc;
	step_to(WS_DEBUG_STEP, 1, WS_DEBUG_STEPPED);
	assert_int_equal(line_at(stop.pc), LOOP);
	step_to(WS_DEBUG_STEPI, 3, WS_DEBUG_STEPPED);
	assert_int_equal(ws_debug_step_back(session, WS_DEBUG_STEPI, 3, &stop, &err), WS_OK);
	assert_int_equal(line_at(stop.pc), LOOP);
	assert_int_equal(ws_debug_step_back(session, WS_DEBUG_NEXT, 1, &stop, &err), WS_OK);
	assert_int_equal(stop.pc, first);
	step_to(WS_DEBUG_FINISH, 1, WS_DEBUG_STEPPED);
	assert_int_equal(number("$pc"), (int64_t)stop.pc);
	step_to(WS_DEBUG_NEXT, 1, WS_DEBUG_STEPPED);
	assert_int_equal(line_at(stop.pc), 32);
	assert_int_equal(number("v"), ((before(5) * 3 + 0) * 3 + 1) * 3 + 2);
	step_to(WS_DEBUG_FINISH, 1, WS_DEBUG_NO_CALLER);
	assert_int_equal(number("threadIdx.x"), 5);
	step_to(WS_DEBUG_NEXT, 100, WS_DEBUG_THREAD_EXITED);
}

static void a_step_stops_at_a_breakpoint(void **state)
{
	(void)state;
	make("debug.cu:31", "threadIdx.x == 5", true);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	const unsigned two = make("debug.cu:20", "threadIdx.x == 5", false);
	step_to(WS_DEBUG_NEXT, 1, WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(stop.breakpoint->number, two);
}

static void writers_are_found(void **state)
{
	(void)state;
	struct ws_debug_memory memory = { .size_bytes = 4 };
	make("debug.cu:33", "threadIdx.x == 5", false);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	memory.at = (struct ws_address){ .space = WS_SPACE_GLOBAL, .address = device.out + 4 * 9 };
	assert_int_equal(ws_debug_memory_writer(session, &memory, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, WS_DEBUG_STEPPED);
	assert_int_equal(number("threadIdx.x"), 9);
	assert_int_equal(line_at(stop.pc), 32);
	assert_int_equal(ws_debug_register_writer(session, WS_REG_R, 4, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, WS_DEBUG_STEPPED);
	memory.at.address = device.in;
	assert_int_equal(ws_debug_memory_writer(session, &memory, &stop, &err), WS_OK);
	assert_int_equal(stop.reason, WS_DEBUG_HISTORY_BEGINS);
}

static void an_interrupt_ends_what_goes_on(void **state)
{
	(void)state;
	make("calls", NULL, false);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	ws_debug_interrupt(session);
	step_to(WS_DEBUG_NEXT, 1000, WS_DEBUG_INTERRUPTED);
	assert_false(ws_debug_interrupted(session));
}

/* ---- a fault, another device, a dump ---- */

static void a_fault_is_told(void **state)
{
	const uint32_t far = 1u << 30;
	(void)state;
	assert_true(open_session());
	use_device("chain");
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_write(device.sim, device.in + 4 * 7, &far, 4, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, &err), WS_OK);
	run_to(WS_DEBUG_AT_FAULT);
	assert_int_equal(stop.exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	assert_int_equal(number("threadIdx.x"), 7);
	assert_null(stop.breakpoint);
	end(NULL);
}

/* Breakpoints outlive a device; what cannot be in the next one is told and disabled. */
static void another_device_has_the_breakpoints(void **state)
{
	(void)state;
	const struct ws_debug_breakpoint *made;
	struct ws_debug_memory memory = { .at.space = WS_SPACE_GLOBAL, .size_bytes = 4 };
	make("debug.cu:20", "threadIdx.x == 35", false);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_alloc(device.sim, 1 << 20, &memory.at.address, &err), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, &err), WS_OK);
	assert_int_equal(
		ws_debug_watch(session, "more", &memory, WS_WATCH_WRITE, NULL, &made, &err), WS_OK);
	leave();
	use_device("calls");
	assert_int_equal(noticed, WS_DEBUG_NOT_PLANTED);
	assert_false(ws_debug_breakpoint_find(session, 2)->is_enabled);
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(number("threadIdx.x"), 35);
	assert_int_equal(stop.breakpoint->hits, 2);
}

static void a_dump_does_not_run(void **state)
{
	(void)state;
	const struct ws_debug_breakpoint *made;
	struct ws_debug_memory memory = { .size_bytes = 4 };
	struct ws_debug_places places;
	struct ws_target *target;
	struct ws_focus focus;
	assert_int_equal(ws_core_open(dump, NULL, &target, &err), WS_OK);
	assert_true(open_session());
	assert_int_equal(ws_debug_use(session, target, &err), WS_OK);
	assert_int_equal(ws_debug_state(session), WS_DEBUG_FIXED);
	assert_int_equal(ws_focus_find(target, &focus, &err), WS_OK);
	assert_true(ws_debug_set_focus(session, focus.warp_index, focus.lane));
	assert_true(number("$pc") != 0);
	assert_int_equal(ws_debug_locate(session, "*$pc", true, &places, &err), WS_OK);
	assert_int_equal(places.pc[0], number("$pc"));
	assert_int_equal(ws_debug_run(session, &stop, &err), WS_UNSUPPORTED);
	assert_int_equal(ws_debug_step(session, WS_DEBUG_STEPI, 1, &stop, &err), WS_UNSUPPORTED);
	assert_int_equal(ws_debug_run_back(session, &stop, &err), WS_UNSUPPORTED);
	assert_int_equal(ws_debug_break(session, "*$pc", NULL, false, &made, &err), WS_UNSUPPORTED);
	memory.at.space = WS_SPACE_GLOBAL;
	assert_int_equal(
		ws_debug_watch(session, "memory", &memory, WS_WATCH_WRITE, NULL, &made, &err),
		WS_UNSUPPORTED);
	assert_null(ws_debug_breakpoint_next(session, 0));
	assert_int_equal(ws_debug_state(session), WS_DEBUG_FIXED);
	assert_non_null(ws_debug_focus(session));
	ws_debug_leave(session);
	ws_debug_destroy(session);
	ws_target_close(target);
}

/* ---- memory that runs out ---- */

static unsigned allocations_left;
static bool has_failed;

static bool is_out(void)
{
	const bool fails = allocations_left-- == 0;
	has_failed |= fails;
	return fails;
}

/* Each allocation of making a breakpoint fails in turn: it is an error, or is done without. */
static void no_memory_is_an_error(void **state)
{
	(void)state;
	static const char *const lines[] = { "print v" };
	const struct ws_debug_breakpoint *made;
	enum ws_status st = WS_OK;
	unsigned n = 0, n_errors = 0;
	do {
		if (n > 0 && st == WS_OK)
			ws_debug_remove(session, made->number);
		has_failed = false;
		allocations_left = n++;
		wsi_alloc_should_fail = is_out;
		st = ws_debug_break(session, "debug.cu:20", "threadIdx.x == 35", false, &made,
				    &err);
		wsi_alloc_should_fail = NULL;
		n_errors += st != WS_OK;
	} while (has_failed);
	assert_true(st == WS_OK && n_errors > 5);
	for (unsigned i = 0; i < 2; i++) {
		allocations_left = i;
		wsi_alloc_should_fail = is_out;
		st = ws_debug_set_commands(session, made->number, lines, 1, &err);
		wsi_alloc_should_fail = NULL;
		assert_int_equal(st, WS_NO_MEMORY);
		assert_int_equal(made->n_commands, 0);
	}
	run_to(WS_DEBUG_AT_BREAKPOINT);
	assert_int_equal(number("threadIdx.x"), 35);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_condition_stops_one_thread, begin, end),
		cmocka_unit_test_setup_teardown(a_temporary_one_stops_once_and_has_its_commands,
						begin, end),
		cmocka_unit_test_setup_teardown(the_table_is_in_the_order_of_numbers, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_place_is_an_error, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_told_counts_as_true, begin, end),
		cmocka_unit_test_setup_teardown(a_watchpoint_has_both_values, begin, end),
		cmocka_unit_test_setup_teardown(ignored_hits_are_passed_over, begin, end),
		cmocka_unit_test_setup_teardown(values_have_numbers_and_names, begin, end),
		cmocka_unit_test_setup_teardown(a_condition_knows_where_its_thread_is, begin, end),
		cmocka_unit_test_setup_teardown(steps_go_forth_and_back, begin, end),
		cmocka_unit_test_setup_teardown(a_step_stops_at_a_breakpoint, begin, end),
		cmocka_unit_test_setup_teardown(writers_are_found, begin, end),
		cmocka_unit_test_setup_teardown(an_interrupt_ends_what_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(another_device_has_the_breakpoints, begin, end),
		cmocka_unit_test(a_fault_is_told),
		cmocka_unit_test(a_dump_does_not_run),
		cmocka_unit_test_setup_teardown(no_memory_is_an_error, begin, end),
	};
	if (argc != 3)
		return 2;
	kernels = argv[1];
	dump = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
