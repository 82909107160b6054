/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What is known of registers in code compiled with -G: which registers of the machine hold a
 * register of PTX, and what a function saved of its caller's.
 *
 * Bytes in, structures out: `.nv_debug_info_reg_sass`, `.nv_debug_info_reg_type` and
 * `.debug_frame`. Input may be damaged or hostile: a question takes time in proportion to the
 * section at most, no memory, and what comes behind damage, or behind 16 MiB of a map, is not
 * found. [measured: docs/formats/dwarf.md]
 */
#ifndef WARPSCOPE_UNWIND_H
#define WARPSCOPE_UNWIND_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Classes of places: the bits 24 to 31 of a number of a register, also in `.debug_frame`. The
 * rest is the index. [public doc: cudadebugger.h] */
enum ws_reg_class {
	WS_REG_CLASS_CC = 1,
	WS_REG_CLASS_PRED = 2, /**< P0... */
	WS_REG_CLASS_ADDR = 3,
	WS_REG_CLASS_HALF = 4,      /**< half of R[index / 2], the upper one where odd */
	WS_REG_CLASS_FULL = 5,      /**< R0... */
	WS_REG_CLASS_LOCAL = 6,     /**< spilled: at this offset of local memory */
	WS_REG_CLASS_LOCAL_REG = 7, /**< spilled: at R[bits 16 to 23] + bits 0 to 15 */
	WS_REG_CLASS_UPRED = 9,
	WS_REG_CLASS_UHALF = 10,
	WS_REG_CLASS_UFULL = 11, /**< UR0... */
};

/** Where 32 bits of a register of PTX are. */
struct ws_reg_piece {
	uint32_t part;        /**< which: 0 the lowest, at most 3 */
	uint32_t n_parts;     /**< that the register has anywhere in the function */
	uint32_t reg_class;   /**< enum ws_reg_class, or another number */
	uint32_t index;       /**< bits 0 to 23 */
	uint32_t number;      /**< both, as the image has them */
	uint8_t type;         /**< PTX type, by the section's numbers; 0xff: not told */
	uint64_t first, last; /**< bytes of the function in which that holds; both are inside */
};

enum { WS_REG_MAX_PIECES = 4 };

enum ws_regmap_answer {
	WS_REGMAP_FOUND,
	WS_REGMAP_NOT_HERE, /**< the function has the register, not at this place */
	WS_REGMAP_NO_REGISTER,
	WS_REGMAP_NO_FUNCTION,
};

/**
 * Where a register of PTX ("%rd1") is when the byte `rel_pc` of a function is executed. The pieces
 * are in the order of their parts; of several of one part the first in the section counts.
 */
WS_API enum ws_regmap_answer ws_regmap_find(struct ws_span reg_sass, struct ws_span reg_type,
					    struct ws_str function, struct ws_str reg,
					    uint64_t rel_pc,
					    struct ws_reg_piece ret_pieces[WS_REG_MAX_PIECES],
					    size_t *ret_n);

enum ws_saved_kind {
	WS_SAVED_LOST,  /**< not kept: the callee may have changed it */
	WS_SAVED_SAME,  /**< the callee did not change it */
	WS_SAVED_LOCAL, /**< in local memory, `offset` bytes from the canonical frame address */
};

struct ws_saved {
	uint8_t kind; /**< enum ws_saved_kind */
	int32_t offset;
};

/** What is known of a caller while a function is executed at some place. */
struct ws_cfi {
	uint32_t cfa_reg; /**< R that the canonical frame address counts from */
	int64_t cfa_offset;
	bool has_caller;          /**< false: a kernel */
	uint32_t return_reg;      /**< number of the register that its return address was in */
	struct ws_saved reg[256]; /**< R0 to R255 */
};

/**
 * @param frame  `.debug_frame`, with its relocations applied.
 * @param pc     Address, as they are there.
 * @retval WS_ABSENT       it says nothing about the address.
 * @retval WS_MALFORMED, WS_TRUNCATED  damage before that.
 * @retval WS_UNSUPPORTED  the frame address is to be computed in an unknown way.
 */
WS_API enum ws_status ws_cfi_find(struct ws_span frame, uint64_t pc, struct ws_cfi *ret_cfi,
				  struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
