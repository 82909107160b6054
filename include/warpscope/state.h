/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What can be known about a stopped GPU: devices, contexts, images, grids, SMs, blocks, warps,
 * lanes.
 *
 * These plain structures are the vocabulary of the dump reader (core.h), of every back end
 * (target.h) and of everything above them. The terms are those of NVIDIA's debugger API manual: a
 * *device* has *SMs*, an SM has warp slots, a *warp* has 32 *lanes*; a *grid* is one launch of a
 * *kernel*, its *blocks* (CTAs) live on SMs and own warps; a *context* loads *modules*, each of
 * which has an *image* (cubin) in two forms: as loaded ("relocated", with device addresses) and as
 * in its file ("original").
 *
 * **Two kinds of number.** An *id* is the hardware's or the driver's (`id`, `grid_id`, `handle`):
 * ids may have gaps, come in any order, and are what a user sees and types. An *index* is a
 * position in one of the object's lists, dense from 0, valid until the object is closed (or, for a
 * target that can run, until it runs); such fields end in `_index` and hold WS_NONE if there is no
 * such thing.
 *
 * **Missing fields.** `have` tells which of the fields marked with a flag are present; a missing
 * field is 0 and means nothing. Dumps of older drivers lack the newer fields
 * (docs/formats/coredump.md lists when each was added).
 */
#ifndef WARPSCOPE_STATE_H
#define WARPSCOPE_STATE_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** No index. */
#define WS_NONE UINT32_MAX

enum {
	WS_MAX_LANES = 32, /**< lanes of a warp on every GPU so far */
	WS_MAX_REGS = 256, /**< registers of a lane, as rows count them */
};

enum ws_device_have {
	WS_DEVICE_UNIFORM = 1u << 0,  /**< n_uniform_regs, n_uniform_preds */
	WS_DEVICE_BARRIERS = 1u << 1, /**< n_convergence_barriers */
};

/** One GPU. Strings are borrowed and may be empty. */
struct ws_device {
	uint32_t have;
	uint32_t id;           /**< CUDA device number */
	struct ws_str name;    /**< e.g. "NVIDIA H200" */
	struct ws_str type;    /**< internal chip name, e.g. "GH100" */
	struct ws_str sm_type; /**< e.g. "sm_90" */
	uint32_t pci_bus, pci_device;
	uint32_t n_sms, n_warps_per_sm, n_lanes_per_warp;
	uint32_t n_regs_per_lane; /**< upper bound; see ws_warp.n_regs and ws_grid.n_regs for those
				     in use */
	uint32_t n_preds_per_lane;
	uint32_t sm_major, sm_minor; /**< compute capability */
	uint32_t instruction_bytes;  /**< size of one instruction: 16 since Volta */
	uint32_t status;             /**< CUDBGResult of collecting this device; 0 is success */
	uint32_t n_uniform_regs, n_uniform_preds; /**< WS_DEVICE_UNIFORM; per warp */
	uint32_t n_convergence_barriers;          /**< WS_DEVICE_BARRIERS; per warp */
	bool damaged; /**< the record holds impossible values, or most of its SMs and warps
			 contradict them: its numbers prove nothing */
};

/** One CUDA context on one device. */
struct ws_context {
	uint32_t device_index;
	uint64_t id;                 /**< handle */
	uint64_t shared_window_base; /**< generic address of the shared window */
	uint64_t local_window_base;  /**< generic address of the local window */
	uint64_t global_window_base;
	uint32_t host_tid;            /**< host thread that owns it */
	uint64_t first_grid, n_grids; /**< ids that its grids were given, as far as it is known: one
					 of them without a row is no longer listed */
};

/**
 * One loaded module with its images. If only one form of the image is there, the status of the
 * other says why (WS_ABSENT, WS_EXCLUDED, WS_TRUNCATED: cut; `…_bytes` then holds what is left).
 */
struct ws_module {
	uint32_t device_index, context_index;
	uint64_t handle; /**< module handle */
	enum ws_status relocated_status, original_status;
	struct ws_span relocated; /**< as loaded: addresses are device addresses */
	struct ws_span original;  /**< as in the cubin file */
	const uint32_t *loaded;   /**< sections of code that are loaded, in that order. NULL: all
				     that have an address, and their order is not known */
	uint32_t n_loaded;        /**< more than before: `relocated` has other bytes than it had */
};

enum ws_grid_have {
	WS_GRID_CLUSTER = 1u << 0,           /**< cluster_dim */
	WS_GRID_PREFERRED_CLUSTER = 1u << 1, /**< preferred_cluster_dim */
	WS_GRID_N_REGS = 1u << 2,            /**< n_regs */
	WS_GRID_PARAMS = 1u << 3,            /**< params_offset; in every dump */
	WS_GRID_BLOCKING = 1u << 4,          /**< launch_blocking; in every dump */
};

/** `type` of a grid whose kernel is the driver's own: a memset, a copy [public doc: CUDA debugger
 * API, CUDBG_KNL_TYPE_SYSTEM]. */
enum { WS_GRID_TYPE_SYSTEM = 1 };

/** One launch of a kernel. Enumerations hold the API's numbers (CUDBGKernelType, ...Origin,
 * ...GridStatus). */
struct ws_grid {
	uint32_t have;
	uint32_t device_index;
	uint32_t context_index; /**< WS_NONE when `context_id` names no context of the device */
	uint32_t module_index;  /**< WS_NONE when `module_handle` names no module of the context */
	int64_t id;             /**< grid id; negative: launched from the device */
	uint64_t context_id, module_handle;
	uint64_t function;       /**< handle of the kernel */
	uint64_t function_entry; /**< address of the kernel's first instruction */
	int64_t parent_id;       /**< launching grid of a device launch */
	uint64_t params_offset;  /**< WS_GRID_PARAMS: where the parameters start in constant bank 0,
				    bytes */
	uint32_t type, origin, status;
	uint32_t n_regs; /**< WS_GRID_N_REGS: registers per lane */
	struct ws_dim3 grid_dim, block_dim;
	bool launch_blocking; /**< WS_GRID_BLOCKING */
	uint32_t host_tid;
	struct ws_dim3 cluster_dim;           /**< WS_GRID_CLUSTER */
	struct ws_dim3 preferred_cluster_dim; /**< WS_GRID_PREFERRED_CLUSTER */
	bool damaged; /**< the record holds impossible values, or most of its blocks and warps
			 contradict them: its dimensions prove nothing */
};

enum ws_sm_have {
	WS_SM_EXCEPTION = 1u << 0,      /**< exception, error_pc_valid, error_pc */
	WS_SM_CLUSTER_TARGET = 1u << 1, /**< cluster_target_valid, cluster_target */
	WS_SM_EXCEPTION_TEXT = 1u << 2, /**< exception_text */
};

/**
 * One streaming multiprocessor. Its exception is that of any of its warps and stays after they
 * exited: without a lane to blame, this row alone shows the fault.
 */
struct ws_sm {
	uint32_t have;
	uint32_t device_index;
	uint32_t id;
	uint32_t exception; /**< CUDBGException_t; 0 is none */
	bool error_pc_valid;
	uint64_t error_pc;
	bool cluster_target_valid;
	struct ws_dim3 cluster_target; /**< target block of a cluster exception */
	struct ws_str exception_text;  /**< the driver's own words */
	bool damaged; /**< the record holds impossible values: its exception proves nothing */
	uint32_t first_warp_index, n_warps; /**< its warps, in the order of warp ids */
};

enum ws_block_have {
	WS_BLOCK_CLUSTER_IDX = 1u << 0,
	WS_BLOCK_CLUSTER_DIM = 1u << 1,
};

/** One block (CTA) resident on an SM. */
struct ws_block {
	uint32_t have;
	uint32_t device_index, sm_index;
	uint32_t grid_index; /**< WS_NONE when `grid_id` names no grid of the device */
	int64_t grid_id;
	struct ws_dim3 idx;
	struct ws_dim3 cluster_idx; /**< WS_BLOCK_CLUSTER_IDX */
	struct ws_dim3 cluster_dim; /**< WS_BLOCK_CLUSTER_DIM */
	bool damaged; /**< the record holds impossible values, or lies outside its grid: its place
			 proves nothing */
};

enum ws_warp_have {
	WS_WARP_N_REGS = 1u << 0,
	WS_WARP_SHARED_BYTES = 1u << 1,
	WS_WARP_CBU = 1u << 2,     /**< in_syscall_lanes, cbu_*_lanes */
	WS_WARP_BARRIER = 1u << 3, /**< barrier_scope, barrier_text */
	WS_WARP_BROKEN = 1u << 4,  /**< broken; in every dump */
	WS_WARP_STOP = 1u << 5,    /**< stop, stop_pc; of a broken warp */
};

/** Why a warp is broken: as of the moment when it stopped, whatever was planted or taken out since.
 */
enum ws_stop {
	WS_STOP_TRAP,     /**< a trap in the code, an exception, or nothing that is known */
	WS_STOP_PLANTED,  /**< a planted breakpoint at `stop_pc` */
	WS_STOP_LAUNCH,   /**< the first instruction of a kernel that was to stop there */
	WS_STOP_INTERNAL, /**< a stop of the back end's own */
};

/** One resident warp. Lane masks have bit i for lane i. */
struct ws_warp {
	uint32_t have;
	uint32_t device_index, sm_index, block_index;
	uint32_t id;           /**< warp slot of its SM */
	uint32_t valid_lanes;  /**< lanes that have a thread */
	uint32_t active_lanes; /**< lanes that run together now; the others are diverged */
	bool broken;           /**< WS_WARP_BROKEN: stopped at a breakpoint or trap */
	bool error_pc_valid;
	uint64_t error_pc;     /**< the instruction the hardware blames; the lanes' pc is usually
				  further on */
	uint32_t n_regs;       /**< WS_WARP_N_REGS */
	uint32_t shared_bytes; /**< WS_WARP_SHARED_BYTES */
	uint32_t in_syscall_lanes, cbu_active_lanes, cbu_exited_lanes, cbu_collective_lanes;
	uint32_t barrier_scope; /**< CUDBGBarrierScope */
	struct ws_str barrier_text;
	enum ws_stop stop; /**< WS_WARP_STOP */
	uint64_t stop_pc;  /**< WS_WARP_STOP: where it stopped */
	bool damaged;      /**< the record holds impossible values: its masks prove nothing */
};

enum ws_lane_have {
	WS_LANE_CBU_STATE = 1u << 0,
	WS_LANE_RPC = 1u << 1,
	WS_LANE_BARRIER = 1u << 2, /**< barrier_scope */
	WS_LANE_CC = 1u << 3,      /**< cc_register; in every dump, 0 since Volta */
};

/** One lane of a warp, that is: one thread. */
struct ws_lane {
	uint32_t have;
	uint32_t id; /**< lane number, 0 to 31 */
	uint64_t pc; /**< address of the next instruction; a host address in dumps of the classic
			back end */
	uint64_t rel_pc; /**< offset of that instruction in its function, bytes */
	struct ws_dim3 thread;
	uint32_t exception; /**< CUDBGException_t; 0 is none */
	uint32_t call_depth, syscall_call_depth;
	uint32_t cc_register;    /**< WS_LANE_CC: condition codes; before Volta only */
	uint32_t cbu_state;      /**< WS_LANE_CBU_STATE: CUDBGCbuThreadState */
	uint32_t rpc_lo, rpc_hi; /**< WS_LANE_RPC */
	uint32_t barrier_scope;  /**< WS_LANE_BARRIER: CUDBGBarrierScope */
	bool damaged; /**< the record holds impossible values: its exception proves nothing */
};

/** One return address of a lane's call stack. */
struct ws_return_address {
	uint32_t level;   /**< 0: the caller of the function that holds the pc */
	uint64_t address; /**< where it returns to; a host address in dumps of the classic back end
			   */
	uint64_t rel_address; /**< the same as an offset in the caller, bytes */
};

/** A constant bank of a grid: its contents are global memory. */
struct ws_bank {
	uint64_t address; /**< device address */
	uint32_t size;    /**< bytes */
	uint32_t id;      /**< number of the bank */
};

/** Kinds of register. Widths are 32 bits for all; predicates are 0 or 1. */
enum ws_reg_kind {
	WS_REG_R,       /**< R0...: per lane */
	WS_REG_P,       /**< P0...: per lane */
	WS_REG_UR,      /**< UR0...: per warp */
	WS_REG_UP,      /**< UP0...: per warp */
	WS_REG_BARRIER, /**< convergence barriers B0...: per warp, mask of participating lanes */
};

/** Memory spaces, by cuda-gdb's names. */
enum ws_space {
	WS_SPACE_GLOBAL,  /**< device memory, managed memory too */
	WS_SPACE_SHARED,  /**< of the warp's block; address 0 is its start */
	WS_SPACE_LOCAL,   /**< of a lane */
	WS_SPACE_PARAM,   /**< of a grid; addresses count from the start of constant bank 0 */
	WS_SPACE_CONST,   /**< a constant bank of a grid; needs `bank` */
	WS_SPACE_CODE,    /**< machine code; addresses as in pc */
	WS_SPACE_GENERIC, /**< 64-bit address in global, shared or local memory, as the context's
			     windows decide */
};

enum { WS_WINDOW_BYTES = 16 << 20 };

/**
 * Whether a generic address lies in the shared or the local window of a context; `*ret_offset`
 * receives its offset there. No target tells how long the windows are. Readers of dumps take 16 MiB
 * for both; with `clusters` (sm_90 and later) the shared window has 16 MiB for each rank of a
 * cluster, 4 GiB in all. [measured: cuda-gdb's reader; guess]
 */
WS_API bool ws_context_window(const struct ws_context *context, enum ws_space space, bool clusters,
			      uint64_t address, uint64_t *ret_offset);

/** An address with what is needed to resolve it. Indices that a space does not need are ignored. */
struct ws_address {
	enum ws_space space;
	uint32_t bank;         /**< WS_SPACE_CONST */
	uint32_t device_index; /**< WS_NONE: any device (global, code) */
	uint32_t grid_index;   /**< param, const; WS_NONE: the warp's grid */
	uint32_t warp_index;   /**< shared, local, generic */
	uint32_t lane;         /**< lane id: local, generic */
	uint64_t address;
};

/** A range of memory whose contents are known. */
struct ws_memory_range {
	enum ws_space space;
	bool managed;
	uint32_t device_index, grid_index, block_index, warp_index,
		lane; /**< owner; WS_NONE where none */
	uint32_t bank;
	uint64_t start, size;   /**< address and bytes; WS_SPACE_CONST: the bank's device address,
				   although   reads count from its start */
	uint64_t bytes_present; /**< less than `size` when the dump was cut */
	uint64_t file_off;      /**< where the bytes are in the file, or WS_NO_OFFSET */
};

/**
 * Lengths of the lists. Order of the lists: devices as recorded; contexts, grids by device, then as
 * recorded; images by context, then as recorded; SMs by device, then by id; blocks by SM, then as
 * recorded; warps by SM, then by id. Two things with the same id (a damaged dump) are both listed,
 * as recorded.
 */
struct ws_counts {
	uint32_t devices, contexts, modules, grids, sms, blocks, warps;
};

/**
 * What Warpscope's writer is asked to leave out (write.h), by the API's numbers
 * (CUDBG_COREDUMP_*, CUDBGCoredumpGenerationFlags). Bit 4 (SKIP_ABORT until 12.5) and bits without
 * a meaning are WS_ARGUMENT.
 */
enum ws_write_flags {
	WS_WRITE_SKIP_IMAGES = 1u << 0, /**< images as compiled; the relocated ones stay */
	WS_WRITE_SKIP_GLOBAL = 1u << 1, /**< global and managed memory, except constant banks */
	WS_WRITE_SKIP_SHARED = 1u << 2,
	WS_WRITE_SKIP_LOCAL = 1u << 3,
	/** The program is not aborted after the dump: not a matter of the writer, see
	 * ws_write_flags_parse(). */
	WS_WRITE_SKIP_ABORT = 1u << 4,
	/** The contents of constant banks, **and kernel parameters**, which are in bank 0. The
	   table of banks stays. */
	WS_WRITE_SKIP_BANKS = 1u << 5,
	WS_WRITE_GZIP = 1u << 6, /**< pack the file */
	/** Only contexts in which a thread faulted or stopped at a trap, with their modules, grids
	 * and blocks. Devices, SMs and global memory (which belongs to no context) stay. A device
	 * whose only sign of a fault is an SM without warps keeps all its contexts. */
	WS_WRITE_FAULTED_CONTEXTS = 1u << 7,
	WS_WRITE_LIGHTWEIGHT = 47, /**< all five SKIP flags */
	WS_WRITE_KNOWN_FLAGS = 0xef,
};

/** What else ws_strip() (write.h) removes. */
enum ws_strip_flags {
	/**
	 * All but the warps in which a thread faulted or stopped at a trap, with their blocks,
	 * grids and contexts, and the modules that hold their code. SMs stay: a fault may be
	 * recorded by an SM alone. A dump without a fault keeps all warps, because then every warp
	 * matters.
	 */
	WS_STRIP_OTHERS = 1u << 0,
	/**
	 * Values: registers, memory and constants become one representative of their class, see
	 * enum ws_value_class; texts of exceptions and barriers become empty, host thread ids
	 * become 0. Lane numbers, masks, predicates, pcs, the stack pointer (R1) and handles stay.
	 */
	WS_STRIP_VALUES = 1u << 1,
	WS_STRIP_PTX = 1u << 2, /**< PTX text in images: blanked in place */
	/**
	 * Folders in source paths become "x", byte for byte; file names and the folders of
	 * well-known libraries stay. Constants in images, which may hold paths in any form, become
	 * 0.
	 */
	WS_STRIP_PATHS = 1u << 3,
};

/** What only a file knows. */
struct ws_dump_facts {
	const char *path;   /**< as given when it was opened; "-" for standard input */
	uint64_t bytes;     /**< size, unpacked */
	bool complete;      /**< nothing is damaged or missing: there is no diagnostic */
	bool lost;          /**< so far something was asked for that could not be read */
	uint64_t lost_off;  /**< then: the first such byte */
	bool cut;           /**< something that the headers promise is missing, or may be */
	bool have_metadata; /**< the next fields come from the dump's metadata (drivers r565 and
			       later) */
	struct ws_str generator;             /**< who wrote it */
	uint32_t driver_major, driver_minor; /**< GPU driver; 0 on Tegra */
	uint32_t cuda_major, cuda_minor;     /**< CUDA driver */
	bool have_flags;
	uint32_t flags; /**< CUDBGCoredumpGenerationFlags, when have_flags */
	bool have_time;
	uint32_t timestamp; /**< seconds since 1970, when have_time */
	const char *layout; /**< oldest driver branch that has every field seen, e.g. "r590" */
	bool classic;       /**< classic back end: pcs are host addresses */
	/** What Warpscope's writer removed, as far as the dump says so: enum ws_write_flags and
	 * enum ws_strip_flags. */
	uint32_t left_out, stripped;
	/** The ranges of global memory that there were when `left_out` took their contents away: of
	 * each its address and its size, two little-endian words of 64 bits, by address;
	 * WS_MAP_MANAGED is set in sizes of managed memory. Empty: not known. Valid until the
	 * target is closed. */
	struct ws_span memory_map;
};

enum { WS_MAP_BYTES = 16 }; /**< of a range of `memory_map` */
#define WS_MAP_MANAGED (UINT64_C(1) << 63)

/** What something that is lost could have shown. */
enum ws_hides {
	WS_HIDES_NOTHING,
	WS_HIDES_HANG,  /**< whether threads wait, and for what */
	WS_HIDES_FAULT, /**< whether there was an exception, too */
};

/** One finding about the input: damage, or something this version does not know. */
struct ws_diagnostic {
	const char *what;    /**< kind of thing, e.g. "section", "warp table" */
	uint64_t file_off;   /**< or WS_NO_OFFSET */
	uint64_t repeats;    /**< how many more of the same kind were seen (and not listed) */
	const char *message; /**< one plain sentence, no newline */
	enum ws_hides hides; /**< what cannot be known without it */
};

#ifdef __cplusplus
}
#endif
#endif
