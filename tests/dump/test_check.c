/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ws_core_check() over a small dump in which all is right but one number: what is found, by which
 * rule, and where in the file. Beside each number that is wrong stands the nearest that is not.
 * usage: test_check FOLDER (fuzz/seeds/core)
 */
#include "seed.h"

#define MEMORY UINT64_C(0x7f0000005000) /* of three sections: 8, 7 and 4 bytes */

enum { OF_FILE = 1000, FIRST = 0 }; /* instead of a kind: the ELF header */

struct number {
	unsigned kind, nth; /* section */
	int row;            /* HEADER: the field is in the section's header */
	unsigned at, n_bytes;
	uint64_t value;
};

enum { HEADER = -1 };

static uint8_t *place_of(struct copy *copy, const struct number *n)
{
	if (n->kind == OF_FILE)
		return copy->bytes + n->at;
	uint8_t *header = header_field(copy, (enum wsi_kind)n->kind, n->nth, 0);
	if (n->row == HEADER)
		return header + n->at;
	return copy->bytes + wsi_load_u64(header + OFFSET) +
	       (uint64_t)n->row * wsi_load_u64(header + ENTSIZE) + n->at;
}

static void put(struct copy *copy, const struct number *n)
{
	store_le(place_of(copy, n), n->value, n->n_bytes);
}

/* What the seed leaves out, so that nothing contradicts it. */
static const struct number completed[] = {
	{ WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_uniform_regs, 4, 2 },
	{ WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_uniform_preds, 4, 1 },
	{ WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_convergence_barriers, 4, 2 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_grid_dim, 4, 2 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_grid_dim + 4, 4, 1 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_grid_dim + 8, 4, 1 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_block_dim, 4, 2 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_block_dim + 4, 4, 1 },
	{ WSI_KIND_GRID, 0, 0, WSI_AT_grid_block_dim + 8, 4, 1 },
	{ WSI_KIND_GLOBAL, 1, HEADER, ADDR, 8, MEMORY + 0x1000 },
	{ WSI_KIND_WARP, 0, 0, WSI_AT_warp_n_regs, 4, 3 },
	{ WSI_KIND_WARP, 0, 1, WSI_AT_warp_n_regs, 4, 3 },
};

static void load_complete(struct copy *copy)
{
	load(copy, "r615");
	for (size_t i = 0; i < WSI_COUNT(completed); i++)
		put(copy, &completed[i]);
}

struct found {
	struct ws_finding item[40];
	size_t n, enough, n_images;
};

static bool keep(void *user, const struct ws_finding *finding)
{
	struct found *found = user;
	assert_true(found->n < WSI_COUNT(found->item));
	if (finding->rule == WS_CHECK_IMAGE) { /* the seed has the first bytes of two */
		found->n_images++;
		return true;
	}
	found->item[found->n++] = *finding;
	return found->n != found->enough;
}

static struct ws_check_summary check(const struct copy *copy, struct found *found)
{
	struct ws_check_summary summary;
	struct ws_target *target = open_copy(copy);
	assert_int_equal(ws_core_check(wsi_core_of(target), keep, found, &summary, NULL), WS_OK);
	assert_int_equal(summary.findings, found->n + found->n_images);
	assert_int_equal(summary.by_rule[WS_CHECK_IMAGE], found->n_images);
	ws_target_close(target);
	return summary;
}

static const struct ws_finding *find(const struct found *found, enum ws_check_rule rule,
				     uint64_t file_off, const char *message)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->item[i].rule == rule && found->item[i].file_off == file_off &&
		    strstr(found->item[i].message, message))
			return &found->item[i];
	return NULL;
}

static void a_sound_dump_has_no_findings(void **state)
{
	(void)state;
	struct copy copy;
	struct found found = { .n = 0 };
	load_complete(&copy);
	struct ws_check_summary summary = check(&copy, &found);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.n_images, 2);
	assert_int_equal(summary.sections, 43);
	/* device, context, module, grid, bank, two SMs, block, two warps, four lanes */
	assert_int_equal(summary.rows, 14);
}

struct wrong {
	struct number number;
	enum ws_check_rule rule;
	const char *message; /* NULL: nothing is wrong */
	struct number at;    /* what is told of it, where it is another */
};

#define RIGHT                \
	WS_CHECK_FILE, NULL, \
	{                    \
		0            \
	}
#define ITSELF    \
	{         \
		0 \
	}

static void judge(const struct wrong *w)
{
	struct copy copy;
	struct found found = { .n = 0 };
	load_complete(&copy);
	const struct number *at = w->at.n_bytes ? &w->at : &w->number;
	uint64_t off = (uint64_t)(place_of(&copy, at) - copy.bytes);
	put(&copy, &w->number);
	(void)check(&copy, &found);
	bool good = w->message ? find(&found, w->rule, off, w->message) != NULL : found.n == 0;
	if (good)
		return;
	for (size_t i = 0; i < found.n; i++)
		print_message("# 0x%" PRIx64 " %s: %s\n", found.item[i].file_off,
			      ws_check_rule_word(found.item[i].rule), found.item[i].message);
	fail_msg("kind %u, row %d, field %u = 0x%" PRIx64 ": not '%s' at 0x%" PRIx64,
		 w->number.kind, w->number.row, w->number.at, w->number.value,
		 w->message ? w->message : "nothing", off);
}

static void numbers_of_rows_are_checked(void **state)
{
	(void)state;
	static const struct wrong cases[] = {
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_name, 8, 1 << 20 },
		  WS_CHECK_TEXT,
		  "row 0: the name is at 1048576 of .strtab",
		  ITSELF },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_name, 8, 0 }, RIGHT },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_type, 8, 1 << 20 },
		  WS_CHECK_TEXT,
		  "the internal name is at",
		  ITSELF },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_sm_type, 8, 1 << 20 },
		  WS_CHECK_TEXT,
		  "the architecture is at",
		  ITSELF },
		{ { WSI_KIND_SM, 0, 0, WSI_AT_sm_exception_text, 8, 1 << 20 },
		  WS_CHECK_TEXT,
		  "row 0: the text of the exception is at",
		  ITSELF },
		{ { WSI_KIND_WARP, 0, 1, WSI_AT_warp_barrier_text, 8, 1 << 20 },
		  WS_CHECK_TEXT,
		  "row 1: the text of the barrier is at",
		  ITSELF },
		{ { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx, 4, 2 },
		  WS_CHECK_VALUE,
		  "block (2,0,0) is outside its extent (2,1,1)",
		  ITSELF },
		{ { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx, 4, 1 }, RIGHT },
		{ { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx + 4, 4, 1 },
		  WS_CHECK_VALUE,
		  "block (0,1,0) is outside",
		  { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx, 4, 0 } },
		{ { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx + 8, 4, 1 },
		  WS_CHECK_VALUE,
		  "block (0,0,1) is outside",
		  { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_idx, 4, 0 } },
		{ { WSI_KIND_LANE, 0, 1, WSI_AT_lane_thread, 4, 2 },
		  WS_CHECK_VALUE,
		  "row 1: warp 3, lane 1: thread (2,0,0) is outside its extent (2,1,1)",
		  ITSELF },
		{ { WSI_KIND_LANE, 0, 0, WSI_AT_lane_syscall_call_depth, 4, 2 },
		  WS_CHECK_VALUE,
		  "2 frames in system calls, of 1 in all",
		  ITSELF },
		{ { WSI_KIND_LANE, 0, 0, WSI_AT_lane_syscall_call_depth, 4, 1 }, RIGHT },
		{ { WSI_KIND_LANE, 0, 0, WSI_AT_lane_call_depth, 4, 2 },
		  WS_CHECK_COUNT,
		  "1 frames, but the lane's call depth is 2",
		  { WSI_KIND_FRAMES, 0, 0, 0, 1, 0 } },
		{ { WSI_KIND_FRAMES, 1, 0, WSI_AT_frame_level, 4, 1 },
		  WS_CHECK_ID,
		  "1 is where 0 should be",
		  { WSI_KIND_FRAMES, 1, 0, 0, 1, 0 } },
		{ { WSI_KIND_LANE, 0, 1, WSI_AT_lane_id, 4, 32 },
		  WS_CHECK_ID,
		  "row 1: lane 32; a warp has 32",
		  ITSELF },
		{ { WSI_KIND_LANE, 0, 1, WSI_AT_lane_id, 4, 0 },
		  WS_CHECK_ID,
		  "row 1: lane 0 is also in another row",
		  ITSELF },
		{ { WSI_KIND_LANE, 0, 1, WSI_AT_lane_id, 4, 5 },
		  WS_CHECK_REFERENCE,
		  "lane 5 is not in the warp's mask of valid lanes 0x3",
		  ITSELF },
		{ { WSI_KIND_WARP, 0, 0, WSI_AT_warp_n_regs, 4, 4 },
		  WS_CHECK_COUNT,
		  "3 registers; 4 are expected",
		  { WSI_KIND_REGS, 0, HEADER, SIZE, 8, 0 } },
		{ { WSI_KIND_WARP, 0, 0, WSI_AT_warp_n_regs, 4, 2 }, RIGHT },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_uniform_regs, 4, 1 },
		  WS_CHECK_COUNT,
		  "2 uniform registers; 1 are expected",
		  { WSI_KIND_UREGS, 1, HEADER, SIZE, 8, 0 } },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_uniform_regs, 4, 63 }, RIGHT },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_uniform_preds, 4, 0 },
		  WS_CHECK_COUNT,
		  "1 uniform predicates; 0 are expected",
		  { WSI_KIND_UPREDS, 0, HEADER, SIZE, 8, 0 } },
		{ { WSI_KIND_DEVICE, 0, 0, WSI_AT_device_n_convergence_barriers, 4, 1 },
		  WS_CHECK_COUNT,
		  "2 convergence barriers; 1 are expected",
		  { WSI_KIND_BARRIERS, 0, HEADER, SIZE, 8, 0 } },
		{ { WSI_KIND_BARRIERS, 0, HEADER, SIZE, 8, 0 },
		  WS_CHECK_COUNT,
		  "0 convergence barriers; 1 are expected",
		  ITSELF },
		{ { WSI_KIND_BANK, 0, 0, WSI_AT_bank_address, 8, UINT64_MAX - 3 },
		  WS_CHECK_MEMORY,
		  "constant bank 0 goes past the end of the address space",
		  { WSI_KIND_GRID, 0, 0, WSI_AT_grid_id, 8, 0 } },
		{ { WSI_KIND_BANK, 0, 0, WSI_AT_bank_address, 8, UINT64_MAX - 8 }, RIGHT },
		{ { WSI_KIND_GRID, 0, 0, WSI_AT_grid_context_id, 8, 8 },
		  WS_CHECK_REFERENCE,
		  "context",
		  ITSELF },
		{ { WSI_KIND_GRID, 0, 0, WSI_AT_grid_id, 8, 6 },
		  WS_CHECK_REFERENCE,
		  "grid 5 of a block",
		  { WSI_KIND_BLOCK, 0, 0, WSI_AT_block_grid_id, 8, 0 } },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		judge(&cases[i]);
}

static void numbers_of_headers_are_checked(void **state)
{
	(void)state;
	static const struct wrong cases[] = {
		{ { OF_FILE, 0, 0, 7, 1, 0x34 },
		  WS_CHECK_HEADER,
		  "OSABI is 0x34; dumps have 0x33",
		  ITSELF },
		{ { OF_FILE, 0, 0, 8, 1, 8 }, WS_CHECK_HEADER, "ABI version is 8", ITSELF },
		{ { OF_FILE, 0, 0, 20, 4, 2 }, WS_CHECK_HEADER, "ELF version is 2, not 1", ITSELF },
		{ { WSI_KIND_REGS, 0, HEADER, SIZE, 8, 11 },
		  WS_CHECK_STRIDE,
		  "11 bytes of registers are not a multiple of 4",
		  ITSELF },
		{ { WSI_KIND_PREDS, 0, HEADER, SIZE, 8, 7 },
		  WS_CHECK_STRIDE,
		  "7 bytes of predicates are",
		  ITSELF },
		{ { WSI_KIND_UREGS, 0, HEADER, SIZE, 8, 7 },
		  WS_CHECK_STRIDE,
		  "7 bytes of uniform registers are",
		  ITSELF },
		{ { WSI_KIND_UPREDS, 0, HEADER, SIZE, 8, 3 },
		  WS_CHECK_STRIDE,
		  "3 bytes of uniform predicates are",
		  ITSELF },
		{ { WSI_KIND_BARRIERS, 0, HEADER, SIZE, 8, 7 },
		  WS_CHECK_STRIDE,
		  "7 bytes of convergence barriers are",
		  ITSELF },
		{ { WSI_KIND_LOCAL, 0, HEADER, SIZE, 8, 7 }, RIGHT },
		{ { WSI_KIND_LANE, 0, HEADER, ENTSIZE, 8, 47 },
		  WS_CHECK_STRIDE,
		  "rows of 47 bytes; a lane table needs 48",
		  ITSELF },
		{ { WSI_KIND_LANE, 0, HEADER, ENTSIZE, 8, 48 },
		  WS_CHECK_STRIDE,
		  "bytes are not a multiple of the 48-byte rows",
		  { WSI_KIND_LANE, 0, HEADER, SIZE, 8, 0 } },
		{ { WSI_KIND_LANE, 0, HEADER, ENTSIZE, 8, UINT64_C(1) << 32 },
		  WS_CHECK_STRIDE,
		  "rows of 4294967296 bytes",
		  ITSELF },
		{ { WSI_KIND_META, 0, HEADER, SIZE, 8, 0 },
		  WS_CHECK_STRIDE,
		  "it is empty; metadata has 24 bytes or more",
		  ITSELF },
		{ { WSI_KIND_DEVICE, 0, HEADER, INFO, 4, 1 },
		  WS_CHECK_LINK,
		  "a device table has no parent, but this one names row 1 of section 0",
		  { WSI_KIND_DEVICE, 0, HEADER, LINK, 4, 0 } },
		{ { WSI_KIND_GLOBAL, 0, HEADER, LINK, 4, 2 },
		  WS_CHECK_LINK,
		  "a global memory has no parent, but this one names row 0 of section 2",
		  ITSELF },
		{ { WSI_KIND_REGS, 0, HEADER, LINK, 4, 1 },
		  WS_CHECK_LINK,
		  "its parent, section 1, is not a readable lane table",
		  ITSELF },
		{ { WSI_KIND_REGS, 0, HEADER, INFO, 4, 2 },
		  WS_CHECK_LINK,
		  "which has 2 rows",
		  ITSELF },
		{ { WSI_KIND_REGS, 1, HEADER, INFO, 4, 0 },
		  WS_CHECK_LINK,
		  "has another registers already",
		  { WSI_KIND_REGS, 1, HEADER, LINK, 4, 0 } },
		{ { WSI_KIND_REGS, 0, HEADER, NAME, 4, 1 << 20 },
		  WS_CHECK_NAME,
		  "its name is outside the name table",
		  ITSELF },
		{ { WSI_KIND_REGS, 0, HEADER, NAME, 4, 1 },
		  WS_CHECK_NAME,
		  "a registers whose name does not begin with .cudbg.regs",
		  ITSELF },
		{ { WSI_KIND_LOCAL, 0, HEADER, SIZE, 8, 1 << 20 },
		  WS_CHECK_EXTENT,
		  "of its 1048576 bytes are in the file",
		  { WSI_KIND_LOCAL, 0, HEADER, OFFSET, 8, 0 } },
		{ { WSI_KIND_LOCAL, 0, HEADER, OFFSET, 8, 63 },
		  WS_CHECK_EXTENT,
		  "overlaps the headers of the file at 0x3f",
		  ITSELF },
		{ { WSI_KIND_LOCAL, 0, HEADER, TYPE, 4, 0x80000000 },
		  WS_CHECK_TYPE,
		  "unknown type 0x80000000",
		  ITSELF },
		{ { WSI_KIND_MANAGED, 0, HEADER, ADDR, 8, MEMORY + 7 },
		  WS_CHECK_MEMORY,
		  "address 0x7f0000005007 is in section 1 too",
		  ITSELF },
		{ { WSI_KIND_MANAGED, 0, HEADER, ADDR, 8, MEMORY + 8 }, RIGHT },
		{ { WSI_KIND_GLOBAL, 1, HEADER, ADDR, 8, MEMORY + 14 },
		  WS_CHECK_MEMORY,
		  "address 0x7f000000500e is in section 2 too",
		  ITSELF },
		{ { WSI_KIND_GLOBAL, 1, HEADER, ADDR, 8, MEMORY + 15 }, RIGHT },
		{ { WSI_KIND_GLOBAL, 1, HEADER, ADDR, 8, UINT64_MAX - 2 },
		  WS_CHECK_MEMORY,
		  "0x4 bytes from 0xfffffffffffffffd on go past the end",
		  ITSELF },
		{ { WSI_KIND_GLOBAL, 1, HEADER, ADDR, 8, UINT64_MAX - 3 }, RIGHT },
		{ { WSI_KIND_GLOBAL, 0, HEADER, ADDR, 8, 0 }, RIGHT },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		judge(&cases[i]);
}

/* Another section's bytes: the one behind is told of the one before. */
static void sections_do_not_share_bytes(void **state)
{
	(void)state;
	struct copy copy;
	struct found found = { .n = 0 };
	load_complete(&copy);
	const struct number first = { WSI_KIND_LOCAL, 0, HEADER, OFFSET, 8, 0 };
	struct number second = { WSI_KIND_LOCAL, 1, HEADER, OFFSET, 8, 0 };
	second.value = wsi_load_u64(place_of(&copy, &first)) + 7;
	put(&copy, &second);
	(void)check(&copy, &found);
	assert_non_null(find(&found, WS_CHECK_EXTENT,
			     (uint64_t)(place_of(&copy, &second) - copy.bytes),
			     "shares bytes from"));
}

static void the_caller_may_have_enough(void **state)
{
	(void)state;
	struct copy copy;
	load(&copy, "r615");
	for (size_t enough = 1; enough <= 8; enough++) {
		struct found found = { .enough = enough };
		(void)check(&copy, &found);
		assert_int_equal(found.n, enough);
	}
}

static void rules_have_words(void **state)
{
	(void)state;
	assert_string_equal(ws_check_rule_word(WS_CHECK_FILE), "file");
	assert_string_equal(ws_check_rule_word((enum ws_check_rule)(WS_N_CHECKS - 1)), "image");
	assert_string_equal(ws_check_rule_word(WS_N_CHECKS), "?");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	seeds = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_dump_has_no_findings),
		cmocka_unit_test(numbers_of_rows_are_checked),
		cmocka_unit_test(numbers_of_headers_are_checked),
		cmocka_unit_test(sections_do_not_share_bytes),
		cmocka_unit_test(the_caller_may_have_enough),
		cmocka_unit_test(rules_have_words),
	};
	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
