/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Titles and prose of the page. As text, a section is its title and an empty line. As Markdown, its
 * detail stands in a fenced block, folded where it is long; prose is escaped so that no text of the
 * input becomes markup, a link, or the mention of a person or an issue.
 */
#include "render/text.h"

void wsi_page_close(struct wsi_page *page)
{
	if (page->open != WSI_OPEN_NOTHING)
		ws_out_text(page->out, "```\n");
	if (page->open == WSI_OPEN_FOLDED)
		ws_out_text(page->out, "\n</details>\n");
	page->open = WSI_OPEN_NOTHING;
}

static void block_start(struct wsi_page *page, enum wsi_page_open open)
{
	ws_out_text(page->out, "\n```text\n");
	page->open = open;
}

static void text_title(struct wsi_page *page, const char *text)
{
	ws_out_text(page->out, "\n");
	wsi_page_style(page, WS_STYLE_BOLD);
	ws_out_printf(page->out, "%s", text);
	wsi_page_style(page, WS_STYLE_PLAIN);
	ws_out_text(page->out, "\n\n");
}

/* The title without its colon. */
static void markdown_title(struct wsi_page *page, const char *text)
{
	ws_out_printf(page->out, "%.*s", (int)strlen(text) - 1, text);
}

/* The same in bold, as a heading. */
static void markdown_heading(struct wsi_page *page, const char *text)
{
	wsi_page_close(page);
	ws_out_text(page->out, "\n**");
	markdown_title(page, text);
	ws_out_text(page->out, "**\n");
}

void wsi_page_detail(struct wsi_page *page)
{
	wsi_page_close(page);
	if (page->markdown)
		block_start(page, WSI_OPEN_BLOCK);
	else
		wsi_page_end_line(page);
}

void wsi_page_title(struct wsi_page *page, const char *text)
{
	if (!page->markdown) {
		text_title(page, text);
		return;
	}
	markdown_heading(page, text);
	block_start(page, WSI_OPEN_BLOCK);
}

void wsi_page_title_folded(struct wsi_page *page, const char *text)
{
	if (!page->markdown) {
		text_title(page, text);
		return;
	}
	wsi_page_close(page);
	ws_out_text(page->out, "\n<details>\n<summary>");
	markdown_title(page, text);
	ws_out_text(page->out, "</summary>\n");
	block_start(page, WSI_OPEN_FOLDED);
}

void wsi_page_title_prose(struct wsi_page *page, const char *text)
{
	if (!page->markdown) {
		text_title(page, text);
		return;
	}
	markdown_heading(page, text);
	ws_out_text(page->out, "\n");
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether trackers would make something of the character at `i` that no backslash prevents: a
 * mention (@name), an issue (#1), a link (http://, www.). */
static bool starts_reference(struct ws_str text, size_t i)
{
	const char *at = text.ptr + i;
	size_t left = text.len - i;
	if (left < 2)
		return false;
	if (at[0] == '@' || at[0] == '#')
		return is_word(at[1]);
	if (at[0] == ':')
		return at[1] == '/';
	return at[0] == '.' && i >= 3 && memcmp(at - 3, "www", 3) == 0;
}

void wsi_page_prose(struct wsi_page *page, struct ws_str text)
{
	static const char markup[] = "<>`*\\_[]|~&$#";
	size_t start = 0;
	if (!page->markdown) {
		ws_out_escaped(page->out, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		bool reference = starts_reference(text, i);
		if (!reference && (text.ptr[i] == '\0' || !strchr(markup, text.ptr[i])))
			continue;
		ws_out_escaped(page->out, (struct ws_str){ text.ptr + start, i - start });
		if (!reference) {
			ws_out_printf(page->out, "\\%c", text.ptr[i]);
			start = i + 1;
			continue;
		}
		/* an empty comment keeps the two apart and shows as nothing */
		if (text.ptr[i] == '.')
			ws_out_text(page->out, "<!-- -->.");
		else
			ws_out_printf(page->out, "%c<!-- -->", text.ptr[i]);
		start = i + 1;
	}
	ws_out_escaped(page->out, wsi_str_skip(text, start));
}

void wsi_page_advice(struct wsi_page *page, const char *text)
{
	if (!page->markdown) {
		ws_out_escaped(page->out, ws_str_of(text));
		return;
	}
	while (*text) {
		size_t plain = strcspn(text, "`");
		const char *code = text + plain + (text[plain] ? 1 : 0);
		size_t len = strcspn(code, "`");
		if (text[plain] && len > 0 && code[len]) {
			wsi_page_prose(page, (struct ws_str){ text, plain });
			ws_out_escaped(page->out, (struct ws_str){ code - 1, len + 2 });
			text = code + len + 1;
			continue;
		}
		plain += text[plain] ? 1 : 0; /* a backtick that encloses nothing */
		wsi_page_prose(page, (struct ws_str){ text, plain });
		text += plain;
	}
}
