/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-live: what a debugger costs a software GPU that runs, through the debugger API.
 *
 * Input: the fatbins of tests/sim/kernels/live.cu and whole.cu, optimised. The floors: the same run
 * without a breakpoint; the instruction alone, and the step with 8 warps; the round of a device
 * with 20 warps. Conditions have no floor: how many are answered in a second is what counts.
 */
#include "one_core.h"

#include <pthread.h>

#include <warpscope/cudbg.h>
#include <warpscope/vars.h>

#include "bench.h"
#include "target/device.h"

enum { SMS = 132, STEPS = 2000, ROUNDS = 40, BUSY = 10, BUFFER = 8 << 20 };

static struct device device;
static CUDBGAPI api;
static uint8_t *buffer;

static void check(CUDBGResult result, const char *what)
{
	if (result == CUDBG_SUCCESS)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, cudbgGetErrorString(result));
	exit(1);
}

static void begin(const char *fatbin, const char *kernel, unsigned blocks, unsigned threads,
		  uint64_t more)
{
	device_open(&device, fatbin, SMS);
	const uint64_t args[] = { device.in, more ? more : device.out };
	device_launch(&device, kernel, blocks, threads, args, 2);
	device_debug(&device);
	struct ws_error err;
	must(ws_cudbg_api(device.target, &api, &err), &err);
	check(api->initialize(), "initialize");
	check(api->setKernelLaunchNotificationMode(CUDBG_KNL_LAUNCH_NOTIFY_DEFER), "mode");
}

static void end(void)
{
	ws_cudbg_release(api);
	device_close(&device);
}

/* Until all blocks are there: the first stop is at a launch. */
static void stop_at_start(void)
{
	uint64_t mask = 0;
	check(api->enableBreakpoint(CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH), "enableBreakpoint");
	check(api->resumeAllDevices(), "resumeAllDevices");
	while (api->readValidWarps(0, 0, &mask) == CUDBG_ERROR_RUNNING_DEVICE)
		continue;
	check(api->disableBreakpoint(CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH), "disableBreakpoint");
}

/* Seconds of one step of one warp of `blocks` blocks of 64 threads, with what a debugger reads. */
static double one_step(const char *fatbin, unsigned blocks)
{
	uint64_t moved;
	uint32_t length;
	begin(fatbin, "spins", blocks, 64, 0);
	stop_at_start();
	check(api->getDeviceInfo(0, CUDBG_RESPONSE_TYPE_FULL, buffer, BUFFER, &length), "info");
	double start = now();
	for (int i = 0; i < STEPS; i++)
		check(api->singleStepWarp(0, 0, 0, UINT32_MAX, 1, 0, &moved), "singleStepWarp");
	double seconds = (now() - start) / STEPS;
	end();
	return seconds;
}

/* Seconds of one instruction of the same kernel, alone. */
static double one_instruction(const char *fatbin)
{
	enum { N = 2000000 };
	enum ws_sim_outcome outcome;
	struct ws_error err;
	device_open(&device, fatbin, SMS);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "spins", 4, 64, args, 2);
	double start = now();
	must(ws_sim_run(device.sim, N, &outcome, &err), &err);
	double seconds = (now() - start) / N;
	device_close(&device);
	return seconds;
}

/* ---- what is there and not hit ---- */

/* The same kernel on three devices: under a debugger alone, with breakpoints elsewhere, and where a
 * watchpoint was. */
enum { PLAIN, PLANTED, WATCHED, SIDES, PIECES = 25 };

static void open_side(struct device *d, const char *fatbin, int side)
{
	struct ws_error err;
	struct ws_grid grid;
	uint32_t number;
	device_open(d, fatbin, 4);
	const uint64_t args[] = { d->in, d->out };
	device_launch(d, "spins", 4, 64, args, 2);
	device_debug(d);
	must(ws_target_grid(d->target, 0, &grid, &err), &err);
	/* behind the loop: the kernel's last instructions, where no warp comes */
	for (uint64_t pc = grid.function_entry + 0x100; side == PLANTED; pc += 16)
		if (ws_target_plant(d->target, 0, pc, &err) != WS_OK)
			break;
	const struct ws_watch watch = {
		.at = { .space = WS_SPACE_GLOBAL, .address = d->out, .grid_index = WS_NONE },
		.size_bytes = 4,
		.kinds = WS_WATCH_WRITE,
	};
	if (side == WATCHED) {
		must(ws_target_watch(d->target, &watch, &number, &err), &err);
		must(ws_target_unwatch(d->target, number, &err), &err);
	}
}

/* Seconds of one instruction of a device that runs for a moment. */
static double run_side(struct device *d)
{
	enum { N = 1000000 };
	const struct timespec moment = { .tv_nsec = 5000000 };
	struct ws_error err;
	uint64_t first = ws_sim_instructions(d->sim), done = 0;
	double start = now();
	must(ws_target_resume(d->target, WS_NONE, &err), &err);
	while (done < N) { /* the clock counts all threads: asking must not cost */
		nanosleep(&moment, NULL);
		ws_sim_host_begin(d->target, false);
		done = ws_sim_instructions(d->sim) - first;
		must(ws_sim_host_end(d->target, false, NULL, &err), &err);
	}
	must(ws_target_suspend(d->target, WS_NONE, true, &err), &err);
	return (now() - start) / (double)(ws_sim_instructions(d->sim) - first);
}

/* One after the other, again and again, so that a slow moment of the machine meets all. */
static void costs_of_what_is_not_hit(const char *fatbin)
{
	static struct device sides[SIDES];
	double least[SIDES] = { 1, 1, 1 };
	for (int side = 0; side < SIDES; side++)
		open_side(&sides[side], fatbin, side);
	for (int i = 0; i < PIECES; i++)
		for (int side = 0; side < SIDES; side++) {
			double seconds = run_side(&sides[side]);
			least[side] = seconds < least[side] ? seconds : least[side];
		}
	for (int side = 0; side < SIDES; side++)
		device_close(&sides[side]);
	for (int side = PLANTED; side < SIDES; side++) {
		double cost = least[side] / least[PLAIN] - 1;
		printf("  %s costs %.1f %% (at most 5 %%) %s\n",
		       side == PLANTED ? "a breakpoint that is not hit" : "a watchpoint that was",
		       cost * 100, cost <= 0.05 ? "good" : "TOO SLOW");
	}
}

/* Of this thread: without what the device executes meanwhile. */
static double own_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of suspend, getDeviceInfo's update and resume, when BUSY warps of `blocks` blocks run. */
static double one_round(const char *fatbin, unsigned blocks)
{
	uint32_t length;
	begin(fatbin, "few_spin", blocks, 64, BUSY);
	check(api->resumeAllDevices(), "resumeAllDevices");
	const struct timespec moment = { .tv_nsec = 200000000 };
	nanosleep(&moment, NULL); /* the others come to where they wait */
	check(api->suspendAllDevices(0), "suspendAllDevices");
	check(api->getDeviceInfo(0, CUDBG_RESPONSE_TYPE_FULL, buffer, BUFFER, &length), "info");
	check(api->resumeAllDevices(), "resumeAllDevices");
	double start = own_time();
	for (int i = 0; i < ROUNDS; i++) {
		check(api->suspendAllDevices(0), "suspendAllDevices");
		check(api->getDeviceInfo(0, CUDBG_RESPONSE_TYPE_UPDATE, buffer, BUFFER, &length),
		      "info");
		check(api->resumeAllDevices(), "resumeAllDevices");
	}
	double seconds = (own_time() - start) / ROUNDS;
	end();
	return seconds;
}

/* ---- conditions ---- */

static uint64_t asked;

static uint32_t counted(const void *condition, const struct ws_arrival *arrival)
{
	asked++;
	return ws_condition_holds(condition, arrival);
}

static void run_for(double seconds)
{
	const struct timespec moment = { .tv_nsec = (long)(seconds * 1e9) };
	check(api->resumeAllDevices(), "resumeAllDevices");
	nanosleep(&moment, NULL);
	check(api->suspendAllDevices(0), "suspendAllDevices");
}

/* A warp that spins stands in its loop. */
static uint64_t stand_in_loop(const char *fatbin)
{
	uint64_t pc = 0;
	begin(fatbin, "spins", 1, 32, 0);
	stop_at_start();
	run_for(0.01);
	check(api->readVirtualPC(0, 0, 0, 0, &pc), "readVirtualPC");
	return pc;
}

/* Conditions that the engine asks in a second, each for a warp; `*ret_plain`: of instructions that
 * it executes in a second without. */
static double engine_rate(const char *fatbin, double *ret_plain)
{
	struct ws_condition *condition;
	struct ws_vars *vars;
	struct ws_focus focus = { .lane = 0 };
	struct ws_error err;
	uint64_t pc = stand_in_loop(fatbin);
	uint64_t first = ws_sim_instructions(device.sim);
	double start = now();
	run_for(0.15);
	*ret_plain = (double)(ws_sim_instructions(device.sim) - first) / (now() - start);
	must(ws_vars_create(device.target, &vars, &err), &err);
	must(ws_vars_look(vars, &focus, &err), &err);
	must(ws_vars_condition(vars, "$R0 == 0x7fffffff && threadIdx.x == 5", &condition, &err),
	     &err);
	must(ws_target_plant(device.target, 0, pc, &err), &err);
	must(ws_target_stop_if(device.target, 0, pc, counted, condition, &err), &err);
	asked = 0;
	start = now();
	run_for(0.15);
	double rate = (double)asked / (now() - start);
	must(ws_target_unplant(device.target, 0, pc, &err), &err);
	ws_condition_free(condition);
	ws_vars_destroy(vars);
	end();
	return rate;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static uint64_t n_told;

static void on_event(CUDBGEventCallbackData *data)
{
	(void)data;
	pthread_mutex_lock(&lock);
	n_told++;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
}

/* Waits until more events have been told than `*seen`. */
static void wait_for_event(uint64_t *seen)
{
	pthread_mutex_lock(&lock);
	while (n_told == *seen)
		pthread_cond_wait(&cond, &lock);
	++*seen;
	pthread_mutex_unlock(&lock);
}

/* The same by a client of the API: each stop is told, a register of 32 lanes read, and resumed. */
static double table_rate(const char *fatbin)
{
	enum { STOPS = 4000 };
	CUDBGBreakpointHandle handle;
	CUDBGEvent event;
	uint64_t pc = stand_in_loop(fatbin);
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		check(api->acknowledgeSyncEvents(), "acknowledgeSyncEvents");
	uint64_t seen = n_told;
	check(api->setNotifyNewEventCallback(on_event, NULL), "callback");
	check(api->insertBreakpoint(0, pc, &handle), "insertBreakpoint");
	double start = now();
	for (int i = 0; i < STOPS;) {
		uint32_t value, hits = 0;
		check(api->resumeAllDevices(), "resumeAllDevices");
		do {
			wait_for_event(&seen);
		} while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) != CUDBG_SUCCESS ||
			 event.kind != CUDBG_EVENT_ALL_DEVICES_SUSPENDED);
		check(api->acknowledgeSyncEvents(), "acknowledgeSyncEvents");
		for (uint32_t lane = 0; lane < 32; lane++) {
			check(api->readRegister(0, 0, 0, lane, 0, &value), "readRegister");
			hits += value == 0x7fffffff;
		}
		i += hits == 0;
	}
	double rate = STOPS / (now() - start);
	end();
	return rate;
}

static void conditions(const char *fatbin)
{
	double engine = 0, plain = 0, table = 0, one;
	cudbgDebuggerCapabilities |= CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS;
	for (int i = 0; i < RUNS; i++) {
		double rate = engine_rate(fatbin, &one);
		engine = rate > engine ? rate : engine;
		plain = one > plain ? one : plain;
		rate = table_rate(fatbin);
		table = rate > table ? rate : table;
	}
	printf("  conditions asked by the engine: %.0f a second, each as long as "
	       "%.1f instructions (at most 200): %s\n",
	       engine, plain / engine, plain <= 200 * engine ? "good" : "TOO SLOW");
	printf("  conditions asked through the table: %.0f a second (at least 30000), each as long "
	       "as %.0f instructions: %s\n",
	       table, plain / table, table >= 30000 ? "good" : "TOO SLOW");
}

int main(int argc, char **argv)
{
	struct times step, bare, round;
	if (argc != 2)
		return 2;
	buffer = malloc(BUFFER);
	if (!buffer)
		return 1;
	stay_on_this_core();
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	for (int i = 0; i < RUNS; i++) {
		bare.floor[i] = one_instruction(argv[1]);
		step.floor[i] = one_step(argv[1], 4);
		step.ours[i] = bare.ours[i] = one_step(argv[1], SMS * 32);
		round.floor[i] = one_round(argv[1], BUSY);
		round.ours[i] = one_round(argv[1], SMS * 32);
	}
	printf("a software GPU under the debugger API\n");
	costs_of_what_is_not_hit(argv[1]);
	print_ratio("step", &bare, 100, 1e6, "us");
	print_ratio("8448 warps", &step, 2, 1e6, "us");
	print_ratio("round", &round, 2, 1e6, "us");
	conditions(argv[1]);
	free(buffer);
	return 0;
}
