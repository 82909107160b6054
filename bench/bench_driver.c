/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-driver: what a call of the driver API costs on the software GPU that the agent has.
 *
 * Input: the fatbin of tests/sim/kernels/driver.cu. The floor: one round trip over the same kind of
 * socket to a process that only answers, with messages of the same size, in turns in the same run.
 * All on one core, the agent too: a round trip between two takes up to five times as long, and the
 * system places the pairs as it likes.
 */
#include "one_core.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "driver/cuda.h"
#include "driver/wire.h"

enum { CALLS = 2000 };

static void cu(CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "bench: the driver says %d\n", (int)result);
	exit(1);
}

/* Both sides wait most of the time: the clock on the wall. */
static double wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int echo_start(void)
{
	int ends[2];
	struct wire_request request;
	struct wire_reply reply = { 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		exit(1);
	if (fork() == 0) {
		close(ends[0]);
		while (wire_receive(ends[1], &request, sizeof request, NULL) &&
		       wire_send(ends[1], &reply, sizeof reply, NULL, 0, -1))
			continue;
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static double round_trips(int socket)
{
	struct wire_request request = { 0 };
	struct wire_reply reply;
	double start = wall();
	for (int i = 0; i < CALLS; i++)
		if (!wire_send(socket, &request, sizeof request, NULL, 0, -1) ||
		    !wire_receive(socket, &reply, sizeof reply, NULL))
			exit(1);
	return (wall() - start) / CALLS;
}

/* A variable's address: one request of the agent. */
static double calls(CUmodule module)
{
	double start = wall();
	for (int i = 0; i < CALLS; i++) {
		CUdeviceptr at;
		cu(cuModuleGetGlobal_v2(&at, NULL, module, "scale"));
	}
	return (wall() - start) / CALLS;
}

static double launches(CUfunction kernel)
{
	unsigned n = 0;
	CUdeviceptr none = 0;
	void *args[] = { &none, &none, &none, &n };
	double start = wall();
	for (int i = 0; i < CALLS; i++) {
		cu(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
		cu(cuCtxSynchronize());
	}
	return (wall() - start) / CALLS;
}

int main(int argc, char **argv)
{
	struct times call;
	double launch[RUNS];
	CUcontext context;
	CUmodule module;
	CUfunction kernel;
	if (argc != 2)
		return 2;
	stay_on_this_core();
	int socket = echo_start();
	cu(cuInit(0));
	cu(cuDevicePrimaryCtxRetain(&context, 0));
	cu(cuCtxSetCurrent(context));
	cu(cuModuleLoad(&module, argv[1]));
	cu(cuModuleGetFunction(&kernel, module, "add"));
	for (int i = 0; i < RUNS; i++) {
		call.floor[i] = round_trips(socket);
		call.ours[i] = calls(module);
		launch[i] = launches(kernel);
	}
	double floor = best(call.floor), ours = best(call.ours), launched = best(launch);
	close(socket);
	(void)wait(NULL);
	printf("the driver API on the software GPU; a bare round trip takes %.1f us\n",
	       floor * 1e6);
	printf("  a call     %.1f us, %.2f round trips (at most 2) %s\n", ours * 1e6, ours / floor,
	       ours <= 2 * floor ? "good" : "TOO SLOW");
	printf("  a launch   of a kernel that does nothing, and its end: %.1f us, %.2f round trips "
	       "(at "
	       "most 4) %s\n",
	       launched * 1e6, launched / floor, launched <= 4 * floor ? "good" : "TOO SLOW");
	return 0;
}
