/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the conformance suite share: one scripted target behind one table. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>

#include "harness.h"
#include "route.h"
#include "target/fake.h"

extern struct fake fake;
extern CUDBGAPI api;

/* Calls by name and notes the code. */
#define CALL(name, ...) note(SLOT(name), api->name(__VA_ARGS__))
#define CALL0(name) note(SLOT(name), api->name())
CUDBGResult note(unsigned slot, CUDBGResult result);

/* Makes the target and its table; start_ready() initializes, too. */
void start(bool running);
void start_ready(bool running, uint32_t capabilities);
void stop(void);

/* The dump that an environment variable names, and its first image; skips the test without it. The
 * caller closes it. */
struct ws_target *open_real(const char *variable, struct ws_module *ret_module);

/* Runs a call and fails the test when the harness finds something wrong. */
CUDBGResult run(struct api_call *call);
/* One good call of a slot. */
CUDBGResult run_good(unsigned slot);
/* initialize and finalize. */
bool ends_session(unsigned slot);

/* conformance_sweeps.c */
void before_initialize_everything_is_uninitialized(void **state);
void null_is_refused_pointer_by_pointer(void **state);
void each_coordinate_is_checked_apart(void **state);
void a_running_device_answers_running(void **state);
void failures_of_the_target_come_through(void **state);

/* conformance_follow.c */
void a_session_follows_what_changed(void **state);
void a_step_costs_what_it_changed(void **state);
void changes_are_forgotten_oldest_first(void **state);

/* conformance_session.c */
void inside_the_callback_only_events_are_served(void **state);
void old_callbacks_run_on_one_thread(void **state);
void initialize_reports_what_it_lacks(void **state);
void errors_have_words_until_the_next_call(void **state);
void tables_do_not_disturb_each_other(void **state);
void every_version_of_two_majors_is_served(void **state);

/* conformance_state.c */
void device_properties(void **state);
void warp_masks_and_places(void **state);
void broken_warps_are_told_or_missing(void **state);
void lane_fields(void **state);
void call_stacks(void **state);
void registers(void **state);
void grids(void **state);
void exceptions_of_exited_warps_need_the_capability(void **state);
void exceptions_of_lanes_are_enough_for_the_mask(void **state);
void exception_texts_and_barriers(void **state);
void warp_states_of_all_versions(void **state);
void memory_of_all_spaces(void **state);
void generic_addresses_use_coordinates_only_where_needed(void **state);
void images_by_warp_and_by_handle(void **state);
void dumps_of_the_target(void **state);
void code_of_a_real_image(void **state);
void functions_of_an_image_are_told_if_asked(void **state);

/* conformance_register.c */
void registers_of_ptx_are_where_the_map_says(void **state);

/* conformance_run.c */
void initialize_queues_what_there_is(void **state);
void events_in_old_layouts(void **state);
void events_of_a_running_target(void **state);
void images_are_known_as_they_are_told(void **state);
void stepping(void **state);
void breakpoints(void **state);
void causes_of_stops_stay(void **state);
void acknowledged_is_what_was_read(void **state);
void a_target_has_its_capabilities(void **state);
void the_target_knows_what_is_wanted(void **state);
void events_wait_for_memory(void **state);
void alteration(void **state);
void the_log_of_the_driver(void **state);
void who_launched_a_grid(void **state);
void a_target_that_cannot_run_says_so(void **state);

#endif
