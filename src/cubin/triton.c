/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mistake of Triton 3.9.0: assembly that it writes in several lines gives line k of its text the
 * Python line + k, where no such line is meant. An instruction with a guard has no row of its own.
 * [measured: Triton 3.9.0 over sm_80 and sm_90, all `.loc` of 10 kernels; 3.5.1 does not do so]
 * `.loc` lines are blank in the PTX text that images keep, and that tells where they were:
 *
 *	mov.u32 %r1, 0x0;                            line
 *	                                             a .loc
 *	mov.u32 %r2, 0x0;                            line + 1
 *	                                             a .loc
 *	ld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ]; line + 2
 *	                                             the end of the text
 *	                                             a comment
 *	cvt.f32.f16 %r3, %rs1;                       line + 2 too, unless a .loc came first
 *
 * and a wait for a barrier object, `{`, `.reg .pred complete;`, `waitLoop:`, `mbarrier.try_wait`.
 * Assembly of a user's own (`tl.inline_asm_elementwise`) has no such shape and is left alone.
 */
#include "cubin/internal.h"

enum {
	MAX_MOVES = 16,    /* registers of one load */
	MAX_AFTER = 256,   /* lines behind an assembly text without a .loc of their own */
	GAP = 4,           /* empty lines */
	WAIT_LABEL = 3,    /* lines of a wait before its label */
	MAX_REGISTER = 16, /* bytes of a register's name */
};

static struct ws_str triton_line(const struct ws_line_ptx *ptx, uint64_t number)
{
	struct ws_str text = { 0 };
	if (ws_line_ptx_at(ptx, number, &text, NULL) != WS_OK)
		return (struct ws_str){ 0 };
	while (text.len && (*text.ptr == ' ' || *text.ptr == '\t'))
		text = wsi_str_skip(text, 1);
	return text;
}

bool wsi_ptx_is_triton(struct ws_span text)
{
	struct ws_str all = { (const char *)text.ptr, text.len };
	return wsi_str_holds(all, " + 0 ], { %r") || wsi_str_holds(all, " }, [ %rd");
}

/* The register that a `mov.u32 %r1, ...;` of a load's text sets, with what ends it: "%r1,". */
static bool is_move(struct ws_str text, struct ws_str *ret_register)
{
	if (!wsi_str_begins(text, "mov.u"))
		return false;
	while (text.len && *text.ptr != '%')
		text = wsi_str_skip(text, 1);
	const char *comma = text.len ? memchr(text.ptr, ',', text.len) : NULL;
	if (!comma || comma - text.ptr >= MAX_REGISTER)
		return false;
	*ret_register = (struct ws_str){ text.ptr, (size_t)(comma - text.ptr) };
	return true;
}

/* The registers in the braces of `ld.global.b32 { %r1 }, [ %rd1 + 0 ];`, with a guard or without.
 */
static bool is_load(struct ws_str text, struct ws_str *ret_registers)
{
	if (text.len && *text.ptr == '@') {
		while (text.len && *text.ptr != ' ')
			text = wsi_str_skip(text, 1);
		text = wsi_str_skip(text, text.len ? 1 : 0);
	}
	if (!wsi_str_begins(text, "ld.global") || !wsi_str_holds(text, " }, [ %"))
		return false;
	const char *open = memchr(text.ptr, '{', text.len), *shut = memchr(text.ptr, '}', text.len);
	if (!open || !shut || shut < open)
		return false;
	*ret_registers = (struct ws_str){ open + 1, (size_t)(shut - open - 1) };
	return true;
}

/* Whether `registers` ("%r1, %r2 ") has this one. */
static bool is_among(struct ws_str registers, struct ws_str one)
{
	char comma[MAX_REGISTER + 2], end[MAX_REGISTER + 2];
	wsi_format(comma, "%.*s,", (int)one.len, one.ptr);
	wsi_format(end, "%.*s ", (int)one.len, one.ptr);
	return wsi_str_holds(registers, comma) || wsi_str_holds(registers, end);
}

/* Lines that the text of a load adds at line `number`, which its load is at or behind. */
static bool load_added(const struct ws_line_ptx *ptx, uint64_t number, uint32_t *ret_added)
{
	struct ws_str registers, one;
	uint64_t load = number;
	for (unsigned n = 0; is_move(triton_line(ptx, load), &one); n++) {
		if (n == MAX_MOVES)
			return false;
		load += triton_line(ptx, load + 1).len ? 1 : 2;
	}
	if (!is_load(triton_line(ptx, load), &registers))
		return false;
	uint32_t added = 0, n_moves = 0;
	for (uint64_t at = load, before; at > 2 && n_moves < MAX_MOVES; n_moves++, at = before) {
		before = triton_line(ptx, at - 1).len ? at - 1 : at - 2;
		if (!is_move(triton_line(ptx, before), &one) || !is_among(registers, one))
			break;
		added += at <= number && before + 2 == at;
	}
	*ret_added = added;
	return n_moves > 0;
}

/* The same of the text of a wait, from its label on. */
static bool wait_added(const struct ws_line_ptx *ptx, uint64_t number, uint32_t *ret_added)
{
	static const char *const shape[] = {
		".reg .pred complete;",         "", "waitLoop:", "", "mbarrier.try_wait.parity",
		"@!complete bra.uni waitLoop;", "}"
	};
	for (uint64_t at = 2; at < WSI_COUNT(shape) && at < number; at++) {
		bool fits = true;
		for (uint64_t i = 0; i < WSI_COUNT(shape) && fits; i++) {
			struct ws_str text = triton_line(ptx, number - at + i);
			fits = *shape[i] ? wsi_str_begins(text, shape[i]) : text.len == 0;
		}
		*ret_added = at < 4 ? WAIT_LABEL : WAIT_LABEL + 1;
		if (fits)
			return true;
	}
	return false;
}

/* Assembly with a guard, which has no row of its own: compilers guard nothing but branches. */
static bool is_guarded(struct ws_str text)
{
	return text.len && *text.ptr == '@' && !wsi_str_holds(text, " bra");
}

uint32_t wsi_cubin_added_lines(const struct ws_line_ptx *ptx, uint64_t number)
{
	uint32_t added;
	if (load_added(ptx, number, &added) || wait_added(ptx, number, &added))
		return added;
	/* behind such a text, with no .loc between: a comment begins a text, an empty line and a
	 * comment end it */
	for (unsigned n = 0; n < MAX_AFTER && number > GAP; n++) {
		uint64_t gap = 0;
		while (gap < GAP && triton_line(ptx, number - gap - 1).len == 0)
			gap++;
		const uint64_t before = number - gap - 1;
		if (gap == 2 && load_added(ptx, before, &added))
			return added;
		if (gap == 3 && wait_added(ptx, before, &added))
			return added;
		if (gap > 2 || (gap == 1 && !is_guarded(triton_line(ptx, number))) ||
		    (gap == 2 && !is_guarded(triton_line(ptx, before))))
			return 0;
		number = before;
	}
	return 0;
}
