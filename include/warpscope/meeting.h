/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * How a debugger and the process that has a software GPU find each other: by the debugger's process
 * and the number of its session, which it writes into the program that it debugs
 * (cudbgApiClientPid, cudbgSessionId).
 *
 * The name is one of a socket without a file: nothing is left behind by whatever is killed. Both
 * sides look who the other is before a byte is sent.
 */
#ifndef WARPSCOPE_MEETING_H
#define WARPSCOPE_MEETING_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes the name of a debugger known; the socket is the caller's. @retval WS_IO  it is taken. */
WS_API enum ws_status ws_cudbg_listen(uint32_t client_pid, uint32_t session, int *ret_listener,
				      struct ws_error *err) WS_MUST_USE;
/**
 * Waits until that process connects, of the same user or root; others are turned away. The socket
 * is the caller's.
 * @retval WS_IO  the listening socket was shut down.
 */
WS_API enum ws_status ws_cudbg_accept(int listener, uint32_t client_pid, int *ret_socket,
				      struct ws_error *err) WS_MUST_USE;
/**
 * Connects this process, the debugger. The socket is the caller's: for ws_cudbg_connect().
 * @retval WS_ABSENT  nobody listens, or somebody of another user.
 * @retval WS_IO
 */
WS_API enum ws_status ws_cudbg_meet(uint32_t session, int *ret_socket,
				    struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
