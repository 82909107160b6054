/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * How a debugger and the process that has a software GPU find each other: by the debugger's process
 * and the number of its session, which it writes into the program that it debugs
 * (cudbgApiClientPid, cudbgSessionId).
 *
 * The name is one of a socket without a file: nothing is left behind by whatever is killed. It ends
 * in what cannot be guessed, and is found in the system's list, so that no other user can take it
 * before. Both sides look who the other is before a byte is sent.
 */
#ifndef WARPSCOPE_MEETING_H
#define WARPSCOPE_MEETING_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a name for a debugger; the socket is the caller's. @retval WS_IO */
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
 * @param uid  Whose program it is: nobody else who listens is talked to, whoever asks.
 * @retval WS_ABSENT  nobody of that user listens.
 * @retval WS_IO
 */
WS_API enum ws_status ws_cudbg_meet(uint32_t session, uint32_t uid, int *ret_socket,
				    struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
