/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Function, file and line of code addresses of a target, looked up once per address.
 *
 * **Threads.** One at a time. **Ownership.** Strings are valid until the symbols are destroyed.
 */
#ifndef WARPSCOPE_SYMBOLS_H
#define WARPSCOPE_SYMBOLS_H

#include <warpscope/cubin.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/** The modules, by image index. */
WS_API struct ws_cubin_set *ws_symbols_modules(struct ws_symbols *symbols);

#ifdef __cplusplus
}
#endif
#endif
