/* SPDX-License-Identifier: Apache-2.0 */
/* Single steps: of instructions, of source lines, out of functions; and backwards. */
#include "debug/session.h"

/* Where a step began, or has come to. */
struct step_state {
	uint64_t pc;
	uint32_t depth; /* calls */
	struct ws_debug_position position;
};

/* One command of steps. */
struct steps {
	struct ws_debug *d;
	struct ws_debug_stop stop;
	enum ws_status status; /* of what failed */
	struct ws_error *err;
};

static bool step_state_of(const struct ws_debug *d, struct step_state *ret)
{
	struct ws_lane lane;
	if (!d->has_focus ||
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) != WS_OK)
		return false;
	ret->pc = lane.pc;
	ret->depth = lane.call_depth;
	ws_debug_position(d, lane.pc, &ret->position);
	return true;
}

enum step_progress {
	MOVED,
	GONE,  /* the thread has exited */
	ENDED, /* something else ended the steps: `stop`, or `status` */
};

static enum step_progress fail(struct steps *s, enum ws_status status)
{
	s->status = status;
	return ENDED;
}

static enum step_progress end(struct steps *s, enum ws_debug_reason reason)
{
	s->stop.reason = reason;
	return ENDED;
}

/* After the device was moved. */
static enum step_progress step_moved(struct steps *s, enum ws_status st)
{
	wsi_debug_take_events(s->d);
	if (st != WS_OK)
		return fail(s, st);
	const bool same = wsi_debug_refresh(s->d);
	return wsi_debug_after_step(s->d, &s->stop) ? ENDED : same ? MOVED : GONE;
}

static enum step_progress one(struct steps *s)
{
	struct ws_debug *d = s->d;
	const struct ws_step step = {
		.warp_index = d->focus.warp_index,
		.lane = d->focus.lane,
		.steps = 1,
	};
	uint64_t warps;
	d->before = d->target->generation;
	return step_moved(s, ws_target_step(d->target, &step, &warps, s->err));
}

/* To where the function in focus returns to: the warp runs, and as other lanes may come there
 * first, steps follow. */
static enum step_progress out(struct steps *s)
{
	struct ws_debug *d = s->d;
	struct ws_return_address caller;
	struct ws_warp warp;
	struct step_state start, now;
	uint32_t n;
	enum ws_status st = ws_target_call_stack(d->target, d->focus.warp_index, d->focus.lane,
						 &caller, 1, &n, s->err);
	if (st == WS_OK && n == 0)
		return end(s, WS_DEBUG_NO_CALLER);
	if (st == WS_OK)
		st = ws_target_warp(d->target, d->focus.warp_index, &warp, s->err);
	if (!step_state_of(d, &start))
		return GONE;
	d->before = d->target->generation;
	if (st == WS_OK)
		st = ws_target_run_until(d->target, d->focus.sm_index, UINT64_C(1) << warp.id,
					 caller.address, 0, s->err);
	enum step_progress progress = step_moved(s, st);
	for (unsigned i = 0; i < WS_DEBUG_MAX_STEPS && progress == MOVED && step_state_of(d, &now);
	     i++) {
		if (now.depth < start.depth)
			break;
		progress = ws_debug_interrupted(d) ? end(s, WS_DEBUG_INTERRUPTED) : one(s);
	}
	return progress;
}

/* ---- lines ---- */

/* The position that is as deep in inlined calls as the step began: what is inlined below counts as
 * the line of its call. */
static const struct ws_line_pos *level_of(const struct step_state *state, size_t depth)
{
	size_t n = state->position.n;
	return &state->position.chain[n > depth ? n - depth : 0];
}

static bool same_line_positions(const struct ws_line_pos *a, const struct ws_line_pos *b)
{
	bool same_function = a->function == b->function ||
			     (a->function && b->function && strcmp(a->function, b->function) == 0);
	return a->line == b->line && a->file == b->file && same_function;
}

/* Whether a step of lines is done. */
static bool is_step_done(const struct ws_debug *d, const struct step_state *start,
			 const struct step_state *now, enum ws_debug_step_kind how)
{
	size_t depth = start->position.n;
	if (how == WS_DEBUG_FINISH)
		return now->depth < start->depth ||
		       (now->depth == start->depth && now->position.n < depth);
	if (now->position.n == 0 || now->position.chain[0].line == 0)
		return false;
	if (how == WS_DEBUG_STEP && now->depth > start->depth &&
	    wsi_debug_past_prologue(d, now->pc) != now->pc)
		return false;
	if (depth == 0 || now->depth < start->depth || now->position.n < depth)
		return true;
	if (how == WS_DEBUG_UNTIL && now->depth == start->depth && now->pc <= start->pc)
		return false;
	if (how == WS_DEBUG_NEXT || how == WS_DEBUG_UNTIL)
		return !same_line_positions(level_of(start, depth), level_of(now, depth));
	return now->depth != start->depth || now->position.n != depth ||
	       !same_line_positions(&start->position.chain[0], &now->position.chain[0]);
}

static enum step_progress step_line(struct steps *s, enum ws_debug_step_kind how)
{
	struct ws_debug *d = s->d;
	struct step_state start, now;
	if (!step_state_of(d, &start))
		return GONE;
	for (unsigned i = 0; i < WS_DEBUG_MAX_STEPS; i++) {
		enum step_progress progress = one(s);
		if (progress != MOVED)
			return progress;
		if (ws_debug_interrupted(d))
			return end(s, WS_DEBUG_INTERRUPTED);
		if (!step_state_of(d, &now))
			return GONE;
		while ((how == WS_DEBUG_NEXT || how == WS_DEBUG_UNTIL) && now.depth > start.depth) {
			progress = out(s);
			if (progress != MOVED || !step_state_of(d, &now))
				return progress;
		}
		if (is_step_done(d, &start, &now, how))
			return MOVED;
	}
	return end(s, WS_DEBUG_NO_END);
}

static enum step_progress finish_steps_taken(struct steps *s)
{
	struct step_state start;
	if (!step_state_of(s->d, &start))
		return GONE;
	return start.position.n > 1 ? step_line(s, WS_DEBUG_FINISH) : out(s);
}

static enum step_progress step_instruction(struct steps *s, bool over)
{
	struct step_state start, now;
	if (!step_state_of(s->d, &start))
		return GONE;
	enum step_progress progress = one(s);
	while (over && progress == MOVED && step_state_of(s->d, &now) && now.depth > start.depth)
		progress = out(s);
	return progress;
}

/* Steps without a thread; none has been made. */
static enum ws_status no_thread(struct ws_error *err)
{
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no thread");
}

/* What a client gets of steps, the last of which came to this. */
static enum ws_status finish_steps(struct steps *s, enum step_progress progress,
				   enum ws_debug_reason gone, struct ws_debug_stop *ret_stop)
{
	if (progress == GONE)
		s->stop.reason = gone;
	wsi_debug_stop_at(s->d, &s->stop);
	if (s->status == WS_OK)
		*ret_stop = s->stop;
	return s->status;
}

enum ws_status ws_debug_step(struct ws_debug *d, enum ws_debug_step_kind how, uint64_t times,
			     struct ws_debug_stop *ret_stop, struct ws_error *err)
{
	struct steps s = { .d = d, .stop.reason = WS_DEBUG_STEPPED, .err = err };
	enum step_progress progress = MOVED;
	struct step_state start;
	if (!step_state_of(d, &start))
		return no_thread(err);
	if (d->state == WS_DEBUG_FRESH)
		d->state = WS_DEBUG_STANDS;
	for (uint64_t i = 0; i < times && progress == MOVED; i++)
		progress = how == WS_DEBUG_FINISH  ? finish_steps_taken(&s)
			   : how == WS_DEBUG_STEPI ? step_instruction(&s, false)
			   : how == WS_DEBUG_NEXTI ? step_instruction(&s, true)
						   : step_line(&s, how);
	wsi_debug_stands(d);
	return finish_steps(&s, progress, WS_DEBUG_THREAD_EXITED, ret_stop);
}

/* ---- back ---- */

/* One instruction of the thread in focus. `*ret_position`: where the device is then. */
static enum step_progress one_back(struct steps *s, uint64_t *ret_position)
{
	const struct ws_back back = {
		.kind = WS_BACK_STEP,
		.warp_index = s->d->focus.warp_index,
		.lane = s->d->focus.lane,
	};
	struct ws_back_found found;
	const enum ws_status st = wsi_debug_back(s->d, &back, &found, s->err);
	if (st != WS_OK)
		return fail(s, st);
	*ret_position = found.position;
	return found.any ? MOVED : GONE;
}

/* Whether a step backwards is still in the line that it has come to, or in what that calls. */
static bool same_place(const struct ws_debug *d, const struct step_state *a,
		       const struct step_state *b, enum ws_debug_step_kind how)
{
	if (how == WS_DEBUG_NEXT && b->depth > a->depth)
		return true;
	return a->depth == b->depth && !is_step_done(d, a, b, how);
}

/* To the first instruction of the line that was executed before. */
static enum step_progress line_back(struct steps *s, enum ws_debug_step_kind how)
{
	struct ws_debug *d = s->d;
	struct step_state start, line, now;
	struct ws_back_found found;
	struct ws_back back = { .kind = WS_BACK_POSITION };
	uint64_t position;
	enum step_progress progress = MOVED;
	if (!step_state_of(d, &start))
		return GONE;
	do {
		progress = one_back(s, &back.position);
		if (progress != MOVED)
			return progress;
		if (ws_debug_interrupted(d))
			return end(s, WS_DEBUG_INTERRUPTED);
	} while (step_state_of(d, &line) && ((how == WS_DEBUG_NEXT && line.depth > start.depth) ||
					     !is_step_done(d, &start, &line, how)));
	for (;;) {
		progress = one_back(s, &position);
		if (progress == GONE)
			return MOVED; /* the thread began in this line */
		if (progress == ENDED)
			return ENDED;
		if (!step_state_of(d, &now))
			return GONE;
		if (!same_place(d, &line, &now, how))
			break;
		if (now.depth == line.depth)
			back.position = position;
		if (ws_debug_interrupted(d))
			return end(s, WS_DEBUG_INTERRUPTED);
	}
	const enum ws_status st = wsi_debug_back(d, &back, &found, s->err);
	return st == WS_OK ? MOVED : fail(s, st);
}

enum ws_status ws_debug_step_back(struct ws_debug *d, enum ws_debug_step_kind how, uint64_t times,
				  struct ws_debug_stop *ret_stop, struct ws_error *err)
{
	struct steps s = { .d = d, .stop.reason = WS_DEBUG_STEPPED, .err = err };
	enum step_progress progress = MOVED;
	uint64_t position;
	struct step_state start;
	if (!step_state_of(d, &start))
		return no_thread(err);
	for (uint64_t i = 0; i < times && progress == MOVED; i++)
		progress = how == WS_DEBUG_STEPI ? one_back(&s, &position) : line_back(&s, how);
	return finish_steps(&s, progress, WS_DEBUG_HISTORY_BEGINS, ret_stop);
}
