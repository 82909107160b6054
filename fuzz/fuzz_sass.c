/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code over any bytes: an architecture (one byte), then instructions. Beyond not crashing:
 * what is printed with its control word encodes to the same bytes, operands and modifiers are
 * counted alike with and without room, and the text of an input read as assembler never overruns.
 */
#include "fuzz.h"

#include <warpscope/sass.h>

static const unsigned archs[] = { 70, 72, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121, 60 };

static void check_word(unsigned sm, uint64_t pc, const uint8_t bytes[WS_SASS_BYTES])
{
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX];
	uint8_t again[WS_SASS_BYTES];
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	struct ws_sass_style style = { .control = true };
	struct ws_error err;

	ws_sass_decode(sm, bytes, &insn);
	size_t n = ws_sass_format(&insn, pc, &style, text, sizeof text);
	FUZZ_CHECK(n == strlen(text));
	if (insn.known) {
		FUZZ_CHECK(ws_sass_encode(sm, text, pc, again, &err) == WS_OK);
		FUZZ_CHECK(memcmp(bytes, again, sizeof again) == 0);
	}
	ws_sass_format(&insn, pc, NULL, text, 1 + n % 40);
	FUZZ_CHECK(ws_sass_operands(&insn, pc, ops, WS_SASS_MAX_OPERANDS) ==
		   ws_sass_operands(&insn, pc, NULL, 0));
	FUZZ_CHECK(ws_sass_operands(&insn, pc, NULL, 0) <= WS_SASS_MAX_OPERANDS);
	FUZZ_CHECK(ws_sass_modifiers(&insn, mods, WS_SASS_MAX_MODIFIERS) ==
		   ws_sass_modifiers(&insn, NULL, 0));
	FUZZ_CHECK(ws_sass_modifiers(&insn, NULL, 0) <= WS_SASS_MAX_MODIFIERS);
	ws_sass_access_bytes(&insn);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	char text[256];
	uint8_t bytes[WS_SASS_BYTES];
	if (size == 0)
		return 0;
	unsigned sm = archs[data[0] % (sizeof archs / sizeof archs[0])];
	data++;
	size--;
	for (size_t at = 0; at + WS_SASS_BYTES <= size; at += WS_SASS_BYTES)
		check_word(sm, at, data + at);
	size_t n = size < sizeof text - 1 ? size : sizeof text - 1;
	memcpy(text, data, n);
	text[n] = '\0';
	if (ws_sass_encode(sm, text, 0, bytes, NULL) == WS_OK)
		check_word(sm, 0, bytes);
	return 0;
}
