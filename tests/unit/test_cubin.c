/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <pthread.h>

#include <warpscope/cubin.h>

#include "base/file.h"
#include "base/reader.h"
#include "cubin/cubin.h"

/* A cubin of tests/data/cubins, or an image that a builder made of one. */
struct fixture {
	struct wsi_file file;
	struct ws_cubin *cubin;
};

static struct fixture fixture_open(const char *folder_variable, const char *name)
{
	struct fixture f = { 0 };
	struct ws_error err;
	char path[1000];
	const char *folder = getenv(folder_variable);
	assert_non_null(folder);
	assert_true(wsi_format(path, "%s/%s", folder, name));
	assert_int_equal(wsi_file_open(path, &f.file, &err), WS_OK);
	assert_int_equal(ws_cubin_open(f.file.bytes, &f.cubin, &err), WS_OK);
	return f;
}

static struct fixture cubin(const char *name)
{
	return fixture_open("WS_TEST_CUBINS", name);
}

static struct fixture relocated(const char *name)
{
	return fixture_open("WS_TEST_BUILT", name);
}

static void fixture_close(struct fixture *f)
{
	ws_cubin_close(f->cubin);
	wsi_file_close(&f->file);
}

static const struct ws_function *function(const struct fixture *f, const char *name)
{
	const struct ws_function *found = NULL;
	struct ws_error err;
	assert_int_equal(ws_cubin_find_function(f->cubin, ws_str_of(name), &found, &err), WS_OK);
	return found;
}

static bool is(struct ws_str text, const char *wanted)
{
	return ws_str_equal(text, ws_str_of(wanted));
}

static const char kernel[] = "_Z8checksumPKciiPi";
static const char fold[] = "_Z4fold6Cursori";
static const uint64_t base = 0x7f3600010000;

/* ---- one image ---- */

static void kernel_has_what_the_compiler_noted(void **state)
{
	(void)state;
	struct fixture f = cubin("calls.li.sm_80.cubin");
	const struct ws_function *k = function(&f, kernel);
	assert_true(k->is_kernel);
	assert_false(k->is_inner);
	assert_int_equal(k->size_bytes, 2816);
	assert_int_equal(k->n_regs, 32);
	assert_int_equal(k->gpu_va, 0);
	struct ws_function_info info;
	struct ws_param params[8];
	uint32_t exits[2];
	assert_int_equal(ws_cubin_function_info(f.cubin, k, &info, params, 8, exits, 2, NULL),
			 WS_OK);
	assert_int_equal(info.param_bank_offset, 0x160);
	assert_int_equal(info.param_bytes, 24);
	assert_int_equal(info.n_params, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(params[i].ordinal, i);
	assert_int_equal(params[3].offset, 16);
	assert_int_equal(params[3].size_bytes, 8);
	assert_int_equal(info.n_exits, 1);
	assert_int_equal(exits[0], 0xc0);
	assert_int_equal(ws_cubin_function_info(f.cubin, k, &info, NULL, 0, NULL, 0, NULL), WS_OK);
	assert_int_equal(info.n_params, 4);
	fixture_close(&f);
}

/* Records of the second kind: of more than 4,352 bytes, which lie elsewhere up to sm_89. */
static void long_parameters_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t base;
	} cases[] = { { "longparams.li.sm_80.cubin", 0x1a80 },
		      { "longparams.li.sm_90.cubin", 0x210 } };
	static const uint32_t offsets[] = { 0, 8, 4808 }, sizes[] = { 8, 4800, 8 };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct fixture f = cubin(cases[i].name);
		const struct ws_function *k = function(&f, "long_params");
		struct ws_function_info info;
		struct ws_param params[4];
		uint32_t offset = 0, bytes;
		assert_int_equal(
			ws_cubin_function_info(f.cubin, k, &info, params, 4, NULL, 0, NULL), WS_OK);
		assert_int_equal(info.param_bank_offset, cases[i].base);
		assert_int_equal(info.param_bytes, 4816);
		assert_int_equal(info.n_params, 3);
		for (uint32_t p = 0; p < 3; p++) {
			assert_int_equal(params[p].ordinal, p);
			assert_int_equal(params[p].offset, offsets[p]);
			assert_int_equal(params[p].size_bytes, sizes[p]);
			assert_false(params[p].is_pointer);
		}
		assert_false(ws_params_hidden(&info, params, 3, &offset, &bytes));
		fixture_close(&f);
	}
}

/* Hidden parameters have no record: they are the holes that no alignment explains. */
static void hidden_parameters_are_told(void **state)
{
	(void)state;
	struct fixture f = cubin("hidden.none.sm_90.cubin");
	const struct ws_function *k = function(&f, "hidden_params");
	struct ws_function_info info;
	struct ws_param params[4];
	uint32_t offset = 0, bytes = 0;
	assert_int_equal(ws_cubin_function_info(f.cubin, k, &info, params, 4, NULL, 0, NULL),
			 WS_OK);
	assert_int_equal(info.n_params, 4);
	assert_int_equal(info.n_unknown, 0);
	assert_true(params[0].is_pointer && params[2].is_pointer);
	assert_int_equal(params[0].to, WS_SPACE_GLOBAL);
	assert_int_equal(params[0].alignment, 16);
	assert_int_equal(params[2].to, WS_SPACE_SHARED);
	assert_int_equal(params[2].alignment, 8);
	assert_false(params[1].is_pointer || params[3].is_pointer);
	assert_true(ws_params_hidden(&info, params, 4, &offset, &bytes));
	assert_int_equal(offset, 8); /* with what aligns it: 0x218 to 0x2c0 of bank 0 */
	assert_int_equal(bytes, params[1].offset - 8);
	offset += bytes;
	assert_true(ws_params_hidden(&info, params, 4, &offset, &bytes));
	assert_int_equal(offset, params[3].offset + 8);
	assert_int_equal(bytes, 4);
	offset += bytes;
	assert_false(ws_params_hidden(&info, params, 4, &offset, &bytes));
	offset = 0;
	assert_false(ws_params_hidden(&info, params, 3, &offset, &bytes)); /* not all are given */
	fixture_close(&f);
}

static void callee_in_a_kernels_section_has_its_own_name(void **state)
{
	(void)state;
	struct fixture f = cubin("calls.li.sm_80.cubin");
	const struct ws_function *inner = function(&f, fold), *k = function(&f, kernel);
	assert_true(inner->is_inner);
	assert_true(is(inner->symbol, "$_Z8checksumPKciiPi$_Z4fold6Cursori"));
	assert_ptr_equal(function(&f, "$_Z8checksumPKciiPi$_Z4fold6Cursori"), inner);
	assert_int_equal(inner->owner, k->index);
	struct ws_place place;
	assert_int_equal(ws_cubin_find_offset(f.cubin, k->section, 0xe0, &place, NULL), WS_OK);
	assert_ptr_equal(place.function, inner);
	assert_ptr_equal(place.owner, k);
	assert_int_equal(place.sec_off, 0xe0);
	assert_int_equal(place.rel_pc, 0x10);
	assert_int_equal(ws_cubin_find_offset(f.cubin, k->section, 0, &place, NULL), WS_OK);
	assert_ptr_equal(place.function, k);
	assert_int_equal(ws_cubin_find_offset(f.cubin, k->section, 2816, &place, NULL), WS_ABSENT);
	assert_int_equal(ws_cubin_find_offset(f.cubin, 1, 0, &place, NULL), WS_ABSENT);
	assert_int_equal(ws_cubin_find_address(f.cubin, 0, &place, NULL), WS_ABSENT);
	fixture_close(&f);
}

static void build_facts_come_from_the_header_and_the_notes(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t sm;
		bool relocatable, has_lines, has_debug_info, has_ptx;
		const char *tool, *options;
	} cases[] = {
		{ "calls.li.sm_80.cubin", 80, false, true, false, true, "ptxas",
		  "-lineinfo  -arch sm_80 -m 64" },
		{ "calls.li.sm_100.cubin", 100, false, true, false, true, "ptxas",
		  "-lineinfo  -arch sm_100 -m 64" },
		{ "pair.G.sm_90.cubin", 90, false, true, true, true, "ptxas", NULL },
		{ "bare.none.sm_90.cubin", 90, false, false, false, false, "ptxas",
		  "-arch sm_90 -m 64" },
		{ "link_a.li.sm_90.cubin", 90, true, true, false, true, "ptxas", NULL },
		{ "linked.li.sm_90.cubin", 90, false, true, false, true, "nvlink", "-arch sm_90" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct fixture f = cubin(cases[i].name);
		struct ws_cubin_facts facts;
		ws_cubin_facts(f.cubin, &facts);
		assert_int_equal(facts.sm, cases[i].sm);
		assert_int_equal(facts.virtual_sm, cases[i].sm);
		assert_int_equal(facts.abi_version, 8);
		assert_int_equal(facts.toolkit, 130);
		assert_int_equal(facts.variant, 0);
		assert_false(facts.relocated);
		assert_int_equal(facts.relocatable, cases[i].relocatable);
		assert_int_equal(facts.has_lines, cases[i].has_lines);
		assert_int_equal(facts.has_debug_info, cases[i].has_debug_info);
		assert_int_equal(facts.has_ptx, cases[i].has_ptx);
		assert_true(is(facts.tool, cases[i].tool));
		if (cases[i].options)
			assert_true(is(facts.options, cases[i].options));
		assert_false(ws_cubin_damage(f.cubin, NULL));
		fixture_close(&f);
	}
}

static void missing_lines_are_explained(void **state)
{
	(void)state;
	char text[400];
	struct fixture f = cubin("bare.none.sm_80.cubin");
	assert_int_equal(ws_cubin_explain_lines(f.cubin, text, sizeof text), WS_LINES_NOT_BUILT);
	assert_non_null(strstr(text, "-lineinfo"));
	assert_int_equal(ws_cubin_explain_lines(f.cubin, NULL, 0), WS_LINES_NOT_BUILT);
	struct ws_line_pos pos;
	size_t n;
	struct ws_place place;
	const struct ws_function *k = function(&f, "_Z8no_linesPKiS0_Pi");
	assert_int_equal(ws_cubin_find_offset(f.cubin, k->section, 0, &place, NULL), WS_OK);
	assert_int_equal(ws_cubin_line_find(f.cubin, k->section, 0, &pos, 1, &n, NULL), WS_ABSENT);
	fixture_close(&f);
	f = cubin("calls.li.sm_80.cubin");
	assert_int_equal(ws_cubin_explain_lines(f.cubin, text, sizeof text), WS_LINES_PRESENT);
	fixture_close(&f);
}

static void chain_ends_in_the_innermost_function_symbol(void **state)
{
	(void)state;
	struct fixture f = cubin("linked.li.sm_90.cubin");
	const struct ws_function *outside = function(&f, "_Z7outsidePKfi");
	struct ws_line_pos pos[4];
	size_t n = 0;
	assert_int_equal(ws_cubin_line_find(f.cubin, outside->section, 0x20, pos, 4, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 2);
	assert_string_equal(pos[0].function, "_Z8tail_sumPKfi");
	assert_string_equal(pos[0].file->name, "link_b.cu");
	assert_int_equal(pos[0].line, 6);
	assert_string_equal(pos[1].function, "_Z7outsidePKfi");
	assert_int_equal(pos[1].line, 11);
	fixture_close(&f);
	f = cubin("calls.li.sm_80.cubin");
	const struct ws_function *inner = function(&f, fold);
	assert_int_equal(ws_cubin_line_find(f.cubin, inner->section, inner->sec_off + 0x20, pos, 4,
					    &n, NULL),
			 WS_OK);
	assert_string_equal(pos[n - 1].function, fold);
	fixture_close(&f);
}

static void ptx_line_of_an_instruction(void **state)
{
	(void)state;
	struct fixture f = cubin("calls.li.sm_80.cubin");
	const struct ws_function *inner = function(&f, fold);
	struct ws_ptx_line line;
	assert_int_equal(
		ws_cubin_ptx_find(f.cubin, inner->section, inner->sec_off + 0x20, &line, NULL),
		WS_OK);
	assert_int_equal(line.line, 199);
	assert_non_null(strstr(line.text.ptr, "setp.lt.s32"));
	fixture_close(&f);
	f = cubin("linked.li.sm_90.cubin"); /* two texts: the file of the row tells which */
	const struct ws_function *other = function(&f, "_Z5otherPfi");
	assert_int_equal(ws_cubin_ptx_find(f.cubin, other->section, 0x20, &line, NULL), WS_OK);
	struct ws_section section;
	assert_int_equal(ws_cubin_section(f.cubin, line.section, &section, NULL), WS_OK);
	assert_int_equal(section.name.len, strlen(".nv_debug_ptx_txt.") +
						   strspn(section.name.ptr + 18, "0123456789"));
	fixture_close(&f);
	f = cubin("bare.none.sm_80.cubin");
	assert_int_equal(ws_cubin_ptx_find(f.cubin, 13, 0, &line, NULL), WS_ABSENT);
	fixture_close(&f);
}

static void variables_have_a_space(void **state)
{
	(void)state;
	struct fixture f = cubin("stop.li.sm_90.cubin");
	const struct ws_variable *variables;
	size_t n, seen = 0;
	assert_int_equal(ws_cubin_variables(f.cubin, &variables, &n, NULL), WS_OK);
	for (size_t i = 0; i < n; i++) {
		if (!is(variables[i].name, "$str"))
			continue;
		seen++;
		assert_int_equal(variables[i].space, WS_SPACE_GLOBAL);
		assert_int_equal(variables[i].size_bytes, 20);
	}
	assert_int_equal(seen, 1);
	fixture_close(&f);
}

static void undefined_function_is_listed_without_code(void **state)
{
	(void)state;
	struct fixture f = cubin("stop.li.sm_90.cubin");
	const struct ws_function *undefined = function(&f, "__assertfail");
	struct ws_span code;
	struct ws_code_id id;
	assert_int_equal(undefined->section, 0);
	assert_int_equal(ws_cubin_code(f.cubin, undefined, &code, NULL), WS_ABSENT);
	assert_int_equal(ws_cubin_code_id(f.cubin, undefined, &id, NULL), WS_ABSENT);
	const struct ws_function *inner = function(&f, "_Z11check_indexii");
	assert_int_equal(ws_cubin_code(f.cubin, inner, &code, NULL), WS_OK);
	assert_int_equal(code.len, 560);
	fixture_close(&f);
}

/* ---- relocated images ---- */

static const char *const forms[] = {
	"calls.G.sm_90.both.cubin",         "calls.G.sm_90.symbols.cubin",
	"calls.G.sm_90.sections.cubin",     "calls.G.sm_90.both+keep.cubin",
	"calls.G.sm_90.symbols+keep.cubin", "calls.G.sm_90.both+abi7.cubin",
};

static void every_form_of_relocated_image_answers_alike(void **state)
{
	(void)state;
	struct fixture plain = cubin("calls.G.sm_90.cubin");
	const struct ws_function *functions;
	size_t n;
	assert_int_equal(ws_cubin_functions(plain.cubin, &functions, &n, NULL), WS_OK);
	for (size_t form = 0; form < WSI_COUNT(forms); form++) {
		struct fixture f = relocated(forms[form]);
		struct ws_cubin_facts facts;
		ws_cubin_facts(f.cubin, &facts);
		assert_true(facts.relocated);
		assert_int_equal(facts.sm, 90);
		uint64_t lowest = UINT64_MAX;
		for (size_t i = 0; i < n; i++) {
			if (functions[i].section == 0)
				continue;
			struct ws_section section;
			assert_int_equal(
				ws_cubin_section(f.cubin, functions[i].section, &section, NULL),
				WS_OK);
			lowest = wsi_min_u64(lowest, section.gpu_va);
			struct ws_place at;
			assert_int_equal(
				ws_cubin_find_address(f.cubin, section.gpu_va + 0x30, &at, NULL),
				WS_OK);
			assert_int_equal(at.section, functions[i].section);
			assert_int_equal(at.sec_off, 0x30);
			assert_true(ws_str_equal(at.function->name, functions[i].name));
			assert_int_equal(at.function->gpu_va, section.gpu_va);
			struct ws_line_pos ours[8], theirs[8];
			size_t n_ours = 0, n_theirs = 0;
			enum ws_status st = ws_cubin_line_find(plain.cubin, at.section, 0x30,
							       theirs, 8, &n_theirs, NULL);
			assert_int_equal(ws_cubin_line_find(f.cubin, at.section, 0x30, ours, 8,
							    &n_ours, NULL),
					 st);
			assert_int_equal(n_ours, n_theirs);
			for (size_t j = 0; j < n_ours; j++)
				assert_int_equal(ours[j].line, theirs[j].line);
			/* and decodes no other sequence for it */
			struct ws_line_map *map;
			struct ws_line_seq seq;
			assert_int_equal(ws_cubin_line_map(f.cubin, &map, NULL), WS_OK);
			assert_int_equal(ws_line_owner_seq(map, at.section, 0, &seq, NULL), st);
		}
		assert_int_equal(lowest, base);
		struct ws_place place;
		assert_int_equal(ws_cubin_find_address(f.cubin, base - 1, &place, NULL), WS_ABSENT);
		fixture_close(&f);
	}
	fixture_close(&plain);
}

static void relocated_image_has_the_identity_of_the_file(void **state)
{
	(void)state;
	struct fixture plain = cubin("calls.G.sm_90.cubin");
	struct ws_code_id wanted, id;
	assert_int_equal(ws_cubin_image_id(plain.cubin, &wanted, NULL), WS_OK);
	for (size_t form = 0; form < WSI_COUNT(forms); form++) {
		struct fixture f = relocated(forms[form]);
		assert_int_equal(ws_cubin_image_id(f.cubin, &id, NULL), WS_OK);
		assert_memory_equal(&id, &wanted, sizeof id);
		struct ws_code_diff diff;
		assert_int_equal(ws_code_compare(plain.cubin, function(&plain, kernel), f.cubin,
						 function(&f, kernel), &diff, NULL),
				 WS_OK);
		assert_true(diff.equal);
		assert_true(diff.addresses_known);
		assert_true(diff.n_masked > 0);
		fixture_close(&f);
	}
	fixture_close(&plain);
}

static void comparing_two_relocated_images_without_relocations_is_no_proof(void **state)
{
	(void)state;
	struct fixture a = relocated(forms[0]), b = relocated(forms[1]);
	struct ws_code_diff diff;
	assert_int_equal(ws_code_compare(a.cubin, function(&a, kernel), b.cubin,
					 function(&b, kernel), &diff, NULL),
			 WS_OK);
	assert_int_equal(diff.n_bytes, 0);
	assert_false(diff.addresses_known);
	assert_false(diff.equal);
	fixture_close(&a);
	fixture_close(&b);
}

static void other_code_differs_and_says_how_much(void **state)
{
	(void)state;
	struct fixture a = cubin("calls.li.sm_90.cubin"), b = cubin("calls.G.sm_90.cubin");
	struct ws_code_diff diff;
	struct ws_code_id id_a, id_b;
	assert_int_equal(ws_code_compare(a.cubin, function(&a, kernel), b.cubin,
					 function(&b, kernel), &diff, NULL),
			 WS_OK);
	assert_false(diff.equal);
	assert_true(diff.n_instructions > 10);
	assert_true(diff.n_bytes >= diff.n_instructions);
	assert_int_equal(ws_cubin_code_id(a.cubin, function(&a, kernel), &id_a, NULL), WS_OK);
	assert_int_equal(ws_cubin_code_id(b.cubin, function(&b, kernel), &id_b, NULL), WS_OK);
	assert_memory_not_equal(&id_a, &id_b, sizeof id_a);
	fixture_close(&a);
	fixture_close(&b);
}

static void one_changed_immediate_keeps_the_identity_but_not_the_proof(void **state)
{
	(void)state;
	struct fixture f = cubin("bare.none.sm_90.cubin");
	const struct ws_function *k = function(&f, "_Z8no_linesPKiS0_Pi");
	struct ws_span code;
	assert_int_equal(ws_cubin_code(f.cubin, k, &code, NULL), WS_OK);
	uint8_t *copy = wsi_zalloc(f.file.bytes.len);
	assert_non_null(copy);
	memcpy(copy, f.file.bytes.ptr, f.file.bytes.len);
	uint8_t *word = copy + (code.ptr - f.file.bytes.ptr) + 0x20;
	word[0] = 0x02; /* MOV Rx, imm32 in both */
	word[1] = 0x78;
	struct ws_cubin *a, *b;
	struct ws_span image = { copy, f.file.bytes.len, 0 };
	assert_int_equal(ws_cubin_open(image, &a, NULL), WS_OK);
	struct ws_code_id id_a, id_b;
	assert_int_equal(ws_cubin_code_id(a, k, &id_a, NULL), WS_OK);
	uint8_t *copy_b = wsi_zalloc(f.file.bytes.len);
	assert_non_null(copy_b);
	memcpy(copy_b, copy, f.file.bytes.len);
	copy_b[(word - copy) + 5] ^= 0x40; /* in bits 32-63 */
	assert_int_equal(ws_cubin_open((struct ws_span){ copy_b, f.file.bytes.len, 0 }, &b, NULL),
			 WS_OK);
	assert_int_equal(ws_cubin_code_id(b, k, &id_b, NULL), WS_OK);
	assert_memory_equal(&id_a, &id_b, sizeof id_a);
	struct ws_code_diff diff;
	assert_int_equal(ws_code_compare(a, k, b, k, &diff, NULL), WS_OK);
	assert_false(diff.equal);
	assert_int_equal(diff.n_bytes, 1);
	assert_int_equal(diff.n_instructions, 1);
	assert_int_equal(diff.first_off, 0x20);
	ws_cubin_close(a);
	ws_cubin_close(b);
	wsi_free(copy);
	wsi_free(copy_b);
	fixture_close(&f);
}

static void code_id_text_round_trips(void **state)
{
	(void)state;
	struct ws_code_id id, back;
	char text[WS_CODE_ID_TEXT];
	for (unsigned i = 0; i < sizeof id.bytes; i++)
		id.bytes[i] = (uint8_t)(i * 37);
	ws_code_id_text(&id, text);
	assert_int_equal(strlen(text), 64);
	assert_true(ws_code_id_parse(text, &back));
	assert_memory_equal(&id, &back, sizeof id);
	assert_false(ws_code_id_parse("12", &back));
	text[5] = 'g';
	assert_false(ws_code_id_parse(text, &back));
}

/* ---- damage ---- */

/* Everything a caller can ask of an image. */
static void exercise(struct ws_span image)
{
	struct ws_cubin *m;
	if (ws_cubin_open(image, &m, NULL) != WS_OK)
		return;
	struct ws_cubin_facts facts;
	ws_cubin_facts(m, &facts);
	char text[300];
	(void)ws_cubin_explain_lines(m, text, sizeof text);
	const struct ws_function *f;
	const struct ws_variable *v;
	size_t n = 0, n_pos;
	struct ws_error err;
	assert_int_equal(ws_cubin_variables(m, &v, &n, &err), WS_OK);
	assert_int_equal(ws_cubin_functions(m, &f, &n, &err), WS_OK);
	for (size_t i = 0; i < n && i < 50; i++) {
		struct ws_function_info info;
		struct ws_param params[4];
		uint32_t exits[4];
		struct ws_line_pos pos[8];
		struct ws_ptx_line ptx;
		struct ws_place place;
		struct ws_span code;
		struct ws_code_id id;
		struct ws_code_diff diff;
		uint64_t at = f[i].sec_off;
		(void)!ws_cubin_function_info(m, &f[i], &info, params, 4, exits, 4, &err);
		(void)!ws_cubin_find_offset(m, f[i].section, at, &place, &err);
		(void)!ws_cubin_find_address(m, f[i].gpu_va, &place, &err);
		(void)!ws_cubin_line_find(m, f[i].section, at, pos, 8, &n_pos, &err);
		(void)!ws_cubin_ptx_find(m, f[i].section, at, &ptx, &err);
		(void)!ws_cubin_code(m, &f[i], &code, &err);
		(void)!ws_cubin_code_id(m, &f[i], &id, &err);
		(void)!ws_code_compare(m, &f[i], m, &f[0], &diff, &err);
		(void)ws_demangle(f[i].name, text, sizeof text);
	}
	struct ws_code_id id;
	(void)!ws_cubin_image_id(m, &id, &err);
	ws_cubin_close(m);
}

/* The same where memory may be out: what fails says so, and works when it is asked again. */
static void exercise_allocations(struct ws_span image)
{
	struct ws_cubin *m;
	enum ws_status st = ws_cubin_open(image, &m, NULL);
	if (st != WS_OK) {
		assert_int_equal(st, WS_NO_MEMORY);
		return;
	}
	const struct ws_function *f = NULL;
	struct ws_line_pos pos[8];
	struct ws_ptx_line ptx;
	struct ws_code_id id;
	size_t n;
	struct ws_str name = ws_str_of("_Z5otherPfi");
	for (unsigned attempt = 0; attempt < 2; attempt++) {
		st = ws_cubin_find_function(m, name, &f, NULL);
		if (st == WS_OK)
			st = ws_cubin_line_find(m, f->section, 0x20, pos, 8, &n, NULL);
		if (st == WS_OK)
			st = ws_cubin_ptx_find(m, f->section, 0x20, &ptx, NULL);
		if (st == WS_OK)
			st = ws_cubin_image_id(m, &id, NULL);
		assert_true(st == WS_OK || (attempt == 0 && st == WS_NO_MEMORY));
		wsi_alloc_should_fail = NULL;
	}
	ws_cubin_close(m);
}

static void image_cut_at_every_byte_is_survived(void **state)
{
	(void)state;
	struct fixture f = cubin("bare.none.sm_80.cubin");
	for (size_t len = 0; len < f.file.bytes.len; len++) {
		uint8_t *copy = wsi_zalloc(len); /* of its own, so that an overread is seen */
		assert_non_null(copy);
		if (len > 0)
			memcpy(copy, f.file.bytes.ptr, len);
		exercise((struct ws_span){ copy, len, 0 });
		wsi_free(copy);
	}
	/* the section headers end at 3584, before the program headers */
	struct ws_cubin *m;
	struct ws_span cut = { f.file.bytes.ptr, 3583, 0 };
	assert_int_equal(ws_cubin_open(cut, &m, NULL), WS_OK);
	struct ws_error err;
	assert_true(ws_cubin_damage(m, &err));
	assert_int_equal(err.status, WS_TRUNCATED);
	ws_cubin_close(m);
	fixture_close(&f);
}

static void functions_without_a_name_have_that_of_their_section(void **state)
{
	(void)state;
	struct fixture f = cubin("calls.li.sm_80.cubin");
	const struct ws_function *whole, *functions;
	size_t n, n_whole;
	assert_int_equal(ws_cubin_functions(f.cubin, &whole, &n_whole, NULL), WS_OK);
	size_t len = f.file.bytes.len;
	uint8_t *copy = wsi_zalloc(len);
	assert_non_null(copy);
	memcpy(copy, f.file.bytes.ptr, len);
	uint64_t shoff = wsi_load_u64(copy + 40);
	for (uint8_t *at = copy + shoff; at + 64 <= copy + len; at += 64)
		if (wsi_load_u32(at + 4) == 2) /* SHT_SYMTAB: its names are lost */
			memset(at + 40, 0, 4);
	struct ws_cubin *m;
	assert_int_equal(ws_cubin_open((struct ws_span){ copy, len, 0 }, &m, NULL), WS_OK);
	assert_int_equal(ws_cubin_functions(m, &functions, &n, NULL), WS_OK);
	assert_int_equal(n, n_whole);
	size_t kernels = 0;
	for (size_t i = 0; i < n; i++) {
		kernels += whole[i].is_kernel;
		if (whole[i].is_kernel)
			assert_true(ws_str_equal(functions[i].symbol, whole[i].symbol));
	}
	assert_true(kernels > 0);
	ws_cubin_close(m);
	wsi_free(copy);
	fixture_close(&f);
}

static void flipped_bytes_are_survived(void **state)
{
	(void)state;
	static const char *const names[] = { "bare.none.sm_90.cubin", "calls.li.sm_80.cubin",
					     "linked.li.sm_90.cubin" };
	for (size_t i = 0; i < WSI_COUNT(names); i++) {
		struct fixture f = cubin(names[i]);
		size_t len = f.file.bytes.len;
		uint8_t *copy = wsi_zalloc(len);
		assert_non_null(copy);
		memcpy(copy, f.file.bytes.ptr, len);
		for (size_t at = 0; at < len; at += i == 0 ? 1 : 13) {
			copy[at] ^= (uint8_t)(0xff >> (at % 8));
			exercise((struct ws_span){ copy, len, 0 });
			copy[at] = f.file.bytes.ptr[at];
		}
		wsi_free(copy);
		fixture_close(&f);
	}
}

static void other_files_are_refused_with_a_reason(void **state)
{
	(void)state;
	struct ws_cubin *m;
	struct ws_error err;
	static const uint8_t text[] =
		"no ELF file at all, but longer than a header of one has to be "
		"to be looked at";
	assert_int_equal(ws_cubin_open((struct ws_span){ text, sizeof text, 0 }, &m, &err),
			 WS_UNSUPPORTED);
	assert_string_equal(err.message, "not an ELF file");
	struct fixture f = cubin("bare.none.sm_80.cubin");
	uint8_t *copy = wsi_zalloc(f.file.bytes.len);
	assert_non_null(copy);
	memcpy(copy, f.file.bytes.ptr, f.file.bytes.len);
	copy[18] = 62; /* x86-64 */
	assert_int_equal(ws_cubin_open((struct ws_span){ copy, f.file.bytes.len, 0 }, &m, &err),
			 WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "machine 62"));
	copy[18] = 190;
	copy[16] = 4;
	assert_int_equal(ws_cubin_open((struct ws_span){ copy, f.file.bytes.len, 0 }, &m, &err),
			 WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "core dump"));
	wsi_free(copy);
	fixture_close(&f);
}

/* ---- memory ---- */

static unsigned alloc_countdown;

static bool alloc_fails_once(void)
{
	return alloc_countdown > 0 && --alloc_countdown == 0;
}

static void every_failed_allocation_is_survived(void **state)
{
	(void)state;
	struct fixture f = cubin("linked.li.sm_90.cubin");
	bool any_left = true;
	unsigned n_failed = 0;
	for (unsigned nth = 1; any_left && nth < 1000; nth++) {
		alloc_countdown = nth;
		wsi_alloc_should_fail = alloc_fails_once;
		exercise_allocations(f.file.bytes);
		wsi_alloc_should_fail = NULL;
		any_left = alloc_countdown == 0; /* this one was reached */
		n_failed += any_left;
	}
	assert_true(n_failed > 10);
	assert_false(any_left);
	fixture_close(&f);
}

/* ---- sets ---- */

static void set_finds_by_address_handle_and_name(void **state)
{
	(void)state;
	struct fixture a = relocated("calls.G.sm_90.both.cubin");
	struct fixture b = relocated("pair.li.sm_90.both.cubin"); /* elsewhere */
	struct fixture c = cubin("bare.none.sm_90.cubin");
	struct ws_cubin_set *set;
	assert_int_equal(ws_cubin_set_create(&set, NULL), WS_OK);
	struct ws_cubin_entry entries[] = {
		{ 0x11, 0, 0, a.file.bytes, { 0 }, 0 }, { 0x22, 0, 0, b.file.bytes, { 0 }, 0 },
		{ 0x33, 0, 1, { 0 }, c.file.bytes, 0 }, { 0x44, 0, 1, { 0 }, { 0 }, 0 },
		{ 0x55, 0, 1, a.file.bytes, { 0 }, 0 }, /* another context, same addresses */
	};
	for (size_t i = 0; i < WSI_COUNT(entries); i++)
		assert_int_equal(ws_cubin_set_add(set, &entries[i], NULL), WS_OK);
	assert_int_equal(ws_cubin_set_count(set), 5);
	struct ws_cubin *m;
	assert_int_equal(ws_cubin_set_cubin(set, 3, &m, NULL), WS_ABSENT);
	assert_int_equal(ws_cubin_set_cubin(set, 5, &m, NULL), WS_ARGUMENT);
	const struct ws_function *k = function(&a, kernel);
	struct ws_place at;
	struct ws_cubin_hint hint = { 0, WS_NONE, WS_NONE };
	assert_int_equal(ws_cubin_set_find_address(set, k->gpu_va + 16, &hint, &at, NULL), WS_OK);
	assert_int_equal(at.module_index, 0);
	assert_true(is(at.function->name, kernel));
	assert_int_equal(at.rel_pc, 16);
	assert_int_equal(ws_cubin_set_find_address(set, k->gpu_va, NULL, &at, NULL), WS_OK);
	assert_int_equal(at.module_index, 4);
	hint = (struct ws_cubin_hint){ WS_NONE, 0, 0 };
	assert_int_equal(ws_cubin_set_find_address(set, k->gpu_va, &hint, &at, NULL), WS_OK);
	assert_int_equal(at.module_index, 0);
	hint.context_index = 7;
	assert_int_equal(ws_cubin_set_find_address(set, k->gpu_va, &hint, &at, NULL), WS_ABSENT);
	const struct ws_function *only = function(&b, "_Z5firstPfPKfS1_"); /* no other is there */
	assert_int_equal(ws_cubin_set_find_address(set, only->gpu_va, &hint, &at, NULL), WS_OK);
	assert_int_equal(at.module_index, 1);
	hint.device_index = 1;
	assert_int_equal(ws_cubin_set_find_address(set, only->gpu_va, &hint, &at, NULL), WS_ABSENT);
	hint.device_index = 0;
	assert_int_equal(ws_cubin_set_find_address(set, 0x1234, NULL, &at, NULL), WS_ABSENT);
	assert_int_equal(ws_cubin_set_find_function(set, ws_str_of(kernel), NULL, &at, NULL),
			 WS_OK);
	assert_int_equal(at.module_index, 4);
	assert_int_equal(
		ws_cubin_set_find_function(set, ws_str_of("_Z8no_linesPKiS0_Pi"), NULL, &at, NULL),
		WS_OK);
	assert_int_equal(at.module_index, 2);
	assert_int_equal(ws_cubin_set_find_function(set, ws_str_of("nowhere"), NULL, &at, NULL),
			 WS_ABSENT);
	assert_int_equal(ws_cubin_set_find_function(set, (struct ws_str){ 0 }, NULL, &at, NULL),
			 WS_ABSENT);
	hint = (struct ws_cubin_hint){ WS_NONE, 0, 0 };
	assert_int_equal(ws_cubin_set_find_function(set, ws_str_of(kernel), &hint, &at, NULL),
			 WS_OK);
	assert_int_equal(at.module_index, 0);
	assert_int_equal(at.function->gpu_va, k->gpu_va);
	struct ws_span code, rest;
	assert_int_equal(ws_cubin_code(a.cubin, k, &code, NULL), WS_OK);
	assert_int_equal(ws_cubin_set_find_address(set, k->gpu_va + 16, &hint, &at, NULL), WS_OK);
	assert_int_equal(ws_cubin_bytes_at(&at, &rest, NULL), WS_OK);
	assert_true(rest.ptr == code.ptr + 16 && rest.len >= code.len - 16);
	hint.context_index = 7;
	assert_int_equal(ws_cubin_set_find_function(set, ws_str_of(kernel), &hint, &at, NULL),
			 WS_ABSENT);
	/* a module that comes later is found, and wins */
	struct ws_cubin_entry late = { 0x66, 0, 0, a.file.bytes, { 0 }, 0 };
	assert_int_equal(ws_cubin_set_add(set, &late, NULL), WS_OK);
	assert_int_equal(ws_cubin_set_find_function(set, ws_str_of(kernel), NULL, &at, NULL),
			 WS_OK);
	assert_int_equal(at.module_index, 5);
	uint32_t index;
	assert_int_equal(ws_cubin_set_find_handle(set, 0x22, WS_NONE, WS_NONE, &index, NULL),
			 WS_OK);
	assert_int_equal(index, 1);
	assert_int_equal(ws_cubin_set_find_handle(set, 0x22, 0, 1, &index, NULL), WS_ABSENT);
	ws_cubin_set_destroy(set);
	fixture_close(&a);
	fixture_close(&b);
	fixture_close(&c);
}

struct reader {
	struct ws_cubin_set *set;
	uint64_t gpu_va;
	unsigned n_wrong;
};

static void *reader_run(void *user)
{
	struct reader *r = user;
	for (unsigned i = 0; i < 200; i++) {
		struct ws_place at;
		struct ws_line_pos pos[8];
		struct ws_ptx_line ptx;
		struct ws_code_id id;
		size_t n;
		r->n_wrong +=
			ws_cubin_set_find_address(r->set, r->gpu_va, NULL, &at, NULL) != WS_OK ||
			!at.function;
		if (r->n_wrong > 0)
			break;
		r->n_wrong += ws_cubin_line_find(at.cubin, at.section, at.sec_off, pos, 8, &n,
						 NULL) != WS_OK;
		r->n_wrong +=
			ws_cubin_ptx_find(at.cubin, at.section, at.sec_off, &ptx, NULL) != WS_OK;
		r->n_wrong += ws_cubin_code_id(at.cubin, at.function, &id, NULL) != WS_OK;
	}
	return NULL;
}

/* Everything lazy is made by whoever comes first. */
static void many_threads_use_one_set(void **state)
{
	(void)state;
	enum { N_THREADS = 4 };
	struct fixture a = relocated("calls.G.sm_90.both.cubin");
	struct fixture b = relocated("pair.li.sm_90.both.cubin");
	uint64_t gpu_va = function(&a, kernel)->gpu_va + 0x30;
	struct ws_cubin_set *set;
	assert_int_equal(ws_cubin_set_create(&set, NULL), WS_OK);
	struct ws_cubin_entry entries[] = { { 1, 0, 0, a.file.bytes, { 0 }, 0 },
					    { 2, 0, 0, b.file.bytes, { 0 }, 0 } };
	for (size_t i = 0; i < WSI_COUNT(entries); i++)
		assert_int_equal(ws_cubin_set_add(set, &entries[i], NULL), WS_OK);
	pthread_t threads[N_THREADS];
	struct reader readers[N_THREADS];
	for (unsigned i = 0; i < N_THREADS; i++) {
		readers[i] = (struct reader){ set, gpu_va, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &readers[i]), 0);
	}
	for (unsigned i = 0; i < N_THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(readers[i].n_wrong, 0);
	}
	ws_cubin_set_destroy(set);
	fixture_close(&a);
	fixture_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_has_what_the_compiler_noted),
		cmocka_unit_test(long_parameters_are_read),
		cmocka_unit_test(hidden_parameters_are_told),
		cmocka_unit_test(callee_in_a_kernels_section_has_its_own_name),
		cmocka_unit_test(build_facts_come_from_the_header_and_the_notes),
		cmocka_unit_test(missing_lines_are_explained),
		cmocka_unit_test(chain_ends_in_the_innermost_function_symbol),
		cmocka_unit_test(ptx_line_of_an_instruction),
		cmocka_unit_test(variables_have_a_space),
		cmocka_unit_test(undefined_function_is_listed_without_code),
		cmocka_unit_test(every_form_of_relocated_image_answers_alike),
		cmocka_unit_test(relocated_image_has_the_identity_of_the_file),
		cmocka_unit_test(comparing_two_relocated_images_without_relocations_is_no_proof),
		cmocka_unit_test(other_code_differs_and_says_how_much),
		cmocka_unit_test(one_changed_immediate_keeps_the_identity_but_not_the_proof),
		cmocka_unit_test(code_id_text_round_trips),
		cmocka_unit_test(image_cut_at_every_byte_is_survived),
		cmocka_unit_test(functions_without_a_name_have_that_of_their_section),
		cmocka_unit_test(flipped_bytes_are_survived),
		cmocka_unit_test(other_files_are_refused_with_a_reason),
		cmocka_unit_test(every_failed_allocation_is_survived),
		cmocka_unit_test(set_finds_by_address_handle_and_name),
		cmocka_unit_test(many_threads_use_one_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
