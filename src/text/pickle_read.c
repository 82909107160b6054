/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack machine [public doc: the module pickletools of Python].
 *
 *   stack   values          memo    values by number        marks   heights of the stack
 */
#include "text/pickle_read.h"

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
	LAST_PROTOCOL = 5,
};

/* Operations that look up, call or build something. */
static const struct code {
	uint8_t operation;
	const char *name;
} codes[] = {
	{ 'c', "GLOBAL" },    { 'R', "REDUCE" },     { 'b', "BUILD" },         { 'i', "INST" },
	{ 'o', "OBJ" },       { 0x81, "NEWOBJ" },    { 0x82, "EXT1" },         { 0x83, "EXT2" },
	{ 0x84, "EXT4" },     { 0x92, "NEWOBJ_EX" }, { 0x93, "STACK_GLOBAL" }, { 'P', "PERSID" },
	{ 'Q', "BINPERSID" },
};

struct values {
	struct wsi_pickle_value *at; /* owned */
	size_t n, cap;
};

struct pickle_machine {
	const struct wsi_pickle_reader *reader;
	struct ws_span in;
	size_t pos;
	struct values stack, memo;
	size_t *marks; /* owned */
	size_t n_marks, cap_marks;
	enum ws_status status; /* WS_OK: go on */
};

static bool stop(struct pickle_machine *m, enum ws_status status)
{
	m->status = status;
	return false;
}

static bool malformed(struct pickle_machine *m)
{
	return stop(m, WS_MALFORMED);
}

static bool no_room(struct pickle_machine *m, size_t n)
{
	return stop(m, n < m->reader->max_values ? WS_NO_MEMORY : WS_LIMIT);
}

static bool keep_value(struct pickle_machine *m, struct values *values,
		       struct wsi_pickle_value value)
{
	if (values->n == values->cap && !wsi_grow(&values->at, &values->cap, values->n,
						  sizeof *values->at, m->reader->max_values))
		return no_room(m, values->n);
	values->at[values->n++] = value;
	return true;
}

static bool push(struct pickle_machine *m, struct wsi_pickle_value value)
{
	return keep_value(m, &m->stack, value);
}

/* The next bytes; NULL: the file ends before. */
static const uint8_t *pickle_bytes_take(struct pickle_machine *m, uint64_t n)
{
	if (n > m->in.len - m->pos) {
		stop(m, WS_TRUNCATED);
		return NULL;
	}
	const uint8_t *at = m->in.ptr + m->pos;
	m->pos += (size_t)n;
	return at;
}

/* A number of up to eight bytes, the lowest first. */
static bool take_u64(struct pickle_machine *m, unsigned n, uint64_t *ret_number)
{
	const uint8_t *at = pickle_bytes_take(m, n);
	if (at)
		*ret_number = wsi_load_le(at, n);
	return at != NULL;
}

static bool push_nothing(struct pickle_machine *m, uint64_t n_bytes)
{
	return pickle_bytes_take(m, n_bytes) &&
	       push(m, (struct wsi_pickle_value){ .kind = WSI_PICKLE_NOTHING });
}

static bool push_number(struct pickle_machine *m, int64_t number)
{
	return push(m, (struct wsi_pickle_value){ .kind = WSI_PICKLE_NUMBER, .number = number });
}

static bool push_truth(struct pickle_machine *m, bool truth)
{
	return push(m, (struct wsi_pickle_value){ .kind = WSI_PICKLE_BOOL, .number = truth });
}

static bool push_unsigned(struct pickle_machine *m, unsigned n)
{
	uint64_t number;
	return take_u64(m, n, &number) && push_number(m, (int64_t)number);
}

/* A number of n bytes with its sign; longer ones are of no use here. */
static bool push_signed(struct pickle_machine *m, uint64_t n)
{
	uint64_t bits;
	if (n > 8)
		return push_nothing(m, n);
	if (!take_u64(m, (unsigned)n, &bits))
		return false;
	if (n && n < 8 && bits >> (8 * n - 1))
		bits |= ~UINT64_C(0) << (8 * n);
	return push_number(m, (int64_t)bits);
}

/* A text whose length stands in front of it, in n bytes. */
static bool push_text(struct pickle_machine *m, unsigned n)
{
	uint64_t len;
	const uint8_t *at = take_u64(m, n, &len) ? pickle_bytes_take(m, len) : NULL;
	if (at && len > UINT32_MAX)
		return stop(m, WS_LIMIT);
	return at && push(m, (struct wsi_pickle_value){ .kind = WSI_PICKLE_TEXT,
							.len = (uint32_t)len,
							.text = (const char *)at });
}

/* ---- lists and maps ---- */

static bool container_make(struct pickle_machine *m, enum wsi_pickle_kind kind,
			   struct wsi_pickle_value *ret_value)
{
	*ret_value = (struct wsi_pickle_value){ .kind = kind };
	enum ws_status st = m->reader->create(m->reader->user, kind, &ret_value->container);
	return st == WS_OK || stop(m, st);
}

static bool push_empty(struct pickle_machine *m, enum wsi_pickle_kind kind)
{
	struct wsi_pickle_value value;
	return container_make(m, kind, &value) && push(m, value);
}

/* What lies above a height of the stack goes into a container: the one below it, or a new one. */
static bool gather_above(struct pickle_machine *m, size_t from, enum wsi_pickle_kind kind,
			 bool is_new)
{
	struct wsi_pickle_value container;
	size_t n = m->stack.n - from;
	if (is_new) {
		if (!container_make(m, kind, &container))
			return false;
	} else {
		if (from == 0 || m->stack.at[from - 1].kind != kind)
			return malformed(m);
		container = m->stack.at[from - 1];
	}
	if (kind == WSI_PICKLE_MAP && n % 2)
		return malformed(m);
	enum ws_status st =
		n ? m->reader->add(m->reader->user, container.container, m->stack.at + from, n)
		  : WS_OK;
	if (st != WS_OK)
		return stop(m, st);
	m->stack.n = from;
	return !is_new || push(m, container);
}

/* Makes a container of the last n values of the stack. */
static bool gather_last(struct pickle_machine *m, size_t n, enum wsi_pickle_kind kind, bool is_new)
{
	size_t floor = m->n_marks ? m->marks[m->n_marks - 1] : 0;
	if (m->stack.n < floor || m->stack.n - floor < n)
		return malformed(m);
	return gather_above(m, m->stack.n - n, kind, is_new);
}

static bool gather_marked(struct pickle_machine *m, enum wsi_pickle_kind kind, bool is_new)
{
	if (m->n_marks == 0 || m->marks[m->n_marks - 1] > m->stack.n)
		return malformed(m);
	return gather_above(m, m->marks[--m->n_marks], kind, is_new);
}

/* ---- memo and marks ---- */

static bool mark_height(struct pickle_machine *m)
{
	if (!wsi_grow(&m->marks, &m->cap_marks, m->n_marks, sizeof *m->marks,
		      m->reader->max_values))
		return no_room(m, m->n_marks);
	m->marks[m->n_marks++] = m->stack.n;
	return true;
}

static bool pop(struct pickle_machine *m)
{
	if (m->stack.n == 0)
		return malformed(m);
	m->stack.n--;
	return true;
}

/* Numbers of the memo come one after the other. */
static bool put_memo(struct pickle_machine *m, uint64_t number)
{
	if (m->stack.n == 0 || number > m->memo.n)
		return malformed(m);
	struct wsi_pickle_value value = m->stack.at[m->stack.n - 1];
	if (number == m->memo.n)
		return keep_value(m, &m->memo, value);
	m->memo.at[number] = value;
	return true;
}

static bool get(struct pickle_machine *m, uint64_t number)
{
	return number < m->memo.n ? push(m, m->memo.at[number]) : malformed(m);
}

/* ---- operations ---- */

static bool take_protocol(struct pickle_machine *m)
{
	uint64_t protocol;
	return take_u64(m, 1, &protocol) && (protocol <= LAST_PROTOCOL || stop(m, WS_UNSUPPORTED));
}

/* Operations on the memo and on marks, and those that only say how the file is made up. */
static bool step_rest(struct pickle_machine *m, uint8_t operation)
{
	uint64_t number;
	switch (operation) {
	case PROTO:
		return take_protocol(m);
	case FRAME:
		return pickle_bytes_take(m, 8) != NULL;
	case '(':
		return mark_height(m);
	case '0':
		return pop(m);
	case 'q':
		return take_u64(m, 1, &number) && put_memo(m, number);
	case 'r':
		return take_u64(m, 4, &number) && put_memo(m, number);
	case MEMOIZE:
		return put_memo(m, m->memo.n);
	case 'h':
		return take_u64(m, 1, &number) && get(m, number);
	case 'j':
		return take_u64(m, 4, &number) && get(m, number);
	default:
		return stop(m, WS_UNSUPPORTED);
	}
}

static bool step_pickle(struct pickle_machine *m, uint8_t operation)
{
	uint64_t number;
	switch (operation) {
	case '}':
		return push_empty(m, WSI_PICKLE_MAP);
	case ']':
	case ')':
		return push_empty(m, WSI_PICKLE_LIST);
	case 'a':
		return gather_last(m, 1, WSI_PICKLE_LIST, false);
	case 'e':
		return gather_marked(m, WSI_PICKLE_LIST, false);
	case 's':
		return gather_last(m, 2, WSI_PICKLE_MAP, false);
	case 'u':
		return gather_marked(m, WSI_PICKLE_MAP, false);
	case 't':
		return gather_marked(m, WSI_PICKLE_LIST, true);
	case TUPLE1:
	case TUPLE2:
	case TUPLE3:
		return gather_last(m, (size_t)(operation - TUPLE1) + 1, WSI_PICKLE_LIST, true);
	case 'N':
		return push_nothing(m, 0);
	case 'G':
		return push_nothing(m, 8);
	case NEW_TRUE:
	case NEW_FALSE:
		return push_truth(m, operation == NEW_TRUE);
	case 'J':
		return push_signed(m, 4);
	case 'K':
		return push_unsigned(m, 1);
	case 'M':
		return push_unsigned(m, 2);
	case LONG1:
		return take_u64(m, 1, &number) && push_signed(m, number);
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

/* Says that an operation is not read, and why. */
static enum ws_status refuse_operation(uint8_t operation, uint64_t file_off, struct ws_error *err)
{
	for (size_t i = 0; i < WSI_COUNT(codes); i++)
		if (codes[i].operation == operation)
			return wsi_fail(err, WS_UNSUPPORTED, file_off,
					"this pickle would run code (%s): not read", codes[i].name);
	if (operation == PROTO)
		return wsi_fail(err, WS_UNSUPPORTED, file_off,
				"the pickle is of a protocol after %d", LAST_PROTOCOL);
	return wsi_fail(err, WS_UNSUPPORTED, file_off,
			"the pickle has an operation 0x%02x, which is not read", operation);
}

/* Says why the reading ended at `at`. */
static enum ws_status explain_pickle_end(const struct pickle_machine *m, size_t at,
					 struct ws_error *err)
{
	uint64_t file_off = m->in.origin + at;
	if (m->status == WS_UNSUPPORTED)
		return refuse_operation(m->in.ptr[at], file_off, err);
	if (m->status == WS_NO_MEMORY)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "reading a pickle");
	return wsi_fail(err, m->status, file_off,
			m->status == WS_TRUNCATED ? "the pickle ends inside"
			: m->status == WS_LIMIT   ? "the pickle has more values than are read"
						  : "the pickle is damaged");
}

enum ws_status wsi_pickle_read(struct ws_span in, const struct wsi_pickle_reader *reader,
			       struct wsi_pickle_value *ret_root, struct ws_error *err)
{
	struct pickle_machine m = { .reader = reader, .in = in };
	const uint8_t *operation;
	size_t at = 0;
	bool ended = false;
	while (!ended) {
		at = m.pos;
		operation = pickle_bytes_take(&m, 1);
		ended = operation && *operation == '.';
		if (!operation || (!ended && !step_pickle(&m, *operation)))
			break;
	}
	if (ended && (m.stack.n != 1 || m.n_marks != 0 || m.pos != in.len))
		malformed(&m);
	*ret_root =
		m.stack.n ? m.stack.at[0] : (struct wsi_pickle_value){ .kind = WSI_PICKLE_NOTHING };
	wsi_free(m.stack.at);
	wsi_free(m.memo.at);
	wsi_free(m.marks);
	return m.status == WS_OK ? WS_OK : explain_pickle_end(&m, at, err);
}
