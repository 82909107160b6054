/* SPDX-License-Identifier: Apache-2.0 */
/* Names of dumps, by a pattern as CUDA_COREDUMP_FILE has it. */
#include "triage/internal.h"

enum {
	MAX_TOKENS = 32,
	MAX_TEXT = 4096, /* longer paths fit no pattern */
};

/* One piece of a pattern: a letter behind a percent sign, '*', or 0: the text itself. */
struct name_token {
	char kind;
	struct ws_str text;
};

/* As the driver names, and as `warpscope exec` makes it name. */
static const char *const by_default[] = { "core_r%r_%t_%h_%p.nvcudmp", "core_t*_%t_%h_%p.nvcudmp",
					  "core_%t_%h_%p.nvcudmp", "core.cuda.%h.%p",
					  "core_%t_%h_%p" };

static bool takes_text(char kind)
{
	return kind == 'h' || kind == 'j' || kind == '*';
}

/* The tokens of a pattern; the count, or WS_NONE with the error. */
static uint32_t tokens_read(const char *pattern, struct name_token tokens[MAX_TOKENS],
			    struct ws_error *err)
{
	uint32_t n = 0;
	for (const char *at = pattern; *at;) {
		struct name_token token = { 0, { at, strcspn(at, "%*") } };
		if (*at == '*' || (*at == '%' && at[1] != '%')) {
			token.kind = *at == '*' ? '*' : at[1];
			token.text.len = *at == '*' ? 1 : 2;
		} else if (*at == '%') {
			token.text = (struct ws_str){ at + 1, 1 };
			at++;
		}
		at += token.text.len;
		bool known = !token.kind || takes_text(token.kind) || token.kind == 'p' ||
			     token.kind == 't' || token.kind == 'r';
		if (!known) {
			wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				 "a pattern of names has %%h, %%p, %%t, %%r, %%j, %%%% and *, "
				 "but no %.2s",
				 token.text.ptr);
			return WS_NONE;
		}
		if (n && token.kind && tokens[n - 1].kind) {
			wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				 "%.*s%.*s in a pattern of names: nothing says where the first "
				 "one ends",
				 (int)tokens[n - 1].text.len, tokens[n - 1].text.ptr,
				 (int)token.text.len, token.text.ptr);
			return WS_NONE;
		}
		if (n == MAX_TOKENS) {
			wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				 "a pattern of names has at most %d pieces", MAX_TOKENS);
			return WS_NONE;
		}
		tokens[n++] = token;
	}
	if (n == 0)
		wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a pattern of names is empty");
	return n ? n : WS_NONE;
}

enum ws_status ws_triage_pattern_check(const char *pattern, struct ws_error *err)
{
	struct name_token tokens[MAX_TOKENS];
	return tokens_read(pattern, tokens, err) == WS_NONE ? WS_ARGUMENT : WS_OK;
}

/* ---- matching ---- */

struct match {
	const struct name_token *tokens;
	uint32_t n_tokens;
	struct ws_str text;
	struct ws_str taken[MAX_TOKENS]; /* by each token */
	/* Tokens that were tried at a place and do not fit there: each is tried once. */
	uint8_t failed[MAX_TOKENS][MAX_TEXT / 8 + 1];
};

/* How many characters a token can take at most. */
static size_t token_reach(const struct name_token *token, struct ws_str rest)
{
	size_t n = 0;
	if (!token->kind)
		return rest.len >= token->text.len &&
				       memcmp(rest.ptr, token->text.ptr, token->text.len) == 0
			       ? token->text.len
			       : SIZE_MAX;
	if (token->kind == '*' || takes_text(token->kind))
		while (n < rest.len && rest.ptr[n] != '/')
			n++;
	else
		while (n < rest.len && n < 19 && wsi_is_digit(rest.ptr[n]))
			n++;
	return n;
}

/* Whether the tokens from `i` on take the text from `at` on; the earlier ones as much as they can.
 * At most as deep as there are tokens. */
static bool match_from(struct match *m, uint32_t i, size_t at)
{
	if (i == m->n_tokens)
		return at == m->text.len;
	uint8_t bit = (uint8_t)(1u << (at & 7));
	if (m->failed[i][at / 8] & bit)
		return false;
	const struct name_token *token = &m->tokens[i];
	struct ws_str rest = wsi_str_skip(m->text, at);
	size_t most = token_reach(token, rest);
	size_t least = !token->kind ? most : token->kind == '*' ? 0 : 1;
	for (size_t n = most; most != SIZE_MAX && n + 1 > least; n--) {
		m->taken[i] = (struct ws_str){ rest.ptr, n };
		if (match_from(m, i + 1, at + n))
			return true;
		if (n == 0)
			break;
	}
	m->failed[i][at / 8] |= bit;
	return false;
}

static uint64_t name_number_of(struct ws_str digits)
{
	uint64_t number = 0;
	for (size_t i = 0; i < digits.len; i++)
		number = number * 10 + (uint64_t)(digits.ptr[i] - '0');
	return number;
}

/* The last names of a path, as many as the pattern has. */
static struct ws_str tail(struct ws_str path, const char *pattern)
{
	size_t slashes = 0, at = path.len;
	for (const char *c = pattern; *c; c++)
		slashes += *c == '/';
	while (at > 0 && (path.ptr[at - 1] != '/' || slashes-- > 0))
		at--;
	return wsi_str_skip(path, at);
}

struct ws_str wsi_unpacked_name(struct ws_str path)
{
	static const char *const endings[] = { ".gz", ".zst" };
	for (size_t i = 0; i < WSI_COUNT(endings); i++) {
		size_t n = strlen(endings[i]);
		if (path.len > n && memcmp(path.ptr + path.len - n, endings[i], n) == 0)
			path.len -= n;
	}
	return path;
}

static bool name_match(const char *pattern, struct ws_str path, struct wsi_dump_name *name)
{
	struct name_token tokens[MAX_TOKENS];
	uint32_t n = tokens_read(pattern, tokens, NULL);
	struct ws_str text = tail(path, pattern);
	if (n == WS_NONE || text.len > MAX_TEXT)
		return false;
	struct match m; /* large, and mostly not needed */
	m.tokens = tokens;
	m.n_tokens = n;
	m.text = text;
	for (uint32_t i = 0; i < n; i++)
		memset(m.failed[i], 0, text.len / 8 + 1);
	if (!match_from(&m, 0, 0))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (tokens[i].kind == 'h')
			name->host = m.taken[i];
		else if (tokens[i].kind == 'j')
			name->job = m.taken[i];
		else if (tokens[i].kind == 'p')
			name->pid = name_number_of(m.taken[i]);
		else if (tokens[i].kind == 't')
			name->time = name_number_of(m.taken[i]);
		else if (tokens[i].kind == 'r')
			name->rank = name_number_of(m.taken[i]);
	}
	return true;
}

bool wsi_dump_name_read(const char *pattern, struct ws_str path, struct wsi_dump_name *ret_name)
{
	size_t n = pattern ? 1 : WSI_COUNT(by_default);
	*ret_name = (struct wsi_dump_name){ .pid = WSI_NO_NUMBER,
					    .time = WSI_NO_NUMBER,
					    .rank = WSI_NO_NUMBER };
	for (size_t i = 0; i < n; i++) {
		const char *one = pattern ? pattern : by_default[i];
		struct ws_str inner = wsi_unpacked_name(path);
		if (name_match(one, path, ret_name) ||
		    (inner.len < path.len && name_match(one, inner, ret_name)))
			return true;
	}
	return false;
}

bool ws_triage_pattern_fits(const char *pattern, const char *path)
{
	struct wsi_dump_name name;
	return wsi_dump_name_read(pattern, ws_str_of(path), &name);
}
