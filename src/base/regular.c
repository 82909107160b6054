/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* syscall */
#endif
#define WSI_BASE_SOURCE
#include "base/regular.h"

#include "base/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif
#endif

/* realpath() into the caller's room; false when there is no such file, or its path is longer. */
static bool resolve(const char *path, char real[WSI_REGULAR_PATH])
{
	char *found = realpath(path, NULL);
	bool fits = found && strlen(found) < WSI_REGULAR_PATH;
	if (fits)
		memcpy(real, found, strlen(found) + 1);
	free(found);
	return fits;
}

/* Whether one resolved path lies below another. */
static bool is_resolved_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	if (len > 0 && folder[len - 1] == '/') /* the root */
		len--;
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

enum ws_status wsi_regular_find(const char *folder, const char *name, struct wsi_regular *ret_file)
{
	char joined[2 * WSI_REGULAR_PATH], root[WSI_REGULAR_PATH];
	struct stat st;
	if (!folder && !resolve(name, ret_file->path))
		return WS_ABSENT;
	if (folder && (!resolve(folder, root) || !wsi_format(joined, "%s/%s", root, name) ||
		       !resolve(joined, ret_file->path)))
		return WS_ABSENT;
	if (folder && !is_resolved_below(ret_file->path, root))
		return WS_EXCLUDED;
	if (lstat(ret_file->path, &st) != 0)
		return WS_ABSENT;
	if (!S_ISREG(st.st_mode))
		return WS_UNSUPPORTED;
	ret_file->size = (uint64_t)st.st_size;
	ret_file->mtime = st.st_mtime < 0 ? 0 : (uint64_t)st.st_mtime;
	return WS_OK;
}

bool wsi_regular_is_below(const struct wsi_regular *file, const char *folder)
{
	char root[WSI_REGULAR_PATH];
	return resolve(folder, root) && strcmp(root, "/") != 0 &&
	       is_resolved_below(file->path, root);
}

/* What the names of sources end in; warpscope-report(1) lists them too. */
static const char *const suffixes[] = {
	"cu",  "cuh", "c",   "cc",  "cpp", "cxx", "c++", "h",   "hh", "hpp",  "hxx",
	"h++", "inl", "inc", "ipp", "tcc", "tpp", "hip", "cl",  "py", "pyx",  "jl",
	"rs",  "f",   "for", "f90", "f95", "f03", "cuf", "ptx", "ll", "mlir",
};

bool wsi_regular_is_source(const char *path)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	if (!dot || (slash && dot < slash))
		return false;
	for (size_t i = 0; i < WSI_COUNT(suffixes); i++) {
		if (strcasecmp(dot + 1, suffixes[i]) == 0)
			return true;
	}
	return false;
}

/* By way of the broker, which follows links: it must have come out where it was asked to. */
static int open_by_broker(const char *path)
{
	char self[32], real[WSI_REGULAR_PATH];
	int fd = wsi_broker_read(path);
	ssize_t len = fd >= 0 && wsi_format(self, "/proc/self/fd/%d", fd)
			      ? readlink(self, real, sizeof real)
			      : -1;
	if (fd >= 0 && (len != (ssize_t)strlen(path) || memcmp(real, path, (size_t)len) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens a resolved path, in which nothing may have become a symbolic link. Without openat2() that
 * is sure of its last name only. */
static int open_resolved(const char *path)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
#if defined(RESOLVE_NO_SYMLINKS) && defined(SYS_openat2)
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
		return (int)fd;
#endif
	int descriptor = open(path, flags);
	return descriptor < 0 && errno == EACCES && wsi_broker_active() ? open_by_broker(path)
									: descriptor;
}

static enum ws_status read_all_bytes(int fd, char *bytes, size_t len, size_t *ret_len)
{
	size_t n = 0;
	while (n < len) {
		ssize_t got = read(fd, bytes + n, len - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return WS_ABSENT;
		if (got == 0)
			break; /* it has become shorter */
		n += (size_t)got;
	}
	*ret_len = n;
	return WS_OK;
}

enum ws_status wsi_regular_read(const struct wsi_regular *file, size_t max_bytes, char **ret_bytes,
				size_t *ret_len)
{
	struct stat st;
	*ret_bytes = NULL;
	*ret_len = 0;
	if (file->size > max_bytes)
		return WS_LIMIT;
	int fd = open_resolved(file->path);
	if (fd < 0)
		return WS_ABSENT;
	enum ws_status status = WS_OK;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != file->size)
		status = WS_ABSENT;
	if (status == WS_OK && file->size > 0) {
		*ret_bytes = wsi_zalloc((size_t)file->size);
		status = *ret_bytes ? read_all_bytes(fd, *ret_bytes, (size_t)file->size, ret_len)
				    : WS_NO_MEMORY;
	}
	if (status != WS_OK) {
		wsi_free(*ret_bytes);
		*ret_bytes = NULL;
	}
	close(fd);
	return status;
}
