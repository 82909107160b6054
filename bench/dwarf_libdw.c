/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw's side of bench_dwarf: a walk over all entries that takes the linkage name of each function
 * with code.
 *
 *   dwarf_libdw FILE
 */
#include "bench.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>

struct counts {
	size_t functions, entries, name_bytes;
};

static void walk(Dwarf_Die *die, struct counts *counts)
{
	do {
		Dwarf_Die child;
		Dwarf_Attribute attribute;
		counts->entries++;
		if (dwarf_tag(die) == DW_TAG_subprogram && dwarf_hasattr(die, DW_AT_low_pc)) {
			const char *name = dwarf_formstring(
				dwarf_attr(die, DW_AT_MIPS_linkage_name, &attribute));
			counts->name_bytes += name ? strlen(name) : 0;
			counts->functions++;
		}
		if (dwarf_child(die, &child) == 0)
			walk(&child, counts);
	} while (dwarf_siblingof(die, die) == 0);
}

int main(int argc, char **argv)
{
	struct counts counts = { 0 };
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0) {
		fputs("usage: dwarf_libdw FILE\n", stderr);
		return 2;
	}
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t n_bytes;
	const char *bytes = elf_rawfile(elf, &n_bytes);
	volatile unsigned sum = 0;
	for (size_t i = 0; bytes && i < n_bytes; i += 4096)
		sum += (unsigned char)bytes[i];
	double memory = peak_mib(), start = now();
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Off off = 0, next;
	size_t header;
	while (dwarf && dwarf_nextcu(dwarf, off, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die die;
		if (dwarf_offdie(dwarf, off + header, &die))
			walk(&die, &counts);
		off = next;
	}
	printf("seconds %.6f\nmib %.2f\nfunctions %zu\nentries %zu\n", now() - start,
	       peak_mib() - memory, counts.functions, counts.entries);
	dwarf_end(dwarf);
	elf_end(elf);
	return 0;
}
