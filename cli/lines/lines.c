/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope lines: line maps of GPU code. This file reads the command line; lines/rows.c and
 * lines/raw.c answer. */
#include "lines/lines.h"

#include <stdlib.h>
#include <string.h>

/* FILE:LINE; the file may have colons. */
static int take_source(void *asked, const char *text)
{
	struct lines_query *query = asked;
	const char *colon = strrchr(text, ':');
	uint64_t line;
	if (!colon || colon == text || !cli_number(colon + 1, &line) || line > UINT32_MAX)
		return cli_usage("lines", "--source takes FILE:LINE, not '%s'", text);
	free(query->source);
	query->source = cli_copy(text, (size_t)(colon - text));
	query->source_line = (uint32_t)line;
	return CLI_ANSWERED;
}

const struct cli_option verb_lines_options[] = {
	{ "function", 0, CLI_TEXT, .at = offsetof(struct lines_query, function) },
	{ "pc", 0, CLI_NUMBER, .at = offsetof(struct lines_query, pc) },
	{ "source", 0, CLI_TAKE, .take = take_source },
	{ "raw", 0, CLI_FLAG, .at = offsetof(struct lines_query, raw) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct lines_query, arch) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct lines_query, full_names) },
	{ 0 },
};

static int parse_lines_arguments(struct cli *cli, int argc, char **argv, struct lines_query *query)
{
	int status = cli_options_take(cli, verb_lines_options, query, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc != 1)
		return cli_usage("lines", "one FILE is needed");
	if (query->raw + query->pc.given + !!query->source > 1)
		return cli_usage("lines", "--raw, --pc and --source exclude each other");
	if (query->function && (query->raw || query->source))
		return cli_usage("lines", "--function goes with --pc, or alone");
	query->path = argv[0];
	return CLI_ANSWERED;
}

/* ---- damage ---- */

static void say_line_damage(void *user, const struct ws_line_diagnostic *diagnostic)
{
	const char **path = user;
	cli_warn("%s: %s (file offset 0x%llx)", *path, diagnostic->message,
		 (unsigned long long)diagnostic->file_off);
}

static void json_damage(void *user, const struct ws_line_diagnostic *diagnostic)
{
	struct ws_json *json = user;
	ws_json_object(json);
	ws_json_key_text(json, "what", ws_status_name(diagnostic->status));
	ws_json_key_hex(json, "offset", diagnostic->file_off);
	ws_json_key_text(json, "message", diagnostic->message);
	ws_json_end(json);
}

/* ---- images ---- */

static bool lines_answer(struct cli *cli, const struct lines_query *query,
			 const struct ws_code_image *image, struct ws_line_map *map,
			 struct ws_json *json)
{
	if (query->raw)
		return lines_raw(cli, map, json);
	if (query->pc.given)
		return lines_pc(cli, query, image, json);
	if (query->source)
		return lines_source(cli, query, image, map, json);
	return lines_rows(cli, query, image, map, json);
}

/* Lines of one image; several get a heading each. */
static bool lines_of_image(struct cli *cli, const struct lines_query *query,
			   const struct images *images, size_t index, struct ws_json *json)
{
	const struct ws_code_image *image = &images->item[index];
	struct ws_line_map *map;
	struct ws_error err;
	char why[400];
	image_begin(cli, images, image, index > 0, json);
	if (json)
		ws_json_key_bool(json, "relocatable", image->facts.relocatable);
	enum ws_status st = ws_cubin_line_map(image->cubin, &map, &err);
	bool shown = st == WS_OK && lines_answer(cli, query, image, map, json);
	if (st == WS_ABSENT) {
		ws_cubin_explain_lines(image->cubin, why, sizeof why);
		cli_warn("%s: %s", query->path, why);
	} else if (st != WS_OK) {
		cli_fail(query->path, &err);
	}
	if (json) {
		ws_json_key_array(json, "diagnostics");
		if (st == WS_OK)
			ws_line_diagnostics(map, json_damage, json);
		ws_json_end(json);
		ws_json_end(json);
	} else if (st == WS_OK && !query->pc.given) { /* a lookup decodes no more than it needs */
		const char *path = query->path;
		ws_line_diagnostics(map, say_line_damage, &path);
	}
	return shown;
}

static int run_lines_verb(struct cli *cli, const struct lines_query *query)
{
	struct images images;
	int status = images_open(cli, "lines", query->path, query->arch, &images);
	struct ws_json json;
	bool shown = false;
	if (cli->json && status == CLI_ANSWERED) {
		ws_json_begin(&json, &cli->out, "warpscope-lines-1");
		ws_json_key_text(&json, "path", query->path);
		ws_json_key_array(&json, "images");
	}
	for (size_t i = 0; i < images.n; i++)
		shown |= lines_of_image(cli, query, &images, i, cli->json ? &json : NULL);
	if (cli->json && status == CLI_ANSWERED) {
		ws_json_end(&json);
		ws_json_end(&json);
	}
	images_close(&images);
	return status != CLI_ANSWERED ? status : shown ? CLI_ANSWERED : CLI_NO_ANSWER;
}

int verb_lines(struct cli *cli, int argc, char **argv)
{
	struct lines_query query = { 0 };
	int status = parse_lines_arguments(cli, argc, argv, &query);
	if (status == CLI_ANSWERED)
		status = run_lines_verb(cli, &query);
	free(query.source);
	return status;
}
