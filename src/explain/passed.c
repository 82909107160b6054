/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has executed the instruction at the error PC. A fault is detected some instructions late: by
 * then a lane may have come to its pc by a way around the instruction, and the guilty lanes may
 * have exited or be somewhere else.
 */
#include "explain/explain.h"

enum { MAX_DEPTH = 32 };

/* Blocks that are reached without the block of the instruction. */
struct around {
	const struct ws_flow_block *blocks;
	size_t n, at;  /* `at`: block of the instruction */
	bool *reached; /* owned; one a block, and `at` itself when a way leads to its start */
	bool open;     /* ways are missing */
};

static enum ws_status around_init(struct around *a, const struct wsi_function_code *code,
				  uint64_t pc)
{
	*a = (struct around){ .n = 0 };
	if (!code->flow || (a->at = ws_flow_block_find(code->flow, pc)) == SIZE_MAX)
		return WS_OK;
	a->blocks = ws_flow_blocks(code->flow, &a->n);
	a->reached = wsi_zalloc_array(a->n, sizeof *a->reached);
	uint32_t *work = wsi_zalloc_array(a->n, sizeof *work), n = 0;
	for (uint32_t i = 0; a->reached && work && i < a->n; i++) {
		a->open |= a->blocks[i].flags & WS_FLOW_OPEN;
		if (!(a->blocks[i].flags & (WS_FLOW_ENTRY | WS_FLOW_CALLED)))
			continue;
		a->reached[i] = true;
		work[n++] = i;
	}
	while (n > 0) {
		const struct ws_flow_block *block = &a->blocks[work[--n]];
		for (uint32_t i = 0; block != &a->blocks[a->at] && i < block->n_succ; i++) {
			if (a->reached[block->succ[i]])
				continue;
			a->reached[block->succ[i]] = true;
			work[n++] = block->succ[i];
		}
	}
	bool ok = a->reached && work;
	wsi_free(work);
	return ok ? WS_OK : WS_NO_MEMORY;
}

/* Whether who is at `pc` has executed the instruction on any way there. */
static bool has_passed(const struct wsi_scene *scene, const struct around *a, uint64_t pc)
{
	size_t block = a->n ? ws_flow_block_find(scene->code.flow, pc) : SIZE_MAX;
	if (block == SIZE_MAX)
		return false;
	if (block == a->at)
		return pc >= scene->e->errorpc;
	return !a->open && !a->reached[block];
}

/* Whether a lane passed it that called something from this function and has not returned. */
static bool has_called(const struct wsi_scene *scene, const struct around *a, uint32_t lane)
{
	struct ws_return_address stack[MAX_DEPTH];
	uint32_t n = 0;
	if (ws_target_call_stack(scene->build->target, scene->e->at.warp_index, lane, stack,
				 MAX_DEPTH, &n, NULL) != WS_OK)
		return false;
	for (uint32_t i = 0; i < n && i < MAX_DEPTH; i++)
		if (has_passed(scene, a, stack[i].address - WS_SASS_BYTES))
			return true;
	return false;
}

enum ws_status wsi_passed_find(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct around a = { .n = 0 };
	uint64_t known = 0;
	bool passed = false;
	if (e->errorpc_status != WS_OK || scene->build->classic)
		return WS_OK;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		uint64_t pc = scene->lane[lane].pc;
		if (!(scene->lanes >> lane & 1) || pc == e->errorpc)
			continue;
		if (!scene->late && around_init(&a, &scene->code, e->errorpc) != WS_OK) {
			wsi_free(a.reached);
			return WS_NO_MEMORY;
		}
		if (!scene->late || pc != known)
			passed = has_passed(scene, &a, pc);
		known = pc;
		scene->late |= 1u << lane;
		if (!passed && !has_called(scene, &a, lane))
			scene->around |= 1u << lane;
	}
	wsi_free(a.reached);
	return WS_OK;
}

/* Lanes that the warp was launched with. */
static uint32_t launched(const struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	uint32_t first = wsi_first_bit(scene->lanes);
	if (scene->warp.have & WS_WARP_CBU)
		return scene->warp.valid_lanes | scene->warp.cbu_exited_lanes;
	if (e->kernel == WS_NONE || !scene->lanes)
		return scene->warp.valid_lanes;
	struct ws_dim3 dim = scene->build->kernels[e->kernel].grid.block_dim;
	uint64_t threads = (uint64_t)dim.x * dim.y * dim.z;
	uint64_t before = wsi_dim3_rank(scene->lane[first].thread, dim) - first;
	return threads - before < WS_MAX_LANES && before < threads ? (1u << (threads - before)) - 1
								   : UINT32_MAX;
}

enum ws_status wsi_elsewhere_find(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	uint32_t blamed = e->lanes_blamed & scene->lanes;
	if (e->blame == WS_BLAME_TRAP || e->blame == WS_BLAME_NOBODY || !(scene->late & blamed) ||
	    !e->kind || e->kind->scope != WS_SCOPE_WARP || !e->kind->knows_instruction)
		return WS_OK;
	if (access && access->wrong & ~scene->around & (access->lanes_known | access->lanes_likely))
		return WS_OK; /* who did it is here */
	uint32_t lanes = launched(scene) & ~blamed, n = wsi_count_bits(lanes);
	uint32_t gone = wsi_count_bits(lanes & ~scene->warp.valid_lanes);
	if (n == 0)
		return WS_OK;
	e->lanes_elsewhere = lanes;
	e->elsewhere =
		wsi_build_text(scene->build, "%u lane%s of the warp that %s", n, n == 1 ? "" : "s",
			       gone == n && n == 1 ? "has exited"
			       : gone == n         ? "have exited"
			       : gone > 0          ? "have exited or are elsewhere"
			       : n == 1            ? "is elsewhere"
						   : "are elsewhere");
	return e->elsewhere ? WS_OK : WS_NO_MEMORY;
}
