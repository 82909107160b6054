/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talking with another process: packets that may carry a descriptor, and streams of messages over
 * a socket or over a pair of pipes.
 *
 * The other side may be stopped, die, or send anything. It may think as long as it likes before a
 * message begins; within one it must not pause for longer than WSI_PATIENCE_MS, nor keep us from
 * sending for longer.
 */
#ifndef WSI_CHANNEL_H
#define WSI_CHANNEL_H

#include "base/base.h"

enum {
	WSI_PATIENCE_MS = 5000,
	WSI_CHANNEL_MOST = (1 << 30) + (1 << 20), /* bytes of a message */
};

/* Sends all at once, with a descriptor unless `fd` is -1. */
bool wsi_packet_send(int to, const void *bytes, size_t n, int fd) WS_MUST_USE;
/* Receives as much, if it was sent so. `*ret_fd` is -1 when none came along; else it is the
 * caller's, also after a failure. */
bool wsi_packet_receive(int from, void *bytes, size_t n, int *ret_fd) WS_MUST_USE;

struct wsi_channel {
	int in, out;     /* borrowed; the same for a socket. Pipes are O_NONBLOCK */
	int stop;        /* waiting for a message ends when this can be read; -1: by itself only */
	size_t at, have; /* of `bytes`, received but not taken */
	uint8_t bytes[4096];
};

/* A piece of what is sent. */
struct wsi_channel_piece {
	const void *bytes;
	size_t n;
};

/* The first bytes of the next message. False: there will be none. */
bool wsi_channel_next(struct wsi_channel *c, void *ret_head, size_t n) WS_MUST_USE;
/* More of the same message. */
bool wsi_channel_take(struct wsi_channel *c, void *ret_bytes, size_t n) WS_MUST_USE;
/* The rest of it, of `n` bytes; in `small` if it fits. `*ret_owned` is to be freed, also after a
 * failure. */
bool wsi_channel_body(struct wsi_channel *c, uint32_t n, uint8_t *small, size_t n_small,
		      uint8_t **ret_owned, struct ws_span *ret_body) WS_MUST_USE;
bool wsi_channel_send(struct wsi_channel *c, const struct wsi_channel_piece *pieces,
		      size_t n_pieces) WS_MUST_USE;

#endif
