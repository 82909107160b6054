/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction reads and writes, from the same template that prints it: an element's place
 * in the text tells its role. `[..]` is an address, the first bracket behind `c` or `cx` a constant
 * bank, `desc[..]` a descriptor; a register field at bit 16 or a predicate at 81 or 84 is a result.
 * What the place does not tell (registers that go together, other results) the table says in %regs
 * lines.
 */
#include "base/base.h"
#include "sass/table.h"

enum { FIELD_RD = 16, FIELD_PD = 81, FIELD_PD2 = 84, PREDICATES = 7 };

enum bracket { NO_BRACKET, ADDRESS, BANK, DESCRIPTOR };

struct walk {
	const struct ws_insn *insn;
	uint64_t pc;
	struct ws_operand *ops, spare;
	struct ws_operand *latest; /* NULL before the first operand */
	size_t cap, n;
	struct ws_modifier *mods;
	size_t mods_cap, n_mods;
	uint32_t last; /* the last four characters of the text */
	enum bracket bracket;
	unsigned place;
	bool in_name; /* no space yet */
	bool negated, absolute;
};

static void see(struct walk *w, char c)
{
	if (c == ' ') {
		w->in_name = false;
	} else if (c == ',' && w->bracket == NO_BRACKET) {
		w->place++;
	} else if (c == ']') {
		w->bracket = NO_BRACKET;
	} else if (c == '[') {
		bool bank = (w->last & 0xff) == 'c' || (w->last & 0xffff) == ('c' << 8 | 'x');
		if (w->last == 0x64657363) /* "desc" */
			w->bracket = DESCRIPTOR;
		else
			w->bracket = bank ? BANK : ADDRESS;
	} else if (c == '-' || c == '~' || c == '!') {
		w->negated = true;
	} else if (c == '|') {
		w->absolute = (w->last & 0xff) == ' ' || (w->last & 0xff) == '-';
	}
	w->last = w->last << 8 | (unsigned char)c;
}

/* What stands right behind a register in an address: ".64" is a pair, ".X4" a factor. */
static void see_suffix(struct walk *w)
{
	if (w->bracket != ADDRESS || !w->latest)
		return;
	if ((w->last & 0xffffff) == 0x2e3634) /* ".64" */
		w->latest->count = 2;
	else if (w->last == 0x2e553332) /* ".U32" */
		w->latest->is_u32 = true;
	else if ((w->last & 0xffffff) == 0x2e5834 || (w->last & 0xffffff) == 0x2e5838)
		w->latest->scale = (uint8_t)(w->last & 15); /* ".X4", ".X8" */
	else if (w->last == 0x2e583136)                     /* ".X16" */
		w->latest->scale = 16;
}

static struct ws_operand *add(struct walk *w, enum ws_operand_kind kind, enum ws_operand_role role)
{
	if (w->bracket == ADDRESS)
		role = kind == WS_OPERAND_IMMEDIATE ? WS_ROLE_OFFSET : WS_ROLE_ADDRESS_BASE;
	else if (w->bracket != NO_BRACKET)
		role = w->bracket == BANK ? WS_ROLE_BANK : WS_ROLE_DESCRIPTOR;
	struct ws_operand *op = w->n < w->cap ? &w->ops[w->n] : &w->spare;
	w->n++;
	*op = (struct ws_operand){ .kind = kind,
				   .role = role,
				   .place = (uint8_t)w->place,
				   .count = w->bracket == DESCRIPTOR ? 2 : 1,
				   .scale = 1,
				   .negated = w->negated,
				   .absolute = w->absolute };
	w->negated = w->absolute = false;
	w->latest = op;
	return op;
}

/* What the table says about an operand beyond its place in the text; NULL: nothing. */
static const struct wsi_isa_width *width_of(const struct ws_insn *insn,
					    const struct wsi_isa_element *element)
{
	const struct wsi_isa_row *row = &wsi_isa_rows[insn->row];
	const struct wsi_isa_width *w = &wsi_isa_widths[row->width_at];
	for (unsigned i = 0; i < row->n_widths; i++, w++)
		if (w->class == element->aux &&
		    (w->lo == element->lo[0] || w->lo == WSI_ANY_PLACE) &&
		    wsi_isa_conditions_hold(w->condition_at, w->n_conditions, insn->word))
			return w;
	return NULL;
}

static enum ws_operand_role place_role(const struct wsi_isa_element *element)
{
	unsigned lo = element->lo[0];
	bool data = element->aux == WSI_CLASS_R || element->aux == WSI_CLASS_UR;
	bool predicate = element->aux == WSI_CLASS_P || element->aux == WSI_CLASS_UP;
	bool result =
		(data && lo == FIELD_RD) || (predicate && (lo == FIELD_PD || lo == FIELD_PD2));
	return result ? WS_ROLE_WRITTEN : WS_ROLE_READ;
}

static void add_register(struct walk *w, const struct wsi_isa_element *element, uint64_t value)
{
	static const enum ws_operand_kind kinds[] = { WS_OPERAND_REG,  WS_OPERAND_UREG,
						      WS_OPERAND_PRED, WS_OPERAND_UPRED,
						      WS_OPERAND_PRED, WS_OPERAND_UPRED,
						      WS_OPERAND_BREG, WS_OPERAND_SCOREBOARD,
						      WS_OPERAND_UREG };
	static const enum ws_operand_role roles[] = { [WSI_ROLE_READ] = WS_ROLE_READ,
						      [WSI_ROLE_WRITTEN] = WS_ROLE_WRITTEN,
						      [WSI_ROLE_UPDATED] = WS_ROLE_UPDATED };
	const struct wsi_isa_width *width = width_of(w->insn, element);
	bool by_place = !width || width->role == WSI_ROLE_BY_PLACE;
	struct ws_operand *op =
		add(w, kinds[element->aux], by_place ? place_role(element) : roles[width->role]);
	op->number = (uint16_t)wsi_isa_register(w->insn, element, value);
	if (width)
		op->count = width->count;
	see(w, 'R');
}

/* PR or UPR. */
static void add_predicates(struct walk *w, const struct wsi_isa_element *element)
{
	bool result = w->place == 0;
	struct ws_operand *op =
		add(w, element->aux == WSI_CLASS_P ? WS_OPERAND_PRED : WS_OPERAND_UPRED,
		    result ? WS_ROLE_WRITTEN : WS_ROLE_READ);
	op->count = PREDICATES;
	see(w, 'P');
}

static void see_enum(struct walk *w, const struct wsi_isa_element *element, uint64_t value)
{
	const char *text = wsi_isa_enum_text(element, value).ptr;
	if (w->in_name && text && *text == '.') {
		if (w->n_mods < w->mods_cap)
			w->mods[w->n_mods] = (struct ws_modifier){ .text = text,
								   .lo = element->lo[0],
								   .value = (uint16_t)value };
		w->n_mods++;
	}
	for (; text && *text; text++)
		see(w, *text);
	see_suffix(w);
}

static void walk_element(struct walk *w, const struct wsi_isa_element *element, uint64_t value)
{
	unsigned len = wsi_isa_field_len(element);
	struct ws_operand *op;

	switch ((enum wsi_isa_kind)element->kind) {
	case WSI_ISA_ENUM:
		see_enum(w, element, value);
		break;
	case WSI_ISA_REG:
		add_register(w, element, value);
		break;
	case WSI_ISA_HEX:
	case WSI_ISA_DEC:
	case WSI_ISA_SBLIST:
		add(w, WS_OPERAND_IMMEDIATE, WS_ROLE_READ)->value =
			(int64_t)(value << element->aux);
		see(w, '0');
		break;
	case WSI_ISA_SHEX:
		op = add(w, WS_OPERAND_IMMEDIATE, WS_ROLE_READ);
		op->value = wsi_isa_signed(value, len) * (INT64_C(1) << element->aux);
		see(w, '0');
		break;
	case WSI_ISA_F32:
	case WSI_ISA_F64:
	case WSI_ISA_F16:
	case WSI_ISA_BF16:
		add(w, WS_OPERAND_FLOAT, WS_ROLE_READ)->value = (int64_t)value;
		see(w, '0');
		break;
	case WSI_ISA_REL:
		op = add(w, WS_OPERAND_TARGET, WS_ROLE_TARGET);
		op->value = (int64_t)wsi_isa_target(element, value, w->pc);
		see(w, '0');
		break;
	case WSI_ISA_REUSE:
		if (value && w->latest && (w->insn->word[1] >> 45 & 1))
			w->latest->reuse = true;
		break;
	case WSI_ISA_PREDS:
		add_predicates(w, element);
		break;
	case WSI_ISA_GLUE:
	case WSI_ISA_WHEN:
		break;
	}
}

static void walk(struct walk *w)
{
	if (!w->insn->known)
		return;
	const uint8_t *code = &wsi_isa_templates[wsi_isa_rows[w->insn->row].template_at];
	while (*code) {
		if (*code < 0x80) {
			see(w, (char)*code++);
			see_suffix(w);
			continue;
		}
		const struct wsi_isa_element *element = wsi_isa_element_at(code);
		uint64_t value = wsi_isa_field(w->insn->word, element);
		code += 2;
		if (element->kind != WSI_ISA_WHEN)
			walk_element(w, element, value);
		else if (wsi_isa_when(element, value))
			code++;
		else
			code += 1 + *code;
	}
}

size_t ws_sass_operands(const struct ws_insn *insn, uint64_t pc, struct ws_operand *ret_ops,
			size_t cap)
{
	struct walk w = { .insn = insn, .pc = pc, .ops = ret_ops, .cap = cap, .in_name = true };
	walk(&w);
	return w.n;
}

size_t ws_sass_modifiers(const struct ws_insn *insn, struct ws_modifier *ret_mods, size_t cap)
{
	struct walk w = { .insn = insn, .mods = ret_mods, .mods_cap = cap, .in_name = true };
	walk(&w);
	return w.n_mods;
}

/* Bytes that a modifier of the name stands for; 0 when it is about something else. */
static unsigned modifier_bytes(const char *text)
{
	static const struct {
		const char *text;
		uint8_t bytes;
	} sizes[] = {
		{ ".U8", 1 },  { ".S8", 1 },     { ".U16", 2 },       { ".S16", 2 },
		{ ".64", 8 },  { ".128", 16 },   { ".256", 32 },      { ".S64", 8 },
		{ ".U64", 8 }, { ".F64.RN", 8 }, { ".ENL2.256", 32 },
	};
	for (size_t i = 0; i < WSI_COUNT(sizes); i++)
		if (strcmp(text, sizes[i].text) == 0)
			return sizes[i].bytes;
	return 0;
}

unsigned ws_sass_access_bytes(const struct ws_insn *insn)
{
	if (!(insn->flags & (WS_SASS_LOAD | WS_SASS_STORE | WS_SASS_ATOMIC)) ||
	    insn->flags & WS_SASS_TEXTURE)
		return 0;
	struct ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods));
	for (size_t i = 0; i < n && i < WSI_COUNT(mods); i++) {
		unsigned bytes = modifier_bytes(mods[i].text);
		if (bytes)
			return bytes;
	}
	return 4;
}
