/* SPDX-License-Identifier: Apache-2.0 */
/* What lines of logs tell, and which of them came first. */
#include "unit.h"

#include "../../cuda/runtime/results.h"

#include "log/internal.h"

#include <warpscope/cuda_results.h>
#include <warpscope/exception.h>

/* Reads texts as files and judges them; "|" stands between two files. */
static struct ws_log *judge(const char *texts, const struct ws_log_result **ret_result)
{
	struct ws_log *log;
	static const char *const names[] = { "a.log", "b.log", "c.log" };
	assert_int_equal(ws_log_create(&log, NULL), WS_OK);
	for (size_t i = 0; i < WSI_COUNT(names) && texts; i++) {
		const char *end = strchr(texts, '|');
		size_t len = end ? (size_t)(end - texts) : strlen(texts);
		assert_int_equal(ws_log_take(log, names[i], texts, len, NULL), WS_OK);
		texts = end ? end + 1 : NULL;
	}
	assert_int_equal(ws_log_judge(log, ret_result, NULL), WS_OK);
	return log;
}

#define XID(rest) "NVRM: Xid (PCI:0000:18:00): " rest
#define H "May  1 10:00:00 h kernel: "
#define WATCHDOG(rank)                                                                  \
	"[rank" rank "]:[E626 06:24:44.9 x.cpp:1] [Rank 7] Watchdog caught collective " \
	"operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, Timeout(ms)=600000) ran"
#define ASSERTION(expression) \
	"/secret/x.cu:12: f: block: [1,2,3], thread: [4, 5, 6] Assertion `" expression "` failed."

static const struct {
	const char *line;
	enum ws_log_kind kind;
	uint32_t code;
	enum ws_log_role role;
	const char *detail, *who;
} lines[] = {
	{ H XID("79, pid='<unknown>', x"), WS_LOG_XID, 79, WS_LOG_ROLE_HARDWARE, NULL,
	  "GPU 0000:18:00 on h" },
	{ XID("43, pid=7, Ch 1"), WS_LOG_XID, 43, WS_LOG_ROLE_AFTER, NULL,
	  "GPU 0000:18:00, process 7" },
	{ "a\033b kernel: " XID("45"), WS_LOG_XID, 45, WS_LOG_ROLE_AFTER, NULL, "GPU 0000:18:00" },
	{ "NVRM: Xid (0000:18:00): 13, 0003 00000000 000090c0", WS_LOG_XID, 13, WS_LOG_ROLE_FAULT,
	  NULL, "GPU 0000:18:00" },
	{ XID("63, x"), WS_LOG_XID, 63, WS_LOG_ROLE_NOTE, NULL, "GPU 0000:18:00" },
	{ XID("146, x"), WS_LOG_XID, 146, WS_LOG_ROLE_HARDWARE, NULL, "GPU 0000:18:00" },
	{ XID("777, x"), WS_LOG_XID, 777, WS_LOG_ROLE_UNKNOWN, NULL, "GPU 0000:18:00" },
	{ XID("31, MMU Fault: ENGINE GRAPHICS X faulted @ 0x7f5a_07504000. Fault is of type "
	      "FAULT_RO_VIOLATION ACCESS_TYPE_VIRT_WRITE"),
	  WS_LOG_XID, 31, WS_LOG_ROLE_FAULT,
	  "write at 0x7f5a07504000: the memory is read-only (FAULT_RO_VIOLATION, engine GRAPHICS)",
	  "GPU 0000:18:00" },
	{ XID("31, MMU Fault: ENGINE CE2 X faulted @ 0x0_00000010. Fault is of type FAULT_NEW "
	      "ACCESS_TYPE_VIRT_ATOMIC"),
	  WS_LOG_XID, 31, WS_LOG_ROLE_FAULT,
	  "atomic access at 0x10, near 0: a null pointer, by a copy and not by a kernel "
	  "(FAULT_NEW, engine CE2)",
	  "GPU 0000:18:00" },
	{ XID("31, faulted @ 0x10"), WS_LOG_XID, 31, WS_LOG_ROLE_FAULT,
	  "access at 0x10, near 0: a null pointer", "GPU 0000:18:00" },
	{ XID("31, faulted @ 0x1_zz"), WS_LOG_XID, 31, WS_LOG_ROLE_FAULT, NULL, "GPU 0000:18:00" },
	{ XID("13, Graphics SM Warp Exception on (GPC 3, TPC 2, SM 1): CTA not present"),
	  WS_LOG_XID, 13, WS_LOG_ROLE_FAULT, "CTA not present; on GPC 3, TPC 2, SM 1",
	  "GPU 0000:18:00" },
	{ XID("13, Graphics Exception: ESR 0x52efb0=0xc04000b 0x52efb4=0x20"), WS_LOG_XID, 13,
	  WS_LOG_ROLE_FAULT, "Illegal Instruction Parameter", "GPU 0000:18:00" },
	{ XID("13, Graphics Exception: ESR 0x404000=0x8000000b"), WS_LOG_XID, 13, WS_LOG_ROLE_FAULT,
	  NULL, "GPU 0000:18:00" },
	{ XID("154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
	  WS_LOG_XID, 154, WS_LOG_ROLE_AFTER, "Node Reboot Required", "GPU 0000:18:00" },
	{ "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30", WS_LOG_SXID, 0,
	  WS_LOG_ROLE_HARDWARE, "SXid 20034, fatal", "" },
	{ "RuntimeError: CUDA error: an illegal memory access was encountered", WS_LOG_CUDA, 700,
	  WS_LOG_ROLE_FAULT, NULL, "" },
	{ "[rank12]: torch.AcceleratorError: CUDA error: unspecified launch failure", WS_LOG_CUDA,
	  719, WS_LOG_ROLE_FAULT, NULL, "rank 12" },
	{ "CUDA error at x.cu:9 code=716(cudaErrorMisalignedAddress) \"f()\"", WS_LOG_CUDA, 716,
	  WS_LOG_ROLE_FAULT, NULL, "" },
	{ "RuntimeError: Triton Error [CUDA]: misaligned address", WS_LOG_CUDA, 716,
	  WS_LOG_ROLE_FAULT, NULL, "" },
	{ "INTERNAL: Failed: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", WS_LOG_CUDA,
	  719, WS_LOG_ROLE_FAULT, NULL, "" },
	{ "h:1:2 [0] NCCL WARN Cuda failure 700 'x'", WS_LOG_CUDA, 700, WS_LOG_ROLE_FAULT, NULL,
	  "" },
	{ "Warp CUDA error 2: x", WS_LOG_CUDA, 2, WS_LOG_ROLE_CALL, NULL, "" },
	{ "torch.OutOfMemoryError: CUDA out of memory. Tried", WS_LOG_CUDA, 2, WS_LOG_ROLE_CALL,
	  NULL, "" },
	{ "CUDA error: all CUDA-capable devices are busy or unavailable", WS_LOG_CUDA, 46,
	  WS_LOG_ROLE_CALL, NULL, "" },
	{ "CUDA error 1234", WS_LOG_CUDA, 0, WS_LOG_ROLE_UNKNOWN, "error 1234", "" },
	{ "CUDA error: CUDA_ERROR_SOMETHING_NEW", WS_LOG_CUDA, 0, WS_LOG_ROLE_UNKNOWN,
	  "CUDA_ERROR_SOMETHING_NEW", "" },
	{ "CUDA error: password is 123", WS_LOG_CUDA, 0, WS_LOG_ROLE_UNKNOWN, NULL, "" },
	{ "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when", WS_LOG_LIBRARY, 0, WS_LOG_ROLE_CALL,
	  "CUBLAS_STATUS_ALLOC_FAILED", "" },
	{ ASSERTION("i < n"), WS_LOG_ASSERT, 0, WS_LOG_ROLE_FAULT,
	  "`i < n` at x.cu:12, block (1,2,3), thread (4,5,6)", "" },
	{ "received signal CUDA_EXCEPTION_17, x", WS_LOG_EXCEPTION, 18, WS_LOG_ROLE_FAULT, NULL,
	  "" },
	{ "CUDA Exception: Warp Illegal Address", WS_LOG_EXCEPTION, 14, WS_LOG_ROLE_FAULT, NULL,
	  "" },
	{ "coredump: of type CUDBG_EXCEPTION_WARP_ASSERT (12)", WS_LOG_EXCEPTION, 12,
	  WS_LOG_ROLE_FAULT, NULL, "" },
	{ "coredump: Writing ELF file to /tmp/core_1.nvcudmp", WS_LOG_DUMP, 0, WS_LOG_ROLE_NOTE,
	  "/tmp/core_1.nvcudmp", "" },
	{ "========= Invalid __shared__ atomic of size 8 bytes", WS_LOG_SANITIZER, 0,
	  WS_LOG_ROLE_FAULT, "invalid atomic of 8 bytes in __shared__ memory", "" },
	{ "========= ERROR SUMMARY: 1 error", WS_LOG_SANITIZER, 0, WS_LOG_ROLE_FAULT, NULL, "" },
	{ WATCHDOG("3"), WS_LOG_WATCHDOG, 0, WS_LOG_ROLE_WAIT,
	  "ALLREDUCE, number 8, not done after 600 s", "rank 3" },
	{ "x's watchdog got stuck for 480 seconds", WS_LOG_WATCHDOG, 1, WS_LOG_ROLE_WAIT, NULL,
	  "" },
	{ "we are taking the entire process down.", WS_LOG_WATCHDOG, 2, WS_LOG_ROLE_AFTER, NULL,
	  "" },
	{ "NCCL error in: x.hpp:2, unhandled cuda error", WS_LOG_NCCL, 2, WS_LOG_ROLE_UNKNOWN, NULL,
	  "" },
	{ "h:1:2 [0] NCCL WARN Call to recv from x failed", WS_LOG_NCCL, 1, WS_LOG_ROLE_WAIT, NULL,
	  "" },
	{ "Memory access fault by GPU node-1", WS_LOG_AMD, 0, WS_LOG_ROLE_FAULT, NULL, "" },
};

static void a_line_tells_its_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(lines); i++) {
		const struct ws_log_result *result;
		struct ws_log *log = judge(lines[i].line, &result);
		if (result->n_rows != 1)
			fail_msg("%s: %u rows", lines[i].line, (unsigned)result->n_rows);
		const struct ws_log_row *row = &result->rows[0];
		if (row->kind != lines[i].kind || row->code != lines[i].code ||
		    row->role != lines[i].role)
			fail_msg("%s: %s", lines[i].line, row->what);
		assert_string_equal(row->detail ? row->detail : "-",
				    lines[i].detail ? lines[i].detail : "-");
		assert_string_equal(row->who, lines[i].who);
		assert_int_equal(row->line, 1);
		assert_int_equal(row->count, 1);
		ws_log_destroy(log);
	}
}

static void other_lines_tell_nothing(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"\n\n",
		"NVRM: Xid (PCI:0000:18",
		"NVRM: Xid (PCI:0000:18:00) 31",
		"Assertion `x' failed.",
		"x.c:3: f: Assertion `x` failed.",
		"runtime error: load of misaligned address 0x1 for type",
		"std::bad_alloc: out of memory",
		"x.cu:75: CUDA error\nGGML_ASSERT: !\"CUDA error\"\nno CUDA errors",
		"cudaErrorNotReady CUDA_ERROR_NOT_READY cudaError_t cudaErrorHandler",
		"CUBLAS_STATUS_SUCCESS",
		"========= ERROR SUMMARY: 0 errors",
		"========= COMPUTE-SANITIZER",
		"NCCL WARN something harmless",
		"CUDA_EXCEPTION_ CUDA_EXCEPTION_99 CUDBG_EXCEPTION_NONE",
		"Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
	};
	for (size_t i = 0; i < WSI_COUNT(texts); i++) {
		const struct ws_log_result *result;
		struct ws_log *log = judge(texts[i], &result);
		if (result->n_rows || result->verdict != WS_LOG_NOTHING)
			fail_msg("%s: %s", texts[i], result->sentence);
		ws_log_destroy(log);
	}
}

/* What comes first, by the code of its row; files are a, b and c. */
static const struct {
	const char *texts;
	enum ws_log_kind kind;
	uint32_t code;
	enum ws_log_verdict verdict;
} orders[] = {
	/* of one file: in the order of its lines, but consequences do not count */
	{ XID("45") "\n" XID("31") "\n" XID("13"), WS_LOG_XID, 31, WS_LOG_FAILED },
	{ XID("63") "\n" XID("43"), WS_LOG_XID, 43, WS_LOG_CANNOT_TELL },
	{ WATCHDOG("0") "\nCUDA error 700", WS_LOG_WATCHDOG, 0, WS_LOG_HANGS },
	{ "CUDA error 700\n" WATCHDOG("0"), WS_LOG_CUDA, 700, WS_LOG_FAILED },
	{ "CUDA error 2\nCUDA error 700", WS_LOG_CUDA, 700, WS_LOG_FAILED },
	{ "CUDA error 2\n" WATCHDOG("0"), WS_LOG_CUDA, 2, WS_LOG_FAILED },
	{ "{\"log\":\"CUDA error 700\\n\"} {\"log\":\"" XID("31") "\\n\"}", WS_LOG_CUDA, 700,
	  WS_LOG_FAILED },
	/* of two: by times */
	{ "2025-05-01 10:00:01 CUDA error 700|" H XID("31"), WS_LOG_XID, 31, WS_LOG_FAILED },
	{ "2025-05-01T09:59:59.5 CUDA error 700|" H XID("31"), WS_LOG_CUDA, 700, WS_LOG_FAILED },
	{ "[E501 09:59:59.5 x] CUDA error 700|" H XID("31"), WS_LOG_CUDA, 700, WS_LOG_FAILED },
	{ H XID("31") "|May  1 09:00:00 h " XID("31") "|[E430 23:00:00.0 x] CUDA error 700",
	  WS_LOG_CUDA, 700, WS_LOG_FAILED },
	{ "[E501 11:00:00.0 x] CUDA error 700|[E501 10:00:00.0 x] " WATCHDOG("1"), WS_LOG_WATCHDOG,
	  0, WS_LOG_HANGS },
	/* of two without: by what they are */
	{ "CUDA error 700|[86400.1] " XID("31"), WS_LOG_XID, 31, WS_LOG_FAILED },
	{ WATCHDOG("1") "|CUDA error 700", WS_LOG_CUDA, 700, WS_LOG_FAILED },
};

static void the_first_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(orders); i++) {
		const struct ws_log_result *result;
		struct ws_log *log = judge(orders[i].texts, &result);
		assert_true(result->n_rows > 0);
		if (result->rows[0].kind != orders[i].kind ||
		    result->rows[0].code != orders[i].code || result->verdict != orders[i].verdict)
			fail_msg("%s: %s", orders[i].texts, result->sentence);
		assert_int_equal(result->n_doubts > 0, strchr(orders[i].texts, '|') != NULL);
		ws_log_destroy(log);
	}
}

static void lines_are_counted_once_and_by_rank(void **state)
{
	(void)state;
	const struct ws_log_result *result;
	struct ws_log *log = judge(
		"\nx\n" WATCHDOG("0") "\r" WATCHDOG("0") "\n" WATCHDOG(
			"2") "\n"
			     "CUDA error 700 cudaErrorIllegalAddress, an illegal memory access "
			     "was encountered\nCUDA error 700",
		&result);
	assert_int_equal(result->n_lines, 6);
	assert_int_equal(result->n_rows, 2);
	assert_int_equal(result->rows[0].line, 3);
	assert_int_equal(result->rows[0].count, 2);
	assert_string_equal(result->rows[0].who, "ranks 0,2");
	assert_int_equal(result->rows[1].line, 5);
	assert_int_equal(result->rows[1].count, 2);
	assert_int_equal(result->n_doubts, 1);
	assert_non_null(strstr(result->doubts[0], "by rank 1:"));
	ws_log_destroy(log);
}

/* Wherever a line stands in a log of 17 MiB, which is read in parts. */
static void a_line_at_the_end_of_a_part_is_found(void **state)
{
	(void)state;
	static const char line[] = "\n" H XID("79, pid=1, GPU has fallen off the bus.") "\n";
	const size_t size = (size_t)17 << 20, part = (size_t)16 << 20;
	char *text = wsi_zalloc(size);
	assert_non_null(text);
	for (size_t before = 0; before <= sizeof line; before += 5) {
		struct ws_log *log;
		const struct ws_log_result *result;
		memset(text, before % 2 ? ' ' : '\n', size);
		memcpy(text + part - before, line, sizeof line - 1);
		assert_int_equal(ws_log_create(&log, NULL), WS_OK);
		assert_int_equal(ws_log_take(log, "x", text, size, NULL), WS_OK);
		assert_int_equal(ws_log_judge(log, &result, NULL), WS_OK);
		assert_int_equal(result->n_rows, 1);
		assert_int_equal(result->rows[0].count, 1);
		assert_string_equal(result->rows[0].who, "GPU 0000:18:00 on h, process 1");
		assert_int_equal(result->rows[0].line, before % 2 ? 2 : part - before + 2);
		ws_log_destroy(log);
	}
	wsi_free(text);
}

static void too_many_kinds_are_counted(void **state)
{
	(void)state;
	struct ws_log *log;
	const struct ws_log_result *result;
	char text[300 * 60];
	size_t len = 0;
	for (unsigned i = 1; i <= 300; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, XID("%u, x\n"), i);
	assert_int_equal(ws_log_create(&log, NULL), WS_OK);
	assert_int_equal(ws_log_take(log, "x", text, len, NULL), WS_OK);
	assert_int_equal(ws_log_judge(log, &result, NULL), WS_OK);
	assert_int_equal(result->n_rows, 256);
	assert_int_equal(result->n_more, 44);
	ws_log_destroy(log);
}

static void errors_of_cuda_have_the_names_of_the_driver(void **state)
{
	(void)state;
	static const struct {
		uint32_t number;
		const char *name;
	} driver[] = {
#define X(number, name, words) { number, #name },
		WS_CUDA_RESULT_LIST(X)
#undef X
	}, runtime[] = {
#define X(number, name, words) { number, #name },
		RT_RESULT_LIST(X)
#undef X
	};
	const struct wsi_cuda_error *one;
	for (size_t i = 0; (one = wsi_log_cuda_error_at(i)); i++) {
		bool known = !one->driver;
		assert_ptr_equal(wsi_log_cuda_error_find(one->topic.code), one);
		for (size_t j = 0; j < WSI_COUNT(driver) && one->driver; j++) {
			known |= strcmp(driver[j].name, one->driver) == 0;
			if (driver[j].number == one->topic.code)
				assert_string_equal(driver[j].name, one->driver);
		}
		for (size_t j = 0; j < WSI_COUNT(runtime); j++)
			if (runtime[j].number == one->topic.code)
				assert_string_equal(runtime[j].name, one->runtime);
		if (!known)
			fail_msg("%s is no name of the driver", one->driver);
	}
}

/* Sentences end where the page puts the full stop. */
static void check_text(const char *text)
{
	if (text && (!*text || text[strlen(text) - 1] == '.'))
		fail_msg("%s", text);
}

static void texts_have_no_full_stop_at_the_end(void **state)
{
	(void)state;
	const struct wsi_cuda_error *one;
	for (uint64_t i = 0; i < 1000; i++) {
		const struct wsi_log_topic *topic = wsi_xid_topic(i);
		check_text(topic->title);
		check_text(topic->means);
		check_text(topic->cannot);
	}
	for (size_t i = 0; (one = wsi_log_cuda_error_at(i)); i++) {
		check_text(one->topic.means);
		check_text(one->topic.cannot);
	}
	for (int kind = 0; kind <= WS_LOG_AMD; kind++)
		for (uint32_t code = 0; code < 5; code++) {
			check_text(wsi_other_topic((enum ws_log_kind)kind, code)->means);
			check_text(wsi_other_topic((enum ws_log_kind)kind, code)->cannot);
		}
}

static bool out;
static size_t turn, wanted;

static bool fails_once(void)
{
	out |= turn == wanted;
	return turn++ == wanted;
}

static void no_memory_is_told(void **state)
{
	(void)state;
	static const char text[] =
		WATCHDOG("0") "\n" XID("13, x") "\n" H XID("31") "\nCUDA error 2";
	for (wanted = 0, out = true; out; wanted++) {
		struct ws_log *log = NULL;
		const struct ws_log_result *result;
		turn = 0;
		out = false;
		wsi_alloc_should_fail = fails_once;
		enum ws_status st = ws_log_create(&log, NULL);
		if (st == WS_OK)
			st = ws_log_take(log, "x", text, sizeof text - 1, NULL);
		if (st == WS_OK)
			st = ws_log_judge(log, &result, NULL);
		wsi_alloc_should_fail = NULL;
		ws_log_destroy(log);
		assert_int_equal(st, out ? WS_NO_MEMORY : WS_OK);
	}
	assert_true(wanted > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_tells_its_kind),
		cmocka_unit_test(other_lines_tell_nothing),
		cmocka_unit_test(the_first_is_named),
		cmocka_unit_test(lines_are_counted_once_and_by_rank),
		cmocka_unit_test(a_line_at_the_end_of_a_part_is_found),
		cmocka_unit_test(too_many_kinds_are_counted),
		cmocka_unit_test(errors_of_cuda_have_the_names_of_the_driver),
		cmocka_unit_test(texts_have_no_full_stop_at_the_end),
		cmocka_unit_test(no_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
