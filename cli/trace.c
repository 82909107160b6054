/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope trace replay TRACE DUMP, warpscope trace diff A B: traces of the debugger API. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cudbg.h>
#include <warpscope/trace.h>

#include "cli.h"

static const char *const kind_names[] = {
	[WS_TRACE_RESULT] = "result",
	[WS_TRACE_OUTPUT] = "output",
	[WS_TRACE_ONLY_A] = "only_a",
	[WS_TRACE_ONLY_B] = "only_b",
	[WS_TRACE_NOT_REPLAYED] = "not_replayed",
	[WS_TRACE_DAMAGED] = "damaged",
};

struct trace_job {
	struct cli *cli;
	struct ws_json json;
	bool replays, begun;
	const char *path[2]; /* traces; of replay the second is the target */
	struct cli_given limit, table;
	uint64_t shown[WS_TRACE_N_KINDS];
	struct ws_trace_options options;
	struct ws_trace_counts counts;
};

/* ---- telling ---- */

static void key_line(struct ws_json *json, const char *key, uint64_t line)
{
	if (ws_json_key_or_null(json, key, line))
		ws_json_u64(json, line);
}

static void tell_json(struct ws_json *json, const struct ws_trace_difference *d)
{
	ws_json_object(json);
	ws_json_key_text(json, "kind", kind_names[d->kind]);
	key_line(json, "line_a", d->line_a);
	key_line(json, "line_b", d->line_b);
	ws_json_key_text(json, "call", d->call);
	ws_json_key_text(json, "what", *d->what ? d->what : NULL);
	ws_json_key_text(json, "a", d->a);
	ws_json_key_text(json, "b", d->b);
	ws_json_end(json);
}

static void tell_text(struct ws_out *out, const struct ws_trace_difference *d)
{
	static const char marks[] = { '~', '~', '-', '+', '?', '!' };
	ws_out_printf(out, "%c %" PRIu64, marks[d->kind], d->line_a ? d->line_a : d->line_b);
	if (d->line_a && d->line_b && d->line_a != d->line_b)
		ws_out_printf(out, "/%" PRIu64, d->line_b);
	ws_out_text(out, *d->call ? " " : "");
	ws_out_escaped(out, ws_str_of(d->call));
	ws_out_text(out, *d->what ? " " : "");
	ws_out_escaped(out, ws_str_of(d->what));
	ws_out_text(out, ": ");
	ws_out_escaped(out, ws_str_of(d->a ? d->a : d->b));
	if (d->a && d->b)
		ws_out_text(out, d->kind == WS_TRACE_NOT_REPLAYED ? "; not made: " : " -> ");
	if (d->a && d->b)
		ws_out_escaped(out, ws_str_of(d->b));
	ws_out_text(out, "\n");
}

/* What comes before the first difference; nothing is printed when there is no answer. */
static void print_what_comes_before(struct trace_job *job)
{
	struct ws_json *json = &job->json;
	if (job->begun || !job->cli->json)
		return;
	job->begun = true;
	ws_json_begin(json, &job->cli->out, "warpscope-trace-1");
	ws_json_key_text(json, "form", job->replays ? "replay" : "diff");
	ws_json_key_text(json, "a", job->path[0]);
	ws_json_key_text(json, "b", job->path[1]);
	ws_json_key_array(json, "differences");
}

static void tell_difference(void *user, const struct ws_trace_difference *difference)
{
	struct trace_job *job = user;
	print_what_comes_before(job);
	if (job->limit.value && job->shown[difference->kind]++ >= job->limit.value)
		return;
	if (job->cli->json)
		tell_json(&job->json, difference);
	else
		tell_text(&job->cli->out, difference);
}

static void end_json(struct trace_job *job, bool same)
{
	struct ws_json *json = &job->json;
	ws_json_end(json);
	ws_json_key_object(json, "counts");
	ws_json_key_u64(json, "compared", job->counts.compared);
	ws_json_key_u64(json, "same", job->counts.same);
	ws_json_key_u64(json, "other_tables", job->counts.other_tables);
	for (int kind = 0; kind < WS_TRACE_N_KINDS; kind++) {
		ws_json_key_u64(json, kind_names[kind], job->counts.found[kind]);
	}
	ws_json_end(json);
	ws_json_key_bool(json, "same", same);
	ws_json_end(json);
}

static void end_text(struct trace_job *job)
{
	struct ws_out *out = &job->cli->out;
	for (int kind = 0; kind < WS_TRACE_N_KINDS; kind++)
		if (job->limit.value && job->counts.found[kind] > job->limit.value)
			ws_out_printf(out,
				      "%s: %" PRIu64 ", %" PRIu64 " shown; --limit 0 shows all\n",
				      kind_names[kind], job->counts.found[kind], job->limit.value);
	ws_out_printf(out, "%" PRIu64 " calls compared, %" PRIu64 " the same", job->counts.compared,
		      job->counts.same);
	if (job->counts.other_tables)
		ws_out_printf(out, "; %" PRIu64 " of other tables", job->counts.other_tables);
	ws_out_text(out, "\n");
}

/* ---- the two forms ---- */

/* The table that answers: of the provider, or of ours over the dump. */
static int replay_trace(struct trace_job *job)
{
	struct ws_provider provider = { .major = UINT32_MAX,
					.capabilities = &cudbgDebuggerCapabilities };
	struct ws_target *target = NULL;
	struct ws_error err;
	enum ws_status st;
	int status = CLI_ANSWERED;
	if (job->cli->api_lib) {
		if (strcmp(job->path[1], "-") != 0 &&
		    setenv("WARPSCOPE_CORE", job->path[1], 1) != 0)
			cli_out_of_memory();
		st = ws_provider_open(job->cli->api_lib, &provider, &err);
	} else {
		status = cli_target_open(job->cli, job->path[1], &target);
		if (status != CLI_ANSWERED)
			return status;
		st = ws_cudbg_api(target, &provider.api, &err);
	}
	if (st == WS_OK) {
		st = ws_trace_replay(job->path[0], &provider, &job->options, &job->counts, &err);
		if (job->cli->api_lib)
			(void)provider.api->finalize();
	}
	if (st != WS_OK)
		status = cli_fail(NULL, &err);
	if (target)
		ws_cudbg_release(provider.api);
	cli_target_close(job->cli, target);
	ws_provider_close(&provider);
	return status;
}

static int diff(struct trace_job *job)
{
	struct ws_error err;
	return ws_trace_diff(job->path[0], job->path[1], &job->options, &job->counts, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(NULL, &err);
}

static int run_trace(struct trace_job *job)
{
	bool same = true;
	int status = job->replays ? replay_trace(job) : diff(job);
	if (status != CLI_ANSWERED)
		return status;
	for (int kind = WS_TRACE_RESULT; kind <= WS_TRACE_ONLY_B; kind++)
		same = same && !job->counts.found[kind];
	print_what_comes_before(job);
	if (job->cli->json)
		end_json(job, same);
	else
		end_text(job);
	return same ? CLI_ANSWERED : CLI_FOUND;
}

const struct cli_option verb_trace_options[] = {
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct trace_job, limit) },
	{ "table", 0, CLI_NUMBER, .at = offsetof(struct trace_job, table) },
	{ 0 },
};

int verb_trace(struct cli *cli, int argc, char **argv)
{
	struct trace_job job = { .cli = cli, .limit.value = 20 };
	int status = cli_options_take(cli, verb_trace_options, &job, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (job.table.value >= UINT32_MAX)
		return cli_usage("trace", "--table takes a number");
	if (argc != 3)
		return cli_usage("trace", "replay TRACE DUMP, or diff TRACE TRACE");
	job.replays = strcmp(argv[0], "replay") == 0;
	if (!job.replays && strcmp(argv[0], "diff") != 0)
		return cli_usage("trace", "there is no form \"%s\"", argv[0]);
	job.path[0] = argv[1];
	job.path[1] = argv[2];
	job.options.size = sizeof job.options;
	job.options.one_table = job.table.given;
	job.options.table = (uint32_t)job.table.value;
	job.options.tell = tell_difference;
	job.options.user = &job;
	return run_trace(&job);
}
