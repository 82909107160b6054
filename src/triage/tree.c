/* SPDX-License-Identifier: Apache-2.0 */
#include "triage/tree.h"

#include "text/json_read.h"

enum {
	MAX_KEYS = 256, /* of a map in which one is looked for */
	MAX_DEPTH = 64, /* of JSON */
};

void wsi_tree_fini(struct wsi_tree *tree)
{
	wsi_free(tree->nodes);
	wsi_free(tree->cells);
	*tree = (struct wsi_tree){ .root = WS_NONE };
}

/* ---- making one ---- */

uint32_t wsi_tree_add(struct wsi_tree *tree, struct wsi_tree_node node)
{
	if (tree->n_nodes >= WSI_TREE_MAX)
		return WS_NONE;
	if (!wsi_grow(&tree->nodes, &tree->cap_nodes, tree->n_nodes, sizeof node, WSI_TREE_MAX)) {
		tree->no_memory = true;
		return WS_NONE;
	}
	tree->nodes[tree->n_nodes] = node;
	return (uint32_t)tree->n_nodes++;
}

uint32_t wsi_tree_add_container(struct wsi_tree *tree, enum wsi_tree_kind kind)
{
	return wsi_tree_add(tree,
			    (struct wsi_tree_node){ .kind = kind, .items = { WS_NONE, WS_NONE } });
}

bool wsi_tree_append(struct wsi_tree *tree, uint32_t container, uint32_t node)
{
	const size_t max = 2 * (size_t)WSI_TREE_MAX;
	if (tree->n_cells >= max)
		return false;
	if (!wsi_grow(&tree->cells, &tree->cap_cells, tree->n_cells, sizeof *tree->cells, max)) {
		tree->no_memory = true;
		return false;
	}
	uint32_t cell = (uint32_t)tree->n_cells++;
	struct wsi_tree_node *into = &tree->nodes[container];
	tree->cells[cell] = (struct wsi_tree_cell){ node, WS_NONE };
	if (into->items.last == WS_NONE)
		into->items.first = cell;
	else
		tree->cells[into->items.last].next = cell;
	into->items.last = cell;
	return true;
}

/* ---- JSON ---- */

static struct wsi_tree_node json_node_of(const struct wsi_json_value *value)
{
	struct wsi_tree_node node = { .kind = WSI_TREE_NOTHING };
	uint64_t number;
	switch (value->kind) {
	case WSI_JSON_NULL:
		break;
	case WSI_JSON_BOOL:
		node = (struct wsi_tree_node){ .kind = WSI_TREE_BOOL, .number = value->truth };
		break;
	case WSI_JSON_NUMBER:
		if (wsi_text_json_u64(value, &number) && number <= INT64_MAX)
			node = (struct wsi_tree_node){ .kind = WSI_TREE_NUMBER,
						       .number = (int64_t)number };
		else /* a negative number is read where somebody asks for it */
			node = (struct wsi_tree_node){ .kind = WSI_TREE_TEXT, .text = value->text };
		break;
	case WSI_JSON_STRING:
		node = (struct wsi_tree_node){ .kind = WSI_TREE_TEXT, .text = value->text };
		break;
	case WSI_JSON_OBJECT:
	case WSI_JSON_ARRAY:
		node.kind = value->kind == WSI_JSON_OBJECT ? WSI_TREE_MAP : WSI_TREE_LIST;
		node.items.first = node.items.last = WS_NONE;
		break;
	}
	return node;
}

bool wsi_tree_read_json(struct wsi_tree *tree, char *text, size_t len)
{
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	uint32_t open[MAX_DEPTH];
	struct ws_str key;
	size_t depth = 0;
	*tree = (struct wsi_tree){ .root = WS_NONE };
	wsi_text_json_reader_init(&reader, text, len);
	if (!wsi_text_json_read(&reader, &value))
		return false;
	tree->root = wsi_tree_add(tree, json_node_of(&value));
	if (tree->root == WS_NONE)
		return false;
	if (tree->nodes[tree->root].kind >= WSI_TREE_LIST)
		open[depth++] = tree->root;
	while (depth) {
		uint32_t into = open[depth - 1], name;
		bool is_map = tree->nodes[into].kind == WSI_TREE_MAP;
		if (!(is_map ? wsi_text_json_member(&reader, &key, &value)
			     : wsi_text_json_element(&reader, &value))) {
			if (reader.bad)
				return false;
			depth--;
			continue;
		}
		if (is_map) {
			name = wsi_tree_add(
				tree, (struct wsi_tree_node){ .kind = WSI_TREE_TEXT, .text = key });
			if (name == WS_NONE || !wsi_tree_append(tree, into, name))
				return false;
		}
		uint32_t node = wsi_tree_add(tree, json_node_of(&value));
		if (node == WS_NONE || !wsi_tree_append(tree, into, node))
			return false;
		if (tree->nodes[node].kind < WSI_TREE_LIST)
			continue;
		if (depth == MAX_DEPTH)
			return false;
		open[depth++] = node;
	}
	return wsi_text_json_is_end(&reader);
}

/* ---- looking ---- */

const struct wsi_tree_node *wsi_tree_root(const struct wsi_tree *tree)
{
	return tree->root != WS_NONE ? &tree->nodes[tree->root] : NULL;
}

uint32_t wsi_tree_first(const struct wsi_tree_node *node, enum wsi_tree_kind kind)
{
	return node && node->kind == kind ? node->items.first : WS_NONE;
}

const struct wsi_tree_node *wsi_tree_next(const struct wsi_tree *tree, uint32_t *cell)
{
	if (*cell == WS_NONE)
		return NULL;
	const struct wsi_tree_cell *at = &tree->cells[*cell];
	*cell = at->next;
	return &tree->nodes[at->node];
}

const struct wsi_tree_node *wsi_tree_get(const struct wsi_tree *tree,
					 const struct wsi_tree_node *map, const char *key)
{
	uint32_t cell = wsi_tree_first(map, WSI_TREE_MAP);
	struct ws_str wanted = ws_str_of(key);
	for (int i = 0; i < MAX_KEYS && cell != WS_NONE; i++) {
		struct ws_str name = wsi_tree_text(wsi_tree_next(tree, &cell));
		const struct wsi_tree_node *value = wsi_tree_next(tree, &cell);
		if (ws_str_equal(name, wanted))
			return value;
	}
	return NULL;
}

const struct wsi_tree_node *wsi_tree_at(const struct wsi_tree *tree,
					const struct wsi_tree_node *list, uint32_t n)
{
	uint32_t cell = wsi_tree_first(list, WSI_TREE_LIST);
	const struct wsi_tree_node *node = wsi_tree_next(tree, &cell);
	while (node && n--)
		node = wsi_tree_next(tree, &cell);
	return node;
}

struct ws_str wsi_tree_text(const struct wsi_tree_node *node)
{
	return node && node->kind == WSI_TREE_TEXT ? node->text : ws_str_of("");
}

bool wsi_tree_number(const struct wsi_tree_node *node, int64_t *ret_number)
{
	struct ws_str text = wsi_tree_text(node);
	struct wsi_json_value digits = { .kind = WSI_JSON_NUMBER, .text = text };
	bool negative = text.len > 1 && *text.ptr == '-';
	uint64_t number;
	if (node && node->kind == WSI_TREE_NUMBER) {
		*ret_number = node->number;
		return true;
	}
	if (negative)
		digits.text = wsi_str_skip(text, 1);
	if (!text.len || !wsi_text_json_u64(&digits, &number) || number > INT64_MAX)
		return false;
	*ret_number = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

bool wsi_tree_is_true(const struct wsi_tree_node *node)
{
	return node && node->kind == WSI_TREE_BOOL && node->number;
}
