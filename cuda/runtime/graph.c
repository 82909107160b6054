/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs, and streams that are captured into them. */
#include "runtime.h"

#include <string.h>

struct kernel_params {
	const void *host;
	struct rt_dim3 grid, block;
	unsigned shared_bytes;
	void **params, **extra;
};

/* ---- captures ---- */

RT_API(cudaStreamBeginCapture)(CUstream stream, int mode)
{
	RT_CALL(cuStreamBeginCapture_v2(stream, mode));
}

RT_API(cudaStreamEndCapture)(CUstream stream, CUgraph *ret_graph)
{
	RT_CALL(cuStreamEndCapture(stream, ret_graph));
}

RT_API(cudaThreadExchangeStreamCaptureMode)(int *mode)
{
	RT_CALL(cuThreadExchangeStreamCaptureMode(mode));
}

/* ---- graphs ---- */

RT_API(cudaGraphCreate)(CUgraph *ret_graph, unsigned flags)
{
	RT_CALL(cuGraphCreate(ret_graph, flags));
}

RT_API(cudaGraphDestroy)(CUgraph graph)
{
	RT_CALL(cuGraphDestroy(graph));
}

RT_API(cudaGraphClone)(CUgraph *ret_graph, CUgraph graph)
{
	RT_CALL(cuGraphClone(ret_graph, graph));
}

RT_API(cudaGraphNodeFindInClone)(CUgraphNode *ret_node, CUgraphNode node, CUgraph copy)
{
	RT_CALL(cuGraphNodeFindInClone(ret_node, node, copy));
}

RT_API(cudaGraphGetNodes)(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n)
{
	RT_CALL(cuGraphGetNodes(graph, ret_nodes, ret_n));
}

RT_API(cudaGraphGetRootNodes)(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n)
{
	RT_CALL(cuGraphGetRootNodes(graph, ret_nodes, ret_n));
}

RT_API(cudaGraphNodeGetType)(CUgraphNode node, int *ret_type)
{
	RT_CALL(cuGraphNodeGetType(node, ret_type)); /* the same numbers */
}

RT_API(cudaGraphDestroyNode)(CUgraphNode node)
{
	RT_CALL(cuGraphDestroyNode(node));
}

/* ---- kernels ---- */

static int node_kernel_of(const struct kernel_params *from, CUDA_KERNEL_NODE_PARAMS *ret)
{
	CUfunction function;
	int result = from ? rt_function(from->host, &function) : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		*ret = (CUDA_KERNEL_NODE_PARAMS){
			.function = function,
			.grid = { from->grid.x, from->grid.y, from->grid.z },
			.block = { from->block.x, from->block.y, from->block.z },
			.shared_bytes = from->shared_bytes,
			.params = from->params,
			.extra = from->extra,
		};
	return result;
}

RT_API(cudaGraphAddKernelNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const struct kernel_params *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	int result = node_kernel_of(params, &p);
	if (result == RT_SUCCESS)
		result = (int)cuGraphAddKernelNode_v2(ret_node, graph, before, n, &p);
	return rt_done(result);
}

RT_API(cudaGraphKernelNodeSetParams)(CUgraphNode node, const struct kernel_params *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	int result = node_kernel_of(params, &p);
	return rt_done(result == RT_SUCCESS ? (int)cuGraphKernelNodeSetParams_v2(node, &p)
					    : result);
}

RT_API(cudaGraphExecKernelNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const struct kernel_params *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	int result = node_kernel_of(params, &p);
	return rt_done(result == RT_SUCCESS ? (int)cuGraphExecKernelNodeSetParams_v2(exec, node, &p)
					    : result);
}

RT_API(cudaGraphKernelNodeGetParams)(CUgraphNode node, struct kernel_params *ret_params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	int result = ret_params ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuGraphKernelNodeGetParams_v2(node, &p);
	if (result == RT_SUCCESS)
		*ret_params = (struct kernel_params){ rt_host_of(p.function),
						      { p.grid[0], p.grid[1], p.grid[2] },
						      { p.block[0], p.block[1], p.block[2] },
						      p.shared_bytes,
						      p.params,
						      NULL };
	return rt_done(result);
}

/* ---- copies ---- */

static int copy_line_of(void *to, const void *from, size_t n, int direction, CUDA_MEMCPY3D *ret)
{
	int result = rt_begin();
	if (result == RT_SUCCESS && (direction < 0 || direction > 4))
		result = RT_INVALID_DIRECTION;
	*ret = (CUDA_MEMCPY3D){ .src_type = CU_MEMORYTYPE_UNIFIED,
				.src_device = (uintptr_t)from,
				.dst_type = CU_MEMORYTYPE_UNIFIED,
				.dst_device = (uintptr_t)to,
				.width = n,
				.height = 1,
				.depth = 1 };
	return result;
}

static int box_of(const void *params, CUDA_MEMCPY3D *ret)
{
	int result = rt_begin();
	return result == RT_SUCCESS ? rt_box(params, ret) : result;
}

static int add_copy(int result, CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
		    size_t n, const CUDA_MEMCPY3D *copy)
{
	return result == RT_SUCCESS
		       ? (int)cuGraphAddMemcpyNode(ret_node, graph, before, n, copy, NULL)
		       : result;
}

RT_API(cudaGraphAddMemcpyNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, const void *params)
{
	CUDA_MEMCPY3D copy;
	int result = box_of(params, &copy);
	return rt_done(add_copy(result, ret_node, graph, before, n, &copy));
}

RT_API(cudaGraphAddMemcpyNode1D)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, void *to,
 const void *from, size_t n_bytes, int direction)
{
	CUDA_MEMCPY3D copy;
	int result = copy_line_of(to, from, n_bytes, direction, &copy);
	return rt_done(add_copy(result, ret_node, graph, before, n, &copy));
}

RT_API(cudaGraphAddMemcpyNodeToSymbol)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, const void *symbol,
 const void *from, size_t n_bytes, size_t offset, int direction)
{
	CUDA_MEMCPY3D copy;
	void *to = NULL;
	int result = rt_place(symbol, offset, n_bytes, &to);
	if (result == RT_SUCCESS)
		result = copy_line_of(to, from, n_bytes, direction, &copy);
	return rt_done(add_copy(result, ret_node, graph, before, n, &copy));
}

RT_API(cudaGraphAddMemcpyNodeFromSymbol)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, void *to,
 const void *symbol, size_t n_bytes, size_t offset, int direction)
{
	CUDA_MEMCPY3D copy;
	void *from = NULL;
	int result = rt_place(symbol, offset, n_bytes, &from);
	if (result == RT_SUCCESS)
		result = copy_line_of(to, from, n_bytes, direction, &copy);
	return rt_done(add_copy(result, ret_node, graph, before, n, &copy));
}

RT_API(cudaGraphMemcpyNodeSetParams)(CUgraphNode node, const void *params)
{
	CUDA_MEMCPY3D copy;
	int result = box_of(params, &copy);
	return rt_done(result == RT_SUCCESS ? (int)cuGraphMemcpyNodeSetParams(node, &copy)
					    : result);
}

RT_API(cudaGraphMemcpyNodeSetParams1D)
(CUgraphNode node, void *to, const void *from, size_t n_bytes, int direction)
{
	CUDA_MEMCPY3D copy;
	int result = copy_line_of(to, from, n_bytes, direction, &copy);
	return rt_done(result == RT_SUCCESS ? (int)cuGraphMemcpyNodeSetParams(node, &copy)
					    : result);
}

RT_API(cudaGraphExecMemcpyNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const void *params)
{
	CUDA_MEMCPY3D copy;
	int result = box_of(params, &copy);
	return rt_done(result == RT_SUCCESS
			       ? (int)cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL)
			       : result);
}

RT_API(cudaGraphExecMemcpyNodeSetParams1D)
(CUgraphExec exec, CUgraphNode node, void *to, const void *from, size_t n_bytes, int direction)
{
	CUDA_MEMCPY3D copy;
	int result = copy_line_of(to, from, n_bytes, direction, &copy);
	return rt_done(result == RT_SUCCESS
			       ? (int)cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL)
			       : result);
}

/* ---- the others ---- */

RT_API(cudaGraphAddMemsetNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_MEMSET_NODE_PARAMS *params)
{
	RT_CALL(cuGraphAddMemsetNode(ret_node, graph, before, n, params, NULL));
}

RT_API(cudaGraphMemsetNodeGetParams)(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *ret_params)
{
	RT_CALL(cuGraphMemsetNodeGetParams(node, ret_params));
}

RT_API(cudaGraphMemsetNodeSetParams)(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
	RT_CALL(cuGraphMemsetNodeSetParams(node, params));
}

RT_API(cudaGraphExecMemsetNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
	RT_CALL(cuGraphExecMemsetNodeSetParams(exec, node, params, NULL));
}

RT_API(cudaGraphAddHostNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n,
 const CUDA_HOST_NODE_PARAMS *params)
{
	RT_CALL(cuGraphAddHostNode(ret_node, graph, before, n, params));
}

RT_API(cudaGraphHostNodeSetParams)(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	RT_CALL(cuGraphHostNodeSetParams(node, params));
}

RT_API(cudaGraphExecHostNodeSetParams)
(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	RT_CALL(cuGraphExecHostNodeSetParams(exec, node, params));
}

RT_API(cudaGraphAddEmptyNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n)
{
	RT_CALL(cuGraphAddEmptyNode(ret_node, graph, before, n));
}

RT_API(cudaGraphAddChildGraphNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUgraph child)
{
	RT_CALL(cuGraphAddChildGraphNode(ret_node, graph, before, n, child));
}

RT_API(cudaGraphChildGraphNodeGetGraph)(CUgraphNode node, CUgraph *ret_graph)
{
	RT_CALL(cuGraphChildGraphNodeGetGraph(node, ret_graph));
}

RT_API(cudaGraphExecChildGraphNodeSetParams)(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
	RT_CALL(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

RT_API(cudaGraphAddEventRecordNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
	RT_CALL(cuGraphAddEventRecordNode(ret_node, graph, before, n, event));
}

RT_API(cudaGraphExecEventRecordNodeSetEvent)(CUgraphExec exec, CUgraphNode node, CUevent event)
{
	RT_CALL(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

RT_API(cudaGraphAddEventWaitNode)
(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
	RT_CALL(cuGraphAddEventWaitNode(ret_node, graph, before, n, event));
}

/* ---- executable graphs ---- */

RT_API(cudaGraphInstantiate)(CUgraphExec *ret_exec, CUgraph graph, unsigned long long flags)
{
	RT_CALL(cuGraphInstantiateWithFlags(ret_exec, graph, flags));
}

RT_API(cudaGraphInstantiateWithFlags)
(CUgraphExec *ret_exec, CUgraph graph, unsigned long long flags)
{
	RT_CALL(cuGraphInstantiateWithFlags(ret_exec, graph, flags));
}

RT_API(cudaGraphInstantiateWithParams)
(CUgraphExec *ret_exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	RT_CALL(cuGraphInstantiateWithParams(ret_exec, graph, params));
}

RT_API(cudaGraphExecUpdate)
(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *ret_info)
{
	RT_CALL(cuGraphExecUpdate_v2(exec, graph, ret_info));
}

RT_API(cudaGraphExecGetFlags)(CUgraphExec exec, unsigned long long *ret_flags)
{
	RT_CALL(cuGraphExecGetFlags(exec, ret_flags));
}

RT_API(cudaGraphExecDestroy)(CUgraphExec exec)
{
	RT_CALL(cuGraphExecDestroy(exec));
}

RT_API(cudaGraphLaunch)(CUgraphExec exec, CUstream stream)
{
	RT_CALL(cuGraphLaunch(exec, stream));
}

RT_API(cudaGraphUpload)(CUgraphExec exec, CUstream stream)
{
	RT_CALL(cuGraphUpload(exec, stream));
}

RT_API(cudaGraphNodeSetEnabled)(CUgraphExec exec, CUgraphNode node, unsigned is_on)
{
	RT_CALL(cuGraphNodeSetEnabled(exec, node, is_on));
}

RT_API(cudaGraphNodeGetEnabled)(CUgraphExec exec, CUgraphNode node, unsigned *ret_on)
{
	RT_CALL(cuGraphNodeGetEnabled(exec, node, ret_on));
}
