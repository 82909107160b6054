/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether code came to a trap because it gave up a wait: the one branch that leads there leaves, by
 * a count or a clock, a loop that otherwise ends on what others write.
 */
#include "explain/explain.h"

static bool is_limit(const struct ws_flow_loop *loop, uint64_t branch)
{
	for (size_t i = 0; i < loop->n_limits; i++)
		if (loop->limit_pc[i] == branch)
			return true;
	return false;
}

/* "kernel parameter 0 `tail`", that the address of what is read comes from; NULL: not known. */
static const char *address_owner_text(struct wsi_scene *at, uint64_t pc, enum ws_status *st)
{
	struct ws_flow_address parts;
	const char *text = NULL;
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	*st = slice ? ws_flow_slice_address(at->code.flow, pc, 0, slice, NULL) : WS_NO_MEMORY;
	if (*st == WS_OK && !slice->open && !slice->partly) {
		ws_flow_address(slice, 0, &parts);
		const struct ws_flow_node *base =
			parts.base == UINT16_MAX ? NULL : &slice->node[parts.base];
		uint64_t offset = base ? (uint64_t)base->value : 0;
		if (base && base->n_args == 1 && slice->node[base->arg[0]].op == WS_FLOW_IMMEDIATE)
			offset += (uint64_t)slice->node[base->arg[0]].value;
		else if (base && base->n_args)
			base = NULL;
		if (base && base->op == WS_FLOW_CONSTANT && base->number == 0)
			text = wsi_owner_parameter_text(at, offset);
	}
	wsi_free(slice);
	*st = *st == WS_NO_MEMORY ? *st : WS_OK;
	return text;
}

enum ws_status wsi_find_gave_up(struct wsi_scene *scene, struct wsi_scene *at, uint64_t pc)
{
	struct ws_flow_loop loop;
	struct ws_insn insn;
	uint64_t branch;
	bool taken;
	if (!at->code.flow || !wsi_branch_find(at, pc, &branch, &taken))
		return WS_OK;
	enum ws_status st = ws_flow_loop(at->code.flow, branch, &loop, NULL);
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	if (loop.stores || loop.computes || loop.mixed || loop.n_calls || loop.n_conditions == 0 ||
	    loop.n_sources == 0 || !is_limit(&loop, branch) ||
	    !wsi_code_insn(&at->code, loop.source_pc[0], &insn))
		return WS_OK;
	const char *owner = address_owner_text(at, loop.source_pc[0], &st);
	const char *text = wsi_code_text(scene->build, &insn, loop.source_pc[0]);
	const char *line = wsi_code_line_text(scene->build, &at->code, loop.source_pc[0]);
	if (st != WS_OK || !text || !line)
		return WS_NO_MEMORY;
	wsi_fact(
		scene, WSI_FACT_GAVE_UP,
		wsi_found(scene, WS_CONFIDENCE_LIKELY, "the code in front of the trap",
			  "it waited in a loop that reads%s%s by `%s`%s, and left it by a count or "
			  "a clock of its own",
			  owner ? " memory of " : " memory", owner ? owner : "", text, line));
	return WS_OK;
}
