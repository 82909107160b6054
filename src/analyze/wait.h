/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files share that find out who waits for what:
 *
 *   wait.c        threads that wait, by instruction and calls; who is missing
 *   wait_code.c   what an instruction waits for, as the code around it tells
 *   wait_absent.c who is missing, block by block and warp by warp
 *   wait_state.c  addresses, values and barrier masks, from registers and memory
 */
#ifndef WSI_ANALYZE_WAIT_H
#define WSI_ANALYZE_WAIT_H

#include <warpscope/flow.h>

#include "analyze/build.h"

enum {
	WSI_MAX_ABSENTEES =
		16, /* kinds of absent threads of one wait; more are added to the last */
	WSI_MAX_ADDRESSES = 1024, /* warps whose addresses are compared */
};

/* What the code at a pc waits for. */
struct wsi_wait_code {
	bool waits;
	enum ws_wait_kind kind;
	enum ws_confidence confidence;
	const char *evidence;
	const char *instruction;     /* text of the instruction that waits */
	uint64_t pc;                 /* its address */
	struct ws_operand id, count; /* BARRIER: kind IMMEDIATE or REG; CONVERGENCE: id is BREG,
					IMMEDIATE (a mask) or REG; place 255: not given */
	/* SPIN, MBARRIER, GRID: the operand that is the address; sure while it is read from
	 * registers that nothing between that instruction and the lane's pc writes */
	bool have_address;
	struct ws_operand base, ubase; /* place 255: none */
	int64_t offset;
	enum ws_space space;
	unsigned bytes;
};

/* One of the flows of functions that were looked at last. */
struct wsi_wait_flow {
	const struct ws_module *module;
	const struct ws_function *function;
	struct ws_flow *flow; /* owned */
};

struct wsi_wait_flows {
	struct wsi_wait_flow at[8];
	size_t next;
};

/* Lanes of one warp at one pc in one state. */
struct wsi_part {
	uint32_t warp, block; /* indices in the map */
	uint32_t lanes;
	uint32_t group;
	uint32_t wait;    /* WS_NONE: does not wait */
	uint32_t barrier; /* number of a barrier of the block; WS_NONE: not known */
	uint32_t mask;    /* lanes that a convergence needs */
};

struct wsi_waits {
	struct wsi_build *build;
	struct wsi_wait_flows flows;
	struct wsi_wait_code *code; /* owned; by group */
	size_t n_code;
	struct wsi_part *parts; /* owned; by warp */
	size_t n_parts, cap_parts;
	struct ws_report_wait *list; /* owned */
	size_t n_list, cap_list;
	struct wsi_map by_key, group_at; /* key -> wait; place and state -> group */
};

/* wait_code.c */

void wsi_wait_flows_fini(struct wsi_wait_flows *flows);
/* What the instruction at `pc` waits for. Fails for lack of memory only. */
enum ws_status wsi_wait_classify(struct wsi_build *build, struct wsi_wait_flows *flows,
				 const struct wsi_where *where, uint64_t pc, bool by_hardware,
				 struct wsi_wait_code *ret_code) WS_MUST_USE;
/* What a function is known to wait for: kind as in data/waits.txt; NULL: it is not in the list. */
const char *wsi_wait_known(struct ws_str name, bool *ret_grid);

/* wait_state.c */

/* The value of an operand in a lane; false when the target does not have it. */
bool wsi_wait_operand(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
		      const struct ws_operand *op, uint64_t *ret_value);
/* The address that a lane waits at. */
bool wsi_wait_address(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
		      const struct wsi_wait_code *code, uint64_t *ret_address);
/* Fills address and value of a wait from its example. */
void wsi_wait_read_word(struct wsi_build *build, const struct wsi_wait_code *code,
			uint32_t device_index, struct ws_report_wait *wait);

/* wait.c */

uint32_t wsi_count_lanes(uint32_t mask);
uint32_t wsi_first_lane(uint32_t mask);
/* Where a thread of a part is. */
struct ws_report_thread wsi_part_thread(const struct wsi_waits *w, const struct wsi_part *part);

/* wait_absent.c */

/* Finds who is missing at barriers and convergences; the parts are sorted by block. */
enum ws_status wsi_wait_absentees(struct wsi_waits *w) WS_MUST_USE;

#endif
