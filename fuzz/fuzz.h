/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target includes. A property that does not hold ends the program, and so does an
 * input that takes too much memory, time or output (limits.c). */
#ifndef WS_FUZZ_H
#define WS_FUZZ_H

#include "base/base.h"

#undef abort
#undef free
#undef printf

#define FUZZ_CHECK(condition)                                                           \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

/* The entry of libFuzzer and of regress.c, in limits.c. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* What it runs: each target defines it. */
int fuzz_target(const uint8_t *data, size_t size);
/* That an input of `size` bytes does not print too much. */
void fuzz_check_printed(uint64_t bytes, size_t size);

#endif
