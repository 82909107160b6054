/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The software GPU as a target: a stopped device of sim.h for reports, dumps and the debugger API,
 * or one that runs under a debugger.
 *
 * All rows that a debugger sees of hardware are there: SMs, blocks, warps, lanes, call stacks,
 * registers, memory, images with device addresses. Lanes that wait stand at the instruction that
 * they wait at. What hardware has no number for: a trap is a broken warp without an exception, and
 * an instruction that the software GPU cannot execute is an illegal one, whose text says why.
 */
#ifndef WARPSCOPE_SIM_TARGET_H
#define WARPSCOPE_SIM_TARGET_H

#include <warpscope/sim.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The state of a device as it is now. The device is borrowed: until the target is closed it must
 * not run, change or be destroyed. Any number of threads may read the target.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_target(struct ws_sim *sim, struct ws_target **ret_target,
				    struct ws_error *err) WS_MUST_USE;

/* ---- a device that runs ---- */
/*
 * One thread of the target's own executes while the device runs; a step that waits is executed by
 * its caller. All members of a target that runs are there (WS_CAN_RUN and the rest). The device
 * stands when the target is opened: what is loaded and queued by then is there, ws_target_resume()
 * starts it. A fault or a breakpoint stops it. Going on after a fault ends all that runs and all
 * that is queued, as a driver does, and the device can be used again.
 *
 * A host program (or the debugger itself) launches, loads and copies with the functions of sim.h,
 * between these two:
 *
 *     ws_sim_host_begin      takes the device; while a debugger has stopped it, waits
 *       ws_sim_launch, ws_sim_load, ws_sim_write, ws_sim_log, ...
 *     ws_sim_host_end        gives it back; modules and launches are told to the debugger
 *     ws_sim_host_await      waits until the debugger has acknowledged that
 *     ws_sim_host_wait       waits until all that was launched is done
 */

/**
 * A device under a debugger. It is borrowed: until the target is closed it belongs to the target,
 * and others use it through ws_sim_host_begin() only. Closing takes out breakpoints and leaves the
 * device as it is.
 * @retval WS_NO_MEMORY
 * @retval WS_IO  the thread could not start.
 * @retval WS_ARGUMENT  the device has a debugger already.
 */
WS_API enum ws_status ws_sim_target_live(struct ws_sim *sim, struct ws_target **ret_target,
					 struct ws_error *err) WS_MUST_USE;

/**
 * Takes the device for calls of sim.h other than ws_sim_run(). Any thread but one that uses the
 * target's members; that one (`is_client`) may call it too, while nobody else uses the target, and
 * does not wait for the device to run. Not recursive.
 */
WS_API void ws_sim_host_begin(struct ws_target *target, bool is_client);
/**
 * Gives the device back. `*ret_event`, unless NULL: what ws_sim_host_await() may wait for. To a
 * client (`is_client` as before) whose device stands the rows are new.
 * @retval WS_NO_MEMORY  something could not be told yet; it will be. The device was given back.
 */
WS_API enum ws_status ws_sim_host_end(struct ws_target *target, bool is_client, uint64_t *ret_event,
				      struct ws_error *err) WS_MUST_USE;
/** ws_sim_host_begin() for a thread that must not wait until a debugger lets the device go on:
 * false if it stands, and then it was not taken. */
WS_API bool ws_sim_host_try(struct ws_target *target) WS_MUST_USE;
/** Waits until the debugger has acknowledged all events up to this one, or wants none of them; and
 * if it wants launches to block, until nothing runs. */
WS_API void ws_sim_host_await(struct ws_target *target, uint64_t event);
/** Whether that would wait. */
WS_API bool ws_sim_host_held(struct ws_target *target, uint64_t event);
/**
 * Tells the debugger that a host thread made the context current (`pushed`), or no longer, and
 * waits for the acknowledgment. Not between begin and end. @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_host_switch(struct ws_target *target, bool pushed, uint32_t host_tid,
					 struct ws_error *err) WS_MUST_USE;
/** Waits until nothing runs or is queued: WS_SIM_DONE, or WS_SIM_FAULTED when a fault ended it. */
WS_API enum ws_sim_outcome ws_sim_host_wait(struct ws_target *target);
/** The same without waiting: false while something runs or is queued. What ended it is told once;
 * `*ret_fault` is the last fault. */
WS_API bool ws_sim_host_done(struct ws_target *target, enum ws_sim_outcome *ret_outcome,
			     struct ws_sim_fault *ret_fault) WS_MUST_USE;
/** Whether a client has said what it wants to be told (ws_target_want()). */
WS_API bool ws_sim_host_watched(struct ws_target *target);

/* The life of the program, by a host thread that has the device (begin, try). Contexts of the
 * program are one to the debugger. Before a client watches, nothing is told: it asks then. */

/** The program has a context from now on, or none; a device that is opened has one.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_sim_host_context(struct ws_target *target, bool exists, uint32_t host_tid,
					  struct ws_error *err) WS_MUST_USE;
/** ws_sim_host_switch() for a host thread that has the device: what it waits for is
 * ws_sim_host_end()'s event. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_sim_host_switched(struct ws_target *target, bool pushed, uint32_t host_tid,
					   struct ws_error *err) WS_MUST_USE;
/**
 * Another device takes the place of this one, which was reset: modules and the context are gone,
 * and that is told. The old one must stay until the target is closed, as clients may look at what
 * they know. @retval WS_NO_MEMORY  nothing changed
 */
WS_API enum ws_status ws_sim_host_replace(struct ws_target *target, struct ws_sim *fresh,
					  struct ws_error *err) WS_MUST_USE;
/** Tells a client that attached to a running program that it has been told everything. Not between
 * begin and end. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_sim_host_attached(struct ws_target *target,
					   struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
