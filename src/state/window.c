/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/state.h>

#include "base/base.h"

bool ws_context_window(const struct ws_context *context, enum ws_space space, bool clusters,
		       uint64_t address, uint64_t *ret_offset)
{
	bool shared = space == WS_SPACE_SHARED;
	uint64_t base = shared ? context->shared_window_base : context->local_window_base;
	uint64_t bytes = shared && clusters ? UINT64_C(4) << 30 : WS_WINDOW_BYTES;
	*ret_offset = address - base;
	return base != 0 && address >= base && address - base < bytes;
}
