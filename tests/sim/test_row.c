/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of whole warps to words side by side, and what is nearly one: each lane gets what is its
 * own, and the lanes that are wrong are blamed, no others.
 */
#include "device.h"

static struct ws_sim *sim;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

enum { BYTES = 4098, ROWS = 32 };

/* R10 is the thread, R8 three times that; R2 points to `out` and 4 (R4: 8, R6: 16) bytes on for
 * each thread; R0 is stored. */
static enum ws_sim_outcome run(const char *body, uint32_t ret_words[ROWS])
{
	char source[4000];
	struct ws_error err;
	uint64_t out, result;
	const void *const args[] = { &out, &result };
	snprintf(source, sizeof source,
		 ".arch sm_80\n.kernel k\n.param out 8\n.param result 8\n.regs 40\n.shared s 64\n"
		 "S2R R10, SR_TID.X\nIMAD R8, R10, 0x3, RZ\nMOV R31, 0x4\nMOV R30, 0x8\n"
		 "MOV R29, 0x10\nIMAD.WIDE.U32 R2, R10, R31, c[0x0][`(out)]\n"
		 "IMAD.WIDE.U32 R4, R10, R30, c[0x0][`(out)]\n"
		 "IMAD.WIDE.U32 R6, R10, R29, c[0x0][`(out)]\n"
		 "IMAD R9, R10, 0x5, RZ\n"
		 "MOV R16, R8\nMOV R17, R9\nMOV R18, R10\nMOV R19, 0x7\n%s\n"
		 "IMAD.WIDE.U32 R32, R10, R31, c[0x0][`(result)]\nSTG.E [R32.64], R0\nEXIT\n.end\n",
		 body);
	sim = device_of("sm_80");
	uint32_t module = load_text(sim, source);
	assert_int_equal(ws_sim_alloc(sim, BYTES, &out, NULL), WS_OK);
	assert_int_equal(ws_sim_alloc(sim, sizeof(uint32_t) * ROWS, &result, NULL), WS_OK);
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ ROWS, 1, 1 }, args);
	launch.n_args = 2;
	if (ws_sim_launch(sim, &launch, &err) != WS_OK)
		fail_msg("%s", err.message);
	enum ws_sim_outcome outcome = run_all(sim);
	assert_int_equal(ws_sim_read(sim, result, ret_words, sizeof(uint32_t) * ROWS, NULL), WS_OK);
	return outcome;
}

#define ALL 0xffffffff

static void each_lane_accesses_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		uint32_t first, fifth, last; /* of lanes 0, 5 and 31 */
	} cases[] = {
		{ "STG.E [R2.64+0x200], R8\nLDG.E R0, [R2.64+0x1fc]", 0, 12, 90 },
		{ "STG.E.64 [R4.64+0x200], R8\nLDG.E.64 R14, [R4.64+0x1f8]\n"
		  "IMAD R0, R14, 0x100, R15",
		  0, 0x0c14, 0x5a96 },
		{ "STG.E.64 [R4.64], R8\nLDG.E R0, [R2.64+0x4]", 0, 9, 48 },
		{ "STG.E.128 [R6.64+0x200], R16\nLDG.E.128 R20, [R6.64+0x1f0]\n"
		  "IMAD R0, R20, 0x100, R21\nIMAD R0, R0, 0x100, R22\nIMAD R0, R0, 0x10, R23",
		  0, 0xc14047, 0x5a961e7 },
		{ "STG.E.128 [R6.64], R16\nLDG.E R0, [R2.64+0x8]", 0, 7, 40 },
		{ "MOV R2, c[0x0][`(out)]\nMOV R3, c[0x0][`(out+4)]\nSTG.E [R2.64], R8\n"
		  "LDG.E R0, [R2.64]",
		  93, 93, 93 },
		{ "MOV R2, c[0x0][`(out)]\nMOV R3, c[0x0][`(out+4)]\nSTG.E.64 [R2.64], R8\n"
		  "LDG.E.64 R14, [R2.64]\nIMAD R0, R14, 0x100, R15",
		  93 * 256 + 155, 93 * 256 + 155, 93 * 256 + 155 },
		{ "MOV R2, 0x3fc\nSTL [R2], R8\nLDL R0, [R2]", 0, 15, 93 },
		{ "MOV R2, 0x3f0\nSTL.128 [R2], R16\nLDL.64 R14, [R2+0x8]\nLDL R13, [R2+0x4]\n"
		  "IMAD R0, R14, 0x10, R15\nIMAD R0, R0, 0x100, R13",
		  0x700, 0x5719, 0x1f79b },
		{ "MOV R2, 0x3c\nSTS [R2], R8\nLDS R0, [R2]", 93, 93, 93 },
		/* no rows: every lane eight bytes on, but only words; and from behind */
		{ "STG.E [R4.64], R8\nLDG.E R0, [R2.64]", 0, 0, 0 },
		{ "STG.E [R2.64], R8\nIADD3 R11, RZ, -R10, RZ\n"
		  "IMAD.WIDE R2, R11, R31, c[0x0][`(out)]\nLDG.E R0, [R2.64+0x7c]",
		  93, 78, 0 },
		/* two words of sixteen lanes each */
		{ "LOP3.LUT R11, R10, 0x10, RZ, 0xc0, !PT\n"
		  "IMAD.WIDE R2, R11, R31, c[0x0][`(out)]\nSTG.E [R2.64], R8\nLDG.E R0, [R2.64]",
		  45, 45, 93 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t words[ROWS];
		assert_int_equal(run(cases[i].body, words), WS_SIM_DONE);
		if (words[0] != cases[i].first || words[5] != cases[i].fifth ||
		    words[31] != cases[i].last)
			fail_msg("%s: 0x%x, 0x%x, 0x%x", cases[i].body, words[0], words[5],
				 words[31]);
		close_device(NULL);
	}
}

static void lanes_that_are_wrong_are_blamed(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		uint32_t exception, lanes;
	} cases[] = {
		{ "LDG.E R0, [R2.64+0xf84]", 14, 0x80000000 },
		{ "STG.E [R2.64+0xf84], R8", 14, 0x80000000 },
		{ "LDG.E.64 R0, [R4.64+0xf10]", 14, 0xc0000000 },
		{ "STG.E.128 [R6.64+0xf00], R16", 14, 0xffff0000 },
		{ "LDG.E R0, [R2.64+-0x4]", 14, 1 },
		{ "LDG.E R0, [R2.64+0x2]", 6, ALL },
		{ "STG.E.128 [R6.64+0x8], R16", 6, ALL },
		{ "LDG.E.64 R0, [R2.64]", 6, 0xaaaaaaaa },
		{ "ISETP.GE.AND P0, PT, R10, 0x10, PT\n@P0 IADD3 R3, R3, 0x1, RZ\nLDG.E R0, "
		  "[R2.64]",
		  14, 0xffff0000 },
		{ "MOV R2, c[0x0][0x40]\nMOV R3, c[0x0][0x44]\nSTG.E [R2.64], R0", 14, ALL },
		{ "IMAD.SHL.U32 R2, R10, 0x4, RZ\nLDS R0, [R2]", 5, 0xffff0000 },
		{ "IMAD.SHL.U32 R2, R10, 0x4, RZ\nSTS [R2], R0", 5, 0xffff0000 },
		{ "IMAD.SHL.U32 R2, R10, 0x4, RZ\nLDS R0, [R2+-0x8]", 5, 0xfffc0003 },
		{ "MOV R2, 0x40\nLDS R0, [R2]", 5, ALL },
		{ "MOV R2, 0x400\nLDL R0, [R2]", 5, ALL },
		{ "MOV R2, 0x3fc\nSTL.64 [R2], R8", 6, ALL },
		{ "MOV R2, 0xfffffff0\nSTL [R2], R0", 35, ALL },
		{ "MOV R3, 0x7e00\nMOV R2, RZ\nLDG.E R0, [R2.64]", 7, ALL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t words[ROWS];
		struct ws_sim_fault fault;
		if (run(cases[i].body, words) != WS_SIM_FAULTED || !ws_sim_fault(sim, &fault))
			fail_msg("%s: no fault", cases[i].body);
		if (fault.exception != cases[i].exception || fault.lanes != cases[i].lanes)
			fail_msg("%s: %u, lanes 0x%x, %s", cases[i].body, fault.exception,
				 fault.lanes, fault.text);
		close_device(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_lane_accesses_its_own, close_device),
		cmocka_unit_test_teardown(lanes_that_are_wrong_are_blamed, close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
