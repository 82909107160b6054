/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code from text: one instruction a line, at 16 bytes each. */
#ifndef WS_TEST_ASSEMBLE_H
#define WS_TEST_ASSEMBLE_H

#include "unit.h"

#include <warpscope/sass.h>

enum { ASSEMBLE_MAX = 64 };

struct assembled {
	uint8_t bytes[ASSEMBLE_MAX * WS_SASS_BYTES];
	size_t n;
};

static inline struct ws_span assemble(struct assembled *code, unsigned sm, uint64_t base_pc,
				      const char *const *lines)
{
	for (code->n = 0; lines[code->n]; code->n++) {
		struct ws_error err;
		assert_true(code->n < ASSEMBLE_MAX);
		if (ws_sass_encode(sm, lines[code->n], base_pc + code->n * WS_SASS_BYTES,
				   code->bytes + code->n * WS_SASS_BYTES, &err) != WS_OK)
			fail_msg("%s: %s", lines[code->n], err.message);
	}
	return (struct ws_span){ code->bytes, code->n * WS_SASS_BYTES, 0 };
}

#endif
