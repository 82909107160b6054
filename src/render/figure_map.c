/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of the GPU: one column for each SM that holds a warp or an exception, one cell for each
 * warp slot, first slot at the top. SMs that hold nothing are counted in words and not drawn.
 * Cells of one state are one SVG path of vertical strokes, equal neighbours one stroke:
 *
 *   <path class="A" d="M12 0v64M13 0v3"/>     the 13th SM full, three warps on the 14th
 */
#include "render/html.h"
#include "render/sections.h"
#include "render/words.h"

enum {
	MAX_SMS = 1024, /* of a device, whatever a damaged dump says */
	MAX_SLOTS = 256,
	MAX_DEVICES = 64,
	COLUMN = 24,       /* pixels, where there is room */
	MAX_LABELLED = 24, /* columns with the number of their SM below */
};

/* How large the map of a device is. */
struct map_extent {
	uint32_t device_index;
	uint32_t n_columns;
	uint16_t column[MAX_SMS]; /* by id of the SM: one more than its column; 0: not drawn */
	uint16_t sm[MAX_SMS];     /* by column: the id */
	uint32_t n_slots;         /* drawn: those in use, rounded up */
	uint32_t of_slots;        /* that the device has */
	uint64_t left_out;        /* warps whose ids do not fit */
};

static bool fits(const struct ws_report_sm *sm, const struct map_extent *extent)
{
	return sm->status == WS_OK && sm->device_index == extent->device_index &&
	       sm->id < MAX_SMS && extent->column[sm->id];
}

/* An exception is recorded for the SM or for one of its warps. */
static bool excepted(const struct ws_report *report, const struct ws_report_sm *sm)
{
	bool bad = sm->exception_status == WS_OK && sm->exception;
	for (uint32_t k = 0; k < sm->n_warps && !bad; k++)
		bad = report->map.warps[sm->first_warp + k].exception != 0;
	return bad;
}

static struct map_extent map_extent_of(const struct ws_report *report, uint32_t device_index)
{
	const struct ws_device *device = &report->devices[device_index].state;
	struct map_extent extent = { .device_index = device_index };
	uint32_t used = 0;
	for (uint32_t i = 0; i < report->map.n_sms; i++) {
		const struct ws_report_sm *sm = &report->map.sms[i];
		if (sm->status != WS_OK || sm->device_index != device_index)
			continue;
		if (sm->id >= MAX_SMS) {
			extent.left_out += sm->n_warps;
			continue;
		}
		extent.column[sm->id] |= sm->n_warps || excepted(report, sm);
		for (uint32_t k = 0; k < sm->n_warps; k++) {
			const struct ws_report_warp *warp = &report->map.warps[sm->first_warp + k];
			if (!warp->known || warp->id >= MAX_SLOTS)
				extent.left_out++;
			else if (warp->id >= used)
				used = warp->id + 1;
		}
	}
	extent.of_slots = device->n_warps_per_sm > used ? device->n_warps_per_sm : used;
	extent.n_slots = (uint32_t)wsi_min_u64((used + 3u) / 4 * 4, extent.of_slots);
	if (extent.n_slots == 0)
		extent.n_slots = (uint32_t)wsi_min_u64(4, extent.of_slots);
	for (uint16_t id = 0; id < MAX_SMS; id++) {
		if (!extent.column[id])
			continue;
		extent.sm[extent.n_columns++] = id;
		extent.column[id] = (uint16_t)extent.n_columns;
	}
	return extent;
}

/* Strokes of one state in one SM's column. */
static void column(struct wsi_page *page, const struct ws_report_sm *sm, uint32_t x, uint32_t state)
{
	const struct ws_report_warp *warps = page->report->map.warps + sm->first_warp;
	uint32_t start = 0, len = 0;
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		if (!warps[i].known || warps[i].id >= MAX_SLOTS || warps[i].state != state)
			continue;
		if (len && warps[i].id == start + len) {
			len++;
			continue;
		}
		if (len)
			wsi_html_printf(page, "M%u %uv%u", x, start, len);
		start = warps[i].id;
		len = 1;
	}
	if (len)
		wsi_html_printf(page, "M%u %uv%u", x, start, len);
}

static void states(struct wsi_page *page, const struct map_extent *extent)
{
	const struct ws_report_map *map = &page->report->map;
	/* the worst last, above the others */
	for (uint32_t state = WSI_N_STATES; state-- > 0;) {
		bool open = false;
		for (uint32_t i = 0; i < map->n_sms; i++) {
			const struct ws_report_sm *sm = &map->sms[i];
			bool any = false;
			for (uint32_t k = 0; fits(sm, extent) && k < sm->n_warps && !any; k++) {
				const struct ws_report_warp *warp = &map->warps[sm->first_warp + k];
				any = warp->known && warp->state == state;
			}
			if (!any)
				continue;
			if (!open)
				wsi_html_printf(
					page, "<path class=\"%c\" d=\"",
					wsi_render_state_letter((enum ws_thread_state)state));
			open = true;
			column(page, sm, extent->column[sm->id] - 1u, state);
		}
		if (open)
			wsi_html_raw(page, "\"/>\n");
	}
}

/* Above the cells, in their heights. */
static uint32_t room_for_marks(const struct map_extent *extent)
{
	return extent->n_slots / 10 + 1;
}

/* A mark above each SM with an exception. */
static void marks(struct wsi_page *page, const struct map_extent *extent)
{
	const struct ws_report_map *map = &page->report->map;
	uint32_t room = room_for_marks(extent);
	unsigned half = 5 * (unsigned)wsi_min_u64(extent->n_columns + 20, 99); /* thousandths */
	wsi_html_raw(page, "<path class=\"mark\" d=\"");
	for (uint32_t i = 0; i < map->n_sms; i++) {
		const struct ws_report_sm *sm = &map->sms[i];
		if (fits(sm, extent) && excepted(page->report, sm))
			wsi_html_printf(page, "M%u.%03u -%uh.%03ul-.%03u %u.8z",
					extent->column[sm->id] - 1u, 500 - half, room, 2 * half,
					half, room - 1);
	}
	wsi_html_raw(page, "\"/>\n");
}

/* Around the warp that the page tells of. */
static void focus_ring(struct wsi_page *page, uint32_t device, const struct map_extent *extent)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->blame == WS_BLAME_NOBODY || e->at.device != device ||
	    e->at.warp >= extent->n_slots || e->at.sm >= MAX_SMS || !extent->column[e->at.sm])
		return;
	wsi_html_printf(page, "<rect class=\"ring\" x=\"%u\" y=\"%u\" width=\"1\" height=\"1\"/>\n",
			extent->column[e->at.sm] - 1u, e->at.warp);
}

static void listed_extent(struct wsi_page *page, const struct map_extent *extent)
{
	wsi_html_raw(page, "<path class=\"listed\" d=\"");
	for (uint32_t x = 0; x < extent->n_columns; x++)
		wsi_html_printf(page, "M%u 0v%u", x, extent->n_slots);
	wsi_html_raw(page, "\"/>\n");
}

static void device_caption(struct wsi_page *page, const struct ws_report_device *device,
			   const struct map_extent *extent)
{
	wsi_html_printf(page, "<figcaption>Device %u: ", device->state.id);
	wsi_str(page, WSI_PLAIN, wsi_device_name(&device->state));
	wsi_html_printf(page, " <span class=\"soft\">%u SMs, %u warp%s %s", device->state.n_sms,
			device->resident_warps, wsi_plural(device->resident_warps),
			wsi_resident_word(page->report));
	if (device->faulted_sms)
		wsi_html_printf(page, ", %u SM%s with an exception (&#9660;)", device->faulted_sms,
				wsi_plural(device->faulted_sms));
	if (extent->n_columns && extent->n_columns < device->state.n_sms)
		wsi_html_printf(page, "; %u SM%s without warps not drawn",
				device->state.n_sms - extent->n_columns,
				wsi_plural(device->state.n_sms - extent->n_columns));
	if (extent->left_out)
		wsi_html_printf(page, "; %" PRIu64 " not drawn: their numbers are damaged",
				extent->left_out);
	wsi_html_raw(page, "</span></figcaption>\n");
}

/* The SM of each column, or of the first and the last. */
static void axis(struct wsi_page *page, const struct map_extent *extent)
{
	if (extent->n_columns > MAX_LABELLED) {
		wsi_html_printf(page,
				"<p class=\"axis\"><span>SM %u</span><span>SM %u</span></p>\n",
				extent->sm[0], extent->sm[extent->n_columns - 1]);
		return;
	}
	wsi_html_raw(page, "<p class=\"axis few\">");
	for (uint32_t x = 0; x < extent->n_columns; x++)
		wsi_html_printf(page, "<span>%u</span>", extent->sm[x]);
	wsi_html_raw(page, "</p>\n");
}

static void device_map(struct wsi_page *page, uint32_t device_index)
{
	const struct ws_report_device *device = &page->report->devices[device_index];
	if (device->status != WS_OK)
		return;
	struct map_extent extent = map_extent_of(page->report, device_index);
	wsi_html_raw(page, "<figure>\n");
	device_caption(page, device, &extent);
	if (extent.n_columns == 0 || extent.n_slots == 0) {
		wsi_html_raw(page, "</figure>\n");
		return;
	}
	wsi_html_printf(page,
			"<div class=\"map\" data-device=\"%u\"><svg class=\"%s%s\" width=\"%u\" "
			"viewBox=\"0 -%u %u %u\" "
			"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Device %u: %u SMs "
			"from left to right, %u warp slots from top to bottom\">\n",
			device->state.id,
			extent.n_slots <= 8    ? "low"
			: extent.n_slots <= 32 ? "middle"
					       : "high",
			extent.n_columns <= MAX_LABELLED ? " few" : "", COLUMN * extent.n_columns,
			room_for_marks(&extent), extent.n_columns,
			extent.n_slots + room_for_marks(&extent), device->state.id,
			extent.n_columns, extent.n_slots);
	wsi_html_raw(page, "<g transform=\"translate(.5 0)\">\n");
	listed_extent(page, &extent);
	states(page, &extent);
	wsi_html_raw(page, "</g>\n");
	marks(page, &extent);
	focus_ring(page, device->state.id, &extent);
	wsi_html_raw(page, "</svg>\n");
	axis(page, &extent);
	wsi_html_printf(page,
			"</div>\n<p class=\"soft\">SMs from left to right, warp slots 0 to %u "
			"of %u from top to bottom</p>\n</figure>\n",
			extent.n_slots - 1, extent.of_slots);
}

void wsi_html_legend(struct wsi_page *page, const uint64_t counts[WSI_N_STATES], const char *unit)
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
		char letter = wsi_render_state_letter((enum ws_thread_state)state);
		wsi_html_printf(
			page,
			"<li><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><path class=\"%c\" "
			"d=\"M7 1v12\"/></svg> %s <b>%" PRIu64 "</b> %s%s</li>\n",
			letter, ws_thread_state_text((enum ws_thread_state)state), counts[state],
			unit, wsi_plural(counts[state]));
	}
	wsi_html_raw(page, "</ul>\n");
}

void wsi_section_map(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	uint64_t counts[WSI_N_STATES] = { 0 };
	for (uint32_t i = 0; i < report->map.n_warps; i++) {
		if (report->map.warps[i].known)
			counts[report->map.warps[i].state]++;
	}
	bool used = false; /* where nothing is, the facts of the devices say so */
	for (uint32_t i = 0; i < report->map.n_sms && !used; i++)
		used = report->map.sms[i].n_warps || excepted(report, &report->map.sms[i]);
	if (!used || !page->rich)
		return;
	wsi_section(page, "gpu", "The GPU", WSI_DETAIL);
	wsi_html_legend(page, counts, "warp");
	wsi_html_raw(page, "<div class=\"maps\">\n");
	for (uint32_t i = 0; i < report->n_devices && i < MAX_DEVICES; i++)
		device_map(page, i);
	wsi_html_raw(page, "</div>\n<p class=\"told\" id=\"told\" role=\"status\"></p>\n");
}

/* ---- data of the script ---- */

/* Digits of base 36, which JavaScript's parseInt() reads. */
static void base36(struct wsi_page *page, uint64_t value)
{
	char digits[16];
	size_t at = sizeof digits;
	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % 36];
		value /= 36;
	} while (value && at > 0);
	wsi_str(page, WSI_PLAIN, (struct ws_str){ digits + at, sizeof digits - at });
}

/* "A5.1f": state, group, number of the block; "A5.1f.2" where its kernel is not the first. */
static void warp_data(struct wsi_page *page, const struct ws_report_warp *warp)
{
	const struct ws_report *report = page->report;
	wsi_html_printf(page, "%c", wsi_render_state_letter((enum ws_thread_state)warp->state));
	if (warp->group != WS_NONE)
		base36(page, warp->group);
	if (warp->block == WS_NONE || report->map.blocks[warp->block].status != WS_OK)
		return;
	const struct ws_report_block *block = &report->map.blocks[warp->block];
	if (block->kernel == WS_NONE)
		return;
	const struct ws_dim3 *dim = &report->kernels[block->kernel].grid.grid_dim;
	if (block->idx.x >= dim->x || block->idx.y >= dim->y ||
	    (uint64_t)dim->x * dim->y > 1u << 31)
		return;
	wsi_html_raw(page, ".");
	base36(page, ((uint64_t)block->idx.z * dim->y + block->idx.y) * dim->x + block->idx.x);
	if (block->kernel == 0)
		return;
	wsi_html_raw(page, ".");
	base36(page, block->kernel);
}

static void sm_data(struct wsi_page *page, const struct ws_report_sm *sm)
{
	const struct ws_report_warp *warps = page->report->map.warps + sm->first_warp;
	uint32_t slot = 0;
	wsi_html_printf(page, "\"%u\":\"", sm->id);
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		if (!warps[i].known || warps[i].id >= MAX_SLOTS || warps[i].id < slot)
			continue;
		for (; slot < warps[i].id; slot++)
			wsi_html_raw(page, ",");
		warp_data(page, &warps[i]);
	}
	wsi_html_raw(page, "\"");
}

/*
 * {"devices": {"0": {"sms": [0, 12], "slots": 64, "at": {"12": "A0.0,A0.0,,F1.1"}}}, "grids":
 * [[x,y,z], ...]}: the SM of each column, and for each its slots, separated by commas. Numbers
 * only: nothing in it needs escaping.
 */
void wsi_html_map_data(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	bool first = true;
	wsi_html_raw(page, "<script type=\"application/json\" id=\"data\">{\"devices\":{");
	for (uint32_t d = 0; d < report->n_devices && d < MAX_DEVICES; d++) {
		struct map_extent extent = map_extent_of(report, d);
		if (report->devices[d].status != WS_OK)
			continue;
		wsi_html_raw(page, first ? "" : ",\n");
		wsi_html_printf(page, "\"%u\":{\"slots\":%u,\"sms\":[", report->devices[d].state.id,
				extent.n_slots);
		for (uint32_t x = 0; x < extent.n_columns; x++)
			wsi_html_printf(page, "%s%u", x ? "," : "", extent.sm[x]);
		wsi_html_raw(page, "],\"at\":{");
		first = true;
		for (uint32_t i = 0; i < report->map.n_sms; i++) {
			if (!fits(&report->map.sms[i], &extent) || !report->map.sms[i].n_warps)
				continue;
			wsi_html_raw(page, first ? "" : ",\n");
			sm_data(page, &report->map.sms[i]);
			first = false;
		}
		wsi_html_raw(page, "}}");
		first = false;
	}
	wsi_html_raw(page, "},\"grids\":[");
	for (uint32_t i = 0; i < report->n_kernels; i++) {
		const struct ws_dim3 *dim = &report->kernels[i].grid.grid_dim;
		wsi_html_printf(page, "%s[%u,%u,%u]", i ? "," : "", dim->x, dim->y, dim->z);
	}
	wsi_html_raw(page, "]}</script>\n");
}
