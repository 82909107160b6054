/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack of the focus, with source. */
#include "render/text.h"

#include "render/words.h"

enum { MAX_PERIOD = 8 }; /* frames of one round of a recursion that is folded */

/* Tabs become four spaces. */
static void out_source_line(struct wsi_page *page, struct ws_str line)
{
	while (line.len > 0) {
		const char *tab = memchr(line.ptr, '\t', line.len);
		size_t len = tab ? (size_t)(tab - line.ptr) : line.len;
		ws_out_escaped(page->out, (struct ws_str){ line.ptr, len });
		if (tab)
			ws_out_text(page->out, "    ");
		len += tab ? 1 : 0;
		line = (struct ws_str){ line.ptr + len, line.len - len };
	}
}

static void out_source(struct wsi_page *page, const struct ws_report_frame *frame,
		       bool with_context)
{
	const struct ws_report_source *source = &frame->source;
	if (source->status != WS_OK)
		return;
	for (uint32_t i = 0; i < source->n_lines; i++) {
		uint32_t number = source->first_line + i;
		if (number != frame->line && !with_context)
			continue;
		ws_out_printf(page->out, "      %s%6u  ", number == frame->line ? ">" : " ",
			      number);
		out_source_line(page, source->lines[i]);
		wsi_page_end_line(page);
	}
}

/* Files that are not what was compiled, each once. */
static void out_changed(struct wsi_page *page, const struct ws_report_exception *e)
{
	bool other_time = false;
	for (uint32_t i = 0; i < e->n_frames; i++) {
		const struct ws_report_source *source = &e->frames[i].source;
		bool again = !source->changed;
		for (uint32_t k = 0; k < i && !again; k++)
			again = e->frames[k].source.path == source->path;
		other_time |= source->other_time;
		if (!again)
			ws_out_printf(page->out,
				      "         (%s is not the file that was compiled: %s)\n",
				      source->path, source->why);
	}
	if (other_time)
		ws_out_text(page->out, "         (the sources have the same sizes as when they "
				       "were compiled, but different times)\n");
}

static void out_frame(struct wsi_page *page, const struct ws_report_frame *frame, bool is_user)
{
	struct ws_out *out = page->out;
	if (is_user || frame->library)
		wsi_page_style(page, is_user ? WS_STYLE_BOLD : WS_STYLE_DIM);
	ws_out_printf(out, "    #%-2u%s ", frame->level, is_user ? "*" : " ");
	wsi_page_frame_name(page, frame);
	wsi_page_style(page, WS_STYLE_PLAIN);
	wsi_page_end_line(page);
	if (frame->line_status == WS_OK) {
		ws_out_text(out, "         at ");
		ws_out_escaped(out, frame->file);
		if (frame->line)
			ws_out_printf(out, ":%u", frame->line);
		if (frame->inlined)
			ws_out_text(out, ", inlined");
		if (frame->library)
			ws_out_text(out, ", library");
		wsi_page_end_line(page);
	} else {
		ws_out_printf(out, "         at 0x%016" PRIx64, frame->pc);
		if (frame->function_status == WS_OK)
			ws_out_printf(out, ", line information: %s",
				      frame->line_status == WS_ABSENT
					      ? "none"
					      : ws_missing_word(frame->line_status));
		wsi_page_end_line(page);
	}
	out_source(page, frame, is_user);
}

/* How many frames from `start` on repeat the `period` frames before them. */
static uint32_t repeats_from(const struct ws_report_exception *e, uint32_t start, uint32_t period)
{
	uint32_t n = 0;
	while (start + n < e->n_frames && start + n != e->pc_frames_from) {
		const struct ws_report_frame *a = &e->frames[start + n], *b = a - period;
		if (a->pc != b->pc || a->function.ptr != b->function.ptr || a->line != b->line)
			break;
		n++;
	}
	return n - n % period;
}

/* Frames to leave out at `start` because they repeat what was just shown; `*ret_period` tells the
 * length of the round. */
static uint32_t recursion_at(const struct wsi_page *page, const struct ws_report_exception *e,
			     uint32_t start, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= MAX_PERIOD && period <= start; period++) {
		uint32_t n = repeats_from(e, start, period);
		*ret_period = period;
		if (!page->options.all && n > 2 * period)
			return n;
	}
	return 0;
}

/* One line for frames of libraries. */
static void out_folded(struct wsi_page *page, const struct ws_report_exception *e, uint32_t start,
		       uint32_t n)
{
	struct ws_str names[WSI_LIBRARY_NAMES];
	size_t n_names = wsi_library_names(e, start, start + n, names);
	wsi_page_style(page, WS_STYLE_DIM);
	ws_out_printf(page->out, "    #%u to #%u: %u library frames (", start, start + n - 1, n);
	for (size_t i = 0; i < n_names; i++) {
		ws_out_text(page->out, i ? ", " : "");
		ws_out_escaped(page->out, names[i]);
	}
	ws_out_text(page->out, "); --all");
	wsi_page_style(page, WS_STYLE_PLAIN);
	wsi_page_end_line(page);
}

/* Names the debug image that gave lines. */
static void out_borrowed(struct wsi_page *page, const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		if (!e->frames[i].borrowed_from)
			continue;
		ws_out_text(page->out, "         (lines from ");
		ws_out_escaped(page->out, ws_str_of(e->frames[i].borrowed_from));
		ws_out_text(page->out, ", whose machine code is proven identical)\n");
		return;
	}
}

void wsi_text_frames(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_frames == 0)
		return;
	wsi_page_title(
		page,
		e->user_frame != WS_NONE && e->user_frame > 0
			? "Call stack, innermost first (a star: the first frame outside libraries):"
			: "Call stack, innermost first:");
	for (uint32_t i = 0; i < e->n_frames; i++) {
		uint32_t period, n = recursion_at(page, e, i, &period);
		if (n) {
			ws_out_printf(page->out,
				      "         (%u more frames repeat the last %s; --all)\n", n,
				      period == 1 ? "one" : "ones");
			i += n - 1;
			continue;
		}
		n = page->options.all ? 0 : wsi_library_frames(e, i);
		if (n) {
			out_folded(page, e, i, n);
			i += n - 1;
			continue;
		}
		if (i == e->pc_frames_from)
			ws_out_text(page->out,
				    "         (the warp had left these functions when it "
				    "stopped; its stack was then:)\n");
		out_frame(page, &e->frames[i], i == e->user_frame && i > 0);
	}
	out_borrowed(page, e);
	out_changed(page, e);
	if (e->n_callers_left_out)
		ws_out_printf(page->out, "         (%u more callers)\n", e->n_callers_left_out);
	if (e->stack_status != WS_OK && e->stack_status != WS_ABSENT)
		ws_out_printf(page->out, "         (return addresses: %s)\n",
			      ws_missing_word(e->stack_status));
}
