/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Control flow and data flow of one function's machine code: basic blocks, what may have been
 * overwritten between two instructions, and where the value of a register comes from.
 *
 * Words: a *block* is a run of instructions that is entered at its first and left at its last one.
 * A *definition* of a register is an instruction that writes it; it *reaches* a later instruction
 * when some path between the two has no other definition. A *slice* is the expression that gives a
 * register its value at one instruction, followed back through the definitions that reach it.
 *
 * The input is bytes; nothing here knows about dumps, symbols or lanes. Any bytes are accepted:
 * nothing is concluded across bytes that are not an instruction.
 *
 * **Limits.** A path is that of one lane. Uniform registers belong to the whole warp: while lanes
 * have diverged, other lanes may write them, which no path shows. A call is opaque: its callee may
 * write memory and whatever the calling convention allows. Facts about the code:
 * docs/formats/isa.md.
 *
 * **Threads.** A flow is immutable once created; any number of threads may use it.
 */
#ifndef WARPSCOPE_FLOW_H
#define WARPSCOPE_FLOW_H

#include <warpscope/base.h>
#include <warpscope/sass.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_flow;

/** A possible continuation of an indirect branch, as `.nv.info` lists them. */
struct ws_flow_edge {
	uint64_t pc;     /**< of the branch */
	uint64_t target; /**< where it may go */
};

/**
 * Finds the basic blocks of a function.
 *
 * @param sm       Architecture, 70 to 121.
 * @param code     The function's code, borrowed: it must outlive the flow. Bytes after the last
 * whole instruction are ignored.
 * @param base_pc  Address of the first byte; every `pc` of this interface counts in the same way. 0
 *                 for code that is not relocated: absolute targets then mean nothing.
 * @param edges    Targets of indirect branches, NULL when none are known. Those that are not
 *                 instructions of this code are ignored.
 * @param n_edges  Elements of `edges`.
 * @param ret_flow Receives the flow; release it with ws_flow_destroy().
 * @param err      Filled on failure; may be NULL.
 *
 * @retval WS_OK          Also for empty code (no block) and for bytes that are not instructions.
 * @retval WS_UNSUPPORTED No instruction table for this architecture.
 * @retval WS_LIMIT       More than 16 M instructions.
 * @retval WS_NO_MEMORY   Out of memory.
 *
 * Time and memory grow with the number of instructions and of `edges` (20 to 40 bytes each).
 */
WS_API enum ws_status ws_flow_create(unsigned sm, struct ws_span code, uint64_t base_pc,
				     const struct ws_flow_edge *edges, size_t n_edges,
				     struct ws_flow **ret_flow, struct ws_error *err) WS_MUST_USE;

/** Releases a flow; NULL is a no-op. */
WS_API void ws_flow_destroy(struct ws_flow *flow);

/** Why a block ends and what is special about it. */
enum ws_flow_block_flags {
	WS_FLOW_ENTRY = 1u << 0,   /**< the function starts here */
	WS_FLOW_CALLS = 1u << 1,   /**< ends with a call; its successor is where the call returns */
	WS_FLOW_RETURNS = 1u << 2, /**< some or all lanes return here */
	WS_FLOW_EXITS = 1u << 3,   /**< some or all lanes end here */
	WS_FLOW_LEAVES = 1u << 4,  /**< branches to an address outside the code */
	WS_FLOW_INDIRECT = 1u << 5, /**< ends with an indirect branch */
	WS_FLOW_OPEN = 1u << 6, /**< ends with an indirect branch without known targets: successors
				   are missing */
	WS_FLOW_RUNS_OUT = 1u << 7, /**< continues past the last byte of the code */
	WS_FLOW_UNKNOWN = 1u << 8,  /**< holds an instruction that the table does not know */
	WS_FLOW_CALLED = 1u << 9,   /**< a call of this code enters here */
	/** No path leads here: padding, dead code. Never set while a block is WS_FLOW_OPEN. */
	WS_FLOW_UNREACHED = 1u << 10,
};

#define WS_FLOW_NO_BLOCK UINT32_MAX

/** One basic block. Its arrays are valid until the flow is destroyed. */
struct ws_flow_block {
	uint64_t pc;          /**< of its first instruction */
	uint64_t end_pc;      /**< just past its last one */
	const uint32_t *succ; /**< indexes of the blocks that may follow, ascending, each once */
	const uint32_t *pred; /**< indexes of the blocks that it may follow, ascending, each once */
	uint32_t n_succ, n_pred;
	uint32_t flags;  /**< enum ws_flow_block_flags */
	uint32_t callee; /**< block that the call at its end enters, or WS_FLOW_NO_BLOCK */
};

/** The blocks, ascending by address; together they cover the code. `*ret_n` receives their number.
 */
WS_API const struct ws_flow_block *ws_flow_blocks(const struct ws_flow *flow, size_t *ret_n);

/** Index of the block that holds an instruction; SIZE_MAX if the address is not that of an
 * instruction. */
WS_API size_t ws_flow_block_find(const struct ws_flow *flow, uint64_t pc);

/* ---- what may have been overwritten ---- */

/** A set of registers: bit `n % 32` of word `n / 32`. RZ, URZ, PT and UPT are never in it. */
struct ws_flow_registers {
	uint32_t reg[8];  /**< R0 to R254 */
	uint32_t ureg[8]; /**< UR0 to UR254 */
	uint8_t pred;     /**< P0 to P6 */
	uint8_t upred;    /**< UP0 to UP6 */
};

/** Whether `count` registers of a kind, from `number`, are all outside the set. */
WS_API bool ws_flow_registers_spare(const struct ws_flow_registers *set, enum ws_operand_kind kind,
				    unsigned number, unsigned count);

/** What may have been written between two instructions. */
struct ws_flow_written {
	/** On the paths from one to the other that visit neither a second time. */
	struct ws_flow_registers direct;
	/** On all paths, however often they visit them; includes `direct`. */
	struct ws_flow_registers any;
	uint32_t n_direct;   /**< instructions on direct paths, each counted once */
	bool call;           /**< there is a call on a direct path */
	bool unknown_direct; /**< there is an unknown instruction or branch on one: trust nothing */
	bool unknown_any;    /**< the same for all paths */
	bool loop; /**< execution may visit the first again before it reaches the second */
};

/**
 * Registers that may have been written since an instruction started: by it and by all that follow
 * up to, but not including, the instruction `to_pc`, in one call of the function. Predicated writes
 * count. A call counts as what its callee writes, if that is in this code, else as what the calling
 * convention allows.
 *
 * @param from_pc     Instruction that was executed, e.g. the faulting one.
 * @param to_pc       The next one to execute. When it is `from_pc`, `direct` is empty.
 * @param ret_written Filled on success.
 *
 * @retval WS_OK        There is a path, or the two are the same.
 * @retval WS_ABSENT    No path leads from one to the other: nothing is known.
 * @retval WS_ARGUMENT  An address is not that of an instruction of this code.
 * @retval WS_NO_MEMORY Out of memory.
 */
WS_API enum ws_status ws_flow_written(const struct ws_flow *flow, uint64_t from_pc, uint64_t to_pc,
				      struct ws_flow_written *ret_written,
				      struct ws_error *err) WS_MUST_USE;

/**
 * Whether registers still hold, before `at_pc` executes, what they held when the instruction
 * `from_pc` was executed the last time: before it, or behind it if `behind`.
 *
 * Registers of other lanes' paths do not count: of a uniform register nothing is known.
 */
WS_API bool ws_flow_keeps(const struct ws_flow *flow, uint64_t from_pc, bool behind, uint64_t at_pc,
			  enum ws_operand_kind kind, unsigned number, unsigned count);

/* ---- stores that reach ---- */

enum { WS_FLOW_MAX_STORES = 4 };

/** Whether a store writes the memory in question. */
enum ws_flow_hit {
	WS_FLOW_MISS,
	WS_FLOW_HIT,    /**< all of it */
	WS_FLOW_UNSURE, /**< a part of it, or unknown */
};

/** Judges the store at `pc`; called at least once for each store on a path. */
typedef enum ws_flow_hit (*ws_flow_judge)(void *context, uint64_t pc);

/** What reaches an instruction. */
struct ws_flow_stores {
	struct {
		uint64_t pc;
		enum ws_operand_kind kind; /**< of what is stored: REG, UREG or IMMEDIATE */
		unsigned number;           /**< its first register */
	} store[WS_FLOW_MAX_STORES];       /**< ascending by address */
	size_t n;
	bool entry; /**< on some path from the entry of the function no store hits */
	bool calls; /**< there are calls on the paths; they are assumed to miss */
};

/**
 * The stores that gave the thread's memory (stack, or generic) the value that an instruction reads:
 * followed backwards from the instruction to those that hit.
 *
 * @param pc      The instruction that reads, or the call of the function that does.
 * @param judge   Says for each store whether it hits; must give the same answer each time.
 *
 * @retval WS_OK        `ret_stores` is complete.
 * @retval WS_LIMIT     More stores than fit, too long a path, a store that is not certain, an
 * unknown instruction.
 * @retval WS_ARGUMENT  Not an instruction of this code.
 * @retval WS_NO_MEMORY Out of memory.
 */
WS_API enum ws_status ws_flow_find_stores(const struct ws_flow *flow, uint64_t pc,
					  ws_flow_judge judge, void *context,
					  struct ws_flow_stores *ret_stores,
					  struct ws_error *err) WS_MUST_USE;

/* ---- loops that wait ---- */

enum { WS_FLOW_MAX_SOURCES = 4, WS_FLOW_MAX_LOOP = 1024 };

/** How a number that was read is compared to leave the loop. */
enum ws_flow_test {
	WS_FLOW_TEST_NONE, /**< not known, or more than one condition */
	WS_FLOW_TEST_EQUAL,
	WS_FLOW_TEST_OTHER, /**< not equal */
	WS_FLOW_TEST_LESS,
	WS_FLOW_TEST_AT_MOST,
	WS_FLOW_TEST_MORE,
	WS_FLOW_TEST_AT_LEAST,
};

/** "none", "equal", "other", "less", "at most", "more" or "at least". Static storage. */
WS_API const char *ws_flow_test_text(enum ws_flow_test test);

/**
 * Whether an atomic operation, repeated with the same data, leaves memory unchanged: a lock that is
 * tried, a word that is exchanged for the same value. Decided by the name; operands are not looked
 * at.
 */
WS_API bool ws_flow_repeats(const struct ws_insn *insn);

/** What a number, or half of one, is compared with. */
struct ws_flow_other {
	uint64_t pc;            /**< of the compare */
	struct ws_operand with; /**< a register or an IMMEDIATE */
	bool constant;          /**< it is `bank` at byte `with.value` instead */
	uint8_t bank;
};

/** The shortest path from an instruction back to itself. */
struct ws_flow_loop {
	uint32_t n_insns;
	/** Instructions of the loop that read memory, or call, and whose results decide whether it
	 * is left; the first ones, ascending. */
	uint64_t source_pc[WS_FLOW_MAX_SOURCES];
	size_t n_sources;
	uint64_t call_pc[WS_FLOW_MAX_SOURCES]; /**< calls in it; the first ones, ascending */
	size_t n_calls;
	uint32_t n_conditions; /**< exit conditions that only what was read decides */
	bool limited; /**< an exit condition that only a value of its own decides, such as a counter
		       */
	/** Branches by which such a condition alone leaves it, or a clock; the first ones,
	 * ascending. */
	uint64_t limit_pc[WS_FLOW_MAX_SOURCES];
	size_t n_limits;
	bool mixed;    /**< a condition that needs both: the loop works through what it reads */
	bool computes; /**< a value is carried from round to round that decides nothing */
	/** It also writes memory: a store, or an atomic operation that changes memory when it is
	 * repeated. The thread's stack counts, too. */
	bool stores;
	bool endless; /**< it has no exit */

	/** If all conditions are the same (of a loop that was unrolled there are several): the
	 * number that was read, or that a call returned in register `test_result`, plus
	 * `test_plus`, is compared by `test` with `test_with`, which the loop does not change. Of
	 * 64 bits the lower half comes first; the results of calls are in two registers, one after
	 * the other. An instruction that reads `n_test_words` numbers compares those of
	 * `test_words`: each of them, or any, must be as the test says. */
	enum ws_flow_test test;
	bool test_signed;
	struct ws_flow_other test_with[2];
	uint8_t n_test_with; /**< 1, or 2: of 64 bits */
	uint8_t test_result; /**< 255: it was read in the loop itself */
	uint8_t n_test_words, test_words;
	bool test_each;
	uint64_t test_plus;
};

/**
 * Looks at the loop around an instruction.
 *
 * @retval WS_OK        Filled.
 * @retval WS_ABSENT    The instruction is in no loop.
 * @retval WS_LIMIT     The loop has more than WS_FLOW_MAX_LOOP instructions.
 * @retval WS_ARGUMENT  Not an instruction of this code.
 * @retval WS_NO_MEMORY Out of memory.
 */
WS_API enum ws_status ws_flow_loop(const struct ws_flow *flow, uint64_t pc,
				   struct ws_flow_loop *ret_loop, struct ws_error *err) WS_MUST_USE;

/* ---- where a value comes from ---- */

enum {
	WS_FLOW_MAX_NODES = 160, /**< nodes of a slice */
	WS_FLOW_MAX_ARGS = 8,    /**< arguments of a node; a merge of more is WS_FLOW_NOTHING */
	WS_FLOW_MAX_TERMS = 8,   /**< terms of an address */
};

/** What a node of a slice is. Numbers wrap at `bits`. */
enum ws_flow_op {
	WS_FLOW_NOTHING,   /**< not known: `why` */
	WS_FLOW_ENTRY_REG, /**< register `number` of `kind` at the entry `pc` of the function */
	WS_FLOW_IMMEDIATE, /**< `value` */
	WS_FLOW_CONSTANT,  /**< constant bank `number` at byte `value` (+ argument 0, when it has
			      one) */
	WS_FLOW_SPECIAL,   /**< special register `number`, the hardware's index */
	WS_FLOW_LOAD,      /**< `bytes` of memory (`space`) at argument 0 + `value` */
	WS_FLOW_ATOMIC,    /**< what an atomic operation at argument 0 + `value` returned */
	WS_FLOW_ADD,       /**< sum of the arguments */
	WS_FLOW_SUB,       /**< argument 0 - argument 1 */
	WS_FLOW_MUL,       /**< product of two arguments */
	WS_FLOW_SHL,       /**< argument 0 << argument 1 */
	WS_FLOW_SHR,       /**< argument 0 >> argument 1, zeros from above */
	WS_FLOW_SAR,       /**< argument 0 >> argument 1, sign from above */
	WS_FLOW_AND,
	WS_FLOW_OR,
	WS_FLOW_XOR,
	WS_FLOW_NOT,
	WS_FLOW_MIN,    /**< smaller of two; signed when `is_signed` */
	WS_FLOW_MAX,    /**< larger of two */
	WS_FLOW_ZEXT,   /**< argument 0 of 32 bits, zeros above */
	WS_FLOW_SEXT,   /**< argument 0 of 32 bits, sign above */
	WS_FLOW_LOW,    /**< lower 32 bits of argument 0 of 64 bits */
	WS_FLOW_HIGH,   /**< upper 32 bits of it */
	WS_FLOW_PAIR,   /**< argument 0 below, argument 1 above: 64 bits that no rule combined into
			 * one number
			 */
	WS_FLOW_SELECT, /**< argument 0 or argument 1 */
	WS_FLOW_MERGE,  /**< one of the arguments: different paths, or a predicated definition */
	WS_FLOW_AGAIN,  /**< the node `value` in an earlier round of a loop */
	WS_FLOW_OTHER,  /**< another operation of the arguments, the instruction at `pc` */
};

/** One node. The arguments of node `i` have numbers above `i`: there is no cycle. */
struct ws_flow_node {
	enum ws_flow_op op;
	uint8_t bits;   /**< 32 or 64; 1 for a predicate */
	uint8_t bytes;  /**< memory read by LOAD, ATOMIC and CONSTANT */
	bool is_signed; /**< MIN and MAX; LOAD and CONSTANT: what is read is extended by its sign */
	uint8_t n_args;
	uint8_t space; /**< of LOAD and ATOMIC: enum ws_sass_space */
	uint8_t kind;  /**< enum ws_operand_kind, ENTRY_REG */
	uint16_t number;
	uint16_t arg[WS_FLOW_MAX_ARGS];
	int64_t value;
	uint64_t pc;     /**< of the instruction that computes it */
	const char *why; /**< NOTHING: reason; static storage */
	/** A register that has the value, with `keep_count` - 1 above it; 0: none is known. It has
	 * it when the instruction `keep_pc` is executed, or behind that (ws_flow_keeps()). */
	uint64_t keep_pc;
	uint8_t keep_count, keep_number;
	bool keep_behind;
};

/** An expression: node 0 is the value asked for. Plain data. */
struct ws_flow_slice {
	struct ws_flow_node node[WS_FLOW_MAX_NODES];
	size_t n;        /**< nodes; at least 1 */
	bool cut;        /**< a limit was reached: some node is WS_FLOW_NOTHING for that reason */
	bool convention; /**< holds only if a callee kept the registers that the convention keeps */
	bool spilled;    /**< holds only if no other pointer wrote to a stack slot in between */
	bool partly;     /**< goes by an instruction that ws_insn_explained() denies: it may write
			    more than is listed */
	bool open; /**< the code has indirect branches without known targets: paths may be missing
		    */
};

/**
 * Where the value of a register comes from, as it is before an instruction executes.
 *
 * @param pc        The instruction.
 * @param kind      WS_OPERAND_REG or WS_OPERAND_UREG.
 * @param number    Register; of 64 bits it is the lower one.
 * @param bits      32 or 64.
 * @param ret_slice Filled on success; about 10 KB, so keep it off small stacks.
 *
 * @retval WS_OK        Node 0 may still be WS_FLOW_NOTHING.
 * @retval WS_ARGUMENT  Not an instruction of this code, a wrong kind or width, no such register.
 * @retval WS_NO_MEMORY Out of memory.
 */
WS_API enum ws_status ws_flow_slice(const struct ws_flow *flow, uint64_t pc,
				    enum ws_operand_kind kind, unsigned number, unsigned bits,
				    struct ws_flow_slice *ret_slice,
				    struct ws_error *err) WS_MUST_USE;

/**
 * Where the effective address of the memory instruction at `pc` comes from: its registers, scaled
 * as the instruction does, and its offset. An instruction with two addresses (an asynchronous copy)
 * gives the one in `which`, in the order of the text, from 0.
 *
 * @retval WS_ABSENT   The instruction has no such address.
 */
WS_API enum ws_status ws_flow_slice_address(const struct ws_flow *flow, uint64_t pc, unsigned which,
					    struct ws_flow_slice *ret_slice,
					    struct ws_error *err) WS_MUST_USE;

/**
 * What a leaf of a slice is: an ENTRY_REG, a SPECIAL, a CONSTANT or a LOAD; `*argument` is the
 * value of its argument 0, or 0. False: not known. Of memory, `bytes` of it: ws_flow_value()
 * extends them. It is also asked for the whole value of any node that cannot be computed and whose
 * `keep_count` is not 0, with NULL for `argument`: only a register can tell then.
 */
typedef bool ws_flow_leaf_fn(void *user, const struct ws_flow_node *node, const uint64_t *argument,
			     uint64_t *ret_value);

/** The value of node `at` of a slice; false when it cannot be known. Alternatives (MERGE, SELECT)
 * are known when all of them are, and are the same. */
WS_API bool ws_flow_value(const struct ws_flow_slice *slice, uint16_t at, ws_flow_leaf_fn *leaf,
			  void *user, uint64_t *ret_value);

/** One term of an address: `scale` times a node that is not a sum itself. */
struct ws_flow_term {
	uint16_t node;
	int64_t scale;
};

/** An address as base + terms + offset. */
struct ws_flow_address {
	/**
	 * The leaf that looks like the pointer: 64 bits, or in a 32-bit address one that is not
	 * part of an index, taken once. UINT16_MAX when no term or more than one does.
	 */
	uint16_t base;
	struct ws_flow_term term[WS_FLOW_MAX_TERMS]; /**< without the base */
	size_t n_terms;
	int64_t offset; /**< constant bytes */
	bool complete;  /**< false: more terms than fit */
};

/** Splits node `at` of a slice, a sum, into its terms. */
WS_API void ws_flow_address(const struct ws_flow_slice *slice, uint16_t at,
			    struct ws_flow_address *ret_address);

#ifdef __cplusplus
}
#endif
#endif
