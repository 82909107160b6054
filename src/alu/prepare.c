/* SPDX-License-Identifier: Apache-2.0 */
/* From an instruction to a function with its parameters. */
#include "alu/lane.h"
#include "alu/soft.h"

bool wsi_alu_have(const struct wsi_alu_build *b, enum ws_modifier modifier)
{
	for (size_t i = 0; i < b->n_mods; i++)
		if (b->mods[i] == modifier)
			return true;
	return false;
}

uint8_t wsi_alu_rounding(const struct wsi_alu_build *b)
{
	static const struct {
		enum ws_modifier modifier;
		enum wsi_rounding rounding;
	} names[] = { { WS_MOD_RM, WSI_RM },    { WS_MOD_RP, WSI_RP },   { WS_MOD_RZ, WSI_RZ },
		      { WS_MOD_FLOOR, WSI_RM }, { WS_MOD_CEIL, WSI_RP }, { WS_MOD_TRUNC, WSI_RZ } };
	for (size_t i = 0; i < WSI_COUNT(names); i++)
		if (wsi_alu_have(b, names[i].modifier))
			return (uint8_t)names[i].rounding;
	return WSI_RN;
}

bool wsi_alu_shape(const struct wsi_alu_build *b, unsigned n_sources, unsigned n_predicates)
{
	return b->alu->n_sources == n_sources && b->alu->n_predicates == n_predicates;
}

bool wsi_alu_widen(struct wsi_alu_build *b, unsigned i)
{
	struct wsi_alu_value *source = &b->alu->source[i];
	bool is_register = source->place == WSI_ALU_REG || source->place == WSI_ALU_UREG;
	if (is_register && source->words != 2 && source->number != 255)
		return false;
	if (source->place == WSI_ALU_NUMBER && b->is_float[i])
		source->value <<= 32;
	source->words = 2;
	return true;
}

bool wsi_alu_take_number(struct wsi_alu_build *b, uint64_t *ret_number)
{
	struct wsi_alu *alu = b->alu;
	if (alu->n_sources == 0 || alu->source[alu->n_sources - 1].place != WSI_ALU_NUMBER)
		return false;
	*ret_number = alu->source[--alu->n_sources].value;
	return true;
}

bool wsi_alu_drops_predicates(const struct wsi_alu *alu)
{
	for (unsigned i = 0; i < alu->n_predicate_results; i++)
		if (alu->predicate_result[i].number != 7)
			return false;
	return true;
}

/* ---- operands ---- */

static bool add_predicate(struct wsi_alu_predicate *list, uint8_t *n, const struct ws_operand *op)
{
	for (unsigned i = 0; i < op->count; i++) {
		if (*n == WSI_ALU_PREDICATES)
			return false;
		list[(*n)++] = (struct wsi_alu_predicate){
			.is_uniform = op->kind == WS_OPERAND_UPRED,
			.number = (uint8_t)(op->number + i),
		};
	}
	return true;
}

bool wsi_alu_add_result(struct wsi_alu *alu, const struct ws_operand *op)
{
	if (ws_operand_is_predicate(op->kind))
		return add_predicate(alu->predicate_result, &alu->n_predicate_results, op);
	if (alu->n_results == WSI_ALU_RESULTS || op->count == 0 ||
	    !ws_operand_is_register(op->kind))
		return false;
	alu->result[alu->n_results++] = (struct wsi_alu_value){
		.place = op->kind == WS_OPERAND_REG ? WSI_ALU_REG : WSI_ALU_UREG,
		.number = (uint8_t)op->number,
		.words = op->count,
	};
	return true;
}

bool wsi_alu_add_condition(struct wsi_alu *alu, const struct ws_operand *op)
{
	if (op->negated && alu->n_predicates < WSI_ALU_PREDICATES)
		alu->predicate_flip[alu->n_predicates] = UINT32_MAX;
	return add_predicate(alu->predicate, &alu->n_predicates, op);
}

static bool add_alu_source(struct wsi_alu_build *b, const struct ws_operand *op)
{
	struct wsi_alu *alu = b->alu;
	if (ws_operand_is_predicate(op->kind))
		return wsi_alu_add_condition(alu, op);
	unsigned i = alu->n_sources;
	if (i == WSI_ALU_SOURCES || op->count == 0)
		return false;
	struct wsi_alu_value value = { .number = (uint8_t)op->number, .words = op->count };
	bool is_register = ws_operand_is_register(op->kind);
	if (op->role == WS_ROLE_BANK) {
		value.place = is_register ? WSI_ALU_BINDLESS : WSI_ALU_CONSTANT;
		if (!is_register)
			value.number = (uint8_t)op->value;
		value.words = 1;
	} else if (is_register) {
		value.place = op->kind == WS_OPERAND_REG ? WSI_ALU_REG : WSI_ALU_UREG;
	} else if (op->kind == WS_OPERAND_IMMEDIATE || op->kind == WS_OPERAND_FLOAT) {
		value.place = WSI_ALU_NUMBER;
		value.value = (uint64_t)op->value;
		b->is_float[i] = op->kind == WS_OPERAND_FLOAT;
	} else {
		return false;
	}
	memcpy(b->suffix[i], op->suffix, sizeof b->suffix[i]);
	b->negated[i] = op->negated;
	b->absolute[i] = op->absolute;
	alu->keep[i] = UINT32_MAX;
	alu->source[alu->n_sources++] = value;
	return true;
}

static bool add_input(struct wsi_alu_build *b, const struct ws_operand *op)
{
	switch (op->role) {
	case WS_ROLE_WRITTEN:
		return wsi_alu_add_result(b->alu, op);
	case WS_ROLE_UPDATED:
		return wsi_alu_add_result(b->alu, op) && add_alu_source(b, op);
	case WS_ROLE_READ:
		return op->kind == WS_OPERAND_SPECIAL || add_alu_source(b, op);
	case WS_ROLE_BANK:
		return add_alu_source(b, op);
	case WS_ROLE_OFFSET: /* of the bank before it */
		if (b->alu->n_sources == 0)
			return false;
		b->alu->source[b->alu->n_sources - 1].value = (uint64_t)op->value;
		memcpy(b->suffix[b->alu->n_sources - 1], op->suffix, sizeof op->suffix);
		return true;
	case WS_ROLE_ADDRESS_BASE:
	case WS_ROLE_DESCRIPTOR:
	case WS_ROLE_TARGET:
		break;
	}
	return false;
}

static bool take_alu_operands(struct wsi_alu_build *b)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(b->insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (!add_input(b, &ops[i]))
			return false;
	return true;
}

/* ---- operations ---- */

static wsi_alu_preparer *const preparers[] = {
	[WS_OP_BMSK] = wsi_alu_prepare_mask,
	[WS_OP_BREV] = wsi_alu_prepare_count,
	[WS_OP_HMMA] = wsi_alu_prepare_float_matrix,
	[WS_OP_QMMA] = wsi_alu_prepare_float_matrix,
	[WS_OP_OMMA] = wsi_alu_prepare_float_matrix,
	[WS_OP_IMMA] = wsi_alu_prepare_integer_matrix,
	[WS_OP_BMMA] = wsi_alu_prepare_integer_matrix,
	[WS_OP_DMMA] = wsi_alu_prepare_double_matrix,
	[WS_OP_MOVM] = wsi_alu_prepare_transpose,
	[WS_OP_F2F] = wsi_alu_prepare_f2f,
	[WS_OP_F2FP] = wsi_alu_prepare_f2fp,
	[WS_OP_F2I] = wsi_alu_prepare_f2i,
	[WS_OP_F2IP] = wsi_alu_prepare_i2ip,
	[WS_OP_FCHK] = wsi_alu_prepare_fchk,
	[WS_OP_FRND] = wsi_alu_prepare_frnd,
	[WS_OP_HADD2] = wsi_alu_prepare_half,
	[WS_OP_HFMA2] = wsi_alu_prepare_half,
	[WS_OP_HMUL2] = wsi_alu_prepare_half,
	[WS_OP_HMNMX2] = wsi_alu_prepare_half_minmax,
	[WS_OP_VHMNMX] = wsi_alu_prepare_half_minmax,
	[WS_OP_HSET2] = wsi_alu_prepare_half_compare,
	[WS_OP_HSETP2] = wsi_alu_prepare_half_compare,
	[WS_OP_I2F] = wsi_alu_prepare_i2f,
	[WS_OP_I2FP] = wsi_alu_prepare_i2f,
	[WS_OP_I2I] = wsi_alu_prepare_i2i,
	[WS_OP_I2IP] = wsi_alu_prepare_i2ip,
	[WS_OP_MUFU] = wsi_alu_prepare_mufu,
	[WS_OP_DADD] = wsi_alu_prepare_double,
	[WS_OP_DFMA] = wsi_alu_prepare_double,
	[WS_OP_DMUL] = wsi_alu_prepare_double,
	[WS_OP_DSETP] = wsi_alu_prepare_dsetp,
	[WS_OP_FADD] = wsi_alu_prepare_float,
	[WS_OP_FADD2] = wsi_alu_prepare_float_pairs,
	[WS_OP_FHADD] = wsi_alu_prepare_mixed,
	[WS_OP_FHFMA] = wsi_alu_prepare_mixed,
	[WS_OP_FSWZADD] = wsi_alu_prepare_quad_add,
	[WS_OP_FFMA] = wsi_alu_prepare_float,
	[WS_OP_FFMA2] = wsi_alu_prepare_float_pairs,
	[WS_OP_FMNMX] = wsi_alu_prepare_fminmax,
	[WS_OP_FMNMX3] = wsi_alu_prepare_fminmax,
	[WS_OP_FMUL] = wsi_alu_prepare_float,
	[WS_OP_FMUL2] = wsi_alu_prepare_float_pairs,
	[WS_OP_FSEL] = wsi_alu_prepare_fsel,
	[WS_OP_FSET] = wsi_alu_prepare_fsetp,
	[WS_OP_FSETP] = wsi_alu_prepare_fsetp,
	[WS_OP_FLO] = wsi_alu_prepare_count,
	[WS_OP_IABS] = wsi_alu_prepare_iabs,
	[WS_OP_IADD] = wsi_alu_prepare_add,
	[WS_OP_IADD3] = wsi_alu_prepare_add,
	[WS_OP_IMAD] = wsi_alu_prepare_mad,
	[WS_OP_IMNMX] = wsi_alu_prepare_minmax,
	[WS_OP_ISETP] = wsi_alu_prepare_isetp,
	[WS_OP_VISET] = wsi_alu_prepare_viset,
	[WS_OP_LEA] = wsi_alu_prepare_lea,
	[WS_OP_LOP3] = wsi_alu_prepare_logic,
	[WS_OP_MOV] = wsi_alu_prepare_move,
	[WS_OP_MOV64IUR] = wsi_alu_prepare_move,
	[WS_OP_P2R] = wsi_alu_prepare_p2r,
	[WS_OP_PLOP3] = wsi_alu_prepare_plop3,
	[WS_OP_POPC] = wsi_alu_prepare_count,
	[WS_OP_PRMT] = wsi_alu_prepare_permute,
	[WS_OP_R2P] = wsi_alu_prepare_r2p,
	[WS_OP_SEL] = wsi_alu_prepare_select,
	[WS_OP_SGXT] = wsi_alu_prepare_extend,
	[WS_OP_SHF] = wsi_alu_prepare_shift,
	[WS_OP_UP2UR] = wsi_alu_prepare_p2r,
	[WS_OP_UR2UP] = wsi_alu_prepare_r2p,
	[WS_OP_VIADD] = wsi_alu_prepare_lane_add,
	[WS_OP_VIMNMX] = wsi_alu_prepare_part_minmax,
	[WS_OP_VIMNMX3] = wsi_alu_prepare_part_minmax,
	[WS_OP_VIADDMNMX] = wsi_alu_prepare_part_minmax,
	[WS_OP_IDP] = wsi_alu_prepare_dot,
	[WS_OP_VABSDIFF] = wsi_alu_prepare_absdiff,
	[WS_OP_VABSDIFF4] = wsi_alu_prepare_absdiff,
};

/* Matrix instructions that read memory, or wait for those that do. */
static bool is_of_memory(enum ws_operation operation)
{
	static const enum ws_operation list[] = {
		WS_OP_BGMMA,   WS_OP_HGMMA,   WS_OP_IGMMA,   WS_OP_QGMMA,     WS_OP_UTCHMMA,
		WS_OP_UTCIMMA, WS_OP_UTCOMMA, WS_OP_UTCQMMA, WS_OP_WARPGROUP, WS_OP_WARPGROUPSET,
	};
	for (size_t i = 0; i < WSI_COUNT(list); i++)
		if (operation == list[i])
			return true;
	return false;
}

/* Operations of values by their category, though no preparer knows them. */
static bool is_of_values(enum ws_operation operation)
{
	switch (ws_sass_category(operation)) {
	case WS_CATEGORY_FLOAT:
	case WS_CATEGORY_INTEGER:
	case WS_CATEGORY_CONVERT:
	case WS_CATEGORY_PREDICATE:
		return true;
	case WS_CATEGORY_MATRIX:
		return !is_of_memory(operation);
	case WS_CATEGORY_MOVE:
		return operation != WS_OP_R2UR; /* from one lane to all */
	case WS_CATEGORY_MEMORY:
	case WS_CATEGORY_TEXTURE:
	case WS_CATEGORY_SURFACE:
	case WS_CATEGORY_TENSOR_MAP:
	case WS_CATEGORY_BULK:
	case WS_CATEGORY_TENSOR_MEMORY:
	case WS_CATEGORY_BARRIER:
	case WS_CATEGORY_CACHE:
	case WS_CATEGORY_WARP:
	case WS_CATEGORY_CONTROL:
	case WS_CATEGORY_CONVERGENCE:
	case WS_CATEGORY_SYSTEM:
	case WS_CATEGORY_GRAPHICS:
		break;
	}
	return false;
}

enum wsi_alu_status wsi_alu_prepare(const struct ws_insn *insn, struct wsi_alu *ret_alu)
{
	*ret_alu = (struct wsi_alu){ .run = NULL };
	if (!insn->known || !is_of_values((enum ws_operation)insn->operation))
		return WSI_ALU_ELSEWHERE;
	struct wsi_alu_build b = {
		.insn = insn,
		.alu = ret_alu,
		.op = ws_sass_plain_operation(insn->operation),
	};
	b.n_mods = ws_sass_modifiers(insn, b.mods, WSI_COUNT(b.mods));
	wsi_alu_preparer *preparer = b.op < WSI_COUNT(preparers) ? preparers[b.op] : NULL;
	bool known = preparer && !insn->unknown[0] && !insn->unknown[1] &&
		     !wsi_alu_have(&b, WS_MOD_UNKNOWN) && take_alu_operands(&b) && preparer(&b);
	return known ? WSI_ALU_OK : WSI_ALU_MISSING;
}
