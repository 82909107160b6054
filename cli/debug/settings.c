/* SPDX-License-Identifier: Apache-2.0 */
/* set print, show print, and the same as options of a command: how values are printed. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const struct setting {
	const char *name;
	bool is_switch; /* else a number, 0 and "unlimited" of which are no limit */
	size_t at;
	uint32_t usual;
	const char *shown;
} settings[] = {
	{ "elements", false, offsetof(struct ws_value_style, elements), 200,
	  "Limit on string chars or array elements to print is" },
	{ "repeats", false, offsetof(struct ws_value_style, repeats), 10,
	  "Threshold for repeated print elements is" },
	{ "pretty", true, offsetof(struct ws_value_style, is_pretty), 0,
	  "Pretty formatting of structures is" },
};

static const struct setting *find(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (strlen(settings[i].name) == n && memcmp(settings[i].name, text, n) == 0)
			return &settings[i];
	return NULL;
}

static bool is_one_of(const char *text, size_t n, const char *const words[4])
{
	for (size_t i = 0; i < 4; i++)
		if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
			return true;
	return false;
}

/* False: `text` is no value for it. */
static bool take(struct ws_value_style *style, const struct setting *setting, const char *text,
		 size_t n)
{
	static const char *const on[] = { "on", "1", "yes", "enable" }, *const off[] = {
		"off", "0", "no", "disable"
	};
	void *at = (char *)style + setting->at;
	uint64_t number = 0;
	char digits[24] = "";
	if (setting->is_switch) {
		*(bool *)at = n == 0 || is_one_of(text, n, on);
		return *(bool *)at || is_one_of(text, n, off);
	}
	memcpy(digits, text, n < sizeof digits ? n : sizeof digits - 1);
	bool good = n == 0 || strcmp(digits, "unlimited") == 0 ||
		    (n < sizeof digits && cli_number(digits, &number));
	if (good)
		*(uint32_t *)at = look_most(number);
	return good;
}

bool debug_set_style(struct debugger *d, const char *text)
{
	size_t n = strcspn(text, " ");
	const struct setting *setting = find(text, n);
	const char *value = text + n + strspn(text + n, " ");
	if (setting && !take(&d->cli->style, setting, value, strcspn(value, " ")))
		cli_say(setting->is_switch ? "\"on\" or \"off\" expected.\n"
					   : "A number or \"unlimited\" is expected.\n");
	return setting != NULL;
}

bool debug_show_style(struct debugger *d, const char *text)
{
	const struct setting *setting = find(text, strcspn(text, " "));
	const void *at = (const char *)&d->cli->style + (setting ? setting->at : 0);
	if (!setting)
		return false;
	ws_out_printf(&d->cli->out, "%s ", setting->shown);
	uint32_t number = setting->is_switch ? 0 : *(const uint32_t *)at;
	if (setting->is_switch)
		ws_out_text(&d->cli->out, *(const bool *)at ? "on.\n" : "off.\n");
	else if (number == UINT32_MAX)
		ws_out_text(&d->cli->out, "unlimited.\n");
	else
		ws_out_printf(&d->cli->out, "%" PRIu32 ".\n", number ? number : setting->usual);
	return true;
}

const char *debug_style_options(struct debugger *d, const char *text,
				struct ws_value_style *ret_style)
{
	const char *end = strncmp(text, "-- ", 3) == 0 ? text : strstr(text, " -- ");
	const bool has = end == text || (*text == '-' && text[1] >= 'a' && text[1] <= 'z');
	*ret_style = d->cli->style;
	if (!has || !end)
		return text;
	while (text < end) {
		size_t n = strcspn(text, " ");
		const struct setting *setting = *text == '-' ? find(text + 1, n - 1) : NULL;
		text += n + strspn(text + n, " ");
		const bool has_value = text < end && *text != '-';
		n = has_value ? strcspn(text, " ") : 0;
		if (!setting || !take(ret_style, setting, text, n))
			debug_settings_note(d);
		text += n + strspn(text + n, " ");
	}
	text = end + strspn(end, " ") + 2;
	return text + strspn(text, " ");
}

void debug_settings_note(struct debugger *d)
{
	if (!d->settings_noted)
		cli_say("Settings like this one are accepted, and change nothing.\n");
	d->settings_noted = true;
}
