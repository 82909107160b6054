/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction waits for, according to the code. An instruction that waits by itself (BAR,
 * BSYNC, WARPSYNC, NANOSLEEP) is one case; any other waits if the shortest loop around it, or
 * around the call that led to it, writes no memory, calls only functions that write none, computes
 * nothing, and exits on what it reads from an address that stays the same.
 */
#include "explain/explain.h"
#include "report/library.h"
#include "sass/bank.h"
#include "wait/wait.h"

enum { N_SOURCES = WS_FLOW_MAX_SOURCES };

/* ---- known functions ---- */

static const char *const rules[] = {
#include "waits.inc"
};

const char *wsi_wait_known(struct ws_str name, bool *ret_grid)
{
	for (size_t i = 0; i < WSI_COUNT(rules); i++) {
		const char *equals = strstr(rules[i], " = ");
		if (!equals)
			continue;
		struct ws_str pattern = { rules[i], (size_t)(equals - rules[i]) };
		if (!wsi_report_name_matches(name, pattern))
			continue;
		const char *kind = equals + 3;
		const char *words = strchr(kind, ' ');
		*ret_grid = strncmp(kind, "grid ", 5) == 0;
		return words ? words + 1 : NULL;
	}
	return NULL;
}

/* ---- code ---- */

void wsi_wait_flows_fini(struct wsi_wait_flows *flows)
{
	for (size_t i = 0; i < WSI_COUNT(flows->at); i++)
		ws_flow_destroy(flows->at[i].flow);
	*flows = (struct wsi_wait_flows){ .next = 0 };
}

/* The flow of a function; NULL when there is none. */
static struct ws_flow *flow_of(struct wsi_wait_flows *flows, const struct wsi_function_code *code)
{
	const struct ws_place *place = &code->place;
	for (size_t i = 0; i < WSI_COUNT(flows->at); i++)
		if (flows->at[i].flow && flows->at[i].cubin == place->cubin &&
		    flows->at[i].function == place->function)
			return flows->at[i].flow;
	if (code->bytes.len > WSI_MAX_FLOW_BYTES - flows->used_bytes)
		return NULL;
	flows->used_bytes += code->bytes.len;
	struct wsi_wait_flow *slot = &flows->at[flows->next++ % WSI_COUNT(flows->at)];
	ws_flow_destroy(slot->flow);
	*slot = (struct wsi_wait_flow){ place->cubin, place->function, NULL };
	if (ws_cubin_flow(place->cubin, place->function, code->base_pc, &slot->flow, NULL) != WS_OK)
		slot->flow = NULL;
	return slot->flow;
}

/* A place in a function's code. */
struct wait_spot {
	struct wsi_build *build;
	struct wsi_wait_flows *flows;
	const struct wsi_where *where;
	struct wsi_function_code code; /* its flow is borrowed from `flows` */
	uint64_t pc;
};

/* The place of an address, in the same module as `near`. The flow is valid until eight other
 * functions were looked at. */
static enum ws_status open_spot(const struct wait_spot *near, uint64_t pc,
				struct wait_spot *ret_spot)
{
	struct wait_spot spot = {
		.build = near->build, .flows = near->flows, .where = near->where, .pc = pc
	};
	enum ws_status st = wsi_code_find(near->build, near->where, pc, &spot.code);
	if (st != WS_OK)
		return st;
	spot.code.flow = flow_of(near->flows, &spot.code);
	*ret_spot = spot;
	return spot.code.flow ? WS_OK : WS_ABSENT;
}

static bool decode(const struct wait_spot *spot, uint64_t pc, struct ws_insn *ret_insn)
{
	return wsi_code_insn(&spot->code, pc, ret_insn) && ret_insn->known;
}

static bool set_wait_text(struct wsi_build *build, const struct ws_insn *insn, uint64_t pc,
			  struct wsi_wait_code *code)
{
	char text[WS_SASS_TEXT_MAX];
	const struct ws_sass_style style = { .hide_unknown = true };
	ws_sass_format(insn, pc, &style, text, sizeof text);
	code->instruction = wsi_build_text(build, "%s", text);
	code->pc = pc;
	return code->instruction != NULL;
}

/* ---- instructions that wait by themselves ---- */

/* BAR.ARV only tells others that it was there. */
static bool arrives_only(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_BAR && ws_sass_has(insn, WS_MOD_ARV);
}

/* SYNCS that looks at the phase of a barrier object; it is tried again until that changes. */
static bool is_try(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_SYNCS && ws_sass_has(insn, WS_MOD_PHASECHK);
}

static void find_barrier(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	struct ws_operand *const to[] = { &code->id, &code->count };
	for (size_t i = 0, found = 0; i < n && found < WSI_COUNT(to); i++)
		if (ops[i].kind == WS_OPERAND_IMMEDIATE || ops[i].kind == WS_OPERAND_REG)
			*to[found++] = ops[i];
	/* both in registers: one register has both [measured: nvcc 13.0, sm_80 to sm_100] */
	code->packed = code->id.place != WSI_NOT_GIVEN && code->id.kind == WS_OPERAND_REG &&
		       code->count.place != WSI_NOT_GIVEN && code->count.kind == WS_OPERAND_REG;
}

static void find_lanes(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	if (ws_sass_has(insn, WS_MOD_ALL))
		return; /* whatever stands where others have their mask */
	const struct ws_operand *mask = wsi_explain_mask(ops, n);
	for (size_t i = 0; i < n && !mask; i++)
		if (ops[i].kind == WS_OPERAND_BREG)
			mask = &ops[i];
	if (mask)
		code->id = *mask;
}

static bool is_barrier(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_BAR || insn->operation == WS_OP_UCGABAR_WAIT;
}

/* False when the instruction does not wait. */
static bool waits_itself(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	code->confidence = WS_CONFIDENCE_LIKELY;
	code->evidence = "the threads are at an instruction that waits";
	if (insn->operation == WS_OP_BAR && !arrives_only(insn)) {
		code->kind = WS_WAIT_BARRIER;
		find_barrier(insn, pc, code);
	} else if (insn->operation == WS_OP_BSYNC || insn->operation == WS_OP_WARPSYNC) {
		code->kind = WS_WAIT_CONVERGENCE;
		find_lanes(insn, pc, code);
	} else if (is_try(insn)) {
		code->kind = WS_WAIT_MBARRIER;
	} else if (insn->operation == WS_OP_UCGABAR_WAIT) {
		code->kind = WS_WAIT_CLUSTER;
	} else {
		return false;
	}
	return true;
}

/* ---- functions that a loop calls ---- */

enum { MAX_LOOKED_AT = 2000 /* instructions of called functions */ };

/* What the functions that a loop calls read. */
struct called {
	uint64_t read_pc[N_SOURCES];
	uint64_t path[N_SOURCES][WSI_MAX_PATH]; /* return addresses from there to the loop */
	size_t n, n_path[N_SOURCES];
	unsigned n_looked_at;
};

/* A call that leads to a called function, by way of other calls. */
struct code_way {
	const struct wait_spot *spot; /* of any of them */
	const uint64_t *path;         /* return addresses, innermost first */
	size_t n_path;
};

static bool register_number_at(const struct code_way *way, uint64_t pc, unsigned number,
			       uint64_t *ret_value);

/* What the caller passed: a `ws_flow_leaf_fn`. */
static bool passed_value(void *user, const struct ws_flow_node *node, const uint64_t *argument,
			 uint64_t *ret_value)
{
	const struct code_way *way = user;
	const struct code_way outer = { way->spot, way->path + 1, way->n_path - 1 };
	return argument && node->op == WS_FLOW_ENTRY_REG && node->kind == WS_OPERAND_REG &&
	       node->bits == 32 && way->n_path > 0 &&
	       register_number_at(&outer, way->path[0] - WS_SASS_BYTES, node->number, ret_value);
}

/* The number that a register has at an instruction, if the code says it. */
static bool register_number_at(const struct code_way *way, uint64_t pc, unsigned number,
			       uint64_t *ret_value)
{
	struct wait_spot spot;
	struct code_way here = *way;
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	bool found = slice && open_spot(way->spot, pc, &spot) == WS_OK &&
		     ws_flow_slice(spot.code.flow, pc, WS_OPERAND_REG, number, 32, slice, NULL) ==
			     WS_OK &&
		     ws_flow_value(slice, 0, passed_value, &here, ret_value);
	wsi_free(slice);
	return found;
}

/* Whether an atomic operation of a called function adds 0. */
static bool adds_zero(const struct wait_spot *spot, uint64_t pc, const uint64_t *path,
		      size_t n_path)
{
	const struct code_way way = { spot, path, n_path };
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	uint64_t value;
	bool zero = decode(spot, pc, &insn) && ws_sass_has(&insn, WS_MOD_ADD);
	size_t n = zero ? ws_sass_operands(&insn, pc, ops, WSI_COUNT(ops)) : 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < ops[i].count && zero; k++)
			zero = ops[i].role != WS_ROLE_READ || ops[i].kind != WS_OPERAND_REG ||
			       ops[i].number >= 255 ||
			       (register_number_at(&way, pc, ops[i].number + k, &value) &&
				value == 0);
	return zero;
}

/* A function that only reads, and calls only such: no store but to its stack, no loop. */
static bool only_reads(const struct wait_spot *spot, const uint64_t *path, size_t n_path,
		       struct called *called);

static bool call_only_reads(const struct wait_spot *from, uint64_t call_pc, const uint64_t *path,
			    size_t n_path, struct called *called)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	uint64_t longer[WSI_MAX_PATH];
	struct ws_insn insn;
	struct wait_spot callee;
	if (n_path == WSI_MAX_PATH || !decode(from, call_pc, &insn))
		return false;
	longer[0] = call_pc + WS_SASS_BYTES;
	if (n_path)
		memcpy(longer + 1, path, n_path * sizeof *path);
	size_t n = ws_sass_operands(&insn, call_pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].kind == WS_OPERAND_TARGET || ops[i].kind == WS_OPERAND_IMMEDIATE)
			return open_spot(from, (uint64_t)ops[i].value, &callee) == WS_OK &&
			       only_reads(&callee, longer, n_path + 1, called);
	return false;
}

static bool only_reads(const struct wait_spot *spot, const uint64_t *path, size_t n_path,
		       struct called *called)
{
	size_t n_blocks, n_adds = 0;
	uint64_t adds[N_SOURCES];
	const struct ws_flow_block *blocks = ws_flow_blocks(spot->code.flow, &n_blocks);
	for (size_t b = 0; b < n_blocks; b++) {
		if (blocks[b].flags & WS_FLOW_UNREACHED)
			continue;
		for (uint32_t i = 0; i < blocks[b].n_succ; i++)
			if (blocks[b].succ[i] <= b)
				return false;
		for (uint64_t pc = blocks[b].pc; pc < blocks[b].end_pc; pc += WS_SASS_BYTES) {
			struct ws_insn insn;
			if (!decode(spot, pc, &insn) || called->n_looked_at++ > MAX_LOOKED_AT ||
			    is_barrier(&insn))
				return false;
			bool atomic = insn.flags & WS_SASS_ATOMIC;
			bool stack = insn.flags & (WS_SASS_LOCAL | WS_SASS_CONSTANT);
			bool changes = atomic && !ws_flow_repeats(&insn) && !is_try(&insn);
			if ((changes && n_adds == N_SOURCES) ||
			    (insn.flags & WS_SASS_STORE && !atomic && !stack))
				return false;
			if (changes)
				adds[n_adds++] = pc;
			if (!(insn.flags & (WS_SASS_LOAD | WS_SASS_ATOMIC)) || stack ||
			    called->n == N_SOURCES)
				continue;
			called->read_pc[called->n] = pc;
			called->n_path[called->n] = n_path;
			memcpy(called->path[called->n++], path, n_path * sizeof *path);
		}
	}
	/* the flows of callees may take the place of this one: no look at blocks afterwards */
	uint64_t calls[N_SOURCES];
	size_t n_calls = 0;
	for (size_t b = 0; b < n_blocks; b++) {
		if (!(blocks[b].flags & WS_FLOW_CALLS) || blocks[b].flags & WS_FLOW_UNREACHED)
			continue;
		if (n_calls == N_SOURCES)
			return false;
		calls[n_calls++] = blocks[b].end_pc - WS_SASS_BYTES;
	}
	for (size_t i = 0; i < n_adds; i++)
		if (!adds_zero(spot, adds[i], path, n_path))
			return false;
	for (size_t i = 0; i < n_calls; i++)
		if (!call_only_reads(spot, calls[i], path, n_path, called))
			return false;
	return true;
}

/* ---- loops ---- */

/* The number that tells which phase of a barrier object is waited for: its bit 31. */
static void find_phase(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++)
		if (ops[i].role == WS_ROLE_READ && ops[i].kind == WS_OPERAND_REG)
			code->phase = ops[i];
	code->phase_pc = pc;
}

/*
 * Before sm_90 code tells by itself whether a barrier object's phase is over: it reads the upper
 * word and compares bit 31 with that of its phase. [measured: nvcc 13.0, mbarrier.test_wait for
 * sm_80]
 */
static bool tests_phase(const struct wait_spot *spot, struct wsi_wait_code *code)
{
	enum { NEAR = 6, LUT_XOR_AND = 0x48 };
	struct ws_insn load, test;
	if (!decode(spot, code->pc, &load) || load.operation != WS_OP_LDS)
		return false;
	for (uint64_t pc = code->pc + WS_SASS_BYTES; pc <= code->pc + NEAR * WS_SASS_BYTES;
	     pc += WS_SASS_BYTES) {
		if (!decode(spot, pc, &test) || test.operation != WS_OP_LOP3 ||
		    ws_insn_bits(&test, 72, 8) != LUT_XOR_AND || ws_insn_bits(&test, 9, 3) != 4 ||
		    ws_insn_bits(&test, 32, 32) != 0x80000000u)
			continue;
		code->phase = (struct ws_operand){ .kind = WS_OPERAND_REG,
						   .number = (uint16_t)ws_insn_bits(&test, 64, 8),
						   .count = 1 };
		code->phase_pc = pc;
		code->object_off = -4;
		return true;
	}
	return false;
}

/*
 * Whether an address is made from the words that cooperative groups find the grid's barrier by: the
 * driver keeps its address in constant bank 0, upper half first.
 */
static enum ws_status is_grid_barrier(const struct wait_spot *spot, uint64_t pc, bool *ret_is)
{
	int64_t high = wsi_bank0(spot->code.sm)->sync;
	bool seen[2] = { false };
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	if (!slice)
		return WS_NO_MEMORY;
	enum ws_status st = ws_flow_slice_address(spot->code.flow, pc, 0, slice, NULL);
	for (size_t i = 0; st == WS_OK && i < slice->n; i++) {
		const struct ws_flow_node *node = &slice->node[i];
		if (node->op == WS_FLOW_CONSTANT && node->number == 0 &&
		    (node->value == high || node->value == high + 4))
			seen[node->value != high] = true;
	}
	*ret_is = seen[0] && seen[1];
	wsi_free(slice);
	return st == WS_NO_MEMORY ? st : WS_OK;
}

/* Whether every return of a function, where `pc` lies, gives in a register what `pc` reads, or what
 * the call at `pc` gave back. */
static bool returns(const struct wait_spot *spot, unsigned number, bool by_call)
{
	size_t n_blocks, n = 0;
	bool same = true;
	const struct ws_flow_block *blocks = ws_flow_blocks(spot->code.flow, &n_blocks);
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	for (size_t b = 0; b < n_blocks && slice && same; b++) {
		if (!(blocks[b].flags & WS_FLOW_RETURNS) || blocks[b].flags & WS_FLOW_UNREACHED)
			continue;
		n++;
		same = ws_flow_slice(spot->code.flow, blocks[b].end_pc - WS_SASS_BYTES,
				     WS_OPERAND_REG, number, 32, slice, NULL) == WS_OK &&
		       slice->node[0].pc == spot->pc;
		enum ws_flow_op op = slice->node[0].op;
		same &= by_call ? op == WS_FLOW_NOTHING
				: op == WS_FLOW_LOAD || op == WS_FLOW_ATOMIC;
	}
	wsi_free(slice);
	return n > 0 && same;
}

/* Whether what a called function reads comes back unchanged, by way of the calls in between: of
 * those the result is in R4 [measured: nvcc 13.0, -G]. */
static bool comes_back(const struct wait_spot *near, const struct wsi_wait_code *code,
		       unsigned number, unsigned n_registers)
{
	struct wait_spot spot;
	for (uint32_t i = code->n_path; i > 0; i--, number = 4) {
		uint64_t pc = i == 1 ? code->pc : code->path[i - 2] - WS_SASS_BYTES;
		if (open_spot(near, pc, &spot) != WS_OK)
			return false;
		for (unsigned k = 0; k < n_registers; k++)
			if (!returns(&spot, number + k, i > 1))
				return false;
	}
	return true;
}

/* The compare that decides. */
static void find_test(const struct ws_flow_loop *loop, struct wsi_wait_code *code)
{
	code->test = loop->test;
	code->test_signed = loop->test_signed;
	code->n_test_with = loop->n_test_with;
	memcpy(code->test_with, loop->test_with, sizeof code->test_with);
	code->n_test_words = loop->n_test_words;
	code->test_words = loop->test_words;
	code->test_each = loop->test_each;
	code->test_plus = loop->test_plus;
}

static bool is_call(const struct ws_flow_loop *loop, uint64_t pc)
{
	for (size_t i = 0; i < loop->n_calls; i++)
		if (loop->call_pc[i] == pc)
			return true;
	return false;
}

/* Which read decides: the loop's own, else the first one of a function that it calls. */
static bool find_read(const struct wait_spot *spot, const struct ws_flow_loop *loop,
		      struct wsi_wait_code *code)
{
	struct called called = { .n = 0 };
	if (loop->n_calls == N_SOURCES || (loop->n_calls && loop->limited))
		return false;
	for (size_t i = 0; i < loop->n_calls; i++)
		if (!call_only_reads(spot, loop->call_pc[i], NULL, 0, &called))
			return false;
	for (size_t i = 0; i < loop->n_sources; i++) {
		code->pc = loop->source_pc[i];
		if (!is_call(loop, code->pc))
			return true;
	}
	if (called.n == 0)
		return false;
	code->pc = called.read_pc[0];
	code->n_path = (uint32_t)called.n_path[0];
	memcpy(code->path, called.path[0], sizeof code->path);
	return true;
}

static enum ws_status waits_in_loop(const struct wait_spot *spot, bool *ret_is_loop,
				    struct wsi_wait_code *code)
{
	struct ws_flow_loop loop;
	struct ws_insn insn;
	struct wait_spot at;
	enum ws_status st = ws_flow_loop(spot->code.flow, spot->pc, &loop, NULL);
	*ret_is_loop = st == WS_OK || st == WS_LIMIT;
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	if (loop.stores || loop.computes || loop.mixed || loop.n_conditions == 0 ||
	    !find_read(spot, &loop, code) || open_spot(spot, code->pc, &at) != WS_OK ||
	    !decode(&at, code->pc, &insn))
		return WS_OK;
	code->waits = true;
	code->confidence = WS_CONFIDENCE_LIKELY;
	code->kind = is_try(&insn) || tests_phase(&at, code) ? WS_WAIT_MBARRIER : WS_WAIT_SPIN;
	code->space = wsi_space_of(ws_sass_space(&insn));
	bool is_grid = false;
	if (code->kind == WS_WAIT_SPIN)
		st = is_grid_barrier(&at, code->pc, &is_grid);
	if (st != WS_OK)
		return st;
	if (is_grid)
		code->kind = WS_WAIT_GRID;
	else if (loop.test_result == 255 ||
		 (code->n_path > 0 && comes_back(spot, code, loop.test_result, loop.n_test_with)))
		find_test(&loop, code);
	if (is_try(&insn))
		find_phase(&insn, code->pc, code);
	code->evidence = wsi_build_text(
		spot->build,
		"the threads are in a loop of %u instructions that writes nothing and exits %s the "
		"value that the instruction at 0x%" PRIx64
		" reads, each time from the same address%s%s",
		loop.n_insns, loop.limited ? "on" : "only on", code->pc,
		loop.limited ? "; after a number of rounds it also ends by itself" : "",
		is_grid ? ", which the driver keeps for the grid's barrier" : "");
	return code->evidence && set_wait_text(spot->build, &insn, code->pc, code) ? WS_OK
										   : WS_NO_MEMORY;
}

/* The loop around the pc; when the function has none, that of the function that called it. */
static enum ws_status waits_in_loops(const struct wait_spot *spot, const struct wsi_stack *stack,
				     struct wsi_wait_code *code)
{
	bool is_loop = false;
	struct wait_spot caller;
	enum ws_status st = waits_in_loop(spot, &is_loop, code);
	for (uint32_t i = 0; i < stack->n && st == WS_OK && !is_loop; i++) {
		if (open_spot(spot, stack->at[i].address - WS_SASS_BYTES, &caller) != WS_OK)
			break;
		code->level = i + 1;
		st = waits_in_loop(&caller, &is_loop, code);
	}
	return st;
}

/* Whether the function also arrives at barriers without waiting there. */
static bool has_arrivals(const struct wait_spot *spot)
{
	struct ws_insn insn;
	for (uint64_t off = 0; off < spot->code.bytes.len; off += WS_SASS_BYTES)
		if (decode(spot, spot->code.base_pc + off, &insn) && arrives_only(&insn))
			return true;
	return false;
}

/*
 * The loop in which warps ask for registers until there are enough. [measured: nvcc 13.0,
 * setmaxnreg.inc for sm_90a, sm_100a, sm_120a]
 *
 *   again: WARPSYNC.ALL
 *          USETMAXREG.TRY_ALLOC.CTAPOOL UP0, N
 *          PLOP3.LUT P0, PT, PT, PT, UP0, ...      (not on all)
 *          @!P0 BRA again
 */
static bool asks_for_registers(const struct wait_spot *spot, uint64_t *ret_pc)
{
	enum { NEAR = 4 * WS_SASS_BYTES };
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	uint64_t asks = 0, from = spot->pc > NEAR ? spot->pc - NEAR : 0;
	for (uint64_t pc = from; pc <= spot->pc + NEAR; pc += WS_SASS_BYTES) {
		if (!decode(spot, pc, &insn))
			continue;
		if (insn.operation == WS_OP_USETMAXREG && ws_sass_has(&insn, WS_MOD_TRY_ALLOC))
			asks = pc;
		if (insn.operation != WS_OP_BRA || !asks)
			continue;
		size_t n = ws_sass_operands(&insn, pc, ops, WSI_COUNT(ops));
		for (size_t i = 0; i < n; i++)
			if (ops[i].kind == WS_OPERAND_TARGET && pc - asks <= NEAR &&
			    (uint64_t)ops[i].value <= asks &&
			    asks - (uint64_t)ops[i].value <= NEAR) {
				*ret_pc = asks;
				return spot->pc >= (uint64_t)ops[i].value && spot->pc <= pc;
			}
		asks = 0;
	}
	return false;
}

static enum ws_status classify(const struct wait_spot *spot, bool by_hardware,
			       const struct wsi_stack *stack, struct wsi_wait_code *code)
{
	struct ws_insn insn;
	uint64_t pc = spot->pc;
	if (asks_for_registers(spot, &pc) && decode(spot, pc, &insn)) {
		code->waits = true;
		code->kind = WS_WAIT_REGISTERS;
		code->confidence = WS_CONFIDENCE_LIKELY;
		code->evidence = "the threads are in a loop that asks for registers until there "
				 "are enough";
		return set_wait_text(spot->build, &insn, pc, code) ? WS_OK : WS_NO_MEMORY;
	}
	bool found = decode(spot, pc, &insn) && waits_itself(&insn, pc, code);
	if (!found && by_hardware) { /* the pc may be that of the next instruction */
		pc -= WS_SASS_BYTES;
		found = decode(spot, pc, &insn) && is_barrier(&insn) &&
			waits_itself(&insn, pc, code);
	}
	if (found && code->kind != WS_WAIT_MBARRIER) {
		code->waits = true;
		code->arrivals = code->kind == WS_WAIT_BARRIER && has_arrivals(spot);
		return set_wait_text(spot->build, &insn, pc, code) ? WS_OK : WS_NO_MEMORY;
	}
	enum ws_status st = waits_in_loops(spot, stack, code);
	if (st != WS_OK || code->waits || !decode(spot, spot->pc, &insn))
		return st;
	if (found) {
		code->waits = true;
		code->space = wsi_space_of(ws_sass_space(&insn));
		find_phase(&insn, pc, code);
	} else if (insn.operation == WS_OP_NANOSLEEP) {
		code->waits = true;
		code->kind = WS_WAIT_SLEEP;
		code->confidence = WS_CONFIDENCE_LIKELY;
		code->evidence = "the threads are at an instruction that waits";
	}
	return !code->waits || set_wait_text(spot->build, &insn, spot->pc, code) ? WS_OK
										 : WS_NO_MEMORY;
}

enum ws_status wsi_wait_classify(struct wsi_build *build, struct wsi_wait_flows *flows,
				 const struct wsi_where *where, uint64_t pc, bool by_hardware,
				 const struct wsi_stack *stack, struct wsi_wait_code *ret_code)
{
	struct wait_spot spot, near = { .build = build, .flows = flows, .where = where };
	*ret_code = (struct wsi_wait_code){ .pc = pc };
	ret_code->id.place = ret_code->count.place = WSI_NOT_GIVEN;
	enum ws_status st = open_spot(&near, pc, &spot);
	if (st == WS_OK)
		st = classify(&spot, by_hardware, stack, ret_code);
	if (!ret_code->waits)
		ret_code->level = 0;
	if (ret_code->waits || !by_hardware || st == WS_NO_MEMORY)
		return st == WS_NO_MEMORY ? st : WS_OK;
	ret_code->waits = true;
	ret_code->kind = WS_WAIT_BARRIER;
	return WS_OK;
}
