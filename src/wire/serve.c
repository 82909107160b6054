/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a table of ws_cudbg_connect(): calls that come over a socket are made here. A
 * client whose socket ends without a finalize() (it was killed, or left) has its session ended
 * here.
 */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <warpscope/cudbg.h>

#include "wire/serve.h"
#include "wire/wire.h"

enum { SMALL_BYTES = 4096 };

/* ---- whichever way calls come ---- */

static void tell(struct wsi_server *server, uint32_t tid)
{
	const struct wsi_notice notice = { .tid = tid ? tid : server->tid };
	(void)!wsi_channel_send(&server->events,
				&(struct wsi_channel_piece){ &notice, sizeof notice }, 1);
}

static void tell_of(CUDBGEventCallbackData *data)
{
	tell(data->userData, data->tid);
}

static void tell_of31(void *data)
{
	tell(data, 0);
}

/* All forms that a client may use are one here: the newest that the provider has and that brings
 * back the server. */
CUDBGResult wsi_server_set_notify(struct wsi_server *server, bool on)
{
	CUDBGAPI api = server->provider->api;
	if (ws_provider_has(server->provider,
			    offsetof(struct CUDBGAPI_st, setNotifyNewEventCallback)))
		return api->setNotifyNewEventCallback(on ? tell_of : NULL, server);
	if (ws_provider_has(server->provider,
			    offsetof(struct CUDBGAPI_st, setNotifyNewEventCallback31)))
		return api->setNotifyNewEventCallback31(on ? tell_of31 : NULL, server);
	return CUDBG_ERROR_UNKNOWN_FUNCTION;
}

CUDBGResult wsi_server_make(struct wsi_server *server, const struct wsi_made *made)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[made->slot];
	if (!ws_provider_has(server->provider, made->slot * sizeof(void *)))
		return CUDBG_ERROR_UNKNOWN_FUNCTION;
	if (fn->n_args && wsi_api_is_callback(&fn->args[0]))
		return wsi_server_set_notify(server, made->v[0].number != 0);
	CUDBGResult result = wsi_api_invoke(server->provider->api, made->slot, made->v);
	if (result == CUDBG_SUCCESS && made->slot == WSI_SLOT(initialize))
		server->is_ready = true;
	if (result == CUDBG_SUCCESS && made->slot == WSI_SLOT(finalize))
		server->is_ready = false;
	return result;
}

void wsi_server_why(const struct wsi_server *server, char *ret_text, size_t size)
{
	const struct ws_provider *provider = server->provider;
	ret_text[0] = '\0';
	if (!ws_provider_has(provider, offsetof(struct CUDBGAPI_st, getErrorStringEx)) ||
	    provider->api->getErrorStringEx(ret_text, (uint32_t)size, NULL) != CUDBG_SUCCESS)
		ret_text[0] = '\0';
	ret_text[size - 1] = '\0';
}

void wsi_server_say_goodbye(struct wsi_server *server)
{
	const struct wsi_notice notice = { .terminate = 1 };
	(void)!wsi_channel_send(&server->events,
				&(struct wsi_channel_piece){ &notice, sizeof notice }, 1);
}

void wsi_server_leave(struct wsi_server *server)
{
	CUDBGAPI api = server->provider->api;
	(void)wsi_server_set_notify(server, false);
	if (!server->is_ready)
		return;
	if (ws_provider_has(server->provider, offsetof(struct CUDBGAPI_st, requestCleanupOnDetach)))
		(void)api->requestCleanupOnDetach(1);
	(void)api->finalize();
}

/* ---- a request ---- */

/* Puts texts in place of the pointers of structures that came in. False: they are not there. */
static bool take_texts(const struct wsi_api_arg *arg, uint8_t *bytes, size_t n,
		       struct wsi_reader *in)
{
	for (size_t i = 0; arg->n_fields && i + arg->size <= n; i += arg->size)
		for (size_t f = 0; f < arg->n_fields; f++) {
			const struct wsi_api_field *field = &arg->fields[f];
			if (field->handle != WSI_API_ADDRESS || field->image >= 0)
				continue;
			uint64_t len = wsi_read_u64(in);
			struct ws_span text = wsi_read_span(in, len);
			const char *pointer = len ? (const char *)text.ptr : NULL;
			if (in->failed || (len && text.ptr[len - 1] != 0))
				return false;
			memcpy(bytes + i + field->offset, &pointer, sizeof pointer);
		}
	return true;
}

/* The call that a request asks for. False: it is none. */
static bool take_wire_call(const struct wsi_wire_request *head, struct ws_span body,
			   struct wsi_made *made, CUDBGResult *ret_result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[head->slot];
	struct wsi_reader in = wsi_reader_of(body);
	uint64_t number[WSI_API_MAX_ARGS];
	made->slot = head->slot;
	for (unsigned i = 0; i < fn->n_args; i++) {
		number[i] = wsi_read_u64(&in);
		if (fn->args[i].way == WSI_API_VALUE)
			made->v[i].number = number[i];
		else if (fn->args[i].string)
			made->n[i] = (size_t)number[i];
	}
	*ret_result = in.failed ? CUDBG_SUCCESS : wsi_made_init(made, head->present);
	for (unsigned i = 0; i < fn->n_args && *ret_result == CUDBG_SUCCESS; i++) {
		if (!wsi_wire_goes_in(&fn->args[i]) || !made->v[i].pointer)
			continue;
		struct ws_span bytes = wsi_read_span(&in, number[i]);
		if (in.failed || bytes.len != made->n[i])
			return false;
		if (bytes.len)
			memcpy(made->v[i].pointer, bytes.ptr, bytes.len);
	}
	for (unsigned i = 0; i < fn->n_args && *ret_result == CUDBG_SUCCESS; i++)
		if (wsi_wire_goes_in(&fn->args[i]) && made->v[i].pointer &&
		    !take_texts(&fn->args[i], made->v[i].pointer, made->n[i], &in))
			return false;
	return !in.failed && (*ret_result != CUDBG_SUCCESS || !wsi_reader_left(&in));
}

static CUDBGResult session_make(struct wsi_server *server, const struct wsi_wire_request *head,
				const struct wsi_made *made)
{
	const struct ws_provider *provider = server->provider;
	if (provider->capabilities)
		*provider->capabilities = head->capabilities;
	ws_cudbg_ask(provider->api, head->asked >> 16, head->asked & UINT16_MAX);
	return wsi_server_make(server, made);
}

/* ---- its reply ---- */

static bool send_outputs(struct wsi_server *server, const struct wsi_made *made)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[made->slot];
	struct wsi_wire_reply head = { .result = CUDBG_SUCCESS };
	uint64_t number[WSI_API_MAX_ARGS] = { 0 }, total = fn->n_args * sizeof *number;
	struct wsi_channel_piece piece[2 + WSI_API_MAX_ARGS + WSI_WIRE_IMAGES];
	struct wsi_wire_image image[WSI_WIRE_IMAGES];
	size_t n = 0, n_images = wsi_wire_images(fn, made->v, image);
	piece[n++] = (struct wsi_channel_piece){ &head, sizeof head };
	piece[n++] = (struct wsi_channel_piece){ number, (size_t)total };
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (!wsi_api_comes_out(&fn->args[i]) || !made->v[i].pointer)
			continue;
		number[i] = wsi_made_written(fn, i, made->v);
		piece[n++] = (struct wsi_channel_piece){ made->v[i].pointer, (size_t)number[i] };
		total += number[i];
	}
	for (size_t i = 0; i < n_images; i++) {
		const void *bytes;
		memcpy(&bytes, image[i].place, sizeof bytes);
		piece[n++] = (struct wsi_channel_piece){ bytes, (size_t)image[i].n };
		total = wsi_add_sat(total, image[i].n);
	}
	if (total > WSI_CHANNEL_MOST) {
		head.result = CUDBG_ERROR_OS_RESOURCES;
		total = 0;
		n = 1;
	}
	head.n_bytes = (uint32_t)total;
	return wsi_channel_send(&server->calls, piece, n);
}

static bool send_failure(struct wsi_server *server, unsigned slot, CUDBGResult result)
{
	char why[WSI_WIRE_WHY] = "";
	if (slot != WSI_SLOT(getErrorStringEx))
		wsi_server_why(server, why, sizeof why);
	const struct wsi_wire_reply head = { .n_bytes = (uint32_t)strlen(why), .result = result };
	const struct wsi_channel_piece piece[] = { { &head, sizeof head }, { why, head.n_bytes } };
	return wsi_channel_send(&server->calls, piece, WSI_COUNT(piece));
}

enum outcome { ANSWERED, GONE, NONSENSE };

static enum outcome wire_answer_call(struct wsi_server *server)
{
	struct wsi_wire_request head;
	uint8_t small[SMALL_BYTES];
	wsi_scoped_free uint8_t *owned = NULL;
	struct ws_span body;
	struct wsi_made made;
	CUDBGResult result;
	if (!wsi_channel_next(&server->calls, &head, sizeof head))
		return GONE;
	if (head.slot >= WSI_API_SLOTS ||
	    !wsi_channel_body(&server->calls, head.n_bytes, small, sizeof small, &owned, &body))
		return NONSENSE;
	made.bytes = NULL;
	bool good = take_wire_call(&head, body, &made, &result), sent = false;
	if (good && result == CUDBG_SUCCESS)
		result = session_make(server, &head, &made);
	if (good)
		sent = result == CUDBG_SUCCESS ? send_outputs(server, &made)
					       : send_failure(server, head.slot, result);
	wsi_made_fini(&made);
	return !good ? NONSENSE : sent ? ANSWERED : GONE;
}

/* ---- a client ---- */

static enum ws_status greet_server(struct wsi_server *server, int socket, int *ret_events,
				   struct ws_error *err)
{
	const struct wsi_wire_greeting mine = wsi_wire_greeting();
	struct wsi_wire_greeting theirs;
	struct pollfd fd = { socket, POLLIN, 0 };
	bool good = poll(&fd, 1, WSI_PATIENCE_MS) == 1 &&
		    wsi_packet_receive(socket, &theirs, sizeof theirs, ret_events);
	if (!good)
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "nobody is at the socket");
	/* even one of another build is to learn that */
	good = wsi_packet_send(socket, &mine, sizeof mine, -1) && *ret_events >= 0;
	if (!good || memcmp(&mine, &theirs, sizeof mine) != 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the process at the socket is not a client of this build");
	server->calls = (struct wsi_channel){ .in = socket, .out = socket, .stop = -1 };
	server->events = (struct wsi_channel){ .in = *ret_events, .out = *ret_events, .stop = -1 };
	return WS_OK;
}

enum ws_status ws_cudbg_serve(const struct ws_provider *provider, int socket, struct ws_error *err)
{
	struct wsi_server server = { .provider = provider };
	enum outcome outcome;
	int events = -1;
	if (!provider || !provider->api || socket < 0)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table and a socket are needed");
	enum ws_status st = greet_server(&server, socket, &events, err);
	if (st == WS_OK) {
		do
			outcome = wire_answer_call(&server);
		while (outcome == ANSWERED);
		if (outcome == GONE)
			wsi_server_say_goodbye(&server);
		shutdown(events, SHUT_RDWR); /* no callback waits any more */
		wsi_server_leave(&server);
		if (outcome == NONSENSE)
			st = wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
				      "what came over the socket is not a call");
	}
	if (events >= 0)
		close(events);
	return st;
}
