/* SPDX-License-Identifier: Apache-2.0 */
/* A session whose calls another process makes, at the other end of a socket (wire/wire.h). */
#ifndef WSI_CUDBG_REMOTE_H
#define WSI_CUDBG_REMOTE_H

#include "call/meta.h"
#include "cudbg/session.h"

/* Takes over the socket, also when it fails. */
enum ws_status wsi_remote_open(struct wsi_cudbg *s, int socket, struct ws_error *err) WS_MUST_USE;
/* Ends the session there if there is one, and the callback thread. */
void wsi_remote_close(struct wsi_cudbg *s);
CUDBGResult wsi_remote_call(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values);
/* The callback thread: tells the client of what the other process tells. */
void *wsi_remote_listen(void *session);

/* event_old.c: gives an event to a call that asks for one of the asynchronous queue. False: it asks
 * for something else. */
bool wsi_cudbg_put_async(struct wsi_cudbg *s, unsigned slot, const union wsi_api_value *values,
			 const struct wsi_queued *item);

#endif
