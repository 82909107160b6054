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
 * The target may be in another process: ws_cudbg_serve() there and ws_cudbg_connect() here make a
 * table whose calls cross a socket.
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
#include <warpscope/provider.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_CUDBG_SLOTS_MAJOR = 13, /**< version that brought the last slot of these tables */
	WS_CUDBG_SLOTS_MINOR = 4,
	WS_CUDBG_MAX_TABLES = 15, /**< tables of ws_cudbg_api(), ws_cudbg_connect() at one time */
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
 * ws_cudbg_api() or ws_cudbg_connect(), are ignored. Not from inside the notification callback.
 */
WS_API void ws_cudbg_release(CUDBGAPI api);
/**
 * For which version of the API a client was written, as it tells cudbgGetAPI(): that decides a few
 * answers. A new table is for a client of the newest version. A table of another library is
 * ignored.
 */
WS_API void ws_cudbg_ask(CUDBGAPI api, uint32_t major, uint32_t minor);

/**
 * Makes a table whose calls another process makes: the one at the other end of a socket, which runs
 * ws_cudbg_serve(). Answers are the same as there, but that a call for more than 1 GiB, or without
 * memory on the way, is CUDBG_ERROR_OS_RESOURCES. When the other process is gone, each call is
 * CUDBG_ERROR_COMMUNICATION_FAILURE, and the notification callback is run a last time, with thread
 * 0. If ws_cudbg_serve() did not return there, because the process died, a client that is in a
 * session gets one more event from the asynchronous queue first: CUDBG_EVENT_INTERNAL_ERROR, with
 * that code.
 *
 * @param socket  AF_UNIX, SOCK_STREAM. It is the table's from now on, and closed with it, also when
 *                this fails.
 * @retval WS_IO           nobody answers for 5 seconds.
 * @retval WS_UNSUPPORTED  the other process has another build of this library.
 * @retval WS_LIMIT        WS_CUDBG_MAX_TABLES tables exist already.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_cudbg_connect(int socket, CUDBGAPI *ret_api,
				       struct ws_error *err) WS_MUST_USE;
/**
 * Answers what a table of ws_cudbg_connect() asks for at the other end of a socket, with the table
 * of any provider, until the client is gone: it blocks. A shutdown() of the socket ends it, too;
 * one for reading only lets the client have the reply that it waits for. At the end the client is
 * told that this is meant. A client that leaves without `finalize` has its breakpoints removed and
 * the devices resumed.
 *
 * @param provider  Where `capabilities` is not NULL, the client's are written there before each
 * call.
 * @param socket    AF_UNIX, SOCK_STREAM. It stays the caller's.
 * @retval WS_OK           the client has left.
 * @retval WS_IO           nobody speaks for 5 seconds.
 * @retval WS_UNSUPPORTED  what speaks is no client, or has another build of this library.
 * @retval WS_MALFORMED    it sent what is no call.
 */
WS_API enum ws_status ws_cudbg_serve(const struct ws_provider *provider, int socket,
				     struct ws_error *err) WS_MUST_USE;
/** cuda-gdb, as it has introduced itself to a program. */
struct ws_rpc_client {
	/** Where it made its pipes: "$TMPDIR/cuda-dbg/PID/sessionN" of what it wrote into
	 * cudbgApiClientPid and cudbgSessionId. The folder must be the user's. */
	const char *folder;
	/** The program's thread that is stopped for what is of no thread; 0: whichever. */
	uint32_t tid;
	/** That thread waits for the debugger to come: it is stopped at once. */
	bool waits;
	/** A descriptor that ends the wait when it can be read; -1: none. */
	int stop;
	/** A socket to the program that the debugger has attached to, or -1. `word` is sent there
	 * when the session has begun, and is to come back when the program runs again: before that,
	 * the debugger must not be told of events. */
	int program;
	uint8_t word;
};

/**
 * Answers what cuda-gdb 12.4 asks a driver for through named pipes, with the table of any provider,
 * until it is gone: it blocks. The session is that of ws_cudbg_serve(), and cuda-gdb's callback is
 * told of events.
 *
 * @retval WS_OK  the client has left, or `stop`.
 * @retval WS_IO  there are no pipes of this user's in the folder.
 */
WS_API enum ws_status ws_cudbg_serve_rpc(const struct ws_provider *provider,
					 const struct ws_rpc_client *client,
					 struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
