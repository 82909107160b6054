/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ours against libdw: every field of every row, and every chain with names. Prints TAP.
 *
 *   libdw_rows FILE...
 *
 * libdw counts contexts over a whole table, so each sequence of a cubin is cut out into an ELF
 * image of its own: the header of its table, its opcodes, the string section. Of other ELF files
 * whole tables are compared.
 */
#include "elf/elf.h"

#undef free
#undef malloc
#undef printf
#undef realloc
#undef calloc
#undef exit

#include <elfutils/libdw.h>
#include <libelf.h>
#include <unistd.h>

#include <warpscope/line.h>

#include "base/file.h"

enum {
	MAX_SHOWN = 5, /* differences of one file that are told */
	MAX_CHAIN = WS_LINE_MAX_DEPTH + 1,
	N_SECTIONS = 5, /* of an image: null, .debug_line, .debug_str, .debug_line_str, names */
};

struct totals {
	size_t n_sequences, n_rows, n_inlined, n_frames, n_differences, max_depth;
};

struct bytes {
	uint8_t *ptr;
	size_t len;
};

static void *need(void *ptr)
{
	if (!ptr) {
		fprintf(stderr, "libdw_rows: out of memory\n");
		exit(1);
	}
	return ptr;
}

/* ---- an image that holds one table ---- */

static void put(struct bytes *b, const void *ptr, size_t len)
{
	if (len == 0)
		return;
	b->ptr = need(realloc(b->ptr, b->len + len));
	memcpy(b->ptr + b->len, ptr, len);
	b->len += len;
}

static void put_uint(struct bytes *b, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(b, &(uint8_t){ (uint8_t)(value >> (8 * i)) }, 1);
}

static void put_shdr(struct bytes *b, uint32_t name, uint32_t type, uint64_t off, uint64_t size)
{
	put_uint(b, name, 4);
	put_uint(b, type, 4);
	put_uint(b, 0, 16);
	put_uint(b, off, 8);
	put_uint(b, size, 8);
	put_uint(b, 0, 8);
	put_uint(b, 1, 8);
	put_uint(b, 0, 8);
}

static struct bytes image_of(struct bytes line, struct ws_span str, struct ws_span line_str)
{
	static const char names[] = "\0.debug_line\0.debug_str\0.debug_line_str\0.shstrtab";
	const uint64_t line_at = 64, str_at = line_at + line.len, line_str_at = str_at + str.len,
		       names_at = line_str_at + line_str.len;
	struct bytes b = { 0 };
	put(&b,
	    "\x7f"
	    "ELF\2\1\1\0\0\0\0\0\0\0\0",
	    16);
	put_uint(&b, WSI_ET_EXEC, 2);
	put_uint(&b, WSI_EM_CUDA, 2);
	put_uint(&b, 1, 4);
	put_uint(&b, 0, 16);
	put_uint(&b, names_at + sizeof names, 8);
	put_uint(&b, 0, 4);
	put_uint(&b, 64, 2);
	put_uint(&b, 0, 4);
	put_uint(&b, 64, 2);
	put_uint(&b, N_SECTIONS, 2);
	put_uint(&b, N_SECTIONS - 1, 2);
	put(&b, line.ptr, line.len);
	put(&b, str.ptr, str.len);
	put(&b, line_str.ptr, line_str.len);
	put(&b, names, sizeof names);
	put_shdr(&b, 0, 0, 0, 0);
	put_shdr(&b, 1, WSI_SHT_PROGBITS, line_at, line.len);
	put_shdr(&b, 13, WSI_SHT_PROGBITS, str_at, str.len);
	put_shdr(&b, 24, WSI_SHT_PROGBITS, line_str_at, line_str.len);
	put_shdr(&b, 40, WSI_SHT_STRTAB, names_at, sizeof names);
	return b;
}

/* The table's header with the opcodes from `from` to `to` behind it. */
static struct bytes table_of(struct ws_span line, const struct ws_line_table *t, uint64_t from,
			     uint64_t to)
{
	struct bytes b = { 0 };
	uint64_t length_bytes = t->dwarf64 ? 12 : 4, at = t->sec_off + length_bytes;
	uint64_t length = t->program_off - at + (to - from);
	if (t->dwarf64)
		put_uint(&b, UINT32_MAX, 4);
	put_uint(&b, length, t->dwarf64 ? 8 : 4);
	put(&b, line.ptr + at, (size_t)(t->program_off - at));
	put(&b, line.ptr + from, (size_t)(to - from));
	return b;
}

/* ---- one file ---- */

struct input {
	const char *path;
	struct ws_span line;
	struct ws_line_input in;
	struct ws_line_map *map;
	struct totals totals;
};

static void differ(struct input *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void differ(struct input *f, const char *format, ...)
{
	if (f->totals.n_differences++ >= MAX_SHOWN)
		return;
	va_list args;
	va_start(args, format);
	fputs("# ", stdout);
	vprintf(format, args);
	fputc('\n', stdout);
	va_end(args);
}

/* A row of ours with what is needed to find its chain again. */
struct row_ref {
	struct ws_line_seq seq;
	uint32_t number;
	struct ws_line_row row;
	size_t position;
};

static bool same_path(const struct ws_line_file *file, const char *theirs)
{
	char path[4096];
	size_t len = 0;
	if (file)
		len = ws_line_path(file, path, sizeof path);
	if (!file || !theirs || len >= sizeof path)
		return !file || !theirs;
	size_t their_len = strlen(theirs);
	/* libdw puts the compilation's directory before a relative one, when there is a DIE of it
	 */
	return strcmp(path, theirs) == 0 ||
	       (path[0] != '/' && their_len > len && strcmp(theirs + their_len - len, path) == 0);
}

static void compare_flag(struct input *f, const struct row_ref *ours, const char *what,
			 int (*get)(Dwarf_Line *, bool *), Dwarf_Line *theirs, bool value)
{
	bool their_value = false;
	get(theirs, &their_value);
	if (their_value != value)
		differ(f, "row %u at 0x%" PRIx64 ": %s is %d, libdw has %d", ours->number,
		       ours->row.address, what, value, their_value);
}

static void compare_row(struct input *f, const struct row_ref *ours, Dwarf_Line *theirs)
{
	Dwarf_Addr address = 0;
	int line = 0, column = 0;
	unsigned op_index = 0, isa = 0, discriminator = 0;
	Dwarf_Word mtime = 0, size = 0;
	dwarf_lineaddr(theirs, &address);
	dwarf_lineno(theirs, &line);
	dwarf_linecol(theirs, &column);
	dwarf_lineop_index(theirs, &op_index);
	dwarf_lineisa(theirs, &isa);
	dwarf_linediscriminator(theirs, &discriminator);
	const char *path = dwarf_linesrc(theirs, &mtime, &size);
	const struct ws_line_row *row = &ours->row;
	if (address != row->address || (uint32_t)line != row->line ||
	    (uint32_t)column != row->column || op_index != row->op_index || isa != row->isa ||
	    discriminator != row->discriminator)
		differ(f, "row %u: 0x%" PRIx64 " %u:%u, libdw has 0x%" PRIx64 " %d:%d",
		       ours->number, row->address, row->line, row->column, (uint64_t)address, line,
		       column);
	/* libdw's name of an unknown file is "???" */
	if (row->file ? !same_path(row->file, path) || mtime != row->file->mtime ||
				size != row->file->size_bytes
		      : path && strcmp(path, "???") != 0)
		differ(f, "row %u: file %s, libdw has %s", ours->number,
		       row->file ? row->file->name : "(none)", path ? path : "(none)");
	compare_flag(f, ours, "is_stmt", dwarf_linebeginstatement, theirs,
		     row->flags & WS_LINE_IS_STMT);
	compare_flag(f, ours, "end_sequence", dwarf_lineendsequence, theirs,
		     row->flags & WS_LINE_END_SEQUENCE);
	compare_flag(f, ours, "basic_block", dwarf_lineblock, theirs,
		     row->flags & WS_LINE_BASIC_BLOCK);
	compare_flag(f, ours, "prologue_end", dwarf_lineprologueend, theirs,
		     row->flags & WS_LINE_PROLOGUE_END);
	compare_flag(f, ours, "epilogue_begin", dwarf_lineepiloguebegin, theirs,
		     row->flags & WS_LINE_EPILOGUE_BEGIN);
}

static void compare_chain(struct input *f, const struct row_ref *ours, Dwarf *dwarf,
			  Dwarf_Lines *lines, Dwarf_Line *theirs)
{
	struct ws_line_pos pos[MAX_CHAIN];
	size_t n = ws_line_chain(f->map, &ours->seq, ours->number, pos, MAX_CHAIN), i = 0;
	for (Dwarf_Line *at = theirs; at; at = dwarf_linecontext(lines, at), i++) {
		int line = 0;
		dwarf_lineno(at, &line);
		const char *name = dwarf_linefunctionname(dwarf, at);
		if (ws_line_table_at(f->map, ours->seq.table)->base != WS_LINE_BASE_WRITTEN)
			name = pos[i < n ? i : 0].function; /* libdw takes the linker's 0 */
		if (i >= n) {
			differ(f, "row %u: chain of %zu, libdw's is longer", ours->number, n);
			return;
		}
		if ((uint32_t)line != pos[i].line ||
		    !same_path(pos[i].file, dwarf_linesrc(at, NULL, NULL)))
			differ(f, "row %u: position %zu is line %u, libdw has %d", ours->number, i,
			       pos[i].line, line);
		if ((name != NULL) != (pos[i].function != NULL) ||
		    (name && strcmp(name, pos[i].function) != 0))
			differ(f, "row %u: position %zu in %s, libdw has %s", ours->number, i,
			       pos[i].function ? pos[i].function : "(none)",
			       name ? name : "(none)");
	}
	if (i != n)
		differ(f, "row %u: chain of %zu, libdw has %zu", ours->number, n, i);
	f->totals.n_inlined += n > 1;
	f->totals.n_frames += n;
	f->totals.max_depth = n - 1 > f->totals.max_depth ? n - 1 : f->totals.max_depth;
}

static int libdw_order(const void *a, const void *b)
{
	const struct row_ref *x = a, *y = b;
	if (x->row.address != y->row.address)
		return x->row.address < y->row.address ? -1 : 1;
	unsigned x_end = x->row.flags & WS_LINE_END_SEQUENCE,
		 y_end = y->row.flags & WS_LINE_END_SEQUENCE;
	if (x_end != y_end) /* libdw puts the end of a sequence first */
		return x_end ? -1 : 1;
	return x->position < y->position ? -1 : 1;
}

/* Compares rows with what libdw reads from an image. */
static void compare_image(struct input *f, struct bytes image, struct row_ref *rows, size_t n_rows,
			  bool with_chains)
{
	Elf *elf = elf_memory((char *)image.ptr, image.len);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_Lines *lines = NULL;
	size_t n_lines = 0;
	Dwarf_Off next;
	Dwarf_CU *cu = NULL;
	if (!dwarf || dwarf_next_lines(dwarf, 0, &next, &cu, NULL, NULL, &lines, &n_lines) != 0) {
		differ(f, "libdw does not read the table: %s", dwarf_errmsg(-1));
	} else if (n_lines != n_rows) {
		differ(f, "%zu rows, libdw has %zu", n_rows, n_lines);
	} else {
		qsort(rows, n_rows, sizeof *rows, libdw_order);
		for (size_t i = 0; i < n_rows; i++) {
			Dwarf_Line *theirs = dwarf_onesrcline(lines, i);
			if (i + 1 ==
			    n_rows) /* libdw ends the last row after sorting, whatever it is */
				rows[i].row.flags |= WS_LINE_END_SEQUENCE;
			compare_row(f, &rows[i], theirs);
			if (with_chains)
				compare_chain(f, &rows[i], dwarf, lines, theirs);
		}
		f->totals.n_rows += n_rows;
	}
	dwarf_end(dwarf);
	elf_end(elf);
}

static struct row_ref *add_rows(struct input *f, struct row_ref *rows, size_t *n_rows,
				const struct ws_line_seq *seq)
{
	rows = need(realloc(rows, (*n_rows + seq->n_rows) * sizeof *rows));
	for (uint32_t k = 1; k <= seq->n_rows; k++) {
		struct ws_line_row row = ws_line_row_at(f->map, seq, k);
		rows[*n_rows] = (struct row_ref){ *seq, k, row, *n_rows };
		++*n_rows;
	}
	return rows;
}

/* Compares the sequences from `first` to before `last`, all of one table, as one image. */
static void compare_seqs(struct input *f, size_t first, size_t last, bool with_chains)
{
	struct row_ref *rows = NULL;
	size_t n_rows = 0, n_seqs = 0;
	struct ws_line_seq seq, next;
	uint64_t from = 0, to = 0;
	const struct ws_line_table *table = NULL;
	for (size_t i = first; i < last; i++) {
		if (ws_line_seq_at(f->map, i, &seq, NULL) != WS_OK)
			return;
		table = ws_line_table_at(f->map, seq.table);
		from = i == first ? seq.sec_off : from;
		rows = add_rows(f, rows, &n_rows, &seq);
		to = table->end_off;
		if (ws_line_seq_at(f->map, i + 1, &next, NULL) == WS_OK && next.table == seq.table)
			to = next.sec_off;
		f->totals.n_sequences++;
		n_seqs++;
	}
	if (n_seqs == 0)
		return;
	struct bytes line = table_of(f->line, table, from, to);
	struct bytes image = image_of(line, f->in.str, f->in.line_str);
	compare_image(f, image, rows, n_rows, with_chains);
	free(line.ptr);
	free(image.ptr);
	free(rows);
}

static void compare_file(struct input *f, bool by_sequence)
{
	size_t n = 0;
	if (ws_line_seq_count(f->map, &n, NULL) != WS_OK)
		return;
	struct ws_line_seq seq, next;
	for (size_t i = 0; i < n;) {
		size_t end = i + 1;
		if (!by_sequence && ws_line_seq_at(f->map, i, &seq, NULL) == WS_OK) {
			while (end < n && ws_line_seq_at(f->map, end, &next, NULL) == WS_OK &&
			       next.table == seq.table)
				end++;
		}
		compare_seqs(f, i, end, by_sequence);
		i = end;
	}
}

/* ---- from ELF ---- */

static struct ws_span section(const struct wsi_elf *elf, const char *name, uint64_t *ret_index)
{
	struct ws_span bytes = { 0 };
	*ret_index = wsi_elf_find(elf, name);
	if (*ret_index == UINT64_MAX)
		return bytes;
	struct wsi_shdr shdr = wsi_elf_shdr(elf, *ret_index);
	wsi_elf_bytes(elf, &shdr, &bytes);
	return bytes;
}

/* Relocations of section `target`, in the array that the caller frees. */
static struct ws_line_reloc *relocs_of(const struct wsi_elf *elf, uint64_t target, size_t *ret_n)
{
	struct ws_line_reloc *relocs = NULL;
	*ret_n = 0;
	for (uint64_t i = 1; i < elf->n_present; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(elf, i);
		struct ws_span bytes, symbols;
		if ((shdr.type != WSI_SHT_REL && shdr.type != WSI_SHT_RELA) ||
		    shdr.info != target || !wsi_elf_bytes(elf, &shdr, &bytes) ||
		    shdr.link >= elf->n_present)
			continue;
		struct wsi_shdr symtab = wsi_elf_shdr(elf, shdr.link);
		if (!wsi_elf_bytes(elf, &symtab, &symbols))
			continue;
		size_t size = shdr.type == WSI_SHT_REL ? WSI_REL_BYTES : WSI_RELA_BYTES;
		for (size_t at = 0; at + size <= bytes.len; at += size) {
			uint64_t symbol = wsi_at_u64(bytes, at + 8) >> 32;
			if (symbol * WSI_SYM_BYTES + WSI_SYM_BYTES > symbols.len)
				continue;
			struct wsi_sym sym = wsi_elf_sym(symbols, symbol);
			relocs = need(realloc(relocs, (*ret_n + 1) * sizeof *relocs));
			relocs[(*ret_n)++] = (struct ws_line_reloc){
				.sec_off = wsi_at_u64(bytes, at),
				.value = sym.value +
					 (size == WSI_RELA_BYTES ? wsi_at_u64(bytes, at + 16) : 0),
				.owner = sym.shndx,
				.add_stored = size == WSI_REL_BYTES,
			};
		}
	}
	return relocs;
}

/* The one thing that a linker is known to do wrong, and that libdw does not see, is no difference:
 * bases for which nothing is proved. */
static void take_diagnostic(void *user, const struct ws_line_diagnostic *diagnostic)
{
	if (!strstr(diagnostic->message, "the linker left their base at 0"))
		differ(user, "%s", diagnostic->message);
}

static void run_section(const struct wsi_elf *elf, const char *path, const char *name,
			struct totals *total, int *n_tests)
{
	struct input f = { .path = path };
	uint64_t index, ignored;
	struct ws_span line = section(elf, name, &index);
	if (line.len == 0)
		return;
	size_t n_relocs;
	struct ws_line_reloc *relocs = relocs_of(elf, index, &n_relocs);
	f.line = line;
	f.in = (struct ws_line_input){
		.line = line,
		.str = section(elf, ".debug_str", &ignored),
		.line_str = section(elf, ".debug_line_str", &ignored),
		.relocs = relocs,
		.n_relocs = n_relocs,
	};
	struct ws_error err;
	if (ws_line_create(&f.in, &f.map, &err) != WS_OK) {
		differ(&f, "%s", err.message);
	} else {
		compare_file(&f, elf->machine == WSI_EM_CUDA);
		ws_line_diagnostics(f.map, take_diagnostic, &f);
	}
	ws_line_destroy(f.map);
	free(relocs);
	const struct totals *t = &f.totals;
	printf("%s %d - %s %s: %zu sequences, %zu rows, %zu inlined, depth %zu, %zu differences\n",
	       t->n_differences ? "not ok" : "ok", ++*n_tests, path, name, t->n_sequences,
	       t->n_rows, t->n_inlined, t->max_depth, t->n_differences);
	total->n_sequences += t->n_sequences;
	total->n_rows += t->n_rows;
	total->n_inlined += t->n_inlined;
	total->n_frames += t->n_frames;
	total->n_differences += t->n_differences;
	total->max_depth = total->max_depth > t->max_depth ? total->max_depth : t->max_depth;
}

int main(int argc, char **argv)
{
	struct totals total = { 0 };
	int n_tests = 0;
	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++) {
		struct wsi_file file;
		struct wsi_elf elf;
		struct ws_error err;
		if (wsi_file_open(argv[i], &file, &err) != WS_OK ||
		    wsi_elf_open(file.bytes, &elf, &err) != WS_OK) {
			printf("not ok %d - %s: %s\n", ++n_tests, argv[i], err.message);
			total.n_differences++;
			continue;
		}
		run_section(&elf, argv[i], ".debug_line", &total, &n_tests);
		run_section(&elf, argv[i], ".nv_debug_line_sass", &total, &n_tests);
		wsi_file_close(&file);
	}
	printf("1..%d\n", n_tests);
	printf("# %zu sequences, %zu rows, %zu inlined, %zu positions, depth %zu, %zu "
	       "differences\n",
	       total.n_sequences, total.n_rows, total.n_inlined, total.n_frames, total.max_depth,
	       total.n_differences);
	return total.n_differences != 0;
}
