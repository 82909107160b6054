/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images and files of images over any bytes: the input is opened as a file of images and as a
 * cubin.
 *
 * Beyond not crashing: functions lie in code sections; the place of an address, found through the
 * index, is a function that holds it; names find functions; equal code compares equal; an identity
 * is the same when it is asked for again.
 */
#include "fuzz.h"

#include <warpscope/image.h>
#include <warpscope/module.h>

enum {
	MAX_FUNCTIONS = 24,
	MAX_IMAGES = 4,
	MAX_POSITIONS = 8,
	MAX_TEXT = 300,
};

static bool same(struct ws_str a, struct ws_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static void check_place(struct ws_module *module, const struct ws_function *f)
{
	struct ws_place place;
	if (ws_module_find_offset(module, f->section, f->sec_off, &place, NULL) != WS_OK)
		return;
	FUZZ_CHECK(place.section == f->section && place.sec_off == f->sec_off);
	if (f->size_bytes > 0)
		FUZZ_CHECK(place.function); /* something covers it: at least f */
	if (place.function)
		FUZZ_CHECK(place.function->sec_off <= f->sec_off &&
			   place.rel_pc == f->sec_off - place.function->sec_off);
	struct ws_place by_address;
	if (f->gpu_va != 0 &&
	    ws_module_find_address(module, f->gpu_va, &by_address, NULL) == WS_OK &&
	    by_address.section == place.section)
		FUZZ_CHECK(by_address.function == place.function);
}

static void check_function(struct ws_module *module, const struct ws_function *f)
{
	char text[MAX_TEXT];
	const struct ws_function *found;
	FUZZ_CHECK(ws_module_find_function(module, f->symbol, &found, NULL) == WS_OK);
	FUZZ_CHECK(same(found->symbol, f->symbol) || same(found->name, f->symbol));
	(void)ws_demangle(f->name, text, sizeof text);
	FUZZ_CHECK(strlen(text) < sizeof text);
	(void)ws_demangle_short(f->name, text, sizeof text);
	struct ws_function_info info;
	struct ws_param params[4];
	uint32_t exits[4];
	(void)!ws_module_function_info(module, f, &info, params, 4, exits, 4, NULL);
	if (f->section == 0)
		return;
	check_place(module, f);
	struct ws_line_pos pos[MAX_POSITIONS];
	size_t n = 0;
	if (ws_module_line_find(module, f->section, f->sec_off, pos, MAX_POSITIONS, &n, NULL) ==
	    WS_OK)
		FUZZ_CHECK(n >= 1);
	struct ws_ptx_line line;
	(void)!ws_module_ptx_find(module, f->section, f->sec_off, &line, NULL);
	struct ws_span code;
	if (ws_module_code(module, f, &code, NULL) == WS_OK)
		FUZZ_CHECK(code.len <= ws_module_image(module).len);
	struct ws_flow *flow;
	if (ws_module_flow(module, f, 0, &flow, NULL) == WS_OK)
		ws_flow_destroy(flow);
	struct ws_code_id id, again;
	if (ws_module_code_id(module, f, &id, NULL) != WS_OK)
		return;
	FUZZ_CHECK(ws_module_code_id(module, f, &again, NULL) == WS_OK);
	FUZZ_CHECK(memcmp(&id, &again, sizeof id) == 0);
	struct ws_code_diff diff;
	FUZZ_CHECK(ws_code_compare(module, f, module, f, &diff, NULL) == WS_OK);
	FUZZ_CHECK(diff.n_bytes == 0 && diff.equal == diff.addresses_known);
}

static void check_module(struct ws_module *module)
{
	char text[MAX_TEXT];
	struct ws_module_facts facts;
	ws_module_facts(module, &facts);
	enum ws_lines_why why = ws_module_explain_lines(module, text, sizeof text);
	FUZZ_CHECK((why == WS_LINES_PRESENT) == facts.has_lines);
	const struct ws_function *functions;
	const struct ws_variable *variables;
	size_t n, n_variables;
	FUZZ_CHECK(ws_module_functions(module, &functions, &n, NULL) == WS_OK);
	FUZZ_CHECK(ws_module_variables(module, &variables, &n_variables, NULL) == WS_OK);
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++)
		check_function(module, &functions[i]);
	struct ws_code_id id;
	(void)!ws_module_image_id(module, &id, NULL);
}

static void check_file(struct ws_span bytes)
{
	struct ws_image_file *file;
	if (ws_image_file_open_memory(bytes, &file, NULL) != WS_OK)
		return;
	size_t n = ws_image_file_count(file);
	FUZZ_CHECK(n > 0);
	for (size_t i = 0; i < n && i < MAX_IMAGES; i++) {
		const struct ws_image_entry *entry = ws_image_file_at(file, i);
		struct ws_module *module;
		struct ws_span image;
		/* enough of them is done to find faults, not to fill the memory */
		if (entry->image_bytes > 1 << 20)
			continue;
		if (ws_image_file_bytes(file, i, &image, NULL) == WS_OK)
			FUZZ_CHECK(image.len == entry->image_bytes);
		if (ws_image_file_module(file, i, &module, NULL) == WS_OK)
			check_module(module);
	}
	ws_image_file_close(file);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	check_file((struct ws_span){ data, size, 0 });
	return 0;
}
