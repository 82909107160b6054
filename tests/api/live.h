/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: a session, waiting for events, places in kernels. */
#ifndef LIVE_H
#define LIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/cudbg.h>
#include <warpscope/sass.h>

#include "harness.h"
#include "route.h"
#include "target/device.h"

/* fatbins of tests/sim/kernels/live.cu, the same with -G, service.cu, child.cu, cluster.cu,
 * bulk.cu, group.cu */
extern const char *kernels, *debug_kernels, *service, *children, *cluster_kernels, *bulk_kernels,
	*group_kernels;
/* From the command line, in this order. */
void live_images(char **paths);
extern struct device device;
extern CUDBGAPI api;

enum { DEV = 0 };

/* Calls by name; the code must be one that the tables list. */
#define CALL(name, ...) note(SLOT(name), api->name(__VA_ARGS__))
#define CALL0(name) note(SLOT(name), api->name())
#define GOOD(name, ...) assert_int_equal(CALL(name, __VA_ARGS__), CUDBG_SUCCESS)
#define GOOD0(name) assert_int_equal(CALL0(name), CUDBG_SUCCESS)
CUDBGResult note(unsigned slot, CUDBGResult result);

/* A table of what was launched. */
void open_table(void);
/* A session of it; launches go on untold. */
void begin_session(void);
/* Both. */
void begin(uint32_t capabilities);
/* Over a kernel whose first arguments are the device's memory: `out`, and `in` if `both`. */
void start_over(const char *kernel, unsigned blocks, unsigned threads, bool both,
		const uint64_t *more, size_t n_more);
/* Over one that ends when a word of `in` is no longer 0; its warps are there. */
void start_spinning(unsigned blocks, unsigned threads);
int stop(void **state);

void doze(void);
/* Waits for an event of a queue. */
CUDBGEvent await(CUDBGEventQueueType queue);
/* Lets a device that stands run until SM 0 has these warps, and those of `waiting` stand at an
 * address; then it stands again. */
void run_until(uint64_t warps, uint64_t waiting, uint64_t pc);
void expect(CUDBGEventQueueType queue, CUDBGEventKind kind);
void expect_stop(void);
void expect_end(void);
void expect_nothing(void);
/* One record in the device's log; of a host thread. */
void log_once(const char *text);
void log_of(uint32_t host_tid, const char *text);

/* Address of the kernel that was queued last. */
uint64_t entry(void);
/* The `n`th instruction of this operation from the kernel's start on. */
uint64_t find(enum ws_operation operation, unsigned n);
uint64_t pc_of(uint32_t sm, uint32_t wp, uint32_t ln);
uint64_t broken(uint32_t sm);
uint64_t valid(uint32_t sm);
/* The SM and slot of a broken warp, of which there is one. */
void one_broken(uint32_t *ret_sm, uint32_t *ret_wp);
CUDBGBreakpointHandle hit(uint32_t sm, uint32_t wp);
/* Starts, and stands when the kernel's first warp does, with all warps of the grid there. */
void stop_at_start(void);
/* Starts a kernel whose thread 40, of the second warp, accesses a bad address. */
void run_into_fault(void);
/* Starts one that traps. */
void run_into_trap(void);
uint32_t step(uint32_t sm, uint32_t wp, uint32_t hint, uint32_t n, uint32_t flags);
/* Steps until the lanes that run next stand at a pc. */
void step_to(uint32_t sm, uint32_t wp, uint64_t pc);
/* Lanes of a warp that are there. */
uint32_t lanes_at(uint32_t sm, uint32_t wp, uint64_t pc);
/* Loads what is assembled of a text; its module. */
uint32_t load_text(const char *text);
/* A warp whose odd lanes and even lanes are to part, at its start. */
void start_whole(void);
/* It goes on to where they meet, which lane 6 has reached. */
uint64_t go_to_meeting(void);
/* Both. */
uint64_t start_parted(void);

/* A response of getDeviceInfo about at most LIVE_SMS SMs; what it leaves out is 0. */
enum { LIVE_SMS = 8, LIVE_WARPS = 64 };

struct told_warp {
	CUDBGWarpInfo info;
	uint32_t exception;
	uint64_t error_pc;
	CuDim3 cluster_idx, cluster_dim, cluster_target;
	CUDBGBreakpointHandle handle;
};

struct told {
	bool is_update;
	uint64_t updated, active, faulted; /* SMs */
	CUDBGSMInfo sm[LIVE_SMS];
	uint64_t updated_warps[LIVE_SMS];
	struct told_warp warp[LIVE_SMS][LIVE_WARPS];
};

/* The next one; borrowed until then. */
const struct told *ask_info(CUDBGDeviceInfoQueryType_t type);

/* live_capabilities.c */
extern const struct CMUnitTest live_capabilities_tests[];
extern const size_t n_live_capabilities_tests;
/* A kernel of four warps that make a product; warp 2 is at the instruction that waits for it. Its
 * address. */
uint64_t start_group(void);
/* One of a host thread whose call stack is known. */
extern const struct ws_sim_launch host_launch;
extern const uint64_t host_frames[3];

/* live_child.c */
extern const struct CMUnitTest live_child_tests[];
extern const size_t n_live_child_tests;
/* live_engine.c */
extern const struct CMUnitTest live_engine_tests[];
extern const size_t n_live_engine_tests;
/* live_forms.c */
extern const struct CMUnitTest live_forms_tests[];
extern const size_t n_live_forms_tests;
/* live_state.c */
extern const struct CMUnitTest live_state_tests[];
extern const size_t n_live_state_tests;
/* live_contracts.c */
extern const struct CMUnitTest live_contracts_tests[];
extern const size_t n_live_contracts_tests;
/* live_info.c */
extern const struct CMUnitTest live_info_tests[];
extern const size_t n_live_info_tests;
/* live_rules.c */
extern const struct CMUnitTest live_rules_tests[];
extern const size_t n_live_rules_tests;
/* live_steps.c */
extern const struct CMUnitTest live_steps_tests[];
extern const size_t n_live_steps_tests;
/* live_sweeps.c */
extern const struct CMUnitTest live_sweeps_tests[];
extern const size_t n_live_sweeps_tests;
/* live_threads.c */
extern const struct CMUnitTest live_threads_tests[];
extern const size_t n_live_threads_tests;
/* live_told.c */
extern const struct CMUnitTest live_told_tests[];
extern const size_t n_live_told_tests;
/* live_two.c */
extern const struct CMUnitTest live_two_tests[];
extern const size_t n_live_two_tests;

#endif
