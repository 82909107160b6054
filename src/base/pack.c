/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file, packed on its way to somebody. */
#define WSI_BASE_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

enum { PACK_CHUNK = 1 << 18 };

/* Hands on what deflate() makes of what it has; `flush`: of all. */
static bool pack_drain(z_stream *z, int flush, uint8_t *room, ws_write_fn *write, void *user)
{
	int rc = Z_OK;
	do {
		z->next_out = room;
		z->avail_out = PACK_CHUNK;
		rc = deflate(z, flush);
		if (!write(user, (const char *)room, PACK_CHUNK - z->avail_out))
			return false;
	} while (z->avail_out == 0 && rc != Z_STREAM_END);
	return true;
}

static enum ws_status pack_all(int fd, z_stream *z, uint8_t *room, ws_write_fn *write, void *user,
			       const char *path, struct ws_error *err)
{
	ssize_t n;
	do {
		n = read(fd, room, PACK_CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wsi_fail_errno(err, "%s", path);
		z->next_in = room;
		z->avail_in = (unsigned)n;
		if (!pack_drain(z, n == 0 ? Z_FINISH : Z_NO_FLUSH, room + PACK_CHUNK, write, user))
			return wsi_fail_errno(err, "%s: packing", path);
	} while (n != 0);
	return WS_OK;
}

enum ws_status ws_file_pack(const char *path, ws_write_fn *write, void *user, struct ws_error *err)
{
	enum { GZIP = 15 + 16, MEMORY = 8 }; /* the largest window, in gzip's form */
	z_stream z = { 0 };
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return wsi_fail_errno(err, "%s", path);
	uint8_t *room = wsi_zalloc(2 * PACK_CHUNK);
	enum ws_status st = WS_NO_MEMORY;
	if (room &&
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) {
		st = pack_all(fd, &z, room, write, user, path, err);
		(void)deflateEnd(&z);
	} else {
		wsi_fail(err, st, WS_NO_OFFSET, "%s: packing", path);
	}
	wsi_free(room);
	close(fd);
	return st;
}
