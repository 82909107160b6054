/* SPDX-License-Identifier: Apache-2.0 */
/* What the word that is being typed may become. */
#include "names.h"
#include "prompt/prompt.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 1000 };

static void complete_word(struct gdb_lines *words, const char *prefix, const char *word)
{
	if (!*word || strncmp(word, prefix, strlen(prefix)) != 0)
		return;
	cli_grow(&words->item, &words->cap, words->n, sizeof *words->item);
	words->item[words->n++] = cli_copy(word, strlen(word));
}

static void add_list(struct gdb_lines *words, const char *prefix, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		complete_word(words, prefix, list[i]);
}

void debug_words_add(struct gdb_lines *words, const char *word)
{
	complete_word(words, "", word);
}

static int by_letters(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Into the order of the letters, each once. */
static void words_sort(struct gdb_lines *words)
{
	size_t kept = 0;
	if (words->n > 1)
		qsort(words->item, words->n, sizeof *words->item, by_letters);
	for (size_t i = 0; i < words->n; i++) {
		if (kept > 0 && strcmp(words->item[kept - 1], words->item[i]) == 0)
			free(words->item[i]);
		else
			words->item[kept++] = words->item[i];
	}
	words->n = kept;
}

void debug_words_of_images(struct debugger *d, struct gdb_lines *words, debug_take_fn *take)
{
	struct ws_cubin_set *set;
	struct ws_cubin *cubin;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++)
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) == WS_OK)
			take(cubin, words);
	words_sort(words);
}

static void take_functions(struct ws_cubin *cubin, struct gdb_lines *words)
{
	const struct ws_function *functions;
	size_t n;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		char *name = name_copy(functions[i].name, NAME_SHORT);
		debug_words_add(words, name);
		free(name);
	}
}

const struct gdb_lines *debug_names(struct debugger *d)
{
	if (d->names.n == 0)
		debug_words_of_images(d, &d->names, take_functions);
	return &d->names;
}

static void add_names(struct debugger *d, struct gdb_lines *words, const char *prefix)
{
	(void)debug_names(d);
	size_t low = 0, high = d->names.n, len = strlen(prefix);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(d->names.item[middle], prefix) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < d->names.n && words->n < MAX_WORDS &&
	       strncmp(d->names.item[low], prefix, len) == 0;
	     low++)
		complete_word(words, prefix, d->names.item[low]);
}

static bool begins(const char *line, const char *words)
{
	size_t n = strlen(words);
	return strncmp(line, words, n) == 0 && line[n] == ' ';
}

void debug_complete(void *debugger, const char *line, struct gdb_lines *ret_words)
{
	struct debugger *d = debugger;
#define X(name, ...) #name,
	static const char *const coordinates[] = { WS_FILTER_WORD_LIST(X) };
#undef X
	*ret_words = (struct gdb_lines){ 0 };
	line += strspn(line, " \t");
	const char *last = strrchr(line, ' ');
	const char *prefix = last ? last + 1 : line;
	const char *table = begins(line, "info cuda") ? line + 10 : line + 5;
	if (!last) {
		for (size_t i = 0; gdb_command_name(&d->gdb, i); i++)
			complete_word(ret_words, prefix, gdb_command_name(&d->gdb, i));
	} else if (begins(line, "info") && !strchr(table, ' ')) {
		for (size_t i = 0; ws_info_table_name(i); i++) {
			/* launch_trace is two words there */
			const char *name = ws_info_table_name(i);
			char *first = cli_copy(name, strcspn(name, "_"));
			complete_word(ret_words, prefix, first);
			free(first);
		}
		for (size_t i = 0; !begins(line, "info cuda") && debug_info_name(i); i++)
			complete_word(ret_words, prefix, debug_info_name(i));
	} else if (begins(line, "info")) {
		add_list(ret_words, prefix, coordinates,
			 sizeof coordinates / sizeof coordinates[0]);
	} else if (begins(line, "cuda") || begins(line, "focus")) {
		add_list(ret_words, prefix, coordinates,
			 sizeof coordinates / sizeof coordinates[0]);
	} else {
		add_names(d, ret_words, prefix);
	}
	words_sort(ret_words);
}
