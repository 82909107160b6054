/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: a flow, and what one instruction does to registers.
 *
 *   create.c   bytes -> effects of every instruction, leaders of blocks, edges
 *   effect.c   what one instruction writes and where it goes
 *   written.c  registers written between two instructions
 *   reach.c    definitions that reach an instruction
 *   slice.c    expressions
 *   address.c  an expression as base, terms and offset
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
};

/* The instruction number `at`. */
void wsi_flow_insn(const struct ws_flow *flow, size_t at, struct ws_insn *ret_insn);
/* Number of the instruction at an address; SIZE_MAX for an address that is none. */
size_t wsi_flow_at(const struct ws_flow *flow, uint64_t pc);
static inline uint64_t wsi_flow_pc(const struct ws_flow *flow, size_t at)
{
	return flow->base_pc + at * WS_SASS_BYTES;
}

void wsi_effect_of(const struct ws_insn *insn, struct wsi_effect *ret_effect);
void wsi_leave_of(const struct ws_insn *insn, uint64_t pc, struct wsi_leave *ret_leave);

/* Adds `count` registers of a kind to a set. */
void wsi_registers_add(struct ws_flow_registers *set, enum ws_operand_kind kind, unsigned number,
		       unsigned count);
/* Adds what an effect writes, calls by convention. */
void wsi_registers_add_effect(struct ws_flow_registers *set, const struct wsi_effect *effect);
/*
 * Whether a callee may write a register: nvcc's calling convention keeps R1, R2 and R16 to R31
 * [measured: prologues of -G code for sm_80, sm_90 and sm_100, which save what they use of these].
 */
bool wsi_call_may_write(enum ws_operand_kind kind, unsigned number);

#endif
