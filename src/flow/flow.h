/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: a flow, and what one instruction does to registers.
 *
 *   create.c   bytes -> effects of every instruction, leaders of blocks, edges
 *   effect.c   what one instruction writes and where it goes
 *   written.c  registers written between two instructions
 *   reach.c    definitions that reach an instruction
 *   parts.c    the sources of an instruction
 *   slice.c    expressions: which definitions they follow
 *   express.c  the expression that one instruction computes
 *   fold.c     expressions made simpler
 *   address.c  an expression as base, terms and offset
 *   loop.c     the loop around an instruction, and whether others decide when it ends
 *   condition.c  what its conditions compare (loop.h)
 *   stores.c   the stores that give memory the value that an instruction finds
 */
#ifndef WSI_FLOW_H
#define WSI_FLOW_H

#include "base/base.h"

#include <warpscope/flow.h>

enum wsi_effect_flags {
	WSI_EFFECT_CALL = 1u << 0,    /* registers as the calling convention lets a callee write */
	WSI_EFFECT_UNKNOWN = 1u << 1, /* may write anything */
	WSI_EFFECT_GUARDED = 1u << 2, /* may not execute at all */
	WSI_EFFECT_STORE = 1u << 3,   /* may write local memory */
	WSI_EFFECT_PARTLY = 1u << 4,  /* the table does not explain all of it */
};

/* What an instruction writes. */
struct wsi_effect {
	uint8_t reg[2], n_reg[2]; /* runs of registers; n 0: none */
	uint8_t ureg, n_ureg;
	uint8_t pred, upred; /* masks */
	uint8_t guard;       /* predicate 0-6, 8 more when negated, 16 more when uniform */
	uint8_t flags;       /* enum wsi_effect_flags */
};

enum wsi_leave_flags {
	WSI_LEAVE_NEXT = 1u << 0,   /* may go on behind it */
	WSI_LEAVE_TARGET = 1u << 1, /* may go to `target` */
	WSI_LEAVE_END = 1u << 2,    /* ends its block */
	WSI_LEAVE_CALL = 1u << 3,
	WSI_LEAVE_RETURN = 1u << 4,
	WSI_LEAVE_EXIT = 1u << 5,
	WSI_LEAVE_INDIRECT = 1u << 6,
	WSI_LEAVE_SPLIT = 1u << 7, /* BSSY: `target` is where lanes meet again */
	WSI_LEAVE_SYNC = 1u << 8,  /* BSYNC */
};

/* Where an instruction goes. */
struct wsi_leave {
	uint64_t target;
	uint16_t flags;  /* enum wsi_leave_flags */
	uint8_t barrier; /* register of BSSY and BSYNC */
};

struct ws_flow {
	const uint8_t *code; /* borrowed */
	uint64_t base_pc;
	size_t n_insns;
	unsigned sm;
	struct wsi_effect *effect;    /* owned; one an instruction */
	uint32_t *block_of;           /* owned; one an instruction */
	struct ws_flow_block *blocks; /* owned */
	uint32_t *edges;              /* owned; the blocks' succ and pred */
	size_t n_blocks;
	bool open; /* some block is WS_FLOW_OPEN */
};

/* The instruction number `at`. */
void wsi_flow_insn(const struct ws_flow *flow, size_t at, struct ws_insn *ret_insn);
/* Number of the instruction at an address; SIZE_MAX: no instruction begins there. */
size_t wsi_flow_at(const struct ws_flow *flow, uint64_t pc);
static inline uint64_t wsi_flow_pc(const struct ws_flow *flow, size_t at)
{
	return flow->base_pc + at * WS_SASS_BYTES;
}
/* The first instruction of a block, and the one behind its last. */
static inline size_t wsi_flow_first(const struct ws_flow *flow, uint32_t block)
{
	return (size_t)((flow->blocks[block].pc - flow->base_pc) / WS_SASS_BYTES);
}
static inline size_t wsi_flow_end(const struct ws_flow *flow, uint32_t block)
{
	return (size_t)((flow->blocks[block].end_pc - flow->base_pc) / WS_SASS_BYTES);
}

void wsi_effect_of(const struct ws_insn *insn, struct wsi_effect *ret_effect);
/* `relocated`: absolute targets are addresses. */
void wsi_leave_of(const struct ws_insn *insn, uint64_t pc, bool relocated,
		  struct wsi_leave *ret_leave);

/* Adds `count` registers of a kind to a set. */
void wsi_registers_add(struct ws_flow_registers *set, enum ws_operand_kind kind, unsigned number,
		       unsigned count);
/* Adds what an effect writes, calls by convention. */
void wsi_registers_add_effect(struct ws_flow_registers *set, const struct wsi_effect *effect);
/*
 * Whether a callee may write a register: nvcc's calling convention keeps R1, R2 and R16 to R31
 * [measured: prologues of -G code for sm_80, sm_90 and sm_100, which save what they use of these].
 */
bool wsi_flow_call_may_write(enum ws_operand_kind kind, unsigned number);

/*
 * All that a callee inside this code, and what it calls, may write. False when that is not known,
 * or takes more than what is left of `steps` instructions.
 */
bool wsi_callee_writes(const struct ws_flow *flow, uint32_t callee, size_t *steps,
		       struct ws_flow_registers *ret_set) WS_MUST_USE;

/* ---- definitions ---- */

enum {
	WSI_MAX_DEFS = WS_FLOW_MAX_ARGS,
	WSI_MAX_STEPS = 1 << 20, /* instructions looked at for one slice */
};

/* What is asked for: registers, or bytes of the stack at a register and an offset, or what a judge
 * finds in stores. */
struct wsi_want {
	enum ws_operand_kind kind;
	uint8_t number;
	bool slot; /* memory at `number` + `offset` */
	uint8_t slot_bytes;
	int64_t offset;
	ws_flow_judge judge; /* NULL: none; else `kind` is WS_OPERAND_TARGET */
	void *context;
};

enum wsi_def_kind {
	WSI_DEF_INSN,  /* the instruction `at` writes it */
	WSI_DEF_ENTRY, /* it came in at the entry `at` */
	WSI_DEF_LOST,  /* nobody can say: `why`, at the instruction `at` */
};

struct wsi_def {
	enum wsi_def_kind kind;
	size_t at;
	uint8_t guard; /* 7: the write is sure; else as in an effect */
	const char *why;
};

/* Finds definitions; made once for a slice. */
struct wsi_reach {
	const struct ws_flow *flow;
	uint32_t *seen; /* owned; by block: the last search that came to its end */
	uint32_t *work; /* owned */
	uint32_t search;
	size_t steps;                     /* left of WSI_MAX_STEPS */
	bool convention, spilled, partly; /* as in a slice */
};

struct wsi_defs {
	struct wsi_def def[WSI_MAX_DEFS]; /* ascending by place */
	size_t n;
	bool more; /* than fit: nothing is known */
};

enum ws_status wsi_reach_init(struct wsi_reach *reach, const struct ws_flow *flow,
			      struct ws_error *err) WS_MUST_USE;
void wsi_reach_fini(struct wsi_reach *reach);
/* The instruction that alone, and surely, is the definition; SIZE_MAX: none is. */
static inline size_t wsi_defs_only(const struct wsi_defs *defs)
{
	bool one = defs->n == 1 && !defs->more && defs->def[0].kind == WSI_DEF_INSN &&
		   defs->def[0].guard == 7;
	return one ? defs->def[0].at : SIZE_MAX;
}
/* That of a register, as the instruction `at` finds it. */
size_t wsi_reach_only(struct wsi_reach *reach, size_t at, enum ws_operand_kind kind,
		      unsigned number);
/* The definitions that reach the instruction `at`. */
void wsi_reach_find(struct wsi_reach *reach, size_t at, const struct wsi_want *want,
		    struct wsi_defs *ret_defs);

/* ---- operands ---- */

/* One source of an instruction: a place of its text. */
struct wsi_source {
	enum ws_operand_kind kind; /* of the first thing there */
	bool constant;             /* c[bank][value + base] */
	bool address;              /* [base * scale + ubase + value] */
	bool bindless;             /* cx[..]: the bank is in a register */
	bool negated, absolute;
	uint8_t number, count;
	uint8_t bank;
	bool has_base, has_ubase;
	uint8_t base, base_count, ubase, ubase_count; /* registers of an address */
	uint8_t scale;
	int64_t value;
};

/* An instruction as expressions need it. */
struct wsi_parts {
	struct ws_insn insn;
	size_t at;
	unsigned op;                 /* enum ws_operation; UIADD3 counts as IADD3 */
	struct wsi_source source[8]; /* what is read, in the order of the text */
	size_t n_sources;
	bool carries; /* writes a predicate */
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n_mods;
};

void wsi_parts_of(const struct ws_flow *flow, size_t at, struct wsi_parts *ret_parts);
/* Whether a source is a predicate. */
static inline bool wsi_is_predicate(const struct wsi_source *source)
{
	return !source->constant && !source->address && ws_operand_is_predicate(source->kind);
}
static inline bool wsi_parts_have(const struct wsi_parts *parts, enum ws_modifier modifier)
{
	for (size_t i = 0; i < parts->n_mods; i++)
		if (parts->mods[i] == modifier)
			return true;
	return false;
}

#endif
