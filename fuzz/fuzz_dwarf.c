/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information over any bytes. An input is three u32 lengths, then .debug_info, .debug_abbrev
 * and .debug_str, as tests/builders/dwarf.py writes them; lengths beyond the input are cut. The
 * seeds are what it writes in fewer than 3,000 bytes, and the sections of three real images.
 *
 * Beyond not crashing: functions are in order and found by their names; a parameter counted is a
 * parameter given; texts are terminated and the same when asked for again; a field begins at or
 * before the byte it was asked for, inside its type.
 */
#include "fuzz.h"

#include <warpscope/cubin.h>

#include "base/reader.h"

enum {
	MAX_FUNCTIONS = 16,
	MAX_PARAMS = 16,
	MAX_MEMBERS = 8,
	MAX_DEPTH = 3,
	MAX_TEXT = 400,
};

static struct ws_span take(struct ws_span *rest, size_t len)
{
	struct ws_span part = { rest->ptr, len < rest->len ? len : rest->len, 0 };
	rest->ptr += part.len;
	rest->len -= part.len;
	return part;
}

static void check_fields(const struct ws_dwarf *dwarf, uint64_t off, const struct ws_type *type)
{
	static const uint64_t tried[] = { 0, 1, 7, 8, 100, UINT64_MAX };
	char path[MAX_TEXT];
	for (size_t i = 0; i < WSI_COUNT(tried); i++) {
		struct ws_dwarf_field field;
		enum ws_status st =
			ws_dwarf_find_field(dwarf, off, tried[i], path, sizeof path, &field, NULL);
		FUZZ_CHECK(memchr(path, 0, sizeof path));
		if (st != WS_OK)
			continue;
		FUZZ_CHECK(field.offset <= tried[i] && strlen(path) > 0);
		FUZZ_CHECK(tried[i] < type->size_bytes);
	}
}

static void check_type(const struct ws_dwarf *dwarf, uint64_t off, unsigned depth)
{
	char text[MAX_TEXT], again[MAX_TEXT];
	struct ws_type type, plain_type;
	uint64_t plain;
	enum ws_status st = ws_dwarf_spell(dwarf, off, text, sizeof text);
	FUZZ_CHECK(st == WS_OK || st == WS_LIMIT);
	FUZZ_CHECK(ws_dwarf_spell(dwarf, off, again, sizeof again) == st);
	FUZZ_CHECK(strcmp(text, again) == 0);
	if (ws_dwarf_type(dwarf, off, &type, NULL) != WS_OK)
		return;
	check_fields(dwarf, off, &type);
	if (ws_dwarf_plain(dwarf, off, &plain, NULL) == WS_OK &&
	    ws_dwarf_type(dwarf, plain, &plain_type, NULL) == WS_OK)
		FUZZ_CHECK(plain_type.kind != WS_KIND_CONST && plain_type.kind != WS_KIND_ALIAS);
	struct ws_str name;
	(void)!ws_dwarf_enumerator(dwarf, off, 1, &name, NULL);
	struct ws_dwarf_member members[MAX_MEMBERS];
	size_t n = 0, counted = 0;
	st = ws_dwarf_members(dwarf, off, members, MAX_MEMBERS, &n, NULL);
	FUZZ_CHECK((st == WS_OK) ==
		   (ws_dwarf_members(dwarf, off, NULL, 0, &counted, NULL) == WS_OK));
	FUZZ_CHECK(n == counted);
	for (size_t i = 0; i < n && i < MAX_MEMBERS && depth < MAX_DEPTH; i++)
		check_type(dwarf, members[i].type, depth + 1);
	if (depth < MAX_DEPTH && type.target != WS_TYPE_VOID)
		check_type(dwarf, type.target, depth + 1);
}

static void check_function(const struct ws_dwarf *dwarf, size_t index)
{
	const struct ws_dwarf_function *function = ws_dwarf_function_at(dwarf, index), *found;
	struct ws_dwarf_param params[MAX_PARAMS];
	size_t n = 0, counted = 0;
	FUZZ_CHECK(ws_dwarf_find_function(dwarf, function->name, &found, NULL) == WS_OK);
	FUZZ_CHECK(found <= function && ws_str_equal(found->name, function->name));
	if (ws_dwarf_params(dwarf, function, params, MAX_PARAMS, &n, NULL) != WS_OK)
		return;
	/* the types of copied parameters cost of the same look: fewer of them may be read */
	FUZZ_CHECK(ws_dwarf_params(dwarf, function, NULL, 0, &counted, NULL) == WS_OK);
	FUZZ_CHECK(n == counted);
	for (size_t i = 0; i < n && i < MAX_PARAMS; i++)
		check_type(dwarf, params[i].type, 0);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_span rest = { data, size, 0 };
	struct ws_dwarf_input input = { .demangle = ws_demangle };
	struct ws_dwarf *dwarf;
	if (size < 12)
		return 0;
	struct ws_span head = take(&rest, 12);
	input.info = take(&rest, wsi_load_u32(head.ptr));
	input.abbrev = take(&rest, wsi_load_u32(head.ptr + 4));
	input.str = take(&rest, wsi_load_u32(head.ptr + 8));
	if (ws_dwarf_create(&input, &dwarf, NULL) != WS_OK)
		return 0;
	for (size_t i = 0; i < ws_dwarf_function_count(dwarf) && i < MAX_FUNCTIONS; i++)
		check_function(dwarf, i);
	ws_dwarf_destroy(dwarf);
	return 0;
}
