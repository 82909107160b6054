/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix instructions: dense matrices are packed into registers by the formulas that PTX gives for
 * each shape, element by element, and the result is compared with a plain product.
 */
#include "alu/floats.h"

enum { MOST = 256, A_AT = 16, B_AT = 32, C_AT = 40, D_AT = 48 };

struct place {
	unsigned row, column;
};

/* Where element i of a lane lies in A, B, C: "Matrix Fragments for mma" in the PTX ISA. */
struct layout {
	unsigned a, b, c; /* elements of a lane */
	unsigned depth;
	struct place (*at_a)(unsigned g, unsigned t, unsigned i);
	struct place (*at_b)(unsigned g, unsigned t, unsigned i);
	struct place (*at_c)(unsigned g, unsigned t, unsigned i);
};

#define PLACE(name, r, c)                                            \
	static struct place name(unsigned g, unsigned t, unsigned i) \
	{                                                            \
		(void)i;                                             \
		return (struct place){ (r), (c) };                   \
	}

/* C of sixteen rows, of eight rows */
PLACE(c16, i < 2 ? g : g + 8, t * 2 + (i & 1))
PLACE(c8, g, t * 2 + i)
/* m16n8k8, halves */
PLACE(a_k8, i < 2 ? g : g + 8, t * 2 + (i & 1))
PLACE(b_k8, t * 2 + i, g)
/* m16n8k16, halves */
PLACE(a_k16, i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0))
PLACE(b_k16, t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g)
/* m16n8k4 and k8, tf32 */
PLACE(a_t4, i == 0 ? g : g + 8, t)
PLACE(b_t4, t, g)
PLACE(a_t8, i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4)
PLACE(b_t8, i == 0 ? t : t + 4, g)
/* m8n8k16 and m16n8k16, k32, bytes */
PLACE(a_i8, g, t * 4 + i)
PLACE(b_i8, t * 4 + i, g)
PLACE(a_i16, i < 4 ? g : g + 8, t * 4 + (i & 3))
PLACE(a_i32, i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0))
PLACE(b_i32, t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g)
/* m8n8k32 and m16n8k64, nibbles */
PLACE(a_n8, g, t * 8 + i)
PLACE(b_n8, t * 8 + i, g)
PLACE(a_n64, i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0))
PLACE(b_n64, t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g)
/* m8n8k128 and m16n8k256, bits */
PLACE(a_b8, g, t * 32 + i)
PLACE(b_b8, t * 32 + i, g)
PLACE(a_b256, i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0))
PLACE(b_b256, t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g)
/* m8n8k4, m16n8k4, k8, k16, doubles */
PLACE(a_d8, g, t)
PLACE(b_d8, t, g)
PLACE(a_d4, i == 0 ? g : g + 8, t)
PLACE(a_dk8, i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4)
PLACE(a_dk16, i % 2 == 0 ? g : g + 8, i / 2 * 4 + t)
PLACE(b_dk16, i * 4 + t, g)

static const struct layout h1688 = { 4, 2, 4, 8, a_k8, b_k8, c16 };
static const struct layout h16816 = { 8, 4, 4, 16, a_k16, b_k16, c16 };
static const struct layout t1684 = { 2, 1, 4, 4, a_t4, b_t4, c16 };
static const struct layout t1688 = { 4, 2, 4, 8, a_t8, b_t8, c16 };
static const struct layout i8816 = { 4, 4, 2, 16, a_i8, b_i8, c8 };
static const struct layout i16816 = { 8, 4, 4, 16, a_i16, b_i8, c16 };
static const struct layout i16832 = { 16, 8, 4, 32, a_i32, b_i32, c16 };
static const struct layout n8832 = { 8, 8, 2, 32, a_n8, b_n8, c8 };
static const struct layout n16864 = { 32, 16, 4, 64, a_n64, b_n64, c16 };
static const struct layout b88128 = { 32, 32, 2, 128, a_b8, b_b8, c8 };
static const struct layout b168256 = { 128, 64, 4, 256, a_b256, b_b256, c16 };
static const struct layout d884 = { 1, 1, 2, 4, a_d8, b_d8, c8 };
static const struct layout d1684 = { 2, 1, 4, 4, a_d4, b_d8, c16 };
static const struct layout d1688 = { 4, 2, 4, 8, a_dk8, b_dk16, c16 };
static const struct layout d16816 = { 8, 4, 4, 16, a_dk16, b_dk16, c16 };

enum type { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, S32 };

static unsigned bits_of(enum type type)
{
	static const uint8_t bits[] = { 16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32 };
	return bits[type];
}

static const struct wsi_format *format_of(enum type type)
{
	switch (type) {
	case F16:
		return &wsi_f16;
	case BF16:
		return &wsi_bf16;
	case TF32:
	case F32:
		return &wsi_f32;
	case F64:
		return &wsi_f64;
	case E4M3:
		return &wsi_e4m3;
	case E5M2:
		return &wsi_e5m2;
	case S8:
	case U8:
	case S4:
	case U4:
	case B1:
	case S32:
		break;
	}
	return NULL;
}

/* A small integer that the type holds exactly. */
static int small(enum type type, uint64_t *seed)
{
	int x = (int)(machine_random(seed) >> 40);
	switch (type) {
	case S8:
		return (x & 0xff) - 128;
	case U8:
		return x & 0xff;
	case S4:
		return (x & 15) - 8;
	case U4:
		return x & 15;
	case B1:
		return x & 1;
	case E5M2:
		return (x & 7) - 4;
	case F16:
	case BF16:
	case TF32:
	case F32:
	case F64:
	case E4M3:
	case S32:
		break;
	}
	return (x & 31) % 17 - 8;
}

static uint64_t encoded(enum type type, int value)
{
	const struct wsi_format *f = format_of(type);
	if (!f)
		return (uint64_t)value & ((UINT64_C(1) << bits_of(type)) - 1);
	struct wsi_soft v = wsi_soft_integer((uint64_t)abs(value), value < 0);
	return wsi_soft_pack(f, &v, WSI_RN, false, false);
}

/* Element i of a lane, in registers from `at` on. */
static void put_element(struct machine *m, unsigned at, unsigned l, unsigned i, unsigned bits,
			uint64_t value)
{
	for (unsigned k = 0; k < bits; k++) {
		uint32_t *word = &m->r[at + (i * bits + k) / 32][l];
		uint32_t bit = UINT32_C(1) << (i * bits + k) % 32;
		*word = value >> k & 1 ? *word | bit : *word & ~bit;
	}
}

static uint64_t get_element(const struct machine *m, unsigned at, unsigned l, unsigned i,
			    unsigned bits)
{
	uint64_t value = 0;
	for (unsigned k = 0; k < bits; k++)
		value |= (uint64_t)(m->r[at + (i * bits + k) / 32][l] >> (i * bits + k) % 32 & 1)
			 << k;
	return value;
}

struct matrix_test {
	unsigned sm;
	const char *text;
	const struct layout *layout;
	enum type a, b, c;
	bool is_xor, saturate;
};

static struct dense {
	int a[16][MOST], b[MOST][8], c[16][8];
} dense;

static void fill(struct machine *m, const struct matrix_test *t, uint64_t *seed)
{
	const struct layout *y = t->layout;
	machine_fill(m, seed);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		unsigned g = l / 4, q = l % 4;
		for (unsigned i = 0; i < y->a; i++) {
			struct place p = y->at_a(g, q, i);
			dense.a[p.row][p.column] = small(t->a, seed);
			put_element(m, A_AT, l, i, bits_of(t->a),
				    encoded(t->a, dense.a[p.row][p.column]));
		}
		for (unsigned i = 0; i < y->b; i++) {
			struct place p = y->at_b(g, q, i);
			dense.b[p.row][p.column] = small(t->b, seed);
			put_element(m, B_AT, l, i, bits_of(t->b),
				    encoded(t->b, dense.b[p.row][p.column]));
		}
		for (unsigned i = 0; i < y->c; i++) {
			struct place p = y->at_c(g, q, i);
			int c = small(t->c, seed);
			dense.c[p.row][p.column] = t->saturate ? INT32_MAX - 1000 * abs(c) : c;
			put_element(m, C_AT, l, i, bits_of(t->c),
				    encoded(t->c, dense.c[p.row][p.column]));
		}
	}
}

static int64_t product(const struct matrix_test *t, struct place p)
{
	int64_t sum = dense.c[p.row][p.column];
	for (unsigned k = 0; k < t->layout->depth; k++) {
		int a = dense.a[p.row][k], b = dense.b[k][p.column];
		sum += t->is_xor ? a ^ b : a * b;
	}
	return t->saturate && sum > INT32_MAX ? INT32_MAX : sum;
}

static const struct matrix_test matrices[] = {
	{ 75, "HMMA.1688.F32 R48, R16, R32, R40", &h1688, F16, F16, F32, false, false },
	{ 75, "HMMA.1688.F16 R48, R16, R32, R40", &h1688, F16, F16, F16, false, false },
	{ 80, "HMMA.16816.F32 R48, R16, R32, R40", &h16816, F16, F16, F32, false, false },
	{ 90, "HMMA.16816.F16 R48, R16, R32, R40", &h16816, F16, F16, F16, false, false },
	{ 120, "HMMA.16816.F32.BF16 R48, R16, R32, R40", &h16816, BF16, BF16, F32, false, false },
	{ 80, "HMMA.1684.F32.TF32 R48, R16, R32, R40", &t1684, TF32, TF32, F32, false, false },
	{ 80, "HMMA.1688.F32.TF32 R48, R16, R32, R40", &t1688, TF32, TF32, F32, false, false },
	{ 89, "QMMA.16832.F32.E4M3.E5M2 R48, R16.ROW, R32.COL, R40", &i16832, E4M3, E5M2, F32,
	  false, false },
	{ 75, "IMMA.8816.S8.S8 R48, R16.ROW, R32.COL, R40", &i8816, S8, S8, S32, false, false },
	{ 80, "IMMA.16816.S8.S8.SAT R48, R16.ROW, R32.COL, R40", &i16816, S8, S8, S32, false,
	  true },
	{ 80, "IMMA.16832.S8.U8 R48, R16.ROW, R32.COL, R40", &i16832, S8, U8, S32, false, false },
	{ 75, "IMMA.8832.U4.S4 R48, R16.ROW, R32.COL, R40", &n8832, U4, S4, S32, false, false },
	{ 80, "IMMA.16864.S4.S4 R48, R16.ROW, R32.COL, R40", &n16864, S4, S4, S32, false, false },
	{ 80, "BMMA.88128.XOR.POPC R48, R16.ROW, R32.COL, R40", &b88128, B1, B1, S32, true, false },
	{ 80, "BMMA.168256.AND.POPC R48, R16.ROW, R32.COL, R40", &b168256, B1, B1, S32, false,
	  false },
	{ 80, "DMMA.884 R48, R16, R32, R40", &d884, F64, F64, F64, false, false },
	{ 80, "DMMA.884.RZ R48, R16, R32, R40", &d884, F64, F64, F64, false, false },
	{ 90, "DMMA.16x8x4 R48, R16, R32, R40", &d1684, F64, F64, F64, false, false },
	{ 90, "DMMA.16x8x8 R48, R16, R32, R40", &d1688, F64, F64, F64, false, false },
	{ 90, "DMMA.16x8x16 R48, R16, R32, R40", &d16816, F64, F64, F64, false, false },
};

static void test_products(void **state)
{
	static struct machine m;
	uint64_t seed = 17;
	(void)state;
	for (size_t n = 0; n < WSI_COUNT(matrices); n++) {
		const struct matrix_test *t = &matrices[n];
		struct wsi_alu alu;
		machine_prepare(&alu, t->sm, t->text);
		for (unsigned round = 0; round < 20; round++) {
			fill(&m, t, &seed);
			machine_run(&m, &alu);
			for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
				for (unsigned i = 0; i < t->layout->c; i++) {
					struct place p = t->layout->at_c(l / 4, l % 4, i);
					int64_t sum = product(t, p);
					uint64_t want = encoded(t->c, (int)sum);
					uint64_t got = get_element(&m, D_AT, l, i, bits_of(t->c));
					if (got != want)
						fail_msg("sm_%u %s: row %u column %u is %llx, not "
							 "%llx",
							 t->sm, t->text, p.row, p.column,
							 (unsigned long long)got,
							 (unsigned long long)want);
				}
			}
		}
	}
}

static void test_transpose(void **state)
{
	static struct machine before, after;
	struct wsi_alu alu;
	uint64_t seed = 5;
	(void)state;
	machine_prepare(&alu, 80, "MOVM.16.MT88 R2, R4");
	machine_fill(&before, &seed);
	after = before;
	machine_run(&after, &alu);
	for (unsigned row = 0; row < 8; row++) {
		for (unsigned column = 0; column < 8; column++) {
			uint32_t a = before.r[4][row * 4 + column / 2] >> column % 2 * 16;
			uint32_t b = after.r[2][column * 4 + row / 2] >> row % 2 * 16;
			assert_int_equal(a & 0xffff, b & 0xffff);
		}
	}
}

/* In place, as compilers like it. */
static void test_overlap(void **state)
{
	static struct machine a, b;
	struct wsi_alu plain, over;
	uint64_t seed = 3;
	(void)state;
	machine_prepare(&plain, 80, "IMMA.16832.S8.U8 R48, R16.ROW, R32.COL, R40");
	machine_prepare(&over, 80, "IMMA.16832.S8.U8 R16, R16.ROW, R32.COL, R40");
	machine_fill(&a, &seed);
	b = a;
	machine_run(&a, &plain);
	machine_run(&b, &over);
	assert_memory_equal(a.r[D_AT], b.r[A_AT], 4 * sizeof a.r[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_overlap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
