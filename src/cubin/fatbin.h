/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_FATBIN_H
#define WSI_FATBIN_H

#include <warpscope/image.h>

#include "base/reader.h"

/* Takes one entry; false: no memory, stop. */
typedef bool wsi_fatbin_take_fn(void *user, const struct ws_image_entry *entry,
				struct ws_span packed);

bool wsi_cubin_is_fatbin(struct ws_span bytes);

/*
 * All entries of the containers in `bytes`, one after the other. False when `take` stopped.
 * `*ret_damage` gets the first damage; its status stays as it is when there is none.
 */
bool wsi_fatbin_list(struct ws_span bytes, wsi_fatbin_take_fn *take, void *user,
		     struct ws_error *ret_damage) WS_MUST_USE;

#endif
