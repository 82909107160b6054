/* SPDX-License-Identifier: Apache-2.0 */
/* From 16 bytes to the row that explains them. */
#include "base/reader.h"
#include "sass/table.h"

/* Numbers in the list in isagen.py, from 1 on. sm_87 and sm_88 print as sm_86 does, sm_101 as
 * sm_100 [measured]. */
static const uint8_t arch_numbers[] = {
	[70] = 1, [72] = 2,  [75] = 3,  [80] = 4,  [86] = 5,   [87] = 5,   [88] = 5,   [89] = 6,
	[90] = 7, [100] = 8, [101] = 8, [103] = 9, [107] = 10, [110] = 11, [120] = 12, [121] = 13,
};

uint16_t wsi_isa_arch_bit(unsigned sm)
{
	unsigned number = sm < WSI_COUNT(arch_numbers) ? arch_numbers[sm] : 0;
	return (uint16_t)(1u << number >> 1);
}

bool ws_sass_supports(unsigned sm)
{
	return wsi_isa_arch_bit(sm) != 0;
}

uint64_t wsi_isa_field_parts(const uint64_t word[2], const struct wsi_isa_element *element)
{
	uint64_t value = 0;
	unsigned shift = 0;
	for (unsigned i = 0; i < WSI_ISA_SEGMENTS && element->len[i] != 0; i++) {
		value |= wsi_isa_bits(word, element->lo[i], element->len[i]) << shift;
		shift += element->len[i];
	}
	return value;
}

bool wsi_isa_conditions_hold(unsigned first, unsigned n, const uint64_t word[2])
{
	const struct wsi_isa_condition *c = &wsi_isa_conditions[first];
	for (unsigned i = 0; i < n; i++, c++) {
		uint64_t value = wsi_isa_bits(word, c->lo[0], c->len[0]);
		if (c->len[1] != 0)
			value |= wsi_isa_bits(word, c->lo[1], c->len[1]) << c->len[0];
		if (!wsi_isa_compare(c->op, value, c->value))
			return false;
	}
	return true;
}

static void explain_decode_failure(struct ws_insn *insn, unsigned row_number)
{
	const struct wsi_isa_row *row = &wsi_isa_rows[row_number];
	const uint64_t *mask = wsi_isa_masks[row->mask], *ones = wsi_isa_masks[row->ones];
	insn->known = true;
	insn->row = (uint16_t)row_number;
	insn->operation = row->operation;
	insn->flags = wsi_isa_flags(row);
	insn->unknown[0] = (insn->word[0] ^ ones[0]) & ~mask[0];
	insn->unknown[1] = (insn->word[1] ^ ones[1]) & ~(mask[1] | WSI_ISA_CONTROL_BITS);
	insn->guard = insn->word[0] >> 12 & 7;
	insn->guard_negated = insn->word[0] >> 15 & 1;
}

void ws_sass_decode(unsigned sm, const uint8_t bytes[WS_SASS_BYTES], struct ws_insn *ret_insn)
{
	const uint64_t word[2] = { wsi_load_u64(bytes), wsi_load_u64(bytes + 8) };
	uint16_t arch = wsi_isa_arch_bit(sm);
	unsigned op12 = word[0] & 0xfff;

	*ret_insn = (struct ws_insn){ .word = { word[0], word[1] }, .sm = (uint16_t)sm };
	if (sm < WSI_ISA_UNIFORM_SM && (word[1] >> (WSI_ISA_UNIFORM_BIT - 64) & 1))
		return;
	for (unsigned i = wsi_isa_first[op12]; i < wsi_isa_first[op12 + 1]; i++) {
		const struct wsi_isa_row *row = &wsi_isa_rows[i];
		if ((row->archs & arch) &&
		    wsi_isa_conditions_hold(row->condition_at, row->n_conditions, word)) {
			explain_decode_failure(ret_insn, i);
			return;
		}
	}
}

const char *ws_sass_operation_name(unsigned operation)
{
	return operation < wsi_isa_n_ops ? wsi_isa_ops[operation].name : "?";
}

enum ws_operation ws_sass_plain_operation(unsigned operation)
{
	return (enum ws_operation)(operation < wsi_isa_n_ops ? wsi_isa_ops[operation].plain
							     : operation);
}

enum ws_category ws_sass_category(unsigned operation)
{
	return operation < wsi_isa_n_ops ? (enum ws_category)wsi_isa_ops[operation].category
					 : WS_CATEGORY_SYSTEM;
}

const char *ws_sass_modifier_name(enum ws_modifier modifier)
{
	return (size_t)modifier < wsi_isa_n_modifiers
		       ? &wsi_isa_strings[wsi_isa_modifiers[modifier]]
		       : "";
}

enum ws_sass_space ws_sass_space(const struct ws_insn *insn)
{
	return insn->flags & WS_SASS_GLOBAL     ? WS_SASS_SPACE_GLOBAL
	       : insn->flags & WS_SASS_SHARED   ? WS_SASS_SPACE_SHARED
	       : insn->flags & WS_SASS_LOCAL    ? WS_SASS_SPACE_LOCAL
	       : insn->flags & WS_SASS_CONSTANT ? WS_SASS_SPACE_CONSTANT
	       : insn->flags & WS_SASS_GENERIC  ? WS_SASS_SPACE_GENERIC
						: WS_SASS_SPACE_NONE;
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
