/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast does the software GPU execute?
 *
 * Input: kernels of tests/data/sim. The floors do the same lane work in C: the loop of mandelbrot,
 * the product of two matrices, memcpy. A floor and its kernel run in turns, and of each the
 * shortest time counts.
 */
#include "one_core.h"

#include "bench.h"

#include <unistd.h>

#include <warpscope/assemble.h>
#include <warpscope/cubin.h>
#include <warpscope/sim.h>

enum {
	SIDE = 128,
	WORDS = 1 << 22,
	MAX_IMAGE = 1 << 20,
	BLOCKS = 8,
	THREADS = 128,
	WIDTH = 64,
	HEIGHT = 32,
	STEPS = 2000,
	REPEATS = 7,
	ROUNDS = 3,
	KEPT = 32,
	EVERY = 200 * 1000,
	FUNCTIONS = 5000,
};

static struct {
	const char *folder;
	uint64_t every; /* instructions between two snapshots; 0: none are taken */
	double seconds, rate;
	void (*work)(void); /* the same in C; NULL: with nothing */
	double floor;       /* how long that takes */
} gpu;

/* Runs what was launched; takes snapshots on the way and keeps the last few. */
static enum ws_sim_outcome run_all(struct ws_sim *sim)
{
	struct ws_sim_snapshot *kept[KEPT] = { NULL };
	enum ws_sim_outcome outcome = WS_SIM_LIMIT;
	struct ws_error err;
	for (unsigned i = 0; outcome == WS_SIM_LIMIT; i++) {
		must(ws_sim_run(sim, gpu.every, &outcome, &err), &err);
		if (outcome != WS_SIM_LIMIT)
			break;
		ws_sim_snapshot_free(kept[i % KEPT]);
		must(ws_sim_snapshot(sim, &kept[i % KEPT], &err), &err);
	}
	for (unsigned i = 0; i < KEPT; i++)
		ws_sim_snapshot_free(kept[i]);
	return outcome;
}

static void run_floor(void)
{
	double start = now();
	gpu.work();
	double seconds = now() - start;
	gpu.floor = seconds < gpu.floor ? seconds : gpu.floor;
}

/* Optimised kernels; valid until the next call. */
static struct ws_span read_image(const char *file)
{
	static uint8_t image[MAX_IMAGE];
	char path[512];
	snprintf(path, sizeof path, "%s/%s.O3.fatbin", gpu.folder, file);
	FILE *in = fopen(path, "rb");
	if (!in) {
		fprintf(stderr, "bench-sim: cannot read %s\n", path);
		exit(1);
	}
	struct ws_span bytes = { image, fread(image, 1, sizeof image, in), 0 };
	fclose(in);
	return bytes;
}

/* Runs one kernel of a fatbin on two buffers and up to three numbers. */
static void run(const char *file, const char *kernel, struct ws_dim3 grid, struct ws_dim3 block,
		const int *numbers, size_t n_numbers, size_t n_buffers)
{
	struct ws_error err = { .status = WS_IO };
	struct ws_sim_options options = { .size = sizeof options, .device = "sm_90a" };
	struct ws_sim *sim;
	uint64_t buffer[3];
	const void *args[6];
	enum ws_sim_outcome outcome;
	must(ws_sim_create(&options, &sim, &err), &err);
	must(ws_sim_load(sim, read_image(file), NULL, &err), &err);
	for (size_t i = 0; i < n_buffers; i++) {
		must(ws_sim_alloc(sim, 4 * (uint64_t)WORDS, &buffer[i], &err), &err);
		args[i] = &buffer[i];
	}
	for (size_t i = 0; i < n_numbers; i++)
		args[n_buffers + i] = &numbers[i];
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = kernel,
		.grid = grid,
		.block = block,
		.args = args,
		.n_args = n_buffers + n_numbers,
	};
	gpu.seconds = gpu.floor = 1e9;
	for (unsigned i = 0; i < REPEATS; i++) { /* the first ones bring memory in */
		if (gpu.work)
			run_floor();
		uint64_t before = ws_sim_instructions(sim);
		must(ws_sim_launch(sim, &launch, &err), &err);
		double start = now();
		outcome = run_all(sim);
		double seconds = now() - start;
		if (outcome != WS_SIM_DONE) {
			fprintf(stderr, "bench-sim: %s did not end\n", kernel);
			exit(1);
		}
		gpu.seconds = seconds < gpu.seconds ? seconds : gpu.seconds;
		gpu.rate = (double)(ws_sim_instructions(sim) - before) / gpu.seconds / 1e6;
	}
	gpu.work = NULL;
	ws_sim_destroy(sim);
}

/* ---- the same work in C ---- */

static volatile float sum_of_all; /* so that nothing is left out */

static void mandelbrot(void)
{
	uint32_t sum = 0;
	for (int i = 0; i < WIDTH * HEIGHT; i++) {
		float re = (float)(i % WIDTH) * 3.0f / 64 - 2.0f;
		float im = (float)(i / WIDTH) * 2.0f / 32 - 1.0f, x = 0, y = 0;
		int k = 0;
		for (; k < STEPS; k++) {
			float xx = x * x, yy = y * y;
			if (xx + yy > 4.0f)
				break;
			y = 2.0f * x * y + im;
			x = xx - yy + re;
		}
		sum += (uint32_t)k;
	}
	sum_of_all += (float)sum;
}

static void product(void)
{
	float seed = sum_of_all;
	static float a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
	for (int i = 0; i < SIDE * SIDE; i++) {
		a[i / SIDE][i % SIDE] = seed * (float)i;
		b[i / SIDE][i % SIDE] = seed + (float)i;
	}
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			float sum = 0;
			for (int k = 0; k < SIDE; k++)
				sum += a[i][k] * b[k][j];
			c[i][j] = sum;
		}
	sum_of_all += c[1][2];
}

static uint8_t from[4 * (size_t)WORDS], to[4 * (size_t)WORDS];

static void copy(void)
{
	void *(*volatile how)(void *, const void *, size_t) = memcpy; /* not left out */
	how(to, from, sizeof to);
}

/* ---- the questions ---- */

static const double LINEAR = 11.5; /* of ten times the blocks */

static const char *verdict(bool is_good)
{
	return is_good ? "good" : "TOO SLOW";
}

/* One line. */
static void say(const char *what, double value, const char *unit, double limit)
{
	printf("  %-28s %8.3f %s, %.1f times the floor (at least %g) %s\n", what, value, unit,
	       gpu.seconds / gpu.floor, limit, verdict(value >= limit));
}

/* Time for ten times the blocks, of several tries the least: what disturbs only adds. */
static void linear_in_blocks(void)
{
	const struct ws_dim3 few = { 4000, 1, 1 }, many = { 40000, 1, 1 },
			     threads = { THREADS, 1, 1 };
	double times = 1e9;
	for (int i = 0; i < 5 && times > LINEAR; i++) {
		run("memory", "copy_words", few, threads, (const int[]){ 0 }, 1, 2);
		double seconds = gpu.seconds;
		run("memory", "copy_words", many, threads, (const int[]){ 0 }, 1, 2);
		times = gpu.seconds / seconds < times ? gpu.seconds / seconds : times;
	}
	printf("  %-28s %8.3f times the time for 10 times as many (at most %g) %s\n", "blocks",
	       times, LINEAR, verdict(times <= LINEAR));
}

/* Snapshots of up to 64 warps, and of pages that change meanwhile: a copy writes each page once, so
 * that each is copied once more. */
static void snapshots(void)
{
	struct ws_dim3 blocks = { 16, 1, 1 }, threads = { THREADS, 1, 1 };
	double seconds[4] = { 1e9, 1e9, 1e9, 1e9 };
	for (unsigned n = 0; n < 4 * ROUNDS; n++) {
		unsigned i = n % 4;
		gpu.every = i % 2 ? EVERY : 0;
		if (i < 2)
			run("whole", "mandelbrot", blocks, threads,
			    (const int[]){ WIDTH, HEIGHT, 3 * STEPS }, 3, 1);
		else
			run("memory", "copy_words", blocks, threads, (const int[]){ WORDS }, 1, 2);
		seconds[i] = gpu.seconds < seconds[i] ? gpu.seconds : seconds[i];
	}
	gpu.every = 0;
	double loop = seconds[1] / seconds[0], copy = seconds[3] / seconds[2];
	printf("  %-28s %8.3f times the time of a loop (at most 1.1) %s\n", "snapshots", loop,
	       verdict(loop <= 1.1));
	printf("  %-28s %8.3f times the time of a copy (at most 1.2) %s\n", "snapshots", copy,
	       verdict(copy <= 1.2));
}

/* As a warp gets them: in eights. */
static uint32_t registers_of(const struct ws_sim *sim, const char *kernel)
{
	struct ws_error err = { .status = WS_IO };
	struct ws_span image;
	struct ws_cubin *cubin;
	const struct ws_function *function;
	must(ws_sim_module_image(sim, 0, &image, &err), &err);
	must(ws_cubin_open(image, &cubin, &err), &err);
	must(ws_cubin_find_function(cubin, ws_str_of(kernel), &function, &err), &err);
	uint32_t n = (function->n_regs + 7) / 8 * 8;
	ws_cubin_close(cubin);
	return n;
}

/* Bytes of the process that are in memory. */
static double resident(void)
{
	unsigned long size, pages;
	FILE *in = fopen("/proc/self/statm", "r");
	if (!in || fscanf(in, "%lu %lu", &size, &pages) != 2) {
		fprintf(stderr, "bench-sim: cannot read /proc/self/statm\n");
		exit(1);
	}
	fclose(in);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* What a device with all warps resident takes for each beyond its registers. Each executes a few
 * instructions of a loop. */
static void residents(void)
{
	enum { SMS = 132, WARPS = 64, FEW = 8 * SMS * WARPS };
	struct ws_sim_options options = { .size = sizeof options, .device = "sm_90a" };
	struct ws_sim *sim;
	struct ws_error err = { .status = WS_IO };
	enum ws_sim_outcome outcome;
	uint64_t buffer;
	const int wide = 32 * WARPS, high = SMS, steps = STEPS;
	const void *args[] = { &buffer, &wide, &high, &steps };
	must(ws_sim_create(&options, &sim, &err), &err);
	must(ws_sim_load(sim, read_image("whole"), NULL, &err), &err);
	must(ws_sim_alloc(sim, 4 * (uint64_t)wide * SMS, &buffer, &err), &err);
	struct ws_sim_launch launch = { .size = sizeof launch,
					.kernel = "mandelbrot",
					.grid = { 1, 1, 1 },
					.block = { 256, 1, 1 },
					.args = args,
					.n_args = 4 };
	must(ws_sim_launch(sim, &launch, &err), &err);
	must(ws_sim_run(sim, 0, &outcome, &err), &err); /* code is in memory and decoded */
	launch.grid.x = SMS * WARPS / 8;
	must(ws_sim_launch(sim, &launch, &err), &err);
	double before = resident();
	must(ws_sim_run(sim, FEW, &outcome, &err), &err);
	double each = (resident() - before) / (SMS * WARPS);
	each -= 128.0 * registers_of(sim, "mandelbrot");
	if (outcome != WS_SIM_LIMIT) {
		fprintf(stderr, "bench-sim: the warps were not all resident\n");
		exit(1);
	}
	printf("  %-28s %8.0f bytes a warp beyond its registers (at most 4096) %s\n",
	       "resident warps", each, each <= 4096 ? "good" : "TOO MUCH");
	ws_sim_destroy(sim);
}

/* An image of many kernels, each of which calls a function; valid until the assembly is destroyed.
 */
static struct ws_span many_functions(struct ws_assembly **ret_assembly)
{
	enum { EACH = 250 };
	struct ws_error err = { .status = WS_IO };
	char *text = malloc((size_t)FUNCTIONS * EACH);
	size_t n = text ? (size_t)snprintf(text, EACH, ".arch sm_90a\n") : 0;
	for (unsigned i = 0; text && i < FUNCTIONS / 2; i++)
		n += (size_t)snprintf(text + n, 2 * EACH,
				      ".func f%u\nNOP\nRET.ABS.NODEC R20 0x0\n.end\n"
				      ".kernel k%u\nMOV R20, 32@lo(b)\nMOV R21, 32@hi(b)\n"
				      "CALL.ABS.NOINC `(f%u)\nb: EXIT\n.end\n",
				      i, i, i);
	must(ws_assemble((struct ws_str){ text, n }, NULL, ret_assembly, &err), &err);
	free(text);
	return ws_assembly_image(*ret_assembly);
}

/* Loads all functions of an image: with it, or the kernels one by one. */
static double load_functions(struct ws_span image, bool lazy)
{
	struct ws_error err = { .status = WS_IO };
	struct ws_sim_options options = { .size = sizeof options,
					  .device = "sm_90a",
					  .lazy = lazy };
	struct ws_sim *sim;
	double start = now();
	must(ws_sim_create(&options, &sim, &err), &err);
	must(ws_sim_load(sim, image, NULL, &err), &err);
	for (unsigned i = 0; i < FUNCTIONS / 2; i++) {
		char name[16];
		bool is_loaded;
		snprintf(name, sizeof name, lazy ? "k%u" : "f%u", i);
		must(ws_sim_load_function(sim, 0, name, &err), &err);
		must(ws_sim_function_is_loaded(sim, 0, name, &is_loaded, &err), &err);
		if (!is_loaded)
			fprintf(stderr, "bench-sim: %s is not loaded\n", name);
	}
	double seconds = now() - start;
	ws_sim_destroy(sim);
	return seconds;
}

/* What it costs to load functions when they are needed, beside all at once. */
static void lazy_functions(void)
{
	struct ws_assembly *assembly;
	struct ws_span image = many_functions(&assembly);
	double seconds[2] = { 1e9, 1e9 };
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		double once = load_functions(image, i % 2);
		seconds[i % 2] = once < seconds[i % 2] ? once : seconds[i % 2];
	}
	ws_assembly_destroy(assembly);
	double times = seconds[1] / seconds[0];
	printf("  %-28s %8.3f times the time of loading all %u at once, %.1f ms (at most 3) %s\n",
	       "functions one by one", times, FUNCTIONS, seconds[0] * 1e3, verdict(times <= 3));
}

int main(int argc, char **argv)
{
	struct ws_dim3 one = { BLOCKS, 1, 1 }, threads = { THREADS, 1, 1 };
	struct ws_dim3 tiles = { SIDE / 16, SIDE / 16, 1 }, tile = { 16, 16, 1 };
	if (argc != 2) {
		fprintf(stderr, "usage: bench-sim FOLDER\n");
		return 2;
	}
	gpu.folder = argv[1];

	stay_on_this_core();
	residents(); /* first: no memory was freed that it could use */
	gpu.work = mandelbrot;
	run("whole", "mandelbrot", (struct ws_dim3){ WIDTH * HEIGHT / THREADS, 1, 1 }, threads,
	    (const int[]){ WIDTH, HEIGHT, STEPS }, 3, 1);
	say("integer and float loop", gpu.rate, "M warp-instr/s", 15);

	gpu.work = product;
	run("shared", "matmul", tiles, tile, (const int[]){ SIDE }, 1, 3);
	say("tiled matmul", gpu.rate, "M warp-instr/s", 5);

	memset(from, 1, sizeof from);
	gpu.work = copy;
	run("memory", "copy_words", one, threads, (const int[]){ WORDS }, 1, 2);
	say("copy, 4 bytes a lane", gpu.floor / gpu.seconds, "of memcpy", 0.04);
	gpu.work = copy;
	run("memory", "copy_quads", one, threads, (const int[]){ WORDS / 4 }, 1, 2);
	say("copy, 16 bytes a lane", gpu.floor / gpu.seconds, "of memcpy", 0.1);

	linear_in_blocks();
	snapshots();
	lazy_functions();
	return 0;
}
