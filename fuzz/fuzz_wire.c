/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a socket, or of the pipes of cuda-gdb, says anything. The first byte chooses who
 * is tested: what serves calls over a socket or over pipes gets the rest as requests, what makes
 * them gets it as replies. Nothing may hang, write past a buffer or change an output of a call that
 * failed; after it the table still works.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/cudbg.h>

#include "fuzz.h"
#include "harness.h"
#include "target/fake.h"
#include "wire/wire.h"

enum { MOST_ROOM = 8 << 20, MOST_INPUT = 64 << 10 };

/* Reads away what comes from a descriptor, until its end. */
static void *drain(void *data)
{
	char bytes[4096];
	while (read(*(int *)data, bytes, sizeof bytes) > 0)
		continue;
	return NULL;
}

static void serve_socket(const struct ws_provider *provider, const uint8_t *data, size_t size)
{
	const struct wsi_wire_greeting greeting = wsi_wire_greeting();
	pthread_t thread;
	int ends[2], events[2];
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, events) == 0);
	FUZZ_CHECK(wsi_packet_send(ends[0], &greeting, sizeof greeting, events[1]));
	FUZZ_CHECK(send(ends[0], data, size, 0) == (ssize_t)size);
	FUZZ_CHECK(shutdown(ends[0], SHUT_WR) == 0);
	FUZZ_CHECK(pthread_create(&thread, NULL, drain, &ends[0]) == 0);
	(void)!ws_cudbg_serve(provider, ends[1], NULL);
	shutdown(ends[1], SHUT_RDWR);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(events[i]);
	}
}

static int make_pipe(int folder, const char *name)
{
	FUZZ_CHECK(mkfifoat(folder, name, 0600) == 0);
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC);
	FUZZ_CHECK(fd >= 0);
	return fd;
}

struct client {
	int folder;
	const uint8_t *data;
	size_t size;
};

static void *ask(void *user)
{
	const struct client *client = user;
	int to;
	while ((to = openat(client->folder, "pipe.1000.999", O_WRONLY | O_NONBLOCK)) < 0)
		continue;
	FUZZ_CHECK(write(to, client->data, client->size) == (ssize_t)client->size);
	close(to);
	return NULL;
}

/* Replies go where nobody reads: the pipe takes 64 KiB of them, then the server's patience ends. */
static void serve_pipes(const struct ws_provider *provider, const uint8_t *data, size_t size)
{
	char path[] = "/tmp/ws-fuzz-XXXXXX";
	pthread_t thread, drains[2];
	FUZZ_CHECK(mkdtemp(path));
	struct client client = { open(path, O_RDONLY | O_DIRECTORY), data, size };
	int pipes[] = { make_pipe(client.folder, "pipe.999.1000"),
			make_pipe(client.folder, "pipe.1001.1002") };
	int reads[] = { openat(client.folder, "pipe.999.1000", O_RDONLY),
			openat(client.folder, "pipe.1001.1002", O_RDONLY) };
	for (int i = 0; i < 2; i++)
		FUZZ_CHECK(pthread_create(&drains[i], NULL, drain, &reads[i]) == 0);
	FUZZ_CHECK(pthread_create(&thread, NULL, ask, &client) == 0);
	const struct ws_rpc_client rpc = { .folder = path, .stop = -1, .program = -1 };
	(void)!ws_cudbg_serve_rpc(provider, &rpc, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]); /* now it ends for who reads */
		pthread_join(drains[i], NULL);
		close(reads[i]);
	}
	(void)unlinkat(client.folder, "pipe.999.1000", 0);
	(void)unlinkat(client.folder, "pipe.1001.1002", 0);
	close(client.folder);
	FUZZ_CHECK(rmdir(path) == 0);
}

/* Calls of the slots that the replies' first bytes choose, until the connection is given up. */
static void ask_socket(const uint8_t *data, size_t size)
{
	const struct wsi_wire_greeting greeting = wsi_wire_greeting();
	CUDBGAPI api;
	int ends[2];
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	FUZZ_CHECK(send(ends[1], &greeting, sizeof greeting, 0) == sizeof greeting);
	size_t n_calls = size ? data[0] % 16u : 0;
	if (size <= n_calls)
		n_calls = 0;
	const uint8_t *replies = data + 1 + n_calls;
	size_t n_replies = size > 1 + n_calls ? size - 1 - n_calls : 0;
	if (n_replies)
		FUZZ_CHECK(send(ends[1], replies, n_replies, 0) == (ssize_t)n_replies);
	FUZZ_CHECK(shutdown(ends[1], SHUT_WR) == 0);
	FUZZ_CHECK(ws_cudbg_connect(ends[0], &api, NULL) == WS_OK);
	for (size_t i = 0; i < n_calls; i++) {
		struct api_call call;
		CUDBGResult result;
		api_call_init(&call, data[1 + i] % WSI_API_SLOTS);
		api_call_buffers(&call);
		const char *wrong = api_call_run(&call, api, &result);
		/* a peer may answer with any code */
		FUZZ_CHECK(!wrong || strstr(wrong, "do not list"));
		api_call_fini(&call);
	}
	ws_cudbg_release(api);
	close(ends[1]);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	static struct fake fake;
	struct CUDBGAPI_st table;
	const struct ws_provider provider = { .api = &table, .major = UINT32_MAX };
	CUDBGAPI api;
	uint32_t n;
	if (size < 1 || size > MOST_INPUT)
		return 0;
	wsi_made_most = MOST_ROOM;
	fake_init_running(&fake);
	FUZZ_CHECK(ws_cudbg_api(&fake.target, &api, NULL) == WS_OK);
	table = *api;
	table.generateCoredump = NULL; /* it writes where it is told to */
	if (data[0] % 3 == 0)
		serve_socket(&provider, data + 1, size - 1);
	else if (data[0] % 3 == 1)
		ask_socket(data + 1, size - 1);
	else
		serve_pipes(&provider, data + 1, size - 1);
	FUZZ_CHECK(api->initialize() == CUDBG_SUCCESS);
	FUZZ_CHECK(api->getNumDevices(&n) == CUDBG_SUCCESS);
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
	return 0;
}
