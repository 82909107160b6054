/* SPDX-License-Identifier: Apache-2.0 */
/* write.h: a dump built piece by piece, and one of a target that is no dump. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/write.h>

#include "target/fake.h"

enum { LOCAL_START = 0xfffc00, GLOBAL_START = 0x10000000 };

static char folder[] = "/tmp/ws-write-XXXXXX";
static char path[sizeof folder + 16];

static int folder_make(void **state)
{
	(void)state;
	bool made = mkdtemp(folder) && wsi_format(path, "%s/out.nvcudmp", folder);
	return made ? 0 : -1;
}

static int folder_remove(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder); /* fails when something was left behind */
}

/* ---- a dump with one of everything ---- */

static const uint32_t registers[] = { 1, 0xdeadbeef, 3 };
static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7 };

static enum ws_status memory_write(struct ws_writer *writer, const struct ws_write_memory *where,
				   struct ws_error *err)
{
	struct ws_write_table parent = { 0 };
	struct ws_write_memory at = *where;
	if (where->parent) {
		parent = *where->parent;
		at.parent = &parent;
	}
	enum ws_status st = ws_writer_memory_begin(writer, &at, err);
	parent = (struct ws_write_table){ 0 }; /* need not stay */
	if (st == WS_OK)                       /* in two pieces */
		st = ws_writer_memory_append(writer, bytes, 3, err);
	if (st == WS_OK)
		st = ws_writer_memory_append(writer, bytes + 3, sizeof bytes - 3, err);
	return st == WS_OK ? ws_writer_memory_end(writer, err) : st;
}

static enum ws_status lanes_build(struct ws_writer *writer, const struct ws_write_table *warps,
				  struct ws_error *err)
{
	struct ws_lane lanes[] = { { .id = 0, .pc = 0x1010, .rel_pc = 0x10 },
				   { .id = 5, .pc = 0x1020, .rel_pc = 0x20, .exception = 14 } };
	struct ws_return_address callers[] = { { 0, 0x2000, 0x100 }, { 1, 0x3000, 0x200 } };
	struct ws_write_table table;
	enum ws_status st = ws_writer_lanes(writer, warps, 0, lanes, 2, &table, err);
	struct ws_write_memory local = {
		.space = WS_SPACE_LOCAL, .start = LOCAL_START, .parent = &table, .row = 1
	};
	if (st == WS_OK)
		st = memory_write(writer, &local, err);
	if (st == WS_OK)
		st = ws_writer_words(writer, &table, 1, WS_REG_R, registers, 3, err);
	return st == WS_OK ? ws_writer_frames(writer, &table, 1, callers, 2, err) : st;
}

static enum ws_status sms_build(struct ws_writer *writer, const struct ws_write_table *devices,
				struct ws_error *err)
{
	struct ws_sm sms[] = { { .id = 3 }, { .id = 7, .have = WS_SM_EXCEPTION, .exception = 14 } };
	struct ws_block block = { .grid_id = -2, .idx = { 4, 5, 6 } };
	struct ws_warp warp = {
		.have = WS_WARP_BROKEN, .id = 9, .valid_lanes = 0x21, .active_lanes = 0x20
	};
	struct ws_write_table sm_table, blocks, warps;
	enum ws_status st = ws_writer_sms(writer, devices, 0, sms, 2, &sm_table, err);
	if (st == WS_OK)
		st = ws_writer_blocks(writer, &sm_table, 1, &block, 1, &blocks, err);
	struct ws_write_memory shared = { .space = WS_SPACE_SHARED, .parent = &blocks };
	if (st == WS_OK)
		st = memory_write(writer, &shared, err);
	if (st == WS_OK)
		st = ws_writer_warps(writer, &blocks, 0, &warp, 1, &warps, err);
	if (st == WS_OK)
		st = ws_writer_words(writer, &warps, 0, WS_REG_UR, registers, 2, err);
	return st == WS_OK || st == WS_UNSUPPORTED ? lanes_build(writer, &warps, err) : st;
}

static enum ws_status contexts_build(struct ws_writer *writer, const struct ws_write_table *devices,
				     struct ws_error *err)
{
	struct ws_context context = { .id = 0xc0, .shared_window_base = 0x7f4000000000 };
	struct ws_module module = { .handle = 0x77 };
	struct ws_grid grid = { .id = -2, .context_id = 0xc0, .module_handle = 0x77 };
	struct ws_write_table contexts, cubins, grids;
	enum ws_status st = ws_writer_contexts(writer, devices, 0, 4, &context, 1, &contexts, err);
	if (st == WS_OK)
		st = ws_writer_modules(writer, &contexts, 0, &module, 1, &cubins, err);
	if (st == WS_OK)
		st = ws_writer_image(writer, &cubins, 0, true,
				     (struct ws_span){ bytes, sizeof bytes, 0 }, err);
	if (st == WS_OK)
		st = ws_writer_grids(writer, devices, 0, &grid, 1, &grids, err);
	struct ws_write_memory params = { .space = WS_SPACE_PARAM, .parent = &grids };
	return st == WS_OK ? memory_write(writer, &params, err) : st;
}

static enum ws_status model_write(const struct ws_writer_options *options, bool incomplete,
				  struct ws_error *err)
{
	struct ws_device device = { .id = 4,
				    .name = ws_str_of("A GPU"),
				    .type = ws_str_of("GH100"),
				    .sm_type = ws_str_of("sm_90"),
				    .n_sms = 8,
				    .n_lanes_per_warp = 32 };
	struct ws_write_memory global = { .space = WS_SPACE_GLOBAL, .start = GLOBAL_START };
	struct ws_dump_facts facts = { .have_metadata = true,
				       .generator = ws_str_of("a test"),
				       .driver_major = 590 };
	struct ws_write_table devices;
	struct ws_writer *writer;
	enum ws_status st = ws_writer_open(path, options, &writer, err);
	if (st != WS_OK)
		return st;
	st = memory_write(writer, &global, err);
	if (st == WS_OK)
		st = ws_writer_devices(writer, &device, 1, &devices, err);
	if (st == WS_OK)
		st = contexts_build(writer, &devices, err);
	if (st == WS_OK)
		st = sms_build(writer, &devices, err);
	if (st == WS_OK)
		st = ws_writer_metadata(writer, &facts, err);
	if (incomplete)
		ws_writer_incomplete(writer, WS_HIDES_FAULT);
	if (st == WS_OK || st == WS_UNSUPPORTED)
		st = ws_writer_commit(writer, err);
	ws_writer_close(writer);
	return st;
}

static struct ws_target *core_of(void)
{
	struct ws_target *target = NULL;
	struct ws_error err;
	if (ws_core_open(path, NULL, &target, &err) != WS_OK)
		fail_msg("%s", err.message);
	return target;
}

static void lanes_check(const struct ws_target *target, uint32_t driver)
{
	struct ws_lane lane;
	struct ws_return_address callers[4];
	uint32_t values[8], n = 0;
	assert_int_equal(ws_target_lane(target, 0, 5, &lane, NULL), WS_OK);
	assert_int_equal(lane.exception, 14);
	assert_int_equal(lane.pc, 0x1020);
	assert_int_equal(ws_target_registers(target, 0, 5, WS_REG_R, 0, 8, values, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 3);
	assert_memory_equal(values, registers, sizeof registers);
	assert_int_equal(ws_target_registers(target, 0, WS_NONE, WS_REG_UR, 0, 8, values, &n, NULL),
			 driver < 400 ? WS_ABSENT : WS_OK);
	assert_int_equal(ws_target_call_stack(target, 0, 5, callers, 4, &n, NULL), WS_OK);
	assert_int_equal(n, 2);
	assert_int_equal(callers[1].address, 0x3000);
}

static void memory_check(const struct ws_target *target)
{
	static const enum ws_space spaces[] = { WS_SPACE_GLOBAL, WS_SPACE_SHARED, WS_SPACE_LOCAL,
						WS_SPACE_PARAM };
	for (uint32_t i = 0; i < WSI_COUNT(spaces); i++) {
		struct ws_memory_range range;
		uint8_t got[16];
		size_t n = 0;
		assert_int_equal(ws_target_memory_range(target, i, &range, NULL), WS_OK);
		assert_int_equal(range.space, spaces[i]);
		assert_int_equal(range.size, sizeof bytes);
		struct ws_address at = { .space = range.space,
					 .device_index = WS_NONE,
					 .grid_index = 0,
					 .warp_index = 0,
					 .lane = 5,
					 .address = range.start };
		assert_int_equal(ws_target_read_memory(target, &at, got, sizeof bytes, &n, NULL),
				 WS_OK);
		assert_memory_equal(got, bytes, sizeof bytes);
	}
}

static void every_layout_is_read_as_it_was_built(void **state)
{
	(void)state;
	static const uint32_t drivers[] = { 346, 400, 525, 550, 555, 565, 570, 575, 580, 590, 615 };
	for (size_t i = 0; i < 2 * WSI_COUNT(drivers); i++) {
		struct ws_writer_options options = { .size = sizeof options,
						     .driver = drivers[i / 2],
						     .gzip = i % 2 };
		struct ws_error err;
		struct ws_dump_facts facts;
		struct ws_counts counts;
		struct ws_device device;
		if (model_write(&options, false, &err) != WS_OK)
			fail_msg("r%u: %s", options.driver, err.message);
		struct ws_target *target = core_of();
		assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
		assert_true(facts.complete);
		assert_int_equal(facts.have_metadata, options.driver >= 565);
		ws_target_counts(target, &counts);
		assert_int_equal(counts.warps, 1);
		assert_int_equal(counts.sms, 2);
		assert_int_equal(counts.modules, 1);
		assert_int_equal(ws_target_device(target, 0, &device, NULL), WS_OK);
		assert_int_equal(device.id, 4);
		assert_true(ws_str_equal(device.name, ws_str_of("A GPU")));
		lanes_check(target, options.driver);
		memory_check(target);
		ws_target_close(target);
	}
}

static void an_incomplete_dump_says_so(void **state)
{
	(void)state;
	struct ws_dump_facts facts;
	assert_int_equal(model_write(NULL, true, NULL), WS_OK);
	struct ws_target *target = core_of();
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_false(facts.complete);
	ws_target_close(target);
}

/* ---- wrong use ---- */

static void parents_are_checked(void **state)
{
	(void)state;
	struct ws_device device = { .id = 0 };
	struct ws_sm sm = { .id = 0 };
	struct ws_write_table devices, table = { .kind = 99 };
	static const struct {
		bool as_parent; /* the devices' table, else one that is none */
		uint32_t row;
	} rows[] = { { true, 1 }, { false, 0 } };
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct ws_writer *writer;
		assert_int_equal(ws_writer_open(path, NULL, &writer, NULL), WS_OK);
		assert_int_equal(ws_writer_devices(writer, &device, 1, &devices, NULL), WS_OK);
		assert_int_equal(ws_writer_sms(writer, rows[i].as_parent ? &devices : &table,
					       rows[i].row, &sm, 1, NULL, NULL),
				 WS_ARGUMENT);
		/* what lacks something never gets its name */
		assert_int_equal(ws_writer_commit(writer, NULL), WS_ARGUMENT);
		ws_writer_close(writer);
	}
}

static void memory_that_is_open_must_be_ended(void **state)
{
	(void)state;
	struct ws_write_memory global = { .space = WS_SPACE_GLOBAL };
	struct ws_device device = { .id = 0 };
	struct ws_writer *writer;
	assert_int_equal(ws_writer_open(path, NULL, &writer, NULL), WS_OK);
	assert_int_equal(ws_writer_memory_append(writer, bytes, 1, NULL), WS_ARGUMENT);
	assert_int_equal(ws_writer_memory_begin(writer, &global, NULL), WS_OK);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_ARGUMENT);
	assert_int_equal(ws_writer_devices(writer, &device, 1, NULL, NULL), WS_ARGUMENT);
	ws_writer_close(writer);
}

static void what_a_layout_lacks_is_unsupported_and_does_no_harm(void **state)
{
	(void)state;
	struct ws_writer_options options = { .size = sizeof options, .driver = 346 };
	struct ws_dump_facts facts = { .have_metadata = true };
	struct ws_writer *writer;
	assert_int_equal(ws_writer_open(path, &options, &writer, NULL), WS_OK);
	assert_int_equal(ws_writer_metadata(writer, &facts, NULL), WS_UNSUPPORTED);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
	ws_writer_close(writer);
}

static void drivers_that_are_none_are_refused(void **state)
{
	(void)state;
	static const uint32_t drivers[] = { 1, 345, 616 };
	for (size_t i = 0; i < WSI_COUNT(drivers); i++) {
		struct ws_writer_options options = { .size = sizeof options, .driver = drivers[i] };
		struct ws_writer *writer;
		assert_int_equal(ws_writer_open(path, &options, &writer, NULL), WS_ARGUMENT);
	}
}

/* ---- failures ---- */

static int allocations_left;

static bool fail_when_used_up(void)
{
	return allocations_left-- <= 0;
}

static bool is_there(void)
{
	struct stat st;
	return stat(path, &st) == 0;
}

static void every_failed_allocation_is_told_and_leaves_no_file(void **state)
{
	(void)state;
	for (int gzip = 0; gzip < 2; gzip++) {
		struct ws_writer_options options = { .size = sizeof options, .gzip = gzip };
		enum ws_status st = WS_NO_MEMORY;
		(void)unlink(path);
		for (int n = 0; st != WS_OK && n < 100; n++) {
			allocations_left = n;
			wsi_alloc_should_fail = fail_when_used_up;
			st = model_write(&options, false, NULL);
			wsi_alloc_should_fail = NULL;
			assert_true(st == WS_OK || st == WS_NO_MEMORY);
			assert_int_equal(is_there(), st == WS_OK);
		}
		assert_int_equal(st, WS_OK);
	}
}

/* ---- much ---- */

enum { BLOCK = 1024 * 1024 /* what is written at once */ };

/* Of its address, and such that it cannot be packed. */
static uint8_t byte_at(uint64_t address)
{
	uint64_t mixed = (address + 1) * UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint8_t)(mixed >> 56);
}

/* A stretch of global memory in pieces. */
static void global_write(struct ws_writer *writer, uint64_t start, size_t n, size_t piece)
{
	struct ws_write_memory where = { .space = WS_SPACE_GLOBAL, .start = start };
	uint8_t *all = wsi_zalloc(n + 1);
	assert_non_null(all);
	for (size_t i = 0; i < n; i++)
		all[i] = byte_at(start + i);
	assert_int_equal(ws_writer_memory_begin(writer, &where, NULL), WS_OK);
	for (size_t i = 0; i < n; i += piece) {
		size_t part = n - i < piece ? n - i : piece;
		assert_int_equal(ws_writer_memory_append(writer, all + i, part, NULL), WS_OK);
	}
	assert_int_equal(ws_writer_memory_end(writer, NULL), WS_OK);
	wsi_free(all);
}

static void global_check(const struct ws_target *target, uint64_t start, size_t n)
{
	struct ws_address at = { .space = WS_SPACE_GLOBAL, .address = start };
	uint8_t *got = wsi_zalloc(n + 1);
	size_t got_n;
	assert_non_null(got);
	assert_int_equal(ws_target_read_memory(target, &at, got, n, &got_n, NULL), WS_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got[i], byte_at(start + i));
	wsi_free(got);
}

static void memory_of_any_size_stays_whole(void **state)
{
	(void)state;
	static const size_t sizes[] = { 1,     7,         BLOCK - 64 - 8, BLOCK - 1,
					BLOCK, BLOCK + 1, 3 * BLOCK + 5,  2 * BLOCK };
	static const size_t pieces[] = { BLOCK / 3, BLOCK, 4 * BLOCK };
	for (size_t i = 0; i < 2 * WSI_COUNT(pieces); i++) {
		struct ws_writer_options options = { .size = sizeof options, .gzip = i % 2 };
		struct ws_writer *writer;
		assert_int_equal(ws_writer_open(path, &options, &writer, NULL), WS_OK);
		for (size_t s = 0; s < WSI_COUNT(sizes); s++)
			global_write(writer, (s + 1) << 32, sizes[s], pieces[i / 2]);
		assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
		ws_writer_close(writer);
		struct ws_target *target = core_of();
		for (size_t s = 0; s < WSI_COUNT(sizes); s++)
			global_check(target, (s + 1) << 32, sizes[s]);
		ws_target_close(target);
	}
}

/* Sections of which nothing is as of the one before: more than waits in memory. */
static void very_many_sections_wait_for_their_headers(void **state)
{
	(void)state;
	enum { N = 120000 };
	struct ws_writer *writer;
	assert_int_equal(ws_writer_open(path, NULL, &writer, NULL), WS_OK);
	for (uint64_t i = 0; i < N; i++)
		global_write(writer, UINT64_C(0xff00000000000000) + (i << 20), i % 3 + 1, 8);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
	ws_writer_close(writer);
	struct ws_target *target = core_of();
	assert_int_equal(ws_core_n_sections(ws_target_core(target)), N + 3);
	for (uint32_t i = 0; i < N; i++) {
		struct ws_core_section section;
		char name[32];
		assert_int_equal(ws_core_section(ws_target_core(target), i + 1, &section, NULL),
				 WS_OK);
		assert_true(wsi_format(name, ".cudbg.global.%u", i));
		assert_true(ws_str_equal(section.name, ws_str_of(name)));
		assert_int_equal(section.size, i % 3 + 1);
		global_check(target, UINT64_C(0xff00000000000000) + ((uint64_t)i << 20), i % 3 + 1);
	}
	ws_target_close(target);
}

/* What the writer's own thread calls instead of the system's function: waits in its first write. */
static pthread_t first_thread;
static atomic_bool hold_second_thread;
static const struct timespec a_while = { .tv_nsec = 200000000 };

ssize_t write(int fd, const void *from, size_t n)
{
	struct iovec part = { (void *)(uintptr_t)from, n };
	if (hold_second_thread && !pthread_equal(pthread_self(), first_thread)) {
		hold_second_thread = false;
		nanosleep(&a_while, NULL);
	}
	return writev(fd, &part, 1);
}

/* Bytes that cannot be packed, so that the second thread has most of a block left to pack when it
 * writes for the first time; that is when the dump is completed. */
static void the_end_of_a_packed_dump_waits_for_the_second_thread(void **state)
{
	(void)state;
	struct ws_writer_options options = { .size = sizeof options, .gzip = true };
	struct ws_writer *writer;
	assert_int_equal(ws_writer_open(path, &options, &writer, NULL), WS_OK);
	first_thread = pthread_self();
	hold_second_thread = true;
	global_write(writer, GLOBAL_START, BLOCK + 1000, BLOCK / 2);
	const struct timespec a_moment = { .tv_nsec = 100000 };
	for (int i = 0; hold_second_thread && i < 100000; i++)
		nanosleep(&a_moment, NULL);
	assert_false(hold_second_thread);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
	ws_writer_close(writer);
	struct ws_target *target = core_of();
	struct ws_dump_facts facts;
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_false(facts.cut);
	global_check(target, GLOBAL_START, BLOCK + 1000);
	ws_target_close(target);
}

/* ---- doubt ---- */

static void rows_that_prove_nothing_prove_nothing_when_they_are_written(void **state)
{
	(void)state;
	struct fake fake;
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_lane lane;
	struct ws_diagnostic diagnostic;
	fake_init(&fake, 3, 1, 4);
	fake.sm[0].error_pc_valid = fake.sm[0].damaged = true;
	fake.sm[0].exception = 14;
	fake.warp[1].broken = fake.warp[1].damaged = true;
	fake.lane[2][3].exception = 14;
	fake.lane[2][3].damaged = true;
	assert_int_equal(ws_write_target(&fake.target, path, NULL, NULL), WS_OK);
	struct ws_target *target = core_of();
	assert_int_equal(ws_target_sm(target, 0, &sm, NULL), WS_OK);
	assert_true(sm.damaged && sm.exception == 14 && sm.error_pc_valid);
	assert_int_equal(ws_target_warp(target, 1, &warp, NULL), WS_OK);
	assert_true(warp.damaged && warp.broken && !warp.error_pc_valid);
	assert_int_equal(ws_target_lane(target, 2, 3, &lane, NULL), WS_OK);
	assert_true(lane.damaged);
	assert_int_equal(ws_target_diagnostic(target, 0, &diagnostic, NULL), WS_OK);
	assert_int_equal(diagnostic.hides, WS_HIDES_FAULT);
	ws_target_close(target);
	ws_target_close(&fake.target);
}

static void a_trap_that_nothing_tells_is_in_doubt(void **state)
{
	(void)state;
	for (uint32_t silent = 0; silent <= 2; silent++) {
		struct fake fake;
		struct ws_diagnostic diagnostic;
		fake_init(&fake, 2, 1, 4);
		if (silent < 2)
			fake.warp[silent].have &= ~(uint32_t)WS_WARP_BROKEN;
		assert_int_equal(ws_write_target(&fake.target, path, NULL, NULL), WS_OK);
		struct ws_target *target = core_of();
		assert_int_equal(ws_target_diagnostic(target, 0, &diagnostic, NULL),
				 silent < 2 ? WS_OK : WS_ABSENT);
		if (silent < 2)
			assert_int_equal(diagnostic.hides, WS_HIDES_FAULT);
		ws_target_close(target);
		ws_target_close(&fake.target);
	}
}

/* ---- a target that is no dump ---- */

static void a_target_that_is_no_dump_is_written(void **state)
{
	(void)state;
	struct fake fake;
	struct ws_write_options options = { .size = sizeof options, .timestamp = 1234 };
	struct ws_error err;
	struct ws_dump_facts facts;
	struct ws_counts counts;
	struct ws_lane lane;
	fake_init(&fake, 3, 1, 32);
	fake.lane[1][3].exception = 14;
	fake.warp_status[2] = WS_MALFORMED; /* is passed over, and the dump says so */
	if (ws_write_target(&fake.target, path, &options, &err) != WS_OK)
		fail_msg("%s", err.message);
	struct ws_target *target = core_of();
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_true(facts.cut);
	assert_int_equal(facts.timestamp, 1234);
	ws_target_counts(target, &counts);
	assert_int_equal(counts.sms, 3);
	assert_int_equal(counts.warps, 2);
	assert_int_equal(ws_target_lane(target, 1, 3, &lane, NULL), WS_OK);
	assert_int_equal(lane.exception, 14);
	ws_target_close(target);
	ws_target_close(&fake.target);
}

static void only_known_flags_are_taken(void **state)
{
	(void)state;
	struct fake fake;
	fake_init(&fake, 1, 1, 1);
	for (unsigned bit = 0; bit < 32; bit++) {
		struct ws_write_options options = { .size = sizeof options, .flags = 1u << bit };
		bool known = (1u << bit) & WS_WRITE_KNOWN_FLAGS;
		assert_int_equal(ws_write_target(&fake.target, path, &options, NULL),
				 known ? WS_OK : WS_ARGUMENT);
	}
	ws_target_close(&fake.target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_is_read_as_it_was_built),
		cmocka_unit_test(an_incomplete_dump_says_so),
		cmocka_unit_test(parents_are_checked),
		cmocka_unit_test(memory_that_is_open_must_be_ended),
		cmocka_unit_test(what_a_layout_lacks_is_unsupported_and_does_no_harm),
		cmocka_unit_test(drivers_that_are_none_are_refused),
		cmocka_unit_test(every_failed_allocation_is_told_and_leaves_no_file),
		cmocka_unit_test(memory_of_any_size_stays_whole),
		cmocka_unit_test(very_many_sections_wait_for_their_headers),
		cmocka_unit_test(the_end_of_a_packed_dump_waits_for_the_second_thread),
		cmocka_unit_test(rows_that_prove_nothing_prove_nothing_when_they_are_written),
		cmocka_unit_test(a_trap_that_nothing_tells_is_in_doubt),
		cmocka_unit_test(a_target_that_is_no_dump_is_written),
		cmocka_unit_test(only_known_flags_are_taken),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
