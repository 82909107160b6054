/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document of lists and maps in memory, from JSON or from Python's pickle. Texts lie in the bytes
 * that it was read from.
 *
 *   node   a text, a number, a list, a map ...
 *   cell   one item of a list, or one half of a pair of a map; cells of a container are a chain
 *
 * A pickle can hand out one node in many places, and a list inside itself, so nothing here walks
 * down by itself: callers go as many levels as they have names for.
 *
 * Of the pickle machine there are the operations that make plain data, and no others: nothing is
 * looked up, called or built. What has another operation is refused.
 */
#ifndef WSI_TRIAGE_TREE_H
#define WSI_TRIAGE_TREE_H

#include <warpscope/triage.h>

#include "base/base.h"

enum wsi_tree_kind {
	WSI_TREE_NOTHING, /* null, and what has no use here: floating-point numbers */
	WSI_TREE_BOOL,
	WSI_TREE_NUMBER,
	WSI_TREE_TEXT,
	WSI_TREE_LIST,
	WSI_TREE_MAP,
};

struct wsi_tree_node {
	enum wsi_tree_kind kind;
	union {
		int64_t number; /* of a bool, 0 or 1 */
		struct ws_str text;
		struct {
			uint32_t first, last; /* cells, or WS_NONE */
		} items;
	};
};

struct wsi_tree_cell {
	uint32_t node, next; /* WS_NONE: the last */
};

struct wsi_tree {
	struct wsi_tree_node *nodes; /* owned, as the next one */
	size_t n_nodes, cap_nodes;
	struct wsi_tree_cell *cells;
	size_t n_cells, cap_cells;
	uint32_t root; /* WS_NONE: nothing was read */
	bool no_memory;
};

/* Reads all of it; false: it is not whole, and the root has what stands before the place, or memory
 * is out. The text is used up. The tree has to be closed in any case. */
bool wsi_tree_read_json(struct wsi_tree *tree, char *text, size_t len);
/* Reads all of a pickle, which must end where the bytes end; false as of wsi_tree_read_json(). */
bool wsi_tree_read_pickle(struct wsi_tree *tree, const char *bytes, size_t len);
void wsi_tree_fini(struct wsi_tree *tree);

/* NULL, here and below: it is not there. */
const struct wsi_tree_node *wsi_tree_root(const struct wsi_tree *tree);
/* The value of a key of a map, among its first 256. `map` may be NULL. */
const struct wsi_tree_node *wsi_tree_get(const struct wsi_tree *tree,
					 const struct wsi_tree_node *map, const char *key);
/* The n-th of a list, from 0. */
const struct wsi_tree_node *wsi_tree_at(const struct wsi_tree *tree,
					const struct wsi_tree_node *list, uint32_t n);
/* A text; else empty. */
struct ws_str wsi_tree_text(const struct wsi_tree_node *node);
/* A number, or a text that is one. */
bool wsi_tree_number(const struct wsi_tree_node *node, int64_t *ret_number);
bool wsi_tree_is_true(const struct wsi_tree_node *node);

/* Goes over the items of a list, or the pairs of a map: `cell` starts with wsi_tree_first(). */
uint32_t wsi_tree_first(const struct wsi_tree_node *node, enum wsi_tree_kind kind);
const struct wsi_tree_node *wsi_tree_next(const struct wsi_tree *tree, uint32_t *cell);

/* ---- making one: for the readers ---- */

enum { WSI_TREE_MAX = 1 << 22 }; /* nodes */

/* Index of a new node, or WS_NONE: there is no room. */
uint32_t wsi_tree_add(struct wsi_tree *tree, struct wsi_tree_node node);
uint32_t wsi_tree_add_container(struct wsi_tree *tree, enum wsi_tree_kind kind);
/* One more item, or half of a pair. */
bool wsi_tree_append(struct wsi_tree *tree, uint32_t container, uint32_t node);

#endif
