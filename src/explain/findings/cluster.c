/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about an access to the shared memory of another block: which blocks are in
 * the cluster, which of them are still there, and which one was addressed.
 */
#include "explain/explain.h"

enum { MAX_CLUSTER = 64 /* blocks: bits of a mask; hardware has at most 16 */ };

/* A block's cluster. */
struct cluster {
	struct ws_dim3 dim;   /* all at least 1 */
	struct ws_dim3 first; /* its first block */
	uint32_t n;           /* blocks */
};

static bool cluster_of(const struct wsi_scene *scene, struct ws_dim3 block,
		       struct cluster *ret_cluster)
{
	struct ws_dim3 dim;
	uint64_t n = wsi_scene_cluster(scene, &dim) ? wsi_dim3_count(dim) : 0;
	if (n == 0 || n > MAX_CLUSTER)
		return false;
	ret_cluster->dim = dim;
	ret_cluster->n = (uint32_t)n;
	ret_cluster->first = (struct ws_dim3){ block.x - block.x % dim.x, block.y - block.y % dim.y,
					       block.z - block.z % dim.z };
	return true;
}

static struct ws_dim3 block_of_rank(const struct cluster *cluster, uint32_t rank)
{
	struct ws_dim3 dim = cluster->dim, first = cluster->first;
	return (struct ws_dim3){ first.x + rank % dim.x, first.y + rank / dim.x % dim.y,
				 first.z + rank / dim.x / dim.y };
}

static uint32_t rank_of(const struct cluster *cluster, struct ws_dim3 block)
{
	return (uint32_t)wsi_dim3_rank(block, cluster->dim);
}

/* A resident block of the grid by its index: its SM, and its bytes of shared memory (WS_NONE: not
 * known). False: it is not resident. */
static bool find_resident(const struct wsi_scene *scene, struct ws_dim3 idx, uint32_t *ret_sm,
			  uint32_t *ret_shared)
{
	const struct ws_target *target = scene->build->target;
	struct ws_block block;
	struct ws_sm sm;
	for (uint32_t i = 0; i < scene->build->counts.blocks; i++) {
		if (ws_target_block(target, i, &block, NULL) != WS_OK ||
		    block.grid_index != scene->grid_index ||
		    memcmp(&block.idx, &idx, sizeof idx) != 0)
			continue;
		*ret_sm = *ret_shared = WS_NONE;
		if (ws_target_sm(target, block.sm_index, &sm, NULL) != WS_OK)
			return true;
		*ret_sm = sm.id;
		for (uint32_t w = 0; w < sm.n_warps && *ret_shared == WS_NONE; w++) {
			struct ws_warp warp;
			if (ws_target_warp(target, sm.first_warp_index + w, &warp, NULL) == WS_OK &&
			    warp.block_index == i && warp.have & WS_WARP_SHARED_BYTES)
				*ret_shared = warp.shared_bytes;
		}
		return true;
	}
	return false;
}

/* The block that the hardware names as the target. */
static void find_cluster_target(struct wsi_scene *scene, const struct cluster *cluster)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_dim3 target = e->target_block;
	uint32_t sm, shared;
	char rank[60] = "";
	if (cluster) {
		struct cluster other;
		bool same = cluster_of(scene, target, &other) &&
			    memcmp(&other.first, &cluster->first, sizeof other.first) == 0;
		if (same)
			wsi_format(rank, ", rank %u of the cluster,", rank_of(cluster, target));
		else
			wsi_format(rank, ", which is not in this block's cluster,");
	}
	if (!find_resident(scene, target, &sm, &shared) && wsi_others_are_dropped(scene->build))
		return;
	if (!find_resident(scene, target, &sm, &shared)) {
		wsi_fact(scene, WSI_FACT_TARGET_GONE,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN,
				   "the SM's row names the target; the list of resident blocks",
				   "the target block (%u,%u,%u)%s is not resident: it has ended, "
				   "or never existed",
				   target.x, target.y, target.z, rank));
		return;
	}
	char size[80] = "";
	if (shared != WS_NONE)
		wsi_format(size, " and has %u bytes of shared memory", shared);
	wsi_fact(scene, WSI_FACT_TARGET_HERE,
		 wsi_found(scene, WS_CONFIDENCE_CERTAIN,
			   "the SM's row names the target; the list of resident blocks",
			   "the target block (%u,%u,%u)%s is resident on SM %u%s", target.x,
			   target.y, target.z, rank, sm, size));
}

/* Ranks of the cluster whose blocks are resident, as a mask. */
static uint64_t resident_ranks(const struct wsi_scene *scene, const struct cluster *cluster)
{
	uint64_t ranks = 0;
	for (uint32_t i = 0; i < scene->build->counts.blocks; i++) {
		struct ws_block block;
		struct cluster other;
		if (ws_target_block(scene->build->target, i, &block, NULL) == WS_OK &&
		    block.grid_index == scene->grid_index && cluster_of(scene, block.idx, &other) &&
		    memcmp(&other.first, &cluster->first, sizeof other.first) == 0)
			ranks |= UINT64_C(1) << rank_of(cluster, block.idx);
	}
	return ranks;
}

/* Blocks of the cluster that have ended. */
static void find_gone(struct wsi_scene *scene, const struct cluster *cluster)
{
	uint64_t ranks = resident_ranks(scene, cluster);
	char list[300] = "";
	size_t len = 0;
	uint32_t n = 0;
	for (uint32_t rank = 0; rank < cluster->n; rank++) {
		struct ws_dim3 block = block_of_rank(cluster, rank);
		if (ranks >> rank & 1)
			continue;
		n++;
		int more = snprintf(list + len, sizeof list - len, "%s%u (%u,%u,%u)",
				    len ? ", " : "", rank, block.x, block.y, block.z);
		if (more > 0 && len + (size_t)more < sizeof list)
			len += (size_t)more;
		else
			list[len] = 0; /* what does not fit is counted, not listed */
	}
	if (n == 0)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of resident blocks",
			  cluster->n == 1 ? "the %u block of the cluster is still resident"
					  : "all %u blocks of the cluster are still resident",
			  cluster->n);
	else
		wsi_fact(scene, WSI_FACT_TARGET_GONE,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of resident blocks",
				   "%u of the %u blocks of the cluster %s no longer resident: "
				   "rank %s",
				   n, cluster->n, n == 1 ? "is" : "are", list));
}

/* The rank that the addresses of the access belong to. */
static void find_rank(struct wsi_scene *scene, const struct cluster *cluster)
{
	const struct ws_report_access *access =
		scene->e->n_accesses ? &scene->e->accesses[0] : NULL;
	if (!access || access->rank == WS_NONE)
		return;
	uint32_t known = access->lanes_known ? access->lanes_known : access->lanes_likely;
	uint32_t lane = access->lane != WS_NONE ? access->lane : wsi_first_bit(known);
	const char *text = wsi_found(
		scene,
		access->lanes_known >> lane & 1 ? WS_CONFIDENCE_LIKELY : WS_CONFIDENCE_POSSIBLE,
		"the address, and the context's window of shared memory",
		"the address of lane %u is in the shared memory of rank %u; the cluster has %u",
		lane, access->rank, cluster->n);
	if (access->rank >= cluster->n)
		wsi_fact(scene, WSI_FACT_RANK_BEYOND, text);
}

enum ws_status wsi_find_cluster(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct cluster cluster = { .n = 0 };
	bool known = scene->have_block && cluster_of(scene, scene->block.idx, &cluster);
	if (known)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the block's and the grid's rows",
			  "the block is rank %u of a cluster of %u (%u,%u,%u), whose first block "
			  "is (%u,%u,%u)",
			  rank_of(&cluster, scene->block.idx), cluster.n, cluster.dim.x,
			  cluster.dim.y, cluster.dim.z, cluster.first.x, cluster.first.y,
			  cluster.first.z);
	if (e->have_target_block)
		find_cluster_target(scene, known ? &cluster : NULL);
	else if (e->target_block_told)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the SM's row",
			  "the hardware does not say which block was addressed");
	if (known && !e->have_target_block && !wsi_others_are_dropped(scene->build))
		find_gone(scene, &cluster);
	if (known)
		find_rank(scene, &cluster);
	return WS_OK;
}
