/* SPDX-License-Identifier: Apache-2.0 */
/* Memory as gdb's x shows it, with the reason where there is none. */
#include <inttypes.h>

#include <warpscope/report.h>
#include <warpscope/symbols.h>
#include <warpscope/verbs.h>

#include "base/base.h"
#include "base/reader.h"
#include "verbs/stack.h"

enum {
	MAX_STRING = 4096,
	LINE_BYTES = 16,
};

struct memory {
	const struct ws_threads *threads;
	struct ws_mem query;
	struct ws_symbols *symbols; /* owned; NULL but for format 'a' */
	struct ws_out *out;
	uint8_t *bytes; /* owned: those that are there, in order; NULL for strings */
	size_t n, wanted;
	enum ws_status rest; /* why there are no more */
	struct ws_error rest_err;
};

/* ---- text ---- */

static int64_t sign_extended(uint64_t value, unsigned unit)
{
	unsigned shift = 64 - 8 * unit;
	return (int64_t)(value << shift) >> shift;
}

static void print_binary_unit(struct ws_out *out, uint64_t value, unsigned unit)
{
	char text[65];
	unsigned bits = 8 * unit;
	for (unsigned i = 0; i < bits; i++)
		text[i] = (char)('0' + (value >> (bits - 1 - i) & 1));
	ws_out_escaped(out, (struct ws_str){ text, bits });
}

static void print_float_unit(struct ws_out *out, uint64_t value, unsigned unit)
{
	if (unit == 4) {
		uint32_t bits = (uint32_t)value;
		float number;
		memcpy(&number, &bits, sizeof number);
		ws_out_printf(out, "%.9g", (double)number);
	} else {
		double number;
		memcpy(&number, &value, sizeof number);
		ws_out_printf(out, "%.17g", number);
	}
}

static void print_address(struct memory *mem, struct ws_out *out, uint64_t value)
{
	const struct ws_threads *threads = mem->threads;
	const struct ws_address *at = &mem->query.at;
	const struct ws_grid *grid =
		at->grid_index < threads->counts.grids ? &threads->grids[at->grid_index] : NULL;
	const struct ws_symbol *symbol = ws_symbols_find(
		mem->symbols, at->device_index == WS_NONE ? 0 : at->device_index, grid, value);
	ws_out_printf(out, "0x%" PRIx64, value);
	if (symbol->function_status == WS_OK) {
		ws_out_text(out, " <");
		ws_out_escaped(out, ws_str_of(symbol->function));
		ws_out_printf(out, "+%" PRIu64 ">", symbol->rel_pc);
	}
}

static void print_unit(struct memory *mem, struct ws_out *out, const uint8_t *bytes)
{
	uint64_t value = wsi_load_le(bytes, mem->query.unit);
	switch (mem->query.format) {
	case 'd':
		ws_out_printf(out, "%" PRId64, sign_extended(value, mem->query.unit));
		break;
	case 'u':
		ws_out_printf(out, "%" PRIu64, value);
		break;
	case 'o':
		ws_out_printf(out, "0%0*" PRIo64, (int)(8 * mem->query.unit + 2) / 3, value);
		break;
	case 't':
		print_binary_unit(out, value, mem->query.unit);
		break;
	case 'a':
		print_address(mem, out, value);
		break;
	case 'f':
		print_float_unit(out, value, mem->query.unit);
		break;
	case 'c':
		ws_out_printf(out, "%" PRId64 " '", sign_extended(value, mem->query.unit));
		ws_out_escaped(out, (struct ws_str){ (const char *)bytes, 1 });
		ws_out_text(out, "'");
		break;
	default:
		ws_out_printf(out, "0x%0*" PRIx64, (int)(2 * mem->query.unit), value);
	}
}

static void print_units(struct memory *mem, const uint8_t *bytes, size_t n_units)
{
	struct ws_out *out = mem->out;
	size_t per_line = mem->query.format == 'a'   ? 1
			  : mem->query.format == 't' ? 4
						     : LINE_BYTES / mem->query.unit;
	for (size_t i = 0; i < n_units; i++) {
		if (i % per_line == 0) {
			ws_out_text(out, i ? "\n" : "");
			ws_out_printf(out, "0x%" PRIx64 ":",
				      mem->query.at.address + i * mem->query.unit);
		}
		ws_out_text(out, "\t");
		print_unit(mem, out, bytes + i * mem->query.unit);
	}
	if (n_units)
		ws_out_text(out, "\n");
}

/* Why the byte at `address` is not there: the back end's words tell the four reasons apart. */
static void print_missing_reason(struct memory *mem, uint64_t address, const struct ws_error *err)
{
	struct ws_out *out = mem->out;
	ws_out_printf(out, "0x%" PRIx64 ":\t", address);
	ws_out_escaped(out, ws_str_of(err->message));
	ws_out_text(out, "\n");
}

/* Strings, one after the other, each to its NUL. Returns how many bytes were there. */
static uint64_t print_strings(struct memory *mem)
{
	struct ws_out *out = mem->out;
	struct ws_address at = mem->query.at;
	for (uint64_t i = 0; i < mem->query.count; i++) {
		char text[MAX_STRING];
		size_t n = 0;
		struct ws_error err;
		enum ws_status st = ws_target_read_memory(mem->threads->target, &at, text,
							  sizeof text, &n, &err);
		const char *end = memchr(text, '\0', n);
		size_t len = end ? (size_t)(end - text) : n;
		if (len > 0 || end) {
			ws_out_printf(out, "0x%" PRIx64 ":\t\"", at.address);
			ws_out_escaped(out, (struct ws_str){ text, len });
			ws_out_text(out, end ? "\"\n" : "\"...\n");
		}
		at.address += len + (end ? 1 : 0);
		if (!end && st != WS_OK) {
			print_missing_reason(mem, at.address, &err);
			break;
		}
	}
	return at.address - mem->query.at.address;
}

/* ---- reading ---- */

/* Gives a query the size of its format, where it has none. */
static enum ws_status settle(struct ws_mem *query, struct ws_error *err)
{
	const char format = query->format;
	if (!query->unit)
		query->unit = format == 'a' ? 8 : format == 'c' ? 1 : 4;
	if (format == 's')
		query->unit = 1;
	const unsigned unit = query->unit;
	if (!format || !strchr("xduotafcs", format) ||
	    (unit != 1 && unit != 2 && unit != 4 && unit != 8) || (format == 'a' && unit != 8) ||
	    (format == 'f' && unit < 4))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"a format is /, a count, one of xduotafcs, one of bhwg");
	if (query->count == 0 || query->count > WS_MEM_MOST_BYTES / unit)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the count must be 1 to %u",
				WS_MEM_MOST_BYTES / unit);
	return WS_OK;
}

static void memory_fini(struct memory *mem)
{
	ws_symbols_destroy(mem->symbols);
	wsi_free(mem->bytes);
}

static enum ws_status memory_read(struct memory *mem, struct ws_error *err)
{
	const struct ws_mem *query = &mem->query;
	mem->wanted = (size_t)query->count * query->unit;
	mem->bytes = wsi_zalloc(mem->wanted);
	if (!mem->bytes)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for %zu bytes",
				mem->wanted);
	mem->rest = ws_target_read_memory(mem->threads->target, &query->at, mem->bytes, mem->wanted,
					  &mem->n, &mem->rest_err);
	return WS_OK;
}

static enum ws_status mem_text(const struct ws_threads *threads, const struct ws_mem *query,
			       struct ws_out *out, uint64_t *ret_n, struct ws_error *err)
{
	struct memory mem = { .threads = threads, .query = *query, .out = out };
	enum ws_status st = settle(&mem.query, err);
	if (st == WS_OK && query->format == 's') {
		*ret_n = print_strings(&mem);
		return WS_OK;
	}
	if (st == WS_OK && query->format == 'a')
		st = ws_symbols_create(threads->target, &mem.symbols, err);
	if (st == WS_OK)
		st = memory_read(&mem, err);
	if (st == WS_OK) {
		print_units(&mem, mem.bytes, mem.n / mem.query.unit);
		if (mem.rest != WS_OK)
			print_missing_reason(&mem, query->at.address + mem.n, &mem.rest_err);
		*ret_n = mem.n;
	}
	memory_fini(&mem);
	return st;
}

/* ---- JSON ---- */

static enum ws_status mem_json(const struct ws_threads *threads, const struct ws_mem *query,
			       struct ws_out *out, uint64_t *ret_n, struct ws_error *err)
{
	static const char hex[] = "0123456789abcdef";
	struct memory mem = { .threads = threads, .query = *query, .out = out };
	struct ws_json json;
	enum ws_status st = settle(&mem.query, err);
	if (st != WS_OK)
		return st;
	st = memory_read(&mem, err);
	char *text = st == WS_OK ? wsi_zalloc(2 * mem.n + 1) : NULL;
	if (!text) {
		memory_fini(&mem);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the bytes");
	}
	for (size_t i = 0; i < mem.n; i++) {
		text[2 * i] = hex[mem.bytes[i] >> 4];
		text[2 * i + 1] = hex[mem.bytes[i] & 15];
	}
	wsi_verbs_json_begin(threads, "warpscope-mem-1", &json, out);
	ws_json_key_text(&json, "space", ws_space_text(query->at.space));
	if (ws_json_key_or_null(&json, "bank", query->at.space == WS_SPACE_CONST))
		ws_json_u64(&json, query->at.bank);
	ws_json_key_hex(&json, "address", query->at.address);
	ws_json_key_u64(&json, "wanted", mem.wanted);
	ws_json_key_u64(&json, "read", mem.n);
	if (ws_json_key_given(&json, "bytes", mem.n ? WS_OK : mem.rest))
		ws_json_str(&json, (struct ws_str){ text, 2 * mem.n });
	const bool is_whole = mem.rest == WS_OK;
	ws_json_key_text(&json, "rest_why", is_whole ? NULL : ws_missing_word(mem.rest));
	ws_json_key_text(&json, "rest_message", is_whole ? NULL : mem.rest_err.message);
	ws_json_end(&json);
	*ret_n = mem.n;
	wsi_free(text);
	memory_fini(&mem);
	return WS_OK;
}

enum ws_status ws_mem_answer(const struct ws_threads *threads, const struct ws_mem *query,
			     const struct ws_answer_style *style, uint64_t *ret_n,
			     struct ws_error *err)
{
	return (style->json ? mem_json : mem_text)(threads, query, style->out, ret_n, err);
}
