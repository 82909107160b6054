/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: one line of JSON each, flat, so that a table engine loads them as they are.
 *
 *   {"schema":"warpscope-triage-1","key":"0123...","path":...
 *
 * The start is always the same, so that who only wants to know which dumps are done need not
 * understand the rest. Other programs may write a record anew: with spaces, in another order, over
 * several lines. A line without its newline is no record: writing was interrupted there.
 */
#include "triage/internal.h"

#include "base/sha256.h"
#include "text/escape.h"
#include "text/json_read.h"

#define SCHEMA "warpscope-triage-1"

static const char head[] = "{\"schema\":\"" SCHEMA "\",\"key\":\"";

enum {
	MAX_NAME = 512, /* of a text as it is written; longer ones are cut, and end in a hash */
	MIN_NAME = 32,
	MAX_SIGNATURE = 1024, /* always the same: signatures are compared */
	HASH_CHARS = 16,
};

static void hex_of(const void *bytes, size_t len, char *ret_text, size_t n_chars)
{
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, bytes, len);
	wsi_sha256_final(&hash, digest);
	wsi_sha256_text(digest, n_chars / 2, ret_text);
}

void ws_triage_key(const struct ws_triage_file *file, char ret_key[WS_TRIAGE_KEY_BYTES])
{
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	char about[120];
	snprintf(about, sizeof about, SCHEMA " %d %" PRIu64 " %" PRId64 " ", WS_SIGNATURE_VERSION,
		 file->bytes, file->written_ns);
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, about, strlen(about));
	wsi_sha256_add(&hash, file->path, strlen(file->path));
	wsi_sha256_final(&hash, digest);
	wsi_sha256_text(digest, (WS_TRIAGE_KEY_BYTES - 1) / 2, ret_key);
}

/* The key, if a text is one. */
static bool key_take(struct ws_str text, char ret_key[WS_TRIAGE_KEY_BYTES])
{
	size_t digits = WS_TRIAGE_KEY_BYTES - 1;
	if (text.len != digits)
		return false;
	for (size_t i = 0; i < digits; i++)
		if (wsi_hex_digit(text.ptr[i]) > 15)
			return false;
	memcpy(ret_key, text.ptr, digits);
	ret_key[digits] = '\0';
	return true;
}

/* That of a record which another program wrote anew. */
static bool key_find(const char *line, size_t len, char ret_key[WS_TRIAGE_KEY_BYTES])
{
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	struct ws_str key;
	bool is_ours = false, have_key = false;
	wsi_text_json_reader_init_raw(&reader, line, len);
	if (!wsi_text_json_read(&reader, &value) || value.kind != WSI_JSON_OBJECT)
		return false;
	while (!(is_ours && have_key) && wsi_text_json_member(&reader, &key, &value)) {
		if (ws_str_equal(key, ws_str_of("schema")))
			is_ours = ws_str_equal(value.text, ws_str_of(SCHEMA));
		else if (ws_str_equal(key, ws_str_of("key")))
			have_key = key_take(value.text, ret_key);
		wsi_text_json_skip(&reader, &value);
	}
	return is_ours && have_key;
}

bool ws_triage_record_key(const char *line, size_t len, char ret_key[WS_TRIAGE_KEY_BYTES])
{
	size_t n = sizeof head - 1, digits = WS_TRIAGE_KEY_BYTES - 1;
	if (len >= n + digits && memcmp(line, head, n) == 0)
		return key_take((struct ws_str){ line + n, digits }, ret_key);
	return key_find(line, len, ret_key);
}

void wsi_triage_record_init(struct wsi_triage_record *record)
{
	*record = (struct wsi_triage_record){ .key = "" };
#define S(name)
#define N(name) record->name = WSI_NO_NUMBER;
#define B(name)
	WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
}

/* ---- writing ---- */

/* A sink that only counts. */
static bool count_bytes(void *user, const char *bytes, size_t len)
{
	(void)bytes;
	*(size_t *)user += len;
	return true;
}

/* The characters that a text takes between its quotes. */
static size_t written_len(struct ws_str text)
{
	struct ws_out out;
	struct ws_json json;
	size_t n = 0;
	ws_out_init(&out, count_bytes, &n);
	ws_json_init(&json, &out, true);
	ws_json_str(&json, text);
	return ws_out_flush(&out, NULL) == WS_OK ? n - 2 : 0;
}

/* A text of at most `most` characters, or its start, '~' and a hash of all of it. */
static void put_json_text(struct ws_json *json, struct ws_str text, size_t most)
{
	char cut[MAX_SIGNATURE + 1];
	if (!text.ptr) {
		ws_json_null(json);
		return;
	}
	if (text.len <= most / 6 || (text.len <= most && written_len(text) <= most)) {
		ws_json_str(json, text);
		return;
	}
	size_t keep = wsi_min_u64(text.len, most - HASH_CHARS - 1);
	while (keep && written_len((struct ws_str){ text.ptr, keep }) > most - HASH_CHARS - 1)
		keep = keep * 7 / 8;
	while (keep && (text.ptr[keep] & 0xc0) == 0x80) /* not inside a character */
		keep--;
	memcpy(cut, text.ptr, keep);
	cut[keep] = '~';
	hex_of(text.ptr, text.len, cut + keep + 1, HASH_CHARS);
	ws_json_str(json, (struct ws_str){ cut, keep + 1 + HASH_CHARS });
}

static void put_json_number(struct ws_json *json, uint64_t number)
{
	if (number == WSI_NO_NUMBER)
		ws_json_null(json);
	else
		ws_json_u64(json, number);
}

static size_t most_of(const char *field, size_t most)
{
	return strcmp(field, "signature") == 0 ? MAX_SIGNATURE : most;
}

static void put_record(const struct wsi_triage_record *record, size_t most, struct ws_out *out)
{
	struct ws_json json;
	ws_json_init(&json, out, true);
	ws_json_object(&json);
	ws_json_key_text(&json, "schema", SCHEMA);
	ws_json_key_text(&json, "key", record->key);
#define S(name)                    \
	ws_json_key(&json, #name); \
	put_json_text(&json, record->name, most_of(#name, most));
#define N(name)                    \
	ws_json_key(&json, #name); \
	put_json_number(&json, record->name);
#define B(name) ws_json_key_bool(&json, #name, record->name);
	WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
	ws_json_end(&json);
}

/* A record, as far as one that is not whole may go. */
struct record_line {
	size_t len; /* of all of it */
	char bytes[WS_TRIAGE_RECORD_BYTES];
};

static bool record_line_write(void *user, const char *bytes, size_t len)
{
	struct record_line *line = user;
	if (line->len <= sizeof line->bytes && len <= sizeof line->bytes - line->len)
		memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
	return true;
}

void wsi_triage_record_write(const struct wsi_triage_record *record, bool whole, struct ws_out *out)
{
	struct record_line line;
	struct ws_out to_line;
	for (size_t most = MAX_NAME; !whole; most -= most / 4) {
		line.len = 0;
		ws_out_init(&to_line, record_line_write, &line);
		put_record(record, most, &to_line);
		if (ws_out_flush(&to_line, NULL) != WS_OK)
			return;
		if (line.len <= sizeof line.bytes) {
			ws_out_bytes(out, line.bytes, line.len);
			return;
		}
		if (most <= MIN_NAME) {
			put_record(record, most, out);
			return;
		}
	}
	put_record(record, SIZE_MAX, out);
}

/* ---- reading ---- */

static void take_text(const struct wsi_json_value *value, struct ws_str *text)
{
	if (value->kind == WSI_JSON_STRING)
		*text = value->text.ptr ? value->text : ws_str_of("");
}

static void take_record_member(struct wsi_triage_record *record, struct ws_str key,
			       const struct wsi_json_value *value)
{
#define IS(name) (key.len == sizeof #name - 1 && memcmp(key.ptr, #name, key.len) == 0)
#define S(name)                                  \
	if (IS(name)) {                          \
		take_text(value, &record->name); \
		return;                          \
	}
#define N(name)                                          \
	if (IS(name)) {                                  \
		wsi_text_json_u64(value, &record->name); \
		return;                                  \
	}
#define B(name)                                                              \
	if (IS(name)) {                                                      \
		record->name = value->kind == WSI_JSON_BOOL && value->truth; \
		return;                                                      \
	}
	WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
#undef IS
}

bool wsi_triage_record_read(char *line, size_t len, struct wsi_triage_record *ret_record)
{
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	struct ws_str key;
	wsi_triage_record_init(ret_record);
	if (!ws_triage_record_key(line, len, ret_record->key))
		return false;
	wsi_text_json_reader_init(&reader, line, len);
	if (!wsi_text_json_read(&reader, &value) || value.kind != WSI_JSON_OBJECT)
		return false;
	while (wsi_text_json_member(&reader, &key, &value)) {
		take_record_member(ret_record, key, &value);
		wsi_text_json_skip(&reader, &value);
	}
	return wsi_text_json_is_end(&reader) && ret_record->path.ptr && ret_record->status.ptr;
}
