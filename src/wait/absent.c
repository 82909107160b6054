/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is missing. At a barrier of a block: its threads that stand elsewhere; when the barrier
 * counts threads, also those that have ended, which other barriers do not wait for [public doc: PTX
 * ISA, exit and barrier.cluster; CUDA programming guide, __syncthreads]. At the barrier of a
 * cluster: threads of its other blocks. At a barrier object: threads of the block that are not
 * there. At the grid's barrier: its other blocks. At a convergence barrier: the lanes of the warp
 * that it names and that stand elsewhere.
 */
#include "wait/wait.h"

static const struct ws_report_group *group_of_part(const struct wsi_waits *w,
						   const struct wsi_part *part)
{
	return part->group < w->build->n_groups ? &w->build->groups[part->group].g : NULL;
}

struct absentees {
	struct ws_report_absentee list[WSI_MAX_ABSENTEES];
	uint32_t n;
};

static enum ws_absentee_state absentee_state(const struct wsi_waits *w, const struct wsi_part *part)
{
	const struct ws_report_group *group = group_of_part(w, part);
	if (part->wait != WS_NONE)
		return WS_ABSENTEE_WAITS;
	if (group && group->state == WS_THREAD_FAULTED)
		return WS_ABSENTEE_FAULTED;
	if (group && group->state == WS_THREAD_TRAPPED)
		return WS_ABSENTEE_TRAPPED;
	return WS_ABSENTEE_RUNS;
}

static void add_absentee(struct absentees *list, struct ws_report_absentee one)
{
	uint32_t at = 0;
	while (at < list->n &&
	       (list->list[at].state != one.state || list->list[at].group != one.group ||
		list->list[at].wait != one.wait))
		at++;
	if (at == WSI_MAX_ABSENTEES)
		at--;
	if (at == list->n) {
		list->list[list->n++] = one;
	} else {
		list->list[at].n_lanes += one.n_lanes;
		list->list[at].n_warps += one.n_warps;
		list->list[at].n_blocks += one.n_blocks;
	}
}

static struct ws_report_absentee absent_part(const struct wsi_waits *w, const struct wsi_part *part,
					     uint32_t lanes)
{
	struct wsi_part some = *part;
	some.lanes = lanes;
	return (struct ws_report_absentee){
		.state = absentee_state(w, part),
		.n_lanes = wsi_count_bits(lanes),
		.n_warps = 1,
		.example = wsi_part_thread(w, &some),
		.group = part->group < w->build->n_groups ? part->group : WS_NONE,
		.wait = part->wait,
	};
}

/* A thread of which nothing is known but perhaps its block. */
static struct ws_report_thread nobody(const struct wsi_waits *w, uint32_t block)
{
	const struct ws_report_map *map = &w->build->report->map;
	struct ws_report_thread at = { .device = WS_NONE,
				       .sm = WS_NONE,
				       .warp = WS_NONE,
				       .lane = WS_NONE,
				       .warp_index = WS_NONE,
				       .block_status = WS_ABSENT };
	if (block < map->n_blocks && map->blocks[block].status == WS_OK) {
		at.block_status = WS_OK;
		at.block = map->blocks[block].idx;
	}
	return at;
}

static bool is_complete(const struct wsi_waits *w)
{
	return w->build->report->dump_status != WS_OK || w->build->report->dump.complete;
}

/* Threads of a block that no resident warp holds. */
static uint64_t add_exited(const struct wsi_waits *w, uint32_t block, uint64_t resident,
			   uint64_t expected, struct absentees *list)
{
	if (resident >= expected)
		return 0;
	struct ws_report_absentee one = {
		.state = is_complete(w) ? WS_ABSENTEE_EXITED : WS_ABSENTEE_UNKNOWN,
		.n_lanes = expected - resident,
		.n_warps = (expected - resident + WS_MAX_LANES - 1) / WS_MAX_LANES,
		.example = nobody(w, block),
		.group = WS_NONE,
		.wait = WS_NONE,
	};
	add_absentee(list, one);
	return one.state == WS_ABSENTEE_EXITED ? 0 : one.n_lanes;
}

/* Blocks of a kernel's grid, or threads of its blocks; 0: not known. */
static uint64_t members_of(const struct wsi_waits *w, uint32_t kernel, bool blocks)
{
	if (kernel >= w->build->report->n_kernels || w->build->kernels[kernel].grid_status != WS_OK)
		return 0;
	const struct ws_grid *grid = &w->build->kernels[kernel].grid;
	uint64_t n = wsi_dim3_count(blocks ? grid->grid_dim : grid->block_dim);
	return n <= UINT32_MAX ? n : 0;
}

static bool is_here(const struct wsi_waits *w, const struct wsi_part *part, enum ws_wait_kind kind,
		    uint32_t barrier)
{
	return part->wait != WS_NONE && w->list[part->wait].kind == kind &&
	       (kind != WS_WAIT_BARRIER || part->barrier == barrier);
}

/* Whether a part waits for the same barrier, or barrier object, of the block as another. */
static bool is_with(const struct wsi_waits *w, const struct wsi_part *part,
		    const struct wsi_part *other)
{
	const struct ws_report_wait *wait = &w->list[other->wait];
	if (wait->kind == WS_WAIT_MBARRIER)
		return part == other || (part->wait == other->wait && wait->one_address);
	return is_here(w, part, wait->kind, other->barrier);
}

/*
 * One barrier, or barrier object, of one block, whose parts `from` to before `to` are: with
 * `counted` arrivals needed in all, 0 for all threads that have not ended. Returns how many are
 * missing; `*ret_able` how many threads could still come.
 */
static uint64_t check_barrier(const struct wsi_waits *w, size_t from, size_t to,
			      const struct wsi_part *first, uint64_t counted,
			      struct absentees *list, uint64_t *ret_able)
{
	uint64_t resident = 0, arrived = 0, missing = 0;
	uint64_t threads = members_of(w, w->list[first->wait].kernel, false);
	*ret_able = 0;
	for (size_t i = from; i < to; i++) {
		uint32_t n = wsi_count_bits(w->parts[i].lanes);
		resident += n;
		arrived += is_with(w, &w->parts[i], first) ? n : 0;
	}
	if (counted && arrived >= counted)
		return 0;
	for (size_t i = from; i < to; i++) {
		if (is_with(w, &w->parts[i], first))
			continue;
		struct ws_report_absentee one = absent_part(w, &w->parts[i], w->parts[i].lanes);
		*ret_able += wsi_never_comes(one.state) ? 0 : one.n_lanes;
		missing += one.n_lanes;
		add_absentee(list, one);
	}
	if (!counted)
		return missing;
	*ret_able += add_exited(w, first->block, resident, threads, list);
	return counted - arrived;
}

static void count_missing(struct ws_report_wait *wait, uint64_t missing, uint64_t able)
{
	wait->n_missing += missing;
	wait->n_never += missing > able ? missing - able : 0;
}

static void check_one(struct wsi_waits *w, size_t from, size_t to, const struct wsi_part *part,
		      struct absentees *list)
{
	struct ws_report_wait *wait = &w->list[part->wait];
	const struct wsi_wait_code *code = &w->code[part->group];
	uint64_t able;
	uint64_t missing = check_barrier(w, from, to, part, wait->expected, list, &able);
	wait->missing_is_most |= missing && wait->expected && code->arrivals;
	count_missing(wait, missing, able);
}

/* A barrier object, in the block of the wait's example: it tells how many arrivals it needs. */
static void check_object(struct wsi_waits *w, size_t from, size_t to, const struct wsi_part *part,
			 struct absentees *list)
{
	struct ws_report_wait *wait = &w->list[part->wait];
	uint64_t able, all = UINT64_MAX;
	if (part->warp != wait->example.warp_index || wait->object.status != WS_OK ||
	    wait->object.over || wait->object.pending == 0)
		return;
	(void)check_barrier(w, from, to, part, all, list, &able);
	wait->n_missing = wait->object.pending;
	wait->nobody_left = able == 0;
}

/* Every wait at a barrier or barrier object in a block, once for each. `checked`: by wait, the last
 * block. */
static void check_block_waits(struct wsi_waits *w, size_t from, size_t to, struct absentees *lists,
			      size_t *checked)
{
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (part->wait == WS_NONE || checked[part->wait] == from + 1)
			continue;
		checked[part->wait] = from + 1;
		if (w->list[part->wait].kind == WS_WAIT_BARRIER && part->barrier != WS_NONE)
			check_one(w, from, to, part, &lists[part->wait]);
		else if (w->list[part->wait].kind == WS_WAIT_MBARRIER)
			check_object(w, from, to, part, &lists[part->wait]);
	}
}

/* Lanes of a warp that others of it wait for: parts `from` to before `to` are the warp's. */
static void check_warp_waits(struct wsi_waits *w, size_t from, size_t to, struct absentees *lists)
{
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (part->wait == WS_NONE || w->list[part->wait].kind != WS_WAIT_CONVERGENCE)
			continue;
		for (size_t k = from; k < to; k++) {
			uint32_t missing = w->parts[k].lanes & part->mask;
			if (k == i || !missing || w->parts[k].wait == part->wait)
				continue;
			struct ws_report_absentee one = absent_part(w, &w->parts[k], missing);
			count_missing(&w->list[part->wait], one.n_lanes,
				      wsi_never_comes(one.state) ? 0 : one.n_lanes);
			add_absentee(&lists[part->wait], one);
		}
	}
}

/* ---- clusters and grids ---- */

/* The number of the cluster, or of the grid, that each block belongs to, from 0; WS_NONE: none. */
static enum ws_status number_blocks(const struct wsi_waits *w, bool by_cluster,
				    uint32_t *ret_number, uint32_t *ret_n)
{
	const struct ws_report_map *map = &w->build->report->map;
	struct wsi_map numbers = { 0 };
	enum ws_status st = WS_OK;
	*ret_n = 0;
	for (uint32_t i = 0; i < map->n_blocks && st == WS_OK; i++) {
		struct ws_block block;
		ret_number[i] = WS_NONE;
		if (map->blocks[i].status != WS_OK || map->blocks[i].kernel == WS_NONE ||
		    ws_target_block(w->build->target, i, &block, NULL) != WS_OK)
			continue;
		struct ws_dim3 dim = block.cluster_dim, idx = block.idx;
		struct wsi_map_key key = { { map->blocks[i].kernel, 0, 0, 0 } };
		if (by_cluster && !(block.have & WS_BLOCK_CLUSTER_DIM && dim.x && dim.y && dim.z))
			continue;
		if (by_cluster)
			key = (struct wsi_map_key){ { (uint64_t)map->blocks[i].kernel + 1,
						      idx.x / dim.x, idx.y / dim.y,
						      idx.z / dim.z } };
		bool is_new;
		uint32_t *number = wsi_map_put(&numbers, &key, *ret_n, &is_new);
		if (!number)
			st = WS_NO_MEMORY;
		else
			ret_number[i] = *number;
		*ret_n += number && is_new;
	}
	wsi_map_fini(&numbers);
	return st;
}

/* Blocks that wait together, by number: the first wait of the kind among them. */
struct together {
	uint32_t *number;  /* owned; by block */
	uint32_t *wait;    /* owned; by number, or WS_NONE */
	uint32_t *members; /* owned; by number: how many blocks */
	bool *arrived;     /* owned; by block: some part waits */
	uint32_t n;
};

static void together_fini(struct together *t)
{
	wsi_free(t->number);
	wsi_free(t->wait);
	wsi_free(t->members);
	wsi_free(t->arrived);
}

static enum ws_status together_init(const struct wsi_waits *w, enum ws_wait_kind kind,
				    struct together *t)
{
	uint32_t n_blocks = w->build->report->map.n_blocks;
	*t = (struct together){ .number = wsi_zalloc_array(n_blocks, sizeof *t->number),
				.wait = wsi_zalloc_array(n_blocks, sizeof *t->wait),
				.members = wsi_zalloc_array(n_blocks, sizeof *t->members),
				.arrived = wsi_zalloc_array(n_blocks, sizeof *t->arrived) };
	if (!t->number || !t->wait || !t->members || !t->arrived)
		return WS_NO_MEMORY;
	enum ws_status st = number_blocks(w, kind == WS_WAIT_CLUSTER, t->number, &t->n);
	for (uint32_t i = 0; i < t->n; i++)
		t->wait[i] = WS_NONE;
	for (uint32_t i = 0; i < n_blocks && st == WS_OK; i++)
		if (t->number[i] != WS_NONE)
			t->members[t->number[i]]++;
	for (size_t i = 0; i < w->n_parts && st == WS_OK; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (!is_here(w, part, kind, 0) || part->block >= n_blocks ||
		    t->number[part->block] == WS_NONE)
			continue;
		uint32_t *wait = &t->wait[t->number[part->block]];
		*wait = *wait == WS_NONE ? part->wait : *wait;
		t->arrived[part->block] = true;
	}
	return st;
}

/* Threads of clusters some of whose threads wait for the others; those may have arrived before. */
static enum ws_status check_clusters(struct wsi_waits *w, struct absentees *lists)
{
	struct together t;
	enum ws_status st = together_init(w, WS_WAIT_CLUSTER, &t);
	for (size_t i = 0; i < w->n_parts && st == WS_OK; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (part->block >= w->build->report->map.n_blocks ||
		    t.number[part->block] == WS_NONE || t.wait[t.number[part->block]] == WS_NONE ||
		    is_here(w, part, WS_WAIT_CLUSTER, 0))
			continue;
		uint32_t wait = t.wait[t.number[part->block]];
		struct ws_report_absentee one = absent_part(w, part, part->lanes);
		w->list[wait].missing_is_most = true;
		count_missing(&w->list[wait], one.n_lanes,
			      wsi_never_comes(one.state) ? 0 : one.n_lanes);
		add_absentee(&lists[wait], one);
	}
	together_fini(&t);
	return st;
}

/* A resident block that is not at the grid's barrier, by the first of its parts. */
static void add_absent_block(struct wsi_waits *w, uint32_t wait, const struct wsi_part *part,
			     struct absentees *lists)
{
	struct ws_report_absentee one = absent_part(w, part, part->lanes);
	one.n_blocks = 1;
	count_missing(&w->list[wait], 1, wsi_never_comes(one.state) ? 0 : 1);
	add_absentee(&lists[wait], one);
}

/* Blocks of grids some of whose blocks wait for the others. */
static enum ws_status check_grids(struct wsi_waits *w, struct absentees *lists)
{
	const struct ws_report_map *map = &w->build->report->map;
	struct together t;
	enum ws_status st = together_init(w, WS_WAIT_GRID, &t);
	uint32_t last = WS_NONE;
	for (size_t i = 0; i < w->n_parts && st == WS_OK; i++) {
		uint32_t block = w->parts[i].block;
		if (block >= map->n_blocks || block == last || t.number[block] == WS_NONE ||
		    t.wait[t.number[block]] == WS_NONE || t.arrived[block])
			continue;
		last = block;
		add_absent_block(w, t.wait[t.number[block]], &w->parts[i], lists);
	}
	for (uint32_t number = 0; number < t.n && st == WS_OK; number++) {
		uint64_t resident = t.members[number];
		if (t.wait[number] == WS_NONE)
			continue;
		uint64_t all = members_of(w, w->list[t.wait[number]].kernel, true);
		struct ws_report_absentee one = {
			.state = is_complete(w) ? WS_ABSENTEE_NOT_RESIDENT : WS_ABSENTEE_UNKNOWN,
			.n_blocks = all > resident ? all - resident : 0,
			.example = nobody(w, WS_NONE),
			.group = WS_NONE,
			.wait = WS_NONE,
		};
		if (one.n_blocks == 0)
			continue;
		w->list[t.wait[number]].n_missing += one.n_blocks;
		add_absentee(&lists[t.wait[number]], one);
	}
	together_fini(&t);
	return st;
}

/* ---- all ---- */

/* The end of the parts of one block, or of one warp. */
static size_t absent_run_end(const struct wsi_waits *w, size_t from, bool by_block)
{
	const struct wsi_part *first = &w->parts[from];
	size_t to = from + 1;
	while (to < w->n_parts &&
	       (by_block ? w->parts[to].block == first->block : w->parts[to].warp == first->warp))
		to++;
	return to;
}

static int compare_absentees(const void *left, const void *right)
{
	const struct ws_report_absentee *a = left, *b = right;
	if (a->state != b->state)
		return WSI_ORDER(a->state, b->state);
	if (a->n_blocks != b->n_blocks)
		return WSI_ORDER(b->n_blocks, a->n_blocks);
	if (a->n_lanes != b->n_lanes)
		return WSI_ORDER(b->n_lanes, a->n_lanes);
	return WSI_ORDER(a->group, b->group);
}

static enum ws_status keep_absent_lists(struct wsi_waits *w, struct absentees *lists)
{
	for (size_t i = 0; i < w->n_list; i++) {
		struct ws_report_absentee *kept =
			wsi_arena_zalloc_array(w->build->arena, lists[i].n, sizeof *kept);
		if (!kept)
			return WS_NO_MEMORY;
		if (lists[i].n)
			qsort(lists[i].list, lists[i].n, sizeof *lists[i].list, compare_absentees);
		memcpy(kept, lists[i].list, lists[i].n * sizeof *kept);
		w->list[i].absentees = kept;
		w->list[i].n_absentees = lists[i].n;
	}
	return WS_OK;
}

enum ws_status wsi_wait_absentees(struct wsi_waits *w)
{
	struct absentees *lists = wsi_zalloc_array(w->n_list, sizeof *lists);
	size_t *checked = wsi_zalloc_array(w->n_list, sizeof *checked);
	enum ws_status st = lists && checked ? WS_OK : WS_NO_MEMORY;
	for (size_t from = 0, to; from < w->n_parts && st == WS_OK; from = to) {
		to = absent_run_end(w, from, true);
		if (w->parts[from].block != WS_NONE)
			check_block_waits(w, from, to, lists, checked);
	}
	for (size_t from = 0, to; from < w->n_parts && st == WS_OK; from = to) {
		to = absent_run_end(w, from, false);
		check_warp_waits(w, from, to, lists);
	}
	if (st == WS_OK)
		st = check_clusters(w, lists);
	if (st == WS_OK)
		st = check_grids(w, lists);
	if (st == WS_OK)
		st = keep_absent_lists(w, lists);
	wsi_free(lists);
	wsi_free(checked);
	return st;
}

/* From the largest wait, of a collective operation if there is one, to whom it misses, as long as
 * those wait themselves. In a circle it is the last one before it closes. */
uint32_t wsi_wait_root(const struct ws_report_wait *list, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < n; i++)
		if (list[i].kind == WS_WAIT_CONVERGENCE && list[i].needs)
			return i; /* its own mask keeps it there */
	while (at < n && !list[at].collective)
		at++;
	if (at == n)
		at = 0;
	for (uint32_t step = 0; step < n; step++) {
		const struct ws_report_wait *wait = &list[at];
		uint32_t next = WS_NONE;
		for (uint32_t i = 0; i < wait->n_absentees && next == WS_NONE; i++) {
			if (wait->absentees[i].state != WS_ABSENTEE_WAITS)
				return at; /* it ended, faulted or runs: nobody waits for more */
			next = wait->absentees[i].wait;
		}
		if (next >= n)
			return at;
		at = next;
	}
	return n ? at : WS_NONE;
}
