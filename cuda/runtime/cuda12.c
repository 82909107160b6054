/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime of CUDA 12 has of its own. Places: its public header. */
#include "runtime.h"

const struct rt_version rt_version = { .number = 12090, .pointer_bytes = 24 };

enum { PROPERTIES_BYTES = 1032 };

static const struct rt_member members[] = {
	{ 348, 13 },  /* clockRate */
	{ 384, 15 },  /* deviceOverlap */
	{ 388, 16 },  /* multiProcessorCount */
	{ 392, 17 },  /* kernelExecTimeoutEnabled */
	{ 396, 18 },  /* integrated */
	{ 400, 19 },  /* canMapHostMemory */
	{ 404, 20 },  /* computeMode */
	{ 568, 30 },  /* surfaceAlignment */
	{ 576, 31 },  /* concurrentKernels */
	{ 580, 32 },  /* ECCEnabled */
	{ 584, 33 },  /* pciBusID */
	{ 588, 34 },  /* pciDeviceID */
	{ 592, 50 },  /* pciDomainID */
	{ 596, 35 },  /* tccDriver */
	{ 600, 40 },  /* asyncEngineCount */
	{ 604, 41 },  /* unifiedAddressing */
	{ 608, 36 },  /* memoryClockRate */
	{ 612, 37 },  /* memoryBusWidth */
	{ 616, 38 },  /* l2CacheSize */
	{ 624, 39 },  /* maxThreadsPerMultiProcessor */
	{ 628, 78 },  /* streamPrioritiesSupported */
	{ 632, 79 },  /* globalL1CacheSupported */
	{ 636, 80 },  /* localL1CacheSupported */
	{ 640, 81 },  /* sharedMemPerMultiprocessor */
	{ 648, 82 },  /* regsPerMultiprocessor */
	{ 652, 83 },  /* managedMemory */
	{ 668, 87 },  /* singleToDoublePrecisionPerfRatio */
	{ 676, 89 },  /* concurrentManagedAccess */
	{ 680, 90 },  /* computePreemptionSupported */
	{ 684, 91 },  /* canUseHostPointerForRegisteredMem */
	{ 688, 95 },  /* cooperativeLaunch */
	{ 696, 97 },  /* sharedMemPerBlockOptin */
	{ 712, 106 }, /* maxBlocksPerMultiProcessor */
	{ 720, 111 }, /* reservedSharedMemPerBlock */
	{ 744, 115 }, /* memoryPoolsSupported */
	{ 772, 120 }, /* clusterLaunch */
};

RT_API(cudaGetDeviceProperties_v2)(void *ret_properties, int device)
{
	return rt_done(rt_properties(ret_properties, PROPERTIES_BYTES, members,
				     sizeof members / sizeof members[0], device));
}

/* A device, or -1: the host. */
static uint64_t location(int device)
{
	enum { DEVICE = 1, HOST = 2 };
	return device < 0 ? HOST : DEVICE | (uint64_t)(uint32_t)device << 32;
}

RT_API(cudaMemPrefetchAsync)(const void *at, size_t n, int device, CUstream stream)
{
	RT_CALL(cuMemPrefetchAsync_v2((uintptr_t)at, n, location(device), 0, stream));
}

RT_API(cudaMemAdvise)(const void *at, size_t n, int advice, int device)
{
	RT_CALL(cuMemAdvise_v2((uintptr_t)at, n, advice, location(device)));
}

/* Locations are by value, 8 bytes: a kind and a number. */
RT_API(cudaMemPrefetchAsync_v2)
(const void *at, size_t n, uint64_t place, unsigned flags, CUstream stream)
{
	RT_CALL(cuMemPrefetchAsync_v2((uintptr_t)at, n, place, flags, stream));
}

RT_API(cudaMemAdvise_v2)(const void *at, size_t n, int advice, uint64_t place)
{
	RT_CALL(cuMemAdvise_v2((uintptr_t)at, n, advice, place));
}

/* ---- graphs: edges have data, but not in the functions of old ---- */

RT_API(cudaGraphAddDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	RT_CALL(cuGraphAddDependencies(graph, from, to, n));
}

RT_API(cudaGraphRemoveDependencies)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	RT_CALL(cuGraphRemoveDependencies(graph, from, to, n));
}

RT_API(cudaGraphGetEdges)(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to, size_t *ret_n)
{
	RT_CALL(cuGraphGetEdges(graph, ret_from, ret_to, ret_n));
}

RT_API(cudaGraphNodeGetDependencies)(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n)
{
	RT_CALL(cuGraphNodeGetDependencies(node, ret_nodes, ret_n));
}

RT_API(cudaGraphNodeGetDependentNodes)(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n)
{
	RT_CALL(cuGraphNodeGetDependentNodes(node, ret_nodes, ret_n));
}

RT_API(cudaGraphAddDependencies_v2)
(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
 size_t n)
{
	RT_CALL(cuGraphAddDependencies_v2(graph, from, to, edges, n));
}

RT_API(cudaStreamGetCaptureInfo_v2)
(CUstream stream, int *ret_status, unsigned long long *ret_id, CUgraph *ret_graph,
 const CUgraphNode **ret_nodes, size_t *ret_n)
{
	RT_CALL(cuStreamGetCaptureInfo_v2(stream, ret_status, ret_id, ret_graph, ret_nodes, ret_n));
}

RT_API(cudaStreamUpdateCaptureDependencies)
(CUstream stream, CUgraphNode *nodes, size_t n, unsigned flags)
{
	RT_CALL(cuStreamUpdateCaptureDependencies(stream, nodes, n, flags));
}
