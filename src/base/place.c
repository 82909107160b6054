/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#define WSI_BASE_SOURCE
#include "base/place.h"

#include "base/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SELF_BYTES = 32,
	OWNER = 0600,
	SHARED = 0066, /* what others may get; nothing is made executable */
	TRIES = 100,
};

/* What decides on a new file. */
struct terms {
	mode_t mode;
	gid_t groups[2]; /* of the source and of the file that is replaced: whose permissions */
	unsigned n_groups;
};

/* ---- what it may be ---- */

static bool source_stat(const char *source, struct stat *ret_stat)
{
	if (!source)
		return false;
	return (strcmp(source, "-") == 0 ? fstat(STDIN_FILENO, ret_stat)
					 : stat(source, ret_stat)) == 0 &&
	       S_ISREG(ret_stat->st_mode);
}

/* Whether `path` may become the new file, and with which permissions. */
static enum ws_status terms_find(const char *path, const char *source, struct terms *ret_terms,
				 struct ws_error *err)
{
	struct stat there, from;
	*ret_terms = (struct terms){ .mode = OWNER };
	bool has_source = source_stat(source, &from);
	if (has_source) {
		ret_terms->mode |= from.st_mode & SHARED;
		ret_terms->groups[ret_terms->n_groups++] = from.st_gid;
	}
	if (stat(path, &there) != 0)
		return errno == ENOENT || errno == ENOTDIR ? WS_OK
							   : wsi_fail_errno(err, "%s", path);
	if (!S_ISREG(there.st_mode))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"%s: is not a regular file, and nothing else can be written", path);
	if (has_source && from.st_dev == there.st_dev && from.st_ino == there.st_ino)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"%s: is the input; choose another name for the output", path);
	ret_terms->mode &= (there.st_mode & SHARED) | OWNER;
	ret_terms->groups[ret_terms->n_groups++] = there.st_gid;
	return WS_OK;
}

/* In another group than theirs, the group gets no more than everybody. */
static bool group_settle(int fd, const struct terms *terms)
{
	struct stat made;
	if (fstat(fd, &made) != 0)
		return false;
	bool same = true;
	for (unsigned i = 0; i < terms->n_groups; i++)
		same &= terms->groups[i] == made.st_gid;
	mode_t others = made.st_mode & 0006, mode = made.st_mode & 0777;
	mode_t settled = mode & (OWNER | others << 3 | others);
	return same || settled == mode || fchmod(fd, settled) == 0;
}

/* ---- without a name ---- */

#ifdef O_TMPFILE
static bool self_format(char self[SELF_BYTES], int fd)
{
	return wsi_format_(self, SELF_BYTES, "/proc/self/fd/%d", fd);
}
#endif

/* A file without a name in the folder of `path`, which can get one; -1 where that cannot be had. */
static int nameless_make(const char *path, mode_t mode)
{
#ifdef O_TMPFILE
	const char *slash = strrchr(path, '/');
	char *folder = wsi_strdup(slash ? path : "."), self[SELF_BYTES];
	if (!folder)
		return -1;
	if (slash)
		folder[slash == path ? 1 : slash - path] = 0;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	wsi_free(folder);
	if (fd >= 0 && (!self_format(self, fd) || access(self, F_OK) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
#else
	(void)path;
	(void)mode;
	return -1;
#endif
}

/* Gives a file without a name one that must be free; false: see errno. */
static bool nameless_link(int fd, const char *name)
{
#ifdef O_TMPFILE
	char self[SELF_BYTES];
	return self_format(self, fd) &&
	       linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
#else
	(void)fd;
	(void)name;
	errno = ENOSYS;
	return false;
#endif
}

/* ---- under a temporary name ---- */

static bool temporary_link(struct wsi_place *place, mode_t mode)
{
	(void)mode;
	return nameless_link(place->fd, place->temporary);
}

static bool temporary_make(struct wsi_place *place, mode_t mode)
{
	place->fd =
		open(place->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return place->fd >= 0;
}

/* Names one after the other, until `take` gets one that is free. False: see errno. */
static bool temporary_find(struct wsi_place *place, mode_t mode,
			   bool (*take)(struct wsi_place *place, mode_t mode))
{
	size_t len = strlen(place->path), size = len + 8;
	place->temporary = wsi_zalloc(size);
	if (!place->temporary) {
		errno = ENOMEM;
		return false;
	}
	unsigned number = (unsigned)getpid();
	for (unsigned tries = 0; tries < TRIES; tries++, number += 7919) {
		snprintf(place->temporary, size, "%s.%06x", place->path, number & 0xffffff);
		if (take(place, mode))
			return true;
		if (errno != EEXIST)
			break;
	}
	int why = errno;
	wsi_free(place->temporary);
	place->temporary = NULL;
	errno = why;
	return false;
}

/* ---- the whole ---- */

static enum ws_status open_here(struct wsi_place *place, const char *source, struct ws_error *err)
{
	struct terms terms;
	enum ws_status st = terms_find(place->path, source, &terms, err);
	if (st != WS_OK)
		return st;
	place->fd = nameless_make(place->path, terms.mode);
	if (place->fd < 0 && !temporary_find(place, terms.mode, temporary_make))
		return errno == ENOMEM ? wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s",
						  place->path)
				       : wsi_fail_errno(err, "%s", place->path);
	return group_settle(place->fd, &terms) ? WS_OK : wsi_fail_errno(err, "%s", place->path);
}

enum ws_status wsi_place_open(const char *path, const char *source, struct wsi_place *ret_place,
			      struct ws_error *err)
{
	*ret_place = (struct wsi_place){ .fd = -1, .path = wsi_strdup(path) };
	if (!ret_place->path)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s", path);
	ret_place->is_kept = wsi_broker_active();
	enum ws_status st = ret_place->is_kept ? wsi_broker_place(path, source, &ret_place->fd, err)
					       : open_here(ret_place, source, err);
	if (st != WS_OK)
		wsi_place_close(ret_place);
	return st;
}

bool wsi_place_commit(struct wsi_place *place)
{
	int fd = place->fd;
	if (place->is_kept) {
		place->fd = -1;
		return close(fd) == 0 && wsi_broker_commit();
	}
	bool named = !place->temporary && nameless_link(fd, place->path);
	if (!named && !place->temporary &&
	    (errno != EEXIST || !temporary_find(place, 0, temporary_link)))
		return false;
	place->fd = -1;
	if (close(fd) != 0 || (!named && rename(place->temporary, place->path) != 0))
		return false;
	wsi_free(place->temporary);
	place->temporary = NULL;
	return true;
}

void wsi_place_close(struct wsi_place *place)
{
	if (place->fd >= 0) {
		close(place->fd);
		if (place->is_kept)
			wsi_broker_drop();
	}
	if (place->temporary)
		(void)unlink(place->temporary);
	wsi_free(place->temporary);
	wsi_free(place->path);
	*place = (struct wsi_place){ .fd = -1 };
}
