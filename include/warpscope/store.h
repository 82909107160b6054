/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Borrowed lines: finding the same machine code, with lines, in another build.
 *
 * Cubins have no build-id, so a matching build is found by its code
 * (docs/formats/code-identity.md): a `-lineinfo` build of the same source gives the same machine
 * code, and this is *proven* by comparing every byte before a line of it is used. A *pool* holds
 * what a user named: files, folders, the store. The *store* is a folder of cubins named by the
 * identity of their code.
 */
#ifndef WARPSCOPE_STORE_H
#define WARPSCOPE_STORE_H

#include <warpscope/cubin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the store ---- */

/** A folder of cubins: FOLDER/ab/cdef....cubin by image identity. */
struct ws_store;

/**
 * Opens a store; nothing is created before something is added.
 * @param folder  NULL: `$XDG_CACHE_HOME/warpscope/store`, or `~/.cache/warpscope/store`.
 * @retval WS_ABSENT  no folder given, and neither XDG_CACHE_HOME nor HOME is set.
 */
WS_API enum ws_status ws_store_open(const char *folder, struct ws_store **ret_store,
				    struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_store_close(struct ws_store *store);
WS_API const char *ws_store_folder(const struct ws_store *store);

enum ws_store_outcome {
	WS_STORE_ADDED,
	WS_STORE_PRESENT,  /**< the same code is there, with as much debug information */
	WS_STORE_REPLACED, /**< the same code was there with less debug information */
};

/**
 * Puts a cubin into the store, atomically (other processes see the old file or the new one).
 * @param source      the file it comes from, which decides who may read the copy, as in
 * ws_file_replace(); may be NULL
 * @retval WS_ABSENT  it has no code.
 * @retval WS_IO      a folder or file cannot be written.
 */
WS_API enum ws_status ws_store_add(struct ws_store *store, struct ws_cubin *cubin,
				   const char *source, struct ws_code_id *ret_id,
				   enum ws_store_outcome *ret_outcome,
				   struct ws_error *err) WS_MUST_USE;

/** Takes one stored image: its identity and path. Returns false to stop. */
typedef bool ws_store_take_fn(void *user, const struct ws_code_id *id, const char *path);

/** All images in the store, sorted by identity. An empty or missing folder gives none. */
WS_API enum ws_status ws_store_list(const struct ws_store *store, ws_store_take_fn *take,
				    void *user, struct ws_error *err) WS_MUST_USE;

/* ---- borrowing ---- */

struct ws_borrow_pool;

WS_API enum ws_status ws_borrow_create(struct ws_borrow_pool **ret_pool,
				       struct ws_error *err) WS_MUST_USE;
/** Closes everything that was borrowed. NULL is fine. */
WS_API void ws_borrow_destroy(struct ws_borrow_pool *pool);

enum {
	WS_BORROW_MAX_FILES = 100000, /**< files looked at in all folders of a pool */
};

/**
 * Adds a file that holds images, or a folder of such files (all levels; links to folders are not
 * followed; files without GPU code are skipped). Not while others use the pool.
 * @retval WS_IO, WS_UNSUPPORTED  a file named by itself cannot be used.
 * @retval WS_LIMIT               the folder has more than WS_BORROW_MAX_FILES files.
 */
WS_API enum ws_status ws_borrow_add_path(struct ws_borrow_pool *pool, const char *path,
					 struct ws_error *err) WS_MUST_USE;

enum ws_borrow_verdict {
	WS_BORROW_EQUAL,       /**< proven equal, has lines: use it */
	WS_BORROW_DIFFERS,     /**< has lines, but its machine code differs: refused */
	WS_BORROW_NO_LINES,    /**< only builds without lines have this function */
	WS_BORROW_NO_FUNCTION, /**< no candidate has a function of this name */
};

/** What the pool has for a function. */
struct ws_borrowed {
	enum ws_borrow_verdict verdict;
	struct ws_cubin *cubin;             /**< the best candidate; NULL for NO_FUNCTION */
	const struct ws_function *function; /**< its owner of the section */
	uint32_t section; /**< code section there: offsets are the same as in the function's own */
	struct ws_code_diff diff; /**< EQUAL, DIFFERS: of the closest candidate */
	const char *path;         /**< file it is from; NULL for NO_FUNCTION */
};

/**
 * Looks for lines for the code section that holds `function`. Answers are cached, also negative
 * ones, so `cubin` must stay open as long as the pool. What `ret_borrowed` points to is valid
 * until the pool is destroyed.
 * @retval WS_ABSENT  no function symbol owns that section: there is no name to look for.
 */
WS_API enum ws_status ws_borrow_find(struct ws_borrow_pool *pool, struct ws_cubin *cubin,
				     const struct ws_function *function,
				     struct ws_borrowed *ret_borrowed,
				     struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
