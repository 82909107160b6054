/* SPDX-License-Identifier: Apache-2.0 */
#include "write/paths.h"

static const char *const rules[] = {
#include "library_folders.inc"
};

static const char *const source_endings[] = {
	".c",   ".cc",  ".cpp", ".cu",  ".cubin", ".cuh", ".cxx", ".h",   ".hh",
	".hpp", ".hxx", ".inc", ".inl", ".ipp",   ".ptx", ".py",  ".tcc",
};

enum { MIN_PATH = 6 }; /* fewer bytes among unknown ones may well be something else */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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

static bool is_source_name(const char *name, size_t len)
{
	for (size_t i = 0; i < WSI_COUNT(source_endings); i++) {
		size_t n = strlen(source_endings[i]);
		if (len > n && memcmp(name + len - n, source_endings[i], n) == 0)
			return true;
	}
	return false;
}

bool wsi_path_scrub(char *path, size_t len, bool has_file)
{
	bool changed = false;
	for (size_t at = 0; at < len;) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t n = slash ? (size_t)(slash - path) - at : len - at;
		bool stays = is_library_name(path + at, n) ||
			     (!slash && (has_file || is_source_name(path + at, n)));
		for (size_t i = at; i < at + n && !stays; i++) {
			changed = changed || (is_alnum(path[i]) && path[i] != 'x');
			path[i] = is_alnum(path[i]) ? 'x' : path[i];
		}
		at += n + 1;
	}
	return changed;
}

static bool may_be_in_path(uint8_t c)
{
	return is_alnum((char)c) || (c && strchr("/._-+@~", c));
}

uint64_t wsi_paths_scrub(uint8_t *bytes, size_t len)
{
	uint64_t n_paths = 0;
	for (size_t at = 0; at < len;) {
		size_t end = at;
		while (end < len && may_be_in_path(bytes[end]))
			end++;
		if (end - at >= MIN_PATH && memchr(bytes + at, '/', end - at))
			n_paths += wsi_path_scrub((char *)bytes + at, end - at, false);
		at = end + 1;
	}
	return n_paths;
}
