/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the driver share.
 *
 *     program -> cu...()  -> calls.c   what is waited for: images, memory        -> agent
 *                         -> queue.c   what is done in order: copies, launches   -> agent
 *
 * All streams are one queue: what the program asks for is done in the order in which it asked. That
 * is one of the orders that CUDA allows, unless work waits for what is asked for later.
 */
#ifndef WARPSCOPE_DRIVER_H
#define WARPSCOPE_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda.h"
#include "entry.h"
#include "wire.h"

/* A function of the API; `name` is that of the documentation, perhaps with a version. */
#define CU_API(name) __attribute__((visibility("default"))) CUresult name
/* What each of them returns through. */
#define DONE(result) return driver_done((result), __func__)
/* ... or what another of them is called for: its errors are this one's. */
#define DONE_BY(call)                                         \
	do {                                                  \
		const char *outer = driver_told_as(__func__); \
		CUresult made = (call);                       \
		(void)driver_told_as(outer);                  \
		return made;                                  \
	} while (0)

/* Something behind a pointer that is what it should be. */
#define IS(object, kind) ((object) && (object)->magic == (kind))

enum magic {
	MAGIC_CONTEXT = 0x57430001,
	MAGIC_MODULE,
	MAGIC_KERNEL,
	MAGIC_STREAM,
	MAGIC_EVENT,
	MAGIC_ARRAY,
	MAGIC_GRAPH,
	MAGIC_EXEC,
	MAGIC_NODE,
	MAGIC_POOL,
	MAGIC_CHUNK,
	MAGIC_GONE,
};

enum { COREDUMP_NAME = 1024 };

/* Attributes of core dumps; `set` says which of them, by number. */
struct coredump {
	unsigned set;
	bool on_exception, user_trigger;
	uint32_t flags; /* WS_WRITE_... */
	char file[COREDUMP_NAME], pipe[COREDUMP_NAME];
};

/* Contexts and modules that are gone stay in memory, as the program may name them once more. */
struct context {
	enum magic magic;
	struct context *next; /* of all */
	unsigned flags;
	atomic_uint refs; /* of the primary one */
	uint64_t id;
	uint64_t limits[8];
	struct coredump coredump; /* what it has of its own */
};

struct driver_kernel {
	enum magic magic;
	struct module *module;
	char *name; /* owned */
	struct wire_kernel about;
	struct wire_param *params; /* owned */
	unsigned args_bytes;       /* of the parameter area */
	unsigned dynamic_shared;   /* most that a launch may ask for */
	int carveout;
	atomic_bool is_loaded; /* its code; false: that is not known */
};

struct module {
	enum magic magic;
	struct module *next;           /* of all */
	uint32_t number;               /* the agent's */
	struct driver_kernel *kernels; /* owned */
	size_t n_kernels;
};

struct driver_stream {
	enum magic magic;
	unsigned flags;
	int priority;
	_Atomic uint64_t last; /* number of the last op */
	uint64_t id;
	struct capture *capture; /* NULL: it captures nothing */
	CUgraphNode *ends;       /* owned; what comes before the next op of the capture */
	size_t n_ends;
};

struct event {
	enum magic magic;
	unsigned flags;
	_Atomic uint64_t op; /* number of the one that records it; 0: none yet */
	_Atomic double time; /* seconds, when that was done */
	uint64_t capture;    /* id of the one that it was recorded in; 0: none */
	CUgraphNode *ends;   /* owned; what it stands for there */
	size_t n_ends;
};

/* Texels in rows and slices, without gaps. */
struct array {
	enum magic magic;
	CUDA_ARRAY3D_DESCRIPTOR about;
	uint64_t address;
	uint64_t row_bytes, n_rows, n_slices; /* 1 at least */
};

/* One side of a copy: rows and slices of memory of the device, or of the host. */
struct copy_side {
	uint64_t at, pitch, slice;
	bool is_host;
};

struct box {
	struct copy_side to, from;
	uint64_t n_bytes, n_rows, n_slices; /* bytes of a row */
};

/* Memory that the program has a pointer to. */
enum range_kind { RANGE_DEVICE, RANGE_HOST, RANGE_MANAGED };

struct driver_range {
	uint64_t start, n_bytes;
	enum range_kind kind;
	bool is_variable; /* of a module, a mapping or the program's own: it is not freed */
	unsigned flags;
	uint64_t id;
	struct context *context;
	struct pool *pool; /* NULL: of none */
};

/* Work, in order. */
struct driver_op {
	struct driver_op *next;
	int type; /* CU_NODE_... */
	/* NULL: there is nothing to wait for. Else it begins the op, which run() ends. */
	void (*send)(struct driver_op *op);
	CUresult (*run)(struct driver_op *op);
	bool is_sent;
	bool is_call;    /* a function of the host: for the queue's thread */
	uint64_t number; /* from 1 */
	uint64_t word[WIRE_WORDS];
	void *host; /* what it needs besides */
	size_t n_host;
	bool owned; /* the queue frees `host` and the op itself */
	CUresult result;
	void (*call)(void *); /* host functions */
	struct event *event;
	struct context *context;      /* of a launch */
	struct driver_kernel *kernel; /* the same */
};

struct driver {
	atomic_bool ready;
	struct wire_device device;
	struct context primary;
	atomic_uint n_contexts; /* others */
	_Atomic uint64_t ids;
	_Atomic int failure; /* CUresult that all calls give from a fault on, until a reset */
};

extern struct driver driver;

/* ---- init.c ---- */

/* Whether a call may be made: initialised, a context that is there, no fault. */
CUresult driver_check(void);
/* Of a call that names the device. */
CUresult device_check(CUdevice device);
/* The thread's current context; NULL: none. */
struct context *driver_context(void);
/* How many the program has. */
unsigned driver_contexts(void);
/* What a kernel printed, to where the program prints. */
void driver_print(const char *text, size_t n);
/* What it has printed there goes out. */
void driver_print_out(void);

/* ---- report.c, debug.c ---- */

/* A function that debuggers break on: not inlined, and something that the compiler cannot leave
 * out. */
#define BREAK_HERE(name)                          \
	__attribute__((noinline)) void name(void) \
	{                                         \
		__asm__ volatile("");             \
	}

/* What every function of the API ends with: a debugger is told of an error. */
CUresult driver_done(CUresult result, const char *function);
/* Errors of the thread's calls are told under this name from now on, or under their own (NULL). The
 * name before. */
const char *driver_told_as(const char *function);
/* Something of the driver's own went wrong: a debugger is told of it (CUDBGResult). */
void driver_report_internal(uint32_t result);

/* ---- calls.c ---- */

bool driver_connect(void);
/* A request and its reply. `bytes` go with it; `*ret_more` (NULL: none) is free()d by the caller.
 */
CUresult driver_call(enum wire_op op, uint64_t word[WIRE_WORDS], const void *bytes, size_t n_bytes,
		     int fd, void **ret_more, size_t *ret_n_more);
/* The same on the socket of the queue, for what is first there; `ret_bytes` takes up to `n_ret`
 * bytes. */
CUresult driver_work(enum wire_op op, uint64_t word[WIRE_WORDS], const void *bytes, size_t n_bytes,
		     void *ret_bytes, size_t n_ret);
/* Its two halves. */
bool driver_work_send(enum wire_op op, const uint64_t word[WIRE_WORDS], const void *bytes,
		      size_t n_bytes);
CUresult driver_work_end(uint64_t ret_word[WIRE_WORDS], void *ret_bytes, size_t n_ret);

/* ---- queue.c ---- */

/* Puts an op at the end, which is copied unless the caller waits; returns its number, 0: no memory.
 */
uint64_t queue_add(const struct driver_op *op);
/* Does an op and waits for it. */
CUresult queue_do(struct driver_op *op);
bool queue_is_done(uint64_t number);
void queue_wait(uint64_t number);
/* How many threads the queue has of its own. */
size_t queue_threads(void);
/* Why an op failed for which nobody waited; told once. */
CUresult queue_failure(void);
/* Waits for all that was asked for so far, and tells that. */
CUresult queue_drain(void);

/* ---- coredump.c ---- */

/* Reads the environment, and makes the pipe for dumps on request if there is to be one. */
void coredump_begin(void);
/* What the flags of a new context ask for. */
void coredump_of_flags(struct context *context, unsigned flags);
/* A kernel of a context failed: makes the dump that is asked for. It may abort the program. */
void coredump_fault(const struct context *context);
/* A dump begins, or is made: calls the program's functions for that. */
void coredump_tell(bool is_made);

/* ---- debug.c ---- */

/* Takes what leads to the agent's descriptors from WIRE_DEBUG on. */
void debug_connected(const int *ends);
/* The program begins: a debugger that has said who it is gets to listen before anything happens. */
void debug_begin(void);
/* A context is made, destroyed, made current or no longer: a debugger is told, if there is one. */
void debug_tell(enum wire_change change);
uint32_t debug_tid(void);
enum { DEBUG_STACK = 32 };
/* Return addresses of the thread, as far as they are the program's, innermost first, if a debugger
 * wants them. Returns how many. */
uint32_t debug_stack(uint64_t ret_stack[DEBUG_STACK]);
/* What the program has printed is to come before what a kernel prints, also if a debugger has the
 * agent print that (FLUSH_PRINTF_ON_SUSPEND). */
void debug_flush(void);
/* A call failed: for the debugger's log, if it has one. */
void debug_log(const char *function, const char *name, const char *text);
/* Whether there was a debugger, and none has come since: what it broke on is not called. */
bool debug_has_left(void);

/* ---- module.c ---- */

/* The device was reset: what was loaded is gone. */
void modules_forget(void);

/* ---- ranges.c ---- */

bool range_add(const struct driver_range *range);
bool range_remove(uint64_t start, struct driver_range *ret_range);
/* The one that an address lies in. */
bool range_find(uint64_t address, struct driver_range *ret_range);
/* Bytes of all of a kind. */
uint64_t ranges_bytes(enum range_kind kind);
void ranges_forget(void);

/* ---- stream.c ---- */

/* Does an op in a stream's order, or captures it. What it owns is freed, also if that fails. */
CUresult stream_add(CUstream stream, const struct driver_op *op);
/* Waits until a stream, which is there, has done all that. */
void stream_wait(CUstream stream);
/* Whether calls may be made, and one is to be made for this stream. */
CUresult stream_check(CUstream stream);
/* The stream of a handle; NULL: none. */
struct driver_stream *stream_of(CUstream stream);
/* Whether what is asked of a stream becomes part of a graph. */
bool stream_captures(CUstream stream);

/* The op of a function of the host, or of an event's record. */
CUresult call_op(void (*function)(void *), void *data, struct driver_op *ret_op);
CUresult record_op(CUevent event, struct driver_op *ret_op);

/* ---- launch.c ---- */

/* What a launch asks for. */
struct launch {
	struct driver_kernel *kernel;
	struct wire_launch asked;
	void **params, **extra;
};

CUresult launch_op(struct launch *launch, struct driver_op *ret_op);

/* ---- capture.c ---- */

struct capture;
/* Adds an op to what a stream captures, which takes what it owns. */
CUresult capture_add(struct driver_stream *stream, const struct driver_op *op);
/* An event is recorded in a stream that captures; a stream that may not yet waits for it. */
CUresult capture_record(struct driver_stream *stream, struct event *event);
CUresult capture_wait(struct driver_stream *stream, const struct event *event);
/* The event is recorded outside of a capture, or is no more. */
void capture_forget(struct event *event);
/* What is asked for cannot be captured. */
CUresult capture_spoil(struct driver_stream *stream);

/* ---- copy.c ---- */

/* The op of a copy or a fill that reads what is there when it is done. */
CUresult copy_op(const CUDA_MEMCPY3D *copy, struct driver_op *ret_op);
CUresult fill_op(CUdeviceptr at, size_t pitch, unsigned value, unsigned size, size_t width,
		 size_t height, struct driver_op *ret_op);

/* ---- array.c ---- */

/* Bytes of a component of a texel; 0: not known. */
unsigned array_component(int format);

/* ---- memory.c ---- */

/* Memory of the device, of a pool or of none. */
CUresult memory_allocate(CUdeviceptr *ret_address, size_t n_bytes, struct pool *pool);
/* A file without a name, all 0, whose size stays; -1: none. The caller closes it. */
int memory_make_file(size_t n_bytes);
/* Memory for managed variables, once. */
CUresult memory_share_managed(void);
/* The first bytes of it are in use. */
void memory_use_managed(size_t n_bytes);
/* Whether it is there. */
bool memory_is_managed(uint64_t address);
/* Gives back what that gave, once all work is done. */
CUresult memory_release(uint64_t address);

/* ---- virtual.c ---- */

/* The device was reset. */
void virtual_forget(void);

/* ---- registered.c ---- */

/* The device was reset. */
void registered_forget(void);

/* ---- logs.c ---- */

/* A call of the driver or the runtime failed. */
void log_error(int result, const char *function, const char *name);

/* ---- pool.c ---- */

/* Memory of a pool (NULL: of none) is there now, or is no more. */
void pool_note(struct pool *pool, uint64_t n_bytes, bool is_added);

/* ---- texture.c ---- */

/* The device was reset. */
void objects_forget(void);

#endif
