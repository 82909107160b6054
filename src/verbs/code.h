/* SPDX-License-Identifier: Apache-2.0 */
/* What answers over the images of a file share. */
#ifndef WSI_VERBS_CODE_H
#define WSI_VERBS_CODE_H

#include <warpscope/verbs.h>

#include "base/base.h"

/* Tells what is damaged. Memory that is out is passed on, as all else depends on it. */
enum ws_status wsi_verbs_tell(const struct ws_answer_style *style, const struct ws_error *damage,
			      struct ws_error *err);
/* Tells what is worth saying. */
void wsi_verbs_say(const struct ws_answer_style *style, const char *format, ...) WS_PRINTF(2, 3);

/* Begins a document in JSON, up to the array of images. */
void wsi_verbs_code_begin(const struct ws_code_images *images, const char *schema,
			  const struct ws_answer_style *style, struct ws_json *json);
/* Begins what is shown of an image: in JSON an object with its number and architecture; in text, of
 * several images, a line with both, apart from what was shown before. */
void wsi_verbs_image_begin(const struct ws_code_images *images, const struct ws_code_image *image,
			   bool was_shown, struct ws_out *out, struct ws_json *json);

/* Line tables as they are written, into `out`, or with `json` as a field. False: there are none. */
bool wsi_verbs_lines_raw(const struct ws_line_map *map, struct ws_out *out, struct ws_json *json);

#endif
