/* SPDX-License-Identifier: Apache-2.0 */
/* What lines of the other kinds mean. */
#include "log/topic.h"

#define ROW(kind, code, ...)                 \
	{                                    \
		WS_LOG_##kind,               \
		{                            \
			code, 0, __VA_ARGS__ \
		}                            \
	}
#define FAULT WS_LOG_ROLE_FAULT, WSI_ADVICE_KERNEL
#define WAIT WS_LOG_ROLE_WAIT, WSI_ADVICE_HANG

static const struct {
	enum ws_log_kind kind;
	struct wsi_log_topic topic;
} table[] = {
	ROW(SXID, 0, WS_LOG_ROLE_HARDWARE, WSI_ADVICE_LINK, "error of an NVSwitch",
	    "An NVSwitch, or a link to one, reported an error; fatal ones take down jobs on all "
	    "GPUs "
	    "behind it",
	    "It does not say which end of a link is at fault"),
	ROW(LIBRARY, 0, WS_LOG_ROLE_CALL, WSI_ADVICE_CALL, "a call of a CUDA library failed",
	    "A library (cuBLAS, cuDNN, ...) could not do its work: often for want of memory, or "
	    "because an earlier kernel failed",
	    "It is not a sign that the library itself is wrong"),
	ROW(ASSERT, 0, FAULT, "assertion in a kernel failed",
	    "A kernel checked a condition, and it did not hold: mostly an index out of its range. "
	    "Each thread that fails prints a line",
	    "The thread that is printed first need not be the first that failed; the values of the "
	    "expression are not in the log"),
	ROW(EXCEPTION, 0, FAULT, "device exception", NULL, NULL),
	ROW(SANITIZER, 0, FAULT, "compute-sanitizer found an error",
	    "compute-sanitizer names the access, and below it the kernel, the thread and the "
	    "address; that is where the program is wrong",
	    NULL),
	ROW(WATCHDOG, 0, WAIT, "collective operation timed out",
	    "Ranks waited for others in a collective operation until PyTorch gave up",
	    "The ranks that report it are mostly the ones that arrived: the guilty one is a rank "
	    "that did not, and may have printed nothing. It does not say that NCCL or the network "
	    "is wrong"),
	ROW(WATCHDOG, 1, WAIT, "PyTorch's watchdog itself was stuck",
	    "The thread that watches collectives did not come on for minutes: a CUDA call in it "
	    "blocks, or Python holds its lock",
	    "It does not say which kernel or rank holds it up"),
	ROW(WATCHDOG, 2, WS_LOG_ROLE_AFTER, WSI_ADVICE_EARLIER, "PyTorch ended the process",
	    "An error or time-out came before, and PyTorch ends the process lest data go wrong",
	    "It is not the cause"),
	ROW(NCCL, 1, WS_LOG_ROLE_WAIT, WSI_ADVICE_NETWORK, "NCCL lost a peer",
	    "A connection to another rank ended: that rank died first, or the network failed",
	    "The rank that reports it is mostly not the one that failed"),
	ROW(NCCL, 2, WS_LOG_ROLE_UNKNOWN, WSI_ADVICE_KERNEL, "a CUDA call within NCCL failed",
	    "NCCL called CUDA and got an error: mostly that of a kernel that failed before, "
	    "whosever it was",
	    "It does not say that NCCL is wrong"),
	ROW(NCCL, 3, WS_LOG_ROLE_CALL, WSI_ADVICE_NETWORK, "a system call within NCCL failed",
	    "The network, shared memory (/dev/shm) or a limit of the system refused something",
	    "No kernel failed, so CUDA leaves no dump of it"),
	ROW(NCCL, 4, WS_LOG_ROLE_UNKNOWN, WSI_ADVICE_NETWORK, "internal error of NCCL", NULL, NULL),
	ROW(DUMP, 0, WS_LOG_ROLE_NOTE, WSI_ADVICE_DUMP, "the driver wrote a dump", NULL, NULL),
	ROW(AMD, 0, WS_LOG_ROLE_FAULT, WSI_ADVICE_AMD, "memory access fault of an AMD GPU",
	    "A kernel on an AMD GPU used an address that is not mapped",
	    "Warpscope reads dumps of NVIDIA GPUs only"),
};

const struct wsi_log_topic *wsi_other_topic(enum ws_log_kind kind, uint32_t code)
{
	const struct wsi_log_topic *first = &table[0].topic; /* of the kind */
	for (size_t i = WSI_COUNT(table); i-- > 0;) {
		if (table[i].kind != kind)
			continue;
		first = &table[i].topic;
		if (first->code == code)
			break;
	}
	return first;
}
