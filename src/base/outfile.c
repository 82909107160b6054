/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* copy_file_range */
#endif
#define WSI_BASE_SOURCE
#include "base/outfile.h"

#include "base/file.h"

#include <warpscope/out.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	BUFFER = 256 * 1024,
	MAX_HEAD = 32 * 1024,
	GZIP_HEADER = 10,
	STORED_HEADER = 5,
	GZIP_TRAILER = 8,
};

/* ---- a buffered descriptor ---- */

static bool stream_init(struct wsi_stream *stream, int fd)
{
	*stream = (struct wsi_stream){ .fd = fd, .buffer = wsi_zalloc(BUFFER) };
	return stream->buffer != NULL;
}

static void stream_fini(struct wsi_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	wsi_free(stream->buffer);
	*stream = (struct wsi_stream){ .fd = -1 };
}

static bool stream_flush(struct wsi_stream *stream)
{
	size_t used = stream->used;
	stream->used = 0;
	return ws_write_fd(&stream->fd, (const char *)stream->buffer, used);
}

/* False: see errno. */
static bool stream_append(struct wsi_stream *stream, const void *bytes, size_t n)
{
	stream->total += n;
	if (n > BUFFER - stream->used) {
		if (!stream_flush(stream))
			return false;
		if (n >= BUFFER)
			return ws_write_fd(&stream->fd, bytes, n);
	}
	if (n)
		memcpy(stream->buffer + stream->used, bytes, n);
	stream->used += n;
	return true;
}

/* ---- scratch files ---- */

enum ws_status wsi_scratch_init(struct wsi_scratch *scratch, struct ws_error *err)
{
	if (!stream_init(&scratch->stream, -1))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a scratch file");
	return WS_OK;
}

void wsi_scratch_fini(struct wsi_scratch *scratch)
{
	stream_fini(&scratch->stream);
}

enum ws_status wsi_scratch_append(struct wsi_scratch *scratch, const void *bytes, size_t n,
				  struct ws_error *err)
{
	struct wsi_stream *stream = &scratch->stream;
	if (stream->fd < 0 && n > BUFFER - stream->used) {
		stream->fd = wsi_file_temporary();
		if (stream->fd < 0)
			return wsi_fail_errno(err, "no place for a scratch file");
	}
	if (!stream_append(stream, bytes, n))
		return wsi_fail_errno(err, "cannot write a scratch file");
	return WS_OK;
}

/* ---- output files ---- */

struct wsi_outfile {
	struct wsi_outfile_options options;
	char *path, *temporary; /* owned; `temporary` is NULL while there is no such file */
	struct wsi_stream stream;
	uint64_t size; /* unpacked */
	z_stream z;    /* with options.gzip */
	bool z_ready;
	uint8_t *packed; /* owned: BUFFER bytes */
	uLong crc;       /* of what follows the head */
};

static enum ws_status fail_write(const struct wsi_outfile *file, struct ws_error *err)
{
	return wsi_fail_errno(err, "%s: cannot write", file->path);
}

/* Whether `path` may become the new file. */
static enum ws_status path_check(const char *path, const char *not_over, struct ws_error *err)
{
	struct stat there, input;
	if (stat(path, &there) != 0)
		return errno == ENOENT || errno == ENOTDIR ? WS_OK
							   : wsi_fail_errno(err, "%s", path);
	if (!S_ISREG(there.st_mode))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"%s: is not a regular file, and nothing else can be written", path);
	if (not_over && stat(not_over, &input) == 0 && input.st_dev == there.st_dev &&
	    input.st_ino == there.st_ino)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"%s: is the input; choose another name for the output", path);
	return WS_OK;
}

static enum ws_status temporary_make(struct wsi_outfile *file, struct ws_error *err)
{
	size_t size = strlen(file->path) + 8;
	char *name = wsi_zalloc(size);
	if (!name)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s", file->path);
	snprintf(name, size, "%s.XXXXXX", file->path);
	file->stream.fd = mkstemp(name);
	if (file->stream.fd < 0) {
		wsi_free(name);
		return wsi_fail_errno(err, "%s", file->path);
	}
	(void)fcntl(file->stream.fd, F_SETFD, FD_CLOEXEC);
	file->temporary = name;
	return WS_OK;
}

static enum ws_status head_reserve(struct wsi_outfile *file, struct ws_error *err)
{
	static const uint8_t zeros[GZIP_HEADER + STORED_HEADER + MAX_HEAD];
	size_t n = file->options.head_bytes;
	file->size = n;
	if (!file->options.gzip)
		return stream_append(&file->stream, zeros, n) ? WS_OK : fail_write(file, err);
	if (!stream_append(&file->stream, zeros, GZIP_HEADER + STORED_HEADER + n))
		return fail_write(file, err);
	file->packed = wsi_zalloc(BUFFER);
	/* -15: blocks without a header, which is written here */
	if (!file->packed || deflateInit2(&file->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8,
					  Z_DEFAULT_STRATEGY) != Z_OK)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "packing %s", file->path);
	file->z_ready = true;
	file->crc = crc32(0, NULL, 0);
	return WS_OK;
}

enum ws_status wsi_outfile_open(const char *path, const struct wsi_outfile_options *options,
				struct wsi_outfile **ret_file, struct ws_error *err)
{
	assert(options->head_bytes <= MAX_HEAD);
	enum ws_status st = path_check(path, options->not_over, err);
	if (st != WS_OK)
		return st;
	struct wsi_outfile *file = wsi_zalloc(sizeof *file);
	if (!file)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s", path);
	file->options = *options;
	file->path = wsi_strdup(path);
	if (!stream_init(&file->stream, -1) || !file->path)
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s", path);
	if (st == WS_OK)
		st = temporary_make(file, err);
	if (st == WS_OK)
		st = head_reserve(file, err);
	if (st != WS_OK) {
		wsi_outfile_close(file);
		return st;
	}
	*ret_file = file;
	return WS_OK;
}

uint64_t wsi_outfile_size(const struct wsi_outfile *file)
{
	return file->size;
}

/* Packs what is in `z.next_in`; with Z_FINISH all that is left. */
static bool pack(struct wsi_outfile *file, int flush)
{
	int rc;
	do {
		file->z.next_out = file->packed;
		file->z.avail_out = BUFFER;
		rc = deflate(&file->z, flush);
		if (!stream_append(&file->stream, file->packed, BUFFER - file->z.avail_out))
			return false;
	} while (file->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
	return true;
}

enum ws_status wsi_outfile_append(struct wsi_outfile *file, const void *bytes, size_t n,
				  struct ws_error *err)
{
	file->size += n;
	if (!file->options.gzip)
		return stream_append(&file->stream, bytes, n) ? WS_OK : fail_write(file, err);
	const uint8_t *from = bytes;
	while (n > 0) {
		uInt part = n < UINT_MAX ? (uInt)n : UINT_MAX;
		file->crc = crc32(file->crc, from, part);
		file->z.next_in = (z_const Bytef *)(uintptr_t)from;
		file->z.avail_in = part;
		if (!pack(file, Z_NO_FLUSH))
			return fail_write(file, err);
		from += part;
		n -= part;
	}
	return WS_OK;
}

/* Has the kernel copy `stream` from `at` on, as far as it can; returns where it stopped. */
static uint64_t copy_inside(struct wsi_outfile *file, struct wsi_stream *stream, uint64_t at)
{
#ifdef __linux__
	if (file->options.gzip || !stream_flush(&file->stream))
		return at;
	while (at < stream->total) {
		off_t from = (off_t)at;
		ssize_t n = copy_file_range(stream->fd, &from, file->stream.fd, NULL,
					    (size_t)(stream->total - at), 0);
		if (n <= 0)
			break; /* another file system, or no room: the plain way tells */
		file->stream.total += (uint64_t)n;
		file->size += (uint64_t)n;
		at += (uint64_t)n;
	}
#else
	(void)file;
	(void)stream;
#endif
	return at;
}

enum ws_status wsi_outfile_append_scratch(struct wsi_outfile *file, struct wsi_scratch *scratch,
					  struct ws_error *err)
{
	struct wsi_stream *stream = &scratch->stream;
	if (stream->fd < 0)
		return wsi_outfile_append(file, stream->buffer, stream->used, err);
	if (!stream_flush(stream))
		return wsi_fail_errno(err, "cannot write a scratch file");
	for (uint64_t at = copy_inside(file, stream, 0); at < stream->total;) {
		ssize_t n = pread(stream->fd, stream->buffer, BUFFER, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return wsi_fail_errno(err, "cannot read a scratch file");
		enum ws_status st = wsi_outfile_append(file, stream->buffer, (size_t)n, err);
		if (st != WS_OK)
			return st;
		at += (uint64_t)n;
	}
	return WS_OK;
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
	uLong crc = crc32_combine(crc32(crc32(0, NULL, 0), head, (uInt)n), file->crc,
				  (z_off_t)(file->size - n));
	put_le(trailer, crc, 4);
	put_le(trailer + 4, file->size, 4);
	file->z.avail_in = 0;
	if (!pack(file, Z_FINISH) || !stream_append(&file->stream, trailer, sizeof trailer) ||
	    !stream_flush(&file->stream) || lseek(file->stream.fd, 0, SEEK_SET) != 0)
		return false;
	return ws_write_fd(&file->stream.fd, (const char *)start, sizeof start) &&
	       ws_write_fd(&file->stream.fd, head, n);
}

static bool plain_finish(struct wsi_outfile *file, const void *head)
{
	return stream_flush(&file->stream) && lseek(file->stream.fd, 0, SEEK_SET) == 0 &&
	       ws_write_fd(&file->stream.fd, head, file->options.head_bytes);
}

enum ws_status wsi_outfile_commit(struct wsi_outfile *file, const void *head, struct ws_error *err)
{
	bool good = file->options.gzip ? gzip_finish(file, head) : plain_finish(file, head);
	mode_t mask = umask(0);
	umask(mask);
	if (!good || fchmod(file->stream.fd, 0666 & ~mask) != 0)
		return fail_write(file, err);
	int fd = file->stream.fd;
	file->stream.fd = -1;
	if (close(fd) != 0 || rename(file->temporary, file->path) != 0)
		return fail_write(file, err);
	wsi_free(file->temporary);
	file->temporary = NULL;
	return WS_OK;
}

void wsi_outfile_close(struct wsi_outfile *file)
{
	if (!file)
		return;
	stream_fini(&file->stream);
	if (file->temporary)
		(void)unlink(file->temporary);
	if (file->z_ready)
		(void)deflateEnd(&file->z);
	wsi_free(file->packed);
	wsi_free(file->temporary);
	wsi_free(file->path);
	wsi_free(file);
}

enum ws_status ws_file_replace(const char *path, struct ws_span bytes, const char *not_over,
			       struct ws_error *err)
{
	struct wsi_outfile *file;
	struct wsi_outfile_options options = { .not_over = not_over };
	enum ws_status st = wsi_outfile_open(path, &options, &file, err);
	if (st != WS_OK)
		return st;
	st = wsi_outfile_append(file, bytes.ptr, bytes.len, err);
	if (st == WS_OK)
		st = wsi_outfile_commit(file, NULL, err);
	wsi_outfile_close(file);
	return st;
}
