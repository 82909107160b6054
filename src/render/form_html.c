/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as HTML, and the one place that escapes. */
#include "render/html.h"

static void html_escape(struct ws_out *out, const char *at, size_t n, uint32_t code)
{
	if (code < 0x7f && code >= 0x20)
		ws_out_printf(out, "&#%u;", code);
	else
		wsi_escape_bytes(out, at, n, code);
}

/* Text of the input, as `page->put`. */
static void html_put(struct ws_out *out, struct ws_str text)
{
	static const struct wsi_special markup = { { WSI_SPECIAL('&') | WSI_SPECIAL('<') |
							     WSI_SPECIAL('>') | WSI_SPECIAL('"') |
							     WSI_SPECIAL('\''),
						     0 } };
	wsi_out_escape(out, text, &markup, html_escape);
}

/* ---- runs ---- */

struct markup {
	const char *start, *end;
};

/* Markup of the tables below. */
static void mark(struct wsi_page *page, const char *ours)
{
	ws_out_text(page->out, ours);
}

static void html_run(struct wsi_page *page, enum wsi_look run, bool end)
{
	static const struct markup runs[WSI_N_RUNS] = {
		[WSI_CERTAIN] = { "<span class=\"sure sure-certain\">", "</span>" },
		[WSI_LIKELY] = { "<span class=\"sure sure-likely\">", "</span>" },
		[WSI_POSSIBLE] = { "<span class=\"sure sure-possible\">", "</span>" },
		[WSI_FAULTED] = { "<span class=\"state F\">", "</span>" },
		[WSI_TRAPPED] = { "<span class=\"state T\">", "</span>" },
		[WSI_BARRIER] = { "<span class=\"state B\">", "</span>" },
		[WSI_ACTIVE] = { "<span class=\"state A\">", "</span>" },
		[WSI_DIVERGENT] = { "<span class=\"state D\">", "</span>" },
		[WSI_PLAIN] = { "", "" },
		[WSI_CODE] = { "<code>", "</code>" },
		[WSI_SOFT] = { "<span class=\"soft\">", "</span>" },
		[WSI_NONE] = { "<span class=\"none\">", "</span>" },
		[WSI_STRONG] = { "<strong>", "</strong>" },
		[WSI_KEY] = { "<code class=\"key\">", "</code>" },
		[WSI_EVIDENCE] = { "<span class=\"evidence\">", "</span>" },
		[WSI_NEVER] = { "<span class=\"never\">", "</span>" },
	};
	mark(page, end ? runs[run].end : runs[run].start);
}

/* The text up to the next backtick, or all of it; takes it from `rest`, with the backtick. */
static struct ws_str to_backtick(struct ws_str *rest, bool *ret_found)
{
	const char *at = rest->len ? memchr(rest->ptr, '`', rest->len) : NULL;
	struct ws_str text = { rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len };
	*rest = wsi_str_skip(*rest, text.len + (at != NULL));
	*ret_found = at != NULL;
	return text;
}

static void html_sentence(struct wsi_page *page, struct ws_str text)
{
	bool opened, closed;
	while (text.len) {
		page->put(page->out, to_backtick(&text, &opened));
		if (!opened)
			return;
		struct ws_str code = to_backtick(&text, &closed);
		wsi_html_raw(page, closed ? "<code>" : "`"); /* or one without its pair */
		page->put(page->out, code);
		if (closed)
			wsi_html_raw(page, "</code>");
	}
}

/* ---- sections ---- */

static void section(struct wsi_page *page)
{
	wsi_html_printf(page,
			"<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 "
			"id=\"%s-title\">%s</h2>\n",
			page->id, page->id, page->id, page->title);
}

static void html_lead(struct wsi_page *page, const char *text)
{
	wsi_html_raw(page, "<p>");
	html_sentence(page, ws_str_of(text));
	wsi_html_raw(page, "</p>\n");
}

static void part_end(struct wsi_page *page)
{
	if (page->parted)
		wsi_html_raw(page, "</div>\n");
}

static void section_end(struct wsi_page *page)
{
	part_end(page);
	wsi_html_raw(page, "</section>\n");
}

static void html_part(struct wsi_page *page, const char *name, uint32_t number)
{
	part_end(page);
	wsi_html_printf(page, "<div class=\"part\" id=\"%s%u\">\n<h3>%s %u</h3>\n", name,
			number + 1, name, number + 1);
}

/* ---- elements ---- */

/* What stands around all neighbours of one kind. */
enum group { ALONE, LIST, FACTS, STACK };

static const struct markup groups[] = {
	[ALONE] = { "", "" },
	[LIST] = { "<ul>\n", "</ul>\n" },
	[FACTS] = { "<dl class=\"facts\">\n", "</dl>\n" },
	[STACK] = { "<ol class=\"stack\">\n", "</ol>\n" },
};

#define SCROLLED "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\""

/* A frame is FRAME, PLACE, and may be code. */
static const struct {
	enum group group;
	struct markup markup;
} elements[WSI_N_ELEMENTS] = {
	[WSI_PARAGRAPH] = { ALONE, { "<p>", "</p>\n" } },
	[WSI_ITEM] = { LIST, { "<li>", "</li>\n" } },
	[WSI_FACT] = { FACTS, { "<div><dt>", "</dd></div>\n" } },
	[WSI_MORE] = { ALONE, { "<p class=\"soft\">... and ", "</p>\n" } },
	[WSI_NOTE] = { STACK, { "<li class=\"note\">", "</li>\n" } },
	[WSI_FRAME] = { STACK, { "", "" } },
	[WSI_PLACE] = { STACK, { " <span class=\"place\">", "</span>" } },
	[WSI_FOLD] = { STACK,
		       { "<li class=\"library\"><details><summary>",
			 "</summary>\n<ol class=\"stack\">\n" } },
	[WSI_FOLD_END] = { STACK, { "</ol></details></li>\n", "" } },
	[WSI_SOURCE] = { STACK,
			 { SCROLLED "Source\"><table class=\"source\"><thead><tr><th "
				    "scope=\"col\">Threads</th><th scope=\"col\">Line</th><th "
				    "scope=\"col\">Source</th></tr></thead><tbody>\n",
			   "</tbody></table></div>\n</details></li>\n" } },
	[WSI_MACHINE] = { ALONE,
			  { SCROLLED "Machine code\"><table class=\"code\"><thead><tr><th "
				     "scope=\"col\">Mark</th><th scope=\"col\">Address</th><th "
				     "scope=\"col\">Instruction, values of its "
				     "operands</th></tr></thead><tbody>\n",
			    "</tbody></table></div>\n" } },
	[WSI_TABLE] = { ALONE, { "", "" } },
	[WSI_CELL] = { ALONE, { "", "" } },
	[WSI_FIGURE] = { ALONE, { "", "" } },
};

static enum group group_of(enum wsi_page_element element)
{
	return elements[element].group;
}

/* Starts the group that an element needs. */
static void group_start(struct wsi_page *page, enum wsi_page_element element)
{
	if (page->group != group_of(element))
		mark(page, groups[group_of(element)].start);
	page->group = group_of(element);
}

static void html_open(struct wsi_page *page, enum wsi_page_element element, const char *label)
{
	group_start(page, element);
	mark(page, elements[element].markup.start);
	if (label)
		wsi_html_printf(page, "%s</dt><dd>", label);
}

static void code_line_end(struct wsi_page *page)
{
	if (page->in_line)
		wsi_html_raw(page,
			     page->element == WSI_SOURCE ? "</code></td></tr>\n" : "</td></tr>\n");
	page->in_line = false;
}

static void html_cell_end(struct wsi_page *page, enum wsi_page_element next)
{
	if (page->element == WSI_CELL)
		wsi_html_raw(page, page->table.named && page->column == 1 ? "</th>" : "</td>");
	if (page->element == WSI_CELL && page->column == page->table.n_columns) {
		wsi_html_raw(page, "</tr>\n");
		page->column = 0;
	}
	if (next == WSI_CELL)
		return;
	wsi_html_raw(page, "</tbody></table></div>");
	wsi_html_raw(page, page->table.folded ? "</details>\n" : "\n");
}

static void html_close(struct wsi_page *page, enum wsi_page_element next)
{
	code_line_end(page);
	if (page->element == WSI_CELL || page->element == WSI_TABLE)
		html_cell_end(page, next);
	mark(page, elements[page->element].markup.end);
	if (page->element == WSI_PLACE)
		wsi_html_raw(page, page->frame.has_code ? "</summary>\n" : "</div></li>\n");
	if (page->group != group_of(next)) {
		mark(page, groups[page->group].end);
		page->group = ALONE;
	}
}

static void html_table(struct wsi_page *page)
{
	const struct wsi_page_table *table = &page->table;
	if (table->folded)
		wsi_html_printf(page, "<details><summary>%s</summary>\n", table->label);
	if (table->filter)
		wsi_html_raw(page, "<p class=\"tools\" hidden><label>Filter <input id=\"filter\" "
				   "type=\"search\" autocomplete=\"off\"></label> <span "
				   "id=\"filtered\" role=\"status\"></span></p>\n");
	wsi_html_printf(page,
			"<div class=\"wide%s\" tabindex=\"0\" role=\"region\" "
			"aria-label=\"%s\"><table class=\"%s\"",
			table->filter ? " tall" : "", table->label, table->id);
	if (table->filter)
		wsi_html_printf(page, " id=\"%s\"", table->id);
	wsi_html_raw(page, ">\n");
	if (table->fact)
		wsi_html_printf(page, "<caption>%s</caption>\n", table->fact);
	wsi_html_raw(page, "<thead><tr>");
	for (size_t i = 0; i < table->n_columns; i++)
		wsi_html_printf(page,
				table->column[i].align == WS_ALIGN_RIGHT
					? "<th scope=\"col\" class=\"n\">%s</th>"
					: "<th scope=\"col\">%s</th>",
				table->column[i].title);
	wsi_html_raw(page, "</tr></thead>\n<tbody>\n");
}

static void html_cell(struct wsi_page *page, const char *join)
{
	const struct wsi_page_table *table = &page->table;
	bool right = table->column[page->column].align == WS_ALIGN_RIGHT;
	if (page->column == 0) {
		wsi_html_raw(page, page->row_marked ? "<tr class=\"bad\"" : "<tr");
		if (table->filter)
			wsi_html_printf(page, " data-group=\"%u\"", page->row);
		wsi_html_raw(page, ">");
		page->row++;
		page->row_marked = false;
	}
	if (!join)
		wsi_html_printf(page, "<td colspan=\"%zu\">", table->n_columns);
	else if (table->named && page->column == 0)
		wsi_html_raw(page, right ? "<th scope=\"row\" class=\"n\">" : "<th scope=\"row\">");
	else
		wsi_html_raw(page, right ? "<td class=\"n\">" : "<td>");
}

static void html_frame(struct wsi_page *page, const struct wsi_stack_frame *frame)
{
	group_start(page, WSI_FRAME);
	wsi_html_printf(page, "<li class=\"%s%s\">", frame->soft ? "library" : "",
			frame->chosen ? " user" : "");
	wsi_html_raw(page, !frame->has_code ? "<div class=\"frame\">"
			   : frame->chosen  ? "<details open><summary>"
					    : "<details><summary>");
	wsi_html_printf(page, "<span class=\"level\">#%u</span> ", frame->level);
}

/* 1 to 8 by the order of magnitude. */
static unsigned bar_step(uint64_t n)
{
	unsigned step = 1;
	for (; n >= 8 && step < 8; n /= 8)
		step++;
	return step;
}

static void html_code_line(struct wsi_page *page, bool here, const char *mark, uint64_t number,
			   uint64_t threads)
{
	bool source = page->element == WSI_SOURCE;
	code_line_end(page);
	page->in_line = true;
	wsi_html_raw(page, here ? "<tr class=\"here\"><td" : "<tr><td");
	wsi_html_raw(page, source ? " class=\"count\">" : ">");
	if (mark)
		wsi_html_printf(page, "\u25b6 %s", mark);
	if (threads)
		wsi_html_printf(page, "<i class=\"bar b%u\"></i>%" PRIu64, bar_step(threads),
				threads);
	wsi_html_raw(page,
		     here && source ? "</td><th scope=\"row\">\u25b6 " : "</td><th scope=\"row\">");
	if (source)
		wsi_html_printf(page, "%" PRIu64 "</th><td><code>", number);
	else
		wsi_html_printf(page, "<code>%" PRIx64 "</code></th><td>", number);
}

static void link(struct wsi_page *page, const char *name, uint32_t number)
{
	wsi_html_printf(page, ", <a href=\"#%s%u\">%s %u</a>", name, number + 1, name, number + 1);
}

const struct wsi_page_form wsi_form_html = {
	.put = html_put,
	.rich = true,
	.section = section,
	.lead = html_lead,
	.section_end = section_end,
	.part = html_part,
	.close = html_close,
	.open = html_open,
	.table = html_table,
	.cell = html_cell,
	.frame = html_frame,
	.code_line = html_code_line,
	.run = html_run,
	.sentence = html_sentence,
	.link = link,
};
