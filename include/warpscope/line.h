/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Line maps: from an offset in a function to source positions, with the calls inlined around them.
 *
 * **Input.** The bytes of `.debug_line` (DWARF 2 to 5) of a cubin or of anything else, and of the
 * string sections it points into. Input may be damaged or hostile: damage loses only the sequence
 * or the table it is in, and ws_line_diagnostics() reports it with its file offset. Memory never
 * exceeds a fixed multiple of the input.
 *
 * **Words.** A *table* is one header with its program; a linked cubin has several. A *sequence* is
 * a run of *rows* that the program ends with end_sequence: the rows of one function's code. Rows of
 * a sequence are numbered from 1 in the order of emission. The *owner* of a sequence is a number
 * that the caller passes with the relocations (for example the code section); `rel_pc` is an
 * address in the owner.
 *
 * **NVIDIA's extension.** Since CUDA 11.2 a row carries two more registers. `context` is 0, or the
 * number of an earlier row of the *same sequence*: the call site that this row's code was inlined
 * into. `function` is then the (mangled) name of the inlined function. Rows are often written only
 * to serve as call sites; of several rows at one address the last one counts. Every sequence of a
 * cubin starts at address 0, so only the relocation of its DW_LNE_set_address identifies the
 * function. [measured: docs/formats/linemap.md]
 *
 * **Lazy.** Creating a map reads headers; the rows of a sequence are decoded once, when it is first
 * used. A cubin of 1,000 kernels costs only the kernel that is looked at.
 *
 * **Threads.** All functions except ws_line_destroy() are safe on one map from many threads.
 *
 * **Coming from libdw.** dwarf_next_lines(): ws_line_seq_count() and ws_line_seq_at();
 * dwarf_onesrcline() and the dwarf_line...() getters: ws_line_row_at(); dwarf_linecontext(): the
 * field `context`, a row number of the same sequence (libdw counts over the whole table, which is
 * wrong for more than one kernel); dwarf_linefunctionname(): the field `function`.
 * examples/libdw-shim.c implements these two functions with ours.
 */
#ifndef WARPSCOPE_LINE_H
#define WARPSCOPE_LINE_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Defined as 1, as in a libdw that knows the extension, so that one test serves both. */
#ifndef NVIDIA_LINEMAP_INLINING_EXTENSIONS
#define NVIDIA_LINEMAP_INLINING_EXTENSIONS 1
#endif

/** Owner of a sequence whose DW_LNE_set_address has no relocation. */
#define WS_LINE_NO_OWNER UINT32_MAX

enum {
	/** Inlined calls around a row. A row deeper than that counts as damaged (real code: 22). */
	WS_LINE_MAX_DEPTH = 511,
};

/* ---- the map ---- */

struct ws_line_map;

/** A relocation of the line section: what to put into the word at `sec_off`. */
struct ws_line_reloc {
	uint64_t sec_off; /**< of the word, from the start of the section */
	/** For DW_LNE_set_address the address in the owner, for the string base its value. */
	uint64_t value;
	uint32_t owner;  /**< of the sequence; ignored for the string base */
	bool add_stored; /**< REL: the word in the section is an addend */
};

/** What a map is made of. All of it is borrowed until ws_line_destroy(), except `relocs`. */
struct ws_line_input {
	struct ws_span line;                /**< `.debug_line` or `.nv_debug_line_sass` */
	struct ws_span str;                 /**< `.debug_str`; may be empty */
	struct ws_span line_str;            /**< `.debug_line_str` (DWARF 5); may be empty */
	const struct ws_line_reloc *relocs; /**< in any order; copied */
	size_t n_relocs;
	bool big_endian;
	bool str_is_cut; /**< the end of `str` is not there */
	/** The linker that made the image leaves string bases at 0 (enum ws_line_base). */
	bool bases_unset;
};

/**
 * Reads the headers of all tables.
 *
 * @param input    Sections and relocations.
 * @param ret_map  Destroyed by the caller.
 *
 * @retval WS_OK         also when every table is damaged (see ws_line_diagnostics()).
 * @retval WS_ABSENT     the section is empty.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_line_create(const struct ws_line_input *input,
				     struct ws_line_map **ret_map,
				     struct ws_error *err) WS_MUST_USE;
WS_API void ws_line_destroy(struct ws_line_map *map);

/* ---- tables ---- */

/** A source file. Strings end inside the input and are borrowed from it; they may be any bytes. */
struct ws_line_file {
	const char *dir;     /**< directory as recorded, NULL when there is none */
	const char *name;    /**< never NULL */
	uint64_t mtime;      /**< seconds since 1970 when it was compiled, 0 when not recorded */
	uint64_t size_bytes; /**< at that time, 0 when not recorded */
	const uint8_t *md5;  /**< 16 bytes (DWARF 5), or NULL */
};

/**
 * Directory and name of a file as one path ("dir/name", or the name alone when it is absolute or
 * no directory is known), like snprintf: at most `cap` bytes with a NUL are written to `ret_path`.
 * Returns the length of the whole path.
 */
WS_API size_t ws_line_path(const struct ws_line_file *file, char *ret_path, size_t cap);

/** How far NVIDIA's string base is to be believed. Some linkers leave 0 there, so that names would
 * be those of an earlier object; then it is looked for (docs/formats/linemap.md). */
enum ws_line_base {
	WS_LINE_BASE_WRITTEN, /**< it is the word in the header, relocated */
	WS_LINE_BASE_FOUND,   /**< the word is 0; no other base is possible for the names */
	WS_LINE_BASE_LOST,    /**< the word is 0; names of inlined functions are not known */
};

/** One header. Offsets count from the start of the section. */
struct ws_line_table {
	uint64_t sec_off;     /**< of the header */
	uint64_t program_off; /**< of the first opcode */
	uint64_t end_off;     /**< one past the table's last byte that is inside the section */
	uint64_t unit_length, header_length;
	uint16_t version;
	bool dwarf64;
	uint8_t address_size; /**< DWARF 5, else 0 */
	uint8_t min_inst_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	bool default_is_stmt;
	bool has_str_base;             /**< NVIDIA's extra word is there */
	enum ws_line_base base;        /**< if it is */
	uint32_t str_base;             /**< its value, relocated or found; 0 if it is lost */
	const uint8_t *opcode_lengths; /**< `opcode_base - 1` of them, of opcode 1 and up */
	const char *const *dirs;       /**< as numbered in the input; [0] is NULL before DWARF 5 */
	size_t n_dirs;
	const struct ws_line_file *files; /**< the same; before DWARF 5 [0] has the name "" */
	size_t n_files;
};

/** Number of tables whose header could be read. */
WS_API size_t ws_line_table_count(const struct ws_line_map *map);
/** A table; `index` must be below the count. Borrowed from the map. */
WS_API const struct ws_line_table *ws_line_table_at(const struct ws_line_map *map, size_t index);

/* ---- positions of a pc ---- */

/** One source position: 32 bytes, pointers borrowed from the map or its input. */
struct ws_line_pos {
	/** Mangled name of the inlined function that the position lies in; NULL for the function
	 * that owns the code, and when the name is outside `.debug_str` or its base is lost. */
	const char *function;
	const struct ws_line_file *file; /**< NULL when the row names no file of its table */
	uint32_t line;                   /**< from 1; 0: none */
	uint32_t column;                 /**< from 1; 0: none (always in NVIDIA's tables) */
	uint32_t row;                    /**< number in its sequence */
	/** The position was inlined, but into an impossible row: the chain is cut here. */
	bool call_site_lost;
	/** Lines that the compiler has added to those of the source, by a mistake that the PTX text
	 * shows; `line` is without them. Only ws_cubin_line_find() knows. */
	uint32_t added;
};

/**
 * Finds the source position of an instruction, with the calls inlined around it.
 *
 * Position 0 is the innermost: the line the compiler generated the instruction for. Each further
 * one is the call site that the previous one was inlined into; the last is in the function that
 * owns the code. A pc between two rows belongs to the earlier row, and a pc past the end of its
 * sequence to none. If several sequences of the owner cover the pc, the first in the input answers.
 *
 * @param map      A line map.
 * @param owner    Owner of the code, as the relocations gave it; WS_LINE_NO_OWNER for addresses
 *                 that no relocation changes (then the whole map is decoded at the first call).
 * @param rel_pc   Address in the owner, in bytes.
 * @param ret_pos  Caller's array. Receives the first `cap` positions.
 * @param cap      Number of elements in `ret_pos`; 0 only counts.
 * @param ret_n    Number of positions that exist, at most WS_LINE_MAX_DEPTH + 1.
 * @param err      Filled on failure; may be NULL.
 *
 * @retval WS_OK         `*ret_n` >= 1.
 * @retval WS_ABSENT     No row covers `rel_pc` (code without line information).
 * @retval WS_MALFORMED  The line program broke before `rel_pc`; `err->file_off` is the bad opcode.
 * @retval WS_TRUNCATED  The same, because the section ends inside the program.
 * @retval WS_NO_MEMORY
 *
 * After the first call for an owner: O(1) and O(positions) on code whose rows are spread evenly,
 * O(log rows) at worst, times the owner's sequences.
 */
WS_API enum ws_status ws_line_find(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc,
				   struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
				   struct ws_error *err) WS_MUST_USE;

/* ---- sequences and rows ---- */

/** Rows of one function's code. */
struct ws_line_seq {
	uint32_t owner;
	uint32_t n_rows;
	uint64_t low, high;    /**< addresses covered: low <= pc < high */
	uint64_t sec_off;      /**< of its first opcode */
	size_t table;          /**< index for ws_line_table_at() */
	enum ws_status status; /**< WS_OK; or why the rows end without an end_sequence */
	uint64_t damage_off;   /**< then: file offset of the opcode that broke it */
	const void *priv;      /**< for ws_line_row_at(), as the next */
	size_t priv_index;
};

enum ws_line_row_flags {
	WS_LINE_IS_STMT = 1u << 0,
	WS_LINE_BASIC_BLOCK = 1u << 1,
	WS_LINE_END_SEQUENCE = 1u << 2,
	WS_LINE_PROLOGUE_END = 1u << 3,
	WS_LINE_EPILOGUE_BEGIN = 1u << 4,
	/** `context` is not the number of an earlier row, or is more than WS_LINE_MAX_DEPTH calls
	 * deep.
	 */
	WS_LINE_BAD_CONTEXT = 1u << 5,
};

/** All registers of a row. */
struct ws_line_row {
	uint64_t address;
	uint32_t line, column;
	uint32_t file_number;
	const struct ws_line_file *file; /**< NULL when the table has no such file */
	uint32_t op_index, isa, discriminator;
	uint32_t flags;       /**< enum ws_line_row_flags */
	uint32_t context;     /**< as written: 0, or a row number */
	uint32_t depth;       /**< calls around the row: length of its chain less one */
	uint32_t name_off;    /**< offset in `.debug_str`; means nothing when `context` is 0 */
	const char *function; /**< the name there; NULL when `context` is 0 or there is none */
};

/** Number of sequences in the whole map, in the order of the input. Decodes all of them once.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_line_seq_count(const struct ws_line_map *map, size_t *ret_n,
					struct ws_error *err) WS_MUST_USE;
/** A sequence of the whole map. @retval WS_ABSENT  `index` is not below the count. */
WS_API enum ws_status ws_line_seq_at(const struct ws_line_map *map, size_t index,
				     struct ws_line_seq *ret_seq, struct ws_error *err) WS_MUST_USE;
/** The `nth` sequence (from 0) of one owner, decoding no others (except for WS_LINE_NO_OWNER).
 * @retval WS_ABSENT  it has no such sequence. */
WS_API enum ws_status ws_line_owner_seq(const struct ws_line_map *map, uint32_t owner, size_t nth,
					struct ws_line_seq *ret_seq,
					struct ws_error *err) WS_MUST_USE;

/** Row `number` of a sequence; from 1 to `n_rows`, as emitted. */
WS_API struct ws_line_row ws_line_row_at(const struct ws_line_map *map,
					 const struct ws_line_seq *seq, uint32_t number);
/** The row and the call sites around it, as ws_line_find() gives them. Returns how many exist. */
WS_API size_t ws_line_chain(const struct ws_line_map *map, const struct ws_line_seq *seq,
			    uint32_t number, struct ws_line_pos *ret_pos, size_t cap);

/* ---- from source to code ---- */

/** Code that a source line stands for. */
struct ws_line_hit {
	const struct ws_line_seq *seq; /**< valid during the call */
	uint32_t row;                  /**< the row that covers the code */
	uint32_t level; /**< where the line is in the row's chain: 0 itself, 1 its call site, ... */
	uint64_t low, high; /**< addresses in the owner, not empty */
};

/** Takes one hit; returns false to stop. */
typedef bool ws_line_hit_fn(void *user, const struct ws_line_hit *hit);

/**
 * All code of a source line: what was generated for it and, through calls, what was inlined into
 * it, in every instance. In order of sequences and addresses; neighbouring rows are not merged.
 *
 * @param path  File: its whole path, or the end of it from the start of a component ("main.cu",
 *              "src/main.cu").
 * @param line  Line number.
 *
 * @retval WS_OK      also when there was no hit.
 * @retval WS_ABSENT  no table has such a file.
 */
WS_API enum ws_status ws_line_find_source(const struct ws_line_map *map, const char *path,
					  uint32_t line, ws_line_hit_fn *take, void *user,
					  struct ws_error *err) WS_MUST_USE;

/* ---- opcodes as written ---- */

enum ws_line_op_kind {
	WS_LINE_OP_SPECIAL,
	WS_LINE_OP_STANDARD,
	WS_LINE_OP_EXTENDED,
};

enum {
	WS_LINE_MAX_OPERANDS = 4,
};

/** One opcode, and the registers after it. */
struct ws_line_op {
	enum ws_line_op_kind kind;
	uint8_t opcode;
	const char *name; /**< "DW_LNS_copy", "DW_LNE_NVIDIA_inlined_call"; NULL when unknown */
	uint64_t sec_off; /**< of its first byte */
	uint32_t size_bytes;
	unsigned n_operands; /**< that `operand` holds; those of unknown opcodes beyond 4 are not */
	int64_t operand[WS_LINE_MAX_OPERANDS]; /**< cast to uint64_t where unsigned */
	const char *text; /**< function name of the NVIDIA opcodes, file of define_file, or NULL */
	uint64_t address; /**< registers as the opcode leaves them, before any reset */
	uint64_t address_advance; /**< what it added to the address */
	int64_t line_advance;
	uint32_t line, file, column, op_index, context, name_off;
	bool is_stmt;
	uint32_t row;   /**< number of the row that it emitted, 0 when none */
	uint32_t owner; /**< of the sequence so far */
};

/** Takes one opcode of `table`; returns false to stop. */
typedef bool ws_line_op_fn(void *user, const struct ws_line_table *table,
			   const struct ws_line_op *op);

/**
 * Every opcode of a table in order, decoded again at each call. After a damaged opcode it continues
 * where the next sequence is known to start.
 *
 * @retval WS_OK         the program was walked to its end, or `take` stopped it.
 * @retval WS_MALFORMED  some opcodes could not be decoded; `err` describes the first.
 * @retval WS_TRUNCATED the same.
 * @retval WS_ARGUMENT   no such table.
 */
WS_API enum ws_status ws_line_walk(const struct ws_line_map *map, size_t table, ws_line_op_fn *take,
				   void *user, struct ws_error *err) WS_MUST_USE;

/* ---- damage ---- */

/** One thing that is wrong with the input. */
struct ws_line_diagnostic {
	enum ws_status status; /**< WS_MALFORMED, WS_TRUNCATED or WS_LIMIT */
	uint64_t file_off;
	const char *message; /**< valid during the call */
};

typedef void ws_line_diagnostic_fn(void *user, const struct ws_line_diagnostic *diagnostic);

/**
 * Reports all damage in the map, in the order of the input; decodes what was not decoded yet. At
 * most 16 diagnostics are kept for each table header and for each separately decoded part; the rest
 * is counted. Returns how many there are. `take` may be NULL.
 */
WS_API size_t ws_line_diagnostics(const struct ws_line_map *map, ws_line_diagnostic_fn *take,
				  void *user);

/* ---- PTX text ---- */

/**
 * The lines of `.nv_debug_ptx_txt`, that line numbers of `.nv_debug_line_sass` count:
 * NUL-terminated strings, one after the other. Lines that held `.loc`, `.file` and data are empty
 * there. [measured: docs/formats/linemap.md]
 */
struct ws_line_ptx;

/** Counts and indexes the lines. `text` is borrowed. @retval WS_ABSENT  it is empty.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_line_ptx_create(struct ws_span text, struct ws_line_ptx **ret_ptx,
					 struct ws_error *err) WS_MUST_USE;
WS_API void ws_line_ptx_destroy(struct ws_line_ptx *ptx);
WS_API size_t ws_line_ptx_count(const struct ws_line_ptx *ptx);
/** Line `number`, from 1. @retval WS_ABSENT  there is no such line. */
WS_API enum ws_status ws_line_ptx_at(const struct ws_line_ptx *ptx, uint64_t number,
				     struct ws_str *ret_text, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
