/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one thread of a dump around its pc (=>) and errorpc (*>), and with
 * --regs the values that each instruction finds in its registers.
 *
 * A dump has the registers as they are at the pc. An instruction further away finds the same values
 * only when nothing on the ways between the two writes them (warpscope/flow.h); a value that may be
 * another is not shown.
 */
#include <warpscope/flow.h>

#include "verbs/disas/disas.h"

enum { MAX_REGS = 256 };

/* Recorded registers of one kind. */
struct file {
	uint32_t value[MAX_REGS];
	uint32_t n;
	enum ws_status status; /* why there are none */
};

struct wsi_disas_thread {
	const struct ws_target *target;
	struct ws_symbols *symbols;
	struct ws_resident place;
	const struct ws_lane *lane;
	uint64_t pc_off; /* in the function */
	bool pc_is_here; /* the pc is in the function that is shown */
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

enum { N_KINDS = WSI_COUNT(kinds), MAX_SHOWN = 64 };

static void read_thread_registers(struct wsi_disas_thread *t)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		struct file *file = &t->files[i];
		file->status =
			ws_target_registers(t->target, t->place.warp_index, t->lane->id,
					    kinds[i].reg, 0, MAX_REGS, file->value, &file->n, NULL);
		if (file->status != WS_OK)
			file->n = 0;
		else if (file->n > MAX_REGS)
			file->n = MAX_REGS;
	}
}

/* What may be written between an instruction and the pc, in either order; false: anything. */
static bool written(const struct wsi_disas_thread *t, uint64_t off,
		    struct ws_flow_registers *ret_set)
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
static enum ws_status shown_value_of(const struct wsi_disas_thread *t, const struct shown *shown,
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

void wsi_disas_thread_values(struct wsi_disas_code *code, const struct ws_insn *insn, uint64_t off)
{
	const struct wsi_disas_thread *t = code->thread;
	struct ws_json *json = code->d->json;
	struct ws_out *out = code->d->out;
	struct shown shown[MAX_SHOWN];
	struct ws_flow_registers set;
	if (!code->d->query->values)
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

static void print_thread(const struct wsi_disas_thread *t, struct ws_out *out)
{
	const struct ws_resident *place = &t->place;
	const struct ws_dim3 block = place->block.idx, thread = t->lane->thread;
	if (place->block_status == WS_OK)
		ws_out_printf(out, "block (%u,%u,%u), ", block.x, block.y, block.z);
	ws_out_printf(out, "thread (%u,%u,%u), device %u, sm %u, warp %u, lane %u\n", thread.x,
		      thread.y, thread.z, place->device->id, place->sm.id, place->warp.id,
		      t->lane->id);
}

/* Where the pc and the errorpc are in the function of the one or, without it, of the other. */
static bool find_marks(struct wsi_disas_thread *t, struct wsi_disas_code *code,
		       struct ws_place *ret_place)
{
	const struct ws_resident *place = &t->place;
	uint32_t device = place->warp.device_index;
	struct ws_place at = { .function = NULL }, error = { .function = NULL };
	bool have_pc =
		ws_symbols_place(t->symbols, device, place->grid, t->lane->pc, &at) == WS_OK &&
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

static void show_thread_code(struct wsi_disas *d, struct wsi_disas_thread *t)
{
	struct wsi_disas_code code, marks = { .d = NULL };
	struct ws_place place;
	if (!find_marks(t, &marks, &place)) {
		wsi_verbs_say(d->style, "the code at pc 0x%" PRIx64 " is not in the dump",
			      t->lane->pc);
		return;
	}
	if (!wsi_disas_code_init(&code, d, place.cubin, place.function))
		return;
	memcpy(code.marks, marks.marks, sizeof code.marks);
	code.n_marks = marks.n_marks;
	code.thread = t;
	if (d->query->values) {
		read_thread_registers(t);
		if (ws_cubin_flow(code.cubin, code.function, 0, &t->flow, NULL) != WS_OK)
			t->flow = NULL; /* then only the pc's own values are known */
	}
	if (d->json) {
		ws_json_key_object(d->json, "thread");
		ws_resident_json(&t->place, t->lane, d->json);
		ws_json_end(d->json);
		ws_json_key(d->json, "function");
	} else {
		print_thread(t, d->out);
	}
	wsi_disas_code_show(&code);
	if (d->json)
		ws_json_end(d->json);
	wsi_disas_code_fini(&code);
}

enum ws_status ws_disas_thread_answer(const struct ws_threads *threads, const char *path,
				      const struct ws_disas *query,
				      const struct ws_answer_style *style,
				      struct ws_disas_told *ret_told, struct ws_error *err)
{
	const struct ws_focus *focus = &threads->focus;
	struct wsi_disas_thread t = { .target = threads->target };
	struct ws_json json;
	struct wsi_disas d = { .query = query,
			       .style = style,
			       .out = style->out,
			       .json = style->json ? &json : NULL };
	uint32_t i = 0;
	*ret_told = d.told;
	if (!threads->have_focus ||
	    !ws_threads_resident(threads, &(struct ws_filter){ 0 }, WS_WALK_LANES,
				 focus->warp_index, &t.place))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no such thread");
	while (i < t.place.n_lanes && t.place.lanes[i].id != focus->lane)
		i++;
	if (i == t.place.n_lanes)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no such thread");
	t.lane = &t.place.lanes[i];
	enum ws_status st = ws_symbols_create(threads->target, &t.symbols, err);
	if (st != WS_OK)
		return st;
	if (d.json) {
		ws_json_begin(&json, d.out, "warpscope-disas-1");
		ws_json_key_text(&json, "path", path);
	}
	show_thread_code(&d, &t);
	if (d.json)
		ws_json_end(&json);
	ws_flow_destroy(t.flow);
	ws_symbols_destroy(t.symbols);
	return wsi_disas_end(&d, ret_told, err);
}
