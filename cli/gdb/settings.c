/* SPDX-License-Identifier: Apache-2.0 */
/* set, show and $_gdb_setting(): what can be chosen, and what is always so. */
#include "gdb/gdb.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind {
	SWITCH,  /* a bool */
	HIDDEN,  /* a bool that is true while the setting is off */
	COUNT,   /* a uint32_t: 0 is `usual`, UINT32_MAX no limit, which 0 asks for */
	LINES,   /* the same, but for 0 */
	ALWAYS,  /* `fixed` */
	WHICH,   /* enum ws_stack_arguments */
	RADIX,   /* a uint32_t, of numbers that are printed: 0 for 10, or 8, or 16 */
	PROGRAM, /* the arguments of the program */
};

enum whose { OF_CLI, OF_GDB };

/* `shown` is gdb's sentence, with the value in the place of its '*'. */
static const struct setting {
	const char *name;
	enum setting_kind kind;
	enum whose whose;
	size_t at;
	uint32_t usual;
	const char *fixed, *shown;
} settings[] = {
	{ "args", PROGRAM, OF_CLI, 0, 0, NULL,
	  "Argument list to give program being debugged when it is started is \"*\"." },
	{ "confirm", ALWAYS, OF_CLI, 0, 0, "off",
	  "Whether to confirm potentially dangerous operations is *." },
	{ "cuda api_failures", ALWAYS, OF_CLI, 0, 0, "ignore", "api_failures is set to '*'." },
	{ "cuda break_on_launch", ALWAYS, OF_CLI, 0, 0, "none",
	  "Break on every kernel launch is set to '*'." },
	{ "cuda coalescing", HIDDEN, OF_CLI, offsetof(struct cli, each_alone), 0, NULL,
	  "Coalescing of the CUDA commands output is *." },
	{ "cuda context_events", ALWAYS, OF_CLI, 0, 0, "off", "Show CUDA context events is *." },
	{ "cuda disassemble_from", ALWAYS, OF_CLI, 0, 0, "elf_image",
	  "CUDA code is disassembled from *." },
	{ "cuda disassemble_per", ALWAYS, OF_CLI, 0, 0, "function",
	  "CUDA code is disassembled per *." },
	{ "cuda hide_internal_frame", ALWAYS, OF_CLI, 0, 0, "on",
	  "Hiding of CUDA internal frames is *." },
	{ "cuda kernel_events", ALWAYS, OF_CLI, 0, 0, "none",
	  "Show CUDA kernel events is set to '*'." },
	{ "cuda value_extrapolation", ALWAYS, OF_CLI, 0, 0, "off",
	  "CUDA value extrapolation is *." },
	{ "height", COUNT, OF_GDB, offsetof(struct gdb, settings.height), 0, NULL,
	  "Number of lines gdb thinks are in a page is *." },
	{ "language", ALWAYS, OF_CLI, 0, 0, "auto; currently c++",
	  "The current source language is \"*\"." },
	{ "listsize", LINES, OF_GDB, offsetof(struct gdb, settings.listsize), 10, NULL,
	  "Number of source lines gdb will list by default is *." },
	{ "output-radix", RADIX, OF_CLI, offsetof(struct cli, style.radix), 0, NULL,
	  "Default output radix for printing of values is *." },
	{ "pagination", HIDDEN, OF_GDB, offsetof(struct gdb, settings.no_paging), 0, NULL,
	  "State of pagination is *." },
	{ "print address", ALWAYS, OF_CLI, 0, 0, "on", "Printing of addresses is *." },
	{ "print array", ALWAYS, OF_CLI, 0, 0, "off", "Pretty formatting of arrays is *." },
	{ "print array-indexes", SWITCH, OF_CLI, offsetof(struct cli, style.has_indexes), 0, NULL,
	  "Printing of array indexes is *." },
	{ "print demangle", ALWAYS, OF_CLI, 0, 0, "on",
	  "Demangling of encoded C++/ObjC names when displaying symbols is *." },
	{ "print elements", COUNT, OF_CLI, offsetof(struct cli, style.elements), 200, NULL,
	  "Limit on string chars or array elements to print is *." },
	{ "print frame-arguments", WHICH, OF_CLI, offsetof(struct cli, frame_arguments), 0, NULL,
	  "Printing of non-scalar frame arguments is \"*\"." },
	{ "print pretty", SWITCH, OF_CLI, offsetof(struct cli, style.is_pretty), 0, NULL,
	  "Pretty formatting of structures is *." },
	{ "print repeats", COUNT, OF_CLI, offsetof(struct cli, style.repeats), 10, NULL,
	  "Threshold for repeated print elements is *." },
	{ "print static-members", ALWAYS, OF_CLI, 0, 0, "off",
	  "Printing of C++ static members is *." },
	{ "print union", ALWAYS, OF_CLI, 0, 0, "on",
	  "Printing of unions interior to structures is *." },
	{ "width", ALWAYS, OF_CLI, 0, 0, "unlimited",
	  "Number of characters gdb thinks are in a line is *." },
};

enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static void *place_of(struct gdb *gdb, const struct setting *setting)
{
	return (setting->whose == OF_CLI ? (char *)gdb->cli : (char *)gdb) + setting->at;
}

/* The setting that a text begins with; what is behind its name. */
static const struct setting *setting_find(const char *text, const char **ret_rest)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const char *rest = gdb_behind(text, settings[i].name);
		if (!rest)
			continue;
		*ret_rest = rest;
		return &settings[i];
	}
	return NULL;
}

/* ---- set ---- */

static bool is_word_one_of(const char *text, size_t n, const char *const words[4])
{
	for (size_t i = 0; i < 4; i++)
		if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
			return true;
	return false;
}

/* False: `text` is no value for it. */
static bool setting_take(void *at, const struct setting *setting, const char *text, size_t n)
{
	static const char *const on[] = { "on", "1", "yes", "enable" }, *const off[] = {
		"off", "0", "no", "disable"
	};
	uint64_t number = 0;
	char digits[24] = "";
	memcpy(digits, text, n < sizeof digits ? n : sizeof digits - 1);
	if (setting->kind == WHICH)
		return cli_frame_arguments_find(digits, at);
	if (setting->kind == RADIX) {
		const bool is_radix = cli_number(digits, &number) &&
				      (number == 8 || number == 10 || number == 16);
		if (is_radix)
			*(uint32_t *)at = number == 10 ? 0 : (uint32_t)number;
		return is_radix;
	}
	if (setting->kind == SWITCH || setting->kind == HIDDEN) {
		const bool is_on = n == 0 || is_word_one_of(text, n, on);
		*(bool *)at = is_on == (setting->kind == SWITCH);
		return is_on || is_word_one_of(text, n, off);
	}
	bool good = n == 0 || strcmp(digits, "unlimited") == 0 ||
		    (n < sizeof digits && cli_number(digits, &number) &&
		     (number > 0 || setting->kind == COUNT));
	if (good)
		*(uint32_t *)at = cli_most(number);
	return good;
}

static void say_wrong(const struct setting *setting, const char *value)
{
	if (setting->kind == WHICH)
		cli_say("Undefined item: \"%s\".\n", value);
	else if (setting->kind == RADIX)
		cli_say("Unsupported output radix '%s'; output radix unchanged.\n", value);
	else
		cli_say(setting->kind == SWITCH || setting->kind == HIDDEN
				? "\"on\" or \"off\" expected.\n"
				: "A number or \"unlimited\" is expected.\n");
}

bool gdb_set_setting(struct gdb *gdb, const char *text)
{
	const char *value;
	const struct setting *setting = setting_find(text, &value);
	if (!setting || setting->kind == ALWAYS || setting->kind == PROGRAM)
		return false;
	if (!setting_take(place_of(gdb, setting), setting, value, strcspn(value, " ")))
		say_wrong(setting, value);
	return true;
}

void gdb_with(struct gdb *gdb, const char *text)
{
	const char *end = strstr(text, " -- "), *value;
	char *chosen = cli_copy(text, end ? (size_t)(end - text) : strlen(text));
	const struct setting *setting = setting_find(chosen, &value);
	const bool is_set = setting && setting->kind != ALWAYS && setting->kind != PROGRAM;
	uint32_t word = 0;
	bool on = false;
	void *at = is_set ? place_of(gdb, setting) : NULL;
	const bool is_switch = is_set && (setting->kind == SWITCH || setting->kind == HIDDEN);
	if (is_set && is_switch)
		on = *(bool *)at;
	else if (is_set)
		memcpy(&word, at, sizeof word);
	if (!end)
		cli_say("with SETTING [VALUE] -- COMMAND is expected.\n");
	else if (!gdb_set_setting(gdb, chosen))
		gdb_settings_note(gdb);
	if (end)
		gdb_execute(gdb, end + 4, false);
	if (is_set && is_switch)
		*(bool *)at = on;
	else if (is_set)
		memcpy(at, &word, sizeof word);
	free(chosen);
}

const char *gdb_style_options(struct gdb *gdb, const char *text, struct ws_value_style *ret_style)
{
	const char *end = strncmp(text, "-- ", 3) == 0 ? text : strstr(text, " -- "), *rest;
	const bool has = end == text || (*text == '-' && text[1] >= 'a' && text[1] <= 'z');
	struct cli asked = { .style = gdb->cli->style };
	*ret_style = asked.style;
	if (!has || !end)
		return text;
	while (text < end) {
		size_t n = strcspn(text, " ");
		char name[40];
		snprintf(name, sizeof name, "print %.*s", (int)(n ? n - 1 : 0), text + 1);
		const struct setting *setting = *text == '-' ? setting_find(name, &rest) : NULL;
		const bool is_style =
			setting && (setting->kind == SWITCH || setting->kind == COUNT);
		text += n + strspn(text + n, " ");
		const bool has_value = text < end && *text != '-';
		n = has_value ? strcspn(text, " ") : 0;
		if (!is_style || !setting_take((char *)&asked + setting->at, setting, text, n))
			gdb_settings_note(gdb);
		text += n + strspn(text + n, " ");
	}
	*ret_style = asked.style;
	text = end + strspn(end, " ") + 2;
	return text + strspn(text, " ");
}

void gdb_settings_note(struct gdb *gdb)
{
	if (!gdb->settings.noted)
		cli_note("Settings like this one are accepted, and change nothing.\n");
	gdb->settings.noted = true;
}

/* ---- show ---- */

enum { MAX_VALUE = 400 };

static void setting_count_text(struct gdb *gdb, const struct setting *setting, char text[MAX_VALUE])
{
	uint32_t number = *(const uint32_t *)place_of(gdb, setting);
	const bool is_page = setting->usual == 0;
	number = number ? number : is_page ? gdb_pager_rows() : setting->usual;
	if (number == UINT32_MAX || number == 0)
		snprintf(text, MAX_VALUE, "unlimited");
	else
		snprintf(text, MAX_VALUE, "%" PRIu32, number);
}

static void setting_value_text(struct gdb *gdb, const struct setting *setting, char text[MAX_VALUE])
{
	size_t n = 0;
	text[0] = '\0';
	switch (setting->kind) {
	case SWITCH:
	case HIDDEN:
		snprintf(text, MAX_VALUE, "%s",
			 *(const bool *)place_of(gdb, setting) == (setting->kind == SWITCH)
				 ? "on"
				 : "off");
		break;
	case COUNT:
	case LINES:
		setting_count_text(gdb, setting, text);
		break;
	case WHICH:
		snprintf(text, MAX_VALUE, "%s",
			 cli_frame_arguments_word(
				 *(const enum ws_stack_arguments *)place_of(gdb, setting)));
		break;
	case RADIX:
		n = *(const uint32_t *)place_of(gdb, setting);
		snprintf(text, MAX_VALUE, "%zu", n ? n : 10);
		break;
	case ALWAYS:
		snprintf(text, MAX_VALUE, "%s", setting->fixed);
		break;
	case PROGRAM:
		for (char *const *word = gdb->settings.program ? gdb->settings.program + 1 : NULL;
		     word && gdb->settings.program[0] && *word && n < MAX_VALUE - 1; word++) {
			snprintf(text + n, MAX_VALUE - n, "%s%s", n ? " " : "", *word);
			n += strlen(text + n);
		}
		break;
	}
}

static void show_setting(struct gdb *gdb, const struct setting *setting)
{
	struct ws_out *out = &gdb->cli->out;
	char text[MAX_VALUE];
	const char *star = strchr(setting->shown, '*');
	setting_value_text(gdb, setting, text);
	ws_out_printf(out, "%.*s", (int)(star - setting->shown), setting->shown);
	ws_out_escaped(out, ws_str_of(text));
	ws_out_printf(out, "%s\n", star + 1);
}

bool gdb_show_setting(struct gdb *gdb, const char *text)
{
	const size_t n = strlen(text);
	const char *rest;
	const struct setting *only = setting_find(text, &rest);
	bool any = only != NULL;
	if (only)
		show_setting(gdb, only);
	for (size_t i = 0; i < N_SETTINGS && !only; i++) {
		const char *name = settings[i].name;
		if (n && (strncmp(name, text, n) != 0 || name[n] != ' '))
			continue;
		ws_out_printf(&gdb->cli->out, "%s:  ", name);
		show_setting(gdb, &settings[i]);
		any = true;
	}
	return any;
}

bool gdb_setting_value(struct gdb *gdb, struct ws_str name, struct ws_str setting,
		       struct ws_value *ret_value)
{
	char asked[60], text[MAX_VALUE];
	const char *rest;
	uint64_t number;
	const bool as_text = ws_str_equal(name, ws_str_of("_gdb_setting_str"));
	if (setting.len >= sizeof asked ||
	    !(as_text || ws_str_equal(name, ws_str_of("_gdb_setting"))))
		return false;
	snprintf(asked, sizeof asked, "%.*s", (int)setting.len, setting.ptr);
	const struct setting *found = setting_find(asked, &rest);
	if (!found || *rest)
		return false;
	setting_value_text(gdb, found, text);
	const bool is_on = strcmp(text, "on") == 0;
	if (!as_text && (is_on || strcmp(text, "off") == 0))
		*ret_value = ws_value_int(is_on);
	else if (!as_text && strcmp(text, "unlimited") == 0)
		*ret_value = ws_value_int(0); /* as gdb has it */
	else if (!as_text && cli_number(text, &number))
		*ret_value = ws_value_int((int64_t)number);
	else
		*ret_value = ws_value_text(ws_str_of(text));
	return true;
}
