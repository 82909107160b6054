/* SPDX-License-Identifier: Apache-2.0 */
/* See check.h: blocks and barriers, findings. What an operation does is in watch.c. */
#include <stdlib.h>

#include "sim/check/check.h"

enum {
	MAX_FINDINGS = 1000,
	MAX_BLOCKS = 1 << 26, /* entities have 32 bits */
};

#define KEY_SHARED (UINT64_C(1) << 63)

struct wsi_check *wsi_check_create(void)
{
	struct wsi_check *check = wsi_zalloc(sizeof *check);
	if (!check)
		return NULL;
	check->time = 1; /* 0 is never */
	return check;
}

void wsi_check_destroy(struct wsi_check *check)
{
	if (!check)
		return;
	wsi_shadow_fini(&check->shadow);
	wsi_meetings_fini(check);
	wsi_free(check->variables);
	wsi_free(check->named);
	wsi_free(check->blocks);
	wsi_free(check->findings);
	wsi_free(check);
}

/* ---- variables of modules ---- */

static int variable_order(const void *a, const void *b)
{
	const struct wsi_extent *x = a, *y = b;
	return WSI_ORDER(x->start, y->start);
}

static int named_order(const void *a, const void *b)
{
	const struct wsi_named_address *x = a, *y = b;
	return WSI_ORDER(x->pc, y->pc);
}

bool wsi_check_name(struct wsi_check *check, uint64_t pc, uint64_t address)
{
	if (!wsi_grow(&check->named, &check->cap_named, check->n_named, sizeof *check->named,
		      SIZE_MAX))
		return false;
	check->named[check->n_named++] = (struct wsi_named_address){ pc, address };
	return true;
}

uint64_t wsi_check_named(const struct wsi_check *check, uint64_t pc)
{
	size_t at = WSI_BISECT(i, 0, check->n_named, check->named[i].pc < pc);
	return at < check->n_named && check->named[at].pc == pc ? check->named[at].address : 0;
}

/* Symbols may name parts of others: what overlaps is one. */
static void merge_variables(struct wsi_check *check)
{
	struct wsi_extent *list = check->variables;
	size_t n = 0;
	qsort(list, check->n_variables, sizeof *list, variable_order);
	for (size_t i = 0; i < check->n_variables; i++) {
		struct wsi_extent *last = n > 0 ? &list[n - 1] : NULL;
		if (last && list[i].start - last->start < last->size)
			last->size =
				wsi_max_u64(last->size, list[i].start - last->start + list[i].size);
		else
			list[n++] = list[i];
	}
	check->n_variables = n;
}

enum ws_status wsi_check_module(struct wsi_check *check, const struct wsi_module *module,
				struct ws_error *err)
{
	const struct ws_variable *variables;
	size_t n, before = check->n_variables;
	enum ws_status st = ws_cubin_variables(module->cubin, &variables, &n, err);
	if (st != WS_OK)
		return wsi_cuda_context(err, st, WS_CUDA_ERROR_INVALID_IMAGE);
	for (size_t i = 0; i < n; i++) {
		const struct ws_variable *v = &variables[i];
		if (v->space != WS_SPACE_GLOBAL || v->is_managed || v->size_bytes == 0 ||
		    v->section >= module->n_sections || module->address[v->section] == 0)
			continue;
		if (!wsi_grow(&check->variables, &check->cap_variables, check->n_variables,
			      sizeof *check->variables, SIZE_MAX)) {
			check->n_variables = before;
			return wsi_cuda_no_memory(err);
		}
		check->variables[check->n_variables++] =
			(struct wsi_extent){ module->address[v->section] + v->offset,
					     v->size_bytes };
	}
	if (check->n_variables > 0)
		merge_variables(check);
	if (check->n_named > 0)
		qsort(check->named, check->n_named, sizeof *check->named, named_order);
	return WS_OK;
}

const struct wsi_extent *wsi_check_variable(const struct wsi_check *check, uint64_t address)
{
	size_t after = WSI_BISECT(i, 0, check->n_variables, check->variables[i].start <= address);
	const struct wsi_extent *v = after > 0 ? &check->variables[after - 1] : NULL;
	return v && address - v->start < v->size ? v : NULL;
}

/* ---- names of memory ---- */

uint64_t wsi_check_shared_key(const struct wsi_block *block, uint32_t offset)
{
	return KEY_SHARED | (uint64_t)block->trace->number << 24 | offset;
}

void wsi_check_written(struct wsi_check *check, uint64_t key, uint64_t n)
{
	while (n > 0) {
		uint64_t part = wsi_min_u64(n, WSI_SHADOW_BYTES - key % WSI_SHADOW_BYTES);
		wsi_shadow_mark(&check->shadow, key, part);
		key += part;
		n -= part;
	}
}

/* ---- blocks ---- */

bool wsi_check_enter(struct ws_sim *sim, struct wsi_block *block)
{
	struct wsi_check *check = sim->check;
	uint64_t of_warps =
		block->n_warps * (sizeof(struct wsi_trace) + wsi_trail_bytes(block->grid->n_regs));
	if (!wsi_block_take(sim, block, "what is checked of a block",
			    sizeof *block->trace + of_warps) ||
	    !wsi_account_fix(&sim->account, "what is checked", sizeof *check->blocks))
		return false;
	block->trace = wsi_zalloc(sizeof *block->trace);
	if (!block->trace)
		return false;
	block->trace->check = check;
	if (!wsi_grow(&check->blocks, &check->cap_blocks, check->n_blocks, sizeof *check->blocks,
		      MAX_BLOCKS))
		return false;
	block->trace->number = (uint32_t)check->n_blocks;
	check->blocks[check->n_blocks++] = (struct wsi_block_place){ .idx = block->idx,
								     .dim = block->grid->block,
								     .grid = block->grid->id };
	if (check->grid != block->grid->id) /* all of another grid came before */
		check->floor = check->time;
	check->grid = block->grid->id;
	for (uint32_t i = 0; i < block->n_warps; i++) {
		struct wsi_trace *trace = wsi_zalloc(sizeof *trace);
		block->warps[i]->trace = trace;
		if (!trace)
			return false;
		trace->entity = block->trace->number << WSI_ENTITY_BITS | i;
		trace->trail = wsi_trail_create(block->warps[i]->n_regs);
		if (!trace->trail)
			return false;
	}
	return true;
}

void wsi_check_leave(struct wsi_block *block)
{
	if (!block->trace)
		return;
	struct wsi_shadow *shadow = &block->trace->check->shadow;
	wsi_shadow_forget(shadow, wsi_check_shared_key(block, 0), block->shared_bytes);
	if (block->behind)
		wsi_shadow_forget(shadow, wsi_check_shared_key(block, block->behind),
				  WSI_SHARED_KEPT);
	for (uint32_t i = 0; i < block->n_warps; i++) {
		struct wsi_warp *warp = block->warps[i];
		if (!warp->trace)
			continue;
		wsi_clock_fini(&warp->trace->knows);
		wsi_clock_fini(&warp->trace->fenced);
		wsi_trail_destroy(warp->trace->trail);
		wsi_free(warp->trace);
	}
	wsi_free(block->trace);
}

/* ---- barriers ---- */

void wsi_check_together(struct wsi_warp *warp, uint32_t lanes)
{
	struct wsi_trace *trace = warp->trace;
	uint64_t joined[WSI_LANES] = { 0 };
	for (uint32_t left = lanes; left; left &= left - 1) {
		const uint64_t *knows = trace->lanes[wsi_first_bit(left)];
		for (unsigned i = 0; i < WSI_LANES; i++)
			joined[i] = wsi_max_u64(joined[i], knows[i]);
	}
	for (uint32_t left = lanes; left; left &= left - 1)
		joined[wsi_first_bit(left)] = warp->block->trace->check->time;
	for (uint32_t left = lanes; left; left &= left - 1)
		memcpy(trace->lanes[wsi_first_bit(left)], joined, sizeof joined);
	trace->tellers |= trace->tellers & lanes ? lanes : 0;
}

void wsi_check_barrier(struct wsi_block *block, unsigned number)
{
	struct wsi_check *check = block->trace->check;
	struct wsi_clock joined = { .n = 0 }, fenced = { .n = 0 };
	bool all = true, ok = true, tells = false;
	block->trace->at[number].time = 0;
	for (uint32_t i = 0; i < block->n_warps; i++)
		all &= (block->warps[i]->live & ~block->warps[i]->arrived[number]) == 0;
	for (uint32_t i = 0; i < block->n_warps; i++) {
		const struct wsi_warp *warp = block->warps[i];
		if (warp->arrived[number] == 0)
			continue;
		ok &= wsi_clock_join(&joined, &warp->trace->knows) &&
		      wsi_clock_join(&fenced, &warp->trace->fenced);
		ok &= wsi_clock_set(&joined, warp->trace->entity | (all ? WSI_ENTITY_BLOCK : 0),
				    check->time);
		tells |= (warp->trace->tellers & warp->arrived[number]) != 0;
	}
	for (uint32_t i = 0; i < block->n_warps; i++) {
		struct wsi_warp *warp = block->warps[i];
		if (warp->arrived[number] == 0)
			continue;
		warp->trace->tellers |= tells ? warp->arrived[number] : 0;
		wsi_check_together(warp, warp->arrived[number]);
		ok &= wsi_clock_join(&warp->trace->knows, &joined) &&
		      wsi_clock_join(&warp->trace->fenced, &fenced);
	}
	wsi_clock_fini(&joined);
	wsi_clock_fini(&fenced);
	check->no_memory |= !ok;
}

void wsi_check_cluster(struct wsi_cluster *cluster)
{
	struct wsi_clock joined = { .n = 0 }, fenced = { .n = 0 };
	struct wsi_check *check = NULL;
	bool ok = true, tells = false;
	for (uint32_t i = 0; i < cluster->n; i++) {
		const struct wsi_block *block = cluster->peers[i];
		if (!block)
			continue;
		if (!block->trace)
			return;
		check = block->trace->check;
		for (uint32_t k = 0; k < block->n_warps; k++) {
			const struct wsi_trace *trace = block->warps[k]->trace;
			ok &= wsi_clock_join(&joined, &trace->knows) &&
			      wsi_clock_join(&fenced, &trace->fenced);
			tells |= trace->tellers != 0;
		}
		ok &= wsi_clock_set(&joined, block->warps[0]->trace->entity | WSI_ENTITY_BLOCK,
				    check->time);
	}
	for (uint32_t i = 0; i < cluster->n; i++) {
		for (uint32_t k = 0; cluster->peers[i] && k < cluster->peers[i]->n_warps; k++) {
			struct wsi_warp *warp = cluster->peers[i]->warps[k];
			warp->trace->tellers |= tells ? warp->cluster_arrived : 0;
			wsi_check_together(warp, warp->cluster_arrived);
			ok &= wsi_clock_join(&warp->trace->knows, &joined) &&
			      wsi_clock_join(&warp->trace->fenced, &fenced);
		}
	}
	wsi_clock_fini(&joined);
	wsi_clock_fini(&fenced);
	if (check)
		check->no_memory |= !ok;
}

/* Threads of a block must meet at one and the same barrier. */
void wsi_check_arrive(struct wsi_run *run, unsigned number)
{
	const struct wsi_warp *warp = run->warp;
	struct wsi_block_trace *trace = warp->block->trace;
	struct wsi_shadow_access *at = &trace->at[number];
	const struct wsi_shadow_access here = {
		.time = trace->check->time,
		.pc = run->pc,
		.entity = warp->trace->entity,
		.lane = (uint8_t)wsi_first_bit(run->mask),
	};
	if (at->time == 0)
		*at = here;
	else if (at->pc != here.pc)
		wsi_check_tell(trace->check, WS_SIM_DIVERGENT_BARRIER, WS_SIM_SPACE_NONE, number,
			       &here, at);
}

void wsi_check_stuck(const struct ws_sim *sim)
{
	for (size_t i = 0; i < sim->n_blocks; i++) {
		struct wsi_block *block = sim->blocks[i];
		for (unsigned b = 0; b < WSI_BARRIERS; b++) {
			const struct wsi_shadow_access *at = &block->trace->at[b];
			struct wsi_shadow_access missing = { .time = 0 };
			for (uint32_t w = 0; w < block->n_warps && missing.time == 0; w++) {
				const struct wsi_warp *warp = block->warps[w];
				uint32_t lanes = warp->live & ~warp->arrived[b];
				if (lanes == 0)
					continue;
				missing.time = 1;
				missing.entity = warp->trace->entity;
				missing.lane = (uint8_t)wsi_first_bit(lanes);
				missing.pc = wsi_lane_pc(warp, missing.lane);
			}
			if (block->bar[b].in_use && at->time != 0 && missing.time != 0)
				wsi_check_tell(block->trace->check, WS_SIM_MISSING_AT_BARRIER,
					       WS_SIM_SPACE_NONE, b, at, &missing);
		}
	}
}

/* ---- findings ---- */

static struct ws_sim_party party(const struct wsi_check *check,
				 const struct wsi_shadow_access *access)
{
	const struct wsi_block_place *block = &check->blocks[access->entity >> WSI_ENTITY_BITS];
	uint32_t thread = (access->entity & WSI_ENTITY_BLOCK) * WSI_LANES + access->lane;
	struct ws_dim3 dim = block->dim;
	return (struct ws_sim_party){
		.pc = access->pc,
		.block = block->idx,
		.thread = { thread % dim.x, thread / dim.x % dim.y, thread / dim.x / dim.y },
		.is_atomic = access->strong,
	};
}

struct ws_sim_finding *wsi_check_tell(struct wsi_check *check, enum ws_sim_finding_kind kind,
				      enum ws_sim_space space, uint64_t address,
				      const struct wsi_shadow_access *who,
				      const struct wsi_shadow_access *other)
{
	uint64_t pc = other ? other->pc : 0;
	for (size_t i = 0; i < check->n_findings; i++) {
		struct ws_sim_finding *f = &check->findings[i];
		if (f->kind == kind && f->space == space && f->who.pc == who->pc &&
		    f->other.pc == pc) {
			f->count++;
			return NULL;
		}
	}
	if (check->n_findings == MAX_FINDINGS) {
		check->shadow.lost++;
		return NULL;
	}
	if (!wsi_grow(&check->findings, &check->cap_findings, check->n_findings,
		      sizeof *check->findings, MAX_FINDINGS)) {
		check->no_memory = true;
		return NULL;
	}
	struct ws_sim_finding *finding = &check->findings[check->n_findings++];
	*finding = (struct ws_sim_finding){
		.kind = kind,
		.space = space,
		.address = address,
		.count = 1,
		.grid = check->blocks[who->entity >> WSI_ENTITY_BITS].grid,
		.who = party(check, who),
		.has_other = other != NULL,
		.other = other ? party(check, other) : (struct ws_sim_party){ 0 },
	};
	return finding;
}

size_t ws_sim_findings(const struct ws_sim *sim, const struct ws_sim_finding **ret_findings)
{
	*ret_findings = sim->check ? sim->check->findings : NULL;
	return sim->check ? sim->check->n_findings : 0;
}

uint64_t ws_sim_unchecked(const struct ws_sim *sim)
{
	return sim->check ? sim->check->shadow.lost : 0;
}
