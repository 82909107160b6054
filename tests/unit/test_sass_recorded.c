/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table against tests/data/sass/pairs.txt.gz: words of our own kernels with the text that the
 * vendor's disassembler prints for them. Lines: architecture, address, word, text.
 *
 * Every word must print as recorded and come back from its lossless text.
 */
#include "unit.h"

#include <zlib.h>

#include <warpscope/sass.h>

struct score {
	unsigned sm, lines, wrong, lost;
};

static struct score scores[] = {
	{ .sm = 75 },  { .sm = 80 },  { .sm = 86 },  { .sm = 89 },  { .sm = 90 },
	{ .sm = 100 }, { .sm = 103 }, { .sm = 110 }, { .sm = 120 }, { .sm = 121 },
};

static struct score *score_of(unsigned sm)
{
	for (size_t i = 0; i < WSI_COUNT(scores); i++)
		if (scores[i].sm == sm)
			return &scores[i];
	fail_msg("data for sm_%u, which no case is about", sm);
	return NULL;
}

static void read_word(const char *hex, uint8_t bytes[WS_SASS_BYTES])
{
	for (unsigned i = 0; i < WS_SASS_BYTES; i++) {
		unsigned byte = 0;
		assert_int_equal(sscanf(hex + 2 * (15 - i), "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
}

/* The recorded texts have one space between words. */
static void squeeze(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
}

static void check_line(const char *line)
{
	unsigned sm = 0;
	uint64_t pc = 0;
	char hex[33] = "";
	int text_at = 0;
	assert_int_equal(sscanf(line, "%u %" SCNx64 " %32s %n", &sm, &pc, hex, &text_at), 3);
	struct score *score = score_of(sm);
	uint8_t bytes[WS_SASS_BYTES], again[WS_SASS_BYTES];
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX];
	struct ws_error err;
	read_word(hex, bytes);
	ws_sass_decode(sm, bytes, &insn);

	struct ws_sass_style plain = { .hide_unknown = true }, lossless = { .control = true };
	ws_sass_format(&insn, pc, &plain, text, sizeof text);
	squeeze(text);
	score->lines++;
	if (strcmp(text, line + text_at) != 0 && score->wrong++ < 5)
		print_message("# sm_%u %s: have '%s', want '%s'\n", sm, hex, text, line + text_at);
	ws_sass_format(&insn, pc, &lossless, text, sizeof text);
	if (ws_sass_encode(sm, text, pc, again, &err) != WS_OK ||
	    memcmp(bytes, again, sizeof bytes))
		score->lost++;
}

static void recorded_words_print_as_recorded(void **state)
{
	(void)state;
	const char *path = getenv("WS_TEST_SASS");
	assert_non_null(path);
	gzFile file = gzopen(path, "rb");
	assert_non_null(file);
	char line[700];
	while (gzgets(file, line, sizeof line)) {
		line[strcspn(line, "\n")] = '\0';
		check_line(line);
	}
	gzclose(file);
	for (size_t i = 0; i < WSI_COUNT(scores); i++) {
		print_message("# sm_%u: %u of %u lines wrong\n", scores[i].sm, scores[i].wrong,
			      scores[i].lines);
		assert_true(scores[i].lines > 500);
		assert_int_equal(scores[i].lost, 0);
		assert_int_equal(scores[i].wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_words_print_as_recorded) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
