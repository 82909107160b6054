/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints everything that core.h hands out of a dump, a line per thing: "kind index field=value
 * ...". tests/dump/compare.py holds it against an independent reader, field by field.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <warpscope/core.h>

static void text(const char *name, struct ws_str s)
{
	printf(" %s=", name);
	for (size_t i = 0; i < s.len; i++)
		printf("%02x", (unsigned char)s.ptr[i]);
}

static void number(const char *name, uint64_t value)
{
	printf(" %s=%" PRIu64, name, value);
}

static void index_number(const char *name, uint32_t value)
{
	if (value == WS_NONE)
		printf(" %s=-", name);
	else
		number(name, value);
}

static void dim3(const char *name, struct ws_dim3 d)
{
	printf(" %s=%u,%u,%u", name, d.x, d.y, d.z);
}

#define N(field) number(#field, v.field)
#define I(field) index_number(#field, v.field)
#define D(field) dim3(#field, v.field)
#define T(field) text(#field, v.field)
#define HAS(flag) (v.have & (flag))

static void devices(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_device v;
		if (ws_target_device(target, i, &v, NULL) != WS_OK)
			abort();
		printf("device %u", i);
		T(name), T(type), T(sm_type), N(id), N(pci_bus), N(pci_device), N(n_sms);
		N(n_warps_per_sm), N(n_lanes_per_warp), N(n_regs_per_lane), N(n_preds_per_lane);
		N(sm_major), N(sm_minor), N(instruction_bytes), N(status);
		if (HAS(WS_DEVICE_UNIFORM))
			N(n_uniform_regs), N(n_uniform_preds);
		if (HAS(WS_DEVICE_BARRIERS))
			N(n_convergence_barriers);
		putchar('\n');
	}
}

static void contexts(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_context v;
		if (ws_target_context(target, i, &v, NULL) != WS_OK)
			abort();
		printf("context %u", i);
		I(device_index), N(id), N(shared_window_base), N(local_window_base);
		N(global_window_base), N(host_tid);
		putchar('\n');
	}
}

static void image_form(const char *name, enum ws_status st, struct ws_span bytes)
{
	printf(" %s=%s", name, ws_status_name(st));
	if (st == WS_OK || st == WS_TRUNCATED)
		printf(",%zu,%08lx", bytes.len, crc32(0, bytes.ptr, (uInt)bytes.len));
}

static void images(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_module v;
		if (ws_target_module(target, i, &v, NULL) != WS_OK)
			abort();
		printf("image %u", i);
		I(device_index), I(context_index), N(handle);
		image_form("relocated", v.relocated_status, v.relocated);
		image_form("original", v.original_status, v.original);
		putchar('\n');
	}
}

static void grids(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_grid v;
		if (ws_target_grid(target, i, &v, NULL) != WS_OK)
			abort();
		printf("grid %u", i);
		I(device_index), I(context_index), I(module_index);
		printf(" id=%" PRId64, v.id);
		N(context_id), N(module_handle), N(function), N(function_entry);
		printf(" parent_id=%" PRId64, v.parent_id);
		N(params_offset), N(type), N(origin), N(status), N(n_regs), D(grid_dim);
		D(block_dim), N(launch_blocking), N(host_tid);
		if (HAS(WS_GRID_CLUSTER))
			D(cluster_dim);
		if (HAS(WS_GRID_PREFERRED_CLUSTER))
			D(preferred_cluster_dim);
		putchar('\n');
	}
}

static void sms(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_sm v;
		if (ws_target_sm(target, i, &v, NULL) != WS_OK)
			abort();
		printf("sm %u", i);
		I(device_index), N(id), N(first_warp_index), N(n_warps);
		if (HAS(WS_SM_EXCEPTION))
			N(exception), N(error_pc_valid), N(error_pc);
		if (HAS(WS_SM_CLUSTER_TARGET))
			N(cluster_target_valid), D(cluster_target);
		if (HAS(WS_SM_EXCEPTION_TEXT))
			T(exception_text);
		putchar('\n');
	}
}

static void blocks(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_block v;
		if (ws_target_block(target, i, &v, NULL) != WS_OK)
			abort();
		printf("block %u", i);
		I(device_index), I(sm_index), I(grid_index);
		printf(" grid_id=%" PRId64, v.grid_id);
		if (v.damaged)
			printf(" idx=doubted");
		else
			D(idx);
		if (HAS(WS_BLOCK_CLUSTER_IDX))
			D(cluster_idx);
		if (HAS(WS_BLOCK_CLUSTER_DIM))
			D(cluster_dim);
		putchar('\n');
	}
}

static void registers(const struct ws_target *target, uint32_t warp, uint32_t lane,
		      enum ws_reg_kind kind, const char *name)
{
	uint32_t values[256], n = 0, first = 0;
	printf(" %s=", name);
	while (ws_target_registers(target, warp, lane, kind, first, 256, values, &n, NULL) ==
	       WS_OK) {
		for (uint32_t i = 0; i < n; i++)
			printf("%x,", values[i]);
		first += n;
	}
}

static void lane_print(const struct ws_target *target, uint32_t warp, uint32_t number_,
		       const struct ws_lane *lane)
{
	struct ws_lane v = *lane;
	printf("lane %u/%u", warp, number_);
	N(id), N(pc), N(rel_pc), D(thread);
	if (lane->damaged)
		printf(" exception=doubted");
	else
		N(exception);
	N(call_depth), N(syscall_call_depth);
	N(cc_register);
	if (HAS(WS_LANE_CBU_STATE))
		N(cbu_state);
	if (HAS(WS_LANE_RPC))
		N(rpc_lo), N(rpc_hi);
	static struct ws_return_address frames[2000];
	uint32_t n = 0;
	if (ws_target_call_stack(target, warp, v.id, frames, 2000, &n, NULL) != WS_OK)
		abort();
	printf(" frames=");
	for (uint32_t f = 0; f < n && f < 2000; f++)
		printf("%u:%" PRIu64 ":%" PRIu64 ",", frames[f].level, frames[f].address,
		       frames[f].rel_address);
	registers(target, warp, v.id, WS_REG_R, "regs");
	registers(target, warp, v.id, WS_REG_P, "preds");
	putchar('\n');
}

static void warps(const struct ws_target *target, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ws_warp v;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n_lanes;
		if (ws_target_warp(target, i, &v, NULL) != WS_OK ||
		    ws_target_lanes(target, i, lanes, &n_lanes, NULL) != WS_OK)
			abort();
		printf("warp %u", i);
		I(device_index), I(sm_index), I(block_index), N(id), N(valid_lanes);
		N(active_lanes), N(broken), N(error_pc_valid), N(error_pc);
		if (HAS(WS_WARP_N_REGS))
			N(n_regs);
		if (HAS(WS_WARP_SHARED_BYTES))
			N(shared_bytes);
		if (HAS(WS_WARP_CBU))
			N(in_syscall_lanes), N(cbu_active_lanes), N(cbu_exited_lanes),
				N(cbu_collective_lanes);
		if (HAS(WS_WARP_BARRIER))
			N(barrier_scope), T(barrier_text);
		registers(target, i, 0, WS_REG_UR, "uregs");
		registers(target, i, 0, WS_REG_UP, "upreds");
		registers(target, i, 0, WS_REG_BARRIER, "barriers");
		number("n_lanes", n_lanes);
		putchar('\n');
		for (uint32_t l = 0; l < n_lanes; l++)
			lane_print(target, i, l, &lanes[l]);
	}
}

static struct ws_address address_of(const struct ws_target *target,
				    const struct ws_memory_range *range)
{
	struct ws_counts n;
	struct ws_warp warp;
	struct ws_address at = { range->space,      range->bank, WS_NONE,     range->grid_index,
				 range->warp_index, range->lane, range->start };
	ws_target_counts(target, &n);
	if (range->space == WS_SPACE_CONST)
		at.address = 0;
	/* shared memory is asked for by a warp of the block */
	for (uint32_t w = 0; range->space == WS_SPACE_SHARED && w < n.warps; w++) {
		if (ws_target_warp(target, w, &warp, NULL) == WS_OK &&
		    warp.block_index == range->block_index) {
			at.warp_index = w;
			break;
		}
	}
	return at;
}

static void memory(const struct ws_target *target)
{
	static const char *const spaces[] = { "global", "shared", "local", "param", "const" };
	struct ws_memory_range v;
	for (uint32_t i = 0; ws_target_memory_range(target, i, &v, NULL) == WS_OK; i++) {
		printf("%s %u", spaces[v.space], i);
		N(managed), I(grid_index), I(block_index), I(warp_index), I(lane), N(bank);
		N(start), N(size), N(bytes_present);
		uint8_t *bytes = malloc(v.bytes_present + 1);
		struct ws_address at = address_of(target, &v);
		struct ws_error err;
		size_t n = 0;
		enum ws_status st =
			ws_target_read_memory(target, &at, bytes, v.bytes_present, &n, &err);
		printf(" read=%s crc=%08lx\n", ws_status_name(st), crc32(0, bytes, (uInt)n));
		free(bytes);
	}
}

static void facts(const struct ws_target *target)
{
	struct ws_dump_facts v;
	if (ws_target_dump_facts(target, &v, NULL) != WS_OK)
		exit(1);
	printf("facts 0");
	N(bytes), N(complete), N(have_metadata), N(classic);
	printf(" layout=%s", v.layout ? v.layout : "-");
	if (v.have_metadata)
		T(generator), N(driver_major), N(driver_minor), N(cuda_major), N(cuda_minor);
	if (v.have_flags)
		N(flags);
	if (v.have_time)
		N(timestamp);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct ws_error err;
	struct ws_target *target;
	if (argc != 2)
		return 2;
	if (ws_core_open(argv[1], NULL, &target, &err) != WS_OK) {
		printf("refused %s: %s\n", ws_status_name(err.status), err.message);
		return 1;
	}
	struct ws_counts n;
	ws_target_counts(target, &n);
	facts(target);
	devices(target, n.devices);
	contexts(target, n.contexts);
	images(target, n.modules);
	grids(target, n.grids);
	sms(target, n.sms);
	blocks(target, n.blocks);
	warps(target, n.warps);
	memory(target);
	struct ws_diagnostic d;
	for (uint32_t i = 0; ws_target_diagnostic(target, i, &d, NULL) == WS_OK; i++)
		printf("diagnostic %u what=%s off=%" PRId64 " repeats=%" PRIu64 " %s\n", i, d.what,
		       (int64_t)d.file_off, d.repeats, d.message);
	ws_target_close(target);
	return 0;
}
