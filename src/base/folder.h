/* SPDX-License-Identifier: Apache-2.0 */
/* Folders: walking them, making them. */
#ifndef WSI_FOLDER_H
#define WSI_FOLDER_H

#include "base/base.h"

enum { WSI_FOLDER_DEPTH = 32 }; /* levels that a walk goes down; deeper ones are passed over */

/* Takes the path of a regular file; returns a failure to stop the walk with it. */
typedef enum ws_status wsi_folder_take_fn(void *user, const char *path, struct ws_error *err);

/*
 * All regular files in a folder and the folders in it, each folder's in the order of their names.
 * Links to files are taken, links to folders are not followed. A folder inside that cannot be read
 * is passed over; WS_IO only for `path` itself.
 */
enum ws_status wsi_folder_walk(const char *path, wsi_folder_take_fn *take, void *user,
			       struct ws_error *err) WS_MUST_USE;

/* Whether there is a folder at `path`. */
bool wsi_folder_exists(const char *path);

/* Makes the folders that a file's path names; those that exist are fine. */
enum ws_status wsi_folder_make_for(const char *file_path, struct ws_error *err) WS_MUST_USE;

#endif
