/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of generic addresses through which threads see shared and local memory. */
#include "unit.h"

#include <warpscope/state.h>

#define MIB(n) (UINT64_C(n) << 20)

static void a_window_has_its_bytes(void **state)
{
	(void)state;
	const struct ws_context context = { .shared_window_base = 0x7f0000000000,
					    .local_window_base = 0x7f1000000000 };
	const struct ws_context unknown = { .shared_window_base = 0 };
	static const struct {
		enum ws_space space;
		bool clusters;
		uint64_t offset; /* from the base of the window */
		bool is_in;
	} cases[] = {
		{ WS_SPACE_SHARED, false, 0, true },
		{ WS_SPACE_SHARED, false, MIB(16) - 1, true },
		{ WS_SPACE_SHARED, false, MIB(16), false },
		{ WS_SPACE_SHARED, false, -UINT64_C(1), false },
		/* that of a cluster has a part for each of its blocks */
		{ WS_SPACE_SHARED, true, MIB(16), true },
		{ WS_SPACE_SHARED, true, MIB(4096) - 1, true },
		{ WS_SPACE_SHARED, true, MIB(4096), false },
		{ WS_SPACE_LOCAL, false, 0, true },
		{ WS_SPACE_LOCAL, false, MIB(16) - 1, true },
		{ WS_SPACE_LOCAL, false, MIB(16), false },
		{ WS_SPACE_LOCAL, true, MIB(16), false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint64_t offset = 0, base = cases[i].space == WS_SPACE_SHARED
						    ? context.shared_window_base
						    : context.local_window_base;
		assert_int_equal(ws_context_window(&context, cases[i].space, cases[i].clusters,
						   base + cases[i].offset, &offset),
				 cases[i].is_in);
		assert_true(!cases[i].is_in || offset == cases[i].offset);
		assert_false(ws_context_window(&unknown, cases[i].space, cases[i].clusters,
					       cases[i].offset, &offset));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_has_its_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
