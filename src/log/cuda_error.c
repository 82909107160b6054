/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What errors of CUDA calls mean: those that people find in logs. Numbers, names and messages:
 * [measured: cudaGetErrorName() and cudaGetErrorString() of CUDA 13.0; public doc: CUDA Driver
 * API]. Of 46, whose message has changed, and of 222, a part. Sentences are our own.
 * tests/unit/test_log.c holds the names against those of the software GPU.
 */
#include "log/topic.h"

#define FAULT WS_LOG_ROLE_FAULT, WSI_ADVICE_KERNEL
#define BROKEN WS_LOG_ROLE_HARDWARE, WSI_ADVICE_HARDWARE
#define LINK WS_LOG_ROLE_HARDWARE, WSI_ADVICE_LINK
#define BUILD WS_LOG_ROLE_CALL, WSI_ADVICE_BUILD
#define CALL WS_LOG_ROLE_CALL, WSI_ADVICE_CALL

/* Errors after which every call of the process returns the same. */
#define LATE                                                                                      \
	"The call that reported it is not the one that failed: kernels run asynchronously, and "  \
	"after the first every call reports the same. The kernel, line or stack in the log need " \
	"not be the guilty one"
#define INTACT "No kernel failed, so CUDA leaves no dump of it. The program can go on after it"

static const struct wsi_cuda_error table[] = {
	{ { 1, 0, CALL, "invalid argument", "A call was given a value that it does not accept",
	    INTACT },
	  "cudaErrorInvalidValue",
	  "CUDA_ERROR_INVALID_VALUE",
	  false },
	{ { 2, 0, WS_LOG_ROLE_CALL, WSI_ADVICE_MEMORY, "out of memory",
	    "There was not enough GPU memory for one request, counting what other processes and "
	    "caches hold",
	    INTACT },
	  "cudaErrorMemoryAllocation",
	  "CUDA_ERROR_OUT_OF_MEMORY",
	  false },
	{ { 3, 0, CALL, "initialization error",
	    "CUDA could not start in this process; often it was forked after CUDA had started",
	    INTACT },
	  "cudaErrorInitializationError",
	  "CUDA_ERROR_NOT_INITIALIZED",
	  false },
	{ { 35, 0, BUILD, "CUDA driver version is insufficient for CUDA runtime version",
	    "The driver is older than the CUDA that the program was built with", INTACT },
	  "cudaErrorInsufficientDriver",
	  NULL,
	  true },
	{ { 46, 0, WS_LOG_ROLE_CALL, WSI_ADVICE_MEMORY, "busy or unavailable",
	    "The GPU is taken by another process (exclusive mode), or must be reset", INTACT },
	  "cudaErrorDevicesUnavailable",
	  "CUDA_ERROR_DEVICE_UNAVAILABLE",
	  false },
	{ { 98, 0, BUILD, "invalid device function",
	    "The program has no code of that kernel for this GPU", INTACT },
	  "cudaErrorInvalidDeviceFunction",
	  NULL,
	  false },
	{ { 100, 0, WS_LOG_ROLE_CALL, WSI_ADVICE_DRIVER, "no CUDA-capable device is detected",
	    "No GPU is visible: CUDA_VISIBLE_DEVICES, the container, or a GPU that is lost (look "
	    "for Xid 79)",
	    INTACT },
	  "cudaErrorNoDevice",
	  "CUDA_ERROR_NO_DEVICE",
	  true },
	{ { 101, 0, CALL, "invalid device ordinal",
	    "The program asked for a GPU that it does not have; often a wrong local rank", INTACT },
	  "cudaErrorInvalidDevice",
	  "CUDA_ERROR_INVALID_DEVICE",
	  false },
	{ { 209, 0, BUILD, "no kernel image is available for execution on the device",
	    "The program has no code for the architecture of this GPU", INTACT },
	  "cudaErrorNoKernelImageForDevice",
	  "CUDA_ERROR_NO_BINARY_FOR_GPU",
	  true },
	{ { 214, 0, BROKEN, "uncorrectable ECC error encountered",
	    "Memory of the GPU lost data that ECC could not restore",
	    "No kernel can cause it, so no dump explains it" },
	  "cudaErrorECCUncorrectable",
	  "CUDA_ERROR_ECC_UNCORRECTABLE",
	  true },
	{ { 218, 0, BUILD, "a PTX JIT compilation failed", NULL, INTACT },
	  "cudaErrorInvalidPtx",
	  "CUDA_ERROR_INVALID_PTX",
	  true },
	{ { 220, 0, LINK, "uncorrectable NVLink error detected during the execution",
	    "A connection between GPUs lost data",
	    "It does not say which end is at fault; no dump explains it" },
	  "cudaErrorNvlinkUncorrectable",
	  "CUDA_ERROR_NVLINK_UNCORRECTABLE",
	  true },
	{ { 222, 0, BUILD, "the provided PTX was compiled with an unsupported toolchain",
	    "The driver is older than the compiler of the program's PTX", INTACT },
	  "cudaErrorUnsupportedPtxVersion",
	  "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	  true },
	{ { 226, 0, FAULT, "Invalid access of peer GPU memory over nvlink or a hardware error",
	    "The GPU kept to this program what was a wrong access to the memory of another GPU, or "
	    "an error of hardware",
	    "It does not say which of both it was; the kernel log may" },
	  "cudaErrorContained",
	  "CUDA_ERROR_CONTAINED",
	  true },
	{ { 304, 0, CALL, "OS call failed or operation not supported on this OS", NULL, INTACT },
	  "cudaErrorOperatingSystem",
	  "CUDA_ERROR_OPERATING_SYSTEM",
	  false },
	{ { 400, 0, CALL, "invalid resource handle",
	    "A stream, event or the like belongs to another GPU or process, or was destroyed",
	    INTACT },
	  "cudaErrorInvalidResourceHandle",
	  "CUDA_ERROR_INVALID_HANDLE",
	  false },
	{ { 700, 0, FAULT, "an illegal memory access was encountered",
	    "A kernel used an address outside all memory that it may use: an index past the end, a "
	    "wrong stride, memory that was freed, a pointer of the host",
	    LATE },
	  "cudaErrorIllegalAddress",
	  "CUDA_ERROR_ILLEGAL_ADDRESS",
	  true },
	{ { 701, 0, CALL, "too many resources requested for launch",
	    "A launch wants more registers, shared memory or threads than a block can have",
	    INTACT },
	  "cudaErrorLaunchOutOfResources",
	  "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	  false },
	{ { 702, 0, FAULT, "the launch timed out and was terminated",
	    "A kernel ran longer than the watchdog of the display allows", LATE },
	  "cudaErrorLaunchTimeout",
	  "CUDA_ERROR_LAUNCH_TIMEOUT",
	  true },
	{ { 710, 0, FAULT, "device-side assert triggered",
	    "An assertion in a kernel failed. The program's standard error has a line with the "
	    "expression, the block and the thread",
	    LATE },
	  "cudaErrorAssert",
	  "CUDA_ERROR_ASSERT",
	  true },
	{ { 714, 0, FAULT, "hardware stack error",
	    "The call stack of a kernel overflowed or was damaged: mostly deep recursion", LATE },
	  "cudaErrorHardwareStackError",
	  "CUDA_ERROR_HARDWARE_STACK_ERROR",
	  false },
	{ { 715, 0, FAULT, "an illegal instruction was encountered",
	    "A kernel met an instruction that this GPU cannot execute, or operands that it does "
	    "not "
	    "accept: a descriptor, a mask of lanes, a damaged function pointer",
	    LATE },
	  "cudaErrorIllegalInstruction",
	  "CUDA_ERROR_ILLEGAL_INSTRUCTION",
	  true },
	{ { 716, 0, FAULT, "misaligned address",
	    "A kernel accessed memory at an address that is no multiple of the access's width: a "
	    "cast to a vector type, or an odd stride or offset",
	    LATE },
	  "cudaErrorMisalignedAddress",
	  "CUDA_ERROR_MISALIGNED_ADDRESS",
	  false },
	{ { 717, 0, FAULT, "operation not supported on global/shared address space",
	    "An operation for one kind of memory was given an address of another", LATE },
	  "cudaErrorInvalidAddressSpace",
	  "CUDA_ERROR_INVALID_ADDRESS_SPACE",
	  true },
	{ { 718, 0, FAULT, "invalid program counter",
	    "A kernel jumped to where no code is: a bad function pointer or return address", LATE },
	  "cudaErrorInvalidPc",
	  "CUDA_ERROR_INVALID_PC",
	  false },
	{ { 719, 0, FAULT, "unspecified launch failure",
	    "A kernel failed in a way that has no error of its own, such as a trap, or an access "
	    "outside shared or local memory. Only a dump tells which",
	    LATE },
	  "cudaErrorLaunchFailure",
	  "CUDA_ERROR_LAUNCH_FAILED",
	  true },
	{ { 720, 0, CALL, "too many blocks in cooperative launch",
	    "The blocks of a cooperative launch do not fit on the GPU at once", INTACT },
	  "cudaErrorCooperativeLaunchTooLarge",
	  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	  true },
	{ { 721, 0, FAULT, "tensor memory not completely freed",
	    "A block of a kernel ended without releasing its tensor memory", LATE },
	  "cudaErrorTensorMemoryLeak",
	  "CUDA_ERROR_TENSOR_MEMORY_LEAK",
	  false },
	{ { 801, 0, CALL, "operation not supported", NULL, INTACT },
	  "cudaErrorNotSupported",
	  "CUDA_ERROR_NOT_SUPPORTED",
	  false },
	{ { 802, 0, WS_LOG_ROLE_HARDWARE, WSI_ADVICE_LINK, "system not yet initialized",
	    "With NVSwitches the fabric manager must run before CUDA; it does not, or has failed",
	    NULL },
	  "cudaErrorSystemNotReady",
	  "CUDA_ERROR_SYSTEM_NOT_READY",
	  true },
	{ { 803, 0, BUILD, "system has unsupported display driver / cuda driver combination",
	    "The library libcuda.so.1 is not of the driver that is loaded; often a container",
	    INTACT },
	  "cudaErrorSystemDriverMismatch",
	  "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	  true },
	{ { 900, 0, CALL, "operation not permitted when stream is capturing",
	    "A call that cannot be in a CUDA graph was made while one was captured", INTACT },
	  "cudaErrorStreamCaptureUnsupported",
	  "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	  true },
	{ { 901, 0, CALL, "operation failed due to a previous error during capture", NULL, INTACT },
	  "cudaErrorStreamCaptureInvalidated",
	  "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	  true },
	{ { 999, 0, WS_LOG_ROLE_UNKNOWN, WSI_ADVICE_DRIVER, "unknown error",
	    "The driver has no words for it; the kernel log of the same time may have", LATE },
	  "cudaErrorUnknown",
	  "CUDA_ERROR_UNKNOWN",
	  false },
};

const struct wsi_log_topic wsi_cuda_topic_any = {
	.role = WS_LOG_ROLE_UNKNOWN,
	.advice = WSI_ADVICE_CALL,
	.title = "no explanation in this version",
	.means = "A CUDA call failed with an error that this version does not know by its name or "
		 "message",
	.cannot = "It cannot be told from the line whether a kernel failed, or one call only",
};

const struct wsi_cuda_error *wsi_log_cuda_error_at(size_t index)
{
	return index < WSI_COUNT(table) ? &table[index] : NULL;
}

const struct wsi_cuda_error *wsi_log_cuda_error_find(uint64_t number)
{
	for (size_t i = 0; i < WSI_COUNT(table); i++)
		if (table[i].topic.code == number)
			return &table[i];
	return NULL;
}
