/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one lane: PC, index, exception, registers, call stack. */
#include "cudbg-functions.h"

/* ---- fields of the lane row ---- */

#define DEFINE_FIELD(name, type, value)                                              \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at,   \
				     type *ret_field)                                \
	{                                                                            \
		CUDBGResult result;                                                  \
		const struct ws_lane *lane = wsi_cudbg_lane(s, at, at->ln, &result); \
		if (!lane)                                                           \
			return result;                                               \
		*ret_field = value;                                                  \
		return CUDBG_SUCCESS;                                                \
	}

DEFINE_FIELD(readThreadIdx, CuDim3, wsi_dim3(lane->thread))
DEFINE_FIELD(readPC, uint64_t, lane->rel_pc)
DEFINE_FIELD(readVirtualPC, uint64_t, lane->pc)
DEFINE_FIELD(readLaneStatus, bool, lane->exception != CUDBG_EXCEPTION_NONE)
DEFINE_FIELD(readLaneException, CUDBGException_t, (CUDBGException_t)lane->exception)
DEFINE_FIELD(readCallDepth, uint32_t, lane->call_depth)
DEFINE_FIELD(readCCRegister, uint32_t, lane->cc_register)

/*
 * From 12.9 on always 0: clients then ask which lanes are in a syscall. Older ones leave out as
 * many frames as this says. [public doc: manual; measured: cuda-gdb 12.4]
 */
CUDBGResult wsi_cudbg_readSyscallCallDepth(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					   uint32_t *depth)
{
	CUDBGResult result;
	const struct ws_lane *lane = NULL;
	if (wsi_cudbg_asked_before(s, 12, 9)) {
		lane = wsi_cudbg_lane(s, at, at->ln, &result);
		if (!lane)
			return result;
	}
	*depth = lane ? lane->syscall_call_depth : 0;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readRpcRegisters(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				       uint32_t *rpcLo, uint32_t *rpcHi)
{
	CUDBGResult result;
	const struct ws_lane *lane = wsi_cudbg_lane(s, at, at->ln, &result);
	if (!lane)
		return result;
	if (!(lane->have & WS_LANE_RPC))
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "the RPC registers were not recorded");
	*rpcLo = lane->rpc_lo;
	*rpcHi = lane->rpc_hi;
	return CUDBG_SUCCESS;
}

/* ---- registers ---- */

enum {
	MAX_REGISTERS = 256, /* of a lane: the machine code has 8 bits for a register */
	MAX_PREDICATES = 256 /* of a device; more is a damaged number */
};

static CUDBGResult beyond(struct wsi_cudbg *s, uint64_t end, uint32_t limit, const char *what)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
			      "there are %u %s; the range ends at %" PRIu64, limit, what, end);
}

/*
 * Registers that the warp has: by its row, by its grid's, else as many as the lane has recorded.
 * WS_ABSENT: the lane has none recorded, and no row tells.
 */
static CUDBGResult registers_of_warp(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				     uint32_t *ret_n)
{
	CUDBGResult result;
	struct ws_grid grid;
	uint32_t values[MAX_REGISTERS];
	const struct ws_warp *warp = wsi_cudbg_warp(s, at, &result);
	if (!warp)
		return result;
	if (warp->have & WS_WARP_N_REGS) {
		*ret_n = warp->n_regs;
		return CUDBG_SUCCESS;
	}
	if (wsi_cudbg_grid_of(s, at, &grid) == CUDBG_SUCCESS && (grid.have & WS_GRID_N_REGS)) {
		*ret_n = grid.n_regs;
		return CUDBG_SUCCESS;
	}
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_target_registers(s->target, at->slot->warp_index, at->ln, WS_REG_R,
						0, WSI_COUNT(values), values, ret_n, &err);
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_status(s, st, &err);
}

/*
 * Clients read in blocks, up to as many registers as the device can have: those past the warp's
 * last one do not exist and read as 0. [public doc: readRegisterRange60; measured: NVIDIA's dump
 * library] One that exists but is not held fails, unless the client learns how many were read.
 */
CUDBGResult wsi_cudbg_readRegisterRange(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					uint32_t index, uint32_t numRegisters, uint32_t *registers,
					uint32_t *numRegistersRead)
{
	uint32_t limit = at->device->device.n_regs_per_lane, values[MAX_REGISTERS], got = 0, exist;
	uint32_t n = numRegisters < MAX_REGISTERS ? numRegisters : MAX_REGISTERS;
	uint64_t end = (uint64_t)index + numRegisters;
	if (end > limit)
		return beyond(s, end, limit, "registers");
	if (n) {
		struct ws_error err = { .status = WS_OK };
		enum ws_status st = ws_target_registers(s->target, at->slot->warp_index, at->ln,
							WS_REG_R, index, n, values, &got, &err);
		if (st != WS_OK && st != WS_ABSENT)
			return wsi_cudbg_status(s, st, &err);
		got = st == WS_OK ? got : 0;
	}
	if (got < n) {
		CUDBGResult result = registers_of_warp(s, at, &exist);
		if (result != CUDBG_SUCCESS)
			return result;
		if (index + got < exist && !(got && numRegistersRead))
			return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
					      "the warp has %u registers, R%u is not recorded",
					      exist, index + got);
	}
	if (got)
		memcpy(registers, values, got * sizeof *values);
	if (got < numRegisters)
		memset(registers + got, 0, (size_t)(numRegisters - got) * sizeof *registers);
	if (numRegistersRead)
		*numRegistersRead = got;
	return CUDBG_SUCCESS;
}

/* `n` registers of a kind that are all there, or none. */
static CUDBGResult read_all_registers(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				      enum ws_reg_kind kind, uint32_t first, uint32_t n,
				      uint32_t *out)
{
	uint32_t values[MAX_PREDICATES], got = 0;
	if (n > MAX_PREDICATES)
		return beyond(s, n, MAX_PREDICATES, "registers at a time");
	if (!n)
		return CUDBG_SUCCESS;
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_target_registers(s->target, at->slot->warp_index, at->ln, kind,
						first, n, values, &got, &err);
	if (st != WS_OK)
		return wsi_cudbg_status(s, st, &err);
	if (got < n)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "%u of them were requested, %u are recorded", n, got);
	memcpy(out, values, n * sizeof *values);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readPredicates(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				     uint32_t predicates_size, uint32_t *predicates)
{
	uint32_t limit = at->device->device.n_preds_per_lane;
	if (predicates_size > limit)
		return beyond(s, predicates_size, limit, "predicates");
	return read_all_registers(s, at, WS_REG_P, 0, predicates_size, predicates);
}

CUDBGResult wsi_cudbg_readUniformPredicates(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					    uint32_t predicates_size, uint32_t *predicates)
{
	uint32_t limit = at->device->device.n_uniform_preds;
	at->ln = 0;
	if (predicates_size > limit)
		return beyond(s, predicates_size, limit, "uniform predicates");
	return read_all_registers(s, at, WS_REG_UP, 0, predicates_size, predicates);
}

CUDBGResult wsi_cudbg_readUniformRegisterRange(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					       uint32_t regno, uint32_t registers_size,
					       uint32_t *registers)
{
	uint32_t limit = at->device->device.n_uniform_regs;
	at->ln = 0;
	if ((uint64_t)regno + registers_size > limit)
		return beyond(s, (uint64_t)regno + registers_size, limit, "uniform registers");
	return read_all_registers(s, at, WS_REG_UR, regno, registers_size, registers);
}

/* ---- call stacks ---- */

static CUDBGResult frame_of_level(struct wsi_cudbg *s, const struct ws_return_address *frames,
				  uint32_t n, uint32_t level, struct ws_return_address *ret_frame)
{
	for (uint32_t i = 0; i < n; i++)
		if (frames[i].level == level) {
			*ret_frame = frames[i];
			return CUDBG_SUCCESS;
		}
	return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA, "level %u is not recorded", level);
}

/* The frame at a level of a stack of `n` frames, more than the view holds. */
static __attribute__((noinline)) CUDBGResult deep_frame_at(struct wsi_cudbg *s,
							   const struct wsi_cudbg_at *at,
							   uint32_t ln, uint32_t level, uint32_t n,
							   struct ws_return_address *ret_frame)
{
	struct ws_error err = { .status = WS_NO_MEMORY };
	enum ws_status st = WS_NO_MEMORY;
	uint32_t cap = n;
	wsi_scoped_free struct ws_return_address *frames = wsi_zalloc_array(cap, sizeof *frames);
	if (frames)
		st = ws_target_call_stack(s->target, at->slot->warp_index, ln, frames, cap, &n,
					  &err);
	if (st != WS_OK)
		return wsi_cudbg_held_status(s, st, &err);
	return frame_of_level(s, frames, n < cap ? n : cap, level, ret_frame);
}

/* The return address of a level. */
static CUDBGResult return_address_at(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				     uint32_t ln, uint32_t level,
				     struct ws_return_address *ret_frame)
{
	CUDBGResult result;
	const struct ws_lane *lane = wsi_cudbg_lane(s, at, ln, &result);
	if (!lane)
		return result;
	if (level >= lane->call_depth)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_CALL_LEVEL,
				      "the call depth is %u, there is no level %u",
				      lane->call_depth, level);
	uint32_t n = 0;
	const struct ws_return_address *frames = wsi_cudbg_frames(s, at, ln, &n, &result);
	if (!frames)
		return result;
	if (n > WSI_VIEW_FRAMES && level >= WSI_VIEW_FRAMES)
		return deep_frame_at(s, at, ln, level, n, ret_frame);
	return frame_of_level(s, frames, n < WSI_VIEW_FRAMES ? n : WSI_VIEW_FRAMES, level,
			      ret_frame);
}

/* The lane that answers in the forms of 3.1: the first active one. */
static CUDBGResult active_lane(struct wsi_cudbg *s, struct wsi_cudbg_at *at)
{
	uint32_t active = at->slot->valid & at->slot->active;
	if (!active)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_LANE, "no lane of the warp is active");
	at->ln = 0;
	while (!(active >> at->ln & 1))
		at->ln++;
	return CUDBG_SUCCESS;
}

#define DEFINE_RETURN(name, field)                                                                 \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t level, \
				     uint64_t *ra)                                                 \
	{                                                                                          \
		struct ws_return_address frame;                                                    \
		CUDBGResult result = return_address_at(s, at, at->ln, level, &frame);              \
		if (result == CUDBG_SUCCESS)                                                       \
			*ra = frame.field;                                                         \
		return result;                                                                     \
	}                                                                                          \
	CUDBGResult wsi_cudbg_##name##32(struct wsi_cudbg * s, struct wsi_cudbg_at * at,           \
					 uint32_t level, uint64_t * ra)                            \
	{                                                                                          \
		CUDBGResult result = active_lane(s, at);                                           \
		return result == CUDBG_SUCCESS ? wsi_cudbg_##name(s, at, level, ra) : result;      \
	}

DEFINE_RETURN(readReturnAddress, rel_address)
DEFINE_RETURN(readVirtualReturnAddress, address)

CUDBGResult wsi_cudbg_readAllVirtualReturnAddresses(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
						    uint64_t *addrs, uint32_t numAddrs,
						    uint32_t *callDepth, uint32_t *syscallCallDepth)
{
	CUDBGResult result;
	const struct ws_lane *lane = wsi_cudbg_lane(s, at, at->ln, &result);
	if (!lane)
		return result;
	if (!addrs && numAddrs)
		return wsi_cudbg_null(s, "addrs");
	uint32_t wanted = numAddrs < lane->call_depth ? numAddrs : lane->call_depth, n = 0;
	wsi_scoped_free struct ws_return_address *frames = NULL;
	if (wanted) {
		struct ws_error err = { .status = WS_OK };
		enum ws_status st = ws_target_call_stack(s->target, at->slot->warp_index, at->ln,
							 NULL, 0, &n, &err);
		if (st == WS_OK && n < wanted)
			return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
					      "the call depth is %u, %u frames are recorded",
					      lane->call_depth, n);
		if (st == WS_OK) {
			frames = wsi_zalloc_array(wanted, sizeof *frames);
			st = frames ? ws_target_call_stack(s->target, at->slot->warp_index, at->ln,
							   frames, wanted, &n, &err)
				    : WS_NO_MEMORY;
		}
		if (st != WS_OK)
			return wsi_cudbg_held_status(s, st, &err);
	}
	for (uint32_t i = 0; i < wanted; i++)
		addrs[i] = frames[i].address;
	*callDepth = lane->call_depth;
	*syscallCallDepth = wsi_cudbg_asked_before(s, 12, 9) ? lane->syscall_call_depth : 0;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_readCallDepth32(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t *depth)
{
	CUDBGResult result = active_lane(s, at);
	return result == CUDBG_SUCCESS ? wsi_cudbg_readCallDepth(s, at, depth) : result;
}

/* ---- writing ---- */

static CUDBGResult write_registers(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				   enum ws_reg_kind kind, uint32_t first, uint32_t n,
				   const uint32_t *values, uint32_t limit)
{
	if ((uint64_t)first + n > limit)
		return beyond(s, (uint64_t)first + n, limit, "of them");
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_target_write_registers(s->target, at->slot->warp_index, at->ln, kind,
						      first, n, values, &err);
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_status(s, st, &err);
}

static CUDBGResult lane_write_predicates(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
					 enum ws_reg_kind kind, uint32_t n, const uint32_t *values,
					 uint32_t limit)
{
	if (n > limit)
		return beyond(s, n, limit, "predicates");
	for (uint32_t i = 0; i < n; i++)
		if (values[i] > 1)
			return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
					      "a predicate is 0 or 1, not %u", values[i]);
	return write_registers(s, at, kind, 0, n, values, limit);
}

CUDBGResult wsi_cudbg_writeRegister(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t regno,
				    uint32_t val)
{
	return write_registers(s, at, WS_REG_R, regno, 1, &val, at->device->device.n_regs_per_lane);
}

CUDBGResult wsi_cudbg_writePredicates(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
				      uint32_t predicates_size, const uint32_t *predicates)
{
	return lane_write_predicates(s, at, WS_REG_P, predicates_size, predicates,
				     at->device->device.n_preds_per_lane);
}

CUDBGResult wsi_cudbg_writeUniformRegister(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					   uint32_t regno, uint32_t val)
{
	at->ln = 0;
	return write_registers(s, at, WS_REG_UR, regno, 1, &val, at->device->device.n_uniform_regs);
}

CUDBGResult wsi_cudbg_writeUniformPredicates(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					     uint32_t predicates_size, const uint32_t *predicates)
{
	at->ln = 0;
	return lane_write_predicates(s, at, WS_REG_UP, predicates_size, predicates,
				     at->device->device.n_uniform_preds);
}

CUDBGResult wsi_cudbg_writeCCRegister(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint32_t val)
{
	(void)at, (void)val;
	return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
			      "no supported GPU has a condition code register");
}

/* The manual's words: of an active lane. */
CUDBGResult wsi_cudbg_writeRpcRegisters(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					const uint32_t *rpcLo, const uint32_t *rpcHi)
{
	struct ws_error err = { .status = WS_OK };
	if (!(at->slot->valid & at->slot->active & 1u << at->ln))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_LANE, "lane %u is not active", at->ln);
	enum ws_status st =
		ws_target_write_rpc(s->target, at->slot->warp_index, at->ln, *rpcLo, *rpcHi, &err);
	wsi_cudbg_rows_changed(s); /* it is in the lane's row */
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_status(s, st, &err);
}
