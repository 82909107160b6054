/* SPDX-License-Identifier: Apache-2.0 */
/* Events and logs of a software GPU that runs. */
#include "target/sim/live.h"

enum { MAX_EVENTS = 1 << 24 };

/* ---- the queue: under lock ---- */

static bool room_for(struct sim_live *live, size_t n)
{
	while (live->cap_events < live->n_events + n)
		if (!wsi_grow(&live->events, &live->cap_events, live->cap_events,
			      sizeof *live->events, MAX_EVENTS))
			return false;
	return true;
}

bool sim_has_room(struct sim_live *live)
{
	return room_for(live, live->promised + 1);
}

bool sim_reserve(struct sim_live *live, size_t n)
{
	while (live->cap_waiters < live->n_waiters + n)
		if (!wsi_grow(&live->waiters, &live->cap_waiters, live->cap_waiters,
			      sizeof *live->waiters, MAX_EVENTS))
			return false;
	return room_for(live, live->promised + n);
}

bool sim_post(struct sim_live *live, const struct ws_event *event, bool promised, bool waits,
	      uint64_t *ret_sequence)
{
	*ret_sequence = 0;
	live->promised -= promised;
	if (!ws_event_is_wanted(event->kind, live->wants))
		return true;
	if (!room_for(live, live->promised + 1) ||
	    (waits && !wsi_grow(&live->waiters, &live->cap_waiters, live->n_waiters,
				sizeof *live->waiters, MAX_EVENTS)))
		return false;
	struct ws_event *to = &live->events[live->n_events++];
	*to = *event;
	to->sequence = *ret_sequence = ++live->sequence;
	live->posted = true;
	if (waits)
		live->waiters[live->n_waiters++] = (struct sim_waiter){ event->kind, to->sequence };
	return true;
}

bool sim_is_awaited(const struct sim_live *live, uint64_t sequence)
{
	for (size_t i = 0; i < live->n_waiters; i++)
		if (live->waiters[i].sequence == sequence)
			return true;
	return false;
}

/* Lets go who waits for events up to a number, or for those that nobody wants. */
static void let_waiters_go(struct sim_live *live, uint64_t up_to)
{
	size_t kept = 0;
	for (size_t i = 0; i < live->n_waiters; i++)
		if (live->waiters[i].sequence > up_to &&
		    ws_event_is_wanted(live->waiters[i].kind, live->wants))
			live->waiters[kept++] = live->waiters[i];
	live->n_waiters = kept;
	sim_nudge(live);
}

void sim_wake(struct sim_live *live)
{
	pthread_mutex_lock(&live->lock);
	bool due = live->posted;
	live->posted = false;
	pthread_mutex_unlock(&live->lock);
	if (!due)
		return;
	pthread_mutex_lock(&live->wake_lock);
	if (live->wake)
		live->wake(live->wake_data);
	pthread_mutex_unlock(&live->wake_lock);
}

/* ---- members ---- */

enum ws_status sim_next_event(struct ws_target *target, struct ws_event *ret_event,
			      struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	pthread_mutex_lock(&live->lock);
	bool any = live->n_events > 0, starved = !any && live->starved;
	if (any) {
		*ret_event = live->events[0];
		memmove(live->events, live->events + 1, --live->n_events * sizeof *live->events);
	} else if (starved) { /* the worker tries once more */
		live->starved = false;
		sim_nudge(live);
	}
	pthread_mutex_unlock(&live->lock);
	if (starved)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event waits for memory");
	return any ? WS_OK : wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no event is pending");
}

enum ws_status sim_acknowledge(struct ws_target *target, uint64_t up_to, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	(void)err;
	pthread_mutex_lock(&live->lock);
	let_waiters_go(live, up_to);
	pthread_mutex_unlock(&live->lock);
	return WS_OK;
}

enum ws_status sim_want(struct ws_target *target, uint32_t wants, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&live->lock);
	live->wants = wants;
	live->watched = true;
	let_waiters_go(live, 0);
	if (sim_loads_all(live)) { /* its images are whole from the first look on */
		sim_take(live, true);
		wsi_load_all_code(live->t->sim);
		if (!live->runs)
			st = sim_renew(live->t, false, err);
		sim_give(live);
	}
	pthread_mutex_unlock(&live->lock);
	return st;
}

void sim_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	struct sim_live *live = sim_of(target)->live;
	pthread_mutex_lock(&live->wake_lock);
	live->wake = wake;
	live->wake_data = data;
	pthread_mutex_unlock(&live->wake_lock);
}
