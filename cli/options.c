/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the command line. getopt_long() takes any prefix of a name, complains in its own words
 * and, with POSIXLY_CORRECT, stops at the first operand. So a command line is checked and sorted
 * first: whole names only, options in front, "--", operands.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const struct option *name_find(const struct cli_options *options, const char *text,
				      size_t len)
{
	for (const struct option *o = options->names; o->name; o++) {
		if (strlen(o->name) == len && memcmp(o->name, text, len) == 0)
			return o;
	}
	return NULL;
}

/* What one word of the command line is. */
struct word {
	bool option, known;
	bool takes_value; /* an option that needs one */
	bool may_take;    /* an option that may have one */
	bool has_value;   /* the word has one: --name=value, -ovalue */
};

static struct word word_read(const struct cli_options *options, const char *text)
{
	struct word word = { 0 };
	if (text[0] != '-' || text[1] == '\0' || (text[1] >= '0' && text[1] <= '9'))
		return word; /* "-" is standard input, -1 a number */
	word.option = true;
	if (text[1] == '-') {
		size_t len = strcspn(text + 2, "=");
		const struct option *o = name_find(options, text + 2, len);
		word.known = o != NULL;
		word.takes_value = o && o->has_arg == required_argument;
		word.may_take = o && o->has_arg == optional_argument;
		word.has_value = text[2 + len] != '\0';
		return word;
	}
	const char *letter = text[1] == ':' ? NULL : strchr(options->letters, text[1]);
	word.known = letter != NULL;
	word.takes_value = letter && letter[1] == ':';
	word.has_value = text[2] != '\0';
	return word;
}

bool cli_is_optional(const char *text)
{
	uint64_t number;
	return strcmp(text, "current") == 0 || cli_number(text, &number);
}

/* Whether the value of an option is the next word. */
static bool value_follows(const struct word *word, int i, int argc, char **argv)
{
	if (word->has_value)
		return false;
	return word->takes_value ||
	       (word->may_take && i + 1 < argc && cli_is_optional(argv[i + 1]));
}

int cli_operand(const struct cli_options *options, int argc, char **argv, int n)
{
	bool all = false; /* after "--" */
	for (int i = 1; i < argc; i++) {
		struct word word = all ? (struct word){ 0 } : word_read(options, argv[i]);
		if (!all && strcmp(argv[i], "--") == 0)
			all = true;
		else if (!word.option && n-- == 0)
			return i;
		else if (value_follows(&word, i, argc, argv))
			i++;
	}
	return argc;
}

static int unknown_option(const char *verb, const struct cli_options *options, const char *text)
{
	const char *names[64];
	size_t n = 0;
	for (const struct option *o = options->names; o->name && n < sizeof names / sizeof names[0];
	     o++)
		names[n++] = o->name;
	size_t dashes = strspn(text, "-");
	int len = (int)strcspn(text, "=");
	const char *near = cli_nearest(text + dashes, (size_t)len - dashes, names, n);
	return cli_usage(verb, "unknown option %.*s%s%s%s", len, text,
			 near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "");
}

int cli_options_sort(const char *verb, const struct cli_options *options, int argc, char **argv,
		     char **sorted)
{
	int n = 0, n_operands = 0;
	bool all = false;
	char **operands = cli_alloc((size_t)argc, sizeof *operands);
	int status = CLI_ANSWERED;
	sorted[n++] = argv[0];
	for (int i = 1; i < argc && status == CLI_ANSWERED; i++) {
		struct word word = all ? (struct word){ 0 } : word_read(options, argv[i]);
		if (!all && strcmp(argv[i], "--") == 0) {
			all = true;
		} else if (!word.option) {
			operands[n_operands++] = argv[i];
		} else if (!word.known) {
			status = unknown_option(verb, options, argv[i]);
		} else if (!word.takes_value && !word.may_take && word.has_value) {
			status = cli_usage(verb, "%.*s takes no value", (int)strcspn(argv[i], "="),
					   argv[i]);
		} else if (word.takes_value && !word.has_value && i + 1 == argc) {
			status = cli_usage(verb, "%s needs a value", argv[i]);
		} else {
			sorted[n++] = argv[i];
			if (value_follows(&word, i, argc, argv))
				sorted[n++] = argv[++i];
		}
	}
	sorted[n++] = "--";
	for (int i = 0; i < n_operands; i++)
		sorted[n++] = operands[i];
	free(operands);
	return status;
}

int cli_option(const struct cli_options *options, int argc, char **argv)
{
	return getopt_long(argc, argv, options->letters, options->names, NULL);
}

/* ---- what was meant ---- */

enum { LONGEST_NAME = 32 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, change, or swap with a neighbour to make one of the other. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
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
				     : distance(text, len, names[i], n_name);
		if (far < len && (far < least || (far == least && !best))) {
			best = names[i];
			least = far;
		}
	}
	return best;
}
