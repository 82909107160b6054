/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking stock of a provider. Contexts and images come from the events that `initialize` queued;
 * warps from the valid masks of each SM; blocks and grids from what the warps say they run.
 */
#include "target/api/api.h"

enum { MAX_ROWS = 1 << 24 };

/* Room for one more row; the counts are 32-bit, so capacities are kept beside them. */
static void *row_add(void *list, size_t size, uint32_t *n, uint32_t *cap)
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
#define ROW_ADD(t, list) row_add(&(t)->list, sizeof *(t)->list, &(t)->n.list, &(t)->cap.list)

static enum ws_status no_room(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "tables of the target");
}

/* Keeps a text of the provider; empty when there is no memory. */
static struct ws_str keep_text(struct api_target *t, const char *text)
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
	char text[256];
	if (t->api->getDeviceName(dev, text, sizeof text) == CUDBG_SUCCESS)
		device->name = keep_text(t, text);
	if (t->api->getDeviceType(dev, text, sizeof text) == CUDBG_SUCCESS)
		device->type = keep_text(t, text);
	if (t->api->getSmType(dev, text, sizeof text) != CUDBG_SUCCESS)
		return;
	device->sm_type = keep_text(t, text);
	uint32_t sm = 0;
	for (const char *digit = text; *digit; digit++)
		if (*digit >= '0' && *digit <= '9')
			sm = sm * 10 + (uint32_t)(*digit - '0');
	device->sm_major = sm / 10;
	device->sm_minor = sm % 10;
}

static enum ws_status add_device(struct api_target *t, uint32_t dev, struct ws_error *err)
{
	uint32_t n_sms;
	CUDBGAPI api = t->api;
	if (api->getNumSMs(dev, &n_sms) != CUDBG_SUCCESS)
		return WS_OK; /* a number without a device */
	struct ws_device *device = ROW_ADD(t, devices);
	if (!device)
		return no_room(err);
	device->id = dev;
	device->n_sms = n_sms;
	device->instruction_bytes = 16;
	device_texts(t, dev, device);
	bool good = api->getNumWarps(dev, &device->n_warps_per_sm) == CUDBG_SUCCESS &&
		    api->getNumLanes(dev, &device->n_lanes_per_warp) == CUDBG_SUCCESS &&
		    api->getNumRegisters(dev, &device->n_regs_per_lane) == CUDBG_SUCCESS;
	(void)api->getNumPredicates(dev, &device->n_preds_per_lane);
	(void)api->getDevicePCIBusInfo(dev, &device->pci_bus, &device->pci_device);
	if (API_HAS(t, getNumUniformPredicates) &&
	    api->getNumUniformRegisters(dev, &device->n_uniform_regs) == CUDBG_SUCCESS &&
	    api->getNumUniformPredicates(dev, &device->n_uniform_preds) == CUDBG_SUCCESS)
		device->have |= WS_DEVICE_UNIFORM;
	return good ? WS_OK
		    : wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET, "device %u has no sizes", dev);
}

static bool find_device(const struct api_target *t, uint32_t dev, uint32_t *ret_index)
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

/* Fetches one form of an image. */
static void fetch_image(struct api_target *t, uint32_t dev, struct api_image *row, uint64_t size,
			CUDBGElfImageType type)
{
	bool relocated = type == CUDBG_ELF_IMAGE_TYPE_RELOCATED;
	struct ws_error err = { .status = WS_NO_MEMORY };
	enum ws_status st = WS_NO_MEMORY;
	uint8_t *bytes = size < SIZE_MAX ? wsi_zalloc((size_t)size + 1) : NULL;
	if (bytes)
		st = wsi_api_status(
			t, t->api->getElfImageByHandle(dev, row->image.handle, type, bytes, size),
			"getElfImageByHandle", &err);
	if (st != WS_OK) {
		wsi_free(bytes);
		bytes = NULL;
	}
	row->bytes[relocated] = bytes;
	struct ws_span span = { bytes, bytes ? (size_t)size : 0, 0 };
	if (relocated) {
		row->image.relocated = span;
		row->image.relocated_status = st;
	} else {
		row->image.original = span;
		row->image.original_status = st;
	}
}

enum ws_status wsi_api_add_event(struct api_target *t, const CUDBGEvent *event,
				 struct ws_error *err)
{
	uint32_t index;
	if (event->kind == CUDBG_EVENT_CTX_CREATE &&
	    find_device(t, event->cases.contextCreate.dev, &index)) {
		struct ws_context *context = ROW_ADD(t, contexts);
		if (!context)
			return no_room(err);
		context->device_index = index;
		context->id = event->cases.contextCreate.context;
		context->host_tid = event->cases.contextCreate.tid;
	} else if (event->kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		   find_device(t, event->cases.elfImageLoaded.dev, &index)) {
		struct api_image *row = ROW_ADD(t, images);
		if (!row)
			return no_room(err);
		row->image.device_index = index;
		row->image.context_index =
			find_context(t, index, event->cases.elfImageLoaded.context);
		row->image.handle = event->cases.elfImageLoaded.handle;
		uint64_t size = event->cases.elfImageLoaded.size;
		fetch_image(t, event->cases.elfImageLoaded.dev, row, size,
			    CUDBG_ELF_IMAGE_TYPE_NONRELOCATED);
		fetch_image(t, event->cases.elfImageLoaded.dev, row, size,
			    CUDBG_ELF_IMAGE_TYPE_RELOCATED);
	}
	return WS_OK;
}

static enum ws_status read_events(struct api_target *t, struct ws_error *err)
{
	CUDBGEvent event;
	enum ws_status st = WS_OK;
	for (int type = 0; type < 2; type++)
		while (st == WS_OK &&
		       t->api->getNextEvent((CUDBGEventQueueType)type, &event) == CUDBG_SUCCESS)
			st = wsi_api_add_event(t, &event, err);
	if (st == WS_OK)
		st = wsi_api_status(t, t->api->acknowledgeSyncEvents(), "acknowledgeSyncEvents",
				    err);
	return st;
}

/* ---- grids ---- */

static void grid_fill(struct api_target *t, const struct api_place *at, struct ws_grid *grid)
{
	CUDBGGridInfo info;
	CUDBGGridInfo120 old;
	CUDBGGridStatus status;
	uint64_t value;
	CUDBGResult result = CUDBG_ERROR_NOT_SUPPORTED;
	memset(&info, 0, sizeof info);
	if (API_HAS(t, getGridInfo)) {
		result = t->api->getGridInfo(at->dev, (uint64_t)grid->id, &info);
		grid->have = WS_GRID_CLUSTER | WS_GRID_PREFERRED_CLUSTER;
	} else if (API_HAS(t, getGridInfo120)) {
		result = t->api->getGridInfo120(at->dev, (uint64_t)grid->id, &old);
		memcpy(&info, &old, sizeof old);
		grid->have = WS_GRID_CLUSTER;
	}
	if (result != CUDBG_SUCCESS) {
		grid->have = 0;
		return;
	}
	grid->context_id = info.context;
	grid->module_handle = info.module;
	grid->function = info.function;
	grid->function_entry = info.functionEntry;
	grid->parent_id = (int64_t)info.parentGridId;
	grid->type = info.type;
	grid->origin = info.origin;
	grid->grid_dim = wsi_api_dim3(info.gridDim);
	grid->block_dim = wsi_api_dim3(info.blockDim);
	grid->cluster_dim = wsi_api_dim3(info.clusterDim);
	grid->preferred_cluster_dim = wsi_api_dim3(info.preferredClusterDim);
	if (t->api->getGridStatus(at->dev, (uint64_t)grid->id, &status) == CUDBG_SUCCESS)
		grid->status = status;
	if (t->api->getGridAttribute(at->dev, at->sm, at->wp, CUDBG_ATTR_GRID_LAUNCH_BLOCKING,
				     &value) == CUDBG_SUCCESS)
		grid->launch_blocking = value != 0;
	if (t->api->getGridAttribute(at->dev, at->sm, at->wp, CUDBG_ATTR_GRID_TID, &value) ==
	    CUDBG_SUCCESS)
		grid->host_tid = (uint32_t)value;
}

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
	grid->device_index = device_index;
	grid->id = (int64_t)id;
	grid_fill(t, at, grid);
	grid->context_index = find_context(t, device_index, grid->context_id);
	grid->image_index = WS_NONE;
	for (uint32_t i = 0; i < t->n.images; i++)
		if (t->images[i].image.device_index == device_index &&
		    t->images[i].image.handle == grid->module_handle)
			grid->image_index = i;
	return t->n.grids - 1;
}

/* ---- SMs, blocks, warps ---- */

/* What the API tells of a block only through one of its warps. */
static void block_clusters(struct api_target *t, const struct api_place *at, struct ws_block *block)
{
	CuDim3 idx;
	if (API_HAS(t, readClusterIdx) &&
	    t->api->readClusterIdx(at->dev, at->sm, at->wp, &idx) == CUDBG_SUCCESS) {
		block->have |= WS_BLOCK_CLUSTER_IDX;
		block->cluster_idx = wsi_api_dim3(idx);
	}
	if (API_HAS(t, getClusterDim) &&
	    t->api->getClusterDim(at->dev, at->sm, at->wp, &idx) == CUDBG_SUCCESS) {
		block->have |= WS_BLOCK_CLUSTER_DIM;
		block->cluster_dim = wsi_api_dim3(idx);
	}
}

/* The block of a warp, added when it is new. WS_NONE: no memory. */
static uint32_t block_index(struct api_target *t, const struct api_place *at,
			    const struct ws_block *wanted)
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
	block_clusters(t, at, block);
	return t->n.blocks - 1;
}

static void warp_details(struct api_target *t, const struct api_place *at, struct ws_warp *warp)
{
	CUDBGWarpResources resources;
	CUDBGCbuWarpState cbu;
	CUDBGBarrierScope scope;
	CUDBGWarpState state;
	char text[200];
	if (API_HAS(t, readWarpResources) &&
	    t->api->readWarpResources(at->dev, at->sm, at->wp, &resources) == CUDBG_SUCCESS) {
		warp->have |= WS_WARP_N_REGS | WS_WARP_SHARED_BYTES;
		warp->n_regs = resources.numRegisters;
		warp->shared_bytes = resources.sharedMemSize;
	}
	if (API_HAS(t, getCbuWarpState) &&
	    t->api->getCbuWarpState(at->dev, at->sm, 1ull << at->wp, &cbu, 1) == CUDBG_SUCCESS &&
	    t->api->readWarpState(at->dev, at->sm, at->wp, &state) == CUDBG_SUCCESS) {
		warp->have |= WS_WARP_CBU;
		warp->cbu_active_lanes = cbu.activeMask;
		warp->cbu_exited_lanes = cbu.exitedMask;
		warp->cbu_collective_lanes = cbu.collectiveMask;
		warp->in_syscall_lanes = state.inSyscallLanes;
	}
	uint32_t ln = 0;
	while (ln < WS_MAX_LANES - 1 && !(warp->valid_lanes >> ln & 1))
		ln++;
	if (API_HAS(t, getHardwareBarrierInfo) &&
	    t->api->getHardwareBarrierInfo(at->dev, at->sm, at->wp, ln, &scope, text, sizeof text,
					   NULL) == CUDBG_SUCCESS &&
	    scope != CUDBG_BARRIER_SCOPE_INVALID) {
		warp->have |= WS_WARP_BARRIER;
		warp->barrier_scope = scope;
		warp->barrier_text = keep_text(t, text);
	}
}

/* The same as a response of getDeviceInfo tells, by single calls. */
static CUDBGResult ask_warp(struct api_target *t, const struct api_place *at,
			    struct api_warp_facts *ret)
{
	CUDBGAPI api = t->api;
	CUDBGResult result = api->readValidLanes(at->dev, at->sm, at->wp, &ret->valid_lanes);
	if (result == CUDBG_SUCCESS)
		result = api->readActiveLanes(at->dev, at->sm, at->wp, &ret->active_lanes);
	if (result == CUDBG_SUCCESS)
		result = api->readGridId(at->dev, at->sm, at->wp, &ret->grid);
	if (result == CUDBG_SUCCESS)
		result = api->readBlockIdx(at->dev, at->sm, at->wp, &ret->block);
	if (result == CUDBG_SUCCESS)
		(void)api->readErrorPC(at->dev, at->sm, at->wp, &ret->error_pc,
				       &ret->error_pc_valid);
	return result;
}

static enum ws_status nonsense(struct api_target *t, struct ws_error *err)
{
	t->no_bulk = true;
	return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET, "getDeviceInfo's buffer does not add up");
}

static enum ws_status add_warp(struct api_target *t, uint32_t device_index, uint32_t sm_index,
			       const struct api_place *at, bool broken, struct api_bulk *bulk,
			       struct ws_error *err)
{
	struct api_warp_facts facts = { .error_pc_valid = false };
	if (bulk && !wsi_api_bulk_warp(bulk, &facts))
		return nonsense(t, err);
	enum ws_status st =
		bulk ? WS_OK : wsi_api_status(t, ask_warp(t, at, &facts), "a warp", err);
	if (st != WS_OK)
		return st;
	const struct ws_block block = {
		.device_index = device_index,
		.sm_index = sm_index,
		.grid_id = (int64_t)facts.grid,
		.idx = wsi_api_dim3(facts.block),
	};
	struct ws_warp row = {
		.device_index = device_index,
		.sm_index = sm_index,
		.id = at->wp,
		.block_index = block_index(t, at, &block),
		.valid_lanes = facts.valid_lanes,
		.active_lanes = facts.active_lanes,
		.broken = broken,
		.error_pc_valid = facts.error_pc_valid,
		.error_pc = facts.error_pc,
	};
	if (row.block_index == WS_NONE)
		return no_room(err);
	warp_details(t, at, &row);
	uint32_t grid = t->blocks[row.block_index].grid_index;
	if (grid != WS_NONE && (row.have & WS_WARP_N_REGS)) {
		t->grids[grid].have |= WS_GRID_N_REGS;
		t->grids[grid].n_regs = row.n_regs;
	}
	struct ws_warp *warp = ROW_ADD(t, warps);
	if (!warp)
		return no_room(err);
	*warp = row;
	return WS_OK;
}

static void sm_exception(struct api_target *t, uint32_t dev, struct ws_sm *sm)
{
	CUDBGException_t exception;
	if (!API_HAS(t, readSmException) ||
	    t->api->readSmException(dev, sm->id, &exception, &sm->error_pc, &sm->error_pc_valid) !=
		    CUDBG_SUCCESS)
		return;
	sm->have |= WS_SM_EXCEPTION;
	sm->exception = (uint32_t)exception;
}

/* What the API tells of an SM only through one of its warps. */
static void sm_texts(struct api_target *t, uint32_t dev, struct ws_sm *sm)
{
	if (!sm->n_warps)
		return;
	struct api_place at = wsi_api_place(t, sm->first_warp_index);
	char text[400];
	uint32_t ln = 0;
	while (ln < WS_MAX_LANES - 1 && !(t->warps[sm->first_warp_index].valid_lanes >> ln & 1))
		ln++;
	if (API_HAS(t, getCudaExceptionString) &&
	    t->api->getCudaExceptionString(dev, at.sm, at.wp, ln, text, sizeof text, NULL) ==
		    CUDBG_SUCCESS) {
		sm->have |= WS_SM_EXCEPTION_TEXT;
		sm->exception_text = keep_text(t, text);
	}
	for (uint32_t i = 0; API_HAS(t, getClusterExceptionTargetBlock) && i < sm->n_warps; i++) {
		CuDim3 block;
		bool valid;
		at = wsi_api_place(t, sm->first_warp_index + i);
		if (t->api->getClusterExceptionTargetBlock(dev, at.sm, at.wp, &block, &valid) !=
		    CUDBG_SUCCESS)
			break;
		sm->have |= WS_SM_CLUSTER_TARGET;
		if (valid) {
			sm->cluster_target_valid = true;
			sm->cluster_target = wsi_api_dim3(block);
		}
	}
}

static enum ws_status sm_masks(struct api_target *t, uint32_t dev, uint32_t sm,
			       struct api_bulk *bulk, uint64_t *ret_valid, uint64_t *ret_broken,
			       struct ws_error *err)
{
	if (bulk)
		return wsi_api_bulk_sm(bulk, sm, ret_valid, ret_broken) ? WS_OK : nonsense(t, err);
	enum ws_status st = wsi_api_status(t, t->api->readValidWarps(dev, sm, ret_valid),
					   "readValidWarps", err);
	return st != WS_OK ? st
			   : wsi_api_status(t, t->api->readBrokenWarps(dev, sm, ret_broken),
					    "readBrokenWarps", err);
}

static enum ws_status add_sm(struct api_target *t, uint32_t device_index, uint32_t id,
			     struct api_bulk *bulk, struct ws_error *err)
{
	uint32_t dev = t->devices[device_index].id;
	uint64_t valid = 0, broken = 0;
	struct ws_sm *sm = ROW_ADD(t, sms);
	if (!sm)
		return no_room(err);
	uint32_t index = t->n.sms - 1;
	*sm = (struct ws_sm){ .device_index = device_index,
			      .id = id,
			      .first_warp_index = t->n.warps };
	sm_exception(t, dev, sm);
	enum ws_status st = sm_masks(t, dev, id, bulk, &valid, &broken, err);
	for (uint32_t wp = 0; st == WS_OK && wp < 64; wp++)
		if (valid >> wp & 1) {
			const struct api_place at = { dev, id, wp };
			st = add_warp(t, device_index, index, &at, broken >> wp & 1, bulk, err);
		}
	sm = &t->sms[index];
	sm->n_warps = t->n.warps - sm->first_warp_index;
	sm_texts(t, dev, sm);
	return st;
}

/* ---- memory that the API lists ---- */

static void add_range(struct api_target *t, const struct ws_memory_range *range)
{
	if (wsi_grow(&t->ranges, &t->cap_ranges, t->n_ranges, sizeof *t->ranges, MAX_ROWS))
		t->ranges[t->n_ranges++] = *range;
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
		if (t->api->getManagedMemoryRegionInfo(start, regions, 64, &n) != CUDBG_SUCCESS)
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
	for (uint32_t i = 0; API_HAS(t, getConstBankAddress) && i < t->n.grids; i++)
		for (uint32_t bank = 0; bank < 18; bank++) {
			uint64_t address;
			if (t->api->getConstBankAddress(t->devices[t->grids[i].device_index].id,
							(uint64_t)t->grids[i].id, bank, &address,
							&n) != CUDBG_SUCCESS)
				continue;
			range.device_index = t->grids[i].device_index;
			range.grid_index = i;
			range.bank = bank;
			range.start = address;
			range.size = range.bytes_present = n;
			add_range(t, &range);
		}
}

enum ws_status wsi_api_take_stock(struct api_target *t, struct ws_error *err)
{
	uint32_t n = 0;
	enum ws_status st = wsi_api_status(t, t->api->getNumDevices(&n), "getNumDevices", err);
	for (uint32_t dev = 0; st == WS_OK && dev < n && dev < CUDBG_MAX_DEVICES; dev++)
		st = add_device(t, dev, err);
	t->n_device_texts = t->n_texts;
	if (st == WS_OK)
		st = read_events(t, err);
	return st == WS_OK ? wsi_api_renew(t, err) : st;
}

static enum ws_status add_sms(struct api_target *t, uint32_t device_index, struct ws_error *err)
{
	struct api_bulk bulk;
	bool has_bulk = !t->no_bulk && wsi_api_bulk_open(t, t->devices[device_index].id, &bulk);
	enum ws_status st = WS_OK;
	for (uint32_t sm = 0; st == WS_OK && sm < t->devices[device_index].n_sms; sm++)
		st = add_sm(t, device_index, sm, has_bulk ? &bulk : NULL, err);
	if (has_bulk)
		wsi_api_bulk_close(&bulk);
	if (st == WS_RUNNING) {
		t->runs[device_index] = true; /* it ran before we came */
		t->n.sms--;
		st = WS_OK;
	}
	return st;
}

enum ws_status wsi_api_renew(struct api_target *t, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	while (t->n_texts > t->n_device_texts)
		wsi_free(t->texts[--t->n_texts]);
	t->n.grids = t->n.sms = t->n.blocks = t->n.warps = 0;
	t->n_ranges = 0;
	bool bulk = !t->no_bulk;
	for (uint32_t i = 0; st == WS_OK && i < t->n.devices; i++)
		if (!t->runs[i])
			st = add_sms(t, i, err);
	if (st == WS_MALFORMED && bulk && t->no_bulk)
		return wsi_api_renew(t, err); /* once, by single calls */
	if (st == WS_OK)
		add_ranges(t);
	return st;
}

void wsi_api_drop_stock(struct api_target *t)
{
	for (uint32_t i = 0; i < t->n.images; i++) {
		wsi_free(t->images[i].bytes[0]);
		wsi_free(t->images[i].bytes[1]);
	}
	for (size_t i = 0; i < t->n_texts; i++)
		wsi_free(t->texts[i]);
	wsi_free(t->texts);
	wsi_free(t->ranges);
	wsi_free(t->devices);
	wsi_free(t->contexts);
	wsi_free(t->images);
	wsi_free(t->grids);
	wsi_free(t->sms);
	wsi_free(t->blocks);
	wsi_free(t->warps);
}
