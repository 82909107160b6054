/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds lines at the width of a terminal. A line goes out word by word; only the word that is being
 * written is held back. Spaces wait for the word behind them: they go where the line is folded.
 *
 *   "    precision  the instruction is known"
 *    ^ first word    ^ the gap says where what is folded continues
 */
#include <warpscope/out.h>

#include "base/base.h"
#include "text/width.h"

#include <errno.h>

enum {
	MARK_HERE = '\x1f', /* ws_out_fold_here() */
	MARK_WHOLE = '\x1e' /* ws_out_whole_line(): text has neither, they are controls */
};

static void mark(struct ws_out *out, char which)
{
	if (out->write == ws_wrap_write && ((struct ws_wrap *)out->user)->columns)
		ws_out_bytes(out, &which, 1);
}

void ws_out_fold_here(struct ws_out *out)
{
	mark(out, MARK_HERE);
}

void ws_out_whole_line(struct ws_out *out)
{
	mark(out, MARK_WHOLE);
}

void ws_wrap_init(struct ws_wrap *wrap, unsigned columns, ws_write_fn *write, void *user)
{
	*wrap = (struct ws_wrap){ .columns = columns };
	ws_out_init(&wrap->out, write, user);
}

/* What is folded continues at `column`, unless little room would be left there. */
static void fold_at(struct ws_wrap *wrap, size_t column)
{
	if (column <= wrap->columns / 2)
		wrap->indent = column;
}

/* Where a line continues, from the spaces before the word that comes. */
static void shape_read(struct ws_wrap *wrap)
{
	if (wrap->n_words == 0)
		fold_at(wrap, wrap->spaces);
	else if (!wrap->is_shaped && ((wrap->n_words == 1 && wrap->is_bullet) || wrap->spaces > 1))
		fold_at(wrap, wrap->column + wrap->spaces);
	wrap->is_shaped = wrap->is_shaped || (wrap->n_words > 0 && wrap->spaces > 1);
}

/* Writes the word that is held, on a line of its own beginning where it has no room. */
static void word_put(struct ws_wrap *wrap)
{
	size_t width = wsi_text_width(wrap->word, wrap->len);
	if (wrap->len == 0)
		return;
	if (!wrap->in_word) {
		shape_read(wrap);
		wrap->is_bullet = wrap->n_words == 0 && width == 1 && strchr("-*+~", *wrap->word);
		wrap->n_words++;
		if (wrap->column > wrap->indent &&
		    wrap->column + wrap->spaces + width > wrap->columns) {
			ws_out_bytes(&wrap->out, "\n", 1);
			wrap->column = 0;
			wrap->spaces = wrap->indent;
			wrap->is_shaped = true;
		}
		ws_out_spaces(&wrap->out, wrap->spaces);
		wrap->column += wrap->spaces;
		wrap->spaces = 0;
	}
	ws_out_bytes(&wrap->out, wrap->word, wrap->len);
	wrap->column += width;
	wrap->len = 0;
}

/* Writes what waits: a word, or spaces without one. */
static void held_put(struct ws_wrap *wrap)
{
	word_put(wrap);
	ws_out_spaces(&wrap->out, wrap->spaces);
	wrap->column += wrap->spaces;
	wrap->spaces = 0;
}

static void feed(struct ws_wrap *wrap, const char *bytes, size_t len);

static void wrapped_line_end(struct ws_wrap *wrap, char c)
{
	if (wrap->in_code && wrap->len) { /* it does not end: it was none */
		char word[sizeof wrap->word];
		size_t len = wrap->len;
		memcpy(word, wrap->word, len);
		wrap->len = 0;
		wrap->no_code = true;
		wrap->in_code = false;
		feed(wrap, word, len);
	}
	word_put(wrap);
	ws_out_bytes(&wrap->out, &c, 1);
	wrap->column = wrap->spaces = wrap->indent = wrap->n_words = 0;
	wrap->in_word = wrap->in_code = wrap->no_code = wrap->whole = wrap->is_shaped = false;
}

static void feed(struct ws_wrap *wrap, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];
		if (c == '\n' || c == '\r') {
			wrapped_line_end(wrap, c);
		} else if (wrap->whole) {
			ws_out_bytes(&wrap->out, &c, 1);
		} else if (c == MARK_HERE) {
			word_put(wrap);
			fold_at(wrap, wrap->column + wrap->spaces);
			wrap->is_shaped = true;
		} else if (c == MARK_WHOLE) {
			held_put(wrap);
			wrap->whole = true;
		} else if (c == ' ' && !wrap->in_code) {
			word_put(wrap);
			wrap->in_word = false;
			wrap->spaces++;
		} else {
			if (c == '`' && !wrap->no_code)
				wrap->in_code = !wrap->in_code;
			if (wrap->len == sizeof wrap->word) {
				word_put(wrap);
				wrap->in_word = true;
			}
			wrap->word[wrap->len++] = c;
		}
	}
}

enum ws_status ws_wrap_flush(struct ws_wrap *wrap, struct ws_error *err)
{
	bool in_word = wrap->in_word || wrap->len > 0;
	held_put(wrap);
	wrap->in_word = in_word; /* no line ends before what follows */
	return ws_out_flush(&wrap->out, err);
}

bool ws_wrap_write(void *user, const char *bytes, size_t len)
{
	struct ws_wrap *wrap = user;
	struct ws_error err;
	if (!wrap->columns)
		return wrap->out.write(wrap->out.user, bytes, len);
	feed(wrap, bytes, len);
	if (ws_out_flush(&wrap->out, &err) == WS_OK)
		return true;
	errno = err.os_errno;
	return false;
}
