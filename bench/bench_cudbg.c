/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-cudbg DUMP...: calls of the debugger API over a dump, as multiples of a floor: the same
 * reads from plain arrays, through a table of the same shape. The walk makes about ten calls a
 * lane.
 */
#include <warpscope/core.h>
#include <warpscope/cubin.h>
#include <warpscope/cudbg.h>

#include "bench.h"

enum { MAX_SMS = 256, WARPS = 64, LANES = 32, LOOKUPS = 100000, LEAST_SYMBOLS = 1000 };

static uint64_t sink; /* keeps the compiler from dropping what is measured */
static uint64_t n_calls;

/* ---- the floor: everything in plain arrays ---- */

struct plain_lane {
	uint64_t pc, rel_pc;
	CuDim3 thread;
	uint32_t exception, depth;
	uint32_t *regs;
	uint32_t preds[8];
	uint64_t ra[4], virtual_ra[4];
};

struct plain_warp {
	uint32_t valid, active, tid, n_regs, shared;
	uint64_t grid, error_pc;
	bool error_pc_valid;
	CuDim3 block, block_dim, grid_dim, cluster, cluster_dim;
	uint32_t uregs[64], upreds[8];
	struct plain_lane lane[LANES];
};

struct plain_sm {
	uint64_t valid, broken;
	uint32_t exception;
	struct plain_warp *warp[WARPS];
};

static struct plain_sm plain[MAX_SMS];
static uint32_t plain_sms;

#define FLOOR(name, type, value, ...)                                         \
	static CUDBGResult floor_##name(uint32_t dev, __VA_ARGS__, type *out) \
	{                                                                     \
		(void)dev;                                                    \
		*out = value;                                                 \
		return CUDBG_SUCCESS;                                         \
	}
#define SM uint32_t sm
#define WARP uint32_t sm, uint32_t wp
#define LANE uint32_t sm, uint32_t wp, uint32_t ln

FLOOR(readValidWarps, uint64_t, plain[sm].valid, SM)
FLOOR(readBrokenWarps, uint64_t, plain[sm].broken, SM)
FLOOR(readValidLanes, uint32_t, plain[sm].warp[wp]->valid, WARP)
FLOOR(readActiveLanes, uint32_t, plain[sm].warp[wp]->active, WARP)
FLOOR(readGridId, uint64_t, plain[sm].warp[wp]->grid, WARP)
FLOOR(readBlockIdx, CuDim3, plain[sm].warp[wp]->block, WARP)
FLOOR(getBlockDim, CuDim3, plain[sm].warp[wp]->block_dim, WARP)
FLOOR(getGridDim, CuDim3, plain[sm].warp[wp]->grid_dim, WARP)
FLOOR(getTID, uint32_t, plain[sm].warp[wp]->tid, WARP)
FLOOR(readClusterIdx, CuDim3, plain[sm].warp[wp]->cluster, WARP)
FLOOR(getClusterDim, CuDim3, plain[sm].warp[wp]->cluster_dim, WARP)
FLOOR(readThreadIdx, CuDim3, plain[sm].warp[wp]->lane[ln].thread, LANE)
FLOOR(readPC, uint64_t, plain[sm].warp[wp]->lane[ln].rel_pc, LANE)
FLOOR(readVirtualPC, uint64_t, plain[sm].warp[wp]->lane[ln].pc, LANE)
FLOOR(readLaneException, CUDBGException_t, (CUDBGException_t)plain[sm].warp[wp]->lane[ln].exception,
      LANE)
FLOOR(readCallDepth, uint32_t, plain[sm].warp[wp]->lane[ln].depth, LANE)
FLOOR(readReturnAddress, uint64_t, plain[sm].warp[wp]->lane[ln].ra[level], LANE, uint32_t level)
FLOOR(readVirtualReturnAddress, uint64_t, plain[sm].warp[wp]->lane[ln].virtual_ra[level], LANE,
      uint32_t level)

static CUDBGResult floor_readWarpResources(uint32_t dev, uint32_t sm, uint32_t wp,
					   CUDBGWarpResources *out)
{
	(void)dev;
	out->numRegisters = plain[sm].warp[wp]->n_regs;
	out->sharedMemSize = plain[sm].warp[wp]->shared;
	return CUDBG_SUCCESS;
}

static CUDBGResult floor_readErrorPC(uint32_t dev, uint32_t sm, uint32_t wp, uint64_t *pc,
				     bool *valid)
{
	(void)dev;
	*pc = plain[sm].warp[wp]->error_pc;
	*valid = plain[sm].warp[wp]->error_pc_valid;
	return CUDBG_SUCCESS;
}

static CUDBGResult floor_readRegisterRange60(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln,
					     uint32_t index, uint32_t n, uint32_t *registers)
{
	(void)dev;
	memcpy(registers, plain[sm].warp[wp]->lane[ln].regs + index, n * sizeof *registers);
	return CUDBG_SUCCESS;
}

static CUDBGResult floor_readPredicates(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t ln,
					uint32_t n, uint32_t *predicates)
{
	(void)dev;
	memcpy(predicates, plain[sm].warp[wp]->lane[ln].preds, n * sizeof *predicates);
	return CUDBG_SUCCESS;
}

static CUDBGResult floor_readUniformRegisterRange(uint32_t dev, uint32_t sm, uint32_t wp,
						  uint32_t first, uint32_t n, uint32_t *registers)
{
	(void)dev;
	memcpy(registers, plain[sm].warp[wp]->uregs + first, n * sizeof *registers);
	return CUDBG_SUCCESS;
}

static CUDBGResult floor_readUniformPredicates(uint32_t dev, uint32_t sm, uint32_t wp, uint32_t n,
					       uint32_t *predicates)
{
	(void)dev;
	memcpy(predicates, plain[sm].warp[wp]->upreds, n * sizeof *predicates);
	return CUDBG_SUCCESS;
}

/* A loop over the SM rows. */
static CUDBGResult floor_readDeviceExceptionState(uint32_t dev, uint64_t *mask, uint32_t words)
{
	(void)dev;
	for (uint32_t i = 0; i < words; i++)
		mask[i] = 0;
	for (uint32_t sm = 0; sm < plain_sms; sm++)
		if (plain[sm].exception)
			mask[sm / 64] |= 1ull << sm % 64;
	return CUDBG_SUCCESS;
}

/* Volatile, so that the calls stay indirect. */
static struct CUDBGAPI_st floor_table = {
	.readValidWarps = floor_readValidWarps,
	.readBrokenWarps = floor_readBrokenWarps,
	.readValidLanes = floor_readValidLanes,
	.readActiveLanes = floor_readActiveLanes,
	.readGridId = floor_readGridId,
	.readBlockIdx = floor_readBlockIdx,
	.getBlockDim = floor_getBlockDim,
	.getGridDim = floor_getGridDim,
	.getTID = floor_getTID,
	.readClusterIdx = floor_readClusterIdx,
	.getClusterDim = floor_getClusterDim,
	.readThreadIdx = floor_readThreadIdx,
	.readPC = floor_readPC,
	.readVirtualPC = floor_readVirtualPC,
	.readLaneException = floor_readLaneException,
	.readCallDepth = floor_readCallDepth,
	.readReturnAddress = floor_readReturnAddress,
	.readVirtualReturnAddress = floor_readVirtualReturnAddress,
	.readWarpResources = floor_readWarpResources,
	.readErrorPC = floor_readErrorPC,
	.readRegisterRange60 = floor_readRegisterRange60,
	.readPredicates = floor_readPredicates,
	.readUniformRegisterRange = floor_readUniformRegisterRange,
	.readUniformPredicates = floor_readUniformPredicates,
	.readDeviceExceptionState = floor_readDeviceExceptionState,
};

/* ---- what is measured ---- */

static void check(CUDBGResult result, const char *what)
{
	n_calls++;
	if (result == CUDBG_SUCCESS)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, cudbgGetErrorString(result));
	exit(1);
}
#define CALL(name, ...) check(api->name(__VA_ARGS__), #name)

static uint32_t n_preds, n_uregs, n_upreds;

static void walk_lane(CUDBGAPI api, uint32_t sm, uint32_t wp, uint32_t ln, uint32_t n_regs)
{
	uint64_t pc, virtual_pc, ra;
	uint32_t depth, registers[256], predicates[8];
	CuDim3 thread;
	CUDBGException_t exception;
	CALL(readPC, 0, sm, wp, ln, &pc);
	CALL(readVirtualPC, 0, sm, wp, ln, &virtual_pc);
	CALL(readLaneException, 0, sm, wp, ln, &exception);
	CALL(readThreadIdx, 0, sm, wp, ln, &thread);
	CALL(readCallDepth, 0, sm, wp, ln, &depth);
	CALL(readRegisterRange60, 0, sm, wp, ln, 0, n_regs, registers);
	CALL(readPredicates, 0, sm, wp, ln, n_preds, predicates);
	for (uint32_t level = 0; level < depth; level++) {
		CALL(readReturnAddress, 0, sm, wp, ln, level, &ra);
		sink += ra;
		CALL(readVirtualReturnAddress, 0, sm, wp, ln, level, &ra);
		sink += ra;
	}
	sink += pc + virtual_pc + (uint64_t)exception + thread.x + registers[n_regs - 1] +
		predicates[0];
}

static void walk_warp(CUDBGAPI api, uint32_t sm, uint32_t wp)
{
	uint32_t valid, active, tid, registers[64], predicates[8];
	uint64_t grid, pc;
	bool have_pc;
	CuDim3 a, b, c, d, e;
	CUDBGWarpResources resources;
	CALL(readValidLanes, 0, sm, wp, &valid);
	CALL(readActiveLanes, 0, sm, wp, &active);
	CALL(readGridId, 0, sm, wp, &grid);
	CALL(readBlockIdx, 0, sm, wp, &a);
	CALL(getBlockDim, 0, sm, wp, &b);
	CALL(getGridDim, 0, sm, wp, &c);
	CALL(getTID, 0, sm, wp, &tid);
	CALL(readClusterIdx, 0, sm, wp, &d);
	CALL(getClusterDim, 0, sm, wp, &e);
	CALL(readErrorPC, 0, sm, wp, &pc, &have_pc);
	CALL(readWarpResources, 0, sm, wp, &resources);
	CALL(readUniformRegisterRange, 0, sm, wp, 0, n_uregs, registers);
	CALL(readUniformPredicates, 0, sm, wp, n_upreds, predicates);
	sink += active + grid + pc + a.x + b.x + c.x + d.x + e.x + tid + registers[0];
	for (uint32_t ln = 0; ln < LANES; ln++)
		if (valid >> ln & 1)
			walk_lane(api, sm, wp, ln, resources.numRegisters);
}

static void walk(CUDBGAPI api)
{
	for (uint32_t sm = 0; sm < plain_sms; sm++) {
		uint64_t valid, broken;
		CALL(readValidWarps, 0, sm, &valid);
		CALL(readBrokenWarps, 0, sm, &broken);
		sink += broken;
		for (uint32_t wp = 0; wp < WARPS; wp++)
			if (valid >> wp & 1)
				walk_warp(api, sm, wp);
	}
}

/* ---- filling the arrays, by the API itself ---- */

static void fill_lane(CUDBGAPI api, uint32_t sm, uint32_t wp, uint32_t ln, struct plain_warp *warp)
{
	struct plain_lane *lane = &warp->lane[ln];
	CUDBGException_t exception;
	CALL(readPC, 0, sm, wp, ln, &lane->rel_pc);
	CALL(readVirtualPC, 0, sm, wp, ln, &lane->pc);
	CALL(readLaneException, 0, sm, wp, ln, &exception);
	lane->exception = (uint32_t)exception;
	CALL(readThreadIdx, 0, sm, wp, ln, &lane->thread);
	CALL(readCallDepth, 0, sm, wp, ln, &lane->depth);
	lane->regs = malloc(256 * sizeof *lane->regs);
	if (!lane->regs || lane->depth > 4)
		exit(1);
	CALL(readRegisterRange60, 0, sm, wp, ln, 0, warp->n_regs, lane->regs);
	CALL(readPredicates, 0, sm, wp, ln, n_preds, lane->preds);
	for (uint32_t i = 0; i < lane->depth; i++) {
		CALL(readReturnAddress, 0, sm, wp, ln, i, &lane->ra[i]);
		CALL(readVirtualReturnAddress, 0, sm, wp, ln, i, &lane->virtual_ra[i]);
	}
}

static void fill_warp(CUDBGAPI api, uint32_t sm, uint32_t wp)
{
	struct plain_warp *warp = plain[sm].warp[wp] = calloc(1, sizeof *warp);
	CUDBGWarpResources resources;
	if (!warp)
		exit(1);
	CALL(readValidLanes, 0, sm, wp, &warp->valid);
	CALL(readActiveLanes, 0, sm, wp, &warp->active);
	CALL(readGridId, 0, sm, wp, &warp->grid);
	CALL(readBlockIdx, 0, sm, wp, &warp->block);
	CALL(getBlockDim, 0, sm, wp, &warp->block_dim);
	CALL(getGridDim, 0, sm, wp, &warp->grid_dim);
	CALL(getTID, 0, sm, wp, &warp->tid);
	CALL(readClusterIdx, 0, sm, wp, &warp->cluster);
	CALL(getClusterDim, 0, sm, wp, &warp->cluster_dim);
	CALL(readErrorPC, 0, sm, wp, &warp->error_pc, &warp->error_pc_valid);
	CALL(readWarpResources, 0, sm, wp, &resources);
	warp->n_regs = resources.numRegisters;
	warp->shared = resources.sharedMemSize;
	CALL(readUniformRegisterRange, 0, sm, wp, 0, n_uregs, warp->uregs);
	CALL(readUniformPredicates, 0, sm, wp, n_upreds, warp->upreds);
	for (uint32_t ln = 0; ln < LANES; ln++)
		if (warp->valid >> ln & 1)
			fill_lane(api, sm, wp, ln, warp);
}

static void fill(CUDBGAPI api)
{
	CALL(getNumSMs, 0, &plain_sms);
	CALL(getNumPredicates, 0, &n_preds);
	CALL(getNumUniformRegisters, 0, &n_uregs);
	CALL(getNumUniformPredicates, 0, &n_upreds);
	for (uint32_t sm = 0; sm < plain_sms; sm++) {
		CUDBGException_t exception;
		uint64_t pc;
		bool valid;
		CALL(readSmException, 0, sm, &exception, &pc, &valid);
		plain[sm].exception = (uint32_t)exception;
		CALL(readValidWarps, 0, sm, &plain[sm].valid);
		CALL(readBrokenWarps, 0, sm, &plain[sm].broken);
		for (uint32_t wp = 0; wp < WARPS; wp++)
			if (plain[sm].valid >> wp & 1)
				fill_warp(api, sm, wp);
	}
}

static void empty(void)
{
	for (uint32_t sm = 0; sm < plain_sms; sm++)
		for (uint32_t wp = 0; wp < WARPS; wp++) {
			for (uint32_t ln = 0; plain[sm].warp[wp] && ln < LANES; ln++)
				free(plain[sm].warp[wp]->lane[ln].regs);
			free(plain[sm].warp[wp]);
		}
	memset(plain, 0, sizeof plain);
}

/* ---- the benchmarks ---- */

static void bench_walk(CUDBGAPI api, const struct ws_target *target)
{
	struct ws_counts n;
	ws_target_counts(target, &n);
	CUDBGAPI volatile floor_api = &floor_table;
	struct times times;
	for (int run = 0; run < RUNS; run++) {
		double begin = now();
		walk(floor_api);
		times.floor[run] = now() - begin;
		n_calls = 0;
		begin = now();
		walk(api);
		times.ours[run] = now() - begin;
	}
	double per_call = best(times.ours) / (double)n_calls * 1e9;
	print_ratio("walk", &times, full_size_limit(6, n.warps), 1e3, "ms");
	printf("  %-10s %llu calls, %.1f ns a call\n", "", (unsigned long long)n_calls, per_call);
}

static void bench_exceptions(CUDBGAPI api)
{
	enum { TIMES = 1000 };
	CUDBGAPI volatile floor_api = &floor_table;
	struct times times;
	uint64_t mask[4];
	for (int run = 0; run < RUNS; run++) {
		double begin = now();
		for (int i = 0; i < TIMES; i++)
			floor_api->readDeviceExceptionState(0, mask, 4);
		times.floor[run] = now() - begin;
		begin = now();
		for (int i = 0; i < TIMES; i++)
			CALL(readDeviceExceptionState, 0, mask, 4);
		times.ours[run] = now() - begin;
		sink += mask[0];
	}
	print_ratio("exceptions", &times, 4, 1e9 / TIMES, "ns");
}

/* The floor of a full response: all rows of the target once, and the bytes written once. */
static void touch_rows(const struct ws_target *target, uint8_t *out)
{
	struct ws_counts n;
	struct ws_error err;
	ws_target_counts(target, &n);
	for (uint32_t i = 0; i < n.sms; i++) {
		struct ws_sm sm;
		must(ws_target_sm(target, i, &sm, &err), &err);
		sink += sm.n_warps;
	}
	for (uint32_t w = 0; w < n.warps; w++) {
		struct ws_warp warp;
		struct ws_block block;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n_lanes;
		must(ws_target_warp(target, w, &warp, &err), &err);
		must(ws_target_block(target, warp.block_index, &block, &err), &err);
		must(ws_target_lanes(target, w, lanes, &n_lanes, &err), &err);
		for (uint32_t l = 0; l < n_lanes; l++)
			memcpy(out + (w * LANES + l) * 8ul, &lanes[l].pc, 8);
	}
}

static void bench_device_info(CUDBGAPI api, const struct ws_target *target)
{
	struct ws_counts n;
	ws_target_counts(target, &n);
	struct times times;
	CUDBGDeviceInfoSizes sizes;
	CALL(getDeviceInfoSizes, 0, &sizes);
	uint8_t *buffer = malloc(sizes.requiredBufferSize);
	uint32_t length = 0;
	if (!buffer)
		exit(1);
	for (int run = 0; run < RUNS; run++) {
		double begin = now();
		touch_rows(target, buffer);
		times.floor[run] = now() - begin;
		begin = now();
		CALL(getDeviceInfo, 0, CUDBG_RESPONSE_TYPE_FULL, buffer, sizes.requiredBufferSize,
		     &length);
		times.ours[run] = now() - begin;
	}
	print_ratio("devinfo", &times, full_size_limit(3, n.warps), 1e3, "ms");
	free(buffer);
}

struct symbol {
	char name[64];
	uint64_t address;
};

static int symbol_by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static int symbol_by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct symbol *)a)->address, y = ((const struct symbol *)b)->address;
	return (x > y) - (x < y);
}

/* Functions of all images that have an address. */
static size_t all_symbols(const struct ws_target *target, struct symbol **ret_symbols)
{
	struct ws_counts n;
	struct symbol *symbols = NULL;
	size_t count = 0;
	ws_target_counts(target, &n);
	for (uint32_t i = 0; i < n.modules; i++) {
		struct ws_module module;
		struct ws_cubin *cubin = NULL;
		const struct ws_function *functions = NULL;
		size_t n_functions = 0;
		struct ws_error err;
		must(ws_target_module(target, i, &module, &err), &err);
		must(ws_cubin_open(module.relocated, &cubin, &err), &err);
		must(ws_cubin_functions(cubin, &functions, &n_functions, &err), &err);
		symbols = realloc(symbols, (count + n_functions) * sizeof *symbols);
		for (size_t f = 0; f < n_functions; f++) {
			if (!functions[f].gpu_va || functions[f].symbol.len >= 64)
				continue;
			struct symbol *to = &symbols[count++];
			memcpy(to->name, functions[f].symbol.ptr, functions[f].symbol.len);
			to->name[functions[f].symbol.len] = '\0';
			to->address = functions[f].gpu_va;
		}
		ws_cubin_close(cubin);
	}
	*ret_symbols = symbols;
	return count;
}

static void bench_symbols(CUDBGAPI api, const struct ws_target *target)
{
	struct symbol *names;
	size_t n = all_symbols(target, &names);
	if (n < LEAST_SYMBOLS) { /* too few for a search to be the question */
		free(names);
		return;
	}
	struct symbol *addresses = malloc(n * sizeof *addresses);
	memcpy(addresses, names, n * sizeof *names);
	qsort(names, n, sizeof *names, symbol_by_name);
	qsort(addresses, n, sizeof *addresses, symbol_by_address);
	struct times by_name, by_address;
	for (int run = 0; run < RUNS; run++) {
		double begin = now();
		for (size_t i = 0; i < LOOKUPS; i++) {
			const struct symbol *key = &names[i * 7919 % n];
			sink += (uint64_t)(uintptr_t)bsearch(key, names, n, sizeof *names,
							     symbol_by_name);
		}
		by_name.floor[run] = now() - begin;
		begin = now();
		for (size_t i = 0; i < LOOKUPS; i++) {
			bool found;
			uintptr_t address;
			CALL(lookupDeviceCodeSymbol, names[i * 7919 % n].name, &found, &address);
			sink += address;
		}
		by_name.ours[run] = now() - begin;
		uint8_t code[16];
		begin = now();
		for (size_t i = 0; i < LOOKUPS; i++) {
			const struct symbol *key = &addresses[i * 7919 % n];
			const struct symbol *hit =
				bsearch(key, addresses, n, sizeof *addresses, symbol_by_address);
			memcpy(code, hit, sizeof code);
			sink += code[3];
		}
		by_address.floor[run] = now() - begin;
		begin = now();
		for (size_t i = 0; i < LOOKUPS; i++) {
			CALL(readCodeMemory, 0, addresses[i * 7919 % n].address, code, 16);
			sink += code[3];
		}
		by_address.ours[run] = now() - begin;
	}
	printf("  %zu functions\n", n);
	print_ratio("symbol", &by_name, 3, 1e9 / LOOKUPS, "ns");
	print_ratio("code", &by_address, 8, 1e9 / LOOKUPS, "ns");
	free(names);
	free(addresses);
}

static void bench(const char *path)
{
	struct ws_target *target;
	struct ws_error err;
	CUDBGAPI api;
	must(ws_core_open(path, NULL, &target, &err), &err);
	must(ws_cudbg_api(target, &api, &err), &err);
	double begin = now();
	check(api->initialize(), "initialize");
	printf("%s: initialize %.3f ms\n", path, (now() - begin) * 1e3);
	fill(api);
	bench_walk(api, target);
	bench_exceptions(api);
	bench_device_info(api, target);
	bench_symbols(api, target);
	ws_cudbg_release(api);
	ws_target_close(target);
	empty();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	return sink == 42;
}
