/* SPDX-License-Identifier: Apache-2.0 */
/* What the file says about itself: metadata, the age of its layout, which back end wrote it. */
#include "target/dump/dump.h"

static void metadata_read(struct ws_core *core)
{
	struct ws_dump_facts *facts = &core->facts;
	if (!core->meta_section)
		return;
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, core->meta_section);
	enum { MOST = 1024 }; /* more than any field lies at */
	struct wsi_slice there;
	struct ws_span in;
	(void)wsi_elf_extent(&core->elf, &shdr, &there);
	uint64_t stride = shdr.entsize ? shdr.entsize : shdr.size;
	if (stride < wsi_kind_infos[WSI_KIND_META].base_bytes || there.len < stride ||
	    wsi_input_hold(&core->source,
			   (struct wsi_slice){ there.off, wsi_min_u64(stride, MOST) }, &in,
			   NULL) != WS_OK) {
		wsi_core_note(
			core, WSI_TOPIC_META, WS_HIDES_NOTHING, shdr.offset,
			"the metadata (section %u) has %" PRIu64 " bytes and needs %u: the dump's "
			"generator and flags are lost",
			core->meta_section, there.len, wsi_kind_infos[WSI_KIND_META].base_bytes);
		return;
	}
	uint32_t have = wsi_meta_have(in.len);
	facts->have_metadata = true;
	facts->have_flags = have & WSI_META_FLAGS;
	facts->have_time = have & WSI_META_TIME;
	(void)wsi_meta_read(in, core->strtab, facts);
}

/* The branch that first wrote the newest field or kind of section seen. */
static void dump_layout_read(struct ws_core *core)
{
	unsigned since = 0;
	for (uint32_t t = 0; t < core->n_tables; t++) {
		const struct wsi_kind_info *info = &wsi_kind_infos[core->tables[t].kind];
		for (size_t f = info->n_fields; f-- > 0;) {
			if (info->fields[f].end > core->tables[t].stride)
				continue;
			since = info->fields[f].since > since ? info->fields[f].since : since;
			break; /* fields are in the order of their age */
		}
	}
	for (unsigned k = 1; k < WSI_N_KINDS; k++) {
		if (core->kind_counts[k] && wsi_kind_infos[k].since > since)
			since = wsi_kind_infos[k].since;
	}
	char text[16];
	if (since && wsi_format(text, "r%u", since))
		core->facts.layout = wsi_arena_str(&core->arena, text, strlen(text));
}

/* Start of the function of a lane's outermost frame, as the dump gives addresses; false when the
 * dump does not tell. */
static bool outermost_function(const struct ws_core *core, uint32_t warp_index,
			       const struct ws_lane *lane, uint64_t *ret_start)
{
	struct ws_return_address frames[64];
	uint32_t n = 0;
	*ret_start = lane->pc - lane->rel_pc;
	if (lane->call_depth == 0)
		return true;
	if (ws_target_call_stack(&core->target, warp_index, lane->id, frames, WSI_COUNT(frames), &n,
				 NULL) != WS_OK ||
	    n == 0 || n > WSI_COUNT(frames))
		return false;
	*ret_start = frames[n - 1].address - frames[n - 1].rel_address;
	return true;
}

/*
 * The older ("classic") back end recorded addresses of a copy of the code in host memory. Then the
 * outermost function does not start where the grid says that the kernel starts. A few lanes are
 * asked, the majority decides. [guess: the public header tells of the two kinds, not how to tell
 * them apart]
 */
static bool is_classic(const struct ws_core *core)
{
	enum { ASKED = 64, ASKED_EACH = 8 }; /* lanes in all; of a warp each so many'th */
	unsigned same = 0, other = 0;
	for (uint32_t w = 0; w < core->warps.n && same + other < ASKED; w++) {
		struct ws_grid grid;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n;
		if (!wsi_core_grid_of(core, wsi_core_block_of(core, w), &grid) ||
		    grid.function_entry == 0 ||
		    ws_target_lanes(&core->target, w, lanes, &n, NULL) != WS_OK)
			continue;
		for (uint32_t i = 0; i < n && same + other < ASKED; i += ASKED_EACH) {
			uint64_t start;
			if (lanes[i].damaged || !outermost_function(core, w, &lanes[i], &start) ||
			    start == 0)
				continue;
			if (start == grid.function_entry)
				same++;
			else
				other++;
		}
	}
	return other > same;
}

/* Why a module has no original image. */
static enum ws_status no_original(const struct ws_core *core)
{
	if (core->facts.have_flags)
		return core->facts.flags & WS_WRITE_SKIP_IMAGES ? WS_EXCLUDED : WS_ABSENT;
	/* drivers before r565 did not record the flags: when no module has one, they were left out
	 */
	return core->kind_counts[WSI_KIND_IMAGE] == 0 ? WS_EXCLUDED : WS_ABSENT;
}

void wsi_core_facts_read(struct ws_core *core)
{
	metadata_read(core);
	dump_layout_read(core);
	core->no_original = no_original(core);
	core->facts.classic = is_classic(core);
}

enum ws_status wsi_core_dump_facts(const struct ws_target *target, struct ws_dump_facts *ret_facts,
				   struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	*ret_facts = core->facts;
	ret_facts->cut = core->notes.cut;
	ret_facts->lost_off = wsi_input_lost(&core->source);
	ret_facts->lost = ret_facts->lost_off != WS_NO_OFFSET;
	return WS_OK;
}
