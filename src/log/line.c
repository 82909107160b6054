/* SPDX-License-Identifier: Apache-2.0 */
/* Reading lines: the driver's Xids, NCCL's, PyTorch's watchdog, workers of servers. See line.h. */
#include "log/line.h"

#include "log/cursor.h"

/* ---- kernel log: NVRM: Xid (PCI:0000:c1:00): 31, pid=2646416, name=python, ... ---- */

/* The word before "kernel:": the host, where a log has one. */
static struct ws_str line_host_of(struct ws_str line)
{
	struct ws_str rest = line;
	if (!wsi_behind(&rest, " kernel:"))
		return ws_str_of("");
	size_t end = (size_t)(rest.ptr - line.ptr) - strlen(" kernel:"), start = end;
	while (start > 0 && line.ptr[start - 1] != ' ')
		start--;
	return (struct ws_str){ line.ptr + start, end - start };
}

bool wsi_log_xid(struct ws_str line, struct wsi_xid *ret_xid)
{
	struct ws_str rest = line;
	uint64_t domain, bus, device;
	struct wsi_xid xid = { .pid = WSI_NO_NUMBER };
	if (!wsi_behind(&rest, "NVRM: Xid ("))
		return false;
	(void)wsi_take_word(&rest, "PCI:"); /* old drivers write none */
	if (!wsi_take_number(&rest, 16, &domain) || !wsi_take_char(&rest, ':') ||
	    !wsi_take_number(&rest, 16, &bus) || !wsi_take_char(&rest, ':') ||
	    !wsi_take_number(&rest, 16, &device) || !wsi_behind(&rest, "): ") ||
	    !wsi_take_number(&rest, 10, &xid.number))
		return false;
	(void)wsi_log_number_behind(rest, "pid=", 10, &xid.pid);
	xid.domain = (uint32_t)domain;
	xid.bus = (uint32_t)bus & 0xff;
	xid.device = (uint32_t)device & 0xff;
	xid.host = line_host_of(line);
	xid.rest = rest;
	*ret_xid = xid;
	return true;
}

/* ---- NCCL: HOST:PID:TID [0] NCCL INFO comm 0x... rank 3 nranks 8 cudaDev 3 busId c1000 ... ----
 */

/* The host and the process in front: the last such word before "[", as launchers put theirs first.
 */
static bool take_line_process(struct ws_str line, struct ws_str *ret_host, uint64_t *ret_pid)
{
	struct ws_str rest = line;
	if (!wsi_behind(&rest, " NCCL INFO "))
		return false;
	size_t end = (size_t)(rest.ptr - line.ptr) - strlen(" NCCL INFO ");
	while (end > 0 && line.ptr[end - 1] != '[')
		end--;
	while (end > 0 && (line.ptr[end - 1] == '[' || line.ptr[end - 1] == ' '))
		end--;
	size_t start = end;
	while (start > 0 && line.ptr[start - 1] != ' ')
		start--;
	struct ws_str word = { line.ptr + start, end - start };
	size_t host = 0;
	while (host < word.len && word.ptr[host] != ':')
		host++;
	struct ws_str numbers = wsi_str_skip(word, host);
	*ret_host = (struct ws_str){ word.ptr, host };
	return host > 0 && wsi_take_char(&numbers, ':') && wsi_take_number(&numbers, 10, ret_pid);
}

bool wsi_log_member(struct ws_str line, struct wsi_comm_member *ret_member)
{
	return take_line_process(line, &ret_member->host, &ret_member->pid) &&
	       wsi_log_number_behind(line, " rank ", 10, &ret_member->rank) &&
	       wsi_log_number_behind(line, " nranks ", 10, &ret_member->n_ranks) &&
	       ret_member->rank < ret_member->n_ranks;
}

/* ---- PyTorch: [rank3]:[E...] [PG ID 0 PG GUID 0(default_pg) Rank 3] ... last enqueued NCCL work:
 * 811, last completed NCCL work: 807. ---- */

bool wsi_log_watchdog(struct ws_str line, struct wsi_watchdog *ret_watchdog)
{
	struct ws_str group = line;
	if (!wsi_log_number_behind(line, "last enqueued NCCL work: ", 10,
				   &ret_watchdog->enqueued) ||
	    !wsi_log_number_behind(line, "last completed NCCL work: ", 10,
				   &ret_watchdog->completed))
		return false;
	/* of smaller groups the rank is that in the group */
	bool is_world =
		wsi_behind(&group, "(default_pg) Rank ") || wsi_behind(&group, "[PG 0 Rank ");
	return is_world && wsi_take_number(&group, 10, &ret_watchdog->rank);
}

/* ---- inference servers: (Worker_DP0_TP1 pid=4021) ..., [2025-05-27 04:36:06 DP1 TP4] ... ---- */

bool wsi_log_server_label(struct ws_str text, char between, char label[WSI_LABEL_BYTES],
			  uint64_t *ret_rank)
{
	static const char *const counting[] = { "DP", "PP", "TP" };
	size_t len = 0, n_counting = 0;
	*ret_rank = WSI_NO_NUMBER;
	while (text.len) {
		struct ws_str part = { text.ptr, 0 };
		while (part.len < text.len && text.ptr[part.len] != between)
			part.len++;
		text = wsi_str_skip(text, part.len + (part.len < text.len));
		struct ws_str digits = part;
		uint64_t number;
		while (digits.len && *digits.ptr >= 'A' && *digits.ptr <= 'Z')
			digits = wsi_str_skip(digits, 1);
		if (digits.len == part.len || !wsi_take_number(&digits, 10, &number) || digits.len)
			return false;
		for (size_t i = 0; i < WSI_COUNT(counting); i++)
			if (wsi_str_begins(part, counting[i]) && n_counting++ == 0)
				*ret_rank = number;
		int added = snprintf(label + len, WSI_LABEL_BYTES - len, "%s%.*s", len ? " " : "",
				     (int)part.len, part.ptr);
		if ((len += (size_t)added) >= WSI_LABEL_BYTES)
			return false;
	}
	if (n_counting != 1)
		*ret_rank = WSI_NO_NUMBER;
	return len > 0;
}

/* "(VllmWorker rank=1 pid=4021)", "(VllmWorker TP1 pid=4021)", "(Worker_DP0_TP1 pid=4021)",
 * "(EngineCore_DP1 pid=4021)", which is the worker where it has only one. */
bool wsi_log_worker(struct ws_str line, struct wsi_server_worker *ret_worker)
{
	static const char *const names[] = { "VllmWorker ", "Worker_", "EngineCore_" };
	struct wsi_server_worker worker = { .rank = WSI_NO_NUMBER };
	struct ws_str inner = line, number;
	size_t i = 0;
	if (!wsi_behind(&inner, "("))
		return false;
	while (i < WSI_COUNT(names) && !wsi_str_begins(inner, names[i]))
		i++;
	if (i == WSI_COUNT(names) || !wsi_log_number_behind(inner, " pid=", 10, &worker.pid))
		return false;
	inner = wsi_str_skip(inner, strlen(names[i]));
	for (number = inner; *number.ptr != ' ';) /* there is one, before "pid=" */
		number = wsi_str_skip(number, 1);
	inner.len -= number.len;
	number = inner;
	if (wsi_behind(&number, "rank=") && wsi_take_number(&number, 10, &worker.rank))
		snprintf(worker.label, sizeof worker.label, "rank %" PRIu64, worker.rank);
	else if (!wsi_log_server_label(inner, '_', worker.label, &worker.rank))
		return false;
	*ret_worker = worker;
	return true;
}

bool wsi_log_failure(struct ws_str line, struct wsi_server_worker *ret_worker)
{
	struct wsi_server_worker worker = { .pid = WSI_NO_NUMBER, .has_failed = true };
	struct ws_str rest = line;
	if (!wsi_behind(&rest, "] Scheduler hit an exception"))
		return false;
	struct ws_str front = { line.ptr,
				line.len - rest.len - strlen("] Scheduler hit an exception") };
	size_t from = front.len;
	while (from > 0 && front.ptr[from - 1] != ':') /* of the time before it */
		from--;
	front = wsi_str_skip(front, from);
	uint64_t seconds;
	if (!wsi_take_number(&front, 10, &seconds) || !wsi_take_char(&front, ' ') ||
	    !wsi_log_server_label(front, ' ', worker.label, &worker.rank))
		return false;
	*ret_worker = worker;
	return true;
}
