/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When something happened, on one axis of time: a line for each, with a mark at its time, or a bar
 * from its first to its last.
 *
 *            05:14:36                          05:16:02
 *   rank 0            [mark]                                +12 s  waits
 *   rank 1   [mark]                                         +0 s   fault
 */
#include "render/html.h"
#include "render/words.h"

enum {
	WIDTH = 720,
	LINE = 18,
	TOP = 22,
	NAME_CHARS = 24,
	FROM = 190, /* of the axis; names are before it, words after it */
	TO = 500,
	MARK = 6, /* width of a moment */
};

static unsigned place_of(uint64_t time, uint64_t first, uint64_t last)
{
	double part = (double)(time - first) / (double)(last - first);
	return FROM + (unsigned)(part * (TO - FROM - MARK));
}

/* A name of at most so many characters; the rest is three dots. */
static void name(struct wsi_page *page, struct ws_str text)
{
	size_t n = 0, chars = 0;
	while (n < text.len && chars < NAME_CHARS) {
		do
			n++;
		while (n < text.len && (text.ptr[n] & 0xc0) == 0x80);
		chars++;
	}
	wsi_str(page, WSI_PLAIN, (struct ws_str){ text.ptr, n });
	if (n < text.len)
		wsi_say(page, "...");
}

static void figure_time_line(struct wsi_page *page, const struct wsi_time_line *one, unsigned y,
			     uint64_t first, uint64_t last)
{
	unsigned from = place_of(one->first, first, last), to = place_of(one->last, first, last);
	char time[WSI_TIME_TEXT];
	wsi_html_printf(page, "<g>\n<title>");
	wsi_str(page, WSI_PLAIN, one->name);
	if (wsi_time_text((uint32_t)one->first, time))
		wsi_html_printf(page, ": %s", time);
	wsi_html_raw(page, "</title>\n");
	if (one->marked)
		wsi_html_printf(page, "<text class=\"here\" x=\"0\" y=\"%u\">", y + 12);
	else
		wsi_html_printf(page, "<text x=\"0\" y=\"%u\">", y + 12);
	name(page, one->name);
	wsi_html_printf(
		page,
		"</text>\n<path class=\"soft\" d=\"M%d %uH%d\"/>\n<rect class=\"%s\" x=\"%u\" "
		"y=\"%u\" width=\"%u\" height=\"12\"/>\n<text class=\"soft\" x=\"%d\" "
		"y=\"%u\">+%" PRIu64 " s, %s</text>\n</g>\n",
		FROM, y + 8, TO, one->look, from, y + 2, to - from + MARK, TO + 10, y + 12,
		one->first - first, one->words);
}

void wsi_figure_times(struct wsi_page *page, const char *label, const char *note,
		      const struct wsi_time_line *lines, size_t n)
{
	uint64_t first = UINT64_MAX, last = 0;
	char time[WSI_TIME_TEXT];
	unsigned y = TOP, n_known = 0;
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].first)
			continue;
		n_known++;
		first = wsi_min_u64(first, lines[i].first);
		last = wsi_max_u64(last, lines[i].last);
	}
	if (!page->rich || n_known < 2 || first >= last || last > UINT32_MAX)
		return;
	wsi_render_element(page, WSI_FIGURE);
	wsi_html_printf(page,
			"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><svg "
			"class=\"times\" viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"%s\">\n",
			label, WIDTH, TOP + n_known * LINE + 4, label);
	if (wsi_time_text((uint32_t)first, time))
		wsi_html_printf(page, "<text class=\"soft\" x=\"%d\" y=\"12\">%s</text>\n", FROM,
				time);
	if (wsi_time_text((uint32_t)last, time))
		wsi_html_printf(page, "<text class=\"soft\" x=\"%d\" y=\"12\">%s</text>\n", TO + 10,
				time);
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].first)
			continue;
		figure_time_line(page, &lines[i], y, first, last);
		y += LINE;
	}
	wsi_html_printf(page, "</svg></div>\n<p class=\"soft\">%s</p>\n", note);
}
