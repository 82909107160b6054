/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expression in one thread, or in all lanes that a filter lets through.
 *
 * Of several lanes equal values are one row, and so are whole numbers that grow by the same step
 * from lane to lane. Where most lanes agree, those that do not are marked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/table.h"
#include "verbs/stack.h"

/* ---- many lanes ---- */

/* Where a lane is, in words. */
struct print_spot {
	uint32_t warp_index, lane;
	struct ws_dim3 block, thread;
};

/* How the expression is evaluated in lanes of one kernel at one pc. */
struct plan {
	uint64_t pc;
	uint32_t grid_index;
	struct ws_condition *steps; /* owned; or NULL: lane by lane, unless `text` */
	char *text;                 /* owned; what it is in all of them, which is no value */
	bool failed;                /* that is why it cannot be evaluated: `err` */
	struct ws_error err;
	struct plan *next; /* owned */
};

/* What the expression is in one lane. */
struct sample {
	const struct plan
		*plan; /* `bits` are of its steps; or what all lanes there have; or NULL */
	uint64_t bits;
	char *text; /* owned; NULL: not made yet */
	bool is_whole;
	int64_t whole;
};

/* Lanes that follow each other and have the same value, or numbers of one step. */
struct print_run {
	struct print_spot first, last;
	uint64_t n;
	struct sample from, to; /* the same where all are equal */
	int64_t step;           /* from `to` to the next */
	bool odd;               /* most lanes have another value */
	uint64_t focus;         /* which of its lanes the focus is on, from 1; 0: none */
};

enum { PLANS = 1024 /* lists of them */ };

struct print_table {
	struct ws_stack *stack;
	const struct ws_print *print;
	struct plan **plans;    /* owned */
	struct print_run *runs; /* owned */
	size_t n_runs, cap_runs;
	uint64_t n_lanes, n_missing, n_failed;
	bool have_numbers;
	struct ws_number least, most;
	struct print_spot least_at, most_at;
	struct ws_error err; /* of the last that failed */
};

static bool number_less(const struct ws_number *a, const struct ws_number *b)
{
	if (a->is_float || b->is_float)
		return a->real < b->real;
	const bool below = !a->is_unsigned && a->whole < 0;
	if (below != (!b->is_unsigned && b->whole < 0))
		return below;
	return (uint64_t)a->whole < (uint64_t)b->whole; /* of two negative ones, too */
}

static void note_number(struct print_table *table, const struct ws_number *number,
			const struct print_spot *spot)
{
	if (!table->have_numbers || number_less(number, &table->least)) {
		table->least = *number;
		table->least_at = *spot;
	}
	if (!table->have_numbers || number_less(&table->most, number)) {
		table->most = *number;
		table->most_at = *spot;
	}
	table->have_numbers = true;
}

/* ---- what a lane has, as text where that is needed ---- */

/* A copy of a text; NULL stays NULL. */
static char *text_copy(struct print_table *table, const char *text)
{
	char *copy = text ? wsi_strdup(text) : NULL;
	table->stack->room->text.failed |= text && !copy;
	return copy;
}

static char *value_text(struct print_table *table, const struct ws_value *value,
			enum ws_status *ret_status)
{
	return text_copy(
		table, wsi_stack_value_text(table->stack, value, table->print->format, ret_status));
}

static const char *sample_text(struct print_table *table, struct sample *sample)
{
	enum ws_status st;
	const char *text = sample->plan && !sample->plan->steps ? sample->plan->text : sample->text;
	if (!text && sample->plan && sample->plan->steps) {
		const struct ws_value value = ws_condition_value(sample->plan->steps, sample->bits);
		text = sample->text = value_text(table, &value, &st);
	}
	return text ? text : ""; /* memory is out */
}

static struct sample sample_copy(struct print_table *table, const struct sample *sample)
{
	struct sample copy = *sample;
	copy.text = text_copy(table, sample->text);
	return copy;
}

static bool same_samples(struct print_table *table, struct sample *a, struct sample *b)
{
	/* a format may show fewer bits */
	if (a->plan && a->plan == b->plan && (a->bits == b->bits || !table->print->format.letter))
		return a->bits == b->bits;
	return strcmp(sample_text(table, a), sample_text(table, b)) == 0;
}

/* Whether a value goes on with a run. */
static bool value_follows_run(struct print_table *table, struct print_run *run,
			      struct sample *sample)
{
	if (run->step == 0 && same_samples(table, &run->to, sample))
		return true;
	int64_t step = (int64_t)((uint64_t)sample->whole - (uint64_t)run->to.whole);
	return run->to.is_whole && sample->is_whole && step != 0 &&
	       (run->n == 1 || step == run->step);
}

/* Two numbers have some step; only a third says that it is one. */
static bool ends_in_pair(const struct print_table *table)
{
	const struct print_run *last = table->n_runs ? &table->runs[table->n_runs - 1] : NULL;
	return last && last->n == 2 && last->step != 0;
}

/* Takes the run; where memory is out, the table is not shown. */
static void run_push(struct print_table *table, struct print_run *run)
{
	if (wsi_grow(&table->runs, &table->cap_runs, table->n_runs, sizeof *run, UINT32_MAX)) {
		table->runs[table->n_runs++] = *run;
		return;
	}
	table->stack->room->text.failed = true;
	wsi_free(run->from.text);
	wsi_free(run->to.text);
}

/* The last run, which is a pair, becomes two. */
static void pair_split(struct print_table *table)
{
	struct print_run *last = &table->runs[table->n_runs - 1];
	struct print_run second = { .first = last->last,
				    .last = last->last,
				    .n = 1,
				    .from = sample_copy(table, &last->to),
				    .to = last->to,
				    .focus = last->focus == 2 };
	last->to = sample_copy(table, &last->from);
	last->last = last->first;
	last->n = 1;
	last->step = 0;
	last->focus = last->focus == 1;
	run_push(table, &second);
}

/* Takes the sample. */
static void add_sample(struct print_table *table, const struct print_spot *spot,
		       struct sample sample)
{
	struct print_run *last = table->n_runs ? &table->runs[table->n_runs - 1] : NULL;
	if (last && value_follows_run(table, last, &sample)) {
		last->step = sample.is_whole
				     ? (int64_t)((uint64_t)sample.whole - (uint64_t)last->to.whole)
				     : 0;
		wsi_free(last->to.text);
		last->to = sample;
		last->last = *spot;
		last->n++;
		return;
	}
	if (ends_in_pair(table)) {
		pair_split(table);
		add_sample(table, spot, sample);
		return;
	}
	struct print_run run = { .first = *spot,
				 .last = *spot,
				 .n = 1,
				 .from = sample,
				 .to = sample_copy(table, &sample) };
	run_push(table, &run);
}

/* ---- one lane ---- */

static enum ws_status look_at_lane(struct print_table *table, const struct ws_focus *focus,
				   struct ws_error *err)
{
	struct ws_stack *stack = table->stack;
	enum ws_status st = ws_vars_look(stack->vars, focus, err);
	return st == WS_OK ? ws_stack_select(stack, stack->at, err) : st;
}

static char *failure_text(struct print_table *table, const struct ws_error *err)
{
	char text[sizeof err->message + 2];
	snprintf(text, sizeof text, "<%s>", err->message);
	return text_copy(table, text);
}

/* The value in one lane as text. Where it has none, say in a lane that stands elsewhere, the text
 * says why. */
static char *lane_text(struct print_table *table, const struct ws_focus *focus, bool *ret_number,
		       struct ws_number *number)
{
	struct ws_vars *vars = table->stack->vars;
	struct ws_value value;
	struct ws_error err;
	*ret_number = false;
	if (look_at_lane(table, focus, &err) != WS_OK ||
	    ws_vars_evaluate(vars, table->print->expression, &value, &err) != WS_OK) {
		table->n_missing++;
		table->n_failed++;
		table->err = err;
		return failure_text(table, &err);
	}
	enum ws_status read;
	char *text = value_text(table, &value, &read);
	*ret_number = read == WS_OK && ws_vars_number(vars, &value, number, NULL) == WS_OK;
	table->n_missing += read != WS_OK;
	return text;
}

/* ---- lanes at one pc, together ---- */

static struct plan *plan_make(struct print_table *table, const struct ws_focus *focus, uint64_t pc)
{
	struct ws_vars *vars = table->stack->vars;
	struct plan *plan = wsi_zalloc(sizeof *plan);
	struct ws_value value;
	struct ws_error err;
	enum ws_status st;
	if (!plan)
		return NULL;
	*plan = (struct plan){ .pc = pc, .grid_index = focus->grid_index };
	if (look_at_lane(table, focus, &err) != WS_OK)
		return plan;
	st = ws_vars_condition(vars, table->print->expression, &plan->steps, &plan->err);
	if (st == WS_OK &&
	    (!ws_condition_is_plain(plan->steps) || table->print->format.letter == 's')) {
		ws_condition_free(plan->steps); /* it shows memory of the lane */
		plan->steps = NULL;
	}
	plan->failed = st == WS_ARGUMENT;
	if (plan->failed)
		plan->text = failure_text(table, &plan->err);
	if (st == WS_OK || plan->failed)
		return plan;
	/* what the pc alone decides */
	if (ws_vars_evaluate(vars, table->print->expression, &value, &err) == WS_OK &&
	    (value.kind == WS_VALUE_GONE || value.kind == WS_VALUE_NOT_HERE))
		plan->text = value_text(table, &value, &st);
	return plan;
}

static const struct plan *plan_find(struct print_table *table, const struct ws_focus *focus,
				    uint64_t pc)
{
	struct plan **list = &table->plans[(pc / 16 ^ focus->grid_index) % PLANS];
	for (const struct plan *plan = *list; plan; plan = plan->next)
		if (plan->pc == pc && plan->grid_index == focus->grid_index)
			return plan;
	struct plan *plan = plan_make(table, focus, pc);
	table->stack->room->text.failed |= !plan;
	if (!plan)
		return NULL;
	plan->next = *list;
	*list = plan;
	return plan;
}

static void plans_free(struct print_table *table)
{
	for (size_t i = 0; table->plans && i < PLANS; i++) {
		for (struct plan *plan = table->plans[i], *next; plan; plan = next) {
			next = plan->next;
			ws_condition_free(plan->steps);
			wsi_free(plan->text);
			wsi_free(plan);
		}
	}
	wsi_free(table->plans);
}

/* The lanes of a place as steps ask for them. */
struct asked {
	const struct print_table *table;
	const struct ws_resident *place;
	uint8_t at[WS_MAX_LANES]; /* of a lane, its index in the place */
};

static bool asked_register(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
			   uint32_t words, unsigned lane, uint64_t *ret_bits)
{
	const struct asked *asked = arrival->state;
	uint32_t values[2] = { 0 }, n = 0;
	if (words > 2 ||
	    ws_target_registers(asked->table->stack->threads->target, asked->place->warp_index,
				lane, kind, number, words, values, &n, NULL) != WS_OK ||
	    n < words)
		return false;
	*ret_bits = values[0] | (uint64_t)values[1] << 32;
	return true;
}

static uint32_t asked_place(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			    unsigned lane)
{
	const struct asked *asked = arrival->state;
	const struct ws_resident *place = asked->place;
	const struct ws_dim3 *const dims[] = {
		[WS_ARRIVAL_THREAD_IDX] = &place->lanes[asked->at[lane]].thread,
		[WS_ARRIVAL_BLOCK_IDX] = &place->block.idx,
		[WS_ARRIVAL_BLOCK_DIM] = &place->grid->block_dim,
		[WS_ARRIVAL_GRID_DIM] = &place->grid->grid_dim,
		[WS_ARRIVAL_CLUSTER_IDX] = &place->block.cluster_idx,
		[WS_ARRIVAL_CLUSTER_DIM] = &place->block.cluster_dim,
	};
	return axis == 0 ? dims[dim]->x : axis == 1 ? dims[dim]->y : dims[dim]->z;
}

static bool asked_memory(const struct ws_arrival *arrival, const struct ws_address *at,
			 void *buffer, size_t len)
{
	const struct asked *asked = arrival->state;
	struct ws_address here = *at;
	size_t got;
	here.device_index = asked->place->warp.device_index;
	here.grid_index = asked->place->block.grid_index;
	here.warp_index = asked->place->warp_index;
	return ws_target_read_memory(asked->table->stack->threads->target, &here, buffer, len, &got,
				     NULL) == WS_OK;
}

/* Evaluates in all lanes of a place whose pc has steps, and says which; `plans` are of all. */
static uint32_t read_together(struct print_table *table, const struct ws_resident *place,
			      const struct plan *plans[WS_MAX_LANES],
			      struct ws_lane_number numbers[WS_MAX_LANES])
{
	struct asked asked = { .table = table, .place = place };
	struct ws_arrival arrival = {
		.state = &asked,
		.reg = asked_register,
		.place = asked_place,
		.read = asked_memory,
	};
	uint32_t known = 0;
	const bool is_whole = place->block_status == WS_OK && place->grid;
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		const struct ws_focus focus = ws_resident_focus(place, &place->lanes[i]);
		const bool again = i > 0 && place->lanes[i].pc == place->lanes[i - 1].pc;
		asked.at[place->lanes[i].id] = (uint8_t)i;
		plans[i] = !is_whole ? NULL
			   : again   ? plans[i - 1]
				     : plan_find(table, &focus, place->lanes[i].pc);
	}
	for (uint32_t i = 0, done = 0; i < place->n_lanes; i++) {
		arrival.lanes = 0;
		for (uint32_t k = i; plans[i] && k < place->n_lanes; k++)
			if (plans[k] == plans[i])
				arrival.lanes |= 1u << place->lanes[k].id;
		if (!arrival.lanes || !plans[i]->steps || done >> place->lanes[i].id & 1)
			continue;
		done |= arrival.lanes;
		known |= ws_condition_read(plans[i]->steps, &arrival, numbers);
	}
	return known;
}

/* A `ws_threads_visit`. */
static void take_lanes(void *user, const struct ws_resident *place)
{
	struct print_table *table = user;
	const struct plan *plans[WS_MAX_LANES];
	struct ws_lane_number numbers[WS_MAX_LANES];
	const bool has_focus = ws_threads_has_focus(table->stack->threads, place);
	const uint32_t known = read_together(table, place, plans, numbers);
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		const struct ws_lane *lane = &place->lanes[i];
		const struct print_spot spot = { place->warp_index, lane->id, place->block.idx,
						 lane->thread };
		struct sample sample = { .plan = plans[i] };
		struct ws_number number = { 0 };
		bool is_number = known >> lane->id & 1;
		if (is_number) {
			number = numbers[lane->id].number;
			sample.bits = numbers[lane->id].bits;
		} else if (plans[i] && plans[i]->text) {
			table->n_missing++;
			table->n_failed += plans[i]->failed;
			if (plans[i]->failed)
				table->err = plans[i]->err;
		} else {
			const struct ws_focus focus = ws_resident_focus(place, lane);
			sample.plan = NULL;
			sample.text = lane_text(table, &focus, &is_number, &number);
		}
		table->n_lanes++;
		if (is_number)
			note_number(table, &number, &spot);
		sample.is_whole = is_number && !number.is_float;
		sample.whole = sample.is_whole ? number.whole : 0;
		add_sample(table, &spot, sample);
		if (table->n_runs && has_focus && table->stack->threads->focus.lane == lane->id) {
			struct print_run *last = &table->runs[table->n_runs - 1];
			last->focus = last->n;
		}
	}
}

/* Marks what most lanes do not have; the run that begins with the value that they have, or NULL. */
static struct print_run *mark_odd(struct print_table *table)
{
	struct print_run *usual = NULL;
	uint64_t votes = 0, lanes = 0;
	for (size_t i = 0; i < table->n_runs; i++) { /* who has more than half is left */
		struct print_run *run = &table->runs[i];
		const uint64_t n = run->step == 0 ? run->n : 1;
		if (votes > 0 && same_samples(table, &run->from, &usual->from)) {
			votes += n;
		} else if (votes >= n) {
			votes -= n;
		} else {
			votes = n - votes;
			usual = run;
		}
	}
	for (size_t i = 0; usual && i < table->n_runs; i++) {
		struct print_run *run = &table->runs[i];
		run->odd = !same_samples(table, &run->from, &usual->from);
		lanes += run->odd ? 0 : run->step == 0 ? run->n : 1;
	}
	if (2 * lanes > table->n_lanes && lanes < table->n_lanes)
		return usual;
	for (size_t i = 0; i < table->n_runs; i++)
		table->runs[i].odd = false;
	return NULL;
}

static void produce_values(struct ws_rows *rows, void *user)
{
	struct print_table *table = user;
	for (size_t i = 0; i < table->n_runs; i++) {
		struct print_run *run = &table->runs[i];
		ws_rows_begin(rows, run->focus > 0);
		ws_rows_number(rows, run->first.lane);
		ws_rows_number(rows, run->last.lane);
		ws_rows_dim3(rows, run->first.block);
		ws_rows_dim3(rows, run->first.thread);
		ws_rows_dim3(rows, run->last.block);
		ws_rows_dim3(rows, run->last.thread);
		ws_rows_number(rows, run->n);
		ws_rows_text(rows, sample_text(table, &run->from));
		wsi_rows_text_or_none(rows, run->step ? sample_text(table, &run->to) : NULL);
		ws_rows_or_none(rows, 1, run->step);
		wsi_rows_id(rows, run->step);
		ws_rows_bool(rows, run->odd);
		ws_rows_end(rows);
	}
}

static const struct ws_rows_column columns[] = {
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

static void sample_number_text(const struct ws_number *number, char text[40])
{
	if (number->is_float)
		snprintf(text, 40, "%.9g", number->real);
	else if (number->is_unsigned)
		snprintf(text, 40, "%" PRIu64, (uint64_t)number->whole);
	else
		snprintf(text, 40, "%" PRId64, number->whole);
}

static void say_extreme(struct ws_out *out, const char *what, const struct ws_number *number,
			const struct print_spot *at)
{
	char text[40];
	sample_number_text(number, text);
	ws_out_printf(out, "%s %s in lane %u, block (%u,%u,%u), thread (%u,%u,%u)\n", what, text,
		      (unsigned)at->lane, at->block.x, at->block.y, at->block.z, at->thread.x,
		      at->thread.y, at->thread.z);
}

static void table_text(struct print_table *table, const char *usual,
		       const struct ws_answer_style *style)
{
	struct ws_out *out = style->out;
	const struct ws_rows_style how = { .out = out, .columns = style->columns };
	ws_rows_show(&how, columns, sizeof columns / sizeof columns[0], "No CUDA Lanes.",
		     produce_values, table);
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

static void table_json(struct print_table *table, const char *usual, struct ws_json *json)
{
	char text[40];
	ws_json_key(json, "runs");
	const struct ws_rows_style style = { .json = json };
	ws_rows_show(&style, columns, sizeof columns / sizeof columns[0], "", produce_values,
		     table);
	ws_json_key_u64(json, "lanes", table->n_lanes);
	ws_json_key_u64(json, "without_value", table->n_missing);
	sample_number_text(&table->least, text);
	ws_json_key_text(json, "min", table->have_numbers ? text : NULL);
	sample_number_text(&table->most, text);
	ws_json_key_text(json, "max", table->have_numbers ? text : NULL);
	ws_json_key_text(json, "usual", usual);
}

/* ---- the whole ---- */

static enum ws_status lanes_take(struct print_table *table, struct ws_error *err)
{
	table->plans = wsi_zalloc_array(PLANS, sizeof(struct plan *));
	if (!table->plans)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the values");
	ws_threads_walk(table->stack->threads, table->print->lanes, WS_WALK_LANES, take_lanes,
			table);
	if (ends_in_pair(table))
		pair_split(table);
	if (table->n_lanes == 0 || table->n_failed < table->n_lanes)
		return wsi_stack_status(table->stack, err);
	if (err)
		*err = table->err;
	return table->err.status;
}

static void document_begin(const struct ws_stack *stack, const struct ws_print *print,
			   struct ws_json *json, struct ws_out *out)
{
	wsi_verbs_json_begin(stack->threads, "warpscope-print-1", json, out);
	ws_json_key_text(json, "expression", print->expression);
}

static enum ws_status lanes_show(struct ws_stack *stack, const struct ws_print *print,
				 const struct ws_answer_style *style, struct ws_error *err)
{
	struct ws_json json;
	struct print_table table = { .stack = stack, .print = print };
	enum ws_status st = lanes_take(&table, err);
	struct print_run *most = st == WS_OK ? mark_odd(&table) : NULL;
	const char *usual = most ? sample_text(&table, &most->from) : NULL;
	if (st == WS_OK && style->json) {
		document_begin(stack, print, &json, style->out);
		table_json(&table, usual, &json);
		ws_json_end(&json);
	} else if (st == WS_OK) {
		table_text(&table, usual, style);
	}
	if (st == WS_OK) /* texts were made while it was written */
		st = wsi_stack_status(stack, err);
	for (size_t i = 0; i < table.n_runs; i++) {
		wsi_free(table.runs[i].from.text);
		wsi_free(table.runs[i].to.text);
	}
	wsi_free(table.runs);
	plans_free(&table);
	return st;
}

static enum ws_status one_show(struct ws_stack *stack, const struct ws_print *print,
			       const struct ws_answer_style *style, struct ws_error *err)
{
	struct ws_value_format format = print->format;
	struct ws_json json;
	struct ws_value value;
	format.is_whole = true;
	enum ws_status st = ws_vars_evaluate(stack->vars, print->expression, &value, err);
	if (st != WS_OK)
		return st;
	if (!style->json) {
		(void)ws_vars_print(stack->vars, &value, format, style->out);
		ws_out_text(style->out, "\n");
		return WS_OK;
	}
	document_begin(stack, print, &json, style->out);
	wsi_stack_value_json(stack, &value, format, &json);
	ws_json_end(&json);
	return wsi_stack_status(stack, err);
}

enum ws_status ws_print_answer(struct ws_stack *stack, const struct ws_print *print,
			       const struct ws_answer_style *style, struct ws_error *err)
{
	return (print->lanes ? lanes_show : one_show)(stack, print, style, err);
}
