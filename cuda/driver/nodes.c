/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes of graphs do, and executable graphs: copies of graphs, in an order. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- ops of nodes ---- */

static CUresult run_nothing(struct driver_op *op)
{
	(void)op;
	return CUDA_SUCCESS;
}

/* `is_old`: the structure ends before its newer members. */
static CUresult kernel_op(const CUDA_KERNEL_NODE_PARAMS *p, bool is_old, struct driver_op *ret_op)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	struct launch launch = { .kernel = p->function || is_old ? p->function : p->kernel,
				 .params = p->params,
				 .extra = p->extra };
	memcpy(launch.asked.grid, p->grid, sizeof p->grid);
	memcpy(launch.asked.block, p->block, sizeof p->block);
	launch.asked.shared_bytes = p->shared_bytes;
	return launch_op(&launch, ret_op);
}

static CUresult memset_op(const CUDA_MEMSET_NODE_PARAMS *p, struct driver_op *ret_op)
{
	if (!p || p->width == 0 || p->height == 0)
		return CUDA_ERROR_INVALID_VALUE;
	return fill_op(p->at, p->pitch, p->value, p->size, p->width, p->height, ret_op);
}

static CUresult host_op(const CUDA_HOST_NODE_PARAMS *p, struct driver_op *ret_op)
{
	return p ? call_op(p->function, p->data, ret_op) : CUDA_ERROR_INVALID_VALUE;
}

/* Gives a node another op of its kind. */
static CUresult node_set(struct node *node, CUresult result, struct driver_op *op)
{
	if (result == CUDA_SUCCESS && node->op.type != op->type)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	free(node->op.host);
	node->op = *op;
	return CUDA_SUCCESS;
}

/* The node of an executable graph that was made of one of a graph, if it is of a kind. */
static struct node *exec_node(CUgraphExec exec, CUgraphNode from, int type)
{
	struct node *node = IS(exec, MAGIC_EXEC) && from ? node_in(exec, from) : NULL;
	return node && node->op.type == type ? node : NULL;
}

static bool is_node(CUgraphNode node, int type)
{
	return IS(node, MAGIC_NODE) && node->op.type == type;
}

/* A call that gives a node of a kind another op. */
#define SET(node_found, make)                                              \
	do {                                                               \
		struct driver_op op = { 0 };                               \
		struct node *found = (node_found);                         \
		CUresult made = found ? (make) : CUDA_ERROR_INVALID_VALUE; \
		CUresult set = node_set(found, made, &op);                 \
		if (set != CUDA_SUCCESS && made == CUDA_SUCCESS)           \
			free(op.host);                                     \
		DONE(set);                                                 \
	} while (0)

#define OF_KIND(node, type) (is_node((node), (type)) ? (node) : NULL)

/* A call that adds a node. */
#define ADD(make)                                                                               \
	do {                                                                                    \
		struct driver_op op = { 0 };                                                    \
		CUresult made = driver_check();                                                 \
		if (made == CUDA_SUCCESS)                                                       \
			made = (make);                                                          \
		DONE(made == CUDA_SUCCESS ? graph_add(graph, ret_node, before, n, &op) : made); \
	} while (0)

/* ---- kernels ---- */

CU_API(cuGraphAddKernelNode_v2)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_KERNEL_NODE_PARAMS *params)
{
	ADD(kernel_op(params, false, &op));
}

CU_API(cuGraphAddKernelNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_KERNEL_NODE_PARAMS *params)
{
	ADD(kernel_op(params, true, &op));
}

CU_API(cuGraphKernelNodeSetParams_v2)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	SET(OF_KIND(node, CU_NODE_KERNEL), kernel_op(params, false, &op));
}

CU_API(cuGraphKernelNodeSetParams)(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	SET(OF_KIND(node, CU_NODE_KERNEL), kernel_op(params, true, &op));
}

CU_API(cuGraphExecKernelNodeSetParams_v2)
(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	SET(exec_node(exec, node, CU_NODE_KERNEL), kernel_op(params, false, &op));
}

CU_API(cuGraphExecKernelNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	SET(exec_node(exec, node, CU_NODE_KERNEL), kernel_op(params, true, &op));
}

/* Pointers to parameters are into the node: valid until it changes. */
static CUresult kernel_params(struct node *node, bool is_old, CUDA_KERNEL_NODE_PARAMS *ret)
{
	if (!ret || !is_node(node, CU_NODE_KERNEL))
		return CUDA_ERROR_INVALID_VALUE;
	struct wire_launch asked;
	memcpy(&asked, node->op.host, sizeof asked);
	const struct driver_kernel *kernel = node->op.kernel;
	char *args = (char *)node->op.host + sizeof asked + asked.n_name;
	void **params = calloc(kernel->about.n_params + (size_t)1, sizeof *params);
	if (!params)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < kernel->about.n_params; i++)
		params[i] = args + kernel->params[i].offset;
	free(node->params);
	node->params = params;
	CUDA_KERNEL_NODE_PARAMS all = { .function = node->op.kernel,
					.shared_bytes = asked.shared_bytes,
					.params = params,
					.context = node->op.context };
	memcpy(all.grid, asked.grid, sizeof all.grid);
	memcpy(all.block, asked.block, sizeof all.block);
	memcpy(ret, &all, is_old ? offsetof(CUDA_KERNEL_NODE_PARAMS, kernel) : sizeof all);
	return CUDA_SUCCESS;
}

CU_API(cuGraphKernelNodeGetParams_v2)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret_params)
{
	DONE(kernel_params(node, false, ret_params));
}

CU_API(cuGraphKernelNodeGetParams)(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret_params)
{
	DONE(kernel_params(node, true, ret_params));
}

/* ---- copies ---- */

CU_API(cuGraphAddMemcpyNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_MEMCPY3D *copy, CUcontext context)
{
	CUgraphNode node = NULL;
	struct driver_op op;
	(void)context;
	CUresult result = ret_node ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		result = copy_op(copy, &op);
	if (result == CUDA_SUCCESS)
		result = graph_add(graph, &node, before, n, &op);
	if (result == CUDA_SUCCESS) {
		node->copy = *copy;
		*ret_node = node;
	}
	DONE(result);
}

static CUresult set_copy(struct node *node, const CUDA_MEMCPY3D *copy)
{
	struct driver_op op;
	CUresult result = node ? copy_op(copy, &op) : CUDA_ERROR_INVALID_VALUE;
	result = result == CUDA_SUCCESS ? node_set(node, result, &op) : result;
	if (result == CUDA_SUCCESS)
		node->copy = *copy;
	return result;
}

CU_API(cuGraphMemcpyNodeSetParams)(CUgraphNode node, const CUDA_MEMCPY3D *copy)
{
	DONE(set_copy(OF_KIND(node, CU_NODE_MEMCPY), copy));
}

CU_API(cuGraphExecMemcpyNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext context)
{
	(void)context;
	DONE(set_copy(exec_node(exec, node, CU_NODE_MEMCPY), copy));
}

/* Of one that was captured, what it does. */
static void put_side(const struct copy_side *side, unsigned *ret_type, CUdeviceptr *ret_device,
		     size_t *ret_pitch, size_t *ret_height)
{
	*ret_type = CU_MEMORYTYPE_UNIFIED;
	*ret_device = side->at;
	*ret_pitch = side->pitch;
	*ret_height = side->pitch ? side->slice / side->pitch : 0;
}

CU_API(cuGraphMemcpyNodeGetParams)(CUgraphNode node, CUDA_MEMCPY3D *ret_copy)
{
	if (!ret_copy || !is_node(node, CU_NODE_MEMCPY))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_copy = node->copy;
	if (ret_copy->depth == 0) {
		const struct box *box = node->op.host;
		ret_copy->width = box->n_bytes;
		ret_copy->height = box->n_rows;
		ret_copy->depth = box->n_slices;
		put_side(&box->from, &ret_copy->src_type, &ret_copy->src_device,
			 &ret_copy->src_pitch, &ret_copy->src_height);
		put_side(&box->to, &ret_copy->dst_type, &ret_copy->dst_device, &ret_copy->dst_pitch,
			 &ret_copy->dst_height);
	}
	DONE(CUDA_SUCCESS);
}

/* ---- fills, functions of the host, events, what does nothing ---- */

CU_API(cuGraphAddMemsetNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
	(void)context;
	ADD(memset_op(params, &op));
}

CU_API(cuGraphMemsetNodeSetParams)(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
	SET(OF_KIND(node, CU_NODE_MEMSET), memset_op(params, &op));
}

CU_API(cuGraphExecMemsetNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
	(void)context;
	SET(exec_node(exec, node, CU_NODE_MEMSET), memset_op(params, &op));
}

CU_API(cuGraphMemsetNodeGetParams)(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *ret_params)
{
	if (!ret_params || !is_node(node, CU_NODE_MEMSET))
		DONE(CUDA_ERROR_INVALID_VALUE);
	const uint64_t *word = node->op.word;
	*ret_params = (CUDA_MEMSET_NODE_PARAMS){ word[0],           word[1], (unsigned)word[2],
						 (unsigned)word[3], word[4], word[5] };
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphAddHostNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_HOST_NODE_PARAMS *params)
{
	ADD(host_op(params, &op));
}

CU_API(cuGraphHostNodeSetParams)(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	SET(OF_KIND(node, CU_NODE_HOST), host_op(params, &op));
}

CU_API(cuGraphExecHostNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	SET(exec_node(exec, node, CU_NODE_HOST), host_op(params, &op));
}

CU_API(cuGraphAddEventRecordNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
	ADD(record_op(event, &op));
}

CU_API(cuGraphExecEventRecordNodeSetEvent)(CUgraphExec exec, CUgraphNode node, CUevent event)
{
	SET(exec_node(exec, node, CU_NODE_EVENT_RECORD), record_op(event, &op));
}

static CUresult nothing_op(int type, struct driver_op *ret_op)
{
	*ret_op = (struct driver_op){ .run = run_nothing, .type = type };
	return CUDA_SUCCESS;
}

CU_API(cuGraphAddEmptyNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n)
{
	ADD(nothing_op(CU_NODE_EMPTY, &op));
}

/* All work is in one order: there is nothing to wait for. */
CU_API(cuGraphAddEventWaitNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
	ADD(IS(event, MAGIC_EVENT) ? nothing_op(CU_NODE_WAIT_EVENT, &op)
				   : CUDA_ERROR_INVALID_HANDLE);
}

CU_API(cuGraphAddChildGraphNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUgraph child)
{
	CUgraphNode node = NULL;
	struct driver_op op;
	if (!ret_node || !IS(child, MAGIC_GRAPH) || child == graph)
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct graph *copy = graph_clone(child);
	CUresult result = copy ? nothing_op(CU_NODE_GRAPH, &op) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		result = graph_add(graph, &node, before, n, &op);
	if (result == CUDA_SUCCESS) {
		node->child = copy;
		*ret_node = node;
	} else {
		graph_destroy(copy);
	}
	DONE(result);
}

CU_API(cuGraphChildGraphNodeGetGraph)(CUgraphNode node, CUgraph *ret_graph)
{
	if (!ret_graph || !is_node(node, CU_NODE_GRAPH))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_graph = node->child;
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphNodeGetType)(CUgraphNode node, int *ret_type)
{
	if (!ret_type || !IS(node, MAGIC_NODE))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_type = node->op.type;
	DONE(CUDA_SUCCESS);
}

/* ---- executable graphs ---- */

/* Orders a copy, and what is in it. */
static bool prepare(struct graph *graph)
{
	bool ok = graph_sort(graph);
	for (size_t i = 0; i < graph->n && ok; i++)
		if (graph->nodes[i]->child)
			ok = prepare(graph->nodes[i]->child);
	return ok;
}

static CUresult instantiate(CUgraphExec *ret_exec, CUgraph graph, unsigned long long flags)
{
	enum { AUTO_FREE = 1, UPLOAD = 2, PRIORITY = 8 };
	if (!ret_exec || !IS(graph, MAGIC_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & ~(unsigned long long)(AUTO_FREE | UPLOAD | PRIORITY))
		return CUDA_ERROR_NOT_SUPPORTED; /* launches from the device */
	struct graph *exec = graph_clone(graph);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!prepare(exec)) {
		graph_destroy(exec);
		return CUDA_ERROR_INVALID_VALUE; /* a circle */
	}
	exec->magic = MAGIC_EXEC;
	exec->flags = flags;
	*ret_exec = exec;
	return CUDA_SUCCESS;
}

CU_API(cuGraphInstantiateWithFlags)
(CUgraphExec *ret_exec, CUgraph graph, unsigned long long flags)
{
	DONE(instantiate(ret_exec, graph, flags));
}

CU_API(cuGraphInstantiateWithParams)
(CUgraphExec *ret_exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!params)
		DONE(CUDA_ERROR_INVALID_VALUE);
	CUresult result = instantiate(ret_exec, graph, params->flags);
	params->error_node = NULL;
	params->result = result == CUDA_SUCCESS ? 0 : 1;
	DONE(result);
}

CU_API(cuGraphInstantiate_v2)
(CUgraphExec *ret_exec, CUgraph graph, CUgraphNode *ret_node, char *ret_log, size_t n_log)
{
	if (ret_node)
		*ret_node = NULL;
	if (ret_log && n_log > 0)
		*ret_log = '\0';
	DONE(instantiate(ret_exec, graph, 0));
}

CU_API(cuGraphExecDestroy)(CUgraphExec exec)
{
	if (!IS(exec, MAGIC_EXEC))
		DONE(CUDA_ERROR_INVALID_VALUE);
	graph_destroy(exec); /* what was launched has its own copies */
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphExecGetFlags)(CUgraphExec exec, unsigned long long *ret_flags)
{
	if (!ret_flags || !IS(exec, MAGIC_EXEC))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_flags = exec->flags;
	DONE(CUDA_SUCCESS);
}

static CUresult submit(const struct graph *graph, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;
	for (size_t i = 0; i < graph->n && result == CUDA_SUCCESS; i++) {
		const struct node *node = graph->nodes[i];
		struct driver_op op;
		if (node->is_off)
			continue;
		if (node->child) {
			result = submit(node->child, stream);
			continue;
		}
		result = op_clone(&node->op, &op) ? stream_add(stream, &op)
						  : CUDA_ERROR_OUT_OF_MEMORY;
		if (result == CUDA_SUCCESS && op.event && !stream_captures(stream))
			op.event->op = stream_of(stream)->last;
	}
	return result;
}

CU_API(cuGraphLaunch)(CUgraphExec exec, CUstream stream)
{
	CUresult result = IS(exec, MAGIC_EXEC) ? stream_check(stream) : CUDA_ERROR_INVALID_VALUE;
	DONE(result == CUDA_SUCCESS ? submit(exec, stream) : result);
}

CU_API(cuGraphUpload)(CUgraphExec exec, CUstream stream)
{
	DONE(IS(exec, MAGIC_EXEC) ? stream_check(stream) : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuGraphNodeSetEnabled)(CUgraphExec exec, CUgraphNode from, unsigned is_on)
{
	struct node *node = IS(exec, MAGIC_EXEC) && from ? node_in(exec, from) : NULL;
	if (!node || node->op.type > CU_NODE_MEMSET)
		DONE(CUDA_ERROR_INVALID_VALUE);
	node->is_off = !is_on;
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphNodeGetEnabled)(CUgraphExec exec, CUgraphNode from, unsigned *ret_on)
{
	const struct node *node = IS(exec, MAGIC_EXEC) && from ? node_in(exec, from) : NULL;
	if (!node || !ret_on || node->op.type > CU_NODE_MEMSET)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_on = !node->is_off;
	DONE(CUDA_SUCCESS);
}

CU_API(cuGraphExecChildGraphNodeSetParams)(CUgraphExec exec, CUgraphNode from, CUgraph child)
{
	struct node *node = exec_node(exec, from, CU_NODE_GRAPH);
	if (!node || !IS(child, MAGIC_GRAPH) || child->n != node->child->n)
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct graph *copy = graph_clone(child);
	if (!copy || !prepare(copy)) {
		graph_destroy(copy);
		DONE(CUDA_ERROR_OUT_OF_MEMORY);
	}
	graph_destroy(node->child);
	node->child = copy;
	DONE(CUDA_SUCCESS);
}

/* Whether two sorted graphs differ in more than parameters: what is told. */
static int compare_graphs(const struct graph *old, const struct graph *fresh, CUgraphNode *ret_node)
{
	if (old->n != fresh->n)
		return CU_UPDATE_TOPOLOGY_CHANGED;
	for (size_t i = 0; i < old->n; i++) {
		const struct node *a = old->nodes[i], *b = fresh->nodes[i];
		*ret_node = b->from;
		if (a->op.type != b->op.type)
			return CU_UPDATE_TYPE_CHANGED;
		if (a->n_before != b->n_before)
			return CU_UPDATE_TOPOLOGY_CHANGED;
		for (size_t k = 0; k < a->n_before; k++)
			if (a->before[k]->number != b->before[k]->number)
				return CU_UPDATE_TOPOLOGY_CHANGED;
		if (!a->child)
			continue;
		CUgraphNode inner;
		int result = compare_graphs(a->child, b->child, &inner);
		if (result != CU_UPDATE_SUCCESS)
			return result;
	}
	*ret_node = NULL;
	return CU_UPDATE_SUCCESS;
}

/* The nodes of both, one by one, change places; their names stay. */
static void graph_nodes_take(struct graph *exec, struct graph *fresh)
{
	for (size_t i = 0; i < exec->n; i++) {
		struct node *to = exec->nodes[i], *from = fresh->nodes[i];
		struct driver_op op = to->op;
		struct graph *child = to->child;
		to->op = from->op;
		to->copy = from->copy;
		to->child = from->child;
		from->op = op;
		from->child = child;
	}
}

static CUresult update_graph(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *ret)
{
	*ret = (CUgraphExecUpdateResultInfo){ .result = CU_UPDATE_ERROR };
	if (!IS(exec, MAGIC_EXEC) || !IS(graph, MAGIC_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	struct graph *fresh = graph_clone(graph);
	if (!fresh || !prepare(fresh)) {
		graph_destroy(fresh);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	ret->result = compare_graphs(exec, fresh, &ret->node);
	if (ret->result == CU_UPDATE_SUCCESS)
		graph_nodes_take(exec, fresh);
	graph_destroy(fresh);
	return ret->result == CU_UPDATE_SUCCESS ? CUDA_SUCCESS
						: CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CU_API(cuGraphExecUpdate_v2)
(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *ret_info)
{
	DONE(ret_info ? update_graph(exec, graph, ret_info) : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuGraphExecUpdate)
(CUgraphExec exec, CUgraph graph, CUgraphNode *ret_node, int *ret_result)
{
	CUgraphExecUpdateResultInfo info;
	CUresult result = update_graph(exec, graph, &info);
	if (ret_node)
		*ret_node = info.node;
	if (ret_result)
		*ret_result = info.result;
	DONE(result);
}
