/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a dump of a GPU that a program knows of itself, as an emulator would, and opens it again:
 * 02-write DUMP
 */
#include <inttypes.h>
#include <stdio.h>

#include <warpscope/core.h>
#include <warpscope/write.h>

static enum ws_status launch_write(struct ws_writer *writer, const struct ws_write_table *devices,
				   struct ws_error *err)
{
	struct ws_context context = { .id = 1 };
	struct ws_module module = { .handle = 2 };
	struct ws_grid grid = { .id = 1,
				.context_id = 1,
				.module_handle = 2,
				.grid_dim = { 1, 1, 1 },
				.block_dim = { 2, 1, 1 } };
	struct ws_bank bank = { .id = 3, .address = 0x7f0000001000, .size = 256 };
	struct ws_write_table contexts, grids;
	enum ws_status st = ws_writer_contexts(writer, devices, 0, 0, &context, 1, &contexts, err);
	if (st == WS_OK)
		st = ws_writer_modules(writer, &contexts, 0, &module, 1, NULL, err);
	if (st == WS_OK)
		st = ws_writer_grids(writer, devices, 0, &grid, 1, &grids, err);
	return st == WS_OK ? ws_writer_banks(writer, &grids, 0, &bank, 1, err) : st;
}

static enum ws_status warp_write(struct ws_writer *writer, const struct ws_write_table *devices,
				 struct ws_error *err)
{
	struct ws_sm sm = { .id = 0 };
	struct ws_block block = { .grid_id = 1 };
	struct ws_warp warp = { .valid_lanes = 3, .active_lanes = 2 };
	struct ws_lane lanes[] = {
		{ .id = 0, .pc = 0x7f0000000080 },
		{ .id = 1, .pc = 0x7f0000000090, .thread = { 1, 0, 0 }, .exception = 14 }
	};
	const uint32_t registers[] = { 5, 0xdeadbeef };
	struct ws_write_table sms, blocks, warps, lane_table;
	enum ws_status st = ws_writer_sms(writer, devices, 0, &sm, 1, &sms, err);
	if (st == WS_OK)
		st = ws_writer_blocks(writer, &sms, 0, &block, 1, &blocks, err);
	if (st == WS_OK)
		st = ws_writer_warps(writer, &blocks, 0, &warp, 1, &warps, err);
	if (st == WS_OK)
		st = ws_writer_lanes(writer, &warps, 0, lanes, 2, &lane_table, err);
	return st == WS_OK ? ws_writer_words(writer, &lane_table, 1, WS_REG_R, registers, 2, err)
			   : st;
}

static enum ws_status dump_write(const char *path, struct ws_error *err)
{
	struct ws_device device = { .name = ws_str_of("An emulator"),
				    .sm_type = ws_str_of("sm_90"),
				    .n_sms = 1,
				    .n_warps_per_sm = 1,
				    .n_lanes_per_warp = 32 };
	struct ws_write_table devices;
	struct ws_writer *writer;
	enum ws_status st = ws_writer_open(path, NULL, &writer, err);
	if (st != WS_OK)
		return st;
	st = ws_writer_devices(writer, &device, 1, &devices, err);
	if (st == WS_OK)
		st = launch_write(writer, &devices, err);
	if (st == WS_OK)
		st = warp_write(writer, &devices, err);
	if (st == WS_OK)
		st = ws_writer_commit(writer, err);
	ws_writer_close(writer); /* without a commit nothing remains of the file */
	return st;
}

int main(int argc, char **argv)
{
	struct ws_error err;
	struct ws_target *target;
	struct ws_lane lane;
	if (argc != 2 || dump_write(argv[1], &err) != WS_OK ||
	    ws_core_open(argv[1], NULL, &target, &err) != WS_OK) {
		fprintf(stderr, "%s\n", argc == 2 ? err.message : "usage: 02-write DUMP");
		return 1;
	}
	enum ws_status st = ws_target_lane(target, 0, 1, &lane, &err);
	if (st == WS_OK)
		printf("thread (%u,0,0): exception %u at 0x%" PRIx64 "\n", lane.thread.x,
		       lane.exception, lane.pc);
	ws_target_close(target);
	return st != WS_OK;
}
