/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of an instruction: the row's template with its elements filled in.
 *
 * The template language knows nothing about instructions; what is peculiar to one is in its row.
 */
#include "base/base.h"
#include "sass/table.h"

/* Where the text is written: by value, so that compilers keep it in registers, which they cannot
 * while its bytes are stored through a pointer into the same memory. */
struct cursor {
	char *at, *end; /* `end` is the last byte, kept for the NUL */
};

static inline struct cursor put_format_char(struct cursor out, char c)
{
	if (out.at < out.end)
		*out.at++ = c;
	return out;
}

static inline struct cursor put_format_bytes(struct cursor out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out = put_format_char(out, text[i]);
	return out;
}

static inline struct cursor put_format_text(struct cursor out, const char *text)
{
	while (*text)
		out = put_format_char(out, *text++);
	return out;
}

/* A text of the table: mostly one store, whatever its length. */
static inline struct cursor put_table_text(struct cursor out, struct ws_str text)
{
	if (text.len > WSI_ISA_READABLE || out.end - out.at < WSI_ISA_READABLE)
		return put_format_bytes(out, text.ptr, text.len);
	memcpy(out.at, text.ptr, WSI_ISA_READABLE);
	out.at += text.len;
	return out;
}

static struct cursor put_format_hex(struct cursor out, uint64_t value)
{
	char text[18], *at = text + sizeof text;
	do
		*--at = "0123456789abcdef"[value & 15];
	while ((value >>= 4) != 0);
	*--at = 'x';
	*--at = '0';
	return put_format_bytes(out, at, (size_t)(text + sizeof text - at));
}

static inline struct cursor put_dec(struct cursor out, uint64_t value)
{
	char text[20], *at = text + sizeof text;
	if (value < 10)
		return put_format_char(out, (char)('0' + value));
	do
		*--at = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	return put_format_bytes(out, at, (size_t)(text + sizeof text - at));
}

static struct cursor put_signed_hex(struct cursor out, int64_t value)
{
	if (value < 0)
		out = put_format_char(out, '-');
	return put_format_hex(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static inline struct cursor put_register(struct cursor out, unsigned class, uint64_t number)
{
	static const char prefix[][3] = { "R", "UR", "P", "UP", "P", "UP", "B", "SB", "UR" };
	static const uint8_t special[] = { 255, 255, 7, 7, 7, 7, 255, 255, 255 };
	bool predicate = class >= WSI_CLASS_P && class <= WSI_CLASS_UPI;

	out = put_format_char(out, prefix[class][0]);
	if (prefix[class][1])
		out = put_format_char(out, prefix[class][1]);
	if (number == special[class])
		return put_format_char(out, predicate ? 'T' : 'Z');
	return put_dec(out, number);
}

static inline struct cursor put_enum(struct cursor out, const struct wsi_isa_element *element,
				     uint64_t value)
{
	struct ws_str text = wsi_isa_enum_text(element, value);
	if (text.ptr)
		return put_table_text(out, text);
	out = put_format_text(out, element->extra ? ".???" : ".INVALID");
	return put_dec(out, value);
}

static struct cursor put_scoreboards(struct cursor out, uint64_t mask)
{
	char separator = '{';
	for (unsigned i = 6; i-- > 0;) {
		if (!(mask >> i & 1))
			continue;
		out = put_format_char(out, separator);
		out = put_dec(out, i);
		separator = ',';
	}
	return put_format_char(out, '}');
}

static struct cursor put_target(struct cursor out, uint64_t target,
				const struct ws_sass_style *style)
{
	struct cursor name = put_format_text(out, "`(");
	if (!style || !style->name ||
	    !style->name(style->user, target, name.at, (size_t)(name.end - name.at) + 1))
		return put_signed_hex(out, (int64_t)target);
	name.at += strlen(name.at);
	return put_format_char(name, ')');
}

static struct cursor put_float(struct cursor out, unsigned kind, uint64_t value)
{
	char text[WSI_FLOAT_TEXT_MAX];
	return put_format_bytes(out, text,
				wsi_float_format((enum wsi_isa_kind)kind, (uint32_t)value, text));
}

struct writer {
	const struct ws_insn *insn;
	const struct ws_sass_style *style;
	uint64_t pc;
	const char *start; /* of the text */
};

/* Whether a loader fills a field, or a part of it: what is shown is then what any number but zero
 * would be. */
static bool is_field_relocated(const struct writer *w, const struct wsi_isa_element *element)
{
	if (!w->style || !w->style->relocated)
		return false;
	unsigned lo = w->style->relocated_lo, end = lo + w->style->relocated_len;
	for (unsigned i = 0; i < WSI_ISA_SEGMENTS; i++)
		if (element->lo[i] < end && lo < (unsigned)element->lo[i] + element->len[i])
			return true;
	return false;
}

static inline struct cursor put_format_number(struct cursor out,
					      const struct wsi_isa_element *element, uint64_t value)
{
	if (element->kind == WSI_ISA_HEX)
		return put_format_hex(out, value << element->aux);
	int64_t number = wsi_isa_signed(value, wsi_isa_field_len(element));
	return put_signed_hex(out, number * (INT64_C(1) << element->aux));
}

static inline struct cursor put_element(const struct writer *w, struct cursor out,
					const struct wsi_isa_element *element, uint64_t value)
{
	switch ((enum wsi_isa_kind)element->kind) {
	case WSI_ISA_ENUM:
		return put_enum(out, element, value);
	case WSI_ISA_REG:
		return put_register(out, element->aux, wsi_isa_register(w->insn, element, value));
	case WSI_ISA_HEX:
	case WSI_ISA_SHEX:
		return put_format_number(out, element, value);
	case WSI_ISA_DEC:
		return put_dec(out, value << element->aux);
	case WSI_ISA_F32:
	case WSI_ISA_F64:
	case WSI_ISA_F16:
	case WSI_ISA_BF16:
		return put_float(out, element->kind, value);
	case WSI_ISA_REL:
		return put_target(out, wsi_isa_target(element, value, w->pc), w->style);
	case WSI_ISA_GLUE:
		return out.at > w->start && out.at[-1] != '[' ? put_format_char(out, '+') : out;
	case WSI_ISA_REUSE: /* the bits mean nothing without the yield bit [measured] */
		return value && (w->insn->word[1] >> 45 & 1) ? put_format_text(out, ".reuse") : out;
	case WSI_ISA_SBLIST:
		return put_scoreboards(out, value);
	case WSI_ISA_PREDS:
		return put_format_text(out, element->aux == WSI_CLASS_P ? "PR" : "UPR");
	case WSI_ISA_WHEN: /* the caller's */
		break;
	}
	return out;
}

/*
 * An element that a loader fills. Bank and offset of a constant are one name, c[name]: the bank is
 * left out, and what stands between them is taken away when the next element comes.
 */
static struct cursor put_relocated(const struct writer *w, struct cursor out, char **bank)
{
	bool is_bank = out.at - w->start >= 2 && out.at[-2] == 'c' && out.at[-1] == '[';
	if (!is_bank || *bank == out.at)
		return put_format_text(out, w->style->relocated);
	*bank = out.at;
	return out;
}

static struct cursor put_template(const struct writer *w, struct cursor out, const uint8_t *code)
{
	char *bank = NULL; /* where one was left out */
	while (*code) {
		if (*code < 0x80) {
			out = put_format_char(out, (char)*code++);
			continue;
		}
		const struct wsi_isa_element *element = wsi_isa_element_at(code);
		uint64_t value = wsi_isa_field(w->insn->word, element);
		bool filled = is_field_relocated(w, element);
		code += 2;
		if (element->kind == WSI_ISA_WHEN) {
			code += wsi_isa_when(element, value | filled) ? 1 : 1 + *code;
			continue;
		}
		if (bank)
			out.at = bank;
		if (filled && (element->kind == WSI_ISA_HEX || element->kind == WSI_ISA_SHEX))
			out = put_relocated(w, out, &bank);
		else
			out = put_element(w, out, element, value);
		bank = bank == out.at ? bank : NULL;
	}
	return out;
}

/* Whether a value has a text that is more than its number. */
static bool is_named(const struct wsi_isa_element *element, uint64_t value)
{
	return value < wsi_isa_enums[element->aux] && wsi_isa_enum_named[element->aux + 1 + value];
}

/* Whether a value that the text of an instruction shows has a text of its own. */
static bool text_is_named(const struct ws_insn *insn, const struct wsi_isa_row *row)
{
	for (const uint8_t *code = &wsi_isa_templates[row->template_at]; *code;) {
		if (*code < 0x80) {
			if (*code++ == '?') /* "???" stands for what has no name */
				return false;
			continue;
		}
		const struct wsi_isa_element *element = wsi_isa_element_at(code);
		uint64_t value = wsi_isa_field(insn->word, element);
		code += 2;
		if (element->kind == WSI_ISA_WHEN)
			code += wsi_isa_when(element, value) ? 1 : 1 + *code;
		else if (element->kind == WSI_ISA_ENUM && !is_named(element, value))
			return false;
	}
	return true;
}

bool ws_insn_explained(const struct ws_insn *insn)
{
	if (!insn->known || insn->unknown[0] || insn->unknown[1])
		return false;
	const struct wsi_isa_row *row = &wsi_isa_rows[insn->row];
	for (const uint16_t *at = &wsi_isa_unnamed[row->unnamed_at]; *at; at++) {
		const struct wsi_isa_element *element = &wsi_isa_elements[*at - 1];
		if (*at == WSI_ISA_UNNAMED_TEXT ||
		    !is_named(element, wsi_isa_field(insn->word, element)))
			return text_is_named(insn, row);
	}
	return true;
}

static struct cursor put_guard(struct cursor out, const struct ws_insn *insn)
{
	if (insn->guard == 7 && !insn->guard_negated)
		return out;
	out = put_format_char(out, '@');
	if (insn->guard_negated)
		out = put_format_char(out, '!');
	bool uniform = insn->flags & WS_SASS_UNIFORM_GUARD;
	out = put_register(out, uniform ? WSI_CLASS_UP : WSI_CLASS_P, insn->guard);
	return put_format_char(out, ' ');
}

static struct cursor put_control(struct cursor out, const struct ws_insn *insn)
{
	struct ws_sass_control control = ws_insn_control(insn);
	out = put_dec(put_format_text(out, " /* stall "), control.stall);
	if (control.yield)
		out = put_format_text(out, " yield");
	if (control.write_barrier != 7)
		out = put_dec(put_format_text(out, " wr "), control.write_barrier);
	if (control.read_barrier != 7)
		out = put_dec(put_format_text(out, " rd "), control.read_barrier);
	if (control.wait_mask)
		out = put_format_hex(put_format_text(out, " wait "), control.wait_mask);
	if (control.reuse)
		out = put_format_hex(put_format_text(out, " reuse "), control.reuse);
	return put_format_text(out, " */");
}

static struct cursor put_wide_hex(struct cursor out, const uint64_t bits[2])
{
	out = put_format_text(out, "0x");
	bool started = false;
	for (unsigned i = 32; i-- > 0;) {
		unsigned digit = bits[i / 16] >> 4 * (i % 16) & 15;
		started |= digit != 0 || i == 0;
		if (started)
			out = put_format_char(out, "0123456789abcdef"[digit]);
	}
	return out;
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

static struct cursor put_bits_word(struct cursor out, const char *what, const uint64_t bits[2])
{
	if (!(bits[0] | bits[1]))
		return out;
	return put_format_text(put_wide_hex(put_format_text(out, what), bits), " */");
}

static struct cursor put_word(struct cursor out, const struct ws_insn *insn)
{
	return put_wide_hex(put_format_text(out, ".word "), insn->word);
}

/* Guard and template. */
static struct cursor put_body(const struct writer *w, struct cursor out)
{
	const struct wsi_isa_row *row = &wsi_isa_rows[w->insn->row];
	out = put_guard(out, w->insn);
	out = put_template(w, out, &wsi_isa_templates[row->template_at]);
	while (out.at > w->start && out.at[-1] == ' ') /* "+INF " ends in a space */
		out.at--;
	return out;
}

/* The body and the bits that it does not show; names are not for the encoder. */
static struct cursor put_lossless(const struct writer *w, struct cursor out)
{
	char plain[WS_SASS_TEXT_MAX];
	uint64_t bits[2] = { 0, 0 };
	struct writer bare = { .insn = w->insn, .pc = w->pc, .start = plain };
	*put_body(&bare, (struct cursor){ plain, plain + sizeof plain - 1 }).at = '\0';
	if (!residue(w->insn, w->pc, plain, bits))
		return put_word(out, w->insn);
	return put_bits_word(put_body(w, out), " /* bits ", bits);
}

size_t ws_sass_format(const struct ws_insn *insn, uint64_t pc, const struct ws_sass_style *style,
		      char *buffer, size_t size)
{
	if (size == 0)
		return 0;
	struct writer w = { .insn = insn, .style = style, .pc = pc, .start = buffer };
	struct cursor out = { buffer, buffer + size - 1 };
	bool lossless = style && style->control;
	if (insn->known && lossless) {
		out = put_lossless(&w, out);
	} else if (insn->known) {
		out = put_body(&w, out);
		if (!(style && style->hide_unknown))
			out = put_bits_word(out, " /* unknown bits ", insn->unknown);
	} else {
		out = put_word(put_format_text(out, "/* unknown instruction */ "), insn);
	}
	if (lossless)
		out = put_control(out, insn);
	*out.at = '\0';
	return (size_t)(out.at - buffer);
}
