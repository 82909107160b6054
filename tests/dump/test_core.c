/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dump reader over the small dumps of fuzz/seeds/core (fuzz/make-core-seeds.py says what is in
 * them), as they are and with one thing changed. usage: test_core FOLDER
 */
#include "seed.h"

#include <pthread.h>

#include <warpscope/cubin.h>

#include "walk.h"

#define KERNEL UINT64_C(0x7f0000001000)
#define BANK UINT64_C(0x7f0000005000)
#define SHARED_WINDOW UINT64_C(0x7e0000000000)
#define LOCAL_WINDOW UINT64_C(0x7e0100000000)

static bool has_diagnostic(const struct ws_target *target, const char *part)
{
	struct ws_diagnostic d;
	for (uint32_t i = 0; ws_target_diagnostic(target, i, &d, NULL) == WS_OK; i++) {
		if (strstr(d.message, part))
			return true;
	}
	return false;
}

/* ---- lists ---- */

static void lists_are_in_the_order_of_their_ids(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	struct ws_counts n;
	struct ws_sm sm;
	struct ws_warp warp;
	ws_target_counts(target, &n);
	assert_int_equal(n.sms, 2);
	assert_int_equal(n.warps, 2);
	assert_int_equal(ws_target_sm(target, 0, &sm, NULL), WS_OK);
	assert_int_equal(sm.id, 2); /* the file has SM 4 first */
	assert_int_equal(sm.n_warps, 0);
	assert_int_equal(ws_target_sm(target, 1, &sm, NULL), WS_OK);
	assert_int_equal(sm.id, 4);
	assert_int_equal(sm.first_warp_index, 0);
	assert_int_equal(ws_target_warp(target, 0, &warp, NULL), WS_OK);
	assert_int_equal(warp.id, 1); /* the file has warp 3 first */
	assert_int_equal(ws_target_warp(target, 2, &warp, NULL), WS_ARGUMENT);
	ws_target_close(target);
}

static void absent_fields_are_absent(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r346-last");
	struct ws_target *target = open_copy(&copy);
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_lane lane;
	struct ws_dump_facts facts;
	uint32_t value, n;
	assert_int_equal(ws_target_sm(target, 1, &sm, NULL), WS_OK);
	assert_int_equal(sm.have, 0);
	assert_int_equal(sm.exception, 0);
	assert_int_equal(ws_target_warp(target, 0, &warp, NULL), WS_OK);
	assert_int_equal(warp.have, WS_WARP_BROKEN);
	assert_int_equal(ws_target_lane(target, 0, 1, &lane, NULL), WS_OK);
	assert_int_equal(lane.have, WS_LANE_CC);
	assert_int_equal(ws_target_lane(target, 0, 2, &lane, NULL), WS_ABSENT);
	assert_int_equal(ws_target_registers(target, 0, 0, WS_REG_BARRIER, 0, 1, &value, &n, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_false(facts.have_metadata);
	assert_string_equal(facts.layout, "r346");
	ws_target_close(target);
}

static void registers_come_as_far_as_they_were_saved(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	uint32_t values[8] = { 0 }, n = 0;
	assert_int_equal(ws_target_registers(target, 0, 1, WS_REG_R, 1, 8, values, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 2);
	assert_int_equal(values[0], 7);
	assert_int_equal(values[1], 0xffffffff);
	assert_int_equal(ws_target_registers(target, 0, 1, WS_REG_R, 3, 1, values, &n, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_target_registers(target, 0, 9, WS_REG_R, 0, 1, values, &n, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_target_registers(target, 9, 0, WS_REG_R, 0, 1, values, &n, NULL),
			 WS_ARGUMENT);
	ws_target_close(target);
}

/* ---- damage ---- */

/* Register 0 of a lane of the first warp. */
static uint32_t first_register(const struct copy *copy, uint32_t lane)
{
	struct ws_target *target = open_copy(copy);
	uint32_t value = 0, n;
	assert_int_equal(ws_target_registers(target, 0, lane, WS_REG_R, 0, 1, &value, &n, NULL),
			 WS_OK);
	ws_target_close(target);
	return value;
}

static void a_wrong_row_does_not_take_the_place_of_the_right_one(void **state)
{
	(void)state;
	static const uint32_t rows[] = { 6, 4, 20, 0, 31 };
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		struct copy copy;
		load(&copy, "full-warp"); /* register 0 of a lane is its number */
		wsi_store_u32(header_field(&copy, WSI_KIND_REGS, 5, 44), rows[i]);
		assert_int_equal(first_register(&copy, rows[i]), rows[i]);
		struct ws_target *target = open_copy(&copy);
		assert_true(has_diagnostic(target, "is already the one of row"));
		ws_target_close(target);
	}
}

static void a_circle_of_links_is_mended(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	uint8_t *link = header_field(&copy, WSI_KIND_BLOCK, 0, 40);
	uint32_t shoff = wsi_load_u32(copy.bytes + 40);
	uint32_t self = ((uint32_t)(link - copy.bytes) - shoff) / 64;
	wsi_store_u32(link, self);
	struct ws_target *target = open_copy(&copy);
	struct ws_counts n;
	ws_target_counts(target, &n);
	assert_int_equal(n.sms, 2);
	assert_int_equal(n.blocks, 1);
	assert_true(has_diagnostic(target, "is taken for the block table of row"));
	ws_target_close(target);
}

static void the_lane_that_stands_in_its_place_counts(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	uint64_t rows = wsi_load_u64(header_field(&copy, WSI_KIND_LANE, 1, 24));
	uint64_t stride = wsi_load_u64(header_field(&copy, WSI_KIND_LANE, 1, 56));
	wsi_store_u32(copy.bytes + rows + WSI_AT_lane_id, 1); /* both rows say lane 1 now */
	struct ws_target *target = open_copy(&copy);
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n;
	assert_int_equal(ws_target_lanes(target, 0, lanes, &n, NULL), WS_OK);
	assert_int_equal(n, 1);
	assert_int_equal(lanes[0].thread.x, 1);
	wsi_store_u32(copy.bytes + rows + stride + WSI_AT_lane_id, 77); /* no such lane anywhere */
	assert_int_equal(ws_target_lanes(target, 0, lanes, &n, NULL), WS_OK);
	assert_int_equal(n, 1);
	assert_int_equal(lanes[0].thread.x, 0);
	ws_target_close(target);
}

static void of_two_rows_out_of_place_the_first_counts(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "full-warp");
	uint64_t rows = wsi_load_u64(header_field(&copy, WSI_KIND_LANE, 0, 24));
	uint64_t stride = wsi_load_u64(header_field(&copy, WSI_KIND_LANE, 0, 56));
	wsi_store_u32(copy.bytes + rows + 3 * stride + WSI_AT_lane_id, 9);
	wsi_store_u32(copy.bytes + rows + 5 * stride + WSI_AT_lane_id, 9);
	wsi_store_u32(copy.bytes + rows + 9 * stride + WSI_AT_lane_id,
		      77); /* no such lane anywhere */
	struct ws_target *target = open_copy(&copy);
	struct ws_lane lanes[WS_MAX_LANES], lane;
	uint32_t n;
	assert_int_equal(ws_target_lanes(target, 0, lanes, &n, NULL), WS_OK);
	assert_int_equal(n, WS_MAX_LANES - 2);
	assert_int_equal(lanes[7].id, 9);
	assert_int_equal(lanes[7].thread.x, 3);
	assert_int_equal(ws_target_lane(target, 0, 9, &lane, NULL), WS_OK);
	assert_int_equal(lane.thread.x, 3);
	ws_target_close(target);
}

static void lost_headers_are_found_by_their_shape(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "wide");
	wsi_store_u32(copy.bytes + 44, 0x7fff);
	struct ws_target *target = open_copy(&copy);
	struct ws_counts n;
	struct ws_dump_facts facts;
	ws_target_counts(target, &n);
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_int_equal(n.warps, 2);
	assert_false(facts.complete);
	ws_target_close(target);
}

static void every_length_opens_or_is_refused_with_words(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	for (size_t len = 0; len <= copy.len; len++) {
		uint8_t *exact = wsi_zalloc(len); /* so that checkers see reads beyond it */
		struct ws_target *target = NULL;
		struct ws_error err = { 0 };
		assert_non_null(exact);
		memcpy(exact, copy.bytes, len);
		enum ws_status st = ws_core_open_memory((struct ws_span){ exact, len, 0 }, "cut",
							&target, &err);
		if (len < 20)
			assert_int_equal(st, len ? WS_TRUNCATED : WS_UNSUPPORTED);
		else
			assert_int_equal(st, WS_OK);
		if (target) {
			struct ws_dump_facts facts;
			assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
			assert_int_equal(facts.cut, len != copy.len);
			(void)core_walk(target);
		}
		ws_target_close(target);
		wsi_free(exact);
	}
}

/* An ELF header that cannot be read, or not to its end: what the file is called for stays. */
static void a_damaged_header_leaves_a_dump_without_sections(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	for (size_t len = 20; len <= 65; len++) {
		struct ws_target *target = NULL;
		struct ws_diagnostic d = { .file_off = 1 };
		copy.bytes[4] = len < 64 ? 2 : 9; /* the class */
		assert_int_equal(ws_core_open_memory((struct ws_span){ copy.bytes, len, 0 }, "cut",
						     &target, NULL),
				 WS_OK);
		assert_int_equal(ws_target_diagnostic(target, 0, &d, NULL), WS_OK);
		assert_non_null(strstr(d.message, "the ELF header is damaged"));
		assert_int_equal(d.file_off, len < 64 ? len : 0);
		assert_int_equal(d.hides, WS_HIDES_FAULT);
		ws_target_close(target);
	}
}

/* ---- what is no dump ---- */

static void other_files_are_named(void **state)
{
	(void)state;
	struct elf_case {
		unsigned type, machine;
		uint8_t class, data;
		const char *tail, *words;
	};
	static const struct elf_case cases[] = {
		{ 4, 62, 2, 1, "", "a core of a host process (x86-64)" },
		{ 4, 183, 2, 1, "/usr/lib/libcuda.so.1", "nvcudmp" },
		{ 4, 183, 2, 1, "llibcuda.so.1", "nvcudmp" },
		{ 4, 183, 2, 1, "libcuda.s", "a core of a host process" },
		{ 2, 190, 2, 1, "", "a cubin" },
		{ 3, 62, 2, 1, "", "shared library" },
		{ 4, 62, 1, 1, "", "32-bit" },
		{ 4, 62, 2, 2, "", "big-endian" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t file[160] = "\177ELF";
		struct ws_target *target;
		struct ws_error err;
		file[4] = cases[i].class;
		file[5] = cases[i].data;
		file[16] = (uint8_t)cases[i].type;
		file[18] = (uint8_t)cases[i].machine;
		memcpy(file + 80, cases[i].tail, strlen(cases[i].tail));
		assert_int_equal(ws_core_open_memory((struct ws_span){ file, sizeof file, 0 }, "x",
						     &target, &err),
				 WS_UNSUPPORTED);
		if (!strstr(err.message, cases[i].words))
			fail_msg("\"%s\" should say \"%s\"", err.message, cases[i].words);
	}
	struct ws_target *target;
	struct ws_error err;
	struct ws_span text = { (const uint8_t *)"just some words\n", 16, 0 };
	assert_int_equal(ws_core_open_memory(text, "x", &target, &err), WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "text"));
}

/* ---- memory ---- */

static enum ws_status read_at(const struct ws_target *target, enum ws_space space, uint64_t address,
			      size_t len, uint8_t *bytes, size_t *ret_n)
{
	struct ws_address at = { .space = space, .grid_index = WS_NONE, .address = address };
	return ws_target_read_memory(target, &at, bytes, len, ret_n, NULL);
}

static void reads_go_across_ranges_and_stop_where_none_is(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	uint8_t bytes[32];
	size_t n;
	/* 8 bytes, the last 4 of them under another section, then 7 of managed memory */
	assert_int_equal(read_at(target, WS_SPACE_GLOBAL, BANK + 2, 13, bytes, &n), WS_OK);
	assert_memory_equal(bytes, "\x02\x03overmanaged", 13);
	assert_int_equal(read_at(target, WS_SPACE_GLOBAL, BANK + 2, 14, bytes, &n), WS_ABSENT);
	assert_int_equal(n, 13);
	assert_int_equal(read_at(target, WS_SPACE_GLOBAL, UINT64_MAX - 3, 16, bytes, &n),
			 WS_ABSENT);
	assert_int_equal(n, 0);
	assert_int_equal(read_at(target, WS_SPACE_CONST, 4, 4, bytes, &n), WS_OK);
	assert_memory_equal(bytes, "over", 4);
	assert_int_equal(read_at(target, WS_SPACE_CONST, 4, 5, bytes, &n), WS_ABSENT);
	assert_int_equal(read_at(target, WS_SPACE_PARAM, 0x212, 6, bytes, &n), WS_OK);
	assert_memory_equal(bytes, "rams!!", 6);
	assert_int_equal(read_at(target, WS_SPACE_PARAM, 0x20f, 1, bytes, &n), WS_ABSENT);
	assert_int_equal(read_at(target, WS_SPACE_SHARED, 15, 1, bytes, &n), WS_OK);
	assert_int_equal(read_at(target, WS_SPACE_SHARED, 16, 1, bytes, &n), WS_ABSENT);
	assert_int_equal(read_at(target, WS_SPACE_LOCAL, 0xfffc04, 4, bytes, &n), WS_OK);
	assert_int_equal(bytes[0], 4);
	assert_int_equal(read_at(target, WS_SPACE_CODE, KERNEL, 4, bytes, &n), WS_ABSENT);
	ws_target_close(target);
}

static void what_was_left_out_is_said_so(void **state)
{
	(void)state;
	static const enum ws_space spaces[] = { WS_SPACE_GLOBAL, WS_SPACE_SHARED, WS_SPACE_LOCAL,
						WS_SPACE_CONST };
	struct copy copy;
	load(&copy, "light");
	struct ws_target *target = open_copy(&copy);
	for (size_t i = 0; i < WSI_COUNT(spaces); i++) {
		struct ws_address at = { .space = spaces[i], .grid_index = 0, .address = 0 };
		struct ws_error err;
		uint8_t byte;
		size_t n;
		assert_int_equal(ws_target_read_memory(target, &at, &byte, 1, &n, &err),
				 WS_EXCLUDED);
		assert_non_null(strstr(err.message, "by the flag skip_"));
	}
	struct ws_module module;
	assert_int_equal(ws_target_module(target, 0, &module, NULL), WS_OK);
	assert_int_equal(module.original_status, WS_EXCLUDED);
	ws_target_close(target);
}

/* Where the dump says what was left out, and images were not, there was none. */
static void an_image_that_was_not_left_out_is_absent(void **state)
{
	(void)state;
	struct copy copy;
	struct ws_module module;
	load(&copy, "r615");
	wsi_store_u32(header_field(&copy, WSI_KIND_IMAGE, 0, 4), WSI_SHT_NULL);
	struct ws_target *target = open_copy(&copy);
	assert_int_equal(ws_target_module(target, 0, &module, NULL), WS_OK);
	assert_int_equal(module.original.len, 0);
	assert_int_equal(module.original_status, WS_ABSENT);
	ws_target_close(target);
}

static void cut_memory_is_cut_not_absent(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "cut"); /* ends inside the section headers */
	struct ws_target *target = open_copy(&copy);
	uint8_t byte;
	size_t n;
	assert_int_equal(read_at(target, WS_SPACE_GLOBAL, BANK, 1, &byte, &n), WS_TRUNCATED);
	assert_int_equal(read_at(target, WS_SPACE_GLOBAL, 64, 1, &byte, &n), WS_TRUNCATED);
	ws_target_close(target);
}

static void generic_addresses_go_by_the_windows_of_the_context(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	struct wsi_resolved to;
	struct ws_address at = { .space = WS_SPACE_GENERIC, .address = SHARED_WINDOW + 5 };
	assert_int_equal(wsi_core_resolve(wsi_core_of(target), &at, &to, NULL), WS_OK);
	assert_int_equal(to.at.space, WS_SPACE_SHARED);
	assert_int_equal(to.at.address, 5);
	assert_int_equal(to.block_index, 0);
	/* the other block of the cluster of two is not in the dump */
	at.address = SHARED_WINDOW + (1u << 24) + 5;
	assert_int_equal(wsi_core_resolve(wsi_core_of(target), &at, &to, NULL), WS_ABSENT);
	at.address = LOCAL_WINDOW + 0xfffc00;
	assert_int_equal(wsi_core_resolve(wsi_core_of(target), &at, &to, NULL), WS_OK);
	assert_int_equal(to.at.space, WS_SPACE_LOCAL);
	assert_int_equal(to.at.address, 0xfffc00);
	at.address = BANK;
	assert_int_equal(wsi_core_resolve(wsi_core_of(target), &at, &to, NULL), WS_OK);
	assert_int_equal(to.at.space, WS_SPACE_GLOBAL);
	ws_target_close(target);
}

/* The cluster's extent is the block's own, else that of its grid; a block is found by its rank. */
static void a_block_knows_its_rank_in_the_cluster(void **state)
{
	(void)state;
	static const struct {
		uint32_t of_block, of_grid, rank;
	} cases[] = { { 2, 0, 1 }, { 0, 2, 1 }, { 2, 4, 1 }, { 4, 2, 3 }, { 0, 0, 0 } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct copy copy;
		load(&copy, "r615");
		uint8_t *block =
			copy.bytes + wsi_load_u64(header_field(&copy, WSI_KIND_BLOCK, 0, 24));
		uint8_t *grid =
			copy.bytes + wsi_load_u64(header_field(&copy, WSI_KIND_GRID, 0, 24));
		wsi_store_u32(block + WSI_AT_block_idx, 3);
		wsi_store_u32(block + WSI_AT_block_cluster_dim, cases[i].of_block);
		wsi_store_u32(grid + WSI_AT_grid_cluster_dim, cases[i].of_grid);
		struct ws_target *target = open_copy(&copy);
		for (uint32_t rank = 0; rank < 4; rank++) {
			struct ws_address at = { .space = WS_SPACE_GENERIC,
						 .address = SHARED_WINDOW + (rank << 24) + 5 };
			struct wsi_resolved to;
			enum ws_status st = wsi_core_resolve(wsi_core_of(target), &at, &to, NULL);
			assert_int_equal(st, rank == cases[i].rank ? WS_OK : WS_ABSENT);
			if (st == WS_OK)
				assert_int_equal(to.at.address, 5);
		}
		ws_target_close(target);
	}
}

static void a_table_over_the_headers_is_ignored(void **state)
{
	(void)state;
	static const uint32_t offsets[] = { 0, 63, 64, 64 + 42 * 64 };
	for (size_t i = 0; i < WSI_COUNT(offsets); i++) {
		struct copy copy;
		struct ws_counts n;
		load(&copy, "r615");
		assert_int_equal(wsi_load_u64(copy.bytes + 40), 64);
		wsi_store_u32(header_field(&copy, WSI_KIND_SM, 0, 24), offsets[i]);
		struct ws_target *target = open_copy(&copy);
		ws_target_counts(target, &n);
		assert_int_equal(n.sms, 0);
		assert_true(has_diagnostic(target, "it overlaps the headers of the file"));
		ws_target_close(target);
	}
}

/* One row of a table may be damaged; of rows that were read from a wrong place all are. */
static void an_exception_needs_a_neighbour_that_is_a_lane(void **state)
{
	(void)state;
	static const struct {
		uint32_t n_rows, others; /* what the other rows say that they are */
		bool damaged;
	} cases[] = {
		{ 2, 77, false }, { 3, 77, true },  { 3, 1, true },
		{ 3, 2, false },  { 32, 77, true },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct copy copy;
		load(&copy, "full-warp");
		uint8_t *header = header_field(&copy, WSI_KIND_LANE, 0, 0);
		uint64_t rows = wsi_load_u64(header + 24), stride = wsi_load_u64(header + 56);
		wsi_store_u32(header + 32, (uint32_t)(cases[i].n_rows * stride));
		uint8_t *device =
			copy.bytes + wsi_load_u64(header_field(&copy, WSI_KIND_DEVICE, 0, 24));
		uint8_t *grid =
			copy.bytes + wsi_load_u64(header_field(&copy, WSI_KIND_GRID, 0, 24));
		wsi_store_u32(device + WSI_AT_device_n_lanes_per_warp, 32);
		for (unsigned at = 0; at < 24; at += 4) /* one block of (32,1,1) threads */
			wsi_store_u32(grid + WSI_AT_grid_grid_dim + at, at == 12 ? 32 : 1);
		wsi_store_u32(copy.bytes + rows + stride + WSI_AT_lane_exception, 14);
		wsi_store_u32(copy.bytes + rows + WSI_AT_lane_id, cases[i].others);
		wsi_store_u32(copy.bytes + rows + 2 * stride + WSI_AT_lane_id, cases[i].others);
		struct ws_target *target = open_copy(&copy);
		struct ws_lane lane;
		assert_int_equal(ws_target_lane(target, 0, 1, &lane, NULL), WS_OK);
		assert_int_equal(lane.exception, 14);
		assert_int_equal(lane.damaged, cases[i].damaged);
		ws_target_close(target);
	}
}

/* Section 1 becomes a second one for the parameters of a grid, shorter, before the table of grids.
 */
static void of_two_alike_the_first_counts_even_before_its_parent(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	uint8_t *first = copy.bytes + wsi_load_u64(copy.bytes + 40) + 64;
	memcpy(first, header_field(&copy, WSI_KIND_PARAM, 0, 0), 64);
	wsi_store_u32(first + 32, 4);
	struct ws_target *target = open_copy(&copy);
	struct ws_memory_range range = { .size = 0 };
	for (uint32_t i = 0; range.space != WS_SPACE_PARAM; i++)
		assert_int_equal(ws_target_memory_range(target, i, &range, NULL), WS_OK);
	assert_int_equal(range.size, 4);
	assert_true(has_diagnostic(target, "section 1 is already the one of"));
	ws_target_close(target);
}

/* ---- memory of our own, threads ---- */

static unsigned allocation, failing;

static bool fails_at_its_turn(void)
{
	return ++allocation == failing;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct copy copy;
	struct ws_span bytes;
	load(&copy, "r575-shuffled");
	bytes = (struct ws_span){ copy.bytes, copy.len, 0 };
	for (failing = 1; failing < 1000; failing++) {
		struct ws_target *target = NULL;
		struct ws_error err;
		struct ws_memory_range range;
		allocation = 0;
		wsi_alloc_should_fail = fails_at_its_turn;
		enum ws_status st = ws_core_open_memory(bytes, "seed", &target, &err);
		if (st == WS_OK)
			st = ws_target_memory_range(target, wsi_core_of(target)->n_globals, &range,
						    &err);
		wsi_alloc_should_fail = NULL;
		ws_target_close(target);
		if (allocation < failing)
			return;                                 /* there are not that many */
		assert_true(st == WS_NO_MEMORY || st == WS_OK); /* OK: only a note was lost */
	}
	fail_msg("more allocations than a dump needs");
}

static void *walk_it(void *target)
{
	uint64_t *hash = wsi_zalloc(sizeof *hash);
	*hash = core_walk(target);
	return hash;
}

static void threads_may_read_one_dump(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	pthread_t threads[4];
	for (size_t i = 0; i < WSI_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, walk_it, target), 0);
	uint64_t expected = core_walk(target);
	for (size_t i = 0; i < WSI_COUNT(threads); i++) {
		void *hash;
		assert_int_equal(pthread_join(threads[i], &hash), 0);
		assert_true(*(uint64_t *)hash == expected);
		wsi_free(hash);
	}
	ws_target_close(target);
}

static void *cubins_of(void *target)
{
	struct ws_cubin_set *cubins = NULL;
	struct ws_place place;
	struct ws_error err;
	if (ws_target_cubins(target, &cubins, &err) != WS_OK ||
	    ws_cubin_set_find_address(cubins, KERNEL, NULL, &place, &err) != WS_ABSENT)
		return NULL;
	return cubins;
}

static void threads_share_the_cubins_of_a_target(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	struct ws_target *target = open_copy(&copy);
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	for (unsigned round = 0; round < 3; round++) {
		pthread_t threads[4];
		for (size_t i = 0; i < WSI_COUNT(threads); i++)
			assert_int_equal(pthread_create(&threads[i], NULL, cubins_of, target), 0);
		void *expected = cubins_of(target);
		assert_non_null(expected);
		for (size_t i = 0; i < WSI_COUNT(threads); i++) {
			void *cubins;
			assert_int_equal(pthread_join(threads[i], &cubins), 0);
			assert_ptr_equal(cubins, expected);
		}
		ws_target_changed(target, &counts); /* the next to ask makes another set */
	}
	ws_target_close(target);
}

/* ---- check ---- */

static bool count_finding(void *user, const struct ws_finding *finding)
{
	assert_true(finding->message[0]);
	(*(unsigned *)user)++;
	return true;
}

static void check_counts_what_it_finds(void **state)
{
	(void)state;
	struct copy copy;
	struct ws_check_summary summary;
	unsigned n = 0;
	load(&copy, "r615");
	wsi_store_u32(header_field(&copy, WSI_KIND_REGS, 2, 44), 1000);
	struct ws_target *target = open_copy(&copy);
	assert_int_equal(ws_core_check(wsi_core_of(target), count_finding, &n, &summary, NULL),
			 WS_OK);
	assert_int_equal(summary.findings, n);
	assert_int_equal(summary.by_rule[WS_CHECK_LINK], 1);
	ws_target_close(target);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	seeds = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_in_the_order_of_their_ids),
		cmocka_unit_test(absent_fields_are_absent),
		cmocka_unit_test(registers_come_as_far_as_they_were_saved),
		cmocka_unit_test(a_wrong_row_does_not_take_the_place_of_the_right_one),
		cmocka_unit_test(a_circle_of_links_is_mended),
		cmocka_unit_test(the_lane_that_stands_in_its_place_counts),
		cmocka_unit_test(of_two_rows_out_of_place_the_first_counts),
		cmocka_unit_test(lost_headers_are_found_by_their_shape),
		cmocka_unit_test(every_length_opens_or_is_refused_with_words),
		cmocka_unit_test(a_damaged_header_leaves_a_dump_without_sections),
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(reads_go_across_ranges_and_stop_where_none_is),
		cmocka_unit_test(what_was_left_out_is_said_so),
		cmocka_unit_test(an_image_that_was_not_left_out_is_absent),
		cmocka_unit_test(cut_memory_is_cut_not_absent),
		cmocka_unit_test(generic_addresses_go_by_the_windows_of_the_context),
		cmocka_unit_test(a_block_knows_its_rank_in_the_cluster),
		cmocka_unit_test(a_table_over_the_headers_is_ignored),
		cmocka_unit_test(an_exception_needs_a_neighbour_that_is_a_lane),
		cmocka_unit_test(of_two_alike_the_first_counts_even_before_its_parent),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(threads_may_read_one_dump),
		cmocka_unit_test(threads_share_the_cubins_of_a_target),
		cmocka_unit_test(check_counts_what_it_finds),
	};
	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
