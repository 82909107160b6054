/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target includes. A property that does not hold ends the program. */
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

/* The entry of libFuzzer and of regress.c. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
