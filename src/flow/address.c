/* SPDX-License-Identifier: Apache-2.0 */
/* An address as base, scaled terms and an offset. */
#include "base/base.h"
#include "flow/flow.h"

enum { MAX_WORK = 32 };

struct address_item {
	uint16_t node;
	int64_t scale;
};

static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add_address_term(struct ws_flow_address *address, uint16_t node, int64_t scale)
{
	for (size_t i = 0; i < address->n_terms; i++) {
		if (address->term[i].node == node) {
			address->term[i].scale = plus(address->term[i].scale, scale);
			return;
		}
	}
	if (address->n_terms == WS_FLOW_MAX_TERMS)
		address->complete = false;
	else
		address->term[address->n_terms++] = (struct ws_flow_term){ node, scale };
}

/* Puts what a node is made of on the list; false when it is a term of its own. */
static bool take_apart(const struct ws_flow_slice *slice, struct address_item item,
		       struct address_item *work, size_t *n)
{
	const struct ws_flow_node *node = &slice->node[item.node];
	if (*n + WS_FLOW_MAX_ARGS > MAX_WORK)
		return false;
	if (node->op == WS_FLOW_ADD) {
		for (unsigned i = node->n_args; i-- > 0;)
			work[(*n)++] = (struct address_item){ node->arg[i], item.scale };
		return true;
	}
	if (node->op == WS_FLOW_SUB) {
		work[(*n)++] = (struct address_item){ node->arg[1], times(item.scale, -1) };
		work[(*n)++] = (struct address_item){ node->arg[0], item.scale };
		return true;
	}
	bool shift = node->op == WS_FLOW_SHL;
	if (!shift && node->op != WS_FLOW_MUL)
		return false;
	for (unsigned i = shift ? 1 : 0; i < 2; i++) {
		const struct ws_flow_node *by = &slice->node[node->arg[i]];
		if (by->op != WS_FLOW_IMMEDIATE || (shift && (uint64_t)by->value > 62))
			continue;
		int64_t factor = shift ? INT64_C(1) << by->value : by->value;
		work[(*n)++] = (struct address_item){ node->arg[1 - i], times(item.scale, factor) };
		return true;
	}
	return false;
}

/* How much a leaf looks like a pointer; 0: not at all. */
static unsigned pointer_like(const struct ws_flow_slice *slice, uint16_t at, unsigned bits,
			     int64_t scale)
{
	static const uint8_t like[WS_FLOW_OTHER + 1] = {
		[WS_FLOW_CONSTANT] = 3,  [WS_FLOW_LOAD] = 3,  [WS_FLOW_ATOMIC] = 3,
		[WS_FLOW_ENTRY_REG] = 3, [WS_FLOW_AGAIN] = 3, [WS_FLOW_MERGE] = 2,
		[WS_FLOW_SELECT] = 2,    [WS_FLOW_AND] = 2,   [WS_FLOW_PAIR] = 2,
		[WS_FLOW_NOTHING] = 1,   [WS_FLOW_OTHER] = 1,
	};
	const struct ws_flow_node *node = &slice->node[at];
	if (scale != 1 || node->bits != bits || !like[node->op])
		return 0;
	return like[node->op] - (bits == 64 ? 0u : 1u);
}

/* Takes the one term that looks most like a pointer out of the list. */
static void choose_base(const struct ws_flow_slice *slice, unsigned bits,
			struct ws_flow_address *address)
{
	unsigned most = 0;
	size_t best = 0, n_best = 0;
	for (size_t i = 0; i < address->n_terms; i++) {
		unsigned like =
			pointer_like(slice, address->term[i].node, bits, address->term[i].scale);
		if (like > most) {
			most = like;
			best = i;
			n_best = 0;
		}
		n_best += like == most;
	}
	if (most == 0 || n_best != 1)
		return;
	address->base = address->term[best].node;
	address->n_terms--;
	memmove(&address->term[best], &address->term[best + 1],
		(address->n_terms - best) * sizeof *address->term);
}

void ws_flow_address(const struct ws_flow_slice *slice, uint16_t at,
		     struct ws_flow_address *ret_address)
{
	struct address_item work[MAX_WORK];
	size_t n = 0;
	*ret_address = (struct ws_flow_address){ .base = UINT16_MAX, .complete = true };
	if (at >= slice->n)
		return;
	work[n++] = (struct address_item){ at, 1 };
	while (n) {
		struct address_item item = work[--n];
		const struct ws_flow_node *node = &slice->node[item.node];
		if (node->op == WS_FLOW_IMMEDIATE)
			ret_address->offset =
				plus(ret_address->offset, times(node->value, item.scale));
		else if (!take_apart(slice, item, work, &n))
			add_address_term(ret_address, item.node, item.scale);
	}
	choose_base(slice, slice->node[at].bits, ret_address);
}
