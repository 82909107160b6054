/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope debug: kernels of an image on the software GPU, or another's device, under gdb's
 * commands. */
#include "prompt/prompt.h"

#include <string.h>

const struct cli_option verb_debug_options[] = {
	RUN_SETUP_OPTIONS,
	DEBUG_PROMPT_OPTIONS,
	{ "history", 0, CLI_NUMBER, .at = offsetof(struct debugger, history) },
	{ "api", 0, CLI_FLAG, .at = offsetof(struct debugger, through_api) },
	{ "software-gpu", 0, CLI_FLAG, .at = offsetof(struct debugger, software_gpu) },
	{ "pid", 0, CLI_NUMBER, .at = offsetof(struct debugger, pid) },
	{ "attach-by", 0, CLI_TEXT, .at = offsetof(struct debugger, attach_by) },
	{ 0 },
};

/* A program with its arguments, or one that runs. */
static int check_program(struct debugger *d, int argc, char **argv)
{
	static const char *const ways[] = {
		[WS_DEBUG_BY_DESCRIPTOR] = "descriptor",
		[WS_DEBUG_BY_CALL] = "call",
		[WS_DEBUG_BY_INIT] = "init",
	};
	bool is_known = !d->attach_by;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !is_known; i++) {
		is_known = strcmp(d->attach_by, ways[i]) == 0;
		d->attach_way = (enum ws_debug_attach_way)i;
	}
	d->what = d->pid.given ? DEBUG_PROCESS : DEBUG_PROGRAM;
	d->gdb.settings.program = argv;
	if (d->cli->api_lib || d->through_api || (d->software_gpu && d->pid.given))
		return cli_usage("debug", "--software-gpu, --pid, --api and --api-lib are without "
					  "each other");
	if (!is_known || (d->attach_by && !d->pid.given))
		return cli_usage("debug", "--attach-by descriptor, call or init is for --pid");
	if (d->pid.given)
		return argc == 0 ? CLI_ANSWERED
				 : cli_usage("debug", "with --pid there is no program to start");
	return argc > 0 ? CLI_ANSWERED
			: cli_usage("debug", "--software-gpu -- PROGRAM is expected");
}

/* An image to execute, or a provider of the debugger API, that has a device of its own. */
static int check_what(struct debugger *d, int argc, char **argv)
{
	if (d->software_gpu || d->pid.given)
		return check_program(d, argc, argv);
	d->what = d->cli->api_lib ? DEBUG_DEVICE : DEBUG_IMAGE;
	if (d->what == DEBUG_IMAGE)
		return run_setup_check(&d->setup, argc, argv);
	return argc == 0 && !d->through_api
		       ? CLI_ANSWERED
		       : cli_usage("debug", "with --api-lib there is no IMAGE");
}

int verb_debug(struct cli *cli, int argc, char **argv)
{
	struct debugger d = { .setup = RUN_SETUP_INIT(cli), .cli = cli };
	int status = debug_options_take(&d, verb_debug_options, &argc, &argv);
	if (status == CLI_ANSWERED)
		status = check_what(&d, argc, argv);
	if (status == CLI_ANSWERED)
		status = debug_begin(&d);
	if (status == CLI_ANSWERED)
		status = debug_make(&d);
	if (status == CLI_ANSWERED)
		status = debug_prompt(&d);
	debug_unmake(&d);
	debug_fini(&d);
	return status;
}
