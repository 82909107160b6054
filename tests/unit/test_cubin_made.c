/* SPDX-License-Identifier: Apache-2.0 */
/* What the module reader says of images made for the purpose: relocations of every type, options.
 */
#include "unit.h"

#include <warpscope/assemble.h>
#include <warpscope/cubin.h>
#include <warpscope/flow.h>
#include <warpscope/sass.h>

#include "cubin/options.h"

/* ---- relocations ---- */

static struct ws_assembly *made(const char *text)
{
	struct ws_assembly *assembly = NULL;
	struct ws_error err;
	if (ws_assemble(ws_str_of(text), NULL, &assembly, &err) != WS_OK)
		fail_msg("%s: %s", text, err.message);
	return assembly;
}

/* Which bits of an instruction the loader fills, by the number of the type: docs/formats/cubin.md.
 */
static void each_type_of_relocation_fills_its_field(void **state)
{
	(void)state;
	static const struct {
		uint32_t type;
		enum ws_reloc_kind kind;
		uint8_t lo, len;
	} cases[] = {
		{ 55, WS_RELOC_NUMBER, 32, 32 },        { 56, WS_RELOC_LOW, 32, 32 },
		{ 57, WS_RELOC_HIGH, 32, 32 },          { 58, WS_RELOC_CALL, 34, 47 },
		{ 59, WS_RELOC_NUMBER, 32, 32 },        { 62, WS_RELOC_KERNEL_LOW, 32, 32 },
		{ 63, WS_RELOC_KERNEL_HIGH, 32, 32 },   { 64, WS_RELOC_CONSTANT, 40, 19 },
		{ 65, WS_RELOC_NUMBER, 40, 14 },        { 66, WS_RELOC_CONSTANT, 38, 21 },
		{ 74, WS_RELOC_NUMBER, 40, 24 },        { 75, WS_RELOC_CALL, 34, 47 },
		{ 100, WS_RELOC_NUMBER, 44, 20 },       { 112, WS_RELOC_UNIFIED_LOW, 32, 32 },
		{ 113, WS_RELOC_UNIFIED_HIGH, 32, 32 }, { 114, WS_RELOC_UNIFIED_CALL, 34, 47 },
		{ 115, WS_RELOC_CONSTANT, 37, 22 },     { 54, WS_RELOC_OTHER, 0, 0 },
		{ 116, WS_RELOC_OTHER, 0, 0 },
	};
	char text[2000] = ".arch sm_90\n.extern d data\n.kernel k\n";
	size_t n_text = strlen(text);
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		n_text += (size_t)snprintf(text + n_text, sizeof text - n_text,
					   "\t.reloc %u d+%zu\n\tNOP\n", cases[i].type, i);
	snprintf(text + n_text, sizeof text - n_text, "\tEXIT\n.end\n");
	struct ws_assembly *assembly = made(text);
	struct ws_cubin *m;
	const struct ws_function *k;
	struct ws_reloc relocs[WSI_COUNT(cases)];
	size_t n;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_function(m, ws_str_of("k"), &k, NULL), WS_OK);
	assert_int_equal(ws_cubin_relocs(m, k->section, relocs, WSI_COUNT(relocs), &n, NULL),
			 WS_OK);
	assert_int_equal(n, WSI_COUNT(cases));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(relocs[i].sec_off, i * WS_SASS_BYTES);
		assert_int_equal(relocs[i].type, cases[i].type);
		assert_int_equal(relocs[i].kind, cases[i].kind);
		assert_int_equal(relocs[i].lo, cases[i].lo);
		assert_int_equal(relocs[i].len, cases[i].len);
		assert_int_equal(relocs[i].addend, i);
		assert_true(relocs[i].has_addend);
		assert_true(ws_str_equal(relocs[i].symbol, ws_str_of("d")));
	}
	/* fewer than there are: the first */
	assert_int_equal(ws_cubin_relocs(m, k->section, relocs, 2, &n, NULL), WS_OK);
	assert_int_equal(n, WSI_COUNT(cases));
	assert_int_equal(relocs[1].type, cases[1].type);
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
}

static void branches_have_the_targets_that_are_told(void **state)
{
	(void)state;
	struct ws_assembly *assembly = made(".arch sm_90\n.kernel k\n\t.targets a, b, k\n"
					    "\tBRX R2 -0x10\na:\tNOP\n\t.targets b\n"
					    "\tBRX R4 -0x30\nb:\tEXIT\n.end\n");
	static const struct ws_branch_target want[] = {
		{ 0, 0x10 }, { 0, 0x30 }, { 0, 0 }, { 0x20, 0x30 }
	};
	struct ws_branch_target targets[WSI_COUNT(want)];
	struct ws_cubin *m;
	const struct ws_function *k;
	size_t n;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_function(m, ws_str_of("k"), &k, NULL), WS_OK);
	for (size_t cap = 0; cap <= WSI_COUNT(want); cap++) {
		memset(targets, 0xff, sizeof targets);
		ws_cubin_branch_targets(m, k->section, targets, cap, &n);
		assert_int_equal(n, WSI_COUNT(want));
		for (size_t i = 0; i < n; i++) {
			assert_true(targets[i].sec_off == (i < cap ? want[i].sec_off : UINT64_MAX));
			assert_true(targets[i].target == (i < cap ? want[i].target : UINT64_MAX));
		}
	}
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
}

/* The blocks behind a branch through a register are those at its targets. */
static void told_targets_are_ways_of_the_code(void **state)
{
	(void)state;
	enum { BASE = 0x1000 };
	struct ws_assembly *assembly = made(".arch sm_90\n.kernel k\n\t.targets a, b\n"
					    "\tBRX R2 -0x10\n\tNOP\na:\tEXIT\nb:\tEXIT\n.end\n");
	struct ws_cubin *m;
	const struct ws_function *k;
	struct ws_flow *flow;
	size_t n;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_function(m, ws_str_of("k"), &k, NULL), WS_OK);
	assert_int_equal(ws_cubin_flow(m, k, BASE, &flow, NULL), WS_OK);
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	assert_int_equal(blocks[0].end_pc, BASE + 0x10);
	assert_int_equal(blocks[0].n_succ, 2);
	assert_int_equal(blocks[blocks[0].succ[0]].pc, BASE + 0x20);
	assert_int_equal(blocks[blocks[0].succ[1]].pc, BASE + 0x30);
	ws_flow_destroy(flow);
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
}

/* Compilers write the last parameter first; whatever their order is, they come by their number. */
static void parameters_come_by_their_number(void **state)
{
	(void)state;
	static const uint8_t orders[][3] = { { 2, 1, 0 }, { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 } };
	static const uint8_t record[] = { 4, 0x17, 12, 0 }; /* of a parameter */
	struct ws_assembly *assembly = made(".arch sm_90\n.kernel k\n\t.param a 4\n\t.param b 4\n"
					    "\t.param c 4\n\tEXIT\n.end\n");
	struct ws_span image = ws_assembly_image(assembly);
	uint8_t *copy = wsi_zalloc(image.len);
	assert_non_null(copy);
	memcpy(copy, image.ptr, image.len);
	for (size_t i = 0; i < WSI_COUNT(orders); i++) {
		size_t n_records = 0, n;
		for (size_t at = 0; at + 16 <= image.len && n_records < 3; at += 4)
			if (memcmp(image.ptr + at, record, sizeof record) == 0)
				copy[at + 8] = orders[i][n_records++];
		assert_int_equal(n_records, 3);
		struct ws_cubin *m;
		const struct ws_function *k;
		struct ws_function_info info;
		struct ws_param params[3];
		assert_int_equal(ws_cubin_open((struct ws_span){ copy, image.len, 0 }, &m, NULL),
				 WS_OK);
		assert_int_equal(ws_cubin_find_function(m, ws_str_of("k"), &k, NULL), WS_OK);
		assert_int_equal(ws_cubin_function_info(m, k, &info, params, 3, NULL, 0, NULL),
				 WS_OK);
		assert_int_equal(info.n_params, 3);
		for (n = 0; n < 3; n++)
			assert_int_equal(params[n].ordinal, n);
		ws_cubin_close(m);
	}
	wsi_free(copy);
	ws_assembly_destroy(assembly);
}

/* An attribute of a kind that is not known is never taken for none. */
static void an_unknown_attribute_is_counted(void **state)
{
	(void)state;
	static const uint8_t record[] = { 3, 0x1b, 0xff, 0 }; /* registers */
	static const struct {
		uint8_t number;
		bool unknown;
	} cases[] = { { 0x1b, false }, { 0x6d, false }, { 0x6e, true },
		      { 0xff, true },  { 0x5f, false }, { 0x60, true } };
	struct ws_assembly *assembly = made(".arch sm_90\n.kernel k\n\tEXIT\n.end\n");
	struct ws_span image = ws_assembly_image(assembly);
	uint8_t *copy = wsi_zalloc(image.len);
	assert_non_null(copy);
	memcpy(copy, image.ptr, image.len);
	size_t at = 0;
	while (at + 4 <= image.len && memcmp(copy + at, record, sizeof record) != 0)
		at += 4;
	assert_true(at + 4 <= image.len);
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_cubin *m;
		const struct ws_function *k;
		struct ws_function_info info;
		copy[at + 1] = cases[i].number;
		assert_int_equal(ws_cubin_open((struct ws_span){ copy, image.len, 0 }, &m, NULL),
				 WS_OK);
		assert_int_equal(ws_cubin_find_function(m, ws_str_of("k"), &k, NULL), WS_OK);
		assert_int_equal(ws_cubin_function_info(m, k, &info, NULL, 0, NULL, 0, NULL),
				 WS_OK);
		assert_int_equal(info.n_unknown, cases[i].unknown);
		assert_int_equal(info.first_unknown, cases[i].unknown ? cases[i].number : 0);
		ws_cubin_close(m);
	}
	wsi_free(copy);
	ws_assembly_destroy(assembly);
}

/* ---- options ---- */

/* A word is shown when it is an option of the compiler's, or a value that such an option has for
 * everybody: what a user wrote is not. */
static void options_are_shown_word_by_word(void **state)
{
	(void)state;
	static const struct {
		const char *text, *shown; /* a letter for each word */
	} cases[] = {
		{ "", "" },
		{ "  ", "" },
		{ "-arch sm_90a -O3", "yyy" },
		{ "  -arch   sm_90a  ", "yy" },
		{ "-arch sm_90x", "yn" },
		{ "-arch sm_", "yn" },
		{ "-arch sm_a", "yn" },
		{ "-arch sm_9f -arch compute_100f -arch compute_9x", "yyyyyn" },
		{ "-arch xsm_90", "yn" },
		{ "-m 64 -m 6x", "yyyn" },
		{ "-m 1234567890 -m 12345678901", "yyyn" },
		{ "-lineinfo true", "yy" },
		{ "-lineinfo truer", "yn" },
		{ "secret", "n" },
		{ "90", "n" },
		{ "-DNAME=90", "n" },
		{ "-DNAME 90", "nn" },
		{ "-arch=sm_90 -arch=mine -arch= --secret=90", "ynnn" },
		{ "-archy", "n" },
		{ "-arc", "n" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_options options = wsi_options_of(ws_str_of(cases[i].text));
		struct ws_str word;
		char have[10] = "";
		bool is_shown;
		for (size_t n = 0; wsi_option_next(&options, &word, &is_shown); n++) {
			assert_true(word.len > 0 && !memchr(word.ptr, ' ', word.len));
			have[n] = is_shown ? 'y' : 'n';
		}
		if (strcmp(have, cases[i].shown) != 0)
			fail_msg("'%s': %s, not %s", cases[i].text, have, cases[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_of_relocation_fills_its_field),
		cmocka_unit_test(branches_have_the_targets_that_are_told),
		cmocka_unit_test(told_targets_are_ways_of_the_code),
		cmocka_unit_test(parameters_come_by_their_number),
		cmocka_unit_test(an_unknown_attribute_is_counted),
		cmocka_unit_test(options_are_shown_word_by_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
