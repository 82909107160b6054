/* SPDX-License-Identifier: Apache-2.0 */
/* See history.h. */
#include "sim/history/history.h"

#include "sim/event/watchpoint.h"

enum {
	MAX_KEPT = 1 << 16,
	MAX_ACTIONS = 1 << 24,
	LEAST_SPACING = 256,
	NEAREST = WSI_HISTORY_INTERVAL / 512
};

/* A snapshot. */
struct kept {
	struct ws_sim_snapshot *snapshot; /* owned */
	uint64_t at;                      /* position */
	uint64_t bytes, shared;           /* that it takes at most; of these, pages */
	uint64_t state;                   /* that it took when it was made */
	uint64_t again;  /* that it and dense ones behind it took beside `bytes` when the
			    device ran from it again */
	bool dense, ran; /* ran: the device was not stepped there */
};

struct wsi_history {
	struct kept *kept; /* owned; by position */
	size_t n_kept, cap_kept;
	struct wsi_action *actions; /* owned; by position */
	size_t n_actions, cap_actions;
	uint64_t max_bytes;
	uint64_t next;                       /* position of the next snapshot */
	uint64_t spacing;                    /* instructions until then, or more if it is large */
	uint64_t copied, apart;              /* wsi_budget.copied when the last snapshot was made or
						restored; bytes since then: its pages */
	uint64_t end;                        /* of what is known; the device may be before it */
	uint64_t host_changes, user_changes; /* that the last snapshot has */
	bool ran;                            /* by itself since the last action */
	bool was_halted;                     /* by a breakpoint, when it went on last */
	uint64_t n_again;                    /* instructions executed again by this search */
	uint64_t base; /* position of the snapshot that runs again from; UINT64_MAX: none does */
};

/* ---- the lists ---- */

static void history_drop(struct wsi_history *h, size_t first, size_t n)
{
	if (n == 0)
		return;
	for (size_t i = first; i < first + n; i++)
		ws_sim_snapshot_free(h->kept[i].snapshot);
	memmove(&h->kept[first], &h->kept[first + n], (h->n_kept - first - n) * sizeof *h->kept);
	h->n_kept -= n;
}

/* ---- how much they take ---- */

static uint64_t history_bytes_of(const struct wsi_history *h)
{
	uint64_t bytes = h->n_actions * sizeof *h->actions + h->apart;
	for (size_t i = 0; i < h->n_kept; i++)
		bytes += h->kept[i].bytes + h->kept[i].again;
	return bytes;
}

/* The snapshot that is missed least: dense ones, then what is close to its neighbours for its
 * distance from now. The first and the last one stay, and one that a search began at; 0: none. */
static size_t least(const struct wsi_history *h)
{
	uint64_t now = h->kept[h->n_kept - 1].at;
	size_t best = 0;
	double best_worth = 1e300;
	for (size_t i = 1; i + 1 < h->n_kept; i++) {
		if (h->kept[i].at == h->base)
			continue;
		double gap = (double)(h->kept[i + 1].at - h->kept[i - 1].at);
		double worth = gap / (1 + (double)(now - h->kept[i - 1].at));
		worth = h->kept[i].dense ? worth / 1e6 : worth;
		best = worth < best_worth ? i : best;
		best_worth = worth < best_worth ? worth : best_worth;
	}
	return best;
}

/* Makes room for so many bytes more. */
static void thin(struct wsi_history *h, uint64_t more)
{
	size_t i;
	while (history_bytes_of(h) + more > h->max_bytes && (i = least(h)) > 0) {
		uint64_t shared = h->kept[i].shared + h->kept[i].again;
		h->kept[i - 1].bytes += shared; /* some of these are its, too */
		h->kept[i - 1].shared += shared;
		history_drop(h, i, 1);
	}
	if (h->n_kept < 2 || history_bytes_of(h) + more <= h->max_bytes)
		return;
	bool begins_later = h->kept[0].at != h->base;
	h->kept[1].again += begins_later && h->kept[1].dense ? h->kept[0].again : 0;
	history_drop(h, begins_later ? 0 : h->n_kept - 1, 1);
}

/* What the device changes since the last snapshot is held by that one alone: how much may it be?
 * Where it runs again it changed no more before, when there was room for that. */
static void set_limit(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	uint64_t others = history_bytes_of(h) - h->apart;
	bool any = h->n_kept > 0 && (!sim->debug->replays || history_bytes_of(h) <= h->max_bytes);
	sim->budget.limit =
		any ? h->copied + h->max_bytes - wsi_min_u64(others, h->max_bytes) : UINT64_MAX;
}

static void weigh(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	h->apart = sim->budget.copied - h->copied;
	thin(h, 0);
}

/* If there is no room for one snapshot either, history begins later, and those to come are closer
 * to each other. */
static void over(void *user)
{
	struct ws_sim *sim = user;
	struct wsi_history *h = sim->debug->history;
	weigh(sim);
	if (!sim->debug->replays && h->n_kept == 1 && history_bytes_of(h) > h->max_bytes) {
		h->spacing = wsi_max_u64((wsi_position(sim) - h->kept[0].at) / 2, LEAST_SPACING);
		history_drop(h, 0, 1);
		h->n_actions = 0;
	}
	set_limit(sim);
}

/* ---- history ---- */

static void forget_history(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	history_drop(h, 0, h->n_kept);
	h->n_actions = 0;
	h->ran = false;
	h->next = 0;
	h->end = wsi_position(sim);
	h->host_changes = sim->host_changes;
	set_limit(sim);
}

void wsi_history_fini(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	if (!h)
		return;
	forget_history(sim);
	wsi_free(h->kept);
	wsi_free(h->actions);
	wsi_free(h);
	sim->debug->history = NULL;
	sim->budget.limit = UINT64_MAX;
}

enum ws_status wsi_history_keep(struct ws_sim *sim, uint64_t max_bytes, struct ws_error *err)
{
	if (sim->check && max_bytes > 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"a device that checks cannot go back");
	wsi_history_fini(sim);
	if (max_bytes == 0)
		return WS_OK;
	struct wsi_history *h = sim->debug->history = wsi_zalloc(sizeof *h);
	if (!h)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	h->max_bytes = max_bytes;
	sim->debug->chosen = false;
	h->spacing = WSI_HISTORY_APART;
	h->base = UINT64_MAX;
	sim->budget.over = over;
	sim->budget.user = sim;
	forget_history(sim);
	return WS_OK;
}

/* Keeps the device as it is. Without memory for it one cannot go back to here. */
static void keep_snapshot(struct ws_sim *sim, bool dense)
{
	struct wsi_history *h = sim->debug->history;
	struct ws_sim_snapshot *snapshot;
	uint64_t at = wsi_position(sim);
	size_t i = WSI_BISECT(k, 0, h->n_kept, h->kept[k].at <= at);
	if (dense && i > 0 && h->kept[i - 1].at == at)
		return;
	if (!dense && i > 0 && h->n_kept == i) { /* all that it ever takes alone */
		struct kept *last = &h->kept[i - 1];
		uint64_t bytes = ws_sim_snapshot_bytes(last->snapshot);
		last->shared += bytes > last->bytes ? bytes - last->bytes : 0;
		last->bytes = wsi_max_u64(bytes, last->bytes);
		h->apart = 0;
		if (bytes - last->state < h->max_bytes / 4) /* there is room for several such */
			h->spacing = wsi_min_u64(h->spacing + h->spacing / 4, WSI_HISTORY_APART);
		thin(h, last->state);
		i = h->n_kept;
	}
	if (ws_sim_snapshot(sim, &snapshot, NULL) != WS_OK)
		return;
	if (!wsi_grow(&h->kept, &h->cap_kept, h->n_kept, sizeof *h->kept, MAX_KEPT)) {
		ws_sim_snapshot_free(snapshot);
		return;
	}
	memmove(&h->kept[i + 1], &h->kept[i], (h->n_kept++ - i) * sizeof *h->kept);
	h->kept[i] = (struct kept){
		.snapshot = snapshot,
		.at = at,
		.dense = dense,
		.ran = h->ran,
	};
	h->kept[i].state = h->kept[i].bytes = ws_sim_snapshot_bytes(snapshot);
	if (!dense) {
		h->copied = sim->budget.copied;
		h->next = at + h->spacing;
		if (h->spacing == WSI_HISTORY_APART)
			h->next = at + wsi_max_u64(h->spacing, h->kept[i].bytes / 2);
		h->user_changes = sim->user_changes;
	}
	weigh(sim);
	set_limit(sim);
}

/* ---- forward ---- */

void wsi_history_begin(struct ws_sim *sim, bool runs)
{
	struct wsi_history *h = sim->debug ? sim->debug->history : NULL;
	uint64_t now = wsi_position(sim);
	if (!h)
		return;
	h->was_halted = sim->debug->chosen;
	sim->debug->chosen = false;
	h->base = UINT64_MAX;
	if (h->host_changes != sim->host_changes)
		forget_history(sim);
	while (h->n_kept > 0 && h->kept[h->n_kept - 1].at > now)
		history_drop(h, h->n_kept - 1, 1);
	while (h->n_actions > 0 && h->actions[h->n_actions - 1].at >= now)
		h->n_actions--;
	if (h->n_actions > 0 && h->actions[h->n_actions - 1].end > now)
		h->actions[h->n_actions - 1].end = now;
	h->end = now;
	if (h->n_kept == 0 || h->user_changes != sim->user_changes)
		keep_snapshot(sim, false);
	if (runs && h->n_kept > 0 && h->kept[h->n_kept - 1].at == now)
		h->kept[h->n_kept - 1].ran = true; /* blocks will come */
}

uint64_t wsi_history_room(const struct ws_sim *sim)
{
	const struct wsi_history *h = sim->debug ? sim->debug->history : NULL;
	uint64_t now = wsi_position(sim);
	return !h ? 0 : h->next > now ? h->next - now : 1;
}

static void history_extend(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	h->end = wsi_position(sim);
	if ((h->end >= h->next || h->n_kept == 0) && !sim->faulted)
		keep_snapshot(sim, false);
}

void wsi_history_ran(struct ws_sim *sim)
{
	struct wsi_history *h = sim->debug->history;
	if (!h)
		return;
	h->ran = true;
	history_extend(sim);
}

/* Whether a step only goes on with the one before. */
static bool continues(const struct wsi_action *last, const struct wsi_action *next)
{
	return !last->until && !next->until && !next->ran && !next->halted &&
	       last->end == next->at && last->sm == next->sm && last->slot == next->slot &&
	       last->lane == next->lane && last->over == next->over &&
	       last->n < UINT32_MAX - next->n;
}

void wsi_history_did(struct ws_sim *sim, const struct wsi_action *action)
{
	struct wsi_history *h = sim->debug->history;
	if (!h)
		return;
	struct wsi_action *last = h->n_actions ? &h->actions[h->n_actions - 1] : NULL;
	struct wsi_action made = *action;
	made.ran = h->ran;
	made.halted = h->was_halted;
	h->ran = false;
	if (last && continues(last, &made)) {
		last->n += made.n;
		last->end = made.end;
	} else if (made.end > made.at) {
		if (!wsi_grow(&h->actions, &h->cap_actions, h->n_actions, sizeof *h->actions,
			      MAX_ACTIONS)) {
			forget_history(sim);
			return;
		}
		h->actions[h->n_actions++] = made;
	}
	history_extend(sim);
}

/* ---- the same again ---- */

static enum ws_status replay_fail(struct ws_error *err)
{
	return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
			"the kernels did not do the same again: memory that is not the device's "
			"has changed");
}

static enum ws_status run_to(struct ws_sim *sim, uint64_t to, struct ws_error *err)
{
	for (uint64_t now; (now = wsi_position(sim)) < to;) {
		enum ws_sim_outcome outcome = WS_SIM_STOPPED;
		atomic_store(&sim->stop, false);
		enum ws_status st = ws_sim_run(sim, to - now, &outcome, err);
		bool goes_on = sim->debug->finished || wsi_position(sim) > now;
		wsi_stub_drop_finished(sim->debug);
		if (st != WS_OK)
			return st;
		if (!goes_on)
			return replay_fail(err);
	}
	return WS_OK;
}

/* Does again what a debugger did, up to a position. */
static enum ws_status redo(struct ws_sim *sim, const struct wsi_action *a, uint64_t to,
			   struct ws_error *err)
{
	enum wsi_stepped how = WSI_STEPPED_DONE;
	sim->debug->stop_at = wsi_min_u64(a->end, to);
	atomic_store(&sim->stop, false);
	if (a->until) {
		how = wsi_stub_run_until(sim, a->sm, a->warps, a->pc);
	} else {
		for (uint32_t i = 0; i < a->n && wsi_position(sim) < sim->debug->stop_at; i++) {
			struct wsi_warp *warp = wsi_warp_at(sim, a->sm, a->slot);
			if (!warp)
				break;
			how = wsi_stub_step(sim, warp, a->lane, 1, a->over);
			if (how == WSI_STEPPED_NO_MEMORY)
				break;
		}
	}
	wsi_stub_drop_finished(sim->debug);
	bool there = wsi_position(sim) == sim->debug->stop_at;
	sim->debug->stop_at = UINT64_MAX;
	if (how == WSI_STEPPED_NO_MEMORY)
		return wsi_account_fail(&sim->account, err);
	return there ? WS_OK : replay_fail(err);
}

static enum ws_status history_fill(struct ws_sim *sim, struct ws_error *err)
{
	bool ok = wsi_launch_fill(sim);
	wsi_stub_drop_finished(sim->debug);
	return ok ? WS_OK : wsi_account_fail(&sim->account, err);
}

/* To a later position of what is known. */
static enum ws_status run_again(struct ws_sim *sim, uint64_t to, struct ws_error *err)
{
	struct wsi_history *h = sim->debug->history;
	uint64_t now = wsi_position(sim);
	size_t k = WSI_BISECT(i, 0, h->n_actions, h->actions[i].end <= now);
	enum ws_status st = WS_OK;
	while (st == WS_OK && (now = wsi_position(sim)) < to) {
		const struct wsi_action *a = k < h->n_actions ? &h->actions[k] : NULL;
		if (!a || a->at > now) {
			st = run_to(sim, a ? wsi_min_u64(a->at, to) : to, err);
			h->ran = true;
			continue;
		}
		if (a->ran && a->at == now)
			st = history_fill(sim, err);
		if (st == WS_OK && a->halted && a->at == now)
			wsi_run_choose(sim);
		if (st == WS_OK)
			st = redo(sim, a, to, err);
		h->ran = false;
		k++;
	}
	if (st == WS_OK && h->ran && !sim->turn_of && !sim->faulted)
		st = history_fill(sim, err);
	return st;
}

/* Puts the device back to a snapshot; no warp stands for anything. */
static enum ws_status restore_snapshot(struct ws_sim *sim, const struct kept *kept,
				       struct ws_error *err)
{
	struct wsi_stub *debug = sim->debug;
	enum ws_status st = ws_sim_restore(sim, kept->snapshot, err);
	if (st != WS_OK)
		return st;
	debug->history->copied = sim->budget.copied;
	debug->history->apart = 0;
	memset(debug->broken, 0, sim->options.n_sms * sizeof *debug->broken);
	memset(debug->moved, 0, sim->options.n_sms * sizeof *debug->moved);
	debug->halted = false;
	debug->new_lists = true;
	wsi_watch_forget(sim);
	for (size_t i = 0; i < sim->n_resident; i++) {
		struct wsi_warp *warp = sim->resident[i];
		if (!warp)
			continue;
		warp->halt = WSI_HALT_NONE;
		memset(warp->seen, 0, sizeof warp->seen);
	}
	for (struct wsi_grid *grid = sim->queue; grid; grid = grid->next) {
		grid->told = true;
		grid->held = false;
	}
	return WS_OK;
}

/* The last snapshot at or before a position. */
static size_t kept_before(const struct wsi_history *h, uint64_t position)
{
	return WSI_BISECT(i, 0, h->n_kept, h->kept[i].at <= position) - 1;
}

/* What was copied on the way from a snapshot is held by it, or by dense ones behind it. */
static void settle_snapshots(struct ws_sim *sim, struct kept *from)
{
	struct wsi_history *h = sim->debug->history;
	uint64_t apart = sim->budget.copied - h->copied;
	from->again = wsi_max_u64(from->again, apart);
	h->copied = sim->budget.copied;
	h->apart = 0;
	thin(h, 0);
	set_limit(sim);
}

/* From the `i`th snapshot to a position, looking for the search from `sought.before` down. */
static enum ws_status replay_history(struct ws_sim *sim, size_t i, uint64_t to, bool dense,
				     struct ws_error *err)
{
	struct wsi_history *h = sim->debug->history;
	uint64_t from = h->kept[i].at;
	uint64_t step = wsi_max_u64((to - from) / WSI_HISTORY_DENSE,
				    WSI_HISTORY_APART / (2 * WSI_HISTORY_DENSE));
	enum ws_status st = restore_snapshot(sim, &h->kept[i], err);
	h->ran = h->kept[i].ran;
	sim->debug->replays = true;
	h->base = from;
	set_limit(sim);
	/* the closer to the end the closer to each other: what is looked for is there more often */
	for (uint64_t left;
	     st == WS_OK && dense && (left = to - wsi_position(sim)) >= 2 * NEAREST;) {
		st = run_again(sim, wsi_position(sim) + wsi_min_u64(step, left / 2), err);
		if (st == WS_OK)
			keep_snapshot(sim, true);
	}
	if (st == WS_OK)
		st = run_again(sim, to, err);
	sim->debug->replays = false;
	h->n_again += wsi_position(sim) - from;
	settle_snapshots(sim, &h->kept[kept_before(h, from)]);
	sim->n_printed = 0; /* it was printed before */
	sim->debug->new_lists = true;
	return st;
}

enum ws_status wsi_history_go(struct ws_sim *sim, uint64_t position, struct ws_error *err)
{
	struct wsi_history *h = sim->debug->history;
	if (!h || h->n_kept == 0 || h->host_changes != sim->host_changes)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no history to go back in");
	if (position < h->kept[0].at || position > h->end)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "history does not reach there");
	sim->debug->sought.before = 0; /* nothing is looked for */
	enum ws_status st = replay_history(sim, kept_before(h, position), position, false, err);
	h->base = UINT64_MAX;
	return st;
}

static void drop_dense(struct wsi_history *h, uint64_t below)
{
	for (size_t i = h->n_kept; i > 0; i--)
		if (h->kept[i - 1].dense && h->kept[i - 1].at > below)
			history_drop(h, i - 1, 1);
}

static bool writes_searched(const struct ws_insn *insn, uint64_t pc,
			    const struct wsi_history_search *search)
{
	struct ws_operand list[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, list, WSI_COUNT(list));
	for (size_t i = 0; i < n; i++) {
		const struct ws_operand *op = &list[i];
		uint32_t count = op->count ? op->count : 1;
		if (op->kind == (search->is_predicate ? WS_OPERAND_PRED : WS_OPERAND_REG) &&
		    (op->role == WS_ROLE_WRITTEN || op->role == WS_ROLE_UPDATED) &&
		    search->number >= op->number && search->number < op->number + count)
			return true;
	}
	return false;
}

/* Marks the instructions that write a register which is looked for. */
static enum ws_status mark_writers(struct ws_sim *sim, const struct wsi_history_search *search,
				   struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (size_t i = 0; search->what == WSI_BACK_REG && i < sim->n_texts; i++) {
		const struct wsi_text *text = &sim->texts[i];
		for (uint64_t off = 0; off + WS_SASS_BYTES <= text->size && st == WS_OK;
		     off += WS_SASS_BYTES) {
			struct ws_insn insn;
			ws_sass_decode(sim->device->sm, text->bytes + off, &insn);
			if (writes_searched(&insn, text->start + off, search))
				st = wsi_stub_mark(sim, text->start + off, err);
		}
	}
	return st;
}

enum ws_status wsi_history_back(struct ws_sim *sim, const struct wsi_history_search *search,
				struct wsi_history_found *ret_found, struct ws_error *err)
{
	struct wsi_history *h = sim->debug->history;
	uint64_t to = wsi_position(sim);
	if (!h || h->n_kept == 0 || h->host_changes != sim->host_changes)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no history to go back in");
	struct wsi_sought *sought = &sim->debug->sought;
	*ret_found = sought->found = (struct wsi_history_found){ .any = false };
	sought->search = *search;
	h->n_again = 0;
	const uint64_t start = to;
	enum ws_status st = mark_writers(sim, search, err);
	while (st == WS_OK && !sought->found.any && to > h->kept[0].at) {
		size_t i = kept_before(h, to - 1);
		uint64_t from = h->kept[i].at;
		sought->before = to;
		if (!h->kept[i].dense)
			drop_dense(h, to);
		st = replay_history(sim, i, to, true, err);
		to = from;
	}
	wsi_stub_unmark(sim);
	*ret_found = sought->found;
	if (st != WS_OK)
		return st;
	st = wsi_history_go(sim,
			    sought->found.any                ? sought->found.at
			    : search->what == WSI_BACK_STOPS ? h->kept[0].at
							     : start,
			    err);
	ret_found->n_again = h->n_again;
	struct wsi_warp *warp =
		sought->found.any ? wsi_warp_at(sim, sought->found.sm, sought->found.slot) : NULL;
	if (st != WS_OK || !warp)
		return st;
	wsi_run_choose(sim);
	sim->debug->chosen = true;
	(void)wsi_stub_arrive(sim, warp, wsi_first_bit(sought->found.lanes));
	return WS_OK;
}
