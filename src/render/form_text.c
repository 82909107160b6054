/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages as text and as Markdown. As text, a section is its title, an empty line, and its detail
 * indented by four spaces. As Markdown, detail stands in a fenced block, folded where it is long;
 * its lines start with at least four spaces, so that they cannot end the block. Prose is escaped so
 * that no text of the input becomes markup, a link, or the mention of a person or an issue.
 */
#include "render/page.h"

#include "text/table.h"

/* ---- text of the input ---- */

/* Whether trackers would make something of the character at `i` that no backslash prevents: a
 * mention (@name), an issue (#1), a link (http://, www.). */
static bool starts_reference(struct ws_str text, size_t i)
{
	const char *at = text.ptr + i;
	size_t left = text.len - i;
	if (left < 2)
		return false;
	if (at[0] == '@' || at[0] == '#')
		return wsi_is_alphanumeric(at[1]);
	if (at[0] == ':')
		return at[1] == '/';
	return at[0] == '.' && i >= 3 && memcmp(at - 3, "www", 3) == 0;
}

/* Text of the input in the prose of Markdown. */
static void put_prose(struct ws_out *out, struct ws_str text)
{
	static const char markup[] = "<>`*\\_[]|~&$#";
	size_t start = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool reference = starts_reference(text, i);
		if (!reference && (text.ptr[i] == '\0' || !strchr(markup, text.ptr[i])))
			continue;
		ws_out_escaped(out, (struct ws_str){ text.ptr + start, i - start });
		if (!reference) {
			ws_out_printf(out, "\\%c", text.ptr[i]);
			start = i + 1;
			continue;
		}
		/* an empty comment keeps the two apart and shows as nothing */
		if (text.ptr[i] == '.')
			ws_out_text(out, "<!-- -->.");
		else
			ws_out_printf(out, "%c<!-- -->", text.ptr[i]);
		start = i + 1;
	}
	ws_out_escaped(out, wsi_str_skip(text, start));
}

static void text_sentence(struct wsi_page *page, struct ws_str text)
{
	if (page->put != put_prose) {
		page->put(page->out, text);
		return;
	}
	while (text.len) {
		const char *open = memchr(text.ptr, '`', text.len);
		size_t plain = open ? (size_t)(open - text.ptr) : text.len;
		struct ws_str code = wsi_str_skip(text, plain + (open != NULL));
		const char *end = code.len ? memchr(code.ptr, '`', code.len) : NULL;
		size_t len = end ? (size_t)(end - code.ptr) : 0;
		if (len) {
			put_prose(page->out, (struct ws_str){ text.ptr, plain });
			ws_out_escaped(page->out, (struct ws_str){ open, len + 2 });
			text = wsi_str_skip(code, len + 1);
			continue;
		}
		plain += open != NULL; /* a backtick that encloses nothing */
		put_prose(page->out, (struct ws_str){ text.ptr, plain });
		text = wsi_str_skip(text, plain);
	}
}

/* ---- sections ---- */

static void style(struct wsi_page *page, enum ws_style style)
{
	if (page->options.color)
		ws_out_style(page->out, style);
}

static void block_end(struct wsi_page *page)
{
	if (page->block != WSI_OPEN_NOTHING)
		ws_out_text(page->out, "```\n");
	if (page->block == WSI_OPEN_FOLDED)
		ws_out_text(page->out, "\n</details>\n");
	page->block = WSI_OPEN_NOTHING;
}

static void section(struct wsi_page *page)
{
	page->put = page->shape == WSI_PROSE ? page->form->put : ws_out_escaped;
	page->title_due = true;
}

static void text_lead(struct wsi_page *page, const char *text)
{
	ws_out_text(page->out, "\n");
	text_sentence(page, ws_str_of(text));
	ws_out_text(page->out, "\n");
}

static void section_end(struct wsi_page *page)
{
	block_end(page);
}

static void title_markdown(struct wsi_page *page)
{
	bool folded = page->shape == WSI_FOLDED, prose = page->shape == WSI_PROSE;
	ws_out_printf(page->out, folded ? "\n<details>\n<summary>%s</summary>\n" : "\n**%s**\n",
		      page->title);
	ws_out_text(page->out, prose ? "\n" : "\n```text\n");
	if (!prose)
		page->block = folded ? WSI_OPEN_FOLDED : WSI_OPEN_BLOCK;
}

/* The title stands before the first element: a section without any has none. */
static void title(struct wsi_page *page)
{
	if (!page->title_due)
		return;
	page->title_due = false;
	if (page->form == &wsi_form_markdown) {
		title_markdown(page);
		return;
	}
	ws_out_text(page->out, "\n");
	style(page, WS_STYLE_BOLD);
	ws_out_printf(page->out, "%s:", page->title);
	style(page, WS_STYLE_PLAIN);
	ws_out_text(page->out, "\n\n");
}

static void text_part(struct wsi_page *page, const char *name, uint32_t number)
{
	(void)name;
	(void)number;
	title(page);
	if (page->parted)
		ws_out_text(page->out, "\n");
}

/* ---- elements ---- */

/* Labels begin in small letters. */
static void text_label(struct wsi_page *page, const char *text)
{
	char first = *text;
	if (first >= 'A' && first <= 'Z')
		first = (char)(first - 'A' + 'a');
	ws_out_text(page->out, "    ");
	style(page, WS_STYLE_DIM);
	if (*text)
		ws_out_printf(page->out, "%c%-9s ", first, text + 1);
	else
		ws_out_spaces(page->out, 11);
	style(page, WS_STYLE_PLAIN);
	ws_out_fold_here(page->out);
}

/* What stands around an element, in detail. */
static const struct {
	const char *start, *end;
} elements[WSI_N_ELEMENTS] = {
	[WSI_PARAGRAPH] = { "    ", "\n" },
	[WSI_ITEM] = { "    ", "\n" },
	[WSI_FACT] = { "", "\n" },
	[WSI_MORE] = { "    ... and ", "\n" },
	[WSI_NOTE] = { "         (", ")\n" },
	[WSI_FRAME] = { "", "\n" },
	[WSI_PLACE] = { "         at ", "\n" },
	[WSI_FOLD] = { "    ", "\n" },
	[WSI_FOLD_END] = { "", "" },
	[WSI_SOURCE] = { "", "" },
	[WSI_MACHINE] = { "", "" },
	[WSI_TABLE] = { "", "" },
	[WSI_CELL] = { "", "" },
	[WSI_FIGURE] = { "", "" },
};

static void text_open(struct wsi_page *page, enum wsi_page_element element, const char *text)
{
	bool prose = page->shape == WSI_PROSE;
	title(page);
	if (element == WSI_FOLD)
		style(page, WS_STYLE_DIM);
	if (prose)
		ws_out_text(page->out, element == WSI_ITEM ? "- " : "");
	else
		ws_out_text(page->out, elements[element].start);
	ws_out_fold_here(page->out);
	if (text)
		text_label(page, text);
}

static void table_end(struct wsi_page *page)
{
	if (!page->text_table)
		return;
	if (page->form == &wsi_form_text)
		ws_table_fit(page->text_table, page->options.columns);
	enum ws_status st = ws_table_print(page->text_table, page->out, 4, NULL);
	if (page->status == WS_OK)
		page->status = st;
	ws_table_destroy(page->text_table);
	page->text_table = NULL;
}

static void text_cell_end(struct wsi_page *page)
{
	if (page->table.fact) {
		if (page->column == page->table.n_columns)
			ws_out_text(page->out, "\n");
	} else if (page->text_table) {
		wsi_table_cell_end(page->text_table, &page->cell);
		page->out = page->outer;
	}
	page->column %= page->table.n_columns;
}

static void text_close(struct wsi_page *page, enum wsi_page_element next)
{
	if (page->element == WSI_CELL)
		text_cell_end(page);
	if ((page->element == WSI_CELL || page->element == WSI_TABLE) && next != WSI_CELL)
		table_end(page);
	if (page->element == WSI_FRAME || page->element == WSI_FOLD)
		style(page, WS_STYLE_PLAIN);
	if (page->in_line)
		ws_out_text(page->out, "\n");
	page->in_line = false;
	ws_out_text(page->out, elements[page->element].end);
}

static void text_form_table(struct wsi_page *page)
{
	title(page);
	if (page->table.fact)
		return;
	enum ws_status st =
		ws_table_create(page->table.column, page->table.n_columns, &page->text_table, NULL);
	if (page->status == WS_OK)
		page->status = st;
}

static void text_form_cell(struct wsi_page *page, const char *join)
{
	if (page->table.fact) {
		if (page->column == 0)
			text_label(page, page->row++ ? "" : page->table.fact);
		else
			ws_out_text(page->out, join);
	} else if (page->text_table) {
		page->outer = page->out;
		page->out = &page->cell;
		wsi_table_cell_start(page->text_table, page->out);
	}
}

static void text_frame(struct wsi_page *page, const struct wsi_stack_frame *frame)
{
	title(page);
	if (frame->star || frame->soft)
		style(page, frame->star ? WS_STYLE_BOLD : WS_STYLE_DIM);
	ws_out_printf(page->out, "    #%-2u%s ", frame->level, frame->star ? "*" : " ");
	ws_out_fold_here(page->out);
}

static void text_code_line(struct wsi_page *page, bool here, const char *mark, uint64_t number,
			   uint64_t threads)
{
	const char *arrow = !mark ? "" : strcmp(mark, "pc") == 0 ? "pc ->" : "error ->";
	(void)threads;
	ws_out_text(page->out, page->in_line ? "\n" : "");
	page->in_line = true;
	ws_out_whole_line(page->out);
	if (page->element == WSI_SOURCE)
		ws_out_printf(page->out, "      %s%6" PRIu64 "  ", here ? ">" : " ", number);
	else
		ws_out_printf(page->out, "    %-8s 0x%" PRIx64 "  ", arrow, number);
}

#define OPERATIONS                                                                                \
	.section = section, .lead = text_lead, .section_end = section_end, .part = text_part,     \
	.close = text_close, .open = text_open, .table = text_form_table, .cell = text_form_cell, \
	.frame = text_frame, .code_line = text_code_line, .sentence = text_sentence

const struct wsi_page_form wsi_form_text = { .put = ws_out_escaped, OPERATIONS };
const struct wsi_page_form wsi_form_markdown = { .put = put_prose, OPERATIONS };
