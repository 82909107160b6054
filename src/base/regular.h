/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading files that an input names: without waiting, only regular files, and none outside a
 * folder.
 */
#ifndef WSI_REGULAR_H
#define WSI_REGULAR_H

#include "base/base.h"

enum { WSI_REGULAR_PATH = 4096 };

struct wsi_regular {
	char path[WSI_REGULAR_PATH]; /* absolute, without symbolic links */
	uint64_t size;
	uint64_t mtime; /* seconds since 1970 */
};

/*
 * Finds the regular file `name`: below `folder`, where every symbolic link and ".." has to stay, or
 * anywhere when `folder` is NULL. Opens nothing.
 *
 * WS_ABSENT: there is none. WS_EXCLUDED: it lies outside the folder. WS_UNSUPPORTED: it is a
 * folder, a FIFO, a device, ...
 */
enum ws_status wsi_regular_find(const char *folder, const char *name,
				struct wsi_regular *ret_file) WS_MUST_USE;

/* Whether the name ends as that of a source does, which may be shown; case does not matter. */
bool wsi_regular_is_source(const char *path);

/* Whether it lies below a folder other than the root. */
bool wsi_regular_is_below(const struct wsi_regular *file, const char *folder);

/*
 * Reads what was found into new memory, `*ret_bytes` (wsi_free() it; NULL when empty). A file that
 * was put in its place since, behind a link or of another kind, is not read.
 *
 * WS_ABSENT: it is gone, or may not be read. WS_LIMIT: it has more than `max_bytes`. WS_NO_MEMORY.
 */
enum ws_status wsi_regular_read(const struct wsi_regular *file, size_t max_bytes, char **ret_bytes,
				size_t *ret_len) WS_MUST_USE;

#endif
