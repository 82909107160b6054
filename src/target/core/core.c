/* SPDX-License-Identifier: Apache-2.0 */
/* A target over an open dump: core.h hands out what a target hands out, so this only forwards. */
#include <warpscope/core.h>
#include <warpscope/target.h>

#include "base/base.h"

struct core_target {
	struct ws_target base; /* first */
	struct ws_core *core;  /* owned if `own` */
	bool own;
};

static const struct ws_core *core_of(const struct ws_target *target)
{
	return ((const struct core_target *)target)->core;
}

static void core_close(struct ws_target *target)
{
	struct core_target *self = (struct core_target *)target;
	if (self->own)
		ws_core_close(self->core);
	wsi_free(self);
}

static void core_counts(const struct ws_target *target, struct ws_counts *ret_counts)
{
	ws_core_counts(core_of(target), ret_counts);
}

#define DEFINE_ELEMENT(kind, type)                                                        \
	static enum ws_status core_##kind(const struct ws_target *target, uint32_t index, \
					  type *ret_##kind, struct ws_error *err)         \
	{                                                                                 \
		return ws_core_##kind(core_of(target), index, ret_##kind, err);           \
	}

DEFINE_ELEMENT(device, struct ws_device)
DEFINE_ELEMENT(context, struct ws_context)
DEFINE_ELEMENT(image, struct ws_image)
DEFINE_ELEMENT(grid, struct ws_grid)
DEFINE_ELEMENT(sm, struct ws_sm)
DEFINE_ELEMENT(block, struct ws_block)
DEFINE_ELEMENT(warp, struct ws_warp)
DEFINE_ELEMENT(diagnostic, struct ws_diagnostic)

static enum ws_status core_lanes(const struct ws_target *target, uint32_t warp_index,
				 struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	return ws_core_lanes(core_of(target), warp_index, ret_lanes, ret_n, err);
}

static enum ws_status core_call_stack(const struct ws_target *target, uint32_t warp_index,
				      uint32_t lane, struct ws_return_address *ret_addresses,
				      uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	return ws_core_call_stack(core_of(target), warp_index, lane, ret_addresses, cap, ret_n,
				  err);
}

static enum ws_status core_registers(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				     uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				     struct ws_error *err)
{
	return ws_core_registers(core_of(target), warp_index, lane, kind, first, n, ret_values,
				 ret_n, err);
}

static enum ws_status core_dump_facts(const struct ws_target *target,
				      struct ws_dump_facts *ret_facts, struct ws_error *err)
{
	(void)err;
	ws_core_facts(core_of(target), ret_facts);
	return WS_OK;
}

static const struct ws_target_ops core_ops = {
	.size = sizeof core_ops,
	.name = "core",
	.close = core_close,
	.counts = core_counts,
	.device = core_device,
	.context = core_context,
	.image = core_image,
	.grid = core_grid,
	.sm = core_sm,
	.block = core_block,
	.warp = core_warp,
	.lanes = core_lanes,
	.call_stack = core_call_stack,
	.registers = core_registers,
	.dump_facts = core_dump_facts,
	.diagnostic = core_diagnostic,
};

enum ws_status ws_target_from_core(struct ws_core *core, bool own, struct ws_target **ret_target,
				   struct ws_error *err)
{
	struct core_target *self = wsi_zalloc(sizeof *self);
	if (!self)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "target over a dump");
	*self = (struct core_target){ .base.ops = &core_ops, .core = core, .own = own };
	*ret_target = &self->base;
	return WS_OK;
}

const struct ws_core *ws_target_core(const struct ws_target *target)
{
	return target->ops == &core_ops ? core_of(target) : NULL;
}
