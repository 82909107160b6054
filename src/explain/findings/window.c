/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about an access outside its memory space: how large the space is, what it
 * consists of, and which space an address really belongs to.
 */
#include "explain/explain.h"

/* Facts of the kernel's function in its image. */
static bool kernel_info(const struct wsi_scene *scene, struct ws_function_info *ret_info)
{
	struct ws_cubin_hint hint = { scene->where.module_index, scene->where.device_index,
				      scene->where.context_index };
	struct ws_place place;
	if (scene->e->kernel == WS_NONE)
		return false;
	uint64_t entry = scene->build->kernels[scene->e->kernel].grid.function_entry;
	return ws_cubin_set_find_address(scene->build->cubins, entry, &hint, &place, NULL) ==
		       WS_OK &&
	       place.function &&
	       ws_cubin_function_info(place.cubin, place.function, ret_info, NULL, 0, NULL, 0,
				      NULL) == WS_OK;
}

static void find_shared_window(struct wsi_scene *scene)
{
	struct ws_function_info info;
	if (!scene->have_warp || !(scene->warp.have & WS_WARP_SHARED_BYTES))
		return;
	uint32_t all = scene->warp.shared_bytes;
	if (!kernel_info(scene, &info) || info.shared_bytes == WS_UNKNOWN ||
	    info.shared_bytes > all) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the warp's row",
			  "the block has %u bytes of shared memory", all);
		return;
	}
	/* From sm_90 on the first 1,024 bytes are the system's and part of the section's size.
	 * [measured: nvcc 13.0, the address of the first shared variable is 0x400] */
	bool reserved = scene->sm_major >= 9 && info.shared_bytes >= 1024;
	wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the warp's row, and the attributes of the image",
		  "the block has %u bytes of shared memory: %u static in the image%s, %u requested "
		  "by the launch",
		  all, info.shared_bytes, reserved ? " (1024 of them reserved for the system)" : "",
		  all - info.shared_bytes);
}

static void find_local(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct wsi_range local;
	if (access->lane == WS_NONE)
		return;
	if (wsi_window_of(scene, access, access->lane, &local))
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
			  "lane %u has %" PRIu64 " bytes of local memory, from 0x%" PRIx64
			  " to 0x%" PRIx64,
			  access->lane, local.size, local.start, local.start + local.size);
	else
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
			  "the local memory of lane %u is not recorded: its limits are not known",
			  access->lane);
}

static void find_constant(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct ws_function_info info;
	struct wsi_range bank;
	if (access->bank == WS_NONE) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at errorpc",
			  "the bank is chosen by a register, as with a descriptor");
		return;
	}
	if (wsi_window_of(scene, access, access->lane == WS_NONE ? 0 : access->lane, &bank))
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the grid's table of constant banks",
			  "constant bank %u has %" PRIu64 " bytes", access->bank, bank.size);
	else if (scene->grid_index != WS_NONE)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the grid's table of constant banks",
			  "the size of constant bank %u is not recorded", access->bank);
	if (access->bank == 0 && kernel_info(scene, &info) && info.param_bytes != WS_UNKNOWN &&
	    info.param_bank_offset != WS_UNKNOWN)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the attributes of the image",
			  "the parameters of the kernel are bytes 0x%x to 0x%x of it",
			  info.param_bank_offset, info.param_bank_offset + info.param_bytes);
}

/* An address of one space in an instruction for another. */
static void find_other_space(struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint64_t inner;
	uint32_t rank;
	uint32_t known = access->lanes_known | access->lanes_guess;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(known >> lane & 1))
			continue;
		enum ws_space space =
			wsi_scene_resolve(scene, access->address[lane], &inner, &rank);
		if (space == WS_SPACE_GLOBAL)
			continue;
		const char *text =
			wsi_found(scene,
				  access->lanes_known >> lane & 1 ? WS_CONFIDENCE_CERTAIN
								  : WS_CONFIDENCE_POSSIBLE,
				  "the address, and the context's windows",
				  "lane %u: 0x%" PRIx64 " is the generic address of byte 0x%" PRIx64
				  " of %s memory; the instruction is for global memory",
				  lane, access->address[lane], inner, ws_space_text(space));
		wsi_fact(scene, WSI_FACT_IN_WINDOW, text);
		return;
	}
}

enum ws_status wsi_find_window(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	if (e->n_accesses == 0)
		return WS_OK;
	const struct ws_report_access *access = &e->accesses[0];
	switch (access->space) {
	case WS_SPACE_SHARED:
		find_shared_window(scene);
		break;
	case WS_SPACE_LOCAL:
		find_local(scene, access);
		break;
	case WS_SPACE_CONST:
		find_constant(scene, access);
		break;
	case WS_SPACE_GLOBAL:
		find_other_space(scene, access);
		break;
	case WS_SPACE_PARAM:
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
	return WS_OK;
}
