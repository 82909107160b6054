/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one fake target of the tests: lists of rows that a test may change, able to run, to be
 * stepped and to fail on demand.
 */
#ifndef FAKE_H
#define FAKE_H

#include <warpscope/target.h>

/* Members that can be made to fail. */
enum fake_op {
	FAKE_NOTHING,
	FAKE_DEVICE,
	FAKE_GRID,
	FAKE_SM,
	FAKE_BLOCK,
	FAKE_WARP,
	FAKE_LANE,
	FAKE_MODULE,
	FAKE_CONTEXT,
	FAKE_STACK,
	FAKE_REGISTERS,
	FAKE_READ,
	FAKE_RANGE,
	FAKE_SUSPEND,
	FAKE_RESUME,
	FAKE_STEP,
	FAKE_UNTIL,
	FAKE_PLANT,
	FAKE_UNPLANT,
	FAKE_LAUNCH,
	FAKE_WRITE,
	FAKE_WRITE_REGISTERS,
	FAKE_WRITE_RPC,
	FAKE_ACKNOWLEDGE,
	FAKE_LOGS,
	FAKE_RULES,
	FAKE_LAUNCH_STACK,
	FAKE_UPDATE,
	FAKE_WANT,
	FAKE_HOST,
	FAKE_DETACH,
	FAKE_OPS,
};

enum {
	FAKE_MAX_ROWS = 4, /* contexts, images, grids */
	FAKE_MAX_CALLERS = 40,
	FAKE_MAX_EVENTS = 32,
};

struct fake {
	struct ws_target target;
	struct ws_target_ops ops;
	enum fake_op fail_op; /* this member answers `fail_status` */
	enum ws_status fail_status;
	/* the lists; owned */
	struct ws_device *device;
	struct ws_context *context;
	struct ws_module *module;
	struct ws_grid *grid;
	struct ws_sm *sm;
	struct ws_block *block;
	struct ws_warp *warp;
	enum ws_status *warp_status, *lanes_status; /* by warp index */
	struct ws_lane (*lane)[WS_MAX_LANES];       /* by warp index; those recorded first */
	uint32_t *n_lanes;
	uint8_t (*n_callers)[WS_MAX_LANES]; /* by warp index and lane: the first of `callers` */
	struct ws_return_address callers[FAKE_MAX_CALLERS];
	bool has_facts; /* it is a file: `facts`, `diagnostics` */
	struct ws_dump_facts facts;
	struct ws_diagnostic diagnostics[2];
	uint32_t n_diagnostics;
	uint64_t n_read; /* rows of warps that were asked for */
	bool runs[3];    /* by device index */
	uint64_t planted[8];
	size_t n_planted;
	bool at_launch;
	struct ws_step last_step;
	uint32_t until_flags;
	uint64_t pc_step; /* bytes that a step moves the pc of its warp */
	struct ws_event events[FAKE_MAX_EVENTS];
	size_t n_events;
	uint64_t sequence;                        /* of the last event that was queued */
	uint64_t acknowledged;                    /* up to here */
	struct ws_event waiting[FAKE_MAX_EVENTS]; /* for which a host thread waits */
	size_t n_waiting;
	uint32_t wants;
	uint8_t host[64]; /* pinned memory at FAKE_HOST_ADDRESS */
	int detached;     /* -1: not; else what it was asked with */
	void (*wake)(void *data);
	void *wake_data;
	uint8_t shared[64]; /* of the first block */
	bool has_registers;
	uint32_t registers[16]; /* of every lane */
	uint64_t code, code_bytes;
	struct ws_span code_text;  /* what lies at `code`, instead of bytes that count */
	bool waited;               /* the last suspend was asked to */
	struct ws_address written; /* where memory was written last */
	uint32_t written_rpc[2];
	enum ws_reg_kind written_kind; /* which registers were, and how many of them */
	uint32_t n_written;
	uint32_t n_logs; /* records that wait, with numbers from `logged` on */
	uint32_t logged;
	struct ws_log_rule rules[4]; /* the last that were set; regex is not kept */
	uint32_t n_rules, rulesets;
};

/*
 * One device with `n_sms` SMs of `n_warps` warps each, `n_lanes` active lanes a warp at pc 0x1000,
 * a block per warp (idx.x counts), all of grid 0, whose id is 1. It has no memory and cannot run.
 */
void fake_init(struct fake *fake, uint32_t n_sms, uint32_t n_warps, uint32_t n_lanes);
/* A small target with something of everything, told in fake.c. It cannot run, like a dump. */
void fake_init_still(struct fake *fake);
/* The same, able to run; everything stands. */
void fake_init_running(struct fake *fake);
/* Lets a fake run. */
void fake_may_run(struct fake *fake);
/* As of a driver that does not tell of exceptions of SMs. */
void fake_hide_sm_exceptions(struct fake *fake);
/* What record `number` of the log says. */
void fake_log(uint32_t number, struct ws_log *ret);
/* Queues an event, if it is wanted, and wakes the client. */
void fake_event(struct fake *fake, const struct ws_event *event);

enum {
	FAKE_GENERIC_SHARED = 0x1000000,
	FAKE_GENERIC_LOCAL = 0x3000000,
	FAKE_GLOBAL = 0x10000000,
	FAKE_GLOBAL_BYTES = 256,
	FAKE_MANAGED = 0x20000000,
	FAKE_CODE = 0x40000000,
	FAKE_CODE_BYTES = 128,
	FAKE_HOST_ADDRESS = 0x60000000, /* that of FAKE_GLOBAL, too */
	FAKE_BANK = 0x50000000,
	FAKE_BANK_BYTES = 512,
};

#endif
