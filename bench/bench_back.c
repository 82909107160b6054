/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-back: what it costs a software GPU that runs to be able to go back, and to go back.
 *
 * Input: the fatbin of tests/sim/kernels/back.cu, optimised: 64 warps that compute. The floors: the
 * same run without history; running as many instructions as lie between two snapshots.
 */
#include "bench.h"
#include "target/device.h"

enum { SMS = 4, PIECE = 16 << 20, INTERVAL = 1 << 20, FAR = 100 << 20, NEXT = 20 };

static struct device device;

static void begin(const char *fatbin, uint64_t history)
{
	struct ws_error err;
	device_open(&device, fatbin, SMS);
	const uint64_t args[] = { device.out, UINT32_MAX };
	device_launch(&device, "counts", 8, 256, args, 2);
	device_debug(&device);
	must(ws_target_keep_history(device.target, history, &err), &err);
}

/* Runs for so many instructions at least, and stops; returns how many it was. */
static uint64_t run(uint64_t n)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct ws_error err;
	uint64_t start = ws_sim_instructions(device.sim), done = 0;
	must(ws_target_resume(device.target, WS_NONE, &err), &err);
	while (done < n) {
		nanosleep(&moment, NULL);
		ws_sim_host_begin(device.target, false);
		done = ws_sim_instructions(device.sim) - start;
		must(ws_sim_host_end(device.target, false, NULL, &err), &err);
	}
	must(ws_target_suspend(device.target, WS_NONE, true, &err), &err);
	return ws_sim_instructions(device.sim) - start;
}

/* Seconds of an instruction. */
static double one_run(const char *fatbin, uint64_t history)
{
	begin(fatbin, history);
	double start = now();
	uint64_t n = run(PIECE);
	double seconds = (now() - start) / (double)n;
	device_close(&device);
	return seconds;
}

static double step_back(void)
{
	const struct ws_back back = { .kind = WS_BACK_STEP, .warp_index = 5, .lane = 3 };
	struct ws_back_found found;
	struct ws_error err;
	double start = now();
	must(ws_target_go_back(device.target, &back, &found, &err), &err);
	return now() - start;
}

int main(int argc, char **argv)
{
	struct times times;
	double next = 0;
	if (argc != 2)
		return 2;
	for (int i = 0; i < RUNS; i++) {
		times.floor[i] = one_run(argv[1], 0);
		times.ours[i] = one_run(argv[1], 256 << 20);
	}
	double cost = best(times.ours) / best(times.floor) - 1;
	double interval = best(times.floor) * INTERVAL;
	begin(argv[1], 256 << 20);
	(void)run(FAR);
	double first = step_back();
	for (int i = 0; i < NEXT; i++)
		next += step_back() / NEXT;
	device_close(&device);
	printf("going back on a software GPU with 64 warps\n");
	printf("  history costs %.1f %% (at most 10 %%) %s\n", cost * 100,
	       cost <= 0.1 ? "good" : "TOO SLOW");
	printf("  a step back after 100 million instructions: %.1f ms, %.2f of an interval of %d "
	       "(at most 1.25) %s\n",
	       first * 1e3, first / interval, (int)INTERVAL,
	       first <= 1.25 * interval ? "good" : "TOO SLOW");
	printf("  the next ones: %.1f ms, %.3f of it (at most 0.1) %s\n", next * 1e3,
	       next / interval, next <= 0.1 * interval ? "good" : "TOO SLOW");
	return 0;
}
