/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the state of a provider. Contexts and images come from the events that `initialize`
 * queued; warps from the valid masks of each SM; blocks and grids from what the warps say they run.
 */
#include "target/api/api.h"

enum { MAX_ROWS = 1 << 24 };

/* Room for one more row; the counts are 32-bit, so capacities are kept beside them. */
static void *stock_row_add(void *list, size_t size, uint32_t *n, uint32_t *cap)
{
	void **rows = list;
	size_t wide = *cap;
	if (!wsi_grow(rows, &wide, *n, size, MAX_ROWS))
		return NULL;
	*cap = (uint32_t)wide;
	void *row = (uint8_t *)*rows + (size_t)(*n)++ * size;
	memset(row, 0, size);
	return row;
}
#define ROW_ADD(t, list) stock_row_add(&(t)->list, sizeof *(t)->list, &(t)->n.list, &(t)->cap.list)

static enum ws_status no_room(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "tables of the target");
}

/* Notes that no function tells something of the row made last. The first such thing counts. */
static bool lack_add(struct api_target *t, enum api_kind kind, uint32_t index, const char *what)
{
	struct api_lack **items = &t->lacks[kind].items;
	size_t n = t->lacks[kind].n;
	if (!what || (n && (*items)[n - 1].index == index))
		return true;
	if (!wsi_grow(items, &t->lacks[kind].cap, n, sizeof **items, MAX_ROWS))
		return false;
	(*items)[t->lacks[kind].n++] = (struct api_lack){ index, what };
	return true;
}

/* Keeps a text of the provider; empty when there is no memory. */
static struct ws_str keep_provider_text(struct api_target *t, const char *text)
{
	char *copy = wsi_strdup(text);
	if (!copy || !wsi_grow(&t->texts, &t->cap_texts, t->n_texts, sizeof *t->texts, MAX_ROWS)) {
		wsi_free(copy);
		return (struct ws_str){ NULL, 0 };
	}
	t->texts[t->n_texts++] = copy;
	return ws_str_of(copy);
}

/* ---- devices ---- */

static void device_texts(struct api_target *t, uint32_t dev, struct ws_device *device)
{
	char text[256] = "";
	if (API_CALL(t, getDeviceName, dev, text, sizeof text - 1) == CUDBG_SUCCESS)
		device->name = keep_provider_text(t, text);
	memset(text, 0, sizeof text);
	if (API_CALL(t, getDeviceType, dev, text, sizeof text - 1) == CUDBG_SUCCESS)
		device->type = keep_provider_text(t, text);
	memset(text, 0, sizeof text);
	if (API_CALL(t, getSmType, dev, text, sizeof text - 1) != CUDBG_SUCCESS)
		return;
	device->sm_type = keep_provider_text(t, text);
	uint32_t sm = 0;
	for (const char *digit = text; *digit; digit++)
		if (*digit >= '0' && *digit <= '9')
			sm = sm * 10 + (uint32_t)(*digit - '0');
	device->sm_major = sm / 10;
	device->sm_minor = sm % 10;
}

static enum ws_status add_device(struct api_target *t, uint32_t dev, struct ws_error *err)
{
	struct ws_device *device = ROW_ADD(t, devices);
	if (!device)
		return no_room(err);
	device->id = dev;
	device->instruction_bytes = 16;
	device_texts(t, dev, device);
	const char *lacks = wsi_api_ask_numbers(t, device);
	if (!lacks && !device->sm_type.len)
		lacks = "the architecture of a device";
	return lack_add(t, API_DEVICE, t->n.devices - 1, lacks) ? WS_OK : no_room(err);
}

static bool find_stock_device(const struct api_target *t, uint32_t dev, uint32_t *ret_index)
{
	for (uint32_t i = 0; i < t->n.devices; i++)
		if (t->devices[i].id == dev) {
			*ret_index = i;
			return true;
		}
	return false;
}

/* ---- contexts and images, from the events ---- */

static uint32_t find_context(const struct api_target *t, uint32_t device_index, uint64_t id)
{
	for (uint32_t i = 0; i < t->n.contexts; i++)
		if (t->contexts[i].device_index == device_index && t->contexts[i].id == id)
			return i;
	return WS_NONE;
}

static uint32_t find_stock_image(const struct api_target *t, uint32_t device_index, uint64_t handle)
{
	uint32_t found = WS_NONE;
	for (uint32_t i = 0; i < t->n.modules; i++)
		if (t->modules[i].module.device_index == device_index &&
		    t->modules[i].module.handle == handle)
			found = i;
	return found;
}

/* Fetches one form of an image. */
static void fetch_image(struct api_target *t, uint32_t dev, struct api_module *row, uint64_t size,
			CUDBGElfImageType type)
{
	bool relocated = type == CUDBG_ELF_IMAGE_TYPE_RELOCATED;
	struct ws_error err = { .status = WS_NO_MEMORY };
	enum ws_status st = WS_NO_MEMORY;
	uint8_t *bytes = size < SIZE_MAX ? wsi_zalloc((size_t)size + 1) : NULL;
	if (bytes) {
		CUDBGResult result = API_CALL(t, getElfImageByHandle, dev, row->module.handle, type,
					      bytes, size);
		st = wsi_api_not_offered(result)
			     ? WS_UNSUPPORTED
			     : wsi_api_status(t, result, "getElfImageByHandle", &err);
	}
	if (st != WS_OK) {
		wsi_free(bytes);
		bytes = NULL;
	}
	row->bytes[relocated] = bytes;
	struct ws_span span = { bytes, bytes ? (size_t)size : 0, 0 };
	if (relocated) {
		row->module.relocated = span;
		row->module.relocated_status = st;
	} else {
		row->module.original = span;
		row->module.original_status = st;
	}
}

enum ws_status wsi_api_add_event(struct api_target *t, const CUDBGEvent *event,
				 struct ws_error *err)
{
	uint32_t index;
	if (event->kind == CUDBG_EVENT_CTX_CREATE &&
	    find_stock_device(t, event->cases.contextCreate.dev, &index)) {
		struct ws_context *context = ROW_ADD(t, contexts);
		if (!context)
			return no_room(err);
		context->device_index = index;
		context->id = event->cases.contextCreate.context;
		context->host_tid = event->cases.contextCreate.tid;
	} else if (event->kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		   find_stock_device(t, event->cases.elfImageLoaded.dev, &index)) {
		struct api_module *row = ROW_ADD(t, modules);
		if (!row)
			return no_room(err);
		row->module.device_index = index;
		row->module.context_index =
			find_context(t, index, event->cases.elfImageLoaded.context);
		row->module.handle = event->cases.elfImageLoaded.handle;
		uint64_t size = event->cases.elfImageLoaded.size;
		fetch_image(t, event->cases.elfImageLoaded.dev, row, size,
			    CUDBG_ELF_IMAGE_TYPE_NONRELOCATED);
		fetch_image(t, event->cases.elfImageLoaded.dev, row, size,
			    CUDBG_ELF_IMAGE_TYPE_RELOCATED);
	}
	return WS_OK;
}

/* A provider need not have events to acknowledge, nor any at all. */
static enum ws_status read_events(struct api_target *t, struct ws_error *err)
{
	CUDBGEvent event;
	enum ws_status st = WS_OK;
	for (int type = 0; type < 2 && st == WS_OK; type++) {
		CUDBGResult result = CUDBG_SUCCESS;
		while (st == WS_OK && result == CUDBG_SUCCESS) {
			result = API_CALL(t, getNextEvent, (CUDBGEventQueueType)type, &event);
			if (result == CUDBG_SUCCESS)
				st = wsi_api_add_event(t, &event, err);
			t->attached |= result == CUDBG_SUCCESS &&
				       event.kind == CUDBG_EVENT_ATTACH_COMPLETE;
		}
		t->no_events = t->no_events || wsi_api_not_offered(result);
	}
	if (st == WS_OK && API_HAS(t, acknowledgeSyncEvents))
		(void)t->api->acknowledgeSyncEvents();
	return st;
}

/* Fetches one form of the image of a warp's grid, which stays the provider's. */
static void fetch_by_warp(struct api_target *t, const struct api_place *at, struct api_module *row,
			  bool relocated)
{
	void *bytes = NULL;
	uint64_t size = 0;
	struct ws_error why = { .status = WS_OK };
	enum ws_status st = wsi_api_status(
		t, API_CALL(t, getElfImage, at->dev, at->sm, at->wp, relocated, &bytes, &size),
		"getElfImage", &why);
	if (st != WS_OK || !bytes)
		return;
	*(relocated ? &row->module.relocated : &row->module.original) =
		(struct ws_span){ bytes, (size_t)size, 0 };
	*(relocated ? &row->module.relocated_status : &row->module.original_status) = WS_OK;
}

/* What a grid that runs tells of its context and its image, where nothing else did. */
static bool add_of_grid(struct api_target *t, const struct api_place *at,
			const struct ws_grid *grid)
{
	if (t->no_events && find_context(t, grid->device_index, grid->context_id) == WS_NONE) {
		struct ws_context *context = ROW_ADD(t, contexts);
		if (!context)
			return false;
		context->device_index = grid->device_index;
		context->id = grid->context_id;
		(void)API_CALL(t, getTID, at->dev, at->sm, at->wp, &context->host_tid);
	}
	uint32_t index = find_stock_image(t, grid->device_index, grid->module_handle);
	if (index == WS_NONE && t->no_events) {
		struct api_module *row = ROW_ADD(t, modules);
		if (!row)
			return false;
		index = t->n.modules - 1;
		row->module.device_index = grid->device_index;
		row->module.context_index = find_context(t, grid->device_index, grid->context_id);
		row->module.handle = grid->module_handle;
		row->module.relocated_status = row->module.original_status = WS_UNSUPPORTED;
	}
	if (index == WS_NONE)
		return true;
	struct api_module *row = &t->modules[index];
	if (row->module.relocated_status == WS_UNSUPPORTED)
		fetch_by_warp(t, at, row, true);
	if (row->module.original_status == WS_UNSUPPORTED)
		fetch_by_warp(t, at, row, false);
	return true;
}

/* ---- grids ---- */

/* The grid of a warp, added when it is new. WS_NONE when the provider does not know it. */
static uint32_t grid_index(struct api_target *t, uint32_t device_index, const struct api_place *at,
			   uint64_t id)
{
	for (uint32_t i = t->n.grids; i-- > 0;)
		if (t->grids[i].device_index == device_index && (uint64_t)t->grids[i].id == id)
			return i;
	struct ws_grid *grid = ROW_ADD(t, grids);
	if (!grid)
		return WS_NONE;
	uint32_t index = t->n.grids - 1;
	grid->device_index = device_index;
	grid->id = (int64_t)id;
	grid->context_index = grid->module_index = WS_NONE;
	if (!wsi_api_ask_grid(t, at, grid))
		return lack_add(t, API_GRID_ROW, index, "the launch of a grid") ? index : WS_NONE;
	if (!add_of_grid(t, at, grid))
		return WS_NONE;
	grid->context_index = find_context(t, device_index, grid->context_id);
	grid->module_index = find_stock_image(t, device_index, grid->module_handle);
	return index;
}

/* ---- SMs, blocks, warps ---- */

static bool is_size(CuDim3 dim)
{
	return dim.x && dim.y && dim.z;
}

/* What the API tells of a block only through one of its warps. A size of 0 is none that it knows.
 */
static void block_clusters(struct api_target *t, const struct api_place *at, struct ws_block *block,
			   struct api_warp_facts *facts)
{
	if (wsi_api_ask_warp(t, at, API_CLUSTER_DIM, facts) == CUDBG_SUCCESS &&
	    is_size(facts->cluster_dim)) {
		block->have |= WS_BLOCK_CLUSTER_DIM;
		block->cluster_dim = wsi_api_dim3(facts->cluster_dim);
	}
	if (wsi_api_ask_warp(t, at, API_CLUSTER_IDX, facts) == CUDBG_SUCCESS) {
		block->have |= WS_BLOCK_CLUSTER_IDX;
		block->cluster_idx = wsi_api_dim3(facts->cluster_idx);
	}
}

/* The block of a warp, added when it is new. WS_NONE: no memory. */
static uint32_t stock_block_index(struct api_target *t, const struct api_place *at,
				  const struct ws_block *wanted, struct api_warp_facts *facts)
{
	for (uint32_t i = t->n.blocks; i-- > 0 && t->blocks[i].sm_index == wanted->sm_index;)
		if (t->blocks[i].grid_id == wanted->grid_id &&
		    !memcmp(&t->blocks[i].idx, &wanted->idx, sizeof wanted->idx))
			return i;
	struct ws_block *block = ROW_ADD(t, blocks);
	if (!block)
		return WS_NONE;
	*block = *wanted;
	block->grid_index = grid_index(t, wanted->device_index, at, (uint64_t)wanted->grid_id);
	block_clusters(t, at, block, facts);
	return t->n.blocks - 1;
}

/* NVIDIA's dump library has 0 for what it does not know. */
static void warp_resources(struct api_target *t, const struct api_place *at, struct ws_warp *warp)
{
	CUDBGWarpResources resources = { 0, 0 };
	if (API_CALL(t, readWarpResources, at->dev, at->sm, at->wp, &resources) != CUDBG_SUCCESS)
		return;
	warp->have |= (resources.numRegisters ? WS_WARP_N_REGS : 0u) |
		      (resources.sharedMemSize ? WS_WARP_SHARED_BYTES : 0u);
	warp->n_regs = resources.numRegisters;
	warp->shared_bytes = resources.sharedMemSize;
}

static void warp_details(struct api_target *t, const struct api_place *at, struct ws_warp *warp,
			 struct api_warp_facts *facts)
{
	CUDBGCbuWarpState cbu;
	CUDBGBarrierScope scope;
	char text[200] = "";
	warp_resources(t, at, warp);
	if (API_CALL(t, getCbuWarpState, at->dev, at->sm, 1ull << at->wp, &cbu, 1) ==
		    CUDBG_SUCCESS &&
	    wsi_api_ask_warp(t, at, API_SYSCALL_LANES, facts) == CUDBG_SUCCESS) {
		warp->have |= WS_WARP_CBU;
		warp->cbu_active_lanes = cbu.activeMask;
		warp->cbu_exited_lanes = cbu.exitedMask;
		warp->cbu_collective_lanes = cbu.collectiveMask;
		warp->in_syscall_lanes = facts->in_syscall_lanes;
	}
	if (API_CALL(t, getHardwareBarrierInfo, at->dev, at->sm, at->wp,
		     wsi_first_bit(warp->active_lanes ? warp->active_lanes : warp->valid_lanes),
		     &scope, text, sizeof text - 1, NULL) == CUDBG_SUCCESS &&
	    scope != CUDBG_BARRIER_SCOPE_INVALID) {
		warp->have |= WS_WARP_BARRIER;
		warp->barrier_scope = scope;
		warp->barrier_text = keep_provider_text(t, text);
	}
}

/* Why a warp is broken, where the provider runs and tells (13.2); the pc is that of its lanes. */
static void warp_stop(struct api_target *t, const struct api_place *at, struct ws_warp *warp,
		      struct api_warp_facts *facts)
{
	CUDBGBreakpointHandle handle;
	if (!warp->broken || !t->can_run ||
	    API_CALL(t, getWarpHitBreakpoint, at->dev, at->sm, at->wp, &handle) != CUDBG_SUCCESS ||
	    wsi_api_ask_warp(t, at, API_PC, facts) != CUDBG_SUCCESS)
		return;
	warp->have |= WS_WARP_STOP;
	warp->stop = handle == CUDBG_BREAKPOINT_HANDLE_TRAP              ? WS_STOP_TRAP
		     : handle == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH ? WS_STOP_LAUNCH
		     : handle == CUDBG_BREAKPOINT_HANDLE_INTERNAL        ? WS_STOP_INTERNAL
									 : WS_STOP_PLANTED;
	warp->stop_pc = facts->lane[wsi_first_bit(warp->active_lanes)].pc;
}

static enum ws_status nonsense(struct api_target *t, struct ws_error *err)
{
	t->no_bulk = true;
	return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET, "getDeviceInfo's buffer does not add up");
}

/* Valid and broken warps of an SM. */
struct api_masks {
	uint64_t valid, broken;
	bool broken_known;
};

enum { OF_ROWS = API_VALID | API_ACTIVE | API_GRID | API_BLOCK | API_ERROR_PC };

/* A warp is there, even one of which not all is told; its block only where that is. */
static enum ws_status add_warp(struct api_target *t, uint32_t device_index, uint32_t sm_index,
			       const struct api_place *at, const struct api_masks *masks,
			       struct api_bulk *bulk, struct ws_error *err)
{
	struct api_warp_facts facts = { .known = 0 };
	if (bulk && !wsi_api_bulk_warp(bulk, &facts))
		return nonsense(t, err);
	CUDBGResult result = wsi_api_ask_warp(t, at, OF_ROWS, &facts);
	if (result == CUDBG_ERROR_RUNNING_DEVICE)
		return wsi_api_status(t, result, "a warp", err);
	uint32_t lacks = OF_ROWS & ~facts.known;
	struct ws_warp row = {
		.device_index = device_index,
		.sm_index = sm_index,
		.id = at->wp,
		.block_index = WS_NONE,
		.have = masks->broken_known ? WS_WARP_BROKEN : 0u,
		.valid_lanes = facts.valid_lanes,
		.active_lanes = facts.active_lanes,
		.broken = masks->broken >> at->wp & 1,
		.error_pc_valid = facts.error_pc_valid,
		.error_pc = facts.error_pc,
	};
	if (!(lacks & (API_GRID | API_BLOCK))) {
		const struct ws_block block = {
			.device_index = device_index,
			.sm_index = sm_index,
			.grid_id = (int64_t)facts.grid,
			.idx = wsi_api_dim3(facts.block),
		};
		row.block_index = stock_block_index(t, at, &block, &facts);
		if (row.block_index == WS_NONE)
			return no_room(err);
	}
	warp_details(t, at, &row, &facts);
	warp_stop(t, at, &row, &facts);
	struct ws_warp *warp = ROW_ADD(t, warps);
	if (!warp)
		return no_room(err);
	*warp = row;
	uint32_t grid = wsi_api_grid_of_warp(t, t->n.warps - 1);
	if (grid != WS_NONE && (row.have & WS_WARP_N_REGS)) {
		t->grids[grid].have |= WS_GRID_N_REGS;
		t->grids[grid].n_regs = row.n_regs;
	}
	const char *what = lacks ? wsi_api_fact_text(lacks) : NULL;
	return lack_add(t, API_WARP, t->n.warps - 1, what) ? WS_OK : no_room(err);
}

/* Whether a lane of a warp carries the exception that its SM has. */
static bool lanes_tell(struct api_target *t, const struct ws_sm *sm)
{
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		struct api_place at = wsi_api_place(t, sm->first_warp_index + i);
		struct api_warp_facts facts = { .known = 0 };
		if (wsi_api_ask_warp(t, &at, API_VALID | API_EXCEPTION, &facts) != CUDBG_SUCCESS)
			continue;
		for (uint32_t ln = 0; ln < WS_MAX_LANES; ln++)
			if ((facts.valid_lanes & ~facts.lost_lanes) >> ln & 1 &&
			    facts.lane[ln].exception != CUDBG_EXCEPTION_NONE)
				return true;
	}
	return false;
}

/* Without readSmException: an exception that no lane carries and no function names is still one. */
static void sm_by_mask(struct api_target *t, uint32_t dev, struct ws_sm *sm)
{
	if (sm->id >= t->n_masked) {
		if (!t->n_untold++)
			wsi_format(t->untold,
				   "no function of this provider tells whether device %u SM %u has "
				   "an exception",
				   dev, sm->id);
		return;
	}
	if (!(t->exception_mask[sm->id / 64] >> sm->id % 64 & 1) || lanes_tell(t, sm))
		return;
	sm->have |= WS_SM_EXCEPTION;
	sm->exception = (uint32_t)CUDBG_EXCEPTION_UNKNOWN;
	if (!t->n_unnamed++)
		wsi_format(t->unnamed,
			   "device %u SM %u has an exception, and no function of this provider "
			   "tells which",
			   dev, sm->id);
}

/* What the API tells of an SM only through one of its warps. */
static void sm_texts(struct api_target *t, uint32_t dev, struct ws_sm *sm)
{
	if (!sm->n_warps)
		return;
	struct api_place at = wsi_api_place(t, sm->first_warp_index);
	char text[400] = "";
	if (API_CALL(t, getCudaExceptionString, dev, at.sm, at.wp,
		     wsi_first_bit(t->warps[sm->first_warp_index].valid_lanes), text,
		     sizeof text - 1, NULL) == CUDBG_SUCCESS) {
		sm->have |= WS_SM_EXCEPTION_TEXT;
		sm->exception_text = keep_provider_text(t, text);
	}
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		CuDim3 block;
		bool valid;
		at = wsi_api_place(t, sm->first_warp_index + i);
		if (API_CALL(t, getClusterExceptionTargetBlock, dev, at.sm, at.wp, &block,
			     &valid) != CUDBG_SUCCESS)
			break;
		sm->have |= WS_SM_CLUSTER_TARGET;
		if (valid) {
			sm->cluster_target_valid = true;
			sm->cluster_target = wsi_api_dim3(block);
		}
	}
}

static enum ws_status sm_masks(struct api_target *t, uint32_t dev, uint32_t sm,
			       struct api_bulk *bulk, struct api_masks *ret, struct ws_error *err)
{
	if (bulk) {
		ret->broken_known = true;
		return wsi_api_bulk_sm(bulk, sm, &ret->valid, &ret->broken) ? WS_OK
									    : nonsense(t, err);
	}
	return wsi_api_status(
		t, wsi_api_ask_masks(t, dev, sm, &ret->valid, &ret->broken, &ret->broken_known),
		"the warps of an SM", err);
}

/* WS_ABSENT: there is no SM of that number. */
static enum ws_status add_sm(struct api_target *t, uint32_t device_index, uint32_t id,
			     struct api_bulk *bulk, struct ws_error *err)
{
	uint32_t dev = t->devices[device_index].id;
	struct api_masks masks = { 0, 0, false };
	enum ws_status st = sm_masks(t, dev, id, bulk, &masks, err);
	bool told = st != WS_UNSUPPORTED;
	if (st != WS_OK && told)
		return st;
	struct ws_sm *sm = ROW_ADD(t, sms);
	if (!sm)
		return no_room(err);
	uint32_t index = t->n.sms - 1;
	*sm = (struct ws_sm){ .device_index = device_index,
			      .id = id,
			      .first_warp_index = t->n.warps };
	wsi_api_ask_sm_exception(t, dev, sm);
	if (!told)
		return lack_add(t, API_SM, index, "which warps an SM holds") ? WS_OK : no_room(err);
	st = WS_OK;
	for (uint32_t wp = 0; st == WS_OK && wp < CUDBG_MAX_WARPS; wp++)
		if (masks.valid >> wp & 1) {
			const struct api_place at = { dev, id, wp };
			st = add_warp(t, device_index, index, &at, &masks, bulk, err);
		}
	sm = &t->sms[index];
	sm->n_warps = t->n.warps - sm->first_warp_index;
	if (st == WS_OK) {
		if (!(sm->have & WS_SM_EXCEPTION))
			sm_by_mask(t, dev, sm);
		sm_texts(t, dev, sm);
	}
	return st;
}

/* ---- memory that the API lists ---- */

static void add_range(struct api_target *t, const struct ws_memory_range *range)
{
	if (wsi_grow(&t->ranges, &t->cap_ranges, t->n_ranges, sizeof *t->ranges, MAX_ROWS))
		t->ranges[t->n_ranges++] = *range;
}

/* A provider tells of banks whose bytes it does not have. */
static bool can_be_read(struct api_target *t, uint32_t device_index, uint64_t address,
			uint32_t size)
{
	uint8_t byte;
	return size > 0 &&
	       wsi_api_read_global(t, device_index, address, &byte, 1) == CUDBG_SUCCESS &&
	       wsi_api_read_global(t, device_index, address + size - 1, &byte, 1) == CUDBG_SUCCESS;
}

static void add_ranges(struct api_target *t)
{
	CUDBGMemoryInfo regions[64];
	uint32_t n = 0;
	struct ws_memory_range range = {
		.managed = true,
		.device_index = WS_NONE,
		.grid_index = WS_NONE,
		.block_index = WS_NONE,
		.warp_index = WS_NONE,
		.lane = WS_NONE,
		.file_off = WS_NO_OFFSET,
	};
	uint64_t start = 0;
	do {
		if (API_CALL(t, getManagedMemoryRegionInfo, start, regions, 64, &n) !=
		    CUDBG_SUCCESS)
			n = 0;
		for (uint32_t i = start ? 1 : 0; i < n; i++) {
			range.start = regions[i].startAddress;
			range.size = range.bytes_present = regions[i].size;
			add_range(t, &range);
		}
		start = n == 64 ? regions[63].startAddress : 0;
	} while (start);
	range.managed = false;
	range.space = WS_SPACE_CONST;
	for (uint32_t i = 0; i < t->n.grids; i++)
		for (uint32_t bank = 0; bank < 18; bank++) {
			uint64_t address;
			if (API_CALL(t, getConstBankAddress,
				     t->devices[t->grids[i].device_index].id,
				     (uint64_t)t->grids[i].id, bank, &address, &n) != CUDBG_SUCCESS)
				continue;
			range.device_index = t->grids[i].device_index;
			range.grid_index = i;
			range.bank = bank;
			range.start = address;
			range.size = n;
			range.bytes_present =
				can_be_read(t, range.device_index, address, n) ? n : 0;
			add_range(t, &range);
		}
}

/*
 * Whether what the provider debugs can run. Removing a breakpoint that nobody set changes nothing,
 * and a provider over a dump says that it has none at all.
 */
static bool can_run(struct api_target *t)
{
	return t->n.devices &&
	       !wsi_api_not_offered(API_CALL(t, unsetBreakpoint, t->devices[0].id, 0));
}

enum ws_status wsi_api_take_stock(struct api_target *t, struct ws_error *err)
{
	uint32_t n = 0;
	CUDBGResult result = API_CALL(t, getNumDevices, &n);
	if (wsi_api_not_offered(result)) { /* then those that answer */
		n = CUDBG_MAX_DEVICES;
		result = CUDBG_SUCCESS;
	}
	enum ws_status st = wsi_api_status(t, result, "getNumDevices", err);
	for (uint32_t dev = 0; st == WS_OK && dev < n && dev < CUDBG_MAX_DEVICES; dev++)
		if (wsi_api_ask_device(t, dev))
			st = add_device(t, dev, err);
	t->n_device_texts = t->n_texts;
	if (st == WS_OK)
		st = read_events(t, err);
	t->can_run = can_run(t);
	return st == WS_OK ? wsi_api_renew(t, err) : st;
}

/* Where no function tells how many SMs there are, the first that is refused is past the last. */
static enum ws_status add_sms(struct api_target *t, uint32_t device_index, struct ws_error *err)
{
	struct api_bulk bulk;
	const struct ws_device *device = &t->devices[device_index];
	bool has_bulk = !t->no_bulk && wsi_api_bulk_open(t, device->id, &bulk);
	bool counted = API_HAS(t, getNumSMs) && device->n_sms;
	uint32_t n_sms = counted ? device->n_sms : CUDBG_MAX_SMS;
	enum ws_status st = WS_OK;
	t->n_masked = wsi_api_ask_exception_mask(t, device->id, t->exception_mask);
	for (uint32_t sm = 0; st == WS_OK && sm < n_sms; sm++)
		st = add_sm(t, device_index, sm, has_bulk ? &bulk : NULL, err);
	if (has_bulk)
		wsi_api_bulk_close(&bulk);
	if (st == WS_RUNNING)
		t->runs[device_index] = true; /* it ran before we came */
	return st == WS_RUNNING || (st == WS_ABSENT && !counted) ? WS_OK : st;
}

enum ws_status wsi_api_renew(struct api_target *t, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	while (t->n_texts > t->n_device_texts)
		wsi_free(t->texts[--t->n_texts]);
	t->n.grids = t->n.sms = t->n.blocks = t->n.warps = 0;
	t->n_ranges = 0;
	t->n_unnamed = t->n_untold = t->n_image_regs = 0;
	for (int kind = API_GRID_ROW; kind < API_KINDS; kind++)
		t->lacks[kind].n = 0;
	bool bulk = !t->no_bulk;
	for (uint32_t i = 0; st == WS_OK && i < t->n.devices; i++)
		if (!t->runs[i])
			st = add_sms(t, i, err);
	if (st == WS_MALFORMED && bulk && t->no_bulk)
		return wsi_api_renew(t, err); /* once, by single calls */
	if (st == WS_OK)
		add_ranges(t);
	ws_target_changed(&t->base, &t->n);
	return st;
}

void wsi_api_drop_stock(struct api_target *t)
{
	for (uint32_t i = 0; i < t->n.modules; i++) {
		wsi_free(t->modules[i].bytes[0]);
		wsi_free(t->modules[i].bytes[1]);
	}
	for (size_t i = 0; i < t->n_texts; i++)
		wsi_free(t->texts[i]);
	for (int kind = 0; kind < API_KINDS; kind++)
		wsi_free(t->lacks[kind].items);
	wsi_free(t->texts);
	wsi_free(t->ranges);
	wsi_free(t->devices);
	wsi_free(t->contexts);
	wsi_free(t->modules);
	wsi_free(t->grids);
	wsi_free(t->sms);
	wsi_free(t->blocks);
	wsi_free(t->warps);
}
