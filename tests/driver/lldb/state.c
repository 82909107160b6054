/* SPDX-License-Identifier: Apache-2.0 */
/* See 30-state.h: the state of a whole device in one answer, and what is asked for one warp of it.
 */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

enum { MOST_DEPTH = 16, MOST_REGISTERS = 256, SHOWN_UNIFORM = 6 };

static CUDBGAPI api;

bool failed(const char *what, CUDBGResult result)
{
	if (result == CUDBG_SUCCESS)
		return false;
	fprintf(stderr, "%s: %s\n", what, cudbgGetErrorString(result));
	return true;
}

/* A part of the answer of getDeviceInfo. */
struct answer {
	const uint8_t *at, *end;
};

static bool take(struct answer *a, void *ret, size_t n)
{
	if ((size_t)(a->end - a->at) < n)
		return false;
	memcpy(ret, a->at, n);
	a->at += n;
	return true;
}

/* The attributes that a word of flags names follow each other, in the order of their bits. */
static bool take_attributes(struct answer *a, uint32_t flags, const uint8_t *sizes,
			    const uint8_t *ret[32])
{
	for (unsigned i = 0; i < 32; i++) {
		uint32_t size;
		memcpy(&size, sizes + i * sizeof size, sizeof size);
		ret[i] = flags >> i & 1 ? a->at : NULL;
		if (ret[i] && (size_t)(a->end - a->at) < size)
			return false;
		a->at += ret[i] ? size : 0;
	}
	return true;
}

static uint64_t number(const uint8_t *at, size_t n, uint64_t otherwise)
{
	uint64_t value = 0;
	if (!at)
		return otherwise;
	memcpy(&value, at, n);
	return value;
}

static void show_place(const char *what, uint64_t pc)
{
	uint64_t begin = 0;
	const char *name = image_name(pc, &begin);
	printf("  %s 0x%" PRIx64 " %s+%" PRIu64 "\n", what, pc, name ? name : "?", pc - begin);
}

static void show_registers(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln)
{
	uint32_t n = 0, values[MOST_REGISTERS], uniform[SHOWN_UNIFORM], predicates[8], are_set = 0;
	CUDBGWarpResources has;
	if (failed("readWarpResources", api->readWarpResources(dev, sm, wp, &has)) ||
	    has.numRegisters > MOST_REGISTERS ||
	    failed("readRegisterRange60",
		   api->readRegisterRange60(dev, sm, wp, ln, 0, has.numRegisters, values)) ||
	    failed("getNumPredicates", api->getNumPredicates(dev, &n)) || n > 8 ||
	    failed("readPredicates", api->readPredicates(dev, sm, wp, ln, n, predicates)) ||
	    failed("readUniformRegisterRange",
		   api->readUniformRegisterRange(dev, sm, wp, 0, SHOWN_UNIFORM, uniform)))
		return;
	printf("  registers of lane %u:", ln);
	for (uint32_t i = 0; i < has.numRegisters; i++) {
		if (i % 8 == 0)
			printf("\n    R%u:", i);
		printf(" 0x%" PRIx32, values[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		are_set |= (uint32_t)(predicates[i] != 0) << i;
	printf("\n    predicates: 0x%" PRIx32 "\n    UR0:", are_set);
	for (uint32_t i = 0; i < SHOWN_UNIFORM; i++)
		printf(" 0x%" PRIx32, uniform[i]);
	printf("\n");
}

/* The lane to show: the first with an exception, else the first that runs. */
static uint32_t lane_of(uint32_t dev, uint32_t sm, uint32_t wp, const CUDBGWarpInfo *warp)
{
	CUDBGException_t exception;
	for (uint32_t ln = 0; ln < 32; ln++)
		if (warp->validLanes >> ln & 1 &&
		    api->readLaneException(dev, sm, wp, ln, &exception) == CUDBG_SUCCESS &&
		    exception != CUDBG_EXCEPTION_NONE)
			return ln;
	return (uint32_t)__builtin_ctz(warp->activeLanes ? warp->activeLanes
							 : warp->validLanes | 1u << 31);
}

static void show_warp(uint32_t dev, uint32_t sm, uint32_t wp, const CUDBGWarpInfo *warp,
		      const uint8_t *attributes[32], const uint64_t pc[32])
{
	const uint32_t ln = lane_of(dev, sm, wp, warp);
	const uint64_t exception = number(attributes[CUDBG_WARP_ATTRIBUTE_EXCEPTION], 4, 0);
	CUDBGGridStatus status = CUDBG_GRID_STATUS_INVALID;
	CUDBGGridInfo grid;
	uint32_t depth = 0;
	uint64_t ra;
	if (failed("getGridStatus", api->getGridStatus(dev, warp->gridId, &status)) ||
	    failed("getGridInfo", api->getGridInfo(dev, warp->gridId, &grid)))
		return;
	printf("device %u SM %u warp %u: grid %" PRIu64
	       " (status %d, %ux%ux%u blocks of %ux%ux%u), "
	       "block %u,%u,%u, thread %u,%u,%u and those behind it, lanes 0x%x\n",
	       dev, sm, wp, warp->gridId, (int)status, grid.gridDim.x, grid.gridDim.y,
	       grid.gridDim.z, grid.blockDim.x, grid.blockDim.y, grid.blockDim.z, warp->blockIdx.x,
	       warp->blockIdx.y, warp->blockIdx.z, warp->baseThreadIdx.x, warp->baseThreadIdx.y,
	       warp->baseThreadIdx.z, warp->activeLanes);
	show_place("pc", pc[ln]);
	if (exception) {
		printf("  exception %" PRIu64 "\n", exception);
		show_place("failed at",
			   number(attributes[CUDBG_WARP_ATTRIBUTE_ERRORPC], 8, pc[ln]));
	}
	if (!failed("readCallDepth", api->readCallDepth(dev, sm, wp, ln, &depth)))
		for (uint32_t i = 0; i < depth && i < MOST_DEPTH; i++)
			if (!failed("readVirtualReturnAddress",
				    api->readVirtualReturnAddress(dev, sm, wp, ln, i, &ra)))
				show_place("called from", ra);
	show_registers(dev, sm, wp, ln);
}

/* Shows a warp if it is why the device stands. False: the answer is not complete. */
static bool take_warp(struct answer *a, const CUDBGDeviceInfoSizes *sizes, uint32_t dev,
		      uint32_t sm, uint32_t wp, bool is_broken)
{
	CUDBGWarpInfo warp;
	const uint8_t *attributes[32];
	uint64_t pc[32] = { 0 };
	uint32_t lane_flags;
	if (!take(a, &warp, sizeof warp) ||
	    !take_attributes(a, warp.warpAttributeFlags,
			     (const uint8_t *)sizes +
				     offsetof(CUDBGDeviceInfoSizes, warpInfoAttributeSizes),
			     attributes))
		return false;
	const uint64_t lanes = warp.validLanes &
			       number(attributes[CUDBG_WARP_ATTRIBUTE_LANE_UPDATE_MASK], 4, ~0ull);
	const bool have_flags = attributes[CUDBG_WARP_ATTRIBUTE_LANE_ATTRIBUTES] != NULL;
	for (unsigned ln = 0; ln < 32; ln++)
		if (lanes >> ln & 1 && (!take(a, &pc[ln], sizeof pc[ln]) ||
					(have_flags && !take(a, &lane_flags, sizeof lane_flags))))
			return false;
	if (is_broken || attributes[CUDBG_WARP_ATTRIBUTE_EXCEPTION])
		show_warp(dev, sm, wp, &warp, attributes, pc);
	return true;
}

static bool take_device(struct answer *a, const CUDBGDeviceInfoSizes *sizes, uint32_t dev)
{
	CUDBGDeviceInfo info;
	CUDBGSMInfo sm_info;
	const uint8_t *device[32], *of_sm[32];
	uint32_t n_sms = 0, n_warps = 0;
	const uint8_t *base = (const uint8_t *)sizes;
	if (failed("getNumSMs", api->getNumSMs(dev, &n_sms)) ||
	    failed("getNumWarps", api->getNumWarps(dev, &n_warps)) ||
	    !take(a, &info, sizeof info) ||
	    !take_attributes(a, info.deviceAttributeFlags,
			     base + offsetof(CUDBGDeviceInfoSizes, deviceInfoAttributeSizes),
			     device))
		return false;
	const uint8_t *active = device[CUDBG_DEVICE_ATTRIBUTE_SM_ACTIVE_MASK];
	const uint8_t *updated = device[CUDBG_DEVICE_ATTRIBUTE_SM_UPDATE_MASK];
	for (uint32_t sm = 0; active && sm < n_sms; sm++) {
		if (!(active[sm / 8] >> sm % 8 & 1) ||
		    (updated && !(updated[sm / 8] >> sm % 8 & 1)))
			continue;
		if (!take(a, &sm_info, sizeof sm_info) ||
		    !take_attributes(a, sm_info.smAttributeFlags,
				     base + offsetof(CUDBGDeviceInfoSizes, smInfoAttributeSizes),
				     of_sm))
			return false;
		const uint64_t warps = sm_info.warpValidMask &
				       number(of_sm[CUDBG_SM_ATTRIBUTE_WARP_UPDATE_MASK], 8, ~0ull);
		for (uint32_t wp = 0; wp < n_warps; wp++)
			if (warps >> wp & 1 &&
			    !take_warp(a, sizes, dev, sm, wp, sm_info.warpBrokenMask >> wp & 1))
				return false;
	}
	return true;
}

void show_device(CUDBGAPI of, uint32_t dev)
{
	CUDBGDeviceInfoSizes sizes;
	uint32_t n = 0;
	api = of;
	if (failed("getDeviceInfoSizes", api->getDeviceInfoSizes(dev, &sizes)))
		return;
	uint8_t *buffer = malloc(sizes.requiredBufferSize);
	if (buffer &&
	    !failed("getDeviceInfo", api->getDeviceInfo(dev, CUDBG_RESPONSE_TYPE_FULL, buffer,
							sizes.requiredBufferSize, &n))) {
		struct answer answer = { buffer, buffer + n };
		if (!take_device(&answer, &sizes, dev))
			fprintf(stderr, "getDeviceInfo: the answer ends early\n");
	}
	free(buffer);
}
