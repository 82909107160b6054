/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/fake.h"

/* The harness allocates for itself: it is no code of the library. */
#undef calloc
#undef exit
#undef free

_Atomic uint64_t harness_seen[WSI_API_SLOTS];

enum { GUARD_BYTE = 0x5c, FILL_BYTE = 0xa5, STRING_BYTES = 32 };

const char *api_call_file(void)
{
	static _Thread_local char path[STRING_BYTES];
	snprintf(path, sizeof path, "/tmp/ws-api-%ld", (long)getpid());
	return path;
}

int api_arg(unsigned slot, const char *name)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	for (unsigned i = 0; i < fn->n_args; i++)
		if (!strcmp(fn->args[i].name, name))
			return (int)i;
	return -1;
}

struct good_value {
	const char *function, *name; /* function NULL: of every function */
	uint64_t value;
};

/* The first row that fits counts. */
static const struct good_value good_values[] = {
	{ "readSharedMemory", "addr", 0 },
	{ "writeSharedMemory", "addr", 0 },
	{ "readLocalMemory", "addr", 0x1000 },
	{ "writeLocalMemory", "addr", 0x1000 },
	{ "readParamMemory", "addr", 0x210 },
	{ "writeParamMemory", "addr", 0x210 },
	{ "readCodeMemory", "addr", FAKE_CODE },
	{ "setBreakpoint", "addr", FAKE_CODE },
	{ "setBreakpoint31", "addr", FAKE_CODE },
	{ "insertBreakpoint", "addr", FAKE_CODE },
	{ "getNextEvent", "type", 0 },
	{ "getDeviceInfo", "type", 0 },
	{ "getElfImageByHandle", "type", 1 },
	{ "readUniformRegisterRange", "regno", 1 },
	{ "getElfImageByHandle", "handle", 0x100 },
	{ "getLoadedFunctionInfo", "handle", 0x100 },
	{ "getLoadedFunctionInfo118", "handle", 0x100 },
	{ "getHostAddrFromDeviceAddr", "device_addr", FAKE_MANAGED },
	{ "disassemble", "sz", 0 },
	{ NULL, "addr", FAKE_GLOBAL },
	{ NULL, "address", FAKE_CODE },
	{ NULL, "pc", FAKE_CODE },
	{ NULL, "virtPC", FAKE_CODE },
	{ NULL, "dev", 0 },
	{ NULL, "sm", 1 },
	{ NULL, "vsm", 1 },
	{ NULL, "sz", 16 },
	{ NULL, "size", 64 },
	{ NULL, "bufSz", 300 },
	{ NULL, "numRegisters", 4 },
	{ NULL, "registers_size", 4 },
	{ NULL, "predicates_size", 2 },
	{ NULL, "gridId64", 1 },
	{ NULL, "gridId", 1 },
	{ NULL, "attr", 1 },
	{ NULL, "numPairs", 1 },
	{ NULL, "numEntries", 2 },
	{ NULL, "warpMask", 1 },
	{ NULL, "nsteps", 1 },
	{ NULL, "laneHint", UINT32_MAX },
	{ NULL, "adjAction", 1 },
	{ NULL, "numWords", 3 },
	{ NULL, "memoryInfo_size", 4 },
	{ NULL, "length", 400000 },
	{ NULL, "dim", 1 },
	{ NULL, "numAddrs", 2 },
	{ NULL, "numMessages", 1 },
	{ NULL, "numRules", 1 },
	{ NULL, "numWarpStates", 1 },
	{ NULL, "bank", 3 },
	{ NULL, "handle", 1 },
};

void api_call_init(struct api_call *call, unsigned slot)
{
	memset(call, 0, sizeof *call);
	call->slot = slot;
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (fn->args[i].way != WSI_API_VALUE)
			continue;
		for (size_t g = 0; g < sizeof good_values / sizeof *good_values; g++) {
			const struct good_value *good = &good_values[g];
			if (strcmp(good->name, fn->args[i].name) ||
			    (good->function && strcmp(good->function, fn->name)))
				continue;
			call->v[i].number = good->value;
			break;
		}
	}
}

/* Counts that would need more than HARNESS_MAX_BYTES are cut: a client must not lie about these. */
static size_t buffer_bytes(struct api_call *call, unsigned i)
{
	const struct wsi_api_arg *arg = &wsi_api_functions[call->slot].args[i];
	if (arg->string)
		return STRING_BYTES;
	if (arg->count < 0)
		return arg->size;
	uint64_t most = HARNESS_MAX_BYTES / arg->size;
	if (call->v[arg->count].number > most)
		call->v[arg->count].number = most;
	return (size_t)call->v[arg->count].number * arg->size;
}

void api_call_buffers(struct api_call *call)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	for (unsigned i = 0; i < fn->n_args; i++) {
		const struct wsi_api_arg *arg = &fn->args[i];
		if (arg->way == WSI_API_VALUE)
			continue;
		size_t n = call->bytes[i] = arg->way == WSI_API_OPAQUE ? 0 : buffer_bytes(call, i);
		call->block[i] = calloc(1, n + 2 * HARNESS_GUARD);
		if (!call->block[i])
			exit(3);
		memset(call->block[i], GUARD_BYTE, n + 2 * HARNESS_GUARD);
		uint8_t *buffer = call->block[i] + HARNESS_GUARD;
		memset(buffer, arg->way == WSI_API_OUT ? FILL_BYTE : 0, n);
		if (arg->string)
			snprintf((char *)buffer, n, "%s",
				 strcmp(arg->name, "filename") ? "kernel" : api_call_file());
		if (arg->way == WSI_API_INOUT)
			for (size_t at = 0; at + sizeof(CUDBGAttributeValuePair) <= n;
			     at += sizeof(CUDBGAttributeValuePair))
				buffer[at] = 1;
		call->v[i].pointer = buffer;
	}
}

static bool all_bytes(const uint8_t *bytes, size_t n, uint8_t value)
{
	return n == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static const char *check_buffers(const struct api_call *call, CUDBGResult result)
{
	static char text[200];
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	for (unsigned i = 0; i < fn->n_args; i++) {
		const uint8_t *block = call->block[i];
		if (!block)
			continue;
		const uint8_t *buffer = block + HARNESS_GUARD;
		bool guards = all_bytes(block, HARNESS_GUARD, GUARD_BYTE) &&
			      all_bytes(buffer + call->bytes[i], HARNESS_GUARD, GUARD_BYTE);
		bool changed = fn->args[i].way == WSI_API_OUT &&
			       !all_bytes(buffer, call->bytes[i], FILL_BYTE);
		if (!guards || (changed && result != CUDBG_SUCCESS)) {
			snprintf(text, sizeof text, "%s: %s %s (%s)", fn->name, fn->args[i].name,
				 guards ? "was changed by a failed call" : "was overrun",
				 cudbgGetErrorString(result));
			return text;
		}
	}
	return NULL;
}

const char *api_call_run(struct api_call *call, CUDBGAPI api, CUDBGResult *ret_result)
{
	static char text[200];
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	CUDBGResult result = wsi_api_invoke(api, call->slot, call->v);
	if (ret_result)
		*ret_result = result;
	if ((unsigned)result >= 64 || !((fn->codes | fn->extensions) >> result & 1)) {
		snprintf(text, sizeof text, "%s answered %s, which the tables do not list",
			 fn->name, cudbgGetErrorString(result));
		return text;
	}
	harness_seen[call->slot] |= 1ull << result;
	return check_buffers(call, result);
}

bool api_bad_place(unsigned slot, const char *name, bool empty_slot, CUDBGResult *ret_expected)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	bool only_device = strstr(fn->name, "Generic") || strstr(fn->name, "Memory55") ||
			   strstr(fn->name, "readTexture");
	if (api_arg(slot, name) < 0 || api_arg(slot, "dev") != 0)
		return false;
	if (only_device && strcmp(name, "dev") != 0)
		return false; /* the others do not count for every address */
	*ret_expected = CUDBG_ERROR_INVALID_ARGS;
	if (fn->codes >> CUDBG_ERROR_INVALID_DEVICE & 1)
		*ret_expected = name[0] == 'd'   ? CUDBG_ERROR_INVALID_DEVICE
				: name[0] == 's' ? CUDBG_ERROR_INVALID_SM
				: name[0] == 'w' ? CUDBG_ERROR_INVALID_WARP
						 : CUDBG_ERROR_INVALID_LANE;
	else if (empty_slot && (fn->codes >> CUDBG_ERROR_INVALID_WARP & 1))
		*ret_expected = CUDBG_ERROR_INVALID_WARP;
	return true;
}

void api_call_fini(struct api_call *call)
{
	if (call->slot == SLOT(generateCoredump))
		(void)unlink(api_call_file());
	for (unsigned i = 0; i < WSI_API_MAX_ARGS; i++)
		free(call->block[i]);
	memset(call, 0, sizeof *call);
}
