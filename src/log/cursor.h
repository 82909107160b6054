/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a line of a log apart from its start on. Each false: it is not there, and nothing has
 * changed. */
#ifndef WSI_LOG_CURSOR_H
#define WSI_LOG_CURSOR_H

#include "base/base.h"

/* Moves `text` behind the first `word` in it. */
bool wsi_behind(struct ws_str *text, const char *word);
/* Takes a number of at most 15 digits off the start of a text. */
bool wsi_take_number(struct ws_str *text, unsigned base, uint64_t *ret_number);
/* The number behind a word. */
bool wsi_log_number_behind(struct ws_str text, const char *word, unsigned base,
			   uint64_t *ret_number);
/* Takes a word off the start of a text. */
bool wsi_take_word(struct ws_str *text, const char *word);

static inline bool wsi_take_char(struct ws_str *text, char c)
{
	if (!text->len || *text->ptr != c)
		return false;
	*text = wsi_str_skip(*text, 1);
	return true;
}

#endif
