/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope lines: line maps of GPU code. This file reads the command line; lines/rows.c and
 * lines/raw.c answer. */
#include "lines/lines.h"

#include <stdlib.h>
#include <string.h>

const char verb_lines_help[] =
	"Shows which source line each piece of GPU code was made from, with the calls inlined "
	"around\n"
	"it. FILE is a cubin, a fatbin, a program, shared object, object or archive with GPU code "
	"in\n"
	"it, or a dump.\n"
	"\n"
	"  --function NAME     only this function: its symbol, or its C++ name with or without\n"
	"                      parameters\n"
	"  --pc OFFSET         only the chain of calls at this offset in the function (in every\n"
	"                      function, without --function)\n"
	"  --source FILE:LINE  all code of a source line, with every place it was inlined into\n"
	"  --raw               headers and opcodes as stored, nothing left out\n"
	"  --arch sm_NN        only images for this architecture\n"
	"  --full-names        C++ names with template arguments and parameters\n"
	"\n"
	"A row that covers no code is the call site of the rows that name it.\n"
	"Exits with 1 when there is nothing to show.\n";

enum {
	OPTION_FUNCTION = 'a',
	OPTION_PC,
	OPTION_SOURCE,
	OPTION_RAW,
	OPTION_ARCH,
	OPTION_FULL_NAMES,
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "function", required_argument, NULL, OPTION_FUNCTION },
	{ "pc", required_argument, NULL, OPTION_PC },
	{ "source", required_argument, NULL, OPTION_SOURCE },
	{ "raw", no_argument, NULL, OPTION_RAW },
	{ "arch", required_argument, NULL, OPTION_ARCH },
	{ "full-names", no_argument, NULL, OPTION_FULL_NAMES },
	{ NULL, 0, NULL, 0 },
};
const struct cli_options verb_lines_options = { "", options };

/* FILE:LINE; the file may have colons. */
static bool parse_source(const char *text, struct lines_query *query)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;
	if (!colon || colon == text || !cli_number(colon + 1, &line) || line > UINT32_MAX)
		return false;
	free(query->source);
	query->source = cli_alloc((size_t)(colon - text) + 1, 1);
	memcpy(query->source, text, (size_t)(colon - text));
	query->source_line = (uint32_t)line;
	query->has_source = true;
	return true;
}

static int take_option(struct cli *cli, struct lines_query *query, int option)
{
	switch (option) {
	case OPTION_FUNCTION:
		query->function = optarg;
		return CLI_ANSWERED;
	case OPTION_PC:
		query->has_pc = true;
		if (!cli_number(optarg, &query->pc))
			return cli_usage("lines", "--pc takes a number, not '%s'", optarg);
		return CLI_ANSWERED;
	case OPTION_SOURCE:
		if (!parse_source(optarg, query))
			return cli_usage("lines", "--source takes FILE:LINE, not '%s'", optarg);
		return CLI_ANSWERED;
	case OPTION_RAW:
		query->raw = true;
		return CLI_ANSWERED;
	case OPTION_ARCH:
		query->arch = optarg;
		return CLI_ANSWERED;
	case OPTION_FULL_NAMES:
		query->form = NAME_FULL;
		return CLI_ANSWERED;
	default:
		return cli_common_option(cli, "lines", option);
	}
}

static int parse(struct cli *cli, int argc, char **argv, struct lines_query *query)
{
	int option, status = CLI_ANSWERED;
	while (status == CLI_ANSWERED &&
	       (option = cli_option(&verb_lines_options, argc, argv)) != -1)
		status = take_option(cli, query, option);
	if (status != CLI_ANSWERED)
		return status;
	if (optind + 1 != argc)
		return cli_usage("lines", "one FILE is needed");
	if (query->raw + query->has_pc + query->has_source > 1)
		return cli_usage("lines", "--raw, --pc and --source exclude each other");
	if (query->function && (query->raw || query->has_source))
		return cli_usage("lines", "--function goes with --pc, or alone");
	query->path = argv[optind];
	return CLI_ANSWERED;
}

/* ---- damage ---- */

static void say_damage(void *user, const struct ws_line_diagnostic *diagnostic)
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

static bool answer(struct cli *cli, const struct lines_query *query, const struct image *image,
		   struct ws_line_map *map, struct ws_json *json)
{
	if (query->raw)
		return lines_raw(cli, map, json);
	if (query->has_pc)
		return lines_pc(cli, query, image, json);
	if (query->has_source)
		return lines_source(cli, query, image, map, json);
	return lines_rows(cli, query, image, map, json);
}

static void json_image(struct ws_json *json, const struct image *image)
{
	char arch[16];
	image_arch(image, arch, sizeof arch);
	ws_json_object(json);
	ws_json_key_u64(json, "image", image->index);
	ws_json_key_text(json, "arch", arch);
	ws_json_key_bool(json, "relocatable", image->facts.relocatable);
}

/* Lines of one image; several get a heading each. */
static bool run_image(struct cli *cli, const struct lines_query *query, const struct images *images,
		      size_t index, struct ws_json *json)
{
	const struct image *image = &images->item[index];
	struct ws_line_map *map;
	struct ws_error err;
	char why[400], arch[16];
	if (json) {
		json_image(json, image);
	} else if (images->n > 1) {
		image_arch(image, arch, sizeof arch);
		ws_out_text(&cli->out, index ? "\n" : "");
		ws_out_printf(&cli->out, "image %zu, %s\n", image->index, arch);
	}
	enum ws_status st = ws_cubin_line_map(image->cubin, &map, &err);
	bool shown = st == WS_OK && answer(cli, query, image, map, json);
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
	} else if (st == WS_OK && !query->has_pc) { /* a lookup decodes no more than it needs */
		const char *path = query->path;
		ws_line_diagnostics(map, say_damage, &path);
	}
	return shown;
}

static int run(struct cli *cli, const struct lines_query *query)
{
	struct images images;
	int status = images_open(cli, "lines", query->path, query->arch, &images);
	struct ws_json json;
	bool shown = false;
	if (cli->json && status == CLI_ANSWERED) {
		ws_json_init(&json, &cli->out, false);
		ws_json_object(&json);
		ws_json_key_text(&json, "schema", "warpscope-lines-1");
		ws_json_key_text(&json, "path", query->path);
		ws_json_key_array(&json, "images");
	}
	for (size_t i = 0; i < images.n; i++)
		shown |= run_image(cli, query, &images, i, cli->json ? &json : NULL);
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
	int status = parse(cli, argc, argv, &query);
	if (status == CLI_ANSWERED)
		status = run(cli, &query);
	free(query.source);
	return status;
}
