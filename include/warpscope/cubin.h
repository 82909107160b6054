/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * One cubin image, and many of them: functions, variables, lines, build facts, code identity.
 *
 * **Words.** A *cubin* is an ELF image for one GPU architecture, from a file, a fatbin or a dump.
 * Its *code sections* hold machine code; each is *owned* by one function (a kernel, or a device
 * function that kept a section of its own). An optimised build also places callees that were not
 * inlined in the section of their kernel, as local symbols `$kernel$callee`. So a code address has
 * two answers: the *innermost function* (names a frame) and the *section with an offset in it* (the
 * line map counts from there). `struct ws_place` gives both.
 *
 * **Relocated or not.** On disk all sections start at 0. The *relocated* image that a dump keeps of
 * a loaded module has device addresses. Evidence in the image decides which of the two it is
 * (docs/formats/cubin.md, "Relocated images"); only relocated cubins can be searched by device
 * address.
 *
 * **Lazy.** Opening reads the ELF header and the section headers. Symbols, line tables, notes are
 * read when first asked for, once, under a lock of the cubin; afterwards reading takes no lock.
 * **Damage is local**: a truncated symbol table gives the symbols that are left, and so on.
 *
 * **Ownership.** A cubin borrows the bytes it was opened over; they must outlive it. Strings and
 * tables handed out are valid until the cubin is closed. **Threads.** Any number of threads may
 * use one cubin or set, except while it is closed or added to.
 */
#ifndef WARPSCOPE_CUBIN_H
#define WARPSCOPE_CUBIN_H

#include <warpscope/dwarf.h>
#include <warpscope/flow.h>
#include <warpscope/line.h>
#include <warpscope/state.h>
#include <warpscope/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_cubin;

/** What a number of this header holds when the image does not say. */
#define WS_UNKNOWN UINT32_MAX

/**
 * Opens a cubin. O(sections).
 * @retval WS_UNSUPPORTED  not a 64-bit little-endian ELF file, or one for another machine.
 * @retval WS_TRUNCATED    shorter than an ELF header.
 * @retval WS_NO_MEMORY
 * A cut file opens: what is left is there, see ws_cubin_damage().
 */
WS_API enum ws_status ws_cubin_open(struct ws_span image, struct ws_cubin **ret_cubin,
				    struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_cubin_close(struct ws_cubin *cubin);

/** The bytes the cubin was opened over. */
WS_API struct ws_span ws_cubin_image(const struct ws_cubin *cubin);

/** Number of ELF sections whose headers are inside the image. */
WS_API uint32_t ws_cubin_n_sections(const struct ws_cubin *cubin);

/** One section, as its header says; `bytes` are those inside the image. */
struct ws_section {
	struct ws_str name; /**< names repeat in linked images: identify by index */
	uint32_t type, link, info;
	uint64_t flags, size;
	uint64_t gpu_va; /**< where the section was loaded; 0 when the image is not relocated */
	struct ws_span bytes;
	bool complete; /**< all `size` bytes are there (or it needs none) */
};

/** @retval WS_ARGUMENT  no such section. */
WS_API enum ws_status ws_cubin_section(const struct ws_cubin *cubin, uint32_t index,
				       struct ws_section *ret_section,
				       struct ws_error *err) WS_MUST_USE;
/** First section of that name. O(sections). @retval WS_ABSENT */
WS_API enum ws_status ws_cubin_find_section(const struct ws_cubin *cubin, const char *name,
					    uint32_t *ret_index, struct ws_error *err) WS_MUST_USE;

/* ---- build facts ---- */

/** What a cubin says about itself. Strings are empty if the image has no note. */
struct ws_cubin_facts {
	uint32_t sm;          /**< 75, 90, 120, ...; 0: unknown layout */
	char variant;         /**< 'a' or 'f' of sm_90a, sm_100f; 0 for none (or no note to tell) */
	uint32_t virtual_sm;  /**< compute_NN it was built from, or WS_UNKNOWN */
	uint32_t abi_version; /**< 7 up to CUDA 12, 8 since 13.0 */
	uint32_t toolkit;     /**< major * 10 + minor, e.g. 130; or WS_UNKNOWN */
	bool relocatable;     /**< an object file (rdc), not linked yet */
	bool relocated;       /**< has device addresses */
	struct ws_str tool, tool_version, tool_build, options; /**< of `.note.nv.tkinfo` */
	bool has_lines;                                        /**< `.debug_line` */
	bool has_debug_info;                                   /**< `.debug_info`: built with -G */
	bool has_ptx; /**< PTX text with a map from code to its lines */
};

WS_API void ws_cubin_facts(const struct ws_cubin *cubin, struct ws_cubin_facts *ret_facts);

/** First damage found while opening: false when there was none. */
WS_API bool ws_cubin_damage(const struct ws_cubin *cubin, struct ws_error *ret_err);

enum ws_lines_why {
	WS_LINES_PRESENT,
	WS_LINES_NOT_BUILT, /**< compiled without -lineinfo and without -G */
	WS_LINES_REMOVED, /**< the compiler was asked for lines, but the image no longer has any */
	WS_LINES_UNKNOWN, /**< no lines, and no note that says why */
};

/**
 * Why a cubin has no lines, with one sentence for a user that ends with what to do. `ret_text` (of
 * `size` bytes, may be NULL with 0) is always terminated.
 */
WS_API enum ws_lines_why ws_cubin_explain_lines(const struct ws_cubin *cubin, char *ret_text,
						size_t size);

/* ---- functions ---- */

/** One function symbol. */
struct ws_function {
	uint32_t index;        /**< in the cubin's table */
	uint32_t symbol_index; /**< in `.symtab` */
	struct ws_str symbol;  /**< as in the symbol table */
	struct ws_str name;    /**< mangled name: `symbol` without a `$kernel$` prefix */
	bool is_kernel;
	bool is_inner;       /**< lies in the section of another function */
	uint32_t owner;      /**< index of the function that owns the section; its own for an owner,
				WS_UNKNOWN when no symbol starts the section */
	uint32_t section;    /**< ELF section index; 0: undefined, the loader supplies it */
	uint64_t sec_off;    /**< first instruction, offset in the section */
	uint64_t size_bytes; /**< as the symbol says; may be 0 */
	uint64_t gpu_va;     /**< first instruction; 0 when the cubin is not relocated */
	uint32_t n_regs;     /**< or WS_UNKNOWN, like the next three */
	uint32_t frame_bytes, min_stack_bytes, max_stack_bytes;
};

/**
 * All functions in the order of the symbol table. Undefined ones are included (section 0).
 * @retval WS_OK      also for none; with a damaged table those that could be read.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_cubin_functions(struct ws_cubin *cubin,
					 const struct ws_function **ret_functions, size_t *ret_n,
					 struct ws_error *err) WS_MUST_USE;

/**
 * A function by its exact name: the symbol, or the mangled name without `$kernel$`. Defined
 * functions come before undefined ones, then the order of the symbol table. O(log functions).
 * @retval WS_ABSENT
 */
WS_API enum ws_status ws_cubin_find_function(struct ws_cubin *cubin, struct ws_str name,
					     const struct ws_function **ret_function,
					     struct ws_error *err) WS_MUST_USE;

/** Where a piece of code is. */
struct ws_place {
	uint32_t module_index; /**< in the set that answered; 0 from a single cubin */
	struct ws_cubin *cubin;
	uint32_t section;
	uint64_t sec_off; /**< offset in the section: what the line map counts in */
	const struct ws_function *function; /**< innermost; NULL: code that no symbol covers */
	const struct ws_function *owner;    /**< of the section; NULL when nobody owns it */
	uint64_t rel_pc; /**< offset in `function` (in the section when that is NULL) */
};

/**
 * What is at a device address. If functions overlap, the one that starts last wins. A symbol
 * without a size extends to the next one. O(log functions).
 * @retval WS_ABSENT  not an address of this cubin's code, or the cubin is not relocated.
 */
WS_API enum ws_status ws_cubin_find_address(struct ws_cubin *cubin, uint64_t gpu_va,
					    struct ws_place *ret_place,
					    struct ws_error *err) WS_MUST_USE;

/** The function at an offset in a code section; also works for images that are not relocated. */
WS_API enum ws_status ws_cubin_find_offset(struct ws_cubin *cubin, uint32_t section,
					   uint64_t sec_off, struct ws_place *ret_place,
					   struct ws_error *err) WS_MUST_USE;

/**
 * Bytes of the section from a place to its end. @retval WS_TRUNCATED  the image is cut before it.
 */
WS_API enum ws_status ws_cubin_bytes_at(const struct ws_place *place, struct ws_span *ret_bytes,
					struct ws_error *err) WS_MUST_USE;

/**
 * Machine code of a function: `size_bytes` from its start, or to the end of the section for one
 * without a size. @retval WS_ABSENT  undefined.  @retval WS_TRUNCATED  part of it is cut off.
 */
WS_API enum ws_status ws_cubin_code(const struct ws_cubin *cubin,
				    const struct ws_function *function, struct ws_span *ret_code,
				    struct ws_error *err) WS_MUST_USE;

/**
 * Basic blocks of a function, with the targets of branches through a register that `.nv.info.F`
 * lists (attribute 0x34: switch statements).
 *
 * @param base_pc   Address of its first instruction, or 0: see ws_flow_create().
 * @param ret_flow  Release it with ws_flow_destroy(), before the cubin is closed.
 *
 * Fails as ws_cubin_code() and ws_flow_create() do.
 */
WS_API enum ws_status ws_cubin_flow(const struct ws_cubin *cubin,
				    const struct ws_function *function, uint64_t base_pc,
				    struct ws_flow **ret_flow, struct ws_error *err) WS_MUST_USE;

/** What a linker or loader writes into an instruction. */
enum ws_reloc_kind {
	WS_RELOC_LOW,    /**< lower half of an address, into the 32-bit immediate */
	WS_RELOC_HIGH,   /**< upper half of an address, into the 32-bit immediate */
	WS_RELOC_CALL,   /**< address of an absolute call */
	WS_RELOC_NUMBER, /**< a number: an offset in shared or constant memory, a texture's place */
	WS_RELOC_CONSTANT,     /**< bank and offset of a constant */
	WS_RELOC_UNIFIED_LOW,  /**< as WS_RELOC_LOW, of a function's entry in the table of functions
				*/
	WS_RELOC_UNIFIED_HIGH, /**< as WS_RELOC_HIGH, likewise */
	WS_RELOC_UNIFIED_CALL, /**< where that table is, into a call through a register */
	WS_RELOC_KERNEL_LOW,   /**< as WS_RELOC_LOW, of a kernel's descriptor, for launches from
				  the device */
	WS_RELOC_KERNEL_HIGH,  /**< as WS_RELOC_HIGH, likewise */
	WS_RELOC_OTHER,        /**< something else: see `type` */
};

/** What a symbol names, as far as its type and place tell. Objects tell where data lie. */
enum ws_symbol_kind {
	WS_SYMBOL_OTHER,
	WS_SYMBOL_FUNCTION,
	WS_SYMBOL_DATA,
	WS_SYMBOL_GLOBAL,
	WS_SYMBOL_SHARED,
	WS_SYMBOL_CONST,
	WS_SYMBOL_TEXTURE,
	WS_SYMBOL_SURFACE,
};

/** Something that is unknown until the image is linked or loaded. */
struct ws_reloc {
	uint64_t sec_off; /**< of the instruction, or of the data, in its section */
	enum ws_reloc_kind kind;
	uint32_t type;         /**< number of the relocation's type */
	uint8_t lo, len;       /**< of code: the first bit that is filled, how many; 0: not known */
	struct ws_str symbol;  /**< what it is about; empty: nothing, or the image does not say */
	uint32_t symbol_index; /**< in `.symtab` */
	enum ws_symbol_kind symbol_kind;
	int64_t addend;  /**< from the symbol; 0 also if the instruction itself holds it */
	bool has_addend; /**< false: the instruction itself holds it */
};

enum {
	WS_RELOC_NAME_MAX = 16384, /**< longer symbols are given as empty */
};

/**
 * Relocations of a section, in the order of their offsets; the first `cap` go to `ret_relocs` (NULL
 * with 0). A relocated image may no longer have any. `*ret_n` receives how many there are: 0 also
 * for a section that does not exist. O(n log n), and O(sections) where the section is not code.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_cubin_relocs(const struct ws_cubin *cubin, uint32_t section,
				      struct ws_reloc *ret_relocs, size_t cap, size_t *ret_n,
				      struct ws_error *err) WS_MUST_USE;

/** A place that a branch through a register may lead to (switch statements). */
struct ws_branch_target {
	uint64_t sec_off; /**< of the branch, in its section */
	uint64_t target;  /**< offset in the same section */
};

/**
 * Targets that `.nv.info.F` lists for branches through registers in a code section (attribute
 * 0x34), in its order; the first `cap` go to `ret_targets` (NULL with 0). `*ret_n` receives how
 * many there are.
 */
WS_API void ws_cubin_branch_targets(const struct ws_cubin *cubin, uint32_t section,
				    struct ws_branch_target *ret_targets, size_t cap,
				    size_t *ret_n);

/** One kernel parameter. */
struct ws_param {
	uint32_t ordinal;
	uint32_t offset; /**< from the start of the parameter area */
	uint32_t size_bytes;
	bool is_pointer;    /**< the compiler said so, and of the next two */
	enum ws_space to;   /**< kind of memory */
	uint32_t alignment; /**< of the address, bytes */
};

/** What `.nv.info.F` says about a function. Numbers may be WS_UNKNOWN. */
struct ws_function_info {
	uint32_t param_bank_offset;     /**< start of the parameters in constant bank 0 */
	uint32_t param_bytes;           /**< size of the parameter area */
	uint32_t shared_bytes;          /**< static shared memory (section `.nv.shared.F`) */
	uint32_t reserved_shared_bytes; /**< of these, what the system takes, in front */
	uint32_t n_barriers;
	uint32_t toolkit;
	struct ws_dim3 cluster_dim; /**< blocks of a cluster that it was built for; all 0: any */
	size_t n_params, n_exits;   /**< how many there are */
	struct ws_dim3 max_block;   /**< most threads (the product) it was built for; all 0: any */
	struct ws_dim3 required_block; /**< the only dimensions it was built for; all 0: any */
	/** Attributes of a kind that is not known, and the number of the first one: what they say
	 * is missing here. */
	uint32_t n_unknown, first_unknown;
};

/**
 * Attributes of a function; the first `cap_params` parameters in the order of ordinals as far as
 * the image has that order, and the first `cap_exits` offsets of EXIT instructions in its section.
 * Arrays may be NULL with 0. @retval WS_ABSENT  the image has no attributes for it.
 */
WS_API enum ws_status ws_cubin_function_info(const struct ws_cubin *cubin,
					     const struct ws_function *function,
					     struct ws_function_info *ret_info,
					     struct ws_param *ret_params, size_t cap_params,
					     uint32_t *ret_exits, size_t cap_exits,
					     struct ws_error *err) WS_MUST_USE;

/**
 * The next bytes of the parameter area, from `*offset` on, that no parameter accounts for: hidden
 * ones, which the front end that made the kernel fills in at a launch (tensor maps of cuTile).
 * `params` are those of ws_cubin_function_info(); false if not all of them are given, too, and
 * where there are no more. `*offset` and `*ret_bytes` receive where they are.
 */
WS_API bool ws_params_hidden(const struct ws_function_info *info, const struct ws_param *params,
			     size_t n, uint32_t *offset, uint32_t *ret_bytes);

/** One data symbol. */
struct ws_variable {
	uint32_t symbol_index; /**< in `.symtab` */
	struct ws_str name;    /**< mangled */
	enum ws_space space;   /**< WS_SPACE_GLOBAL, WS_SPACE_CONST or WS_SPACE_SHARED */
	uint32_t bank;         /**< WS_SPACE_CONST */
	bool is_managed;       /**< `__managed__`: the host reads and writes it, too */
	uint32_t section;      /**< 0: undefined */
	uint64_t offset;       /**< in its section (shared: in the block's shared memory; in an
				    object, which a linker places: its alignment) */
	uint64_t size_bytes;
	uint64_t gpu_va; /**< WS_SPACE_GLOBAL in a relocated cubin, else 0 */
};

/** Data symbols in the order of the symbol table. */
WS_API enum ws_status ws_cubin_variables(struct ws_cubin *cubin,
					 const struct ws_variable **ret_variables, size_t *ret_n,
					 struct ws_error *err) WS_MUST_USE;

/* ---- lines ---- */

/** How much a cubin tells of the source: "-G", "-lineinfo", "yes", "not built", "removed", "none".
 */
WS_API const char *ws_cubin_lines_word(const struct ws_cubin *cubin);

/**
 * Source positions of the code at an offset of a section, innermost first, as ws_line_find() gives
 * them; the outermost gets the name of the innermost function symbol there. Of code whose line map
 * tells no inlined calls, those that ws_dwarf_inlined() gives.
 *
 * @param cap    Number of elements in `ret_pos`; 0 only counts.
 * @param ret_n  Number of positions that exist, which may exceed `cap`.
 *
 * @retval WS_ABSENT     No lines for this code (ws_cubin_explain_lines() says why when the cubin
 *                       has none at all).
 * @retval WS_MALFORMED  The line program broke before this offset.
 */
WS_API enum ws_status ws_cubin_line_find(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
					 struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
					 struct ws_error *err) WS_MUST_USE;

/** The cubin's line map, for all that line.h offers. @retval WS_ABSENT  no `.debug_line`. */
WS_API enum ws_status ws_cubin_line_map(struct ws_cubin *cubin, struct ws_line_map **ret_map,
					struct ws_error *err) WS_MUST_USE;

/**
 * The code that a sequence of ws_cubin_line_map() describes, at its first row. Call this for each
 * sequence, because not every image has owners in its map (relocated ones may have device
 * addresses). The owner of a sequence, if it has one, is the index of its code section.
 * @retval WS_ABSENT  the sequence does not say, or names no code of this image.
 */
WS_API enum ws_status ws_cubin_seq_place(struct ws_cubin *cubin, const struct ws_line_seq *seq,
					 struct ws_place *ret_place,
					 struct ws_error *err) WS_MUST_USE;

/**
 * Whether a sequence of ws_cubin_line_map() describes a function that the linker dropped: the image
 * is linked, no relocation of its line map is lost, others say whose the other sequences are, and
 * none says it of this one. [measured: nvlink 13.0, sm_80 and sm_90]
 */
WS_API bool ws_cubin_seq_is_dropped(const struct ws_cubin *cubin, const struct ws_line_seq *seq);

/** A line of the PTX text that the image carries. */
struct ws_ptx_line {
	uint32_t section; /**< of the text (objects that were linked have one each) */
	uint32_t line;    /**< from 1 */
	struct ws_str text;
};

/**
 * The PTX line that code was made from. `.loc` lines are blank in the text that images keep, so it
 * gives no source position. @retval WS_ABSENT
 */
WS_API enum ws_status ws_cubin_ptx_find(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
					struct ws_ptx_line *ret_line,
					struct ws_error *err) WS_MUST_USE;

/* ---- parameters and types ---- */

/**
 * The cubin's debug information, for all that dwarf.h offers; functions have their mangled names
 * there. Read when it is first asked for. @retval WS_ABSENT  no `.debug_info`: not built with -G.
 */
WS_API enum ws_status ws_cubin_dwarf(struct ws_cubin *cubin, const struct ws_dwarf **ret_dwarf,
				     struct ws_error *err) WS_MUST_USE;

/* ---- names ---- */

/**
 * C++ name of a mangled one into `ret_text` (always terminated, cut to `size` - 1 bytes). Names
 * that are not mangled or cannot be decoded, and all names in a build without libiberty, are copied
 * unchanged and give false. Time and memory are bounded for any name. What compilers add (Numba's
 * count and options, nvcc's namespace around what is static, Warp's hash) is left out of all forms.
 */
WS_API bool ws_demangle(struct ws_str mangled, char *ret_text, size_t size);
/**
 * The same without parameters and return type, as cuda-gdb names a kernel:
 * "ns::Outer<int>::kernel<float>" for "void ns::Outer<int>::kernel<float>(float*)".
 */
WS_API bool ws_demangle_kernel(struct ws_str mangled, char *ret_text, size_t size);
/**
 * That without template arguments: "ns::Outer::kernel"; a function of Numba without its module.
 */
WS_API bool ws_demangle_short(struct ws_str mangled, char *ret_text, size_t size);

/* ---- code identity (docs/formats/code-identity.md) ---- */

/** SHA-256 of code with what a loader changes masked out. */
struct ws_code_id {
	uint8_t bytes[32];
};

enum { WS_CODE_ID_TEXT = 65 };

/** 64 hexadecimal digits and a NUL. */
WS_API void ws_code_id_text(const struct ws_code_id *id, char ret_text[WS_CODE_ID_TEXT]);
/** False when `text` is not exactly 64 hexadecimal digits. */
WS_API bool ws_code_id_parse(const char *text, struct ws_code_id *ret_id);

/**
 * Identity of the code section that holds a function: the owner's name and its machine code. The
 * same for a cubin on disk and for its relocated image in a dump. Equal identities are a strong
 * hint, but not proof: ws_code_compare() proves equality. @retval WS_ABSENT  undefined function.
 */
WS_API enum ws_status ws_cubin_code_id(struct ws_cubin *cubin, const struct ws_function *function,
				       struct ws_code_id *ret_id, struct ws_error *err) WS_MUST_USE;
/**
 * Identity of a whole image: of all its code sections, in any order.
 * @retval WS_ABSENT     it has no code.
 * @retval WS_MALFORMED  its code sections claim more bytes than the image has.
 * @retval WS_TRUNCATED  part of the code is cut off.
 */
WS_API enum ws_status ws_cubin_image_id(struct ws_cubin *cubin, struct ws_code_id *ret_id,
					struct ws_error *err) WS_MUST_USE;

/** How the code of two sections compares. */
struct ws_code_diff {
	bool equal;                       /**< proven: same size, no byte differs but addresses */
	uint64_t size_a, size_b;          /**< bytes */
	uint64_t n_bytes, n_instructions; /**< that differ, within the shorter of the two, plus the
					     rest of the longer */
	uint64_t first_off;               /**< offset of the first difference */
	uint64_t n_masked;                /**< instructions of which an address was left out */
	bool addresses_known; /**< false: no relocation table on either side, so address-like
				 operands were left out by instruction kind; `equal` is then false
			       */
};

/** Compares the code sections of two functions byte by byte. */
WS_API enum ws_status
ws_code_compare(struct ws_cubin *cubin_a, const struct ws_function *function_a,
		struct ws_cubin *cubin_b, const struct ws_function *function_b,
		struct ws_code_diff *ret_diff, struct ws_error *err) WS_MUST_USE;

/* ---- many cubins ---- */

/** Modules of one process or dump. An image is opened when something in it is first asked for. */
struct ws_cubin_set;

/** What a set knows of a cubin before opening it. */
struct ws_cubin_entry {
	uint64_t handle;
	uint32_t device_index, context_index; /**< WS_NONE: any */
	struct ws_span relocated;             /**< empty: not there */
	struct ws_span original; /**< as on disk; used when there is no relocated one */
	uint32_t version;        /**< of these bytes, where they change in their place */
};

WS_API enum ws_status ws_cubin_set_create(struct ws_cubin_set **ret_set,
					  struct ws_error *err) WS_MUST_USE;
/** Closes its cubins too. NULL is fine. */
WS_API void ws_cubin_set_destroy(struct ws_cubin_set *set);
/** Adds a cubin; its index counts from 0 in the order of adding. Not while others read the set. */
WS_API enum ws_status ws_cubin_set_add(struct ws_cubin_set *set, const struct ws_cubin_entry *entry,
				       struct ws_error *err) WS_MUST_USE;
WS_API uint32_t ws_cubin_set_count(const struct ws_cubin_set *set);
/**
 * The cubin, opened now if it was not: over the relocated image, else over the original.
 * @retval WS_ABSENT    neither image is there.
 * Other failures are those of ws_cubin_open(); they are remembered, not retried.
 */
WS_API enum ws_status ws_cubin_set_cubin(struct ws_cubin_set *set, uint32_t index,
					 struct ws_cubin **ret_cubin,
					 struct ws_error *err) WS_MUST_USE;

/** Where to look first, and what to leave out. */
struct ws_cubin_hint {
	uint32_t module_index;                /**< looked at first; WS_NONE: no idea */
	uint32_t device_index, context_index; /**< others are left out; WS_NONE: any */
};

/**
 * What is at a device address. The hinted cubin is asked first, so that a report of one kernel
 * opens one image; else all images are opened once and a merged index answers in O(log functions).
 * `hint` may be NULL. Of several cubins at one address (contexts have address spaces of their own)
 * the last added wins. Where the hinted context has none, and one other of the device has, that is
 * it: a warp may stand in the code of a module that others loaded. Modules that do not open are
 * left out. @retval WS_ABSENT
 */
WS_API enum ws_status ws_cubin_set_find_address(struct ws_cubin_set *set, uint64_t gpu_va,
						const struct ws_cubin_hint *hint,
						struct ws_place *ret_place,
						struct ws_error *err) WS_MUST_USE;
/** A defined function by its exact name, as ws_cubin_find_function(); the last added cubin that
 * has it wins. `hint` as above. @retval WS_ABSENT */
WS_API enum ws_status ws_cubin_set_find_function(struct ws_cubin_set *set, struct ws_str name,
						 const struct ws_cubin_hint *hint,
						 struct ws_place *ret_place,
						 struct ws_error *err) WS_MUST_USE;
/** Index of the cubin with this handle on this device and context (WS_NONE: any).
 * @retval WS_ABSENT */
WS_API enum ws_status ws_cubin_set_find_handle(const struct ws_cubin_set *set, uint64_t handle,
					       uint32_t device_index, uint32_t context_index,
					       uint32_t *ret_index,
					       struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
