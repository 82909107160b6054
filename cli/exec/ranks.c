/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of descendants: which process was which rank. Names of dumps have the process only,
 * and servers fork their workers from one parent. A line for each process that has a rank, a GPU or
 * a title that tells; another one when that changes. Nothing else of its environment is kept: only
 * numbers of the variables that are listed here.
 *
 * One file for each exec, as lines that several hosts append to one file of a shared file system
 * can be lost. Read by warpscope triage (src/triage/process.c).
 */
#ifdef __linux__
#define _GNU_SOURCE /* memrchr */
#endif
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_ENVIRONMENT = 1 << 22, /* what stands behind is not looked at */
	TITLE_BYTES = 64,
	MAX_LINES = 1 << 16, /* of the record */
};

/* Variables whose numbers are kept, in this order; the size stands where a launcher says it. */
static const struct rank_variable {
	const char *rank, *size;
} rank_variables[] = {
	{ "RANK", "WORLD_SIZE" },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMIX_RANK", NULL },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" },
};

enum { N_RANKS = sizeof rank_variables / sizeof rank_variables[0], SLURM = N_RANKS - 1 };

#define NO_NUMBER UINT64_MAX

/* What is told of a process. */
struct about {
	uint64_t ranks[N_RANKS], sizes[N_RANKS], local_rank, attempt;
	uint64_t gpu;  /* the one that it has open; NO_NUMBER: none, or several */
	bool has_gpus; /* it has some open */
	char title[TITLE_BYTES];
};

struct known_rank {
	pid_t pid;
	uint64_t started;
	bool is_new; /* nothing was written of it */
	struct about about;
};

struct exec_record {
	int fd;
	off_t end;
	char path[EXEC_PATH_BYTES + EXEC_HOST_BYTES + 64];
	const char *host; /* of the exec */
	struct timespec made;
	struct known_rank *known; /* owned; by pid */
	size_t n, cap, n_lines;
	bool saw_gpu, is_full;
};

/* ---- what a process tells ---- */

static uint64_t number_of(const char *text)
{
	uint64_t number;
	return text && cli_number(text, &number) ? number : NO_NUMBER;
}

static void take_environment(struct about *about, const char *text, size_t len)
{
	for (int i = 0; i < N_RANKS; i++) {
		const struct rank_variable *v = &rank_variables[i];
		about->ranks[i] = number_of(exec_proc_variable(text, len, v->rank));
		about->sizes[i] =
			v->size ? number_of(exec_proc_variable(text, len, v->size)) : NO_NUMBER;
	}
	about->local_rank = number_of(exec_proc_variable(text, len, "LOCAL_RANK"));
	about->attempt = number_of(exec_proc_variable(text, len, "TORCHELASTIC_RESTART_COUNT"));
}

/* The first word of the command line, without folders: what servers write there names their
 * workers. Arguments may hold secrets. */
static void take_title(struct about *about, const char *text)
{
	size_t len = strcspn(text, " ");
	const char *slash = memrchr(text, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	snprintf(about->title, sizeof about->title, "%.*s", (int)len, text);
}

static bool take_rank_file(void *user, int number, const char *target)
{
	static const char prefix[] = "/dev/nvidia";
	struct about *about = user;
	uint64_t gpu;
	(void)number;
	if (strncmp(target, prefix, sizeof prefix - 1) != 0 ||
	    !cli_number(target + sizeof prefix - 1, &gpu))
		return true;
	about->gpu = !about->has_gpus || about->gpu == gpu ? gpu : NO_NUMBER;
	about->has_gpus = true;
	return about->gpu != NO_NUMBER;
}

static bool about_read(pid_t pid, struct about *ret_about)
{
	size_t len;
	char *text = exec_proc_read(pid, "environ", MOST_ENVIRONMENT, &len);
	*ret_about = (struct about){ .gpu = NO_NUMBER };
	if (!text)
		return false;
	take_environment(ret_about, text, len);
	exec_proc_forget(text, len);
	text = exec_proc_read(pid, "cmdline", TITLE_BYTES * 4, &len);
	if (text)
		take_title(ret_about, text);
	free(text);
	(void)!exec_proc_files(pid, take_rank_file, ret_about);
	return true;
}

static bool tells(const struct about *about)
{
	for (int i = 0; i < N_RANKS; i++)
		if (about->ranks[i] != NO_NUMBER)
			return true;
	return about->has_gpus || strchr(about->title, ':') || about->local_rank != NO_NUMBER;
}

struct exec_part exec_own_part(void)
{
	for (int i = 0; i < N_RANKS; i++) {
		uint64_t rank = number_of(getenv(rank_variables[i].rank));
		if (rank > INT32_MAX)
			continue;
		if (i != SLURM)
			return (struct exec_part){ "rank", rank };
		/* all processes of a server that Slurm started have Slurm's number: no rank */
		uint64_t tasks = number_of(getenv(rank_variables[i].size));
		if (tasks > 1 && tasks != NO_NUMBER)
			return (struct exec_part){ "task", rank };
	}
	return (struct exec_part){ 0 };
}

/* ---- the file ---- */

struct exec_record *exec_record_open(const struct exec *exec)
{
	struct exec_record *record = cli_alloc(1, sizeof *record);
	struct stat at;
	/* with the time, as the first process of every container has the number 1 */
	snprintf(record->path, sizeof record->path, "%s/exec_%s_%d_%lld.jsonl", exec->folder,
		 exec->host, (int)getpid(), (long long)time(NULL));
	record->host = exec->host;
	record->fd = open(record->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	if (record->fd < 0 || fstat(record->fd, &at) != 0) {
		cli_warn("%s: %s", record->path, strerror(errno));
		exec_record_close(record);
		return NULL;
	}
	record->made = at.st_mtim;
	return record;
}

void exec_record_close(struct exec_record *record)
{
	if (!record)
		return;
	if (record->fd >= 0)
		close(record->fd);
	free(record->known);
	free(record);
}

struct timespec exec_record_made(const struct exec_record *record)
{
	return record->made;
}

bool exec_record_saw_gpu(const struct exec_record *record)
{
	return record->saw_gpu;
}

static void put_rank_number(struct ws_json *json, const char *name, uint64_t number)
{
	ws_json_key(json, name);
	if (number == NO_NUMBER)
		ws_json_null(json);
	else
		ws_json_u64(json, number);
}

static void rank_line_write(const struct exec_record *record, const struct known_rank *known,
			    struct ws_out *out)
{
	const struct about *about = &known->about;
	struct ws_json json;
	ws_json_init(&json, out, true);
	ws_json_object(&json);
	ws_json_key_text(&json, "schema", "warpscope-exec-1");
	ws_json_key_text(&json, "host", record->host);
	ws_json_key_u64(&json, "pid", (uint64_t)known->pid);
	ws_json_key_u64(&json, "started", known->started);
	for (int i = 0; i < N_RANKS; i++) {
		put_rank_number(&json, rank_variables[i].rank, about->ranks[i]);
		if (rank_variables[i].size)
			put_rank_number(&json, rank_variables[i].size, about->sizes[i]);
	}
	put_rank_number(&json, "LOCAL_RANK", about->local_rank);
	put_rank_number(&json, "TORCHELASTIC_RESTART_COUNT", about->attempt);
	ws_json_key_text(&json, "title", about->title);
	put_rank_number(&json, "gpu", about->gpu);
	ws_json_end(&json);
}

/* Appends one line, whole or not at all. */
static void rank_line_append(struct exec_record *record, const struct known_rank *known)
{
	struct cli_bytes line = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &line);
	rank_line_write(record, known, &out);
	if (ws_out_flush(&out, NULL) == WS_OK && ws_write_fd(&record->fd, line.ptr, line.len)) {
		record->end += (off_t)line.len;
		record->n_lines++;
	} else {
		cli_say("warpscope exec: %s: %s; ranks of later processes are not recorded\n",
			record->path, strerror(errno));
		record->is_full = true;
		(void)!ftruncate(record->fd, record->end);
	}
	free(line.ptr);
}

/* ---- looking ---- */

/* Where the process is in the list, or belongs. */
static size_t process_place_of(const struct exec_record *record, pid_t pid)
{
	size_t low = 0, high = record->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (record->known[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct known_rank *known_of(struct exec_record *record, const struct exec_process *process)
{
	size_t at = process_place_of(record, process->pid);
	bool is_there = at < record->n && record->known[at].pid == process->pid;
	if (!is_there) {
		cli_grow(&record->known, &record->cap, record->n, sizeof *record->known);
		memmove(record->known + at + 1, record->known + at,
			(record->n - at) * sizeof *record->known);
		record->n++;
	}
	struct known_rank *known = &record->known[at];
	if (!is_there || known->started != process->started)
		*known = (struct known_rank){ .pid = process->pid,
					      .started = process->started,
					      .is_new = true };
	return known;
}

static bool is_same(const struct about *a, const struct about *b)
{
	return memcmp(a->ranks, b->ranks, sizeof a->ranks) == 0 &&
	       memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0 && a->local_rank == b->local_rank &&
	       a->attempt == b->attempt && a->gpu == b->gpu && strcmp(a->title, b->title) == 0;
}

void exec_record_look(struct exec_record *record, pid_t root)
{
	struct exec_processes below;
	exec_proc_below(root, &below);
	for (size_t i = 0; i < below.n && !record->is_full; i++) {
		struct about about;
		if (!about_read(below.item[i].pid, &about) || !tells(&about))
			continue;
		struct known_rank *known = known_of(record, &below.item[i]);
		record->saw_gpu = record->saw_gpu || about.has_gpus;
		if (!known->is_new && is_same(&known->about, &about))
			continue;
		known->about = about;
		known->is_new = false;
		rank_line_append(record, known);
		if (record->n_lines == MAX_LINES) {
			cli_say("warpscope exec: more than %d processes: later ones are not "
				"recorded\n",
				MAX_LINES);
			record->is_full = true;
		}
	}
	free(below.item);
}
