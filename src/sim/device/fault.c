/* SPDX-License-Identifier: Apache-2.0 */
/* What stops a device. */
#include "sim/device/device.h"

static void record(struct wsi_run *run, uint32_t exception, uint32_t lanes, const char *format,
		   va_list args) WS_PRINTF(4, 0);

static void record(struct wsi_run *run, uint32_t exception, uint32_t lanes, const char *format,
		   va_list args)
{
	struct ws_sim *sim = run->sim;
	const struct wsi_warp *warp = run->warp;
	bool first = !sim->faulted && sim->late == 0;
	sim->faulted = true;
	if (!first)
		return;
	sim->late_age = warp->age;
	sim->fault = (struct ws_sim_fault){
		.exception = exception,
		.sm = warp->block->sm,
		.warp = warp->slot,
		.lanes = lanes,
		.block = warp->block->idx,
		.thread = warp->id * WSI_LANES + wsi_first_bit(lanes),
		.grid = warp->block->grid->id,
		.pc = run->pc,
		.error_pc = run->pc,
	};
	vsnprintf(sim->fault.text, sizeof sim->fault.text, format, args);
}

enum wsi_step wsi_fault(struct wsi_run *run, uint32_t exception, uint32_t lanes, const char *format,
			...)
{
	va_list args;
	va_start(args, format);
	record(run, exception, lanes, format, args);
	va_end(args);
	return WSI_STEP_FAULT;
}

enum wsi_step wsi_fault_at(struct wsi_run *run, uint32_t exception, uint32_t lane, uint64_t address,
			   const char *format, ...)
{
	va_list args;
	bool first = !run->sim->faulted && run->sim->late == 0;
	va_start(args, format);
	record(run, exception, 1u << lane, format, args);
	va_end(args);
	if (first) {
		run->sim->fault.has_address = true;
		run->sim->fault.address = address;
	}
	return WSI_STEP_FAULT;
}

void wsi_fault_target(struct wsi_run *run, uint32_t rank)
{
	const struct wsi_block *own = run->warp->block;
	const struct ws_dim3 c = own->cluster_dim, at = own->idx;
	if (rank >= c.x * c.y * c.z) /* none of the cluster */
		return;
	run->sim->fault.has_target = true;
	run->sim->fault.target = (struct ws_dim3){ at.x / c.x * c.x + rank % c.x,
						   at.y / c.y * c.y + rank / c.x % c.y,
						   at.z / c.z * c.z + rank / c.x / c.y };
}

bool wsi_fault_postpone(struct wsi_run *run, uint32_t lanes)
{
	struct ws_sim *sim = run->sim;
	if (run->no_memory)
		return false;
	if (sim->late == 0) { /* else an earlier one is to surface */
		sim->fault.lanes = lanes;
		sim->fault.thread = run->warp->id * WSI_LANES + wsi_first_bit(lanes);
	}
	if (sim->options.late == 0)
		return false;
	if (sim->late == 0)
		sim->late = sim->options.late;
	sim->faulted = false;
	run->n = 0; /* the turn is over */
	return true;
}

enum wsi_step wsi_fault_together(struct wsi_run *run)
{
	return wsi_fault_postpone(run, run->mask) ? WSI_STEP_NEXT : WSI_STEP_FAULT;
}

/* Where its warp is by now. */
static void surface(struct ws_sim *sim)
{
	struct ws_sim_fault *fault = &sim->fault;
	const struct wsi_warp *warp = NULL;
	for (size_t i = 0; i < sim->n_resident && !warp; i++)
		if (sim->resident[i] && sim->resident[i]->age == sim->late_age)
			warp = sim->resident[i];
	sim->faulted = true;
	sim->late = 0;
	fault->lanes &= warp ? warp->live : 0;
	if (!warp || warp->live == 0)
		fault->warp = UINT32_MAX;
	else
		fault->pc =
			wsi_lane_pc(warp, wsi_first_bit(fault->lanes ? fault->lanes : warp->live));
}

void wsi_fault_wait(struct ws_sim *sim, uint64_t n)
{
	if (sim->late > n && !sim->faulted) /* unless another one stops the device before */
		sim->late -= (uint32_t)n;
	else if (sim->late > 0)
		surface(sim);
}

bool ws_sim_fault(const struct ws_sim *sim, struct ws_sim_fault *ret_fault)
{
	if (sim->faulted)
		*ret_fault = sim->fault;
	return sim->faulted;
}

enum wsi_step wsi_run_illegal(struct wsi_run *run, const struct wsi_op *op)
{
	return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION, run->group,
			 "0x%016" PRIx64 "%016" PRIx64 " is not an instruction of sm_%u",
			 op->insn.word[1], op->insn.word[0], run->sim->device->sm);
}

enum wsi_step wsi_run_unimplemented(struct wsi_run *run, const struct wsi_op *op)
{
	char text[WS_SASS_TEXT_MAX];
	ws_sass_format(&op->insn, run->pc, NULL, text, sizeof text);
	return wsi_fault(run, WS_SIM_UNIMPLEMENTED, run->mask, "unimplemented instruction %.120s",
			 text);
}
