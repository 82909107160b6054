/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that a compiler recorded in an image (ws_cubin_facts), word by word, and which of
 * them may be shown: they may name files, folders and people. Shown are those that
 * data/compiler-options.txt lists; a value only when it is one that the compiler defines.
 */
#ifndef WSI_CUBIN_OPTIONS_H
#define WSI_CUBIN_OPTIONS_H

#include "base/base.h"

struct wsi_options {
	struct ws_str rest; /* borrowed */
	bool last_shown;    /* the option whose value may follow */
};

static inline struct wsi_options wsi_options_of(struct ws_str text)
{
	return (struct wsi_options){ .rest = text };
}

/* Next word, which is not empty; false: no more. */
bool wsi_option_next(struct wsi_options *options, struct ws_str *ret_word, bool *ret_shown);

#endif
