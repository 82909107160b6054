/* SPDX-License-Identifier: Apache-2.0 */
/* Prints instruction words: lines "sm address word" (hexadecimal but for sm) give lines "state
 * text", where state is known, unexplained (bits that no rule explains) or unknown. For coverage.py
 * and by hand. */
#include <stdio.h>

#include <warpscope/sass.h>

int main(void)
{
	unsigned sm;
	unsigned long long pc, high, low;
	while (scanf("%u %llx %16llx%16llx", &sm, &pc, &high, &low) == 4) {
		uint8_t bytes[WS_SASS_BYTES];
		for (unsigned i = 0; i < WS_SASS_BYTES; i++)
			bytes[i] = (uint8_t)((i < 8 ? low : high) >> i % 8 * 8);
		struct ws_insn insn;
		char text[WS_SASS_TEXT_MAX];
		struct ws_sass_style style = { .hide_unknown = true };
		ws_sass_decode(sm, bytes, &insn);
		ws_sass_format(&insn, pc, &style, text, sizeof text);
		bool explained = !(insn.unknown[0] | insn.unknown[1]);
		printf("%s %s\n",
		       !insn.known ? "unknown"
		       : explained ? "known"
				   : "unexplained",
		       text);
	}
	return 0;
}
