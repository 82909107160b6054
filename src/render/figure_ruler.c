/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access among the memory around it. Distances span twelve orders of magnitude, so the picture
 * keeps order and neighbourhood, and compresses length: a gap or range of n bytes is as wide as the
 * logarithm of n.
 *
 *     [ range below ]----gap----|access|--------gap--------[ range above ]
 *
 * No label meets another, whatever the lengths. From the top: the address of the access; the
 * lengths of the gaps, which stand away from the access where a gap is too narrow; what the ranges
 * are; their first addresses, which no range is narrower than.
 */
#include "render/html.h"
#include "render/words.h"

enum {
	WIDTH = 720,
	EDGE = 8,
	TOP = 44,
	BAR = 26,
	HEIGHT = TOP + BAR + 20,
	CHARACTER = 8,   /* widths, in the units of the picture: none is wider */
	RANGE_MIN = 140, /* "0x" and 16 digits */
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
struct ruler_layout {
	unsigned below, gap_below, gap_above, above; /* widths; 0: not there */
	unsigned access_at;                          /* where the mark is */
	unsigned after;                              /* where the pieces above it begin */
};

static struct ruler_layout ruler_layout_of(const struct ws_report_access *access)
{
	struct ruler_layout at = { 0 };
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
	at.after = at.access_at + ACCESS;
	if (access->inside) /* behind the words of the range */
		at.access_at = EDGE + at.below / 4 * 3;
	return at;
}

enum { BYTES_TEXT = 32 };

/* Small sizes to the byte, large ones as a reader thinks of them; returns the length. */
static unsigned bytes_text(uint64_t bytes, char text[BYTES_TEXT])
{
	static const char units[] = "KMGTPE";
	if (bytes < 100000)
		return (unsigned)snprintf(text, BYTES_TEXT, "%" PRIu64 " byte%s", bytes,
					  wsi_plural(bytes));
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	for (; value >= 1024; value /= 1024)
		unit++;
	return (unsigned)snprintf(text, BYTES_TEXT, "%.4g %ciB", value, units[unit]);
}

/* `free`: of its width, before the mark of an access inside. */
static void range(struct wsi_page *page, unsigned x, unsigned width, unsigned free,
		  const struct ws_report_neighbour *side)
{
	char text[BYTES_TEXT];
	bytes_text(side->size, text);
	wsi_html_printf(page,
			"<rect class=\"range\" x=\"%u\" y=\"%d\" width=\"%u\" height=\"%d\"/>\n", x,
			TOP, width, BAR);
	wsi_html_printf(page, "<text x=\"%u\" y=\"%d\">", x + 6, TOP + 17);
	if (side->symbol.len && side->symbol.len < free / CHARACTER)
		wsi_str(page, WSI_PLAIN, side->symbol);
	else
		wsi_say(page, "%s", text);
	wsi_html_printf(page,
			"</text>\n<text class=\"soft\" x=\"%u\" y=\"%d\">0x%" PRIx64 "</text>\n", x,
			TOP + BAR + 15, side->start);
}

static void gap(struct wsi_page *page, unsigned x, unsigned width, bool below, uint64_t bytes)
{
	char text[BYTES_TEXT];
	if (width == 0)
		return;
	bool fits = bytes_text(bytes, text) * CHARACTER + 2 * ACCESS <= width;
	unsigned at = fits ? x + width / 2 : below ? x + width - ACCESS : x + ACCESS;
	wsi_html_printf(page, "<path class=\"gap\" d=\"M%u %dh%u\"/>\n", x, TOP + BAR / 2, width);
	wsi_html_printf(page,
			"<text class=\"soft\" text-anchor=\"%s\" x=\"%u\" y=\"%d\">%s</text>\n",
			fits    ? "middle"
			: below ? "end"
				: "start",
			at, TOP - 6, text);
}

/* The access with its block's or thread's memory as the range below, or above. */
static struct ws_report_access with_window(const struct ws_report_access *access)
{
	struct ws_report_access drawn = *access;
	uint64_t address = access->address[access->lane];
	bool window = access->space == WS_SPACE_SHARED || access->space == WS_SPACE_LOCAL;
	if (!window || access->window_size == 0 || access->below.status == WS_OK)
		return drawn;
	struct ws_report_neighbour all = { .start = access->window_start,
					   .size = access->window_size };
	if (address < all.start) {
		uint64_t ahead = all.start - address;
		all.distance = ahead > access->width ? ahead - access->width : 0;
		drawn.above = all;
		return drawn;
	}
	drawn.inside = address - all.start < all.size;
	all.distance = drawn.inside ? 0 : address - all.start - all.size;
	drawn.below = all;
	return drawn;
}

static void draw(struct wsi_page *page, const struct ws_report_access *access)
{
	const struct ws_report_neighbour *below = &access->below, *above = &access->above;
	if (below->status != WS_OK && above->status != WS_OK)
		return;
	struct ruler_layout at = ruler_layout_of(access);
	wsi_render_element(page, WSI_FIGURE);
	wsi_html_printf(page,
			"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Address "
			"ruler\"><svg class=\"ruler\" viewBox=\"0 0 %d %d\" role=\"img\" "
			"aria-label=\"The access among the memory ranges around it; not to "
			"scale\">\n",
			WIDTH, HEIGHT);
	if (below->status == WS_OK)
		range(page, EDGE, at.below, access->inside ? at.access_at - EDGE : at.below, below);
	if (below->status == WS_OK && !access->inside)
		gap(page, EDGE + at.below, at.gap_below, true, below->distance);
	if (above->status == WS_OK) {
		gap(page, at.after, at.gap_above, false, above->distance);
		range(page, at.after + at.gap_above, at.above, at.above, above);
	}
	unsigned x = at.access_at;
	wsi_html_printf(
		page,
		"<rect class=\"access\" x=\"%u\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n<path "
		"class=\"access\" d=\"M%u %dl-4 -22h8z\"/>\n",
		x, TOP - 3, ACCESS, BAR + 6, x + ACCESS / 2, TOP - 4);
	unsigned anchor = x < 80 ? 80 : x > WIDTH - 90 ? WIDTH - 90 : x;
	wsi_html_printf(page,
			"<text class=\"access\" text-anchor=\"middle\" x=\"%u\" y=\"%d\">0x%" PRIx64
			"</text>\n</svg></div>\n",
			anchor, TOP - 31, access->address[access->lane]);
}

void wsi_figure_ruler(struct wsi_page *page, const struct ws_report_access *access)
{
	if (!page->rich || access->lane == WS_NONE)
		return;
	struct ws_report_access drawn = with_window(access);
	draw(page, &drawn);
}
