/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime of CUDA 13 has of its own. Places: its public header. */
#include "runtime.h"

const struct rt_version rt_version = { .number = 13000, .pointer_bytes = 88 };

enum { PROPERTIES_BYTES = 1008 };

static const struct rt_member members[] = {
	{ 384, 16 },  /* multiProcessorCount */
	{ 388, 18 },  /* integrated */
	{ 392, 19 },  /* canMapHostMemory */
	{ 552, 30 },  /* surfaceAlignment */
	{ 560, 31 },  /* concurrentKernels */
	{ 564, 32 },  /* ECCEnabled */
	{ 568, 33 },  /* pciBusID */
	{ 572, 34 },  /* pciDeviceID */
	{ 576, 50 },  /* pciDomainID */
	{ 580, 35 },  /* tccDriver */
	{ 584, 40 },  /* asyncEngineCount */
	{ 588, 41 },  /* unifiedAddressing */
	{ 592, 37 },  /* memoryBusWidth */
	{ 596, 38 },  /* l2CacheSize */
	{ 604, 39 },  /* maxThreadsPerMultiProcessor */
	{ 608, 78 },  /* streamPrioritiesSupported */
	{ 612, 79 },  /* globalL1CacheSupported */
	{ 616, 80 },  /* localL1CacheSupported */
	{ 624, 81 },  /* sharedMemPerMultiprocessor */
	{ 632, 82 },  /* regsPerMultiprocessor */
	{ 636, 83 },  /* managedMemory */
	{ 656, 89 },  /* concurrentManagedAccess */
	{ 660, 90 },  /* computePreemptionSupported */
	{ 664, 91 },  /* canUseHostPointerForRegisteredMem */
	{ 668, 95 },  /* cooperativeLaunch */
	{ 672, 97 },  /* sharedMemPerBlockOptin */
	{ 688, 106 }, /* maxBlocksPerMultiProcessor */
	{ 696, 111 }, /* reservedSharedMemPerBlock */
	{ 720, 115 }, /* memoryPoolsSupported */
	{ 748, 120 }, /* clusterLaunch */
};

RT_API(cudaGetDeviceProperties)(void *ret_properties, int device)
{
	return rt_done(rt_properties(ret_properties, PROPERTIES_BYTES, members,
				     sizeof members / sizeof members[0], device));
}

/* Locations are by value, 8 bytes: a kind and a number. */
RT_API(cudaMemPrefetchAsync)
(const void *at, size_t n, uint64_t place, unsigned flags, CUstream stream)
{
	RT_CALL(cuMemPrefetchAsync_v2((uintptr_t)at, n, place, flags, stream));
}

RT_API(cudaMemAdvise)(const void *at, size_t n, int advice, uint64_t place)
{
	RT_CALL(cuMemAdvise_v2((uintptr_t)at, n, advice, place));
}

/* ---- graphs: edges have data ---- */

RT_API(cudaGraphAddDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
 size_t n)
{
	RT_CALL(cuGraphAddDependencies_v2(graph, from, to, edges, n));
}

RT_API(cudaGraphRemoveDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
 size_t n)
{
	RT_CALL(cuGraphRemoveDependencies_v2(graph, from, to, edges, n));
}

RT_API(cudaGraphGetEdges)
(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to, CUgraphEdgeData *ret_edges,
 size_t *ret_n)
{
	RT_CALL(cuGraphGetEdges_v2(graph, ret_from, ret_to, ret_edges, ret_n));
}

RT_API(cudaGraphNodeGetDependencies)
(CUgraphNode node, CUgraphNode *ret_nodes, CUgraphEdgeData *ret_edges, size_t *ret_n)
{
	RT_CALL(cuGraphNodeGetDependencies_v2(node, ret_nodes, ret_edges, ret_n));
}

RT_API(cudaGraphNodeGetDependentNodes)
(CUgraphNode node, CUgraphNode *ret_nodes, CUgraphEdgeData *ret_edges, size_t *ret_n)
{
	RT_CALL(cuGraphNodeGetDependentNodes_v2(node, ret_nodes, ret_edges, ret_n));
}

RT_API(cudaStreamGetCaptureInfo)
(CUstream stream, int *ret_status, unsigned long long *ret_id, CUgraph *ret_graph,
 const CUgraphNode **ret_nodes, const CUgraphEdgeData **ret_edges, size_t *ret_n)
{
	RT_CALL(cuStreamGetCaptureInfo_v3(stream, ret_status, ret_id, ret_graph, ret_nodes,
					  ret_edges, ret_n));
}

RT_API(cudaStreamUpdateCaptureDependencies)
(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t n, unsigned flags)
{
	RT_CALL(cuStreamUpdateCaptureDependencies_v2(stream, nodes, edges, n, flags));
}

/* ---- the log of errors ---- */

RT_API(cudaLogsRegisterCallback)
(void (*call)(void *data, int level, char *message, size_t length), void *data,
 struct listener **ret_listener)
{
	RT_CALL(cuLogsRegisterCallback(call, data, ret_listener));
}

RT_API(cudaLogsUnregisterCallback)(struct listener *listener)
{
	RT_CALL(cuLogsUnregisterCallback(listener));
}

RT_API(cudaLogsCurrent)(unsigned *ret_iterator, unsigned flags)
{
	RT_CALL(cuLogsCurrent(ret_iterator, flags));
}

RT_API(cudaLogsDumpToFile)(unsigned *iterator, const char *path, unsigned flags)
{
	RT_CALL(cuLogsDumpToFile(iterator, path, flags));
}

RT_API(cudaLogsDumpToMemory)(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
	RT_CALL(cuLogsDumpToMemory(iterator, buffer, size, flags));
}
