/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what a dump tells of its process. */
#include "triage/internal.h"

const char *ws_triage_role_text(enum ws_triage_role role)
{
	static const char *const words[] = {
		[WS_TRIAGE_FAULT] = "fault",
		[WS_TRIAGE_COLLECTIVE_FAULT] = "fault in a collective",
		[WS_TRIAGE_WAITS] = "waits",
		[WS_TRIAGE_STUCK] = "stuck",
		[WS_TRIAGE_RUNS] = "runs",
		[WS_TRIAGE_IDLE] = "idle",
		[WS_TRIAGE_UNREADABLE] = "cannot tell",
	};
	return (size_t)role < WSI_COUNT(words) ? words[role] : "?";
}
