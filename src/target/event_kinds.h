/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events and the debugger API's names of them: X(WS_EVENT_..., CUDBG_EVENT_...). */
#ifndef WSI_TARGET_EVENT_KINDS_H
#define WSI_TARGET_EVENT_KINDS_H

#define WSI_EVENT_KINDS(X)                             \
	X(CONTEXT_CREATED, CTX_CREATE)                 \
	X(CONTEXT_DESTROYED, CTX_DESTROY)              \
	X(CONTEXT_PUSHED, CTX_PUSH)                    \
	X(CONTEXT_POPPED, CTX_POP)                     \
	X(MODULE_LOADED, ELF_IMAGE_LOADED)             \
	X(MODULE_UNLOADED, ELF_IMAGE_UNLOADED)         \
	X(FUNCTIONS_LOADED, FUNCTIONS_LOADED)          \
	X(GRID_READY, KERNEL_READY)                    \
	X(GRID_FINISHED, KERNEL_FINISHED)              \
	X(STOPPED, ALL_DEVICES_SUSPENDED)              \
	X(STEP_DONE, SINGLE_STEP_COMPLETE)             \
	X(ATTACHED, ATTACH_COMPLETE)                   \
	X(DETACHED, DETACH_COMPLETE)                   \
	X(LOGS_AVAILABLE, CUDA_LOGS_AVAILABLE)         \
	X(LOGS_THRESHOLD, CUDA_LOGS_THRESHOLD_REACHED) \
	X(LOG_RULES, CUDA_LOGS_RULESET_CHANGED)        \
	X(FAILED, INTERNAL_ERROR)

#endif
