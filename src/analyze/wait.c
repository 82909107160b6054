/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what. */
#include "analyze/build.h"

const char *ws_wait_kind_text(enum ws_wait_kind kind)
{
	static const char *const texts[] = { "barrier", "cluster", "convergence", "mbarrier",
					     "grid",    "spin",    "sleep" };
	return (size_t)kind < WSI_COUNT(texts) ? texts[kind] : "unknown";
}

const char *ws_absentee_state_text(enum ws_absentee_state state)
{
	static const char *const texts[] = { "exited", "faulted", "trapped",
					     "waits",  "runs",    "unknown" };
	return (size_t)state < WSI_COUNT(texts) ? texts[state] : "unknown";
}
