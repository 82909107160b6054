/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's variables for dumps: which, for what, and what each costs; warpscope env. */
#include "exec/exec.h"

#include <inttypes.h>
#include <string.h>

static const struct purpose {
	const char *name, *flags, *cost;
	bool on_request; /* also when a pipe is written to */
} purposes[EXEC_N_PURPOSES] = {
	[EXEC_FAULT] = { "fault",
			 "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,"
			 "skip_local_memory",
			 "state, registers, code and kernel parameters, no memory: seconds, and a "
			 "few hundred MB at most",
			 false },
	[EXEC_HANG] = { "hang", "skip_nonrelocated_elf_images,skip_global_memory,skip_local_memory",
			"also shared memory, which holds barriers: at most 228 KiB more for each "
			"SM",
			true },
	[EXEC_SHARE] = { "share",
			 "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,"
			 "skip_local_memory,skip_constbank_memory",
			 "no memory and no values of kernel parameters; registers stay: see "
			 "warpscope strip",
			 false },
	[EXEC_FULL] = { "full", "",
			"where dumps go (%t time, %h host, %p process); they hold everything, all "
			"of "
			"the GPU's memory too: minutes, and as many GB as are in use",
			true },
};

bool exec_purpose_find(const char *name, enum exec_purpose *ret_purpose)
{
	for (int i = 0; i < EXEC_N_PURPOSES; i++) {
		if (strcmp(name, purposes[i].name) == 0) {
			*ret_purpose = (enum exec_purpose)i;
			return true;
		}
	}
	return false;
}

/* ---- making the set ---- */

static bool variable_cost_add(struct exec_variables *set, const char *name, const char *cost,
			      const char *a, const char *b)
{
	struct exec_variable *item = &set->item[set->n++];
	item->name = name;
	item->cost = cost;
	int len = snprintf(item->value, sizeof item->value, "%s%s", a, b);
	return len >= 0 && (size_t)len < sizeof item->value;
}

void exec_dump_name(struct exec_part part, const char *host, char *ret_name, size_t size)
{
	char of[32] = "";
	if (part.kind)
		snprintf(of, sizeof of, "%c%" PRIu64 "_", part.kind[0], part.number);
	snprintf(ret_name, size, "core_%s%%t_%s_%%p.nvcudmp", of, host);
}

bool exec_variables_make(enum exec_purpose purpose, const char *folder, struct exec_part part,
			 const char *flags, struct exec_variables *ret_variables)
{
	const struct purpose *p = &purposes[purpose];
	char words[256], file[80] = "/";
	static const char place[] = "where dumps go (%t time, %h host, %p process)";
	struct exec_variables *set = ret_variables;
	set->n = 0;
	exec_dump_name(part, "%h", file + 1, sizeof file - 1);
	snprintf(words, sizeof words, "%s%s%s", p->flags, *p->flags && flags ? "," : "",
		 flags ? flags : "");
	bool fits = variable_cost_add(set, "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
				      "a dump when a kernel fails; warps wait at their exit so "
				      "that the location is "
				      "exact: 0 to 9 percent of run time in public measurements",
				      "1", "") &&
		    variable_cost_add(set, "CUDA_COREDUMP_FILE", *words ? place : p->cost, folder,
				      file) &&
		    variable_cost_add(set, "CUDA_COREDUMP_SHOW_PROGRESS",
				      "progress on standard error while a dump is written: no cost",
				      "1", "") &&
		    variable_cost_add(set, "CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION",
				      "0: no core dump of the host process, which would be as "
				      "large as the process",
				      "0", "");
	if (fits && *words)
		fits = variable_cost_add(set, "CUDA_COREDUMP_GENERATION_FLAGS", p->cost, words, "");
	if (fits && p->on_request)
		fits = variable_cost_add(
			       set, "CUDA_ENABLE_USER_TRIGGERED_COREDUMP",
			       "a thread waits at a pipe for requests (warpscope trigger): no cost "
			       "until "
			       "one comes",
			       "1", "") &&
		       variable_cost_add(set, "CUDA_COREDUMP_PIPE", "the path of that pipe", folder,
					 "/pipe_%h_%p");
	return fits;
}

/* ---- warpscope env ---- */

struct env_args {
	const char *purpose, *dumps;
};

const struct cli_option verb_env_options[] = {
	{ "for", 0, CLI_TEXT, .at = offsetof(struct env_args, purpose) },
	{ "dumps", 0, CLI_TEXT, .at = offsetof(struct env_args, dumps) },
	{ 0 },
};

static void env_text(struct ws_out *out, const struct exec_variables *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct exec_variable *one = &set->item[i];
		ws_out_printf(out, "# %s\nexport %s='", one->cost, one->name);
		/* within single quotes of a shell, one ends, stands escaped, and goes on */
		for (const char *at = one->value; *at;) {
			int n = (int)strcspn(at, "'");
			ws_out_printf(out, "%.*s", n, at);
			at += n;
			if (*at) {
				ws_out_text(out, "'\\''");
				at++;
			}
		}
		ws_out_text(out, "'\n");
	}
}

static void env_json(struct cli *cli, const char *purpose, const struct exec_variables *set)
{
	struct ws_json json;
	ws_json_begin(&json, &cli->out, "warpscope-env-1");
	ws_json_key_text(&json, "for", purpose);
	ws_json_key(&json, "variables");
	ws_json_array(&json);
	for (size_t i = 0; i < set->n; i++) {
		ws_json_object(&json);
		ws_json_key_text(&json, "name", set->item[i].name);
		ws_json_key_text(&json, "value", set->item[i].value);
		ws_json_key_text(&json, "cost", set->item[i].cost);
		ws_json_end(&json);
	}
	ws_json_end(&json);
	ws_json_end(&json);
}

int verb_env(struct cli *cli, int argc, char **argv)
{
	struct env_args args = { .purpose = "fault", .dumps = "/tmp" };
	struct exec_variables set;
	enum exec_purpose purpose;
	int status = cli_options_take(cli, verb_env_options, &args, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc > 0)
		return cli_usage("env", "it takes options only, not '%s'", argv[0]);
	if (!exec_purpose_find(args.purpose, &purpose))
		return cli_usage("env", "--for takes fault, hang, share or full, not '%s'",
				 args.purpose);
	if (args.dumps[0] != '/' || strpbrk(args.dumps, "%\n"))
		return cli_usage("env",
				 "--dumps takes a folder from / on, without %% and line ends, as "
				 "programs may change their folder; not '%s'",
				 args.dumps);
	if (!exec_variables_make(purpose, args.dumps, (struct exec_part){ 0 }, NULL, &set))
		return cli_usage("env", "CUDA takes paths of at most 1,023 characters");
	if (cli->json)
		env_json(cli, args.purpose, &set);
	else
		env_text(&cli->out, &set);
	return CLI_ANSWERED;
}
