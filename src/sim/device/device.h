/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a device: what all floors share.
 *
 *   module --> texts (code sections) --> operations, decoded when they are first executed
 *          \-> variables and constant banks in global memory
 *   queue of grids --> blocks on SMs --> warps
 *
 * **Lanes.** Each lane has its own pc. Lanes run together as a group until they part: at a branch,
 * or because some wait. They meet again only where code says so, at BSYNC and WARPSYNC: lanes that
 * happen to have the same pc (at two depths of a recursion) would wait for each other for ever.
 * A lane that is not ready waits for others of its warp (convergence barrier, WARPSYNC) or of its
 * block (BAR), or has exited. The convergence model: BSSY gives every lane of the group the group's
 * mask; BSYNC parks a lane until all lanes of its mask that have not exited are parked there.
 */
#ifndef WSI_SIM_DEVICE_H
#define WSI_SIM_DEVICE_H

#include <stdatomic.h>

#include <warpscope/cubin.h>
#include <warpscope/cudadebugger.h>

#include "alu/alu.h"
#include "base/reader.h"
#include "sim/device/memory.h"

enum {
	WSI_LANES = WSI_ALU_LANES,
	WSI_BARRIERS = 16,     /* of a block, and convergence barriers of a warp */
	WSI_BANKS = 18,        /* constant banks */
	WSI_MAX_CLUSTER = 16,  /* blocks */
	WSI_LOCAL_CHUNK = 128, /* bytes of local memory of a lane that come at a time */
	WSI_OPS_CHUNK = 64,    /* operations that are decoded at a time */
	WSI_DEVICE_NOWHERE = 0xffff,
	WSI_SHARED_KEPT = 1024, /* bytes of a block's shared memory that the system takes */
	WSI_WORDS_READ = 16,    /* of an operand, at most; products of matrices have more */
	WSI_WORDS_WRITTEN = 8,
};

/* Where things are in the address space; the heap is in memory.c. */
#define WSI_SERVICE_BASE UINT64_C(0x7b0000000000)
#define WSI_CODE_BASE UINT64_C(0x7c0000000000)
#define WSI_LOCAL_WINDOW UINT64_C(0x7d0000000000)
#define WSI_SHARED_WINDOW UINT64_C(0x7e0000000000)
#define WSI_WINDOW_BYTES UINT64_C(0x100000000)

/* data/devices.txt */
struct wsi_device {
	const char *name;
	uint32_t sm, sms, warps, blocks, regs, smem, block, kept, uregs;
	uint32_t param, stack, local, shared, constant, ntid, nctaid, desc, cluster, sync;
	uint32_t params, behind; /* bank 0: an address, so many bytes before the parameters' */
	uint32_t dynamic, grid, nsm, total, aggr, kend, scratch, cdim, cinv, ncl, crank, each;
};

struct wsi_stub;
struct wsi_watches;
struct wsi_object;
struct wsi_sections;
struct wsi_run;
struct wsi_op;

/* What happens after an operation. */
enum wsi_step {
	WSI_STEP_NEXT,  /* the next instruction, all lanes of the group */
	WSI_STEP_JUMP,  /* all lanes of the group go on at run->pc */
	WSI_STEP_SPLIT, /* the pcs of the warp say where each lane goes on, if it does */
	WSI_STEP_YIELD, /* as NEXT, and let another warp run */
	WSI_STEP_FAULT, /* run->sim->fault says what */
	WSI_STEP_HALT,  /* nothing was executed: the warp stands at a breakpoint */
};

typedef enum wsi_step wsi_handler(struct wsi_run *run, const struct wsi_op *op);
/* What the modifiers say of an operation; unimplemented where nothing fits. */
typedef void wsi_preparer(struct wsi_op *op);

/* Modifiers that handlers ask for. */
/* clang-format off */
#define WSI_MODIFIERS(X) \
	X(ADD) X(ALL) X(AND) X(ANY) X(ARV) X(BFLY) X(CAS) X(CAST) X(CLEAR) X(CONV) X(DEC) X(DIV) \
	X(DOWN) X(E) X(EQ) X(EXCH) X(F16x2) X(F32) X(F64) X(FTZ) X(INC) X(L) X(MAX) X(MIN) X(MT88) \
	X(NAN) X(OR) X(POPC) X(RECONVERGENT) X(RED) X(RELIABLE) X(RESULT) X(S) X(S16) X(S32) \
	X(S64) X(S8) X(SAFEADD) X(SCAN) X(SPIN) X(SUM) X(SYS) X(U64) X(UP) X(XOR) X(ZFILL) \
	X(BF16x2) X(BF16_V2) X(128) X(64) X(G) X(PRIVATE) X(ARRIVE) X(D) X(U) X(STRONG)
/* clang-format on */

enum wsi_modifier {
#define X(name) WSI_MODIFIER_##name,
	WSI_MODIFIERS(X)
#undef X
};

/* Whether the name of an instruction has a modifier of that list. */
#define WSI_HAS(op, name) ((op)->has >> WSI_MODIFIER_##name & 1)

/* An address: [register * scale + uniform register + offset]. */
struct wsi_op_address {
	uint8_t reg, reg_words; /* 0 words: none */
	uint8_t ureg, ureg_words;
	uint8_t shift;
	uint8_t bank; /* constants */
	int64_t offset;
};

/* What an operation does, as far as a device that checks has to know, and the handler that does it:
 * from LOAD on it accesses memory that others see. */
/* clang-format off */
#define WSI_DOES_LIST(X) \
	X(VALUES, values) X(LOAD_CONSTANT, load_constant) X(LOAD, load) X(LOAD_WIDE, load_wide) \
	X(STORE, store) X(STORE_WIDE, store_wide) X(UNIFORM_STORE, uniform_store) X(CLEAR, clear) \
	X(ATOMIC, atomic) X(COPY, copy) X(MATRIX_LOAD, matrix_load) X(ARRIVES, arrives) \
	X(ARRIVE, mbarrier_arrive) X(TEST, mbarrier_test) X(EXCHANGE, mbarrier_exchange)
/* clang-format on */

enum wsi_does {
	WSI_DOES_OTHER,
#define X(name, handler) WSI_DOES_##name,
	WSI_DOES_LIST(X)
#undef X
		WSI_DOES_FENCE,
};

/* One decoded instruction. */
struct wsi_op {
	wsi_handler *run;
	wsi_handler *checked; /* what `run` would be, on a device that checks */
	uint8_t guard, bytes;
	bool guard_negated, guard_uniform;
	bool splits; /* the handler may return SPLIT: lanes' pcs are stored before it runs */
	bool always; /* runs even if the guard lets nobody execute */
	uint8_t n_at;
	uint8_t space;      /* enum ws_sass_space */
	uint8_t does;       /* enum wsi_does */
	uint8_t kind, type; /* by handler */
	uint8_t wrap;       /* of a device that checks: wrap.c */
	uint16_t top;       /* registers that it needs */
	uint64_t has;       /* modifiers: WSI_HAS() */
	uint64_t target;
	struct wsi_op_address at[2];
	struct wsi_alu alu; /* of others than values.c, only the operands */
	struct ws_insn insn;
};

/* A code section at its address. */
struct wsi_text {
	uint64_t start, size;
	const uint8_t *bytes;   /* in the module's image */
	struct wsi_op **chunks; /* owned; NULL: not decoded */
	uint32_t module, section;
	bool is_loaded; /* else it is there for nobody yet: options.lazy */
};

/* A constant bank in global memory. */
struct wsi_bank {
	uint64_t address, size;
	const uint8_t *bytes; /* valid while the device runs */
};

struct wsi_module {
	uint8_t *original; /* owned; what `cubin` was opened over */
	uint8_t *image;    /* owned; relocated, as large */
	size_t image_bytes;
	struct ws_cubin *cubin; /* owned */
	uint64_t *address;      /* owned; of each section, 0: none */
	uint32_t n_sections;
	size_t first_text;             /* of its own, by section */
	struct wsi_sections *sections; /* owned; NULL: nothing is loaded later than it */
	uint32_t *loaded;              /* owned; sections of code that are loaded, in that order */
	uint32_t n_loaded, n_texts;
	uint32_t n_shown; /* of these, whose addresses the image has */
	uint32_t n_told;  /* of these, to debuggers */
	uint64_t taken;   /* by it, of the account */
};

/* A launch. */
struct wsi_grid {
	struct wsi_grid *next; /* in the queue */
	uint64_t id, entry;
	uint32_t module, n_regs, local_bytes, shared_bytes;
	uint32_t param;                                /* where bank 0 has its parameters */
	uint32_t sm_regs, sm_shared_bytes;             /* what a block takes of an SM: fit.c */
	struct ws_dim3 dim, block, cluster, preferred; /* preferred: `cluster`, if none is */
	uint64_t n_blocks, next_block, done_blocks;    /* next_block: see block_index() */
	uint32_t n_warps;                              /* of a block */
	bool told, held;                 /* a debugger was told of it, and it must not start yet */
	bool blocks;                     /* its launch, until it is done */
	uint64_t event;                  /* by which it was told */
	uint32_t host_tid, n_host_stack; /* who launched it */
	uint64_t host_stack[WS_SIM_HOST_STACK];
	uint64_t parent;    /* the grid that launched it; 0: the host has */
	uint32_t depth;     /* of launches */
	bool is_system;     /* a kernel of the driver */
	bool is_tail;       /* runs when its parent is done, not before that */
	bool sleeps;        /* its blocks are done, but not what they launched */
	uint32_t partition; /* where shared memory has what allocation of tensor memory needs, or 0
			     */
	uint64_t sync;      /* words that the blocks of a cooperative launch wait by; 0: none */
	struct wsi_bank bank[WSI_BANKS];
};

/* A launch from the device whose parameters are being written. */
struct wsi_draft {
	uint64_t address, entry, parent; /* of the parameters, of the kernel */
	struct ws_dim3 grid, block;
	uint32_t shared_bytes;
};

struct wsi_warp;

/* A named barrier of a block; who arrived is in its warps. */
struct wsi_bar {
	uint32_t expected; /* threads; 0: all that have not exited */
	uint32_t popc;
	bool any, all, of_all, in_use; /* of_all: a reduction by AND */
};

/* Blocks that run at the same time. */
struct wsi_cluster {
	struct wsi_block *peers[WSI_MAX_CLUSTER]; /* by rank; NULL: gone */
	uint32_t n, left;
};

struct wsi_tensor;

struct wsi_block {
	struct wsi_grid *grid;
	struct wsi_tensor *tensor;     /* owned; its columns of tensor memory, or NULL */
	struct wsi_block_trace *trace; /* owned; of a device that checks, else NULL */
	struct ws_dim3 idx;
	struct ws_dim3 cluster_dim;
	uint32_t sm, rank;           /* in its cluster */
	struct wsi_cluster *cluster; /* NULL: none. Owned by all its blocks */
	uint8_t *shared;             /* owned */
	uint32_t shared_bytes, n_warps, live_warps;
	uint64_t taken;          /* by it and its warps, of the account */
	uint32_t behind;         /* offset of what the system takes behind it, 0: nothing */
	uint32_t free_regs;      /* of a lane, that warps have given back (setmaxnreg) */
	struct wsi_warp **warps; /* owned, and they are */
	struct wsi_bar bar[WSI_BARRIERS];
};

/* What debuggers see in place of what is so; 0: nothing. */
struct wsi_guise {
	uint64_t executed; /* as long as the warp has executed so much, ... */
	uint32_t any;      /* ... of these lanes */
	uint32_t collective;
	uint8_t state[WSI_LANES], scope[WSI_LANES];
};

struct wsi_warp {
	struct wsi_block *block;
	struct wsi_trace *trace; /* as the block's */
	uint32_t *regs;          /* owned: n_regs vectors, then the uniform registers */
	uint32_t *uregs;
	uint8_t **local;  /* owned; chunks of WSI_LOCAL_CHUNK bytes for each lane, by word */
	uint64_t *frames; /* owned; return addresses: WSI_LANES for each level */
	uint32_t n_regs, n_frames;
	uint32_t id, slot; /* in the block, on the SM */
	size_t at;         /* in ws_sim.resident */
	uint64_t age;      /* number of its creation */
	uint64_t executed;
	uint32_t valid, live, ready;
	uint32_t parked, syncing, barred; /* waits for: a convergence barrier, WARPSYNC, BAR */
	uint32_t yielded, firm;   /* executed YIELD since; wait at a reliable convergence barrier */
	uint32_t asleep, grouped; /* their last instruction was NANOSLEEP; found that their group of
				     warps is not there */
	uint32_t cluster_arrived, clustered, cluster_passed; /* there; waits there; may pass */
	uint32_t pred[8];
	uint32_t upred;      /* a bit each */
	uint32_t bar_result; /* of the last barrier with a reduction: a count, */
	bool bar_yes;        /* and a predicate */
	uint32_t turn;       /* counts choices of groups */
	uint32_t resume;     /* group that must run next, see run.c; 0: any */
	bool released;       /* a barrier let it go on: for debuggers, see debug.h */
	uint8_t halt;        /* enum wsi_halt */
	uint64_t halt_pc;
	uint64_t seen[WSI_LANES]; /* breakpoint that a lane has stopped at and may pass, or 0 */
	uint64_t pc[WSI_LANES];
	uint32_t converge[WSI_BARRIERS][WSI_LANES]; /* B0 ...: a mask in each lane */
	uint32_t team[WSI_LANES];                   /* who runs with it: equal for all of them */
	uint32_t sync_mask[WSI_LANES];
	uint32_t rpc[2][WSI_LANES];     /* Rpc.LO, Rpc.HI */
	uint64_t groups;                /* of matrix products that it has begun */
	uint32_t arrived[WSI_BARRIERS]; /* at barriers of the block: lanes */
	uint8_t park[WSI_LANES];        /* barrier that a lane waits at */
	uint8_t depth[WSI_LANES];       /* calls */
	uint8_t error[WSI_LANES];       /* cudaGetLastError() */
	struct wsi_guise guise;
};

struct wsi_sm {
	uint32_t n_blocks, n_warps, regs, smem;
	uint64_t slots;   /* in use */
	uint32_t columns; /* of tensor memory that are given out: a bit for 32 of them */
};

/* What follows `stop` is what a snapshot keeps, but for modules, texts and objects (snapshot.c). */
struct ws_sim {
	struct wsi_stub *debug;      /* of a debugger, or NULL */
	struct wsi_watches *watches; /* the same */
	uint64_t host_changes;       /* calls of the host that change the device, or its code */
	uint64_t user_changes;       /* the same of a debugger */
	uint64_t n_loads;            /* how often code of a module was loaded later than that */
	uint64_t labor;              /* of long instructions, since the stop flag was looked at */
	bool is_called;              /* it was set when one of them looked */
	struct wsi_budget budget;    /* of what snapshots hold alone: see history.h */
	atomic_bool stop;
	const struct wsi_device *device;
	struct ws_sim_options options;
	struct wsi_account account;
	struct wsi_memory memory;
	struct wsi_module *modules; /* owned */
	size_t n_modules, cap_modules;
	struct wsi_text *texts; /* owned; by address */
	size_t n_texts, cap_texts;
	struct wsi_object *objects; /* owned; textures and surfaces, see texture.h */
	size_t n_objects, cap_objects;
	uint64_t next_code;
	struct wsi_grid *queue; /* owned; the first one runs */
	uint64_t n_grids;
	struct wsi_grid *later;   /* owned; launched by grids of the queue, which come first */
	struct wsi_draft *drafts; /* owned */
	size_t n_drafts, cap_drafts, n_children; /* launched by the device and not finished */
	struct wsi_sm *sms;                      /* owned */
	struct wsi_warp **resident; /* borrowed from blocks, oldest first; NULL: a gap */
	size_t n_resident, cap_resident, n_gaps, turn;
	uint64_t *awake; /* owned; a bit for each of these, 0: it is not ready, or gone */
	size_t cap_awake;
	struct wsi_block **blocks; /* owned; resident */
	size_t n_blocks, cap_blocks;
	uint64_t instructions, ages, random, turns;
	bool turn_kept;              /* the oldest warp may run on */
	struct wsi_warp *turn_of;    /* whose turn was cut and goes on; or NULL */
	uint64_t turn_left;          /* instructions of that turn */
	uint64_t until_poll;         /* when turns end early: see run.c */
	uint64_t services;           /* calls of the device's own functions */
	uint64_t heap_bytes, n_heap; /* that kernels have allocated, and in how many pieces */
	bool faulted;
	uint32_t late;     /* instructions until `fault` surfaces; 0: there is none */
	uint64_t late_age; /* of its warp */
	struct ws_sim_fault fault;
	struct wsi_check *check; /* owned; NULL: it does not check */
	uint8_t *printed;        /* owned; options.print_bytes */
	size_t n_printed;
};

/* Execution of one group of lanes. */
struct wsi_run {
	struct ws_sim *sim;
	struct wsi_warp *warp;
	uint32_t group; /* lanes that run together */
	uint32_t team;  /* theirs */
	uint32_t mask;  /* of these, those that the guard lets execute */
	uint64_t pc;    /* of the instruction that runs */
	uint64_t n;     /* instructions that it may execute */
	bool cut;       /* the turn goes on behind these */
	bool stands;    /* must not go on, although the turn is not over */
	const struct wsi_bank *bank;
	bool no_memory; /* of the host, or of the account: ends the run */
};

/* ---- fault.c ---- */
/* Records a fault of the instruction that runs; `lanes` are to blame. */
enum wsi_step wsi_fault(struct wsi_run *run, uint32_t exception, uint32_t lanes, const char *format,
			...) WS_PRINTF(4, 5);
enum wsi_step wsi_fault_at(struct wsi_run *run, uint32_t exception, uint32_t lane, uint64_t address,
			   const char *format, ...) WS_PRINTF(5, 6);
/* The fault that was just recorded concerns a block of the cluster, by its rank. */
void wsi_fault_target(struct wsi_run *run, uint32_t rank);
/* Whether the fault of a bad access that was just recorded surfaces later (options.late), and the
 * warp goes on. `lanes` are to blame. */
bool wsi_fault_postpone(struct wsi_run *run, uint32_t lanes);
/* The end of an instruction that its lanes execute as one, after such a fault. */
enum wsi_step wsi_fault_together(struct wsi_run *run);
/* So many instructions have been executed since. */
void wsi_fault_wait(struct ws_sim *sim, uint64_t n);
wsi_handler wsi_run_unimplemented, wsi_run_illegal;

/* ---- fit.c ---- */
/* Registers of a thread that has `n_regs` in the image, which may not say it. */
uint32_t wsi_fit_regs(uint32_t n_regs);
/* What a warp of these takes of the registers of an SM. */
uint32_t wsi_fit_warp_share(const struct ws_sim_limits *limits, uint32_t n_regs);
/* Shared memory of a block by its addresses, and what it takes of an SM, in units of an SM. */
uint64_t wsi_fit_shared(const struct ws_sim_limits *limits, uint32_t static_bytes,
			uint32_t dynamic_bytes);
uint32_t wsi_fit_shared_share(const struct ws_sim_limits *limits, uint64_t shared_bytes);
uint32_t wsi_fit_shared_unit(uint32_t sm);

/* Another warp has made lanes of this one ready. */
static inline void wsi_wake(struct ws_sim *sim, const struct wsi_warp *warp)
{
	sim->awake[warp->at / 64] |= UINT64_C(1) << warp->at % 64;
}

/* ---- values ---- */

static inline uint32_t *wsi_reg(const struct wsi_warp *warp, unsigned number)
{
	return warp->regs + (size_t)number * WSI_LANES;
}

static inline uint64_t wsi_reg64(const struct wsi_warp *warp, unsigned number, unsigned lane)
{
	if (number == 255)
		return 0;
	const uint32_t *reg = wsi_reg(warp, number);
	return reg[lane] | (uint64_t)reg[WSI_LANES + lane] << 32;
}

static inline uint32_t wsi_lane_value(const struct wsi_warp *warp, unsigned number, unsigned lane)
{
	return number == 255 ? 0 : wsi_reg(warp, number)[lane];
}

static inline uint32_t wsi_pred_mask(const struct wsi_warp *warp,
				     const struct wsi_alu_predicate *pred)
{
	if (pred->is_uniform)
		return warp->upred >> pred->number & 1 ? UINT32_MAX : 0;
	return warp->pred[pred->number];
}

static inline void wsi_pred_set(struct wsi_warp *warp, const struct wsi_alu_predicate *pred,
				uint32_t value, uint32_t mask)
{
	if (pred->number >= 7)
		return;
	if (pred->is_uniform)
		warp->upred = (warp->upred & ~(1u << pred->number)) |
			      ((value & mask) != 0 ? 1u << pred->number : 0);
	else
		warp->pred[pred->number] = (warp->pred[pred->number] & ~mask) | (value & mask);
}

/* The `i`th predicate that is read, its negation applied. */
static inline uint32_t wsi_pred_source(const struct wsi_run *run, const struct wsi_op *op,
				       unsigned i)
{
	return wsi_pred_mask(run->warp, &op->alu.predicate[i]) ^ op->alu.predicate_flip[i];
}

/* Where a lane stands: one that waits has not left the instruction that it waits at. */
static inline uint64_t wsi_lane_pc(const struct wsi_warp *warp, unsigned lane)
{
	bool waits = !(warp->ready >> lane & 1);
	return warp->pc[lane] - (waits ? WS_SASS_BYTES : 0);
}

/* ---- places ---- */

/* The text that holds a pc, or NULL: none that is loaded does. */
struct wsi_text *wsi_sim_text_find(struct ws_sim *sim, uint64_t pc);
/* The warp in a slot of an SM, or NULL. */
struct wsi_warp *wsi_warp_at(const struct ws_sim *sim, uint32_t sm, uint32_t slot);
/* Counts what a block takes; false: it does not fit. */
bool wsi_block_take(struct ws_sim *sim, struct wsi_block *block, const char *what,
		    uint64_t bytes) WS_MUST_USE;
/* A byte of local memory, inside of the stack. Chunks come when they are first needed; a word of
 * lane l in a chunk: 4 bytes at (word * WSI_LANES + l) * 4. NULL: no memory. */
uint8_t *wsi_local_byte(struct ws_sim *sim, struct wsi_warp *warp, unsigned lane, uint64_t address);

/* The block whose shared memory an address is in, and the offset there: from sm_90 on the upper
 * byte is the rank in the cluster. NULL: the cluster has no such block. */
static inline const struct wsi_block *wsi_shared_owner(const struct wsi_run *run, uint32_t address,
						       uint32_t *ret_offset)
{
	const struct wsi_block *own = run->warp->block;
	uint32_t rank = address >> 24;
	*ret_offset = address;
	if (run->sim->device->sm < 90)
		return own;
	*ret_offset = address & 0xffffff;
	if (rank == own->rank)
		return own;
	const struct wsi_cluster *cluster = own->cluster;
	return cluster && rank < cluster->n ? cluster->peers[rank] : NULL;
}

/* Bytes of a block's shared memory; NULL: it does not have them all. */
static inline uint8_t *wsi_shared_bytes(const struct wsi_block *block, uint64_t offset,
					uint64_t len)
{
	if (offset <= block->shared_bytes && len <= block->shared_bytes - offset)
		return block->shared + offset;
	uint64_t past = offset - block->behind;
	if (block->behind == 0 || past > WSI_SHARED_KEPT || len > WSI_SHARED_KEPT - past)
		return NULL;
	return block->shared + block->shared_bytes + past;
}

/* Instructions, and calls of the device's own functions, that it has executed. */
static inline uint64_t wsi_position(const struct ws_sim *sim)
{
	return sim->instructions + sim->services;
}

/* Word of a uniform register. */
static inline uint32_t wsi_ureg(const struct wsi_warp *warp, unsigned number)
{
	return number == 255 ? 0 : warp->uregs[number];
}

static inline uint64_t wsi_ureg64(const struct wsi_warp *warp, unsigned number)
{
	return number == 255 ? 0 : warp->uregs[number] | (uint64_t)warp->uregs[number + 1] << 32;
}

#endif
