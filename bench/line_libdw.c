/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw's side of bench_line: the same generated table, in an ELF image in memory.
 *
 *   line_libdw decode ROWS KERNELS
 *   line_libdw lookup|hot ROWS            binary search over its rows, then the walk by
 * dwarf_linecontext
 */
#include <elfutils/libdw.h>
#include <libelf.h>

#include "line_input.h"

enum {
	N_LOOKUPS = 2000000,
};

static void put_shdr(uint8_t *at, uint32_t name, uint32_t type, uint64_t off, uint64_t size)
{
	uint64_t fields[8] = { name | (uint64_t)type << 32, 0, 0, off, size, 0, 1, 0 };
	memcpy(at, fields, sizeof fields);
}

/* An image with .debug_line and .debug_str. */
static char *image_of(const struct line_input *in, size_t *ret_len)
{
	static const char names[] = "\0.debug_line\0.debug_str\0.shstrtab";
	const uint64_t line_at = 64, str_at = line_at + in->line_len,
		       names_at = str_at + in->str_len, shoff = names_at + sizeof names;
	*ret_len = (size_t)shoff + 4 * 64;
	uint8_t *b = bench_alloc(*ret_len, 1);
	memcpy(b, "\177ELF\2\1\1", 7);
	const uint16_t type = 2, machine = 190, shentsize = 64, shnum = 4, shstrndx = 3;
	memcpy(b + 16, &type, 2);
	memcpy(b + 18, &machine, 2);
	b[20] = 1;
	memcpy(b + 40, &shoff, 8);
	memcpy(b + 52, &shentsize, 2);
	memcpy(b + 58, &shentsize, 2);
	memcpy(b + 60, &shnum, 2);
	memcpy(b + 62, &shstrndx, 2);
	memcpy(b + line_at, in->line, in->line_len);
	memcpy(b + str_at, in->str, in->str_len);
	memcpy(b + names_at, names, sizeof names);
	put_shdr(b + shoff + 64, 1, 1, line_at, in->line_len);
	put_shdr(b + shoff + 128, 13, 1, str_at, in->str_len);
	put_shdr(b + shoff + 192, 24, 3, names_at, sizeof names);
	return (char *)b;
}

struct libdw {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Lines *lines;
	size_t n;
};

static struct libdw decode(char *image, size_t len)
{
	struct libdw d = { 0 };
	Dwarf_Off next;
	Dwarf_CU *cu = NULL;
	d.elf = elf_memory(image, len);
	d.dwarf = d.elf ? dwarf_begin_elf(d.elf, DWARF_C_READ, NULL) : NULL;
	if (!d.dwarf || dwarf_next_lines(d.dwarf, 0, &next, &cu, NULL, NULL, &d.lines, &d.n) != 0) {
		fprintf(stderr, "line_libdw: %s\n", dwarf_errmsg(-1));
		exit(1);
	}
	return d;
}

/* Index of the last row with an address that is not above `pc`. */
static size_t search(const struct libdw *d, Dwarf_Addr pc)
{
	size_t lo = 0, hi = d->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		Dwarf_Addr address;
		dwarf_lineaddr(dwarf_onesrcline(d->lines, mid), &address);
		if (address <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

static void lookup(const struct libdw *d, uint32_t n_pcs)
{
	Dwarf_Addr low, end;
	dwarf_lineaddr(dwarf_onesrcline(d->lines, 0), &low);
	dwarf_lineaddr(dwarf_onesrcline(d->lines, d->n - 1), &end);
	uint64_t *pcs = line_draw_pcs(N_LOOKUPS, n_pcs, low, end), lines = 0;
	size_t n_positions = 0;
	double start = now();
	for (int i = 0; i < N_LOOKUPS; i++) {
		for (Dwarf_Line *at = dwarf_onesrcline(d->lines, search(d, pcs[i])); at;
		     at = dwarf_linecontext(d->lines, at)) {
			int line;
			dwarf_lineno(at, &line);
			lines += (unsigned)line + (dwarf_linefunctionname(d->dwarf, at) != NULL);
			n_positions++;
		}
	}
	double full = now() - start;
	start = now();
	for (int i = 0; i < N_LOOKUPS; i++) {
		for (Dwarf_Line *at = dwarf_onesrcline(d->lines, search(d, pcs[i])); at;
		     at = dwarf_linecontext(d->lines, at))
			n_positions++;
	}
	printf("nanoseconds %.2f\nbare_nanoseconds %.2f\npositions %.3f\nsum %llu\n",
	       full * 1e9 / N_LOOKUPS, (now() - start) * 1e9 / N_LOOKUPS,
	       (double)n_positions / N_LOOKUPS / 2, (unsigned long long)lines);
	free(pcs);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: line_libdw decode|lookup|hot ROWS [KERNELS]\n", stderr);
		return 2;
	}
	struct line_input in = line_generate((uint32_t)strtoul(argv[2], NULL, 10),
					     argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1);
	size_t len;
	char *image = image_of(&in, &len);
	line_free(&in);
	elf_version(EV_CURRENT);
	double memory = peak_mib(), start = now();
	struct libdw d = decode(image, len);
	if (strcmp(argv[1], "decode") == 0)
		printf("seconds %.6f\nmib %.2f\nrows %zu\n", now() - start, peak_mib() - memory,
		       d.n);
	else
		lookup(&d, strcmp(argv[1], "hot") == 0 ? LINE_N_HOT : 0);
	dwarf_end(d.dwarf);
	elf_end(d.elf);
	free(image);
	return 0;
}
