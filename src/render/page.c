/* SPDX-License-Identifier: Apache-2.0 */
#include "render/page.h"

static void page_element(struct wsi_page *page, enum wsi_page_element next)
{
	if (page->element != WSI_NOTHING)
		page->form->close(page, next);
	page->element = next;
}

static void end_section(struct wsi_page *page)
{
	page_element(page, WSI_NOTHING);
	if (page->id)
		page->form->section_end(page);
	page->id = NULL;
}

void wsi_section(struct wsi_page *page, const char *id, const char *title,
		 enum wsi_part_shape shape)
{
	end_section(page);
	page->id = id;
	page->title = title;
	page->shape = shape;
	page->parted = false;
	page->form->section(page);
}

void wsi_lead(struct wsi_page *page, const char *text)
{
	page->form->lead(page, text);
}

void wsi_render_part(struct wsi_page *page, const char *name, uint32_t number)
{
	page_element(page, WSI_NOTHING);
	page->form->part(page, name, number);
	page->parted = true;
}

void wsi_render_element(struct wsi_page *page, enum wsi_page_element next)
{
	page_element(page, next);
	page->form->open(page, next, NULL);
}

void wsi_label(struct wsi_page *page, const char *label)
{
	page_element(page, WSI_FACT);
	page->form->open(page, WSI_FACT, label);
}

void wsi_render_table(struct wsi_page *page, const struct wsi_page_table *table)
{
	page_element(page, WSI_TABLE);
	page->table = *table;
	page->column = page->row = 0;
	page->row_marked = false;
	page->form->table(page);
}

static void page_cell(struct wsi_page *page, const char *join, bool wide)
{
	page_element(page, WSI_CELL);
	page->form->cell(page, join);
	page->column = wide ? page->table.n_columns : page->column + 1;
}

void wsi_cell(struct wsi_page *page, const char *join)
{
	page_cell(page, join, false);
}

void wsi_cell_wide(struct wsi_page *page)
{
	page_cell(page, NULL, true);
}

void wsi_render_row_marked(struct wsi_page *page)
{
	page->row_marked = true;
}

void wsi_frame(struct wsi_page *page, const struct wsi_stack_frame *frame)
{
	page_element(page, WSI_FRAME);
	page->frame = *frame;
	page->form->frame(page, frame);
}

void wsi_render_code_line(struct wsi_page *page, bool here, const char *mark, uint64_t number,
			  uint64_t threads)
{
	page->form->code_line(page, here, mark, number, threads);
}

/* ---- what elements say ---- */

static void run(struct wsi_page *page, enum wsi_look look, bool end)
{
	if (page->form->run)
		page->form->run(page, look, end);
}

static void say_styled(struct wsi_page *page, enum wsi_look look, const char *format, va_list list)
{
	run(page, look, false);
	wsi_out_format(page->out, page->put, format, list);
	run(page, look, true);
}

void wsi_say(struct wsi_page *page, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	say_styled(page, WSI_PLAIN, format, list);
	va_end(list);
}

void wsi_render_run(struct wsi_page *page, enum wsi_look look, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	say_styled(page, look, format, list);
	va_end(list);
}

void wsi_str(struct wsi_page *page, enum wsi_look look, struct ws_str text)
{
	run(page, look, false);
	page->put(page->out, text);
	run(page, look, true);
}

void wsi_sentence(struct wsi_page *page, enum wsi_look look, const char *text)
{
	run(page, look, false);
	page->form->sentence(page, ws_str_of(text));
	run(page, look, true);
}

void wsi_dim(struct wsi_page *page, struct ws_dim3 dim)
{
	wsi_say(page, "(%u,%u,%u)", dim.x, dim.y, dim.z);
}

void wsi_link(struct wsi_page *page, const char *name, uint32_t number)
{
	if (page->form->link)
		page->form->link(page, name, number);
}

/* ---- pages ---- */

enum ws_status wsi_page_init(struct wsi_page *page, const struct wsi_page_form *form,
			     const struct ws_report *report, const struct ws_text_options *options,
			     struct ws_out *out, struct ws_error *err)
{
	memset(page, 0, offsetof(struct wsi_page, cell));
	page->form = form;
	page->report = report;
	page->out = out;
	page->put = form->put;
	page->rich = form->rich;
	if (options && options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"page options of %zu bytes, expected %zu", options->size,
				sizeof *options);
	if (options)
		page->options = *options;
	return WS_OK;
}

enum ws_status wsi_page_fini(struct wsi_page *page, struct ws_error *err)
{
	end_section(page);
	if (page->status != WS_OK)
		return wsi_fail(err, page->status, WS_NO_OFFSET, "report page: %s",
				ws_status_text(page->status));
	return WS_OK;
}
