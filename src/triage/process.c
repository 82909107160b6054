/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record that `warpscope exec` keeps beside dumps: which process was which rank
 * (docs/schema/warpscope-exec-1.json). A line that is damaged, or of something else, tells nothing.
 */
#include "triage/internal.h"

#include "text/json_read.h"

enum { MAX_PROCESSES = 1 << 20 };

struct process {
	struct ws_str host;
	uint64_t pid, started;
	uint64_t rank, n_ranks, attempt; /* WSI_NO_NUMBER: not known */
	size_t line;                     /* later ones of one process replace earlier ones */
};

struct ws_triage_processes {
	struct wsi_arena arena;
	struct process *item; /* owned; by host, process and line once it was asked */
	size_t n, cap;
	bool is_sorted;
};

enum ws_status ws_triage_processes_create(struct ws_triage_processes **ret_processes,
					  struct ws_error *err)
{
	*ret_processes = wsi_zalloc(sizeof **ret_processes);
	return *ret_processes ? WS_OK
			      : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "records of processes");
}

void ws_triage_processes_destroy(struct ws_triage_processes *processes)
{
	if (!processes)
		return;
	wsi_arena_fini(&processes->arena);
	wsi_free(processes->item);
	wsi_free(processes);
}

/* ---- a line ---- */

/* Numbers of a line, in the order in which they decide on the rank. */
enum process_number { RANK, OMPI_RANK, PMIX_RANK, PMI_RANK, SLURM_RANK, N_RANKS };

static const struct {
	const char *rank, *size;
} names[N_RANKS] = {
	[RANK] = { "RANK", "WORLD_SIZE" },
	[OMPI_RANK] = { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	[PMIX_RANK] = { "PMIX_RANK", "" },
	[PMI_RANK] = { "PMI_RANK", "PMI_SIZE" },
	[SLURM_RANK] = { "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
};

struct process_line {
	struct ws_str schema, host, title;
	uint64_t pid, started, attempt;
	uint64_t ranks[N_RANKS], sizes[N_RANKS];
};

static bool is(struct ws_str text, const char *word)
{
	return ws_str_equal(text, ws_str_of(word));
}

static void take_process_member(struct process_line *line, struct ws_str key,
				const struct wsi_json_value *value)
{
	struct ws_str text = value->kind == WSI_JSON_STRING ? value->text : ws_str_of("");
	uint64_t number;
	if (is(key, "schema"))
		line->schema = text;
	else if (is(key, "host"))
		line->host = text;
	else if (is(key, "title"))
		line->title = text;
	if (!wsi_text_json_u64(value, &number))
		return;
	if (is(key, "pid"))
		line->pid = number;
	else if (is(key, "started"))
		line->started = number;
	else if (is(key, "TORCHELASTIC_RESTART_COUNT"))
		line->attempt = number;
	for (size_t i = 0; i < N_RANKS; i++) {
		if (is(key, names[i].rank))
			line->ranks[i] = number;
		else if (is(key, names[i].size))
			line->sizes[i] = number;
	}
}

static bool line_read(char *text, size_t len, struct process_line *ret_line)
{
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	struct ws_str key;
	memset(ret_line, 0xff, sizeof *ret_line); /* no number */
	ret_line->schema = ret_line->host = ret_line->title = ws_str_of("");
	wsi_text_json_reader_init(&reader, text, len);
	if (!wsi_text_json_read(&reader, &value) || value.kind != WSI_JSON_OBJECT)
		return false;
	while (wsi_text_json_member(&reader, &key, &value)) {
		take_process_member(ret_line, key, &value);
		wsi_text_json_skip(&reader, &value);
	}
	return wsi_text_json_is_end(&reader) && is(ret_line->schema, "warpscope-exec-1") &&
	       ret_line->host.len && ret_line->pid != WSI_NO_NUMBER;
}

/* The rank of a server's worker: "VLLM::Worker_TP1", "sglang::scheduler_PP0". */
static uint64_t rank_of_title(struct ws_str title)
{
	uint64_t rank = WSI_NO_NUMBER;
	char label[WSI_LABEL_BYTES];
	size_t at = 0;
	while (at + 1 < title.len && (title.ptr[at] != ':' || title.ptr[at + 1] != ':'))
		at++;
	while (at < title.len && title.ptr[at] != '_')
		at++;
	if (at < title.len && !wsi_log_server_label(wsi_str_skip(title, at + 1), '_', label, &rank))
		return WSI_NO_NUMBER;
	return rank;
}

/* All workers of a server that Slurm started have Slurm's number, so their titles come first; and
 * outside of a step with several tasks that number is 0 for everybody. */
static void rank_find(const struct process_line *line, struct process *process)
{
	process->rank = process->n_ranks = WSI_NO_NUMBER;
	for (size_t i = 0; i < SLURM_RANK && process->rank == WSI_NO_NUMBER; i++) {
		process->rank = line->ranks[i];
		process->n_ranks = line->ranks[i] != WSI_NO_NUMBER ? line->sizes[i] : WSI_NO_NUMBER;
	}
	if (process->rank == WSI_NO_NUMBER)
		process->rank = rank_of_title(line->title);
	if (process->rank == WSI_NO_NUMBER && line->sizes[SLURM_RANK] != WSI_NO_NUMBER &&
	    line->sizes[SLURM_RANK] > 1) {
		process->rank = line->ranks[SLURM_RANK];
		process->n_ranks = line->sizes[SLURM_RANK];
	}
	if (process->rank > INT64_MAX ||
	    (process->n_ranks != WSI_NO_NUMBER && process->rank >= process->n_ranks))
		process->rank = process->n_ranks = WSI_NO_NUMBER;
}

enum ws_status ws_triage_processes_add(struct ws_triage_processes *processes, char *text,
				       size_t len, struct ws_error *err)
{
	struct process_line line;
	if (!line_read(text, len, &line) || processes->n == MAX_PROCESSES)
		return WS_OK;
	struct process process = { .pid = line.pid,
				   .started = line.started,
				   .attempt = line.attempt,
				   .line = processes->n };
	rank_find(&line, &process);
	/* most lines are of one host */
	const struct process *last = processes->n ? &processes->item[processes->n - 1] : NULL;
	if (last && ws_str_equal(last->host, line.host))
		process.host = last->host;
	else
		process.host = (struct ws_str){ wsi_arena_str(&processes->arena, line.host.ptr,
							      line.host.len),
						line.host.len };
	if (!process.host.ptr || !wsi_grow(&processes->item, &processes->cap, processes->n,
					   sizeof process, MAX_PROCESSES))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "records of processes");
	processes->item[processes->n++] = process;
	processes->is_sorted = false;
	return WS_OK;
}

/* ---- who a process was ---- */

static int process_row_order(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	if (a->pid != b->pid)
		return WSI_ORDER(a->pid, b->pid);
	int hosts = memcmp(a->host.ptr, b->host.ptr, wsi_min_u64(a->host.len, b->host.len));
	if (hosts || a->host.len != b->host.len)
		return hosts ? hosts : WSI_ORDER(a->host.len, b->host.len);
	return WSI_ORDER(a->line, b->line);
}

static bool is_of(const struct process *process, struct ws_str host, uint64_t pid)
{
	return process->pid == pid && ws_str_equal(process->host, host);
}

enum wsi_triage_known wsi_process_find(struct ws_triage_processes *processes, struct ws_str host,
				       uint64_t pid, struct wsi_process *ret_process)
{
	const struct process *found = NULL;
	if (!processes->is_sorted && processes->n)
		qsort(processes->item, processes->n, sizeof *processes->item, process_row_order);
	processes->is_sorted = true;
	size_t low = WSI_BISECT(i, (size_t)0, processes->n, processes->item[i].pid < pid);
	for (; low < processes->n && processes->item[low].pid == pid; low++) {
		const struct process *one = &processes->item[low];
		if (!is_of(one, host, pid))
			continue;
		/* the number of a process that ended may be given to another one */
		if (found && found->started != one->started && found->rank != one->rank)
			return WSI_AMBIGUOUS;
		found = one;
	}
	if (!found)
		return WSI_UNKNOWN;
	*ret_process = (struct wsi_process){ found->rank, found->n_ranks, found->attempt };
	return WSI_KNOWN;
}
