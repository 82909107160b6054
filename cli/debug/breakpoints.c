/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints by number, as the user knows them. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct breakpoint *debug_breakpoint_at(const struct debugger *d, uint64_t number)
{
	size_t low = 0, n = d->n_breakpoints; /* they are in the order of their numbers */
	while (n > 0) {
		const size_t half = n / 2;
		const bool below = d->breakpoints[low + half].number < number;
		low += below ? half + 1 : 0;
		n = below ? n - half - 1 : half;
	}
	struct breakpoint *one = low < d->n_breakpoints ? &d->breakpoints[low] : NULL;
	return one && one->number == number && one->where ? one : NULL;
}

struct breakpoint *debug_breakpoint_find(const struct debugger *d, uint64_t number)
{
	struct breakpoint *one = debug_breakpoint_at(d, number);
	if (!one)
		cli_say("There is no breakpoint %" PRIu64 ".\n", number);
	return one;
}

/* ---- in the code ---- */

/* How many enabled breakpoints are at an address. */
static size_t *planted_at(struct debugger *d, uint64_t pc)
{
	return debug_counts_at(&d->planted, pc);
}

/* Has the target stop everybody at an address: whose condition holds is found out here. */
static void ask_here(const struct debugger *d, uint64_t pc)
{
	if (ws_target_can(d->target, WS_CAN_STOP_IF)) /* one that is not planted has none */
		(void)!ws_target_stop_if(d->target, 0, pc, NULL, NULL, NULL);
}

/* Has the target ask the condition from now on, if it can, and stop for nobody else. The condition
 * has just been evaluated for the thread that `d->vars` looks at, which stands there. */
static void ask_there(struct debugger *d, struct breakpoint *one, size_t i)
{
	if (!one->condition || *planted_at(d, one->pc[i]) > 1 ||
	    !ws_target_can(d->target, WS_CAN_STOP_IF))
		return;
	if (!one->asked)
		one->asked = cli_alloc(one->n_pcs, sizeof *one->asked);
	if (one->asked[i] ||
	    ws_vars_condition(d->vars, one->condition, &one->asked[i], NULL) == WS_OK)
		(void)!ws_target_stop_if(d->target, 0, one->pc[i], ws_condition_holds,
					 one->asked[i], NULL);
}

static void forget_asked(const struct debugger *d, struct breakpoint *one)
{
	for (size_t i = 0; i < one->n_pcs && one->asked; i++) {
		if (d && one->asked[i])
			ask_here(d, one->pc[i]);
		ws_condition_free(one->asked[i]);
	}
	free(one->asked);
	one->asked = NULL;
}

static void unplant_first(struct debugger *d, const struct breakpoint *breakpoint, size_t n)
{
	struct ws_error err;
	for (size_t i = 0; i < n; i++)
		if (--*planted_at(d, breakpoint->pc[i]) == 0 &&
		    ws_target_unplant(d->target, 0, breakpoint->pc[i], &err) != WS_OK)
			cli_say("Breakpoint %u: %s.\n", breakpoint->number, err.message);
}

static void unplant(struct debugger *d, const struct breakpoint *breakpoint)
{
	if (breakpoint->watch.kinds)
		debug_watch_unplant(d, breakpoint);
	unplant_first(d, breakpoint, breakpoint->n_pcs);
}

/* False: it says why, and no place of its own is planted. */
static bool plant(struct debugger *d, struct breakpoint *breakpoint)
{
	struct ws_error err;
	if (breakpoint->watch.kinds)
		return debug_watch_plant(d, breakpoint);
	for (size_t i = 0; i < breakpoint->n_pcs; i++) {
		if (ws_target_plant(d->target, 0, breakpoint->pc[i], &err) == WS_OK) {
			++*planted_at(d, breakpoint->pc[i]);
			ask_here(d, breakpoint->pc[i]);
			continue;
		}
		cli_say("Breakpoint %u: %s.\n", breakpoint->number, err.message);
		unplant_first(d, breakpoint, i);
		return false;
	}
	return true;
}

/* Whether a breakpoint is where code of images is that a program may yet load. */
static bool is_by_name(const struct breakpoint *one)
{
	return one->where && !one->watch.kinds && *one->where != '*';
}

void debug_breakpoints_plant(struct debugger *d)
{
	debug_counts_fini(&d->planted); /* the target is another */
	for (size_t i = 0; i < d->n_breakpoints && d->program; i++)
		if (is_by_name(&d->breakpoints[i])) { /* nothing is loaded yet */
			forget_asked(NULL, &d->breakpoints[i]);
			d->breakpoints[i].n_pcs = 0;
		}
	for (size_t i = 0; i < d->n_breakpoints; i++)
		if (!d->breakpoints[i].disabled && !plant(d, &d->breakpoints[i]))
			d->breakpoints[i].disabled = true;
}

/* Appends addresses that are new; they are planted. */
static void take_places(struct debugger *d, struct breakpoint *one, const struct breakpoint *found)
{
	struct breakpoint added = { .number = one->number };
	for (size_t i = 0; i < found->n_pcs; i++) {
		bool is_known = false;
		for (size_t k = 0; k < one->n_pcs && !is_known; k++)
			is_known = one->pc[k] == found->pc[i];
		if (is_known)
			continue;
		forget_asked(d, one); /* it is as long as the list */
		cli_grow(&one->pc, &one->cap_pcs, one->n_pcs, sizeof *one->pc);
		one->pc[one->n_pcs++] = found->pc[i];
		cli_grow(&added.pc, &added.cap_pcs, added.n_pcs, sizeof *added.pc);
		added.pc[added.n_pcs++] = found->pc[i];
	}
	if (!one->disabled && !plant(d, &added))
		one->disabled = true;
	free(added.pc);
}

void debug_breakpoints_find(struct debugger *d)
{
	for (size_t i = 0; i < d->n_breakpoints; i++) {
		struct breakpoint found = { .number = 0 }, *one = &d->breakpoints[i];
		if (!is_by_name(one))
			continue;
		const uint64_t muted = cli_mute();
		bool any = debug_locate_stop(d, one->where, &found);
		(void)cli_unmute(muted);
		if (any)
			take_places(d, one, &found);
		free(found.pc);
	}
}

/* ---- made and removed ---- */

static void fini(struct breakpoint *breakpoint)
{
	forget_asked(NULL, breakpoint);
	free(breakpoint->where);
	free(breakpoint->condition);
	free(breakpoint->pc);
	debug_lines_free(breakpoint->commands, breakpoint->n_commands);
}

/* Those that were removed lie in the list until they are half of it. */
static void close_gaps(struct debugger *d)
{
	size_t kept = 0;
	if (2 * d->n_removed < d->n_breakpoints)
		return;
	for (size_t i = 0; i < d->n_breakpoints; i++)
		if (d->breakpoints[i].where)
			d->breakpoints[kept++] = d->breakpoints[i];
	d->n_breakpoints = kept;
	d->n_removed = 0;
}

size_t debug_breakpoint_count(const struct debugger *d)
{
	return d->n_breakpoints - d->n_removed;
}

struct breakpoint *debug_breakpoint_add(struct debugger *d, const struct breakpoint *made)
{
	close_gaps(d);
	cli_grow(&d->breakpoints, &d->cap_breakpoints, d->n_breakpoints, sizeof *made);
	d->breakpoints[d->n_breakpoints] = *made;
	d->last_number = made->number;
	return &d->breakpoints[d->n_breakpoints++];
}

/* Whether a condition can be evaluated at one of the places, as far as that is known before a
 * thread is there; else it says why. */
static bool can_ask(struct debugger *d, const struct breakpoint *one, const char *condition)
{
	struct ws_error err;
	for (size_t i = 0; condition && i < one->n_pcs; i++)
		if (debug_can_evaluate_at(d, one->pc[i], condition, &err))
			return true;
	if (condition && one->n_pcs > 0)
		cli_say("%s.\n", err.message);
	return !condition || one->n_pcs == 0;
}

void debug_break(struct debugger *d, const char *text, bool temporary)
{
	struct breakpoint made = { .temporary = temporary };
	const char *condition = strstr(text, " if ");
	size_t n = condition ? (size_t)(condition - text) : strlen(text);
	made.where = cli_copy(text, n);
	made.condition = condition ? cli_copy(condition + 4, strlen(condition + 4)) : NULL;
	const bool may_come = d->program && *made.where && *made.where != '*';
	const uint64_t muted = may_come ? cli_mute() : 0;
	const bool is_there = debug_locate_stop(d, made.where, &made);
	if (may_come)
		(void)cli_unmute(muted);
	if (!is_there && !may_come) {
		fini(&made);
		return;
	}
	made.number = d->last_number + 1;
	if (!is_there) {
		debug_breakpoint_add(d, &made);
		ws_out_printf(&d->cli->out, "Breakpoint %u (", made.number);
		ws_out_escaped(&d->cli->out, ws_str_of(made.where));
		ws_out_text(&d->cli->out, ") pending.\n");
		return;
	}
	if (!can_ask(d, &made, made.condition) || !plant(d, &made)) {
		fini(&made);
		return;
	}
	debug_breakpoint_add(d, &made);
	ws_out_printf(&d->cli->out, "%s %u at 0x%" PRIx64,
		      temporary ? "Temporary breakpoint" : "Breakpoint", made.number, made.pc[0]);
	if (made.n_pcs > 1)
		ws_out_printf(&d->cli->out, " and %zu more", made.n_pcs - 1);
	ws_out_text(&d->cli->out, ": ");
	debug_print_place(d, made.pc[0]);
}

void debug_breakpoint_remove(struct debugger *d, struct breakpoint *breakpoint)
{
	if (!breakpoint->disabled)
		unplant(d, breakpoint);
	fini(breakpoint);
	*breakpoint = (struct breakpoint){ .number = breakpoint->number, .disabled = true };
	d->n_removed++;
}

void debug_breakpoints_fini(struct debugger *d)
{
	for (size_t i = 0; i < d->n_breakpoints; i++)
		fini(&d->breakpoints[i]);
	free(d->breakpoints);
	debug_counts_fini(&d->planted);
}

/* ---- commands ---- */

/* Calls `take` for each number of a text; all breakpoints without one. */
static void each(struct debugger *d, const char *text,
		 void (*take)(struct debugger *d, struct breakpoint *breakpoint))
{
	if (!*text)
		for (size_t i = d->n_breakpoints; i > 0; i--)
			if (d->breakpoints[i - 1].where)
				take(d, &d->breakpoints[i - 1]);
	while (*text) {
		char *end;
		uint64_t number = strtoull(text, &end, 10);
		if (end == text || (*end && *end != ' ')) {
			cli_say("'%s' is not a breakpoint number.\n", text);
			return;
		}
		struct breakpoint *one = debug_breakpoint_find(d, number);
		if (one)
			take(d, one);
		text = end + strspn(end, " ");
	}
}

void debug_breakpoints_delete(struct debugger *d, const char *text)
{
	each(d, text, debug_breakpoint_remove);
}

static void enable(struct debugger *d, struct breakpoint *breakpoint)
{
	if (breakpoint->disabled)
		breakpoint->disabled = !plant(d, breakpoint);
}

static void disable(struct debugger *d, struct breakpoint *breakpoint)
{
	if (!breakpoint->disabled)
		unplant(d, breakpoint);
	breakpoint->disabled = true;
}

void debug_breakpoints_enable(struct debugger *d, const char *text, bool on)
{
	each(d, text, on ? enable : disable);
}

void debug_breakpoint_condition(struct debugger *d, const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);
	struct breakpoint *one = end > text ? debug_breakpoint_find(d, number) : NULL;
	if (end == text)
		cli_say("condition takes the number of a breakpoint, and an expression.\n");
	if (!one)
		return;
	end += strspn(end, " ");
	if (*end && !can_ask(d, one, end))
		return;
	forget_asked(d, one);
	free(one->condition);
	one->condition = *end ? cli_copy(end, strlen(end)) : NULL;
}

void debug_breakpoint_ignore(struct debugger *d, const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10), count = 0;
	struct breakpoint *one = end > text ? debug_breakpoint_find(d, number) : NULL;
	end += strspn(end, " ");
	if (!one || !cli_number(end, &count)) {
		if (one || end == text)
			cli_say("ignore takes the number of a breakpoint, and a count.\n");
		return;
	}
	one->ignored = count;
	if (count)
		ws_out_printf(&d->cli->out,
			      "Will ignore next %" PRIu64 " crossing%s of breakpoint %u.\n", count,
			      count == 1 ? "" : "s", one->number);
	else
		ws_out_printf(&d->cli->out, "Will stop next time breakpoint %u is reached.\n",
			      one->number);
}

void debug_breakpoint_commands(struct debugger *d, const char *text)
{
	uint64_t number = d->last_number;
	size_t n;
	char **lines = debug_take_lines(d, false, &n);
	struct breakpoint *one = NULL;
	if (*text && !cli_number(text, &number))
		cli_say("'%s' is not a breakpoint number.\n", text);
	else if (number == 0)
		cli_say("No breakpoints specified.\n");
	else
		one = debug_breakpoint_find(d, number);
	if (!one) {
		debug_lines_free(lines, n);
		return;
	}
	debug_lines_free(one->commands, one->n_commands);
	one->commands = lines;
	one->n_commands = n;
}

/* "        stop only if x == 3" and the other lines below one of the table. */
static void list_more(struct ws_out *out, const struct breakpoint *one)
{
	if (one->condition) {
		ws_out_text(out, "\tstop only if ");
		ws_out_escaped(out, ws_str_of(one->condition));
		ws_out_text(out, "\n");
	}
	if (one->hits)
		ws_out_printf(out, "\tbreakpoint already hit %" PRIu64 " time%s\n", one->hits,
			      one->hits == 1 ? "" : "s");
	if (one->ignored)
		ws_out_printf(out, "\tignore next %" PRIu64 " hits\n", one->ignored);
	for (size_t i = 0; i < one->n_commands; i++) {
		ws_out_text(out, "        ");
		ws_out_escaped(out, ws_str_of(one->commands[i]));
		ws_out_text(out, "\n");
	}
}

/* gdb's table. */
void debug_breakpoints_list(const struct debugger *d)
{
	struct ws_out *out = &d->cli->out;
	int width = 14; /* of a type; gdb's, too, grows */
	for (size_t i = 0; i < d->n_breakpoints; i++)
		width = d->breakpoints[i].watch.kinds == WS_WATCH_READ ? 15 : width;
	if (debug_breakpoint_count(d))
		ws_out_printf(out, "Num     %-*s Disp Enb Address            What\n", width,
			      "Type");
	else
		ws_out_text(out, "No breakpoints or watchpoints.\n");
	for (size_t i = 0; i < d->n_breakpoints; i++) {
		const struct breakpoint *one = &d->breakpoints[i];
		static const char *const types[] = {
			[WS_WATCH_CHANGE] = "hw watchpoint",
			[WS_WATCH_READ] = "read watchpoint",
		};
		const uint32_t kinds = one->watch.kinds;
		if (!one->where)
			continue;
		ws_out_printf(out, "%-7u %-*s %-4s %c   ", one->number, width,
			      !kinds ? "breakpoint"
			      : kinds < sizeof types / sizeof types[0] && types[kinds]
				      ? types[kinds]
				      : "acc watchpoint",
			      one->temporary ? "del" : "keep", one->disabled ? 'n' : 'y');
		if (kinds) {
			ws_out_text(out, "                   ");
			ws_out_escaped(out, ws_str_of(one->where));
			ws_out_text(out, "\n");
		} else if (one->n_pcs == 1) {
			ws_out_printf(out, "0x%016" PRIx64 " in ", one->pc[0]);
			debug_print_place(d, one->pc[0]);
		} else if (one->n_pcs > 1) {
			ws_out_text(out, "<MULTIPLE>\n");
		} else {
			ws_out_text(out, "<PENDING>          ");
			ws_out_escaped(out, ws_str_of(one->where));
			ws_out_text(out, "\n");
		}
		list_more(out, one);
		for (size_t k = 0; one->n_pcs > 1 && k < one->n_pcs; k++) {
			ws_out_printf(out, "%u.%-32zu y   0x%016" PRIx64 " in ", one->number, k + 1,
				      one->pc[k]);
			debug_print_place(d, one->pc[k]);
		}
	}
}

/* ---- hits ---- */

void debug_print_condition(const struct debugger *d, const struct breakpoint *one)
{
	struct ws_out *out = &d->cli->out;
	if (!one->condition)
		return;
	ws_out_text(out, " (");
	ws_out_escaped(out, ws_str_of(one->condition));
	ws_out_text(out, ")");
}

bool debug_holds(struct debugger *d, const struct breakpoint *one, const struct ws_focus *focus)
{
	struct ws_number value;
	char wrong[200];
	if (!one->condition)
		return true;
	if (debug_evaluate(d, focus, one->condition, &value, wrong))
		return value.is_float ? value.real != 0 : value.whole != 0;
	cli_note("The condition of breakpoint %u: %s.\n", one->number, wrong);
	return true;
}

bool debug_is_ignored(struct breakpoint *one)
{
	const bool ignored = one->ignored > 0;
	one->ignored -= ignored;
	return ignored;
}

struct hit {
	struct debugger *d;
	struct breakpoint *first;
	struct ws_focus focus;
};

/* Looks for breakpoints that active lanes of a warp stand at. */
static void look_at(struct hit *hit, uint32_t warp_index, const struct ws_warp *warp, uint64_t pc)
{
	struct debugger *d = hit->d;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_lanes(d->target, warp_index, lanes, &n, NULL) != WS_OK)
		return;
	for (size_t b = 0; b < d->n_breakpoints; b++) {
		struct breakpoint *one = &d->breakpoints[b];
		size_t at = 0;
		bool told = false, looked = false;
		while (at < one->n_pcs && one->pc[at] != pc)
			at++;
		bool here = at < one->n_pcs && !one->disabled;
		for (uint32_t i = 0; i < n && here && !told; i++) {
			struct ws_focus focus;
			if (lanes[i].pc != pc || !(warp->active_lanes >> lanes[i].id & 1) ||
			    !debug_focus_of(d, warp_index, lanes[i].id, &focus))
				continue;
			told = debug_holds(d, one, &focus);
			looked = true;
			if (told && !hit->first && !one->ignored)
				hit->focus = focus;
		}
		if (looked)
			ask_there(d, one, at);
		one->hits += told;
		told = told && !debug_is_ignored(one);
		hit->first = told && !hit->first ? one : hit->first;
	}
}

/* For debug_each_changed(). */
static bool look_at_stopped(void *user, uint32_t warp_index, const struct ws_warp *warp)
{
	if ((warp->have & WS_WARP_STOP) && warp->stop == WS_STOP_PLANTED)
		look_at(user, warp_index, warp, warp->stop_pc);
	return false;
}

static struct breakpoint *told(const struct hit *hit)
{
	if (hit->first)
		debug_focus_on(hit->d, &hit->focus);
	return hit->first;
}

struct breakpoint *debug_hit(struct debugger *d)
{
	struct hit hit = { .d = d };
	debug_each_changed(d, look_at_stopped, &hit);
	return told(&hit);
}

struct breakpoint *debug_stepped_to(struct debugger *d)
{
	struct hit hit = { .d = d };
	struct ws_warp warp;
	struct ws_lane lane;
	if (d->n_breakpoints > 0 && d->has_focus &&
	    ws_target_warp(d->target, d->focus.warp_index, &warp, NULL) == WS_OK &&
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK &&
	    (warp.active_lanes >> lane.id & 1))
		look_at(&hit, d->focus.warp_index, &warp, lane.pc);
	return told(&hit);
}
