/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-wire: what a call of the debugger API costs when another process makes it.
 *
 * Input: a dump. The floor: one round trip over the same kind of socket to a process that only
 * answers, with messages of the same size, in turns in the same run. All on one core: a round trip
 * between two takes up to five times as long, and the system places the pairs as it likes.
 */
#include "one_core.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>

#include "bench.h"

/* bytes of a request and of a reply of readVirtualPC */
enum { CALLS = 2000, REQUEST = 56, REPLY = 56 };

static double wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A process at the other end of a socket. */
static int start(void (*run)(int socket, const void *data), const void *data)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		exit(1);
	if (fork() == 0) {
		close(ends[0]);
		run(ends[1], data);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static void echo(int socket, const void *data)
{
	char bytes[REPLY] = { 0 };
	(void)data;
	while (recv(socket, bytes, REQUEST, MSG_WAITALL) == REQUEST &&
	       send(socket, bytes, REPLY, 0) == REPLY)
		continue;
}

static void serve(int socket, const void *data)
{
	struct ws_provider provider = { .major = UINT32_MAX };
	struct ws_target *target;
	struct ws_error err;
	must(ws_core_open(data, NULL, &target, &err), &err);
	must(ws_cudbg_api(target, &provider.api, &err), &err);
	must(ws_cudbg_serve(&provider, socket, &err), &err);
}

static double round_trips(int socket)
{
	char bytes[REPLY] = { 0 };
	double begin = wall();
	for (int i = 0; i < CALLS; i++)
		if (send(socket, bytes, REQUEST, 0) != REQUEST ||
		    recv(socket, bytes, REPLY, MSG_WAITALL) != REPLY)
			exit(1);
	return (wall() - begin) / CALLS;
}

static void check(CUDBGResult result)
{
	if (result == CUDBG_SUCCESS)
		return;
	fprintf(stderr, "bench: %s\n", cudbgGetErrorString(result));
	exit(1);
}

/* The first warp that there is. */
static uint32_t find_sm(CUDBGAPI api, uint32_t *ret_warp)
{
	uint64_t mask = 0;
	for (uint32_t sm = 0;; sm++) {
		check(api->readValidWarps(0, sm, &mask));
		for (*ret_warp = 0; *ret_warp < 64; ++*ret_warp)
			if (mask >> *ret_warp & 1)
				return sm;
	}
}

int main(int argc, char **argv)
{
	struct times call;
	struct ws_error err;
	CUDBGAPI api;
	uint32_t warp;
	uint64_t pc;
	if (argc != 2)
		return 2;
	stay_on_this_core();
	int bare = start(echo, NULL), socket = start(serve, argv[1]);
	must(ws_cudbg_connect(socket, &api, &err), &err);
	check(api->initialize());
	uint32_t sm = find_sm(api, &warp);
	for (int i = 0; i < RUNS; i++) {
		call.floor[i] = round_trips(bare);
		double begin = wall();
		for (int n = 0; n < CALLS; n++)
			check(api->readVirtualPC(0, sm, warp, 0, &pc));
		call.ours[i] = (wall() - begin) / CALLS;
	}
	double floor = best(call.floor), ours = best(call.ours);
	ws_cudbg_release(api);
	close(bare);
	while (wait(NULL) > 0)
		continue;
	printf("the debugger API through a socket; a bare round trip takes %.1f us\n", floor * 1e6);
	printf("  wire call  %.1f us, %.2f round trips (at most 2) %s\n", ours * 1e6, ours / floor,
	       ours <= 2 * floor ? "good" : "TOO SLOW");
	return 0;
}
