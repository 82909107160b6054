/* SPDX-License-Identifier: Apache-2.0 */
/* The table of entry points, which tools/driverstubs.py makes. */
#ifndef WARPSCOPE_DRIVER_ENTRY_H
#define WARPSCOPE_DRIVER_ENTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* One that is not there: it takes what it is given, and answers. */
#define ENTRY_MISSING(name, i)                                 \
	__attribute__((visibility("default"))) int name(void); \
	int name(void)                                         \
	{                                                      \
		return entry_missing(i);                       \
	}

struct driver_entry {
	const char *name;
	void (*function)(void);
	bool is_there;     /* else it answers CUDA_ERROR_NOT_SUPPORTED */
	atomic_uint calls; /* of one that is not there */
};

extern struct driver_entry entries[]; /* by name */
extern const size_t n_entries;

/* Writes "warpscope: software GPU: ..." on standard error. */
void driver_say(const char *first, const char *second);
/* Notes a call of what is not there: the result for it. */
int entry_missing(size_t i);

#endif
