/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that find out who waits for what share:
 *
 *   wait.c    threads that wait, by instruction and calls; who is missing
 *   code.c    what an instruction waits for, as the code around it tells
 *   absent.c  who is missing, block by block and warp by warp
 *   mask.c    masks of lanes that lack the lanes that use them
 *   word.c    words that are waited for: address, owner, value, what they have to be
 */
#ifndef WSI_WAIT_H
#define WSI_WAIT_H

#include <warpscope/flow.h>

#include "report/build.h"

enum {
	WSI_MAX_ABSENTEES =
		16, /* kinds of absent threads of one wait; more are added to the last */
	WSI_MAX_WAITS = 512,
	WSI_MAX_ADDRESSES = 1024, /* parts whose addresses are compared */
	WSI_MAX_WORDS = 32,       /* waits whose words in memory are looked at */
	WSI_MAX_STACK = 16,       /* callers that are looked at */
	WSI_MAX_PATH = 4,         /* calls from a loop to what it reads */
	WSI_MAX_FLOW_BYTES = 1 << 28,
	WSI_NOT_GIVEN = 255, /* place of an operand that the instruction does not have */
};

/* Return addresses of a thread, innermost first. */
struct wsi_stack {
	struct ws_return_address at[WSI_MAX_STACK];
	uint32_t n;
};

/* What the code at a pc waits for. */
struct wsi_wait_code {
	bool waits;
	enum ws_wait_kind kind;
	enum ws_confidence confidence;
	const char *evidence;
	const char *instruction;     /* text of the instruction that waits */
	uint64_t pc;                 /* its address */
	struct ws_operand id, count; /* BARRIER: kind IMMEDIATE or REG; CONVERGENCE: id is BREG, or
					as wsi_explain_mask(); place WSI_NOT_GIVEN: none */
	bool arrivals;               /* BARRIER: its function also arrives without waiting */
	bool packed; /* BARRIER: one register has the number in bits 0-3, the count in 16-27 */

	/* SPIN, MBARRIER, GRID: `pc` reads; from there `path` leads to the loop, which lies in the
	 * `level`th caller of where the thread is */
	uint64_t stack_hash; /* with `level`: of the example's callers */
	uint64_t path[WSI_MAX_PATH];
	uint32_t n_path, level;
	enum ws_space space;
	struct ws_operand phase; /* MBARRIER: its bit 31 is the phase's parity, at `phase_pc` */
	uint64_t phase_pc;
	int object_off; /* from what is read to the object */
	/* the compare that decides, as in struct ws_flow_loop */
	enum ws_flow_test test;
	bool test_signed;
	struct ws_flow_other test_with[2];
	uint8_t n_test_with, n_test_words, test_words;
	bool test_each;
	uint64_t test_plus;
};

/* One of the flows of functions that were looked at last. */
struct wsi_wait_flow {
	const struct ws_cubin *cubin;
	const struct ws_function *function;
	struct ws_flow *flow; /* owned */
};

struct wsi_wait_flows {
	struct wsi_wait_flow at[8];
	size_t next;
	uint64_t used_bytes; /* of code that flows were made of, at most WSI_MAX_FLOW_BYTES */
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
	size_t first_part[WSI_MAX_WAITS]; /* by wait, until they are sorted */
	struct wsi_map by_key, group_at;  /* key -> wait; place and state -> group */
};

/* code.c */

void wsi_wait_flows_fini(struct wsi_wait_flows *flows);
/* What the instruction at `pc`, reached by `stack`, waits for. Fails for lack of memory only. */
enum ws_status wsi_wait_classify(struct wsi_build *build, struct wsi_wait_flows *flows,
				 const struct wsi_where *where, uint64_t pc, bool by_hardware,
				 const struct wsi_stack *stack,
				 struct wsi_wait_code *ret_code) WS_MUST_USE;
/* What a function is known to wait for: kind as in data/waits.txt; NULL: it is not in the list. */
const char *wsi_wait_known(struct ws_str name, bool *ret_grid);

/* mask.c */

/* Says of waits for other lanes what their masks lack. */
enum ws_status wsi_wait_masks(struct wsi_waits *w) WS_MUST_USE;

/* word.c */

/* The value of an operand in a lane, one of role OFFSET read from constant bank 0; false when the
 * target does not have it. */
bool wsi_wait_operand(const struct wsi_waits *w, const struct wsi_part *part, uint32_t lane,
		      const struct ws_operand *op, uint64_t *ret_value);
/* Fills what the waits look at: address, owner, value, what it has to be. */
enum ws_status wsi_wait_words(struct wsi_waits *w) WS_MUST_USE;

/* wait.c */

/* Whether threads that wait like this read a word in memory. */
bool wsi_wait_reads_word(enum ws_wait_kind kind);
/* The callers of a part's first thread. */
void wsi_part_stack(const struct wsi_waits *w, const struct wsi_part *part,
		    struct wsi_stack *ret_stack);
/* Where a thread of a part is. */
struct ws_report_thread wsi_part_thread(const struct wsi_waits *w, const struct wsi_part *part);

/* absent.c */

/* Finds who is missing at barriers and convergences; the parts are sorted by block. */
enum ws_status wsi_wait_absentees(struct wsi_waits *w) WS_MUST_USE;
/* The wait that the others follow from; WS_NONE: there is none. */
uint32_t wsi_wait_root(const struct ws_report_wait *list, uint32_t n);

#endif
