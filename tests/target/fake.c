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

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <warpscope/cudadebugger.h>

#define STR(text) ((struct ws_str){ text, sizeof text - 1 })

static struct fake *fake_of(const struct ws_target *target)
{
	return target->state;
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

/* A row that cannot be read, as of a file. */
static enum ws_status lost(struct ws_error *err, enum ws_status status)
{
	fail(err, status, "the row is scripted to be lost");
	if (err)
		err->file_off = 0x123;
	return status;
}

#define MAYBE_FAIL(op)                        \
	if (fake_of(target)->fail_op == (op)) \
	return fail(err, fake_of(target)->fail_status, "made to fail")

static void fake_close(struct ws_target *target)
{
	struct fake *fake = fake_of(target);
	free(fake->device);
	free(fake->context);
	free(fake->module);
	free(fake->grid);
	free(fake->sm);
	free(fake->block);
	free(fake->warp);
	free(fake->warp_status);
	free(fake->lanes_status);
	free(fake->lane);
	free(fake->n_lanes);
	free(fake->n_callers);
}

/* ---- the lists ---- */

#define DEFINE_ELEMENT(name, op)                                                          \
	static enum ws_status fake_##name(const struct ws_target *target, uint32_t index, \
					  struct ws_##name *ret, struct ws_error *err)    \
	{                                                                                 \
		MAYBE_FAIL(op);                                                           \
		*ret = fake_of(target)->name[index];                                      \
		return WS_OK;                                                             \
	}

DEFINE_ELEMENT(device, FAKE_DEVICE)
DEFINE_ELEMENT(context, FAKE_CONTEXT)
DEFINE_ELEMENT(module, FAKE_MODULE)
DEFINE_ELEMENT(grid, FAKE_GRID)
DEFINE_ELEMENT(sm, FAKE_SM)
DEFINE_ELEMENT(block, FAKE_BLOCK)

static enum ws_status fake_warp(const struct ws_target *target, uint32_t index, struct ws_warp *ret,
				struct ws_error *err)
{
	struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_WARP);
	fake->n_read++;
	if (fake->warp_status[index] != WS_OK)
		return lost(err, fake->warp_status[index]);
	*ret = fake->warp[index];
	return WS_OK;
}

static enum ws_status fake_lanes(const struct ws_target *target, uint32_t warp_index,
				 struct ws_lane *ret, uint32_t *ret_n, struct ws_error *err)
{
	const struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_LANE);
	if (fake->lanes_status[warp_index] != WS_OK)
		return lost(err, fake->lanes_status[warp_index]);
	*ret_n = fake->n_lanes[warp_index];
	memcpy(ret, fake->lane[warp_index], *ret_n * sizeof *ret);
	return WS_OK;
}

static enum ws_status fake_lane(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				struct ws_lane *ret, struct ws_error *err)
{
	const struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_LANE);
	for (uint32_t i = 0; i < fake->n_lanes[warp_index]; i++)
		if (fake->lane[warp_index][i].id == lane) {
			*ret = fake->lane[warp_index][i];
			return WS_OK;
		}
	return fail(err, WS_ABSENT, "this lane is not recorded");
}

static enum ws_status fake_call_stack(const struct ws_target *target, uint32_t warp_index,
				      uint32_t lane, struct ws_return_address *ret, uint32_t cap,
				      uint32_t *ret_n, struct ws_error *err)
{
	const struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_STACK);
	uint32_t n = fake->n_callers[warp_index][lane % WS_MAX_LANES];
	for (uint32_t i = 0; i < n && i < cap; i++)
		ret[i] = fake->callers[i];
	*ret_n = n;
	return WS_OK;
}

static uint32_t register_count(const struct fake *fake, enum ws_reg_kind kind)
{
	if (!fake->has_registers)
		return 0;
	return kind == WS_REG_R ? 16 : kind == WS_REG_UR ? 8 : kind == WS_REG_BARRIER ? 2 : 7;
}

static enum ws_status fake_registers(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				     uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				     struct ws_error *err)
{
	(void)warp_index, (void)lane;
	MAYBE_FAIL(FAKE_REGISTERS);
	uint32_t count = register_count(fake_of(target), kind), got = 0;
	if (first >= count)
		return fail(err, WS_ABSENT, "not recorded");
	for (; got < n && first + got < count; got++)
		ret_values[got] = kind == WS_REG_R ? fake_of(target)->registers[first + got]
						   : (first + got) & 1;
	*ret_n = got;
	return WS_OK;
}

static enum ws_status fake_facts(const struct ws_target *target, struct ws_dump_facts *ret,
				 struct ws_error *err)
{
	if (!fake_of(target)->has_facts)
		return fail(err, WS_UNSUPPORTED, "it is no file");
	*ret = fake_of(target)->facts;
	return WS_OK;
}

static enum ws_status fake_diagnostic(const struct ws_target *target, uint32_t index,
				      struct ws_diagnostic *ret, struct ws_error *err)
{
	if (!fake_of(target)->has_facts)
		return fail(err, WS_UNSUPPORTED, "it is no file");
	if (index >= fake_of(target)->n_diagnostics)
		return fail(err, WS_ABSENT, "no more diagnostics");
	*ret = fake_of(target)->diagnostics[index];
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
	fake_of(target)->written = *at;
	if (at->space == WS_SPACE_SHARED)
		memcpy(fake_of(target)->shared + at->address, buffer, len);
	return WS_OK;
}

static enum ws_status fake_write_registers(struct ws_target *target, uint32_t warp_index,
					   uint32_t lane, enum ws_reg_kind kind, uint32_t first,
					   uint32_t n, const uint32_t *values, struct ws_error *err)
{
	(void)warp_index, (void)lane;
	MAYBE_FAIL(FAKE_WRITE_REGISTERS);
	if (first + n > register_count(fake_of(target), kind))
		return fail(err, WS_ABSENT, "no such register");
	fake_of(target)->written_kind = kind;
	fake_of(target)->n_written = first + n;
	for (uint32_t i = 0; kind == WS_REG_R && i < n; i++)
		fake_of(target)->registers[first + i] = values[i];
	return WS_OK;
}

static enum ws_status fake_write_rpc(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				     uint32_t rpc_lo, uint32_t rpc_hi, struct ws_error *err)
{
	(void)warp_index, (void)lane;
	MAYBE_FAIL(FAKE_WRITE_RPC);
	fake_of(target)->written_rpc[0] = rpc_lo;
	fake_of(target)->written_rpc[1] = rpc_hi;
	return WS_OK;
}

/* ---- running ---- */

static bool fake_running(const struct ws_target *target, uint32_t device_index)
{
	return fake_of(target)->runs[device_index];
}

static void set_runs(struct ws_target *target, uint32_t device_index, bool runs)
{
	for (uint32_t i = 0; i < target->counts.devices; i++)
		if (device_index == WS_NONE || device_index == i)
			fake_of(target)->runs[i] = runs;
}

static enum ws_status fake_suspend(struct ws_target *target, uint32_t device_index, bool wait,
				   struct ws_error *err)
{
	MAYBE_FAIL(FAKE_SUSPEND);
	fake_of(target)->waited = wait;
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

/* Warps 0 and 5 of the SM move, those that there are; only the warp itself is another after it. */
static enum ws_status fake_step(struct ws_target *target, const struct ws_step *step,
				uint64_t *ret_warps, struct ws_error *err)
{
	struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_STEP);
	fake->last_step = *step;
	*ret_warps = 0x21;
	const struct ws_warp *warp = &fake->warp[step->warp_index];
	for (uint32_t i = 0; i < fake->n_lanes[step->warp_index]; i++)
		fake->lane[step->warp_index][i].pc += fake->pc_step;
	ws_target_changed_warps(target,
				&(struct ws_change){ warp->sm_index, UINT64_C(1) << warp->id }, 1);
	return WS_OK;
}

static enum ws_status fake_run_until(struct ws_target *target, uint32_t sm_index,
				     uint64_t warp_mask, uint64_t pc, uint32_t flags,
				     struct ws_error *err)
{
	struct fake *fake = fake_of(target);
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
	struct fake *fake = fake_of(target);
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
	struct fake *fake = fake_of(target);
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
	fake_of(target)->at_launch = on;
	return WS_OK;
}

/* Tests tell of events while a session takes others in. */
static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *lock_events(void)
{
	pthread_mutex_lock(&event_lock);
	return &event_lock;
}

static void unlock_events(pthread_mutex_t **held)
{
	pthread_mutex_unlock(*held);
}

/* Until the end of the block. */
#define HOLD_EVENTS() \
	__attribute__((cleanup(unlock_events), unused)) pthread_mutex_t *held = lock_events()

static enum ws_status fake_next_event(struct ws_target *target, struct ws_event *ret,
				      struct ws_error *err)
{
	struct fake *fake = fake_of(target);
	HOLD_EVENTS();
	if (!fake->n_events)
		return fail(err, WS_ABSENT, "no event");
	*ret = fake->events[0];
	fake->n_events--;
	memmove(fake->events, fake->events + 1, fake->n_events * sizeof *fake->events);
	return WS_OK;
}

/* Lets those go that wait for an event up to this one, or for one that nobody wants. */
static void let_go(struct fake *fake, uint64_t up_to)
{
	size_t kept = 0;
	for (size_t i = 0; i < fake->n_waiting; i++)
		if (fake->waiting[i].sequence > up_to &&
		    ws_event_is_wanted(fake->waiting[i].kind, fake->wants))
			fake->waiting[kept++] = fake->waiting[i];
	fake->n_waiting = kept;
}

static enum ws_status fake_acknowledge(struct ws_target *target, uint64_t up_to,
				       struct ws_error *err)
{
	struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_ACKNOWLEDGE);
	HOLD_EVENTS();
	let_go(fake, up_to);
	return WS_OK;
}

static enum ws_status fake_want(struct ws_target *target, uint32_t wants, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_WANT);
	HOLD_EVENTS();
	fake_of(target)->wants = wants;
	let_go(fake_of(target), 0);
	return WS_OK;
}

static enum ws_status fake_update(struct ws_target *target, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_UPDATE);
	return WS_OK;
}

static void fake_on_event(struct ws_target *target, void (*wake)(void *data), void *data)
{
	HOLD_EVENTS();
	fake_of(target)->wake = wake;
	fake_of(target)->wake_data = data;
}

void fake_event(struct fake *fake, const struct ws_event *event)
{
	HOLD_EVENTS(); /* while it wakes, too: as a target must */
	if (!ws_event_is_wanted(event->kind, fake->wants))
		return;
	if (fake->n_events == FAKE_MAX_EVENTS || fake->n_waiting == FAKE_MAX_EVENTS)
		abort();
	fake->events[fake->n_events] = *event;
	fake->events[fake->n_events++].sequence = ++fake->sequence;
	if (event->sync)
		fake->waiting[fake->n_waiting++] = fake->events[fake->n_events - 1];
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
	struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_LOGS);
	for (*ret_n = 0; *ret_n < cap && fake->n_logs; fake->n_logs--)
		fake_log(fake->logged++, &ret_logs[(*ret_n)++]);
	return WS_OK;
}

static enum ws_status fake_log_rules(struct ws_target *target, const struct ws_log_rule *rules,
				     uint32_t n, uint32_t *ret_ruleset, struct ws_error *err)
{
	struct fake *fake = fake_of(target);
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

static enum ws_status fake_read_host(const struct ws_target *target, uint64_t address, void *buffer,
				     size_t len, size_t *ret_n, struct ws_error *err)
{
	const struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_HOST);
	uint64_t from = address - FAKE_HOST_ADDRESS;
	size_t there = from < sizeof fake->host ? sizeof fake->host - (size_t)from : 0;
	*ret_n = len < there ? len : there;
	memcpy(buffer, fake->host + (there ? from : 0), *ret_n);
	return *ret_n == len ? WS_OK : fail(err, WS_ABSENT, "no pinned memory");
}

static enum ws_status fake_write_host(struct ws_target *target, uint64_t address,
				      const void *buffer, size_t len, struct ws_error *err)
{
	struct fake *fake = fake_of(target);
	MAYBE_FAIL(FAKE_HOST);
	uint64_t to = address - FAKE_HOST_ADDRESS;
	if (to > sizeof fake->host || len > sizeof fake->host - to)
		return fail(err, WS_ABSENT, "no pinned memory");
	memcpy(fake->host + to, buffer, len);
	return WS_OK;
}

static enum ws_status fake_host_address(const struct ws_target *target, uint32_t device_index,
					uint64_t address, uint64_t *ret, struct ws_error *err)
{
	(void)device_index;
	MAYBE_FAIL(FAKE_HOST);
	if (address - FAKE_GLOBAL >= sizeof fake_of(target)->host)
		return fail(err, WS_ABSENT, "not mapped on the host");
	*ret = address - FAKE_GLOBAL + FAKE_HOST_ADDRESS;
	return WS_OK;
}

static enum ws_status fake_detach(struct ws_target *target, bool runs, struct ws_error *err)
{
	MAYBE_FAIL(FAKE_DETACH);
	fake_of(target)->detached = runs;
	return WS_OK;
}

/* ---- making one ---- */

static void *make(size_t n, size_t size)
{
	void *list = calloc(n + 1, size);
	if (!list)
		abort();
	return list;
}

/* A fake with empty rows. */
static void make_lists(struct fake *fake, const struct ws_counts *counts)
{
	memset(fake, 0, sizeof *fake);
	fake->ops = (struct ws_target_ops){
		.name = "fake",
		.close = fake_close,
		.device = fake_device,
		.context = fake_context,
		.module = fake_module,
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
	if (ws_target_init(&fake->target, &fake->ops, fake, NULL) != WS_OK)
		abort();
	fake->target.counts = *counts;
	fake->device = make(counts->devices, sizeof *fake->device);
	fake->context = make(FAKE_MAX_ROWS, sizeof *fake->context);
	fake->module = make(FAKE_MAX_ROWS, sizeof *fake->module);
	fake->grid = make(FAKE_MAX_ROWS, sizeof *fake->grid);
	fake->sm = make(counts->sms, sizeof *fake->sm);
	fake->block = make(counts->blocks, sizeof *fake->block);
	fake->warp = make(counts->warps, sizeof *fake->warp);
	fake->warp_status = make(counts->warps, sizeof *fake->warp_status);
	fake->lanes_status = make(counts->warps, sizeof *fake->lanes_status);
	fake->lane = make(counts->warps, sizeof *fake->lane);
	fake->n_lanes = make(counts->warps, sizeof *fake->n_lanes);
	fake->n_callers = make(counts->warps, sizeof *fake->n_callers);
}

void fake_init(struct fake *fake, uint32_t n_sms, uint32_t n_warps, uint32_t n_lanes)
{
	uint32_t all = n_lanes == 32 ? UINT32_MAX : (1u << n_lanes) - 1, total = n_sms * n_warps;
	make_lists(
		fake,
		&(struct ws_counts){
			.devices = 1, .grids = 1, .sms = n_sms, .blocks = total, .warps = total });
	fake->device[0] = (struct ws_device){ .n_sms = n_sms,
					      .n_warps_per_sm = n_warps,
					      .n_lanes_per_warp = 32,
					      .instruction_bytes = 16 };
	fake->grid[0] = (struct ws_grid){
		.context_index = WS_NONE, .module_index = WS_NONE, .id = 1, .function_entry = 0x1000
	};
	fake->module[0] =
		(struct ws_module){ .context_index = WS_NONE, .original_status = WS_ABSENT };
	for (uint32_t i = 0; i < n_sms; i++)
		fake->sm[i] = (struct ws_sm){ .have = WS_SM_EXCEPTION,
					      .id = i,
					      .first_warp_index = i * n_warps,
					      .n_warps = n_warps };
	for (uint32_t i = 0; i < total; i++) {
		fake->block[i] = (struct ws_block){ .sm_index = i / n_warps,
						    .grid_id = 1,
						    .idx = { i, 0, 0 } };
		fake->warp[i] = (struct ws_warp){ .have = WS_WARP_BROKEN,
						  .sm_index = i / n_warps,
						  .block_index = i,
						  .id = i % n_warps,
						  .valid_lanes = all,
						  .active_lanes = all };
		fake->n_lanes[i] = n_lanes;
		for (uint32_t k = 0; k < n_lanes; k++)
			fake->lane[i][k] =
				(struct ws_lane){ .id = k, .pc = 0x1000, .thread = { k, 0, 0 } };
	}
}

static void script_devices(struct fake *fake)
{
	static const uint8_t bytes[40] = "not an ELF image, but bytes";
	for (uint32_t i = 0; i < 2; i++)
		fake->device[i] = (struct ws_device){
			.have = WS_DEVICE_UNIFORM | WS_DEVICE_BARRIERS,
			.id = i * 2,
			.name = STR("Fake GPU"),
			.type = STR("FA100"),
			.sm_type = i ? STR("sm_90") : STR("sm_80"),
			.pci_bus = 7,
			.pci_device = i,
			.n_sms = i ? 2 : 130,
			.n_warps_per_sm = 8,
			.n_lanes_per_warp = 32,
			.n_regs_per_lane = 255,
			.n_preds_per_lane = 7,
			.sm_major = i ? 9 : 8,
			.instruction_bytes = 16,
			.n_uniform_regs = 63,
			.n_uniform_preds = 7,
			.n_convergence_barriers = 2,
		};
	fake->context[0] = (struct ws_context){
		.id = 0xc0,
		.shared_window_base = FAKE_GENERIC_SHARED,
		.local_window_base = FAKE_GENERIC_LOCAL,
		.host_tid = 4711,
	};
	fake->module[0] = (struct ws_module){
		.handle = 0x100,
		.relocated = { bytes, sizeof bytes, 0 },
		.original_status = WS_EXCLUDED,
	};
}

static void script_grids(struct fake *fake)
{
	for (uint32_t i = 0; i < 4; i++) {
		fake->grid[i] = (struct ws_grid){
			.have = WS_GRID_CLUSTER | WS_GRID_PREFERRED_CLUSTER | WS_GRID_N_REGS,
			.context_index = i == 1 ? WS_NONE : 0,
			.module_index = i == 2 ? WS_NONE : 0,
			.id = i == 3 ? (int64_t)0x500000001 : (int64_t)i + 1,
			.context_id = i == 1 ? 0xbad : 0xc0,
			.module_handle = i == 2 ? 0xbad : 0x100,
			.function = 0x900 + i,
			.function_entry = FAKE_CODE,
			.params_offset = 0x210,
			.type = i == 3 ? CUDBG_KNL_TYPE_SYSTEM : CUDBG_KNL_TYPE_APPLICATION,
			.origin = i == 2 ? CUDBG_KNL_ORIGIN_GPU : CUDBG_KNL_ORIGIN_CPU,
			.status = CUDBG_GRID_STATUS_ACTIVE,
			.n_regs = 40,
			.grid_dim = { 4, 5, 6 },
			.block_dim = { 8, 4, 2 },
			.launch_blocking = true,
			.host_tid = 4711,
			.cluster_dim = { 2, 1, 1 },
			.preferred_cluster_dim = { 4, 1, 1 },
		};
		fake->block[i] = (struct ws_block){
			.have = WS_BLOCK_CLUSTER_IDX | (i & 1 ? 0 : WS_BLOCK_CLUSTER_DIM),
			.grid_index = i == 3 ? WS_NONE : i,
			.grid_id = i == 3 ? 77 : (int64_t)i + 1,
			.idx = { i, 1, 2 },
			.cluster_idx = { i, 0, 0 },
			.cluster_dim = { 2, 1, 1 },
		};
	}
	for (uint32_t i = 0; i < 2; i++)
		fake->sm[i] = (struct ws_sm){
			.have = WS_SM_EXCEPTION | WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT,
			.id = i ? 129 : 1,
			.first_warp_index = i ? 4 : 0,
			.n_warps = i ? 0 : 4,
			.exception = i ? CUDBG_EXCEPTION_WARP_ASSERT
				       : CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT,
			.error_pc_valid = true,
			.error_pc = FAKE_CODE + 16,
			.cluster_target_valid = true,
			.cluster_target = { 1, 2, 3 },
			.exception_text = STR("the block is gone"),
		};
}

static void script_warp(struct fake *fake, uint32_t index)
{
	static const uint32_t ids[] = { 0, 5, 6, 7 }, recorded[] = { 31, 4, 3, 4 };
	fake->warp[index] = (struct ws_warp){
		.have = WS_WARP_BROKEN |
			(index ? 0u
			       : WS_WARP_N_REGS | WS_WARP_SHARED_BYTES | WS_WARP_CBU |
					 WS_WARP_BARRIER | WS_WARP_STOP),
		.block_index = index,
		.id = ids[index],
		.valid_lanes = index ? 0xf : 0x7fffffff,
		.active_lanes = index ? 0 : 1,
		.broken = index == 0,
		.stop = WS_STOP_TRAP,
		.stop_pc = FAKE_CODE + 32,
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
	fake->n_lanes[index] = recorded[index];
	for (uint32_t id = 0; id < WS_MAX_LANES; id++) {
		bool faulted = index == 0 && id == 2;
		fake->n_callers[index][id] = id == 1 ? 40 : index == 1 ? 1 : 2;
		fake->lane[index][id] = (struct ws_lane){
			.have = index ? 0 : WS_LANE_CBU_STATE | WS_LANE_RPC,
			.id = id,
			.pc = FAKE_CODE + 32,
			.rel_pc = 32,
			.thread = { id % 8, id / 8 % 4, 0 },
			.exception = faulted ? CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT
					     : CUDBG_EXCEPTION_NONE,
			.call_depth = id == 1 ? 40 : 2,
			.syscall_call_depth = 1,
			.cc_register = 9,
			.cbu_state = CUDBG_CBU_THREAD_STATE_BLOCKEDB1,
			.rpc_lo = 0x10,
			.rpc_hi = 0x20,
		};
	}
}

void fake_init_still(struct fake *fake)
{
	make_lists(fake, &(struct ws_counts){ .devices = 2,
					      .contexts = 1,
					      .modules = 1,
					      .grids = 4,
					      .sms = 2,
					      .blocks = 4,
					      .warps = 4 });
	fake->ops.lane = fake_lane;
	fake->ops.read_memory = fake_read_memory;
	fake->ops.memory_range = fake_memory_range;
	script_devices(fake);
	script_grids(fake);
	for (uint32_t i = 0; i < 4; i++)
		script_warp(fake, i);
	for (uint32_t i = 0; i < FAKE_MAX_CALLERS; i++)
		fake->callers[i] =
			(struct ws_return_address){ i, FAKE_CODE + 16ull * i, 16ull * i };
	fake->has_registers = true;
	fake->code = FAKE_CODE;
	fake->code_bytes = FAKE_CODE_BYTES;
	for (uint32_t i = 0; i < 16; i++)
		fake->registers[i] = 100 + i;
	for (unsigned i = 0; i < sizeof fake->shared; i++)
		fake->shared[i] = (uint8_t)i;
}

void fake_may_run(struct fake *fake)
{
	fake->detached = -1;
	fake->ops.update = fake_update;
	fake->ops.want = fake_want;
	fake->ops.read_host = fake_read_host;
	fake->ops.write_host = fake_write_host;
	fake->ops.host_address = fake_host_address;
	fake->ops.detach = fake_detach;
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
	fake->ops.write_rpc = fake_write_rpc;
	fake->ops.next_event = fake_next_event;
	fake->ops.acknowledge = fake_acknowledge;
	fake->ops.on_event = fake_on_event;
	fake->ops.take_logs = fake_take_logs;
	fake->ops.log_rules = fake_log_rules;
	fake->ops.launch_stack = fake_launch_stack;
}

void fake_init_running(struct fake *fake)
{
	fake_init_still(fake);
	fake_may_run(fake);
}

void fake_hide_sm_exceptions(struct fake *fake)
{
	for (uint32_t i = 0; i < fake->target.counts.sms; i++)
		fake->sm[i] = (struct ws_sm){ .id = fake->sm[i].id,
					      .first_warp_index = fake->sm[i].first_warp_index,
					      .n_warps = fake->sm[i].n_warps };
}
