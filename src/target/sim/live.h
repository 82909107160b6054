/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * A software GPU that runs under a debugger.
 *
 *   client -------> live.c: suspend, resume, step, ...     event.c, logs.c <---- client, any thread
 *                      |  hands the device over               ^  posts
 *                      v  while it runs                       |
 *                   worker.c: the thread that executes -------+
 *                      ^  lends it between two slices
 *   host program -> host.c: launches, copies, loads
 *
 * One of them has the device (struct ws_sim) at a time: the worker while `at_work`, a host thread
 * while `lent`, else, when it stands, the client. `lock` is held for moments only, never while
 * anything is executed, so that events can be read beside a step that waits.
 *
 * A device that stopped is `halted` until the client takes that in (update, suspend): readers see
 * no row change by itself.
 */
/* clang-format on */
#ifndef WSI_TARGET_SIM_LIVE_H
#define WSI_TARGET_SIM_LIVE_H

#include <regex.h>

#include "base/lock.h"
#include "target/sim/sim.h"

enum {
	SIM_DONE_GRIDS = 32, /* that have ended and are still listed */
	SIM_MANY_LOGS = 64,  /* that wait: the client is told to take them soon */
};

enum sim_job {
	SIM_JOB_RUN,
	SIM_JOB_STEP,
	SIM_JOB_UNTIL,
};

/* An event that a host thread waits for. */
struct sim_waiter {
	enum ws_event_kind kind;
	uint64_t sequence;
};

struct sim_log_rule {
	struct ws_log_rule rule;
	regex_t regex;
};

struct sim_live {
	struct sim_target *t;
	struct ws_target_ops ops; /* of this one */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below, but `wake` */
	pthread_cond_t cond;  /* something below has changed */
	/* the device */
	_Atomic bool runs;          /* as clients see it: only exclusive members change it */
	bool halted;                /* it stopped; the client does not know yet */
	bool at_work, lent;         /* who has it */
	bool stop_asked, stop_tell; /* by the client; with an event when it is done */
	bool stalled;               /* nobody can go on until something happens */
	bool nudged;                /* something did, while it executed */
	bool starved;               /* something could not be told: no memory */
	bool quit;
	bool posted;          /* events of which the client was not woken */
	uint32_t hosts;       /* host threads that want the device */
	enum sim_job job;     /* what the worker does */
	struct ws_step step;  /* of SIM_JOB_STEP */
	uint32_t until_sm;    /* of SIM_JOB_UNTIL */
	uint64_t asked_warps; /* of both */
	uint64_t until_pc;
	bool failed;               /* the last thing that ran ended with a fault, ... */
	struct ws_sim_fault fault; /* ... with this one */
	bool has_context;          /* the host has made one */
	uint32_t context_tid;      /* and this thread of it */
	bool watched;              /* a client has said what it wants */
	struct ws_grid done[SIM_DONE_GRIDS];
	struct sim_stack done_stack[SIM_DONE_GRIDS]; /* of each */
	uint32_t n_done;
	uint64_t gone_grids; /* ids up to this one are of contexts that are gone */
	uint32_t n_modules;  /* that clients know */
	uint64_t n_loads;    /* ws_sim.n_loads that they know */
	uint64_t loading;    /* the last event that tells of functions; 0: none was wanted */
	/* events */
	struct ws_event *events; /* owned; oldest first */
	size_t n_events, cap_events, promised;
	struct sim_waiter *waiters; /* owned; by sequence */
	size_t n_waiters, cap_waiters;
	uint64_t sequence;
	uint32_t wants;
	/* logs */
	struct ws_log *logs; /* owned; oldest first */
	size_t n_logs, cap_logs;
	bool logs_told;
	struct sim_log_rule *rules; /* owned */
	uint32_t n_rules, ruleset;
	/* who is woken */
	pthread_mutex_t wake_lock;
	void (*wake)(void *data);
	void *wake_data;
};

/* ---- worker.c ---- */

void *sim_worker(void *live);
/* Takes the device from the worker, who ends what it is at unless that is a step; while it stands
 * it is the client's. Under lock. */
void sim_take(struct sim_live *live, bool is_client);
/* Takes the device from the worker for a host thread; false: the device stands. Under lock. */
bool sim_try(struct sim_live *live);
void sim_give(struct sim_live *live);
/* Something has happened: who could not go on may be able to. Under lock. */
void sim_nudge(struct sim_live *live);
/* It stands now: what kernels printed goes to the host's output, if that is wanted. Under lock, by
 * who has the device. */
void sim_flush(struct sim_live *live);
/* The device has failed; the next resume ends that, and the host is yet to learn of it. */
void sim_note_fault(struct sim_live *live);
/* What has happened to grids and modules becomes events; the caller has the device, under lock.
 * False: no memory; it is tried again. */
bool sim_tell(struct sim_live *live) WS_MUST_USE;
/* Whether all functions are loaded with their modules: as CUDA does it for a client that is not
 * told of those that come later. */
bool sim_loads_all(const struct sim_live *live);

/* ---- event.c ---- */

/* Room for one event more than are promised: what runs must be able to tell how it ended. */
bool sim_has_room(struct sim_live *live) WS_MUST_USE;
/* Room for `n` events more than are promised, which host threads may wait for. */
bool sim_reserve(struct sim_live *live, size_t n) WS_MUST_USE;
/* Queues an event that is wanted. `*ret_sequence` 0: it is not. One that was promised finds room.
 * Under lock. */
bool sim_post(struct sim_live *live, const struct ws_event *event, bool promised, bool waits,
	      uint64_t *ret_sequence) WS_MUST_USE;
/* Whether a host thread still waits for an event. Under lock. */
bool sim_is_awaited(const struct sim_live *live, uint64_t sequence);
/* Calls the client if there is a new event. Not under lock. */
void sim_wake(struct sim_live *live);

/* ---- live.c ---- */

/* Steps, or runs until a pc, and keeps that in the history. */
enum wsi_stepped sim_do_step(struct sim_target *t, const struct ws_step *step);
enum wsi_stepped sim_do_until(struct sim_target *t, uint32_t sm, uint64_t warps, uint64_t pc);
/* Brings the rows up to date: all of them, or at the cost of what changed. Under lock. */
enum ws_status sim_renew(struct sim_target *t, bool all, struct ws_error *err) WS_MUST_USE;

/* ---- logs.c ---- */

/* Takes records of the device into the log, with the events that they cause. Under lock. False: no
 * memory; the rest is taken later. */
bool sim_take_in_logs(struct sim_live *live) WS_MUST_USE;
void sim_logs_fini(struct sim_live *live);

/* ---- watch.c, back.c ---- */

/* Index of a warp by its slot; WS_NONE: it has exited. */
uint32_t sim_warp_at(const struct sim_target *t, uint32_t sm, uint32_t slot);

WSI_TARGET_MEMBER(sim_, watch);
WSI_TARGET_MEMBER(sim_, unwatch);
WSI_TARGET_MEMBER(sim_, watch_hit);
WSI_TARGET_MEMBER(sim_, keep_history);
WSI_TARGET_MEMBER(sim_, go_back);

/* ---- condition.c ---- */

WSI_TARGET_MEMBER(sim_, stop_if);

/* ---- event.c, logs.c ---- */

WSI_TARGET_MEMBER(sim_, launch_stack);
WSI_TARGET_MEMBER(sim_, next_event);
WSI_TARGET_MEMBER(sim_, acknowledge);
WSI_TARGET_MEMBER(sim_, want);
WSI_TARGET_MEMBER(sim_, on_event);
WSI_TARGET_MEMBER(sim_, take_logs);
WSI_TARGET_MEMBER(sim_, log_rules);

/* Whether the device runs, but all threads that are left wait for each other, or for the host. May
 * be called beside everything else. */
bool wsi_live_stuck(struct ws_target *target);
/* Whether nothing is left to execute, and all of its end is told. May be called beside everything
 * else. */
bool wsi_live_idle(struct ws_target *target);

#endif
