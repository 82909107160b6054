/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table against tests/data/sass/pairs.txt.gz and probed.txt.gz: words of our own kernels, and
 * words made from the rows of the table, with the text that the vendor's disassembler prints for
 * them. Lines: architecture, address, word, text.
 *
 * Every word must print as recorded and come back from its lossless text. The modifiers and the
 * registers that the table lists for it must be those that stand in the recorded text, in the same
 * order, with the same signs and in the same brackets. A word without an unknown bit is explained.
 */
#include "unit.h"

#include <zlib.h>

#include <warpscope/sass.h>

struct score {
	unsigned sm, lines, wrong, lost, misnamed, misread, neighbours, as_words, unexplained;
};

static struct score scores[] = {
	{ .sm = 70 },  { .sm = 72 },  { .sm = 75 },  { .sm = 80 },  { .sm = 86 },
	{ .sm = 89 },  { .sm = 90 },  { .sm = 100 }, { .sm = 103 }, { .sm = 107 },
	{ .sm = 110 }, { .sm = 120 }, { .sm = 121 },
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

/* ---- what the text says of modifiers and operands ---- */

/* The name of an instruction as the table has it: operation and modifiers. */
static void build_name(const struct ws_insn *insn, char *name, size_t size)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods));
	size_t len = (size_t)snprintf(name, size, "%s", ws_sass_operation_name(insn->operation));
	bool shape = strstr(name, "GMMA") != NULL; /* .64x8 and x16 are written as one */
	for (size_t i = 0; i < n && len < size; i++) {
		const char *text = ws_sass_modifier_name(mods[i]);
		len += (size_t)snprintf(name + len, size - len, "%s%s",
					shape && *text == 'x' ? "" : ".", text);
	}
}

/* The guard and the name are left behind; returns the operands. */
static const char *split(const char *text, char *name, size_t size)
{
	if (*text == '@')
		text += strcspn(text, " ") + 1;
	size_t len = strcspn(text, " ");
	snprintf(name, size, "%.*s", (int)len, text);
	return text + len;
}

static const struct {
	const char *text;
	enum ws_operand_kind kind;
	uint16_t zero;
	char zero_text;
} registers[] = {
	{ "UR", WS_OPERAND_UREG, 255, 'Z' },   { "UP", WS_OPERAND_UPRED, 7, 'T' },
	{ "SB", WS_OPERAND_SCOREBOARD, 0, 0 }, { "R", WS_OPERAND_REG, 255, 'Z' },
	{ "P", WS_OPERAND_PRED, 7, 'T' },      { "B", WS_OPERAND_BREG, 255, 'Z' },
};

/* Reads a register at `text`; how long it is, 0 for none. */
static size_t read_register(const char *text, struct ws_operand *ret_op)
{
	for (size_t i = 0; i < WSI_COUNT(registers); i++) {
		size_t n = strlen(registers[i].text), digits = strspn(text + n, "0123456789");
		if (strncmp(text, registers[i].text, n) != 0)
			continue;
		bool zero = registers[i].zero_text && text[n] == registers[i].zero_text;
		if (!digits && !zero)
			return 0;
		ret_op->kind = registers[i].kind;
		ret_op->number = zero ? registers[i].zero : (uint16_t)strtoul(text + n, NULL, 10);
		return n + (zero ? 1 : digits);
	}
	return 0;
}

static enum ws_operand_role bracket_at(const char *operands, const char *at)
{
	const char *open = NULL;
	for (const char *c = operands; c < at; c++)
		open = *c == '[' ? c : *c == ']' ? NULL : open;
	if (!open)
		return WS_ROLE_READ;
	if (open - operands >= 4 && strncmp(open - 4, "desc", 4) == 0)
		return WS_ROLE_DESCRIPTOR;
	return open[-1] == 'c' || strncmp(open - 2, "cx", 2) == 0 ? WS_ROLE_BANK
								  : WS_ROLE_ADDRESS_BASE;
}

static bool is_word(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

/* Whether the text names the operand's register; `PR` stands for all predicates. */
static bool is_named(const struct ws_operand *op)
{
	bool all = ws_operand_is_predicate(op->kind) && op->count == 7;
	return op->kind <= WS_OPERAND_SCOREBOARD && !all;
}

/* The registers of the text against those of the table. */
static bool registers_agree(const struct ws_insn *insn, uint64_t pc, const char *text)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops)), i = 0;
	for (const char *at = text; *at; at++) {
		struct ws_operand seen = { .kind = WS_OPERAND_IMMEDIATE };
		size_t len = is_word(at[-1]) ? 0 : read_register(at, &seen);
		if (!len || (is_word(at[len]) && at[len] != '.'))
			continue;
		while (i < n && !is_named(&ops[i]))
			i++;
		enum ws_operand_role role = bracket_at(text, at);
		bool zero = role == WS_ROLE_ADDRESS_BASE && seen.number == 255;
		if (zero && (i == n || ops[i].number != 255)) {
			at += len - 1; /* "[RZ]" is an address of nothing at all */
			continue;
		}
		if (i == n)
			return false;
		const struct ws_operand *op = &ops[i++];
		bool plain = op->role == WS_ROLE_READ || op->role == WS_ROLE_WRITTEN ||
			     op->role == WS_ROLE_UPDATED;
		/* the sign of a constant stands before the bank, "-cx[UR4][0x8]" */
		const char *start = role == WS_ROLE_BANK ? at - strlen("cx[") : at;
		bool absolute = start[-1] == '|';
		char sign = start[absolute ? -2 : -1];
		if (op->kind != seen.kind || op->number != seen.number ||
		    (role == WS_ROLE_READ ? !plain : op->role != role) ||
		    op->absolute != absolute || op->negated != (strchr("-~!", sign) != NULL) ||
		    op->reuse != (strncmp(at + len + absolute, ".reuse", 6) == 0))
			return false;
		at += len - 1;
	}
	for (; i < n; i++)
		if (is_named(&ops[i]))
			return false;
	return true;
}

static void check_meaning(struct score *score, const struct ws_insn *insn, uint64_t pc,
			  const char *text)
{
	char name[128], built[128];
	const char *operands = split(text, name, sizeof name);
	build_name(insn, built, sizeof built);
	if (strcmp(name, built) != 0 && score->misnamed++ < 5)
		print_message("# '%s': the table lists '%s'\n", text, built);
	if (!registers_agree(insn, pc, operands) && score->misread++ < 5)
		print_message("# '%s': other registers\n", text);
}

/* ---- the text says all ---- */

/*
 * Whether the lossless text of a word that the table explains is no mere `.word`, and gives it; and
 * what has no name there does not count as explained.
 */
static bool text_is_enough(unsigned sm, const uint8_t bytes[WS_SASS_BYTES], bool *ret_is_explained)
{
	uint8_t again[WS_SASS_BYTES];
	char text[WS_SASS_TEXT_MAX];
	struct ws_insn insn;
	struct ws_sass_style lossless = { .control = true };
	ws_sass_decode(sm, bytes, &insn);
	*ret_is_explained = insn.known && !(insn.unknown[0] | insn.unknown[1]);
	if (!*ret_is_explained)
		return true;
	ws_sass_format(&insn, 0x1000000, &lossless, text, sizeof text);
	bool enough = strncmp(text, ".word ", 6) != 0 &&
		      ws_sass_encode(sm, text, 0x1000000, again, NULL) == WS_OK &&
		      memcmp(bytes, again, sizeof again) == 0;
	enough &= !(strstr(text, "???") && ws_insn_explained(&insn));
	if (!enough)
		print_message("# sm_%u: %s\n", sm, text);
	return enough;
}

/* Numbers that are written in a way of their own somewhere: -0.0, infinities, NaNs, the ends. */
static const uint32_t special[] = {
	0,          0x80000000, 0x00008000, 0x80008000, 0x00007c00, 0xfc00fc00, 0x7e007e00,
	0x7fff7fff, 0x80010001, 0x7f800000, 0xff800000, 0xffc00000, 0x7f80ff80, 0x3c008000,
	1,          0x7fffffff, 0xfff00000, 0x7ff80000, UINT32_MAX,
};

/* The first word of a row: every bit of it turned, and special numbers in its place for some. */
static void check_neighbours(struct score *score, const uint8_t bytes[WS_SASS_BYTES])
{
	uint8_t word[WS_SASS_BYTES];
	bool is_explained;
	for (unsigned bit = 12; bit < 105; bit++) {
		memcpy(word, bytes, sizeof word);
		word[bit / 8] ^= (uint8_t)(1 << bit % 8);
		score->as_words += !text_is_enough(score->sm, word, &is_explained);
		score->neighbours += is_explained;
	}
	for (size_t i = 0; i < WSI_COUNT(special); i++) {
		memcpy(word, bytes, sizeof word);
		for (unsigned k = 0; k < 4; k++)
			word[4 + k] = (uint8_t)(special[i] >> 8 * k);
		score->as_words += !text_is_enough(score->sm, word, &is_explained);
		score->neighbours += is_explained;
	}
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
	check_meaning(score, &insn, pc, line + text_at);
	bool whole = !insn.unknown[0] && !insn.unknown[1]; /* no recorded text has a ??? in it */
	if (ws_insn_explained(&insn) != whole && score->unexplained++ < 5)
		print_message("# sm_%u '%s': %sexplained\n", sm, line + text_at,
			      whole ? "not " : "");
	ws_sass_format(&insn, pc, &lossless, text, sizeof text);
	if (ws_sass_encode(sm, text, pc, again, &err) != WS_OK ||
	    memcmp(bytes, again, sizeof bytes) || strncmp(text, ".word ", 6) == 0)
		score->lost++;
	static bool seen[UINT16_MAX + 1];
	if (insn.known && !seen[insn.row])
		check_neighbours(score, bytes);
	seen[insn.row] = true;
}

static void check_file(const char *variable)
{
	const char *path = getenv(variable);
	assert_non_null(path);
	gzFile file = gzopen(path, "rb");
	assert_non_null(file);
	char line[700];
	while (gzgets(file, line, sizeof line)) {
		line[strcspn(line, "\n")] = '\0';
		check_line(line);
	}
	gzclose(file);
}

static void recorded_words_print_as_recorded(void **state)
{
	(void)state;
	check_file("WS_TEST_SASS");
	check_file("WS_TEST_SASS_PROBED");
	for (size_t i = 0; i < WSI_COUNT(scores); i++) {
		print_message("# sm_%u: %u of %u lines wrong\n", scores[i].sm, scores[i].wrong,
			      scores[i].lines);
		assert_true(scores[i].lines > 500);
		assert_int_equal(scores[i].lost, 0);
		assert_int_equal(scores[i].as_words, 0);
		assert_int_equal(scores[i].wrong, 0);
		assert_int_equal(scores[i].misnamed, 0);
		assert_int_equal(scores[i].misread, 0);
		assert_int_equal(scores[i].unexplained, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_words_print_as_recorded) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
