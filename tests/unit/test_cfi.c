/* SPDX-License-Identifier: Apache-2.0 */
/* Every instruction of `.debug_frame`, one at a time, on frames written by hand. */
#include "unit.h"

#include <warpscope/unwind.h>

#include "base/reader.h"

enum { START = 0x1000, SIZE = 0x400 };

/* LEB128 of the number of a register: 5, the class of R, in bits 24 to 31. */
#define R(n) (0x80 | ((n)&0x7f)), (0x80 | (n) >> 7), 0x80, 0x28
#define PREDICATE(n) (0x80 | (n)), 0x80, 0x80, 0x30 /* another class */

/* A common part, begun by `head`, and one function of it, in the 64-bit form. */
static struct ws_span frame_with(struct byte_row *f, const uint8_t *head, size_t n_head,
				 const uint8_t *common, size_t n_common, const uint8_t *function,
				 size_t n_function)
{
	uint8_t word[8];
	f->n = 0;
	byte_row_put(f, "\xff\xff\xff\xff", 4);
	wsi_store_u64(word, 8 + n_head + n_common);
	byte_row_put(f, word, 8);
	byte_row_put(f, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	byte_row_put(f, head, n_head);
	byte_row_put(f, common, n_common);
	byte_row_put(f, "\xff\xff\xff\xff", 4);
	wsi_store_u64(word, 24 + n_function);
	byte_row_put(f, word, 8);
	wsi_store_u64(word, 0);
	byte_row_put(f, word, 8);
	wsi_store_u64(word, START);
	byte_row_put(f, word, 8);
	wsi_store_u64(word, SIZE);
	byte_row_put(f, word, 8);
	byte_row_put(f, function, n_function);
	return (struct ws_span){ f->bytes, f->n, 0 };
}

/* Version 3, factors 4 and -4, the return address in register 20. */
static struct ws_span frame_of(struct byte_row *f, const uint8_t *common, size_t n_common,
			       const uint8_t *function, size_t n_function)
{
	static const uint8_t head[] = { 3, 0, 4, 0x7c, 20 };
	return frame_with(f, head, sizeof head, common, n_common, function, n_function);
}

/* Of every function here: the frame address is R1 + 64, R3 is kept, R5 is at -16. */
static const uint8_t common[] = { 0x0c, R(1), 64, 0x08, R(3), 0x05, R(5), 4 };

static void each_instruction_says_where_the_caller_is(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		uint8_t n, code[40];
		enum ws_status status;
		uint32_t cfa_reg;
		int64_t cfa_offset;
		enum ws_saved_kind r3, r5;
		int32_t off3, off5;
	} cases[] = {
#define BYTES(...) sizeof((uint8_t[]){ __VA_ARGS__ }), { __VA_ARGS__ }
#define SAME WS_SAVED_SAME
#define LOCAL WS_SAVED_LOCAL
#define LOST WS_SAVED_LOST
		{ "nop", BYTES(0), WS_OK, 1, 64, SAME, LOCAL, 0, -16 },
		{ "def_cfa", BYTES(0x0c, R(200), 0x80, 1), WS_OK, 200, 128, SAME, LOCAL, 0, -16 },
		{ "def_cfa_sf", BYTES(0x12, R(2), 0x7d), WS_OK, 2, 12, SAME, LOCAL, 0, -16 },
		{ "def_cfa_register", BYTES(0x0d, R(255)), WS_OK, 255, 64, SAME, LOCAL, 0, -16 },
		{ "def_cfa_offset", BYTES(0x0e, 72), WS_OK, 1, 72, SAME, LOCAL, 0, -16 },
		{ "def_cfa_offset_sf", BYTES(0x13, 2), WS_OK, 1, -8, SAME, LOCAL, 0, -16 },
		{ "an expression", BYTES(0x0f, 2, 0x0c, 0x0c), WS_UNSUPPORTED, 0, 0, 0, 0, 0, 0 },
		{ "R256", BYTES(0x0d, R(256)), WS_UNSUPPORTED, 0, 0, 0, 0, 0, 0 },
		{ "a predicate", BYTES(0x0d, PREDICATE(1)), WS_UNSUPPORTED, 0, 0, 0, 0, 0, 0 },
		{ "odd, then not", BYTES(0x0f, 0, 0x0c, R(1), 8), WS_OK, 1, 8, SAME, LOCAL, 0,
		  -16 },
		{ "offset_extended", BYTES(5, R(3), 3), WS_OK, 1, 64, LOCAL, LOCAL, -12, -16 },
		{ "offset_extended_sf", BYTES(0x11, R(3), 0x7e), WS_OK, 1, 64, LOCAL, LOCAL, 8,
		  -16 },
		{ "an offset of 32 bits", BYTES(5, R(3), 0x80, 0x80, 0x80, 0x80, 2), WS_OK, 1, 64,
		  LOCAL, LOCAL, INT32_MIN, -16 },
		{ "one more", BYTES(5, R(3), 0x81, 0x80, 0x80, 0x80, 2), WS_OK, 1, 64, LOST, LOCAL,
		  0, -16 },
		{ "restore", BYTES(8, R(5), 6, R(5)), WS_OK, 1, 64, SAME, LOCAL, 0, -16 },
		{ "restore of R3", BYTES(7, R(3), 6, R(3)), WS_OK, 1, 64, SAME, LOCAL, 0, -16 },
		{ "undefined", BYTES(7, R(3)), WS_OK, 1, 64, LOST, LOCAL, 0, -16 },
		{ "same_value", BYTES(8, R(5)), WS_OK, 1, 64, SAME, SAME, 0, 0 },
		{ "register", BYTES(9, R(5), 7), WS_OK, 1, 64, SAME, LOST, 0, 0 },
		{ "val_offset", BYTES(0x14, R(5), 7), WS_OK, 1, 64, SAME, LOST, 0, 0 },
		{ "expression", BYTES(0x10, R(5), 2, 7, 7), WS_OK, 1, 64, SAME, LOST, 0, 0 },
		{ "val_expression", BYTES(0x16, R(3), 1, 7), WS_OK, 1, 64, LOST, LOCAL, 0, -16 },
		{ "another class", BYTES(7, PREDICATE(3)), WS_OK, 1, 64, SAME, LOCAL, 0, -16 },
		{ "short forms", BYTES(0x85, 9, 0xc5), WS_OK, 1, 64, SAME, LOCAL, 0, -16 },
		{ "states", BYTES(0x0a, 7, R(3), 0x0e, 8, 0x0a, 7, R(5), 0x0b, 0x0b), WS_OK, 1, 64,
		  SAME, LOCAL, 0, -16 },
		{ "one state", BYTES(0x0a, 7, R(3), 0x0a, 7, R(5), 0x0b), WS_OK, 1, 64, LOST, LOCAL,
		  0, -16 },
		{ "no state", BYTES(0x0b), WS_MALFORMED, 0, 0, 0, 0, 0, 0 },
		{ "8 states", BYTES(10, 10, 10, 10, 10, 10, 10, 10), WS_OK, 1, 64, SAME, LOCAL, 0,
		  -16 },
		{ "9 states", BYTES(10, 10, 10, 10, 10, 10, 10, 10, 10), WS_MALFORMED, 0, 0, 0, 0,
		  0, 0 },
		{ "between the two", BYTES(0x15, R(3), 0), WS_MALFORMED, 0, 0, 0, 0, 0, 0 },
		{ "behind all", BYTES(0x17, R(3), 0), WS_MALFORMED, 0, 0, 0, 0, 0, 0 },
		{ "cut off", BYTES(0x0e), WS_MALFORMED, 0, 0, 0, 0, 0, 0 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct byte_row f;
		struct ws_cfi cfi;
		struct ws_span frame =
			frame_of(&f, common, sizeof common, cases[i].code, cases[i].n);
		enum ws_status st = ws_cfi_find(frame, START, &cfi, NULL);
		if (st != cases[i].status)
			fail_msg("%s: %d", cases[i].what, (int)st);
		if (st != WS_OK)
			continue;
		if (cfi.cfa_reg != cases[i].cfa_reg || cfi.cfa_offset != cases[i].cfa_offset ||
		    cfi.reg[3].kind != cases[i].r3 || cfi.reg[3].offset != cases[i].off3 ||
		    cfi.reg[5].kind != cases[i].r5 || cfi.reg[5].offset != cases[i].off5)
			fail_msg("%s: R%u + %lld, R3 %u at %d, R5 %u at %d", cases[i].what,
				 cfi.cfa_reg, (long long)cfi.cfa_offset, cfi.reg[3].kind,
				 cfi.reg[3].offset, cfi.reg[5].kind, cfi.reg[5].offset);
		assert_int_equal(cfi.reg[4].kind, WS_SAVED_LOST);
		assert_true(cfi.has_caller);
		assert_int_equal(cfi.return_reg, 20);
	}
}

/* The offset of the frame address grows by one at each step. */
static void instructions_hold_from_their_place_on(void **state)
{
	(void)state;
	static const uint8_t code[] = {
		0x0e, 1,    0x42, 0x0e, 2,                         /* by 8 */
		2,    4,    0x0e, 3,                               /* by 16 */
		3,    0x10, 0,    0x0e, 4,                         /* by 64 */
		4,    0x20, 0,    0,    0, 0x0e, 5,                /* by 128 */
		1,    0,    0x13, 0,    0, 0,    0, 0, 0, 0x0e, 6, /* to 0x1300 */
	};
	static const struct {
		uint64_t pc;
		int64_t offset;
	} cases[] = { { 0x1000, 1 }, { 0x1007, 1 }, { 0x1008, 2 }, { 0x1017, 2 },
		      { 0x1018, 3 }, { 0x1057, 3 }, { 0x1058, 4 }, { 0x10d7, 4 },
		      { 0x10d8, 5 }, { 0x12ff, 5 }, { 0x1300, 6 }, { 0x13ff, 6 } };
	struct byte_row f;
	struct ws_span frame = frame_of(&f, common, sizeof common, code, sizeof code);
	struct ws_cfi cfi;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		assert_int_equal(ws_cfi_find(frame, cases[i].pc, &cfi, NULL), WS_OK);
		assert_int_equal(cfi.cfa_offset, cases[i].offset);
	}
	assert_int_equal(ws_cfi_find(frame, START - 1, &cfi, NULL), WS_ABSENT);
	assert_int_equal(ws_cfi_find(frame, START + SIZE, &cfi, NULL), WS_ABSENT);
}

/* Version 1 has the return address's register in one byte, later ones as LEB128; version 4 has the
 * sizes of an address and of a segment selector first. */
static void versions_differ_in_their_common_parts(void **state)
{
	(void)state;
	static const struct {
		uint8_t n, head[9];
		enum ws_status status;
		uint32_t return_reg;
	} cases[] = {
		{ BYTES(1, 0, 4, 0x7c, 200), WS_OK, 200 },
		{ BYTES(2, 0, 4, 0x7c, 0xc8, 1), WS_OK, 200 },
		{ BYTES(3, 0, 4, 0x7c, 0xc8, 1), WS_OK, 200 },
		{ BYTES(4, 0, 8, 0, 4, 0x7c, 0xc8, 1), WS_OK, 200 },
		{ BYTES(4, 0, 4, 0, 4, 0x7c, 20), WS_MALFORMED, 0 },
		{ BYTES(4, 0, 0, 0, 4, 0x7c, 20), WS_MALFORMED, 0 },
		{ BYTES(4, 0, 9, 0, 4, 0x7c, 20), WS_MALFORMED, 0 },
	};
	static const uint8_t code[] = { 0x42, 0x0e, 2 }; /* at 8 */
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct byte_row f;
		struct ws_cfi cfi;
		struct ws_span frame = frame_with(&f, cases[i].head, cases[i].n, common,
						  sizeof common, code, sizeof code);
		assert_int_equal(ws_cfi_find(frame, START + 8, &cfi, NULL), cases[i].status);
		if (cases[i].status != WS_OK)
			continue;
		assert_int_equal(cfi.return_reg, cases[i].return_reg);
		assert_int_equal(cfi.cfa_offset, 2);
		assert_int_equal(cfi.reg[5].offset, -16);
	}
}

static void damage_of_entries_is_told(void **state)
{
	(void)state;
	struct byte_row f;
	struct ws_cfi cfi;
	static const uint8_t none[] = { 0 };
	struct ws_span frame = frame_of(&f, common, sizeof common, none, 1);
	assert_int_equal(ws_cfi_find((struct ws_span){ f.bytes, f.n - 1, 0 }, START, &cfi, NULL),
			 WS_TRUNCATED);
	f.bytes[20] = 5; /* a version that is not known */
	assert_int_equal(ws_cfi_find(frame, START, &cfi, NULL), WS_MALFORMED);
	f.bytes[20] = 3;
	f.bytes[21] = 'z'; /* an augmentation */
	assert_int_equal(ws_cfi_find(frame, START, &cfi, NULL), WS_MALFORMED);
	frame = frame_of(&f, none, 1, none, 1); /* the frame address is said nowhere */
	assert_int_equal(ws_cfi_find(frame, START, &cfi, NULL), WS_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_says_where_the_caller_is),
		cmocka_unit_test(instructions_hold_from_their_place_on),
		cmocka_unit_test(versions_differ_in_their_common_parts),
		cmocka_unit_test(damage_of_entries_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
