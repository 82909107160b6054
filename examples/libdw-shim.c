/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that read NVIDIA's line maps with the two functions which elfutils added to libdw:
 * the same two over ours, and what the patch's own test did with them - every row, with the calls
 * around it.
 *
 * Unlike libdw's they are right for a cubin of several kernels: a context counts in its sequence.
 *
 *   libdw-shim CUBIN
 */
#include <stdio.h>
#include <string.h>

#include <warpscope/cubin.h>
#include <warpscope/image.h>
#include <warpscope/line.h>

/* A row, as libdw's Dwarf_Line is one. */
struct dwarf_line {
	const struct ws_line_map *map;
	const struct ws_line_seq *seq;
	uint32_t number;
};

/* The row that `line` was inlined into: false when it was not. */
static bool dwarf_linecontext(const struct dwarf_line *line, struct dwarf_line *ret_context)
{
	struct ws_line_row row = ws_line_row_at(line->map, line->seq, line->number);
	if (row.context == 0 || (row.flags & WS_LINE_BAD_CONTEXT))
		return false;
	*ret_context = (struct dwarf_line){ line->map, line->seq, row.context };
	return true;
}

/* Mangled name of the inlined function that `line` lies in, or NULL. */
static const char *dwarf_linefunctionname(const struct dwarf_line *line)
{
	return ws_line_row_at(line->map, line->seq, line->number).function;
}

static void print_place(const struct dwarf_line *line, char separator)
{
	struct ws_line_row row = ws_line_row_at(line->map, line->seq, line->number);
	const char *name = row.file ? row.file->name : "?", *slash = strrchr(name, '/');
	printf("%s%c%u", slash ? slash + 1 : name, separator, (unsigned)row.line);
}

static void print_row(struct dwarf_line line)
{
	struct ws_line_row row = ws_line_row_at(line.map, line.seq, line.number);
	struct dwarf_line context;
	printf("%u\t0x%llx\t", (unsigned)line.number, (unsigned long long)row.address);
	print_place(&line, '\t');
	printf("\t%s\t", row.flags & WS_LINE_END_SEQUENCE ? "yes" : "no");
	if (!dwarf_linecontext(&line, &context))
		fputs("-", stdout);
	for (bool first = true; dwarf_linecontext(&line, &context); first = false) {
		printf("%s%s@", first ? "" : " ", dwarf_linefunctionname(&line));
		print_place(&context, ':');
		line = context;
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct ws_image_file *file = NULL;
	struct ws_cubin *cubin;
	struct ws_line_map *map;
	struct ws_line_seq seq;
	struct ws_error err;
	if (argc != 2)
		return 2;
	if (ws_image_file_open(argv[1], &file, &err) != WS_OK ||
	    ws_image_file_cubin(file, 0, &cubin, &err) != WS_OK ||
	    ws_cubin_line_map(cubin, &map, &err) != WS_OK) {
		fprintf(stderr, "%s: %s\n", argv[1], err.message);
		ws_image_file_close(file);
		return 1;
	}
	for (size_t i = 0; ws_line_seq_at(map, i, &seq, &err) == WS_OK; i++) {
		for (uint32_t k = 1; k <= seq.n_rows; k++)
			print_row((struct dwarf_line){ map, &seq, k });
	}
	ws_image_file_close(file);
	return 0;
}
