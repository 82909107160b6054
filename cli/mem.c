/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope mem DUMP SPACE:ADDRESS [/FORMAT] [COUNT] [FILTER...]: gdb's x over the memory of a
 * dump, with the reason where there is none. The focus, or the first lane that the filter lets
 * through, says whose shared, local, parameter or constant memory is meant.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "symbols.h"

enum {
	MAX_BYTES = 64 << 20, /* one command shows at most that much */
	MAX_STRING = 4096,
	LINE_BYTES = 16,
};

struct mem {
	struct session session;
	struct symbols *symbols; /* NULL until format 'a' needs them */
	struct ws_address at;
	const struct ws_grid *grid; /* for symbols; may be NULL */
	char format;                /* of gdb's x: x d u o t a f c s */
	unsigned unit;              /* bytes: 1, 2, 4, 8 */
	uint64_t count;
};

/* ---- the command line ---- */

/* "const[3]:0x10" and the like; the bank is 0 when it is not given. A bare number is generic. */
static bool parse_address(struct mem *mem, const char *text)
{
	const char *colon = strchr(text, ':');
	mem->at.space = WS_SPACE_GENERIC;
	if (!colon)
		return cli_number(text, &mem->at.address);
	size_t len = strcspn(text, ":[");
	if (!cli_space(text, len, &mem->at.space))
		return false;
	const char *after = text + len;
	if (*after == '[' && mem->at.space == WS_SPACE_CONST) {
		char *end;
		unsigned long bank = strtoul(after + 1, &end, 0);
		if (end == after + 1 || *end != ']' || bank > UINT32_MAX)
			return false;
		mem->at.bank = (uint32_t)bank;
		after = end + 1;
	}
	return after == colon && cli_number(colon + 1, &mem->at.address);
}

/* "/16xw": count, letter of the format, letter of the size, each optional, as gdb. */
static bool parse_format(struct mem *mem, const char *text)
{
	if (isdigit((unsigned char)*text)) {
		char *end;
		mem->count = strtoull(text, &end, 10);
		text = end;
	}
	for (; *text; text++) {
		if (strchr("xduotafcs", *text))
			mem->format = *text;
		else if (*text == 'b')
			mem->unit = 1;
		else if (*text == 'h')
			mem->unit = 2;
		else if (*text == 'w')
			mem->unit = 4;
		else if (*text == 'g')
			mem->unit = 8;
		else
			return false;
	}
	return true;
}

/* The format's own size where none was given, as gdb; sizes that a format cannot have are refused.
 */
static bool settle_format(struct mem *mem)
{
	if (mem->unit == 0)
		mem->unit = mem->format == 'a' ? 8 : mem->format == 'c' ? 1 : 4;
	if (mem->format == 's')
		mem->unit = 1;
	if (mem->format == 'a' && mem->unit != 8)
		return false;
	return mem->format != 'f' || mem->unit >= 4;
}

/* /FORMAT and COUNT, in this order, each optional. Returns how many arguments they were, -1: wrong.
 */
static int parse_what(struct mem *mem, int argc, char **argv)
{
	int used = 0;
	if (used < argc && argv[used][0] == '/') {
		if (!parse_format(mem, argv[used] + 1))
			return -1;
		used++;
	}
	if (used < argc && isdigit((unsigned char)argv[used][0])) {
		if (!cli_number(argv[used], &mem->count))
			return -1;
		used++;
	}
	return settle_format(mem) ? used : -1;
}

/* ---- whose memory ---- */

struct pick {
	struct mem *mem;
	bool done;
};

static void pick_first(void *user, const struct ws_resident *place)
{
	struct pick *pick = user;
	struct ws_address *at = &pick->mem->at;
	if (pick->done || place->n_lanes == 0)
		return;
	pick->done = true;
	at->device_index = place->warp.device_index;
	at->warp_index = place->warp_index;
	at->lane = place->lanes[0].id;
	pick->mem->grid = place->grid;
	if (place->grid)
		at->grid_index = (uint32_t)(place->grid - pick->mem->session.threads.grids);
}

static int pick_thread(struct mem *mem, int argc, char **argv)
{
	const struct session *session = &mem->session;
	struct ws_filter filter;
	const char *bad = "";
	mem->at.device_index = mem->at.grid_index = mem->at.warp_index = mem->at.lane = WS_NONE;
	if (!ws_filter_parse(&filter, ws_threads_focus_coords(&session->threads), argc, argv, &bad))
		return cli_usage("mem", "incorrect filter '%s'", bad);
	struct pick pick = { .mem = mem };
	if (argc > 0) {
		ws_threads_walk(&session->threads, &filter, WS_WALK_LANES, pick_first, &pick);
		if (!pick.done) {
			cli_warn("%s: no thread matches", session->path);
			return CLI_NO_ANSWER;
		}
	} else if (session->threads.have_focus) {
		mem->at.device_index = session->threads.focus.device_index;
		mem->at.warp_index = session->threads.focus.warp_index;
		mem->at.lane = session->threads.focus.lane;
		mem->at.grid_index = session->threads.focus.grid_index;
		if (session->threads.focus.grid_index != WS_NONE)
			mem->grid = &session->threads.grids[session->threads.focus.grid_index];
	}
	return CLI_ANSWERED;
}

/* ---- showing ---- */

/* The unit's value, little endian as the GPU. */
static uint64_t unit_value(const uint8_t *bytes, unsigned unit)
{
	uint64_t value = 0;
	for (unsigned i = unit; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static int64_t sign_extended(uint64_t value, unsigned unit)
{
	unsigned shift = 64 - 8 * unit;
	return (int64_t)(value << shift) >> shift;
}

static void print_binary(struct ws_out *out, uint64_t value, unsigned unit)
{
	char text[65];
	unsigned bits = 8 * unit;
	for (unsigned i = 0; i < bits; i++)
		text[i] = (char)('0' + (value >> (bits - 1 - i) & 1));
	ws_out_escaped(out, (struct ws_str){ text, bits });
}

static void print_float(struct ws_out *out, uint64_t value, unsigned unit)
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

static void print_address(struct mem *mem, struct ws_out *out, uint64_t value)
{
	if (!mem->symbols)
		mem->symbols = symbols_create(mem->session.target);
	uint32_t device = mem->at.device_index == WS_NONE ? 0 : mem->at.device_index;
	const struct symbol *symbol = symbols_find(mem->symbols, device, mem->grid, value);
	ws_out_printf(out, "0x%" PRIx64, value);
	if (symbol->function_status == WS_OK) {
		ws_out_text(out, " <");
		ws_out_escaped(out, ws_str_of(symbol->function));
		ws_out_printf(out, "+%" PRIu64 ">", symbol->rel_pc);
	}
}

static void print_unit(struct mem *mem, struct ws_out *out, const uint8_t *bytes)
{
	uint64_t value = unit_value(bytes, mem->unit);
	switch (mem->format) {
	case 'd':
		ws_out_printf(out, "%" PRId64, sign_extended(value, mem->unit));
		break;
	case 'u':
		ws_out_printf(out, "%" PRIu64, value);
		break;
	case 'o':
		ws_out_printf(out, "0%0*" PRIo64, (int)(8 * mem->unit + 2) / 3, value);
		break;
	case 't':
		print_binary(out, value, mem->unit);
		break;
	case 'a':
		print_address(mem, out, value);
		break;
	case 'f':
		print_float(out, value, mem->unit);
		break;
	case 'c':
		ws_out_printf(out, "%" PRId64 " '", sign_extended(value, mem->unit));
		ws_out_escaped(out, (struct ws_str){ (const char *)bytes, 1 });
		ws_out_text(out, "'");
		break;
	default:
		ws_out_printf(out, "0x%0*" PRIx64, (int)(2 * mem->unit), value);
	}
}

static void print_units(struct mem *mem, const uint8_t *bytes, size_t n_units)
{
	struct ws_out *out = &mem->session.cli->out;
	size_t per_line = mem->format == 'a' ? 1 : mem->format == 't' ? 4 : LINE_BYTES / mem->unit;
	for (size_t i = 0; i < n_units; i++) {
		if (i % per_line == 0) {
			ws_out_text(out, i ? "\n" : "");
			ws_out_printf(out, "0x%" PRIx64 ":", mem->at.address + i * mem->unit);
		}
		ws_out_text(out, "\t");
		print_unit(mem, out, bytes + i * mem->unit);
	}
	if (n_units)
		ws_out_text(out, "\n");
}

/* Why the byte at `address` is not there: the back end's words tell the four reasons apart. */
static void print_reason(struct mem *mem, uint64_t address, const struct ws_error *err)
{
	struct ws_out *out = &mem->session.cli->out;
	ws_out_printf(out, "0x%" PRIx64 ":\t", address);
	ws_out_escaped(out, ws_str_of(err->message));
	ws_out_text(out, "\n");
}

static void json_answer(struct mem *mem, const uint8_t *bytes, size_t n, size_t wanted,
			enum ws_status why, const struct ws_error *err)
{
	struct ws_json json;
	static const char hex[] = "0123456789abcdef";
	char *text = cli_alloc(2 * n + 1, 1);
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = hex[bytes[i] >> 4];
		text[2 * i + 1] = hex[bytes[i] & 15];
	}
	ws_json_begin(&json, &mem->session.cli->out, "warpscope-mem-1");
	ws_json_key(&json, "focus");
	ws_threads_focus_json(&mem->session.threads, &json);
	ws_json_key_text(&json, "space", ws_space_text(mem->at.space));
	ws_json_key(&json, "bank");
	if (mem->at.space == WS_SPACE_CONST)
		ws_json_u64(&json, mem->at.bank);
	else
		ws_json_null(&json);
	ws_json_key_hex(&json, "address", mem->at.address);
	ws_json_key_u64(&json, "wanted", wanted);
	ws_json_key_u64(&json, "read", n);
	if (n == 0 && why != WS_OK)
		ws_json_missing(&json, "bytes", why);
	else
		ws_json_key_str(&json, "bytes", (struct ws_str){ text, 2 * n });
	ws_json_key_text(&json, "rest_why", why == WS_OK ? NULL : ws_missing_word(why));
	ws_json_key_text(&json, "rest_message", why == WS_OK ? NULL : err->message);
	ws_json_end(&json);
	free(text);
}

static int show_units(struct mem *mem)
{
	size_t wanted = (size_t)mem->count * mem->unit, n = 0;
	uint8_t *bytes = cli_alloc(wanted, 1);
	struct ws_error err;
	enum ws_status st =
		ws_target_read_memory(mem->session.target, &mem->at, bytes, wanted, &n, &err);
	if (mem->session.cli->json) {
		json_answer(mem, bytes, n, wanted, st, &err);
	} else {
		size_t n_units = n / mem->unit;
		print_units(mem, bytes, n_units);
		if (st != WS_OK)
			print_reason(mem, mem->at.address + n, &err);
	}
	free(bytes);
	return n > 0 ? CLI_ANSWERED : CLI_NO_ANSWER;
}

/* Strings, one after the other, each to its NUL. */
static int show_strings(struct mem *mem)
{
	struct ws_out *out = &mem->session.cli->out;
	struct ws_address at = mem->at;
	for (uint64_t i = 0; i < mem->count; i++) {
		char text[MAX_STRING];
		size_t n = 0;
		struct ws_error err;
		enum ws_status st = ws_target_read_memory(mem->session.target, &at, text,
							  sizeof text, &n, &err);
		const char *end = memchr(text, '\0', n);
		size_t len = end ? (size_t)(end - text) : n;
		if (len > 0 || end) {
			ws_out_printf(out, "0x%" PRIx64 ":\t\"", at.address);
			ws_out_escaped(out, (struct ws_str){ text, len });
			ws_out_text(out, end ? "\"\n" : "\"...\n");
		}
		if (!end && st != WS_OK) {
			print_reason(mem, at.address + n, &err);
			return i > 0 || n > 0 ? CLI_ANSWERED : CLI_NO_ANSWER;
		}
		at.address += len + (end ? 1 : 0);
	}
	return CLI_ANSWERED;
}

/* ---- the verb ---- */

static int mem_run(struct mem *mem, int argc, char **argv)
{
	if (argc < 1 || !parse_address(mem, argv[0]))
		return cli_usage("mem", "SPACE:ADDRESS is expected, such as global:0x7f0000000000, "
					"shared:0x20, const[3]:0x10");
	int used = parse_what(mem, argc - 1, argv + 1);
	if (used < 0)
		return cli_usage("mem", "a format is /, a count, one of xduotafcs, one of bhwg");
	if (mem->count == 0 || mem->count > MAX_BYTES / mem->unit)
		return cli_usage("mem", "the count must be 1 to %u", MAX_BYTES / mem->unit);
	int status = pick_thread(mem, argc - 1 - used, argv + 1 + used);
	if (status != CLI_ANSWERED)
		return status;
	if (mem->format == 's' && !mem->session.cli->json)
		return show_strings(mem);
	return show_units(mem);
}

const struct cli_option verb_mem_options[] = { { 0 } };

int verb_mem(struct cli *cli, int argc, char **argv)
{
	struct mem mem = { .format = 'x', .count = 1 };
	int status = cli_options_take(cli, verb_mem_options, &mem, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("mem", "which dump?");
	status = session_open(&mem.session, cli, argv[0]);
	if (status == CLI_ANSWERED)
		status = mem_run(&mem, argc - 1, argv + 1);
	symbols_destroy(mem.symbols);
	session_close(&mem.session);
	return status;
}
