/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_LIBRARY_H
#define WSI_LIBRARY_H

#include "base/base.h"

/* Whether a source path lies in a folder of library code (data/library-paths.txt). */
bool wsi_library_path(struct ws_str path);

#endif
