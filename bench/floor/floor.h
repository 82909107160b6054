/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: the least that any program must do to answer the same question, without a library and
 * without checks. Times are given as multiples of it. Only for sound files of this machine's own
 * making: it believes every number.
 */
#ifndef WARPSCOPE_BENCH_FLOOR_H
#define WARPSCOPE_BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

struct floor_file {
	const uint8_t *bytes;
	size_t len;
	const uint8_t *headers;
	uint64_t n_sections;
};

/* Maps a dump. False: it cannot be mapped. */
int floor_map(const char *path, struct floor_file *ret_file);
void floor_unmap(struct floor_file *file);

/* Opening: looks at the header of every section and sums all rows of the tables (those whose rows
 * have children, constant banks and metadata; call stacks are counted with the walk). */
uint64_t floor_open(const struct floor_file *file);
/* Seconds that mapping a dump and floor_open() take; ends the program when it cannot be mapped. */
double floor_open_time(const char *path);
/* Walking: sums the rows of all lanes and warps, their call stacks, registers and predicates. */
uint64_t floor_walk(const struct floor_file *file);

/* Plain arrays of what the random look-ups ask for: lane i of warp w is at 32 * w + i, in file
 * order. */
struct floor_arrays {
	size_t n_lanes;
	uint64_t *pc;
	const uint32_t **regs;
};
int floor_arrays_make(const struct floor_file *file, struct floor_arrays *ret_arrays);
void floor_arrays_free(struct floor_arrays *arrays);

#endif
