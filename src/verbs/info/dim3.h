/* SPDX-License-Identifier: Apache-2.0 */
/* Order of block and thread indices, and which are neighbours: what joins the rows of a table. */
#ifndef WSI_VERBS_DIM3_H
#define WSI_VERBS_DIM3_H

#include <warpscope/base.h>

/* Whether `next` stands right behind `at` in an extent, x fastest. `ret_wrapped`, if not NULL:
 * whether `at` is the last and `next` the first (of the block behind, say). */
bool wsi_dim3_follows(struct ws_dim3 at, struct ws_dim3 next, struct ws_dim3 extent,
		      bool *ret_wrapped);
/* Order of a table: z, then y, then x. Negative, 0, positive. */
int wsi_dim3_compare(struct ws_dim3 a, struct ws_dim3 b);
static inline bool wsi_dim3_equal(struct ws_dim3 a, struct ws_dim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

#endif
