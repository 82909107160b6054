/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a target as tests use it: the direct one, or with WS_TEST_ROUTE=socket in the
 * environment one of ws_cudbg_connect(), which reaches the direct one through a socket; with
 * WS_TEST_ROUTE=cut one that its user is to cut.
 */
#ifndef ROUTE_H
#define ROUTE_H

#include <warpscope/cudbg.h>

/* Whether calls cross a socket. */
bool route_is_socket(void);
enum ws_status route_open(struct ws_target *target, CUDBGAPI *ret_api);
/* Through a socket, whatever the environment says. */
enum ws_status route_open_socket(struct ws_target *target, CUDBGAPI *ret_api);
void route_close(CUDBGAPI api);
/* Whether the client is to be lost. */
bool route_is_cut(void);
/* From any thread: the server sees what it sees when the client's process is killed. */
void route_cut(CUDBGAPI api);

#endif
