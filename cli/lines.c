/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope lines: line maps of GPU code. */
#include <stdlib.h>
#include <string.h>

#include "images.h"

struct lines_request {
	struct ws_lines query;
	struct cli_given pc;
	const char *arch;
	char *source; /* owned: the file of --source, or NULL */
};

/* FILE:LINE; the file may have colons. */
static int take_source(void *asked, const char *text)
{
	struct lines_request *request = asked;
	const char *colon = strrchr(text, ':');
	uint64_t line;
	if (!colon || colon == text || !cli_number(colon + 1, &line) || line > UINT32_MAX)
		return cli_usage("lines", "--source takes FILE:LINE, not '%s'", text);
	free(request->source);
	request->query.source = request->source = cli_copy(text, (size_t)(colon - text));
	request->query.source_line = (uint32_t)line;
	return CLI_ANSWERED;
}

const struct cli_option verb_lines_options[] = {
	{ "function", 0, CLI_TEXT, .at = offsetof(struct lines_request, query.function) },
	{ "pc", 0, CLI_NUMBER, .at = offsetof(struct lines_request, pc) },
	{ "source", 0, CLI_TAKE, .take = take_source },
	{ "raw", 0, CLI_FLAG, .at = offsetof(struct lines_request, query.raw) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct lines_request, arch) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct lines_request, query.full_names) },
	{ 0 },
};

static int parse_lines_arguments(struct cli *cli, int *argc, char ***argv,
				 struct lines_request *request)
{
	struct ws_lines *query = &request->query;
	int status = cli_options_take(cli, verb_lines_options, request, argc, argv);
	if (status != CLI_ANSWERED)
		return status;
	query->has_pc = request->pc.given;
	query->pc = request->pc.value;
	if (*argc != 1)
		return cli_usage("lines", "one FILE is needed");
	if (query->raw + query->has_pc + !!query->source > 1)
		return cli_usage("lines", "--raw, --pc and --source exclude each other");
	if (query->function && (query->raw || query->source))
		return cli_usage("lines", "--function goes with --pc, or alone");
	return CLI_ANSWERED;
}

int verb_lines(struct cli *cli, int argc, char **argv)
{
	struct lines_request request = { 0 };
	struct images images = { 0 };
	struct ws_error err;
	bool shown = false;
	int status = parse_lines_arguments(cli, &argc, &argv, &request);
	if (status == CLI_ANSWERED)
		status = images_open(cli, "lines", argv[0], request.arch, &images);
	if (status == CLI_ANSWERED) {
		const struct ws_answer_style style = cli_style_of(cli, argv[0]);
		if (ws_lines_answer(&images.code, &request.query, &style, &shown, &err) != WS_OK)
			status = cli_fail(argv[0], &err);
		else if (!shown)
			status = CLI_NO_ANSWER;
	}
	images_close(&images);
	free(request.source);
	return status;
}
