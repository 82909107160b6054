/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope report: what failed, where, and where all other threads are. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources.h"

enum report_format {
	FORMAT_TEXT,
	FORMAT_MARKDOWN,
	FORMAT_JSON,
	FORMAT_HTML,
	FORMAT_GITHUB,
	FORMAT_GITLAB,
};

enum { HTML_SOURCE_CONTEXT = 12 }; /* lines around that of a frame */

/* What the command line says. */
struct report_arguments {
	const char *path;
	const char *format, *output; /* as given, or NULL */
	enum report_format format_kind;
	bool exit_code;
	struct ws_report_options report;
	struct ws_text_options text;
	struct cli_sources sources;
	const char **images; /* owned; as long as the command line */
};

static void arguments_fini(struct report_arguments *args)
{
	cli_sources_fini(&args->sources);
	free(args->images);
}

static int take_map(void *query, const char *text)
{
	struct report_arguments *args = query;
	return cli_sources_take_map(&args->sources, "report", text);
}

static int take_source_dir(void *query, const char *path)
{
	struct report_arguments *args = query;
	cli_sources_dir(&args->sources, path);
	return CLI_ANSWERED;
}

static int take_image(void *query, const char *path)
{
	struct report_arguments *args = query;
	args->images[args->report.n_debug_images++] = path;
	return CLI_ANSWERED;
}

const struct cli_option verb_report_options[] = {
	{ "source-map", 0, CLI_TAKE, .take = take_map },
	{ "source-dir", 0, CLI_TAKE, .take = take_source_dir },
	{ "no-source", 0, CLI_FLAG, .at = offsetof(struct report_arguments, report.no_source) },
	{ "debug-image", 0, CLI_TAKE, .take = take_image },
	{ "memory-snapshot", 0, CLI_TEXT,
	  .at = offsetof(struct report_arguments, report.memory_snapshot) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct report_arguments, text.full_names) },
	{ "all", 0, CLI_FLAG, .at = offsetof(struct report_arguments, text.all) },
	{ "brief", 0, CLI_FLAG, .at = offsetof(struct report_arguments, text.brief) },
	{ "exit-code", 0, CLI_FLAG, .at = offsetof(struct report_arguments, exit_code) },
	{ "format", 0, CLI_TEXT, .at = offsetof(struct report_arguments, format) },
	{ "output", 'o', CLI_TEXT, .at = offsetof(struct report_arguments, output) },
	{ 0 },
};

/* What --format and --json ask for together; says so when it is nothing. */
static bool report_format_find(const struct cli *cli, struct report_arguments *args)
{
	static const char *const names[] = {
		[FORMAT_TEXT] = "text", [FORMAT_MARKDOWN] = "md",   [FORMAT_JSON] = "json",
		[FORMAT_HTML] = "html", [FORMAT_GITHUB] = "github", [FORMAT_GITLAB] = "gitlab"
	};
	const char *name = args->format ? args->format : cli->json ? "json" : "text";
	if (cli->json && strcmp(name, "json") != 0) {
		cli_usage("report", "--json and --format %s exclude each other", name);
		return false;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		args->format_kind = (enum report_format)i;
		if (args->format_kind == FORMAT_HTML)
			args->report.source_context = HTML_SOURCE_CONTEXT;
		return true;
	}
	cli_usage("report", "--format takes text, md, json, html, github or gitlab, not '%s'",
		  name);
	return false;
}

static bool report_arguments_parse(struct cli *cli, int argc, char **argv,
				   struct report_arguments *args)
{
	if (cli_options_take(cli, verb_report_options, args, &argc, &argv) != CLI_ANSWERED)
		return false;
	if (argc != 1) {
		cli_usage("report", argc == 0 ? "which dump?"
					      : "one dump at a time; of several, warpscope triage "
						"says which to read, and warpscope diff what "
						"differs between two");
		return false;
	}
	args->path = argv[0];
	if (!report_format_find(cli, args))
		return false;
	if (args->text.brief && args->format_kind > FORMAT_MARKDOWN) {
		cli_usage("report", "--brief goes with text and md; the others are always whole");
		return false;
	}
	if (args->text.brief && args->text.all) {
		cli_usage("report", "--brief and --all exclude each other");
		return false;
	}
	cli_sources_use(&args->sources, &args->report);
	args->report.debug_images = args->images;
	args->report.path = args->path;
	args->text.color = cli->color && !args->output;
	if (args->output || args->format_kind != FORMAT_TEXT)
		cli_fold(cli, 0);
	args->text.columns = cli->wrap.columns;
	return true;
}

/* With --exit-code. */
static const int exit_statuses[] = {
	[WS_VERDICT_FAULT] = CLI_FOUND,
	[WS_VERDICT_HANG] = CLI_HANG,
	[WS_VERDICT_NONE] = CLI_ANSWERED,
	[WS_VERDICT_UNKNOWN] = CLI_CANNOT_TELL,
};

static enum ws_status render_report(const struct report_arguments *args,
				    const struct ws_report *report, struct ws_out *out,
				    struct ws_error *err)
{
	char folder[4096];
	switch (args->format_kind) {
	case FORMAT_TEXT:
		return ws_report_text(report, &args->text, out, err);
	case FORMAT_MARKDOWN:
		return ws_report_markdown(report, &args->text, out, err);
	case FORMAT_JSON:
		ws_report_json(report, out);
		return WS_OK;
	case FORMAT_HTML:
		return ws_report_html(report, &args->text, out, err);
	case FORMAT_GITHUB:
	case FORMAT_GITLAB:
		ws_report_annotation(report,
				     args->format_kind == FORMAT_GITHUB ? WS_ANNOTATION_GITHUB
									: WS_ANNOTATION_GITLAB,
				     getcwd(folder, sizeof folder), out);
		return WS_OK;
	}
	return WS_OK;
}

/* Writes the whole page or nothing. */
static enum ws_status render_to_file(const struct report_arguments *args,
				     const struct ws_report *report, struct ws_error *err)
{
	struct cli_bytes page = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &page);
	enum ws_status st = render_report(args, report, &out, err);
	if (st == WS_OK)
		st = ws_out_flush(&out, err);
	struct ws_span bytes = { .ptr = (const uint8_t *)page.ptr, .len = page.len };
	if (st == WS_OK)
		st = ws_file_replace(args->output, bytes, args->path, err);
	free(page.ptr);
	return st;
}

static int print_report_pages(struct cli *cli, const struct report_arguments *args,
			      const struct ws_report *report)
{
	struct ws_error err;
	bool to_file = args->output && strcmp(args->output, "-") != 0;
	enum ws_status st = to_file ? render_to_file(args, report, &err)
				    : render_report(args, report, &cli->out, &err);
	if (st != WS_OK)
		return cli_fail(to_file ? args->output : args->path, &err);
	return args->exit_code ? exit_statuses[report->verdict] : CLI_ANSWERED;
}

static int run_report(struct cli *cli, const struct report_arguments *args)
{
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_error err;
	int status = cli_target_open(cli, args->path, &target);
	if (status != CLI_ANSWERED)
		return status;
	if (ws_report_create(target, &args->report, &report, &err) == WS_OK) {
		status = print_report_pages(cli, args, report);
		ws_report_destroy(report);
	} else {
		status = cli_fail(NULL, &err); /* it names the file itself */
	}
	cli_target_close(cli, target);
	return status;
}

int verb_report(struct cli *cli, int argc, char **argv)
{
	struct report_arguments args = {
		.report = { .size = sizeof args.report },
		.text = { .size = sizeof args.text },
		.images = cli_alloc((size_t)argc, sizeof *args.images),
	};
	int status =
		report_arguments_parse(cli, argc, argv, &args) ? run_report(cli, &args) : CLI_USAGE;
	arguments_fini(&args);
	return status;
}
