/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-live: what a debugger costs a software GPU that runs, through the debugger API.
 *
 * Input: the fatbins of tests/sim/kernels/live.cu and whole.cu, optimised. The floors: the same run
 * without a breakpoint; the instruction alone, and the step with 8 warps; the round of a device
 * with 20 warps. Conditions have no floor: how many are answered in a second is what counts.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include <sched.h>
#include <semaphore.h>

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

/* Seconds of a run of N instructions on a debugged device; `planted`: with breakpoints elsewhere.
 */
static double one_run(const char *fatbin, bool planted)
{
	enum { N = 8000000 };
	struct ws_error err;
	begin(fatbin, "spins", 4, 64, 0);
	struct ws_grid grid;
	must(ws_target_grid(device.target, 0, &grid, &err), &err);
	/* behind the loop: the kernel's last instructions, where no warp comes */
	for (uint64_t pc = grid.function_entry + 0x100; planted; pc += 16)
		if (api->setBreakpoint(0, pc) != CUDBG_SUCCESS)
			break;
	check(api->resumeAllDevices(), "resumeAllDevices");
	uint64_t done = 0;
	double start = now();
	while (done < N) { /* the clock counts all threads: asking must not cost */
		const struct timespec moment = { .tv_nsec = 20000000 };
		nanosleep(&moment, NULL);
		ws_sim_host_begin(device.target, false);
		done = ws_sim_instructions(device.sim);
		must(ws_sim_host_end(device.target, false, NULL, &err), &err);
	}
	double seconds = (now() - start) / (double)done;
	end();
	return seconds;
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

static sem_t stopped;

static void on_event(CUDBGEventCallbackData *data)
{
	(void)data;
	sem_post(&stopped);
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
	sem_init(&stopped, 0, 0);
	check(api->setNotifyNewEventCallback(on_event, NULL), "callback");
	check(api->insertBreakpoint(0, pc, &handle), "insertBreakpoint");
	double start = now();
	for (int i = 0; i < STOPS;) {
		uint32_t value, hits = 0;
		check(api->resumeAllDevices(), "resumeAllDevices");
		do {
			sem_wait(&stopped);
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

/* All on one core, as cores differ in speed when other machines use them, too. */
static void conditions(const char *fatbin)
{
	double engine = 0, plain = 0, table = 0, one;
	cpu_set_t core;
	CPU_ZERO(&core);
	CPU_SET((size_t)(sched_getcpu() < 0 ? 0 : sched_getcpu()), &core);
	(void)sched_setaffinity(0, sizeof core, &core);
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS;
	for (int i = 0; i < RUNS; i++) {
		double rate = engine_rate(fatbin, &one);
		engine = rate > engine ? rate : engine;
		plain = one > plain ? one : plain;
		rate = table_rate(fatbin);
		table = rate > table ? rate : table;
	}
	printf("  conditions asked by the engine: %.0f a second (at least 200000), each as long as "
	       "%.1f instructions: %s\n",
	       engine, plain / engine, engine >= 200000 ? "good" : "TOO SLOW");
	printf("  conditions asked through the table: %.0f a second (at least 30000), each as long "
	       "as %.0f instructions: %s\n",
	       table, plain / table, table >= 30000 ? "good" : "TOO SLOW");
}

int main(int argc, char **argv)
{
	struct times run, step, bare, round;
	if (argc != 2)
		return 2;
	buffer = malloc(BUFFER);
	if (!buffer)
		return 1;
	for (int i = 0; i < RUNS; i++) {
		run.floor[i] = one_run(argv[1], false);
		run.ours[i] = one_run(argv[1], true);
		bare.floor[i] = one_instruction(argv[1]);
		step.floor[i] = one_step(argv[1], 4);
		step.ours[i] = bare.ours[i] = one_step(argv[1], SMS * 32);
		round.floor[i] = one_round(argv[1], BUSY);
		round.ours[i] = one_round(argv[1], SMS * 32);
	}
	printf("a software GPU under the debugger API\n");
	double cost = best(run.ours) / best(run.floor) - 1;
	printf("  a breakpoint that is not hit costs %.1f %% (at most 3 %%) %s\n", cost * 100,
	       cost <= 0.03 ? "good" : "TOO SLOW");
	print_ratio("step", &bare, 100, 1e6, "us");
	print_ratio("8448 warps", &step, 2, 1e6, "us");
	print_ratio("round", &round, 2, 1e6, "us");
	conditions(argv[1]);
	free(buffer);
	return 0;
}
