/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The report: what failed, where, through which calls, and where all other threads are.
 *
 * ws_report_create() looks at a target once and returns a model, which is plain data; renderers
 * turn the model into text or JSON and use nothing else. In the model "missing" is an answer: each
 * thing that may be missing has a `..._status`, WS_OK if it is there, else why it is not
 * (WS_ABSENT, WS_EXCLUDED, WS_UNSUPPORTED, damaged).
 *
 * **Attribution.** A fault is attributed, in this order, to the lanes that carry an exception
 * themselves; else to the SM's warps whose error PC is valid, and their active lanes are suspects,
 * not culprits; else to the SM alone: the warp had exited before the fault was detected, so there
 * is no thread, and the error PC gives the function and line. Without any exception, warps that are
 * stopped at a trap or breakpoint are reported. Faults of the same kind at the same instruction are
 * one entry with counts; the first in (device, SM, warp, lane) order represents it, and the first
 * of all is the focus.
 *
 * **Frames** count from 0, innermost first: the place of the error PC (of the pc when there is
 * none) with the calls inlined around it, then each return address of the lane, looked up one byte
 * before it, with the calls inlined around that. The *user frame* is the first frame whose file is
 * not a toolkit or template library header (data/library-paths.txt), nor the compiler's own code.
 *
 * **Ownership.** Strings and arrays of a report are valid until it is destroyed; the target must
 * outlive it. **Threads.** A finished report is constant.
 */
#ifndef WARPSCOPE_REPORT_H
#define WARPSCOPE_REPORT_H

#include <warpscope/cubin.h>
#include <warpscope/exception.h>
#include <warpscope/flow.h>
#include <warpscope/focus.h>
#include <warpscope/out.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/** Paths that start with `from` (at a component's end) are looked for with `to` in its place. */
struct ws_source_map {
	const char *from, *to;
};

/** Set `size`, zero the rest: that gives the default. Strings are borrowed during the call. */
struct ws_report_options {
	size_t size;             /**< sizeof(struct ws_report_options) */
	bool no_source;          /**< do not look for source files */
	uint32_t source_context; /**< lines before and after that of a frame; 0: 2; at most 100 */
	/** Tried in order before the path as recorded; the first that names a file wins. A file
	 * has to lie below `to`, behind symbolic links too. */
	const struct ws_source_map *source_maps;
	size_t n_source_maps;
	/** Folders searched after that: for the whole recorded path below them, then without its
	 * first component, and so on to the bare file name. A file has to lie below the folder,
	 * behind symbolic links too. A file found by neither is shown by its recorded path only if
	 * its name and size are those of the source (warpscope-report(1)). */
	const char *const *source_dirs;
	size_t n_source_dirs;
	/** Files or folders with builds of the same code that have lines (store.h). They are used
	 * for code without lines if their machine code is proven identical. */
	const char *const *debug_images;
	size_t n_debug_images;
	/** How commands in advice name the dump; NULL: DUMP. */
	const char *path;
	/** A memory snapshot of PyTorch, to name what lies at the addresses of the report; or NULL.
	 * Nothing in it is executed. */
	const char *memory_snapshot;
};

/* ---- sources ---- */

/** A source file on this machine. */
struct ws_source {
	enum ws_status status; /**< WS_ABSENT: not found; WS_EXCLUDED: found, but see `why` */
	const char *why;  /**< a sentence: why it may not be shown; for a file that `changed`, how
			     it differs; or NULL */
	const char *path; /**< the file that was read */
	bool changed;     /**< its size differs from that at compile time; if that is not known, its
			     time does */
	bool other_time;  /**< its time differs, its size does not */
	uint32_t n_lines;
	const struct ws_str *lines; /**< from line 1 on; of long ones the first 400 bytes */
};

struct ws_line_file;

/** Finds a file that code names, as the report finds it by the maps and folders of `options`, and
 * reads it. A file that is not there is an answer: see `status`. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_source_read(const struct ws_line_file *file,
				     const struct ws_report_options *options,
				     const struct ws_source **ret_source,
				     struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_source_destroy(const struct ws_source *source);

/* ---- claims ---- */

/** How sure an inference is. */
enum ws_confidence {
	WS_CONFIDENCE_CERTAIN,  /**< follows from what the target recorded */
	WS_CONFIDENCE_LIKELY,   /**< the evidence speaks for it and nothing against it */
	WS_CONFIDENCE_POSSIBLE, /**< common for such a fault; the evidence does not decide */
};

/** "certain", "likely" or "possible". Static storage. */
WS_API const char *ws_confidence_text(enum ws_confidence confidence);

/** Something inferred. `text` and `evidence` are sentences without a full stop. */
struct ws_report_claim {
	const char *text;
	const char *evidence;
	enum ws_confidence confidence;
};

/* ---- the model ---- */

enum ws_verdict_kind {
	WS_VERDICT_FAULT,   /**< an exception or a trap */
	WS_VERDICT_HANG,    /**< no exception, and most warps wait for others: a suspicion */
	WS_VERDICT_NONE,    /**< no exception */
	WS_VERDICT_UNKNOWN, /**< what would decide is missing */
};

/** "fault", "hang", "none" or "unknown". Static storage. */
WS_API const char *ws_verdict_kind_text(enum ws_verdict_kind kind);

/** A device of the target. */
struct ws_report_device {
	struct ws_device state;
	enum ws_status status; /**< of reading it; not WS_OK: `state` is all zero */
	uint32_t resident_warps, resident_lanes;
	uint32_t faulted_sms; /**< SMs with an exception, their own or of one of their lanes */
};

/** A field inside a parameter that is a structure; structures within it are taken apart. */
struct ws_report_field {
	struct ws_str path;  /**< "shape.rows"; "{unnamed}" stands for a union without a name */
	struct ws_str type;  /**< as C++ writes it; empty: there were too many types */
	uint32_t offset;     /**< from the start of the parameter */
	uint32_t size_bytes; /**< of the type; of a bit-field too */
	uint32_t bit_size;   /**< 0: not a bit-field */
	uint32_t bit_off;    /**< of a bit-field: its lowest bit, counted from byte `offset` */
	const char *text;    /**< the value formatted by its type: "-3", "0x7f3a12000000", "true";
				NULL: not a scalar, or not in the first WS_PARAM_BYTES */
};

/** One parameter of a kernel, as the image lays it out. */
struct ws_report_param {
	uint32_t ordinal;
	uint32_t offset; /**< from the start of the parameters */
	uint32_t size_bytes;
	enum ws_status value_status; /**< of the bytes; WS_EXCLUDED: the dump left the bank out */
	struct ws_span value;        /**< the first bytes, at most WS_PARAM_BYTES */
	/** Valid if the kernel's `types_status` is WS_OK. The name is empty if there is none.
	 */
	struct ws_str name, type;
	const char *text; /**< the value formatted by its type; NULL: not a scalar, or not known */
	const struct ws_report_field *fields; /**< of a structure, in the order of declaration */
	uint32_t n_fields;
	bool fields_cut; /**< there are more */
};

enum {
	WS_PARAM_BYTES = 64,
	WS_PARAM_FIELDS = 256, /**< of one parameter */
};

/** A kernel present on a device: one grid. `id` is cuda-gdb's number (focus.h). */
struct ws_report_kernel {
	uint32_t id;
	uint32_t device_index, device;
	uint32_t grid_index;
	enum ws_status grid_status; /**< of `grid` */
	struct ws_grid grid;
	enum ws_status name_status; /**< of the next three */
	struct ws_str name;         /**< C++ name */
	struct ws_str
		name_short; /**< without parameters and return type; long argument lists cut */
	struct ws_str name_mangled;
	uint32_t resident_blocks, resident_warps;
	enum ws_status params_status; /**< of the next three; WS_ABSENT: no layout in the image */
	const struct ws_report_param *params; /**< in the order of offsets */
	uint32_t n_params;
	uint32_t params_offset; /**< where they start in constant bank 0 */
	/** Bytes of hidden ones, see ws_params_hidden(), and where the first are in constant bank
	 * 0.
	 */
	uint32_t hidden_bytes, hidden_offset;
	/** As of the kernel's `struct ws_function_info`. */
	uint32_t n_unknown_attributes, first_unknown_attribute;
	/** Of names and types of the parameters. WS_ABSENT: not compiled with -G; WS_UNSUPPORTED:
	 * the debug information does not fit the layout. */
	enum ws_status types_status;
};

/** A stretch of a source file. */
struct ws_report_source {
	enum ws_status status; /**< WS_ABSENT: not found, not asked for, or no such line;
				  WS_EXCLUDED: found, but see `why` */
	const char *why; /**< a sentence: why it may not be shown; for a file that `changed`, how it
			    differs; or NULL */
	const char *path; /**< the file that was read */
	bool changed;     /**< its size differs from that at compile time; if that is not known, its
			     time does */
	bool other_time;  /**< its time differs, its size does not */
	uint32_t first_line;
	uint32_t n_lines;
	const struct ws_str *lines;
};

/** A formal parameter of a function. */
struct ws_report_formal {
	struct ws_str name; /**< empty: it has none */
	struct ws_str type; /**< as C++ writes it */
};

struct ws_report_frame {
	uint32_t level;
	bool inlined; /**< the function was inlined into that of the next frame */
	bool library; /**< its file is a toolkit or template library header; or it has no lines, and
			 a name that C++ reserves for compilers (`__iAtomicAdd`) */
	bool caller;  /**< reached through a return address: `pc` is that address */
	uint64_t pc;
	enum ws_status function_status; /**< of the next three */
	struct ws_str function, function_short, function_mangled;
	struct ws_str
		owner_short; /**< the function whose code it is: that of the last inlined frame */
	uint64_t rel_pc;     /**< offset of pc in the owner */
	enum ws_status line_status; /**< of the next two */
	struct ws_str file;         /**< path as compiled in */
	uint32_t line;              /**< from 1; 0: the compiler gave none */
	uint32_t line_added; /**< lines that the image's table has more, by a compiler's mistake */
	bool maybe_def;      /**< of cuTile: the line is the first one of the function or the next,
				where its `def` is */
	const char *borrowed_from; /**< the debug image that the line is from, or NULL: the dump's
				      own */
	enum ws_status formals_status; /**< of the next two; WS_ABSENT: not compiled with -G, or
					  inlined */
	const struct ws_report_formal *formals; /**< in their order; the first 64 */
	uint32_t n_formals;
	struct ws_report_source source;
};

/** Where a thread is. Fields that do not apply hold WS_NONE. */
struct ws_report_thread {
	uint32_t device, sm, warp, lane; /**< ids */
	uint32_t warp_index;             /**< in the target */
	enum ws_status block_status;     /**< of `block` and `thread` */
	struct ws_dim3 block, thread;
	bool have_cluster;
	struct ws_dim3 cluster;
};

/** What an instruction does with memory. */
enum ws_direction { WS_DIRECTION_LOAD, WS_DIRECTION_STORE, WS_DIRECTION_ATOMIC };

/** "load", "store" or "atomic". Static storage. */
WS_API const char *ws_direction_text(enum ws_direction direction);

/** "global", "shared", "local", "param", "const", "code" or "generic". Static storage. */
WS_API const char *ws_space_text(enum ws_space space);

/** Whether a register still holds what it held when the instruction ran. */
enum ws_trust {
	WS_TRUST_AT_FAULT,    /**< nothing on any path from the instruction to the pc writes it */
	WS_TRUST_OVERWRITTEN, /**< some path writes it: the value may be a later one */
	WS_TRUST_UNKNOWN,     /**< what ran in between is not known */
};

/** "as at the fault", "maybe overwritten" or "unknown". Static storage. */
WS_API const char *ws_trust_text(enum ws_trust trust);

/** What an operand is for. */
enum ws_operand_use {
	WS_USE_ADDRESS,    /**< a term of the address */
	WS_USE_DESCRIPTOR, /**< of global memory; no term of the address */
	WS_USE_DATA,       /**< read: what is stored, compared or computed with */
	WS_USE_RESULT,     /**< written: its previous value does not matter */
	WS_USE_GUARD,      /**< predicate in front of the instruction */
};

/** "address", "descriptor", "data", "result" or "guard". Static storage. */
WS_API const char *ws_operand_use_text(enum ws_operand_use use);

/** One operand of an instruction with its values. A pair of registers is one operand. */
struct ws_report_operand {
	const char *name; /**< "R4", "R4.64", "UR6", "c[0x0][0x210]", "0x10" */
	enum ws_operand_use use;
	bool uniform;          /**< one value for all lanes */
	bool constant;         /**< a number in the instruction */
	enum ws_status status; /**< why there are no values at all */
	enum ws_trust trust;
	const char *trust_why;        /**< one sentence, or NULL */
	uint32_t lanes;               /**< that have a value */
	uint64_t value[WS_MAX_LANES]; /**< by lane id; the low 64 bits of wider ones */
};

/** Known memory beside an address. */
struct ws_report_neighbour {
	enum ws_status status; /**< WS_ABSENT: none on this side */
	uint64_t start, size;
	uint64_t distance;    /**< bytes between the access and the range; 0: they touch */
	uint64_t elements;    /**< the same in accesses of this width, rounded down */
	struct ws_str symbol; /**< `__device__` variable that covers its near end, or empty */
};

/** Where the base of an address came from. */
enum ws_owner_kind {
	WS_OWNER_UNKNOWN,
	WS_OWNER_PARAMETER, /**< a kernel parameter, or bytes inside one */
	WS_OWNER_CONSTANT,  /**< a `__constant__` bank */
	WS_OWNER_SYMBOL,    /**< a `__device__` or `__shared__` variable */
	WS_OWNER_SHARED,    /**< the block's shared memory */
	WS_OWNER_STACK,     /**< the thread's local memory */
	WS_OWNER_LOADED,    /**< read from memory by the instruction at `pc` */
};

/** "unknown", "parameter", "constant", "symbol", "shared", "stack" or "loaded". Static storage. */
WS_API const char *ws_owner_kind_text(enum ws_owner_kind kind);

struct ws_report_owner {
	enum ws_owner_kind kind;
	uint32_t ordinal;    /**< parameter, or WS_NONE */
	uint32_t offset;     /**< parameter: of the pointer inside it; constant: in its bank */
	uint32_t bank;       /**< constant; or WS_NONE: a register chooses it */
	struct ws_str name;  /**< of the parameter or symbol; empty when not known */
	struct ws_str field; /**< parameter: path of the field at `offset`; empty when not known */
	bool value_known;    /**< `value`: the base itself, in `lane` of the access, or in all */
	uint64_t value;
	enum ws_status range_status; /**< of the known range that `value` lies in */
	uint64_t range_start, range_size;
	uint64_t pc;           /**< loaded: the instruction that read it */
	uint32_t root_ordinal; /**< loaded: the parameter that the reading started at, or WS_NONE */
	struct ws_report_claim claim;
};

/** An index that was read from memory. */
struct ws_report_index {
	uint64_t pc;           /**< the instruction that read it */
	uint32_t root_ordinal; /**< parameter that points to the buffer it lies in, or WS_NONE */
	bool element_known;    /**< `element`: of `lane` of the access */
	uint64_t element;      /**< in that buffer, in indices of `bytes`, from 0 */
	uint32_t bytes;        /**< of the index */
	bool value_known;      /**< `value`: of `lane` of the access */
	int64_t value;
	bool alone;     /**< it alone leads out of the memory that the base points into */
	bool steps_out; /**< even 1 more of it leads out */
	struct ws_report_claim claim; /**< text NULL: no index is known to be read from memory */
};

/** 32-bit arithmetic on the way to an address whose result did not fit. */
struct ws_report_overflow {
	uint64_t pc;                  /**< the instruction whose result did not fit */
	uint64_t address;             /**< what the address of `lane` is when nothing is cut off */
	bool inside;                  /**< that is in the memory that the base points into */
	bool below_zero;              /**< a number without a sign that would be negative */
	struct ws_report_claim claim; /**< text NULL: none is known */
};

/** The memory access of an instruction that is blamed, or that may be to blame. */
struct ws_report_access {
	uint64_t pc;
	const char *text;             /**< of the instruction */
	struct ws_report_claim found; /**< why it is this one */
	uint32_t kernel;              /**< index, or WS_NONE */
	/** Of the addresses below. For a generic address the space that it falls in, or
	 * WS_SPACE_GENERIC when no lane's is known. */
	enum ws_space space;
	bool generic;  /**< the instruction takes generic addresses */
	uint32_t bank; /**< WS_SPACE_CONST */
	uint32_t rank; /**< block of the cluster whose shared memory it is, or WS_NONE */
	enum ws_direction direction;
	uint32_t width;        /**< bytes per lane; 0: not fixed by the instruction */
	bool async;            /**< goes on in the background */
	uint32_t lanes;        /**< looked at: blamed ones, else active ones */
	uint32_t lanes_known;  /**< whose address is computed from trustworthy values */
	uint32_t lanes_guess;  /**< whose address is computed, but a value may be later */
	uint32_t lanes_likely; /**< of lanes_guess: recomputed from the current memory contents, or
				  wrong in just the way that the exception says */
	uint64_t address[WS_MAX_LANES]; /**< by lane id, of the lanes above; bytes in `space` */
	struct ws_report_claim
		address_claim; /**< how the addresses are known; text NULL: they are not */
	/** Lanes whose address must be wrong, by reason; within lanes_known and lanes_guess. */
	uint32_t unmapped, outside, misaligned, null_like, noncanonical;
	uint32_t mapped;   /**< global memory: lanes whose address is in known memory */
	uint32_t wrong;    /**< lanes whose address is wrong in the way that the exception says */
	uint32_t suspects; /**< lanes that can have caused the exception */
	uint32_t cleared;  /**< lanes that cannot */
	/** The lane that the fields below describe: the first with a wrong address, else the first
	 * suspect when all suspects use one address. WS_NONE: the suspects cannot be told apart. */
	uint32_t lane;
	/** Lowest and highest address of the suspects of lanes_known and lanes_likely; 0: none. */
	uint64_t first_address, last_address;
	uint64_t window_start; /**< shared, local, const: first valid address */
	uint64_t window_size; /**< shared, local: bytes that the block or lane has; 0: not known, or
			       * none: then lanes are `outside` */
	struct ws_report_neighbour below, above; /**< of `lane`'s address */
	bool inside;       /**< the address lies in known memory (`below` is that range) */
	const char *where; /**< "20 bytes past the end of ...", or NULL */
	struct ws_report_owner owner;
	struct ws_report_index index;       /**< a term of the address that was read from memory */
	struct ws_report_overflow overflow; /**< of the arithmetic of `lane`'s address */
	const struct ws_report_operand *operands;
	uint32_t n_operands;
};

/** One instruction of the code around a place. */
struct ws_report_insn {
	uint64_t pc;
	const char *text;
	const char *mark;   /**< "errorpc", "pc", "errorpc pc", or NULL */
	const char *values; /**< "R4 = 0x10": operands of the marked ones, first suspect; or NULL */
	uint32_t flags;     /**< enum ws_sass_flags */
	bool known;         /**< false: the text is raw */
};

/** What a failed assertion says, as the code passes it to the system call. */
struct ws_report_assertion {
	enum ws_status status; /**< WS_ABSENT: no assertion failed, and the rest is empty */
	const char *why;       /**< none of the text is known: one sentence without full stop */
	struct ws_str message, file, function; /**< empty: not known */
	uint32_t line;                         /**< 0: not known */
	uint64_t call_pc;                      /**< of the call that failed it */
	struct ws_report_claim claim;          /**< where it was read */
};

/** An argument or a variable of the function that faulted. */
struct ws_report_variable {
	struct ws_str name, type;
	struct ws_str function; /**< that is inlined there; empty: the one that has the code */
	bool is_param;
	bool in_address;  /**< its value is part of the address of the access */
	const char *text; /**< a pointer, or a number that is `in_address`; else NULL */
	const char *why;  /**< then: why it is not shown */
};

struct ws_report_exception {
	uint32_t code;                   /**< number in the dump; 0 for a trap */
	const struct ws_exception *kind; /**< NULL: a trap, or not known to this version */
	const char *name;                /**< enum name, or NULL */
	const char *label;               /**< cuda-gdb's words, or ours for an unknown code */
	const char *cuda_gdb;            /**< "CUDA_EXCEPTION_14", or NULL */
	const char *headline;            /**< plain words */
	enum ws_attribution blame;
	struct ws_report_thread at; /**< the first thread it was found in: cuda-gdb's focus */
	/**
	 * The thread that pages name: one that can be guilty, in the warp of `at`, and the first
	 * and the last of all such threads there. If there is none, and for a trap, all three are
	 * `at`.
	 */
	struct ws_report_thread suspect, first_suspect, last_suspect;
	/** The access of `suspect` is known to be wrong, or no other thread can be guilty. */
	bool suspect_stands_out;
	uint32_t lanes_suspect; /**< of the warp `at`: within lanes_blamed */
	uint64_t n_suspects;    /**< in all; warps after the first are not examined */
	/** Lanes of the warp `at` that do not carry the exception, and may be the guilty ones all
	 * the same: it was detected late, and they have exited or are somewhere else. */
	uint32_t lanes_elsewhere;
	const char *elsewhere; /**< that in words: "20 lanes of the warp that have exited"; NULL */
	uint32_t kernel;       /**< index into the report's kernels, or WS_NONE */
	bool is_program; /**< the kernel is Triton's, and a block of it a program with the block's
			    coordinates as its ids */
	enum ws_status pc_status, errorpc_status;
	uint64_t pc, errorpc;
	uint32_t lanes_active, lanes_valid, lanes_blamed; /**< masks of the warp `at` */
	uint64_t n_lanes, n_warps, n_sms;                 /**< blamed in all by this entry */
	enum ws_status text_status;
	struct ws_str text;     /**< the driver's own words */
	bool target_block_told; /**< the target tells whether the exception has one */
	bool have_target_block;
	struct ws_dim3 target_block; /**< of a cluster exception */
	const struct ws_report_frame *frames;
	uint32_t n_frames;
	uint32_t user_frame; /**< index into frames, or WS_NONE: all are library code, or there are
				none */
	/** The warp had moved on into another function before it stopped: frames from this index on
	 * are those of `pc` and its callers. WS_NONE: one stack. */
	uint32_t pc_frames_from;
	uint32_t n_callers_left_out; /**< return addresses beyond those that became frames */
	bool pc_apart; /**< pc is in another image than errorpc, or errorpc in none: no number of
			  instructions is between them */
	const struct ws_report_frame *pc_frame; /**< innermost place of `pc` when errorpc is another
						   one, or NULL */
	enum ws_status
		stack_status; /**< of the return addresses; WS_ABSENT also if none is needed */

	/** Of `accesses`; WS_ABSENT: the instruction accesses no memory, or there is no thread or
	 * code to tell; WS_LIMIT: only the first exceptions are examined that closely. */
	enum ws_status access_status;
	const char *access_why; /**< why there are none, as a sentence, or NULL */
	/** The access at the error PC; without one the candidates before the pc, best first. */
	const struct ws_report_access *accesses;
	uint32_t n_accesses;
	/** Of the next three, which are those of one lane at its pc, of `suspect` if it has a lane.
	 * WS_ABSENT: not compiled with -G, or the thread is no longer in that function; WS_LIMIT:
	 * only the first exception is examined that closely. */
	enum ws_status variables_status;
	const struct ws_report_variable
		*variables; /**< innermost function first; arguments first */
	uint32_t n_variables, variables_lane;
	const struct ws_report_insn *insns; /**< code around errorpc and pc */
	uint32_t n_insns;
	struct ws_report_claim precision; /**< the next two combined: text and evidence of both */
	struct ws_report_claim precision_instruction; /**< how exactly the instruction is known */
	struct ws_report_claim precision_thread;      /**< how exactly the thread is known */
	const char *meaning; /**< what this kind of exception is: a sentence or more with full
				stops; NULL: no exception */
	struct ws_report_assertion assertion;
	/** What the state shows about this kind of exception; the most decisive first. */
	const struct ws_report_claim *findings;
	uint32_t n_findings;
	const struct ws_report_claim *causes; /**< most likely first; at most 3 */
	uint32_t n_causes;
	const char *const *commands; /**< to run next, with exact flags */
	uint32_t n_commands;
};

enum ws_thread_state {
	WS_THREAD_FAULTED, /**< carries or shares an exception */
	WS_THREAD_TRAPPED, /**< active lane of a warp stopped at a trap or breakpoint */
	WS_THREAD_BARRIER, /**< active lane of a warp that waits at a barrier, as the hardware
			      reports */
	WS_THREAD_ACTIVE,
	WS_THREAD_DIVERGENT, /**< valid but not active: waits for other lanes of its warp */
};

/** "faulted", "trapped", "barrier", "active" or "divergent". Static storage. */
WS_API const char *ws_thread_state_text(enum ws_thread_state state);

/** All threads at one pc in one state. Together the groups hold every resident thread. */
struct ws_report_group {
	enum ws_thread_state state;
	uint64_t pc;
	uint32_t kernel;              /**< of the example; index, or WS_NONE */
	struct ws_report_frame frame; /**< innermost place */
	struct ws_report_frame
		user; /**< user frame of the place; equal to `frame` when that is one */
	uint64_t n_lanes, n_warps;
	struct ws_report_thread example; /**< the first one */
};

/** A stretch of a target's warps in a picture of the GPU: one SM. */
struct ws_report_sm {
	enum ws_status status; /**< of reading it; not WS_OK: the rest is all zero */
	uint32_t device_index, id;
	enum ws_status exception_status; /**< of `exception`; WS_ABSENT: not recorded */
	uint32_t exception;              /**< code; 0: none */
	uint32_t first_warp, n_warps;
};

/** One resident warp in a picture of the GPU: the state of its most important threads.
 */
struct ws_report_warp {
	bool known;         /**< false: it could not be read, and the rest is all zero */
	uint8_t state;      /**< enum ws_thread_state: faulted, else trapped, barrier, active,
			       divergent */
	uint32_t id;        /**< slot of its SM */
	uint32_t exception; /**< code; 0: none */
	uint32_t lanes_valid, lanes_active, lanes_faulted;
	uint32_t group; /**< where its first thread in that state is; WS_NONE: no lane recorded */
	uint32_t block; /**< index into the map's blocks, or WS_NONE */
	/** Number (x fastest) of the thread in its block that lane 0 holds or would hold; WS_NONE:
	 * not known. */
	uint32_t first_thread;
};

/** One resident block. */
struct ws_report_block {
	enum ws_status status; /**< of reading it; not WS_OK: the rest is all zero */
	uint32_t kernel;       /**< index into the report's kernels, or WS_NONE */
	struct ws_dim3 idx;
};

/** Everything that is resident, for pictures. Indices are those of the target. */
struct ws_report_map {
	const struct ws_report_sm *sms;
	uint32_t n_sms;
	const struct ws_report_warp *warps; /**< by SM, then by slot */
	uint32_t n_warps;
	const struct ws_report_block *blocks; /**< by SM */
	uint32_t n_blocks;
};

/* ---- who waits for what ---- */

/** What a thread at some instruction waits for. */
enum ws_wait_kind {
	WS_WAIT_BARRIER,     /**< a barrier of the block (BAR) */
	WS_WAIT_CLUSTER,     /**< the barrier of a cluster */
	WS_WAIT_CONVERGENCE, /**< other lanes of its warp (BSYNC, WARPSYNC) */
	WS_WAIT_MBARRIER,    /**< a barrier object in shared memory, tried in a loop */
	WS_WAIT_GRID,        /**< all blocks of the grid: a loop in a function known for it */
	WS_WAIT_SPIN,        /**< memory that another thread is to change: a loop that reads it */
	WS_WAIT_SLEEP,       /**< its own nanosleep */
	WS_WAIT_REGISTERS,   /**< registers that other warps are to give back (setmaxnreg) */
};

/** "barrier", "cluster", "convergence", "mbarrier", "grid", "spin", "sleep" or "registers". Static
 * storage. */
WS_API const char *ws_wait_kind_text(enum ws_wait_kind kind);

/** The unit in which what is missing is counted: "thread", "arrival" (MBARRIER) or "block" (GRID).
 * Static storage. */
WS_API const char *ws_wait_unit_text(enum ws_wait_kind kind);

/** Why threads that others wait for are not there. */
enum ws_absentee_state {
	WS_ABSENTEE_EXITED,       /**< they ended and never arrive */
	WS_ABSENTEE_FAULTED,      /**< they carry or share an exception and never arrive */
	WS_ABSENTEE_TRAPPED,      /**< stopped at a trap or breakpoint */
	WS_ABSENTEE_WAITS,        /**< they wait themselves, elsewhere: `wait` */
	WS_ABSENTEE_RUNS,         /**< they are at another instruction and may still arrive */
	WS_ABSENTEE_UNKNOWN,      /**< the target has no warp of theirs and does not say why */
	WS_ABSENTEE_NOT_RESIDENT, /**< blocks of a cooperative launch, which starts with all of
				     them, that are not on the GPU: they ended */
};

/** "exited", "faulted", "trapped", "waits", "runs", "unknown" or "not resident". Static storage. */
WS_API const char *ws_absentee_state_text(enum ws_absentee_state state);

/** Threads that a wait still needs, all in one state at one place. */
struct ws_report_absentee {
	enum ws_absentee_state state;
	uint64_t n_lanes, n_warps;
	uint64_t n_blocks;               /**< of a GRID: blocks that are in this state */
	struct ws_report_thread example; /**< fields are WS_NONE where it is no longer resident */
	uint32_t group;                  /**< index into the report's groups, or WS_NONE: exited */
	uint32_t wait; /**< WS_ABSENTEE_WAITS: index into the report's waits; else WS_NONE */
};

/** A barrier object (mbarrier) in shared memory, as recorded in the dump: the hardware may know of
 * later arrivals. */
struct ws_report_object {
	enum ws_status status;  /**< of the rest; WS_ABSENT: its bytes are not known */
	uint8_t parity;         /**< of the phase that the object is in */
	uint32_t pending;       /**< arrivals that this phase still needs */
	uint32_t expected;      /**< arrivals of each phase */
	uint32_t pending_bytes; /**< of asynchronous copies, announced but not there yet; from sm_90
				   on */
	enum ws_status phase_status; /**< of the next two */
	uint8_t phase;               /**< parity of the awaited phase */
	bool over; /**< that phase is over already: the threads are about to go on */
};

/** Threads that wait at one instruction, reached through the same calls, for the same thing. */
struct ws_report_wait {
	enum ws_wait_kind kind;
	struct ws_report_claim claim; /**< what for */
	uint64_t pc;             /**< of the instruction that waits; of a loop, its load or try */
	const char *instruction; /**< its text */
	uint32_t kernel;         /**< index, or WS_NONE */
	const struct ws_report_frame *frames; /**< of the example */
	uint32_t n_frames;
	uint32_t user_frame; /**< index into frames, or WS_NONE */
	uint64_t n_lanes, n_warps, n_blocks;
	uint64_t n_hardware_warps; /**< of these, warps that the hardware reports as waiting at a
				      barrier */
	struct ws_report_thread example;
	/** Collective operation that a function on the stack belongs to ("NCCL all-reduce"), or
	 * NULL. */
	const char *collective;

	enum ws_status barrier_status; /**< of `barrier`; WS_ABSENT: no such number here */
	uint32_t barrier;              /**< number of the block's barrier or of the register Bn */
	uint32_t expected; /**< threads that the barrier counts, if the code says; 0: all */

	enum ws_status address_status; /**< of the next two; WS_ABSENT: none, or not known */
	enum ws_space space;
	uint64_t address;            /**< of the example */
	bool one_address;            /**< it is the same for all */
	enum ws_status value_status; /**< of the next two */
	uint32_t value_bytes;
	uint64_t value; /**< the word whose change the threads wait for, as the target has it */
	struct ws_report_owner owner; /**< whose memory it is */
	enum ws_flow_test until;      /**< SPIN, GRID: the comparison that ends the wait */
	enum ws_status until_status;  /**< of `until_value`; WS_ABSENT: not known */
	bool until_signed;
	uint64_t until_value; /**< what the word is compared with */
	uint64_t until_plus;  /**< added to the word and to `until_value` before that */
	/** Of an instruction that reads several words: those that are compared, by bits, and the
	 * number of the one that is told of here. 0: it reads only one. */
	uint32_t until_words, until_word;
	bool until_each; /**< each of them has to be so, not any */
	bool until_met;  /**< the word already satisfies it: the threads are about to go on */
	struct ws_report_object object; /**< MBARRIER */
	const char *needs;              /**< what the word has to become, as text, or NULL */

	/** What has not arrived: threads; arrivals for an MBARRIER, blocks for a GRID. 0 also if
	 * that is not known. */
	uint64_t n_missing;
	bool missing_is_most; /**< some of these may have arrived without waiting, and gone on */
	uint64_t n_never;     /**< of those, the ones that cannot arrive any more */
	bool nobody_left;     /**< MBARRIER: all other threads of the block ended or faulted */
	const char *missing_text; /**< all of this as text, or NULL */
	/** Threads, or blocks, that could still arrive or never can; the latter come first. There
	 * may be more of them than are needed. */
	const struct ws_report_absentee *absentees;
	uint32_t n_absentees;
};

/* ---- what PyTorch's allocator had at the addresses ---- */

/** Where the report has an address from. */
enum ws_allocation_use {
	WS_ALLOCATION_ACCESS,    /**< the address of the access, of its `lane` */
	WS_ALLOCATION_BASE,      /**< the base of that address */
	WS_ALLOCATION_INDEX,     /**< where an index in that address was read from */
	WS_ALLOCATION_WAIT,      /**< threads wait for a word there */
	WS_ALLOCATION_PARAMETER, /**< a parameter of the kernel of the focus */
};

/** "access", "base", "index", "wait" or "parameter". Static storage. */
WS_API const char *ws_allocation_use_text(enum ws_allocation_use use);

/** What an address lies in, as the snapshot has it. */
enum ws_allocation_state {
	WS_ALLOCATION_OUTSIDE,   /**< no memory of the allocator */
	WS_ALLOCATION_ALLOCATED, /**< a block that the program has */
	WS_ALLOCATION_PENDING,   /**< a block that was freed, and that another stream may use */
	WS_ALLOCATION_FREE,      /**< memory that the allocator holds, and nobody has */
	WS_ALLOCATION_UNKNOWN,   /**< the allocator's memory, in a state that it does not say */
};

/** "outside", "allocated", "pending", "free" or "unknown". Static storage. */
WS_API const char *ws_allocation_state_text(enum ws_allocation_state state);

/** Lines of Python in a snapshot: who called, innermost first. */
struct ws_report_python {
	enum ws_status status;        /**< WS_ABSENT: not recorded, and the rest is empty */
	struct ws_str file, function; /**< of the first that is not PyTorch's own */
	uint64_t line;
};

/** What a snapshot tells about an address. */
struct ws_report_allocation {
	enum ws_allocation_use use;
	uint32_t index;      /**< of the wait, or ordinal of the parameter; else WS_NONE */
	struct ws_str field; /**< of a parameter that is a structure: its field; or empty */
	uint64_t address;
	enum ws_allocation_state state;
	enum ws_status segment_status; /**< of the next two; WS_ABSENT: it lies in none */
	uint64_t segment_start, segment_size;
	/** Of the next four; a block that has the address, or, where it lies in none that is in
	 * use, the last one there, or the nearest. WS_ABSENT: none. */
	enum ws_status block_status;
	uint64_t block_start;
	enum ws_status size_status; /**< of the next; WS_ABSENT: only the requested size is known */
	uint64_t block_size;        /**< with the rounding of the allocator */
	enum ws_status requested_status; /**< of the next */
	uint64_t requested;              /**< bytes that the program asked for */
	struct ws_report_python allocated, freed;
	bool was_freed;               /**< that block */
	bool freed_after;             /**< later than the time in the dump: not before the fault */
	enum ws_status before_status; /**< of the next */
	uint64_t freed_before_us;     /**< from then to the last event of the snapshot */
	const char *text;             /**< all of this in words */
};

/** A memory snapshot, and what it tells. */
struct ws_report_snapshot {
	/** WS_ABSENT: none was asked for. Else of the rest; damaged, or no snapshot, or one that
	 * would run code: see `why`. */
	enum ws_status status;
	const char *path; /**< as given */
	const char *why;  /**< nothing is told by it: why, a sentence without full stop; or NULL */
	uint64_t n_segments, n_blocks, n_events;
	enum ws_status inside_status; /**< of the next; WS_ABSENT: no memory to compare with */
	uint64_t n_inside;            /**< segments that are memory of the target */
	const char *assumed;          /**< what the rest rests on: a sentence without full stop */
	const struct ws_report_allocation *allocations;
	uint32_t n_allocations;
};

enum { WS_TUNED_OPTIONS = 4 };

/** What Triton compiled code with, as the file beside it in its cache says. */
struct ws_report_tuned {
	const char *path; /**< of the first such file */
	uint32_t n_files; /**< that say the same of the same code */
	/** num_warps, num_stages, num_ctas, maxnreg; 0: not said. */
	uint64_t option[WS_TUNED_OPTIONS];
};

/** How the image with the code of the focus was built. */
struct ws_report_image {
	struct ws_cubin_facts facts;     /**< strings are empty where the image has no note */
	enum ws_status code_id_status;   /**< of the next */
	struct ws_code_id code_id;       /**< of the focus's function */
	enum ws_status image_id_status;  /**< of the next */
	struct ws_code_id image_id;      /**< of all code of the image */
	enum ws_lines_why lines;         /**< of the image itself */
	const char *lines_borrowed_from; /**< debug image that gave the focus its lines, or NULL */
	/** `facts.options` without anything that may name a file or a person; pages show this. */
	struct ws_str options_shown;
	bool options_left_out; /**< something was left out there */
	/** For a kernel of Triton, what the debug images with the same code were compiled with. */
	const struct ws_report_tuned *tuned;
	uint32_t n_tuned;
};

enum {
	/** Of the rules by which signatures are made (docs/signature.md): those of two versions are
	 * not compared. */
	WS_SIGNATURE_VERSION = 3,
	WS_SIGNATURE_PARTS = 4,
};

/** One thing that the report would have liked to use. */
struct ws_report_missing {
	const char *what; /**< "line information of gather<float>" */
	enum ws_status why;
	const char *advice; /**< one sentence, or NULL */
};

struct ws_report {
	enum ws_verdict_kind verdict;
	const char *summary; /**< one sentence in plain words */
	/** Length of the part of `summary` that says what happened: a heading. What follows it,
	 * after "; " or ": ", says where, or why that is not known: the line below the heading. */
	size_t summary_head;
	/** Why the verdict is in doubt, as its summary says at the end; NULL: it is not. What it
	 * rests on obeys all rules (doubt.h), but the file contradicts itself somewhere. */
	const char *doubt;
	enum ws_status dump_status; /**< of `dump`; WS_UNSUPPORTED: the target is not a file */
	struct ws_dump_facts dump;
	const struct ws_report_device *devices;
	uint32_t n_devices;
	const struct ws_report_kernel *kernels; /**< in the order of ids */
	uint32_t n_kernels;
	const struct ws_report_exception *exceptions;
	uint32_t n_exceptions;
	/** exceptions[0]; without exceptions the first thread of the lowest block of the lowest
	 * kernel (WS_BLAME_NOBODY), or NULL when no thread is resident. */
	const struct ws_report_exception *focus;
	const struct ws_report_group *groups; /**< faulted first, then by number of lanes */
	uint32_t n_groups;
	struct ws_report_map map;
	const struct ws_report_wait *waits; /**< most threads first */
	uint32_t n_waits;
	/** The others follow from it, and a hang is named by it: whom the wait of most threads
	 * waits for; of a collective operation, if there is one. NULL: nobody waits. */
	const struct ws_report_wait *root_wait;
	/** WS_ABSENT: its launch is not known, so it may follow from another one. */
	enum ws_status root_status;
	uint32_t n_waiting_warps; /**< resident warps whose threads all wait for others */
	/** Threads of these warps, by what they wait for (enum ws_wait_kind). */
	uint64_t n_waiting_threads[WS_WAIT_REGISTERS + 1];
	/** Identity of the failure in one line, the same for every dump of the same bug: what
	 * happened, kernel, innermost significant functions, kind of instruction; no addresses, no
	 * coordinates. NULL: no fault and no hang. */
	const char *signature;
	/** Its parts: what happened, kernel, functions, instruction or what is waited for. Empty:
	 * it does not have that part. */
	struct ws_str signature_part[WS_SIGNATURE_PARTS];
	const char *signature_rule;  /**< line of data/signature.txt that chose among the functions,
					or NULL */
	const char *signature_parts; /**< what its parts are, as text, and what was left out of
					them; NULL: no signature */
	struct ws_report_snapshot snapshot;
	enum ws_status image_status; /**< of `image`; WS_ABSENT: the dump does not have that code */
	struct ws_report_image image;
	const struct ws_diagnostic *diagnostics;
	uint32_t n_diagnostics;
	/** Kernels whose code the images of the target hold, by C++ name; the first of them, and
	 * only with WS_VERDICT_UNKNOWN, if the state that would show which of them ran is lost.
	 */
	const struct ws_str *code;
	uint32_t n_code;
	const struct ws_report_missing *missing;
	uint32_t n_missing;
	const char *const *next; /**< what to try next: commands and settings, one sentence each */
	uint32_t n_next;
	uint32_t n_barrier_warps, n_warps; /**< `n_warps` are resident; `n_barrier_warps` of them
					      wait at a barrier, as the hardware reports */
	bool barriers_untold;              /**< the target does not report this for some of them */
};

/**
 * Looks at a target and says what happened.
 *
 * @param target      Must outlive the report.
 * @param options     NULL for the default.
 * @param ret_report  The caller's to destroy.
 *
 * @retval WS_OK         also for a target without a fault, and for one that is mostly damaged.
 * @retval WS_ARGUMENT   `options->size` is not a size that this version knows.
 * @retval WS_IO, WS_UNSUPPORTED, WS_LIMIT  a debug image cannot be used, or the file of the memory
 *                                         snapshot cannot be opened.
 * @retval WS_NO_MEMORY
 *
 * O(lanes); code is looked up once per distinct pc.
 */
WS_API enum ws_status ws_report_create(const struct ws_target *target,
				       const struct ws_report_options *options,
				       const struct ws_report **ret_report,
				       struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_report_destroy(const struct ws_report *report);

/* ---- renderers ---- */

struct ws_text_options {
	size_t size;     /**< sizeof(struct ws_text_options) */
	bool color;      /**< use escape sequences */
	bool full_names; /**< whole C++ names instead of short ones */
	bool all;        /**< every group and exception, however many */
	bool brief; /**< text, Markdown: the first screen only: verdict, cause, next step, thread */
	unsigned columns; /**< text: width of the terminal that tables should fit; 0: unlimited */
};

/**
 * The page as plain text that is also Markdown: details are indented by four spaces, so that an
 * issue tracker shows them unchanged. Never prints memory contents. `options` may be NULL. Failures
 * of writing show in ws_out_flush().
 */
WS_API enum ws_status ws_report_text(const struct ws_report *report,
				     const struct ws_text_options *options, struct ws_out *out,
				     struct ws_error *err) WS_MUST_USE;

/**
 * The page as Markdown for an issue tracker: the same sections, with details in fenced blocks and
 * long lists folded. Names are escaped: they cannot become markup, links or mentions. Never prints
 * memory contents. `options` may be NULL; their `color` is not used.
 */
WS_API enum ws_status ws_report_markdown(const struct ws_report *report,
					 const struct ws_text_options *options, struct ws_out *out,
					 struct ws_error *err) WS_MUST_USE;

/**
 * The page as one HTML file that loads nothing, can be read without scripts, and in which no text
 * of the dump becomes markup or code. Never prints memory contents. `options` may be NULL; their
 * `color` is not used. Sources are shown as far as the report read them: see
 * `ws_report_options.source_context`.
 */
WS_API enum ws_status ws_report_html(const struct ws_report *report,
				     const struct ws_text_options *options, struct ws_out *out,
				     struct ws_error *err) WS_MUST_USE;

/** JSON by docs/schema/warpscope-report-1.json. Failures of writing show in ws_out_flush(). */
WS_API void ws_report_json(const struct ws_report *report, struct ws_out *out);

/** Systems that build and test, and show beside a line of source what was found there. */
enum ws_annotation_form {
	WS_ANNOTATION_GITHUB, /**< a line in the output of a step; nothing without a failure */
	WS_ANNOTATION_GITLAB, /**< a report of code quality: a file of JSON */
};

/** What failed, at the first line of the stack that is the user's. Paths below `folder` are shown
 * from there; NULL: as compiled in. Failures of writing show in ws_out_flush(). */
WS_API void ws_report_annotation(const struct ws_report *report, enum ws_annotation_form form,
				 const char *folder, struct ws_out *out);

#ifdef __cplusplus
}
#endif
#endif
