/* SPDX-License-Identifier: Apache-2.0 */
/* What commands make of their words. */
#include "gdb/gdb.h"

#include <string.h>

const char *gdb_behind(const char *text, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' '))
		return NULL;
	return text + n + strspn(text + n, " ");
}

int gdb_split(char *line, char *words[], int most)
{
	char *save;
	int n = 0;
	for (char *word = strtok_r(line, " \t", &save); word && n < most;
	     word = strtok_r(NULL, " \t", &save))
		words[n++] = word;
	return n;
}
