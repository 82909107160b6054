/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the layouts of 3.0 to 5.5, and the callbacks of 3.1 to 4.1: conversions of the current
 * ones. An old layout cannot carry newer kinds of events; those are dropped from the queue. Images
 * are handed out as pointers, valid until `finalize`.
 */
#include "cudbg-functions.h"

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
 * Both forms of the image that an event tells of; a form that is not there is NULL. The calls here
 * run without the target's lock, and the modules change when a target that runs stops.
 */
static struct ws_cubin_entry image_pointers(struct wsi_cudbg *s, const struct wsi_queued *item)
{
	struct ws_cubin_entry entry;
	uint32_t index = item->module_index;
	memset(&entry, 0, sizeof entry);
	pthread_mutex_lock(&s->lock);
	if (ws_target_can(s->target, WS_CAN_RUN))
		(void)!wsi_cudbg_follow(s, NULL); /* the image may be new */
	if ((index != WS_NONE ||
	     ws_cubin_set_find_handle(s->cubins, item->event.cases.elfImageLoaded.handle, WS_NONE,
				      WS_NONE, &index, NULL) == WS_OK) &&
	    index < ws_cubin_set_count(s->cubins))
		entry = *ws_cubin_set_entry(s->cubins, index);
	pthread_mutex_unlock(&s->lock);
	return entry;
}

/* The old structures have the same field names in ever more fields. */
#define IMAGE_30(to, from, entry)                                                     \
	do {                                                                          \
		(to)->relocatedElfImage = (char *)(uintptr_t)(entry).relocated.ptr;   \
		(to)->nonRelocatedElfImage = (char *)(uintptr_t)(entry).original.ptr; \
	} while (0)
#define IMAGE_32(to, from, entry)                \
	do {                                     \
		IMAGE_30(to, from, entry);       \
		(to)->dev = (from)->dev;         \
		(to)->context = (from)->context; \
		(to)->module = (from)->module;   \
	} while (0)
#define IMAGE_42(to, from, entry)                      \
	do {                                           \
		IMAGE_32(to, from, entry);             \
		(to)->size32 = (uint32_t)(from)->size; \
		(to)->size = (from)->size;             \
	} while (0)
#define KERNEL_30(to, from)                              \
	do {                                             \
		(to)->dev = (from)->dev;                 \
		(to)->gridId = (uint32_t)(from)->gridId; \
		(to)->tid = (from)->tid;                 \
	} while (0)
#define KERNEL_32(to, from)                                  \
	do {                                                 \
		KERNEL_30(to, from);                         \
		(to)->context = (from)->context;             \
		(to)->module = (from)->module;               \
		(to)->function = (from)->function;           \
		(to)->functionEntry = (from)->functionEntry; \
	} while (0)
#define READY_42(to, from)                         \
	do {                                       \
		KERNEL_32(to, from);               \
		(to)->gridDim = (from)->gridDim;   \
		(to)->blockDim = (from)->blockDim; \
		(to)->type = (from)->type;         \
	} while (0)
#define CONTEXT(to, from)                        \
	do {                                     \
		(to)->dev = (from)->dev;         \
		(to)->tid = (from)->tid;         \
		(to)->context = (from)->context; \
	} while (0)

static void to_30(struct wsi_cudbg *s, const struct wsi_queued *item, CUDBGEvent30 *to)
{
	const CUDBGEvent *from = &item->event;
	if (from->kind == CUDBG_EVENT_ELF_IMAGE_LOADED) {
		struct ws_cubin_entry entry = image_pointers(s, item);
		IMAGE_30(&to->cases.elfImageLoaded, &from->cases.elfImageLoaded, entry);
		to->cases.elfImageLoaded.size = (uint32_t)from->cases.elfImageLoaded.size;
	} else if (from->kind == CUDBG_EVENT_KERNEL_READY) {
		KERNEL_30(&to->cases.kernelReady, &from->cases.kernelReady);
	} else {
		KERNEL_30(&to->cases.kernelFinished, &from->cases.kernelFinished);
	}
}

static void to_32(struct wsi_cudbg *s, const struct wsi_queued *item, CUDBGEvent32 *to)
{
	const CUDBGEvent *from = &item->event;
	if (from->kind == CUDBG_EVENT_ELF_IMAGE_LOADED) {
		struct ws_cubin_entry entry = image_pointers(s, item);
		IMAGE_32(&to->cases.elfImageLoaded, &from->cases.elfImageLoaded, entry);
		to->cases.elfImageLoaded.size = (uint32_t)from->cases.elfImageLoaded.size;
	} else if (from->kind == CUDBG_EVENT_KERNEL_READY) {
		KERNEL_32(&to->cases.kernelReady, &from->cases.kernelReady);
	} else if (from->kind == CUDBG_EVENT_KERNEL_FINISHED) {
		KERNEL_32(&to->cases.kernelFinished, &from->cases.kernelFinished);
	} else { /* the four kinds of context events have one layout */
		CONTEXT(&to->cases.contextCreate, &from->cases.contextCreate);
	}
}

static void to_42(struct wsi_cudbg *s, const struct wsi_queued *item, CUDBGEvent42 *to)
{
	const CUDBGEvent *from = &item->event;
	if (from->kind == CUDBG_EVENT_ELF_IMAGE_LOADED) {
		struct ws_cubin_entry entry = image_pointers(s, item);
		IMAGE_42(&to->cases.elfImageLoaded, &from->cases.elfImageLoaded, entry);
	} else if (from->kind == CUDBG_EVENT_KERNEL_READY) {
		READY_42(&to->cases.kernelReady, &from->cases.kernelReady);
	} else if (from->kind == CUDBG_EVENT_KERNEL_FINISHED) {
		KERNEL_32(&to->cases.kernelFinished, &from->cases.kernelFinished);
	} else {
		CONTEXT(&to->cases.contextCreate, &from->cases.contextCreate);
	}
}

/* 5.0 added one kind to the layout of 4.2. */
static void to_50(struct wsi_cudbg *s, const struct wsi_queued *item, CUDBGEvent50 *to)
{
	CUDBGEvent42 old;
	if (item->event.kind == CUDBG_EVENT_INTERNAL_ERROR) {
		to->cases.internalError.errorType = item->event.cases.internalError.errorType;
	} else if (in_32(item)) {
		_Static_assert(sizeof(CUDBGEvent42) == sizeof(CUDBGEvent50), "one layout");
		memset(&old, 0, sizeof old);
		old.kind = to->kind;
		to_42(s, item, &old);
		memcpy(to, &old, sizeof old);
	}
}

static void to_55(struct wsi_cudbg *s, const struct wsi_queued *item, CUDBGEvent55 *to)
{
	const CUDBGEvent *from = &item->event;
	if (from->kind == CUDBG_EVENT_ELF_IMAGE_LOADED) {
		struct ws_cubin_entry entry = image_pointers(s, item);
		IMAGE_42(&to->cases.elfImageLoaded, &from->cases.elfImageLoaded, entry);
	} else if (from->kind == CUDBG_EVENT_KERNEL_READY) {
		READY_42(&to->cases.kernelReady, &from->cases.kernelReady);
		to->cases.kernelReady.parentGridId = from->cases.kernelReady.parentGridId;
		to->cases.kernelReady.gridId64 = from->cases.kernelReady.gridId;
		to->cases.kernelReady.origin = from->cases.kernelReady.origin;
	} else if (from->kind == CUDBG_EVENT_KERNEL_FINISHED) {
		KERNEL_32(&to->cases.kernelFinished, &from->cases.kernelFinished);
		to->cases.kernelFinished.gridId64 = from->cases.kernelFinished.gridId;
	} else if (from->kind == CUDBG_EVENT_INTERNAL_ERROR) {
		to->cases.internalError.errorType = from->cases.internalError.errorType;
	} else if (in_32(item)) {
		CONTEXT(&to->cases.contextCreate, &from->cases.contextCreate);
	}
}

/* ---- the calls ---- */

#define DEFINE_NEXT(name, type, queue, wanted, convert)                             \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, type *event)              \
	{                                                                           \
		struct wsi_queued item;                                             \
		CUDBGResult result = wsi_cudbg_take_event(s, queue, wanted, &item); \
		if (result != CUDBG_SUCCESS)                                        \
			return result;                                              \
		memset(event, 0, sizeof *event);                                    \
		event->kind = item.event.kind;                                      \
		convert(s, &item, event);                                           \
		return CUDBG_SUCCESS;                                               \
	}

DEFINE_NEXT(getNextEvent30, CUDBGEvent30, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_30, to_30)
DEFINE_NEXT(getNextEvent32, CUDBGEvent32, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_32, to_32)
DEFINE_NEXT(getNextEvent42, CUDBGEvent42, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_32, to_42)
DEFINE_NEXT(getNextSyncEvent50, CUDBGEvent50, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_50, to_50)
DEFINE_NEXT(getNextAsyncEvent50, CUDBGEvent50, CUDBG_EVENT_QUEUE_TYPE_ASYNC, in_50, to_50)
DEFINE_NEXT(getNextSyncEvent55, CUDBGEvent55, CUDBG_EVENT_QUEUE_TYPE_SYNC, in_50, to_55)
DEFINE_NEXT(getNextAsyncEvent55, CUDBGEvent55, CUDBG_EVENT_QUEUE_TYPE_ASYNC, in_50, to_55)

CUDBGResult wsi_cudbg_acknowledgeEvent30(struct wsi_cudbg *s, CUDBGEvent30 *event)
{
	(void)event;
	return wsi_cudbg_acknowledgeSyncEvents(s);
}

CUDBGResult wsi_cudbg_acknowledgeEvents42(struct wsi_cudbg *s)
{
	return wsi_cudbg_acknowledgeSyncEvents(s);
}

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

CUDBGResult wsi_cudbg_consumeCudaLogs(struct wsi_cudbg *s, CUDBGCudaLogMessage *logMessages,
				      uint32_t numMessages, uint32_t *numConsumed)
{
	uint32_t n = 0;
	while (n < numMessages) {
		struct ws_log log;
		CUDBGResult result = wsi_cudbg_take_log(s, &log);
		if (result != CUDBG_SUCCESS && n == 0)
			return result;
		if (result != CUDBG_SUCCESS)
			break;
		CUDBGCudaLogMessage *to = &logMessages[n++];
		memset(to, 0, sizeof *to);
		to->unixTimestampNs = log.time_ns;
		to->osThreadId = (uint32_t)log.host_tid;
		to->logLevel = (CUDBGCudaLogLevel)log.level;
		memcpy(to->message, log.text, sizeof to->message - 1);
	}
	*numConsumed = n;
	return CUDBG_SUCCESS;
}
