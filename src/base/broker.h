/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process beside the sandboxed one (base/sandbox.h), which does what that one may not do, if the
 * user asked for it:
 *
 *   - opens a regular file for reading, whose name ends as that of a source does, or which lies in
 *     a folder that the user named; links are followed before that is decided;
 *   - makes a file without a name for what does not fit into memory;
 *   - makes the output that the user named, and gives it its name when it is complete.
 *
 * It is forked before any input is read, and ends with its parent. The two speak through a socket;
 * files cross it as descriptors.
 */
#ifndef WSI_BROKER_H
#define WSI_BROKER_H

#include "base/base.h"

struct wsi_broker_terms {
	const char *const *folders; /* files below may be read */
	size_t n_folders;
	const char *const *outputs; /* may be written */
	size_t n_outputs;
	const char *output_folder; /* files below may be read and written; NULL: none */
};

/* False where that cannot be had; then nothing has changed. */
bool wsi_broker_start(const struct wsi_broker_terms *terms) WS_MUST_USE;
bool wsi_broker_active(void);

/* Each returns -1, or false, with errno; EACCES: the broker does not do that. */
int wsi_broker_read(const char *path);
int wsi_broker_temporary(void);
enum ws_status wsi_broker_folder(const char *path,
				 struct ws_error *err) WS_MUST_USE; /* for the file `path` */
/* base/place.h; one at a time. */
enum ws_status wsi_broker_place(const char *path, const char *source, int *ret_fd,
				struct ws_error *err) WS_MUST_USE;
bool wsi_broker_commit(void) WS_MUST_USE;
void wsi_broker_drop(void);

#endif
