/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page is a list of sections, and a section a list of elements: paragraphs, items of a list,
 * facts, tables, code, frames of a stack. Sections (section_*.c) say them once, from the report; a
 * form writes them and knows nothing of the report: form_text.c as text and as Markdown,
 * form_html.c as HTML.
 *
 *   wsi_section(page, "build", "How the code was built", WSI_FOLDED);
 *   wsi_label(page, "Driver");
 *   wsi_say(page, "%u.%u", major, minor);
 *
 * An element lasts until the next one begins, a section too; what is said goes to the element that
 * is open. Formats, labels and titles are literals of ours. Text of the input is an argument of a
 * format, or given to wsi_str() or wsi_sentence(): the form escapes it as the place demands.
 *
 * Figures are HTML's own: their sections write markup (html.h), and nothing in another form.
 */
#ifndef WSI_RENDER_PAGE_H
#define WSI_RENDER_PAGE_H

#include <warpscope/out.h>
#include <warpscope/report.h>

#include "base/base.h"
#include "text/escape.h"

/* How a run of text is shown, where the form can. */
enum wsi_look {
	WSI_CERTAIN, /* how sure a claim is: as enum ws_confidence */
	WSI_LIKELY,
	WSI_POSSIBLE,
	WSI_FAULTED, /* a state of threads: as enum ws_thread_state */
	WSI_TRAPPED,
	WSI_BARRIER,
	WSI_ACTIVE,
	WSI_DIVERGENT,
	WSI_PLAIN,
	WSI_CODE, /* words of the machine and of programs */
	WSI_SOFT,
	WSI_NONE, /* stands for what is not there */
	WSI_STRONG,
	WSI_KEY,      /* the instruction that all is about */
	WSI_EVIDENCE, /* of a claim, on a line of its own */
	WSI_NEVER,    /* who cannot come any more */
	WSI_N_RUNS,
};

enum wsi_part_shape {
	WSI_DETAIL, /* a block of lines */
	WSI_FOLDED, /* the same; long, and not what is read first */
	WSI_PROSE,  /* sentences */
};

/* A table: titles of columns, and cells row by row. */
struct wsi_page_table {
	const char *id, *label; /* in HTML: its class, and its name for who hears the page */
	const struct ws_column *column; /* titles may be text of the input */
	size_t n_columns;
	const char *fact; /* in text rows are values of this fact, their cells joined */
	bool folded;      /* in HTML behind its label */
	bool named;       /* the first cell is the name of the row */
	bool filter;      /* in HTML rows can be looked for and chosen */
};

/* A frame of a stack. */
struct wsi_stack_frame {
	uint32_t level;
	bool chosen, star; /* what a reader looks at first; it has a star in front */
	bool soft;
	bool has_code; /* lines of code follow */
};

enum wsi_page_element {
	WSI_NOTHING,
	WSI_PARAGRAPH,
	WSI_ITEM,
	WSI_FACT,
	WSI_MORE, /* "... and 3 more" */
	WSI_NOTE, /* about a stack */
	WSI_FRAME,
	WSI_PLACE, /* of the frame before it */
	WSI_FOLD,  /* stands for frames: a rich form has them after it */
	WSI_FOLD_END,
	WSI_SOURCE,
	WSI_MACHINE, /* listings */
	WSI_TABLE,
	WSI_CELL,
	WSI_FIGURE,
	WSI_N_ELEMENTS,
};

struct wsi_page;

/* Writes elements. `page->element` is what is open. */
struct wsi_page_form {
	wsi_put_str_fn *put; /* writes text of the input in prose */
	bool rich;           /* there is room for what text leaves to options and JSON */
	/* Starts a section; the one before has ended. */
	void (*section)(struct wsi_page *page);
	void (*lead)(struct wsi_page *page, const char *text);
	void (*section_end)(struct wsi_page *page);
	/* Starts a part of a section, as one of several waits. */
	void (*part)(struct wsi_page *page, const char *name, uint32_t number);
	/* Ends the open element; `next` comes. */
	void (*close)(struct wsi_page *page, enum wsi_page_element next);
	void (*open)(struct wsi_page *page, enum wsi_page_element element, const char *label);
	void (*table)(struct wsi_page *page);
	void (*cell)(struct wsi_page *page, const char *join);
	void (*frame)(struct wsi_page *page, const struct wsi_stack_frame *frame);
	void (*code_line)(struct wsi_page *page, bool here, const char *mark, uint64_t number,
			  uint64_t threads);
	/* Starts or ends a run; NULL: runs look all alike. */
	void (*run)(struct wsi_page *page, enum wsi_look run, bool end);
	void (*sentence)(struct wsi_page *page, struct ws_str text);
	/* Names a part, where a reader can follow it; or NULL. */
	void (*link)(struct wsi_page *page, const char *name, uint32_t number);
};

struct wsi_page {
	const struct ws_report *report; /* NULL: a page about many dumps */
	struct ws_text_options options;
	const struct wsi_page_form *form;
	struct ws_out *out;
	wsi_put_str_fn *put; /* writes text of the input where the page is */
	enum ws_status status;
	bool rich; /* as the form is */

	/* Of the form. */
	const char *id, *title; /* of the section; NULL: none */
	enum wsi_part_shape shape;
	enum wsi_page_element element;
	bool title_due, parted, in_line;
	unsigned group; /* of elements that stand together */
	struct wsi_stack_frame frame;
	enum { WSI_OPEN_NOTHING, WSI_OPEN_BLOCK, WSI_OPEN_FOLDED } block;
	struct wsi_page_table table;
	size_t column; /* of the next cell */
	uint32_t row;
	bool row_marked;
	struct ws_table *text_table;
	struct ws_out *outer, cell; /* in a cell of text_table: what `out` was, and what it is */
};

/* ---- elements ---- */

/* `id` names it in HTML; `title` has no colon. */
void wsi_section(struct wsi_page *page, const char *id, const char *title,
		 enum wsi_part_shape shape);
/* Sentences before all else; in text before the title. */
void wsi_lead(struct wsi_page *page, const char *text);
/* `name` ("Wait") and `number`, from 0, are its title in HTML. */
void wsi_render_part(struct wsi_page *page, const char *name, uint32_t number);
/* Starts an element that needs no more than that. */
void wsi_render_element(struct wsi_page *page, enum wsi_page_element element);
/* Starts a fact. An empty label: one more value of the one before. */
void wsi_label(struct wsi_page *page, const char *label);
void wsi_render_table(struct wsi_page *page, const struct wsi_page_table *table);
/* The next cell, row by row; `join` parts it from the one before it where cells are joined. */
void wsi_cell(struct wsi_page *page, const char *join);
/* The next cell, which takes a whole row. */
void wsi_cell_wide(struct wsi_page *page);
/* The row that comes stands out. */
void wsi_render_row_marked(struct wsi_page *page);
void wsi_frame(struct wsi_page *page, const struct wsi_stack_frame *frame);
/* A line of a listing: whether it is what the listing is about; of an instruction its mark, or
 * NULL, and its address; of source its number and how many threads are there. */
void wsi_render_code_line(struct wsi_page *page, bool here, const char *mark, uint64_t number,
			  uint64_t threads);

/* ---- what elements say ---- */

void wsi_say(struct wsi_page *page, const char *format, ...) WS_PRINTF(2, 3);
void wsi_render_run(struct wsi_page *page, enum wsi_look run, const char *format, ...)
	WS_PRINTF(3, 4);
void wsi_str(struct wsi_page *page, enum wsi_look run, struct ws_str text);
/* A sentence of ours with names of the input; what stands between backticks is code. */
void wsi_sentence(struct wsi_page *page, enum wsi_look run, const char *text);
void wsi_dim(struct wsi_page *page, struct ws_dim3 dim);
void wsi_link(struct wsi_page *page, const char *name, uint32_t number); /* to a part */

/* The forms. */
extern const struct wsi_page_form wsi_form_text, wsi_form_markdown, wsi_form_html;

/* Starts a page of `form`. */
enum ws_status wsi_page_init(struct wsi_page *page, const struct wsi_page_form *form,
			     const struct ws_report *report, const struct ws_text_options *options,
			     struct ws_out *out, struct ws_error *err) WS_MUST_USE;
/* Ends the last section; says whether memory sufficed. */
enum ws_status wsi_page_fini(struct wsi_page *page, struct ws_error *err) WS_MUST_USE;

#endif
