/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json_read.h"

void wsi_text_json_reader_init(struct wsi_json_reader *reader, char *text, size_t len)
{
	wsi_text_json_reader_init_raw(reader, text, len);
	reader->text = text;
}

void wsi_text_json_reader_init_raw(struct wsi_json_reader *reader, const char *text, size_t len)
{
	*reader = (struct wsi_json_reader){ .start = text, .at = text, .end = text + len };
}

static bool fail(struct wsi_json_reader *reader)
{
	reader->bad = true;
	reader->at = reader->end;
	return false;
}

static void skip_space(struct wsi_json_reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
					    *reader->at == '\n' || *reader->at == '\r'))
		reader->at++;
}

/* Takes one character that is due. */
static bool json_char_take(struct wsi_json_reader *reader, char wanted)
{
	skip_space(reader);
	if (reader->at == reader->end || *reader->at != wanted)
		return false;
	reader->at++;
	return true;
}

/* ---- strings ---- */

/* Four hexadecimal digits at `at`. */
static bool hex4(const struct wsi_json_reader *reader, const char *at, uint32_t *ret_unit)
{
	uint32_t unit = 0;
	if (reader->end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		unsigned digit = wsi_hex_digit(wsi_lower(at[i]));
		if (digit > 15)
			return false;
		unit = unit * 16 + digit;
	}
	*ret_unit = unit;
	return true;
}

/* Writes a character at `to`: never longer than its escape was. */
static char *put_character(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* What \uNNNN stands for, a pair of them too; half a pair is U+FFFD. `at` is behind the u. */
static bool unicode(struct wsi_json_reader *reader, uint32_t *ret_code)
{
	const uint32_t replacement = 0xfffd;
	uint32_t high, low;
	if (!hex4(reader, reader->at, &high))
		return false;
	reader->at += 4;
	*ret_code = high;
	if (high < 0xd800 || high > 0xdfff)
		return true;
	*ret_code = replacement;
	if (high < 0xdc00 && reader->end - reader->at >= 6 && reader->at[0] == '\\' &&
	    reader->at[1] == 'u' && hex4(reader, reader->at + 2, &low) && low >= 0xdc00 &&
	    low <= 0xdfff) {
		reader->at += 6;
		*ret_code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	return true;
}

static bool unescape_one(struct wsi_json_reader *reader, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	uint32_t code;
	if (reader->at == reader->end)
		return false;
	char letter = *reader->at++;
	if (letter == 'u') {
		if (!unicode(reader, &code))
			return false;
		*to = put_character(*to, code);
		return true;
	}
	const char *known = letter ? strchr(from, letter) : NULL;
	if (known)
		*(*to)++ = into[known - from];
	return known != NULL;
}

/* To the quote that ends a string, from its first escape on. */
static bool unescape_string(struct wsi_json_reader *reader, char **to)
{
	while (reader->at < reader->end && *reader->at != '"') {
		char c = *reader->at++;
		if (c != '\\')
			*(*to)++ = c;
		else if (!unescape_one(reader, to))
			return false;
	}
	return true;
}

static void pass(struct wsi_json_reader *reader)
{
	while (reader->at < reader->end && *reader->at != '"')
		reader->at += *reader->at == '\\' && reader->end - reader->at > 1 ? 2 : 1;
}

static bool string(struct wsi_json_reader *reader, struct ws_str *ret_text)
{
	const char *start = reader->at;
	while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\')
		reader->at++; /* most have no escape */
	size_t len = (size_t)(reader->at - start);
	if (reader->text) {
		char *first = reader->text + (start - reader->start), *to = first + len;
		if (!unescape_string(reader, &to))
			return fail(reader);
		len = (size_t)(to - first);
	} else {
		pass(reader);
		len = (size_t)(reader->at - start);
	}
	if (reader->at == reader->end)
		return fail(reader);
	reader->at++;
	*ret_text = (struct ws_str){ start, len };
	return true;
}

/* ---- values ---- */

static bool json_literal(struct wsi_json_reader *reader, struct wsi_json_value *ret_value)
{
	static const struct {
		const char *text;
		enum wsi_json_kind kind;
		bool truth;
	} words[] = { { "null", WSI_JSON_NULL, false },     { "true", WSI_JSON_BOOL, true },
		      { "false", WSI_JSON_BOOL, false },    { "NaN", WSI_JSON_NULL, false },
		      { "Infinity", WSI_JSON_NULL, false }, { "-Infinity", WSI_JSON_NULL, false } };
	struct ws_str rest = { reader->at, (size_t)(reader->end - reader->at) };
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		if (!wsi_str_begins(rest, words[i].text))
			continue;
		reader->at += strlen(words[i].text);
		*ret_value =
			(struct wsi_json_value){ .kind = words[i].kind, .truth = words[i].truth };
		return true;
	}
	return false;
}

static bool json_number(struct wsi_json_reader *reader, struct wsi_json_value *ret_value)
{
	const char *start = reader->at;
	bool digit = false;
	while (reader->at < reader->end &&
	       (wsi_is_digit(*reader->at) || (*reader->at && strchr("+-.eE", *reader->at)))) {
		digit |= wsi_is_digit(*reader->at);
		reader->at++;
	}
	if (!digit)
		return fail(reader);
	*ret_value = (struct wsi_json_value){ .kind = WSI_JSON_NUMBER,
					      .text = { start, (size_t)(reader->at - start) } };
	return true;
}

static bool json_value_read(struct wsi_json_reader *reader, struct wsi_json_value *ret_value)
{
	skip_space(reader);
	if (reader->at == reader->end)
		return fail(reader);
	if (*reader->at == '{' || *reader->at == '[') {
		*ret_value = (struct wsi_json_value){ .kind = *reader->at == '{' ? WSI_JSON_OBJECT
										 : WSI_JSON_ARRAY };
		reader->at++;
		reader->fresh = true;
		return true;
	}
	if (*reader->at == '"') {
		reader->at++;
		*ret_value = (struct wsi_json_value){ .kind = WSI_JSON_STRING };
		return string(reader, &ret_value->text);
	}
	return json_literal(reader, ret_value) || json_number(reader, ret_value);
}

bool wsi_text_json_read(struct wsi_json_reader *reader, struct wsi_json_value *ret_value)
{
	return json_value_read(reader, ret_value);
}

/* To the next item of what `close` closes; false: there is none, and it is closed. */
static bool next_item(struct wsi_json_reader *reader, char close)
{
	bool first = reader->fresh;
	reader->fresh = false;
	if (reader->bad || json_char_take(reader, close))
		return false;
	return first || json_char_take(reader, ',') || fail(reader);
}

bool wsi_text_json_member(struct wsi_json_reader *reader, struct ws_str *ret_key,
			  struct wsi_json_value *ret_value)
{
	if (!next_item(reader, '}'))
		return false;
	if (!json_char_take(reader, '"'))
		return fail(reader);
	if (!string(reader, ret_key))
		return false;
	if (!json_char_take(reader, ':'))
		return fail(reader);
	return json_value_read(reader, ret_value);
}

bool wsi_text_json_element(struct wsi_json_reader *reader, struct wsi_json_value *ret_value)
{
	return next_item(reader, ']') && json_value_read(reader, ret_value);
}

/* Brackets are counted and not matched: what is passed over is nobody's. */
void wsi_text_json_skip(struct wsi_json_reader *reader, const struct wsi_json_value *value)
{
	size_t depth = value->kind == WSI_JSON_OBJECT || value->kind == WSI_JSON_ARRAY;
	struct ws_str text;
	if (depth)
		reader->fresh = false;
	while (depth && reader->at < reader->end) {
		char c = *reader->at++;
		if (c == '"' && !string(reader, &text))
			return;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
	}
	if (depth)
		fail(reader);
}

bool wsi_text_json_is_end(struct wsi_json_reader *reader)
{
	skip_space(reader);
	return !reader->bad && reader->at == reader->end;
}

/* ---- numbers ---- */

static bool times_ten(uint64_t *number, unsigned digit)
{
	if (digit > 9 || *number > (UINT64_MAX - digit) / 10)
		return false;
	*number = *number * 10 + digit;
	return true;
}

/* What follows the e of a number. */
static bool exponent(struct ws_str text, int64_t *ret_power)
{
	enum { MOST_DIGITS = 9 };
	bool negative = text.len && *text.ptr == '-';
	uint64_t power = 0;
	if (text.len && (*text.ptr == '-' || *text.ptr == '+'))
		text = wsi_str_skip(text, 1);
	if (text.len == 0 || text.len > MOST_DIGITS)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!times_ten(&power, (unsigned)(text.ptr[i] - '0')))
			return false;
	*ret_power = negative ? -(int64_t)power : (int64_t)power;
	return true;
}

bool wsi_text_json_u64(const struct wsi_json_value *value, uint64_t *ret_number)
{
	const char *at = value->text.ptr, *point = NULL;
	size_t end = 0;
	int64_t power = 0;
	uint64_t number = 0;
	if (value->kind != WSI_JSON_NUMBER)
		return false;
	while (end < value->text.len && at[end] != 'e' && at[end] != 'E')
		end++;
	if (end < value->text.len && !exponent(wsi_str_skip(value->text, end + 1), &power))
		return false;
	if (end)
		point = memchr(at, '.', end);
	if (point)
		power -= at + end - point - 1;
	/* the last digit that is not 0 decides whether it is a whole number */
	for (; end > 0 && (at[end - 1] == '0' || at + end - 1 == point); end--)
		power += at[end - 1] == '0';
	for (size_t i = 0; i < end; i++)
		if (at + i != point && !times_ten(&number, (unsigned)(at[i] - '0')))
			return false;
	if (power < 0 && number)
		return false;
	for (; power > 0 && number; power--)
		if (!times_ten(&number, 0))
			return false;
	*ret_number = number;
	return true;
}
