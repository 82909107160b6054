/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access among the memory around it. Distances span twelve orders of magnitude, so the picture
 * keeps order and neighbourhood, and compresses length: a gap or range of n bytes is as wide as the
 * logarithm of n.
 *
 *     [ range below ]----gap----|access|--------gap--------[ range above ]
 */
#include "render/html.h"

enum {
	WIDTH = 720,
	EDGE = 8,
	TOP = 34,
	BAR = 26,
	RANGE_MIN = 70, /* widths, in the units of the picture */
	RANGE_SCALE = 3,
	GAP_SCALE = 12,
	ACCESS = 10,
};

/* Ranges of any size leave room for gaps, which are what is made to fit. */
static_assert(2 * (RANGE_MIN + 64 * RANGE_SCALE) + ACCESS < WIDTH - 2 * EDGE, "ranges too wide");

/* Bits needed for `bytes`: the logarithm that lengths are drawn by. */
static unsigned bits(uint64_t bytes)
{
	unsigned n = 0;
	for (; bytes; bytes >>= 1)
		n++;
	return n;
}

/* The pieces of the picture, from left to right; widths add up to at most WIDTH. */
struct layout {
	unsigned below, gap_below, gap_above, above; /* widths; 0: not there */
	unsigned access_at;
};

static struct layout layout_of(const struct ws_report_access *access)
{
	struct layout at = { 0 };
	if (access->below.status == WS_OK)
		at.below = RANGE_MIN + RANGE_SCALE * bits(access->below.size);
	if (access->above.status == WS_OK)
		at.above = RANGE_MIN + RANGE_SCALE * bits(access->above.size);
	if (!access->inside && access->below.distance)
		at.gap_below = GAP_SCALE + GAP_SCALE * bits(access->below.distance);
	if (access->above.distance)
		at.gap_above = GAP_SCALE + GAP_SCALE * bits(access->above.distance);
	unsigned total = at.below + at.gap_below + ACCESS + at.gap_above + at.above;
	if (total > WIDTH - 2 * EDGE) { /* shrink the gaps, which say least by their length */
		unsigned over = total - (WIDTH - 2 * EDGE), gaps = at.gap_below + at.gap_above;
		at.gap_below -= over * at.gap_below / gaps;
		at.gap_above = at.gap_above > over - over * at.gap_below / gaps
				       ? at.gap_above - (over - over * at.gap_below / gaps)
				       : 0;
	}
	at.access_at = EDGE + at.below + at.gap_below;
	return at;
}

/* Small sizes to the byte, large ones as a reader thinks of them. */
static void out_bytes(struct wsi_html *page, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	if (bytes < 100000) {
		wsi_html_printf(page, "%" PRIu64 " byte%s", bytes, wsi_plural(bytes));
		return;
	}
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	for (; value >= 1024; value /= 1024)
		unit++;
	wsi_html_printf(page, "%.4g %ciB", value, units[unit]);
}

static void range(struct wsi_html *page, unsigned x, unsigned width,
		  const struct ws_report_neighbour *side)
{
	wsi_html_printf(page,
			"<rect class=\"range\" x=\"%u\" y=\"%d\" width=\"%u\" height=\"%d\"/>\n", x,
			TOP, width, BAR);
	wsi_html_printf(page, "<text x=\"%u\" y=\"%d\">", x + 6, TOP + 17);
	if (side->symbol.len && side->symbol.len <= width / 8)
		wsi_html_str(page, side->symbol);
	else
		out_bytes(page, side->size);
	wsi_html_printf(page,
			"</text>\n<text class=\"soft\" x=\"%u\" y=\"%d\">0x%" PRIx64 "</text>\n", x,
			TOP + BAR + 15, side->start);
}

static void gap(struct wsi_html *page, unsigned x, unsigned width, uint64_t bytes)
{
	if (width == 0)
		return;
	wsi_html_printf(page, "<path class=\"gap\" d=\"M%u %dh%u\"/>\n", x, TOP + BAR / 2, width);
	wsi_html_printf(page, "<text class=\"soft\" text-anchor=\"middle\" x=\"%u\" y=\"%d\">",
			x + width / 2, TOP - 6);
	out_bytes(page, bytes);
	wsi_html_raw(page, "</text>\n");
}

/* The access with its block's or thread's memory, which begins at 0, as the range below. */
static struct ws_report_access with_window(const struct ws_report_access *access)
{
	struct ws_report_access drawn = *access;
	uint64_t address = access->address[access->lane];
	bool window = access->space == WS_SPACE_SHARED || access->space == WS_SPACE_LOCAL;
	if (!window || access->window_size == 0 || access->below.status == WS_OK)
		return drawn;
	drawn.inside = address < access->window_size;
	drawn.below = (struct ws_report_neighbour){
		.size = access->window_size,
		.distance = drawn.inside ? 0 : address - access->window_size,
	};
	return drawn;
}

static void draw(struct wsi_html *page, const struct ws_report_access *access)
{
	const struct ws_report_neighbour *below = &access->below, *above = &access->above;
	if (below->status != WS_OK && above->status != WS_OK)
		return;
	struct layout at = layout_of(access);
	wsi_html_printf(page,
			"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Address "
			"ruler\"><svg class=\"ruler\" viewBox=\"0 0 %d 92\" role=\"img\" "
			"aria-label=\"The access among the memory ranges around it; not to "
			"scale\">\n",
			WIDTH);
	if (below->status == WS_OK)
		range(page, EDGE, at.below, below);
	if (below->status == WS_OK && !access->inside)
		gap(page, EDGE + at.below, at.gap_below, below->distance);
	if (above->status == WS_OK) {
		gap(page, at.access_at + ACCESS, at.gap_above, above->distance);
		range(page, at.access_at + ACCESS + at.gap_above, at.above, above);
	}
	unsigned x = access->inside ? EDGE + at.below / 2 : at.access_at;
	wsi_html_printf(
		page,
		"<rect class=\"access\" x=\"%u\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n<path "
		"class=\"access\" d=\"M%u %dl-5 8h10z\"/>\n",
		x, TOP - 3, ACCESS, BAR + 6, x + ACCESS / 2, TOP + BAR + 5);
	unsigned anchor = x < 80 ? 80 : x > WIDTH - 90 ? WIDTH - 90 : x;
	wsi_html_printf(page,
			"<text class=\"access\" text-anchor=\"middle\" x=\"%u\" y=\"%d\">0x%" PRIx64
			"</text>\n</svg></div>\n",
			anchor, TOP + BAR + 28, access->address[access->lane]);
}

void wsi_html_ruler(struct wsi_html *page, const struct ws_report_access *access)
{
	if (access->lane == WS_NONE)
		return;
	struct ws_report_access drawn = with_window(access);
	draw(page, &drawn);
}
