/* SPDX-License-Identifier: Apache-2.0 */
/* Many records: which bugs there are, which jobs, and which GPUs come again. */
#include "triage/internal.h"

#include "base/sha256.h"
#include "report/library.h"

enum {
	DEFAULT_JOBS = 20,
	MAX_ENTRIES = 4096, /* of a job; who has more dumps in a folder has more than a job there */
};

/* ---- memory ---- */

struct ws_str wsi_keep(struct ws_triage *triage, struct ws_str text)
{
	const char *copy = text.len ? wsi_arena_str(&triage->arena, text.ptr, text.len) : NULL;
	return copy ? (struct ws_str){ copy, text.len } : ws_str_of("");
}

const char *wsi_keep_format(struct ws_triage *triage, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = wsi_arena_format(&triage->arena, format, args);
	va_end(args);
	return text;
}

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "records of dumps");
}

struct wsi_map_key wsi_key_of(struct ws_str a, struct ws_str b)
{
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	struct wsi_map_key key;
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, a.ptr, a.len);
	wsi_sha256_add(&hash, "", 1);
	wsi_sha256_add(&hash, b.ptr, b.len);
	wsi_sha256_final(&hash, digest);
	memcpy(key.word, digest, sizeof key.word);
	return key;
}

/* Index of the element of a list that a key stands for, a new one (zeroed) if need be; SIZE_MAX
 * when memory is out. */
static size_t list_element_of(struct wsi_map *map, const struct wsi_map_key *key, void *list,
			      size_t *cap, size_t *n, size_t size, bool *ret_is_new)
{
	uint32_t *index = wsi_map_put(map, key, (uint32_t)*n, ret_is_new);
	void *elements;
	if (!index || (*ret_is_new && !wsi_grow(list, cap, *n, size, UINT32_MAX - 1)))
		return SIZE_MAX;
	memcpy(&elements, list, sizeof elements);
	if (*ret_is_new)
		memset((char *)elements + *n * size, 0, size);
	*n += *ret_is_new;
	return *index;
}

/* ---- baseline ---- */

/* The escaped form is what pages show, so it is what people keep. */
static bool known_write(void *user, const char *bytes, size_t len)
{
	wsi_sha256_add(user, bytes, len);
	return true;
}

static struct wsi_map_key known_key(struct ws_str signature, bool is_escaped)
{
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	struct wsi_map_key key = { { 0 } };
	struct ws_out out;
	wsi_sha256_init(&hash);
	ws_out_init(&out, known_write, &hash);
	if (is_escaped)
		wsi_sha256_add(&hash, signature.ptr, signature.len);
	else
		ws_out_escaped(&out, signature);
	if (ws_out_flush(&out, NULL) != WS_OK)
		return key;
	wsi_sha256_final(&hash, digest);
	memcpy(key.word, digest, sizeof key.word);
	return key;
}

static struct ws_str trim_name(struct ws_str text)
{
	while (text.len && (*text.ptr == ' ' || *text.ptr == '\t'))
		text = wsi_str_skip(text, 1);
	while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t' ||
			    text.ptr[text.len - 1] == '\r'))
		text.len--;
	return text;
}

static enum ws_status baseline_read(struct ws_triage *triage, struct ws_error *err)
{
	struct ws_str rest = { triage->options.baseline, triage->options.baseline_len };
	bool is_new;
	triage->result.has_baseline = rest.ptr != NULL;
	while (rest.len) {
		const char *end = memchr(rest.ptr, '\n', rest.len);
		struct ws_str line = { rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len };
		rest = wsi_str_skip(rest, line.len + (end != NULL));
		line = trim_name(line);
		struct wsi_map_key key = known_key(line, true);
		if (line.len && *line.ptr != '#' && !wsi_map_put(&triage->known, &key, 0, &is_new))
			return no_memory(err);
	}
	return WS_OK;
}

/* ---- making and closing ---- */

enum ws_status ws_triage_create(const struct ws_triage_options *options,
				struct ws_triage **ret_triage, struct ws_error *err)
{
	if (options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"triage options of %zu bytes, expected %zu", options->size,
				sizeof *options);
	if (options->pattern && ws_triage_pattern_check(options->pattern, err) != WS_OK)
		return WS_ARGUMENT;
	struct ws_triage *triage = wsi_zalloc(sizeof *triage);
	if (!triage)
		return no_memory(err);
	triage->options = *options;
	if (!triage->options.max_jobs)
		triage->options.max_jobs = DEFAULT_JOBS;
	triage->look = 1;
	enum ws_status st = baseline_read(triage, err);
	if (st != WS_OK) {
		ws_triage_destroy(triage);
		return st;
	}
	*ret_triage = triage;
	return WS_OK;
}

void ws_triage_destroy(struct ws_triage *triage)
{
	if (!triage)
		return;
	for (size_t i = 0; i < triage->n_jobs; i++)
		wsi_free(triage->jobs[i].entry);
	wsi_evidence_fini(&triage->evidence);
	wsi_free(triage->groups);
	wsi_free(triage->jobs);
	wsi_free(triage->gpus);
	wsi_map_fini(&triage->seen);
	wsi_map_fini(&triage->by_signature);
	wsi_map_fini(&triage->by_job);
	wsi_map_fini(&triage->by_gpu);
	wsi_map_fini(&triage->known);
	wsi_arena_fini(&triage->arena);
	wsi_free(triage);
}

/* ---- one record ---- */

static bool is(struct ws_str text, const char *word)
{
	return ws_str_equal(text, ws_str_of(word));
}

static struct ws_str folder_of(struct ws_str path)
{
	return (struct ws_str){ path.ptr, path.len - wsi_report_file_name(path).len };
}

static uint64_t time_of(const struct wsi_triage_record *record)
{
	return record->time != WSI_NO_NUMBER      ? record->time
	       : record->written != WSI_NO_NUMBER ? record->written
						  : 0;
}

/* "file.cu:7", or a function. */
static struct ws_str bug_place_of(struct ws_triage *triage, const struct wsi_triage_record *record)
{
	if (!record->file.len)
		return wsi_keep(triage, record->function);
	struct ws_str name = wsi_report_file_name(record->file);
	const char *text =
		record->line != WSI_NO_NUMBER
			? wsi_keep_format(triage, "%.*s:%" PRIu64, (int)wsi_min_u64(name.len, 500),
					  name.ptr, record->line)
			: NULL;
	return text ? ws_str_of(text) : wsi_keep(triage, name);
}

/* How much a dump says for certain. */
static unsigned worth(const struct wsi_triage_record *record)
{
	return record->complete ? 2 : record->doubt.len == 0;
}

/* A sound dump is a better example; of two, the first by name, whatever the order of records. */
static bool is_better_example(const struct wsi_triage_record *record, const struct wsi_bug *group)
{
	if (!group->shown.example.len || worth(record) != group->worth)
		return !group->shown.example.len || worth(record) > group->worth;
	return wsi_str_order(record->path, group->shown.example) < 0;
}

static enum ws_status add_to_group(struct ws_triage *triage, const struct wsi_triage_record *record,
				   struct ws_error *err)
{
	bool is_new;
	struct wsi_map_key key = wsi_key_of(record->signature, ws_str_of(""));
	size_t index =
		list_element_of(&triage->by_signature, &key, &triage->groups, &triage->cap_groups,
				&triage->n_groups, sizeof *triage->groups, &is_new);
	if (index == SIZE_MAX)
		return no_memory(err);
	struct wsi_bug *group = &triage->groups[index];
	uint64_t time = time_of(record);
	if (is_new) {
		struct wsi_map_key known = known_key(record->signature, false);
		group->shown.signature = wsi_keep(triage, record->signature);
		group->shown.verdict = wsi_keep(triage, record->verdict);
		group->shown.known = wsi_map_find(&triage->known, &known) != NULL;
		group->what = wsi_keep(triage, record->signature_what);
		group->kernel = wsi_keep(triage, record->kernel);
		group->only_waits = is(record->verdict, "hang") && record->collective.len;
	}
	if (is_better_example(record, group)) {
		group->shown.example = wsi_keep(triage, record->path);
		group->shown.place = bug_place_of(triage, record);
		group->shown.in_doubt = record->doubt.len > 0;
		group->worth = worth(record);
	}
	group->shown.n_dumps++;
	triage->result.n_new_dumps += !group->shown.known;
	if (time && (!group->shown.first || time < group->shown.first))
		group->shown.first = time;
	if (time > group->shown.last)
		group->shown.last = time;
	if (record->rank != WSI_NO_NUMBER)
		wsi_few_add(&group->ranks, record->rank);
	return WS_OK;
}

/* A GPU is told by its host and its place there. */
static enum ws_status add_to_gpu(struct ws_triage *triage, const struct wsi_triage_record *record,
				 size_t job, struct ws_error *err)
{
	bool is_new;
	if (!record->host.len || !record->pci.len || !is(record->verdict, "fault"))
		return WS_OK;
	struct wsi_map_key key = wsi_key_of(record->host, record->pci);
	size_t index = list_element_of(&triage->by_gpu, &key, &triage->gpus, &triage->cap_gpus,
				       &triage->n_gpus, sizeof *triage->gpus, &is_new);
	if (index == SIZE_MAX)
		return no_memory(err);
	struct wsi_gpu *gpu = &triage->gpus[index];
	if (is_new) {
		const char *name = wsi_keep_format(
			triage, "%.*s %.*s", (int)wsi_min_u64(record->host.len, 256),
			record->host.ptr, (int)wsi_min_u64(record->pci.len, 32), record->pci.ptr);
		gpu->shown.name = ws_str_of(name);
	}
	gpu->shown.n_faults++;
	wsi_few_add(&gpu->jobs, job);
	struct wsi_map_key signature = wsi_key_of(record->signature, ws_str_of(""));
	wsi_few_add(&gpu->signatures, signature.word[0]);
	return WS_OK;
}

static void count_record(struct ws_triage_result *result, const struct wsi_triage_record *record)
{
	result->n_dumps++;
	if (!is(record->status, "read"))
		result->n_failed++;
	else if (is(record->verdict, "fault"))
		result->n_faults++;
	else if (is(record->verdict, "hang"))
		result->n_hangs++;
	else if (is(record->verdict, "none"))
		result->n_none++;
	else
		result->n_unknown++;
}

/* The record of a line, and its job; WS_ABSENT: this dump was looked at before. */
static enum ws_status record_take(struct ws_triage *triage, char *line, size_t len,
				  struct wsi_triage_record *record, size_t *ret_job,
				  struct ws_error *err)
{
	bool is_new;
	struct wsi_map_key key = { { 0 } };
	if (!wsi_triage_record_read(line, len, record))
		return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET, "a line is not a record");
	if (triage->options.pattern)
		wsi_triage_record_name(record, triage->options.pattern, NULL);
	memcpy(key.word, record->key, WS_TRIAGE_KEY_BYTES - 1);
	uint32_t *looks = wsi_map_put(&triage->seen, &key, 0, &is_new);
	if (!looks)
		return no_memory(err);
	if (*looks == triage->look)
		return WS_ABSENT;
	*looks = triage->look;
	struct wsi_map_key job = wsi_key_of(folder_of(record->path), record->job);
	*ret_job = list_element_of(&triage->by_job, &job, &triage->jobs, &triage->cap_jobs,
				   &triage->n_jobs, sizeof *triage->jobs, &is_new);
	if (*ret_job == SIZE_MAX)
		return no_memory(err);
	if (is_new) {
		struct ws_str folder = folder_of(record->path);
		const char *name = wsi_keep_format(
			triage, "%.*s%s%.*s", (int)wsi_min_u64(folder.len, 500), folder.ptr,
			record->job.len ? " job " : "", (int)wsi_min_u64(record->job.len, 500),
			record->job.len ? record->job.ptr : "");
		triage->jobs[*ret_job].name = ws_str_of(name);
		triage->jobs[*ret_job].shown = WS_NONE;
	}
	return WS_OK;
}

enum ws_status ws_triage_add(struct ws_triage *triage, char *line, size_t len, struct ws_error *err)
{
	struct wsi_triage_record record;
	size_t job;
	enum ws_status st = record_take(triage, line, len, &record, &job, err);
	triage->result.n_not_records += st == WS_MALFORMED;
	triage->result.n_again += st == WS_ABSENT;
	if (st != WS_OK)
		return st == WS_ABSENT ? WS_OK : st;
	count_record(&triage->result, &record);
	triage->jobs[job].n_dumps++;
	triage->jobs[job].n_failures += !is(record.verdict, "none");
	st = record.signature.len ? add_to_group(triage, &record, err) : WS_OK;
	return st == WS_OK ? add_to_gpu(triage, &record, job, err) : st;
}

void ws_triage_next_part(struct ws_triage *triage)
{
	wsi_map_fini(&triage->seen);
}

/* ---- jobs that are shown ---- */

/* Sorts indices of jobs; the jobs stay, as the map refers to them. */
struct choice {
	const struct wsi_triage_job *job;
	size_t index;
};

static int choice_order(const void *left, const void *right)
{
	const struct choice *a = left, *b = right;
	if (!a->job->n_failures != !b->job->n_failures)
		return a->job->n_failures ? -1 : 1;
	if (a->job->n_dumps != b->job->n_dumps)
		return WSI_ORDER(b->job->n_dumps, a->job->n_dumps);
	int order = strcmp(a->job->name.ptr, b->job->name.ptr);
	return order ? order : WSI_ORDER(a->index, b->index);
}

enum ws_status ws_triage_choose(struct ws_triage *triage, struct ws_error *err)
{
	struct choice *choice = wsi_zalloc_array(triage->n_jobs, sizeof *choice);
	if (!choice)
		return no_memory(err);
	for (size_t i = 0; i < triage->n_jobs; i++)
		choice[i] = (struct choice){ &triage->jobs[i], i };
	qsort(choice, triage->n_jobs, sizeof *choice, choice_order);
	size_t n = 0;
	while (n < triage->n_jobs && n < triage->options.max_jobs && choice[n].job->n_failures)
		n++;
	for (size_t i = 0; i < n; i++)
		triage->jobs[choice[i].index].shown = (uint32_t)i;
	triage->result.n_jobs = (uint32_t)n;
	wsi_free(choice);
	triage->look = 2;
	return WS_OK;
}

/* ---- ranks of a job ---- */

static enum ws_triage_role record_role_of(const struct wsi_triage_record *record)
{
	bool collective = record->collective.len > 0;
	/* a whole dump without a verdict is one of an old driver: what runs is told */
	if (!is(record->status, "read") || (is(record->verdict, "unknown") && !record->complete))
		return WS_TRIAGE_UNREADABLE;
	if (is(record->verdict, "fault"))
		return collective ? WS_TRIAGE_COLLECTIVE_FAULT : WS_TRIAGE_FAULT;
	if (is(record->verdict, "hang"))
		return collective ? WS_TRIAGE_WAITS : WS_TRIAGE_STUCK;
	bool runs = record->resident_warps != WSI_NO_NUMBER && record->resident_warps > 0;
	return runs ? WS_TRIAGE_RUNS : WS_TRIAGE_IDLE;
}

static struct ws_str what_record_tells(struct ws_triage *triage,
				       const struct wsi_triage_record *record,
				       enum ws_triage_role role)
{
	switch (role) {
	case WS_TRIAGE_FAULT:
	case WS_TRIAGE_COLLECTIVE_FAULT:
		if (record->doubt.len)
			return ws_str_of(
				wsi_keep_format(triage, "in doubt: %.*s",
						(int)wsi_min_u64(record->signature_what.len, 200),
						record->signature_what.ptr));
		return record->signature_what;
	case WS_TRIAGE_WAITS:
		return record->collective;
	case WS_TRIAGE_STUCK:
		return record->waits_for;
	case WS_TRIAGE_UNREADABLE:
		return record->why.len      ? record->why
		       : record->damage.len ? record->damage
					    : record->summary;
	case WS_TRIAGE_RUNS:
	case WS_TRIAGE_IDLE:
		break;
	}
	return ws_str_of("");
}

/* "rank 3", or host, process and GPU as far as they are known, or the name of the file. */
static struct ws_str rank_name_of(struct ws_triage *triage, const struct wsi_triage_record *record)
{
	char pid[24] = "?";
	const char *text;
	bool nothing = !record->host.len && record->pid == WSI_NO_NUMBER;
	if (record->pid != WSI_NO_NUMBER)
		snprintf(pid, sizeof pid, "%" PRIu64, record->pid);
	if (record->rank != WSI_NO_NUMBER)
		text = wsi_keep_format(triage, "rank %" PRIu64, record->rank);
	else if (nothing)
		return wsi_keep(triage, wsi_report_file_name(record->path));
	else
		text = wsi_keep_format(triage, "%.*s:%s:%.*s",
				       record->host.len ? (int)wsi_min_u64(record->host.len, 256)
							: 1,
				       record->host.len ? record->host.ptr : "?", pid,
				       record->pci.len ? (int)wsi_min_u64(record->pci.len, 32) : 1,
				       record->pci.len ? record->pci.ptr : "?");
	return ws_str_of(text);
}

static void fill_entry(struct ws_triage *triage, struct wsi_entry *entry,
		       const struct wsi_triage_record *record)
{
	enum ws_triage_role role = record_role_of(record);
	*entry = (struct wsi_entry){
		.row = { .rank = record->rank < INT64_MAX ? (int64_t)record->rank : -1,
			 .rank_why = record->rank_why.len ? wsi_keep(triage, record->rank_why).ptr
							  : NULL,
			 .name = rank_name_of(triage, record),
			 .path = wsi_keep(triage, record->path),
			 .role = role,
			 .what = wsi_keep(triage, what_record_tells(triage, record, role)),
			 .waits = wsi_keep(triage, record->collective),
			 .place = bug_place_of(triage, record),
			 .kernel = wsi_keep(triage, record->kernel),
			 .signature = record->signature.len
					      ? wsi_keep(triage, record->signature).ptr
					      : NULL,
			 .time = time_of(record) },
		.host = wsi_keep(triage, record->host),
		.pci = wsi_keep(triage, record->pci),
		.pid = record->pid,
		.n_ranks = record->ranks,
		.by_lane = is(record->blame, "lane"),
		.alone = is(record->waits_for, "barrier") || is(record->waits_for, "mbarrier") ||
			 is(record->waits_for, "convergence") || is(record->waits_for, "cluster"),
	};
}

enum ws_status ws_triage_look(struct ws_triage *triage, char *line, size_t len,
			      struct ws_error *err)
{
	struct wsi_triage_record record;
	size_t index;
	enum ws_status st = record_take(triage, line, len, &record, &index, err);
	if (st != WS_OK)
		return st == WS_ABSENT ? WS_OK : st;
	struct wsi_triage_job *job = &triage->jobs[index];
	if (job->shown == WS_NONE || job->n_dumps > MAX_ENTRIES)
		return WS_OK;
	if (!wsi_grow(&job->entry, &job->cap, job->n, sizeof *job->entry, MAX_ENTRIES))
		return no_memory(err);
	fill_entry(triage, &job->entry[job->n++], &record);
	return WS_OK;
}

/* ---- the result ---- */

/* New bugs first, and those last that only say that ranks wait for another one: in a job with a
 * bug that is most of them. */
static int group_order(const void *left, const void *right)
{
	const struct wsi_bug *a = left, *b = right;
	if (a->shown.known != b->shown.known)
		return a->shown.known ? 1 : -1;
	if (a->only_waits != b->only_waits)
		return a->only_waits ? 1 : -1;
	return WSI_ORDER_THEN(b->shown.n_dumps, a->shown.n_dumps,
			      strcmp(a->shown.signature.ptr, b->shown.signature.ptr));
}

static int gpu_order(const void *left, const void *right)
{
	const struct wsi_gpu *a = left, *b = right;
	return WSI_ORDER_THEN(b->jobs.n, a->jobs.n, strcmp(a->shown.name.ptr, b->shown.name.ptr));
}

/* Lists of what is shown, in place of what was gathered. */
static bool show_groups(struct ws_triage *triage)
{
	struct ws_triage_group *shown =
		wsi_arena_zalloc_array(&triage->arena, triage->n_groups, sizeof *shown);
	if (triage->n_groups > 1)
		qsort(triage->groups, triage->n_groups, sizeof *triage->groups, group_order);
	for (size_t i = 0; shown && i < triage->n_groups; i++) {
		struct wsi_bug *group = &triage->groups[i];
		group->shown.ranks = wsi_ranks_text(&triage->arena, group->ranks.number,
						    group->ranks.n, group->ranks.more);
		shown[i] = group->shown;
	}
	triage->result.groups = shown;
	triage->result.n_groups = (uint32_t)triage->n_groups;
	return shown != NULL;
}

static bool show_gpus(struct ws_triage *triage)
{
	struct ws_triage_gpu *shown =
		wsi_arena_zalloc_array(&triage->arena, triage->n_gpus, sizeof *shown);
	uint32_t n = 0;
	if (triage->n_gpus > 1)
		qsort(triage->gpus, triage->n_gpus, sizeof *triage->gpus, gpu_order);
	for (size_t i = 0; shown && i < triage->n_gpus; i++) {
		struct wsi_gpu *gpu = &triage->gpus[i];
		gpu->shown.n_jobs = gpu->jobs.n;
		gpu->shown.n_signatures = gpu->signatures.n;
		if (gpu->jobs.n > 1)
			shown[n++] = gpu->shown;
	}
	triage->result.gpus = shown;
	triage->result.n_gpus = n;
	return shown != NULL;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* The sentence on top: of one job its own; of many the first bug of the list. */
static void say_all(struct ws_triage *triage)
{
	struct ws_triage_result *r = &triage->result;
	if (r->n_dumps == 0) {
		r->sentence = "No dump was found";
	} else if (r->n_jobs_in_all == 1 && r->n_jobs == 1 && r->jobs[0].n_rows) {
		const struct ws_triage_job *job = &r->jobs[0];
		r->sentence = job->sentence;
		r->read = job->read != WS_NONE ? job->rows[job->read].path.ptr : NULL;
	} else if (r->n_groups == 0) {
		r->sentence = wsi_keep_format(
			triage, "%" PRIu64 " dump%s, and no failure%s", r->n_dumps,
			plural(r->n_dumps),
			r->n_failed + r->n_unknown ? " in those that can be read" : "");
	}
	if (r->sentence || r->n_groups == 0)
		return;
	const struct wsi_bug *first = &triage->groups[0];
	r->sentence = wsi_keep_format(
		triage,
		"%" PRIu64 " dump%s of %" PRIu64 " job%s show%s %" PRIu32
		" bug%s%s: %s%.*s%s%.*s%s, %" PRIu64 " dump%s",
		r->n_dumps, plural(r->n_dumps), r->n_jobs_in_all, plural(r->n_jobs_in_all),
		r->n_dumps == 1 ? "s" : "", r->n_groups, plural(r->n_groups),
		first->shown.known
			? r->n_groups == 1 ? ", which is known" : ", all known; read first"
		: r->has_baseline  ? "; read first of the new ones"
		: r->n_groups == 1 ? ""
				   : "; read first",
		first->shown.in_doubt ? "in doubt: " : "", (int)wsi_min_u64(first->what.len, 200),
		first->what.ptr, first->kernel.len ? " in `" : "",
		(int)wsi_min_u64(first->kernel.len, 200),
		first->kernel.len ? first->kernel.ptr : "", first->kernel.len ? "`" : "",
		first->shown.n_dumps, plural(first->shown.n_dumps));
	r->read = first->shown.example.ptr;
}

enum ws_status ws_triage_judge(struct ws_triage *triage, const struct ws_triage_result **ret_result,
			       struct ws_error *err)
{
	struct ws_triage_result *result = &triage->result;
	struct ws_triage_job *jobs =
		wsi_arena_zalloc_array(&triage->arena, result->n_jobs, sizeof *jobs);
	if (!jobs)
		return no_memory(err);
	result->n_jobs_in_all = triage->n_jobs;
	result->jobs = jobs;
	for (size_t i = 0; i < triage->n_jobs; i++) {
		struct wsi_triage_job *job = &triage->jobs[i];
		if (job->shown != WS_NONE && wsi_judge(triage, job, &jobs[job->shown]) != WS_OK)
			return no_memory(err);
	}
	if (!show_groups(triage) || !show_gpus(triage))
		return no_memory(err);
	say_all(triage);
	if (!result->sentence)
		return no_memory(err);
	*ret_result = result;
	return WS_OK;
}
