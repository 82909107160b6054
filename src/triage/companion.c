/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of logs that lie beside dumps (docs/formats/companions.md): the kernel's Xid lines, NCCL's
 * lines about communicators, those of PyTorch's watchdog, and what lines of inference servers start
 * with. Each line is looked at by itself; what is not one of these is passed over. They are
 * evidence from files that anybody may have written, so they decide only where they are matched by
 * host and process, or by rank.
 */
#include "triage/internal.h"

enum {
	MAX_LINE = 4096, /* what a line says stands at its start */
};

/* Moves `text` behind the first `word` in it; false: it is not there, and nothing has changed. */
static bool behind(struct ws_str *text, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= text->len; i++) {
		if (memcmp(text->ptr + i, word, n) != 0)
			continue;
		*text = wsi_str_skip(*text, i + n);
		return true;
	}
	return false;
}

/* Takes a number off the start of a text; false: there is none, and nothing has changed. */
static bool take_number(struct ws_str *text, unsigned base, uint64_t *ret_number)
{
	size_t n = 0;
	uint64_t number = 0;
	while (n < text->len && n < 15) {
		unsigned digit = wsi_hex_digit(wsi_lower(text->ptr[n]));
		if (digit >= base)
			break;
		number = number * base + digit;
		n++;
	}
	if (n == 0)
		return false;
	*text = wsi_str_skip(*text, n);
	*ret_number = number;
	return true;
}

static bool take_char(struct ws_str *text, char c)
{
	if (!text->len || *text->ptr != c)
		return false;
	*text = wsi_str_skip(*text, 1);
	return true;
}

/* The number behind a word. */
static bool number_behind(struct ws_str text, const char *word, unsigned base, uint64_t *ret_number)
{
	return behind(&text, word) && take_number(&text, base, ret_number);
}

/* ---- kernel log: NVRM: Xid (PCI:0000:c1:00): 31, pid=2646416, name=python, ... ---- */

/* The word before "kernel:": the host, where a log has one. */
static struct ws_str host_of(struct ws_str line)
{
	struct ws_str rest = line;
	if (!behind(&rest, " kernel:"))
		return ws_str_of("");
	size_t end = (size_t)(rest.ptr - line.ptr) - strlen(" kernel:"), start = end;
	while (start > 0 && line.ptr[start - 1] != ' ')
		start--;
	return (struct ws_str){ line.ptr + start, end - start };
}

static bool take_xid(struct ws_triage *triage, uint32_t log, struct ws_str line)
{
	struct ws_str rest = line;
	uint64_t domain, bus, device;
	struct wsi_xid xid = { .log = log, .pid = WSI_NO_NUMBER };
	if (!behind(&rest, "NVRM: Xid (PCI:") || !take_number(&rest, 16, &domain) ||
	    !take_char(&rest, ':') || !take_number(&rest, 16, &bus) || !take_char(&rest, ':') ||
	    !take_number(&rest, 16, &device) || !behind(&rest, "): ") ||
	    !take_number(&rest, 10, &xid.number))
		return true;
	(void)number_behind(rest, "pid=", 10, &xid.pid);
	snprintf(xid.pci, sizeof xid.pci, "%02x:%02x", (unsigned)(bus & 0xff),
		 (unsigned)(device & 0xff));
	xid.host = host_of(line);
	return wsi_evidence_xid(triage, &xid);
}

/* ---- NCCL: HOST:PID:TID [0] NCCL INFO comm 0x... rank 3 nranks 8 cudaDev 3 busId c1000 ... ----
 */

/* The host and the process in front: the last such word before "[", as launchers put theirs first.
 */
static bool take_process(struct ws_str line, struct ws_str *ret_host, uint64_t *ret_pid)
{
	struct ws_str rest = line;
	if (!behind(&rest, " NCCL INFO "))
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
	return host > 0 && take_char(&numbers, ':') && take_number(&numbers, 10, ret_pid);
}

static bool take_nccl(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_member member = { .pid = 0 };
	if (!take_process(line, &member.host, &member.pid) ||
	    !number_behind(line, " rank ", 10, &member.rank) ||
	    !number_behind(line, " nranks ", 10, &member.n_ranks) || member.rank >= member.n_ranks)
		return true;
	return wsi_evidence_member(triage, &member);
}

/* ---- PyTorch: [rank3]:[E...] [PG ID 0 PG GUID 0(default_pg) Rank 3] ... last enqueued NCCL work:
 * 811, last completed NCCL work: 807. ---- */

static bool take_watchdog(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_count count = { .teller = WSI_WATCHDOG };
	struct ws_str group = line;
	if (!number_behind(line, "last enqueued NCCL work: ", 10, &count.enqueued) ||
	    !number_behind(line, "last completed NCCL work: ", 10, &count.completed))
		return true;
	/* of smaller groups the rank is that in the group */
	bool is_world = behind(&group, "(default_pg) Rank ") || behind(&group, "[PG 0 Rank ");
	if (!is_world || !take_number(&group, 10, &count.rank))
		return true;
	size_t all;
	return wsi_evidence_group(triage, ws_str_of(""), NULL, 0, &all) &&
	       wsi_evidence_count(triage, all, &count);
}

/* ---- inference servers: (Worker_DP0_TP1 pid=4021) ..., [2025-05-27 04:36:06 DP1 TP4] ... ---- */

bool wsi_server_label(struct ws_str text, char between, char label[WSI_LABEL_BYTES],
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
		if (digits.len == part.len || !take_number(&digits, 10, &number) || digits.len)
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

/* vLLM: "(VllmWorker rank=1 pid=4021)", "(VllmWorker TP1 pid=4021)", "(Worker_DP0_TP1 pid=4021)",
 * "(EngineCore_DP1 pid=4021)", which is the worker where it has only one. */
static bool take_vllm(struct ws_triage *triage, struct ws_str line)
{
	static const char *const names[] = { "VllmWorker ", "Worker_", "EngineCore_" };
	struct wsi_server_worker worker = { .rank = WSI_NO_NUMBER };
	char label[WSI_LABEL_BYTES] = "";
	struct ws_str inner = line, number;
	size_t i = 0;
	if (!behind(&inner, "("))
		return true;
	while (i < WSI_COUNT(names) && !wsi_str_begins(inner, names[i]))
		i++;
	if (i == WSI_COUNT(names) || !number_behind(inner, " pid=", 10, &worker.pid))
		return true;
	inner = wsi_str_skip(inner, strlen(names[i]));
	for (number = inner; *number.ptr != ' ';) /* there is one, before "pid=" */
		number = wsi_str_skip(number, 1);
	inner.len -= number.len;
	number = inner;
	if (behind(&number, "rank=") && take_number(&number, 10, &worker.rank))
		snprintf(label, sizeof label, "rank %" PRIu64, worker.rank);
	else if (!wsi_server_label(inner, '_', label, &worker.rank))
		return true;
	worker.label = ws_str_of(label);
	return wsi_evidence_worker(triage, &worker);
}

/* SGLang: only a failure is of use, as these lines have no process. */
static bool take_sglang(struct ws_triage *triage, struct ws_str line)
{
	struct wsi_server_worker worker = { .pid = WSI_NO_NUMBER, .has_failed = true };
	char label[WSI_LABEL_BYTES];
	struct ws_str rest = line;
	if (!behind(&rest, "] Scheduler hit an exception"))
		return true;
	struct ws_str front = { line.ptr,
				line.len - rest.len - strlen("] Scheduler hit an exception") };
	size_t from = front.len;
	while (from > 0 && front.ptr[from - 1] != ':') /* of the time before it */
		from--;
	front = wsi_str_skip(front, from);
	uint64_t seconds;
	if (!take_number(&front, 10, &seconds) || !take_char(&front, ' ') ||
	    !wsi_server_label(front, ' ', label, &worker.rank))
		return true;
	worker.label = ws_str_of(label);
	return wsi_evidence_worker(triage, &worker);
}

enum ws_status ws_triage_log(struct ws_triage *triage, uint32_t log, const char *line, size_t len,
			     struct ws_error *err)
{
	struct ws_str text = { line, wsi_min_u64(len, MAX_LINE) };
	if (take_xid(triage, log, text) && take_nccl(triage, text) && take_watchdog(triage, text) &&
	    take_vllm(triage, text) && take_sglang(triage, text))
		return WS_OK;
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "lines of logs");
}
