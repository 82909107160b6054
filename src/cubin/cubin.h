/* SPDX-License-Identifier: Apache-2.0 */
/* What other rooms ask of cubins, inside the library. */
#ifndef WSI_CUBIN_CUBIN_H
#define WSI_CUBIN_CUBIN_H

#include <warpscope/cubin.h>
#include <warpscope/store.h>

/*
 * What a function saved of its caller's registers when the instruction at `pc`, a device address,
 * is executed. @retval WS_ABSENT  the image does not say.  Others as ws_cfi_find().
 */
enum ws_status wsi_cubin_cfi(struct ws_cubin *cubin, uint64_t pc, struct ws_cfi *ret_cfi,
			     struct ws_error *err) WS_MUST_USE;

/* Where a register of PTX is, as ws_regmap_find(); `function` is a mangled name. */
enum ws_regmap_answer wsi_cubin_find_register(const struct ws_cubin *cubin, struct ws_str function,
					      struct ws_str reg, uint64_t rel_pc,
					      struct ws_reg_piece ret_pieces[WS_REG_MAX_PIECES],
					      size_t *ret_n);

/*
 * A mangled name without what compilers add of their own, into `ret_text`, which has the name's
 * length; gives the new length. `internal`, of at most two characters, stands for each namespace
 * that nvcc puts around what is static.
 */
size_t wsi_name_plain(struct ws_str name, const char *internal, char *ret_text);

/* Whether Triton made an image, as its PTX text shows; without PTX it does not. */
bool wsi_cubin_is_triton(struct ws_cubin *cubin);

/* Length of what a person wrote of the name of a kernel of cuTile; 0: it is none. */
size_t wsi_name_cutile_len(struct ws_str name);

/* Whether Numba made a mangled name: its scopes are the module and functions around it. */
bool wsi_name_is_numba(struct ws_str name);

/* As ws_demangle() and ws_demangle_kernel(), with all that compilers added. */
bool wsi_demangle_all(struct ws_str mangled, bool with_params, char *ret_text, size_t size);

/* Takes the path of each file of a pool that has a function with the same code. */
typedef void wsi_borrow_equal_fn(void *user, const char *path);
void wsi_borrow_each_equal(struct ws_borrow_pool *pool, struct ws_cubin *cubin,
			   const struct ws_function *function, wsi_borrow_equal_fn *take,
			   void *user);

/* Moves cubins that `from` has open over the same bytes into `set`, which has none open yet. Then
 * only `from` may be destroyed, and before `set`. */
void wsi_cubin_set_inherit(struct ws_cubin_set *set, struct ws_cubin_set *from);

/* `index` must be below the count. */
const struct ws_cubin_entry *wsi_cubin_set_entry(const struct ws_cubin_set *set, uint32_t index);

#endif
