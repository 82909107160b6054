/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables whose section header is damaged in one field: they are put back, and every answer is as
 * before; what their rows may hold for that. usage: test_mend FOLDER (fuzz/seeds/core)
 */
#include "seed.h"
#include "walk.h"

/* Field of the first row of a kind of table. */
static uint8_t *row_field(struct copy *copy, enum wsi_kind kind, unsigned at)
{
	return copy->bytes + wsi_load_u64(header_field(copy, kind, 0, OFFSET)) + at;
}

/* The seed has zeros where a machine has none. */
static void load_machine(struct copy *copy)
{
	load(copy, "r615");
	store_le(row_field(copy, WSI_KIND_DEVICE, WSI_AT_device_n_warps_per_sm), 64, 4);
	store_le(row_field(copy, WSI_KIND_DEVICE, WSI_AT_device_n_lanes_per_warp), WS_MAX_LANES, 4);
	for (unsigned i = 0; i < 3; i++) {
		store_le(row_field(copy, WSI_KIND_GRID, WSI_AT_grid_grid_dim + 4 * i), 1, 4);
		store_le(row_field(copy, WSI_KIND_GRID, WSI_AT_grid_block_dim + 4 * i), 1, 4);
	}
}

static uint32_t section_of(const struct copy *copy, const uint8_t *in_header)
{
	return (uint32_t)((uint64_t)(in_header - copy->bytes) - wsi_load_u64(copy->bytes + 40)) /
	       64;
}

/* The diagnostic with these words. */
static bool told_of(const struct ws_target *target, const char *words, struct ws_diagnostic *ret)
{
	for (uint32_t i = 0; ws_target_diagnostic(target, i, ret, NULL) == WS_OK; i++)
		if (strstr(ret->message, words))
			return true;
	return false;
}

/* Answers are those of `sound`, and the field is told, with what it held. */
static void assert_mended(const struct copy *copy, uint64_t sound, const uint8_t *field,
			  const char *words)
{
	struct ws_target *target = open_copy(copy);
	struct ws_diagnostic d;
	if (!told_of(target, words, &d))
		fail_msg("not told: %s", words);
	assert_int_equal(d.file_off, field - copy->bytes);
	assert_int_equal(d.hides, WS_HIDES_NOTHING);
	if (core_walk(target) != sound)
		fail_msg("other answers: %s", words);
	ws_target_close(target);
}

static uint64_t walk_of(const struct copy *copy)
{
	struct ws_target *target = open_copy(copy);
	uint64_t hash = core_walk(target);
	ws_target_close(target);
	return hash;
}

static const struct table {
	enum wsi_kind kind;
	unsigned nth;
	const char *words, *place; /* NULL: of no row */
} tables[] = {
	{ WSI_KIND_DEVICE, 0, "device table", NULL },
	{ WSI_KIND_CONTEXT, 0, "context table", "row 0" },
	{ WSI_KIND_MODULE, 0, "module table", "row 0" },
	{ WSI_KIND_GRID, 0, "grid table", "row 0" },
	{ WSI_KIND_SM, 0, "SM table", "row 0" },
	{ WSI_KIND_BLOCK, 0, "block table", "row 0" },
	{ WSI_KIND_WARP, 0, "warp table", "row 0" },
	{ WSI_KIND_LANE, 0, "lane table", "row 0" },
	{ WSI_KIND_LANE, 1, "lane table", "row 1" },
	{ WSI_KIND_META, 0, "metadata", NULL },
};

static void a_table_is_put_back_in_its_place(void **state)
{
	(void)state;
	static const struct {
		unsigned at;
		uint32_t value;
		const char *name;
	} fields[] = {
		{ TYPE, 0, "type 0x0" },
		{ TYPE, 0x80000003, "type 0x80000003" }, /* local memory */
		{ TYPE, 0x7fffffff, "type 0x7fffffff" },
		{ LINK, 0, "link 0x0" },
		{ LINK, 9999, "link 0x270f" },
		{ INFO, 9999, "info 0x270f" },
	};
	struct copy copy;
	load_machine(&copy);
	const uint64_t sound = walk_of(&copy);
	for (size_t i = 0; i < WSI_COUNT(tables) * WSI_COUNT(fields); i++) {
		const struct table *t = &tables[i / WSI_COUNT(fields)];
		size_t k = i % WSI_COUNT(fields);
		char words[120], place[60] = "";
		if (!t->place && fields[k].at != TYPE)
			continue; /* nothing is asked of them */
		uint8_t *field = header_field(&copy, t->kind, t->nth, fields[k].at);
		uint32_t before = wsi_load_u32(field), section = section_of(&copy, field);
		uint32_t parent = wsi_load_u32(field - fields[k].at + LINK);
		if (t->place)
			assert_true(wsi_format(place, " of %s of section %u", t->place, parent));
		assert_true(wsi_format(words, "section %u is taken for the %s%s: its %s is damaged",
				       section, t->words, place, fields[k].name));
		store_le(field, fields[k].value, 4);
		assert_mended(&copy, sound, field, words);
		store_le(field, before, 4);
	}
}

static void rows_of_a_table_are_measured(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 0, 7, 1 << 20, UINT64_MAX };
	struct copy copy;
	load_machine(&copy);
	const uint64_t sound = walk_of(&copy);
	for (size_t i = 0; i < WSI_COUNT(tables) * WSI_COUNT(sizes); i++) {
		const struct table *t = &tables[i / WSI_COUNT(sizes)];
		uint64_t size = sizes[i % WSI_COUNT(sizes)];
		char words[120];
		if (t->kind == WSI_KIND_META)
			continue; /* it is one row */
		uint8_t *field = header_field(&copy, t->kind, t->nth, ENTSIZE);
		uint64_t before = wsi_load_u64(field);
		assert_true(wsi_format(words,
				       "%s (section %u): its entry size %" PRIu64
				       " is damaged; it is read in rows of %" PRIu64 " bytes",
				       t->words, section_of(&copy, field), size, before));
		store_le(field, size, 8);
		assert_mended(&copy, sound, field, words);
		store_le(field, before, 8);
	}
}

/* A row that is longer than any known driver's: one alone, up to so many bytes. */
static void one_row_of_a_driver_to_come_is_read(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 1016, 1024, 1032 };
	for (size_t i = 0; i < WSI_COUNT(sizes); i++) {
		struct copy copy;
		struct ws_diagnostic d;
		char words[80];
		load_machine(&copy);
		store_le(header_field(&copy, WSI_KIND_CONTEXT, 0, SIZE), sizes[i], 8);
		store_le(header_field(&copy, WSI_KIND_CONTEXT, 0, ENTSIZE), 0, 8);
		assert_true(wsi_format(words, "it is read in rows of %" PRIu64 " bytes", sizes[i]));
		struct ws_target *target = open_copy(&copy);
		assert_int_equal(told_of(target, words, &d), sizes[i] <= 1024);
		ws_target_close(target);
	}
}

/* Two tables that fit two places alike: each goes where its name says, and nowhere without it. */
static void of_two_places_the_name_decides(void **state)
{
	(void)state;
	static const enum wsi_kind kinds[] = { WSI_KIND_LANE, WSI_KIND_WARP };
	for (size_t i = 0; i < WSI_COUNT(kinds); i++) {
		struct copy copy;
		struct ws_diagnostic d;
		uint8_t *field[2], *name[2];
		char words[2][80];
		load_machine(&copy);
		const uint64_t sound = walk_of(&copy);
		unsigned n = kinds[i] == WSI_KIND_LANE ? 2 : 1;
		for (unsigned k = 0; k < n; k++) {
			field[k] = header_field(&copy, kinds[i], k, INFO);
			name[k] = field[k] - INFO;
			assert_true(wsi_format(words[k], "section %u is taken for the",
					       section_of(&copy, field[k])));
			store_le(field[k], 9999, 4);
		}
		for (unsigned k = 0; k < n; k++)
			assert_mended(&copy, sound, field[k], words[k]);
		for (unsigned k = 0; k < n; k++)
			store_le(name[k], 0, 4);
		struct ws_target *target = open_copy(&copy);
		for (unsigned k = 0; k < n; k++)
			assert_int_equal(told_of(target, words[k], &d), n == 1);
		ws_target_close(target);
	}
}

/* What passes for a row of its kind. A number that no machine has shows that it is none. */
static void rows_hold_what_their_kind_can(void **state)
{
	(void)state;
	static const struct {
		enum wsi_kind kind;
		unsigned at, n_bytes;
		uint64_t value;
		bool fits;
	} cases[] = {
		{ WSI_KIND_DEVICE, WSI_AT_device_n_sms, 4, 4096, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_sms, 4, 4097, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_sms, 4, 0, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_warps_per_sm, 4, 4096, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_warps_per_sm, 4, 4097, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_warps_per_sm, 4, 0, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_n_lanes_per_warp, 4, 31, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_id, 4, 4095, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_id, 4, 4096, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_sm_major, 4, 1023, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_sm_major, 4, 1024, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_sm_minor, 4, 15, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_sm_minor, 4, 16, false },
		{ WSI_KIND_DEVICE, WSI_AT_device_instruction_bytes, 4, 64, true },
		{ WSI_KIND_DEVICE, WSI_AT_device_instruction_bytes, 4, 65, false },
		{ WSI_KIND_CONTEXT, WSI_AT_context_id, 8, 0, false },
		{ WSI_KIND_CONTEXT, WSI_AT_context_device_id, 4, 4095, true },
		{ WSI_KIND_CONTEXT, WSI_AT_context_device_id, 4, 4096, false },
		{ WSI_KIND_CONTEXT, WSI_AT_context_shared_window_base, 8, 8192, true },
		{ WSI_KIND_CONTEXT, WSI_AT_context_shared_window_base, 8, 8193, false },
		{ WSI_KIND_CONTEXT, WSI_AT_context_local_window_base, 8, 8192, true },
		{ WSI_KIND_CONTEXT, WSI_AT_context_local_window_base, 8, 8193, false },
		{ WSI_KIND_MODULE, WSI_AT_module_handle, 8, 1, true },
		{ WSI_KIND_MODULE, WSI_AT_module_handle, 8, 0, false },
		{ WSI_KIND_META, WSI_AT_meta_driver_major, 4, 65535, true },
		{ WSI_KIND_META, WSI_AT_meta_driver_major, 4, 65536, false },
		{ WSI_KIND_META, WSI_AT_meta_driver_minor, 4, 65535, true },
		{ WSI_KIND_META, WSI_AT_meta_driver_minor, 4, 65536, false },
		{ WSI_KIND_META, WSI_AT_meta_cuda_major, 4, 1023, true },
		{ WSI_KIND_META, WSI_AT_meta_cuda_major, 4, 1024, false },
		{ WSI_KIND_META, WSI_AT_meta_cuda_minor, 4, 1023, true },
		{ WSI_KIND_META, WSI_AT_meta_cuda_minor, 4, 1024, false },
		{ WSI_KIND_META, WSI_AT_meta_generator, 8, UINT32_MAX - 1, true },
		{ WSI_KIND_META, WSI_AT_meta_generator, 8, UINT32_MAX, false },
		{ WSI_KIND_GRID, WSI_AT_grid_id, 8, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_grid_dim, 4, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_grid_dim + 4, 4, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_grid_dim + 8, 4, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim, 4, 1024, true },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim, 4, 1025, false },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim, 4, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim + 8, 4, 1024, true },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim + 8, 4, 1025, false },
		{ WSI_KIND_GRID, WSI_AT_grid_block_dim + 8, 4, 0, false },
		{ WSI_KIND_GRID, WSI_AT_grid_n_regs, 4, 256, true },
		{ WSI_KIND_GRID, WSI_AT_grid_n_regs, 4, 257, false },
		{ WSI_KIND_GRID, WSI_AT_grid_function_entry, 8, 24, true },
		{ WSI_KIND_GRID, WSI_AT_grid_function_entry, 8, 25, false },
		{ WSI_KIND_SM, WSI_AT_sm_id, 4, 65535, true },
		{ WSI_KIND_SM, WSI_AT_sm_id, 4, 65536, false },
		{ WSI_KIND_SM, 4, 4, 1, false }, /* padding */
		{ WSI_KIND_SM, WSI_AT_sm_error_pc_valid, 4, 2, false },
		{ WSI_KIND_BLOCK, WSI_AT_block_grid_id, 8, 0, false },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx, 4, INT32_MAX - 1, true },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx, 4, INT32_MAX, false },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx + 4, 4, 65535, true },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx + 4, 4, 65536, false },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx + 8, 4, 65535, true },
		{ WSI_KIND_BLOCK, WSI_AT_block_idx + 8, 4, 65536, false },
		{ WSI_KIND_BLOCK, 20, 4, 1, false }, /* padding */
		{ WSI_KIND_WARP, WSI_AT_warp_id, 4, 4095, true },
		{ WSI_KIND_WARP, WSI_AT_warp_id, 4, 4096, false },
		{ WSI_KIND_WARP, WSI_AT_warp_active_lanes, 4, 3, true },
		{ WSI_KIND_WARP, WSI_AT_warp_active_lanes, 4, 4, false }, /* not valid */
		{ WSI_KIND_WARP, WSI_AT_warp_n_regs, 4, 256, true },
		{ WSI_KIND_WARP, WSI_AT_warp_n_regs, 4, 257, false },
		{ WSI_KIND_WARP, 28, 4, 1, false }, /* padding */
		{ WSI_KIND_WARP, WSI_AT_warp_broken, 4, 2, false },
		{ WSI_KIND_LANE, WSI_AT_lane_id, 4, 31, true },
		{ WSI_KIND_LANE, WSI_AT_lane_id, 4, 32, false },
		{ WSI_KIND_LANE, WSI_AT_lane_pc, 8, 16, true },
		{ WSI_KIND_LANE, WSI_AT_lane_pc, 8, 17, false },
		{ WSI_KIND_LANE, WSI_AT_lane_rel_pc, 8, 16, true },
		{ WSI_KIND_LANE, WSI_AT_lane_rel_pc, 8, 17, false },
		{ WSI_KIND_LANE, WSI_AT_lane_thread, 4, 1023, true },
		{ WSI_KIND_LANE, WSI_AT_lane_thread, 4, 1024, false },
		{ WSI_KIND_LANE, WSI_AT_lane_thread + 4, 4, 1023, true },
		{ WSI_KIND_LANE, WSI_AT_lane_thread + 4, 4, 1024, false },
		{ WSI_KIND_LANE, WSI_AT_lane_thread + 8, 4, 1023, true },
		{ WSI_KIND_LANE, WSI_AT_lane_thread + 8, 4, 1024, false },
		{ WSI_KIND_LANE, WSI_AT_lane_exception, 4, 0xffff, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct copy copy;
		struct ws_diagnostic d;
		char words[80];
		load_machine(&copy);
		store_le(row_field(&copy, cases[i].kind, cases[i].at), cases[i].value,
			 cases[i].n_bytes);
		uint8_t *field = header_field(&copy, cases[i].kind, 0, TYPE);
		assert_true(wsi_format(words, "section %u is taken for the %s",
				       section_of(&copy, field),
				       wsi_kind_infos[cases[i].kind].words));
		store_le(field, 0, 4);
		struct ws_target *target = open_copy(&copy);
		if (told_of(target, words, &d) != cases[i].fits)
			fail_msg("%s: field %u = %" PRIu64, words, cases[i].at, cases[i].value);
		ws_target_close(target);
	}
}

/* What is not put back is told as lost, beside the row that lacks it. */
static void what_stays_lost_is_told(void **state)
{
	(void)state;
	static const struct {
		enum wsi_kind kind, parent;
		enum ws_hides hides;
		const char *words;
	} cases[] = {
		{ WSI_KIND_LANE, WSI_KIND_WARP, WS_HIDES_FAULT,
		  "row 0 of the warp table (section 15) has no lane table" },
		/* another SM has one, though it is empty */
		{ WSI_KIND_BLOCK, WSI_KIND_SM, WS_HIDES_FAULT,
		  "row 0 of the SM table (section 12) has no block table" },
		{ WSI_KIND_WARP, WSI_KIND_BLOCK, WS_HIDES_FAULT,
		  "row 0 of the block table (section 13) has no warp table" },
		{ WSI_KIND_SM, WSI_KIND_DEVICE, WS_HIDES_FAULT,
		  "row 0 of the device table (section 4) has no SM table" },
		{ WSI_KIND_DEVICE, WSI_KIND_NONE, WS_HIDES_FAULT, "there is no device table" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct copy copy;
		struct ws_diagnostic d;
		load_machine(&copy);
		uint64_t row = 0;
		if (cases[i].parent)
			row = wsi_load_u64(header_field(&copy, cases[i].parent, 0, OFFSET));
		memset(row_field(&copy, cases[i].kind, 0), 0xff, 40);
		store_le(header_field(&copy, cases[i].kind, 0, TYPE), 0, 4);
		struct ws_target *target = open_copy(&copy);
		if (!told_of(target, cases[i].words, &d))
			fail_msg("not told: %s", cases[i].words);
		assert_int_equal(d.hides, cases[i].hides);
		assert_int_equal(d.file_off, cases[i].parent ? row : WS_NO_OFFSET);
		assert_true(told_of(target, "cannot be placed: its kind is lost", &d));
		assert_int_equal(d.hides, WS_HIDES_FAULT);
		ws_target_close(target);
	}
}

/* An SM without blocks may have no block table: without it nothing is told as lost. */
static void an_empty_table_is_not_missed(void **state)
{
	(void)state;
	struct copy copy;
	struct ws_diagnostic d;
	load_machine(&copy);
	store_le(header_field(&copy, WSI_KIND_BLOCK, 1, TYPE), 0, 4);
	struct ws_target *target = open_copy(&copy);
	assert_false(told_of(target, "has no block table", &d));
	ws_target_close(target);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	seeds = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_put_back_in_its_place),
		cmocka_unit_test(rows_of_a_table_are_measured),
		cmocka_unit_test(one_row_of_a_driver_to_come_is_read),
		cmocka_unit_test(of_two_places_the_name_decides),
		cmocka_unit_test(rows_hold_what_their_kind_can),
		cmocka_unit_test(what_stays_lost_is_told),
		cmocka_unit_test(an_empty_table_is_not_missed),
	};
	return cmocka_run_group_tests_name("mend", tests, NULL, NULL);
}
