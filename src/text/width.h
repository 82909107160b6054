/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_TEXT_WIDTH_H
#define WSI_TEXT_WIDTH_H

#include "base/base.h"

/* Columns of a terminal that text fills as it is; escape sequences, such as styles, fill none. */
size_t wsi_text_width(const char *text, size_t len);

#endif
