/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions provide a fact. Providers differ: an old driver lacks the new functions, NVIDIA's
 * dump library leaves out the old ones. So each fact has a chain, newest and widest first; the next
 * link is used if one is missing or fails. What no link provides is not known, and the row that
 * needs it says so.
 */
#include "target/api/api.h"

#include <warpscope/cubin.h>

bool wsi_api_not_offered(CUDBGResult result)
{
	return result == CUDBG_ERROR_NOT_SUPPORTED || result == CUDBG_ERROR_UNKNOWN;
}

/* ---- a warp and its lanes ---- */

static void take_state(const CUDBGWarpState *state, struct api_warp_facts *facts)
{
	facts->valid_lanes = state->validLanes;
	facts->active_lanes = state->activeLanes;
	facts->grid = state->gridId;
	facts->block = state->blockIdx;
	facts->error_pc_valid = state->errorPCValid != 0;
	facts->error_pc = state->errorPC;
	facts->cluster_idx = state->clusterIdx;
	facts->cluster_dim = state->clusterDim;
	facts->in_syscall_lanes = state->inSyscallLanes;
	facts->lost_lanes = 0;
	for (uint32_t ln = 0; ln < WS_MAX_LANES; ln++) {
		facts->lane[ln].pc = state->lane[ln].virtualPC;
		facts->lane[ln].thread = state->lane[ln].threadIdx;
		facts->lane[ln].exception = (uint32_t)state->lane[ln].exception;
	}
}

typedef CUDBGResult (*ask_warp)(struct api_target *t, const struct api_place *at,
				struct api_warp_facts *facts);

/* The older layouts are the first part of the current one: the tables say so (`part`), and
 * tools/apigen.py checks it. */
#define DEFINE_STATE(name, type)                                                        \
	static CUDBGResult ask_##name(struct api_target *t, const struct api_place *at, \
				      struct api_warp_facts *facts)                     \
	{                                                                               \
		CUDBGWarpState state;                                                   \
		type found;                                                             \
		memset(&found, 0, sizeof found);                                        \
		CUDBGResult result = t->api->name(at->dev, at->sm, at->wp, &found);     \
		memset(&state, 0, sizeof state);                                        \
		memcpy(&state, &found, sizeof found);                                   \
		if (result == CUDBG_SUCCESS)                                            \
			take_state(&state, facts);                                      \
		return result;                                                          \
	}

DEFINE_STATE(readWarpState, CUDBGWarpState)
DEFINE_STATE(readWarpState127, CUDBGWarpState127)
DEFINE_STATE(readWarpState120, CUDBGWarpState120)
DEFINE_STATE(readWarpState60, CUDBGWarpState60)

#define DEFINE_OF_WARP(name, ...)                                                       \
	static CUDBGResult ask_##name(struct api_target *t, const struct api_place *at, \
				      struct api_warp_facts *facts)                     \
	{                                                                               \
		return t->api->name(at->dev, at->sm, at->wp, __VA_ARGS__);              \
	}

DEFINE_OF_WARP(readValidLanes, &facts->valid_lanes)
DEFINE_OF_WARP(readActiveLanes, &facts->active_lanes)
DEFINE_OF_WARP(readGridId, &facts->grid)
DEFINE_OF_WARP(readBlockIdx, &facts->block)
DEFINE_OF_WARP(readErrorPC, &facts->error_pc, &facts->error_pc_valid)
DEFINE_OF_WARP(readClusterIdx, &facts->cluster_idx)
DEFINE_OF_WARP(getClusterDim, &facts->cluster_dim)

/* A lane that is valid but lost costs only itself. */
#define DEFINE_OF_LANE(name, ...)                                                                \
	static CUDBGResult ask_##name(struct api_target *t, const struct api_place *at,          \
				      struct api_warp_facts *facts)                              \
	{                                                                                        \
		CUDBGResult last = CUDBG_SUCCESS;                                                \
		uint32_t answered = 0;                                                           \
		for (uint32_t ln = 0; ln < WS_MAX_LANES; ln++) {                                 \
			struct api_lane_facts *lane = &facts->lane[ln];                          \
			if (!((facts->valid_lanes & ~facts->lost_lanes) >> ln & 1))              \
				continue;                                                        \
			CUDBGResult result =                                                     \
				t->api->name(at->dev, at->sm, at->wp, ln, __VA_ARGS__);          \
			if (result == CUDBG_ERROR_RUNNING_DEVICE || wsi_api_not_offered(result)) \
				return result;                                                   \
			if (result == CUDBG_SUCCESS)                                             \
				answered |= 1u << ln;                                            \
			else                                                                     \
				last = result;                                                   \
		}                                                                                \
		if (!answered)                                                                   \
			return last;                                                             \
		facts->lost_lanes |= facts->valid_lanes & ~answered;                             \
		return CUDBG_SUCCESS;                                                            \
	}

DEFINE_OF_LANE(readVirtualPC, &lane->pc)
DEFINE_OF_LANE(readPC, &lane->rel_pc)
DEFINE_OF_LANE(readThreadIdx, &lane->thread)
DEFINE_OF_LANE(readLaneException, &lane->exception)
DEFINE_OF_LANE(readCallDepth, &lane->call_depth)
DEFINE_OF_LANE(readAllVirtualReturnAddresses, NULL, 0, &lane->call_depth, &lane->syscall_depth)

enum {
	LANE_STATE = API_PC | API_THREAD | API_EXCEPTION,
	STATE60 = API_VALID | API_ACTIVE | API_GRID | API_BLOCK | API_ERROR_PC | LANE_STATE,
	STATE120 = STATE60 | API_CLUSTER_IDX,
	STATE127 = STATE120 | API_CLUSTER_DIM,
	STATE = STATE127 | API_SYSCALL_LANES,
};

#define LINK(name, facts)                                             \
	{                                                             \
		offsetof(struct CUDBGAPI_st, name), facts, ask_##name \
	}

/* One table for all facts; those of lanes come after the one that says which lanes there are. */
static const struct link {
	size_t slot;
	uint32_t tells;
	ask_warp ask;
} links[] = {
	LINK(readWarpState, STATE),
	LINK(readWarpState127, STATE127),
	LINK(readWarpState120, STATE120),
	LINK(readWarpState60, STATE60),
	LINK(readValidLanes, API_VALID),
	LINK(readActiveLanes, API_ACTIVE),
	LINK(readGridId, API_GRID),
	LINK(readBlockIdx, API_BLOCK),
	LINK(readErrorPC, API_ERROR_PC),
	LINK(readClusterIdx, API_CLUSTER_IDX),
	LINK(getClusterDim, API_CLUSTER_DIM),
	LINK(readVirtualPC, API_PC),
	LINK(readThreadIdx, API_THREAD),
	LINK(readLaneException, API_EXCEPTION),
	LINK(readPC, API_REL_PC),
	LINK(readCallDepth, API_CALL_DEPTH),
	LINK(readAllVirtualReturnAddresses, API_CALL_DEPTH),
};

CUDBGResult wsi_api_ask_warp(struct api_target *t, const struct api_place *at, uint32_t wanted,
			     struct api_warp_facts *facts)
{
	CUDBGResult why = CUDBG_ERROR_NOT_SUPPORTED;
	for (size_t i = 0; i < WSI_COUNT(links); i++) {
		const struct link *link = &links[i];
		if (!(link->tells & wanted & ~facts->known) ||
		    !ws_provider_has(&t->provider, link->slot))
			continue;
		CUDBGResult result = link->ask(t, at, facts);
		if (result == CUDBG_ERROR_RUNNING_DEVICE)
			return result;
		if (result == CUDBG_SUCCESS)
			facts->known |= link->tells;
		else if (wsi_api_not_offered(why))
			why = result;
	}
	return wanted & ~facts->known ? why : CUDBG_SUCCESS;
}

const char *wsi_api_fact_text(uint32_t facts)
{
	static const char *const texts[] = {
		"which lanes of a warp hold a thread",
		"which lanes of a warp are active",
		"the grid of a warp",
		"the block of a warp",
		"the error pc of a warp",
		"the index of a cluster",
		"the size of a cluster",
		"which lanes are in a system call",
		"the pc of a lane",
		"the offset of a lane's pc",
		"the thread of a lane",
		"the exception of a lane",
		"the call depth of a lane",
	};
	for (size_t i = 0; i < WSI_COUNT(texts); i++)
		if (facts >> i & 1)
			return texts[i];
	return "";
}

/* ---- SMs ---- */

CUDBGResult wsi_api_ask_masks(struct api_target *t, uint32_t dev, uint32_t sm, uint64_t *ret_valid,
			      uint64_t *ret_broken, bool *ret_broken_known)
{
	CUDBGResult result = API_CALL(t, readValidWarps, dev, sm, ret_valid);
	if (wsi_api_not_offered(result)) { /* a slot with a lane that holds a thread is valid */
		*ret_valid = 0;
		for (uint32_t wp = 0; wp < CUDBG_MAX_WARPS; wp++) {
			struct api_warp_facts facts = { .known = 0 };
			const struct api_place at = { dev, sm, wp };
			result = wsi_api_ask_warp(t, &at, API_VALID, &facts);
			if (result == CUDBG_ERROR_RUNNING_DEVICE || wsi_api_not_offered(result))
				return result;
			if (result == CUDBG_SUCCESS)
				*ret_valid |= 1ull << wp;
		}
		result = CUDBG_SUCCESS;
	}
	*ret_broken = 0;
	*ret_broken_known = result == CUDBG_SUCCESS &&
			    API_CALL(t, readBrokenWarps, dev, sm, ret_broken) == CUDBG_SUCCESS;
	return result;
}

void wsi_api_ask_sm_exception(struct api_target *t, uint32_t dev, struct ws_sm *sm)
{
	CUDBGException_t exception;
	if (API_CALL(t, readSmException, dev, sm->id, &exception, &sm->error_pc,
		     &sm->error_pc_valid) != CUDBG_SUCCESS)
		return;
	sm->have |= WS_SM_EXCEPTION;
	sm->exception = (uint32_t)exception;
}

uint32_t wsi_api_ask_exception_mask(struct api_target *t, uint32_t dev,
				    uint64_t ret_mask[CUDBG_MAX_SMS / 64])
{
	memset(ret_mask, 0, CUDBG_MAX_SMS / 8);
	if (API_CALL(t, readDeviceExceptionState, dev, ret_mask, CUDBG_MAX_SMS / 64) ==
	    CUDBG_SUCCESS)
		return CUDBG_MAX_SMS;
	return API_CALL(t, readDeviceExceptionState80, dev, ret_mask) == CUDBG_SUCCESS ? 64 : 0;
}

/* ---- devices ---- */

static const struct number {
	size_t slot, field;
	const char *what;
} numbers[] = {
#define NUMBER(name, field, what)                                                           \
	{                                                                                   \
		offsetof(struct CUDBGAPI_st, name), offsetof(struct ws_device, field), what \
	}
	NUMBER(getNumSMs, n_sms, "how many SMs a device has"),
	NUMBER(getNumWarps, n_warps_per_sm, "how many warps an SM can hold"),
	NUMBER(getNumLanes, n_lanes_per_warp, "how many lanes a warp has"),
	NUMBER(getNumRegisters, n_regs_per_lane, "how many registers a lane can have"),
	NUMBER(getNumPredicates, n_preds_per_lane, "how many predicates a lane has"),
#undef NUMBER
};

static CUDBGResult ask_number(struct api_target *t, size_t slot, uint32_t dev, uint32_t *ret)
{
	CUDBGResult (*ask)(uint32_t, uint32_t *);
	if (!ws_provider_has(&t->provider, slot))
		return CUDBG_ERROR_NOT_SUPPORTED;
	memcpy(&ask, (const char *)t->api + slot, sizeof ask);
	return ask(dev, ret);
}

const char *wsi_api_ask_numbers(struct api_target *t, struct ws_device *device)
{
	const char *lacks = NULL;
	for (size_t i = 0; i < WSI_COUNT(numbers); i++) {
		uint32_t value;
		if (ask_number(t, numbers[i].slot, device->id, &value) == CUDBG_SUCCESS)
			memcpy((char *)device + numbers[i].field, &value, sizeof value);
		else if (!lacks)
			lacks = numbers[i].what;
	}
	if (API_CALL(t, getDevicePCIBusInfo, device->id, &device->pci_bus, &device->pci_device) !=
		    CUDBG_SUCCESS &&
	    !lacks)
		lacks = "the bus address of a device";
	if (API_CALL(t, getNumUniformRegisters, device->id, &device->n_uniform_regs) ==
		    CUDBG_SUCCESS &&
	    API_CALL(t, getNumUniformPredicates, device->id, &device->n_uniform_preds) ==
		    CUDBG_SUCCESS)
		device->have |= WS_DEVICE_UNIFORM;
	return lacks;
}

/* Whether there is a device of this number, and no more of them after it. */
bool wsi_api_ask_device(struct api_target *t, uint32_t dev)
{
	uint32_t n;
	uint64_t mask;
	char text[256];
	CUDBGResult result = API_CALL(t, getNumSMs, dev, &n);
	if (wsi_api_not_offered(result))
		result = API_CALL(t, getSmType, dev, text, sizeof text);
	if (wsi_api_not_offered(result))
		result = API_CALL(t, readValidWarps, dev, 0, &mask);
	return result == CUDBG_SUCCESS || result == CUDBG_ERROR_RUNNING_DEVICE;
}

/* ---- grids ---- */

static void take_grid(const CUDBGGridInfo *info, struct ws_grid *grid)
{
	grid->context_id = info->context;
	grid->module_handle = info->module;
	grid->function = info->function;
	grid->function_entry = info->functionEntry;
	grid->parent_id = (int64_t)info->parentGridId;
	grid->type = info->type;
	grid->origin = info->origin;
	grid->grid_dim = wsi_api_dim3(info->gridDim);
	grid->block_dim = wsi_api_dim3(info->blockDim);
	grid->cluster_dim = wsi_api_dim3(info->clusterDim);
	grid->preferred_cluster_dim = wsi_api_dim3(info->preferredClusterDim);
}

static CUDBGResult ask_grid_info(struct api_target *t, uint32_t dev, uint64_t id,
				 CUDBGGridInfo *ret_info, uint32_t *ret_have)
{
	CUDBGGridInfo120 v120;
	CUDBGGridInfo55 v55;
	memset(ret_info, 0, sizeof *ret_info);
	*ret_have = WS_GRID_CLUSTER | WS_GRID_PREFERRED_CLUSTER;
	CUDBGResult result = API_CALL(t, getGridInfo, dev, id, ret_info);
	if (!wsi_api_not_offered(result))
		return result;
	*ret_have = WS_GRID_CLUSTER;
	memset(&v120, 0, sizeof v120);
	result = API_CALL(t, getGridInfo120, dev, id, &v120);
	memcpy(ret_info, &v120, sizeof v120);
	if (!wsi_api_not_offered(result))
		return result;
	*ret_have = 0;
	memset(&v55, 0, sizeof v55);
	result = API_CALL(t, getGridInfo55, dev, id, &v55);
	memcpy(ret_info, &v55, sizeof v55);
	return result;
}

bool wsi_api_ask_grid(struct api_target *t, const struct api_place *at, struct ws_grid *grid)
{
	CUDBGGridInfo info;
	CUDBGGridStatus status = CUDBG_GRID_STATUS_UNDETERMINED;
	uint64_t value;
	uint32_t have;
	if (ask_grid_info(t, at->dev, (uint64_t)grid->id, &info, &have) != CUDBG_SUCCESS)
		return false;
	take_grid(&info, grid);
	grid->have = have;
	if (API_CALL(t, getGridStatus, at->dev, (uint64_t)grid->id, &status) != CUDBG_SUCCESS)
		(void)API_CALL(t, getGridStatus50, at->dev, (uint32_t)grid->id, &status);
	grid->status = status;
	if (API_CALL(t, getGridAttribute, at->dev, at->sm, at->wp, CUDBG_ATTR_GRID_LAUNCH_BLOCKING,
		     &value) == CUDBG_SUCCESS) {
		grid->have |= WS_GRID_BLOCKING;
		grid->launch_blocking = value != 0;
	}
	if (API_CALL(t, getGridAttribute, at->dev, at->sm, at->wp, CUDBG_ATTR_GRID_TID, &value) ==
	    CUDBG_SUCCESS)
		grid->host_tid = (uint32_t)value;
	else
		(void)API_CALL(t, getTID, at->dev, at->sm, at->wp, &grid->host_tid);
	return true;
}

/* ---- what only an image tells, where functions are missing ---- */

static struct ws_cubin *open_image(const struct ws_module *module)
{
	struct ws_cubin *cubin = NULL;
	return module->relocated_status == WS_OK &&
			       ws_cubin_open(module->relocated, &cubin, NULL) == WS_OK
		       ? cubin
		       : NULL;
}

uint32_t wsi_api_ask_image_registers(const struct ws_module *module, const struct ws_grid *grid)
{
	const struct ws_function *functions;
	struct ws_cubin *cubin = open_image(module);
	uint32_t n_regs = 0;
	size_t n = 0;
	if (cubin && ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		n = 0;
	for (size_t i = 0; i < n && !n_regs; i++)
		if (functions[i].is_kernel && functions[i].section &&
		    functions[i].gpu_va == grid->function_entry &&
		    functions[i].n_regs != WS_UNKNOWN)
			n_regs = functions[i].n_regs;
	ws_cubin_close(cubin);
	return n_regs;
}

bool wsi_api_ask_image_offsets(const struct ws_module *module, struct api_warp_facts *facts)
{
	struct ws_cubin *cubin = open_image(module);
	if (!cubin)
		return false;
	for (uint32_t ln = 0; ln < WS_MAX_LANES; ln++) {
		struct ws_place place;
		struct api_lane_facts *lane = &facts->lane[ln];
		lane->rel_pc = ws_cubin_find_address(cubin, lane->pc, &place, NULL) == WS_OK
				       ? place.rel_pc
				       : lane->pc;
	}
	ws_cubin_close(cubin);
	facts->known |= API_REL_PC;
	return true;
}
