/* SPDX-License-Identifier: Apache-2.0 */
/* Taking folders out of source paths, byte for byte: nothing changes its length. */
#ifndef WSI_WRITE_PATHS_H
#define WSI_WRITE_PATHS_H

#include "base/base.h"

/*
 * Replaces the letters and digits of folders by "x"; the last name stays when `has_file`, or when
 * it looks like a source file's. Folders that rules of data/library-paths.txt name stay. True when
 * something changed.
 */
bool wsi_path_scrub(char *path, size_t len, bool has_file);

/* The same for everything that looks like a path in bytes of which nothing is known. Returns how
 * many changed. */
uint64_t wsi_paths_scrub(uint8_t *bytes, size_t len);

#endif
