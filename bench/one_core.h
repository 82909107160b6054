/* SPDX-License-Identifier: Apache-2.0 */
/* Compares times on one core only. Include this first. */
#ifndef BENCH_ONE_CORE_H
#define BENCH_ONE_CORE_H

#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>

/* All threads of this process from now on: cores differ in speed when other machines use them,
 * too. */
static inline void stay_on_this_core(void)
{
	cpu_set_t one;
	int core = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(core < 0 ? 0u : (unsigned)core, &one);
	(void)sched_setaffinity(0, sizeof one, &one);
}

#endif
