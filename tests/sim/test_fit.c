/* SPDX-License-Identifier: Apache-2.0 */
/* What fits on an SM: how many blocks, and which launches are refused. */
#include "device.h"

static struct ws_sim *sim;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

/* Expected: what cudaOccMaxActiveBlocksPerMultiprocessor() of CUDA 13.0's cuda_occupancy.h says of
 * these shapes; it says the same as ours of 135,296 random ones. */
static void blocks_fit_as_the_calculator_of_cuda_says(void **state)
{
	(void)state;
	static const struct {
		const char *device;
		struct ws_sim_need need; /* static memory without what the system takes */
		uint32_t blocks;
	} cases[] = {
		{ "sm_75", { 1024, 64, 0, 0 }, 1 },
		{ "sm_80", { 1024, 64, 0, 0 }, 1 },
		{ "sm_80", { 1024, 65, 0, 0 }, 0 },
		{ "sm_90a", { 384, 168, 0, 0 }, 1 }, /* the shape of FlashAttention-3 */
		{ "sm_90a", { 416, 168, 0, 0 }, 0 },
		{ "sm_100a", { 256, 255, 0, 0 }, 1 },
		{ "sm_100a", { 288, 255, 0, 0 }, 0 },
		{ "sm_80", { 160, 136, 0, 0 }, 2 }, /* three, but for the parts of an SM */
		{ "sm_86", { 33, 255, 0, 0 }, 4 },
		{ "sm_89", { 32, 1, 0, 0 }, 24 },
		{ "sm_80", { 32, 16, 0, 0 }, 32 },
		/* what the system takes of shared memory, and its units */
		{ "sm_80", { 64, 32, 0, 53 * 1024 }, 3 },
		{ "sm_80", { 64, 32, 0, 54 * 1024 }, 2 },
		{ "sm_80", { 1, 1, 0, 163 * 1024 }, 1 },
		{ "sm_75", { 32, 32, 0, 4096 }, 16 },
		{ "sm_75", { 32, 32, 0, 4097 }, 15 },
		{ "sm_120a", { 128, 40, 1, 33280 }, 2 },
		{ "sm_90a", { 64, 32, 0, 113 * 1024 }, 2 },
		{ "sm_90a", { 64, 32, 0, 227 * 1024 + 1 }, 0 },
		{ "sm_80", { 0, 16, 0, 0 }, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ws_sim_need need = cases[i].need;
		struct ws_sim_limits limits;
		sim = device_of(cases[i].device);
		ws_sim_limits(sim, &limits);
		need.static_bytes += limits.sm >= 90 ? limits.kept_shared_bytes : 0;
		uint32_t n = ws_sim_blocks_of_sm(&limits, &need);
		if (n != cases[i].blocks)
			fail_msg("case %zu: %u blocks, not %u", i, n, cases[i].blocks);
		close_device(NULL);
	}
}

static enum ws_status launch(uint32_t module, uint32_t threads, uint32_t grid, struct ws_error *err)
{
	uint64_t value = 0;
	const void *const args[1] = { &value };
	struct ws_sim_launch l = launch_of(module, (struct ws_dim3){ threads, 1, 1 }, args);
	l.grid.x = grid;
	l.cooperative = grid > 1;
	return ws_sim_launch(sim, &l, err);
}

/* Exact multiples of the unit get no unit more. */
static void launches_have_the_registers_of_their_image(void **state)
{
	(void)state;
	static const struct {
		uint32_t regs, threads, others; /* that are too many */
	} cases[] = { { 64, 1024, 0 }, { 168, 384, 385 }, { 128, 512, 513 }, { 255, 256, 257 } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char source[200];
		struct ws_error err;
		snprintf(source, sizeof source,
			 ".arch sm_90a\n.kernel k\n.param a 8\n.regs %u\nEXIT\n.end\n",
			 cases[i].regs);
		sim = device_of("sm_90a");
		uint32_t module = load_text(sim, source);
		if (launch(module, cases[i].threads, 1, &err) != WS_OK)
			fail_msg("%u registers: %s", cases[i].regs, err.message);
		assert_int_equal(run_all(sim), WS_SIM_DONE);
		/* one block of that size on each of the 132 SMs */
		if (launch(module, cases[i].threads, 132, &err) != WS_OK)
			fail_msg("%u registers, cooperative: %s", cases[i].regs, err.message);
		assert_int_equal(run_all(sim), WS_SIM_DONE);
		assert_int_equal(launch(module, cases[i].threads, 133, &err), WS_ARGUMENT);
		if (cases[i].others) {
			assert_int_equal(launch(module, cases[i].others, 1, &err), WS_ARGUMENT);
			assert_non_null(strstr(err.message, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
		}
		close_device(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(blocks_fit_as_the_calculator_of_cuda_says, close_device),
		cmocka_unit_test_teardown(launches_have_the_registers_of_their_image, close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
