/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks of lanes that do not name the lanes that use them. `__shfl_sync()` and the like wait for
 * the lanes of their mask, and each lane that executes them must be one of these [public doc: CUDA
 * programming guide, warp vote and shuffle functions]. A lane that its own mask lacks meets nobody.
 */
#include "wait/wait.h"

/* Of one wait. */
struct unnamed {
	uint64_t n_lanes;
	uint32_t mask; /* of the first of them */
};

/* The lanes of a part that are not in their own masks. */
static void find_unnamed(const struct wsi_waits *w, const struct wsi_part *part,
			 struct unnamed *unnamed)
{
	const struct ws_operand *id = &w->code[part->group].id;
	if (id->place == WSI_NOT_GIVEN || id->kind == WS_OPERAND_BREG)
		return; /* the registers Bn hold what the hardware put there */
	for (uint32_t lanes = part->lanes; lanes; lanes &= lanes - 1) {
		uint32_t lane = wsi_first_bit(lanes);
		uint64_t mask;
		if (!wsi_wait_operand(w, part, lane, id, &mask) || mask >> lane & 1)
			continue;
		if (unnamed->n_lanes++ == 0)
			unnamed->mask = (uint32_t)mask;
	}
}

enum ws_status wsi_wait_masks(struct wsi_waits *w)
{
	struct unnamed *unnamed = wsi_zalloc_array(w->n_list, sizeof *unnamed);
	enum ws_status st = unnamed ? WS_OK : WS_NO_MEMORY;
	for (size_t i = 0; i < w->n_parts && st == WS_OK; i++) {
		uint32_t wait = w->parts[i].wait;
		if (wait != WS_NONE && w->list[wait].kind == WS_WAIT_CONVERGENCE)
			find_unnamed(w, &w->parts[i], &unnamed[wait]);
	}
	for (size_t i = 0; i < w->n_list && st == WS_OK; i++) {
		if (unnamed[i].n_lanes == 0)
			continue;
		w->list[i].needs =
			wsi_build_text(w->build,
				       "a mask must name each lane that uses it; 0x%08" PRIx32
				       " lacks %" PRIu64 " of these",
				       unnamed[i].mask, unnamed[i].n_lanes);
		st = w->list[i].needs ? WS_OK : WS_NO_MEMORY;
	}
	wsi_free(unnamed);
	return st;
}
