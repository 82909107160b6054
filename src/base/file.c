/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* madvise */
#endif
#define WSI_BASE_SOURCE
#include "base/file.h"

#include "base/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum ws_status wsi_file_map(int fd, const char *path, struct wsi_file *ret_file,
			    struct ws_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return wsi_fail_errno(err, "%s", path);
	if (S_ISDIR(st.st_mode))
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "%s: is a directory", path);
	if (!S_ISREG(st.st_mode))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s: is not a regular file",
				path);
	if ((uint64_t)st.st_size > SIZE_MAX)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "%s: too large to map", path);
	size_t len = (size_t)st.st_size;
	if (len == 0) {
		*ret_file = (struct wsi_file){ 0 };
		return WS_OK;
	}
	void *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return wsi_fail_errno(err, "%s: cannot map", path);
	*ret_file = (struct wsi_file){ .bytes = { .ptr = bytes, .len = len }, .mapping = bytes };
	ret_file->source = wsi_input_of(ret_file->bytes);
	return WS_OK;
}

static size_t descriptor_read(void *user, uint64_t off, void *buffer, size_t n)
{
	ssize_t got;
	do
		got = pread((int)(intptr_t)user, buffer, n, (off_t)off);
	while (got < 0 && errno == EINTR);
	return got < 0 ? 0 : (size_t)got;
}

static void descriptor_close(void *user)
{
	close((int)(intptr_t)user);
}

enum ws_status wsi_file_windows(int fd, const char *path, struct wsi_file *ret_file,
				struct ws_error *err)
{
	struct stat about;
	struct wsi_input source;
	struct wsi_window_options options = { .read = descriptor_read,
					      .close = descriptor_close,
					      .user = (void *)(intptr_t)fd };
	enum ws_status st = fstat(fd, &about) == 0 ? WS_OK : wsi_fail_errno(err, "%s", path);
	options.size = st == WS_OK ? (uint64_t)about.st_size : 0;
	if (st == WS_OK)
		st = wsi_input_open(&options, &source, err);
	if (st == WS_OK)
		*ret_file = (struct wsi_file){ .source = source };
	else
		close(fd);
	return st;
}

int wsi_file_descriptor(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not wait for a FIFO */
	return fd < 0 && errno == EACCES && wsi_broker_active() ? wsi_broker_read(path) : fd;
}

enum ws_status wsi_file_open(const char *path, struct wsi_file *ret_file, struct ws_error *err)
{
	int fd = wsi_file_descriptor(path);
	if (fd < 0)
		return wsi_fail_errno(err, "%s", path);
	enum ws_status st = wsi_file_map(fd, path, ret_file, err);
	close(fd);
	return st;
}

void wsi_file_release(const struct wsi_file *file, size_t before)
{
#ifdef MADV_DONTNEED
	const size_t whole = before - before % ((size_t)1 << 16); /* no page is larger */
	if (file->mapping && whole)
		(void)!madvise(file->mapping, whole, MADV_DONTNEED);
#else
	(void)file;
	(void)before;
#endif
}

void wsi_file_close(struct wsi_file *file)
{
	if (file->mapping)
		munmap(file->mapping, file->bytes.len);
	wsi_input_close(&file->source);
	*file = (struct wsi_file){ 0 };
}

int wsi_file_private(const char *path)
{
	struct stat about;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	/* closed to others before it is emptied and anything is written */
	bool good = fstat(fd, &about) == 0;
	if (good && S_ISREG(about.st_mode))
		good = ((about.st_mode & 0177) == 0 || fchmod(fd, about.st_mode & 0600) == 0) &&
		       ftruncate(fd, 0) == 0;
	if (good)
		return fd;
	close(fd);
	return -1;
}

int wsi_file_temporary(void)
{
	if (wsi_broker_active())
		return wsi_broker_temporary();
	const char *places[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	for (size_t i = 0; i < WSI_COUNT(places); i++) {
		char name[4096];
		if (!places[i] || !*places[i] ||
		    !wsi_format(name, "%s/warpscope.XXXXXX", places[i]))
			continue;
		int fd = mkstemp(name);
		if (fd < 0)
			continue;
		(void)unlink(name);
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		return fd;
	}
	return -1;
}
