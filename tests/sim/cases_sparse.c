/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a sparse A: two elements of four, or one of two of 32 bits, and where they are. */
#include "panel.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 64 };

struct form {
	const char *kernel;
	enum type type;
	unsigned depth; /* of B */
	unsigned first; /* thread of four that has the first places */
};

/* Of A: what is not zero and where it is, in its own words: two bits for each place. */
struct sparse {
	double dense[ROWS][DEPTH];
	uint32_t bits[ROWS][DEPTH / 2]; /* elements */
	unsigned place[ROWS][SPARSE_MOST];
};

static double random_element(struct job *j, enum type type, uint32_t *ret_bits)
{
	int v = (int)(job_random(j) % 9) - 4;
	*ret_bits = encode(type, v) << (type == E2M1 ? 2 : 0); /* in the middle of a byte */
	return type == S8 ? v : v / 2.0;
}

static void make_sparse(struct job *j, const struct form *f, struct sparse *s)
{
	memset(s, 0, sizeof *s);
	for (unsigned row = 0; row < ROWS; row++) {
		pick_places(j, f->type, f->depth / 2, s->place[row]);
		for (unsigned k = 0; k < f->depth / 2; k++)
			s->dense[row][dense_place(f->type, s->place[row], k)] =
				random_element(j, f->type, &s->bits[row][k]);
	}
}

static void sparse(struct job *j, const struct form *f)
{
	static struct sparse s;
	static double b[COLUMNS][DEPTH];
	uint32_t *out = job_buffer(j, 512), *ra = job_buffer(j, 512), *rb = job_buffer(j, 512),
		 *places = job_words(j, 32), want[128];
	unsigned bytes = bytes_of(f->type), n = 4 / bytes;
	make_sparse(j, f, &s);
	for (unsigned t = 0; t < 32; t++) {
		unsigned used = bytes_of(f->type) == 1 ? f->depth / 16
				: f->type == TF32      ? f->depth / 8
						       : f->depth / 16;
		if (t % 4 >= f->first && t % 4 < f->first + used) /* others have anything */
			places[t] = places_of(f->type, f->depth / 2, f->first, s.place, t);
		for (unsigned i = 0; i < f->depth / 4 / n / 2 * 2; i++)
			for (unsigned k = 0; k < n; k++)
				ra[t * 4 + i] |=
					s.bits[t / 4 + i % 2 * 8][(i / 2 * 4 + t % 4) * n + k]
					<< 8 * bytes * k;
		for (unsigned i = 0; i < f->depth / 4 / n; i++)
			for (unsigned k = 0; k < n; k++) {
				uint32_t bits;
				b[t / 4][(i * 4 + t % 4) * n + k] =
					random_element(j, f->type, &bits);
				rb[t * 4 + i] |= bits << 8 * bytes * k;
			}
	}
	for (unsigned i = 0; i < 128; i++) {
		unsigned row = i / 16 + i % 4 / 2 * 8, column = i / 4 % 4 * 2 + i % 2;
		int old = (int)(job_random(j) % 33) - 16;
		double sum = old;
		float value = (float)old;
		for (unsigned k = 0; k < f->depth; k++)
			sum += s.dense[row][k] * b[column][k];
		if (f->type == S8) {
			out[i] = (uint32_t)old;
			want[i] = (uint32_t)(int32_t)sum;
			continue;
		}
		memcpy(&out[i], &value, 4);
		value = (float)sum;
		memcpy(&want[i], &value, 4);
	}
	job_launch(j, f->kernel, 1, 32, "pppp", out, ra, rb, places);
	job_same(j, out, want, 128);
}

static void sparse_halves(struct job *j)
{
	sparse(j, &(struct form){ "sparse_f16_0", F16, 32, 0 });
	sparse(j, &(struct form){ "sparse_f16_1", F16, 32, 2 });
	sparse(j, &(struct form){ "sparse_bf16", BF16, 16, 2 });
}

static void sparse_singles(struct job *j)
{
	sparse(j, &(struct form){ "sparse_tf32", TF32, 16, 2 });
	sparse(j, &(struct form){ "sparse_tf32_half", TF32, 8, 3 });
}

static void sparse_integers(struct job *j)
{
	sparse(j, &(struct form){ "sparse_s8", S8, 64, 0 });
	sparse(j, &(struct form){ "sparse_s8_half", S8, 32, 2 });
}

static void sparse_bytes(struct job *j)
{
	sparse(j, &(struct form){ "sparse_e4m3", E4M3, 64, 0 });
}

static void sparse_small(struct job *j)
{
	sparse(j, &(struct form){ "sparse_e2m1", E2M1, 64, 0 });
	sparse(j, &(struct form){ "sparse_e2m3", E2M3, 64, 0 });
	sparse(j, &(struct form){ "sparse_e3m2", E3M2, 64, 0 });
}

const struct job_case job_sparse[] = {
	{ "sparse", "sparse_f16", sparse_halves, 80, NULL },
	{ "sparse", "sparse_tf32", sparse_singles, 80, NULL },
	{ "sparse", "sparse_s8", sparse_integers, 80, NULL },
	{ "sparse", "sparse_e4m3", sparse_bytes, JOB_ONLY + 89, NULL },
	{ "sparse", "sparse_e4m3", sparse_bytes, JOB_ONLY + 120, NULL },
	{ "sparse", "sparse_e2m1", sparse_small, JOB_ONLY + 120, NULL },
	{ 0 },
};
