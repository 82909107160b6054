/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_target.h"

#include "base/base.h"

static const struct fake_target *fake_of(const struct ws_target *target)
{
	return (const struct fake_target *)target;
}

static enum ws_status fake_registers(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				     uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				     struct ws_error *err)
{
	(void)target;
	(void)warp_index;
	(void)lane;
	(void)kind;
	(void)first;
	(void)n;
	(void)ret_values;
	(void)ret_n;
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "a fake has no registers");
}

static void fake_close(struct ws_target *target)
{
	(void)target;
}

static enum ws_status fail(enum ws_status st, const char *what, struct ws_error *err)
{
	return st == WS_OK ? WS_OK : wsi_fail(err, st, 0x123, "%s is scripted to fail", what);
}

static enum ws_status fake_device(const struct ws_target *target, uint32_t index,
				  struct ws_device *ret_device, struct ws_error *err)
{
	(void)index;
	(void)err;
	*ret_device = fake_of(target)->device;
	return WS_OK;
}

static enum ws_status fake_image(const struct ws_target *target, uint32_t index,
				 struct ws_image *ret_image, struct ws_error *err)
{
	(void)index;
	(void)err;
	*ret_image = fake_of(target)->image;
	return WS_OK;
}

static enum ws_status fake_grid(const struct ws_target *target, uint32_t index,
				struct ws_grid *ret_grid, struct ws_error *err)
{
	(void)err;
	*ret_grid = fake_of(target)->grid[index];
	return WS_OK;
}

static enum ws_status fake_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			      struct ws_error *err)
{
	(void)err;
	*ret_sm = fake_of(target)->sm[index];
	return WS_OK;
}

static enum ws_status fake_block(const struct ws_target *target, uint32_t index,
				 struct ws_block *ret_block, struct ws_error *err)
{
	(void)err;
	*ret_block = fake_of(target)->block[index];
	return WS_OK;
}

static enum ws_status fake_warp(const struct ws_target *target, uint32_t index,
				struct ws_warp *ret_warp, struct ws_error *err)
{
	const struct fake_target *fake = fake_of(target);
	if (fake->warp_status[index] == WS_OK)
		*ret_warp = fake->warp[index];
	return fail(fake->warp_status[index], "warp", err);
}

static enum ws_status fake_lanes(const struct ws_target *target, uint32_t warp_index,
				 struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	const struct fake_target *fake = fake_of(target);
	if (fake->lanes_status[warp_index] == WS_OK) {
		memcpy(ret_lanes, fake->lane[warp_index], sizeof fake->lane[warp_index]);
		*ret_n = fake->n_lanes[warp_index];
	}
	return fail(fake->lanes_status[warp_index], "lanes", err);
}

static enum ws_status fake_call_stack(const struct ws_target *target, uint32_t warp_index,
				      uint32_t lane, struct ws_return_address *ret_addresses,
				      uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	const struct fake_target *fake = fake_of(target);
	(void)warp_index;
	(void)lane;
	(void)err;
	for (uint32_t i = 0; i < fake->n_callers && i < cap; i++)
		ret_addresses[i] = fake->callers[i];
	*ret_n = fake->n_callers;
	return WS_OK;
}

static enum ws_status fake_facts(const struct ws_target *target, struct ws_dump_facts *ret_facts,
				 struct ws_error *err)
{
	if (!fake_of(target)->has_facts)
		return fail(WS_UNSUPPORTED, "facts", err);
	*ret_facts = fake_of(target)->facts;
	return WS_OK;
}

static enum ws_status fake_diagnostic(const struct ws_target *target, uint32_t index,
				      struct ws_diagnostic *ret_diagnostic, struct ws_error *err)
{
	if (!fake_of(target)->has_facts)
		return fail(WS_UNSUPPORTED, "diagnostic", err);
	if (index >= fake_of(target)->n_diagnostics)
		return fail(WS_ABSENT, "diagnostic", err);
	*ret_diagnostic = fake_of(target)->diagnostics[index];
	return WS_OK;
}

static const struct ws_target_ops fake_ops = {
	.name = "fake",
	.close = fake_close,
	.device = fake_device,
	.image = fake_image,
	.grid = fake_grid,
	.sm = fake_sm,
	.block = fake_block,
	.warp = fake_warp,
	.lanes = fake_lanes,
	.call_stack = fake_call_stack,
	.registers = fake_registers,
	.dump_facts = fake_facts,
	.diagnostic = fake_diagnostic,
};

void fake_target_init(struct fake_target *fake, uint32_t n_sms, uint32_t n_lanes)
{
	assert(n_sms <= FAKE_MAX_SMS && n_lanes > 0 && n_lanes <= WS_MAX_LANES);
	*fake = (struct fake_target){
		.target = { .ops = &fake_ops,
			    .counts = { .devices = 1,
					.grids = 1,
					.sms = n_sms,
					.blocks = n_sms,
					.warps = n_sms } },
		.device = { .instruction_bytes = 16, .n_sms = n_sms },
		.grid = { { .context_index = WS_NONE,
			    .image_index = WS_NONE,
			    .id = 1,
			    .function_entry = 0x1000 } },
		.image = { .context_index = WS_NONE, .original_status = WS_ABSENT },
	};
	uint32_t all = n_lanes == 32 ? UINT32_MAX : (1u << n_lanes) - 1;
	for (uint32_t i = 0; i < n_sms; i++) {
		fake->sm[i] = (struct ws_sm){
			.have = WS_SM_EXCEPTION, .id = i, .first_warp_index = i, .n_warps = 1
		};
		fake->block[i] =
			(struct ws_block){ .sm_index = i, .grid_id = 1, .idx = { i, 0, 0 } };
		fake->warp[i] = (struct ws_warp){
			.sm_index = i, .block_index = i, .valid_lanes = all, .active_lanes = all
		};
		fake->n_lanes[i] = n_lanes;
		for (uint32_t k = 0; k < n_lanes; k++)
			fake->lane[i][k] =
				(struct ws_lane){ .id = k, .pc = 0x1000, .thread = { k, 0, 0 } };
	}
}
