/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON in memory value by value, without recursion and without an allocation. Strings are
 * decoded in place, so the text is used up; or they are handed out as they are written.
 *
 *   wsi_text_json_read(&reader, &value);
 *   while (wsi_text_json_member(&reader, &key, &value))
 *       if (...) take(value); else wsi_text_json_skip(&reader, &value);
 *
 * Every object and every array that is handed out has to be read to its end, or skipped. After
 * something that is no JSON `bad` is set, and everything ends.
 */
#ifndef WSI_JSON_READ_H
#define WSI_JSON_READ_H

#include "base/base.h"

enum wsi_json_kind {
	WSI_JSON_NULL, /* NaN and Infinity, which Python writes, too */
	WSI_JSON_BOOL,
	WSI_JSON_NUMBER,
	WSI_JSON_STRING,
	WSI_JSON_OBJECT,
	WSI_JSON_ARRAY,
};

struct wsi_json_value {
	enum wsi_json_kind kind;
	bool truth;
	struct ws_str text; /* of a number or string; valid as long as the memory */
};

struct wsi_json_reader {
	const char *start, *at, *end;
	char *text; /* `start`, to decode strings; NULL: they stay as they are written */
	bool fresh; /* an object or array was opened, and none of its items was read */
	bool bad;
};

void wsi_text_json_reader_init(struct wsi_json_reader *reader, char *text, size_t len);
/* Begins to read a text that stays as it is: its strings keep their escapes. */
void wsi_text_json_reader_init_raw(struct wsi_json_reader *reader, const char *text, size_t len);
/* The value at the start. */
bool wsi_text_json_read(struct wsi_json_reader *reader, struct wsi_json_value *ret_value);
/* The next of the innermost open object, or array; false: that was the last, and it is closed. */
bool wsi_text_json_member(struct wsi_json_reader *reader, struct ws_str *ret_key,
			  struct wsi_json_value *ret_value);
bool wsi_text_json_element(struct wsi_json_reader *reader, struct wsi_json_value *ret_value);
/* Passes over what is in a value that was just read. */
void wsi_text_json_skip(struct wsi_json_reader *reader, const struct wsi_json_value *value);
/* Whether nothing but space follows. */
bool wsi_text_json_is_end(struct wsi_json_reader *reader);
/* The value of a number that is a whole one and not negative, however it is written: 1000, 1000.0,
 * 1e3. */
bool wsi_text_json_u64(const struct wsi_json_value *value, uint64_t *ret_number);

#endif
