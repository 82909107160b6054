/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump that was generated at a stop answers each question of the API as the device that stands:
 * every function that tells of state, with every place and many arguments, over both tables. What
 * differs is in `differences`, with the reason; a row of it that nothing needs fails as well.
 *
 * usage: test_live_dump KERNELS...    the fatbins of test_live
 */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/join.h>

/* ---- which answers may differ ---- */

/* What both said, where the difference is to be looked at. */
struct answers {
	CUDBGResult live, dump;
	const uint8_t *of_live, *of_dump; /* the first output */
	size_t n;                         /* its bytes */
};

static bool was_hit; /* at this stop a warp stands at a breakpoint */

static bool at_breakpoint(const struct answers *both)
{
	(void)both;
	return was_hit;
}

static bool nothing_but_zeros(const struct answers *both)
{
	return both->n && both->of_live[0] == 0 &&
	       memcmp(both->of_live, both->of_live + 1, both->n - 1) == 0;
}

static bool no_longer_listed(const struct answers *both)
{
	return both->of_live[0] == CUDBG_GRID_STATUS_UNDETERMINED &&
	       both->of_dump[0] == CUDBG_GRID_STATUS_INVALID;
}

static bool of_one_lane(const struct answers *both)
{
	return both->of_live[0] == CUDBG_BARRIER_SCOPE_WARP &&
	       both->of_dump[0] == CUDBG_BARRIER_SCOPE_NONE;
}

static bool joined; /* two devices, which have the same addresses */

static bool of_two_devices(const struct answers *both)
{
	(void)both;
	return joined;
}

#define AMBIGUOUS CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS
#define NOT_IN_MEM CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM
#define PAST_END CUDBG_ERROR_INVALID_MEMORY_ACCESS

static struct difference {
	const char *function;
	CUDBGResult live, dump;
	bool (*when)(const struct answers *both); /* NULL: always */
	unsigned n;
} differences[] = {
	/* Local memory has 64 KiB a thread; that of a warp that never used it is not written. */
	{ "readLocalMemory", CUDBG_SUCCESS, CUDBG_ERROR_MISSING_DATA, nothing_but_zeros, 0 },
	{ "readGenericMemory", CUDBG_SUCCESS, NOT_IN_MEM, nothing_but_zeros, 0 },
	{ "readGlobalMemory55", CUDBG_SUCCESS, NOT_IN_MEM, nothing_but_zeros, 0 },
	{ "readGlobalMemory31", CUDBG_SUCCESS, NOT_IN_MEM, nothing_but_zeros, 0 },
	/* A file has no host behind it. */
	{ "readPinnedMemory", CUDBG_ERROR_MEMORY_MAPPING_FAILED, CUDBG_ERROR_MISSING_DATA, NULL,
	  0 },
	{ "readPinnedMemory", CUDBG_SUCCESS, CUDBG_ERROR_MISSING_DATA, NULL, 0 },
	{ "getHostAddrFromDeviceAddr", CUDBG_SUCCESS, CUDBG_ERROR_INVALID_MEMORY_SEGMENT, NULL, 0 },
	{ "readCPUCallStack", CUDBG_SUCCESS, CUDBG_ERROR_MISSING_DATA, NULL, 0 },
	/* The format has no room for handles, */
	{ "getWarpHitBreakpoint", CUDBG_SUCCESS, CUDBG_SUCCESS, at_breakpoint, 0 },
	{ "getDeviceInfo", CUDBG_SUCCESS, CUDBG_SUCCESS, at_breakpoint, 0 },
	/* for grids that are no longer listed, */
	{ "getGridStatus", CUDBG_SUCCESS, CUDBG_SUCCESS, no_longer_listed, 0 },
	{ "getGridStatus50", CUDBG_SUCCESS, CUDBG_SUCCESS, no_longer_listed, 0 },
	/* for the order in which functions were loaded, */
	{ "getLoadedFunctionInfo", CUDBG_SUCCESS, CUDBG_SUCCESS, NULL, 0 },
	{ "getLoadedFunctionInfo118", CUDBG_SUCCESS, CUDBG_SUCCESS, NULL, 0 },
	/* and has the barrier of all active lanes of a warp, not of each. */
	{ "getHardwareBarrierInfo", CUDBG_SUCCESS, CUDBG_SUCCESS, of_one_lane, 0 },
	/* Two devices have other memory at one address; the format has one address space. */
	{ "readGlobalMemory", AMBIGUOUS, NOT_IN_MEM, of_two_devices, 0 },
	{ "readConstMemory129", AMBIGUOUS, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGlobalMemory31", CUDBG_SUCCESS, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGlobalMemory31", PAST_END, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGlobalMemory55", CUDBG_SUCCESS, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGlobalMemory55", PAST_END, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGenericMemory", CUDBG_SUCCESS, NOT_IN_MEM, of_two_devices, 0 },
	{ "readGenericMemory", PAST_END, NOT_IN_MEM, of_two_devices, 0 },
	{ "readParamMemory", CUDBG_SUCCESS, CUDBG_ERROR_INVALID_ARGS, of_two_devices, 0 },
	/* What a debugger may ask for is no state. */
	{ "getSupportedDebuggerCapabilities", CUDBG_SUCCESS, CUDBG_SUCCESS, NULL, 0 },
};

static bool is_allowed(const char *function, const struct answers *both)
{
	for (size_t i = 0; i < WSI_COUNT(differences); i++) {
		struct difference *d = &differences[i];
		if (strcmp(d->function, function) != 0 || d->live != both->live ||
		    d->dump != both->dump || (d->when && !d->when(both)))
			continue;
		d->n++;
		return true;
	}
	return false;
}

/* ---- one question to both ---- */

static CUDBGAPI dump_api;
static unsigned n_questions, n_answers, n_wrong;

static const char *words_of(const struct api_call *call)
{
	static char text[300];
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	size_t n = (size_t)snprintf(text, sizeof text, "%s(", fn->name);
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].way == WSI_API_VALUE && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, " %s 0x%llx",
					      fn->args[i].name,
					      (unsigned long long)call->v[i].number);
		else if (fn->args[i].string && n < sizeof text)
			n += (size_t)snprintf(text + n, sizeof text - n, " %s '%s'",
					      fn->args[i].name, (char *)call->v[i].pointer);
	return text;
}

/* Outputs, and images that they lead to. */
static bool same_outputs(const struct api_call *a, const struct api_call *b)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[a->slot];
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (!wsi_api_comes_out(arg))
			continue;
		if (arg->image < 0) {
			if (memcmp(a->v[i].pointer, b->v[i].pointer, a->bytes[i]) != 0)
				return false;
			continue;
		}
		void *of_a, *of_b;
		uint32_t size; /* no image here has 4 GiB */
		memcpy(&of_a, a->v[i].pointer, sizeof of_a);
		memcpy(&of_b, b->v[i].pointer, sizeof of_b);
		memcpy(&size, a->v[arg->image].pointer, sizeof size);
		if (memcmp(a->v[arg->image].pointer, b->v[arg->image].pointer,
			   a->bytes[arg->image]) != 0 ||
		    memcmp(of_a, of_b, size) != 0)
			return false;
	}
	return true;
}

static void compare(struct api_call *a, const char *string)
{
	struct api_call b;
	CUDBGResult live, dump;
	const struct wsi_api_fn *fn = &wsi_api_functions[a->slot];
	api_call_buffers(a);
	b = *a;
	memset(b.block, 0, sizeof b.block);
	api_call_buffers(&b);
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].string)
			for (int k = 0; k < 2; k++)
				snprintf((k ? &b : a)->v[i].pointer, a->bytes[i], "%s", string);
	const char *wrong = api_call_run(a, api, &live);
	wrong = wrong ? wrong : api_call_run(&b, dump_api, &dump);
	if (wrong)
		fail_msg("%s", wrong);
	n_questions++;
	n_answers += live == CUDBG_SUCCESS;
	if (live != dump || (live == CUDBG_SUCCESS && !same_outputs(a, &b))) {
		unsigned out = 0;
		while (!wsi_api_comes_out(&fn->args[out]))
			out++;
		const struct answers both = { live, dump, a->v[out].pointer, b.v[out].pointer,
					      a->bytes[out] };
		if (!is_allowed(fn->name, &both) && n_wrong++ < 20)
			print_error("%s): the device %s, the dump %s\n", words_of(a),
				    cudbgGetErrorString(live), cudbgGetErrorString(dump));
	}
	api_call_fini(a);
	api_call_fini(&b);
}

/* ---- all questions of a stop ---- */

enum { MAX_VALUES = 40, MAX_PLACES = 400 };

/* What an argument may be; the first row that fits counts. */
static uint64_t values[MAX_VALUES];
static unsigned n_values;

static void add(uint64_t value)
{
	assert_true(n_values < MAX_VALUES);
	values[n_values++] = value;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A function that tells of state, of images, or of the device; and not of the session, its events
 * and breakpoints. */
static bool tells_of_state(const struct wsi_api_fn *fn)
{
	static const char *const other[] = { "getNextEvent", "getNextSyncEvent",
					     "getNextAsyncEvent", "getErrorStringEx" };
	static const char *const more[] = { "disassemble", "isDeviceCodeAddress",
					    "lookupDeviceCodeSymbol", "memcheckReadErrorAddress" };
	for (size_t i = 0; i < WSI_COUNT(other); i++)
		if (begins(fn->name, other[i]))
			return false;
	for (size_t i = 0; i < WSI_COUNT(more); i++)
		if (begins(fn->name, more[i]))
			return true;
	return begins(fn->name, "read") || begins(fn->name, "get");
}

static uint32_t n_devices = 1;
static uint64_t code, shared_window, local_window;
static uint64_t host_memory, pinned_memory; /* its two addresses */

static void add_addresses(const char *function)
{
	if (strstr(function, "Code") || begins(function, "disassemble")) {
		for (uint64_t pc = 0; pc < 3; pc++)
			add(code + 8 * pc);
		add(code + 0x100000);
	} else if (strstr(function, "Shared")) {
		for (uint64_t at = 0; at <= 1024; at += 256)
			add(at);
		add(1 << 20);
	} else if (strstr(function, "Local")) {
		for (uint64_t at = 0; at < 64; at += 8)
			add(at);
		for (uint64_t at = 0xfffc00; at < 0x1000000; at += 128)
			add(at); /* where the stack ends */
		add(1 << 30);
	} else if (strstr(function, "Param")) {
		for (uint64_t at = 0x200; at < 0x240; at += 8)
			add(at);
		add(0);
		add(1 << 20);
	} else {
		static const uint64_t at[] = { 0, 4, 128, 1024, 2, 4 * DEVICE_WORDS - 2 };
		for (size_t i = 0; i < WSI_COUNT(at); i++)
			add(device.out + at[i]);
		add(device.in);
		add(64);
		add(host_memory);
		add(pinned_memory);
		add(shared_window);
		add(shared_window + 1024);
		add(local_window);
		add(local_window + 0xffff80);
	}
}

static void add_values(const struct wsi_api_fn *fn, const struct wsi_api_arg *arg)
{
	static const struct {
		const char *name;
		unsigned n;
		uint64_t values[8];
	} known[] = {
		{ "gridId64", 6, { 0, 1, 2, 3, 41, 99 } },
		{ "gridId", 6, { 0, 1, 2, 3, 41, 99 } },
		{ "regno", 7, { 0, 1, 7, 30, 62, 100, 255 } },
		{ "index", 3, { 0, 9, 100 } },
		{ "numRegisters", 2, { 4, 90 } },
		{ "registers_size", 2, { 4, 30 } },
		{ "predicates_size", 2, { 7, 3 } },
		{ "level", 4, { 0, 1, 2, 9 } },
		{ "numAddrs", 2, { 1, 8 } },
		{ "attr", 8, { 0, 1, 2, 3, 4, 5, 6, 99 } },
		{ "numPairs", 1, { 1 } },
		{ "bank", 6, { 0, 1, 2, 3, 4, 17 } },
		{ "offset", 3, { 0, 0x210, 1 << 20 } },
		{ "handle", 4, { 0, 1, 2, 99 } },
		{ "startIndex", 2, { 0, 1 } },
		{ "numEntries", 1, { 4 } },
		{ "relocated", 2, { 0, 1 } },
		{ "adjAction", 3, { 0, 1, 2 } },
		{ "numWarpStates", 1, { 64 } },
		{ "memoryInfo_size", 1, { 4 } },
		{ "numWords", 2, { 1, 3 } },
		{ "bufSz", 1, { 300 } },
		{ "length", 1, { 1 << 19 } },
		{ "size", 1, { 1 << 19 } },
		{ "dim", 1, { 1 } },
	};
	n_values = 0;
	if (!strcmp(arg->name, "addr") || !strcmp(arg->name, "device_addr"))
		add_addresses(fn->name);
	else if (!strcmp(arg->name, "dev"))
		for (uint64_t dev = 0; dev < n_devices; dev++)
			add(dev);
	else if (!strcmp(arg->name, "sz"))
		add(strstr(fn->name, "Memory") ? 16 : 100);
	else if (!strcmp(arg->name, "type"))
		for (uint64_t type = 0; type < (begins(fn->name, "getElf") ? 3 : 1); type++)
			add(type);
	else if (strstr("address pc virtPC", arg->name))
		for (uint64_t pc = 0; pc < 4; pc++)
			add(code + 24 * pc);
	if (!strcmp(arg->name, "warpMask"))
		for (uint64_t wp = 0; wp < 9; wp++)
			add(1ull << wp);
	for (size_t i = 0; !n_values && i < WSI_COUNT(known); i++)
		for (unsigned k = 0; !strcmp(arg->name, known[i].name) && k < known[i].n; k++)
			add(known[i].values[k]);
	if (!n_values)
		add(0);
}

struct place {
	uint32_t sm, wp, ln;
};

static struct place places[MAX_PLACES];
static unsigned n_places;

/* Lanes of each warp that is there, and of a slot that is empty. */
static void find_places(void)
{
	static const uint32_t lanes[] = { 0, 1, 6, 7, 8, 9, 30, 31 };
	CUDBGBreakpointHandle handle;
	uint32_t n_sms;
	was_hit = false;
	n_places = 0;
	GOOD(getNumSMs, DEV, &n_sms);
	for (uint32_t sm = 0; sm < n_sms; sm++) {
		uint64_t mask = 1ull << 40, of_device;
		for (uint32_t dev = 0; dev < n_devices; dev++) {
			GOOD(readValidWarps, dev, sm, &of_device);
			mask |= of_device;
			for (uint32_t wp = 0; wp < 40; wp++)
				if (CALL(getWarpHitBreakpoint, dev, sm, wp, &handle) ==
				    CUDBG_SUCCESS)
					was_hit |= handle != CUDBG_BREAKPOINT_HANDLE_TRAP;
		}
		for (uint32_t wp = 0; wp < 64; wp++)
			for (size_t i = 0; mask >> wp & 1 && i < WSI_COUNT(lanes); i++) {
				assert_true(n_places < MAX_PLACES);
				places[n_places++] = (struct place){ sm, wp, lanes[i] };
			}
	}
}

/* Each value of the arguments from the `arg`th on; those before are set. */
static void ask_from(struct api_call *call, unsigned arg, const char *string)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	uint64_t own[MAX_VALUES];
	while (arg < fn->n_args &&
	       (fn->args[arg].way != WSI_API_VALUE || !strcmp(fn->args[arg].name, "sm") ||
		!strcmp(fn->args[arg].name, "wp") || !strcmp(fn->args[arg].name, "ln")))
		arg++;
	if (arg == fn->n_args) {
		struct api_call one = *call;
		compare(&one, string);
		return;
	}
	add_values(fn, &fn->args[arg]);
	unsigned n = n_values;
	memcpy(own, values, sizeof own);
	for (unsigned i = 0; i < n; i++) {
		call->v[arg].number = own[i];
		ask_from(call, arg + 1, string);
	}
}

static void ask(unsigned slot, const char *string)
{
	static const char *const names[] = { "sm", "wp", "ln" };
	int at[3];
	for (int k = 0; k < 3; k++)
		at[k] = api_arg(slot, names[k]);
	for (unsigned i = 0; i < n_places; i++) {
		const uint32_t place[] = { places[i].sm, places[i].wp, places[i].ln };
		struct api_call call = { .slot = slot };
		if ((at[0] < 0 && i) || (at[1] < 0 && i && places[i].sm == places[i - 1].sm) ||
		    (at[2] < 0 && i && places[i].wp == places[i - 1].wp &&
		     places[i].sm == places[i - 1].sm))
			continue; /* the same question */
		for (int k = 0; k < 3; k++)
			if (at[k] >= 0)
				call.v[at[k]].number = place[k];
		ask_from(&call, 0, string);
	}
}

static void ask_all_of(struct ws_target *target)
{
	static const char *const strings[] = { "calls", "parts", "%rd1", "%r3", "nobody" };
	struct ws_target *dump;
	struct ws_context context;
	GOOD(generateCoredump, api_call_file(), CUDBG_COREDUMP_DEFAULT_FLAGS);
	assert_int_equal(ws_core_open(api_call_file(), NULL, &dump, NULL), WS_OK);
	assert_int_equal(ws_cudbg_api(dump, &dump_api, NULL), WS_OK);
	assert_int_equal(dump_api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(ws_target_context(target, 0, &context, NULL), WS_OK);
	shared_window = context.shared_window_base;
	local_window = context.local_window_base;
	code = entry();
	find_places();
	n_questions = n_answers = n_wrong = 0;
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		bool has_string = false;
		if (!tells_of_state(fn))
			continue;
		for (unsigned i = 0; i < fn->n_args; i++)
			has_string = has_string || fn->args[i].string;
		for (size_t i = 0; i < (has_string ? WSI_COUNT(strings) : 1); i++)
			ask(slot, strings[i]);
	}
	ws_cudbg_release(dump_api);
	ws_target_close(dump);
	assert_int_equal(unlink(api_call_file()), 0);
	print_message("# %u questions, %u answers\n", n_questions, n_answers);
	assert_true(n_answers > 50 && n_questions > n_answers);
	assert_int_equal(n_wrong, 0);
}

static void ask_all(void)
{
	ask_all_of(device.target);
}

/* ---- the stops ---- */

static void amid_calls(void **state)
{
	(void)state;
	start_over("calls", 1, 40, false, NULL, 0);
	GOOD(setBreakpoint, DEV, find(WS_OP_RET, 0));
	GOOD0(resumeAllDevices);
	expect_stop();
	ask_all();
}

/* Lane 6 waits for the others to meet, some of which have not parted yet. */
static void amid_lanes_that_parted(void **state)
{
	(void)state;
	(void)start_parted();
	(void)step(0, 0, 6, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	ask_all();
}

static void at_a_barrier_of_the_block(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0);
	GOOD(resumeWarpsUntilPC, DEV, 0, 4, barrier + 16, 0); /* it waits there: early */
	GOOD(resumeWarpsUntilPC, DEV, 0, 2, barrier, 0);
	ask_all();
}

static void after_a_fault(void **state)
{
	(void)state;
	run_into_fault();
	expect_stop();
	ask_all();
}

static void at_a_trap(void **state)
{
	(void)state;
	run_into_trap();
	expect_stop();
	ask_all();
}

/* Grids that sleep, wait, run, have ended, and ended so long ago that they are not listed. */
static void amid_grids_of_the_device(void **state)
{
	(void)state;
	device_open(&device, children, 4);
	const uint64_t args[] = { device.out, 7 };
	for (uint32_t i = 0; i < 39; i++)
		device_launch(&device, "note", 1, 32, args, 2);
	device_launch(&device, "order", 1, 32, args, 1);
	device_launch(&device, "order", 1, 32, args, 1);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	for (uint32_t i = 0; i < 43; i++)
		stop_at_start();
	ask_all();
}

static void amid_a_cluster(void **state)
{
	(void)state;
	device_open(&device, cluster_kernels, 4);
	const uint64_t args[] = { device.out, device.in };
	device_launch(&device, "cluster_ring", 4, 64, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	uint64_t barrier = find(WS_OP_UCGABAR_WAIT, 0);
	GOOD(resumeWarpsUntilPC, DEV, 1, 3, barrier + WS_SASS_BYTES, 0); /* early */
	ask_all();
}

static void amid_unoptimised_code(void **state)
{
	(void)state;
	const char *optimised = kernels;
	kernels = debug_kernels;
	start_over("calls", 1, 40, false, NULL, 0);
	kernels = optimised;
	stop_at_start();
	(void)step(0, 1, UINT32_MAX, 150, 0);
	ask_all();
}

/* A warp of assembled code, `n` steps behind its start. */
static void stand_in(const char *text, uint32_t threads, uint32_t n)
{
	struct ws_sim_launch launch = { .size = sizeof launch,
					.kernel = "k",
					.grid = { 1, 1, 1 },
					.block = { threads, 1, 1 },
					.args = (const void *const[]){ &device.out },
					.n_args = 1 };
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	(void)step(0, 0, UINT32_MAX, n, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	ask_all();
}

static void behind_threads_that_ended(void **state)
{
	(void)state;
	stand_in(".arch sm_90a\n.kernel k\n.param out 8\nS2R R0, SR_LANEID\n"
		 "ISETP.GE.U32.AND P0, PT, R0, 0x8, PT\n@P0 EXIT\nNOP\nEXIT\n.end\n",
		 24, 3);
}

static void amid_registers_of_all_kinds(void **state)
{
	(void)state;
	stand_in(".arch sm_90a\n.kernel k\n.param out 8\nS2R R0, SR_LANEID\n"
		 "IADD3 R1, R0, 0x700, RZ\nRPCMOV.32 Rpc.LO, R0\nRPCMOV.32 Rpc.HI, R1\n"
		 "UMOV UR7, 0x77\nISETP.GE.U32.AND P0, PT, R0, 0x8, PT\n"
		 "ISETP.LT.U32.AND P5, PT, R0, 0x18, PT\n"
		 "UISETP.GE.U32.AND UP2, UPT, UR7, 0x8, UPT\nNOP\nEXIT\n.end\n",
		 32, 8);
}

/* NANOSLEEP and YIELD; lanes 0 to 7 wait for all. */
static void amid_threads_that_yield(void **state)
{
	(void)state;
	stand_in(".arch sm_90a\n.kernel k\n.param out 8\nYIELD\nS2R R0, SR_LANEID\n"
		 "ISETP.GE.U32.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(out)\nWARPSYNC.ALL\nNOP\n"
		 "on: NANOSLEEP 0x64\nEXIT\n.end\n",
		 32, 6);
}

static void amid_a_group_of_warps(void **state)
{
	(void)state;
	(void)start_group();
	(void)step(0, 2, UINT32_MAX, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
	ask_all();
}

/* setmaxnreg: one warp has given registers away. */
static void amid_registers_that_move(void **state)
{
	(void)state;
	CUDBGWarpResources resources;
	device_open(&device, bulk_kernels, 4);
	const uint64_t args[] = { device.out, device.in };
	device_launch(&device, "set_registers", 1, 256, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	do {
		(void)step(0, 0, UINT32_MAX, 1, 0);
		GOOD(readWarpResources, DEV, 0, 0, &resources);
	} while (resources.numRegisters != 40);
	ask_all();
}

/* Memory of the host, and managed memory; a launch whose stack was kept. */
static void amid_memory_of_the_host(void **state)
{
	(void)state;
	static uint32_t words[1024];
	device_open(&device, kernels, 4);
	host_memory = UINT64_C(0x200000000);
	words[0] = 7;
	assert_int_equal(ws_sim_map(device.sim, host_memory, words, sizeof words, NULL), WS_OK);
	assert_int_equal(ws_sim_launch(device.sim, &host_launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
	      CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES);
	stop_at_start();
	GOOD(getHostAddrFromDeviceAddr, DEV, host_memory, &pinned_memory);
	ask_all();
	host_memory = pinned_memory = 0;
}

/* Nothing runs: a grid has ended. */
static void when_all_has_ended(void **state)
{
	(void)state;
	start_over("calls", 1, 40, false, NULL, 0);
	GOOD0(resumeAllDevices);
	expect_end();
	GOOD(suspendAllDevices, 0);
	ask_all();
}

/* The first of two devices has a fault, the second one spins. */
static void on_two_devices(void **state)
{
	(void)state;
	static struct device other;
	static const char *const of[] = { "faults", "spins" };
	struct device *const devices[] = { &device, &other };
	struct ws_target *targets[2], *both;
	for (unsigned i = 0; i < 2; i++) {
		struct device *d = devices[i];
		device_open(d, kernels, 4);
		const uint64_t args[] = { i ? d->in : d->out, i ? d->out : d->in, 40 };
		device_launch(d, of[i], 1 + i, 64, args, i ? 2 : 3);
		device_debug(d);
		targets[i] = d->target;
	}
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
	assert_int_equal(route_open(both, &api), WS_OK);
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	begin_session();
	GOOD0(resumeAllDevices);
	expect_stop();
	n_devices = 2;
	joined = true;
	ask_all_of(both);
	n_devices = 1;
	joined = false;
	route_close(api);
	api = NULL;
	ws_target_close(both);
	device_close(&other);
}

/* A reason that nothing needs any more is wrong. */
static void all_that_may_differ_did(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(differences); i++)
		if (!differences[i].n)
			fail_msg("%s never differed so: row %zu", differences[i].function, i);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;
	live_images(argv + 1);
	const struct CMUnitTest tests[] = {
		TEST(amid_calls),
		TEST(amid_lanes_that_parted),
		TEST(at_a_barrier_of_the_block),
		TEST(after_a_fault),
		TEST(at_a_trap),
		TEST(amid_grids_of_the_device),
		TEST(amid_a_cluster),
		TEST(amid_unoptimised_code),
		TEST(behind_threads_that_ended),
		TEST(amid_registers_of_all_kinds),
		TEST(amid_threads_that_yield),
		TEST(amid_a_group_of_warps),
		TEST(amid_registers_that_move),
		TEST(amid_memory_of_the_host),
		TEST(when_all_has_ended),
		TEST(on_two_devices),
		cmocka_unit_test(all_that_may_differ_did),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
