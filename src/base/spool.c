/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that cannot be mapped as they are: streams and compressed data. They are unpacked once,
 * into a file without a name, which is then mapped like any other; where that would be too much,
 * only the places are kept from which they can be unpacked again (seek.h).
 *
 * Where the unpacked bytes go: into memory of the kernel (memfd) while they are few, and into an
 * unlinked file in $TMPDIR (else /var/tmp) once they are many or where there is no memfd. Most of a
 * dump's memory is zero, and so is what a hostile file claims to hold: zeros are left out as holes,
 * and cost nothing but the time to unpack them (docs/decisions/0052-bounded-cost.md).
 */
#ifdef __linux__
#define _GNU_SOURCE /* memfd_create */
#endif
#define WSI_BASE_SOURCE
#include "base/file.h"

#include "base/seek.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#if WSI_HAVE_ZSTD
#include <zstd.h>
#endif

#define DEFAULT_LIMIT (UINT64_C(64) << 30)
#define MEMORY_LIMIT (UINT64_C(64) << 20) /* more that is stored moves into a file */
#ifdef __EMSCRIPTEN__                     /* where files are in memory too */
#define STORED_LIMIT MEMORY_LIMIT
#else
#define STORED_LIMIT (UINT64_C(1) << 30)
#endif
#define MOST_GAP (UINT64_C(256) << 20)    /* to unpack for a byte in the middle */
#define PROGRESS_STEP (UINT64_C(4) << 20) /* input and output bytes between two calls */
#define ENOUGH_SLACK (UINT64_C(1) << 20)  /* unpacked beyond what is enough: the stream's end */

enum {
	CHUNK = 256 * 1024,
	RELEASE_STEP = 64 * CHUNK, /* of a mapped input */
	HOLE = 4096,               /* so many zeros are left out */
	PACKING_BYTES = 4,
	WRITER_WAIT_MS = 5000,
};

struct spool {
	const char *path;
	struct wsi_file_options options;
	/* input: a source, or a descriptor */
	int in_fd;
	struct wsi_file *file; /* NULL: a descriptor; empty when its bytes are not stored */
	struct wsi_seek *seek; /* owned; NULL: it can only be read once */
	bool is_stored;        /* the unpacked bytes are in `out_fd` */
	struct ws_span first;  /* read from the descriptor before */
	uint8_t *buffer;       /* owned */
	const uint8_t *in;
	size_t in_left;
	uint64_t bytes_in, total_in; /* handed out so far; 0 when the whole is unknown */
	bool at_end;
	/* output */
	int out_fd; /* owned */
	bool out_in_memory;
	uint64_t bytes_out, bytes_stored, next_progress;
	uint64_t next_need; /* ask `needs` again at so many bytes */
	bool is_enough;
	uint8_t *out; /* owned: CHUNK bytes */
};

/* ---- where it goes ---- */

static int memory_file(void)
{
#ifdef __linux__
	return memfd_create("warpscope", MFD_CLOEXEC);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Writes at the end of `fd`, and adds to *stored what is no hole. */
static bool put_spooled(int fd, const uint8_t *bytes, size_t n, uint64_t *stored)
{
	while (n > 0) {
		const size_t block = n < HOLE ? n : HOLE;
		const bool hole = n >= HOLE && is_zero(bytes, HOLE);
		size_t len = block;
		while (n - len >= HOLE && is_zero(bytes + len, HOLE) == hole)
			len += HOLE;
		len = hole || n - len >= HOLE ? len : n;
		if (hole ? lseek(fd, (off_t)len, SEEK_CUR) < 0
			 : !ws_write_fd(&fd, (const char *)bytes, len))
			return false;
		*stored += hole ? 0 : len;
		bytes += len;
		n -= len;
	}
	return true;
}

/* Moves what is in memory into a file. Staying in memory is no failure. */
static bool move_to_file(struct spool *s)
{
	int fd = wsi_file_temporary();
	s->out_in_memory = false;
	if (fd < 0)
		return true;
	if (ftruncate(s->out_fd, (off_t)s->bytes_out) != 0) { /* it may end with a hole */
		close(fd);
		return false;
	}
	for (uint64_t at = 0; at < s->bytes_out;) {
		ssize_t n = pread(s->out_fd, s->out, CHUNK, (off_t)at);
		uint64_t stored = 0;
		if (n <= 0 || !put_spooled(fd, s->out, (size_t)n, &stored)) {
			close(fd);
			return false;
		}
		at += (uint64_t)n;
	}
	close(s->out_fd);
	s->out_fd = fd;
	return true;
}

/* What was unpacked so far. */
static enum ws_status spool_get(struct spool *s, struct wsi_file *ret_file, struct ws_error *err)
{
	if (!s->is_stored) {
		*ret_file = (struct wsi_file){ 0 };
		return wsi_seek_open(s->seek, &s->file->source, s->bytes_out, &ret_file->source,
				     err);
	}
	if (ftruncate(s->out_fd, (off_t)s->bytes_out) != 0)
		return wsi_fail_errno(err, "%s: cannot store the unpacked bytes", s->path);
	return wsi_file_map(s->out_fd, s->path, ret_file, err);
}

/* Asks whether what there is is enough. */
static enum ws_status spool_ask(struct spool *s, struct ws_error *err)
{
	struct wsi_file so_far;
	enum ws_status st = spool_get(s, &so_far, err);
	if (st != WS_OK)
		return st;
	uint64_t needed = s->options.needs(&so_far.source);
	s->is_enough = needed <= s->bytes_out && s->bytes_out - needed >= ENOUGH_SLACK;
	s->next_need = wsi_max_u64(wsi_add_sat(needed, ENOUGH_SLACK), s->bytes_out + 1);
	wsi_file_close(&so_far);
	return WS_OK;
}

static enum ws_status spool_write(struct spool *s, const uint8_t *bytes, size_t n,
				  struct ws_error *err)
{
	uint64_t limit =
		s->options.max_unpacked_bytes ? s->options.max_unpacked_bytes : DEFAULT_LIMIT;
	if (n > limit - s->bytes_out)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
				"%s: unpacks to more than the limit of %" PRIu64 " bytes", s->path,
				limit);
	if (s->is_stored && !put_spooled(s->out_fd, bytes, n, &s->bytes_stored))
		return wsi_fail_errno(err, "%s: cannot store the unpacked bytes", s->path);
	s->bytes_out += n;
	if (s->is_stored && s->seek &&
	    s->bytes_stored >
		    (s->options.max_stored_bytes ? s->options.max_stored_bytes : STORED_LIMIT) &&
	    wsi_seek_gap(s->seek, s->bytes_out) <= MOST_GAP) {
		s->is_stored = s->out_in_memory = false;
		close(s->out_fd);
		s->out_fd = -1;
	}
	if (s->out_in_memory && s->bytes_stored > MEMORY_LIMIT && !move_to_file(s))
		return wsi_fail_errno(err, "%s: cannot store the unpacked bytes", s->path);
	if (s->options.needs && s->bytes_out >= s->next_need) {
		enum ws_status st = spool_ask(s, err);
		if (st != WS_OK)
			return st;
	}
	if (s->options.progress && s->bytes_in + s->bytes_out >= s->next_progress) {
		s->next_progress = s->bytes_in + s->bytes_out + PROGRESS_STEP;
		if (!s->options.progress(s->options.user, s->bytes_in, s->total_in, s->bytes_out))
			return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "%s: stopped while unpacking",
					s->path);
	}
	return WS_OK;
}

/* ---- where it comes from ---- */

/* Makes the next input available in `in`; `at_end` when there is none, or no need of it. */
static enum ws_status spool_fill(struct spool *s, struct ws_error *err)
{
	if (s->is_enough) {
		s->in_left = 0;
		s->at_end = true;
	}
	if (s->in_left > 0 || s->at_end)
		return WS_OK;
	if (s->file) {
		const struct wsi_input *source = &s->file->source;
		s->in_left = (size_t)wsi_min_u64(source->size - s->bytes_in, CHUNK);
		s->in = s->in_left ? wsi_input_view(source, s->bytes_in, s->in_left, s->buffer)
				   : s->buffer;
		if (!s->in)
			return wsi_fail(err, WS_IO, s->bytes_in,
					"%s: byte %" PRIu64 " of the packed data cannot be read",
					s->path, s->bytes_in);
		if (s->bytes_in % RELEASE_STEP == 0) /* it is not read again soon */
			wsi_file_release(s->file, (size_t)s->bytes_in);
	} else {
		ssize_t n;
		do
			n = read(s->in_fd, s->buffer, CHUNK);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return wsi_fail_errno(err, "%s", s->path);
		s->in = s->buffer;
		s->in_left = (size_t)n;
	}
	s->at_end = s->in_left == 0;
	s->bytes_in += s->in_left;
	return WS_OK;
}

/* Byte of the input that is next. */
static uint64_t in_off(const struct spool *s)
{
	return s->bytes_in - s->in_left;
}

static enum ws_status copy_raw(struct spool *s, struct ws_error *err)
{
	for (;;) {
		enum ws_status st = spool_fill(s, err);
		if (st != WS_OK || s->at_end)
			return st;
		st = spool_write(s, s->in, s->in_left, err);
		if (st != WS_OK)
			return st;
		s->in_left = 0;
	}
}

/* ---- gzip ---- */

/* Between two members: another one, the end, or something else. */
static enum ws_status gzip_next_member(struct spool *s, z_stream *z, struct wsi_file *file,
				       bool *ret_more, struct ws_error *err)
{
	enum ws_status st = spool_fill(s, err);
	*ret_more = false;
	if (st != WS_OK || s->at_end)
		return st;
	if (s->in[0] == 0x1f) {
		*ret_more = inflateReset(z) == Z_OK;
		return WS_OK;
	}
	uint64_t rest = in_off(s);
	bool zeros = true; /* padding of tapes and block devices */
	while (!s->at_end && zeros) {
		for (size_t i = 0; i < s->in_left && zeros; i++)
			zeros = s->in[i] == 0;
		s->in_left = 0;
		st = spool_fill(s, err);
		if (st != WS_OK)
			return st;
	}
	if (!zeros) {
		file->has_rest = true;
		file->packed_off = rest;
	}
	return WS_OK;
}

static enum ws_status gzip_run(struct spool *s, z_stream *z, struct wsi_file *file,
			       struct ws_error *err)
{
	for (;;) {
		enum ws_status st = spool_fill(s, err);
		if (st != WS_OK)
			return st;
		if (s->at_end) {
			file->is_cut = !s->is_enough;
			file->packed_off = in_off(s);
			return WS_OK;
		}
		z->next_in = (z_const Bytef *)(uintptr_t)s->in;
		z->avail_in = (uInt)s->in_left;
		z->next_out = s->out;
		z->avail_out = CHUNK;
		int rc = inflate(z, Z_NO_FLUSH);
		s->in += s->in_left - z->avail_in;
		s->in_left = z->avail_in;
		st = spool_write(s, s->out, CHUNK - z->avail_out, err);
		if (st != WS_OK)
			return st;
		if (rc == Z_OK && s->seek)
			wsi_seek_offer(s->seek, z, in_off(s), s->bytes_out);
		if (rc == Z_STREAM_END) {
			bool more;
			st = gzip_next_member(s, z, file, &more, err);
			if (st != WS_OK || !more)
				return st;
		} else if (rc == Z_MEM_ERROR) {
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s: unpacking gzip",
					s->path);
		} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			file->is_damaged = true;
			file->packed_off = in_off(s);
			return WS_OK;
		}
	}
}

static enum ws_status gunzip(struct spool *s, struct wsi_file *file, struct ws_error *err)
{
	z_stream z = { 0 };
	if (inflateInit2(&z, 15 + 16) != Z_OK) /* 15: any window; 16: gzip format only */
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s: unpacking gzip", s->path);
	enum ws_status st = gzip_run(s, &z, file, err);
	inflateEnd(&z);
	return st;
}

/* ---- zstd ---- */

#if WSI_HAVE_ZSTD
static enum ws_status zstd_run(struct spool *s, ZSTD_DStream *z, struct wsi_file *file,
			       struct ws_error *err)
{
	size_t hint = 1; /* 0: a frame has ended and nothing of the next was seen */
	for (;;) {
		enum ws_status st = spool_fill(s, err);
		if (st != WS_OK)
			return st;
		if (s->at_end) {
			file->is_cut = hint != 0 && !s->is_enough;
			file->packed_off = in_off(s);
			return WS_OK;
		}
		ZSTD_inBuffer in = { s->in, s->in_left, 0 };
		ZSTD_outBuffer out = { s->out, CHUNK, 0 };
		hint = ZSTD_decompressStream(z, &out, &in);
		s->in += in.pos;
		s->in_left -= in.pos;
		st = spool_write(s, s->out, out.pos, err);
		if (st != WS_OK)
			return st;
		if (hint == 0 && s->seek)
			wsi_seek_offer(s->seek, NULL, in_off(s), s->bytes_out);
		if (ZSTD_isError(hint)) {
			file->is_damaged = true;
			file->packed_off = in_off(s);
			return WS_OK;
		}
	}
}

static enum ws_status unzstd(struct spool *s, struct wsi_file *file, struct ws_error *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	if (!z)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s: unpacking zstd", s->path);
	enum ws_status st = zstd_run(s, z, file, err);
	ZSTD_freeDStream(z);
	return st;
}
#else
#define unzstd NULL
#endif

/* ---- putting it together ---- */

/* How a file is packed. */
struct spool_packing {
	const char *name;
	const char *magic; /* its first bytes, at most PACKING_BYTES */
	/* NULL: nothing here unpacks it. */
	enum ws_status (*unpack)(struct spool *s, struct wsi_file *file, struct ws_error *err);
};

static const struct spool_packing packings[] = {
	{ "gzip", "\x1f\x8b\x08", gunzip },  { "zstd", "\x28\xb5\x2f\xfd", unzstd },
	{ "xz", "\xfd\x37\x7a\x58", NULL },  { "bzip2", "BZh9", NULL },
	{ "lz4", "\x04\x22\x4d\x18", NULL }, { "zip", "PK\x03\x04", NULL },
};

/* NULL: it is plain. */
static const struct spool_packing *packing_of(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < WSI_COUNT(packings); i++) {
		const size_t len = strlen(packings[i].magic);
		if (n >= len && memcmp(bytes, packings[i].magic, len) == 0)
			return &packings[i];
	}
	return NULL;
}

static enum ws_status unpack(struct spool *s, struct wsi_file *file, struct ws_error *err)
{
	const struct spool_packing *packing = packing_of(s->in, s->in_left);
	if (!packing)
		return copy_raw(s, err);
	if (!packing->unpack)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"%s: compressed with %s, which this build cannot read; unpack it "
				"first",
				s->path, packing->name);
	file->packing = packing->name;
	if (s->file && s->options.in_windows) {
		s->seek = wsi_seek_create(packing->unpack == unzstd);
		if (!s->seek)
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", s->path);
	}
	return packing->unpack(s, file, err);
}

/* A pipe may hand out its first bytes one by one; telling what it is needs a few. */
static enum ws_status first_fill(struct spool *s, struct ws_error *err)
{
	if (s->file)
		return spool_fill(s, err);
	size_t have = s->first.len;
	if (have > 0)
		memcpy(s->buffer, s->first.ptr, have);
	while (have < PACKING_BYTES) {
		ssize_t n = read(s->in_fd, s->buffer + have, CHUNK - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wsi_fail_errno(err, "%s", s->path);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	s->in = s->buffer;
	s->in_left = have;
	s->bytes_in = have;
	s->at_end = have == 0;
	return WS_OK;
}

static enum ws_status spool_run(struct spool *s, struct wsi_file *ret_file, struct ws_error *err)
{
	struct wsi_file about = { 0 }, file;
	s->out = wsi_zalloc(CHUNK);
	s->buffer = wsi_zalloc(CHUNK);
	if (!s->out || !s->buffer)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", s->path);
	if (s->options.needs)
		s->next_need = 1;
	s->is_stored = true;
	s->out_fd = memory_file();
	s->out_in_memory = s->out_fd >= 0;
	if (s->out_fd < 0)
		s->out_fd = wsi_file_temporary();
	if (s->out_fd < 0)
		return wsi_fail_errno(err, "%s: no place for the unpacked bytes", s->path);
	enum ws_status st = first_fill(s, err);
	if (st != WS_OK)
		return st;
	st = unpack(s, &about, err);
	if (st != WS_OK)
		return st;
	if (s->bytes_out == 0 && about.is_damaged)
		return wsi_fail(err, WS_MALFORMED, about.packed_off,
				"%s: damaged %s data: nothing can be unpacked", s->path,
				about.packing);
	if (s->bytes_out == 0 && about.is_cut)
		return wsi_fail(err, WS_TRUNCATED, about.packed_off,
				"%s: %s data that ends before its first byte", s->path,
				about.packing);
	if (s->is_stored) {
		st = spool_get(s, &file, err);
	} else {
		file = (struct wsi_file){ 0 };
		st = wsi_seek_finish(WSI_TAKE(s->seek), s->file, s->bytes_out, &file.source, err);
	}
	if (st != WS_OK)
		return st;
	about.is_enough = s->is_enough;
	about.bytes = file.bytes;
	about.source = file.source;
	about.mapping = file.mapping;
	*ret_file = about;
	return WS_OK;
}

/* `packed`: the whole input, which may be taken over, or NULL; then `fd`, of which `first` was read
 * already. */
static enum ws_status spool(struct wsi_file *packed, int fd, struct ws_span first, const char *path,
			    const struct wsi_file_options *options, struct wsi_file *ret_file,
			    struct ws_error *err)
{
	struct spool s = { .path = path,
			   .in_fd = fd,
			   .file = packed,
			   .first = first,
			   .total_in = packed ? packed->source.size : 0,
			   .out_fd = -1 };
	if (options)
		s.options = *options;
	enum ws_status st = spool_run(&s, ret_file, err);
	if (s.out_fd >= 0)
		close(s.out_fd);
	wsi_seek_destroy(s.seek);
	wsi_free(s.buffer);
	wsi_free(s.out);
	return st;
}

/*
 * A FIFO that was opened without waiting: gives a writer time to come. One that is there may take
 * as long as it likes to write. *ret_n is 1 when a byte was read.
 */
static enum ws_status fifo_wait(int fd, const char *path, uint8_t *ret_byte, size_t *ret_n,
				struct ws_error *err)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int flags = fcntl(fd, F_GETFL), n;
	ssize_t got = -1;
	*ret_n = 0;
	do
		n = poll(&one, 1, WRITER_WAIT_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		got = read(fd, ret_byte, 1);
	if (got == 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"%s: is a FIFO that nobody writes to", path);
	*ret_n = got == 1;
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return wsi_fail_errno(err, "%s", path);
	return WS_OK;
}

/* What a file holds, as it is or unpacked; `file` is taken over. */
static enum ws_status finish_file(struct wsi_file *file, const char *path,
				  const struct wsi_file_options *options, struct wsi_file *ret_file,
				  struct ws_error *err)
{
	uint8_t first[PACKING_BYTES];
	size_t n = (size_t)wsi_min_u64(file->source.size, sizeof first);
	const uint8_t *at = n ? wsi_input_view(&file->source, 0, n, first) : NULL;
	if (!at || !packing_of(at, n)) {
		*ret_file = *file;
		return WS_OK;
	}
	enum ws_status st = spool(file, -1, (struct ws_span){ 0 }, path, options, ret_file, err);
	wsi_file_close(file);
	return st;
}

/* A regular file, for which there may be no room in the address space. */
static enum ws_status open_regular(int fd, const char *path, const struct wsi_file_options *options,
				   struct wsi_file *ret_file, struct ws_error *err)
{
	struct ws_error why;
	enum ws_status st = wsi_file_map(fd, path, ret_file, &why);
	bool no_room = st == WS_LIMIT || (st == WS_IO && why.os_errno == ENOMEM);
	if (no_room && options && options->in_windows) {
		int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return own < 0 ? wsi_fail_errno(err, "%s", path)
			       : wsi_file_windows(own, path, ret_file, err);
	}
	if (st != WS_OK && err)
		*err = why;
	return st;
}

static enum ws_status open_fd(int fd, const char *path, const struct wsi_file_options *options,
			      struct wsi_file *ret_file, struct ws_error *err)
{
	struct stat about;
	if (fstat(fd, &about) != 0)
		return wsi_fail_errno(err, "%s", path);
	if (S_ISCHR(about.st_mode))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s: is a device, not a file",
				path);
	uint8_t byte;
	struct ws_span first = { &byte, 0, 0 };
	struct wsi_file file;
	enum ws_status st = WS_OK;
	if (S_ISFIFO(about.st_mode) && (fcntl(fd, F_GETFL) & O_NONBLOCK))
		st = fifo_wait(fd, path, &byte, &first.len, err);
	if (st != WS_OK)
		return st;
	bool at_start = S_ISREG(about.st_mode) && lseek(fd, 0, SEEK_CUR) == 0;
	if (!at_start && !S_ISDIR(about.st_mode))
		return spool(NULL, fd, first, path, options, ret_file, err);
	st = open_regular(fd, path, options, &file, err);
	return st == WS_OK ? finish_file(&file, path, options, ret_file, err) : st;
}

enum ws_status wsi_file_open_input(struct wsi_input *source, const char *path,
				   const struct wsi_file_options *options,
				   struct wsi_file *ret_file, struct ws_error *err)
{
	struct wsi_file file = { .source = *source };
	enum ws_status st = finish_file(&file, path, options, ret_file, err);
	*source = (struct wsi_input){ 0 };
	return st;
}

enum ws_status wsi_file_open_any(const char *path, const struct wsi_file_options *options,
				 struct wsi_file *ret_file, struct ws_error *err)
{
	if (strcmp(path, "-") == 0)
		return open_fd(STDIN_FILENO, "standard input", options, ret_file, err);
	int fd = wsi_file_descriptor(path);
	if (fd < 0)
		return wsi_fail_errno(err, "%s", path);
	enum ws_status st = open_fd(fd, path, options, ret_file, err);
	close(fd);
	return st;
}
