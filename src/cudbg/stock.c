/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stock of a target: which device, SM and warp slot holds what, so that coordinates become
 * indices without a search; and which SMs have seen an exception.
 *
 * Numbers of devices, SMs, warps and lanes in the API are the ids of the target's rows. Limits are
 * clamped to the API's maxima, because clients size arrays and shift masks by these.
 */
#include "cudbg/session.h"

#include <warpscope/cubin.h>
#include <warpscope/focus.h>

static _Atomic uint64_t last_serial;

void wsi_cudbg_rows_changed(struct wsi_cudbg *s)
{
	s->serial = atomic_fetch_add(&last_serial, 1) + 1;
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

static void stock_free(struct wsi_stock *stock)
{
	if (!stock)
		return;
	for (uint32_t i = 0; i < CUDBG_MAX_DEVICES; i++) {
		wsi_free(stock->device[i].sms);
		wsi_free(atomic_load(&stock->device[i].faults));
	}
	wsi_free(stock);
}

/* The row of the device with an index of the target; NULL for one that the API cannot number. */
static struct wsi_device_row *row_of_index(struct wsi_stock *stock, uint32_t device_index)
{
	for (uint32_t i = 0; i < stock->n_devices; i++)
		if (stock->device[i].present && stock->device[i].index == device_index)
			return &stock->device[i];
	return NULL;
}

static enum ws_status stock_devices(struct wsi_cudbg *s, struct wsi_stock *stock,
				    const struct ws_counts *counts, struct ws_error *err)
{
	for (uint32_t i = 0; i < counts->devices; i++) {
		struct ws_device device;
		enum ws_status st = ws_target_device(s->target, i, &device, err);
		if (st != WS_OK)
			return st;
		if (device.id >= CUDBG_MAX_DEVICES || stock->device[device.id].present)
			continue;
		struct wsi_device_row *row = &stock->device[device.id];
		row->present = true;
		row->index = i;
		row->device = device;
		row->n_sms = at_most(device.n_sms, CUDBG_MAX_SMS);
		row->n_warps = at_most(device.n_warps_per_sm, CUDBG_MAX_WARPS);
		row->n_lanes = at_most(device.n_lanes_per_warp, CUDBG_MAX_LANES);
		row->running = ws_target_running(s->target, i);
		row->looked = !row->running;
		row->sms = wsi_zalloc_array(row->n_sms + 1, sizeof *row->sms);
		if (!row->sms)
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "table of SMs");
		for (uint32_t sm = 0; sm < row->n_sms; sm++) {
			row->sms[sm].sm_index = WS_NONE;
			for (uint32_t wp = 0; wp < CUDBG_MAX_WARPS; wp++)
				row->sms[sm].slot[wp].warp_index = WS_NONE;
		}
		if (device.id >= stock->n_devices)
			stock->n_devices = device.id + 1;
	}
	return WS_OK;
}

/* What a slot holds of its warp. */
static struct wsi_slot warp_slot_of(const struct wsi_cudbg *s, const struct wsi_device_row *device,
				    uint32_t warp_index, const struct ws_warp *warp)
{
	return (struct wsi_slot){
		.warp_index = warp_index,
		.valid = warp->valid_lanes,
		.active = warp->active_lanes,
		.hit = warp->broken ? wsi_cudbg_hit(s, device->device.id, warp_index, warp)
				    : CUDBG_BREAKPOINT_HANDLE_INVALID,
	};
}

static enum ws_status stock_warps(struct wsi_cudbg *s, const struct wsi_device_row *device,
				  struct wsi_sm_row *row, const struct ws_sm *sm,
				  struct ws_error *err)
{
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		struct ws_warp warp;
		uint32_t index = sm->first_warp_index + i;
		enum ws_status st = ws_target_warp(s->target, index, &warp, err);
		if (st != WS_OK)
			return st;
		if (warp.id >= device->n_warps || row->slot[warp.id].warp_index != WS_NONE)
			continue;
		row->slot[warp.id] = warp_slot_of(s, device, index, &warp);
		row->valid |= 1ull << warp.id;
		if (!(warp.have & WS_WARP_BROKEN))
			row->broken_unknown = true;
		else if (warp.broken)
			row->broken |= 1ull << warp.id;
	}
	return WS_OK;
}

static enum ws_status stock_sms(struct wsi_cudbg *s, struct wsi_stock *stock,
				const struct ws_counts *counts, struct ws_error *err)
{
	for (uint32_t i = 0; i < counts->sms; i++) {
		struct ws_sm sm;
		enum ws_status st = ws_target_sm(s->target, i, &sm, err);
		if (st == WS_RUNNING)
			continue;
		if (st != WS_OK)
			return st;
		struct wsi_device_row *device = row_of_index(stock, sm.device_index);
		if (!device || device->running || sm.id >= device->n_sms ||
		    device->sms[sm.id].sm_index != WS_NONE)
			continue;
		device->sms[sm.id].sm_index = i;
		st = stock_warps(s, device, &device->sms[sm.id], &sm, err);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

enum ws_status wsi_cudbg_take_stock(struct wsi_cudbg *s, struct ws_error *err)
{
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	struct ws_cubin_set *cubins = NULL;
	struct wsi_stock *stock = wsi_zalloc(sizeof *stock);
	if (!stock)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "table of devices");
	enum ws_status st = stock_devices(s, stock, &counts, err);
	if (st == WS_OK)
		st = stock_sms(s, stock, &counts, err);
	if (st == WS_OK)
		st = ws_target_cubins(s->target, &cubins, err);
	if (st != WS_OK) {
		stock_free(stock);
		return st;
	}
	wsi_cudbg_drop_stock(s);
	s->stock = stock;
	s->cubins = cubins;
	wsi_cudbg_rows_changed(s);
	s->generation = s->target->generation;
	return WS_OK;
}

void wsi_cudbg_drop_stock(struct wsi_cudbg *s)
{
	stock_free(s->stock);
	s->stock = NULL;
	s->cubins = NULL;
}

/* ---- exceptions ---- */

/* Whether a warp that is still there shows an exception; `code`: that of its SM, or 0. */
static enum ws_status stock_warp_faulted(struct wsi_cudbg *s, const struct wsi_slot *slot,
					 uint32_t code, bool *ret_faulted, struct ws_error *err)
{
	struct ws_warp warp;
	struct ws_lane lanes[WS_MAX_LANES];
	struct ws_blame blame;
	uint32_t n = 0;
	*ret_faulted = false;
	enum ws_status st = ws_target_lanes(s->target, slot->warp_index, lanes, &n, err);
	if (st != WS_OK && st != WS_ABSENT && st != WS_EXCLUDED)
		return st;
	if (ws_target_warp(s->target, slot->warp_index, &warp, NULL) != WS_OK)
		return WS_OK;
	ws_focus_blame(&warp, lanes, st == WS_OK ? n : 0, code, &blame);
	*ret_faulted = blame.by == WS_BLAME_LANE || blame.by == WS_BLAME_SUSPECT;
	return WS_OK;
}

/* Asks for the exceptions of an SM: of these warps, of all when its own one is another. */
static enum ws_status sm_faults(struct wsi_cudbg *s, const struct wsi_sm_row *row, uint32_t id,
				uint64_t warps, struct wsi_faults *faults, struct ws_error *err)
{
	struct ws_sm sm;
	enum ws_status st = ws_target_sm(s->target, row->sm_index, &sm, err);
	if (st != WS_OK)
		return st;
	uint32_t code = sm.have & WS_SM_EXCEPTION ? sm.exception : CUDBG_EXCEPTION_NONE;
	if (code != faults->exception[id])
		warps = row->valid;
	warps &= row->valid;
	for (uint32_t wp = 0; wp < CUDBG_MAX_WARPS && warps >> wp && st == WS_OK; wp++) {
		bool faulted;
		if (!(warps >> wp & 1))
			continue;
		st = stock_warp_faulted(s, &row->slot[wp], code, &faulted, err);
		faults->warps[id] &= ~(1ull << wp);
		faults->warps[id] |= (uint64_t)faulted << wp;
	}
	uint64_t bit = 1ull << id % 64;
	faults->exception[id] = code;
	faults->live[id / 64] &= ~bit;
	faults->left[id / 64] &= ~bit;
	if (faults->warps[id])
		faults->live[id / 64] |= bit;
	else if (code != CUDBG_EXCEPTION_NONE)
		faults->left[id / 64] |= bit;
	return st;
}

static enum ws_status find_faults(struct wsi_cudbg *s, const struct wsi_device_row *device,
				  struct wsi_faults *faults, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (uint32_t id = 0; id < device->n_sms && st == WS_OK; id++)
		if (device->sms[id].sm_index != WS_NONE)
			st = sm_faults(s, &device->sms[id], id, device->sms[id].valid, faults, err);
	return st;
}

/* Looks at what changed since; only a target that runs has that, and calls of it come one by one.
 */
static enum ws_status renew_faults(struct wsi_cudbg *s, const struct wsi_device_row *device,
				   struct wsi_faults *faults, struct ws_error *err)
{
	for (uint32_t word = 0; word < WSI_COUNT(faults->changed); word++)
		for (; faults->changed[word]; faults->changed[word] &= faults->changed[word] - 1) {
			uint32_t id = word * 64 + (uint32_t)__builtin_ctzll(faults->changed[word]);
			enum ws_status st = sm_faults(s, &device->sms[id], id,
						      faults->changed_warps[id], faults, err);
			if (st != WS_OK)
				return st;
			faults->changed_warps[id] = 0;
		}
	return WS_OK;
}

const struct wsi_faults *wsi_cudbg_faults(struct wsi_cudbg *s, struct wsi_device_row *device)
{
	struct wsi_faults *faults = atomic_load_explicit(&device->faults, memory_order_acquire);
	struct ws_error err = { .status = WS_NO_MEMORY };
	enum ws_status st;
	if (faults) {
		st = renew_faults(s, device, faults, &err);
		if (st == WS_OK)
			return faults;
		(void)wsi_cudbg_status(s, st, &err);
		return NULL;
	}
	struct wsi_faults *found = wsi_zalloc(sizeof *found);
	st = found ? find_faults(s, device, found, &err) : WS_NO_MEMORY;
	if (st != WS_OK) {
		wsi_free(found);
		(void)wsi_cudbg_status(s, st, found ? &err : NULL);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&device->faults, &faults, found))
		return found;
	wsi_free(found); /* another thread was faster */
	return faults;
}

uint64_t wsi_cudbg_fault_word(const struct wsi_cudbg *s, const struct wsi_faults *faults,
			      unsigned word)
{
	bool show_left =
		s->capabilities & CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS;
	return faults->live[word] | (show_left ? faults->left[word] : 0);
}

/* ---- following a target that runs ---- */

/* Fills the slots of warps that changed in place. False: the lists cannot be these. */
static bool slots_renew(struct wsi_cudbg *s, const struct ws_change *change, struct ws_error *err,
			enum ws_status *ret_status)
{
	struct ws_sm sm;
	*ret_status = ws_target_sm(s->target, change->sm_index, &sm, err);
	if (*ret_status != WS_OK)
		return *ret_status != WS_RUNNING;
	struct wsi_device_row *device = row_of_index(s->stock, sm.device_index);
	if (!device || sm.id >= device->n_sms)
		return true; /* the API cannot number it */
	struct wsi_sm_row *row = &device->sms[sm.id];
	if (row->sm_index != change->sm_index)
		return false;
	for (uint32_t wp = 0; wp < CUDBG_MAX_WARPS && *ret_status == WS_OK; wp++) {
		struct ws_warp warp;
		if (!((change->warps & row->valid) >> wp & 1))
			continue;
		uint32_t index = row->slot[wp].warp_index;
		*ret_status = ws_target_warp(s->target, index, &warp, err);
		if (*ret_status != WS_OK)
			break;
		row->slot[wp] = warp_slot_of(s, device, index, &warp);
		row->broken_unknown = row->broken_unknown || !(warp.have & WS_WARP_BROKEN);
		row->broken &= ~(1ull << wp);
		row->broken |= (uint64_t)warp.broken << wp;
	}
	struct wsi_faults *faults = atomic_load(&device->faults);
	if (faults && *ret_status == WS_OK) {
		faults->changed[sm.id / 64] |= 1ull << sm.id % 64;
		faults->changed_warps[sm.id] |= change->warps;
	}
	return true;
}

/* False: all must be taken anew. */
static bool stock_renew(struct wsi_cudbg *s, struct ws_error *err, enum ws_status *ret_status)
{
	struct ws_change changes[WS_MAX_CHANGES];
	uint32_t n = 0;
	*ret_status = WS_OK;
	for (uint32_t dev = 0; dev < s->stock->n_devices; dev++) {
		struct wsi_device_row *row = &s->stock->device[dev];
		if (!row->present)
			continue;
		row->running = ws_target_running(s->target, row->index);
		if (!row->running && !row->looked)
			return false;
	}
	if (s->generation == s->target->generation)
		return true;
	if (!ws_target_changes(s->target, s->generation, changes, &n))
		return false;
	for (uint32_t i = 0; i < n && *ret_status == WS_OK; i++)
		if (!slots_renew(s, &changes[i], err, ret_status))
			return false;
	if (*ret_status == WS_OK) {
		s->generation = s->target->generation;
		wsi_cudbg_rows_changed(s);
	}
	return true;
}

enum ws_status wsi_cudbg_follow(struct wsi_cudbg *s, struct ws_error *err)
{
	enum ws_status st = ws_target_update(s->target, err);
	if (st == WS_OK && !stock_renew(s, err, &st))
		st = wsi_cudbg_take_stock(s, err);
	return st;
}
