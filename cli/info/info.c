/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope info DUMP TABLE [FILTER...]: cuda-gdb's `info cuda` tables, and more of their kind.
 */
#include "info/info.h"

#include "prompt/prompt.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_ROWS = 1000, /* of text that lists images, unless a limit is given */
	MOST_TABLES = 40,
};

struct info {
	struct cli_session session;
	struct ws_info query;
	struct info_images_query images; /* of a file that is no dump */
	struct cli_given limit;
	struct cli_given frame;     /* for words that are no tables, as `sources` */
	struct cli_sources sources; /* owned */
};

/* ---- the command line ---- */

static int take_coalescing(void *query, const char *text)
{
	struct info *info = query;
	info->query.coalesce = strcmp(text, "on") == 0;
	return info->query.coalesce || strcmp(text, "off") == 0
		       ? CLI_ANSWERED
		       : cli_usage("info", "--coalescing takes on or off");
}

static int take_map(void *query, const char *text)
{
	struct info *info = query;
	return cli_sources_take_map(&info->sources, "info", text);
}

static int take_image_dir(void *query, const char *text)
{
	struct info *info = query;
	cli_sources_dir(&info->sources, text);
	return CLI_ANSWERED;
}

const struct cli_option verb_info_options[] = {
	{ "wide", 0, CLI_FLAG, .at = offsetof(struct info, query.wide) },
	{ "coalescing", 0, CLI_TAKE, .take = take_coalescing },
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct info, limit) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct info, images.arch) },
	{ "kernel", 0, CLI_TEXT, .at = offsetof(struct info, images.kernel) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct info, images.full_names) },
	{ "frame", 0, CLI_NUMBER, .at = offsetof(struct info, frame) },
	{ "source-map", 0, CLI_TAKE, .take = take_map },
	{ "source-dir", 0, CLI_TAKE, .take = take_image_dir },
	{ 0 },
};

bool info_has_table(const char *word)
{
	bool has = strcmp(word, "launch") == 0;
	for (size_t i = 0; !has && ws_info_table_name(i); i++)
		has = strcmp(ws_info_table_name(i), word) == 0;
	return has;
}

static int unknown_table(const char *name)
{
	/* what cuda-gdb's info has and is a verb here */
	static const char *const verbs[][2] = {
		{ "locals", "locals" },  { "args", "locals --only args" },
		{ "frame", "bt" },       { "stack", "bt" },
		{ "registers", "regs" }, { "images", "info DUMP modules" }
	};
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(name, verbs[i][0]) == 0)
			return cli_usage("info", "no table '%s'; use: warpscope %s", name,
					 verbs[i][1]);
	const char *names[MOST_TABLES];
	size_t n = 0;
	for (; n < MOST_TABLES && ws_info_table_name(n); n++)
		names[n] = ws_info_table_name(n);
	const char *near = cli_nearest(name, strlen(name), names, n);
	return cli_usage("info", "no table '%s'%s%s%s", name, near ? " (did you mean " : "",
			 near ? near : "", near ? "?)" : "");
}

/* Says what the table does not show. */
static void warn_told(const struct info *info, const struct ws_info_told *told)
{
	const char *path = info->session.path;
	if (told->n_doubted_sms)
		cli_warn("%s: the exceptions of %u SMs are not listed: their rows hold values that "
			 "cannot be, and prove nothing; see: warpscope check %s",
			 path, told->n_doubted_sms, path);
	if (told->n_doubted_lanes)
		cli_warn("%s: %u exception%s of lanes %s not listed: the row of the lane, or of "
			 "its warp, holds values that cannot be, and proves nothing; see: "
			 "warpscope check %s",
			 path, told->n_doubted_lanes, told->n_doubted_lanes == 1 ? "" : "s",
			 told->n_doubted_lanes == 1 ? "is" : "are", path);
	session_warn_doubt(&info->session, told->n_doubted_rows);
	if (told->n_unreadable)
		cli_warn("%s: the lanes of %u warps could not be read; see: warpscope check %s",
			 path, told->n_unreadable, path);
}

static int show_table(struct info *info, int argc, char **argv)
{
	struct cli *cli = info->session.cli;
	const struct ws_threads *threads = &info->session.threads;
	const struct ws_answer_style style = cli_style(cli);
	struct ws_info_told told;
	struct ws_filter filter;
	struct ws_error err;
	const char *bad = "";
	if (!ws_filter_parse(&filter, &threads->at, argc, argv, &bad))
		return cli_usage("info", "incorrect filter '%s'", bad);
	info->query.filter = argc > 0 ? &filter : NULL;
	enum ws_status st = ws_info_answer(threads, &info->query, &style, &told, &err);
	if (st == WS_ABSENT)
		cli_warn("%s: %s", info->session.path, err.message);
	else if (st != WS_OK)
		cli_fail(info->session.path, &err);
	warn_told(info, &told);
	return st == WS_OK ? CLI_ANSWERED : CLI_NO_ANSWER;
}

static int info_run(struct info *info, int argc, char **argv)
{
	const struct cli *cli = info->session.cli;
	if (argc == 0) { /* what there is to ask for */
		int status = show_table(info, 0, NULL);
		if (!cli->json)
			ws_out_printf(
				&info->session.cli->out,
				"One of them: warpscope info %s TABLE; more: warpscope help info\n",
				info->session.path);
		return status;
	}
	if (strcmp(argv[0], "where") == 0) {
		if (argc < 2 || !cli_number(argv[1], &info->query.address))
			return cli_usage("info", "where needs an address");
		info->query.table = "where";
		return show_table(info, argc - 2, argv + 2);
	}
	const bool launches = argc > 1 && strcmp(argv[0], "launch") == 0; /* two words there */
	const char *name = argv[launches ? 1 : 0];
	if (launches)
		name = strcmp(name, "trace") == 0      ? "launch_trace"
		       : strcmp(name, "children") == 0 ? "launch_children"
						       : name;
	if (!info_has_table(name))
		return unknown_table(name);
	info->query.table = name;
	return show_table(info, argc - 1 - launches, argv + 1 + launches);
}

/* Lists what is in a file of images. WS_UNSUPPORTED: it is none, and nothing was said. */
static enum ws_status list_images(struct info *info, struct cli *cli, const char *path,
				  int *ret_status)
{
	struct info_images_query query = info->images;
	struct ws_image_file *file;
	struct ws_error err;
	enum ws_status st = ws_image_file_open(path, &file, &err);
	if (st == WS_ABSENT) {
		*ret_status = cli_open_fail(path, &err);
		return WS_OK;
	}
	if (st != WS_OK) /* it may be a dump, and who opens dumps knows other files, too */
		return WS_UNSUPPORTED;
	query.wide = info->query.wide;
	query.limit = info->limit.given ? info->limit.value : cli->json ? 0 : MOST_ROWS;
	*ret_status = info_images(cli, path, file, &query);
	ws_image_file_close(file);
	return WS_OK;
}

static int run_info(struct info *info, struct cli *cli, int argc, char **argv)
{
	int status;
	if (argc < 1)
		return cli_usage("info", "which file?");
	info->query.has_limit = info->limit.given;
	info->query.limit = info->limit.value;
	const char *path = argv[0];
	argc--;
	argv++;
	bool may_list = argc == 0 || (argc == 1 && strcmp(argv[0], "images") == 0);
	if (may_list && !cli->live && !cli->api_lib && strcmp(path, "-") != 0 &&
	    list_images(info, cli, path, &status) == WS_OK)
		return status;
	if (info->images.arch || info->images.kernel)
		return cli_usage("info", "--arch and --kernel choose from the images of a program, "
					 "library, object, archive, fatbin or cubin");
	if (argc > 0 && strcmp(argv[0], "cuda") == 0) { /* as cuda-gdb spells it */
		argc--;
		argv++;
	}
	/* at a prompt these are commands of its own */
	if (argc > 0 && !cli->live && debug_info_is_answer(argv[0]))
		return debug_info_verb(cli, path, argc, argv, info->frame, &info->sources);
	status = session_open(&info->session, cli, path);
	if (status == CLI_ANSWERED)
		status = info_run(info, argc, argv);
	session_close(&info->session);
	return status;
}

int verb_info(struct cli *cli, int argc, char **argv)
{
	struct info info = { .query.coalesce = !cli->each_alone };
	int status = cli_options_take(cli, verb_info_options, &info, &argc, &argv);
	if (status == CLI_ANSWERED)
		status = run_info(&info, cli, argc, argv);
	cli_sources_fini(&info.sources);
	return status;
}
