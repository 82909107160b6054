/* SPDX-License-Identifier: Apache-2.0 */
/* A job that files beside dumps may tell of: the records of two ranks that wait. */
#ifndef WS_FUZZ_TWO_RANKS_H
#define WS_FUZZ_TWO_RANKS_H

#include <warpscope/triage.h>

/* `look`: 1 or 2. */
void fuzz_add_two_ranks(struct ws_triage *triage, int look);

#endif
