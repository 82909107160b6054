/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is told when the host has no memory left for an image of it. argv[1]: images. */
#include "unit.h"

#include "agent/agent.h"

static uint8_t file[1 << 20];
static struct ws_span image;
static unsigned allocations, failing;

static bool fails_at_its_turn(void)
{
	return allocations++ == failing;
}

static struct ws_sim *device_make(bool lazy, bool check)
{
	const struct ws_sim_options options = { .size = sizeof options,
						.lazy = lazy,
						.check = check };
	struct ws_sim *sim;
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	return sim;
}

static enum ws_status load(struct ws_sim *sim, struct ws_error *err)
{
	allocations = 0;
	wsi_alloc_should_fail = fails_at_its_turn;
	enum ws_status st = ws_sim_load(sim, image, NULL, err);
	wsi_alloc_should_fail = NULL;
	return st;
}

static void each_allocation_of_a_load_is_told_as_memory(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct ws_sim *sim = device_make(kind & 1, kind & 2);
		struct ws_error err;
		for (failing = 0; load(sim, &err) != WS_OK; failing++) {
			if (err.cuda_result != WS_CUDA_ERROR_OUT_OF_MEMORY ||
			    err.status != WS_NO_MEMORY)
				fail_msg("allocation %u: %d, %s", failing, err.cuda_result,
					 err.message);
			assert_ptr_equal(strstr(err.message, "CUDA_ERROR_OUT_OF_MEMORY"),
					 err.message);
		}
		assert_true(failing > 10);
		ws_sim_destroy(sim);
	}
}

static void the_agent_answers_the_same(void **state)
{
	(void)state;
	struct agent agent = { .sim = device_make(true, false) };
	const struct wire_request request = { .op = WIRE_LOAD, .n_bytes = (uint32_t)image.len };
	struct exchange x = { .request = &request, .bytes = image.ptr, .fd = -1 };
	enum ws_cuda_result result;
	failing = 0;
	do {
		allocations = 0;
		wsi_alloc_should_fail = fails_at_its_turn;
		result = agent_load(&agent, &x);
		wsi_alloc_should_fail = NULL;
		assert_true(result == WS_CUDA_ERROR_OUT_OF_MEMORY || result == WS_CUDA_SUCCESS);
	} while (failing++, result != WS_CUDA_SUCCESS);
	assert_true(failing > 10);
	agent_modules_fini(&agent);
	ws_sim_destroy(agent.sim);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_of_a_load_is_told_as_memory),
		cmocka_unit_test(the_agent_answers_the_same),
	};
	FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
	if (!in)
		return 2;
	image = (struct ws_span){ file, fread(file, 1, sizeof file, in), 0 };
	fclose(in);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
