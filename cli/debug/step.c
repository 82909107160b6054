/* SPDX-License-Identifier: Apache-2.0 */
/* Single steps: of instructions, of source lines, out of functions. */
#include "debug/debug.h"

#include <string.h>

enum { MAX_STEPS = 10 * 1000 * 1000 /* of one command */ };

/* Where a step began, or has come to. */
struct state {
	uint64_t pc;
	uint32_t depth; /* calls */
	struct position position;
};

static bool state_of(const struct debugger *d, struct state *ret)
{
	struct ws_lane lane;
	if (!d->has_focus ||
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) != WS_OK)
		return false;
	ret->pc = lane.pc;
	ret->depth = lane.call_depth;
	debug_position(d, lane.pc, &ret->position);
	return true;
}

enum progress {
	MOVED,
	GONE,  /* the thread has exited */
	ENDED, /* something else ended the step, and is told */
};

/* After the device was moved. */
static enum progress moved(struct debugger *d, enum ws_status st, const struct ws_error *err)
{
	bool stopped = false;
	debug_take_events(d, &stopped);
	if (st != WS_OK) {
		cli_fail(NULL, err);
		return ENDED;
	}
	bool same = debug_refocus(d);
	return debug_after_step(d) ? ENDED : same ? MOVED : GONE;
}

static enum progress one(struct debugger *d)
{
	const struct ws_step step = {
		.warp_index = d->focus.warp_index,
		.lane = d->focus.lane,
		.steps = 1,
	};
	struct ws_error err;
	uint64_t warps;
	d->before = d->target->generation;
	enum ws_status st = ws_target_step(d->target, &step, &warps, &err);
	return moved(d, st, &err);
}

/* To where the function in focus returns to: the warp runs, and as other lanes may come there
 * first, steps follow. */
static enum progress out(struct debugger *d)
{
	struct ws_return_address caller;
	struct ws_error err;
	struct ws_warp warp;
	struct state start, now;
	uint32_t n;
	enum ws_status st = ws_target_call_stack(d->target, d->focus.warp_index, d->focus.lane,
						 &caller, 1, &n, &err);
	if (st == WS_OK && n == 0) {
		cli_say("The kernel itself has no caller.\n");
		return ENDED;
	}
	if (st == WS_OK)
		st = ws_target_warp(d->target, d->focus.warp_index, &warp, &err);
	if (!state_of(d, &start))
		return GONE;
	d->before = d->target->generation;
	if (st == WS_OK)
		st = ws_target_run_until(d->target, d->focus.sm_index, UINT64_C(1) << warp.id,
					 caller.address, 0, &err);
	enum progress progress = moved(d, st, &err);
	for (unsigned i = 0; i < MAX_STEPS && progress == MOVED && state_of(d, &now); i++) {
		if (now.depth < start.depth || debug_interrupted())
			break;
		progress = one(d);
	}
	return progress;
}

/* ---- lines ---- */

/* The position that is as deep in inlined calls as the step began: what is inlined below counts as
 * the line of its call. */
static const struct ws_line_pos *level_of(const struct state *state, size_t depth)
{
	size_t n = state->position.n;
	return &state->position.chain[n > depth ? n - depth : 0];
}

static bool same_line(const struct ws_line_pos *a, const struct ws_line_pos *b)
{
	bool same_function = a->function == b->function ||
			     (a->function && b->function && strcmp(a->function, b->function) == 0);
	return a->line == b->line && a->file == b->file && same_function;
}

/* Whether a step of lines is done. */
static bool is_there(const struct debugger *d, const struct state *start, const struct state *now,
		     enum debug_step how)
{
	size_t depth = start->position.n;
	if (how == DEBUG_FINISH)
		return now->depth < start->depth ||
		       (now->depth == start->depth && now->position.n < depth);
	if (now->position.n == 0 || now->position.chain[0].line == 0)
		return false;
	if (how == DEBUG_STEP && now->depth > start->depth &&
	    debug_past_prologue(d, now->pc) != now->pc)
		return false;
	if (depth == 0 || now->depth < start->depth || now->position.n < depth)
		return true;
	if (how == DEBUG_UNTIL && now->depth == start->depth && now->pc <= start->pc)
		return false;
	if (how == DEBUG_NEXT || how == DEBUG_UNTIL)
		return !same_line(level_of(start, depth), level_of(now, depth));
	return now->depth != start->depth || now->position.n != depth ||
	       !same_line(&start->position.chain[0], &now->position.chain[0]);
}

static enum progress line(struct debugger *d, enum debug_step how)
{
	struct state start, now;
	if (!state_of(d, &start))
		return ENDED;
	for (unsigned i = 0; i < MAX_STEPS; i++) {
		enum progress progress = one(d);
		if (progress != MOVED)
			return progress;
		if (debug_interrupted())
			return MOVED;
		if (!state_of(d, &now))
			return GONE;
		while ((how == DEBUG_NEXT || how == DEBUG_UNTIL) && now.depth > start.depth) {
			progress = out(d);
			if (progress != MOVED || !state_of(d, &now))
				return progress;
		}
		if (is_there(d, &start, &now, how))
			return MOVED;
	}
	cli_say("No end after %u instructions.\n", (unsigned)MAX_STEPS);
	return MOVED;
}

static enum progress finish(struct debugger *d)
{
	struct state start;
	if (!state_of(d, &start))
		return ENDED;
	return start.position.n > 1 ? line(d, DEBUG_FINISH) : out(d);
}

static enum progress instruction(struct debugger *d, bool over)
{
	struct state start, now;
	if (!state_of(d, &start))
		return ENDED;
	enum progress progress = one(d);
	while (over && progress == MOVED && state_of(d, &now) && now.depth > start.depth)
		progress = out(d);
	return progress;
}

void debug_step(struct debugger *d, enum debug_step how, uint64_t times)
{
	enum progress progress = MOVED;
	d->started = true;
	for (uint64_t i = 0; i < times && progress == MOVED; i++)
		progress = how == DEBUG_FINISH  ? finish(d)
			   : how == DEBUG_STEPI ? instruction(d, false)
			   : how == DEBUG_NEXTI ? instruction(d, true)
						: line(d, how);
	debug_flush_printed(d);
	debug_refocus(d);
	if (progress == GONE)
		ws_out_text(&d->cli->out, "The thread has exited.\n");
	if (progress != ENDED)
		debug_print_thread(d);
}

/* ---- back ---- */

/* One instruction of the thread in focus. `*ret_position`: where the device is then. */
static enum progress one_back(struct debugger *d, uint64_t *ret_position)
{
	const struct ws_back back = {
		.kind = WS_BACK_STEP,
		.warp_index = d->focus.warp_index,
		.lane = d->focus.lane,
	};
	struct ws_back_found found;
	if (!debug_back(d, &back, &found))
		return ENDED;
	*ret_position = found.position;
	return found.any ? MOVED : GONE;
}

/* Whether a step backwards is still in the line that it has come to, or in what that calls. */
static bool same_place(const struct debugger *d, const struct state *a, const struct state *b,
		       enum debug_step how)
{
	if (how == DEBUG_NEXT && b->depth > a->depth)
		return true;
	return a->depth == b->depth && !is_there(d, a, b, how);
}

/* To the first instruction of the line that was executed before. */
static enum progress line_back(struct debugger *d, enum debug_step how)
{
	struct state start, line, now;
	struct ws_back_found found;
	struct ws_back back = { .kind = WS_BACK_POSITION };
	uint64_t position;
	enum progress progress = MOVED;
	if (!state_of(d, &start))
		return ENDED;
	do {
		progress = one_back(d, &back.position);
		if (progress != MOVED || debug_interrupted())
			return progress;
	} while (state_of(d, &line) && ((how == DEBUG_NEXT && line.depth > start.depth) ||
					!is_there(d, &start, &line, how)));
	for (;;) {
		progress = one_back(d, &position);
		if (progress == ENDED || !state_of(d, &now))
			return ENDED;
		if (progress == GONE)
			return MOVED; /* the thread began in this line */
		if (!same_place(d, &line, &now, how))
			break;
		if (now.depth == line.depth)
			back.position = position;
		if (debug_interrupted())
			return MOVED;
	}
	return debug_back(d, &back, &found) ? MOVED : ENDED;
}

void debug_step_back(struct debugger *d, enum debug_step how, uint64_t times)
{
	enum progress progress = MOVED;
	uint64_t position;
	for (uint64_t i = 0; i < times && progress == MOVED; i++)
		progress = how == DEBUG_STEPI ? one_back(d, &position) : line_back(d, how);
	if (progress == GONE)
		ws_out_text(&d->cli->out, "Here the thread's history begins.\n");
	if (progress != ENDED)
		debug_print_thread(d);
}
