/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the addresses of an access lead: checked for each lane before anything is touched.
 *
 * An access first computes all addresses, then looks for the usual case: all lanes in one page of
 * global memory, or all in the shared memory of their block. Else each lane is resolved by itself.
 */
#ifndef WSI_SIM_ACCESS_H
#define WSI_SIM_ACCESS_H

#include "sim/exec/exec.h"

/* Bytes of one lane's access. Local memory keeps a lane's words apart. */
struct wsi_lane_spot {
	uint8_t *bytes;
	size_t step; /* from one word to the next; 4 where they are together */
};

/* Bytes of global memory, all in one page; NULL: they are not to be had. `*ret_region` is where the
 * first one is, NULL for nowhere. */
uint8_t *wsi_sim_global_bytes(struct wsi_run *run, uint64_t address, uint64_t len, bool write,
			      struct wsi_region **ret_region);

/*
 * Finds what `bytes` (1, 2, 4, 8 or 16) at the address of a lane are; misaligned, out of range, not
 * allocated, read-only for a write: false, and the fault is recorded.
 */
bool wsi_sim_spot(struct wsi_run *run, enum ws_sass_space space, unsigned lane, uint64_t address,
		  unsigned bytes, bool write, struct wsi_lane_spot *ret_spot);

/*
 * Finds what `bytes` at the address of each lane of `lanes` are. `*ret_good`: those whose access is
 * right; all that are not are blamed. False: the instruction does nothing, its fault is to surface.
 */
bool wsi_spots(struct wsi_run *run, enum ws_sass_space space, uint32_t lanes,
	       const uint64_t addresses[WSI_LANES], unsigned bytes, bool write,
	       struct wsi_lane_spot ret_spots[WSI_LANES], uint32_t *ret_good);

/* ---- row.c ---- */

/* A whole warp's access to words that are side by side in one page. */
enum wsi_row_kind {
	WSI_ROW_LANES, /* all words of lane 0, then those of lane 1 ... */
	WSI_ROW_SAME,  /* one lane's words, which all lanes access */
	WSI_ROW_LOCAL, /* the first word of all lanes, then the second ... */
};

struct wsi_access_row {
	uint8_t *bytes;
	enum wsi_row_kind kind;
};

/* False: it is no such access, or something is wrong with it; nothing is recorded. */
bool wsi_sim_row_find(struct wsi_run *run, const struct wsi_op *op, bool write,
		      struct wsi_access_row *ret_row);
void wsi_sim_row_load(const struct wsi_access_row *row, unsigned words, uint32_t *to);
void wsi_sim_row_store(const struct wsi_access_row *row, unsigned words, const uint32_t *from);

/* ---- reduce.c ---- */

/* What an atomic makes of the old value and its operand. */
enum wsi_reduction {
	WSI_REDUCE_NONE,
	WSI_REDUCE_ADD,
	WSI_REDUCE_MIN,
	WSI_REDUCE_MAX,
	WSI_REDUCE_INC,
	WSI_REDUCE_DEC,
	WSI_REDUCE_AND,
	WSI_REDUCE_OR,
	WSI_REDUCE_XOR,
	WSI_REDUCE_EXCH,
	WSI_REDUCE_CAS,
	WSI_REDUCE_ARRIVE, /* at a barrier in memory, up to sm_89 */
};

/* Integers come first. */
enum wsi_sim_element {
	WSI_U32,
	WSI_S32,
	WSI_U64,
	WSI_S64,
	WSI_F32,
	WSI_F32_FTZ,
	WSI_F64,
	WSI_F16,
	WSI_BF16,
};

/* By the modifiers of an instruction; integers are as wide as `bytes`. */
enum wsi_reduction wsi_reduction_of(const struct ws_insn *insn);
enum wsi_sim_element wsi_element_of(const struct ws_insn *insn, unsigned bytes);
unsigned wsi_element_bytes(enum wsi_sim_element element);
/* Whether wsi_reduce() does it. */
bool wsi_can_reduce(enum wsi_reduction reduction, enum wsi_sim_element element);
/* The new value of an element; what is above its width is not looked at, and of no meaning. */
uint64_t wsi_reduce(enum wsi_reduction reduction, enum wsi_sim_element element, uint64_t old,
		    uint64_t value);

/* Reduces elements side by side, `n` bytes of them, into those at `to`. */
void wsi_reduce_bytes(enum wsi_reduction reduction, enum wsi_sim_element element, uint8_t *to,
		      const uint8_t *from, unsigned n);

/* ---- mbarrier.c ---- */

/* What happens to a barrier in memory at once. */
struct wsi_arrival {
	uint32_t count; /* threads that arrive */
	int64_t tx;     /* transaction bytes that are expected now, less those that are complete */
	bool drops;     /* those who arrive will not come again */
};

/* From sm_90 on. The address is of shared memory of the cluster. False: the fault is recorded. */
bool wsi_mbarrier_arrive(struct wsi_run *run, unsigned lane, uint64_t address,
			 const struct wsi_arrival *arrival, uint64_t *ret_old);

/* A barrier of sm_80 to sm_89 after one more arrival. */
uint64_t wsi_mbarrier_arrive_80(uint64_t word);

/* ---- bulk.c ---- */

/* So many bytes of a transaction are done. False: the fault is recorded. */
bool wsi_complete(struct wsi_run *run, unsigned lane, uint32_t barrier, uint32_t bytes);

/* The same place in the shared memory of another block of the cluster. */
uint32_t wsi_shared_peer(uint32_t address, unsigned rank);

#endif
