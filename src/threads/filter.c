/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: the words and what they let through. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include <warpscope/threads.h>

#include "base/base.h"

static const struct {
	const char *name;
	unsigned n;
} words[WS_FILTER_N_WORDS] = {
#define X(name, n) [WS_FILTER_##name] = { #name, n },
	WS_FILTER_WORD_LIST(X)
#undef X
};

bool ws_filter_is_word(const char *text)
{
	for (size_t i = 0; i < WS_FILTER_N_WORDS; i++)
		if (strcmp(words[i].name, text) == 0)
			return true;
	return false;
}

/* ---- tokens: the arguments joined by spaces, cut at spaces, commas and brackets ---- */

struct tokens {
	char *const *argv;
	int argc, index; /* of the argument that is being read */
	size_t at;       /* in it */
};

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,  /* letters */
	TOKEN_VALUE, /* a number */
	TOKEN_STAR,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_OTHER,
};

struct filter_token {
	enum token_kind kind;
	const char *start;
	size_t len;
	int64_t value;
};

static struct filter_token token_at(const char *start)
{
	struct filter_token token = { .kind = TOKEN_OTHER, .start = start, .len = 1 };
	static const char marks[] = "*(),";
	static const enum token_kind kinds[] = { TOKEN_STAR, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COMMA };
	const char *mark = strchr(marks, *start);
	if (mark) {
		token.kind = kinds[mark - marks];
	} else if (isalpha((unsigned char)*start)) {
		token.kind = TOKEN_WORD;
		while (isalpha((unsigned char)start[token.len]))
			token.len++;
	} else if (isdigit((unsigned char)*start) ||
		   (*start == '-' && isdigit((unsigned char)start[1]))) {
		char *end;
		errno = 0;
		token.value = strtoll(start, &end, 0);
		token.len = (size_t)(end - start);
		token.kind = errno ? TOKEN_OTHER : TOKEN_VALUE;
	}
	return token;
}

/* The next token, which stays unread. */
static struct filter_token token_peek(struct tokens *tokens)
{
	while (tokens->index < tokens->argc) {
		const char *text = tokens->argv[tokens->index];
		while (isspace((unsigned char)text[tokens->at]))
			tokens->at++;
		if (text[tokens->at])
			return token_at(text + tokens->at);
		tokens->index++;
		tokens->at = 0;
	}
	return (struct filter_token){ .kind = TOKEN_END, .start = "" };
}

static bool token_take(struct tokens *tokens, enum token_kind kind, struct filter_token *ret_token)
{
	struct filter_token token = token_peek(tokens);
	if (token.kind != kind)
		return false;
	tokens->at += token.len;
	if (ret_token)
		*ret_token = token;
	return true;
}

static bool token_is(const struct filter_token *token, const char *text)
{
	return token->kind == TOKEN_WORD && strlen(text) == token->len &&
	       memcmp(token->start, text, token->len) == 0;
}

/* ---- filters ---- */

void ws_filter_current(struct ws_filter *filter, const struct ws_coords *focus,
		       enum ws_filter_word word)
{
	if (!focus || !focus->known[word]) {
		filter->nothing = true;
		return;
	}
	for (unsigned i = 0; i < words[word].n; i++) {
		filter->word[word].limited[i] = true;
		filter->word[word].number[i] = focus->number[word][i];
	}
}

/* One number, or a star for any. */
static bool parse_component(struct tokens *tokens, struct ws_filter *filter,
			    enum ws_filter_word word, unsigned i)
{
	struct filter_token token;
	if (token_take(tokens, TOKEN_STAR, NULL))
		return true;
	if (!token_take(tokens, TOKEN_VALUE, &token) || (token.value < 0 && word != WS_FILTER_grid))
		return false;
	filter->word[word].limited[i] = true;
	filter->word[word].number[i] = token.value;
	return true;
}

/*
 * "warp current" is the focus's warp, not every warp of its number: what a coordinate counts within
 * is the focus's too, unless the filter says otherwise.
 */
static void current_within(struct ws_filter *filter, const struct ws_coords *focus,
			   enum ws_filter_word current, unsigned given)
{
	static const unsigned within[WS_FILTER_N_WORDS] = {
		[WS_FILTER_warp] = 1u << WS_FILTER_device | 1u << WS_FILTER_sm,
		[WS_FILTER_lane] =
			1u << WS_FILTER_device | 1u << WS_FILTER_sm | 1u << WS_FILTER_warp,
		[WS_FILTER_grid] = 1u << WS_FILTER_device,
		[WS_FILTER_cluster] = 1u << WS_FILTER_kernel,
		[WS_FILTER_block] = 1u << WS_FILTER_kernel,
		[WS_FILTER_thread] = 1u << WS_FILTER_kernel | 1u << WS_FILTER_block,
	};
	for (unsigned word = 0; word < WS_FILTER_N_WORDS; word++) {
		if (within[current] >> word & 1 && !(given >> word & 1) && focus &&
		    focus->known[word])
			ws_filter_current(filter, focus, (enum ws_filter_word)word);
	}
}

/* What stands behind a word: "3", "1,0,0", "(1, 0, 0)", "current", "any", "all", "*". */
static bool parse_value(struct tokens *tokens, struct ws_filter *filter,
			const struct ws_coords *focus, enum ws_filter_word word, unsigned *current)
{
	struct filter_token token = token_peek(tokens);
	memset(&filter->word[word], 0, sizeof filter->word[word]);
	*current &= ~(1u << word);
	if (token_is(&token, "current")) {
		ws_filter_current(filter, focus, word);
		*current |= 1u << word;
	}
	if (token_is(&token, "current") || token_is(&token, "any") || token_is(&token, "all"))
		return token_take(tokens, TOKEN_WORD, NULL);
	bool bracket = token_take(tokens, TOKEN_OPEN, NULL);
	for (unsigned i = 0; i < words[word].n; i++) {
		struct tokens before = *tokens;
		if (i > 0 && !token_take(tokens, TOKEN_COMMA, NULL))
			break;
		if (i > 0 && !bracket && token_peek(tokens).kind == TOKEN_WORD) {
			*tokens = before; /* "block 1, thread 3": the comma ends the triple */
			break;
		}
		if (!parse_component(tokens, filter, word, i))
			return false;
	}
	return !bracket || token_take(tokens, TOKEN_CLOSE, NULL);
}

bool ws_filter_parse(struct ws_filter *filter, const struct ws_coords *focus, int argc,
		     char *const *argv, const char **ret_bad)
{
	struct tokens tokens = { .argv = argv, .argc = argc };
	unsigned given = 0, current = 0; /* sets of words */
	memset(filter, 0, sizeof *filter);
	for (;;) {
		struct filter_token token = token_peek(&tokens);
		if (token.kind == TOKEN_END)
			break;
		*ret_bad = token.start;
		unsigned word = 0;
		while (word < WS_FILTER_N_WORDS && !token_is(&token, words[word].name))
			word++;
		if (word == WS_FILTER_N_WORDS || !token_take(&tokens, TOKEN_WORD, NULL) ||
		    !parse_value(&tokens, filter, focus, (enum ws_filter_word)word, &current))
			return false;
		given |= 1u << word;
		token_take(&tokens, TOKEN_COMMA, NULL); /* "sm 3, warp 2", as a focus line has it */
	}
	for (unsigned word = 0; word < WS_FILTER_N_WORDS; word++) {
		if (current >> word & 1)
			current_within(filter, focus, (enum ws_filter_word)word, given);
	}
	return true;
}

bool ws_filter_number(const struct ws_filter *filter, enum ws_filter_word word, int64_t number)
{
	return !filter->nothing &&
	       (!filter->word[word].limited[0] || filter->word[word].number[0] == number);
}

bool ws_filter_dim3(const struct ws_filter *filter, enum ws_filter_word word, struct ws_dim3 dim)
{
	const uint32_t component[3] = { dim.x, dim.y, dim.z };
	for (unsigned i = 0; i < 3; i++) {
		if (filter->word[word].limited[i] && filter->word[word].number[i] != component[i])
			return false;
	}
	return !filter->nothing;
}

bool ws_filter_limits(const struct ws_filter *filter, enum ws_filter_word word)
{
	const bool *limited = filter->word[word].limited;
	return limited[0] || limited[1] || limited[2];
}
