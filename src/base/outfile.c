/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/outfile.h"

#include "base/place.h"
#include "base/worker.h"

#include <unistd.h>
#include <zlib.h>

enum {
	PACKED = 64 * 1024, /* bytes written at once */
	MAX_HEAD = 32 * 1024,
	GZIP_HEADER = 10,
	STORED_HEADER = 5,
	GZIP_TRAILER = 8,
};

struct wsi_outfile {
	struct wsi_outfile_options options;
	struct wsi_place place;
	struct wsi_stream stream;
	/* Owned: more buffers of the stream, a ring: the worker has had the next one for longest.
	 */
	uint8_t *spare[WSI_WORKER_PIECES];
	unsigned next_spare;
	struct wsi_worker worker;
	z_stream z; /* with options.gzip */
	bool z_ready;
	uint8_t *packed; /* owned: PACKED bytes */
	uLong crc;       /* of what follows the head */
};

enum ws_status wsi_outfile_failed(const struct wsi_outfile *file, struct ws_error *err)
{
	return wsi_fail_errno(err, "%s: cannot write", file->place.path);
}

/* ---- packing ---- */

/* Packs what is in `z.next_in`; with Z_FINISH all that is left. */
static bool pack(struct wsi_outfile *file, int flush)
{
	int rc;
	do {
		file->z.next_out = file->packed;
		file->z.avail_out = PACKED;
		rc = deflate(&file->z, flush);
		if (!ws_write_fd(&file->place.fd, (const char *)file->packed,
				 PACKED - file->z.avail_out))
			return false;
	} while (file->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
	return true;
}

/* On the worker's thread. */
static bool write_out(void *user, const uint8_t *bytes, size_t n)
{
	struct wsi_outfile *file = user;
	if (!file->options.gzip)
		return ws_write_fd(&file->place.fd, (const char *)bytes, n);
	while (n > 0) {
		uInt part = n < UINT_MAX ? (uInt)n : UINT_MAX;
		file->crc = crc32(file->crc, bytes, part);
		file->z.next_in = (z_const Bytef *)(uintptr_t)bytes;
		file->z.avail_in = part;
		if (!pack(file, Z_NO_FLUSH))
			return false;
		bytes += part;
		n -= part;
	}
	return true;
}

/* The worker takes the buffer of the stream, which goes on with the next one. */
static bool drain_to_worker(void *user, const uint8_t *bytes, size_t n)
{
	struct wsi_outfile *file = user;
	uint8_t *own = file->stream.buffer;
	bool is_own = bytes == own;
	if (!wsi_worker_wait(&file->worker, is_own ? WSI_WORKER_PIECES - 1 : 0))
		return false;
	if (!is_own)
		return write_out(file, bytes, n);
	uint8_t **spare = &file->spare[file->next_spare];
	file->next_spare = (file->next_spare + 1) % WSI_WORKER_PIECES;
	file->stream.buffer = *spare;
	*spare = own;
	wsi_worker_give(&file->worker, own, n);
	return true;
}

static bool flush(struct wsi_outfile *file)
{
	return wsi_stream_flush(&file->stream) && wsi_worker_wait(&file->worker, 0);
}

static void put_le(uint8_t *to, uint64_t value, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

/* Ends the packed bytes, and writes what had to wait in front of them. */
static bool gzip_finish(struct wsi_outfile *file, const void *head)
{
	size_t n = file->options.head_bytes;
	uint8_t start[GZIP_HEADER + STORED_HEADER] = { 0x1f, 0x8b, 8 }, trailer[GZIP_TRAILER];
	start[9] = 255; /* of no operating system in particular */
	start[10] = 0;  /* a stored block, not the last one */
	put_le(start + 11, n, 2);
	put_le(start + 13, ~(uint64_t)n, 2);
	if (!flush(file))
		return false;
	file->z.avail_in = 0;
	if (!pack(file, Z_FINISH))
		return false;
	uLong crc = crc32_combine(crc32(crc32(0, NULL, 0), head, (uInt)n), file->crc,
				  (z_off_t)(file->stream.total - n));
	put_le(trailer, crc, 4);
	put_le(trailer + 4, file->stream.total, 4);
	return ws_write_fd(&file->place.fd, (const char *)trailer, sizeof trailer) &&
	       lseek(file->place.fd, 0, SEEK_SET) == 0 &&
	       ws_write_fd(&file->place.fd, (const char *)start, sizeof start) &&
	       ws_write_fd(&file->place.fd, head, n);
}

static bool plain_finish(struct wsi_outfile *file, const void *head)
{
	return flush(file) && lseek(file->place.fd, 0, SEEK_SET) == 0 &&
	       ws_write_fd(&file->place.fd, head, file->options.head_bytes);
}

/* ---- the whole ---- */

static enum ws_status head_reserve(struct wsi_outfile *file, struct ws_error *err)
{
	static const uint8_t zeros[GZIP_HEADER + STORED_HEADER + MAX_HEAD];
	size_t n = file->options.head_bytes;
	if (!file->options.gzip)
		return wsi_outfile_append(file, zeros, n, err);
	file->stream.total = n;
	if (!ws_write_fd(&file->place.fd, (const char *)zeros, GZIP_HEADER + STORED_HEADER + n))
		return wsi_outfile_failed(file, err);
	file->packed = wsi_zalloc(PACKED);
	/* -15: blocks without a header, which is written here */
	if (!file->packed || deflateInit2(&file->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8,
					  Z_DEFAULT_STRATEGY) != Z_OK)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "packing %s", file->place.path);
	file->z_ready = true;
	file->crc = crc32(0, NULL, 0);
	return WS_OK;
}

enum ws_status wsi_outfile_open(const char *path, const struct wsi_outfile_options *options,
				struct wsi_outfile **ret_file, struct ws_error *err)
{
	assert(options->head_bytes <= MAX_HEAD);
	struct wsi_outfile *file = wsi_zalloc(sizeof *file);
	if (!file)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "writing %s", path);
	file->options = *options;
	bool has_room = wsi_stream_init(&file->stream, drain_to_worker, file);
	for (unsigned i = 0; i < WSI_WORKER_PIECES && has_room; i++) {
		file->spare[i] = wsi_zalloc(WSI_STREAM_BUFFER);
		has_room = file->spare[i] != NULL;
	}
	wsi_worker_init(&file->worker, write_out, file);
	enum ws_status st = wsi_place_open(path, options->source, &file->place, err);
	if (st == WS_OK && !has_room)
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "writing %s", path);
	if (st == WS_OK)
		st = head_reserve(file, err);
	if (st != WS_OK) {
		wsi_outfile_close(file);
		return st;
	}
	*ret_file = file;
	return WS_OK;
}

struct wsi_stream *wsi_outfile_stream(struct wsi_outfile *file)
{
	return &file->stream;
}

enum ws_status wsi_outfile_append(struct wsi_outfile *file, const void *bytes, size_t n,
				  struct ws_error *err)
{
	return wsi_stream_append(&file->stream, bytes, n) ? WS_OK : wsi_outfile_failed(file, err);
}

enum ws_status wsi_outfile_append_scratch(struct wsi_outfile *file, struct wsi_scratch *scratch,
					  struct ws_error *err)
{
	uint64_t end = scratch->stream.total;
	for (uint64_t at = 0; at < end;) {
		uint8_t *to = wsi_stream_room(&file->stream);
		if (!to)
			return wsi_outfile_failed(file, err);
		size_t n = WSI_STREAM_BYTES - file->stream.used;
		enum ws_status st = wsi_scratch_read(scratch, at, to, n, &n, err);
		if (st != WS_OK)
			return st;
		wsi_stream_take(&file->stream, n);
		at += n;
	}
	return WS_OK;
}

enum ws_status wsi_outfile_commit(struct wsi_outfile *file, const void *head, struct ws_error *err)
{
	bool good = file->options.gzip ? gzip_finish(file, head) : plain_finish(file, head);
	return good && wsi_place_commit(&file->place) ? WS_OK : wsi_outfile_failed(file, err);
}

void wsi_outfile_close(struct wsi_outfile *file)
{
	if (!file)
		return;
	wsi_worker_fini(&file->worker);
	wsi_place_close(&file->place);
	if (file->z_ready)
		(void)deflateEnd(&file->z);
	wsi_stream_fini(&file->stream);
	for (unsigned i = 0; i < WSI_WORKER_PIECES; i++)
		wsi_free(file->spare[i]);
	wsi_free(file->packed);
	wsi_free(file);
}

enum ws_status ws_file_replace(const char *path, struct ws_span bytes, const char *source,
			       struct ws_error *err)
{
	struct wsi_outfile *file;
	struct wsi_outfile_options options = { .source = source };
	enum ws_status st = wsi_outfile_open(path, &options, &file, err);
	if (st != WS_OK)
		return st;
	st = wsi_outfile_append(file, bytes.ptr, bytes.len, err);
	if (st == WS_OK)
		st = wsi_outfile_commit(file, NULL, err);
	wsi_outfile_close(file);
	return st;
}
