/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points that are missing, and what the driver and the runtime say to the user. */
#include "entry.h"

#include <stdio.h>

#include "report.h"

void driver_say(const char *first, const char *second)
{
	fprintf(stderr, "warpscope: software GPU: %s%s\n", first, second);
}

int entry_missing(size_t i)
{
	atomic_fetch_add(&entries[i].calls, 1);
	return entry_failed(entries[i].name);
}

/* What the program asked for in vain, once, when it ends. */
__attribute__((destructor)) static void tell_missing(void)
{
	for (size_t i = 0; i < n_entries; i++)
		if (atomic_load(&entries[i].calls) > 0)
			driver_say("not supported: ", entries[i].name);
}
