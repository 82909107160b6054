/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the API over a stream socket: what a table of ws_cudbg_connect() and ws_cudbg_serve()
 * say to each other. Both are one build, on one machine, so numbers and structures go as they are,
 * and the greeting makes sure of it.
 *
 *   request:  head | a number for each argument | bytes that go in | texts of structures
 *   reply:    head | a number for each argument | bytes that come out | images   (success)
 *             head | why                                                         (failure)
 *
 * The number for an argument is its value, or how many bytes go in, or come out. Bytes of arguments
 * lie in the order of the arguments. A pointer in what comes out is followed: the image it leads to
 * lies behind all bytes that come out, as long as the table says (api/structs.tbl). A text in a
 * structure that goes in is a number of bytes, 0 for NULL, and the text with its NUL.
 *
 * The client's greeting carries a second socket, through which the server tells of new events
 * (struct wsi_notice). Its last notice there is a farewell: a server that ends without one has
 * died.
 */
#ifndef WSI_WIRE_WIRE_H
#define WSI_WIRE_WIRE_H

#include "base/channel.h"
#include "base/reader.h"
#include "call/made.h"

#define WSI_WIRE_MAGIC "warpscop"
enum {
	WSI_WIRE_VERSION = 2,
	WSI_WIRE_WHY = 1024, /* of the reason of a failure */
};

struct wsi_wire_greeting {
	char magic[8];
	uint32_t version, n_slots;
};

struct wsi_wire_request {
	uint32_t n_bytes;       /* behind this */
	uint16_t slot, present; /* bit i: argument i is a pointer that is not NULL */
	uint32_t capabilities;  /* cudbgDebuggerCapabilities of the client */
	uint32_t asked;         /* WSI_VERSION() */
};

struct wsi_wire_reply {
	uint32_t n_bytes, result;
};

/* A pointer in what came out, which is not NULL. */
struct wsi_wire_image {
	void *place; /* of the pointer; may be unaligned */
	uint64_t n;  /* bytes of the image */
};
enum { WSI_WIRE_IMAGES = 2 }; /* most of one call */

/* Whether the bytes of an argument go in. */
static inline bool wsi_wire_goes_in(const struct wsi_api_arg *arg)
{
	return wsi_api_goes_in(arg) || arg->kept;
}

/* The greeting of this build. */
struct wsi_wire_greeting wsi_wire_greeting(void);
/* The pointers among the outputs of a call that succeeded; `values` leads to the outputs. */
size_t wsi_wire_images(const struct wsi_api_fn *fn, const union wsi_api_value *values,
		       struct wsi_wire_image ret_images[WSI_WIRE_IMAGES]);

#endif
