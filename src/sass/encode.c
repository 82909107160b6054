/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text back to 16 bytes.
 *
 * A row's template is read as a pattern: literals must match, elements set their fields, a
 * conditional group is tried both ways. That can leave a choice open (a group that is shown for
 * every value but one, two enum values with one text), so a match counts only when the word decodes
 * to the same row and prints as the text that was read. Rows are few per name and patterns short;
 * the depth of the recursion is bounded by the template's length.
 */
#include "base/base.h"
#include "sass/table.h"

enum { TEXT_MAX = WS_SASS_TEXT_MAX, CONTROL_BIT = 105 - 64, YIELD_BIT = 109 - 64 };

struct attempt {
	unsigned sm;
	uint64_t pc;
	const char *text;    /* normalised, without guard and comments */
	const char *reached; /* the furthest place that matched */
	uint64_t word[2], set[2];
	const struct wsi_isa_row *row;
	uint64_t control;    /* bits 105 to 127, in place */
	uint64_t unknown[2]; /* from a comment: bits that are not as usual */
};

static bool set_bits(struct attempt *a, unsigned lo, unsigned len, uint64_t value)
{
	for (unsigned i = 0; i < len; i++) {
		unsigned bit = lo + i;
		uint64_t mask = UINT64_C(1) << bit % 64, wanted = (value >> i & 1) ? mask : 0;
		if ((a->set[bit / 64] & mask) && (a->word[bit / 64] & mask) != wanted)
			return false;
		a->set[bit / 64] |= mask;
		a->word[bit / 64] = (a->word[bit / 64] & ~mask) | wanted;
	}
	return true;
}

/* Sets a field; false when the value does not fit or the field is taken. */
static bool set_field(struct attempt *a, const uint8_t *lo, const uint8_t *len, unsigned n,
		      uint64_t value)
{
	unsigned total = 0;
	for (unsigned i = 0; i < n; i++) {
		if (len[i] && !set_bits(a, lo[i], len[i], value >> total))
			return false;
		total += len[i];
	}
	return total >= 64 || value >> total == 0;
}

static bool set_element(struct attempt *a, const struct wsi_isa_element *e, uint64_t value)
{
	return set_field(a, e->lo, e->len, WSI_ISA_SEGMENTS, value);
}

/* ---- numbers and registers: each reads at `text` and returns what follows, or NULL ---- */

static const char *read_text_number(const char *text, uint64_t *ret_value)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	const char *at = hex ? text + 2 : text;
	uint64_t value = 0;
	unsigned n = 0;
	for (;; at++, n++) {
		unsigned digit = wsi_hex_digit(*at);
		if (digit >= (hex ? 16 : 10))
			break;
		if (value > (UINT64_MAX - digit) / (hex ? 16 : 10))
			return NULL;
		value = value * (hex ? 16 : 10) + digit;
	}
	*ret_value = value;
	return n ? at : NULL;
}

static const char *read_scaled(struct attempt *a, const struct wsi_isa_element *e, const char *text,
			       bool sign)
{
	unsigned len = wsi_isa_field_len(e);
	uint64_t value, limit = UINT64_C(1) << (len - 1);
	bool negative = sign && *text == '-';
	text = read_text_number(text + negative, &value);
	if (!text || value & ((UINT64_C(1) << e->aux) - 1))
		return NULL;
	value >>= e->aux;
	if (sign && value > limit - !negative)
		return NULL;
	if (negative)
		value = (0 - value) & ((limit << 1) - 1);
	return set_element(a, e, value) ? text : NULL;
}

static const char *read_target(struct attempt *a, const struct wsi_isa_element *e, const char *text)
{
	unsigned len = wsi_isa_field_len(e);
	uint64_t target;
	bool negative = *text == '-';
	text = read_text_number(text + negative, &target);
	if (!text)
		return NULL;
	target = negative ? 0 - target : target;
	uint64_t offset = target - a->pc - WS_SASS_BYTES;
	if (offset & ((UINT64_C(1) << e->aux) - 1))
		return NULL;
	uint64_t field = (offset >> e->aux) & ((UINT64_C(1) << len) - 1);
	if ((uint64_t)wsi_isa_signed(field, len) << e->aux != offset)
		return NULL;
	return set_element(a, e, field) ? text : NULL;
}

static const char *read_register_text(struct attempt *a, const struct wsi_isa_element *e,
				      const char *text)
{
	static const char prefix[][3] = { "R", "UR", "P", "UP", "P", "UP", "B", "SB", "UR" };
	static const char special[] = "ZZTTTT  Z";
	size_t n = strlen(prefix[e->aux]);
	uint64_t value;
	if (strncmp(text, prefix[e->aux], n) != 0)
		return NULL;
	text += n;
	bool uniform = e->aux == WSI_CLASS_UR;
	bool narrow = uniform && (a->sm < 100 || e->len[0] == 6);
	bool predicate = e->aux >= WSI_CLASS_P && e->aux <= WSI_CLASS_UPI;
	if (*text == special[e->aux]) {
		value = predicate ? 7 : narrow ? 63 : 255;
		text++;
	} else {
		text = *text >= '0' && *text <= '9' ? read_text_number(text, &value) : NULL;
		if (!text || (predicate && value > 6))
			return NULL;
	}
	if (e->aux == WSI_CLASS_UR_NEXT) /* the register before it has set the field */
		return text;
	if (e->aux == WSI_CLASS_PI || e->aux == WSI_CLASS_UPI)
		value = 7 - value;
	if (narrow)
		return value < 64 && set_bits(a, e->lo[0], 6, value) ? text : NULL;
	return set_element(a, e, value) ? text : NULL;
}

/* "{5,2}": bits of a mask, highest first. */
static const char *read_scoreboards(struct attempt *a, const struct wsi_isa_element *e,
				    const char *text)
{
	uint64_t mask = 0;
	if (*text != '{')
		return NULL;
	do {
		text++;
		if (*text < '0' || *text > '5')
			return NULL;
		mask |= UINT64_C(1) << (*text++ - '0');
	} while (*text == ',');
	return *text == '}' && set_element(a, e, mask) ? text + 1 : NULL;
}

static const char *read_float(struct attempt *a, const struct wsi_isa_element *e, const char *text)
{
	uint32_t value;
	size_t n = wsi_float_parse((enum wsi_isa_kind)e->kind, text, &value);
	if (n == 0 || !set_element(a, e, value))
		return NULL;
	text += n;
	return text + (text[0] == ' ' && text[1] == '.'); /* "+INF .H1" */
}

/* ---- the pattern ---- */

static bool match(struct attempt *a, const uint8_t *code, const char *text);

/* A missing value's text: ".INVALID6". */
static bool match_unnamed(struct attempt *a, const struct wsi_isa_element *e, const uint8_t *rest,
			  const char *text)
{
	const char *prefix = e->extra ? ".???" : ".INVALID";
	size_t n = strlen(prefix);
	uint64_t value;
	if (strncmp(text, prefix, n) != 0)
		return false;
	text = read_text_number(text + n, &value);
	return text && set_element(a, e, value) && match(a, rest, text);
}

static bool match_enum(struct attempt *a, const struct wsi_isa_element *e, const uint8_t *rest,
		       const char *text)
{
	uint16_t n_values = wsi_isa_enums[e->aux];
	uint8_t length[WSI_ISA_MAX_VALUES];
	size_t longest = 0;
	for (unsigned v = 0; v < n_values; v++) {
		struct ws_str name = wsi_isa_enum_text(e, v);
		bool fits = name.ptr && strncmp(text, name.ptr, name.len) == 0;
		length[v] = fits ? (uint8_t)name.len : 255;
		if (fits && name.len > longest)
			longest = name.len;
	}
	struct attempt saved = *a;
	for (size_t n = longest + 1; n-- > 0;) {
		for (unsigned v = 0; v < n_values; v++) {
			if (length[v] != n)
				continue;
			if (set_element(a, e, v) && match(a, rest, text + n))
				return true;
			const char *reached = a->reached;
			*a = saved;
			a->reached = reached;
		}
	}
	return match_unnamed(a, e, rest, text);
}

/* Gives the field of a condition a value that meets it, or that does not, where only one does. */
static bool settle_condition(struct attempt *a, const struct wsi_isa_element *e, bool met)
{
	if (e->aux == WSI_IS_POWER_OF_TWO)
		return true;
	if (met == (e->aux == WSI_IS))
		return set_element(a, e, e->extra);
	return wsi_isa_field_len(e) != 1 || set_element(a, e, !e->extra);
}

/* `code` is at the length of the group. */
static bool match_group(struct attempt *a, const struct wsi_isa_element *e, const uint8_t *code,
			const char *text)
{
	struct attempt saved = *a;
	if (settle_condition(a, e, true) && match(a, code + 1, text))
		return true;
	const char *reached = a->reached;
	*a = saved;
	a->reached = reached;
	return settle_condition(a, e, false) && match(a, code + 1 + *code, text);
}

static const char *match_plain(struct attempt *a, const struct wsi_isa_element *e, const char *text)
{
	switch ((enum wsi_isa_kind)e->kind) {
	case WSI_ISA_REG:
		return read_register_text(a, e, text);
	case WSI_ISA_HEX:
	case WSI_ISA_DEC:
		return read_scaled(a, e, text, false);
	case WSI_ISA_SHEX:
		return read_scaled(a, e, text, true);
	case WSI_ISA_F32:
	case WSI_ISA_F64:
	case WSI_ISA_F16:
	case WSI_ISA_BF16:
		return read_float(a, e, text);
	case WSI_ISA_REL:
		return read_target(a, e, text);
	case WSI_ISA_GLUE:
		if (text > a->text && text[-1] == '[')
			return text;
		return *text == '+' ? text + 1 : NULL;
	case WSI_ISA_REUSE: {
		bool reuse = strncmp(text, ".reuse", 6) == 0;
		return set_element(a, e, reuse) ? text + (reuse ? 6 : 0) : NULL;
	}
	case WSI_ISA_SBLIST:
		return read_scoreboards(a, e, text);
	case WSI_ISA_PREDS: {
		const char *name = e->aux == WSI_CLASS_P ? "PR" : "UPR";
		return strncmp(text, name, strlen(name)) == 0 ? text + strlen(name) : NULL;
	}
	case WSI_ISA_ENUM:
	case WSI_ISA_WHEN:
		break;
	}
	return NULL;
}

/* The word so far; `whole`: with the bits that only a comment tells. */
static void compose(const struct attempt *a, uint8_t bytes[WS_SASS_BYTES], bool whole)
{
	const uint64_t *ones = wsi_isa_masks[a->row->ones];
	for (unsigned i = 0; i < 2; i++) {
		uint64_t word = (a->word[i] | ones[i]) ^ (whole ? a->unknown[i] : 0);
		if (i == 1)
			word |= whole ? a->control
				      : UINT64_C(1) << YIELD_BIT; /* reuse shows with it */
		for (unsigned k = 0; k < 8; k++)
			bytes[8 * i + k] = (uint8_t)(word >> 8 * k);
	}
}

/* Takes the blanks before commas away: the printer has one behind "+INF" and "-0.0". */
static void join_commas(char *text)
{
	char *to = text;
	for (; *text; text++)
		if (text[0] != ' ' || text[1] != ',')
			*to++ = *text;
	*to = '\0';
}

/* Whether the word that was composed is the text that was read. */
static bool confirmed(struct attempt *a)
{
	uint8_t bytes[WS_SASS_BYTES];
	char text[TEXT_MAX];
	struct ws_insn plain;
	compose(a, bytes, false);
	ws_sass_decode(a->sm, bytes, &plain);
	if (!plain.known || &wsi_isa_rows[plain.row] != a->row)
		return false;
	plain.guard = 7;
	plain.guard_negated = false;
	struct ws_sass_style style = { .hide_unknown = true };
	ws_sass_format(&plain, a->pc, &style, text, sizeof text);
	join_commas(text);
	return strcmp(text, a->text) == 0;
}

static bool match(struct attempt *a, const uint8_t *code, const char *text)
{
	while (*code) {
		if (text > a->reached)
			a->reached = text;
		if (*code < 0x80) {
			if (*text != (char)*code) /* a template may end in what the printer trims */
				return *text == '\0' && *code == ' ' && match(a, code + 1, text);
			text++;
			code++;
			continue;
		}
		const struct wsi_isa_element *e = wsi_isa_element_at(code);
		code += 2;
		if (e->kind == WSI_ISA_ENUM)
			return match_enum(a, e, code, text);
		if (e->kind == WSI_ISA_WHEN)
			return match_group(a, e, code, text);
		text = match_plain(a, e, text);
		if (!text)
			return false;
	}
	return *text == '\0' && confirmed(a);
}

/* ---- the whole text ---- */

/* What stands around the pattern: comments and the guard. */
struct frame {
	char text[TEXT_MAX]; /* one space between words, none before a comma, no comments, no ; */
	size_t body;         /* where the name starts in `text` */
	uint8_t guard;
	bool guard_negated, guard_uniform;
	bool has_control;
	uint64_t control, unknown[2];
};

/* Up to 32 hexadecimal digits. */
static const char *read_wide_hex(const char *text, uint64_t ret_bits[2])
{
	if (text[0] != '0' || text[1] != 'x')
		return NULL;
	uint64_t high = 0, low = 0;
	unsigned n = 0;
	for (text += 2; n < 33; n++, text++) {
		unsigned digit = wsi_hex_digit(*text);
		if (digit > 15)
			break;
		high = high << 4 | low >> 60;
		low = low << 4 | digit;
	}
	if (n == 0 || n > 32)
		return NULL;
	ret_bits[0] = low;
	ret_bits[1] = high;
	return text;
}

static bool read_control(struct frame *f, const char *text)
{
	static const struct {
		const char *name;
		uint8_t shift, max;
	} fields[] = { { "stall ", 0, 15 },
		       { "wr ", 5, 7 },
		       { "rd ", 8, 7 },
		       { "wait ", 11, 63 },
		       { "reuse ", 17, 15 } };

	f->has_control = true;
	f->control = 7u << 5 | 7u << 8;
	while (*text && *text != '*') {
		if (strncmp(text, "yield ", 6) == 0) {
			f->control |= 1u << 4;
			text += 6;
			continue;
		}
		size_t i = 0;
		while (i < WSI_COUNT(fields) &&
		       strncmp(text, fields[i].name, strlen(fields[i].name)) != 0)
			i++;
		uint64_t value;
		if (i == WSI_COUNT(fields))
			return false;
		text = read_text_number(text + strlen(fields[i].name), &value);
		if (!text || value > fields[i].max)
			return false;
		f->control &= ~((uint64_t)fields[i].max << fields[i].shift);
		f->control |= value << fields[i].shift;
		text += *text == ' ';
	}
	return true;
}

static bool read_comment(struct frame *f, const char *text)
{
	while (*text == ' ')
		text++;
	if (strncmp(text, "unknown bits ", 13) == 0)
		return read_wide_hex(text + 13, f->unknown) != NULL;
	if (strncmp(text, "bits ", 5) == 0)
		return read_wide_hex(text + 5, f->unknown) != NULL;
	if (strncmp(text, "stall ", 6) == 0)
		return read_control(f, text);
	return true; /* a remark */
}

/* Copies the text without comments and spare spaces. */
static bool read_frame_text(struct frame *f, const char *text)
{
	size_t n = 0;
	while (*text && *text != ';') {
		if (text[0] == '/' && text[1] == '*') {
			const char *end = strstr(text, "*/");
			if (!end || !read_comment(f, text + 2))
				return false;
			text = end + 2;
			continue;
		}
		bool space = *text == ' ' || *text == '\t' || *text == '\n';
		if (!space || (n > 0 && f->text[n - 1] != ' ')) {
			if (n == sizeof f->text - 1)
				return false;
			f->text[n++] = space ? ' ' : *text;
		}
		text++;
	}
	while (n > 0 && f->text[n - 1] == ' ')
		n--;
	f->text[n] = '\0';
	join_commas(f->text);
	return n > 0;
}

static bool read_guard(struct frame *f)
{
	const char *at = f->text;
	f->guard = 7;
	if (*at != '@')
		return true;
	at++;
	f->guard_negated = *at == '!';
	at += *at == '!';
	f->guard_uniform = *at == 'U';
	at += *at == 'U';
	if (at[0] != 'P' || !((at[1] >= '0' && at[1] <= '6') || at[1] == 'T') || at[2] != ' ')
		return false;
	f->guard = at[1] == 'T' ? 7 : (uint8_t)(at[1] - '0');
	f->body = (size_t)(at + 3 - f->text);
	return true;
}

static size_t name_length(const char *text)
{
	size_t n = 0;
	while ((text[n] >= 'A' && text[n] <= 'Z') || (text[n] >= '0' && text[n] <= '9') ||
	       text[n] == '_')
		n++;
	return n;
}

static bool try_row(struct attempt *a, const struct frame *f, const struct wsi_isa_row *row,
		    unsigned op12)
{
	a->row = row;
	memset(a->word, 0, sizeof a->word);
	memset(a->set, 0, sizeof a->set);
	set_bits(a, 0, 12, op12);
	set_bits(a, 12, 3, f->guard);
	set_bits(a, 15, 1, f->guard_negated);
	if (a->sm < WSI_ISA_UNIFORM_SM)
		set_bits(a, WSI_ISA_UNIFORM_BIT, 1, 0);
	const struct wsi_isa_condition *c = &wsi_isa_conditions[row->condition_at];
	for (unsigned i = 0; i < row->n_conditions; i++, c++)
		if (c->op == WSI_IS && !set_field(a, c->lo, c->len, 2, c->value))
			return false;
	return match(a, &wsi_isa_templates[row->template_at], a->text);
}

static enum ws_status encode_named(struct attempt *a, const struct frame *f,
				   uint8_t ret_bytes[WS_SASS_BYTES], struct ws_error *err)
{
	size_t n = name_length(a->text);
	uint16_t arch = wsi_isa_arch_bit(a->sm);
	bool named = false;
	for (unsigned op12 = 0; op12 < 4096; op12++) {
		for (unsigned i = wsi_isa_first[op12]; i < wsi_isa_first[op12 + 1]; i++) {
			const struct wsi_isa_row *row = &wsi_isa_rows[i];
			const char *name = wsi_isa_ops[row->operation].name;
			bool uniform = wsi_isa_flags(row) & WS_SASS_UNIFORM_GUARD;
			if (!(row->archs & arch) || strncmp(name, a->text, n) != 0 ||
			    name[n] != '\0')
				continue;
			named = true;
			if (f->guard != 7 && uniform != f->guard_uniform)
				continue;
			if (try_row(a, f, row, op12)) {
				compose(a, ret_bytes, true);
				return WS_OK;
			}
		}
	}
	if (!named)
		return wsi_fail(err, WS_ABSENT, f->body, "sm_%u has no operation '%.*s'", a->sm,
				(int)(n < 32 ? n : 32), a->text);
	return wsi_fail(err, WS_MALFORMED, f->body + (size_t)(a->reached - a->text),
			"cannot encode '%.60s' for sm_%u", a->text, a->sm);
}

enum ws_status ws_sass_encode(unsigned sm, const char *text, uint64_t pc,
			      uint8_t ret_bytes[WS_SASS_BYTES], struct ws_error *err)
{
	/* stall 11, yield, no scoreboard set, all waited for */
	const uint64_t plain = 11u | 1u << 4 | 7u << 5 | 7u << 8 | 63u << 11;
	struct frame f = { .body = 0 };
	if (!ws_sass_supports(sm))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "no instruction table for sm_%u",
				sm);
	if (!read_frame_text(&f, text) || !read_guard(&f))
		return wsi_fail(err, WS_MALFORMED, 0, "cannot read '%.60s'", text);
	struct attempt a = { .sm = sm, .pc = pc, .text = f.text + f.body };
	a.reached = a.text;
	a.control = (f.has_control ? f.control : plain) << CONTROL_BIT;
	memcpy(a.unknown, f.unknown, sizeof a.unknown);
	if (strncmp(a.text, ".word ", 6) == 0) {
		uint64_t word[2];
		if (!read_wide_hex(a.text + 6, word))
			return wsi_fail(err, WS_MALFORMED, 6, "cannot read '%.60s'", text);
		for (unsigned i = 0; i < WS_SASS_BYTES; i++)
			ret_bytes[i] = (uint8_t)(word[i / 8] >> i % 8 * 8);
		return WS_OK;
	}
	return encode_named(&a, &f, ret_bytes, err);
}
