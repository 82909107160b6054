/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operands show of a known instruction that the hardware refused: a mask of lanes without
 * the lane that waits with it, a descriptor of matrices that asks for what the instruction does not
 * have.
 *
 * That WARPSYNC refuses such a mask: [public: an exception of kind 4 there, cured by a mask with
 * all callers, in reports to ArrayFire (3576), CUDA.jl (287) and RAFT (2411)].
 */
#include "explain/explain.h"

#include "objects/product.h"

/* Places in the text of a product into tensor memory. */
enum { PLACE_A, PLACE_B, PLACE_DESCRIPTOR = 4 };

enum ws_confidence wsi_trust(const struct wsi_scene *scene, uint64_t pc, enum ws_operand_kind kind,
			     unsigned number, unsigned count)
{
	struct ws_flow_written written;
	if (!scene->code.flow || scene->e->pc_status != WS_OK ||
	    ws_flow_written(scene->code.flow, pc, scene->e->pc, &written, NULL) != WS_OK ||
	    written.unknown_direct ||
	    !ws_flow_registers_spare(&written.direct, kind, number, count))
		return WS_CONFIDENCE_POSSIBLE;
	return WS_CONFIDENCE_CERTAIN;
}

/* ---- a mask of lanes ---- */

/* The mask that a lane gives: a number, a register, or a word of constant bank 0. */
static bool mask_read(const struct wsi_scene *scene, const struct ws_operand *op, uint32_t lane,
		      uint64_t *ret_mask)
{
	if (op->role == WS_ROLE_OFFSET)
		return wsi_scene_memory(scene, lane, WS_SPACE_CONST, 0, (uint64_t)op->value, 4,
					ret_mask) == WS_OK;
	*ret_mask = (uint64_t)op->value;
	return op->kind == WS_OPERAND_IMMEDIATE ||
	       wsi_scene_register(scene, lane, op->kind, op->number, 1, ret_mask) == WS_OK;
}

/* Lanes that are not in the mask that they give; false: it is not known of all of them. */
static bool lacking(const struct wsi_scene *scene, const struct ws_operand *op, uint32_t *ret_lanes)
{
	uint32_t lanes = scene->e->lanes_active & scene->lanes;
	*ret_lanes = 0;
	for (uint32_t left = lanes; left; left &= left - 1) {
		uint32_t lane = wsi_first_bit(left);
		uint64_t mask;
		if (!mask_read(scene, op, lane, &mask))
			return false;
		*ret_lanes |= mask >> lane & 1 ? 0 : 1u << lane;
	}
	return lanes != 0;
}

const struct ws_operand *wsi_explain_mask(const struct ws_operand *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].role == WS_ROLE_BANK)
			return i + 1 < n && ops[i].value == 0 &&
					       ops[i].kind == WS_OPERAND_IMMEDIATE &&
					       ops[i + 1].role == WS_ROLE_OFFSET
				       ? &ops[i + 1]
				       : NULL;
		if (ops[i].role == WS_ROLE_READ &&
		    (ops[i].kind == WS_OPERAND_IMMEDIATE || ops[i].kind == WS_OPERAND_REG ||
		     ops[i].kind == WS_OPERAND_UREG))
			return &ops[i];
	}
	return NULL;
}

static enum ws_status find_mask(struct wsi_scene *scene, const struct ws_insn *insn,
				const struct ws_operand *ops, size_t n)
{
	const struct ws_operand *mask = wsi_explain_mask(ops, n);
	const char *text = wsi_code_text(scene->build, insn, scene->e->errorpc);
	enum ws_confidence sure = WS_CONFIDENCE_CERTAIN;
	char others[60] = "";
	uint32_t lanes;
	if (!text)
		return WS_NO_MEMORY;
	if (!mask || !lacking(scene, mask, &lanes) || !lanes)
		return WS_OK;
	if (mask->kind == WS_OPERAND_REG || mask->kind == WS_OPERAND_UREG)
		sure = wsi_trust(scene, scene->e->errorpc, mask->kind, mask->number, 1);
	if (lanes & (lanes - 1))
		wsi_format(others, ", and so do %u more lanes", wsi_count_bits(lanes) - 1);
	wsi_fact(scene, WSI_FACT_MASK_LACKS,
		 wsi_found(scene, sure, "the code at errorpc, and its operand",
			   "lane %u waits at `%s` with a mask that does not have it%s",
			   wsi_first_bit(lanes), text, others));
	return WS_OK;
}

/* ---- descriptors of matrices ---- */

/* The uniform registers at a place of the text; NULL: none are. */
static const struct ws_operand *uniform_at(const struct ws_operand *ops, size_t n, unsigned place)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].place == place && ops[i].kind == WS_OPERAND_UREG &&
		    ops[i].role != WS_ROLE_ADDRESS_BASE && ops[i].number != 255)
			return &ops[i];
	return NULL;
}

static bool uniform_read(const struct wsi_scene *scene, unsigned number, unsigned count,
			 uint64_t *ret_value)
{
	return wsi_scene_register(scene, wsi_scene_lane(scene), WS_OPERAND_UREG, number, count,
				  ret_value) == WS_OK;
}

static const char *type_text(enum ws_modifier type)
{
	return type == WS_MOD_NONE ? "none" : ws_sass_modifier_name(type);
}

static void find_product(struct wsi_scene *scene, const struct ws_insn *insn,
			 const struct ws_operand *ops, size_t n)
{
	const struct ws_operand *op = uniform_at(ops, n, PLACE_DESCRIPTOR);
	struct wsi_product p;
	uint64_t bits;
	if (!op || !uniform_read(scene, op->number, 1, &bits))
		return;
	const unsigned reg = op->number;
	const char *wrong = wsi_product_decode((enum ws_operation)insn->operation,
					       ws_sass_has(insn, WS_MOD_2CTA),
					       ws_sass_has(insn, WS_MOD_WS), (uint32_t)bits, &p);
	if (wrong)
		wsi_fact(scene, WSI_FACT_DESCRIPTOR_WRONG,
			 wsi_found(scene,
				   wsi_trust(scene, scene->e->errorpc, WS_OPERAND_UREG, reg, 1),
				   "the code at errorpc, and the uniform registers",
				   "the instruction descriptor in UR%u, 0x%08" PRIx32
				   ", has a value that the instruction does not take (%s): M %u, N "
				   "%u, A "
				   "%s, B %s",
				   reg, (uint32_t)bits, wrong, p.m, p.n, type_text(p.type_a),
				   type_text(p.type_b)));
}

/* Matrices in shared memory: of wgmma one or two descriptors, one behind the other. */
static void find_matrices(struct wsi_scene *scene, const struct ws_operand *op, bool tensor)
{
	const unsigned most = tensor ? 2 : 4;
	const unsigned count = op ? op->count && op->count < most ? op->count : most : 0;
	uint64_t descriptor;
	for (unsigned i = 0; i + 2 <= count; i += 2) {
		const unsigned reg = op->number + i;
		if (!uniform_read(scene, reg, 2, &descriptor))
			return;
		uint64_t odd = wsi_objects_matrix_odd_bits(descriptor, tensor);
		if (odd)
			wsi_fact(
				scene, WSI_FACT_DESCRIPTOR_WRONG,
				wsi_found(
					scene,
					wsi_trust(scene, scene->e->errorpc, WS_OPERAND_UREG, reg,
						  2),
					"the code at errorpc, and the uniform registers",
					"the matrix descriptor in UR%u, 0x%016" PRIx64
					", has bits that are not as in a descriptor: 0x%016" PRIx64,
					reg, descriptor, odd));
	}
}

enum ws_status wsi_find_operands(struct wsi_scene *scene, const struct ws_insn *insn,
				 const struct ws_operand *ops, size_t n)
{
	if (!ws_insn_explained(insn) || wsi_values_are_replaced(scene->build) ||
	    wsi_scene_lane(scene) == WS_NONE)
		return WS_OK;
	switch (insn->operation) {
	case WS_OP_WARPSYNC:
		return find_mask(scene, insn, ops, n);
	case WS_OP_UTCHMMA:
	case WS_OP_UTCIMMA:
	case WS_OP_UTCQMMA:
	case WS_OP_UTCOMMA:
		find_product(scene, insn, ops, n);
		find_matrices(scene, uniform_at(ops, n, PLACE_A), true);
		find_matrices(scene, uniform_at(ops, n, PLACE_B), true);
		return WS_OK;
	case WS_OP_HGMMA:
	case WS_OP_IGMMA:
	case WS_OP_QGMMA:
	case WS_OP_BGMMA:
		for (size_t i = 0; i < n; i++)
			if (ops[i].role == WS_ROLE_DESCRIPTOR)
				find_matrices(scene, &ops[i], false);
		return WS_OK;
	default:
		return WS_OK;
	}
}
