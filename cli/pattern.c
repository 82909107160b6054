/* SPDX-License-Identifier: Apache-2.0 */
#include "pattern.h"

#include <string.h>

#include "cli.h"

enum { MAX_PATTERN = 200 /* regcomp() takes time and stack by its length */ };

bool pattern_init(struct pattern *pattern, const char *text)
{
	char wrong[120];
	pattern->text = text;
	pattern->some = false;
	if (!*text)
		return true;
	if (strlen(text) > MAX_PATTERN) {
		cli_say("A regular expression has %d bytes at most.\n", MAX_PATTERN);
		return false;
	}
	int failed = regcomp(&pattern->regex, text, REG_NOSUB);
	if (failed) {
		regerror(failed, &pattern->regex, wrong, sizeof wrong);
		cli_say("'%s' is not a regular expression: %s.\n", text, wrong);
	}
	pattern->some = failed == 0;
	return pattern->some;
}

void pattern_fini(struct pattern *pattern)
{
	if (pattern->some)
		regfree(&pattern->regex);
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
	return !pattern->some || regexec(&pattern->regex, name, 0, NULL, 0) == 0;
}
