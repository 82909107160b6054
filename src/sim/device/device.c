/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a device that all floors look up. */
#include "sim/device/device.h"

struct wsi_text *wsi_sim_text_find(struct ws_sim *sim, uint64_t pc)
{
	size_t low = WSI_BISECT(i, 0, sim->n_texts, sim->texts[i].start <= pc);
	struct wsi_text *text = low > 0 ? &sim->texts[low - 1] : NULL;
	return text && pc - text->start < text->size && text->is_loaded ? text : NULL;
}

bool wsi_block_take(struct ws_sim *sim, struct wsi_block *block, const char *what, uint64_t bytes)
{
	bool fits = wsi_account_take(&sim->account, what, bytes);
	block->taken += fits ? bytes : 0;
	return fits;
}

uint8_t *wsi_local_byte(struct ws_sim *sim, struct wsi_warp *warp, unsigned lane, uint64_t address)
{
	static const char what[] = "local memory of a warp";
	size_t chunk = (size_t)address / WSI_LOCAL_CHUNK, off = (size_t)address % WSI_LOCAL_CHUNK;
	uint32_t size = warp->block->grid->local_bytes;
	size_t n_chunks = size / WSI_LOCAL_CHUNK + 1, bytes = (size_t)WSI_LOCAL_CHUNK * WSI_LANES;
	if (!warp->local && wsi_block_take(sim, warp->block, what, n_chunks * sizeof *warp->local))
		warp->local = wsi_zalloc_array(n_chunks, sizeof *warp->local);
	if (warp->local && !warp->local[chunk] && wsi_block_take(sim, warp->block, what, bytes))
		warp->local[chunk] = wsi_zalloc(bytes);
	if (!warp->local || !warp->local[chunk])
		return NULL;
	return warp->local[chunk] + (off / 4 * WSI_LANES + lane) * 4 + off % 4;
}

struct wsi_warp *wsi_warp_at(const struct ws_sim *sim, uint32_t sm, uint32_t slot)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		for (uint32_t k = 0; sim->blocks[i]->sm == sm && k < sim->blocks[i]->n_warps; k++)
			if (sim->blocks[i]->warps[k]->slot == slot)
				return sim->blocks[i]->warps[k];
	return NULL;
}
