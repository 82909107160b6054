/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables byte by byte, for the tests. Needs <warpscope/line.h> and unit.h before. */
#ifndef WS_TEST_LINE_BUILDER_H
#define WS_TEST_LINE_BUILDER_H

struct lb {
	uint8_t byte[1 << 16];
	size_t len;
	bool big_endian;
	/* what the next header says */
	unsigned version;
	bool dwarf64;
	uint8_t min_inst, max_ops, line_range, opcode_base;
	int8_t line_base;
	bool str_base;
	uint32_t str_base_value;
	/* of the table in the making */
	size_t unit_at, header_at;
};

/* As NVIDIA's tools write: version 2, 32 bits, special opcodes from 10. */
static inline struct lb lb_new(void)
{
	return (struct lb){ .version = 2,
			    .min_inst = 1,
			    .max_ops = 1,
			    .line_base = -5,
			    .line_range = 14,
			    .opcode_base = 10,
			    .str_base = true };
}

static inline void lb_u8(struct lb *b, unsigned value)
{
	assert(b->len < sizeof b->byte);
	b->byte[b->len++] = (uint8_t)value;
}

static inline void lb_set(struct lb *b, size_t at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		b->byte[at + i] = (uint8_t)(value >> 8 * (b->big_endian ? n - 1 - i : i));
}

static inline void lb_uint(struct lb *b, uint64_t value, unsigned n)
{
	assert(b->len + n <= sizeof b->byte);
	lb_set(b, b->len, value, n);
	b->len += n;
}

static inline void lb_uleb(struct lb *b, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		lb_u8(b, 0x80 | (value & 0x7f));
	lb_u8(b, (unsigned)value);
}

static inline void lb_sleb(struct lb *b, int64_t value)
{
	for (; value < -0x40 || value > 0x3f; value >>= 7)
		lb_u8(b, 0x80 | ((unsigned)value & 0x7f));
	lb_u8(b, (unsigned)value & 0x7f);
}

static inline void lb_str(struct lb *b, const char *text)
{
	for (; *text; text++)
		lb_u8(b, (uint8_t)*text);
	lb_u8(b, 0);
}

/* ---- tables ---- */

static inline void lb_lengths(struct lb *b)
{
	static const uint8_t standard[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	for (unsigned i = 0; i + 1 < b->opcode_base; i++)
		lb_u8(b, i < sizeof standard ? standard[i] : 1);
}

/* Directory "/src"; files "a.cu" (1) and "b.h" (2), of 10 and 20 bytes. */
static inline void lb_lists(struct lb *b)
{
	if (b->version < 5) {
		lb_str(b, "/src");
		lb_u8(b, 0);
		lb_str(b, "a.cu");
		lb_uleb(b, 1);
		lb_uleb(b, 1000);
		lb_uleb(b, 10);
		lb_str(b, "b.h");
		lb_uleb(b, 1);
		lb_uleb(b, 2000);
		lb_uleb(b, 20);
		lb_u8(b, 0);
		return;
	}
	lb_u8(b, 1); /* directories: path as a string */
	lb_uleb(b, 1);
	lb_uleb(b, 0x08);
	lb_uleb(b, 2);
	lb_str(b, "/cwd");
	lb_str(b, "/src");
	lb_u8(b, 4); /* files: path, directory, time, size */
	lb_uleb(b, 1);
	lb_uleb(b, 0x08);
	lb_uleb(b, 2);
	lb_uleb(b, 0x0b);
	lb_uleb(b, 3);
	lb_uleb(b, 0x06);
	lb_uleb(b, 4);
	lb_uleb(b, 0x0f);
	lb_uleb(b, 3);
	for (unsigned i = 0; i < 3; i++) {
		lb_str(b, i == 0 ? "zero.cu" : i == 1 ? "a.cu" : "b.h");
		lb_u8(b, 1);
		lb_uint(b, 1000 * i, 4);
		lb_uleb(b, 10 * i);
	}
}

/* Up to the lists, which the caller may write instead of lb_lists(). */
static inline void lb_header_start(struct lb *b)
{
	if (b->dwarf64)
		lb_uint(b, UINT32_MAX, 4);
	b->unit_at = b->len;
	lb_uint(b, 0, b->dwarf64 ? 8 : 4);
	lb_uint(b, b->version, 2);
	if (b->version >= 5) {
		lb_u8(b, 8);
		lb_u8(b, 0);
	}
	b->header_at = b->len;
	lb_uint(b, 0, b->dwarf64 ? 8 : 4);
	lb_u8(b, b->min_inst);
	if (b->version >= 4)
		lb_u8(b, b->max_ops);
	lb_u8(b, 1);
	lb_u8(b, (uint8_t)b->line_base);
	lb_u8(b, b->line_range);
	lb_u8(b, b->opcode_base);
	lb_lengths(b);
}

static inline void lb_header_end(struct lb *b)
{
	if (b->str_base)
		lb_uint(b, b->str_base_value, 4);
	unsigned n = b->dwarf64 ? 8 : 4;
	lb_set(b, b->header_at, b->len - b->header_at - n, n);
}

static inline void lb_table(struct lb *b)
{
	lb_header_start(b);
	lb_lists(b);
	lb_header_end(b);
}

static inline void lb_table_end(struct lb *b)
{
	unsigned n = b->dwarf64 ? 8 : 4;
	lb_set(b, b->unit_at, b->len - b->unit_at - n, n);
}

/* ---- opcodes ---- */

/* Returns the offset of the operand, where the relocation goes. */
static inline size_t lb_set_address(struct lb *b, uint64_t address)
{
	lb_u8(b, 0);
	lb_uleb(b, 9);
	lb_u8(b, 2);
	lb_uint(b, address, 8);
	return b->len - 8;
}

static inline void lb_end_sequence(struct lb *b)
{
	lb_u8(b, 0);
	lb_uleb(b, 1);
	lb_u8(b, 1);
}

static inline void lb_call(struct lb *b, uint64_t context, uint64_t name)
{
	lb_u8(b, 0);
	size_t at = b->len;
	lb_u8(b, 0);
	lb_u8(b, 0x90);
	lb_uleb(b, context);
	lb_uleb(b, name);
	b->byte[at] = (uint8_t)(b->len - at - 1);
}

static inline void lb_set_file(struct lb *b, uint64_t number)
{
	lb_u8(b, 4);
	lb_uleb(b, number);
}

static inline void lb_set_name(struct lb *b, uint64_t name)
{
	lb_u8(b, 0);
	size_t at = b->len;
	lb_u8(b, 0);
	lb_u8(b, 0x91);
	lb_uleb(b, name);
	b->byte[at] = (uint8_t)(b->len - at - 1);
}

/* Advances first: the last row covers so many operations. */
static inline void lb_end_after(struct lb *b, uint64_t operations)
{
	lb_u8(b, 2);
	lb_uleb(b, operations);
	lb_end_sequence(b);
}

/* A row after advancing: advance_pc, advance_line, copy. */
static inline void lb_row(struct lb *b, uint64_t operations, int64_t lines)
{
	if (operations) {
		lb_u8(b, 2);
		lb_uleb(b, operations);
	}
	if (lines) {
		lb_u8(b, 3);
		lb_sleb(b, lines);
	}
	lb_u8(b, 1);
}

/* ---- maps ---- */

static const char lb_names[] = "leaf\0middle\0outer";

enum {
	LB_LEAF = 0,
	LB_MIDDLE = 5,
	LB_OUTER = 12,
};

/* A map over the bytes so far; relocations of sequence i at off[i] belong to owner i + 1. */
static inline struct ws_line_map *lb_map(const struct lb *b, const size_t *off, size_t n)
{
	struct ws_line_reloc relocs[64];
	assert(n <= 64);
	for (size_t i = 0; i < n; i++)
		relocs[i] = (struct ws_line_reloc){ .sec_off = off[i],
						    .owner = (uint32_t)i + 1,
						    .add_stored = true };
	struct ws_line_input input = {
		.line = { b->byte, b->len, 0 },
		.str = { (const uint8_t *)lb_names, sizeof lb_names, 0x10000 },
		.relocs = relocs,
		.n_relocs = n,
		.big_endian = b->big_endian,
	};
	struct ws_line_map *map = NULL;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	return map;
}

#endif
