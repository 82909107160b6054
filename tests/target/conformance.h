/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every back end, as target.h promises it: each check is run over each maker's
 * target (test_target.c). A check fails by cmocka's assertions.
 */
#ifndef WS_TEST_CONFORMANCE_H
#define WS_TEST_CONFORMANCE_H

#include <warpscope/target.h>

struct conformance_check {
	const char *name; /* a sentence */
	void (*run)(struct ws_target *target);
};

/* Checks of what every target has. The last one has no name. */
extern const struct conformance_check conformance_checks[];
/* Checks of a target that can run; they leave it standing. The last one has no name. */
extern const struct conformance_check conformance_run_checks[];
/* Checks of a scripted target that can run: its host threads do what they are told. */
extern const struct conformance_check conformance_event_checks[];

/* What host threads do in a target that runs: one raises an event, and waits when it is `sync`. */
void conformance_raise(enum ws_event_kind kind, bool sync);
/* How many wait. */
size_t conformance_waiting(void);

#endif
