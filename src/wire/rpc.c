/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of cuda-gdb, which has a table of its own whose functions ask a driver through named pipes.
 *
 *   request:  u64 bytes of all | u32 major | u32 number | values | bytes that go in
 *   reply:    u64 bytes of all | u32 result | counts | bytes that come out
 *   notice:   u32 thread | u32 terminate | u32 timeout
 *
 * Values have the size of their type and lie in the order of the arguments; so do, behind them, the
 * bytes that go in, which the values count; a text has its size with the NUL in front. Outputs have
 * all the room that the request counted, and come after those that count them. A failed call has
 * them, too. [measured: cuda-gdb 12.4]
 *
 * Numbers of requests are a row of each function (api/README.md). Four have a form of their own:
 * `initialize` tells the version, `getDeviceInfo` sends only what it filled, `getErrorStringEx`
 * asks for nothing, and gets the size in front of the text, and `readAllVirtualReturnAddresses`
 * asks without a capacity, and gets both depths in front of all addresses. The callback is not
 * asked for: a client has made a pipe for it. Clients after 12.4 were not tried: their requests are
 * as their header and client say. [public: the cuda-gdb of 12.8]
 *
 * A pipe is made by who reads it, and its name removed by who writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/cudbg.h>

#include "base/reader.h"
#include "wire/serve.h"

#define REQUESTS "pipe.1000.999"
#define REPLIES "pipe.999.1000"
#define NOTICES "pipe.1001.1002"

enum {
	HEAD_BYTES = 16,
	REPLY_BYTES = 12,
	SMALL_BYTES = 4096,
	VERSION_BYTES = 12,
	WHY_BYTES = 1024,
	AGAIN_MS = 500
};

struct rpc {
	struct wsi_server server;
	const struct ws_rpc_client *client;
	bool is_asked; /* the program, for a sign that it runs; none has come yet */
	bool is_early; /* until then, the client is told of no events */
};

/* ---- a request ---- */

static int number_slot_of(uint32_t number)
{
	for (int slot = 0; slot < WSI_API_SLOTS; slot++)
		if (wsi_api_functions[slot].request == (int64_t)number)
			return slot;
	return -1;
}

/* The call that a request asks for. False: it is not as long as it says. */
static bool take_rpc_call(struct wsi_reader *in, struct wsi_made *made, CUDBGResult *ret_result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[made->slot];
	unsigned present = 0;
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (arg->way == WSI_API_VALUE)
			made->v[i].number = wsi_read_uint(in, (unsigned)arg->size);
		else
			present |= 1u << i;
	}
	/* no request has two texts */
	struct ws_span text = { 0 };
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (!fn->args[i].string)
			continue;
		text = wsi_read_span(in, wsi_read_u32(in));
		made->n[i] = text.len ? text.len - 1 : 0;
		present &= text.len ? ~0u : ~(1u << i);
	}
	if (in->failed || (text.len && text.ptr[text.len - 1] != 0))
		return false;
	*ret_result = wsi_made_init(made, present);
	for (unsigned i = 0; i < fn->n_args && *ret_result == CUDBG_SUCCESS; i++) {
		if (!wsi_api_goes_in(&fn->args[i]) || !made->v[i].pointer)
			continue;
		struct ws_span bytes = fn->args[i].string ? text : wsi_read_span(in, made->n[i]);
		if (in->failed)
			return false;
		if (made->n[i])
			memcpy(made->v[i].pointer, bytes.ptr, made->n[i]);
	}
	return true;
}

/* ---- its reply ---- */

struct rpc_reply {
	uint8_t head[REPLY_BYTES];
	struct wsi_channel_piece piece[1 + WSI_API_MAX_ARGS];
	size_t n_pieces;
	uint64_t n_bytes;
};

static void add_piece(struct rpc_reply *reply, const void *bytes, size_t n)
{
	reply->piece[reply->n_pieces++] = (struct wsi_channel_piece){ bytes, n };
	reply->n_bytes += n;
}

static bool is_count(const struct wsi_api_fn *fn, unsigned arg)
{
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].used == (int)arg)
			return true;
	return false;
}

static void add_outputs(struct rpc_reply *reply, const struct wsi_made *made)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[made->slot];
	for (int counts = 1; counts >= 0; counts--)
		for (unsigned i = 0; i < fn->n_args; i++) {
			const struct wsi_api_arg *arg = &fn->args[i];
			if (!wsi_api_comes_out(arg) || is_count(fn, i) != counts)
				continue;
			bool cut = made->slot == WSI_SLOT(getDeviceInfo) && !counts;
			add_piece(reply, made->v[i].pointer,
				  cut ? wsi_made_written(fn, i, made->v) : made->n[i]);
		}
}

static bool send_reply(struct wsi_server *server, struct rpc_reply *reply, CUDBGResult result)
{
	wsi_store_u64(reply->head, reply->n_bytes);
	wsi_store_u32(reply->head + 8, (uint32_t)result);
	return wsi_channel_send(&server->calls, reply->piece, reply->n_pieces);
}

/* ---- a client that attaches ---- */

/*
 * It has the program call a function, then tries to begin its session again and again while the
 * program stands, then has it run and waits to be told of events. It also tries once at each stop
 * of the program: if that succeeds when the call returns, it looks at the device before it knows of
 * any context, and if it is told of an event there, it takes all, and then waits for ever.
 * [measured: cuda-gdb 12.4]
 *
 * So it must try twice without a sign from the program that it ran in between, and is told of
 * events after the next sign.
 */

/* Takes the program's answer, if it has come, or never will. */
static void hear_program(struct rpc *rpc)
{
	uint8_t word;
	ssize_t n = recv(rpc->client->program, &word, 1, MSG_DONTWAIT);
	if (n < 0 ? errno == EAGAIN || errno == EINTR : n > 0 && word != rpc->client->word)
		return;
	rpc->is_asked = false;
	if (rpc->is_early)
		(void)wsi_server_set_notify(&rpc->server, true);
	rpc->is_early = false;
}

/* False: it has been asked before, and not run since; or it is gone. */
static bool ask_program(struct rpc *rpc)
{
	if (rpc->is_asked)
		hear_program(rpc);
	if (rpc->is_asked)
		return false;
	rpc->is_asked = send(rpc->client->program, &rpc->client->word, 1, MSG_NOSIGNAL) == 1;
	return rpc->is_asked;
}

/* Until the client asks something, or is to go. */
static void await_program(struct rpc *rpc)
{
	const struct wsi_channel *calls = &rpc->server.calls;
	struct pollfd fds[] = { { rpc->client->program, POLLIN, 0 },
				{ calls->in, POLLIN, 0 },
				{ rpc->client->stop, POLLIN, 0 } };
	while (rpc->is_asked && calls->at == calls->have) {
		if (poll(fds, WSI_COUNT(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			hear_program(rpc);
		if (fds[1].revents || fds[2].revents)
			return;
	}
}

/* ---- the requests with forms of their own ---- */

/* A client of a version that is not served must not go on. */
static CUDBGResult rpc_initialize(struct rpc *rpc, struct wsi_reader *in, uint8_t *ret_version)
{
	struct wsi_server *server = &rpc->server;
	uint32_t major = wsi_read_u32(in), minor = wsi_read_u32(in), revision = wsi_read_u32(in);
	const struct wsi_made made = { .slot = WSI_SLOT(initialize) };
	wsi_store_u32(ret_version, major);
	wsi_store_u32(ret_version + 4, minor);
	wsi_store_u32(ret_version + 8, revision);
	if (in->failed || (major != 12 && major != 13))
		return CUDBG_ERROR_INCOMPATIBLE_API;
	ws_cudbg_ask(server->provider->api, major, minor);
	if (rpc->client->program >= 0 && ask_program(rpc))
		return CUDBG_ERROR_UNINITIALIZED;
	CUDBGResult result = wsi_server_make(server, &made);
	rpc->is_early = result == CUDBG_SUCCESS && rpc->is_asked;
	if (result == CUDBG_SUCCESS && !rpc->is_early)
		(void)wsi_server_set_notify(server, true);
	return result;
}

/* The call is made for the depth first. False: the request is cut off. */
static bool return_addresses(struct wsi_server *server, struct wsi_reader *in,
			     struct wsi_made *made, struct rpc_reply *reply,
			     CUDBGResult *ret_result)
{
	enum { ADDRESSES = 4, CAPACITY, DEPTH, SYSCALLS };
	static const uint32_t none[2];
	for (unsigned i = 0; i < ADDRESSES; i++)
		made->v[i].number = wsi_read_u32(in);
	uint32_t depth = 0;
	do {
		wsi_made_fini(made);
		made->v[CAPACITY].number = depth;
		*ret_result = wsi_made_init(made, 1u << DEPTH | 1u << SYSCALLS | 1u << ADDRESSES);
		if (*ret_result == CUDBG_SUCCESS)
			*ret_result = wsi_server_make(server, made);
		if (*ret_result == CUDBG_SUCCESS)
			memcpy(&depth, made->v[DEPTH].pointer, sizeof depth);
	} while (*ret_result == CUDBG_SUCCESS && depth > made->v[CAPACITY].number);
	if (*ret_result != CUDBG_SUCCESS) {
		add_piece(reply, none, sizeof none);
		return !in->failed;
	}
	add_piece(reply, made->v[DEPTH].pointer, sizeof depth);
	add_piece(reply, made->v[SYSCALLS].pointer, sizeof depth);
	add_piece(reply, made->v[ADDRESSES].pointer, depth * sizeof(uint64_t));
	return !in->failed;
}

/* ---- one request ---- */

static bool answer_call(struct rpc *rpc, unsigned slot, struct wsi_reader *in,
			struct rpc_reply *reply)
{
	struct wsi_server *server = &rpc->server;
	struct wsi_made made;
	uint8_t version[VERSION_BYTES], size[4];
	char why[WHY_BYTES];
	CUDBGResult result = CUDBG_SUCCESS;
	made.slot = slot;
	made.bytes = NULL;
	bool good = true;
	if (slot == WSI_SLOT(initialize)) {
		result = rpc_initialize(rpc, in, version);
		add_piece(reply, version, sizeof version);
	} else if (slot == WSI_SLOT(getErrorStringEx)) {
		wsi_server_why(server, why, sizeof why);
		wsi_store_u32(size, (uint32_t)strlen(why) + 1);
		add_piece(reply, size, sizeof size);
		add_piece(reply, why, strlen(why) + 1);
	} else if (slot == WSI_SLOT(readAllVirtualReturnAddresses)) {
		good = return_addresses(server, in, &made, reply, &result);
	} else {
		good = take_rpc_call(in, &made, &result);
		if (good && result == CUDBG_SUCCESS) {
			result = wsi_server_make(server, &made);
			/* it removes what it has removed before */
			if (slot == WSI_SLOT(unsetBreakpoint) && result == CUDBG_ERROR_INVALID_ARGS)
				result = CUDBG_SUCCESS;
			add_outputs(reply, &made);
		}
	}
	good = good && send_reply(server, reply, result);
	wsi_made_fini(&made);
	if (slot == WSI_SLOT(finalize) && result == CUDBG_SUCCESS) {
		wsi_server_say_goodbye(server); /* its thread that reads notices waits for that */
		return false; /* it keeps its pipes open, and makes others for its next session */
	}
	return good;
}

/* False: the client is gone, has ended its session, or is not to be understood. */
static bool rpc_answer_call(struct rpc *rpc)
{
	struct wsi_server *server = &rpc->server;
	uint8_t head[HEAD_BYTES], small[SMALL_BYTES];
	wsi_scoped_free uint8_t *owned = NULL;
	struct ws_span body;
	struct rpc_reply reply = { .n_pieces = 0 };
	await_program(rpc);
	if (!wsi_channel_next(&server->calls, head, sizeof head))
		return false;
	uint64_t total = wsi_load_u64(head);
	if (total < sizeof head || total - sizeof head > WSI_CHANNEL_MOST ||
	    !wsi_channel_body(&server->calls, (uint32_t)(total - sizeof head), small, sizeof small,
			      &owned, &body))
		return false;
	int slot = number_slot_of(wsi_load_u32(head + 12));
	struct wsi_reader in = wsi_reader_of(body);
	add_piece(&reply, reply.head, sizeof reply.head);
	return slot < 0 ? send_reply(server, &reply, CUDBG_ERROR_UNKNOWN_FUNCTION)
			: answer_call(rpc, (unsigned)slot, &in, &reply);
}

/* ---- the pipes ---- */

struct pipes {
	int folder, requests, replies, notices;
};

static void close_pipes(struct pipes *pipes)
{
	const int all[] = { pipes->requests, pipes->replies, pipes->notices, pipes->folder };
	if (pipes->requests >= 0)
		(void)unlinkat(pipes->folder, REQUESTS, 0); /* if nobody came */
	for (size_t i = 0; i < WSI_COUNT(all); i++)
		if (all[i] >= 0)
			close(all[i]);
}

/* Nobody but the user may be at its other end. */
static bool is_fd_ours(int fd, mode_t kind)
{
	struct stat about;
	return fd >= 0 && fstat(fd, &about) == 0 && (about.st_mode & S_IFMT) == kind &&
	       about.st_uid == geteuid();
}

static int open_pipe(int folder, const char *name, int mode)
{
	int fd = openat(folder, name, mode | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !is_fd_ours(fd, S_IFIFO)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

static enum ws_status open_requests(struct pipes *pipes, const char *folder, struct ws_error *err)
{
	pipes->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (pipes->folder >= 0 && !is_fd_ours(pipes->folder, S_IFDIR))
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "%s belongs to another user", folder);
	if (pipes->folder >= 0 && mkfifoat(pipes->folder, REQUESTS, 0600) == 0)
		pipes->requests = open_pipe(pipes->folder, REQUESTS, O_RDONLY);
	return pipes->requests >= 0 ? WS_OK : wsi_fail_errno(err, "pipes in %s", folder);
}

static void ask_to_come(struct pipes *pipes, struct wsi_server *server)
{
	const struct wsi_notice notice = { .tid = server->tid };
	if (pipes->notices < 0)
		pipes->notices = open_pipe(pipes->folder, NOTICES, O_WRONLY);
	server->events.out = pipes->notices;
	if (pipes->notices >= 0)
		(void)!wsi_channel_send(&server->events,
					&(struct wsi_channel_piece){ &notice, sizeof notice }, 1);
}

/* Until the debugger asks something: it looks for the server when a thread of its program stops,
 * which it may miss while it is busy with another stop. False: it is to be waited for no more. */
static bool await_client(struct pipes *pipes, struct rpc *rpc)
{
	struct pollfd fds[] = { { pipes->requests, POLLIN, 0 }, { rpc->client->stop, POLLIN, 0 } };
	const bool waits = rpc->client->waits;
	do
		if (waits)
			ask_to_come(pipes, &rpc->server);
	while (poll(fds, WSI_COUNT(fds), waits ? AGAIN_MS : -1) <= 0);
	return !fds[1].revents;
}

/* The client's pipes, which are there when it asks for the first time. */
static bool open_answers(struct pipes *pipes, struct wsi_server *server)
{
	if (pipes->notices < 0)
		pipes->notices = open_pipe(pipes->folder, NOTICES, O_WRONLY);
	pipes->replies = open_pipe(pipes->folder, REPLIES, O_WRONLY);
	if (pipes->replies < 0 || pipes->notices < 0)
		return false;
	(void)unlinkat(pipes->folder, REPLIES, 0);
	(void)unlinkat(pipes->folder, NOTICES, 0);
	server->calls.out = pipes->replies;
	server->events.out = pipes->notices;
	return true;
}

enum ws_status ws_cudbg_serve_rpc(const struct ws_provider *provider,
				  const struct ws_rpc_client *client, struct ws_error *err)
{
	struct pipes pipes = { -1, -1, -1, -1 };
	if (!provider || !provider->api || !client || !client->folder)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table and a folder are needed");
	struct rpc rpc = { .server = { .provider = provider, .tid = client->tid },
			   .client = client };
	struct wsi_server *server = &rpc.server;
	enum ws_status st = open_requests(&pipes, client->folder, err);
	server->calls =
		(struct wsi_channel){ .in = pipes.requests, .out = -1, .stop = client->stop };
	server->events = (struct wsi_channel){ .in = -2, .out = -1, .stop = -1 };
	if (st == WS_OK && await_client(&pipes, &rpc)) {
		if (!open_answers(&pipes, server))
			st = wsi_fail_errno(err, "the client's pipes in %s", client->folder);
		while (st == WS_OK && rpc_answer_call(&rpc))
			continue;
		wsi_server_leave(server);
	}
	close_pipes(&pipes);
	return st;
}
