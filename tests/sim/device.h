/* SPDX-License-Identifier: Apache-2.0 */
/* Devices for tests, and kernels from assembly text. */
#ifndef WS_TEST_SIM_DEVICE_H
#define WS_TEST_SIM_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/assemble.h>
#include <warpscope/sim.h>

static inline struct ws_sim *device_of(const char *name)
{
	const struct ws_sim_options options = { .size = sizeof options, .device = name };
	struct ws_sim *sim;
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	return sim;
}

static inline uint32_t load_text(struct ws_sim *sim, const char *source)
{
	struct ws_assembly *assembly;
	struct ws_error err = { .status = WS_OK };
	uint32_t module;
	const struct ws_str text = { source, strlen(source) };
	if (ws_assemble(text, NULL, &assembly, &err) != WS_OK)
		fail_msg("%s\n%s", err.message, source);
	if (ws_sim_load(sim, ws_assembly_image(assembly), &module, &err) != WS_OK)
		fail_msg("%s", err.message);
	ws_assembly_destroy(assembly);
	return module;
}

/* A launch of `k` with one argument of eight bytes. */
static inline struct ws_sim_launch launch_of(uint32_t module, struct ws_dim3 block,
					     const void *const args[1])
{
	return (struct ws_sim_launch){
		.size = sizeof(struct ws_sim_launch),
		.module = module,
		.kernel = "k",
		.grid = { 1, 1, 1 },
		.block = block,
		.args = args,
		.n_args = 1,
	};
}

static inline enum ws_sim_outcome run_all(struct ws_sim *sim)
{
	enum ws_sim_outcome outcome;
	assert_int_equal(ws_sim_run(sim, 0, &outcome, NULL), WS_OK);
	return outcome;
}

#endif
