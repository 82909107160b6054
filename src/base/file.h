/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input files as spans. What is special to one operating system lives here, behind these functions.
 */
#ifndef WSI_FILE_H
#define WSI_FILE_H

#include "base/base.h"

struct wsi_file {
	struct ws_span bytes; /* owned: the mapping, or memory for what cannot be mapped */
	bool is_mapped;
};

/*
 * Maps a regular file read-only. A directory, a missing file or a refused one is WS_IO with a plain
 * message; an empty file gives an empty span. The file must not shrink while it is mapped: touching
 * lost pages kills the process with SIGBUS, as with every memory-mapped reader.
 */
enum ws_status wsi_file_open(const char *path, struct wsi_file *ret_file,
			     struct ws_error *err) WS_MUST_USE;
/* Leaves it all-zero; may be repeated. */
void wsi_file_close(struct wsi_file *file);

#endif
