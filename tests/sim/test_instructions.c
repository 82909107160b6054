/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What single instructions give that no compiled kernel of tests/sim has, how each fault is told,
 * and what the device supplies. Kernels are assembly text.
 */
#include "device.h"

#include <warpscope/cudadebugger.h>
#include <warpscope/sim_target.h>

static struct ws_sim *sim;
static struct ws_error err;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

/* ---- what single instructions give ---- */

/* A kernel that does something and then stores R0 of each thread; `more` stands before it. */
static uint32_t load_body(const char *arch, const char *more, const char *body)
{
	char source[4000];
	bool old = strncmp(arch, "sm_7", 4) == 0 || strncmp(arch, "sm_8", 4) == 0;
	snprintf(source, sizeof source,
		 ".arch %s\n%s.kernel k\n.param out 8\n.regs 40\n%s\n"
		 "S2R R30, SR_TID.X\nMOV R31, 0x4\nLDC.64 R34, c[0x0][`(out)]\n"
		 "IMAD.WIDE.U32 R32, R30, R31, R34\n%s [R32%s], R0\nEXIT\n.end\n",
		 arch, more, body, old ? "STG.E" : "ST.E", old ? ".64" : "");
	return load_text(sim, source);
}

/* Runs it with one block over a buffer of 4098 bytes; what the threads of the first warp stored. */
static enum ws_sim_outcome run_body(const char *arch, const char *more, const char *body,
				    struct ws_dim3 block, uint32_t ret_words[32])
{
	uint64_t out;
	const void *const args[1] = { &out };
	sim = device_of(arch);
	uint32_t module = load_body(arch, more, body);
	assert_int_equal(ws_sim_alloc(sim, 4098, &out, NULL), WS_OK);
	struct ws_sim_launch launch = launch_of(module, block, args);
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	enum ws_sim_outcome outcome = run_all(sim);
	assert_int_equal(ws_sim_read(sim, out, ret_words, 32 * 4, NULL), WS_OK);
	return outcome;
}

#define TID "S2R R10, SR_TID.X\nMOV R11, 0x4\n"

/* A barrier that expects 32, or one more, and the warp's arrival; R0: whether the phase is over. */
#define ARRIVAL(low, high, how)                                                  \
	".shared s 64\nUMOV UR4, 0x400\nUMOV UR6, " low "\nUMOV UR7, " high "\n" \
	"USYNCS.EXCH.64 URZ, [UR4], UR6\nUMOV UR5, URZ\n" how "\n"               \
	"USYNCS.PHASECHK.TRANS64 UP0, [UR4], UR5\nUMOV UR8, 0x1\n"               \
	"USEL UR8, UR8, URZ, UP0\nMOV R0, UR8"
#define ALL_OF_THEM "USYNCS.ARRIVE.TRANS64.RED.ACT0 URZ, [UR4], UR5"

static void each_lane_gets_its_word(void **state)
{
	(void)state;
	static const struct {
		const char *arch, *body;
		uint32_t first, last, fifth; /* of lanes 0, 31 and 5 */
	} cases[] = {
		{ "sm_80", "S2R R0, SR_EQMASK", 1, 1u << 31, 1 << 5 },
		{ "sm_80", "S2R R0, SR_LTMASK", 0, 0x7fffffff, 0x1f },
		{ "sm_80", "S2R R0, SR_LEMASK", 1, 0xffffffff, 0x3f },
		{ "sm_80", "S2R R0, SR_GTMASK", 0xfffffffe, 0, 0xffffffc0 },
		{ "sm_80", "S2R R0, SR_GEMASK", 0xffffffff, 1u << 31, 0xffffffe0 },
		{ "sm_80", "S2R R0, SR_LANEID", 0, 31, 5 },
		{ "sm_80", "S2R R0, SR_SWINHI", 0x7e00, 0x7e00, 0x7e00 },
		{ "sm_80", "S2R R0, SR_LWINHI", 0x7d00, 0x7d00, 0x7d00 },
		{ "sm_80", "CS2R.32 R0, SRZ", 0, 0, 0 },
		{ "sm_80", "BMOV.32 R0, MACTIVE", 0xffffffff, 0xffffffff, 0xffffffff },
		{ "sm_80",
		  TID "MOV R0, RZ\nISETP.GE.AND P0, PT, R10, 0x6, PT\n@P0 BRA `(over)\n"
		      "BMOV.32 R0, MACTIVE\nover:",
		  0x3f, 0, 0x3f },
		{ "sm_107a", TID "MOV.64 R4, 0x100000001\nIADD.64 R4, R4, 0x2\nIADD R0, R4, R5", 4,
		  4, 4 },
		{ "sm_87", "S2R R0, SR_LANEID", 0, 31, 5 },
		{ "sm_87", "BMOV.32 B0, 0x15\nBMOV.32.CLEAR B1, B0\nBMOV.32 R0, B1", 21, 21, 21 },
		{ "sm_87", "BMOV.32 B0, 0x15\nBMOV.32.CLEAR B1, B0\nBMOV.32 R0, B0", 0, 0, 0 },
		{ "sm_107a", ARRIVAL("0x1fffc0", "0x7fff0000", ALL_OF_THEM), 1, 1, 1 },
		{ "sm_107a", ARRIVAL("0x1fffbe", "0x7ffef800", ALL_OF_THEM), 0, 0, 0 },
		{ "sm_107a",
		  ARRIVAL("0x1fffc0", "0x7fff0000", "SYNCSU.ARRIVE.TRANS64.RED.A1T0 URZ, [UR4]"), 1,
		  1, 1 },
		{ "sm_107a", TID "VISET.BM.LT.U32 R0, R10, 0x6", UINT32_MAX, 0, UINT32_MAX },
		{ "sm_107a", TID "VISET.BM.GE.S32 R0, RZ, R10", UINT32_MAX, 0, 0 },
		{ "sm_90a", "MOV R11, 0x4\nELECT P0, UR4, ~URZ\nSEL R0, R11, RZ, P0", 4, 0, 0 },
		{ "sm_90a", "UMOV UR4, 0x20\nELECT P0, UR5, UR4\nMOV R0, UR5", 5, 5, 5 },
		{ "sm_80", TID "ISETP.GE.AND P0, PT, R10, 0x5, PT\nVOTE.ANY R0, PT, P0", 0xffffffe0,
		  0xffffffe0, 0xffffffe0 },
		{ "sm_80",
		  TID "ISETP.GE.AND P0, PT, R10, 0x5, PT\nVOTE.EQ R2, P1, P0\nSEL R0, R11, RZ, P1",
		  0, 0, 0 },
		{ "sm_80",
		  TID "ISETP.GE.AND P0, PT, R10, 0x40, PT\nVOTE.EQ R2, P1, P0\nSEL R0, R11, RZ, P1",
		  4, 4, 4 },
		{ "sm_80", TID "SHFL.UP PT, R0, R10, 0x3, RZ", 0, 28, 2 },
		{ "sm_80", TID "SHFL.DOWN P1, R0, R10, 0x3, 0x1f\n@!P1 MOV R0, 0x63", 3, 99, 8 },
		{ "sm_80", TID "SHFL.BFLY PT, R0, R10, 0x1, 0x1f", 1, 30, 4 },
		{ "sm_80", TID "SHFL.IDX PT, R0, R10, 0x9, 0x1f", 9, 9, 9 },
		{ "sm_80", TID "SHFL.IDX PT, R0, R10, 0x1, 0x181f", 1, 25, 1 },
		{ "sm_90a", "ULEPC UR4\nLEPC R2\nIADD3 R0, R2, -UR4, RZ", 16, 16, 16 },
		{ "sm_90a",
		  "ULEPC UR4\nUIADD3 UR4, UR4, 0x50, URZ\nMOV R0, 0x1\nJMXU UR4\nMOV R0, 0x2", 1, 1,
		  1 },
		{ "sm_80", "MOV R0, 0x3\nPMTRIG 0x1\nCCTLT.IVTH 0x0, 0x0", 3, 3, 3 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t words[32];
		assert_int_equal(run_body(cases[i].arch, "", cases[i].body,
					  (struct ws_dim3){ 32, 1, 1 }, words),
				 WS_SIM_DONE);
		if (words[0] != cases[i].first || words[31] != cases[i].last ||
		    words[5] != cases[i].fifth)
			fail_msg("%s: 0x%x, 0x%x, 0x%x", cases[i].body, words[0], words[31],
				 words[5]);
		close_device(NULL);
	}
}

/* What the table names and the device does not do: nothing else is done in its place. */
static void what_is_not_done_is_not_guessed(void **state)
{
	(void)state;
	static const struct {
		const char *arch, *body;
	} cases[] = {
		{ "sm_80", "BMOV.32 R0, TRAP_RETURN_PC.LO" },
		{ "sm_80", "BMOV.32.CLEAR R0, MACTIVE" },
		{ "sm_80", "BMOV.64 ATEXIT_PC, R2" },
		{ "sm_80", "LDC.IS R0, c[0x0][R2+0x4]" },
		{ "sm_80", "LDC R0, cx[UR4][R2+0x4]" },
		{ "sm_80", "ULDC UR4, cx[UR4][0x4]" },
		{ "sm_100a", "LDCU.TEXUNPACK UR4, c[0x0][UR4+0x10]" },
		{ "sm_100a", "R2UR.FILL UR4, R2" },
		{ "sm_100a", "LDSM.16.M816 R0, [R2]" },
		{ "sm_80", "B2R.WARP R0" },
		/* BAR.SYNC with a bit that no row explains */
		{ "sm_90a", ".word 0x000fe200000080000000000000007b1d" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char source[500];
		uint64_t out = 0;
		const void *const args[1] = { &out };
		struct ws_sim_fault fault = { 0 };
		snprintf(source, sizeof source,
			 ".arch %s\n.kernel k\n.param out 8\n.regs 40\n%s\nEXIT\n.end\n",
			 cases[i].arch, cases[i].body);
		sim = device_of(cases[i].arch);
		uint32_t module = load_text(sim, source);
		struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 32, 1, 1 }, args);
		assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
		if (run_all(sim) != WS_SIM_FAULTED || !ws_sim_fault(sim, &fault) ||
		    fault.exception != WS_SIM_UNIMPLEMENTED)
			fail_msg("%s: exception %u: %s", cases[i].body, fault.exception,
				 fault.text);
		close_device(NULL);
	}
}

static void places_in_blocks_of_three_dimensions(void **state)
{
	(void)state;
	uint32_t words[32];
	struct ws_dim3 block = { 3, 2, 5 };
	assert_int_equal(run_body("sm_80", "",
				  "S2R R1, SR_TID.X\nS2R R2, SR_TID.Y\nS2R R3, SR_TID.Z\n"
				  "IMAD R0, R3, 0x100, R2\nIMAD R0, R0, 0x100, R1\n"
				  "S2R R8, SR_LANEID\nMOV R9, 0x4\n"
				  "IMAD.WIDE.U32 R8, R8, R9, c[0x0][`(out)]\nSTG.E [R8.64], R0\n"
				  "EXIT\n",
				  block, words),
			 WS_SIM_DONE);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(words[i], i % 3 | i / 3 % 2 << 8 | i / 6 << 16);
	close_device(NULL);
	/* all of it in one word: 16 bits of x, 10 of y, 6 of z */
	assert_int_equal(run_body("sm_80", "",
				  "S2R R0, SR_TID\nS2R R8, SR_LANEID\nMOV R9, 0x4\n"
				  "IMAD.WIDE.U32 R8, R8, R9, c[0x0][`(out)]\nSTG.E [R8.64], R0\n"
				  "EXIT\n",
				  block, words),
			 WS_SIM_DONE);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(words[i], i % 3 | i / 3 % 2 << 16 | i / 6 << 26);
}

/* ---- faults ---- */

#define LAST_FUNCTION "__cuda_syscall_cp_async_bulk_tensor_5d_tile_unicast"
static const char data_of_tests[] = ".const table\n.u32 7, 8\n.end\n.extern free\n"
				    ".extern " LAST_FUNCTION "\n";

static void faults_say_what_is_wrong(void **state)
{
	(void)state;
	enum { WINDOW = 7, STACK = 35, JUMP = 8 };
	static const struct {
		const char *arch, *body;
		uint32_t exception, lanes;
		bool has_address;
		uint64_t address;
		const char *text;
	} cases[] = {
		{ "sm_80", ".shared s 64\nMOV R2, 0x40\nLDS R0, [R2]", 5, 1, true, 0x40,
		  "shared address 0x40, the block has 64 bytes" },
		{ "sm_80", ".shared s 64\nMOV R2, 0x3c\nLDS R0, [R2]\nLDS R0, [R2+0x8]", 5, 1, true,
		  0x44, "shared address 0x44, the block has 64 bytes" },
		{ "sm_80", "MOV R2, 0x400\nLDL R0, [R2]", 5, 1, true, 0x400,
		  "a thread has 1024 bytes of local memory (local address 0x400)" },
		{ "sm_80", "MOV R2, 0xfffffff0\nSTL [R2], R0", STACK, 1, true, 0xfffffff0,
		  "the stack of 1024 bytes is used up (local address 0xfffffff0)" },
		{ "sm_80", "MOV R2, 0x2\nLDS R0, [R2]", 6, 1, true, 2,
		  "address 0x2 is not a multiple of the 4 bytes of the access" },
		{ "sm_80", "MOV R3, 0x7e00\nMOV R2, RZ\nLDG.E R0, [R2.64]", WINDOW, 1, true,
		  UINT64_C(0x7e0000000000),
		  "0x7e0000000000 is in a window, and not a global address" },
		{ "sm_80", "MOV R3, 0x7d00\nMOV R2, 0x10\nSTG.E [R2.64], R0", WINDOW, 1, true,
		  UINT64_C(0x7d0000000010),
		  "0x7d0000000010 is in a window, and not a global address" },
		{ "sm_80", "MOV R3, RZ\nMOV R2, 0x10\nLDG.E R0, [R2.64]", 14, 1, true, 0x10,
		  "a read of 4 bytes at 0x10: nothing is allocated there" },
		{ "sm_80", "MOV R3, RZ\nMOV R2, 0x10\nSTG.E.128 [R2.64], R4", 14, 1, true, 0x10,
		  "a write of 16 bytes at 0x10: nothing is allocated there" },
		{ "sm_80",
		  "MOV R2, c[0x0][`(out)]\nMOV R3, c[0x0][`(out+4)]\nLDG.E R0, [R2.64+0x1000]", 14,
		  1, true, 0, ": past the end of an allocation" },
		{ "sm_80", "MOV R2, c[0x0][0x50]\nMOV R3, c[0x0][0x54]\nSTG.E [R2.64], R0", 14, 1,
		  true, 0, ": read-only" },
		{ "sm_90a", "MOV R2, 0x5000000\nLDS R0, [R2]", 18, 1, true, 0x5000000,
		  "block 5 of the cluster is not there" },
		{ "sm_80", "BAR.SYNC 0x1, 0x21", 27, 1, false, 0, "barrier 1 for 33 threads" },
		{ "sm_80", "MOV R2, 0x10\nBAR.SYNC R2", 27, 1, false, 0,
		  "barrier 16 for 0 threads" },
		{ "sm_80", "MOV R2, 0x8\nMOV R3, 0x7c00\nRET.ABS.NODEC R2 0x0", 23, 1, false, 0,
		  "pc 0x7c0000000008 is not a multiple of 16" },
		{ "sm_80", "MOV R2, 0x10\nMOV R3, RZ\nRET.ABS.NODEC R2 0x0", JUMP, 1, false, 0,
		  "a jump to 0x10, which is not code" },
		{ "sm_80", "MOV R2, 0x5000\nMOV R3, 0x7b00\nRET.ABS.NODEC R2 0x0", JUMP, 1, false,
		  0, "a jump to 0x7b0000005000, which is not code" },
		/* behind the last function that a device supplies */
		{ "sm_80",
		  "MOV R2, 32@lo(" LAST_FUNCTION ")\nMOV R3, 32@hi(" LAST_FUNCTION ")\n"
		  "RET.ABS.NODEC R2 0x10",
		  JUMP, 1, false, 0, "a jump to 0x7b0000000110, which is not code" },
		{ "sm_80", "MOV R0, c[0x3][0x8]", 29, 1, false, 0,
		  "constant c[0x3][0x8] is outside its bank" },
		{ "sm_80", "MOV R2, 0x8000\nLDC R0, c[0x3][R2]", 29, 1, true, 0x8000,
		  "constant c[0x3][0x8000] is outside its bank" },
		{ "sm_80", "MOV R2, 0x2\nLDC R0, c[0x0][R2]", 6, 1, true, 2,
		  "constant address 0x2 is not a multiple of 4" },
		{ "sm_80", ".regs 16\nMOV R100, RZ", 28, 1, false, 0,
		  "R100, the warp has 16 registers" },
		{ "sm_80", ".word 0x00000000000000000000000000007fff", 4, 1, false, 0,
		  "0x00000000000000000000000000007fff is not an instruction of sm_80" },
		{ "sm_80",
		  "MOV R4, 0x123\nMOV R5, RZ\nMOV R20, 32@lo(back)\nMOV R21, 32@hi(back)\n"
		  "CALL.ABS.NOINC `(free)\nback: NOP",
		  13, 1, true, 0x123, "free() of 0x123, which malloc() did not give" },
		{ "sm_80", "BPT.TRAP 0x1", WS_SIM_TRAP, 1, false, 0, "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint32_t words[32];
		struct ws_sim_fault fault;
		enum ws_sim_outcome outcome = run_body(cases[i].arch, data_of_tests, cases[i].body,
						       (struct ws_dim3){ 1, 1, 1 }, words);
		if (outcome != WS_SIM_FAULTED || !ws_sim_fault(sim, &fault))
			fail_msg("%s: outcome %d", cases[i].body, outcome);
		const char *end = strlen(fault.text) > strlen(cases[i].text)
					  ? fault.text + strlen(fault.text) - strlen(cases[i].text)
					  : fault.text;
		if (strcmp(end, cases[i].text) != 0 || fault.exception != cases[i].exception ||
		    fault.lanes != cases[i].lanes || fault.has_address != cases[i].has_address ||
		    (cases[i].address && fault.address != cases[i].address))
			fail_msg("%s: %u, lanes 0x%x, 0x%llx, %s", cases[i].body, fault.exception,
				 fault.lanes, (unsigned long long)fault.address, fault.text);
		close_device(NULL);
	}
}

static void a_fault_is_where_it_was(void **state)
{
	(void)state;
	uint32_t words[32];
	struct ws_sim_fault fault;
	assert_int_equal(run_body("sm_80", "",
				  "S2R R2, SR_TID.X\nISETP.GE.AND P0, PT, R2, 0x28, PT\nNOP\n"
				  "@P0 BPT.TRAP 0x1",
				  (struct ws_dim3){ 5, 10, 1 }, words),
			 WS_SIM_DONE); /* no x is 40 */
	close_device(NULL);
	assert_int_equal(run_body("sm_80", "",
				  "S2R R2, SR_TID.Y\nISETP.GE.AND P0, PT, R2, 0x8, PT\nNOP\n"
				  "@P0 BPT.TRAP 0x1",
				  (struct ws_dim3){ 5, 10, 1 }, words),
			 WS_SIM_FAULTED);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, WS_SIM_TRAP);
	assert_int_equal(fault.lanes, 0x3ff00); /* threads 40 to 49 of the second warp */
	assert_int_equal(fault.thread, 40);
	assert_int_equal(fault.grid, 1);
	assert_int_equal(fault.pc % 0x1000, 0x30);
	assert_int_equal(fault.error_pc, fault.pc);
}

/* Also where the lanes' first predicate is false, which is what zeros would ask for. */
static void code_without_an_end_is_a_fault(void **state)
{
	(void)state;
	uint64_t out = 0;
	const void *const args[1] = { &out };
	struct ws_sim_fault fault;
	sim = device_of("sm_80");
	uint32_t module = load_text(sim, ".arch sm_80\n.kernel k\n.param out 8\nNOP\n.end\n");
	const struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 2, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_FAULTED);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, 4);
	assert_int_equal(fault.pc % 0x1000, 0x80); /* behind the padding */
	assert_int_equal(fault.lanes, 3);
}

static void barriers_agree_on_their_threads(void **state)
{
	(void)state;
	uint32_t words[32];
	struct ws_sim_fault fault;
	/* warp 0 waits for 64 threads, warp 1 for 96 */
	assert_int_equal(
		run_body("sm_80", "",
			 "S2R R2, SR_TID.Y\nSHF.L.U32 R3, R2, 0x5, RZ\nIADD3 R3, R3, 0x40, RZ\n"
			 "BAR.SYNC 0x1, R3",
			 (struct ws_dim3){ 32, 2, 1 }, words),
		WS_SIM_FAULTED);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM);
	assert_string_equal(fault.text, "barrier 1 is for 64 threads, this one says 96");
	assert_int_equal(fault.lanes, UINT32_MAX);
	assert_int_equal(fault.thread, 32);
}

static void warps_synchronise_with_their_callers(void **state)
{
	(void)state;
	uint32_t words[32];
	struct ws_sim_fault fault;
	assert_int_equal(run_body("sm_80", "", "MOV R3, 0xfffffffe\nWARPSYNC R3",
				  (struct ws_dim3){ 32, 1, 1 }, words),
			 WS_SIM_FAULTED);
	assert_true(ws_sim_fault(sim, &fault));
	assert_int_equal(fault.exception, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION);
	assert_string_equal(fault.text, "lane 0 waits with the mask 0xfffffffe, which lacks it");
	assert_int_equal(fault.lanes, 1);
}

/* ---- what the device supplies ---- */

/* Text as an initialised variable. */
static void put_text(char *source, size_t size, const char *name, const char *text)
{
	size_t n = strlen(source);
	n += (size_t)snprintf(source + n, size - n, ".global %s\n.u8 ", name);
	for (const char *at = text; *at; at++)
		n += (size_t)snprintf(source + n, size - n, "%u, ", (unsigned char)*at);
	snprintf(source + n, size - n, "0\n.end\n");
}

static void what_is_printed_is_formatted_as_in_c(void **state)
{
	(void)state;
	static const char format[] =
		"%c|%5c|%p|%%|%*d|%-*d|%q|%x|%lX|%o|%s|%.2s|%e|%hd|%lld|%05u|%";
	char source[3000] = ".extern vprintf\n";
	put_text(source, sizeof source, "format", format);
	put_text(source, sizeof source, "word", "word");
	strcat(source, ".global arguments align 8\n"
		       ".u32 0x41, 0x42\n.u64 0x7f0012345678\n" /* %c %5c %p */
		       ".u32 6, 0xffffffd6, 4, 7\n"             /* %*d %-*d */
		       ".u32 0xabc, 0\n.u64 0xabcdef0123456789\n.u32 8, 0\n"
		       ".u64 `(word), `(word), 0x3ff8000000000000\n"
		       ".u32 0xffffffff, 0\n.u64 0xfffffffffffffffe\n.u32 42\n.end\n");
	uint32_t words[32];
	enum ws_sim_outcome outcome =
		run_body("sm_80", source,
			 "MOV R4, 32@lo(format)\nMOV R5, 32@hi(format)\nMOV R6, 32@lo(arguments)\n"
			 "MOV R7, 32@hi(arguments)\nMOV R20, 32@lo(back)\nMOV R21, 32@hi(back)\n"
			 "CALL.ABS.NOINC `(vprintf)\nback: MOV R0, R4",
			 (struct ws_dim3){ 2, 1, 1 }, words);
	struct ws_sim_fault fault = { 0 };
	if (ws_sim_fault(sim, &fault))
		fail_msg("%s", fault.text);
	assert_int_equal(outcome, WS_SIM_DONE);
	static const char once[] =
		"A|    B|0x7f0012345678|%|   -42|7   |%q|abc|ABCDEF0123456789|10|"
		"word|wo|1.500000e+00|-1|-2|00042|";
	struct ws_span printed = ws_sim_printed(sim);
	char both[2 * sizeof once];
	snprintf(both, sizeof both, "%s%s", once, once);
	if (printed.len != strlen(both) || memcmp(printed.ptr, both, printed.len) != 0)
		fail_msg("%.*s", (int)printed.len, (const char *)printed.ptr);
	assert_int_equal(words[0], 16); /* conversions, as CUDA counts them */
	ws_sim_clear_printed(sim);
	assert_int_equal(ws_sim_printed(sim).len, 0);
}

/* The part that the system has on sm_80 to 89, as ptxas has code compute it: it begins behind the
 * block's own memory, and all of it lies there. Its end can be written, what is in between not. */
static void reserved_shared_memory_is_in_order(void **state)
{
	static const char *const devices[] = { "sm_80", "sm_86", "sm_89" };
	uint32_t begin, cap, first, end, words[32];
	(void)state;
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
		const struct {
			const char *body;
			uint32_t *to;
		} parts[] = {
			{ ".shared s 1000\nS2R R2, SR_SMEMSZ\nIADD3 R0, R2, -c[0x0][0x114], RZ",
			  &begin },
			{ ".shared s 1000\nS2R R0, SR_SMEMSZ", &cap },
			{ ".shared s 1000\nMOV R0, c[0x0][0x124]\nSTS [R0], R0", &first },
			{ ".shared s 1000\nMOV R0, c[0x0][0x120]\nSTS [R0+-0x4], R0", &end },
		};
		for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
			if (run_body(devices[i], "", parts[k].body, (struct ws_dim3){ 1, 1, 1 },
				     words) != WS_SIM_DONE)
				fail_msg("%s: %s", devices[i], parts[k].body);
			*parts[k].to = words[0];
			close_device(NULL);
		}
		assert_int_equal(begin, 1024); /* 1,000 in units of 128 */
		assert_true(begin <= first && first < end && end <= cap);
		assert_int_equal(run_body(devices[i], "",
					  ".shared s 1000\nMOV R0, 0x400\nSTS [R0], R0",
					  (struct ws_dim3){ 1, 1, 1 }, words),
				 WS_SIM_FAULTED);
		close_device(NULL);
	}
}

/* ---- clusters, and what a target reads ---- */

static void blocks_of_a_cluster_know_their_place(void **state)
{
	(void)state;
	uint32_t words[8] = { 0 };
	uint64_t out;
	const void *const args[1] = { &out };
	sim = device_of("sm_90a");
	uint32_t module =
		load_text(sim, ".arch sm_90a\n.kernel k\n.param out 8\n"
			       "S2R R0, SR_CgaCtaId\nS2R R1, SR_CTAID.X\nS2R R2, SR_CTAID.Y\n"
			       "IMAD R2, R2, 0x4, R1\nMOV R3, 0x4\n"
			       "IMAD.WIDE.U32 R4, R2, R3, c[0x0][`(out)]\nST.E [R4], R0\n"
			       "BPT.TRAP 0x1\nEXIT\n.end\n");
	assert_int_equal(ws_sim_alloc(sim, sizeof words, &out, NULL), WS_OK);
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	launch.grid = (struct ws_dim3){ 4, 2, 1 };
	launch.cluster = (struct ws_dim3){ 2, 2, 1 };
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_FAULTED);
	struct ws_target *target;
	struct ws_counts counts;
	assert_int_equal(ws_sim_target(sim, &target, &err), WS_OK);
	ws_target_counts(target, &counts);
	assert_int_equal(counts.blocks, 8);
	unsigned seen = 0;
	for (uint32_t i = 0; i < counts.blocks; i++) {
		struct ws_block block;
		assert_int_equal(ws_target_block(target, i, &block, NULL), WS_OK);
		assert_int_equal(block.have & (WS_BLOCK_CLUSTER_IDX | WS_BLOCK_CLUSTER_DIM),
				 WS_BLOCK_CLUSTER_IDX | WS_BLOCK_CLUSTER_DIM);
		assert_true(block.cluster_dim.x == 2 && block.cluster_dim.y == 2 &&
			    block.cluster_dim.z == 1);
		assert_int_equal(block.cluster_idx.x, block.idx.x / 2);
		assert_int_equal(block.cluster_idx.y, 0);
		assert_int_equal(block.cluster_idx.z, 0);
		seen |= 1u << (block.idx.x + 4 * block.idx.y);
	}
	assert_int_equal(seen, 0xff);
	ws_target_close(target);
}

static void a_target_reads_what_lanes_stored(void **state)
{
	(void)state;
	uint32_t words[32], value;
	assert_int_equal(run_body("sm_80", data_of_tests,
				  ".shared s 256\nS2R R2, SR_LANEID\nMOV R5, 0x3\nIMAD R3, R2, R5, "
				  "RZ\nSTL [0x20], R3\n"
				  "SHF.L.U32 R4, R2, 0x2, RZ\nSTS [R4], R3\nNOP\nBPT.TRAP 0x1",
				  (struct ws_dim3){ 32, 1, 1 }, words),
			 WS_SIM_FAULTED);
	struct ws_target *target;
	size_t n;
	assert_int_equal(ws_sim_target(sim, &target, &err), WS_OK);
	struct ws_address at = { .space = WS_SPACE_LOCAL, .grid_index = WS_NONE };
	for (at.lane = 0; at.lane < 32; at.lane++) {
		at.address = 0x20;
		assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
		assert_int_equal(value, 3 * at.lane);
		at.address = 0x200; /* never written */
		assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
		assert_int_equal(value, 0);
	}
	at.lane = 7;
	at.address = 1022;
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_ABSENT);
	assert_int_equal(n, 2);
	at.space = WS_SPACE_SHARED;
	at.address = 4 * 9;
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
	assert_int_equal(value, 27);
	at.space = WS_SPACE_GENERIC; /* the windows */
	at.address = UINT64_C(0x7e0000000000) + 4 * 10;
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
	assert_int_equal(value, 30);
	at.address = UINT64_C(0x7d0000000020);
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
	assert_int_equal(value, 21);
	at.space = WS_SPACE_CONST;
	at.bank = 3;
	at.grid_index = 0;
	at.address = 4;
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_OK);
	assert_int_equal(value, 8);
	at.space = WS_SPACE_CODE;
	assert_int_equal(ws_target_read_memory(target, &at, &value, 4, &n, NULL), WS_ABSENT);
	ws_target_close(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(each_lane_gets_its_word, close_device),
		cmocka_unit_test_teardown(what_is_not_done_is_not_guessed, close_device),
		cmocka_unit_test_teardown(places_in_blocks_of_three_dimensions, close_device),
		cmocka_unit_test_teardown(faults_say_what_is_wrong, close_device),
		cmocka_unit_test_teardown(a_fault_is_where_it_was, close_device),
		cmocka_unit_test_teardown(code_without_an_end_is_a_fault, close_device),
		cmocka_unit_test_teardown(barriers_agree_on_their_threads, close_device),
		cmocka_unit_test_teardown(warps_synchronise_with_their_callers, close_device),
		cmocka_unit_test_teardown(reserved_shared_memory_is_in_order, close_device),
		cmocka_unit_test_teardown(what_is_printed_is_formatted_as_in_c, close_device),
		cmocka_unit_test_teardown(blocks_of_a_cluster_know_their_place, close_device),
		cmocka_unit_test_teardown(a_target_reads_what_lanes_stored, close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
