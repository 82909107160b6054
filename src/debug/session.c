/* SPDX-License-Identifier: Apache-2.0 */
/* A session: its target, the thread and the frame in focus, expressions there. */
#include "debug/session.h"

#include <warpscope/sass.h>

#include "vars/vars.h"

enum ws_status wsi_debug_no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the session");
}

enum ws_status ws_debug_create(const struct ws_debug_client *client, struct ws_debug **ret_session,
			       struct ws_error *err)
{
	struct ws_debug *d = wsi_zalloc(sizeof *d);
	if (!d)
		return wsi_debug_no_memory(err);
	memcpy(&d->client, client, client->size < sizeof *client ? client->size : sizeof *client);
	*ret_session = d;
	return WS_OK;
}

void ws_debug_destroy(struct ws_debug *d)
{
	if (!d)
		return;
	ws_debug_leave(d);
	wsi_breakpoints_fini(d);
	wsi_free(d->found.pc);
	wsi_free(d->hits);
	wsi_debug_values_fini(d);
	wsi_free(d);
}

void wsi_debug_tell(const struct ws_debug *d, enum ws_debug_notice_kind kind,
		    const struct wsi_debug_breakpoint *breakpoint, const struct ws_error *err)
{
	const struct ws_debug_notice notice = { .kind = kind,
						.breakpoint = breakpoint ? &breakpoint->is : NULL,
						.err = err };
	if (d->client.tell)
		d->client.tell(d->client.user, &notice);
}

/* ---- the target ---- */

enum ws_status wsi_debug_use(struct ws_debug *d, struct ws_target *target, bool has_begun,
			     struct ws_error *err)
{
	const enum ws_status st =
		ws_target_want(target, WS_WANT_STOPS | WS_WANT_LEFT_EXCEPTIONS, err);
	if (st != WS_OK)
		return st;
	d->target = target;
	d->state = !ws_target_can(target, WS_CAN_RUN) ? WS_DEBUG_FIXED
		   : has_begun                        ? WS_DEBUG_STANDS
						      : WS_DEBUG_FRESH;
	d->owed = 0;
	d->has_focus = false;
	wsi_breakpoints_plant(d);
	if (has_begun)
		(void)wsi_debug_refresh(d);
	return WS_OK;
}

enum ws_status ws_debug_use(struct ws_debug *d, struct ws_target *target, struct ws_error *err)
{
	return wsi_debug_use(d, target, false, err);
}

void ws_debug_leave(struct ws_debug *d)
{
	wsi_debug_values_leave(d);
	ws_vars_destroy(d->vars);
	d->vars = NULL;
	wsi_program_leave(d);
	wsi_source_leave(d);
	d->target = NULL;
	d->state = WS_DEBUG_EMPTY;
	d->has_focus = false;
	d->level = d->position = 0;
}

struct ws_target *ws_debug_target(const struct ws_debug *d)
{
	return d->target;
}

enum ws_debug_state ws_debug_state(const struct ws_debug *d)
{
	return d->state;
}

void ws_debug_interrupt(struct ws_debug *d)
{
	atomic_store(&d->is_interrupted, true);
}

bool ws_debug_interrupted(struct ws_debug *d)
{
	return atomic_exchange(&d->is_interrupted, false);
}

/* ---- the focus ---- */

const struct ws_focus *ws_debug_focus(const struct ws_debug *d)
{
	return d->has_focus ? &d->focus : NULL;
}

bool ws_debug_thread(const struct ws_debug *d, struct ws_debug_thread *ret_thread)
{
	if (d->has_focus)
		*ret_thread = d->thread;
	return d->has_focus;
}

bool wsi_debug_focus_of(const struct ws_debug *d, uint32_t warp_index, uint32_t lane,
			struct ws_focus *ret_focus)
{
	struct ws_warp warp;
	struct ws_block block;
	if (ws_target_warp(d->target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_block(d->target, warp.block_index, &block, NULL) != WS_OK)
		return false;
	*ret_focus = (struct ws_focus){
		.device_index = warp.device_index,
		.sm_index = warp.sm_index,
		.warp_index = warp_index,
		.block_index = warp.block_index,
		.grid_index = block.grid_index,
		.lane = lane,
	};
	return true;
}

void wsi_debug_focus_on(struct ws_debug *d, const struct ws_focus *focus)
{
	struct ws_device device = { 0 };
	struct ws_sm sm = { 0 };
	struct ws_warp warp = { 0 };
	struct ws_block block = { 0 };
	d->focus = *focus;
	d->has_focus = ws_target_device(d->target, focus->device_index, &device, NULL) == WS_OK &&
		       ws_target_sm(d->target, focus->sm_index, &sm, NULL) == WS_OK &&
		       ws_target_warp(d->target, focus->warp_index, &warp, NULL) == WS_OK &&
		       ws_target_block(d->target, focus->block_index, &block, NULL) == WS_OK;
	d->thread = (struct ws_debug_thread){ device.id,   sm.id,         warp.id,
					      focus->lane, block.grid_id, block.idx };
	d->level = d->position = 0;
}

bool wsi_debug_focus_on_first(struct ws_debug *d, uint32_t warp_index, uint32_t lanes)
{
	return ws_debug_set_focus(d, warp_index, wsi_first_bit(lanes));
}

bool ws_debug_set_focus(struct ws_debug *d, uint32_t warp_index, uint32_t lane)
{
	struct ws_focus focus;
	const bool good = wsi_debug_focus_of(d, warp_index, lane, &focus);
	if (good)
		wsi_debug_focus_on(d, &focus);
	return good;
}

bool wsi_debug_find_thread(const struct ws_debug *d, const struct ws_debug_thread *was,
			   struct ws_focus *ret)
{
	uint32_t device, sm, warp_index;
	struct ws_warp warp;
	struct ws_block block;
	struct ws_lane lane;
	if (ws_target_find_device(d->target, was->device_id, &device, NULL) != WS_OK ||
	    ws_target_find_sm(d->target, device, was->sm_id, &sm, NULL) != WS_OK ||
	    ws_target_find_warp(d->target, sm, was->warp_id, &warp_index, NULL) != WS_OK ||
	    !wsi_debug_focus_of(d, warp_index, was->lane, ret) ||
	    ws_target_warp(d->target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_block(d->target, ret->block_index, &block, NULL) != WS_OK ||
	    ws_target_lane(d->target, warp_index, was->lane, &lane, NULL) != WS_OK)
		return false;
	return block.grid_id == was->grid_id && (warp.valid_lanes >> was->lane & 1) &&
	       memcmp(&block.idx, &was->block, sizeof block.idx) == 0;
}

bool wsi_debug_refresh(struct ws_debug *d)
{
	struct ws_focus focus;
	const bool same = d->has_focus && wsi_debug_find_thread(d, &d->thread, &focus);
	d->has_focus = false;
	if (d->state == WS_DEBUG_LOST)
		return false;
	if (same || ws_focus_find(d->target, &focus, NULL) == WS_OK)
		wsi_debug_focus_on(d, &focus);
	return same;
}

void wsi_debug_stands(struct ws_debug *d)
{
	wsi_source_tell_printed(d);
	(void)wsi_debug_refresh(d);
}

void ws_debug_select(struct ws_debug *d, uint32_t level, uint32_t position)
{
	d->level = level;
	d->position = position;
}

/* ---- expressions ---- */

/* Looks at a thread, at that in focus in the frame in focus; NULL: at none. */
static enum ws_status look_at_focus(struct ws_debug *d, const struct ws_focus *focus,
				    struct ws_error *err)
{
	enum ws_status st = d->vars ? WS_OK : ws_vars_create(d->target, &d->vars, err);
	if (st == WS_OK) {
		wsi_vars_names(d->vars, wsi_debug_find_name, d);
		st = ws_vars_look(d->vars, focus, err);
	}
	d->has_asked = focus != NULL;
	if (focus)
		d->asked = *focus;
	if (st == WS_OK && focus == &d->focus && (d->level || d->position))
		st = ws_vars_select_inlined(d->vars, d->level, d->position, err);
	return st;
}

enum ws_status ws_debug_vars(struct ws_debug *d, struct ws_vars **ret_vars, struct ws_error *err)
{
	const enum ws_status st = look_at_focus(d, ws_debug_focus(d), err);
	if (st == WS_OK)
		*ret_vars = d->vars;
	return st;
}

enum ws_status ws_debug_evaluate(struct ws_debug *d, const char *text, struct ws_value *ret_value,
				 struct ws_error *err)
{
	enum ws_status st = look_at_focus(d, ws_debug_focus(d), err);
	if (st == WS_OK)
		st = ws_vars_evaluate(d->vars, text, ret_value, err);
	return st == WS_OK ? ws_vars_keep(d->vars, ret_value, err) : st;
}

enum ws_status wsi_debug_number(struct ws_debug *d, const struct ws_focus *focus, const char *text,
				struct ws_number *ret_number, struct ws_error *err)
{
	struct ws_value value;
	enum ws_status st = look_at_focus(d, focus, err);
	if (st == WS_OK)
		st = ws_vars_evaluate(d->vars, text, &value, err);
	return st == WS_OK ? ws_vars_number(d->vars, &value, ret_number, err) : st;
}

enum ws_status ws_debug_number(struct ws_debug *d, const char *text, struct ws_number *ret_number,
			       struct ws_error *err)
{
	return wsi_debug_number(d, ws_debug_focus(d), text, ret_number, err);
}

enum ws_status wsi_debug_can_ask_at(struct ws_debug *d, uint64_t pc, const char *text,
				    struct ws_error *err)
{
	const enum ws_status st = look_at_focus(d, NULL, err);
	return st == WS_OK ? wsi_vars_check(d->vars, pc, text, err) : st;
}

enum ws_status ws_debug_memory(struct ws_debug *d, const char *text,
			       struct ws_debug_memory *ret_memory, struct ws_error *err)
{
	struct ws_value value;
	struct ws_number number;
	uint64_t bytes;
	enum ws_status st = look_at_focus(d, ws_debug_focus(d), err);
	if (st == WS_OK)
		st = ws_vars_evaluate(d->vars, text, &value, err);
	if (st == WS_OK)
		st = ws_vars_number(d->vars, &value, &number, err);
	if (st == WS_OK)
		st = ws_vars_size(&value, &bytes, err);
	if (st != WS_OK)
		return st;
	if (value.kind != WS_VALUE_MEMORY || value.bit_size || bytes > 8 || (bytes & (bytes - 1)) ||
	    (number.is_float && bytes < 4))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"only what is in memory can be watched");
	*ret_memory = (struct ws_debug_memory){ value.at, bytes, (uint32_t)bytes, number.is_float,
						!number.is_float && number.is_unsigned };
	return WS_OK;
}

enum ws_status ws_debug_address(struct ws_debug *d, const char *text, struct ws_address *ret_at,
				struct ws_error *err)
{
	const size_t size = strlen(text) + 4;
	wsi_scoped_free char *pointed = wsi_zalloc(size);
	struct ws_value value, memory;
	struct ws_number number;
	enum ws_status st =
		pointed ? look_at_focus(d, ws_debug_focus(d), err) : wsi_debug_no_memory(err);
	if (st == WS_OK)
		st = ws_vars_evaluate(d->vars, text, &value, err);
	if (st != WS_OK)
		return st;
	snprintf(pointed, size, "*(%s)", text);
	if (ws_vars_evaluate(d->vars, pointed, &memory, NULL) == WS_OK &&
	    memory.kind == WS_VALUE_MEMORY) {
		*ret_at = memory.at;
		return WS_OK;
	}
	st = ws_vars_number(d->vars, &value, &number, err);
	if (st == WS_OK)
		*ret_at = (struct ws_address){ .space = WS_SPACE_GENERIC,
					       .address = (uint64_t)number.whole };
	else if (value.kind == WS_VALUE_MEMORY)
		*ret_at = value.at; /* of a structure */
	return value.kind == WS_VALUE_MEMORY ? WS_OK : st;
}

enum ws_status ws_debug_frame_pc(struct ws_debug *d, uint64_t *ret_pc, struct ws_error *err)
{
	if (!d->has_focus)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no thread");
	const enum ws_status st = look_at_focus(d, &d->focus, err);
	if (st != WS_OK)
		return st;
	const struct ws_frame *frame = ws_vars_frame(d->vars, wsi_vars_selected(d->vars));
	*ret_pc = frame->pc;
	if (frame->is_caller && frame->pc)
		*ret_pc -= (frame->pc - 1) % WS_SASS_BYTES + 1;
	return WS_OK;
}
