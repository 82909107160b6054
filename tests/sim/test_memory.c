/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.memory_bytes bounds all that a device takes. A job that needs something of everything is
 * done with a bound that grows: each time one thing does not fit, which the device names, with the
 * bytes that it takes and those that it would. So the next bound follows, one byte less is not
 * enough, and in the end all of it fits, again and again.
 */
#include "device.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BUFFER = 70000, MAX_STEPS = 60, TEXT = 160 };

/* Each thread of `k` asks malloc() for 64 bytes and frees them, calls a function that stores on its
 * stack, and prints. `asks` tells the upper half of what malloc() gave for 256 KiB. */
static const char source[] =
	".arch sm_90a\n.extern vprintf\n.extern malloc\n.extern free\n"
	".global text\n.u8 0x21, 0xa, 0\n.end\n"
	".global table align 8\n.zero 3000\n.end\n"
	".func leaf\nSTL [R1+-0x10], R4\nRET.ABS.NODEC R30 0x0\n.end\n"
	".kernel k\n.regs 40\n.stack 2000\n.shared s 20000\n.param out 8\n"
	"MOV R1, c[0x0][0x28]\n"
	"MOV R4, 0x40\nMOV R5, RZ\nMOV R20, 32@lo(b1)\nMOV R21, 32@hi(b1)\n"
	"CALL.ABS.NOINC `(malloc)\n.inner b1\nMOV R17, R5\n"
	"MOV R20, 32@lo(b2)\nMOV R21, 32@hi(b2)\nCALL.ABS.NOINC `(free)\n.inner b2\n"
	"MOV R30, 32@lo(b3)\nMOV R31, 32@hi(b3)\nCALL.ABS.NOINC `(leaf)\n.inner b3\n"
	"MOV R4, 32@lo(text)\nMOV R5, 32@hi(text)\nMOV R6, RZ\nMOV R7, RZ\n"
	"MOV R20, 32@lo(b4)\nMOV R21, 32@hi(b4)\nCALL.ABS.NOINC `(vprintf)\n.inner b4\n"
	"MOV R2, c[0x0][0x210]\nMOV R3, c[0x0][0x214]\nSTG.E [R2], R17\nEXIT\n.end\n"
	".kernel asks\n.param out 8\nMOV R4, 0x40000\nMOV R5, RZ\n"
	"MOV R20, 32@lo(a1)\nMOV R21, 32@hi(a1)\nCALL.ABS.NOINC `(malloc)\n.inner a1\n"
	"MOV R2, c[0x0][0x210]\nMOV R3, c[0x0][0x214]\nSTG.E [R2], R5\nEXIT\n.end\n";

static struct ws_sim *sim;
static struct ws_error err;
static uint64_t buffer;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

static struct ws_span image_of(const char *text, struct ws_assembly **ret_assembly)
{
	if (ws_assemble((struct ws_str){ text, strlen(text) }, NULL, ret_assembly, &err) != WS_OK)
		fail_msg("%s", err.message);
	return ws_assembly_image(*ret_assembly);
}

static enum ws_status open_device(const struct ws_sim_options *options)
{
	struct ws_assembly *assembly;
	struct ws_span image = image_of(source, &assembly);
	assert_int_equal(ws_sim_create(options, &sim, &err), WS_OK);
	enum ws_status st = ws_sim_load(sim, image, NULL, &err);
	ws_assembly_destroy(assembly);
	return st == WS_OK ? ws_sim_alloc(sim, BUFFER, &buffer, &err) : st;
}

static enum ws_status launch_and_run(void)
{
	const void *const args[] = { &buffer };
	struct ws_sim_launch launch = launch_of(0, (struct ws_dim3){ 64, 1, 1 }, args);
	enum ws_sim_outcome outcome = WS_SIM_DONE;
	enum ws_status st = ws_sim_launch(sim, &launch, &err);
	if (st == WS_OK)
		st = ws_sim_run(sim, 0, &outcome, &err);
	assert_int_equal(outcome == WS_SIM_DONE || st != WS_OK, 1);
	return st;
}

static enum ws_status do_job(const struct ws_sim_options *options)
{
	enum ws_status st = open_device(options);
	return st == WS_OK ? launch_and_run() : st;
}

/* What did not fit. */
struct refusal {
	char what[TEXT];
	uint64_t asked, taken, limit;
};

static struct refusal refusal_of(void)
{
	struct refusal r;
	int n = sscanf(err.message,
		       "CUDA_ERROR_OUT_OF_MEMORY: no room for %159[^,], %" SCNu64
		       " bytes: the device takes %" SCNu64 " of %" SCNu64,
		       r.what, &r.asked, &r.taken, &r.limit);
	if (n != 4)
		fail_msg("%s", err.message);
	return r;
}

/* The bound that is enough for the job. What did not fit until then is written to `ret_names`. */
static uint64_t enough_for_job(struct ws_sim_options options, char ret_names[MAX_STEPS][TEXT])
{
	unsigned steps = 0;
	options.memory_bytes = 1;
	while (do_job(&options) != WS_OK) {
		if (err.status != WS_LIMIT)
			fail_msg("%s", err.message);
		struct refusal r = refusal_of();
		assert_int_equal(r.limit, options.memory_bytes);
		assert_true(r.taken <= r.limit && r.asked > r.limit - r.taken);
		assert_true(steps < MAX_STEPS);
		memcpy(ret_names[steps++], r.what, TEXT);
		close_device(NULL);
		options.memory_bytes = r.taken + r.asked - 1;
		assert_int_equal(do_job(&options), WS_LIMIT);
		assert_string_equal(refusal_of().what, r.what);
		close_device(NULL);
		options.memory_bytes = r.taken + r.asked;
	}
	ret_names[steps][0] = '\0';
	return options.memory_bytes;
}

static void all_that_a_device_takes_is_bounded(void **state)
{
	static const char *const wanted[] = {
		"an image and its relocated copy",
		"the sections of an image",
		"the code of an image",
		"variables of an image",
		"a buffer",
		"a launch",
		"parameters of a launch",
		"a block with its registers and shared memory",
		"decoded code",
		"call stacks of a warp",
		"local memory of a warp",
		"what kernels print",
	};
	char names[MAX_STEPS + 1][TEXT];
	(void)state;
	const struct ws_sim_options options = { .size = sizeof options,
						.n_sms = 1,
						.print_bytes = 100000 };
	uint64_t enough = enough_for_job(options, names);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		unsigned k = 0;
		while (names[k][0] && strcmp(names[k], wanted[i]) != 0)
			k++;
		if (!names[k][0])
			fail_msg("'%s' always fits", wanted[i]);
	}
	/* a buffer, what is printed, shared memory, 40 registers and 1 KiB of local memory of two
	 * warps, and not much more */
	uint64_t sum = BUFFER + 100000 + 20000 + 2 * 32 * (40 * 4 + 128);
	if (enough < sum || enough > sum + 150000)
		fail_msg("%" PRIu64 " bytes are enough, at least %" PRIu64 " expected", enough,
			 sum);
	/* what was taken is given back */
	for (unsigned i = 0; i < 100; i++)
		if (launch_and_run() != WS_OK)
			fail_msg("the %uth time: %s", i, err.message);
}

/* The largest buffer that fits. */
static uint64_t room(void)
{
	uint64_t low = 0, high = 1 << 30, address;
	while (high - low > 1) {
		uint64_t middle = (low + high) / 2;
		bool fits = ws_sim_alloc(sim, middle, &address, NULL) == WS_OK;
		*(fits ? &low : &high) = middle;
		if (fits)
			assert_int_equal(ws_sim_free(sim, address, NULL), WS_OK);
	}
	return low;
}

/* To go back gives back what was taken since, but for code that has been decoded. */
static void a_snapshot_knows_what_was_taken(void **state)
{
	struct ws_sim_snapshot *snapshot;
	enum ws_sim_outcome outcome;
	uint64_t address;
	(void)state;
	const struct ws_sim_options options = {
		.size = sizeof options, .memory_bytes = 1 << 20, .n_sms = 1, .print_bytes = 1000
	};
	const void *const args[] = { &buffer };
	struct ws_sim_launch launch = launch_of(0, (struct ws_dim3){ 64, 1, 1 }, args);
	assert_int_equal(open_device(&options), WS_OK);
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	uint64_t before = room();
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, &err), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	uint64_t after = room(), launched = 0;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(ws_sim_alloc(sim, 10000, &address, &err), WS_OK);
		assert_int_equal(ws_sim_restore(sim, snapshot, &err), WS_OK);
		launched = launched ? launched : room();
		assert_int_equal(room(), launched);
		assert_int_equal(ws_sim_run(sim, 30, &outcome, &err), WS_OK);
		assert_true(room() < launched); /* a block is there */
		assert_int_equal(run_all(sim), WS_SIM_DONE);
		assert_int_equal(room(), after);
		assert_int_equal(ws_sim_alloc(sim, after / 2, &address, &err), WS_OK);
		assert_true(room() < after - after / 2);
	}
	ws_sim_snapshot_free(snapshot);
	assert_int_equal(ws_sim_free(sim, address, &err), WS_OK);
	assert_int_equal(room(), after);
	assert_true(launched < before && launched < after); /* decoded code, the launch */
}

/* What could not be loaded takes nothing; neither does a buffer that is freed. */
static void what_fails_or_goes_takes_nothing(void **state)
{
	struct ws_assembly *assembly;
	struct ws_span image = image_of(".arch sm_90a\n.extern nobody\n.kernel k\n"
					"MOV R20, 32@lo(nobody)\nEXIT\n.end\n",
					&assembly);
	const struct ws_sim_options options = { .size = sizeof options, .memory_bytes = 400000 };
	uint64_t address, address2;
	(void)state;
	assert_int_equal(open_device(&options), WS_OK);
	for (unsigned i = 0; i < 400; i++) {
		assert_int_equal(ws_sim_load(sim, image, NULL, &err), WS_UNSUPPORTED);
		assert_int_equal(ws_sim_alloc(sim, 200000, &address, &err), WS_OK);
		assert_int_equal(ws_sim_alloc(sim, 200000, &address2, &err), WS_LIMIT);
		assert_int_equal(ws_sim_free(sim, address, &err), WS_OK);
	}
	ws_assembly_destroy(assembly);
}

/* malloc() gives a kernel nothing where the device has no room, and it goes on, as in CUDA. */
static void malloc_gives_nothing_when_all_is_taken(void **state)
{
	const struct ws_sim_options options = { .size = sizeof options,
						.memory_bytes = 500000,
						.print_bytes = 1000,
						.heap_bytes = 1 << 30 };
	uint64_t large;
	uint32_t upper[2];
	(void)state;
	assert_int_equal(open_device(&options), WS_OK);
	const void *const args[] = { &buffer };
	struct ws_sim_launch launch = launch_of(0, (struct ws_dim3){ 1, 1, 1 }, args);
	launch.kernel = "asks";
	assert_int_equal(ws_sim_alloc(sim, 200000, &large, &err), WS_OK);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
		assert_int_equal(run_all(sim), WS_SIM_DONE);
		assert_int_equal(ws_sim_read(sim, buffer, &upper[i], 4, &err), WS_OK);
		assert_int_equal(ws_sim_free(sim, i == 0 ? large : 0, &err), WS_OK);
	}
	assert_int_equal(upper[0], 0);
	assert_int_not_equal(upper[1], 0);
}

/* A device that checks counts what it notes of warps, and has as much again for notes of memory. */
static void what_is_checked_is_bounded(void **state)
{
	char names[MAX_STEPS + 1][TEXT];
	bool any = false, local = false;
	(void)state;
	const struct ws_sim_options options = {
		.size = sizeof options, .n_sms = 1, .print_bytes = 1000, .check = true
	};
	enough_for_job(options, names);
	for (unsigned i = 0; names[i][0]; i++) {
		any |= strcmp(names[i], "what is checked of a block") == 0;
		local |= strcmp(names[i], "what is checked of local memory") == 0;
	}
	assert_true(any && local);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(all_that_a_device_takes_is_bounded, close_device),
		cmocka_unit_test_teardown(a_snapshot_knows_what_was_taken, close_device),
		cmocka_unit_test_teardown(what_fails_or_goes_takes_nothing, close_device),
		cmocka_unit_test_teardown(malloc_gives_nothing_when_all_is_taken, close_device),
		cmocka_unit_test_teardown(what_is_checked_is_bounded, close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
