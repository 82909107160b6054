/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints by number, as the user knows them: their table, in the code, and their hits. */
#include "debug/session.h"

/* ---- by number ---- */

/* Index of the first whose number is not below another. */
static size_t first_from(const struct ws_debug *d, uint64_t number)
{
	return WSI_BISECT(i, (size_t)0, d->n_breakpoints, d->breakpoints[i].is.number < number);
}

static struct wsi_debug_breakpoint *session_breakpoint_find(const struct ws_debug *d,
							    uint64_t number)
{
	const size_t i = first_from(d, number);
	struct wsi_debug_breakpoint *one = i < d->n_breakpoints ? &d->breakpoints[i] : NULL;
	return one && one->is.number == number && !one->is_removed ? one : NULL;
}

const struct ws_debug_breakpoint *ws_debug_breakpoint_find(const struct ws_debug *d,
							   uint64_t number)
{
	const struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	return one ? &one->is : NULL;
}

const struct ws_debug_breakpoint *ws_debug_breakpoint_next(const struct ws_debug *d,
							   uint64_t number)
{
	for (size_t i = first_from(d, number + 1); i < d->n_breakpoints; i++)
		if (!d->breakpoints[i].is_removed)
			return &d->breakpoints[i].is;
	return NULL;
}

/* ---- in the code ---- */

/* How many enabled breakpoints are at an address; NULL: no memory for that. */
static uint32_t *planted_at(struct ws_debug *d, uint64_t pc)
{
	const struct wsi_map_key key = { .word = { pc } };
	bool is_new;
	return wsi_map_put(&d->planted, &key, 0, &is_new);
}

/* Has the target stop everybody at an address: whose condition holds is found out here. */
static void ask_here(const struct ws_debug *d, uint64_t pc)
{
	if (ws_target_can(d->target, WS_CAN_STOP_IF)) /* one that is not planted has none */
		(void)!ws_target_stop_if(d->target, 0, pc, NULL, NULL, NULL);
}

/* Has the target ask the condition from now on, if it can, and stop for nobody else. The condition
 * has just been evaluated for the thread that `d->vars` looks at, which stands there. */
static void ask_there(struct ws_debug *d, struct wsi_debug_breakpoint *one, size_t i)
{
	const uint64_t pc = one->places.pc[i];
	const uint32_t *n = planted_at(d, pc);
	if (!one->condition || !n || *n > 1 || !ws_target_can(d->target, WS_CAN_STOP_IF))
		return;
	if (!one->asked)
		one->asked = wsi_zalloc_array(one->n_asked = one->places.n, sizeof *one->asked);
	if (!one->asked)
		return;
	if (one->asked[i] ||
	    ws_vars_condition(d->vars, one->condition, &one->asked[i], NULL) == WS_OK)
		(void)!ws_target_stop_if(d->target, 0, pc, ws_condition_holds, one->asked[i], NULL);
}

/* `d` NULL: the target has gone. */
static void forget_asked(const struct ws_debug *d, struct wsi_debug_breakpoint *one)
{
	for (size_t i = 0; i < one->n_asked && one->asked; i++) {
		if (d && one->asked[i])
			ask_here(d, one->places.pc[i]);
		ws_condition_free(one->asked[i]);
	}
	wsi_free(one->asked);
	one->asked = NULL;
}

/* `n` places from number `first` on. */
static void unplant_some(struct ws_debug *d, const struct wsi_debug_breakpoint *one, size_t first,
			 size_t n)
{
	struct ws_error err;
	for (size_t i = first; i < first + n; i++) {
		uint32_t *count = planted_at(d, one->places.pc[i]);
		if ((!count || --*count == 0) &&
		    ws_target_unplant(d->target, 0, one->places.pc[i], &err) != WS_OK)
			wsi_debug_tell(d, WS_DEBUG_NOT_PLANTED, one, &err);
	}
}

static void unplant(struct ws_debug *d, const struct wsi_debug_breakpoint *one)
{
	struct ws_error err;
	if (one->is.watches && ws_target_unwatch(d->target, one->target_number, &err) != WS_OK)
		wsi_debug_tell(d, WS_DEBUG_NOT_PLANTED, one, &err);
	unplant_some(d, one, 0, one->places.n);
}

/* All places from number `first` on, or none of them. */
static enum ws_status plant_from(struct ws_debug *d, struct wsi_debug_breakpoint *one, size_t first,
				 struct ws_error *err)
{
	for (size_t i = first; i < one->places.n; i++) {
		const uint64_t pc = one->places.pc[i];
		uint32_t *count = planted_at(d, pc);
		enum ws_status st =
			count ? ws_target_plant(d->target, 0, pc, err) : wsi_debug_no_memory(err);
		if (st != WS_OK) {
			unplant_some(d, one, first, i - first);
			return st;
		}
		++*count;
		ask_here(d, pc);
	}
	return WS_OK;
}

/* `first`: a breakpoint's places before it are planted. */
static enum ws_status plant_places(struct ws_debug *d, struct wsi_debug_breakpoint *one,
				   size_t first, struct ws_error *err)
{
	return one->is.watches ? wsi_debug_watch_plant(d, one, err)
			       : plant_from(d, one, first, err);
}

/* The same, of one that the user knows: it is told, and disabled. */
static void plant_or_tell(struct ws_debug *d, struct wsi_debug_breakpoint *one, size_t first)
{
	struct ws_error err;
	const enum ws_status st = plant_places(d, one, first, &err);
	one->is.is_enabled = st == WS_OK;
	if (st != WS_OK)
		wsi_debug_tell(d, WS_DEBUG_NOT_PLANTED, one, &err);
}

/* What clients see of its places. */
static void show_places(struct wsi_debug_breakpoint *one)
{
	one->is.pc = one->places.pc;
	one->is.n_pcs = one->places.n;
}

/* Whether a breakpoint is where code of images is that a program may yet load. */
static bool is_by_name(const struct wsi_debug_breakpoint *one)
{
	return !one->is_removed && !one->is.watches && *one->where != '*';
}

void wsi_breakpoints_plant(struct ws_debug *d)
{
	wsi_map_fini(&d->planted); /* the target is another */
	for (size_t i = 0; i < d->n_breakpoints && d->program; i++)
		if (is_by_name(&d->breakpoints[i])) { /* nothing is loaded yet */
			forget_asked(NULL, &d->breakpoints[i]);
			d->breakpoints[i].places.n = 0;
			show_places(&d->breakpoints[i]);
		}
	for (size_t i = 0; i < d->n_breakpoints; i++)
		if (d->breakpoints[i].is.is_enabled)
			plant_or_tell(d, &d->breakpoints[i], 0);
}

/* Appends addresses that are new, and plants them. */
static void take_places(struct ws_debug *d, struct wsi_debug_breakpoint *one,
			const struct wsi_places *found)
{
	const size_t known = one->places.n;
	struct ws_error err;
	for (size_t i = 0; i < found->n; i++)
		if (wsi_places_add(&one->places, found->pc[i], &err) != WS_OK)
			wsi_debug_tell(d, WS_DEBUG_NOT_PLANTED, one, &err);
	show_places(one);
	if (one->places.n == known)
		return;
	forget_asked(d, one); /* it is as long as the list was */
	if (one->is.is_enabled)
		plant_or_tell(d, one, known);
}

void wsi_breakpoints_find(struct ws_debug *d)
{
	for (size_t i = 0; i < d->n_breakpoints; i++) {
		struct wsi_debug_breakpoint *one = &d->breakpoints[i];
		struct wsi_places found = { 0 };
		if (is_by_name(one) &&
		    wsi_debug_locate(d, one->where, true, false, &found, NULL) == WS_OK)
			take_places(d, one, &found);
		wsi_free(found.pc);
	}
}

/* ---- made and removed ---- */

void wsi_breakpoint_fini(struct wsi_debug_breakpoint *one)
{
	forget_asked(NULL, one);
	wsi_free(one->where);
	wsi_free(one->condition);
	wsi_free(one->places.pc);
	wsi_free(one->text);
	wsi_free(one->commands);
}

/* What it held is freed, or somebody else's now. */
static void mark_removed(struct ws_debug *d, struct wsi_debug_breakpoint *one)
{
	*one = (struct wsi_debug_breakpoint){ .is.number = one->is.number, .is_removed = true };
	d->n_removed++;
}

/* Those that were removed lie in the list until they are half of it. */
static void close_breakpoint_gaps(struct ws_debug *d)
{
	size_t kept = 0;
	if (2 * d->n_removed < d->n_breakpoints)
		return;
	for (size_t i = 0; i < d->n_breakpoints; i++)
		if (!d->breakpoints[i].is_removed)
			d->breakpoints[kept++] = d->breakpoints[i];
	d->n_breakpoints = kept;
	d->n_removed = 0;
}

enum ws_status wsi_breakpoint_name(struct wsi_debug_breakpoint *made, const char *where,
				   const char *condition, struct ws_error *err)
{
	made->is.where = made->where = wsi_strdup(where);
	made->is.condition = made->condition = condition ? wsi_strdup(condition) : NULL;
	return made->where && (made->condition || !condition) ? WS_OK : wsi_debug_no_memory(err);
}

/* Whether a condition can be evaluated at one of the places, as far as that is known before a
 * thread is there. */
static enum ws_status can_ask(struct ws_debug *d, const struct wsi_debug_breakpoint *one,
			      const char *condition, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (size_t i = 0; condition && i < one->places.n; i++) {
		st = wsi_debug_can_ask_at(d, one->places.pc[i], condition, err);
		if (st == WS_OK)
			return st;
	}
	return st;
}

enum ws_status wsi_breakpoint_add(struct ws_debug *d, struct wsi_debug_breakpoint *made,
				  const struct ws_debug_breakpoint **ret_made, struct ws_error *err)
{
	close_breakpoint_gaps(d);
	made->is.number = d->last_number + 1;
	made->is.is_enabled = true;
	show_places(made);
	enum ws_status st = wsi_grow(&d->breakpoints, &d->cap_breakpoints, d->n_breakpoints,
				     sizeof *made, SIZE_MAX)
				    ? plant_places(d, made, 0, err)
				    : wsi_debug_no_memory(err);
	if (st != WS_OK) {
		wsi_breakpoint_fini(made);
		return wsi_context(err, st, "%s %u", made->is.watches ? "Watchpoint" : "Breakpoint",
				   made->is.number);
	}
	d->last_number = made->is.number;
	d->breakpoints[d->n_breakpoints] = *made;
	*ret_made = &d->breakpoints[d->n_breakpoints++].is;
	return WS_OK;
}

enum ws_status ws_debug_break(struct ws_debug *d, const char *where, const char *condition,
			      bool is_temporary, const struct ws_debug_breakpoint **ret_made,
			      struct ws_error *err)
{
	struct wsi_debug_breakpoint made = { .is = { .is_temporary = is_temporary } };
	const bool may_come = d->program && *where && *where != '*';
	enum ws_status st = wsi_breakpoint_name(&made, where, condition, err);
	if (st == WS_OK)
		st = wsi_debug_locate(d, where, true, !may_come, &made.places, err);
	if (st != WS_OK && st != WS_NO_MEMORY && may_come)
		st = WS_OK;
	if (st == WS_OK)
		st = can_ask(d, &made, condition, err);
	if (st == WS_OK)
		return wsi_breakpoint_add(d, &made, ret_made, err);
	wsi_breakpoint_fini(&made);
	return st;
}

void ws_debug_remove(struct ws_debug *d, uint64_t number)
{
	struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	if (!one)
		return;
	if (one->is.is_enabled)
		unplant(d, one);
	wsi_breakpoint_fini(one);
	mark_removed(d, one);
}

void wsi_breakpoints_fini(struct ws_debug *d)
{
	for (size_t i = 0; i < d->n_breakpoints; i++)
		wsi_breakpoint_fini(&d->breakpoints[i]);
	wsi_breakpoint_fini(&d->told);
	wsi_free(d->breakpoints);
	wsi_map_fini(&d->planted);
}

/* ---- changed ---- */

void ws_debug_enable(struct ws_debug *d, uint64_t number, bool on)
{
	struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	if (!one || one->is.is_enabled == on)
		return;
	if (on) {
		plant_or_tell(d, one, 0);
		return;
	}
	unplant(d, one);
	one->is.is_enabled = false;
}

void ws_debug_ignore(struct ws_debug *d, uint64_t number, uint64_t count)
{
	struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	if (one)
		one->is.ignored = count;
}

enum ws_status ws_debug_set_condition(struct ws_debug *d, uint64_t number, const char *condition,
				      struct ws_error *err)
{
	struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	char *copy = NULL;
	enum ws_status st = one ? can_ask(d, one, condition, err) : WS_OK;
	if (!one || st != WS_OK)
		return st;
	if (condition && !(copy = wsi_strdup(condition)))
		return wsi_debug_no_memory(err);
	forget_asked(d, one);
	wsi_free(one->condition);
	one->is.condition = one->condition = copy;
	return WS_OK;
}

enum ws_status ws_debug_set_commands(struct ws_debug *d, uint64_t number, const char *const *lines,
				     size_t n, struct ws_error *err)
{
	struct wsi_debug_breakpoint *one = session_breakpoint_find(d, number);
	size_t bytes = 1, at = 0;
	if (!one)
		return WS_OK;
	for (size_t i = 0; i < n; i++)
		bytes += strlen(lines[i]) + 1;
	char *text = wsi_zalloc(bytes);
	const char **commands = wsi_zalloc_array(n ? n : 1, sizeof *commands);
	if (!text || !commands) {
		wsi_free(text);
		wsi_free(commands);
		return wsi_debug_no_memory(err);
	}
	for (size_t i = 0; i < n; at += strlen(lines[i++]) + 1) {
		memcpy(text + at, lines[i], strlen(lines[i]));
		commands[i] = text + at;
	}
	wsi_free(one->text);
	wsi_free(one->commands);
	one->text = text;
	one->is.commands = one->commands = commands;
	one->is.n_commands = n;
	return WS_OK;
}

/* ---- hits ---- */

bool wsi_breakpoint_holds(struct ws_debug *d, const struct wsi_debug_breakpoint *one,
			  const struct ws_focus *focus)
{
	struct ws_number value;
	struct ws_error err;
	if (!one->condition)
		return true;
	if (wsi_debug_number(d, focus, one->condition, &value, &err) == WS_OK)
		return value.is_float ? value.real != 0 : value.whole != 0;
	wsi_debug_tell(d, WS_DEBUG_CONDITION, one, &err);
	return true;
}

bool wsi_breakpoint_counts(struct wsi_debug_breakpoint *one)
{
	const bool ignored = one->is.ignored > 0;
	one->is.hits++;
	one->is.ignored -= ignored;
	return !ignored;
}

struct breakpoint_hit {
	struct ws_debug *d;
	struct wsi_debug_breakpoint *first;
	struct ws_focus focus;
};

/* Looks for breakpoints that active lanes of a warp stand at. */
static void look_at_breakpoints(struct breakpoint_hit *hit, uint32_t warp_index,
				const struct ws_warp *warp, uint64_t pc)
{
	struct ws_debug *d = hit->d;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_lanes(d->target, warp_index, lanes, &n, NULL) != WS_OK)
		return;
	for (size_t b = 0; b < d->n_breakpoints; b++) {
		struct wsi_debug_breakpoint *one = &d->breakpoints[b];
		size_t at = 0;
		bool told = false, looked = false;
		while (at < one->places.n && one->places.pc[at] != pc)
			at++;
		bool here = at < one->places.n && one->is.is_enabled;
		for (uint32_t i = 0; i < n && here && !told; i++) {
			struct ws_focus focus;
			if (lanes[i].pc != pc || !(warp->active_lanes >> lanes[i].id & 1) ||
			    !wsi_debug_focus_of(d, warp_index, lanes[i].id, &focus))
				continue;
			told = wsi_breakpoint_holds(d, one, &focus);
			looked = true;
			if (told && !hit->first && !one->is.ignored)
				hit->focus = focus;
		}
		if (looked)
			ask_there(d, one, at);
		told = told && wsi_breakpoint_counts(one);
		hit->first = told && !hit->first ? one : hit->first;
	}
}

/* For wsi_debug_each_changed(). */
static bool look_at_stopped(void *user, uint32_t warp_index, const struct ws_warp *warp)
{
	if ((warp->have & WS_WARP_STOP) && warp->stop == WS_STOP_PLANTED)
		look_at_breakpoints(user, warp_index, warp, warp->stop_pc);
	return false;
}

static struct wsi_debug_breakpoint *breakpoint_told(const struct breakpoint_hit *hit)
{
	if (hit->first)
		wsi_debug_focus_on(hit->d, &hit->focus);
	return hit->first;
}

struct wsi_debug_breakpoint *wsi_breakpoint_hit(struct ws_debug *d)
{
	struct breakpoint_hit hit = { .d = d };
	wsi_debug_each_changed(d, look_at_stopped, &hit);
	return breakpoint_told(&hit);
}

struct wsi_debug_breakpoint *wsi_breakpoint_stepped_to(struct ws_debug *d)
{
	struct breakpoint_hit hit = { .d = d };
	struct ws_warp warp;
	struct ws_lane lane;
	if (d->n_breakpoints > 0 && d->has_focus &&
	    ws_target_warp(d->target, d->focus.warp_index, &warp, NULL) == WS_OK &&
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK &&
	    (warp.active_lanes >> lane.id & 1))
		look_at_breakpoints(&hit, d->focus.warp_index, &warp, lane.pc);
	return breakpoint_told(&hit);
}

const struct ws_debug_breakpoint *wsi_breakpoint_tell(struct ws_debug *d,
						      struct wsi_debug_breakpoint *hit)
{
	if (!hit->is.is_temporary)
		return &hit->is;
	unplant(d, hit);
	wsi_breakpoint_fini(&d->told);
	d->told = *hit;
	d->told.is.is_enabled = false;
	mark_removed(d, hit);
	return &d->told.is;
}
