/* SPDX-License-Identifier: Apache-2.0 */
/* What commands make of their words. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *debug_behind(const char *text, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' '))
		return NULL;
	return text + n + strspn(text + n, " ");
}

/* Splits a line at its blanks, in place. Returns how many words were put into `words`. */
int debug_split(char *line, char *words[], int most)
{
	char *save;
	int n = 0;
	for (char *word = strtok_r(line, " \t", &save); word && n < most;
	     word = strtok_r(NULL, " \t", &save))
		words[n++] = word;
	return n;
}

/* Runs a verb over the target, which takes the place of its file. */
void debug_verb(struct debugger *d, const char *name, const char *text)
{
	char *line = cli_copy(text, strlen(text));
	char *words[DEBUG_MAX_WORDS] = { (char *)(uintptr_t)name,
					 d->dump ? d->dump : (char *)(uintptr_t) "device" };
	cli_verb(d->cli, 2 + debug_split(line, words + 2, DEBUG_MAX_WORDS - 3), words);
	free(line);
}

/* An address that a command is about. False with a word to the user. */
bool debug_number_in(struct debugger *d, const char *text, uint64_t *ret_address)
{
	struct ws_number value;
	const bool good = debug_number(d, text, &value);
	if (good)
		*ret_address = (uint64_t)value.whole;
	return good;
}

/* The pc of the thread in focus. */
bool debug_focus_pc(struct debugger *d, uint64_t *ret_pc)
{
	struct ws_error err;
	if (!debug_has_thread(d))
		return false;
	if (ws_debug_frame_pc(d->session, ret_pc, &err) != WS_OK) {
		cli_fail(NULL, &err);
		return false;
	}
	return true;
}
