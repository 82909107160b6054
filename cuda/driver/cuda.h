/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the CUDA driver API's types the functions here take: sizes, numbers and places as the
 * API documents them, names as in it. Declared anew; nothing of the vendor's header is here.
 */
#ifndef WARPSCOPE_DRIVER_CUDA_H
#define WARPSCOPE_DRIVER_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include <warpscope/cuda_results.h>

typedef enum {
#define X(number, name, text) name = number,
	WS_CUDA_RESULT_LIST(X)
#undef X
} CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct driver_kernel *CUfunction; /* also a CUkernel */
typedef struct module *CUlibrary;
typedef struct driver_stream *CUstream;
typedef struct event *CUevent;
typedef struct array *CUarray;
typedef struct graph *CUgraph, *CUgraphExec;
typedef struct node *CUgraphNode;
typedef struct pool *CUmemoryPool;
struct listener; /* of the log */
struct dump_listener;

typedef struct {
	char bytes[16];
} CUuuid;

/* Streams that are not handles. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

enum {
	CU_MEMORYTYPE_HOST = 1,
	CU_MEMORYTYPE_DEVICE,
	CU_MEMORYTYPE_ARRAY,
	CU_MEMORYTYPE_UNIFIED,
};

enum {
	CU_EVENT_DISABLE_TIMING = 2,
	CU_CTX_FLAGS_MASK = 0xff,
	CU_MEMHOSTALLOC_ALL = 7,
};

typedef struct {
	size_t src_x, src_y;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_device;
	CUarray src_array;
	size_t src_pitch;
	size_t dst_x, dst_y;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_device;
	CUarray dst_array;
	size_t dst_pitch;
	size_t width, height;
} CUDA_MEMCPY2D;

typedef struct {
	size_t src_x, src_y, src_z, src_lod;
	unsigned src_type;
	const void *src_host;
	CUdeviceptr src_device;
	CUarray src_array;
	void *reserved0;
	size_t src_pitch, src_height;
	size_t dst_x, dst_y, dst_z, dst_lod;
	unsigned dst_type;
	void *dst_host;
	CUdeviceptr dst_device;
	CUarray dst_array;
	void *reserved1;
	size_t dst_pitch, dst_height;
	size_t width, height, depth;
} CUDA_MEMCPY3D;

/* Components of texels. */
enum {
	CU_FORMAT_U8 = 1,
	CU_FORMAT_U16,
	CU_FORMAT_U32,
	CU_FORMAT_S8 = 8,
	CU_FORMAT_S16,
	CU_FORMAT_S32,
	CU_FORMAT_HALF = 0x10,
	CU_FORMAT_FLOAT = 0x20,
};
enum {
	CU_ARRAY_LAYERED = 1,
	CU_ARRAY_SURFACE = 2,
	CU_ARRAY_CUBE = 4,
	CU_ARRAY_GATHER = 8,
};

typedef struct {
	size_t width, height;
	int format;
	unsigned n_channels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
	size_t width, height, depth; /* 0: that dimension is not there; depth also counts layers */
	int format;
	unsigned n_channels, flags;
} CUDA_ARRAY3D_DESCRIPTOR;

enum { CU_RESOURCE_ARRAY, CU_RESOURCE_MIPMAPPED, CU_RESOURCE_LINEAR, CU_RESOURCE_PITCH2D };

typedef struct {
	int type;
	union {
		CUarray array;
		struct {
			CUdeviceptr address;
			int format;
			unsigned n_channels;
			size_t n_bytes;
		} linear;
		struct {
			CUdeviceptr address;
			int format;
			unsigned n_channels;
			size_t width, height, pitch;
		} plane;
		int room[32];
	} res;
	unsigned flags;
} CUDA_RESOURCE_DESC;

enum { CU_FILTER_POINT, CU_FILTER_LINEAR };
enum { CU_TEXTURE_AS_INTEGER = 1, CU_TEXTURE_NORMALIZED = 2, CU_TEXTURE_SRGB = 0x10 };

typedef struct {
	int mode[3], filter;
	unsigned flags, anisotropy;
	int mipmap_filter;
	float mipmap_bias, mipmap_least, mipmap_greatest;
	float border[4];
	int room[12];
} CUDA_TEXTURE_DESC;

enum {
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
};

typedef struct {
	int id;
	char pad[8 - sizeof(int)];
	union {
		char bytes[64];
		int cooperative;
		unsigned cluster[3];
	} value;
} CUlaunchAttribute;

typedef struct {
	unsigned grid[3], block[3], shared_bytes;
	CUstream stream;
	CUlaunchAttribute *attributes;
	unsigned n_attributes;
} CUlaunchConfig;

/* A place of memory: 1 is a device. */
typedef struct {
	int type, id;
} CUmemLocation;

typedef struct {
	CUmemLocation location;
	int flags; /* 0: none, 1: reads, 3: reads and writes */
} CUmemAccessDesc;

typedef struct {
	int type, handles;
	CUmemLocation location;
	void *security;
	unsigned char flags[8];
} CUmemAllocationProp;

typedef struct {
	int type, handles;
	CUmemLocation location;
	void *security;
	size_t limit;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;

/* Kinds of nodes. */
enum {
	CU_NODE_KERNEL,
	CU_NODE_MEMCPY,
	CU_NODE_MEMSET,
	CU_NODE_HOST,
	CU_NODE_GRAPH,
	CU_NODE_EMPTY,
	CU_NODE_WAIT_EVENT,
	CU_NODE_EVENT_RECORD,
};

/* The first version ends before `kernel`. */
typedef struct {
	CUfunction function;
	unsigned grid[3], block[3], shared_bytes;
	void **params, **extra;
	CUfunction kernel;
	CUcontext context;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct {
	CUdeviceptr at;
	size_t pitch;
	unsigned value, size;
	size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
	void (*function)(void *);
	void *data;
} CUDA_HOST_NODE_PARAMS;

typedef struct {
	unsigned char bytes[8];
} CUgraphEdgeData;

typedef struct {
	unsigned long long flags;
	CUstream upload;
	CUgraphNode error_node;
	int result;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

enum {
	CU_UPDATE_SUCCESS,
	CU_UPDATE_ERROR,
	CU_UPDATE_TOPOLOGY_CHANGED,
	CU_UPDATE_TYPE_CHANGED,
};

typedef struct {
	int result;
	CUgraphNode node, from;
} CUgraphExecUpdateResultInfo;

enum { CU_CAPTURE_NONE, CU_CAPTURE_ACTIVE, CU_CAPTURE_INVALIDATED };

/* Entries of `extra` of cuLaunchKernel(). */
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

/* ---- functions: what this folder defines ---- */

CUresult cuArray3DCreate_v2(CUarray *ret_array, const CUDA_ARRAY3D_DESCRIPTOR *about);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *ret_about, CUarray array);
CUresult cuArrayCreate_v2(CUarray *ret_array, const CUDA_ARRAY_DESCRIPTOR *about);
CUresult cuArrayDestroy(CUarray array);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *ret_about, CUarray array);
CUresult cuCoredumpDeregisterCompleteCallback(struct dump_listener *listener);
CUresult cuCoredumpDeregisterStartCallback(struct dump_listener *listener);
CUresult cuCoredumpGetAttribute(int attribute, void *ret_value, size_t *size);
CUresult cuCoredumpGetAttributeGlobal(int attribute, void *ret_value, size_t *size);
CUresult cuCoredumpRegisterCompleteCallback(void (*call)(void *data, int process, CUdevice device),
					    void *data, struct dump_listener **ret_listener);
CUresult cuCoredumpRegisterStartCallback(void (*call)(void *data, int process, CUdevice device),
					 void *data, struct dump_listener **ret_listener);
CUresult cuCoredumpSetAttribute(int attribute, void *value, size_t *size);
CUresult cuCoredumpSetAttributeGlobal(int attribute, void *value, size_t *size);
CUresult cuCtxCreate_v2(CUcontext *ret_context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *ret_context, const void *params, unsigned flags,
			CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxGetApiVersion(CUcontext context, unsigned *ret_version);
CUresult cuCtxGetCacheConfig(int *ret_config);
CUresult cuCtxGetCurrent(CUcontext *ret_context);
CUresult cuCtxGetDevice(CUdevice *ret_device);
CUresult cuCtxGetFlags(unsigned *ret_flags);
CUresult cuCtxGetId(CUcontext context, unsigned long long *ret_id);
CUresult cuCtxGetLimit(size_t *ret_value, unsigned limit);
CUresult cuCtxGetSharedMemConfig(int *ret_config);
CUresult cuCtxGetStreamPriorityRange(int *ret_least, int *ret_greatest);
CUresult cuCtxPopCurrent_v2(CUcontext *ret_context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuCtxSetCacheConfig(int config);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxSetLimit(unsigned limit, size_t value);
CUresult cuCtxSetSharedMemConfig(int config);
CUresult cuCtxSynchronize(void);
CUresult cuDeviceCanAccessPeer(int *ret_can, CUdevice device, CUdevice peer);
CUresult cuDeviceComputeCapability(int *ret_major, int *ret_minor, CUdevice device);
CUresult cuDeviceGet(CUdevice *ret_device, int ordinal);
CUresult cuDeviceGetAttribute(int *ret_value, int number, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *ret_device, const char *id);
CUresult cuDeviceGetCount(int *ret_n);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *ret_pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *ret_pool, CUdevice device);
CUresult cuDeviceGetName(char *ret_name, int size, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *ret_id, int size, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *ret_uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *ret_uuid, CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *ret_flags, int *ret_active);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *ret_context, CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
CUresult cuDeviceTotalMem_v2(size_t *ret_bytes, CUdevice device);
CUresult cuDriverGetVersion(int *ret_version);
CUresult cuEventCreate(CUevent *ret_event, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventElapsedTime(float *ret_ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *ret_ms, CUevent start, CUevent end);
CUresult cuEventQuery(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult cuEventSynchronize(CUevent event);
CUresult cuFuncGetAttribute(int *ret_value, int number, CUfunction kernel);
CUresult cuFuncGetModule(CUmodule *ret_module, CUfunction kernel);
CUresult cuFuncGetName(const char **ret_name, CUfunction kernel);
CUresult cuFuncGetParamInfo(CUfunction kernel, size_t i, size_t *ret_offset, size_t *ret_bytes);
CUresult cuFuncIsLoaded(int *ret_state, CUfunction kernel);
CUresult cuFuncLoad(CUfunction kernel);
CUresult cuFuncSetAttribute(CUfunction kernel, int number, int value);
CUresult cuFuncSetCacheConfig(CUfunction kernel, int config);
CUresult cuFuncSetSharedMemConfig(CUfunction kernel, int config);
CUresult cuGetErrorName(CUresult result, const char **ret_name);
CUresult cuGetErrorString(CUresult result, const char **ret_text);
CUresult cuGetExportTable(const void **ret_table, const CUuuid *id);
CUresult cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags,
			     int *ret_status);
CUresult cuGraphAddChildGraphNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
				  size_t n, CUgraph child);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				size_t n);
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   const CUgraphEdgeData *edges, size_t n);
CUresult cuGraphAddEmptyNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
			     size_t n);
CUresult cuGraphAddEventRecordNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
				   size_t n, CUevent event);
CUresult cuGraphAddEventWaitNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
				 size_t n, CUevent event);
CUresult cuGraphAddHostNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
			    size_t n, const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphAddKernelNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
			      size_t n, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
				 size_t n, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphAddMemcpyNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
			      size_t n, const CUDA_MEMCPY3D *copy, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode *ret_node, CUgraph graph, const CUgraphNode *before,
			      size_t n, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context);
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *ret_graph);
CUresult cuGraphClone(CUgraph *ret_graph, CUgraph graph);
CUresult cuGraphCreate(CUgraph *ret_graph, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode from, CUgraph child);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event);
CUresult cuGraphExecGetFlags(CUgraphExec exec, unsigned long long *ret_flags);
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
				      const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
					   const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMCPY3D *copy, CUcontext context);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context);
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *ret_node, int *ret_result);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
			      CUgraphExecUpdateResultInfo *ret_info);
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to, size_t *ret_n);
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *ret_from, CUgraphNode *ret_to,
			    CUgraphEdgeData *ret_edges, size_t *ret_n);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *ret_nodes, size_t *ret_n);
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret_exec, CUgraph graph,
				     unsigned long long flags);
CUresult cuGraphInstantiateWithParams(CUgraphExec *ret_exec, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphInstantiate_v2(CUgraphExec *ret_exec, CUgraph graph, CUgraphNode *ret_node,
			       char *ret_log, size_t n_log);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret_params);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *ret_params);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *ret_copy);
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy);
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *ret_params);
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params);
CUresult cuGraphNodeFindInClone(CUgraphNode *ret_node, CUgraphNode node, CUgraph copy);
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n);
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *ret_nodes,
				       CUgraphEdgeData *ret_edges, size_t *ret_n);
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *ret_nodes, size_t *ret_n);
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *ret_nodes,
					 CUgraphEdgeData *ret_edges, size_t *ret_n);
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode from, unsigned *ret_on);
CUresult cuGraphNodeGetType(CUgraphNode node, int *ret_type);
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode from, unsigned is_on);
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				   size_t n);
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				      const CUgraphEdgeData *edges, size_t n);
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult cuInit(unsigned flags);
CUresult cuKernelGetAttribute(int *ret_value, int number, CUfunction kernel, CUdevice device);
CUresult cuKernelGetFunction(CUfunction *ret_function, CUfunction kernel);
CUresult cuKernelGetLibrary(CUlibrary *ret_library, CUfunction kernel);
CUresult cuKernelGetName(const char **ret_name, CUfunction kernel);
CUresult cuKernelGetParamInfo(CUfunction kernel, size_t i, size_t *ret_offset, size_t *ret_bytes);
CUresult cuKernelSetAttribute(int number, int value, CUfunction kernel, CUdevice device);
CUresult cuKernelSetCacheConfig(CUfunction kernel, int config, CUdevice device);
CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz,
				   unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
				   CUstream stream, void **params);
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *data);
CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shared_bytes, CUstream stream,
			void **params, void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction kernel, void **params,
			  void **extra);
CUresult cuLibraryEnumerateKernels(CUfunction *ret_kernels, unsigned n, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr *ret_address, size_t *ret_bytes, CUlibrary library,
			    const char *name);
CUresult cuLibraryGetKernel(CUfunction *ret_kernel, CUlibrary library, const char *name);
CUresult cuLibraryGetKernelCount(unsigned *ret_n, CUlibrary library);
CUresult cuLibraryGetModule(CUmodule *ret_module, CUlibrary library);
CUresult cuLibraryLoadData(CUlibrary *ret_library, const void *image, int *jit, void **jit_values,
			   unsigned n_jit, int *options, void **values, unsigned n);
CUresult cuLibraryLoadFromFile(CUlibrary *ret_library, const char *path, int *jit,
			       void **jit_values, unsigned n_jit, int *options, void **values,
			       unsigned n);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLogsCurrent(unsigned *ret_iterator, unsigned flags);
CUresult cuLogsDumpToFile(unsigned *iterator, const char *path, unsigned flags);
CUresult cuLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags);
CUresult cuLogsRegisterCallback(void (*call)(void *data, int level, char *message, size_t length),
				void *data, struct listener **ret_listener);
CUresult cuLogsUnregisterCallback(struct listener *listener);
CUresult cuMemAddressFree(CUdeviceptr address, size_t n_bytes);
CUresult cuMemAddressReserve(CUdeviceptr *ret_address, size_t n_bytes, size_t alignment,
			     CUdeviceptr address, unsigned long long flags);
CUresult cuMemAdvise(CUdeviceptr address, size_t n_bytes, int advice, CUdevice device);
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t n_bytes, int advice, uint64_t location);
CUresult cuMemAllocAsync(CUdeviceptr *ret_address, size_t n_bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ret_address, size_t n_bytes, CUmemoryPool pool,
				 CUstream stream);
CUresult cuMemAllocHost_v2(void **ret_host, size_t n_bytes);
CUresult cuMemAllocManaged(CUdeviceptr *ret_address, size_t n_bytes, unsigned flags);
CUresult cuMemAllocPitch_v2(CUdeviceptr *ret_address, size_t *ret_pitch, size_t width,
			    size_t height, unsigned element);
CUresult cuMemAlloc_v2(CUdeviceptr *ret_address, size_t n_bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle *ret_handle, size_t n_bytes,
		     const CUmemAllocationProp *prop, unsigned long long flags);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemFreeHost(void *host);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemGetAccess(unsigned long long *ret_flags, const CUmemLocation *location,
			CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *ret_start, size_t *ret_bytes, CUdeviceptr address);
CUresult cuMemGetAllocationGranularity(size_t *ret_bytes, const CUmemAllocationProp *prop,
				       int option);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *ret_prop,
						CUmemGenericAllocationHandle handle);
CUresult cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total);
CUresult cuMemHostAlloc(void **ret_host, size_t n_bytes, unsigned flags);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ret_address, void *host, unsigned flags);
CUresult cuMemHostGetFlags(unsigned *ret_flags, void *host);
CUresult cuMemHostRegister_v2(void *host, size_t n_bytes, unsigned flags);
CUresult cuMemHostUnregister(void *host);
CUresult cuMemMap(CUdeviceptr address, size_t n_bytes, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemPoolCreate(CUmemoryPool *ret_pool, const CUmemPoolProps *props);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolGetAccess(int *ret_flags, CUmemoryPool pool, CUmemLocation *location);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *ret_value);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t n);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t n_bytes);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t n_bytes, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t n_bytes, uint64_t location,
			       unsigned flags, CUstream stream);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *ret_handle, void *address);
CUresult cuMemSetAccess(CUdeviceptr address, size_t n_bytes, const CUmemAccessDesc *access,
			size_t n);
CUresult cuMemUnmap(CUdeviceptr address, size_t n_bytes);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *c);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream);
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t n);
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t n);
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t n, CUstream stream);
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t n);
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t n);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream stream);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n);
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t n,
			      CUstream stream);
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t n);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream stream);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
		      CUcontext from_context, size_t n);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			   CUcontext from_context, size_t n, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, size_t n, CUstream stream);
CUresult cuMemsetD16_v2(CUdeviceptr at, unsigned short value, size_t n);
CUresult cuMemsetD2D16Async(CUdeviceptr at, size_t pitch, unsigned short value, size_t width,
			    size_t height, CUstream stream);
CUresult cuMemsetD2D16_v2(CUdeviceptr at, size_t pitch, unsigned short value, size_t width,
			  size_t height);
CUresult cuMemsetD2D32Async(CUdeviceptr at, size_t pitch, unsigned value, size_t width,
			    size_t height, CUstream stream);
CUresult cuMemsetD2D32_v2(CUdeviceptr at, size_t pitch, unsigned value, size_t width,
			  size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr at, size_t pitch, unsigned char value, size_t width,
			   size_t height, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr at, size_t pitch, unsigned char value, size_t width,
			 size_t height);
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t n, CUstream stream);
CUresult cuMemsetD32_v2(CUdeviceptr at, unsigned value, size_t n);
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t n);
CUresult cuModuleEnumerateFunctions(CUfunction *ret_kernels, unsigned n, CUmodule module);
CUresult cuModuleGetFunction(CUfunction *ret_kernel, CUmodule module, const char *name);
CUresult cuModuleGetFunctionCount(unsigned *ret_n, CUmodule module);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *ret_address, size_t *ret_bytes, CUmodule module,
			      const char *name);
CUresult cuModuleGetLoadingMode(int *ret_mode);
CUresult cuModuleLoad(CUmodule *ret_module, const char *path);
CUresult cuModuleLoadData(CUmodule *ret_module, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *ret_module, const void *image, unsigned n, int *options,
			    void **values);
CUresult cuModuleLoadFatBinary(CUmodule *ret_module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *ret_bytes, CUfunction kernel, int blocks,
						 int threads);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret_n, CUfunction kernel, int threads,
						     size_t dynamic_bytes);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ret_n, CUfunction kernel,
							      int threads, size_t dynamic_bytes,
							      unsigned flags);
CUresult cuOccupancyMaxPotentialBlockSize(int *ret_grid, int *ret_block, CUfunction kernel,
					  size_t (*bytes_of)(int block), size_t dynamic_bytes,
					  int limit);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *ret_grid, int *ret_block, CUfunction kernel,
						   size_t (*bytes_of)(int block),
						   size_t dynamic_bytes, int limit, unsigned flags);
CUresult cuPointerGetAttribute(void *ret, int number, CUdeviceptr address);
CUresult cuPointerGetAttributes(unsigned n, int *numbers, void **rets, CUdeviceptr address);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
CUresult cuStreamAddCallback(CUstream stream, void (*function)(CUstream, CUresult, void *),
			     void *data, unsigned flags);
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamCreate(CUstream *ret_stream, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream *ret_stream, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamEndCapture(CUstream handle, CUgraph *ret_graph);
CUresult cuStreamGetCaptureInfo(CUstream stream, int *ret_status, unsigned long long *ret_id);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *ret_status, unsigned long long *ret_id,
				   CUgraph *ret_graph, const CUgraphNode **ret_nodes,
				   size_t *ret_n);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *ret_status, unsigned long long *ret_id,
				   CUgraph *ret_graph, const CUgraphNode **ret_nodes,
				   const CUgraphEdgeData **ret_edges, size_t *ret_n);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *ret_context);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *ret_device);
CUresult cuStreamGetFlags(CUstream stream, unsigned *ret_flags);
CUresult cuStreamGetId(CUstream stream, unsigned long long *ret_id);
CUresult cuStreamGetPriority(CUstream stream, int *ret_priority);
CUresult cuStreamIsCapturing(CUstream stream, int *ret_status);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t n,
					   unsigned flags);
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes,
					      const CUgraphEdgeData *edges, size_t n,
					      unsigned flags);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuSurfObjectCreate(unsigned long long *ret_handle, const CUDA_RESOURCE_DESC *resource);
CUresult cuSurfObjectDestroy(unsigned long long handle);
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *ret_resource, unsigned long long handle);
CUresult cuTensorMapEncodeIm2col(void *ret_map, int type, uint32_t n_dims, void *address,
				 const uint64_t *dims, const uint64_t *strides, const int *lower,
				 const int *upper, uint32_t channels, uint32_t pixels,
				 const uint32_t *element_strides, int interleave, int swizzle,
				 int l2_promotion, int oob_fill);
CUresult cuTensorMapEncodeTiled(void *ret_map, int type, uint32_t n_dims, void *address,
				const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
				const uint32_t *element_strides, int interleave, int swizzle,
				int l2_promotion, int oob_fill);
CUresult cuTexObjectCreate(unsigned long long *ret_handle, const CUDA_RESOURCE_DESC *resource,
			   const CUDA_TEXTURE_DESC *texture, const void *view);
CUresult cuTexObjectDestroy(unsigned long long handle);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *ret_resource, unsigned long long handle);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *ret_texture, unsigned long long handle);
CUresult cuThreadExchangeStreamCaptureMode(int *mode);

#endif
