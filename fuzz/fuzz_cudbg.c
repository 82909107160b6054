/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences of debugger API calls. The input is a program: the first bytes choose the target
 * and the capabilities, then each call is a slot and a byte per argument, which picks a good value,
 * an edge, or a small number. Buffers lie between guard bytes; every result must be one that the
 * tables list and leave outputs alone when it is an error (tests/api/harness.c).
 *
 * With WS_FUZZ_DUMP=FILE in the environment that dump is the target. Half of the programs run on
 * two threads at once: see the sanitizer builds in fuzz/meson.build.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>

#include "fuzz.h"
#include "harness.h"
#include "target/fake.h"

#undef abort

struct program {
	const uint8_t *bytes;
	size_t size, at;
};

static uint8_t next_byte(struct program *program)
{
	return program->at < program->size ? program->bytes[program->at++] : 0;
}

static uint64_t next_value(struct program *program, uint64_t good)
{
	static const uint64_t edges[] = {
		0,
		1,
		UINT32_MAX,
		UINT64_MAX,
		1ull << 31,
		1ull << 63,
		UINT64_MAX - 3,
		255,
		256,
		77,
		FAKE_GENERIC_SHARED,
		FAKE_GENERIC_LOCAL,
		FAKE_GLOBAL + 250,
		FAKE_MANAGED,
		0x210,
	};
	uint8_t choice = next_byte(program);
	if (choice < 96)
		return good;
	if (choice < 96 + sizeof edges / sizeof *edges)
		return edges[choice - 96];
	return choice < 192 ? choice - 128u : good + choice - 192;
}

static void callback(CUDBGEventCallbackData *data)
{
	(void)data;
}

/* Runs the program on a table to its end. */
static void run(struct program program, CUDBGAPI api, bool whole)
{
	for (unsigned n = 0; program.at < program.size && n < 200; n++) {
		unsigned slot = next_byte(&program) % WSI_API_SLOTS;
		if (!whole && (slot == SLOT(finalize) || slot == SLOT(initialize)))
			continue;
		struct api_call call;
		api_call_init(&call, slot);
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		for (unsigned i = 0; i < fn->n_args; i++)
			if (fn->args[i].way == WSI_API_VALUE)
				call.v[i].number = strstr(fn->args[i].type, "Callback")
							   ? 0
							   : next_value(&program, call.v[i].number);
		if (slot == SLOT(setNotifyNewEventCallback) && next_byte(&program) & 1)
			call.v[0].code = (void (*)(void))callback;
		api_call_buffers(&call);
		uint8_t null = next_byte(&program);
		if (null < fn->n_args && fn->args[null].way != WSI_API_VALUE)
			call.v[null].pointer = NULL;
		const char *wrong = api_call_run(&call, api, NULL);
		if (wrong) {
			fprintf(stderr, "%s\n", wrong);
			abort();
		}
		api_call_fini(&call);
	}
}

struct job {
	struct program program;
	CUDBGAPI api;
};

static void *run_job(void *data)
{
	struct job *job = data;
	run(job->program, job->api, false);
	return NULL;
}

static void run_twice(struct program program, CUDBGAPI api)
{
	struct job job = { program, api };
	pthread_t other;
	if (api->initialize() != CUDBG_SUCCESS || pthread_create(&other, NULL, run_job, &job) != 0)
		return;
	run(program, api, false);
	pthread_join(other, NULL);
}

static struct ws_target *dump_target(void)
{
	static struct ws_target *target;
	static bool tried;
	const char *path = getenv("WS_FUZZ_DUMP");
	if (path && !tried && ws_core_open(path, NULL, &target, NULL) != WS_OK)
		target = NULL;
	tried = true;
	return target;
}

int fuzz_target(const uint8_t *data, size_t size)
{
	static struct fake fake;
	struct program program = { data, size, 0 };
	uint8_t kind = next_byte(&program);
	cudbgDebuggerCapabilities = next_byte(&program);
	if (kind & 1)
		fake_init_running(&fake);
	else
		fake_init_still(&fake);
	if (!(kind & 2))
		fake_hide_sm_exceptions(&fake);
	fake.fail_op = kind & 4 ? (enum fake_op)(next_byte(&program) % FAKE_OPS) : FAKE_NOTHING;
	fake.fail_status = WS_MALFORMED;
	struct ws_target *target = dump_target();
	CUDBGAPI api;
	if (ws_cudbg_api(target ? target : &fake.target, &api, NULL) != WS_OK)
		abort();
	if (kind & 8)
		run_twice(program, api);
	else
		run(program, api, true);
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
	return 0;
}
