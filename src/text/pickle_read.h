/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Python's pickle in memory, as far as it is plain data: lists, tuples, dictionaries,
 * numbers, texts. A pickle is a program for a stack machine. Of its operations (protocols 2 to 5)
 * only those that make data are known here: one that would look up, call or build something ends
 * the reading, and nothing is ever executed.
 *
 * Lists and maps are their reader's own: the machine knows them by a number that the reader gives
 * out, and hands over what is put into them. Texts lie in the bytes that were read.
 *
 * One list can be put in many places, also inside itself, and grow after that: readers that need
 * an order refuse what breaks it. Time is linear in the bytes, and so is memory, with a limit.
 */
#ifndef WSI_PICKLE_READ_H
#define WSI_PICKLE_READ_H

#include "base/base.h"

enum wsi_pickle_kind {
	WSI_PICKLE_NOTHING, /* None, and what has no use here: floating-point numbers, long ones */
	WSI_PICKLE_BOOL,
	WSI_PICKLE_NUMBER,
	WSI_PICKLE_TEXT,
	WSI_PICKLE_LIST, /* or tuple */
	WSI_PICKLE_MAP,
};

struct wsi_pickle_value {
	enum wsi_pickle_kind kind;
	uint32_t len; /* of a text */
	union {
		int64_t number; /* of a bool, 0 or 1 */
		const char *text;
		uint32_t container; /* of a list or map: the number that the reader gave it */
	};
};

struct wsi_pickle_reader {
	void *user;
	/* Gives a new, empty list or map a number. WS_OK to go on. */
	enum ws_status (*create)(void *user, enum wsi_pickle_kind kind, uint32_t *ret_number);
	/* More items of a list, or pairs of a map: key, value, key, value. WS_OK to go on. */
	enum ws_status (*add)(void *user, uint32_t container, const struct wsi_pickle_value *items,
			      size_t n);
	size_t max_values; /* on the stack at a time; as many are remembered */
};

/*
 * Reads a pickle that ends where the bytes end. `ret_root` is the value at the bottom of the stack,
 * also of one that fails.
 *
 * WS_TRUNCATED: it ends inside. WS_UNSUPPORTED: an operation that is not data, named in `err`.
 * WS_MALFORMED. WS_LIMIT, WS_NO_MEMORY; and what `create` and `add` give.
 */
enum ws_status wsi_pickle_read(struct ws_span in, const struct wsi_pickle_reader *reader,
			       struct wsi_pickle_value *ret_root, struct ws_error *err) WS_MUST_USE;

static inline struct ws_str wsi_pickle_text(const struct wsi_pickle_value *value)
{
	return value->kind == WSI_PICKLE_TEXT ? (struct ws_str){ value->text, value->len }
					      : (struct ws_str){ "", 0 };
}

#endif
