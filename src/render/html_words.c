/* SPDX-License-Identifier: Apache-2.0 */
/* Words that the sections of the HTML page share, and the one place that escapes. */
#include "render/html.h"

#include "text/escape.h"

enum { WIDE_NAME = 90 }; /* C++ names up to here are shown whole */

static void escape(struct ws_out *out, const char *at, size_t n, uint32_t code)
{
	if (code < 0x7f && code >= 0x20)
		ws_out_printf(out, "&#%u;", code);
	else
		wsi_escape_bytes(out, at, n, code);
}

static void out_str(struct ws_out *out, struct ws_str text)
{
	wsi_out_escape(out, text, "&<>\"'", escape);
}

void wsi_html_str(struct wsi_html *page, struct ws_str text)
{
	out_str(page->out, text);
}

void wsi_html_printf(struct wsi_html *page, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	wsi_out_format(page->out, out_str, format, list);
	va_end(list);
}

void wsi_html_text(struct wsi_html *page, const char *text)
{
	if (text)
		wsi_html_str(page, ws_str_of(text));
}

void wsi_html_section(struct wsi_html *page, const char *id, const char *title)
{
	wsi_html_printf(page, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n", id, id);
	wsi_html_printf(page, "<h2 id=\"%s-title\">%s</h2>\n", id, title);
}

void wsi_html_section_end(struct wsi_html *page)
{
	wsi_html_raw(page, "</section>\n");
}

void wsi_html_term(struct wsi_html *page, const char *term)
{
	wsi_html_printf(page, "<div><dt>%s</dt><dd>", term);
}

void wsi_html_term_end(struct wsi_html *page)
{
	wsi_html_raw(page, "</dd></div>\n");
}

void wsi_html_hex(struct wsi_html *page, uint64_t value)
{
	wsi_html_printf(page, "<code>0x%" PRIx64 "</code>", value);
}

void wsi_html_dim(struct wsi_html *page, struct ws_dim3 dim)
{
	wsi_html_printf(page, "(%u,%u,%u)", dim.x, dim.y, dim.z);
}

void wsi_html_function(struct wsi_html *page, const struct ws_report_frame *frame)
{
	if (frame->function_status != WS_OK) {
		wsi_html_printf(page, "<span class=\"none\">?? (%s)</span>",
				wsi_function_missing(frame->function_status));
		return;
	}
	bool whole = page->options.full_names || frame->function.len <= WIDE_NAME;
	wsi_html_raw(page, "<code>");
	wsi_html_str(page, whole ? frame->function : frame->function_short);
	wsi_html_raw(page, "</code>");
}

void wsi_html_line(struct wsi_html *page, const struct ws_report_frame *frame)
{
	if (frame->line_status != WS_OK && !frame->owner_short.len) {
		wsi_html_hex(page, frame->pc);
		return;
	}
	wsi_html_raw(page, "<code>");
	wsi_html_str(page,
		     frame->line_status == WS_OK ? wsi_file_name(frame->file) : frame->owner_short);
	if (frame->line_status != WS_OK)
		wsi_html_printf(page, "+0x%" PRIx64, frame->rel_pc);
	else if (frame->line)
		wsi_html_printf(page, ":%u", frame->line);
	wsi_html_raw(page, "</code>");
}

void wsi_html_thread(struct wsi_html *page, const struct ws_report_thread *at)
{
	if (at->block_status == WS_OK) {
		wsi_html_raw(page, "block ");
		wsi_html_dim(page, at->block);
		wsi_html_raw(page, at->lane != WS_NONE ? ", thread " : ", ");
		if (at->lane != WS_NONE)
			wsi_html_dim(page, at->thread);
		wsi_html_raw(page, at->lane != WS_NONE ? ", " : "");
	}
	if (at->sm == WS_NONE) {
		wsi_html_raw(page, "no longer resident");
		return;
	}
	if (at->device != WS_NONE)
		wsi_html_printf(page, "device %u, ", at->device);
	wsi_html_printf(page, "SM %u", at->sm);
	if (at->warp != WS_NONE)
		wsi_html_printf(page, ", warp %u", at->warp);
	if (at->lane != WS_NONE)
		wsi_html_printf(page, ", lane %u", at->lane);
}

void wsi_html_claim(struct wsi_html *page, const struct ws_report_claim *claim)
{
	if (!claim->text)
		return;
	const char *word = ws_confidence_text(claim->confidence);
	wsi_html_printf(page, "<span class=\"sure sure-%s\">%s</span> ", word, word);
	wsi_html_sentence(page, claim->text);
	if (claim->evidence && *claim->evidence) {
		wsi_html_raw(page, "<span class=\"evidence\">");
		wsi_html_sentence(page, claim->evidence);
		wsi_html_raw(page, "</span>");
	}
}

/* The text up to the next backtick, or all of it; takes it from `rest`, with the backtick. */
static struct ws_str to_backtick(struct ws_str *rest, bool *ret_found)
{
	const char *at = rest->len ? memchr(rest->ptr, '`', rest->len) : NULL;
	struct ws_str text = { rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len };
	size_t taken = text.len + (at != NULL);
	*rest = (struct ws_str){ rest->ptr + taken, rest->len - taken };
	*ret_found = at != NULL;
	return text;
}

void wsi_html_words(struct wsi_html *page, struct ws_str text)
{
	bool opened, closed;
	while (text.len) {
		wsi_html_str(page, to_backtick(&text, &opened));
		if (!opened)
			return;
		struct ws_str code = to_backtick(&text, &closed);
		wsi_html_raw(page, closed ? "<code>" : "`"); /* or one without its pair */
		wsi_html_str(page, code);
		if (closed)
			wsi_html_raw(page, "</code>");
	}
}

void wsi_html_sentence(struct wsi_html *page, const char *text)
{
	wsi_html_words(page, ws_str_of(text));
}

const struct ws_report_frame *wsi_html_user_frame(const struct ws_report_exception *e)
{
	if (e->user_frame != WS_NONE)
		return &e->frames[e->user_frame];
	return e->n_frames ? &e->frames[0] : NULL;
}

void wsi_html_legend(struct wsi_html *page, const uint64_t counts[WSI_N_STATES], const char *unit)
{
	uint64_t all = 0;
	for (int state = 0; state < WSI_N_STATES; state++)
		all += counts[state];
	if (all == 0)
		return;
	wsi_html_raw(page, "<ul class=\"legend\">\n");
	for (int state = 0; state < WSI_N_STATES; state++) {
		if (!counts[state])
			continue;
		char letter = wsi_state_letter((enum ws_thread_state)state);
		wsi_html_printf(
			page,
			"<li><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><path class=\"%c\" "
			"d=\"M7 1v12\"/></svg> %s <b>%" PRIu64 "</b> %s%s</li>\n",
			letter, ws_thread_state_text((enum ws_thread_state)state), counts[state],
			unit, wsi_plural(counts[state]));
	}
	wsi_html_raw(page, "</ul>\n");
}
