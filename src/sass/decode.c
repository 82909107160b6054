/* SPDX-License-Identifier: Apache-2.0 */
/* From 16 bytes to the row that explains them. */
#include "base/base.h"
#include "sass/table.h"

/* The list in isagen.py. sm_87 and sm_88 print as sm_86 does, sm_101 as sm_100 [measured]. */
static const uint8_t arch_numbers[] = { 75, 80, 86, 89, 90, 100, 103, 110, 120, 121 };

uint16_t wsi_isa_arch_bit(unsigned sm)
{
	if (sm == 87 || sm == 88)
		sm = 86;
	else if (sm == 101)
		sm = 100;
	for (unsigned i = 0; i < WSI_COUNT(arch_numbers); i++)
		if (arch_numbers[i] == sm)
			return (uint16_t)(1u << i);
	return 0;
}

bool ws_sass_supports(unsigned sm)
{
	return wsi_isa_arch_bit(sm) != 0;
}

static bool compare(unsigned op, uint64_t value, uint32_t wanted)
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

bool wsi_isa_when(const struct wsi_isa_element *element, uint64_t value)
{
	return compare(element->aux, value, element->extra);
}

const char *wsi_isa_enum_text(const struct wsi_isa_element *element, uint64_t value)
{
	const uint16_t *texts = &wsi_isa_enums[element->aux];
	if (value >= texts[0] || texts[1 + value] == WSI_ISA_NO_TEXT)
		return NULL;
	return &wsi_isa_strings[texts[1 + value]];
}

bool wsi_isa_conditions_hold(unsigned first, unsigned n, const uint64_t word[2])
{
	const struct wsi_isa_condition *c = &wsi_isa_conditions[first];
	for (unsigned i = 0; i < n; i++, c++) {
		uint64_t value = wsi_isa_bits(word, c->lo[0], c->len[0]);
		if (c->len[1] != 0)
			value |= wsi_isa_bits(word, c->lo[1], c->len[1]) << c->len[0];
		if (!compare(c->op, value, c->value))
			return false;
	}
	return true;
}

static uint64_t load_le64(const uint8_t *bytes)
{
	uint64_t value = 0;
	for (unsigned i = 8; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

void ws_sass_decode(unsigned sm, const uint8_t bytes[WS_SASS_BYTES], struct ws_insn *ret_insn)
{
	struct ws_insn insn = { .word = { load_le64(bytes), load_le64(bytes + 8) },
				.sm = (uint16_t)sm };
	uint16_t arch = wsi_isa_arch_bit(sm);
	unsigned op12 = insn.word[0] & 0xfff;

	for (unsigned i = wsi_isa_first[op12]; i < wsi_isa_first[op12 + 1]; i++) {
		const struct wsi_isa_row *row = &wsi_isa_rows[i];
		if (!(row->archs & arch) ||
		    !wsi_isa_conditions_hold(row->condition_at, row->n_conditions, insn.word))
			continue;
		const uint64_t *mask = wsi_isa_masks[row->mask];
		insn.known = true;
		insn.row = (uint16_t)i;
		insn.operation = row->operation;
		insn.flags = wsi_isa_ops[row->operation].flags;
		if (row->uniform_guard)
			insn.flags |= WS_SASS_UNIFORM_GUARD;
		const uint64_t *ones = wsi_isa_masks[row->ones];
		insn.unknown[0] = (insn.word[0] ^ ones[0]) & ~mask[0];
		insn.unknown[1] = (insn.word[1] ^ ones[1]) & ~(mask[1] | WSI_ISA_CONTROL_BITS);
		insn.guard = insn.word[0] >> 12 & 7;
		insn.guard_negated = insn.word[0] >> 15 & 1;
		break;
	}
	*ret_insn = insn;
}

const char *ws_sass_operation_name(unsigned operation)
{
	return operation < wsi_isa_n_ops ? wsi_isa_ops[operation].name : "?";
}

struct ws_sass_control ws_insn_control(const struct ws_insn *insn)
{
	uint64_t word = insn->word[1];
	return (struct ws_sass_control){
		.stall = word >> 41 & 15,
		.yield = word >> 45 & 1,
		.write_barrier = word >> 46 & 7,
		.read_barrier = word >> 49 & 7,
		.wait_mask = word >> 52 & 63,
		.reuse = word >> 58 & 15,
	};
}
