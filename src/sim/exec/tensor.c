/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tiles, and of columns of pixels, by tensor maps. */
#include "sim/exec/access.h"

#include "objects/tensormap.h"

enum {
	DIMS = WSI_TENSOR_MAP_RANK,
	PIECE = 16,
	MAX_ROW = 256 * 8, /* bytes of a box along dimension 0 */
	TILE_ALIGN = 128,
};

enum { LOAD = 1, MULTICAST = 2, ROWS = 4, REDUCE = 8, PAIR = 16, PIXELS = 32 }; /* wsi_op.type */

/* A map with what the hardware makes of it. */
struct map {
	struct wsi_tensor_map fields;
	uint32_t bytes;       /* of an element; 0: not one that can be copied */
	uint32_t step[DIMS];  /* 1 along dimension 0 */
	uint32_t count[DIMS]; /* elements that a box has along each dimension */
};

/* Types that are copied as they are. */
static uint32_t plain_bytes(const struct wsi_tensor_map *map)
{
	bool converts = map->element == WS_SIM_TENSOR_F32_FTZ || map->element > WS_SIM_TENSOR_BF16;
	return converts ? 0 : wsi_tensor_map_element_bytes(map);
}

/* ---- maps ---- */

static enum ws_status refuse(struct ws_error *err, const char *what)
{
	return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "%s", what);
}

/* Bits of a corner of the box of pixels, and of an offset in an instruction. */
static unsigned offset_bits(unsigned n_dims)
{
	return n_dims == 3 ? 16 : n_dims == 4 ? 8 : 5;
}

static bool is_column(uint32_t channels, uint32_t pixels)
{
	return channels >= 1 && channels <= 256 && pixels >= 1 && pixels <= 1024;
}

static enum ws_status check_pixels(const struct ws_sim_tensor *t, struct ws_error *err)
{
	if (t->n_dims < 3)
		return refuse(err, "pixels have 3 to 5 dimensions");
	if (!is_column(t->channels, t->pixels))
		return refuse(err, "a copy has 1 to 256 channels, 1 to 1024 pixels");
	int32_t most = 1 << (offset_bits(t->n_dims) - 1);
	for (unsigned i = 0; i < t->n_dims - 2; i++)
		if (t->lower[i] < -most || t->lower[i] >= most || t->upper[i] < -most ||
		    t->upper[i] >= most)
			return refuse(err, "a corner of the box of pixels is out of range");
	return WS_OK;
}

static enum ws_status check_tensor(const struct ws_sim_tensor *t, struct ws_error *err)
{
	if (t->size != sizeof *t || t->n_dims < 1 || t->n_dims > DIMS)
		return refuse(err, "a tensor has 1 to 5 dimensions");
	uint32_t bytes = plain_bytes(&(struct wsi_tensor_map){ .element = (uint32_t)t->type });
	if (bytes == 0 || (unsigned)t->swizzle > WS_SIM_SWIZZLE_128B)
		return refuse(err, "type of elements, or swizzle");
	if (t->address % PIECE != 0)
		return refuse(err, "the address is not a multiple of 16");
	for (unsigned i = 0; i < t->n_dims; i++) {
		if (t->dims[i] < 1 || t->dims[i] > UINT64_C(1) << 32)
			return refuse(err, "a dimension has 1 to 2^32 elements");
		bool boxed = t->im2col || (t->box[i] >= 1 && t->box[i] <= 256);
		if (!boxed || t->element_strides[i] > 8)
			return refuse(err, "a box has 1 to 256 elements, in steps of 1 to 8");
		if (i > 0 && (t->strides[i - 1] % PIECE != 0 || t->strides[i - 1] >> 40))
			return refuse(err, "strides are multiples of 16 below 2^40");
	}
	uint32_t row = bytes * (t->im2col ? t->channels : t->box[0]);
	if (row % PIECE != 0)
		return refuse(err, "a row of the box is not a multiple of 16 bytes");
	if (t->swizzle != WS_SIM_SWIZZLE_NONE && row > 16u << t->swizzle)
		return refuse(err, "a row of the box is larger than the swizzle");
	return t->im2col ? check_pixels(t, err) : WS_OK;
}

enum ws_status ws_sim_tensor_map(const struct ws_sim_tensor *t,
				 uint8_t ret_map[WS_SIM_TENSOR_MAP_BYTES], struct ws_error *err)
{
	enum ws_status st = check_tensor(t, err);
	if (st != WS_OK)
		return st;
	struct wsi_tensor_map map = { .address = t->address,
				      .rank = t->n_dims,
				      .element = (uint32_t)t->type,
				      .swizzle = (uint32_t)t->swizzle,
				      .im2col = t->im2col,
				      .channels = t->channels,
				      .pixels = t->pixels };
	memcpy(map.lower, t->lower, sizeof map.lower);
	memcpy(map.upper, t->upper, sizeof map.upper);
	for (unsigned i = 0; i < t->n_dims; i++) {
		map.dim[i] = t->dims[i];
		map.box[i] = t->im2col ? 1 : t->box[i];
		map.step[i] = t->element_strides[i] ? t->element_strides[i] : 1;
		if (i > 0)
			map.stride[i - 1] = t->strides[i - 1];
	}
	wsi_tensor_map_encode(&map, ret_map);
	return WS_OK;
}

static void take_map(const uint8_t bytes[WSI_TENSOR_MAP_BYTES], struct map *m)
{
	wsi_tensor_map_decode(bytes, &m->fields);
	m->bytes = plain_bytes(&m->fields);
	for (unsigned i = 0; i < DIMS; i++) {
		bool used = i < m->fields.rank;
		m->step[i] = used && i > 0 ? m->fields.step[i] : 1;
		m->count[i] = used ? (m->fields.box[i] + m->step[i] - 1) / m->step[i] : 1;
	}
	if (m->fields.im2col)
		m->count[0] = m->fields.channels;
}

/* ---- rows of a tile ---- */

struct tensor_tile {
	const struct map *map;
	uint32_t shared; /* address */
	unsigned lane;
	enum wsi_reduction reduction;
	enum wsi_sim_element element;
	uint32_t offset[DIMS - 2]; /* of pixels */
};

/* Where 16 bytes of a tile are: the upper bits of an address in a pattern select the lower ones. */
static uint32_t swizzled(uint32_t address, unsigned swizzle)
{
	return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

static bool row_shared(struct wsi_run *run, const struct tensor_tile *t, uint32_t at, uint8_t *row,
		       uint32_t n, bool write)
{
	for (uint32_t i = 0; i < n; i += PIECE) {
		struct wsi_lane_spot spot;
		uint32_t address = swizzled(at + i, t->map->fields.swizzle);
		if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, t->lane, address, PIECE, write, &spot))
			return false;
		if (write)
			memcpy(spot.bytes, row + i, PIECE);
		else
			memcpy(row + i, spot.bytes, PIECE);
	}
	return true;
}

/* Bytes of global memory, in the largest pieces that are aligned. */
static bool row_global(struct wsi_run *run, const struct tensor_tile *t, uint64_t address,
		       uint8_t *row, uint32_t n, bool write)
{
	unsigned piece;
	for (uint32_t i = 0; i < n; i += piece) {
		struct wsi_lane_spot spot;
		piece = t->reduction == WSI_REDUCE_NONE ? PIECE : t->map->bytes;
		while ((address + i) % piece != 0 || piece > n - i)
			piece /= 2;
		if (!wsi_sim_spot(run, WS_SASS_SPACE_GLOBAL, t->lane, address + i, piece, write,
				  &spot))
			return false;
		if (!write)
			memcpy(row + i, spot.bytes, piece);
		else if (t->reduction == WSI_REDUCE_NONE)
			memcpy(spot.bytes, row + i, piece);
		else
			wsi_reduce_bytes(t->reduction, t->element, spot.bytes, row + i, piece);
	}
	return true;
}

/* One row of a box, whose first element is at `at` in the tensor and may lie outside of it. */
static bool move_row(struct wsi_run *run, const struct tensor_tile *t, const int64_t at[DIMS],
		     uint32_t shared, bool load)
{
	const struct map *m = t->map;
	uint8_t row[MAX_ROW];
	uint32_t n = m->count[0] * m->bytes, first = 0, end = m->count[0];
	uint64_t address = m->fields.address;
	for (unsigned i = 1; i < m->fields.rank; i++) {
		if (at[i] < 0 || (uint64_t)at[i] >= m->fields.dim[i])
			end = 0;
		address += (uint64_t)at[i] * m->fields.stride[i - 1];
	}
	if (at[0] < 0)
		first = at[0] <= -(int64_t)m->count[0] ? end : (uint32_t)-at[0];
	if (at[0] >= (int64_t)m->fields.dim[0])
		end = 0;
	else if (at[0] + (int64_t)end > (int64_t)m->fields.dim[0])
		end = (uint32_t)((int64_t)m->fields.dim[0] - at[0]);
	first = first < end ? first : end;
	address += (uint64_t)(at[0] + first) * m->bytes;
	uint8_t *inside = row + (size_t)first * m->bytes;
	uint32_t bytes = (end - first) * m->bytes;
	if (load) {
		memset(row, 0, n);
		return row_global(run, t, address, inside, bytes, false) &&
		       row_shared(run, t, shared, row, n, true);
	}
	return row_shared(run, t, shared, row, n, false) &&
	       row_global(run, t, address, inside, bytes, true);
}

/* Whether elements outside of a tensor would be filled with what no document describes. */
static bool fills(const struct wsi_op *op, const struct map *m, const int64_t *from)
{
	bool outside = false;
	for (unsigned row = 0; row < (op->type & ROWS ? 4 : 1); row++) {
		for (unsigned i = 0; i < m->fields.rank; i++) {
			int64_t at = from[i + (i == 1 ? row : 0)];
			uint64_t last = (uint64_t)at + (uint64_t)(m->count[i] - 1) * m->step[i];
			outside |= at < 0 || last >= m->fields.dim[i];
		}
	}
	outside |= m->fields.im2col; /* maybe */
	return op->type & LOAD && outside && m->fields.fills_nan;
}

static bool move_box(struct wsi_run *run, const struct tensor_tile *t, const int64_t start[DIMS],
		     bool load)
{
	const struct map *m = t->map;
	uint32_t shared = t->shared, index[DIMS] = { 0 };
	for (;;) {
		int64_t at[DIMS] = { start[0] };
		unsigned i = 1;
		for (unsigned k = 1; k < m->fields.rank; k++)
			at[k] = start[k] + (int64_t)index[k] * m->step[k];
		if (!move_row(run, t, at, shared, load))
			return false;
		shared += m->count[0] * m->bytes;
		while (i < m->fields.rank && ++index[i] == m->count[i])
			index[i++] = 0;
		if (i >= m->fields.rank)
			return true;
	}
}

/*
 * Pixels one after the other, from the one at `start` on: along W, H and D as far as the box goes,
 * each time from its lower corner, and then in the next image. [public doc: PTX ISA, im2col mode]
 */
static bool move_pixels(struct wsi_run *run, const struct tensor_tile *t, const int64_t start[DIMS],
			bool load)
{
	const struct map *m = t->map;
	unsigned image = m->fields.rank - 1;
	uint32_t shared = t->shared;
	int64_t base[DIMS], at[DIMS];
	memcpy(base, start, sizeof base);
	for (uint32_t pixel = 0; pixel < m->fields.pixels; pixel++) {
		unsigned i = 1;
		memcpy(at, base, sizeof at);
		for (unsigned k = 1; k < image; k++)
			at[k] += t->offset[k - 1];
		if (!move_row(run, t, at, shared, load))
			return false;
		shared += m->count[0] * m->bytes;
		for (; i < image; i++) {
			base[i] += m->step[i];
			if (base[i] < (int64_t)m->fields.dim[i] + m->fields.upper[i - 1])
				break;
			base[i] = m->fields.lower[i - 1];
		}
		base[image] += i == image ? m->step[image] : 0;
	}
	return true;
}

/* ---- instructions ---- */

void wsi_prepare_tensor(struct wsi_op *op)
{
	static const enum ws_modifier dims[] = { WS_MOD_1D, WS_MOD_2D, WS_MOD_3D, WS_MOD_4D,
						 WS_MOD_5D };
	static const enum ws_modifier missing[] = { WS_MOD_W128, WS_MOD_W };
	const struct ws_insn *insn = &op->insn;
	bool load = insn->operation == WS_OP_UTMALDG, ok = op->n_at == 2;
	bool multicast = ws_sass_has(insn, WS_MOD_MULTICAST);
	bool pixels = ws_sass_has(insn, WS_MOD_IM2COL);
	op->type = (load ? LOAD : 0) | (multicast ? MULTICAST : 0) |
		   (ws_sass_has(insn, WS_MOD_2CTA) ? PAIR : 0) |
		   (insn->operation == WS_OP_UTMAREDG ? REDUCE : 0) | (pixels ? PIXELS : 0);
	if (ws_sass_has(insn, WS_MOD_GATHER4) || ws_sass_has(insn, WS_MOD_SCATTER4))
		op->type |= ROWS;
	op->kind = 0;
	for (uint8_t i = 0; i < WSI_COUNT(dims); i++)
		op->kind = ws_sass_has(insn, dims[i]) ? (uint8_t)(i + 1) : op->kind;
	for (size_t i = 0; i < WSI_COUNT(missing); i++)
		ok &= !ws_sass_has(insn, missing[i]);
	ok &= op->kind != 0 && op->at[1].ureg_words == 2 && op->at[0].ureg_words != 0;
	ok &= !(op->type & ROWS) || op->kind == 2;
	ok &= !pixels || (op->kind >= 3 && !(op->type & ROWS));
	ok &= op->alu.n_sources == (multicast || (load && pixels));
	if (!ok)
		op->run = wsi_run_unimplemented;
}

static bool read_map_fields(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			    struct map *ret)
{
	uint8_t bytes[WSI_TENSOR_MAP_BYTES];
	uint64_t address = wsi_ureg(run->warp, op->at[1].ureg) |
			   (uint64_t)wsi_ureg(run->warp, op->at[1].ureg + 1u) << 32;
	for (unsigned i = 0; i < WSI_TENSOR_MAP_BYTES; i += PIECE) {
		struct wsi_lane_spot spot;
		if (!wsi_sim_spot(run, WS_SASS_SPACE_GENERIC, lane, address + i, PIECE, false,
				  &spot))
			return false;
		for (unsigned k = 0; k < PIECE; k += 4)
			memcpy(bytes + i + k, spot.bytes + k / 4 * spot.step, 4);
	}
	take_map(bytes, ret);
	return true;
}

/* Whether a map is for this instruction; false: the fault is recorded. */
static bool check_map_use(struct wsi_run *run, const struct wsi_op *op, const struct map *m)
{
	uint32_t row = m->count[0] * m->bytes;
	if (m->fields.rank != op->kind)
		wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
			  "the tensor map has %u dimensions, not %u", m->fields.rank, op->kind);
	else if (m->bytes == 0 || m->fields.interleave != 0 || m->fields.other_swizzle)
		wsi_run_unimplemented(run, op);
	else if (m->fields.im2col != ((op->type & PIXELS) != 0))
		wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
			  "the tensor map is for %s", m->fields.im2col ? "im2col" : "tiles");
	else if (m->fields.im2col && !is_column(m->fields.channels, m->fields.pixels))
		wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
			  "the tensor map has %u channels, %u pixels", m->fields.channels,
			  m->fields.pixels);
	else if (row % PIECE != 0 || (op->type & ROWS && m->count[1] != 1))
		wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
			  "the tensor map has a box with rows of %u bytes", row);
	else if (m->fields.swizzle != 0 &&
		 row != 16u << m->fields.swizzle) /* where its rows are, nobody says */
		wsi_run_unimplemented(run, op);
	else
		return true;
	return false;
}

/* Four rows, each with a coordinate of its own, or a box. */
static bool move_tile(struct wsi_run *run, const struct wsi_op *op, const struct tensor_tile *t,
		      const int64_t *at)
{
	struct tensor_tile row = *t;
	bool load = op->type & LOAD;
	if (op->type & PIXELS)
		return move_pixels(run, t, at, load);
	for (unsigned i = 0; i < (op->type & ROWS ? 4 : 1); i++) {
		int64_t start[DIMS] = { at[0], at[1], at[2], at[3], at[4] };
		if (op->type & ROWS)
			start[1] = at[1 + i];
		if (!move_box(run, &row, start, load))
			return false;
		row.shared += t->map->count[0] * t->map->bytes;
	}
	return true;
}

static uint32_t tile_bytes(const struct wsi_op *op, const struct map *m)
{
	uint32_t bytes = m->bytes * (op->type & ROWS ? 4 : 1);
	if (m->fields.im2col)
		return bytes * m->fields.channels * m->fields.pixels;
	for (unsigned i = 0; i < m->fields.rank; i++)
		bytes *= m->count[i];
	return bytes;
}

/* Elements of a map as reductions know them. */
static enum wsi_sim_element map_element_of(const struct map *m)
{
	static const uint8_t elements[] = { WSI_U32, WSI_U32, WSI_U32, WSI_S32, WSI_U64, WSI_S64,
					    WSI_F16, WSI_F32, WSI_F32, WSI_F64, WSI_BF16 };
	return (enum wsi_sim_element)elements[m->fields.element];
}

/* Blocks that a tile goes to; without a mask, where its address says. Offsets of pixels are in the
 * lower half of the mask's register [measured: ptxas 13.0]. For pairs of blocks the
 * barrier is in the even or the odd one, as its address says. */
static bool load_tile(struct wsi_run *run, const struct wsi_op *op, struct tensor_tile *t,
		      uint32_t barrier, const int64_t *at)
{
	uint32_t scratch[4 * WSI_LANES], bytes = tile_bytes(op, t->map), shared = t->shared;
	const uint32_t *packed =
		op->alu.n_sources ? wsi_sim_source(run, &op->alu.source[0], scratch) : NULL;
	uint32_t mask = packed ? packed[t->lane] >> 16 : 0;
	unsigned bits = offset_bits(op->kind);
	for (unsigned i = 0; op->type & PIXELS && packed && i < op->kind - 2u; i++)
		t->offset[i] = packed[t->lane] >> i * bits & ((1u << bits) - 1);
	if (!(op->type & MULTICAST))
		return move_tile(run, op, t, at) && wsi_complete(run, t->lane, barrier, bytes);
	for (unsigned rank = 0; rank < WSI_MAX_CLUSTER; rank++) {
		unsigned told = op->type & PAIR ? (rank & ~1u) | (barrier >> 24 & 1) : rank;
		t->shared = wsi_shared_peer(shared, rank);
		if (mask >> rank & 1 &&
		    (!move_tile(run, op, t, at) ||
		     !wsi_complete(run, t->lane, wsi_shared_peer(barrier, told), bytes)))
			return false;
	}
	return packed != NULL;
}

/* In the first uniform registers: the address in shared memory, for a load its barrier, then the
 * coordinates. */
enum wsi_step wsi_run_tensor(struct wsi_run *run, const struct wsi_op *op)
{
	struct map m;
	unsigned lane = wsi_first_bit(run->mask), n = op->type & ROWS ? 5 : op->kind;
	unsigned reg = op->at[0].ureg, from = reg + (op->type & LOAD ? 2 : 1);
	int64_t at[DIMS] = { 0 };
	if (from + n > run->sim->device->uregs)
		return wsi_run_unimplemented(run, op);
	if (!read_map_fields(run, op, lane, &m))
		return wsi_fault_together(run);
	if (!check_map_use(run, op, &m))
		return WSI_STEP_FAULT;
	for (unsigned i = 0; i < n; i++)
		at[i] = (int32_t)run->warp->uregs[from + i];
	if (fills(op, &m, at))
		return wsi_run_unimplemented(run, op);
	struct tensor_tile tile = { .map = &m, .shared = run->warp->uregs[reg], .lane = lane };
	if (op->type & REDUCE) {
		tile.reduction = wsi_reduction_of(&op->insn);
		tile.element = map_element_of(&m);
		if (wsi_element_bytes(tile.element) != m.bytes ||
		    !wsi_can_reduce(tile.reduction, tile.element))
			return wsi_run_unimplemented(run, op);
	}
	bool done = tile.shared % TILE_ALIGN == 0;
	wsi_labor(run, tile_bytes(op, &m) * (op->type & MULTICAST ? (uint64_t)WSI_MAX_CLUSTER : 1));
	if (!done)
		wsi_fault_at(run, CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS, lane, tile.shared,
			     "shared address 0x%x of a tile is not a multiple of %u", tile.shared,
			     TILE_ALIGN);
	else if (op->type & LOAD)
		done = load_tile(run, op, &tile, run->warp->uregs[reg + 1u], at);
	else
		done = move_tile(run, op, &tile, at);
	return done ? WSI_STEP_NEXT : wsi_fault_together(run);
}
