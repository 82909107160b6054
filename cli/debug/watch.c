/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints: memory, and what is told when a kernel accesses it. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *debug_watch_word(const struct breakpoint *watchpoint)
{
	return watchpoint->watch.kinds == WS_WATCH_CHANGE ? "Watchpoint"
	       : watchpoint->watch.kinds == WS_WATCH_READ ? "Read watchpoint"
							  : "Access watchpoint";
}

/* ---- making ---- */

/* ADDRESS [LENGTH], of 4 bytes without one. */
static bool parse_address(struct debugger *d, const char *text, struct ws_watch *watch)
{
	char *end;
	uint64_t length = 4;
	watch->at.address = strtoull(text, &end, 0);
	if (end == text || (*end && *end != ' '))
		return false;
	end += strspn(end, " ");
	if (*end && (!cli_number(end, &length) || length == 0))
		return false;
	watch->at.space = WS_SPACE_GENERIC;
	watch->at.grid_index = d->focus.grid_index;
	watch->size_bytes = length;
	return true;
}

/* The memory that a text names. False with a word to the user. */
static bool parse(struct debugger *d, const char *text, struct breakpoint *made)
{
	struct cli_range range;
	struct ws_watch *watch = &made->watch;
	char wrong[200];
	if (!*text) {
		cli_say("What? An expression, SPACE:ADDRESS+LENGTH or ADDRESS [LENGTH] is "
			"expected.\n");
		return false;
	}
	if (cli_range(text, &range)) {
		watch->at.space = range.space;
		watch->at.bank = range.bank;
		watch->at.address = range.address;
		watch->at.grid_index = WS_NONE;
		watch->size_bytes = range.len;
		return true;
	}
	if (parse_address(d, text, watch))
		return true;
	if (!debug_memory(d, d->has_focus ? &d->focus : NULL, &text, &watch->at, &made->type,
			  wrong)) {
		cli_say("%s.\n", wrong);
		return false;
	}
	watch->size_bytes = made->type->bytes;
	return true;
}

bool debug_watch_plant(const struct debugger *d, struct breakpoint *watchpoint)
{
	struct ws_focus focus;
	struct ws_error err = { .message = "its thread is not there" };
	struct ws_address *at = &watchpoint->watch.at;
	if (watchpoint->of_thread && debug_find_thread(d, &watchpoint->owner, &focus)) {
		at->device_index = focus.device_index;
		at->grid_index = focus.grid_index;
		at->warp_index = focus.warp_index;
		at->lane = focus.lane;
	} else if (watchpoint->of_thread) {
		at = NULL;
	}
	if (at && ws_target_watch(d->target, &watchpoint->watch, &watchpoint->target_number,
				  &err) == WS_OK)
		return true;
	cli_say("Watchpoint %u: %s.\n", watchpoint->number, err.message);
	return false;
}

void debug_watch_unplant(const struct debugger *d, const struct breakpoint *watchpoint)
{
	struct ws_error err;
	if (ws_target_unwatch(d->target, watchpoint->target_number, &err) != WS_OK)
		cli_say("Watchpoint %u: %s.\n", watchpoint->number, err.message);
}

void debug_watch(struct debugger *d, const char *text, uint32_t kinds)
{
	struct breakpoint made = { .watch = { .kinds = kinds } };
	const char *condition = strstr(text, " if ");
	size_t n = condition ? (size_t)(condition - text) : strlen(text);
	if (!ws_target_can(d->target, WS_CAN_WATCH)) {
		cli_say("Watchpoints are not offered by this provider.\n");
		return;
	}
	made.where = cli_copy(text, n);
	made.condition = condition ? cli_copy(condition + 4, strlen(condition + 4)) : NULL;
	made.number = d->last_number + 1;
	bool ok = parse(d, made.where, &made);
	made.of_thread = ok && d->has_focus && made.watch.at.space != WS_SPACE_GLOBAL;
	made.owner = d->thread;
	if (!ok || !debug_watch_plant(d, &made)) {
		free(made.where);
		free(made.condition);
		return;
	}
	debug_breakpoint_add(d, &made);
	ws_out_printf(&d->cli->out, "%s %u: ", debug_watch_word(&made), made.number);
	ws_out_escaped(&d->cli->out, ws_str_of(made.where));
	ws_out_text(&d->cli->out, "\n");
}

bool debug_watch_once(struct debugger *d, const char *text, struct breakpoint *ret_made)
{
	*ret_made = (struct breakpoint){ .watch = { .kinds = WS_WATCH_WRITE } };
	if (!parse(d, text, ret_made))
		return false;
	ret_made->of_thread = d->has_focus && ret_made->watch.at.space != WS_SPACE_GLOBAL;
	ret_made->owner = d->thread;
	return debug_watch_plant(d, ret_made);
}

/* ---- hits ---- */

static struct breakpoint *find(const struct debugger *d, uint32_t target_number)
{
	for (size_t i = 0; i < d->n_breakpoints; i++) {
		struct breakpoint *one = &d->breakpoints[i];
		if (one->watch.kinds && !one->disabled && one->target_number == target_number)
			return one;
	}
	return NULL;
}

/* The first of those who hit a watchpoint that its condition holds for. */
static bool who(struct debugger *d, const struct breakpoint *one, const struct ws_watch_hit *hit,
		struct ws_focus *ret_focus)
{
	for (uint32_t i = 0; i < WS_MAX_LANES; i++) {
		uint32_t lane = (hit->lane + i) % WS_MAX_LANES;
		if ((hit->lanes >> lane & 1) &&
		    debug_focus_of(d, hit->warp_index, lane, ret_focus) &&
		    debug_holds(d, one, ret_focus))
			return true;
	}
	return false;
}

/* The next watchpoint that was hit and whose condition holds, from hit `*i` on; NULL: no more. */
static struct breakpoint *next_hit(struct debugger *d, uint32_t *i, struct ws_watch_hit *ret_hit,
				   struct ws_focus *ret_focus)
{
	while (ws_target_watch_hit(d->target, (*i)++, ret_hit, NULL) == WS_OK) {
		struct breakpoint *one = find(d, ret_hit->number);
		if (one && who(d, one, ret_hit, ret_focus))
			return one;
	}
	return NULL;
}

bool debug_watch_hit(struct debugger *d)
{
	struct ws_watch_hit hit;
	struct ws_focus focus;
	struct breakpoint *one;
	for (uint32_t i = 0; (one = next_hit(d, &i, &hit, &focus));) {
		if (debug_is_ignored(one)) {
			one->hits++;
			continue;
		}
		debug_focus_on(d, &focus);
		d->due = one->number;
		return true;
	}
	return false;
}

static void print_bytes(struct ws_out *out, const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ws_out_printf(out, "%s%02x", i ? " " : "", bytes[i]);
}

/* The value that all watched bytes are; the first `hit->n` of them from its first one on were
 * others before. */
static bool whole_value(const struct debugger *d, const struct breakpoint *one,
			const struct ws_watch_hit *hit, uint8_t old[8], uint8_t now[8])
{
	size_t n;
	uint64_t at = hit->address - (uint32_t)one->watch.at.address;
	struct ws_address address = one->watch.at;
	address.warp_index = d->focus.warp_index;
	address.grid_index = d->focus.grid_index;
	if (!one->type ||
	    ws_target_read_memory(d->target, &address, now, one->type->bytes, &n, NULL) != WS_OK)
		return false;
	memcpy(old, now, 8);
	at = (uint32_t)at;
	if (at + hit->n > one->type->bytes)
		return false;
	memcpy(old + at, hit->before, hit->n);
	return true;
}

static void print_value(struct ws_out *out, const char *word, const struct breakpoint *one,
			const uint8_t *value, const uint8_t *bytes, uint32_t n)
{
	ws_out_printf(out, "%s", word);
	if (value)
		run_value_print(one->type, value, out);
	else
		print_bytes(out, bytes, n);
	ws_out_text(out, "\n");
}

static void print(const struct debugger *d, const struct breakpoint *one,
		  const struct ws_watch_hit *hit)
{
	struct ws_out *out = &d->cli->out;
	uint8_t old[8], now[8];
	bool known = whole_value(d, one, hit, old, now);
	bool changed = hit->kinds & WS_WATCH_CHANGE;
	ws_out_printf(out, "%s %u: ", debug_watch_word(one), one->number);
	ws_out_escaped(out, ws_str_of(one->where));
	debug_print_condition(d, one);
	ws_out_text(out, "\n");
	if (!known)
		ws_out_printf(out, "At 0x%" PRIx64 "\n", hit->address);
	if (changed)
		print_value(out, "Old value = ", one, known ? old : NULL, hit->before, hit->n);
	print_value(out, changed ? "New value = " : "Value = ", one, known ? now : NULL, hit->now,
		    hit->n);
	ws_out_printf(
		out, "%s by %u thread%s in ", hit->kinds & WS_WATCH_WRITE ? "Written" : "Read",
		(unsigned)__builtin_popcount(hit->lanes), hit->lanes & (hit->lanes - 1) ? "s" : "");
	debug_print_place(d, hit->pc);
}

struct breakpoint *debug_watch_ahead(struct debugger *d, const struct ws_back_found *found)
{
	struct breakpoint *one = find(d, found->watch);
	const struct ws_watch_hit hit = { .warp_index = found->warp_index, .lanes = found->lanes };
	struct ws_focus focus;
	if (!one || !who(d, one, &hit, &focus))
		return NULL;
	debug_focus_on(d, &focus);
	return one;
}

void debug_watch_value(const struct debugger *d, const struct breakpoint *one)
{
	struct ws_out *out = &d->cli->out;
	uint8_t bytes[8];
	size_t n = 0;
	struct ws_address at = one->watch.at;
	at.warp_index = d->focus.warp_index;
	at.grid_index = d->focus.grid_index;
	uint32_t len = one->type ? one->type->bytes : 4;
	len = len < one->watch.size_bytes ? len : (uint32_t)one->watch.size_bytes;
	ws_out_printf(out, "%s %u: ", debug_watch_word(one), one->number);
	ws_out_escaped(out, ws_str_of(one->where));
	debug_print_condition(d, one);
	ws_out_text(out, "\n");
	if (ws_target_read_memory(d->target, &at, bytes, len, &n, NULL) == WS_OK)
		print_value(out, "Value = ", one, one->type ? bytes : NULL, bytes, len);
}

void debug_watch_tell(struct debugger *d)
{
	struct ws_watch_hit hit;
	struct ws_focus focus;
	struct breakpoint *one;
	for (uint32_t i = 0; (one = next_hit(d, &i, &hit, &focus));) {
		one->hits++;
		print(d, one, &hit);
	}
}
