/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_LIBRARY_H
#define WSI_LIBRARY_H

#include "base/base.h"

/* Whether a source path lies in a folder of library code (data/library-paths.txt). */
bool wsi_library_path(struct ws_str path);
/* Whether a name fits a pattern, in which "*" is any number of characters. */
bool wsi_name_matches(struct ws_str name, struct ws_str pattern);

#endif
