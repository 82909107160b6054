/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generated line table of the shape that nvcc writes for template code: about 9 bytes and 0.7
 * inlined-call opcodes a row, chains of up to 12 calls, call sites written just before the rows
 * that they lead to. Also the clock and the memory reading that the two sides of the benchmark
 * share, so that both measure the same thing.
 */
#ifndef WARPSCOPE_BENCH_LINE_INPUT_H
#define WARPSCOPE_BENCH_LINE_INPUT_H

#include "bench.h"
#include <stdbool.h>
#include <stdint.h>

enum {
	LINE_MAX_DEPTH = 12,
	LINE_N_FILES = 100,
	LINE_N_NAMES = 500,
	LINE_NAME_BYTES = 80,
	LINE_INSTRUCTION_BYTES = 16,
	LINE_N_HOT = 256,
};

struct line_input {
	uint8_t *line;
	size_t line_len;
	char *str;
	size_t str_len;
	size_t *address_off; /* of each kernel's DW_LNE_set_address operand */
	uint32_t n_kernels, n_rows;
	uint64_t last_pc; /* of the last kernel: its size in bytes */
	uint64_t random;
};

static inline void *bench_alloc(size_t count, size_t size)
{
	void *ptr = calloc(count, size);
	if (!ptr) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return ptr;
}

static inline uint32_t line_random(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % below);
}

/* `n` pcs in [low, high), drawn from `n_pcs` different ones, or from all for 0. */
static inline uint64_t *line_draw_pcs(size_t n, uint32_t n_pcs, uint64_t low, uint64_t high)
{
	uint64_t random = 7, *pcs = bench_alloc(n, sizeof *pcs);
	for (size_t i = 0; i < n; i++) {
		uint64_t one = 1 + line_random(&random, n_pcs ? n_pcs : UINT32_MAX);
		pcs[i] = low + line_random(&one, (uint32_t)(high - low));
	}
	return pcs;
}

static inline void line_byte(struct line_input *in, unsigned value)
{
	in->line[in->line_len++] = (uint8_t)value;
}

static inline void line_uint(struct line_input *in, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		line_byte(in, (unsigned)(value >> 8 * i) & 0xff);
}

static inline void line_uleb(struct line_input *in, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		line_byte(in, 0x80 | (value & 0x7f));
	line_byte(in, (unsigned)value);
}

static inline void line_sleb(struct line_input *in, int64_t value)
{
	for (; value < -0x40 || value > 0x3f; value >>= 7)
		line_byte(in, 0x80 | ((unsigned)value & 0x7f));
	line_byte(in, (unsigned)value & 0x7f);
}

static inline void line_text(struct line_input *in, const char *text)
{
	memcpy(in->line + in->line_len, text, strlen(text) + 1);
	in->line_len += strlen(text) + 1;
}

static inline void line_header(struct line_input *in)
{
	static const uint8_t parameters[] = { 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1 };
	line_uint(in, 0, 4);
	line_uint(in, 2, 2);
	line_uint(in, 0, 4);
	for (size_t i = 0; i < sizeof parameters; i++)
		line_byte(in, parameters[i]);
	line_text(in, "/src/app");
	line_byte(in, 0);
	for (int i = 0; i < LINE_N_FILES; i++) {
		char name[40];
		snprintf(name, sizeof name, "include/header_%d.cuh", i);
		line_text(in, name);
		line_uleb(in, 1);
		line_uleb(in, 1700000000);
		line_uleb(in, 20000);
	}
	line_byte(in, 0);
	line_uint(in, 0, 4); /* NVIDIA's string base */
	uint32_t header_length = (uint32_t)in->line_len - 10;
	memcpy(in->line + 6, &header_length, 4);
}

/* Registers of the program, and the calls around the current row. */
struct line_state {
	uint32_t row, depth, line;
	uint32_t context[LINE_MAX_DEPTH + 1], name[LINE_MAX_DEPTH + 1];
};

static inline void line_move(struct line_input *in, struct line_state *s, bool advance)
{
	uint32_t line = 1 + line_random(&in->random, 900);
	if (line_random(&in->random, 2)) {
		line_byte(in, 4); /* set_file */
		line_uleb(in, 1 + line_random(&in->random, LINE_N_FILES));
	}
	line_byte(in, 3); /* advance_line */
	line_sleb(in, (int64_t)line - s->line);
	s->line = line;
	if (advance) {
		line_byte(in, 2); /* advance_pc */
		line_uleb(in, LINE_INSTRUCTION_BYTES * (1 + line_random(&in->random, 2)));
	}
	line_byte(in, 1);
	s->row++;
}

static inline void line_call(struct line_input *in, const struct line_state *s)
{
	uint64_t context = s->context[s->depth], name = s->depth ? s->name[s->depth] : 0;
	line_byte(in, 0);
	size_t at = in->line_len;
	line_byte(in, 0);
	line_byte(in, 0x90);
	line_uleb(in, context);
	line_uleb(in, name * LINE_NAME_BYTES);
	in->line[at] = (uint8_t)(in->line_len - at - 1);
}

static inline void line_step(struct line_input *in, struct line_state *s)
{
	uint32_t action = line_random(&in->random, 16);
	if (action < 6 &&
	    s->depth < LINE_MAX_DEPTH) { /* a call site, then the first row of the callee */
		line_move(in, s, false);
		s->depth++;
		s->context[s->depth] = s->row;
		s->name[s->depth] = line_random(&in->random, LINE_N_NAMES);
		line_call(in, s);
		line_move(in, s, true);
	} else if (action < 10 && s->depth > 0) { /* back */
		s->depth -= 1 + line_random(&in->random, s->depth);
		line_call(in, s);
		line_move(in, s, true);
	} else if (action < 14) { /* special opcode: one instruction on, up to 5 lines */
		uint32_t lines = line_random(&in->random, 5);
		line_byte(in, 10 + 5 + lines + 14 * LINE_INSTRUCTION_BYTES);
		s->line += lines;
		s->row++;
	} else {
		line_move(in, s, true);
	}
}

static inline void line_kernel(struct line_input *in, uint32_t kernel, uint32_t n_rows)
{
	struct line_state s = { .line = 1 };
	line_byte(in, 0);
	line_byte(in, 9);
	line_byte(in, 2);
	in->address_off[kernel] = in->line_len;
	line_uint(in, 0, 8);
	while (s.row + 2 < n_rows)
		line_step(in, &s);
	while (s.row + 1 < n_rows)
		line_move(in, &s, true);
	line_byte(in, 2);
	line_uleb(in, LINE_INSTRUCTION_BYTES);
	line_byte(in, 0);
	line_byte(in, 1);
	line_byte(in, 1);
}

/* `n_rows` rows in `n_kernels` sequences of one table. */
static inline struct line_input line_generate(uint32_t n_rows, uint32_t n_kernels)
{
	struct line_input in = { .n_kernels = n_kernels, .n_rows = n_rows, .random = 42 };
	in.line = bench_alloc((size_t)n_rows * 40 + (size_t)n_kernels * 64 + (1 << 16), 1);
	in.str_len = (size_t)LINE_N_NAMES * LINE_NAME_BYTES;
	in.str = bench_alloc(in.str_len, 1);
	in.address_off = bench_alloc(n_kernels, sizeof *in.address_off);
	for (int i = 0; i < LINE_N_NAMES; i++)
		snprintf(in.str + i * LINE_NAME_BYTES, LINE_NAME_BYTES,
			 "_ZN3cub11BlockReduceIfLi%dELNS_20BlockReduceAlgorithmE2EE6ReduceE", i);
	line_header(&in);
	for (uint32_t k = 0; k < n_kernels; k++)
		line_kernel(&in, k, n_rows / n_kernels);
	uint32_t length = (uint32_t)in.line_len - 4;
	memcpy(in.line, &length, 4);
	return in;
}

static inline void line_free(struct line_input *in)
{
	free(in->line);
	free(in->str);
	free(in->address_off);
}

#endif
