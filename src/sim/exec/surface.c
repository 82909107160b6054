/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surfaces: bytes of texels at coordinates, where x counts bytes (.BA) or texels. Outside,
 * instructions fault (.TRAP), take the nearest place, or read zeros and write nothing (.IGN).
 * Formatted stores (.P) write one texel, and make numbers of its type [public doc: PTX, "sust"].
 */
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/exec/texture.h"

#include "alu/matrix.h"

enum { BY_BYTES = 1, TRAPS = 2, IGNORES = 4, BY_FORMAT = 8 }; /* wsi_op.type */

static unsigned n_coordinates(const struct wsi_op *op)
{
	return ws_sass_has(&op->insn, WS_MOD_1D)         ? 1
	       : ws_sass_has(&op->insn, WS_MOD_1D_ARRAY) ? 2
	       : ws_sass_has(&op->insn, WS_MOD_2D)       ? 2
	       : ws_sass_has(&op->insn, WS_MOD_2D_ARRAY) ? 3
	       : ws_sass_has(&op->insn, WS_MOD_3D)       ? 3
							 : 0;
}

static bool is_array(const struct wsi_op *op)
{
	return ws_sass_has(&op->insn, WS_MOD_1D_ARRAY) || ws_sass_has(&op->insn, WS_MOD_2D_ARRAY);
}

/* Bytes of an access without a format. */
static unsigned surface_bytes_of(const struct wsi_op *op, unsigned words)
{
	bool narrow = ws_sass_has(&op->insn, WS_MOD_U8) || ws_sass_has(&op->insn, WS_MOD_S8);
	bool half = ws_sass_has(&op->insn, WS_MOD_U16) || ws_sass_has(&op->insn, WS_MOD_S16);
	return narrow ? 1 : half ? 2 : 4 * words;
}

static bool can_reduce(const struct wsi_op *op)
{
	enum wsi_reduction reduction = wsi_reduction_of(&op->insn);
	enum wsi_sim_element element = wsi_element_of(&op->insn, op->bytes);
	bool sized = wsi_element_bytes(element) == op->bytes &&
		     !ws_sass_has(&op->insn, WS_MOD_SD32) && !ws_sass_has(&op->insn, WS_MOD_SD64);
	return sized && (reduction == WSI_REDUCE_EXCH || wsi_can_reduce(reduction, element));
}

void wsi_prepare_surface(struct wsi_op *op)
{
	enum ws_operation operation = op->insn.operation;
	const struct wsi_alu *alu = &op->alu;
	bool loads = operation == WS_OP_SULD, stores = operation == WS_OP_SUST;
	bool atomic = !loads && !stores, gives = loads || operation == WS_OP_SUATOM;
	unsigned n = n_coordinates(op), n_data = loads ? 0 : 1;
	bool ok = op->n_at == 1 && op->at[0].offset == 0 && op->at[0].ureg_words == 0 && n > 0 &&
		  alu->n_sources > n_data && alu->n_results == gives && alu->n_predicates == 0 &&
		  (ws_sass_has(&op->insn, WS_MOD_D) ||
		   (stores && ws_sass_has(&op->insn, WS_MOD_P))) &&
		  !ws_sass_has(&op->insn, WS_MOD_UAI) && !ws_sass_has(&op->insn, WS_MOD_CAS) &&
		  wsi_sim_take_handle(op, n_data);
	unsigned words = gives ? alu->result[0].words : alu->source[0].words;
	op->bytes = (uint8_t)surface_bytes_of(op, words);
	op->type = (uint8_t)((ws_sass_has(&op->insn, WS_MOD_BA) ? BY_BYTES : 0) |
			     (ws_sass_has(&op->insn, WS_MOD_TRAP) ? TRAPS : 0) |
			     (ws_sass_has(&op->insn, WS_MOD_IGN) ? IGNORES : 0) |
			     (ws_sass_has(&op->insn, WS_MOD_P) ? BY_FORMAT : 0));
	if (op->at[0].reg_words != 0 && op->at[0].reg + n > op->top)
		op->top = (uint16_t)(op->at[0].reg + n);
	ok &= words <= 4 && (!atomic || (alu->source[0].words == words && can_reduce(op)));
	if (!ok)
		op->run = wsi_run_unimplemented;
}

/* ---- places ---- */

static bool shape_fits(const struct wsi_op *op, const struct wsi_object *object)
{
	bool slices = object->of.image.shape >= WS_SIM_IMAGE_1D_LAYERED;
	return slices == is_array(op) && object->n_axes + slices == n_coordinates(op);
}

/* Bytes that a lane accesses. */
static unsigned width_of(const struct wsi_op *op, const struct wsi_object *object)
{
	return op->type & BY_FORMAT ? object->texel : op->bytes;
}

/* Where an access goes; `*ret_inside` is false when it goes nowhere. False: it fails. */
static bool find_access_place(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			      const struct wsi_object *object, uint64_t *ret_address,
			      bool *ret_inside)
{
	unsigned n = object->n_axes + is_array(op);
	struct wsi_texel place = { .slice = 0 };
	int64_t at[WSI_TEXTURE_AXES] = { 0 }, most[WSI_TEXTURE_AXES] = { 0 };
	bool inside = true;
	for (unsigned i = 0; i < n; i++) {
		at[i] = op->at[0].reg_words ? (int32_t)wsi_reg(run->warp, op->at[0].reg + i)[lane]
					    : 0;
		most[i] = (i < object->n_axes ? object->extent[i] : object->n_slices) - INT64_C(1);
	}
	at[0] *= op->type & BY_BYTES ? 1 : (int64_t)object->texel;
	most[0] = (most[0] + 1) * object->texel - width_of(op, object);
	for (unsigned i = 0; i < n; i++) {
		bool fits = at[i] >= 0 && at[i] <= most[i];
		inside &= fits && most[i] >= 0;
		at[i] = fits ? at[i] : at[i] < 0 || most[i] < 0 ? 0 : most[i];
	}
	*ret_inside = inside || (!(op->type & (TRAPS | IGNORES)) && most[0] >= 0);
	if (!inside && op->type & TRAPS) {
		wsi_fault(run, WS_SIM_TRAP, 1u << lane, "%u bytes outside of a surface",
			  width_of(op, object));
		return false;
	}
	for (unsigned i = 1; i < object->n_axes; i++)
		place.at[i] = at[i];
	place.slice = is_array(op) ? (uint32_t)at[object->n_axes] : 0;
	*ret_address = wsi_object_address(object, &place, (uint64_t)at[0]);
	return true;
}

/*
 * Finds the bytes of all lanes. `*ret_good`: those that access something; the others read zeros and
 * write nothing. False: the instruction does nothing, its fault is to surface.
 */
static bool find_all_spots(struct wsi_run *run, const struct wsi_op *op, bool write,
			   struct wsi_lane_spot spots[WSI_LANES], uint32_t *ret_good)
{
	uint32_t scratch[4 * WSI_LANES], bad = 0;
	const uint32_t *handles = wsi_sim_source(run, &op->alu.source[op->kind], scratch);
	*ret_good = 0;
	if (!handles)
		return false;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t address = 0;
		bool inside = false;
		const struct wsi_object *object = wsi_object_find(run, lane, handles[lane], true);
		bool ok = object != NULL;
		if (ok && !shape_fits(op, object)) {
			wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, 1u << lane,
				  "a surface of another shape than the instruction's");
			ok = false;
		}
		ok = ok && find_access_place(run, op, lane, object, &address, &inside) &&
		     (!inside || wsi_sim_spot(run, WS_SASS_SPACE_GLOBAL, lane, address,
					      width_of(op, object), write, &spots[lane]));
		if (ok && inside && !write && run->sim->check)
			wsi_check_fetched(run, lane, address, op->bytes);
		bad |= ok ? 0 : 1u << lane;
		*ret_good |= ok && inside ? 1u << lane : 0;
	}
	return !bad || wsi_object_postpone(run, bad);
}

/* ---- instructions ---- */

static uint32_t surface_word_at(const struct wsi_op *op, const uint8_t *from, unsigned k)
{
	if (op->bytes == 1)
		return WSI_HAS(op, S8) ? (uint32_t)(int8_t)from[0] : from[0];
	if (op->bytes == 2)
		return WSI_HAS(op, S16) ? (uint32_t)(int16_t)wsi_load_u16(from)
					: wsi_load_u16(from);
	return wsi_load_u32(from + 4 * k);
}

enum wsi_step wsi_run_surface_load(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_lane_spot spots[WSI_LANES];
	const struct wsi_alu_value *to = &op->alu.result[0];
	uint32_t good;
	if (!find_all_spots(run, op, false, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left && to->number != 255; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		for (unsigned k = 0; k < to->words; k++)
			wsi_reg(run->warp, to->number + k)[lane] =
				good >> lane & 1 ? surface_word_at(op, spots[lane].bytes, k) : 0;
	}
	return WSI_STEP_NEXT;
}

/* A component of a texel: integers are clamped, as Direct3D wants it of such stores [guess]. */
static void store_component(enum ws_sim_texel type, uint32_t value, uint8_t *to)
{
	int32_t number = (int32_t)value;
	float real;
	memcpy(&real, &value, sizeof real);
	switch (type) {
	case WS_SIM_TEXEL_U8:
		to[0] = value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
		break;
	case WS_SIM_TEXEL_S8:
		number = number < INT8_MIN ? INT8_MIN : number > INT8_MAX ? INT8_MAX : number;
		to[0] = (uint8_t)number;
		break;
	case WS_SIM_TEXEL_U16:
		wsi_store_u16(to, value < UINT16_MAX ? (uint16_t)value : UINT16_MAX);
		break;
	case WS_SIM_TEXEL_S16:
		number = number < INT16_MIN ? INT16_MIN : number > INT16_MAX ? INT16_MAX : number;
		wsi_store_u16(to, (uint16_t)number);
		break;
	case WS_SIM_TEXEL_F16:
		wsi_store_u16(to, (uint16_t)wsi_alu_matrix_half((double)real));
		break;
	case WS_SIM_TEXEL_U32:
	case WS_SIM_TEXEL_S32:
	case WS_SIM_TEXEL_F32:
		wsi_store_u32(to, value);
		break;
	}
}

/* Components that the texel does not have are ignored; those that are not given stay what they
 * are. */
static void store_texels(struct wsi_run *run, const struct wsi_op *op, const uint32_t *from,
			 uint32_t lanes, const struct wsi_lane_spot spots[WSI_LANES])
{
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *handles = wsi_sim_source(run, &op->alu.source[op->kind], scratch);
	for (uint32_t left = lanes; left && handles; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		const struct wsi_object *object = wsi_object_find(run, lane, handles[lane], true);
		unsigned n = object ? object->of.image.n_components : 0;
		for (unsigned k = 0; k < n && k < op->alu.source[0].words; k++)
			store_component(object->of.image.texel, from[k * WSI_LANES + lane],
					spots[lane].bytes + (size_t)k * object->component);
	}
}

enum wsi_step wsi_run_surface_store(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES], good;
	struct wsi_lane_spot spots[WSI_LANES];
	const uint32_t *from = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!from || !find_all_spots(run, op, true, spots, &good))
		return WSI_STEP_FAULT;
	if (op->type & BY_FORMAT)
		store_texels(run, op, from, good, spots);
	for (uint32_t left = op->type & BY_FORMAT ? 0 : good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint8_t bytes[16];
		for (unsigned k = 0; k < op->alu.source[0].words; k++)
			wsi_store_u32(bytes + 4 * k, from[k * WSI_LANES + lane]);
		memcpy(spots[lane].bytes, bytes, op->bytes);
	}
	return WSI_STEP_NEXT;
}

static uint64_t load_value(const struct wsi_op *op, const uint8_t *from)
{
	return op->bytes == 8 ? wsi_load_u64(from) : wsi_load_u32(from);
}

enum wsi_step wsi_run_surface_atomic(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES], good;
	struct wsi_lane_spot spots[WSI_LANES];
	enum wsi_reduction reduction = wsi_reduction_of(&op->insn);
	enum wsi_sim_element element = wsi_element_of(&op->insn, op->bytes);
	unsigned words = op->bytes / 4;
	const uint32_t *from = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!from || !find_all_spots(run, op, true, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t value = from[lane], old = 0;
		if (words == 2)
			value |= (uint64_t)from[WSI_LANES + lane] << 32;
		if (good >> lane & 1) {
			old = load_value(op, spots[lane].bytes);
			uint64_t now = wsi_reduce(reduction, element, old, value);
			if (words == 2)
				wsi_store_u64(spots[lane].bytes, now);
			else
				wsi_store_u32(spots[lane].bytes, (uint32_t)now);
		}
		if (op->alu.n_results == 0 || op->alu.result[0].number == 255)
			continue;
		for (unsigned k = 0; k < words; k++)
			wsi_reg(run->warp, op->alu.result[0].number + k)[lane] =
				(uint32_t)(old >> 32 * k);
	}
	return WSI_STEP_NEXT;
}
