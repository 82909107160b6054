/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fake holds:
 *
 *   device 0: 130 SMs, 8 warp slots
 *     SM 1   warp 0: grid 1, all lanes but 31 valid, lane 0 active, broken, exception in lane 2
 *            warp 5: grid 2 (its context is not known), no lane active
 *            warp 6: grid 3 (its module is not known), lane 3 valid but not recorded
 *            warp 7: grid 77, which is not known
 *     SM 129 no warp, but an exception that its warp left behind
 *   device 2: 2 SMs, nothing on them; there is no device 1
 */
#include "fake.h"

#include <string.h>
#include <warpscope/cudadebugger.h>

#define STR(text) ((struct ws_str){ text, sizeof text - 1 })

static const struct fake *fake_of(const struct ws_target *target)
{
	return (const struct fake *)target;
}

static struct fake *fake_mut(struct ws_target *target)
{
	return (struct fake *)target;
}

static enum ws_status fail(struct ws_error *err, enum ws_status status, const char *text)
{
	if (err) {
		memset(err, 0, sizeof *err);
		err->status = status;
		err->file_off = WS_NO_OFFSET;
		strncpy(err->message, text, sizeof err->message - 1);
	}
	return status;
}

#define MAYBE_FAIL(op)                        \
	if (fake_of(target)->fail_op == (op)) \
	return fail(err, fake_of(target)->fail_status, "made to fail")

static void fake_close(struct ws_target *target)
{
	(void)target;
}

static enum ws_status fake_device(const struct ws_target *target, uint32_t index,
				  struct ws_device *ret, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_DEVICE);
	*ret = (struct ws_device){
		.have = WS_DEVICE_UNIFORM | WS_DEVICE_BARRIERS,
		.id = index * 2,
		.name = STR("Fake GPU"),
		.type = STR("FA100"),
		.sm_type = STR("sm_90"),
		.pci_bus = 7,
		.pci_device = index,
		.n_sms = index ? 2 : 130,
		.n_warps_per_sm = 8,
		.n_lanes_per_warp = 32,
		.n_regs_per_lane = 255,
		.n_preds_per_lane = 7,
		.sm_major = 9,
		.instruction_bytes = 16,
		.n_uniform_regs = 63,
		.n_uniform_preds = 7,
		.n_convergence_barriers = 2,
	};
	return WS_OK;
}

static enum ws_status fake_context(const struct ws_target *target, uint32_t index,
				   struct ws_context *ret, struct ws_error *err)
{
	(void)index;
	MAYBE_FAIL(FAKE_CONTEXT);
	*ret = (struct ws_context){
		.id = 0xc0,
		.shared_window_base = FAKE_GENERIC_SHARED,
		.local_window_base = FAKE_GENERIC_LOCAL,
		.host_tid = 4711,
	};
	return WS_OK;
}

static enum ws_status fake_image(const struct ws_target *target, uint32_t index,
				 struct ws_image *ret, struct ws_error *err)
{
	static const uint8_t bytes[40] = "not an ELF image, but bytes";
	(void)index;
	MAYBE_FAIL(FAKE_IMAGE);
	*ret = (struct ws_image){
		.handle = 0x100,
		.relocated_status = fake_of(target)->image_status,
		.original_status = WS_EXCLUDED,
	};
	if (ret->relocated_status == WS_OK)
		ret->relocated = fake_of(target)->image.len
					 ? fake_of(target)->image
					 : (struct ws_span){ bytes, sizeof bytes, 0 };
	return WS_OK;
}

static enum ws_status fake_grid(const struct ws_target *target, uint32_t index, struct ws_grid *ret,
				struct ws_error *err)
{
	MAYBE_FAIL(FAKE_GRID);
	*ret = (struct ws_grid){
		.have = WS_GRID_CLUSTER | WS_GRID_PREFERRED_CLUSTER |
			(fake_of(target)->no_register_count ? 0 : WS_GRID_N_REGS),
		.context_index = index == 1 ? WS_NONE : 0,
		.image_index = index == 2 ? WS_NONE : 0,
		.id = index == 3 ? (int64_t)0x500000001 : (int64_t)index + 1,
		.context_id = index == 1 ? 0xbad : 0xc0,
		.module_handle = index == 2 ? 0xbad : 0x100,
		.function = 0x900 + index,
		.function_entry = FAKE_CODE,
		.parent_id = 0,
		.params_offset = 0x210,
		.type = index == 3 ? CUDBG_KNL_TYPE_SYSTEM : CUDBG_KNL_TYPE_APPLICATION,
		.origin = index == 2 ? CUDBG_KNL_ORIGIN_GPU : CUDBG_KNL_ORIGIN_CPU,
		.status = CUDBG_GRID_STATUS_ACTIVE,
		.n_regs = 40,
		.grid_dim = { 4, 5, 6 },
		.block_dim = { 8, 4, 2 },
		.launch_blocking = true,
		.host_tid = 4711,
		.cluster_dim = { 2, 1, 1 },
		.preferred_cluster_dim = { 4, 1, 1 },
	};
	return WS_OK;
}

static enum ws_status fake_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret,
			      struct ws_error *err)
{
	MAYBE_FAIL(FAKE_SM);
	if (fake_of(target)->runs[0])
		return fail(err, WS_RUNNING, "the device runs");
	*ret = (struct ws_sm){
		.have = fake_of(target)->sm_exceptions
				? WS_SM_EXCEPTION | WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT
				: 0,
		.id = index ? 129 : 1,
		.first_warp_index = index ? 4 : 0,
		.n_warps = index ? 0 : 4,
	};
	if (ret->have) {
		ret->exception = index ? CUDBG_EXCEPTION_WARP_ASSERT
				       : CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT;
		ret->error_pc_valid = true;
		ret->error_pc = FAKE_CODE + 16;
		ret->cluster_target_valid = true;
		ret->cluster_target = (struct ws_dim3){ 1, 2, 3 };
		ret->exception_text = STR("the block is gone");
	}
	return WS_OK;
}

static enum ws_status fake_block(const struct ws_target *target, uint32_t index,
				 struct ws_block *ret, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_BLOCK);
	*ret = (struct ws_block){
		.have = WS_BLOCK_CLUSTER_IDX | (index & 1 ? 0 : WS_BLOCK_CLUSTER_DIM),
		.grid_index = index == 3 ? WS_NONE : index,
		.grid_id = index == 3 ? 77 : (int64_t)index + 1,
		.idx = { index, 1, 2 },
		.cluster_idx = { index, 0, 0 },
		.cluster_dim = { 2, 1, 1 },
	};
	return WS_OK;
}

static enum ws_status fake_warp(const struct ws_target *target, uint32_t index, struct ws_warp *ret,
				struct ws_error *err)
{
	static const uint32_t ids[] = { 0, 5, 6, 7 };
	MAYBE_FAIL(FAKE_WARP);
	*ret = (struct ws_warp){
		.have = index ? 0
			      : WS_WARP_N_REGS | WS_WARP_SHARED_BYTES | WS_WARP_CBU |
					WS_WARP_BARRIER,
		.block_index = index,
		.id = ids[index],
		.valid_lanes = index ? 0xf : 0x7fffffff,
		.active_lanes = index ? 0 : 1,
		.broken = index == 0,
		.error_pc_valid = index == 0,
		.error_pc = FAKE_CODE + 16,
		.n_regs = 16,
		.shared_bytes = 64,
		.in_syscall_lanes = 2,
		.cbu_active_lanes = 1,
		.cbu_exited_lanes = 0x80000000,
		.cbu_collective_lanes = 4,
		.barrier_scope = CUDBG_BARRIER_SCOPE_BLOCK,
	};
	return WS_OK;
}

static void fill_lane(uint32_t warp_index, uint32_t id, struct ws_lane *ret)
{
	*ret = (struct ws_lane){
		.have = warp_index ? 0 : WS_LANE_CBU_STATE | WS_LANE_RPC,
		.id = id,
		.pc = FAKE_CODE + 32,
		.rel_pc = 32,
		.thread = { id % 8, id / 8 % 4, 0 },
		.exception = warp_index == 0 && id == 2 ? CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT
							: CUDBG_EXCEPTION_NONE,
		.call_depth = id == 1 ? 40 : 2,
		.syscall_call_depth = 1,
		.cc_register = 9,
		.cbu_state = CUDBG_CBU_THREAD_STATE_BLOCKEDB1,
		.rpc_lo = 0x10,
		.rpc_hi = 0x20,
	};
}

static bool lane_recorded(uint32_t warp_index, uint32_t id)
{
	return warp_index == 0 ? id < 31 : id < (warp_index == 2 ? 3u : 4u);
}

static enum ws_status fake_lanes(const struct ws_target *target, uint32_t warp_index,
				 struct ws_lane *ret, uint32_t *ret_n, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_LANE);
	uint32_t n = 0;
	for (uint32_t id = 0; id < WS_MAX_LANES; id++)
		if (lane_recorded(warp_index, id))
			fill_lane(warp_index, id, &ret[n++]);
	*ret_n = n;
	return WS_OK;
}

static enum ws_status fake_lane(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				struct ws_lane *ret, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_LANE);
	if (!lane_recorded(warp_index, lane))
		return fail(err, WS_ABSENT, "this lane is not recorded");
	fill_lane(warp_index, lane, ret);
	return WS_OK;
}

/* Two frames are recorded of every lane, 40 of lane 1. */
static enum ws_status fake_call_stack(const struct ws_target *target, uint32_t warp_index,
				      uint32_t lane, struct ws_return_address *ret, uint32_t cap,
				      uint32_t *ret_n, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_STACK);
	uint32_t n = lane == 1 ? 40 : warp_index == 1 ? 1 : 2;
	for (uint32_t i = 0; i < n && i < cap; i++)
		ret[i] = (struct ws_return_address){ i, FAKE_CODE + 16ull * i, 16ull * i };
	*ret_n = n;
	return WS_OK;
}

static uint32_t register_count(enum ws_reg_kind kind)
{
	return kind == WS_REG_R ? 16 : kind == WS_REG_UR ? 8 : kind == WS_REG_BARRIER ? 2 : 7;
}

static enum ws_status fake_registers(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				     uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				     struct ws_error *err)
{
	(void)warp_index, (void)lane;
	MAYBE_FAIL(FAKE_REGISTERS);
	uint32_t count = register_count(kind), got = 0;
	if (first >= count)
		return fail(err, WS_ABSENT, "not recorded");
	for (; got < n && first + got < count; got++)
		ret_values[got] = kind == WS_REG_R ? fake_of(target)->registers[first + got]
						   : (first + got) & 1;
	*ret_n = got;
	return WS_OK;
}

/* ---- memory ---- */

static bool range_at(uint32_t index, struct ws_memory_range *ret)
{
	static const struct ws_memory_range ranges[] = {
		{ .space = WS_SPACE_GLOBAL, .start = FAKE_GLOBAL, .size = FAKE_GLOBAL_BYTES },
		{ .space = WS_SPACE_GLOBAL,
		  .managed = true,
		  .start = FAKE_MANAGED + 4096,
		  .size = 64 },
		{ .space = WS_SPACE_GLOBAL, .managed = true, .start = FAKE_MANAGED, .size = 64 },
		{ .space = WS_SPACE_SHARED, .block_index = 0, .start = 0, .size = 64 },
		{ .space = WS_SPACE_LOCAL,
		  .warp_index = 0,
		  .lane = 0,
		  .start = 0x1000,
		  .size = 64 },
		{ .space = WS_SPACE_PARAM, .grid_index = 0, .start = 0x210, .size = 32 },
		{ .space = WS_SPACE_CONST,
		  .grid_index = 0,
		  .bank = 3,
		  .start = FAKE_BANK,
		  .size = FAKE_BANK_BYTES },
	};
	if (index >= sizeof ranges / sizeof *ranges)
		return false;
	*ret = ranges[index];
	return true;
}

static enum ws_status fake_memory_range(const struct ws_target *target, uint32_t index,
					struct ws_memory_range *ret, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_RANGE);
	return range_at(index, ret) ? WS_OK : fail(err, WS_ABSENT, "no more ranges");
}

static bool byte_at(const struct fake *fake, const struct ws_address *at, uint64_t address,
		    uint8_t *ret)
{
	struct ws_address in = *at;
	if (at->space == WS_SPACE_GENERIC && address - FAKE_GENERIC_SHARED < 1u << 24) {
		in.space = WS_SPACE_SHARED;
		address -= FAKE_GENERIC_SHARED;
	} else if (at->space == WS_SPACE_GENERIC && address - FAKE_GENERIC_LOCAL < 1u << 24) {
		in.space = WS_SPACE_LOCAL;
		address -= FAKE_GENERIC_LOCAL;
	}
	if (in.space == WS_SPACE_CODE && fake->code_text.len) {
		bool inside = address - fake->code < fake->code_text.len;
		*ret = inside ? fake->code_text.ptr[address - fake->code] : 0;
		return inside;
	}
	if (in.space == WS_SPACE_CODE) {
		*ret = (uint8_t)address;
		return address - FAKE_CODE < FAKE_CODE_BYTES;
	}
	struct ws_memory_range range;
	for (uint32_t i = 0; range_at(i, &range); i++) {
		if (range.space != in.space || address - range.start >= range.size)
			continue;
		if (in.space == WS_SPACE_LOCAL && (in.warp_index || in.lane))
			continue;
		if ((in.space == WS_SPACE_SHARED || in.space == WS_SPACE_PARAM) && in.warp_index)
			continue;
		*ret = in.space == WS_SPACE_SHARED ? fake->shared[address] : (uint8_t)address;
		return true;
	}
	return false;
}

static enum ws_status fake_read_memory(const struct ws_target *target, const struct ws_address *at,
				       void *buffer, size_t len, size_t *ret_n,
				       struct ws_error *err)
{
	*ret_n = 0;
	MAYBE_FAIL(FAKE_READ);
	for (size_t i = 0; i < len; i++) {
		if (!byte_at(fake_of(target), at, at->address + i, (uint8_t *)buffer + i))
			return fail(err, WS_ABSENT, "not recorded");
		*ret_n = i + 1;
	}
	return WS_OK;
}

static enum ws_status fake_write_memory(struct ws_target *target, const struct ws_address *at,
					const void *buffer, size_t len, struct ws_error *err)
{
	uint8_t byte;
	MAYBE_FAIL(FAKE_WRITE);
	for (size_t i = 0; i < len; i++)
		if (!byte_at(fake_of(target), at, at->address + i, &byte))
			return fail(err, WS_ABSENT, "not there");
	fake_mut(target)->written = *at;
	if (at->space == WS_SPACE_SHARED)
		memcpy(fake_mut(target)->shared + at->address, buffer, len);
	return WS_OK;
}

static enum ws_status fake_write_registers(struct ws_target *target, uint32_t warp_index,
					   uint32_t lane, enum ws_reg_kind kind, uint32_t first,
					   uint32_t n, const uint32_t *values, struct ws_error *err)
{
	(void)warp_index, (void)lane;
	MAYBE_FAIL(FAKE_WRITE_REGISTERS);
	if (first + n > register_count(kind))
		return fail(err, WS_ABSENT, "no such register");
	fake_mut(target)->written_kind = kind;
	fake_mut(target)->n_written = first + n;
	for (uint32_t i = 0; kind == WS_REG_R && i < n; i++)
		fake_mut(target)->registers[first + i] = values[i];
	return WS_OK;
}

/* ---- running ---- */

static bool fake_running(const struct ws_target *target, uint32_t device_index)
{
	return fake_of(target)->runs[device_index];
}

static void set_runs(struct ws_target *target, uint32_t device_index, bool runs)
{
	for (uint32_t i = 0; i < 2; i++)
		if (device_index == WS_NONE || device_index == i)
			fake_mut(target)->runs[i] = runs;
}

static enum ws_status fake_suspend(struct ws_target *target, uint32_t device_index, bool wait,
				   struct ws_error *err)
{
	MAYBE_FAIL(FAKE_SUSPEND);
	fake_mut(target)->waited = wait;
	set_runs(target, device_index, false);
	return WS_OK;
}

static enum ws_status fake_resume(struct ws_target *target, uint32_t device_index,
				  struct ws_error *err)
{
	MAYBE_FAIL(FAKE_RESUME);
	set_runs(target, device_index, true);
	return WS_OK;
}

static enum ws_status fake_step(struct ws_target *target, const struct ws_step *step,
				uint64_t *ret_warps, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_STEP);
	fake_mut(target)->last_step = *step;
	*ret_warps = 0x21;
	return WS_OK;
}

static enum ws_status fake_run_until(struct ws_target *target, uint32_t sm_index,
				     uint64_t warp_mask, uint64_t pc, uint32_t flags,
				     struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	(void)sm_index, (void)warp_mask;
	MAYBE_FAIL(FAKE_UNTIL);
	if (pc - fake->code >= fake->code_bytes)
		return fail(err, WS_ABSENT, "no code there");
	fake->until_flags = flags;
	return WS_OK;
}

static enum ws_status fake_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
				 struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	(void)device_index;
	MAYBE_FAIL(FAKE_PLANT);
	if (pc - fake->code >= fake->code_bytes)
		return fail(err, WS_ABSENT, "no code there");
	fake->planted[fake->n_planted++] = pc;
	return WS_OK;
}

static enum ws_status fake_unplant(struct ws_target *target, uint32_t device_index, uint64_t pc,
				   struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	(void)device_index;
	MAYBE_FAIL(FAKE_UNPLANT);
	for (size_t i = 0; i < fake->n_planted; i++)
		if (fake->planted[i] == pc)
			fake->planted[i--] = fake->planted[--fake->n_planted];
	return WS_OK;
}

static enum ws_status fake_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_LAUNCH);
	fake_mut(target)->at_launch = on;
	return WS_OK;
}

static enum ws_status fake_next_event(struct ws_target *target, struct ws_event *ret,
				      struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	if (!fake->n_events)
		return fail(err, WS_ABSENT, "no event");
	*ret = fake->events[0];
	fake->n_events--;
	memmove(fake->events, fake->events + 1, fake->n_events * sizeof *fake->events);
	return WS_OK;
}

static enum ws_status fake_acknowledge(struct ws_target *target, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_ACKNOWLEDGE);
	fake_mut(target)->acknowledged++;
	return WS_OK;
}

static void fake_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	fake_mut(target)->wake = wake;
	fake_mut(target)->wake_data = data;
}

void fake_event(struct fake *fake, const struct ws_event *event)
{
	fake->events[fake->n_events++] = *event;
	if (fake->wake)
		fake->wake(fake->wake_data);
}

/* ---- the host ---- */

void fake_log(uint32_t number, struct ws_log *ret)
{
	*ret = (struct ws_log){
		.time_ns = 1700000000000000000u + number,
		.host_tid = 0x100000000u + number,
		.level = 1 + number % 2,
		.ruleset = 7,
		.rule = number,
	};
	memset(ret->text, 'x', WS_LOG_TEXT - 1); /* as long as can be */
	ret->text[0] = (char)('a' + number);
}

static enum ws_status fake_take_logs(struct ws_target *target, struct ws_log *ret_logs,
				     uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	MAYBE_FAIL(FAKE_LOGS);
	for (*ret_n = 0; *ret_n < cap && fake->n_logs; fake->n_logs--)
		fake_log(fake->logged++, &ret_logs[(*ret_n)++]);
	return WS_OK;
}

static enum ws_status fake_log_rules(struct ws_target *target, const struct ws_log_rule *rules,
				     uint32_t n, uint32_t *ret_ruleset, struct ws_error *err)
{
	struct fake *fake = fake_mut(target);
	MAYBE_FAIL(FAKE_RULES);
	if (n > 4 || (n && rules[0].action > 2))
		return fail(err, WS_ARGUMENT, "no such rule");
	for (uint32_t i = 0; i < n; i++) {
		fake->rules[i] = rules[i];
		fake->rules[i].regex =
			rules[i].regex && !strcmp(rules[i].regex, "out.*") ? "kept" : NULL;
	}
	fake->n_rules = n;
	*ret_ruleset = ++fake->rulesets;
	return WS_OK;
}

/* Three frames for the first grid, none kept for the others. */
static enum ws_status fake_launch_stack(struct ws_target *target, uint32_t grid_index,
					uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
					struct ws_error *err)
{
	(void)target;
	MAYBE_FAIL(FAKE_LAUNCH_STACK);
	if (grid_index != 0)
		return fail(err, WS_ABSENT, "not kept");
	for (uint32_t i = 0; i < 3 && i < cap; i++)
		ret_addresses[i] = 0x5500001000u + i;
	*ret_n = 3;
	return WS_OK;
}

void fake_init_still(struct fake *fake)
{
	memset(fake, 0, sizeof *fake);
	fake->ops = (struct ws_target_ops){
		.name = "fake",
		.close = fake_close,
		.device = fake_device,
		.context = fake_context,
		.image = fake_image,
		.grid = fake_grid,
		.sm = fake_sm,
		.block = fake_block,
		.warp = fake_warp,
		.lanes = fake_lanes,
		.lane = fake_lane,
		.call_stack = fake_call_stack,
		.registers = fake_registers,
		.read_memory = fake_read_memory,
		.memory_range = fake_memory_range,
	};
	fake->base.ops = &fake->ops;
	fake->base.counts = (struct ws_counts){ .devices = 2,
						.contexts = 1,
						.images = 1,
						.grids = 4,
						.sms = 2,
						.blocks = 4,
						.warps = 4 };
	fake->sm_exceptions = true;
	fake->code = FAKE_CODE;
	fake->code_bytes = FAKE_CODE_BYTES;
	for (uint32_t i = 0; i < 16; i++)
		fake->registers[i] = 100 + i;
	for (unsigned i = 0; i < sizeof fake->shared; i++)
		fake->shared[i] = (uint8_t)i;
}

void fake_init_running(struct fake *fake)
{
	fake_init_still(fake);
	fake->ops.running = fake_running;
	fake->ops.suspend = fake_suspend;
	fake->ops.resume = fake_resume;
	fake->ops.step = fake_step;
	fake->ops.run_until = fake_run_until;
	fake->ops.plant = fake_plant;
	fake->ops.unplant = fake_unplant;
	fake->ops.stop_at_launch = fake_stop_at_launch;
	fake->ops.write_memory = fake_write_memory;
	fake->ops.write_registers = fake_write_registers;
	fake->ops.next_event = fake_next_event;
	fake->ops.acknowledge = fake_acknowledge;
	fake->ops.on_event = fake_on_event;
	fake->ops.take_logs = fake_take_logs;
	fake->ops.log_rules = fake_log_rules;
	fake->ops.launch_stack = fake_launch_stack;
}
