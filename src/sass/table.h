/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction table as tools/isagen.py lays it out.
 *
 *   first[op12] .. first[op12 + 1]   rows of one 12-bit opcode, most special first
 *   row -> conditions                all must hold for the word
 *   row -> template                  bytes: 0 ends; 1..127 a character of the text; 128.. and the
 *                                    next byte are the number of an element. An element WHEN is
 *                                    followed by the length of the group that it guards.
 *   row -> form                      steps of 16 bits: a code in the upper 4, in the lower 12 the
 *                                    number of an element or a modifier. A step WHEN is followed by
 *                                    the number of the steps that it guards.
 *   element ENUM -> enums[aux]       number of values, then offsets into strings (0xffff: no value)
 *   strings                          each with its length in the byte before it and a NUL behind it
 */
#ifndef WSI_SASS_TABLE_H
#define WSI_SASS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <warpscope/sass.h>

/* Steps of a form. */
enum wsi_isa_step {
	WSI_STEP_END,
	WSI_STEP_WHEN,
	WSI_STEP_MODIFIER,   /* this one */
	WSI_STEP_MODIFIERS,  /* those of an element's value */
	WSI_STEP_READ,       /* an operand in no bracket, whose place tells that it is read */
	WSI_STEP_WRITTEN,    /* the same, written */
	WSI_STEP_ADDRESS,    /* an operand in an address */
	WSI_STEP_BANK,       /* that selects a constant bank */
	WSI_STEP_DESCRIPTOR, /* of a descriptor */
	WSI_STEP_SPECIAL,    /* a special register */
	WSI_STEP_SIGN,       /* `-`, `~` or `!` before the next operand, when the field is not 0 */
	WSI_STEP_ABSOLUTE,   /* `|` before it, in the same way */
	WSI_STEP_REUSE,
	WSI_STEP_PLACE,    /* the next operand of the text begins */
	WSI_STEP_SUFFIX,   /* of the operand before it: this modifier */
	WSI_STEP_SUFFIXES, /* those of an element's value */
};

enum { WSI_STEP_SHIFT = 12, WSI_STEP_ARGUMENT = 0xfff };

enum wsi_isa_kind {
	WSI_ISA_ENUM,
	WSI_ISA_REG,
	WSI_ISA_HEX,
	WSI_ISA_SHEX,
	WSI_ISA_DEC,
	WSI_ISA_F32,
	WSI_ISA_F64,
	WSI_ISA_F16,
	WSI_ISA_BF16,
	WSI_ISA_REL,
	WSI_ISA_GLUE,
	WSI_ISA_REUSE,
	WSI_ISA_SBLIST, /* mask of scoreboards, "{2,0}" */
	WSI_ISA_PREDS,  /* all predicates: "PR", "UPR" */
	WSI_ISA_WHEN,
};

enum wsi_isa_class {
	WSI_CLASS_R,
	WSI_CLASS_UR,
	WSI_CLASS_P,
	WSI_CLASS_UP,
	WSI_CLASS_PI, /* stored inverted: 0 is PT */
	WSI_CLASS_UPI,
	WSI_CLASS_B,
	WSI_CLASS_SB,
	WSI_CLASS_UR_NEXT, /* the uniform register behind the one that the field names */
	WSI_CLASS_BYTES,   /* of a width: no register, but what a lane moves */
};

enum wsi_isa_operator { WSI_IS, WSI_IS_NOT, WSI_IS_POWER_OF_TWO };

enum {
	WSI_ISA_SEGMENTS = 3,
	WSI_ISA_NO_TEXT = 0xffff,
	WSI_ISA_UNNAMED_TEXT = 0xffff, /* in a list of unnamed elements: the template holds "???" */
	WSI_ISA_MAX_VALUES = 256,
	WSI_ISA_READABLE = 16, /* bytes from the start of any string on, however short it is */
};

struct wsi_isa_element {
	uint64_t mask; /* of the field's bits when they are in one part, inside one half of the
			* word; else 0 */
	uint8_t kind;  /* enum wsi_isa_kind */
	uint8_t lo[WSI_ISA_SEGMENTS];  /* parts of the field, least significant first */
	uint8_t len[WSI_ISA_SEGMENTS]; /* 0: no such part */
	uint16_t aux;   /* ENUM: first of its texts; REG: class; numbers: shift; WHEN: operator */
	uint32_t extra; /* WHEN: value to compare with; ENUM: missing values print ??? */
};

struct wsi_isa_condition {
	uint8_t lo[2], len[2];
	uint16_t op;
	uint32_t value;
};

enum wsi_isa_role { WSI_ROLE_BY_PLACE, WSI_ROLE_READ, WSI_ROLE_WRITTEN, WSI_ROLE_UPDATED };

/* What the count of a width is. */
enum wsi_isa_how {
	WSI_WIDTH_IS,   /* all registers */
	WSI_WIDTH_ADDS, /* one part: what all such widths of the operand say is added */
	WSI_WIDTH_HALF, /* the larger half of what is added for all operands of the class */
	WSI_WIDTH_REST, /* the other one */
};

enum { WSI_ANY_PLACE = 255 };

/* What the place of a register operand does not tell. Of a row's list the first one counts that is
 * about the operand and whose conditions hold. */
struct wsi_isa_width {
	uint16_t condition_at;
	uint8_t n_conditions;
	uint8_t class; /* enum wsi_isa_class */
	uint8_t lo;    /* first bit of the operand's field, or WSI_ANY_PLACE */
	uint8_t count; /* 0: not known */
	uint8_t role;  /* enum wsi_isa_role */
	uint8_t how;   /* enum wsi_isa_how */
};

struct wsi_isa_row {
	uint32_t template_at;
	uint16_t form_at;
	uint16_t condition_at;
	uint16_t archs; /* bit i: architecture i of the list in decode.c */
	uint16_t operation;
	uint16_t mask; /* bits that the row explains */
	uint16_t ones; /* other bits that are set in every instruction of the row */
	uint16_t width_at;
	uint16_t unnamed_at; /* first in wsi_isa_unnamed of its elements with values that have no
				text */
	uint8_t n_widths;
	uint8_t n_conditions;
	uint8_t uniform_guard; /* beyond the operation's flag */
	char evidence;         /* m measured, r ran, p public */
};

struct wsi_isa_op {
	const char *name;
	uint32_t flags;
	uint16_t plain;   /* the same without the U of the uniform datapath */
	uint8_t category; /* enum ws_category */
};

extern const uint16_t wsi_isa_first[4097];
extern const struct wsi_isa_row wsi_isa_rows[];
extern const size_t wsi_isa_n_rows;
extern const struct wsi_isa_element wsi_isa_elements[];
extern const struct wsi_isa_width wsi_isa_widths[];
extern const struct wsi_isa_condition wsi_isa_conditions[];
extern const uint64_t wsi_isa_masks[][2]; /* both kinds */
extern const uint8_t wsi_isa_templates[];
extern const uint16_t wsi_isa_enums[];
extern const uint16_t wsi_isa_unnamed[]; /* numbers of elements and one past them; 0 ends a list */
extern const uint16_t wsi_isa_forms[];
extern const uint16_t wsi_isa_enum_modifiers[]; /* beside wsi_isa_enums: first of a list, 0: none */
extern const uint8_t
	wsi_isa_enum_named[]; /* beside wsi_isa_enums: the text is more than a number */
extern const uint16_t wsi_isa_modifier_lists[]; /* enum ws_modifier; 0 ends a list */
extern const uint16_t wsi_isa_modifiers[];      /* by enum ws_modifier: text, of wsi_isa_strings */
extern const size_t wsi_isa_n_modifiers;
extern const char wsi_isa_strings[];
extern const struct wsi_isa_op wsi_isa_ops[];
extern const size_t wsi_isa_n_ops;

/* This bit asks for the uniform datapath, which is there from sm_75 on: no row holds for a word of
 * sm_70 and sm_72 that has it. */
enum { WSI_ISA_UNIFORM_BIT = 91, WSI_ISA_UNIFORM_SM = 75 };

/* Bits 105 to 127, in the upper half of an instruction. */
#define WSI_ISA_CONTROL_BITS UINT64_C(0xfffffe0000000000)
/* Those of them that the control comment shows: all but 126 and 127. */
#define WSI_ISA_CONTROL_SHOWN UINT64_C(0x3ffffe0000000000)

/* What kind of instruction a row is. */
static inline uint32_t wsi_isa_flags(const struct wsi_isa_row *row)
{
	return wsi_isa_ops[row->operation].flags |
	       (row->uniform_guard ? (uint32_t)WS_SASS_UNIFORM_GUARD : 0);
}

/* ---- walking a template ---- */

/* `len` bits of a word from bit `lo`, which may run over its middle. */
static inline uint64_t wsi_isa_bits(const uint64_t word[2], unsigned lo, unsigned len)
{
	unsigned shift = lo % 64;
	uint64_t value = word[lo / 64] >> shift;
	if (lo < 64)
		value |= word[1] << 1 << (63 - shift); /* in two steps: a shift by 64 is none */
	return len >= 64 ? value : value & ((UINT64_C(1) << len) - 1);
}

/* Value of a field in any number of parts. */
uint64_t wsi_isa_field_parts(const uint64_t word[2], const struct wsi_isa_element *element);

/* Value of a field: most are in one part. */
static inline uint64_t wsi_isa_field(const uint64_t word[2], const struct wsi_isa_element *element)
{
	unsigned lo = element->lo[0];
	if (element->mask)
		return word[lo / 64] >> lo % 64 & element->mask;
	return wsi_isa_field_parts(word, element);
}

/* Bits of a field. */
static inline unsigned wsi_isa_field_len(const struct wsi_isa_element *element)
{
	return (unsigned)element->len[0] + element->len[1] + element->len[2];
}

/* Whether a word meets `n` conditions from number `first` on. */
bool wsi_isa_conditions_hold(unsigned first, unsigned n, const uint64_t word[2]);
/* Bit of `archs` for an architecture; 0 when there is none. */
uint16_t wsi_isa_arch_bit(unsigned sm);

/* The element that starts at `code` (whose first byte is >= 128). */
static inline const struct wsi_isa_element *wsi_isa_element_at(const uint8_t *code)
{
	return &wsi_isa_elements[(size_t)(code[0] & 0x7f) << 8 | code[1]];
}

/* v as a signed number of `len` bits. */
static inline int64_t wsi_isa_signed(uint64_t v, unsigned len)
{
	if (len >= 64)
		return (int64_t)v;
	uint64_t sign = UINT64_C(1) << (len - 1);
	return (int64_t)((v ^ sign) - sign);
}

static inline bool wsi_isa_compare(unsigned op, uint64_t value, uint32_t wanted)
{
	switch ((enum wsi_isa_operator)op) {
	case WSI_IS:
		return value == wanted;
	case WSI_IS_NOT:
		return value != wanted;
	case WSI_IS_POWER_OF_TWO:
		return value != 0 && (value & (value - 1)) == 0;
	}
	return false;
}

/* Whether the group behind an element WHEN is shown. */
static inline bool wsi_isa_when(const struct wsi_isa_element *element, uint64_t value)
{
	return wsi_isa_compare(element->aux, value, element->extra);
}

/* Text of an enum's value, which ends in a NUL; one at NULL for a value without one. */
static inline struct ws_str wsi_isa_enum_text(const struct wsi_isa_element *element, uint64_t value)
{
	const uint16_t *texts = &wsi_isa_enums[element->aux];
	if (value >= texts[0] || texts[1 + value] == WSI_ISA_NO_TEXT)
		return (struct ws_str){ 0 };
	const char *text = &wsi_isa_strings[texts[1 + value]];
	return (struct ws_str){ text, (uint8_t)text[-1] };
}

/* Number of a register from its field: 255 is RZ and URZ, 7 is PT and UPT on every architecture. */
static inline uint64_t wsi_isa_register(const struct ws_insn *insn,
					const struct wsi_isa_element *element, uint64_t value)
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

/* Address that a relative field stands for. */
static inline uint64_t wsi_isa_target(const struct wsi_isa_element *element, uint64_t value,
				      uint64_t pc)
{
	int64_t offset = wsi_isa_signed(value, wsi_isa_field_len(element));
	return pc + WS_SASS_BYTES + ((uint64_t)offset << element->aux);
}

/* ---- numbers as text (float.c) ---- */

enum { WSI_FLOAT_TEXT_MAX = 48 };

/* The disassembler's text of a floating-point immediate; returns its length. */
size_t wsi_float_format(enum wsi_isa_kind kind, uint32_t bits, char buffer[WSI_FLOAT_TEXT_MAX]);
/* Reads such a text. Returns its length, 0 if it is none. */
size_t wsi_float_parse(enum wsi_isa_kind kind, const char *text, uint32_t *ret_bits);

#endif
