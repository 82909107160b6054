/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a target over a provider: field by field those of the scripted target at its far end, by
 * whatever functions the provider has; what none of them tells is not made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/cudbg.h>
#include <warpscope/provider.h>

#include "target/fake.h"

static struct fake fake;
static CUDBGAPI api;
static struct ws_target *target;

static int start(void **state)
{
	(void)state;
	fake_init_running(&fake);
	fake.warp[1].have |= WS_WARP_CBU;
	for (uint32_t i = 0; i < fake.n_lanes[1]; i++)
		fake.lane[1][i].have |= WS_LANE_CBU_STATE;
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS;
	return ws_cudbg_api(&fake.target, &api, NULL) != WS_OK;
}

static int stop(void **state)
{
	(void)state;
	ws_target_close(target);
	target = NULL;
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
	return 0;
}

static void open_over(const struct CUDBGAPI_st *table)
{
	static struct CUDBGAPI_st kept; /* as long as the target */
	ws_target_close(target);
	target = NULL;
	kept = *table;
	assert_int_equal(ws_target_from_api(&kept, UINT32_MAX, 0, &target, NULL), WS_OK);
}

/* What the functions of a provider do not tell. */
enum lacks {
	LACKS_CLUSTERS = 1 << 0, /* the size of a block's cluster */
	LACKS_SYSCALLS = 1 << 1, /* which lanes are in a system call */
	LACKS_EVENTS = 1 << 2,   /* contexts and images that nothing runs in */
	LACKS_PREFERRED = 1 << 3,
	LACKS_GRID_CLUSTER = 1 << 4,
	LACKS_LOST_LANES = 1 << 5, /* a valid lane that is lost is not left out */
	LACKS_CLUSTER_IDX = 1 << 6,
	LACKS_BROKEN = 1 << 7, /* which warps are broken */
};

static void same_text(struct ws_str a, struct ws_str b)
{
	assert_int_equal(a.len, b.len);
	assert_int_equal(a.len ? memcmp(a.ptr, b.ptr, a.len) : 0, 0);
}

static void same_dim(struct ws_dim3 a, struct ws_dim3 b)
{
	assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
}

static void same_devices(void)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	assert_int_equal(counts.devices, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ws_device *want = &fake.device[i];
		struct ws_device got;
		assert_int_equal(ws_target_device(target, i, &got, NULL), WS_OK);
		assert_int_equal(got.id, want->id);
		same_text(got.name, want->name);
		same_text(got.type, want->type);
		same_text(got.sm_type, want->sm_type);
		assert_int_equal(got.sm_major, want->sm_major);
		assert_int_equal(got.sm_minor, want->sm_minor);
		assert_int_equal(got.pci_bus, want->pci_bus);
		assert_int_equal(got.pci_device, want->pci_device);
		assert_int_equal(got.n_sms, want->n_sms);
		assert_int_equal(got.n_warps_per_sm, want->n_warps_per_sm);
		assert_int_equal(got.n_lanes_per_warp, want->n_lanes_per_warp);
		assert_int_equal(got.n_regs_per_lane, want->n_regs_per_lane);
		assert_int_equal(got.n_preds_per_lane, want->n_preds_per_lane);
		assert_true(got.have & WS_DEVICE_UNIFORM);
		assert_int_equal(got.n_uniform_regs, want->n_uniform_regs);
		assert_int_equal(got.n_uniform_preds, want->n_uniform_preds);
		assert_int_equal(got.instruction_bytes, 16);
	}
}

static void same_sms(void)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	assert_int_equal(counts.sms, 132); /* also those that are empty */
	for (uint32_t i = 0; i < 132; i++) {
		uint32_t id = i < 130 ? i : i - 130;
		struct ws_sm got;
		assert_int_equal(ws_target_sm(target, i, &got, NULL), WS_OK);
		assert_int_equal(got.id, id);
		assert_int_equal(got.device_index, i >= 130);
		const struct ws_sm *want = i == 1 ? &fake.sm[0] : i == 129 ? &fake.sm[1] : NULL;
		assert_int_equal(got.n_warps, want ? want->n_warps : 0);
		assert_int_equal(got.exception, want ? want->exception : 0);
		assert_true(got.have & WS_SM_EXCEPTION);
		if (!want)
			continue;
		assert_int_equal(got.error_pc_valid, want->error_pc_valid);
		assert_true(got.error_pc == want->error_pc);
		/* the rest is told by one of its warps */
		assert_int_equal(got.have & (WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT),
				 i == 1 ? WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT : 0);
		if (i == 1) {
			assert_true(got.cluster_target_valid);
			same_dim(got.cluster_target, want->cluster_target);
			same_text(got.exception_text, want->exception_text);
		}
	}
}

static void same_grids(unsigned lacks)
{
	static const char nobody[] = "no function of this provider tells the launch of a grid";
	struct ws_error err;
	struct ws_grid got;
	for (uint32_t i = 0; i < 4; i++) {
		const struct ws_grid *want = &fake.grid[i];
		enum ws_status st = ws_target_grid(target, i, &got, &err);
		if (i == 1 || i == 3) { /* of a context, or itself, that is not known */
			assert_int_equal(st, WS_UNSUPPORTED);
			assert_string_equal(err.message, nobody);
			continue;
		}
		assert_int_equal(st, WS_OK);
		assert_true(got.id == want->id && got.parent_id == want->parent_id);
		assert_true(got.context_id == want->context_id &&
			    got.module_handle == want->module_handle);
		if (!(lacks & LACKS_EVENTS)) {
			assert_int_equal(got.context_index, want->context_index);
			assert_int_equal(got.module_index, want->module_index);
		}
		assert_true(got.function == want->function &&
			    got.function_entry == want->function_entry);
		assert_int_equal(got.type, want->type);
		assert_int_equal(got.origin, want->origin);
		assert_int_equal(got.status, want->status);
		same_dim(got.grid_dim, want->grid_dim);
		same_dim(got.block_dim, want->block_dim);
		assert_int_equal(got.launch_blocking, want->launch_blocking);
		assert_int_equal(got.host_tid, want->host_tid);
		assert_int_equal(!(got.have & WS_GRID_CLUSTER), (lacks & LACKS_GRID_CLUSTER) != 0);
		assert_int_equal(!(got.have & WS_GRID_PREFERRED_CLUSTER),
				 (lacks & LACKS_PREFERRED) != 0);
		if (got.have & WS_GRID_CLUSTER)
			same_dim(got.cluster_dim, want->cluster_dim);
		if (got.have & WS_GRID_PREFERRED_CLUSTER)
			same_dim(got.preferred_cluster_dim, want->preferred_cluster_dim);
	}
}

static void same_blocks(unsigned lacks)
{
	for (uint32_t i = 0; i < 4; i++) {
		const struct ws_block *want = &fake.block[i];
		struct ws_block got;
		assert_int_equal(ws_target_block(target, i, &got, NULL), WS_OK);
		assert_true(got.grid_id == want->grid_id);
		assert_int_equal(got.grid_index, i);
		assert_int_equal(got.sm_index, 1);
		assert_int_equal(got.device_index, 0);
		same_dim(got.idx, want->idx);
		assert_int_equal((got.have & WS_BLOCK_CLUSTER_IDX) != 0,
				 !(lacks & LACKS_CLUSTER_IDX));
		if (got.have & WS_BLOCK_CLUSTER_IDX)
			same_dim(got.cluster_idx, want->cluster_idx);
		/* its own, or that of its launch */
		assert_int_equal((got.have & WS_BLOCK_CLUSTER_DIM) != 0,
				 i < 3 && !(lacks & LACKS_CLUSTERS));
		if (got.have & WS_BLOCK_CLUSTER_DIM)
			same_dim(got.cluster_dim, want->cluster_dim);
	}
}

static void same_warps(unsigned lacks)
{
	const uint32_t resources = WS_WARP_N_REGS | WS_WARP_SHARED_BYTES | WS_WARP_BARRIER;
	for (uint32_t i = 0; i < 4; i++) {
		const struct ws_warp *want = &fake.warp[i];
		struct ws_warp got;
		assert_int_equal(ws_target_warp(target, i, &got, NULL), WS_OK);
		assert_int_equal(got.id, want->id);
		assert_int_equal(got.sm_index, 1);
		assert_int_equal(got.block_index, i);
		assert_int_equal(got.valid_lanes,
				 i == 2 && !(lacks & LACKS_LOST_LANES) ? 7 : want->valid_lanes);
		assert_int_equal(got.active_lanes, want->active_lanes);
		assert_int_equal((got.have & WS_WARP_BROKEN) != 0, !(lacks & LACKS_BROKEN));
		assert_int_equal(got.broken, want->broken && !(lacks & LACKS_BROKEN));
		assert_int_equal(got.error_pc_valid, want->error_pc_valid);
		assert_true(!got.error_pc_valid || got.error_pc == want->error_pc);
		assert_int_equal(got.have & resources, i == 0  ? resources
						       : i < 3 ? WS_WARP_N_REGS
							       : 0);
		if (i < 3) /* its own, or of its launch */
			assert_int_equal(got.n_regs, i ? 40 : 16);
		if (i > 0)
			continue;
		assert_int_equal(got.shared_bytes, want->shared_bytes);
		assert_int_equal(got.barrier_scope, want->barrier_scope);
		assert_int_equal((got.have & WS_WARP_CBU) != 0, !(lacks & LACKS_SYSCALLS));
		assert_int_equal((got.have & WS_WARP_STOP) != 0, !(lacks & LACKS_BROKEN));
		if (got.have & WS_WARP_STOP) {
			assert_int_equal(got.stop, want->stop);
			assert_true(got.stop_pc == want->stop_pc);
		}
		if (!(got.have & WS_WARP_CBU))
			continue;
		assert_int_equal(got.in_syscall_lanes, want->in_syscall_lanes);
		assert_int_equal(got.cbu_active_lanes, want->cbu_active_lanes);
		assert_int_equal(got.cbu_exited_lanes, want->cbu_exited_lanes);
		assert_int_equal(got.cbu_collective_lanes, want->cbu_collective_lanes);
	}
}

static void same_lanes(void)
{
	for (uint32_t warp = 0; warp < 4; warp++) {
		struct ws_lane got[WS_MAX_LANES];
		uint32_t n = 0;
		assert_int_equal(ws_target_lanes(target, warp, got, &n, NULL), WS_OK);
		assert_int_equal(n, fake.n_lanes[warp]);
		for (uint32_t i = 0; i < n; i++) {
			const struct ws_lane *want = &fake.lane[warp][i];
			const uint32_t told = WS_LANE_CBU_STATE | WS_LANE_RPC;
			assert_int_equal(got[i].id, want->id);
			assert_true(got[i].pc == want->pc && got[i].rel_pc == want->rel_pc);
			same_dim(got[i].thread, want->thread);
			assert_int_equal(got[i].exception, want->exception);
			assert_int_equal(got[i].call_depth, want->call_depth);
			assert_int_equal(got[i].syscall_call_depth, 0); /* since 12.9 */
			assert_int_equal(got[i].cc_register, want->cc_register);
			assert_int_equal(got[i].have & told, want->have & told);
			assert_true(got[i].have & WS_LANE_CC);
			if (got[i].have & WS_LANE_RPC)
				assert_true(got[i].rpc_lo == want->rpc_lo &&
					    got[i].rpc_hi == want->rpc_hi);
			if (got[i].have & WS_LANE_CBU_STATE)
				assert_int_equal(got[i].cbu_state, want->cbu_state);
		}
	}
}

static void same_images(unsigned lacks)
{
	struct ws_counts counts;
	struct ws_context context;
	struct ws_module module;
	ws_target_counts(target, &counts);
	/* without events, what grids tell that run: also the image of one that nobody has */
	assert_true(counts.contexts == 1 && counts.modules == (lacks & LACKS_EVENTS ? 2 : 1));
	assert_int_equal(ws_target_context(target, 0, &context, NULL), WS_OK);
	assert_true(context.id == 0xc0 && context.host_tid == 4711 && context.device_index == 0);
	assert_int_equal(ws_target_module(target, 0, &module, NULL), WS_OK);
	assert_true(module.handle == 0x100 && module.device_index == 0 &&
		    module.context_index == 0);
	assert_int_equal(module.relocated_status, WS_OK);
	assert_int_equal(module.relocated.len, fake.module[0].relocated.len);
	assert_memory_equal(module.relocated.ptr, fake.module[0].relocated.ptr,
			    module.relocated.len);
	assert_int_not_equal(module.original_status, WS_OK);
	assert_int_equal(module.original.len, 0);
	if (lacks & LACKS_EVENTS) {
		assert_int_equal(ws_target_module(target, 1, &module, NULL), WS_OK);
		assert_true(module.handle == 0xbad && module.context_index == 0);
		assert_int_equal(module.relocated_status, WS_UNSUPPORTED);
		assert_int_equal(module.original_status, WS_UNSUPPORTED);
		assert_true(!module.relocated.len && !module.original.len);
	}
}

static void same_rows(unsigned lacks)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	assert_true(counts.blocks == 4 && counts.warps == 4 && counts.grids == 4);
	same_devices();
	same_images(lacks);
	same_sms();
	same_grids(lacks);
	same_blocks(lacks);
	same_warps(lacks);
	same_lanes();
}

static void rows_are_those_of_the_far_end(void **state)
{
	(void)state;
	open_over(api);
	same_rows(0);
}

/* Functions of a table, by name. */
#define SLOT(name) offsetof(struct CUDBGAPI_st, name)
#define CHAIN_OF_WARPS SLOT(readWarpState), SLOT(readWarpState127), SLOT(readWarpState120)

static CUDBGResult not_supported(void)
{
	return CUDBG_ERROR_NOT_SUPPORTED;
}

/* Without the newer forms the older ones tell the same, as far as they go. */
static void older_functions_tell_the_same(void **state)
{
	static const struct {
		size_t slots[12];
		unsigned lacks;
	} cases[] = {
		{ { SLOT(getDeviceInfo) }, LACKS_LOST_LANES },
		{ { SLOT(getDeviceInfoSizes), SLOT(readWarpState) },
		  LACKS_LOST_LANES | LACKS_SYSCALLS },
		{ { SLOT(getDeviceInfo), SLOT(readWarpState), SLOT(readWarpState127) },
		  LACKS_LOST_LANES | LACKS_SYSCALLS },
		{ { SLOT(getDeviceInfo), SLOT(readWarpState), SLOT(readWarpState127),
		    SLOT(getClusterDim) },
		  LACKS_LOST_LANES | LACKS_SYSCALLS | LACKS_CLUSTERS },
		{ { SLOT(getDeviceInfo), CHAIN_OF_WARPS }, LACKS_LOST_LANES | LACKS_SYSCALLS },
		{ { SLOT(getDeviceInfo), CHAIN_OF_WARPS, SLOT(readWarpState60) },
		  LACKS_LOST_LANES | LACKS_SYSCALLS },
		{ { SLOT(getDeviceInfo), CHAIN_OF_WARPS, SLOT(readClusterIdx) },
		  LACKS_LOST_LANES | LACKS_SYSCALLS | LACKS_CLUSTER_IDX },
		{ { SLOT(getDeviceInfo), SLOT(readValidWarps) }, LACKS_LOST_LANES },
		{ { SLOT(getDeviceInfo), SLOT(readBrokenWarps) }, LACKS_LOST_LANES | LACKS_BROKEN },
		{ { SLOT(readCallDepth) }, 0 },
		{ { SLOT(getGridInfo) }, LACKS_PREFERRED },
		{ { SLOT(getGridInfo), SLOT(getGridInfo120) },
		  LACKS_PREFERRED | LACKS_GRID_CLUSTER },
		{ { SLOT(getGridStatus) }, 0 },
		{ { SLOT(getNumDevices) }, 0 },
		{ { SLOT(getNextEvent) }, LACKS_EVENTS },
	};
	CUDBGResult (*const with[])(void) = { NULL, not_supported };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int how = 0; how < 2; how++) {
			struct CUDBGAPI_st table = *api;
			for (size_t k = 0; k < 12 && cases[i].slots[k]; k++)
				memcpy((char *)&table + cases[i].slots[k], &with[how],
				       sizeof with[how]);
			open_over(&table);
			same_rows(cases[i].lacks);
		}
}

/* ---- what is known to be lacking ---- */

static void expect_diagnostic(uint32_t index, const char *what, const char *message,
			      uint64_t repeats, bool hides_fault)
{
	struct ws_diagnostic told;
	assert_int_equal(ws_target_diagnostic(target, index, &told, NULL), WS_OK);
	assert_string_equal(told.what, what);
	assert_string_equal(told.message, message);
	assert_true(told.repeats == repeats && told.file_off == WS_NO_OFFSET);
	assert_int_equal(told.hides == WS_HIDES_FAULT, hides_fault);
}

static uint64_t sms_with_exceptions[3];

static CUDBGResult exception_state(uint32_t dev, uint64_t *mask, uint32_t n)
{
	assert_true(n >= 3);
	memset(mask, 0, n * sizeof *mask);
	if (dev == 0)
		memcpy(mask, sms_with_exceptions, sizeof sms_with_exceptions);
	return CUDBG_SUCCESS;
}

static CUDBGResult exception_state_80(uint32_t dev, uint64_t *mask)
{
	*mask = dev == 0 ? sms_with_exceptions[0] : 0;
	return CUDBG_SUCCESS;
}

/* Where no function says which exception an SM has, a mask may say that it has one; of one whose
 * lanes tell it, and of those beyond an older mask, nothing is made up. */
static void exceptions_that_nothing_names_are_said_to_be(void **state)
{
	static const char unnamed[] =
		"device 0 SM 3 has an exception, and no function of this provider tells which";
	struct ws_diagnostic told;
	struct ws_sm sm;
	(void)state;
	for (int how = 0; how < 5; how++) {
		struct CUDBGAPI_st table = *api;
		bool quiet = how == 4; /* lanes of SM 1 tell nothing */
		fake.lane[0][2].exception = quiet ? 0 : CUDBG_EXCEPTION_WARP_ASSERT;
		table.readSmException = NULL;
		table.readDeviceExceptionState = how == 0 || quiet ? exception_state : NULL;
		table.readDeviceExceptionState80 = how <= 1 ? exception_state_80 : NULL;
		if (how == 3)
			table.getNextEvent = NULL;
		sms_with_exceptions[0] = 1u << 1 | 1u << 3 | 1u << 4; /* lanes of SM 1 tell */
		sms_with_exceptions[2] = 2;                           /* SM 129 */
		open_over(&table);
		for (uint32_t i = 0; i < 132; i++) {
			bool there = (i == 3 || i == 4) && (how < 2 || quiet);
			assert_int_equal(ws_target_sm(target, i, &sm, NULL), WS_OK);
			there |= (i == 129 && how == 0) || (quiet && (i == 1 || i == 129));
			assert_int_equal(sm.have & WS_SM_EXCEPTION, there ? WS_SM_EXCEPTION : 0);
			if (there)
				assert_int_equal(sm.exception, (uint32_t)CUDBG_EXCEPTION_UNKNOWN);
		}
		if (quiet)
			break;
		uint32_t n = 0;
		if (how == 1) /* the SMs from 64 on */
			expect_diagnostic(n++, "SM",
					  "no function of this provider tells whether device 0 "
					  "SM 64 has an exception",
					  130 - 64 - 1, true);
		if (how >= 2)
			expect_diagnostic(n++, "SM",
					  "no function of this provider tells whether device 0 "
					  "SM 0 has an exception",
					  132 - 1, true);
		if (how < 2)
			expect_diagnostic(n++, "exception", unnamed, how == 0 ? 2 : 1, false);
		if (how == 3)
			expect_diagnostic(
				n++, "event",
				"the provider reports no events: contexts and images that "
				"run nothing are not known",
				0, false);
		assert_int_equal(ws_target_diagnostic(target, n, &told, NULL), WS_ABSENT);
	}
	open_over(api);
	assert_int_equal(ws_target_diagnostic(target, 0, &told, NULL), WS_ABSENT);
}

/* A row of which not all is told is not handed out; why is told, the first thing that lacks. */
static void rows_that_lack_something_are_not_handed_out(void **state)
{
	static const struct {
		size_t slots[4];
		char row; /* d device, s SM, w warp */
		const char *lacks;
	} cases[] = {
		{ { SLOT(getNumSMs) }, 'd', "how many SMs a device has" },
		{ { SLOT(getNumWarps) }, 'd', "how many warps an SM can hold" },
		{ { SLOT(getNumLanes) }, 'd', "how many lanes a warp has" },
		{ { SLOT(getNumRegisters) }, 'd', "how many registers a lane can have" },
		{ { SLOT(getNumPredicates) }, 'd', "how many predicates a lane has" },
		{ { SLOT(getDevicePCIBusInfo) }, 'd', "the bus address of a device" },
		{ { SLOT(getDevicePCIBusInfo), SLOT(getNumLanes) },
		  'd',
		  "how many lanes a warp has" },
		{ { SLOT(getSmType) }, 'd', "the architecture of a device" },
		{ { SLOT(readValidWarps), SLOT(readValidLanes) }, 's', "which warps an SM holds" },
		{ { SLOT(readValidLanes) }, 'w', "which lanes of a warp hold a thread" },
		{ { SLOT(readActiveLanes) }, 'w', "which lanes of a warp are active" },
		{ { SLOT(readGridId) }, 'w', "the grid of a warp" },
		{ { SLOT(readBlockIdx) }, 'w', "the block of a warp" },
		{ { SLOT(readErrorPC) }, 'w', "the error pc of a warp" },
		{ { SLOT(readActiveLanes), SLOT(readErrorPC) },
		  'w',
		  "which lanes of a warp are active" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct CUDBGAPI_st table = *api;
		struct ws_counts counts;
		struct ws_error err = { .status = WS_OK };
		struct ws_device device;
		struct ws_sm sm;
		struct ws_warp warp;
		char want[200];
		table.getDeviceInfo = NULL;
		table.readWarpState = NULL;
		table.readWarpState127 = NULL;
		table.readWarpState120 = NULL;
		table.readWarpState60 = NULL;
		for (size_t k = 0; k < 4 && cases[i].slots[k]; k++)
			memset((char *)&table + cases[i].slots[k], 0, sizeof(void *));
		open_over(&table);
		ws_target_counts(target, &counts);
		assert_int_equal(counts.devices, 2);
		assert_int_equal(counts.warps, cases[i].row == 's' ? 0 : 4);
		enum ws_status st = cases[i].row == 'd' ? ws_target_device(target, 0, &device, &err)
				    : cases[i].row == 's' ? ws_target_sm(target, 1, &sm, &err)
							  : ws_target_warp(target, 0, &warp, &err);
		assert_int_equal(st, WS_UNSUPPORTED);
		snprintf(want, sizeof want, "no function of this provider tells %s",
			 cases[i].lacks);
		assert_string_equal(err.message, want);
		if (cases[i].row != 'd')
			assert_int_equal(ws_target_device(target, 1, &device, NULL), WS_OK);
	}
}

/* ---- ranges ---- */

enum { MANY = 140 };

/* As many as asked for, from the first that does not end before `start`. */
static CUDBGResult many_regions(uint64_t start, CUDBGMemoryInfo *regions, uint32_t n,
				uint32_t *ret_n)
{
	uint64_t first = start ? (start - 0x10000) / 0x1000 : 0;
	for (*ret_n = 0; *ret_n < n && first + *ret_n < MANY; ++*ret_n)
		regions[*ret_n] =
			(CUDBGMemoryInfo){ .startAddress = 0x10000 + 0x1000 * (first + *ret_n),
					   .size = 0x800 };
	return CUDBG_SUCCESS;
}

static void managed_regions_are_all_listed_once(void **state)
{
	struct CUDBGAPI_st table = *api;
	struct ws_memory_range range;
	uint32_t n = 0, n_banks = 0, i = 0;
	(void)state;
	table.getManagedMemoryRegionInfo = many_regions;
	open_over(&table);
	for (; ws_target_memory_range(target, i, &range, NULL) == WS_OK; i++) {
		if (range.managed) {
			assert_true(range.start == 0x10000 + 0x1000 * (uint64_t)n);
			assert_true(range.size == 0x800 && range.bytes_present == 0x800);
			assert_int_equal(range.device_index, WS_NONE);
			n++;
		} else {
			assert_int_equal(range.space, WS_SPACE_CONST);
			assert_true(range.start == FAKE_BANK && range.size == FAKE_BANK_BYTES);
			assert_true(range.bank == 3 && range.grid_index == 0 &&
				    range.device_index == 0);
			assert_true(range.bytes_present == 0); /* its bytes cannot be read */
			n_banks++;
		}
		assert_true(range.file_off == WS_NO_OFFSET && range.block_index == WS_NONE &&
			    range.warp_index == WS_NONE && range.lane == WS_NONE);
	}
	assert_int_equal(n, MANY);
	assert_int_equal(n_banks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_those_of_the_far_end, start, stop),
		cmocka_unit_test_setup_teardown(older_functions_tell_the_same, start, stop),
		cmocka_unit_test_setup_teardown(exceptions_that_nothing_names_are_said_to_be, start,
						stop),
		cmocka_unit_test_setup_teardown(rows_that_lack_something_are_not_handed_out, start,
						stop),
		cmocka_unit_test_setup_teardown(managed_regions_are_all_listed_once, start, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
