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

#include <warpscope/cubin.h>
#include <warpscope/image.h>

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

static void check_place(struct ws_cubin *cubin, const struct ws_function *f)
{
	struct ws_place place;
	if (ws_cubin_find_offset(cubin, f->section, f->sec_off, &place, NULL) != WS_OK)
		return;
	FUZZ_CHECK(place.section == f->section && place.sec_off == f->sec_off);
	if (f->size_bytes > 0)
		FUZZ_CHECK(place.function); /* something covers it: at least f */
	if (place.function)
		FUZZ_CHECK(place.function->sec_off <= f->sec_off &&
			   place.rel_pc == f->sec_off - place.function->sec_off);
	struct ws_place by_address;
	if (f->gpu_va != 0 && ws_cubin_find_address(cubin, f->gpu_va, &by_address, NULL) == WS_OK &&
	    by_address.section == place.section)
		FUZZ_CHECK(by_address.function == place.function);
}

static void check_function(struct ws_cubin *cubin, const struct ws_function *f)
{
	char text[MAX_TEXT];
	const struct ws_function *found;
	FUZZ_CHECK(ws_cubin_find_function(cubin, f->symbol, &found, NULL) == WS_OK);
	FUZZ_CHECK(same(found->symbol, f->symbol) || same(found->name, f->symbol));
	(void)ws_demangle(f->name, text, sizeof text);
	FUZZ_CHECK(strlen(text) < sizeof text);
	(void)ws_demangle_short(f->name, text, sizeof text);
	struct ws_function_info info;
	struct ws_param params[4];
	uint32_t exits[4];
	(void)!ws_cubin_function_info(cubin, f, &info, params, 4, exits, 4, NULL);
	if (f->section == 0)
		return;
	check_place(cubin, f);
	struct ws_line_pos pos[MAX_POSITIONS];
	size_t n = 0;
	if (ws_cubin_line_find(cubin, f->section, f->sec_off, pos, MAX_POSITIONS, &n, NULL) ==
	    WS_OK)
		FUZZ_CHECK(n >= 1);
	struct ws_ptx_line line;
	(void)!ws_cubin_ptx_find(cubin, f->section, f->sec_off, &line, NULL);
	struct ws_span code;
	if (ws_cubin_code(cubin, f, &code, NULL) == WS_OK)
		FUZZ_CHECK(code.len <= ws_cubin_image(cubin).len);
	struct ws_flow *flow;
	if (ws_cubin_flow(cubin, f, 0, &flow, NULL) == WS_OK)
		ws_flow_destroy(flow);
	struct ws_code_id id, again;
	if (ws_cubin_code_id(cubin, f, &id, NULL) != WS_OK)
		return;
	FUZZ_CHECK(ws_cubin_code_id(cubin, f, &again, NULL) == WS_OK);
	FUZZ_CHECK(memcmp(&id, &again, sizeof id) == 0);
	struct ws_code_diff diff;
	FUZZ_CHECK(ws_code_compare(cubin, f, cubin, f, &diff, NULL) == WS_OK);
	FUZZ_CHECK(diff.n_bytes == 0 && diff.equal == diff.addresses_known);
}

static void check_module(struct ws_cubin *cubin)
{
	char text[MAX_TEXT];
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	enum ws_lines_why why = ws_cubin_explain_lines(cubin, text, sizeof text);
	FUZZ_CHECK((why == WS_LINES_PRESENT) == facts.has_lines);
	const struct ws_function *functions;
	const struct ws_variable *variables;
	size_t n, n_variables;
	FUZZ_CHECK(ws_cubin_functions(cubin, &functions, &n, NULL) == WS_OK);
	FUZZ_CHECK(ws_cubin_variables(cubin, &variables, &n_variables, NULL) == WS_OK);
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++)
		check_function(cubin, &functions[i]);
	struct ws_code_id id;
	(void)!ws_cubin_image_id(cubin, &id, NULL);
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
		struct ws_cubin *cubin;
		struct ws_span image;
		/* enough of them is done to find faults, not to fill the memory */
		if (entry->image_bytes > 1 << 20)
			continue;
		if (ws_image_file_bytes(file, i, &image, NULL) == WS_OK)
			FUZZ_CHECK(image.len == entry->image_bytes);
		if (ws_image_file_cubin(file, i, &cubin, NULL) == WS_OK)
			check_module(cubin);
	}
	ws_image_file_close(file);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	check_file((struct ws_span){ data, size, 0 });
	return 0;
}
