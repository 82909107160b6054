/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/sha256.h"

static void expect(const char *hex, const uint8_t digest[WSI_SHA256_BYTES])
{
	char text[2 * WSI_SHA256_BYTES + 1];
	wsi_sha256_text(digest, WSI_SHA256_BYTES, text);
	assert_string_equal(text, hex);
}

/* Messages and digests published by NIST with FIPS 180. */
static void published_vectors(void **state)
{
	(void)state;
	static const struct {
		const char *message, *digest;
	} cases[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_sha256 hash;
		uint8_t digest[WSI_SHA256_BYTES];
		wsi_sha256_init(&hash);
		wsi_sha256_add(&hash, cases[i].message, strlen(cases[i].message));
		wsi_sha256_add(&hash, NULL, 0); /* UBSan looks */
		wsi_sha256_final(&hash, digest);
		expect(cases[i].digest, digest);
	}
}

static void million_letters_in_pieces_of_every_size(void **state)
{
	(void)state;
	static char piece[200];
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	memset(piece, 'a', sizeof piece);
	wsi_sha256_init(&hash);
	size_t left = 1000000;
	for (size_t n = 0; left > 0; n = (n + 1) % sizeof piece) {
		size_t take = n < left ? n : left;
		wsi_sha256_add(&hash, piece, take);
		left -= take;
	}
	wsi_sha256_final(&hash, digest);
	expect("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", digest);
}

/* "abc", padded by hand, gives its published digest, and any number of blocks at any address the
 * same both ways. */
static void both_ways_to_take_blocks_agree(void **state)
{
	(void)state;
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	static const uint32_t of_abc[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
					    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
	const uint8_t abc[WSI_SHA256_BLOCK] = { 'a', 'b', 'c', 0x80, [63] = 24 };
	uint8_t bytes[9 * WSI_SHA256_BLOCK];
	wsi_sha256_blocks_fn *own = wsi_sha256_blocks_own();
	uint32_t plain[8], other[8], seed = 1;
	memcpy(plain, start, sizeof plain);
	wsi_sha256_blocks_plain(plain, abc, 1);
	assert_memory_equal(plain, of_abc, sizeof plain);
	if (!own)
		skip(); /* this processor has no instructions for it */
	memcpy(other, start, sizeof other);
	own(other, abc, 1);
	assert_memory_equal(other, of_abc, sizeof other);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
	for (size_t n = 0; n <= 8; n++) {
		for (size_t at = 0; at < WSI_SHA256_BLOCK; at++) {
			wsi_sha256_blocks_plain(plain, bytes + at, n);
			own(other, bytes + at, n);
			assert_memory_equal(plain, other, sizeof plain);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(million_letters_in_pieces_of_every_size),
		cmocka_unit_test(both_ways_to_take_blocks_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
