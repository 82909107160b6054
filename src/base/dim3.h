/* SPDX-License-Identifier: Apache-2.0 */
/* Extents of grids, clusters and blocks. */
#ifndef WSI_DIM3_H
#define WSI_DIM3_H

#include <warpscope/base.h>

/* How many elements an extent has; UINT64_MAX when they are more than can be counted. */
static inline uint64_t wsi_dim3_count(struct ws_dim3 dim)
{
	uint64_t area = (uint64_t)dim.x * dim.y;
	return dim.z && area > UINT64_MAX / dim.z ? UINT64_MAX : area * dim.z;
}

/* A block's number in its cluster of that extent; 0 for one that was launched without clusters,
 * which have no extent. */
static inline uint64_t wsi_dim3_rank(struct ws_dim3 block, struct ws_dim3 dim)
{
	if (!dim.x || !dim.y || !dim.z)
		return 0;
	return block.x % dim.x + dim.x * (block.y % dim.y + (uint64_t)dim.y * (block.z % dim.z));
}

#endif
