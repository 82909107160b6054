/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction reads and writes, and the modifiers of its name: the steps of its row's form,
 * with the values of the fields. Which operand is an address or a result tools/isagen.py has
 * decided; what is not one register wide, or read or written otherwise than its place tells, %regs
 * lines say.
 */
#include "base/base.h"
#include "sass/table.h"

enum { PREDICATES = 7 };

struct operand_walk {
	const struct ws_insn *insn;
	uint64_t pc;
	struct ws_operand *ops, spare;
	struct ws_operand *latest; /* NULL before the first operand */
	size_t cap, n;
	enum ws_modifier *mods;
	size_t mods_cap, n_mods;
	unsigned place;
	bool negated, absolute; /* of the next operand */
};

/* ---- modifiers ---- */

static void add_modifier(struct operand_walk *w, unsigned modifier)
{
	if (w->n_mods < w->mods_cap)
		w->mods[w->n_mods] = (enum ws_modifier)modifier;
	w->n_mods++;
}

/* What stands right behind an operand that is in no address. */
static void add_modifier_part(struct ws_operand *op, unsigned modifier)
{
	for (size_t i = 0; i < WSI_COUNT(op->suffix); i++) {
		if (op->suffix[i] == WS_MOD_NONE) {
			op->suffix[i] = (uint16_t)modifier;
			return;
		}
	}
}

/* What stands right behind a register in an address. */
static void add_suffix(struct operand_walk *w, unsigned modifier)
{
	if (!w->latest)
		return;
	if (w->latest->role != WS_ROLE_ADDRESS_BASE)
		add_modifier_part(w->latest, modifier);
	else if (modifier == WS_MOD_64)
		w->latest->count = 2;
	else if (modifier == WS_MOD_U32)
		w->latest->is_u32 = true;
	else
		w->latest->scale = modifier == WS_MOD_X4 ? 4 : modifier == WS_MOD_X8 ? 8 : 16;
}

/* The modifiers of an enum's value. */
static void add_listed(struct operand_walk *w, const struct wsi_isa_element *element,
		       void (*add)(struct operand_walk *, unsigned))
{
	uint64_t value = wsi_isa_field(w->insn->word, element);
	if (value >= wsi_isa_enums[element->aux]) {
		add(w, WS_MOD_UNKNOWN);
		return;
	}
	const uint16_t *list =
		&wsi_isa_modifier_lists[wsi_isa_enum_modifiers[element->aux + 1 + value]];
	while (*list)
		add(w, *list++);
}

/* ---- operands ---- */

/* What the table says about an operand beyond its place in the text; NULL: nothing. */
static const struct wsi_isa_width *operand_width_of(const struct ws_insn *insn, unsigned class,
						    unsigned lo)
{
	const struct wsi_isa_row *row = &wsi_isa_rows[insn->row];
	const struct wsi_isa_width *w = &wsi_isa_widths[row->width_at];
	for (unsigned i = 0; i < row->n_widths; i++, w++)
		if (w->class == class && (w->lo == lo || w->lo == WSI_ANY_PLACE) &&
		    wsi_isa_conditions_hold(w->condition_at, w->n_conditions, insn->word))
			return w;
	return NULL;
}

/* The sum of the widths that add to an operand; to all of its class at WSI_ANY_PLACE. */
static unsigned added_width(const struct ws_insn *insn, unsigned class, unsigned lo)
{
	const struct wsi_isa_row *row = &wsi_isa_rows[insn->row];
	const struct wsi_isa_width *w = &wsi_isa_widths[row->width_at];
	unsigned sum = 0;
	for (unsigned i = 0; i < row->n_widths; i++, w++)
		if (w->how == WSI_WIDTH_ADDS && w->class == class &&
		    (w->lo == lo || lo == WSI_ANY_PLACE) &&
		    wsi_isa_conditions_hold(w->condition_at, w->n_conditions, insn->word))
			sum += w->count;
	return sum;
}

static uint8_t element_count_of(const struct ws_insn *insn, const struct wsi_isa_width *width)
{
	unsigned class = width->class;
	switch ((enum wsi_isa_how)width->how) {
	case WSI_WIDTH_IS:
		return width->count;
	case WSI_WIDTH_ADDS:
		return (uint8_t)added_width(insn, class, width->lo);
	case WSI_WIDTH_HALF:
		return (uint8_t)((added_width(insn, class, WSI_ANY_PLACE) + 1) / 2);
	case WSI_WIDTH_REST:
		return (uint8_t)(added_width(insn, class, WSI_ANY_PLACE) / 2);
	}
	return 0;
}

static enum ws_operand_role operand_role_of(enum wsi_isa_step step, bool is_number)
{
	if (step == WSI_STEP_ADDRESS)
		return is_number ? WS_ROLE_OFFSET : WS_ROLE_ADDRESS_BASE;
	return step == WSI_STEP_WRITTEN      ? WS_ROLE_WRITTEN
	       : step == WSI_STEP_BANK       ? WS_ROLE_BANK
	       : step == WSI_STEP_DESCRIPTOR ? WS_ROLE_DESCRIPTOR
					     : WS_ROLE_READ;
}

static void set_register(struct ws_operand *op, const struct ws_insn *insn,
			 const struct wsi_isa_element *element, uint64_t value)
{
	static const enum ws_operand_kind kinds[] = { WS_OPERAND_REG,  WS_OPERAND_UREG,
						      WS_OPERAND_PRED, WS_OPERAND_UPRED,
						      WS_OPERAND_PRED, WS_OPERAND_UPRED,
						      WS_OPERAND_BREG, WS_OPERAND_SCOREBOARD,
						      WS_OPERAND_UREG };
	static const enum ws_operand_role roles[] = { [WSI_ROLE_READ] = WS_ROLE_READ,
						      [WSI_ROLE_WRITTEN] = WS_ROLE_WRITTEN,
						      [WSI_ROLE_UPDATED] = WS_ROLE_UPDATED };
	const struct wsi_isa_width *width = operand_width_of(insn, element->aux, element->lo[0]);
	op->kind = kinds[element->aux];
	op->number = (uint16_t)wsi_isa_register(insn, element, value);
	if (!width)
		return;
	op->count = element_count_of(insn, width);
	if (width->role != WSI_ROLE_BY_PLACE &&
	    (op->role == WS_ROLE_READ || op->role == WS_ROLE_WRITTEN))
		op->role = roles[width->role];
}

static void set_value(struct ws_operand *op, const struct operand_walk *w,
		      const struct wsi_isa_element *element, uint64_t value)
{
	unsigned len = wsi_isa_field_len(element);

	switch ((enum wsi_isa_kind)element->kind) {
	case WSI_ISA_REG:
		set_register(op, w->insn, element, value);
		break;
	case WSI_ISA_HEX:
	case WSI_ISA_DEC:
	case WSI_ISA_SBLIST:
		op->value = (int64_t)(value << element->aux);
		break;
	case WSI_ISA_SHEX:
		op->value = wsi_isa_signed(value, len) * (INT64_C(1) << element->aux);
		break;
	case WSI_ISA_F32:
	case WSI_ISA_F64:
	case WSI_ISA_F16:
	case WSI_ISA_BF16:
		op->kind = WS_OPERAND_FLOAT;
		op->value = (int64_t)value;
		break;
	case WSI_ISA_REL:
		op->kind = WS_OPERAND_TARGET;
		op->role = WS_ROLE_TARGET;
		op->value = (int64_t)wsi_isa_target(element, value, w->pc);
		break;
	case WSI_ISA_PREDS:
		op->kind = element->aux == WSI_CLASS_P ? WS_OPERAND_PRED : WS_OPERAND_UPRED;
		op->count = PREDICATES;
		break;
	case WSI_ISA_ENUM:
		op->kind = WS_OPERAND_SPECIAL;
		op->number = (uint16_t)value;
		break;
	case WSI_ISA_REUSE:
	case WSI_ISA_GLUE:
	case WSI_ISA_WHEN:
		break;
	}
}

static void decode_operand_step(struct operand_walk *w, enum wsi_isa_step step,
				const struct wsi_isa_element *element)
{
	bool is_register = element->kind == WSI_ISA_REG || element->kind == WSI_ISA_PREDS;
	struct ws_operand *op = w->n < w->cap ? &w->ops[w->n] : &w->spare;
	w->n++;
	*op = (struct ws_operand){ .kind = WS_OPERAND_IMMEDIATE,
				   .role = operand_role_of(step, !is_register),
				   .place = (uint8_t)w->place,
				   .count = step == WSI_STEP_DESCRIPTOR ? 2 : 1,
				   .scale = 1,
				   .negated = w->negated,
				   .absolute = w->absolute };
	w->negated = w->absolute = false;
	set_value(op, w, element, wsi_isa_field(w->insn->word, element));
	w->latest = op;
}

/* ---- the form ---- */

static void take_operand_step(struct operand_walk *w, enum wsi_isa_step step, unsigned argument)
{
	const struct wsi_isa_element *element = &wsi_isa_elements[argument];
	switch (step) {
	case WSI_STEP_MODIFIER:
		add_modifier(w, argument);
		break;
	case WSI_STEP_MODIFIERS:
		add_listed(w, element, add_modifier);
		break;
	case WSI_STEP_READ:
	case WSI_STEP_WRITTEN:
	case WSI_STEP_ADDRESS:
	case WSI_STEP_BANK:
	case WSI_STEP_DESCRIPTOR:
	case WSI_STEP_SPECIAL:
		decode_operand_step(w, step, element);
		break;
	case WSI_STEP_SIGN:
		w->negated |= wsi_isa_field(w->insn->word, element) != 0;
		break;
	case WSI_STEP_ABSOLUTE:
		w->absolute = wsi_isa_field(w->insn->word, element) != 0;
		break;
	case WSI_STEP_REUSE: /* the bits mean nothing without the yield bit [measured] */
		if (w->latest && wsi_isa_field(w->insn->word, element) &&
		    w->insn->word[1] >> 45 & 1)
			w->latest->reuse = true;
		break;
	case WSI_STEP_PLACE:
		w->place++;
		break;
	case WSI_STEP_SUFFIX:
		add_suffix(w, argument);
		break;
	case WSI_STEP_SUFFIXES:
		add_listed(w, element, add_suffix);
		break;
	case WSI_STEP_END:
	case WSI_STEP_WHEN:
		break;
	}
}

static void operand_walk(struct operand_walk *w)
{
	if (!w->insn->known)
		return;
	for (const uint16_t *at = &wsi_isa_forms[wsi_isa_rows[w->insn->row].form_at]; *at; at++) {
		enum wsi_isa_step step = (enum wsi_isa_step)(*at >> WSI_STEP_SHIFT);
		unsigned argument = *at & WSI_STEP_ARGUMENT;
		if (step != WSI_STEP_WHEN) {
			take_operand_step(w, step, argument);
			continue;
		}
		const struct wsi_isa_element *element = &wsi_isa_elements[argument];
		at++; /* at the length of the group */
		if (!wsi_isa_when(element, wsi_isa_field(w->insn->word, element)))
			at += *at;
	}
}

size_t ws_sass_operands(const struct ws_insn *insn, uint64_t pc, struct ws_operand *ret_ops,
			size_t cap)
{
	struct operand_walk w = { .insn = insn, .pc = pc, .ops = ret_ops, .cap = cap };
	operand_walk(&w);
	return w.n;
}

size_t ws_sass_modifiers(const struct ws_insn *insn, enum ws_modifier *ret_mods, size_t cap)
{
	struct operand_walk w = { .insn = insn, .mods = ret_mods, .mods_cap = cap };
	operand_walk(&w);
	return w.n_mods;
}

bool ws_sass_has(const struct ws_insn *insn, enum ws_modifier modifier)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods));
	for (size_t i = 0; i < n; i++)
		if (mods[i] == modifier)
			return true;
	return false;
}

unsigned ws_sass_access_bytes(const struct ws_insn *insn)
{
	const struct wsi_isa_width *size =
		insn->known ? operand_width_of(insn, WSI_CLASS_BYTES, WSI_ANY_PLACE) : NULL;
	return size ? size->count : 0;
}
