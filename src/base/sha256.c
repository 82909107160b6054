/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned by)
{
	return value >> by | value << (32 - by);
}

static void block_take(uint32_t state[8], const uint8_t block[WSI_SHA256_BLOCK])
{
	uint32_t w[64];
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];
		w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
		       (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	for (unsigned i = 0; i < 64; i++) {
		uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & f) ^ (~e & g)) + k[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & b) ^ (a & c) ^ (b & c));
		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void wsi_sha256_blocks_plain(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		block_take(state, blocks + i * WSI_SHA256_BLOCK);
}

#if defined(__x86_64__)

#define WITH_INSTRUCTIONS __attribute__((target("sha,sse4.1")))

/* The state as the instructions keep it: the words a, b, e, f and c, d, g, h, the first on top. */
struct halves {
	__m128i abef, cdgh;
};

/* Four rounds with the words of the message in w[0]. */
WITH_INSTRUCTIONS static inline void rounds_take(struct halves *s, const __m128i w[1],
						 const uint32_t k4[4])
{
	__m128i x = _mm_add_epi32(w[0], _mm_loadu_si128((const __m128i *)k4));
	s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, x);
	s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(x, 0x0e));
}

/* The four words of the message that come 16 words after those of `w0`. */
WITH_INSTRUCTIONS static inline __m128i words_next(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
	return _mm_sha256msg2_epu32(sum, w3);
}

WITH_INSTRUCTIONS static void blocks_own(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
	struct halves s = { _mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0) };
	for (; n_blocks > 0; n_blocks--, blocks += WSI_SHA256_BLOCK) {
		const struct halves before = s;
		__m128i w[4];
		for (unsigned i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16 * i)),
						big_endian);
		for (unsigned i = 0; i < 48; i += 16) {
			rounds_take(&s, w, k + i);
			w[0] = words_next(w[0], w[1], w[2], w[3]);
			rounds_take(&s, w + 1, k + i + 4);
			w[1] = words_next(w[1], w[2], w[3], w[0]);
			rounds_take(&s, w + 2, k + i + 8);
			w[2] = words_next(w[2], w[3], w[0], w[1]);
			rounds_take(&s, w + 3, k + i + 12);
			w[3] = words_next(w[3], w[0], w[1], w[2]);
		}
		for (unsigned i = 0; i < 4; i++)
			rounds_take(&s, w + i, k + 48 + 4 * i);
		s.abef = _mm_add_epi32(s.abef, before.abef);
		s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
	}
	__m128i feba = _mm_shuffle_epi32(s.abef, 0x1b), dchg = _mm_shuffle_epi32(s.cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_instructions(void)
{
	const unsigned ssse3 = 1u << 9, sse41 = 1u << 19, sha = 1u << 29;
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & ssse3) || !(c & sse41))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & sha;
}

wsi_sha256_blocks_fn *wsi_sha256_blocks_own(void)
{
	static atomic_int known; /* asking costs much in a virtual machine */
	int has = atomic_load_explicit(&known, memory_order_relaxed);
	if (!has) {
		has = has_instructions() ? 1 : -1;
		atomic_store_explicit(&known, has, memory_order_relaxed);
	}
	return has > 0 ? blocks_own : NULL;
}

#else

wsi_sha256_blocks_fn *wsi_sha256_blocks_own(void)
{
	return NULL;
}

#endif

static void blocks_take(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
	wsi_sha256_blocks_fn *own = wsi_sha256_blocks_own();
	(own ? own : wsi_sha256_blocks_plain)(state, blocks, n_blocks);
}

void wsi_sha256_init(struct wsi_sha256 *hash)
{
	*hash = (struct wsi_sha256){
		/* the same of the square roots of the first 8 primes */
		.state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			   0x1f83d9ab, 0x5be0cd19 },
	};
}

void wsi_sha256_add(struct wsi_sha256 *hash, const void *bytes, size_t len)
{
	const uint8_t *in = bytes;
	if (len == 0) /* `bytes` may be NULL then */
		return;
	size_t used = hash->n_bytes % WSI_SHA256_BLOCK;
	hash->n_bytes += len;
	if (used > 0) {
		size_t n = wsi_min_u64(len, WSI_SHA256_BLOCK - used);
		memcpy(hash->block + used, in, n);
		if (used + n < WSI_SHA256_BLOCK)
			return;
		blocks_take(hash->state, hash->block, 1);
		in += n;
		len -= n;
	}
	size_t rest = len % WSI_SHA256_BLOCK;
	if (len > rest)
		blocks_take(hash->state, in, len / WSI_SHA256_BLOCK);
	if (rest > 0)
		memcpy(hash->block, in + len - rest, rest);
}

void wsi_sha256_final(struct wsi_sha256 *hash, uint8_t ret_digest[WSI_SHA256_BYTES])
{
	static const uint8_t padding[WSI_SHA256_BLOCK] = { 0x80 };
	uint64_t n_bits = hash->n_bytes * 8;
	uint8_t length[8];
	for (unsigned i = 0; i < 8; i++)
		length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
	size_t used = hash->n_bytes % WSI_SHA256_BLOCK;
	wsi_sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	wsi_sha256_add(hash, length, sizeof length);
	for (unsigned i = 0; i < WSI_SHA256_BYTES; i++)
		ret_digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void wsi_sha256_text(const uint8_t digest[WSI_SHA256_BYTES], size_t n_bytes, char *ret_text)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < n_bytes; i++) {
		*ret_text++ = digits[digest[i] >> 4];
		*ret_text++ = digits[digest[i] & 15];
	}
	*ret_text = '\0';
}
