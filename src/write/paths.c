/* SPDX-License-Identifier: Apache-2.0 */
#include "write/paths.h"

static const char *const rules[] = {
#include "library_folders.inc"
};

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* One folder's name against one of a rule: the same, or up to its "*" and then a version number. */
static bool is_rule_name(const char *name, size_t len, const char *pattern, size_t pattern_len)
{
	const char *star = memchr(pattern, '*', pattern_len);
	size_t fixed = star ? (size_t)(star - pattern) : pattern_len;
	if (fixed == 0 || len < fixed || memcmp(name, pattern, fixed) != 0 ||
	    (!star && len > fixed))
		return false;
	for (size_t i = fixed; i < len; i++) {
		if (name[i] != '.' && (name[i] < '0' || name[i] > '9'))
			return false;
	}
	return true;
}

static bool is_library_name(const char *name, size_t len)
{
	for (size_t i = 0; i < WSI_COUNT(rules); i++) {
		for (const char *rule = rules[i]; *rule;) {
			size_t n = strcspn(rule, "/");
			if (is_rule_name(name, len, rule, n))
				return true;
			rule += n + (rule[n] == '/');
		}
	}
	return false;
}

bool wsi_path_scrub(char *path, size_t len, bool has_file)
{
	bool changed = false;
	for (size_t at = 0; at < len;) {
		size_t n = 0;
		while (at + n < len && !is_separator(path[at + n]))
			n++;
		bool last = at + n == len;
		bool stays = is_library_name(path + at, n) || (last && has_file);
		for (size_t i = at; i < at + n && !stays; i++) {
			changed = changed || path[i] != 'x';
			path[i] = 'x';
		}
		at += n + 1;
	}
	return changed;
}
