/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation reads: its operands, and the addresses of its accesses. */
#ifndef WSI_SIM_OPERAND_H
#define WSI_SIM_OPERAND_H

#include "sim/device/device.h"

/* The vector of a source; `scratch` has room for 2 words of all lanes. NULL: a constant
 * that is not there; the fault is recorded. */
const uint32_t *wsi_sim_source(struct wsi_run *run, const struct wsi_alu_value *value,
			       uint32_t *scratch);
/* What the lanes' registers are added to. */
static inline uint64_t wsi_at_base(const struct wsi_warp *warp, const struct wsi_op_address *at)
{
	uint64_t base = (uint64_t)at->offset;
	if (at->ureg_words > 0)
		base += warp->uregs[at->ureg];
	if (at->ureg_words > 1)
		base += (uint64_t)warp->uregs[at->ureg + 1] << 32;
	return base;
}

/* Addresses of all lanes of `run->mask`. */
void wsi_addresses(const struct wsi_run *run, const struct wsi_op_address *at, bool wide,
		   uint64_t ret_addresses[WSI_LANES]);

wsi_handler wsi_run_values, wsi_run_load_constant;
wsi_preparer wsi_prepare_load_constant;

#endif
