/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a dump: what of its report goes into it. */
#include "unit.h"

#include "triage/internal.h"

static char line[WS_TRIAGE_RECORD_BYTES + 1];
static size_t line_len;

static bool put(void *user, const char *bytes, size_t len)
{
	(void)user;
	assert_true(len < sizeof line - line_len);
	memcpy(line + line_len, bytes, len);
	line_len += len;
	line[line_len] = 0;
	return true;
}

static struct wsi_triage_record record_of_file(const struct ws_report *report,
					       const struct ws_triage_file *file)
{
	struct wsi_triage_record record;
	struct ws_out out;
	line_len = 0;
	ws_out_init(&out, put, NULL);
	ws_triage_record(report, file, false, &out);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	assert_true(wsi_triage_record_read(line, line_len - 1, &record));
	return record;
}

static struct wsi_triage_record record_of(const struct ws_report *report)
{
	const struct ws_triage_file file = { .path = "a/dump", .bytes = 9, .written_ns = -1 };
	return record_of_file(report, &file);
}

/* NULL: the text is missing. */
static void is(struct ws_str text, const char *expected)
{
	if (!expected)
		assert_null(text.ptr);
	else if (!ws_str_equal(text, ws_str_of(expected)))
		fail_msg("%.*s, not %s", (int)text.len, text.ptr ? text.ptr : "", expected);
}

static struct ws_str str(const char *text)
{
	return ws_str_of(text);
}

/* Of nothing that is known. */
static struct ws_report empty(enum ws_verdict_kind verdict)
{
	return (struct ws_report){ .verdict = verdict,
				   .summary = "s",
				   .dump_status = WS_ABSENT,
				   .image_status = WS_ABSENT };
}

static const struct ws_report_kernel kernels[] = {
	{ .name = { "a", 1 }, .name_short = { "a", 1 }, .name_mangled = { "_a", 2 } },
	{ .name = { "b", 1 },
	  .name_short = { "b", 1 },
	  .name_mangled = { "_b", 2 },
	  .resident_warps = 5 },
	{ .name = { "c", 1 },
	  .name_short = { "c", 1 },
	  .name_mangled = { "_c", 2 },
	  .resident_warps = 9 },
	{ .name = { "d", 1 },
	  .name_short = { "d", 1 },
	  .name_mangled = { "_d", 2 },
	  .resident_warps = 9 },
	{ .name = { "e", 1 }, .name_short = { "e", 1 }, .name_status = WS_ABSENT },
};

static const struct ws_report_device devices[] = {
	{ .state = { .id = 4 }, .status = WS_MALFORMED },
	{ .state = { .id = 5, .name = { "one", 3 }, .pci_bus = 0x1b, .pci_device = 2 } },
	{ .state = { .id = 6,
		     .name = { "two", 3 },
		     .sm_type = { "sm_90", 5 },
		     .pci_bus = 0xc1,
		     .pci_device = 0x1f } },
};

static const struct ws_report_frame frames[] = {
	{ .function_short = { "inner", 5 }, .file = { "/x/lib.h", 8 }, .line = 3, .library = true },
	{ .function_short = { "own", 3 }, .file = { "/x/own.cu", 9 }, .line = 7 },
	{ .function_short = { "outer", 5 }, .line_status = WS_ABSENT },
};

static void a_dump_in_which_nothing_is_wrong_has_what_runs(void **state)
{
	(void)state;
	struct ws_report report = empty(WS_VERDICT_NONE);
	report.kernels = kernels;
	report.n_kernels = WSI_COUNT(kernels);
	report.devices = devices;
	report.n_devices = WSI_COUNT(devices);
	report.n_warps = 23;
	struct wsi_triage_record r = record_of(&report);
	is(r.status, "read");
	is(r.verdict, "none");
	is(r.kernel, "c"); /* the first with the most warps */
	is(r.kernel_mangled, "_c");
	assert_true(r.resident_warps == 23 && r.devices == 3 && r.device == 5);
	is(r.device_name, "one"); /* the first that can be read */
	is(r.device_type, NULL);
	is(r.pci, "1b:02");
	is(r.signature, NULL);
	is(r.exception, NULL);
	is(r.function, NULL);
	is(r.driver, NULL);
	is(r.damage, NULL);
	assert_true(r.signature_version == WSI_NO_NUMBER && r.time == WSI_NO_NUMBER);
	assert_true(r.bytes == 9 && r.written == WSI_NO_NUMBER && !r.complete && !r.cut);
	report.n_kernels = 1; /* without a warp */
	is(record_of(&report).kernel, NULL);
}

static void a_fault_has_its_place_and_its_device(void **state)
{
	(void)state;
	static const struct {
		enum ws_attribution blame;
		const char *word;
	} blames[] = { { WS_BLAME_LANE, "lane" },
		       { WS_BLAME_SUSPECT, "suspect" },
		       { WS_BLAME_SM, "sm" },
		       { WS_BLAME_TRAP, "trap" } };
	struct ws_report_exception e = { .name = "WARP_ASSERT",
					 .label = "Warp Assert",
					 .at = { .device = 6 },
					 .kernel = 1,
					 .frames = frames,
					 .n_frames = WSI_COUNT(frames),
					 .user_frame = 1 };
	struct ws_report report = empty(WS_VERDICT_FAULT);
	report.kernels = kernels;
	report.n_kernels = WSI_COUNT(kernels);
	report.devices = devices;
	report.n_devices = WSI_COUNT(devices);
	report.focus = &e;
	struct wsi_triage_record r = record_of(&report);
	is(r.exception, "WARP_ASSERT");
	is(r.kernel, "b");
	is(r.function, "own");
	is(r.file, "/x/own.cu");
	is(r.device_name, "two");
	is(r.device_type, "sm_90");
	is(r.pci, "c1:1f");
	assert_true(r.line == 7 && r.device == 6);
	for (size_t i = 0; i < WSI_COUNT(blames); i++) {
		e.blame = blames[i].blame;
		is(record_of(&report).blame, blames[i].word);
	}
	e.name = NULL;
	e.user_frame = WS_NONE; /* all are library code */
	e.kernel = 4;           /* whose name is lost: the outermost function instead */
	e.at.device = WS_NONE;
	r = record_of(&report);
	is(r.exception, "Warp Assert");
	is(r.function, "inner");
	is(r.kernel, "outer");
	is(r.kernel_mangled, NULL);
	assert_true(r.line == 3 && r.device == 5);
	e.kernel = WSI_COUNT(kernels);
	e.frames = frames + 2;
	e.n_frames = 1;
	r = record_of(&report);
	is(r.kernel, "outer");
	is(r.file, NULL);
	assert_true(r.line == WSI_NO_NUMBER);
	e.n_frames = 0;
	r = record_of(&report);
	is(r.kernel, NULL);
	is(r.function, NULL);
	struct ws_report_frame lost = { .function_status = WS_ABSENT,
					.function_short = { "f", 1 },
					.file = { "/x/f.cu", 7 } };
	e.frames = &lost;
	e.n_frames = 1;
	r = record_of(&report);
	is(r.kernel, NULL);
	is(r.function, NULL);
	is(r.file, "/x/f.cu"); /* without a line */
	assert_true(r.line == WSI_NO_NUMBER);
}

static void the_root_wait_counts(void **state)
{
	(void)state;
	struct ws_report_wait waits[] = {
		{ .kind = WS_WAIT_SPIN,
		  .kernel = 1,
		  .user_frame = WS_NONE,
		  .example = { .device = 5 } },
		{ .kind = WS_WAIT_BARRIER,
		  .kernel = 2,
		  .user_frame = 1,
		  .frames = frames,
		  .n_frames = WSI_COUNT(frames),
		  .example = { .device = 6 },
		  .collective = "NCCL all-reduce" },
		{ .kind = WS_WAIT_SPIN, .kernel = 3, .user_frame = WS_NONE, .collective = "other" },
	};
	struct ws_report report = empty(WS_VERDICT_HANG);
	report.kernels = kernels;
	report.n_kernels = WSI_COUNT(kernels);
	report.devices = devices;
	report.n_devices = WSI_COUNT(devices);
	report.waits = waits;
	report.n_waits = WSI_COUNT(waits);
	report.root_wait = &waits[1];
	struct wsi_triage_record r = record_of(&report);
	is(r.collective, "NCCL all-reduce");
	is(r.waits_for, "barrier");
	is(r.kernel, "c");
	is(r.function, "own");
	is(r.pci, "c1:1f");
	report.root_wait = &waits[0];
	r = record_of(&report);
	is(r.collective, NULL);
	is(r.waits_for, "spin");
	is(r.kernel, "b");
	is(r.pci, "1b:02");
	report.root_wait = NULL;
	r = record_of(&report);
	is(r.waits_for, NULL);
	is(r.pci, "1b:02");
}

/* A kernel by whose name it is known that it waits for other processes. */
static void kernels_of_libraries_are_collective(void **state)
{
	(void)state;
	static const char nccl[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
	struct ws_report_kernel kernel = { .name = str("other"),
					   .name_short = str("other"),
					   .name_mangled = str(nccl) };
	struct ws_report_exception e = { .label = "x", .user_frame = WS_NONE };
	struct ws_report report = empty(WS_VERDICT_FAULT);
	report.kernels = &kernel;
	report.n_kernels = 1;
	report.focus = &e;
	is(record_of(&report).collective, "NCCL all-reduce");
	kernel.name = str(nccl);
	kernel.name_mangled = str("other");
	is(record_of(&report).collective, "NCCL all-reduce");
	kernel.name = str("other");
	is(record_of(&report).collective, NULL);
}

static void files_and_builds_are_told(void **state)
{
	(void)state;
	const struct ws_diagnostic damage[] = { { .message = "first" }, { .message = "second" } };
	struct ws_report report = empty(WS_VERDICT_UNKNOWN);
	report.diagnostics = damage;
	report.n_diagnostics = WSI_COUNT(damage);
	report.dump_status = WS_OK;
	report.dump = (struct ws_dump_facts){ .complete = true,
					      .cut = true,
					      .have_metadata = true,
					      .driver_major = 590,
					      .driver_minor = 48,
					      .cuda_major = 13,
					      .cuda_minor = 1,
					      .have_time = true,
					      .timestamp = 77 };
	report.image_status = WS_OK;
	report.image.facts = (struct ws_cubin_facts){ .sm = 90, .has_lines = true };
	report.image.facts.tool_version = str("V13");
	report.image.code_id_status = WS_ABSENT;
	report.signature = "a | b | c | d";
	report.signature_part[0] = str("a");
	report.signature_part[1] = str("b");
	report.signature_part[3] = str("d");
	struct wsi_triage_record r = record_of(&report);
	is(r.verdict, "unknown");
	is(r.damage, "first");
	is(r.driver, "590.48");
	is(r.cuda, "13.1");
	is(r.time_from, "dump");
	is(r.compiler, "V13");
	is(r.code_id, NULL);
	is(r.signature, "a | b | c | d");
	is(r.signature_what, "a");
	is(r.signature_kernel, "b");
	is(r.signature_functions, NULL);
	is(r.signature_last, "d");
	assert_true(r.diagnostics == 2 && r.complete && r.cut && r.time == 77 && r.sm == 90);
	assert_true(r.lines && r.signature_version == WS_SIGNATURE_VERSION);
	report.dump.driver_major = report.dump.cuda_major = 0; /* not known */
	report.dump.have_time = false;
	report.image.facts.sm = 0;
	r = record_of(&report);
	is(r.driver, NULL);
	is(r.cuda, NULL);
	assert_true(r.time == WSI_NO_NUMBER && r.sm == WSI_NO_NUMBER);
	report.dump.driver_major = 590;
	report.dump.have_metadata = false;
	report.image_status = WS_ABSENT;
	r = record_of(&report);
	is(r.driver, NULL);
	is(r.compiler, NULL);
	assert_false(r.lines);
}

/* When the file was written, in whole seconds; and the time in a name counts where no other does.
 */
static void times_are_those_of_the_dump_or_of_its_name(void **state)
{
	(void)state;
	struct ws_triage_file file = { .path = "core_55_h_7.nvcudmp", .written_ns = 1999999999 };
	struct ws_report report = empty(WS_VERDICT_NONE);
	struct wsi_triage_record r = record_of_file(&report, &file);
	is(r.time_from, "name");
	assert_true(r.written == 1 && r.time == 55 && r.pid == 7);
	file.written_ns = 0;
	assert_true(record_of_file(&report, &file).written == 0);
	report.dump_status = WS_OK;
	report.dump.have_time = true;
	report.dump.timestamp = 44;
	r = record_of_file(&report, &file);
	is(r.time_from, "dump");
	assert_true(r.time == 44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_in_which_nothing_is_wrong_has_what_runs),
		cmocka_unit_test(a_fault_has_its_place_and_its_device),
		cmocka_unit_test(the_root_wait_counts),
		cmocka_unit_test(kernels_of_libraries_are_collective),
		cmocka_unit_test(files_and_builds_are_told),
		cmocka_unit_test(times_are_those_of_the_dump_or_of_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
