/* SPDX-License-Identifier: Apache-2.0 */
#include "target/dump/dump.h"

/* Findings of one topic that are listed before they are only counted. */
enum { LISTED = 8 };

void wsi_core_note(struct ws_core *core, enum wsi_dump_topic topic, enum ws_hides hides,
		   uint64_t file_off, const char *format, ...)
{
	static const char *const what[WSI_N_TOPICS] = {
#define X(TOPIC, words) words,
		WSI_TOPIC_LIST(X)
#undef X
	};
	struct wsi_notes *notes = &core->notes;
	struct wsi_topic_state *state = &notes->topics[topic];
	core->facts.complete = false;
	notes->cut = notes->cut || topic == WSI_TOPIC_HEADERS || topic == WSI_TOPIC_CUT ||
		     topic == WSI_TOPIC_WRITTEN ||
		     (hides == WS_HIDES_FAULT && topic != WSI_TOPIC_LOST);
	if (state->n++ >= LISTED) {
		if (state->last) {
			state->last->shown.repeats++;
			if (hides > state->last->shown.hides)
				state->last->shown.hides = hides;
		}
		return;
	}
	char message[240];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(message, sizeof message, format, args);
	va_end(args);
	struct wsi_diag *diag = wsi_arena_zalloc(&core->arena, sizeof *diag);
	const char *copy = wsi_arena_str(&core->arena, message, len > 0 ? strlen(message) : 0);
	if (!diag || !copy)
		return;
	diag->shown = (struct ws_diagnostic){ what[topic], file_off, 0, copy, hides };
	diag->topic = topic;
	if (notes->last)
		notes->last->next = diag;
	else
		notes->first = diag;
	notes->last = diag;
	state->last = diag;
}

enum ws_status wsi_core_diagnostic(const struct ws_target *target, uint32_t index,
				   struct ws_diagnostic *ret_diagnostic, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	const struct wsi_diag *diag = core->notes.first;
	for (uint32_t i = 0; diag && i < index; i++)
		diag = diag->next;
	if (!diag)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no diagnostic %u", index);
	*ret_diagnostic = diag->shown;
	return WS_OK;
}
