/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted target: small, in memory, able to run, to be stepped and to fail on demand, so that
 * every answer of the API can be provoked. Its contents are told in fake.c.
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
	FAKE_IMAGE,
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
	FAKE_ACKNOWLEDGE,
	FAKE_LOGS,
	FAKE_RULES,
	FAKE_LAUNCH_STACK,
};

struct fake {
	struct ws_target base; /* first */
	struct ws_target_ops ops;
	enum fake_op fail_op; /* this member answers `fail_status` */
	enum ws_status fail_status;
	bool runs[3]; /* by device index */
	uint64_t planted[8];
	size_t n_planted;
	bool at_launch;
	struct ws_step last_step;
	uint32_t until_flags;
	struct ws_event events[8];
	size_t n_events;
	unsigned acknowledged;
	void (*wake)(void *data);
	void *wake_data;
	uint8_t shared[64];     /* of the first block */
	uint32_t registers[16]; /* of every lane */
	bool sm_exceptions;     /* SM rows tell of exceptions */
	bool no_register_count; /* grid rows do not say how many registers there are */
	struct ws_span image;   /* relocated image instead of the few bytes */
	uint64_t code, code_bytes;
	struct ws_span code_text; /* what lies at `code`, instead of bytes that count */
	enum ws_status image_status;
	bool waited;                   /* the last suspend was asked to */
	struct ws_address written;     /* where memory was written last */
	enum ws_reg_kind written_kind; /* which registers were, and how many of them */
	uint32_t n_written;
	uint32_t n_logs; /* records that wait, with numbers from `logged` on */
	uint32_t logged;
	struct ws_log_rule rules[4]; /* the last that were set; regex is not kept */
	uint32_t n_rules, rulesets;
};

/* A target that cannot run, like a dump. */
void fake_init_still(struct fake *fake);
/* One that can; everything stands. */
void fake_init_running(struct fake *fake);
/* What record `number` of the log says. */
void fake_log(uint32_t number, struct ws_log *ret);
/* Queues an event and wakes the client. */
void fake_event(struct fake *fake, const struct ws_event *event);

enum {
	FAKE_GENERIC_SHARED = 0x1000000,
	FAKE_GENERIC_LOCAL = 0x3000000,
	FAKE_GLOBAL = 0x10000000,
	FAKE_GLOBAL_BYTES = 256,
	FAKE_MANAGED = 0x20000000,
	FAKE_CODE = 0x40000000,
	FAKE_CODE_BYTES = 128,
	FAKE_BANK = 0x50000000,
	FAKE_BANK_BYTES = 512,
};

#endif
