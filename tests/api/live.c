/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <time.h>

#include <warpscope/assemble.h>

const char *kernels, *debug_kernels, *service, *children, *cluster_kernels, *bulk_kernels,
	*group_kernels;
struct device device;
CUDBGAPI api;

enum { PATIENCE_MS = 20000 };

void live_images(char **paths)
{
	const char **const all[] = { &kernels,         &service,      &children,     &debug_kernels,
				     &cluster_kernels, &bulk_kernels, &group_kernels };
	for (size_t i = 0; i < WSI_COUNT(all); i++)
		*all[i] = paths[i];
}

CUDBGResult note(unsigned slot, CUDBGResult result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	if (result == CUDBG_ERROR_OS_RESOURCES && route_is_socket())
		return result; /* any function may lack memory on the way */
	if ((unsigned)result >= 64 || !((fn->codes | fn->extensions) >> result & 1))
		fail_msg("%s answered %s, which the tables do not list", fn->name,
			 cudbgGetErrorString(result));
	return result;
}

/* ---- a session over a device ---- */

void open_table(void)
{
	device_debug(&device);
	assert_int_equal(route_open(device.target, &api), WS_OK);
}

void begin_session(void)
{
	CUDBGEvent event;
	GOOD0(initialize);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	GOOD0(acknowledgeSyncEvents);
}

void begin(uint32_t capabilities)
{
	open_table();
	cudbgDebuggerCapabilities = capabilities | CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	begin_session();
}

/* Over a kernel whose first arguments are the device's memory: `out`, and `in` if `both`. */
void start_over(const char *kernel, unsigned blocks, unsigned threads, bool both,
		const uint64_t *more, size_t n_more)
{
	uint64_t args[8];
	size_t n = 0;
	device_open(&device, kernels, 4);
	args[n++] = device.out;
	if (both)
		args[n++] = device.in;
	for (size_t i = 0; i < n_more; i++)
		args[n++] = more[i];
	device_launch(&device, kernel, blocks, threads, args, n);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
}

void start_spinning(unsigned blocks, unsigned threads)
{
	device_open(&device, kernels, 4);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "spins", blocks, threads, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	run_until((1ull << threads / 32) - 1, 0, 0);
}

int stop(void **state)
{
	(void)state;
	route_close(api);
	api = NULL;
	device_close(&device);
	cudbgDebuggerCapabilities = 0;
	return 0;
}

void doze(void)
{
	const struct timespec moment = { .tv_nsec = 200000 };
	nanosleep(&moment, NULL);
}

/* Waits for an event of a queue. */
CUDBGEvent await(CUDBGEventQueueType queue)
{
	CUDBGEvent event;
	memset(&event, 0, sizeof event);
	for (int i = 0; i < PATIENCE_MS * 5; i++) {
		if (CALL(getNextEvent, queue, &event) == CUDBG_SUCCESS)
			return event;
		doze();
	}
	fail_msg("no event came");
	return event;
}

void run_until(uint64_t warps, uint64_t waiting, uint64_t pc)
{
	bool is_there = false;
	for (int i = 0; i < PATIENCE_MS * 5 && !is_there; i++) {
		GOOD0(resumeAllDevices);
		doze();
		GOOD(suspendAllDevices, 0);
		is_there = valid(0) == warps;
		for (uint32_t wp = 0; is_there && wp < 64; wp++)
			is_there = !(waiting >> wp & 1) || pc_of(0, wp, 31) == pc;
	}
	assert_true(is_there);
}

void expect(CUDBGEventQueueType queue, CUDBGEventKind kind)
{
	CUDBGEvent event = await(queue);
	if (event.kind != kind)
		fail_msg("event %u came, not %u", event.kind, kind);
	GOOD0(acknowledgeSyncEvents);
}

void expect_stop(void)
{
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_ALL_DEVICES_SUSPENDED);
}

void expect_end(void)
{
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_KERNEL_FINISHED);
}

void expect_nothing(void)
{
	CUDBGEvent event;
	for (unsigned queue = 0; queue < 2; queue++)
		if (CALL(getNextEvent, (CUDBGEventQueueType)queue, &event) !=
		    CUDBG_ERROR_NO_EVENT_AVAILABLE)
			fail_msg("event %u came", event.kind);
}

void log_of(uint32_t host_tid, const char *text)
{
	bool stands = !ws_target_running(device.target, 0);
	ws_sim_host_begin(device.target, stands);
	assert_int_equal(ws_sim_log(device.sim, WS_SIM_LOG_WARNING, host_tid, text, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, stands, NULL, NULL), WS_OK);
}

void log_once(const char *text)
{
	log_of(0, text);
}

/* ---- places ---- */

/* Address of the kernel that runs, or is to. */
uint64_t entry(void)
{
	struct ws_grid grid;
	struct ws_counts counts;
	ws_target_counts(device.target, &counts);
	assert_int_equal(ws_target_grid(device.target, counts.grids - 1, &grid, NULL), WS_OK);
	return grid.function_entry;
}

/* The `n`th instruction of this operation from the kernel's start on. */
uint64_t find(enum ws_operation operation, unsigned n)
{
	for (uint64_t pc = entry();; pc += WS_SASS_BYTES) {
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		GOOD(readCodeMemory, DEV, pc, bytes, sizeof bytes);
		ws_sass_decode(90, bytes, &insn);
		if (insn.operation == operation && n-- == 0)
			return pc;
	}
}

uint64_t pc_of(uint32_t sm, uint32_t wp, uint32_t ln)
{
	uint64_t pc;
	GOOD(readVirtualPC, DEV, sm, wp, ln, &pc);
	return pc;
}

uint64_t broken(uint32_t sm)
{
	uint64_t mask;
	GOOD(readBrokenWarps, DEV, sm, &mask);
	return mask;
}

uint64_t valid(uint32_t sm)
{
	uint64_t mask;
	GOOD(readValidWarps, DEV, sm, &mask);
	return mask;
}

/* The SM and slot of a broken warp, of which there is one. */
void one_broken(uint32_t *ret_sm, uint32_t *ret_wp)
{
	unsigned n = 0;
	for (uint32_t sm = 0; sm < 4; sm++)
		for (uint32_t wp = 0; wp < 64; wp++)
			if (broken(sm) >> wp & 1) {
				*ret_sm = sm;
				*ret_wp = wp;
				n++;
			}
	assert_int_equal(n, 1);
}

CUDBGBreakpointHandle hit(uint32_t sm, uint32_t wp)
{
	CUDBGBreakpointHandle handle;
	GOOD(getWarpHitBreakpoint, DEV, sm, wp, &handle);
	return handle;
}

static const uint8_t *take(const uint8_t *from, void *to, size_t size)
{
	memcpy(to, from, size);
	return from + size;
}

/* An attribute, if it is there. */
static const uint8_t *take_if(uint32_t flags, uint32_t bit, const uint32_t *sizes,
			      const uint8_t *from, void *to, size_t size)
{
	if (!(flags >> bit & 1))
		return from;
	if (to)
		memcpy(to, from, size);
	return from + sizes[bit];
}

static const uint8_t *take_warp(const uint8_t *at, const uint32_t *sizes, struct told_warp *to)
{
	at = take(at, &to->info, sizeof to->info);
	const uint32_t flags = to->info.warpAttributeFlags;
#define ATTRIBUTE(name, member) \
	take_if(flags, CUDBG_WARP_ATTRIBUTE_##name, sizes, at, &to->member, sizeof to->member)
	at = ATTRIBUTE(EXCEPTION, exception);
	at = ATTRIBUTE(ERRORPC, error_pc);
	at = ATTRIBUTE(CLUSTERIDX, cluster_idx);
	at = ATTRIBUTE(CLUSTERDIM, cluster_dim);
	at = ATTRIBUTE(CLUSTER_EXCEPTION_TARGET_BLOCK_IDX, cluster_target);
	at = take_if(flags, CUDBG_WARP_ATTRIBUTE_IN_SYSCALL_LANES, sizes, at, NULL, 0);
	at = ATTRIBUTE(HIT_BREAKPOINT_HANDLE, handle);
#undef ATTRIBUTE
	return at + sizeof(CUDBGLaneInfo) * (unsigned)__builtin_popcount(to->info.validLanes);
}

const struct told *ask_info(CUDBGDeviceInfoQueryType_t type)
{
	static uint8_t buffer[1 << 20];
	static struct told told;
	CUDBGDeviceInfoSizes sizes;
	CUDBGDeviceInfo head;
	uint32_t length;
	memset(&told, 0, sizeof told);
	told.updated = UINT64_MAX;
	GOOD(getDeviceInfoSizes, DEV, &sizes);
	GOOD(getDeviceInfo, DEV, type, buffer, sizeof buffer, &length);
	const uint32_t *of = sizes.deviceInfoAttributeSizes;
	const uint8_t *at = take(buffer, &head, sizeof head);
	const uint32_t flags = head.deviceAttributeFlags;
	told.is_update = head.responseType == CUDBG_RESPONSE_TYPE_UPDATE;
	at = take_if(flags, CUDBG_DEVICE_ATTRIBUTE_SM_UPDATE_MASK, of, at, &told.updated, 8);
	at = take_if(flags, CUDBG_DEVICE_ATTRIBUTE_SM_ACTIVE_MASK, of, at, &told.active, 8);
	at = take_if(flags, CUDBG_DEVICE_ATTRIBUTE_SM_EXCEPTION_MASK, of, at, &told.faulted, 8);
	for (uint32_t sm = 0; sm < LIVE_SMS; sm++) {
		if (!(told.updated & told.active & UINT64_C(1) << sm))
			continue;
		at = take(at, &told.sm[sm], sizeof told.sm[sm]);
		told.updated_warps[sm] = UINT64_MAX;
		at = take_if(told.sm[sm].smAttributeFlags, CUDBG_SM_ATTRIBUTE_WARP_UPDATE_MASK,
			     sizes.smInfoAttributeSizes, at, &told.updated_warps[sm], 8);
		told.updated_warps[sm] &= told.sm[sm].warpValidMask;
		for (uint32_t wp = 0; wp < LIVE_WARPS; wp++)
			if (told.updated_warps[sm] >> wp & 1)
				at = take_warp(at, sizes.warpInfoAttributeSizes,
					       &told.warp[sm][wp]);
	}
	assert_int_equal(at - buffer, length);
	return &told;
}

/* Starts, and stands when the kernel's first warp does, with all warps of the grid there. */
void stop_at_start(void)
{
	GOOD(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD0(resumeAllDevices);
	expect_stop();
	GOOD(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
}

void run_into_fault(void)
{
	const uint64_t bad = 40;
	start_over("faults", 2, 64, true, &bad, 1);
	GOOD0(resumeAllDevices);
}

void run_into_trap(void)
{
	device_open(&device, service, 4);
	const uint64_t args[] = { device.in, 0 };
	device_launch(&device, "traps", 1, 32, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD0(resumeAllDevices);
}

uint32_t step(uint32_t sm, uint32_t wp, uint32_t hint, uint32_t n, uint32_t flags)
{
	uint64_t mask = 0;
	GOOD(singleStepWarp, DEV, sm, wp, hint, n, flags, &mask);
	assert_true(mask >> wp & 1);
	return (uint32_t)mask;
}

/* Steps until the lanes that run next stand at a pc. */
void step_to(uint32_t sm, uint32_t wp, uint64_t pc)
{
	for (int i = 0; i < 2000; i++) {
		uint32_t active = 0, lane = 0;
		GOOD(readActiveLanes, DEV, sm, wp, &active);
		while (!(active >> lane & 1))
			lane++;
		if (pc_of(sm, wp, lane) == pc)
			return;
		(void)step(sm, wp, UINT32_MAX, 1,
			   CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	}
	fail_msg("the warp did not come to 0x%llx", (unsigned long long)pc);
}

uint32_t lanes_at(uint32_t sm, uint32_t wp, uint64_t pc)
{
	uint32_t lanes = 0;
	for (uint32_t ln = 0; ln < 32; ln++)
		lanes |= pc_of(sm, wp, ln) == pc ? 1u << ln : 0;
	return lanes;
}

/* Steps one lane to a pc, and only those that run with it. */
static void step_lane_to(uint32_t lane, uint64_t pc)
{
	for (int i = 0; i < 2000 && pc_of(0, 0, lane) != pc; i++)
		(void)step(0, 0, lane, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	assert_true(pc_of(0, 0, lane) == pc);
}

void start_whole(void)
{
	const uint64_t rounds = 3;
	device_open(&device, kernels, 4);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &i, 4, NULL), WS_OK);
	const uint64_t args[] = { device.out, device.in, rounds };
	device_launch(&device, "parts", 1, 32, args, 3);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
}

uint64_t go_to_meeting(void)
{
	uint64_t meet = find(WS_OP_BSYNC, 1); /* where all meet: the first is of the odd ones */
	step_lane_to(6, meet);
	return meet;
}

uint64_t start_parted(void)
{
	start_whole();
	return go_to_meeting();
}

uint32_t load_text(const char *text)
{
	struct ws_assembly *assembly;
	uint32_t module;
	assert_int_equal(ws_assemble((struct ws_str){ text, strlen(text) }, NULL, &assembly, NULL),
			 WS_OK);
	assert_int_equal(ws_sim_load(device.sim, ws_assembly_image(assembly), &module, NULL),
			 WS_OK);
	ws_assembly_destroy(assembly);
	return module;
}

uint64_t start_group(void)
{
	const uint32_t shapes[7] = { 0 }, adds = 0;
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "group_registers",
		.grid = { 1, 1, 1 },
		.block = { 128, 1, 1 },
		.args = (const void *const[]){ &device.out, &device.in, &device.in, shapes, &adds },
		.n_args = 5,
	};
	device_open(&device, group_kernels, 4);
	launch.module = device.module;
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	uint64_t product = find(WS_OP_HGMMA, 0), last = find(WS_OP_WARPGROUP, 0);
	for (unsigned n = 1; last < product; n++)
		last = find(WS_OP_WARPGROUP, n); /* DEPBAR; ARRIVE is before the product */
	GOOD(resumeWarpsUntilPC, DEV, 0, 0xf, product, 0);
	step_to(0, 2, last);
	return last;
}

const uint64_t host_frames[3] = { 0x401000, 0x402000, 0x7f0000001000 };
const struct ws_sim_launch host_launch = {
	.size = sizeof host_launch,
	.kernel = "calls",
	.grid = { 1, 1, 1 },
	.block = { 32, 1, 1 },
	.args = (const void *const[]){ &device.out },
	.n_args = 1,
	.host_tid = 4321,
	.host_stack = host_frames,
	.n_host_stack = 3,
	.is_system = true,
};
