/* SPDX-License-Identifier: Apache-2.0 */
/* What test_runtime.c uses of the CUDA runtime API: declared here, or by the vendor's header where
 * one is installed (USE_VENDOR_HEADER), so that the two agree. */
#ifndef RUNTIME_API_H
#define RUNTIME_API_H

#ifdef USE_VENDOR_HEADER
#include <cuda_runtime_api.h>
#else

#include <stddef.h>

#ifdef USE_CUDA_12
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#endif

typedef int cudaError_t;
typedef struct opaque_stream *cudaStream_t;
typedef struct opaque_event *cudaEvent_t;
typedef struct {
	unsigned x, y, z;
} dim3;

enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInvalidSymbol = 13,
	cudaErrorInvalidMemcpyDirection = 21,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorInvalidDevice = 101,
	cudaErrorIllegalAddress = 700,
	cudaErrorNotSupported = 801,
};
enum {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault,
};
enum {
	cudaMemoryTypeUnregistered,
	cudaMemoryTypeHost,
	cudaMemoryTypeDevice,
	cudaMemoryTypeManaged
};
enum { cudaMemAttachGlobal = 1 };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

/* Its members up to the device's number of multiprocessors. */
struct cudaDeviceProp {
	char name[256], uuid[16], luid[8];
	unsigned luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
#ifdef USE_CUDA_12
	int deviceOverlap, multiProcessorCount;
	char others[640];
#else
	int multiProcessorCount;
	char others[620];
#endif
};
struct cudaFuncAttributes {
	size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
	int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
	int maxDynamicSharedSizeBytes, preferredShmemCarveout, clusters[6], reserved[16];
};
struct cudaPointerAttributes {
	int type, device;
	void *devicePointer, *hostPointer;
#ifndef USE_CUDA_12
	long reserved[8];
#endif
};

struct cudaMemLocation {
	int type, id;
};
enum { cudaMemAdviseSetReadMostly = 1 };

#ifdef USE_CUDA_12
cudaError_t cudaMemAdvise_v2(const void *at, size_t n, int advice, struct cudaMemLocation place);
cudaError_t cudaMemPrefetchAsync_v2(const void *at, size_t n, struct cudaMemLocation place,
				    unsigned flags, cudaStream_t stream);
cudaError_t cudaMemAdvise(const void *at, size_t n, int advice, int device);
cudaError_t cudaMemPrefetchAsync(const void *at, size_t n, int device, cudaStream_t stream);
#else
cudaError_t cudaMemAdvise(const void *at, size_t n, int advice, struct cudaMemLocation place);
cudaError_t cudaMemPrefetchAsync(const void *at, size_t n, struct cudaMemLocation place,
				 unsigned flags, cudaStream_t stream);
#endif

typedef struct opaque_array *cudaArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum { cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat };
enum { cudaArrayLayered = 1, cudaArraySurfaceLoadStore };
enum { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypePitch2D = 3 };
enum { cudaAddressModeClamp = 1, cudaFilterModeLinear = 1, cudaReadModeNormalizedFloat = 1 };
struct cudaChannelFormatDesc {
	int x, y, z, w, f;
};
struct cudaExtent {
	size_t width, height, depth;
};
struct cudaPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct {
		size_t x, y, z;
	} srcPos;
	struct {
		void *ptr;
		size_t pitch, xsize, ysize;
	} srcPtr;
	cudaArray_t dstArray;
	size_t dstPos[3];
	struct {
		void *ptr;
		size_t pitch, xsize, ysize;
	} dstPtr;
	struct cudaExtent extent;
	int kind;
};
struct cudaResourceDesc {
	int resType;
	union {
		struct {
			cudaArray_t array;
		} array;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t width, height, pitchInBytes;
		} pitch2D;
	} res;
	int flags;
};
struct cudaTextureDesc {
	int addressMode[3], filterMode, readMode, sRGB;
	float borderColor[4];
	int normalizedCoords, others[8];
};

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channel,
			    size_t width, size_t height, unsigned flags);
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channel,
			      struct cudaExtent extent, unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channel, struct cudaExtent *extent,
			     unsigned *flags, cudaArray_t array);
cudaError_t cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *at, struct cudaExtent extent);
cudaError_t cudaMemset3D(struct cudaPitchedPtr at, int value, struct cudaExtent extent);
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr at, int value, struct cudaExtent extent,
			      cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			 size_t width, size_t height, int direction);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
				size_t width, size_t height, int direction);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
				  size_t width, size_t height, int direction);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t from, size_t x, size_t y, size_t n,
				int direction);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
				    const struct cudaResourceDesc *resource,
				    const struct cudaTextureDesc *how, const void *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
				    const struct cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

typedef struct opaque_graph *cudaGraph_t;
typedef struct opaque_exec *cudaGraphExec_t;
typedef struct opaque_node *cudaGraphNode_t;
enum {
	cudaErrorStreamCaptureUnsupported = 900,
	cudaErrorStreamCaptureInvalidated,
	cudaErrorStreamCaptureUnjoined = 904,
	cudaErrorCapturedEvent = 907,
	cudaErrorGraphExecUpdateFailure = 910,
};
enum { cudaStreamCaptureModeGlobal, cudaStreamNonBlocking = 1 };
enum cudaStreamCaptureStatus {
	cudaStreamCaptureStatusNone,
	cudaStreamCaptureStatusActive,
	cudaStreamCaptureStatusInvalidated
};
enum cudaGraphNodeType { cudaGraphNodeTypeHost = 3 };
enum { cudaGraphExecUpdateErrorTopologyChanged = 2 };
struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};
struct cudaMemsetParams {
	void *dst;
	size_t pitch;
	unsigned value, elementSize;
	size_t width, height;
};
struct cudaHostNodeParams {
	void (*fn)(void *);
	void *userData;
};
typedef struct {
	int result;
	cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;
typedef struct {
	unsigned char bytes[8];
} cudaGraphEdgeData;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaFreeAsync(void *at, cudaStream_t stream);
cudaError_t cudaMallocHost(void **host, size_t bytes);
cudaError_t cudaFreeHost(void *host);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int direction,
			    cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *before, size_t n,
				   const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *before, size_t n,
				   const struct cudaMemsetParams *params);
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *before, size_t n, void *to,
				     const void *from, size_t n_bytes, int direction);
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *before, size_t n,
				 const struct cudaHostNodeParams *params);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *before, size_t n, cudaGraph_t child);
#ifdef USE_CUDA_12
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, size_t n);
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				     size_t n);
#endif
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
				 unsigned long long flags);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
					     const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info);
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_on);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);

typedef struct opaque_pool *cudaMemPool_t;
enum { cudaMemAllocationTypePinned = 1, cudaMemLocationTypeDevice = 1 };
enum {
	cudaMemPoolAttrReleaseThreshold = 4,
	cudaMemPoolAttrUsedMemCurrent = 7,
	cudaMemPoolAttrUsedMemHigh,
};
struct cudaMemPoolProps {
	int allocType, handleTypes;
	struct cudaMemLocation location;
	void *security;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
};
cudaError_t cudaMallocAsync(void **at, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void **at, size_t bytes, cudaMemPool_t pool,
				    cudaStream_t stream);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaMallocManaged(void **at, size_t bytes, unsigned flags);
cudaError_t cudaFree(void *at);
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int direction);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset,
			       int direction);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset,
				 int direction);
cudaError_t cudaMemset(void *at, int value, size_t n);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *at);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function);
cudaError_t cudaFuncSetAttribute(const void *function, int attribute, int value);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
			     size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *function, int threads,
							  size_t dynamic_bytes);
cudaError_t cudaCtxResetPersistingL2Cache(void);

#endif

/* As compilers call them before main(): no public header has them. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **image);
void __cudaRegisterFunction(void **image, const char *host, char *device, const char *name,
			    int thread_limit, void *tid, void *bid, void *block, void *grid,
			    int *warp_size);
void __cudaRegisterVar(void **image, char *host, char *device, const char *name, int is_extern,
		       size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **image, void **host, char *device, const char *name,
			      int is_extern, size_t bytes, int is_constant, int is_global);
char __cudaInitModule(void **image);
cudaError_t __cudaGetKernel(const void **kernel, const void *host);
cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
			       size_t shared_bytes, cudaStream_t stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
				     cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);

#endif
