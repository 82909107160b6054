/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Triton calls things: a block is a program, its address in a tensor comes from the program's
 * ids and from the element of the block, and an access has a mask or none. Which of these, the PTX
 * tells: a mask is the guard of its load or store. [measured: Triton 3.5.1 and 3.9.0]
 */
#include "explain/explain.h"

#include "cubin/cubin.h"

/* "lane 4: byte 3600 from the pointer: 3072 by the program's ids, 528 by the element (132 of 4
 * bytes)"; NULL: not known. The part of the element is what is left in the program with the ids 0.
 */
static const char *element_text(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	uint64_t address = access->address[access->lane], first;
	struct ws_dim3 ids = scene->block.idx;
	unsigned uses = 0;
	if (owner->kind != WS_OWNER_PARAMETER || !owner->value_known || !scene->have_block ||
	    !scene->have_slice || scene->e->n_accesses != 1)
		return NULL;
	scene->block.idx = (struct ws_dim3){ 0, 0, 0 };
	bool known = wsi_eval(scene, scene->slice, 0, access->lane, 0, &first, &uses);
	scene->block.idx = ids;
	if (!known || uses & WSI_EVAL_MEMORY || first < owner->value || address < first)
		return NULL;
	uint64_t element = first - owner->value;
	bool whole = access->width == 4 && element % 4 == 0;
	return wsi_build_text(scene->build,
			      "; lane %u: byte %" PRIu64 " from the pointer, %" PRIu64
			      " by the program's ids and %" PRIu64 " by the element of the block%s",
			      access->lane, address - owner->value, address - first, element,
			      whole ? wsi_build_text(scene->build,
						     " (number %" PRIu64 " of 4 bytes)",
						     element / 4)
				    : "");
}

void wsi_facts_of_program(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct ws_place place;
	struct ws_ptx_line line;
	if (!scene->e->is_program || access->space != WS_SPACE_GLOBAL ||
	    !((access->unmapped | access->outside) >> access->lane & 1) ||
	    ws_cubin_find_address(scene->code.place.cubin, access->pc, &place, NULL) != WS_OK ||
	    ws_cubin_ptx_find(place.cubin, place.section, place.sec_off, &line, NULL) != WS_OK)
		return;
	const char *element = element_text(scene, access);
	element = element ? element : "";
	if (wsi_str_begins(line.text, "@"))
		wsi_fact(scene, WSI_FACT_MASKED,
			 wsi_build_text(scene->build,
					"the access has a mask, which is true for lane %u%s",
					access->lane, element));
	else if (wsi_str_begins(line.text, "ld.global") || wsi_str_begins(line.text, "st.global"))
		wsi_fact(scene, WSI_FACT_NO_MASK,
			 wsi_build_text(scene->build,
					"in the code the access has no mask, or one that is "
					"always true%s",
					element));
}
