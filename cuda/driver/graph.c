/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and their nodes: making, walking, copying. What nodes do: nodes.c. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

struct graph *graph_create(void)
{
	struct graph *graph = calloc(1, sizeof *graph);
	if (graph)
		graph->magic = MAGIC_GRAPH;
	return graph;
}

static void node_destroy(struct node *node)
{
	node->magic = MAGIC_GONE;
	free(node->op.host);
	free(node->params);
	free(node->before);
	graph_destroy(node->child);
	free(node);
}

void graph_destroy(struct graph *graph)
{
	if (!graph)
		return;
	graph->magic = MAGIC_GONE;
	for (size_t i = 0; i < graph->n; i++)
		node_destroy(graph->nodes[i]);
	free(graph->nodes);
	free(graph);
}

static bool is_of(const struct graph *graph, const struct node *node)
{
	return IS(node, MAGIC_NODE) && node->graph == graph;
}

static bool has_before(const struct node *node, const struct node *before)
{
	for (size_t i = 0; i < node->n_before; i++)
		if (node->before[i] == before)
			return true;
	return false;
}

static bool graph_grow(struct graph *graph)
{
	if (graph->n < graph->cap)
		return true;
	size_t cap = graph->cap ? 2 * graph->cap : 16;
	void *grown = realloc(graph->nodes, cap * sizeof(struct node *));
	if (!grown)
		return false;
	graph->nodes = grown;
	graph->cap = cap;
	return true;
}

CUresult graph_add(struct graph *graph, CUgraphNode *ret_node, const CUgraphNode *before, size_t n,
		   const struct driver_op *op)
{
	CUresult result = CUDA_SUCCESS;
	if (!IS(graph, MAGIC_GRAPH) || (n > 0 && !before))
		result = CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
		if (!is_of(graph, before[i]))
			result = CUDA_ERROR_INVALID_VALUE;
		for (size_t k = 0; k < i && result == CUDA_SUCCESS; k++)
			if (before[k] == before[i])
				result = CUDA_ERROR_INVALID_VALUE;
	}
	struct node *node = NULL;
	if (result == CUDA_SUCCESS) {
		node = calloc(1, sizeof *node);
		struct node **list = calloc(n ? n : 1, sizeof(struct node *));
		if (!node || !list || !graph_grow(graph)) {
			free(node);
			free(list);
			result = CUDA_ERROR_OUT_OF_MEMORY;
		} else {
			memcpy(list, before ? before : list, n * sizeof(struct node *));
			*node = (struct node){ .magic = MAGIC_NODE,
					       .graph = graph,
					       .op = *op,
					       .before = list,
					       .n_before = n };
		}
	}
	if (result != CUDA_SUCCESS) {
		free(op->host);
		return result;
	}
	graph->nodes[graph->n++] = node;
	if (ret_node)
		*ret_node = node;
	return CUDA_SUCCESS;
}

bool op_clone(const struct driver_op *op, struct driver_op *ret_op)
{
	*ret_op = *op;
	if (!op->host)
		return true;
	ret_op->host = malloc(op->n_host);
	if (ret_op->host)
		memcpy(ret_op->host, op->host, op->n_host);
	return ret_op->host != NULL;
}

struct graph *graph_clone(const struct graph *graph)
{
	struct graph *copy = graph_create();
	bool ok = copy != NULL;
	for (size_t i = 0; i < graph->n; i++)
		graph->nodes[i]->number = i;
	for (size_t i = 0; i < graph->n && ok; i++) {
		struct node *from = graph->nodes[i], *node;
		struct driver_op op;
		ok = op_clone(&from->op, &op) &&
		     graph_add(copy, &node, NULL, 0, &op) == CUDA_SUCCESS;
		if (!ok)
			break;
		node->from = from;
		node->copy = from->copy;
		node->child = from->child ? graph_clone(from->child) : NULL;
		ok = !from->child || node->child;
	}
	for (size_t i = 0; i < graph->n && ok; i++) {
		struct node *from = graph->nodes[i], *node = copy->nodes[i];
		struct node **list = calloc(from->n_before ? from->n_before : 1, sizeof *list);
		ok = list != NULL;
		for (size_t k = 0; k < from->n_before && ok; k++)
			list[k] = copy->nodes[from->before[k]->number];
		free(node->before);
		node->before = list;
		node->n_before = ok ? from->n_before : 0;
	}
	if (ok)
		return copy;
	graph_destroy(copy);
	return NULL;
}

/* ---- walking ---- */

bool graph_sort(struct graph *graph)
{
	struct node **sorted = calloc(graph->n ? graph->n : 1, sizeof *sorted);
	size_t n = 0, before = SIZE_MAX;
	if (!sorted)
		return false;
	for (size_t i = 0; i < graph->n; i++)
		graph->nodes[i]->number = SIZE_MAX; /* not placed yet */
	while (n != before) { /* each time what has become free, in the order of making */
		before = n;
		for (size_t i = 0; i < graph->n; i++) {
			struct node *node = graph->nodes[i];
			bool is_free = node->number == SIZE_MAX;
			for (size_t k = 0; k < node->n_before && is_free; k++)
				is_free = node->before[k]->number != SIZE_MAX;
			if (is_free) {
				node->number = n;
				sorted[n++] = node;
			}
		}
	}
	bool ok = n == graph->n;
	if (ok)
		memcpy(graph->nodes, sorted, n * sizeof *sorted);
	free(sorted);
	return ok;
}

bool node_is_last(const struct node *node)
{
	for (size_t i = 0; i < node->graph->n; i++)
		if (has_before(node->graph->nodes[i], node))
			return false;
	return true;
}

struct node *node_in(const struct graph *copy, const struct node *node)
{
	for (size_t i = 0; i < copy->n; i++)
		if (copy->nodes[i]->from == node)
			return copy->nodes[i];
	return NULL;
}

/* ---- the program's calls ---- */

CU_API(cuGraphCreate)(CUgraph *ret_graph, unsigned flags)
{
	CUresult result = ret_graph && flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	struct graph *graph = result == CUDA_SUCCESS ? graph_create() : NULL;
	if (result == CUDA_SUCCESS && !graph)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		*ret_graph = graph;
	DONE(result);
}

CU_API(cuGraphDestroy)(CUgraph graph)
{
	if (!IS(graph, MAGIC_GRAPH))
		DONE(CUDA_ERROR_INVALID_VALUE);
	graph_destroy(graph);
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphClone)(CUgraph *ret_graph, CUgraph graph)
{
	if (!ret_graph || !IS(graph, MAGIC_GRAPH))
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct graph *copy = graph_clone(graph);
	if (copy)
		*ret_graph = copy;
	DONE(copy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CU_API(cuGraphNodeFindInClone)(CUgraphNode *ret_node, CUgraphNode node, CUgraph copy)
{
	if (!ret_node || !node || !IS(copy, MAGIC_GRAPH))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_node = node_in(copy, node);
	DONE(*ret_node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* A list for the program: as many as it has room for, or how many there are. */
struct node_answer {
	CUgraphNode *ret;
	size_t *ret_n, n;
};

static void node_answer(struct node_answer *to, struct node *node)
{
	if (to->ret && to->n < *to->ret_n)
		to->ret[to->n] = node;
	to->n++;
}

static CUresult answered(struct node_answer *to)
{
	for (size_t i = to->n; to->ret && i < *to->ret_n; i++)
		to->ret[i] = NULL;
	if (!to->ret || to->n < *to->ret_n)
		*to->ret_n = to->n;
	return CUDA_SUCCESS;
}

static CUresult list_nodes(struct graph *graph, bool only_roots, CUgraphNode *ret_nodes,
			   size_t *ret_n)
{
	struct node_answer to = { ret_nodes, ret_n, 0 };
	if (!ret_n || !IS(graph, MAGIC_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < graph->n; i++)
		if (!only_roots || graph->nodes[i]->n_before == 0)
			node_answer(&to, graph->nodes[i]);
	return answered(&to);
}

CU_API(cuGraphGetNodes)(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n)
{
	DONE(list_nodes(graph, false, ret_nodes, ret_n));
}

CU_API(cuGraphGetRootNodes)(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n)
{
	DONE(list_nodes(graph, true, ret_nodes, ret_n));
}

CU_API(cuGraphNodeGetDependencies)(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n)
{
	struct node_answer to = { ret_nodes, ret_n, 0 };
	if (!ret_n || !IS(node, MAGIC_NODE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < node->n_before; i++)
		node_answer(&to, node->before[i]);
	DONE(answered(&to));
}

CU_API(cuGraphNodeGetDependentNodes)(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n)
{
	struct node_answer to = { ret_nodes, ret_n, 0 };
	if (!ret_n || !IS(node, MAGIC_NODE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < node->graph->n; i++)
		if (has_before(node->graph->nodes[i], node))
			node_answer(&to, node->graph->nodes[i]);
	DONE(answered(&to));
}

CU_API(cuGraphGetEdges)(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to, size_t *ret_n)
{
	if (!ret_n || !IS(graph, MAGIC_GRAPH) || !ret_from != !ret_to)
		DONE(CUDA_ERROR_INVALID_VALUE);
	size_t room = *ret_n;
	struct node_answer from = { ret_from, &room, 0 }, to = { ret_to, ret_n, 0 };
	for (size_t i = 0; i < graph->n; i++)
		for (size_t k = 0; k < graph->nodes[i]->n_before; k++) {
			node_answer(&from, graph->nodes[i]->before[k]);
			node_answer(&to, graph->nodes[i]);
		}
	(void)answered(&from);
	DONE(answered(&to));
}

static CUresult add_edge(struct graph *graph, struct node *from, struct node *to)
{
	if (!is_of(graph, from) || !is_of(graph, to) || from == to || has_before(to, from))
		return CUDA_ERROR_INVALID_VALUE;
	void *grown = realloc(to->before, (to->n_before + 1) * sizeof(struct node *));
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	to->before = grown;
	to->before[to->n_before++] = from;
	return CUDA_SUCCESS;
}

static CUresult remove_edge(struct graph *graph, const struct node *from, struct node *to)
{
	if (!is_of(graph, from) || !is_of(graph, to) || !has_before(to, from))
		return CUDA_ERROR_INVALID_VALUE;
	size_t n = 0;
	for (size_t i = 0; i < to->n_before; i++)
		if (to->before[i] != from)
			to->before[n++] = to->before[i];
	to->n_before = n;
	return CUDA_SUCCESS;
}

CU_API(cuGraphAddDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	CUresult result = IS(graph, MAGIC_GRAPH) && (n == 0 || (from && to))
				  ? CUDA_SUCCESS
				  : CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
		result = add_edge(graph, from[i], to[i]);
	DONE(result);
}

CU_API(cuGraphRemoveDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	CUresult result = IS(graph, MAGIC_GRAPH) && (n == 0 || (from && to))
				  ? CUDA_SUCCESS
				  : CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
		result = remove_edge(graph, from[i], to[i]);
	DONE(result);
}

/* Edges with data: programmatic launches, which order less than usual ones. All 0: a usual one. */
static CUresult check_edges(const CUgraphEdgeData *edges, size_t n)
{
	static const CUgraphEdgeData usual;
	for (size_t i = 0; edges && i < n; i++)
		if (memcmp(&edges[i], &usual, sizeof usual) != 0)
			return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_SUCCESS;
}

CU_API(cuGraphAddDependencies_v2)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
 size_t n)
{
	CUresult result = check_edges(edges, n);
	if (result != CUDA_SUCCESS)
		DONE(result);
	DONE_BY(cuGraphAddDependencies(graph, from, to, n));
}

CU_API(cuGraphRemoveDependencies_v2)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
 size_t n)
{
	CUresult result = check_edges(edges, n);
	if (result != CUDA_SUCCESS)
		DONE(result);
	DONE_BY(cuGraphRemoveDependencies(graph, from, to, n));
}

/* All edges are usual ones. */
static CUresult no_data(CUgraphEdgeData *ret_edges, CUresult result, const size_t *n)
{
	if (result == CUDA_SUCCESS && ret_edges)
		memset(ret_edges, 0, *n * sizeof *ret_edges);
	return result;
}

CU_API(cuGraphGetEdges_v2)
(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to, CUgraphEdgeData *ret_edges,
 size_t *ret_n)
{
	DONE_BY(no_data(ret_edges, cuGraphGetEdges(graph, ret_from, ret_to, ret_n), ret_n));
}

CU_API(cuGraphNodeGetDependencies_v2)
(CUgraphNode node, CUgraphNode *ret_nodes, CUgraphEdgeData *ret_edges, size_t *ret_n)
{
	DONE_BY(no_data(ret_edges, cuGraphNodeGetDependencies(node, ret_nodes, ret_n), ret_n));
}

CU_API(cuGraphNodeGetDependentNodes_v2)
(CUgraphNode node, CUgraphNode *ret_nodes, CUgraphEdgeData *ret_edges, size_t *ret_n)
{
	DONE_BY(no_data(ret_edges, cuGraphNodeGetDependentNodes(node, ret_nodes, ret_n), ret_n));
}

CU_API(cuGraphDestroyNode)(CUgraphNode node)
{
	if (!IS(node, MAGIC_NODE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct graph *graph = node->graph;
	size_t n = 0;
	for (size_t i = 0; i < graph->n; i++) {
		struct node *other = graph->nodes[i];
		(void)remove_edge(graph, node, other);
		if (other != node)
			graph->nodes[n++] = other;
	}
	graph->n = n;
	node_destroy(node);
	DONE(CUDA_SUCCESS);
}
