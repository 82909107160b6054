/* SPDX-License-Identifier: Apache-2.0 */
#include "floor/floor.h"

#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TYPE = 4,
	OFFSET = 24,
	SIZE = 32,
	REGS = 5,
	BACKTRACE = 8,
	FIRST_TABLE = 9,
	WARPS = 14,
	LANES = 15,
	LAST_TABLE = 16,
	PREDS = 17,
	BANKS = 21,
	META = 22,
};

static uint64_t u64(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t kind(const uint8_t *header)
{
	uint32_t type;
	memcpy(&type, header + TYPE, sizeof type);
	return type - 0x80000000u;
}

int floor_map(const char *path, struct floor_file *ret_file)
{
	struct stat about;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &about) != 0)
		return 0;
	void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return 0;
	ret_file->bytes = bytes;
	ret_file->len = (size_t)about.st_size;
	ret_file->headers = ret_file->bytes + u64(ret_file->bytes + 40);
	ret_file->n_sections = u64(ret_file->headers + SIZE); /* e_shnum is 0 in these files */
	return 1;
}

void floor_unmap(struct floor_file *file)
{
	munmap((void *)(uintptr_t)file->bytes, file->len);
}

static uint64_t sum(const struct floor_file *file, const uint8_t *header)
{
	const uint8_t *at = file->bytes + u64(header + OFFSET);
	size_t n = u64(header + SIZE);
	uint64_t total = 0;
	for (size_t i = 0; i + 8 <= n; i += 8)
		total += u64(at + i);
	return total;
}

uint64_t floor_open(const struct floor_file *file)
{
	uint64_t total = 0;
	for (uint64_t i = 1; i < file->n_sections; i++) {
		const uint8_t *header = file->headers + 64 * i;
		uint32_t k = kind(header);
		if ((k >= FIRST_TABLE && k <= LAST_TABLE) || k == BANKS || k == META)
			total += sum(file, header);
	}
	return total;
}

static volatile uint64_t sink; /* keeps the compiler from dropping what is measured */

double floor_open_time(const char *path)
{
	struct floor_file file;
	double start = now();
	if (!floor_map(path, &file))
		exit(1);
	sink = floor_open(&file);
	double seconds = now() - start;
	floor_unmap(&file);
	return seconds;
}

uint64_t floor_walk(const struct floor_file *file)
{
	uint64_t total = 0;
	for (uint64_t i = 1; i < file->n_sections; i++) {
		const uint8_t *header = file->headers + 64 * i;
		uint32_t k = kind(header);
		if (k == REGS || k == PREDS || k == LANES || k == WARPS || k == BACKTRACE)
			total += sum(file, header);
	}
	return total;
}

int floor_arrays_make(const struct floor_file *file, struct floor_arrays *ret_arrays)
{
	size_t n_pc = 0, n_regs = 0, cap = 0;
	for (uint64_t i = 1; i < file->n_sections; i++)
		cap += kind(file->headers + 64 * i) == REGS;
	ret_arrays->n_lanes = cap;
	ret_arrays->pc = calloc(cap + 32, sizeof *ret_arrays->pc);
	ret_arrays->regs = calloc(cap + 32, sizeof *ret_arrays->regs);
	if (!ret_arrays->pc || !ret_arrays->regs)
		return 0;
	for (uint64_t i = 1; i < file->n_sections; i++) {
		const uint8_t *header = file->headers + 64 * i;
		const uint8_t *at = file->bytes + u64(header + OFFSET);
		if (kind(header) == REGS) {
			ret_arrays->regs[n_regs++] = (const uint32_t *)(const void *)at;
		} else if (kind(header) == LANES) {
			uint64_t stride = u64(header + 56);
			for (uint64_t off = 0; off < u64(header + SIZE) && n_pc < cap;
			     off += stride)
				ret_arrays->pc[n_pc++] = u64(at + off);
		}
	}
	return n_pc == cap;
}

void floor_arrays_free(struct floor_arrays *arrays)
{
	free(arrays->pc);
	free(arrays->regs);
}
