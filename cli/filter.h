/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coordinates of a thread, and cuda-gdb's filters over them: "device 0 sm 3 warp any", "kernel 1
 * block (1,0,0) thread 32".
 *
 * A word limits the rows to one number, or to any ("any", "all", "*"); "current" stands for the
 * focus, with what it counts within: "warp current" is the focus's warp, of its SM and device,
 * unless the filter has other words for those. Of a triple the components that are not given match
 * anything [measured: cuda-gdb 12.4, `info cuda lanes thread 3`]. A table has a default filter; any
 * word at all replaces the whole of it [measured: same, `info cuda warps kernel 0`].
 */
#ifndef WARPSCOPE_CLI_FILTER_H
#define WARPSCOPE_CLI_FILTER_H

#include <warpscope/base.h>

/* Every word, and how many numbers it takes. */
#define FILTER_WORD_LIST(X) \
	X(device, 1)        \
	X(sm, 1)            \
	X(warp, 1) X(lane, 1) X(kernel, 1) X(grid, 1) X(cluster, 3) X(block, 3) X(thread, 3)

enum filter_word {
#define X(name, n) FILTER_##name,
	FILTER_WORD_LIST(X)
#undef X
		FILTER_N_WORDS
};

/* A thread by all its numbers, in the order of the words; triples as x, y, z. */
struct coords {
	bool known[FILTER_N_WORDS]; /* the numbers mean something */
	int64_t number[FILTER_N_WORDS][3];
};

struct filter {
	bool nothing; /* "current" of something that the focus lacks: no row matches */
	struct {
		bool limited[3];
		int64_t number[3];
	} word[FILTER_N_WORDS];
};

/*
 * Reads the words of `argv`. `focus` may be NULL. False with a pointer to what is wrong, the first
 * word that could not be read, in `*ret_bad`.
 */
bool filter_parse(struct filter *filter, const struct coords *focus, int argc, char *const *argv,
		  const char **ret_bad);

/* Whether a text is one of the words, with which a filter begins. */
bool filter_is_word(const char *text);
/* Limits one word to the focus. */
void filter_current(struct filter *filter, const struct coords *focus, enum filter_word word);

/* Whether the numbers of one word match. */
bool filter_number(const struct filter *filter, enum filter_word word, int64_t number);
bool filter_dim3(const struct filter *filter, enum filter_word word, struct ws_dim3 dim);
/* Whether a word limits anything. */
bool filter_limits(const struct filter *filter, enum filter_word word);

#endif
