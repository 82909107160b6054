/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: making and releasing tables, entering a call, reporting why one failed. */
#include "cudbg/session.h"

#include "cudbg-functions.h"
#include "cudbg/pass.h"
#include "cudbg/remote.h"
#include "trace/trace.h"

struct wsi_cudbg wsi_cudbg_sessions[WSI_CUDBG_SESSIONS];
_Thread_local struct wsi_thread wsi_cudbg_thread;

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id; /* under sessions_lock */

/* ---- tables ---- */

static void session_init(struct wsi_cudbg *s, uint32_t number, struct ws_target *target)
{
	memset(s, 0, sizeof *s);
	s->number = number;
	s->target = target;
	s->asked = WSI_VERSION(CUDBG_API_VERSION_MAJOR, CUDBG_API_VERSION_MINOR);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->pull_lock, NULL);
	pthread_mutex_init(&s->queue_lock, NULL);
	pthread_cond_init(&s->queue_cond, NULL);
	s->id = ++last_id;
}

struct wsi_cudbg *wsi_cudbg_main_session(void)
{
	wsi_hold(&sessions_lock);
	if (!wsi_cudbg_sessions[0].id)
		session_init(&wsi_cudbg_sessions[0], 0, NULL);
	return &wsi_cudbg_sessions[0];
}

/* Takes a session that nobody uses. */
static enum ws_status session_take(struct ws_target *target, struct wsi_cudbg **ret_session,
				   struct ws_error *err)
{
	wsi_hold(&sessions_lock);
	for (uint32_t i = 1; i < WSI_CUDBG_SESSIONS; i++)
		if (!wsi_cudbg_sessions[i].id) {
			*ret_session = &wsi_cudbg_sessions[i];
			session_init(*ret_session, i, target);
			return WS_OK;
		}
	return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "there are %d tables already",
			WS_CUDBG_MAX_TABLES);
}

static void session_give_back(struct wsi_cudbg *s)
{
	pthread_cond_destroy(&s->queue_cond);
	pthread_mutex_destroy(&s->queue_lock);
	pthread_mutex_destroy(&s->pull_lock);
	pthread_mutex_destroy(&s->lock);
	wsi_hold(&sessions_lock);
	s->id = 0;
}

CUDBGAPI wsi_cudbg_table(const struct wsi_cudbg *s)
{
	return wsi_trace_on() || s->remote ? &wsi_cudbg_passing_tables[s->number]
					   : &wsi_cudbg_tables[s->number];
}

/* Makes a call that was handed on, here or in the other process. */
static CUDBGResult call_make(unsigned session, unsigned slot, const union wsi_api_value *values)
{
	struct wsi_cudbg *s = &wsi_cudbg_sessions[session];
	return s->remote ? wsi_remote_call(s, slot, values)
			 : wsi_api_invoke(&wsi_cudbg_tables[session], slot, values);
}

CUDBGResult wsi_cudbg_pass(unsigned session, unsigned slot, const union wsi_api_value *values)
{
	return wsi_trace_on() ? wsi_trace_call(call_make, session, slot, values)
			      : call_make(session, slot, values);
}

enum ws_status ws_cudbg_api(struct ws_target *target, CUDBGAPI *ret_api, struct ws_error *err)
{
	struct wsi_cudbg *s;
	if (!target || !ret_api)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a target and a place are needed");
	enum ws_status st = session_take(target, &s, err);
	if (st == WS_OK)
		*ret_api = wsi_cudbg_table(s);
	return st;
}

enum ws_status ws_cudbg_connect(int socket, CUDBGAPI *ret_api, struct ws_error *err)
{
	struct wsi_cudbg *s;
	if (socket < 0 || !ret_api)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a socket and a place are needed");
	enum ws_status st = session_take(NULL, &s, err);
	if (st != WS_OK)
		return st;
	st = wsi_remote_open(s, socket, err);
	if (st != WS_OK)
		session_give_back(s);
	else
		*ret_api = wsi_cudbg_table(s);
	return st;
}

/* The session of a table; NULL for one of somebody else. */
static struct wsi_cudbg *session_of(CUDBGAPI api)
{
	for (uint32_t i = 0; i < WSI_CUDBG_SESSIONS; i++)
		if ((api == &wsi_cudbg_tables[i] || api == &wsi_cudbg_passing_tables[i]) &&
		    wsi_cudbg_sessions[i].id)
			return &wsi_cudbg_sessions[i];
	return NULL;
}

void ws_cudbg_ask(CUDBGAPI api, uint32_t major, uint32_t minor)
{
	struct wsi_cudbg *s = session_of(api);
	if (s)
		atomic_store(&s->asked, WSI_VERSION((uint32_t)wsi_min_u64(major, UINT16_MAX),
						    (uint32_t)wsi_min_u64(minor, UINT16_MAX)));
}

void ws_cudbg_release(CUDBGAPI api)
{
	struct wsi_cudbg *s = session_of(api);
	if (!s || s->number == 0)
		return;
	if (s->remote) {
		wsi_remote_close(s);
	} else {
		if (atomic_load(&s->mode) & WSI_MODE_READY)
			wsi_cudbg_finalize(s);
		wsi_cudbg_stop_events(s);
		wsi_cudbg_drop_stock(s);
		wsi_free(s->breakpoints);
	}
	session_give_back(s);
}

/* ---- entering ---- */

/* Two capabilities may change while a session runs. [public doc: manual 13.2, 3.1] */
static enum ws_status take_dynamic(struct wsi_cudbg *s, struct ws_error *err)
{
	const uint32_t dynamic =
		CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS |
		CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES;
	uint32_t was = atomic_load(&s->capabilities);
	uint32_t now = (was & ~dynamic) |
		       (__atomic_load_n(&cudbgDebuggerCapabilities, __ATOMIC_RELAXED) & dynamic);
	if (now == was || !atomic_compare_exchange_strong(&s->capabilities, &was, now))
		return WS_OK;
	return wsi_cudbg_want(s, err);
}

CUDBGResult wsi_cudbg_enter_slowly(struct wsi_cudbg *s, uint32_t mode, unsigned needs)
{
	if ((mode & WSI_MODE_FAILED) && !(needs & WSI_KEEP_FAILURE))
		wsi_cudbg_clear_failure(s);
	if (!(mode & WSI_MODE_READY) && !(needs & WSI_ANY_STATE))
		return wsi_cudbg_fail(s, CUDBG_ERROR_UNINITIALIZED, "initialize comes first");
	if ((mode & WSI_MODE_CALLBACK) && !(needs & WSI_IN_CALLBACK) && wsi_cudbg_in_callback(s))
		return wsi_cudbg_fail(s, CUDBG_ERROR_RECURSIVE_API_CALL,
				      "not inside the notification callback");
	struct ws_error err = { .status = WS_OK };
	if ((mode & WSI_MODE_READY) && (mode & WSI_MODE_LOCKS) && take_dynamic(s, &err) != WS_OK)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "capabilities: %s", err.message);
	if (!(mode & WSI_MODE_LOCKS) || (needs & WSI_UNLOCKED))
		return CUDBG_SUCCESS;
	pthread_mutex_lock(&s->lock);
	if (wsi_cudbg_follow(s, &err) == WS_OK)
		return CUDBG_SUCCESS;
	pthread_mutex_unlock(&s->lock);
	return wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "taking stock: %s", err.message);
}

void wsi_cudbg_unlock(struct wsi_cudbg *s)
{
	pthread_mutex_unlock(&s->lock);
}

/* ---- failing ---- */

static struct wsi_failure *failure_of(struct wsi_cudbg *s)
{
	return &wsi_cudbg_thread.failure[s->number];
}

CUDBGResult wsi_cudbg_fail(struct wsi_cudbg *s, CUDBGResult result, const char *format, ...)
{
	struct wsi_failure *failure = failure_of(s);
	failure->session_id = s->id;
	failure->slot = -1;
	failure->result = result;
	va_list args;
	va_start(args, format);
	vsnprintf(failure->text, sizeof failure->text, format, args);
	va_end(args);
	return result;
}

/* One place where a status of ours becomes a result code of theirs. */
static CUDBGResult status_result_of(enum ws_status status)
{
	switch (status) {
	case WS_OK:
		return CUDBG_SUCCESS;
	case WS_ABSENT:
	case WS_EXCLUDED:
		return CUDBG_ERROR_MISSING_DATA;
	case WS_RUNNING:
		return CUDBG_ERROR_RUNNING_DEVICE;
	case WS_UNSUPPORTED:
		return CUDBG_ERROR_NOT_SUPPORTED;
	case WS_ARGUMENT:
		return CUDBG_ERROR_INVALID_ARGS;
	case WS_MALFORMED:
	case WS_TRUNCATED:
	case WS_LIMIT:
	case WS_NO_MEMORY:
	case WS_IO:
		return CUDBG_ERROR_INTERNAL;
	}
	return CUDBG_ERROR_INTERNAL;
}

static const char *story(enum ws_status status, const struct ws_error *err)
{
	return err && err->status == status ? err->message : ws_status_text(status);
}

CUDBGResult wsi_cudbg_status(struct wsi_cudbg *s, enum ws_status status, const struct ws_error *err)
{
	return wsi_cudbg_fail(s, status_result_of(status), "%s", story(status, err));
}

CUDBGResult wsi_cudbg_held_status(struct wsi_cudbg *s, enum ws_status status,
				  const struct ws_error *err)
{
	return status == WS_ABSENT || status == WS_EXCLUDED ? wsi_cudbg_status(s, status, err)
							    : wsi_cudbg_row_status(s, status, err);
}

CUDBGResult wsi_cudbg_row_status(struct wsi_cudbg *s, enum ws_status status,
				 const struct ws_error *err)
{
	return wsi_cudbg_fail(
		s, status == WS_RUNNING ? CUDBG_ERROR_RUNNING_DEVICE : CUDBG_ERROR_INTERNAL, "%s",
		story(status, err));
}

/* Says in general words what a code means. */
static const char *words_of(CUDBGResult result)
{
	return result == CUDBG_ERROR_NOT_SUPPORTED ? "this target cannot do that"
						   : cudbgGetErrorString(result);
}

void wsi_cudbg_failed(struct wsi_cudbg *s, int slot, CUDBGResult result)
{
	struct wsi_failure *failure = failure_of(s);
	if (failure->session_id != s->id || failure->slot >= 0 || failure->result != result)
		(void)wsi_cudbg_fail(s, result, "%s", words_of(result));
	failure->slot = slot;
	atomic_fetch_or(&s->mode, WSI_MODE_FAILED);
}

CUDBGResult wsi_cudbg_null(struct wsi_cudbg *s, const char *name)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "%s is NULL", name);
}

void wsi_cudbg_clear_failure(struct wsi_cudbg *s)
{
	failure_of(s)->session_id = 0;
}

CUDBGResult wsi_cudbg_getErrorStringEx(struct wsi_cudbg *s, char *buf, uint32_t bufSz,
				       uint32_t *msgSz)
{
	const struct wsi_failure *failure = failure_of(s);
	char text[280] = "";
	if (failure->session_id == s->id && failure->slot >= 0)
		wsi_format(text, "%s: %s (%s)", wsi_api_functions[failure->slot].name,
			   failure->text, cudbgGetErrorString(failure->result));
	if (!buf && (bufSz || !msgSz))
		return CUDBG_ERROR_INVALID_ARGS;
	uint32_t size = (uint32_t)strlen(text) + 1;
	if (buf && bufSz < size)
		return CUDBG_ERROR_BUFFER_TOO_SMALL;
	if (buf)
		memcpy(buf, text, size);
	if (msgSz)
		*msgSz = size;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_text_out(struct wsi_cudbg *s, struct ws_str text, char *buf, uint32_t size,
			       uint32_t *ret_size)
{
	if (!buf && (size || !ret_size))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "no buffer and no size");
	uint64_t need = (uint64_t)text.len + 1;
	if (need > UINT32_MAX)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL, "the text has %zu bytes", text.len);
	if (buf && size < need)
		return wsi_cudbg_fail(s, CUDBG_ERROR_BUFFER_TOO_SMALL,
				      "the text needs %zu bytes, there are %u", text.len + 1, size);
	if (buf) {
		if (text.len)
			memcpy(buf, text.ptr, text.len);
		buf[text.len] = '\0';
	}
	if (ret_size)
		*ret_size = (uint32_t)need;
	return CUDBG_SUCCESS;
}

/* ---- coordinates that are not there ---- */

CUDBGResult wsi_cudbg_no_device(struct wsi_cudbg *s, uint32_t dev, unsigned needs)
{
	return wsi_cudbg_fail(
		s, needs & WSI_EXACT ? CUDBG_ERROR_INVALID_DEVICE : CUDBG_ERROR_INVALID_ARGS,
		"there is no device %u", dev);
}

CUDBGResult wsi_cudbg_no_sm(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint32_t sm,
			    unsigned needs)
{
	return wsi_cudbg_fail(
		s, needs & WSI_EXACT ? CUDBG_ERROR_INVALID_SM : CUDBG_ERROR_INVALID_ARGS,
		"device %u has %u SMs; there is no SM %u", at->dev, at->device->n_sms, sm);
}

CUDBGResult wsi_cudbg_no_warp(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint32_t wp,
			      unsigned needs)
{
	if (wp >= at->device->n_warps)
		return wsi_cudbg_fail(
			s, needs & WSI_EXACT ? CUDBG_ERROR_INVALID_WARP : CUDBG_ERROR_INVALID_ARGS,
			"an SM of device %u has %u warp slots; there is no slot %u", at->dev,
			at->device->n_warps, wp);
	return wsi_cudbg_fail(
		s, needs & WSI_WARP_ARGS ? CUDBG_ERROR_INVALID_ARGS : CUDBG_ERROR_INVALID_WARP,
		"device %u SM %u has no warp in slot %u", at->dev, at->sm, wp);
}

CUDBGResult wsi_cudbg_no_lane(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint32_t ln,
			      unsigned needs)
{
	CUDBGResult result =
		needs & WSI_EXACT ? CUDBG_ERROR_INVALID_LANE : CUDBG_ERROR_INVALID_ARGS;
	if (ln >= at->device->n_lanes)
		return wsi_cudbg_fail(s, result,
				      "a warp of device %u has %u lanes; there is no lane %u",
				      at->dev, at->device->n_lanes, ln);
	return wsi_cudbg_fail(s, result, "device %u SM %u warp %u: lane %u holds no thread",
			      at->dev, at->sm, at->wp, ln);
}

CUDBGResult wsi_cudbg_runs(struct wsi_cudbg *s, const struct wsi_cudbg_at *at)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_RUNNING_DEVICE,
			      "device %u is running: suspend it first", at->dev);
}
