/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WS_TEST_CORE_WALK_H
#define WS_TEST_CORE_WALK_H

#include <warpscope/core.h>

/*
 * Asks an open dump for everything that target.h and core.h offer, memory at odd addresses
 * included, and checks what the header promises (indices below the counts, outputs set, statuses of
 * the list). Returns a hash of all that was answered: two walks of one dump give the same. Ends the
 * program when a promise is broken.
 */
uint64_t core_walk(const struct ws_target *target);

#endif
