/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of an instruction: the row's template with its elements filled in.
 *
 * The template language knows nothing about instructions; what is peculiar to one is in its row.
 */
#include "base/base.h"
#include "sass/table.h"

struct cursor {
	char *at, *end; /* `end` is the last byte, kept for the NUL */
};

static void put_char(struct cursor *out, char c)
{
	if (out->at < out->end)
		*out->at++ = c;
}

static void put_text(struct cursor *out, const char *text)
{
	while (*text)
		put_char(out, *text++);
}

static void put_hex(struct cursor *out, uint64_t value)
{
	unsigned digits = 1;
	while (digits < 16 && value >> 4 * digits)
		digits++;
	put_text(out, "0x");
	while (digits-- > 0)
		put_char(out, "0123456789abcdef"[value >> 4 * digits & 15]);
}

static void put_dec(struct cursor *out, uint64_t value)
{
	char text[20];
	unsigned n = 0;
	do
		text[n++] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (n-- > 0)
		put_char(out, text[n]);
}

static void put_signed_hex(struct cursor *out, int64_t value)
{
	if (value < 0)
		put_char(out, '-');
	put_hex(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The register's number: `value` of its field with every special number made the same everywhere.
 */
uint64_t wsi_isa_register(const struct ws_insn *insn, const struct wsi_isa_element *element,
			  uint64_t value)
{
	unsigned class = element->aux;
	bool narrow = insn->sm < 100 || element->len[0] == 6; /* six bits, and URZ is 63 */
	if (class == WSI_CLASS_UR && narrow)
		return (value & 63) == 63 ? 255 : value & 63;
	if (class == WSI_CLASS_PI || class == WSI_CLASS_UPI)
		return 7 - value;
	if (class == WSI_CLASS_UR_NEXT)
		return value < 254 ? value + 1 : 255;
	return value;
}

static void put_register(struct cursor *out, unsigned class, uint64_t number)
{
	static const char prefix[][3] = { "R", "UR", "P", "UP", "P", "UP", "B", "SB", "UR" };
	static const uint8_t special[] = { 255, 255, 7, 7, 7, 7, 255, 255, 255 };
	bool predicate = class >= WSI_CLASS_P && class <= WSI_CLASS_UPI;

	put_text(out, prefix[class]);
	if (number == special[class])
		put_char(out, predicate ? 'T' : 'Z');
	else
		put_dec(out, number);
}

static void put_enum(struct cursor *out, const struct wsi_isa_element *element, uint64_t value)
{
	const char *text = wsi_isa_enum_text(element, value);
	if (text) {
		put_text(out, text);
		return;
	}
	put_text(out, element->extra ? ".???" : ".INVALID");
	put_dec(out, value);
}

static void put_scoreboards(struct cursor *out, uint64_t mask)
{
	char separator = '{';
	for (unsigned i = 6; i-- > 0;) {
		if (!(mask >> i & 1))
			continue;
		put_char(out, separator);
		put_dec(out, i);
		separator = ',';
	}
	put_char(out, '}');
}

static void put_target(struct cursor *out, uint64_t target, const struct ws_sass_style *style)
{
	char name[256];
	if (style && style->name && style->name(style->user, target, name, sizeof name)) {
		put_text(out, "`(");
		put_text(out, name);
		put_char(out, ')');
	} else {
		put_signed_hex(out, (int64_t)target);
	}
}

struct writer {
	struct cursor out;
	const struct ws_insn *insn;
	const struct ws_sass_style *style;
	uint64_t pc;
	const char *start;
};

static void put_element(struct writer *w, const struct wsi_isa_element *element, uint64_t value)
{
	struct cursor *out = &w->out;
	unsigned len = wsi_isa_field_len(element);
	char text[WSI_FLOAT_TEXT_MAX];
	bool is_number = element->kind == WSI_ISA_HEX || element->kind == WSI_ISA_SHEX;

	if (w->style && w->style->relocated && is_number && len >= 32) {
		put_text(out, w->style->relocated);
		return;
	}
	switch ((enum wsi_isa_kind)element->kind) {
	case WSI_ISA_ENUM:
		put_enum(out, element, value);
		break;
	case WSI_ISA_REG:
		put_register(out, element->aux, wsi_isa_register(w->insn, element, value));
		break;
	case WSI_ISA_HEX:
		put_hex(out, value << element->aux);
		break;
	case WSI_ISA_SHEX:
		put_signed_hex(out, wsi_isa_signed(value, len) * (INT64_C(1) << element->aux));
		break;
	case WSI_ISA_DEC:
		put_dec(out, value << element->aux);
		break;
	case WSI_ISA_F32:
	case WSI_ISA_F64:
	case WSI_ISA_F16:
	case WSI_ISA_BF16:
		wsi_float_format((enum wsi_isa_kind)element->kind, (uint32_t)value, text);
		put_text(out, text);
		break;
	case WSI_ISA_REL:
		put_target(out, wsi_isa_target(element, value, w->pc), w->style);
		break;
	case WSI_ISA_GLUE:
		if (out->at > w->start && out->at[-1] != '[')
			put_char(out, '+');
		break;
	case WSI_ISA_REUSE: /* the bits mean nothing without the yield bit [measured] */
		if (value && (w->insn->word[1] >> 45 & 1))
			put_text(out, ".reuse");
		break;
	case WSI_ISA_SBLIST:
		put_scoreboards(out, value);
		break;
	case WSI_ISA_PREDS:
		put_text(out, element->aux == WSI_CLASS_P ? "PR" : "UPR");
		break;
	case WSI_ISA_WHEN: /* the caller's */
		break;
	}
}

uint64_t wsi_isa_target(const struct wsi_isa_element *element, uint64_t value, uint64_t pc)
{
	int64_t offset = wsi_isa_signed(value, wsi_isa_field_len(element));
	return pc + WS_SASS_BYTES + ((uint64_t)offset << element->aux);
}

static void put_template(struct writer *w, const uint8_t *code)
{
	while (*code) {
		if (*code < 0x80) {
			put_char(&w->out, (char)*code++);
			continue;
		}
		const struct wsi_isa_element *element = wsi_isa_element_at(code);
		uint64_t value = wsi_isa_field(w->insn->word, element);
		code += 2;
		if (element->kind != WSI_ISA_WHEN)
			put_element(w, element, value);
		else if (wsi_isa_when(element, value))
			code++; /* into the group */
		else
			code += 1 + *code;
	}
}

static void put_guard(struct cursor *out, const struct ws_insn *insn)
{
	if (insn->guard == 7 && !insn->guard_negated)
		return;
	put_char(out, '@');
	if (insn->guard_negated)
		put_char(out, '!');
	bool uniform = insn->flags & WS_SASS_UNIFORM_GUARD;
	put_register(out, uniform ? WSI_CLASS_UP : WSI_CLASS_P, insn->guard);
	put_char(out, ' ');
}

static void put_control(struct cursor *out, const struct ws_insn *insn)
{
	struct ws_sass_control control = ws_insn_control(insn);
	put_text(out, " /* stall ");
	put_dec(out, control.stall);
	if (control.yield)
		put_text(out, " yield");
	if (control.write_barrier != 7) {
		put_text(out, " wr ");
		put_dec(out, control.write_barrier);
	}
	if (control.read_barrier != 7) {
		put_text(out, " rd ");
		put_dec(out, control.read_barrier);
	}
	if (control.wait_mask) {
		put_text(out, " wait ");
		put_hex(out, control.wait_mask);
	}
	if (control.reuse) {
		put_text(out, " reuse ");
		put_hex(out, control.reuse);
	}
	put_text(out, " */");
}

static void put_wide_hex(struct cursor *out, const uint64_t bits[2])
{
	put_text(out, "0x");
	bool started = false;
	for (unsigned i = 32; i-- > 0;) {
		unsigned digit = bits[i / 16] >> 4 * (i % 16) & 15;
		started |= digit != 0 || i == 0;
		if (started)
			put_char(out, "0123456789abcdef"[digit]);
	}
}

/*
 * What the text does not say: bits by which the instruction differs from the one that the text
 * alone encodes to, the control word aside. False when the text cannot be encoded.
 */
static bool residue(const struct ws_insn *insn, uint64_t pc, const char *text, uint64_t bits[2])
{
	uint8_t bytes[WS_SASS_BYTES];
	if (ws_sass_encode(insn->sm, text, pc, bytes, NULL) != WS_OK)
		return false;
	struct ws_insn plain;
	ws_sass_decode(insn->sm, bytes, &plain);
	bits[0] = insn->word[0] ^ plain.word[0];
	bits[1] = (insn->word[1] ^ plain.word[1]) & ~WSI_ISA_CONTROL_SHOWN;
	return true;
}

static void put_bits(struct cursor *out, const char *what, const uint64_t bits[2])
{
	if (!(bits[0] | bits[1]))
		return;
	put_text(out, what);
	put_wide_hex(out, bits);
	put_text(out, " */");
}

static void put_word(struct cursor *out, const struct ws_insn *insn)
{
	put_text(out, ".word ");
	put_wide_hex(out, insn->word);
}

/* Guard and template. */
static void put_body(struct writer *w)
{
	put_guard(&w->out, w->insn);
	put_template(w, &wsi_isa_templates[wsi_isa_rows[w->insn->row].template_at]);
	while (w->out.at > w->start && w->out.at[-1] == ' ') /* "+INF " ends in a space */
		w->out.at--;
	*w->out.at = '\0';
}

/* The body and the bits that it does not show; names are not for the encoder. */
static void put_lossless(struct writer *w)
{
	char plain[WS_SASS_TEXT_MAX];
	uint64_t bits[2] = { 0, 0 };
	struct writer bare = { .out = { plain, plain + sizeof plain - 1 },
			       .insn = w->insn,
			       .pc = w->pc,
			       .start = plain };
	put_body(&bare);
	if (residue(w->insn, w->pc, plain, bits)) {
		put_body(w);
		put_bits(&w->out, " /* bits ", bits);
	} else {
		put_word(&w->out, w->insn);
	}
}

size_t ws_sass_format(const struct ws_insn *insn, uint64_t pc, const struct ws_sass_style *style,
		      char *buffer, size_t size)
{
	if (size == 0)
		return 0;
	struct writer w = { .out = { buffer, buffer + size - 1 },
			    .insn = insn,
			    .style = style,
			    .pc = pc,
			    .start = buffer };
	bool lossless = style && style->control;
	if (insn->known && lossless) {
		put_lossless(&w);
	} else if (insn->known) {
		put_body(&w);
		if (!(style && style->hide_unknown))
			put_bits(&w.out, " /* unknown bits ", insn->unknown);
	} else {
		put_text(&w.out, "/* unknown instruction */ ");
		put_word(&w.out, insn);
	}
	if (lossless)
		put_control(&w.out, insn);
	*w.out.at = '\0';
	return (size_t)(w.out.at - buffer);
}
