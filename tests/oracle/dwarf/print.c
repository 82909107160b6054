/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the library makes of the debug information of a cubin, for readelf.py:
 *
 *   print CUBIN <OFFSETS
 *
 * all functions with their parameters, then of each type at the offsets on standard input its kind,
 * size and name as C++ writes it, its members and the values of an enumeration.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <warpscope/cubin.h>
#include <warpscope/image.h>

enum { MAX_MEMBERS = 4096 };

static char text[1 << 16];

static const char *spelled(const struct ws_dwarf *dwarf, uint64_t type)
{
	return ws_dwarf_spell(dwarf, type, text, sizeof text) == WS_OK ? text : "(cut)";
}

static void print_functions(const struct ws_dwarf *dwarf)
{
	static struct ws_dwarf_param params[MAX_MEMBERS];
	for (size_t i = 0; i < ws_dwarf_function_count(dwarf); i++) {
		const struct ws_dwarf_function *function = ws_dwarf_function_at(dwarf, i);
		size_t n = 0;
		enum ws_status st = ws_dwarf_params(dwarf, function, params, MAX_MEMBERS, &n, NULL);
		printf("F %" PRIx64 " %.*s %s\n", function->info_off, (int)function->name.len,
		       function->name.ptr, ws_status_name(st));
		for (size_t k = 0; k < n; k++)
			printf("P %.*s|%u|%" PRIx64 "|%s\n", (int)params[k].name.len,
			       params[k].name.ptr ? params[k].name.ptr : "",
			       params[k].address_class, params[k].type,
			       spelled(dwarf, params[k].type));
	}
}

static void print_type(const struct ws_dwarf *dwarf, uint64_t off)
{
	static struct ws_dwarf_member members[MAX_MEMBERS];
	struct ws_type type;
	size_t n = 0;
	enum ws_status st = ws_dwarf_type(dwarf, off, &type, NULL);
	if (st != WS_OK) {
		printf("T %" PRIx64 " %s\n", off, ws_status_name(st));
		return;
	}
	printf("T %" PRIx64 "|%u|%u|%" PRId64 "|%" PRIx64 "|%s\n", off, type.kind, type.encoding,
	       (int64_t)type.size_bytes, type.target, spelled(dwarf, off));
	if (ws_dwarf_members(dwarf, off, members, MAX_MEMBERS, &n, NULL) != WS_OK)
		return;
	for (size_t k = 0; k < n; k++)
		printf("M %.*s|%" PRIx64 "|%" PRIu64 "|%u|%u|%d\n", (int)members[k].name.len,
		       members[k].name.ptr ? members[k].name.ptr : "", members[k].type,
		       members[k].offset, members[k].bit_size, members[k].bit_off,
		       members[k].is_base);
}

static void print_offsets(const struct ws_dwarf *dwarf)
{
	char line[64];
	while (fgets(line, sizeof line, stdin)) {
		char *end;
		uint64_t off = strtoull(line, &end, 16);
		if (*end != '=') {
			print_type(dwarf, off);
			continue;
		}
		struct ws_str name = { NULL, 0 };
		enum ws_status st =
			ws_dwarf_enumerator(dwarf, off, strtoll(end + 1, NULL, 10), &name, NULL);
		printf("E %" PRIx64 "|%s|%.*s\n", off, ws_status_name(st), (int)name.len,
		       name.ptr ? name.ptr : "");
	}
}

int main(int argc, char **argv)
{
	struct ws_image_file *file;
	struct ws_cubin *cubin;
	const struct ws_dwarf *dwarf;
	struct ws_error err;
	if (argc != 2)
		return 2;
	if (ws_image_file_open(argv[1], &file, &err) != WS_OK ||
	    ws_image_file_cubin(file, 0, &cubin, &err) != WS_OK ||
	    ws_cubin_dwarf(cubin, &dwarf, &err) != WS_OK) {
		printf("! %s %s\n", ws_status_name(err.status), err.message);
		return 1;
	}
	if (ws_dwarf_damage(dwarf, &err))
		printf("! %s %s\n", ws_status_name(err.status), err.message);
	print_functions(dwarf);
	print_offsets(dwarf);
	ws_image_file_close(file);
	return 0;
}
