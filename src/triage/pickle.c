/* SPDX-License-Identifier: Apache-2.0 */
/* A tree from a pickle. It can have no more nodes than the file has bytes. */
#include "text/pickle_read.h"
#include "triage/tree.h"

static enum ws_status room(const struct wsi_tree *tree, uint32_t node)
{
	return node != WS_NONE ? WS_OK : tree->no_memory ? WS_NO_MEMORY : WS_LIMIT;
}

static enum ws_status trace_node_create(void *user, enum wsi_pickle_kind kind, uint32_t *ret_node)
{
	*ret_node =
		wsi_tree_add_container(user, kind == WSI_PICKLE_MAP ? WSI_TREE_MAP : WSI_TREE_LIST);
	return room(user, *ret_node);
}

/* Index of the node of a value, or WS_NONE. */
static uint32_t pickle_node_of(struct wsi_tree *tree, const struct wsi_pickle_value *value)
{
	struct wsi_tree_node node = { .kind = WSI_TREE_NOTHING };
	switch (value->kind) {
	case WSI_PICKLE_LIST:
	case WSI_PICKLE_MAP:
		return value->container;
	case WSI_PICKLE_TEXT:
		node = (struct wsi_tree_node){ .kind = WSI_TREE_TEXT,
					       .text = wsi_pickle_text(value) };
		break;
	case WSI_PICKLE_NUMBER:
	case WSI_PICKLE_BOOL:
		node.kind = value->kind == WSI_PICKLE_BOOL ? WSI_TREE_BOOL : WSI_TREE_NUMBER;
		node.number = value->number;
		break;
	case WSI_PICKLE_NOTHING:
		break;
	}
	return wsi_tree_add(tree, node);
}

static enum ws_status trace_items_add(void *user, uint32_t container,
				      const struct wsi_pickle_value *items, size_t n)
{
	struct wsi_tree *tree = user;
	for (size_t i = 0; i < n; i++) {
		uint32_t node = pickle_node_of(tree, &items[i]);
		if (node == WS_NONE || !wsi_tree_append(tree, container, node))
			return room(tree, WS_NONE);
	}
	return WS_OK;
}

bool wsi_tree_read_pickle(struct wsi_tree *tree, const char *bytes, size_t len)
{
	struct wsi_pickle_reader reader = { .user = tree,
					    .create = trace_node_create,
					    .add = trace_items_add,
					    .max_values = WSI_TREE_MAX };
	struct wsi_pickle_value root;
	struct ws_error err = { .status = WS_OK };
	*tree = (struct wsi_tree){ .root = WS_NONE };
	enum ws_status st = wsi_pickle_read((struct ws_span){ (const uint8_t *)bytes, len, 0 },
					    &reader, &root, &err);
	tree->no_memory |= st == WS_NO_MEMORY;
	if (st == WS_OK || root.kind != WSI_PICKLE_NOTHING)
		tree->root = pickle_node_of(tree, &root);
	return st == WS_OK && tree->root != WS_NONE;
}
