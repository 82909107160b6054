/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hardware does not tell (options.check): races, reads of what nobody wrote, barriers at
 * which threads do not meet, accesses between objects, products that did not fit.
 *
 * **Nothing without it.** A device that checks decodes operations to one handler,
 * wsi_run_checked(), which looks at an operation, lets it run and notes what it did; other devices
 * know nothing of it.
 *
 * **What is known.** For each 4 bytes of shared and global memory the last write and two reads: by
 * whom, where and when. For each warp a clock: up to which time the accesses of others are ordered
 * before what it does now. Clocks are joined at barriers, and through words that atomics and
 * other strong accesses meet at: what a warp did before its last fence is ordered before what
 * another does after it has seen the word. Where something must be forgotten (bounded memory) an
 * order is assumed: a finding is never made up.
 *
 * Time is the number of checked operations. An entity is a warp, or all warps of a block.
 */
#ifndef WSI_SIM_CHECK_H
#define WSI_SIM_CHECK_H

#include "sim/operand/operand.h"

enum {
	WSI_SHADOW_BITS = 12,
	WSI_SHADOW_BYTES = 1 << WSI_SHADOW_BITS, /* of memory that a chunk is about */
	WSI_SHADOW_WORDS = WSI_SHADOW_BYTES / 4,
	WSI_SHADOW_READS = 2,
	WSI_ENTITY_BITS = 6,                           /* of an entity: the warp in its block */
	WSI_ENTITY_BLOCK = (1 << WSI_ENTITY_BITS) - 1, /* all of the block */
};

/* One access to 4 bytes. `time` 0: none. */
struct wsi_shadow_access {
	uint64_t time;
	uint64_t pc;
	uint32_t entity, group; /* lanes that ran together */
	uint8_t lane, bytes;    /* which of the four, a mask */
	bool strong;            /* an atomic, or an access that may meet others */
};

struct wsi_shadow_word {
	struct wsi_shadow_access write, read[WSI_SHADOW_READS]; /* reads of two warps */
};

struct wsi_shadow_chunk {
	struct wsi_shadow_chunk *next;
	uint64_t key;
	uint64_t written[WSI_SHADOW_BYTES / 64]; /* a bit for each byte */
	struct wsi_shadow_word *words;           /* owned; NULL: not accessed */
};

/* Memory by keys: see wsi_check_shared_key(). */
struct wsi_shadow {
	struct wsi_shadow_chunk **buckets; /* owned, and so are chunks */
	uint64_t bytes, limit;
	uint64_t lost; /* accesses that there was no room for */
};

/* Times up to which others' accesses are ordered before. All-zero knows nobody. */
struct wsi_clock {
	struct {
		uint32_t entity;
		uint64_t time;
	} * entry; /* owned; by entity */
	size_t n, cap;
	uint64_t floor; /* of all others */
};

/* A word at which warps meet. */
struct wsi_meeting {
	struct wsi_meeting *next;
	uint64_t key;
	struct wsi_clock clock;
};

/* Where something was read that nobody wrote. `pc` 0: nowhere yet. */
struct wsi_trail_origin {
	uint64_t pc, address;
	uint8_t space; /* enum ws_sim_space */
};

/* Which lanes' 32 bits are a product that did not fit, or what was made of one: see wrap.c. */
struct wsi_wrap {
	uint32_t wrapped; /* a number of 32 bits that would be another, had it room */
	uint32_t above;   /* the upper half of 64 bits that such a number was made */
	uint32_t bent;    /* no number of which anything is concluded */
	uint32_t product; /* of `wrapped` and `above`: its number */
};

/* A register, a predicate, or a word of local memory, of all lanes. */
struct wsi_trail_word {
	struct wsi_wrap wrap;
	uint32_t unknown; /* lanes in which nobody wrote it, or what it was made of */
	struct wsi_trail_origin origin;
	uint32_t of[WSI_LANES]; /* the allocation that it points into, or should */
};

/* What the registers and the stacks of a warp hold. */
struct wsi_trail {
	struct wsi_trail_word **local; /* owned, and they are: chunks as those of the memory */
	size_t n_local;
	struct wsi_trail_word pred[8];
	uint32_t uniform[256]; /* as `of`: they count as written */
	struct wsi_wrap uniform_wrap[256];
	struct wsi_wrapped_product
		*products; /* owned; NULL: all fitted. The last ones, by number */
	uint32_t n_products, n_regs;
	struct wsi_trail_word reg[];
};

/* Of a warp. */
struct wsi_trace {
	struct wsi_trail *trail;        /* owned */
	struct wsi_clock knows, fenced; /* now, and at its last fence */
	uint32_t tellers;               /* lanes that had a part in a fence */
	uint64_t met;                   /* when a lane last saw what any of them had told */
	uint32_t entity;
	uint64_t lanes[WSI_LANES][WSI_LANES]; /* what each lane knows of each other one */
};

/* Of a block. */
struct wsi_block_trace {
	struct wsi_check *check;
	uint32_t number;
	struct wsi_shadow_access at[WSI_BARRIERS]; /* who came first, time 0: nobody */
};

/* Where a block was: it may be gone. */
struct wsi_block_place {
	struct ws_dim3 idx, dim;
	uint64_t grid;
};

/* A variable of a module, or several that lie in each other. */
struct wsi_extent {
	uint64_t start, size;
};

/* An instruction that holds the address of a symbol, or a half of it. */
struct wsi_named_address {
	uint64_t pc, address;
};

struct wsi_check {
	uint64_t time, floor; /* before `floor` another grid ran */
	uint64_t grid;        /* whose blocks run */
	struct wsi_shadow shadow;
	struct wsi_meeting **meetings; /* owned, and they are */
	size_t n_meetings;
	struct wsi_extent *variables; /* owned; by address */
	size_t n_variables, cap_variables;
	struct wsi_named_address *named; /* owned; by pc */
	size_t n_named, cap_named;
	struct wsi_block_place *blocks; /* owned; by number */
	size_t n_blocks, cap_blocks;
	struct ws_sim_finding *findings; /* owned */
	size_t n_findings, cap_findings;
	bool no_memory, watching; /* watching: the operation that runs is */
};

/* ---- shadow.c ---- */

/* The chunk of a key; NULL: nothing is known of it, or (`make`) there is no room. */
struct wsi_shadow_chunk *wsi_shadow_find(struct wsi_shadow *shadow, uint64_t key, bool make);
/* Its words; NULL: no room. */
struct wsi_shadow_word *wsi_shadow_words(struct wsi_shadow *shadow, uint64_t key);
/* Notes that bytes were written; asks whether any of them was. Within one chunk. */
void wsi_shadow_mark(struct wsi_shadow *shadow, uint64_t key, uint64_t n);
bool wsi_shadow_any(struct wsi_shadow *shadow, uint64_t key, uint64_t n);
void wsi_shadow_forget(struct wsi_shadow *shadow, uint64_t key, uint64_t n);
void wsi_shadow_fini(struct wsi_shadow *shadow);

/* ---- clock.c ---- */

bool wsi_clock_set(struct wsi_clock *clock, uint32_t entity, uint64_t time) WS_MUST_USE;
bool wsi_clock_join(struct wsi_clock *clock, const struct wsi_clock *other) WS_MUST_USE;
/* The time up to which an entity is known. */
uint64_t wsi_clock_knows(const struct wsi_clock *clock, uint32_t entity);
void wsi_clock_fini(struct wsi_clock *clock);

/* ---- check.c ---- */

struct wsi_check *wsi_check_create(void);
void wsi_check_destroy(struct wsi_check *check);
/* While a module is relocated: an instruction has got the address of a symbol. */
bool wsi_check_name(struct wsi_check *check, uint64_t pc, uint64_t address) WS_MUST_USE;
/* The address of a symbol that an instruction holds, 0: none. */
uint64_t wsi_check_named(const struct wsi_check *check, uint64_t pc);
/* Makes the variables of a module known that is placed and relocated. */
enum ws_status wsi_check_module(struct wsi_check *check, const struct wsi_module *module,
				struct ws_error *err) WS_MUST_USE;
/* The variable at an address, NULL: none. */
const struct wsi_extent *wsi_check_variable(const struct wsi_check *check, uint64_t address);
/* The key of shared memory; that of global memory is its address. */
uint64_t wsi_check_shared_key(const struct wsi_block *block, uint32_t offset);
/* Blocks come and go. False: no memory. */
bool wsi_check_enter(struct ws_sim *sim, struct wsi_block *block) WS_MUST_USE;
void wsi_check_leave(struct wsi_block *block);
/* All threads of a barrier of a block have come; of a cluster, of any device. */
void wsi_check_barrier(struct wsi_block *block, unsigned number);
void wsi_check_cluster(struct wsi_cluster *cluster);
/* Lanes that ran together until now, or that have met. */
void wsi_check_together(struct wsi_warp *warp, uint32_t lanes);
/* Threads come to a barrier for all of the block; and when nobody can go on. */
void wsi_check_arrive(struct wsi_run *run, unsigned number);
void wsi_check_stuck(const struct ws_sim *sim);
/* The host has written, or something else that is not watched. */
void wsi_check_written(struct wsi_check *check, uint64_t key, uint64_t n);
/* Adds a finding, which is returned, or counts it once more. `other` may be NULL. */
struct ws_sim_finding *wsi_check_tell(struct wsi_check *check, enum ws_sim_finding_kind kind,
				      enum ws_sim_space space, uint64_t address,
				      const struct wsi_shadow_access *who,
				      const struct wsi_shadow_access *other);

/* ---- trail.c ---- */

/* What one takes. */
size_t wsi_trail_bytes(uint32_t n_regs);
struct wsi_trail *wsi_trail_create(uint32_t n_regs);
void wsi_trail_destroy(struct wsi_trail *trail);
/* What an operation is about to do to registers and stacks, and what is wrong with that. */
void wsi_trail_follow(struct wsi_run *run, const struct wsi_op *op);
/* Lanes have called a function of the device's own. */
void wsi_trail_called(struct wsi_warp *warp, uint32_t lanes);

/* A party of findings: one of some lanes at an instruction. */
struct wsi_shadow_access wsi_trail_party(const struct wsi_run *run, uint64_t pc, uint32_t lanes);

/* ---- wrap.c ---- */

/* What an operation does to products that did not fit, for wsi_op.wrap. */
uint8_t wsi_wrap_kind(const struct wsi_op *op);
/* What an operation that accesses no memory is about to make of them: the first word of its
 * results, and the others. */
void wsi_wrap_follow(struct wsi_run *run, const struct wsi_op *op, struct wsi_wrap made[2]);
/* Puts some lanes of a word. */
void wsi_wrap_put(struct wsi_wrap *to, const struct wsi_wrap *from, uint32_t mask);
/* Tells of an access to global memory whose address was made of one. */
void wsi_wrap_access(const struct wsi_run *run, const struct wsi_op_address *at,
		     const uint64_t address[WSI_LANES]);

/* ---- watch.c ---- */

/* On a device that checks, in place of an operation that accesses memory, and of any other. */
wsi_handler wsi_run_checked, wsi_run_followed;
/* An operation that is not watched (a copy in the background) writes: nobody can tell who did. */
void wsi_check_copied(const struct wsi_run *run, enum ws_sass_space space, uint64_t address,
		      unsigned bytes);
/* A lane has written bytes, at most 16, which it found by itself; `before`: what was there. */
void wsi_check_stored(const struct wsi_run *run, enum ws_sass_space space, unsigned lane,
		      uint64_t address, const uint8_t *before, unsigned bytes);
/* A lane has read a texel, which it found by itself. */
void wsi_check_fetched(const struct wsi_run *run, unsigned lane, uint64_t address, unsigned bytes);
void wsi_meetings_fini(struct wsi_check *check);

#endif
