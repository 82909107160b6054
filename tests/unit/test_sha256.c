/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/sha256.h"

static void expect(const char *hex, const uint8_t digest[WSI_SHA256_BYTES])
{
	char text[2 * WSI_SHA256_BYTES + 1];
	for (unsigned i = 0; i < WSI_SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(million_letters_in_pieces_of_every_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
