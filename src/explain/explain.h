/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that explain an exception share:
 *
 *   scene.c    the warp, its registers, the function's code and flow; opened once an exception
 *   access.c   the instruction, its operands, the address of every lane, who is to blame
 *   passed.c   who has executed it: a fault is detected late
 *   suspect.c  which threads can be guilty, and which one pages speak of
 *   memory.c   which memory there is, and which variable lies where
 *   eval.c     a value computed again from parameters and thread indices, where a register is lost
 *   stored.c   which code put a value on the thread's stack
 *   origin.c   what the base of an address came from
 *   owner.c    that in words, and known memory around the address
 *   overflow.c  whether 32-bit arithmetic of the address did not fit
 *   cut.c      whether a pointer was cut to 32 bits
 *   params.c   parameters of kernels
 *   listing.c  the code around the fault
 *   precision.c  how exactly instruction and thread are known
 *   finding.c  what the state shows about the kind of exception
 *   findings/  the same, one file for each family of exceptions (tensormap.c: a layout)
 *   variables.c  arguments and variables of the function, where it was compiled with -G
 *   cause.c    likely causes and what to run next, by the rules of data/causes.txt
 *   explain.c  the steps in order
 */
#ifndef WSI_EXPLAIN_EXPLAIN_H
#define WSI_EXPLAIN_EXPLAIN_H

#include <warpscope/cudadebugger.h>
#include <warpscope/flow.h>

#include "report/build.h"
#include "vars/vars.h"

#include "facts.inc"

enum {
	WSI_MAX_CANDIDATES = 3,
	WSI_MAX_FINDINGS = 12,
};

/* Whether the target has memory at an address. */
enum wsi_mapped { WSI_MAPPED_YES, WSI_MAPPED_NO, WSI_MAPPED_UNKNOWN };

/* The code of one function. */
struct wsi_function_code {
	struct ws_place place;
	struct ws_span bytes;
	uint64_t base_pc;
	unsigned sm;
	struct ws_flow *flow; /* owned; NULL: none could be made */
};

/* A function that called the one of the instruction, and where. */
struct wsi_caller {
	struct wsi_function_code code;
	uint64_t call_pc;
};

/* What a function was called with: a register, traced in its caller, `depth` calls away. */
struct wsi_argument {
	uint32_t depth;
	uint8_t kind, bits;
	uint16_t number;
	struct ws_flow_slice *slice; /* owned; NULL: not known */
};

struct wsi_arguments {
	uint32_t n;
	uint32_t n_evals; /* that may still be made: a bound for odd code */
	struct wsi_argument at[64];
};

/* What was found out: sentences for the report, and facts that rules ask for. */
struct wsi_findings {
	bool fact[WSI_N_FACTS];    /* by enum wsi_fact: it holds */
	bool doubted[WSI_N_FACTS]; /* it rests on an address that may not be that of the fault */
	const char *evidence[WSI_N_FACTS];
	struct ws_report_claim claim[WSI_MAX_FINDINGS];
	uint32_t n;
	bool doubt;     /* what is added now is doubted */
	bool no_memory; /* some sentence could not be made */
};

/* An exception with all that it is judged by. */
struct wsi_scene {
	struct wsi_build *build;
	struct ws_report_exception *e;
	struct wsi_where where;
	bool have_warp, have_block, have_context;
	struct ws_warp warp;
	struct ws_block block;
	struct ws_context context;
	uint32_t grid_index; /* or WS_NONE */
	uint32_t sm_major;
	uint32_t lanes;  /* recorded ones */
	uint32_t late;   /* of these, who is not at the error PC (any more) */
	uint32_t around; /* of these, who may have come by a way around the instruction there */
	struct ws_lane lane[WS_MAX_LANES];
	struct wsi_function_code code; /* of the instruction */
	struct ws_flow_slice *slice;   /* owned; where the address under judgement comes from */
	bool have_slice;
	struct wsi_caller *callers; /* owned; innermost first */
	uint32_t n_callers;
	struct wsi_arguments *arguments; /* owned */
	struct wsi_findings found;
	struct wsi_stored *stored; /* owned; NULL: nothing was looked for there yet */
};

/* scene.c */

/* Whether the dump holds, in place of one or two words of registers or of memory, representatives
 * of their class (WS_STRIP_VALUES): pointers stay, and zeros of registers. */
bool wsi_explain_is_replaced(const struct wsi_build *build, const uint32_t *words, unsigned n);
bool wsi_explain_memory_is_replaced(const struct wsi_build *build, const uint8_t *bytes,
				    size_t size);
/* Whether any may be. */
bool wsi_values_are_replaced(const struct wsi_build *build);
/* Whether warps without a fault were dropped (WS_STRIP_OTHERS). */
bool wsi_others_are_dropped(const struct wsi_build *build);

/* The code of the function at an address, without its flow. WS_ABSENT: no function there. */
enum ws_status wsi_code_find(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     struct wsi_function_code *ret_code) WS_MUST_USE;
/* The code of the function at an address, with its flow. WS_ABSENT: no function there. */
enum ws_status wsi_code_open(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     struct wsi_function_code *ret_code) WS_MUST_USE;
void wsi_code_close(struct wsi_function_code *code);
/* The instruction at an address of the code; false: there is none. */
bool wsi_code_insn(const struct wsi_function_code *code, uint64_t pc, struct ws_insn *ret_insn);
const char *wsi_code_text(struct wsi_build *build, const struct ws_insn *insn, uint64_t pc);

enum ws_status wsi_scene_init(struct wsi_scene *scene, struct wsi_build *build,
			      struct wsi_fault *fault) WS_MUST_USE;
/*
 * The same warp at a call: of the instruction at the error PC when that is one, else the innermost
 * call that has not returned. `caller->code` is the code that calls. WS_ABSENT: there is none.
 */
enum ws_status wsi_scene_at_call(const struct wsi_scene *scene, struct wsi_scene *caller,
				 uint64_t *ret_call_pc) WS_MUST_USE;
void wsi_scene_fini(struct wsi_scene *scene);
/* Looks at another warp in the same place of the same code. */
void wsi_scene_aim(struct wsi_scene *scene, uint32_t warp_index);

/* Up to two consecutive registers of a lane as one number; zero registers are 0. */
enum ws_status wsi_scene_register(const struct wsi_scene *scene, uint32_t lane,
				  enum ws_operand_kind kind, unsigned number, unsigned count,
				  uint64_t *ret_value);
/* `size` bytes, at most 8, of a memory as the warp sees it. */
enum ws_status wsi_scene_memory(const struct wsi_scene *scene, uint32_t lane, enum ws_space space,
				uint32_t bank, uint64_t address, unsigned size,
				uint64_t *ret_value);
/* The size of the clusters that the block's is one of. */
bool wsi_scene_cluster(const struct wsi_scene *scene, struct ws_dim3 *ret_dim);
/* The block's number in its cluster. False: not known, and 0. */
bool wsi_scene_rank(const struct wsi_scene *scene, uint64_t *ret_rank);
/* Whether an address of shared memory is the block's own, by the rank in it; WS_NONE: it has none.
 */
bool wsi_scene_is_own(const struct wsi_scene *scene, uint32_t rank);
/* Shared addresses of a cluster have the rank of the block above the offset: takes away that of the
 * own block. */
void wsi_scene_take_rank(const struct wsi_scene *scene, uint64_t *address);
/* The space of a generic address; `*ret_address` counts in it, `*ret_rank` is the block of the
 * cluster or WS_NONE. */
enum ws_space wsi_scene_resolve(const struct wsi_scene *scene, uint64_t generic,
				uint64_t *ret_address, uint32_t *ret_rank);

/* " at `rows.cu:8`", of an instruction of some code, or nothing; NULL: memory is out. */
const char *wsi_code_line_text(struct wsi_build *build, const struct wsi_function_code *code,
			       uint64_t pc);

/* Traces the `which`th address of the instruction at `pc` back, into `slice`. */
enum ws_status wsi_scene_trace(struct wsi_scene *scene, uint64_t pc, unsigned which) WS_MUST_USE;

/* findings/operands.c */

/* The operand that is the mask of an instruction that waits for lanes: a number, a register, or an
 * offset in constant bank 0 (role OFFSET); NULL: none is, or it is of another kind. */
const struct ws_operand *wsi_explain_mask(const struct ws_operand *ops, size_t n);

/* access.c */

/* Fills the exception's accesses. */
enum ws_status wsi_access_find(struct wsi_scene *scene) WS_MUST_USE;

/* passed.c */

/* Finds `late` and `around`. */
enum ws_status wsi_passed_find(struct wsi_scene *scene) WS_MUST_USE;
/* Fills the lanes of the exception's warp that may be guilty without carrying it. */
enum ws_status wsi_elsewhere_find(struct wsi_scene *scene) WS_MUST_USE;

/* suspect.c */

/* Fills the exception's suspects. */
enum ws_status wsi_suspects(struct wsi_scene *scene) WS_MUST_USE;

/* eval.c */

/* What a value computed again rests on. */
enum wsi_eval_uses {
	WSI_EVAL_MEMORY = 1u << 0, /* memory as it is now, which may have changed */
};

/*
 * The value of a node for a lane; false when it cannot be known. `*uses` collects. `depth` is the
 * number of calls between the slice's function and that of the instruction.
 */
bool wsi_eval(const struct wsi_scene *scene, const struct ws_flow_slice *slice, uint16_t node,
	      uint32_t lane, uint32_t depth, uint64_t *ret_value, unsigned *uses);
/* The same, also by registers that still hold what the code had: loads and results of any
 * operation. */
bool wsi_eval_kept(const struct wsi_scene *scene, const struct ws_flow_slice *slice, uint16_t node,
		   uint32_t lane, uint32_t depth, uint64_t *ret_value, unsigned *uses);
/* The slice of a register that a function found when it was called, in the caller at `depth`. Valid
 * as long as the scene. NULL: not known. */
const struct ws_flow_slice *wsi_eval_argument(const struct wsi_scene *scene,
					      const struct ws_flow_node *node, uint32_t depth);

/* stored.c */

/* Code that puts a value on the stack: the register is found by ws_flow_slice() at `pc`. */
struct wsi_put {
	uint64_t pc;
	enum ws_operand_kind kind;
	unsigned number;
};

struct wsi_puts {
	uint32_t depth; /* of the function, as in wsi_eval() */
	size_t n;       /* at least 1; several: by different paths */
	struct wsi_put put[WS_FLOW_MAX_STORES];
};

/*
 * Finds what gave `bytes` of local memory at `address` the value that the instruction at `pc` of
 * the function `depth` calls away finds. WS_ABSENT, WS_LIMIT: nobody can say.
 */
enum ws_status wsi_stored_find(struct wsi_scene *scene, uint32_t lane, uint32_t depth, uint64_t pc,
			       uint64_t address, uint32_t bytes,
			       struct wsi_puts *ret_puts) WS_MUST_USE;

/* memory.c */

/* A known range of memory. */
struct wsi_range {
	uint64_t start, size;
};

/* Number of ranges of global memory that the target lists. */
uint32_t wsi_range_count(struct wsi_build *build);
/* The range of global memory that holds an address; false when there is none. */
bool wsi_range_at(struct wsi_build *build, uint64_t address, struct wsi_range *ret_range);
/* Whether the range that holds an address is managed memory; false when no range is known there. */
bool wsi_global_is_managed(struct wsi_build *build, uint64_t address, bool *ret_managed);
/* The nearest ranges on both sides of an address that lies in none. Size 0: none on that side. */
void wsi_range_beside(struct wsi_build *build, uint64_t address, struct wsi_range *ret_below,
		      struct wsi_range *ret_above);
/* Whether global memory was left out, so that the ranges that there are, are pieces of what was
 * there: their ends mean nothing. */
bool wsi_global_is_partial(struct wsi_build *build);
enum wsi_mapped wsi_global_is_mapped(const struct wsi_scene *scene, uint64_t address,
				     uint32_t size);
/* The shared or local memory, or the constant bank, that an access may use; false: not known. */
bool wsi_window_of(const struct wsi_scene *scene, const struct ws_report_access *access,
		   uint32_t lane, struct wsi_range *ret_window);
/* Whether an address of local memory, which has 32 bits, lies so many bytes below its start, as a
 * stack that is used up does. */
bool wsi_below_local(uint64_t address, const struct wsi_range *local, uint64_t *ret_bytes);
/* The variable of a module that covers an address (global) or an offset (others). */
const struct ws_variable *wsi_variable_at(struct ws_cubin *cubin, enum ws_space space,
					  uint32_t bank, uint64_t address);

/* origin.c */

/* How an origin was found. */
struct wsi_origin_how {
	bool merged;   /* several paths were taken for one */
	bool stacked;  /* by way of the thread's stack */
	bool partial;  /* some paths are too long to follow */
	bool partly;   /* an instruction on the way is not explained in full */
	bool by_value; /* the code does not tell, a value does */
};

/* What the base of the address under judgement came from; the scene has its slice. */
enum ws_status wsi_origin_find(struct wsi_scene *scene, const struct ws_report_access *access,
			       struct ws_report_owner *owner,
			       struct wsi_origin_how *ret_how) WS_MUST_USE;

/* The kernel's parameter that holds a byte of constant bank 0; false: none does, and nothing is
 * filled in. */
bool wsi_origin_parameter(const struct wsi_scene *scene, uint64_t offset,
			  struct ws_report_owner *owner);

/* Where a term of that address was read from memory; leaves `index` alone when none is known to be.
 */
void wsi_explain_index_find(struct wsi_scene *scene, const struct ws_report_access *access,
			    struct ws_report_index *index);

/* owner.c */

/* Neighbours, owner and `where` of an access whose addresses are known. */
enum ws_status wsi_owner_find(struct wsi_scene *scene, struct ws_report_access *access) WS_MUST_USE;
/* "kernel parameter 1 `name`", of the one that holds a byte of constant bank 0; NULL: none does. */
const char *wsi_owner_parameter_text(const struct wsi_scene *scene, uint64_t offset);

/* overflow.c */

/* Fills the overflow of an access whose addresses and owner are known. */
enum ws_status wsi_overflow_find(struct wsi_scene *scene,
				 struct ws_report_access *access) WS_MUST_USE;

/* cut.c */

/* What shows that the pointer of an access was cut to 32 bits; NULL: nothing. `*ret_certain`: the
 * code does. */
const char *wsi_cut_find(const struct wsi_scene *scene, const struct ws_report_access *access,
			 bool *ret_certain);

/* listing.c */
enum ws_status wsi_listing(struct wsi_scene *scene) WS_MUST_USE;

/* variables.c */
enum ws_status wsi_variables(struct wsi_scene *scene) WS_MUST_USE;

/* precision.c */
enum ws_status wsi_precision(struct wsi_scene *scene) WS_MUST_USE;

/* program.c: facts about an access of a kernel of Triton */
void wsi_facts_of_program(struct wsi_scene *scene, const struct ws_report_access *access);

/* finding.c */

/* Remembers a fact with the sentence that shows it; the first sentence stays. */
void wsi_fact(struct wsi_scene *scene, enum wsi_fact fact, const char *evidence);
/* Adds a finding and gives its text; `evidence` lives as long as the report. What is too much is
 * left out of the report, but the text is made. */
const char *wsi_found(struct wsi_scene *scene, enum ws_confidence confidence, const char *evidence,
		      const char *format, ...) WS_PRINTF(4, 5);
/* A lane to speak of: that of the suspect, else the first active one; WS_NONE: no lane is recorded.
 */
uint32_t wsi_scene_lane(const struct wsi_scene *scene);
/* "left out of the dump" or "not recorded". Static storage. */
const char *wsi_lost_words(enum ws_status status);
enum ws_status wsi_findings(struct wsi_scene *scene) WS_MUST_USE;

/* findings/: those of one family each. */
enum ws_status wsi_find_trap(struct wsi_scene *scene) WS_MUST_USE;
/* Whether a function of that name is one of the compiler's checks of tensor memory (trap.c). */
bool wsi_explain_is_guard_rail(struct ws_str name);
enum ws_status wsi_find_assertion(struct wsi_scene *scene) WS_MUST_USE;
/* Tells with which numbers the code came to `pc`, an instruction that no correct run reaches; `at`
 * is the scene of that code, or the same. */
enum ws_status wsi_find_condition(struct wsi_scene *scene, struct wsi_scene *at,
				  uint64_t pc) WS_MUST_USE;
/* The branch that alone decides whether `pc` is reached, and whether it is taken then; false: there
 * is not only one. */
bool wsi_branch_find(const struct wsi_scene *at, uint64_t pc, uint64_t *ret_branch,
		     bool *ret_taken);
/* Tells whether the code came to `pc` because it gave up a wait. */
enum ws_status wsi_find_gave_up(struct wsi_scene *scene, struct wsi_scene *at,
				uint64_t pc) WS_MUST_USE;
enum ws_status wsi_find_stack(struct wsi_scene *scene) WS_MUST_USE;
enum ws_status wsi_find_jump(struct wsi_scene *scene) WS_MUST_USE;
enum ws_status wsi_find_instruction(struct wsi_scene *scene) WS_MUST_USE;
/* How sure it is that registers still hold what the instruction at `pc` found in them. */
enum ws_confidence wsi_trust(const struct wsi_scene *scene, uint64_t pc, enum ws_operand_kind kind,
			     unsigned number, unsigned count);
/* Of the instruction at the error PC. */
enum ws_status wsi_find_operands(struct wsi_scene *scene, const struct ws_insn *insn,
				 const struct ws_operand *ops, size_t n) WS_MUST_USE;
enum ws_status wsi_find_window(struct wsi_scene *scene) WS_MUST_USE;
enum ws_status wsi_find_cluster(struct wsi_scene *scene) WS_MUST_USE;
enum ws_status wsi_find_barrier(struct wsi_scene *scene) WS_MUST_USE;
enum ws_status wsi_find_tensor(struct wsi_scene *scene) WS_MUST_USE;

/* cause.c */
enum ws_status wsi_causes(struct wsi_scene *scene) WS_MUST_USE;

#endif
