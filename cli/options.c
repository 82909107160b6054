/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the command line. getopt_long() takes any prefix of a name, complains in its own words
 * and, with POSIXLY_CORRECT, stops at the first operand. So a command line is checked and sorted
 * here: whole names only, options in front, "--", operands.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- options that every verb takes ---- */

/* A number of bytes: decimal or 0x, with K, M, G or T (powers of 1,024). */
static bool parse_size(const char *text, uint64_t *ret_size)
{
	char digits[32];
	size_t len = strlen(text);
	static const char units[] = "KMGT";
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	len -= unit ? 1 : 0;
	if (len == 0 || len >= sizeof digits)
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	uint64_t number;
	if (!cli_number(digits, &number) || number == 0 || number > UINT64_MAX >> shift)
		return false;
	*ret_size = number << shift;
	return true;
}

static int take_color(void *query, const char *text)
{
	struct cli *cli = query;
	if (strcmp(text, "always") == 0)
		cli->color = true;
	else if (strcmp(text, "never") == 0)
		cli->color = false;
	else if (strcmp(text, "auto") != 0)
		return cli_usage(cli->verb, "--color takes auto, always or never");
	return CLI_ANSWERED;
}

static int take_size_limit(void *query, const char *text)
{
	struct cli *cli = query;
	return parse_size(text, &cli->size_limit)
		       ? CLI_ANSWERED
		       : cli_usage(cli->verb, "--size-limit takes bytes, such as 500M or 64G");
}

static int take_output_limit(void *query, const char *text)
{
	struct cli *cli = query;
	if (strcmp(text, "none") == 0)
		cli->output_limit = UINT64_MAX;
	else if (!parse_size(text, &cli->output_limit))
		return cli_usage(cli->verb,
				 "--output-limit takes bytes, such as 500M or 64G, or none");
	return CLI_ANSWERED;
}

static int take_columns(void *query, const char *text)
{
	struct cli *cli = query;
	uint64_t columns;
	if (!cli_number(text, &columns) || columns >= UINT16_MAX)
		return cli_usage(cli->verb, "--columns takes a number; 0 folds nothing");
	cli->columns = (unsigned)columns;
	return CLI_ANSWERED;
}

static const struct cli_option common[] = {
	{ "json", 0, CLI_FLAG, .at = offsetof(struct cli, json) },
	{ "api-lib", 0, CLI_TEXT, .at = offsetof(struct cli, api_lib) },
	{ "color", 0, CLI_TAKE, .take = take_color },
	{ "columns", 0, CLI_TAKE, .take = take_columns },
	{ "no-pager", 0, CLI_FLAG, .at = offsetof(struct cli, no_pager) },
	{ "size-limit", 0, CLI_TAKE, .take = take_size_limit },
	{ "output-limit", 0, CLI_TAKE, .take = take_output_limit },
	{ 0 },
};

void cli_words_add(struct cli_words *words, const char *word)
{
	cli_grow(&words->item, &words->cap, words->n, sizeof *words->item);
	words->item[words->n++] = word;
}

/* ---- one word ---- */

/* The option that `text` begins with, of a table. One dash is enough for some names, as in gdb. */
static const struct cli_option *option_in(const struct cli_option *options, const char *text)
{
	size_t len = strcspn(text, "=");
	for (const struct cli_option *o = options; o->name; o++) {
		size_t dashes = text[1] == '-' ? 2 : o->one_dash ? 1 : 0;
		if (dashes && strlen(o->name) == len - dashes && len > dashes &&
		    memcmp(o->name, text + dashes, len - dashes) == 0)
			return o;
		if (text[1] != '-' && o->letter && o->letter == text[1])
			return o;
	}
	return NULL;
}

/* What one word of the command line is. */
struct option_word {
	bool is_option;
	const struct cli_option *option; /* NULL: none of that name */
	bool is_common;
	const char *value; /* inside the word: --name=value, -ovalue; or NULL */
};

static struct option_word word_read(const struct cli_option *options, const char *text)
{
	struct option_word word = { 0 };
	if (text[0] != '-' || text[1] == '\0' || (text[1] >= '0' && text[1] <= '9'))
		return word; /* "-" is standard input, -1 a number */
	word.is_option = true;
	word.option = option_in(common, text);
	word.is_common = word.option != NULL;
	if (!word.option)
		word.option = option_in(options, text);
	bool by_name = text[1] == '-' || (word.option && word.option->letter != text[1]);
	const char *value = by_name ? strchr(text, '=') : text[2] ? text + 1 : NULL;
	word.value = value ? value + 1 : NULL;
	return word;
}

/* Whether the word after an option whose value may be left out is its value. */
static bool is_optional(const char *text)
{
	uint64_t number;
	return strcmp(text, "current") == 0 || cli_number(text, &number);
}

/* Whether the value of an option is the word behind `argv[i]`. */
static bool value_follows(const struct option_word *word, int i, int argc, char **argv)
{
	if (!word->option || word->value)
		return false;
	return word->option->value == CLI_MAY_TAKE ? i + 1 < argc && is_optional(argv[i + 1])
						   : word->option->value >= CLI_TEXT;
}

/* Whether the first operand is a program, and all behind it belongs to that. */
static bool has_rest(const struct cli_option *options)
{
	for (const struct cli_option *o = options; o->name; o++)
		if (o->value == CLI_REST)
			return true;
	return false;
}

int cli_options_end(const struct cli_option *options, int argc, char **argv)
{
	return has_rest(options) ? cli_operand(options, argc, argv, 0) : argc;
}

int cli_operand(const struct cli_option *options, int argc, char **argv, int n)
{
	bool all = false; /* after "--" */
	for (int i = 1; i < argc; i++) {
		struct option_word word =
			all ? (struct option_word){ 0 } : word_read(options, argv[i]);
		if (!all && strcmp(argv[i], "--") == 0)
			all = true;
		else if (!word.is_option && n-- == 0)
			return i;
		else if (value_follows(&word, i, argc, argv))
			i++;
	}
	return argc;
}

/* ---- the command line ---- */

static int unknown_option(const char *verb, const struct cli_option *options, const char *text)
{
	const char *names[64];
	size_t n = 0;
	for (const struct cli_option *o = common; o->name; o++)
		names[n++] = o->name;
	for (const struct cli_option *o = options; o->name && n < sizeof names / sizeof names[0];
	     o++)
		names[n++] = o->name;
	size_t dashes = strspn(text, "-");
	int len = (int)strcspn(text, "=");
	const char *near = cli_nearest(text + dashes, (size_t)len - dashes, names, n);
	return cli_usage(verb, "unknown option %.*s%s%s%s", len, text,
			 near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
}

int cli_options_sort(const char *verb, const struct cli_option *options, int argc, char **argv,
		     char **sorted)
{
	int n = 0, n_operands = 0;
	bool all = false;
	char **operands = cli_alloc((size_t)argc, sizeof *operands);
	int status = CLI_ANSWERED;
	sorted[n++] = argv[0];
	for (int i = 1; i < argc && status == CLI_ANSWERED; i++) {
		struct option_word word =
			all ? (struct option_word){ 0 } : word_read(options, argv[i]);
		bool follows = value_follows(&word, i, argc, argv);
		if (!all && strcmp(argv[i], "--") == 0) {
			all = true;
		} else if (!word.is_option) {
			operands[n_operands++] = argv[i];
			all = all || has_rest(options);
		} else if (!word.option) {
			status = unknown_option(verb, options, argv[i]);
		} else if (word.option->value < CLI_TEXT && word.value) {
			status = cli_usage(verb, "%.*s takes no value", (int)strcspn(argv[i], "="),
					   argv[i]);
		} else if (follows && i + 1 == argc) {
			status = cli_usage(verb, "%s needs a value", argv[i]);
		} else {
			sorted[n++] = argv[i];
			if (follows)
				sorted[n++] = argv[++i];
		}
	}
	sorted[n++] = "--";
	for (int i = 0; i < n_operands; i++)
		sorted[n++] = operands[i];
	free(operands);
	return status;
}

static int option_take(struct cli *cli, const struct cli_option *option, void *query,
		       const char *text)
{
	void *member = (char *)query + option->at;
	struct cli_given *number = member;
	switch (option->value) {
	case CLI_FLAG:
		*(bool *)member = true;
		return CLI_ANSWERED;
	case CLI_BITS:
		*(uint32_t *)member |= option->bits;
		return CLI_ANSWERED;
	case CLI_TEXT:
		*(const char **)member = text;
		return CLI_ANSWERED;
	case CLI_NUMBER:
		number->given = true;
		return cli_number(text, &number->value)
			       ? CLI_ANSWERED
			       : cli_usage(cli->verb, "--%s takes a number, not '%s'", option->name,
					   text);
	case CLI_WORDS:
		cli_words_add(member, text);
		return CLI_ANSWERED;
	case CLI_TAKE:
	case CLI_MAY_TAKE:
	case CLI_REST:
		break;
	}
	return option->take(query, text);
}

int cli_options_take(struct cli *cli, const struct cli_option *options, void *query, int *argc,
		     char ***argv)
{
	char **at = *argv + 1;
	int status = CLI_ANSWERED, n = *argc - 1;
	while (status == CLI_ANSWERED && strcmp(*at, "--") != 0) {
		struct option_word word = word_read(options, *at);
		if (value_follows(&word, 0, n, at)) {
			word.value = *++at;
			n--;
		}
		at++;
		n--;
		status = option_take(cli, word.option, word.is_common ? cli : query, word.value);
	}
	*argv = at + 1;
	*argc = n - 1;
	cli_fold_text(cli);
	return status;
}

/* ---- what was meant ---- */

enum { LONGEST_NAME = 32 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, change, or swap with a neighbour to make one of the other. */
static size_t word_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[3][LONGEST_NAME + 1]; /* of a's letters: two ago, last, this */
	for (size_t k = 0; k <= n_b; k++)
		row[1][k] = k;
	for (size_t i = 1; i <= n_a; i++) {
		row[2][0] = i;
		for (size_t k = 1; k <= n_b; k++) {
			size_t best = row[1][k - 1] + (a[i - 1] != b[k - 1]);
			best = smaller(best, smaller(row[1][k], row[2][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				best = smaller(best, row[0][k - 2] + 1);
			row[2][k] = best;
		}
		memcpy(row[0], row[1], sizeof row[0]);
		memcpy(row[1], row[2], sizeof row[0]);
	}
	return row[1][n_b];
}

const char *cli_nearest(const char *text, size_t len, const char *const *names, size_t n)
{
	const char *best = NULL;
	size_t least = len < 3 ? 1 : len < 8 ? 2 : 3;
	if (len < 2 || len > LONGEST_NAME)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t n_name = strlen(names[i]);
		if (n_name > LONGEST_NAME)
			continue;
		size_t far = n_name > len && memcmp(names[i], text, len) == 0
				     ? 1 /* the beginning of it */
				     : word_distance(text, len, names[i], n_name);
		if (far < len && (far < least || (far == least && !best))) {
			best = names[i];
			least = far;
		}
	}
	return best;
}
