/* SPDX-License-Identifier: Apache-2.0 */
/* Key words in a log, all in one pass: the bytes of a log are looked at once, mostly one in six. */
#include "log/internal.h"

enum {
	BEFORE = 512, /* bytes of a long line before a word that are looked at, too */
	LONGEST = 80, /* word */
};

static unsigned pair_at(const char *bytes)
{
	return (unsigned)(unsigned char)bytes[0] << 8 | (unsigned char)bytes[1];
}

static void log_word_add(struct wsi_log_words *words, enum wsi_log_word word, const char *text)
{
	const uint16_t index = ++words->n;
	assert(index < WSI_LOG_MOST_WORDS && strlen(text) >= WSI_LOG_SHORTEST &&
	       strlen(text) < LONGEST);
	const unsigned last = pair_at(text + WSI_LOG_SHORTEST - 2);
	words->item[index].text = text;
	words->item[index].len = strlen(text);
	words->item[index].word = word;
	words->item[index].next = words->bucket[last];
	words->bucket[last] = index;
	for (unsigned end = 2; end <= WSI_LOG_SHORTEST; end++) {
		uint8_t *skip = &words->skip[pair_at(text + end - 2)];
		const uint8_t distance = (uint8_t)(WSI_LOG_SHORTEST - end);
		*skip = *skip < distance ? *skip : distance;
	}
}

void wsi_log_words_init(struct wsi_log_words *words)
{
	static const char *const texts[] = {
#define X(name, word) word,
		WSI_LOG_WORD_LIST(X)
#undef X
	};
	memset(words->skip, WSI_LOG_SHORTEST - 1, sizeof words->skip);
	for (size_t i = 0; i < WSI_WORD_MESSAGE; i++)
		log_word_add(words, (enum wsi_log_word)i, texts[i]);
	const struct wsi_cuda_error *one;
	for (size_t i = 0; (one = wsi_log_cuda_error_at(i)); i++)
		if (one->is_distinct)
			log_word_add(words, WSI_WORD_MESSAGE, one->topic.title);
}

/* The next word that begins at `at` or later, in the bytes before `end`; its bit, and where. 0:
 * there is none. */
static uint64_t log_word_find(const struct wsi_log_words *words, struct ws_str bytes, size_t at,
			      size_t end, size_t *ret_at)
{
	size_t last = at + WSI_LOG_SHORTEST - 1; /* of the bytes that are looked at */
	while (last < end) {
		const unsigned pair = pair_at(bytes.ptr + last - 1);
		if (words->skip[pair]) {
			last += words->skip[pair];
			continue;
		}
		const size_t start = last + 1 - WSI_LOG_SHORTEST;
		for (uint16_t i = words->bucket[pair]; i; i = words->item[i].next) {
			const size_t len = words->item[i].len;
			if (len > end - start ||
			    memcmp(bytes.ptr + start, words->item[i].text, len) != 0)
				continue;
			*ret_at = start;
			return UINT64_C(1) << words->item[i].word;
		}
		last++;
	}
	return 0;
}

/* Whether a line ends at `at`; so do those within a text of JSON. */
static bool ends_at(struct ws_str bytes, size_t at)
{
	const char c = bytes.ptr[at];
	return c == '\n' || c == '\r' ||
	       (c == '\\' && at + 1 < bytes.len && bytes.ptr[at + 1] == 'n');
}

static void count_to(struct wsi_log_scan *scan, size_t end)
{
	uint64_t n = 0;
	for (size_t i = scan->counted; i < end; i++)
		n += scan->bytes.ptr[i] == '\n';
	scan->line_ends += n;
	scan->counted = wsi_max_u64(scan->counted, end);
}

/* The words of the piece that begins at `start` with a word at `at`, and where it ends: with its
 * line, or before a word that comes again, as one line may hold a whole log; true: neither. */
static bool piece_end(const struct wsi_log_scan *scan, size_t start, size_t at, uint64_t word,
		      uint64_t *ret_words, size_t *ret_end)
{
	const struct ws_str bytes = scan->bytes;
	const size_t limit = bytes.len - start > WSI_LOG_LINE ? start + WSI_LOG_LINE : bytes.len;
	size_t end = at;
	*ret_words = word;
	for (;;) {
		word = log_word_find(scan->words, bytes, at + 1, limit, &at);
		const size_t stop = word ? at : limit;
		while (end < stop && !ends_at(bytes, end))
			end++;
		*ret_end = end;
		if (end < stop || !word || (*ret_words & word))
			return !word && end == limit && limit < bytes.len;
		*ret_words |= word;
	}
}

bool wsi_log_scan_next(struct wsi_log_scan *scan, size_t until, struct wsi_log_piece *ret_piece)
{
	const struct ws_str bytes = scan->bytes;
	size_t at, start, end;
	uint64_t word = log_word_find(scan->words, bytes, scan->at, until, &at);
	if (!word && until == bytes.len) {
		count_to(scan, until);
		scan->at = until;
		return false;
	}
	if (!word) { /* one may be there that goes on */
		scan->at = wsi_max_u64(scan->at, until - wsi_min_u64(until, LONGEST));
		count_to(scan, scan->at - wsi_min_u64(scan->at, BEFORE));
		return false;
	}
	for (start = at; start > scan->floor && at - start < BEFORE && !ends_at(bytes, start - 1);)
		start--;
	const bool is_cut = piece_end(scan, start, at, word, &ret_piece->words, &end);
	count_to(scan, start);
	ret_piece->text = (struct ws_str){ bytes.ptr + start, end - start };
	ret_piece->line = scan->line_ends + 1;
	ret_piece->off = at;
	/* a word that the end of a piece cuts is found in the next one */
	scan->at = is_cut ? end - LONGEST : end;
	scan->floor = scan->at;
	return true;
}
