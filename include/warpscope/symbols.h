/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Names and source positions of code, as all answers show them; of the code addresses of a target
 * they are looked up once per address.
 *
 * **Threads.** One at a time. **Ownership.** Strings are valid until the symbols are destroyed.
 */
#ifndef WARPSCOPE_SYMBOLS_H
#define WARPSCOPE_SYMBOLS_H

#include <warpscope/cubin.h>
#include <warpscope/line.h>
#include <warpscope/out.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names ---- */

enum {
	WS_NAME_BYTES = 1 << 17,               /**< C++ names are cut there */
	WS_CHAIN_MOST = WS_LINE_MAX_DEPTH + 1, /**< positions of one instruction */
};

/** A C++ name, short or `full`. No name gives "?". */
WS_API void ws_name_text(struct ws_out *out, struct ws_str mangled, bool full);
/** Keys "function" and "function_mangled". */
WS_API void ws_name_json(struct ws_json *json, struct ws_str mangled);
/** The same; they are missing where `mangled` is NULL. */
WS_API void ws_function_json(struct ws_json *json, const char *mangled);
/** Whether a name that a person wrote is that of a function: mangled, full or short. */
WS_API bool ws_name_is(const struct ws_function *function, const char *name);

/* ---- source positions ---- */

/** "dir/name", "name" when `brief`, "?" for no file. */
WS_API void ws_path_text(struct ws_out *out, const struct ws_line_file *file, bool brief);
/** Key "file" with the whole path; null with why when there is none. */
WS_API void ws_path_json(struct ws_json *json, const struct ws_line_file *file);
/** "dir/name:line", "name:line" when `brief`, "?" for no file. */
WS_API void ws_position_text(struct ws_out *out, const struct ws_line_pos *pos, bool brief);
/** A chain of calls, a line each: "  #0 combine at /src/standard.py:256 (inlined)". */
WS_API void ws_chain_text(struct ws_out *out, const struct ws_line_pos *pos, size_t n,
			  bool full_names);
/** A chain of calls as the value of a key: an array of positions. */
WS_API void ws_chain_json(struct ws_json *json, const struct ws_line_pos *pos, size_t n);

/* ---- addresses ---- */

struct ws_symbols; /* opaque */

/** What is at an address. */
struct ws_symbol {
	enum ws_status function_status; /**< of the next two */
	const char *function;       /**< C++ name without parameters, of the innermost function */
	uint64_t rel_pc;            /**< offset in the function that owns the code */
	enum ws_status line_status; /**< of the next two */
	const char *path;           /**< as compiled in */
	uint32_t line;
};

/** The target must outlive them. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_symbols_create(const struct ws_target *target,
					struct ws_symbols **ret_symbols,
					struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_symbols_destroy(struct ws_symbols *symbols);

/** Never fails: what is not known has a status. `grid` says where to look first; NULL: anywhere.
 * Valid until the next call. */
WS_API const struct ws_symbol *ws_symbols_find(struct ws_symbols *symbols, uint32_t device_index,
					       const struct ws_grid *grid, uint64_t pc);
/** The code at an address, from the module that `grid` says first; NULL: anywhere. */
WS_API enum ws_status ws_symbols_place(struct ws_symbols *symbols, uint32_t device_index,
				       const struct ws_grid *grid, uint64_t pc,
				       struct ws_place *ret_place);

#ifdef __cplusplus
}
#endif
#endif
