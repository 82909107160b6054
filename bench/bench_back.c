/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-back: what it costs a software GPU that runs to be able to go back, and to go back.
 *
 * Input: the fatbin of tests/sim/kernels/back.cu, optimised: 64 warps that compute. The floors: the
 * same run without history; running as many instructions as lie between two snapshots.
 */
#include "one_core.h"

#include <math.h>

#include "bench.h"
#include "target/device.h"

enum { SMS = 4, INTERVAL = 1 << 20, PIECE = 4 * INTERVAL, PIECES = 25, FIRST = 15, NEXT = 20 };

/* The same kernel on two devices: one that cannot go back, and one that can. */
static struct device plain, device;

static void begin(struct device *d, const char *fatbin, uint64_t history)
{
	struct ws_error err;
	device_open(d, fatbin, SMS);
	const uint64_t args[] = { d->out, UINT32_MAX };
	device_launch(d, "counts", 8, 256, args, 2);
	device_debug(d);
	must(ws_target_keep_history(d->target, history, &err), &err);
}

/* Runs for so many instructions at least, and stops; returns the seconds of one. */
static double run(struct device *d, uint64_t n)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct ws_error err;
	double begun = now();
	uint64_t start = ws_sim_instructions(d->sim), done = 0;
	must(ws_target_resume(d->target, WS_NONE, &err), &err);
	while (done < n) {
		nanosleep(&moment, NULL);
		ws_sim_host_begin(d->target, false);
		done = ws_sim_instructions(d->sim) - start;
		must(ws_sim_host_end(d->target, false, NULL, &err), &err);
	}
	must(ws_target_suspend(d->target, WS_NONE, true, &err), &err);
	return (now() - begun) / (double)(ws_sim_instructions(d->sim) - start);
}

static uint64_t most_again, total_again;

static double step_back(void)
{
	const struct ws_back back = { .kind = WS_BACK_STEP, .warp_index = 5, .lane = 3 };
	struct ws_back_found found;
	struct ws_error err;
	double start = now();
	must(ws_target_go_back(device.target, &back, &found, &err), &err);
	double seconds = now() - start;
	most_again = found.n_again > most_again ? found.n_again : most_again;
	total_again += found.n_again;
	return seconds;
}

int main(int argc, char **argv)
{
	double floor = 1, ours = 1, interval = 0, first = 0, next = 0;
	if (argc != 2)
		return 2;
	stay_on_this_core(); /* with the thread of each device */
	begin(&plain, argv[1], 0);
	begin(&device, argv[1], 256 << 20);
	for (int i = 0; i < PIECES; i++) {
		floor = fmin(floor, run(&plain, PIECE));
		ours = fmin(ours, run(&device, PIECE));
	}
	double cost = ours / floor - 1;
	/* Each from somewhere else between two snapshots; a slow machine slows both. */
	for (int i = 0; i < FIRST; i++) {
		interval += run(&plain, INTERVAL) * INTERVAL / FIRST;
		(void)run(&device, PIECE);
		first += step_back() / FIRST;
	}
	/* What those instructions take where nothing is brought back. */
	double again = interval * (double)total_again / FIRST / INTERVAL;
	for (int i = 0; i < NEXT; i++)
		next += step_back() / NEXT;
	device_close(&plain);
	device_close(&device);
	printf("going back on a software GPU with 64 warps\n");
	printf("  history costs %.1f %% (at most 10 %%) %s\n", cost * 100,
	       cost <= 0.1 ? "good" : "TOO SLOW");
	printf("  a step back after 100 million instructions: %.1f ms, %.2f of an interval of %d, "
	       "%.2f of running what it executes again (mean of %d, at most 1.5) %s\n",
	       first * 1e3, first / interval, (int)INTERVAL, first / again, (int)FIRST,
	       first <= 1.5 * again ? "good" : "TOO SLOW");
	printf("  executed again for it: %.2f of an interval at most (at most 1) %s\n",
	       (double)most_again / INTERVAL, most_again <= INTERVAL ? "good" : "TOO SLOW");
	printf("  the next ones: %.1f ms, %.3f of it (at most 0.1) %s\n", next * 1e3,
	       next / interval, next <= 0.1 * interval ? "good" : "TOO SLOW");
	return 0;
}
