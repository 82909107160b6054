/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the agent share. */
#ifndef WARPSCOPE_AGENT_H
#define WARPSCOPE_AGENT_H

#include <warpscope/cuda_results.h>
#include <warpscope/sim.h>

#include "driver/wire.h"

/* Memory of the program that is mapped here. */
struct shared {
	struct shared *next;
	uint64_t address;
	void *bytes;
	size_t n_bytes;
};

struct agent {
	struct ws_sim_options options;
	struct ws_sim *sim; /* owned */
	int process;        /* the program's */
	struct modules {
		struct ws_cubin **item; /* owned; by number, opened over the loaded images */
		size_t n, cap;
	} modules;
	struct shared *shared; /* owned */
	struct {               /* memory of the program for managed variables, owned */
		uint64_t address;
		uint8_t *bytes; /* NULL: there is none */
		size_t n_bytes, n_used;
	} managed;
	struct agent_session *session; /* owned; NULL: no debugger */
	uint8_t n_sessions;
	struct {
		int pipe; /* -1: there is none */
		uint32_t flags;
		bool has_host_dump, has_functions; /* that are told of dumps */
		char file[1024];                   /* with %t, %h, %p */
	} trigger;
	bool is_running; /* a launch is to be answered */
	bool is_stuck;   /* ... and nothing can go on but by the program */
	bool has_failed; /* it can do no more until it is reset */
	enum ws_cuda_result failure;
	bool was_told;            /* ... and a debugger has seen it */
	enum ws_cuda_result left; /* what a debugger's session ended amid, of a launch */
};

/* One request with its bytes, and the reply that is being made. */
struct exchange {
	const struct wire_request *request;
	const uint8_t *bytes;
	int fd; /* -1: none came */
	struct wire_reply reply;
	uint8_t *more; /* of the reply, owned */
};

/* What the program is told of a failed call of the library. */
enum ws_cuda_result agent_result(const struct ws_error *err);
/* "warpscope: software GPU: ..." on standard error; false. */
bool agent_say(const char *format, ...) WS_PRINTF(1, 2);

/* ---- kernels.c ---- */

enum ws_cuda_result agent_load(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_function(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_kernel(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_launch(struct agent *agent, struct exchange *x);
void agent_modules_fini(struct agent *agent);

/* ---- memory.c ---- */

enum ws_cuda_result agent_share(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_free(struct agent *agent, uint64_t address);
/* Takes the memory for managed variables. */
enum ws_cuda_result agent_set_managed(struct agent *agent, struct exchange *x);
/* ws_sim_managed_fn: gives some of it. */
bool agent_give_managed(void *user, uint64_t len, uint64_t *ret_address, void **ret_bytes);
/* After the device: it uses them. */
void agent_shared_fini(struct agent *agent);
/* The same: what was given of it is free again, and 0. */
void agent_managed_reset(struct agent *agent);
enum ws_cuda_result agent_write(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_read(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_copy(struct agent *agent, struct exchange *x);
enum ws_cuda_result agent_fill(struct agent *agent, struct exchange *x);

/* ---- fault.c ---- */

/* What the driver calls a fault. */
enum ws_cuda_result agent_fault(const struct ws_sim_fault *fault);

/* ---- debug.c ---- */

/* Takes the device from a debugger's session, if there is one; false: it stands. Gives it back;
 * `*ret_event` is what session_holds() asks about. */
bool session_take(struct agent *agent);
void session_give(struct agent *agent, uint64_t *ret_event);
/* Whether the program is to wait until the debugger has acknowledged an event. */
bool session_holds(const struct agent *agent, uint64_t event);
/* Whether what was launched has ended; then `*ret_failure` is WS_CUDA_SUCCESS, or why it failed. */
bool session_is_done(struct agent *agent, enum ws_cuda_result *ret_failure);
/* A debugger is announced. False: the program is gone. */
bool session_begin(struct agent *agent);
/* What is to be done now and then: answers the announcement, ends a session whose client has left.
 */
void session_step(struct agent *agent);
/* Readable when there is something to do; -1: there is no session. */
int session_fd(const struct agent *agent);
/* Whether it has to be looked after all the time. */
bool session_is_urgent(const struct agent *agent);
void session_end(struct agent *agent);
/* A ws_sim_print_fn: to where the program printed when it began. */
size_t session_print(void *unused, const uint8_t *text, size_t len);
enum ws_cuda_result session_context(struct agent *agent, const struct exchange *x);
/* Has the session go on with another device, and keeps the old one as long as it lasts. */
enum ws_cuda_result session_replace(struct agent *agent, struct ws_sim *fresh);

/* ---- dump.c ---- */

enum ws_cuda_result agent_dump(struct agent *agent, const struct exchange *x);
enum ws_cuda_result agent_set_trigger(struct agent *agent, struct exchange *x);
/* Something came from the pipe: a dump, and perhaps the program's end. */
void agent_triggered(struct agent *agent);

#endif
