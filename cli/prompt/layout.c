/* SPDX-License-Identifier: Apache-2.0 */
/* ptype/o: a structure with the offset and the size of each member, and where nothing is. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 /* members */ };

/* Bits that no member has, in gdb's words. */
static void print_layout_gap(struct ws_out *out, uint64_t bits, const char *what)
{
	if (bits % 8)
		ws_out_printf(out, "/* XXX %2" PRIu64 "-bit %-7s    */\n", bits % 8, what);
	if (bits / 8)
		ws_out_printf(out, "/* XXX %2" PRIu64 "-byte %-7s   */\n", bits / 8, what);
}

static uint64_t type_size_of(const struct ws_dwarf *dwarf, uint64_t type)
{
	struct ws_type described;
	uint64_t plain;
	return ws_dwarf_plain(dwarf, type, &plain, NULL) == WS_OK &&
			       ws_dwarf_type(dwarf, plain, &described, NULL) == WS_OK &&
			       described.size_bytes <= UINT32_MAX
		       ? described.size_bytes
		       : 0;
}

/* The columns before a member, and the gap before it. */
static void print_layout_place(struct ws_out *out, const struct ws_dwarf *dwarf,
			       const struct ws_dwarf_member *member, bool is_union, uint64_t *end)
{
	const uint64_t size = type_size_of(dwarf, member->type);
	const uint64_t bit = member->offset * 8 + member->bit_off;
	if (is_union) {
		ws_out_printf(out, "/* %21" PRIu64 " */", size);
		return;
	}
	if (*end > 0 && bit > *end)
		print_layout_gap(out, bit - *end, "hole");
	if (member->bit_size)
		ws_out_printf(out, "/* %6" PRIu64 ":%2" PRIu64 "   |  %6" PRIu64 " */", bit / 8,
			      bit % 8, size);
	else
		ws_out_printf(out, "/* %6" PRIu64 "      |  %6" PRIu64 " */", bit / 8, size);
	*end = bit + (member->bit_size ? member->bit_size : size * 8);
}

/* The lines of a description, each behind the columns of its member. */
static void print_layout_members(struct ws_out *out, const struct ws_dwarf *dwarf,
				 const struct ws_dwarf_member *members, size_t n, bool is_union,
				 uint64_t bytes, char *text)
{
	char *save, *line = strtok_r(text, "\n", &save);
	uint64_t end = 0;
	ws_out_text(out, "/* offset      |    size */  type = ");
	ws_out_escaped(out, ws_str_of(line));
	ws_out_text(out, "\n");
	for (size_t i = 0; i < n; i++) {
		if (members[i].is_base || !(line = strtok_r(NULL, "\n", &save)) || *line == '}')
			continue;
		print_layout_place(out, dwarf, &members[i], is_union, &end);
		ws_out_escaped(out, ws_str_of(line));
		ws_out_text(out, "\n");
	}
	if (!is_union && end > 0 && bytes * 8 > end)
		print_layout_gap(out, bytes * 8 - end, "padding");
	ws_out_printf(out, "\n%31s/* total size (bytes): %4" PRIu64 " */\n%29s}\n", "", bytes, "");
}

bool debug_print_layout(struct debugger *d, const struct ws_vtype *type)
{
	struct ws_type described;
	uint64_t plain;
	size_t n = 0;
	if (type->n_added || !type->dwarf ||
	    ws_dwarf_plain(type->dwarf, type->type, &plain, NULL) != WS_OK ||
	    ws_dwarf_type(type->dwarf, plain, &described, NULL) != WS_OK ||
	    (described.kind != WS_KIND_STRUCT && described.kind != WS_KIND_UNION))
		return false;
	struct ws_dwarf_member *members = cli_alloc(MOST, sizeof *members);
	struct cli_bytes text = { 0 };
	struct ws_out lines;
	ws_out_init(&lines, cli_bytes_write, &text);
	ws_vars_describe(d->vars, type, &lines);
	(void)!ws_out_flush(&lines, NULL);
	cli_bytes_write(&text, "", 1);
	const bool good = ws_dwarf_members(type->dwarf, plain, members, MOST, &n, NULL) == WS_OK &&
			  n <= MOST && strchr(text.ptr, '\n');
	if (good)
		print_layout_members(&d->cli->out, type->dwarf, members, n,
				     described.kind == WS_KIND_UNION,
				     type_size_of(type->dwarf, plain), text.ptr);
	free(text.ptr);
	free(members);
	return good;
}
