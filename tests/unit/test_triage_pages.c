/* SPDX-License-Identifier: Apache-2.0 */
/* What pages say of a result of triage that is filled by hand. */
#include "unit.h"

#include <warpscope/triage.h>

static struct {
	char bytes[1 << 18];
	size_t len;
} written;

static bool take(void *user, const char *bytes, size_t len)
{
	(void)user;
	assert_true(len < sizeof written.bytes - written.len);
	memcpy(written.bytes + written.len, bytes, len);
	written.len += len;
	written.bytes[written.len] = 0;
	return true;
}

static void result_says(const struct ws_triage_result *result, bool html, bool wanted,
			const char *words)
{
	struct ws_out out;
	written.len = 0;
	ws_out_init(&out, take, NULL);
	assert_int_equal((html ? ws_triage_html : ws_triage_text)(result, NULL, &out, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	if ((strstr(written.bytes, words) != NULL) != wanted)
		fail_msg("the page %s \"%s\"", wanted ? "does not say" : "says", words);
}

static void times_of_bugs_are_bars_on_one_axis(void **state)
{
	(void)state;
	enum { START = 1751371200 }; /* 12:00:00 */
	struct ws_triage_group groups[3] = {
		{ .signature = ws_str_of("s"),
		  .verdict = ws_str_of("fault"),
		  .place = ws_str_of("a.cu:1"),
		  .ranks = "",
		  .first = START,
		  .last = START + 76,
		  .example = ws_str_of("x") },
		{ .signature = ws_str_of("twenty-four characters\xc3\xa9 "),
		  .verdict = ws_str_of("hang"),
		  .ranks = "",
		  .first = START + 152,
		  .last = START + 304,
		  .example = ws_str_of("y") },
		{ .signature = ws_str_of("no time"),
		  .verdict = ws_str_of("hang"),
		  .ranks = "",
		  .example = ws_str_of("z") },
	};
	struct ws_triage_result r = { .sentence = "Read", .groups = groups, .n_groups = 3 };
	result_says(&r, true, true, "viewBox=\"0 0 720 62\""); /* two lines of 18 below 22 */
	result_says(&r, true, true,
		    "<text class=\"soft\" x=\"190\" y=\"12\">2025-07-01 12:00:00 UTC</text>");
	result_says(&r, true, true,
		    "<text class=\"soft\" x=\"510\" y=\"12\">2025-07-01 12:05:04 UTC</text>");
	/* of 304 s, on 304 units from 190 on; a moment is 6 wide */
	result_says(&r, true, true,
		    "<rect class=\"fault\" x=\"190\" y=\"24\" width=\"82\" height=\"12\"/>");
	result_says(&r, true, true,
		    "<rect class=\"wait\" x=\"342\" y=\"42\" width=\"158\" height=\"12\"/>");
	result_says(&r, true, true, "y=\"34\">+0 s, fault</text>");
	result_says(&r, true, true, "y=\"52\">+152 s, hang</text>");
	result_says(&r, true, true, "<title>a.cu:1: 2025-07-01 12:00:00 UTC</title>");
	result_says(&r, true, true, "y=\"52\">twenty-four characters\xc3\xa9 </text>");
	result_says(&r, true, false, "no time: ");
	groups[1].signature = ws_str_of("twenty-five characters\xc3\xa9 x");
	result_says(&r, true, true, ">twenty-five characters\xc3\xa9 ...</text>");
	r.has_baseline = groups[0].known = true;
	result_says(&r, true, true, "+0 s, known</text>");
	result_says(&r, true, true, "+152 s, new</text>");
	result_says(&r, false, false, "152 s");
	groups[1].first = groups[1].last = groups[0].last = START; /* one moment */
	result_says(&r, true, false, "class=\"times\"");
	groups[1].last = START + 1;
	result_says(&r, true, true, "class=\"times\"");
	groups[1].first = 0; /* only one is known */
	result_says(&r, true, false, "class=\"times\"");
	groups[1].first = START;
	groups[1].last = UINT64_C(1) << 32;
	result_says(&r, true, false, "class=\"times\"");
}

static void times_of_dumps_mark_what_to_read(void **state)
{
	(void)state;
	static const char *const reasons[] = { "it is first", "others wait" };
	struct ws_triage_row rows[2] = {
		{ .name = ws_str_of("rank 0"),
		  .path = ws_str_of("d/x"),
		  .role = WS_TRIAGE_WAITS,
		  .time = 1000 },
		{ .name = ws_str_of("rank 1"),
		  .path = ws_str_of("d/"),
		  .role = WS_TRIAGE_FAULT,
		  .time = 1010 },
	};
	struct ws_triage_job job = { .rows = rows,
				     .n_rows = 2,
				     .missing = "",
				     .culprit = 1,
				     .read = 1,
				     .sentence = "Rank 1",
				     .reasons = reasons,
				     .n_reasons = 2 };
	struct ws_triage_result r = {
		.sentence = "Read", .jobs = &job, .n_jobs = 1, .n_jobs_in_all = 1
	};
	result_says(&r, true, true, "<text x=\"0\" y=\"34\">rank 0</text>");
	result_says(&r, true, true, "<text class=\"here\" x=\"0\" y=\"52\">rank 1</text>");
	result_says(&r, true, true, "<rect class=\"wait\" x=\"190\" y=\"24\" width=\"6\"");
	result_says(&r, true, true, "<rect class=\"fault\" x=\"494\" y=\"42\" width=\"6\"");
	result_says(&r, true, true, ">+10 s, fault</text>");
	result_says(&r, false, true,
		    "Read.\n\nRanks:\n\n    because    it is first\n               others wait\n");
	result_says(&r, false, true, "rank 1   fault, read first  -     -       -      -\n");
	rows[0].role = WS_TRIAGE_IDLE;
	result_says(&r, true, true, "<rect class=\"other\" x=\"190\"");
	result_says(&r, false, false, "Evidence");
	rows[0].evidence = "a log";
	result_says(&r, false, true, "Evidence");
}

static void results_are_told_with_their_numbers(void **state)
{
	(void)state;
	struct ws_triage_gpu gpu = {
		.name = ws_str_of("host 18:00"), .n_faults = 3, .n_jobs = 2, .n_signatures = 1
	};
	struct ws_triage_row row = { .name = ws_str_of("rank 0"),
				     .path = ws_str_of("d/x"),
				     .role = WS_TRIAGE_FAULT };
	struct ws_triage_job job = { .name = ws_str_of("j"),
				     .rows = &row,
				     .n_rows = 1,
				     .missing = "",
				     .culprit = 0,
				     .read = 0,
				     .sentence = "Rank 0 faults" };
	struct ws_triage_result r = { .sentence = "Read",
				      .n_dumps = 6,
				      .n_faults = 1,
				      .n_hangs = 2,
				      .n_unknown = 3,
				      .n_jobs_in_all = 1 };
	result_says(&r, false, true,
		    "    dumps      6: 1 with a fault, 2 with a suspected hang, 0 with neither, 3 "
		    "too damaged to tell, 0 unreadable\n"
		    "    jobs       1\n");
	result_says(&r, false, false, "    twice ");
	result_says(&r, false, false, "    damaged ");
	result_says(&r, false, false, "    new ");
	r.n_again = r.n_not_records = r.n_new_dumps = 1;
	r.has_baseline = true;
	result_says(&r, false, true,
		    "    new        1 dump with a signature that is not in the baseline\n"
		    "    twice      1 record of dumps that had one already\n"
		    "    damaged    1 line in the records that cannot be read\n");
	r.n_again = r.n_not_records = r.n_new_dumps = 2;
	result_says(&r, false, true, "    new        2 dumps with");
	result_says(&r, false, true, "    twice      2 records of");
	result_says(&r, false, true, "    damaged    2 lines in");
	r.gpus = &gpu;
	r.n_gpus = 1;
	result_says(&r, false, true, "    host 18:00: 3 faults in 2 jobs, with 1 signature\n");
	gpu.n_signatures = 2;
	result_says(&r, false, true,
		    "with 2 signatures; different bugs on one GPU: the GPU may be the cause\n");
	r.jobs = &job;
	r.n_jobs = 1;
	result_says(&r, false, true, "\nRanks:\n");
	result_says(&r, false, false, "    verdict ");
	result_says(&r, false, false, "    no dump ");
	result_says(&r, false, true, "fault, read first");
	r.n_jobs_in_all = 2;
	result_says(&r, false, true, "\nJobs:\n\n    job        j\n    verdict    Rank 0 faults\n");
	result_says(&r, false, true,
		    "    ... and 1 more job, smaller or without a failure (--limit)\n");
	r.n_jobs_in_all = 3;
	result_says(&r, false, true, "    ... and 2 more jobs, smaller");
	job.missing = "5";
	job.missing_why = "of 6";
	result_says(&r, false, true, "    no dump    of rank 5 (of 6)\n");
	job.missing = "5-6";
	result_says(&r, false, true, "    no dump    of ranks 5-6 (of 6)\n");
	job.missing = "5,7";
	result_says(&r, false, true, "    no dump    of ranks 5,7 (of 6)\n");
	r.read = "d/x.nvcudmp";
	result_says(&r, false, true,
		    "    dump       d/x.nvcudmp\n    command    warpscope report d/x.nvcudmp\n");
	r.read = "d/$x";
	result_says(&r, false, false, "    command ");
	r.read = "-x";
	result_says(&r, false, false, "    command ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_bugs_are_bars_on_one_axis),
		cmocka_unit_test(times_of_dumps_mark_what_to_read),
		cmocka_unit_test(results_are_told_with_their_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
