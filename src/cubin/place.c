/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an offset in a section, or a device address, to the innermost function there: one binary
 * search each. The index by address repeats what the other one says, so that it can be merged over
 * all cubins of a set and one look at memory fills an answer.
 */
#include "cubin/internal.h"

/* The function that starts a section: sh_info's symbol, else the one at offset 0 that is largest.
 */
static void owners_find(struct ws_cubin *cubin)
{
	for (size_t i = 0; i < cubin->n_functions; i++) {
		const struct ws_function *f = &cubin->functions[i];
		struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, f->section);
		if (!code || f->sec_off != 0)
			continue;
		if (code->owner == WS_UNKNOWN || f->symbol_index == code->owner_symbol ||
		    (cubin->functions[code->owner].symbol_index != code->owner_symbol &&
		     f->size_bytes > cubin->functions[code->owner].size_bytes))
			code->owner = f->index;
	}
	for (size_t i = 0; i < cubin->n_functions; i++) {
		struct ws_function *f = &cubin->functions[i];
		const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, f->section);
		if (code && code->owner != WS_UNKNOWN) {
			f->owner = code->owner;
			f->is_inner = code->owner != f->index;
		}
	}
}

static int place_function_order(const void *left, const void *right)
{
	const struct ws_function *a = *(const struct ws_function *const *)left;
	const struct ws_function *b = *(const struct ws_function *const *)right;
	return WSI_ORDER_THEN(
		a->section, b->section,
		WSI_ORDER_THEN(a->sec_off, b->sec_off, WSI_ORDER(a->index, b->index)));
}

/*
 * The functions of one section as ranges. A symbol without a size reaches to the next symbol, but
 * says nothing where one with a size covers it.
 */
static size_t section_ranges(const struct wsi_cubin_code *code,
			     const struct ws_function *const *sorted, size_t n,
			     struct wsi_interval *ret_ranges)
{
	uint64_t covered = 0; /* end of what functions with a size cover so far */
	size_t n_ranges = 0;
	for (size_t first = 0, next; first < n; first = next) {
		uint64_t start = sorted[first]->sec_off;
		for (next = first; next < n && sorted[next]->sec_off == start; next++) {
			uint64_t end = wsi_add_sat(start, sorted[next]->size_bytes);
			covered = wsi_max_u64(covered, end);
			end = wsi_min_u64(end, code->size_bytes);
			if (start < end)
				ret_ranges[n_ranges++] =
					(struct wsi_interval){ start, end, sorted[next]->index };
		}
		if (start < covered)
			continue;
		uint64_t end = next < n ? sorted[next]->sec_off : code->size_bytes;
		end = wsi_min_u64(end, code->size_bytes);
		if (start < end)
			ret_ranges[n_ranges++] =
				(struct wsi_interval){ start, end, sorted[first]->index };
	}
	return n_ranges;
}

static void places_fill(struct ws_cubin *cubin, const struct ws_function **sorted, size_t n,
			struct wsi_interval *ranges)
{
	for (size_t first = 0, next; first < n; first = next) {
		uint32_t section = sorted[first]->section;
		for (next = first; next < n && sorted[next]->section == section; next++)
			;
		struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
		size_t n_ranges = section_ranges(code, sorted + first, next - first, ranges);
		code->first_segment = cubin->by_offset.n;
		wsi_segments_append(&cubin->by_offset, ranges, n_ranges);
		code->n_segments = cubin->by_offset.n - code->first_segment;
	}
}

static bool index_offsets(struct ws_cubin *cubin)
{
	size_t n = 0;
	for (size_t i = 0; i < cubin->n_functions; i++)
		n += cubin->functions[i].section != 0;
	wsi_scoped_free const struct ws_function **sorted = wsi_zalloc_array(n, sizeof *sorted);
	wsi_scoped_free struct wsi_interval *ranges = wsi_zalloc_array(n, sizeof *ranges);
	if (!sorted || !ranges || !wsi_segments_init(&cubin->by_offset, n))
		return false;
	size_t at = 0;
	for (size_t i = 0; i < cubin->n_functions; i++) {
		if (cubin->functions[i].section != 0)
			sorted[at++] = &cubin->functions[i];
	}
	qsort(sorted, n, sizeof *sorted, place_function_order);
	places_fill(cubin, sorted, n, ranges);
	return true;
}

static const struct ws_function *function_at(const struct ws_cubin *cubin, uint32_t index)
{
	return index == WS_UNKNOWN ? NULL : &cubin->functions[index];
}

/* Adds a range of a code section, in which `function` answers, to the spots. */
static void spot_add(struct ws_cubin *cubin, const struct wsi_cubin_code *code, uint64_t start,
		     uint64_t end, const struct ws_function *function, struct wsi_interval *ranges)
{
	cubin->spots[cubin->n_spots] = (struct wsi_code_spot){
		.section_va = code->gpu_va,
		.function_va = code->gpu_va + (function ? function->sec_off : 0),
		.function = function,
		.owner = function_at(cubin, code->owner),
		.cubin = cubin,
		.section = code->section,
	};
	ranges[cubin->n_spots] =
		(struct wsi_interval){ wsi_add_sat(code->gpu_va, start),
				       wsi_add_sat(code->gpu_va, end), (uint32_t)cubin->n_spots };
	cubin->n_spots++;
}

static bool index_addresses(struct ws_cubin *cubin)
{
	size_t n = cubin->n_code + cubin->by_offset.n;
	wsi_scoped_free struct wsi_interval *ranges = wsi_zalloc_array(n, sizeof *ranges);
	cubin->spots = wsi_zalloc_array(n, sizeof *cubin->spots);
	if (!ranges || !cubin->spots || n >= UINT32_MAX ||
	    !wsi_segments_init(&cubin->by_address, n))
		return false;
	for (uint32_t i = 0; i < cubin->n_code; i++) {
		const struct wsi_cubin_code *code = &cubin->code[i];
		if (code->gpu_va == 0)
			continue;
		const uint64_t *start = cubin->by_offset.start + code->first_segment;
		const uint32_t *id = cubin->by_offset.id + code->first_segment;
		spot_add(cubin, code, 0, code->size_bytes, NULL, ranges);
		for (size_t j = 0; j < code->n_segments; j++) {
			uint64_t end = j + 1 < code->n_segments ? start[j + 1] : code->size_bytes;
			if (id[j] != WSI_NO_INTERVAL)
				spot_add(cubin, code, start[j], end, &cubin->functions[id[j]],
					 ranges);
		}
	}
	wsi_segments_append(&cubin->by_address, ranges, cubin->n_spots);
	return true;
}

bool wsi_cubin_index_places(struct ws_cubin *cubin)
{
	owners_find(cubin);
	return index_offsets(cubin) && (!cubin->relocated || index_addresses(cubin));
}

bool wsi_spot_find(const struct wsi_segments *by_address, const struct wsi_code_spot *spots,
		   uint64_t gpu_va, struct ws_place *ret_place)
{
	uint32_t index = wsi_segments_find(by_address, 0, by_address->n, gpu_va);
	if (index == WSI_NO_INTERVAL)
		return false;
	const struct wsi_code_spot *spot = &spots[index];
	*ret_place = (struct ws_place){
		.module_index = spot->module_index,
		.cubin = spot->cubin,
		.section = spot->section,
		.sec_off = gpu_va - spot->section_va,
		.function = spot->function,
		.owner = spot->owner,
		.rel_pc = gpu_va - spot->function_va,
	};
	return true;
}

enum ws_status ws_cubin_find_address(struct ws_cubin *cubin, uint64_t gpu_va,
				     struct ws_place *ret_place, struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	if (wsi_spot_find(&cubin->by_address, cubin->spots, gpu_va, ret_place))
		return WS_OK;
	if (!cubin->relocated)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no device addresses");
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no code at 0x%" PRIx64,
			gpu_va);
}

enum ws_status ws_cubin_find_offset(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
				    struct ws_place *ret_place, struct ws_error *err)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	if (!code || sec_off >= code->size_bytes)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the image has no code at 0x%" PRIx64 " of section %" PRIu32,
				sec_off, section);
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	uint32_t index = wsi_segments_find(&cubin->by_offset, code->first_segment, code->n_segments,
					   sec_off);
	const struct ws_function *f = index == WSI_NO_INTERVAL ? NULL : &cubin->functions[index];
	*ret_place = (struct ws_place){
		.cubin = cubin,
		.section = code->section,
		.sec_off = sec_off,
		.function = f,
		.owner = function_at(cubin, code->owner),
		.rel_pc = f ? sec_off - f->sec_off : sec_off,
	};
	return WS_OK;
}

enum ws_status ws_cubin_code(const struct ws_cubin *cubin, const struct ws_function *function,
			     struct ws_span *ret_code, struct ws_error *err)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, function->section);
	if (!code)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the function is not defined in the image");
	struct ws_span bytes = wsi_cubin_bytes(cubin, code->section);
	if (function->sec_off > code->size_bytes)
		return wsi_fail(err, WS_MALFORMED, bytes.origin,
				"the function starts at 0x%" PRIx64 " of 0x%" PRIx64
				" bytes of code",
				function->sec_off, code->size_bytes);
	uint64_t rest = code->size_bytes - function->sec_off;
	uint64_t size = function->size_bytes ? wsi_min_u64(function->size_bytes, rest) : rest;
	if (!ws_span_sub(bytes, function->sec_off, size, ret_code))
		return wsi_fail(err, WS_TRUNCATED, bytes.origin + bytes.len,
				"the function's code is cut off");
	return WS_OK;
}
