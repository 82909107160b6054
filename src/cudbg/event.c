/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: two queues, and one thread that notifies the client.
 *
 * `initialize` queues what a client needs to learn of the target as it stands: contexts, images,
 * functions, that all devices stand, the kernels that are resident. A target that can run adds its
 * own events later; they are pulled when a client asks or when the target wakes the thread.
 *
 * What the client wants to be told goes to the target (wsi_cudbg_want()), which then lets launches
 * go on that nobody is told of. The kernels that are resident at `initialize` are left out when
 * they are read, so that the mode may be set after it.
 *
 * No event is lost: there is room in a queue before one is taken out of the target. What the client
 * acknowledges is what it read, not what was pulled. The callback is called once per event, in the
 * order of each queue, always on the same thread, without any lock held.
 */
#include "cudbg-functions.h"
#include "cudbg/remote.h"

#include "target/event_kinds.h"

enum { MAX_QUEUED = 1 << 22 };

static _Thread_local const struct wsi_cudbg *thread_of; /* set on callback threads */

bool wsi_cudbg_in_callback(const struct wsi_cudbg *s)
{
	return thread_of == s;
}

/* ---- queues: under queue_lock ---- */

static bool queue_has_room(struct wsi_queue *queue)
{
	if (queue->read == queue->n)
		queue->read = queue->n = queue->notified = 0;
	return wsi_grow(&queue->items, &queue->cap, queue->n, sizeof *queue->items, MAX_QUEUED);
}

static bool push_queued_event(struct wsi_cudbg *s, CUDBGEventQueueType type,
			      const struct wsi_queued *item)
{
	struct wsi_queue *queue = &s->queue[type];
	if (!queue_has_room(queue))
		return false;
	queue->items[queue->n++] = *item;
	pthread_cond_broadcast(&s->queue_cond);
	return true;
}

static void queue_clear(struct wsi_queue *queue)
{
	wsi_free(queue->items);
	memset(queue, 0, sizeof *queue);
}

/* ---- as the API tells an event ---- */

static CUDBGEvent event_told(const struct ws_event *from)
{
	CUDBGEvent to;
	memset(&to, 0, sizeof to);
	to.kind = CUDBG_EVENT_INTERNAL_ERROR;
	switch (from->kind) {
#define FIELD(theirs, ours) one->theirs = (__typeof__(one->theirs))from->ours;
#define X(kind_of, name, member, FIELDS)                             \
	case WS_EVENT_##kind_of: {                                   \
		__typeof__(to.cases.member) *one = &to.cases.member; \
		(void)one;                                           \
		to.kind = CUDBG_EVENT_##name;                        \
		FIELDS(FIELD)                                        \
		break;                                               \
	}
		WSI_EVENT_KINDS(X)
#undef X
#undef FIELD
	}
	if (to.kind == CUDBG_EVENT_INTERNAL_ERROR)
		to.cases.internalError.errorType = CUDBG_ERROR_INTERNAL;
	else if (from->kind == WS_EVENT_STEP_DONE)
		to.cases.singleStepComplete.type =
			from->until_pc ? CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC
				       : CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP;
	return to;
}

static struct wsi_queued translate(const struct ws_event *from)
{
	struct wsi_queued item;
	memset(&item, 0, sizeof item);
	item.event = event_told(from);
	item.tid = from->host_tid ? from->host_tid : from->grid.host_tid;
	item.module_index = WS_NONE;
	item.sequence = from->sequence;
	return item;
}

/* ---- the target as it stands ---- */

/* Device number of a device index; false for one that the API cannot number. */
static bool device_number_of(const struct wsi_cudbg *s, uint32_t device_index, uint32_t *ret_dev)
{
	for (uint32_t i = 0; i < s->stock->n_devices; i++)
		if (s->stock->device[i].present && s->stock->device[i].index == device_index) {
			*ret_dev = i;
			return true;
		}
	return false;
}

static enum ws_status full(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "event queue");
}

static enum ws_status push_event(struct wsi_cudbg *s, const struct ws_event *event,
				 struct ws_error *err)
{
	struct wsi_queued item = translate(event);
	return push_queued_event(s, CUDBG_EVENT_QUEUE_TYPE_SYNC, &item) ? WS_OK : full(err);
}

static enum ws_status push_contexts(struct wsi_cudbg *s, uint32_t n, struct ws_error *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_context context;
		struct ws_event event = { .kind = WS_EVENT_CONTEXT_CREATED };
		enum ws_status st = ws_target_context(s->target, i, &context, err);
		if (st == WS_OK && device_number_of(s, context.device_index, &event.device_id)) {
			event.host_tid = context.host_tid;
			event.context_id = context.id;
			st = push_event(s, &event, err);
		}
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

/* Only the kernels that use an image tell that it is the driver's own. */
static enum ws_status system_images(struct wsi_cudbg *s, const struct ws_counts *counts,
				    bool *ret_system, struct ws_error *err)
{
	for (uint32_t i = 0; i < counts->grids; i++) {
		struct ws_grid grid;
		enum ws_status st = ws_target_grid(s->target, i, &grid, err);
		if (st != WS_OK)
			return st;
		if (grid.module_index < counts->modules && grid.type == CUDBG_KNL_TYPE_SYSTEM)
			ret_system[grid.module_index] = true;
	}
	return WS_OK;
}

static enum ws_status push_image(struct wsi_cudbg *s, uint32_t index, bool system,
				 struct ws_error *err)
{
	struct ws_module module;
	struct ws_context context = { .id = 0 };
	uint32_t dev;
	enum ws_status st = ws_target_module(s->target, index, &module, err);
	if (st != WS_OK)
		return st;
	bool have_relocated = module.relocated_status == WS_OK;
	if (!device_number_of(s, module.device_index, &dev) ||
	    (!have_relocated && module.original_status != WS_OK))
		return WS_OK;
	if (module.context_index != WS_NONE) {
		st = ws_target_context(s->target, module.context_index, &context, err);
		if (st != WS_OK)
			return st;
	}
	struct ws_event event = {
		.kind = WS_EVENT_MODULE_LOADED,
		.device_id = dev,
		.host_tid = context.host_tid,
		.context_id = context.id,
		.module_handle = module.handle,
		.image_bytes = have_relocated ? module.relocated.len : module.original.len,
	};
	struct wsi_queued item = translate(&event);
	item.module_index = index;
	item.event.cases.elfImageLoaded.properties =
		system ? (uint32_t)CUDBG_ELF_IMAGE_PROPERTIES_SYSTEM : 0;
	if (!push_queued_event(s, CUDBG_EVENT_QUEUE_TYPE_SYNC, &item))
		return full(err);
	if (!(s->capabilities & CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING))
		return WS_OK;
	event.kind = WS_EVENT_FUNCTIONS_LOADED;
	event.n_functions = wsi_cudbg_count_loaded(s, index, &module);
	return event.n_functions ? push_event(s, &event, err) : WS_OK;
}

static enum ws_status push_images(struct wsi_cudbg *s, const struct ws_counts *counts,
				  struct ws_error *err)
{
	wsi_scoped_free bool *system =
		wsi_zalloc_array((size_t)counts->modules + 1, sizeof *system);
	if (!system)
		return full(err);
	enum ws_status st = system_images(s, counts, system, err);
	for (uint32_t i = 0; st == WS_OK && i < counts->modules; i++)
		st = push_image(s, i, system[i], err);
	return st;
}

/* Which devices have a broken warp, and which an exception. */
static enum ws_status push_stopped(struct wsi_cudbg *s, struct ws_error *err)
{
	struct ws_event event = { .kind = WS_EVENT_STOPPED };
	if (!(s->capabilities & CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS))
		return WS_OK;
	for (uint32_t dev = 0; dev < s->stock->n_devices; dev++) {
		struct wsi_device_row *device = &s->stock->device[dev];
		if (!device->present || device->running)
			continue;
		for (uint32_t sm = 0; sm < device->n_sms; sm++)
			if (device->sms[sm].broken)
				event.broken_devices |= 1ull << dev;
		const struct wsi_faults *faults = wsi_cudbg_faults(s, device);
		for (unsigned word = 0; faults && word < CUDBG_MAX_SMS / 64; word++)
			if (wsi_cudbg_fault_word(s, faults, word))
				event.faulted_devices |= 1ull << dev;
	}
	return push_event(s, &event, err);
}

static enum ws_status push_kernels(struct wsi_cudbg *s, const struct ws_counts *counts,
				   struct ws_error *err)
{
	wsi_scoped_free bool *resident =
		wsi_zalloc_array((size_t)counts->grids + 1, sizeof *resident);
	if (!resident)
		return full(err);
	for (uint32_t i = 0; i < counts->blocks; i++) {
		struct ws_block block;
		enum ws_status st = ws_target_block(s->target, i, &block, err);
		if (st != WS_OK)
			return st;
		if (block.grid_index < counts->grids)
			resident[block.grid_index] = true;
	}
	for (uint32_t i = 0; i < counts->grids; i++) {
		struct ws_event event = { .kind = WS_EVENT_GRID_READY };
		enum ws_status st = ws_target_grid(s->target, i, &event.grid, err);
		if (st != WS_OK)
			return st;
		if (!resident[i] || event.grid.origin != CUDBG_KNL_ORIGIN_CPU ||
		    !device_number_of(s, event.grid.device_index, &event.device_id))
			continue;
		st = push_event(s, &event, err);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

static enum ws_status push_all(struct wsi_cudbg *s, struct ws_error *err)
{
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	enum ws_status st = push_contexts(s, counts.contexts, err);
	if (st == WS_OK)
		st = push_images(s, &counts, err);
	for (uint32_t i = 0; i < counts.devices; i++)
		if (ws_target_running(s->target, i))
			return st; /* what runs tells of itself when it stops */
	if (st == WS_OK)
		st = push_stopped(s, err);
	if (st == WS_OK)
		st = push_kernels(s, &counts, err);
	return st;
}

/* ---- events of a target that runs ---- */

/* Clients of before these events (12.4 and older) learn of a stop by the callback alone, and look.
 * [measured: cuda-gdb 12.4] */
static bool is_silent(const struct wsi_cudbg *s, const struct ws_event *event)
{
	return event->kind == WS_EVENT_STOPPED &&
	       !(s->capabilities & CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
}

/* Under queue_lock. One for which there is no memory is known when its device is stopped. */
static void note_image(struct wsi_cudbg *s, const struct ws_event *event)
{
	const struct wsi_told_image image = { event->device_id, event->module_handle,
					      event->relocated, event->original };
	for (size_t i = 0; event->kind == WS_EVENT_MODULE_UNLOADED && i < s->n_told;)
		if (s->told[i].dev == image.dev && s->told[i].handle == image.handle)
			s->told[i] = s->told[--s->n_told];
		else
			i++;
	if (event->kind == WS_EVENT_MODULE_LOADED && image.relocated.ptr &&
	    wsi_grow(&s->told, &s->cap_told, s->n_told, sizeof image, MAX_QUEUED))
		s->told[s->n_told++] = image;
}

bool wsi_cudbg_told_image(struct wsi_cudbg *s, uint32_t dev, uint64_t handle,
			  struct wsi_told_image *ret)
{
	wsi_hold(&s->queue_lock);
	for (size_t i = s->n_told; i > 0; i--)
		if (s->told[i - 1].dev == dev && s->told[i - 1].handle == handle) {
			*ret = s->told[i - 1];
			return true;
		}
	return false;
}

/*
 * Takes in what the target queued, as long as there is room. Not under queue_lock: the target may
 * be in the middle of waking us, which takes that lock.
 */
static enum ws_status pull(struct wsi_cudbg *s)
{
	enum ws_status st = ws_target_can(s->target, WS_CAN_TELL) ? WS_OK : WS_ABSENT;
	pthread_mutex_lock(&s->pull_lock);
	while (st == WS_OK) {
		struct ws_event from;
		pthread_mutex_lock(&s->queue_lock);
		bool room = queue_has_room(&s->queue[0]) && queue_has_room(&s->queue[1]);
		pthread_mutex_unlock(&s->queue_lock);
		st = room ? ws_target_next_event(s->target, &from, NULL) : WS_NO_MEMORY;
		if (st != WS_OK)
			break;
		struct wsi_queued item = translate(&from);
		pthread_mutex_lock(&s->queue_lock);
		if (is_silent(s, &from)) {
			s->silent_stops++;
			pthread_cond_broadcast(&s->queue_cond);
			pthread_mutex_unlock(&s->queue_lock);
			continue;
		}
		note_image(s, &from);
		(void)push_queued_event(
			s, from.sync ? CUDBG_EVENT_QUEUE_TYPE_SYNC : CUDBG_EVENT_QUEUE_TYPE_ASYNC,
			&item); /* there is room: only pulling adds, once events began */
		pthread_mutex_unlock(&s->queue_lock);
	}
	pthread_mutex_unlock(&s->pull_lock);
	return st;
}

/* ---- the callback thread ---- */

static void run_callback(const struct wsi_notify *notify, uint32_t tid)
{
	if (notify->callback) {
		CUDBGEventCallbackData data = { .userData = notify->data, .tid = tid };
		notify->callback(&data);
	} else if (notify->callback41) {
		CUDBGEventCallbackData41 data = { .tid = tid, .timeout = 0 };
		notify->callback41(&data);
	} else if (notify->callback40) {
		CUDBGEventCallbackData40 data = { .tid = tid };
		notify->callback40(&data);
	} else if (notify->callback31) {
		notify->callback31(notify->data);
	}
}

static bool has_callback(const struct wsi_notify *notify)
{
	return notify->callback || notify->callback41 || notify->callback40 || notify->callback31;
}

/* The next event that the client was not told of; counts it as told. */
static bool next_untold(struct wsi_cudbg *s, uint32_t *ret_tid)
{
	*ret_tid = 0;
	if (s->silent_stops) {
		s->silent_stops--;
		return true;
	}
	for (unsigned type = 0; type < 2; type++) {
		struct wsi_queue *queue = &s->queue[type];
		if (queue->notified < queue->read)
			queue->notified = queue->read;
		if (queue->notified < queue->n) {
			*ret_tid = queue->items[queue->notified++].tid;
			return true;
		}
	}
	return false;
}

void wsi_cudbg_tell(struct wsi_cudbg *s, uint32_t tid)
{
	pthread_mutex_lock(&s->queue_lock);
	struct wsi_notify notify = s->notify;
	pthread_mutex_unlock(&s->queue_lock);
	thread_of = s;
	atomic_fetch_or(&s->mode, WSI_MODE_CALLBACK);
	run_callback(&notify, tid);
	atomic_fetch_and(&s->mode, ~(uint32_t)WSI_MODE_CALLBACK);
}

static void *callback_thread(void *data)
{
	struct wsi_cudbg *s = data;
	pthread_mutex_lock(&s->queue_lock);
	while (!s->thread_stops) {
		uint32_t tid;
		if (s->woken) {
			s->woken = false;
			pthread_mutex_unlock(&s->queue_lock);
			(void)pull(s); /* what it could not take is taken when the client reads */
			pthread_mutex_lock(&s->queue_lock);
		} else if (has_callback(&s->notify) && next_untold(s, &tid)) {
			pthread_mutex_unlock(&s->queue_lock);
			wsi_cudbg_tell(s, tid);
			pthread_mutex_lock(&s->queue_lock);
		} else {
			pthread_cond_wait(&s->queue_cond, &s->queue_lock);
		}
	}
	pthread_mutex_unlock(&s->queue_lock);
	return NULL;
}

/* Under queue_lock: a thread is needed when there is somebody to tell. */
static bool start_event_thread(struct wsi_cudbg *s)
{
	if (s->thread_runs || !has_callback(&s->notify))
		return true;
	s->thread_stops = false;
	s->thread_runs = pthread_create(&s->thread, NULL,
					s->remote ? wsi_remote_listen : callback_thread, s) == 0;
	return s->thread_runs;
}

bool wsi_cudbg_start_telling(struct wsi_cudbg *s)
{
	wsi_hold(&s->queue_lock);
	return start_event_thread(s);
}

static void wake(void *data)
{
	struct wsi_cudbg *s = data;
	wsi_hold(&s->queue_lock);
	s->woken = true;
	pthread_cond_broadcast(&s->queue_cond);
}

enum ws_status wsi_cudbg_start_events(struct wsi_cudbg *s, struct ws_error *err)
{
	pthread_mutex_lock(&s->queue_lock);
	queue_clear(&s->queue[0]);
	queue_clear(&s->queue[1]);
	s->silent_stops = 0;
	enum ws_status st = push_all(s, err);
	pthread_mutex_unlock(&s->queue_lock);
	if (st != WS_OK)
		return st;
	ws_target_on_event(s->target, wake, s);
	pthread_mutex_lock(&s->queue_lock);
	s->woken = true;
	pthread_mutex_unlock(&s->queue_lock);
	return WS_OK;
}

void wsi_cudbg_stop_events(struct wsi_cudbg *s)
{
	if (s->target)
		ws_target_on_event(s->target, NULL, NULL);
	pthread_mutex_lock(&s->queue_lock);
	bool runs = s->thread_runs;
	s->thread_stops = true;
	s->thread_runs = false;
	pthread_cond_broadcast(&s->queue_cond);
	pthread_mutex_unlock(&s->queue_lock);
	if (runs)
		pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->queue_lock);
	queue_clear(&s->queue[0]);
	queue_clear(&s->queue[1]);
	wsi_free(s->told);
	s->told = NULL;
	s->n_told = s->cap_told = 0;
	pthread_mutex_unlock(&s->queue_lock);
}

/* ---- what clients call ---- */

CUDBGResult wsi_cudbg_set_notify(struct wsi_cudbg *s, const struct wsi_notify *notify)
{
	pthread_mutex_lock(&s->queue_lock);
	s->notify = *notify;
	bool good = !(atomic_load(&s->mode) & WSI_MODE_READY) || start_event_thread(s);
	pthread_cond_broadcast(&s->queue_cond);
	pthread_mutex_unlock(&s->queue_lock);
	return good ? CUDBG_SUCCESS
		    : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL,
				     "the callback thread could not start");
}

CUDBGResult wsi_cudbg_setNotifyNewEventCallback(struct wsi_cudbg *s,
						CUDBGNotifyNewEventCallback callback,
						void *userData)
{
	return wsi_cudbg_set_notify(s,
				    &(struct wsi_notify){ .callback = callback, .data = userData });
}

CUDBGResult wsi_cudbg_take_event(struct wsi_cudbg *s, CUDBGEventQueueType type,
				 bool (*wanted)(const struct wsi_queued *item),
				 struct wsi_queued *ret_item)
{
	bool found = false;
	enum ws_status st = pull(s);
	pthread_mutex_lock(&s->queue_lock);
	struct wsi_queue *queue = &s->queue[type];
	while (queue->read < queue->n && !found) {
		const struct wsi_queued *item = &queue->items[queue->read++];
		if (type == CUDBG_EVENT_QUEUE_TYPE_SYNC && item->sequence)
			s->read_sync = item->sequence;
		found = (!wanted || wanted(item)) &&
			!(item->event.kind == CUDBG_EVENT_KERNEL_READY &&
			  s->launch_mode == CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
		if (found)
			*ret_item = *item;
	}
	pthread_mutex_unlock(&s->queue_lock);
	if (!found && st != WS_ABSENT)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "events could not be taken in");
	return found ? CUDBG_SUCCESS
		     : wsi_cudbg_fail(s, CUDBG_ERROR_NO_EVENT_AVAILABLE, "the queue is empty");
}

CUDBGResult wsi_cudbg_getNextEvent(struct wsi_cudbg *s, CUDBGEventQueueType type, CUDBGEvent *event)
{
	if (type != CUDBG_EVENT_QUEUE_TYPE_SYNC && type != CUDBG_EVENT_QUEUE_TYPE_ASYNC)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is no queue %u",
				      (unsigned)type);
	struct wsi_queued item;
	CUDBGResult result = wsi_cudbg_take_event(s, type, NULL, &item);
	if (result == CUDBG_SUCCESS)
		*event = item.event;
	return result;
}

CUDBGResult wsi_cudbg_acknowledgeSyncEvents(struct wsi_cudbg *s)
{
	struct ws_error err;
	pthread_mutex_lock(&s->queue_lock);
	uint64_t read = s->read_sync;
	pthread_mutex_unlock(&s->queue_lock);
	pthread_mutex_lock(&s->pull_lock);
	enum ws_status st = ws_target_acknowledge(s->target, read, &err);
	pthread_mutex_unlock(&s->pull_lock);
	return st == WS_OK ? CUDBG_SUCCESS
			   : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "%s", err.message);
}

CUDBGResult wsi_cudbg_setKernelLaunchNotificationMode(struct wsi_cudbg *s,
						      CUDBGKernelLaunchNotifyMode mode)
{
	if (mode != CUDBG_KNL_LAUNCH_NOTIFY_EVENT && mode != CUDBG_KNL_LAUNCH_NOTIFY_DEFER)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is no mode %u",
				      (unsigned)mode);
	struct ws_error err;
	pthread_mutex_lock(&s->queue_lock);
	s->launch_mode = mode;
	pthread_mutex_unlock(&s->queue_lock);
	return wsi_cudbg_want(s, &err) == WS_OK
		       ? CUDBG_SUCCESS
		       : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "%s", err.message);
}

enum ws_status wsi_cudbg_want(struct wsi_cudbg *s, struct ws_error *err)
{
	static const struct {
		uint32_t capability, want;
	} of[] = {
		{ CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING, WS_WANT_FUNCTIONS },
		{ CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS,
		  WS_WANT_LEFT_EXCEPTIONS },
		{ CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS, WS_WANT_LOGS },
		{ CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES,
		  WS_WANT_LAUNCH_STACKS },
		{ CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND, WS_WANT_PRINTF },
	};
	uint32_t wants = WS_WANT_STOPS, capabilities = s->capabilities;
	for (size_t i = 0; i < WSI_COUNT(of); i++)
		wants |= capabilities & of[i].capability ? of[i].want : 0;
	if (!(capabilities & CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS))
		wants |= WS_WANT_CONTEXT_SWITCHES;
	if (s->launch_mode == CUDBG_KNL_LAUNCH_NOTIFY_EVENT)
		wants |= WS_WANT_LAUNCHES;
	if (*(volatile uint32_t *)&cudbgEnableLaunchBlocking)
		wants |= WS_WANT_BLOCKING_LAUNCHES;
	wsi_hold(&s->pull_lock);
	return ws_target_want(s->target, wants, err);
}

void wsi_cudbg_let_go(struct wsi_cudbg *s)
{
	wsi_hold(&s->pull_lock);
	(void)!ws_target_want(s->target, 0, NULL);
	(void)!ws_target_acknowledge(s->target, UINT64_MAX, NULL);
}

/* The oldest record of the log; NO_EVENT_AVAILABLE when none waits, or there is no log. */
static CUDBGResult take_log_record(struct wsi_cudbg *s, struct ws_log *ret_log)
{
	struct ws_error err;
	uint32_t n = 0;
	enum ws_status st = ws_target_take_logs(s->target, ret_log, 1, &n, &err);
	if (st == WS_UNSUPPORTED || (st == WS_OK && n == 0))
		return wsi_cudbg_fail(s, CUDBG_ERROR_NO_EVENT_AVAILABLE, "there is no log record");
	return st == WS_OK ? CUDBG_SUCCESS
			   : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "%s", err.message);
}

/* Log records in one of two layouts; `more`: what only the newer one has. */
#define DEFINE_CONSUME(name, type, more)                                               \
	CUDBGResult wsi_cudbg_##name(struct wsi_cudbg *s, type *records, uint32_t cap, \
				     uint32_t *ret_n)                                  \
	{                                                                              \
		uint32_t n = 0;                                                        \
		while (n < cap) {                                                      \
			struct ws_log log;                                             \
			CUDBGResult result = take_log_record(s, &log);                 \
			if (result != CUDBG_SUCCESS && n == 0)                         \
				return result;                                         \
			if (result != CUDBG_SUCCESS)                                   \
				break;                                                 \
			type *to = &records[n++];                                      \
			memset(to, 0, sizeof *to);                                     \
			to->unixTimestampNs = log.time_ns;                             \
			to->osThreadId = (__typeof__(to->osThreadId))log.host_tid;     \
			to->logLevel = (CUDBGCudaLogLevel)log.level;                   \
			more;                                                          \
			memcpy(to->message, log.text, sizeof to->message - 1);         \
		}                                                                      \
		*ret_n = n;                                                            \
		return CUDBG_SUCCESS;                                                  \
	}

DEFINE_CONSUME(consumeCudaLogs, CUDBGCudaLogMessage, (void)0)
DEFINE_CONSUME(consumeCudaLogs134, CUDBGCudaLogMessage134,
	       (to->matchedRulesetIndex = log.ruleset, to->matchedRuleIndex = log.rule))

CUDBGResult wsi_cudbg_setCudaLogRules(struct wsi_cudbg *s, const CUDBGCudaLogRule *rules,
				      uint32_t numRules, uint32_t *newRulesetIndex)
{
	struct ws_error err;
	wsi_scoped_free struct ws_log_rule *ours =
		wsi_zalloc(((size_t)numRules + !numRules) * sizeof *ours);
	if (!ours)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "no memory for %u rules", numRules);
	for (uint32_t i = 0; i < numRules; i++)
		ours[i] = (struct ws_log_rule){
			.action = rules[i].action,
			.level = rules[i].logLevelFilter,
			.host_tid = rules[i].osThreadIdFilter,
			.regex = rules[i].messageFilterRegex,
		};
	enum ws_status st = ws_target_log_rules(s->target, ours, numRules, newRulesetIndex, &err);
	if (st == WS_UNSUPPORTED)
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED, "%s", err.message);
	if (st == WS_ARGUMENT)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "%s", err.message);
	return st == WS_OK ? CUDBG_SUCCESS
			   : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "%s", err.message);
}
