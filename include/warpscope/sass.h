/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Machine code (SASS) of sm_70 to sm_121: decode, show, encode one instruction at a time.
 *
 * Every instruction is 16 bytes. ws_sass_decode() finds its row in the instruction table and is
 * cheap; ws_sass_format() makes the text that NVIDIA's disassembler prints; ws_sass_operands()
 * lists what the instruction reads and writes; ws_sass_encode() goes from text back to bytes.
 *
 * **Nothing is guessed.** A word without a row decodes to an instruction without a name
 * (`known` is false). A set bit that the row does not explain is kept in `unknown` and shown in the
 * text as a comment, unless the caller turns that off.
 *
 * Words: the *guard* is the predicate in front (`@!P0`); the *control word* is the scheduling part
 * (bits 105 to 127: stall cycles, yield hint, scoreboards, register reuse).
 *
 * No function here allocates, locks or keeps state: all are safe from any number of threads.
 * Facts: docs/formats/isa.md and the table itself [measured: nvdisasm 13.2].
 */
#ifndef WARPSCOPE_SASS_H
#define WARPSCOPE_SASS_H

#include <warpscope/base.h>
#include <warpscope/opcodes.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_SASS_BYTES = 16,         /**< size of every instruction */
	WS_SASS_TEXT_MAX = 512,     /**< enough room for any text of ws_sass_format() */
	WS_SASS_MAX_OPERANDS = 16,  /**< no instruction has more */
	WS_SASS_MAX_MODIFIERS = 16, /**< no instruction has more */
};

/** What kind of instruction this is. Several may be set. */
enum ws_sass_flags {
	WS_SASS_BRANCH = 1u << 0,         /**< may continue elsewhere; not a call or return */
	WS_SASS_CALL = 1u << 1,           /**< calls a function */
	WS_SASS_RET = 1u << 2,            /**< returns from a function */
	WS_SASS_EXIT = 1u << 3,           /**< ends the lanes that execute it */
	WS_SASS_TRAP = 1u << 4,           /**< may raise an exception on purpose */
	WS_SASS_BARRIER = 1u << 5,        /**< waits for, or tells, other warps */
	WS_SASS_SYNC = 1u << 6,           /**< convergence of the lanes of one warp */
	WS_SASS_LOAD = 1u << 7,           /**< reads memory */
	WS_SASS_STORE = 1u << 8,          /**< writes memory */
	WS_SASS_ATOMIC = 1u << 9,         /**< reads and writes memory in one step */
	WS_SASS_GLOBAL = 1u << 10,        /**< its address is in global memory */
	WS_SASS_SHARED = 1u << 11,        /**< its address is in shared memory */
	WS_SASS_LOCAL = 1u << 12,         /**< its address is in local memory */
	WS_SASS_CONSTANT = 1u << 13,      /**< its address is in a constant bank */
	WS_SASS_GENERIC = 1u << 14,       /**< its address may be in any of them */
	WS_SASS_TEXTURE = 1u << 15,       /**< texture or surface access */
	WS_SASS_UNIFORM_GUARD = 1u << 16, /**< the guard is a uniform predicate */
	WS_SASS_ASYNC = 1u << 17,         /**< continues in the background */
};

/** What an operation is about. Every operation has one category. */
enum ws_category {
	WS_CATEGORY_FLOAT,         /**< arithmetic on floating-point numbers of any width */
	WS_CATEGORY_INTEGER,       /**< integer arithmetic, logic, shifts */
	WS_CATEGORY_CONVERT,       /**< one type of number to another */
	WS_CATEGORY_MOVE,          /**< copies, selections, permutations of bytes */
	WS_CATEGORY_PREDICATE,     /**< predicates among themselves, and to registers and back */
	WS_CATEGORY_MATRIX,        /**< tensor cores */
	WS_CATEGORY_MEMORY,        /**< loads, stores, atomics at addresses */
	WS_CATEGORY_TEXTURE,       /**< textures */
	WS_CATEGORY_SURFACE,       /**< surfaces */
	WS_CATEGORY_TENSOR_MAP,    /**< copies of tiles that a tensor map describes (UTMA..) */
	WS_CATEGORY_BULK,          /**< copies of blocks of memory (UBLK..) */
	WS_CATEGORY_TENSOR_MEMORY, /**< tensor memory: loads, stores, copies, allocation */
	WS_CATEGORY_BARRIER,       /**< barriers between warps, in hardware and in memory */
	WS_CATEGORY_CACHE,         /**< caches and the order of accesses */
	WS_CATEGORY_WARP,          /**< among the lanes of a warp: shuffles, votes, reductions */
	WS_CATEGORY_CONTROL,       /**< branches, calls, ends, sleeping, traps */
	WS_CATEGORY_CONVERGENCE,   /**< where lanes of a warp meet again */
	WS_CATEGORY_SYSTEM,        /**< special registers and settings of the machine */
	WS_CATEGORY_GRAPHICS,      /**< only in shaders */
};

/** The scheduling part of an instruction. */
struct ws_sass_control {
	uint8_t stall;         /**< cycles before the next instruction, 0 to 15 */
	bool yield;            /**< bit 109 as it is */
	uint8_t write_barrier; /**< scoreboard set when results are written; 7: none */
	uint8_t read_barrier;  /**< scoreboard set when operands are read; 7: none */
	uint8_t wait_mask;     /**< scoreboards waited for, bit n for scoreboard n */
	uint8_t reuse;         /**< register reuse flags, 4 bits */
};

/** One decoded instruction. Treat `row` as private. */
struct ws_insn {
	uint64_t word[2];    /**< the 16 bytes, little-endian: bit n of the instruction */
	uint64_t unknown[2]; /**< bits that the row does not explain and that are not as usual */
	uint32_t flags;      /**< enum ws_sass_flags */
	uint16_t operation;  /**< enum ws_operation */
	uint16_t row;
	uint16_t sm;   /**< architecture it was decoded for */
	uint8_t guard; /**< predicate number; 7: always */
	bool guard_negated;
	bool known; /**< false: no row fits, only `word`, `sm` and the control word mean anything */
};

/** Part of the instruction: `len` bits (1 to 64) from bit `lo`. */
static inline uint64_t ws_insn_bits(const struct ws_insn *insn, unsigned lo, unsigned len)
{
	uint64_t value = insn->word[lo / 64] >> lo % 64;
	if (lo % 64 != 0 && lo / 64 == 0)
		value |= insn->word[1] << (64 - lo % 64);
	return len >= 64 ? value : value & ((UINT64_C(1) << len) - 1);
}

/** Whether code of this architecture can be decoded (75 for sm_75 and so on). */
WS_API bool ws_sass_supports(unsigned sm);

/**
 * Decodes one instruction. Never fails on odd bits: see `known` and `unknown`.
 *
 * @param sm       Architecture, 70 to 121. One that ws_sass_supports() denies gives `known` false.
 * @param bytes    The 16 bytes.
 * @param ret_insn Filled always.
 */
WS_API void ws_sass_decode(unsigned sm, const uint8_t bytes[WS_SASS_BYTES],
			   struct ws_insn *ret_insn);

/** Name of an operation, e.g. "FADD". Static storage; "?" for an unknown number. */
WS_API const char *ws_sass_operation_name(unsigned operation);

/** What an operation of the uniform datapath is for lanes: of UIADD3 IADD3; others are themselves.
 */
WS_API enum ws_operation ws_sass_plain_operation(unsigned operation);

/** Category of an operation; WS_CATEGORY_SYSTEM for a number that is none. */
WS_API enum ws_category ws_sass_category(unsigned operation);

/** Where the addresses of an instruction lie. */
enum ws_sass_space {
	WS_SASS_SPACE_NONE, /**< it has none, or operands tell (textures, copies of blocks) */
	WS_SASS_SPACE_GLOBAL,
	WS_SASS_SPACE_SHARED,
	WS_SASS_SPACE_LOCAL,
	WS_SASS_SPACE_GENERIC, /**< in any of them */
	WS_SASS_SPACE_CONSTANT,
};

/** The space by an instruction's flags. Of LDGSTS, which has two: that of what it reads. */
WS_API enum ws_sass_space ws_sass_space(const struct ws_insn *insn);

/** The control word of an instruction. */
WS_API struct ws_sass_control ws_insn_control(const struct ws_insn *insn);

/**
 * Whether the table explains all of an instruction: it has a row, no bit is in `unknown`, and no
 * field that the text shows holds a number without a meaning (".INVALID6", ".???2"). What is listed
 * of another (its operands, what it writes) may be incomplete.
 */
WS_API bool ws_insn_explained(const struct ws_insn *insn);

/** How ws_sass_format() writes. A zeroed structure gives the vendor's text plus unknown bits. */
struct ws_sass_style {
	bool hide_unknown; /**< leave the comment about unexplained bits out */
	bool control;      /**< append the control word as a comment */
	/**
	 * Names a code address (a label, `(leaf)`), or NULL for plain numbers. Writes at most
	 * `size` bytes with the terminating NUL to `buffer`, which is what room is left in the
	 * caller's; returns false for an address without a name, or whose name does not fit.
	 */
	bool (*name)(void *user, uint64_t pc, char *buffer, size_t size);
	void *user;
	/**
	 * Text in place of a number that a linker or loader fills in, `relocated_len` bits of the
	 * instruction from bit `relocated_lo` on: an immediate, the address of a call, an offset in
	 * an address, bank and offset of a constant (`c[name]`). NULL: the number.
	 */
	const char *relocated;
	uint8_t relocated_lo, relocated_len;
};

/**
 * Writes the text of an instruction, without the closing semicolon.
 *
 * @param insn   Decoded instruction.
 * @param pc     Its address: relative targets are shown as addresses.
 * @param style  NULL: the vendor's text plus unknown bits.
 * @param buffer Receives the text, always terminated when `size` is not 0.
 * @param size   Bytes in `buffer`; WS_SASS_TEXT_MAX always suffices, less may cut the text.
 * @return       Length of the text in `buffer`.
 */
WS_API size_t ws_sass_format(const struct ws_insn *insn, uint64_t pc,
			     const struct ws_sass_style *style, char *buffer, size_t size);

enum ws_operand_kind {
	WS_OPERAND_REG,        /**< R0..R254; 255 is RZ */
	WS_OPERAND_UREG,       /**< UR0..; 255 is URZ on every architecture */
	WS_OPERAND_PRED,       /**< P0..P6; 7 is PT */
	WS_OPERAND_UPRED,      /**< UP0..UP6; 7 is UPT */
	WS_OPERAND_BREG,       /**< convergence barrier register */
	WS_OPERAND_SCOREBOARD, /**< SB0..SB5 */
	WS_OPERAND_IMMEDIATE,  /**< integer in `value`, sign extended where the text shows a sign */
	WS_OPERAND_FLOAT,      /**< bits of a floating-point immediate in `value` */
	WS_OPERAND_TARGET,     /**< code address in `value` */
	WS_OPERAND_SPECIAL,    /**< special register, enum ws_special_register */
};

/** Whether operands of a kind are predicates. */
static inline bool ws_operand_is_predicate(enum ws_operand_kind kind)
{
	return kind == WS_OPERAND_PRED || kind == WS_OPERAND_UPRED;
}

/** Whether operands of a kind are registers or predicates, of lanes or of the warp. */
static inline bool ws_operand_is_register(enum ws_operand_kind kind)
{
	return kind == WS_OPERAND_REG || kind == WS_OPERAND_UREG || ws_operand_is_predicate(kind);
}

/** Whether a register or predicate always has the same value: RZ, URZ, PT, UPT. */
static inline bool ws_operand_is_fixed(enum ws_operand_kind kind, unsigned number)
{
	return number >= (ws_operand_is_predicate(kind) ? 7u : 255u);
}

enum ws_operand_role {
	WS_ROLE_READ,
	WS_ROLE_WRITTEN,
	WS_ROLE_UPDATED,      /**< read and written */
	WS_ROLE_ADDRESS_BASE, /**< part of an address, between brackets */
	WS_ROLE_OFFSET,       /**< number in an address */
	WS_ROLE_BANK,         /**< number or register that selects a constant bank */
	WS_ROLE_DESCRIPTOR,   /**< uniform register pair of `desc[..]`; not part of the address */
	WS_ROLE_TARGET,
};

/** One thing that an instruction names. */
struct ws_operand {
	enum ws_operand_kind kind;
	enum ws_operand_role role;
	uint8_t place;   /**< which operand of the text it belongs to, from 0 */
	uint16_t number; /**< register, special register or predicate number */
	/**
	 * Consecutive registers or predicates from `number` on. 0: at least one, but how many is
	 * not known. The zero registers (RZ, URZ, PT, UPT) stand for as many zeros. `PR` and `UPR`
	 * are 7 predicates from number 0, of which the instruction's mask operand selects some.
	 */
	uint8_t count;
	bool negated;  /**< `-`, `~` or `!` in front */
	bool absolute; /**< `|..|` */
	bool reuse;
	uint8_t scale; /**< of a register in an address: 1, 4, 8 or 16 */
	bool is_u32;   /**< `.U32` in an address: 32 bits, added to 64 */
	/**
	 * What follows it outside of an address, enum ws_modifier, as `.H0_H0` of R4.H0_H0;
	 * WS_MOD_NONE in what is left. Of a constant the last operand of its place has it.
	 */
	uint16_t suffix[3];
	int64_t value;
};

/**
 * Lists the operands in the order of the text; the guard is not among them.
 *
 * @param insn    Decoded instruction.
 * @param pc      Its address, for targets.
 * @param ret_ops Receives the first `cap` operands.
 * @return        Number of operands, which may exceed `cap`.
 */
WS_API size_t ws_sass_operands(const struct ws_insn *insn, uint64_t pc, struct ws_operand *ret_ops,
			       size_t cap);

/**
 * Lists the modifiers of the name in the order of the text: of `LDG.E.64` E and 64. For a number
 * without a meaning, which prints as ".INVALID3" or ".???3", it is WS_MOD_UNKNOWN.
 *
 * @param insn     Decoded instruction.
 * @param ret_mods Receives the first `cap` modifiers.
 * @return         Number of modifiers, which may exceed `cap`; WS_SASS_MAX_MODIFIERS at most.
 */
WS_API size_t ws_sass_modifiers(const struct ws_insn *insn, enum ws_modifier *ret_mods, size_t cap);

/** Whether the name of an instruction has a modifier. */
WS_API bool ws_sass_has(const struct ws_insn *insn, enum ws_modifier modifier);

/** Text of a modifier without its dot, e.g. "FTZ". Static storage; "" for a number that is none. */
WS_API const char *ws_sass_modifier_name(enum ws_modifier modifier);

/**
 * Bytes that a memory instruction moves per lane, at one address; 0 when it moves none, or when a
 * descriptor, a register or a format tells how many. Matrix loads take 16 bytes from each address.
 */
WS_API unsigned ws_sass_access_bytes(const struct ws_insn *insn);

/**
 * Encodes one instruction from the text that ws_sass_format() writes: guard, name with modifiers,
 * operands. Comments that ws_sass_format() can add (control word, unknown bits) are read back; a
 * closing semicolon may follow. Without a control comment the instruction gets stall 11, the yield
 * bit, no scoreboard set and all waited for: enough for whoever runs one instruction after the
 * other; hardware wants a scoreboard for results that come late (loads).
 *
 * @param sm        Architecture, 70 to 121.
 * @param text      Terminated text of one instruction.
 * @param pc        Its address: targets become relative.
 * @param ret_bytes Receives the instruction; untouched on failure.
 * @param err       Filled on failure; `file_off` is the offset in `text` where reading stopped.
 *
 * @retval WS_OK           Encoded.
 * @retval WS_ABSENT       No operation of that name on this architecture.
 * @retval WS_MALFORMED    The operation exists but the rest of the text fits none of its rows.
 * @retval WS_UNSUPPORTED  Architecture without a table.
 */
WS_API enum ws_status ws_sass_encode(unsigned sm, const char *text, uint64_t pc,
				     uint8_t ret_bytes[WS_SASS_BYTES],
				     struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
