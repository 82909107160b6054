/* SPDX-License-Identifier: Apache-2.0 */
/* Devices whose faults surface late, and such that know what was written; images for others. */
#include "device.h"

#include <stdlib.h>

static struct ws_sim *sim;
static struct ws_error err;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

/* The first warp has exited when the second stops the device, long before the access would be seen.
 */
static void a_late_fault_surfaces_with_another(void **state)
{
	(void)state;
	static const char source[] = ".arch sm_80\n.kernel k\n.param out 8\n"
				     "S2R R2, SR_TID.X\nISETP.GE.AND P0, PT, R2, 0x20, PT\nNOP\n"
				     "@!P0 STG.E [R4.64], R2\n@!P0 EXIT\nNOP\nBPT.TRAP 0x1\nEXIT\n"
				     ".end\n";
	const struct ws_sim_options options = { .size = sizeof options,
						.device = "sm_80",
						.late = 1000 };
	uint64_t out = 0;
	const void *const args[1] = { &out };
	struct ws_sim_fault fault;
	assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
	uint32_t module = load_text(sim, source);
	const struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 64, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_FAULTED);
	assert_true(ws_sim_instructions(sim) < 1000);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, 14);
	assert_int_equal(fault.error_pc % 0x1000, 0x30);
	assert_int_equal(fault.pc % 0x1000, 0x40); /* where its warp is by then */
}

/* Each instruction that makes its access for several lanes, or by itself, blames all that issued
 * it, at once or three instructions later. */
static void who_issued_a_bad_access_is_blamed(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t exception, lanes;
	} cases[] = {
		{ "@P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R10+URZ], RZ", 5, 15 },
		{ "@P0 SYNCS.PHASECHK.TRANS64 P1, [R10+URZ], R4", 5, 15 },
		{ "@P0 STAS [R10.64], R4", 5, 15 },
		{ "SYNCS.EXCH.64 URZ, [UR4], UR8", 5, UINT32_MAX },
		{ "ARRIVES.LDGSTSBAR.64 [UR4]", 5, UINT32_MAX },
		{ "LDSM.16.M88.4 R4, [R10]", 5, UINT32_MAX },
		{ "LDSM.16.M88.2 R4, [R10]", 5, 0xffff },
		{ "STSM.16.M88.4 [R10], R4", 5, UINT32_MAX },
		{ "UBLKCP.S.G [UR4], [UR6], UR8", 14, UINT32_MAX },
		{ "UTMALDG.1D [UR4], [UR6], desc[URZ]", 14, UINT32_MAX },
		{ "HGMMA.64x8x16.F32 R4, gdesc[UR4], RZ, !UPT", 5, UINT32_MAX },
	};
	for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
		const struct ws_sim_options options = { .size = sizeof options,
							.device = "sm_90a",
							.late = i % 2 * 3 };
		const char *text = cases[i / 2].text;
		uint64_t out = 0;
		const void *const args[1] = { &out };
		struct ws_sim_fault fault;
		char source[1000];
		snprintf(source, sizeof source,
			 ".arch sm_90a\n.kernel k\n.param out 8\n.regs 40\n.shared s 256\nS2R R2, "
			 "SR_LANEID\nNOP\n"
			 "ISETP.LT.AND P0, PT, R2, 0x4, PT\nMOV R10, 0x8000\nMOV R11, 0x400\n"
			 "UMOV UR4, 0x3fff\nUMOV UR5, 0x400\nUMOV UR6, 0x100\nUMOV UR7, 0x1\n"
			 "UMOV UR8, 0x1\nUSHF.L.U32 UR4, UR4, 0x4, URZ\n%s\nNOP\nNOP\nNOP\nNOP\n"
			 "EXIT\n.end\n",
			 text);
		assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
		uint32_t module = load_text(sim, source);
		const struct ws_sim_launch launch =
			launch_of(module, (struct ws_dim3){ 32, 1, 1 }, args);
		assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
		assert_int_equal(run_all(sim), WS_SIM_FAULTED);
		assert_true(ws_sim_fault(sim, &fault));
		uint64_t at = fault.error_pc % 0x1000 / 16, pc = fault.pc % 0x1000 / 16;
		if (fault.exception != cases[i / 2].exception ||
		    fault.lanes != cases[i / 2].lanes || at != 11 || pc != at + i % 2 * 3 ||
		    fault.thread != 0)
			fail_msg("%s: %s, lanes 0x%x at %u, pc %u", text, fault.text, fault.lanes,
				 (unsigned)at, (unsigned)pc);
		ws_sim_destroy(sim);
		sim = NULL;
	}
}

/* R1 is the stack pointer, R2 an identity of the lane in all lanes but one, R3 a sum with R4. */
static void a_device_that_checks_knows_what_was_written(void **state)
{
	(void)state;
	static const char source[] =
		".arch sm_80\n.kernel k\n.param out 8\n.regs 16\n.shared s 64\n"
		"S2R R5, SR_LANEID\nISETP.GE.AND P0, PT, R5, 0x1, PT\nNOP\n"
		"@P0 MOV R2, R5\nIADD3 R3, R2, R4, RZ\nSTL [0x8], R5\n"
		"STL [0xc], R4\nSTS [0x4], R5\nBPT.TRAP 0x1\nEXIT\n.end\n";
	static const struct {
		enum ws_sim_space space;
		uint32_t lane;
		uint64_t address;
		enum ws_sim_known known;
	} cases[] = {
		{ WS_SIM_SPACE_REGISTER, 0, 5, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_REGISTER, 0, 2, WS_SIM_NEVER_WRITTEN },
		{ WS_SIM_SPACE_REGISTER, 1, 2, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_REGISTER, 1, 3, WS_SIM_NEVER_WRITTEN },
		{ WS_SIM_SPACE_REGISTER, 0, 1, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_PREDICATE, 3, 0, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_PREDICATE, 3, 1, WS_SIM_NEVER_WRITTEN },
		{ WS_SIM_SPACE_LOCAL, 3, 8, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_LOCAL, 3, 12, WS_SIM_NEVER_WRITTEN },
		{ WS_SIM_SPACE_LOCAL, 3, 512, WS_SIM_NEVER_WRITTEN },
		{ WS_SIM_SPACE_SHARED, 0, 7, WS_SIM_WRITTEN },
		{ WS_SIM_SPACE_SHARED, 0, 8, WS_SIM_NEVER_WRITTEN },
	};
	uint64_t out;
	const void *const args[1] = { &out };
	enum ws_sim_known known;
	for (unsigned check = 0; check < 2; check++) {
		const struct ws_sim_options options = { .size = sizeof options,
							.device = "sm_80",
							.check = check };
		assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
		assert_int_equal(ws_sim_alloc(sim, 16, &out, NULL), WS_OK);
		uint32_t module = load_text(sim, source);
		const struct ws_sim_launch launch =
			launch_of(module, (struct ws_dim3){ 32, 1, 1 }, args);
		assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
		assert_int_equal(run_all(sim), WS_SIM_FAULTED);
		struct ws_sim_place place = { .size = sizeof place };
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			place.space = cases[i].space;
			place.lane = cases[i].lane;
			place.address = cases[i].address;
			assert_int_equal(ws_sim_known(sim, &place, &known, &err), WS_OK);
			if (known != (check ? cases[i].known : WS_SIM_NOT_RECORDED))
				fail_msg("case %zu: %d", i, known);
		}
		place = (struct ws_sim_place){ .size = sizeof place,
					       .space = WS_SIM_SPACE_GLOBAL,
					       .address = out };
		assert_int_equal(ws_sim_known(sim, &place, &known, &err), WS_OK);
		assert_int_equal(known, check ? WS_SIM_NEVER_WRITTEN : WS_SIM_NOT_RECORDED);
		place.address = 8;
		assert_int_equal(ws_sim_known(sim, &place, &known, &err), WS_ARGUMENT);
		place.space = WS_SIM_SPACE_REGISTER;
		place.address = 300;
		assert_int_equal(ws_sim_known(sim, &place, &known, &err), WS_ARGUMENT);
		ws_sim_destroy(sim);
		sim = NULL;
	}
}

/* ---- images ---- */

static void assert_fails(enum ws_status status, enum ws_status expected, const char *message)
{
	assert_int_equal(status, expected);
	assert_string_equal(err.message, message);
}

static struct ws_span read_file(const char *folder, const char *name)
{
	static uint8_t bytes[1 << 22];
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_true(n > 0 && n < sizeof bytes);
	return (struct ws_span){ bytes, n, 0 };
}

static void images_that_suit_no_device_are_refused(void **state)
{
	(void)state;
	uint32_t module = 77;
	sim = device_of("sm_90a");
	assert_fails(ws_sim_load(sim, read_file(getenv("WS_TEST_SIM"), "tcgen.O3.fatbin"), &module,
				 &err),
		     WS_UNSUPPORTED,
		     "CUDA_ERROR_NO_BINARY_FOR_GPU: no image for sm_90a; there is code for "
		     "sm_100");
	assert_fails(ws_sim_load(sim, read_file(getenv("WS_TEST_CUBINS"), "link_a.li.sm_90.cubin"),
				 &module, &err),
		     WS_UNSUPPORTED, "CUDA_ERROR_INVALID_IMAGE: an object that is not linked yet");
	assert_int_equal(module, 77);
}

static const uint64_t managed = UINT64_C(0x7f0000000000);
enum { CHUNK = 256 };
static uint8_t of_host[8 * CHUNK];
static unsigned n_asked;

static bool give_memory(void *user, uint64_t len, uint64_t *ret_address, void **ret_bytes)
{
	assert_true(len > 0 && len <= CHUNK && n_asked < sizeof of_host / CHUNK);
	*ret_address = managed + n_asked * CHUNK;
	*ret_bytes = of_host + n_asked++ * CHUNK;
	return user != NULL;
}

/* The section of variables that host and device share lies where the host says, and nowhere without
 * memory. */
static void managed_variables_lie_in_memory_of_the_host(void **state)
{
	(void)state;
	const struct ws_span image = read_file(getenv("WS_TEST_SIM"), "vars.G.fatbin");
	struct ws_sim_options options = { .size = sizeof options, .managed = give_memory };
	uint64_t address, bytes;
	uint32_t module, value = 9;
	assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
	assert_fails(ws_sim_load(sim, image, &module, &err), WS_LIMIT,
		     "CUDA_ERROR_OUT_OF_MEMORY: managed variables of 80 bytes");
	ws_sim_destroy(sim);
	options.managed_user = &options;
	assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
	if (ws_sim_load(sim, image, &module, &err) != WS_OK)
		fail_msg("%s", err.message);
	assert_true(n_asked > 1);
	assert_int_equal(ws_sim_symbol(sim, module, "counter", &address, &bytes, &err), WS_OK);
	assert_true(address >= managed + CHUNK && address < managed + n_asked * CHUNK);
	assert_int_equal(bytes, 4);
	assert_int_equal(of_host[address - managed], 7);
	assert_int_equal(ws_sim_write(sim, address, &value, 4, &err), WS_OK);
	assert_int_equal(of_host[address - managed], 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_late_fault_surfaces_with_another, close_device),
		cmocka_unit_test_teardown(who_issued_a_bad_access_is_blamed, close_device),
		cmocka_unit_test_teardown(a_device_that_checks_knows_what_was_written,
					  close_device),
		cmocka_unit_test_teardown(images_that_suit_no_device_are_refused, close_device),
		cmocka_unit_test_teardown(managed_variables_lie_in_memory_of_the_host,
					  close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
