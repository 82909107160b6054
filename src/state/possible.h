/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_POSSIBLE_H
#define WSI_POSSIBLE_H

#include <warpscope/state.h>

/* Whether the row of a device, by itself, is one that a device can have. */
bool wsi_state_device_possible(const struct ws_device *device);
/* Whether the row of a grid is one that a grid can have, and where a block is, whatever grid it
 * belongs to. */
bool wsi_state_grid_possible(const struct ws_grid *grid);
bool wsi_state_block_possible(const struct ws_block *block);

#endif
