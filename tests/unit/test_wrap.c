/* SPDX-License-Identifier: Apache-2.0 */
/* src/text: how wide text is on a terminal, and lines that are folded there. */
#include "unit.h"

#include <errno.h>

#include <warpscope/out.h>

#include "text/width.h"

static struct text {
	char bytes[8192];
	size_t len;
	bool fails;
} text;
static struct ws_wrap wrap;
static struct ws_out out;

static bool text_write(void *user, const char *bytes, size_t len)
{
	struct text *to = user;
	errno = ENOSPC;
	if (to->fails || len > sizeof to->bytes - 1 - to->len)
		return false;
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
	to->bytes[to->len] = '\0';
	return true;
}

static void start(unsigned columns)
{
	text = (struct text){ .len = 0 };
	ws_wrap_init(&wrap, columns, text_write, &text);
	ws_out_init(&out, ws_wrap_write, &wrap);
}

static const char *written(void)
{
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_int_equal(ws_wrap_flush(&wrap, NULL), WS_OK);
	return text.bytes;
}

static void widths_are_those_of_a_terminal(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t width;
	} cases[] = {
		{ "", 0 },
		{ "plain", 5 },
		{ "k\xc3\xa9rnel", 6 },                /* e with acute, one character */
		{ "ke\xcc\x81rnel", 6 },               /* e and a combining acute */
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4 },     /* two ideographs */
		{ "\xef\xbc\xa1", 2 },                 /* a full-width A */
		{ "\xf0\x9f\x98\x80", 2 },             /* a face */
		{ "\xea\xb0\x80", 2 },                 /* a Hangul syllable */
		{ "\xe1\x84\x80\xe1\x85\xa1", 2 },     /* the same of two letters */
		{ "\xf0\xb1\x8d\x8a\xe2\x80\x90", 3 }, /* the last of the list, and a hyphen */
		{ "\033[1;31mred\033[0m", 3 },         /* styles */
		{ "\r\033[K", 1 },                     /* of which only the first is none */
		{ "\033[12", 4 },                      /* one that does not end */
		{ "\xff\xe2\x80", 3 },                 /* no UTF-8 */
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		assert_int_equal(wsi_text_width(cases[i].text, strlen(cases[i].text)),
				 cases[i].width);
	assert_int_equal(ws_escaped_width(ws_str_of("\xe6\xbc\xa2\x1b")), 6);
}

static const struct {
	unsigned columns;
	const char *text, *folded;
} lines[] = {
	{ 0, "one two three four five\n", "one two three four five\n" },
	{ 10, "one two th\n", "one two th\n" },
	{ 10, "one two thr\n", "one two\nthr\n" },
	{ 10, "one  two   four\n\n  five \n", "one  two\n     four\n\n  five\n" },
	/* bullets, indentation, gaps */
	{ 12, "- one two three four\n", "- one two\n  three four\n" },
	{ 14, "  - one two three\n", "  - one two\n    three\n" },
	{ 12, "  one two three four\n", "  one two\n  three four\n" },
	{ 24, "  fact  one two three four five\n", "  fact  one two three\n        four five\n" },
	{ 24, "~ fact  one two three four five\n", "~ fact  one two three\n        four five\n" },
	/* a gap further to the right than half the line is none to continue at */
	{ 20, "  a long label  one two three\n", "  a long label  one\n  two three\n" },
	/* only the first gap counts */
	{ 20, "a  one  two  three  four\n", "a  one  two  three\n   four\n" },
	/* words that are wider than the line, at its beginning and behind others */
	{ 8, "abcdefghijkl mn\n", "abcdefghijkl\nmn\n" },
	{ 8, "- abcdefghijkl mn\n", "- abcdefghijkl\n  mn\n" },
	{ 8, "ab abcdefghijkl\n", "ab\nabcdefghijkl\n" },
	/* what is between backticks is one word, if it ends in its line */
	{ 12, "run `a b c d` now\n", "run\n`a b c d`\nnow\n" },
	{ 12, "a `b c, d e f g h i\n", "a `b c, d e\nf g h i\n" },
	{ 12, "run `a b`, `c d e`.\n", "run `a b`,\n`c d e`.\n" },
	/* characters and styles count as what they fill */
	{ 6, "\xe6\xbc\xa2 \xe6\xbc\xa2 \xe6\xbc\xa2\n",
	  "\xe6\xbc\xa2 \xe6\xbc\xa2\n\xe6\xbc\xa2\n" },
	{ 7, "\033[1mone\033[0m \033[2mtwo\033[0m three\n",
	  "\033[1mone\033[0m \033[2mtwo\033[0m\nthree\n" },
	{ 8, "1 of 9\r2 of 9 \rthe end now\n", "1 of 9\r2 of 9\rthe end\nnow\n" },
	{ 8, "no end of a line", "no end\nof a\nline" },
	{ 8, "(gdb) ", "(gdb) " },
};

static void lines_are_folded_at_spaces(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(lines); i++) {
		start(lines[i].columns);
		ws_out_text(&out, lines[i].text);
		assert_string_equal(written(), lines[i].folded);
	}
}

static void the_pieces_in_which_text_comes_do_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(lines); i++) {
		start(lines[i].columns);
		for (const char *p = lines[i].text; *p; p++) {
			ws_out_bytes(&out, p, 1);
			assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
		}
		assert_string_equal(written(), lines[i].folded);
	}
}

static void marked(void)
{
	ws_out_text(&out, "label: ");
	ws_out_fold_here(&out);
	ws_out_text(&out, "one two three four\n  ");
	ws_out_whole_line(&out);
	ws_out_text(&out, "  int a = b + c + d + e;\none two three four\n");
}

static void writers_say_where_to_continue_and_what_is_code(void **state)
{
	(void)state;
	start(16);
	marked();
	assert_string_equal(written(), "label: one two\n       three\n       four\n"
				       "    int a = b + c + d + e;\none two three\nfour\n");
	static const char plain[] = "label: one two three four\n    int a = b + c + d + e;\n"
				    "one two three four\n";
	start(0);
	marked();
	assert_string_equal(written(), plain);
	text = (struct text){ .len = 0 };
	ws_out_init(&out, text_write, &text); /* no folding at all: marks are not written */
	marked();
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_string_equal(text.bytes, plain);
}

static void a_word_may_be_longer_than_what_is_held(void **state)
{
	(void)state;
	static char word[5001], expected[5100];
	memset(word, 'x', sizeof word - 1);
	start(20);
	ws_out_printf(&out, "one %s two\n", word);
	snprintf(expected, sizeof expected, "one\n%s\ntwo\n", word);
	assert_string_equal(written(), expected);
	start(20);
	word[2000] = ' ';
	ws_out_printf(&out, "one `%s` two\n", word);
	snprintf(expected, sizeof expected, "one\n`%s`\ntwo\n", word);
	assert_string_equal(written(), expected);
}

static void what_was_flushed_is_one_word_with_what_follows(void **state)
{
	(void)state;
	start(11);
	ws_out_text(&out, "one two thre");
	assert_string_equal(written(), "one two\nthre");
	ws_out_text(&out, "e; see; the rest");
	assert_string_equal(written(), "one two\nthree; see;\nthe rest");
	start(12);
	ws_out_text(&out, "one two 345");
	(void)written();
	ws_out_text(&out, "; see");
	assert_string_equal(written(), "one two 345;\nsee");
}

static void a_sink_that_fails_is_told(void **state)
{
	(void)state;
	struct ws_error err;
	start(20);
	text.fails = true;
	ws_out_text(&out, "one two\n");
	assert_int_equal(ws_out_flush(&out, &err), WS_IO);
	assert_int_equal(err.os_errno, ENOSPC);
	start(20);
	ws_out_text(&out, "one");
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	text.fails = true;
	assert_int_equal(ws_wrap_flush(&wrap, &err), WS_IO);
	assert_int_equal(err.os_errno, ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_those_of_a_terminal),
		cmocka_unit_test(lines_are_folded_at_spaces),
		cmocka_unit_test(the_pieces_in_which_text_comes_do_not_matter),
		cmocka_unit_test(writers_say_where_to_continue_and_what_is_code),
		cmocka_unit_test(a_word_may_be_longer_than_what_is_held),
		cmocka_unit_test(what_was_flushed_is_one_word_with_what_follows),
		cmocka_unit_test(a_sink_that_fails_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
