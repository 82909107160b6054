/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the calls of a client in another process, whichever way they come. */
#ifndef WSI_WIRE_SERVE_H
#define WSI_WIRE_SERVE_H

#include <warpscope/provider.h>

#include "base/channel.h"
#include "call/made.h"

/* What the client is told of a new event; `terminate`: there will be no more. */
struct wsi_notice {
	uint32_t tid, terminate, timeout;
};

struct wsi_server {
	const struct ws_provider *provider;
	struct wsi_channel calls, events;
	uint32_t tid;  /* what the client is told where an event has no thread */
	bool is_ready; /* the client is in a session */
};

/* Whether the client is told of events. If it does not read of them, the callback waits a while. */
CUDBGResult wsi_server_set_notify(struct wsi_server *server, bool on);
/* UNKNOWN_FUNCTION: the provider lacks it. */
CUDBGResult wsi_server_make(struct wsi_server *server, const struct wsi_made *made);
/* The last that the client is told: that this is meant to be the end. */
void wsi_server_say_goodbye(struct wsi_server *server);
/* Ends the session of a client that is gone: it does not need the devices to stand any more. */
void wsi_server_leave(struct wsi_server *server);
/* Why the last call failed, for the client; "": not known. */
void wsi_server_why(const struct wsi_server *server, char *ret_text, size_t size);

#endif
