/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope triage: from many dumps to the one to read. */
#include "triage/triage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/core.h>

enum {
	DEFAULT_TIMEOUT = 600, /* seconds for one dump */
	DEFAULT_INTERVAL = 10, /* seconds between two looks */
	MAX_BASELINE = 1 << 26,
	MAX_PART = 1 << 16, /* records that are remembered at a time, on average */
	DIGITS_OF_PART = 15,
};

/* ---- options ---- */

static int take_jsonl(void *query, const char *text)
{
	struct triage_args *args = query;
	args->jsonl = true;
	args->whole = text && strcmp(text, "full") == 0;
	return !text || args->whole ? CLI_ANSWERED
				    : cli_usage("triage", "--jsonl takes full, or nothing");
}

/* K/N, from 1. */
static bool shard_parse(const char *text, struct triage_args *args)
{
	char first[24];
	uint64_t k, n;
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	if (len == 0 || len >= sizeof first)
		return false;
	memcpy(first, text, len);
	first[len] = '\0';
	if (!cli_number(first, &k) || !cli_number(slash + 1, &n) || k < 1 || k > n ||
	    n > UINT32_MAX)
		return false;
	args->shard = (uint32_t)k - 1;
	args->n_shards = (uint32_t)n;
	return true;
}

static int take_shard(void *query, const char *text)
{
	return shard_parse(text, query)
		       ? CLI_ANSWERED
		       : cli_usage("triage", "--shard takes K/N, such as 1/8, not '%s'", text);
}

const struct cli_option verb_triage_options[] = {
	{ "name", 0, CLI_TEXT, .at = offsetof(struct triage_args, pattern) },
	{ "null", 0, CLI_FLAG, .at = offsetof(struct triage_args, is_null) },
	{ "jsonl", 0, CLI_MAY_TAKE, .take = take_jsonl },
	{ "records", 0, CLI_TEXT, .at = offsetof(struct triage_args, records) },
	{ "merge", 0, CLI_FLAG, .at = offsetof(struct triage_args, merge) },
	{ "watch", 0, CLI_FLAG, .at = offsetof(struct triage_args, watch) },
	{ "interval", 0, CLI_NUMBER, .at = offsetof(struct triage_args, interval) },
	{ "shard", 0, CLI_TAKE, .take = take_shard },
	{ "log", 0, CLI_WORDS, .at = offsetof(struct triage_args, logs) },
	{ "dumps", 0, CLI_WORDS, .at = offsetof(struct triage_args, dumps) },
	{ "baseline", 0, CLI_TEXT, .at = offsetof(struct triage_args, baseline) },
	{ "format", 0, CLI_TEXT, .at = offsetof(struct triage_args, format) },
	{ "output", 'o', CLI_TEXT, .at = offsetof(struct triage_args, output) },
	{ "html", 0, CLI_TEXT, .at = offsetof(struct triage_args, html) },
	{ "all", 0, CLI_FLAG, .at = offsetof(struct triage_args, all) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct triage_args, full_names) },
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct triage_args, limit) },
	{ "workers", 'j', CLI_NUMBER, .at = offsetof(struct triage_args, workers) },
	{ "timeout", 0, CLI_NUMBER, .at = offsetof(struct triage_args, timeout) },
	{ 0 },
};

/* A number of the environment; false: it is not there. */
static bool variable(const char *name, uint64_t *ret_value)
{
	const char *text = getenv(name);
	return text && cli_number(text, ret_value);
}

/* A task of a Slurm job array reads its part of the files. */
static void shard_default(struct triage_args *args)
{
	uint64_t id, count, least = 0, step = 1;
	if (args->n_shards || args->merge || !variable("SLURM_ARRAY_TASK_ID", &id) ||
	    !variable("SLURM_ARRAY_TASK_COUNT", &count) || count < 2 || count > UINT32_MAX)
		return;
	(void)variable("SLURM_ARRAY_TASK_MIN", &least);
	(void)variable("SLURM_ARRAY_TASK_STEP", &step);
	uint64_t at = id >= least && step ? (id - least) / step : count;
	if (at >= count)
		return;
	args->shard = (uint32_t)at;
	args->n_shards = (uint32_t)count;
	cli_warn("part %" PRIu64 " of %" PRIu64 ", as SLURM_ARRAY_TASK_ID says (--shard)", at + 1,
		 count);
}

static bool triage_format_find(const struct cli *cli, struct triage_args *args)
{
	static const char *const names[] = { [TRIAGE_TEXT] = "text",
					     [TRIAGE_MARKDOWN] = "md",
					     [TRIAGE_JSON] = "json",
					     [TRIAGE_HTML] = "html",
					     [TRIAGE_GITHUB] = "github" };
	const char *name = args->format ? args->format : cli->json ? "json" : "text";
	if (cli->json && strcmp(name, "json") != 0) {
		cli_usage("triage", "--json and --format %s exclude each other", name);
		return false;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		args->format_kind = (enum triage_format)i;
		return true;
	}
	cli_usage("triage", "--format takes text, md, json, html or github, not '%s'", name);
	return false;
}

static bool triage_arguments_parse(struct cli *cli, int argc, char **argv, struct triage_args *args)
{
	struct ws_error err;
	if (cli_options_take(cli, verb_triage_options, args, &argc, &argv) != CLI_ANSWERED)
		return false;
	if (argc == 0) {
		cli_usage("triage", args->merge ? "which records?" : "which dumps?");
		return false;
	}
	for (int i = 0; i < argc; i++)
		args->paths[i] = argv[i];
	args->n_paths = argc;
	if (!triage_format_find(cli, args))
		return false;
	if (args->output || args->jsonl || args->format_kind != TRIAGE_TEXT)
		cli_fold(cli, 0);
	if (cli->api_lib) {
		cli_usage("triage", "it reads files, and none through --api-lib");
		return false;
	}
	if (args->pattern && ws_triage_pattern_check(args->pattern, &err) != WS_OK) {
		cli_usage("triage", "--name: %s", err.message);
		return false;
	}
	for (size_t i = 0; i < args->logs.n; i++) {
		if (strcmp(args->logs.item[i], "-") != 0)
			continue;
		cli_usage("triage", "--log takes files, folders and patterns");
		return false;
	}
	if (args->dumps.n && !(args->merge && args->html)) {
		cli_usage("triage", "--dumps says where --merge --html finds the dumps");
		return false;
	}
	if (args->merge && (args->records || args->n_shards)) {
		cli_usage("triage", "--merge reads records and no dumps: no --records, no --shard");
		return false;
	}
	if ((args->workers.given && args->workers.value == 0) ||
	    (args->timeout.given && args->timeout.value == 0)) {
		cli_usage("triage", "--workers and --timeout take a number above 0");
		return false;
	}
	for (int i = 0; args->watch && i < argc; i++) {
		if (!args->merge && strcmp(argv[i], "-") != 0)
			continue;
		cli_usage("triage", "--watch looks at files and folders: no -, no --merge");
		return false;
	}
	if (args->interval.given &&
	    (!args->watch || args->interval.value == 0 || args->interval.value > INT32_MAX)) {
		cli_usage("triage", "--interval takes a number above 0, and goes with --watch");
		return false;
	}
	if (!args->interval.given)
		args->interval.value = DEFAULT_INTERVAL;
	if (!args->timeout.given)
		args->timeout.value = DEFAULT_TIMEOUT;
	shard_default(args);
	return true;
}

/* ---- from records to the result ---- */

/* Where records are: the file that this run made, or those to merge. */
struct sources {
	int *fd; /* owned, but not what they refer to */
	size_t n;
};

/* A look at all records. They come in parts, by their keys: which dumps were seen is remembered for
 * one part at a time, so it takes no more memory the more dumps there are. */
struct part_look {
	struct ws_triage *triage;
	enum ws_status (*take)(struct ws_triage *triage, char *line, size_t len,
			       struct ws_error *err);
	uint64_t part, n_parts;
};

/* A line that is no record is of the first part. */
static uint64_t log_part_of(const struct part_look *look, const char *line, size_t len)
{
	char key[WS_TRIAGE_KEY_BYTES];
	if (look->n_parts == 1 || !ws_triage_record_key(line, len, key))
		return 0;
	key[DIGITS_OF_PART] = '\0';
	return strtoull(key, NULL, 16) % look->n_parts;
}

static enum ws_status look_line(void *user, char *line, size_t len, struct ws_error *err)
{
	const struct part_look *look = user;
	if (log_part_of(look, line, len) != look->part)
		return WS_OK;
	enum ws_status st = look->take(look->triage, line, len, err);
	return st == WS_MALFORMED ? WS_OK : st;
}

static enum ws_status count_line(void *user, char *line, size_t len, struct ws_error *err)
{
	(void)line;
	(void)len;
	(void)err;
	++*(uint64_t *)user;
	return WS_OK;
}

static enum ws_status look_at_all(struct part_look *look, const struct sources *sources,
				  struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (look->part = 0; look->part < look->n_parts && st == WS_OK; look->part++) {
		for (size_t i = 0; i < sources->n && st == WS_OK; i++)
			st = triage_each_record(sources->fd[i], true, look_line, look, err);
		ws_triage_next_part(look->triage);
	}
	return st;
}

/* Opens a file to read; -1 when told why not. */
static int open_lines(const char *path)
{
	struct stat at;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
		return fd;
	cli_warn("%s: %s", path, fd < 0 ? strerror(errno) : "is not a regular file");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* What lies beside the dumps. A file that is damaged, or gone, costs what it tells, and is named;
 * but dumps are no logs, and a folder may have both. */
static enum ws_status take_log_file(struct ws_triage *triage, const struct cli *cli,
				    uint32_t number, const char *path, bool is_named,
				    struct ws_error *err)
{
	bool is_cut = false;
	enum ws_status st = ws_triage_read_log(triage, number, path, cli->size_limit, &is_cut, err);
	if (st == WS_NO_MEMORY)
		return st;
	if (st == WS_OK && is_cut)
		cli_warn_cut(path);
	else if (st != WS_OK && (is_named || st != WS_ABSENT))
		(void)cli_fail_advise(path, err, "; it is not used");
	return WS_OK;
}

/* `counts_only`: nobody reads of jobs. */
static enum ws_status gather_triage(struct ws_triage *triage, const struct cli *cli,
				    const struct sources *sources, struct triage_list *logs,
				    bool counts_only, const struct ws_triage_result **ret_result,
				    struct ws_error *err)
{
	struct part_look look = { .triage = triage, .take = ws_triage_add };
	uint64_t n_lines = 0;
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < sources->n && st == WS_OK; i++)
		st = triage_each_record(sources->fd[i], true, count_line, &n_lines, err);
	look.n_parts = n_lines / MAX_PART + 1;
	if (st == WS_OK)
		st = look_at_all(&look, sources, err);
	if (st == WS_OK)
		st = ws_triage_choose(triage, err);
	const char *path;
	bool is_named;
	for (uint32_t i = 0; st == WS_OK && triage_list_next(logs, &path, &is_named); i++)
		st = take_log_file(triage, cli, i, path, is_named, err);
	look.take = ws_triage_look;
	if (!counts_only && st == WS_OK)
		st = look_at_all(&look, sources, err);
	return st == WS_OK ? ws_triage_judge(triage, ret_result, err) : st;
}

/* ---- pages ---- */

static enum ws_status render_triage(const struct triage_args *args, const struct cli *cli,
				    const struct ws_triage_result *result, struct ws_out *out,
				    struct ws_error *err)
{
	struct ws_text_options text = { .size = sizeof text,
					.color = cli->color && !args->output,
					.columns = cli->wrap.columns,
					.full_names = args->full_names,
					.all = args->all };
	struct ws_triage_page page = { .text = &text };
	switch (args->format_kind) {
	case TRIAGE_TEXT:
		return ws_triage_text(result, &page, out, err);
	case TRIAGE_MARKDOWN:
		return ws_triage_markdown(result, &page, out, err);
	case TRIAGE_HTML:
		return ws_triage_html(result, &page, out, err);
	case TRIAGE_JSON:
		ws_triage_json(result, out);
		return WS_OK;
	case TRIAGE_GITHUB:
		ws_triage_annotations(result, out);
		return WS_OK;
	}
	return WS_OK;
}

static int print_triage(struct cli *cli, const struct triage_args *args,
			const struct ws_triage_result *result)
{
	struct ws_error err;
	bool to_file = args->output && strcmp(args->output, "-") != 0;
	struct cli_bytes page = { 0 };
	struct ws_out out;
	if (!to_file)
		return render_triage(args, cli, result, &cli->out, &err) == WS_OK
			       ? CLI_ANSWERED
			       : cli_fail(NULL, &err);
	ws_out_init(&out, cli_bytes_write, &page);
	enum ws_status st = render_triage(args, cli, result, &out, &err);
	if (st == WS_OK)
		st = ws_out_flush(&out, &err);
	struct ws_span bytes = { .ptr = (const uint8_t *)page.ptr, .len = page.len };
	if (st == WS_OK)
		st = ws_file_replace(args->output, bytes, NULL, &err);
	free(page.ptr);
	return st == WS_OK ? CLI_ANSWERED : cli_fail(args->output, &err);
}

/* ---- single pages ---- */

/* The pages of the dumps that the index shows: "KEY.html", by the path of the dump. */
struct singles {
	const struct triage_args *args;
	char name[WS_TRIAGE_KEY_BYTES + 8];
	char **have; /* names of those that are made; owned, sorted at the end */
	size_t n, cap;
};

static int name_order(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void single_name(struct singles *singles, struct ws_str path)
{
	char key[WS_TRIAGE_KEY_BYTES];
	char *text = cli_copy(path.ptr, path.len);
	struct ws_triage_file file = { .path = text };
	ws_triage_key(&file, key);
	snprintf(singles->name, sizeof singles->name, "%s.html", key);
	free(text);
}

static const char *single_link(void *user, struct ws_str path)
{
	struct singles *singles = user;
	single_name(singles, path);
	const char *name = singles->name;
	return singles->n && bsearch(&name, singles->have, singles->n, sizeof *singles->have,
				     name_order)
		       ? singles->name
		       : NULL;
}

static enum ws_status page_keep(const struct singles *singles, const char *name,
				struct cli_bytes *page, struct ws_error *err)
{
	size_t len = strlen(singles->args->html) + strlen(name) + 2;
	char *path = cli_alloc(len, 1);
	snprintf(path, len, "%s/%s", singles->args->html, name);
	struct ws_span bytes = { .ptr = (const uint8_t *)page->ptr, .len = page->len };
	enum ws_status st = ws_file_replace(path, bytes, NULL, err);
	free(path);
	return st;
}

/* Records of others may name any file; of these only dumps in the folders that the user named. */
static bool may_have_single(const struct triage_args *args, struct ws_str path)
{
	if (!args->merge)
		return true;
	for (size_t i = 0; i + 3 < path.len; i++)
		if (memcmp(path.ptr + i, "/../", 4) == 0)
			return false;
	for (size_t i = 0; i < args->dumps.n; i++) {
		const char *folder = args->dumps.item[i];
		size_t len = strlen(folder);
		while (len && folder[len - 1] == '/')
			len--;
		if (path.len > len && memcmp(path.ptr, folder, len) == 0 && path.ptr[len] == '/')
			return true;
	}
	return false;
}

/* Makes the page of a dump; one that cannot be read any more has none. */
static enum ws_status single_make(struct cli *cli, struct singles *singles, struct ws_str path,
				  struct ws_error *err)
{
	struct ws_core_options open = { .size = sizeof open,
					.max_unpacked_bytes = cli->size_limit };
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_target *target = NULL;
	const struct ws_report *report = NULL;
	struct cli_bytes page = { 0 };
	struct ws_out out;
	if (!may_have_single(singles->args, path))
		return WS_OK;
	char *text = cli_copy(path.ptr, path.len);
	ws_out_init(&out, cli_bytes_write, &page);
	single_name(singles, path);
	enum ws_status st = WS_OK;
	if (ws_core_open(text, &open, &target, NULL) == WS_OK &&
	    ws_report_create(target, &options, &report, NULL) == WS_OK &&
	    ws_report_html(report, NULL, &out, NULL) == WS_OK &&
	    ws_out_flush(&out, NULL) == WS_OK) {
		st = page_keep(singles, singles->name, &page, err);
		cli_grow(&singles->have, &singles->cap, singles->n, sizeof *singles->have);
		singles->have[singles->n++] = cli_copy(singles->name, strlen(singles->name));
	}
	ws_report_destroy(report);
	ws_target_close(target);
	free(text);
	free(page.ptr);
	return st;
}

enum { MAX_SINGLES = 200 };

static enum ws_status singles_make(struct cli *cli, struct singles *singles,
				   const struct ws_triage_result *result, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < result->n_groups && i < MAX_SINGLES && st == WS_OK; i++)
		st = single_make(cli, singles, result->groups[i].example, err);
	for (uint32_t i = 0; i < result->n_jobs && st == WS_OK; i++) {
		const struct ws_triage_job *job = &result->jobs[i];
		for (uint32_t k = 0; k < job->n_rows && singles->n < MAX_SINGLES && st == WS_OK;
		     k++)
			if (job->rows[k].role != WS_TRIAGE_UNREADABLE)
				st = single_make(cli, singles, job->rows[k].path, err);
	}
	if (singles->n)
		qsort(singles->have, singles->n, sizeof *singles->have, name_order);
	return st;
}

/* The index and the pages that it links to. */
static int print_html(struct cli *cli, const struct triage_args *args,
		      const struct ws_triage_result *result)
{
	struct singles singles = { .args = args };
	struct cli_bytes page = { 0 };
	struct ws_out out;
	struct ws_error err;
	struct ws_text_options text = { .size = sizeof text, .all = args->all };
	struct ws_triage_page options = { &text, single_link, &singles };
	enum ws_status st = singles_make(cli, &singles, result, &err);
	ws_out_init(&out, cli_bytes_write, &page);
	if (st == WS_OK)
		st = ws_triage_html(result, &options, &out, &err);
	if (st == WS_OK)
		st = ws_out_flush(&out, &err);
	if (st == WS_OK)
		st = page_keep(&singles, "index.html", &page, &err);
	free(page.ptr);
	for (size_t i = 0; i < singles.n; i++)
		free(singles.have[i]);
	free(singles.have);
	return st == WS_OK ? CLI_ANSWERED : cli_fail(args->html, &err);
}

/* ---- all of it ---- */

/* A part of many may have no dump, or none that can be read. */
static int triage_status_of(const struct triage_args *args, const struct ws_triage_result *result)
{
	if (args->n_shards < 2 && result->n_failed == result->n_dumps)
		return CLI_NO_ANSWER;
	if (result->n_new_dumps)
		return CLI_FOUND;
	if (result->n_groups)
		return CLI_KNOWN;
	return result->n_unknown + result->n_failed ? CLI_CANNOT_TELL : CLI_ANSWERED;
}

static int conclude_triage(struct cli *cli, const struct triage_args *args,
			   const struct sources *sources, struct triage_list *logs,
			   const char *baseline, size_t baseline_len)
{
	struct ws_triage_options options = { .size = sizeof options,
					     .pattern = args->merge ? args->pattern : NULL,
					     .baseline = baseline,
					     .baseline_len = baseline_len,
					     .max_jobs = args->limit.given && args->limit.value
								 ? (uint32_t)args->limit.value
								 : 0 };
	const struct ws_triage_result *result;
	struct ws_triage *triage;
	struct ws_error err;
	if (ws_triage_create(&options, &triage, &err) != WS_OK)
		return cli_fail(NULL, &err);
	int status = gather_triage(triage, cli, sources, logs, args->jsonl, &result, &err) == WS_OK
			     ? CLI_ANSWERED
			     : cli_fail(NULL, &err);
	if (status == CLI_ANSWERED && result->n_not_records)
		cli_warn("%" PRIu64 " lines are not records", result->n_not_records);
	if (status == CLI_ANSWERED && result->n_dumps == 0 && args->n_shards < 2)
		cli_warn("no dump was found");
	if (status == CLI_ANSWERED && !args->jsonl)
		status = args->html ? print_html(cli, args, result)
				    : print_triage(cli, args, result);
	if (status == CLI_ANSWERED)
		status = triage_status_of(args, result);
	ws_triage_destroy(triage);
	return status;
}

/* The files that --log means; they may be read, too. */
static int list_logs(const struct triage_args *args, struct triage_list *logs,
		     struct triage_list *list)
{
	struct triage_args files = { .paths = args->logs.item, .n_paths = (int)args->logs.n };
	struct stat at;
	for (size_t i = 0; i < args->logs.n; i++) {
		const char *path = args->logs.item[i];
		if (stat(path, &at) == 0 || strpbrk(path, "*?["))
			continue;
		cli_warn("%s: %s", path, strerror(errno));
		return CLI_NO_ANSWER;
	}
	int status = triage_list_make(&files, logs);
	for (size_t i = 0; i < logs->folders.n; i++)
		cli_words_add(&list->folders,
			      cli_copy(logs->folders.item[i], strlen(logs->folders.item[i])));
	return status;
}

/* Reads the dumps, or opens the records that are there. Then the sandbox is entered. */
static int collect_records(struct cli *cli, const struct triage_args *args,
			   struct triage_records *records, struct sources *sources,
			   struct triage_list *logs)
{
	struct triage_list list = { 0 };
	int status = CLI_ANSWERED;
	if (args->merge) {
		status = list_logs(args, logs, &list);
	} else {
		status = triage_list_make(args, &list);
		if (status == CLI_ANSWERED)
			status = list_logs(args, logs, &list);
		if (status == CLI_ANSWERED)
			status = triage_records_open(args->records, records);
		if (status == CLI_ANSWERED)
			status = triage_scan(cli, args, &list, records, args->jsonl);
		if (status == CLI_ANSWERED)
			sources->fd[sources->n++] = records->fd;
	}
	for (int i = 0; args->merge && i < args->n_paths && status == CLI_ANSWERED; i++) {
		int fd = open_lines(args->paths[i]);
		if (fd < 0)
			status = CLI_NO_ANSWER;
		else
			sources->fd[sources->n++] = fd;
	}
	if (status == CLI_ANSWERED)
		triage_guard(args, &list);
	triage_list_fini(&list);
	return status;
}

/* What comes when the sandbox has been entered. */
static int finish_triage(struct cli *cli, const struct triage_args *args,
			 const struct sources *sources, struct triage_list *logs)
{
	char *baseline = NULL;
	size_t baseline_len = 0;
	int status = CLI_ANSWERED;
	if (args->baseline) {
		baseline = cli_file_read(args->baseline, MAX_BASELINE, &baseline_len);
		status = baseline ? CLI_ANSWERED : CLI_NO_ANSWER;
	}
	if (status == CLI_ANSWERED)
		status = conclude_triage(cli, args, sources, logs, baseline, baseline_len);
	free(baseline);
	return status;
}

int triage_page(struct cli *cli, const struct triage_args *args, const struct triage_list *list,
		const struct triage_records *records)
{
	struct triage_list logs = { 0 }, all = *list;
	int fd = records->fd;
	struct sources sources = { .fd = &fd, .n = 1 };
	all.folders = (struct cli_words){ 0 };
	for (size_t i = 0; i < list->folders.n; i++)
		cli_words_add(&all.folders,
			      cli_copy(list->folders.item[i], strlen(list->folders.item[i])));
	int status = list_logs(args, &logs, &all);
	if (status == CLI_ANSWERED) {
		triage_guard(args, &all);
		status = finish_triage(cli, args, &sources, &logs);
	}
	triage_list_fini(&logs);
	return status; /* the copies go with the process */
}

static int run_triage(struct cli *cli, const struct triage_args *args)
{
	struct triage_records records = { .fd = -1 };
	struct sources sources = { .fd = cli_alloc((size_t)args->n_paths + 1, sizeof(int)) };
	struct triage_list logs = { 0 };
	if (args->html && mkdir(args->html, 0777) != 0 && errno != EEXIST) {
		cli_warn("%s: %s", args->html, strerror(errno));
		free(sources.fd);
		return CLI_NO_ANSWER;
	}
	int status = args->watch ? triage_records_open(args->records, &records)
				 : collect_records(cli, args, &records, &sources, &logs);
	if (status == CLI_ANSWERED)
		status = args->watch ? triage_watch(cli, args, &records)
				     : finish_triage(cli, args, &sources, &logs);
	for (size_t i = 0; args->merge && i < sources.n; i++)
		close(sources.fd[i]);
	triage_list_fini(&logs);
	triage_records_close(&records);
	free(sources.fd);
	return status;
}

int verb_triage(struct cli *cli, int argc, char **argv)
{
	struct triage_args args = { .paths = cli_alloc((size_t)argc, sizeof *args.paths) };
	int status =
		triage_arguments_parse(cli, argc, argv, &args) ? run_triage(cli, &args) : CLI_USAGE;
	free(args.paths);
	free(args.logs.item);
	free(args.dumps.item);
	return status;
}
