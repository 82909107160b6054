/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that read textures: TEX and TXD by coordinates, TLD by whole numbers, TLD4 the four
 * texels around a place, TXQ the size. There are no levels: what chooses one is not looked at.
 *
 * The registers at bits 24 and 32 are one list, wherever it is cut: layer, coordinates, handle if
 * it is in a register, level, offsets. TXD begins with the handle and has the layer behind the
 * coordinates. The first two components that the mask selects go to the register at bit 16, the
 * others to that at bit 64. [measured: nvcc 13.0, sm_75 to sm_120a]
 *
 * Coordinates and filters follow the CUDA programming guide, "Texture Fetching": a linear filter
 * weighs with fractions of 8 bits, here the nearest one; the sum is rounded once.
 */
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/exec/texture.h"

#include "alu/bits.h"

enum { FRACTION = 256, LAST_LAYER = 0xffff, BORDER = -1 };

/* What an instruction does with the handle that it has. */
enum { IN_REGISTERS = 255 }; /* wsi_op.kind */

/* The dimension that the text shows: bits 61 to 63. */
enum dim { D1, D2, D3, CUBE, ARRAY_1D, ARRAY_2D, NO_DIM, ARRAY_CUBE };

static enum dim dim_of(const struct wsi_op *op)
{
	return (enum dim)(op->insn.word[0] >> 61);
}

/* Components that are asked for. */
static unsigned mask_of(const struct wsi_op *op)
{
	return op->insn.word[1] >> 8 & 15;
}

/* ---- decoding ---- */

static bool has_only_known_modifiers(const struct ws_insn *insn)
{
	static const uint16_t known[] = { WS_MOD_SCR, WS_MOD_B,   WS_MOD_R,     WS_MOD_G,
					  WS_MOD_A,   WS_MOD_LL,  WS_MOD_LZ,    WS_MOD_LB,
					  WS_MOD_CL,  WS_MOD_NDV, WS_MOD_AOFFI, WS_MOD_NODEP,
					  WS_MOD_EF,  WS_MOD_EL,  WS_MOD_LU,    WS_MOD_EU,
					  WS_MOD_NA };
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods)), found = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < WSI_COUNT(known); k++)
			found += mods[i] == known[k];
	return found == n;
}

static unsigned n_coordinates(enum dim dim)
{
	static const uint8_t n[] = { 1, 2, 3, 3, 1, 2, 0, 3 };
	return n[dim];
}

static bool is_layered(enum dim dim)
{
	return dim >= ARRAY_1D;
}

/* Registers in the list. */
static unsigned n_listed(const struct wsi_op *op)
{
	unsigned n = 0;
	for (unsigned i = 0; i < op->alu.n_sources && op->alu.source[i].place == WSI_ALU_REG; i++)
		n += op->alu.source[i].words;
	return n;
}

void wsi_prepare_texture(struct wsi_op *op)
{
	enum ws_operation operation = op->insn.operation;
	const struct wsi_alu *alu = &op->alu;
	enum dim dim = dim_of(op);
	unsigned n_first = 0,
		 n_wanted = mask_of(op) ? (unsigned)__builtin_popcount(mask_of(op)) : 0;
	bool offsets = ws_sass_has(&op->insn, WS_MOD_AOFFI);
	while (n_first < alu->n_sources && alu->source[n_first].place == WSI_ALU_REG)
		n_first++;
	bool ok = has_only_known_modifiers(&op->insn) && n_first > 0 && n_wanted > 0 &&
		  alu->n_results == 2 && alu->n_predicates == 0 && op->n_at == 0 &&
		  alu->result[1].words == (n_wanted > 2 ? 2 : n_wanted) &&
		  alu->result[0].words == (n_wanted > 3 ? 2 : 1);
	if (!wsi_sim_take_handle(op, n_first))
		op->kind = IN_REGISTERS;
	unsigned n = op->kind == IN_REGISTERS;
	if (operation == WS_OP_TXQ)
		ok &= op->insn.word[0] >> 62 == 0; /* TEX_HEADER_DIMENSION */
	else
		ok &= dim != NO_DIM, n += n_coordinates(dim) + is_layered(dim) + offsets;
	if (operation == WS_OP_TXD)
		ok &= !offsets;
	if (!ok || n_listed(op) < n)
		op->run = wsi_run_unimplemented;
}

/* ---- operands ---- */

/* Register `i` of the list. */
static uint32_t listed_register(const struct wsi_run *run, const struct wsi_op *op, unsigned i,
				unsigned lane)
{
	const struct wsi_alu_value *value = op->alu.source;
	for (; i >= value->words; value++)
		i -= value->words;
	return value->number == 255 ? 0 : wsi_reg(run->warp, value->number + i)[lane];
}

/* What one lane asks for. */
struct sample_query {
	const struct wsi_object *object;
	uint32_t coordinate[WSI_TEXTURE_AXES], layer, offsets;
	int face; /* of a cube, else 0 */
};

/* The handle of a lane. */
static const struct wsi_object *texture_of(struct wsi_run *run, const struct wsi_op *op,
					   unsigned lane, unsigned place)
{
	uint32_t scratch[4 * WSI_ALU_LANES];
	if (op->kind == IN_REGISTERS)
		return wsi_object_find(run, lane, listed_register(run, op, place, lane), false);
	const uint32_t *handle = wsi_sim_source(run, &op->alu.source[op->kind], scratch);
	return handle ? wsi_object_find(run, lane, handle[lane], false) : NULL;
}

static bool shape_fits(const struct wsi_object *object, enum dim dim)
{
	switch (object->of.image.shape) {
	case WS_SIM_IMAGE_1D: /* nvcc reads them with 2D and y = 0 */
		return dim == D1 || dim == D2;
	case WS_SIM_IMAGE_2D:
		return dim == D2;
	case WS_SIM_IMAGE_3D:
		return dim == D3;
	case WS_SIM_IMAGE_1D_LAYERED:
		return dim == ARRAY_1D;
	case WS_SIM_IMAGE_2D_LAYERED:
		return dim == ARRAY_2D;
	case WS_SIM_IMAGE_CUBE:
		return dim == CUBE;
	case WS_SIM_IMAGE_CUBE_LAYERED:
		return dim == ARRAY_CUBE;
	}
	return false;
}

/* Face of a cube and the place there, from 0 to 1, for a direction whose largest coordinate is 1 or
 * -1. [CUDA programming guide, "Cubemap Textures"] */
static void find_face(struct sample_query *q)
{
	static const struct {
		uint8_t s, t; /* axes */
		bool minus_s, minus_t;
	} faces[] = {
		{ 2, 1, true, true },  { 2, 1, false, true }, { 0, 2, false, false },
		{ 0, 2, false, true }, { 0, 1, false, true }, { 0, 1, true, true },
	};
	float at[WSI_TEXTURE_AXES], most = 0;
	unsigned axis = 0;
	for (unsigned i = 0; i < WSI_TEXTURE_AXES; i++) {
		at[i] = wsi_float(q->coordinate[i]);
		float size = at[i] < 0 ? -at[i] : at[i];
		axis = size > most ? i : axis;
		most = size > most ? size : most;
	}
	q->face = (int)(2 * axis + (at[axis] < 0));
	float s = at[faces[q->face].s], t = at[faces[q->face].t];
	q->coordinate[0] = wsi_bits(((faces[q->face].minus_s ? -s : s) + 1) / 2);
	q->coordinate[1] = wsi_bits(((faces[q->face].minus_t ? -t : t) + 1) / 2);
}

static bool take_query(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
		       struct sample_query *ret)
{
	enum dim dim = dim_of(op);
	bool gradient = op->insn.operation == WS_OP_TXD, layered = is_layered(dim);
	unsigned n = n_coordinates(dim), handle = gradient ? 0 : n + layered;
	unsigned first = gradient ? op->kind == IN_REGISTERS : layered;
	struct sample_query q = { .object = texture_of(run, op, lane, handle) };
	if (!q.object)
		return false;
	if (!shape_fits(q.object, dim)) {
		wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, 1u << lane,
			  "a texture of another shape than the instruction's");
		return false;
	}
	for (unsigned i = 0; i < n; i++)
		q.coordinate[i] = listed_register(run, op, first + i, lane);
	if (layered)
		q.layer = listed_register(run, op, gradient ? first + n : 0, lane) & LAST_LAYER;
	if (ws_sass_has(&op->insn, WS_MOD_AOFFI))
		q.offsets = listed_register(run, op, n_listed(op) - 1, lane);
	if (dim == CUBE || dim == ARRAY_CUBE)
		find_face(&q);
	*ret = q;
	return true;
}

/* Offset in texels along an axis: 4 bits with a sign for each, of TLD4 6 bits in a byte. */
static int offset_of(const struct sample_query *q, unsigned axis, bool gathers)
{
	unsigned width = gathers ? 6 : 4, shift = axis * (gathers ? 8 : 4);
	int value = (int)(q->offsets >> shift & ((1u << width) - 1));
	return value >> (width - 1) ? value - (1 << width) : value;
}

/* ---- texels ---- */

/* Components as they come to registers. */
struct color {
	uint32_t word[WSI_COMPONENTS];
};

static uint32_t component_of(const struct wsi_object *object, const uint8_t *from)
{
	const struct ws_sim_texture *t = &object->of;
	float most = object->component == 1 ? 127 : 32767;
	uint32_t raw = object->component == 1   ? from[0]
		       : object->component == 2 ? wsi_load_u16(from)
						: wsi_load_u32(from);
	switch (t->image.texel) {
	case WS_SIM_TEXEL_U8:
	case WS_SIM_TEXEL_U16:
		return t->as_float ? wsi_bits((float)raw / (2 * most + 1)) : raw;
	case WS_SIM_TEXEL_S8:
	case WS_SIM_TEXEL_S16:
		raw = object->component == 1 ? (uint32_t)(int8_t)raw : (uint32_t)(int16_t)raw;
		if (!t->as_float)
			return raw;
		return (int32_t)raw <= -most ? wsi_bits(-1) : wsi_bits((float)(int32_t)raw / most);
	case WS_SIM_TEXEL_F16:
		return wsi_bits(wsi_half_value(raw, false));
	case WS_SIM_TEXEL_U32:
	case WS_SIM_TEXEL_S32:
	case WS_SIM_TEXEL_F32:
		break;
	}
	return raw;
}

/* What a texel lacks is 0, the fourth component 1. */
static bool read_texel(struct wsi_run *run, unsigned lane, const struct wsi_object *object,
		       const struct wsi_texel *place, struct color *ret)
{
	struct wsi_lane_spot spot;
	uint64_t address =
		wsi_object_address(object, place, (uint64_t)place->at[0] * object->texel);
	if (!wsi_sim_spot(run, WS_SASS_SPACE_GLOBAL, lane, address, object->texel, false, &spot))
		return false;
	if (run->sim->check)
		wsi_check_fetched(run, lane, address, object->texel);
	*ret = (struct color){ { 0, 0, 0, object->is_float ? wsi_bits(1) : 1 } };
	for (unsigned i = 0; i < object->of.image.n_components; i++)
		ret->word[i] = component_of(object, spot.bytes + (size_t)i * object->component);
	return true;
}

/* The texel that a number along an axis means, or BORDER. */
static int64_t reached(const struct wsi_object *object, unsigned axis, int64_t at)
{
	const struct ws_sim_texture *t = &object->of;
	int64_t n = object->extent[axis], turn = 2 * n;
	if (at >= 0 && at < n)
		return at;
	if (t->mode[axis] == WS_SIM_ADDRESS_BORDER)
		return BORDER;
	if (t->mode[axis] == WS_SIM_ADDRESS_WRAP && t->normalized)
		return (at % n + n) % n;
	if (t->mode[axis] == WS_SIM_ADDRESS_MIRROR && t->normalized) {
		at = (at % turn + turn) % turn;
		return at < n ? at : turn - 1 - at;
	}
	return at < 0 ? 0 : n - 1;
}

/* Reads where coordinates lead, by the address modes. */
static bool read_reached(struct wsi_run *run, unsigned lane, const struct sample_query *q,
			 const int64_t at[WSI_TEXTURE_AXES], struct color *ret)
{
	const struct wsi_object *object = q->object;
	uint32_t n_faces = object->of.image.shape >= WS_SIM_IMAGE_CUBE ? 6 : 1;
	uint32_t n_layers = object->n_slices / object->extent[2] / n_faces;
	uint32_t layer = q->layer < n_layers ? q->layer : n_layers - 1;
	struct wsi_texel place = { .slice = layer * n_faces + (uint32_t)q->face };
	for (unsigned i = 0; i < object->n_axes; i++) {
		place.at[i] = reached(object, i, at[i]);
		if (place.at[i] != BORDER)
			continue;
		for (unsigned k = 0; k < WSI_COMPONENTS; k++)
			ret->word[k] = object->is_float ? wsi_bits(object->of.border[k]) : 0;
		return true;
	}
	return read_texel(run, lane, object, &place, ret);
}

/* ---- filters ---- */

/* Where a coordinate is, in texels; far outside it does not matter how far. */
static double unit_place(const struct sample_query *q, unsigned axis)
{
	const double far = 1e15;
	double at = (double)wsi_float(q->coordinate[axis]);
	if (q->object->of.normalized || q->object->of.image.shape >= WS_SIM_IMAGE_CUBE)
		at *= q->object->extent[axis];
	return at != at ? 0 : at > far ? far : at < -far ? -far : at;
}

static int64_t floor_of(double value)
{
	int64_t whole = (int64_t)value;
	return (double)whole > value ? whole - 1 : whole;
}

static bool nearest(struct wsi_run *run, unsigned lane, const struct sample_query *q,
		    struct color *ret)
{
	int64_t at[WSI_TEXTURE_AXES] = { 0 };
	for (unsigned i = 0; i < q->object->n_axes; i++)
		at[i] = floor_of(unit_place(q, i)) + offset_of(q, i, false);
	return read_reached(run, lane, q, at, ret);
}

/* Between the texels around a place. */
static bool between(struct wsi_run *run, unsigned lane, const struct sample_query *q,
		    struct color *ret)
{
	unsigned n = q->object->n_axes;
	int64_t low[WSI_TEXTURE_AXES] = { 0 };
	double sum[WSI_COMPONENTS] = { 0 }, part[WSI_TEXTURE_AXES];
	for (unsigned i = 0; i < n; i++) {
		double place = unit_place(q, i) - 0.5;
		low[i] = floor_of(place);
		part[i] = (double)floor_of((place - (double)low[i]) * FRACTION + 0.5) / FRACTION;
		low[i] += offset_of(q, i, false);
	}
	for (unsigned corner = 0; corner < 1u << n; corner++) {
		int64_t at[WSI_TEXTURE_AXES] = { 0 };
		double weight = 1;
		struct color color;
		for (unsigned i = 0; i < n; i++) {
			bool up = corner >> i & 1;
			at[i] = low[i] + up;
			weight *= up ? part[i] : 1 - part[i];
		}
		if (weight == 0) /* does not matter, and may be what nobody wrote */
			continue;
		if (!read_reached(run, lane, q, at, &color))
			return false;
		for (unsigned k = 0; k < WSI_COMPONENTS; k++)
			sum[k] += weight * (double)wsi_float(color.word[k]);
	}
	for (unsigned k = 0; k < WSI_COMPONENTS; k++)
		ret->word[k] = sum[k] != sum[k] ? WSI_NAN32 : wsi_bits((float)sum[k]);
	return true;
}

/* ---- instructions ---- */

typedef bool reader(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
		    struct color *ret_color);

/* Writes what the mask selects. */
static void set_results(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			const struct color *color)
{
	unsigned n = 0;
	for (unsigned i = 0; i < WSI_COMPONENTS; i++) {
		if (!(mask_of(op) >> i & 1))
			continue;
		const struct wsi_alu_value *to = &op->alu.result[n < 2];
		if (to->number != 255)
			wsi_reg(run->warp, to->number + n % 2)[lane] = color->word[i];
		n++;
	}
}

/* All lanes are read before any register is written. The predicate says whether memory is missing,
 * which it never is. */
static enum wsi_step read_all_lanes(struct wsi_run *run, const struct wsi_op *op, reader *read)
{
	struct color colors[WSI_ALU_LANES];
	uint32_t bad = 0;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		colors[lane] = (struct color){ { 0 } };
		if (!read(run, op, lane, &colors[lane]))
			bad |= 1u << lane;
	}
	if (bad && !wsi_object_postpone(run, bad))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left; left &= left - 1)
		set_results(run, op, wsi_first_bit(left), &colors[wsi_first_bit(left)]);
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(run->warp, &op->alu.predicate_result[i], 0, run->mask);
	return WSI_STEP_NEXT;
}

static bool sample(struct wsi_run *run, const struct wsi_op *op, unsigned lane, struct color *ret)
{
	struct sample_query q;
	if (!take_query(run, op, lane, &q))
		return false;
	return q.object->of.linear ? between(run, lane, &q, ret) : nearest(run, lane, &q, ret);
}

/* By whole numbers: no filter and no address mode, and zeros outside. */
static bool fetch_texel(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			struct color *ret)
{
	struct sample_query q;
	int64_t at[WSI_TEXTURE_AXES] = { 0 };
	if (!take_query(run, op, lane, &q))
		return false;
	for (unsigned i = 0; i < q.object->n_axes; i++) {
		at[i] = (int64_t)(int32_t)q.coordinate[i] + offset_of(&q, i, false);
		if (at[i] < 0 || at[i] >= q.object->extent[i])
			return true;
	}
	return read_reached(run, lane, &q, at, ret);
}

/* One component of four texels, from that with the lower x and the higher y on, round to that with
 * the lower x and y. */
static bool gather_texels(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			  struct color *ret)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	unsigned component = 0, n = (unsigned)ws_sass_modifiers(&op->insn, mods, WSI_COUNT(mods));
	int64_t low[2], at[WSI_TEXTURE_AXES] = { 0 };
	struct sample_query q;
	if (!take_query(run, op, lane, &q))
		return false;
	/* the first one: behind it, .B says where the handle is */
	for (unsigned i = n; i-- > 0;)
		component = mods[i] == WS_MOD_R   ? 0
			    : mods[i] == WS_MOD_G ? 1
			    : mods[i] == WS_MOD_B ? 2
			    : mods[i] == WS_MOD_A ? 3
						  : component;
	for (unsigned i = 0; i < 2; i++)
		low[i] = floor_of(unit_place(&q, i) - 0.5) + offset_of(&q, i, true);
	for (unsigned i = 0; i < WSI_COMPONENTS; i++) {
		struct color color;
		at[0] = low[0] + (i == 1 || i == 2);
		at[1] = low[1] + (i < 2);
		if (!read_reached(run, lane, &q, at, &color))
			return false;
		ret->word[i] = color.word[component];
	}
	return true;
}

/* Width, height, depth or layers, and how many levels there are. */
static bool size(struct wsi_run *run, const struct wsi_op *op, unsigned lane, struct color *ret)
{
	const struct wsi_object *object = texture_of(run, op, lane, 0);
	if (!object)
		return false;
	const struct ws_sim_image *image = &object->of.image;
	*ret = (struct color){ { object->extent[0], object->extent[1],
				 image->n_layers ? image->n_layers : object->extent[2], 1 } };
	return true;
}

enum wsi_step wsi_run_sample(struct wsi_run *run, const struct wsi_op *op)
{
	return read_all_lanes(run, op, sample);
}

enum wsi_step wsi_run_fetch(struct wsi_run *run, const struct wsi_op *op)
{
	return read_all_lanes(run, op, fetch_texel);
}

enum wsi_step wsi_run_gather(struct wsi_run *run, const struct wsi_op *op)
{
	return read_all_lanes(run, op, gather_texels);
}

enum wsi_step wsi_run_texture_size(struct wsi_run *run, const struct wsi_op *op)
{
	return read_all_lanes(run, op, size);
}
