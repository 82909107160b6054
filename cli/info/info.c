/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope info DUMP TABLE [FILTER...]: cuda-gdb's `info cuda` tables, and more of their kind.
 * This file knows the command line and what the tables share; the other files of the folder have
 * the tables.
 */
#include "info/info.h"

#include "prompt/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/exception.h>

struct info_table {
	const char *name, *none, *shows;
	unsigned focus_words; /* what the focus limits by default */
	int (*show)(struct info *info);
};

static const struct info_table tables[] = {
#define X(name, none, words, shows) { #name, none, shows, words, info_##name },
	INFO_TABLE_LIST(X)
#undef X
};

enum {
	N_TABLES = sizeof tables / sizeof tables[0],
	MOST_ROWS = 1000, /* of text, unless a limit is given */
};

/* ---- what tables share ---- */

void info_rows(struct info *info, const struct ws_rows_column *columns, unsigned n_columns,
	       ws_rows_produce *produce)
{
	struct cli *cli = info->session.cli;
	struct ws_rows_style style = { .out = &cli->out,
				       .json = info->json,
				       .wide = info->wide,
				       .limit = info->limit.value,
				       .columns = cli->columns };
	if (!info->limit.given && !info->json)
		style.limit = MOST_ROWS;
	size_t n = ws_rows_show(&style, columns, n_columns, info->none, produce, info);
	if (style.limit && n > style.limit)
		info->n_left_out += n - style.limit;
}

struct ws_symbols *info_symbols(struct info *info)
{
	if (!info->symbols &&
	    ws_symbols_create(info->session.target, &info->symbols, NULL) != WS_OK)
		cli_out_of_memory();
	return info->symbols;
}

void info_unreadable(struct info *info, const struct ws_rows *rows)
{
	if (!rows->measuring)
		info->n_unreadable++;
}

const char *info_exception_text(uint32_t code)
{
	static char unknown[64];
	const struct ws_exception *kind = ws_exception_find(code);
	if (code == 0)
		return "None";
	if (kind)
		return kind->label;
	snprintf(unknown, sizeof unknown, "exception %u (not known to this version)", code);
	return unknown;
}

void info_heading_kernel(struct ws_rows *rows, uint32_t kernel)
{
	if (kernel == WS_NONE)
		ws_rows_heading(rows, "Kernel -");
	else
		ws_rows_heading(rows, "Kernel %u", kernel);
}

void info_cell_kernel(struct ws_rows *rows, uint32_t kernel)
{
	ws_rows_if(rows, 1, kernel != WS_NONE);
	ws_rows_number(rows, kernel);
}

void info_cell_function(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	ws_rows_given(rows, 1, symbol->function_status);
	ws_rows_text(rows, symbol->function);
}

void info_cells_line(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	ws_rows_given(rows, 2, symbol->line_status);
	ws_rows_text(rows, symbol->path);
	ws_rows_number(rows, symbol->line);
}

void info_cells_symbol(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	info_cell_function(rows, symbol);
	info_cells_line(rows, symbol);
}

void info_cells_sm_words(struct ws_rows *rows, const struct ws_sm *sm)
{
	ws_rows_if(rows, 1, sm->have & WS_SM_CLUSTER_TARGET);
	ws_rows_or_none(rows, 1, sm->cluster_target_valid);
	ws_rows_dim3(rows, sm->cluster_target);
	ws_rows_if(rows, 1, sm->have & WS_SM_EXCEPTION_TEXT);
	ws_rows_or_none(rows, 1, sm->exception_text.len);
	ws_rows_str(rows, sm->exception_text);
}

void info_cell_dim3(struct ws_rows *rows, enum ws_status status, struct ws_dim3 dim)
{
	ws_rows_given(rows, 1, status);
	ws_rows_dim3(rows, dim);
}

void info_cell_name(struct ws_rows *rows, const char *const *names, size_t n, uint32_t number)
{
	char text[16];
	snprintf(text, sizeof text, "%u", number);
	ws_rows_text(rows, number < n ? names[number] : text);
}

void info_cell_cbu_state(struct ws_rows *rows, uint32_t state)
{
	static const char *const names[] = { "exited",
					     "ready",
					     "yielded",
					     "sleeping",
					     "sleeping, yielded",
					     "ready at next",
					     "blocked plus",
					     "blocked all",
					     "blocked collective" };
	enum { N_NAMES = sizeof names / sizeof names[0], N_BARRIERS = 16 };
	char text[24];
	if (state >= N_NAMES && state < N_NAMES + N_BARRIERS) {
		snprintf(text, sizeof text, "blocked at B%u", state - N_NAMES);
		ws_rows_text(rows, text);
	} else {
		info_cell_name(rows, names, N_NAMES, state);
	}
}

/* ---- the command line ---- */

static int take_coalescing(void *query, const char *text)
{
	struct info *info = query;
	info->coalesce = strcmp(text, "on") == 0;
	return info->coalesce || strcmp(text, "off") == 0
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
	{ "wide", 0, CLI_FLAG, .at = offsetof(struct info, wide) },
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

static const struct info_table *table_find(const char *name)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	}
	return NULL;
}

const char *info_table_name(size_t index)
{
	return index < N_TABLES ? tables[index].name : NULL;
}

bool info_has_table(const char *word)
{
	return table_find(word) || strcmp(word, "where") == 0 || strcmp(word, "launch") == 0;
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
	const char *names[N_TABLES + 1] = { "where" };
	for (size_t i = 0; i < N_TABLES; i++)
		names[i + 1] = tables[i].name;
	const char *near = cli_nearest(name, strlen(name), names, N_TABLES + 1);
	return cli_usage("info", "no table '%s'%s%s%s", name, near ? " (did you mean " : "",
			 near ? near : "", near ? "?)" : "");
}

static int filter_read(struct info *info, const struct info_table *table, int argc, char **argv)
{
	const struct ws_coords *focus = &info->session.threads.at;
	const char *bad = "";
	if (!ws_filter_parse(&info->filter, focus, argc, argv, &bad))
		return cli_usage("info", "incorrect filter '%s'", bad);
	if (argc > 0 || !info->session.threads.have_focus)
		return CLI_ANSWERED; /* without a focus the defaults limit nothing */
	for (unsigned word = 0; word < WS_FILTER_N_WORDS; word++) {
		if (table->focus_words >> word & 1)
			ws_filter_current(&info->filter, focus, (enum ws_filter_word)word);
	}
	return CLI_ANSWERED;
}

static int show_table(struct info *info, const char *name, int (*table)(struct info *info),
		      const uint64_t *address)
{
	struct ws_json json;
	if (info->session.cli->json) {
		info->json = &json;
		ws_json_begin(&json, &info->session.cli->out, "warpscope-info-1");
		ws_json_key_text(&json, "table", name);
		ws_json_key(&json, "focus");
		ws_threads_focus_json(&info->session.threads, &json);
		ws_json_key(&json, name);
	}
	int status = address ? info_where(info, *address) : table(info);
	if (info->json) {
		ws_json_key_u64(&json, "unreadable_warps", info->n_unreadable);
		if (info->n_doubted_sms)
			ws_json_key_u64(&json, "doubted_sms", info->n_doubted_sms);
		if (info->n_doubted_lanes)
			ws_json_key_u64(&json, "doubted_lanes", info->n_doubted_lanes);
		if (info->n_doubted_rows)
			ws_json_key_u64(&json, "doubted_rows", info->n_doubted_rows);
		if (info->limit.given)
			ws_json_key_u64(&json, "rows_left_out", info->n_left_out);
		ws_json_end(&json);
	}
	if (info->n_doubted_sms)
		cli_warn("%s: the exceptions of %u SMs are not listed: their rows hold values that "
			 "cannot be, and prove nothing; see: warpscope check %s",
			 info->session.path, info->n_doubted_sms, info->session.path);
	if (info->n_doubted_lanes)
		cli_warn("%s: %u exception%s of lanes %s not listed: the row of the lane, or of "
			 "its warp, holds values that cannot be, and proves nothing; see: "
			 "warpscope check %s",
			 info->session.path, info->n_doubted_lanes,
			 info->n_doubted_lanes == 1 ? "" : "s",
			 info->n_doubted_lanes == 1 ? "is" : "are", info->session.path);
	session_warn_doubt(&info->session, info->n_doubted_rows);
	if (info->n_unreadable)
		cli_warn("%s: the lanes of %u warps could not be read; see: warpscope check %s",
			 info->session.path, info->n_unreadable, info->session.path);
	return status;
}

/* ---- the list of tables ---- */

/* Rows of a table that the target counts; -1: it does not. */
static int64_t counted_rows_of(const struct ws_counts *counts, const char *name)
{
	const struct {
		const char *name;
		uint32_t n;
	} known[] = { { "devices", counts->devices }, { "contexts", counts->contexts },
		      { "modules", counts->modules }, { "kernels", counts->grids },
		      { "blocks", counts->blocks },   { "warps", counts->warps } };
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(known[i].name, name) == 0)
			return known[i].n;
	}
	return -1;
}

static const struct ws_rows_column table_columns[] = { { "Table", "name", WS_ROWS_LEFT },
						       { "All rows", "rows", 0 },
						       { "Shows", "shows", WS_ROWS_LEFT } };

static void table_cells(struct ws_rows *rows, const char *name, int64_t n_rows, const char *shows)
{
	ws_rows_begin(rows, false);
	ws_rows_text(rows, name);
	ws_rows_or_none(rows, 1, n_rows >= 0);
	ws_rows_number(rows, (uint64_t)n_rows);
	ws_rows_text(rows, shows);
	ws_rows_end(rows);
}

static void produce_tables(struct ws_rows *rows, void *user)
{
	struct info *info = user;
	for (size_t i = 0; i < N_TABLES; i++) {
		const char *name = tables[i].name;
		table_cells(rows,
			    strcmp(name, "launch_trace") == 0      ? "launch trace"
			    : strcmp(name, "launch_children") == 0 ? "launch children"
								   : name,
			    counted_rows_of(&info->session.threads.counts, name), tables[i].shows);
	}
	table_cells(rows, "where ADDRESS", -1, "everything known about an address");
}

INFO_TABLE(tables, table_columns, produce_tables)

/* `info DUMP`: what there is to ask for. */
static int show_tables(struct info *info)
{
	struct ws_out *out = &info->session.cli->out;
	int status = show_table(info, "tables", info_tables, NULL);
	if (!info->json)
		ws_out_printf(out,
			      "One of them: warpscope info %s TABLE; more: warpscope help info\n",
			      info->session.path);
	return status;
}

static int info_run(struct info *info, int argc, char **argv)
{
	if (argc > 0 && strcmp(argv[0], "where") == 0) {
		uint64_t address;
		if (argc < 2 || !cli_number(argv[1], &address))
			return cli_usage("info", "where needs an address");
		static const struct info_table where = { .name = "where" };
		int status = filter_read(info, &where, argc - 2, argv + 2);
		return status == CLI_ANSWERED ? show_table(info, "where", NULL, &address) : status;
	}
	if (argc == 0)
		return show_tables(info);
	const bool launches = argc > 1 && strcmp(argv[0], "launch") == 0; /* two words there */
	const char *name = argv[launches ? 1 : 0];
	if (launches)
		name = strcmp(name, "trace") == 0      ? "launch_trace"
		       : strcmp(name, "children") == 0 ? "launch_children"
						       : name;
	argc -= launches;
	argv += launches;
	const struct info_table *table = table_find(name);
	if (!table)
		return unknown_table(name);
	info->none = table->none;
	int status = filter_read(info, table, argc - 1, argv + 1);
	return status == CLI_ANSWERED ? show_table(info, table->name, table->show, NULL) : status;
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
	query.wide = info->wide;
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
	ws_symbols_destroy(info->symbols);
	session_close(&info->session);
	return status;
}

int verb_info(struct cli *cli, int argc, char **argv)
{
	struct info info = { .coalesce = !cli->each_alone };
	int status = cli_options_take(cli, verb_info_options, &info, &argc, &argv);
	if (status == CLI_ANSWERED)
		status = run_info(&info, cli, argc, argv);
	cli_sources_fini(&info.sources);
	return status;
}
