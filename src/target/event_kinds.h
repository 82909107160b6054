/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as the debugger API has them, for both directions.
 *
 * X(WS_EVENT_..., CUDBG_EVENT_..., member of CUDBGEvent.cases, FIELDS): kinds of one layout share a
 * member. FIELDS(FIELD) lists FIELD(field of that member, member of struct ws_event). Not listed is
 * what is no copy: the type of a step, the result code of a failure.
 */
#ifndef WSI_TARGET_EVENT_KINDS_H
#define WSI_TARGET_EVENT_KINDS_H

#define WSI_EVENT_KINDS(X)                                                                    \
	X(CONTEXT_CREATED, CTX_CREATE, contextCreate, WSI_CONTEXT_FIELDS)                     \
	X(CONTEXT_DESTROYED, CTX_DESTROY, contextCreate, WSI_CONTEXT_FIELDS)                  \
	X(CONTEXT_PUSHED, CTX_PUSH, contextCreate, WSI_CONTEXT_FIELDS)                        \
	X(CONTEXT_POPPED, CTX_POP, contextCreate, WSI_CONTEXT_FIELDS)                         \
	X(MODULE_LOADED, ELF_IMAGE_LOADED, elfImageUnloaded, WSI_IMAGE_FIELDS)                \
	X(MODULE_UNLOADED, ELF_IMAGE_UNLOADED, elfImageUnloaded, WSI_IMAGE_FIELDS)            \
	X(FUNCTIONS_LOADED, FUNCTIONS_LOADED, functionsLoaded, WSI_FUNCTIONS_FIELDS)          \
	X(GRID_READY, KERNEL_READY, kernelReady, WSI_READY_FIELDS)                            \
	X(GRID_FINISHED, KERNEL_FINISHED, kernelFinished, WSI_KERNEL_FIELDS)                  \
	X(STOPPED, ALL_DEVICES_SUSPENDED, allDevicesSuspended, WSI_STOPPED_FIELDS)            \
	X(STEP_DONE, SINGLE_STEP_COMPLETE, singleStepComplete, WSI_STEP_FIELDS)               \
	X(ATTACHED, ATTACH_COMPLETE, internalError, WSI_NO_FIELDS)                            \
	X(DETACHED, DETACH_COMPLETE, internalError, WSI_NO_FIELDS)                            \
	X(LOGS_AVAILABLE, CUDA_LOGS_AVAILABLE, internalError, WSI_NO_FIELDS)                  \
	X(LOGS_THRESHOLD, CUDA_LOGS_THRESHOLD_REACHED, internalError, WSI_NO_FIELDS)          \
	X(LOG_RULES, CUDA_LOGS_RULESET_CHANGED, cudaLogsRulesetChanged, WSI_LOG_RULES_FIELDS) \
	X(FAILED, INTERNAL_ERROR, internalError, WSI_NO_FIELDS)

#define WSI_NO_FIELDS(FIELD)
#define WSI_CONTEXT_FIELDS(FIELD) \
	FIELD(dev, device_id)     \
	FIELD(tid, host_tid)      \
	FIELD(context, context_id)
#define WSI_IMAGE_FIELDS(FIELD)      \
	FIELD(dev, device_id)        \
	FIELD(context, context_id)   \
	FIELD(module, module_handle) \
	FIELD(handle, module_handle) \
	FIELD(size, image_bytes)
#define WSI_FUNCTIONS_FIELDS(FIELD) \
	FIELD(dev, device_id)       \
	FIELD(count, n_functions)   \
	FIELD(context, context_id)  \
	FIELD(module, module_handle)
#define WSI_KERNEL_FIELDS(FIELD)                  \
	FIELD(dev, device_id)                     \
	FIELD(tid, grid.host_tid)                 \
	FIELD(context, grid.context_id)           \
	FIELD(module, grid.module_handle)         \
	FIELD(function, grid.function)            \
	FIELD(functionEntry, grid.function_entry) \
	FIELD(gridId, grid.id)
#define WSI_READY_FIELDS(FIELD)             \
	WSI_KERNEL_FIELDS(FIELD)            \
	FIELD(gridDim.x, grid.grid_dim.x)   \
	FIELD(gridDim.y, grid.grid_dim.y)   \
	FIELD(gridDim.z, grid.grid_dim.z)   \
	FIELD(blockDim.x, grid.block_dim.x) \
	FIELD(blockDim.y, grid.block_dim.y) \
	FIELD(blockDim.z, grid.block_dim.z) \
	FIELD(type, grid.type)              \
	FIELD(parentGridId, grid.parent_id) \
	FIELD(origin, grid.origin)
#define WSI_STOPPED_FIELDS(FIELD)                \
	FIELD(brokenDevicesMask, broken_devices) \
	FIELD(faultedDevicesMask, faulted_devices)
#define WSI_STEP_FIELDS(FIELD)               \
	FIELD(dev, device_id)                \
	FIELD(sm, sm_id)                     \
	FIELD(context, context_id)           \
	FIELD(originalWarpMask, asked_warps) \
	FIELD(finalWarpMask, stepped_warps)  \
	WSI_STOPPED_FIELDS(FIELD)
#define WSI_LOG_RULES_FIELDS(FIELD) FIELD(rulesetIndex, ruleset)

#endif
