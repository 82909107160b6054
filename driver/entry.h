/* SPDX-License-Identifier: Apache-2.0 */
/* The table of entry points, which tools/driverstubs.py makes. */
#ifndef WARPSCOPE_DRIVER_ENTRY_H
#define WARPSCOPE_DRIVER_ENTRY_H

#include <stdatomic.h>

#include "driver.h"

struct entry {
	const char *name;
	void (*function)(void);
	bool is_there;     /* else it answers CUDA_ERROR_NOT_SUPPORTED */
	atomic_uint calls; /* of one that is not there */
};

extern struct entry entries[]; /* by name */
extern const size_t n_entries;

/* Notes a call of what is not there. */
CUresult entry_missing(size_t i);

#endif
