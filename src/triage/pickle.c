/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's pickle, as far as it is plain data: a stack machine whose program is the file. Protocols
 * 2 to 5 [public doc: the module pickletools]. A file can make no more nodes than it has bytes.
 *
 *   stack   nodes           memo    nodes by number         marks   heights of the stack
 */
#include "triage/tree.h"

#include "base/reader.h"

enum {
	PROTO = 0x80,
	TUPLE1 = 0x85,
	TUPLE2 = 0x86,
	TUPLE3 = 0x87,
	NEW_TRUE = 0x88,
	NEW_FALSE = 0x89,
	LONG1 = 0x8a,
	SHORT_UNICODE = 0x8c,
	UNICODE8 = 0x8d,
	MEMOIZE = 0x94,
	FRAME = 0x95,
};

/* Indices of nodes. */
struct list {
	uint32_t *at; /* owned */
	size_t n, cap;
};

struct machine {
	struct wsi_tree *tree;
	struct ws_span in;
	size_t pos;
	struct list stack, memo, marks;
};

static bool push(struct machine *m, struct list *list, uint32_t number)
{
	if (number == WS_NONE)
		return false;
	if (!wsi_grow(&list->at, &list->cap, list->n, sizeof *list->at, WSI_TREE_MAX)) {
		m->tree->no_memory |= list->n < WSI_TREE_MAX;
		return false;
	}
	list->at[list->n++] = number;
	return true;
}

/* The next bytes; NULL: the file ends before. */
static const uint8_t *take(struct machine *m, uint64_t n)
{
	if (n > m->in.len - m->pos)
		return NULL;
	const uint8_t *at = m->in.ptr + m->pos;
	m->pos += (size_t)n;
	return at;
}

/* A number of up to eight bytes, the lowest first. */
static bool take_u64(struct machine *m, unsigned n, uint64_t *ret_number)
{
	const uint8_t *at = take(m, n);
	if (at)
		*ret_number = wsi_load_le(at, n);
	return at != NULL;
}

static bool push_node(struct machine *m, struct wsi_tree_node node)
{
	return push(m, &m->stack, wsi_tree_add(m->tree, node));
}

static bool push_number(struct machine *m, int64_t number)
{
	return push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_NUMBER, .number = number });
}

static bool push_truth(struct machine *m, bool truth)
{
	return push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_BOOL, .number = truth });
}

static bool push_container(struct machine *m, enum wsi_tree_kind kind)
{
	return push(m, &m->stack, wsi_tree_add_container(m->tree, kind));
}

/* A text whose length stands in front of it, in n bytes. */
static bool push_text(struct machine *m, unsigned n)
{
	uint64_t len;
	const uint8_t *at = take_u64(m, n, &len) ? take(m, len) : NULL;
	return at &&
	       push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_TEXT,
						    .text = { (const char *)at, (size_t)len } });
}

/* A number of n bytes with its sign; longer ones are of no use here. */
static bool push_signed(struct machine *m, unsigned n)
{
	uint64_t bits;
	if (n > 8)
		return take(m, n) &&
		       push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_NOTHING });
	if (n == 0)
		return push_number(m, 0);
	if (!take_u64(m, n, &bits))
		return false;
	if (n < 8 && bits >> (8 * n - 1))
		bits |= ~UINT64_C(0) << (8 * n);
	return push_number(m, (int64_t)bits);
}

/* What lies above the last mark goes into a container: the one below the mark, or a new one. */
static bool gather(struct machine *m, size_t from, enum wsi_tree_kind kind, bool is_new)
{
	uint32_t container;
	if (is_new) {
		container = wsi_tree_add_container(m->tree, kind);
	} else {
		if (from == 0)
			return false;
		container = m->stack.at[from - 1];
		if (m->tree->nodes[container].kind != kind)
			return false;
	}
	if (container == WS_NONE || (kind == WSI_TREE_MAP && (m->stack.n - from) % 2))
		return false;
	for (size_t i = from; i < m->stack.n; i++)
		if (!wsi_tree_append(m->tree, container, m->stack.at[i]))
			return false;
	m->stack.n = from;
	return !is_new || push(m, &m->stack, container);
}

/* The same of the last n. */
static bool gather_last(struct machine *m, size_t n, enum wsi_tree_kind kind, bool is_new)
{
	size_t floor = m->marks.n ? m->marks.at[m->marks.n - 1] : 0;
	return m->stack.n >= floor && m->stack.n - floor >= n &&
	       gather(m, m->stack.n - n, kind, is_new);
}

static bool gather_marked(struct machine *m, enum wsi_tree_kind kind, bool is_new)
{
	if (m->marks.n == 0 || m->marks.at[m->marks.n - 1] > m->stack.n)
		return false;
	return gather(m, m->marks.at[--m->marks.n], kind, is_new);
}

/* Numbers of the memo come one after the other. */
static bool put(struct machine *m, uint64_t number)
{
	if (m->stack.n == 0 || number > m->memo.n)
		return false;
	uint32_t node = m->stack.at[m->stack.n - 1];
	if (number == m->memo.n)
		return push(m, &m->memo, node);
	m->memo.at[number] = node;
	return true;
}

static bool get(struct machine *m, uint64_t number)
{
	return number < m->memo.n && push(m, &m->stack, m->memo.at[number]);
}

/* Operations on the memo and on marks, and those that only say how the file is made up. */
static bool step_rest(struct machine *m, uint8_t operation)
{
	uint64_t number;
	switch (operation) {
	case PROTO:
		return take(m, 1);
	case FRAME:
		return take(m, 8);
	case '(':
		return push(m, &m->marks, (uint32_t)m->stack.n);
	case '0':
		return m->stack.n && m->stack.n--;
	case 'q':
		return take_u64(m, 1, &number) && put(m, number);
	case 'r':
		return take_u64(m, 4, &number) && put(m, number);
	case MEMOIZE:
		return put(m, m->memo.n);
	case 'h':
		return take_u64(m, 1, &number) && get(m, number);
	case 'j':
		return take_u64(m, 4, &number) && get(m, number);
	default:
		return false; /* what would look up, call or build something, too */
	}
}

static bool step(struct machine *m, uint8_t operation)
{
	uint64_t number;
	switch (operation) {
	case '}':
		return push_container(m, WSI_TREE_MAP);
	case ']':
	case ')':
		return push_container(m, WSI_TREE_LIST);
	case 'a':
		return gather_last(m, 1, WSI_TREE_LIST, false);
	case 'e':
		return gather_marked(m, WSI_TREE_LIST, false);
	case 's':
		return gather_last(m, 2, WSI_TREE_MAP, false);
	case 'u':
		return gather_marked(m, WSI_TREE_MAP, false);
	case 't':
		return gather_marked(m, WSI_TREE_LIST, true);
	case TUPLE1:
	case TUPLE2:
	case TUPLE3:
		return gather_last(m, (size_t)(operation - TUPLE1) + 1, WSI_TREE_LIST, true);
	case 'N':
		return push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_NOTHING });
	case 'G':
		return take(m, 8) &&
		       push_node(m, (struct wsi_tree_node){ .kind = WSI_TREE_NOTHING });
	case NEW_TRUE:
	case NEW_FALSE:
		return push_truth(m, operation == NEW_TRUE);
	case 'J':
		return push_signed(m, 4);
	case 'K':
		return take_u64(m, 1, &number) && push_number(m, (int64_t)number);
	case 'M':
		return take_u64(m, 2, &number) && push_number(m, (int64_t)number);
	case LONG1:
		return take_u64(m, 1, &number) && push_signed(m, (unsigned)number);
	case SHORT_UNICODE:
	case 'C':
		return push_text(m, 1);
	case 'X':
	case 'B':
		return push_text(m, 4);
	case UNICODE8:
		return push_text(m, 8);
	default:
		return step_rest(m, operation);
	}
}

bool wsi_tree_read_pickle(struct wsi_tree *tree, const char *bytes, size_t len)
{
	*tree = (struct wsi_tree){ .root = WS_NONE };
	struct machine m = { .tree = tree, .in = { (const uint8_t *)bytes, len, 0 } };
	const uint8_t *at;
	bool good = true, ended = false;
	while (good && !ended && (at = take(&m, 1))) {
		ended = *at == '.';
		good = ended || step(&m, *at);
	}
	if (m.stack.n)
		tree->root = m.stack.at[0];
	good = good && ended && m.stack.n == 1 && m.marks.n == 0 && m.pos == len;
	wsi_free(m.stack.at);
	wsi_free(m.memo.at);
	wsi_free(m.marks.at);
	return good;
}
