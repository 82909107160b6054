/* SPDX-License-Identifier: Apache-2.0 */
/* What pages say of waits: who has not come, on what word, and what is cut. */
#include "report_page.h"

static void those_who_have_not_come_are_told(void **state)
{
	(void)state;
	static const struct {
		enum ws_absentee_state state;
		uint64_t n_blocks, n_lanes;
		const char *words;
	} cases[] = {
		{ WS_ABSENTEE_EXITED, 0, 1, "1 thread ended: can never arrive\n" },
		{ WS_ABSENTEE_FAULTED, 0, 2, "2 threads faulted: can never arrive\n" },
		{ WS_ABSENTEE_TRAPPED, 0, 1, "1 thread at a trap\n" },
		{ WS_ABSENTEE_RUNS, 0, 3, "3 threads elsewhere\n" },
		{ WS_ABSENTEE_UNKNOWN, 0, 1, "1 thread not in any warp of this dump\n" },
		{ WS_ABSENTEE_NOT_RESIDENT, 1, 9, "1 block gone: ended without it\n" },
		{ WS_ABSENTEE_NOT_RESIDENT, 2, 9, "2 blocks gone: ended without it\n" },
	};
	struct ws_report_absentee one = { .group = WS_NONE, .wait = WS_NONE, .example = nobody };
	struct ws_report_wait wait = { .claim = { "waits", "the code", WS_CONFIDENCE_LIKELY },
				       .pc = 0x100,
				       .user_frame = WS_NONE,
				       .n_lanes = 1,
				       .n_warps = 1,
				       .n_blocks = 1,
				       .example = thread,
				       .barrier_status = WS_ABSENT,
				       .address_status = WS_ABSENT,
				       .absentees = &one,
				       .n_absentees = 1 };
	struct planted p;
	plant(&p);
	p.report.waits = &wait;
	p.report.n_waits = 1;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		one.state = cases[i].state;
		one.n_blocks = cases[i].n_blocks;
		one.n_lanes = cases[i].n_lanes;
		says(&p.report, TEXT, cases[i].words);
	}
	says(&p.report, TEXT, "    1 thread of 1 warp in 1 block waits\n");
	says(&p.report, TEXT,
	     "    first      block (1,2,3), thread (6,0,0)\n    because    the code (likely)\n");
	one.example = nobody;
	one.example.sm = 9;
	says(&p.report, TEXT, "ended without it (first: SM 9)\n");
	one.example.sm = WS_NONE; /* its block has ended */
	one.example.block_status = WS_OK;
	one.example.block.x = 5;
	says(&p.report, TEXT, "ended without it (first: block (5,0,0))\n");
	says(&p.report, HTML, " (first: block (5,0,0))");
	one.example = thread;
	says(&p.report, TEXT, "ended without it (first: block (1,2,3), thread (6,0,0))\n");
	says(&p.report, HTML,
	     " (first: block (1,2,3), thread (6,0,0), device 0, sm 4, warp 5, lane 6)");
	wait.n_lanes = wait.n_warps = wait.n_blocks = 2;
	says(&p.report, TEXT, "    2 threads of 2 warps in 2 blocks waits\n");
	wait.instruction = "BAR.SYNC 0x0";
	says(&p.report, TEXT, "    at         0x100  BAR.SYNC 0x0\n");
}

static void the_word_that_is_waited_for_is_told(void **state)
{
	(void)state;
	struct ws_report_frame frames[3] = {
		{ .function = ws_str_of("poll"), .file = ws_str_of("a.cu"), .line = 7 },
		{ .function = ws_str_of("inner"), .line_status = WS_ABSENT },
		{ .function = ws_str_of("kernel"), .line_status = WS_ABSENT },
	};
	struct ws_report_wait wait = { .claim = { "waits", "the code", WS_CONFIDENCE_LIKELY },
				       .pc = 0x100,
				       .frames = frames,
				       .n_frames = 3,
				       .user_frame = WS_NONE,
				       .example = thread,
				       .barrier_status = WS_ABSENT,
				       .address_status = WS_ABSENT };
	struct planted p;
	plant(&p);
	p.report.waits = &wait;
	p.report.n_waits = 1;
	says(&p.report, TEXT,
	     "    at         0x100\n    in         poll  a.cu:7\n    from       kernel\n");
	wait.user_frame = 1;
	says(&p.report, TEXT, "    from       inner\n    from       kernel\n");
	says_not(&p.report, TEXT, "    address ");
	says_not(&p.report, TEXT, "    needs ");
	says_not(&p.report, TEXT, "    missing ");
	wait.address_status = WS_OK;
	wait.address = 0x7f00;
	wait.one_address = true;
	wait.value = 15;
	says(&p.report, TEXT, "    address    0x7f00 (global), holds 0xf\n");
	wait.owner.claim.text = "kernel parameter 0";
	wait.one_address = false;
	wait.value_status = WS_EXCLUDED;
	says(&p.report, TEXT,
	     "    address    0x7f00 (global; that of the first thread, others may differ), "
	     "kernel parameter 0, its value: ");
	wait.needs = "1";
	wait.missing_text = "2 blocks";
	says(&p.report, TEXT, "    needs      1\n    missing    2 blocks\n");
	wait.barrier = 3;
	wait.expected = 64;
	says_not(&p.report, HTML, "counts 64 threads");
	wait.barrier_status = WS_OK;
	says(&p.report, HTML, "3, counts 64 threads");
	wait.expected = 0;
	says_not(&p.report, HTML, "counts ");
}

static void waits_that_are_left_out_are_counted(void **state)
{
	(void)state;
	static struct ws_report_absentee absentees[22];
	static struct ws_report_wait waits[52];
	struct planted p;
	plant(&p);
	for (uint32_t i = 0; i < WSI_COUNT(absentees); i++)
		absentees[i] = (struct ws_report_absentee){
			.group = WS_NONE, .wait = WS_NONE, .n_lanes = 1, .example = nobody
		};
	for (uint32_t i = 0; i < WSI_COUNT(waits); i++)
		waits[i] =
			(struct ws_report_wait){ .claim = { "waits", NULL, WS_CONFIDENCE_LIKELY },
						 .user_frame = WS_NONE,
						 .example = thread,
						 .barrier_status = WS_ABSENT,
						 .address_status = WS_ABSENT,
						 .absentees = absentees };
	p.report.waits = waits;
	p.report.n_waits = 12;
	says_not(&p.report, TEXT, "more (--all)");
	p.report.n_waits = 13;
	says(&p.report, TEXT, "    ... and 1 more (--all)\n");
	p.report.n_waits = 50;
	says_not(&p.report, HTML, "more (--all)");
	p.report.n_waits = 51;
	says(&p.report, HTML, "... and 1 more (--all)");
	p.report.n_waits = 1;
	waits[0].n_absentees = 20;
	says_not(&p.report, HTML, "more (--all)");
	waits[0].n_absentees = 22;
	says(&p.report, HTML, "... and 2 more (--all)");
	says_not(&p.report, TEXT, "more (--all)");
	assert_null(strstr(page_of(&p.report, HTML, true), "more (--all)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_who_have_not_come_are_told),
		cmocka_unit_test(the_word_that_is_waited_for_is_told),
		cmocka_unit_test(waits_that_are_left_out_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
