/* SPDX-License-Identifier: Apache-2.0 */
/* Words and tables that the sections of the text page share. */
#include "render/text.h"

#include "render/words.h"

enum { MAX_ROWS = 20 }; /* of a table, unless all are asked for */

void wsi_page_style(struct wsi_page *page, enum ws_style style)
{
	if (page->options.color)
		ws_out_style(page->out, style);
}

void wsi_page_label(struct wsi_page *page, const char *text)
{
	ws_out_text(page->out, "    ");
	wsi_page_style(page, WS_STYLE_DIM);
	ws_out_printf(page->out, "%-10s ", text);
	wsi_page_style(page, WS_STYLE_PLAIN);
}

void wsi_page_end_line(struct wsi_page *page)
{
	ws_out_text(page->out, "\n");
}

struct ws_str wsi_page_shown_name(const struct wsi_page *page, struct ws_str full,
				  struct ws_str brief)
{
	return page->options.full_names || full.len <= WSI_WIDE_NAME ? full : brief;
}

void wsi_page_frame_name(struct wsi_page *page, const struct ws_report_frame *frame)
{
	if (frame->function_status == WS_OK)
		ws_out_escaped(page->out,
			       wsi_page_shown_name(page, frame->function, frame->function_short));
	else
		ws_out_printf(page->out, "?? (%s)", wsi_function_missing(frame->function_status));
}

void wsi_page_dim(struct wsi_page *page, struct ws_dim3 dim)
{
	ws_out_printf(page->out, "(%u,%u,%u)", dim.x, dim.y, dim.z);
}

void wsi_page_thread(struct wsi_page *page, const struct ws_report_exception *e)
{
	const struct ws_report_thread *at = &e->at;
	struct ws_out *out = page->out;
	if (e->kernel != WS_NONE)
		ws_out_printf(out, "kernel %u, grid %" PRId64 ", ",
			      page->report->kernels[e->kernel].id,
			      page->report->kernels[e->kernel].grid.id);
	if (at->have_cluster && wsi_has_clusters(page->report, e))
		ws_out_printf(out, "cluster (%u,%u,%u), ", at->cluster.x, at->cluster.y,
			      at->cluster.z);
	if (at->block_status == WS_OK)
		ws_out_printf(out, "block (%u,%u,%u), ", at->block.x, at->block.y, at->block.z);
	if (at->lane != WS_NONE)
		ws_out_printf(out, "thread (%u,%u,%u), ", at->thread.x, at->thread.y, at->thread.z);
	if (at->device != WS_NONE)
		ws_out_printf(out, "device %u, ", at->device);
	ws_out_printf(out, "sm %u", at->sm);
	if (at->warp != WS_NONE)
		ws_out_printf(out, ", warp %u", at->warp);
	if (at->lane != WS_NONE)
		ws_out_printf(out, ", lane %u", at->lane);
}

void wsi_page_table_done(struct wsi_page *page, struct ws_table *table)
{
	if (!page->markdown)
		ws_table_fit(table, page->options.columns);
	enum ws_status st = ws_table_print(table, page->out, 4, NULL);
	if (page->status == WS_OK)
		page->status = st;
	ws_table_destroy(table);
}

struct ws_table *wsi_page_table_start(struct wsi_page *page, const struct ws_column *columns,
				      size_t n)
{
	struct ws_table *table = NULL;
	enum ws_status st = ws_table_create(columns, n, &table, NULL);
	if (page->status == WS_OK)
		page->status = st;
	return table;
}

void wsi_cell_line(struct ws_table *table, const struct ws_report_frame *frame)
{
	struct ws_str name = wsi_file_name(frame->file);
	if (frame->line_status != WS_OK && frame->owner_short.len)
		ws_table_printf(table, "%.*s+0x%" PRIx64,
				(int)wsi_min_u64(frame->owner_short.len, 60),
				frame->owner_short.ptr, frame->rel_pc);
	else if (frame->line_status != WS_OK)
		ws_table_printf(table, "0x%" PRIx64, frame->pc);
	else if (frame->line)
		ws_table_printf(table, "%.*s:%u", (int)wsi_min_u64(name.len, 60), name.ptr,
				frame->line);
	else
		ws_table_printf(table, "%.*s", (int)wsi_min_u64(name.len, 60), name.ptr);
}

void wsi_cell_function(struct ws_table *table, const struct ws_report_frame *frame)
{
	if (frame->function_status == WS_OK)
		ws_table_cell(table, frame->function_short);
	else
		ws_table_printf(table, "?? (%s)", wsi_function_missing(frame->function_status));
}

void wsi_cell_thread(struct ws_table *table, const struct ws_report_thread *at)
{
	if (at->block_status == WS_OK && at->lane != WS_NONE)
		ws_table_printf(table, "(%u,%u,%u) (%u,%u,%u)", at->block.x, at->block.y,
				at->block.z, at->thread.x, at->thread.y, at->thread.z);
	else if (at->device == WS_NONE)
		ws_table_printf(table, "sm %u", at->sm);
	else if (at->warp != WS_NONE)
		ws_table_printf(table, "device %u sm %u warp %u", at->device, at->sm, at->warp);
	else
		ws_table_printf(table, "device %u sm %u", at->device, at->sm);
}

uint32_t wsi_page_rows(const struct wsi_page *page, uint32_t n)
{
	return page->options.all || n <= MAX_ROWS ? n : MAX_ROWS;
}
