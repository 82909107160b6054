/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be found by content in a file whose section headers are lost: nothing says where things
 * are, but images have headers of their own, and the rows of a table have one shape.
 */
#include "target/dump/dump.h"

#include <stdatomic.h>

#include <warpscope/exception.h>

enum {
	FEWEST_ROWS = 4, /* that must fit before a table is believed */
	LIKELY_ROWS = 16,
	MOST_FOUND = 1u << 20,
	MOST_STRIDE = 512, /* of those known */
};

struct wsi_salvage {
	struct ws_salvaged *at; /* owned */
	size_t n, cap;
	bool failed;
};

static void found_add(struct wsi_salvage *salvage, const struct ws_salvaged *one)
{
	if (salvage->failed)
		return;
	if (!wsi_grow(&salvage->at, &salvage->cap, salvage->n, sizeof *salvage->at, MOST_FOUND))
		salvage->failed = salvage->n < MOST_FOUND;
	else
		salvage->at[salvage->n++] = *one;
}

/* ---- section headers that the ELF header does not lead to any more ---- */

/* Whether a section header of a dump, or of one of its string tables, stands here. */
static bool header_fits(const struct wsi_input *source, uint64_t off)
{
	uint8_t scratch[WSI_SHDR_BYTES];
	if (wsi_input_clip(source, off, WSI_SHDR_BYTES).len < WSI_SHDR_BYTES)
		return false;
	const uint8_t *at = wsi_input_view(source, off, WSI_SHDR_BYTES, scratch);
	if (!at)
		return false;
	struct wsi_shdr shdr = wsi_shdr_load(at);
	return (wsi_kind_of(shdr.type) != WSI_KIND_NONE || shdr.type == WSI_SHT_STRTAB) &&
	       shdr.flags == 0 && shdr.offset >= WSI_ELF_HEADER_BYTES &&
	       shdr.offset <= source->size && shdr.size <= source->size - shdr.offset;
}

static bool is_zero(struct ws_span in, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (wsi_at_u8(in, i))
			return false;
	}
	return true;
}

/* Offset of a header table, that of section 0, recognised by its next entries; 0: none. */
static uint64_t headers_find(const struct wsi_input *source)
{
	for (uint64_t off = WSI_ELF_HEADER_BYTES; off + WSI_SHDR_BYTES < source->size; off += 8) {
		uint8_t scratch[WSI_SHDR_BYTES];
		unsigned n = 0;
		while (n < FEWEST_ROWS && header_fits(source, off + (n + 1) * WSI_SHDR_BYTES))
			n++;
		if (n < FEWEST_ROWS)
			continue;
		/* section 0 holds the real counts at 32 and 40, nothing else */
		struct ws_span zero = { wsi_input_view(source, off, WSI_SHDR_BYTES, scratch),
					WSI_SHDR_BYTES, off };
		if (zero.ptr && is_zero(zero, 0, 32) && is_zero(zero, 44, WSI_SHDR_BYTES))
			return off;
	}
	return 0;
}

/* Takes headers from number `n` on as long as there are such. */
static void headers_take(struct ws_core *core, uint64_t n)
{
	struct wsi_elf *elf = &core->elf;
	const uint64_t had = elf->n_present;
	while (n < UINT32_MAX - 1 && header_fits(&core->source, elf->shoff + n * WSI_SHDR_BYTES))
		n++;
	struct wsi_slice headers = wsi_input_clip(&core->source, elf->shoff, n * WSI_SHDR_BYTES);
	if (n > had && headers.len == n * WSI_SHDR_BYTES &&
	    wsi_input_hold(&core->source, headers, &elf->headers, NULL) == WS_OK)
		elf->n_sections = elf->n_present = n;
}

uint64_t wsi_core_headers_extend(struct ws_core *core)
{
	uint64_t n = core->elf.n_present;
	if (core->elf.shentsize == WSI_SHDR_BYTES)
		headers_take(core, n);
	return core->elf.n_present - n;
}

/* The string table that names itself .shstrtab, or 0. */
static uint32_t name_table_find(struct ws_core *core)
{
	struct wsi_elf *elf = &core->elf;
	for (uint64_t i = elf->n_present; i-- > 1;) {
		struct wsi_shdr shdr = wsi_elf_shdr(elf, i);
		uint8_t scratch[WSI_NAME_BYTES];
		if (shdr.type == WSI_SHT_STRTAB && wsi_elf_extent(elf, &shdr, &elf->names) &&
		    ws_str_equal(wsi_core_name_head(core, &shdr, scratch), ws_str_of(".shstrtab")))
			return (uint32_t)i;
	}
	elf->names = (struct wsi_slice){ 0 };
	return 0;
}

bool wsi_core_headers_salvage(struct ws_core *core)
{
	struct wsi_elf *elf = &core->elf;
	uint64_t off = headers_find(&core->source);
	if (!off)
		return false;
	elf->shoff = off;
	elf->shentsize = WSI_SHDR_BYTES;
	headers_take(core, 1);
	elf->shstrndx = name_table_find(core);
	wsi_core_note(core, WSI_TOPIC_HEADERS, WS_HIDES_FAULT, off,
		      "the ELF header does not lead to the section headers; %" PRIu64
		      " were recognised here by their shape",
		      elf->n_present - 1);
	return true;
}

/* ---- images and tables ---- */

/* An image that begins here; its size, or 0. */
static uint64_t image_at(const struct wsi_input *source, uint64_t off, struct wsi_salvage *salvage)
{
	struct wsi_elf elf;
	struct wsi_input rest = wsi_input_part(source, wsi_input_clip(source, off, UINT64_MAX));
	if (wsi_elf_open_input(&rest, &elf, NULL) != WS_OK || elf.machine != WSI_EM_CUDA ||
	    elf.type == WSI_ET_CORE || elf.n_sections > UINT16_MAX)
		return 0;
	struct ws_salvaged one = {
		.what = "image", .file_off = off, .size = wsi_elf_end(&elf), .sureness = WS_SURE
	};
	one.present = wsi_min_u64(one.size, rest.size);
	found_add(salvage, &one);
	return one.present;
}

/* The row that would stand at an offset; false: the file ends before. */
static bool row_view(const struct wsi_input *source, uint64_t off, uint32_t stride,
		     uint8_t scratch[MOST_STRIDE], struct ws_span *ret_row)
{
	if (wsi_input_clip(source, off, stride).len < stride)
		return false;
	*ret_row = (struct ws_span){ wsi_input_view(source, off, stride, scratch), stride, off };
	return ret_row->ptr != NULL;
}

/* Rows from `off` on for which `fits` holds. */
static uint32_t rows_that_fit(const struct wsi_input *source, uint64_t off, uint32_t stride,
			      bool (*fits)(struct ws_span row, uint32_t number))
{
	uint8_t scratch[MOST_STRIDE];
	uint32_t n = 0;
	struct ws_span row;
	while (row_view(source, off + (uint64_t)n * stride, stride, scratch, &row) && fits(row, n))
		n++;
	return n;
}

static bool lane_fits_salvage(struct ws_span in, uint32_t number)
{
	if (wsi_at_u32(in, WSI_AT_lane_id) != number || number >= WS_MAX_LANES)
		return false;
	struct ws_lane row = { 0 };
	(void)wsi_lane_read(in, (struct ws_span){ 0 }, &row);
	return row.pc != 0 && row.pc % 8 == 0 && row.rel_pc % 8 == 0 && row.rel_pc <= row.pc &&
	       row.rel_pc < (1u << 30) && row.thread.x < 1024 && row.thread.y < 1024 &&
	       row.thread.z < 64 && row.exception < 256 && row.call_depth < 65536 &&
	       row.syscall_call_depth <= row.call_depth;
}

static bool sm_fits_salvage(struct ws_span in, uint32_t number)
{
	if (wsi_at_u32(in, WSI_AT_sm_id) != number || wsi_at_u32(in, 4) != 0)
		return false;
	struct ws_sm row = { 0 };
	return wsi_sm_read(in, (struct ws_span){ 0 }, &row) && row.exception < 256;
}

/* Counts the rows of a table that hold an exception. */
static void exceptions_count(const struct wsi_input *source, struct ws_salvaged *table,
			     enum wsi_kind kind)
{
	uint8_t scratch[MOST_STRIDE];
	for (uint32_t i = 0; i < table->rows; i++) {
		struct ws_span row;
		struct ws_lane lane = { 0 };
		struct ws_sm sm = { 0 };
		if (!row_view(source, table->file_off + (uint64_t)i * table->stride, table->stride,
			      scratch, &row))
			return;
		if (kind == WSI_KIND_LANE)
			(void)wsi_lane_read(row, (struct ws_span){ 0 }, &lane);
		else
			(void)wsi_sm_read(row, (struct ws_span){ 0 }, &sm);
		uint32_t code = kind == WSI_KIND_LANE ? lane.exception : sm.exception;
		if (code == 0 || !ws_exception_find(code))
			continue;
		if (table->n_exceptions++ == 0) {
			table->exception = code;
			table->exception_pc = lane.pc;
		}
	}
}

/* A table of this kind that begins here; its size, or 0. */
static uint64_t table_at(const struct wsi_input *source, uint64_t off, enum wsi_kind kind,
			 struct wsi_salvage *salvage)
{
	struct wsi_stride known[WSI_MAX_STRIDES];
	for (size_t i = wsi_kind_strides(kind, known); i-- > 0;) { /* the widest first */
		uint32_t stride = known[i].bytes;
		uint32_t rows =
			rows_that_fit(source, off, stride,
				      kind == WSI_KIND_LANE ? lane_fits_salvage : sm_fits_salvage);
		if (rows < FEWEST_ROWS)
			continue;
		struct ws_salvaged one = { .what = wsi_kind_infos[kind].words,
					   .file_off = off,
					   .size = (uint64_t)rows * stride,
					   .present = (uint64_t)rows * stride,
					   .rows = rows,
					   .stride = stride,
					   .sureness =
						   rows >= LIKELY_ROWS ? WS_LIKELY : WS_POSSIBLE };
		exceptions_count(source, &one, kind);
		found_add(salvage, &one);
		return one.size;
	}
	return 0;
}

/* Sections begin at multiples of 8 in dumps seen so far; looking at each of those is enough. */
static void salvage_fill(const struct wsi_input *source, struct wsi_salvage *salvage)
{
	enum { LOOK = 32 };
	uint8_t scratch[LOOK];
	uint64_t off = WSI_ELF_HEADER_BYTES;
	while (wsi_input_clip(source, off, LOOK).len == LOOK && !salvage->failed) {
		uint64_t size = 0;
		const uint8_t *at = wsi_input_view(source, off, LOOK, scratch);
		uint32_t first = at ? wsi_load_u32(at) : 0;
		if (first == 0x464c457f) /* "\x7fELF" */
			size = image_at(source, off, salvage);
		else if (at && wsi_load_u32(at + WSI_AT_lane_id) == 0 && first != 0)
			size = table_at(source, off, WSI_KIND_LANE, salvage);
		else if (at && first == 0 && wsi_load_u32(at + 4) == 0)
			size = table_at(source, off, WSI_KIND_SM, salvage);
		off += size > 8 ? (size + 7) / 8 * 8 : 8;
	}
}

void wsi_salvage_destroy(struct wsi_salvage *salvage)
{
	if (salvage)
		wsi_free(salvage->at);
	wsi_free(salvage);
}

static const struct wsi_salvage *salvage_get(const struct ws_core *core)
{
	struct wsi_salvage *salvage = atomic_load(&core->cache->salvage);
	if (salvage)
		return salvage;
	struct wsi_salvage *fresh = wsi_zalloc(sizeof *fresh);
	if (!fresh)
		return NULL;
	if (core->n_sections == 0)
		salvage_fill(&core->source, fresh);
	if (fresh->failed) {
		wsi_salvage_destroy(fresh);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&core->cache->salvage, &salvage, fresh))
		return fresh;
	wsi_salvage_destroy(fresh); /* somebody else was faster */
	return salvage;
}

enum ws_status ws_core_salvaged(const struct ws_core *core, uint32_t index,
				struct ws_salvaged *ret_salvaged, struct ws_error *err)
{
	const struct wsi_salvage *salvage = salvage_get(core);
	if (!salvage)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "salvage of a dump");
	if (index >= salvage->n)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "nothing more was recognised");
	*ret_salvaged = salvage->at[index];
	return WS_OK;
}

/* "256 lanes, 32 with exception 14 (Warp Illegal Address)" */
static void say_rows(char *text, size_t size, const char *what, const struct ws_salvaged *sum)
{
	size_t len = strlen(text);
	if (sum->rows == 0)
		return;
	snprintf(text + len, size - len, "%s%u %s", len ? "; " : "", sum->rows, what);
	len = strlen(text);
	if (sum->n_exceptions)
		snprintf(text + len, size - len, ", %u with exception %u (%s)", sum->n_exceptions,
			 sum->exception, ws_exception_find(sum->exception)->label);
}

void wsi_core_salvage_note(struct ws_core *core)
{
	char text[200] = "";
	const struct wsi_salvage *salvage = salvage_get(core);
	struct ws_salvaged lanes = { 0 }, sms = { 0 };
	uint64_t first = WS_NO_OFFSET;
	for (size_t i = 0; salvage && i < salvage->n; i++) {
		const struct ws_salvaged *one = &salvage->at[i];
		struct ws_salvaged *sum =
			one->what == wsi_kind_infos[WSI_KIND_LANE].words ? &lanes : &sms;
		if (one->sureness != WS_LIKELY) /* an image, or too few rows to be sure */
			continue;
		first = first == WS_NO_OFFSET ? one->file_off : first;
		sum->rows += one->rows;
		if (one->n_exceptions && !sum->n_exceptions)
			sum->exception = one->exception;
		sum->n_exceptions += one->exception == sum->exception ? one->n_exceptions : 0;
	}
	say_rows(text, sizeof text, "lanes", &lanes);
	say_rows(text, sizeof text, "SMs", &sms);
	if (*text)
		wsi_core_note(core, WSI_TOPIC_HEADERS, WS_HIDES_NOTHING, first,
			      "recognised by shape, and not used for the verdict: %s", text);
}
