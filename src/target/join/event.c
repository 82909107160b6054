/* SPDX-License-Identifier: Apache-2.0 */
/* Events and logs of targets joined. */
#include "target/join/join.h"

enum { MAX_EVENTS = 1 << 22 };

/* ---- the queue: under lock ---- */

static bool events_have_room(struct join_events *events, size_t n)
{
	while (events->cap < events->n + n)
		if (!wsi_grow(&events->items, &events->cap, events->cap, sizeof *events->items,
			      MAX_EVENTS))
			return false;
	return true;
}

static void drop_first(struct join_events *events)
{
	memmove(events->items, events->items + 1, --events->n * sizeof *events->items);
}

/* There is room. */
static void queue(struct join *j, const struct ws_event *event, uint32_t part, uint64_t sequence)
{
	if (!ws_event_is_wanted(event->kind, j->wants))
		return;
	struct join_event *item = &j->queue.items[j->queue.n++];
	*item = (struct join_event){ *event, part, event->sync ? sequence : 0 };
	item->event.sequence = ++j->sequence;
}

/* ---- one stop of all ---- */

static bool runs(const struct join_part *part)
{
	bool any = false;
	for (uint32_t i = 0; i < part->n_devices; i++)
		any |= ws_target_running(part->target, i);
	return any;
}

/* Asks the parts to stop that have not. */
static void stop_others(struct join *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		struct join_part *part = &j->parts[i];
		if (part->stood || part->awaited || !runs(part))
			continue;
		part->awaited = true;
		(void)!ws_target_suspend(part->target, WS_NONE, false, NULL);
	}
}

/* A part has stopped. False: its client asked it to, it alone. */
static bool stopped(struct join *j, struct join_part *part, const struct ws_event *event)
{
	bool alone = part->alone && !event->broken_devices && !event->faulted_devices;
	part->alone = part->awaited = false;
	part->stood = true;
	part->broken = event->broken_devices;
	part->faulted = event->faulted_devices;
	if (alone)
		return false;
	j->stopping = true;
	if (!j->resuming)
		stop_others(j);
	return true;
}

/* Tells of a stop once nobody runs any more. There is room. */
static void tell_stop(struct join *j)
{
	struct ws_event event = { .kind = WS_EVENT_STOPPED, .sync = true };
	if (j->resuming)
		return;
	for (uint32_t i = 0; i < j->n; i++) {
		struct join_part *part = &j->parts[i];
		part->awaited = part->awaited && runs(part);
		if (part->awaited)
			return;
		event.broken_devices |= part->broken;
		event.faulted_devices |= part->faulted;
	}
	if (j->stopping)
		queue(j, &event, 0, 0);
	j->stopping = false;
}

void join_begin_resume(struct join *j)
{
	wsi_hold(&j->lock);
	j->resuming = true;
}

void join_end_resume(struct join *j)
{
	wsi_hold(&j->lock);
	j->resuming = false;
	if (j->stopping)
		stop_others(j);
}

/* ---- taking from the parts ---- */

/* Whether the whole tells it: what each part tells of a thing that there is once is told once. */
static bool is_told_once(struct join *j, uint32_t part, const struct ws_event *event)
{
	if (event->kind == WS_EVENT_LOG_RULES || event->kind == WS_EVENT_DETACHED)
		return part == 0;
	if (event->kind != WS_EVENT_LOGS_AVAILABLE || event->sync)
		return true;
	bool first = !j->logs_told;
	j->logs_told = true;
	return first;
}

static void event_take(struct join *j, uint32_t i, struct ws_event *event)
{
	struct join_part *part = &j->parts[i];
	uint64_t sequence = event->sequence;
	event->device_id += part->first_device;
	event->broken_devices <<= part->first_device;
	event->faulted_devices <<= part->first_device;
	if (event->kind == WS_EVENT_STOPPED && stopped(j, part, event))
		return; /* told when all stand */
	if (is_told_once(j, i, event))
		queue(j, event, i, sequence);
}

enum ws_status join_pump(struct join *j, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	wsi_hold(&j->lock);
	for (uint32_t i = 0; i < j->n; i++) {
		struct ws_event event;
		do {
			if (!events_have_room(&j->queue,
					      2)) /* and for the stop that it may complete */
				return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
			st = ws_target_next_event(j->parts[i].target, &event, err);
			if (st == WS_OK)
				event_take(j, i, &event);
		} while (st == WS_OK);
		if (st != WS_ABSENT)
			return st;
	}
	tell_stop(j);
	return WS_OK;
}

void join_woken(void *data)
{
	struct join *j = ((struct join_part *)data)->join;
	(void)!join_pump(j, NULL); /* what had no room is taken when the client asks */
	wsi_hold(&j->wake_lock);
	if (j->wake)
		j->wake(j->wake_data);
}

/* ---- members ---- */

enum ws_status join_next_event(struct ws_target *target, struct ws_event *ret_event,
			       struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = join_pump(j, err);
	wsi_hold(&j->lock);
	if (j->queue.n == 0)
		return st == WS_OK ? wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no event is pending")
				   : st;
	if (!events_have_room(&j->held, 1))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
	*ret_event = j->queue.items[0].event;
	if (j->queue.items[0].sequence)
		j->held.items[j->held.n++] = j->queue.items[0];
	drop_first(&j->queue);
	return WS_OK;
}

/* Sequence numbers of a part's events grow as those of the whole do. */
enum ws_status join_acknowledge(struct ws_target *target, uint64_t up_to, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	wsi_hold(&j->lock);
	while (j->held.n > 0 && j->held.items[0].event.sequence <= up_to && st == WS_OK) {
		const struct join_event *one = &j->held.items[0]; /* they are in order */
		st = ws_target_acknowledge(j->parts[one->part].target, one->sequence, err);
		if (st == WS_OK)
			drop_first(&j->held);
	}
	for (uint32_t i = 0; up_to == UINT64_MAX && i < j->n && st == WS_OK; i++)
		st = ws_target_acknowledge(j->parts[i].target, UINT64_MAX, err);
	return st;
}

/* Stops of the parts are always wanted: the others must follow. */
enum ws_status join_want(struct ws_target *target, uint32_t wants, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	wsi_hold(&j->lock);
	j->wants = wants;
	for (uint32_t i = 0; i < j->n && st == WS_OK; i++)
		st = ws_target_want(j->parts[i].target, wants | WS_WANT_STOPS, err);
	return st;
}

void join_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	struct join *j = join_of(target);
	wsi_hold(&j->wake_lock);
	j->wake = wake;
	j->wake_data = data;
}

/* ---- logs ---- */

enum ws_status join_take_logs(struct ws_target *target, struct ws_log *ret_logs, uint32_t cap,
			      uint32_t *ret_n, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	uint32_t n = 0;
	wsi_hold(&j->lock);
	for (uint32_t i = 0; i < j->n && n < cap && st == WS_OK; i++) {
		uint32_t more = 0;
		st = ws_target_take_logs(j->parts[i].target, ret_logs + n, cap - n, &more, err);
		n += st == WS_OK ? more : 0;
	}
	j->logs_told = j->logs_told && n == cap;
	*ret_n = n;
	return n ? WS_OK : st;
}

enum ws_status join_log_rules(struct ws_target *target, const struct ws_log_rule *rules, uint32_t n,
			      uint32_t *ret_ruleset, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < j->n && st == WS_OK; i++)
		st = ws_target_log_rules(j->parts[i].target, rules, n, ret_ruleset, err);
	return st;
}

enum ws_status join_launch_stack(struct ws_target *target, uint32_t grid_index,
				 uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
				 struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), grids, &grid_index);
	return ws_target_launch_stack(part->target, grid_index, ret_addresses, cap, ret_n, err);
}
