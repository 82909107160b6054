/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pointer that was kept in 32 bits on its way: the code makes the address of a number of 32 bits,
 * and with the upper half of a known pointer or known memory it is one.
 */
#include "explain/explain.h"

#define LEAST UINT64_C(0x10000) /* numbers below are none of a pointer */

/* The term of an address without a pointer of 64 bits that takes its place; NULL: there is none, or
 * nobody can tell which. */
static const struct ws_flow_node *narrow_base(const struct ws_flow_slice *slice)
{
	const struct ws_flow_node *base = NULL;
	struct ws_flow_address parts;
	ws_flow_address(slice, 0, &parts);
	if (!parts.complete || parts.base != UINT16_MAX)
		return NULL;
	for (size_t i = 0; i < parts.n_terms; i++) {
		const struct ws_flow_node *node = &slice->node[parts.term[i].node];
		bool extends = node->op == WS_FLOW_ZEXT || node->op == WS_FLOW_SEXT;
		if (!extends && node->bits == 64)
			return NULL;
		if (parts.term[i].scale != 1)
			continue;
		if (base)
			return NULL;
		base = node;
	}
	return base;
}

/* A parameter with a pointer of which the code takes the lower half only. */
static const char *cut_in_code(const struct wsi_scene *scene, const struct ws_flow_node *number)
{
	const struct ws_flow_slice *slice = scene->slice;
	uint64_t whole;
	if (number->op == WS_FLOW_LOW)
		number = &slice->node[number->arg[0]];
	struct ws_report_owner owner;
	bool taken = number->op == WS_FLOW_CONSTANT && number->number == 0 && !number->n_args &&
		     number->value % 8 == 0 &&
		     wsi_origin_parameter(scene, (uint64_t)number->value, &owner) &&
		     wsi_scene_memory(scene, 0, WS_SPACE_CONST, 0, (uint64_t)number->value, 8,
				      &whole) == WS_OK;
	if (!taken || wsi_global_is_mapped(scene, whole, 1) != WSI_MAPPED_YES)
		return NULL;
	return wsi_build_text(scene->build,
			      "the code takes only the lower 32 bits of %s, 0x%" PRIx64,
			      wsi_owner_parameter_text(scene, (uint64_t)number->value), whole);
}

/* Known memory at an address with these lower 32 bits. */
static bool find_memory(const struct wsi_scene *scene, uint32_t low, uint64_t *ret_address)
{
	struct wsi_build *build = scene->build;
	struct ws_memory_range range;
	for (uint32_t i = 0; i < wsi_range_count(build) &&
			     ws_target_memory_range(build->target, i, &range, NULL) == WS_OK;
	     i++) {
		uint64_t address = (range.start & ~(uint64_t)UINT32_MAX) | low;
		if (address < range.start)
			address += UINT64_C(1) << 32;
		if (range.space != WS_SPACE_GLOBAL || address - range.start >= range.size)
			continue;
		*ret_address = address;
		return true;
	}
	return false;
}

/* What the code shows. */
static const char *shown_by_code(const struct wsi_scene *scene,
				 const struct ws_report_access *access)
{
	const struct ws_flow_slice *slice = scene->slice;
	uint64_t address, value, whole;
	unsigned uses = 0;
	if (!scene->have_slice || slice->partly || scene->e->n_accesses != 1)
		return NULL;
	const struct ws_flow_node *base = narrow_base(slice);
	if (!base || (base->op != WS_FLOW_ZEXT && base->op != WS_FLOW_SEXT))
		return NULL;
	const char *text = cut_in_code(scene, &slice->node[base->arg[0]]);
	if (text)
		return text;
	if (!wsi_eval_kept(scene, slice, 0, access->lane, 0, &address, &uses) ||
	    address != access->address[access->lane] ||
	    !wsi_eval_kept(scene, slice, base->arg[0], access->lane, 0, &value, &uses) ||
	    value < LEAST || wsi_global_is_partial(scene->build) ||
	    !find_memory(scene, (uint32_t)address, &whole))
		return NULL;
	return wsi_build_text(scene->build,
			      "the code makes lane %u's address of 32 bits, 0x%" PRIx64
			      "; with the upper half of known memory it is 0x%" PRIx64
			      ", which is there",
			      access->lane, value, whole);
}

/* What the address itself shows: its upper half is the sign of its lower half. */
static const char *shown_by_sign(const struct wsi_scene *scene,
				 const struct ws_report_access *access)
{
	uint64_t address = access->address[access->lane], whole;
	if (address >> 31 != UINT64_C(0x1ffffffff) || access->null_like >> access->lane & 1 ||
	    wsi_global_is_partial(scene->build) || !find_memory(scene, (uint32_t)address, &whole))
		return NULL;
	return wsi_build_text(scene->build,
			      "the upper half of lane %u's address, 0x%" PRIx64
			      ", is a sign; with that of known memory it is 0x%" PRIx64
			      ", which is there",
			      access->lane, address, whole);
}

const char *wsi_cut_find(const struct wsi_scene *scene, const struct ws_report_access *access,
			 bool *ret_certain)
{
	*ret_certain = false;
	if (access->space != WS_SPACE_GLOBAL || access->lane == WS_NONE)
		return NULL;
	const char *text = shown_by_code(scene, access);
	*ret_certain = text != NULL;
	return text ? text : shown_by_sign(scene, access);
}
