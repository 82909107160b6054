/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope shell: the prompt of `debug` over a dump. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/report.h>

const struct cli_option verb_shell_options[] = {
	DEBUG_PROMPT_OPTIONS,
	{ 0 },
};

/* Says what the report says first, and looks at the thread that it names. */
static void shell_begin(struct debugger *d)
{
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_out *out = &d->cli->out;
	const struct ws_report *report;
	struct ws_error err;
	ws_out_text(out, "Opening GPU coredump: ");
	ws_out_escaped(out, ws_str_of(d->dump));
	ws_out_text(out, "\n\n");
	if (ws_report_create(d->target, &options, &report, &err) != WS_OK) {
		cli_fail(d->dump, &err);
		return;
	}
	const struct ws_report_exception *first = report->focus;
	if (first && report->verdict == WS_VERDICT_FAULT) {
		ws_out_text(out, "CUDA Exception: ");
		ws_out_escaped(out, ws_str_of(first->label));
		ws_out_text(out, "\n");
		if (first->errorpc_status == WS_OK) {
			ws_out_printf(out, "The exception was triggered at PC 0x%" PRIx64 "  ",
				      first->errorpc);
			debug_print_place(d, first->errorpc);
		}
	}
	cli_fold(d->cli, d->cli->columns);
	ws_out_escaped(out, ws_str_of(report->summary));
	ws_out_text(out, "\n");
	cli_fold(d->cli, 0);
	if (first) {
		bool named = first->suspect.lane != WS_NONE;
		const struct ws_report_thread *thread = named ? &first->suspect : &first->at;
		(void)debug_focus_on(d, thread->warp_index, thread->lane);
	}
	d->told.next = DEBUG_NUMBERED;
	debug_print_thread(d);
	if (ws_debug_focus(d->session) && report->verdict == WS_VERDICT_FAULT &&
	    first->errorpc_status == WS_OK && first->errorpc != first->pc)
		debug_print_code(d, first->errorpc, 1);
	ws_report_destroy(report);
}

int debug_open(struct debugger *d, const char *path)
{
	struct ws_target *target, *before = d->cli->live;
	d->cli->live = NULL; /* it takes the place of every file */
	int status = cli_target_open(d->cli, path, &target);
	d->cli->live = before;
	if (status != CLI_ANSWERED)
		return status;
	char *name = cli_copy(path, strlen(path)); /* it may be the dump's own name */
	debug_close(d);
	d->dump = name;
	status = debug_use(d, target);
	if (status == CLI_ANSWERED)
		shell_begin(d);
	return status;
}

void debug_close(struct debugger *d)
{
	debug_unmake(d);
	free(d->dump);
	d->dump = NULL;
	gdb_lines_free(&d->names);
}

int verb_shell(struct cli *cli, int argc, char **argv)
{
	struct debugger d = { .cli = cli };
	int status = debug_options_take(&d, verb_shell_options, &argc, &argv);
	if (status == CLI_ANSWERED && argc != 1)
		status = cli_usage("shell", "one dump is expected");
	if (status == CLI_ANSWERED)
		status = debug_begin(&d);
	if (status == CLI_ANSWERED)
		status = debug_open(&d, argv[0]);
	if (status == CLI_ANSWERED)
		status = debug_prompt(&d);
	debug_close(&d);
	debug_fini(&d);
	return status;
}
