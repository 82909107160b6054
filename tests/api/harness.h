/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the debugger API by slot, with buffers between guard bytes. The kinds of the arguments
 * come from the tables (call/meta.h), so that one loop can call everything.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "call/meta.h"

enum { HARNESS_GUARD = 64, HARNESS_MAX_BYTES = 1 << 20 };

#define SLOT(name) WSI_SLOT(name)

/* One call and its buffers. */
struct api_call {
	unsigned slot;
	union wsi_api_value v[WSI_API_MAX_ARGS];
	uint8_t *block[WSI_API_MAX_ARGS]; /* owned: guard, buffer, guard */
	size_t bytes[WSI_API_MAX_ARGS];
};

/* What happened so far: bit c of seen[slot] is set when that function answered code c. */
extern _Atomic uint64_t harness_seen[WSI_API_SLOTS];

/* Index of an argument by name, or -1. */
int api_arg(unsigned slot, const char *name);
/* Where calls write files; api_call_fini() removes it. */
const char *api_call_file(void);
/* Values that make the call work on the fake target, without buffers. */
void api_call_init(struct api_call *call, unsigned slot);
/* Allocates a buffer for each pointer, sized by the counts that `v` holds now. */
void api_call_buffers(struct api_call *call);
/* Calls; checks guards, unchanged outputs on failure, and that the code is one that the tables
 * list. NULL when all is well, else what is wrong. */
const char *api_call_run(struct api_call *call, CUDBGAPI api, CUDBGResult *ret_result);
/* Whether a function has this coordinate, so that it always counts; what a wrong one is answered
 * with, by the tables. */
bool api_bad_place(unsigned slot, const char *name, bool empty_slot, CUDBGResult *ret_expected);
void api_call_fini(struct api_call *call);

#endif
