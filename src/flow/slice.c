/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of values. A list of requests is worked off from its start; answering one may append
 * others. A request whose definitions are those of a node that it is an argument of is the same
 * value in another round of a loop.
 */
#include "flow/slice.h"
#include "base/base.h"

enum {
	MAX_COPIES = 64,
	LAST = WS_FLOW_MAX_NODES - 1,
	LUT_A_XOR_B = 0x3c, /* truth table of LOP3 */
};

/* ---- nodes ---- */

/* The last node stands for all that did not fit. */
static uint16_t node_add(struct wsi_slicer *s, uint16_t parent)
{
	struct ws_flow_slice *slice = s->slice;
	if (slice->n >= LAST) {
		slice->n = WS_FLOW_MAX_NODES;
		slice->cut = true;
		slice->node[LAST] = (struct ws_flow_node){ .op = WS_FLOW_NOTHING,
							   .bits = 32,
							   .why = "the expression is too large" };
		s->request[LAST].kind = WSI_ASK_NOTHING;
		return LAST;
	}
	uint16_t at = (uint16_t)slice->n++;
	slice->node[at] = (struct ws_flow_node){ .bits = 32 };
	s->request[at] = (struct wsi_request){ .parent = parent };
	return at;
}

struct ws_flow_node *wsi_node_set(struct wsi_slicer *s, uint16_t node, enum ws_flow_op op,
				  unsigned bits, size_t at)
{
	struct ws_flow_node *to = &s->slice->node[node];
	*to = (struct ws_flow_node){ .op = op,
				     .bits = (uint8_t)bits,
				     .pc = wsi_flow_pc(s->flow, at) };
	return to;
}

uint16_t wsi_node_new(struct wsi_slicer *s, uint16_t parent, enum ws_flow_op op, unsigned bits,
		      size_t at)
{
	uint16_t node = node_add(s, parent);
	if (node != LAST)
		wsi_node_set(s, node, op, bits, at);
	return node;
}

uint16_t wsi_node_immediate(struct wsi_slicer *s, uint16_t parent, int64_t value, unsigned bits)
{
	uint16_t node = node_add(s, parent);
	if (node != LAST)
		s->slice->node[node] = (struct ws_flow_node){ .op = WS_FLOW_IMMEDIATE,
							      .bits = (uint8_t)bits,
							      .value = value };
	return node;
}

uint16_t wsi_node_half(struct wsi_slicer *s, uint16_t parent, struct wsi_half half)
{
	uint16_t node = node_add(s, parent);
	if (node != LAST)
		wsi_node_become(s, node, half);
	return node;
}

uint16_t wsi_node_wide(struct wsi_slicer *s, uint16_t parent, struct wsi_half low,
		       struct wsi_half high)
{
	uint16_t node = node_add(s, parent);
	if (node != LAST)
		wsi_node_become_wide(s, node, low, high);
	return node;
}

uint16_t wsi_node_def_wide(struct wsi_slicer *s, uint16_t parent, struct wsi_half low, size_t at)
{
	uint16_t node = wsi_node_wide(s, parent, low, wsi_half_above(low));
	if (node != LAST) {
		struct wsi_def def = { .kind = WSI_DEF_INSN, .at = at, .guard = 7 };
		s->request[node].kind = WSI_ASK_DEF_WIDE;
		s->request[node].def[0] = s->request[node].def[1] = def;
	}
	return node;
}

void wsi_node_arg(struct wsi_slicer *s, uint16_t node, uint16_t arg)
{
	struct ws_flow_node *to = &s->slice->node[node];
	if (node == LAST)
		return;
	if (to->n_args == WS_FLOW_MAX_ARGS)
		wsi_node_lose(s, node, "too many arguments", 0);
	else
		to->arg[to->n_args++] = arg;
}

void wsi_node_become(struct wsi_slicer *s, uint16_t node, struct wsi_half half)
{
	s->slice->node[node].bits = 32;
	s->request[node].kind = WSI_ASK_HALF;
	s->request[node].half[0] = half;
}

void wsi_node_become_wide(struct wsi_slicer *s, uint16_t node, struct wsi_half low,
			  struct wsi_half high)
{
	s->slice->node[node].bits = 64;
	s->request[node].kind = WSI_ASK_WIDE;
	s->request[node].half[0] = low;
	s->request[node].half[1] = high;
}

void wsi_node_lose(struct wsi_slicer *s, uint16_t node, const char *why, size_t at)
{
	struct ws_flow_node *to = &s->slice->node[node];
	*to = (struct ws_flow_node){
		.op = WS_FLOW_NOTHING, .bits = to->bits, .pc = wsi_flow_pc(s->flow, at), .why = why
	};
}

/* ---- halves ---- */

bool wsi_half_of(const struct wsi_parts *parts, size_t i, struct wsi_half *ret_half)
{
	const struct wsi_source *source = &parts->source[i];
	if (i >= parts->n_sources || source->address || source->bindless || source->absolute ||
	    (source->constant && (source->has_base || source->has_ubase)))
		return false;
	bool number = source->kind == WS_OPERAND_REG || source->kind == WS_OPERAND_UREG ||
		      source->kind == WS_OPERAND_IMMEDIATE;
	if (!source->constant && !number)
		return false;
	*ret_half = (struct wsi_half){ .kind = source->kind,
				       .constant = source->constant,
				       .number = source->constant ? source->bank : source->number,
				       .value = source->value,
				       .at = parts->at };
	bool zero = source->kind != WS_OPERAND_IMMEDIATE && source->number == 255;
	if (!source->constant && zero)
		*ret_half = wsi_half_immediate(0);
	return true;
}

bool wsi_halves_of(const struct wsi_parts *parts, size_t n, struct wsi_half *ret_half)
{
	for (size_t i = 0; i < n; i++)
		if (!wsi_half_of(parts, i, &ret_half[i]) || parts->source[i].negated)
			return false;
	return true;
}

struct wsi_half wsi_half_above(struct wsi_half half)
{
	if (half.constant)
		half.value += 4;
	else if (half.kind == WS_OPERAND_IMMEDIATE)
		half.value >>= 32;
	else
		half.number++;
	return half;
}

bool wsi_half_is(const struct wsi_half *half, int64_t value)
{
	return !half->constant && half->kind == WS_OPERAND_IMMEDIATE && half->value == value;
}

static bool in_register(const struct wsi_half *half)
{
	return !half->constant && half->kind != WS_OPERAND_IMMEDIATE;
}

bool wsi_half_alike(const struct wsi_half *a, const struct wsi_half *b)
{
	return a->kind == b->kind && a->constant == b->constant && a->number == b->number &&
	       a->value == b->value;
}

bool wsi_half_same(struct wsi_slicer *s, const struct wsi_half *a, const struct wsi_half *b)
{
	struct wsi_defs defs[2];
	if (!wsi_half_alike(a, b))
		return false;
	if (a->constant || a->kind == WS_OPERAND_IMMEDIATE)
		return true;
	const struct wsi_half *half[2] = { a, b };
	for (unsigned i = 0; i < 2; i++) {
		struct wsi_want want = { .kind = a->kind, .number = a->number };
		wsi_reach_find(&s->reach, half[i]->at, &want, &defs[i]);
	}
	bool same = defs[0].n == defs[1].n && !defs[0].more && !defs[1].more;
	for (size_t i = 0; i < defs[0].n && same; i++)
		same = defs[0].def[i].kind == defs[1].def[i].kind &&
		       defs[0].def[i].kind != WSI_DEF_LOST &&
		       defs[0].def[i].at == defs[1].def[i].at;
	return same;
}

/* The two halves of `a ^ b`. */
static bool is_xor(const struct wsi_parts *parts, struct wsi_half half[2])
{
	return parts->insn.operation == WS_OP_LOP3 && parts->n_sources >= 4 &&
	       parts->source[3].value == LUT_A_XOR_B && wsi_halves_of(parts, 2, half) &&
	       in_register(&half[0]) && in_register(&half[1]);
}

static size_t only_def(struct wsi_slicer *s, const struct wsi_half *half)
{
	return wsi_reach_only(&s->reach, half->at, half->kind, half->number);
}

/*
 * Three XORs swap two registers: a ^= b, b ^= a, a ^= b. What the second or the third one gives is
 * what the other register held before.
 */
static bool unswaps(struct wsi_slicer *s, const struct wsi_parts *parts, struct wsi_half *ret_from)
{
	struct wsi_half last[2], first[2], second[2];
	struct wsi_parts before;
	if (!is_xor(parts, last))
		return false;
	size_t first_at = only_def(s, &last[0]), second_at = only_def(s, &last[1]);
	if (first_at == SIZE_MAX)
		return false;
	wsi_parts_of(s->flow, first_at, &before);
	if (!is_xor(&before, first))
		return false;
	if (wsi_half_same(s, &last[1], &first[1])) { /* (a ^ b) ^ b */
		*ret_from = first[0];
		return true;
	}
	if (second_at == SIZE_MAX)
		return false;
	wsi_parts_of(s->flow, second_at, &before);
	if (!is_xor(&before, second) || !wsi_half_same(s, &second[0], &last[0]) ||
	    !wsi_half_same(s, &second[1], &first[1]))
		return false;
	*ret_from = first[1]; /* (a ^ b) ^ ((a ^ b) ^ b) */
	return true;
}

void wsi_half_origin(struct wsi_slicer *s, struct wsi_half *half, struct wsi_defs *ret_defs)
{
	for (unsigned i = 0; i < MAX_COPIES && in_register(half); i++) {
		struct wsi_want want = { .kind = half->kind, .number = half->number };
		wsi_reach_find(&s->reach, half->at, &want, ret_defs);
		if (ret_defs->n != 1 || ret_defs->more || ret_defs->def[0].kind != WSI_DEF_INSN)
			return;
		struct wsi_parts parts;
		struct wsi_half from;
		wsi_parts_of(s->flow, ret_defs->def[0].at, &parts);
		if (!wsi_copies(&parts, &from) && !unswaps(s, &parts, &from))
			return;
		*half = from;
	}
	if (in_register(half))
		*ret_defs = (struct wsi_defs){ .more = true };
}

/* ---- loops ---- */

static struct wsi_key request_key_of(const struct wsi_request *request,
				     const struct wsi_defs defs[2], bool wide)
{
	struct wsi_key key = { { 0 } };
	size_t n = 0;
	for (unsigned h = 0; h < (wide ? 2 : 1); h++) {
		key.word[n++] =
			1u << 31 | (uint32_t)request->half[h].kind << 8 | request->half[h].number;
		for (size_t i = 0; i < defs[h].n; i++) {
			key.word[n++] = (uint32_t)defs[h].def[i].kind + 1;
			key.word[n++] = (uint32_t)defs[h].def[i].at;
		}
	}
	return key;
}

/* Whether the node is an argument of one with the same definitions: then it is that, before. */
static bool comes_again(struct wsi_slicer *s, uint16_t node)
{
	const struct wsi_key *key = &s->request[node].key;
	for (uint16_t up = node; up != 0;) {
		up = s->request[up].parent;
		if (memcmp(&s->request[up].key, key, sizeof *key) != 0)
			continue;
		s->slice->node[node] = (struct ws_flow_node){ .op = WS_FLOW_AGAIN,
							      .bits = s->slice->node[node].bits,
							      .value = up };
		return true;
	}
	return false;
}

/* ---- requests ---- */

/* Notes that registers from `half` on have the value of a node at, or behind, an instruction. */
static void note_kept(struct wsi_slicer *s, uint16_t node, const struct wsi_half *half,
		      unsigned count, size_t at, bool behind)
{
	struct ws_flow_node *to = &s->slice->node[node];
	if (s->request[node].kind != WSI_ASK_NOTHING || half->kind != WS_OPERAND_REG)
		return; /* it is another's value, or of the whole warp */
	to->keep_pc = wsi_flow_pc(s->flow, at);
	to->keep_behind = behind;
	to->keep_number = half->number;
	to->keep_count = (uint8_t)count;
}

static void answer_def(struct wsi_slicer *s, uint16_t node)
{
	struct wsi_request *request = &s->request[node];
	const struct wsi_def *def = &request->def[0];
	struct ws_flow_node *to = &s->slice->node[node];
	if (def->kind == WSI_DEF_LOST)
		wsi_node_lose(s, node, def->why, def->at);
	else if (def->kind == WSI_DEF_ENTRY)
		*to = (struct ws_flow_node){ .op = WS_FLOW_ENTRY_REG,
					     .bits = 32,
					     .kind = (uint8_t)request->half[0].kind,
					     .number = request->half[0].number,
					     .pc = wsi_flow_pc(s->flow, def->at) };
	else
		wsi_express(s, node, def->at, &request->half[0]);
	if (def->kind == WSI_DEF_INSN && def->guard == 7)
		note_kept(s, node, &request->half[0], 1, def->at, true);
}

/* Two halves that no rule makes one. */
static void answer_apart(struct wsi_slicer *s, uint16_t node, const struct wsi_half half[2])
{
	struct ws_flow_node *to = &s->slice->node[node];
	*to = (struct ws_flow_node){ .op = WS_FLOW_PAIR, .bits = 64 };
	struct wsi_half low = half[0], high = half[1];
	wsi_node_arg(s, node, wsi_node_half(s, node, low));
	wsi_node_arg(s, node, wsi_node_half(s, node, high));
}

/* Whether a definition is a copy, and of what. */
static bool copied(struct wsi_slicer *s, const struct wsi_def *def, struct wsi_half *ret_from)
{
	struct wsi_parts parts;
	if (def->kind != WSI_DEF_INSN)
		return false;
	wsi_parts_of(s->flow, def->at, &parts);
	return wsi_copies(&parts, ret_from);
}

static void answer_def_wide(struct wsi_slicer *s, uint16_t node)
{
	struct wsi_request request = s->request[node];
	const struct wsi_def *low = &request.def[0], *high = &request.def[1];
	bool next = request.half[0].kind == request.half[1].kind &&
		    request.half[1].number == request.half[0].number + 1;
	struct ws_flow_node *to = &s->slice->node[node];
	if (low->kind == WSI_DEF_ENTRY && high->kind == WSI_DEF_ENTRY && next) {
		*to = (struct ws_flow_node){ .op = WS_FLOW_ENTRY_REG,
					     .bits = 64,
					     .kind = (uint8_t)request.half[0].kind,
					     .number = request.half[0].number,
					     .pc = wsi_flow_pc(s->flow, low->at) };
		return;
	}
	if (low->kind == WSI_DEF_INSN && high->kind == WSI_DEF_INSN) {
		if (low->at == high->at && next) {
			wsi_express_wide(s, node, low->at, &request.half[0]);
			if (low->guard == 7 && high->guard == 7)
				note_kept(s, node, &request.half[0], 2, low->at, true);
			return;
		}
		if (low->at != high->at && wsi_express_halves(s, node, &request.half[0], low->at,
							      &request.half[1], high->at))
			return;
	}
	struct wsi_half from[2];
	if (copied(s, low, &from[0]) && copied(s, high, &from[1])) {
		wsi_node_become_wide(s, node, from[0], from[1]);
		return;
	}
	*to = (struct ws_flow_node){ .op = WS_FLOW_PAIR, .bits = 64 };
	for (unsigned h = 0; h < 2; h++) {
		uint16_t arg = wsi_node_half(s, node, request.half[h]);
		if (arg != LAST) {
			s->request[arg].kind = WSI_ASK_DEF;
			s->request[arg].def[0] = request.def[h];
		}
		wsi_node_arg(s, node, arg);
	}
}

/* A definition of its own for each of several. */
static void answer_merge(struct wsi_slicer *s, uint16_t node, const struct wsi_defs defs[2],
			 bool wide)
{
	struct wsi_request request = s->request[node];
	struct ws_flow_node *to = &s->slice->node[node];
	*to = (struct ws_flow_node){ .op = WS_FLOW_MERGE, .bits = wide ? 64 : 32 };
	for (size_t i = 0; i < defs[0].n; i++) {
		uint16_t arg = wide ? wsi_node_wide(s, node, request.half[0], request.half[1])
				    : wsi_node_half(s, node, request.half[0]);
		if (arg != LAST) {
			s->request[arg].kind = wide ? WSI_ASK_DEF_WIDE : WSI_ASK_DEF;
			const struct wsi_defs one[2] = { { .def = { defs[0].def[i] }, .n = 1 },
							 { .def = { defs[1].def[i] }, .n = 1 } };
			s->request[arg].def[0] = defs[0].def[i];
			s->request[arg].def[1] = defs[1].def[i];
			s->request[arg].key = request_key_of(&s->request[arg], one, wide);
			if (comes_again(s, arg))
				s->request[arg].kind = WSI_ASK_NOTHING;
		}
		wsi_node_arg(s, node, arg);
	}
	const struct wsi_half *low = &request.half[0], *high = &request.half[1];
	bool pair =
		high->kind == low->kind && high->number == low->number + 1 && high->at == low->at;
	if (!wide || pair)
		note_kept(s, node, low, wide ? 2 : 1, low->at, false);
}

/* Whether the definitions of both halves come in pairs: in the same block, under the same guard. */
static bool in_pairs(const struct wsi_slicer *s, const struct wsi_defs defs[2])
{
	if (defs[0].n != defs[1].n)
		return false;
	for (size_t i = 0; i < defs[0].n; i++) {
		const struct wsi_def *a = &defs[0].def[i], *b = &defs[1].def[i];
		if (a->kind != b->kind || a->guard != b->guard ||
		    s->flow->block_of[a->at] != s->flow->block_of[b->at])
			return false;
	}
	return true;
}

/* Definitions that are one: the node gets the request for it, for loops to be seen. */
static void answer_one(struct wsi_slicer *s, uint16_t node, const struct wsi_defs defs[2],
		       bool wide)
{
	s->request[node].def[0] = defs[0].def[0];
	if (!wide) {
		s->request[node].kind = WSI_ASK_DEF;
		return;
	}
	s->request[node].def[1] = defs[1].def[0];
	s->request[node].kind = WSI_ASK_DEF_WIDE;
}

/* By the definitions that were found, unless the node is one that was asked before. */
static void answer_defs(struct wsi_slicer *s, uint16_t node, const struct wsi_defs defs[2],
			bool wide)
{
	s->request[node].key = request_key_of(&s->request[node], defs, wide);
	if (comes_again(s, node))
		return;
	if (defs[0].n == 1)
		answer_one(s, node, defs, wide);
	else
		answer_merge(s, node, defs, wide);
}

static void answer_half(struct wsi_slicer *s, uint16_t node)
{
	struct wsi_request *request = &s->request[node];
	struct wsi_defs defs[2] = { 0 };
	wsi_half_origin(s, &request->half[0], &defs[0]);
	const struct wsi_half *half = &request->half[0];
	struct ws_flow_node *to = &s->slice->node[node];
	if (half->constant) {
		*to = (struct ws_flow_node){ .op = WS_FLOW_CONSTANT,
					     .bits = 32,
					     .bytes = 4,
					     .number = half->number,
					     .value = half->value,
					     .pc = wsi_flow_pc(s->flow, half->at) };
		return;
	}
	if (half->kind == WS_OPERAND_IMMEDIATE) {
		*to = (struct ws_flow_node){ .op = WS_FLOW_IMMEDIATE,
					     .bits = 32,
					     .value = half->value };
		return;
	}
	if (defs[0].more || defs[0].n == 0) {
		wsi_node_lose(s, node, "too many definitions", half->at);
		return;
	}
	answer_defs(s, node, defs, false);
}

static bool both_constant(const struct wsi_half half[2])
{
	return half[0].constant && half[1].constant && half[0].number == half[1].number &&
	       half[1].value == half[0].value + 4;
}

static void answer_wide(struct wsi_slicer *s, uint16_t node)
{
	struct wsi_request *request = &s->request[node];
	struct wsi_half asked[2] = { request->half[0], request->half[1] };
	struct wsi_defs defs[2] = { 0 };
	wsi_half_origin(s, &request->half[0], &defs[0]);
	wsi_half_origin(s, &request->half[1], &defs[1]);
	struct wsi_half *half = request->half;
	struct ws_flow_node *to = &s->slice->node[node];
	if (both_constant(half)) {
		*to = (struct ws_flow_node){ .op = WS_FLOW_CONSTANT,
					     .bits = 64,
					     .bytes = 8,
					     .number = half[0].number,
					     .value = half[0].value,
					     .pc = wsi_flow_pc(s->flow, half[0].at) };
		return;
	}
	bool registers = in_register(&half[0]) && in_register(&half[1]);
	size_t high_at = registers ? wsi_defs_only(&defs[1]) : SIZE_MAX;
	if (high_at != SIZE_MAX && wsi_express_sign(s, node, &half[0], high_at))
		return;
	if (!registers || defs[0].more || defs[1].more || !in_pairs(s, defs)) {
		answer_apart(s, node, registers && (defs[0].more || defs[1].more) ? asked : half);
		return;
	}
	answer_defs(s, node, defs, true);
}

static void slice_answer_all(struct wsi_slicer *s)
{
	for (uint16_t node = 0; node < s->slice->n; node++) {
		while (s->request[node].kind != WSI_ASK_NOTHING) {
			int kind = s->request[node].kind;
			s->request[node].kind = WSI_ASK_NOTHING;
			if (kind == WSI_ASK_HALF)
				answer_half(s, node);
			else if (kind == WSI_ASK_WIDE)
				answer_wide(s, node);
			else if (kind == WSI_ASK_DEF)
				answer_def(s, node);
			else
				answer_def_wide(s, node);
		}
	}
}

/* ---- entry points ---- */

static enum ws_status slicer_create(const struct ws_flow *flow, struct ws_flow_slice *slice,
				    struct wsi_slicer **ret_slicer, struct ws_error *err)
{
	struct wsi_slicer *s = wsi_zalloc(sizeof *s);
	if (!s)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "slice");
	enum ws_status st = wsi_reach_init(&s->reach, flow, err);
	if (st != WS_OK) {
		wsi_free(s);
		return st;
	}
	s->flow = flow;
	s->slice = slice;
	slice->n = 0;
	slice->cut = slice->convention = slice->spilled = slice->open = slice->partly = false;
	*ret_slicer = s;
	return WS_OK;
}

static void slicer_finish(struct wsi_slicer *s)
{
	slice_answer_all(s);
	wsi_fold(s->slice);
	s->slice->convention = s->reach.convention;
	s->slice->spilled = s->reach.spilled;
	s->slice->partly |= s->reach.partly;
	s->slice->cut |= s->reach.steps == 0;
	s->slice->open = s->flow->open;
	wsi_reach_fini(&s->reach);
	wsi_free(s);
}

enum ws_status ws_flow_slice(const struct ws_flow *flow, uint64_t pc, enum ws_operand_kind kind,
			     unsigned number, unsigned bits, struct ws_flow_slice *ret_slice,
			     struct ws_error *err)
{
	size_t at = wsi_flow_at(flow, pc);
	bool data = kind == WS_OPERAND_REG || kind == WS_OPERAND_UREG;
	if (at == SIZE_MAX || !data || (bits != 32 && bits != 64) || number > 255)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"no register %u of %u bits at 0x%" PRIx64, number, bits, pc);
	struct wsi_slicer *s;
	enum ws_status st = slicer_create(flow, ret_slice, &s, err);
	if (st != WS_OK)
		return st;
	struct wsi_half low = { .kind = kind, .number = (uint8_t)number, .at = at };
	struct wsi_half high = wsi_half_above(low);
	if (number == 255)
		low = high = wsi_half_immediate(0);
	if (bits == 64)
		wsi_node_wide(s, 0, low, high);
	else
		wsi_node_half(s, 0, low);
	slicer_finish(s);
	return WS_OK;
}

enum ws_status ws_flow_slice_address(const struct ws_flow *flow, uint64_t pc, unsigned which,
				     struct ws_flow_slice *ret_slice, struct ws_error *err)
{
	size_t at = wsi_flow_at(flow, pc);
	struct wsi_parts parts;
	struct wsi_slicer *s;
	if (at == SIZE_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64, pc);
	wsi_parts_of(flow, at, &parts);
	size_t i = 0;
	while (i < parts.n_sources && (!parts.source[i].address || which-- > 0))
		i++;
	if (i == parts.n_sources)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no such address at 0x%" PRIx64, pc);
	enum ws_status st = slicer_create(flow, ret_slice, &s, err);
	if (st != WS_OK)
		return st;
	const struct wsi_source *source = &parts.source[i];
	ret_slice->partly = !ws_insn_explained(&parts.insn);
	uint16_t root =
		wsi_node_new(s, 0, WS_FLOW_ADD, wsi_flow_address_is_wide(source) ? 64 : 32, at);
	wsi_express_address(s, root, source, at);
	slicer_finish(s);
	return WS_OK;
}
