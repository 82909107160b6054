/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share.
 *
 *   .debug_abbrev -> tables of abbreviations, each once          abbrev.c
 *   .debug_info   -> units, functions by name, scopes of types   create.c, once
 *                 -> one entry with its attributes               entry.c
 *                 -> types, members, parameters                  type.c, each time they are asked
 *                 -> names of types as C++ writes them           spell.c
 *                 -> paths of fields                             field.c
 *                 -> variables in scope at an address            scope.c
 *                 -> functions that are inlined there            inlined.c
 *   .debug_loc    -> where a variable is at an address           where.c
 *   .nv_debug_info_reg_sass -> registers of PTX -> registers     regmap.c
 *   .debug_frame  -> what a function saved of its caller         cfi.c
 *                 -> every value as written                      visit.c
 *
 * `.debug_info` is a list of units, each a tree of entries in prefix order: a number that chooses
 * an abbreviation (tag, whether children follow, names and forms of attributes), then the values of
 * the attributes. A number 0 ends a list of children. Nothing but the first reading goes through
 * all of it; what is asked later begins at the entry that it is about and looks at so many bytes
 * from there.
 */
#ifndef WSI_DWARF_H
#define WSI_DWARF_H

#include <warpscope/dwarf.h>

#include "base/base.h"
#include "base/reader.h"

/* DWARF's numbers, those that are looked at. */
enum {
	DW_TAG_array_type = 0x01,
	DW_TAG_class_type = 0x02,
	DW_TAG_enumeration_type = 0x04,
	DW_TAG_formal_parameter = 0x05,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_member = 0x0d,
	DW_TAG_pointer_type = 0x0f,
	DW_TAG_reference_type = 0x10,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15,
	DW_TAG_typedef = 0x16,
	DW_TAG_union_type = 0x17,
	DW_TAG_unspecified_parameters = 0x18,
	DW_TAG_inheritance = 0x1c,
	DW_TAG_ptr_to_member_type = 0x1f,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subrange_type = 0x21,
	DW_TAG_base_type = 0x24,
	DW_TAG_const_type = 0x26,
	DW_TAG_enumerator = 0x28,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_variable = 0x34,
	DW_TAG_volatile_type = 0x35,
	DW_TAG_restrict_type = 0x37,
	DW_TAG_namespace = 0x39,
	DW_TAG_unspecified_type = 0x3b,
	DW_TAG_rvalue_reference_type = 0x42,
};

enum {
	DW_AT_sibling = 0x01,
	DW_AT_location = 0x02,
	DW_AT_name = 0x03,
	DW_AT_byte_size = 0x0b,
	DW_AT_bit_offset = 0x0c,
	DW_AT_bit_size = 0x0d,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13,
	DW_AT_comp_dir = 0x1b,
	DW_AT_const_value = 0x1c,
	DW_AT_containing_type = 0x1d,
	DW_AT_inline = 0x20,
	DW_AT_prototyped = 0x27,
	DW_AT_upper_bound = 0x2f,
	DW_AT_abstract_origin = 0x31,
	DW_AT_accessibility = 0x32,
	DW_AT_address_class = 0x33,
	DW_AT_artificial = 0x34,
	DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38,
	DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b,
	DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e,
	DW_AT_external = 0x3f,
	DW_AT_specification = 0x47,
	DW_AT_type = 0x49,
	DW_AT_virtuality = 0x4c,
	DW_AT_call_column = 0x57,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_object_pointer = 0x64,
	DW_AT_data_bit_offset = 0x6b,
	DW_AT_linkage_name = 0x6e,
	DW_AT_MIPS_linkage_name = 0x2007,
};

enum {
	WSI_DWARF_LOOK_MAX = 1 << 18, /* bytes that the answer to one question may need */
	WSI_DWARF_NAME_MAX = 1 << 16, /* bytes of a name in .debug_str */
};

/* ---- abbreviations ---- */

struct wsi_dwarf_spec {
	uint16_t attribute, form;
};

struct wsi_abbrev {
	uint64_t code;
	uint32_t first_spec, n_specs;
	uint16_t tag;
	bool has_children;
};

struct wsi_abbrev_table {
	uint32_t first, n;
	bool dense; /* codes are 1, 2, 3, ... */
};

#define WSI_DWARF_NO_TABLE UINT32_MAX

/* ---- units ---- */

struct wsi_dwarf_unit {
	uint64_t start, end; /* in .debug_info; `end` as far as there are bytes */
	uint64_t abbrev_off;
	uint32_t table; /* or WSI_DWARF_NO_TABLE */
	uint8_t version, offset_bytes, address_bytes, header_bytes;
};

/* A namespace, structure or union that types are declared in. */
struct wsi_dwarf_scope {
	uint64_t start, end; /* of its entries */
	struct ws_str name;
	uint32_t parent; /* or UINT32_MAX */
};

/* Code of a function that is inlined in another. */
struct wsi_dwarf_call {
	uint64_t off;       /* of its entry */
	uint64_t function;  /* that it is in: `info_off` */
	uint64_t low, high; /* as the addresses of the function; 0, 0: not told */
	uint32_t parent;    /* the call that it is in, of the same function, or UINT32_MAX */
	uint32_t depth;     /* of its entry in the unit */
};

struct ws_dwarf {
	struct ws_dwarf_input input;
	struct wsi_dwarf_spec *specs; /* owned, like all that follow */
	struct wsi_abbrev *abbrevs;
	struct wsi_abbrev_table *tables;
	size_t n_specs, cap_specs, n_abbrevs, cap_abbrevs, n_tables, cap_tables;
	struct wsi_dwarf_unit *units; /* by start */
	size_t n_units, cap_units;
	struct ws_dwarf_function *functions; /* by name */
	size_t n_functions, cap_functions;
	struct wsi_dwarf_call *calls; /* by offset: one lies behind those around it */
	size_t n_calls, cap_calls;
	struct wsi_dwarf_scope *scopes; /* by start; a scope lies within its parent */
	size_t n_scopes, cap_scopes;
	struct ws_dwarf_named *named; /* by kind and name */
	size_t n_named, cap_named;
	uint64_t budget; /* bytes that may still be looked at out of order, while reading */
	bool damaged;
	struct ws_error damage; /* the first */
};

/* abbrev.c */

/*
 * Decodes the table at `off` of .debug_abbrev. Tables that overlap are refused when there are more
 * abbreviations than bytes for them: WS_LIMIT. What comes after damage is not in the table; where
 * there is none at all it is WSI_DWARF_NO_TABLE.
 */
enum ws_status wsi_abbrev_table_add(struct ws_dwarf *dwarf, uint64_t off, uint32_t *ret_table,
				    struct ws_error *err) WS_MUST_USE;
/* NULL: the table has no such code, or there is none. */
const struct wsi_abbrev *wsi_abbrev_find(const struct ws_dwarf *dwarf, uint32_t table,
					 uint64_t code);

/* ---- entries ---- */

/* A walk over entries in the order of the file. */
struct wsi_dwarf_walk {
	const struct ws_dwarf *dwarf;
	const struct wsi_dwarf_unit *unit;
	struct wsi_reader r;
	uint64_t base;         /* offset in .debug_info of the reader's first byte */
	bool whole;            /* the reader reaches to the end of the unit */
	enum ws_status status; /* why it ended early; WS_OK: it did not */
	const char *what;
	uint64_t number; /* of the form or abbreviation that `what` is about */
};

struct wsi_dwarf_entry {
	uint64_t off;
	const struct wsi_abbrev *abbrev; /* NULL: the end of a list of children */
};

/* A name that is read when it is needed. */
struct wsi_dwarf_text {
	struct ws_str text;
	uint64_t str_off;
	bool in_str; /* at `str_off` of .debug_str */
};

/* Attributes that are there, as bits. */
enum {
	WSI_HAS_TYPE = 1u << 0,
	WSI_HAS_SIZE = 1u << 1,
	WSI_HAS_CODE = 1u << 2,
	WSI_HAS_COUNT = 1u << 3,
	WSI_HAS_UPPER = 1u << 4,
	WSI_HAS_VALUE = 1u << 5,
	WSI_HAS_ORIGIN = 1u << 6,
	WSI_HAS_PLACE = 1u << 7,       /* a constant offset in a structure */
	WSI_HAS_OTHER_PLACE = 1u << 8, /* one that has to be computed */
	WSI_HAS_BIT_OFFSET = 1u << 9,
	WSI_HAS_DATA_BIT_OFFSET = 1u << 10,
	WSI_IS_STATIC = 1u << 11, /* a declaration, or external */
	WSI_IS_DECLARATION = 1u << 12,
	WSI_HAS_END = 1u << 13, /* high_pc: an address, or with the next one a size */
	WSI_END_IS_SIZE = 1u << 14,
	WSI_HAS_EXPRESSION = 1u << 15,
	WSI_HAS_LIST = 1u << 16,
	WSI_HAS_LINES = 1u << 17, /* a unit has a line table */
};

struct wsi_dwarf_attrs {
	unsigned has;
	struct wsi_dwarf_text name, linkage, dir;
	uint64_t type, size, count, upper, value, origin, place, containing;
	uint64_t bit_size, bit_offset, data_bit_offset;
	uint64_t encoding, address_class, language;
	uint64_t low_pc, high_pc, line;
	uint64_t lines_off; /* WSI_HAS_LINES: of the table */
	uint64_t call_file, call_line, call_column;
	struct ws_span location; /* WSI_HAS_EXPRESSION */
	uint64_t location_off;   /* WSI_HAS_LIST */
};

/* entry.c */

/* NULL: no unit is there. */
const struct wsi_dwarf_unit *wsi_dwarf_unit_of(const struct ws_dwarf *dwarf, uint64_t off);
/* Next entry; its attributes must be read or skipped before the one after it. False: no more, and
 * `status` says whether that is so. */
bool wsi_dwarf_next(struct wsi_dwarf_walk *walk, struct wsi_dwarf_entry *ret_entry);
bool wsi_dwarf_skip(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry);
bool wsi_dwarf_attrs(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry,
		     struct wsi_dwarf_attrs *ret_attrs);
/* One value as it is written. */
struct wsi_dwarf_written {
	uint16_t tag, attribute, form;
	struct ws_span bytes;
	struct ws_span block; /* the last of `bytes`, in a form that has a length; else empty */
	bool is_text, in_str;
	uint64_t str_off; /* of the text, when it is `in_str` */
};
typedef void wsi_dwarf_written_fn(void *user, const struct wsi_dwarf_written *value);
/* Hands every value of the entry to `take`. */
bool wsi_dwarf_values(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry,
		      wsi_dwarf_written_fn *take, void *user);
/* Its code, from *ret_low to *ret_high; false: it has none, or the end is not told. */
bool wsi_dwarf_range(const struct wsi_dwarf_attrs *attrs, uint64_t *ret_low, uint64_t *ret_high);
/* Makes the error of a walk that ended early. */
enum ws_status wsi_dwarf_walk_fail(const struct wsi_dwarf_walk *walk, struct ws_error *err);
/* The name, at most `max` bytes of it; empty when there is none. */
struct ws_str wsi_dwarf_text(const struct ws_dwarf *dwarf, const struct wsi_dwarf_text *text,
			     uint64_t max);

/* What one question may still look at. */
struct wsi_dwarf_look {
	const struct ws_dwarf *dwarf;
	uint64_t left; /* bytes */
};

static inline struct wsi_dwarf_look wsi_dwarf_look(const struct ws_dwarf *dwarf)
{
	return (struct wsi_dwarf_look){ dwarf, WSI_DWARF_LOOK_MAX };
}

/* An entry that was asked for, and a walk over its children. */
struct wsi_dwarf_at {
	struct wsi_dwarf_look *look;
	struct wsi_dwarf_walk walk;
	struct wsi_dwarf_entry entry;
	struct wsi_dwarf_attrs attrs;
	size_t counted; /* bytes of the walk that the look has paid for */
	uint32_t depth; /* of the walk below the entry's children */
};

/* The name, paid for where it is not in the entry itself; empty when there is none. */
struct ws_str wsi_dwarf_name(struct wsi_dwarf_look *look, const struct wsi_dwarf_text *text);
/* WS_ARGUMENT: `off` is not inside a unit. */
enum ws_status wsi_dwarf_entry_at(struct wsi_dwarf_look *look, uint64_t off,
				  struct wsi_dwarf_at *ret_at, struct ws_error *err) WS_MUST_USE;
/* The next child of the entry with its attributes; what lies below it is left out. False as
 * wsi_dwarf_next(). */
bool wsi_dwarf_child(struct wsi_dwarf_at *at, struct wsi_dwarf_entry *ret_entry,
		     struct wsi_dwarf_attrs *ret_attrs);

/* ---- all that is understood, for who makes a copy without the rest ---- */

struct wsi_dwarf_visitor {
	void *user;
	/* header of a unit, code of an entry, declaration of an abbreviation */
	void (*keep)(void *user, struct ws_span bytes);
	wsi_dwarf_written_fn *value;
};

/* visit.c: takes time in proportion to the input. */
enum ws_status wsi_dwarf_visit(const struct ws_dwarf *dwarf,
			       const struct wsi_dwarf_visitor *visitor,
			       struct ws_error *err) WS_MUST_USE;

/* ---- types ---- */

/* type.c */
enum ws_type_kind wsi_dwarf_kind(const struct wsi_dwarf_at *at);
/* Elements of each dimension of an array, outermost first, WS_SIZE_UNKNOWN for those not told. */
enum ws_status wsi_dwarf_dimensions(struct wsi_dwarf_at *at,
				    uint64_t ret_counts[WS_DWARF_MAX_DIMENSIONS], unsigned *ret_n,
				    struct ws_error *err) WS_MUST_USE;
/* Whether the entry is a member with a place in the structure, and which. */
bool wsi_dwarf_member(const struct wsi_dwarf_at *parent, const struct wsi_dwarf_entry *entry,
		      const struct wsi_dwarf_attrs *attrs, struct ws_dwarf_member *ret_member);
/* The plain type behind `type` with its entry; WS_TYPE_VOID has none. */
enum ws_status wsi_dwarf_plain_at(struct wsi_dwarf_look *look, uint64_t type, uint64_t *ret_plain,
				  struct wsi_dwarf_at *ret_at, struct ws_error *err) WS_MUST_USE;
/* Size of the type whose entry `at` is; `at` is used up. */
enum ws_status wsi_dwarf_size(struct wsi_dwarf_at *at, uint64_t *ret_size,
			      struct ws_error *err) WS_MUST_USE;

#endif
