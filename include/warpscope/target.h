/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The waist: one debugged GPU process, wherever its state comes from.
 *
 * A `struct ws_target` is a dump, a software GPU, or whatever another provider of NVIDIA's debugger
 * API knows. Clients above (reports, tables, the API table) never learn which. State is handed out
 * in lists with dense indices (see state.h), so that a client walks a whole device without a
 * look-up per lane. Look-ups by id are there for clients that start from an id.
 *
 * **Lifetime.** Indices, strings and spans are valid until the target is closed or, if it can run,
 * until it runs. **Threads and const.** Functions that read take a const target: reading changes no
 * answer, and any number of threads may read one target at a time. While a target is closed or
 * runs, nothing else may use it. A back end that locks, caches or asks a driver while it reads
 * keeps that behind `state`, which const does not reach, so no cast has to remove const.
 *
 * **To add a back end:** 1. a folder `src/target/NAME/` that fills a `struct ws_target_ops`; 2. the
 * required members, level by level (inspection, then memory, then run control; a NULL member
 * answers WS_UNSUPPORTED); 3. an opening function in a public header; 4. a row in
 * docs/architecture.md; 5. a maker in tests/target/test_target.c, which runs the common suite
 * over it.
 */
#ifndef WARPSCOPE_TARGET_H
#define WARPSCOPE_TARGET_H

#include <warpscope/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of ws_step.flags. */
enum ws_step_flags {
	WS_STEP_INTO_BARRIERS = 1u << 0, /**< one true step, even where a warp barrier waits */
	WS_STEP_NO_WAIT = 1u << 1, /**< return at once; WS_EVENT_STEP_DONE says when it is done */
};

/** What a single step is asked to do. */
struct ws_step {
	uint32_t warp_index;
	uint32_t lane;  /**< lane that the user looks at, or WS_NONE */
	uint32_t steps; /**< at least 1 */
	uint32_t flags; /**< ws_step_flags */
};

/** What a watchpoint stops for, and what was done to watched bytes: bits. */
enum ws_watch_kinds {
	WS_WATCH_READ = 1u << 0,
	WS_WATCH_WRITE = 1u << 1,
	WS_WATCH_CHANGE = 1u << 2, /**< a write after which the bytes are others than before */
};

/** Memory to be watched. Shared memory is that of the warp's block, local memory of the lane. */
struct ws_watch {
	struct ws_address at;
	uint64_t size_bytes; /**< at least 1 */
	uint32_t kinds;      /**< ws_watch_kinds; of constant banks and parameters WS_WATCH_READ */
};

enum {
	WS_WATCH_BYTES = 16, /**< of one access that are told */
};

/** A watchpoint that was hit: by lanes of one warp, in one instruction, which has been executed. */
struct ws_watch_hit {
	uint32_t number, kinds; /**< `kinds`: what was done, ws_watch_kinds */
	uint32_t warp_index;
	uint32_t lanes;   /**< that did it, a mask */
	uint32_t lane;    /**< that accessed `address`; of several that wrote there, the last */
	uint64_t pc;      /**< of the instruction */
	uint64_t address; /**< the first byte of the first access that counts, in its space */
	uint32_t n;       /**< bytes of that access which are watched, up to WS_WATCH_BYTES */
	uint8_t before[WS_WATCH_BYTES], now[WS_WATCH_BYTES];
};

/** What to go back to: the last time, before now, that ... */
enum ws_back_kind {
	WS_BACK_STEP,     /**< the thread executed an instruction */
	WS_BACK_STOP,     /**< a breakpoint that is planted or a watchpoint was hit */
	WS_BACK_WATCH,    /**< this watchpoint was hit */
	WS_BACK_REGISTER, /**< the thread wrote a register */
	WS_BACK_POSITION, /**< or later: the device was at this position of its history */
};

struct ws_back {
	enum ws_back_kind kind;
	uint32_t warp_index, lane; /**< the thread: step, register */
	uint32_t watch;            /**< number of the watchpoint */
	enum ws_reg_kind reg_kind; /**< WS_REG_R or WS_REG_P */
	uint32_t reg;
	uint64_t position;
};

/** Where the device is now. */
struct ws_back_found {
	bool any;                   /**< false: where history begins, nothing was found */
	uint64_t position;          /**< instructions executed so far */
	uint32_t warp_index, lanes; /**< who is about to do it: a warp (WS_NONE: it has exited), a
				       mask of lanes */
	uint32_t watch;             /**< the watchpoint that is about to be hit; 0: none */
	uint64_t n_again;           /**< instructions that were executed again to find it */
};

/** What CUDA gives each thread, as in ws_arrival.place. */
enum ws_arrival_dim {
	WS_ARRIVAL_THREAD_IDX,
	WS_ARRIVAL_BLOCK_IDX,
	WS_ARRIVAL_BLOCK_DIM,
	WS_ARRIVAL_GRID_DIM,
	WS_ARRIVAL_CLUSTER_IDX,
	WS_ARRIVAL_CLUSTER_DIM,
};

/** Lanes of a warp that come to a breakpoint, to be asked on the thread that executes them. */
struct ws_arrival {
	uint32_t lanes; /**< a mask; `lane` below is one of them */
	void *state;    /**< the back end's */
	/** A register, or two in a row. False: there is none. */
	bool (*reg)(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
		    uint32_t words, unsigned lane, uint64_t *ret_bits);
	/** x, y or z (0 to 2) of what enum ws_arrival_dim names. */
	uint32_t (*place)(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			  unsigned lane);
	/** Memory, as the lane `at->lane` sees it; indices of rows do not count. False: not all of
	 * it is there. */
	bool (*read)(const struct ws_arrival *arrival, const struct ws_address *at, void *buffer,
		     size_t len);
};

/** The lanes of an arrival that stop. Must not use the target. */
typedef uint32_t ws_stop_if_fn(const void *condition, const struct ws_arrival *arrival);

enum ws_event_kind {
	WS_EVENT_CONTEXT_CREATED,
	WS_EVENT_CONTEXT_DESTROYED,
	WS_EVENT_CONTEXT_PUSHED, /**< made current on a host thread */
	WS_EVENT_CONTEXT_POPPED,
	WS_EVENT_MODULE_LOADED,
	WS_EVENT_MODULE_UNLOADED,
	WS_EVENT_FUNCTIONS_LOADED, /**< functions of an image that is loaded already */
	WS_EVENT_GRID_READY,
	WS_EVENT_GRID_FINISHED,
	WS_EVENT_STOPPED,        /**< a breakpoint or an exception stopped all devices */
	WS_EVENT_STEP_DONE,      /**< of a step with WS_STEP_NO_WAIT */
	WS_EVENT_ATTACHED,       /**< a client that attached has been told everything */
	WS_EVENT_DETACHED,       /**< the program runs on without its debugger */
	WS_EVENT_LOGS_AVAILABLE, /**< the first record since the log was read to its end */
	WS_EVENT_LOGS_THRESHOLD, /**< many records wait: take them soon */
	WS_EVENT_LOG_RULES,      /**< `ruleset` is in force from now on */
	WS_EVENT_FAILED,         /**< the back end lost its device; `status` says how */
};

/** Something that happened in a running target. Fields that a kind does not use are 0. */
struct ws_event {
	enum ws_event_kind kind;
	bool sync;              /**< a host thread waits until the event is acknowledged */
	uint64_t sequence;      /**< number of the event in this target, from 1 */
	uint32_t device_id;     /**< an id: indices may change by the time the event is read */
	uint32_t host_tid;      /**< thread that caused it, 0 if unknown */
	uint64_t context_id;    /**< context and later */
	uint64_t module_handle; /**< image, functions, grid */
	uint64_t image_bytes;   /**< image: size of the relocated form */
	/** Image that is loaded: its two forms, if they stay as they are while the device runs,
	 * else empty. Valid until the image is unloaded. */
	struct ws_span relocated, original;
	uint32_t n_functions;                     /**< functions: loaded so far */
	struct ws_grid grid;                      /**< grid */
	uint64_t broken_devices, faulted_devices; /**< stopped, step done: bit per device id */
	uint32_t sm_id;                           /**< step done */
	uint64_t asked_warps, stepped_warps;      /**< step done */
	bool until_pc;                            /**< step done: from run_until */
	uint32_t ruleset;                         /**< log rules */
	enum ws_status status;                    /**< failed */
};

/** What a client wants from a running target. Events that have no bit here are always sent. */
enum ws_wants {
	WS_WANT_LAUNCHES =
		1u << 0, /**< WS_EVENT_GRID_READY; each launch waits until it is acknowledged */
	WS_WANT_BLOCKING_LAUNCHES = 1u << 1, /**< a launch returns when its grid has finished */
	WS_WANT_FUNCTIONS =
		1u << 2,         /**< WS_EVENT_FUNCTIONS_LOADED, of functions loaded on first use */
	WS_WANT_STOPS = 1u << 3, /**< WS_EVENT_STOPPED */
	WS_WANT_LEFT_EXCEPTIONS = 1u << 4,  /**< also stop for an exception whose warp has exited */
	WS_WANT_CONTEXT_SWITCHES = 1u << 5, /**< WS_EVENT_CONTEXT_PUSHED, _POPPED */
	WS_WANT_LOGS = 1u << 6, /**< keep a log; WS_EVENT_LOGS_AVAILABLE and the two after it */
	WS_WANT_LAUNCH_STACKS = 1u << 7, /**< launch_stack */
	WS_WANT_PRINTF = 1u << 8,        /**< flush what kernels printed at each stop */
};

enum {
	WS_LOG_TEXT = 256, /**< bytes of a record's text, the NUL included */
};

/** A record of the driver's log. */
struct ws_log {
	uint64_t time_ns;       /**< since 1970 */
	uint64_t host_tid;      /**< thread that the record is about */
	uint32_t level;         /**< CUDBGCudaLogLevel */
	uint32_t ruleset, rule; /**< that kept it; UINT32_MAX: not known */
	char text[WS_LOG_TEXT]; /**< terminated */
};

/** Which records of the log are kept. */
struct ws_log_rule {
	uint32_t action;   /**< CUDBGCudaLogRuleAction */
	uint32_t level;    /**< CUDBGCudaLogLevelFilter */
	uint64_t host_tid; /**< UINT64_MAX: any */
	const char *regex; /**< of the text; NULL: any */
};

struct ws_target;

/**
 * The members of a back end. Unless a member says otherwise: indices are below the counts (the
 * wrappers check); outputs are written on WS_OK only. WS_ABSENT means that the thing exists but was
 * not recorded, WS_EXCLUDED that it was left out on purpose, WS_MALFORMED or WS_TRUNCATED that it
 * is damaged, WS_RUNNING that the device must be stopped first.
 */
struct ws_target_ops {
	const char *name; /**< "core", "sim", "api" */
	void (*close)(struct ws_target *target);

	/* ---- inspection: required ---- */

	enum ws_status (*device)(const struct ws_target *target, uint32_t index,
				 struct ws_device *ret_device, struct ws_error *err);
	enum ws_status (*context)(const struct ws_target *target, uint32_t index,
				  struct ws_context *ret_context, struct ws_error *err);
	enum ws_status (*module)(const struct ws_target *target, uint32_t index,
				 struct ws_module *ret_module, struct ws_error *err);
	enum ws_status (*grid)(const struct ws_target *target, uint32_t index,
			       struct ws_grid *ret_grid, struct ws_error *err);
	enum ws_status (*sm)(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			     struct ws_error *err);
	enum ws_status (*block)(const struct ws_target *target, uint32_t index,
				struct ws_block *ret_block, struct ws_error *err);
	enum ws_status (*warp)(const struct ws_target *target, uint32_t index,
			       struct ws_warp *ret_warp, struct ws_error *err);
	/**
	 * All lanes of a warp that are recorded, in the order of lane ids: at most WS_MAX_LANES are
	 * written to `ret_lanes`, `*ret_n` says how many. A warp without lanes answers WS_OK and 0.
	 */
	enum ws_status (*lanes)(const struct ws_target *target, uint32_t warp_index,
				struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err);
	/**
	 * Return addresses of a lane, innermost (level 0) first. The first `cap` are written;
	 * `*ret_n` says how many are recorded.
	 */
	enum ws_status (*call_stack)(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, struct ws_return_address *ret_addresses,
				     uint32_t cap, uint32_t *ret_n, struct ws_error *err);
	/**
	 * Registers `first` to `first + n - 1` of a lane (`lane` is ignored for kinds that belong
	 * to the warp). When fewer are recorded, the leading ones are written and `*ret_n` says how
	 * many; WS_ABSENT when not even the first is recorded.
	 */
	enum ws_status (*registers)(const struct ws_target *target, uint32_t warp_index,
				    uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				    uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				    struct ws_error *err);

	/* ---- memory: optional ---- */

	/**
	 * Reads up to `len` bytes, across adjacent ranges. Always sets `*ret_n` to the number of
	 * leading bytes that were written. WS_OK only when that is `len`; otherwise the reason why
	 * the byte at `*ret_n` could not be read. WS_ABSENT: not mapped, as far as the target
	 * knows. WS_EXCLUDED: left out (the message names the flag). WS_TRUNCATED, WS_MALFORMED:
	 * damaged. WS_ARGUMENT: the address lacks an index that its space needs (for global memory
	 * a device, where each device has other memory there). WS_UNSUPPORTED: not this space (code
	 * is then read from the images).
	 */
	enum ws_status (*read_memory)(const struct ws_target *target, const struct ws_address *at,
				      void *buffer, size_t len, size_t *ret_n,
				      struct ws_error *err);
	/** Known ranges, sorted by space, owner, start. `index` from 0; WS_ABSENT past the last. */
	enum ws_status (*memory_range)(const struct ws_target *target, uint32_t index,
				       struct ws_memory_range *ret_range, struct ws_error *err);

	/**
	 * One lane by its id. NULL: the wrapper picks it out of `lanes`. WS_ABSENT: no such lane is
	 * recorded.
	 */
	enum ws_status (*lane)(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
			       struct ws_lane *ret_lane, struct ws_error *err);

	/* ---- run control: optional, all or none ---- */
	/*
	 * A device either runs or is stopped. While it runs its state cannot be read (WS_RUNNING).
	 * What a reader sees changes only inside suspend, resume, step, run_until and update. No
	 * two of these run at a time, no reader runs beside them, and they report what changed
	 * (ws_target_changed()). A device that stopped on its own counts as running until update
	 * says that it stopped.
	 */

	/** Takes in what happened since the last call: devices that stopped, steps that are done,
	 * new contexts and images. Cheap when nothing happened. */
	enum ws_status (*update)(struct ws_target *target, struct ws_error *err);
	/** Whether a device runs. */
	bool (*running)(const struct ws_target *target, uint32_t device_index);
	/**
	 * Stops or resumes one device, or all of them (`device_index` WS_NONE). WS_OK also for one
	 * that is in that state already. `wait` false: returns at once, and WS_EVENT_STOPPED says
	 * when it has stopped.
	 */
	enum ws_status (*suspend)(struct ws_target *target, uint32_t device_index, bool wait,
				  struct ws_error *err);
	enum ws_status (*resume)(struct ws_target *target, uint32_t device_index,
				 struct ws_error *err);
	/**
	 * Steps one warp. `*ret_warps` is the mask of warp ids of its SM that moved.
	 * WS_UNSUPPORTED: this warp cannot be stepped alone; nothing moved.
	 */
	enum ws_status (*step)(struct ws_target *target, const struct ws_step *step,
			       uint64_t *ret_warps, struct ws_error *err);
	/**
	 * Lets the warps of the mask run until they reach `pc`. WS_UNSUPPORTED: they cannot run
	 * alone; WS_ABSENT: there is no code at `pc`. `flags`: WS_STEP_NO_WAIT.
	 */
	enum ws_status (*run_until)(struct ws_target *target, uint32_t sm_index, uint64_t warp_mask,
				    uint64_t pc, uint32_t flags, struct ws_error *err);

	/* ---- breakpoints: optional, all or none; a warp that hit one then has WS_WARP_STOP ----
	 */

	/** Sets a breakpoint at a code address of a device. WS_ABSENT: no code there. */
	enum ws_status (*plant)(struct ws_target *target, uint32_t device_index, uint64_t pc,
				struct ws_error *err);
	/** Removes it. */
	enum ws_status (*unplant)(struct ws_target *target, uint32_t device_index, uint64_t pc,
				  struct ws_error *err);
	/** Stops the first warp of every kernel that starts. */
	enum ws_status (*stop_at_launch)(struct ws_target *target, bool on, struct ws_error *err);

	/**
	 * Has a breakpoint that is planted stop only lanes that `holds` names; NULL: any. A warp
	 * stops with all lanes that came there, if one of them is named. `condition` must stay
	 * until this is called again, or unplant. Optional by itself. WS_ABSENT: no breakpoint
	 * there.
	 */
	enum ws_status (*stop_if)(struct ws_target *target, uint32_t device_index, uint64_t pc,
				  ws_stop_if_fn *holds, const void *condition,
				  struct ws_error *err);

	/* ---- watchpoints: optional, all or none ---- */

	/**
	 * Stops the device behind each instruction that accesses some memory. The warp is then
	 * broken, with WS_STOP_INTERNAL. `*ret_number`, from 1, is not used again. WS_ABSENT: not
	 * all of it is there. WS_ARGUMENT: nothing can happen to this memory that is asked for.
	 * WS_LIMIT: too many watchpoints.
	 */
	enum ws_status (*watch)(struct ws_target *target, const struct ws_watch *watch,
				uint32_t *ret_number, struct ws_error *err);
	/** Removes it; a number that is not there is fine. */
	enum ws_status (*unwatch)(struct ws_target *target, uint32_t number, struct ws_error *err);
	/** Watchpoints that were hit since the device stood last; `index` from 0, WS_ABSENT past
	 * the last. */
	enum ws_status (*watch_hit)(const struct ws_target *target, uint32_t index,
				    struct ws_watch_hit *ret_hit, struct ws_error *err);

	/* ---- going back: optional, all or none ---- */

	/**
	 * Keeps the history of the device from now on, in about this many bytes at most; when they
	 * are used up, older times cost more to go back to, and the oldest are lost. 0 ends it.
	 * What the host program does, and code that is written, begin a new history.
	 * WS_UNSUPPORTED: this device cannot.
	 */
	enum ws_status (*keep_history)(struct ws_target *target, uint64_t max_bytes,
				       struct ws_error *err);
	/**
	 * Puts a stopped device back to what it was before the instruction that is looked for; all
	 * rows are new. What it executes from there on replaces what it had executed. WS_ABSENT:
	 * there is no history, or no such position in it. WS_MALFORMED: memory that the host shares
	 * was changed, and kernels did not do the same again.
	 */
	enum ws_status (*go_back)(struct ws_target *target, const struct ws_back *back,
				  struct ws_back_found *ret_found, struct ws_error *err);

	/* ---- alteration: optional, member by member; limits as in the reading members ---- */

	enum ws_status (*write_memory)(struct ws_target *target, const struct ws_address *at,
				       const void *buffer, size_t len, struct ws_error *err);
	/** WS_ABSENT when one of the registers does not exist; then none is written. */
	enum ws_status (*write_registers)(struct ws_target *target, uint32_t warp_index,
					  uint32_t lane, enum ws_reg_kind kind, uint32_t first,
					  uint32_t n, const uint32_t *values, struct ws_error *err);
	/** Optional, apart. Both words of a lane's RPC. WS_ABSENT: the lane has no thread. */
	enum ws_status (*write_rpc)(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				    uint32_t rpc_lo, uint32_t rpc_hi, struct ws_error *err);

	/* ---- events: optional, all or none ---- */

	/**
	 * Takes the oldest event. WS_ABSENT: none is waiting. No event is lost: one that cannot be
	 * delivered now (WS_NO_MEMORY) is delivered later. No row changes. May be called beside
	 * everything else, also beside a step that waits.
	 */
	enum ws_status (*next_event)(struct ws_target *target, struct ws_event *ret_event,
				     struct ws_error *err);
	/**
	 * Releases the host threads that wait for events up to this sequence number, and no others.
	 * A back end that can only release all of them does so when every event that was taken is
	 * acknowledged. May be called beside everything but next_event.
	 */
	enum ws_status (*acknowledge)(struct ws_target *target, uint64_t up_to,
				      struct ws_error *err);
	/**
	 * Sets what is wanted from now on (ws_wants); before the first call nothing is. Host
	 * threads that wait for an event that is no longer wanted are released, whether it was
	 * taken or not. What the back end does not have is ignored. May be called beside everything
	 * but next_event and acknowledge.
	 */
	enum ws_status (*want)(struct ws_target *target, uint32_t wants, struct ws_error *err);
	/** Whether `want` knows WS_WANT_PRINTF. */
	bool flushes;
	/**
	 * Has `wake(data)` called whenever an event was added. The call may come on any thread and
	 * must return soon. NULL stops it: once this has returned, no call is running or will come.
	 */
	void (*on_event)(struct ws_target *target, void (*wake)(void *data), void *data);

	/* ---- the host's side of a running target: optional, member by member ---- */

	/** Takes the oldest records of the driver's log, at most `cap`; `*ret_n` 0: none is
	 * waiting. May be called beside everything else. */
	enum ws_status (*take_logs)(struct ws_target *target, struct ws_log *ret_logs, uint32_t cap,
				    uint32_t *ret_n, struct ws_error *err);
	/**
	 * Sets what the log keeps from now on: the first rule that matches decides. `*ret_ruleset`
	 * is the number that later records give for this set. WS_ARGUMENT: a rule is not valid;
	 * nothing changed.
	 */
	enum ws_status (*log_rules)(struct ws_target *target, const struct ws_log_rule *rules,
				    uint32_t n, uint32_t *ret_ruleset, struct ws_error *err);
	/**
	 * Return addresses of the host thread that launched a grid, innermost first. The first
	 * `cap` are written; `*ret_n` says how many there are. WS_ABSENT: not kept.
	 */
	enum ws_status (*launch_stack)(struct ws_target *target, uint32_t grid_index,
				       uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
				       struct ws_error *err);

	/**
	 * Host memory that is pinned for the device, by its host address; otherwise as read_memory
	 * and write_memory.
	 */
	enum ws_status (*read_host)(const struct ws_target *target, uint64_t address, void *buffer,
				    size_t len, size_t *ret_n, struct ws_error *err);
	enum ws_status (*write_host)(struct ws_target *target, uint64_t address, const void *buffer,
				     size_t len, struct ws_error *err);
	/** Host address of memory that a device sees. WS_ABSENT: it has none. */
	enum ws_status (*host_address)(const struct ws_target *target, uint32_t device_index,
				       uint64_t address, uint64_t *ret_address,
				       struct ws_error *err);
	/**
	 * Prepares the program to go on without a debugger. `runs`: the program runs while this is
	 * done, and WS_EVENT_DETACHED says when it is over.
	 */
	enum ws_status (*detach)(struct ws_target *target, bool runs, struct ws_error *err);

	/**
	 * Writes a dump of a stopped target: for back ends that know more of it than the other
	 * members say, such as all of its memory. `flags`: ws_write_flags. Optional:
	 * ws_write_target() writes what the members say.
	 */
	enum ws_status (*write_dump)(const struct ws_target *target, const char *path,
				     uint32_t flags, struct ws_error *err);

	/* ---- what only a file knows: optional ---- */

	enum ws_status (*dump_facts)(const struct ws_target *target,
				     struct ws_dump_facts *ret_facts, struct ws_error *err);
	/** `index` from 0; WS_ABSENT past the last. */
	enum ws_status (*diagnostic)(const struct ws_target *target, uint32_t index,
				     struct ws_diagnostic *ret_diagnostic, struct ws_error *err);
	/** Looks at everything that the file says, which takes a few times as long as a report, for
	 * what contradicts the format or the rest of the file; not for what is missing. `*ret_n`:
	 * in how many places it does. */
	enum ws_status (*contradictions)(const struct ws_target *target, uint64_t *ret_n,
					 struct ws_error *err);
};

struct ws_cubin_set;

struct ws_target_own;

/** A target: a member of the back end's own structure, set up by ws_target_init(). */
struct ws_target {
	const struct ws_target_ops *ops;
	void *state; /**< the back end's own data */
	/** Lengths of the lists: filled in by the back end when it opens, then by
	 * ws_target_changed(). */
	struct ws_counts counts;
	/** Counts up by one whenever rows change; ws_target_changes() says which. */
	uint64_t generation;
	struct ws_target_own *own; /**< the waist's own data */
};

/**
 * For back ends: makes a target with empty lists. `ops` must outlive it; `state` is the back end's
 * own structure, which ops->close() frees.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_target_init(struct ws_target *target, const struct ws_target_ops *ops,
				     void *state, struct ws_error *err) WS_MUST_USE;

/** Warps of an SM, by their slots. */
struct ws_change {
	uint32_t sm_index;
	uint64_t warps;
};

enum {
	WS_MAX_CHANGES = 256, /**< that are reported one by one */
};

/** For back ends: all lists and indices are new. Nobody may read meanwhile. */
WS_API void ws_target_changed(struct ws_target *target, const struct ws_counts *counts);
/**
 * For back ends: the lists and their indices stay. Only rows of these warps changed, with their
 * lanes, registers, SM and memory. Nobody may read meanwhile.
 */
WS_API void ws_target_changed_warps(struct ws_target *target, const struct ws_change *changes,
				    uint32_t n);
/**
 * What changed since a generation of the target. An SM may be listed several times. False:
 * anything may have changed, the indices too.
 */
WS_API bool ws_target_changes(const struct ws_target *target, uint64_t since,
			      struct ws_change ret_changes[WS_MAX_CHANGES], uint32_t *ret_n);
/** Whether an event of this kind is sent to a client with these wants (ws_wants). */
WS_API bool ws_event_is_wanted(enum ws_event_kind kind, uint32_t wants);

/** Closes a target and all that it owns. NULL is fine. */
WS_API void ws_target_close(struct ws_target *target);

/** What some targets can do; everything else all of them can. */
enum ws_ability {
	WS_CAN_RUN,            /**< suspend, resume */
	WS_CAN_STEP,           /**< step */
	WS_CAN_RUN_UNTIL,      /**< run_until */
	WS_CAN_BREAK,          /**< plant, unplant */
	WS_CAN_STOP_AT_LAUNCH, /**< stop_at_launch */
	WS_CAN_WRITE,          /**< write_memory */
	WS_CAN_TELL,           /**< events */
	WS_CAN_WATCH,          /**< watch, unwatch, watch_hit */
	WS_CAN_GO_BACK,        /**< keep_history, go_back */
	WS_CAN_STOP_IF,        /**< stop_if */
	WS_CAN_LOG,            /**< take_logs */
	WS_CAN_KEEP_STACKS,    /**< launch_stack */
	WS_CAN_FLUSH,          /**< WS_WANT_PRINTF has an effect */
};

WS_API bool ws_target_can(const struct ws_target *target, enum ws_ability ability);

/* ---- the members, with arguments checked: WS_ARGUMENT for an index out of range, WS_UNSUPPORTED
 * for a missing member */

WS_API void ws_target_counts(const struct ws_target *target, struct ws_counts *ret_counts);
WS_API enum ws_status ws_target_device(const struct ws_target *target, uint32_t index,
				       struct ws_device *ret_device,
				       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_context(const struct ws_target *target, uint32_t index,
					struct ws_context *ret_context,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_module(const struct ws_target *target, uint32_t index,
				       struct ws_module *ret_module,
				       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_grid(const struct ws_target *target, uint32_t index,
				     struct ws_grid *ret_grid, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_sm(const struct ws_target *target, uint32_t index,
				   struct ws_sm *ret_sm, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_block(const struct ws_target *target, uint32_t index,
				      struct ws_block *ret_block, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_warp(const struct ws_target *target, uint32_t index,
				     struct ws_warp *ret_warp, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_lanes(const struct ws_target *target, uint32_t warp_index,
				      struct ws_lane ret_lanes[WS_MAX_LANES], uint32_t *ret_n,
				      struct ws_error *err) WS_MUST_USE;
/** WS_ABSENT when the lane is not recorded, WS_ARGUMENT when `lane` is not below WS_MAX_LANES. */
WS_API enum ws_status ws_target_lane(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, struct ws_lane *ret_lane,
				     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_call_stack(const struct ws_target *target, uint32_t warp_index,
					   uint32_t lane, struct ws_return_address *ret_addresses,
					   uint32_t cap, uint32_t *ret_n,
					   struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_registers(const struct ws_target *target, uint32_t warp_index,
					  uint32_t lane, enum ws_reg_kind kind, uint32_t first,
					  uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_read_memory(const struct ws_target *target,
					    const struct ws_address *at, void *buffer, size_t len,
					    size_t *ret_n, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_memory_range(const struct ws_target *target, uint32_t index,
					     struct ws_memory_range *ret_range,
					     struct ws_error *err) WS_MUST_USE;
/** WS_OK for a target that cannot run. */
WS_API enum ws_status ws_target_update(struct ws_target *target, struct ws_error *err) WS_MUST_USE;
/** False too for a target that cannot run. */
WS_API bool ws_target_running(const struct ws_target *target, uint32_t device_index);
/** `device_index` may be WS_NONE for all, here and in ws_target_resume(). */
WS_API enum ws_status ws_target_suspend(struct ws_target *target, uint32_t device_index, bool wait,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_resume(struct ws_target *target, uint32_t device_index,
				       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_step(struct ws_target *target, const struct ws_step *step,
				     uint64_t *ret_warps, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_run_until(struct ws_target *target, uint32_t sm_index,
					  uint64_t warp_mask, uint64_t pc, uint32_t flags,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
				      struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_unplant(struct ws_target *target, uint32_t device_index,
					uint64_t pc, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_stop_if(struct ws_target *target, uint32_t device_index,
					uint64_t pc, ws_stop_if_fn *holds, const void *condition,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_stop_at_launch(struct ws_target *target, bool on,
					       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_watch(struct ws_target *target, const struct ws_watch *watch,
				      uint32_t *ret_number, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_unwatch(struct ws_target *target, uint32_t number,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_watch_hit(const struct ws_target *target, uint32_t index,
					  struct ws_watch_hit *ret_hit,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_keep_history(struct ws_target *target, uint64_t max_bytes,
					     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_go_back(struct ws_target *target, const struct ws_back *back,
					struct ws_back_found *ret_found,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_write_memory(struct ws_target *target, const struct ws_address *at,
					     const void *buffer, size_t len,
					     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_write_registers(struct ws_target *target, uint32_t warp_index,
						uint32_t lane, enum ws_reg_kind kind,
						uint32_t first, uint32_t n, const uint32_t *values,
						struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_write_rpc(struct ws_target *target, uint32_t warp_index,
					  uint32_t lane, uint32_t rpc_lo, uint32_t rpc_hi,
					  struct ws_error *err) WS_MUST_USE;
/** WS_ABSENT also for a target that has no events. */
WS_API enum ws_status ws_target_next_event(struct ws_target *target, struct ws_event *ret_event,
					   struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_acknowledge(struct ws_target *target, uint64_t up_to,
					    struct ws_error *err) WS_MUST_USE;
/** WS_OK also for a target that has no events. */
WS_API enum ws_status ws_target_want(struct ws_target *target, uint32_t wants,
				     struct ws_error *err) WS_MUST_USE;
/** Does nothing for a target that has no events. */
WS_API void ws_target_on_event(struct ws_target *target, void (*wake)(void *data), void *data);
WS_API enum ws_status ws_target_take_logs(struct ws_target *target, struct ws_log *ret_logs,
					  uint32_t cap, uint32_t *ret_n,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_log_rules(struct ws_target *target, const struct ws_log_rule *rules,
					  uint32_t n, uint32_t *ret_ruleset,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_launch_stack(struct ws_target *target, uint32_t grid_index,
					     uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
					     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_read_host(const struct ws_target *target, uint64_t address,
					  void *buffer, size_t len, size_t *ret_n,
					  struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_write_host(struct ws_target *target, uint64_t address,
					   const void *buffer, size_t len,
					   struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_host_address(const struct ws_target *target, uint32_t device_index,
					     uint64_t address, uint64_t *ret_address,
					     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_detach(struct ws_target *target, bool runs,
				       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_dump_facts(const struct ws_target *target,
					   struct ws_dump_facts *ret_facts,
					   struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_target_diagnostic(const struct ws_target *target, uint32_t index,
					   struct ws_diagnostic *ret_diagnostic,
					   struct ws_error *err) WS_MUST_USE;

/* ---- look-ups in the list of memory ranges */

/** What a range belongs to: the index of the block (shared), warp (local) or grid (parameters,
 * constant banks); 0 in the other spaces. */
WS_API uint32_t ws_memory_range_owner(const struct ws_memory_range *range);
/**
 * Index of the first range that is not before (`space`, `owner`, `lane`) in the target's order, or
 * the number of ranges if there is none. `lane` matters for local memory only. O(log ranges).
 */
WS_API uint32_t ws_target_first_range(const struct ws_target *target, enum ws_space space,
				      uint32_t owner, uint32_t lane);

/* ---- look-ups by id: WS_ABSENT when there is none */

/** Index of the device with this id. O(devices). */
WS_API enum ws_status ws_target_find_device(const struct ws_target *target, uint32_t device_id,
					    uint32_t *ret_index, struct ws_error *err) WS_MUST_USE;
/** Index of an SM by its id. O(log SMs). */
WS_API enum ws_status ws_target_find_sm(const struct ws_target *target, uint32_t device_index,
					uint32_t sm_id, uint32_t *ret_index,
					struct ws_error *err) WS_MUST_USE;
/** Index of a warp by its slot. O(log warps of the SM). */
WS_API enum ws_status ws_target_find_warp(const struct ws_target *target, uint32_t sm_index,
					  uint32_t warp_id, uint32_t *ret_index,
					  struct ws_error *err) WS_MUST_USE;

/* ---- code */

/**
 * The images of the target, in the order of its list: entry i is image i. The set belongs to the
 * target and is valid as long as its indices are. An image that did not change while the target ran
 * stays open. Of a truncated image the set has what is left; an image that cannot be read is an
 * empty entry.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_target_cubins(const struct ws_target *target,
				       struct ws_cubin_set **ret_cubins,
				       struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
