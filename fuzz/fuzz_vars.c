/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks, variables and expressions: of any bytes as a dump, with expressions of ours; of any other
 * text as expressions, a line each, in a dump of ours. Beyond not crashing: what is printed is text
 * on one line, and a variable that is told can be told again.
 */
#include "fuzz.h"

#include <warpscope/core.h>
#include <warpscope/vars.h>

enum { MAX_FRAMES = 6, MAX_VARIABLES = 64, MAX_WARPS = 3, MAX_LINE = 400 };

static bool check_text(void *user, const char *bytes, size_t len)
{
	uint64_t *printed = user;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		FUZZ_CHECK(c >= 0x20 && c != 0x7f);
	}
	*printed += len;
	return true;
}

static bool check_lines(void *user, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != '\n')
			check_text(user, bytes + i, 1);
	return true;
}

static uint64_t print(struct ws_vars *vars, const struct ws_value *value, char letter)
{
	uint64_t printed = 0;
	struct ws_out out;
	ws_out_init(&out, check_text, &printed);
	ws_vars_print(vars, value, (struct ws_value_format){ .letter = letter, .is_whole = true },
		      &out);
	FUZZ_CHECK(ws_out_flush(&out, NULL) == WS_OK);
	return printed;
}

/* The type of an expression, or one by its words, with its members. */
static uint64_t describe(struct ws_vars *vars, const char *text)
{
	uint64_t written = 0;
	struct ws_vtype type;
	struct ws_out out;
	ws_out_init(&out, check_lines, &written);
	if (ws_vars_type(vars, text, &type, NULL) == WS_OK)
		ws_vars_describe(vars, &type, &out);
	FUZZ_CHECK(ws_out_flush(&out, NULL) == WS_OK);
	return written;
}

static bool some_register(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
			  uint32_t words, unsigned lane, uint64_t *ret_bits)
{
	(void)arrival;
	FUZZ_CHECK(words == 1 || words == 2);
	*ret_bits = UINT64_C(0x9e3779b97f4a7c15) * (lane + 1) * (number + (uint32_t)kind + 1);
	return lane != 3;
}

static uint32_t some_place(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			   unsigned lane)
{
	(void)arrival;
	return dim * 100 + axis * 10 + lane;
}

static bool some_memory(const struct ws_arrival *arrival, const struct ws_address *at, void *buffer,
			size_t len)
{
	(void)arrival;
	memset(buffer, (int)at->address & 0xff, len);
	return at->address % 5 != 0;
}

/* The same in many lanes, where that is asked for: as often as a lane is asked it has one value. */
static uint64_t in_lanes(struct ws_vars *vars, const char *text)
{
	const struct ws_arrival arrival = {
		.lanes = 0x8000001d, .reg = some_register, .place = some_place, .read = some_memory
	};
	struct ws_lane_number first[WS_MAX_LANES], again[WS_MAX_LANES];
	struct ws_condition *condition;
	uint64_t printed = 0;
	if (ws_vars_condition(vars, text, &condition, NULL) != WS_OK)
		return 0;
	uint32_t known = ws_condition_read(condition, &arrival, first);
	FUZZ_CHECK((known & ~arrival.lanes) == 0);
	FUZZ_CHECK(ws_condition_read(condition, &arrival, again) == known);
	(void)ws_condition_holds(condition, &arrival);
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(known >> lane & 1))
			continue;
		FUZZ_CHECK(first[lane].bits == again[lane].bits);
		const struct ws_value value = ws_condition_value(condition, first[lane].bits);
		if (ws_condition_is_plain(condition))
			printed += print(vars, &value, 0);
	}
	ws_condition_free(condition);
	return printed;
}

static uint64_t evaluate(struct ws_vars *vars, const char *text)
{
	struct ws_value value;
	struct ws_number number;
	char type[300];
	if (ws_vars_evaluate(vars, text, &value, NULL) != WS_OK)
		return 0;
	ws_vars_spell(vars, &value.type, type, sizeof type);
	FUZZ_CHECK(strlen(type) < sizeof type);
	(void)!ws_vars_number(vars, &value, &number, NULL);
	if (ws_vars_text(vars, &value, type, sizeof type, NULL) == WS_OK)
		FUZZ_CHECK(strlen(type) < sizeof type);
	uint64_t printed = print(vars, &value, 0) + print(vars, &value, 'x') + describe(vars, text);
	ws_vars_set_style(
		vars, (struct ws_value_style){ .elements = (uint32_t)strlen(text), .repeats = 3 });
	printed += print(vars, &value, 0);
	ws_vars_set_style(vars, (struct ws_value_style){ 0 });
	if (ws_vars_keep(vars, &value, NULL) == WS_OK)
		printed += print(vars, &value, 0);
	return printed + in_lanes(vars, text);
}

static uint64_t list(struct ws_vars *vars)
{
	static struct ws_variable_value values[MAX_VARIABLES];
	uint64_t printed = 0;
	size_t n = 0, again = 0;
	if (ws_vars_list(vars, values, MAX_VARIABLES, &n, NULL) != WS_OK)
		return 0;
	for (size_t i = 0; i < n && i < MAX_VARIABLES; i++)
		printed += print(vars, &values[i].value, 0);
	FUZZ_CHECK(ws_vars_list(vars, values, MAX_VARIABLES, &again, NULL) == WS_OK && again == n);
	return printed;
}

/* Without debug information: the same twice, and words that are text. */
static uint64_t unnamed(struct ws_vars *vars)
{
	static struct ws_kernel_param params[MAX_VARIABLES];
	static struct ws_held held[MAX_VARIABLES];
	uint64_t printed = 0;
	size_t n = 0, again = 0;
	if (ws_vars_params(vars, params, MAX_VARIABLES, &n, NULL) != WS_OK)
		return 0;
	for (size_t i = 0; i < n && i < MAX_VARIABLES; i++)
		printed += print(vars, &params[i].value, 0) + evaluate(vars, params[i].name);
	FUZZ_CHECK(ws_vars_params(vars, params, MAX_VARIABLES, &again, NULL) == WS_OK &&
		   again == n);
	n = 0;
	(void)!ws_vars_held(vars, held, MAX_VARIABLES, &n, NULL);
	for (size_t i = 0; i < n && i < MAX_VARIABLES; i++)
		check_text(&printed, held[i].text, strlen(held[i].text));
	return printed;
}

static uint64_t walk(struct ws_vars *vars)
{
	static const char *const expressions[] = { "cursor.base[0:3]",
						   "*at",
						   "bytes",
						   "&out",
						   "$pc",
						   "*(@local int *)0",
						   "sizeof(cursor)",
						   "{int} at",
						   "fold",
						   "&fold",
						   "$fp",
						   "*$_cuda_const_bank(0, 0x160)" };
	uint64_t printed = 0;
	for (uint32_t level = 0; level < ws_vars_frames(vars) && level < MAX_FRAMES; level++) {
		if (ws_vars_select(vars, level, NULL) != WS_OK)
			continue;
		printed += list(vars) + unnamed(vars);
		for (size_t i = 0; i < WSI_COUNT(expressions); i++)
			printed += evaluate(vars, expressions[i]);
	}
	return printed;
}

static void fuzz_dump(const uint8_t *data, size_t size)
{
	struct ws_target *target;
	struct ws_vars *vars;
	uint64_t printed = 0;
	if (ws_core_open_memory((struct ws_span){ data, size, 0 }, NULL, &target, NULL) != WS_OK)
		return;
	if (ws_vars_create(target, &vars, NULL) == WS_OK) {
		struct ws_warp warp;
		struct ws_focus focus;
		if (ws_focus_find(target, &focus, NULL) == WS_OK)
			for (uint32_t i = 0; i < MAX_WARPS; i++) {
				if (ws_target_warp(target, focus.warp_index, &warp, NULL) ==
					    WS_OK &&
				    ws_vars_look(vars, &focus, NULL) == WS_OK)
					printed += walk(vars);
				focus.warp_index++;
			}
		ws_vars_destroy(vars);
	}
	ws_target_close(target);
	fuzz_check_printed(printed, size);
}

/* A thread four frames deep in a dump that the build knows. */
static struct ws_vars *known_thread(void)
{
	static struct ws_target *target;
	static struct ws_vars *vars;
	struct ws_focus focus;
	if (!vars) {
		FUZZ_CHECK(ws_core_open(FUZZ_DUMP, NULL, &target, NULL) == WS_OK);
		FUZZ_CHECK(ws_vars_create(target, &vars, NULL) == WS_OK);
		FUZZ_CHECK(ws_focus_find(target, &focus, NULL) == WS_OK);
		FUZZ_CHECK(ws_vars_look(vars, &focus, NULL) == WS_OK);
	}
	return vars;
}

static void fuzz_text(const char *text, size_t size)
{
	struct ws_vars *vars = known_thread();
	uint64_t printed = 0;
	for (size_t at = 0, lines = 0; at < size && lines < 8; lines++) {
		char line[MAX_LINE];
		size_t n = 0;
		for (; at < size && text[at] != '\n'; at++)
			if (n < sizeof line - 1 && text[at])
				line[n++] = text[at];
		at++;
		line[n] = '\0';
		FUZZ_CHECK(ws_vars_select(vars, (uint32_t)(lines % 4), NULL) == WS_OK);
		printed += evaluate(vars, line);
	}
	fuzz_check_printed(printed, size);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	if (size > 4 && memcmp(data,
			       "\x7f"
			       "ELF",
			       4) == 0)
		fuzz_dump(data, size);
	else
		fuzz_text((const char *)data, size);
	return 0;
}
