/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/flow and src/explain say of an instruction, against what the software GPU does: random
 * words of every row of the instruction table are executed with random operands.
 *
 * - Registers and predicates that an instruction changes are among those that flow says it writes,
 *   and where it goes is where flow says it may go.
 * - Only what flow says it reads decides what they become.
 * - An expression that flow knows, with the values that explain finds for its leaves, gives what
 *   the device gives; where the device cannot execute the instruction there is none.
 * - An atomic operation that flow says changes nothing when it is repeated does not.
 * - When an access fails, explain finds the address, the space and the width of it.
 *
 * usage: test_agree [WORDS]
 */
#include "device.h"
#include "words.h"

#include "base/base.h"
#include "explain/explain.h"
#include "flow/flow.h"
#include "sass/table.h"
#include "sim/exec/exec.h"

#include <warpscope/report.h>
#include <warpscope/sim_target.h>

static unsigned words = 8;

enum {
	OP12S = 1 << 12,
	OPERATIONS = 512,
	REGS = 128,
	UREGS = 256,
	BEFORE = 32, /* instructions in front of the one that is tried, and behind it */
	BUFFER = 1 << 13,
	PLACES = 8,      /* moves in front of it, for flow */
	REPORTS = 60,    /* of bad accesses of an operation */
	ATTEMPTS = 2000, /* at words of a row, until `words` were executed without a fault, */
	MORE = 10,       /* or so many times that were tried */
};

/* ---- random words and operands ---- */

/* Registers that are fours, mostly; offsets, masks, numbers and constants that are small, often; a
 * guard, once in a while. */
static void make_word(unsigned op12, uint64_t word[2], uint64_t *seed)
{
	static const uint8_t places[] = { 16, 24, 32, 64 }, more[] = { 40, 48 };
	uint64_t x = random_number(seed), y = random_number(seed);
	for (unsigned i = 0; i < 2; i++) {
		word[i] = random_number(seed) & random_number(seed);
		if (x >> i & 1)
			word[i] &= random_number(seed) & random_number(seed);
	}
	if (y & 1)
		set_bits(word, 32, 32, y & 2 ? y >> 40 & 0x3f : random_number(seed));
	for (unsigned i = 0; i < WSI_COUNT(places); i++)
		if (x >> (8 + 2 * i) & 3)
			set_bits(word, places[i], 8,
				 x >> (16 + 2 * i) & 3 ? (x >> (24 + 4 * i) & 15) * 4 : 255);
	for (unsigned i = 0; i < WSI_COUNT(more); i++)
		if (x >> (42 + i) & 1)
			set_bits(word, more[i], 8, 255);
	if (x >> 44 & 1)
		set_bits(word, 40, 24, 0); /* no offset */
	else if (y >> 2 & 1)
		set_bits(word, 38, 16, y >> 8 & 0x7f); /* of a constant */
	if (x >> 40 & 1)
		set_bits(word, 81, 10, y >> 23 & 1 ? 0x3ff : 0x1cf);
	if (x >> 41 & 1)
		set_bits(word, 87, 4, 7);
	if (y >> 3 & 1)
		set_bits(word, 77, 4, y >> 4 & 1 ? 15 : 0);
	if (y >> 20 & 1)
		set_bits(word, 72, 4, y >> 21 & 1 ? 15 : 9);
	if (y >> 22 & 1)
		set_bits(word, 68, 4, 0);
	set_bits(word, 0, 12, op12);
	set_bits(word, 12, 4, (y >> 5 & 7) == 0 ? y >> 16 : 7);
	set_bits(word, 105, 23, 0);
}

static struct board {
	struct ws_sim *sim;
	struct ws_sim_snapshot *start;
	struct wsi_text *text;
	uint64_t pc, buffer;
	unsigned sm;
} board;

/* What registers are to be good for. */
enum fill {
	FILL_ANYTHING,
	FILL_POINTERS,
	FILL_UNIFORM, /* pointers in uniform registers, offsets in the others */
	FILL_OFFSETS,
	FILL_SHARED, /* generic addresses */
	FILL_LOCAL,
	FILL_HANDLES,
	FILL_NEAR, /* not where it should be, or not all of it */
	FILLS
};

static uint32_t make_value(enum fill fill, unsigned number, uint64_t *seed)
{
	static const uint32_t corners[] = { 0, 1, 0x7fffffff, 0x80000000, UINT32_MAX, 31, 32, 64 };
	uint64_t x = random_number(seed), base = board.buffer;
	uint32_t small = (uint32_t)(x >> 40 & 0xff) * 16;
	switch (fill) {
	case FILL_OFFSETS:
		return small & 0x3ff;
	case FILL_SHARED:
		base = WSI_SHARED_WINDOW + (board.sm >= 90 ? WSI_SHARED_KEPT : 0);
		small &= 0x3ff;
		break;
	case FILL_LOCAL:
		base = WSI_LOCAL_WINDOW;
		small &= 0x3ff;
		break;
	case FILL_HANDLES: /* of a texture or a surface, the same for all lanes */
		return 1 + number / 4 % 2;
	case FILL_NEAR:
		small = x & 6 ? small + (uint32_t)(x >> 8 & 15) : small << 12;
		break;
	case FILL_ANYTHING:
		return x & 7 ? (uint32_t)(x >> 32) : corners[x >> 3 & 7] + (uint32_t)(x >> 6 & 1);
	case FILL_POINTERS:
	case FILL_UNIFORM:
	case FILLS:
		break;
	}
	return number % 2 ? (uint32_t)(base >> 32) : (uint32_t)base + small;
}

/* ---- a device before one instruction ---- */

/* Of the only warp. */
struct state {
	uint32_t r[REGS][WSI_LANES], ur[UREGS], p[7], up;
	uint64_t pc[WSI_LANES];
	uint32_t n_regs, live;
};

/* Shared and local memory. */
static void fill_memory(uint64_t *seed)
{
	struct wsi_warp *warp = board.sim->resident[0];
	struct wsi_block *block = warp->block;
	for (unsigned i = 0; i < block->shared_bytes; i++)
		block->shared[i] = (uint8_t)random_number(seed);
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		for (uint64_t at = 0; at < block->grid->local_bytes; at++)
			*wsi_local_byte(board.sim, warp, lane, at) = (uint8_t)random_number(seed);
}

static void open_board(const char *name)
{
	static uint8_t bytes[BUFFER];
	char source[4000];
	uint64_t seed = 3;
	struct ws_error err;
	enum ws_sim_outcome outcome;
	int n = snprintf(source, sizeof source,
			 ".arch %s\n.kernel k\n.param p 8\n.regs %u\n.shared s 1024\n", name, REGS);
	for (unsigned i = 0; i < 2 * BEFORE; i++)
		n += snprintf(source + n, sizeof source - (size_t)n, "NOP\n");
	snprintf(source + n, sizeof source - (size_t)n, "EXIT\n.end\n");
	board.sim = device_of(name);
	uint32_t module = load_text(board.sim, source);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_number(&seed);
	assert_int_equal(ws_sim_alloc(board.sim, BUFFER, &board.buffer, &err), WS_OK);
	assert_int_equal(ws_sim_write(board.sim, board.buffer, bytes, BUFFER, &err), WS_OK);
	struct ws_sim_texture texture = { .size = sizeof texture,
					  .image = { .address = board.buffer,
						     .shape = WS_SIM_IMAGE_2D,
						     .texel = WS_SIM_TEXEL_U32,
						     .n_components = 1,
						     .width = 32,
						     .height = 32 } };
	uint64_t handle;
	assert_int_equal(ws_sim_texture(board.sim, &texture, &handle, &err), WS_OK);
	assert_int_equal(ws_sim_surface(board.sim, &texture.image, &handle, &err), WS_OK);
	assert_int_equal(handle, 2);
	const void *const args[1] = { &board.buffer };
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ WSI_LANES, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(board.sim, &launch, &err), WS_OK);
	assert_int_equal(ws_sim_run(board.sim, BEFORE, &outcome, &err), WS_OK);
	fill_memory(&seed);
	assert_int_equal(ws_sim_snapshot(board.sim, &board.start, &err), WS_OK);
	board.pc = board.sim->resident[0]->pc[0];
	board.text = wsi_sim_text_find(board.sim, board.pc);
	board.sm = board.sim->device->sm;
	assert_int_equal(board.pc, board.text->start + BEFORE * WS_SASS_BYTES);
}

static void close_board(void)
{
	ws_sim_snapshot_free(board.start);
	ws_sim_destroy(board.sim);
}

/* Puts a word where the warp stands; what the device makes of it. */
static const struct wsi_op *place_word(const uint64_t word[2])
{
	uint64_t off = board.pc - board.text->start, at = off / WS_SASS_BYTES;
	memcpy((uint8_t *)(uintptr_t)board.text->bytes + off, word, WS_SASS_BYTES);
	struct wsi_op *op = &board.text->chunks[at / WSI_OPS_CHUNK][at % WSI_OPS_CHUNK];
	wsi_sim_text_renew(board.sim, board.text, off, op);
	return op;
}

static void fill_state(struct state *state, enum fill fill, uint64_t *seed)
{
	enum fill plain = fill == FILL_UNIFORM ? FILL_OFFSETS : fill;
	state->n_regs = REGS;
	for (unsigned r = 0; r < REGS; r++)
		for (unsigned lane = 0; lane < WSI_LANES; lane++)
			state->r[r][lane] = make_value(plain, r, seed);
	for (unsigned r = 0; r < UREGS; r++)
		state->ur[r] = make_value(fill, r, seed);
	for (unsigned i = 0; i < WSI_COUNT(state->p); i++)
		state->p[i] = (uint32_t)random_number(seed);
	state->up = (uint32_t)random_number(seed) | 0x80; /* UPT */
	state->up &= 0xff;
}

/* Executes the word from a state; false: the block is gone. */
static bool execute(const struct state *before, struct state *after,
		    enum ws_sim_outcome *ret_outcome)
{
	struct ws_sim *sim = board.sim;
	unsigned n_uregs = sim->device->uregs;
	assert_int_equal(ws_sim_restore(sim, board.start, NULL), WS_OK);
	struct wsi_warp *warp = sim->resident[0];
	assert_int_equal(warp->n_regs, REGS);
	memcpy(warp->regs, before->r, sizeof before->r);
	memcpy(warp->uregs, before->ur, n_uregs * sizeof *before->ur);
	memcpy(warp->pred, before->p, sizeof before->p);
	warp->upred = before->up;
	assert_int_equal(ws_sim_run(sim, 1, ret_outcome, NULL), WS_OK);
	*after = *before;
	warp = sim->n_resident ? sim->resident[0] : NULL;
	if (!warp)
		return false;
	after->n_regs = warp->n_regs < REGS ? warp->n_regs : REGS;
	memcpy(after->r, warp->regs, after->n_regs * sizeof after->r[0]);
	memcpy(after->ur, warp->uregs, n_uregs * sizeof *after->ur);
	memcpy(after->p, warp->pred, sizeof after->p);
	memcpy(after->pc, warp->pc, sizeof after->pc);
	after->up = warp->upred;
	after->live = warp->live;
	return true;
}

/* ---- what an instruction changes ---- */

static struct {
	unsigned writes[OPERATIONS], changes[OPERATIONS]; /* words that should, that did */
	unsigned known[OPERATIONS];                       /* expressions that were compared */
	unsigned found[OPERATIONS], lost[OPERATIONS];     /* addresses of bad accesses */
	unsigned runs[OPERATIONS]; /* words that were executed, and of which it could be told
				      where they go, which is all but those that fail */
	unsigned goes[OPERATIONS];
	unsigned alters[OPERATIONS], altered[OPERATIONS]; /* atomics that should when repeated */
} tally;

#define FAIL(insn, format, ...) fail_msg("sm_%u %s: " format, board.sm, text_of(insn), __VA_ARGS__)

static const char *text_of(const struct ws_insn *insn)
{
	static char text[WS_SASS_TEXT_MAX];
	ws_sass_format(insn, board.pc, NULL, text, sizeof text);
	return text;
}

static void changed_registers(const struct state *before, const struct state *after,
			      struct ws_flow_registers *ret_set)
{
	*ret_set = (struct ws_flow_registers){ .pred = 0 };
	for (unsigned r = 0; r < after->n_regs; r++)
		if (memcmp(before->r[r], after->r[r], sizeof before->r[r]) != 0)
			wsi_registers_add(ret_set, WS_OPERAND_REG, r, 1);
	for (unsigned r = 0; r < 255; r++)
		if (before->ur[r] != after->ur[r])
			wsi_registers_add(ret_set, WS_OPERAND_UREG, r, 1);
	for (unsigned i = 0; i < WSI_COUNT(before->p); i++)
		ret_set->pred |= (uint8_t)((before->p[i] != after->p[i]) << i);
	ret_set->upred = (uint8_t)(before->up ^ after->up);
}

static bool is_in(const struct ws_flow_registers *set, enum ws_operand_kind kind, unsigned number)
{
	return !ws_flow_registers_spare(set, kind, number, 1);
}

static bool is_empty(const struct ws_flow_registers *set)
{
	static const struct ws_flow_registers none;
	return memcmp(set, &none, sizeof none) == 0;
}

static void check_writes(const struct ws_insn *insn, const struct wsi_effect *effect,
			 const struct state *before, const struct state *after)
{
	struct ws_flow_registers said = { .pred = 0 }, done;
	wsi_registers_add_effect(&said, effect);
	changed_registers(before, after, &done);
	tally.writes[insn->operation] += !is_empty(&said) && !(effect->flags & WSI_EFFECT_GUARDED);
	tally.changes[insn->operation] += !is_empty(&done);
	if (effect->flags & WSI_EFFECT_UNKNOWN)
		return;
	for (unsigned r = 0; r < 255; r++) {
		if (is_in(&done, WS_OPERAND_REG, r) && !is_in(&said, WS_OPERAND_REG, r))
			FAIL(insn, "it writes R%u", r);
		if (is_in(&done, WS_OPERAND_UREG, r) && !is_in(&said, WS_OPERAND_UREG, r))
			FAIL(insn, "it writes UR%u", r);
	}
	if (done.pred & ~said.pred || done.upred & ~said.upred)
		FAIL(insn, "it writes predicates 0x%x 0x%x, not only 0x%x 0x%x", done.pred,
		     done.upred, said.pred, said.upred);
}

static void check_place(const struct ws_insn *insn, const struct state *after)
{
	struct wsi_leave leave;
	wsi_leave_of(insn, board.pc, true, &leave);
	uint32_t gone = ~after->live;
	if (gone && !(leave.flags & WSI_LEAVE_EXIT))
		FAIL(insn, "lanes 0x%x exit", gone);
	tally.goes[insn->operation]++;
	if (leave.flags & (WSI_LEAVE_INDIRECT | WSI_LEAVE_RETURN))
		return;
	if (leave.flags & WSI_LEAVE_CALL && !(leave.flags & WSI_LEAVE_TARGET))
		return; /* what is behind a call comes next, wherever the callee is */
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		bool next = after->pc[lane] == board.pc + WS_SASS_BYTES;
		bool there = after->pc[lane] == leave.target;
		if (!(after->live >> lane & 1) || (next && leave.flags & WSI_LEAVE_NEXT) ||
		    (there && leave.flags & WSI_LEAVE_TARGET))
			continue;
		FAIL(insn, "it goes to 0x%llx", (unsigned long long)after->pc[lane]);
	}
}

/* Other values in all registers that the instruction does not read. */
static void spoil(const struct ws_insn *insn, struct state *state, uint64_t *seed)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_flow_registers read = { .pred = 0 };
	size_t n = ws_sass_operands(insn, board.pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].role != WS_ROLE_WRITTEN)
			wsi_registers_add(&read, ops[i].kind, ops[i].number, ops[i].count);
	for (unsigned r = 0; r < REGS; r++)
		for (unsigned lane = 0; lane < WSI_LANES && !is_in(&read, WS_OPERAND_REG, r);
		     lane++)
			state->r[r][lane] = (uint32_t)random_number(seed);
	for (unsigned r = 0; r < 255; r++)
		if (!is_in(&read, WS_OPERAND_UREG, r))
			state->ur[r] = (uint32_t)random_number(seed);
	bool uniform = insn->flags & WS_SASS_UNIFORM_GUARD;
	wsi_registers_add(&read, uniform ? WS_OPERAND_UPRED : WS_OPERAND_PRED, insn->guard, 1);
	for (unsigned i = 0; i < WSI_COUNT(state->p); i++)
		if (!is_in(&read, WS_OPERAND_PRED, i))
			state->p[i] = (uint32_t)random_number(seed);
	uint32_t kept = read.upred | 0x80u;
	state->up = (state->up & kept) | (random_number(seed) & 0x7f & ~kept);
}

static void check_reads(const struct ws_insn *insn, const struct state *before,
			const struct state *after, uint64_t *seed)
{
	static struct state other, result;
	struct ws_flow_registers done;
	enum ws_sim_outcome outcome;
	changed_registers(before, after, &done);
	other = *before;
	spoil(insn, &other, seed);
	if (!execute(&other, &result, &outcome) || outcome == WS_SIM_FAULTED)
		FAIL(insn, "%s", "it fails with other values in registers that it does not read");
	for (unsigned r = 0; r < after->n_regs; r++)
		for (unsigned lane = 0; lane < WSI_LANES; lane++)
			if (before->r[r][lane] != after->r[r][lane] &&
			    result.r[r][lane] != after->r[r][lane])
				FAIL(insn, "R%u is made of what it does not read", r);
	for (unsigned r = 0; r < 255; r++)
		if (is_in(&done, WS_OPERAND_UREG, r) && result.ur[r] != after->ur[r])
			FAIL(insn, "UR%u is made of what it does not read", r);
	for (unsigned i = 0; i < WSI_COUNT(before->p); i++)
		if ((before->p[i] ^ after->p[i]) & (result.p[i] ^ after->p[i]))
			FAIL(insn, "P%u is made of what it does not read", i);
	if ((before->up ^ after->up) & (result.up ^ after->up))
		FAIL(insn, "%s", "a uniform predicate is made of what it does not read");
}

/* ---- atomics ---- */

/* Global and shared memory. */
struct memory {
	uint8_t bytes[BUFFER + 2048];
};

static void read_memory(struct memory *memory)
{
	const struct wsi_block *block = board.sim->resident[0]->block;
	size_t n = wsi_min_u64(block->shared_bytes, sizeof memory->bytes - BUFFER);
	memset(memory, 0, sizeof *memory);
	assert_int_equal(ws_sim_read(board.sim, board.buffer, memory->bytes, BUFFER, NULL), WS_OK);
	memcpy(memory->bytes + BUFFER, block->shared, n);
}

/* Executes an atomic once more, with the same data. */
static void check_repeated(const struct ws_insn *insn, const struct state *before)
{
	static struct memory once, twice;
	enum ws_sim_outcome outcome;
	struct wsi_warp *warp = board.sim->resident[0];
	read_memory(&once);
	memcpy(warp->regs, before->r, sizeof before->r);
	memcpy(warp->uregs, before->ur, board.sim->device->uregs * sizeof *before->ur);
	memcpy(warp->pred, before->p, sizeof before->p);
	warp->upred = before->up;
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		warp->pc[lane] = board.pc;
	assert_int_equal(ws_sim_run(board.sim, 1, &outcome, NULL), WS_OK);
	assert_int_equal(outcome, WS_SIM_LIMIT);
	read_memory(&twice);
	bool same = memcmp(&once, &twice, sizeof once) == 0, said = ws_flow_repeats(insn);
	if (said && !same)
		FAIL(insn, "%s", "repeated, it changes memory");
	tally.alters[insn->operation] += !said;
	tally.altered[insn->operation] += !said && !same;
}

/* ---- expressions ---- */

struct code {
	uint64_t word[PLACES + 2][2];
	size_t n;
};

static void add_move(struct code *code, bool uniform, unsigned to, uint32_t value)
{
	uint8_t bytes[WS_SASS_BYTES];
	char text[64];
	struct ws_error err;
	snprintf(text, sizeof text, "%sMOV %sR%u, 0x%x", uniform ? "U" : "", uniform ? "U" : "", to,
		 value);
	assert_int_equal(ws_sass_encode(board.sm, text, 0, bytes, &err), WS_OK);
	memcpy(code->word[code->n++], bytes, sizeof bytes);
}

/* The registers that it reads get the values of a lane from moves in front of it; false: too many.
 */
static bool make_code(struct code *code, const struct ws_insn *insn, const struct state *before,
		      unsigned lane)
{
	static const uint64_t nop[2] = { 0x7918, 0 };
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_flow_registers done = { .pred = 0 };
	code->n = 0;
	size_t n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		bool uniform = ops[i].kind == WS_OPERAND_UREG;
		if (ops[i].kind != WS_OPERAND_REG && !uniform)
			continue;
		if (ops[i].role == WS_ROLE_WRITTEN || ops[i].role == WS_ROLE_DESCRIPTOR)
			continue;
		for (unsigned r = ops[i].number; r < ops[i].number + (unsigned)ops[i].count; r++) {
			if (r == 255 || is_in(&done, ops[i].kind, r))
				continue;
			unsigned most = uniform ? board.sim->device->uregs : REGS;
			if (code->n == PLACES || r >= most)
				return false;
			wsi_registers_add(&done, ops[i].kind, r, 1);
			add_move(code, uniform, r, uniform ? before->ur[r] : before->r[r][lane]);
		}
	}
	memcpy(code->word[code->n++], insn->word, sizeof insn->word);
	memcpy(code->word[code->n++], nop, sizeof nop);
	return true;
}

/* The warp as explain sees it, as far as expressions need it. */
struct view {
	struct ws_target *target;
	struct ws_report report;
	struct wsi_build build;
	struct ws_report_exception e;
	struct wsi_scene scene;
};

static void open_view(struct view *view)
{
	*view = (struct view){ .report = { .dump_status = WS_ABSENT } };
	assert_int_equal(ws_sim_target(board.sim, &view->target, NULL), WS_OK);
	view->build.target = view->target;
	view->build.report = &view->report;
	view->scene.build = &view->build;
	view->scene.e = &view->e;
	view->scene.have_context =
		ws_target_context(view->target, 0, &view->scene.context, NULL) == WS_OK;
	wsi_scene_aim(&view->scene, 0);
}

/* The value of a register behind the instruction; false: it is not known. `view` is opened when it
 * is needed. */
static bool ask(const struct code *code, enum ws_operand_kind kind, unsigned number, unsigned bits,
		unsigned lane, struct view *view, uint64_t *ret_value)
{
	static struct ws_flow_slice slice;
	struct ws_span span = { (const uint8_t *)code->word, code->n * WS_SASS_BYTES, 0 };
	struct ws_flow *flow;
	unsigned uses = 0;
	assert_int_equal(ws_flow_create(board.sm, span, 0, NULL, 0, &flow, NULL), WS_OK);
	uint64_t pc = (code->n - 1) * WS_SASS_BYTES;
	bool known = ws_flow_slice(flow, pc, kind, number, bits, &slice, NULL) == WS_OK && slice.n;
	ws_flow_destroy(flow);
	bool leaves = false;
	for (size_t i = 0; i < slice.n && known; i++)
		leaves |= slice.node[i].op == WS_FLOW_LOAD || slice.node[i].op == WS_FLOW_SPECIAL ||
			  slice.node[i].op == WS_FLOW_CONSTANT;
	if (known && leaves && !view->target)
		open_view(view);
	return known && wsi_eval(&view->scene, &slice, 0, lane, 0, ret_value, &uses);
}

static void check_value(const struct ws_insn *insn, const struct code *code,
			enum ws_operand_kind kind, unsigned number, unsigned bits, unsigned lane,
			const struct state *after, struct view *view)
{
	bool uniform = kind == WS_OPERAND_UREG;
	uint64_t said, got = uniform ? after->ur[number] : after->r[number][lane];
	if (bits == 64)
		got |= (uint64_t)(uniform ? after->ur[number + 1] : after->r[number + 1][lane])
		       << 32;
	if (!ask(code, kind, number, bits, lane, view, &said))
		return;
	if (said != got)
		FAIL(insn, "%sR%u of lane %u: expression %llx, device %llx", uniform ? "U" : "",
		     number, lane, (unsigned long long)said, (unsigned long long)got);
	tally.known[insn->operation]++;
}

/* Of any lane; uniform registers get what the first one has. */
static void check_values(const struct ws_insn *insn, const struct wsi_effect *effect,
			 const struct state *before, const struct state *after, unsigned any)
{
	static struct view view;
	struct code code;
	if (effect->flags & WSI_EFFECT_GUARDED)
		return;
	view = (struct view){ .target = NULL };
	for (size_t i = 0; i < WSI_COUNT(effect->reg) + 1; i++) {
		bool uniform = i == WSI_COUNT(effect->reg);
		unsigned lane = uniform ? 0 : any;
		if (!make_code(&code, insn, before, lane))
			return;
		enum ws_operand_kind kind = uniform ? WS_OPERAND_UREG : WS_OPERAND_REG;
		unsigned first = uniform ? effect->ureg : effect->reg[i];
		unsigned end = first + (uniform ? effect->n_ureg : effect->n_reg[i]);
		for (unsigned r = first; r < end && (uniform || end <= REGS); r++)
			check_value(insn, &code, kind, r, 32, lane, after, &view);
		if (end == first + 2 && (uniform || end <= REGS))
			check_value(insn, &code, kind, first, 64, lane, after, &view);
	}
	ws_target_close(view.target);
}

/* The device cannot execute it: nothing may be known of what it would give, if that does not depend
 * on a predicate. */
static void check_nothing(const struct ws_insn *insn, const struct wsi_effect *effect,
			  const struct state *before)
{
	static struct view view;
	struct code code;
	uint64_t said;
	if (effect->flags & WSI_EFFECT_GUARDED || !make_code(&code, insn, before, 0))
		return;
	view = (struct view){ .target = NULL };
	for (size_t i = 0; i < WSI_COUNT(effect->reg); i++)
		for (unsigned r = effect->reg[i];
		     r < wsi_min_u64(effect->reg[i] + effect->n_reg[i], 255); r++)
			if (ask(&code, WS_OPERAND_REG, r, 32, 0, &view, &said))
				FAIL(insn, "R%u has an expression, but the device has no operation",
				     r);
	for (unsigned r = effect->ureg;
	     r < wsi_min_u64(effect->ureg + (unsigned)effect->n_ureg, 255); r++)
		if (ask(&code, WS_OPERAND_UREG, r, 32, 0, &view, &said))
			FAIL(insn, "UR%u has an expression, but the device has no operation", r);
	ws_target_close(view.target);
}

/* ---- bad accesses ---- */

static bool is_address(uint32_t exception)
{
	return exception == 5 || exception == 6 || exception == 7 || exception == 14;
}

/* Either may tell a generic address, or what it is in its window. */
static bool is_same_place(const struct ws_report_access *access, uint64_t said, uint64_t address)
{
	uint64_t window = access->space == WS_SPACE_SHARED  ? WSI_SHARED_WINDOW
			  : access->space == WS_SPACE_LOCAL ? WSI_LOCAL_WINDOW
							    : 0;
	if (said == address || !access->generic)
		return said == address;
	return said + window == address || (!window && (said == address + WSI_SHARED_WINDOW ||
							said == address + WSI_LOCAL_WINDOW));
}

static void check_access(const struct ws_insn *insn, const struct wsi_op *op)
{
	struct ws_sim_fault fault;
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	unsigned *found = &tally.found[insn->operation], *lost = &tally.lost[insn->operation];
	if (!ws_sim_fault(board.sim, &fault) || !fault.has_address || !is_address(fault.exception))
		return;
	assert_int_equal(ws_sim_target(board.sim, &target, NULL), WS_OK);
	assert_int_equal(ws_report_create(target, &options, &report, NULL), WS_OK);
	const struct ws_report_exception *e = report->focus;
	unsigned lane = wsi_first_bit(fault.lanes);
	bool claims = false, same = false;
	for (uint32_t i = 0; i < e->n_accesses; i++) {
		const struct ws_report_access *a = &e->accesses[i];
		bool known = a->lanes_known >> lane & 1;
		claims |= known;
		same |= known && is_same_place(a, a->address[lane], fault.address) &&
			a->width == op->bytes;
	}
	bool counted = insn->operation == WS_OP_STAS || insn->operation == WS_OP_REDAS;
	if (claims && !same && !counted) /* these may fail at their barrier, too */
		FAIL(insn, "bad address 0x%llx of %u bytes (%s), explain says 0x%llx of %u",
		     (unsigned long long)fault.address, op->bytes, fault.text,
		     (unsigned long long)e->accesses[0].address[lane], e->accesses[0].width);
	*(same ? found : lost) += 1;
	ws_report_destroy(report);
	ws_target_close(target);
}

/* ---- all ---- */

/* Of a pair or more whose last register is none of the device: what hardware makes of it nobody
 * tells.
 */
static bool is_beyond(const struct ws_operand *op)
{
	return op->kind == WS_OPERAND_UREG && op->number != 255 &&
	       op->number + op->count > board.sim->device->uregs;
}

/* Modifiers or bits that no row explains, or a constant bank or uniform registers that there are
 * not. */
static bool has_unknown(const struct ws_insn *insn)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	if (ws_sass_has(insn, WS_MOD_UNKNOWN) || insn->unknown[0] || insn->unknown[1])
		return true;
	size_t n = ws_sass_operands(insn, 0, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].suffix[0] == WS_MOD_UNKNOWN || is_beyond(&ops[i]) ||
		    (ops[i].role == WS_ROLE_BANK && ops[i].value >= WSI_BANKS))
			return true;
	return false;
}

/* Decodes a word without the bits that no row explains; false: nothing to try. */
static bool decode_word(uint64_t word[2], struct ws_insn *ret_insn)
{
	uint8_t bytes[WS_SASS_BYTES];
	memcpy(bytes, word, sizeof bytes);
	ws_sass_decode(board.sm, bytes, ret_insn);
	word[0] ^= ret_insn->unknown[0];
	word[1] ^= ret_insn->unknown[1];
	memcpy(bytes, word, sizeof bytes);
	ws_sass_decode(board.sm, bytes, ret_insn);
	return ret_insn->known && !has_unknown(ret_insn);
}

/* False: nothing was executed. */
static bool try_word(const struct ws_insn *insn, enum fill fill, uint64_t *seed)
{
	static struct state before, after;
	struct wsi_effect effect;
	enum ws_sim_outcome outcome;
	const struct wsi_op *op = place_word(insn->word);
	wsi_effect_of(insn, &effect);
	fill_state(&before, fill, seed);
	if (op->run == wsi_run_unimplemented) {
		check_nothing(insn, &effect, &before);
		return false;
	}
	bool is_there = execute(&before, &after, &outcome);
	tally.runs[insn->operation]++;
	unsigned reports = tally.found[insn->operation] + tally.lost[insn->operation];
	if (outcome == WS_SIM_FAULTED) {
		if (reports < REPORTS)
			check_access(insn, op);
		return false;
	}
	if (!is_there) {
		after.live = 0;
		check_place(insn, &after);
		return true;
	}
	check_writes(insn, &effect, &before, &after);
	check_place(insn, &after);
	check_values(insn, &effect, &before, &after, random_number(seed) % WSI_LANES);
	if (op->run == wsi_run_atomic)
		check_repeated(insn, &before);
	check_reads(insn, &before, &after, seed);
	return true;
}

/* Forms that random words hardly ever have, where a device has them. */
static void try_texts(uint64_t *seed)
{
	static const char *const texts[] = {
		"PRMT R2, R4, 0x3210, R6",
		"PRMT R2, R4, 0x7654, R6",
		"PRMT R2, R4, 0x7770, RZ",
		"PRMT R2, R4, 0x7721, RZ",
		"PRMT R2, R4, 0x4321, RZ",
		"PRMT R2, R4, 0x8880, R6",
		"PRMT R2, R4, 0xaa21, R6",
		"PRMT R2, R4, 0xeee6, R6",
		"PRMT R2, R4, 0x7610, R6",
		"PRMT R2, R4, 0x3254, R6",
		"HFMA2 R2, -RZ, RZ, 1, 2",
		"HFMA2.MMA R2, -RZ, RZ, 1, 2",
		"HFMA2.BF16_V2 R2, -RZ, RZ, 1, 2",
		"LDG.E R2, [R4.64]",
		"LDG.E R2, desc[UR4][R4.64]",
		"LDG.E.S8 R2, [R4.64]",
		"LDG.E.S16 R2, desc[UR4][R4.64+0x10]",
		"LDG.E.128 R8, [R4.64]",
		"LD.E.64 R8, [R4.64]",
		"LD.E.U8 R8, desc[UR4][R4.64]",
		"LDC.S8 R2, c[0x0][R4]",
		"LDC.64 R2, c[0x0][0x8]",
	};
	for (size_t i = 0; i < WSI_COUNT(texts); i++) {
		uint64_t word[2];
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		if (ws_sass_encode(board.sm, texts[i], board.pc, bytes, NULL) != WS_OK)
			continue;
		memcpy(word, bytes, sizeof word);
		for (unsigned fill = 0; decode_word(word, &insn) && fill < FILLS; fill++)
			try_word(&insn, (enum fill)fill, seed);
	}
}

static void try_row(unsigned op12, uint64_t *seed)
{
	unsigned tries = 0, done = 0;
	for (unsigned i = 0; i < ATTEMPTS && tries < MORE * words && done < words; i++) {
		uint64_t word[2];
		struct ws_insn insn;
		make_word(op12, word, seed);
		if (decode_word(word, &insn))
			done += try_word(&insn, (enum fill)(tries++ % FILLS), seed);
	}
}

static void flow_and_explain_say_what_the_device_does(void **state)
{
	(void)state;
	uint64_t seed = 1;
	const char *name;
	for (size_t d = 0; (name = ws_sim_device_name(d)) != NULL; d++) {
		open_board(name);
		uint16_t arch = wsi_isa_arch_bit(board.sm);
		try_texts(&seed);
		for (unsigned op12 = 0; op12 < OP12S; op12++) {
			bool there = false;
			for (unsigned i = wsi_isa_first[op12]; i < wsi_isa_first[op12 + 1]; i++)
				there |= (wsi_isa_rows[i].archs & arch) != 0;
			if (there)
				try_row(op12, &seed);
		}
		close_board();
	}
}

/* ---- what was compared ---- */

static bool is_one_of(unsigned operation, const uint16_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == operation)
			return true;
	return false;
}

static void operations_that_write_change_something(void **state)
{
	(void)state;
	/* a callee may write, the instruction does not */
	static const uint16_t callers[] = { WS_OP_CALL };
	enum { ENOUGH = 5 };
	for (unsigned o = 0; o < wsi_isa_n_ops; o++)
		if (tally.writes[o] >= ENOUGH && tally.changes[o] == 0 &&
		    !is_one_of(o, callers, WSI_COUNT(callers)))
			fail_msg("%s: it should write, and does not", ws_sass_operation_name(o));
	for (unsigned o = 0; o < wsi_isa_n_ops; o++)
		if (tally.alters[o] >= ENOUGH && tally.altered[o] == 0)
			fail_msg("%s: repeated, it should change memory",
				 ws_sass_operation_name(o));
}

static void expressions_were_compared(void **state)
{
	(void)state;
	static const uint16_t expected[] = {
		WS_OP_MOV,   WS_OP_IADD3, WS_OP_IADD,   WS_OP_VIADD,   WS_OP_IMAD,  WS_OP_LEA,
		WS_OP_SHF,   WS_OP_LOP3,  WS_OP_SEL,    WS_OP_IMNMX,   WS_OP_PRMT,  WS_OP_VIMNMX,
		WS_OP_UMOV,  WS_OP_USHF,  WS_OP_ULOP3,  WS_OP_ULEA,    WS_OP_UIMAD, WS_OP_UIADD3,
		WS_OP_HFMA2, WS_OP_USEL,  WS_OP_UVIADD, WS_OP_UVIMNMX, WS_OP_R2UR,  WS_OP_S2R,
		WS_OP_S2UR,  WS_OP_CS2R,  WS_OP_CS2UR,  WS_OP_LDC,     WS_OP_ULDC,  WS_OP_LDCU,
		WS_OP_LD,    WS_OP_LDG,   WS_OP_LDS,    WS_OP_LDL,     WS_OP_SGXT,  WS_OP_USGXT,
		WS_OP_UPRMT,
	};
	for (unsigned o = 0; o < wsi_isa_n_ops; o++) {
		bool is_expected = is_one_of(o, expected, WSI_COUNT(expected));
		if (is_expected != (tally.known[o] > 0))
			fail_msg("%s: %u values were compared", ws_sass_operation_name(o),
				 tally.known[o]);
	}
}

static void addresses_were_compared(void **state)
{
	(void)state;
	static const uint16_t expected[] = {
		WS_OP_ARRIVES, WS_OP_ATOM, WS_OP_ATOMG, WS_OP_ATOMS, WS_OP_LD,   WS_OP_LDG,
		WS_OP_LDGSTS,  WS_OP_LDL,  WS_OP_LDS,   WS_OP_LDSM,  WS_OP_RED,  WS_OP_REDG,
		WS_OP_ST,      WS_OP_STG,  WS_OP_STL,   WS_OP_STS,   WS_OP_STSM, WS_OP_SYNCS,
		WS_OP_LDC,     WS_OP_ULDC, WS_OP_LDCU,
	};
	/* whose addresses are in descriptors and maps, or of the whole warp; and rare ones */
	static const uint16_t others[] = {
		WS_OP_BGMMA,    WS_OP_HGMMA,   WS_OP_IGMMA,   WS_OP_QGMMA,          WS_OP_STAS,
		WS_OP_REDAS,    WS_OP_UBLKCP,  WS_OP_UBLKRED, WS_OP_UMEMSETS,       WS_OP_USTGR,
		WS_OP_UREDGR,   WS_OP_UTCBAR,  WS_OP_UTCCP,   WS_OP_UTMALDG,        WS_OP_UTMASTG,
		WS_OP_UTMAREDG, WS_OP_UTCHMMA, WS_OP_UTCIMMA, WS_OP_UTCQMMA,        WS_OP_UTCOMMA,
		WS_OP_SULD,     WS_OP_SUST,    WS_OP_SURED,   WS_OP_SUATOM,         WS_OP_TEX,
		WS_OP_TXD,      WS_OP_TLD,     WS_OP_TLD4,    WS_OP_UGETNEXTWORKID,
	};
	for (unsigned o = 0; o < wsi_isa_n_ops; o++) {
		bool is_expected = is_one_of(o, expected, WSI_COUNT(expected));
		if (is_expected && tally.found[o] == 0)
			fail_msg("%s: no address was compared", ws_sass_operation_name(o));
		if (!is_expected && tally.lost[o] && !is_one_of(o, others, WSI_COUNT(others)))
			fail_msg("%s: no address is found", ws_sass_operation_name(o));
	}
}

static void operations_that_run_were_tried(void **state)
{
	(void)state;
	/* it stops; those of which nearly all random words fail */
	static const uint16_t none[] = { WS_OP_BPT,    WS_OP_STAS,   WS_OP_REDAS,
					 WS_OP_UREDGR, WS_OP_UTCBAR, WS_OP_UTCOMMA };
	unsigned wrong = 0;
	for (unsigned o = 0; o < wsi_isa_n_ops; o++) {
		if (tally.runs[o] == 0 || tally.goes[o] > 0 || is_one_of(o, none, WSI_COUNT(none)))
			continue;
		print_message("# %s: nothing of it was compared\n", ws_sass_operation_name(o));
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow_and_explain_say_what_the_device_does),
		cmocka_unit_test(operations_that_write_change_something),
		cmocka_unit_test(expressions_were_compared),
		cmocka_unit_test(addresses_were_compared),
		cmocka_unit_test(operations_that_run_were_tried),
	};
	if (argc > 1)
		words = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
