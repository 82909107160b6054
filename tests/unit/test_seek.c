/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: packed files of which no more is kept than places to unpack from. What they answer is
 * compared with the same files unpacked. */
#define _XOPEN_SOURCE 700
#include "unit.h"

#include "base/seek.h"

#include <unistd.h>
#include <zlib.h>
#if WSI_HAVE_ZSTD
#include <zstd.h>
#endif

enum {
	PLAIN = 12 << 20,
	PIECE = 100 * 1000, /* of a zstd frame */
	ROOM = PLAIN + (4 << 20),
};

static char path[] = "/tmp/warpscope-seek-XXXXXX";
static uint8_t *plain, *packed;
static size_t n_packed;

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Runs of bytes, zeros and noise. */
static void plain_make(void)
{
	uint32_t seed = 1;
	for (size_t at = 0; at < PLAIN;) {
		uint32_t n = next_random(&seed) % 3000, kind = next_random(&seed) % 3;
		for (; n > 0 && at < PLAIN; n--, at++)
			plain[at] = kind == 0   ? 0
				    : kind == 1 ? (uint8_t)(at / 7)
						: (uint8_t)next_random(&seed);
	}
}

static int begin(void **state)
{
	(void)state;
	plain = wsi_zalloc(PLAIN);
	packed = wsi_zalloc(ROOM);
	int fd = mkstemp(path);
	if (!plain || !packed || fd < 0)
		return -1;
	close(fd);
	plain_make();
	return 0;
}

static int end(void **state)
{
	(void)state;
	wsi_free(plain);
	wsi_free(packed);
	return unlink(path);
}

/* Members of a few MiB. */
static void gzip_make(void)
{
	n_packed = 0;
	for (size_t at = 0, n; at < PLAIN; at += n) {
		z_stream z = { 0 };
		n = at == 0 ? 5 << 20 : PLAIN - at < (6 << 20) ? PLAIN - at : 6 << 20;
		assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
				 Z_OK);
		z.next_in = plain + at;
		z.avail_in = (uInt)n;
		z.next_out = packed + n_packed;
		z.avail_out = (uInt)(ROOM - n_packed);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		n_packed = ROOM - z.avail_out;
		deflateEnd(&z);
	}
}

#if WSI_HAVE_ZSTD
static void zstd_make(void)
{
	n_packed = 0;
	for (size_t at = 0; at < PLAIN; at += PIECE) {
		size_t n = ZSTD_compress(packed + n_packed, ROOM - n_packed, plain + at,
					 PLAIN - at < PIECE ? PLAIN - at : PIECE, 1);
		assert_false(ZSTD_isError(n));
		n_packed += n;
	}
}
#endif

static void packed_put(size_t n)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(packed, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* The first `n` packed bytes, with places and stored. */
static void agree(size_t n)
{
	struct wsi_file_options options = { .in_windows = true, .max_stored_bytes = 1 << 20 };
	struct wsi_file stored, seen;
	static uint8_t buffer[1 << 20];
	uint32_t seed = (uint32_t)n;
	packed_put(n);
	assert_int_equal(wsi_file_open_any(path, NULL, &stored, NULL), WS_OK);
	assert_int_equal(wsi_file_open_any(path, &options, &seen, NULL), WS_OK);
	assert_null(stored.source.windows);
	assert_int_equal(seen.source.windows == NULL, stored.source.size <= 1 << 20);
	assert_int_equal(seen.source.size, stored.source.size);
	assert_int_equal(seen.is_cut, stored.is_cut);
	assert_int_equal(seen.is_damaged, stored.is_damaged);
	assert_int_equal(seen.packed_off, stored.packed_off);
	assert_string_equal(seen.packing, stored.packing);
	uint64_t size = stored.source.size;
	for (unsigned i = 0; i < 40; i++) {
		size_t len = 1 + next_random(&seed) % (i % 4 ? 5000 : sizeof buffer - 1);
		uint64_t off = next_random(&seed) % size;
		if (i == 39)
			off = size - 1; /* the last byte, too */
		len = (size_t)wsi_input_clip(&seen.source, off, len).len;
		assert_int_equal(wsi_input_read(&seen.source, off, buffer, len, NULL), WS_OK);
		assert_memory_equal(buffer, stored.bytes.ptr + off, len);
	}
	wsi_file_close(&seen);
	wsi_file_close(&stored);
}

static void what_was_cut_or_damaged_agrees(void)
{
	agree(n_packed);
	agree(n_packed - 1);
	agree(n_packed / 2);
	for (unsigned i = 1; i < 8; i++) {
		size_t at = n_packed / 8 * i + i;
		packed[at] ^= 0x55;
		agree(n_packed);
		packed[at] ^= 0x55;
	}
	packed[n_packed] = 'x'; /* something follows */
	agree(n_packed + 1);
}

static void gzip_is_read_from_the_middle(void **state)
{
	(void)state;
	gzip_make();
	what_was_cut_or_damaged_agrees();
}

static void frames_of_zstd_are_read_from_the_middle(void **state)
{
	(void)state;
#if WSI_HAVE_ZSTD
	zstd_make();
	what_was_cut_or_damaged_agrees();
#else
	skip();
#endif
}

static void places_stay_few_and_close(void **state)
{
	(void)state;
	struct wsi_seek *seek = wsi_seek_create(true);
	assert_non_null(seek);
	const uint64_t MiB = 1 << 20, size = 40000 * MiB;
	for (uint64_t at = MiB / 2; at < size; at += MiB / 2)
		wsi_seek_offer(seek, NULL, at, at);
	assert_in_range(wsi_seek_gap(seek, size), size / 512, size / 128);
	wsi_seek_destroy(seek);
}

static void lost_bytes_are_told(void **state)
{
	(void)state;
	struct wsi_file_options options = { .in_windows = true, .max_stored_bytes = 1 << 20 };
	struct wsi_file file;
	struct ws_error err;
	uint8_t byte;
	gzip_make();
	packed_put(n_packed);
	/* in windows too, for what is mapped may not shrink */
	int fd = wsi_file_descriptor(path);
	assert_true(fd >= 0);
	assert_int_equal(wsi_file_windows(fd, path, &file, &err), WS_OK);
	struct wsi_input source = file.source;
	assert_int_equal(wsi_file_open_input(&source, path, &options, &file, &err), WS_OK);
	assert_int_equal(wsi_input_read(&file.source, PLAIN - 5, &byte, 1, &err), WS_OK);
	assert_int_equal(byte, plain[PLAIN - 5]);
	assert_int_equal(truncate(path, (off_t)n_packed / 4), 0);
	assert_int_equal(wsi_input_read(&file.source, PLAIN * 2 / 3, &byte, 1, &err), WS_IO);
	assert_int_equal(wsi_input_read(&file.source, 17, &byte, 1, &err), WS_OK);
	assert_int_equal(byte, plain[17]);
	wsi_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gzip_is_read_from_the_middle),
		cmocka_unit_test(frames_of_zstd_are_read_from_the_middle),
		cmocka_unit_test(places_stay_few_and_close),
		cmocka_unit_test(lost_bytes_are_told),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
