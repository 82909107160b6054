/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets joined: what the files of this back end share.
 *
 * A list of the whole is the lists of the parts, one after the other: an index is that of a part's
 * row and where the part begins. Rows are handed on with their indices moved.
 *
 *   part 0 --events--> |
 *   part 1 --events--> | pump() --> queue --> client
 *                      | a part that stopped by itself: the others are asked to stop; the event is
 *                      | told when all stand
 *
 * `lock` is of the events and of who is being stopped; nothing that waits is done under it.
 */
#ifndef WSI_TARGET_JOIN_H
#define WSI_TARGET_JOIN_H

#include <stdatomic.h>

#include <warpscope/join.h>

#include "base/base.h"
#include "base/lock.h"
#include "target/member.h"

struct join;

struct join_part {
	struct join *join;
	struct ws_target *target;         /* borrowed */
	uint32_t first_device, n_devices; /* in numbers of the whole; any thread reads them */
	struct ws_counts start;           /* where its rows begin */
	uint64_t generation;              /* of it, that the lists are of */
	/* under lock */
	bool stood;               /* it has told that it stopped */
	bool awaited;             /* it was asked to stop because another one did */
	bool alone;               /* its client asked it alone to stop, and does not wait */
	uint64_t broken, faulted; /* of its devices, when it stopped; in numbers of the whole */
};

/* An event that waits to be read, or for its acknowledgment. */
struct join_event {
	struct ws_event event;
	uint32_t part;
	uint64_t sequence; /* of the part's; 0: the part is not held by it */
};

struct join_events {
	struct join_event *items; /* owned */
	size_t n, cap;
};

struct join {
	struct ws_target base;
	struct ws_target_ops ops; /* what all parts can */
	struct join_part parts[WS_MAX_JOINED];
	uint32_t n;
	pthread_mutex_t range_lock; /* of the next three, which are made when first asked for */
	_Atomic bool ranges_known;
	struct ws_memory_range *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	pthread_mutex_t lock; /* of the next ones */
	struct join_events queue, held;
	bool resuming;  /* some parts go already, others do not yet */
	bool stopping;  /* STOPPED is told when no part is awaited */
	bool logs_told; /* since the log was read to its end */
	uint64_t sequence;
	uint32_t wants;
	pthread_mutex_t wake_lock; /* of the next two; held while `wake` runs */
	void (*wake)(void *data);
	void *wake_data;
};

static inline struct join *join_of(const struct ws_target *target)
{
	return target->state;
}

/* Makes the index of a part's row one of the whole. */
static inline void join_move(uint32_t *index, uint32_t start)
{
	if (*index != WS_NONE)
		*index += start;
}

/* ---- join.c ---- */

/* The part that holds row `*index` of a list (an offset in struct ws_counts); makes it the part's
 * own index. */
struct join_part *join_part_of(struct join *j, size_t list, uint32_t *index);
#define JOIN_PART(j, list, index) join_part_of(j, offsetof(struct ws_counts, list), index)
/* Takes over what changed in the parts. */
void join_follow(struct join *j);

/* ---- memory.c ---- */

/* The part that an address is about, and the address as that part has it. */
enum ws_status join_resolve(struct join *j, const struct ws_address *at,
			    struct join_part **ret_part, struct ws_address *ret,
			    struct ws_error *err) WS_MUST_USE;

WSI_TARGET_MEMBER(join_, read_memory);
WSI_TARGET_MEMBER(join_, write_memory);
WSI_TARGET_MEMBER(join_, memory_range);
WSI_TARGET_MEMBER(join_, read_host);
WSI_TARGET_MEMBER(join_, write_host);
WSI_TARGET_MEMBER(join_, host_address);

/* ---- run.c ---- */

WSI_TARGET_MEMBER(join_, update);
WSI_TARGET_MEMBER(join_, running);
WSI_TARGET_MEMBER(join_, suspend);
WSI_TARGET_MEMBER(join_, resume);
WSI_TARGET_MEMBER(join_, step);
WSI_TARGET_MEMBER(join_, run_until);
WSI_TARGET_MEMBER(join_, plant);
WSI_TARGET_MEMBER(join_, unplant);
WSI_TARGET_MEMBER(join_, stop_at_launch);
WSI_TARGET_MEMBER(join_, stop_if);
WSI_TARGET_MEMBER(join_, watch);
WSI_TARGET_MEMBER(join_, unwatch);
WSI_TARGET_MEMBER(join_, watch_hit);
WSI_TARGET_MEMBER(join_, write_registers);
WSI_TARGET_MEMBER(join_, write_rpc);
WSI_TARGET_MEMBER(join_, detach);

/* ---- event.c ---- */

/* Takes what the parts have to tell. WS_NO_MEMORY: some of it later. */
enum ws_status join_pump(struct join *j, struct ws_error *err) WS_MUST_USE;
/* From join_resume()'s begin to its end a part that stops at once waits for the others to go. */
void join_begin_resume(struct join *j);
void join_end_resume(struct join *j);
/* A part has posted something: `data` is the part. */
void join_woken(void *data);
WSI_TARGET_MEMBER(join_, next_event);
WSI_TARGET_MEMBER(join_, acknowledge);
WSI_TARGET_MEMBER(join_, want);
WSI_TARGET_MEMBER(join_, on_event);
WSI_TARGET_MEMBER(join_, take_logs);
WSI_TARGET_MEMBER(join_, log_rules);
WSI_TARGET_MEMBER(join_, launch_stack);

#endif
