/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU core dump format as tables: kinds of section, and the rows of each kind of table.
 *
 * A dump is an ELF64 file whose sections form a tree: sh_link names the section of the parent
 * table, sh_info the row there. docs/formats/coredump.md tells the whole story with its evidence;
 * this file is its one machine-readable copy. Reader and writer are made from it.
 *
 * Rows only ever grew at their end, so the stride of a table (sh_entsize) says which fields a file
 * has: a field is there when its last byte is inside the stride.
 */
#ifndef WSI_CORE_FORMAT_H
#define WSI_CORE_FORMAT_H

#include <warpscope/state.h>

#include "base/reader.h"

#define WSI_CUDBG_SHT_BASE 0x80000000u

/*
 * Ours, not the driver's: ELF notes (SHT_NOTE) called "warpscope". Type 1, empty, comes first, in a
 * dump that was written from one that was cut, and so lacks something without a sign of it. Type 2
 * holds upper halves of addresses, words in rising order: those that were known when values were
 * taken out of the dump, so that it can be done again and changes nothing. Type 3, before that,
 * says what was taken away: two words, ws_write_flags and ws_strip_flags.
 */
#define WSI_NOTE(type, n_bytes) "\x0a\0\0\0" n_bytes type "\0\0\0warpscope\0\0"
#define WSI_INCOMPLETE_NOTE WSI_NOTE("\1", "\0\0\0\0")
#define WSI_HALVES_NOTE WSI_NOTE("\2", "\0\0\0\0") /* the number of bytes is at 4 */
#define WSI_STRIPPED_NOTE WSI_NOTE("\3", "\x08\0\0\0")
enum { WSI_STRIPPED_WORDS = 8 /* bytes */ };
enum { WSI_NOTE_BYTES = sizeof WSI_INCOMPLETE_NOTE, WSI_MAX_HALVES = 4096 };

/*
 * X(number, NAME, words, prefix, parent, slot, since): section type 0x80000000 + number, whose name
 * begins with ".cudbg." and `prefix`, whose parent is a row of a table of type `parent` (0: none),
 * as its child number `slot`, since driver branch r`since`.
 */
#define WSI_KIND_LIST(X)                                                        \
	X(1, MANAGED, "managed memory", "global.", WSI_KIND_NONE, 0, 346)       \
	X(2, GLOBAL, "global memory", "global.", WSI_KIND_NONE, 0, 346)         \
	X(3, LOCAL, "local memory", "local.", WSI_KIND_LANE, 2, 346)            \
	X(4, SHARED, "shared memory", "shared.", WSI_KIND_BLOCK, 1, 346)        \
	X(5, REGS, "registers", "regs.", WSI_KIND_LANE, 0, 346)                 \
	X(6, IMAGE, "image", "elfimg.", WSI_KIND_MODULE, 1, 346)                \
	X(7, RELOCATED, "relocated image", "relfimg.", WSI_KIND_MODULE, 0, 346) \
	X(8, FRAMES, "call stack", "bt.", WSI_KIND_LANE, 3, 346)                \
	X(9, DEVICE, "device table", "devtbl", WSI_KIND_NONE, 0, 346)           \
	X(10, CONTEXT, "context table", "ctxtbl.", WSI_KIND_DEVICE, 0, 346)     \
	X(11, SM, "SM table", "smtbl.", WSI_KIND_DEVICE, 2, 346)                \
	X(12, GRID, "grid table", "gridtbl.", WSI_KIND_DEVICE, 1, 346)          \
	X(13, BLOCK, "block table", "ctatbl.", WSI_KIND_SM, 0, 346)             \
	X(14, WARP, "warp table", "wptbl.", WSI_KIND_BLOCK, 0, 346)             \
	X(15, LANE, "lane table", "lntbl.", WSI_KIND_WARP, 0, 346)              \
	X(16, MODULE, "module table", "modtbl.", WSI_KIND_CONTEXT, 0, 346)      \
	X(17, PREDS, "predicates", "pred.", WSI_KIND_LANE, 1, 346)              \
	X(18, PARAM, "parameters", "param.", WSI_KIND_GRID, 0, 346)             \
	X(19, UREGS, "uniform registers", "uregs.", WSI_KIND_WARP, 1, 400)      \
	X(20, UPREDS, "uniform predicates", "upred.", WSI_KIND_WARP, 2, 400)    \
	X(21, BANK, "constant bank table", "cbankstbl.", WSI_KIND_GRID, 1, 550) \
	X(22, META, "metadata", "meta", WSI_KIND_NONE, 0, 565)                  \
	X(23, BARRIERS, "convergence barriers", "cbu_bar.", WSI_KIND_WARP, 3, 575)

enum wsi_kind {
	WSI_KIND_NONE = 0, /* not a section type of this format, or one not known yet */
#define X(number, name, words, prefix, parent, slot, since) WSI_KIND_##name = number,
	WSI_KIND_LIST(X)
#undef X
		WSI_N_KINDS = 24,
};

/*
 * Rows: X(field, offset, bits, since). A field called text_... is an offset in the section named
 * .strtab. `since` is the driver branch that first wrote it.
 */

#define WSI_DEVICE_ROW(X)                 \
	X(text_name, 0, 64, 346)          \
	X(text_type, 8, 64, 346)          \
	X(text_sm_type, 16, 64, 346)      \
	X(id, 24, 32, 346)                \
	X(pci_bus, 28, 32, 346)           \
	X(pci_device, 32, 32, 346)        \
	X(n_sms, 36, 32, 346)             \
	X(n_warps_per_sm, 40, 32, 346)    \
	X(n_lanes_per_warp, 44, 32, 346)  \
	X(n_regs_per_lane, 48, 32, 346)   \
	X(n_preds_per_lane, 52, 32, 346)  \
	X(sm_major, 56, 32, 346)          \
	X(sm_minor, 60, 32, 346)          \
	X(instruction_bytes, 64, 32, 346) \
	X(status, 68, 32, 346)            \
	X(n_uniform_regs, 72, 32, 400)    \
	X(n_uniform_preds, 76, 32, 400)   \
	X(n_convergence_barriers, 80, 32, 575)

#define WSI_CONTEXT_ROW(X)                 \
	X(id, 0, 64, 346)                  \
	X(shared_window_base, 8, 64, 346)  \
	X(local_window_base, 16, 64, 346)  \
	X(global_window_base, 24, 64, 346) \
	X(device_id, 32, 32, 346)          \
	X(host_tid, 36, 32, 346)

#define WSI_MODULE_ROW(X) X(handle, 0, 64, 346)

#define WSI_GRID_ROW(X)                          \
	X(id, 0, 64, 346)                        \
	X(context_id, 8, 64, 346)                \
	X(function, 16, 64, 346)                 \
	X(function_entry, 24, 64, 346)           \
	X(module_handle, 32, 64, 346)            \
	X(parent_id, 40, 64, 346)                \
	X(params_offset, 48, 64, 346)            \
	X(type, 56, 32, 346)                     \
	X(origin, 60, 32, 346)                   \
	X(status, 64, 32, 346)                   \
	X(n_regs, 68, 32, 346)                   \
	X(grid_dim_x, 72, 32, 346)               \
	X(grid_dim_y, 76, 32, 346)               \
	X(grid_dim_z, 80, 32, 346)               \
	X(block_dim_x, 84, 32, 346)              \
	X(block_dim_y, 88, 32, 346)              \
	X(block_dim_z, 92, 32, 346)              \
	X(launch_blocking, 96, 32, 346)          \
	X(host_tid, 100, 32, 346)                \
	X(cluster_dim_x, 104, 32, 525)           \
	X(cluster_dim_y, 108, 32, 525)           \
	X(cluster_dim_z, 112, 32, 525)           \
	X(preferred_cluster_dim_x, 120, 32, 565) \
	X(preferred_cluster_dim_y, 124, 32, 565) \
	X(preferred_cluster_dim_z, 128, 32, 565)

#define WSI_BANK_ROW(X)        \
	X(address, 0, 64, 550) \
	X(size, 8, 32, 550)    \
	X(id, 12, 32, 550)

/* The target-block words stand under r555 in one public header and under r565 in its history: both
 * strides are accepted. */
#define WSI_SM_ROW(X)                        \
	X(id, 0, 32, 346)                    \
	X(exception, 8, 32, 555)             \
	X(error_pc_valid, 12, 32, 555)       \
	X(error_pc, 16, 64, 555)             \
	X(cluster_target_valid, 24, 32, 565) \
	X(cluster_target_x, 28, 32, 565)     \
	X(cluster_target_y, 32, 32, 565)     \
	X(cluster_target_z, 36, 32, 565)     \
	X(text_exception, 40, 64, 580) /* that it is a string is inferred [guess] */

#define WSI_BLOCK_ROW(X)              \
	X(grid_id, 0, 64, 346)        \
	X(idx_x, 8, 32, 346)          \
	X(idx_y, 12, 32, 346)         \
	X(idx_z, 16, 32, 346)         \
	X(cluster_idx_x, 24, 32, 525) \
	X(cluster_idx_y, 28, 32, 525) \
	X(cluster_idx_z, 32, 32, 525) \
	X(cluster_dim_x, 40, 32, 565) \
	X(cluster_dim_y, 44, 32, 565) \
	X(cluster_dim_z, 48, 32, 565)

#define WSI_WARP_ROW(X)                      \
	X(error_pc, 0, 64, 346)              \
	X(id, 8, 32, 346)                    \
	X(valid_lanes, 12, 32, 346)          \
	X(active_lanes, 16, 32, 346)         \
	X(broken, 20, 32, 346)               \
	X(error_pc_valid, 24, 32, 346)       \
	X(n_regs, 32, 32, 525)               \
	X(shared_bytes, 40, 32, 570)         \
	X(in_syscall_lanes, 48, 32, 575)     \
	X(cbu_active_lanes, 52, 32, 575)     \
	X(cbu_exited_lanes, 56, 32, 575)     \
	X(cbu_collective_lanes, 60, 32, 575) \
	X(barrier_scope, 64, 32, 590)        \
	X(text_barrier, 72, 64, 590) /* that it is a string is inferred [guess] */

#define WSI_LANE_ROW(X)                    \
	X(pc, 0, 64, 346)                  \
	X(rel_pc, 8, 64, 346)              \
	X(id, 16, 32, 346)                 \
	X(thread_x, 20, 32, 346)           \
	X(thread_y, 24, 32, 346)           \
	X(thread_z, 28, 32, 346)           \
	X(exception, 32, 32, 346)          \
	X(call_depth, 36, 32, 346)         \
	X(syscall_call_depth, 40, 32, 346) \
	X(cc_register, 44, 32, 346)        \
	X(cbu_state, 48, 32, 575)          \
	X(rpc_lo, 56, 32, 615)             \
	X(rpc_hi, 60, 32, 615)

#define WSI_FRAME_ROW(X)           \
	X(rel_address, 0, 64, 346) \
	X(address, 8, 64, 346)     \
	X(level, 16, 32, 346)

#define WSI_META_ROW(X)               \
	X(text_generator, 0, 64, 565) \
	X(driver_major, 8, 32, 565)   \
	X(driver_minor, 12, 32, 565)  \
	X(cuda_major, 16, 32, 565)    \
	X(cuda_minor, 20, 32, 565)    \
	X(flags, 24, 32, 565)         \
	X(timestamp, 28, 32, 565)

/*
 * X(record, RECORD, kind, base, max_rows, n_slots). `base`: bytes that a row must have, up to the
 * last field that the first driver wrote (metadata: what one reader's test generator writes).
 * `max_rows`: no machine has more; what a table claims beyond it is damage, so that one wrong size
 * costs little. `n_slots`: child sections that a row can have.
 */
#define WSI_RECORD_LIST(X)                                  \
	X(device, DEVICE, WSI_KIND_DEVICE, 72, 4096, 3)     \
	X(context, CONTEXT, WSI_KIND_CONTEXT, 40, 65536, 1) \
	X(module, MODULE, WSI_KIND_MODULE, 8, 1048576, 2)   \
	X(grid, GRID, WSI_KIND_GRID, 104, 65536, 2)         \
	X(bank, BANK, WSI_KIND_BANK, 16, 64, 0)             \
	X(sm, SM, WSI_KIND_SM, 4, 65536, 1)                 \
	X(block, BLOCK, WSI_KIND_BLOCK, 20, 65536, 2)       \
	X(warp, WARP, WSI_KIND_WARP, 28, 4096, 4)           \
	X(lane, LANE, WSI_KIND_LANE, 48, 1024, 4)           \
	X(frame, FRAME, WSI_KIND_FRAMES, 20, 65536, 0)      \
	X(meta, META, WSI_KIND_META, 24, 1, 0)

/* One field, for those who walk all fields of a record by name (check, info). */
struct wsi_field {
	const char *name;
	uint16_t offset;
	uint8_t bits;
	uint16_t since;
};

/* What the program knows of a kind of section; all zero for a number that is none. */
struct wsi_kind_info {
	const char *words;
	const char *prefix; /* of the names of such sections */
	enum wsi_kind parent;
	uint8_t slot;        /* which child of a parent row it is */
	uint8_t n_slots;     /* child sections that a row of it can have; 0: no row is a parent */
	uint16_t since;      /* driver branch */
	uint16_t base_bytes; /* least stride of a table; 0: no table */
	uint32_t max_rows;
	const struct wsi_field *fields;
	size_t n_fields;
};

extern const struct wsi_kind_info wsi_kind_infos[WSI_N_KINDS];

/* Kind of a section type. */
static inline enum wsi_kind wsi_kind_of(uint32_t sh_type)
{
	uint32_t number = sh_type - WSI_CUDBG_SHT_BASE; /* wraps to a large number below the base */
	return number < WSI_N_KINDS ? (enum wsi_kind)number : WSI_KIND_NONE;
}

/* Whether the rows of such a table are what tells of exceptions. */
static inline bool wsi_kind_tells(enum wsi_kind kind)
{
	return kind == WSI_KIND_DEVICE || kind == WSI_KIND_SM || kind == WSI_KIND_BLOCK ||
	       kind == WSI_KIND_WARP || kind == WSI_KIND_LANE;
}

/* What nobody can tell without a section of this kind. */
static inline enum ws_hides wsi_kind_hides(enum wsi_kind kind)
{
	bool leads_to_code = kind == WSI_KIND_CONTEXT || kind == WSI_KIND_GRID ||
			     kind == WSI_KIND_MODULE || kind == WSI_KIND_RELOCATED;
	return wsi_kind_tells(kind) ? WS_HIDES_FAULT
	       : leads_to_code      ? WS_HIDES_HANG
				    : WS_HIDES_NOTHING;
}

/* Kind of section that holds a kind of register; WSI_KIND_NONE for a number that is none. */
static inline enum wsi_kind wsi_kind_of_registers(enum ws_reg_kind kind)
{
	switch (kind) {
	case WS_REG_R:
		return WSI_KIND_REGS;
	case WS_REG_P:
		return WSI_KIND_PREDS;
	case WS_REG_UR:
		return WSI_KIND_UREGS;
	case WS_REG_UP:
		return WSI_KIND_UPREDS;
	case WS_REG_BARRIER:
		return WSI_KIND_BARRIERS;
	}
	return WSI_KIND_NONE;
}

/* ---- a struct and a parser for each record: struct wsi_lane_row, wsi_lane_parse(), ... ---- */

#define WSI_UINT_32 uint32_t
#define WSI_UINT_64 uint64_t
#define WSI_MEMBER(field, offset, bits, since) WSI_UINT_##bits field;
#define WSI_PARSE(field, offset, bits, since) \
	row.field = (offset) + (bits) / 8 <= in.len ? wsi_at_u##bits(in, offset) : 0;
#define WSI_DEFINE_RECORD(record, RECORD)                                               \
	struct wsi_##record##_row {                                                     \
		WSI_##RECORD##_ROW(WSI_MEMBER)                                          \
	};                                                                              \
	/* Fields outside the row are 0; whether they are there, WSI_HAS() tells. */    \
	static inline struct wsi_##record##_row wsi_##record##_parse(struct ws_span in) \
	{                                                                               \
		struct wsi_##record##_row row;                                          \
		WSI_##RECORD##_ROW(WSI_PARSE) return row;                               \
	}                                                                               \
	struct wsi_swallow_semicolon

#define X(record, RECORD, kind, base, max_rows, n_slots) WSI_DEFINE_RECORD(record, RECORD);
WSI_RECORD_LIST(X)
#undef X

/* Where a field begins and ends: WSI_AT_lane_id, WSI_END_lane_id. */
#define WSI_PLACE(record, field, offset, bits) \
	WSI_AT_##record##_##field = (offset), WSI_END_##record##_##field = (offset) + (bits) / 8,
enum {
#define F(field, offset, bits, since) WSI_PLACE(device, field, offset, bits)
	WSI_DEVICE_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(context, field, offset, bits)
		WSI_CONTEXT_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(module, field, offset, bits)
			WSI_MODULE_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(grid, field, offset, bits)
				WSI_GRID_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(bank, field, offset, bits)
					WSI_BANK_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(sm, field, offset, bits)
						WSI_SM_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(block, field, offset, bits)
							WSI_BLOCK_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(warp, field, offset, bits)
								WSI_WARP_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(lane, field, offset, bits)
									WSI_LANE_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(frame, field, offset, bits)
										WSI_FRAME_ROW(F)
#undef F
#define F(field, offset, bits, since) WSI_PLACE(meta, field, offset, bits)
											WSI_META_ROW(
												F)
#undef F
};

/* Whether rows of this many bytes have the field: WSI_HAS(stride, lane, cbu_state). */
#define WSI_HAS(row_bytes, record, field) ((row_bytes) >= WSI_END_##record##_##field)

#endif
