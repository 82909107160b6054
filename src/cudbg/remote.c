/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call at a time is under way. What belongs to a thread stays here: why its last call failed,
 * and that it is inside the callback.
 *
 * The other process says goodbye when it means to leave. If it is gone without, it has died, or is
 * not what it should be: a client that is in a session gets an event for that, which is made here.
 */
#ifdef __linux__
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#endif
#include "cudbg/remote.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cudbg-functions.h"
#include "wire/serve.h"
#include "wire/wire.h"

#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0
#endif

enum { MAX_IMAGES = 1 << 16, SMALL_BYTES = 4096 };

/* An image that was handed out. */
struct remote_image {
	uint64_t address; /* in the other process */
	size_t n;
	uint8_t *bytes; /* owned */
};

/* What the other process has come to. */
enum peer { ANSWERS, LEFT, DEAD };

struct wsi_remote {
	pthread_mutex_t lock; /* of one call, and of all but the next three */
	pthread_mutex_t events_lock;
	int events; /* our end */
	enum peer peer;
	struct wsi_channel calls;
	bool is_ready;
	bool has_told;               /* the client has the event of its death */
	struct remote_image *images; /* owned; until `finalize` */
	size_t n_images, cap_images;
};

/* ---- beginning and end ---- */

static enum ws_status greet_client(struct wsi_remote *remote, int socket, int theirs,
				   struct ws_error *err)
{
	const struct wsi_wire_greeting mine = wsi_wire_greeting();
	struct wsi_wire_greeting answer;
	struct pollfd fd = { socket, POLLIN, 0 };
	int none = -1;
	bool good = wsi_packet_send(socket, &mine, sizeof mine, theirs) &&
		    poll(&fd, 1, WSI_PATIENCE_MS) == 1 &&
		    wsi_packet_receive(socket, &answer, sizeof answer, &none);
	if (none >= 0)
		close(none);
	if (!good)
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "nobody answers at the socket");
	if (memcmp(&mine, &answer, sizeof mine) != 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the process at the socket is of another build");
	remote->calls = (struct wsi_channel){ .in = socket, .out = socket, .stop = -1 };
	return WS_OK;
}

enum ws_status wsi_remote_open(struct wsi_cudbg *s, int socket, struct ws_error *err)
{
	int ends[2] = { -1, -1 };
	struct wsi_remote *remote = wsi_zalloc(sizeof *remote);
	enum ws_status st = WS_OK;
	if (!remote)
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a connection");
	else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		st = wsi_fail_errno(err, "a socket for events");
	else
		st = greet_client(remote, socket, ends[1], err);
	if (ends[1] >= 0)
		close(ends[1]);
	if (st == WS_OK) {
		remote->events = ends[0];
		pthread_mutex_init(&remote->lock, NULL);
		pthread_mutex_init(&remote->events_lock, NULL);
		s->remote = remote;
		return WS_OK;
	}
	if (ends[0] >= 0)
		close(ends[0]);
	close(socket);
	wsi_free(remote);
	return st;
}

static void drop_images(struct wsi_remote *remote)
{
	for (size_t i = 0; i < remote->n_images; i++)
		wsi_free(remote->images[i].bytes);
	wsi_free(remote->images);
	remote->images = NULL;
	remote->n_images = remote->cap_images = 0;
}

void wsi_remote_close(struct wsi_cudbg *s)
{
	struct wsi_remote *remote = s->remote;
	const union wsi_api_value none = { .number = 0 };
	if (remote->is_ready)
		(void)wsi_remote_call(s, WSI_SLOT(finalize), &none);
	pthread_mutex_lock(&s->queue_lock);
	s->thread_stops = true;
	pthread_mutex_unlock(&s->queue_lock);
	shutdown(remote->events, SHUT_RDWR);
	wsi_cudbg_stop_events(s);
	close(remote->events);
	close(remote->calls.in);
	drop_images(remote);
	pthread_mutex_destroy(&remote->events_lock);
	pthread_mutex_destroy(&remote->lock);
	wsi_free(remote);
	s->remote = NULL;
}

/* ---- events, and the end ---- */

enum heard { NOTHING, AN_EVENT, THE_END };

/* What the other process has said beside its replies. Whoever asks first learns how it ended. */
static enum heard hear(struct wsi_remote *remote, struct wsi_notice *ret_notice)
{
	wsi_hold(&remote->events_lock);
	if (remote->peer != ANSWERS)
		return THE_END;
	ssize_t n = recv(remote->events, ret_notice, sizeof *ret_notice, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return NOTHING;
	if (n == (ssize_t)sizeof *ret_notice && !ret_notice->terminate)
		return AN_EVENT;
	remote->peer = n == (ssize_t)sizeof *ret_notice ? LEFT : DEAD;
	return THE_END;
}

/* Waits for what it says; false: it says nothing for so long. */
static bool await_word(const struct wsi_remote *remote, int ms)
{
	struct pollfd fd = { remote->events, POLLIN, 0 };
	int n;
	do
		n = poll(&fd, 1, ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Nothing comes of it any more. `closed`: it has ended, and so will have said whether it meant to.
 */
static void give_up(struct wsi_remote *remote, bool closed)
{
	struct wsi_notice notice;
	enum heard heard = NOTHING;
	while (closed && heard != THE_END) {
		heard = hear(remote, &notice);
		closed = heard != NOTHING || await_word(remote, WSI_PATIENCE_MS);
	}
	pthread_mutex_lock(&remote->events_lock);
	if (remote->peer == ANSWERS)
		remote->peer = DEAD;
	pthread_mutex_unlock(&remote->events_lock);
	shutdown(remote->calls.in, SHUT_RDWR);
	shutdown(remote->events, SHUT_RDWR);
}

static enum peer peer_of(struct wsi_remote *remote)
{
	wsi_hold(&remote->events_lock);
	return remote->peer;
}

/* A client that sleeps must learn that its device is gone, so it is told once more at the end. */
void *wsi_remote_listen(void *session)
{
	struct wsi_cudbg *s = session;
	struct wsi_notice notice;
	enum heard heard = NOTHING;
	bool stops = false;
	while (heard != THE_END && !stops) {
		(void)await_word(s->remote, -1);
		heard = hear(s->remote, &notice);
		pthread_mutex_lock(&s->queue_lock);
		stops = s->thread_stops;
		pthread_mutex_unlock(&s->queue_lock);
		if (heard == THE_END)
			shutdown(s->remote->calls.in, SHUT_RDWR); /* a call may wait there */
		if (!stops && heard != NOTHING)
			wsi_cudbg_tell(s, heard == AN_EVENT ? notice.tid : 0);
	}
	return NULL;
}

static struct wsi_notify notify_of(unsigned slot, const union wsi_api_value *values)
{
	struct wsi_notify notify = { .data = NULL };
	if (slot == WSI_SLOT(setNotifyNewEventCallback)) {
		notify.callback = (CUDBGNotifyNewEventCallback)values[0].code;
		notify.data = values[1].pointer;
	} else if (slot == WSI_SLOT(setNotifyNewEventCallback31)) {
		notify.callback31 = (CUDBGNotifyNewEventCallback31)values[0].code;
		notify.data = values[1].pointer;
	} else if (slot == WSI_SLOT(setNotifyNewEventCallback40)) {
		notify.callback40 = (CUDBGNotifyNewEventCallback40)values[0].code;
	} else {
		notify.callback41 = (CUDBGNotifyNewEventCallback41)values[0].code;
	}
	return notify;
}

static bool sets_callback(unsigned slot)
{
	return wsi_api_functions[slot].n_args &&
	       wsi_api_is_callback(&wsi_api_functions[slot].args[0]);
}

/* ---- a request ---- */

struct remote_request {
	struct wsi_wire_request head;
	uint64_t number[WSI_API_MAX_ARGS];
	struct wsi_channel_piece piece[WSI_API_MAX_ARGS + 3];
	size_t n_pieces;
	uint64_t n_bytes;
	uint8_t *texts; /* owned */
};

static void add_piece(struct remote_request *request, const void *bytes, size_t n)
{
	request->piece[request->n_pieces++] = (struct wsi_channel_piece){ bytes, n };
	request->n_bytes += n;
}

/* Texts that the structures of an argument lead to, one after the other; NULL `to` only counts. */
static size_t put_texts(const struct wsi_api_arg *arg, const uint8_t *bytes, size_t n, uint8_t *to)
{
	size_t at = 0, unit = arg->size;
	for (size_t i = 0; arg->n_fields && i + unit <= n; i += unit)
		for (size_t f = 0; f < arg->n_fields; f++) {
			const struct wsi_api_field *field = &arg->fields[f];
			const char *text;
			if (field->handle != WSI_API_ADDRESS || field->image >= 0)
				continue;
			memcpy(&text, bytes + i + field->offset, sizeof text);
			uint64_t len = text ? strlen(text) + 1 : 0;
			if (to) {
				memcpy(to + at, &len, sizeof len);
				if (len)
					memcpy(to + at + sizeof len, text, len);
			}
			at += sizeof len + len;
		}
	return at;
}

static bool add_texts(struct remote_request *request, const struct wsi_api_arg *arg,
		      const void *bytes, size_t n)
{
	size_t len = put_texts(arg, bytes, n, NULL);
	if (!len)
		return true;
	request->texts = wsi_zalloc(len); /* no function has two such arguments */
	if (!request->texts)
		return false;
	put_texts(arg, bytes, n, request->texts);
	add_piece(request, request->texts, len);
	return true;
}

/* False: too much for one message, or no memory. */
static bool request_init(struct remote_request *request, struct wsi_cudbg *s, unsigned slot,
			 const union wsi_api_value *values)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	const unsigned n_args = fn->n_args;
	*request = (struct remote_request){ .head = { .slot = (uint16_t)slot } };
	request->head.capabilities = __atomic_load_n(&cudbgDebuggerCapabilities, __ATOMIC_RELAXED);
	request->head.asked = atomic_load(&s->asked);
	add_piece(request, &request->head, sizeof request->head);
	add_piece(request, request->number, n_args * sizeof *request->number);
	for (unsigned i = 0; i < n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (wsi_api_is_callback(arg)) {
			request->number[i] = values[i].code != NULL;
		} else if (arg->way == WSI_API_VALUE) {
			request->number[i] = values[i].number;
		} else if (values[i].pointer) {
			request->head.present |= (uint16_t)(1u << i);
			size_t n = arg->string ? strlen(values[i].pointer)
					       : wsi_call_api_room(fn, i, values);
			if (arg->way != WSI_API_OPAQUE && n > WSI_MADE_MOST)
				return false;
			if (!wsi_wire_goes_in(arg))
				continue;
			request->number[i] = n;
			add_piece(request, values[i].pointer, n);
		}
	}
	for (unsigned i = 0; i < n_args; i++)
		if (wsi_wire_goes_in(&fn->args[i]) && values[i].pointer &&
		    !add_texts(request, &fn->args[i], values[i].pointer, request->number[i]))
			return false;
	uint64_t behind = request->n_bytes - sizeof request->head;
	request->head.n_bytes = (uint32_t)behind;
	return behind <= WSI_CHANNEL_MOST;
}

/* ---- its reply ---- */

/* A copy that stays until `finalize`; the same one for what was handed out before. */
static uint8_t *lend(struct wsi_remote *remote, uint64_t address, struct ws_span image)
{
	for (size_t i = 0; i < remote->n_images; i++)
		if (remote->images[i].address == address && remote->images[i].n == image.len &&
		    memcmp(remote->images[i].bytes, image.ptr, image.len) == 0)
			return remote->images[i].bytes;
	if (!wsi_grow(&remote->images, &remote->cap_images, remote->n_images,
		      sizeof *remote->images, MAX_IMAGES))
		return NULL;
	uint8_t *bytes = wsi_zalloc(image.len + 1);
	if (!bytes)
		return NULL;
	if (image.len)
		memcpy(bytes, image.ptr, image.len);
	remote->images[remote->n_images++] = (struct remote_image){ address, image.len, bytes };
	return bytes;
}

/* Has the pointers among the outputs lead to images of our own. */
static bool take_images(struct wsi_cudbg *s, const struct wsi_api_fn *fn,
			const union wsi_api_value *values, struct wsi_reader *in,
			CUDBGResult *ret_result)
{
	struct wsi_wire_image image[WSI_WIRE_IMAGES];
	size_t n = wsi_wire_images(fn, values, image);
	for (size_t i = 0; i < n; i++) {
		uint64_t address;
		memcpy(&address, image[i].place, sizeof address);
		struct ws_span span = wsi_read_span(in, image[i].n);
		if (in->failed)
			return false;
		const uint8_t *bytes = lend(s->remote, address, span);
		if (!bytes)
			*ret_result =
				wsi_cudbg_fail(s, CUDBG_ERROR_OS_RESOURCES, "room for an image");
		memcpy(image[i].place, &bytes, sizeof bytes);
	}
	return true;
}

/* Outputs reach the client when all of the reply, which is ours to change, is found good. */
static bool take_outputs(struct wsi_cudbg *s, const struct wsi_api_fn *fn,
			 const union wsi_api_value *values, uint8_t *reply, size_t n_bytes,
			 CUDBGResult *ret_result)
{
	struct wsi_reader in = wsi_reader_of((struct ws_span){ reply, n_bytes, 0 });
	uint64_t number[WSI_API_MAX_ARGS];
	union wsi_api_value got[WSI_API_MAX_ARGS] = { { .number = 0 } };
	for (unsigned i = 0; i < fn->n_args; i++)
		number[i] = wsi_read_u64(&in);
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (!wsi_api_comes_out(&fn->args[i]) || !values[i].pointer)
			continue;
		size_t room = wsi_call_api_room(fn, i, values);
		struct ws_span bytes = wsi_read_span(&in, number[i]);
		/* a structure is looked into */
		bool whole = fn->args[i].count >= 0 || number[i] == room;
		if (in.failed || number[i] > room || !whole)
			return false;
		got[i].pointer = reply + bytes.origin;
	}
	if (!take_images(s, fn, got, &in, ret_result) || in.failed || wsi_reader_left(&in))
		return false;
	for (unsigned i = 0; i < fn->n_args && *ret_result == CUDBG_SUCCESS; i++)
		if (got[i].pointer && number[i])
			memcpy(values[i].pointer, got[i].pointer, (size_t)number[i]);
	return true;
}

/* Notes why it failed there; what our own table says already names function and code. */
static void take_why(struct wsi_cudbg *s, const struct wsi_api_fn *fn, CUDBGResult result,
		     struct ws_span why)
{
	char end[80];
	struct ws_str text = { (const char *)why.ptr, strnlen((const char *)why.ptr, why.len) };
	size_t n_name = strlen(fn->name);
	if (wsi_str_begins(text, fn->name) && wsi_str_begins(wsi_str_skip(text, n_name), ": "))
		text = wsi_str_skip(text, n_name + 2);
	bool fits = wsi_format(end, " (%s)", cudbgGetErrorString(result));
	size_t n_end = strlen(end);
	if (fits && text.len >= n_end && memcmp(text.ptr + text.len - n_end, end, n_end) == 0)
		text.len -= n_end;
	if (text.len)
		(void)wsi_cudbg_fail(s, result, "%.*s", (int)text.len, text.ptr);
}

/* False: it is none. */
static bool take_reply(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values,
		       CUDBGResult *ret_result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	struct wsi_wire_reply head;
	uint8_t small[SMALL_BYTES];
	wsi_scoped_free uint8_t *owned = NULL;
	struct ws_span body;
	if (!wsi_channel_next(&s->remote->calls, &head, sizeof head) ||
	    !wsi_channel_body(&s->remote->calls, head.n_bytes, small, sizeof small, &owned,
			      &body) ||
	    head.result >= WSI_COUNT(CUDBGResultNames))
		return false;
	*ret_result = (CUDBGResult)head.result;
	if (head.result == CUDBG_SUCCESS)
		return take_outputs(s, fn, values, owned ? owned : small, body.len, ret_result);
	take_why(s, fn, *ret_result, body);
	return true;
}

/* ---- a call ---- */

/* Whether its end of the socket is closed: so it is not if it only sends what it should not. */
static bool is_socket_closed(int socket)
{
	uint8_t byte;
	ssize_t n = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

/* Gives the client the event of the other process's death, once. False: that is not what it asks
 * for. */
static bool tell_of_death(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values)
{
	struct wsi_remote *remote = s->remote;
	struct wsi_queued item = { .module_index = WS_NONE };
	item.event.kind = CUDBG_EVENT_INTERNAL_ERROR;
	item.event.cases.internalError.errorType = CUDBG_ERROR_COMMUNICATION_FAILURE;
	if (!remote->is_ready || remote->has_told)
		return false;
	remote->has_told = wsi_cudbg_put_async(s, slot, values, &item);
	return remote->has_told;
}

/* Nobody answers any more. */
static CUDBGResult unanswered(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values)
{
	bool has_left = peer_of(s->remote) == LEFT;
	if (!has_left && tell_of_death(s, slot, values))
		return CUDBG_SUCCESS;
	return wsi_cudbg_fail(
		s, CUDBG_ERROR_COMMUNICATION_FAILURE,
		has_left
			? "the process with the devices has ended"
			: "the process with the devices has died, or does not answer as it should");
}

/* Under the lock. */
static CUDBGResult exchange_call(struct wsi_cudbg *s, unsigned slot,
				 const union wsi_api_value *values)
{
	struct wsi_remote *remote = s->remote;
	struct remote_request request;
	CUDBGResult result;
	if (peer_of(remote) != ANSWERS)
		return unanswered(s, slot, values);
	if (!request_init(&request, s, slot, values)) {
		wsi_free(request.texts);
		return wsi_cudbg_fail(s, CUDBG_ERROR_OS_RESOURCES,
				      "more than can be sent to the process with the devices");
	}
	bool sent = wsi_channel_send(&remote->calls, request.piece, request.n_pieces);
	wsi_free(request.texts);
	if (sent && take_reply(s, slot, values, &result))
		return result;
	give_up(remote, !sent || is_socket_closed(remote->calls.in));
	return unanswered(s, slot, values);
}

static CUDBGResult call_remote(struct wsi_cudbg *s, unsigned slot,
			       const union wsi_api_value *values)
{
	struct wsi_remote *remote = s->remote;
	wsi_hold(&remote->lock);
	CUDBGResult result = exchange_call(s, slot, values);
	if (slot == WSI_SLOT(initialize) && result == CUDBG_SUCCESS)
		remote->is_ready = true;
	if (slot == WSI_SLOT(finalize) && result == CUDBG_SUCCESS) {
		remote->is_ready = false;
		drop_images(remote);
	}
	return result;
}

static struct wsi_notify exchange_notify(struct wsi_cudbg *s, struct wsi_notify notify)
{
	wsi_hold(&s->queue_lock);
	struct wsi_notify before = s->notify;
	s->notify = notify;
	return before;
}

/* The callback is known here before the other process is asked to tell, so that nothing is lost. */
static CUDBGResult call_set_notify(struct wsi_cudbg *s, unsigned slot,
				   const union wsi_api_value *values)
{
	struct wsi_notify before = exchange_notify(s, notify_of(slot, values));
	CUDBGResult result = wsi_cudbg_start_telling(s)
				     ? call_remote(s, slot, values)
				     : wsi_cudbg_fail(s, CUDBG_ERROR_INTERNAL,
						      "the callback thread could not start");
	if (result != CUDBG_SUCCESS)
		(void)exchange_notify(s, before);
	return result;
}

/* The words for a failure are those of this thread; whether they may be asked for is known there.
 */
static CUDBGResult call_getErrorStringEx(struct wsi_cudbg *s, const union wsi_api_value *values)
{
	uint32_t size;
	const union wsi_api_value any[] = { { .pointer = NULL },
					    { .number = 0 },
					    { .pointer = &size } };
	CUDBGResult result = call_remote(s, WSI_SLOT(getErrorStringEx), any);
	return result != CUDBG_SUCCESS
		       ? result
		       : wsi_cudbg_getErrorStringEx(s, values[0].pointer,
						    (uint32_t)values[1].number, values[2].pointer);
}

CUDBGResult wsi_remote_call(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values)
{
	bool inside = (atomic_load(&s->mode) & WSI_MODE_CALLBACK) && wsi_cudbg_in_callback(s);
	CUDBGResult result;
	if (slot != WSI_SLOT(getErrorStringEx))
		wsi_cudbg_clear_failure(s);
	if (inside && !wsi_api_functions[slot].in_callback)
		result = wsi_cudbg_fail(s, CUDBG_ERROR_RECURSIVE_API_CALL,
					"not inside the notification callback");
	else if (slot == WSI_SLOT(getErrorStringEx))
		result = call_getErrorStringEx(s, values);
	else if (sets_callback(slot))
		result = call_set_notify(s, slot, values);
	else
		result = call_remote(s, slot, values);
	if (result != CUDBG_SUCCESS && slot != WSI_SLOT(getErrorStringEx))
		wsi_cudbg_failed(s, (int)slot, result);
	return result;
}
