/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints and single steps. */
#include "sim/debug/debug.h"
#include "sim/event/watchpoint.h"

enum {
	MAX_PLANTS = 1 << 20,
	PIECE = 128,            /* instructions of others between two looks at who waits for them */
	NEAR_BUDGET = 1 << 18,  /* of a warp's or block's own, before more of the device runs */
	WHOLE_BUDGET = 1 << 22, /* of the whole device: then it waits for ever, or too long */
	LAST_STATE = 24,        /* CUDBG_CBU_THREAD_STATE_BLOCKEDB15 */
	LAST_SCOPE = 5,         /* CUDBG_BARRIER_SCOPE_KERNEL */
};

enum ws_status wsi_stub_attach(struct ws_sim *sim, struct ws_error *err)
{
	struct wsi_stub *debug = wsi_zalloc(sizeof *debug);
	if (!debug)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	sim->debug = debug;
	debug->stop_at = UINT64_MAX;
	debug->moved = wsi_zalloc_array(sim->options.n_sms, sizeof *debug->moved);
	debug->broken = wsi_zalloc_array(sim->options.n_sms, sizeof *debug->broken);
	if (debug->moved && debug->broken)
		return WS_OK;
	wsi_stub_detach(sim);
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
}

/* ---- breakpoints ---- */

static size_t place_of(const struct wsi_stub *debug, uint64_t pc)
{
	return WSI_BISECT(i, 0, debug->n_plants, debug->plants[i]->pc < pc);
}

static struct wsi_plant *command_find(const struct wsi_stub *debug, uint64_t pc)
{
	size_t i = place_of(debug, pc);
	return i < debug->n_plants && debug->plants[i]->pc == pc ? debug->plants[i] : NULL;
}

/* Whether a group goes on at a breakpoint: it must (`stops` false), or all of it have stopped
 * there. */
static bool pass_breakpoint(struct wsi_warp *warp, uint32_t group, uint64_t pc, bool stops)
{
	bool all = true;
	for (uint32_t left = group; left; left &= left - 1)
		all &= warp->seen[wsi_first_bit(left)] == pc;
	all |= !stops;
	for (uint32_t left = all ? group : 0; left; left &= left - 1)
		warp->seen[wsi_first_bit(left)] = 0;
	return all;
}

/* Stands in the place of an operation with a breakpoint. */
static enum wsi_step run_planted(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_stub *debug = run->sim->debug;
	struct wsi_warp *warp = run->warp;
	const struct wsi_plant *plant = command_find(debug, run->pc);
	bool internal = plant->is_internal && warp->block->sm == debug->until_sm &&
			debug->until_warps >> warp->slot & 1;
	bool user = plant->is_user;
	(void)op;
	if (user && plant->filter)
		user = plant->filter->lanes(plant->filter, warp, run->group) != 0;
	if (user && debug->replays)
		wsi_search_met(run->sim, warp, run->group);
	user &= !debug->replays;
	if (pass_breakpoint(warp, run->group, run->pc, user || internal)) {
		enum wsi_step step = wsi_execute(run, &plant->op);
		if (plant->is_marked && debug->replays)
			wsi_search_marked(run);
		return step;
	}
	if (user)
		debug->chosen = true;
	wsi_stub_halt(run->sim, warp, user ? WSI_HALT_PLANTED : WSI_HALT_INTERNAL, run->group,
		      run->pc);
	return WSI_STEP_HALT;
}

/* The operation at a pc, decoded; NULL: none begins there, or no memory. */
static struct wsi_op *op_at(struct ws_sim *sim, uint64_t pc, bool *ret_no_memory)
{
	struct wsi_text *text = wsi_sim_text_find(sim, pc);
	*ret_no_memory = false;
	if (!text || pc % WS_SASS_BYTES != 0 || text->size - (pc - text->start) < WS_SASS_BYTES)
		return NULL;
	uint64_t index = (pc - text->start) / WS_SASS_BYTES, chunk = index / WSI_OPS_CHUNK;
	*ret_no_memory = !text->chunks[chunk] && !wsi_sim_text_decode(sim, text, chunk);
	return *ret_no_memory ? NULL : &text->chunks[chunk][index % WSI_OPS_CHUNK];
}

/* A place in the list for a new breakpoint. */
static struct wsi_plant *sim_breakpoint_add(struct wsi_stub *debug, uint64_t pc)
{
	struct wsi_plant *plant = wsi_zalloc(sizeof *plant);
	if (!plant || !wsi_grow(&debug->plants, &debug->cap_plants, debug->n_plants,
				sizeof *debug->plants, MAX_PLANTS)) {
		wsi_free(plant);
		return NULL;
	}
	size_t i = place_of(debug, pc);
	memmove(&debug->plants[i + 1], &debug->plants[i],
		(debug->n_plants++ - i) * sizeof *debug->plants);
	debug->plants[i] = plant;
	plant->pc = pc;
	return plant;
}

static struct wsi_plant *plant_at(struct ws_sim *sim, uint64_t pc, struct ws_error *err)
{
	bool no_memory;
	struct wsi_op *op = op_at(sim, pc, &no_memory);
	if (!op && !no_memory) {
		wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64, pc);
		return NULL;
	}
	struct wsi_plant *plant = op ? command_find(sim->debug, pc) : NULL;
	if (op && !plant) {
		plant = sim_breakpoint_add(sim->debug, pc);
		if (plant) {
			plant->op = *op;
			/* whoever comes here, and before anything else */
			*op = (struct wsi_op){ .run = run_planted, .guard = 7, .always = true };
		}
	}
	if (!plant)
		wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	return plant;
}

enum ws_status wsi_stub_plant(struct ws_sim *sim, uint64_t pc, bool is_internal,
			      struct ws_error *err)
{
	struct ws_error why = { .status = WS_OK };
	struct wsi_plant *plant = plant_at(sim, pc, &why);
	if (!plant && err)
		*err = why;
	if (!plant)
		return why.status;
	plant->is_internal |= is_internal;
	plant->is_user |= !is_internal;
	return WS_OK;
}

enum ws_status wsi_stub_mark(struct ws_sim *sim, uint64_t pc, struct ws_error *err)
{
	struct wsi_plant *plant = plant_at(sim, pc, err);
	if (plant)
		plant->is_marked = true;
	return plant ? WS_OK : WS_NO_MEMORY; /* there is code */
}

static void remove_at(struct ws_sim *sim, size_t i)
{
	struct wsi_stub *debug = sim->debug;
	struct wsi_plant *plant = debug->plants[i];
	bool no_memory;
	*op_at(sim, plant->pc, &no_memory) = plant->op; /* decoded when it was planted */
	wsi_free(plant->filter);
	wsi_free(plant);
	memmove(&debug->plants[i], &debug->plants[i + 1],
		(--debug->n_plants - i) * sizeof *debug->plants);
}

void wsi_stub_unplant(struct ws_sim *sim, uint64_t pc, bool is_internal)
{
	struct wsi_plant *plant = command_find(sim->debug, pc);
	if (!plant)
		return;
	*(is_internal ? &plant->is_internal : &plant->is_user) = false;
	if (!is_internal) {
		wsi_free(plant->filter);
		plant->filter = NULL;
	}
	if (!plant->is_user && !plant->is_internal && !plant->is_marked)
		remove_at(sim, place_of(sim->debug, pc));
}

enum ws_status wsi_stub_filter(struct ws_sim *sim, uint64_t pc, struct wsi_filter *filter,
			       struct ws_error *err)
{
	struct wsi_plant *plant = command_find(sim->debug, pc);
	bool good = plant && plant->is_user;
	if (good) {
		wsi_free(plant->filter);
		plant->filter = filter;
		return WS_OK;
	}
	wsi_free(filter);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no breakpoint at 0x%" PRIx64, pc);
}

void wsi_stub_unmark(struct ws_sim *sim)
{
	for (size_t i = sim->debug->n_plants; i > 0; i--) {
		struct wsi_plant *plant = sim->debug->plants[i - 1];
		bool only = plant->is_marked && !plant->is_user && !plant->is_internal;
		plant->is_marked = false;
		if (only)
			remove_at(sim, i - 1);
	}
}

/* Internal ones are there only while a call runs. */
void wsi_stub_unplant_all(struct ws_sim *sim)
{
	while (sim->debug->n_plants > 0)
		remove_at(sim, sim->debug->n_plants - 1);
}

void wsi_stub_detach(struct ws_sim *sim)
{
	struct wsi_stub *debug = sim->debug;
	if (!debug)
		return;
	wsi_stub_unplant_all(sim);
	wsi_watches_fini(sim);
	wsi_stub_drop_finished(debug);
	while (debug->logs) {
		struct wsi_log *log = debug->logs;
		debug->logs = log->next;
		wsi_free(log);
	}
	wsi_free(debug->plants);
	wsi_free(debug->moved);
	wsi_free(debug->broken);
	wsi_free(debug);
	sim->debug = NULL;
	wsi_show_code(sim);
}

void wsi_stub_release(struct ws_sim *sim, struct wsi_warp *warp)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		if (warp->seen[lane] != warp->pc[lane] || !command_find(sim->debug, warp->pc[lane]))
			warp->seen[lane] = 0;
	warp->halt = WSI_HALT_NONE;
	sim->debug->broken[warp->block->sm] &= ~(UINT64_C(1) << warp->slot);
}

enum ws_status wsi_stub_write_code(struct ws_sim *sim, uint64_t address, const uint8_t *bytes,
				   size_t len, struct ws_error *err)
{
	const struct wsi_text *text = wsi_sim_text_find(sim, address);
	if (!text || len > text->size - (address - text->start))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no code at 0x%" PRIx64, address);
	struct wsi_module *module = &sim->modules[text->module];
	sim->host_changes++;
	uint64_t off = address - text->start, first = off / WS_SASS_BYTES;
	memcpy(module->image + (text->bytes - module->image) + off, bytes, len);
	for (uint64_t i = first; i * WS_SASS_BYTES < off + len; i++) {
		struct wsi_op *ops = text->chunks[i / WSI_OPS_CHUNK];
		struct wsi_plant *plant = command_find(sim->debug, text->start + i * WS_SASS_BYTES);
		if (ops)
			wsi_sim_text_renew(sim, text, i * WS_SASS_BYTES,
					   plant ? &plant->op : &ops[i % WSI_OPS_CHUNK]);
	}
	return WS_OK;
}

/* ---- what others are to see ---- */

enum ws_status ws_sim_pretend(struct ws_sim *sim, const struct ws_sim_guise *guise,
			      struct ws_error *err)
{
	struct wsi_warp *warp = wsi_warp_at(sim, guise->sm, guise->warp);
	if (guise->size != sizeof *guise || guise->state > LAST_STATE || guise->scope > LAST_SCOPE)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no such state");
	if (!warp || guise->lanes & ~warp->live)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no such threads");
	struct wsi_guise *to = &warp->guise;
	if (to->executed != warp->executed)
		memset(to, 0, sizeof *to);
	to->executed = warp->executed;
	to->any |= guise->lanes;
	to->collective &= ~guise->lanes;
	to->collective |= guise->collective ? guise->lanes : 0;
	for (uint32_t left = guise->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		to->state[lane] = (uint8_t)guise->state;
		to->scope[lane] = (uint8_t)guise->scope;
	}
	return WS_OK;
}

/* ---- steps ---- */

static bool ended(struct ws_sim *sim)
{
	return sim->faulted || sim->debug->halted || wsi_position(sim) >= sim->debug->stop_at ||
	       atomic_load_explicit(&sim->stop, memory_order_relaxed);
}

/* Who runs for those that wait. */
enum circle { CIRCLE_WARP, CIRCLE_BLOCK, CIRCLE_DEVICE, CIRCLES };

/* The one at a place of a circle of a few; NULL: it is gone. */
static struct wsi_warp *near(struct wsi_warp *warp, enum circle circle, size_t at)
{
	const struct wsi_block *block = warp->block;
	if (circle == CIRCLE_WARP)
		return warp;
	if (block->cluster)
		block = block->cluster->peers[at / block->n_warps];
	return block ? block->warps[at % block->n_warps] : NULL;
}

/* The next one after `*turn` of a circle that can run; NULL: nobody can. */
static struct wsi_warp *next_runner(struct ws_sim *sim, struct wsi_warp *warp, enum circle circle,
				    size_t *turn)
{
	const struct wsi_block *own = warp->block;
	size_t n = circle == CIRCLE_WARP ? 1 : (own->cluster ? own->cluster->n : 1) * own->n_warps;
	struct wsi_warp *one = NULL;
	if (circle == CIRCLE_DEVICE) {
		one = wsi_next_ready(sim, turn, sim->n_resident);
		if (!one) {
			*turn = 0;
			one = wsi_next_ready(sim, turn, sim->n_resident);
		}
		*turn += one != NULL;
		return one;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = (*turn + i) % n;
		one = near(warp, circle, at);
		if (one && one->ready != 0) {
			*turn = at + 1;
			return one;
		}
	}
	return NULL;
}

/* Runs others until one of these lanes, which all wait, may go on. */
static enum wsi_stepped bring_on(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lanes)
{
	for (enum circle circle = CIRCLE_WARP; circle < CIRCLES; circle++) {
		size_t turn = 0;
		uint64_t until =
			sim->instructions + (circle == CIRCLE_DEVICE ? WHOLE_BUDGET : NEAR_BUDGET);
		while (sim->instructions < until) {
			struct wsi_warp *next = next_runner(sim, warp, circle, &turn);
			if (!next)
				break;
			if (next->halt != WSI_HALT_NONE)
				wsi_stub_release(sim, next);
			if (!wsi_run_piece(sim, next, WSI_LANES, PIECE))
				return WSI_STEPPED_NO_MEMORY;
			if (ended(sim))
				return WSI_STEPPED_EARLY;
			if (warp->ready & lanes)
				return WSI_STEPPED_DONE;
		}
	}
	return WSI_STEPPED_EARLY;
}

/* Whether lanes, all of which wait, must have others run for them. */
static bool must_bring_on(const struct wsi_warp *warp, uint32_t lanes, bool over)
{
	bool for_warp = lanes & (warp->parked | warp->syncing);
	return lanes != 0 && (!for_warp || over || warp->ready == 0);
}

/* Uniform registers belong to the warp: a group that is amid code without jumps leaves that first.
 */
static bool finish_others(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane)
{
	while ((warp->resume & warp->ready) != 0 && !(warp->resume & lane) && !ended(sim))
		if (!wsi_run_piece(sim, warp, WSI_LANES, 1))
			return false;
	return true;
}

static enum wsi_stepped step_once(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane,
				  bool over)
{
	uint64_t n_left = sim->debug->n_left;
	uint32_t here = lane < WSI_LANES ? warp->live & 1u << lane : 0;
	if (here != 0 && !(warp->ready & here) && must_bring_on(warp, here, over))
		return bring_on(sim, warp, here);
	if (warp->ready == 0)
		return bring_on(sim, warp, warp->live);
	bool chooses = (here & warp->ready) != 0;
	if (chooses && !finish_others(sim, warp, here))
		return WSI_STEPPED_NO_MEMORY;
	if (ended(sim))
		return WSI_STEPPED_EARLY;
	unsigned chosen = chooses ? lane : wsi_next_lane(warp);
	uint32_t group = wsi_group_of(warp, chosen);
	uint64_t pc = warp->pc[chosen];
	for (uint32_t left = command_find(sim->debug, pc) ? group : 0; left; left &= left - 1)
		warp->seen[wsi_first_bit(left)] = pc; /* a step is more than a breakpoint */
	if (!wsi_run_piece(sim, warp, chosen, 1))
		return WSI_STEPPED_NO_MEMORY;
	if (ended(sim) || sim->debug->n_left != n_left || warp->live == 0)
		return WSI_STEPPED_EARLY;
	group &= warp->live;
	if ((group & warp->ready) == 0 && must_bring_on(warp, group, over))
		return bring_on(sim, warp, group);
	return WSI_STEPPED_DONE;
}

/* Lanes at a breakpoint they were stepped to have seen it: those of the hint, else who runs next.
 */
bool wsi_stub_arrive(struct ws_sim *sim, struct wsi_warp *warp, uint32_t hint)
{
	bool chosen = hint < WSI_LANES && (warp->ready >> hint & 1);
	unsigned lane = chosen ? hint : warp->ready ? wsi_next_lane(warp) : 0;
	uint32_t group = warp->ready ? wsi_group_of(warp, lane) : 0;
	const struct wsi_plant *plant = group ? command_find(sim->debug, warp->pc[lane]) : NULL;
	if (!plant)
		return false;
	for (uint32_t left = group; left; left &= left - 1)
		warp->seen[wsi_first_bit(left)] = plant->pc;
	return true;
}

enum wsi_stepped wsi_stub_step(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane, uint32_t n,
			       bool over)
{
	enum wsi_stepped stepped = WSI_STEPPED_DONE;
	if (!wsi_run_prepare(sim))
		return WSI_STEPPED_NO_MEMORY;
	wsi_stub_release(sim, warp);
	wsi_watch_forget(sim);
	sim->debug->halted = false;
	for (uint32_t i = 0; i < n && stepped == WSI_STEPPED_DONE; i++) {
		uint64_t n_left = sim->debug->n_left;
		stepped = step_once(sim, warp, lane, over);
		if (stepped == WSI_STEPPED_DONE && sim->debug->n_left == n_left &&
		    wsi_stub_arrive(sim, warp, lane) && i + 1 < n)
			stepped = WSI_STEPPED_EARLY;
	}
	return stepped;
}

/* ---- until a pc ---- */

/* Warps that run until they are somewhere. */
struct runners {
	uint32_t n;
	struct wsi_warp *warp[64];
	struct wsi_block *block[64]; /* whose they are; may be gone */
};

static void collect_runners(const struct ws_sim *sim, uint32_t sm, uint64_t warps,
			    struct runners *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < sim->n_blocks; i++) {
		struct wsi_block *block = sim->blocks[i];
		for (uint32_t k = 0; block->sm == sm && k < block->n_warps; k++) {
			if (!(warps >> block->warps[k]->slot & 1))
				continue;
			ret->block[ret->n] = block;
			ret->warp[ret->n++] = block->warps[k];
		}
	}
}

/* Whether the lanes of a warp that run next stand where it is to go. */
static bool is_there(const struct wsi_warp *warp, uint64_t pc)
{
	return warp->ready != 0 && warp->pc[wsi_next_lane(warp)] == pc;
}

static enum wsi_stepped run_all_until(struct ws_sim *sim, struct runners *runners)
{
	uint64_t until = sim->instructions + WHOLE_BUDGET;
	bool any = true;
	while (any && sim->instructions < until) {
		any = false;
		for (uint32_t i = 0; i < runners->n; i++) {
			struct wsi_warp *warp = runners->warp[i];
			uint64_t n_left = sim->debug->n_left;
			if (!warp || warp->ready == 0 || warp->halt != WSI_HALT_NONE)
				continue;
			any = true;
			if (!wsi_run_piece(sim, warp, WSI_LANES, PIECE))
				return WSI_STEPPED_NO_MEMORY;
			if (ended(sim))
				return WSI_STEPPED_EARLY;
			for (uint32_t k = 0; k < runners->n && sim->debug->n_left != n_left; k++)
				if (runners->block[k] == runners->block[i])
					runners->warp[k] = NULL;
		}
	}
	return WSI_STEPPED_DONE;
}

enum wsi_stepped wsi_stub_run_until(struct ws_sim *sim, uint32_t sm, uint64_t warps, uint64_t pc)
{
	struct wsi_stub *debug = sim->debug;
	struct runners runners;
	if (!wsi_run_prepare(sim) || wsi_stub_plant(sim, pc, true, NULL) != WS_OK)
		return WSI_STEPPED_NO_MEMORY;
	debug->until_sm = sm;
	debug->until_warps = warps;
	debug->halted = false;
	wsi_watch_forget(sim);
	collect_runners(sim, sm, warps, &runners);
	for (uint32_t i = 0; i < runners.n; i++) {
		wsi_stub_release(sim, runners.warp[i]);
		if (is_there(runners.warp[i], pc))
			wsi_stub_halt(sim, runners.warp[i], WSI_HALT_INTERNAL, 0, pc);
	}
	enum wsi_stepped stepped = run_all_until(sim, &runners);
	debug->until_warps = 0;
	wsi_stub_unplant(sim, pc, true);
	return stepped;
}
