/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA's environment variables ask for: the name of a dump, and what is left out of it. */
#include "base/base.h"

#include <time.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/write.h>

static uint32_t flag_of(const char *word, size_t len)
{
	for (uint32_t flag = 1; flag; flag <<= 1) {
		const char *known = ws_dump_flag_text(flag);
		if (known && strlen(known) == len && memcmp(known, word, len) == 0)
			return flag & (WS_WRITE_KNOWN_FLAGS | WS_WRITE_SKIP_ABORT);
	}
	return 0;
}

uint32_t ws_write_flags_parse(const char *text, struct ws_str *ret_unknown)
{
	uint32_t flags = 0;
	*ret_unknown = (struct ws_str){ 0 };
	for (const char *at = text; at && *at;) {
		size_t n = strcspn(at, ",");
		uint32_t flag = flag_of(at, n);
		if (n > 0 && !flag && !ret_unknown->len)
			*ret_unknown = (struct ws_str){ at, n };
		flags |= flag;
		at += n + (at[n] == ',');
	}
	return flags;
}

/* What a letter behind a % stands for: h the host, p the process, t the time. False: nothing. */
static bool pattern_word(char letter, int pid, char *ret_word, size_t size)
{
	ret_word[size - 1] = '\0';
	if (letter == 'h')
		return gethostname(ret_word, size - 1) == 0 ||
		       wsi_format_(ret_word, size, "localhost");
	if (letter == 'p')
		return wsi_format_(ret_word, size, "%d", pid);
	return letter == 't' && wsi_format_(ret_word, size, "%lld", (long long)time(NULL));
}

bool ws_write_name(const char *pattern, int pid, char *ret_path, size_t size)
{
	size_t len = 0;
	if (!pattern || !*pattern)
		pattern = "core_%t_%h_%p.nvcudmp";
	for (const char *at = pattern; *at; at++) {
		char word[256];
		if (*at == '%' && at[1] && pattern_word(at[1], pid, word, sizeof word))
			at++;
		else
			memcpy(word, (char[]){ *at, '\0' }, 2);
		size_t n = strlen(word);
		if (n >= size - len)
			return false;
		memcpy(ret_path + len, word, n + 1);
		len += n;
	}
	return true;
}
