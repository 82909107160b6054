/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver in the program and the agent, which has the device, say to each other: a request,
 * then its reply, over a stream socket; memory is shared by descriptors that cross it. Both sides
 * are one build, on one machine: structures go as they are, and a version makes sure of it.
 *
 * The driver has five sockets to its agent. On one it asks for what it waits for anyway; on the
 * second the queue of the program's work is done, one after the other. A launch is answered when it
 * is over; meanwhile the agent answers on the others. On the third a debugger is announced, with a
 * struct wire_debug and its reply, as a thread may do to which a debugger has lent itself while all
 * others stand still. On the fourth the agent sends a byte that a thread of the driver sends back,
 * as soon as the program runs; on the fifth one when a dump on request begins or is made, which
 * comes back when the program's functions for that have been called. The agent tells by a pipe that
 * the debugger has gone.
 */
#ifndef WARPSCOPE_DRIVER_WIRE_H
#define WARPSCOPE_DRIVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <warpscope/sim.h>

enum {
	WIRE_VERSION = 8,
	WIRE_WORDS = 7,
	WIRE_PIECE = 4 << 20,   /* most bytes of one WRITE, READ */
	WIRE_IMAGE = 512 << 20, /* most bytes of an image */
};

enum wire_op {
	WIRE_HELLO,    /* version, process -> a struct wire_device; NO_DEVICE: why not, as a
			  CUDBGResult */
	WIRE_RESET,    /* all that is on the device goes, and a fault */
	WIRE_LOAD,     /* an image -> module, bytes of managed memory in use */
	WIRE_KERNEL,   /* module, number -> a struct wire_kernel, its parameters, its name;
			  NOT_FOUND: past the last */
	WIRE_FUNCTION, /* module, whether it is to be loaded; a kernel's name -> whether it is */
	WIRE_SYMBOL,   /* module; a name -> address, bytes */
	WIRE_ALLOC,    /* bytes -> address */
	WIRE_FREE,     /* address */
	WIRE_SHARE,   /* address, bytes, where in the file, with a descriptor: memory of the program
		       */
	WIRE_MANAGED, /* address, bytes, with a descriptor: memory for managed variables; once */
	WIRE_WRITE,   /* address, pitch, bytes of a row, rows; the bytes */
	WIRE_READ,    /* the same -> the bytes */
	WIRE_COPY,    /* to, its pitch, from, its pitch, bytes of a row, rows */
	WIRE_FILL,    /* address, pitch, value, its bytes, values of a row, rows */
	WIRE_LAUNCH,  /* a struct wire_launch, a name, arguments -> WIRE_... flags; what was printed
		       */
	WIRE_TENSOR_MAP, /* a struct ws_sim_tensor -> 128 bytes */
	WIRE_TEXTURE,    /* whether it is a surface; a struct ws_sim_texture -> handle */
	WIRE_DUMP,       /* WS_WRITE_... flags; a path: writes a dump of the device */
	WIRE_TRIGGER, /* flags, whether the process is dumped, too, and whether it has functions to
			 be called; a path with %t, %h, %p, and a descriptor, the first time: when
			 something comes from there, writes a dump and, unless the flags say
			 otherwise, aborts the program */
	WIRE_CONTEXT, /* a struct wire_context: for a debugger */
	WIRE_WANTED,  /* capabilities: what the debugger wants from now on */
	WIRE_LOG,     /* thread, a text: why a call failed, for the debugger's log */
	WIRE_N_OPS,
};

enum wire_descriptors {
	WIRE_CALLS = 3,
	WIRE_WORK,
	WIRE_DEBUG,
	WIRE_RUNS,
	WIRE_DUMPS,
	WIRE_GONE
}; /* of the agent */

struct wire_request {
	uint32_t op, n_bytes; /* of what follows */
	uint64_t word[WIRE_WORDS];
};

struct wire_reply {
	int32_t result; /* CUresult */
	uint32_t n_bytes;
	uint64_t word[WIRE_WORDS];
};

struct wire_device {
	char name[64];
	struct ws_sim_limits limits;
	uint32_t is_lazy; /* code of kernels is loaded when they are first needed */
};

struct wire_param {
	uint32_t offset, n_bytes;
};

struct wire_kernel {
	uint32_t n_regs, local_bytes, shared_bytes;
	uint32_t max_threads;   /* of a block, for which there are registers */
	uint32_t bound_threads; /* that it was built for, at most */
	uint32_t required[3];   /* block that it was built for; 0: any */
	uint32_t cluster[3];    /* the same */
	uint32_t n_params, n_name;
};

struct wire_launch {
	uint32_t module, grid[3], block[3], cluster[3], preferred[3], shared_bytes, is_cooperative;
	uint32_t n_name, n_args;    /* bytes; arguments lie as in the parameter area */
	uint32_t host_tid, n_stack; /* return addresses of the thread, behind the arguments */
};

/* Answers of a launch, word[0]. */
enum {
	WIRE_FAULT = 1, /* the device can do no more until WIRE_RESET */
	WIRE_TOLD = 2,  /* ... and a debugger was told of it */
};

enum wire_change { WIRE_CREATED, WIRE_DESTROYED, WIRE_PUSHED, WIRE_POPPED };

struct wire_context {
	uint32_t change, host_tid;
};

/* A debugger, as it has introduced itself. */
struct wire_debug {
	uint32_t client, session, revision, capabilities; /* of the variables cudbg... */
	uint32_t is_blocking;
	uint32_t waits;    /* the reply comes when it listens: the program begins */
	uint32_t contexts; /* that the program has */
	uint32_t tid;      /* the thread that announces it */
	uint32_t is_rpc;   /* it asks through named pipes */
};

struct wire_debugged {
	int32_t result;  /* CUDBGResult */
	uint8_t session; /* the byte that comes when it has gone */
};

/* ---- both sides ---- */

/* Sends a header and what follows, with a descriptor unless it is -1. False: the other side is
 * gone. */
bool wire_send(int socket, const void *header, size_t n_header, const void *bytes, size_t n_bytes,
	       int fd);
/* Receives all of it. `*ret_fd` (NULL: none is expected) is -1, or a descriptor for the caller. */
bool wire_receive(int socket, void *ret_bytes, size_t n, int *ret_fd);

#endif
