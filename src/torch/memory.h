/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a memory snapshot of PyTorch (docs/formats/memory-snapshot.md) tells about addresses:
 *
 *   segment   memory that the allocator has from the driver
 *   block     a piece of a segment, in a tensor's hands or free
 *   event     something that the allocator did; it keeps a limited number of them
 *
 * The addresses that are asked about are known before the file is read, so nothing but their blocks
 * and events is kept of it, besides its segments and lines of Python.
 */
#ifndef WSI_TORCH_MEMORY_H
#define WSI_TORCH_MEMORY_H

#include "base/base.h"

enum wsi_block_state {
	WSI_BLOCK_ALLOCATED,
	WSI_BLOCK_PENDING,  /* freed, but another stream may still use it */
	WSI_BLOCK_INACTIVE, /* nobody's */
	WSI_BLOCK_OTHER,    /* not known to this version */
};

enum wsi_event_kind {
	WSI_EVENT_ALLOC,
	WSI_EVENT_FREE_REQUESTED,
	WSI_EVENT_FREE_COMPLETED,
	WSI_EVENT_SEGMENT_IN,  /* the allocator got the memory from the driver */
	WSI_EVENT_SEGMENT_OUT, /* and gave it back */
	WSI_EVENT_OTHER,
};

enum { WSI_EVENT_KINDS = WSI_EVENT_OTHER };

struct wsi_torch_frame {
	struct ws_str file, function;
	uint64_t line;
};

/* Frames of a call, innermost first. */
struct wsi_torch_stack {
	uint32_t first, n;
};

struct wsi_torch_block {
	bool there;
	enum wsi_block_state state;
	uint64_t start, size;
	bool has_requested;
	uint64_t requested;           /* bytes that the program asked for */
	struct wsi_torch_stack stack; /* where it was allocated */
};

struct wsi_torch_event {
	uint64_t number; /* from 1 in the order of the file; 0: there is none */
	uint64_t start, size;
	bool has_time;
	uint64_t time_us; /* Unix time */
	struct wsi_torch_stack stack;
};

/* What is known of an address. */
struct wsi_torch_place {
	uint64_t address;
	struct wsi_torch_block in;                    /* the block that has it */
	struct wsi_torch_block below, above;          /* the nearest that are not free */
	struct wsi_torch_event last[WSI_EVENT_KINDS]; /* the last of each kind that it lay in */
};

struct wsi_torch_segment {
	uint64_t start, size;
};

struct wsi_torch_memory {
	struct wsi_torch_place *places; /* the caller's */
	size_t n_places;
	struct wsi_torch_segment *segments; /* owned */
	size_t n_segments, cap_segments;
	uint64_t n_blocks, n_events;
	bool has_time;
	uint64_t last_time_us; /* of all events */

	/* owned */
	struct wsi_torch_frame *frames;
	size_t n_frames, cap_frames;
	uint32_t *refs; /* frames of stacks */
	size_t n_refs, cap_refs;
	struct wsi_torch_thing *things;
	size_t n_things, cap_things;
};

/*
 * Fills the places, whose addresses are set. Texts lie in the bytes. To be closed in any case.
 *
 * WS_ABSENT: no such snapshot. Else as wsi_pickle_read().
 */
enum ws_status wsi_torch_memory_read(struct wsi_torch_memory *memory, struct ws_span bytes,
				     struct wsi_torch_place *places, size_t n_places,
				     struct ws_error *err) WS_MUST_USE;
void wsi_torch_memory_fini(struct wsi_torch_memory *memory);

/* Frame `i` of a stack. */
const struct wsi_torch_frame *wsi_torch_frame(const struct wsi_torch_memory *memory,
					      struct wsi_torch_stack stack, uint32_t i);
/* The segment of an address; NULL: it lies in none. */
const struct wsi_torch_segment *wsi_torch_segment_at(const struct wsi_torch_memory *memory,
						     uint64_t address);

#endif
