/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of the API against the scripted target: each argument wrong in turn, each state,
 * each failure of the target; then what each function answers; last, that every result code that
 * the tables list was seen or cannot be.
 */
#include "conformance.h"

struct fake fake;
CUDBGAPI api;

CUDBGResult note(unsigned slot, CUDBGResult result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	if ((unsigned)result >= 64 || !((fn->codes | fn->extensions) >> result & 1))
		fail_msg("%s answered %s, which the tables do not list", fn->name,
			 cudbgGetErrorString(result));
	harness_seen[slot] |= 1ull << result;
	return result;
}

void start(bool running)
{
	if (running)
		fake_init_running(&fake);
	else
		fake_init_still(&fake);
	assert_int_equal(route_open(&fake.target, &api), WS_OK);
}

void start_ready(bool running, uint32_t capabilities)
{
	start(running);
	cudbgDebuggerCapabilities = capabilities | CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
}

void stop(void)
{
	if (!api)
		return; /* the test stopped it itself */
	route_close(api);
	ws_target_close(&fake.target);
	api = NULL;
	cudbgDebuggerCapabilities = 0;
}

struct ws_target *open_real(const char *variable, struct ws_module *ret_module)
{
	struct ws_target *target;
	const char *path = getenv(variable);
	if (!path)
		skip();
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	assert_int_equal(ws_target_module(target, 0, ret_module, NULL), WS_OK);
	return target;
}

/* After a failed test its table must not stay. */
static int tear_down(void **state)
{
	(void)state;
	stop();
	return 0;
}

CUDBGResult run(struct api_call *call)
{
	CUDBGResult result;
	const char *wrong = api_call_run(call, api, &result);
	if (wrong)
		fail_msg("%s", wrong);
	return result;
}

/* One good call of a slot. */
CUDBGResult run_good(unsigned slot)
{
	struct api_call call;
	api_call_init(&call, slot);
	api_call_buffers(&call);
	CUDBGResult result = run(&call);
	api_call_fini(&call);
	return result;
}

bool ends_session(unsigned slot)
{
	return slot == SLOT(initialize) || slot == SLOT(finalize);
}

/* ---- the last word ---- */

static const struct {
	CUDBGResult code;
	const char *why;
} unreachable[] = {
	{ CUDBG_ERROR_UNKNOWN, "causes are always known" },
	{ CUDBG_ERROR_UNKNOWN_FUNCTION, "the manual has the address returned instead" },
	{ CUDBG_ERROR_INITIALIZATION_FAILURE, "a session started or it did not" },
	{ CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS, "seen through readGlobalMemory" },
	{ CUDBG_ERROR_MEMORY_MAPPING_FAILED, "seen of pinned memory" },
	{ CUDBG_ERROR_INVALID_CONTEXT, "the context does not matter for this answer" },
};

/* `function` counts as a prefix when it ends in a star. */
static const struct {
	const char *function;
	CUDBGResult code;
	const char *why;
} unreachable_pairs[] = {
	{ "setNotify*", CUDBG_ERROR_INVALID_ARGS, "NULL means no callback" },
	{ "setNotify*", CUDBG_ERROR_INTERNAL, "a thread could not start" },
	{ "acknowledge*", CUDBG_ERROR_INVALID_ARGS, "there is no argument that counts" },
	{ "requestCleanup*", CUDBG_ERROR_INVALID_ARGS, "any value is fine" },
	{ "suspendAllDevices", CUDBG_ERROR_INVALID_ARGS, "any value is fine" },
	{ "resumeAllDevices", CUDBG_ERROR_INVALID_ARGS, "there is no argument" },
	{ "setBreakpoint31", CUDBG_ERROR_INVALID_ARGS, "an address is code or not" },
	{ "unsetBreakpoint", CUDBG_ERROR_RUNNING_DEVICE, "seen through unsetBreakpoint31" },
	{ "getNext*", CUDBG_ERROR_INTERNAL, "no memory: seen through getNextEvent" },
	{ "getErrorStringEx", CUDBG_ERROR_INTERNAL, "it cannot fail so" },
	{ "consumeCudaLogs*", CUDBG_ERROR_RECURSIVE_API_CALL, "13.4 allows it in the callback" },
	{ "getBindlessConstAddress", CUDBG_SUCCESS, "the header format is not public" },
	{ "writeCCRegister", CUDBG_SUCCESS, "no supported GPU has one" },
	{ "readCodeMemory", CUDBG_ERROR_NOT_SUPPORTED, "what memory lacks the images have" },
	{ "writePinnedMemory", CUDBG_ERROR_INVALID_MEMORY_ACCESS, "all is written or nothing" },
	{ "*PinnedMemory", CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM, "it is not device memory" },
	{ "readSyscallCallDepth", CUDBG_ERROR_MISSING_DATA,
	  "only a client of before 12.9 asks the lane: test_versions.py" },
	{ "singleStepWarp*", CUDBG_ERROR_INVALID_WARP_MASK, "one warp is named, not a mask" },
};

static bool names(const char *pattern, const char *name)
{
	size_t n = strlen(pattern), have = strlen(name);
	if (pattern[0] == '*')
		return have >= n - 1 && !strcmp(name + have - (n - 1), pattern + 1);
	if (pattern[n - 1] == '*')
		return !strncmp(name, pattern, n - 1);
	return !strcmp(pattern, name);
}

static const char *why_unreachable(unsigned slot, unsigned code)
{
	for (size_t i = 0; i < sizeof unreachable / sizeof *unreachable; i++)
		if (unreachable[i].code == code)
			return unreachable[i].why;
	for (size_t i = 0; i < sizeof unreachable_pairs / sizeof *unreachable_pairs; i++)
		if (unreachable_pairs[i].code == code &&
		    names(unreachable_pairs[i].function, wsi_api_functions[slot].name))
			return unreachable_pairs[i].why;
	return NULL;
}

static void every_listed_code_was_seen_or_cannot_be(void **state)
{
	(void)state;
	unsigned listed = 0, seen = 0, explained = 0, open = 0;
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		for (unsigned code = 0; code < 64; code++) {
			if (!((fn->codes | fn->extensions) >> code & 1))
				continue;
			listed++;
			if (harness_seen[slot] >> code & 1) {
				seen++;
			} else if (why_unreachable(slot, code)) {
				explained++;
			} else {
				open++;
				print_message("# not seen: %s %s\n", fn->name,
					      cudbgGetErrorString((CUDBGResult)code));
			}
		}
	}
	print_message("# pairs of function and code: %u listed, %u seen, %u cannot be, %u open\n",
		      listed, seen, explained, open);
	for (size_t i = 0; i < sizeof unreachable / sizeof *unreachable; i++)
		print_message("# %s where not seen: %s\n", cudbgGetErrorString(unreachable[i].code),
			      unreachable[i].why);
	assert_int_equal(open, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(before_initialize_everything_is_uninitialized, tear_down),
		cmocka_unit_test_teardown(null_is_refused_pointer_by_pointer, tear_down),
		cmocka_unit_test_teardown(each_coordinate_is_checked_apart, tear_down),
		cmocka_unit_test_teardown(a_running_device_answers_running, tear_down),
		cmocka_unit_test_teardown(failures_of_the_target_come_through, tear_down),
		cmocka_unit_test_teardown(inside_the_callback_only_events_are_served, tear_down),
		cmocka_unit_test_teardown(old_callbacks_run_on_one_thread, tear_down),
		cmocka_unit_test_teardown(initialize_reports_what_it_lacks, tear_down),
		cmocka_unit_test_teardown(errors_have_words_until_the_next_call, tear_down),
		cmocka_unit_test_teardown(tables_do_not_disturb_each_other, tear_down),
		cmocka_unit_test_teardown(device_properties, tear_down),
		cmocka_unit_test_teardown(warp_masks_and_places, tear_down),
		cmocka_unit_test_teardown(broken_warps_are_told_or_missing, tear_down),
		cmocka_unit_test_teardown(lane_fields, tear_down),
		cmocka_unit_test_teardown(call_stacks, tear_down),
		cmocka_unit_test_teardown(registers, tear_down),
		cmocka_unit_test_teardown(grids, tear_down),
		cmocka_unit_test_teardown(exceptions_of_exited_warps_need_the_capability,
					  tear_down),
		cmocka_unit_test_teardown(exceptions_of_lanes_are_enough_for_the_mask, tear_down),
		cmocka_unit_test_teardown(exception_texts_and_barriers, tear_down),
		cmocka_unit_test_teardown(warp_states_of_all_versions, tear_down),
		cmocka_unit_test_teardown(memory_of_all_spaces, tear_down),
		cmocka_unit_test_teardown(generic_addresses_use_coordinates_only_where_needed,
					  tear_down),
		cmocka_unit_test_teardown(images_by_warp_and_by_handle, tear_down),
		cmocka_unit_test_teardown(dumps_of_the_target, tear_down),
		cmocka_unit_test_teardown(code_of_a_real_image, tear_down),
		cmocka_unit_test_teardown(functions_of_an_image_are_told_if_asked, tear_down),
		cmocka_unit_test_teardown(registers_of_ptx_are_where_the_map_says, tear_down),
		cmocka_unit_test_teardown(initialize_queues_what_there_is, tear_down),
		cmocka_unit_test_teardown(events_in_old_layouts, tear_down),
		cmocka_unit_test_teardown(events_of_a_running_target, tear_down),
		cmocka_unit_test_teardown(images_are_known_as_they_are_told, tear_down),
		cmocka_unit_test_teardown(stepping, tear_down),
		cmocka_unit_test_teardown(breakpoints, tear_down),
		cmocka_unit_test_teardown(causes_of_stops_stay, tear_down),
		cmocka_unit_test_teardown(acknowledged_is_what_was_read, tear_down),
		cmocka_unit_test_teardown(a_target_has_its_capabilities, tear_down),
		cmocka_unit_test_teardown(the_target_knows_what_is_wanted, tear_down),
		cmocka_unit_test_teardown(events_wait_for_memory, tear_down),
		cmocka_unit_test_teardown(a_session_follows_what_changed, tear_down),
		cmocka_unit_test_teardown(a_step_costs_what_it_changed, tear_down),
		cmocka_unit_test_teardown(changes_are_forgotten_oldest_first, tear_down),
		cmocka_unit_test_teardown(alteration, tear_down),
		cmocka_unit_test_teardown(the_log_of_the_driver, tear_down),
		cmocka_unit_test_teardown(who_launched_a_grid, tear_down),
		cmocka_unit_test_teardown(a_target_that_cannot_run_says_so, tear_down),
		cmocka_unit_test_teardown(every_version_of_two_majors_is_served, tear_down),
		cmocka_unit_test_teardown(every_listed_code_was_seen_or_cannot_be, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
