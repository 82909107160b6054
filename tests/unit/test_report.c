/* SPDX-License-Identifier: Apache-2.0 */
/* src/report: whom faults are attributed to, focus, groups, stacks, user frames, sources. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/cubin.h>
#include <warpscope/exception.h>
#include <warpscope/flow.h>
#include <warpscope/report.h>

#include "base/file.h"
#include "report/build.h"
#include "report/library.h"
#include "target/fake.h"

static const struct ws_report *report_of(const struct fake *fake)
{
	const struct ws_report *report = NULL;
	assert_int_equal(ws_report_create(&fake->target, NULL, &report, NULL), WS_OK);
	return report;
}

/* The images that were opened for it are the target's. */
static void done(struct fake *fake, const struct ws_report *report)
{
	ws_report_destroy(report);
	ws_target_close(&fake->target);
}

/* ---- attribution ---- */

static void exception_of_a_lane_is_that_lanes(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 3, 1, 32);
	fake.lane[1][3].exception = fake.lane[1][7].exception = 14;
	fake.warp[1].error_pc_valid = true;
	fake.warp[1].error_pc = 0xff0;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_FAULT);
	assert_int_equal(report->n_exceptions, 1);
	const struct ws_report_exception *e = report->focus;
	assert_int_equal(e->blame, WS_BLAME_LANE);
	assert_int_equal(e->code, 14);
	assert_string_equal(e->cuda_gdb, "CUDA_EXCEPTION_14");
	assert_int_equal(e->at.sm, 1);
	assert_int_equal(e->at.lane, 3);
	assert_int_equal(e->n_lanes, 2);
	assert_int_equal(e->lanes_blamed, 0x88);
	assert_int_equal(e->errorpc, 0xff0);
	assert_int_equal(e->pc, 0x1000);
	done(&fake, report);
}

static void exception_of_an_sm_makes_active_lanes_suspects(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 2, 1, 8);
	fake.sm[1].exception = 6;
	fake.warp[1].error_pc_valid = true;
	fake.warp[1].active_lanes = 0xf0;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 1);
	assert_int_equal(report->focus->blame, WS_BLAME_SUSPECT);
	assert_int_equal(report->focus->at.lane, 4);
	assert_int_equal(report->focus->n_lanes, 4);
	done(&fake, report);
}

static void exception_of_an_sm_without_a_warp_to_blame_stands_alone(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 2, 1, 8);
	fake.sm[1].exception = 5;
	fake.sm[1].error_pc_valid = true;
	fake.sm[1].error_pc = 0x2000;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 1);
	const struct ws_report_exception *e = report->focus;
	assert_int_equal(e->blame, WS_BLAME_SM);
	assert_int_equal(e->at.warp, WS_NONE);
	assert_int_equal(e->at.lane, WS_NONE);
	assert_int_equal(e->kernel, WS_NONE);
	assert_int_equal(e->pc_status, WS_ABSENT);
	assert_int_equal(e->errorpc, 0x2000);
	done(&fake, report);
}

static void the_headline_counts_the_other_sms_of_an_exception(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 3; n++) {
		struct fake fake;
		char text[40];
		fake_init(&fake, 3, 1, 8);
		for (uint32_t i = 0; i < n; i++) {
			fake.sm[i].exception = 5;
			fake.sm[i].error_pc_valid = true;
			fake.sm[i].error_pc = 0x2000;
		}
		const struct ws_report *report = report_of(&fake);
		assert_int_equal(report->n_exceptions, 1);
		assert_int_equal(report->focus->n_sms, n);
		assert_true(wsi_format(text, "SM 0 and %u more;", n - 1));
		assert_non_null(strstr(report->summary, n > 1 ? text : "SM 0;"));
		done(&fake, report);
	}
}

static void exception_that_a_lane_carries_is_not_also_its_neighbours(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 2, 1, 4);
	fake.target.counts.sms = 1; /* both warps on SM 0 */
	fake.sm[0].n_warps = 2;
	fake.sm[0].exception = 14;
	fake.warp[1].sm_index = fake.block[1].sm_index = 0;
	fake.warp[1].id = 1;
	fake.warp[0].error_pc_valid = fake.warp[1].error_pc_valid = true;
	fake.lane[1][2].exception = 14;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 1);
	assert_int_equal(report->focus->at.warp, 1);
	assert_int_equal(report->focus->n_lanes, 1);
	done(&fake, report);
}

static void trap_is_told_only_without_an_exception(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 2, 1, 4);
	fake.warp[1].broken = true;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_FAULT);
	assert_int_equal(report->focus->blame, WS_BLAME_TRAP);
	assert_null(report->focus->name);
	assert_int_equal(report->groups[0].state, WS_THREAD_TRAPPED);
	ws_report_destroy(report);

	fake.lane[0][0].exception = 12;
	report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 1);
	assert_int_equal(report->focus->code, 12);
	done(&fake, report);
}

static void equal_faults_at_one_instruction_are_one_entry(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 4, 1, 2);
	for (uint32_t i = 0; i < 4; i++) {
		fake.lane[i][0].exception = i == 3 ? 6 : 14;
		fake.warp[i].error_pc_valid = true;
		fake.warp[i].error_pc = 0x1230;
	}
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 2);
	assert_int_equal(report->exceptions[0].n_warps, 3);
	assert_int_equal(report->exceptions[0].n_sms, 3);
	assert_int_equal(report->exceptions[0].at.sm, 0);
	assert_int_equal(report->exceptions[1].code, 6);
	done(&fake, report);
}

static void unknown_code_is_shown_with_its_number(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 1, 1, 1);
	fake.lane[0][0].exception = 4711;
	const struct ws_report *report = report_of(&fake);
	assert_null(report->focus->kind);
	assert_string_equal(report->focus->label, "exception 4711 (not known to this version)");
	done(&fake, report);
}

/* ---- no exception ---- */

static void calm_focus_is_the_lowest_block_of_the_lowest_grid(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 4, 1, 2);
	fake.grid[0].context_index = fake.grid[0].module_index = 0;
	fake.target.counts.grids = 2;
	fake.grid[1] = fake.grid[0];
	fake.grid[0].id = 9;
	fake.grid[1].id = 5;
	fake.block[2].grid_index = fake.block[3].grid_index = 1;
	fake.block[2].idx = (struct ws_dim3){ 0, 1, 0 };
	fake.block[3].idx = (struct ws_dim3){ 7, 0, 0 };
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_NONE);
	assert_int_equal(report->n_exceptions, 0);
	assert_int_equal(report->focus->blame, WS_BLAME_NOBODY);
	assert_int_equal(report->focus->at.sm, 3);
	assert_int_equal(report->kernels[report->focus->kernel].grid.id, 5);
	done(&fake, report);
}

static void warps_at_barriers_make_a_hang_suspicious(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 3, 1, 2);
	fake.grid[0].context_index = fake.grid[0].module_index = 0;
	for (uint32_t i = 0; i < 3; i++)
		fake.warp[i].have |= WS_WARP_BARRIER;
	fake.warp[0].barrier_scope = 3;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_NONE);
	ws_report_destroy(report);
	fake.warp[1].barrier_scope = 3;
	report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_HANG);
	assert_int_equal(report->n_barrier_warps, 2);
	done(&fake, report);
}

static void cut_dump_without_an_exception_says_nothing(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 1, 1, 1);
	fake.grid[0].context_index = fake.grid[0].module_index = 0;
	fake.has_facts = true;
	fake.facts.path = "x";
	fake.n_diagnostics = 1;
	fake.diagnostics[0] = (struct ws_diagnostic){ "section", 7, 0, "cut", WS_HIDES_FAULT };
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_UNKNOWN);
	assert_int_equal(report->n_diagnostics, 1);
	ws_report_destroy(report);
	fake.n_diagnostics = 0;
	fake.facts.complete = true;
	report = report_of(&fake);
	assert_int_equal(report->verdict, WS_VERDICT_NONE);
	done(&fake, report);
}

/* What a report without an exception says: of a dump or of a device, of what is lost. */
static void a_report_without_a_fault_says_how_sure_that_is(void **state)
{
	(void)state;
	static const struct {
		bool is_dump;
		uint32_t n_warps;
		enum ws_hides hides;
		const char *summary;
	} rows[] = {
		{ true, 1, WS_HIDES_NOTHING, "No fault in this dump; 1 warp is resident" },
		{ true, 2, WS_HIDES_NOTHING, "No fault in this dump; 2 warps are resident" },
		{ true, 0, WS_HIDES_NOTHING, "No fault in this dump; no thread is resident" },
		{ false, 2, WS_HIDES_NOTHING, "No fault on any device; 2 warps are resident" },
		{ true, 2, WS_HIDES_HANG,
		  "No exception in this dump; cannot tell whether it hangs: cut" },
		{ true, 0, WS_HIDES_HANG, "No fault in this dump; no thread is resident" },
		{ true, 2, WS_HIDES_FAULT, "Cannot tell whether this dump holds a fault: cut" },
		{ true, 0, WS_HIDES_FAULT, "Cannot tell whether this dump holds a fault: cut" },
	};
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct fake fake;
		fake_init(&fake, 2, 1, 1);
		fake.grid[0].context_index = fake.grid[0].module_index = 0;
		fake.has_facts = rows[i].is_dump;
		fake.facts.complete = true;
		fake.facts.path = "x";
		fake.n_diagnostics = rows[i].hides != WS_HIDES_NOTHING;
		fake.diagnostics[0] =
			(struct ws_diagnostic){ "section", 7, 0, "cut", rows[i].hides };
		fake.target.counts.warps = fake.target.counts.blocks = rows[i].n_warps;
		for (uint32_t sm = rows[i].n_warps; sm < 2; sm++)
			fake.sm[sm].n_warps = 0;
		const struct ws_report *report = report_of(&fake);
		assert_string_equal(report->summary, rows[i].summary);
		size_t head = strcspn(rows[i].summary, strchr(rows[i].summary, ':') ? ":" : ";");
		if (rows[i].hides == WS_HIDES_HANG && rows[i].n_warps)
			head = strlen(rows[i].summary) - strlen(": cut");
		assert_int_equal(report->summary_head, head);
		done(&fake, report);
	}
	struct fake fake;
	fake_init(&fake, 1, 1, 1);
	fake.has_facts = fake.facts.complete = true;
	fake.facts.path = "x";
	fake.target.counts.warps = fake.target.counts.blocks = fake.target.counts.sms = 0;
	const struct ws_report *report = report_of(&fake);
	assert_string_equal(report->summary,
			    "Cannot tell whether this dump holds a fault: it holds no GPU state");
	done(&fake, report);
}

/* Where the block of a thread is not known, its warp is told. */
static void a_fault_in_an_unknown_block_has_its_warp(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct fake fake;
		fake_init(&fake, 2, 1, 8);
		fake.lane[1][5].exception = 14;
		if (!known)
			fake.warp[1].block_index = WS_NONE;
		const struct ws_report *report = report_of(&fake);
		assert_non_null(
			strstr(report->summary, known ? "; device 0, block (1,0,0), thread"
						      : "; device 0, SM 1, warp 0, thread"));
		done(&fake, report);
	}
}

static void unreadable_warps_cost_only_themselves(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 4, 1, 4);
	fake.warp_status[0] = WS_TRUNCATED;
	fake.lanes_status[1] = fake.lanes_status[2] = WS_MALFORMED;
	fake.sm[2].exception = 14;
	fake.warp[2].error_pc_valid = true;
	fake.grid[0].context_index = fake.grid[0].module_index = 0;
	const struct ws_report *report = report_of(&fake);
	assert_int_equal(report->n_exceptions, 1);
	assert_int_equal(report->focus->at.sm, 2);
	assert_int_equal(report->focus->at.lane, WS_NONE);
	assert_int_equal(report->n_diagnostics, 2);
	assert_int_equal(report->diagnostics[0].file_off, 0x123);
	assert_int_equal(report->diagnostics[1].repeats, 1);
	assert_int_equal(report->n_groups, 1);
	assert_int_equal(report->groups[0].n_lanes, 4);
	done(&fake, report);
}

/* ---- groups ---- */

static void groups_hold_every_thread_once(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 2, 1, 8);
	fake.warp[0].active_lanes = 0x0f;
	fake.lane[1][0].pc = 0x2000;
	fake.lane[1][1].id = 0;  /* twice the same lane: the first counts */
	fake.lane[1][2].id = 40; /* no lane */
	fake.warp[1].valid_lanes = 0x7f;
	const struct ws_report *report = report_of(&fake);
	static const struct {
		uint64_t pc, n_lanes, n_warps;
		enum ws_thread_state state;
	} rows[] = {
		{ 0x1000, 8, 2, WS_THREAD_ACTIVE },
		{ 0x1000, 4, 1, WS_THREAD_DIVERGENT },
		{ 0x2000, 1, 1, WS_THREAD_ACTIVE },
	};
	assert_int_equal(report->n_groups, WSI_COUNT(rows));
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		assert_int_equal(report->groups[i].pc, rows[i].pc);
		assert_int_equal(report->groups[i].n_lanes, rows[i].n_lanes);
		assert_int_equal(report->groups[i].n_warps, rows[i].n_warps);
		assert_int_equal(report->groups[i].state, rows[i].state);
	}
	done(&fake, report);
}

/* ---- stacks: over a relocated image of calls.cu, checksum -> fold -> sum_row -> read_word ---- */

struct code {
	struct wsi_file file;
	struct fake fake;
	uint64_t checksum, fold, sum_row, read_word;
};

static uint64_t address_of(struct ws_cubin *cubin, const char *name)
{
	const struct ws_function *function;
	assert_int_equal(ws_cubin_find_function(cubin, ws_str_of(name), &function, NULL), WS_OK);
	assert_true(function->gpu_va != 0);
	return function->gpu_va;
}

/* A thread in read_word() with three callers, each at +0x40 of its function. */
static void code_fake(struct code *code)
{
	struct fake *fake = &code->fake;
	fake_init(fake, 1, 1, 1);
	fake->target.counts.modules = fake->target.counts.contexts = 1;
	fake->module[0] = (struct ws_module){ .context_index = WS_NONE,
					      .original_status = WS_ABSENT,
					      .relocated = code->file.bytes };
	fake->grid[0].module_index = 0;
	fake->grid[0].function_entry = code->checksum;
	fake->lane[0][0].exception = 14;
	fake->lane[0][0].pc = code->read_word + 0x50;
	fake->warp[0].error_pc_valid = true;
	fake->warp[0].error_pc = code->read_word + 0x40;
	fake->n_callers[0][0] = 3;
	fake->callers[0].address = code->sum_row + 0x40;
	fake->callers[1].address = code->fold + 0x40;
	fake->callers[2].address = code->checksum + 0x40;
}

static void code_init(struct code *code)
{
	char path[4096];
	assert_true(wsi_format(path, "%s/calls.G.sm_90.both.cubin", getenv("WS_TEST_BUILT")));
	assert_int_equal(wsi_file_open(path, &code->file, NULL), WS_OK);
	struct ws_cubin *cubin;
	assert_int_equal(ws_cubin_open(code->file.bytes, &cubin, NULL), WS_OK);
	code->checksum = address_of(cubin, "_Z8checksumPKciiPi");
	code->fold = address_of(cubin, "_Z4fold6Cursori");
	code->sum_row = address_of(cubin, "_Z7sum_row6Cursori");
	code->read_word = address_of(cubin, "_Z9read_wordPKc");
	ws_cubin_close(cubin);
	code_fake(code);
}

static void assert_stack(const struct ws_report_exception *e, const char *const *names, uint32_t n)
{
	assert_int_equal(e->n_frames, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(e->frames[i].level, i);
		assert_true(ws_str_equal(e->frames[i].function_short, ws_str_of(names[i])));
	}
}

static void map_shows_each_warp_by_its_worst_thread(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 4, 1, 8);
	fake.lane[1][5].exception = 14;
	fake.warp[2].have |= WS_WARP_BARRIER;
	fake.warp[2].barrier_scope = 1;
	fake.warp_status[3] = WS_TRUNCATED;
	fake.grid[0].block_dim = (struct ws_dim3){ 8, 4, 1 };
	for (uint32_t i = 0; i < 8; i++)
		fake.lane[2][i].thread.y = 3;
	const struct ws_report *report = report_of(&fake);
	const struct ws_report_map *map = &report->map;
	assert_int_equal(map->n_sms, 4);
	assert_int_equal(map->n_warps, 4);
	assert_int_equal(map->n_blocks, 4);
	assert_int_equal(map->warps[0].state, WS_THREAD_ACTIVE);
	assert_int_equal(map->warps[1].state, WS_THREAD_FAULTED);
	assert_int_equal(map->warps[1].exception, 14);
	assert_int_equal(map->warps[1].lanes_faulted, 1u << 5);
	assert_int_equal(report->groups[map->warps[1].group].state, WS_THREAD_FAULTED);
	assert_int_equal(map->warps[2].state, WS_THREAD_BARRIER);
	assert_int_equal(map->warps[2].first_thread, 24);
	assert_int_equal(report->groups[map->warps[2].group].state, WS_THREAD_BARRIER);
	assert_false(map->warps[3].known);
	assert_int_equal(map->blocks[map->warps[2].block].idx.x, 2);
	done(&fake, report);
}

static void callers_follow_the_error_pc(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	const struct ws_report *report = report_of(&code.fake);
	static const char *const names[] = { "read_word", "sum_row", "fold", "checksum" };
	assert_stack(report->focus, names, 4);
	assert_true(report->focus->frames[1].caller);
	assert_int_equal(report->focus->frames[1].rel_pc, 0x40);
	assert_int_equal(report->focus->pc_frames_from, WS_NONE);
	assert_true(ws_str_equal(report->kernels[0].name_short, ws_str_of("checksum")));
	done(&code.fake, report);
	wsi_file_close(&code.file);
}

/* The warp went on into a call: the frames between pc and errorpc's function are not errorpc's. */
static void pc_in_a_callee_of_the_faulting_function_leaves_one_stack(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	code.fake.warp[0].error_pc = code.fold + 0x30;
	const struct ws_report *report = report_of(&code.fake);
	static const char *const names[] = { "fold", "checksum" };
	assert_stack(report->focus, names, 2);
	assert_int_equal(report->focus->pc_frames_from, WS_NONE);
	done(&code.fake, report);
	wsi_file_close(&code.file);
}

/* The warp returned before it stopped. */
static void pc_in_a_caller_of_the_faulting_function_is_marked(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	code.fake.lane[0][0].pc = code.sum_row + 0x50;
	code.fake.callers[0].address = code.fold + 0x40;
	code.fake.callers[1].address = code.checksum + 0x40;
	code.fake.n_callers[0][0] = 2;
	const struct ws_report *report = report_of(&code.fake);
	static const char *const names[] = { "read_word", "sum_row", "fold", "checksum" };
	assert_stack(report->focus, names, 4);
	assert_int_equal(report->focus->pc_frames_from, 1);
	done(&code.fake, report);
	wsi_file_close(&code.file);
}

static void error_pc_outside_all_code_gives_way_to_the_pc(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	code.fake.warp[0].error_pc = 0x10;
	const struct ws_report *report = report_of(&code.fake);
	static const char *const names[] = { "read_word", "sum_row", "fold", "checksum" };
	assert_stack(report->focus, names, 4);
	assert_int_equal(report->focus->errorpc, 0x10);
	assert_int_equal(report->focus->frames[0].pc, code.read_word + 0x50);
	done(&code.fake, report);
	wsi_file_close(&code.file);
}

static void lone_sm_finds_its_kernel_by_the_code(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	code.fake.target.counts.warps = code.fake.target.counts.blocks = code.fake.sm[0].n_warps =
		0;
	code.fake.sm[0].exception = 14;
	code.fake.sm[0].error_pc_valid = true;
	code.fake.sm[0].error_pc = code.checksum + 0x20;
	const struct ws_report *report = report_of(&code.fake);
	assert_int_equal(report->focus->blame, WS_BLAME_SM);
	assert_int_equal(report->focus->kernel, 0);
	done(&code.fake, report);
	wsi_file_close(&code.file);
}

/* ---- sources ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void sources_are_found_by_map_then_by_folder(void **state)
{
	(void)state;
	struct code code;
	code_init(&code);
	char folder[] = "/tmp/ws-test-XXXXXX", path[100], text[200] = "";
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 60; i++)
		text[i] = '\n';
	assert_true(wsi_format(path, "%s/calls.cu", folder));
	write_file(path, text);

	const char *dirs[] = { folder };
	const struct ws_source_map maps[] = { { "/src/ws/tests/kernels/", folder },
					      { "/src/w", "/nowhere" } };
	struct ws_report_options options = { .size = sizeof options, .source_dirs = dirs };
	for (int by_map = 0; by_map < 2; by_map++) {
		const struct ws_report *report;
		options.n_source_dirs = !by_map;
		options.source_maps = by_map ? maps : NULL;
		options.n_source_maps = by_map ? 2 : 0;
		assert_int_equal(ws_report_create(&code.fake.target, &options, &report, NULL),
				 WS_OK);
		const struct ws_report_source *source = &report->focus->frames[0].source;
		assert_int_equal(source->status, WS_OK);
		assert_int_equal(source->first_line, report->focus->frames[0].line - 2);
		assert_int_equal(source->n_lines, 5);
		/* the path as recorded comes before folders, and may exist here */
		if (by_map || access("/src/ws/tests/kernels/calls.cu", F_OK) != 0) {
			assert_string_equal(source->path, path);
			assert_true(source->changed); /* 60 bytes are not what was compiled */
		}
		ws_report_destroy(report);
	}
	options.no_source = true;
	const struct ws_report *report;
	assert_int_equal(ws_report_create(&code.fake.target, &options, &report, NULL), WS_OK);
	assert_int_equal(report->focus->frames[0].source.status, WS_ABSENT);
	done(&code.fake, report);
	unlink(path);
	rmdir(folder);
	wsi_file_close(&code.file);
}

static void library_paths_are_told_from_the_users(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		bool library;
	} rows[] = {
		{ "/usr/local/cuda/include/cuda_fp16.hpp", true },
		{ "/usr/local/cuda-13.0/include/x.h", true },
		{ "/usr/local/cuda-13.0/targets/x86_64-linux/include/cub/a.cuh", true },
		{ "/w/cutlass/include/cute/atom/copy.hpp", true },
		{ "include/cute/copy.hpp", true },
		{ "/venv/nvidia/cu13/include/x.h", true },
		{ "/w/include/cuda/std/__type_traits/x.h", true },
		{ "/home/me/cub/main.cu", false },
		{ "/home/me/include/cute", false }, /* a file of that name */
		{ "/home/me/xinclude/cute/a.h", false },
		{ "main.cu", false },
		{ "", false },
	};
	for (size_t i = 0; i < WSI_COUNT(rows); i++)
		assert_int_equal(wsi_library_path(ws_str_of(rows[i].path)), rows[i].library);
}

static void file_names_have_no_folder(void **state)
{
	(void)state;
	static const char *const paths[] = { "main.cu", "/main.cu", "a/main.cu", "/a/b/main.cu" };
	for (size_t i = 0; i < WSI_COUNT(paths); i++)
		assert_true(ws_str_equal(wsi_report_file_name(ws_str_of(paths[i])),
					 ws_str_of("main.cu")));
}

/* ---- failures ---- */

static int allocations_left;

static bool fail_when_used_up(void)
{
	return allocations_left-- <= 0;
}

static bool take_nothing(void *user, const char *bytes, size_t len)
{
	(void)user;
	(void)bytes;
	(void)len;
	return true;
}

static void every_failed_allocation_is_told(void **state)
{
	(void)state;
	struct code code;
	struct ws_out out;
	code_init(&code);
	ws_target_close(&code.fake.target);
	ws_out_init(&out, take_nothing, NULL);
	enum ws_status st = WS_NO_MEMORY;
	for (int n = 0; st != WS_OK && n < 10000; n++) {
		const struct ws_report *report = NULL;
		code_fake(&code);
		code.fake.has_facts = true;
		code.fake.facts.path = "x";
		code.fake.grid[0].grid_dim = (struct ws_dim3){ 4, 1, 1 };
		allocations_left = n;
		wsi_alloc_should_fail = fail_when_used_up;
		st = ws_report_create(&code.fake.target, NULL, &report, NULL);
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
		if (st == WS_OK)
			st = ws_report_html(report, NULL, &out, NULL);
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
		wsi_alloc_should_fail = NULL;
		done(&code.fake, report);
	}
	assert_int_equal(st, WS_OK);
	wsi_file_close(&code.file);
}

static void options_of_another_version_are_refused(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 1, 1, 1);
	struct ws_report_options options = { .size = 3 };
	const struct ws_report *report;
	assert_int_equal(ws_report_create(&fake.target, &options, &report, NULL), WS_ARGUMENT);
	ws_target_close(&fake.target);
}

/* The first number beyond an enumeration has the word of every other unknown one. */
static void numbers_beyond_an_enumeration_have_one_word(void **state)
{
	(void)state;
#define CHECK(text, last)                                                   \
	assert_string_equal(text((__typeof__(last))((unsigned)(last) + 1)), \
			    text((__typeof__(last))((unsigned)(last) + 100)))
#define X(name, words) last_family = WS_FAMILY_##name;
	unsigned last_family;
	WS_EXCEPTION_FAMILY_LIST(X)
#undef X
	CHECK(ws_exception_family_text, last_family);
	CHECK(ws_flow_test_text, WS_FLOW_TEST_AT_LEAST);
	CHECK(ws_direction_text, WS_DIRECTION_ATOMIC);
	CHECK(ws_space_text, WS_SPACE_GENERIC);
	CHECK(ws_trust_text, WS_TRUST_UNKNOWN);
	CHECK(ws_operand_use_text, WS_USE_GUARD);
	CHECK(ws_owner_kind_text, WS_OWNER_LOADED);
	CHECK(ws_thread_state_text, WS_THREAD_DIVERGENT);
	CHECK(ws_wait_kind_text, WS_WAIT_REGISTERS);
	CHECK(ws_wait_unit_text, WS_WAIT_REGISTERS);
	CHECK(ws_allocation_use_text, WS_ALLOCATION_PARAMETER);
	CHECK(ws_allocation_state_text, WS_ALLOCATION_UNKNOWN);
	CHECK(ws_absentee_state_text, WS_ABSENTEE_NOT_RESIDENT);
#undef CHECK
}

/* In a sentence a name stands between backticks; it has none itself, and an end. */
static void names_in_sentences_are_quoted_and_cut(void **state)
{
	(void)state;
	enum { MOST = 200 };
	struct wsi_arena arena = { 0 };
	struct wsi_build build = { .arena = &arena };
	char name[MOST + 2], wanted[4 * MOST + 8];
	memset(name, 'x', sizeof name);
	for (unsigned len = MOST - 1; len <= MOST + 2; len++) {
		snprintf(wanted, sizeof wanted, "`%.*s%s`", len < MOST ? (int)len : MOST, name,
			 len > MOST ? "..." : "");
		assert_string_equal(wsi_build_name(&build, (struct ws_str){ name, len }), wanted);
	}
	assert_string_equal(wsi_build_name(&build, ws_str_of("a`b`")), "`a\\x60b\\x60`");
	assert_string_equal(wsi_build_name(&build, ws_str_of("")), "``");
	memset(name, '`', sizeof name); /* the longest that it can become */
	const char *quoted = wsi_build_name(&build, (struct ws_str){ name, sizeof name });
	assert_int_equal(strlen(quoted), 4 * MOST + 5);
	assert_string_equal(quoted + 4 * MOST - 3, "\\x60...`");
	wsi_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exception_of_a_lane_is_that_lanes),
		cmocka_unit_test(exception_of_an_sm_makes_active_lanes_suspects),
		cmocka_unit_test(exception_of_an_sm_without_a_warp_to_blame_stands_alone),
		cmocka_unit_test(the_headline_counts_the_other_sms_of_an_exception),
		cmocka_unit_test(exception_that_a_lane_carries_is_not_also_its_neighbours),
		cmocka_unit_test(trap_is_told_only_without_an_exception),
		cmocka_unit_test(equal_faults_at_one_instruction_are_one_entry),
		cmocka_unit_test(unknown_code_is_shown_with_its_number),
		cmocka_unit_test(calm_focus_is_the_lowest_block_of_the_lowest_grid),
		cmocka_unit_test(warps_at_barriers_make_a_hang_suspicious),
		cmocka_unit_test(cut_dump_without_an_exception_says_nothing),
		cmocka_unit_test(a_report_without_a_fault_says_how_sure_that_is),
		cmocka_unit_test(a_fault_in_an_unknown_block_has_its_warp),
		cmocka_unit_test(unreadable_warps_cost_only_themselves),
		cmocka_unit_test(groups_hold_every_thread_once),
		cmocka_unit_test(map_shows_each_warp_by_its_worst_thread),
		cmocka_unit_test(callers_follow_the_error_pc),
		cmocka_unit_test(pc_in_a_callee_of_the_faulting_function_leaves_one_stack),
		cmocka_unit_test(pc_in_a_caller_of_the_faulting_function_is_marked),
		cmocka_unit_test(error_pc_outside_all_code_gives_way_to_the_pc),
		cmocka_unit_test(lone_sm_finds_its_kernel_by_the_code),
		cmocka_unit_test(sources_are_found_by_map_then_by_folder),
		cmocka_unit_test(library_paths_are_told_from_the_users),
		cmocka_unit_test(file_names_have_no_folder),
		cmocka_unit_test(every_failed_allocation_is_told),
		cmocka_unit_test(options_of_another_version_are_refused),
		cmocka_unit_test(numbers_beyond_an_enumeration_have_one_word),
		cmocka_unit_test(names_in_sentences_are_quoted_and_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
