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
#ifndef WSI_DUMP_FORMAT_H
#define WSI_DUMP_FORMAT_H

#include <warpscope/doubt.h>
#include <warpscope/state.h>

#include "base/reader.h"

#define WSI_CUDBG_SHT_BASE 0x80000000u

/*
 * Ours, not the driver's: ELF notes (SHT_NOTE) called "warpscope". Type 1 comes first, in a dump
 * that was written from one that was cut or damaged, and so lacks something without a sign of it: a
 * word, enum ws_hides, says what nobody can tell without that, and with WSI_INCOMPLETE_DOUBT that
 * the other dump contradicted itself. Type 2 holds upper halves of addresses, words in rising
 * order: those that were known when values were taken out of the dump, so that it can be done again
 * and changes nothing. Type 3, before that, says what was taken away: two words, ws_write_flags and
 * ws_strip_flags. Type 4, last, holds the ranges of global memory that were left out
 * (ws_dump_facts.memory_map).
 */
#define WSI_NOTE(type, n_bytes) "\x0a\0\0\0" n_bytes type "\0\0\0warpscope\0\0"
#define WSI_INCOMPLETE_NOTE WSI_NOTE("\1", "\x04\0\0\0")
#define WSI_HALVES_NOTE WSI_NOTE("\2", "\0\0\0\0") /* the number of bytes is at 4 */
#define WSI_STRIPPED_NOTE WSI_NOTE("\3", "\x08\0\0\0")
#define WSI_MAP_NOTE WSI_NOTE("\4", "\0\0\0\0") /* likewise */
enum { WSI_INCOMPLETE_DOUBT = 0x100 };
enum { WSI_INCOMPLETE_WORDS = 4, WSI_STRIPPED_WORDS = 8 /* bytes */ };
enum { WSI_NOTE_BYTES = sizeof WSI_INCOMPLETE_NOTE, WSI_MAX_HALVES = 4096, WSI_MAX_MAP = 65536 };

struct ws_core;
/* The words of the second note of an open dump; empty: it has none. */
struct ws_span wsi_core_halves(const struct ws_core *core);

/*
 * X(number, NAME, words, prefix, parent, slot, since, HIDES): section type 0x80000000 + number,
 * whose name begins with ".cudbg." and `prefix`, whose parent is a row of a table of type `parent`
 * (0: none), as its child number `slot`, since driver branch r`since`. Without it nobody can tell
 * WS_HIDES_`HIDES`.
 */
#define WSI_KIND_LIST(X)                                                                 \
	X(1, MANAGED, "managed memory", "global.", WSI_KIND_NONE, 0, 346, NOTHING)       \
	X(2, GLOBAL, "global memory", "global.", WSI_KIND_NONE, 0, 346, NOTHING)         \
	X(3, LOCAL, "local memory", "local.", WSI_KIND_LANE, 2, 346, NOTHING)            \
	X(4, SHARED, "shared memory", "shared.", WSI_KIND_BLOCK, 1, 346, NOTHING)        \
	X(5, REGS, "registers", "regs.", WSI_KIND_LANE, 0, 346, NOTHING)                 \
	X(6, IMAGE, "image", "elfimg.", WSI_KIND_MODULE, 1, 346, NOTHING)                \
	X(7, RELOCATED, "relocated image", "relfimg.", WSI_KIND_MODULE, 0, 346, HANG)    \
	X(8, FRAMES, "call stack", "bt.", WSI_KIND_LANE, 3, 346, NOTHING)                \
	X(9, DEVICE, "device table", "devtbl", WSI_KIND_NONE, 0, 346, FAULT)             \
	X(10, CONTEXT, "context table", "ctxtbl.", WSI_KIND_DEVICE, 0, 346, HANG)        \
	X(11, SM, "SM table", "smtbl.", WSI_KIND_DEVICE, 2, 346, FAULT)                  \
	X(12, GRID, "grid table", "gridtbl.", WSI_KIND_DEVICE, 1, 346, HANG)             \
	X(13, BLOCK, "block table", "ctatbl.", WSI_KIND_SM, 0, 346, FAULT)               \
	X(14, WARP, "warp table", "wptbl.", WSI_KIND_BLOCK, 0, 346, FAULT)               \
	X(15, LANE, "lane table", "lntbl.", WSI_KIND_WARP, 0, 346, FAULT)                \
	X(16, MODULE, "module table", "modtbl.", WSI_KIND_CONTEXT, 0, 346, HANG)         \
	X(17, PREDS, "predicates", "pred.", WSI_KIND_LANE, 1, 346, NOTHING)              \
	X(18, PARAM, "parameters", "param.", WSI_KIND_GRID, 0, 346, NOTHING)             \
	X(19, UREGS, "uniform registers", "uregs.", WSI_KIND_WARP, 1, 400, NOTHING)      \
	X(20, UPREDS, "uniform predicates", "upred.", WSI_KIND_WARP, 2, 400, NOTHING)    \
	X(21, BANK, "constant bank table", "cbankstbl.", WSI_KIND_GRID, 1, 550, NOTHING) \
	X(22, META, "metadata", "meta", WSI_KIND_NONE, 0, 565, NOTHING)                  \
	X(23, BARRIERS, "convergence barriers", "cbu_bar.", WSI_KIND_WARP, 3, 575, NOTHING)

enum wsi_kind {
	WSI_KIND_NONE = 0, /* not a section type of this format, or one not known yet */
#define X(number, name, words, prefix, parent, slot, since, HIDES) WSI_KIND_##name = number,
	WSI_KIND_LIST(X)
#undef X
		WSI_N_KINDS = 24,
};

/*
 * Rows: X(r, field, offset, TYPE, since, have). `field` is the member of the structure that stands
 * for the row (WSI_RECORD_LIST), and its name in docs/formats/coredump.md; `since` the driver
 * branch that first wrote it; `have` the flag in the structure's `have` that says that it is there,
 * 0 where every branch wrote it. TYPE:
 *
 *   U32, U64, I64   a number
 *   FLAG            32 bits, 0 or 1
 *   EXCEPTION       32 bits, a CUDBGException_t
 *   DIM3            three numbers of 32 bits
 *   TEXT            64 bits, an offset in the section named .strtab
 *   OWNER           32 bits, the id of the device that the table hangs below; no member
 *
 * Reader (state.c, lanes.c), writer (write/tables.c) and checks are made from these lines.
 */

#define WSI_DEVICE_ROW(X, r)                                   \
	X(r, name, 0, TEXT, 346, 0)                            \
	X(r, type, 8, TEXT, 346, 0)                            \
	X(r, sm_type, 16, TEXT, 346, 0)                        \
	X(r, id, 24, U32, 346, 0)                              \
	X(r, pci_bus, 28, U32, 346, 0)                         \
	X(r, pci_device, 32, U32, 346, 0)                      \
	X(r, n_sms, 36, U32, 346, 0)                           \
	X(r, n_warps_per_sm, 40, U32, 346, 0)                  \
	X(r, n_lanes_per_warp, 44, U32, 346, 0)                \
	X(r, n_regs_per_lane, 48, U32, 346, 0)                 \
	X(r, n_preds_per_lane, 52, U32, 346, 0)                \
	X(r, sm_major, 56, U32, 346, 0)                        \
	X(r, sm_minor, 60, U32, 346, 0)                        \
	X(r, instruction_bytes, 64, U32, 346, 0)               \
	X(r, status, 68, U32, 346, 0)                          \
	X(r, n_uniform_regs, 72, U32, 400, WS_DEVICE_UNIFORM)  \
	X(r, n_uniform_preds, 76, U32, 400, WS_DEVICE_UNIFORM) \
	X(r, n_convergence_barriers, 80, U32, 575, WS_DEVICE_BARRIERS)

#define WSI_CONTEXT_ROW(X, r)                     \
	X(r, id, 0, U64, 346, 0)                  \
	X(r, shared_window_base, 8, U64, 346, 0)  \
	X(r, local_window_base, 16, U64, 346, 0)  \
	X(r, global_window_base, 24, U64, 346, 0) \
	X(r, device_id, 32, OWNER, 346, 0)        \
	X(r, host_tid, 36, U32, 346, 0)

#define WSI_MODULE_ROW(X, r) X(r, handle, 0, U64, 346, 0)

#define WSI_GRID_ROW(X, r)                                     \
	X(r, id, 0, I64, 346, 0)                               \
	X(r, context_id, 8, U64, 346, 0)                       \
	X(r, function, 16, U64, 346, 0)                        \
	X(r, function_entry, 24, U64, 346, 0)                  \
	X(r, module_handle, 32, U64, 346, 0)                   \
	X(r, parent_id, 40, I64, 346, 0)                       \
	X(r, params_offset, 48, U64, 346, WS_GRID_PARAMS)      \
	X(r, type, 56, U32, 346, 0)                            \
	X(r, origin, 60, U32, 346, 0)                          \
	X(r, status, 64, U32, 346, 0)                          \
	X(r, n_regs, 68, U32, 346, WS_GRID_N_REGS)             \
	X(r, grid_dim, 72, DIM3, 346, 0)                       \
	X(r, block_dim, 84, DIM3, 346, 0)                      \
	X(r, launch_blocking, 96, FLAG, 346, WS_GRID_BLOCKING) \
	X(r, host_tid, 100, U32, 346, 0)                       \
	X(r, cluster_dim, 104, DIM3, 525, WS_GRID_CLUSTER)     \
	X(r, preferred_cluster_dim, 120, DIM3, 565, WS_GRID_PREFERRED_CLUSTER)

#define WSI_BANK_ROW(X, r)            \
	X(r, address, 0, U64, 550, 0) \
	X(r, size, 8, U32, 550, 0)    \
	X(r, id, 12, U32, 550, 0)

/* The target-block words stand under r555 in one public header and under r565 in its history: both
 * strides are accepted. */
#define WSI_SM_ROW(X, r)                                                \
	X(r, id, 0, U32, 346, 0)                                        \
	X(r, exception, 8, EXCEPTION, 555, WS_SM_EXCEPTION)             \
	X(r, error_pc_valid, 12, FLAG, 555, WS_SM_EXCEPTION)            \
	X(r, error_pc, 16, U64, 555, WS_SM_EXCEPTION)                   \
	X(r, cluster_target_valid, 24, FLAG, 565, WS_SM_CLUSTER_TARGET) \
	X(r, cluster_target, 28, DIM3, 565, WS_SM_CLUSTER_TARGET)       \
	X(r, exception_text, 40, TEXT, 580,                             \
	  WS_SM_EXCEPTION_TEXT) /* that it is a string is inferred [guess] */

#define WSI_BLOCK_ROW(X, r)                                    \
	X(r, grid_id, 0, I64, 346, 0)                          \
	X(r, idx, 8, DIM3, 346, 0)                             \
	X(r, cluster_idx, 24, DIM3, 525, WS_BLOCK_CLUSTER_IDX) \
	X(r, cluster_dim, 40, DIM3, 565, WS_BLOCK_CLUSTER_DIM)

#define WSI_WARP_ROW(X, r)                                     \
	X(r, error_pc, 0, U64, 346, 0)                         \
	X(r, id, 8, U32, 346, 0)                               \
	X(r, valid_lanes, 12, U32, 346, 0)                     \
	X(r, active_lanes, 16, U32, 346, 0)                    \
	X(r, broken, 20, FLAG, 346, WS_WARP_BROKEN)            \
	X(r, error_pc_valid, 24, FLAG, 346, 0)                 \
	X(r, n_regs, 32, U32, 525, WS_WARP_N_REGS)             \
	X(r, shared_bytes, 40, U32, 570, WS_WARP_SHARED_BYTES) \
	X(r, in_syscall_lanes, 48, U32, 575, WS_WARP_CBU)      \
	X(r, cbu_active_lanes, 52, U32, 575, WS_WARP_CBU)      \
	X(r, cbu_exited_lanes, 56, U32, 575, WS_WARP_CBU)      \
	X(r, cbu_collective_lanes, 60, U32, 575, WS_WARP_CBU)  \
	X(r, barrier_scope, 64, U32, 590, WS_WARP_BARRIER)     \
	X(r, barrier_text, 72, TEXT, 590,                      \
	  WS_WARP_BARRIER) /* that it is a string is inferred [guess] */

#define WSI_LANE_ROW(X, r)                               \
	X(r, pc, 0, U64, 346, 0)                         \
	X(r, rel_pc, 8, U64, 346, 0)                     \
	X(r, id, 16, U32, 346, 0)                        \
	X(r, thread, 20, DIM3, 346, 0)                   \
	X(r, exception, 32, EXCEPTION, 346, 0)           \
	X(r, call_depth, 36, U32, 346, 0)                \
	X(r, syscall_call_depth, 40, U32, 346, 0)        \
	X(r, cc_register, 44, U32, 346, WS_LANE_CC)      \
	X(r, cbu_state, 48, U32, 575, WS_LANE_CBU_STATE) \
	X(r, rpc_lo, 56, U32, 615, WS_LANE_RPC)          \
	X(r, rpc_hi, 60, U32, 615, WS_LANE_RPC)

#define WSI_FRAME_ROW(X, r)               \
	X(r, rel_address, 0, U64, 346, 0) \
	X(r, address, 8, U64, 346, 0)     \
	X(r, level, 16, U32, 346, 0)

/* Metadata has no word of flags: have_flags and have_time are these two. */
enum { WSI_META_FLAGS = 1, WSI_META_TIME = 2 };
#define WSI_META_ROW(X, r)                        \
	X(r, generator, 0, TEXT, 565, 0)          \
	X(r, driver_major, 8, U32, 565, 0)        \
	X(r, driver_minor, 12, U32, 565, 0)       \
	X(r, cuda_major, 16, U32, 565, 0)         \
	X(r, cuda_minor, 20, U32, 565, 0)         \
	X(r, flags, 24, U32, 565, WSI_META_FLAGS) \
	X(r, timestamp, 28, U32, 565, WSI_META_TIME)

/*
 * X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes). `type`: the
 * structure that stands for a row. `base`: bytes that a row must have, up to the last field that
 * the first driver wrote (metadata: what one reader's test generator writes). `max_rows`: no
 * machine has more; what a table claims beyond it is damage, so that one wrong size costs little.
 * `n_slots`: child sections that a row can have. `label`: what names of sections call a row, before
 * its number; "": they do not number it. `id`: the field that is another one in each row of a
 * table, and its bytes; 0: there is none.
 */
#define WSI_RECORD_LIST(X)                                                                     \
	X(device, DEVICE, struct ws_device, WSI_KIND_DEVICE, 72, 4096, 3, ".dev", id, 4)       \
	X(context, CONTEXT, struct ws_context, WSI_KIND_CONTEXT, 40, 65536, 1, ".ctx", id, 8)  \
	X(module, MODULE, struct ws_module, WSI_KIND_MODULE, 8, 1048576, 2, "", handle, 8)     \
	X(grid, GRID, struct ws_grid, WSI_KIND_GRID, 104, 65536, 2, ".grid", id, 8)            \
	X(bank, BANK, struct ws_bank, WSI_KIND_BANK, 16, 64, 0, "", id, 4)                     \
	X(sm, SM, struct ws_sm, WSI_KIND_SM, 4, 65536, 1, ".sm", id, 4)                        \
	X(block, BLOCK, struct ws_block, WSI_KIND_BLOCK, 20, 65536, 2, ".cta", grid_id, 0)     \
	X(warp, WARP, struct ws_warp, WSI_KIND_WARP, 28, 4096, 4, ".wp", id, 4)                \
	X(lane, LANE, struct ws_lane, WSI_KIND_LANE, 48, 1024, 4, ".ln", id, 4)                \
	X(frame, FRAME, struct ws_return_address, WSI_KIND_FRAMES, 20, 65536, 0, "", level, 4) \
	X(meta, META, struct ws_dump_facts, WSI_KIND_META, 24, 1, 0, "", generator, 0)

/* One field, for those who walk the fields of a record. */
struct wsi_field {
	uint16_t offset, end;
	uint16_t since;
	uint8_t have;
};

/* What the program knows of a kind of section; all zero for an unknown number. */
struct wsi_kind_info {
	const char *words;
	char prefix[20]; /* of the names of such sections */
	char label[6];   /* of its rows in names of sections below them; "": they have no number */
	enum wsi_kind parent;
	uint8_t slot;        /* which child of a parent row it is */
	uint8_t n_slots;     /* child sections that a row of it can have; 0: no row is a parent */
	uint16_t since;      /* driver branch */
	enum ws_hides hides; /* what nobody can tell without it */
	uint16_t base_bytes; /* least stride of a table; 0: no table */
	uint8_t id_at, id_bytes; /* of what is another one in each row; 0 bytes: nothing */
	uint32_t max_rows;
	const struct wsi_field *fields;
	size_t n_fields;
};

extern const struct wsi_kind_info wsi_kind_infos[WSI_N_KINDS];

/*
 * How the driver calls sections: the start of their kind, then for each level of the tree above the
 * label and the number of the row, then a number where several sections are alike [public doc:
 * cudacoredump.h of the driver branches; measured: cuda-gdb 12.4 opens files with these].
 */
static inline size_t wsi_kind_start_len(enum wsi_kind kind)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	return strlen(info->prefix) - (info->parent != WSI_KIND_NONE); /* labels begin with a dot */
}

/* Bytes of a row of a table as a driver branch writes it; 0: it has no such table yet. */
uint32_t wsi_row_bytes(enum wsi_kind kind, uint32_t driver);

/* A size of rows that drivers have written, and the branch that began to. */
struct wsi_stride {
	uint16_t bytes, since;
};
enum { WSI_MAX_STRIDES = 8 };

/* All of a kind of table, by age; returns how many. The youngest also without padding at its end,
 * as other writers have it. */
size_t wsi_kind_strides(enum wsi_kind kind, struct wsi_stride ret_strides[WSI_MAX_STRIDES]);

/* Kind of a section type. */
static inline enum wsi_kind wsi_kind_of(uint32_t sh_type)
{
	uint32_t number = sh_type - WSI_CUDBG_SHT_BASE; /* wraps to a large number below the base */
	return number < WSI_N_KINDS ? (enum wsi_kind)number : WSI_KIND_NONE;
}

static inline uint64_t wsi_row_id(enum wsi_kind kind, struct ws_span row)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	return info->id_bytes == 8 ? wsi_at_u64(row, info->id_at) : wsi_at_u32(row, info->id_at);
}

/* Whether the rows of such a table are what tells of exceptions. */
static inline bool wsi_kind_tells(enum wsi_kind kind)
{
	return wsi_kind_infos[kind].hides == WS_HIDES_FAULT;
}

/* By which of ws_write_flags drivers leave out what is in a space; 0: by none. [public doc:
 * cuda-gdb manual, GPU core dump support] */
uint32_t wsi_skip_of(enum ws_space space);

/* Kind of section that holds a kind of register; WSI_KIND_NONE for an unknown number. */
static inline enum wsi_kind wsi_kind_of_registers(enum ws_reg_kind kind)
{
	static const enum wsi_kind kinds[] = {
		[WS_REG_R] = WSI_KIND_REGS,           [WS_REG_P] = WSI_KIND_PREDS,
		[WS_REG_UR] = WSI_KIND_UREGS,         [WS_REG_UP] = WSI_KIND_UPREDS,
		[WS_REG_BARRIER] = WSI_KIND_BARRIERS,
	};
	return (unsigned)kind < WSI_COUNT(kinds) ? kinds[kind] : WSI_KIND_NONE;
}

/* ---- where fields are: WSI_AT_lane_id ---- */

enum {
	WSI_BYTES_U32 = 4,
	WSI_BYTES_U64 = 8,
	WSI_BYTES_I64 = 8,
	WSI_BYTES_FLAG = 4,
	WSI_BYTES_EXCEPTION = 4,
	WSI_BYTES_DIM3 = 12,
	WSI_BYTES_TEXT = 8,
	WSI_BYTES_OWNER = 4,
};

#define WSI_AT(r, field, offset, TYPE, since, have) WSI_AT_##r##_##field = (offset),
enum {
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	WSI_##RECORD##_ROW(WSI_AT, record)
	WSI_RECORD_LIST(X)
#undef X
};

/* ---- a row -> its structure: wsi_lane_have(), wsi_lane_read(), ... ---- */

#define WSI_FLAG_IF_LACKING(r, field, offset, TYPE, since, have) \
	| (n_bytes < (offset) + WSI_BYTES_##TYPE ? (have) : 0u)
#define WSI_FLAG(r, field, offset, TYPE, since, have) | (have)

#define WSI_READ_U32(field, at) to->field = wsi_at_u32(in, at)
#define WSI_READ_U64(field, at) to->field = wsi_at_u64(in, at)
#define WSI_READ_I64(field, at) to->field = (int64_t)wsi_at_u64(in, at)
#define WSI_READ_FLAG(field, at) \
	(to->field = wsi_at_u32(in, at) != 0, sound = sound && wsi_at_u32(in, at) <= 1)
#define WSI_READ_EXCEPTION(field, at) \
	(to->field = wsi_at_u32(in, at), sound = sound && ws_exception_possible(wsi_at_u32(in, at)))
#define WSI_READ_DIM3(field, at)                                                       \
	to->field = (struct ws_dim3)                                                   \
	{                                                                              \
		wsi_at_u32(in, at), wsi_at_u32(in, (at) + 4), wsi_at_u32(in, (at) + 8) \
	}
#define WSI_READ_TEXT(field, at) (void)wsi_span_cstr(strtab, wsi_at_u64(in, at), &to->field)
#define WSI_READ_OWNER(field, at) (void)0
#define WSI_READ(r, field, offset, TYPE, since, have)                                              \
	if (!(have) || (in.len >= (offset) + WSI_BYTES_##TYPE && wsi_##r##_have(in.len) & (have))) \
		WSI_READ_##TYPE(field, offset);

#define WSI_DEFINE_READ(record, RECORD, type, base)                                                \
	/* The flags of the fields that rows of so many bytes have. */                             \
	static inline uint32_t wsi_##record##_have(uint64_t n_bytes)                               \
	{                                                                                          \
		(void)n_bytes;                                                                     \
		return (0u WSI_##RECORD##_ROW(WSI_FLAG, record)) &                                 \
		       ~(0u WSI_##RECORD##_ROW(WSI_FLAG_IF_LACKING, record));                      \
	}                                                                                          \
	/* Fills the members that the row has; it must have those of the first driver. False: a    \
	 * flag or an exception has a value that cannot be. */                                     \
	static inline bool wsi_##record##_read(struct ws_span in, struct ws_span strtab, type *to) \
	{                                                                                          \
		bool sound = true;                                                                 \
		assert(in.len >= base);                                                            \
		(void)strtab;                                                                      \
		WSI_##RECORD##_ROW(WSI_READ, record) return sound;                                 \
	}                                                                                          \
	struct wsi_swallow_semicolon
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	WSI_DEFINE_READ(record, RECORD, type, base);
WSI_RECORD_LIST(X)
#undef X

/* Kinds of rows, each with its structure of state.h. */
enum ws_row {
	WS_ROW_DEVICE,   /* struct ws_device */
	WS_ROW_CONTEXT,  /* struct ws_context */
	WS_ROW_MODULE,   /* struct ws_module */
	WS_ROW_GRID,     /* struct ws_grid */
	WS_ROW_BANK,     /* struct ws_bank */
	WS_ROW_SM,       /* struct ws_sm */
	WS_ROW_BLOCK,    /* struct ws_block */
	WS_ROW_WARP,     /* struct ws_warp */
	WS_ROW_LANE,     /* struct ws_lane */
	WS_ROW_FRAME,    /* struct ws_return_address */
	WS_ROW_METADATA, /* struct ws_dump_facts */
	WS_N_ROWS,
};

enum ws_field_type {
	WS_FIELD_U32,
	WS_FIELD_U64,
	WS_FIELD_I64,
	WS_FIELD_FLAG, /* bool */
	WS_FIELD_DIM3, /* struct ws_dim3 */
	WS_FIELD_TEXT, /* struct ws_str */
};

/* A member of such a structure that rows of a dump have a field for. */
struct ws_field {
	const char *name; /* of the member */
	size_t offset;    /* in the structure */
	enum ws_field_type type;
	uint32_t have; /* flag that it needs, of wsi_row_have(); 0: every row has it */
};

/* The fields of a kind of row, in the order of the dump's layout. Static storage. */
const struct ws_field *wsi_row_fields(enum ws_row row, size_t *ret_n);
/* The flags of what a structure of that kind has: its `have`; of metadata, what `have_flags` and
 * `have_time` say. */
uint32_t wsi_row_have(enum ws_row row, const void *structure);

#endif
