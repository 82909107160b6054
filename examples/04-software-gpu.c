/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel on the software GPU, instruction by instruction: 04-software-gpu FATBIN KERNEL
 *
 * The kernel takes an address in device memory and a number. It stops where it starts; its first
 * warp does three instructions, then it runs to the ninth, then to its end.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <warpscope/sim_target.h>

enum { MOST_BYTES = 1 << 20, WORDS = 64, INSTRUCTION = 16 };

static struct ws_error err;

static void must(enum ws_status st)
{
	if (st == WS_OK)
		return;
	fprintf(stderr, "%s\n", err.message);
	exit(1);
}

/* Waits until the device stands, as its kernel starts. */
static void await_stop(struct ws_target *target)
{
	while (ws_target_running(target, 0)) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		must(ws_target_update(target, &err)); /* a debugger would take events here */
	}
}

static uint64_t show_pc(const struct ws_target *target, const char *where)
{
	struct ws_lane lane;
	must(ws_target_lane(target, 0, 0, &lane, &err));
	printf("%s: pc 0x%" PRIx64 "\n", where, lane.pc);
	return lane.pc;
}

static void debug(struct ws_target *target)
{
	const struct ws_step step = { .lane = WS_NONE, .steps = 3 };
	uint64_t moved;
	must(ws_target_stop_at_launch(target, true, &err));
	must(ws_target_resume(target, WS_NONE, &err));
	await_stop(target);
	const uint64_t start = show_pc(target, "at its start");
	must(ws_target_step(target, &step, &moved, &err));
	show_pc(target, "after three steps");
	must(ws_target_run_until(target, 0, 1, start + 8 * INSTRUCTION, 0, &err));
	show_pc(target, "at the ninth");
	must(ws_target_resume(target, WS_NONE, &err));
	printf("%s\n", ws_sim_host_wait(target) == WS_SIM_DONE ? "done" : "a fault");
	must(ws_target_suspend(target, WS_NONE, true, &err));
}

int main(int argc, char **argv)
{
	static uint8_t bytes[MOST_BYTES];
	uint32_t words[WORDS], first = 7;
	uint64_t address;
	const void *args[] = { &address, &first };
	struct ws_sim *sim;
	struct ws_target *target;
	FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
	if (!file) {
		fprintf(stderr, "usage: 04-software-gpu FATBIN KERNEL\n");
		return 1;
	}
	const struct ws_span image = { bytes, fread(bytes, 1, sizeof bytes, file), 0 };
	fclose(file);
	struct ws_sim_launch launch = { .size = sizeof launch,
					.kernel = argv[2],
					.grid = { 1, 1, 1 },
					.block = { WORDS / 2, 1, 1 },
					.args = args,
					.n_args = 2 };
	must(ws_sim_create(NULL, &sim, &err));
	must(ws_sim_load(sim, image, &launch.module, &err));
	must(ws_sim_alloc(sim, sizeof words, &address, &err));
	must(ws_sim_launch(sim, &launch, &err));
	must(ws_sim_target_live(sim, &target, &err));
	debug(target);
	ws_target_close(target);
	must(ws_sim_read(sim, address, words, sizeof words, &err));
	printf("word %" PRIu32 " is %" PRIu32 "\n", first, words[first]);
	ws_sim_destroy(sim);
	return 0;
}
