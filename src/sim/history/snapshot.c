/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: a second `struct ws_sim` that holds what runs. Pages of global memory are shared until
 * one of the two changes them (memory.h); blocks and warps are copied, as nearly all of them change
 * before the next snapshot.
 */
#include "sim/exec/tmem.h"

struct ws_sim_snapshot {
	const struct ws_sim *of;
	uint64_t bytes; /* of blocks and warps */
	struct ws_sim kept;
};

static void *copy_page_bytes(const void *from, size_t size, uint64_t *bytes)
{
	void *to = wsi_zalloc(size ? size : 1);
	if (to && size > 0)
		memcpy(to, from, size);
	*bytes += size;
	return to;
}

/* ---- warps and blocks ---- */

static bool copy_local(const struct wsi_warp *from, struct wsi_warp *to, uint64_t *bytes)
{
	uint32_t n = from->block->grid->local_bytes / WSI_LOCAL_CHUNK + 1;
	to->local = wsi_zalloc_array(n, sizeof *to->local);
	for (uint32_t i = 0; to->local && i < n; i++) {
		if (!from->local[i])
			continue;
		to->local[i] =
			copy_page_bytes(from->local[i], (size_t)WSI_LOCAL_CHUNK * WSI_LANES, bytes);
		if (!to->local[i])
			return false;
	}
	return to->local != NULL;
}

/* NULL: no memory, and nothing is left. */
static bool copy_warp(const struct ws_sim *sim, const struct wsi_warp *from,
		      struct wsi_block *block, uint64_t *bytes)
{
	struct wsi_warp *to = copy_page_bytes(from, sizeof *from, bytes);
	if (!to)
		return false;
	block->warps[from->id] = to;
	to->block = block;
	to->local = NULL;
	to->frames = NULL;
	to->regs = copy_page_bytes(
		from->regs, wsi_warp_reg_words(sim, from->n_regs) * sizeof *from->regs, bytes);
	bool ok = to->regs && (!from->local || copy_local(from, to, bytes));
	if (ok && from->frames) {
		to->frames = copy_page_bytes(
			from->frames, (size_t)from->n_frames * WSI_LANES * sizeof *from->frames,
			bytes);
		ok = to->frames != NULL;
	}
	if (to->regs)
		to->uregs = to->regs + (from->uregs - from->regs);
	return ok;
}

/* The grid of a copied queue that stands where `grid` stands in the other. */
static struct wsi_grid *twin(const struct wsi_grid *from, struct wsi_grid *to,
			     const struct wsi_grid *grid)
{
	while (from != grid) {
		from = from->next;
		to = to->next;
	}
	return to;
}

/* Puts a copy of a block at the end of the blocks of `to`; false: no memory, and what there is of
 * it can be destroyed. Blocks of a cluster follow each other. */
static bool copy_block(const struct ws_sim *from, size_t index, struct ws_sim *to, uint64_t *bytes)
{
	const struct wsi_block *old = from->blocks[index];
	struct wsi_block *block = copy_page_bytes(old, sizeof *old, bytes);
	if (!block)
		return false;
	to->blocks[to->n_blocks++] = block;
	block->grid = twin(from->queue, to->queue, old->grid);
	block->cluster = NULL;
	block->shared = copy_page_bytes(old->shared, wsi_shared_room(old), bytes);
	block->warps = wsi_zalloc_array(old->n_warps, sizeof *block->warps);
	if (old->tensor)
		block->tensor = copy_page_bytes(old->tensor, sizeof *old->tensor, bytes);
	if (!block->shared || !block->warps || (old->tensor && !block->tensor))
		return false;
	if (old->cluster) {
		bool joins = index > 0 && from->blocks[index - 1]->cluster == old->cluster;
		block->cluster =
			joins ? to->blocks[index - 1]->cluster : wsi_zalloc(sizeof *block->cluster);
		if (!block->cluster)
			return false;
		block->cluster->n = old->cluster->n;
		block->cluster->left++;
		block->cluster->peers[block->rank] = block;
	}
	for (uint32_t i = 0; i < old->n_warps; i++)
		if (!copy_warp(from, old->warps[i], block, bytes))
			return false;
	for (uint32_t i = 0; i < old->n_warps; i++) {
		to->resident[old->warps[i]->at] = block->warps[i];
		if (from->turn_of == old->warps[i])
			to->turn_of = block->warps[i];
	}
	return true;
}

/* ---- devices ---- */

static bool copy_grids(const struct wsi_grid *grid, struct wsi_grid **end, uint64_t *bytes)
{
	for (; grid; grid = grid->next) {
		*end = copy_page_bytes(grid, sizeof *grid, bytes);
		if (!*end)
			return false;
		end = &(*end)->next;
		*end = NULL;
	}
	return true;
}

static bool copy_launches(const struct ws_sim *from, struct ws_sim *to, uint64_t *bytes)
{
	to->drafts = copy_page_bytes(from->drafts, from->n_drafts * sizeof *from->drafts, bytes);
	to->cap_drafts = from->n_drafts;
	return to->drafts && copy_grids(from->queue, &to->queue, bytes) &&
	       copy_grids(from->later, &to->later, bytes);
}

static void fini(struct ws_sim *kept)
{
	wsi_launch_fini(kept);
	wsi_memory_fini(&kept->memory);
}

/* Fills an empty device with what runs on another. Modules, texts, objects and the buffer of what
 * was printed stay the other's. False: no memory, and nothing is left of it. */
static bool copy_state(const struct ws_sim *from, struct ws_sim *to, uint64_t *bytes)
{
	const size_t start = offsetof(struct ws_sim, device);
	memcpy((uint8_t *)to + start, (const uint8_t *)from + start, sizeof *to - start);
	to->queue = to->later = NULL;
	to->drafts = NULL;
	to->n_blocks = 0;
	to->cap_blocks = from->n_blocks;
	to->cap_resident = from->n_resident;
	to->cap_awake = (from->n_resident + 63) / 64;
	to->memory = (struct wsi_memory){ .n = 0 };
	to->sms = copy_page_bytes(from->sms, from->options.n_sms * sizeof *from->sms, bytes);
	to->blocks = wsi_zalloc_array(from->n_blocks, sizeof *to->blocks);
	to->resident = wsi_zalloc_array(from->n_resident, sizeof *to->resident);
	to->awake = copy_page_bytes(from->awake, to->cap_awake * sizeof *to->awake, bytes);
	bool ok = to->sms && to->blocks && to->resident && to->awake &&
		  wsi_memory_share(&from->memory, &to->memory) && copy_launches(from, to, bytes);
	for (size_t i = 0; i < from->n_blocks && ok; i++)
		ok = copy_block(from, i, to, bytes);
	if (!ok)
		fini(to);
	return ok;
}

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "snapshot");
}

enum ws_status ws_sim_snapshot(struct ws_sim *sim, struct ws_sim_snapshot **ret_snapshot,
			       struct ws_error *err)
{
	if (sim->check)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_SUPPORTED,
				     "a device that checks cannot go back");
	struct ws_sim_snapshot *snapshot = wsi_zalloc(sizeof *snapshot);
	if (!snapshot)
		return no_memory(err);
	snapshot->of = sim;
	snapshot->bytes = sizeof *snapshot;
	if (!copy_state(sim, &snapshot->kept, &snapshot->bytes)) {
		wsi_free(snapshot);
		return no_memory(err);
	}
	snapshot->kept.printed = copy_page_bytes(sim->printed, sim->n_printed, &snapshot->bytes);
	if (!snapshot->kept.printed) {
		ws_sim_snapshot_free(snapshot);
		return no_memory(err);
	}
	*ret_snapshot = snapshot;
	return WS_OK;
}

enum ws_status ws_sim_restore(struct ws_sim *sim, const struct ws_sim_snapshot *snapshot,
			      struct ws_error *err)
{
	uint64_t bytes = 0;
	if (snapshot->of != sim)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "a snapshot of another device");
	if (snapshot->kept.n_modules != sim->n_modules)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_SUPPORTED,
				     "modules were loaded since the snapshot");
	if (snapshot->kept.n_objects != sim->n_objects)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_SUPPORTED,
				     "textures or surfaces were made since "
				     "the snapshot");
	struct ws_sim *next = wsi_zalloc(sizeof *next);
	if (!next || !copy_state(&snapshot->kept, next, &bytes)) {
		wsi_free(next);
		return no_memory(err);
	}
	fini(sim);
	next->account.fixed = sim->account.fixed;
	next->memory.account = &sim->account;
	next->modules = sim->modules;
	next->cap_modules = sim->cap_modules;
	next->texts = sim->texts;
	next->cap_texts = sim->cap_texts;
	next->objects = sim->objects;
	next->cap_objects = sim->cap_objects;
	next->printed = sim->printed;
	if (next->n_printed > 0)
		memcpy(next->printed, snapshot->kept.printed, next->n_printed);
	const size_t start = offsetof(struct ws_sim, device);
	memcpy((uint8_t *)sim + start, (const uint8_t *)next + start, sizeof *sim - start);
	wsi_free(next);
	return WS_OK;
}

uint64_t ws_sim_snapshot_bytes(const struct ws_sim_snapshot *snapshot)
{
	return snapshot->bytes + wsi_memory_apart(&snapshot->of->memory, &snapshot->kept.memory);
}

void ws_sim_snapshot_free(struct ws_sim_snapshot *snapshot)
{
	if (!snapshot)
		return;
	fini(&snapshot->kept);
	wsi_free(snapshot->kept.printed);
	wsi_free(snapshot);
}
