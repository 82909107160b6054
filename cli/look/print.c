/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope print DUMP EXPRESSION [FILTER...]: an expression in one thread, or with --lanes in all
 * lanes of its warp, or in all that the filter lets through.
 *
 * Of several lanes equal values are one row, and so are whole numbers that grow by the same step
 * from lane to lane. Where most lanes agree, those that do not are marked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look/look.h"
#include "rows.h"

struct print {
	struct look_style style;
	struct cli_given frame;
	bool lanes;
};

const struct cli_option verb_print_options[] = {
	LOOK_STYLE_OPTIONS(struct print, style),
	{ "frame", 0, CLI_NUMBER, .at = offsetof(struct print, frame) },
	{ "lanes", 0, CLI_FLAG, .at = offsetof(struct print, lanes) },
	{ 0 },
};

/* ---- one thread ---- */

static int print_one(struct look *look, const char *text, struct ws_value_format format)
{
	struct cli *cli = look->session.cli;
	struct ws_value value;
	struct ws_error err;
	struct ws_json json;
	format.is_whole = true;
	if (ws_vars_evaluate(look->vars, text, &value, &err) != WS_OK)
		return cli_fail(look->session.path, &err);
	if (!cli->json) {
		(void)ws_vars_print(look->vars, &value, format, &cli->out);
		ws_out_text(&cli->out, "\n");
		return CLI_ANSWERED;
	}
	cli_json_begin(cli, &json, "warpscope-print-1");
	ws_json_key(&json, "focus");
	session_json_focus(&look->session, &json);
	ws_json_key_text(&json, "expression", text);
	look_json_value(look, &value, format, &json);
	ws_json_end(&json);
	return CLI_ANSWERED;
}

/* ---- many lanes ---- */

/* Where a lane is, in words. */
struct spot {
	uint32_t warp_index, lane;
	struct ws_dim3 block, thread;
};

/* Lanes that follow each other and have the same value, or numbers of one step. */
struct run {
	struct spot first, last;
	uint64_t n;
	char *text, *last_text; /* owned; the same where all are equal */
	bool is_whole;
	int64_t whole, step; /* of the last one, from it to the next */
	bool odd;            /* most lanes have another value */
	bool has_focus;
};

struct table {
	struct look *look;
	const char *text;
	struct ws_value_format format;
	struct run *runs; /* owned */
	size_t n_runs, cap_runs;
	uint64_t n_lanes, n_missing, n_failed;
	bool have_numbers;
	struct ws_number least, most;
	struct spot least_at, most_at;
	struct ws_error err; /* of the last that failed */
};

static bool less(const struct ws_number *a, const struct ws_number *b)
{
	if (a->is_float || b->is_float)
		return a->real < b->real;
	return a->is_unsigned ? (uint64_t)a->whole < (uint64_t)b->whole : a->whole < b->whole;
}

static void note_number(struct table *table, const struct ws_number *number,
			const struct spot *spot)
{
	if (!table->have_numbers || less(number, &table->least)) {
		table->least = *number;
		table->least_at = *spot;
	}
	if (!table->have_numbers || less(&table->most, number)) {
		table->most = *number;
		table->most_at = *spot;
	}
	table->have_numbers = true;
}

/* Whether a value goes on with a run. */
static bool follows(const struct run *run, const char *text, bool is_whole, int64_t whole)
{
	if (run->step == 0 && strcmp(run->last_text, text) == 0)
		return true;
	int64_t step = (int64_t)((uint64_t)whole - (uint64_t)run->whole);
	return run->is_whole && is_whole && step != 0 && (run->n == 1 || step == run->step);
}

static void run_add(struct table *table, const struct spot *spot, char *text, bool is_whole,
		    int64_t whole)
{
	struct run *last = table->n_runs ? &table->runs[table->n_runs - 1] : NULL;
	if (last && follows(last, text, is_whole, whole)) {
		last->step = is_whole ? (int64_t)((uint64_t)whole - (uint64_t)last->whole) : 0;
		free(last->last_text);
		last->last_text = text;
		last->whole = whole;
		last->last = *spot;
		last->n++;
		return;
	}
	/* two numbers have some step; only a third says that it is one */
	if (last && last->n == 2 && last->step != 0) {
		struct run second = { .first = last->last,
				      .last = last->last,
				      .n = 1,
				      .text = cli_copy(last->last_text, strlen(last->last_text)),
				      .last_text = last->last_text,
				      .is_whole = true,
				      .whole = last->whole };
		last->last_text = cli_copy(last->text, strlen(last->text));
		last->last = last->first;
		last->n = 1;
		last->step = 0;
		cli_grow(&table->runs, &table->cap_runs, table->n_runs, sizeof second);
		table->runs[table->n_runs++] = second;
		run_add(table, spot, text, is_whole, whole);
		return;
	}
	struct run run = { .first = *spot,
			   .last = *spot,
			   .n = 1,
			   .text = text,
			   .last_text = cli_copy(text, strlen(text)),
			   .is_whole = is_whole,
			   .whole = whole };
	cli_grow(&table->runs, &table->cap_runs, table->n_runs, sizeof run);
	table->runs[table->n_runs++] = run;
}

/* The value in one lane as text. Where it has none, say in a lane that stands elsewhere, the text
 * says why. */
static char *lane_text(struct table *table, const struct ws_focus *focus, bool *ret_number,
		       struct ws_number *number)
{
	struct look *look = table->look;
	struct ws_value value;
	struct ws_error err;
	*ret_number = false;
	if (ws_vars_look(look->vars, focus, &err) != WS_OK ||
	    ws_vars_select(look->vars, look->frames[look->at].level, &err) != WS_OK ||
	    ws_vars_evaluate(look->vars, table->text, &value, &err) != WS_OK) {
		char *text = cli_alloc(sizeof err.message + 2, 1);
		snprintf(text, sizeof err.message + 2, "<%s>", err.message);
		table->n_missing++;
		table->n_failed++;
		table->err = err;
		return text;
	}
	enum ws_status read;
	char *text = look_text(look->vars, &value, table->format, &read);
	*ret_number = read == WS_OK && ws_vars_number(look->vars, &value, number, NULL) == WS_OK;
	table->n_missing += read != WS_OK;
	return text;
}

/* A `walk_visit`. */
static void take_lanes(void *user, const struct place *place)
{
	struct table *table = user;
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		const struct ws_lane *lane = &place->lanes[i];
		const struct ws_focus focus = place_focus(place, lane);
		const struct spot spot = { place->warp_index, lane->id, place->block.idx,
					   lane->thread };
		struct ws_number number = { 0 };
		bool is_number;
		char *text = lane_text(table, &focus, &is_number, &number);
		table->n_lanes++;
		if (is_number)
			note_number(table, &number, &spot);
		bool is_whole = is_number && !number.is_float;
		run_add(table, &spot, text, is_whole, is_whole ? number.whole : 0);
		if (place_has_focus(&table->look->session, place) &&
		    table->look->session.focus.lane == lane->id)
			table->runs[table->n_runs - 1].has_focus = true;
	}
}

static int by_text(const void *left, const void *right)
{
	const struct run *const *a = left, *const *b = right;
	return strcmp((*a)->text, (*b)->text);
}

/* Marks what most lanes do not have; the value that they have, or NULL. */
static const char *mark_odd(struct table *table)
{
	size_t n = table->n_runs;
	const char *usual = NULL;
	struct run **order = cli_alloc(n + 1, sizeof *order);
	for (size_t i = 0; i < n; i++)
		order[i] = &table->runs[i];
	if (n)
		qsort(order, n, sizeof *order, by_text);
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t lanes = 0;
		for (end = i; end < n && strcmp(order[end]->text, order[i]->text) == 0; end++)
			lanes += order[end]->step == 0 ? order[end]->n : 1;
		if (2 * lanes > table->n_lanes && lanes < table->n_lanes)
			usual = order[i]->text;
	}
	free(order);
	for (size_t i = 0; usual && i < n; i++)
		table->runs[i].odd = strcmp(table->runs[i].text, usual) != 0;
	return usual;
}

static void produce(struct rows *rows, void *user)
{
	const struct table *table = user;
	for (size_t i = 0; i < table->n_runs; i++) {
		const struct run *run = &table->runs[i];
		rows_begin(rows, run->has_focus);
		rows_number(rows, run->first.lane);
		rows_number(rows, run->last.lane);
		rows_dim3(rows, run->first.block);
		rows_dim3(rows, run->first.thread);
		rows_dim3(rows, run->last.block);
		rows_dim3(rows, run->last.thread);
		rows_number(rows, run->n);
		rows_text(rows, run->text);
		if (run->step)
			rows_text(rows, run->last_text);
		else
			rows_none(rows);
		if (run->step)
			rows_id(rows, run->step);
		else
			rows_none(rows);
		rows_bool(rows, run->odd);
		rows_end(rows);
	}
}

static const struct column columns[] = {
	{ "Ln", "lane", 0 },
	{ "To Ln", "to_lane", 0 },
	{ "BlockIdx", "blockIdx", 0 },
	{ "ThreadIdx", "threadIdx", 0 },
	{ "To BlockIdx", "to_blockIdx", 0 },
	{ "To ThreadIdx", "to_threadIdx", 0 },
	{ "Count", "count", 0 },
	{ "Value", "value", 0 },
	{ "To Value", "to_value", 0 },
	{ "Step", "step", 0 },
	{ "Outlier", "outlier", 0 },
};

static void number_text(const struct ws_number *number, char text[40])
{
	if (number->is_float)
		snprintf(text, 40, "%.9g", number->real);
	else if (number->is_unsigned)
		snprintf(text, 40, "%" PRIu64, (uint64_t)number->whole);
	else
		snprintf(text, 40, "%" PRId64, number->whole);
}

static void say_extreme(struct ws_out *out, const char *what, const struct ws_number *number,
			const struct spot *at)
{
	char text[40];
	number_text(number, text);
	ws_out_printf(out, "%s %s in lane %u, block (%u,%u,%u), thread (%u,%u,%u)\n", what, text,
		      (unsigned)at->lane, at->block.x, at->block.y, at->block.z, at->thread.x,
		      at->thread.y, at->thread.z);
}

static void table_text(struct table *table, const char *usual)
{
	struct cli *cli = table->look->session.cli;
	struct ws_out *out = &cli->out;
	const struct rows_style style = { .out = out, .columns = cli->columns };
	rows_show(&style, columns, sizeof columns / sizeof columns[0], "No CUDA Lanes.", produce,
		  table);
	if (table->have_numbers) {
		say_extreme(out, "min", &table->least, &table->least_at);
		say_extreme(out, "max", &table->most, &table->most_at);
	}
	if (usual) {
		ws_out_text(out, "most lanes have ");
		ws_out_escaped(out, ws_str_of(usual));
		ws_out_text(out, "\n");
	}
	if (table->n_missing)
		ws_out_printf(out, "%" PRIu64 " of %" PRIu64 " lanes have no value\n",
			      table->n_missing, table->n_lanes);
}

static void table_json(struct table *table, const char *usual)
{
	struct look *look = table->look;
	struct ws_json json;
	char text[40];
	cli_json_begin(look->session.cli, &json, "warpscope-print-1");
	ws_json_key(&json, "focus");
	session_json_focus(&look->session, &json);
	ws_json_key_text(&json, "expression", table->text);
	ws_json_key(&json, "runs");
	const struct rows_style style = { .json = &json };
	rows_show(&style, columns, sizeof columns / sizeof columns[0], "", produce, table);
	ws_json_key_u64(&json, "lanes", table->n_lanes);
	ws_json_key_u64(&json, "without_value", table->n_missing);
	number_text(&table->least, text);
	ws_json_key_text(&json, "min", table->have_numbers ? text : NULL);
	number_text(&table->most, text);
	ws_json_key_text(&json, "max", table->have_numbers ? text : NULL);
	ws_json_key_text(&json, "usual", usual);
	ws_json_end(&json);
}

static int print_lanes(struct look *look, const char *text, struct ws_value_format format, int argc,
		       char **argv)
{
	struct table table = { .look = look, .text = text, .format = format };
	struct filter filter;
	const char *bad;
	if (!filter_parse(&filter, session_coords(&look->session), argc, argv, &bad))
		return cli_usage("print", "'%s' is no filter", bad);
	static const enum filter_word warp[] = { FILTER_device, FILTER_sm, FILTER_warp };
	for (size_t i = 0; argc == 0 && i < sizeof warp / sizeof warp[0]; i++)
		filter_current(&filter, session_coords(&look->session), warp[i]);
	walk(&look->session, &filter, WALK_LANES, take_lanes, &table);
	int status = table.n_failed && table.n_failed == table.n_lanes
			     ? cli_fail(look->session.path, &table.err)
			     : CLI_ANSWERED;
	const char *usual = mark_odd(&table);
	if (status == CLI_ANSWERED && look->session.cli->json)
		table_json(&table, usual);
	else if (status == CLI_ANSWERED)
		table_text(&table, usual);
	for (size_t i = 0; i < table.n_runs; i++) {
		free(table.runs[i].text);
		free(table.runs[i].last_text);
	}
	free(table.runs);
	return status;
}

int verb_print(struct cli *cli, int argc, char **argv)
{
	struct print print = { .lanes = false };
	struct look look = { .vars = NULL };
	struct ws_value_format format = { 0 };
	int status = cli_options_take(cli, verb_print_options, &print, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	int at = argc > 2 && argv[1][0] == '/' && strlen(argv[1]) == 2 ? 2 : 1;
	const char *text = argc > 1 ? argv[1] : "";
	if (argc <= at)
		return cli_usage("print", argc < 1 ? "which dump?" : "which expression?");
	if (!look_format(&text, &format))
		return CLI_USAGE;
	text = at == 2 ? argv[2] : text;
	status = look_open(&look, cli, argv[0], argc - at - 1, argv + at + 1, print.frame);
	print.style.pretty &= !print.lanes;
	if (status == CLI_ANSWERED)
		look_use_style(&look, &print.style);
	if (status == CLI_ANSWERED && print.lanes)
		status = print_lanes(&look, text, format, argc - at - 1, argv + at + 1);
	else if (status == CLI_ANSWERED)
		status = print_one(&look, text, format);
	look_close(&look);
	return status;
}
