/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the provider. They are read beside its other calls, as the API allows for those that
 * its callback may make: a step that waits must not keep a client from letting a host thread go.
 * What an event changes in the lists waits for wsi_api_update().
 */
#include "target/api/api.h"

#include "target/event_kinds.h"

/* False for events that a target does not tell, and for kinds that later versions may add. */
static bool event_of(const CUDBGEvent *event, struct ws_event *ret)
{
	memset(ret, 0, sizeof *ret);
	switch (event->kind) {
#define FIELD(theirs, ours) ret->ours = (__typeof__(ret->ours))one->theirs;
#define X(kind_of, name, member, FIELDS)                                           \
	case CUDBG_EVENT_##name: {                                                 \
		const __typeof__(event->cases.member) *one = &event->cases.member; \
		(void)one;                                                         \
		ret->kind = WS_EVENT_##kind_of;                                    \
		FIELDS(FIELD)                                                      \
		break;                                                             \
	}
		WSI_EVENT_KINDS(X)
#undef X
#undef FIELD
	case CUDBG_EVENT_INVALID:
	case CUDBG_EVENT_TIMEOUT:
	default:
		return false;
	}
	if (ret->kind == WS_EVENT_FAILED)
		ret->status = WS_IO;
	if (ret->kind == WS_EVENT_STEP_DONE)
		ret->until_pc = event->cases.singleStepComplete.type !=
				CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP;
	if (ret->kind == WS_EVENT_GRID_READY || ret->kind == WS_EVENT_GRID_FINISHED) {
		ret->grid.context_index = ret->grid.module_index = WS_NONE;
		ret->host_tid = ret->grid.host_tid;
		ret->context_id = ret->grid.context_id;
		ret->module_handle = ret->grid.module_handle;
	}
	return true;
}

/* Whether an event changes the lists, or what devices do. */
static bool event_changes(const CUDBGEvent *event)
{
	return event->kind == CUDBG_EVENT_CTX_CREATE ||
	       event->kind == CUDBG_EVENT_ELF_IMAGE_LOADED ||
	       event->kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED ||
	       event->kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE;
}

/*
 * Acknowledges once nothing that was told waits for the client: the API lets all go that were read,
 * and this target reads ahead of its client.
 */
static enum ws_status let_provider_go(struct api_target *t, struct ws_error *err)
{
	bool held = t->last_sync > t->acknowledged ||
		    (t->wants & WS_WANT_LAUNCHES && t->last_launch > t->acknowledged);
	if (!t->owes || held || !API_HAS(t, acknowledgeSyncEvents))
		return WS_OK;
	enum ws_status st =
		wsi_api_status(t, t->api->acknowledgeSyncEvents(), "acknowledgeSyncEvents", err);
	t->owes = st != WS_OK;
	return st;
}

/* The next event of a queue that is wanted. WS_ABSENT: none waits. */
static enum ws_status next_wanted_event(struct api_target *t, CUDBGEventQueueType type,
					struct ws_event *ret_event, struct ws_error *err)
{
	for (;;) {
		CUDBGEvent event;
		if (!wsi_grow(&t->untaken.items, &t->untaken.cap, t->untaken.n,
			      sizeof *t->untaken.items, UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "events");
		if (API_CALL(t, getNextEvent, type, &event) != CUDBG_SUCCESS)
			return WS_ABSENT;
		if (event_changes(&event))
			t->untaken.items[t->untaken.n++] = event;
		bool sync = type == CUDBG_EVENT_QUEUE_TYPE_SYNC;
		bool told = event_of(&event, ret_event) &&
			    ws_event_is_wanted(ret_event->kind, t->wants);
		t->owes = t->owes || sync;
		ret_event->sync = sync;
		ret_event->sequence = t->sequence + told;
		t->sequence += told;
		if (told && sync)
			*(ret_event->kind == WS_EVENT_GRID_READY ? &t->last_launch
								 : &t->last_sync) = t->sequence;
		if (told)
			return WS_OK;
		(void)let_provider_go(t, NULL);
	}
}

enum ws_status wsi_api_next_event(struct ws_target *target, struct ws_event *ret_event,
				  struct ws_error *err)
{
	struct api_target *t = target->state;
	struct ws_event event;
	wsi_hold(&t->event_lock);
	if (t->attached) {
		t->attached = false;
		*ret_event =
			(struct ws_event){ .kind = WS_EVENT_ATTACHED, .sequence = ++t->sequence };
		return WS_OK;
	}
	enum ws_status st = next_wanted_event(t, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event, err);
	if (st == WS_ABSENT)
		st = next_wanted_event(t, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event, err);
	if (st == WS_OK)
		*ret_event = event;
	return st == WS_ABSENT ? wsi_fail(err, st, WS_NO_OFFSET, "no event is pending") : st;
}

enum ws_status wsi_api_acknowledge(struct ws_target *target, uint64_t up_to, struct ws_error *err)
{
	struct api_target *t = target->state;
	wsi_hold(&t->event_lock);
	if (up_to > t->acknowledged)
		t->acknowledged = up_to;
	return let_provider_go(t, err);
}

/* Capabilities of a provider cannot change once it is initialized; what it tells beyond what is
 * wanted is passed over. */
enum ws_status wsi_api_want(struct ws_target *target, uint32_t wants, struct ws_error *err)
{
	struct api_target *t = target->state;
	wsi_hold(&t->event_lock);
	t->wants = wants;
	CUDBGResult result = API_CALL(t, setKernelLaunchNotificationMode,
				      wants & WS_WANT_LAUNCHES ? CUDBG_KNL_LAUNCH_NOTIFY_EVENT
							       : CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
	enum ws_status st = wsi_api_not_offered(result)
				    ? WS_OK
				    : wsi_api_status(t, result, "launch notification", err);
	if (st == WS_OK)
		st = let_provider_go(t, err);
	return st;
}

/* On a thread of the provider. */
static void notified(CUDBGEventCallbackData *data)
{
	struct api_target *t = data->userData;
	wsi_hold(&t->wake_lock);
	if (t->wake)
		t->wake(t->wake_data);
}

/* Versions before 13.0 pass no data to the callback: with them events are only found by looking. */
void wsi_api_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	struct api_target *t = target->state;
	pthread_mutex_lock(&t->wake_lock);
	bool was = t->wake != NULL;
	t->wake = wake;
	t->wake_data = data;
	pthread_mutex_unlock(&t->wake_lock);
	if (was != (wake != NULL) && API_HAS(t, setNotifyNewEventCallback))
		(void)API_CALL(t, setNotifyNewEventCallback, wake ? notified : NULL,
			       wake ? t : NULL);
}
