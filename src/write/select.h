/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a target go into a dump. */
#ifndef WSI_WRITE_SELECT_H
#define WSI_WRITE_SELECT_H

#include <warpscope/target.h>

#include "base/base.h"

/* The lists of which something may be left out. */
#define WSI_SELECTED_LISTS(X) X(contexts) X(modules) X(grids) X(blocks) X(warps)

/* Per list index: whether it is kept. NULL: all are. */
struct wsi_selection {
	bool *contexts, *modules, *grids, *blocks, *warps; /* owned */
};

static inline bool wsi_selected(const bool *kept, uint32_t index)
{
	return !kept || kept[index];
}

/* The contexts in which a thread faulted or stopped at a trap, with all that belongs to them. */
enum ws_status wsi_select_faulted_contexts(const struct ws_target *target,
					   struct wsi_selection *selection,
					   struct ws_error *err) WS_MUST_USE;
/* The warps in which a thread faulted or stopped at a trap, with what they need: their blocks,
 * grids, contexts, and the modules of their code. All, when there is none and no SM tells of a
 * fault. */
enum ws_status wsi_select_faulted_warps(const struct ws_target *target,
					struct wsi_selection *selection,
					struct ws_error *err) WS_MUST_USE;
void wsi_selection_fini(struct wsi_selection *selection);

#endif
