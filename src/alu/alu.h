/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation does to values: integer, float, conversion, predicate and matrix instructions.
 * No state, no memory, no allocation. wsi_alu_prepare() resolves one instruction to a function with
 * small parameters; wsi_alu_run() applies it to the 32 lanes of a warp.
 *
 * A value of n registers is n vectors of WSI_ALU_LANES words, one behind the other: word k of lane
 * l is p[k * WSI_ALU_LANES + l]. A predicate is a mask, bit l for lane l. Operations of the uniform
 * datapath run in the same way: every lane sees the same values, and any lane has the result.
 *
 * Everything here is exact and the same on every machine; docs/sim-arithmetic.md says what is IEEE,
 * what is approximate and by how much.
 */
#ifndef WSI_ALU_ALU_H
#define WSI_ALU_ALU_H

#include <warpscope/sass.h>

enum {
	WSI_ALU_LANES = 32,
	WSI_ALU_SOURCES = 7,
	WSI_ALU_RESULTS = 2,
	WSI_ALU_PREDICATES = 7,
};

/* Where a value comes from or goes to. */
enum wsi_alu_place {
	WSI_ALU_REG,      /* registers from `number` on; 255 is RZ */
	WSI_ALU_UREG,     /* uniform registers; 255 is URZ */
	WSI_ALU_NUMBER,   /* `value`, its upper half in the second word */
	WSI_ALU_CONSTANT, /* constant bank `number` at byte offset `value` */
	WSI_ALU_BINDLESS, /* the bank whose handle is in uniform register `number`, at `value` */
};

struct wsi_alu_value {
	uint8_t place;  /* enum wsi_alu_place */
	uint8_t number; /* register or bank */
	uint8_t words;  /* registers; of zero registers: as many zeros */
	uint64_t value;
};

struct wsi_alu_predicate {
	bool is_uniform;
	uint8_t number; /* 7: always true as a source, dropped as a result */
};

struct wsi_alu_io {
	/* One per source, never NULL: zeros for RZ, the same in every lane for what is uniform. */
	const uint32_t *source[WSI_ALU_SOURCES];
	uint32_t predicate[WSI_ALU_PREDICATES]; /* as they are: not negated */
	/*
	 * One per result, never NULL. A result may overlap sources in any way, but not the other
	 * result. All lanes are written, whatever the guard says.
	 */
	uint32_t *result[WSI_ALU_RESULTS];
	uint32_t predicate_result[WSI_ALU_PREDICATES]; /* written in all lanes */
};

struct wsi_alu;
struct wsi_format;
typedef void wsi_alu_function(const struct wsi_alu *alu, struct wsi_alu_io *io);

/* One prepared instruction. What comes before `run` is for the caller, the rest is private. */
struct wsi_alu {
	struct wsi_alu_value source[WSI_ALU_SOURCES], result[WSI_ALU_RESULTS];
	struct wsi_alu_predicate predicate[WSI_ALU_PREDICATES];
	struct wsi_alu_predicate predicate_result[WSI_ALU_PREDICATES];
	uint8_t n_sources, n_results, n_predicates, n_predicate_results;
	wsi_alu_function *run;
	uint32_t keep[WSI_ALU_SOURCES];  /* source words are masked with this, */
	uint32_t flip[WSI_ALU_SOURCES];  /* then their bits are flipped by this */
	uint8_t select[WSI_ALU_SOURCES]; /* part of a source: enum wsi_alu_select */
	uint32_t predicate_flip[WSI_ALU_PREDICATES];
	uint32_t number; /* table, shift, addend: by operation */
	uint8_t kind;    /* by operation */
	uint8_t compare, combine;
	uint8_t rounding;                   /* enum wsi_rounding */
	const struct wsi_format *from, *to; /* types of a conversion */
	bool is_signed, ftz, fmz, sat, relu, carry_in, wrap, right, upper;
};

enum wsi_alu_status {
	WSI_ALU_OK,
	WSI_ALU_ELSEWHERE, /* no operation of values: memory, control, barriers, lanes among
			      themselves */
	WSI_ALU_MISSING,   /* one of values, but not implemented, or the table does not know its
			      operands */
};

/* Prepares one instruction; `ret_alu` is whole only with WSI_ALU_OK. */
enum wsi_alu_status wsi_alu_prepare(const struct ws_insn *insn, struct wsi_alu *ret_alu);

/* Add an operand that is written, or a predicate that is read. False: it has no registers, or there
 * is no room. */
bool wsi_alu_add_result(struct wsi_alu *alu, const struct ws_operand *op);
bool wsi_alu_add_condition(struct wsi_alu *alu, const struct ws_operand *op);

/*
 * Lanes whose a * b + c, of numbers with a sign, does not fit in 32 bits. Not judged: factors below
 * zero, and those below 2, which only move or add. What is added from `large` on may be a number
 * below zero that does not fit itself.
 */
uint32_t wsi_alu_misfits(const uint32_t *a, const uint32_t *b, const uint32_t *c, int32_t large);

static inline void wsi_alu_run(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	alu->run(alu, io);
}

#endif
