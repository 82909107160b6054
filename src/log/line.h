/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of logs that tell of GPUs (docs/formats/companions.md): the kernel's Xid lines, NCCL's
 * lines about communicators, those of PyTorch's watchdog, and what lines of inference servers start
 * with. Each line is looked at by itself, and anybody may have written it. Texts lie in the line.
 */
#ifndef WSI_LOG_LINE_H
#define WSI_LOG_LINE_H

#include "base/base.h"

#define WSI_NO_NUMBER UINT64_MAX

enum {
	WSI_LOG_LINE = 4096, /* what a line says stands at its start */
	WSI_LABEL_BYTES = 64,
};

/* What the driver told the kernel of a GPU. */
struct wsi_xid {
	uint64_t number, pid; /* pid: WSI_NO_NUMBER */
	uint32_t domain, bus, device;
	struct ws_str host; /* empty: the log does not say */
	struct ws_str rest; /* behind the number */
};
bool wsi_log_xid(struct ws_str line, struct wsi_xid *ret_xid);

/* A process in a communicator of NCCL. */
struct wsi_comm_member {
	struct ws_str host; /* empty: only an address is known */
	uint64_t pid, rank, n_ranks;
};
bool wsi_log_member(struct ws_str line, struct wsi_comm_member *ret_member);

/* How far a rank of all came, as PyTorch's watchdog says. */
struct wsi_watchdog {
	uint64_t rank, enqueued, completed;
};
bool wsi_log_watchdog(struct ws_str line, struct wsi_watchdog *ret_watchdog);

/* A worker of an inference server, as the lines of its log start. */
struct wsi_server_worker {
	char label[WSI_LABEL_BYTES]; /* "TP1", "DP0 TP1" */
	uint64_t pid, rank;          /* WSI_NO_NUMBER: the label does not say */
	bool has_failed;             /* a line of its own says so */
};
/* vLLM. */
bool wsi_log_worker(struct ws_str line, struct wsi_server_worker *ret_worker);
/* SGLang: only of a failure, as its lines have no process. */
bool wsi_log_failure(struct ws_str line, struct wsi_server_worker *ret_worker);

/* Parts such as "TP1" of a text, with `between` between them, as a label: "DP0 TP1". The rank is
 * known if there is one part that counts processes. False: it is no such text. */
bool wsi_log_server_label(struct ws_str text, char between, char label[WSI_LABEL_BYTES],
			  uint64_t *ret_rank);

#endif
