/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump to share: ws_write_target() with parts left out and contents changed. What it writes is
 * built from rows and ranges that were read, so nothing between or after them gets in; images are
 * copied only as far as the rules recognise them (rules.h). Memory is kept or left out in memory.c,
 * by what the caller asks for.
 */

#include <warpscope/core.h>

#include "elf/elf.h"
#include "write/clean.h"
#include "write/job.h"

enum {
	VALUE_SMALL = 1,
	VALUE_FLOAT = 0x3f800000, /* 1.0f */
	STACK_POINTER = 1,        /* R1 [public doc: the ABI, as nvdisasm shows it] */
	STACK_END = 1 << 24,      /* the local window of a thread is smaller [measured: 0xfffdc0] */
	MAX_TEXT = 64,
};
#define VALUE_OTHER 0xbaadf00du

struct strip {
	const struct ws_target *target;
	const struct ws_strip_options *options;
	uint32_t flags;
	uint8_t *
		map; /* owned: ws_dump_facts.memory_map, of a target that knows all of its memory */
	struct ws_span ranges; /* the map, or that of the dump */
	uint32_t *high;        /* owned: upper halves of known addresses, sorted, each once */
	size_t n_high, cap_high;
	uint8_t *image; /* owned: copy of the image that is changed */
	size_t image_cap;
	struct ws_stripped stripped;
	struct ws_error *err;
};

/* ---- known addresses ---- */

static enum ws_status high_add(struct strip *strip, uint64_t start, uint64_t size)
{
	uint32_t last = (uint32_t)(wsi_add_sat(start, size) >> 32);
	/* an allocation has few upper halves; a damaged size has many */
	for (uint32_t high = (uint32_t)(start >> 32), n = 0; high <= last && n < 64; high++, n++) {
		if (high == 0)
			continue; /* or every small number would count as a pointer */
		if (strip->n_high && strip->high[strip->n_high - 1] == high)
			continue;
		if (!wsi_grow(&strip->high, &strip->cap_high, strip->n_high, sizeof *strip->high,
			      SIZE_MAX / 8))
			return wsi_fail(strip->err, WS_NO_MEMORY, WS_NO_OFFSET, "known addresses");
		strip->high[strip->n_high++] = high;
	}
	return WS_OK;
}

/* Those that an earlier strip knew. */
static enum ws_status high_of_note(struct strip *strip)
{
	const struct ws_core *core = ws_target_core(strip->target);
	struct ws_span words = core ? wsi_core_halves(core) : (struct ws_span){ 0 };
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < words.len / 4 && i < WSI_MAX_HALVES && st == WS_OK; i++) {
		uint64_t high = wsi_at_u32(words, 4 * i);
		if (high < WSI_CLEAN_MAX_ADDRESS >> 32)
			st = high_add(strip, high << 32, 0);
	}
	return st;
}

static int high_order(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return WSI_ORDER(a, b);
}

static enum ws_status high_find(struct strip *strip)
{
	struct ws_counts counts;
	struct ws_memory_range range;
	enum ws_status st = WS_OK;
	ws_target_counts(strip->target, &counts);
	for (uint32_t i = 0; ws_target_memory_range(strip->target, i, &range, NULL) == WS_OK &&
			     range.space == WS_SPACE_GLOBAL && st == WS_OK;
	     i++)
		st = high_add(strip, range.start, range.size);
	for (uint32_t i = 0; i < counts.contexts && st == WS_OK; i++) {
		struct ws_context context;
		if (ws_target_context(strip->target, i, &context, NULL) != WS_OK)
			continue;
		st = high_add(strip, context.shared_window_base, 0);
		if (st == WS_OK)
			st = high_add(strip, context.local_window_base, 0);
	}
	for (uint32_t i = 0; i < counts.grids && st == WS_OK; i++) {
		struct ws_grid grid;
		if (ws_target_grid(strip->target, i, &grid, NULL) == WS_OK)
			st = high_add(strip, grid.function_entry, 0);
	}
	if (st == WS_OK)
		st = high_of_note(strip);
	if (st != WS_OK || strip->n_high == 0)
		return st;
	qsort(strip->high, strip->n_high, sizeof *strip->high, high_order);
	size_t n = 1;
	for (size_t i = 1; i < strip->n_high; i++) {
		if (strip->high[i] != strip->high[n - 1])
			strip->high[n++] = strip->high[i];
	}
	strip->n_high = n;
	return WS_OK;
}

static bool is_known_high(const struct strip *strip, uint32_t word)
{
	return word && strip->n_high &&
	       bsearch(&word, strip->high, strip->n_high, sizeof word, high_order);
}

/* ---- values ---- */

static enum ws_value_class class_of(uint32_t word)
{
	uint32_t exponent = word >> 23 & 0xff;
	if (word == 0)
		return WS_VALUE_ZERO;
	if (word == VALUE_OTHER) /* which looks like a float */
		return WS_VALUE_OTHER;
	if (word <= 0xffff || word >= 0xffff0000)
		return WS_VALUE_SMALL;
	if (exponent >= 127 - 40 && exponent <= 127 + 40)
		return WS_VALUE_FLOAT;
	return WS_VALUE_OTHER;
}

static bool is_register_number(struct strip *strip, uint32_t word)
{
	for (size_t i = 0; i < strip->options->n_numbers; i++)
		if (strip->options->numbers[i] == word)
			return true;
	return false;
}

static uint32_t redacted(struct strip *strip, uint32_t word)
{
	enum ws_value_class class = class_of(word);
	if (word && is_register_number(strip, word)) {
		strip->stripped.numbers++;
		return word;
	}
	strip->stripped.values[class]++;
	switch (class) {
	case WS_VALUE_SMALL:
		return VALUE_SMALL;
	case WS_VALUE_FLOAT:
		return VALUE_FLOAT;
	case WS_VALUE_OTHER:
		return VALUE_OTHER;
	case WS_VALUE_ZERO:
	case WS_VALUE_POINTER:
	case WS_N_VALUE_CLASSES:
		break;
	}
	return word;
}

/* Two words that may be a pointer; whether they are. */
static bool keep_pointer(struct strip *strip, uint32_t high)
{
	if (!is_known_high(strip, high))
		return false;
	strip->stripped.values[WS_VALUE_POINTER] += 2;
	return true;
}

static void redact_registers(void *user, enum ws_reg_kind kind, uint32_t *values, uint32_t n)
{
	struct strip *strip = user;
	bool predicates = kind == WS_REG_P || kind == WS_REG_UP;
	for (uint32_t i = 0; i < n && predicates; i++)
		values[i] = values[i] != 0;
	if (kind != WS_REG_R && kind != WS_REG_UR)
		return;
	for (uint32_t i = 0; i < n; i += 2) {
		if (i + 1 < n && keep_pointer(strip, values[i + 1]))
			continue;
		values[i] = redacted(strip, values[i]);
		bool stack = kind == WS_REG_R && i + 1 == STACK_POINTER && i + 1 < n &&
			     values[i + 1] < STACK_END;
		if (i + 1 < n && !stack)
			values[i + 1] = redacted(strip, values[i + 1]);
	}
}

static void redact_word(struct strip *strip, uint8_t *bytes)
{
	wsi_store_u32(bytes, redacted(strip, wsi_load_u32(bytes)));
}

/* The bytes that words of WS_VALUE_OTHER have at these addresses. */
static void other_fill(uint64_t address, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(VALUE_OTHER >> 8 * ((address + i) & 3));
}

/* What begins and ends within a pair of words: no pointer, and parts of words have no class. */
static void redact_part(struct strip *strip, uint64_t address, uint8_t *bytes, size_t n)
{
	size_t at = wsi_min_u64(-address & 3, n);
	other_fill(address, bytes, at);
	if (n - at >= 4) {
		redact_word(strip, bytes + at);
		at += 4;
	}
	other_fill(address + at, bytes + at, n - at);
}

static void redact_memory(void *user, uint64_t address, uint8_t *bytes, size_t n)
{
	struct strip *strip = user;
	size_t at = wsi_min_u64(-address & 7, n);
	redact_part(strip, address, bytes, at);
	for (; n - at >= 8; at += 8) {
		if (keep_pointer(strip, wsi_load_u32(bytes + at + 4)))
			continue;
		redact_word(strip, bytes + at);
		redact_word(strip, bytes + at + 4);
	}
	redact_part(strip, address + at, bytes + at, n - at);
}

/* Names of devices and drivers are short and plain; else they are no such names. */
static struct ws_str plain_text(struct ws_str text)
{
	static const char others[] = " _-.()/+";
	bool plain = text.len <= MAX_TEXT;
	for (size_t i = 0; i < text.len && plain; i++) {
		char c = text.ptr[i];
		plain = wsi_is_alphanumeric(c) || (c && strchr(others, c));
	}
	return plain ? text : (struct ws_str){ 0 };
}

static void redact_row(enum wsi_kind kind, void *row)
{
	struct ws_device *device = row;
	struct ws_lane *lane = row;
	switch ((unsigned)kind) {
	case WSI_KIND_DEVICE:
		device->name = plain_text(device->name);
		device->type = plain_text(device->type);
		device->sm_type = plain_text(device->sm_type);
		break;
	case WSI_KIND_CONTEXT:
		((struct ws_context *)row)->host_tid = 0;
		break;
	case WSI_KIND_GRID:
		((struct ws_grid *)row)->host_tid = 0;
		break;
	case WSI_KIND_SM:
		((struct ws_sm *)row)->exception_text = (struct ws_str){ 0 };
		break;
	case WSI_KIND_WARP:
		((struct ws_warp *)row)->barrier_text = (struct ws_str){ 0 };
		break;
	case WSI_KIND_LANE: /* the return pc is a register like others: it may be an address */
		if (lane->rpc_hi >= WSI_CLEAN_MAX_ADDRESS >> 32)
			lane->rpc_lo = lane->rpc_hi = 0;
		break;
	default:
		break;
	}
}

/* ---- images ---- */

static enum ws_status image_room(struct strip *strip, size_t len)
{
	if (len <= strip->image_cap)
		return WS_OK;
	uint8_t *grown = wsi_realloc_array(strip->image, len, 1);
	if (!grown)
		return wsi_fail(strip->err, WS_NO_MEMORY, WS_NO_OFFSET, "an image of %zu bytes",
				len);
	strip->image = grown;
	strip->image_cap = len;
	return WS_OK;
}

static enum ws_status image_edit(void *user, struct ws_span bytes, struct ws_span *ret_bytes,
				 struct ws_error *err)
{
	struct strip *strip = user;
	enum ws_status st = image_room(strip, bytes.len);
	if (st == WS_OK)
		st = wsi_write_image_clean(bytes, strip->options, strip->image, &strip->stripped,
					   err);
	if (st == WS_OK)
		*ret_bytes = (struct ws_span){ strip->image, bytes.len, bytes.origin };
	if (!wsi_is_missing(st))
		return st;
	strip->stripped.unreadable_images++; /* what cannot be read cannot be cleaned */
	*ret_bytes = (struct ws_span){ 0 };
	return WS_OK;
}

/* ---- which memory there was ---- */

/* Where contents of global memory are taken away, its ranges stay, unless not all are known. */
static enum ws_status map_find(struct strip *strip, uint32_t flags)
{
	struct ws_dump_facts facts = { 0 };
	struct ws_memory_range range;
	size_t n = 0, cap = 0;
	(void)!ws_target_dump_facts(strip->target, &facts, NULL);
	strip->ranges = facts.memory_map;
	if (strip->ranges.len || facts.cut || !(flags & WS_WRITE_SKIP_GLOBAL) ||
	    (facts.flags | facts.left_out) & WS_WRITE_SKIP_GLOBAL)
		return WS_OK;
	for (uint32_t i = 0; ws_target_memory_range(strip->target, i, &range, NULL) == WS_OK &&
			     range.space == WS_SPACE_GLOBAL;
	     i++) {
		if (n / WS_MAP_BYTES == WSI_MAX_MAP)
			return WS_OK;
		if (n + WS_MAP_BYTES > cap) {
			cap = 2 * cap + 64 * WS_MAP_BYTES;
			uint8_t *grown = wsi_realloc_array(strip->map, cap, 1);
			if (!grown)
				return wsi_fail(strip->err, WS_NO_MEMORY, WS_NO_OFFSET,
						"ranges of memory");
			strip->map = grown;
		}
		wsi_store_u64(strip->map + n, range.start);
		wsi_store_u64(strip->map + n + 8, (range.size & ~WS_MAP_MANAGED) |
							  (range.managed ? WS_MAP_MANAGED : 0));
		n += WS_MAP_BYTES;
	}
	strip->ranges = (struct ws_span){ strip->map, n, WS_NO_OFFSET };
	return WS_OK;
}

/* ---- accounts ---- */

static uint32_t count_kept(const bool *kept, uint32_t n)
{
	uint32_t n_kept = 0;
	for (uint32_t i = 0; i < n; i++)
		n_kept += wsi_selected(kept, i);
	return n_kept;
}

static void left_out_account(struct strip *strip, const struct wsi_selection *selection,
			     uint32_t flags)
{
	struct ws_stripped *stripped = &strip->stripped;
	ws_target_counts(strip->target, &stripped->before);
	const struct ws_counts *before = &stripped->before;
	stripped->after = *before;
#define X(list) stripped->after.list = count_kept(selection->list, before->list);
	WSI_SELECTED_LISTS(X)
#undef X
	struct ws_memory_range range;
	for (uint32_t i = 0; ws_target_memory_range(strip->target, i, &range, NULL) == WS_OK; i++) {
		if (range.space != WS_SPACE_CONST)
			stripped->memory_bytes += range.bytes_present;
	}
	for (uint32_t i = 0; flags & WS_WRITE_SKIP_IMAGES && i < before->modules; i++) {
		struct ws_module module;
		if (wsi_selected(selection->modules, i) &&
		    ws_target_module(strip->target, i, &module, NULL) == WS_OK &&
		    module.original.len > 0) {
			stripped->original_images++;
			stripped->original_bytes += module.original.len;
		}
	}
}

/* ---- the whole ---- */

static enum ws_status strip_run(struct strip *strip, const char *path,
				const struct ws_write_options *write,
				const struct wsi_selection *selection,
				const struct wsi_origin *origin)
{
	bool values = strip->flags & WS_STRIP_VALUES;
	uint32_t in_images = WS_STRIP_VALUES | WS_STRIP_PTX | WS_STRIP_PATHS;
	struct wsi_edit edit = {
		.user = strip,
		.registers = values ? redact_registers : NULL,
		.memory = values ? redact_memory : NULL,
		.image = strip->flags & in_images ? image_edit : NULL,
		.row = values ? redact_row : NULL,
	};
	struct wsi_write_job job = {
		.target = strip->target,
		.flags = write->flags,
		.stripped = strip->flags,
		.selection = selection,
		.edit = &edit,
		.halves = strip->high,
		.n_halves = values ? (uint32_t)wsi_min_u64(strip->n_high, WSI_MAX_HALVES) : 0,
		.map = strip->ranges,
		.keeps = write->keep,
		.n_keeps = write->n_keep,
		.err = strip->err,
	};
	if (strip->stripped.after.warps == strip->stripped.before.warps)
		job.stripped &= ~(uint32_t)WS_STRIP_OTHERS;
	enum ws_status st = wsi_job_write(&job, path, origin);
	strip->stripped.memory_bytes_kept = job.memory_bytes;
	strip->stripped.memory_ranges = strip->ranges.len / WS_MAP_BYTES;
	return st;
}

enum ws_status ws_strip(const struct ws_target *target, const char *path,
			const struct ws_strip_options *options, struct ws_stripped *ret_stripped,
			struct ws_error *err)
{
	struct ws_strip_options all = { .size = sizeof all };
	memcpy(&all, options, wsi_min_u64(options->size, sizeof all));
	struct strip strip = { .target = target, .options = &all, .flags = all.strip, .err = err };
	struct wsi_selection selection = { 0 };
	struct wsi_origin origin;
	enum ws_status st = wsi_write_origin_of(target, &all.write, &origin, err);
	if (st != WS_OK)
		return st;
	if (all.strip & WS_STRIP_OTHERS)
		st = wsi_select_faulted_warps(target, &selection, err);
	else if (all.write.flags & WS_WRITE_FAULTED_CONTEXTS)
		st = wsi_select_faulted_contexts(target, &selection, err);
	if (all.strip & WS_STRIP_VALUES)
		origin.facts.generator = plain_text(origin.facts.generator);
	if (st == WS_OK && all.strip & WS_STRIP_VALUES) /* nobody else asks what is an address */
		st = high_find(&strip);
	if (st == WS_OK)
		st = map_find(&strip, all.write.flags);
	if (st == WS_OK) {
		left_out_account(&strip, &selection, all.write.flags);
		st = strip_run(&strip, path, &all.write, &selection, &origin);
	}
	if (st == WS_OK)
		*ret_stripped = strip.stripped;
	wsi_selection_fini(&selection);
	wsi_free(strip.high);
	wsi_free(strip.map);
	wsi_free(strip.image);
	return st;
}
