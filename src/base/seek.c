/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacking from a place in the middle (seek.h). zlib's state of unpacking is copied whole, with
 * the last 32 KiB: so a place need not be where a block begins, and check sums go on. */
#define WSI_BASE_SOURCE
#include "base/seek.h"

#include <zlib.h>
#if WSI_HAVE_ZSTD
#include <zstd.h>
#endif

#define FIRST_SPACING (UINT64_C(1) << 20)

enum {
	MOST_PLACES = 512, /* of some 40 kB, for gzip */
	CHUNK = 256 * 1024,
};

struct place {
	uint64_t packed_off, unpacked_off;
	z_stream *z; /* owned; NULL: a frame or a member begins */
};

struct wsi_seek {
	bool is_zstd;
	struct place places[MOST_PLACES];
	size_t n;
	uint64_t spacing; /* unpacked bytes between two places, at least */
	/* reading */
	struct wsi_file owned; /* what `packed` is a part of; may be empty */
	const struct wsi_input *packed;
	bool has_z, running; /* `z` is initialised; the state belongs to these offsets */
	uint64_t packed_off, unpacked_off;
	z_stream z;
#if WSI_HAVE_ZSTD
	ZSTD_DStream *zstd; /* owned */
#endif
	uint8_t in[CHUNK], skipped[CHUNK];
};

static void place_fini(struct place *place)
{
	if (place->z)
		inflateEnd(place->z);
	wsi_free(place->z);
}

struct wsi_seek *wsi_seek_create(bool is_zstd)
{
	struct wsi_seek *seek = wsi_zalloc(sizeof *seek);
	if (!seek)
		return NULL;
	seek->is_zstd = is_zstd;
	seek->spacing = FIRST_SPACING;
	seek->n = 1; /* the start */
	return seek;
}

void wsi_seek_destroy(struct wsi_seek *seek)
{
	if (!seek)
		return;
	for (size_t i = 0; i < seek->n; i++)
		place_fini(&seek->places[i]);
	if (seek->has_z)
		inflateEnd(&seek->z);
#if WSI_HAVE_ZSTD
	ZSTD_freeDStream(seek->zstd);
#endif
	wsi_file_close(&seek->owned);
	wsi_free(seek);
}

/* Keeps every second place. */
static void places_thin(struct wsi_seek *seek)
{
	size_t n = 0;
	for (size_t i = 0; i < seek->n; i++) {
		if (i % 2 == 0)
			seek->places[n++] = seek->places[i];
		else
			place_fini(&seek->places[i]);
	}
	seek->n = n;
	seek->spacing *= 2;
}

void wsi_seek_offer(struct wsi_seek *seek, struct z_stream_s *z, uint64_t packed_off,
		    uint64_t unpacked_off)
{
	if (unpacked_off - seek->places[seek->n - 1].unpacked_off < seek->spacing)
		return;
	if (seek->n == MOST_PLACES)
		places_thin(seek);
	struct place place = { .packed_off = packed_off, .unpacked_off = unpacked_off };
	if (z) {
		place.z = wsi_zalloc(sizeof *place.z);
		if (!place.z)
			return; /* a place less costs time only */
		if (inflateCopy(place.z, z) != Z_OK) {
			wsi_free(place.z);
			return;
		}
	}
	seek->places[seek->n++] = place;
}

uint64_t wsi_seek_gap(const struct wsi_seek *seek, uint64_t size)
{
	uint64_t gap = 0;
	for (size_t i = 0; i < seek->n; i++) {
		uint64_t end = i + 1 < seek->n ? seek->places[i + 1].unpacked_off : size;
		gap = wsi_max_u64(gap, end - seek->places[i].unpacked_off);
	}
	return gap;
}

/* ---- reading ---- */

/* Makes the state that of a place. */
static bool place_begin(struct wsi_seek *seek, const struct place *place)
{
	seek->packed_off = place->packed_off;
	seek->unpacked_off = place->unpacked_off;
#if WSI_HAVE_ZSTD
	if (seek->is_zstd) {
		if (!seek->zstd)
			seek->zstd = ZSTD_createDStream();
		return seek->zstd && !ZSTD_isError(ZSTD_initDStream(seek->zstd));
	}
#endif
	if (seek->has_z)
		inflateEnd(&seek->z);
	seek->z = (z_stream){ 0 };
	/* 15: any window; 16: gzip format only */
	int rc = place->z ? inflateCopy(&seek->z, place->z) : inflateInit2(&seek->z, 15 + 16);
	seek->has_z = rc == Z_OK;
	return seek->has_z;
}

/* Unpacks up to `n` of the next bytes; 0: there are none. */
static size_t next_bytes(struct wsi_seek *seek, uint8_t *out, size_t n)
{
	for (;;) {
		size_t most = (size_t)wsi_min_u64(seek->packed->size - seek->packed_off, CHUNK);
		const uint8_t *in =
			most ? wsi_input_view(seek->packed, seek->packed_off, most, seek->in)
			     : NULL;
		size_t used = 0, got = 0;
		bool good = in != NULL;
#if WSI_HAVE_ZSTD
		if (good && seek->is_zstd) {
			ZSTD_inBuffer from = { in, most, 0 };
			ZSTD_outBuffer to = { out, n, 0 };
			good = !ZSTD_isError(ZSTD_decompressStream(seek->zstd, &to, &from));
			used = from.pos;
			got = to.pos;
		}
#endif
		if (good && !seek->is_zstd) {
			seek->z.next_in = (z_const Bytef *)(uintptr_t)in;
			seek->z.avail_in = (uInt)most;
			seek->z.next_out = out;
			seek->z.avail_out = (uInt)n;
			int rc = inflate(&seek->z, Z_NO_FLUSH);
			used = most - seek->z.avail_in;
			got = n - seek->z.avail_out;
			if (rc == Z_STREAM_END) /* another member follows, or nothing is wanted */
				rc = inflateReset(&seek->z);
			good = rc == Z_OK || rc == Z_BUF_ERROR;
		}
		seek->packed_off += used;
		seek->unpacked_off += got;
		if (got)
			return got;
		if (!good || !used)
			return 0;
	}
}

static size_t seek_read(void *user, uint64_t off, void *buffer, size_t n)
{
	struct wsi_seek *seek = user;
	size_t behind = WSI_BISECT(i, 0, seek->n, seek->places[i].unpacked_off <= off);
	const struct place *place = &seek->places[behind - 1];
	if (!seek->running || seek->unpacked_off > off || seek->unpacked_off < place->unpacked_off)
		seek->running = place_begin(seek, place);
	while (seek->running && seek->unpacked_off < off)
		seek->running = next_bytes(seek, seek->skipped,
					   (size_t)wsi_min_u64(CHUNK, off - seek->unpacked_off));
	size_t got = seek->running ? next_bytes(seek, buffer, n < CHUNK ? n : CHUNK) : 0;
	seek->running = got > 0;
	return got;
}

static void seek_close(void *user)
{
	wsi_seek_destroy(user);
}

static enum ws_status seek_open(struct wsi_seek *seek, const struct wsi_input *packed,
				uint64_t size, void (*close)(void *user),
				struct wsi_input *ret_source, struct ws_error *err)
{
	struct wsi_window_options options = {
		.read = seek_read, .close = close, .user = seek, .size = size
	};
	seek->packed = packed;
	seek->running = false;
	return wsi_input_open(&options, ret_source, err);
}

enum ws_status wsi_seek_open(struct wsi_seek *seek, const struct wsi_input *packed, uint64_t size,
			     struct wsi_input *ret_source, struct ws_error *err)
{
	return seek_open(seek, packed, size, NULL, ret_source, err);
}

enum ws_status wsi_seek_finish(struct wsi_seek *seek, struct wsi_file *packed, uint64_t size,
			       struct wsi_input *ret_source, struct ws_error *err)
{
	seek->owned = *packed;
	*packed = (struct wsi_file){ 0 };
	enum ws_status st = seek_open(seek, &seek->owned.source, size, seek_close, ret_source, err);
	if (st != WS_OK)
		wsi_seek_destroy(seek);
	return st;
}
