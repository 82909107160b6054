/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of logs that lie beside dumps (docs/formats/companions.md): the kernel's Xid lines, NCCL's
 * lines about communicators, and those of PyTorch's watchdog. Each line is looked at by itself;
 * what is not one of these is passed over. They are evidence from files that anybody may have
 * written, so they decide only where they are matched by host and process, or by rank.
 */
#include "triage/internal.h"

enum {
	MAX_FACTS = 1 << 18, /* of each kind; later ones are passed over */
	MAX_LINE = 4096,     /* what a line says stands at its start */
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

/* Takes a number off the start of a text. */
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
	*text = wsi_str_skip(*text, n);
	*ret_number = number;
	return n > 0;
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

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "lines of logs");
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

static enum ws_status take_xid(struct ws_triage *triage, uint32_t log, struct ws_str line,
			       struct ws_error *err)
{
	struct ws_str rest = line;
	uint64_t domain, bus, device;
	struct wsi_xid xid = { .log = log, .pid = WSI_NO_NUMBER };
	if (!behind(&rest, "NVRM: Xid (PCI:") || !take_number(&rest, 16, &domain) ||
	    !take_char(&rest, ':') || !take_number(&rest, 16, &bus) || !take_char(&rest, ':') ||
	    !take_number(&rest, 16, &device) || !behind(&rest, "): ") ||
	    !take_number(&rest, 10, &xid.number))
		return WS_OK;
	(void)number_behind(rest, "pid=", 10, &xid.pid);
	snprintf(xid.pci, sizeof xid.pci, "%02x:%02x", (unsigned)(bus & 0xff),
		 (unsigned)(device & 0xff));
	xid.host = wsi_keep(triage, host_of(line));
	struct wsi_evidence *e = &triage->evidence;
	if (e->n_xids >= MAX_FACTS)
		return WS_OK;
	if (!wsi_grow(&e->xids, &e->cap_xids, e->n_xids, sizeof *e->xids, MAX_FACTS))
		return no_memory(err);
	e->xids[e->n_xids++] = xid;
	return WS_OK;
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

static enum ws_status take_nccl(struct ws_triage *triage, struct ws_str line, struct ws_error *err)
{
	struct wsi_member member = { .pid = 0 };
	struct ws_str host;
	if (!take_process(line, &host, &member.pid) ||
	    !number_behind(line, " rank ", 10, &member.rank) ||
	    !number_behind(line, " nranks ", 10, &member.n_ranks) || member.rank >= member.n_ranks)
		return WS_OK;
	struct wsi_evidence *e = &triage->evidence;
	if (e->n_members >= MAX_FACTS)
		return WS_OK;
	if (!wsi_grow(&e->members, &e->cap_members, e->n_members, sizeof *e->members, MAX_FACTS))
		return no_memory(err);
	member.host = wsi_keep(triage, host);
	e->members[e->n_members++] = member;
	return WS_OK;
}

/* ---- PyTorch: [rank3]:[E...] [PG ID 0 PG GUID 0(default_pg) Rank 3] ... last enqueued NCCL work:
 * 811, last completed NCCL work: 807. ---- */

static enum ws_status take_watchdog(struct ws_triage *triage, struct ws_str line,
				    struct ws_error *err)
{
	struct wsi_count count;
	struct ws_str group = line;
	if (!number_behind(line, "last enqueued NCCL work: ", 10, &count.enqueued) ||
	    !number_behind(line, "last completed NCCL work: ", 10, &count.completed))
		return WS_OK;
	/* of smaller groups the rank is that in the group */
	bool is_world = behind(&group, "(default_pg) Rank ") || behind(&group, "[PG 0 Rank ");
	if (!is_world || !take_number(&group, 10, &count.rank))
		return WS_OK;
	struct wsi_evidence *e = &triage->evidence;
	if (e->n_counts >= MAX_FACTS)
		return WS_OK;
	if (!wsi_grow(&e->counts, &e->cap_counts, e->n_counts, sizeof *e->counts, MAX_FACTS))
		return no_memory(err);
	e->counts[e->n_counts++] = count;
	return WS_OK;
}

enum ws_status ws_triage_log(struct ws_triage *triage, uint32_t log, const char *line, size_t len,
			     struct ws_error *err)
{
	struct ws_str text = { line, wsi_min_u64(len, MAX_LINE) };
	enum ws_status st = take_xid(triage, log, text, err);
	if (st == WS_OK)
		st = take_nccl(triage, text, err);
	return st == WS_OK ? take_watchdog(triage, text, err) : st;
}

void wsi_evidence_fini(struct wsi_evidence *evidence)
{
	wsi_free(evidence->xids);
	wsi_free(evidence->members);
	wsi_free(evidence->counts);
}

/* ---- what they say of a dump ---- */

const struct wsi_member *wsi_member_of(const struct ws_triage *triage,
				       const struct wsi_entry *entry)
{
	const struct wsi_member *best = NULL;
	const struct wsi_evidence *e = &triage->evidence;
	bool is_unsure = false;
	for (size_t i = 0; i < e->n_members; i++) {
		const struct wsi_member *one = &e->members[i];
		if (one->pid != entry->pid || !ws_str_equal(one->host, entry->host))
			continue;
		if (!best || one->n_ranks > best->n_ranks) {
			best = one;
			is_unsure = false;
		} else if (one->n_ranks == best->n_ranks && one->rank != best->rank) {
			is_unsure = true; /* two communicators of one size: neither is the world */
		}
	}
	return is_unsure ? NULL : best;
}

/* Xids that follow on the end of a process, and say nothing of what ended it. */
static bool is_after_effect(uint64_t number)
{
	return number == 43 || number == 45;
}

const struct wsi_xid *wsi_xid_of(const struct ws_triage *triage, const struct wsi_entry *entry)
{
	const struct wsi_evidence *e = &triage->evidence;
	for (size_t i = 0; i < e->n_xids; i++) {
		const struct wsi_xid *one = &e->xids[i];
		bool same_host = one->host.len && ws_str_equal(one->host, entry->host);
		bool same_process = entry->pid != WSI_NO_NUMBER && one->pid == entry->pid;
		bool other_process = one->pid != WSI_NO_NUMBER && entry->pid != WSI_NO_NUMBER &&
				     one->pid != entry->pid;
		if (!is_after_effect(one->number) && !other_process &&
		    (same_host || (!one->host.len && same_process)) &&
		    ws_str_equal(ws_str_of(one->pci), entry->pci))
			return one;
	}
	return NULL;
}

const struct wsi_count *wsi_count_of(const struct ws_triage *triage, int64_t rank)
{
	const struct wsi_evidence *e = &triage->evidence;
	for (size_t i = e->n_counts; rank >= 0 && i > 0; i--) /* the last one said is the newest */
		if (e->counts[i - 1].rank == (uint64_t)rank)
			return &e->counts[i - 1];
	return NULL;
}
