/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution: which warp runs, which of its lanes, and one operation after the other.
 *
 * A turn of a warp is a number of instructions, by the schedule. In a turn the lanes with the
 * lowest pc run, as a group, until they split, wait or the turn is over; in every fourth choice
 * another group comes first, so that lanes that spin do not keep those out that they wait for.
 *
 * Uniform registers belong to the warp, and compilers use them in code where lanes have parted,
 * from one instruction to the next. So groups change at jumps only: a turn that ends between two
 * jumps is resumed with the same group.
 */
#include "sim/check/check.h"
#include "sim/event/event.h"
#include "sim/event/watchpoint.h"
#include "sim/exec/exec.h"

enum {
	TURN = 128,                      /* instructions of a turn */
	LONG_TURN = 4096,                /* of the oldest warp */
	POLL = WS_SIM_STOP_INSTRUCTIONS, /* between two looks at the stop flag, */
	LABOR = 1 << 20,                 /* and work of long ones: see wsi_labor() */
	OTHER_GROUP = 4,                 /* how often another group comes first */
	OTHER_WARP = 8,                  /* how often another warp than the oldest runs */
};

static uint64_t random_next(struct ws_sim *sim)
{
	/* splitmix64 [public domain: Steele, Lea, Flood] */
	uint64_t z = sim->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- groups ---- */

/* Lanes of `among` that run with one of them: same team, same pc. */
static uint32_t companions(const struct wsi_warp *warp, uint32_t among, unsigned lane)
{
	uint32_t lanes = 0;
	for (uint32_t left = among & warp->team[lane]; left; left &= left - 1) {
		unsigned other = wsi_first_bit(left);
		bool same =
			warp->pc[other] == warp->pc[lane] && warp->team[other] == warp->team[lane];
		lanes |= same ? 1u << other : 0;
	}
	return lanes | 1u << lane;
}

/* Lanes of a group that parted: each part is a team of its own. */
static void parted_lanes(struct wsi_warp *warp, uint32_t group, uint32_t old)
{
	if (warp->trace)
		wsi_check_together(warp, group);
	for (uint32_t left = group; left;) {
		unsigned lane = wsi_first_bit(left);
		uint32_t together = companions(warp, left, lane);
		left &= ~together;
		if (warp->team[lane] != old) /* met others meanwhile */
			continue;
		for (uint32_t rest = together; rest; rest &= rest - 1)
			warp->team[wsi_first_bit(rest)] = together;
	}
}

static unsigned lowest_lane(const struct wsi_warp *warp)
{
	unsigned best = wsi_first_bit(warp->ready);
	for (uint32_t left = warp->ready; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		best = warp->pc[lane] < warp->pc[best] ? lane : best;
	}
	return best;
}

static unsigned choose_lane(struct ws_sim *sim, struct wsi_warp *warp)
{
	uint32_t turn = warp->turn++;
	if (sim->options.schedule == WS_SIM_RANDOM)
		turn = (uint32_t)random_next(sim);
	else if (sim->options.schedule != WS_SIM_ADVERSARIAL && turn % OTHER_GROUP != 0)
		turn = 0;
	if (turn != 0) { /* the turn-th of those that are ready */
		unsigned skip = turn / OTHER_GROUP % wsi_count_bits(warp->ready);
		uint32_t left = warp->ready;
		while (skip-- > 0)
			left &= left - 1;
		return wsi_first_bit(left);
	}
	return lowest_lane(warp);
}

unsigned wsi_next_lane(const struct wsi_warp *warp)
{
	uint32_t resume = warp->resume & warp->ready;
	return resume ? wsi_first_bit(resume) : lowest_lane(warp);
}

uint32_t wsi_group_of(const struct wsi_warp *warp, unsigned lane)
{
	return companions(warp, warp->ready, lane);
}

static void take_group(struct wsi_run *run, unsigned lane)
{
	run->pc = run->warp->pc[lane];
	run->group = wsi_group_of(run->warp, lane);
	run->team = run->warp->team[lane];
	run->warp->asleep &= ~run->group;
	run->warp->grouped &= ~run->group;
}

static void choose_group(struct wsi_run *run)
{
	uint32_t resume = run->warp->resume & run->warp->ready;
	take_group(run, resume ? wsi_first_bit(resume) : choose_lane(run->sim, run->warp));
}

static void store_pc(struct wsi_run *run, uint64_t pc)
{
	for (uint32_t left = run->group; left; left &= left - 1)
		run->warp->pc[wsi_first_bit(left)] = pc;
}

/* ---- one instruction ---- */

/* Whether it is a function that the device itself supplies. */
static bool is_service(uint64_t pc)
{
	return (pc & ~(WSI_WINDOW_BYTES - 1)) == WSI_SERVICE_BASE;
}

/* Operations from `run->pc` to the end of their chunk; NULL: no code there, or no memory. */
static struct wsi_op *fetch_operations(struct wsi_run *run, struct wsi_op **ret_end)
{
	struct wsi_text *text = wsi_sim_text_find(run->sim, run->pc);
	if (!text) {
		wsi_fault(run, CUDBG_EXCEPTION_WARP_INVALID_PC, run->group,
			  "a jump to 0x%" PRIx64 ", which is not code", run->pc);
		return NULL;
	}
	uint64_t index = (run->pc - text->start) / WS_SASS_BYTES, chunk = index / WSI_OPS_CHUNK;
	if (run->pc % WS_SASS_BYTES != 0) {
		wsi_fault(run, CUDBG_EXCEPTION_WARP_MISALIGNED_PC, run->group,
			  "pc 0x%" PRIx64 " is not a multiple of 16", run->pc);
		return NULL;
	}
	if (!text->chunks[chunk] && !wsi_sim_text_decode(run->sim, text, chunk)) {
		run->no_memory = true;
		return NULL;
	}
	*ret_end = text->chunks[chunk] + WSI_OPS_CHUNK;
	return &text->chunks[chunk][index % WSI_OPS_CHUNK];
}

static uint32_t guard_mask(const struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t mask;
	if (op->guard == 7)
		mask = UINT32_MAX;
	else if (op->guard_uniform)
		mask = run->warp->upred >> op->guard & 1 ? UINT32_MAX : 0;
	else
		mask = run->warp->pred[op->guard];
	return run->group & (op->guard_negated ? ~mask : mask);
}

enum wsi_step wsi_execute(struct wsi_run *run, const struct wsi_op *op)
{
	run->mask = guard_mask(run, op);
	if (run->mask == 0 && !op->always)
		return WSI_STEP_NEXT;
	if (op->top > run->warp->n_regs)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_REGISTER, run->mask,
				 "R%u, the warp has %u registers", op->top - 1u, run->warp->n_regs);
	if (op->splits)
		store_pc(run, run->pc + WS_SASS_BYTES);
	return op->run(run, op);
}

/*
 * Runs one group for at most `run->n` instructions; returns how many it was. The pcs of the warp
 * are right afterwards. `*ret_over`: the turn ends. `run->cut`: it does not end with `run->n`, and
 * the same group goes on later.
 */
static uint64_t run_group(struct wsi_run *run, bool *ret_over)
{
	uint64_t done = 0;
	struct wsi_op *op = NULL, *end = NULL;
	enum wsi_step step = WSI_STEP_NEXT;
	bool jumped = false; /* and that is all */
	while (done < run->n) {
		jumped = false;
		if (op == end) {
			if (is_service(run->pc)) {
				step = wsi_service_call(run);
				done++;
				run->sim->services++;
				break;
			}
			op = fetch_operations(run, &end);
			if (!op) {
				step = WSI_STEP_FAULT;
				break;
			}
		}
		step = wsi_execute(run, op);
		done++;
		run->sim->instructions++;
		if (step == WSI_STEP_NEXT) {
			run->pc += WS_SASS_BYTES;
			op++;
		} else if (step == WSI_STEP_JUMP) {
			op = end = NULL;
			jumped = true;
		} else {
			break;
		}
	}
	if (step == WSI_STEP_HALT) { /* before the instruction */
		done--;
		run->sim->instructions--;
	}
	if (step == WSI_STEP_YIELD)
		run->pc += WS_SASS_BYTES;
	if (step == WSI_STEP_SPLIT)
		parted_lanes(run->warp, run->group & run->warp->ready, run->team);
	else
		store_pc(run, run->pc);
	run->stands |= step == WSI_STEP_HALT;
	bool amid = step == WSI_STEP_NEXT || step == WSI_STEP_HALT || (jumped && run->cut);
	run->warp->resume = amid ? run->group : 0;
	*ret_over = step == WSI_STEP_YIELD || step == WSI_STEP_FAULT || run->no_memory ||
		    (run->n == 0 && !run->stands);
	return done;
}

/* ---- warps ---- */

static uint64_t turn_length(struct ws_sim *sim)
{
	switch (sim->options.schedule) {
	case WS_SIM_OLDEST:
		return LONG_TURN;
	case WS_SIM_RANDOM:
		return 1 + random_next(sim) % TURN;
	case WS_SIM_ADVERSARIAL:
		return 1 + random_next(sim) % 3;
	case WS_SIM_ROUND_ROBIN:
		break;
	}
	return TURN;
}

struct wsi_warp *wsi_next_ready(struct ws_sim *sim, size_t *at, size_t end)
{
	for (size_t i = *at; i < end;) {
		uint64_t awake = sim->awake[i / 64] >> i % 64;
		if (!awake) {
			i = (i / 64 + 1) * 64;
			continue;
		}
		i += (size_t)__builtin_ctzll(awake);
		struct wsi_warp *warp = i < end ? sim->resident[i] : NULL;
		*at = i;
		if (warp && warp->ready != 0)
			return warp;
		if (i < end)
			sim->awake[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
	return NULL;
}

/* Of those that can run, the one that came furthest; of equals the first from the turn on. */
static struct wsi_warp *furthest(struct ws_sim *sim)
{
	struct wsi_warp *ahead = NULL, *warp;
	const size_t from[] = { sim->turn, 0 }, to[] = { sim->n_resident, sim->turn };
	for (int half = 0; half < 2; half++)
		for (size_t at = from[half]; (warp = wsi_next_ready(sim, &at, to[half])); at++)
			if (!ahead || warp->executed > ahead->executed)
				ahead = warp;
	return ahead;
}

/* The warp whose turn it is, NULL: none can run. */
static struct wsi_warp *choose_warp(struct ws_sim *sim)
{
	size_t n = sim->n_resident, at = sim->turn;
	if (sim->options.schedule == WS_SIM_RANDOM && n > 0)
		at = (size_t)(random_next(sim) % n);
	bool oldest = sim->options.schedule == WS_SIM_OLDEST && sim->turn_kept;
	if (oldest) /* whose turn it is otherwise does not change: all get there */
		at = 0;
	/* who is furthest runs on, but not for ever: one turn in eight is anybody's */
	if (sim->options.schedule == WS_SIM_ADVERSARIAL && sim->turns % 8 != 0)
		return furthest(sim);
	size_t start = at;
	struct wsi_warp *warp = wsi_next_ready(sim, &at, n);
	if (!warp) {
		at = 0;
		warp = wsi_next_ready(sim, &at, start);
	}
	if (warp && !oldest)
		sim->turn = at + 1 < n ? at + 1 : 0;
	return warp;
}

/* Accounts for what a warp executed; its block goes when all threads have exited. */
static void warp_account(struct ws_sim *sim, struct wsi_warp *warp, uint64_t done)
{
	warp->executed += done;
	if (sim->watches && wsi_watch_settle(sim, warp)) {
		if (sim->debug->replays)
			wsi_search_watched(sim, warp);
		else
			wsi_stub_watched(sim, warp);
	}
	if (sim->debug)
		wsi_stub_moved(sim, warp);
	if (warp->live == 0 && !sim->faulted) {
		struct wsi_block *block = warp->block;
		if (--block->live_warps == 0)
			wsi_launch_retire(sim, block);
	}
}

/* Constant banks; `own` is for a device that watches some. */
static const struct wsi_bank *banks_of(const struct ws_sim *sim, const struct wsi_warp *warp,
				       struct wsi_bank own[WSI_BANKS])
{
	const struct wsi_grid *grid = warp->block->grid;
	return sim->watches ? wsi_watch_banks(sim, grid, own) : grid->bank;
}

bool wsi_run_piece(struct ws_sim *sim, struct wsi_warp *warp, unsigned lane, uint64_t n)
{
	struct wsi_bank own[WSI_BANKS];
	struct wsi_run run = { .sim = sim, .warp = warp, .bank = banks_of(sim, warp, own), .n = n };
	bool over, late = sim->late != 0;
	if (sim->debug && sim->debug->stop_at - wsi_position(sim) < n) {
		run.n = sim->debug->stop_at - wsi_position(sim);
		run.cut = true;
	}
	if (lane < WSI_LANES)
		take_group(&run, lane);
	else
		choose_group(&run);
	uint64_t done = run_group(&run, &over);
	if (sim->debug && sim->debug->replays && done > 0)
		wsi_search_group(&run);
	run.n = 1;
	bool ends = sim->debug && wsi_position(sim) >= sim->debug->stop_at;
	if (!over && !run.stands && !ends && run.group == (run.group & warp->ready) &&
	    is_service(run.pc))
		done += run_group(&run, &over); /* a call of the device's own is one step */
	warp_account(sim, warp, done);
	if (sim->late)
		wsi_fault_wait(sim, late ? done : 1);
	return !run.no_memory;
}

void wsi_labor(struct wsi_run *run, uint64_t bytes)
{
	struct ws_sim *sim = run->sim;
	sim->labor += bytes;
	if (sim->labor < LABOR)
		return;
	sim->labor = 0;
	if (!atomic_load_explicit(&sim->stop, memory_order_relaxed))
		return;
	sim->is_called = run->cut = run->stands = true; /* the turn goes on in the next run */
	run->n = 0;
}

/* Goes on with the turn of a warp for at most `n` instructions. False: no memory. */
static bool run_turn(struct ws_sim *sim, struct wsi_warp *warp, uint64_t n, uint64_t *ret_done)
{
	struct wsi_bank own[WSI_BANKS];
	struct wsi_run run = { .sim = sim, .warp = warp, .bank = banks_of(sim, warp, own) };
	uint64_t done = 0;
	bool over = false;
	while (done < n && sim->turn_left > 0 && warp->ready != 0 && !over && !run.stands) {
		choose_group(&run);
		run.n = wsi_min_u64(sim->turn_left, n - done);
		run.cut = run.n < sim->turn_left;
		uint64_t piece = run_group(&run, &over);
		if (sim->debug && sim->debug->replays && piece > 0)
			wsi_search_group(&run);
		done += piece;
		sim->turn_left -= piece;
	}
	if (over || sim->turn_left == 0 || warp->ready == 0) {
		sim->turns++;
		/* who yields lets others run even if it is the oldest; and once in a while who does
		 * not, as it may wait for them */
		sim->turn_kept = !over && sim->turns % OTHER_WARP != 0;
		sim->turn_of = NULL;
	}
	*ret_done = done;
	warp_account(sim, warp, done);
	return !run.no_memory;
}

/* Finds where constants are. What did not fit before is of no account any more. */
bool wsi_run_prepare(struct ws_sim *sim)
{
	sim->account.what = NULL;
	for (struct wsi_grid *grid = sim->queue; grid; grid = grid->next) {
		for (unsigned i = 0; i < WSI_BANKS; i++) {
			struct wsi_bank *bank = &grid->bank[i];
			bool no_memory;
			uint64_t n = bank->size;
			if (bank->size == 0)
				continue;
			bank->bytes = wsi_memory_read(&sim->memory, bank->address, &n, &no_memory);
			if (!bank->bytes)
				return false;
			bank->size = n; /* a bank is no larger than a page */
		}
	}
	return true;
}

/* The warp whose turn goes on or begins; NULL: none can run. */
static struct wsi_warp *take_turn(struct ws_sim *sim)
{
	if (sim->turn_of)
		return sim->turn_of;
	if (sim->until_poll < TURN)
		sim->until_poll = POLL;
	struct wsi_warp *warp = choose_warp(sim);
	if (!warp)
		return NULL;
	sim->turn_left = wsi_min_u64(turn_length(sim), sim->until_poll);
	if (sim->late)
		sim->turn_left = wsi_min_u64(sim->turn_left, sim->late);
	sim->turn_of = warp;
	return warp;
}

void wsi_run_choose(struct ws_sim *sim)
{
	struct wsi_warp *warp = take_turn(sim);
	if (!warp || warp->ready == 0)
		return;
	struct wsi_run run = { .sim = sim, .warp = warp };
	choose_group(&run);
	warp->resume = run.group;
}

static enum ws_sim_outcome run_all_warps(struct ws_sim *sim, uint64_t n, bool *ret_no_memory)
{
	uint64_t left = n, poll = 0;
	while (left > 0) {
		uint64_t done;
		if (poll < TURN || sim->is_called) {
			sim->is_called = false;
			if (atomic_exchange_explicit(&sim->stop, false, memory_order_relaxed))
				return WS_SIM_STOPPED;
			poll = POLL;
		}
		*ret_no_memory = !sim->turn_of && !wsi_launch_fill(sim);
		if (*ret_no_memory || (sim->debug && wsi_debug_waits(sim->debug)))
			return WS_SIM_STOPPED;
		struct wsi_warp *warp = take_turn(sim);
		uint64_t late = sim->late;
		if (!warp && !late) {
			sim->until_poll = 0;
			return sim->queue ? WS_SIM_STUCK : WS_SIM_DONE;
		}
		done = late;
		if (warp)
			*ret_no_memory = !run_turn(sim, warp, left, &done);
		if (*ret_no_memory)
			return WS_SIM_STOPPED;
		if (sim->late)
			wsi_fault_wait(sim, late ? done : 1);
		if (sim->faulted)
			return WS_SIM_FAULTED;
		if (sim->debug && wsi_debug_waits(sim->debug))
			return WS_SIM_STOPPED;
		left -= wsi_min_u64(done, left);
		poll -= wsi_min_u64(done, poll);
		sim->until_poll -= wsi_min_u64(done, sim->until_poll);
	}
	return WS_SIM_LIMIT;
}

enum ws_status ws_sim_run(struct ws_sim *sim, uint64_t max_instructions,
			  enum ws_sim_outcome *ret_outcome, struct ws_error *err)
{
	bool no_memory = !wsi_run_prepare(sim);
	if (sim->faulted)
		*ret_outcome = WS_SIM_FAULTED;
	else if (!no_memory)
		*ret_outcome = run_all_warps(sim, max_instructions ? max_instructions : UINT64_MAX,
					     &no_memory);
	if (!no_memory && *ret_outcome == WS_SIM_STUCK && sim->check)
		wsi_check_stuck(sim);
	return no_memory ? wsi_account_fail(&sim->account, err) : WS_OK;
}

void ws_sim_stop(struct ws_sim *sim)
{
	atomic_store_explicit(&sim->stop, true, memory_order_relaxed);
}

uint64_t ws_sim_instructions(const struct ws_sim *sim)
{
	return sim->instructions;
}
