/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function, file and line of code addresses, looked up once per address.
 */
#ifndef WARPSCOPE_CLI_SYMBOLS_H
#define WARPSCOPE_CLI_SYMBOLS_H

#include <warpscope/cubin.h>
#include <warpscope/target.h>

struct symbols;

/* Strings are valid until the symbols are destroyed. */
struct symbol {
	enum ws_status function_status; /* of the next two */
	char *function;                 /* C++ name without parameters, of the innermost function */
	uint64_t rel_pc;                /* offset in the function that owns the code */
	enum ws_status line_status;     /* of the next two */
	char *path;                     /* as compiled in */
	uint32_t line;
};

/* The target must outlive them. */
struct symbols *symbols_create(const struct ws_target *target);
void symbols_destroy(struct symbols *symbols);

/* Never fails: what is not known has a status. `grid` says where to look first; NULL: anywhere.
 * Valid until the next call. */
const struct symbol *symbols_find(struct symbols *symbols, uint32_t device_index,
				  const struct ws_grid *grid, uint64_t pc);
/* What is at an address, from the module that `grid` says first; NULL: anywhere. */
enum ws_status symbols_place(struct symbols *symbols, uint32_t device_index,
			     const struct ws_grid *grid, uint64_t pc, struct ws_place *ret_place);
/* Name of a kernel as ws_demangle_kernel(); the caller's to free. NULL: not known. */
char *symbols_kernel(struct symbols *symbols, const struct ws_grid *grid);
/* The modules, by image index. */
struct ws_cubin_set *symbols_modules(struct symbols *symbols);

#endif
