/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope disas of one thread of a dump: the code around its pc (=>) and errorpc (*>), and with
 * --regs the values that each instruction finds in its registers.
 *
 * A dump has the registers as they are at the pc. An instruction further away finds the same values
 * only when nothing on the ways between the two writes them (warpscope/flow.h); a value that may be
 * another is not shown.
 */
#include "disas/disas.h"
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <warpscope/flow.h>
#include <warpscope/symbols.h>

enum { MAX_REGS = 256 };

/* Recorded registers of one kind. */
struct file {
	uint32_t value[MAX_REGS];
	uint32_t n;
	enum ws_status status; /* why there are none */
};

struct disas_thread {
	struct cli_session session;
	struct ws_symbols *symbols;
	struct ws_resident place; /* with `lane` as its first */
	bool found, with_values, have_suspect;
	struct ws_report_thread suspect; /* with have_suspect */
	uint64_t pc_off;                 /* in the function */
	bool pc_is_here;                 /* the pc is in the function that is shown */
	struct ws_flow *flow;
	struct file files[4]; /* R, P, UR, UP */
};

/* ---- values ---- */

static const struct {
	enum ws_operand_kind operand;
	enum ws_reg_kind reg;
	const char *name;
} kinds[] = {
	{ WS_OPERAND_REG, WS_REG_R, "R" },
	{ WS_OPERAND_PRED, WS_REG_P, "P" },
	{ WS_OPERAND_UREG, WS_REG_UR, "UR" },
	{ WS_OPERAND_UPRED, WS_REG_UP, "UP" },
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0], MAX_SHOWN = 64 };

static void read_thread_registers(struct disas_thread *t)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		struct file *file = &t->files[i];
		file->status = ws_target_registers(t->session.target, t->place.warp_index,
						   t->place.lanes[0].id, kinds[i].reg, 0, MAX_REGS,
						   file->value, &file->n, NULL);
		if (file->status != WS_OK)
			file->n = 0;
		else if (file->n > MAX_REGS)
			file->n = MAX_REGS;
	}
}

/* What may be written between an instruction and the pc, in either order; false: anything. */
static bool written(const struct disas_thread *t, uint64_t off, struct ws_flow_registers *ret_set)
{
	struct ws_flow_written w;
	*ret_set = (struct ws_flow_registers){ .pred = 0 };
	if (!t->pc_is_here)
		return false;
	if (off == t->pc_off)
		return true;
	uint64_t first = off < t->pc_off ? off : t->pc_off;
	uint64_t second = off < t->pc_off ? t->pc_off : off;
	if (!t->flow || ws_flow_written(t->flow, first, second, &w, NULL) != WS_OK ||
	    w.unknown_direct)
		return false;
	*ret_set = w.direct;
	return true;
}

/* One register that an instruction reads. */
struct shown {
	size_t kind;
	unsigned number;
};

static size_t add_shown(struct shown *shown, size_t n, enum ws_operand_kind kind, unsigned number)
{
	size_t k = 0;
	while (k < N_KINDS && kinds[k].operand != kind)
		k++;
	if (k == N_KINDS || ws_operand_is_fixed(kind, number) || n == MAX_SHOWN)
		return n;
	for (size_t i = 0; i < n; i++)
		if (shown[i].kind == k && shown[i].number == number)
			return n;
	shown[n] = (struct shown){ k, number };
	return n + 1;
}

static size_t list_registers_read(const struct ws_insn *insn, uint64_t off, struct shown *shown)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = 0, n_ops = ws_sass_operands(insn, off, ops, WS_SASS_MAX_OPERANDS);
	bool uniform = insn->flags & WS_SASS_UNIFORM_GUARD;
	n = add_shown(shown, n, uniform ? WS_OPERAND_UPRED : WS_OPERAND_PRED, insn->guard);
	for (size_t i = 0; i < n_ops; i++) {
		if (ops[i].role == WS_ROLE_WRITTEN ||
		    ws_operand_is_fixed(ops[i].kind, ops[i].number))
			continue;
		for (unsigned k = 0; k < (ops[i].count ? ops[i].count : 1u); k++)
			n = add_shown(shown, n, ops[i].kind, ops[i].number + k);
	}
	return n;
}

/* WS_ABSENT: it may have been another value; else why it was not recorded. */
static enum ws_status shown_value_of(const struct disas_thread *t, const struct shown *shown,
				     bool known, const struct ws_flow_registers *set,
				     uint32_t *ret_value)
{
	const struct file *file = &t->files[shown->kind];
	if (!known || !ws_flow_registers_spare(set, kinds[shown->kind].operand, shown->number, 1))
		return WS_ABSENT;
	if (shown->number >= file->n)
		return file->status != WS_OK ? file->status : WS_ABSENT;
	*ret_value = file->value[shown->number];
	return WS_OK;
}

void disas_thread_values(struct disas_code *code, const struct ws_insn *insn, uint64_t off)
{
	const struct disas_thread *t = code->thread;
	struct ws_json *json = code->d->cli->json ? &code->d->json : NULL;
	struct ws_out *out = &code->d->cli->out;
	struct shown shown[MAX_SHOWN];
	struct ws_flow_registers set;
	if (!t->with_values)
		return;
	size_t n = list_registers_read(insn, off, shown);
	bool known = written(t, off, &set);
	if (json)
		ws_json_key_array(json, "registers");
	for (size_t i = 0; i < n; i++) {
		uint32_t value = 0;
		char name[16];
		enum ws_status st = shown_value_of(t, &shown[i], known, &set, &value);
		snprintf(name, sizeof name, "%s%u", kinds[shown[i].kind].name, shown[i].number);
		if (json) {
			ws_json_object(json);
			ws_json_key_text(json, "name", name);
			if (ws_json_key_given(json, "value", st))
				ws_json_u64(json, value);
			ws_json_end(json);
		} else if (st == WS_OK) {
			ws_out_printf(out, "%s%s=0x%" PRIx32, i ? " " : "  // ", name, value);
		} else {
			ws_out_printf(out, "%s%s=?", i ? " " : "  // ", name);
		}
	}
	if (json)
		ws_json_end(json);
}

/* ---- the thread ---- */

static bool has_lane(const struct ws_resident *place, uint32_t lane)
{
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		if (place->lanes[i].id == lane)
			return true;
	}
	return false;
}

/* Takes the suspect where it is among the lanes, else the first lane of all. */
static void suspect_take(void *user, const struct ws_resident *place)
{
	struct disas_thread *t = user;
	bool suspect = t->have_suspect && place->warp_index == t->suspect.warp_index &&
		       has_lane(place, t->suspect.lane);
	if (place->n_lanes == 0 || (t->found && !suspect))
		return;
	t->place = *place;
	t->found = true;
	for (uint32_t i = 0; suspect && t->place.lanes[0].id != t->suspect.lane; i++)
		t->place.lanes[0] = place->lanes[i];
}

/* CLI_ANSWERED with t->found telling, or CLI_USAGE. `lane_text` may be NULL. */
static int choose_shown_lane(struct disas_thread *t, const char *lane_text, int argc, char **argv)
{
	static const enum ws_filter_word of_warp[] = { WS_FILTER_device, WS_FILTER_sm,
						       WS_FILTER_warp };
	const struct ws_coords *focus = &t->session.threads.at;
	struct ws_filter filter;
	const char *bad = "";
	uint64_t lane;
	if (!ws_filter_parse(&filter, focus, argc, argv, &bad))
		return cli_usage("disas", "incorrect filter '%s'", bad);
	if (lane_text && strcmp(lane_text, "current") == 0) {
		ws_filter_current(&filter, focus, WS_FILTER_lane);
	} else if (lane_text) {
		if (!cli_number(lane_text, &lane) || lane >= WS_MAX_LANES)
			return cli_usage("disas", "--regs takes a lane or 'current', not '%s'",
					 lane_text);
		filter.word[WS_FILTER_lane].limited[0] = true;
		filter.word[WS_FILTER_lane].number[0] = (int64_t)lane;
	} else {
		t->have_suspect = session_suspect(&t->session, &t->suspect);
	}
	if (argc == 0 && !t->have_suspect) {
		for (size_t i = 0; i < sizeof of_warp / sizeof of_warp[0]; i++)
			ws_filter_current(&filter, focus, of_warp[i]);
		if (!lane_text && t->session.cli->focus)
			ws_filter_current(&filter, focus, WS_FILTER_lane);
	}
	ws_threads_walk(&t->session.threads, &filter, WS_WALK_LANES, suspect_take, t);
	return CLI_ANSWERED;
}

static void print_thread(const struct disas_thread *t, struct ws_out *out)
{
	const struct ws_resident *place = &t->place;
	const struct ws_dim3 block = place->block.idx, thread = place->lanes[0].thread;
	if (place->block_status == WS_OK)
		ws_out_printf(out, "block (%u,%u,%u), ", block.x, block.y, block.z);
	ws_out_printf(out, "thread (%u,%u,%u), device %u, sm %u, warp %u, lane %u\n", thread.x,
		      thread.y, thread.z, place->device->id, place->sm.id, place->warp.id,
		      place->lanes[0].id);
}

static void json_thread(const struct disas_thread *t, struct ws_json *json)
{
	ws_json_key_object(json, "thread");
	ws_resident_json(&t->place, &t->place.lanes[0], json);
	ws_json_end(json);
}

/* Where the pc and the errorpc are in the function of the one or, without it, of the other. */
static bool find_marks(struct disas_thread *t, struct disas_code *code, struct ws_place *ret_place)
{
	const struct ws_resident *place = &t->place;
	uint32_t device = place->warp.device_index;
	struct ws_place at = { .function = NULL }, error = { .function = NULL };
	bool have_pc = ws_symbols_place(t->symbols, device, place->grid, place->lanes[0].pc, &at) ==
			       WS_OK &&
		       at.function;
	bool have_error = place->warp.error_pc_valid &&
			  ws_symbols_place(t->symbols, device, place->grid, place->warp.error_pc,
					   &error) == WS_OK &&
			  error.function;
	if (!have_pc && !have_error)
		return false;
	*ret_place = have_pc ? at : error;
	code->n_marks = 0;
	if (have_pc) {
		code->marks[code->n_marks].off = t->pc_off = at.rel_pc;
		code->marks[code->n_marks++].flags = DISAS_PC;
		t->pc_is_here = true;
	}
	if (have_error && error.cubin == ret_place->cubin &&
	    error.function == ret_place->function) {
		code->marks[code->n_marks].off = error.rel_pc;
		code->marks[code->n_marks++].flags = DISAS_ERRORPC;
	}
	return true;
}

static int show_thread_code(struct disas *d, struct disas_thread *t)
{
	struct disas_code code, marks = { .d = NULL };
	struct ws_place place;
	if (!find_marks(t, &marks, &place)) {
		cli_warn("%s: the code at pc 0x%" PRIx64 " is not in the dump", d->path,
			 t->place.lanes[0].pc);
		return CLI_NO_ANSWER;
	}
	if (!disas_code_init(&code, d, place.cubin, place.function))
		return CLI_NO_ANSWER;
	memcpy(code.marks, marks.marks, sizeof code.marks);
	code.n_marks = marks.n_marks;
	code.thread = t;
	if (t->with_values) {
		read_thread_registers(t);
		if (ws_cubin_flow(code.cubin, code.function, 0, &t->flow, NULL) != WS_OK)
			t->flow = NULL; /* then only the pc's own values are known */
	}
	if (d->cli->json)
		json_thread(t, &d->json);
	else
		print_thread(t, &d->cli->out);
	if (d->cli->json)
		ws_json_key(&d->json, "function");
	disas_code_show(&code);
	disas_code_end(&code);
	disas_code_fini(&code);
	return CLI_ANSWERED;
}

int disas_thread_run(struct disas *d, int argc, char **argv)
{
	struct disas_thread t = { .with_values = d->with_values };
	int status = session_open(&t.session, d->cli, d->path);
	if (status == CLI_ANSWERED)
		status = choose_shown_lane(&t, d->lane, argc, argv);
	if (status == CLI_ANSWERED && !t.found) {
		cli_warn("%s: no such thread", d->path);
		status = CLI_NO_ANSWER;
	}
	if (status == CLI_ANSWERED) {
		if (ws_symbols_create(t.session.target, &t.symbols, NULL) != WS_OK)
			cli_out_of_memory();
		if (d->cli->json) {
			ws_json_begin(&d->json, &d->cli->out, "warpscope-disas-1");
			ws_json_key_text(&d->json, "path", d->path);
		}
		status = show_thread_code(d, &t);
		if (d->cli->json)
			ws_json_end(&d->json);
	}
	ws_flow_destroy(t.flow);
	ws_symbols_destroy(t.symbols);
	session_close(&t.session);
	return status;
}
