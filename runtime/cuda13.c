/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime of CUDA 13 has of its own. Places: its public header. */
#include "runtime.h"

const struct rt_version rt_version = { .number = 13000, .pointer_bytes = 88 };

enum { PROPERTIES_BYTES = 1008 };

static const struct rt_member members[] = {
	{ 384, 4, 16 },  /* multiProcessorCount */
	{ 388, 4, 18 },  /* integrated */
	{ 392, 4, 19 },  /* canMapHostMemory */
	{ 552, 8, 30 },  /* surfaceAlignment */
	{ 560, 4, 31 },  /* concurrentKernels */
	{ 564, 4, 32 },  /* ECCEnabled */
	{ 568, 4, 33 },  /* pciBusID */
	{ 572, 4, 34 },  /* pciDeviceID */
	{ 576, 4, 50 },  /* pciDomainID */
	{ 580, 4, 35 },  /* tccDriver */
	{ 584, 4, 40 },  /* asyncEngineCount */
	{ 588, 4, 41 },  /* unifiedAddressing */
	{ 592, 4, 37 },  /* memoryBusWidth */
	{ 596, 4, 38 },  /* l2CacheSize */
	{ 604, 4, 39 },  /* maxThreadsPerMultiProcessor */
	{ 608, 4, 78 },  /* streamPrioritiesSupported */
	{ 612, 4, 79 },  /* globalL1CacheSupported */
	{ 616, 4, 80 },  /* localL1CacheSupported */
	{ 624, 8, 81 },  /* sharedMemPerMultiprocessor */
	{ 632, 4, 82 },  /* regsPerMultiprocessor */
	{ 636, 4, 83 },  /* managedMemory */
	{ 656, 4, 89 },  /* concurrentManagedAccess */
	{ 660, 4, 90 },  /* computePreemptionSupported */
	{ 664, 4, 91 },  /* canUseHostPointerForRegisteredMem */
	{ 668, 4, 95 },  /* cooperativeLaunch */
	{ 672, 8, 97 },  /* sharedMemPerBlockOptin */
	{ 688, 4, 106 }, /* maxBlocksPerMultiProcessor */
	{ 696, 8, 111 }, /* reservedSharedMemPerBlock */
	{ 748, 4, 120 }, /* clusterLaunch */
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
