/* SPDX-License-Identifier: Apache-2.0 */
/* Taking folders out of source paths, byte for byte: nothing changes its length. */
#ifndef WSI_WRITE_PATHS_H
#define WSI_WRITE_PATHS_H

#include "base/base.h"

/*
 * Replaces every byte of the folders of a path by "x", but for separators ("/" and "\"); the last
 * name stays when `has_file`. Folders that rules of data/library-paths.txt name stay. True when
 * something changed.
 */
bool wsi_path_scrub(char *path, size_t len, bool has_file);

#endif
