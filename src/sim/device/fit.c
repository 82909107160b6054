/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fits on an SM, by the rules of CUDA's occupancy calculator.
 *
 * A warp gets its registers in units of 8 for each thread, from one of the four parts of its SM:
 * what is left of a part and too little for a warp is lost, so a warp takes the share of the SM
 * that one of as many as fit has. A block gets shared memory in units, with what the system takes
 * for itself. [public doc: cuda_occupancy.h of CUDA 13.0: 256 registers, 4 parts from compute
 * capability 3.0 on except 6.0; 256 bytes of shared memory on 7.x, 128 from 8.0 on]
 */
#include "sim/device/device.h"

enum { REG_UNIT = 8, PARTS = 4, MOST_REGS = 255, MOST_THREADS = 1024, LINE = 16 };

void ws_sim_limits(const struct ws_sim *sim, struct ws_sim_limits *ret_limits)
{
	const struct wsi_device *device = sim->device;
	*ret_limits = (struct ws_sim_limits){
		.sm = device->sm,
		.n_sms = sim->options.n_sms,
		.n_warps = device->warps,
		.n_blocks = device->blocks,
		.n_regs = device->regs * 1024,
		.sm_shared_bytes = device->smem * 1024,
		.block_shared_bytes = device->block * 1024,
		.kept_shared_bytes = (device->smem - device->block) * 1024,
		.memory_bytes = sim->options.memory_bytes,
		.heap_bytes = sim->options.heap_bytes,
		.print_bytes = sim->options.print_bytes,
	};
}

static uint32_t up(uint64_t n, uint32_t unit)
{
	return (uint32_t)wsi_min_u64((n + unit - 1) / unit * unit, UINT32_MAX / unit * unit);
}

uint32_t wsi_fit_regs(uint32_t n_regs)
{
	n_regs = n_regs > MOST_REGS ? MOST_REGS : n_regs;
	return up(n_regs > 0 ? n_regs : 1, REG_UNIT);
}

/* Warps that an SM has registers for. */
static uint32_t warps_of(const struct ws_sim_limits *limits, uint32_t n_regs)
{
	return limits->n_regs / PARTS / (wsi_fit_regs(n_regs) * WSI_LANES) * PARTS;
}

uint32_t wsi_fit_warp_share(const struct ws_sim_limits *limits, uint32_t n_regs)
{
	return limits->n_regs / warps_of(limits, n_regs);
}

uint64_t wsi_fit_shared(const struct ws_sim_limits *limits, uint32_t static_bytes,
			uint32_t dynamic_bytes)
{
	/* from sm_90 on, what the system takes lies in front and is part of the static memory */
	uint32_t front = limits->sm >= 90 ? limits->kept_shared_bytes : 0;
	return (uint64_t)up(static_bytes > front ? static_bytes : front, LINE) + dynamic_bytes;
}

uint32_t wsi_fit_shared_share(const struct ws_sim_limits *limits, uint64_t shared_bytes)
{
	uint32_t behind = limits->sm >= 90 ? 0 : limits->kept_shared_bytes;
	return up(shared_bytes + behind, wsi_fit_shared_unit(limits->sm));
}

uint32_t wsi_fit_shared_unit(uint32_t sm)
{
	return sm < 80 ? 256 : 128; /* [public doc: PTX, %total_smem_size] */
}

uint32_t ws_sim_threads_of_block(const struct ws_sim_limits *limits, uint32_t n_regs)
{
	uint32_t warps = warps_of(limits, n_regs);
	warps = warps < limits->n_warps ? warps : limits->n_warps;
	return warps * WSI_LANES < MOST_THREADS ? warps * WSI_LANES : MOST_THREADS;
}

uint32_t ws_sim_blocks_of_sm(const struct ws_sim_limits *limits, const struct ws_sim_need *need)
{
	uint64_t shared = wsi_fit_shared(limits, need->static_bytes, need->dynamic_bytes);
	uint32_t share = wsi_fit_shared_share(limits, shared);
	uint32_t warps = (uint32_t)(((uint64_t)need->threads + WSI_LANES - 1) / WSI_LANES);
	if (need->threads == 0 || need->threads > ws_sim_threads_of_block(limits, need->n_regs) ||
	    shared >
		    limits->block_shared_bytes + (limits->sm >= 90 ? limits->kept_shared_bytes : 0))
		return 0;
	uint64_t n = wsi_min_u64(limits->n_blocks, limits->n_warps / warps);
	n = wsi_min_u64(n, warps_of(limits, need->n_regs) / warps);
	if (share > 0)
		n = wsi_min_u64(n, limits->sm_shared_bytes / share);
	return (uint32_t)n;
}
