/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Debug information of code compiled with -G: parameters and variables of functions and where
 * they are, types, fields of structures.
 *
 * **Input.** The bytes of `.debug_info` (DWARF 2 to 4) and of the sections it points into. Input
 * may be damaged or hostile: damage loses the rest of the compilation unit it is in. Memory never
 * exceeds a fixed multiple of the input, and every query looks at a bounded number of bytes.
 *
 * **Words.** A *type* is a number: the offset of its description in `.debug_info`, or WS_TYPE_VOID.
 * A *plain* type is what remains without aliases, const, volatile and restrict.
 *
 * **Names.** Types are spelled as in the signatures of ws_demangle(): `float const*`, `int [4]`,
 * `float (*)(int, float)`. Names of structures are the compiler's: nvcc leaves out the namespaces
 * of a structure (`View<float>`), and keeps those of an enumeration [measured:
 * docs/formats/dwarf.md].
 *
 * **Where things are.** Functions are found by their linkage name, which relocation does not
 * change. Scopes and locations need the addresses: they are those of `info` and `loc` as given.
 * unwind.h has the rest of the way, from registers of PTX to those of the machine.
 *
 * **Threads.** All functions except ws_dwarf_destroy() are safe on one object from many threads.
 */
#ifndef WARPSCOPE_DWARF_H
#define WARPSCOPE_DWARF_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_dwarf;

/** The type `void`, also of something without a type. */
#define WS_TYPE_VOID UINT64_C(0)
/** A size or a number of elements that the debug information does not give. */
#define WS_SIZE_UNKNOWN UINT64_MAX

enum {
	/** Types within types that are followed; deeper ones are answered with WS_LIMIT. */
	WS_DWARF_MAX_DEPTH = 32,
	WS_DWARF_MAX_DIMENSIONS = 8, /**< of an array */
};

/** What the debug information of an image is made of. All of it is borrowed until
 * ws_dwarf_destroy(). */
struct ws_dwarf_input {
	struct ws_span info;    /**< `.debug_info`, with its relocations applied */
	struct ws_span written; /**< the same without; empty: there is no difference */
	struct ws_span abbrev;  /**< `.debug_abbrev` */
	struct ws_span str;     /**< `.debug_str`; may be empty */
	struct ws_span loc;     /**< `.debug_loc`; may be empty */
	/** C++ name of a mangled one, as ws_demangle(); NULL: names stay as they are. */
	bool (*demangle)(struct ws_str mangled, char *ret_text, size_t size);
};

/**
 * Finds all functions. O(size of `.debug_info`).
 * @retval WS_ABSENT     `info` is empty: compiled without -G.
 * @retval WS_NO_MEMORY
 * Damaged units are left out, from their damage on: see ws_dwarf_damage().
 */
WS_API enum ws_status ws_dwarf_create(const struct ws_dwarf_input *input,
				      struct ws_dwarf **ret_dwarf,
				      struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_dwarf_destroy(struct ws_dwarf *dwarf);

/** First damage found while reading: false when there was none. WS_UNSUPPORTED: an unknown version
 * or form. */
WS_API bool ws_dwarf_damage(const struct ws_dwarf *dwarf, struct ws_error *ret_err);

/* ---- functions ---- */

/** A function that has code. */
struct ws_dwarf_function {
	struct ws_str name; /**< linkage name: that of the symbol */
	uint64_t info_off;  /**< in `.debug_info`; as a type, what it takes and returns */
};

/** In the order of names. */
WS_API size_t ws_dwarf_function_count(const struct ws_dwarf *dwarf);
/** `index` must be below the count. */
WS_API const struct ws_dwarf_function *ws_dwarf_function_at(const struct ws_dwarf *dwarf,
							    size_t index);
/** A function by its linkage name; the first of several. O(log functions). @retval WS_ABSENT */
WS_API enum ws_status ws_dwarf_find_function(const struct ws_dwarf *dwarf, struct ws_str name,
					     const struct ws_dwarf_function **ret_function,
					     struct ws_error *err) WS_MUST_USE;

/** NVIDIA's address classes: what kind of storage a variable is in. [measured: nvcc 13.0, those
 * marked; the others are from reference texts] */
enum ws_address_class {
	WS_CLASS_NONE = 0, /**< not given: a location list, or another compiler */
	WS_CLASS_CODE = 1,
	WS_CLASS_REGISTER = 2, /**< of PTX, by name [measured] */
	WS_CLASS_SPECIAL = 3,
	WS_CLASS_CONST = 4,  /**< [measured] */
	WS_CLASS_GLOBAL = 5, /**< [measured] */
	WS_CLASS_LOCAL = 6,  /**< the thread's stack [measured] */
	WS_CLASS_PARAM = 7,  /**< constant bank 0 [measured] */
	WS_CLASS_SHARED = 8, /**< [measured] */
	WS_CLASS_SURFACE = 9,
	WS_CLASS_TEXTURE = 10,
	WS_CLASS_SAMPLER = 11,
	WS_CLASS_GENERIC = 12, /**< what pointers point to [measured] */
};

/** One formal parameter. */
struct ws_dwarf_param {
	struct ws_str name; /**< empty: it has none */
	uint64_t type;
	uint32_t address_class; /**< enum ws_address_class, or another number */
};

/**
 * The formal parameters of a function in their order; the first `cap` go to `ret_params` (NULL with
 * 0). `*ret_n` receives how many there are.
 * @retval WS_MALFORMED, WS_UNSUPPORTED  damage before the last of them.
 * @retval WS_LIMIT                      there are more bytes of them, and of what comes before
 * them, than any compiler writes.
 */
WS_API enum ws_status ws_dwarf_params(const struct ws_dwarf *dwarf,
				      const struct ws_dwarf_function *function,
				      struct ws_dwarf_param *ret_params, size_t cap, size_t *ret_n,
				      struct ws_error *err) WS_MUST_USE;

/* ---- types ---- */

enum ws_type_kind {
	WS_KIND_VOID,
	WS_KIND_BASE, /**< a number, a character or a Boolean: see `encoding` */
	WS_KIND_POINTER,
	WS_KIND_REFERENCE,
	WS_KIND_RVALUE_REFERENCE,
	WS_KIND_CONST,
	WS_KIND_VOLATILE,
	WS_KIND_RESTRICT,
	WS_KIND_ALIAS,
	WS_KIND_STRUCT, /**< or a class */
	WS_KIND_UNION,
	WS_KIND_ENUM,
	WS_KIND_ARRAY,
	WS_KIND_FUNCTION,
	WS_KIND_MEMBER_POINTER,
	WS_KIND_OTHER, /**< described, but not of a kind known here */
};

/** How the bytes of a base type are read: DWARF's numbers. */
enum ws_type_encoding {
	WS_ENCODING_NONE = 0,
	WS_ENCODING_BOOL = 2,
	WS_ENCODING_FLOAT = 4,
	WS_ENCODING_SIGNED = 5,
	WS_ENCODING_SIGNED_CHAR = 6,
	WS_ENCODING_UNSIGNED = 7,
	WS_ENCODING_UNSIGNED_CHAR = 8,
};

struct ws_type {
	enum ws_type_kind kind;
	uint32_t encoding;      /**< enum ws_type_encoding, or another number */
	struct ws_str name;     /**< as in the input, mangled ones too; empty: it has none */
	uint64_t target;        /**< pointed to, element, aliased, returned; WS_TYPE_VOID: none */
	uint64_t size_bytes;    /**< or WS_SIZE_UNKNOWN */
	uint32_t address_class; /**< of a pointer or reference: what it points to */
};

/**
 * What a type is.
 * @retval WS_ARGUMENT   not a place in `.debug_info`.
 * @retval WS_MALFORMED  what is there is damaged, or types form a cycle.
 * @retval WS_LIMIT      too deep, or too long.
 */
WS_API enum ws_status ws_dwarf_type(const struct ws_dwarf *dwarf, uint64_t type,
				    struct ws_type *ret_type, struct ws_error *err) WS_MUST_USE;
/** The plain type behind a type. Fails as ws_dwarf_type(). */
WS_API enum ws_status ws_dwarf_plain(const struct ws_dwarf *dwarf, uint64_t type,
				     uint64_t *ret_plain, struct ws_error *err) WS_MUST_USE;
/**
 * The type as C++ writes it, into `ret_text` (always terminated). A part that cannot be read is
 * spelled "?". @retval WS_LIMIT  it is cut: longer than `size` - 1 bytes, or too deep.
 */
WS_API enum ws_status ws_dwarf_spell(const struct ws_dwarf *dwarf, uint64_t type, char *ret_text,
				     size_t size) WS_MUST_USE;

/** Elements of each dimension of an array, outermost first, WS_SIZE_UNKNOWN for those not told.
 * @retval WS_ARGUMENT  not an array. */
WS_API enum ws_status ws_dwarf_array(const struct ws_dwarf *dwarf, uint64_t type,
				     uint64_t ret_counts[WS_DWARF_MAX_DIMENSIONS], unsigned *ret_n,
				     struct ws_error *err) WS_MUST_USE;

/** One member of a structure or union. */
struct ws_dwarf_member {
	struct ws_str name; /**< empty for a base class and for an unnamed structure or union */
	uint64_t type;
	uint64_t offset;   /**< bytes from the start of the structure */
	uint32_t bit_size; /**< 0: not a bit-field */
	uint32_t bit_off;  /**< of a bit-field: lowest bit, counted from bit 0 of byte `offset` */
	bool is_base;      /**< a base class */
};

/**
 * Members in the order of declaration; static ones are left out. As ws_dwarf_params().
 * @retval WS_ARGUMENT  not a structure or union.
 */
WS_API enum ws_status ws_dwarf_members(const struct ws_dwarf *dwarf, uint64_t type,
				       struct ws_dwarf_member *ret_members, size_t cap,
				       size_t *ret_n, struct ws_error *err) WS_MUST_USE;

/** Name of a value of an enumeration, as in the input. @retval WS_ABSENT  no such value. */
WS_API enum ws_status ws_dwarf_enumerator(const struct ws_dwarf *dwarf, uint64_t type,
					  int64_t value, struct ws_str *ret_name,
					  struct ws_error *err) WS_MUST_USE;

/** One name of a value of an enumeration. */
struct ws_dwarf_constant {
	struct ws_str name; /**< as in the input */
	int64_t value;
};

/** All names of an enumeration in the order of declaration. As ws_dwarf_params().
 * @retval WS_ARGUMENT  not an enumeration. */
WS_API enum ws_status ws_dwarf_enumerators(const struct ws_dwarf *dwarf, uint64_t type,
					   struct ws_dwarf_constant *ret_constants, size_t cap,
					   size_t *ret_n, struct ws_error *err) WS_MUST_USE;

/** A field somewhere in a structure. */
struct ws_dwarf_field {
	uint64_t type;
	uint64_t offset; /**< bytes from the start of the outermost structure */
};

/**
 * The innermost field that covers a byte of a structure or array: "a.b[2].c" into `ret_path`
 * (always terminated). Where members overlap, as in a union, the answer is what they lie in.
 * @retval WS_ABSENT  the type has no fields, the byte is padding, or nothing with a name covers it.
 * @retval WS_LIMIT   the path is longer than `size` - 1 bytes, or too deep.
 */
WS_API enum ws_status ws_dwarf_find_field(const struct ws_dwarf *dwarf, uint64_t type,
					  uint64_t offset, char *ret_path, size_t size,
					  struct ws_dwarf_field *ret_field,
					  struct ws_error *err) WS_MUST_USE;

/* ---- names of a unit ---- */

enum ws_named_kind {
	WS_NAMED_TYPE,
	WS_NAMED_VARIABLE, /**< in no function; or static in one, by its linkage name */
	WS_NAMED_ENUMERATOR,
};

/** A type, an enumerator, or a variable that is no function's own, by the name that the input has.
 */
struct ws_dwarf_named {
	enum ws_named_kind kind;
	struct ws_str name;
	uint64_t info_off; /**< of a type: the type */
	uint64_t type;     /**< of an enumerator: that of its enumeration */
};

/** In the order of kinds and names. */
WS_API size_t ws_dwarf_named_count(const struct ws_dwarf *dwarf);
/** `index` must be below the count. */
WS_API const struct ws_dwarf_named *ws_dwarf_named_at(const struct ws_dwarf *dwarf, size_t index);
/** The first of its name. O(log names). @retval WS_ABSENT */
WS_API enum ws_status ws_dwarf_find_named(const struct ws_dwarf *dwarf, enum ws_named_kind kind,
					  struct ws_str name,
					  const struct ws_dwarf_named **ret_named,
					  struct ws_error *err) WS_MUST_USE;

/** A source file that was compiled as one. */
struct ws_dwarf_unit {
	struct ws_str name; /**< as the compiler was given it; empty: not told */
	struct ws_str dir;  /**< the folder it was compiled in; empty: not told */
	uint32_t language;  /**< DWARF's number; 0: not told */
	bool has_lines;     /**< it says which line table is its own: */
	uint64_t lines_off; /**< at this offset of `.debug_line` */
};

/** The unit that a place in `.debug_info` is in. @retval WS_ARGUMENT  none is there.
 * @retval WS_ABSENT  it does not say. Others as ws_dwarf_type(). */
WS_API enum ws_status ws_dwarf_unit(const struct ws_dwarf *dwarf, uint64_t info_off,
				    struct ws_dwarf_unit *ret_unit,
				    struct ws_error *err) WS_MUST_USE;

/* ---- variables ---- */

/** A variable or a parameter. */
struct ws_dwarf_variable {
	struct ws_str name;    /**< empty: it has none */
	struct ws_str linkage; /**< empty: it has none */
	uint64_t info_off;     /**< in `.debug_info` */
	uint64_t type;
	uint64_t line;          /**< where it is declared; 0: not told */
	uint32_t address_class; /**< enum ws_address_class, or another number */
	uint32_t depth;         /**< blocks of the function that it is in; 0: in none */
	bool is_param;
	uint32_t n_calls; /**< inlined around it, as by ws_dwarf_inlined(); 0: the function's own */
	bool has_value;   /**< a constant: `value` */
	int64_t value;
	bool has_list;           /**< its places are a list, at `list_off` of `.debug_loc` */
	struct ws_span location; /**< else an expression; empty: it is nowhere */
	uint64_t list_off;
};

/** What an entry says: a variable of ws_dwarf_find_named(). @retval WS_ARGUMENT  it is none. */
WS_API enum ws_status ws_dwarf_variable_at(const struct ws_dwarf *dwarf, uint64_t info_off,
					   struct ws_dwarf_variable *ret_variable,
					   struct ws_error *err) WS_MUST_USE;
/** The value of an enumerator of ws_dwarf_find_named(). @retval WS_ARGUMENT  it is none. */
WS_API enum ws_status ws_dwarf_enumerator_value(const struct ws_dwarf *dwarf, uint64_t info_off,
						int64_t *ret_value,
						struct ws_error *err) WS_MUST_USE;
/**
 * Parameters and variables of a function and of those of its blocks that hold its byte `rel_pc`,
 * outer blocks first. As ws_dwarf_params().
 */
WS_API enum ws_status ws_dwarf_variables(const struct ws_dwarf *dwarf,
					 const struct ws_dwarf_function *function, uint64_t rel_pc,
					 struct ws_dwarf_variable *ret_variables, size_t cap,
					 size_t *ret_n, struct ws_error *err) WS_MUST_USE;

/** A function that is inlined at a place of another. */
struct ws_dwarf_inlined {
	struct ws_str name; /**< linkage name, else the plain one; empty: it has none */
	uint64_t info_off;  /**< in `.debug_info` */
	/** Where it is called: a file of the line table of ws_dwarf_unit(). 0: not told. */
	uint32_t call_file, call_line, call_column;
};

/**
 * The functions inlined around byte `rel_pc` of a function, outermost first: the first is called by
 * the function itself. Where two of the same caller claim the byte, as compilers write it of code
 * that they moved, neither is told, nor what is within them. As ws_dwarf_params(), but never
 * WS_LIMIT for the size of the function.
 */
WS_API enum ws_status ws_dwarf_inlined(const struct ws_dwarf *dwarf,
				       const struct ws_dwarf_function *function, uint64_t rel_pc,
				       struct ws_dwarf_inlined *ret_inlined, size_t cap,
				       size_t *ret_n, struct ws_error *err) WS_MUST_USE;

enum ws_where_kind {
	WS_WHERE_GONE,     /**< no place and no value: the compiler left it out */
	WS_WHERE_NOT_HERE, /**< it has places, but none at this pc */
	WS_WHERE_VALUE,    /**< it is the constant `number` */
	WS_WHERE_REGISTER, /**< in the PTX register `reg` */
	WS_WHERE_FRAME,    /**< in local memory, `number` bytes from the canonical frame address */
	WS_WHERE_ADDRESS,  /**< at `number` of the space of its address class */
	/** In memory, `number` bytes behind the address in the PTX register `reg`: one of a
	 * kernel's parameters, counted from the first, or a generic one. */
	WS_WHERE_BASED,
};

struct ws_where {
	enum ws_where_kind kind;
	int64_t number;
	char reg[9]; /**< "%rd1" */
};

/**
 * Where a variable of `function` (NULL: of none) is when its byte `rel_pc` is executed.
 * @retval WS_UNSUPPORTED  an expression that no compiler of CUDA is known to write.
 * @retval WS_MALFORMED, WS_TRUNCATED  damage.
 */
WS_API enum ws_status ws_dwarf_where(const struct ws_dwarf *dwarf,
				     const struct ws_dwarf_function *function, uint64_t rel_pc,
				     const struct ws_dwarf_variable *variable,
				     struct ws_where *ret_where, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
