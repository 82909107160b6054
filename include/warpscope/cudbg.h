/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The CUDA Debugger API over a target: a function table that programs written for NVIDIA's library
 * can use.
 *
 * ws_cudbg_api() makes a table for an open target. The table's functions carry no handle, so each
 * table is bound to its target when it is made; a process can have WS_CUDBG_MAX_TABLES of them, and
 * they do not disturb each other. `initialize` of the table starts the session: it reads the
 * target's state and queues the events that describe it.
 *
 * cudbgGetAPI() (cudadebugger.h) hands out one more table, whose target is the dump that the
 * environment variable WARPSCOPE_CORE names when `initialize` is called.
 *
 * With WARPSCOPE_TRACE=FILE in the environment every call of every table is written to FILE as it
 * happens, one JSON object a line, or as text (docs/formats/api-trace.md); trace.h reads it again.
 *
 * **Capabilities** are read from the variable cudbgDebuggerCapabilities, which all tables share.
 * **Threads.** Any thread may call a table at any time, except while that table is made or
 * released.
 */
#ifndef WARPSCOPE_CUDBG_H
#define WARPSCOPE_CUDBG_H

#include <warpscope/cudadebugger.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_CUDBG_MAX_TABLES = 15, /**< tables of ws_cudbg_api() at one time */
};

/**
 * Makes a table for a target. The target stays the caller's and must outlive the table.
 * @retval WS_LIMIT  WS_CUDBG_MAX_TABLES tables exist already.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_cudbg_api(struct ws_target *target, CUDBGAPI *ret_api,
				   struct ws_error *err) WS_MUST_USE;
/**
 * Ends the session if there is one and releases the table. NULL, and a table that is not from
 * ws_cudbg_api(), are ignored. Not from inside the notification callback.
 */
WS_API void ws_cudbg_release(CUDBGAPI api);

#ifdef __cplusplus
}
#endif
#endif
