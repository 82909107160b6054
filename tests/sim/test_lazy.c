/* SPDX-License-Identifier: Apache-2.0 */
/* Functions whose code is loaded when they are first needed: options.lazy. */
#include "device.h"

#include <poll.h>

#include <warpscope/cubin.h>
#include <warpscope/cudadebugger.h>
#include <warpscope/sim_target.h>

static struct ws_sim *sim;
static struct ws_target *target;

static int close_all(void **state)
{
	(void)state;
	ws_target_close(target);
	ws_sim_destroy(sim);
	target = NULL;
	sim = NULL;
	return 0;
}

/* k calls leaf, which calls deep; alone is named by nobody, and pointed by a variable. */
static const char several[] = ".arch sm_80\n"
			      ".func alone\nRET.ABS.NODEC R20 0x0\n.end\n"
			      ".func pointed\nRET.ABS.NODEC R20 0x0\n.end\n"
			      ".func deep\nRET.ABS.NODEC R22 0x0\n.end\n"
			      ".func leaf\nMOV R22, 32@lo(back2)\nMOV R23, 32@hi(back2)\n"
			      "CALL.ABS.NOINC `(deep)\n.inner back2\nRET.ABS.NODEC R20 0x0\n.end\n"
			      ".global table align 8\n.u64 `(pointed)\n.end\n"
			      ".kernel k\n.param out 8\n"
			      "MOV R20, 32@lo(back)\nMOV R21, 32@hi(back)\n"
			      "CALL.ABS.NOINC `(leaf)\n.inner back\nEXIT\n.end\n"
			      ".kernel other\nEXIT\n.end\n";

static void open_device(bool lazy)
{
	const struct ws_sim_options options = {
		.size = sizeof options, .device = "sm_80", .n_sms = 1, .lazy = lazy
	};
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_int_equal(load_text(sim, several), 0);
}

static bool is_loaded(const char *name)
{
	bool loaded = false;
	assert_int_equal(ws_sim_function_is_loaded(sim, 0, name, &loaded, NULL), WS_OK);
	return loaded;
}

/* The address that the image has of a function. */
static uint64_t address_of(const char *name)
{
	struct ws_span image;
	struct ws_cubin *cubin;
	const struct ws_function *function;
	assert_int_equal(ws_sim_module_image(sim, 0, &image, NULL), WS_OK);
	assert_int_equal(ws_cubin_open(image, &cubin, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_function(cubin, ws_str_of(name), &function, NULL), WS_OK);
	uint64_t address = function->gpu_va;
	ws_cubin_close(cubin);
	return address;
}

static void launch(const char *kernel)
{
	uint64_t argument = 0;
	const void *const args[] = { &argument };
	struct ws_sim_launch made = launch_of(0, (struct ws_dim3){ 32, 1, 1 }, args);
	made.kernel = kernel;
	made.n_args = strcmp(kernel, "k") == 0;
	assert_int_equal(ws_sim_launch(sim, &made, NULL), WS_OK);
}

static const char *const names[] = { "alone", "pointed", "deep", "leaf", "k", "other" };
enum { N_NAMES = sizeof names / sizeof names[0] };

/* Which of them are loaded, a bit each; the image agrees. */
static unsigned loaded_now(void)
{
	unsigned mask = 0;
	for (unsigned i = 0; i < N_NAMES; i++) {
		mask |= (unsigned)is_loaded(names[i]) << i;
		assert_int_equal(address_of(names[i]) != 0, is_loaded(names[i]));
	}
	return mask;
}

static void a_function_comes_with_its_first_launch_and_what_it_names(void **state)
{
	(void)state;
	open_device(true);
	assert_int_equal(loaded_now(), 0x02); /* a variable has its address */
	launch("other");
	assert_int_equal(loaded_now(), 0x22);
	launch("k");
	assert_int_equal(loaded_now(), 0x3e);
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	assert_int_equal(ws_sim_load_function(sim, 0, "alone", NULL), WS_OK);
	assert_int_equal(loaded_now(), 0x3f);
	assert_int_equal(ws_sim_load_function(sim, 0, "alone", NULL), WS_OK);
	assert_int_equal(ws_sim_load_function(sim, 0, "nobody", NULL), WS_ABSENT);
	assert_int_equal(ws_sim_load_function(sim, 1, "k", NULL), WS_ARGUMENT);
}

static void places_do_not_depend_on_the_order(void **state)
{
	uint64_t wanted[N_NAMES];
	static uint8_t whole[1 << 16];
	struct ws_span image;
	(void)state;
	open_device(false);
	assert_int_equal(loaded_now(), 0x3f);
	assert_int_equal(ws_sim_module_image(sim, 0, &image, NULL), WS_OK);
	assert_true(image.len <= sizeof whole);
	memcpy(whole, image.ptr, image.len);
	for (unsigned i = 0; i < N_NAMES; i++)
		wanted[i] = address_of(names[i]);
	close_all(NULL);
	open_device(true);
	for (unsigned i = N_NAMES; i-- > 0;) {
		assert_int_equal(ws_sim_load_function(sim, 0, names[i], NULL), WS_OK);
		assert_int_equal(address_of(names[i]), wanted[i]);
	}
	assert_int_equal(ws_sim_module_image(sim, 0, &image, NULL), WS_OK);
	assert_memory_equal(image.ptr, whole, image.len); /* headers and symbols */
}

/* What is loaded stays so when a device goes back. */
static void code_stays_over_a_restore(void **state)
{
	struct ws_sim_snapshot *snapshot;
	(void)state;
	open_device(true);
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, NULL), WS_OK);
	launch("k");
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	assert_int_equal(ws_sim_restore(sim, snapshot, NULL), WS_OK);
	assert_int_equal(loaded_now(), 0x1e);
	launch("k");
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	ws_sim_snapshot_free(snapshot);
}

static void code_that_is_not_loaded_is_no_code(void **state)
{
	uint64_t alone;
	(void)state;
	open_device(false);
	alone = address_of("alone");
	close_all(NULL);
	open_device(true);
	struct ws_sim_fault fault;
	uint64_t to = alone;
	const void *const args[] = { &to };
	uint32_t module = load_text(sim, ".arch sm_80\n.kernel k\n.param to 8\n"
					 "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\n"
					 "RET.ABS.NODEC R2 0x0\n.end\n");
	struct ws_sim_launch made = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(sim, &made, NULL), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_FAULTED);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, CUDBG_EXCEPTION_WARP_INVALID_PC);
}

/* ---- under a debugger ---- */

static unsigned n_loads;
static uint32_t n_functions;

/* Takes the events that wait; the others of no interest. */
static void take_events(void)
{
	struct ws_event event;
	while (ws_target_next_event(target, &event, NULL) == WS_OK) {
		n_loads += event.kind == WS_EVENT_FUNCTIONS_LOADED;
		if (event.kind == WS_EVENT_FUNCTIONS_LOADED) {
			n_functions = event.n_functions;
			assert_true(event.sync && event.module_handle == 1);
		}
		assert_int_equal(ws_target_acknowledge(target, event.sequence, NULL), WS_OK);
	}
}

static void open_target(uint32_t wants)
{
	n_loads = n_functions = 0;
	open_device(true);
	assert_int_equal(ws_sim_target_live(sim, &target, NULL), WS_OK);
	assert_int_equal(ws_target_want(target, wants, NULL), WS_OK);
	take_events();
}

static uint64_t of_target(const char *name)
{
	struct ws_cubin_set *set;
	struct ws_place place;
	assert_int_equal(ws_target_cubins(target, &set, NULL), WS_OK);
	if (ws_cubin_set_find_function(set, ws_str_of(name), NULL, &place, NULL) != WS_OK)
		return 0;
	return place.function->gpu_va;
}

static void a_client_is_told_before_the_function_runs(void **state)
{
	uint64_t there;
	(void)state;
	open_device(false);
	there = address_of("k");
	close_all(NULL);
	open_target(WS_WANT_STOPS | WS_WANT_FUNCTIONS);
	assert_int_equal(of_target("k"), 0);
	assert_int_equal(ws_target_plant(target, 0, there, NULL), WS_ABSENT);
	ws_sim_host_begin(target, true);
	launch("k");
	assert_int_equal(ws_sim_host_end(target, true, NULL, NULL), WS_OK);
	assert_int_equal(of_target("k"), there);
	assert_int_equal(ws_target_plant(target, 0, there, NULL), WS_OK);
	struct ws_module module;
	assert_int_equal(ws_target_module(target, 0, &module, NULL), WS_OK);
	assert_int_equal(module.n_loaded, 4); /* in the order of their loading */
	take_events();
	assert_true(n_loads == 1 && n_functions == 4);
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	bool stopped = false;
	for (int i = 0; i < 5000 && !stopped; i++) {
		struct ws_event event;
		(void)poll(NULL, 0, 1);
		while (ws_target_next_event(target, &event, NULL) == WS_OK)
			stopped |= event.kind == WS_EVENT_STOPPED;
	}
	assert_true(stopped);
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
	struct ws_warp warp;
	assert_int_equal(ws_target_warp(target, 0, &warp, NULL), WS_OK);
	assert_int_equal(warp.stop_pc, there);
}

static void a_grid_waits_until_its_functions_are_known(void **state)
{
	uint64_t before;
	(void)state;
	open_target(WS_WANT_FUNCTIONS); /* no word of launches */
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	ws_sim_host_begin(target, false);
	before = ws_sim_instructions(sim);
	launch("k");
	assert_int_equal(ws_sim_host_end(target, false, NULL, NULL), WS_OK);
	(void)poll(NULL, 0, 50);
	ws_sim_host_begin(target, false);
	assert_int_equal(ws_sim_instructions(sim), before);
	assert_int_equal(ws_sim_host_end(target, false, NULL, NULL), WS_OK);
	take_events();
	assert_int_equal(n_loads, 1);
	assert_int_equal(ws_sim_host_wait(target), WS_SIM_DONE);
	assert_true(ws_sim_instructions(sim) > before);
}

/* As CUDA has it: who is not told of functions finds them all. */
static void a_client_that_is_not_told_finds_all(void **state)
{
	(void)state;
	open_target(WS_WANT_STOPS);
	assert_true(of_target("k") != 0 && of_target("alone") != 0);
	assert_int_equal(n_loads, 0);
	ws_sim_host_begin(target, true);
	assert_int_equal(load_text(sim, several), 1);
	assert_int_equal(ws_sim_host_end(target, true, NULL, NULL), WS_OK);
	struct ws_module module;
	assert_int_equal(ws_target_module(target, 1, &module, NULL), WS_OK);
	assert_int_equal(module.n_loaded, N_NAMES);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, close_all)
	const struct CMUnitTest tests[] = {
		CASE(a_function_comes_with_its_first_launch_and_what_it_names),
		CASE(places_do_not_depend_on_the_order),
		CASE(code_stays_over_a_restore),
		CASE(code_that_is_not_loaded_is_no_code),
		CASE(a_client_is_told_before_the_function_runs),
		CASE(a_grid_waits_until_its_functions_are_known),
		CASE(a_client_that_is_not_told_finds_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
