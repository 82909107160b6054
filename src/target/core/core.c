/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target over an open dump: core.h hands out what a target hands out, so this mostly forwards.
 * Code is the one kind of memory that needs more: a dump has it in its relocated images only.
 */
#include <warpscope/core.h>
#include <warpscope/module.h>
#include <warpscope/target.h>

#include "base/base.h"

struct core_target {
	struct ws_target base; /* first */
	struct ws_core *core;  /* owned if `own` */
	bool own;
	struct ws_module_set *modules; /* owned: the images, opened when code is read */
};

static const struct core_target *self_of(const struct ws_target *target)
{
	return (const struct core_target *)target;
}

static const struct ws_core *core_of(const struct ws_target *target)
{
	return self_of(target)->core;
}

static void core_close(struct ws_target *target)
{
	struct core_target *self = (struct core_target *)target;
	ws_module_set_destroy(self->modules);
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

static enum ws_status core_lane(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				struct ws_lane *ret_lane, struct ws_error *err)
{
	return ws_core_lane(core_of(target), warp_index, lane, ret_lane, err);
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

/* Machine code, as it was loaded; what a debugger or the program wrote over it is not in a dump. */
static enum ws_status code_read(const struct core_target *self, const struct ws_address *at,
				uint8_t *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	struct ws_module_hint hint = { WS_NONE, at->device_index, WS_NONE };
	while (*ret_n < len) {
		struct ws_place place;
		struct ws_span left;
		uint64_t address = at->address + *ret_n;
		enum ws_status st = address < at->address
					    ? WS_ABSENT
					    : ws_module_set_find_address(self->modules, address,
									 &hint, &place, NULL);
		if (st != WS_OK)
			return wsi_fail(err, st, WS_NO_OFFSET,
					"no code at 0x%" PRIx64 " in the images of the dump",
					address);
		st = ws_module_bytes_at(&place, &left, err);
		if (st != WS_OK)
			return wsi_context(err, st, "the code at 0x%" PRIx64, address);
		size_t n = left.len < len - *ret_n ? left.len : len - *ret_n;
		memcpy(buffer + *ret_n, left.ptr, n);
		*ret_n += n;
		hint.module_index = place.module_index;
	}
	return WS_OK;
}

static enum ws_status core_read_memory(const struct ws_target *target, const struct ws_address *at,
				       void *buffer, size_t len, size_t *ret_n,
				       struct ws_error *err)
{
	if (at->space == WS_SPACE_CODE)
		return code_read(self_of(target), at, buffer, len, ret_n, err);
	return ws_core_read_memory(core_of(target), at, buffer, len, ret_n, err);
}

static enum ws_status core_memory_range(const struct ws_target *target, uint32_t index,
					struct ws_memory_range *ret_range, struct ws_error *err)
{
	return ws_core_memory_range(core_of(target), index, ret_range, err);
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
	.lane = core_lane,
	.call_stack = core_call_stack,
	.registers = core_registers,
	.read_memory = core_read_memory,
	.memory_range = core_memory_range,
	.dump_facts = core_dump_facts,
	.diagnostic = core_diagnostic,
};

static enum ws_status modules_add(const struct ws_core *core, struct ws_module_set *modules,
				  struct ws_error *err)
{
	struct ws_counts counts;
	struct ws_image image;
	ws_core_counts(core, &counts);
	for (uint32_t i = 0; i < counts.images; i++) {
		enum ws_status st = ws_core_image(core, i, &image, err);
		if (st != WS_OK)
			return st;
		struct ws_module_entry entry = { image.handle, image.device_index,
						 image.context_index, image.relocated,
						 image.original };
		st = ws_module_set_add(modules, &entry, err);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

enum ws_status ws_target_from_core(struct ws_core *core, bool own, struct ws_target **ret_target,
				   struct ws_error *err)
{
	struct core_target *self = wsi_zalloc(sizeof *self);
	if (!self)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "target over a dump");
	*self = (struct core_target){ .base.ops = &core_ops, .core = core };
	enum ws_status st = ws_module_set_create(&self->modules, err);
	if (st == WS_OK)
		st = modules_add(core, self->modules, err);
	if (st != WS_OK) {
		core_close(&self->base);
		return st;
	}
	self->own = own;
	*ret_target = &self->base;
	return WS_OK;
}

const struct ws_core *ws_target_core(const struct ws_target *target)
{
	return target->ops == &core_ops ? core_of(target) : NULL;
}
