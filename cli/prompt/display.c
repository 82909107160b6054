/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed at each stop. */
#include "prompt/prompt.h"

#include <stdlib.h>
#include <string.h>

/* What a text is about, behind its format, which is `*ret_n` long. */
static const char *expression_of(const char *text, size_t *ret_n)
{
	*ret_n = *text == '/' ? strcspn(text, " ") : 0;
	return text + *ret_n + strspn(text + *ret_n, " ");
}

/* "/x $R3" as gdb shows it; /i and /s are of memory, as x has them. Nothing where the expression
 * means nothing, as in another function. */
static void show_display(struct debugger *d, const struct debug_display *one)
{
	struct ws_out *out = &d->cli->out;
	struct ws_value value;
	size_t n;
	const char *expression = expression_of(one->text, &n);
	if (!debug_peek(d, expression, &value, NULL))
		return;
	ws_out_printf(out, "%u: ", one->number);
	if (n)
		ws_out_escaped(out, (struct ws_str){ one->text, n });
	ws_out_text(out, n ? " " : "");
	ws_out_escaped(out, ws_str_of(expression));
	bool memory = n && (memchr(one->text, 'i', n) || memchr(one->text, 's', n) ||
			    strcspn(one->text, "0123456789bhwg") < n);
	ws_out_text(out, memory ? "\n" : " = ");
	if (memory) {
		debug_examine(d, one->text);
		return;
	}
	debug_output(d, one->text);
	ws_out_text(out, "\n");
}

void debug_display_all(struct debugger *d)
{
	for (size_t i = 0; i < d->n_displays; i++)
		if (d->displays[i].text && !d->displays[i].disabled)
			show_display(d, &d->displays[i]);
}

void debug_display(struct debugger *d, const char *text)
{
	if (!*text) {
		debug_display_all(d);
		return;
	}
	struct ws_value value;
	size_t n;
	if (ws_debug_focus(d->session) && !debug_value(d, expression_of(text, &n), &value))
		return;
	cli_grow(&d->displays, &d->cap_displays, d->n_displays, sizeof *d->displays);
	struct debug_display *one = &d->displays[d->n_displays++];
	*one = (struct debug_display){ .number = ++d->last_display,
				       .text = cli_copy(text, strlen(text)) };
	if (ws_debug_focus(d->session))
		show_display(d, one);
}

/* The first display whose number is not lower; they are in the order of these. */
static size_t first_from(const struct debugger *d, unsigned long number)
{
	size_t low = 0, n = d->n_displays;
	while (n > 0) {
		const size_t half = n / 2;
		const bool below = d->displays[low + half].number < number;
		low += below ? half + 1 : 0;
		n = below ? n - half - 1 : half;
	}
	return low;
}

static void display_change(struct debugger *d, struct debug_display *one, int how)
{
	one->disabled = how == DEBUG_DISABLE;
	if (how != DEBUG_DELETE)
		return;
	d->n_dropped += one->text != NULL;
	free(one->text);
	one->text = NULL;
}

/* Those that are dropped stay in the list until they are half of it. */
static void close_gaps(struct debugger *d)
{
	size_t kept = 0;
	if (2 * d->n_dropped < d->n_displays)
		return;
	for (size_t i = 0; i < d->n_displays; i++)
		if (d->displays[i].text)
			d->displays[kept++] = d->displays[i];
	d->n_displays = kept;
	d->n_dropped = 0;
}

void debug_displays_change(struct debugger *d, const char *text, int how)
{
	char *end;
	for (size_t i = 0; !*text && i < d->n_displays; i++)
		display_change(d, &d->displays[i], how);
	for (; *text; text = end + strspn(end, " ,")) {
		unsigned long first = strtoul(text, &end, 10), last = first;
		if (end == text)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (size_t i = first_from(d, first);
		     i < d->n_displays && d->displays[i].number <= last; i++)
			display_change(d, &d->displays[i], how);
	}
	close_gaps(d);
}

bool debug_display_list(struct debugger *d, const char *text)
{
	(void)text;
	struct ws_out *out = &d->cli->out;
	ws_out_text(out, d->n_displays > d->n_dropped
				 ? "Auto-display expressions now in effect:\n"
				   "Num Enb Expression\n"
				 : "There are no auto-display expressions now.\n");
	for (size_t i = 0; i < d->n_displays; i++) {
		const struct debug_display *one = &d->displays[i];
		if (!one->text)
			continue;
		ws_out_printf(out, "%u:   %c  ", one->number, one->disabled ? 'n' : 'y');
		ws_out_escaped(out, ws_str_of(one->text));
		ws_out_text(out, "\n");
	}
	return true;
}

void debug_display_fini(struct debugger *d)
{
	debug_displays_change(d, "", DEBUG_DELETE);
	free(d->displays);
}
