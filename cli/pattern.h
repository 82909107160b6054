/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of the user, for names. */
#ifndef WARPSCOPE_CLI_PATTERN_H
#define WARPSCOPE_CLI_PATTERN_H

#include <regex.h>
#include <stdbool.h>

struct pattern {
	const char *text; /* borrowed */
	bool some;        /* else it is empty, and matches all */
	regex_t regex;
};

/* False with a word to the user, and nothing to free. */
bool pattern_init(struct pattern *pattern, const char *text);
void pattern_fini(struct pattern *pattern);
bool pattern_matches(const struct pattern *pattern, const char *name);

#endif
