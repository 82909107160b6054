/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/out.h>

#include "base/base.h"
#include "text/escape.h"

void ws_json_init(struct ws_json *json, struct ws_out *out, bool compact)
{
	*json = (struct ws_json){ .out = out, .compact = compact };
}

static void new_line(struct ws_json *json)
{
	ws_out_text(json->out, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		ws_out_text(json->out, "  ");
}

/* Comma, line break and indentation before an item of the innermost object or array. */
static void item_start(struct ws_json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth == 0)
		return;
	bool one_line = json->compact || json->level[json->depth - 1].one_line;
	if (json->level[json->depth - 1].has_items)
		ws_out_text(json->out, one_line && !json->compact ? ", " : ",");
	if (!one_line)
		new_line(json);
	json->level[json->depth - 1].has_items = true;
}

static void value_start(struct ws_json *json)
{
	assert(json->depth == 0 || json->after_key || json->level[json->depth - 1].is_array);
	item_start(json);
}

static void open_level(struct ws_json *json, bool is_array, bool one_line)
{
	value_start(json);
	assert(json->depth < WS_JSON_MAX_DEPTH);
	bool outer = json->depth > 0 && json->level[json->depth - 1].one_line;
	json->level[json->depth].is_array = is_array;
	json->level[json->depth].has_items = false;
	json->level[json->depth].one_line = one_line || outer;
	json->depth++;
	ws_out_text(json->out, is_array ? "[" : "{");
}

void ws_json_object(struct ws_json *json)
{
	open_level(json, false, false);
}

void ws_json_begin(struct ws_json *json, struct ws_out *out, const char *schema)
{
	ws_json_init(json, out, false);
	ws_json_object(json);
	ws_json_key_text(json, "schema", schema);
}

void ws_json_array(struct ws_json *json)
{
	open_level(json, true, false);
}

void ws_json_end(struct ws_json *json)
{
	assert(json->depth > 0 && !json->after_key);
	json->depth--;
	if (json->level[json->depth].has_items && !json->level[json->depth].one_line &&
	    !json->compact)
		new_line(json);
	ws_out_text(json->out, json->level[json->depth].is_array ? "]" : "}");
	if (json->depth == 0)
		ws_out_text(json->out, "\n");
}

static void escape_json(struct ws_out *out, const char *at, size_t n, uint32_t code)
{
	if (code == WSI_NO_CHARACTER) {
		ws_out_text(out, "\\ufffd");
	} else if (code == '"' || code == '\\') {
		ws_out_text(out, "\\");
		ws_out_bytes(out, at, n);
	} else if (code < 0x10000) {
		ws_out_printf(out, "\\u%04" PRIx32, code);
	} else {
		code -= 0x10000;
		ws_out_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (code >> 10),
			      0xdc00 + (code & 0x3ff));
	}
}

static void quoted(struct ws_json *json, struct ws_str text)
{
	ws_out_text(json->out, "\"");
	wsi_out_escape(json->out, text, &wsi_special_in_quotes, escape_json);
	ws_out_text(json->out, "\"");
}

void ws_json_key(struct ws_json *json, const char *key)
{
	assert(json->depth > 0 && !json->level[json->depth - 1].is_array && !json->after_key);
	item_start(json);
	quoted(json, ws_str_of(key));
	ws_out_text(json->out, json->compact ? ":" : ": ");
	json->after_key = true;
}

void ws_json_null(struct ws_json *json)
{
	value_start(json);
	ws_out_text(json->out, "null");
}

void ws_json_bool(struct ws_json *json, bool value)
{
	value_start(json);
	ws_out_text(json->out, value ? "true" : "false");
}

void ws_json_u64(struct ws_json *json, uint64_t value)
{
	value_start(json);
	ws_out_printf(json->out, "%" PRIu64, value);
}

void ws_json_i64(struct ws_json *json, int64_t value)
{
	value_start(json);
	ws_out_printf(json->out, "%" PRId64, value);
}

void ws_json_hex(struct ws_json *json, uint64_t value)
{
	value_start(json);
	ws_out_printf(json->out, "\"0x%" PRIx64 "\"", value);
}

void ws_json_str(struct ws_json *json, struct ws_str text)
{
	value_start(json);
	quoted(json, text);
}

void ws_json_text(struct ws_json *json, const char *text)
{
	if (text)
		ws_json_str(json, ws_str_of(text));
	else
		ws_json_null(json);
}

void ws_json_dim3(struct ws_json *json, struct ws_dim3 dim)
{
	open_level(json, true, true);
	ws_json_u64(json, dim.x);
	ws_json_u64(json, dim.y);
	ws_json_u64(json, dim.z);
	ws_json_end(json);
}

const char *ws_missing_word(enum ws_status why)
{
	switch (why) {
	case WS_ABSENT:
		return "absent";
	case WS_EXCLUDED:
		return "excluded";
	case WS_UNSUPPORTED:
	case WS_RUNNING:
	case WS_ARGUMENT:
	case WS_LIMIT:
	case WS_NO_MEMORY:
		return "unsupported";
	case WS_OK:
	case WS_MALFORMED:
	case WS_TRUNCATED:
	case WS_IO:
		break;
	}
	return "damaged";
}

bool ws_json_key_given(struct ws_json *json, const char *key, enum ws_status status)
{
	if (status == WS_OK)
		ws_json_key(json, key);
	else
		ws_json_missing(json, key, status);
	return status == WS_OK;
}

bool ws_json_key_or_null(struct ws_json *json, const char *key, bool have)
{
	ws_json_key(json, key);
	if (!have)
		ws_json_null(json);
	return have;
}

void ws_json_missing(struct ws_json *json, const char *key, enum ws_status why)
{
	assert(why != WS_OK);
	ws_json_key(json, key);
	ws_json_null(json);
	char why_key[80];
	wsi_format(why_key, "%s_why", key);
	ws_json_key(json, why_key);
	ws_json_text(json, ws_missing_word(why));
}

/* ws_json_key_KIND(): a key and a value of that kind. */
#define DEFINE_KEY(kind, type)                                                     \
	void ws_json_key_##kind(struct ws_json *json, const char *key, type value) \
	{                                                                          \
		ws_json_key(json, key);                                            \
		ws_json_##kind(json, value);                                       \
	}
#define DEFINE_KEY_OPEN(kind)                                          \
	void ws_json_key_##kind(struct ws_json *json, const char *key) \
	{                                                              \
		ws_json_key(json, key);                                \
		ws_json_##kind(json);                                  \
	}

DEFINE_KEY_OPEN(object)
DEFINE_KEY_OPEN(array)

void ws_json_key_array_line(struct ws_json *json, const char *key)
{
	ws_json_key(json, key);
	open_level(json, true, true);
}
DEFINE_KEY(u64, uint64_t)
DEFINE_KEY(i64, int64_t)
DEFINE_KEY(hex, uint64_t)
DEFINE_KEY(bool, bool)
DEFINE_KEY(str, struct ws_str)
DEFINE_KEY(text, const char *)
DEFINE_KEY(dim3, struct ws_dim3)
