/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global memory of a device.
 *
 *   regions, by address:  [start, start + size)  each with pages of WSI_PAGE_BYTES
 *                          |
 *                          +-> page: absent (zeros, or to be fetched), own bytes, or the caller's
 *
 * What lies between regions is a guard: no access may touch it. Memory is only spent on pages that
 * were accessed. A snapshot shares pages and the tables of them by counting references: who writes
 * what is shared copies it first.
 */
#ifndef WSI_SIM_MEMORY_H
#define WSI_SIM_MEMORY_H

#include <warpscope/sim.h>

#include "sim/device/result.h"

enum {
	WSI_PAGE_BITS = 16,
	WSI_PAGE_BYTES = 1 << WSI_PAGE_BITS,
	WSI_MAX_REGIONS = 1 << 20,
};

/* Where the driver places allocations, roughly; away from the windows (device.h). */
#define WSI_HEAP_START UINT64_C(0x7f0000000000)

enum wsi_region_kind {
	WSI_REGION_USER,   /* ws_sim_alloc() */
	WSI_REGION_HEAP,   /* malloc() of a kernel */
	WSI_REGION_MODULE, /* variables and constants of a module */
	WSI_REGION_MAPPED, /* the caller's */
	WSI_REGION_GRID,   /* constant bank 0 of a grid, and what its blocks wait by */
};

struct wsi_memory_page {
	uint32_t refs;
	uint8_t *bytes; /* behind this header, or the caller's */
};

/* The pages of a region. Who changes one that is shared copies it first. */
struct wsi_pages {
	uint32_t refs;
	struct wsi_memory_page *page[]; /* a reference to each is owned; NULL: absent */
};

/* What is copied because others share it, and who is told before that gets too much. */
struct wsi_budget {
	uint64_t copied, limit; /* bytes: so far, and that it may become */
	void (*over)(void *user);
	void *user;
};

/* What a device takes of the host's memory, and the most that it may take. */
struct wsi_account {
	uint64_t used;  /* by what runs: a snapshot has its own count */
	uint64_t fixed; /* the rest: images, decoded code, the buffer of what is printed */
	uint64_t limit;
	const char *what;      /* what did not fit last; NULL: all of it has */
	uint64_t asked, taken; /* bytes of it, and those that were taken by then */
};

/* Whether bytes of something fit: then they are counted, or (_has_room) not yet. */
bool wsi_account_has_room(struct wsi_account *account, const char *what,
			  uint64_t bytes) WS_MUST_USE;
bool wsi_account_take(struct wsi_account *account, const char *what, uint64_t bytes) WS_MUST_USE;
void wsi_account_give(struct wsi_account *account, uint64_t bytes);
/* Counts bytes of what stays when a snapshot is restored, if they fit. */
bool wsi_account_fix(struct wsi_account *account, const char *what, uint64_t bytes) WS_MUST_USE;
/* What is said when there was no memory: what did not fit (WS_LIMIT), or that the host has none. */
enum ws_status wsi_account_fail(const struct wsi_account *account, struct ws_error *err);

struct wsi_region {
	uint64_t start, size;
	uint64_t reach;          /* bytes that may be accessed, `size` at least */
	struct wsi_pages *pages; /* owned: a reference */
	enum wsi_region_kind kind;
	bool managed, read_only; /* read_only: for kernels */
	ws_sim_fetch_fn *fetch;  /* may be NULL */
	void *user;
	struct wsi_budget *budget; /* may be NULL */
};

/* All-zero is empty. */
struct wsi_memory {
	struct wsi_region *regions; /* owned; by address */
	size_t n, cap;
	struct wsi_budget *budget;   /* of regions that are added; may be NULL */
	size_t recent[2];            /* where something was found last, and before that */
	uint64_t next;               /* where to look for free addresses */
	struct wsi_account *account; /* of regions; NULL: nobody counts */
};

/* The region of an address, NULL for none. */
struct wsi_region *wsi_memory_find(struct wsi_memory *memory, uint64_t address);

/*
 * Bytes from an address on, which is in the region, all in one page: at most `*len`, which is
 * reduced to what there is. NULL: not recorded, or (`*ret_no_memory`) there is no memory to hold a
 * page. Only to be read: others may have the page too.
 */
uint8_t *wsi_region_read(struct wsi_region *region, uint64_t address, uint64_t *len,
			 bool *ret_no_memory);
/* Bytes from an address on as wsi_region_read() gives them, to be written: the page is the device's
 * alone. */
uint8_t *wsi_region_write(struct wsi_region *region, uint64_t address, uint64_t *len,
			  bool *ret_no_memory);

/* Bytes from any address on as wsi_region_read() gives them; NULL also if nothing is allocated
 * there. */
const uint8_t *wsi_memory_read(struct wsi_memory *memory, uint64_t address, uint64_t *len,
			       bool *ret_no_memory);

/* Adds a region; its pages are absent. WS_ARGUMENT: not free. WS_LIMIT: the account has no room. */
enum ws_status wsi_memory_add(struct wsi_memory *memory, const struct wsi_region *region,
			      struct ws_error *err) WS_MUST_USE;
/* Adds a region whose bytes are the caller's. Fails as wsi_memory_add(). */
enum ws_status wsi_memory_add_mapped(struct wsi_memory *memory, const struct wsi_region *region,
				     void *bytes, struct ws_error *err) WS_MUST_USE;
/* A free range of addresses, aligned to `alignment`. */
uint64_t wsi_memory_place(struct wsi_memory *memory, uint64_t size, uint64_t alignment);
void wsi_memory_remove(struct wsi_memory *memory, struct wsi_region *region);

/* Copies whole ranges; WS_ARGUMENT when not all of it is allocated. */
enum ws_status wsi_memory_copy_in(struct wsi_memory *memory, uint64_t address, const void *bytes,
				  size_t len, struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_memory_copy_out(struct wsi_memory *memory, uint64_t address, void *ret_bytes,
				   size_t len, struct ws_error *err) WS_MUST_USE;

/* Makes another memory of the same bytes; only what one of the two changes is spent twice. Mapped
 * pages stay the caller's in both. False: no memory. */
bool wsi_memory_share(const struct wsi_memory *memory, struct wsi_memory *ret_other) WS_MUST_USE;
/* Bytes of pages and tables that `other` holds and `memory` no longer has. */
uint64_t wsi_memory_apart(const struct wsi_memory *memory, const struct wsi_memory *other);

void wsi_memory_fini(struct wsi_memory *memory);

#endif
