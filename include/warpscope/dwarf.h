/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Debug information of code compiled with -G: parameters of functions, their types, fields of
 * structures.
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
 * change; addresses and locations are not followed.
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
};

/** What the debug information of an image is made of. All of it is borrowed until
 * ws_dwarf_destroy(). */
struct ws_dwarf_input {
	struct ws_span info;   /**< `.debug_info` */
	struct ws_span abbrev; /**< `.debug_abbrev` */
	struct ws_span str;    /**< `.debug_str`; may be empty */
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
	uint64_t info_off;  /**< in `.debug_info` */
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
	uint32_t encoding;   /**< enum ws_type_encoding, or another number */
	struct ws_str name;  /**< as in the input, mangled ones too; empty: it has none */
	uint64_t target;     /**< pointed to, element, aliased, returned; WS_TYPE_VOID: none */
	uint64_t size_bytes; /**< or WS_SIZE_UNKNOWN */
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

#ifdef __cplusplus
}
#endif
#endif
