/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction waits for, told from the code. An instruction that waits by itself (BAR,
 * BSYNC, WARPSYNC, NANOSLEEP) is one thing; any other waits when the shortest loop around it writes
 * no memory, calls nothing, and is left by what it reads at an address that stays the same.
 */
#include "analyze/library.h"
#include "analyze/wait.h"

enum { NOT_GIVEN = 255, N_SOURCES = WS_FLOW_MAX_SOURCES };

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
		if (!wsi_name_matches(name, pattern))
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

/* The flow of a function and where it starts; NULL when there is no code for it. */
static struct ws_flow *flow_of(struct wsi_wait_flows *flows, const struct ws_place *place,
			       uint64_t base_pc, unsigned *ret_sm, struct ws_span *ret_code)
{
	struct ws_module_facts facts;
	if (!place->function ||
	    ws_module_code(place->module, place->function, ret_code, NULL) != WS_OK)
		return NULL;
	ws_module_facts(place->module, &facts);
	*ret_sm = facts.sm;
	for (size_t i = 0; i < WSI_COUNT(flows->at); i++)
		if (flows->at[i].flow && flows->at[i].module == place->module &&
		    flows->at[i].function == place->function)
			return flows->at[i].flow;
	struct wsi_wait_flow *slot = &flows->at[flows->next++ % WSI_COUNT(flows->at)];
	ws_flow_destroy(slot->flow);
	*slot = (struct wsi_wait_flow){ place->module, place->function, NULL };
	if (ws_flow_create(facts.sm, *ret_code, base_pc, NULL, 0, &slot->flow, NULL) != WS_OK)
		slot->flow = NULL;
	return slot->flow;
}

/* The place of a lane in its function's code. */
struct spot {
	struct wsi_build *build;
	struct ws_flow *flow;
	struct ws_span code;
	unsigned sm;
	uint64_t base_pc, pc;
};

static bool decode(const struct spot *spot, uint64_t pc, struct ws_insn *ret_insn)
{
	struct ws_span bytes;
	if (pc < spot->base_pc ||
	    !ws_span_sub(spot->code, pc - spot->base_pc, WS_SASS_BYTES, &bytes))
		return false;
	ws_sass_decode(spot->sm, bytes.ptr, ret_insn);
	return ret_insn->known;
}

static size_t operands(const struct ws_insn *insn, uint64_t pc,
		       struct ws_operand ops[WS_SASS_MAX_OPERANDS])
{
	size_t n = ws_sass_operands(insn, pc, ops, WS_SASS_MAX_OPERANDS);
	return n < WS_SASS_MAX_OPERANDS ? n : WS_SASS_MAX_OPERANDS;
}

static bool set_text(struct wsi_build *build, const struct ws_insn *insn, uint64_t pc,
		     struct wsi_wait_code *code)
{
	char text[WS_SASS_TEXT_MAX];
	const struct ws_sass_style style = { .hide_unknown = true };
	ws_sass_format(insn, pc, &style, text, sizeof text);
	code->instruction = wsi_build_text(build, "%s", text);
	code->pc = pc;
	return code->instruction != NULL;
}

static bool is_named(const struct ws_insn *insn, const char *name)
{
	return strcmp(ws_sass_operation_name(insn->operation), name) == 0;
}

/* ---- instructions that wait by themselves ---- */

/* BAR.ARV only tells others that it was there. */
static bool arrives_only(const struct ws_insn *insn)
{
	return ws_insn_bits(insn, 77, 2) == 1;
}

/* SYNCS that looks at the phase of a barrier object; it is tried again until that changes. */
static bool is_try(const struct ws_insn *insn)
{
	char text[WS_SASS_TEXT_MAX];
	const struct ws_sass_style style = { .hide_unknown = true };
	if (!is_named(insn, "SYNCS"))
		return false;
	ws_sass_format(insn, 0, &style, text, sizeof text);
	return strstr(text, ".PHASECHK") != NULL;
}

static void find_barrier(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = operands(insn, pc, ops);
	struct ws_operand *const to[] = { &code->id, &code->count };
	for (size_t i = 0, found = 0; i < n && found < WSI_COUNT(to); i++)
		if (ops[i].kind == WS_OPERAND_IMMEDIATE || ops[i].kind == WS_OPERAND_REG)
			*to[found++] = ops[i];
}

static void find_lanes(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = operands(insn, pc, ops);
	for (size_t i = 0; i < n && code->id.place == NOT_GIVEN; i++)
		if (ops[i].kind == WS_OPERAND_BREG || ops[i].kind == WS_OPERAND_IMMEDIATE ||
		    ops[i].kind == WS_OPERAND_REG)
			code->id = ops[i];
}

/* False when the instruction does not wait. */
static bool waits_itself(const struct ws_insn *insn, uint64_t pc, struct wsi_wait_code *code)
{
	code->confidence = WS_CONFIDENCE_LIKELY;
	code->evidence = "the threads stand at an instruction that waits";
	if (is_named(insn, "BAR") && !arrives_only(insn)) {
		code->kind = WS_WAIT_BARRIER;
		find_barrier(insn, pc, code);
	} else if (is_named(insn, "BSYNC") || is_named(insn, "WARPSYNC")) {
		code->kind = WS_WAIT_CONVERGENCE;
		find_lanes(insn, pc, code);
	} else if (is_try(insn)) {
		code->kind = WS_WAIT_MBARRIER;
	} else if (is_named(insn, "UCGABAR_WAIT")) {
		code->kind = WS_WAIT_CLUSTER;
	} else {
		return false;
	}
	return true;
}

/* ---- loops ---- */

/* Whether the address that an instruction reads is the same in every round. */
static bool same_address(const struct spot *spot, uint64_t pc, enum ws_status *ret_status)
{
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	*ret_status = slice ? WS_OK : WS_NO_MEMORY;
	if (!slice)
		return false;
	enum ws_status st = ws_flow_slice_address(spot->flow, pc, 0, slice, NULL);
	bool same = st == WS_OK && !slice->cut;
	for (size_t i = 0; i < slice->n && same; i++)
		same = slice->node[i].op != WS_FLOW_AGAIN;
	if (st == WS_NO_MEMORY)
		*ret_status = st;
	wsi_free(slice);
	return same;
}

static enum ws_space space_of(const struct ws_insn *insn)
{
	if (insn->flags & WS_SASS_SHARED)
		return WS_SPACE_SHARED;
	if (insn->flags & WS_SASS_LOCAL)
		return WS_SPACE_LOCAL;
	return insn->flags & WS_SASS_GENERIC ? WS_SPACE_GENERIC : WS_SPACE_GLOBAL;
}

/* Registers of the address, when they still hold at the pc what the instruction read. */
static void find_address(const struct spot *spot, const struct ws_insn *insn,
			 struct wsi_wait_code *code)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_flow_written written;
	size_t n = operands(insn, code->pc, ops);
	bool any = false;
	enum ws_status st = ws_flow_written(spot->flow, code->pc, spot->pc, &written, NULL);
	code->have_address = st == WS_OK && !written.unknown_direct;
	for (size_t i = 0; i < n && code->have_address; i++) {
		if (ops[i].role == WS_ROLE_OFFSET) {
			code->offset = ops[i].value;
			any = true;
		}
		if (ops[i].role != WS_ROLE_ADDRESS_BASE)
			continue;
		any = true;
		*(ops[i].kind == WS_OPERAND_UREG ? &code->ubase : &code->base) = ops[i];
		code->have_address = ws_flow_registers_spare(&written.direct, ops[i].kind,
							     ops[i].number, ops[i].count);
	}
	bool scaled = !(insn->flags & (WS_SASS_GLOBAL | WS_SASS_GENERIC)) &&
		      (is_named(insn, "LDS") || is_named(insn, "ATOMS")) &&
		      ws_insn_bits(insn, 78, 2) != 0;
	code->have_address &= any && !scaled;
	code->space = space_of(insn);
	code->bytes = is_named(insn, "SYNCS") ? 8 : ws_sass_access_bytes(insn);
}

static enum ws_status waits_in_loop(const struct spot *spot, struct wsi_wait_code *code)
{
	struct ws_flow_loop loop;
	struct ws_insn insn;
	enum ws_status st = ws_flow_loop(spot->flow, spot->pc, &loop, NULL);
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	bool fits = !loop.stores && !loop.calls && loop.n_sources > 0;
	for (size_t i = 0; i < loop.n_sources && fits; i++) {
		fits = same_address(spot, loop.source_pc[i], &st);
		if (st != WS_OK)
			return st;
	}
	if (!fits || !decode(spot, loop.source_pc[0], &insn))
		return WS_OK;
	code->waits = true;
	code->confidence = WS_CONFIDENCE_LIKELY;
	code->kind = is_named(&insn, "SYNCS") ? WS_WAIT_MBARRIER : WS_WAIT_SPIN;
	code->evidence = wsi_build_text(
		spot->build,
		"the threads are in a loop of %u instructions that writes nothing and is left only "
		"by what the instruction at 0x%" PRIx64 " reads, each time from the same address",
		loop.n_insns, loop.source_pc[0]);
	if (!code->evidence || !set_text(spot->build, &insn, loop.source_pc[0], code))
		return WS_NO_MEMORY;
	find_address(spot, &insn, code);
	return WS_OK;
}

static enum ws_status classify(const struct spot *spot, bool by_hardware,
			       struct wsi_wait_code *code)
{
	struct ws_insn insn;
	uint64_t pc = spot->pc;
	bool found = decode(spot, pc, &insn) && waits_itself(&insn, pc, code);
	if (!found && by_hardware) { /* the pc may be that of the next instruction */
		pc -= WS_SASS_BYTES;
		found = decode(spot, pc, &insn) && is_named(&insn, "BAR") &&
			waits_itself(&insn, pc, code);
	}
	if (found) {
		code->waits = true;
		if (!set_text(spot->build, &insn, pc, code))
			return WS_NO_MEMORY;
		if (code->kind == WS_WAIT_MBARRIER)
			find_address(spot, &insn, code);
		return WS_OK;
	}
	enum ws_status st = waits_in_loop(spot, code);
	if (st != WS_OK || code->waits || !decode(spot, spot->pc, &insn) ||
	    !is_named(&insn, "NANOSLEEP"))
		return st;
	code->waits = true;
	code->kind = WS_WAIT_SLEEP;
	code->confidence = WS_CONFIDENCE_LIKELY;
	code->evidence = "the threads stand at an instruction that waits";
	return set_text(spot->build, &insn, spot->pc, code) ? WS_OK : WS_NO_MEMORY;
}

enum ws_status wsi_wait_classify(struct wsi_build *build, struct wsi_wait_flows *flows,
				 const struct wsi_where *where, uint64_t pc, bool by_hardware,
				 struct wsi_wait_code *ret_code)
{
	struct ws_module_hint hint = { where->image_index, where->device_index,
				       where->context_index };
	struct ws_place place;
	struct spot spot = { .build = build, .pc = pc };
	*ret_code = (struct wsi_wait_code){ .pc = pc };
	ret_code->id.place = ret_code->count.place = NOT_GIVEN;
	ret_code->base.place = ret_code->ubase.place = NOT_GIVEN;
	enum ws_status st = ws_module_set_find_address(build->modules, pc, &hint, &place, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	if (st == WS_OK) {
		spot.base_pc = pc - place.rel_pc;
		spot.flow = flow_of(flows, &place, spot.base_pc, &spot.sm, &spot.code);
	}
	if (spot.flow)
		st = classify(&spot, by_hardware, ret_code);
	if (ret_code->waits || !by_hardware || st == WS_NO_MEMORY)
		return st == WS_NO_MEMORY ? st : WS_OK;
	ret_code->waits = true;
	ret_code->kind = WS_WAIT_BARRIER;
	return WS_OK;
}
