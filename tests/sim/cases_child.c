/* SPDX-License-Identifier: Apache-2.0 */
/* Launches from the device: what children compute, in which order they run, and the errors. */
#include <warpscope/cudadebugger.h>
#include <warpscope/sim_target.h>
#include <warpscope/target.h>

#include "job.h"

static void many_children(struct job *j)
{
	enum { N = 20 };
	uint32_t *out = job_buffer(j, N * 64 * 4), want[N * 64];
	job_launch(j, "many_children", 2, 32, "pi", out, N);
	for (unsigned i = 0; i < N * 64; i++)
		want[i] = 2 * (i / 64) + 1000;
	job_same(j, out, want, N * 64);
}

/* Children before what was launched for the end, in the order of their launch. */
static void order(struct job *j)
{
	static const uint32_t want[12] = { 1, 10, 11, 12, 20, 21, 22, 4, 5 };
	uint32_t *out = job_buffer(j, sizeof want);
	job_launch(j, "order", 1, 32, "p", out);
	job_same(j, out, want, 12);
}

static void deeper(struct job *j)
{
	uint32_t *out = job_buffer(j, 102 * 4), want[102] = { 0 };
	job_launch(j, "deeper", 1, 1, "pi", out, 0);
	for (uint32_t i = 0; i <= 24; i++)
		want[i] = i + 1;
	want[100] = 65 | 24 << 16; /* cudaErrorLaunchMaxDepthExceeded */
	job_same(j, out, want, 102);
}

static void too_many(struct job *j)
{
	static const uint32_t want[] = { 2048, 69, 69 }; /* cudaErrorLaunchPendingCountExceeded */
	uint32_t *out = job_buffer(j, 12);
	job_launch(j, "too_many", 1, 1, "p", out);
	job_same(j, out, want, 3);
}

static void wrong_launches(struct job *j)
{
	static const uint32_t want[] = { 9, 9, 9, 1, 1, 1, 98, 0 };
	uint32_t *out = job_buffer(j, 32);
	job_launch(j, "wrong_launches", 1, 1, "p", out);
	job_same(j, out, want, 8);
}

/* A child that fails: both grids are there. */
static void parent_of_bad(struct job *j)
{
	uint32_t *out = job_buffer(j, 128);
	struct ws_sim_fault fault = { 0 };
	struct ws_target *target = NULL;
	struct ws_grid grid[2] = { { 0 } };
	struct ws_error err = { 0 };
	enum ws_sim_outcome outcome = job_launch_bad(j, "parent_of_bad", 1, 32, "p", out);
	if (outcome != WS_SIM_FAULTED || !ws_sim_fault(j->sim, &fault) || fault.grid != 2 ||
	    fault.exception != 14) {
		job_fail(j, "outcome %d, grid %d: %s", (int)outcome, (int)fault.grid, fault.text);
		return;
	}
	if (ws_sim_target(j->sim, &target, &err) != WS_OK) {
		job_fail(j, "%s", err.message);
		return;
	}
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	uint32_t n = counts.grids;
	for (uint32_t i = 0; i < n && i < 2; i++)
		if (ws_target_grid(target, i, &grid[i], &err) != WS_OK)
			job_fail(j, "%s", err.message);
	if (n != 2 || grid[0].id != 2 || grid[0].parent_id != 1 ||
	    grid[0].origin != CUDBG_KNL_ORIGIN_GPU || grid[0].status != CUDBG_GRID_STATUS_ACTIVE ||
	    grid[1].id != 1 || grid[1].parent_id != 0 || grid[1].origin != CUDBG_KNL_ORIGIN_CPU ||
	    grid[1].status != CUDBG_GRID_STATUS_SLEEPING)
		job_fail(j, "%u grids: %d of %d, status %u; %d, status %u", n, (int)grid[0].id,
			 (int)grid[0].parent_id, grid[0].status, (int)grid[1].id, grid[1].status);
	ws_target_close(target);
}

const struct job_case job_child[] = {
	{ "child", "many_children", many_children, 0, NULL },
	{ "child", "order", order, 0, NULL },
	{ "child", "deeper", deeper, 0, NULL },
	{ "child", "too_many", too_many, 0, NULL },
	{ "child", "wrong_launches", wrong_launches, 0, NULL },
	{ "child", "parent_of_bad", parent_of_bad, 0, NULL },
	{ NULL, NULL, NULL, 0, NULL },
};
