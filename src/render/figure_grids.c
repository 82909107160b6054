/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grid of the focus' kernel, a cell for each block, and the focus' block, a cell for each
 * thread: one SVG path of horizontal strokes for each state.
 */
#include "render/html.h"
#include "render/sections.h"
#include "render/words.h"

enum {
	MAX_CELLS = 4096, /* of the grid; larger ones share cells */
	MAX_COLUMNS = 128,
	WRAP = 64,
	NOT_RESIDENT = WSI_N_STATES,
	MAX_WARPS = 64, /* of a block */
};

/* ---- blocks ---- */

/* How the blocks of a grid are laid out, and what each cell shows. */
struct drawn_blocks {
	uint64_t total, per_cell;
	uint32_t columns, rows;
	uint32_t n_cells;
	uint8_t state[MAX_CELLS];
	uint64_t counts[WSI_N_STATES];
	uint64_t resident;
	uint32_t focus_cell; /* or WS_NONE */
};

static uint64_t block_number(const struct ws_dim3 *idx, const struct ws_dim3 *dim)
{
	return ((uint64_t)idx->z * dim->y + idx->y) * dim->x + idx->x;
}

/* False for a grid that is empty, or larger than hardware can have. */
static bool blocks_shape(const struct ws_dim3 *dim, struct drawn_blocks *blocks)
{
	if (dim->x == 0 || dim->y == 0 || dim->z == 0 || dim->x > 1u << 31 || dim->y > 1u << 16 ||
	    dim->z > 1u << 16 || (uint64_t)dim->y * dim->z > 1u << 31)
		return false;
	uint64_t rows = (uint64_t)dim->y * dim->z;
	blocks->total = rows * dim->x;
	blocks->per_cell = (blocks->total + MAX_CELLS - 1) / MAX_CELLS;
	blocks->n_cells = (uint32_t)((blocks->total + blocks->per_cell - 1) / blocks->per_cell);
	bool as_it_is = blocks->per_cell == 1 && rows > 1 && dim->x <= MAX_COLUMNS;
	blocks->columns = as_it_is ? dim->x : blocks->n_cells < WRAP ? blocks->n_cells : WRAP;
	blocks->rows = (blocks->n_cells + blocks->columns - 1) / blocks->columns;
	memset(blocks->state, NOT_RESIDENT, sizeof blocks->state);
	return true;
}

static bool blocks_fill(const struct ws_report *report, uint32_t kernel,
			struct drawn_blocks *blocks)
{
	const struct ws_report_map *map = &report->map;
	const struct ws_dim3 *dim = &report->kernels[kernel].grid.grid_dim;
	uint8_t *worst = wsi_zalloc(map->n_blocks);
	if (!worst)
		return false;
	memset(worst, NOT_RESIDENT, map->n_blocks);
	for (uint32_t i = 0; i < map->n_warps; i++) {
		const struct ws_report_warp *warp = &map->warps[i];
		if (warp->known && warp->block != WS_NONE && warp->state < worst[warp->block])
			worst[warp->block] = warp->state;
	}
	for (uint32_t i = 0; i < map->n_blocks; i++) {
		const struct ws_report_block *block = &map->blocks[i];
		if (worst[i] == NOT_RESIDENT || block->status != WS_OK || block->kernel != kernel ||
		    block->idx.x >= dim->x || block->idx.y >= dim->y || block->idx.z >= dim->z)
			continue;
		uint8_t *cell = &blocks->state[block_number(&block->idx, dim) / blocks->per_cell];
		*cell = worst[i] < *cell ? worst[i] : *cell;
		blocks->counts[worst[i]]++;
		blocks->resident++;
	}
	wsi_free(worst);
	return true;
}

/* One path for each state: strokes along the rows. */
static void block_strokes(struct wsi_page *page, const struct drawn_blocks *blocks)
{
	for (uint8_t state = 0; state <= NOT_RESIDENT; state++) {
		wsi_html_printf(page, "<path class=\"%c\" d=\"",
				state == NOT_RESIDENT
					? 'N'
					: wsi_render_state_letter((enum ws_thread_state)state));
		for (uint32_t i = 0, len; i < blocks->n_cells; i += len) {
			uint32_t left = blocks->columns - i % blocks->columns;
			for (len = 1; len < left && i + len < blocks->n_cells &&
				      blocks->state[i + len] == blocks->state[i];)
				len++;
			if (blocks->state[i] == state)
				wsi_html_printf(page, "M%u %uh%u", i % blocks->columns,
						i / blocks->columns, len);
		}
		wsi_html_raw(page, "\"/>\n");
	}
}

static void blocks_caption(struct wsi_page *page, const struct drawn_blocks *blocks,
			   const struct ws_dim3 *dim)
{
	wsi_html_raw(page, "<figcaption>Grid ");
	wsi_dim(page, *dim);
	wsi_html_printf(page, " <span class=\"soft\">%" PRIu64 " block%s, ", blocks->total,
			wsi_plural(blocks->total));
	if (blocks->resident == blocks->total)
		wsi_html_raw(page, "all resident");
	else
		wsi_html_printf(page, "%" PRIu64 " %s%s", blocks->resident,
				wsi_resident_word(page->report),
				page->report->dump.stripped & WS_STRIP_OTHERS ||
						blocks->resident > blocks->total
					? ""
					: "; the others have finished or not started");
	if (blocks->per_cell > 1)
		wsi_html_printf(page, "; one cell is %" PRIu64 " blocks", blocks->per_cell);
	wsi_html_raw(page, "</span></figcaption>\n");
}

static void block_grid(struct wsi_page *page, const struct ws_report_exception *e)
{
	struct drawn_blocks blocks = { .focus_cell = WS_NONE };
	const struct ws_dim3 *dim = &page->report->kernels[e->kernel].grid.grid_dim;
	if (!blocks_shape(dim, &blocks))
		return;
	if (!blocks_fill(page->report, e->kernel, &blocks)) {
		page->status = WS_NO_MEMORY;
		return;
	}
	const struct ws_dim3 *at = &e->at.block;
	if (e->at.block_status == WS_OK && at->x < dim->x && at->y < dim->y && at->z < dim->z)
		blocks.focus_cell = (uint32_t)(block_number(at, dim) / blocks.per_cell);
	wsi_html_raw(page, "<figure>\n");
	blocks_caption(page, &blocks, dim);
	wsi_html_legend(page, blocks.counts, "block");
	wsi_html_printf(
		page,
		"<div class=\"blocks\" data-kernel=\"%u\" data-columns=\"%u\" data-per=\"%" PRIu64
		"\"><svg class=\"w%s\" viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"Blocks of "
		"the grid by state\">\n<g transform=\"translate(0 .5)\">\n",
		e->kernel, blocks.columns, blocks.per_cell,
		blocks.columns > 32   ? "3"
		: blocks.columns > 12 ? "2"
		: blocks.columns > 4  ? "1"
				      : "0",
		blocks.columns, blocks.rows);
	block_strokes(page, &blocks);
	wsi_html_raw(page, "</g>\n");
	if (blocks.focus_cell != WS_NONE)
		wsi_html_printf(
			page, "<rect class=\"ring\" x=\"%u\" y=\"%u\" width=\"1\" height=\"1\"/>\n",
			blocks.focus_cell % blocks.columns, blocks.focus_cell / blocks.columns);
	wsi_html_raw(page, "</svg></div>\n</figure>\n");
}

/* ---- threads ---- */

static int by_thread(const void *left, const void *right)
{
	const struct ws_report_warp *const *a = left, *const *b = right;
	return WSI_ORDER_THEN((*a)->first_thread, (*b)->first_thread,
			      WSI_ORDER((*a)->id, (*b)->id));
}

/* The warps of the focus' block, by their threads; at most MAX_WARPS. */
static uint32_t warps_of_block(const struct ws_report_map *map, uint32_t block,
			       const struct ws_report_warp **warps)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < map->n_warps && n < MAX_WARPS; i++) {
		if (map->warps[i].known && map->warps[i].block == block)
			warps[n++] = &map->warps[i];
	}
	qsort(warps, n, sizeof *warps, by_thread);
	return n;
}

static int lane_drawn_state(const struct ws_report_warp *warp, uint32_t lane)
{
	uint32_t bit = 1u << lane;
	if (!(warp->lanes_valid & bit))
		return NOT_RESIDENT;
	if (warp->lanes_faulted & bit)
		return WS_THREAD_FAULTED;
	if (!(warp->lanes_active & bit))
		return WS_THREAD_DIVERGENT;
	return warp->state == WS_THREAD_FAULTED ? WS_THREAD_ACTIVE : warp->state;
}

static void thread_figure_row(struct wsi_page *page, const struct ws_report_warp *warp,
			      uint32_t row)
{
	wsi_html_printf(page, "<text x=\"112\" y=\"%u\" text-anchor=\"end\">warp %u%s",
			row * 12 + 10, warp->id, warp->first_thread == WS_NONE ? "" : ", thread ");
	if (warp->first_thread != WS_NONE)
		wsi_html_printf(page, "%u", warp->first_thread);
	wsi_html_raw(page, "</text>\n");
	for (int state = 0; state <= NOT_RESIDENT; state++) {
		bool open = false;
		for (uint32_t lane = 0, len; lane < WS_MAX_LANES; lane += len) {
			int mine = lane_drawn_state(warp, lane);
			for (len = 1; lane + len < WS_MAX_LANES &&
				      lane_drawn_state(warp, lane + len) == mine;)
				len++;
			if (mine != state)
				continue;
			if (!open)
				wsi_html_printf(page,
						"<path class=\"%c\" transform=\"translate(118 %u) "
						"scale(12)\" d=\"",
						state == NOT_RESIDENT
							? 'N'
							: wsi_render_state_letter(
								  (enum ws_thread_state)state),
						row * 12 + 6);
			open = true;
			wsi_html_printf(page, "M%u 0h%u", lane, len);
		}
		if (open)
			wsi_html_raw(page, "\"/>\n");
	}
}

/* Around the thread that stands out, else around all that can be guilty. */
static void thread_ring(struct wsi_page *page, const struct ws_report_exception *e, uint32_t row)
{
	bool one = e->suspect_stands_out;
	uint32_t first = one ? e->suspect.lane : e->first_suspect.lane;
	uint32_t last = one ? first : e->last_suspect.lane;
	if (first >= WS_MAX_LANES || last >= WS_MAX_LANES)
		return;
	wsi_html_printf(page,
			"<rect class=\"ring\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"12\"/>\n",
			118 + first * 12, row * 12, (last - first + 1) * 12);
}

static void thread_grid(struct wsi_page *page, const struct ws_report_exception *e)
{
	const struct ws_report_map *map = &page->report->map;
	if (e->at.warp_index >= map->n_warps || !map->warps[e->at.warp_index].known)
		return;
	const struct ws_report_warp *focus = &map->warps[e->at.warp_index];
	const struct ws_report_warp *warps[MAX_WARPS];
	if (focus->block == WS_NONE)
		return;
	uint32_t n = warps_of_block(map, focus->block, warps);
	wsi_html_raw(page, "<figure>\n<figcaption>Block ");
	wsi_dim(page, map->blocks[focus->block].idx);
	wsi_html_printf(
		page,
		" <span class=\"soft\">%u warp%s; lanes from left to right</span></figcaption>\n"
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Threads of the "
		"block\"><svg class=\"threads\" viewBox=\"0 0 504 %u\" role=\"img\" "
		"aria-label=\"Threads of the block by state: a row for each warp, a column for "
		"each lane\">\n",
		n, wsi_plural(n), n * 12);
	for (uint32_t i = 0; i < n; i++) {
		thread_figure_row(page, warps[i], i);
		if (warps[i] == focus)
			thread_ring(page, e, i);
	}
	wsi_html_raw(page, "</svg></div>\n</figure>\n");
}

void wsi_section_grids(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!page->rich || !e || e->kernel == WS_NONE ||
	    page->report->kernels[e->kernel].grid_status != WS_OK)
		return;
	wsi_section(page, "grid", "Blocks and threads of the kernel", WSI_DETAIL);
	wsi_html_raw(page, "<div class=\"pair\">\n");
	block_grid(page, e);
	thread_grid(page, e);
	wsi_html_raw(page, "</div>\n");
}
