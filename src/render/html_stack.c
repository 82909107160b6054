/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack with its sources: how many threads stand at each line, and the machine code. */
#include "render/html.h"

enum { SHOWN_FRAMES = 60, BAR_STEPS = 8 };

/* Threads whose place, or whose user frame, is this line; each once. */
static uint64_t threads_at(const struct ws_report *report, struct ws_str file, uint32_t line)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < report->n_groups; i++) {
		const struct ws_report_frame *at[] = { &report->groups[i].frame,
						       &report->groups[i].user };
		for (int k = 0; k < 2; k++) {
			if (at[k]->line_status != WS_OK || at[k]->line != line ||
			    at[k]->file.len != file.len ||
			    memcmp(at[k]->file.ptr, file.ptr, file.len) != 0)
				continue;
			n += report->groups[i].n_lanes;
			break;
		}
	}
	return n;
}

/* 1 to BAR_STEPS by the order of magnitude. */
static unsigned bar_step(uint64_t n)
{
	unsigned step = 1;
	for (; n >= 8 && step < BAR_STEPS; n /= 8)
		step++;
	return step;
}

static void source_line(struct wsi_html *page, const struct ws_report_frame *frame, uint32_t i)
{
	uint32_t number = frame->source.first_line + i;
	uint64_t threads = threads_at(page->report, frame->file, number);
	bool here = number == frame->line;
	wsi_html_raw(page,
		     here ? "<tr class=\"here\"><td class=\"count\">" : "<tr><td class=\"count\">");
	if (threads)
		wsi_html_printf(page, "<i class=\"bar b%u\"></i>%" PRIu64, bar_step(threads),
				threads);
	wsi_html_raw(page, here ? "</td><th scope=\"row\">&#9654; " : "</td><th scope=\"row\">");
	wsi_html_printf(page, "%u</th><td><code>", number);
	struct ws_str rest = frame->source.lines[i];
	while (rest.len > 0) { /* tabs stay, everything else is escaped */
		const char *tab = memchr(rest.ptr, '\t', rest.len);
		size_t len = tab ? (size_t)(tab - rest.ptr) : rest.len;
		wsi_html_str(page, (struct ws_str){ rest.ptr, len });
		if (tab)
			wsi_html_raw(page, "\t");
		len += tab ? 1 : 0;
		rest = (struct ws_str){ rest.ptr + len, rest.len - len };
	}
	wsi_html_raw(page, "</code></td></tr>\n");
}

static void source(struct wsi_html *page, const struct ws_report_frame *frame)
{
	wsi_html_raw(page,
		     "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Source\">"
		     "<table class=\"source\"><thead><tr><th scope=\"col\">Threads</th><th "
		     "scope=\"col\">Line</th><th scope=\"col\">Source</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < frame->source.n_lines; i++)
		source_line(page, frame, i);
	wsi_html_raw(page, "</tbody></table></div>\n");
	if (frame->source.changed)
		wsi_html_printf(page,
				"<p class=\"warn\">This file is not the one that was compiled: "
				"%s.</p>\n",
				frame->source.why);
	if (frame->source.other_time)
		wsi_html_raw(page, "<p class=\"soft\">This file has the same size as when it was "
				   "compiled, but a different time.</p>\n");
}

static void frame_title(struct wsi_html *page, const struct ws_report_frame *frame)
{
	wsi_html_printf(page, "<span class=\"level\">#%u</span> ", frame->level);
	wsi_html_function(page, frame);
	wsi_html_raw(page, " <span class=\"place\">");
	if (frame->line_status == WS_OK) {
		wsi_html_str(page, frame->file);
		if (frame->line)
			wsi_html_printf(page, ":%u", frame->line);
	} else {
		wsi_html_hex(page, frame->pc);
		wsi_html_printf(page, " line information: %s", ws_missing_word(frame->line_status));
	}
	wsi_html_raw(page, "</span>");
	wsi_html_raw(page, frame->inlined ? " <span class=\"tag\">inlined</span>" : "");
	wsi_html_raw(page, frame->library ? " <span class=\"tag\">library</span>" : "");
	wsi_html_raw(page, frame->caller ? " <span class=\"tag\">caller</span>" : "");
	if (frame->borrowed_from) {
		wsi_html_raw(page, " <span class=\"tag\">lines from ");
		wsi_html_text(page, frame->borrowed_from);
		wsi_html_raw(page, "</span>");
	}
}

static void frame(struct wsi_html *page, const struct ws_report_frame *frame, bool is_user)
{
	bool has_source = frame->source.status == WS_OK;
	wsi_html_printf(page, "<li class=\"%s%s\">", frame->library ? "library" : "",
			is_user ? " user" : "");
	wsi_html_raw(page, has_source ? is_user ? "<details open><summary>" : "<details><summary>"
				      : "<div class=\"frame\">");
	frame_title(page, frame);
	wsi_html_raw(page, has_source ? "</summary>\n" : "</div>");
	if (has_source) {
		source(page, frame);
		wsi_html_raw(page, "</details>");
	}
	wsi_html_raw(page, "</li>\n");
}

static void frames(struct wsi_html *page, const struct ws_report_exception *e, uint32_t from,
		   uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		frame(page, &e->frames[i], &e->frames[i] == wsi_html_user_frame(e));
}

static void folded(struct wsi_html *page, const struct ws_report_exception *e, uint32_t from,
		   uint32_t to)
{
	wsi_html_printf(page,
			"<li class=\"library\"><details><summary>#%u to #%u: %u library frames (",
			from, to - 1, to - from);
	struct ws_str names[WSI_LIBRARY_NAMES];
	size_t n = wsi_library_names(e, from, to, names);
	for (size_t i = 0; i < n; i++) {
		wsi_html_raw(page, i ? ", " : "");
		wsi_html_str(page, names[i]);
	}
	wsi_html_raw(page, ")</summary>\n<ol class=\"stack\">\n");
	frames(page, e, from, to);
	wsi_html_raw(page, "</ol></details></li>\n");
}

void wsi_html_stack(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_frames == 0)
		return;
	uint32_t shown =
		page->options.all || e->n_frames < SHOWN_FRAMES ? e->n_frames : SHOWN_FRAMES;
	wsi_html_section(page, "stack", "Call stack, innermost first");
	wsi_html_raw(page, "<ol class=\"stack\">\n");
	for (uint32_t i = 0, next; i < shown; i = next) {
		uint32_t n = page->options.all ? 0 : wsi_library_frames(e, i);
		next = n ? (uint32_t)wsi_min_u64(i + (uint64_t)n, shown) : i + 1;
		if (i == e->pc_frames_from)
			wsi_html_raw(page,
				     "<li class=\"note\">The warp had left these functions when "
				     "it stopped; its stack was then:</li>\n");
		if (n)
			folded(page, e, i, next);
		else
			frames(page, e, i, next);
	}
	wsi_html_raw(page, "</ol>\n");
	uint64_t more = (uint64_t)e->n_callers_left_out + (e->n_frames - shown);
	if (more)
		wsi_html_printf(page, "<p class=\"soft\">%" PRIu64 " more</p>\n", more);
	if (e->stack_status != WS_OK && e->stack_status != WS_ABSENT)
		wsi_html_printf(page, "<p class=\"soft\">Return addresses: %s</p>\n",
				ws_missing_word(e->stack_status));
	wsi_html_section_end(page);
}

static void insn_row(struct wsi_html *page, const struct ws_report_insn *insn)
{
	wsi_html_raw(page, insn->mark ? "<tr class=\"here\"><td>&#9654; " : "<tr><td>");
	wsi_html_text(page, insn->mark);
	wsi_html_printf(page, "</td><th scope=\"row\"><code>%" PRIx64 "</code></th><td>", insn->pc);
	wsi_html_raw(page, insn->known ? "<code>" : "<code class=\"none\">");
	wsi_html_text(page, insn->text);
	wsi_html_raw(page, "</code>");
	if (insn->values) {
		wsi_html_raw(page, "<span class=\"values\">");
		wsi_html_text(page, insn->values);
		wsi_html_raw(page, "</span>");
	}
	wsi_html_raw(page, "</td></tr>\n");
}

void wsi_html_code(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_insns == 0)
		return;
	wsi_html_section(page, "code", "Machine code");
	wsi_html_raw(page,
		     "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Machine "
		     "code\"><table class=\"code\"><thead><tr><th scope=\"col\">Mark</th><th "
		     "scope=\"col\">Address</th><th scope=\"col\">Instruction, values of its "
		     "operands</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < e->n_insns; i++)
		insn_row(page, &e->insns[i]);
	wsi_html_raw(page, "</tbody></table></div>\n");
	wsi_html_section_end(page);
}
