/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the layouts of 3.0 to 5.5, and the callbacks of 3.1 to 4.1: conversions of the current
 * ones. An old layout cannot carry newer kinds of events; those are dropped from the queue. Images
 * are handed out as pointers, valid until `finalize`.
 */
#include "cubin/cubin.h"
#include "cudbg-functions.h"
#include "cudbg/remote.h"

#include <warpscope/cubin.h>

/* ---- what a layout can carry ---- */

static bool in_30(const struct wsi_queued *item)
{
	CUDBGEventKind kind = item->event.kind;
	return kind == CUDBG_EVENT_ELF_IMAGE_LOADED || kind == CUDBG_EVENT_KERNEL_READY ||
	       kind == CUDBG_EVENT_KERNEL_FINISHED;
}

static bool in_32(const struct wsi_queued *item)
{
	CUDBGEventKind kind = item->event.kind;
	return in_30(item) || kind == CUDBG_EVENT_CTX_PUSH || kind == CUDBG_EVENT_CTX_POP ||
	       kind == CUDBG_EVENT_CTX_CREATE || kind == CUDBG_EVENT_CTX_DESTROY;
}

static bool in_50(const struct wsi_queued *item)
{
	CUDBGEventKind kind = item->event.kind;
	return in_32(item) || kind == CUDBG_EVENT_INTERNAL_ERROR || kind == CUDBG_EVENT_TIMEOUT ||
	       kind == CUDBG_EVENT_ATTACH_COMPLETE || kind == CUDBG_EVENT_DETACH_COMPLETE;
}

/* ---- fields ---- */

/*
 * Both forms of the image that an event tells of; a form that is not there, or is shorter than the
 * one size that the event tells, is NULL. The calls here
 * run without the target's lock, and the modules change when a target that runs stops.
 */
static struct ws_cubin_entry image_pointers(struct wsi_cudbg *s, const struct wsi_queued *item)
{
	struct ws_cubin_entry entry;
	uint32_t index = item->module_index;
	memset(&entry, 0, sizeof entry);
	wsi_hold(&s->lock);
	if (ws_target_can(s->target, WS_CAN_RUN))
		(void)!wsi_cudbg_follow(s, NULL); /* the image may be new */
	if ((index != WS_NONE ||
	     ws_cubin_set_find_handle(s->cubins, item->event.cases.elfImageLoaded.handle, WS_NONE,
				      WS_NONE, &index, NULL) == WS_OK) &&
	    index < ws_cubin_set_count(s->cubins))
		entry = *wsi_cubin_set_entry(s->cubins, index);
	if (entry.relocated.len < item->event.cases.elfImageLoaded.size)
		entry.relocated.ptr = NULL;
	if (entry.original.len < item->event.cases.elfImageLoaded.size)
		entry.original.ptr = NULL;
	return entry;
}

/* A field of the current event, by the name that it had. */
static const struct wsi_api_field *current_field(const char *name)
{
	static const struct {
		const char *then, *now;
	} renamed[] = {
		{ "cases.elfImageLoaded.size32", "cases.elfImageLoaded.size" },
		{ "cases.kernelReady.gridId64", "cases.kernelReady.gridId" },
		{ "cases.kernelFinished.gridId64", "cases.kernelFinished.gridId" },
	};
	const struct wsi_api_arg *event = &wsi_api_functions[WSI_SLOT(getNextEvent)].args[1];
	for (size_t i = 0; i < WSI_COUNT(renamed); i++) {
		if (strcmp(renamed[i].then, name) == 0)
			name = renamed[i].now;
	}
	for (size_t i = 0; i < event->n_fields; i++) {
		if (strcmp(event->fields[i].name, name) == 0)
			return &event->fields[i];
	}
	return NULL;
}

/*
 * Fills `to`, which is all zero and of an older layout, field by field as the API's tables name
 * them. Numbers that grew lose their upper bytes; what has no counterpart is a pointer to an image.
 */
static void convert(struct wsi_cudbg *s, const struct wsi_queued *item,
		    const struct wsi_api_arg *layout, void *to)
{
	struct ws_cubin_entry entry = { 0 };
	if (item->event.kind == CUDBG_EVENT_ELF_IMAGE_LOADED)
		entry = image_pointers(s, item);
	for (size_t i = 0; i < layout->n_fields; i++) {
		const struct wsi_api_field *field = &layout->fields[i];
		const struct wsi_api_field *now = current_field(field->name);
		if (field->when != -1 && field->when != (int32_t)item->event.kind)
			continue;
		const void *from = now ? (const char *)&item->event + now->offset
				   : strstr(field->name, "nonRelocated")
					   ? (const void *)&entry.original.ptr
					   : &entry.relocated.ptr;
		memcpy((char *)to + field->offset, from, field->size);
	}
}

bool wsi_cudbg_put_async(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values,
			 const struct wsi_queued *item)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	const bool is_old =
		slot == WSI_SLOT(getNextAsyncEvent50) || slot == WSI_SLOT(getNextAsyncEvent55);
	void *event = is_old ? values[0].pointer : NULL;
	if (slot == WSI_SLOT(getNextEvent) && values[0].number == CUDBG_EVENT_QUEUE_TYPE_ASYNC)
		event = values[1].pointer;
	if (!event)
		return false;
	memset(event, 0, fn->args[fn->n_args - 1].size);
	convert(s, item, &fn->args[fn->n_args - 1], event);
	return true;
}

/* ---- the calls ---- */

#define DEFINE_NEXT(name, type, queue, wanted)                                      \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, type *event)              \
	{                                                                           \
		struct wsi_queued item;                                             \
		CUDBGResult result = wsi_cudbg_take_event(s, queue, wanted, &item); \
		if (result != CUDBG_SUCCESS)                                        \
			return result;                                              \
		memset(event, 0, sizeof *event);                                    \
		convert(s, &item, wsi_api_functions[WSI_SLOT(name)].args, event);   \
		return CUDBG_SUCCESS;                                               \
	}

DEFINE_NEXT(getNextEvent30, CUDBGEvent30, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_30)
DEFINE_NEXT(getNextEvent32, CUDBGEvent32, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_32)
DEFINE_NEXT(getNextEvent42, CUDBGEvent42, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_32)
DEFINE_NEXT(getNextSyncEvent50, CUDBGEvent50, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_50)
DEFINE_NEXT(getNextAsyncEvent50, CUDBGEvent50, CUDBG_EVENT_QUEUE_TYPE_ASYNC, in_50)
DEFINE_NEXT(getNextSyncEvent55, CUDBGEvent55, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_50)
DEFINE_NEXT(getNextAsyncEvent55, CUDBGEvent55, CUDBG_EVENT_QUEUE_TYPE_ASYNC, in_50)

CUDBGResult wsi_cudbg_setNotifyNewEventCallback31(struct wsi_cudbg *s,
						  CUDBGNotifyNewEventCallback31 callback,
						  void *data)
{
	return wsi_cudbg_set_notify(s,
				    &(struct wsi_notify){ .callback31 = callback, .data = data });
}

CUDBGResult wsi_cudbg_setNotifyNewEventCallback40(struct wsi_cudbg *s,
						  CUDBGNotifyNewEventCallback40 callback)
{
	return wsi_cudbg_set_notify(s, &(struct wsi_notify){ .callback40 = callback });
}

CUDBGResult wsi_cudbg_setNotifyNewEventCallback41(struct wsi_cudbg *s,
						  CUDBGNotifyNewEventCallback41 callback)
{
	return wsi_cudbg_set_notify(s, &(struct wsi_notify){ .callback41 = callback });
}
