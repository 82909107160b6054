/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope as: a cubin from a text with GPU machine instructions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/assemble.h>

#include "cli.h"

struct as {
	struct cli *cli;
	const char *path, *output, *arch;
	struct ws_json json;
	uint32_t n_errors;
};

/* NULL when it cannot be read, which has been told. */
static char *read_source(const char *path, size_t *ret_len)
{
	char *text = cli_file_read(path, WS_ASSEMBLE_MAX_SOURCE, ret_len);
	if (!text || !memchr(text, '\0', *ret_len))
		return text;
	cli_warn("%s: is not text; machine instructions as text are expected", path);
	free(text);
	return NULL;
}

static void report_mistake(void *user, uint32_t line, uint32_t column, const char *message)
{
	struct as *as = user;
	as->n_errors++;
	if (!as->cli->json) {
		cli_say("%s:%u:%u: %s\n", as->path, line, column, message);
		return;
	}
	ws_json_object(&as->json);
	ws_json_key_u64(&as->json, "line", line);
	ws_json_key_u64(&as->json, "column", column);
	ws_json_key_text(&as->json, "message", message);
	ws_json_end(&as->json);
}

static void json_assembly_start(struct as *as)
{
	ws_json_begin(&as->json, &as->cli->out, "warpscope-as-1");
	ws_json_key_text(&as->json, "path", as->path);
	ws_json_key_array(&as->json, "errors");
}

/* `bytes`: of the image; 0 when there is none. */
static void json_finish(struct as *as, size_t bytes)
{
	ws_json_end(&as->json);
	ws_json_key(&as->json, "output");
	if (bytes) {
		ws_json_text(&as->json, as->output);
		ws_json_key_u64(&as->json, "bytes", bytes);
	} else {
		ws_json_null(&as->json);
		ws_json_key_text(&as->json, "output_why", "absent");
	}
	ws_json_end(&as->json);
}

static int assemble_text(struct as *as, struct ws_str source)
{
	struct ws_assemble_options how = { .arch = as->arch, .report = report_mistake, .user = as };
	struct ws_assembly *assembly = NULL;
	struct ws_error err;
	size_t bytes = 0;
	if (as->cli->json)
		json_assembly_start(as);
	enum ws_status st = ws_assemble(source, &how, &assembly, &err);
	if (st == WS_OK) {
		struct ws_span image = ws_assembly_image(assembly);
		st = ws_file_replace(as->output, image, as->path, &err);
		bytes = st == WS_OK ? image.len : 0;
	}
	ws_assembly_destroy(assembly);
	if (as->cli->json)
		json_finish(as, bytes);
	if (st == WS_OK)
		return CLI_ANSWERED;
	if (as->n_errors >= WS_ASSEMBLE_MAX_ERRORS)
		cli_warn("%s: there may be more mistakes", as->path);
	else if (as->n_errors == 0)
		return cli_fail(as->path, &err);
	return CLI_NO_ANSWER;
}

const struct cli_option verb_as_options[] = {
	{ "output", 'o', CLI_TEXT, .at = offsetof(struct as, output) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct as, arch) },
	{ 0 },
};

int verb_as(struct cli *cli, int argc, char **argv)
{
	struct as as = { .cli = cli };
	int status = cli_options_take(cli, verb_as_options, &as, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc != 1)
		return cli_usage("as", "exactly one SOURCE is needed");
	if (!as.output)
		return cli_usage("as", "-o FILE is needed");
	as.path = argv[0];
	size_t len = 0;
	char *text = read_source(as.path, &len);
	if (!text)
		return CLI_NO_ANSWER;
	status = assemble_text(&as, (struct ws_str){ text, len });
	free(text);
	return status;
}
