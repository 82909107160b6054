/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite over every back end. A maker opens a target; each check of conformance.h is a case of
 * its own over each maker: "a dump (illegal-address): lanes come in the order of ids".
 *
 * usage: test_target SERVICE LIVE DUMP...    fatbins of tests/sim/kernels/service.cu and live.cu
 */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>
#include <warpscope/join.h>
#include <warpscope/provider.h>
#include <warpscope/sim_target.h>

#include "device.h"
#include "fake.h"

/* A target and what must be let go after it. */
struct made {
	struct ws_target *target;
	struct ws_target *below; /* closed after it, or NULL */
	CUDBGAPI api;            /* released after it, or NULL */
	struct ws_sim *sim;      /* destroyed after that, or NULL */
	struct device device[2]; /* likewise */
};

struct maker {
	const char *name;
	void (*make)(const char *dump, struct made *ret_made);
	bool runs, scripted;
};

static struct fake fake;

void conformance_raise(enum ws_event_kind kind, bool sync)
{
	const struct ws_event event = { .kind = kind, .sync = sync };
	fake_event(&fake, &event);
}

size_t conformance_waiting(void)
{
	return fake.n_waiting;
}

static struct ws_target *open_dump(const char *dump)
{
	struct ws_target *target;
	assert_int_equal(ws_core_open(dump, NULL, &target, NULL), WS_OK);
	return target;
}

static void make_dump(const char *dump, struct made *ret_made)
{
	ret_made->target = open_dump(dump);
}

static void make_provider(struct ws_target *below, struct made *ret_made)
{
	assert_int_equal(ws_cudbg_api(below, &ret_made->api, NULL), WS_OK);
	assert_int_equal(ws_target_from_api(ret_made->api, UINT32_MAX, 0, &ret_made->target, NULL),
			 WS_OK);
}

static void make_provider_of_dump(const char *dump, struct made *ret_made)
{
	ret_made->below = open_dump(dump);
	make_provider(ret_made->below, ret_made);
}

static void make_fake(const char *dump, struct made *ret_made)
{
	(void)dump;
	fake_init_running(&fake);
	ret_made->target = &fake.target;
}

static void make_provider_of_fake(const char *dump, struct made *ret_made)
{
	(void)dump;
	fake_init_running(&fake);
	ret_made->below = &fake.target;
	make_provider(&fake.target, ret_made);
}

static void make_plain(const char *dump, struct made *ret_made)
{
	(void)dump;
	fake_init(&fake, 4, 2, 17);
	ret_made->target = &fake.target;
}

static struct ws_span read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	uint8_t *bytes = malloc((size_t)size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
	fclose(file);
	return (struct ws_span){ bytes, (size_t)size, 0 };
}

/* Four blocks of two warps; the second block has a thread whose assertion fails. */
static struct ws_target *stopped_device(const char *fatbin, struct ws_sim **ret_sim)
{
	enum { THREADS = 4 * 50 };
	struct ws_span image = read_file(fatbin);
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = 3 };
	uint32_t module, values[THREADS] = { [70] = 9 }, limit = 9;
	enum ws_sim_outcome outcome;
	uint64_t address;
	struct ws_target *target;
	assert_int_equal(ws_sim_create(&options, ret_sim, NULL), WS_OK);
	assert_int_equal(ws_sim_load(*ret_sim, image, &module, NULL), WS_OK);
	free((void *)(uintptr_t)image.ptr);
	assert_int_equal(ws_sim_alloc(*ret_sim, sizeof values, &address, NULL), WS_OK);
	assert_int_equal(ws_sim_write(*ret_sim, address, values, sizeof values, NULL), WS_OK);
	const void *const args[] = { &address, &limit };
	const struct ws_sim_launch launch = {
		.size = sizeof launch,
		.module = module,
		.kernel = "asserts",
		.grid = { 4, 1, 1 },
		.block = { 50, 1, 1 },
		.args = args,
		.n_args = 2,
	};
	assert_int_equal(ws_sim_launch(*ret_sim, &launch, NULL), WS_OK);
	assert_int_equal(ws_sim_run(*ret_sim, 0, &outcome, NULL), WS_OK);
	assert_int_equal(outcome, WS_SIM_FAULTED);
	assert_int_equal(ws_sim_target(*ret_sim, &target, NULL), WS_OK);
	return target;
}

static void make_sim(const char *fatbin, struct made *ret_made)
{
	ret_made->target = stopped_device(fatbin, &ret_made->sim);
}

static void make_provider_of_sim(const char *fatbin, struct made *ret_made)
{
	ret_made->below = stopped_device(fatbin, &ret_made->sim);
	make_provider(ret_made->below, ret_made);
}

/* Amid a kernel that ends when it is told, which nobody does. */
static void running_device(const char *fatbin, struct device *d)
{
	enum ws_sim_outcome outcome;
	device_open(d, fatbin, 3);
	const uint64_t args[] = { d->in, d->out };
	device_launch(d, "spins", 4, 50, args, 2);
	assert_int_equal(ws_sim_run(d->sim, 500, &outcome, NULL), WS_OK);
	device_debug(d);
}

static void make_live(const char *fatbin, struct made *ret_made)
{
	running_device(fatbin, &ret_made->device[0]);
	ret_made->target = ret_made->device[0].target;
	ret_made->device[0].target = NULL;
}

static void make_provider_of_live(const char *fatbin, struct made *ret_made)
{
	running_device(fatbin, &ret_made->device[0]);
	make_provider(ret_made->device[0].target, ret_made);
}

/* Two of them, with the same addresses. */
static void running_devices(const char *fatbin, struct made *ret_made)
{
	struct ws_target *targets[2];
	for (int i = 0; i < 2; i++) {
		running_device(fatbin, &ret_made->device[i]);
		targets[i] = ret_made->device[i].target;
	}
	assert_int_equal(ws_target_join(targets, 2, &ret_made->below, NULL), WS_OK);
}

static void make_live_two(const char *fatbin, struct made *ret_made)
{
	running_devices(fatbin, ret_made);
	ret_made->target = ret_made->below;
	ret_made->below = NULL;
}

static void make_provider_of_two(const char *fatbin, struct made *ret_made)
{
	running_devices(fatbin, ret_made);
	make_provider(ret_made->below, ret_made);
}

static const struct maker sim_makers[] = {
	{ "a software GPU", make_sim, false, false },
	{ "a provider over a software GPU", make_provider_of_sim, false, false },
};
static const struct maker live_makers[] = {
	{ "a software GPU that runs", make_live, true, false },
	{ "a provider over a software GPU that runs", make_provider_of_live, true, false },
	{ "two software GPUs that run", make_live_two, true, false },
	{ "a provider over two software GPUs that run", make_provider_of_two, true, false },
};
static const struct maker dump_makers[] = {
	{ "a dump", make_dump, false, false },
	{ "a provider over a dump", make_provider_of_dump, false, false },
};
static const struct maker other_makers[] = {
	{ "a scripted target", make_fake, true, true },
	{ "a provider over a scripted target", make_provider_of_fake, true, true },
	{ "a plain target", make_plain, false, false },
};

struct test_case {
	const struct maker *maker;
	const struct conformance_check *check;
	const char *dump;
};

static void run(void **state)
{
	const struct test_case *test = *state;
	struct made made = { 0 };
	test->maker->make(test->dump, &made);
	test->check->run(made.target);
	ws_target_close(made.target);
	ws_cudbg_release(made.api);
	ws_target_close(made.below);
	ws_sim_destroy(made.sim);
	device_close(&made.device[0]);
	device_close(&made.device[1]);
}

static size_t add(struct CMUnitTest *tests, size_t n, const struct maker *maker, const char *dump,
		  const struct conformance_check *checks)
{
	const char *slash = dump ? strrchr(dump, '/') : NULL;
	for (const struct conformance_check *check = checks; check->name; check++) {
		struct test_case *test = calloc(1, sizeof *test);
		char *name = calloc(1, 256);
		if (!test || !name)
			exit(1);
		*test = (struct test_case){ maker, check, dump };
		snprintf(name, 256, dump ? "%s (%s): %s" : "%s%s: %s", maker->name,
			 slash ? slash + 1 : "", check->name);
		tests[n++] = (struct CMUnitTest){ name, run, NULL, NULL, test };
	}
	return n;
}

/* All checks that are for a maker. */
static size_t add_all(struct CMUnitTest *tests, size_t n, const struct maker *maker,
		      const char *dump)
{
	n = add(tests, n, maker, dump, conformance_checks);
	if (maker->runs)
		n = add(tests, n, maker, dump, conformance_run_checks);
	return maker->scripted ? add(tests, n, maker, dump, conformance_event_checks) : n;
}

int main(int argc, char **argv)
{
	enum { MAX_TESTS = 1000, MAX_DUMPS = 10 };
	static struct CMUnitTest tests[MAX_TESTS];
	size_t n = 0;
	if (argc < 4 || argc > MAX_DUMPS)
		return 2;
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING |
				    CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS;
	for (size_t k = 0; k < sizeof sim_makers / sizeof *sim_makers; k++)
		n = add_all(tests, n, &sim_makers[k], argv[1]);
	for (size_t k = 0; k < sizeof live_makers / sizeof *live_makers; k++)
		n = add_all(tests, n, &live_makers[k], argv[2]);
	for (int i = 3; i < argc; i++)
		for (int k = 0; k < 2; k++)
			n = add_all(tests, n, &dump_makers[k], argv[i]);
	for (size_t k = 0; k < sizeof other_makers / sizeof *other_makers; k++)
		n = add_all(tests, n, &other_makers[k], NULL);
	int failed = _cmocka_run_group_tests("target", tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++) {
		free(tests[i].initial_state);
		free((void *)(uintptr_t)tests[i].name);
	}
	return failed;
}
